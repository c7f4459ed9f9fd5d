# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters: blocks that run together, their shared memory and barriers, and copies to several of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import nvidia
import pytest
import smalti
from smalti.emulator import SCHEDULES, Emulation, tensor_map
from test_nvidia_assembly import asm

THREADS = 64
REGISTERS = [
    f"{name}.{axis}" for name in ("clusterid", "nclusterid", "cluster.ctaid", "cluster.nctaid") for axis in "xyz"
] + ["cluster.ctarank", "cluster.nctarank"]  # fmt: skip
HEAD = """
@words = internal addrspace(3) global [256 x i32] undef, align 1024
@bar = internal addrspace(3) global i64 undef, align 8
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
declare void @llvm.nvvm.barrier.cluster.arrive.aligned()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3), i32)
declare ptr @llvm.nvvm.mapa(ptr, i32)
declare i32 @llvm.nvvm.getctarank(ptr)
declare i32 @llvm.nvvm.getctarank.shared.cluster(ptr addrspace(3))
declare i1 @llvm.nvvm.isspacep.shared(ptr)
declare i1 @llvm.nvvm.isspacep.shared.cluster(ptr)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(
  ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(
  ptr addrspace(7), ptr addrspace(3), ptr addrspace(1), i32, i16, i64, i1, i1)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.cluster(ptr addrspace(7), ptr addrspace(3), ptr addrspace(3), i32)
"""
START = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %peer = xor i32 %rank, 1
  %base = mul i32 %block, 64
  %at = add i32 %base, %tid
  %first = icmp eq i32 %tid, 0
  %p = getelementptr i32, ptr %out, i32 %at
  %mine = getelementptr i32, ptr addrspace(3) @words, i32 %tid
"""
SYNC = (
    "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n"
)
STORE = "  store i32 %r, ptr %p\n"


def kernel(body: str, parameters: str = "ptr %out", cluster: str = "2,1,1", declarations: str = "") -> str:
    return (
        f'{HEAD}{declarations}\ndefine ptx_kernel void @k({parameters}) "nvvm.cluster_dim"="{cluster}" '
        f"{{{START}{body}  ret void\n}}\n"
    )


def run(body: str, *arguments: Any, grid: Any = 4, parameters: str = "ptr %out", **options: Any) -> Any:
    out = np.zeros((4, THREADS), np.uint32)
    nvidia.run_kernel(kernel(body, parameters), THREADS, out, *arguments, grid=grid, **options)
    return out


SWAPPED = [1, 0, 3, 2]


def test_registers() -> None:
    cluster, grid = (2, 3, 1), (4, 6, 2)
    out = np.zeros((2, 6, 4, len(REGISTERS) + 1), np.uint32)
    sizes = ("ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y")
    names = [n for n in (*REGISTERS, *sizes) if n not in ("ctaid.x", "cluster.ctarank")]
    declarations = "".join(f"declare i32 @llvm.nvvm.read.ptx.sreg.{n}()\n" for n in names)
    body = "".join(f"  %v{i} = call i32 @llvm.nvvm.read.ptx.sreg.{n}()\n" for i, n in enumerate([*REGISTERS, *sizes]))
    x, y, z, nx, ny = (f"%v{len(REGISTERS) + i}" for i in range(5))
    body += (
        f"  %zy = mul i32 {z}, {ny}\n  %zyy = add i32 %zy, {y}\n  %zx = mul i32 %zyy, {nx}\n  %i = add i32 %zx, {x}\n"
    )
    body += f"  %row = mul i32 %i, {len(REGISTERS) + 1}\n"
    body += "  %is = call i1 @llvm.nvvm.is_explicit_cluster()\n  %is32 = zext i1 %is to i32\n"
    for i in range(len(REGISTERS) + 1):
        value = f"%v{i}" if i < len(REGISTERS) else "%is32"
        body += f"  %j{i} = add i32 %row, {i}\n  %q{i} = getelementptr i32, ptr %out, i32 %j{i}\n"
        body += f"  store i32 {value}, ptr %q{i}\n"
    declarations += "declare i1 @llvm.nvvm.is_explicit_cluster()\n"
    nvidia.run_kernel(kernel(body, cluster="2,3,1", declarations=declarations), 1, out, grid=grid)
    for index in np.ndindex(2, 6, 4):
        at = index[::-1]
        values = dict(zip([*REGISTERS, "explicit"], out[index], strict=True))
        for axis, place, size, count in zip("xyz", at, cluster, grid, strict=True):
            assert values[f"clusterid.{axis}"] == place // size
            assert values[f"nclusterid.{axis}"] == count // size
            assert values[f"cluster.ctaid.{axis}"] == place % size
            assert values[f"cluster.nctaid.{axis}"] == size
        assert values["cluster.ctarank"] == at[0] % 2 + at[1] % 3 * 2
        assert values["cluster.nctarank"] == 6
        assert values["explicit"] == 1


REMOTE = {
    "shared.cluster": """
  %theirs = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %mine, i32 %peer)
  %r = load i32, ptr addrspace(7) %theirs
