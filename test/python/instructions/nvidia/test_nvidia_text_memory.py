# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics, barriers and copies in inline assembly, with their orders and scopes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import nvidia
import pytest
import smalti
from nvidia import LATE_AND_EARLY, Array
from smalti.emulator import SCHEDULES, Emulation
from test_nvidia_assembly import asm

# ---------------------------------------------------------------------------------------------------------------------
# atom, red
# ---------------------------------------------------------------------------------------------------------------------

UNORDERED = [
    "",
    *(f".{space}" for space in ("global", "shared", "shared::cta", "shared::cluster")),
    *(f".{scope}{space}" for scope in ("cta", "cluster", "gpu", "sys") for space in ("", ".global")),
]
ORDERED = [".{}.sys.global", ".{}.gpu", ".shared::cta.{}.cta", ".global.{}.gpu"]
SEMANTICS = {"red": ("relaxed", "release"), "atom": ("relaxed", "acquire", "release", "acq_rel")}


def _forms(instruction: str) -> list[str]:
    """The optional qualifiers between the instruction and its operation."""
    return [*UNORDERED, *(form.format(sem) for form in ORDERED for sem in SEMANTICS[instruction])]


def _signed(compute: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def call(old: Array, b: Array) -> Array:
        ty = np.dtype(f"i{old.dtype.itemsize}")
        return compute(old.view(ty), b.view(ty)).view(old.dtype)

    return call


def _sum_of(dtype: Any) -> Callable[[Array, Array], Array]:
    def call(old: Array, b: Array) -> Array:
        total = old.view(dtype).astype(np.float64) + b.view(dtype).astype(np.float64)
        return np.ascontiguousarray(total.astype(dtype)).view(old.dtype)

    return call


OPERATIONS: dict[str, tuple[Any, Callable[[Array, Array], Array]]] = {
    "add.u32": (np.uint32, np.add),
    "add.s32": (np.uint32, np.add),
    "add.u64": (np.uint64, np.add),
    "add.f32": (np.float32, np.add),
    "add.f64": (np.float64, np.add),
    "add.noftz.f16": (np.uint16, _sum_of(np.float16)),
    "add.noftz.f16x2": (np.uint32, _sum_of(np.float16)),
    "add.noftz.bf16": (np.uint16, _sum_of(ml_dtypes.bfloat16)),
    "add.noftz.bf16x2": (np.uint32, _sum_of(ml_dtypes.bfloat16)),
    "inc.u32": (np.uint32, lambda old, b: np.where(old >= b, 0, old + np.uint32(1)).astype(np.uint32)),
    "dec.u32": (np.uint32, lambda old, b: np.where((old == 0) | (old > b), b, old - np.uint32(1))),
    "exch.b32": (np.uint32, lambda old, b: b),
    "exch.b64": (np.uint64, lambda old, b: b),
}
for _bits, _dtype in (("32", np.uint32), ("64", np.uint64)):
    for _name, _compute in (("min", np.minimum), ("max", np.maximum)):
        OPERATIONS[f"{_name}.u{_bits}"] = (_dtype, _compute)
        OPERATIONS[f"{_name}.s{_bits}"] = (_dtype, _signed(_compute))
    for _name, _compute in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        OPERATIONS[f"{_name}.b{_bits}"] = (_dtype, _compute)
SWAPS: dict[str, Any] = {"cas.b16": np.uint16, "cas.b32": np.uint32, "cas.b64": np.uint64}

ATOMS = [(kind, operation) for operation in (*OPERATIONS, *SWAPS) for kind in ("red", "atom")]
ATOMS = [(kind, o) for kind, o in ATOMS if kind == "atom" or not o.startswith(("exch", "cas"))]
LETTERS = {"u2": ("i16", "h"), "u4": ("i32", "r"), "u8": ("i64", "l"), "f4": ("float", "f"), "f8": ("double", "d")}
LANES = 32


def _atomic_kernel(kind: str, operation: str, dtype: Any) -> str:
    """A row of the memory for each form; those in shared memory are copied there and back."""
    ty, letter = LETTERS[np.dtype(dtype).str[1:]]
    text = (
        "@words = internal addrspace(3) global [32 x i64] undef, align 16\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "define ptx_kernel void @k(ptr %memory, ptr %b, ptr %compare, ptr %out) {\n"
        "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        f"  %s = getelementptr {ty}, ptr addrspace(3) @words, i32 %tid\n"
        f"  %pb = getelementptr {ty}, ptr %b, i32 %tid\n  %v = load {ty}, ptr %pb\n"
        f"  %pc = getelementptr {ty}, ptr %compare, i32 %tid\n  %c = load {ty}, ptr %pc\n"
    )
    for row, form in enumerate(_forms(kind)):
        text += f"  %i{row} = add i32 %tid, {row * LANES}\n  %m{row} = getelementptr {ty}, ptr %memory, i32 %i{row}\n"
        place, pointer = f"ptr %m{row}", "l"
        if "shared" in form:
            text += f"  %t{row} = load {ty}, ptr %m{row}\n  store {ty} %t{row}, ptr addrspace(3) %s\n"
            place, pointer = "ptr addrspace(3) %s", "r"
        values, letters = f"{ty} %v", letter
        if operation.startswith("cas"):
            values, letters = f"{ty} %c, {ty} %v", f"{letter},{letter}"
        count = 1 + letters.count(",") + 1
        operands = ", ".join(f"${i}" for i in range(2 if kind == "atom" else 1, count + (kind == "atom")))
        if kind == "atom":
            text += asm(
                f"atom{form}.{operation} $0, [$1], {operands};", f"={letter},{pointer},{letters}",
                f"{place}, {values}", ty, f"r{row}",
            )  # fmt: skip
            text += f"  %o{row} = getelementptr {ty}, ptr %out, i32 %i{row}\n  store {ty} %r{row}, ptr %o{row}\n"
        else:
            text += asm(f"red{form}.{operation} [$0], {operands};", f"{pointer},{letters}", f"{place}, {values}")
        if "shared" in form:
            text += f"  %u{row} = load {ty}, ptr addrspace(3) %s\n  store {ty} %u{row}, ptr %m{row}\n"
    return text + "  ret void\n}\n"


@pytest.mark.parametrize(("kind", "operation"), ATOMS)
def test_atomics(kind: str, operation: str) -> None:
    dtype = np.dtype(SWAPS[operation] if operation in SWAPS else OPERATIONS[operation][0])
    random = nvidia.seeded(operation)
    if dtype.kind == "f":
        row, b = (random.standard_normal(LANES).astype(dtype) for _ in range(2))
        row[:4], b[:4] = [0.0, -0.0, np.inf, np.nan], [-0.0, -0.0, -np.inf, 1]
    else:
        row, b = (random.integers(0, 1 << 8 * dtype.itemsize, LANES, np.uint64).astype(dtype) for _ in range(2))
        row[:8], b[:8] = [0, 0, 5, 5, 5, 9, 1, 7], [0, 3, 5, 4, 6, 2, 1, 8]
    compare = np.where(np.arange(LANES) % 2, row, row + dtype.type(1)).astype(dtype)
    with np.errstate(all="ignore"):
        expected = (
            np.where(compare == row, b, row) if operation in SWAPS else OPERATIONS[operation][1](row, b).astype(dtype)
        )
    forms = _forms(kind)
    memory = np.tile(row, (len(forms), 1))
    out = np.zeros_like(memory)
    nvidia.run_kernel(_atomic_kernel(kind, operation, dtype), LANES, memory, b, compare, out)
    halves = {"add.noftz.f16": np.float16, "add.noftz.bf16": ml_dtypes.bfloat16}.get(operation.removesuffix("x2"))
    for index, form in enumerate(forms):
        name = f"{kind}{form}.{operation}"
        got, want = (memory[index], expected) if halves is None else (memory[index].view(halves), expected.view(halves))
        if halves is None and dtype.kind != "f":
            np.testing.assert_array_equal(got, want, name)
        else:
            got, want = got.astype(np.float64), want.astype(np.float64)
            np.testing.assert_array_equal(got, want, name)
            numbers = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]), name)
        if kind == "atom":
            np.testing.assert_array_equal(out[index].view(f"u{dtype.itemsize}"), row.view(f"u{dtype.itemsize}"), name)


