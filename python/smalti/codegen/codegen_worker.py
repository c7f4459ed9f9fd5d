# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code generation in a child process.

LLVM's instruction selection aborts the process on an intrinsic that a chip does not have. Therefore a child process
lowers GPU modules to ISA text. It is started on first use and kept. If it aborts, its last output becomes the error
message, and the next request starts a new child.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..diagnostics import without_warnings
from . import frames
from .frames import WorkerTimeout

__all__ = ["GeneratedCode", "Worker", "WorkerDied", "WorkerRefused", "WorkerTimeout", "worker"]

DEFAULT_TIME_LIMIT = 300.0


class WorkerDied(Exception):
    """The child process ended during a request. The argument is its output."""

    @property
    def reason(self) -> str:
        """The line of the output with the reason, without warnings and the stack trace that LLVM prints after it."""
        output = without_warnings(str(self))
        found = re.search(
            r"^(?:LLVM ERROR|.*\bfatal error|.*Assertion).*(?:\n(?!PLEASE|Stack dump|\s*#?\d+\.?\s).*)*",
            output,
            re.MULTILINE,
        )
        return (found.group(0) if found else output[-2000:]).strip()


class WorkerRefused(Exception):
    """The child process reports a failed step. The arguments are the message and the diagnostics."""

    def __init__(self, message: str, diagnostics: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class GeneratedCode:
    """The code of one GPU module."""

    module: str
    data: bytes


def _default_time_limit() -> float:
    given = os.environ.get("SMALTI_CODEGEN_TIMEOUT", "")
    try:
        return float(given) if given else DEFAULT_TIME_LIMIT
    except ValueError:
        from ..errors import SmaltiError

        raise SmaltiError(f"SMALTI_CODEGEN_TIMEOUT is '{given}'; it must be a number of seconds") from None


class Worker:
    """The child process, as seen by the parent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: IO[bytes] | None = None
        self._replies = -1
        self._log: IO[bytes] | None = None
        self._owner = 0

    def start(self) -> None:
        """Starts the child if it does not run. The child initializes concurrently with the caller."""
        with self._lock:
            self._ensure()

    def _ensure(self) -> None:
        if self._process is not None and self._process.poll() is None and self._owner == os.getpid():
            return
        self._drop()
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        environment = dict(os.environ)
        package = str(Path(__file__).absolute().parent.parent.parent)
        # The child must import the package from the same folder as this process, and nothing from the current folder.
        # Links are not resolved: a build tree links to the sources, and only the build tree has the bindings.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package, environment.get("PYTHONPATH")]))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
        command = [sys.executable, "-P", "-m", "smalti.codegen.codegen_child", str(theirs_in), str(theirs_out)]
        try:
            self._process = subprocess.Popen(
                command,
                # The child ends when this pipe closes. The parent does not write to it.
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(theirs_in, theirs_out),
                env=environment,
                # Only the parent receives Ctrl-C of the shell.
                start_new_session=True,
            )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._requests, self._replies, self._owner = os.fdopen(ours_out, "wb"), ours_in, os.getpid()

    def _drop(self) -> None:
        process, self._process = self._process, None
        if self._requests is not None:
            with contextlib.suppress(OSError):
                self._requests.close()
            self._requests = None
        if self._replies >= 0:
            os.close(self._replies)
            self._replies = -1
        if process is not None and process.stdin is not None:
            process.stdin.close()
        if process is not None and self._owner == os.getpid():
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _output(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Stops the child process."""
        with self._lock:
            self._drop()

    @property
    def pid(self) -> int | None:
        """The process id of the child, or None."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def generate(self, bytecode: bytes, pipeline: str, time_limit: float | None = None) -> list[GeneratedCode]:
        """Runs `pipeline` on a module, and returns the code of the `gpu.binary` operations in the result.

        Raises WorkerDied, WorkerTimeout or WorkerRefused.
        """
        header, payload = self._ask({"pipeline": pipeline}, bytecode, time_limit)
        code: list[GeneratedCode] = []
        at = 0
        for item in header["objects"]:
            code.append(GeneratedCode(item["module"], payload[at : at + item["size"]]))
            at += item["size"]
        return code

    def rewrite(
        self,
        device_ir: bytes,
        *,
        chip: str,
        name: str = "-",
        sanitize: str | None = None,
        libraries: Sequence[str] = (),
        processor: str = "",
        text: bool = False,
        time_limit: float | None = None,
    ) -> tuple[bytes, dict[str, Any]]:
        """Rewrites a device module in LLVM IR for the host, and returns an object file and its description.

        `name` is the file name in source locations of a module without line tables. `libraries` are bitcode files with
        functions that the module may call. `processor` selects a host processor other than this one. With `text`, LLVM IR
        is returned in place of the object file.
        """
        options = {
            "chip": chip,
            "name": name,
            "sanitizer": sanitize or "none",
            "libraries": list(libraries),
            "processor": processor,
            "format": "text" if text else "object",
        }
        answer, code = self._ask({"rewrite": json.dumps(options)}, device_ir, time_limit)
        return code, answer["description"]

    def assemble(self, assembly: str, triple: str, chip: str, features: str, time_limit: float | None = None) -> bytes:
        """The relocatable object file of the assembly of an AMD kernel.

        Raises WorkerDied, WorkerTimeout or WorkerRefused, whose message has the messages of the assembler.
        """
        return self._ask({"assemble": [triple, chip, features]}, assembly.encode(), time_limit)[1]

    def prepare_library(
        self, library: bytes, called: Iterable[str] | None = None, time_limit: float | None = None
    ) -> tuple[bytes, dict[str, Any]]:
        """A library, LLVM IR as text or bitcode, as bitcode for any chip of its vendor, and its description: `triple`,
        `functions` (type by name) and `missing`. With `called`, other functions are not visible to the code that links it.

        Raises WorkerDied, WorkerTimeout or WorkerRefused.
        """
        answer, code = self._ask({"library": None if called is None else sorted(called)}, library, time_limit)
        return code, answer["description"]

    def _ask(self, header: dict[str, Any], payload: bytes, time_limit: float | None) -> tuple[dict[str, Any], bytes]:
        if time_limit is None:
            time_limit = _default_time_limit()
        with self._lock:
            self._ensure()
            assert self._requests is not None and self._process is not None and self._log is not None
            # The child writes at the same position of the file. An error must not contain the output of earlier requests.
            self._log.seek(0)
            self._log.truncate()
            try:
                frames.write(self._requests, header, payload)
                answer, data = frames.read(self._replies, time.monotonic() + time_limit)
            except (EOFError, BrokenPipeError):
                self._process.wait()
                output, code = self._output(), self._process.returncode
                self._drop()
                raise WorkerDied(
                    output
                    or f"the code generator ended with exit code {code} and without a message; report this as a bug"
                ) from None
            except BaseException:
                # After a timeout or an interrupt, the pending reply must not be read as the reply to the next request.
                self._process.kill()
                self._drop()
                raise
        if "error" in answer:
            raise WorkerRefused(answer["error"], answer.get("diagnostics", []))
        return answer, data


worker = Worker()
atexit.register(worker.close)