""",
    "generic": """
  %g = addrspacecast ptr addrspace(3) %mine to ptr
  %theirs = call ptr @llvm.nvvm.mapa(ptr %g, i32 %peer)
  %r = load i32, ptr %theirs
""",
    "assembly": asm(
        "{ .reg .b32 a; mapa.shared::cluster.u32 a, $1, $2; ld.shared::cluster.u32 $0, [a]; }",
        "=r,r,r", "ptr addrspace(3) %mine, i32 %peer", "i32", "r",
    ),
}  # fmt: skip


@pytest.mark.parametrize("schedule", [*SCHEDULES, Emulation(sanitize="thread")], ids=lambda s: f"{s.order}-{s.copies}")
@pytest.mark.parametrize("way", REMOTE)
def test_memory_of_the_other_block(way: str, schedule: Emulation) -> None:
    body = f"  store i32 %at, ptr addrspace(3) %mine\n{SYNC}{REMOTE[way]}{STORE}{SYNC}"
    expected = np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)
    np.testing.assert_array_equal(run(body, emulation=schedule), expected[SWAPPED])


def test_spaces_and_ranks() -> None:
    body = """
  %g = addrspacecast ptr addrspace(3) %mine to ptr
  %theirs = call ptr @llvm.nvvm.mapa(ptr %g, i32 %peer)
  %a = call i1 @llvm.nvvm.isspacep.shared(ptr %theirs)
  %b = call i1 @llvm.nvvm.isspacep.shared.cluster(ptr %theirs)
  %c = call i32 @llvm.nvvm.getctarank(ptr %theirs)
  %theirs3 = addrspacecast ptr %theirs to ptr addrspace(3)
  %d = call i32 @llvm.nvvm.getctarank.shared.cluster(ptr addrspace(3) %theirs3)
  %e = call i1 @llvm.nvvm.isspacep.shared(ptr %g)
  %a32 = zext i1 %a to i32
  %b32 = zext i1 %b to i32
  %e32 = zext i1 %e to i32
  %b1 = shl i32 %b32, 1
  %c1 = shl i32 %c, 2
  %d1 = shl i32 %d, 3
  %e1 = shl i32 %e32, 4
  %s0 = or i32 %a32, %b1
  %s1 = or i32 %s0, %c1
  %s2 = or i32 %s1, %d1
  %r = or i32 %s2, %e1
"""
    found = run(body + STORE)
    np.testing.assert_array_equal(found[0], np.full(THREADS, 0b11110))
    np.testing.assert_array_equal(found[1], np.full(THREADS, 0b10010))


WAIT = """
  %w = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(ptr addrspace(3) @bar, i32 0)
