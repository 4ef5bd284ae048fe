"""Scores of a model as the Markdown tables of its card and of the page of results."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stdiffeye.benchmark.memorisation import NearestTrials
from stdiffeye.benchmark.scoring import WITHIN, Interval, ModelScores
from stdiffeye.metrics.result import Estimate
from stdiffeye.metrics.spec import METRICS
from stdiffeye.metrics.tables import ABSENT, stated_gap

SUMMARY_METRIC = "DTW"  # whose plain scores stand in the summary: px, and known to everybody
ROW_TITLES = {"model": "model", "human": "people", "shuffled": "people on other pictures"}
TERMS = """\
Independent samples, as people are. *Fair CRPS* leaves out the distance of a sample to itself, so it does not depend on
the number of samples. Differences are model − people, paired over pictures, with 95 % bootstrap intervals.
*Gap closed* = (people on other pictures − model) / (people on other pictures − people), the mean over metrics. Where
its interval is 40 points wide or wider, it is not decidable here, and the plain scores stand for themselves."""
MEMORY = """\
Nearest trial of the same picture (mean DTW, px), of samples and of people, each among n − 1 trials. A model that
repeats training trials is nearer to them than people are to each other (a ratio far below 1), and only on training
pictures. Held-out pictures are the control, since the model has seen none of their trials."""


def report(scored: Sequence[ModelScores]) -> str:
    """The scores as Markdown tables."""
    tables = [_gap_table(scored), _plain_scores(scored), _gaze_table(scored), *_search_table(scored)]
    return "\n\n".join([TERMS, *tables, MEMORY, _memory_table(scored), remembers(scored), *_kinematics(scored)]) + "\n"


def summary_row(model: str, one: ModelScores) -> list[str]:
    """A line of README's table; its head is `SUMMARY_HEAD`."""
    plain = [f"{one.scores[row][SUMMARY_METRIC][0]:.0f}" for row in ROW_TITLES]
    found = f"{100 * one.search['model'][-1]:.0f} % ({100 * one.search['human'][-1]:.0f} %)" if one.search else "–"
    difference = _signed(one.differences["human"][SUMMARY_METRIC])
    counts = f"{one.pictures} × {one.viewers:.0f}"
    return [f"`{model}`", one.dataset, one.split, counts, " / ".join(plain), difference, stated(one.gap["mean"]), found]


SUMMARY_HEAD = [
    "model",
    "data set",
    "split",
    "pictures × viewers",
    "fair CRPS of DTW, px: model / people / people on other pictures",
    "model − people (95 %)",
    "gap closed (95 %)",
    "target fixated within 6 fixations (people)",
]


def stated(one: Interval) -> str:
    """A gap closed as every table states it."""
    return stated_gap(Estimate(*one, n=0, undefined=0))


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _gap_table(scored: Sequence[ModelScores]) -> str:
    head = ["set", "split", "pictures × viewers", "gap closed", "on training pictures", "difference"]
    rows = [head]
    for one in scored:
        held_out, seen = one.gap["mean"], one.training_gap
        training = f"{stated(seen)}, {one.memory_training.pictures} pictures"
        decidable = not any("not" in stated(gap) for gap in (held_out, seen))
        apart = f"{100 * (seen[0] - held_out[0]):z.0f} points" if decidable else ABSENT
        counts = f"{one.pictures} × {one.viewers:.0f}"
        rows.append([one.dataset, one.split, counts, stated(held_out), training, apart])
    return markdown_table(rows)


def _plain_scores(scored: Sequence[ModelScores]) -> str:
    """Fair CRPS of model, people and people on other pictures side by side, and paired differences."""
    metrics = list(dict.fromkeys(name for one in scored for name in one.scores["model"]))
    arrows = [METRICS[name].title + METRICS[name].arrow for name in metrics]
    rows = [["set, pictures × viewers", "fair CRPS of", *arrows]]
    for one in scored:
        first = [_counted(one), "", ""]
        for title, (name, words) in zip(first, ROW_TITLES.items(), strict=True):
            values = one.scores[name]
            rows.append([title, words, *(f"{values[m][0]:.4g}" if m in values else ABSENT for m in metrics)])
        for name in ("human", "shuffled"):
            apart = one.differences[name]
            cells = [_signed(apart[m]) if m in apart else ABSENT for m in metrics]
            rows.append(["", f"model − {ROW_TITLES[name]}", *cells])
    return markdown_table(rows)


