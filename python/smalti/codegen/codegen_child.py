# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The child process of `codegen_worker`: reads requests from a pipe, and writes replies.

Each compilation in a new process waits for the start of the child. Therefore this module imports few others.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
from typing import Any

from . import frames


def _diagnostic_to_json(info: Any) -> dict[str, Any]:
    from ..diagnostics import diagnostic_from_mlir

    def encode(diagnostic: Any) -> dict[str, Any]:
        location = diagnostic.location
        return {
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "location": location.to_json() if location else None,
            "notes": [encode(note) for note in diagnostic.notes],
        }

    return encode(diagnostic_from_mlir(info))


def _generate(pipeline: str, bytecode: bytes) -> tuple[dict[str, Any], bytes]:
    from .. import ir, passmanager
    from .._mlir_libs import _smalti

    # The parser and the pass manager load the dialects that they need.
    with ir.Context(load_on_create_dialects=[]) as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(bytecode)
        manager: Any = passmanager.PassManager.parse(pipeline)
        manager.run(module.operation)
        code = _smalti.gpu_objects(module.operation)
        objects = [{"module": name, "size": len(data)} for name, data in code]
        return {"objects": objects}, b"".join(data for _, data in code)


def _rewrite(options: str, device_ir: bytes) -> tuple[dict[str, Any], bytes]:
    from .._mlir_libs import _smalti

    try:
        code, description = _smalti.rewrite_for_host(device_ir, options)
    except ValueError as error:
        found = json.loads(str(error))
        diagnostic: dict[str, Any] = {"severity": "error", **found, "notes": []}
        return {"error": found["message"], "diagnostics": [diagnostic] if found["location"] else []}, b""
    return {"description": json.loads(description)}, code


def _assemble(assembly: bytes, options: list[str]) -> tuple[dict[str, Any], bytes]:
    from .._mlir_libs import _smalti

    try:
        return {}, _smalti.assemble_gcn(assembly, *options)
    except ValueError as error:
        return {"error": str(error)}, b""


def _prepare_library(library: bytes, called: list[str] | None) -> tuple[dict[str, Any], bytes]:
    from .._mlir_libs import _smalti

    try:
        code, description = _smalti.prepare_library(library, called)
    except ValueError as error:
        return {"error": str(error)}, b""
    return {"description": json.loads(description)}, code


def _end_with_parent() -> None:
    """Ends this process when the parent ends, also during a request: the kernel sends SIGIO when the pipe to stdin closes. A
    thread could not watch the pipe, because native code may hold the lock of Python."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(0, 0)
    if poll.poll(0):
        # The pipe closed before SIGIO was requested.
        raise SystemExit


def _serve(requests: int, replies: int) -> None:
    import resource

    _end_with_parent()

    from .. import ir

    # Aborts are expected in this process, so it does not write core files.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    output = os.fdopen(replies, "wb")
    while True:
        try:
            header, payload = frames.read(requests)
        except EOFError:
            return
        try:
            if "rewrite" in header:
                answer, data = _rewrite(header["rewrite"], payload)
            elif "assemble" in header:
                answer, data = _assemble(payload, header["assemble"])
            elif "library" in header:
                answer, data = _prepare_library(payload, header["library"])
            else:
                answer, data = _generate(header["pipeline"], payload)
        except ir.MLIRError as error:
            diagnostics = [_diagnostic_to_json(info) for info in error.error_diagnostics]
            answer, data = {"error": error.message, "diagnostics": diagnostics}, b""
        except Exception as error:
            answer, data = {"error": f"{type(error).__name__}: {error}"}, b""
        frames.write(output, answer, data)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