"""
ARRIVE = """
    {
        .reg .b32 mapped_addr;
        @$0 mapa.shared::cluster.u32 mapped_addr, $1, $2;
        @$0 mbarrier.arrive.shared::cluster.b64 _, [mapped_addr];
    }"""


def _init(count: int) -> str:
    return (
        "  br i1 %first, label %init, label %begun\ninit:\n"
        f"  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 {count})\n  br label %begun\nbegun:\n{SYNC}"
    )


@pytest.mark.parametrize("sanitize", [None, "thread"])
def test_arrivals_at_the_other_block(sanitize: Any) -> None:
    """A block writes into the other's memory and arrives there, as JAX does."""
    body = (
        _init(THREADS)
        + """
  %theirs = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %mine, i32 %peer)
  store i32 %at, ptr addrspace(7) %theirs
"""
    )
    body += asm(ARRIVE, "b,r,r", "i1 true, ptr addrspace(3) @bar, i32 %peer") + WAIT
    body += "  %r = load i32, ptr addrspace(3) %mine\n" + STORE + SYNC
    expected = np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)
    for schedule in SCHEDULES:
        emulation = Emulation(order=schedule.order, copies=schedule.copies, sanitize=sanitize)
        np.testing.assert_array_equal(run(body, emulation=emulation), expected[SWAPPED])


EXPECT = """
  br i1 %first, label %expect, label %issue
expect:
  %t = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 256)
  br label %issue
issue:
""" + SYNC  # fmt: skip
LEADS = "  %zero = icmp eq i32 %rank, 0\n  %is = and i1 %first, %zero\n  br i1 %is, label %copy, label %copied\ncopy:\n"
TO = "  %to = addrspacecast ptr addrspace(3) @words to ptr addrspace(7)\n"
COPIED = "  br label %copied\ncopied:\n" + WAIT + "  %r = load i32, ptr addrspace(3) %mine\n" + STORE + SYNC
TENSOR = (
    "  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %to, ptr addrspace(3) @bar, ptr %map, "
    "i32 0, i32 4, i16 {mask}, i64 0, i1 true, i1 false, i32 0)\n"
)
BULK = (
    "  %from = addrspacecast ptr %map to ptr addrspace(1)\n"
    "  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7) %to, ptr addrspace(3) @bar, "
    "ptr addrspace(1) %from, i32 256, i16 {mask}, i64 0, i1 true, i1 false)\n"
)
TEXT = asm(
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    " [$0], [$1, {$2,$3} ], [$4], $5;",
    "l,l,r,r,r,h", "ptr addrspace(7) %to, ptr %map, i32 0, i32 4, ptr addrspace(3) @bar, i16 {mask}",
).replace("{", "{{").replace("}", "}}").replace("i16 {{mask}}", "i16 {mask}")  # fmt: skip


@pytest.mark.parametrize("schedule", [*SCHEDULES, Emulation(sanitize="address")], ids=lambda s: f"{s.order}-{s.copies}")
@pytest.mark.parametrize("way", [TENSOR, BULK, TEXT], ids=["tensor", "bulk", "assembly"])
def test_multicast(way: str, schedule: Emulation) -> None:
    """One copy for both blocks, which wait at their own barriers."""
    array = np.arange(8 * 16, dtype=np.int32).reshape(8, 16)
    source = array[4:].copy() if way is BULK else tensor_map(array, (4, 16))
    body = _init(1) + EXPECT + LEADS + TO + way.format(mask=3) + COPIED
    found = run(body, source, parameters="ptr %out, ptr %map", emulation=schedule)
    np.testing.assert_array_equal(found, np.tile(array[4:].reshape(1, -1).astype(np.uint32), (4, 1)))


def test_a_block_without_a_bit_receives_no_data() -> None:
    array = np.arange(4 * 16, dtype=np.int32).reshape(4, 16)
    body = _init(1) + EXPECT + LEADS + TO + BULK.format(mask=1) + COPIED
    with pytest.raises(smalti.EmulationError, match=r"block 1 of the cluster: threads 0-63 wait at mbarrier") as error:
        run(body, array, parameters="ptr %out, ptr %map")
    assert error.value.findings[0].kind == "deadlock"
    assert error.value.findings[0].block is not None


