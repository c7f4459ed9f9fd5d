# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of an entry function, read from the module before any pass changes it."""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .. import dtypes, sources
from ..bindings import _smalti, ir
from ..calling.arguments import UNUSED, Argument, Entry
from ..diagnostics import Diagnostic, counted, source_line, source_location
from ..errors import CompileError

__all__ = ["Argument", "Entry", "describe", "entry_functions", "find_entry"]


def _dynamic(value: int, placeholder: int) -> int | None:
    return None if value == placeholder else int(value)


def _argument(
    index: int,
    value: Any,
    alignment: int | None,
    facts: Mapping[str, Any] = types.MappingProxyType({}),
    is_tile_level: bool = False,
) -> Argument:
    ty = value.type
    reads, writes = _uses(value)
    location = source_location(value.location) if hasattr(value, "location") else None
    shape = strides = None
    spelling = str(ty)
    if isinstance(ty, ir.MemRefType):
        spelling = str(ty.element_type)
        dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
        seen = _smalti.argument_type(ty)
        if seen is None:
            message = f"argument {index} of type {ty}: the layout of the memref does not have strides; use a strided layout, such as strided<[64, 1]>"
            raise CompileError("", diagnostics=[Diagnostic("error", message, location)])
        # Only the code of a tile-level kernel does not add the offset.
        if not is_tile_level and ty.get_strides_and_offset()[1] not in (0, dynamic_stride):
            message = f"argument {index} of type {ty}: the offset must be 0 or ?, because an array starts at its first element"
            raise CompileError("", diagnostics=[Diagnostic("error", message, location)])
        shape = tuple(None if ty.is_dynamic_dim(i) else ty.shape[i] for i in range(ty.rank))
        strides = tuple(_dynamic(step, dynamic_stride) for step in ir.MemRefType(seen).get_strides_and_offset()[0])
    argument = Argument(
        index, str(ty), dtypes.BYTE, shape, strides, reads, writes, alignment, location, name=_name(value)
    )
    if not argument.is_static:
        argument = dataclasses.replace(argument, **facts)
    if spelling in PACKED and argument.is_memref:
        return _packed(argument, PACKED[spelling])
    dtype = dtypes.from_mlir("i64" if argument.is_tensor_map else spelling)
    if dtype is None:
        message = f"argument {index} of type {ty}: " + (
            f"arrays of {spelling} cannot be passed in a launch; use elements of 1, 2, 4, 8, 16, 32 or 64 bits"
            if argument.is_memref
            else f"scalars of type {spelling} cannot be passed in a launch; use i1, i8, i16, i32, i64, index or a float of 8 to 64 bits"
        )
        raise CompileError("", diagnostics=[Diagnostic("error", message, location)])
    return dataclasses.replace(argument, dtype=dtype)


def _name(value: Any) -> str | None:
    """The SSA name of an argument. MLIR does not keep names, so the name is read from the source at the argument's location."""
    location = getattr(value, "location", None)
    name = None
    if location is not None and location.is_a_name():
        name = location.name_str
    elif (
        line := source_line(source_location(location) if location else None, sources.text_of(value.context))
    ) is not None:
        text, column = line
        found = re.compile(r"%(\w+)").match(text, column)
        name = found.group(1) if found else None
    return name if name is not None and name.isidentifier() else None


PACKED = {"i4": 2, "i2": 4, "f4E2M1FN": 2}
"""Sub-byte element types, and the number of elements per byte."""


def _packed(argument: Argument, count: int) -> Argument:
    """The argument as an array of bytes. Raises CompileError if a row does not have a whole number of bytes."""
    shape: Sequence[int | None] = argument.shape or ()
    strides: Sequence[int | None] = argument.strides or ()
    last = len(shape) - 1
    sizes = [1] * last + [count]
    steps = [count] * last + [1]
    # The strides of a row-major array are multiples of the size of its rows.
    unproven = [
        (name, needed)
        for name, numbers, known, needed in (
            ("size", shape, argument.size_divisors, sizes),
            ("stride", () if argument.is_row_major else strides, argument.stride_divisors, steps),
        )
        if any(n is None and d % w for n, d, w in zip(numbers, known or [1] * len(needed), needed, strict=False))
    ]
    is_whole = all(size is None or size % count == 0 for size in (*shape[-1:], *strides[:-1]))
    if shape and strides[last] == 1 and is_whole and not unproven:
        return dataclasses.replace(
            argument,
            shape=_in_bytes(shape, sizes),
            strides=_in_bytes(strides, steps),
            size_divisors=_in_bytes(argument.size_divisors, sizes),
            stride_divisors=_in_bytes(argument.stride_divisors, steps),
            packed=count,
        )
    message = f"{argument}: rows must have a whole number of bytes; make each row and stride a multiple of {counted(count, 'element')}"
    if unproven and strides[last] == 1 and is_whole:
        stated = (f"triton_xla.{name}_divisors = array<i64: {', '.join(map(str, n))}>" for name, n in unproven)
        message += f", and state this with the argument attribute {' and '.join(stated)}"
    raise CompileError("", diagnostics=[Diagnostic("error", message, argument.location)])


