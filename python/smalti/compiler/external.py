# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries of external device functions: which a kernel needs, and whether they define what it calls."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import ir, sources, targets, toolchain
from ..codegen import codegen_worker
from ..diagnostics import Diagnostic, source_location
from ..errors import CompileError

_TRIPLES = {"nvidia": "nvptx64", "amd": "amdgcn"}
"""The beginnings of the triples of libraries for the GPUs of a vendor."""

LIBRARY_DIGEST = "library_digest"
"""The attribute of a call with the SHA-256 of its library at the declaration."""

_TYPES = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
"""LLVM's names of element types whose names differ."""


@dataclass(frozen=True)
class Library:
    """A file with device functions."""

    path: str
    code: bytes
    missing: frozenset[str]
    """The functions that the library calls and does not define."""


def _calls(operation: Any, vendor: str) -> Iterator[Any]:
    """The calls of external functions of a vendor."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                if inner.name == "triton_xla.extern_call" and _text(inner, "vendor") == vendor:
                    yield inner
                yield from _calls(inner, vendor)


def _text(operation: Any, name: str) -> str | None:
    if name not in operation.attributes:
        return None
    attribute = operation.attributes[name]
    if isinstance(attribute, ir.StringAttr):
        return attribute.value
    return ("nvidia", "amd")[ir.IntegerAttr(attribute).value]


def _signature(operation: Any) -> str:
    """The type of the called function in LLVM IR."""

    def name(value: Any) -> str:
        ty = value.type
        element = str(ty.element_type if isinstance(ty, ir.ShapedType) else ty)
        return _TYPES.get(element, element)

    return f"{name(operation.results[0])} ({', '.join(map(name, operation.operands))})"


@functools.lru_cache(maxsize=64)
def _prepared(code: bytes) -> tuple[bytes, dict[str, Any]] | str:
    """A library that can be linked, and its description; or the reason why it cannot."""
    try:
        return codegen_worker.worker.prepare_library(code)
    except codegen_worker.WorkerRefused as refused:
        return str(refused)
    except codegen_worker.WorkerDied as died:
        return died.reason
    except codegen_worker.WorkerTimeout:
        return "reading it exceeded the time limit"


class _Check:
    def __init__(self, target: targets.Target) -> None:
        self.target = target
        self.used: dict[str, Library] = {}

    def call(self, operation: Any) -> str | None:
        """Why a call cannot be linked; None if it can."""
        function, path = _text(operation, "function") or "", _text(operation, "library")
        if path is None:
            return self._of_device_library(operation, function)
        try:
            code = Path(path).read_bytes()
        except OSError as error:
            return f"the library {path} of '{function}' cannot be read: {error.strerror}"
        if _text(operation, LIBRARY_DIGEST) not in (None, hashlib.sha256(code).hexdigest()):
            return f"the library {path} has changed since sl.external declared '{function}'; declare it again"
        prepared = _prepared(code)
        if isinstance(prepared, str):
            return f"the library {path} is not LLVM IR that can be linked: {prepared}"
        code, found = prepared
        triple, wanted = found["triple"], _TRIPLES[self.target.vendor]
        if triple and not triple.startswith(wanted):
            return (
                f"the library {path} is for '{triple}', but {self.target} requires '{wanted}' or a library without a "
                "target triple; compile the library for the target"
            )
        self.used[path] = Library(path, code, frozenset(found["missing"]))
        return _mismatch(operation, function, path, found["functions"])

    def _of_device_library(self, operation: Any, function: str) -> str | None:
        defined: dict[str, str] = {}
        files = toolchain.device_libraries(self.target.vendor, self.target.wave_size)
        for file in files:
            if not isinstance(prepared := _prepared(file.read_bytes()), str):
                defined.update(prepared[1]["functions"])
        # Without the device library, code generation reports that it is missing.
        return _mismatch(operation, function, "the device library", defined) if files else None


def _mismatch(operation: Any, function: str, where: str, defined: dict[str, str]) -> str | None:
    if function not in defined:
        return f"{where} does not define '{function}'"
    if defined[function] != (wanted := _signature(operation)):
        return (
            f"'{function}' is {defined[function]} in {where}, but the call needs {wanted}; convert the operands, or state "
            "the type of the result"
        )
    return None


def libraries(module: ir.Module, target: targets.Target) -> list[Library]:
    """The libraries whose functions the kernels of a module call. Raises CompileError for a call that cannot be linked."""
    if not target.is_gpu:
        return []
    check = _Check(target)
    for operation in _calls(module.operation, target.vendor):
        if why := check.call(operation):
            diagnostic = Diagnostic("error", why, source_location(operation.location))
            raise CompileError("", diagnostics=[diagnostic], source=sources.text_of(module.context))
    return list(check.used.values())
