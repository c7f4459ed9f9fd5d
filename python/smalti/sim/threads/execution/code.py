# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation of a thread-level function to code for converged warps: chunks of steps with jumps between them.

The translation of an op returns a step, a function of the converged warps, or emits code itself: `control` for a step that
branches or waits, `label` for a jump target.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import ir
from ....diagnostics import Diagnostic, counted, source_location
from ...machine.findings import Site
from ...ops.memref import memory_space
from ...translation.translator import (
    OF_PHASES,
    THREAD_OPERATIONS,
    VIEWS_OF_PACKED,
    Step,
    Translated,
    Translator,
    Unsupported,
    registering,
)
from . import timing
from .graph import Graph, Label
from .lanes import Array, dtype_of, held_dtype, merge, rank_of, take
from .memory import FIRST_CONSTANT, MOST_NAMED_BARRIERS, NAMED_BARRIER_BYTES, NAMED_BARRIERS, SPACING, LaneBuffer
from .pending import computes, handing_on, is_transparent, resolve

operation = registering(THREAD_OPERATIONS)

MOST_ELEMENTS = 1 << 16
"""The limit of a per-thread vector: registers and spilled values are far smaller."""
ALIGNMENT = 1024
"""The alignment of allocations in shared memory."""

Control = Callable[[Any], Any]
"""Control flow of converged warps: returns the index of a label, None for the next chunk, or a generator of `Wait`s,
after which the next chunk follows. It runs again if it split the warps and returned `team.pc`."""


@dataclass(frozen=True)
class Chunk:
    """Steps, and the control after them. Each has its op, because ops may share a function."""

    steps: tuple[tuple[Step, Site | None], ...]
    control: Control | None = None
    site: Site | None = None
    """The op of the control."""


