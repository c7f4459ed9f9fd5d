# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written pipelines of every kind of asynchronous copy, and detection of a wrong wait.

Each is straight-line code: tiles are copied to slots of shared memory before their use, and threads read tiles that
others copied. Each mutant drops or weakens one wait, barrier or slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
import smalti
from conftest import ROOT
from helpers import Array
from smalti import emulator, errors
from smalti.emulator import SCHEDULES, Emulation, tensor_map

THREADS = 128
TILES = 6
TILE_BYTES = 4 * THREADS


@dataclass(frozen=True)
class Step:
    """A part of a kernel. `kind` is its role; a mutant replaces its text."""

    kind: str
    text: str
    mutants: tuple[tuple[str, str], ...] = ()
    """The mutation, and the text."""


@dataclass(frozen=True)
class Pipeline:
    """A kernel that adds (1 + i) times tile i, backwards, with tiles prefetched into `slots` slots."""

    name: str
    target: str
    head: str
    steps: Callable[[int], list[Step]]
    tail: str
    arguments: Callable[[Array], Sequence[Any]]
    chips: tuple[str, ...]

    def text(self, steps: Sequence[Step]) -> str:
        return self.head + "\n".join(f"  {step.text}" for step in steps) + "\n" + self.tail


def consume(i: int, pointer: str, metadata: str = "") -> Step:
    before = f"%sum{i}" if i else "0.0"
    return Step(
        "read",
        f"""%r{i} = getelementptr i8, ptr addrspace(3) {pointer}, i32 %back
  %v{i} = load float, ptr addrspace(3) %r{i}{metadata}
  %w{i} = fmul float %v{i}, {float(i + 1)}
  %sum{i + 1} = fadd float {before}, %w{i}""",
    )


def in_order(
    slots: int, copy: Callable[[int, int], str], wait: Callable[[int], str], barrier: str, metadata: str
) -> list[Step]:
    """Copies with a wait counter: wait for the oldest, synchronize, issue the next one, read."""

    def issue(i: int) -> Step:
        slot = i % slots
        other = () if slots == 1 else (("into another slot", copy(i, (slot + 1) % slots)),)
        return Step(f"copy {i}", copy(i, slot), other)

    steps = [issue(i) for i in range(slots - 1)]
    for i in range(TILES):
        pending = min(slots - 2, TILES - 1 - i)
        steps.append(Step(f"wait {i}", wait(pending), (("removed", ""), (f"{pending + 1} pending", wait(pending + 1)))))
        steps.append(Step(f"barrier {i}", barrier, (("removed", ""),)))
        if i + slots - 1 < TILES:
            steps.append(issue(i + slots - 1))
        steps.append(consume(i, f"getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * (i % slots)})", metadata))
    return steps


# ---------------------------------------------------------------------------------------------------------------------
# AMD
# ---------------------------------------------------------------------------------------------------------------------

