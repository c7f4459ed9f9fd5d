# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: parameters, launch and body of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import ir
from ...calling.arguments import UNUSED, Argument
from ...diagnostics import Diagnostic, SourceLocation, source_location
from ...errors import CompileError
from ..machine import values
from .translator import (
    ARGUMENT,
    AUTO_BARRIERS,
    PROGRAM_THREADS,
    UNSUPPORTED,
    Translated,
    Translator,
    Unsupported,
    attribute,
    sequence,
    strides_and_offset,
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the kernel."""

    index: int
    type: Any
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    """In elements. None is dynamic: the array of a call states it."""
    written: bool
    scalar: bool = False
    """Whether it is a scalar."""
    packed: int = 1
    """Elements per byte; shape and strides are those of the bytes then."""
    declared: Argument | None = None
    """The argument of the tile-level kernel."""
    title: str | None = None
    """The name in messages. The default is `argument INDEX`."""

    @property
    def name(self) -> str:
        return self.title or f"argument {self.declared.index if self.declared else self.index}"

    def __str__(self) -> str:
        return f"{self.name} ({self.declared.type if self.declared else self.type})"


@dataclass
class Program:
    """A kernel that can be run."""

    name: str
    parameters: tuple[Parameter, ...]
    host: Translated | None
    """The ops before the launch."""
    table: int | None
    """The slot of the pointer to the argument table, in a JAX module."""
    arguments: list[int]
    """The slots of the arguments of a `gpu.func`."""
    body: Translated
    slots: int
    grid: Any
    """The grid sizes, or their slots."""
    block: Any
    cluster: tuple[int, int, int]
    shared_bytes: Any
    grain: int
    group_threads: int | None
    """Threads that execute the program together, such as a warpgroup; None for the whole block."""
    launch_arguments: list[int]
    """Slots of the arguments of the launch body: block and thread ids, grid and block sizes."""
    launch_operands: dict[str, list[int]]
    source: str | None
    location: SourceLocation | None
    tensor_grain: int = 4
    most_shared_bytes: int = 0
    """The shared memory of a block of the GPU, in bytes."""


def parameter(index: int, ty: ir.Type, written: bool) -> Parameter:
    """The parameter for an argument type: an array or a scalar."""
    if not isinstance(ty, ir.MemRefType):
        if values.numpy_type(ty) is None:
            raise Unsupported(f"{UNSUPPORTED} argument {index} of type {ty}; use a memref, an integer or a float")
        return Parameter(index, ty, (), (), False, scalar=True)
    packed = values.PACKED.get(str(ty.element_type), 1)
    if packed == 1 and values.numpy_type(ty.element_type) is None:
        raise Unsupported(
            f"{UNSUPPORTED} argument {index} of type {ty}; elements must be index, floats, or integers of 1, 8, 16, 32 or 64 bits"
        )
    shape = tuple(None if ty.is_dynamic_dim(i) else ty.shape[i] for i in range(ty.rank))
    steps, _ = strides_and_offset(ty)
    strides = tuple(None if step == ir.ShapedType.get_dynamic_stride_or_offset() else step for step in steps)
    if not all(size != 0 for size in shape):
        strides = (0,) * len(shape)
    # A memref without dimensions is the address of an array of dynamic size.
    if packed > 1 and shape:
        *rows, last = shape
        *by, one = strides
        if one != 1 or last is None or any(size is None or size % packed for size in (last, *by)):
            raise Unsupported(
                f"{UNSUPPORTED} argument {index} of type {ty}; rows must be whole bytes, so use sizes and strides that are multiples of {packed}"
            )
        shape = (*rows, last // packed)
        strides = (*(step // packed for step in by if step is not None), 1)
    return Parameter(index, ty, shape, strides, written, packed=packed)


_READERS = {"mosaic_gpu.async_load", "mosaic_gpu.async_copy", "mosaic_gpu.async_prefetch", "mosaic_gpu.vector_load"}
_READERS |= {"memref.load", "vector.transfer_read", "vector.load", "mosaic_gpu.print_layout", "memref.dim"}
_READERS |= {"vector.maskedload", "vector.expandload", "vector.gather", "amdgpu.raw_buffer_load"}
_READERS |= {"affine.load", "affine.vector_load", "affine.prefetch", "memref.prefetch", "memref.rank"}
_READERS |= {"nvgpu.tma.async.load", "nvgpu.tma.prefetch.descriptor", "nvgpu.tma.fence.descriptor"}
_VIEWS = {"memref.subview", "memref.cast", "memref.transpose", "memref.expand_shape", "memref.collapse_shape"}
_VIEWS |= {"mosaic_gpu.reinterpret_cast", "mosaic_gpu.with_transforms", "memref.reinterpret_cast"}
_VIEWS |= {"memref.assume_alignment", "memref.memory_space_cast", "amdgpu.fat_raw_buffer_cast"}
_VIEWS |= {"memref.extract_strided_metadata"}


def is_written(value: Any) -> bool:
    """Whether a program may write memory: it may if any use is not a known read."""
    for use in value.uses:
        op = use.owner.operation
        if op.name in _READERS:
            continue
        if op.name == "nvgpu.tma.create.descriptor":
            if is_written(op.results[0]):
                return True
            continue
        if op.name in _VIEWS:
            if any(is_written(result) for result in op.results if isinstance(result.type, ir.MemRefType)):
                return True
            continue
        if op.name == "mosaic_gpu.warp_map" and is_written(op.regions[0].blocks[0].arguments[use.operand_number]):
            return True
        if op.name in _COPIES and use.operand_number == _COPIES[op.name](op):
            continue
        if op.name != "mosaic_gpu.warp_map":
            return True
    return False


_COPIES: dict[str, Callable[[Any], int]] = {
    "nvgpu.device_async_copy": lambda op: (
        attribute(op, "operandSegmentSizes")[0] + attribute(op, "operandSegmentSizes")[1]
    ),
    "amdgpu.gather_to_lds": lambda op: 0,
    "memref.copy": lambda op: 0,
    "gpu.memcpy": lambda op: len(op.operands) - 1,
}
"""Ops that only read the operand with this number."""


def of_launch(name: str, function: ir.Operation, launch: Any, translator: Translator) -> Program:
    entry = function.regions[0].blocks[0]
    if function.name != "func.func" or launch.parent.operation != function or len(entry.arguments) != 2:
        raise CompileError(
            "",
            diagnostics=[
                Diagnostic(
                    "error",
                    "a gpu.launch is supported only in a function with two arguments, as JAX creates it; run the pass gpu-kernel-outlining on a module that is not from JAX",
                    source_location(launch.location),
                )
            ],
        )
    parameters: dict[int, Parameter] = {}
    steps = []
    for view in entry.operations:
        op = view.operation
        if op == launch:
            break
        if ARGUMENT in op.attributes:
            index = attribute(op, ARGUMENT)
            try:
                result = op.results[0]
                parameters[index] = parameter(index, result.type, is_written(result))
            except Unsupported as problem:
                translator.problems.append(Diagnostic("error", str(problem), source_location(op.location)))
        made = translator.step(op)
        if made is not None and made.step is not None:
            steps.append(made)
    segments = attribute(launch, "operandSegmentSizes")
    operands = translator.operands(launch)
    names = ("async", "gx", "gy", "gz", "bx", "by", "bz", "cx", "cy", "cz", "shared")
    by_name: dict[str, list[int]] = {}
    at = 0
    for key, size in zip(names, segments, strict=False):
        by_name[key] = operands[at : at + size]
        at += size
    arguments = [translator.slot(argument) for argument in launch.regions[0].blocks[0].arguments]
    # As `mosaic-gpu-outline-launches` defines for its kernels.
    translator.ordered_stores = translator.ordered_loads = True
    body = translator.block(launch.regions[0].blocks[0], skip_last=True)
    for index in set(range(max(parameters, default=-1) + 1)) - set(parameters):
        parameters[index] = Parameter(index, UNUSED, (), (), False, scalar=True)
    table = translator.slot(entry.arguments[1])
    translator.slot(entry.arguments[0])
    return Program(
        name=name,
        parameters=tuple(parameters[i] for i in sorted(parameters)),
        host=sequence(steps),
        table=table,
        arguments=[],
        body=body,
        slots=translator.count,
        grid=None,
        block=None,
        cluster=(1, 1, 1),
        shared_bytes=None,
        grain=translator.grain,
        tensor_grain=translator.tensor_grain,
        group_threads=128,
        launch_arguments=arguments,
        launch_operands=by_name,
        source=None,
        location=source_location(launch.location),
    )


def three(op: ir.Operation, *names: str) -> tuple[int, int, int] | None:
    for name in names:
        if name in op.attributes:
            x, y, z = [*[int(v) for v in ir.DenseI32ArrayAttr(op.attributes[name])], 1, 1][:3]
            return x, y, z
    return None


def cluster_of(function: ir.Operation) -> tuple[int, int, int]:
    """The cluster size of a kernel."""
    return three(function, "known_cluster_size", "gpu.known_cluster_size", "nvvm.cluster_dim") or (1, 1, 1)


def of_function(name: str, function: Any, translator: Translator) -> Program:
    entry = function.regions[0].blocks[0]
    grid = three(function, "known_grid_size", "gpu.known_grid_size")
    block = three(function, "known_block_size", "gpu.known_block_size")
    place = source_location(function.location)
    # The number of tiles of a tile-level kernel may depend on the arguments of a call.
    if block is None or (grid is None and "smalti.arguments" not in function.attributes):
        message = (
            "the kernel does not state its block and grid size; set the attributes known_block_size and known_grid_size"
        )
        raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    parameters = []
    for index, argument in enumerate(list(entry.arguments)[:count]):
        try:
            parameters.append(parameter(index, argument.type, is_written(argument)))
        except Unsupported as problem:
            translator.problems.append(Diagnostic("error", str(problem), place))
    arguments = translator_slots(translator, list(entry.arguments)[:count])
    together = attribute(function, PROGRAM_THREADS)
    translator.ordered_loads = AUTO_BARRIERS in function.attributes
    translator.ordered_stores = translator.ordered_loads and together is not None
    body = translator.block(entry, skip_last=True)
    return Program(
        name=name,
        parameters=tuple(parameters),
        host=None,
        table=None,
        arguments=arguments,
        body=body,
        slots=translator.count,
        grid=grid,
        block=block,
        cluster=cluster_of(function),
        shared_bytes=max(translator.shared_end, attribute(function, "smalti.shared_memory_bytes", 0)),
        grain=translator.grain,
        tensor_grain=translator.tensor_grain,
        group_threads=together,
        launch_arguments=[],
        launch_operands={},
        source=None,
        location=place,
    )


def translator_slots(translator: Translator, arguments: list[Any]) -> list[int]:
    """The slots of block arguments."""
    return [translator.slot(argument) for argument in arguments]
