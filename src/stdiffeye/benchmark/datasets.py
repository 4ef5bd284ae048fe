"""The public data sets in numbers: each is prepared, and what the gate kept and dropped is written down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stdiffeye.data.preparation import QUALITY, prepare
from stdiffeye.data.shards import ShardReport
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, temporary_folder, write_text
from stdiffeye.io.descriptions import SPLITS, Description, describe, known_sets, require
from stdiffeye.io.sets import read_set
from stdiffeye.progress import track

# Where a set lies under the data folder, when not under its own name.
FOLDERS = {"coco-search18-tp": "coco_search18", "coco-search18-ta": "coco_search18", "coco-freeview": "coco_freeview"}

HEAD = """# Data sets

Made by `stdiffeye reproduce datasets`. Each set is described in `src/stdiffeye/datasets/NAME.yaml`;
`stdiffeye info NAME SOURCE` lists its files, present and missing. `stdiffeye prepare NAME SOURCE --out STORE` makes a
store of it ([stores](stores.md)).
Coordinates are px of the frame, from 0, y down.
"""


@dataclass(frozen=True)
class Prepared:
    """A set that was there, with the account of its preparation."""

    description: Description
    store: Store
    report: ShardReport
    source: Path


def reproduce(data: Path, out: Path, quiet: bool = False) -> Path:
    """Prepare every described set that lies under `data`, and write `out`."""
    descriptions = [describe(name) for name in known_sets()]
    with temporary_folder() as folder:
        found = []
        for description in track(descriptions, "data sets", quiet=quiet):
            source = data / FOLDERS.get(description.name, description.name)
            if _is_there(description, source):
                store = prepare(description.name, source, folder / description.name, quiet=True)
                report = ShardReport.from_dict(read_json(store.path / QUALITY))
                found.append(Prepared(description, store, report, source))
        if not found:
            raise InputError(f"{data} holds none of the described data sets")
        sections = [HEAD, _described(descriptions), _counts(found), _gate(found)]
        sections += [_dropped_viewers(one) for one in found if one.report.quality.dropped]
        write_text(out, "\n".join([*sections, _notes(descriptions)]))
    return out


def _is_there(description: Description, source: Path) -> bool:
    try:
        require(description, source)
    except InputError:
        return False
    return True


def _described(descriptions: list[Description]) -> str:
    lines = [
        "## What they are",
        "",
        "| name | frame px | px/deg | raw Hz | seen ms | first fixation | split | licence |",
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for one in descriptions:
        frame = f"{one.width_px:g}×{one.height_px:g}" if one.width_px and one.height_px else "each its own"
        numbers = (_or_dash(one.px_per_degree), _or_dash(one.rate_hz), _or_dash(one.viewing_ms))
        words = (one.first_fixation or "–", one.split.rule, one.licence)
        lines.append(f"| `{one.name}` | {frame} | {' | '.join(numbers)} | {' | '.join(words)} |")
    return "\n".join([*lines, ""])


def _counts(found: list[Prepared]) -> str:
    lines = [
        "## Prepared",
        "",
        "At most 16 fixations and 1500 points a trial; `cut` counts the trials that had more.",
        "",
    ]
    pictures = "pictures (train / validation / test)"
    header = ("name", "trials", "kept", "cut", pictures, "viewers", "fixations", "with durations", "with samples")
    lines += [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for one in found:
        store, report = one.store, one.report
        pictures = " / ".join(str(_stimuli(store, split)) for split in SPLITS)
        shares = (store.columns["has_durations"].mean(), store.columns["has_trajectory"].mean())
        lines.append(
            f"| `{store.dataset}` | {report.quality.total:,} | {report.trials:,} | {report.cut:,} | {pictures} | "
            f"{len(store.words['subject'])} | {report.fixations:,} | {shares[0]:.0%} | {shares[1]:.0%} |"
        )
    return "\n".join([*lines, ""])


def _stimuli(store: Store, split: str) -> int:
    if split not in store.words["split"]:
        return 0
    return len(np.unique(store.columns["name_id"][store.where(split)]))


def _gate(found: list[Prepared]) -> str:
    lines = ["## What the gate dropped, and why", ""]
    for one in found:
        lines += [f"`{one.description.name}`", "", "```", str(one.report), "```", ""]
    return "\n".join(lines)


def _dropped_viewers(one: Prepared) -> str:
    """Whose trials were dropped: a few viewers usually make most of it."""
    words = one.store.words
    kept = Counter(
        (words["name"][name], words["subject"][subject])
        for name, subject in zip(one.store.columns["name_id"], one.store.columns["subject_id"], strict=True)
    )
    lost: Counter[str] = Counter()
    for trial in read_set(one.description.name, one.source):
        if kept[trial.name, trial.subject] > 0:
            kept[trial.name, trial.subject] -= 1
        else:
            lost[trial.subject] += 1
    shown = ", ".join(f"{viewer} {count}" for viewer, count in lost.most_common())
    return f"Dropped trials of `{one.description.name}` by viewer: {shown}.\n"


def _notes(descriptions: list[Description]) -> str:
    """A section for each set: what to know of it, its files, and what to cite."""
    lines = ["## Set by set", ""]
    for one in descriptions:
        at = f" <{one.url}>" if one.url else ""
        files = [f"| `{file.path}` | {file.what}{'; optional' * file.optional} |" for file in one.files]
        lines += [f"### {one.title}: `{one.name}`", "", one.notes, ""]
        lines += ["| file | what |", "|---|---|", *files, "", f"Cite: {one.citation}{at}", ""]
    return "\n".join(lines)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
