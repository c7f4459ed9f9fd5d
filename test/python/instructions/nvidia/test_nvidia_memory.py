# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers, asynchronous copies, atomics and system calls, each in a kernel that shows its effect."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import nvidia
import pytest
import smalti
from nvidia import LATE_AND_EARLY
from smalti.emulator import SCHEDULES, Emulation

PREFIX = "llvm.nvvm."

START = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tid64 = zext i32 %tid to i64
  %warp = lshr i32 %tid, 5
  %first = icmp eq i32 %tid, 0
"""


def kernel(body: str, declarations: str, parameters: str = "ptr %out") -> str:
    tid = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    return f"{tid if tid not in declarations else ''}{declarations}\ndefine ptx_kernel void @k({parameters}) {{{START}{body}}}\n"


def declare(result: str, name: str, *types: str) -> str:
    return f"declare {result} @{PREFIX}{name}({', '.join(types)})\n"


SHARED = "@shared = internal addrspace(3) global [4096 x i8] undef, align 16\n"
SYNC = declare("void", "barrier.cta.sync.aligned.all", "i32")

# ---------------------------------------------------------------------------------------------------------------------
# Barriers
# ---------------------------------------------------------------------------------------------------------------------

# The threads write, wait, and read what another warp wrote.
EXCHANGE = """
  %mine = getelementptr i32, ptr addrspace(3) @shared, i32 %tid
  store i32 %tid, ptr addrspace(3) %mine
BARRIER
  %other = xor i32 %tid, 32
  %theirs = getelementptr i32, ptr addrspace(3) @shared, i32 %other
  %value = load i32, ptr addrspace(3) %theirs
  %p = getelementptr i32, ptr %out, i32 %tid
  store i32 %value, ptr %p
  ret void
"""
SYNCS = {
    "barrier.cta.sync.aligned.all": "i32 0",
    "barrier.cta.sync.all": "i32 3",
    "barrier.cta.sync.aligned.count": "i32 4, i32 64",
    "barrier.cta.sync.count": "i32 15, i32 64",
}


def _types(operands: str) -> list[str]:
    return [part.split()[0] for part in operands.split(", ") if part]


@pytest.mark.parametrize("name", SYNCS)
def test_barriers(name: str) -> None:
    operands = SYNCS[name]
    out = np.zeros(64, np.uint32)
    text = kernel(
        EXCHANGE.replace("BARRIER", f"  call void @{PREFIX}{name}({operands})"),
        SHARED + declare("void", name, *_types(operands)),
    )
    for schedule in SCHEDULES:
        nvidia.run_kernel(text, 64, out, emulation=schedule)
        np.testing.assert_array_equal(out, np.arange(64) ^ 32)


ARRIVES = ("barrier.cta.arrive.aligned.count", "barrier.cta.arrive.count")


@pytest.mark.parametrize("name", ARRIVES)
def test_arrive_and_sync(name: str) -> None:
    """The first warp writes and arrives, the second waits and reads: two uses of one barrier."""
    out = np.zeros(32, np.uint32)
    body = f"""
  %q = getelementptr i32, ptr addrspace(3) @shared, i32 %tid
  %producer = icmp eq i32 %warp, 0
  br i1 %producer, label %write, label %read
write:
  store i32 %tid, ptr addrspace(3) %q
  call void @{PREFIX}{name}(i32 2, i32 64)
  ret void
read:
  call void @{PREFIX}barrier.cta.sync.count(i32 2, i32 64)
  %lane = and i32 %tid, 31
  %r = getelementptr i32, ptr addrspace(3) @shared, i32 %lane
  %value = load i32, ptr addrspace(3) %r
  %p = getelementptr i32, ptr %out, i32 %lane
  store i32 %value, ptr %p
  ret void
"""
    declarations = (
        SHARED + declare("void", name, "i32", "i32") + declare("void", "barrier.cta.sync.count", "i32", "i32")
    )
    for schedule in SCHEDULES:
        out[:] = 0
        nvidia.run_kernel(kernel(body, declarations), 64, out, emulation=schedule)
        np.testing.assert_array_equal(out, np.arange(32))


REDUCTIONS = {
    f"barrier.cta.red.{op}{aligned}.{kind}": (op, kind == "count")
    for op in ("and", "or", "popc")
    for aligned in (".aligned", "")
    for kind in ("all", "count")
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_barrier_reductions(name: str) -> None:
    op, counted = REDUCTIONS[name]
    result = "i32" if op == "popc" else "i1"
    count = "i32 64, " if counted else ""
    said = np.random.default_rng(1).integers(0, 2, (4, 64)).astype(np.uint8)
    said[1], said[2] = 0, 1
    out = np.zeros((4, 64), np.uint32)
    body = ""
    for use in range(4):
        widen = f"zext i1 %r{use} to i32" if result == "i1" else f"add i32 %r{use}, 0"
        body += f"""
  %i{use} = add i32 %tid, {64 * use}
  %s{use} = getelementptr i8, ptr %said, i32 %i{use}
  %b{use} = load i8, ptr %s{use}
  %t{use} = trunc i8 %b{use} to i1
  %r{use} = call {result} @{PREFIX}{name}(i32 1, {count}i1 %t{use})
  %w{use} = {widen}
  %p{use} = getelementptr i32, ptr %out, i32 %i{use}
  store i32 %w{use}, ptr %p{use}
