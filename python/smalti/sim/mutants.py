# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutants: kernels with one synchronization error each, and whether the simulator catches them.

A mutation without effect is not a mutant: a barrier that orders nothing new, or a wait for a completed operation. The run of
the original kernel records which synchronization has an effect.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir
from ..compiler import driver
from ..diagnostics import SourceLocation, source_location
from ..errors import LaunchError
from ..inputs import with_strides
from .kernel import SimulatedKernel
from .loading import load
from .machine.findings import Finding
from .machine.options import Simulation
from .ops.cluster import REMOTE_ARRIVAL
from .translation.translator import attribute, normalized, walk

_MISTAKES = {
    "barrier removed": "removed",
    "wait removed": "removed",
    "commit removed": "removed",
    "fence dropped": "removed",
    "ordering weakened": "removed",
    "scope narrowed": "narrowed",
    "wait weakened by one": "weakened",
    "slots merged": "shared",
}
"""Mutations that are errors only if the synchronization has an effect."""

_RUN = ("phase flipped", "expect_tx too small", "expect_tx too large")
"""Mutations that are errors only if the op is executed."""

_ARRIVALS = ("nvvm.mbarrier.arrive", "nvgpu.mbarrier.arrive", "nvvm.cp.async.mbarrier.arrive", "mosaic_gpu.arrive")
_ARRIVALS += ("nvvm.mbarrier.arrive_drop", "nvvm.mbarrier.complete_tx")
_INITIALISATIONS = ("nvvm.mbarrier.init", "nvgpu.mbarrier.init")
_AWAITED = {
    "arrival removed": (
        *_ARRIVALS,
        "nvvm.mbarrier.arrive.expect_tx",
        "nvgpu.mbarrier.arrive.expect_tx",
        "rocdl.s.barrier.signal.var",
    ),
    "arrival count too large": (*_INITIALISATIONS, "rocdl.s.barrier.init", "rocdl.s.barrier.signal.var"),
    "arrival count too small": (*_INITIALISATIONS, "rocdl.s.barrier.init", "rocdl.s.barrier.signal.var"),
}
"""Mutations of mbarriers and named barriers that are errors only if a wait depends on the phase."""

Change = Callable[[Any], None]

SCHEDULES = (
    Simulation("adversarial", "late"),
    Simulation("round-robin", "late"),
    Simulation("highest-first", "early"),
    Simulation("random:1", "random:1"),
)
"""The schedules in which a mutant runs until it is caught."""


@dataclass(frozen=True)
class Mutant:
    """One mutation: the number of an op in the module, and what is done to it."""

    kind: str
    number: int
    operation: str
    location: SourceLocation | None
    change: Change = dataclasses.field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.location}: {self.operation}: mutation '{self.kind}'"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mutant."""

    mutant: Mutant
    findings: tuple[Finding, ...]
    wrong_numbers: bool
    schedule: Simulation | None
    """The schedule in which it was caught."""

    @property
    def caught(self) -> bool:
        return bool(self.findings) or self.wrong_numbers

    def __str__(self) -> str:
        if self.findings:
            what = f"killed: {self.findings[0].kind}"
        else:
            what = (
                "killed: wrong results"
                if self.wrong_numbers
                else "SURVIVED: the simulator does not detect this inserted error"
            )
        return f"{self.mutant}: {what}"


# ---------------------------------------------------------------------------------------------------------------------
# Mutations
# ---------------------------------------------------------------------------------------------------------------------


def _erase(op: ir.Operation) -> None:
    op.erase()


def _weaken(name: str) -> Change:
    def change(op: ir.Operation) -> None:
        old = ir.IntegerAttr(op.attributes[name])
        op.attributes[name] = ir.IntegerAttr.get(old.type, old.value + 1)

    return change


def _weaken_counters(op: ir.Operation) -> None:
    """Leaves one more group outstanding in a wait."""
    for name in ("load", "store", "ds", "tensor", "count"):
        if name in op.attributes:
            _weaken(name)(op)