def test_copies_between_blocks() -> None:
    """Shared memory of one block to that of the other."""
    body = (
        _init(1)
        + EXPECT
        + f"""
  store i32 %at, ptr addrspace(3) %mine
{SYNC}  %half = getelementptr i32, ptr addrspace(3) @words, i32 64
  br i1 %first, label %copy, label %copied
copy:
  %to = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %half, i32 %peer)
  %there = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 %peer)
  %there0 = addrspacecast ptr addrspace(7) %there to ptr
  %there3 = addrspacecast ptr %there0 to ptr addrspace(3)
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.cluster(
    ptr addrspace(7) %to, ptr addrspace(3) %there3, ptr addrspace(3) @words, i32 256)
  br label %copied
copied:
{WAIT}  %here = getelementptr i32, ptr addrspace(3) %half, i32 %tid
  %r = load i32, ptr addrspace(3) %here
{STORE}{SYNC}"""
    )
    expected = np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)
    for schedule in SCHEDULES:
        np.testing.assert_array_equal(run(body, emulation=schedule), expected[SWAPPED])


REMOTE_ADDRESSES = """
  %to = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %mine, i32 %peer)
  %there = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 %peer)
"""
COUNTED = "shared::cluster.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize("prefix", ["st.async.weak.", "st.async."])
def test_asynchronous_stores(prefix: str) -> None:
    body = _init(1) + EXPECT + REMOTE_ADDRESSES
    body += asm(
        f"{prefix}{COUNTED}.b32 [$0], $1, [$2];", "l,r,l", "ptr addrspace(7) %to, i32 %at, ptr addrspace(7) %there"
    )
    body += WAIT + "  %r = load i32, ptr addrspace(3) %mine\n" + STORE + SYNC
    expected = np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)
    for schedule in SCHEDULES:
        np.testing.assert_array_equal(run(body, emulation=schedule), expected[SWAPPED])


def test_asynchronous_stores_of_vectors() -> None:
    """The first quarter of the threads has four words each."""
    body = (
        _init(1)
        + EXPECT
        + """
  %is = icmp ult i32 %tid, 16
  br i1 %is, label %send, label %sent
send:
  %word = shl i32 %tid, 2
  %own = getelementptr i32, ptr addrspace(3) @words, i32 %word
  %to = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %own, i32 %peer)
  %there = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 %peer)
  %b0 = add i32 %base, %word
  %b1 = add i32 %b0, 1
  %b2 = add i32 %b0, 2
  %b3 = add i32 %b0, 3
"""
    )
    body += asm(
        f"st.async.weak.{COUNTED}.v4.b32 [$0], {{$1, $2, $3, $4}}, [$5];", "l,r,r,r,r,l",
        "ptr addrspace(7) %to, i32 %b0, i32 %b1, i32 %b2, i32 %b3, ptr addrspace(7) %there",
    )  # fmt: skip
    body += "  br label %sent\nsent:\n" + WAIT + "  %r = load i32, ptr addrspace(3) %mine\n" + STORE + SYNC
    expected = np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)
    np.testing.assert_array_equal(run(body), expected[SWAPPED])


COPY_OUT = """
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1), ptr addrspace(3), i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32)
"""


@pytest.mark.parametrize("copies", ["late", "early"])
def test_asynchronous_stores_use_the_generic_proxy(copies: Any) -> None:
    """An asynchronous copy that reads what they stored needs a proxy fence (PTX ISA, "st.async")."""
    body = _init(1) + EXPECT + REMOTE_ADDRESSES
    body += asm(
        f"st.async.weak.{COUNTED}.b32 [$0], $1, [$2];",
        "l,r,l",
        "ptr addrspace(7) %to, i32 %at, ptr addrspace(7) %there",
    )
    body += WAIT
    copy = f"""{SYNC}  br i1 %first, label %copy, label %copied
copy:
  %row = getelementptr i32, ptr %out, i32 %base
  %global = addrspacecast ptr %row to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %global, ptr addrspace(3) @words, i32 256, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %copied
copied:
"""
    how = Emulation(sanitize="thread", copies=copies)
    out = np.zeros((4, THREADS), np.uint32)
    fenced = kernel(body + asm("fence.proxy.async.shared::cta;", "", "") + copy, declarations=COPY_OUT)
    nvidia.run_kernel(fenced, THREADS, out, grid=4, emulation=how)
    np.testing.assert_array_equal(out, np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)[SWAPPED])
    with pytest.raises(smalti.EmulationError, match="missing proxy fence"):
        nvidia.run_kernel(kernel(body + copy, declarations=COPY_OUT), THREADS, out, grid=4, emulation=how)


