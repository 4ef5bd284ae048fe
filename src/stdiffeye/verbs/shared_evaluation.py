"""An evaluation by several programs: each scores some of the stimuli, and the last step joins them.

A shard writes the scores of its stimuli to a folder beside the results, whole or not at all. What is averaged and
resampled follows from the scores of all, so that the results are those of one program, byte for byte.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stdiffeye.cluster import on_cluster
from stdiffeye.data.read import File, Gaze, iterate_trials, trials_of
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, temporary_folder, write_json
from stdiffeye.gaze import Trial
from stdiffeye.io.predictions import is_prediction_file
from stdiffeye.progress import track
from stdiffeye.work_shards import Shard

if TYPE_CHECKING:
    from stdiffeye.metrics.result import Result
    from stdiffeye.metrics.stimuli import Sides
    from stdiffeye.metrics.stimulus_scoring import StimulusScoring

PLAN = "evaluation.json"
SHARDS_ON_CLUSTER = 64  # of which a worker reads the files for the first one only


@dataclass(frozen=True)
class EvaluationRequest:
    """What is to be evaluated, as `evaluate` was given it."""

    human: Gaze
    generated: Mapping[str, Gaze]
    split: str | None
    split_id: str | None
    per_stimulus: bool
    compile_kernels: bool | None
    settings: Mapping[str, Any]

    def trials(self) -> tuple[Sequence[Trial], dict[str, Sequence[Trial]]]:
        """All trials of the humans and of each system, in memory."""
        human = trials_of(self.human, split=self.split)
        systems = {name: trials_of(gaze, human) for name, gaze in self.generated.items()}
        if self.split_id is None:
            return human, systems
        from stdiffeye.data.frozen_splits import frozen_split

        frozen = frozen_split(self.split_id)
        return frozen.humans(human), {name: frozen.submission(gaze, name) for name, gaze in systems.items()}

    def sides(self) -> Sides:
        """What is compared of both sides, read one trial after the other.

        Whether kernels are compiled must be decided before the first of them is imported, so it is decided here.
        """
        from stdiffeye.metrics.compiled import interpret_small
        from stdiffeye.metrics.stimuli import packed_sides, reading_of

        reading = reading_of(self.settings)
        if self._needs_lists:
            sides = packed_sides(*self.trials(), reading)
        else:
            systems = {name: iterate_trials(gaze) for name, gaze in self.generated.items()}
            sides = packed_sides(iterate_trials(self.human, self.split), systems, reading)
        if self.compile_kernels is None:
            interpret_small(sides.pairs)
        return sides

    @property
    def _needs_lists(self) -> bool:
        """A frozen split is checked as a whole; other programs' files are read with the humans beside them."""
        files = [gaze for gaze in self.generated.values() if isinstance(gaze, File)]
        return self.split_id is not None or any(is_prediction_file(gaze) for gaze in files)

    def scoring(self) -> StimulusScoring:
        """Both sides, of which any stimuli can be scored."""
        sides = self.sides()
        from stdiffeye.metrics.evaluation import scoring_of

        return scoring_of(sides, **self.settings)

    def to_json(self) -> str:
        """As words that tell equal requests, for files only."""
        if not all(isinstance(gaze, File) for gaze in (self.human, *self.generated.values())):
            raise InputError("shards and clusters read files: write the trials to a file, and give its path")
        return json.dumps(vars(self), default=str)


@dataclass(frozen=True)
class EvaluationTask:
    """A shard for a worker."""

    request: str
    out: Path
    shard: Shard


def evaluate_shard(request: EvaluationRequest, out: Path, shard: Shard, quiet: bool = False) -> None:
    """Score some of the stimuli into `OUT.partial`; `join_evaluation` makes the results."""
    request.to_json()
    _score(request.scoring(), request, out, shard, quiet)


def evaluate_on_cluster(request: EvaluationRequest, out: Path, cluster: str, quiet: bool = False) -> Result:
    """Share the stimuli among the workers of a cluster, and join what they scored."""
    shards = Shard(1, SHARDS_ON_CLUSTER).all
    tasks = [EvaluationTask(request.to_json(), out, shard) for shard in shards]
    for _ in track(on_cluster(evaluate_task, tasks, cluster), "scoring, shards", total=len(tasks), quiet=quiet):
        pass
    return join_evaluation(out)


def evaluate_task(task: EvaluationTask) -> None:
    """Score a shard; the files that the shards share are read once per worker."""
    _score(_kept_scoring(task.request), _request_of(task.request), task.out, task.shard, quiet=True)


@lru_cache(maxsize=1)
def _kept_scoring(request: str) -> StimulusScoring:
    return _request_of(request).scoring()


def _request_of(words: str) -> EvaluationRequest:
    return EvaluationRequest(**json.loads(words))


def _score(scoring: StimulusScoring, request: EvaluationRequest, out: Path, shard: Shard, quiet: bool) -> None:
    folder = Path(f"{out}.partial")
    plan = {"per_stimulus": request.per_stimulus, "split_id": request.split_id, "shards": shard.count}
    plan = json.loads(json.dumps(plan | {"plan": scoring.plan.to_json()}))
    if not (folder / PLAN).is_file():
        write_json(folder / PLAN, plan)
    elif read_json(folder / PLAN) != plan:
        raise InputError(f"{folder} was begun otherwise: give the same files and options, or remove it")
    if (folder / shard.stem).is_dir():
        return
    spans = list(scoring.spans(shard.span(len(scoring.plan.keys))))
    with temporary_folder(folder) as unfinished:
        (unfinished / shard.stem).mkdir()
        for span in track(spans, "scoring", quiet=quiet):
            scoring.score(span).save(unfinished / shard.stem, scoring.plan)
        if not (folder / shard.stem).is_dir():
            (unfinished / shard.stem).rename(folder / shard.stem)


def join_evaluation(out: str | Path) -> Result:
    """Make the results of shards that several programs scored; refused while one is missing."""
    from stdiffeye.metrics.assembly import assemble
    from stdiffeye.metrics.scored_stimuli import EvaluationPlan, ScoreFolders

    out, folder = Path(out), Path(f"{out}.partial")
    content = read_json(folder / PLAN)
    shards = [folder / shard.stem for shard in Shard(1, content["shards"]).all]
    missing = sum(not one.is_dir() for one in shards)
    if missing:
        raise InputError(f"{folder}: {missing} of {len(shards)} shards are not there yet")
    plan = EvaluationPlan.from_json(content["plan"])
    result = assemble(plan, ScoreFolders(shards, plan))
    if content["split_id"] is not None:
        result.settings["split_id"] = content["split_id"]
    result.save(out, content["per_stimulus"])
    shutil.rmtree(folder)
    return result
