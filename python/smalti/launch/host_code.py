# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code of a kernel for the CPU: compiled in this process, or loaded from a shared library."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import toolchain
from ..bindings import execution_engine, ir
from ..calling.arguments import source_name
from ..diagnostics import SourceLocation, source_location
from ..errors import CompileError

_ERRORS = "smalti.stop_errors"
_PACKED = "_mlir__mlir_ciface_"
"""The prefix of the function that takes an array with the addresses of the arguments."""


@dataclass(frozen=True)
class StopError:
    """A run-time error of a kernel (`smalti-lower-cpu-loops`)."""

    message: str
    location: SourceLocation | None
    shape: tuple[int, ...] | None = None
    """The shape of the tile whose element failed an assertion; the kernel stores its position."""
    has_values: bool = False
    """Whether the message has two values, which the kernel stores."""


class HostCode:
    """The function of a kernel, and its run-time errors."""

    def __init__(self, function: Callable[[Any], None], errors: Sequence[StopError], name: str) -> None:
        self.function = function
        self.errors = tuple(errors)
        self.name = name
        """The name of the function in the lowered module."""
        self._engine: Any = None

    @staticmethod
    def compile(module: ir.Module, symbol: str) -> HostCode:
        """Compiles the lowered module of a kernel in this process. Raises CompileError."""
        function = _function_of(module, symbol)
        name = ir.StringAttr(function.attributes["sym_name"]).value
        try:
            # Code that does not depend on its address can be stored as a shared library.
            make: Any = execution_engine.ExecutionEngine
            engine = make(module, opt_level=3, enable_pic=True)
            _load_compiler_runtime()
            for called, address in _runtime_functions(module).items():
                engine.raw_register_runtime(called, ctypes.c_void_p(address))
            compiled = HostCode(engine.lookup(name), _errors(function), name)
        except RuntimeError as error:
            raise CompileError(f"JIT compilation of @{symbol} failed: {error}") from None
        compiled._engine = engine
        return compiled

    def library(self) -> bytes | None:
        """The code as a shared library; None without a linker, or if the library cannot be loaded."""
        linker = toolchain.find_host_linker()
        if linker is None or self._engine is None:
            return None
        with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
            source, output = Path(folder) / "kernel.o", Path(folder) / "kernel.so"
            self._engine.dump_to_object_file(str(source))
            libraries = _libraries()
            command = [
                linker.path,
                "-shared",
                "-z",
                "now",
                "-z",
                "text",
                source,
                "-o",
                output,
                "--as-needed",
                *libraries,
            ]
            for path in {library.parent for library in libraries}:
                command += ["-rpath", path]
            try:
                done = subprocess.run(command, capture_output=True, check=False)
                data = output.read_bytes() if done.returncode == 0 else None
            except OSError:
                return None
        return data if data is not None and HostCode.load(data, self.errors, self.name) is not None else None

    @staticmethod
    def load(data: bytes, errors: Sequence[StopError], name: str) -> HostCode | None:
        """The code in a shared library; None if this process cannot load it."""
        _load_compiler_runtime()
        # The loader identifies libraries by their path, so that each needs a new one.
        with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
            path = Path(folder) / "kernel.so"
            try:
                path.write_bytes(data)
                library = ctypes.CDLL(str(path))
                address = ctypes.cast(getattr(library, _PACKED + name), ctypes.c_void_p).value
            except (OSError, AttributeError):
                return None
        assert address is not None
        return HostCode(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address), errors, name)


def _libraries() -> list[Path]:
    names = ("mlir_float16_utils", "mlir_c_runner_utils", "mlir_runner_utils")
    return [path for name in names if (path := toolchain.find_runtime_library(name))]


@functools.cache
def _load_compiler_runtime() -> None:
    """Makes the functions that LLVM calls in place of instructions, such as `__truncdfhf2`, available to compiled code."""
    with contextlib.suppress(OSError):
        ctypes.CDLL("libgcc_s.so.1", mode=ctypes.RTLD_GLOBAL)


_load_library = functools.cache(ctypes.CDLL)


def _runtime_functions(module: ir.Module) -> dict[str, int]:
    """The addresses of the functions in MLIR's runtime libraries that the code of a module can call.

    The libraries depend on LLVM's. If `ExecutionEngine` loaded them, all symbols of LLVM would become global, and the next
    library with an LLVM of its own, such as Triton's, would bind to them."""
    process = ctypes.CDLL(None)
    # LLVM calls the first two in place of instructions.
    names = ["__truncsfbf2", "__truncdfbf2"]
    names += [ir.StringAttr(one.attributes["sym_name"]).value for one in _functions(module) if not _is_defined(one)]
    found: dict[str, int] = {}
    for name in names:
        if hasattr(process, name):
            continue
        for path in _libraries():
            if function := getattr(_load_library(path), name, None):
                found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
                break
    return found


def _functions(module: ir.Module) -> Iterator[ir.Operation]:
    operations = (view.operation for view in module.body.operations)
    return (one for one in operations if "sym_name" in one.attributes)


def _is_defined(function: ir.Operation) -> bool:
    return any(len(region.blocks) for region in function.regions)


def _function_of(module: ir.Module, symbol: str) -> ir.Operation:
    for operation in _functions(module):
        # A declared function of the C library may have the name of the kernel, such as @erff.
        if _is_defined(operation) and source_name(operation) == symbol:
            return operation
    raise AssertionError(f"internal error: lowering did not produce a function for @{symbol}; report this as a bug")


def _errors(function: ir.Operation) -> list[StopError]:
    if _ERRORS not in function.attributes:
        return []
    return [_stop_error(ir.DictAttr(item), function) for item in ir.ArrayAttr(function.attributes[_ERRORS])]


def _stop_error(error: ir.DictAttr, function: ir.Operation) -> StopError:
    where = source_location(ir.Location.from_attr(error["location"], function.context))
    message = ir.StringAttr(error["message"]).value
    shape = tuple(ir.DenseI64ArrayAttr(error["shape"])) if "shape" in error else None
    return StopError(message, where, shape, "values" in error)


def errors_to_json(errors: Sequence[StopError]) -> list[Any]:
    return [dataclasses.asdict(error) for error in errors]


def errors_from_json(items: Sequence[Any]) -> list[StopError]:
    """Raises KeyError or TypeError if an item is not from `errors_to_json`."""
    return [
        StopError(
            item["message"],
            location_from_json(item["location"]),
            None if item["shape"] is None else tuple(item["shape"]),
            item["has_values"],
        )
        for item in items
    ]


def location_from_json(item: Any) -> SourceLocation | None:
    """A location from `dataclasses.asdict`."""
    if item is None:
        return None
    python = tuple(filter(None, map(location_from_json, item["python"])))
    return SourceLocation(item["file"], item["line"], item["column"], python)
