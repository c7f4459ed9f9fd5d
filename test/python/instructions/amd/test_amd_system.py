# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's indices, barriers, waits, clocks and ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import Array
from smalti import emulator, errors


def values(chip: str, calls: list[tuple[str, str]], grid: Any = 1, block: Any = 64, shared: int = 0) -> Array:
    """The results of intrinsics without operands, of i32 or i64, a row for each thread."""
    lines, declarations = [], []
    for i, (ty, name) in enumerate(calls):
        declarations.append(f"declare {ty} @llvm.amdgcn.{name}()")
        lines.append(f"  %v{i} = call {ty} @llvm.amdgcn.{name}()")
        value = f"%v{i}"
        if ty == "i32":
            lines.append(f"  %w{i} = zext i32 %v{i} to i64")
            value = f"%w{i}"
        lines.append(f"  %p{i} = getelementptr i64, ptr addrspace(1) %row, i32 {i}")
        lines.append(f"  store i64 {value}, ptr addrspace(1) %p{i}")
    sizes = [grid, 1, 1] if isinstance(grid, int) else [*grid, 1, 1][:3]
    threads = [block, 1, 1] if isinstance(block, int) else [*block, 1, 1][:3]
    declarations += [
        f"declare i32 @llvm.amdgcn.{name}.{axis}()"
        for name in ("workitem.id", "workgroup.id")
        for axis in "xyz"
        if not any(n == f"{name}.{axis}" for _, n in calls)
    ]
    text = "\n".join(
        [
            'target triple = "amdgcn-amd-amdhsa"',
            *declarations,
            "define amdgpu_kernel void @k(ptr addrspace(1) %out) {",
            *[
                f"  %t{a} = call i32 @llvm.amdgcn.workitem.id.{a}()\n  %g{a} = call i32 @llvm.amdgcn.workgroup.id.{a}()"
                for a in "xyz"
            ],
            f"  %a0 = mul i32 %gz, {sizes[1]}\n  %a1 = add i32 %a0, %gy\n  %a2 = mul i32 %a1, {sizes[0]}\n  %a3 = add i32 %a2, %gx",
            f"  %a4 = mul i32 %a3, {threads[2]}\n  %a5 = add i32 %a4, %tz\n  %a6 = mul i32 %a5, {threads[1]}\n  %a7 = add i32 %a6, %ty",
            f"  %a8 = mul i32 %a7, {threads[0]}\n  %a9 = add i32 %a8, %tx\n  %at = mul i32 %a9, {len(calls)}",
            "  %row = getelementptr i64, ptr addrspace(1) %out, i32 %at",
            *lines,
            "  ret void\n}\n",
        ]
    )
    out = np.full((int(np.prod(sizes) * np.prod(threads)), len(calls)), -1, np.int64)
    emulator.load(text, f"emu:{chip}").launch(sizes, threads, out, shared=shared)
    return out


def test_ids() -> None:
    names = [f"{what}.id.{axis}" for what in ("workitem", "workgroup") for axis in "xyz"]
    got = values("gfx942", [("i32", name) for name in names], (2, 3, 2), (8, 4, 2))
    z, y, x, tz, ty, tx = np.indices((2, 3, 2, 2, 4, 8)).reshape(6, -1)
    np.testing.assert_array_equal(got, np.stack([tx, ty, tz, x, y, z], axis=1))


@pytest.mark.parametrize("chip, size", [("gfx942", 64), ("gfx1100", 32)])
def test_waves(chip: str, size: int) -> None:
    got = values(chip, [("i32", "wavefrontsize"), ("i32", "wave.id"), ("i32", "s.get.waveid.in.workgroup")], 1, 160)
    wave = np.arange(160) // size
    np.testing.assert_array_equal(got, np.stack([0 * wave + size, wave, wave], axis=1))


