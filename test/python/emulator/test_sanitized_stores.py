# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unordered stores of one value by several threads, which ThreadSanitizer does not report, and remaining reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from smalti.emulator import Emulation

HEAD = """
target triple = "nvptx64-nvidia-cuda"
@shared = internal addrspace(3) global [64 x i8] undef, align 32
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %tid, 0
  %wide = zext i32 %tid to i64
"""
VALUES = {
    "i8": ("i8 7", "%v = trunc i32 %tid to i8"),
    "i16": ("i16 7", "%v = trunc i32 %tid to i16"),
    "i32": ("i32 7", "%v = add i32 %tid, 1"),
    "i64": ("i64 7", "%v = add i64 %wide, 1"),
    "half": ("half 1.0", "%v = uitofp i32 %tid to half"),
    "float": ("float 1.0", "%v = uitofp i32 %tid to float"),
    "ptr": ("ptr null", "%v = inttoptr i64 %wide to ptr"),
    "<2 x half>": (
        "<2 x half> <half 1.0, half 2.0>",
        "%h = uitofp i32 %tid to half\n  %v = insertelement <2 x half> zeroinitializer, half %h, i32 0",
    ),
    "<8 x i32>": ("<8 x i32> splat (i32 7)", "%v = insertelement <8 x i32> zeroinitializer, i32 %tid, i32 7"),
    "<4 x i32>": ("<4 x i32> splat (i32 7)", "%v = insertelement <4 x i32> zeroinitializer, i32 %tid, i32 3"),
}
"""For each type a common value of all threads, and one per thread."""


def races(body: str, order: str) -> list[Any]:
    out = np.zeros(64, np.int32)
    module = smalti.emulator.load(f"{HEAD}{body}  ret void\n}}\n", "emu:sm_80")
    try:
        module.launch(1, 64, out, emulation=Emulation(sanitize="thread", order=order))
    except smalti.EmulationError as error:
        assert {finding.kind for finding in error.findings} == {"race"}
        return list(error.findings)
    return []


@pytest.mark.grid(20)
@pytest.mark.parametrize("order", ["lowest-first", "highest-first", "random:3"])
@pytest.mark.parametrize("place", ["ptr %out", "ptr addrspace(3) @shared"])
@pytest.mark.parametrize("type_", VALUES)
def test_stores_of_one_value(type_: str, place: str, order: str) -> None:
    same, other = VALUES[type_]
    assert not races(f"  store {same}, {place}\n", order)
    found = races(f"  {other}\n  store {type_} %v, {place}\n", order)
    assert found and all(f.write and f.others[0].write for f in found)


@pytest.mark.parametrize("order", ["lowest-first", "highest-first"])
def test_remaining_races(order: str) -> None:
    # Another value by one thread only.
    one = "  %v = select i1 %first, i32 8, i32 7\n  store i32 %v, ptr %out\n"
    assert races(one, order)
    # An unordered read, by a thread that does not write.
    read = """  br i1 %first, label %read, label %write
read:
  %seen = load volatile i32, ptr %out
  br label %end
write:
  store i32 7, ptr %out
  br label %end
end:
"""
    assert all({f.write, f.others[0].write} == {True, False} for f in races(read, order))
    assert races(read, order)
    # A part of the bytes.
    part = """  br i1 %first, label %wide64, label %narrow
wide64:
  store i64 0, ptr %out
  br label %end
narrow:
  store i32 0, ptr %out
  br label %end
end:
"""
    assert races(part, order)


def test_other_values_after_equal_ones_at_the_same_store() -> None:
    # ThreadSanitizer reports a pair of locations once: a suppressed report must not hide a later race.
    body = """  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %isLast = icmp eq i32 %i, 3
  %v = select i1 %isLast, i32 %tid, i32 7
  store i32 %v, ptr %out
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, COUNT
  br i1 %more, label %loop, label %end
end:
"""
    assert not races(body.replace("COUNT", "3"), "lowest-first")
    assert races(body.replace("COUNT", "4"), "lowest-first")
