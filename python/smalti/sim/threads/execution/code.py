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
from ....diagnostics import Diagnostic, source_location
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
"""Of a vector of each thread: its registers, and what is spilled, are far less."""
ALIGNMENT = 1024
"""What allocations in shared memory are aligned to."""

Control = Callable[[Any], Any]
"""Decides where a team goes on: returns the place of a label, None for what follows, or a generator of `Wait`s, after
which it is what follows. It runs again if it split the team and returns `team.pc`."""


@dataclass(frozen=True)
class Chunk:
    """Steps, and the control after them. Each has the operation that it is of: operations may share a function."""

    steps: tuple[tuple[Step, Site | None], ...]
    control: Control | None = None
    site: Site | None = None
    """The operation of the control."""


class ThreadTranslator(Translator):
    """Translates the operations of one function of threads."""

    operations = THREAD_OPERATIONS
    of_packed = VIEWS_OF_PACKED | {"memref.extract_strided_metadata", "memref.extract_aligned_pointer_as_index"}

    def __init__(self, numbers: dict[Any, int], warp_size: int, target: Any, timed: bool = False) -> None:
        super().__init__(numbers, timed)
        self.warp_size = warp_size
        self.target = target
        self.chunks: list[Chunk] = []
        self._operation: Any = None
        """The one that is translated."""
        self._plain: list[tuple[Step, Site | None]] = []
        self.ranks: list[int] = []
        """For each slot the dimensions of a value that all threads have the same."""
        self.dtypes: list[Any] = []
        self.waits = 0
        """Operations so far that may have to wait."""
        self.graphs: dict[Any, Graph] = {}
        """Of blocks of several: what they belong to."""
        self.pending: set[Any] = set()
        """Values that a product may still write."""
        self.warpgroups = False
        """Whether four warps at a time multiply together."""
        self.polls = False
        """Whether threads may wait for others to change memory."""
        self.named: dict[str, int] = {}
        self.named_barriers: dict[str, int] = {}
        """Pointers to barriers of AMD's chips, by the names of globals."""
        self.named_barrier_count = 0
        self.constants: dict[str, LaneBuffer] = {}
        """Constants in global memory, by their names."""
        self.allocated = 0
        """Bytes of shared memory so far."""
        self.smallest = 16
        """Bytes of the smallest access of global memory through a pointer."""
        self.privates: list[int] = []
        """The slots of memory that each thread has for itself and pointers reach."""
        self.calls: list[str] = []
        """The functions whose code is emitted."""
        self.dynamic_bytes = 0
        """Bytes that are seen to be used of the shared memory whose size the launch says."""

    def slot(self, value: Any) -> int:
        known = self.count
        found = super().slot(value)
        if self.count > known:
            self.ranks.append(rank_of(value.type))
            self.dtypes.append(held_dtype(value.type))
        return found

    def temporary(self) -> int:
        """A slot for what an operation needs for a moment."""
        self.ranks.append(0)
        self.dtypes.append(None)
        self.count += 1
        return self.count - 1

    # -- Emitting ------------------------------------------------------------------------------------------------------

    def emit(self, step: Step) -> None:
        """Code that only computes, or touches memory."""
        self._plain.append((step, self._here()))

    def _here(self) -> Site | None:
        """The operation that is translated, for messages."""
        return self.site(self._operation) if self._operation is not None else None

    def _close(self) -> None:
        if self._plain:
            self.chunks.append(Chunk(tuple(self._plain)))
            self._plain = []

    def control(self, step: Control) -> None:
        """Code that may go elsewhere."""
        self._close()
        self.chunks.append(Chunk((), step, self._here()))

    def blocking(self, step: Control) -> None:
        """Code that may have to wait: returns a generator of `Wait`s."""
        self.waits += 1
        self.control(step)

    def place(self, label: Label) -> None:
        """Here is the label."""
        self._close()
        label.at = len(self.chunks)

    def finish(self) -> list[Chunk]:
        self._close()
        return self.chunks

    # -- Shared memory -------------------------------------------------------------------------------------------------

    def uses(self, ty: Any) -> None:
        """Memory of this type is accessed: its elements are what the shadow has an entry for."""
        if memory_space(ty) == "shared" and (dtype := dtype_of(ty.element_type)) is not None:
            self.uses_shared(dtype.itemsize)

    def allocate(self, size: int) -> int:
        """The first byte of an allocation in shared memory."""
        offset = -(-self.shared_end // ALIGNMENT) * ALIGNMENT
        self.allocated += size
        if self.allocated > self.target.shared_memory_per_block:
            most = self.target.shared_memory_per_block
            raise Unsupported(
                f"the kernel needs {self.allocated} B of shared memory; a block on {self.target.chip} has at most {most} B"
            )
        self.uses_shared(16, offset + size)
        return offset

    def of_name(self, name: str, size: int) -> int:
        """The first byte of what has a name in shared memory."""
        if name not in self.named:
            self.named[name] = self.allocate(size)
        return self.named[name]

    def named_barrier(self, name: str, count: int) -> int:
        """The pointer to the first of the barriers that a global is."""
        if name not in self.named_barriers:
            self.named_barriers[name] = NAMED_BARRIERS + self.named_barrier_count * NAMED_BARRIER_BYTES
            self.named_barrier_count += count
            if self.named_barrier_count > MOST_NAMED_BARRIERS:
                raise Unsupported(
                    f"the kernel has {self.named_barrier_count} named barriers; the limit is {MOST_NAMED_BARRIERS}"
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
        """The code of an operation."""
        outer, self._operation = self._operation, op
        self._translate(op)
        self._operation = outer

    def _translate(self, op: Any) -> None:
        for value in op.results:
            if isinstance(value.type, ir.VectorType) and math.prod(value.type.shape) > MOST_ELEMENTS:
                message = f"'{op.name}': a value of type {value.type} per thread exceeds the simulator's limits"
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
        """The code of a block but for its terminator; returns the slots of the terminator's operands."""
        operations = [view.operation for view in block.operations]
        ends = bool(operations) and operations[-1].name in TERMINATORS
        for op in operations[:-1] if ends else operations:
            self.operation(op)
        return self.operands(operations[-1]) if ends else []

    def blocks(self, region: Any, results: list[int]) -> None:
        """The code of a region of several blocks. `results` are the slots of what it gives."""
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
        """Gives lanes that do not run what they had."""
        site = self.site(op)

        def keep(st: Any) -> None:
            if st.mask is None or not st.frames or st.frames[-1].join is None:
                return
            for slot, copy in zip(kept, copies, strict=True):
                merged = merge(st.mask, st.v[slot], st.v[copy], self.ranks[slot], self.dtypes[slot])
                if merged is None and st.v[slot] is not None:
                    st.stop("divergence", "divergent condition: threads of a warp select different memrefs", site)
                st.v[slot] = merged

        return keep

    def only_block(self, region: Any) -> Any:
        if len(region.blocks) != 1:
            raise Unsupported("a region with several blocks")
        return region.blocks[0]

    def moves(self, sources: list[int], targets: list[int]) -> Step:
        """Code that gives values to other slots, all at once."""
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
        """Code that gives values to other slots for the lanes of a mask; the others keep what they have."""
        pairs = tuple(zip(sources, targets, strict=True))
        site = self.site(op)

        def move(st: Any, mask: Array) -> None:
            v = st.v
            found = []
            for source, target in pairs:
                merged = merge(mask, v[source], v[target], self.ranks[target], self.dtypes[target])
                if merged is None and v[source] is not None:
                    st.stop("divergence", "divergent condition: threads of a warp select different memrefs", site)
                found.append(merged)
            for value, (_, target) in zip(found, pairs, strict=True):
                v[target] = value

        return timing.moving(move, sources, targets) if self.timed else move


def _resolving(slots: list[int], site: Any) -> Step:
    """Registers that products write are to be computed with."""

    def step(st: Any) -> None:
        for slot in slots:
            st.v[slot] = resolve(st, st.v[slot], site)

    return step


TERMINATORS = {"scf.yield", "gpu.return", "func.return", "gpu.terminator", "gpu.yield"}
TERMINATORS |= {"affine.yield", "llvm.return", "vector.yield", "memref.alloca_scope.return", "scf.reduce.return"}


class Frame:
    """Control flow that is open."""

    __slots__ = ("join", "mask", "narrowed", "other", "values", "waiting")

    def __init__(self, mask: Array | None) -> None:
        self.mask = mask
        """The lanes that ran before."""
        self.narrowed = False
        """Whether fewer run now."""
        self.other: Array | None = None
        """Lanes that run later."""
        self.values: list[Any] = []
        """Numbers, one for all lanes or an array of one for each."""
        self.join: Label | None = None
        """Where lanes meet again that jumped to different places."""
        self.waiting: list[tuple[Label, Array]] = []
        """Places to which lanes have yet to go from there, and these lanes."""

    def take(self, lanes: Array, memo: dict[int, Any]) -> Frame:
        found = Frame(self.mask[lanes] if self.mask is not None else None)
        found.narrowed = self.narrowed
        found.other = self.other[lanes] if self.other is not None else None
        found.values = [take(value, lanes, 0, memo) for value in self.values]
        found.join = self.join
        found.waiting = [(label, mask[lanes]) for label, mask in self.waiting if mask[lanes].any()]
        return found


__all__ = ["Control", "Frame", "Graph", "Label", "ThreadTranslator", "Translated", "operation"]
