"""What the reference programs returned, within what double precision can agree with."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stdiffeye.gaze import Scanpath
from stdiffeye.metrics.clusters import best_centres
from stdiffeye.metrics.divergence import DivergenceSum, generated_pairs, human_pairs, joined_bounds
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths, pack
from stdiffeye.metrics.protocols import best_of, compare, crps, mean_pair
from stdiffeye.metrics.spec import METRICS, Context, scores, specs, with_components

pytestmark = pytest.mark.golden

# metric: (key of the reference, padded to three fixations first, absolute tolerance)
KEYS = {
    "LD": ("ld_ramin_12x8", False, 0),
    "sed-5": ("sed_n5", False, 0),
    "sed-10": ("sed_n10_scandiff", False, 0),
    "DFD": ("dfd_ramin", False, 3e-5),
    "DTW": ("dtw_exact", False, 1e-12),
    "TDE": ("tde_ramin_k3_over512", False, 1e-6),
    "TDE_scaled": ("stde_distance", False, 1e-12),
    "TDE_scaled_similarity": ("stde_similarity", False, 1e-12),
    "SM": ("sm_scandiff", True, 1e-12),
    "SM_dur": ("sm_dur_scandiff", True, 1e-12),
    "SS": ("ss", False, 1e-7),
    "SS_dur": ("ss_dur", False, 1e-7),
    "SSS": ("sss", False, 1e-7),
    "SSS_dur": ("sss_dur", False, 1e-7),
}
PROTOCOL_KEYS = {name: key for name, key in KEYS.items() if name != "sed-10"} | {"MM": ("mm_mean_scandiff", True, 1e-6)}


def _load(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text())


def _scanpath(row: dict[str, Any]) -> Scanpath:
    return Scanpath(np.column_stack([row["X"], row["Y"]]), EVALUATION_FRAME, row.get("T"))


def _semantic(folder: Path, name: str) -> np.ndarray:
    return np.load(io.BytesIO(gzip.decompress((folder / f"semantic_{name}.npy.gz").read_bytes())))


def _pair_sides(folder: Path, padded: bool) -> tuple[PackedScanpaths, PackedScanpaths, Pairs]:
    rows = _load(folder, "pairs")["scanpath_pairs"]
    zeros = np.zeros(len(rows), dtype=np.int64)
    a, b = (pack([_scanpath(row[side]) for row in rows], zeros, padded) for side in "ab")
    return a, b, Pairs(np.arange(len(rows)), np.arange(len(rows)))


def _wanted(values: list[Any]) -> np.ndarray:
    return np.array([np.nan if value in (None, "False") else value for value in values])


@pytest.mark.parametrize("metric", KEYS)
def test_a_metric_returns_what_its_reference_returned(golden: Path, metric: str) -> None:
    key, padded, tolerance = KEYS[metric]
    context = Context([np.array(_load(golden, "clusters")["pairs"]["centers"])], [_semantic(golden, "pairs")])
    a, b, pairs = _pair_sides(golden, padded)
    ours = scores(specs([metric]), a, b, pairs, context)[metric]
    theirs = _wanted(_load(golden, "values")["scanpath_pairs"][key])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12 if tolerance else 0, atol=tolerance, equal_nan=True)


def test_the_sum_kind_of_time_delay_embedding_is_that_of_fixatons(golden: Path) -> None:
    a, b, pairs = _pair_sides(golden, padded=False)
    ours = scores(specs(["TDE_sum"]), a, b, pairs, Context())["TDE_sum"] * EVALUATION_FRAME.width_px
    theirs = _wanted(_load(golden, "values")["scanpath_pairs"]["tde_fixatons_k3_px"])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, equal_nan=True)


def test_the_order_of_arguments_matters_to_time_delay_embedding_as_in_the_reference(golden: Path) -> None:
    a, b, pairs = _pair_sides(golden, padded=False)
    ours = scores(specs(["TDE"]), b, a, pairs, Context())["TDE"]
    theirs = _wanted(_load(golden, "values")["scanpath_pairs_swapped_args"]["tde_ramin_k3_over512"])
    np.testing.assert_allclose(ours, theirs, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("key", ["mm5_gazeformer_gazexplain", "mm5_hat_unit_durations"])
def test_multimatch_returns_the_five_similarities_of_the_reference(golden: Path, key: str) -> None:
    a, b, pairs = _pair_sides(golden, padded=True)
    if "unit" in key:
        a, b = (
            PackedScanpaths(side.xy_px, np.ones_like(side.duration_ms), side.first, side.stimulus) for side in (a, b)
        )
    names = [f"MM_{one}" for one in ("vector", "direction", "length", "position", "duration")]
    values = scores(specs(names), a, b, pairs, Context())
    ours = np.column_stack([values[name] for name in names])
    np.testing.assert_allclose(ours, np.array(_load(golden, "values")["scanpath_pairs"][key]), atol=1e-6)


def test_multimatch_agrees_with_multimatch_gaze_where_its_ties_do_not_depend_on_scipy(golden: Path) -> None:
    a, b, pairs = _pair_sides(golden, padded=True)
    ours = scores(specs(["MM"]), a, b, pairs, Context())["MM"]
    theirs = np.array(_load(golden, "values")["scanpath_pairs"]["mm_mean_scandiff"])
    free = np.array([name != "repeated_points" for name in _load(golden, "values")["pair_names"]])
    np.testing.assert_allclose(ours[free], theirs[free], atol=1e-6)


@pytest.mark.parametrize(
    ("metric", "key", "tolerance"),
    [
        ("LD", "ld_ramin_12x8", 0),
        ("sed-5", "sed_n5", 0),
        ("DFD", "dfd_ramin", 1e-7),
        ("DTW", "dtw_exact", 1e-12),
        ("TDE", "tde_ramin_k3_px", 1e-6),
        ("SM", "sm_scandiff", 1e-12),
    ],
)
def test_a_metric_agrees_on_trajectories_of_up_to_1500_points(
    golden: Path, metric: str, key: str, tolerance: float
) -> None:
    rows = _load(golden, "pairs")["trajectory_pairs"]
    order = np.arange(len(rows))
    a, b = (pack([_scanpath({"X": row[side]["X"], "Y": row[side]["Y"]}) for row in rows], order) for side in "ab")
    ours = scores(specs([metric]), a, b, Pairs(order, order), Context())[metric]
    scale = EVALUATION_FRAME.width_px if metric == "TDE" else 1
    theirs = np.array(_load(golden, "values")["trajectory_pairs"][key])
    np.testing.assert_allclose(ours * scale, theirs, rtol=tolerance)


def test_clusters_are_those_of_mean_shift_in_the_reference(golden: Path) -> None:
    wanted, rows = _load(golden, "clusters"), _load(golden, "pairs")
    groups = {"pairs": [row["a"] for row in rows["scanpath_pairs"][:26]]}
    groups |= {stimulus["name"]: stimulus["gt"] for stimulus in rows["protocol_stimuli"]}
    for name, paths in groups.items():
        packed = pack([_scanpath(path) for path in paths], np.zeros(len(paths), dtype=np.int64), compat=True)
        centres = best_centres(packed.xy_px, packed.first)
        np.testing.assert_allclose(centres, np.array(wanted[name]["centers"]), atol=1e-9, err_msg=name)


def _sides(folder: Path, padded: bool, sizes: dict[str, list[int]] | None) -> tuple[PackedScanpaths, PackedScanpaths]:
    stimuli = _load(folder, "pairs")["protocol_stimuli"]
    sides = []
    for side, place in (("gt", 0), ("gen", 1)):
        chosen = [
            (row, number)
            for number, stimulus in enumerate(stimuli)
            for row in stimulus[side][: None if sizes is None else sizes[stimulus["name"]][place]]
        ]
        sides.append(pack([_scanpath(row) for row, _ in chosen], [number for _, number in chosen], padded))
    return sides[0], sides[1]


def _context(folder: Path) -> Context:
    names = [stimulus["name"] for stimulus in _load(folder, "pairs")["protocol_stimuli"]]
    clusters = _load(folder, "clusters")
    return Context([np.array(clusters[n]["centers"]) for n in names], [_semantic(folder, n) for n in names])


@pytest.mark.parametrize("metric", PROTOCOL_KEYS)
def test_every_protocol_returns_the_reference_numbers(golden: Path, metric: str) -> None:
    key, padded, tolerance = PROTOCOL_KEYS[metric]
    spec = METRICS[metric]
    human, generated = _sides(golden, padded, None)
    ensemble = compare(with_components([spec]), human, generated, _context(golden), 3)
    humans = compare(with_components([spec]), human, human, _context(golden), 3, within=False)
    if metric == "TDE":  # the reference counted its False (too short) as 0
        for table in (ensemble.cross, ensemble.within, humans.cross):
            table["TDE"] = np.nan_to_num(table["TDE"])
    wanted = _load(golden, "protocol_values")["results"][key]
    close = {"rtol": 1e-12, "atol": tolerance}
    np.testing.assert_allclose(crps(spec, ensemble, "printed").value, wanted["crps_per_stimulus"], **close)
    np.testing.assert_allclose(mean_pair(spec, ensemble).value, wanted["mean_per_stimulus"], **close)
    np.testing.assert_allclose(best_of(spec, ensemble).value, wanted["best_per_stimulus"], **close)
    names = spec.components or (spec.name,)
    own, other = human_pairs(humans, names), generated_pairs([ensemble], names)
    total = DivergenceSum({name: joined_bounds(own.bounds(name), other.bounds(name)) for name in names}, 0)
    total.add(own, other, np.empty((0, 3)))
    kld = total.result().value
    five = _load(golden, "protocol_values")["results"]["mm_scandiff_kld_5dims"]
    assert kld == pytest.approx(five["mean"] if metric == "MM" else wanted["kld_unordered_human_pairs"], rel=1e-9)


@pytest.mark.parametrize("metric", PROTOCOL_KEYS)
def test_unbalanced_stimuli_average_as_in_the_reference(golden: Path, metric: str) -> None:
    key, padded, tolerance = PROTOCOL_KEYS[metric]
    spec = METRICS[metric]
    subset = _load(golden, "protocol_values")["unbalanced_subset"]
    human, generated = _sides(golden, padded, subset["rows_cols"])
    ensemble = compare([spec], human, generated, _context(golden), 3)
    if metric == "TDE":
        for table in (ensemble.cross, ensemble.within):
            table["TDE"] = np.nan_to_num(table["TDE"])
    wanted = subset["results"][key]
    for series, mean, pooled in (
        (crps(spec, ensemble, "printed"), "crps_mean_over_stimuli", "crps_mean_over_gt"),
        (crps(spec, ensemble, "fair"), "crps_fair_mean_over_stimuli", None),
        (mean_pair(spec, ensemble), "mean_over_stimuli", "mean_pooled_pairs"),
        (best_of(spec, ensemble), "best_mean_over_stimuli", "best_pooled_gt"),
    ):
        assert series.value.mean() == pytest.approx(wanted[mean], rel=1e-12, abs=max(tolerance, 1e-13)), mean
        if pooled is not None:
            ours = np.average(series.value, weights=series.weight)
            assert ours == pytest.approx(wanted[pooled], rel=1e-12, abs=max(tolerance, 1e-13)), pooled