@pytest.mark.parametrize("statement", ["red.relaxed.gpu.global.add.u32 [$0], 1;", "atom.global.add.u32 _, [$0], 1;"])
def test_atomics_of_many_blocks(statement: str) -> None:
    """Blocks in several processes add to one number."""
    out = np.zeros(1, np.uint32)
    text = f"define ptx_kernel void @k(ptr %out) {{\n{asm(statement, 'l', 'ptr %out')}  ret void\n}}\n"
    nvidia.run_kernel(text, 64, out, grid=50)
    assert out[0] == 3200


def test_a_lock() -> None:
    """A loop around an exchange blocks a thread until it holds the lock: JAX's semaphores."""
    text = """
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %lock, ptr %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is = icmp eq i32 %tid, 32
  br i1 %is, label %open, label %wait
wait:
"""
    text += asm("atom.acquire.gpu.global.cas.b32 $0, [$1], 1, 1;", "=r,l", "ptr %lock", "i32", "old")
    text += "  %go = icmp eq i32 %old, 1\n  br i1 %go, label %done, label %wait\nopen:\n"
    text += "  store i32 7, ptr %out\n" + asm("red.release.gpu.global.add.u32 [$0], 1;", "l", "ptr %lock")
    text += "  br label %done\ndone:\n  ret void\n}\n"
    for schedule in (*SCHEDULES, Emulation(sanitize="thread")):
        lock, out = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
        nvidia.run_kernel(text, 64, lock, out, emulation=schedule)
        assert (lock[0], out[0]) == (1, 7)


