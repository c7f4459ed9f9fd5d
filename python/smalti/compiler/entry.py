"""What a kernel takes: the arguments of its entry function, read from the program before any pass changes it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any, cast

from .. import dtypes, ir, sources
from ..calling.arguments import UNUSED, Argument, Entry
from ..diagnostics import Diagnostic, source_line, source_location
from ..errors import CompileError

__all__ = ["Argument", "Entry", "describe", "entry_functions", "find_entry"]


def _dynamic(value: int, placeholder: int) -> int | None:
    return None if value == placeholder else int(value)


def _argument(index: int, value: Any, alignment: int | None) -> Argument:
    ty = value.type
    reads, writes = _uses(value)
    place = source_location(value.location) if hasattr(value, "location") else None
    shape = strides = None
    spelling = str(ty)
    if isinstance(ty, ir.MemRefType):
        spelling = str(ty.element_type)
        dynamic_stride = ir.ShapedType.get_dynamic_stride_or_offset()
        step, offset = ty.get_strides_and_offset()
        if offset not in (0, dynamic_stride):
            message = (
                f"argument {index} of type {ty}: an array begins with its first element, so its offset must be 0 or ?"
            )
            raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
        shape = tuple(None if ty.is_dynamic_dim(i) else ty.shape[i] for i in range(ty.rank))
        strides = tuple(_dynamic(s, dynamic_stride) for s in step)
    argument = Argument(index, str(ty), dtypes.BYTE, shape, strides, reads, writes, alignment, place, name=_name(value))
    if spelling in PACKED:
        return _packed(argument, PACKED[spelling])
    dtype = dtypes.from_mlir("i64" if argument.is_tensor_map else spelling)
    if dtype is None:
        message = f"argument {index} of type {ty}: Smalti's launchers have no element type {spelling}"
        raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
    return dataclasses.replace(argument, dtype=dtype)


def _name(value: Any) -> str | None:
    """The name of an argument in the program. MLIR does not keep it, so it is read at the argument's location."""
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
"""Element types of which several share a byte, and how many."""


