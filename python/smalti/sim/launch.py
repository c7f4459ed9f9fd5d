# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of a kernel on arrays."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from ..diagnostics import counted
from ..errors import LaunchError
from .machine import values
from .machine.engines import TensorWork
from .machine.findings import Enough, Finding, Findings, Site, Stop, TimeLimit
from .machine.machine import Block, Cluster, Group, Machine, State, Three, place_names
from .machine.memory import Buffer, MemRef, Pointer
from .machine.options import Simulation, seed_of
from .machine.recorder import Recorder
from .machine.scheduler import Scheduler
from .machine.synchronization import Wait
from .ops.gpu import thread_id
from .threads.program import ThreadProgram
from .translation.bound_arguments import ArgumentMemory, BoundArgument, place_arguments
from .translation.program import Program


class _Host:
    """State in which the sizes of the launch are computed."""

    def __init__(self, slots: int, machine: Machine) -> None:
        self.v: list[Any] = [None] * slots
        self.loops: list[int] = []
        self.machine = machine

    def stop(self, kind: str, message: str, site: Site) -> NoReturn:
        raise LaunchError(f"{site.location}: {message}")

    report = stop


MOST_BLOCKS = 1 << 22
"""The most blocks of a run."""


@dataclass(frozen=True)
class Result:
    """The result of a run."""

    findings: tuple[Finding, ...]
    effective: frozenset[tuple[int, str]]
    """Ops, by number in the module, whose synchronization had an effect, with the mutation that would be an error:
    `removed`, `weakened` for a wait that could not leave one more group outstanding, `shared` for a slot after the
    first."""


def run(
    program: Program,
    bound: Sequence[BoundArgument],
    how: Simulation,
    recorder: Recorder | None = None,
    keep: bool = False,
) -> Result:
    """Runs a program on arrays. They are written if `keep` is not set and either the run is without findings or
    `continue_after_finding` is set. With a recorder, the group with the earliest time runs first."""
    findings = Findings(how.max_findings, how.continue_after_finding)
    machine = Machine(how, findings, recorder)
    try:
        return _run(program, bound, machine, keep)
    except TimeLimit as reached:
        raise _time_limit(program, machine, reached) from None


def _time_limit(program: Program, machine: Machine, reached: TimeLimit) -> LaunchError:
    """The error of a run that reached its time limit, with the findings so far."""
    who, site = reached.who, reached.site
    where = None
    if who is not None and site is not None:
        loops = tuple(i for i in who.loops if isinstance(i, int))
        where = Finding(
            "deadlock",
            "the run was in this loop",
            who.block.position,
            agent=who.name,
            location=site.location,
            iteration=loops,
        )
    found = machine.findings.all()
    message = (
        f"time limit of {machine.how.time_limit or 0:g} s reached; {machine.done} of {machine.total} blocks completed"
    )
    if reached.iterations is not None:
        message = f"a loop has {counted(reached.iterations, 'iteration')}, and the run does not have a time limit; the simulation would take hours"
    return LaunchError(
        f"@{program.name}: {message}",
        diagnostics=[*(finding.diagnostic() for finding in found), *([where.diagnostic("note")] if where else [])],
        hint="raise --time-limit SECONDS (Simulation.time_limit), or simulate fewer blocks with --blocks N (Simulation.blocks)",
        source=program.source,
    )


def _run(program: Program, bound: Sequence[BoundArgument], machine: Machine, keep: bool) -> Result:
    how, findings = machine.how, machine.findings
    of_threads = program if isinstance(program, ThreadProgram) else None
    places = place_arguments(bound, of_threads.buffer if of_threads else _buffer)
    if of_threads:
        initial = of_threads.initial(bound, places)
        of_threads = of_threads.launched(initial)
        launch = _Launch(initial, of_threads.grid, program.block, program.cluster, 0)
    else:
        launch = _launch(program, bound, places, machine)
    grid, block = launch.grid, launch.block
    for what, sizes in (("grid", grid), ("block", block), ("cluster", launch.cluster)):
        if min(sizes) < 1:
            raise LaunchError(f"invalid {what} size {' x '.join(map(str, sizes))}; each dimension must be at least 1")
    if not 0 <= launch.shared_bytes <= program.most_shared_bytes:
        most = program.most_shared_bytes
        raise LaunchError(
            f"the launch requests {launch.shared_bytes} B of shared memory per block; the target has at most {most} B per block"
        )
    limit = 1024
    if math.prod(block) > limit:
        raise LaunchError(f"the block has {math.prod(block)} threads; a block has at most {limit} threads")
    machine.waiting.extend(_clusters(grid, launch.cluster, how.blocks))
    size = math.prod(launch.cluster)
    machine.total = len(machine.waiting) * size
    shares = _shares(how)
    try:
        if of_threads and of_threads.polls:
            machine.polling = True
            try:
                with np.errstate(all="ignore"):
                    _run_grid(machine, of_threads, launch, list(machine.waiting))
            except Stop:
                pass
            machine.progress(machine.total)
            machine.waiting.clear()
        while machine.waiting:
            machine.tick(None, None)
            before = len(machine.waiting)
            number, positions = machine.waiting.popleft()
            try:
                with np.errstate(all="ignore"):
                    if of_threads:
                        cluster = of_threads.start(machine, launch.values, number, positions)
                        Scheduler(machine, cluster.blocks, number).run()
                        cluster.check()
                    else:
                        _run_cluster(machine, program, launch, number, positions, next(shares))
            except Stop:
                pass
            # The clusters whose work it took have completed, too.
            machine.progress((before - len(machine.waiting)) * size)
    except Enough:
        pass
    if of_threads and of_threads.finish is not None:
        of_threads.finish(launch.values)
    if how.numbers and not keep and (how.continue_after_finding or not findings):
        for one, where in zip(bound, places, strict=True):
            if where is not None and one.parameter.written:
                one.array[...] = one.view(where).array()
    return Result(findings.all(), frozenset(machine.effective))


