"""What a kernel takes: the arguments of its entry function, read from the program before any pass changes it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import dtypes, ir
from .errors import CompileError, Diagnostic, SourceLocation, source_location

DYNAMIC = None


_TENSOR_MAP = "!nvgpu.tensormap.descriptor<"


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

    @property
    def is_memref(self) -> bool:
        return self.shape is not None

    @property
    def is_tensor_map(self) -> bool:
        """Whether it is a tensor map of NVIDIA's, of which a kernel gets the address."""
        return self.type.startswith(_TENSOR_MAP)

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


def _argument(index: int, value: Any, alignment: int | None) -> Argument:
    ty = value.type
    reads, writes = _uses(value)
    place = source_location(value.location) if hasattr(value, "location") else None
    shape = strides = None
    spelling = str(ty)
    if isinstance(ty, ir.MemRefType):
        spelling = str(ty.element_type)
        dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
        step, _ = ty.get_strides_and_offset()
        shape = tuple(None if ty.is_dynamic_dim(i) else ty.shape[i] for i in range(ty.rank))
        strides = tuple(_dynamic(s, dynamic_stride) for s in step)
    if spelling.startswith(_TENSOR_MAP):
        spelling = "i64"
    dtype = dtypes.from_mlir(spelling)
    if dtype is None:
        message = f"argument {index} of type {ty}: Smalti's launchers have no element type {spelling}"
        raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
    return Argument(index, str(ty), dtype, shape, strides, reads, writes, alignment, place)


_READS = {"triton_xla.extract": 0}
_WRITES = {"triton_xla.insert": 1}


def _uses(argument: Any) -> tuple[bool, bool]:
    """Whether an argument is read and written; any use but a plain window access counts as both."""
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


def _operations(operation: Any) -> Iterator[Any]:
    for view in operation.regions[0].blocks[0].operations:
        yield view.operation


def entry_functions(module: Any) -> list[Any]:
    """The tile programs of a module; where there is none, the kernels of its GPU modules."""
    top = list(_operations(module.operation))
    programs = [op for op in top if op.name == "triton_xla.entry_func"]
    if programs:
        return programs
    inside = (op for outer in top if outer.name == "gpu.module" for op in _operations(outer))
    return [op for op in inside if op.name == "gpu.func" and "gpu.kernel" in op.attributes]


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


def _alignments(operation: Any, count: int) -> list[int | None]:
    if "arg_attrs" not in operation.attributes:
        return [None] * count
    stated = [ir.DictAttr(item) for item in ir.ArrayAttr(operation.attributes["arg_attrs"])]
    found = [ir.IntegerAttr(item["llvm.align"]).value if "llvm.align" in item else None for item in stated]
    return (found + [None] * count)[:count]


def _tiles(operation: Any) -> int:
    if operation.name == "triton_xla.entry_func":
        return ir.IntegerAttr(operation.attributes["num_tiles"]).value
    for name in ("known_grid_size", "gpu.known_grid_size"):
        if name in operation.attributes:
            return math.prod(int(size) for size in ir.DenseI32ArrayAttr(operation.attributes[name]))
    raise CompileError(
        "",
        diagnostics=[
            Diagnostic("error", "the kernel does not state its known_grid_size", source_location(operation.location))
        ],
    )


def describe(operation: Any) -> Entry:
    """The `Entry` of a `triton_xla.entry_func` or a `gpu.func`."""
    values = list(operation.regions[0].blocks[0].arguments)
    count = len(ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value).inputs)
    if operation.name == "triton_xla.entry_func":
        count -= 1  # The tile id is the launcher's to give.
    alignments = _alignments(operation, count)
    arguments = (_argument(index, values[index], alignments[index]) for index in range(count))
    return Entry(
        name=ir.StringAttr(operation.attributes["sym_name"]).value,
        arguments=tuple(arguments),
        num_tiles=_tiles(operation),
        location=source_location(operation.location),
    )