def _in_bytes(numbers: Sequence[Any], divisors: Sequence[int]) -> tuple[Any, ...]:
    """Sizes, strides or their divisors in bytes. A divisor that is not a whole number of bytes becomes 1."""
    return tuple(n if n is None else 1 if n % d else n // d for n, d in zip(numbers, divisors, strict=False))


_READS = {
    ("triton_xla.extract", 0),
    ("triton_xla.gather", 0),
    ("mosaic_gpu.async_load", 0),
    ("mosaic_gpu.async_prefetch", 0),
    ("mosaic_gpu.vector_load", 0),
    ("memref.load", 0),
    ("memref.copy", 0),
    ("memref.dim", 0),
    ("vector.load", 0),
    ("vector.maskedload", 0),
    ("vector.transfer_read", 0),
    ("vector.gather", 0),
    ("nvgpu.tma.async.load", 2),
    ("nvgpu.tma.prefetch.descriptor", 0),
}
_WRITES = {
    ("triton_xla.insert", 1),
    ("triton_xla.scatter", 1),
    ("mosaic_gpu.async_store", 1),
    ("mosaic_gpu.vector_store", 1),
    ("memref.store", 1),
    ("memref.copy", 1),
    ("vector.store", 1),
    ("vector.maskedstore", 0),
    ("vector.transfer_write", 1),
    ("vector.scatter", 0),
    ("nvgpu.tma.async.store", 1),
}
"""Operations and the indices of operands whose memory they only read or only write. A tensor map stands for the memory
that it describes."""

_COMBINES = ("reduction_op", "atomic_type")
"""Attributes that turn a write into a read-modify-write."""

_VIEWS = {
    "builtin.unrealized_conversion_cast",
    "mosaic_gpu.reinterpret_cast",
    "memref.subview",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.transpose",
}


def _uses(*values: Any) -> tuple[bool, bool]:
    """Whether the memory of values is read and written. An unknown use counts as both."""
    reads = writes = False
    worklist = list(values)
    while worklist:
        for use in worklist.pop().uses:
            user = use.owner.operation
            at = (user.name, use.operand_number)
            if at in _READS:
                reads = True
            elif at in _WRITES and not any(name in user.attributes for name in _COMBINES):
                writes = True
            elif user.name in _VIEWS:
                worklist.extend(user.results)
            else:
                reads = writes = True
    return reads, writes


def _block(block: Any) -> Iterator[Any]:
    for view in block.operations:
        yield view.operation


def _operations(operation: Any) -> Iterator[Any]:
    return _block(operation.regions[0].blocks[0])


TENSOR_MAPS = "mosaic_gpu.tensor_maps"
"""The attribute that describes the tensor maps that a kernel takes after its arguments."""

_ARGUMENT_INDEX = "mosaic_gpu.from_kernel_arg_idx"


def _launches(function: Any) -> list[Any]:
    """The launches in a host function."""
    if function.name != "func.func" or not function.regions[0].blocks:
        return []
    return [op for block in function.regions[0].blocks for op in _block(block) if op.name == "gpu.launch"]


def entry_functions(module: Any) -> list[Any]:
    """The entry functions of a module: its tile-level kernels, otherwise its host functions with a launch (as JAX prints
    them), otherwise the kernels of its GPU modules."""
    top = list(_operations(module.operation))
    programs = [op for op in top if op.name == "triton_xla.entry_func"] or [op for op in top if _launches(op)]
    if programs:
        return _owning(module.operation, programs)
    found: list[Any] = []
    for outer in _owning(module.operation, [op for op in top if op.name == "gpu.module"]):
        kernels = [op for op in _operations(outer) if op.name == "gpu.func" and "gpu.kernel" in op.attributes]
        found.extend(_owning(outer, kernels))
    return found


def _owning(parent: Any, symbols: list[Any]) -> list[Any]:
    """The operations `symbols` in `parent` as objects that keep the module alive. In MLIR's bindings, only the result of a
    lookup does."""
    if not symbols:
        return []
    table = ir.SymbolTable(parent)
    return [table[_symbol(symbol)].operation for symbol in symbols]


def _symbol(function: Any) -> str:
    name = ir.StringAttr(function.attributes["sym_name"]).value_bytes
    try:
        return name.decode()
    except UnicodeDecodeError:
        message = f"the name {name!r} is not valid UTF-8; use letters, digits, '_' and '$'"
        location = source_location(function.location)
        raise CompileError("", diagnostics=[Diagnostic("error", message, location)]) from None


TILE_LEVEL_FORM = "a tile-level kernel has the form `triton_xla.entry_func @name(..., %tile: index) tiles N { ... }`"


def find_entry(module: Any, name: str | None = None) -> Any:
    """The entry function `name`, or the only one. Raises CompileError if it does not exist or the choice is ambiguous."""
    found = {_symbol(op): op for op in entry_functions(module)}
    if name is not None:
        if name in found:
            return found[name]
        known = ", ".join(f"@{n}" for n in found) or "none"
        raise CompileError(f"entry function @{name} does not exist; entry functions of the module: {known}")
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise CompileError(
            "the module does not have an entry function: a triton_xla.entry_func, a function with a gpu.launch, or a gpu.func kernel",
            hint=TILE_LEVEL_FORM,
        )
    raise CompileError(
        f"the module has {len(found)} entry functions ({', '.join(f'@{n}' for n in found)}); select one with entry= or --entry"
    )


def _alignments(operation: Any, count: int) -> list[int | None]:
    if "arg_attrs" not in operation.attributes:
        return [None] * count
    stated = [ir.DictAttr(item) for item in ir.ArrayAttr(operation.attributes["arg_attrs"])]
    found = [ir.IntegerAttr(item["llvm.align"]).value if "llvm.align" in item else None for item in stated]
    return (found + [None] * count)[:count]


def _dynamic_grid(operation: Any) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """The terms of the number of tiles, if it depends on arguments; see `Entry.grid`."""
    if "dynamic_grid" not in operation.attributes:
        return ()
    grid: list[tuple[tuple[int, int, int], ...]] = []
    for dimension in ir.ArrayAttr(operation.attributes["dynamic_grid"]):
        numbers = [int(number) for number in ir.DenseI64ArrayAttr(dimension)]
        grid.append(tuple(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)))
    return tuple(grid)


