# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread-level kernels: translation of a `gpu.func`, and the blocks that run it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import ir, targets
from ...calling import tensor_maps
from ...compiler import driver
from ...diagnostics import Diagnostic, counted, source_location
from ...errors import CompileError, LaunchError
from ..machine.explain import OF_CLUSTERS, between, conflicting, proxy_fence, unfenced
from ..machine.findings import Finding
from ..machine.machine import Machine, Three, place_names
from ..machine.options import seed_of
from ..ops.memref import memory_space
from ..translation.bound_arguments import ArgumentMemory, BoundArgument
from ..translation.program import Program, cluster_of, parameter, three
from ..translation.translator import Translated, Unsupported, attribute, walk
from . import ops  # noqa: F401  (the translations register themselves)
from .execution.block import ThreadBlock, ThreadCluster
from .execution.code import ALIGNMENT, ThreadTranslator
from .execution.converged_warps import ConvergedWarps
from .execution.events import Side
from .execution.memory import SPACING, LaneBuffer, PrivateBuffer, View
from .execution.pending import is_wgmma_op, pending_values
from .execution.shadow import LaneChecker
from .host import Host, is_of_threads, launches_of
from .ops.memory.memref import allocation
from .ops.nvidia.cluster import MOST_BLOCKS
from .ops.nvidia.tma import Map, element_bytes, stores

UNIT = 4
"""Warps of a warpgroup."""


