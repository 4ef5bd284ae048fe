"""Print a script for Slurm that shares one command among the jobs of an array, and joins their shards at the end.

Example: stdiffeye slurm --jobs 32 generate pictures --samples 10 --out gaze
         stdiffeye slurm --jobs 8 --hours 2 features stores/osie --cache cache

The flags of this verb come before the other verb. `sbatch FILE` submits the script.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from stdiffeye.errors import InputError

SHARDED = {"generate": "gaze", "prepare": "store", "features": "", "evaluate": "results.json"}
"""Verbs with --shard, and their --out where none is given; features need no join, as they lie in one cache."""


@dataclass
class SlurmArgs:
    command: Annotated[Positional[str], arg(metavar="VERB …")]
    """The verb to be shared, with its words."""
    jobs: int = 16
    """Jobs of the array; each does one shard."""
    hours: float = 4.0
    """Time limit of a job."""
    memory_gb: int = 4
    """Memory of a job."""
    cpus: int = 2
    """Cores of a job."""
    partition: str | None = None
    """Slurm's partition."""


def run(args: SlurmArgs) -> None:
    print(slurm(args.command, args.jobs, args.hours, args.memory_gb, args.cpus, args.partition), end="")


def slurm(
    command: str | Sequence[str],
    jobs: int = 16,
    hours: float = 4.0,
    memory_gb: int = 4,
    cpus: int = 2,
    partition: str | None = None,
) -> str:
    """Write a script for Slurm's `sbatch`.

    Parameters
    ----------
    command : str or sequence of str
        A verb that has `--shard`, with its words: "generate pictures --out gaze".
    jobs : int
        Jobs of the array; each does one shard.
    hours : float
        Time limit of a job. A job that is requeued goes on where it was.
    memory_gb, cpus : int
        Memory and cores of a job.
    partition : str, optional
        Slurm's partition.

    Returns
    -------
    str
        The script: an array of jobs, of which the first submits the join that waits for all.

    Raises
    ------
    InputError
        Where the verb cannot be shared.

    Examples
    --------
    >>> print(slurm("generate pictures --out gaze", jobs=8).splitlines()[2])
    #SBATCH --array=1-8
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words or words[0] not in SHARDED:
        raise InputError(f"give a verb that can be shared, one of {', '.join(SHARDED)}; got {' '.join(words)!r:.60}")
    if "--shard" in words or "--cluster" in words:
        raise InputError("the array makes the shards: leave out --shard and --cluster")
    if jobs < 1 or hours <= 0 or memory_gb < 1 or cpus < 1:
        raise InputError("jobs, hours, memory_gb and cpus must be positive")
    minutes = max(1, round(60 * hours))
    options = [f"job-name=stdiffeye-{words[0]}", f"array=1-{jobs}", f"time={minutes // 60}:{minutes % 60:02d}:00"]
    options += [f"cpus-per-task={cpus}", f"mem={memory_gb}G", "requeue"]
    options += [f"partition={shlex.quote(partition)}"] if partition else []
    lines = ["#!/bin/bash", *(f"#SBATCH --{option}" for option in options), "set -e", *_join(words)]
    lines.append(f'stdiffeye {shlex.join(words)} --shard "$SLURM_ARRAY_TASK_ID/{jobs}"')
    return "\n".join(lines) + "\n"


def _join(words: Sequence[str]) -> list[str]:
    """The lines by which the first job of the array submits the join, once."""
    if not SHARDED[words[0]]:
        return []
    out = next((words[at + 1] for at, word in enumerate(words[:-1]) if word == "--out"), SHARDED[words[0]])
    wrapped = shlex.quote(f"stdiffeye join {shlex.quote(out)}")
    return [
        'if [ "$SLURM_ARRAY_TASK_ID" = 1 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then',
        f'  sbatch --dependency="afterok:$SLURM_ARRAY_JOB_ID" --job-name=stdiffeye-join --wrap={wrapped}',
        "fi",
    ]
