# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics under the sanitizers: out-of-bounds accesses, and races with non-atomic accesses only."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from smalti import emulator, errors
from smalti.emulator import Emulation

RESOURCE = (
    "%r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p, i16 0, i64 4096, i32 159744)"
)
PLACE = "i32, ptr addrspace(8), i32, i32, i32"
# Instructions that change the dword at %p: the types of result and operands, the operands, the chip.
ATOMICS = {
    "llvm.amdgcn.raw.ptr.buffer.atomic.add.i32": (
        "i32",
        PLACE,
        "i32 1, ptr addrspace(8) %r, i32 0, i32 0, i32 0",
        "gfx942",
    ),
    "llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap.i32": (
        "i32",
        f"i32, {PLACE}",
        "i32 1, i32 0, ptr addrspace(8) %r, i32 0, i32 0, i32 0",
        "gfx942",
    ),
    "llvm.amdgcn.struct.ptr.buffer.atomic.fadd.f32": (
        "float",
        "float, ptr addrspace(8), i32, i32, i32, i32",
        "float 1.0, ptr addrspace(8) %r, i32 0, i32 0, i32 0, i32 0",
        "gfx942",
    ),
    "llvm.amdgcn.global.atomic.fmax.num.f32.p1": (
        "float",
        "ptr addrspace(1), float",
        "ptr addrspace(1) %p, float 1.0",
        "gfx1201",
    ),
    "llvm.nvvm.atomic.inc.gen.i.sys.i32.p1": (
        "i32",
        "ptr addrspace(1), i32",
        "ptr addrspace(1) %p, i32 9",
        "sm_80",
    ),
    "llvm.nvvm.atomic.cas.gen.i.cta.i32.p1": (
        "i32",
        "ptr addrspace(1), i32, i32",
        "ptr addrspace(1) %p, i32 0, i32 1",
        "sm_80",
    ),
}


def launch(
    name: str, other: str | None, sanitize: Literal["address", "thread"], offset: int = 0
) -> np.ndarray[Any, Any]:
    """One thread of a wave executes the instruction; one of another wave does `other`, or the same."""
    result, types, operands, chip = ATOMICS[name]
    is_nvidia = chip.startswith("sm_")
    thread = "llvm.nvvm.read.ptx.sreg.tid.x" if is_nvidia else "llvm.amdgcn.workitem.id.x"
    atomic = f"call {result} @{name}({operands})"
    resource = RESOURCE if "%r" in operands else ""
    text = f"""target triple = "{"nvptx64-nvidia-cuda" if is_nvidia else "amdgcn-amd-amdhsa"}"
declare i32 @{thread}()
declare {result} @{name}({types})
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
define {"ptx_kernel" if is_nvidia else "amdgpu_kernel"} void @k(ptr addrspace(1) %out) {{
  %p = getelementptr i8, ptr addrspace(1) %out, i32 {offset}
  {resource}
  %tid = call i32 @{thread}()
  switch i32 %tid, label %end [
    i32 0, label %atomic
    i32 64, label %other
  ]
atomic:
  {atomic}
  br label %end
other:
  {other or atomic}
  br label %end
end:
  ret void
}}
"""
    if is_nvidia:
        text = "\n".join(line for line in text.splitlines() if "make.buffer" not in line)
    # 8 bytes of 16 are the array's.
    out = np.zeros((4, 4), np.uint32)[:, :2]
    emulator.load(text, f"emu:{chip}").launch(1, 128, out, emulation=Emulation(sanitize=sanitize))
    return out


@pytest.mark.grid(6)
@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("sanitize", ["address", "thread"])
def test_atomics_that_are_right(name: str, sanitize: Literal["address", "thread"]) -> None:
    assert launch(name, None, sanitize)[0, 0] != 0


@pytest.mark.parametrize("name", ATOMICS)
def test_atomic_outside_is_found(name: str) -> None:
    with pytest.raises(errors.EmulationError) as caught:
        launch(name, None, "address", offset=8)
    assert [f.kind for f in caught.value.findings][:1] == ["out-of-bounds"]
    assert caught.value.findings[0].bytes == 4


@pytest.mark.grid(6)
@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize(
    "other", ["store i32 7, ptr addrspace(1) %p", "%x = load volatile i32, ptr addrspace(1) %p"], ids=["store", "load"]
)
def test_an_atomic_races_with_a_plain_access(name: str, other: str) -> None:
    with pytest.raises(errors.EmulationError) as caught:
        launch(name, other, "thread")
    assert {f.kind for f in caught.value.findings} == {"race"}
    assert "atomic" in str(caught.value)


COUNT = """target triple = "amdgcn-amd-amdhsa"
@counter = internal addrspace(3) global [2 x i32] poison, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.ds.append.p3(ptr addrspace(3), i1)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i8, ptr addrspace(3) @counter, i32 OFFSET
  %wave = lshr i32 %tid, 6
  %first = icmp eq i32 %wave, 0
  br i1 %first, label %one, label %other
one:
  %v = call i32 @llvm.amdgcn.ds.append.p3(ptr addrspace(3) %p, i1 false)
  ret void
other:
  OTHER
  ret void
}
"""


def count(other: str, sanitize: Literal["address", "thread"], offset: int = 0) -> None:
    text = COUNT.replace("OTHER", other).replace("OFFSET", str(offset))
    emulator.load(text, "emu:gfx942").launch(1, 128, np.zeros(1, np.uint32), emulation=Emulation(sanitize=sanitize))


SAME = "%w = call i32 @llvm.amdgcn.ds.append.p3(ptr addrspace(3) %p, i1 false)"


def test_counters_in_lds() -> None:
    for sanitize in ("address", "thread"):
        count(SAME, sanitize)
    with pytest.raises(errors.EmulationError, match="8 bytes"):
        count(SAME, "address", offset=8)
    with pytest.raises(errors.EmulationError, match="an atomic"):
        count("store i32 1, ptr addrspace(3) %p", "thread")
