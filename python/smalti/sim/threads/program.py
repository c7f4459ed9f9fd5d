"""Programs of threads: from a `gpu.func` to code, and blocks that run it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import compiler, ir, targets, tensor_maps
from ...errors import CompileError, Diagnostic, LaunchError, source_location
from .. import values
from ..findings import Finding
from ..machine import Machine
from ..memory import MemRef
from ..options import seed_of
from ..program import Parameter, Program, Translated, Unsupported, attribute, three, walk
from .block import ThreadBlock
from .code import Label, ThreadTranslator
from .memory import SPACING, LaneBuffer, View
from .ops.tma import Map, element_bytes, stores
from .pending import PRODUCT, pending_values
from .shadow import LaneChecker, Side
from .team import Team


@dataclass
class ThreadProgram(Program):
    """A kernel of threads."""

    code: Any = None
    ranks: Any = None
    warp_size: int = 32
    dynamic_begin: int = 0
    maps: tuple[tuple[int, tensor_maps.TensorMap], ...] = ()
    """Slots of tensor maps."""
    constants: tuple[LaneBuffer, ...] = ()
    counts_accesses: bool = False
    """Whether waves have to wait for their accesses, as AMD's have."""
    unit: int = 1
    """Warps that run together: those of a warpgroup, where it multiplies."""

    def buffer(self, parameter: Parameter, array: np.ndarray[Any, Any]) -> Any:
        if parameter.scalar:
            return array.item() if array.dtype.kind in "ib" else array[()]
        span = 1 + sum((n - 1) * s for n, s in zip(parameter.shape, parameter.strides, strict=True))
        size = max(span, 0) * array.dtype.itemsize if all(parameter.shape) else 0
        buffer = LaneBuffer(
            f"argument {parameter.index}", size, array.dtype.itemsize, shared=False, read_only=not parameter.written
        )
        buffer.address = (parameter.index + 1) * SPACING
        view = self.view(parameter, buffer, array.dtype)
        MemRef(buffer, 0, view.shape, view.strides, array.dtype).array()[...] = array
        return buffer

    def view(self, parameter: Parameter, buffer: LaneBuffer, dtype: np.dtype[Any]) -> View:
        return View(buffer, 0, parameter.shape, tuple(s * dtype.itemsize for s in parameter.strides), dtype)

    def initial(self, buffers: Sequence[Any], arrays: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
        """The values that all threads begin with."""
        found: list[Any] = [None] * self.slots
        for slot, buffer, parameter, array in zip(self.arguments, buffers, self.parameters, arrays, strict=True):
            found[slot] = buffer if parameter.scalar else self.view(parameter, buffer, array.dtype)
        for slot, described in self.maps:
            found[slot] = Map(described, buffers[described.argument])
        return found

    def start(self, machine: Machine, initial: list[Any], number: int) -> RunningBlock:
        """A block that is about to run."""
        grid = self.grid
        position = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        block = RunningBlock(machine, self, position)
        views = [initial[slot] for slot in self.arguments]
        buffers = [*(view.buffer for view in views if isinstance(view, View)), *self.constants]
        block.program_buffers = {buffer.address // SPACING: buffer for buffer in buffers}
        block.begin(initial, number)
        return block


class RunningBlock(ThreadBlock):
    """A block of a program."""

    def __init__(self, machine: Machine, program: ThreadProgram, position: tuple[int, int, int]) -> None:
        threads = math.prod(program.block)
        super().__init__(machine, position, program.shared_bytes, program.grain, threads, program.warp_size)
        self.program = program
        if program.counts_accesses:
            self.count_accesses()
        self.program_buffers: dict[int, LaneBuffer] = {}
        """The buffers in global memory, by their addresses divided by SPACING."""
        self.ranks = program.ranks
        self.unit = program.unit if len(self.warps) % program.unit == 0 else 1
        for warp in self.warps:
            # A warpgroup starts products together, and a wait of one of its warps tells of all.
            warp.products = self.warps[warp.index // self.unit * self.unit].products
        self.dynamic_begin = program.dynamic_begin
        if machine.lane_checker is None:
            machine.lane_checker = LaneChecker(self._report)
        machine.lane_checker._report = self._report
        self.checker: LaneChecker = machine.lane_checker
        self.names = {
            "block_id": position,
            "block_dim": program.block,
            "grid_dim": program.grid,
            "cluster_block_id": (0, 0, 0),
            "cluster_dim_blocks": (1, 1, 1),
            "cluster_dim": program.grid,
            "cluster_id": position,
        }

    def begin(self, initial: list[Any], number: int) -> None:
        """Makes the teams: warps that run together until they part."""
        for warps in self._teams(number):
            self.groups.append(Team(self, warps, self.program.code, list(initial)))  # pyright: ignore[reportArgumentType]

    def _teams(self, number: int) -> list[Any]:
        order, warps = self.machine.how.order, self.warps
        units = [warps[i : i + self.unit] for i in range(0, len(warps), self.unit)]
        if len(units) < 2 or order == "round-robin":
            return [warps]
        seed = seed_of(order)
        if seed is not None:
            chosen = np.random.default_rng((seed, number)).integers(0, 2, len(units)).tolist()
        else:
            lone = {"first-ahead": 0, "last-ahead": len(units) - 1}.get(order, number % len(units))
            chosen = [int(i != lone) for i in range(len(units))]
        parts = [[w for unit, c in zip(units, chosen, strict=True) if c == which for w in unit] for which in (0, 1)]
        return [part for part in parts if part]

    def add(self, team: Team) -> None:
        """A team that parted from another."""
        self.groups.append(team)  # pyright: ignore[reportArgumentType]
        if self.on_new is not None:
            self.on_new(team)

    def _report(self, kind: str, before: Side, now: Side, buffer: LaneBuffer, low: int, high: int) -> None:
        now.block.report_race(kind, before, now, buffer, low, high)

    def report_race(self, kind: str, before: Side, now: Side, buffer: LaneBuffer, low: int, high: int) -> None:
        """A race, or a write that is not visible, in words."""
        place = f"bytes {low} to {high} of {buffer.name}"
        verb = "writes" if now.write else "reads"
        other = "write" if before.write else "read"
        if kind == "missing-fence":
            message = f"{now.what} {verb} {place}, which {before.what} wrote through the generic proxy"
            edge = "a proxy fence (nvvm.fence.proxy async.shared) between the write and it"
        else:
            message = f"{now.what} {verb} {place} while {before.what} may still {other} it"
            edge = missing_edge(before, now)
        note = Finding(
            kind,
            f"{before.what} {other}s it here",
            before.block.position,
            before.name,
            before.site.location,
            before.iteration,
        )
        self.machine.findings.add(
            Finding(kind, message, now.block.position, now.name, now.site.location, now.iteration, (note,), edge),
            alike=(before.what, now.what, before.block is now.block),
        )

    def check_leaks(self) -> None:
        """What is still in flight when the program is over."""
        for agent, step in list(self.covers):
            self.relies(agent, step)
        for flight in self.flights:
            flight.leaks("a copy into shared memory", "a wait for the phase of its barrier")
        for warp in self.warps:
            for what, edge, works in pending(warp):
                for work in works:
                    work.leaks(what, edge)


WAITS = {
    "copies": ("a copy into shared memory", "nvgpu.device_async_wait or nvvm.cp.async.wait.group 0"),
    "bulk": ("a copy out of shared memory", "nvvm.cp.async.bulk.wait_group 0"),
    "products": ("a product", "nvvm.wgmma.wait.group.sync.aligned 0"),
}
"""What the streams of a warp hold, and what waits for them."""


def pending(warp: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """What is in flight of a warp: in words, what waits for it, and the work."""
    for name, (what, edge) in WAITS.items():
        if name == "products" and warp.index % warp.block.unit:
            # The warps of a warpgroup have one.
            continue
        stream = getattr(warp, name)
        yield what, edge, stream.in_flight()
    for queue in warp.queues.values():
        yield queue.what, queue.edge, list(queue.pending())


def missing_edge(before: Side, now: Side) -> str:
    """What would order two accesses, in words."""
    if before.block is not now.block:
        return "nothing orders the blocks of a grid; each has to write memory of its own, or to use atomics"
    warp = before.warp
    in_step = {warp.agent} | {queue.agent for queue in warp.queues.values() if queue.is_of_accesses}
    if before.agent in in_step and warp is now.warp:
        return "places that differ, or one thread that does it: the threads of a warp do it at the same time"
    if before.agent != warp.agent:
        edges = {getattr(warp, name).agent: wait for name, (_, wait) in WAITS.items()}
        edges[warp.bulk.reads] = "nvvm.cp.async.bulk.wait_group"
        edges |= {queue.agent: queue.edge for queue in warp.queues.values()}
        if before.agent not in edges:
            return f"a wait by {now.warp.name} for the phase of the barrier that tells of {before.what}"
        wait = f"{edges[before.agent]} that covers it in {warp.name}"
        if before.thread == now.thread:
            return wait
        if warp.own.get(before.agent, 0) >= before.step:
            return f"a barrier behind the wait for it in {warp.name} that {now.warp.name} waits for"
        return f"{wait}, and a barrier behind it that {now.warp.name} waits for"
    return f"an arrival of {warp.name} behind it on a barrier that {now.warp.name} waits for before"


# ---------------------------------------------------------------------------------------------------------------------
# Loading
# ---------------------------------------------------------------------------------------------------------------------


def is_of_threads(function: Any) -> bool:
    """Whether a `gpu.func` is a program of threads: it has nothing of `mosaic_gpu`."""
    return not any(op.name.startswith("mosaic_gpu.") for op in walk(function))


def has_threads(module: ir.Module) -> bool:
    """Whether the kernels of a module are programs of threads."""
    kernels = [op for op in walk(module.operation) if op.name == "gpu.func"]
    return bool(kernels) and all(is_of_threads(op) for op in kernels)


def of_threads(
    name: str, function: Any, target: targets.Target, numbers: dict[Any, int], written: Any
) -> tuple[ThreadProgram, ThreadTranslator]:
    """The program of a `gpu.func`; problems are in the translator."""
    from . import ops  # noqa: F401  (the translations register themselves)

    warp_size = target.wave_size
    tr = ThreadTranslator(numbers, warp_size, target)
    place = source_location(function.location)
    grid = three(function, "known_grid_size", "gpu.known_grid_size")
    block = three(function, "known_block_size", "gpu.known_block_size")
    if grid is None or block is None:
        message = "the kernel does not state its known_block_size and known_grid_size"
        raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
    if math.prod(block) > 1024:
        raise LaunchError(f"a block of {math.prod(block)} threads; a GPU has at most 1024")
    blocks = list(function.regions[0].blocks)
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    arguments = list(blocks[0].arguments)
    maps = compiler.tensor_maps_of(function)
    last = count - len(maps)
    copied = {described.argument for described, value in zip(maps, arguments[last:], strict=False) if stores(value)}
    for described in maps:
        tr.uses_shared(element_bytes(described))
    parameters = []
    for index, argument in enumerate(arguments[:last]):
        try:
            parameters.append(_parameter(index, argument.type, index in copied or written(argument)))
        except Unsupported as problem:
            tr.problems.append(Diagnostic("error", str(problem), place))
    tr.pending = pending_values(op for op in walk(function) if op.name == PRODUCT)
    slots = [tr.slot(argument) for argument in arguments[:count]]
    _attributions(tr, arguments[count:])
    for one in blocks:
        tr.labels[one] = Label()
    for one in blocks:
        tr.place(tr.labels[one])
        tr.body(one)
        if _leaves(one):
            tr.control(lambda st: len(tr.chunks))
    code = tr.finish()
    begin = -(-tr.shared_end // 16) * 16
    # What the launch gives a kernel includes what it allocates itself.
    dynamic = max(tr.dynamic_bytes, attribute(function, "smalti.shared_memory_bytes", 0) - begin)
    return (
        ThreadProgram(
            name=name,
            parameters=tuple(parameters),
            host=None,
            table=None,
            arguments=slots[:last],
            maps=tuple(zip(slots[last:], maps, strict=True)),
            body=Translated(None),
            slots=tr.count,
            grid=grid,
            block=block,
            cluster=(1, 1, 1),
            shared_bytes=begin + dynamic,
            grain=tr.grain,
            group_threads=None,
            launch_arguments=[],
            launch_operands={},
            source=None,
            location=place,
            code=code,
            ranks=tr.ranks,
            warp_size=warp_size,
            dynamic_begin=begin,
            constants=tuple(tr.constants.values()),
            counts_accesses=target.vendor == "amd",
            unit=4 if tr.warpgroups else 1,
        ),
        tr,
    )


def _leaves(block: Any) -> bool:
    return list(block.operations)[-1].operation.name in ("gpu.return", "func.return")


def _attributions(tr: ThreadTranslator, arguments: list[Any]) -> None:
    """Buffers of the function's own: in shared memory, then private ones."""
    if not arguments:
        return
    from ..ops.memref import memory_space
    from .memory import PrivateBuffer, contiguous
    from .ops.memref import memory_dtype

    for argument in arguments:
        ty = argument.type
        shape, dtype = tuple(ty.shape), memory_dtype(ty)
        size = math.prod(shape) * dtype.itemsize
        strides = tuple(by * dtype.itemsize for by in contiguous(shape))
        slot = tr.slot(argument)
        tr.uses(ty)
        offset = tr.allocate(size) if memory_space(ty) == "shared" else None

        def step(
            st: Any, slot: int = slot, offset: Any = offset, size: int = size, view: Any = (shape, strides, dtype)
        ):
            buffer = st.block.shared if offset is not None else PrivateBuffer("private memory", st.lanes, size)
            st.v[slot] = View(buffer, offset or 0, *view, begin=offset or 0)

        tr.emit(step)


def _parameter(index: int, ty: Any, written: bool) -> Parameter:
    if not isinstance(ty, ir.MemRefType):
        if values.numpy_type(ty) is None:
            raise Unsupported(f"argument {index} of type {ty}")
        return Parameter(index, ty, (), (), False, scalar=True)
    if not ty.has_static_shape:
        raise Unsupported(f"argument {index} of type {ty}: its shape is not constant")
    if values.numpy_type(ty.element_type) is None:
        raise Unsupported(f"argument {index} of type {ty}: there is no numpy type for its elements")
    strides, _ = ty.get_strides_and_offset()
    return Parameter(index, ty, tuple(ty.shape), tuple(strides), written)
