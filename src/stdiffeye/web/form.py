"""The form of the page: the fields of `generation.Request`, each within what one server takes on."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Form

from stdiffeye.fields import sentences
from stdiffeye.generation.request import Request
from stdiffeye.web.limits import FORM_LIMITS

# How long gaze lasts follows from `seconds` here; only stores, whose trials end early, ask for the rest.
NOT_IN_FORM = frozenset({"fill"})


def request_form() -> Callable[..., Awaitable[Request]]:
    """A dependency of FastAPI that reads a `Request` from the fields of a form."""
    kinds, words = typing.get_type_hints(Request), sentences(Request)

    async def read(**values: Any) -> Request:
        """What is wanted of the picture."""
        return Request(**{**values, "task": values["task"].strip(), "style": values["style"] or None})

    read.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[
                    kinds[field.name], Form(description=words[field.name], **FORM_LIMITS.get(field.name, {}))
                ],
            )
            for field in dataclasses.fields(Request)
            if field.name not in NOT_IN_FORM
        ]
    )
    return read
