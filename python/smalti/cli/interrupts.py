# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C in the command `smalti` while native code runs.

Python runs signal handlers between bytecodes, so KeyboardInterrupt has to wait until native code returns. MLIR passes and
LLVM code generation take seconds for a large module.
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
"""The exit code after Ctrl-C, as shells report it (128 + SIGINT)."""
_SECONDS = 0.3
"""How long native code may continue after Ctrl-C."""


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class _Guard:
    """Ends the process if native code continues after Ctrl-C. A native thread reads a pipe: the C handler of Python writes
    to the pipe when the signal arrives, and `interrupt` writes to it when Python runs the handler."""

    def __init__(self) -> None:
        self._reader = self._writer = -1

    def start(self) -> None:
        """Starts the native thread, if the bindings are loaded."""
        is_loaded = "smalti._mlir_libs._smalti" in sys.modules
        if self._writer >= 0 or not is_loaded or not _is_main_thread():
            return
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        from ..calling import _launcher

        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        if (other := signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)) >= 0:
            signal.set_wakeup_fd(other)
            os.close(self._reader)
            self._close()
            return
        signal.signal(signal.SIGINT, self.interrupt)
        _launcher.end_unhandled_interrupts(self._reader, _SECONDS, EXIT_CODE)

    def stop(self) -> None:
        """Restores the handling of Ctrl-C by Python."""
        if self._writer < 0:
            return
        signal.set_wakeup_fd(-1)
        if signal.getsignal(signal.SIGINT) == self.interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._close()

    def _close(self) -> None:
        # The native thread closes the read end when it sees the end of the pipe.
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
    """Ctrl-C ends the process immediately in this block, which imports modules. A KeyboardInterrupt during the import of a
    native module would crash the module."""
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
    """In this block, Ctrl-C ends the process if native code continues. This takes effect after the first `end_the_process`
    that loads the bindings."""
    try:
        yield
    finally:
        _guard.stop()
