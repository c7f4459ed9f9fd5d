"""Running a program on arrays."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LaunchError
from .findings import Enough, Finding, Findings, Stop
from .machine import Block, Cluster, Group, Machine, Scheduler
from .memory import Buffer, MemRef, Pointer
from .options import Simulation
from .program import Parameter, Program
from .synchronisation import Wait
from .threads.program import ThreadProgram
from .timeline import Recorder

Three = tuple[int, int, int]


class _Host:
    """What computes the sizes of the launch."""

    def __init__(self, slots: int) -> None:
        self.v: list[Any] = [None] * slots
        self.loops: list[int] = []

    def stop(self, kind: str, message: str, site: Any) -> None:
        raise LaunchError(f"{site.location}: {message}")

    report = stop


@dataclass(frozen=True)
class Result:
    """What a run showed."""

    findings: tuple[Finding, ...]
    effective: frozenset[tuple[int, str]]
    """Operations, by their numbers in the module, that mattered for what was ordered; with them what the mistake would
    be: `removed`, `weakened` for a wait that could leave no group more in flight, `shared` for a slot after the first."""


def run(
    program: Program, arrays: Sequence[np.ndarray[Any, Any]], how: Simulation, recorder: Recorder | None = None
) -> Result:
    """Runs a program on arrays, which are written where nothing was found, or where it is to go on. With a recorder, whoever is first in its time
    goes first."""
    of_threads = program if isinstance(program, ThreadProgram) else None
    make = of_threads.buffer if of_threads else _buffer
    buffers = [make(parameter, array) for parameter, array in zip(program.parameters, arrays, strict=True)]
    if of_threads:
        launch = _Launch(of_threads.initial(buffers, arrays), program.grid, program.block, (1, 1, 1), 0)
    else:
        launch = _launch(program, buffers)
    grid, block = launch.grid, launch.block
    limit = 1024
    if math.prod(block) > limit:
        raise LaunchError(f"a block of {math.prod(block)} threads; a GPU has at most {limit}")
    findings = Findings(how.max_findings, how.go_on)
    machine = Machine(how, findings, recorder)
    clusters = _clusters(grid, launch.cluster, how.blocks)
    count = len(clusters) * math.prod(launch.cluster)
    done = 0
    try:
        for number, positions in clusters:
            try:
                with np.errstate(all="ignore"):
                    if of_threads:
                        one = of_threads.start(machine, launch.values, number)
                        Scheduler(machine, [one], number).run()
                        one.check_leaks()
                    else:
                        _run_cluster(machine, program, launch, number, positions)
            except Stop:
                pass
            done += len(positions)
            if how.progress is not None:
                how.progress(done, count)
    except Enough:
        pass
    if how.numbers and (how.go_on or not findings):
        for array, buffer, parameter in zip(arrays, buffers, program.parameters, strict=True):
            if parameter.written:
                array[...] = _view(buffer, parameter).array()
    return Result(findings.all(), frozenset(machine.effective))


def _buffer(parameter: Parameter, array: np.ndarray[Any, Any]) -> Buffer:
    span = 1 + sum((n - 1) * s for n, s in zip(parameter.shape, parameter.strides, strict=True))
    itemsize = array.dtype.itemsize
    buffer = Buffer(
        f"argument {parameter.index}",
        np.zeros(span * itemsize, np.uint8),
        itemsize,
        shared=False,
        read_only=not parameter.written,
    )
    _view(buffer, parameter, array.dtype).array()[...] = array
    return buffer


def _view(buffer: Buffer, parameter: Any, dtype: np.dtype[Any] | None = None) -> MemRef:
    from . import values

    found = dtype or values.numpy_type(parameter.type.element_type)
    assert found is not None
    return MemRef(buffer, 0, parameter.shape, tuple(s * found.itemsize for s in parameter.strides), found)


@dataclass(frozen=True)
class _Launch:
    """What all blocks have in common."""

    values: list[Any]
    """The values that all threads begin with."""
    grid: Three
    block: Three
    cluster: Three
    shared_bytes: int


def _clusters(grid: Three, cluster: Three, blocks: range | None) -> list[tuple[int, list[Three]]]:
    """The clusters of which a block is to run, with the number of its first block and the places of all."""
    if any(size % part for size, part in zip(grid, cluster, strict=True)):
        raise LaunchError(f"a grid of {grid} blocks is no number of clusters of {cluster}")
    count = math.prod(grid)
    if blocks is not None and blocks.stop > count:
        raise LaunchError(f"block {blocks.stop - 1} of a grid of {count} blocks")
    found: dict[Three, tuple[int, list[Three]]] = {}
    for number in blocks if blocks is not None else range(count):
        position = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        x, y, z = (at // size * size for at, size in zip(position, cluster, strict=True))
        if (x, y, z) not in found:
            inside = ((i, j, k) for k in range(cluster[2]) for j in range(cluster[1]) for i in range(cluster[0]))
            found[x, y, z] = (number, [(x + i, y + j, z + k) for i, j, k in inside])
    return list(found.values())


def _launch(program: Program, buffers: list[Buffer]) -> _Launch:
    """What a launch gives to all blocks."""
    host = _Host(program.slots)
    if program.host is None:
        for slot, buffer, parameter in zip(program.arguments, buffers, program.parameters, strict=True):
            host.v[slot] = _view(buffer, parameter)
        return _Launch(host.v, program.grid, program.block, program.cluster, program.shared_bytes)
    assert program.table is not None and program.host.step is not None
    host.v[program.table] = Pointer(list(buffers), 0)
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
    inside = tuple(at % size for at, size in zip(position, launch.cluster, strict=True))
    which = tuple(at // size for at, size in zip(position, launch.cluster, strict=True))
    clusters = tuple(count // size for count, size in zip(grid, launch.cluster, strict=True))
    block.names = {
        "block_id": position,
        "block_dim": sizes,
        "grid_dim": grid,
        "threads": (threads,),
        "cluster_block_id": inside,
        "cluster_dim_blocks": launch.cluster,
        "cluster_dim": clusters,
        "cluster_id": which,
    }
    size = program.group_threads or threads
    if threads % size or size % 32:
        raise LaunchError(f"a block of {threads} threads is no number of groups of {size}")
    for index in range(threads // size):
        name = f"warpgroup {index}" if program.group_threads else "the block"
        group = Group(block, index, index * size, size, list(launch.values), name)
        given = (*position, None, None, None, *grid, *sizes, *which, *clusters)
        for slot, value in zip(program.launch_arguments, given, strict=False):
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


def _run_cluster(machine: Machine, program: Program, launch: _Launch, number: int, positions: list[Three]) -> None:
    cluster = Cluster(launch.cluster)
    for position in positions:
        _block(machine, program, launch, position, cluster)
    Scheduler(machine, cluster.blocks, number).run()
    for block in cluster.blocks:
        _check_leaks(block)
    _check_ends(cluster)


def _check_ends(cluster: Cluster) -> None:
    """A block must not end before it knows of what others do to its shared memory."""
    for group, block, agent, step, what, site in cluster.remote:
        if not any(other.known.seen.get(agent, 0) >= step for other in block.groups):
            group.report(
                "leak",
                f"{what} in the shared memory of block {block.position}, which may have ended before",
                site,
                edge=f"a wait by block {block.position} for it, or a barrier of the cluster before its end",
            )


def _check_leaks(block: Block) -> None:
    """What is still in flight when the program is over."""
    for flight in block.flights:
        flight.group.report(
            "leak",
            flight.leaks,
            flight.site,
            edge="a wait for the phase of its barrier",
        )
    for group in block.groups:
        for stream, what, edge in (
            (group.products, "a product", "nvvm.wgmma.wait.group 0"),
            (group.bulk, "a copy out of shared memory", "nvvm.cp.async.bulk.wait_group 0"),
            (group.tensor, "work of the tensor core", "mosaic_gpu.tcgen05_commit_arrive and a wait for its barrier"),
            (group.copies, "a copy into shared memory", "mosaic_gpu.async_wait_group 0"),
        ):
            for work in stream.in_flight():
                without = "" if work not in stream.open else " and that no group holds"
                message = f"{what} that nothing waits for{without} before the program ends"
                group.report("leak", message, work.site, edge=edge)
