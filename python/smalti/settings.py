# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of kernels: attributes that control a call. Setting an attribute that has no effect is an error."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Sequence
from typing import Any


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known name that is closest to `name`, or None. Dashes and underscores are equal."""
    spelled = {other.replace("-", "_"): other for other in known}
    close = difflib.get_close_matches(name.replace("-", "_"), spelled, 1)
    return f"did you mean '{spelled[close[0]]}'?" if close else None


class Settings:
    """Base class of kernels. A new attribute, or a setting that does not affect calls of this kernel, is an AttributeError."""

    _NAMES = ("emulation", "simulation", "time_limit", "blocks", "announce")
    _is_initialized = False
    """Whether `__init__` has returned."""

    def _settings(self) -> Sequence[str]:
        """The settings that affect calls of this kernel."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_initialized and (name in self._NAMES or not hasattr(self, name)) and name not in self._settings():
            raise AttributeError(self._refusal(name))
        object.__setattr__(self, name, value)

    def _refusal(self, name: str) -> str:
        message = f"{self!r} does not have a setting '{name}'"
        settings = self._settings()
        known, hint = list(settings), None
        for setting in settings:
            value = getattr(self, setting)
            if not dataclasses.is_dataclass(value):
                continue
            fields = [field.name for field in dataclasses.fields(value)]
            known[known.index(setting)] = f"{setting} ({', '.join(fields)})"
            if name in fields:
                hint = f"set kernel.{setting} = {type(value).__name__}({name}=...)"
            else:
                hint = suggestion(name, fields)
        hint = suggestion(name, settings) or hint
        return f"{message}; settings: {', '.join(known) or 'none'}" + (f"; {hint}" if hint else "")
