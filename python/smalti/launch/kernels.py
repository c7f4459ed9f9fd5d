"""A compiled kernel: its code, what it takes of the chip, and calling it."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import files, targets
from ..calling import arrays
from ..errors import CompileError, LaunchError, SmaltiError, ToolMissing
from . import archive
from .compiled import CompiledCode

# What a file suffix asks for: the form of the code, or the format of the binary.
_SUFFIXES = {
    "nvidia": {
        ".cubin": "cubin",
        ".ptx": "ptx",
        ".s": "ptx",
        ".sass": "sass",
        ".ll": "llvm",
        ".mlir": "mlir",
        ".smalti": "kernel",
    },
    "amd": {".hsaco": "hsaco", ".s": "gcn", ".ll": "llvm", ".mlir": "mlir", ".smalti": "kernel"},
    "cpu": {".ll": "llvm", ".mlir": "mlir"},
}


_EMULATED_SUFFIXES = {".ll": "llvm", ".mlir": "mlir", ".smalti": "kernel"}


def check_suffix(path: str | os.PathLike[str], target: targets.Chip) -> str:
    """What `path` asks for by its suffix, or an error that names the suffixes of `target`."""
    known = _EMULATED_SUFFIXES if target.is_emulated else _SUFFIXES[target.vendor]
    suffix = Path(path).suffix
    if suffix not in known:
        what = f"the suffix '{suffix}'" if suffix else "a name without a suffix"
        raise SmaltiError(f"{path}: {what} says nothing for {target}; use one of: {' '.join(known)}")
    return known[suffix]


CALL_OPTIONS = ("stream", "time_limit")
"""Keywords of a call that are not arguments of the program."""


def _unpickled(data: bytes, settings: Mapping[str, Any]) -> Kernel:
    kernel = archive.loads(data, Kernel, "the pickled kernel")
    vars(kernel).update(settings)
    return kernel


class Kernel(CompiledCode):
    """A kernel for one target. Call it with its arguments to run it."""

    _launcher: Any = None

    def __repr__(self) -> str:
        types = ", ".join(argument.type for argument in self.arguments)
        return f"<smalti.Kernel @{self.entry.name}({types}) for {self.target}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the form that the suffix of `path` asks for, and returns the path. `.smalti` asks for a file that
        `smalti.aot.load` makes a kernel of, without MLIR."""
        path = Path(path)
        form = check_suffix(path, self.target)
        if form == "kernel":
            files.write(path, archive.dumps(self, f"write {path}"))
            return path
        if form in ("cubin", "hsaco"):
            if self.binary is None or self.binary_format != form:
                reason = self.notes[0] if self.notes else f"there is no {form}"
                raise ToolMissing(f"cannot write {path}: {reason}")
            data = self.binary
        else:
            data = self.asm[form].encode()
        files.write(path, data)
        return path

    @property
    def launcher(self) -> Any:
        """What runs the kernel here; made at the first call."""
        if self._launcher is None:
            self._launcher = self._make_launcher()
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
        raise CompileError(f"kernels for {self.target} cannot be run from here")

    def __call__(self, /, *arguments: Any, stream: Any = None, time_limit: float | None = None, **named: Any) -> None:
        """Runs the kernel on its arguments, in place: the kernel writes the arrays that are passed.

        Arguments are passed by position, by their names in the program, or both: `kernel(a, b, c=c)`. `stream` is a
        CUDA or HIP stream: an integer, or an object with `__cuda_stream__`, `cuda_stream` or `ptr`. A run that takes
        more than `time_limit` seconds is an error; on a GPU there is no limit. An argument that the program calls
        `stream` or `time_limit` is passed by position.
        """
        if named or ((stream is not None or time_limit is not None) and len(arguments) < len(self.entry.arguments)):
            arguments = self.entry.bind(arguments, named, CALL_OPTIONS)
        if time_limit is None:
            self.launcher(*arguments, stream=stream)
        elif self.target.is_emulated:
            how = dataclasses.replace(self.emulation, time_limit=time_limit)
            self.launcher(*arguments, stream=stream, emulation=how)
        elif self.target.is_gpu:
            raise LaunchError(f"time_limit is {time_limit!r}: a kernel that runs on a GPU cannot be stopped")
        else:
            self.launcher(*arguments, stream=stream, time_limit=time_limit)

    def __copy__(self) -> Kernel:
        """A kernel of the same code, with settings of its own: `emulation`, `time_limit`, `blocks` and `announce`."""
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        copied.notes = list(self.notes)
        # A launcher reads the settings of the kernel that it was made for.
        copied._launcher = None
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        """The same: nothing changes the code, which the copies share."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the kernel as a `.smalti` file does, and its `emulation` without the callback `progress`, which
        belongs to this process."""
        settings = {"emulation": dataclasses.replace(self.emulation, progress=None)}
        return _unpickled, (archive.dumps(self, f"pickle @{self.entry.name}"), settings)

    def launch_pointers(self, stream: Any, pointers: int | Sequence[int]) -> None:
        """What the function of a JAX module does (`*_mosaic_gpu`): runs the kernel on the memory at `pointers`, in the
        order of `arguments`, on a stream.

        `pointers` are addresses, or the address of an array of them. Their memory is what the arguments say: there is
        nothing to check but the alignment.
        """
        given = self.arguments
        if unfit := [argument for argument in given if not argument.is_static]:
            raise LaunchError(f"{unfit[0]}: a kernel that is launched with pointers takes memrefs of static shape")
        if isinstance(pointers, int):
            addresses = list((ctypes.c_uint64 * len(given)).from_address(pointers))
        else:
            addresses = [int(pointer) for pointer in pointers]
        if len(addresses) != len(given):
            raise LaunchError(f"@{self.entry.name} takes {len(given)} pointers, {len(addresses)} given")
        device = {"nvidia": arrays.CUDA, "amd": arrays.HIP}.get(self.target.vendor, arrays.CPU)
        if self.target.is_emulated:
            device = arrays.CPU
        views = [
            arrays.ArrayView(address, *argument.static_layout, argument.dtype.name, device)
            for argument, address in zip(given, addresses, strict=True)
        ]
        self.launcher(*views, stream=stream)
