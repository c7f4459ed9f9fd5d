# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device modules in LLVM IR, hand-written or from another compiler."""

from __future__ import annotations

import mmap
import operator
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import dtypes, targets
from ..calling import arrays, calls
from ..diagnostics import counted
from ..errors import LaunchError, ParseError, TargetError
from . import library, memory, session, tensor_maps
from .options import Emulation, chosen

Size = int | Sequence[int]

ALIGNMENT = 16
"""The default alignment of array addresses in a launch, in bytes."""

_ALIGNMENTS = tuple(1 << shift for shift in range(mmap.PAGESIZE.bit_length()))

_VENDORS = {"nvidia": "NVIDIA", "amd": "AMD"}

# Maximum sizes of a block in x, y and z. NVIDIA: CUDA C++ Programming Guide, 'Technical Specifications per Compute
# Capability'. AMD limits only the number of threads of a block (`Target.max_threads_per_block`).
_MAX_BLOCK = {"nvidia": (1024, 1024, 64), "amd": (1024, 1024, 1024)}

_NUMPY = {"half": "f16", "float": "f32", "double": "f64", "bfloat": "bf16"}
"""MLIR names of LLVM's floating-point types."""


class Module:
    """A device module for an emulated GPU."""

    def __init__(
        self, ir: bytes, target: targets.Target, name: str, source: str | None = None, file: str = "-"
    ) -> None:
        self.target = target
        self.name = name
        """Its name in messages."""
        self._ir = ir
        self._source = source
        self._file = file
        self._libraries: dict[str | None, library.Library] = {}

    def __repr__(self) -> str:
        return f"<smalti.emulator.Module {self.name} for {self.target}>"

    def _library(self, emulation: Emulation) -> library.Library:
        if emulation.sanitize not in self._libraries:
            built = library.build(self._ir, self.target, emulation.sanitize, self.name, self._source, self._file)
            if built.vendor != self.target.vendor:
                raise TargetError(
                    f"{self.name} is code for {_VENDORS[built.vendor]}, but target {self.target} is an "
                    f"{_VENDORS[self.target.vendor]} chip; choose a target of the same vendor"
                )
            self._libraries[emulation.sanitize] = built
        return self._libraries[emulation.sanitize]

    @property
    def kernels(self) -> dict[str, library.KernelFacts]:
        """The kernels of the module by their names."""
        return self._library(Emulation()).kernels

    def _kernel(self, name: str | None, of: library.Library) -> library.KernelFacts:
        known = ", ".join(f"@{n}" for n in of.kernels) or "none"
        if name is None:
            if len(of.kernels) != 1:
                raise LaunchError(
                    f"{self.name} has {counted(len(of.kernels), 'kernel')}, so the launch must name one; its kernels: {known}"
                )
            return next(iter(of.kernels.values()))
        if name not in of.kernels:
            raise LaunchError(f"{self.name} does not have a kernel @{name}; its kernels: {known}")
        return of.kernels[name]

    def launch(
        self,
        grid: Size,
        block: Size | None,
        *arguments: Any,
        kernel: str | None = None,
        shared: int = 0,
        alignment: int = ALIGNMENT,
        emulation: Emulation | None = None,
    ) -> float:
        """Runs a kernel in place; returns how long its blocks took, in seconds.

        `arguments` are arrays for pointers, numbers for scalars, and bytes for by-value aggregates. A tensor map
        (`smalti.emulator.tensor_map`) is for a pointer, or for 128 bytes by value. `block` can be None if the code
        declares a size. `kernel` selects one of several kernels. `shared` is the dynamic shared memory of a block, in
        bytes. The kernel gets copies of the arrays, whose addresses are multiples of `alignment`, but not of its double.
        A read-only array must not change.
        """
        emulation = chosen(emulation, Emulation())
        built = self._library(emulation)
        facts = self._kernel(kernel, built)
        calls.check_count(facts.name, [str(parameter) for parameter in facts.parameters], len(arguments))
        placed: list[memory.Array] = []
        values: dict[int, bytes] = {}
        maps: dict[int, tensor_maps.TensorMap] = {}
        for index, (parameter, value) in enumerate(zip(facts.parameters, arguments, strict=True)):
            title = f"argument {index} ({parameter})"
            if isinstance(value, tensor_maps.TensorMap):
                maps[index] = value
            elif parameter.is_pointer and not isinstance(value, (bytes, int)):
                placed.append(_array(index, title, value, alignment))
            else:
                values[index] = _value(parameter, title, value)
        addresses: dict[int, memory.Address] = {}
        placing = tensor_maps.TensorMapPlacement(len(facts.parameters), placed, values, addresses)
        for index, value in maps.items():
            parameter = facts.parameters[index]
            title = f"argument {index} ({parameter})"
            if not parameter.is_pointer and parameter.bytes != tensor_maps.BYTES:
                raise LaunchError(
                    f"{title}: the value is a tensor map of {tensor_maps.BYTES} bytes, but the parameter has {parameter.bytes} bytes; pass a value of that size"
                )
            placing.place(index, title, value, parameter.is_pointer)
        _check_overlap(placed)
        return session.run(
            session.Launch(
                library=built,
                target=self.target,
                symbol=facts.name,
                grid=self._grid(grid),
                block=self._block(facts, block),
                shared_bytes=_shared(self.target, built, shared),
                arrays=placed,
                values=values,
                addresses=addresses,
                source=self._source,
            ),
            emulation,
        )

    def _grid(self, size: Size) -> tuple[int, int, int]:
        grid = _size("grid", size)
        self._check_most("grid", grid, self.target.max_grid)
        return grid

    def _check_most(self, what: str, sizes: tuple[int, int, int], limit: tuple[int, int, int]) -> None:
        if any(size > most for size, most in zip(sizes, limit, strict=True)):
            raise LaunchError(
                f"the {what} size {sizes} exceeds the maximum {limit} of {self.target.chip}; use a smaller {what}"
            )

    def _block(self, facts: library.KernelFacts, size: Size | None) -> tuple[int, int, int]:
        if size is None:
            if facts.block is None:
                raise LaunchError(f"@{facts.name} does not declare a block size; pass block=N, or --block N")
            return facts.block
        block = _size("block", size)
        if facts.block is not None and block != facts.block:
            raise LaunchError(f"@{facts.name} requires blocks of {facts.block} threads; the launch has {block}")
        self._check_most("block", block, _MAX_BLOCK[self.target.vendor])
        threads = block[0] * block[1] * block[2]
        most = min(facts.most_threads or threads, self.target.max_threads_per_block)
        if threads > most:
            raise LaunchError(
                f"the block has {threads} threads; kernel @{facts.name} on {self.target.chip} allows at most {most} threads per block"
            )
        return block


