"""Code generation in a process of its own.

LLVM's instruction selection aborts the process on an intrinsic that a chip does not have. So a child, started on first
use and kept, turns GPU modules into ISA text; when it dies, what it printed last becomes the error, and the next
request starts a new one.

The pipes carry frames: a length (4 bytes, little endian) and a JSON header, whose `payload` is the number of bytes
that follow.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import re
import select
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_LENGTH = struct.Struct("<I")
DEFAULT_TIME_LIMIT = 300.0


class WorkerDied(Exception):
    """The child ended in the middle of a request; the argument is what it printed."""

    @property
    def reason(self) -> str:
        """The line of what it printed that says why; LLVM prints a stack after it."""
        found = re.search(
            r"^(?:LLVM ERROR|.*\bfatal error|.*Assertion).*(?:\n(?!PLEASE|Stack dump|\s*#?\d+\.?\s).*)*",
            str(self),
            re.MULTILINE,
        )
        return (found.group(0) if found else str(self)[-2000:]).strip()


class WorkerTimeout(Exception):
    """The child took too long and was ended."""


class WorkerRefused(Exception):
    """The child is well and reports that a step failed; the arguments are the message and the diagnostics."""

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

        raise SmaltiError(f"SMALTI_CODEGEN_TIMEOUT is '{given}', a number of seconds is wanted") from None


def _write_frame(stream: IO[bytes], header: dict[str, Any], payload: bytes = b"") -> None:
    encoded = json.dumps({**header, "payload": len(payload)}).encode()
    stream.write(_LENGTH.pack(len(encoded)) + encoded + payload)
    stream.flush()


def _read_exactly(descriptor: int, count: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise WorkerTimeout
        part = os.read(descriptor, min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def _read_frame(descriptor: int, deadline: float | None = None) -> tuple[dict[str, Any], bytes]:
    (length,) = _LENGTH.unpack(_read_exactly(descriptor, _LENGTH.size, deadline))
    header = json.loads(_read_exactly(descriptor, length, deadline))
    return header, _read_exactly(descriptor, header["payload"], deadline)


class Worker:
    """The parent's end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: IO[bytes] | None = None
        self._replies = -1
        self._log: IO[bytes] | None = None
        self._owner = 0

    def start(self) -> None:
        """Starts the child if none runs; it gets ready while the caller does something else."""
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
        # The child must find the package where this process found it, and nothing in the current folder. Links stay
        # as they are: a build tree links to the sources, and the bindings are in the tree alone.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package, environment.get("PYTHONPATH")]))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the child)
        command = [sys.executable, "-P", "-m", "smalti.codegen.codegen_worker", str(theirs_in), str(theirs_out)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(theirs_in, theirs_out),
                env=environment,
                # Ctrl-C in the shell is for the parent; the child ends when the pipe closes.
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
        if process is not None and self._owner == os.getpid():
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _said(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Ends the child."""
        with self._lock:
            self._drop()

    @property
    def pid(self) -> int | None:
        """The child's process id, if one runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def generate(self, bytecode: bytes, pipeline: str, time_limit: float | None = None) -> list[GeneratedCode]:
        """Runs `pipeline` on a module and returns the code in the `gpu.binary` operations that it leaves."""
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
        """A device module in LLVM IR as an object file of this host, and what describes it.

        `name` is the file that places in a text without line tables are said to be in. `libraries` are files of bitcode
        with functions that the module may need. `processor` is the host's, where it is not this one. `text` gives the
        host's LLVM IR.
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

    def _ask(self, header: dict[str, Any], payload: bytes, time_limit: float | None) -> tuple[dict[str, Any], bytes]:
        if time_limit is None:
            time_limit = _default_time_limit()
        with self._lock:
            self._ensure()
            assert self._requests is not None and self._process is not None
            try:
                _write_frame(self._requests, header, payload)
                answer, data = _read_frame(self._replies, time.monotonic() + time_limit)
            except (EOFError, BrokenPipeError):
                self._process.wait()
                said, code = self._said(), self._process.returncode
                self._drop()
                raise WorkerDied(said or f"it ended with code {code}") from None
            except BaseException:
                # A timeout, or an interrupt: the reply that is still to come must not meet the next request.
                self._process.kill()
                self._drop()
                raise
        if "error" in answer:
            raise WorkerRefused(answer["error"], answer.get("diagnostics", []))
        return answer, data


worker = Worker()
atexit.register(worker.close)


# --- the child ----------------------------------------------------------------------------------------------------


def _diagnostic_to_json(info: Any) -> dict[str, Any]:
    from ..diagnostics import diagnostic_from_mlir

    def encode(diagnostic: Any) -> dict[str, Any]:
        place = diagnostic.location
        return {
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "location": [place.file, place.line, place.column] if place else None,
            "notes": [encode(note) for note in diagnostic.notes],
        }

    return encode(diagnostic_from_mlir(info))


def _generate(pipeline: str, bytecode: bytes) -> tuple[dict[str, Any], bytes]:
    from .. import ir, passmanager
    from ..dialects import gpu

    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(bytecode)
        manager: Any = passmanager.PassManager.parse(pipeline)
        manager.run(module.operation)
        objects: list[dict[str, Any]] = []
        data = io.BytesIO()
        for view in module.body.operations:
            if view.operation.name != "gpu.binary":
                continue
            name = ir.StringAttr(view.operation.attributes["sym_name"]).value
            for item in ir.ArrayAttr(view.operation.attributes["objects"]):
                code = gpu.ObjectAttr(item).object
                objects.append({"module": name, "size": len(code)})
                data.write(code)
        return {"objects": objects}, data.getvalue()


def _rewrite(options: str, device_ir: bytes) -> tuple[dict[str, Any], bytes]:
    from .._mlir_libs import _smalti

    try:
        code, description = _smalti.rewrite_for_host(device_ir, options)
    except ValueError as error:
        told = json.loads(str(error))
        diagnostic: dict[str, Any] = {"severity": "error", **told, "notes": []}
        return {"error": told["message"], "diagnostics": [diagnostic] if told["location"] else []}, b""
    return {"description": json.loads(description)}, code


def _serve(requests: int, replies: int) -> None:
    import resource

    from .. import ir

    # An abort is expected here; a core file of it helps nobody.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    output = os.fdopen(replies, "wb")
    while True:
        try:
            header, payload = _read_frame(requests)
        except EOFError:
            return
        try:
            if "rewrite" in header:
                answer, data = _rewrite(header["rewrite"], payload)
            else:
                answer, data = _generate(header["pipeline"], payload)
        except ir.MLIRError as error:
            diagnostics = [_diagnostic_to_json(info) for info in error.error_diagnostics]
            answer, data = {"error": error.message, "diagnostics": diagnostics}, b""
        except Exception as error:
            answer, data = {"error": f"{type(error).__name__}: {error}"}, b""
        _write_frame(output, answer, data)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