# ---------------------------------------------------------------------------------------------------------------------
# mbarrier
# ---------------------------------------------------------------------------------------------------------------------

HEAD = """
@bar = internal addrspace(3) global i64 undef, align 8
@words = internal addrspace(3) global [64 x i32] undef, align 16
@source = internal addrspace(3) global [64 x i32] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
"""
START = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %tid, 0
  %generic = addrspacecast ptr addrspace(3) @bar to ptr
  %mine = getelementptr i32, ptr addrspace(3) @words, i32 %tid
  %theirs = getelementptr i32, ptr addrspace(3) @source, i32 %tid
  %po = getelementptr i32, ptr %out, i32 %tid
"""
SYNC = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"


def _init(count: int) -> str:
    text = asm(f"@$1 mbarrier.init.shared::cta.b64 [$0], {count};", "r,b", "ptr addrspace(3) @bar, i1 %first")
    return text + SYNC


def _kernel(body: str, parameters: str = "ptr %out") -> str:
    return f"{HEAD}define ptx_kernel void @k({parameters}) {{{START}{body}  ret void\n}}\n"


SPACES = {"": ("ptr %generic", "l"), **dict.fromkeys((".shared", ".shared::cta"), ("ptr addrspace(3) @bar", "r"))}
REMOTE = ".shared::cluster"
SCOPES = ("cta", "cluster")
ARRIVALS = ("arrive", "arrive_drop", "arrive.expect_tx", "arrive_drop.expect_tx")
BYTES = ("expect_tx", "complete_tx")
NO_COMPLETE = ("arrive.noComplete", "arrive_drop.noComplete")
WAITS = ("test_wait", "try_wait", "test_wait.parity", "try_wait.parity")


def _names(kinds: tuple[str, ...], semantics: tuple[str, ...], remote: bool) -> list[str]:
    spaces = [*SPACES, *([REMOTE] if remote else [])]
    orders = ["", *(f".{sem}.{scope}" for sem in semantics for scope in SCOPES)]
    return [f"mbarrier.{kind}{order}{space}.b64" for kind in kinds for order in orders for space in spaces]


ARRIVAL_NAMES = _names(ARRIVALS, ("release", "relaxed"), True)
BYTE_NAMES = _names(BYTES, ("relaxed",), True)
NO_COMPLETE_NAMES = [
    f"mbarrier.{kind}{order}{space}.b64" for kind in NO_COMPLETE for order in ("", ".release.cta") for space in SPACES
]
WAIT_NAMES = _names(WAITS, ("acquire", "relaxed"), False)
PENDING = "mbarrier.pending_count.b64"


def _place(name: str) -> tuple[str, str]:
    return SPACES[""] if "shared" not in name else SPACES[".shared"]


def _names_with_waiters_first(name: str, schedule: Emulation) -> set[str]:
    """The first warp arrives. If it also runs first, a wait that does not wait is not noticed."""
    return {name} if schedule.order == "highest-first" else {f"{schedule.order}, {schedule.copies}"}


@pytest.mark.grid(80, cover=_names_with_waiters_first)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.order}-{s.copies}")
@pytest.mark.parametrize("name", ARRIVAL_NAMES)
def test_arrivals(name: str, schedule: Emulation) -> None:
    """The first thread arrives, twice by another instruction if a drop must show; all wait."""
    place, letter = _place(name)
    operand = ", 0" if "expect_tx" in name else ""
    body = _init(1) + "  br i1 %first, label %arrive, label %wait\narrive:\n  store i32 5, ptr addrspace(3) @words\n"
    # Remote forms have no state.
    body += asm(f"{name} _, [$0]{operand};", letter, place) + "  br label %wait\nwait:\n"
    wait = "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [$0], 0; @!p bra W; }"
    body += asm(wait, "r", "ptr addrspace(3) @bar")
    body += "  %r = load i32, ptr addrspace(3) @words\n  store i32 %r, ptr %po\n"
    if "drop" in name:
        # The next phase expects no arrivals: one more is an error.
        again = asm("@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b", "ptr addrspace(3) @bar, i1 %first")
        with pytest.raises(smalti.EmulationError, match="1 arrivals exceed the pending count of the phase, which is 0"):
            nvidia.run_kernel(_kernel(body + again), 64, np.zeros(64, np.uint32))
    out = np.zeros(64, np.uint32)
    nvidia.run_kernel(_kernel(body), 64, out, emulation=schedule)
    np.testing.assert_array_equal(out, np.full(64, 5))


@pytest.mark.parametrize("order", ["", *(f".{sem}.{scope}" for sem in ("release", "relaxed") for scope in SCOPES)])
def test_arrivals_without_release_semantics(order: str) -> None:
    """A relaxed arrival leaves a race between earlier accesses and accesses after the wait."""
    body = _init(1) + "  br i1 %first, label %arrive, label %wait\narrive:\n  store i32 5, ptr addrspace(3) @words\n"
    body += asm(f"mbarrier.arrive{order}.shared::cta.b64 _, [$0], 1;", "r", "ptr addrspace(3) @bar")
    body += "  br label %wait\nwait:\n"
    wait = "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [$0], 0; @!p bra W; }"
    body += asm(wait, "r", "ptr addrspace(3) @bar")
    body += "  %r = load i32, ptr addrspace(3) @words\n  store i32 %r, ptr %po\n"
    out = np.zeros(64, np.uint32)
    if "relaxed" in order:
        with pytest.raises(smalti.EmulationError, match="race"):
            nvidia.run_kernel(_kernel(body), 64, out, emulation=Emulation(sanitize="thread"))
    else:
        nvidia.run_kernel(_kernel(body), 64, out, emulation=Emulation(sanitize="thread"))


@pytest.mark.grid(60, cover=_names_with_waiters_first)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.order}-{s.copies}")
@pytest.mark.parametrize("name", WAIT_NAMES)
def test_waits(name: str, schedule: Emulation) -> None:
    place, letter = _place(name)
    relaxed = "relaxed" in name
    body = _init(1) + "  br i1 %first, label %arrive, label %wait\narrive:\n"
    given, operand = ("i32 0", "r") if "parity" in name else ("i64 %state", "l")
    if "parity" not in name:
        # A state is the arriving thread's: only that thread waits.
        body += asm("mbarrier.arrive.shared.b64 $0, [$1];", "=l,r", "ptr addrspace(3) @bar", "i64", "state")
        body += asm(
            f"{{ .reg .pred p; W: {name} p, [$0], $1; @!p bra W; }}", f"{letter},{operand}", f"{place}, {given}"
        )
        body += "  store i32 5, ptr %out\n  br label %wait\nwait:\n"
        expected = np.array([5] + [0] * 63)
    else:
        body += "  store i32 5, ptr addrspace(3) @words\n"
        body += asm("mbarrier.arrive.shared.b64 _, [$0];", "r", "ptr addrspace(3) @bar")
        body += "  br label %wait\nwait:\n"
        body += asm(
            f"{{ .reg .pred p; W: {name} p, [$0], $1; @!p bra W; }}", f"{letter},{operand}", f"{place}, {given}"
        )
        body += "  %r = load i32, ptr addrspace(3) @words\n  store i32 %r, ptr %po\n"
        expected = np.full(64, 5)
    out = np.zeros(64, np.uint32)
    nvidia.run_kernel(_kernel(body), 64, out, emulation=schedule)
    np.testing.assert_array_equal(out, expected)
    if "parity" in name and relaxed:
        with pytest.raises(smalti.EmulationError, match="race"):
            nvidia.run_kernel(_kernel(body), 64, np.zeros(64, np.uint32), emulation=Emulation(sanitize="thread"))


@pytest.mark.parametrize("name", [n for n in BYTE_NAMES if "expect" in n])
def test_bytes(name: str) -> None:
    """Bytes that are expected hold a phase until they are complete; of three arrivals two do not complete it."""
    place, letter = _place(name)
    complete = name.replace("expect_tx", "complete_tx")
    body = _init(3) + "  br i1 %first, label %arrive, label %end\narrive:\n"
    body += asm(f"{name} [$0], $1;", f"{letter},r", f"{place}, i32 16")
    body += asm("mbarrier.arrive.shared.b64 $0, [$1], 3;", "=l,r", "ptr addrspace(3) @bar", "i64", "state")
    poll = "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [$1], 0; selp.u32 $0, 1, 0, p; }"
    body += asm(poll, "=r,r", "ptr addrspace(3) @bar", "i32", "before")
    body += asm(f"{complete} [$0], $1;", f"{letter},r", f"{place}, i32 16")
    body += asm(poll, "=r,r", "ptr addrspace(3) @bar", "i32", "after")
    body += asm(f"{PENDING} $0, $1;", "=r,l", "i64 %state", "i32", "missing")
    for index, value in enumerate(("before", "after", "missing")):
        body += f"  %p{index} = getelementptr i32, ptr %out, i32 {index}\n  store i32 %{value}, ptr %p{index}\n"
    body += "  br label %end\nend:\n"
    out = np.full(64, 9, np.uint32)
    nvidia.run_kernel(_kernel(body), 64, out)
    assert list(out[:3]) == [0, 1, 3]


@pytest.mark.parametrize("name", NO_COMPLETE_NAMES)
def test_arrivals_that_do_not_complete(name: str) -> None:
    place, letter = _place(name)
    body = _init(3) + "  br i1 %first, label %arrive, label %end\narrive:\n"
    body += asm(f"{name} $0, [$1], 2;", f"=l,{letter}", place, "i64", "state")
    body += asm(f"{PENDING} $0, $1;", "=r,l", "i64 %state", "i32", "missing")
    body += "  store i32 %missing, ptr %out\n"
    wrong = body + asm(f"{name} $0, [$1], 1;", f"=l,{letter}", place, "i64", "more") + "  br label %end\nend:\n"
    body += asm("mbarrier.arrive.shared.b64 _, [$0];", "r", "ptr addrspace(3) @bar")
    body += asm("mbarrier.arrive.shared.b64 $0, [$1];", "=l,r", "ptr addrspace(3) @bar", "i64", "next")
    body += asm(f"{PENDING} $0, $1;", "=r,l", "i64 %next", "i32", "expected")
    body += "  %p1 = getelementptr i32, ptr %out, i32 1\n  store i32 %expected, ptr %p1\n  br label %end\nend:\n"
    out = np.zeros(64, np.uint32)
    nvidia.run_kernel(_kernel(body), 64, out)
    assert list(out[:2]) == [3, 1 if "drop" in name else 3]
    with pytest.raises(smalti.EmulationError, match=r"\.noComplete completes the phase"):
        nvidia.run_kernel(_kernel(wrong), 64, out)


# ---------------------------------------------------------------------------------------------------------------------
# cp.async.bulk
# ---------------------------------------------------------------------------------------------------------------------

HINT = ".L2::cache_hint"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
BULK_STORES = {
    STORE: "[$0], [$1], 256",
    f"{STORE}{HINT}": "[$0], [$1], 256, $3",
    f"{STORE}.cp_mask": "[$0], [$1], 256, $2",
    f"{STORE}{HINT}.cp_mask": "[$0], [$1], 256, $3, $2",
}
COUNTED = "mbarrier::complete_tx::bytes"
BULK_LOADS = {
    **{
        f"cp.async.bulk.{space}.global.{COUNTED}{hint}": f"[$0], [$1], 256, [$2]{', $3' if hint else ''}"
        for space in ("shared::cta", "shared::cluster")
        for hint in ("", HINT)
    },
    **{
        f"cp.async.bulk.shared::cluster.global.{COUNTED}.multicast::cluster{hint}": (
            f"[$0], [$1], 256, [$2], $4{', $3' if hint else ''}"
        )
        for hint in ("", HINT)
    },
}
BLOCK_TO_CLUSTER = f"cp.async.bulk.shared::cluster.shared::cta.{COUNTED}"
PREFETCHES = ["cp.async.bulk.prefetch.L2.global", f"cp.async.bulk.prefetch.L2.global{HINT}"]
COMMIT = "cp.async.bulk.commit_group"
BULK_WAITS = ["cp.async.bulk.wait_group", "cp.async.bulk.wait_group.read"]
MASK = 4660
FENCE = "fence.proxy.async.shared::cta"


def _store_kernel(name: str, wait: str, fence: str = FENCE, after: str = "") -> str:
    body = "  %pi = getelementptr i32, ptr %in, i32 %tid\n  %v = load i32, ptr %pi\n"
    body += "  store i32 %v, ptr addrspace(3) %theirs\n"
    body += (asm(f"{fence};", "", "") if fence else "") + SYNC + "  br i1 %first, label %copy, label %end\ncopy:\n"
    # The guard is JAX's.
    body += asm(
        f"@$4 {name} {BULK_STORES[name]};", "l,r,h,l,b",
        f"ptr %out, ptr addrspace(3) @source, i16 {MASK}, i64 0, i1 %first",
    )  # fmt: skip
    body += asm(f"{COMMIT};", "", "") + asm(f"{wait} 0;", "", "") if wait else ""
    return _kernel(f"{body}  {after}\n  br label %end\nend:\n", "ptr %in, ptr %out")


DATA = np.arange(64, dtype=np.uint32) * 0x01010101


@pytest.mark.grid(4)
@pytest.mark.parametrize(("name", "wait"), [*itertools.product(BULK_STORES, BULK_WAITS)])
def test_bulk_copies_to_global(name: str, wait: str) -> None:
    taken = np.array([MASK >> (i % 16) & 1 for i in range(256)], bool) if "mask" in name else np.ones(256, bool)
    for emulation in (*LATE_AND_EARLY, Emulation(sanitize="thread"), Emulation(sanitize="address")):
        out = np.full(64, 0xEEEEEEEE, np.uint32)
        nvidia.run_kernel(_store_kernel(name, wait), 64, DATA, out, emulation=emulation)
        np.testing.assert_array_equal(out.view(np.uint8), np.where(taken, DATA.view(np.uint8), 0xEE))


def test_a_copy_without_a_wait() -> None:
    out = np.full(64, 0xEEEEEEEE, np.uint32)
    nvidia.run_kernel(_store_kernel(STORE, ""), 64, DATA, out, emulation=Emulation(copies="late"))
    assert (out == 0xEEEEEEEE).all()


def test_a_copy_whose_source_changes() -> None:
    """Between its issue and its wait the source is the copy's."""
    change = "store i32 1, ptr addrspace(3) @source"
    text = _store_kernel(STORE, BULK_WAITS[1], after=change)
    for emulation in (*LATE_AND_EARLY, Emulation(sanitize="thread")):
        out = np.zeros(64, np.uint32)
        nvidia.run_kernel(text, 64, DATA, out, emulation=emulation)
        np.testing.assert_array_equal(out, DATA)
    lines = text.split("\n")
    (at,) = [i for i, line in enumerate(lines) if change in line]
    (commit,) = [i for i, line in enumerate(lines) if COMMIT in line]
    early = "\n".join([*lines[:commit], f"  {change}", *lines[commit:at], *lines[at + 1 :]])
    out = np.zeros(64, np.uint32)
    nvidia.run_kernel(early, 64, DATA, out, emulation=Emulation(copies="late"))
    assert out[0] == 1 and (out[1:] == DATA[1:]).all()


