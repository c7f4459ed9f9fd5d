# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ThreadSanitizer in the emulator: accesses of every size, and each lane of masked ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import smalti
from smalti import emulator, errors
from smalti.emulator import Emulation

# The bytes of an access of each type.
SIZES = {
    "i8": 1,
    "i16": 2,
    "<3 x i8>": 3,
    "i32": 4,
    "<6 x i8>": 6,
    "<7 x i8>": 7,
    "i64": 8,
    "<3 x i32>": 12,
    "<4 x float>": 16,
    "<5 x i32>": 20,
    "<3 x double>": 24,
    "<8 x float>": 32,
    "<24 x half>": 48,
    "<16 x float>": 64,
    "<33 x i32>": 132,
    "i96": 12,
    "i256": 32,
}


@dataclass(frozen=True)
class Masked:
    """An intrinsic on four i32, with the second lane masked off: the accessed bytes."""

    name: str
    load: str
    store: str
    touched: tuple[int, ...]


MASK = "<4 x i1> <i1 true, i1 false, i1 true, i1 true>"
ADDRESSES = """\
  %base = insertelement <4 x ptr addrspace(1)> poison, ptr addrspace(1) %p, i32 0
  %all = shufflevector <4 x ptr addrspace(1)> %base, <4 x ptr addrspace(1)> poison, <4 x i32> zeroinitializer
  %each = getelementptr i32, <4 x ptr addrspace(1)> %all, <4 x i32> <i32 0, i32 1, i32 5, i32 7>
"""
MASKED = (
    Masked(
        "masked",
        f"call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 4 %p, {MASK}, <4 x i32> zeroinitializer)",
        f"call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 4 %p, {MASK})",
        (0, 2, 3),
    ),
    Masked(
        "indexed",
        f"call <4 x i32> @llvm.masked.gather.v4i32.v4p1(<4 x ptr addrspace(1)> align 4 %each, {MASK}, "
        "<4 x i32> zeroinitializer)",
        f"call void @llvm.masked.scatter.v4i32.v4p1(<4 x i32> %v, <4 x ptr addrspace(1)> align 4 %each, {MASK})",
        (0, 5, 7),
    ),
)


def kernel(first: str, second: str, between: str) -> str:
    """Thread 0 runs `first`, and thread 32 `second`, after `between`. %p is the array, %out a thread's own part of another."""
    return f"""target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>)
declare <4 x i32> @llvm.masked.gather.v4i32.v4p1(<4 x ptr addrspace(1)>, <4 x i1>, <4 x i32>)
declare void @llvm.masked.scatter.v4i32.v4p1(<4 x i32>, <4 x ptr addrspace(1)>, <4 x i1>)
define ptx_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %results) {{
{ADDRESSES}
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = insertelement <4 x i32> zeroinitializer, i32 %tid, i32 0
  %begin = mul i32 %tid, 256
  %out = getelementptr i8, ptr addrspace(1) %results, i32 %begin
  %is.first = icmp eq i32 %tid, 0
  br i1 %is.first, label %first, label %after
first:
{first}
  br label %after
after:
{between}
  %is.second = icmp eq i32 %tid, 32
  br i1 %is.second, label %second, label %end
second:
{second}
  br label %end
end:
  ret void
}}
"""


BARRIER = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"


def races(first: str, second: str, between: str = "") -> int:
    memory, out = np.zeros(256, np.uint8), np.zeros(64 * 256, np.uint8)
    module = emulator.load(kernel(first, second, between), "emu:sm_80")
    try:
        module.launch(1, 64, memory, out, emulation=Emulation(sanitize="thread"))
    except errors.EmulationError as error:
        assert {finding.kind for finding in error.findings} == {"race"}
        return len(error.findings)
    return 0


def access(type: str, write: bool, offset: int, name: str) -> str:
    address = f"  %{name}.p = getelementptr i8, ptr addrspace(1) %p, i32 {offset}\n"
    if write:
        # A value that differs from the array: equal stores do not race.
        value = "1" if type == "i8" and name == "b" else "0" if type == "i8" else "zeroinitializer"
        return address + f"  store {type} {value}, ptr addrspace(1) %{name}.p, align 1"
    return (
        address
        + f"  %{name}.v = load {type}, ptr addrspace(1) %{name}.p, align 1\n"
        + f"  store {type} %{name}.v, ptr addrspace(1) %out, align 1"
    )


@pytest.mark.grid(7)
@pytest.mark.parametrize("type", SIZES)
def test_every_byte_of_an_access_counts(type: str) -> None:
    size = SIZES[type]
    at = size % 5
    write, read = access(type, True, at, "a"), access(type, False, at, "a")
    for offset in {at + size // 2, at + size - 1}:
        assert races(write, access("i8", True, offset, "b"))
    assert races(access("i8", True, at, "b"), read)
    # A barrier orders them, the bytes around are not accessed, and reads do not race.
    assert not races(write, access(type, False, at, "b"), BARRIER)
    assert not races(write, access("i8", True, at + size, "b"))
    assert not at or not races(write, access("i8", True, at - 1, "b"))
    assert not races(read, access("i8", False, at, "b"))


@pytest.mark.parametrize("masked", MASKED, ids=lambda masked: masked.name)
def test_every_lane_of_a_masked_access_counts(masked: Masked) -> None:
    load = f"  %x = {masked.load}\n  store <4 x i32> %x, ptr addrspace(1) %out"
    for lane in range(1 + masked.touched[-1]):
        assert bool(races(f"  {masked.store}", access("i32", True, 4 * lane, "b"))) == (lane in masked.touched), lane
    assert races(load, access("i32", True, 4 * masked.touched[-1], "b"))
    assert not races(load, access("i32", True, 4, "b"))
    assert not races(f"  {masked.store}", load, BARRIER)


SCATTER = """
triton_xla.entry_func @k(%x: memref<64xELEMENT>, %y: memref<8xELEMENT>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xELEMENT> to tensor<64xELEMENT>
  %i = triton_xla.iota dim 0 : tensor<64xi32>
  %c = arith.constant dense<7> : tensor<64xi32>
  %k = arith.andi %i, %c : tensor<64xi32>
  triton_xla.scatter %t into %y[%k] unique : tensor<64xELEMENT> into memref<8xELEMENT>, tensor<64xi32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", ["emu:gfx942", "emu:sm_80"])
@pytest.mark.parametrize(("element", "dtype"), [("i8", np.int8), ("f16", np.float16), ("f32", np.float32)])
def test_a_race_states_the_bytes_of_an_instruction(target: str, element: str, dtype: type[np.generic]) -> None:
    """AMD's buffer instructions are functions of the emulator, not stores."""
    kernel = smalti.compile(SCATTER.replace("ELEMENT", element), target=target, sanitize="thread")
    with pytest.raises(smalti.EmulationError, match=f"a write of {np.dtype(dtype).itemsize} bytes is unordered with a"):
        kernel(np.arange(64, dtype=dtype), np.zeros(8, dtype))
