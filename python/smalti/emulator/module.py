"""Device modules that others made: LLVM IR for a GPU, by hand or from another compiler."""

from __future__ import annotations

import mmap
import operator
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import dtypes, targets
from ..calling import arrays, calls
from ..errors import LaunchError, ParseError, TargetError
from . import library, memory, session, tensor_maps
from .options import Emulation, chosen

Size = int | Sequence[int]

ALIGNMENT = 16
"""What is kept of the alignment of an array's address, in bytes, unless a launch says otherwise."""

_ALIGNMENTS = tuple(1 << shift for shift in range(mmap.PAGESIZE.bit_length()))

_VENDORS = {"nvidia": "NVIDIA", "amd": "AMD"}

# What a launch takes at most in x, y and z. NVIDIA's are in the CUDA C++ Programming Guide, 'Technical Specifications per
# Compute Capability'; AMD limits the threads of a block in all, which `Target.max_threads_per_block` knows.
_INT_MAX = 2**31 - 1
_MAX_GRID = {"nvidia": (_INT_MAX, 65535, 65535), "amd": (_INT_MAX, _INT_MAX, _INT_MAX)}
_MAX_BLOCK = {"nvidia": (1024, 1024, 64), "amd": (1024, 1024, 1024)}

_NUMPY = {"half": "f16", "float": "f32", "double": "f64", "bfloat": "bf16"}
"""LLVM's names of floats, as MLIR has them."""