AMD_HEAD = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [4096 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.waitcnt(i32)
declare void @llvm.amdgcn.s.wait.asynccnt(i16)
declare void @llvm.amdgcn.s.wait.tensorcnt(i16)
declare void @llvm.amdgcn.load.to.lds.p1(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
declare void @llvm.amdgcn.global.load.async.to.lds.b32(ptr addrspace(1), ptr addrspace(3), i32, i32)
declare void @llvm.amdgcn.tensor.load.to.lds.d2(<4 x i32>, <8 x i32>, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %at = mul i32 %tid, 4
  %back = sub i32 508, %at
  %wave64 = lshr i32 %tid, 6
  %first64 = mul i32 %wave64, 256
  %wave32 = lshr i32 %tid, 5
  %first32 = mul i32 %wave32, 128
"""
AMD_TAIL = f"""  %o = getelementptr i8, ptr addrspace(1) %out, i32 %at
  store float %sum{TILES}, ptr addrspace(1) %o
  ret void
}}
!0 = distinct !{{!0}}
!1 = distinct !{{!1, !0}}
!2 = !{{!1}}
"""
BARRIER = "call void @llvm.amdgcn.s.barrier()"


def gather(i: int, slot: int) -> str:
    return f"""%g{i} = getelementptr i8, ptr addrspace(1) %in, i32 {TILE_BYTES * i}
  %p{i} = getelementptr i8, ptr addrspace(1) %g{i}, i32 %at
  %l{i} = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * slot}), i32 %first64
  call void @llvm.amdgcn.load.to.lds.p1(ptr addrspace(1) %p{i}, ptr addrspace(3) %l{i}, i32 4, i32 0, i32 0), !alias.scope !2"""


def async_load(i: int, slot: int) -> str:
    return f"""%g{i} = getelementptr i8, ptr addrspace(1) %in, i32 {TILE_BYTES * i}
  %p{i} = getelementptr i8, ptr addrspace(1) %g{i}, i32 %at
  %l{i} = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * slot}), i32 %at
  call void @llvm.amdgcn.global.load.async.to.lds.b32(ptr addrspace(1) %p{i}, ptr addrspace(3) %l{i}, i32 0, i32 0)"""


def tensor_load(i: int, slot: int) -> str:
    """Each wave of 32 copies a row of 32 floats."""
    return f"""%g{i} = getelementptr i8, ptr addrspace(1) %in, i32 {TILE_BYTES * i}
  %p{i} = getelementptr i8, ptr addrspace(1) %g{i}, i32 %first32
  %a{i} = ptrtoint ptr addrspace(1) %p{i} to i64
  %al{i} = trunc i64 %a{i} to i32
  %as{i} = lshr i64 %a{i}, 32
  %at{i} = trunc i64 %as{i} to i32
  %ah{i} = or i32 %at{i}, -2147483648
  %l{i} = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * slot}), i32 %first32
  %la{i} = ptrtoint ptr addrspace(3) %l{i} to i32
  %d0{i} = insertelement <4 x i32> <i32 1, i32 0, i32 0, i32 0>, i32 %la{i}, i32 1
  %d1{i} = insertelement <4 x i32> %d0{i}, i32 %al{i}, i32 2
  %d2{i} = insertelement <4 x i32> %d1{i}, i32 %ah{i}, i32 3
  call void @llvm.amdgcn.tensor.load.to.lds.d2(<4 x i32> %d2{i}, <8 x i32> <i32 131072, i32 2097152, i32 65536, i32 2097152, i32 1, i32 32, i32 0, i32 0>, i32 0)"""


def vmcnt(pending: int) -> str:
    return f"call void @llvm.amdgcn.s.waitcnt(i32 {0x0F70 | pending})"


def counted(name: str, copy: Callable[[int, int], str], wait: Callable[[int], str], *chips: str) -> Pipeline:
    def steps(slots: int) -> list[Step]:
        return in_order(slots, copy, wait, BARRIER, ", !noalias !2")

    return Pipeline(name, "amd", AMD_HEAD, steps, AMD_TAIL, lambda tiles: [tiles], chips)


# ---------------------------------------------------------------------------------------------------------------------
# NVIDIA
# ---------------------------------------------------------------------------------------------------------------------

NVIDIA_HEAD = """target triple = "nvptx64-nvidia-cuda"
@lds = internal addrspace(3) global [4096 x i8] undef, align 1024
@full = internal addrspace(3) global [8 x i64] undef, align 8
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7), ptr addrspace(3), ptr addrspace(1), i32, i16, i64, i1, i1)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
define ptx_kernel void @k(ptr %in, ptr %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = mul i32 %tid, 4
  %back = sub i32 508, %at
  %global = addrspacecast ptr %in to ptr addrspace(1)
  %cluster = addrspacecast ptr addrspace(3) @lds to ptr addrspace(7)
  %is_first = icmp eq i32 %tid, 0
  br label %b0
b0:
"""
NVIDIA_TAIL = f"""  %o = getelementptr i8, ptr %out, i32 %at
  store float %sum{TILES}, ptr %o
  ret void
}}
"""
SYNC = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
INIT = "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @full, i32 {slot}), i32 1)"


def full(slot: int) -> str:
    return f"getelementptr (i64, ptr addrspace(3) @full, i32 {slot})"


def tensor_tile(i: int, slot: int) -> str:
    return (
        f"call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d(ptr addrspace(7) %to{i}, ptr addrspace(3) {full(slot)}, "
        f"ptr %in, i32 {THREADS * i}, i16 0, i64 0, i1 false, i1 false, i32 0)"
    )


def bulk_tile(i: int, slot: int) -> str:
    return f"""%from{i} = getelementptr i8, ptr addrspace(1) %global, i32 {TILE_BYTES * i}
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7) %to{i}, ptr addrspace(3) {full(slot)}, ptr addrspace(1) %from{i}, i32 {TILE_BYTES}, i16 0, i64 0, i1 false, i1 false)"""


def with_barriers(copy: Callable[[int, int], str], arguments: Callable[[Array], Sequence[Any]], name: str) -> Pipeline:
    """One thread copies; a slot's barrier has a phase for each tile in the slot."""

    def issue(i: int, slots: int) -> Step:
        slot = i % slots

        def text(to: int, bytes_: int = TILE_BYTES, bar: int = slot) -> str:
            return f"""br i1 %is_first, label %copy{i}, label %b{i + 1}
copy{i}:
  %to{i} = getelementptr i8, ptr addrspace(7) %cluster, i32 {TILE_BYTES * to}
  %t{i} = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) {full(bar)}, i32 {bytes_})
  {copy(i, bar)}
  br label %b{i + 1}
b{i + 1}:"""

        mutants = [("into another slot", text((slot + 1) % slots)), ("without its bytes", text(slot, 0))]
        if slots > 1:
            mutants.append(("on another barrier", text(slot, bar=(slot + 1) % slots)))
        return Step(f"copy {i}", text(slot), tuple(mutants))

    def wait(i: int, slots: int) -> Step:
        def text(slot: int, parity: int) -> str:
            return (
                f"%d{i} = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta("
                f"ptr addrspace(3) {full(slot)}, i32 {parity})"
            )

        slot, parity = i % slots, i // slots & 1
        return Step(
            f"wait {i}", text(slot, parity), (("removed", ""), ("for the other parity", text(slot, 1 - parity)))
        )

    def steps(slots: int) -> list[Step]:
        result = [Step("init", "br i1 %is_first, label %init, label %begin\ninit:")]
        result += [Step("init", INIT.format(slot=slot)) for slot in range(slots)]
        result.append(Step("init", "br label %begin\nbegin:\n  " + SYNC))
        result += [issue(i, slots) for i in range(slots - 1)]
        for i in range(TILES):
            result.append(wait(i, slots))
            if i + slots - 1 < TILES:
                # A thread that reaches this point has read the previous tile, whose slot is refilled.
                if i > 0:
                    result.append(Step(f"barrier {i}", SYNC, (("removed", ""),)))
                result.append(issue(i + slots - 1, slots))
            result.append(consume(i, f"getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * (i % slots)})"))
        return result

    return Pipeline(name, "nvidia", NVIDIA_HEAD, steps, NVIDIA_TAIL, arguments, ("sm_90a",))