def _weaken_waitcnt(architecture: str) -> Change:
    def change(op: ir.Operation) -> None:
        from .threads.ops.amd.rocdl import weakened_waitcnt

        old = ir.IntegerAttr(op.attributes["bitfield"])
        op.attributes["bitfield"] = ir.IntegerAttr.get(old.type, weakened_waitcnt(architecture, old.value))

    return change


def _set(name: str, value: Callable[[int], int]) -> Change:
    def change(op: ir.Operation) -> None:
        old = ir.IntegerAttr(op.attributes[name])
        op.attributes[name] = ir.IntegerAttr.get(old.type, value(old.value))

    return change


def _flip(operand: int) -> Change:
    """Flips the parity operand."""

    def change(op: Any) -> None:
        parity = op.operands[operand]
        with op.context, op.location, ir.InsertionPoint(op):
            one = ir.Operation.create(
                "arith.constant",
                results=[parity.type],
                attributes={"value": ir.IntegerAttr.get(parity.type, 1 if parity.type.width > 1 else -1)},
            )
            flipped = ir.Operation.create("arith.xori", results=[parity.type], operands=[parity, one.results[0]])
        op.operands[operand] = flipped.results[0]

    return change


def _compute(name: str, by: int) -> Change:
    """Changes the value of the second operand."""

    def change(op: ir.Operation) -> None:
        count = op.operands[1]
        with op.context, op.location, ir.InsertionPoint(op):
            number = ir.IntegerAttr.get(count.type, by)
            given = ir.Operation.create("arith.constant", results=[count.type], attributes={"value": number})
            other = ir.Operation.create(name, results=[count.type], operands=[count, given.results[0]])
        op.operands[1] = other.results[0]

    return change


def _answer(op: ir.Operation) -> None:
    """Replaces the result of a wait by "complete"."""
    with op.context, op.location, ir.InsertionPoint(op):
        i1 = ir.IntegerType.get_signless(1)
        yes = ir.Operation.create("arith.constant", results=[i1], attributes={"value": ir.IntegerAttr.get(i1, -1)})
    op.results[0].replace_all_uses_with(yes.results[0])
    op.erase()


def _is_used(op: ir.Operation) -> bool:
    return any(True for result in op.results for _ in result.uses)


def _weaken_nvgpu(name: str, default: int, bits: int) -> Change:
    def change(op: ir.Operation) -> None:
        old = ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else default
        with op.context:
            op.attributes[name] = ir.IntegerAttr.get(ir.IntegerType.get_signless(bits), old + 1)

    return change


