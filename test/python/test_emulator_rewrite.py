"""Device modules as code of the host: hand-written LLVM IR, rewritten, and run by the emulator.

What each kernel must compute is told from LLVM's language reference, and from the vendors' documents where they differ
from it.
"""

from __future__ import annotations

import functools
import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import codegen_worker, emulator, toolchain
from smalti.errors import CompileError, EmulationError

NVIDIA = 'target triple = "nvptx64-nvidia-cuda"\n'
AMD = 'target triple = "amdgcn-amd-amdhsa"\n'
CHIPS = {NVIDIA: "sm_80", AMD: "gfx942"}
KERNEL = {NVIDIA: "ptx_kernel", AMD: "amdgpu_kernel"}
THREAD = {NVIDIA: "llvm.nvvm.read.ptx.sreg.tid.x", AMD: "llvm.amdgcn.workitem.id.x"}
BARRIER = {NVIDIA: "llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", AMD: "llvm.amdgcn.s.barrier()"}

pytestmark = pytest.mark.skipif(toolchain.find_llvm_tool("ld.lld") is None, reason="no ld.lld was found")


def complete(body: str, vendor: str) -> str:
    """`body` with what it uses of a vendor: `kernel`, `@thread()`, `@barrier`; a line `!dbg` is left alone."""
    text = re.sub(r"\bdefine kernel\b", f"define {KERNEL[vendor]}", body)
    barrier = BARRIER[vendor]
    declared = re.sub(r"i32 \d+", "i32", barrier)
    text = text.replace("@thread()", f"@{THREAD[vendor]}()").replace("@barrier()", f"@{barrier}")
    for name, line in (
        (THREAD[vendor], f"declare i32 @{THREAD[vendor]}()\n"),
        (barrier, f"declare void @{declared}\n"),
    ):
        if name in text and line not in text:
            text += line
    return vendor + text


def rewrite(text: str | bytes, chip: str = "sm_80", **options: Any) -> dict[str, Any]:
    """What the rewriter says of a module."""
    data = text.encode() if isinstance(text, str) else text
    return codegen_worker.worker.rewrite(data, chip=chip, **options)[1]


def host_ir(body: str, vendor: str, **options: Any) -> str:
    code, _ = codegen_worker.worker.rewrite(complete(body, vendor).encode(), chip=CHIPS[vendor], text=True, **options)
    return code.decode()


def refusal(text: str | bytes, chip: str = "sm_80") -> codegen_worker.WorkerRefused:
    with pytest.raises(codegen_worker.WorkerRefused) as caught:
        rewrite(text, chip)
    return caught.value


def run(
    body: str, vendor: str, *arguments: Any, block: int = 1, grid: int = 1, shared: int = 0, **emulation: Any
) -> None:
    module = emulator.load(complete(body, vendor), f"emu:{CHIPS[vendor]}")
    module.launch(grid, block, *arguments, shared=shared, emulation=emulator.Emulation(**emulation))


both = pytest.mark.parametrize("vendor", [pytest.param(NVIDIA, id="nvidia"), pytest.param(AMD, id="amd")])


# ---------------------------------------------------------------------------------------------------------------------
# Address spaces
# ---------------------------------------------------------------------------------------------------------------------

REVERSE = """
@buffer = internal addrspace(3) global [64 x i32] undef, align 4
define kernel void @reverse(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @thread()
  %i = zext i32 %t to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %i
  %x = load i32, ptr addrspace(1) %from
  %slot = getelementptr [64 x i32], ptr addrspace(3) @buffer, i32 0, i32 %t
  store i32 %x, ptr addrspace(3) %slot
  call void @barrier()
  %r = sub i32 63, %t
  %other = getelementptr [64 x i32], ptr addrspace(3) @buffer, i32 0, i32 %r
  %flat = addrspacecast ptr addrspace(3) %other to ptr
  %y = load i32, ptr %flat
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %i
  store i32 %y, ptr addrspace(1) %to
  ret void
}
"""


@both
@pytest.mark.parametrize("sanitize", [None, "address", "thread"])
def test_shared_memory_and_barriers(vendor: str, sanitize: Any) -> None:
    given, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(REVERSE, vendor, given, out, block=64, sanitize=sanitize)
    np.testing.assert_array_equal(out, given[::-1])


@both
def test_a_missing_barrier_is_a_race(vendor: str) -> None:
    given, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with pytest.raises(EmulationError) as caught:
        run(REVERSE.replace("  call void @barrier()\n", ""), vendor, given, out, block=64, sanitize="thread")
    assert any(finding.kind == "race" for finding in caught.value.findings)


@both
def test_static_and_dynamic_shared_memory_lie_behind_one_another(vendor: str) -> None:
    body = """
@first = internal addrspace(3) global [3 x i8] undef, align 1
@second = internal addrspace(3) global [2 x i64] undef, align 8
@more = external addrspace(3) global [0 x i8], align 16
define kernel void @places(ptr addrspace(1) %out) {
  %a = ptrtoint ptr addrspace(3) @first to i32
  %b = ptrtoint ptr addrspace(3) @second to i32
  %c = ptrtoint ptr addrspace(3) @more to i32
  store i32 %a, ptr addrspace(1) %out
  %p = getelementptr i32, ptr addrspace(1) %out, i64 1
  store i32 %b, ptr addrspace(1) %p
  %q = getelementptr i32, ptr addrspace(1) %out, i64 2
  store i32 %c, ptr addrspace(1) %q
  store i8 7, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @more, i32 31)
  ret void
}
"""
    out = np.zeros(3, np.int32)
    run(body, vendor, out, shared=32)
    np.testing.assert_array_equal(out - out[0], [0, 8, 32])
    description = rewrite(complete(body, vendor), CHIPS[vendor])
    assert description["shared_bytes"] == 32
    assert description["dynamic_shared"] is True


@both
def test_shared_addresses_survive_as_integers_and_in_memory(vendor: str) -> None:
    body = """
@buffer = internal addrspace(3) global [8 x i32] undef, align 4
@table = internal addrspace(1) constant [2 x ptr addrspace(3)] [ptr addrspace(3) @buffer,
  ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @buffer, i32 5)]
define kernel void @k(ptr addrspace(1) %out) {
  store i32 1, ptr addrspace(3) @buffer
  %five = getelementptr i32, ptr addrspace(3) @buffer, i32 5
  store i32 2, ptr addrspace(3) %five
  %bits = ptrtoint ptr addrspace(3) @buffer to i32
  %moved = add i32 %bits, 20
  %back = inttoptr i32 %moved to ptr addrspace(3)
  %x = load i32, ptr addrspace(3) %back
  store i32 %x, ptr addrspace(1) %out
  %slot = alloca [2 x ptr addrspace(3)], align 8, addrspace(SPACE)
  %second = getelementptr ptr addrspace(3), ptr addrspace(SPACE) %slot, i32 1
  store ptr addrspace(3) %five, ptr addrspace(SPACE) %second
  store ptr addrspace(3) @buffer, ptr addrspace(SPACE) %slot
  %again = load ptr addrspace(3), ptr addrspace(SPACE) %slot
  %y = load i32, ptr addrspace(3) %again
  %to = getelementptr i32, ptr addrspace(1) %out, i64 1
  store i32 %y, ptr addrspace(1) %to
  %entry = getelementptr [2 x ptr addrspace(3)], ptr addrspace(1) @table, i64 0, i64 1
  %constant = load ptr addrspace(3), ptr addrspace(1) %entry
  %z = load i32, ptr addrspace(3) %constant
  %last = getelementptr i32, ptr addrspace(1) %out, i64 2
  store i32 %z, ptr addrspace(1) %last
  ret void
}
"""
    out = np.zeros(3, np.int32)
    run(body.replace("SPACE", "5" if vendor == AMD else "0"), vendor, out)
    np.testing.assert_array_equal(out, [2, 1, 2])


