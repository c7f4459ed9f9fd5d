# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of device modules as host code: address spaces, layouts, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rewriting import AMD, CHIPS, NVIDIA, REVERSE, both, complete, needs_lld, rewrite, run
from smalti.errors import EmulationError

pytestmark = needs_lld

# ---------------------------------------------------------------------------------------------------------------------
# Address spaces
# ---------------------------------------------------------------------------------------------------------------------


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
def test_static_and_dynamic_shared_memory_are_contiguous(vendor: str) -> None:
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


def test_null_of_amd_lds_is_not_an_address() -> None:
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


def test_the_block_size_is_described() -> None:
    (kernel,) = rewrite(NVIDIA + 'define ptx_kernel void @k() "nvvm.reqntid"="32,4" { ret void }')["kernels"]
    assert (kernel["name"], kernel["block"]) == ("k", [32, 4, 1])
    text = 'define amdgpu_kernel void @k() "amdgpu-flat-work-group-size"="64,256" !reqd_work_group_size !0 { ret void }'
    (kernel,) = rewrite(AMD + text + "\n!0 = !{i32 8, i32 8, i32 2}", "gfx942")["kernels"]
    assert (kernel["block"], kernel["least_threads"], kernel["most_threads"]) == ([8, 8, 2], 64, 256)
    annotated = NVIDIA + "define void @old() { ret void }\n!nvvm.annotations = !{!0, !1}\n"
    annotated += '!0 = !{ptr @old, !"kernel", i32 1}\n!1 = !{ptr @old, !"reqntidx", i32 96}\n'
    (kernel,) = rewrite(annotated)["kernels"]
    assert (kernel["name"], kernel["block"]) == ("old", [96, 1, 1])