def _size(what: str, size: Size) -> tuple[int, int, int]:
    try:
        sizes = [operator.index(axis) for axis in (size if isinstance(size, Sequence) else [size])]
    except TypeError:
        sizes = []
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise LaunchError(f"the {what} size is {size!r}; it must be one to three positive integers")
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _shared(target: targets.Target, built: library.Library, shared: Any) -> int:
    """The dynamic shared memory, which together with the static one must not exceed the limit of the chip."""
    if not isinstance(shared, int) or shared < 0:
        raise LaunchError(
            f"the size of dynamic shared memory (shared) is {shared!r}; it must be a number of bytes of at least 0"
        )
    if built.shared_bytes + shared > target.shared_memory_per_block:
        raise LaunchError(
            f"the launch needs {built.shared_bytes} B of static and {shared} B of dynamic shared memory; "
            f"a block of {target.chip} has at most {target.shared_memory_per_block} B in total"
        )
    return shared


def _check_overlap(placed: Sequence[memory.Array]) -> None:
    found = calls.find_overlap(
        [array.view for array in placed], [array.itemsize for array in placed], [array.writes for array in placed]
    )
    if found:
        written, other = (placed[i] for i in found)
        raise LaunchError(
            f"{written.title} overlaps argument {other.index} in memory; the emulator copies each array, so a written array must not overlap another",
            hint="pass a copy of one of the two; if the kernel reads both only, pass read-only arrays (in numpy: x.flags.writeable = False)",
        )


def _array(index: int, title: str, value: Any, alignment: int) -> memory.Array:
    try:
        view = arrays.view(value)
    except arrays.NotAnArray as error:
        raise LaunchError(f"{title}: {error}") from None
    if view.device != arrays.CPU:
        raise LaunchError(
            f"{title} is on {view.device}, but the emulator requires CPU memory; copy the array to the CPU"
        )
    ty = dtypes.from_name(view.dtype)
    if isinstance(value, np.generic):
        raise LaunchError(f"{title}: the parameter is a pointer, but the value is a scalar; pass an array")
    if isinstance(value, np.ndarray) and cast(np.ndarray[Any, Any], value).dtype.hasobject:
        raise LaunchError(f"{title}: the array contains Python objects; pass an array of numbers")
    if isinstance(alignment, bool) or alignment not in _ALIGNMENTS:
        raise LaunchError(
            f"{title}: the alignment of arrays is {alignment!r}; it must be a power of two up to {_ALIGNMENTS[-1]}"
        )
    if ty is not None:
        itemsize = max(ty.bits // 8, 1)
    elif isinstance(value, np.ndarray):
        itemsize = value.itemsize
    else:
        raise LaunchError(f"{title}: element type {view.dtype} is not supported; pass an array of integers or floats")
    return memory.Array(index, view, itemsize, alignment, not view.readonly, title)


def _value(parameter: library.Parameter, title: str, value: Any) -> bytes:
    """The bytes of a by-value argument."""
    if isinstance(value, (bytes, bytearray, np.generic, np.ndarray)):
        data = value if isinstance(value, (bytes, bytearray)) else value.tobytes()
        if len(data) != parameter.bytes:
            raise LaunchError(
                f"{title}: the value has {counted(len(data), 'byte')}, but the parameter has {counted(parameter.bytes, 'byte')}; pass a value of that size"
            )
        return bytes(data)
    ty = dtypes.from_mlir(_NUMPY.get(parameter.type, parameter.type))
    try:
        if ty is not None and ty.kind == "f":
            return np.array(float(value), ty.numpy).tobytes()
        number = int(value.__index__())
        return (number % (1 << 8 * parameter.bytes)).to_bytes(parameter.bytes, "little")
    except (AttributeError, TypeError, ValueError):
        raise LaunchError(
            f"{title}: a value of type {type(value).__name__} cannot be converted to the parameter; pass a number or bytes"
        ) from None


def load(source: str | bytes | os.PathLike[str], target: str | targets.Target) -> Module:
    """A device module in LLVM IR for an emulated GPU (`emu:sm_80`): a path, a text of several lines, or bitcode."""
    chosen = targets.get(target)
    if not chosen.is_emulated:
        raise TargetError(
            f"'{chosen}' is not an emulated target, but modules in LLVM IR run only on one, such as '{targets.EMULATED}sm_90a'",
            hint=f"use '{targets.EMULATED}{chosen}'" if chosen.is_gpu else None,
        )
    if isinstance(source, bytes):
        return Module(source, chosen, "the module")
    if isinstance(source, str) and "\n" in source:
        return Module(source.encode(), chosen, "the module", source)
    path = Path(source)
    try:
        return Module(path.read_bytes(), chosen, str(path), file=str(path))
    except OSError as error:
        raise ParseError(f"{path}: {error.strerror}") from None
