"""How the protocols order systems, from the table's file alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stdiffeye.benchmark.protocol_orders import fair_crps, rank_correlations, read_values, to_markdown
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.metrics import evaluate

HEAD = "dataset,comparison,system,protocol,metric,value"
TABLE = Path(__file__).parents[2] / "docs" / "results" / "table1.csv"


def test_fair_crps_follows_from_the_mean_and_the_printed_one() -> None:
    rng = np.random.default_rng(0)

    def trials(count: int) -> list[Trial]:
        paths = [Scanpath(rng.uniform(0, 380, (5, 2)), Frame(512, 384)) for _ in range(2 * count)]
        return [Trial("ab"[k % 2], str(k), path) for k, path in enumerate(paths)]

    human, ours = trials(4), trials(6)
    results = {
        how: evaluate(human, {"ours": ours}, metrics=["DTW", "SM"], estimator=how, references=False, replicates=0)
        for how in ("printed", "fair")
    }
    for metric in ("DTW", "SM"):
        mean, printed = (results["printed"].value("ours", protocol, metric) for protocol in ("mean", "crps"))
        expected = results["fair"].value("ours", "crps", metric)
        assert fair_crps(mean, printed, metric == "SM", 6) == pytest.approx(expected)


def test_a_protocol_that_reverses_the_order_has_a_correlation_of_minus_one(tmp_path: Path) -> None:
    rows = [HEAD]
    for k in range(5):
        values = {"crps": 10 + k, "mean": 20 + k, "best": 9 - k, "kld": 1 + k}
        rows += [f"osie,Scanpath,s{k},{protocol},DTW,{value}" for protocol, value in values.items()]
    rows.append("osie,Scanpath,human,crps,DTW,1")
    (tmp_path / "table.csv").write_text("\n".join(rows))
    found = rank_correlations(read_values(tmp_path / "table.csv", samples=5))["osie"]
    assert found["crps"][0] == pytest.approx(1)
    assert found["best"][0] == pytest.approx(-1)
    assert found["kld"][1] <= found["kld"][0] <= found["kld"][2]
    assert "| best-of-N | -1.00" in to_markdown({"osie": found}, 5)


def test_the_committed_table_suffices() -> None:
    values = read_values(TABLE)
    assert {dataset for dataset, _ in values} == {"osie", "crowd", "doves", "mcs"}
    assert all({"fair CRPS", "crps", "mean", "best", "kld"} <= column.keys() for column in values.values())


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(HEAD + "\n")
    with pytest.raises(InputError, match="is no table of systems"):
        read_values(tmp_path / "table.csv")