def test_a_copy_without_a_fence() -> None:
    out = np.zeros(64, np.uint32)
    with pytest.raises(smalti.EmulationError, match=r"execute fence\.proxy\.async between"):
        nvidia.run_kernel(_store_kernel(STORE, BULK_WAITS[0], fence=""), 64, DATA, out,
                          emulation=Emulation(sanitize="thread"))  # fmt: skip


@pytest.mark.parametrize("name", [*BULK_LOADS, BLOCK_TO_CLUSTER])
def test_bulk_copies_to_shared(name: str) -> None:
    body = _init(1) + "  %pi = getelementptr i32, ptr %in, i32 %tid\n  %v = load i32, ptr %pi\n"
    body += "  store i32 %v, ptr addrspace(3) %theirs\n" + asm(f"{FENCE};", "", "") + SYNC
    body += "  br i1 %first, label %copy, label %wait\ncopy:\n"
    body += asm("mbarrier.arrive.expect_tx.shared.b64 _, [$0], 256;", "r", "ptr addrspace(3) @bar")
    source, letter = ("ptr addrspace(3) @source", "r") if name == BLOCK_TO_CLUSTER else ("ptr %in", "l")
    operands = BULK_LOADS.get(name, "[$0], [$1], 256, [$2]")
    body += asm(
        f"{name} {operands};", f"r,{letter},r,l,h",
        f"ptr addrspace(3) @words, {source}, ptr addrspace(3) @bar, i64 0, i16 1",
    )  # fmt: skip
    body += "  br label %wait\nwait:\n"
    wait = "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [$0], 0; @!p bra W; }"
    early = body + "  %r = load i32, ptr addrspace(3) %mine\n  store i32 %r, ptr %po\n"
    body += asm(wait, "r", "ptr addrspace(3) @bar")
    body += "  %r = load i32, ptr addrspace(3) %mine\n  store i32 %r, ptr %po\n"
    parameters = "ptr %in, ptr %out"
    for emulation in (*SCHEDULES, Emulation(sanitize="thread"), Emulation(sanitize="address")):
        out = np.zeros(64, np.uint32)
        nvidia.run_kernel(_kernel(body, parameters), 64, DATA, out, emulation=emulation)
        np.testing.assert_array_equal(out, DATA)
    with pytest.raises(smalti.EmulationError, match="race"):
        nvidia.run_kernel(
            _kernel(early, parameters), 64, DATA, np.zeros(64, np.uint32), emulation=Emulation(sanitize="thread")
        )