def _buffer(index: int, name: str, size: int, grain: int, read_only: bool) -> Buffer:
    """The memory of an argument."""
    _ = index
    return Buffer(name, np.zeros(size, np.uint8), grain, shared=False, read_only=read_only)


def _view(bound: BoundArgument, place: ArgumentMemory) -> MemRef:
    """The run-time value of an argument."""
    ty = bound.parameter.type.element_type
    if bound.parameter.packed == 1:
        return bound.view(place, values.numpy_type(ty))
    return replace(bound.view(place, np.dtype(np.int8)), packing=values.packing(ty, len(bound.shape) - 1))


@dataclass(frozen=True)
class _Launch:
    """The launch parameters that all blocks share."""

    values: list[Any]
    """The initial values of all threads."""
    grid: Three
    block: Three
    cluster: Three
    shared_bytes: int


def _clusters(grid: Three, cluster: Three, blocks: range | None) -> list[tuple[int, list[Three]]]:
    """The clusters that contain a block to run, with the number of the first block and the positions of all blocks."""
    if any(size % part for size, part in zip(grid, cluster, strict=True)):
        raise LaunchError(
            f"the grid size {grid} is not a multiple of the cluster size {cluster} in each dimension; change one of them"
        )
    count = math.prod(grid)
    if blocks is not None and blocks.stop > count:
        raise LaunchError(
            f"block {blocks.stop - 1} is selected, but the grid has {counted(count, 'block')}; select blocks from 0 to {count - 1}"
        )
    if len(numbers := blocks if blocks is not None else range(count)) > MOST_BLOCKS:
        raise LaunchError(
            f"{len(numbers)} blocks exceed the limit of {MOST_BLOCKS} blocks per run; select blocks with Simulation.blocks or --blocks"
        )
    found: dict[Three, tuple[int, list[Three]]] = {}
    for number in numbers:
        position = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        x, y, z = (at // size * size for at, size in zip(position, cluster, strict=True))
        if (x, y, z) not in found:
            inside = ((i, j, k) for k in range(cluster[2]) for j in range(cluster[1]) for i in range(cluster[0]))
            found[x, y, z] = (number, [(x + i, y + j, z + k) for i, j, k in inside])
    return list(found.values())


def _launch(
    program: Program, bound: Sequence[BoundArgument], places: Sequence[ArgumentMemory | None], machine: Machine
) -> _Launch:
    """The launch parameters of a program."""
    host: State = _Host(program.slots, machine)
    if program.host is None:
        for slot, one, where in zip(program.arguments, bound, places, strict=True):
            host.v[slot] = _view(one, where) if where is not None else one.number()
        return _Launch(host.v, program.grid, program.block, program.cluster, program.shared_bytes)
    assert program.table is not None and program.host.step is not None
    last = max((one.parameter.index for one in bound), default=-1)
    table: list[Pointer | None] = [None] * (last + 1)
    for one, where in zip(bound, places, strict=True):
        table[one.parameter.index] = Pointer(where.buffer, where.offset) if where is not None else None
    host.v[program.table] = Pointer(table, 0)
    program.host.step(host)

    def three(names: Sequence[str]) -> Three:
        x, y, z = (host.v[program.launch_operands[name][0]] for name in names)
        return x, y, z

    shared = program.launch_operands.get("shared")
    names = ("cx", "cy", "cz")
    cluster = three(names) if program.launch_operands.get("cx") else program.cluster
    bytes_of = host.v[shared[0]] if shared else 0
    return _Launch(host.v, three(("gx", "gy", "gz")), three(("bx", "by", "bz")), cluster, bytes_of)


def _block(machine: Machine, program: Program, launch: _Launch, position: Three, cluster: Cluster) -> None:
    grid, sizes = launch.grid, launch.block
    block = Block(machine, position, launch.shared_bytes, program.grain, cluster)
    block.tensor_grain = program.tensor_grain
    threads = math.prod(sizes)
    names = block.names = place_names(position, grid, sizes, launch.cluster)
    names["threads"] = (threads,)
    size = threads if program.group_threads is None else program.group_threads
    if size < 1 or size % 32 or threads % 32 or size > threads:
        raise LaunchError(
            f"a block has {counted(threads, 'thread')}, and a thread group has {counted(size, 'thread')}; both numbers must be multiples of 32, and a "
            "thread group must not be larger than the block"
        )
    for index, first in enumerate(range(0, threads, size)):
        name = "the block" if program.group_threads is None else f"warpgroup {index}"
        # The last group may be smaller: warps that only copy.
        group = Group(block, index, first, min(size, threads - first), list(launch.values), name)
        bound = (
            *position,
            *(thread_id(group, i) for i in range(3)),
            *grid,
            *sizes,
            *names["cluster_id"],
            *names["cluster_dim"],
        )
        for slot, value in zip(program.launch_arguments, bound, strict=False):
            group.v[slot] = value
        group.program = _program(program, group)
        block.groups.append(group)


def _program(program: Program, group: Group) -> Generator[Wait | None, None, None]:
    body = program.body
    assert body.step is not None
    if body.blocking:
        yield from body.step(group)
    else:
        body.step(group)


def _run_grid(
    machine: Machine, program: ThreadProgram, launch: _Launch, clusters: list[tuple[int, list[Three]]]
) -> None:
    """Runs clusters that may wait for each other: a cluster starts when those before it have completed or wait."""
    waiting = iter(clusters[::-1] if machine.how.order == "highest-first" else clusters)
    started: list[Any] = []

    def more() -> Any:
        one = next(waiting, None)
        if one is None:
            return []
        started.append(program.start(machine, launch.values, *one))
        return started[-1].blocks

    Scheduler(machine, [], 0, more).run()
    for cluster in started:
        cluster.check()


def _shares(how: Simulation) -> Iterator[int]:
    """How many other clusters' work each requesting cluster gets: many, none, and numbers in between. A cluster that
    gets none requested after all clusters were launched; one that gets some requested before."""
    seed = seed_of(how.order)
    if seed is not None:
        chance = random.Random(f"shares {seed}")
        while True:
            yield chance.randrange(5)
    some = (0, 1, 3, 7) if how.order == "highest-first" else (7, 0, 1, 3)
    yield from itertools.cycle(some)


def _run_cluster(
    machine: Machine, program: Program, launch: _Launch, number: int, positions: list[Three], share: int
) -> None:
    cluster = Cluster(launch.cluster)
    cluster.share = share
    for position in positions:
        _block(machine, program, launch, position, cluster)
    Scheduler(machine, cluster.blocks, number).run()
    for block in cluster.blocks:
        _check_leaks(block, cluster)
    cluster.check_remote_accesses()


def _check_leaks(block: Block, cluster: Cluster) -> None:
    """Reports asynchronous operations that are outstanding at the end of the kernel."""
    groups = [one for block in cluster.blocks for group in block.groups for one in group.all()]
    for copy in block.started:
        if not any(group.known.seen.get(agent, 0) >= step for agent, step in copy.ends for group in groups):
            copy.group.report("leak", copy.leaks, copy.site, hint="wait for the mbarrier phase that the copy completes")
    told: set[int] = set()
    for group in (one for member in block.groups for one in member.all()):
        for stream, what, hint in (
            (group.wgmmas, "wgmma", "wait with nvvm.wgmma.wait.group 0"),
            (group.bulk, "the copy out of shared memory", "wait with nvvm.cp.async.bulk.wait_group 0"),
            (group.tensor, "tcgen05 work", "execute mosaic_gpu.tcgen05_commit_arrive and wait for its mbarrier"),
            (group.copies, "the copy into shared memory", "wait with mosaic_gpu.async_wait_group 0"),
        ):
            if stream.agent in told:
                continue
            told.add(stream.agent)
            for work in stream.in_flight():
                if isinstance(work, TensorWork) and work.followed:
                    continue
                without = "" if work not in stream.open else " and is not committed to a group"
                message = f"{what} is outstanding at the end of the kernel{without}; no wait covers it"
                group.report("leak", message, work.site, hint=hint)