"""
    types = ["i32", "i32", "i1"] if counted else ["i32", "i1"]
    text = kernel(body + "  ret void\n", declare(result, name, *types), "ptr %said, ptr %out")
    for schedule in SCHEDULES:
        nvidia.run_kernel(text, 64, said, out, emulation=schedule)
        wanted = {"and": said.all(1), "or": said.any(1), "popc": said.sum(1)}[op]
        np.testing.assert_array_equal(out, np.repeat(wanted[:, None].astype(np.uint32), 64, 1))


WARP_SYNC = "bar.warp.sync"


def test_warp_barrier() -> None:
    out = np.zeros(32, np.uint32)
    body = EXCHANGE.replace("BARRIER", f"  call void @{PREFIX}{WARP_SYNC}(i32 -1)").replace("%tid, 32", "%tid, 1")
    nvidia.run_kernel(kernel(body, SHARED + declare("void", WARP_SYNC, "i32")), 32, out)
    np.testing.assert_array_equal(out, np.arange(32) ^ 1)


CLUSTER_ARRIVES = [f"barrier.cluster.arrive{r}{a}" for r in ("", ".relaxed") for a in ("", ".aligned")]
CLUSTER_WAITS = ["barrier.cluster.wait", "barrier.cluster.wait.aligned"]


@pytest.mark.parametrize(("arrive", "wait"), [*itertools.product(CLUSTER_ARRIVES, CLUSTER_WAITS)])
def test_cluster_barrier(arrive: str, wait: str) -> None:
    out = np.zeros(64, np.uint32)
    body = EXCHANGE.replace("BARRIER", f"  call void @{PREFIX}{arrive}()\n  call void @{PREFIX}{wait}()")
    nvidia.run_kernel(kernel(body, SHARED + declare("void", arrive) + declare("void", wait)), 64, out)
    np.testing.assert_array_equal(out, np.arange(64) ^ 32)


@pytest.mark.parametrize("operands", ["i32 16, i32 64", "i32 0, i32 33"])
def test_wrong_barriers(operands: str) -> None:
    out = np.zeros(64, np.uint32)
    name = "barrier.cta.sync.count"
    body = EXCHANGE.replace("BARRIER", f"  call void @{PREFIX}{name}({operands})")
    with pytest.raises(smalti.EmulationError, match="barrier"):
        nvidia.run_kernel(kernel(body, SHARED + declare("void", name, "i32", "i32")), 64, out)


# ---------------------------------------------------------------------------------------------------------------------
# cp.async
# ---------------------------------------------------------------------------------------------------------------------

COPIES = {
    f"cp.async.{cache}.shared.global.{size}{end}": (size, bool(end))
    for cache, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16))
    for end in ("", ".s")
}
COMMIT, WAIT, WAIT_ALL = "cp.async.commit.group", "cp.async.wait.group", "cp.async.wait.all"


def _copy_kernel(name: str, wait: str) -> str:
    size, partial = COPIES[name]
    part = ", i32 %bytes" if partial else ""
    body = f"""
  %at = mul i32 %tid, {size}
  %bytes = and i32 %tid, {size - 1}
  %to = getelementptr i8, ptr addrspace(3) @shared, i32 %at
  %from = getelementptr i8, ptr addrspace(1) %in, i32 %at
  store i8 7, ptr addrspace(3) %to
  call void @{PREFIX}{name}(ptr addrspace(3) %to, ptr addrspace(1) %from{part})
{wait}
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %a = add i32 %at, %i
  %f = getelementptr i8, ptr addrspace(3) @shared, i32 %a
  %t = getelementptr i8, ptr %out, i32 %a
  %byte = load i8, ptr addrspace(3) %f
  store i8 %byte, ptr %t
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, {size}
  br i1 %more, label %loop, label %end
end:
  ret void