def test_generic_pointers_to_different_spaces_meet() -> None:
    body = """
@buffer = internal addrspace(3) global i32 undef, align 4
@numbers = internal addrspace(4) constant [2 x i32] [i32 10, i32 20]
@pointer = internal addrspace(1) global ptr addrspacecast (ptr addrspace(4) @numbers to ptr)
define kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @thread()
  %private = alloca i32, addrspace(5)
  store i32 5, ptr addrspace(5) %private
  store i32 3, ptr addrspace(3) @buffer
  %a = addrspacecast ptr addrspace(5) %private to ptr
  %b = addrspacecast ptr addrspace(3) @buffer to ptr
  %isFirst = icmp eq i32 %t, 0
  %p = select i1 %isFirst, ptr %a, ptr %b
  call void @barrier()
  %x = load i32, ptr %p
  %table = load ptr, ptr addrspace(1) @pointer
  %second = getelementptr i32, ptr %table, i64 1
  %n = load i32, ptr %second
  %sum = add i32 %x, %n
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %sum, ptr addrspace(1) %to
  ret void
}
"""
    out = np.zeros(2, np.int32)
    run(body, AMD, out, block=2)
    np.testing.assert_array_equal(out, [25, 23])
    assert rewrite(complete(body, AMD), "gfx942")["writable_globals"] is True


def test_null_of_amd_shared_memory_is_no_address() -> None:
    body = """
@buffer = internal addrspace(3) global i32 undef, align 4
define kernel void @k(ptr addrspace(1) %out, ptr %null) {
  %narrow = addrspacecast ptr %null to ptr addrspace(3)
  %bits = ptrtoint ptr addrspace(3) %narrow to i32
  store i32 %bits, ptr addrspace(1) %out
  %wide = addrspacecast ptr addrspace(3) %narrow to ptr
  %isNull = icmp eq ptr %wide, null
  %isConstant = icmp eq ptr addrspace(3) %narrow, addrspacecast (ptr null to ptr addrspace(3))
  %both = and i1 %isNull, %isConstant
  %x = zext i1 %both to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i64 1
  store i32 %x, ptr addrspace(1) %p
  ret void
}
"""
    out = np.zeros(2, np.uint32)
    run(body, AMD, out, bytes(8))
    np.testing.assert_array_equal(out, [0xFFFFFFFF, 1])


def test_buffer_fat_pointers_are_lowered() -> None:
    body = """
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
define amdgpu_kernel void @k(ptr addrspace(1) %in) {
  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %in, i16 0, i64 16, i32 159744)
  %p = addrspacecast ptr addrspace(8) %r to ptr addrspace(7)
  %q = getelementptr i32, ptr addrspace(7) %p, i32 2
  %x = load i32, ptr addrspace(7) %q
  store i32 %x, ptr addrspace(7) %p
  ret void
}
"""
    names = {item["name"] for item in rewrite(AMD + body, "gfx942")["instructions"]}
    assert names == {
        "llvm.amdgcn.make.buffer.rsrc.p8.p1",
        "llvm.amdgcn.raw.ptr.buffer.load.i32",
        "llvm.amdgcn.raw.ptr.buffer.store.i32",
    }


# ---------------------------------------------------------------------------------------------------------------------
# Layouts and parameters
# ---------------------------------------------------------------------------------------------------------------------


def test_structs_are_laid_out_as_on_the_device() -> None:
    # A pointer of shared memory takes four bytes on AMD GPUs.
    body = """
%record = type { i8, ptr addrspace(3), i16, <3 x float> }
@buffer = internal addrspace(3) global i32 undef, align 4
@first = internal addrspace(1) global %record { i8 1, ptr addrspace(3) @buffer, i16 2,
  <3 x float> <float 1.0, float 2.0, float 3.0> }
define kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %list) {
  store i32 42, ptr addrspace(3) @buffer
  %whole = load %record, ptr addrspace(1) @first
  %second = getelementptr %record, ptr addrspace(1) %list, i64 1
  store %record %whole, ptr addrspace(1) %second
  %at = getelementptr %record, ptr addrspace(1) %list, i64 1, i32 1
  %p = load ptr addrspace(3), ptr addrspace(1) %at
  %x = load i32, ptr addrspace(3) %p
  store i32 %x, ptr addrspace(1) %out
  ret void
}
"""
    out, records = np.zeros(1, np.int32), np.zeros(64, np.uint8)
    run(body, AMD, out, records)
    assert out[0] == 42
    assert records[32] == 1
    assert records[40:42].view(np.int16)[0] == 2
    np.testing.assert_array_equal(records[48:60].view(np.float32), [1, 2, 3])


def test_vectors_of_shared_pointers_and_their_intrinsics() -> None:
    body = """
@buffer = internal addrspace(3) global [16 x i32] undef
@places = internal addrspace(1) constant <2 x ptr addrspace(3)> <ptr addrspace(3) @buffer,
  ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @buffer, i32 8)>
declare void @llvm.memcpy.p3.p1.i32(ptr addrspace(3), ptr addrspace(1), i32, i1)
declare ptr addrspace(3) @llvm.ptrmask.p3.i32(ptr addrspace(3), i32)
declare <4 x i32> @llvm.masked.load.v4i32.p3(ptr addrspace(3), i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.scatter.v2i32.v2p3(<2 x i32>, <2 x ptr addrspace(3)>, i32, <2 x i1>)
define kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
  call void @llvm.memcpy.p3.p1.i32(ptr addrspace(3) @buffer, ptr addrspace(1) %in, i32 64, i1 false)
  %two = load <2 x ptr addrspace(3)>, ptr addrspace(1) @places
  %moved = getelementptr i32, <2 x ptr addrspace(3)> %two, <2 x i32> <i32 1, i32 2>
  call void @llvm.masked.scatter.v2i32.v2p3(<2 x i32> <i32 50, i32 60>, <2 x ptr addrspace(3)> %moved, i32 4,
    <2 x i1> <i1 1, i1 1>)
  %inside = getelementptr i32, ptr addrspace(3) @buffer, i32 %n
  %start = call ptr addrspace(3) @llvm.ptrmask.p3.i32(ptr addrspace(3) %inside, i32 -16)
  %address = ptrtoaddr ptr addrspace(3) %start to i32
  %back = inttoptr i32 %address to ptr addrspace(3)
  %v = call <4 x i32> @llvm.masked.load.v4i32.p3(ptr addrspace(3) %back, i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 1>,
    <4 x i32> splat (i32 -1))
  store <4 x i32> %v, ptr addrspace(1) %out
  ret void
}
"""
    given, out = np.arange(16, dtype=np.int32), np.zeros(4, np.int32)
    run(body, AMD, given, out, 2)
    np.testing.assert_array_equal(out, [0, 50, -1, 3])
    run(body, AMD, given, out, 6)
    np.testing.assert_array_equal(out, [60, 5, -1, 7])