def _facts(operation: Any, index: int) -> dict[str, Any]:
    """The facts that a tile-level kernel states about the dynamic sizes and strides of an argument."""
    if "arg_attrs" not in operation.attributes:
        return {}
    stated = ir.DictAttr(ir.ArrayAttr(operation.attributes["arg_attrs"])[index])
    facts: dict[str, Any] = {}
    for name in ("size_divisors", "stride_divisors"):
        if f"triton_xla.{name}" in stated:
            facts[name] = tuple(int(n) for n in ir.DenseI64ArrayAttr(stated[f"triton_xla.{name}"]))
    if "triton_xla.max_bytes" in stated:
        facts["max_bytes"] = ir.IntegerAttr(stated["triton_xla.max_bytes"]).value
    return facts


def _with_parameters(argument: Argument) -> Argument:
    """An argument of a tile-level kernel with the sizes and strides that a GPU kernel takes."""
    if argument.shape is None or argument.strides is None or argument.is_static:
        return argument
    strides = () if argument.is_row_major else argument.strides
    return dataclasses.replace(
        argument,
        dynamic_sizes=tuple(dim for dim, size in enumerate(argument.shape) if size is None),
        dynamic_strides=tuple(dim for dim, stride in enumerate(strides) if stride is None),
    )


def _tiles(operation: Any) -> int:
    if operation.name == "triton_xla.entry_func":
        return ir.IntegerAttr(operation.attributes["num_tiles"]).value
    for name in ("known_grid_size", "gpu.known_grid_size"):
        if name in operation.attributes:
            return math.prod(int(size) for size in ir.DenseI32ArrayAttr(operation.attributes[name]))
    raise _error(operation, "the kernel does not state its grid size; set the attribute known_grid_size")