OPERATIONS: dict[str, Any] = {
    "add.u32": np.add, "add.s32": np.add,
    "min.u32": np.minimum, "max.u32": np.maximum,
    "min.s32": lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
    "max.s32": lambda a, b: np.maximum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
    "and.b32": np.bitwise_and, "or.b32": np.bitwise_or, "xor.b32": np.bitwise_xor,
}  # fmt: skip
X = np.random.default_rng(3).integers(0, 1 << 32, (4, THREADS), dtype=np.uint32)
LOAD_X = "  %px = getelementptr i32, ptr %x, i32 %at\n  %v = load i32, ptr %px\n"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_asynchronous_reductions(operation: str) -> None:
    body = _init(1) + LOAD_X + "  store i32 %v, ptr addrspace(3) %mine\n" + EXPECT + REMOTE_ADDRESSES
    body += "  %n = xor i32 %v, 12345\n"
    body += asm(
        f"red.async.relaxed.cluster.{COUNTED}.{operation} [$0], $1, [$2];", "l,r,l",
        "ptr addrspace(7) %to, i32 %n, ptr addrspace(7) %there",
    )  # fmt: skip
    body += WAIT + "  %r = load i32, ptr addrspace(3) %mine\n" + STORE + SYNC
    for schedule in SCHEDULES:
        found = run(body, X, parameters="ptr %out, ptr %x", emulation=schedule)
        np.testing.assert_array_equal(found, OPERATIONS[operation](X, X[SWAPPED] ^ np.uint32(12345)))