@both
def test_parameters_by_value_and_by_reference(vendor: str) -> None:
    body = """
%pair = type { i32, [3 x i16], i64 }
define kernel void @k(ptr addrspace(1) %out, ptr ATTRIBUTE %p, i1 %flag, half %h, <2 x i32> %v) {
  %a = load i32, ptrSPACE %p
  %q = getelementptr %pair, ptrSPACE %p, i32 0, i32 1, i32 2
  %b = load i16, ptrSPACE %q
  %r = getelementptr %pair, ptrSPACE %p, i32 0, i32 2
  %c = load i64, ptrSPACE %r
  %b64 = sext i16 %b to i64
  %a64 = sext i32 %a to i64
  %s = add i64 %a64, %b64
  %t = add i64 %s, %c
  %f = zext i1 %flag to i64
  %hi = fptosi half %h to i64
  %e = extractelement <2 x i32> %v, i32 1
  %e64 = sext i32 %e to i64
  %u = add i64 %t, %f
  %w = add i64 %u, %hi
  %x = add i64 %w, %e64
  store i64 %x, ptr addrspace(1) %out
  ret void
}
"""
    if vendor == AMD:
        body = body.replace("ptr ATTRIBUTE", "ptr addrspace(4) byref(%pair) align 8").replace(
            "ptrSPACE", "ptr addrspace(4)"
        )
    else:
        body = body.replace("ptr ATTRIBUTE", "ptr byval(%pair) align 8").replace("ptrSPACE", "ptr")
    layout = np.dtype({"names": ["a", "b", "c"], "formats": ["i4", "3i2", "i8"], "offsets": [0, 4, 16], "itemsize": 24})
    pair = np.zeros((), layout)
    pair["a"], pair["b"], pair["c"] = 100, (0, 0, -7), 1000
    out = np.zeros(1, np.int64)
    run(body, vendor, out, pair.tobytes(), 1, 3.0, np.array([5, 20000], np.int32).tobytes())
    assert out[0] == 100 - 7 + 1000 + 1 + 3 + 20000
    (kernel,) = rewrite(complete(body, vendor), CHIPS[vendor])["kernels"]
    passed = [(p["bytes"], p["alignment"], p["passed"], p["pointer"]) for p in kernel["parameters"]]
    assert passed == [
        (8, 8, "direct", True),
        (24, 8, "byref" if vendor == AMD else "byval", False),
        (1, 1, "direct", False),
        (2, 2, "direct", False),
        (8, 8, "direct", False),
    ]


def test_a_thread_writes_its_own_copy_of_a_parameter() -> None:
    body = """
define kernel void @k(ptr addrspace(1) %out, ptr byval(i32) align 4 %p) {
  %t = call i32 @thread()
  %old = load i32, ptr %p
  %new = add i32 %old, 1
  store i32 %new, ptr %p
  call void @barrier()
  %x = load i32, ptr %p
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %x, ptr addrspace(1) %to
  ret void
}
"""
    out = np.zeros(4, np.int32)
    run(body, NVIDIA, out, np.int32(6).tobytes(), block=4)
    np.testing.assert_array_equal(out, [7, 7, 7, 7])


def test_the_block_size_is_told() -> None:
    (kernel,) = rewrite(NVIDIA + 'define ptx_kernel void @k() "nvvm.reqntid"="32,4" { ret void }')["kernels"]
    assert (kernel["name"], kernel["block"]) == ("k", [32, 4, 1])
    text = 'define amdgpu_kernel void @k() "amdgpu-flat-work-group-size"="64,256" !reqd_work_group_size !0 { ret void }'
    (kernel,) = rewrite(AMD + text + "\n!0 = !{i32 8, i32 8, i32 2}", "gfx942")["kernels"]
    assert (kernel["block"], kernel["least_threads"], kernel["most_threads"]) == ([8, 8, 2], 64, 256)
    annotated = NVIDIA + "define void @old() { ret void }\n!nvvm.annotations = !{!0, !1}\n"
    annotated += '!0 = !{ptr @old, !"kernel", i32 1}\n!1 = !{ptr @old, !"reqntidx", i32 96}\n'
    (kernel,) = rewrite(annotated)["kernels"]
    assert (kernel["name"], kernel["block"]) == ("old", [96, 1, 1])


# ---------------------------------------------------------------------------------------------------------------------
# Functions
# ---------------------------------------------------------------------------------------------------------------------


@both
def test_device_functions_recursion_aliases_and_pointers(vendor: str) -> None:
    body = """
@alias = alias i32 (i32), ptr @double
define linkonce_odr i32 @double(i32 %x) noinline { %y = shl i32 %x, 1
  ret i32 %y }
define i32 @sum(i32 %n) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %t = call i32 @thread()
  %m = sub i32 %n, 1
  %rest = call i32 @sum(i32 %m)
  %plus = add i32 %rest, %n
  %all = add i32 %plus, %t
  br label %end
end:
  %r = phi i32 [ 0, %0 ], [ %all, %more ]
  ret i32 %r
}
define internal i32 @pick(i32 %x) { %t = call i32 @thread()
  %y = add i32 %x, %t
  ret i32 %y }
define kernel void @k(ptr addrspace(1) %out, i32 %which) {
  %t = call i32 @thread()
  %isFirst = icmp eq i32 %which, 0
  %f = select i1 %isFirst, ptr @pick, ptr @alias
  %a = call i32 %f(i32 10)
  %b = call i32 @sum(i32 3)
  %c = add i32 %a, %b
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %c, ptr addrspace(1) %to
  ret void
}
@llvm.used = appending global [1 x ptr] [ptr @double], section "llvm.metadata"
"""
    out = np.zeros(3, np.int32)
    run(body, vendor, out, 0, block=3)
    np.testing.assert_array_equal(out, [10 + t + 6 + 3 * t for t in range(3)])
    run(body, vendor, out, 1, block=3)
    np.testing.assert_array_equal(out, [20 + 6 + 3 * t for t in range(3)])


def test_functions_that_no_kernel_reaches_need_not_be_known() -> None:
    text = NVIDIA + "declare void @unheard()\ndefine void @f() { call void @unheard()\n ret void }\n"
    assert rewrite(text + "define ptx_kernel void @k() { ret void }")["instructions"] == []


