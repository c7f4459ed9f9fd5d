"""Running a program on arrays."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LaunchError
from .findings import Enough, Finding, Findings, Stop
from .machine import Block, Group, Machine, Scheduler
from .memory import Buffer, MemRef, Pointer
from .options import Simulation
from .program import Parameter, Program
from .synchronisation import Wait
from .threads.program import RunningBlock, ThreadProgram
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
    """Runs a program on arrays, which are written where nothing was found. With a recorder, whoever is first in its time
    goes first."""
    of_threads = program if isinstance(program, ThreadProgram) else None
    make = of_threads.buffer if of_threads else _buffer
    buffers = [make(parameter, array) for parameter, array in zip(program.parameters, arrays, strict=True)]
    if of_threads:
        values, grid, block, shared_bytes = of_threads.initial(buffers, arrays), program.grid, program.block, 0
    else:
        values, grid, block, shared_bytes = _launch(program, buffers)
    limit = 1024
    if math.prod(block) > limit:
        raise LaunchError(f"a block of {math.prod(block)} threads; a GPU has at most {limit}")
    findings = Findings(how.max_findings)
    machine = Machine(how, findings, recorder)
    count = math.prod(grid)
    numbers = how.blocks if how.blocks is not None else range(count)
    if numbers.stop > count:
        raise LaunchError(f"block {numbers.stop - 1} of a grid of {count} blocks")
    try:
        for done, number in enumerate(numbers):
            position = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
            if of_threads:
                one = of_threads.start(machine, values, number)
            else:
                one = _block(machine, program, values, position, grid, block, shared_bytes)
            try:
                with np.errstate(all="ignore"):
                    Scheduler(machine, [one], number).run()
                one.check_leaks() if isinstance(one, RunningBlock) else _check_leaks(one)
            except Stop:
                pass
            if how.progress is not None:
                how.progress(done + 1, len(numbers))
    except Enough:
        pass
    if not findings and how.numbers:
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


def _launch(program: Program, buffers: list[Buffer]) -> tuple[list[Any], Three, Three, int]:
    """The values that all threads begin with, the grid, the block, and bytes of shared memory."""
    host = _Host(program.slots)
    if program.host is None:
        for slot, buffer, parameter in zip(program.arguments, buffers, program.parameters, strict=True):
            host.v[slot] = _view(buffer, parameter)
        return host.v, program.grid, program.block, program.shared_bytes
    assert program.table is not None and program.host.step is not None
    host.v[program.table] = Pointer(list(buffers), 0)
    program.host.step(host)

    def three(names: Sequence[str]) -> Three:
        x, y, z = (host.v[program.launch_operands[name][0]] for name in names)
        return x, y, z

    if any(host.v[slot] != 1 for name in ("cx", "cy", "cz") for slot in program.launch_operands.get(name, ())):
        raise LaunchError(f"@{program.name} runs in clusters of blocks, which the simulator does not know yet")
    shared = program.launch_operands.get("shared")
    return host.v, three(("gx", "gy", "gz")), three(("bx", "by", "bz")), host.v[shared[0]] if shared else 0


def _block(
    machine: Machine,
    program: Program,
    values: list[Any],
    position: Three,
    grid: Three,
    sizes: Three,
    shared_bytes: int,
) -> Block:
    block = Block(machine, position, shared_bytes, program.grain)
    threads = math.prod(sizes)
    block.names = {
        "block_id": position,
        "block_dim": sizes,
        "grid_dim": grid,
        "threads": (threads,),
        "cluster_block_id": (0, 0, 0),
        "cluster_dim_blocks": (1, 1, 1),
        "cluster_dim": grid,
        "cluster_id": position,
    }
    size = program.group_threads or threads
    if threads % size or size % 32:
        raise LaunchError(f"a block of {threads} threads is no number of groups of {size}")
    for index in range(threads // size):
        name = f"warpgroup {index}" if program.group_threads else "the block"
        group = Group(block, index, index * size, size, list(values), name)
        for slot, value in zip(program.launch_arguments, (*position, None, None, None, *grid, *sizes), strict=False):
            group.v[slot] = value
        group.program = _program(program, group)
        block.groups.append(group)
    return block


def _program(program: Program, group: Group) -> Generator[Wait | None, None, None]:
    body = program.body
    assert body.step is not None
    if body.blocking:
        yield from body.step(group)
    else:
        body.step(group)


def _check_leaks(block: Block) -> None:
    """What is still in flight when the program is over."""
    for flight in block.flights:
        flight.group.report(
            "leak",
            "a copy into shared memory that nothing waits for before the program ends",
            flight.site,
            edge="a wait for the phase of its barrier",
        )
    for group in block.groups:
        for stream, what, edge in (
            (group.products, "a product", "nvvm.wgmma.wait.group 0"),
            (group.bulk, "a copy out of shared memory", "nvvm.cp.async.bulk.wait_group 0"),
            (group.copies, "a copy into shared memory", "mosaic_gpu.async_wait_group 0"),
        ):
            for work in stream.in_flight():
                without = "" if work not in stream.open else " and that no group holds"
                message = f"{what} that nothing waits for{without} before the program ends"
                group.report("leak", message, work.site, edge=edge)
