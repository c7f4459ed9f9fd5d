"""Device modules that others made: LLVM IR for a GPU, by hand or from another compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import arrays, dtypes, targets
from ..errors import LaunchError, ParseError, TargetError
from . import library, memory, session
from .options import Emulation

Size = int | Sequence[int]

ALIGNMENT = 16
"""What is kept of the alignment of an array's address, in bytes, unless a launch says otherwise."""

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
            self._libraries[emulation.sanitize] = library.build(
                self._ir, self.target, emulation.sanitize, self.name, self._source, self._file
            )
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

        `arguments` are arrays for its pointers, numbers for its numbers, and bytes for what it takes by value.
        `block` can be None where the code requires a size. `kernel` names one where there are several. `shared` is
        dynamic shared memory of a block, in bytes. The kernel sees copies of the arrays whose addresses are multiples
        of `alignment` and of no more; an array that cannot be written must not change.
        """
        emulation = emulation or Emulation()
        made = self._library(emulation)
        facts = self._kernel(kernel, made)
        if len(arguments) != len(facts.parameters):
            count = len(facts.parameters)
            declared = ", ".join(map(str, facts.parameters))
            raise LaunchError(
                f"@{facts.name} takes {count} argument{'s' * (count != 1)} ({declared}), {len(arguments)} given"
            )
        placed, values = [], {}
        for index, (parameter, value) in enumerate(zip(facts.parameters, arguments, strict=True)):
            title = f"argument {index} ({parameter})"
            if parameter.is_pointer and not isinstance(value, (bytes, int)):
                placed.append(_array(index, title, value, alignment))
            else:
                values[index] = _value(parameter, title, value)
        return session.run(
            session.Launch(
                library=made,
                target=self.target,
                symbol=facts.name,
                grid=_size("grid", grid),
                block=self._block(facts, block),
                shared_bytes=_shared(self.target, shared),
                arrays=placed,
                values=values,
                source=self._source,
            ),
            emulation,
        )

    def _block(self, facts: library.KernelFacts, given: Size | None) -> tuple[int, int, int]:
        if given is None:
            if facts.block is None:
                raise LaunchError(f"@{facts.name} requires no block size: give one")
            return facts.block
        block = _size("block", given)
        if facts.block is not None and block != facts.block:
            raise LaunchError(f"@{facts.name} requires blocks of {facts.block} threads, not {block}")
        threads = block[0] * block[1] * block[2]
        most = min(facts.most_threads or threads, self.target.max_threads_per_block)
        if threads > most:
            raise LaunchError(f"a block of {threads} threads is too large: @{facts.name} takes {most} at most")
        return block


def _size(what: str, given: Size) -> tuple[int, int, int]:
    sizes = [given] if isinstance(given, int) else [int(size) for size in given]
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise LaunchError(f"the {what} is {given}; it is one to three positive numbers")
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _shared(target: targets.Target, given: int) -> int:
    if not 0 <= given <= target.shared_memory_per_block:
        raise LaunchError(
            f"{given} B of shared memory: a block of {target.chip} has {target.shared_memory_per_block} B at most"
        )
    return given


def _array(index: int, title: str, value: Any, alignment: int) -> memory.Array:
    try:
        view = arrays.view(value)
    except arrays.NotAnArray as error:
        raise LaunchError(f"{title}: {error}") from None
    if view.device != arrays.CPU:
        raise LaunchError(f"{title}: its memory is on {view.device}, the emulator runs on the CPU")
    ty = dtypes.from_name(view.dtype)
    if ty is not None:
        itemsize = max(ty.bits // 8, 1)
    elif isinstance(value, np.ndarray):
        itemsize = value.itemsize
    else:
        raise LaunchError(f"{title}: its element type is {view.dtype}, which is not known here")
    return memory.Array(index, view, itemsize, max(alignment, 1), not view.readonly, title)


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
    """A device module in LLVM IR for an emulated GPU (`emu:sm_80`): a path (.ll, .bc), a text, or bitcode."""
    chosen = targets.get(target)
    if not chosen.is_emulated:
        raise TargetError(
            f"'{chosen}' is not emulated: modules in LLVM IR run on an emulated GPU",
            hint=f"use '{targets.EMULATED}{chosen}'" if chosen.is_gpu else None,
        )
    if isinstance(source, bytes):
        return Module(source, chosen, "the module")
    if isinstance(source, str) and ("\n" in source or not source.endswith((".ll", ".bc"))):
        return Module(source.encode(), chosen, "the module", source)
    path = Path(source)
    try:
        return Module(path.read_bytes(), chosen, str(path), file=str(path))
    except OSError as error:
        raise ParseError(f"{path}: {error.strerror}") from None