def test_variable_arguments_and_tail_calls() -> None:
    body = """
declare void @llvm.va_start.p5(ptr addrspace(5))
define internal i32 @second(i32 %n, ...) {
  %list = alloca ptr, addrspace(5)
  call void @llvm.va_start.p5(ptr addrspace(5) %list)
  %a = va_arg ptr addrspace(5) %list, i32
  %b = va_arg ptr addrspace(5) %list, i32
  ret i32 %b
}
define internal i32 @down(i32 %n, i32 %sum) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %s = add i32 %sum, %n
  %r = musttail call i32 @down(i32 %m, i32 %s)
  ret i32 %r
end:
  ret i32 %sum
}
define kernel void @k(ptr addrspace(1) %out) {
  %x = call i32 (i32, ...) @second(i32 2, i32 5, i32 7)
  %y = call i32 @down(i32 100, i32 %x)
  store i32 %y, ptr addrspace(1) %out
  ret void
}
"""
    out = np.zeros(1, np.int32)
    run(body, AMD, out)
    assert out[0] == 7 + 5050


def test_convergence_tokens_are_dropped() -> None:
    body = """
declare token @llvm.experimental.convergence.entry()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
define kernel void @k(ptr addrspace(1) %out) convergent {
  %token = call token @llvm.experimental.convergence.entry()
  %t = call i32 @thread() [ "convergencectrl"(token %token) ]
  %x = add i32 %t, 3
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %x) [ "convergencectrl"(token %token) ]
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %first, ptr addrspace(1) %to
  ret void
}
"""
    out = np.zeros(64, np.int32)
    run(body, AMD, out, block=64)
    np.testing.assert_array_equal(out, 3)


@both
def test_writable_variables_keep_their_values_between_blocks(vendor: str) -> None:
    body = """
@counter = internal addrspace(1) global i32 5
define kernel void @k(ptr addrspace(1) %out) {
  %old = atomicrmw add ptr addrspace(1) @counter, i32 1 monotonic
  %new = add i32 %old, 1
  %r = atomicrmw max ptr addrspace(1) %out, i32 %new monotonic
  ret void
}
"""
    out = np.zeros(1, np.int32)
    run(body, vendor, out, grid=4, block=2)
    assert out[0] == 13


@both
def test_trap_and_code_that_must_not_be_reached(vendor: str) -> None:
    for end in ("call void @llvm.trap()\n  unreachable", "unreachable"):
        body = f"""
define kernel void @k(i32 %n) {{
  %t = call i32 @thread()
  %bad = icmp eq i32 %t, %n
  br i1 %bad, label %fail, label %fine
fail:
  {end}
fine:
  ret void
}}
declare void @llvm.trap()
"""
        run(body, vendor, 9, block=4)
        with pytest.raises(EmulationError) as caught:
            run(body, vendor, 2, block=4)
        assert [(f.kind, f.thread) for f in caught.value.findings] == [("trap", (2, 0, 0))]


def test_reflection_is_answered() -> None:
    body = """
@arch = private constant [12 x i8] c"__CUDA_ARCH\\00"
@ftz = private constant [11 x i8] c"__CUDA_FTZ\\00"
declare i32 @__nvvm_reflect(ptr)
define kernel void @k(ptr addrspace(1) %out) {
  %a = call i32 @__nvvm_reflect(ptr @arch)
  %f = call i32 @__nvvm_reflect(ptr @ftz)
  %x = add i32 %a, %f
  store i32 %x, ptr addrspace(1) %out
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
"""
    out = np.zeros(1, np.int32)
    run(body, NVIDIA, out)
    assert out[0] == 801


def test_libraries_give_what_is_missing(tmp_path: Any) -> None:
    library = tmp_path / "library.ll"
    library.write_text(
        "define float @__nv_twice(float %x) { %y = call float @helper(float %x)\n ret float %y }\n"
        "define internal float @helper(float %x) { %y = fadd float %x, %x\n ret float %y }\n"
        "define float @__nv_other(float %x) { %y = call float @unheard(float %x)\n ret float %y }\n"
        "declare float @unheard(float)\n"
    )
    text = NVIDIA + "declare float @__nv_twice(float)\ndefine ptx_kernel void @k(ptr %p) { %x = load float, ptr %p\n"
    text += "%y = call float @__nv_twice(float %x)\n store float %y, ptr %p\n ret void }"
    assert [item["name"] for item in rewrite(text)["instructions"]] == ["__nv_twice"]
    assert rewrite(text, libraries=[str(library)])["instructions"] == []
    with pytest.raises(codegen_worker.WorkerRefused, match=r"nowhere\.bc cannot be read"):
        rewrite(text, libraries=[str(tmp_path / "nowhere.bc")])


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------

TINY = np.array([1e-39, -1e-39, 1.5, 1e-20], np.float32)


@both
@pytest.mark.parametrize("flush", [False, True])
def test_denormals_follow_the_function(vendor: str, flush: bool) -> None:
    body = """
define kernel void @k(ptr %p, ptr %out) #0 {
  %t = call i32 @thread()
  %from = getelementptr float, ptr %p, i32 %t
  %x = load float, ptr %from
  %y = fmul float %x, 1.0
  %to = getelementptr float, ptr %out, i32 %t
  store float %y, ptr %to
  %z = fmul float %x, %x
  %square = getelementptr float, ptr %to, i32 4
  store float %z, ptr %square
  ret void
}
"""
    mode = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"' if flush else ""
    out = np.zeros(8, np.float32)
    run(body + f"attributes #0 = {{ nounwind {mode} }}\n", vendor, TINY, out, block=4)
    expected = np.concatenate([TINY, TINY * TINY])
    if flush:
        smallest = np.finfo(np.float32).smallest_normal
        expected = np.where(np.abs(expected) < smallest, np.copysign(0, expected), expected)
    np.testing.assert_array_equal(out.view(np.uint32), expected.astype(np.float32).view(np.uint32))


