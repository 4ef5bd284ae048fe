"""Scanpaths of the joint model by its own fixation index, and by Judd's rule alone: which are nearer to people's?

    python benchmarks/bench_extraction.py STORE… [--model joint] [--split validation] [--samples 12]

Both are read from the same generated trajectories, and judged by fair CRPS over the same pictures.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import stdiffeye
from stdiffeye.benchmark.scoring import _diversity
from stdiffeye.data.store import Store
from stdiffeye.gaze import Trial, extract
from stdiffeye.generation.output import wanted_of
from stdiffeye.generation.request import Request
from stdiffeye.metrics import evaluate
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.metrics.tables import stated_gap


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stores", nargs="+")
    parser.add_argument("--model", default="joint")
    parser.add_argument("--split", default="validation")
    parser.add_argument("--samples", type=int, default=12)
    options = parser.parse_args()
    model = stdiffeye.load(options.model)
    for path in options.stores:
        store = Store.open(path)
        wanted = wanted_of([store.path], Request(samples=options.samples), options.split)
        generated: dict[str, list[Trial]] = {"index": [], "Judd's rule": []}
        for one in wanted:
            request = replace(one.request, style=store.dataset)
            for number, gaze in enumerate(next(iter(model.generate_many([one.picture], request)))):
                for way, scanpath in (("index", gaze.scanpath), ("Judd's rule", extract(gaze))):
                    generated[way].append(Trial(one.name, str(number), scanpath, None, one.request.task))
        human = list(store.trials(options.split))
        found = evaluate(human, generated, metrics=GAP_METRICS, protocols=("crps",), estimator="fair")
        same = np.mean(
            [len(a.scanpath) == len(b.scanpath) for a, b in zip(*generated.values(), strict=True)], dtype=float
        )
        print(f"{store.dataset} ({options.split}, {len(wanted)} pictures): as many fixations in {same:.0%} of samples")
        for way, trials in generated.items():
            gap = stated_gap(found.gap_closed[way]["crps"]["mean"])
            count = np.mean([len(trial.scanpath) for trial in trials])
            print(f"  {way:12} gap closed {gap}, diversity {_diversity(human, trials):.2f}, {count:.1f} fixations")
        print(f"  {'people':12} {np.mean([len(trial.scanpath) for trial in human]):.1f} fixations", flush=True)


if __name__ == "__main__":
    main()