@pytest.mark.parametrize("order", ["relaxed", "release"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_reductions_in_assembly(operation: str, order: str) -> None:
    body = LOAD_X + "  store i32 %v, ptr %p\n  %n = xor i32 %v, 12345\n"
    body += asm(f"red.{order}.sys.global.{operation} [$0], $1;", "l,r", "ptr %p, i32 %n")
    found = run(body, X, parameters="ptr %out, ptr %x")
    np.testing.assert_array_equal(found, OPERATIONS[operation](X, X ^ np.uint32(12345)))


LOADS = ["weak.global", "global", "volatile.global", "relaxed.sys.global", "acquire.sys.global"]
STORES = ["weak.global", "global", "volatile.global", "relaxed.gpu.global", "release.sys.global"]


@pytest.mark.parametrize(("load", "store"), [*zip(LOADS, STORES, strict=True)])
def test_loads_and_stores_in_assembly(load: str, store: str) -> None:
    body = "  %px = getelementptr i32, ptr %x, i32 %at\n"
    body += asm(f"ld.{load}.b32 $0, [$1];", "=r,l", "ptr %px", "i32", "v")
    body += asm(f"st.{store}.b32 [$0], $1;", "l,r", "ptr %p, i32 %v")
    np.testing.assert_array_equal(run(body, X, parameters="ptr %out, ptr %x"), X)


def test_loads_and_stores_of_shared_memory_in_assembly() -> None:
    body = asm("st.shared::cta.b32 [$0+4], $1;", "r,r", "ptr addrspace(3) %mine, i32 %at")
    body += asm("ld.shared.b32 $0, [$1+4];", "=r,r", "ptr addrspace(3) %mine", "i32", "r") + STORE
    np.testing.assert_array_equal(run(body), np.arange(4 * THREADS).reshape(4, THREADS))


FENCES = (
    "fence.acq_rel.cta", "fence.acq_rel.cluster", "fence.sc.gpu", "fence.acquire.sys",
    "fence.mbarrier_init.release.cluster", "fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.shared::cta",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
)  # fmt: skip
SYNC_TEXTS = {
    "barrier.cluster.arrive": "barrier.cluster.wait",
    "barrier.cluster.arrive.aligned": "barrier.cluster.wait.aligned",
    "barrier.cluster.arrive.release.aligned": "barrier.cluster.wait.acquire.aligned",
    "barrier.cluster.arrive.relaxed.aligned": "barrier.cluster.wait",
}


@pytest.mark.parametrize("arrive", SYNC_TEXTS)
def test_barriers_and_fences_in_assembly(arrive: str) -> None:
    body = "  store i32 %at, ptr addrspace(3) %mine\n" + "".join(asm(f"{name};", "", "") for name in FENCES)
    body += asm(f"{arrive};", "", "") + asm(f"{SYNC_TEXTS[arrive]};", "", "") + REMOTE["assembly"] + STORE + SYNC
    expected = np.arange(4 * THREADS, dtype=np.uint32).reshape(4, THREADS)
    for schedule in SCHEDULES:
        np.testing.assert_array_equal(run(body, emulation=schedule), expected[SWAPPED])


def _races(body: str) -> bool:
    """Whether ThreadSanitizer reports a race, and nothing else."""
    try:
        run(body, emulation=Emulation(sanitize="thread"))
    except smalti.EmulationError as error:
        assert {finding.kind for finding in error.findings} == {"race"}
        return True
    return False


RELAXED = asm("barrier.cluster.arrive.relaxed.aligned;", "", "")
RELAXED_SYNC = RELAXED + asm("barrier.cluster.wait;", "", "")
READS = {
    "the other block": REMOTE["shared.cluster"],
    "the same block": "  %o = xor i32 %tid, 1\n  %q = getelementptr i32, ptr addrspace(3) @words, i32 %o\n"
    "  %r = load i32, ptr addrspace(3) %q\n",
}
FENCED = {
    "fence.acq_rel.cluster": ["the other block", "the same block"],
    "fence.sc.gpu": ["the other block", "the same block"],
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster": ["the other block", "the same block"],
    "fence.acq_rel.cta": ["the same block"],
    # These are not fences for stores.
    "fence.mbarrier_init.release.cluster": [],
    "fence.proxy.async": [],
    "fence.proxy.alias": [],
}
"""After which fences a relaxed arrival orders a store before a read of whom."""


@pytest.mark.grid(7)
@pytest.mark.parametrize("reader", READS)
@pytest.mark.parametrize("fence", FENCED)
def test_a_fence_before_a_relaxed_arrival_orders_stores(fence: str, reader: str) -> None:
    store, text, read = "  store i32 %at, ptr addrspace(3) %mine\n", asm(f"{fence};", "", ""), READS[reader]
    end = read + STORE + SYNC
    assert _races(store + text + RELAXED_SYNC + end) != (reader in FENCED[fence])
    # The fence belongs between the store and the arrival, and the wait between the fence and the read.
    assert _races(text + store + RELAXED_SYNC + end)
    assert _races(store + RELAXED + text + asm("barrier.cluster.wait;", "", "") + end)
    assert _races(store + text + read + STORE + RELAXED_SYNC + SYNC)


@pytest.mark.parametrize("fence", ["fence.sc.cluster", "fence.release.sync_restrict.space.cta.scope.cluster", "LLVM"])
def test_fences_in_other_forms_before_a_relaxed_arrival(fence: str) -> None:
    declared = "" if fence == "LLVM" else f"declare void @llvm.nvvm.{fence}()\n"
    text = "  fence release\n" if fence == "LLVM" else f"  call void @llvm.nvvm.{fence}()\n"
    store = "  store i32 %at, ptr addrspace(3) %mine\n"
    end = RELAXED_SYNC + REMOTE["shared.cluster"] + STORE + SYNC
    for body, is_racing in ((store + text + end, False), (text + store + end, True)):
        try:
            nvidia.run_kernel(
                kernel(body, declarations=declared), THREADS, np.zeros((4, THREADS), np.uint32), grid=4,
                emulation=Emulation(sanitize="thread"),
            )  # fmt: skip
        except smalti.EmulationError as error:
            assert is_racing and error.findings[0].kind == "race"
        else:
            assert not is_racing


INIT = """
  br i1 %first, label %set, label %fenced
set:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  br label %fenced
fenced:
"""
INVALIDATE = (
    "  %last = icmp eq i32 %tid, 63\n  br i1 %last, label %end, label %over\nend:\n"
    + asm("mbarrier.inval.shared.b64 [$0];", "r", "ptr addrspace(3) @bar")
    + "  br label %over\nover:\n"
)


def test_a_fence_for_initializations_before_a_relaxed_arrival() -> None:
    """`fence.mbarrier_init` orders what was initialized before it."""
    fence = asm("fence.mbarrier_init.release.cluster;", "", "")
    assert not _races(INIT + fence + RELAXED_SYNC + INVALIDATE)
    assert _races(INIT + RELAXED_SYNC + INVALIDATE)
    assert _races(fence + INIT + RELAXED_SYNC + INVALIDATE)
    assert _races(INIT + RELAXED + fence + asm("barrier.cluster.wait;", "", "") + INVALIDATE)
    assert _races(INIT + fence + INVALIDATE + RELAXED_SYNC)
    # A fence of an earlier use does not cover later accesses.
    assert _races(fence + RELAXED_SYNC + INIT + RELAXED_SYNC + INVALIDATE)


def test_clusters_are_not_ordered_by_their_barriers() -> None:
    """Two clusters store to the same addresses after a barrier of their own."""
    body = "  %both = getelementptr i32, ptr %out, i32 %tid\n  %w = udiv i32 %block, 2\n"
    one = "  %is = icmp eq i32 %rank, 0\n  br i1 %is, label %store, label %end\nstore:\n"
    store = "  store i32 %w, ptr %both\n  br label %end\nend:\n"
    assert _races(body + one + store + SYNC)
    assert _races(body + SYNC + one + store + SYNC)


def test_other_texts_of_ranks_and_arrivals() -> None:
    body = _init(2 * THREADS) + "  %g = addrspacecast ptr addrspace(3) @bar to ptr\n"
    body += asm("mapa.u64 $0, $1, $2;", "=l,l,r", "ptr %g, i32 %peer", "i64", "there")
    body += asm("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "l", "i64 %there")
    body += asm("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [$0], 0;", "l", "i64 %there") + WAIT
    body += asm(
        "{ .reg .b32 a; mapa.shared::cluster.u32 a, $1, $2; getctarank.shared::cluster.u32 $0, a; }",
        "=r,r,r", "ptr addrspace(3) %mine, i32 %peer", "i32", "r",
    )  # fmt: skip
    np.testing.assert_array_equal(run(body + STORE + SYNC)[:, 0], [1, 0, 1, 0])


# ---------------------------------------------------------------------------------------------------------------------
# Mistakes
# ---------------------------------------------------------------------------------------------------------------------


def test_without_the_barrier_it_is_a_race() -> None:
    body = f"  store i32 %at, ptr addrspace(3) %mine\n{REMOTE['shared.cluster']}{STORE}{SYNC}"
    with pytest.raises(smalti.EmulationError) as error:
        run(body, emulation=Emulation(sanitize="thread"))
    finding = next(f for f in error.value.findings if f.kind == "race")
    assert {finding.block, finding.others[0].block} == {(0, 0, 0), (1, 0, 0)}


WRONG = {
    "a block that does not come": (
        "  %zero = icmp eq i32 %rank, 0\n  br i1 %zero, label %wait, label %spin\nwait:\n"
        + SYNC
        + "  ret void\nspin:\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
        + WAIT,
        "is not initialized",
    ),
    "a rank that there is not": (
        "  %q = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %mine, i32 2)\n",
        "mapa: block 2 does not exist; the cluster has 2 blocks",
    ),
    "a wait without arriving": (
        "  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n",
        "the thread has not executed barrier.cluster.arrive",
    ),
    "two arrivals": (
        "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n" * 2,
        "the thread arrives a second time without barrier.cluster.wait",
    ),
    "a block that has ended": (
        _init(1)
        + "  %one = icmp eq i32 %rank, 1\n  br i1 %one, label %over, label %later\nover:\n  ret void\nlater:\n"
        + asm("nanosleep.u32 10;", "", "") * 3
        + asm(ARRIVE, "b,r,r", "i1 true, ptr addrspace(3) @bar, i32 %peer"),
        "block 1 of the cluster, which owns the mbarrier, has already exited",
    ),
    "a copy to a block that there is not": (
        _init(1) + TO + BULK.format(mask=5).replace("%map", "%out"),
        "block mask is 0x5; it must name blocks of the cluster, which has 2",
    ),
    "a wait for the other's barrier": (
        _init(1)
        + "  %theirs = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @bar, i32 %peer)\n"
        + "  %not = addrspacecast ptr addrspace(7) %theirs to ptr\n  %b3 = addrspacecast ptr %not to ptr addrspace(3)\n"
        + WAIT.replace("@bar", "%b3"),
        "waits on an mbarrier of block",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_found(name: str) -> None:
    body, message = WRONG[name]
    with pytest.raises(smalti.EmulationError, match=message):
        run(body)


def test_grids_are_of_whole_clusters() -> None:
    with pytest.raises(smalti.errors.LaunchError, match="not a multiple of the cluster size"):
        run("", grid=3)
    with pytest.raises(smalti.errors.LaunchError, match="not supported with clusters"):
        run("", emulation=Emulation(blocks=range(2)))


@pytest.mark.parametrize("way", ["inc", "dec"])
@pytest.mark.parametrize("text", [False, True])
def test_registers_of_warpgroups(way: str, text: bool) -> None:
    """Register counts are checked, and that whole warpgroups request them."""
    name = f"setmaxnreg.{way}.sync.aligned.u32"

    def body(count: int) -> str:
        if text:
            return asm(f"{name} {count};", "", "")
        return f"  call void @llvm.nvvm.{name}(i32 {count})\n"

    declarations = f"declare void @llvm.nvvm.{name}(i32)\n"
    out = np.zeros(4 * 128, np.uint32)
    nvidia.run_kernel(kernel(body(40), declarations=declarations), 128, out, grid=2)
    # LLVM checks the intrinsics itself.
    for count in (16, 44, 264) if text else ():
        with pytest.raises(
            smalti.EmulationError, match=f"the register count is {count}; it must be a multiple of 8 from 24 to 256"
        ):
            nvidia.run_kernel(kernel(body(count), declarations=declarations), 128, out, grid=2)
    part = (
        f"  %is = icmp ult i32 %tid, 96\n  br i1 %is, label %some, label %end\nsome:\n{body(40)}  br label %end\nend:\n"
    )
    with pytest.raises(smalti.EmulationError, match="of the same warpgroup 0 times"):
        nvidia.run_kernel(kernel(part, declarations=declarations), 128, out, grid=2)


TESTED = [
    *(f"asm:{name}" for name in (*FENCES, *SYNC_TEXTS, *SYNC_TEXTS.values())),
    *(f"asm:red.async.relaxed.cluster.{COUNTED}.{o}" for o in OPERATIONS),
    *(f"asm:red.{order}.sys.global.{o}" for order in ("relaxed", "release") for o in OPERATIONS),
    *(f"asm:ld.{name}.b32" for name in (*LOADS, "shared")),
    *(f"asm:st.{name}.b32" for name in (*STORES, "shared::cta")),
    *(f"asm:{prefix}.{COUNTED}.b32" for prefix in ("st.async.weak", "st.async")),
    *(f"asm:mbarrier.{name}.shared::cluster.b64" for name in (
        "arrive", "arrive.expect_tx", "arrive.release.cluster", "arrive.expect_tx.release.cluster",
    )),
    "asm:nanosleep.u32", "asm:mapa.shared::cluster.u32", "asm:mapa.u64", "asm:getctarank.shared::cluster.u32",
    *(f"{prefix}setmaxnreg.{way}.sync.aligned.u32" for prefix in ("asm:", "llvm.nvvm.") for way in ("inc", "dec")),
]  # fmt: skip
