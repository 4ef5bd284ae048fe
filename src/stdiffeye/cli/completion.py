"""Print a script that lets the shell complete verbs, flags and their choices.

Example: eval "$(stdiffeye completion bash)"
         eval "$(stdiffeye completion zsh)"

Put that line into ~/.bashrc or ~/.zshrc. File names are completed as ever.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from typing import Any, Literal

from tyro.conf import Positional

from stdiffeye.cli import VERBS, args_of
from stdiffeye.cli.flags import flags_of

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
class CompletionArgs:
    shell: Positional[Literal["bash", "zsh"]]
    """Which shell."""


def run(args: CompletionArgs) -> None:
    print(completion(args.shell), end="")


def completion(shell: str) -> str:
    """The script for `shell`, "bash" or "zsh".

    Parameters
    ----------
    shell : {"bash", "zsh"}
        Shell to complete in.

    Returns
    -------
    str
        The script, to be evaluated when the shell starts.
    """
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
        f"--{'no-' if flag.default is True else ''}{flag.name.replace('_', '-')}": _choices(flag.kind)
        for flag in flags_of(args_of(verb))
        if not flag.positional
    }


def _first_choices(verb: str) -> list[str]:
    return next((_choices(flag.kind) for flag in flags_of(args_of(verb)) if flag.positional), [])


def _with_choices(verbs: typing.Iterable[str]) -> list[str]:
    return [verb for verb in verbs if _first_choices(verb)]


def _choices(kind: Any) -> list[str]:
    """The words of a Literal, also inside Annotated, an optional or a tuple."""
    if typing.get_origin(kind) is Literal:
        return [str(value) for value in typing.get_args(kind)]
    inside = typing.get_origin(kind) in (typing.Annotated, typing.Union, types.UnionType, tuple)
    return [word for inner in typing.get_args(kind) for word in _choices(inner)] if inside else []
