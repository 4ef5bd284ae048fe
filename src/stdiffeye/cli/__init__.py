"""The command `stdiffeye`: one verb each, one module per verb.

A verb's module holds `run(args)` and the dataclass of its `args`: the fields are the flags, the strings under them the
help. What a verb needs is imported by its `run`, so that `evaluate` never waits for torch.
"""

from __future__ import annotations

import difflib
import io
import os
import shlex
import sys
import typing
import warnings
from types import ModuleType
from typing import Any

from stdiffeye.errors import InputError

VERBS: dict[str, str] = {
    "generate": "a picture in, gaze out",
    "join": "shards of work that were done apart in, the whole out",
    "slurm": "a script that shares one command among the jobs of a cluster",
    "animate": "scanpaths in, 240 Hz gaze out",
    "models": "what is shipped",
    "fixations": "a tracker's recording in, scanpaths and a picture out",
    "demo": "a main job on material that the demonstration makes itself",
    "reproduce": "make a table or figure of the documents again",
    "prepare": "a data set in, a store for training out",
    "info": "describe any recording, gaze file, data set or store",
    "evaluate": "human and generated gaze in, a table with intervals out",
    "leaderboard": "results of one frozen split in, a page of tables out",
    "train": "stores in, a run out",
    "adapt": "a few recordings in, a model of their viewing style out",
    "calibrate": "a model in, its density of the next fixation calibrated",
    "export": "a run in, a small model out",
    "duplicates": "pictures that several stores share, to keep test pictures out of training",
    "features": "look at pictures once and keep what was seen",
    "aoi": "areas of interest: people beside generated viewers, with intervals",
    "stats": "distributions of human and generated gaze",
    "plot": "gaze in, pictures out",
    "replay": "gaze in, a film or a page out",
    "serve": "a page in the browser: drop a picture, see the gaze",
    "doctor": "is all well here",
    "verify": "checksums of stores, models, runs and cached features",
    "fuzz": "damaged files for every reader: for developers",
    "completion": "help for the shell to complete what is typed",
}

# These keep what is done; the others write nothing before they are through.
GO_ON = frozenset({"generate", "prepare", "features", "reproduce"})

USAGE = "usage: stdiffeye VERB … [--debug]      stdiffeye VERB --help explains a verb"
EXAMPLE = "Example: stdiffeye generate photo.jpg --samples 10 --seconds 3 --out gaze"


def main(arguments: list[str] | None = None) -> None:
    """Run one verb; bad input prints one line and exits with 2, tracebacks only with --debug."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    if isinstance(sys.stdout, io.TextIOWrapper):  # the name of a file may hold what the terminal has no character for
        sys.stdout.reconfigure(errors="backslashreplace")
    words = [word for word in words if word != "--debug"]
    plain, warnings.formatwarning = warnings.formatwarning, _warning
    try:
        sys.exit(_run(words))
    except KeyboardInterrupt:
        _fail(f"interrupted; {_after_interrupt(words)}", 130, debug)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (InputError, OSError, MemoryError) as error:
        _fail(_one_line(error), 2, debug)
    finally:
        warnings.formatwarning = plain


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if words[0] == "--version":
        from stdiffeye.version import __version__

        print(f"stdiffeye {__version__}")
        return 0
    verb, rest = words[0], words[1:]
    if verb not in VERBS:
        near = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`stdiffeye --help` lists them."
        raise InputError(f"there is no verb {verb!r}: {hint}")
    return verb_modules()[verb].run(parse(verb, rest)) or 0


def verb_modules() -> dict[str, ModuleType]:
    """Verb → its module."""
    from stdiffeye.cli import (
        adapt,
        animate,
        aoi,
        calibrate,
        completion,
        demo,
        doctor,
        duplicates,
        evaluate,
        export,
        features,
        fixations,
        fuzz,
        generate,
        info,
        join,
        leaderboard,
        models,
        plot,
        prepare,
        replay,
        reproduce,
        serve,
        slurm,
        stats,
        train,
        verify,
    )

    modules = (
        *(adapt, animate, aoi, calibrate, completion, demo, doctor, duplicates, evaluate, export),
        *(features, fixations, fuzz, generate, info, join, leaderboard, models, plot),
        *(prepare, replay, reproduce, serve, slurm, stats, train, verify),
    )
    return {module.__name__.rpartition(".")[2]: module for module in modules}


def args_of(verb: str) -> type[Any]:
    """The dataclass whose fields are the verb's flags."""
    return typing.get_type_hints(verb_modules()[verb].run)["args"]


def parse(verb: str, words: list[str]) -> Any:
    """The arguments of a verb from the words after it; --help and words without sense exit, as on the command line."""
    import tyro

    from stdiffeye.cli.flags import STYLE, Refused, registry

    if verb == "slurm":  # what follows the other verb is that verb's own
        at = next((number for number, word in enumerate(words) if word in VERBS), len(words))
        words, shared = words[:at], words[at:]
        words += [shlex.join(shared)] if shared else []
    try:
        return tyro.cli(
            args_of(verb),
            prog=f"stdiffeye {verb}",
            description=verb_modules()[verb].__doc__,
            args=words,
            config=STYLE,
            registry=registry(),
        )
    except Refused as error:
        raise InputError(str(error)) from error


def overview() -> str:
    """What `stdiffeye --help` prints."""
    width = max(map(len, VERBS), default=0)
    verbs = (f"  {verb:<{width}}  {summary}" for verb, summary in VERBS.items())
    return "\n".join([USAGE, "", EXAMPLE, "", *verbs])


def _warning(message: Warning | str, *_: Any, **__: Any) -> str:
    """A warning in one line, without the line of source that it comes from."""
    return f"stdiffeye: warning: {' '.join(str(message).split())}\n"


def _after_interrupt(words: list[str]) -> str:
    verb, rest = words[0], words[1:]
    own = getattr(verb_modules()[verb], "after_interrupt", None)
    if own is not None:
        return str(own(rest, parse(verb, rest)))
    if verb in GO_ON:
        return "run the same command again to go on"
    return "nothing half-written is left; run the same command again to begin anew"


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _fail(message: str, code: int, debug: bool) -> None:
    if debug:
        raise
    print(f"stdiffeye: {message}", file=sys.stderr)
    sys.exit(code)