@both
@pytest.mark.parametrize("name", ["half", "bfloat"])
@pytest.mark.parametrize("processor", ["", "x86-64"], ids=["native", "baseline"])
def test_small_floats_round_once(
    vendor: str, name: str, processor: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if processor:
        if platform.machine() != "x86_64":
            pytest.skip("the baseline is that of x86-64")
        real = codegen_worker.worker.rewrite
        monkeypatch.setattr(codegen_worker.worker, "rewrite", functools.partial(real, processor=processor))
        monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path))
    body = """
define kernel void @k(ptr %a, ptr %b, ptr %c, ptr %wide, ptr %out) {
  %t = call i32 @thread()
  %pa = getelementptr TYPE, ptr %a, i32 %t
  %pb = getelementptr TYPE, ptr %b, i32 %t
  %pc = getelementptr TYPE, ptr %c, i32 %t
  %x = load TYPE, ptr %pa
  %y = load TYPE, ptr %pb
  %z = load TYPE, ptr %pc
  %fused = call TYPE @llvm.fma.TY(TYPE %x, TYPE %y, TYPE %z)
  %product = fmul TYPE %x, %y
  %sum = fadd TYPE %x, %z
  %quotient = fdiv TYPE %x, %y
  %pw = getelementptr double, ptr %wide, i32 %t
  %d = load double, ptr %pw
  %narrow = fptrunc double %d to TYPE
  %single = fptrunc double %d to float
  %narrower = fptrunc float %single to TYPE
  %first = mul i32 %t, 6
  %to = getelementptr TYPE, ptr %out, i32 %first
  %v0 = insertelement <6 x TYPE> poison, TYPE %fused, i32 0
  %v1 = insertelement <6 x TYPE> %v0, TYPE %product, i32 1
  %v2 = insertelement <6 x TYPE> %v1, TYPE %sum, i32 2
  %v3 = insertelement <6 x TYPE> %v2, TYPE %quotient, i32 3
  %v4 = insertelement <6 x TYPE> %v3, TYPE %narrow, i32 4
  %v5 = insertelement <6 x TYPE> %v4, TYPE %narrower, i32 5
  store <6 x TYPE> %v5, ptr %to, align 2
  ret void
}
declare TYPE @llvm.fma.TY(TYPE, TYPE, TYPE)
"""
    from fractions import Fraction

    ty: Any = np.float16 if name == "half" else ml_dtypes.bfloat16
    bits = 11 if name == "half" else 8
    least = -24 if name == "half" else -133
    largest = Fraction(float(ml_dtypes.finfo(ty).max))

    def round_once(exact: Fraction) -> float:
        if exact == 0:
            return 0.0
        size = abs(exact)
        exponent = len(bin(size.numerator)) - len(bin(size.denominator))
        while Fraction(2) ** exponent > size:
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= size:
            exponent += 1
        unit = Fraction(2) ** max(exponent - bits + 1, least)
        rounded = round(size / unit) * unit
        value = float(rounded) if rounded <= largest else float("inf")
        return value if exact > 0 else -value

    rng = np.random.default_rng(3)
    threads = 512
    a, b = (rng.integers(-(2**bits) + 1, 2**bits, threads) | 1 for _ in range(2))
    x = (a * 2.0 ** rng.integers(-bits, 2, threads)).astype(ty)
    y = (b * 2.0 ** rng.integers(-bits, 2, threads)).astype(ty)
    # Half of them where a tie is broken by what is far below.
    z = ((rng.integers(1, 2**bits, threads)) * 2.0 ** rng.integers(-2 * bits, 3, threads)).astype(ty)
    ties = (1 + 2.0**-bits) * 2.0 ** rng.integers(-3, 3, threads)
    wide = ties * (1 + rng.choice([0, 2.0**-40, -(2.0**-40)], threads))
    wide[:9] = [
        2.0**-134 + 2.0**-160,
        2.0**-150,
        2.0**-133.5,
        3e38,
        1e39,
        np.inf,
        2.0**least,
        2.0 ** (least - 1) * 1.0000000001,
        1.0,
    ]
    out = np.zeros((threads, 6), np.uint16)
    text = body.replace("llvm.fma.TY", "llvm.fma.f16" if name == "half" else "llvm.fma.bf16").replace("TYPE", name)
    run(text, vendor, x.view(np.uint16), y.view(np.uint16), z.view(np.uint16), wide, out, block=threads)
    got = out.view(ty).astype(np.float64)
    exact = [[Fraction(float(value)) for value in values] for values in (x, y, z)]
    for i, (p, q, r) in enumerate(zip(*exact, strict=True)):
        assert got[i, 0] == round_once(p * q + r), (p, q, r)
        assert got[i, 1] == round_once(p * q)
        assert got[i, 2] == round_once(p + r)
        assert got[i, 3] == round_once(p / q)
    finite = np.isfinite(wide)
    np.testing.assert_array_equal(got[finite, 4], [round_once(Fraction(value)) for value in wide[finite]])
    with np.errstate(over="ignore"):
        single = wide.astype(np.float32)
    finite = np.isfinite(single)
    np.testing.assert_array_equal(got[finite, 5], [round_once(Fraction(float(value))) for value in single[finite]])
    assert got[5, 4] == got[5, 5] == np.inf


@both
def test_math_functions_of_llvm_are_the_hosts(vendor: str) -> None:
    body = """
define kernel void @k(ptr %p) {
  %x = load float, ptr %p
  %e = call float @llvm.exp2.f32(float %x)
  %s = call float @llvm.sqrt.f32(float %e)
  %t = call float @llvm.sin.f32(float %s)
  %m = call float @llvm.fmuladd.f32(float %t, float 2.0, float %s)
  store float %m, ptr %p
  ret void
}
declare float @llvm.exp2.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.sin.f32(float)
declare float @llvm.fmuladd.f32(float, float, float)
"""
    values = np.array([1.25], np.float32)
    run(body, vendor, values)
    root = np.sqrt(2.0**1.25)
    np.testing.assert_allclose(values, [np.sin(root) * 2 + root], rtol=1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Atomics
# ---------------------------------------------------------------------------------------------------------------------

ATOMICS: Sequence[tuple[str, str, str, float, float, float]] = [
    # operation, type, syncscope, before, operand, after 8 threads
    ("add", "i32", "", 1, 2, 17),
    ("sub", "i64", 'syncscope("agent")', 100, 1, 92),
    ("xchg", "i32", "", 1, 9, 9),
    ("max", "i32", 'syncscope("device")', -5, 3, 3),
    ("umin", "i32", 'syncscope("workgroup")', 50, 3, 3),
    ("and", "i8", "", 15, 6, 6),
    ("xor", "i16", "", 3, 5, 3),
    ("nand", "i32", "", -1, -1, -1),
    ("fadd", "float", "", 0.5, 0.25, 2.5),
    ("fsub", "double", "", 4, 0.25, 2),
    ("fmax", "float", "", 1, 7, 7),
    ("fmin", "double", "", 1, -7, -7),
    ("fadd", "half", "", 0.5, 0.25, 2.5),
    ("fadd", "bfloat", "", 0.5, 0.25, 2.5),
    ("uinc_wrap", "i32", "", 0, 5, 2),
    ("udec_wrap", "i32", "", 0, 5, 4),
    ("usub_cond", "i32", "", 20, 3, 2),
    ("usub_sat", "i32", "", 20, 3, 0),
    ("xchg", "float", "", 1, 9, 9),
]
_NUMPY: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "float": np.float32,
    "double": np.float64,
    "half": np.float16,
    "bfloat": ml_dtypes.bfloat16,
}


@pytest.mark.parametrize("sanitize", [None, "thread"])
def test_atomics(sanitize: Any) -> None:
    lines, arrays, expected = [], [], []
    for index, (operation, type_, scope, before, operand, after) in enumerate(ATOMICS):
        written = f"{float(operand)}" if type_ in ("float", "double", "half", "bfloat") else str(int(operand))
        if type_ == "half":
            written = "0xH3400"
        elif type_ == "bfloat":
            written = "0xR3E80"
        lines.append(f"  %r{index} = atomicrmw {operation} ptr %p{index}, {type_} {written} {scope} monotonic")
        value = np.array([before]).astype(_NUMPY[type_])
        arrays.append(value.view(np.uint16) if type_ == "bfloat" else value)
        expected.append(after)
    parameters = ", ".join(f"ptr %p{i}" for i in range(len(ATOMICS)))
    body = f"define kernel void @k({parameters}) {{\n" + "\n".join(lines) + "\n  ret void\n}\n"
    run(body, NVIDIA, *arrays, block=8, sanitize=sanitize)
    for (operation, type_, *_), array, after in zip(ATOMICS, arrays, expected, strict=True):
        assert float(array.view(_NUMPY[type_])[0]) == after, (operation, type_)


