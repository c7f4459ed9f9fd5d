# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proxy fences between stores to shared memory and async-proxy reads by copies and wgmma."""

from __future__ import annotations

from typing import Any

import numpy as np
import nvidia
import pytest
import smalti
from smalti.emulator import Emulation, tensor_map
from test_nvidia_wgmma import HEAD as WGMMA_HEAD
from test_nvidia_wgmma import chain, run_chain

HEAD = """target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [256 x i8] undef, align 128
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.fence.proxy.async.global()
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1), ptr addrspace(3), i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.1d(ptr addrspace(3), ptr, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.wait.all()
declare void @llvm.memcpy.p3.p0.i64(ptr addrspace(3), ptr, i64, i1)
define ptx_kernel void @k(ptr %in, ptr %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is_first = icmp eq i32 %tid, 0
  %from = getelementptr i32, ptr %in, i32 %tid
  %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %tid
  %generic = addrspacecast ptr addrspace(3) %mine to ptr
  %value = load i32, ptr %from
"""
STORES = {
    "a store": "store i32 %value, ptr addrspace(3) %mine",
    "a store of any space": "store i32 %value, ptr %generic",
    "a copy of a length": "call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) %mine, ptr %from, i64 4, i1 false)",
    "an exchange": "%old = atomicrmw xchg ptr addrspace(3) %mine, i32 %value monotonic",
    "an instruction": 'call void asm sideeffect "st.shared.b32 [$0], $1;", "r,r"(ptr addrspace(3) %mine, i32 %value)',
    "cp.async": """%global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %mine, ptr addrspace(1) %global)
  call void @llvm.nvvm.cp.async.wait.all()""",
}
FENCE = "call void @llvm.nvvm.fence.proxy.async.shared_cta()"
FENCES = [
    FENCE,
    *(
        f'call void asm sideeffect "{name};", ""()'
        for name in (
            "fence.proxy.async",
            "fence.proxy.async.shared::cta",
            "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        )
    ),
]
READS = {
    "bulk": """%o = addrspacecast ptr %out to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %o, ptr addrspace(3) @tile, i32 256, i64 0, i1 false)""",
    "tensor": "call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.1d(ptr addrspace(3) @tile, ptr %out, i32 0, i64 0, i1 false)",
}


def run(
    store: str = "a store",
    before: str = "",
    after: str = "",
    by_reader: str = "",
    read: str = "bulk",
    sanitize: Any = "thread",
    copies: Any = "late",
) -> None:
    """All threads store, then the first issues a copy that reads; with code before the stores, after them and at the
    copy."""
    text = f"""{HEAD}
  {before}
  {STORES[store]}
  {after}
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %is_first, label %copy, label %end
copy:
  {by_reader}
  {READS[read]}
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %end
end:
  ret void
}}
"""
    data, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    given = tensor_map(out, (64,)) if read == "tensor" else out
    nvidia.run_kernel(text, 64, data, given, emulation=Emulation(sanitize=sanitize, copies=copies))
    np.testing.assert_array_equal(out, data)


@pytest.mark.parametrize("store, read", [*((store, "bulk") for store in STORES), ("a store", "tensor")])
def test_a_store_without_a_fence(store: str, read: str) -> None:
    run(store, after=FENCE, read=read)
    with pytest.raises(smalti.EmulationError, match=r"execute fence\.proxy\.async between") as raised:
        run(store, read=read)
    (finding,) = raised.value.findings
    assert finding.kind == "race" and finding.thread == (0, 0, 0) and finding.location is not None
    (other,) = finding.others
    assert other.location is not None and other.location.line < finding.location.line
    # Without that sanitizer nothing is known of stores.
    run(store, read=read, sanitize=None)


@pytest.mark.parametrize("fence", FENCES)
def test_positions_of_fences(fence: str) -> None:
    run(after=fence)
    run(by_reader=fence, copies="early")
    with pytest.raises(smalti.EmulationError, match="missing proxy fence"):
        run(before=fence, copies="early")


def test_fences_that_are_none() -> None:
    for other in (
        "call void @llvm.nvvm.fence.proxy.async.global()",
        'call void asm sideeffect "fence.proxy.alias;", ""()',
    ):
        with pytest.raises(smalti.EmulationError, match="missing proxy fence"):
            run(after=other)


def test_operands_of_a_wgmma_without_a_fence() -> None:
    run_chain(chain(), emulation=Emulation(sanitize="thread"))
    fence = "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n"
    assert fence in chain() and fence not in WGMMA_HEAD
    with pytest.raises(smalti.EmulationError, match="missing proxy fence"):
        run_chain(chain().replace(fence, ""), emulation=Emulation(sanitize="thread"))


TESTED = [
    "smalti.nvvm.written.p0",
    "smalti.nvvm.written.p3",
    "asm:fence.proxy.async",
    "asm:fence.proxy.async.shared::cta",
]