"""
    types = ["ptr addrspace(3)", "ptr addrspace(1)"] + ["i32"] * partial
    declarations = SHARED + declare("void", name, *types) + declare("void", COMMIT) + declare("void", WAIT, "i32")
    return kernel(body, declarations + declare("void", WAIT_ALL), "ptr addrspace(1) %in, ptr %out")


GROUP = f"  call void @{PREFIX}{COMMIT}()\n  call void @{PREFIX}{WAIT}(i32 0)"


@pytest.mark.parametrize("wait", [GROUP, f"  call void @{PREFIX}{WAIT_ALL}()"], ids=["group", "all"])
@pytest.mark.parametrize("name", COPIES)
def test_copies(name: str, wait: str) -> None:
    size, partial = COPIES[name]
    data = np.random.default_rng(2).integers(0, 256, (32, size)).astype(np.uint8)
    kept = np.arange(32)[:, None] % size if partial else size
    expected = np.where(np.arange(size) < kept, data, 0)
    for schedule in LATE_AND_EARLY:
        out = np.zeros_like(data)
        nvidia.run_kernel(_copy_kernel(name, wait), 32, data, out, emulation=schedule)
        np.testing.assert_array_equal(out, expected)


def test_copies_wait_for_their_group() -> None:
    """With late completion, the copies of the last group are not complete if one may be pending."""
    name = "cp.async.ca.shared.global.4"
    data = np.full((32, 4), 9, np.uint8)
    wait = f"  call void @{PREFIX}{COMMIT}()\n  call void @{PREFIX}{WAIT}(i32 1)"
    seen = set()
    for schedule in LATE_AND_EARLY:
        out = np.zeros_like(data)
        nvidia.run_kernel(_copy_kernel(name, wait), 32, data, out, emulation=schedule)
        seen.add(int(out[0, 0]))
    # The destination of an outstanding copy is poison, not its old content.
    assert seen == {0xFF, 9}


def test_copies_are_aligned() -> None:
    text = _copy_kernel("cp.async.ca.shared.global.8", GROUP).replace(
        "i8, ptr addrspace(1) %in, i32 %at", "i8, ptr addrspace(1) %in, i32 %tid"
    )
    with pytest.raises(smalti.EmulationError, match="not a multiple of 8"):
        nvidia.run_kernel(text, 32, np.zeros(256, np.uint8), np.zeros(256, np.uint8))


# ---------------------------------------------------------------------------------------------------------------------
# mbarrier
# ---------------------------------------------------------------------------------------------------------------------

SCOPES = [
    f"{r}.scope.{scope}.space.{space}"
    for r in ("", ".relaxed")
    for scope in ("cta", "cluster")
    for space in ("cta", "cluster")
]
WAIT_SCOPES = [s for s in SCOPES if s.endswith("space.cta")]
INITS = ["mbarrier.init", "mbarrier.init.shared"]
INVALS = ["mbarrier.inval", "mbarrier.inval.shared"]
PLAIN_ARRIVES = [f"mbarrier.arrive{end}" for end in ("", ".shared")]
NO_COMPLETES = [f"mbarrier.arrive.noComplete{end}" for end in ("", ".shared")]
DROPS = [f"mbarrier.arrive.drop{end}" for end in ("", ".shared")]
DROP_NO_COMPLETES = [f"mbarrier.arrive.drop.noComplete{end}" for end in ("", ".shared")]
SCOPED_ARRIVES = [f"mbarrier.arrive{s}" for s in SCOPES]
SCOPED_DROPS = [f"mbarrier.arrive.drop{s}" for s in SCOPES]
EXPECTING = [f"mbarrier.arrive.expect.tx{s}" for s in SCOPES]
EXPECTING_DROPS = [f"mbarrier.arrive.drop.expect.tx{s}" for s in SCOPES]
EXPECTS = [f"mbarrier.expect.tx{s}" for s in SCOPES if "relaxed" not in s]
COMPLETES = [f"mbarrier.complete.tx{s}" for s in SCOPES if "relaxed" not in s]
TESTS = ["mbarrier.test.wait", "mbarrier.test.wait.shared", *(f"mbarrier.test.wait{s}" for s in WAIT_SCOPES)]
PARITY_TESTS = [f"mbarrier.test.wait.parity{s}" for s in WAIT_SCOPES]
TRIES = [f"mbarrier.try.wait{s}" for s in WAIT_SCOPES]
PARITY_TRIES = [f"mbarrier.try.wait.parity{s}" for s in WAIT_SCOPES]
LIMITED_TRIES = [f"mbarrier.try.wait.tl{s}" for s in WAIT_SCOPES]
LIMITED_PARITY_TRIES = [f"mbarrier.try.wait.parity.tl{s}" for s in WAIT_SCOPES]
PENDING = "mbarrier.pending.count"
MBARRIERS = [
    *INITS, *INVALS, *PLAIN_ARRIVES, *NO_COMPLETES, *DROPS, *DROP_NO_COMPLETES, *SCOPED_ARRIVES, *SCOPED_DROPS,
    *EXPECTING, *EXPECTING_DROPS, *EXPECTS, *COMPLETES, *TESTS, *PARITY_TESTS, *TRIES, *PARITY_TRIES, *LIMITED_TRIES,
    *LIMITED_PARITY_TRIES, PENDING,
]  # fmt: skip


def _space(name: str) -> str:
    if name.endswith("space.cluster"):
        return "ptr addrspace(7)"
    return "ptr addrspace(3)" if name.endswith(("space.cta", ".shared")) else "ptr"


def _result(name: str) -> str:
    if ".wait" in name:
        return "i1"
    if name.startswith(("mbarrier.arrive",)) and not name.endswith("space.cluster"):
        return "i64"
    return "void"


class Script:
    """Operations of one thread on a barrier, and what each gives."""

    def __init__(self) -> None:
        self.body = ""
        self.declarations = (
            "@barrier = internal addrspace(3) global i64 undef, align 8\n"
            "declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)\n"
            "declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))\n"
            "declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)\n"
            "declare i32 @llvm.nvvm.mbarrier.pending.count(i64)\n"
        )
        self.stores = 0
        self.values = 0

    def call(self, name: str, *operands: str) -> str:
        space = _space(name)
        result = _result(name)
        line = declare(result, name, space, *(o.split()[0] for o in operands))
        if line not in self.declarations:
            self.declarations += line
        self.values += 1
        at = f"%a{self.values}"
        if space == "ptr addrspace(3)":
            self.body += f"  {at} = getelementptr i8, ptr addrspace(3) @barrier, i32 0\n"
        elif space == "ptr":
            self.body += f"  {at} = addrspacecast ptr addrspace(3) @barrier to ptr\n"
        else:
            self.body += f"  {at}g = addrspacecast ptr addrspace(3) @barrier to ptr\n"
            self.body += f"  {at} = addrspacecast ptr {at}g to ptr addrspace(7)\n"
        value = f"%v{self.values}"
        assigned = "" if result == "void" else f"{value} = "
        self.body += f"  {assigned}call {result} @{PREFIX}{name}({', '.join([f'{space} {at}', *operands])})\n"
        return value

    def keep(self, ty: str, value: str) -> None:
        self.values += 1
        self.body += f"  %w{self.values} = zext {ty} {value} to i64\n" if ty != "i64" else ""
        source = value if ty == "i64" else f"%w{self.values}"
        self.body += f"  %s{self.values} = getelementptr i64, ptr %out, i64 {self.stores}\n"
        self.body += f"  store i64 {source}, ptr %s{self.values}\n"
        self.stores += 1

    def pending(self, token: str) -> None:
        self.values += 1
        self.body += f"  %c{self.values} = call i32 @{PREFIX}{PENDING}(i64 {token})\n"
        self.keep("i32", f"%c{self.values}")

    def over(self, token: str) -> None:
        self.keep("i1", self.call("mbarrier.test.wait.shared", f"i64 {token}"))

    def run(self) -> list[int]:
        out = np.zeros(max(self.stores, 1), np.uint64)
        nvidia.run_kernel(kernel(self.body + "  ret void\n", self.declarations), 1, out)
        return [int(x) for x in out]


@pytest.mark.parametrize("init", INITS)
def test_mbarrier_phases(init: str) -> None:
    """Two arrivals end a phase, and the next one starts with as many."""
    script = Script()
    script.call(init, "i32 2")
    token = script.call("mbarrier.arrive.shared")
    script.pending(token)
    script.over(token)
    second = script.call("mbarrier.arrive.shared")
    script.pending(second)
    script.over(second)
    third = script.call("mbarrier.arrive.shared")
    script.pending(third)
    script.over(third)
    assert script.run() == [2, 0, 1, 1, 2, 0]


@pytest.mark.parametrize("name", [*PLAIN_ARRIVES, *SCOPED_ARRIVES])
def test_mbarrier_arrive(name: str) -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 4")
    before = script.call("mbarrier.arrive.shared")
    token = script.call(name, *(["i32 3"] if ".scope" in name else []))
    expected = []
    if _result(name) == "i64":
        script.pending(token)
        expected.append(3)
    script.over(before)
    assert script.run() == [*expected, 1 if ".scope" in name else 0]


@pytest.mark.parametrize("name", [*NO_COMPLETES, *DROP_NO_COMPLETES])
def test_mbarrier_arrive_without_completing(name: str) -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 4")
    token = script.call(name, "i32 2")
    script.pending(token)
    script.call("mbarrier.arrive.shared")
    script.call("mbarrier.arrive.shared")
    script.over(token)
    # The next phase expects 4 arrivals, or 2 after 2 drops.
    script.pending(script.call("mbarrier.arrive.shared"))
    assert script.run() == [4, 1, 2 if "drop" in name else 4]
    wrong = Script()
    wrong.call("mbarrier.init.shared", "i32 2")
    wrong.call(name, "i32 2")
    with pytest.raises(smalti.EmulationError, match="noComplete"):
        wrong.run()


@pytest.mark.parametrize("name", [*DROPS, *SCOPED_DROPS])
def test_mbarrier_drop(name: str) -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 3")
    token = script.call("mbarrier.arrive.shared")
    script.call(name, *(["i32 1"] if ".scope" in name else []))
    script.call("mbarrier.arrive.shared")
    script.over(token)
    script.pending(script.call("mbarrier.arrive.shared"))
    assert script.run() == [1, 2]


@pytest.mark.parametrize("name", [*EXPECTING, *EXPECTING_DROPS])
def test_mbarrier_arrive_expecting_bytes(name: str) -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 2")
    token = script.call("mbarrier.arrive.shared")
    script.call(name, "i32 64")
    script.over(token)
    script.call("mbarrier.complete.tx.scope.cta.space.cta", "i32 48")
    script.over(token)
    script.call("mbarrier.complete.tx.scope.cta.space.cta", "i32 16")
    script.over(token)
    script.pending(script.call("mbarrier.arrive.shared"))
    assert script.run() == [0, 0, 1, 1 if "drop" in name else 2]


@pytest.mark.parametrize(("expect", "complete"), [*zip(EXPECTS, COMPLETES, strict=True)])
def test_mbarrier_bytes(expect: str, complete: str) -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 1")
    script.call(expect, "i32 32")
    token = script.call("mbarrier.arrive.shared")
    script.over(token)
    script.call(complete, "i32 32")
    script.over(token)
    assert script.run() == [0, 1]


@pytest.mark.parametrize("name", [*TESTS, *LIMITED_TRIES])
def test_mbarrier_wait(name: str) -> None:
    script = Script()
    limit = ["i32 100"] if ".tl" in name else []
    script.call("mbarrier.init.shared", "i32 2")
    token = script.call("mbarrier.arrive.shared")
    script.keep("i1", script.call(name, f"i64 {token}", *limit))
    script.call("mbarrier.arrive.shared")
    script.keep("i1", script.call(name, f"i64 {token}", *limit))
    assert script.run() == [0, 1]


@pytest.mark.parametrize("name", [*PARITY_TESTS, *LIMITED_PARITY_TRIES])
def test_mbarrier_wait_for_parity(name: str) -> None:
    script = Script()
    limit = ["i32 100"] if ".tl" in name else []
    script.call("mbarrier.init.shared", "i32 1")
    for parity in (0, 1):
        script.keep("i1", script.call(name, f"i32 {parity}", *limit))
    script.call("mbarrier.arrive.shared")
    for parity in (0, 1):
        script.keep("i1", script.call(name, f"i32 {parity}", *limit))
    # The first phase has the parity 0; the one before it counts as over.
    assert script.run() == [0, 1, 1, 0]


BLOCKING = """
  br i1 %first, label %init, label %start
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @barrier, i32 32)
  br label %start
start:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %producer = icmp eq i32 %warp, 1
  %lane = and i32 %tid, 31
  %q = getelementptr i32, ptr addrspace(3) @shared, i32 %lane
  br i1 %producer, label %write, label %read
write:
  store i32 %lane, ptr addrspace(3) %q
  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @barrier)
  ret void
read:
  %done = call i1 @NAME(ptr addrspace(3) @barrier, STATE)
  %value = load i32, ptr addrspace(3) %q
  %p = getelementptr i32, ptr %out, i32 %lane
  store i32 %value, ptr %p
  ret void
"""


@pytest.mark.parametrize("name", [*TRIES, *PARITY_TRIES])
def test_mbarrier_try_wait_blocks(name: str) -> None:
    # A state of the first phase: the parity is its low bit in the emulator's own format.
    state = "i32 0" if "parity" in name else "i64 0"
    text = kernel(
        BLOCKING.replace("@NAME", f"@{PREFIX}{name}").replace("STATE", state),
        SHARED + Script().declarations + SYNC + declare("i1", name, "ptr addrspace(3)", state.split()[0]),
    )
    for schedule in SCHEDULES:
        out = np.zeros(32, np.uint32)
        nvidia.run_kernel(text, 64, out, emulation=schedule)
        np.testing.assert_array_equal(out, np.arange(32))
    # Without arrivals, a deadlock is reported.
    silent = text.replace("%token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @barrier)\n", "\n")
    with pytest.raises(smalti.EmulationError, match="mbarrier"):
        nvidia.run_kernel(silent, 64, np.zeros(32, np.uint32))


def _blocking(arrive: str, wait: str) -> str:
    return kernel(
        BLOCKING.replace("@NAME", f"@{PREFIX}{wait}")
        .replace("STATE", "i32 0")
        .replace(
            "@llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @barrier)",
            f"@{PREFIX}{arrive}(ptr addrspace(3) @barrier, i32 1)",
        ),
        SHARED
        + Script().declarations
        + SYNC
        + declare("i64", arrive, "ptr addrspace(3)", "i32")
        + declare("i1", wait, "ptr addrspace(3)", "i32"),
    )


def test_mbarrier_orders_memory() -> None:
    """Under ThreadSanitizer, writes before an arrival happen before the wait returns, but not with .relaxed."""
    arrive, wait = "mbarrier.arrive{}.scope.cta.space.cta", "mbarrier.try.wait.parity{}.scope.cta.space.cta"
    under = Emulation(sanitize="thread")
    out = np.zeros(32, np.uint32)
    nvidia.run_kernel(_blocking(arrive.format(""), wait.format("")), 64, out, emulation=under)
    np.testing.assert_array_equal(out, np.arange(32))
    for pair in ((arrive.format(".relaxed"), wait.format("")), (arrive.format(""), wait.format(".relaxed"))):
        with pytest.raises(smalti.EmulationError, match="race"):
            nvidia.run_kernel(_blocking(*pair), 64, out, emulation=under)


@pytest.mark.parametrize("name", INVALS)
def test_mbarrier_inval(name: str) -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 1")
    script.call(name)
    assert script.run()
    script.call("mbarrier.arrive.shared")
    with pytest.raises(smalti.EmulationError, match="is not initialized"):
        script.run()


def test_mbarrier_too_many_arrivals() -> None:
    script = Script()
    script.call("mbarrier.init.shared", "i32 1")
    script.call("mbarrier.arrive.scope.cta.space.cta", "i32 2")
    with pytest.raises(smalti.EmulationError, match="2 arrivals exceed the pending count of the phase, which is 1"):
        script.run()


COPY_ARRIVES = [f"cp.async.mbarrier.arrive{noinc}{end}" for noinc in ("", ".noinc") for end in ("", ".shared")]


@pytest.mark.parametrize("name", COPY_ARRIVES)
def test_copies_arrive(name: str) -> None:
    """A thread copies and lets the copy arrive: with .noinc that is the one arrival, and else one more."""
    script = Script()
    script.declarations += SHARED + declare(
        "void", "cp.async.ca.shared.global.4", "ptr addrspace(3)", "ptr addrspace(1)"
    )
    script.call("mbarrier.init.shared", "i32 2")
    token = script.call("mbarrier.arrive.shared")
    script.body += "  %in = addrspacecast ptr %out to ptr addrspace(1)\n"
    script.body += f"  call void @{PREFIX}cp.async.ca.shared.global.4(ptr addrspace(3) @shared, ptr addrspace(1) %in)\n"
    script.call(name)
    script.over(token)
    script.body += "  %copied = load i32, ptr addrspace(3) @shared\n"
    script.keep("i32", "%copied")
    assert script.run() == [1 if "noinc" in name else 0, 0]


# ---------------------------------------------------------------------------------------------------------------------
# cp.async.bulk
# ---------------------------------------------------------------------------------------------------------------------

BULK_LOADS = {
    "cp.async.bulk.global.to.shared.cta": (
        "ptr addrspace(3) @shared, ptr addrspace(3) @barrier, ptr addrspace(1) %in, i32 256, i64 0, i1 false"
    ),
    "cp.async.bulk.global.to.shared.cluster": (
        "ptr addrspace(7) %cluster, ptr addrspace(3) @barrier, ptr addrspace(1) %in, i32 256, i16 0, i64 0, i1 false, i1 false"
    ),
    "cp.async.bulk.shared.cta.to.cluster": (
        "ptr addrspace(7) %cluster, ptr addrspace(3) @barrier, ptr addrspace(3) @source, i32 256"
    ),
}
BULK_STORES = {
    "cp.async.bulk.shared.cta.to.global": "ptr addrspace(1) %out1, ptr addrspace(3) @source, i32 256, i64 0, i1 false",
    "cp.async.bulk.shared.cta.to.global.bytemask": (
        "ptr addrspace(1) %out1, ptr addrspace(3) @source, i32 256, i64 0, i1 false, i16 4660"
    ),
}
BULK_COMMIT = "cp.async.bulk.commit.group"
BULK_WAITS = ["cp.async.bulk.wait.group", "cp.async.bulk.wait.group.read"]
BULK_PREFETCH = "cp.async.bulk.prefetch.L2"


def _operand_types(operands: str) -> list[str]:
    return [part.rsplit(" ", 1)[0] for part in operands.split(", ")]


BULK = """
  %at = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %mine = load i32, ptr addrspace(1) %at
  %s = getelementptr i32, ptr addrspace(3) @source, i32 %tid
  store i32 %mine, ptr addrspace(3) %s
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  %generic = addrspacecast ptr addrspace(3) @shared to ptr
  %cluster = addrspacecast ptr %generic to ptr addrspace(7)
  %out1 = addrspacecast ptr %out to ptr addrspace(1)
  br i1 %first, label %init, label %go
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @barrier, i32 1)
  br label %go
go:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %copy, label %wait
copy:
COPY
  br label %wait
wait:
WAIT
  ret void
"""
BULK_DECLARATIONS = (
    SHARED
    + "@source = internal addrspace(3) global [256 x i8] undef, align 16\n"
    + Script().declarations
    + SYNC
    + declare("void", "fence.proxy.async.shared_cta")
    + declare("i64", "mbarrier.arrive.expect.tx.scope.cta.space.cta", "ptr addrspace(3)", "i32")
    + declare("i1", "mbarrier.try.wait.parity.scope.cta.space.cta", "ptr addrspace(3)", "i32")
)
READ_SHARED = """
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 0)
  %r = getelementptr i32, ptr addrspace(3) @shared, i32 %tid
  %value = load i32, ptr addrspace(3) %r
  %o = getelementptr i32, ptr %out, i32 %tid
  store i32 %value, ptr %o
"""


@pytest.mark.parametrize("name", BULK_LOADS)
def test_bulk_copies_to_shared(name: str) -> None:
    operands = BULK_LOADS[name]
    expect = (
        "  %t = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 256)\n"
    )
    copy = f"{expect}  call void @{PREFIX}{name}({operands})"
    text = kernel(
        BULK.replace("COPY", copy).replace("WAIT", READ_SHARED),
        BULK_DECLARATIONS + declare("void", name, *_operand_types(operands)),
        "ptr addrspace(1) %in, ptr %out",
    )
    data = np.arange(64, dtype=np.uint32) + 1
    for schedule in [*SCHEDULES, Emulation(sanitize="thread"), Emulation(sanitize="address")]:
        out = np.zeros(64, np.uint32)
        nvidia.run_kernel(text, 64, data, out, emulation=schedule)
        np.testing.assert_array_equal(out, data)
    short = text.replace("i32 256, i", "i32 250, i").replace("@source, i32 256)", "@source, i32 250)")
    with pytest.raises(smalti.EmulationError, match="multiple of 16"):
        nvidia.run_kernel(short, 64, data, np.zeros(64, np.uint32))


@pytest.mark.parametrize(("name", "wait"), [*itertools.product(BULK_STORES, BULK_WAITS)])
def test_bulk_copies_to_global(name: str, wait: str) -> None:
    operands = BULK_STORES[name]
    copy = f"  call void @{PREFIX}{name}({operands})\n  call void @{PREFIX}{BULK_COMMIT}()\n"
    copy += f"  call void @{PREFIX}{wait}(i32 0)"
    declarations = (
        declare("void", name, *_operand_types(operands)) + declare("void", BULK_COMMIT) + declare("void", wait, "i32")
    )
    text = kernel(
        BULK.replace("COPY", copy).replace("WAIT", ""),
        BULK_DECLARATIONS + declarations,
        "ptr addrspace(1) %in, ptr %out",
    )
    data = np.arange(64, dtype=np.uint32) * 0x01010101
    taken = np.array([4660 >> (i % 16) & 1 for i in range(256)], bool) if "mask" in name else np.ones(256, bool)
    for schedule in LATE_AND_EARLY:
        out = np.full(64, 0xEEEEEEEE, np.uint32)
        nvidia.run_kernel(text, 64, data, out, emulation=schedule)
        np.testing.assert_array_equal(out.view(np.uint8), np.where(taken, data.view(np.uint8), 0xEE))


# ---------------------------------------------------------------------------------------------------------------------
# Atomics
# ---------------------------------------------------------------------------------------------------------------------

ATOMICS = {
    f"atomic.{op}.gen.{kind}.{scope}.{ty}.p{space}": (op, ty, space)
    for op, kind, types in (
        ("add", "f", ("f32", "f64")),
        *((op, "i", ("i32", "i64")) for op in ("add", "and", "or", "xor", "min", "max", "exch", "inc", "dec", "cas")),
    )
    for scope in ("cta", "sys")
    for ty in types
    for space in (0, 1)
}


def _atomic(op: str, old: Any, b: Any) -> Any:
    """The memory after the instruction: the entry of the table in "atom"."""
    if op in ("min", "max"):
        bits = old.dtype.itemsize * 8
        signed = [int(v) - (1 << bits) if int(v) >> (bits - 1) else int(v) for v in (old, b)]
        return type(old)((min if op == "min" else max)(signed) % (1 << bits))
    return {
        "add": lambda: old + b,
        "and": lambda: old & b,
        "or": lambda: old | b,
        "xor": lambda: old ^ b,
        "exch": lambda: b,
        "inc": lambda: old * 0 if old >= b else old + type(old)(1),
        "dec": lambda: b if old == 0 or old > b else old - type(old)(1),
        "cas": lambda: b,
    }[op]()


@pytest.mark.parametrize("names", [sorted(ATOMICS)[i::8] for i in range(8)], ids=range(8))
def test_atomics(names: list[str]) -> None:
    for name in names:
        op, ty, space = ATOMICS[name]
        llvm = {"f32": "float", "f64": "double"}.get(ty, ty)
        dtype = np.dtype({"f32": "f4", "f64": "f8", "i32": "u4", "i64": "u8"}[ty])
        pointer = "ptr" if space == 0 else "ptr addrspace(1)"
        compare = f", {llvm} %c" if op == "cas" else ""
        body = f"""
  %pm = getelementptr {llvm}, {pointer} %memory, i32 %tid
  %pb = getelementptr {llvm}, ptr %b, i32 %tid
  %pc = getelementptr {llvm}, ptr %compare, i32 %tid
  %po = getelementptr {llvm}, ptr %out, i32 %tid
  %v = load {llvm}, ptr %pb
  %c = load {llvm}, ptr %pc
  %old = call {llvm} @{PREFIX}{name}({pointer} %pm{compare}, {llvm} %v)
  store {llvm} %old, ptr %po
  ret void