@pytest.mark.parametrize("sanitize", [None, "thread"])
def test_atomics_of_pointers(sanitize: Any) -> None:
    body = """
define kernel void @k(ptr %slot, ptr %out) {
  store i64 0, ptr %slot
  %first = atomicrmw xchg ptr %slot, ptr %out seq_cst
  %pair = cmpxchg ptr %slot, ptr %out, ptr %slot seq_cst seq_cst
  %p = extractvalue { ptr, i1 } %pair, 0
  %now = load atomic ptr, ptr %slot seq_cst, align 8
  %isThere = icmp eq ptr %now, %slot
  %isFirst = icmp eq ptr %first, null
  %both = and i1 %isThere, %isFirst
  %x = zext i1 %both to i64
  store atomic i64 0, ptr %slot seq_cst, align 8
  store i64 %x, ptr %p
  ret void
}
"""
    slot, out = np.zeros(1, np.int64), np.zeros(1, np.int64)
    run(body, NVIDIA, slot, out, sanitize=sanitize)
    assert out[0] == 1


def test_atomics_of_vectors() -> None:
    body = """
define kernel void @k(ptr %p) {
  %r = atomicrmw fadd ptr %p, <2 x half> <half 1.0, half 2.0> seq_cst
  ret void
}
"""
    values = np.array([1, 2], np.float16)
    run(body, NVIDIA, values, block=4)
    np.testing.assert_array_equal(values, [5, 10])


@both
@pytest.mark.parametrize(
    "wait",
    [
        "%v = load atomic i32, ptr %flag acquire, align 4",
        "%v = load volatile i32, ptr %flag, align 4",
        "%v = atomicrmw or ptr %flag, i32 0 acquire",
        "%pair = cmpxchg ptr %flag, i32 1, i32 1 acquire monotonic\n  %v = extractvalue { i32, i1 } %pair, 0",
    ],
)
def test_a_thread_that_spins_lets_others_run(vendor: str, wait: str) -> None:
    body = f"""
define kernel void @k(ptr %flag, ptr %out) {{
  %t = call i32 @thread()
  %waits = icmp eq i32 %t, 0
  br i1 %waits, label %spin, label %signal
spin:
  {wait}
  %set = icmp eq i32 %v, 1
  br i1 %set, label %go, label %spin
go:
  store i32 7, ptr %out
  ret void
signal:
  store atomic i32 1, ptr %flag release, align 4
  ret void
}}
"""
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(body, vendor, flag, out, block=2)
    assert out[0] == 7


# ---------------------------------------------------------------------------------------------------------------------
# Calls of instructions
# ---------------------------------------------------------------------------------------------------------------------


def _sites(text: str) -> list[tuple[int, int, int]]:
    """Bytes of the result, number of operands and place of each call site."""
    pattern = r"@site[.\d]* = .*constant \{[^}]*\} \{ i32 (\d+), i32 (\d+), i32 (\d+),"
    return [(int(r), int(n), int(o)) for r, n, o in re.findall(pattern, text)]


def test_operands_and_results_are_packed() -> None:
    body = """
declare { i32, i1 } @outside({ i8, i64 }, i1, <3 x half>, ptr addrspace(3), [2 x i16])
define kernel void @k(ptr %p, i1 %b, <3 x half> %h) {
  %s = call { i32, i1 } @outside({ i8, i64 } { i8 1, i64 2 }, i1 %b, <3 x half> %h, ptr addrspace(3) null,
    [2 x i16] [i16 1, i16 2])
  %x = extractvalue { i32, i1 } %s, 0
  store i32 %x, ptr %p
  ret void
}
"""
    text = host_ir(body, AMD)
    assert _sites(text) == [(5, 5, 0)]
    assert "[5 x i32] [i32 9, i32 1, i32 6, i32 8, i32 4]" in text
    # Only the kernel's own accesses are a sanitizer's matter.
    checked = host_ir(body, AMD, sanitize="thread")
    assert len(re.findall(r"call void @__tsan_(?:unaligned_)?write\d+\(", checked)) == 1
    assert not re.findall(r"call void @__tsan_(?:unaligned_)?read\d+\(", checked)


def test_call_sites_are_numbered_in_the_order_of_the_code() -> None:
    # The loop's blocks stand behind its exit in the text; a diamond is inside.
    body = """
declare void @first()
declare void @left()
declare void @right()
declare void @latch()
declare void @behind()
declare void @callee()
define internal void @f() noinline { call void @callee()
  ret void }
define kernel void @k(i32 %n, i1 %c) {
  call void @first()
  br label %head
exit:
  call void @behind()
  ret void
head:
  %i = phi i32 [ 0, %0 ], [ %j, %join ]
  br i1 %c, label %a, label %b
b:
  call void @right()
  %out = icmp eq i32 %n, 77
  br i1 %out, label %exit, label %join
a:
  call void @left()
  call void @f()
  br label %join
join:
  call void @latch()
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %head, label %exit
}
"""
    names = [item["name"] for item in rewrite(complete(body, NVIDIA))["instructions"]]
    assert names[0] == "first"
    assert set(names[1:4]) == {"left", "callee", "right"}
    assert names[4:] == ["latch", "behind"]
    assert names.index("callee") == names.index("left") + 1
    assert sorted(order for _, _, order in _sites(host_ir(body, NVIDIA))) == list(range(6))


def test_inline_assembly_becomes_its_instructions() -> None:
    body = """
define kernel void @k(ptr %p) {
  %x = load i32, ptr %p
  %y = call i32 asm sideeffect "  bfind.shiftamt.u32 $0, $1; ", "=r,r"(i32 %x)
  call void asm sideeffect "", "~{memory}"()
  %z = call i32 asm "", "=r,0"(i32 %y)
  store i32 %z, ptr %p
  ret void
}
"""
    (used,) = rewrite(complete(body, NVIDIA))["instructions"]
    assert used["name"] == "asm:bfind.shiftamt.u32"
    value = np.array([0x10], np.int32)
    run(body, NVIDIA, value)
    assert value[0] == 31 - 4


