# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of passes as objects: schedules of loops, layouts, and the map of shared memory.

    for memory in smalti.plans.shared_memory(module):
        for buffer in memory.buffers:
            print(buffer.name, buffer.offset, buffer.bytes)

The functions read a module at block level, such as in a step of `smalti.compile(passes=...)`. They do not change it. The
passes and analyses of the compiler compute the plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, cast

from .. import targets
from ..bindings import _smalti, ir
from ..diagnostics import SourceLocation, source_location
from ..errors import PipelineError
from ..layouts import SplatLayout, StridedLayout, TiledLayout
from . import driver, insertion
from .pipeline import Pipeline

_Plan = TypeVar("_Plan")
Space = Literal["registers", "shared memory", "tensor memory"]


@dataclass(frozen=True)
class SharedBuffer:
    """A buffer in shared memory."""

    name: str
    """Its name in the printed function, such as `%alloc`."""
    type: str
    offset: int
    bytes: int
    location: SourceLocation | None

    @property
    def end(self) -> int:
        """The offset of the first byte after the buffer."""
        return self.offset + self.bytes


@dataclass(frozen=True)
class SharedMemory:
    """The shared memory of a function. Before smalti-allocate-shared-memory, it has the offsets that the pass would assign to the
    buffers as they are then."""

    function: str
    bytes: int
    """The bytes that a block needs."""
    dynamic_bytes: int
    """Those that a launch requests. The assembler places the others: workgroup attributions, globals and mbarriers."""
    buffers: tuple[SharedBuffer, ...]
    """In the order of their offsets."""
    unknown: tuple[str, ...] = ()
    """The names of buffers without a static size, which are not in `buffers`."""

    def aliases(self, buffer: SharedBuffer) -> tuple[SharedBuffer, ...]:
        """The other buffers that use some of the same bytes."""
        return tuple(
            one for one in self.buffers if one != buffer and one.offset < buffer.end and buffer.offset < one.end
        )


@dataclass(frozen=True)
class SharedLayout:
    """The layout of a buffer in shared memory. Without a tile, it is row-major."""

    tile: tuple[int, ...] | None
    swizzle_bytes: int | None


Layout: TypeAlias = TiledLayout | StridedLayout | SplatLayout | SharedLayout
"""The layout of a vector: the registers, lanes and warps of its elements; that of tensor memory; or a `SharedLayout`."""


@dataclass(frozen=True)
class AssignedLayout:
    """The layout of an operand or a result of an operation."""

    function: str
    op: str
    """The name of the operation."""
    location: SourceLocation | None
    is_result: bool
    index: int
    """The number of the operand or result."""
    space: Space
    type: str
    layout: Layout


@dataclass(frozen=True)
class ScheduledOp:
    """An operation of a pipelined loop."""

    name: str
    location: SourceLocation | None
    stages: tuple[int, ...]
    """In stage s, the operation computes the iteration that is s before that of stage 0. A cheap operation may run in
    several stages."""
    clusters: tuple[int, ...]
    """For each stage, the order in the kernel."""


@dataclass(frozen=True)
class LoopBuffer:
    """A buffer that a pipelined loop accesses."""

    name: str
    type: str
    slots: int
    """How many consecutive iterations use different parts of it."""
    is_shared: bool
    is_barrier: bool
    """Whether the buffer has mbarriers."""


@dataclass(frozen=True)
class Schedule:
    """The schedule of a loop (smalti-pipeline-loops). The kernel starts an iteration before those of the `stages - 1`
    iterations before it complete; prologue and epilogue have `stages - 1` steps each."""

    function: str
    location: SourceLocation | None
    stages: int
    mode: Literal["stream", "async"]
    """Whether global reads go to registers, or asynchronous copies to shared memory."""
    prefetched: int
    """The number of reads or copies that are issued in an earlier iteration."""
    barriers: int
    """The number of block barriers in an iteration."""
    trip_count: int | None
    """None if it is dynamic."""
    is_guarded: bool
    """Whether the loop has a run-time guard, with the original loop as the fallback."""
    limit: str | None
    """The reason against more stages, if the pass chose the number."""
    buffers: tuple[LoopBuffer, ...]
    ops: tuple[ScheduledOp, ...]

    def stage(self, number: int) -> tuple[ScheduledOp, ...]:
        """The operations of a stage, in the order of the kernel."""
        found = [(op.clusters[op.stages.index(number)], op) for op in self.ops if number in op.stages]
        return tuple(op for _, op in sorted(found, key=lambda one: one[0]))