"""
        types = [pointer, *([llvm] * (2 if op == "cas" else 1))]
        random = nvidia.seeded(name)
        if ty.startswith("f"):
            memory, b = (random.standard_normal(32).astype(dtype) for _ in range(2))
        else:
            memory, b = (random.integers(0, 1 << 8 * dtype.itemsize, 32, np.uint64).astype(dtype) for _ in range(2))
            memory[:8], b[:8] = [0, 0, 5, 5, 5, 9, 1, 7], [0, 3, 5, 4, 6, 2, 1, 8]
        comparand = np.where(np.arange(32) % 2, memory, memory + dtype.type(1)).astype(dtype)
        before, out = memory.copy(), np.zeros(32, dtype)
        text = kernel(body, declare(llvm, name, *types), f"{pointer} %memory, ptr %b, ptr %compare, ptr %out")
        nvidia.run_kernel(text, 32, memory, b, comparand, out)
        with np.errstate(over="ignore"):
            expected = np.array([_atomic(op, x, y) for x, y in zip(before, b, strict=True)], dtype)
        if op == "cas":
            expected = np.where(np.arange(32) % 2, b, before)
        np.testing.assert_array_equal(out, before, name)
        np.testing.assert_array_equal(memory, expected, name)


def test_atomics_of_many_blocks() -> None:
    """Blocks in several processes add to one number."""
    name = "atomic.add.gen.i.sys.i32.p0"
    body = f"  %old = call i32 @{PREFIX}{name}(ptr %out, i32 1)\n  ret void\n"
    out = np.zeros(1, np.uint32)
    nvidia.run_kernel(kernel(body, declare("i32", name, "ptr", "i32")), 64, out, grid=50)
    assert out[0] == 3200


# ---------------------------------------------------------------------------------------------------------------------
# Hints, spaces and system calls
# ---------------------------------------------------------------------------------------------------------------------

HINTS: dict[str, str] = {
    **dict.fromkeys(
        [
            "membar.cta",
            "membar.gl",
            "membar.sys",
            "fence.sc.cluster",
            "fence.mbarrier_init.release.cluster",
            "fence.acquire.sync_restrict.space.cluster.scope.cluster",
            "fence.release.sync_restrict.space.cta.scope.cluster",
            "fence.proxy.alias",
            "fence.proxy.async",
            "fence.proxy.async.global",
            "fence.proxy.async.shared_cta",
            "fence.proxy.async.shared_cluster",
            "fence.proxy.async_generic.acquire.sync_restrict.space.cluster.scope.cluster",
            "fence.proxy.async_generic.release.sync_restrict.space.cta.scope.cluster",
            *(f"fence.proxy.tensormap_generic.release.{s}" for s in ("cta", "cluster", "gpu", "sys")),
            "griddepcontrol.launch.dependents",
            "griddepcontrol.wait",
        ],
        "",
    ),
    **{f"fence.proxy.tensormap_generic.acquire.{s}": "ptr %out, i32 128" for s in ("cta", "cluster", "gpu", "sys")},
    **dict.fromkeys(["prefetch.L1", "prefetch.L2", "prefetchu.L1"], "ptr %out"),
    **dict.fromkeys(
        [f"prefetch.global.{level}" for level in ("L1", "L2", "L2.evict.last", "L2.evict.normal")],
        "ptr addrspace(1) %global",
    ),
    "prefetch.local.L1": "ptr addrspace(5) %local",
    "prefetch.local.L2": "ptr addrspace(5) %local",
    "applypriority.L2.evict.normal": "ptr %out, i64 128",
    "applypriority.global.L2.evict.normal": "ptr addrspace(1) %global, i64 128",
    "discard.L2": "ptr %out, i64 128",
    "discard.global.L2": "ptr addrspace(1) %global, i64 128",
    "pm.event.mask": "i16 1",
    "nanosleep": "i32 20",
    BULK_PREFETCH: "ptr addrspace(1) %global, i32 256, i64 0, i1 false",
}


def test_hints_have_no_effect() -> None:
    """All of them in one kernel, which continues and does not change memory."""
    body = "  %global = addrspacecast ptr %out to ptr addrspace(1)\n  %slot = alloca i32\n"
    body += "  %local = addrspacecast ptr %slot to ptr addrspace(5)\n"
    declarations = ""
    for name, operands in HINTS.items():
        body += f"  call void @{PREFIX}{name}({operands})\n"
        declarations += declare("void", name, *(_operand_types(operands) if operands else []))
    out = np.arange(32, dtype=np.uint32)
    body += "  %p = getelementptr i32, ptr %out, i32 %tid\n  %v = load i32, ptr %p\n  %w = add i32 %v, 1\n  store i32 %w, ptr %p\n  ret void\n"
    nvidia.run_kernel(kernel(body, declarations), 32, out)
    np.testing.assert_array_equal(out, np.arange(32) + 1)


SPACES = {
    "isspacep.shared": (1, 0),
    "isspacep.shared.cluster": (1, 0),
    "isspacep.global": (0, 1),
    "isspacep.local": (0, 0),
    "isspacep.const": (0, 0),
}


@pytest.mark.parametrize("name", SPACES)
def test_spaces(name: str) -> None:
    body = f"""
  %in_shared = addrspacecast ptr addrspace(3) @shared to ptr
  %a = call i1 @{PREFIX}{name}(ptr %in_shared)
  %b = call i1 @{PREFIX}{name}(ptr %out)
  %wa = zext i1 %a to i8
  %wb = zext i1 %b to i8
  store i8 %wa, ptr %out
  %p = getelementptr i8, ptr %out, i32 1
  store i8 %wb, ptr %p
  ret void
