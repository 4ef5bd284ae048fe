"""What is made of areas of interest. The command reads its flags here: nothing here loads numpy."""

from __future__ import annotations

from dataclasses import dataclass

from stdiffeye.errors import InputError


@dataclass(frozen=True)
class AoiOptions:
    """What is made of areas of interest: flags of the command, keywords of the function."""

    designs: tuple[str, str] | None = None
    """Compare two pictures, area by area."""
    needed: str | None = None
    """MEASURE=X: how many viewers a study needs to see this difference between two designs."""
    split: str | None = None
    """Only this split (train, validation, test)."""
    replicates: int = 1000
    """Of the bootstrap over viewers."""
    seed: int = 0
    """Of the bootstrap."""
    plots: bool = True
    """Figures of the first 20 pictures."""

    def __post_init__(self) -> None:
        if self.replicates < 0:
            raise InputError(f"replicates must be 0 or more, got {self.replicates}")
        if self.needed is not None:
            self.to_see()

    def to_see(self) -> tuple[str, float]:
        """`dwell_ms=200` as measure and difference."""
        measure, _, difference = (self.needed or "").partition("=")
        try:
            return measure, float(difference)
        except ValueError:
            raise InputError(
                f"needed is MEASURE=DIFFERENCE such as dwell_ms=200 or hit=0.1, got {self.needed!r}"
            ) from None
