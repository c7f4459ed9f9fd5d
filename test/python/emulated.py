# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that tests of emulated GPUs share, and runs of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smalti
from smalti import emulator
from smalti.emulator import findings

VENDORS = ("emu:sm_80", "emu:gfx942")

NVIDIA_KERNEL = """\
target triple = "nvptx64-nvidia-cuda"
@shared = internal addrspace(3) global [1024 x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @scale(ptr addrspace(1) %x, ptr addrspace(1) %y, float %factor, i32 %count) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 32
  %i = add i32 %first, %thread
  %slot = getelementptr float, ptr addrspace(3) @shared, i32 %thread
  %inside = icmp ult i32 %i, %count
  br i1 %inside, label %then, label %end
then:
  %source = getelementptr float, ptr addrspace(1) %x, i32 %i
  %target = getelementptr float, ptr addrspace(1) %y, i32 %i
  %v = load float, ptr addrspace(1) %source
  %r = fmul float %v, %factor
  BODY
  br label %end
end:
  ret void
}
"""

STORE = "store float %r, ptr addrspace(1) %target"

AMD_KERNEL = """\
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @twice(ptr addrspace(1) %x) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %thread
  %v = load i32, ptr addrspace(1) %p
  %r = shl i32 %v, 1
  store i32 %r, ptr addrspace(1) %p
  ret void
}
"""

ENDLESS = """\
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @endless(ptr addrspace(1) %x) {
  br label %loop
loop:
  %v = load volatile i32, ptr addrspace(1) %x
  br label %loop
}
"""


def nvidia(body: str = STORE) -> emulator.Module:
    return emulator.load(NVIDIA_KERNEL.replace("BODY", body), "emu:sm_80")


def scale(module: emulator.Module, count: int = 100, **keywords: Any) -> np.ndarray:
    """Runs @scale on 100 numbers; returns what it wrote."""
    x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    module.launch(4, 32, x, y, 0.5, count, **keywords)
    return y


def found(kind: str, run: Callable[[], Any]) -> findings.Finding:
    """The only finding of a run, which is of this kind."""
    with pytest.raises(smalti.EmulationError) as error:
        run()
    assert [finding.kind for finding in error.value.findings] == [kind], str(error.value)
    return error.value.findings[0]
