"""Source text that came as a string: kept for a while, so that an error can show the line it is about."""

from __future__ import annotations

from collections import deque
from typing import Any

TEXT = "<text>"
"""What messages call a source that is a string."""

# MLIR names every string "-". A context holds one parsed module, so the context finds its text; holding the context
# keeps its identity unique for as long as the entry lives.
_recent: deque[tuple[Any, str]] = deque(maxlen=32)


def remember(context: Any, text: str) -> None:
    """Notes that the module of `context` was parsed from `text`."""
    _recent.append((context, text))


def text_of(context: Any) -> str | None:
    """The text that the module of `context` was parsed from, if it is still known."""
    return next((text for known, text in reversed(_recent) if known is context), None)