def cp_async(i: int, slot: int) -> str:
    return f"""%g{i} = getelementptr i8, ptr addrspace(1) %global, i32 {TILE_BYTES * i}
  %p{i} = getelementptr i8, ptr addrspace(1) %g{i}, i32 %at
  %l{i} = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * slot}), i32 %at
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %l{i}, ptr addrspace(1) %p{i})
  call void @llvm.nvvm.cp.async.commit.group()"""


def groups(slots: int) -> list[Step]:
    return in_order(slots, cp_async, lambda n: f"call void @llvm.nvvm.cp.async.wait.group(i32 {n})", SYNC, "")


PIPELINES = [
    counted("gather", gather, vmcnt, "gfx942", "gfx950"),
    counted("async", async_load, lambda n: f"call void @llvm.amdgcn.s.wait.asynccnt(i16 {n})", "gfx1250"),
    counted("tensor", tensor_load, lambda n: f"call void @llvm.amdgcn.s.wait.tensorcnt(i16 {n})", "gfx1250"),
    Pipeline("cp.async", "nvidia", NVIDIA_HEAD, groups, NVIDIA_TAIL, lambda tiles: [tiles], ("sm_80",)),
    with_barriers(tensor_tile, lambda tiles: [tensor_map(tiles, (THREADS,))], "tensor-tiles"),
    with_barriers(bulk_tile, lambda tiles: [tiles], "bulk"),
]
CASES = [(pipeline, chip, slots) for pipeline in PIPELINES for chip in pipeline.chips for slots in (2, 3, 4)]