def test_unknown_instructions_are_named_with_their_place() -> None:
    body = """
declare void @unheard(i32)
define kernel void @k() !dbg !3 {
  call void @unheard(i32 1), !dbg !4
  ret void
}
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "source.mlir", directory: "/somewhere")
!3 = distinct !DISubprogram(name: "k", file: !2, line: 3, type: !5, unit: !1, spFlags: DISPFlagDefinition)
!4 = !DILocation(line: 12, column: 5, scope: !3)
!5 = !DISubroutineType(types: !6)
!6 = !{}
"""
    with pytest.raises(CompileError) as caught:
        run(body, NVIDIA)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "unheard"
    assert diagnostic.location is not None
    assert (diagnostic.location.file, diagnostic.location.line, diagnostic.location.column) == (
        "/somewhere/source.mlir",
        12,
        5,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Other compilers, and our own
# ---------------------------------------------------------------------------------------------------------------------

CUDA = """
#define global __attribute__((global))
#define shared __attribute__((shared))
#define device __attribute__((device))
#define constant __attribute__((constant))
#if defined(__AMDGCN__)
device static int thread() { return __builtin_amdgcn_workitem_id_x(); }
device static int block() { return __builtin_amdgcn_workgroup_id_x(); }
device static void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
device static int thread() { return __nvvm_read_ptx_sreg_tid_x(); }
device static int block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
device static void barrier() { __nvvm_bar_sync(0); }
#endif
constant float scale[4] = {1.0f, 2.0f, 3.0f, 4.0f};
device int total = 0;
struct Arguments { short n; double bias; };
struct Node { Node *next; char tag; float value; };
device float walk(const Node *node) {
  float sum = 0;
  for (; node; node = node->next)
    sum += node->value * (node->tag ? 1 : 2);
  return sum;
}
device __attribute__((noinline)) float recurse(int n) {
  barrier();
  return n <= 0 ? 0.0f : n + recurse(n - 1);
}
extern "C" global void k(Arguments arguments, const float *in, float *out, _Float16 h) {
  shared float tile[64];
  shared Node nodes[64];
  int t = thread();
  tile[t] = in[block() * 64 + t];
  nodes[t].next = t % 8 ? &nodes[t - 1] : nullptr;
  nodes[t].tag = t & 1;
  nodes[t].value = 1.0f;
  barrier();
  float local[4];
  for (int i = 0; i < 4; ++i)
    local[i] = tile[(t + i) % 64] * scale[i];
  float sum = (float)arguments.bias + recurse(3);
  for (int i = 0; i < 4; ++i)
    sum += local[(i * 7 + t) & 3];
  switch (t % 3) {
  case 0: sum += walk(&nodes[t]); break;
  case 1: sum += t; break;
  default: sum -= (float)h;
  }
  __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
  if (block() * 64 + t < arguments.n)
    out[block() * 64 + t] = sum;
}
"""


@both
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("sanitize", [None, "address", "thread"])
def test_code_of_clang(vendor: str, level: str, sanitize: Any, tmp_path: Path) -> None:
    clang = toolchain.find_llvm_tool("clang")
    if clang is None:
        pytest.skip("no clang was found")
    source, output = tmp_path / "kernel.cu", tmp_path / "kernel.bc"
    source.write_text(CUDA)
    language = ["-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc"]
    if vendor == NVIDIA:
        language = ["-x", "cuda", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"]
    command = [clang.path, *language, "--cuda-device-only", "-g", level, "-c", "-emit-llvm", source, "-o", output]
    subprocess.run(command, check=True)
    rng = np.random.default_rng(0)
    given, out = rng.integers(-8, 8, 128).astype(np.float32), np.full(128, -1, np.float32)
    arguments = np.zeros((), np.dtype({"names": ["n", "bias"], "formats": ["i2", "f8"], "offsets": [0, 8]}))
    arguments["n"], arguments["bias"] = 100, 0.5
    module = emulator.load(output, f"emu:{CHIPS[vendor]}")
    how = emulator.Emulation(sanitize=sanitize)
    module.launch(2, 64, arguments.tobytes(), given, out, np.float16(1.5), emulation=how)
    expected = np.full(128, -1, np.float32)
    for i in range(100):
        block, t = divmod(i, 64)
        tile = given[64 * block : 64 * (block + 1)]
        value = 0.5 + 6 + sum(tile[(t + j) % 64] * (j + 1) for j in range(4))
        if t % 3 == 0:
            value += sum(1 if node % 2 else 2 for node in range(t - t % 8, t + 1))
        else:
            value += t if t % 3 == 1 else -1.5
        expected[i] = value
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90", "gfx942", "gfx1250"])
@pytest.mark.parametrize("name", ["vector_add", "matmul_ragged", "matmul_relu_bf16"])
def test_what_is_emulated_is_what_is_shipped(chip: str, name: str) -> None:
    opt = toolchain.find_llvm_tool("opt")
    if opt is None:
        pytest.skip("no opt was found")
    path = Path(__file__).parent.parent / "kernels" / f"{name}.mlir"

    def text(ir: str | bytes) -> str:
        data = ir.encode() if isinstance(ir, str) else ir
        command = [opt.path, "--strip-debug", "-S", "-"]
        stripped = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
        # What is left of debug information is a flag of the module.
        return re.sub(r"^(?:!\d+ = .*|!llvm.module.flags.*|; ModuleID.*|)\n", "", stripped, flags=re.MULTILINE)

    emulated, shipped = smalti.compile(path, target=f"emu:{chip}"), smalti.compile(path, target=chip)
    assert emulated.device_ir is not None
    assert text(emulated.device_ir) == text(shipped.asm["llvm"])
    assert "!dbg" not in text(emulated.device_ir)

    disassembled = subprocess.run(
        [opt.path, "-S", "-"], input=emulated.device_ir, capture_output=True, check=True
    ).stdout.decode()
    accesses = re.findall(
        r"^ .*(?:= load |^ +store |= atomicrmw |call .*@llvm\.(?:nvvm|amdgcn)\.).*$", disassembled, re.M
    )
    assert accesses
    lines = dict(re.findall(r"^(!\d+) = !DILocation\(line: (\d+),", disassembled, re.M))
    source = path.read_text().splitlines()
    for access in accesses:
        found = re.search(r"!dbg (!\d+)", access)
        assert found, access
        # Places of threads are read where the function begins.
        if not re.search(r"\.(?:sreg|workitem|workgroup)\.", access):
            assert re.search(r"triton_xla\.|arith\.|math\.|entry_func", source[int(lines[found[1]]) - 1]), access


# ---------------------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------------------

EMPTY = "define ptx_kernel void @k() { ret void }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define void @f( {", "expected type"),
        ("BC\xc0\xdegarbage", "not LLVM IR"),
        ("", "target triple is ''"),
        ('target triple = "x86_64-linux-gnu"\n' + EMPTY, "target triple is 'x86_64-linux-gnu'"),
        (NVIDIA + "define void @f() { ret void }", "no kernel"),
        (NVIDIA + "define ptx_kernel void @k() { %x = add i32 1, 1.0\n ret void }", "floating point constant invalid"),
        (NVIDIA + EMPTY + 'module asm ".global x;"', "inline assembly outside"),
        (
            NVIDIA + "@x = external addrspace(1) global i32\ndefine ptx_kernel void @k(ptr %p) {\n"
            "%v = load i32, ptr addrspace(1) @x\n store i32 %v, ptr %p\n ret void }",
            "@x is not defined",
        ),
        (
            NVIDIA + "declare void @g()\ndefine ptx_kernel void @k(ptr %p) { store ptr @g, ptr %p\n ret void }",
            "address of @g",
        ),
        (
            NVIDIA + "@s = addrspace(3) global i32 7\ndefine ptx_kernel void @k(ptr %p) {\n"
            "%v = load i32, ptr addrspace(3) @s\n store i32 %v, ptr %p\n ret void }",
            "@s has an initial value",
        ),
        (
            NVIDIA + "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } "
            "{ i32 1, ptr @c, ptr null }]\ndefine void @c() { ret void }\n" + EMPTY,
            "global constructors",
        ),
        (
            NVIDIA + "declare i32 @__nvvm_reflect(ptr)\ndefine ptx_kernel void @k(ptr %p) {\n"
            "%v = call i32 @__nvvm_reflect(ptr %p)\n store i32 %v, ptr %p\n ret void }",
            "__nvvm_reflect without a constant string",
        ),
    ],
)
def test_what_is_no_module_for_the_emulator(text: str, message: str) -> None:
    error = refusal(text.encode("latin-1"))
    assert message in str(error)