class ThreadTranslator(Translator):
    """Translates the ops of one thread-level function."""

    operations = THREAD_OPERATIONS
    of_packed = VIEWS_OF_PACKED | {
        *(
            f"memref.{name}"
            for name in ("extract_strided_metadata", "extract_aligned_pointer_as_index", "load", "reinterpret_cast")
        )
    }

    def __init__(self, numbers: dict[Any, int], warp_size: int, target: Any, timed: bool = False) -> None:
        super().__init__(numbers, timed)
        self.warp_size = warp_size
        self.target = target
        self.chunks: list[Chunk] = []
        self._operation: Any = None
        """The op that is being translated."""
        self._plain: list[tuple[Step, Site | None]] = []
        self.ranks: list[int] = []
        """For each slot the rank of a value that is uniform."""
        self.dtypes: list[Any] = []
        self.waits = 0
        """The number of ops so far that may wait."""
        self.graphs: dict[Any, Graph] = {}
        """The graphs of multi-block regions."""
        self.pending: set[Any] = set()
        """Values that a `wgmma` in flight may still write."""
        self.warpgroups = False
        """Whether the kernel uses `wgmma`, so that four warps stay together."""
        self.polls = False
        """Whether threads may poll memory."""
        self.named: dict[str, int] = {}
        self.named_barriers: dict[str, int] = {}
        """Pointers to AMD named barriers, by global name."""
        self.named_barrier_count = 0
        self.constants: dict[str, LaneBuffer] = {}
        """Constants in global memory, by name."""
        self.allocated = 0
        """Allocated bytes of shared memory."""
        self.smallest = 16
        """Bytes of the smallest access of global memory through a pointer."""
        self.privates: list[int] = []
        """The slots of private memory that pointers reach."""
        self.calls: list[str] = []
        """The functions that are being inlined."""
        self.dynamic_bytes = 0
        """Used bytes of dynamic shared memory, as far as statically known."""

    def slot(self, value: Any) -> int:
        known = self.count
        found = super().slot(value)
        if self.count > known:
            self.ranks.append(rank_of(value.type))
            self.dtypes.append(held_dtype(value.type))
        return found

    def temporary(self) -> int:
        """A temporary slot."""
        self.ranks.append(0)
        self.dtypes.append(None)
        self.count += 1
        return self.count - 1

    # -- Emitting ------------------------------------------------------------------------------------------------------

    def emit(self, step: Step) -> None:
        """Emits a step that only computes or accesses memory."""
        self._plain.append((step, self._here()))

    def _here(self) -> Site | None:
        """The op that is being translated, for messages."""
        return self.site(self._operation) if self._operation is not None else None

    def _close(self) -> None:
        if self._plain:
            self.chunks.append(Chunk(tuple(self._plain)))
            self._plain = []

    def control(self, step: Control) -> None:
        """Emits control flow."""
        self._close()
        self.chunks.append(Chunk((), step, self._here()))

    def blocking(self, step: Control) -> None:
        """Emits a step that may wait: it returns a generator of `Wait`s."""
        self.waits += 1
        self.control(step)

    def place(self, label: Label) -> None:
        """Places a label."""
        self._close()
        label.at = len(self.chunks)

    def finish(self) -> list[Chunk]:
        self._close()
        return self.chunks

    # -- Shared memory -------------------------------------------------------------------------------------------------

    def uses(self, ty: Any) -> None:
        """Records an access of memory of this type: the shadow has an entry per element."""
        if memory_space(ty) == "shared" and (dtype := dtype_of(ty.element_type)) is not None:
            self.uses_shared(dtype.itemsize)

    def allocate(self, size: int) -> int:
        """The first byte of an allocation in shared memory."""
        offset = -(-self.shared_end // ALIGNMENT) * ALIGNMENT
        self.allocated += size
        if self.allocated > self.target.shared_memory_per_block:
            most = self.target.shared_memory_per_block
            raise Unsupported.invalid(
                f"the kernel needs {self.allocated} B of shared memory; a block on {self.target.chip} has at most "
                f"{most} B"
            )
        self.uses_shared(16, offset + size)
        return offset

    def of_name(self, name: str, size: int) -> int:
        """The first byte of a shared-memory global."""
        if name not in self.named:
            self.named[name] = self.allocate(size)
        return self.named[name]

    def named_barrier(self, name: str, count: int) -> int:
        """The pointer to the first named barrier of a global."""
        if name not in self.named_barriers:
            self.named_barriers[name] = NAMED_BARRIERS + self.named_barrier_count * NAMED_BARRIER_BYTES
            self.named_barrier_count += count
            if self.named_barrier_count > MOST_NAMED_BARRIERS:
                raise Unsupported(
                    f"the kernel has {counted(self.named_barrier_count, 'named barrier')}; a block has at most {MOST_NAMED_BARRIERS}"
                )
        return self.named_barriers[name]

    def constant(self, name: str, content: bytes) -> int:
        """The address of a constant in global memory."""
        found = self.constants.get(name)
        if found is None:
            found = self.constants[name] = LaneBuffer(f"@{name}", len(content), 1, shared=False, read_only=True)
            found.data[: len(content)] = np.frombuffer(content, np.uint8)
            found.address = (FIRST_CONSTANT + len(self.constants)) * SPACING
        return found.address

    # -- Regions -------------------------------------------------------------------------------------------------------

    def operation(self, op: Any) -> None:
        """Emits the code of an op."""
        outer, self._operation = self._operation, op
        self._translate(op)
        self._operation = outer

    def _translate(self, op: Any) -> None:
        for value in op.results:
            if isinstance(value.type, ir.VectorType) and math.prod(value.type.shape) > MOST_ELEMENTS:
                message = f"'{op.name}': the result has type {value.type}; the simulator supports at most {MOST_ELEMENTS} elements per thread"
                self.problems.append(Diagnostic("error", message, source_location(op.location)))
                return
        if op.name in OF_PHASES:
            self.emit(self.runs(op))
        waiting = [self.slot(value) for value in op.operands if value in self.pending]
        if waiting and computes(op):
            self.emit(_resolving(waiting, self.site(op)))
        if self.timed and (count := timing.decides(op)):
            self.emit(timing.deciding(self.operands(op)[:count]))
        made = self.step(op)
        if made is None or made.step is None:
            return
        if waiting and is_transparent(op):
            try:
                self.emit(handing_on(op, self.operands(op), self.results(op)[0], made.step, self.site(op)))
            except Unsupported as problem:
                self.problems.append(Diagnostic("error", f"'{op.name}': {problem}", source_location(op.location)))
            return
        self.emit(made.step)

    def body(self, block: Any) -> list[int]:
        """Emits the code of a block without its terminator; returns the slots of the terminator's operands."""
        operations = [view.operation for view in block.operations]
        ends = bool(operations) and operations[-1].name in TERMINATORS
        for op in operations[:-1] if ends else operations:
            self.operation(op)
        return self.operands(operations[-1]) if ends else []

    def blocks(self, region: Any, results: list[int]) -> None:
        """Emits the code of a multi-block region. `results` are the slots of its results."""
        ends = not self.calls and region.owner.operation.name in ("gpu.func", "gpu.launch")
        graph = Graph(list(region.blocks), results, ends)
        graph.labels = {block: Label() for block in graph.blocks}
        self.graphs.update(dict.fromkeys(graph.blocks, graph))
        for block in graph.blocks:
            before = self.waits
            self.place(graph.labels[block])
            lost = graph.values_outside(block)
            for view in block.operations:
                kept = [self.slot(value) for value in view.operation.results if value in lost]
                copies = [self.temporary() for _ in kept]
                for slot, copy in zip(kept, copies, strict=True):
                    self.ranks[copy], self.dtypes[copy] = self.ranks[slot], self.dtypes[slot]
                if kept:
                    self.emit(self.moves(kept, copies))
                self.operation(view.operation)
                if kept:
                    self.emit(self._keeping(kept, copies, view.operation))
            if self.waits != before:
                graph.waiting.add(block)
        self.place(graph.end)

    def _keeping(self, kept: list[int], copies: list[int], op: Any) -> Step:
        """Restores the previous values of inactive lanes."""
        site = self.site(op)

        def keep(st: Any) -> None:
            if st.mask is None or not st.frames or st.frames[-1].join is None:
                return
            for slot, copy in zip(kept, copies, strict=True):
                merged = merge(st.mask, st.v[slot], st.v[copy], self.ranks[slot], self.dtypes[slot])
                if merged is None and st.v[slot] is not None:
                    st.stop(
                        "divergence",
                        "threads of a warp select different memrefs; the condition must be warp-uniform",
                        site,
                    )
                st.v[slot] = merged

        return keep

    def only_block(self, region: Any) -> Any:
        if len(region.blocks) != 1:
            raise Unsupported("a region of the op has several blocks; structured control flow (scf) is required")
        return region.blocks[0]

    def moves(self, sources: list[int], targets: list[int]) -> Step:
        """Emits simultaneous moves between slots."""
        pairs = tuple(zip(sources, targets, strict=True))

        def move(st: Any) -> None:
            v = st.v
            found = [v[source] for source, _ in pairs]
            for value, (_, target) in zip(found, pairs, strict=True):
                v[target] = value

        return timing.moving(move, sources, targets) if self.timed else move

    def _with_time(self, op: Any, step: Step) -> Step:
        return timing.with_time(op, step, self.operands(op), self.results(op), self.site(op))

    def merging(self, sources: list[int], targets: list[int], op: Any) -> Callable[[Any, Array], None]:
        """Emits moves between slots for the lanes of a mask; the other lanes keep their values."""
        pairs = tuple(zip(sources, targets, strict=True))
        site = self.site(op)

        def move(st: Any, mask: Array) -> None:
            v = st.v
            found = []
            for source, target in pairs:
                merged = merge(mask, v[source], v[target], self.ranks[target], self.dtypes[target])
                if merged is None and v[source] is not None:
                    st.stop(
                        "divergence",
                        "threads of a warp select different memrefs; the condition must be warp-uniform",
                        site,
                    )
                found.append(merged)
            for value, (_, target) in zip(found, pairs, strict=True):
                v[target] = value

        return timing.moving(move, sources, targets) if self.timed else move


def _resolving(slots: list[int], site: Any) -> Step:
    """Emits a step that resolves `wgmma` results before a computation."""

    def step(st: Any) -> None:
        for slot in slots:
            st.v[slot] = resolve(st, st.v[slot], site)

    return step


TERMINATORS = {"scf.yield", "gpu.return", "func.return", "gpu.terminator", "gpu.yield"}
TERMINATORS |= {"affine.yield", "llvm.return", "vector.yield", "memref.alloca_scope.return", "scf.reduce.return"}


class Frame:
    """An open control-flow frame."""

    __slots__ = ("join", "mask", "narrowed", "other", "values", "waiting")

    def __init__(self, mask: Array | None) -> None:
        self.mask = mask
        """The active lanes outside the frame."""
        self.narrowed = False
        """Whether fewer lanes are active inside."""
        self.other: Array | None = None
        """Lanes that run later."""
        self.values: list[Any] = []
        """Uniform scalars, or arrays with one number per lane."""
        self.join: Label | None = None
        """The point of reconvergence after divergent branches."""
        self.waiting: list[tuple[Label, Array]] = []
        """The remaining branch targets, and their lanes."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> Frame:
        found = Frame(self.mask[lanes] if self.mask is not None else None)
        found.narrowed = self.narrowed
        found.other = self.other[lanes] if self.other is not None else None
        found.values = [take(value, lanes, 0, memo) for value in self.values]
        found.join = self.join
        found.waiting = [(label, mask[lanes]) for label, mask in self.waiting if mask[lanes].any()]
        return found


__all__ = ["Control", "Frame", "Graph", "Label", "ThreadTranslator", "Translated", "operation"]
