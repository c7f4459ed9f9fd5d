# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device modules as host code: hand-written LLVM IR, rewritten, and run by the emulator.

The expected results are from LLVM's language reference, and from the vendors' documents where they differ
from it.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from smalti import emulator, toolchain
from smalti.codegen import codegen_worker

NVIDIA = 'target triple = "nvptx64-nvidia-cuda"\n'
AMD = 'target triple = "amdgcn-amd-amdhsa"\n'
CHIPS = {NVIDIA: "sm_80", AMD: "gfx942"}
KERNEL = {NVIDIA: "ptx_kernel", AMD: "amdgpu_kernel"}
THREAD = {NVIDIA: "llvm.nvvm.read.ptx.sreg.tid.x", AMD: "llvm.amdgcn.workitem.id.x"}
BARRIER = {NVIDIA: "llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", AMD: "llvm.amdgcn.s.barrier()"}

needs_lld = pytest.mark.skipif(toolchain.find_llvm_tool("ld.lld") is None, reason="ld.lld was not found")


def complete(body: str, vendor: str) -> str:
    """`body` with the vendor's `kernel`, `@thread()` and `@barrier`; a line `!dbg` is unchanged."""
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
    """The rewriter's description of a module."""
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