def _share_slot(op: Any) -> None:
    """Uses the first slot in every iteration."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    kept = [op.operands[0], *list(op.operands)[1 + segments[1] :]]
    offsets = [max(0, v) if v >= 0 else 0 for v in ir.DenseI64ArrayAttr(op.attributes["static_offsets"])]
    segments[1] = 0
    attributes = {name: op.attributes[name] for name in ("static_sizes", "static_strides")}
    with op.context, op.location, ir.InsertionPoint(op):
        attributes["static_offsets"] = ir.DenseI64ArrayAttr.get(offsets)
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        memory = op.results[0].type
        strides, _ = memory.get_strides_and_offset()
        base_strides, base = op.operands[0].type.get_strides_and_offset()
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        offset = base if base == dynamic else base + sum(a * b for a, b in zip(offsets, base_strides, strict=True))
        layout = ir.StridedLayoutAttr.get(offset, strides)
        fixed = ir.MemRefType.get(memory.shape, memory.element_type, layout, memory.memory_space)
        made = ir.Operation.create("memref.subview", results=[fixed], operands=kept, attributes=attributes)
        cast = ir.Operation.create("memref.cast", results=[memory], operands=[made.results[0]])
    op.results[0].replace_all_uses_with(cast.results[0])
    op.erase()


_ATOMIC: dict[str, tuple[str, ...]] = {
    "llvm.atomicrmw": ("ordering",),
    "llvm.load": ("ordering",),
    "llvm.store": ("ordering",),
}
_ATOMIC["llvm.cmpxchg"] = ("success_ordering", "failure_ordering")
_MONOTONIC = 2


def _relax(op: ir.Operation) -> None:
    """Makes an atomic access relaxed."""
    for name in _ATOMIC[op.name]:
        old = ir.IntegerAttr(op.attributes[name])
        op.attributes[name] = ir.IntegerAttr.get(old.type, min(old.value, _MONOTONIC))


def _narrow(op: ir.Operation) -> None:
    """Narrows the scope to the thread itself."""
    op.attributes["syncscope"] = ir.StringAttr.get("singlethread", op.context)


_FENCES = {"nvvm.fence.proxy", "nvvm.fence.mbarrier.init", "nvvm.tcgen05.fence", "nvvm.wgmma.fence.aligned"}
_FENCES |= {"nvvm.fence.sync_restrict", "nvvm.fence.proxy.sync_restrict"}


def _changes(op: ir.Operation, architecture: str) -> Iterator[tuple[str, Change]]:
    name = op.name
    if name == "llvm.inline_asm":
        text = normalized(ir.StringAttr(op.attributes["asm_string"]).value)
        if text.startswith("bar.sync"):
            yield "barrier removed", _erase
        elif text == REMOTE_ARRIVAL:
            yield "arrival removed", _erase
        elif text.startswith(("membar.", "fence.sc.", "fence.acq_rel.")):
            yield "fence dropped", _erase
    elif name in _BARRIERS:
        yield "barrier removed", _erase
    elif name in ("rocdl.s.barrier.signal", "rocdl.s.barrier.wait"):
        yield "arrival removed" if name.endswith("signal") else "wait removed", _erase
    elif name == "rocdl.s.barrier.signal.var":
        yield "arrival removed", _erase
        yield from _member_counts(op)
    elif name == "rocdl.s.barrier.init":
        yield from _member_counts(op)
    elif name in _COUNTER_WAITS or name == "amdgpu.memory_counter_wait":
        yield "wait removed", _erase
        yield "wait weakened by one", _weaken_counters
    elif name == "rocdl.s.waitcnt":
        yield "wait removed", _erase
        yield "wait weakened by one", _weaken_waitcnt(architecture)
    elif name == "nvvm.mbarrier.try_wait":
        yield "wait removed", _answer
        yield "phase flipped", _flip(1)
    elif name in ("nvvm.mbarrier.try_wait.parity", "nvgpu.mbarrier.try_wait.parity", "mosaic_gpu.wait"):
        yield "wait removed", _erase
        yield "phase flipped", _flip(1)
    elif name in ("nvvm.wgmma.wait.group.sync.aligned", "nvvm.cp.async.bulk.wait_group"):
        yield "wait removed", _erase
        yield "wait weakened by one", _weaken("group")
    elif name == "mosaic_gpu.async_wait_group":
        yield "wait removed", _erase
        yield "wait weakened by one", _weaken("pending")
    elif name == "nvvm.cp.async.wait.group":
        yield "wait removed", _erase
        yield "wait weakened by one", _weaken("n")
    elif name == "nvgpu.device_async_wait":
        yield "wait removed", _erase
        yield "wait weakened by one", _weaken_nvgpu("numGroups", 0, 32)
    elif name == "nvgpu.warpgroup.mma":
        yield "wait weakened by one", _weaken_nvgpu("waitGroup", 1, 64)
    elif name in _COMMITS:
        yield "commit removed", _erase
    elif name in _FENCES:
        yield "fence dropped", _erase
    elif name in ("llvm.fence", "nvvm.memory.barrier", "nvvm.fence.sc.cluster"):
        yield "fence dropped", _erase
        if "syncscope" in op.attributes or name == "llvm.fence":
            yield "scope narrowed", _narrow
    elif name in _ATOMIC:
        orderings = [key for key in _ATOMIC[name] if key in op.attributes]
        if any(ir.IntegerAttr(op.attributes[key]).value > _MONOTONIC for key in orderings):
            yield "ordering weakened", _relax
        if any(ir.IntegerAttr(op.attributes[key]).value for key in orderings):
            yield "scope narrowed", _narrow
    elif name == "nvvm.tcgen05.wait" and attribute(op, "kind") == "store":
        yield "wait removed", _erase
    elif name == "mosaic_gpu.tcgen05_commit_arrive":
        yield "arrival removed", _erase
    elif name == "nvvm.cluster.wait":
        yield "wait removed", _erase
    elif name.startswith("nvvm.cluster.arrive"):
        yield "arrival removed", _erase
    elif name in _INITIALISATIONS:
        yield "arrival count too large", _compute("arith.addi", 1)
        count = op.operands[1].owner
        if (
            not isinstance(count, ir.Block)
            and count.name == "arith.constant"
            and ir.IntegerAttr(count.attributes["value"]).value > 1
        ):
            yield "arrival count too small", _compute("arith.subi", 1)
    elif name in ("nvvm.mbarrier.arrive.expect_tx", "nvgpu.mbarrier.arrive.expect_tx"):
        yield "expect_tx too small", _compute("arith.divui", 2)
        yield "expect_tx too large", _compute("arith.muli", 2)
        if not _is_used(op):
            yield "arrival removed", _erase
    elif name in _ARRIVALS and not _is_used(op):
        yield "arrival removed", _erase
    elif name == "mosaic_gpu.arrive_expect_tx" and "expect_tx" in op.attributes:
        yield "expect_tx too small", _set("expect_tx", lambda n: n // 2)
        yield "expect_tx too large", _set("expect_tx", lambda n: n * 2)
        yield "arrival removed", _erase
    elif name == "mosaic_gpu.initialize_barrier":
        yield "arrival count too large", _set("arrival_count", lambda n: n + 1)
        if ir.IntegerAttr(op.attributes["arrival_count"]).value > 1:
            yield "arrival count too small", _set("arrival_count", lambda n: n - 1)
    elif name == "memref.subview" and _is_slot(op):
        yield "slots merged", _share_slot


def _member_counts(op: ir.Operation) -> Iterator[tuple[str, Change]]:
    count = ir.IntegerAttr(op.attributes["memberCnt"]).value
    if count:
        yield "arrival count too large", _set("memberCnt", lambda n: n + 1)
    if count > 1:
        yield "arrival count too small", _set("memberCnt", lambda n: n - 1)


_BARRIERS = (
    "nvvm.bar.warp.sync",
    "gpu.barrier",
    "nvvm.barrier0",
    "nvvm.barrier",
    "amdgpu.lds_barrier",
    "rocdl.barrier",
    "rocdl.s.barrier",
)
_COUNTER_WAITS = tuple(f"rocdl.s.wait.{name}cnt" for name in ("load", "store", "ds", "async", "tensor"))
_COMMITS = ("nvvm.wgmma.commit.group.sync.aligned", "mosaic_gpu.async_commit_group", "nvvm.cp.async.commit.group")


def _is_slot(op: Any) -> bool:
    """Whether a view selects one of several slots of shared memory by a dynamic index."""
    memory = op.operands[0].type
    if "workgroup" not in str(memory.memory_space) or len(memory.shape) < 2 or memory.shape[0] == 1:
        return False
    offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    return offsets[0] < 0 and sizes[0] == 1


def mutants(module: ir.Module, architecture: str = "") -> list[Mutant]:
    """All mutations of a module for an architecture."""
    found = []
    for number, op in enumerate(walk(module.operation)):
        for kind, change in _changes(op, architecture):
            found.append(Mutant(kind, number, op.name, source_location(op.location), change))
    return found


def apply(module: ir.Module, *mistakes: Mutant) -> ir.Module:
    """A copy of the module with mutations."""
    copy = driver.clone(module)
    operations = list(walk(copy.operation))
    for mutant in mistakes:
        mutant.change(operations[mutant.number])
    copy.operation.verify()
    return copy


# ---------------------------------------------------------------------------------------------------------------------
# Detection
# ---------------------------------------------------------------------------------------------------------------------


def score(
    kernel: SimulatedKernel,
    arguments: Sequence[np.ndarray[Any, Any]],
    *,
    blocks: range | None = None,
    kinds: Sequence[str] | None = None,
    schedules: Sequence[Simulation] = SCHEDULES,
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """The outcomes of the mutants of a kernel, which must not have findings on these arguments."""
    wanted = _copies(arguments)
    effective: set[tuple[int, str]] = set()
    for schedule in schedules:
        wanted = _copies(arguments)
        result = kernel.run(*wanted, simulation=dataclasses.replace(schedule, blocks=blocks))
        if result.findings:
            raise LaunchError(f"@{kernel.name} has a finding without any mutation: {result.findings[0]}")
        effective |= result.effective
    possible = mutants(kernel.module, kernel.target.architecture)
    chosen = [m for m in possible if kinds is None or m.kind in kinds]
    chosen = [m for m in chosen if m.kind not in _MISTAKES or (m.number, _MISTAKES[m.kind]) in effective]
    chosen = [m for m in chosen if m.kind not in _RUN or (m.number, "run") in effective]
    chosen = [m for m in chosen if m.operation not in _AWAITED.get(m.kind, ()) or (m.number, "awaited") in effective]
    outcomes = []
    for done, mutant in enumerate(chosen):
        outcomes.append(_try(_changed(kernel, [mutant]), mutant, arguments, wanted, blocks, schedules))
        if progress is not None:
            progress(done + 1, len(chosen))
    # A mutation that other synchronization makes redundant is not an error if removing both is caught.
    others = [m for m in possible if m.kind in _MISTAKES]

    @functools.cache
    def kinds_of_findings(*mistakes: Mutant) -> frozenset[Any]:
        """How mutations are caught, in any schedule."""
        changed = _changed(kernel, mistakes)
        each = [_try(changed, mistakes[0], arguments, wanted, blocks, [schedule]) for schedule in schedules]
        found = {(finding.kind, finding.location) for outcome in each for finding in outcome.findings}
        return frozenset(found | {outcome.wrong_numbers for outcome in each})

    def is_needless(mutant: Mutant) -> bool:
        near = sorted(others, key=lambda m: (m.kind != mutant.kind, abs(m.number - mutant.number)))
        return any(
            kinds_of_findings(mutant, other) - kinds_of_findings(other)
            for other in near
            if other.number != mutant.number
        )

    return [o for o in outcomes if o.caught or o.mutant.kind not in _MISTAKES or not is_needless(o.mutant)]


def _changed(kernel: SimulatedKernel, mistakes: Sequence[Mutant]) -> SimulatedKernel:
    """The kernel with mutations."""
    program = load(apply(kernel.module, *mistakes), kernel.name, kernel.target)
    return SimulatedKernel(program, kernel.target, kernel.module, kernel.entry)


def _copies(arguments: Sequence[Any]) -> list[Any]:
    """Copies with the same strides, which can be parameters of the kernel."""
    found = []
    for value in arguments:
        strided = isinstance(value, np.ndarray) and not any(n < 0 or n % value.itemsize for n in value.strides)
        found.append(with_strides(value, [n // value.itemsize for n in value.strides]) if strided else np.copy(value))
    return found


def _try(
    changed: SimulatedKernel,
    mutant: Mutant,
    arguments: Sequence[np.ndarray[Any, Any]],
    wanted: Sequence[np.ndarray[Any, Any]],
    blocks: range | None,
    schedules: Sequence[Simulation],
) -> Outcome:
    for schedule in schedules:
        values = _copies(arguments)
        found = changed.find(*values, simulation=dataclasses.replace(schedule, blocks=blocks))
        differ = not found and any(
            np.asarray(a).tobytes() != np.asarray(b).tobytes() for a, b in zip(values, wanted, strict=True)
        )
        if found or differ:
            return Outcome(mutant, found, differ, schedule)
    return Outcome(mutant, (), False, None)


__all__ = ["Mutant", "Outcome", "apply", "mutants", "score"]
