# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels: code, resource usage, calls, and kernel files."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import files, targets
from ..calling import arrays, native
from ..errors import CompileError, LaunchError, SmaltiError, ToolMissing
from . import archive, header, placement
from .compiled import CompiledCode

# The form of the code, or the format of the binary, by file suffix.
_SUFFIXES = {
    "nvidia": {
        ".cubin": "cubin",
        ".ptx": "ptx",
        ".s": "ptx",
        ".sass": "sass",
        ".ll": "llvm",
        ".mlir": "mlir",
        ".smalti": "kernel",
        ".h": "header",
    },
    "amd": {
        ".hsaco": "hsaco",
        ".s": "gcn",
        ".ll": "llvm",
        ".mlir": "mlir",
        ".smalti": "kernel",
        ".h": "header",
    },
    "cpu": {".ll": "llvm", ".mlir": "mlir"},
}


_EMULATED_SUFFIXES = {".ll": "llvm", ".mlir": "mlir", ".smalti": "kernel"}


def check_suffix(path: str | os.PathLike[str], target: targets.Chip) -> str:
    """The form that the suffix of `path` selects. Raises SmaltiError with the suffixes of `target` if it is unknown."""
    known = _EMULATED_SUFFIXES if target.is_emulated else _SUFFIXES[target.vendor]
    suffix = Path(path).suffix
    if suffix not in known:
        what = f"suffix '{suffix}' is not supported" if suffix else "the name does not have a suffix"
        raise SmaltiError(f"{path}: {what}; suffixes for {target}: {' '.join(known)}")
    return known[suffix]


CALL_OPTIONS = ("stream", "time_limit")
"""Keywords of a call that are not arguments of the kernel."""


def _unpickled(data: bytes, settings: Mapping[str, Any]) -> Kernel:
    kernel = archive.loads(data, Kernel, "the pickled kernel")
    vars(kernel).update(settings)
    return kernel


class Kernel(native.NativeCallable, CompiledCode):
    """A compiled kernel for one target. Calling it runs the kernel on arrays and numbers, in place.

    Arguments are passed by position, by their SSA names, or both: `kernel(a, b, c=c)`. An argument named `stream` or
    `time_limit` must be passed by position. `stream` is a CUDA or HIP stream: an integer, or an object with
    `__cuda_stream__`, `cuda_stream` or `ptr`. Default: torch's current stream for tensors of torch on a GPU, else the default
    stream. `time_limit` is in seconds, and is not supported on a GPU. A call raises LaunchError if the arguments do not match, the time limit is reached or the GPU reports an error.
    """

    _launcher: Any = None

    def __repr__(self) -> str:
        types = ", ".join(argument.type for argument in self.arguments)
        return f"<smalti.Kernel @{self.entry.name}({types}) for {self.target}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the form that the suffix of `path` selects, and returns the path.

        `smalti.aot.load` reads a `.smalti` file without MLIR. A `.h` file is a C header for launches without Smalti. Raises SmaltiError if the target does not have the form, and
        ToolMissing if the form requires a tool that was not found.
        """
        path = Path(path)
        form = check_suffix(path, self.target)
        if form == "kernel":
            files.write(path, archive.dumps(self, f"write {path}"))
            return path
        if form == "header":
            files.write(path, header.text(self).encode())
            return path
        if form in ("cubin", "hsaco"):
            if self.binary is None or self.binary_format != form:
                reason = self.notes[0] if self.notes else f"the kernel does not have a {form}"
                raise ToolMissing(f"cannot write {path}: {reason}")
            data = self.binary
        else:
            data = self.asm[form].encode()
        files.write(path, data)
        return path

    @property
    def launcher(self) -> Any:
        """The launcher of the kernel, created on first use."""
        if self._launcher is None:
            # If two threads create launchers, the second launcher is ignored. A lock could be held in a forked process.
            launcher = self._make_launcher()
            if self._launcher is None:
                self._launcher = launcher
                self.native = getattr(launcher, "native", None)
        return self._launcher

    def _make_launcher(self) -> Any:
        if self.target.is_emulated:
            from .emulated import EmulatedLauncher

            return EmulatedLauncher(self)
        if self.target.vendor == "nvidia":
            from .cuda import CudaLauncher

            return CudaLauncher(self)
        if self.target.vendor == "amd":
            from .hip import HipLauncher

            return HipLauncher(self)
        if self.target.vendor == "cpu":
            from .cpu import CpuLauncher

            return CpuLauncher(self)
        raise CompileError(f"kernels for {self.target} cannot be run on any device; they can only be saved")

    def _call(self, /, *arguments: Any, stream: Any = None, time_limit: float | None = None, **named: Any) -> None:
        if named or ((stream is not None or time_limit is not None) and len(arguments) < len(self.entry.arguments)):
            arguments = self.entry.bind(arguments, named, CALL_OPTIONS)
        if time_limit is None and self.target.is_gpu and not self.target.is_emulated:
            placement.launch(self.launcher, arguments, stream)
        elif time_limit is None:
            self.launcher(*arguments, stream=stream)
        elif self.target.is_emulated:
            settings = dataclasses.replace(self.emulation, time_limit=time_limit)
            self.launcher(*arguments, stream=stream, emulation=settings)
        elif self.target.is_gpu:
            raise LaunchError(
                f"time_limit is {time_limit!r}, but a kernel on a GPU cannot be stopped; do not pass time_limit"
            )
        else:
            self.launcher(*arguments, stream=stream, time_limit=time_limit)

    def __copy__(self) -> Kernel:
        """A kernel with the same code and separate settings: `emulation`, `time_limit`, `blocks` and `announce`."""
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        copied.notes = list(self.notes)
        # A launcher reads the settings of its kernel.
        copied._launcher = None
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        """Same as `__copy__`: copies share the code, which never changes."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the content of a `.smalti` file, and `emulation` without the callback `progress` of this process."""
        settings = {"emulation": dataclasses.replace(self.emulation, progress=None)}
        return _unpickled, (archive.dumps(self, f"pickle @{self.entry.name}"), settings)

    def launch_pointers(self, stream: Any, pointers: int | Sequence[int]) -> None:
        """Runs the kernel on the memory at `pointers`, as the function `*_mosaic_gpu` of a JAX module does.

        `pointers` are addresses in the order of `arguments`, or the address of an array of them. Only the alignment is
        checked; the memory must match the arguments. Raises LaunchError if an argument does not have a static shape.
        """
        given = self.arguments
        if dynamic := [argument for argument in given if not argument.is_static]:
            raise LaunchError(
                f"{dynamic[0]}: the shape is dynamic; launch_pointers requires memrefs of static shape; call the kernel with arrays instead"
            )
        if isinstance(pointers, int):
            addresses = list((ctypes.c_uint64 * len(given)).from_address(pointers))
        else:
            addresses = [int(pointer) for pointer in pointers]
        if len(addresses) != len(given):
            raise LaunchError(f"@{self.entry.name} takes {len(given)} pointers; the call passes {len(addresses)}")
        device = {"nvidia": arrays.CUDA, "amd": arrays.HIP}.get(self.target.vendor, arrays.CPU)
        if self.target.is_emulated:
            device = arrays.CPU
        views = [
            arrays.ArrayView(address, *argument.static_layout, argument.dtype.name, device)
            for argument, address in zip(given, addresses, strict=True)
        ]
        self.launcher(*views, stream=stream)
