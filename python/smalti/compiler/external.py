# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries of external device functions: which a kernel needs, and whether they define what it calls."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import sources, targets, toolchain
from ..bindings import _smalti, ir, triton_xla
from ..codegen import codegen_worker
from ..diagnostics import Diagnostic, source_location
from ..errors import CompileError

_TRIPLES = {"nvidia": "nvptx64", "amd": "amdgcn"}
"""The beginnings of the triples of libraries for the GPUs of a vendor."""

_DEVICE_LIBRARIES = {"nvidia": ("__nv_",), "amd": ("__ocml_", "__ockl_")}
"""The beginnings of the names of functions of the vendors' device libraries."""

_SYSTEM_NAMES = {"nvidia": {"vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"}, "amd": set[str]()}
"""Other names that the driver or LLVM defines."""

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
    """The functions and variables that the library uses and does not define."""


def _signature(operation: Any) -> str:
    """The type of the called function in LLVM IR."""

    def name(value: Any) -> str:
        ty = value.type
        element = str(ty.element_type if isinstance(ty, ir.ShapedType) else ty)
        return _TYPES.get(element, element)

    return f"{name(operation.results[0])} ({', '.join(map(name, operation.operands))})"


@functools.lru_cache(maxsize=64)
def _answer(code: bytes, called: frozenset[str] | None) -> tuple[bytes, dict[str, Any]] | str:
    """The worker's answer. An exception is not cached: the worker may have died or been slow for another reason."""
    try:
        return codegen_worker.worker.prepare_library(code, called)
    except codegen_worker.WorkerRefused as refused:
        return str(refused)


def _prepared(code: bytes, called: frozenset[str] | None = None) -> tuple[bytes, dict[str, Any]] | str:
    """A library that can be linked, and its description; or the reason why it cannot. Only `called` functions are visible to
    the kernel."""
    try:
        return _answer(code, called)
    except codegen_worker.WorkerDied as died:
        return died.reason
    except codegen_worker.WorkerTimeout:
        return "reading it exceeded the time limit"


class _Check:
    def __init__(self, target: targets.Target, calls: Sequence[Any]) -> None:
        self.target = target
        self.used: dict[str, Library] = {}
        self.called: dict[str, set[str]] = {}
        """The called functions by library."""
        for call in calls:
            if call.library is not None:
                self.called.setdefault(call.library.value, set()).add(call.function.value)

    def call(self, operation: Any) -> str | None:
        """Why a call cannot be linked; None if it can."""
        function: str = operation.function.value
        if operation.library is None:
            return self._of_device_library(operation, function)
        path: str = operation.library.value
        try:
            code = Path(path).read_bytes()
        except OSError as error:
            return f"the library {path} of '{function}' cannot be read: {error.strerror}"
        if (stated := operation.attributes.get(LIBRARY_DIGEST)) is not None and stated.value != hashlib.sha256(
            code
        ).hexdigest():
            return f"the library '{path}' has changed since sl.external declared '{function}'; declare it again"
        prepared = _prepared(code, frozenset(self.called[path]))
        if isinstance(prepared, str):
            return f"the library {path} is not LLVM IR that can be linked: {prepared}"
        code, found = prepared
        triple, wanted = found["triple"], _TRIPLES[self.target.vendor]
        if triple and not triple.startswith(wanted):
            return (
                f"the library {path} is for '{triple}', but {self.target} requires '{wanted}' or a library without a "
                "target triple; compile the library for the target"
            )
        if why := _mismatch(operation, function, path, found["functions"]):
            return why
        for name in found["missing"]:
            if not self._is_of_system(name):
                return (
                    f"the library {path} uses '{name}', which neither the library nor the device library defines; add the "
                    "definition to the library, for example with llvm-link"
                )
        self.used[path] = Library(path, code, frozenset(found["missing"]))
        return None

    def _is_of_system(self, name: str) -> bool:
        """Whether a library may use a name that it does not define."""
        if not name.startswith(_DEVICE_LIBRARIES[self.target.vendor]):
            return name in _SYSTEM_NAMES[self.target.vendor]
        defined = self._device_library()
        # Code generation reports a device library that was not found.
        return not isinstance(defined, dict) or not defined or name in defined

    def _device_library(self) -> dict[str, str] | str:
        """The functions of the device library with their types, empty if it was not found; or why it cannot be read."""
        defined: dict[str, str] = {}
        for file in toolchain.device_libraries(self.target.vendor, self.target.wave_size):
            prepared = _prepared(file.read_bytes())
            if isinstance(prepared, str):
                return f"the device library {file} cannot be read: {prepared}"
            defined.update(prepared[1]["functions"])
        return defined

    def _of_device_library(self, operation: Any, function: str) -> str | None:
        defined = self._device_library()
        if isinstance(defined, str):
            return defined
        return _mismatch(operation, function, "the device library", defined) if defined else None


def _mismatch(operation: Any, function: str, where: str, defined: dict[str, str]) -> str | None:
    if function not in defined:
        return f"{where} does not define '{function}'"
    if defined[function].startswith("cc "):
        number = defined[function].split()[1]
        return (
            f"'{function}' has the calling convention cc {number} in {where}, which kernels cannot call; define a function "
            "that is neither a kernel nor a shader, without a calling convention"
        )
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
    found: list[Any] = [operation.opview for operation in _smalti.find_ops(module.operation, "triton_xla.extern_call")]
    calls = [call for call in found if str(triton_xla.GPUVendor(call.vendor.value)) == target.vendor]
    check = _Check(target, calls)
    for call in calls:
        if why := check.call(call):
            diagnostic = Diagnostic("error", why, source_location(call.operation.location))
            raise CompileError("", diagnostics=[diagnostic], source=sources.text_of(module.context))
    return list(check.used.values())