def run(pipeline: Pipeline, chip: str, text: str, how: Emulation) -> bool:
    """Whether the numbers are right."""
    tiles = np.random.default_rng(7).integers(-9, 9, TILES * THREADS).astype(np.float32)
    out = np.zeros(THREADS, np.float32)
    emulator.load(text, f"emu:{chip}").launch(1, THREADS, *pipeline.arguments(tiles), out, emulation=how)
    weights = np.arange(1, TILES + 1, dtype=np.float32)[:, None]
    expected = (tiles.reshape(TILES, THREADS)[:, ::-1] * weights).sum(axis=0)
    return bool((out == expected).all())


def mutants(steps: Sequence[Step]) -> Iterator[tuple[str, list[Step]]]:
    for at, step in enumerate(steps):
        for what, text in step.mutants:
            yield f"{step.kind}: {what}", [*steps[:at], Step(step.kind, text), *steps[at + 1 :]]


def caught_by(pipeline: Pipeline, chip: str, text: str) -> str | None:
    """The first detector: wrong numbers, or the kind of a finding."""
    for how in SCHEDULES:
        try:
            if not run(pipeline, chip, text, how):
                return "numbers"
        except errors.EmulationError as error:
            return error.findings[0].kind
    for sanitizer in ("address", "thread"):
        for how in SCHEDULES[:4]:
            try:
                run(pipeline, chip, text, Emulation(order=how.order, copies=how.copies, sanitize=sanitizer))
            except errors.EmulationError as error:
                return error.findings[0].kind
    return None


def _id(value: Any) -> str:
    return value.name if isinstance(value, Pipeline) else str(value)


@pytest.mark.grid(6, cover=False)
@pytest.mark.parametrize("pipeline, chip, slots", CASES, ids=_id)
def test_pipelines(pipeline: Pipeline, chip: str, slots: int) -> None:
    """The kernel is right in every order, and the sanitizers have no findings."""
    assert caught_by(pipeline, chip, pipeline.text(pipeline.steps(slots))) is None


@pytest.mark.grid(3, cover=lambda pipeline, chip, slots: {pipeline.name, chip})
@pytest.mark.parametrize("pipeline, chip, slots", [c for c in CASES if c[2] == 3 and c[1] != "gfx942"], ids=_id)
def test_mutants(pipeline: Pipeline, chip: str, slots: int) -> None:
    """Each wait, barrier and slot is needed as it is, and its loss is seen."""
    missed, caught = [], {}
    for name, steps in mutants(pipeline.steps(slots)):
        means = caught_by(pipeline, chip, pipeline.text(steps))
        caught[name] = means
        if means is None:
            missed.append(name)
    assert not missed, caught


# ---------------------------------------------------------------------------------------------------------------------
# One thread copies, others read
# ---------------------------------------------------------------------------------------------------------------------

WAIT = "  %{0} = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) {1}, i32 {2})\n"


