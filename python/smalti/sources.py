# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source text that was parsed from a string, kept so that a diagnostic can show the source line."""

from __future__ import annotations

from collections import deque
from typing import Any

TEXT = "<text>"
"""The file name of a source string in messages."""

# MLIR uses the file name "-" for every string. A context holds one parsed module, so the context identifies its text.
# The reference to the context keeps its identity unique while the entry exists.
_recent: deque[tuple[Any, str]] = deque(maxlen=32)


def remember(context: Any, text: str) -> None:
    """Records that the module of `context` was parsed from `text`."""
    _recent.append((context, text))


def text_of(context: Any) -> str | None:
    """The text that the module of `context` was parsed from, or None."""
    return next((text for known, text in reversed(_recent) if known is context), None)