@pytest.mark.parametrize("size", [250, 8])
def test_sizes_of_copies(size: int) -> None:
    with pytest.raises(smalti.EmulationError, match="multiple of 16"):
        nvidia.run_kernel(_store_kernel(STORE, BULK_WAITS[0]).replace("], 256", f"], {size}"), 64, DATA, DATA.copy())


# ---------------------------------------------------------------------------------------------------------------------
# Accesses of more than 16 bytes
# ---------------------------------------------------------------------------------------------------------------------

WIDE = {
    "load": "  %v = load <8 x float>, ptr %x\n  store <8 x float> %v, ptr %out, align 4\n",
    "store": "  %v = load <8 x float>, ptr %x, align 4\n  store <8 x float> %v, ptr %out\n",
    "load of global": "  %g = addrspacecast ptr %x to ptr addrspace(1)\n"
    "  %v = load <8 x float>, ptr addrspace(1) %g\n  store <8 x float> %v, ptr %out, align 4\n",
    "copy": "  call void @llvm.memcpy.p0.p0.i64(ptr align 32 %out, ptr align 32 %x, i64 32, i1 false)\n",
}
WIDE_DECLARATIONS = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"


def _run_wide(body: str, chip: str, alignment: int, *arguments: Array, parameters: str = "ptr %x, ptr %out") -> None:
    text = f"{nvidia.HEADER}{WIDE_DECLARATIONS}{HEAD}define ptx_kernel void @k({parameters}) {{\n{body}  ret void\n}}\n"
    smalti.emulator.load(text, f"emu:{chip}").launch(1, 1, *arguments, alignment=alignment)