def _gaze_table(scored: Sequence[ModelScores]) -> str:
    head = ["set, pictures × viewers", "diversity (people = 1)", "KS, number of fixations", "KS, fixation durations"]
    rows = [
        [_counted(one), f"{one.diversity:.2f}", _number(one.fixation_count_ks), _number(one.duration_ks)]
        for one in scored
    ]
    return markdown_table([head, *rows])


def _search_table(scored: Sequence[ModelScores]) -> list[str]:
    found = [one for one in scored if one.search]
    if not found:
        return []
    rows = [["target fixated within so many fixations after the first", "", *(str(n) for n in WITHIN)]]
    for one in found:
        sides = (("model", _counted(one)), ("human", ""))
        rows += [
            [name, ROW_TITLES[side], *(f"{100 * share:.0f} %" for share in one.search[side])] for side, name in sides
        ]
    return [markdown_table(rows)]


def _memory_table(scored: Sequence[ModelScores]) -> str:
    rows = [["set", "pictures", "samples", "people", "ratio (95 %)"]]
    for one in scored:
        for words, side in (("training", one.memory_training), ("held-out", one.memory_held_out)):
            if side.pictures:
                rows.append(_memory_row(f"{one.dataset}, {words}", side))
    return markdown_table(rows)


def _memory_row(title: str, side: NearestTrials) -> list[str]:
    value, low, high = side.ratio
    numbers = [f"{side.samples_px:.0f}", f"{side.human_px:.0f}", f"{value:.2f} ({low:.2f} to {high:.2f})"]
    return [title, str(side.pictures), *numbers]


def remembers(scored: Sequence[ModelScores]) -> str:
    """What the table of nearest trials shows, in a sentence."""
    both = [one for one in scored if one.memory_training.pictures and one.memory_held_out.pictures]
    nearer = [one for one in both if one.memory_training.ratio[2] < one.memory_held_out.ratio[1]]
    repeated = [one.dataset for one in nearer if one.memory_training.ratio[2] < 1]
    if not both:
        return "No set has three viewers per picture, so nothing can be said."
    if repeated:
        return f"Samples are nearer to training trials than people are, unlike the control: {', '.join(repeated)}."
    said = "On no set are samples nearer to training trials than people are to each other: no repetition is found."
    if nearer:
        names = ", ".join(one.dataset for one in nearer)
        said += f" They are nearer to people on training pictures than on held-out ones, as the gap closed is: {names}."
    return said


def _kinematics(scored: Sequence[ModelScores]) -> list[str]:
    texts = []
    for one in scored:
        if one.kinematics:
            values = [[name.replace("_", " "), f"{value:.3f}"] for name, value in one.kinematics.items()]
            counts = f"{one.pictures} pictures × {one.viewers:.0f} viewers"
            titles = [["quantity", "distance"], *values]
            texts += [f"Kinematics against people, {one.dataset} ({counts}):", markdown_table(titles)]
        if one.movement_rates:
            shares = [[name, *(f"{share:.1%}" for share in both)] for name, both in one.movement_rates.items()]
            texts.append(markdown_table([["share of", "people", "model"], *shares]))
    return texts


def _counted(one: ModelScores) -> str:
    return f"{one.dataset}, {one.pictures} × {one.viewers:.0f}"


def _signed(one: Interval) -> str:
    value, low, high = one
    return f"{value:+z.3g} ({low:z.3g} to {high:z.3g})" if math.isfinite(value) else ABSENT


def _number(value: float) -> str:
    return ABSENT if math.isnan(value) else f"{value:.2f}"
