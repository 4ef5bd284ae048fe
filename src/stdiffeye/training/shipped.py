"""The models in the package: a folder each, with configuration, weights and card."""

from __future__ import annotations

import importlib.resources
from dataclasses import dataclass, replace
from pathlib import Path

from stdiffeye.data.run_description import CARD_FILE, RUN_FILE
from stdiffeye.errors import InputError

DEFAULT, DEFAULT_SEARCH = "freeview", "search"


@dataclass(frozen=True)
class ShippedModel:
    """One model of the package."""

    name: str
    folder: Path
    about: str
    megabytes: float

    @property
    def card(self) -> str:
        """Its card in Markdown: data, figures, limits; "" where it has none."""
        file = self.folder / CARD_FILE
        return file.read_text(encoding="utf-8") if file.is_file() else ""


def models_folder() -> Path:
    return Path(str(importlib.resources.files("stdiffeye") / "models"))


def models(name: str | None = None) -> list[ShippedModel]:
    """List the models of the package.

    Parameters
    ----------
    name : str, optional
        Only this one; a run's folder works too.

    Returns
    -------
    list of ShippedModel
        Name, folder, a sentence, size and card of each.

    Raises
    ------
    InputError
        Where there is no model of that name.

    Examples
    --------
    >>> [model.name for model in models("freeview")]
    ['freeview']
    """
    if name is not None:
        return [_describe(find_model(name))]
    if not models_folder().is_dir():
        return []
    return [_describe(folder) for folder in sorted(models_folder().iterdir()) if (folder / RUN_FILE).is_file()]


def find_model(name_or_path: str | Path | None, task: str = "") -> Path:
    """The folder of a shipped model or of a run; by default the one that fits the task."""
    if name_or_path is None:
        name_or_path = DEFAULT_SEARCH if task else DEFAULT
    path = Path(name_or_path)
    if (path / RUN_FILE).is_file():
        return path
    shipped = {model.name: model.folder for model in models()}
    if str(name_or_path) in shipped:
        return shipped[str(name_or_path)]
    choice = f"shipped are {', '.join(shipped)}" if shipped else "none is shipped yet"
    raise InputError(f"there is no model {str(name_or_path)!r}: {choice}; a run's folder (with {RUN_FILE}) works too")


def _describe(folder: Path) -> ShippedModel:
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6
    model = ShippedModel(folder.name, folder, "", round(size, 1))
    about = next((line for line in model.card.splitlines() if line and not line.startswith("#")), "")
    return replace(model, about=about)