@pytest.mark.grid(8)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("access", WIDE)
def test_alignment_of_wide_accesses(access: str, chip: str) -> None:
    """A vector of 32 bytes is two accesses of 16, and since sm_100 one of 32."""
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    for alignment in (8, 16, 32):
        out[:] = 0
        needed = 1 if access == "copy" else 32 if chip in ("sm_100a", "sm_120a") else 16
        if alignment >= needed:
            _run_wide(WIDE[access], chip, alignment, x, out)
            np.testing.assert_array_equal(out, x)
        else:
            with pytest.raises(
                smalti.EmulationError, match=f"32-byte access: .* is not a multiple of {needed}"
            ) as error:
                _run_wide(WIDE[access], chip, alignment, x, out)
            assert error.value.findings[0].kind == "misaligned"


def test_alignment_of_wide_accesses_to_shared_memory() -> None:
    """Those of 32 bytes are only for global memory."""
    body = "  %at = getelementptr i32, ptr addrspace(3) @words, i32 INDEX\n  %any = addrspacecast ptr addrspace(3) %at to ptr\n"
    body += "  %v = load <8 x i32>, ptr %x, align 4\n  store <8 x i32> %v, ptr SPACE\n"
    body += "  %w = load <8 x i32>, ptr addrspace(3) %at, align 4\n  store <8 x i32> %w, ptr %out, align 4\n"
    x = np.arange(8, dtype=np.uint32)
    for chip, space in itertools.product(("sm_90a", "sm_100a"), ("%any", "addrspace(3) %at")):
        text = body.replace("SPACE", space)
        out = np.zeros(8, np.uint32)
        _run_wide(text.replace("INDEX", "4"), chip, 16, x, out)
        np.testing.assert_array_equal(out, x)
        with pytest.raises(smalti.EmulationError, match="is not a multiple of 16"):
            _run_wide(text.replace("INDEX", "2"), chip, 16, x, out)


