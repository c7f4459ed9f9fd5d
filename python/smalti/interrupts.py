"""Ctrl-C in the command `smalti`, where Python cannot raise KeyboardInterrupt soon.

Python runs signal handlers between bytecodes, so not before native code returns: passes of MLIR and LLVM's code generator
take seconds for a large module.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

EXIT_CODE = 130
"""The exit code of a command that Ctrl-C ended, as shells report it."""
_SECONDS = 0.3
"""How long native code may go on after Ctrl-C."""


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class _Guard:
    """Ends the process where native code goes on after Ctrl-C. A native thread reads from a pipe what Python's handler in C
    writes when the signal arrives, and what `interrupt` writes when Python gets to it."""

    def __init__(self) -> None:
        self._reader = self._writer = -1

    def start(self) -> None:
        """Starts it, once the bindings are loaded."""
        bindings = sys.modules.get(f"{__package__}._mlir_libs._smalti")
        if self._writer >= 0 or bindings is None or not _is_main_thread():
            return
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        if (other := signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)) >= 0:
            signal.set_wakeup_fd(other)
            os.close(self._reader)
            self._close()
            return
        signal.signal(signal.SIGINT, self.interrupt)
        bindings.end_unhandled_interrupts(self._reader, _SECONDS, EXIT_CODE)

    def stop(self) -> None:
        """Leaves Ctrl-C to Python again."""
        if self._writer < 0:
            return
        signal.set_wakeup_fd(-1)
        if signal.getsignal(signal.SIGINT) == self.interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._close()

    def _close(self) -> None:
        # The native thread closes the other end when it reads the end of the pipe.
        os.close(self._writer)
        self._writer = -1

    def interrupt(self, *_: object) -> None:
        with suppress(OSError):
            os.write(self._writer, b"\0")
        raise KeyboardInterrupt


_guard = _Guard()


def _end(signal_number: int, frame: FrameType | None) -> None:
    os._exit(EXIT_CODE)


@contextmanager
def end_the_process() -> Generator[None, None, None]:
    """Ctrl-C ends the process immediately while modules are imported: a KeyboardInterrupt raised while native modules load
    makes them crash."""
    before = signal.getsignal(signal.SIGINT)
    python_handles = before in (signal.default_int_handler, _guard.interrupt)
    if not python_handles or not _is_main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _guard.start()


@contextmanager
def end_native_code() -> Generator[None, None, None]:
    """From the first `end_the_process` inside that loads the bindings on, Ctrl-C ends the process where native code goes
    on."""
    try:
        yield
    finally:
        _guard.stop()
