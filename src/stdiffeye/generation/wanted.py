"""The pictures that gaze is wanted for: of files, folders and stores. Nothing here loads torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from stdiffeye.border import printable
from stdiffeye.data.batches import stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import is_store
from stdiffeye.errors import InputError
from stdiffeye.generation.request import Request
from stdiffeye.io.pictures import PICTURE_SUFFIXES


@dataclass(frozen=True)
class Wanted:
    """A picture that gaze is wanted for, under the name that its gaze is filed by."""

    name: str
    picture: Path
    request: Request


def wanted_of(sources: Sequence[str | Path], request: Request, split: str | None = None) -> list[Wanted]:
    """Pictures of files, folders and stores; those of a store with its own tasks, viewing times and style."""
    found: list[Wanted] = []
    for source in sources:
        if is_store(source):
            found += _of_store(Store.open(source), request, split)
        else:
            found += [Wanted(printable(picture.name), picture, request) for picture in pictures_in([source])]
    names = Counter((one.name, one.request.task) for one in found)
    twice = next((name for (name, _), count in names.items() if count > 1), None)
    if twice is not None:
        raise InputError(f"two pictures are called {twice!r}: gaze is filed by name; generate them one by one")
    return found


def alike(wanted: Sequence[Wanted]) -> Iterator[tuple[Request, list[Wanted]]]:
    """Runs of pictures with the same request, in order."""
    for request, group in groupby(wanted, lambda one: one.request):
        yield request, list(group)


def pictures_in(sources: Sequence[str | Path]) -> list[Path]:
    """Pictures named by files and folders, in order."""
    found: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir():
            inside = sorted(p for p in source.iterdir() if p.suffix.lower() in PICTURE_SUFFIXES and p.is_file())
            if not inside:
                raise InputError(f"there is no picture in {source}: expected {', '.join(PICTURE_SUFFIXES)}")
            found += inside
        elif source.is_file():
            found.append(source)
        else:
            raise InputError(f"there is no picture {source}: check the name")
    return found


def _of_store(store: Store, request: Request, split: str | None) -> list[Wanted]:
    """Its stimuli; those whose picture could not be had are left out."""
    stimuli = [(stimulus, stimulus.picture) for stimulus in stimuli_of(store, split)]
    if stimuli and not any(picture for _, picture in stimuli):
        raise InputError(f"{store.path} has no pictures: open it with its pictures' folder, or prepare it with them")
    found = []
    for stimulus, picture in stimuli:
        if picture is None:
            continue
        viewing_ms = float(store.columns["viewing_ms"][stimulus.trials[0]])
        seconds = request.seconds or (None if viewing_ms != viewing_ms else viewing_ms / 1000)
        style = request.style if request.style is not None else store.dataset
        requested = request.seconds is not None
        scale = float(store.columns["px_per_degree"][stimulus.trials[0]])
        own = replace(
            request,
            task=request.task or stimulus.task,
            seconds=seconds,
            style=style,
            fill=requested,
            px_per_degree=request.px_per_degree or (None if scale != scale else scale),
        )
        found.append(Wanted(stimulus.name, picture, own))
    return found