# ---------------------------------------------------------------------------------------------------------------------
# Launches
# ---------------------------------------------------------------------------------------------------------------------

DEPENDENCIES = ["griddepcontrol.launch_dependents", "griddepcontrol.wait"]


@pytest.mark.parametrize("name", [*DEPENDENCIES, *PREFETCHES])
def test_hints(name: str) -> None:
    """A launch waits for the one before it, and prefetches change nothing."""
    operands = "" if name in DEPENDENCIES else f" [$0], 256{', $1' if HINT in name else ''}"
    body = asm(f"{name}{operands};", "l,l", "ptr %out, i64 0") + "  store i32 %tid, ptr %po\n"
    out = np.zeros(64, np.uint32)
    nvidia.run_kernel(_kernel(body), 64, out)
    np.testing.assert_array_equal(out, np.arange(64))


CONTROL = "clusterlaunchcontrol"
CANCEL = [
    f"{CONTROL}.try_cancel.async{space}.{COUNTED}{multicast}.b128"
    for space in ("", ".shared::cta")
    for multicast in ("", ".multicast::cluster::all")
]
QUERY = f"{CONTROL}.query_cancel.is_canceled.pred.b128"
FIRST_BLOCK = {
    f"{CONTROL}.query_cancel.get_first_ctaid.v4.b32.b128": "{$0, $1, $2, _}",
    **{f"{CONTROL}.query_cancel.get_first_ctaid::{axis}.b32.b128": "$0" for axis in "xyz"},
}


