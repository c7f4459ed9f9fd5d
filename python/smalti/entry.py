"""What a kernel takes: the arguments of its entry function, read from the program before any pass changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import dtypes, ir
from .errors import CompileError, Diagnostic, SourceLocation, source_location

DYNAMIC = None


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
    location: SourceLocation | None = None

    @property
    def is_memref(self) -> bool:
        return self.shape is not None

    @property
    def is_static(self) -> bool:
        """Whether nothing but a pointer is left to say at a call."""
        return self.shape is not None and None not in self.shape and None not in (self.strides or ())

    def __str__(self) -> str:
        return f"argument {self.index} ({self.type})"


@dataclass(frozen=True)
class Entry:
    """A tile program: its name, its arguments without the tile id, and how many tiles it has."""

    name: str
    arguments: tuple[Argument, ...]
    num_tiles: int
    location: SourceLocation | None = None


def _dynamic(value: int, placeholder: int) -> int | None:
    return DYNAMIC if value == placeholder else int(value)


def _argument(index: int, value: Any, reads: bool, writes: bool) -> Argument:
    ty = value.type
    place = source_location(value.location) if hasattr(value, "location") else None
    shape = strides = None
    spelling = str(ty)
    if isinstance(ty, ir.MemRefType):
        spelling = str(ty.element_type)
        dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
        step, _ = ty.get_strides_and_offset()
        shape = tuple(None if ty.is_dynamic_dim(i) else ty.shape[i] for i in range(ty.rank))
        strides = tuple(_dynamic(s, dynamic_stride) for s in step)
    dtype = dtypes.from_mlir(spelling)
    if dtype is None:
        message = f"argument {index} of type {ty}: Smalti's launchers have no element type {spelling}"
        raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
    return Argument(index, str(ty), dtype, shape, strides, reads, writes, place)


_READS = {"triton_xla.extract": 0}
_WRITES = {"triton_xla.insert": 1}


def _uses(argument: Any) -> tuple[bool, bool]:
    """Whether a memref argument is read and written; any use but a plain window access counts as both."""
    reads = writes = False
    for use in argument.uses:
        name = use.owner.operation.name
        if _READS.get(name) == use.operand_number:
            reads = True
        elif _WRITES.get(name) == use.operand_number:
            writes = True
        else:
            reads = writes = True
    return reads, writes


def entry_functions(module: Any) -> Iterator[Any]:
    """The tile programs of a module."""
    for view in module.operation.regions[0].blocks[0].operations:
        if view.operation.name == "triton_xla.entry_func":
            yield view.operation


def find_entry(module: Any, name: str | None = None) -> Any:
    """The entry function called `name`, or the only one."""
    found = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in entry_functions(module)}
    if name is not None:
        if name in found:
            return found[name]
        known = ", ".join(f"@{n}" for n in found) or "none"
        raise CompileError(f"no entry function @{name}; the module has: {known}")
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise CompileError(
            "the module has no triton_xla.entry_func to compile",
            hint="write the kernel as `triton_xla.entry_func @name(..., %tile: index) tiles N { ... }`",
        )
    raise CompileError(f"the module has {len(found)} entry functions: name one ({', '.join(f'@{n}' for n in found)})")


def describe(operation: Any) -> Entry:
    """The `Entry` of a `triton_xla.entry_func` operation."""
    arguments = [
        _argument(index, value, *_uses(value))
        for index, value in enumerate(list(operation.regions[0].blocks[0].arguments)[:-1])
    ]
    return Entry(
        name=ir.StringAttr(operation.attributes["sym_name"]).value,
        arguments=tuple(arguments),
        num_tiles=ir.IntegerAttr(operation.attributes["num_tiles"]).value,
        location=source_location(operation.location),
    )