@dataclass
class ThreadProgram(Program):
    """A thread-level kernel."""

    code: Any = None
    ranks: Any = None
    warp_size: int = 32
    dynamic_begin: int = 0
    maps: tuple[tuple[int, tensor_maps.TensorMap], ...] = ()
    """Slots of tensor maps."""
    constants: tuple[LaneBuffer, ...] = ()
    smallest: int = 16
    """Bytes of the smallest access of global memory through a pointer."""
    counts_accesses: bool = False
    """Whether waves must wait for their accesses, as on AMD."""
    unit: int = 1
    """Warps that stay together: those of a warpgroup with `wgmma`."""
    polls: bool = False
    """Whether threads may poll memory."""
    privates: tuple[int, ...] = ()
    """Slots of private memory that pointers reach."""
    allocated: tuple[int, ...] = ()
    """Slots of host arrays."""
    finish: Callable[[list[Any]], None] | None = None
    """The host ops after the launch."""
    grid_slots: tuple[int, ...] = ()
    """Slots of the grid sizes that the host computes."""

    def buffer(self, index: int, name: str, size: int, grain: int, read_only: bool) -> LaneBuffer:
        """The memory of an argument."""
        buffer = LaneBuffer(name, size, min(grain, self.smallest), shared=False, read_only=read_only)
        buffer.address = (index + 1) * SPACING
        return buffer

    def view(self, given: BoundArgument, place: ArgumentMemory) -> View:
        # For packed elements, offsets and strides count elements: only pointers reach them.
        shape, strides = given.of_elements()
        dtype = given.array.dtype
        steps = tuple(step * dtype.itemsize for step in strides)
        return View(place.buffer, place.offset, shape, steps, dtype, begin=place.offset)

    def initial(self, given: Sequence[BoundArgument], places: Sequence[ArgumentMemory | None]) -> list[Any]:
        """The initial values of all threads."""
        found: list[Any] = [None] * self.slots
        for slot, one, where in zip(self.arguments, given, places, strict=True):
            found[slot] = self.view(one, where) if where is not None else one.number()
        for slot, described in self.maps:
            where = places[described.argument]
            assert where is not None
            bound = described.bind(*given[described.argument].of_elements())
            found[slot] = Map(bound, where.buffer, where.offset)
        if self.host is not None and self.host.step is not None:
            self.host.step(found)
        return found

    def launched(self, values: list[Any]) -> ThreadProgram:
        """The program with the grid size that the host computed."""
        if not self.grid_slots:
            return self
        x, y, z = (int(values[slot]) for slot in self.grid_slots)
        return replace(self, grid=(x, y, z))

    def start(
        self, machine: Machine, initial: list[Any], number: int, positions: Sequence[tuple[int, int, int]]
    ) -> ThreadCluster:
        """A cluster of blocks that are ready to run."""
        cluster = ThreadCluster(machine, self.cluster)
        views = [initial[slot] for slot in (*self.arguments, *self.allocated)]
        buffers = [*(view.buffer for view in views if isinstance(view, View)), *self.constants]
        for index, position in enumerate(positions):
            block = RunningBlock(machine, self, position, cluster)
            block.program_buffers = {buffer.address // SPACING: buffer for buffer in buffers}
            block.begin(initial, number + index)
        return cluster


class RunningBlock(ThreadBlock):
    """A block of a program."""

    def __init__(
        self, machine: Machine, program: ThreadProgram, position: tuple[int, int, int], cluster: ThreadCluster
    ) -> None:
        threads, name = math.prod(program.block), "wave" if program.counts_accesses else "warp"
        sizes = (program.shared_bytes, program.grain, threads, program.warp_size)
        super().__init__(machine, position, *sizes, name, cluster)
        self.program = program
        if program.counts_accesses:
            self.count_accesses()
        self.independent = not program.counts_accesses
        self.program_buffers: dict[int, LaneBuffer] = {}
        """The buffers in global memory, by address divided by SPACING."""
        self.ranks = program.ranks
        self.unit = program.unit if len(self.warps) % program.unit == 0 else 1
        for warp in self.warps:
            # The warps of a warpgroup issue wgmma together, and a wait of one of them covers all.
            warp.wgmmas = self.warps[warp.index // self.unit * self.unit].wgmmas
        self.dynamic_begin = program.dynamic_begin
        if machine.lane_checker is None:
            machine.lane_checker = LaneChecker(self._report)
        machine.lane_checker._report = self._report
        self.checker: LaneChecker = machine.lane_checker
        self.names = place_names(position, program.grid, program.block, program.cluster)

    def begin(self, initial: list[Any], number: int) -> None:
        """Creates the converged warps, which run together until they diverge."""
        for warps in self._teams(number):
            self.groups.append(ConvergedWarps(self, warps, self.program.code, list(initial)))  # pyright: ignore[reportArgumentType]

    def _teams(self, number: int) -> list[Any]:
        order, warps = self.machine.how.order, self.warps
        units = [warps[i : i + self.unit] for i in range(0, len(warps), self.unit)]
        if len(units) < 2 or order == "round-robin":
            return [warps]
        seed = seed_of(order)
        if seed is not None:
            chosen = np.random.default_rng((seed, number)).integers(0, 2, len(units)).tolist()
        else:
            lone = {"lowest-first": 0, "highest-first": len(units) - 1}.get(order, number % len(units))
            chosen = [int(i != lone) for i in range(len(units))]
        parts = [[w for unit, c in zip(units, chosen, strict=True) if c == which for w in unit] for which in (0, 1)]
        return [part for part in parts if part]

    def add(self, team: ConvergedWarps) -> None:
        """Adds converged warps that were split from others."""
        self.groups.append(team)  # pyright: ignore[reportArgumentType]
        if self.on_new is not None:
            self.on_new(team)

    def _report(self, kind: str, before: Side, now: Side, buffer: LaneBuffer, low: int, high: int) -> None:
        now.block.report_race(kind, before, now, buffer, low, high)

    def report_race(self, kind: str, before: Side, now: Side, buffer: LaneBuffer, low: int, high: int) -> None:
        """Reports a race or a missing proxy fence."""
        place = f"bytes [{low}, {high}) of {buffer.name}"
        verb = "writes" if now.write else "reads"
        other = "write" if before.write else "read"
        if kind == "missing-fence":
            message = unfenced(f"{now.what} {verb}", place, before.what)
            hint = proxy_fence(buffer.shared)
        else:
            message = (
                f"data race: {now.what} {verb} {place}; it is not ordered with {conflicting(before.what, now.what)}"
            )
            hint = ordering_hint(before, now)
        note = Finding(
            kind,
            f"{before.what} {other}s these bytes here",
            before.block.position,
            agent=before.name,
            location=before.site.location,
            iteration=before.iteration,
        )
        self.machine.findings.add(
            Finding(
                kind,
                message,
                now.block.position,
                agent=now.name,
                location=now.site.location,
                iteration=now.iteration,
                others=(note,),
                hint=hint,
            ),
            alike=(before.what, now.what, before.block is now.block),
        )

    def check_leaks(self) -> None:
        """Reports asynchronous operations that are outstanding at the end of the kernel."""
        for agent, step in list(self.covers):
            self.relies(agent, step)
        for copy in self.started:
            if not self.is_known(copy.ends):
                copy.leaks("the copy into shared memory", "wait for the mbarrier phase that the copy completes")
        for warp in self.warps:
            for what, hint, works in pending(warp):
                for work in works:
                    work.leaks(what, f"wait with {hint}")


WAITS = {
    "copies": ("the copy into shared memory", "nvgpu.device_async_wait or nvvm.cp.async.wait.group 0"),
    "bulk": ("the copy out of shared memory", "nvvm.cp.async.bulk.wait_group 0"),
    "wgmmas": ("the wgmma", "nvvm.wgmma.wait.group.sync.aligned 0"),
}
"""The operations of a warp's streams, and the op that waits for them."""


def pending(warp: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """The outstanding operations of a warp: name, wait, and operations."""
    for name, (what, hint) in WAITS.items():
        if name == "wgmmas" and warp.index % warp.block.unit:
            # The warps of a warpgroup share one stream.
            continue
        stream = getattr(warp, name)
        yield what, hint, stream.in_flight()
    for queue in warp.queues.values():
        yield queue.what, queue.hint, list(queue.pending())


def ordering_hint(before: Side, now: Side) -> str:
    """The hint for a race: synchronization that would order the two accesses."""
    if before.block.cluster is not now.block.cluster:
        return (
            "blocks of a grid run in any order; let each block write different memory, or use an atomic release after the first "
            "access and an atomic acquire before the second, in a scope that includes both blocks"
        )
    warp = before.warp
    in_step = {warp.agent} | {queue.agent for queue in warp.queues.values() if queue.is_of_accesses}
    if before.agent in in_step and warp is now.warp and before.step:
        return (
            "place a barrier between the two accesses: gpu.barrier, or nvvm.bar.warp.sync if only threads of one warp access "
            "these bytes"
        )
    if before.agent in in_step and warp is now.warp:
        return "let the threads access different addresses, or let one thread do it; the threads of a warp execute the op together"
    if before.agent != warp.agent:
        edges = {getattr(warp, name).agent: wait for name, (_, wait) in WAITS.items()}
        edges[warp.bulk.reads] = "nvvm.cp.async.bulk.wait_group"
        edges |= {queue.agent: queue.hint for queue in warp.queues.values()}
        if before.agent not in edges:
            return f"let {now.warp.name} wait for the mbarrier phase that {before.what} completes"
        wait = f"wait for {before.what} in {warp.name} with {edges[before.agent]}"
        if warp is now.warp and (before.thread == now.thread or not before.block.independent):
            return wait
        if warp is now.warp:
            place = "place nvvm.bar.warp.sync or another barrier"
            why = f"the threads of {warp.name} are not in lockstep"
            if warp.own.get(before.agent, 0) < before.step:
                return f"{wait}, then {place} before the second access; {why}"
            return f"{place} between the wait for {before.what} and the second access; {why}"
        if warp.own.get(before.agent, 0) >= before.step:
            return (
                f"in {warp.name}, after its wait for {before.what}, place a barrier that {now.warp.name} also reaches"
            )
        return f"{wait}, then place a barrier that {now.warp.name} also reaches before the second access"
    if before.block is not now.block:
        return OF_CLUSTERS
    return between(warp.name, now.warp.name)


# ---------------------------------------------------------------------------------------------------------------------
# Loading
# ---------------------------------------------------------------------------------------------------------------------


def has_threads(module: ir.Module) -> bool:
    """Whether the kernels of a module are at thread level."""
    kernels = [op for op in walk(module.operation) if op.name == "gpu.func"]
    kernels += [op for _, op in launches_of(module.operation) if op.name == "gpu.launch"]
    return bool(kernels) and all(is_of_threads(op) for op in kernels)


def of_threads(
    name: str,
    function: Any,
    target: targets.Target,
    numbers: dict[Any, int],
    written: Any,
    timed: bool,
    launch: Any = None,
) -> tuple[ThreadProgram, ThreadTranslator]:
    """The program of a `gpu.func`, or of a host function with a launch; errors are in the translator."""
    warp_size = target.wave_size
    tr = ThreadTranslator(numbers, warp_size, target, timed)
    place = source_location(function.location)
    host = Host(function, launch, tr) if launch is not None else None
    kernel = host.kernel if host is not None else function
    grid, block, cluster = ((0, 0, 0), host.block, host.cluster) if host is not None else _sizes(function, place)
    if math.prod(block) > 1024:
        raise LaunchError(f"the block has {math.prod(block)} threads; a block has at most 1024 threads")
    if math.prod(cluster) > MOST_BLOCKS:
        raise LaunchError(f"the cluster has {math.prod(cluster)} blocks; a cluster has at most {MOST_BLOCKS} blocks")
    if math.prod(cluster) > 1 and target.vendor == "amd" and "tensor_counter" not in target.waits:
        raise CompileError(
            "",
            diagnostics=[
                Diagnostic(
                    "error",
                    f"the kernel has a cluster size, but {target.name} does not have clusters; remove the cluster size",
                    place,
                )
            ],
        )
    blocks = list(kernel.regions[0].blocks)
    count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    arguments = list(function.regions[0].blocks[0].arguments)
    maps = driver.tensor_maps_of(function) if host is None else ()
    last = count - len(maps)
    copied = {described.argument for described, value in zip(maps, arguments[last:], strict=False) if stores(value)}
    for described in maps:
        tr.uses_shared(element_bytes(described))
    parameters = []
    for index, argument in enumerate(arguments[:last]):
        try:
            parameters.append(parameter(index, argument.type, index in copied or written(argument)))
        except Unsupported as problem:
            tr.problems.append(Diagnostic("error", str(problem), place))
    tr.pending = pending_values(op for op in walk(kernel) if is_wgmma_op(op))
    slots = [tr.slot(argument) for argument in arguments[:count]]
    _attributions(tr, host.enter(tr) if host is not None else arguments[count:])
    if len(blocks) > 1:
        tr.blocks(kernel.regions[0], [])
    else:
        tr.body(blocks[0])
    code = tr.finish()
    threads, multiple = math.prod(block), UNIT * warp_size
    if tr.warpgroups and threads % multiple:
        message = f"the block has {counted(threads, 'thread')}; a kernel with wgmma requires a multiple of {multiple}, the threads of a warpgroup"
        tr.problems.append(Diagnostic("error", message, place))
    aligned = 16 if host is None else ALIGNMENT
    begin = -(-tr.shared_end // aligned) * aligned
    # The launch's shared memory includes the allocations of the kernel.
    dynamic = max(tr.dynamic_bytes, attribute(function, "smalti.shared_memory_bytes", 0) - begin)
    return (
        ThreadProgram(
            name=name,
            parameters=tuple(parameters),
            host=Translated(host.run) if host is not None else None,
            table=None,
            arguments=slots[:last],
            maps=tuple(zip(slots[last:], maps, strict=True)),
            body=Translated(None),
            slots=tr.count,
            grid=grid,
            block=block,
            cluster=cluster,
            shared_bytes=begin + (dynamic if host is None else host.shared_bytes),
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
            smallest=tr.smallest,
            counts_accesses=target.vendor == "amd",
            unit=UNIT if tr.warpgroups else 1,
            polls=tr.polls,
            privates=tuple(tr.privates),
            allocated=tuple(host.allocated) if host is not None else (),
            finish=host.finish if host is not None else None,
            grid_slots=host.grid_slots if host is not None else (),
        ),
        tr,
    )


def _sizes(function: Any, place: Any) -> tuple[Three | None, Three, Three]:
    """The grid, block and cluster sizes of a kernel."""
    grid = three(function, "known_grid_size", "gpu.known_grid_size")
    block = three(function, "known_block_size", "gpu.known_block_size")
    # The number of tiles of a tile-level kernel may depend on the arguments of a call.
    if block is None or (grid is None and "smalti.arguments" not in function.attributes):
        message = (
            "the kernel does not state its block and grid size; set the attributes known_block_size and known_grid_size"
        )
        raise CompileError("", diagnostics=[Diagnostic("error", message, place)])
    return grid, block, cluster_of(function)


def _attributions(tr: ThreadTranslator, arguments: list[Any]) -> None:
    """Allocates the memory attributions of the function: workgroup, then private."""
    if not arguments:
        return

    for argument in arguments:
        ty = argument.type
        size, view = allocation(ty)
        slot = tr.slot(argument)
        tr.uses(ty)
        offset = tr.allocate(size) if memory_space(ty) == "shared" else None

        def step(st: Any, slot: int = slot, offset: Any = offset, size: int = size, view: Any = view):
            buffer = st.block.shared if offset is not None else PrivateBuffer("private memory", st.lanes, size)
            st.v[slot] = View(buffer, offset or 0, *view, begin=offset or 0)

        tr.emit(step)