@dataclass(frozen=True)
class Plans:
    """The plans of a compilation; see `of`."""

    layouts: tuple[AssignedLayout, ...]
    schedules: tuple[Schedule, ...]
    shared_memory: tuple[SharedMemory, ...]


def shared_memory(module: Any) -> tuple[SharedMemory, ...]:
    """The shared memory of each function that has buffers in it, from the analysis that the passes use."""
    found: list[SharedMemory] = []
    for function, name in _functions(module):
        result: tuple[list[tuple[ir.Value, str, int, int]], int, int] = cast(Any, _smalti).shared_memory(function)
        entries, total, placed = result
        buffers = [
            SharedBuffer(label, str(value.type), offset, size, _location_of(value))
            for value, label, offset, size in entries
            if offset >= 0
        ]
        unknown = tuple(label for _, label, offset, _ in entries if offset < 0)
        if entries:
            ordered = tuple(sorted(buffers, key=lambda one: one.offset))
            found.append(SharedMemory(name, total, placed, ordered, unknown))
    return _checked(found, module, "shared_memory")


def layouts(module: Any) -> tuple[AssignedLayout, ...]:
    """The layouts of the operands and results of each operation. Lowering from tile level and mosaic-gpu-infer-layouts
    assign them."""
    found: list[AssignedLayout] = []
    for function, name in _functions(module):
        for op in _operations(function):
            for is_result, prefix, values in ((False, "in", op.operands), (True, "out", op.results)):
                for attribute, space in _SPACES.items():
                    if f"{prefix}_{attribute}" not in op.attributes:
                        continue
                    numbered = [(index, value) for index, value in enumerate(values) if _space(value.type) == space]
                    entries = cast(Any, ir.ArrayAttr(op.attributes[f"{prefix}_{attribute}"]))
                    for (index, value), entry in zip(numbered, entries, strict=True):
                        where = source_location(op.location)
                        layout = _layout(entry, space)
                        found.append(
                            AssignedLayout(name, op.name, where, is_result, index, space, str(value.type), layout)
                        )
    return _checked(found, module, "layouts")


def schedules(module: Any, **options: Any) -> tuple[Schedule, ...]:
    """The schedules of the loops that smalti-pipeline-loops pipelines in the module. The pass runs on a copy with
    `emit-schedule`; `options` are its other options. Loops in a pipelined loop have a schedule too. A loop that is not
    pipelined does not have a schedule; the remark of the pass has the reason.

    In `smalti.compile`, the schedules must be read before the pass (`before:smalti-pipeline-loops`). Raises PipelineError
    if the loops are pipelined already."""
    at_block_level = _other_level(module) is None
    for function, name in _functions(module):
        stages = function.attributes.get(_PIPELINED) if at_block_level else None
        if stages is not None and (count := ir.IntegerAttr(stages).value) > 1:
            raise PipelineError(
                f"plans.schedules: the loops of @{name} are already pipelined in {count} stages; the schedules must be read before",
                hint="read them at the point before:smalti-pipeline-loops, or with smalti.plans.of(module, target)",
            )
    copy = driver.clone(module)
    Pipeline().pipeline_loops(emit_schedule=True, **options).run(copy)
    found: list[Schedule] = []
    for function, name in _functions(copy):
        for loop in _operations(function):
            if "smalti.schedule" not in loop.attributes:
                continue
            facts: dict[str, Any] = _plain(loop.attributes["smalti.schedule"])
            buffers = tuple(
                LoopBuffer(one["name"], one["type"], one["slots"], one["shared"], one["barriers"])
                for one in facts["buffers"]
            )
            ops = tuple(
                ScheduledOp(
                    view.operation.name,
                    source_location(view.operation.location),
                    _numbers(view.operation.attributes["smalti.stage"]),
                    _numbers(view.operation.attributes["smalti.cluster"]),
                )
                for view in loop.regions[0].blocks[0].operations
                if "smalti.stage" in view.operation.attributes
            )
            found.append(
                Schedule(
                    function=name,
                    location=source_location(loop.location),
                    stages=facts["stages"],
                    mode=facts["mode"],
                    prefetched=facts["prefetched"],
                    barriers=facts["barriers"],
                    trip_count=facts.get("trip_count"),
                    is_guarded=facts["guarded"],
                    limit=facts.get("limit"),
                    buffers=buffers,
                    ops=ops,
                )
            )
    return _checked(found, module, "schedules", "the point must be before:smalti-pipeline-loops")