"""
    out = np.full(2, 9, np.uint8)
    nvidia.run_kernel(kernel(body, SHARED + declare("i1", name, "ptr")), 1, out)
    assert tuple(out) == SPACES[name]


MOVES = {"move.i16": "i16", "move.i32": "i32", "move.i64": "i64", "move.float": "float", "move.double": "double"}


def test_moves() -> None:
    random = nvidia.seeded("moves")
    values = {ty: random.integers(1, 60000, 32).astype(nvidia.numpy_type(ty)) for ty in MOVES.values()}
    calls = {PREFIX + name: nvidia.call(ty, (ty, values[ty])) for name, ty in MOVES.items()}
    for name, (fields,) in nvidia.run(calls).items():
        np.testing.assert_array_equal(fields, values[MOVES[name.removeprefix(PREFIX)]])


POINTERS = {
    "move.ptr.p0": ("ptr", "ptr", ""),
    "internal.addrspace.wrap.p0.p1": ("ptr", "ptr addrspace(1)", ""),
    "mapa": ("ptr", "ptr", ", i32 0"),
    "mapa.shared.cluster": ("ptr addrspace(7)", "ptr addrspace(3)", ", i32 0"),
}


@pytest.mark.parametrize("name", POINTERS)
def test_pointers(name: str) -> None:
    result, operand, more = POINTERS[name]
    source = {
        "ptr": "%shared" if name == "mapa" else "%out",
        "ptr addrspace(1)": "%global",
        "ptr addrspace(3)": "@shared",
    }[operand]

    def generic(ty: str, value: str) -> str:
        return f"getelementptr i8, ptr {value}, i32 0" if ty == "ptr" else f"addrspacecast {ty} {value} to ptr"

    body = f"""
  %global = addrspacecast ptr %out to ptr addrspace(1)
  %shared = addrspacecast ptr addrspace(3) @shared to ptr
  %moved = call {result} @{PREFIX}{name}({operand} {source}{more})
  %here = {generic(operand, source)}
  %there = {generic(result, "%moved")}
  %same = icmp eq ptr %here, %there
  %byte = zext i1 %same to i8
  store i8 %byte, ptr %out
  ret void
"""
    out = np.zeros(1, np.uint8)
    types = [operand, *(["i32"] if more else [])]
    nvidia.run_kernel(kernel(body, SHARED + declare(result, name, *types)), 1, out)
    assert out[0] == 1


RANKS = {"getctarank": "ptr", "getctarank.shared.cluster": "ptr addrspace(3)"}


@pytest.mark.parametrize("name", RANKS)
def test_rank_of_address(name: str) -> None:
    cast = "%g = addrspacecast ptr addrspace(3) @shared to ptr"
    operand = "ptr %g" if RANKS[name] == "ptr" else "ptr addrspace(3) @shared"
    body = f"  {cast}\n  %r = call i32 @{PREFIX}{name}({operand})\n  store i32 %r, ptr %out\n  ret void\n"
    out = np.full(1, 5, np.uint32)
    nvidia.run_kernel(kernel(body, SHARED + declare("i32", name, RANKS[name])), 1, out)
    assert out[0] == 0


LDU = {"ldu.global.i.i32.p1": "i32", "ldu.global.f.f32.p1": "float", "ldu.global.p.p0.p1": "ptr"}


@pytest.mark.parametrize("name", LDU)
def test_ldu(name: str) -> None:
    ty = LDU[name]
    size = 8 if ty == "ptr" else 4
    body = f"""
  %from = getelementptr {ty}, ptr addrspace(1) %in, i32 %tid
  %v = call {ty} @{PREFIX}{name}(ptr addrspace(1) %from, i32 {size})
  %to = getelementptr {ty}, ptr %out, i32 %tid
  store {ty} %v, ptr %to
  ret void
"""
    data = np.random.default_rng(3).integers(1, 1 << 30, 32 * size // 4).astype(np.uint32)
    out = np.zeros_like(data)
    nvidia.run_kernel(
        kernel(body, declare(ty, name, "ptr addrspace(1)", "i32"), "ptr addrspace(1) %in, ptr %out"), 32, data, out
    )
    np.testing.assert_array_equal(out, data)


BULK_ZEROS = {"st.bulk": "ptr", "st.bulk.shared.cta": "ptr addrspace(3)"}


@pytest.mark.parametrize("name", BULK_ZEROS)
def test_bulk_stores_of_zeros(name: str) -> None:
    operand = "ptr %g" if BULK_ZEROS[name] == "ptr" else "ptr addrspace(3) @shared"
    body = f"""
  %g = addrspacecast ptr addrspace(3) @shared to ptr
  store i64 -1, ptr addrspace(3) @shared
  %next = getelementptr i8, ptr addrspace(3) @shared, i32 8
  store i64 5, ptr addrspace(3) %next
  call void @{PREFIX}{name}({operand}, i64 8, i64 0)
  %a = load i64, ptr addrspace(3) @shared
  %b = load i64, ptr addrspace(3) %next
  store i64 %a, ptr %out
  %p = getelementptr i64, ptr %out, i32 1
  store i64 %b, ptr %p
  ret void
