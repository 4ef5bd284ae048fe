"""Packages that are not installed."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def uninstalled(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Call it with a package, whose import then fails."""
    real_import = builtins.__import__

    def uninstall(package: str) -> None:
        def import_others(name: str, *rest: Any, **options: Any) -> Any:
            if name == package:
                raise ImportError(name)
            return real_import(name, *rest, **options)

        monkeypatch.setattr(builtins, "__import__", import_others)

    return uninstall
