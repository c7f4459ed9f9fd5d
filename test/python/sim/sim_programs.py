# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small warpgroup-level kernels, as JAX prints them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from conftest import PALLAS
from helpers import SHARED
from smalti import sim
from smalti.sim import mutants

BARRIER = f"memref<!mosaic_gpu.barrier, {SHARED}>"
DONE = BARRIER.replace("barrier", "barrier<orders_tensor_core = true>")
OWN = tuple(dataclasses.replace(schedule, explicit_waits=True) for schedule in mutants.SCHEDULES)
"""Barriers do not wait for copies to LDS."""


def program(body: str, arguments: list[str], threads: int = 128, shared: int = 65536, grid: int = 1) -> str:
    """A module with `body` as what all warpgroups do, and `%a0`, `%a1`, ... as the memory of the arguments."""
    casts = "\n".join(
        f"""
    %p{i} = llvm.getelementptr %table[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %l{i} = llvm.load %p{i} : !llvm.ptr -> !llvm.ptr
    %a{i} = builtin.unrealized_conversion_cast %l{i} : !llvm.ptr to {ty}
        {{mosaic_gpu.from_kernel_arg_idx = {i} : i32, mosaic_gpu.original_kernel_arg}}"""
        for i, ty in enumerate(arguments)
    )
    return f"""module attributes {{mosaic_gpu.arch_major = 9 : i32, mosaic_gpu.arch_minor = 0 : i32}} {{
  func.func @kernel(%token: !llvm.ptr, %table: !llvm.ptr) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %false = arith.constant false
    %true = arith.constant true
    %one = arith.constant 1 : index
    %blocks = arith.constant {grid} : index
    %threads = arith.constant {threads} : index
    %bytes = arith.constant {shared} : i32
    {casts}
    %t = builtin.unrealized_conversion_cast %token : !llvm.ptr to !gpu.async.token
    %done = gpu.launch async [%t]
        blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one)
        threads(%tx, %ty, %tz) in (%nx = %threads, %ny = %one, %nz = %one) dynamic_shared_memory_size %bytes {{
{body}
      gpu.terminator
    }}
    return
  }}
}}
"""


def barrier(name: str, offset: int, arrivals: int = 1) -> str:
    """A barrier in shared memory that every thread sees."""
    return f"""
      %{name} = mosaic_gpu.slice_smem {offset} : {BARRIER}
      %{name}_s = builtin.unrealized_conversion_cast %{name} : {BARRIER} to !llvm.struct<(ptr<3>, ptr<3>, i64)>
      %{name}_p = llvm.extractvalue %{name}_s[1] : !llvm.struct<(ptr<3>, ptr<3>, i64)>
      mosaic_gpu.initialize_barrier %{name}_p {{arrival_count = {arrivals} : i64, num_barriers = 1 : i32}} : !llvm.ptr<3>
      nvvm.fence.mbarrier.init
      gpu.barrier"""


def load(source: str, target: str, shape: str, name: str, parity: str | None = "%false") -> str:
    """A copy of all of a matrix of f32 into shared memory; with a parity also the wait for it."""
    rows, columns = map(int, shape.split("x"))
    text = f"""
      mosaic_gpu.arrive_expect_tx barrier(%{name} : {BARRIER}) {rows * columns * 4}
      mosaic_gpu.async_load {source}[%c0, %c0] [{rows}, {columns}] to {target} barrier(%{name})
          : memref<{shape}xf32>[i32, i32] to memref<{shape}xf32, {SHARED}>, {BARRIER}"""
    if parity is not None:
        text += f"\n      mosaic_gpu.wait barrier(%{name} : {BARRIER}) parity({parity} : i1)"
    return text


def slice_smem(name: str, offset: int, shape: str) -> str:
    return f"\n      %{name} = mosaic_gpu.slice_smem {offset} : memref<{shape}xf32, {SHARED}>"


SYNC = '\n      llvm.inline_asm has_side_effects "bar.sync $0, 128;", "r" %c1 : (i32) -> ()'
FENCE = "\n      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"


def store(source: str, target: str, shape: str) -> str:
    """A copy of a matrix out of shared memory, and the wait for it."""
    rows, columns = map(int, shape.split("x"))
    return f"""
      mosaic_gpu.async_store {source} to {target}[%c0, %c0] [{rows}, {columns}]
          : memref<{shape}xf32, {SHARED}> to memref<{shape}xf32>[i32, i32]
      nvvm.cp.async.bulk.wait_group 0"""


def doubled(sync: str = SYNC, fence: str = FENCE, wait: str | None = "%false") -> str:
    """y = x + x, through shared memory for the load and the store. The compiler inserts no barriers around the
    store."""
    body = barrier("b", 65528) + slice_smem("x", 0, "64x64") + slice_smem("y", 16384, "64x64")
    body += load("%a0", "%x", "64x64", "b", wait)
    body += f"""
      %v = mosaic_gpu.vector_load %x : memref<64x64xf32, {SHARED}> -> vector<64x64xf32>
      %w = arith.addf %v, %v : vector<64x64xf32>
      %first = arith.constant 0 : index
      vector.transfer_write %w, %y[%first, %first] {{in_bounds = [true, true]}}
          : vector<64x64xf32>, memref<64x64xf32, {SHARED}>"""
    body += fence + sync + store("%y", "%a1", "64x64")
    return program(body, ["memref<64x64xf32>", "memref<64x64xf32>"])


def only(found: Sequence[sim.Finding]) -> sim.Finding:
    assert len(found) == 1, [str(finding) for finding in found]
    return found[0]


def printed(name: str) -> str:
    """A module that JAX printed."""
    return PALLAS.joinpath(f"{name}.mlir").read_text()


def find_gfx1250(text: str, *arrays: np.ndarray) -> list[sim.Finding]:
    """The findings in some schedules."""
    made = sim.simulate(text, "sim:gfx1250")
    return [f for how in mutants.SCHEDULES for f in made.find(*(a.copy() for a in arrays), simulation=how)]