def test_cluster_of_one_block() -> None:
    zeros = [f"cluster.workgroup.{what}.{axis}" for what in ("id", "max.id") for axis in "xyz"]
    zeros += ["cluster.workgroup.flat.id", "cluster.workgroup.max.flat.id"]
    names = [f"cluster.id.{axis}" for axis in "xyz"]
    got = values("gfx1250", [("i32", name) for name in names + zeros] + [("i64", "dispatch.id")], (2, 3, 2), 32)
    z, y, x, _ = np.indices((2, 3, 2, 32)).reshape(4, -1)
    np.testing.assert_array_equal(got[:, :3], np.stack([x, y, z], axis=1))
    assert (got[:, 3:] == 0).all()


@pytest.mark.parametrize("chip, lanes", [("gfx942", 64), ("gfx1201", 32)])
def test_mbcnt(chip: str, lanes: int) -> None:
    mask = 0x0123456789ABCDEF
    text = f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i32 @llvm.amdgcn.mbcnt.lo(i32 {mask & 0xFFFFFFFF}, i32 5)
  %b = call i32 @llvm.amdgcn.mbcnt.hi(i32 {mask >> 32}, i32 %a)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %b, ptr addrspace(1) %p
  ret void
}}
"""
    out = np.zeros(128, np.int32)
    emulator.load(text, f"emu:{chip}").launch(1, 128, out)
    expected = [5 + (mask & ((1 << t % lanes) - 1)).bit_count() for t in range(128)]
    np.testing.assert_array_equal(out, expected)


def memory_of(name: str, count: int, grid: Any, block: Any, shared: int = 0) -> Array:
    """Words at the pointer that an intrinsic gives."""
    text = f"""target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [48 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.groupstaticsize()
declare ptr addrspace(4) @llvm.amdgcn.{name}()
define amdgpu_kernel void @k(ptr addrspace(1) %out, i64 %number) {{
  %base = call ptr addrspace(4) @llvm.amdgcn.{name}()
  store i8 1, ptr addrspace(3) @lds
  %static = call i32 @llvm.amdgcn.groupstaticsize()
  store i32 %static, ptr addrspace(1) %out
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %p = getelementptr i32, ptr addrspace(4) %base, i32 %i
  %v = load i32, ptr addrspace(4) %p, align 4
  %next = add i32 %i, 1
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %next
  store i32 %v, ptr addrspace(1) %q
  %more = icmp ult i32 %next, {count}
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
    out = np.zeros(count + 1, np.uint32)
    emulator.load(text, "emu:gfx942").launch(grid, block, out, 0x123456789ABC, shared=shared)
    return out


def test_dispatch_packet() -> None:
    got = memory_of("dispatch.ptr", 16, (3, 2), (8, 4, 2), 256)
    halves = got[1:].view(np.uint16)
    assert list(halves[2:5]) == [8, 4, 2] and list(got[4:7]) == [24, 8, 2]
    assert got[0] == 48 and got[8] == 48 + 256


def test_implicit_arguments() -> None:
    got = memory_of("implicitarg.ptr", 32, (3, 2, 5), (8, 4, 2), 256)[1:]
    assert list(got[:3]) == [3, 2, 5]
    assert list(got.view(np.uint16)[6:12]) == [8, 4, 2, 0, 0, 0]
    assert got.view(np.uint16)[32] == 3 and got[30] == 256 and not got[10:16].any()


def test_kernel_arguments() -> None:
    got = memory_of("kernarg.segment.ptr", 4, 1, 64)[1:]
    assert int(got[2]) | int(got[3]) << 32 == 0x123456789ABC


# ---------------------------------------------------------------------------------------------------------------------
# Barriers
# ---------------------------------------------------------------------------------------------------------------------

EXCHANGE = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [256 x i32] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.barrier.signal(i32)
declare i1 @llvm.amdgcn.s.barrier.signal.isfirst(i32)
declare void @llvm.amdgcn.s.barrier.wait(i16)
declare void @llvm.amdgcn.wave.barrier()
define amdgpu_kernel void @k(ptr addrspace(1) %out) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(3) @lds, i32 %t
  store i32 %t, ptr addrspace(3) %p
{barrier}
  %other = xor i32 %t, {mask}
  %q = getelementptr i32, ptr addrspace(3) @lds, i32 %other
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
}}
"""
BARRIERS = {
    "s.barrier": "  call void @llvm.amdgcn.s.barrier()",
    "split": "  call void @llvm.amdgcn.s.barrier.signal(i32 -1)\n  call void @llvm.amdgcn.s.barrier.wait(i16 -1)",
    "is-first": "  %f = call i1 @llvm.amdgcn.s.barrier.signal.isfirst(i32 -1)\n  call void @llvm.amdgcn.s.barrier.wait(i16 -1)",
}


@pytest.mark.parametrize("order", ["lowest-first", "highest-first", "round-robin"])
@pytest.mark.parametrize("kind", BARRIERS)
def test_barrier(kind: str, order: str) -> None:
    out = np.zeros(256, np.int32)
    text = EXCHANGE.format(barrier=BARRIERS[kind], mask=255)
    emulator.load(text, "emu:gfx1201").launch(1, 256, out, emulation=emulator.Emulation(order=order))
    np.testing.assert_array_equal(out, np.arange(256) ^ 255)


def test_wave_barrier() -> None:
    out = np.zeros(256, np.int32)
    text = EXCHANGE.format(barrier="  call void @llvm.amdgcn.wave.barrier()", mask=31)
    emulator.load(text, "emu:gfx1201").launch(1, 256, out)
    np.testing.assert_array_equal(out, np.arange(256) ^ 31)


def test_first_wave_at_a_barrier() -> None:
    text = EXCHANGE.format(
        barrier=BARRIERS["is-first"] + "\n  %g = zext i1 %f to i32\n  store i32 %g, ptr addrspace(3) %p", mask=0
    )
    out = np.zeros((8, 32), np.int32)
    emulator.load(text, "emu:gfx1201").launch(1, 256, out, emulation=emulator.Emulation(order="highest-first"))
    assert sorted(out.sum(axis=1)) == [0] * 7 + [32]


def test_other_barriers_are_not_emulated() -> None:
    text = EXCHANGE.format(barrier="  call void @llvm.amdgcn.s.barrier.signal(i32 -3)", mask=0)
    with pytest.raises(errors.EmulationError, match="barrier id -3"):
        emulator.load(text, "emu:gfx1250").launch(1, 32, np.zeros(256, np.int32))


NOTHING = {
    "s.wait.loadcnt": "i16 0", "s.wait.storecnt": "i16 0", "s.wait.dscnt": "i16 0", "s.wait.kmcnt": "i16 0",
    "s.wait.expcnt": "i16 0", "s.wait.samplecnt": "i16 0", "s.wait.bvhcnt": "i16 0", "s.wait.tensorcnt": "i16 0",
    "s.wait.asynccnt": "i16 0", "s.waitcnt": "i32 0", "s.sleep": "i32 1", "s.sleep.var": "i32 1",
    "s.monitor.sleep": "i16 1", "s.nop": "i16 1", "s.setprio": "i16 1", "s.setprio.inc.wg": "i16 1",
    "sched.barrier": "i32 0", "sched.group.barrier": "i32 8, i32 1, i32 0", "iglp.opt": "i32 0",
    "s.dcache.inv": "", "s.dcache.inv.vol": "", "s.dcache.wb": "", "s.dcache.wb.vol": "",
    "buffer.wbinvl1": "", "buffer.wbinvl1.sc": "", "buffer.wbinvl1.vol": "",
    "s.prefetch.data.p1": "ptr addrspace(1) %out, i32 1", "global.prefetch": "ptr addrspace(1) %out, i32 0",
    "flat.prefetch": "ptr %flat, i32 0", "s.buffer.prefetch.data": "ptr addrspace(8) %r, i32 0, i32 1",
}  # fmt: skip


@pytest.mark.parametrize("name", NOTHING)
def test_ops_that_do_not_change_values(name: str) -> None:
    operands = NOTHING[name]
    types = ", ".join(
        "ptr" + (" addrspace" + o.split(" addrspace")[1].split(" ")[0] if "addrspace" in o else "")
        if "ptr" in o
        else o.split()[0]
        for o in operands.split(", ")
        if o
    )
    text = f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare void @llvm.amdgcn.{name}({types})
define amdgpu_kernel void @k(ptr addrspace(1) %out) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %out, i16 0, i64 4, i32 0)
  %flat = addrspacecast ptr addrspace(1) %out to ptr
  call void @llvm.amdgcn.{name}({operands})
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %t, ptr addrspace(1) %p
  ret void
}}
"""
    out = np.zeros(64, np.int32)
    emulator.load(text, "emu:gfx942").launch(1, 64, out)
    np.testing.assert_array_equal(out, np.arange(64))


def test_sleeping_threads_let_others_run() -> None:
    """The first wave waits for what the second writes."""
    text = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global i32 poison, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.sleep(i32)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  store atomic i32 0, ptr addrspace(3) @lds monotonic, align 4
  call void @llvm.amdgcn.s.barrier()
  %first = icmp ult i32 %t, 64
  br i1 %first, label %wait, label %write
wait:
  call void @llvm.amdgcn.s.sleep(i32 1)
  %v = load atomic i32, ptr addrspace(3) @lds acquire, align 4
  %ready = icmp eq i32 %v, 7
  br i1 %ready, label %end, label %wait
write:
  store atomic i32 7, ptr addrspace(3) @lds release, align 4
  br label %end
end:
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 1, ptr addrspace(1) %p
  ret void
}
"""
    out = np.zeros(128, np.int32)
    emulator.load(text, "emu:gfx942").launch(1, 128, out)
    assert out.all()


# ---------------------------------------------------------------------------------------------------------------------
# The rest
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["s.memtime", "s.memrealtime"])
def test_clocks_go_forward(name: str) -> None:
    got = values("gfx942", [("i64", name)])
    assert (np.diff(np.sort(got[:, 0])) > 0).all()


@pytest.mark.parametrize("call", ["kill(i1 %alive)", "endpgm()"])
def test_threads_end(call: str) -> None:
    body = (
        f"  call void @llvm.amdgcn.{call}\n"
        if "kill" in call
        else f"  br i1 %alive, label %on, label %off\noff:\n  call void @llvm.amdgcn.{call}\n  unreachable\non:\n"
    )
    text = f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.kill(i1)
declare void @llvm.amdgcn.endpgm()
define amdgpu_kernel void @k(ptr addrspace(1) %out) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %odd = and i32 %t, 1
  %alive = icmp eq i32 %odd, 1
{body}  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 1, ptr addrspace(1) %p
  ret void
}}
"""
    out = np.zeros(64, np.int32)
    emulator.load(text, "emu:gfx942").launch(1, 64, out)
    np.testing.assert_array_equal(out, np.arange(64) % 2)


