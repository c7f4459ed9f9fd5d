# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts of the block-level kernel that a thread translates."""

from __future__ import annotations

import contextvars
import dataclasses

from ..language.types import Misuse
from ..targets import Target


@dataclasses.dataclass(frozen=True)
class Launch:
    """The facts that select a kernel besides its arguments."""

    target: Target
    grid: tuple[int, ...]
    num_warps: int
    """Warps of a thread group."""
    thread_groups: int
    cluster: tuple[int, ...]

    @property
    def group_size(self) -> int:
        """Threads of a thread group."""
        return self.num_warps * self.target.wave_size


@dataclasses.dataclass
class Block:
    """A kernel that is translated, and the shared memory that it has allocated."""

    launch: Launch
    bytes: int = 0
    aliases: int = 0

    def allocate(self, size: int, alignment: int) -> int:
        """The offset of `size` bytes of shared memory. Raises Misuse if the chip does not have them."""
        start = -(-self.bytes // alignment) * alignment
        self.reserve(start + size)
        return start

    def reserve(self, end: int) -> None:
        """States that the kernel uses shared memory up to byte `end`."""
        self.bytes = max(self.bytes, end)
        target = self.launch.target
        if self.bytes > (limit := target.shared_memory_per_block):
            raise Misuse(
                f"the kernel needs {self.bytes} B of shared memory; a block on {target} has at most {limit} B",
                "use smaller buffers, or fewer of them",
            )


CURRENT: contextvars.ContextVar[Block | None] = contextvars.ContextVar("block", default=None)


def current() -> Block:
    """The kernel that this thread translates. Raises RuntimeError outside of one."""
    block = CURRENT.get()
    if block is None:
        raise RuntimeError(
            'functions of smalti.block are only available in a function with @smalti.kernel(level="block")'
        )
    return block