"""
    out = np.full(2, 9, np.uint64)
    nvidia.run_kernel(kernel(body, SHARED + declare("void", name, BULK_ZEROS[name], "i64", "i64")), 1, out)
    assert tuple(out) == (0, 5)


EXIT = "exit"


def test_exit() -> None:
    """Half of the threads end; the others write."""
    body = f"""
  %odd = and i32 %tid, 1
  %is_odd = icmp ne i32 %odd, 0
  br i1 %is_odd, label %leave, label %stay
leave:
  call void @{PREFIX}{EXIT}()
  br label %stay
stay:
  %p = getelementptr i32, ptr %out, i32 %tid
  store i32 1, ptr %p
  ret void
"""
    out = np.zeros(32, np.uint32)
    nvidia.run_kernel(kernel(body, declare("void", EXIT)), 32, out)
    np.testing.assert_array_equal(out, 1 - np.arange(32) % 2)


CANCEL = [f"clusterlaunchcontrol.try_cancel.async{m}.shared" for m in ("", ".multicast")]
QUERY = "clusterlaunchcontrol.query_cancel.is_canceled"
FIRST_BLOCK = [f"clusterlaunchcontrol.query_cancel.get_first_ctaid.{axis}" for axis in "xyz"]


@pytest.mark.parametrize("name", CANCEL)
def test_nothing_is_left_to_cancel(name: str) -> None:
    body = f"""
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @barrier, i32 1)
  %t = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 16)
  call void @{PREFIX}{name}(ptr addrspace(3) @shared, ptr addrspace(3) @barrier)
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 0)
  %answer = load i128, ptr addrspace(3) @shared
  %is = call i1 @{PREFIX}{QUERY}(i128 %answer)
  %byte = zext i1 %is to i8
  store i8 %byte, ptr %out
  ret void
"""
    declarations = (
        BULK_DECLARATIONS + declare("void", name, "ptr addrspace(3)", "ptr addrspace(3)") + declare("i1", QUERY, "i128")
    )
    out = np.full(1, 9, np.uint8)
    nvidia.run_kernel(kernel(body, declarations), 1, out)
    assert out[0] == 0


@pytest.mark.parametrize("name", FIRST_BLOCK)
def test_block_of_nothing(name: str) -> None:
    body = f"  %r = call i32 @{PREFIX}{name}(i128 0)\n  store i32 %r, ptr %out\n  ret void\n"
    with pytest.raises(smalti.EmulationError, match="no block was canceled"):
        nvidia.run_kernel(kernel(body, declare("i32", name, "i128")), 1, np.zeros(1, np.uint32))


PRINT = "vprintf"


def test_print(capfd: pytest.CaptureFixture[str]) -> None:
    text = (
        '@format = private constant [30 x i8] c"%d|%5.2f|%s|%c|%llx|%%|%-4u|\\0A\\00"\n'
        '@word = private constant [5 x i8] c"word\\00"\n'
        "declare i32 @vprintf(ptr, ptr)\n"
    )
    body = """
  %a = alloca { i32, double, ptr, i32, i64, i32 }, align 8
  %p1 = getelementptr { i32, double, ptr, i32, i64, i32 }, ptr %a, i32 0, i32 1
  %p2 = getelementptr { i32, double, ptr, i32, i64, i32 }, ptr %a, i32 0, i32 2
  %p3 = getelementptr { i32, double, ptr, i32, i64, i32 }, ptr %a, i32 0, i32 3
  %p4 = getelementptr { i32, double, ptr, i32, i64, i32 }, ptr %a, i32 0, i32 4
  %p5 = getelementptr { i32, double, ptr, i32, i64, i32 }, ptr %a, i32 0, i32 5
  store i32 -7, ptr %a
  store double 3.14159, ptr %p1
  store ptr @word, ptr %p2
  store i32 33, ptr %p3
  store i64 1311768467463790320, ptr %p4
  store i32 42, ptr %p5
  %n = call i32 @vprintf(ptr @format, ptr %a)
  store i32 %n, ptr %out
  ret void
"""
    out = np.zeros(1, np.uint32)
    nvidia.run_kernel(kernel(body, text), 1, out)
    assert out[0] == 6
    captured = capfd.readouterr()
    assert "-7| 3.14|word|!|123456789abcdef0|%|42  |" in captured.out + captured.err


ASSERT = "__assertfail"


def test_assert() -> None:
    text = (
        '@what = private constant [6 x i8] c"x > 0\\00"\n@file = private constant [5 x i8] c"f.cu\\00"\n'
        '@function = private constant [2 x i8] c"f\\00"\ndeclare void @__assertfail(ptr, ptr, i32, ptr, i64)\n'
    )
    body = "  call void @__assertfail(ptr @what, ptr @file, i32 12, ptr @function, i64 1)\n  ret void\n"
    with pytest.raises(smalti.EmulationError, match=r"f.cu:12: f: assertion `x > 0` failed"):
        nvidia.run_kernel(kernel(body, text), 1, np.zeros(1, np.uint32))


TESTED = [
    *(
        PREFIX + name
        for name in [
            *SYNCS,
            *ARRIVES,
            *REDUCTIONS,
            WARP_SYNC,
            *CLUSTER_ARRIVES,
            *CLUSTER_WAITS,
            *COPIES,
            COMMIT,
            WAIT,
            WAIT_ALL,
            *MBARRIERS,
            *COPY_ARRIVES,
            *BULK_LOADS,
            *BULK_STORES,
            BULK_COMMIT,
            *BULK_WAITS,
            *ATOMICS,
            *HINTS,
            *SPACES,
            *MOVES,
            *POINTERS,
            *RANKS,
            *LDU,
            *BULK_ZEROS,
            EXIT,
            *CANCEL,
            QUERY,
            *FIRST_BLOCK,
        ]
    ),
    PRINT,
    ASSERT,
]
