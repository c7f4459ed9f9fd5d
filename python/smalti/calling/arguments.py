"""What a kernel takes, as launchers see it: this needs no MLIR."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..diagnostics import SourceLocation
from ..errors import LaunchError

_TENSOR_MAP = "!nvgpu.tensormap.descriptor<"

UNUSED = "!llvm.ptr"
"""The type of an argument that no code uses: a pointer to anything."""


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: a memref or a scalar."""

    index: int
    type: str
    """As MLIR writes it."""
    dtype: dtypes.ElementType
    shape: tuple[int | None, ...] | None
    """Extents, None where dynamic; None altogether for a scalar."""
    strides: tuple[int | None, ...] | None
    """In elements, None where dynamic."""
    reads: bool
    """Whether the program reads it."""
    writes: bool
    """Whether the program writes it."""
    alignment: int | None = None
    """Bytes, where the program states it (`llvm.align`)."""
    location: SourceLocation | None = None
    packed: int = 1
    """Elements of a byte: the shape has bytes where there are several."""
    name: str | None = None
    """The name in the program, where it is a Python identifier: `a` for `%a`."""

    @property
    def is_memref(self) -> bool:
        return self.shape is not None

    @property
    def is_tensor_map(self) -> bool:
        """Whether it is a tensor map of NVIDIA's, of which a kernel gets the address."""
        return self.type.startswith(_TENSOR_MAP)

    @property
    def is_unused(self) -> bool:
        """Whether the kernel ignores it: a call may pass any array, number or None."""
        return self.type == UNUSED

    @property
    def is_static(self) -> bool:
        """Whether nothing but a pointer is left to say at a call."""
        return self.shape is not None and None not in self.shape and None not in (self.strides or ())

    @property
    def static_layout(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides of a memref that is static."""
        assert self.shape is not None and self.strides is not None
        shape = tuple(size for size in self.shape if size is not None)
        strides = tuple(step for step in self.strides if step is not None)
        assert len(shape) == len(self.shape) and len(strides) == len(self.strides)
        return shape, strides

    @property
    def reach(self) -> int:
        """Bytes from the first element to the end of the last, of a memref that is static."""
        steps = ((size - 1) * step for size, step in zip(*self.static_layout, strict=True))
        return (sum(steps) + 1) * max(self.dtype.bits // 8, 1)

    def __str__(self) -> str:
        return f"argument {self.index} ({self.type})"


@dataclass(frozen=True)
class Entry:
    """What is called: its name, its arguments without the tile id, and how many tiles or blocks it has."""

    name: str
    arguments: tuple[Argument, ...]
    num_tiles: int
    location: SourceLocation | None = None

    def bind(self, given: Sequence[Any], named: Mapping[str, Any], options: Collection[str] = ()) -> tuple[Any, ...]:
        """The arguments of a call in order: first those by position, then those by name. `options` are keywords that
        set how a call runs: an argument of such a name can be passed by position only."""
        positions = {argument.name: argument.index for argument in self.arguments if argument.name is not None}
        for name in named:
            if name not in positions:
                known = ", ".join(positions) or "none: pass its arguments by position"
                raise LaunchError(f"@{self.name} does not have an argument named '{name}' (names: {known})")
            if positions[name] < len(given):
                raise LaunchError(f"@{self.name}: argument '{name}' is passed both by position and by name")
        rest = self.arguments[len(given) :]
        for argument in rest:
            if argument.name in options:
                raise LaunchError(
                    f"@{self.name}: argument '{argument.name}' must be passed by position: as a keyword, {argument.name}= "
                    "is an option of the call"
                )
        if not named:
            # The launcher counts them.
            return tuple(given)
        values = list(given)
        for argument in rest:
            if argument.name is None or argument.name not in named:
                called = f"'{argument.name}'" if argument.name else str(argument.index)
                raise LaunchError(f"@{self.name}: argument {called} is missing")
            values.append(named[argument.name])
        return tuple(values)
