# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One launch: its memory, the emulator's process, and the findings of both."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import targets, toolchain
from ..calling import calls
from ..diagnostics import counted
from ..errors import LaunchError
from ..pace import MORE_TIME, Pace
from . import findings, process
from .library import Library
from .memory import Address, Array, Memory
from .options import MAX_WORKERS, Emulation

Dimensions = tuple[int, int, int]

_HINTS = "raise time_limit of smalti.Emulation, or run fewer blocks with its setting blocks"
_AFTER_TIMEOUT = (
    f"{MORE_TIME}; a loop does not terminate if its step is not positive, or if its induction variable overflows"
)
"""The hint of a `timeout`. Loops are branches in GPU code, so their steps are not checked."""


@dataclass(frozen=True)
class Launch:
    """A kernel with its arguments and sizes."""

    library: Library
    target: targets.Chip
    symbol: str
    grid: Dimensions
    block: Dimensions
    shared_bytes: int
    """Dynamic shared memory of a block, in addition to the static one."""
    arrays: Sequence[Array]
    values: Mapping[int, bytes]
    """The bytes of the other arguments."""
    addresses: Mapping[int, Address] = field(default_factory=dict[int, Address])
    """Addresses that the emulator writes into those values."""
    source: str | None = field(default=None, repr=False)
    """The text whose lines messages show, if it is not a file."""


def _describe(what: Launch, how: Emulation, memory: Memory) -> Iterator[str]:
    yield f"library {what.library.path}"
    yield f"kernel {what.symbol}"
    yield f"vendor {what.target.vendor}"
    yield f"architecture {what.target.architecture}"
    yield f"grid {_words(what.grid)}"
    yield f"block {_words(what.block)}"
    yield f"cluster {_words(what.library.kernels[what.symbol].cluster)}"
    yield f"wave {what.target.wave_size}"
    yield f"shared {what.shared_bytes}"
    # The lines of a kernel that prints are in the order of its blocks.
    workers = how.workers or (1 if what.library.prints else min(calls.num_threads(), MAX_WORKERS))
    yield f"workers {workers}"
    yield f"order {how.order}"
    yield f"copies {how.copies}"
    yield f"timeout {how.time_limit:g}"
    if how.blocks is not None:
        yield f"blocks {how.blocks.start} {how.blocks.stop}"
    yield from memory.description()
    for index, data in what.values.items():
        yield f"value {index} {data.hex()}"
    for index, address in what.addresses.items():
        yield f"address value {index} {address.offset} {memory.target(address)}"


def _words(sizes: Dimensions) -> str:
    return " ".join(map(str, sizes))


def run(what: Launch, how: Emulation) -> float:
    """Runs it in place and returns the time of the blocks in seconds. Findings raise an `EmulationError`."""
    executable = toolchain.require_emulator(how.sanitize)
    count = what.grid[0] * what.grid[1] * what.grid[2]
    if how.blocks is not None and how.blocks.stop > count:
        raise LaunchError(
            f"blocks {how.blocks.start}:{how.blocks.stop} is outside the grid, which has {counted(count, 'block')}; select blocks within 0:{count}"
        )
    cluster = what.library.kernels[what.symbol].cluster
    if any(size % blocks for size, blocks in zip(what.grid, cluster, strict=True)):
        raise LaunchError(f"@{what.symbol}: grid {what.grid} is not a multiple of the cluster size {cluster}")
    if how.blocks is not None and cluster != (1, 1, 1):
        raise LaunchError(f"@{what.symbol} has clusters of {cluster} blocks; `blocks` is not supported with clusters")
    memory = Memory(what.arrays)
    progress = how.progress
    if progress is None:
        title = f"@{what.symbol} on {what.target}"
        progress = Pace(lambda message: warnings.warn(f"{title}: {message}", RuntimeWarning, stacklevel=2), _HINTS)
    try:
        outcome = process.run(
            executable.path,
            _describe(what, how, memory),
            (memory.descriptor, what.library.descriptor),
            how.time_limit,
            progress,
        )
        found = [*findings.from_json(outcome.findings, what.library.path), *memory.findings()]
        if not found:
            memory.copy_back()
    finally:
        memory.close()
    if found:
        hint = _AFTER_TIMEOUT if any(finding.kind == "timeout" for finding in found) else None
        raise findings.error(f"@{what.symbol} on {what.target}", found, what.source, hint)
    assert outcome.seconds is not None
    return outcome.seconds