@pytest.mark.grid(8)
@pytest.mark.parametrize("name", CANCEL)
@pytest.mark.parametrize("first_block", FIRST_BLOCK)
def test_nothing_is_left_to_cancel(name: str, first_block: str) -> None:
    """As in JAX: the block of a launch that was not canceled is not read."""
    body = _init(1) + asm("mbarrier.arrive.expect_tx.shared.b64 _, [$0], 16;", "r", "ptr addrspace(3) @bar")
    body += asm(f"{name} [$0], [$1];", "r,r", "ptr addrspace(3) @words, ptr addrspace(3) @bar")
    wait = "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [$0], 0; @!p bra W; }"
    body += asm(wait, "r", "ptr addrspace(3) @bar")
    guard = "@p "
    text = (
        "{{ .reg .b128 handle; .reg .pred p; ld.shared.b128 handle, [$4]; mov.u32 $0, 7; "
        f"{QUERY} p, handle; {{guard}}{first_block} {{result}}, handle; selp.u32 $3, 1, 0, p; }}}}"
    )
    result = FIRST_BLOCK[first_block]
    for given in (guard, ""):
        made = asm(
            text.format(guard=given, result=result), "=r,=r,=r,=r,r", "ptr addrspace(3) @words",
            "{ i32, i32, i32, i32 }", "s",
        )  # fmt: skip
        made += "  %x = extractvalue { i32, i32, i32, i32 } %s, 0\n  store i32 %x, ptr %out\n"
        made += "  %is = extractvalue { i32, i32, i32, i32 } %s, 3\n"
        made += "  %p1 = getelementptr i32, ptr %out, i32 1\n  store i32 %is, ptr %p1\n"
        out = np.full(2, 9, np.uint32)
        if given:
            nvidia.run_kernel(_kernel(body + made), 1, out)
            assert list(out) == [7, 0]
        else:
            with pytest.raises(smalti.EmulationError, match="no block was canceled"):
                nvidia.run_kernel(_kernel(body + made), 1, out)


TESTED = [
    *(f"smalti.nvvm.aligned.p{space}" for space in (0, 1, 3)),
    *(
        f"asm:{name}"
        for name in (
            *(f"{kind}{form}.{operation}" for kind, operation in ATOMS for form in _forms(kind)),
            *ARRIVAL_NAMES,
            *BYTE_NAMES,
            *NO_COMPLETE_NAMES,
            *WAIT_NAMES,
            PENDING,
            *BULK_STORES,
            *BULK_LOADS,
            BLOCK_TO_CLUSTER,
            *PREFETCHES,
            COMMIT,
            *BULK_WAITS,
            *DEPENDENCIES,
            *CANCEL,
            QUERY,
            *FIRST_BLOCK,
        )
    ),
]