def _packed(argument: Argument, count: int) -> Argument:
    """The argument as an array of bytes."""
    shape, strides = argument.shape, argument.strides
    if not shape or strides is None or strides[-1] != 1 or shape[-1] is None:
        shape = None
    elif all(size is not None and size % count == 0 for size in (shape[-1], *strides[:-1])):
        shape = (*shape[:-1], shape[-1] // count)
        strides = (*(step // count for step in strides[:-1] if step is not None), 1)
        return dataclasses.replace(argument, shape=shape, strides=strides, packed=count)
    message = f"{argument}: {count} elements share a byte, and its rows are not whole bytes"
    raise CompileError("", diagnostics=[Diagnostic("error", message, argument.location)])


_READS = {
    ("triton_xla.extract", 0),
    ("mosaic_gpu.async_load", 0),
    ("mosaic_gpu.async_prefetch", 0),
    ("mosaic_gpu.vector_load", 0),
    ("memref.load", 0),
    ("nvgpu.tma.async.load", 2),
    ("nvgpu.tma.prefetch.descriptor", 0),
}
_WRITES = {
    ("triton_xla.insert", 1),
    ("mosaic_gpu.async_store", 1),
    ("mosaic_gpu.vector_store", 1),
    ("memref.store", 1),
    ("nvgpu.tma.async.store", 1),
}
"""Operations and their operands of which they read or write the memory, and do nothing else with it. A tensor map
stands for the memory that it describes."""

_COMBINES = ("reduction_op", "atomic_type")
"""With which a write combines what is there with what it writes."""

_VIEWS = {
    "builtin.unrealized_conversion_cast",
    "memref.subview",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.transpose",
}


def _uses(*values: Any) -> tuple[bool, bool]:
    """Whether the memory of values is read and written; a use that is not known counts as both."""
    reads = writes = False
    left = list(values)
    while left:
        for use in left.pop().uses:
            user = use.owner.operation
            at = (user.name, use.operand_number)
            if at in _READS:
                reads = True
            elif at in _WRITES and not any(name in user.attributes for name in _COMBINES):
                writes = True
            elif user.name in _VIEWS:
                left.extend(user.results)
            else:
                reads = writes = True
    return reads, writes


def _block(block: Any) -> Iterator[Any]:
    for view in block.operations:
        yield view.operation


def _operations(operation: Any) -> Iterator[Any]:
    return _block(operation.regions[0].blocks[0])


TENSOR_MAPS = "mosaic_gpu.tensor_maps"
"""What describes the tensor maps that a kernel takes behind its arguments."""

_ARGUMENT_INDEX = "mosaic_gpu.from_kernel_arg_idx"


def _launches(function: Any) -> list[Any]:
    """The launches in a function of the host."""
    if function.name != "func.func" or not function.regions[0].blocks:
        return []
    return [op for block in function.regions[0].blocks for op in _block(block) if op.name == "gpu.launch"]


def entry_functions(module: Any) -> list[Any]:
    """The tile programs of a module; where there is none, the functions that launch, as in a module that JAX printed;
    where there is none either, the kernels of its GPU modules."""
    top = list(_operations(module.operation))
    programs = [op for op in top if op.name == "triton_xla.entry_func"] or [op for op in top if _launches(op)]
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
            "the module has no triton_xla.entry_func to compile, and no function that launches a kernel",
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
    raise _error(operation, "the kernel does not state its known_grid_size")


def _error(operation: Any, message: str) -> CompileError:
    return CompileError("", diagnostics=[Diagnostic("error", message, source_location(operation.location))])


def _describe_launch(function: Any) -> Entry:
    """The `Entry` of a function that launches one kernel, with the arrays in the order of its pointers."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    launches = _launches(function)
    if len(launches) != 1:
        raise _error(function, f"@{name} launches {len(launches)} kernels; one is wanted")
    made: dict[int, list[Any]] = {}
    for operation in _operations(function):
        if _ARGUMENT_INDEX in operation.attributes:
            index = ir.IntegerAttr(operation.attributes[_ARGUMENT_INDEX]).value
            made.setdefault(index, []).append(operation)
    arguments: list[Argument] = []
    for index in range(max(made, default=-1) + 1):
        if index not in made:
            # JAX dropped what nothing uses; the place stays.
            place = source_location(function.location)
            arguments.append(Argument(index, UNUSED, dtypes.ADDRESS, None, None, False, False, location=place))
            continue
        values = [operation.results[0] for operation in made[index]]
        if not isinstance(values[0].type, ir.MemRefType):
            raise _error(made[index][0], f"argument {index} of @{name} is no memref")
        reads, writes = _uses(*values)
        arguments.append(dataclasses.replace(_argument(index, values[0], None), reads=reads, writes=writes))
    return Entry(name, tuple(arguments), _blocks(launches[0]), source_location(function.location))


def _blocks(launch: Any) -> int:
    """How many blocks a launch has."""
    segments = [int(n) for n in ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"])]
    # Asynchronous dependencies, and x, y and z of the grid.
    first = segments[0]
    sizes: list[int] = []
    for operand in list(launch.operands)[first : first + 3]:
        owner = getattr(operand.owner, "operation", None)
        if owner is None or owner.name != "arith.constant":
            raise _error(launch, "the size of the launch's grid is not a constant")
        sizes.append(ir.IntegerAttr(owner.attributes["value"]).value)
    return math.prod(sizes)


def _argument_of_map(described: ir.Attribute) -> int | None:
    """The number of the argument that a tensor map is made of; none where the description is wrong, as the compiler
    will say."""
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
    if operation.name == "triton_xla.entry_func":
        count -= 1  # The tile id is the launcher's to give.
    maps: list[ir.Attribute] = []
    if TENSOR_MAPS in operation.attributes:
        maps = list(ir.ArrayAttr(operation.attributes[TENSOR_MAPS]))
        count -= len(maps)  # So are the maps, which are the last.
    alignments = _alignments(operation, count)
    arguments = [_argument(index, values[index], alignments[index]) for index in range(count)]
    for pointer, described in zip(values[max(count, 0) :], maps, strict=False):
        # What goes through a map is an access to the argument that it is made of.
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
    )