class Module:
    """A device module for an emulated GPU."""

    def __init__(
        self, ir: bytes, target: targets.Target, name: str, source: str | None = None, file: str = "-"
    ) -> None:
        self.target = target
        self.name = name
        """What messages call it."""
        self._ir = ir
        self._source = source
        self._file = file
        self._libraries: dict[str | None, library.Library] = {}

    def __repr__(self) -> str:
        return f"<smalti.emulator.Module {self.name} for {self.target}>"

    def _library(self, emulation: Emulation) -> library.Library:
        if emulation.sanitize not in self._libraries:
            made = library.build(self._ir, self.target, emulation.sanitize, self.name, self._source, self._file)
            if made.vendor != self.target.vendor:
                raise TargetError(
                    f"{self.name} is code for {_VENDORS[made.vendor]}, and {self.target} is a chip of "
                    f"{_VENDORS[self.target.vendor]}"
                )
            self._libraries[emulation.sanitize] = made
        return self._libraries[emulation.sanitize]

    @property
    def kernels(self) -> dict[str, library.KernelFacts]:
        """The kernels of the module by their names."""
        return self._library(Emulation()).kernels

    def _kernel(self, name: str | None, of: library.Library) -> library.KernelFacts:
        known = ", ".join(f"@{n}" for n in of.kernels) or "none"
        if name is None:
            if len(of.kernels) != 1:
                raise LaunchError(f"{self.name}: name one of its kernels: {known}")
            return next(iter(of.kernels.values()))
        if name not in of.kernels:
            raise LaunchError(f"{self.name} has no kernel @{name}; it has: {known}")
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

        `arguments` are arrays for its pointers, numbers for its numbers, and bytes for what it takes by value. A tensor
        map of NVIDIA's (`smalti.emulator.tensor_map`) is for a pointer, or for 128 bytes by value.
        `block` can be None where the code requires a size. `kernel` names one where there are several. `shared` is
        dynamic shared memory of a block, in bytes. The kernel sees copies of the arrays whose addresses are multiples
        of `alignment` and of no more; an array that cannot be written must not change.
        """
        emulation = chosen(emulation, Emulation())
        made = self._library(emulation)
        facts = self._kernel(kernel, made)
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
        placing = tensor_maps.Placing(len(facts.parameters), placed, values, addresses)
        for index, value in maps.items():
            parameter = facts.parameters[index]
            title = f"argument {index} ({parameter})"
            if not parameter.is_pointer and parameter.bytes != tensor_maps.BYTES:
                raise LaunchError(f"{title}: a tensor map has {tensor_maps.BYTES} bytes, it takes {parameter.bytes}")
            placing.place(index, title, value, parameter.is_pointer)
        _check_overlap(placed)
        return session.run(
            session.Launch(
                library=made,
                target=self.target,
                symbol=facts.name,
                grid=self._grid(grid),
                block=self._block(facts, block),
                shared_bytes=_shared(self.target, made, shared),
                arrays=placed,
                values=values,
                addresses=addresses,
                source=self._source,
            ),
            emulation,
        )

    def _grid(self, given: Size) -> tuple[int, int, int]:
        grid = _size("grid", given)
        self._check_most("grid", grid, _MAX_GRID)
        return grid

    def _check_most(self, what: str, sizes: tuple[int, int, int], limits: Mapping[str, tuple[int, int, int]]) -> None:
        limit = limits[self.target.vendor]
        if any(size > most for size, most in zip(sizes, limit, strict=True)):
            raise LaunchError(f"the {what} is {sizes}; {self.target.chip} takes {limit} at most")

    def _block(self, facts: library.KernelFacts, given: Size | None) -> tuple[int, int, int]:
        if given is None:
            if facts.block is None:
                raise LaunchError(f"@{facts.name} requires no block size: give one")
            return facts.block
        block = _size("block", given)
        if facts.block is not None and block != facts.block:
            raise LaunchError(f"@{facts.name} requires blocks of {facts.block} threads, not {block}")
        self._check_most("block", block, _MAX_BLOCK)
        threads = block[0] * block[1] * block[2]
        most = min(facts.most_threads or threads, self.target.max_threads_per_block)
        if threads > most:
            raise LaunchError(f"a block of {threads} threads is too large: @{facts.name} takes {most} at most")
        return block


def _size(what: str, given: Size) -> tuple[int, int, int]:
    try:
        sizes = [operator.index(size) for size in (given if isinstance(given, Sequence) else [given])]
    except TypeError:
        sizes = []
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise LaunchError(f"the {what} is {given!r}; it is one to three positive numbers")
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _shared(target: targets.Target, made: library.Library, given: Any) -> int:
    """Dynamic shared memory; with what the code declares itself it must fit the chip."""
    if not isinstance(given, int) or given < 0:
        raise LaunchError(f"shared is {given!r}: a number of bytes is wanted")
    if made.shared_bytes + given > target.shared_memory_per_block:
        raise LaunchError(
            f"{made.shared_bytes} B of shared memory that the code declares and {given} B of dynamic shared memory: "
            f"a block of {target.chip} has {target.shared_memory_per_block} B at most"
        )
    return given


def _check_overlap(placed: Sequence[memory.Array]) -> None:
    found = calls.find_overlap(
        [array.view for array in placed], [array.itemsize for array in placed], [array.writes for array in placed]
    )
    if found:
        written, other = (placed[i] for i in found)
        raise LaunchError(
            f"{written.title}: it shares memory with argument {other.index}, and the kernel sees a copy of each",
            hint="pass a copy of one of the two, or arrays that cannot be written",
        )


def _array(index: int, title: str, value: Any, alignment: int) -> memory.Array:
    try:
        view = arrays.view(value)
    except arrays.NotAnArray as error:
        raise LaunchError(f"{title}: {error}") from None
    if view.device != arrays.CPU:
        raise LaunchError(f"{title}: its memory is on {view.device}, the emulator runs on the CPU")
    ty = dtypes.from_name(view.dtype)
    if isinstance(value, np.generic):
        raise LaunchError(f"{title}: it takes an array, and a number was given")
    if isinstance(value, np.ndarray) and cast(np.ndarray[Any, Any], value).dtype.hasobject:
        raise LaunchError(f"{title}: an array of Python objects is nothing that a kernel can read")
    if isinstance(alignment, bool) or alignment not in _ALIGNMENTS:
        raise LaunchError(f"alignment is {alignment!r}: a power of two up to {_ALIGNMENTS[-1]} is wanted")
    if ty is not None:
        itemsize = max(ty.bits // 8, 1)
    elif isinstance(value, np.ndarray):
        itemsize = value.itemsize
    else:
        raise LaunchError(f"{title}: its element type is {view.dtype}, which is not known here")
    return memory.Array(index, view, itemsize, alignment, not view.readonly, title)


def _value(parameter: library.Parameter, title: str, value: Any) -> bytes:
    """A value that is no array, as it lies in memory."""
    if isinstance(value, (bytes, bytearray, np.generic, np.ndarray)):
        data = value if isinstance(value, (bytes, bytearray)) else value.tobytes()
        if len(data) != parameter.bytes:
            raise LaunchError(f"{title}: {len(data)} bytes given, it takes {parameter.bytes}")
        return bytes(data)
    ty = dtypes.from_mlir(_NUMPY.get(parameter.type, parameter.type))
    try:
        if ty is not None and ty.kind == "f":
            return np.array(float(value), ty.numpy).tobytes()
        number = int(value.__index__())
        return (number % (1 << 8 * parameter.bytes)).to_bytes(parameter.bytes, "little")
    except (AttributeError, TypeError, ValueError):
        raise LaunchError(f"{title}: {type(value).__name__} does not fit; give a number, or its bytes") from None


def load(source: str | bytes | os.PathLike[str], target: str | targets.Target) -> Module:
    """A device module in LLVM IR for an emulated GPU (`emu:sm_80`): a path, a text of several lines, or bitcode."""
    chosen = targets.get(target)
    if not chosen.is_emulated:
        raise TargetError(
            f"'{chosen}' is not emulated: modules in LLVM IR run on an emulated GPU",
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