def producer_and_readers(*, last_wait: str = "true", arrives_early: bool = False) -> str:
    """The first thread of the last warp fills two slots; the others wait for a slot, read it, and signal that it is
    free.

    Mistakes are a condition under which they wait for the last tile, and readers that signal before they have read.
    """
    declarations = "@empty = internal addrspace(3) global [8 x i64] undef, align 8\n"
    declarations += "declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))\n"
    head = NVIDIA_HEAD.replace("define", declarations + "define").replace("  br label %b0\nb0:\n", "")
    text = head + "  br i1 %is_first, label %init, label %begin\ninit:\n"
    for slot in range(2):
        init = INIT.format(slot=slot)
        text += init + "\n" + init.replace("@full", "@empty").removesuffix("1)") + f"{THREADS})\n"
    text += f"""  br label %begin
begin:
  {SYNC}
  %reads = icmp ult i32 %tid, {THREADS}
  %copies = icmp eq i32 %tid, {THREADS}
  %odd = trunc i32 %tid to i1
  br i1 %reads, label %tile0, label %others
others:
  br i1 %copies, label %producer, label %end
producer:
"""
    for i in range(TILES):
        slot = i % 2
        if i >= 2:
            text += WAIT.format(f"e{i}", full(slot).replace("@full", "@empty"), (i // 2 - 1) & 1)
        text += f"  %to{i} = getelementptr i8, ptr addrspace(7) %cluster, i32 {TILE_BYTES * slot}\n"
        text += f"  %t{i} = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta("
        text += f"ptr addrspace(3) {full(slot)}, i32 {TILE_BYTES})\n  {tensor_tile(i, slot)}\n"
    text += "  br label %end\n"
    for i in range(TILES):
        slot = i % 2
        text += f"tile{i}:\n  br i1 {last_wait if i == TILES - 1 else 'true'}, label %wait{i}, label %go{i}\nwait{i}:\n"
        text += WAIT.format(f"f{i}", full(slot), i // 2 & 1) + f"  br label %go{i}\ngo{i}:\n"
        read = "  " + consume(i, f"getelementptr (i8, ptr addrspace(3) @lds, i32 {TILE_BYTES * slot})").text + "\n"
        free = f"  %a{i} = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) {full(slot)})\n"
        free = free.replace("@full", "@empty")
        text += free + read if arrives_early else read + free
        text += f"  br label %{f'tile{i + 1}' if i + 1 < TILES else 'last'}\n"
    return text + "last:\n" + NVIDIA_TAIL.replace("  ret void", "  br label %end\nend:\n  ret void")


def run_producer(how: Emulation, text: str) -> None:
    tiles = np.random.default_rng(7).integers(-9, 9, TILES * THREADS).astype(np.float32)
    out = np.zeros(THREADS, np.float32)
    module = emulator.load(text, "emu:sm_90a")
    module.launch(1, THREADS + 32, tensor_map(tiles, (THREADS,)), out, emulation=how)
    weights = np.arange(1, TILES + 1, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(out, (tiles.reshape(TILES, THREADS)[:, ::-1] * weights).sum(axis=0))


@pytest.mark.parametrize("sanitize", [None, "thread", "address"])
def test_a_thread_that_copies_for_others(sanitize: Literal["thread", "address"] | None) -> None:
    """The waiting thread performs a late copy, ordered after the earlier accesses of the issuing thread."""
    for how in SCHEDULES:
        run_producer(Emulation(order=how.order, copies=how.copies, sanitize=sanitize), producer_and_readers())


@pytest.mark.parametrize("wrong", [{"last_wait": "%odd"}, {"arrives_early": True}], ids=str)
def test_races_of_a_thread_that_copies_for_others(wrong: dict[str, Any]) -> None:
    """The thread sanitizer finds each of them also with late copies."""
    for order in ("highest-first", "round-robin"):
        with pytest.raises(errors.EmulationError, match="is unordered with") as raised:
            run_producer(Emulation(order=order, sanitize="thread"), producer_and_readers(**wrong))
        assert {finding.kind for finding in raised.value.findings} == {"race"}


# ---------------------------------------------------------------------------------------------------------------------
# Thread-level kernels
# ---------------------------------------------------------------------------------------------------------------------

THREAD_PROGRAM = ROOT / "test/conversions/to-nvvm/tensor-maps.mlir"


def test_tensor_map_of_a_thread_level_kernel() -> None:
    kernel = smalti.compile(THREAD_PROGRAM, target="emu:sm_90a")
    array = np.arange(7 * 32, dtype=np.float32).reshape(7, 32)
    for sanitizer in (None, "address", "thread"):
        for copies in ("late", "early"):
            out = np.full((8, 16), 3, np.float32)
            kernel.emulation = Emulation(sanitize=sanitizer, copies=copies)
            kernel(tensor_map(array, (8, 16)), out)
            # Elements outside of the array are zero.
            np.testing.assert_array_equal(out[:7], array[:, :16])
            assert (out[7] == 0).all()


def test_a_tensor_map_is_what_its_argument_takes() -> None:
    kernel = smalti.compile(THREAD_PROGRAM, target="emu:sm_90a")
    array = np.zeros((8, 16), np.float32)
    with pytest.raises(errors.LaunchError, match=r"argument 0 .*: a tensor map is required"):
        kernel(array, array.copy())
    with pytest.raises(errors.LaunchError, match=r"argument 1 .*: the argument is not a tensor map"):
        kernel(tensor_map(array, (8, 16)), tensor_map(array, (8, 16)))
