"""Shards of work that were done apart, put together: the verb `join`."""

from __future__ import annotations

from pathlib import Path

from stdiffeye.errors import InputError


def join(out: str | Path, quiet: bool = False) -> Path:
    """Put the shards together that `--shard` made; the result is that of the same command without `--shard`.

    Parameters
    ----------
    out : path
        What the commands were given as `--out`: a folder of gaze, a store, or a file of results.
    quiet : bool
        Show no progress.

    Returns
    -------
    Path
        What was made: the same path.

    Raises
    ------
    InputError
        Where there are no shards, or not yet all of them.
    """
    from stdiffeye.data.shared_preparation import join_preparation
    from stdiffeye.generation.output import join_generation
    from stdiffeye.generation.run_folder import PLAN, UNFINISHED
    from stdiffeye.verbs.shared_evaluation import PLAN as EVALUATION
    from stdiffeye.verbs.shared_evaluation import join_evaluation

    out = Path(out)
    if (out / UNFINISHED / PLAN).is_file():
        return join_generation(out, quiet).out
    if Path(f"{out}.partial", EVALUATION).is_file():
        join_evaluation(out)
        return out
    if Path(f"{out}.partial").is_dir():
        return join_preparation(out).path
    raise InputError(f"{out} has no shards to join: give what `--out` was of the commands with --shard")