def _error(operation: Any, message: str) -> CompileError:
    return CompileError("", diagnostics=[Diagnostic("error", message, source_location(operation.location))])


def _describe_launch(function: Any) -> Entry:
    """The `Entry` of a function that launches one kernel. Arguments are in the order of its pointers."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    launches = _launches(function)
    if len(launches) != 1:
        raise _error(function, f"@{name} launches {counted(len(launches), 'kernel')}; exactly one launch is required")
    pointers: dict[int, list[Any]] = {}
    for operation in _operations(function):
        if _ARGUMENT_INDEX in operation.attributes:
            index = ir.IntegerAttr(operation.attributes[_ARGUMENT_INDEX]).value
            pointers.setdefault(index, []).append(operation)
    arguments: list[Argument] = []
    for index in range(max(pointers, default=-1) + 1):
        if index not in pointers:
            # JAX drops unused arrays but keeps their pointers.
            location = source_location(function.location)
            arguments.append(Argument(index, UNUSED, dtypes.ADDRESS, None, None, False, False, location=location))
            continue
        values = [operation.results[0] for operation in pointers[index]]
        if not isinstance(values[0].type, ir.MemRefType):
            raise _error(pointers[index][0], f"argument {index} of @{name} must be a memref, not {values[0].type}")
        reads, writes = _uses(*values)
        arguments.append(dataclasses.replace(_argument(index, values[0], None), reads=reads, writes=writes))
    return Entry(name, tuple(arguments), _blocks(launches[0]), source_location(function.location))


def _blocks(launch: Any) -> int:
    """The number of blocks of a launch."""
    segments = [int(n) for n in ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"])]
    # The operands are asynchronous dependencies, then x, y and z of the grid.
    first = segments[0]
    sizes: list[int] = []
    for operand in list(launch.operands)[first : first + 3]:
        owner = getattr(operand.owner, "operation", None)
        if owner is None or owner.name != "arith.constant":
            raise _error(launch, "the grid size of the launch is dynamic; it must be constant")
        sizes.append(ir.IntegerAttr(owner.attributes["value"]).value)
    return math.prod(sizes)


def _argument_of_map(described: ir.Attribute) -> int | None:
    """The index of the argument that a tensor map describes. None if the attribute is invalid; the compiler reports that."""
    try:
        return ir.IntegerAttr(ir.DictAttr(described)["argument"]).value
    except (KeyError, ValueError):
        return None


def describe(operation: Any) -> Entry:
    """The `Entry` of a `triton_xla.entry_func`, of a function that launches, or of a `gpu.func`."""
    if operation.name == "func.func":
        return _describe_launch(operation)
    values = list(operation.regions[0].blocks[0].arguments)
    function_type = cast(Any, ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value))
    count = len(function_type.inputs)
    grid = _dynamic_grid(operation)
    if operation.name == "triton_xla.entry_func":
        # The launcher passes the tile id, or one for each dimension of the grid.
        count -= len(grid) or len(
            ir.DenseI64ArrayAttr(operation.attributes["grid"]) if "grid" in operation.attributes else (1,)
        )
    maps: list[ir.Attribute] = []
    if TENSOR_MAPS in operation.attributes:
        maps = list(ir.ArrayAttr(operation.attributes[TENSOR_MAPS]))
        count -= len(maps)  # The launcher also passes the tensor maps, which are last.
    alignments = _alignments(operation, count)
    if operation.name == "triton_xla.entry_func":
        arguments = [
            _with_parameters(_argument(i, values[i], alignments[i], _facts(operation, i), is_tile_level=True))
            for i in range(count)
        ]
    else:
        arguments = [_argument(index, values[index], alignments[index]) for index in range(count)]
    for pointer, described in zip(values[max(count, 0) :], maps, strict=False):
        # An access through a tensor map is an access to its argument.
        number = _argument_of_map(described)
        if number is not None and 0 <= number < count:
            reads, writes = _uses(pointer)
            old = arguments[number]
            arguments[number] = dataclasses.replace(old, reads=old.reads or reads, writes=old.writes or writes)
    return Entry(
        name=ir.StringAttr(operation.attributes["sym_name"]).value,
        arguments=tuple(arguments),
        num_tiles=_tiles(operation),
        location=source_location(operation.location),
        grid=grid,
    )