def of(source: driver.Source, target: str | targets.Target, **options: Any) -> Plans:
    """The plans of the kernels in a module for a GPU, without the generation of code.

    `source` is that of `smalti.compile`, and `options` are those of `smalti-compile`, such as `stages=3`. The layouts are
    those of the level `mosaic`, the schedules those of smalti-pipeline-loops, and the shared memory that of the level
    `pipelined`.
    """
    found: dict[str, Any] = {}

    def step(name: str, function: Callable[[Any], Any]) -> Callable[[Any], None]:
        def read(module: Any) -> None:
            found[name] = function(module)

        return read

    steps = {
        "after:mosaic": step("layouts", layouts),
        "before:smalti-pipeline-loops": step("schedules", schedules),
        "after:pipelined": step("shared_memory", shared_memory),
    }
    module = driver.clone(driver.parse(source))
    insertion.lowering(targets.get(target), {**options, "passes": steps}).run(module, stage="pipelined")
    return Plans(**found)


# --- Reading of modules ---

_PIPELINED = "smalti.pipelined_stages"
"""The attribute of a function whose loops smalti-pipeline-loops has pipelined."""

_SPACES: dict[str, Space] = {
    "layouts": "registers",
    "transforms": "shared memory",
    "tmem_layouts": "tensor memory",
}
"""The attributes of operations that have layouts, after `in_` and `out_`."""


def _functions(module: Any) -> Iterator[tuple[Any, str]]:
    """The functions of a module with a body, and their names."""
    for op in _operations(module.operation):
        if op.name in ("func.func", "gpu.func") and len(op.regions[0].blocks):
            yield op, ir.StringAttr(op.attributes["sym_name"]).value


def _checked(
    found: list[_Plan],
    module: Any,
    what: str,
    required: str = "the module must be at the level mosaic or pipelined",
) -> tuple[_Plan, ...]:
    """The plans. An empty result of a module that is not at block level is a PipelineError."""
    if not found and (level := _other_level(module)):
        raise PipelineError(
            f"plans.{what} is not available at the level {level}; {required}",
            hint="smalti.plans.of(module, target) lowers a kernel at tile level" if level == "tile" else None,
        )
    return tuple(found)


def _other_level(module: Any) -> str | None:
    """The level of a module that is not at block level, or None."""
    names = {op.name for op in _operations(module.operation)}
    if "triton_xla.entry_func" in names:
        return "tile"
    if "llvm.return" in names:
        return "llvm"
    is_block_level = any(name.startswith("mosaic_gpu.") for name in names)
    return "thread" if "gpu.thread_id" in names and not is_block_level else None


def _operations(root: Any) -> Iterator[Any]:
    """The operations in an operation, before those in their regions."""
    for region in root.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from _operations(view.operation)


def _location_of(value: Any) -> SourceLocation | None:
    """The location of the operation that defines a value, or of the function for an argument."""
    owner = value.owner
    return source_location((owner.owner if isinstance(owner, ir.Block) else owner).location)


def _space(type: ir.Type) -> Space | None:
    """The kind of memory that has a layout in an attribute of its own."""
    from ..dialects import mosaic_gpu

    if isinstance(type, ir.VectorType):
        return "registers"
    if not isinstance(type, ir.MemRefType) or type.memory_space is None:
        return None
    if isinstance(type.memory_space, mosaic_gpu.TmemAttr):
        return "tensor memory"
    is_cluster = isinstance(type.memory_space, mosaic_gpu.SmemClusterAttr)
    return None if is_cluster or "mosaic_gpu.barrier" in str(type.element_type) else "shared memory"


def _layout(attribute: Any, space: Space) -> Layout:
    from ..dialects import mosaic_gpu

    if space == "shared memory":
        tile = swizzle = None
        for transform in ir.ArrayAttr(attribute):
            if isinstance(transform, mosaic_gpu.TileTransformAttr):
                tile = tuple(transform.tiling)
            elif isinstance(transform, mosaic_gpu.SwizzleTransformAttr):
                swizzle = transform.swizzle
        return SharedLayout(tile, swizzle)
    if isinstance(attribute, mosaic_gpu.WGSplatFragLayoutAttr):
        return SplatLayout(attribute.shape)
    return attribute.layout


def _numbers(attribute: Any) -> tuple[int, ...]:
    return tuple(attribute) if isinstance(attribute, ir.DenseI64ArrayAttr) else (attribute.value,)


def _plain(attribute: Any) -> Any:
    """An attribute as a Python object."""
    if isinstance(attribute, ir.DictAttr):
        return {named.name: _plain(named.attr) for named in cast(Any, attribute)}
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(item) for item in attribute]
    return str(attribute.value) if isinstance(attribute, ir.TypeAttr) else attribute.value