def test_is_shared() -> None:
    text = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [4 x i32] poison, align 16
declare i1 @llvm.amdgcn.is.shared(ptr)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %inside = getelementptr i8, ptr addrspace(3) @lds, i32 15
  %behind = getelementptr i8, ptr addrspace(3) @lds, i32 16
  %f0 = addrspacecast ptr addrspace(3) %inside to ptr
  %f1 = addrspacecast ptr addrspace(1) %out to ptr
  %f2 = addrspacecast ptr addrspace(3) %behind to ptr
  %b0 = call i1 @llvm.amdgcn.is.shared(ptr %f0)
  %b1 = call i1 @llvm.amdgcn.is.shared(ptr %f1)
  %b2 = call i1 @llvm.amdgcn.is.shared(ptr %f2)
  %z0 = zext i1 %b0 to i32
  %z1 = zext i1 %b1 to i32
  %z2 = zext i1 %b2 to i32
  store i32 %z0, ptr addrspace(1) %out
  %p1 = getelementptr i32, ptr addrspace(1) %out, i32 1
  store i32 %z1, ptr addrspace(1) %p1
  %p2 = getelementptr i32, ptr addrspace(1) %out, i32 2
  store i32 %z2, ptr addrspace(1) %p2
  ret void
}
"""
    out = np.full(3, 9, np.int32)
    emulator.load(text, "emu:gfx942").launch(1, 1, out)
    assert list(out) == [1, 0, 0]


@pytest.mark.parametrize("space", ["global", "flat"])
@pytest.mark.parametrize("ty, bits", [("i32", 32), ("<2 x i32>", 64), ("<4 x i32>", 128)])
def test_monitored_loads(ty: str, bits: int, space: str) -> None:
    pointer = "ptr addrspace(1)" if space == "global" else "ptr"
    mangled = {32: "i32", 64: "v2i32", 128: "v4i32"}[bits]
    name = f"llvm.amdgcn.{space}.load.monitor.b{bits}.{mangled}"
    cast = "" if space == "global" else "  %pf = addrspacecast ptr addrspace(1) %p to ptr\n"
    text = f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare {ty} @{name}({pointer}, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %from, ptr addrspace(1) %out) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr {ty}, ptr addrspace(1) %from, i32 %t
{cast}  %v = call {ty} @{name}({pointer} {"%p" if space == "global" else "%pf"}, i32 0)
  %q = getelementptr {ty}, ptr addrspace(1) %out, i32 %t
  store {ty} %v, ptr addrspace(1) %q, align 4
  ret void
}}
"""
    source = np.random.default_rng(1).integers(0, 2**32, 32 * bits // 32).astype(np.uint32)
    out = np.zeros_like(source)
    emulator.load(text, "emu:gfx1250").launch(1, 32, source, out)
    np.testing.assert_array_equal(out, source)


@pytest.mark.parametrize("space", ["global", "flat"])
@pytest.mark.parametrize("name, function", [("fmin", np.fmin), ("fmax", np.fmax)])
def test_float_atomics(name: str, function: Any, space: str) -> None:
    intrinsic = f"llvm.amdgcn.{space}.atomic.{name}.num.f32.{'p1' if space == 'global' else 'p0'}"
    pointer = "ptr addrspace(1)" if space == "global" else "ptr"
    cast = "" if space == "global" else "  %pf = addrspacecast ptr addrspace(1) %p to ptr\n"
    text = f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare float @{intrinsic}({pointer}, float)
define amdgpu_kernel void @k(ptr addrspace(1) %memory, ptr addrspace(1) %data, ptr addrspace(1) %out) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr float, ptr addrspace(1) %memory, i32 %t
  %d = getelementptr float, ptr addrspace(1) %data, i32 %t
  %v = load float, ptr addrspace(1) %d
{cast}  %old = call float @{intrinsic}({pointer} {"%p" if space == "global" else "%pf"}, float %v)
  %q = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %old, ptr addrspace(1) %q
  ret void
}}
"""
    rng = np.random.default_rng(1)
    memory, data = (rng.standard_normal(32).astype(np.float32) for _ in range(2))
    data[3] = np.nan
    before, out = memory.copy(), np.zeros(32, np.float32)
    emulator.load(text, "emu:gfx1201").launch(1, 32, memory, data, out)
    np.testing.assert_array_equal(memory, function(before, data))
    np.testing.assert_array_equal(out, before)


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1201"])
def test_alignment_of_wide_vectors(chip: str) -> None:
    """A vector of 32 bytes is two accesses of 16: its address need not be a multiple of 32."""
    text = """target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %v = load <8 x float>, ptr addrspace(1) %x
  store <8 x float> %v, ptr addrspace(1) %out
  ret void
}
"""
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    emulator.load(text, f"emu:{chip}").launch(1, 1, x, out, alignment=16)
    np.testing.assert_array_equal(out, x)
