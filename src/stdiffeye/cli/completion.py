"""Print a script that lets the shell complete verbs, flags and their choices.

Example: eval "$(stdiffeye completion bash)"
         eval "$(stdiffeye completion zsh)"

Put that line into ~/.bashrc or ~/.zshrc. File names are completed as ever.
"""

from __future__ import annotations

import dataclasses
import importlib
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal

from tyro.conf import Positional

FUNCTION = """_stdiffeye() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="%(verbs)s"
  else
    case "${COMP_WORDS[1]} $before" in
%(choices)s
    esac
    if [ -z "$words" ] && [ "${word#-}" != "$word" ]; then
      case "${COMP_WORDS[1]}" in
%(flags)s
      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _stdiffeye stdiffeye
"""
# zsh runs completions of bash once it is told to.
ZSH_HEAD = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


@dataclass
class Args:
    shell: Positional[Literal["bash", "zsh"]]
    """Which shell."""


def run(args: Args) -> None:
    print(completion(args.shell), end="")


def completion(shell: str) -> str:
    """The script for `shell`, "bash" or "zsh"."""
    from stdiffeye.cli import VERBS

    arguments = {verb: _arguments(verb) for verb in VERBS}
    flags = [f'        {verb}) words="{" ".join([*names, "--help"])}" ;;' for verb, names in arguments.items()]
    choices = [
        f'      "{verb} {flag}") words="{" ".join(values)}" ;;'
        for verb, names in arguments.items()
        for flag, values in names.items()
        if values
    ]
    choices += [f'      "{verb} {verb}") words="{" ".join(_first_choices(verb))}" ;;' for verb in _with_choices(VERBS)]
    script = FUNCTION % {"verbs": " ".join(VERBS), "flags": "\n".join(flags), "choices": "\n".join(choices)}
    return ZSH_HEAD + script if shell == "zsh" else script


def _arguments(verb: str) -> dict[str, list[str]]:
    """Flag → the words that it takes, where these are given; positional arguments are left out."""
    return {
        f"--{'no-' if field.default is True else ''}{field.name.replace('_', '-')}": _choices(kind)
        for field, kind in _fields(verb)
        if not _is_positional(kind)
    }


def _first_choices(verb: str) -> list[str]:
    return next((_choices(kind) for _, kind in _fields(verb) if _is_positional(kind)), [])


def _with_choices(verbs: typing.Iterable[str]) -> list[str]:
    return [verb for verb in verbs if _first_choices(verb)]


def _fields(verb: str) -> list[tuple[Any, Any]]:
    args = importlib.import_module(f"stdiffeye.cli.{verb}").Args
    kinds = typing.get_type_hints(args, include_extras=True)
    return [(field, kinds[field.name]) for field in dataclasses.fields(args)]


def _is_positional(kind: Any) -> bool:
    marks = getattr(kind, "__metadata__", ())
    return any(mark in Positional[str].__metadata__ for mark in marks)  # type: ignore[attr-defined]


def _choices(kind: Any) -> list[str]:
    """The words of a Literal, also inside Annotated, an optional or a tuple."""
    if typing.get_origin(kind) is Literal:
        return [str(value) for value in typing.get_args(kind)]
    inside = typing.get_origin(kind) in (typing.Annotated, typing.Union, types.UnionType, tuple)
    return [word for part in typing.get_args(kind) for word in _choices(part)] if inside else []