def test_text_that_does_not_parse_has_its_place() -> None:
    (diagnostic,) = refusal(b"\n\ndefine void @f( {").diagnostics
    assert diagnostic["location"] == ["-", 3, 18]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%x = alloca i32, addrspace(5)\n %i = ptrtoint ptr addrspace(5) %x to i32\n store i32 %i, ptr %p",
            "private memory",
        ),
        ("%x = alloca i32, addrspace(5)\n store ptr addrspace(5) %x, ptr %p", "private memory"),
        ("%r = load ptr addrspace(8), ptr %p\n store ptr addrspace(8) %r, ptr %p", "buffer resources"),
        (
            "%v = atomicrmw xchg ptr %p, ptr addrspace(3) null monotonic\n store ptr addrspace(3) %v, ptr %p",
            "atomics on ptr addrspace(3)",
        ),
        ("%v = atomicrmw add ptr %p, i32 1 seq_cst, align 1\n store i32 %v, ptr %p", "4 bytes that is aligned to less"),
        (
            "callbr void @llvm.amdgcn.kill(i1 false) to label %a [label %b]\nb:\n unreachable\na:",
            "the operation 'callbr'",
        ),
    ],
)
def test_what_is_not_emulated_has_its_function(body: str, message: str) -> None:
    kernel = f"define amdgpu_kernel void @k(ptr %p) {{\n {body}\n ret void }}\ndeclare void @llvm.amdgcn.kill(i1)"
    error = refusal(AMD + kernel, "gfx942")
    assert message in str(error)
    assert "(in @k)" in str(error)


def test_parameters_that_no_launch_can_give_are_refused() -> None:
    for type_ in ("ptr addrspace(8)", "[2 x ptr addrspace(3)]"):
        error = refusal(AMD + f"define amdgpu_kernel void @k(i32 %n, {type_} %p) {{ ret void }}", "gfx942")
        assert f"parameter 1 of the kernel @k has the type {type_}" in str(error)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("define ptx_kernel void @0() { ret void }", "a kernel has no name"),
        ('define ptx_kernel void @"a\\0Ab"() { ret void }', "the name of a kernel has a line break"),
        (
            "define ptx_kernel void @k(ptr %p) { %v = load <vscale x 4 x float>, ptr %p\n ret void }",
            "the type <vscale x 4 x float>, which no device has (in @k)",
        ),
        ("define ptx_kernel void @k(ptr %p) { %a = alloca <vscale x 4 x i32>\n ret void }", "<vscale x 4 x i32>"),
        ("define ptx_kernel void @k(x86_fp80 %x) { ret void }", "parameter 0 of the function @k has the type x86_fp80"),
        (
            "@x = addrspace(1) global ppc_fp128 zeroinitializer\n"
            "define ptx_kernel void @k(ptr %p) { store ptr addrspace(1) @x, ptr %p\n ret void }",
            "the variable @x has the type ppc_fp128",
        ),
        *(
            (
                f"declare void @{name}()\ndefine ptx_kernel void @k() {{ call void @{name}()\n ret void }}",
                f"the intrinsic {name}, which no device has",
            )
            for name in ("llvm.x86.sse2.pause", "llvm.no.such.thing", "llvm.eh.unwind.init")
        ),
        (
            "@s = internal addrspace(3) global [4294967312 x i8] poison\n"
            "define ptx_kernel void @k() { store i8 1, ptr addrspace(3) @s\n ret void }",
            "the shared variables up to @s take more shared memory than any GPU has",
        ),
    ],
)
def test_what_no_device_has_is_refused(module: str, message: str) -> None:
    assert message in str(refusal(NVIDIA + module))


@both
def test_names_of_the_system_are_a_kernels_own(vendor: str) -> None:
    # The host's code calls `memcpy` and `expf` of the system.
    body = """\
define kernel void @expf(ptr %in, ptr %out) {
  %x = load float, ptr %in
  %y = call float @llvm.exp.f32(float %x)
  store float %y, ptr %out
  ret void
}
define kernel void @memcpy(ptr %in, ptr %out, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %in, i64 %n, i1 false)
  ret void
}
@smalti_emu_names = addrspace(1) global i32 3
define kernel void @smalti_emu_call(ptr %in, ptr %out) {
  %i = call i32 @thread()
  %v = load i32, ptr addrspace(1) @smalti_emu_names
  %sum = add i32 %v, %i
  store i32 %sum, ptr %out
  ret void
}
"""
    module = emulator.load(complete(body, vendor), f"emu:{CHIPS[vendor]}")
    given, got = np.ones(4, np.float32), np.zeros(4, np.float32)
    module.launch(1, 1, given, got, kernel="expf")
    np.testing.assert_allclose(got, [np.e, 0, 0, 0], rtol=1e-6)
    module.launch(1, 1, given, got, np.int64(16), kernel="memcpy")
    np.testing.assert_array_equal(got, 1)
    number = np.zeros(1, np.int32)
    module.launch(1, 1, given, number, kernel="smalti_emu_call")
    assert number[0] == 3


def test_a_block_size_that_is_not_whole_is_no_requirement() -> None:
    kernel = "define amdgpu_kernel void @k() !reqd_work_group_size !0 { ret void }\n!0 = !{null, i32 2}"
    assert rewrite(AMD + kernel, "gfx942")["kernels"][0]["block"] is None


def test_bad_options_are_refused() -> None:
    for options, message in (
        ({"processor": "teapot"}, "no processor 'teapot'"),
        ({"sanitize": "memory"}, "no sanitizer 'memory'"),
        ({"libraries": [3]}, "'libraries' are paths"),
    ):
        with pytest.raises(codegen_worker.WorkerRefused, match=message):
            rewrite(NVIDIA + EMPTY, **options)


def test_the_worker_goes_on_after_a_refusal() -> None:
    refusal("nothing")
    assert rewrite(NVIDIA + EMPTY)["vendor"] == "nvidia"


def test_the_same_module_gives_the_same_code() -> None:
    text = complete(REVERSE, AMD).encode()
    first, second = (codegen_worker.worker.rewrite(text, chip="gfx942") for _ in range(2))
    assert first == second
