"""Ctrl-C while modules are imported."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_CODE = 130
"""The exit code of a command that Ctrl-C ended, as shells report it."""


@contextmanager
def end_the_process() -> Iterator[None]:
    """Ctrl-C ends the process immediately: a KeyboardInterrupt raised while native modules load makes them crash."""
    python_handles = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not python_handles or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(EXIT_CODE))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
