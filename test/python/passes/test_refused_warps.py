# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that smalti-specialize-warps refuses: a kernel that it transforms, with an edit. The module is unchanged.

The other reasons, with the full texts, are in `passes/WarpSpecialization/specialize-warps-refused.mlir`.
"""

from __future__ import annotations

import pytest
import smalti

KERNEL = """
#acc = #mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>
!barrier = memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>
!tile = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @matmul(%a: memref<64x1024xf16> {llvm.noalias}, %b: memref<1024x64xf16> {llvm.noalias},
                   %out: memref<64x64xf32> {llvm.noalias},
                   %half: memref<64x64xf16> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = arith.constant {out_layouts = [#acc]} dense<0.0> : vector<64x64xf32>
    %full = memref.alloc() : !barrier
    %address = memref.extract_aligned_pointer_as_index %full : !barrier -> index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    mosaic_gpu.initialize_barrier %pointer {arrival_count = 1 : i64, num_barriers = 1 : i32} : !llvm.ptr<3>
    nvvm.fence.mbarrier.init
    gpu.barrier
    %a_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %a_tile = mosaic_gpu.with_transforms %a_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %b_memory = memref.alloc() {alignment = 1024 : i64} : !tile
    %b_tile = mosaic_gpu.with_transforms %b_memory [#mosaic_gpu.tile<[64, 64]>, #mosaic_gpu.swizzle<128 : i32>] : !tile
    %sum:2 = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %first, %parity = %false) -> (vector<64x64xf32>, i1) {
      %k32 = arith.index_cast %k : index to i32
      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384
      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)
      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
      gpu.barrier
      %other = arith.xori %parity, %true : i1
      scf.yield %next, %other : vector<64x64xf32>, i1
    }
    vector.transfer_write %sum#0, %out[%c0, %c0] {in_bounds = [true, true], in_layouts = [#acc]}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
"""
ARRIVE = "      mosaic_gpu.arrive_expect_tx barrier(%full : !barrier) 16384\n"
WAIT = "      mosaic_gpu.wait barrier(%full : !barrier) parity(%parity : i1)\n"
LOAD_B = """      mosaic_gpu.async_load %b[%k32, %zero] [64, 64] to %b_tile barrier(%full)
          : memref<1024x64xf16>[i32, i32] to !tile, !barrier
"""
LOAD_A = """      mosaic_gpu.async_load %a[%zero, %k32] [64, 64] to %a_tile barrier(%full)
          : memref<64x1024xf16>[i32, i32] to !tile, !barrier
"""
WGMMA = """      %next = mosaic_gpu.wgmma accumulator(%acc : vector<64x64xf32>) a(%a_tile : !tile) b(%b_tile : !tile)
          {smalti.synchronous, in_layouts = [#acc], out_layouts = [#acc]} -> vector<64x64xf32>
"""
ARRAY = "memref<1x!mosaic_gpu.barrier, #gpu.address_space<workgroup>>"


def run(text: str, options: str = "depth=2") -> tuple[list[str], bool]:
    """The reasons, and whether the module is unchanged."""
    module = smalti.parse(text)
    before = str(module)
    remarks = smalti.Pipeline(f"gpu.module(gpu.func(smalti-specialize-warps{{target=sm_90a {options}}}))").run(module)
    return [r.message for r in remarks if r.kind == "missed"], str(module) == before


def test_the_kernel_without_an_edit() -> None:
    assert run(KERNEL) == ([], False)


@pytest.mark.parametrize(
    "old, new, reason",
    [
        ("    gpu.return\n", "    cf.br ^end\n  ^end:\n    gpu.return\n", "has branches between MLIR blocks"),
        (" attributes {known_block_size = array<i32: 128, 1, 1>}", "", "requires the attribute 'known_block_size'"),
        (
            "    gpu.return\n",
            f"    %more = memref.alloc() : {ARRAY}\n    gpu.return\n",
            "'memref.alloc' allocates an array of mbarriers",
        ),
        (ARRIVE, "", "does not have an arrive_expect_tx"),
        (WAIT, "", "does not have a wait"),
        (LOAD_A + LOAD_B, "", "does not have a TMA load"),
        (ARRIVE + LOAD_A + LOAD_B + WAIT, WAIT + ARRIVE + LOAD_A + LOAD_B, "does not precede the wait of its mbarrier"),
        (LOAD_B + WAIT, WAIT + LOAD_B, "'mosaic_gpu.async_load' is not between the arrival and the wait"),
        (ARRIVE + LOAD_A, LOAD_A + ARRIVE, "'mosaic_gpu.async_load' is not between the arrival and the wait"),
        (
            LOAD_A,
            "      %inner = memref.alloc() {alignment = 1024 : i64} : !tile\n" + LOAD_A.replace("%a_tile", "%inner"),
            "copies into memory that is not a memref.alloc in the kernel's entry block",
        ),
        (
            LOAD_B,
            LOAD_B.replace("%b_tile", "%a_tile"),
            "'mosaic_gpu.async_load' accesses the buffer that 'mosaic_gpu.async_load' fills",
        ),
        (
            "    gpu.return\n",
            "    %source = memref.alloc() {alignment = 1024 : i64} : !tile\n"
            "    mosaic_gpu.async_copy %half[%c0, %c0] to %source : memref<64x64xf16> to !tile\n"
            "    gpu.return\n",
            "'mosaic_gpu.async_copy' is an asynchronous copy",
        ),
        (
            WGMMA,
            "      %next = arith.addf %acc, %acc {in_layouts = [#acc, #acc], out_layouts = [#acc]} : vector<64x64xf32>\n",
            "no wgmma reads the tiles of the TMA loads, so consumer warps would have no work; use the tiles as operands of wgmma in shared memory",
        ),
        (
            "      %k32 = arith.index_cast %k : index to i32\n",
            "      %k32 = arith.extui %parity : i1 to i32\n",
            "'mosaic_gpu.async_load' depend on a loop-carried value",
        ),
        (
            "    gpu.return\n",
            "    mosaic_gpu.async_store %a_tile to %a[%zero, %zero] [64, 64] : !tile to memref<64x1024xf16>[i32, i32]\n"
            "    gpu.return\n",
            "'mosaic_gpu.async_store' accesses the buffer that 'mosaic_gpu.async_load' fills",
        ),
    ],
)
def test_refused_kernels(old: str, new: str, reason: str) -> None:
    assert KERNEL.count(old) == 1
    reasons, is_unchanged = run(KERNEL.replace(old, new))
    (said,) = reasons
    assert said.startswith("warp specialization not applied: ") and reason in said
    assert is_unchanged


def test_slots_that_do_not_fit() -> None:
    reasons, is_unchanged = run(KERNEL, "depth=16")
    assert (
        "16 slots need 263168 B of shared memory; sm_90a has 232448 B, so set a smaller depth or use smaller tiles"
        in reasons[0]
    )
    assert is_unchanged


def test_a_chip_without_wgmma() -> None:
    module = smalti.parse(KERNEL)
    before = str(module)
    (remark,) = smalti.Pipeline("gpu.module(gpu.func(smalti-specialize-warps{target=sm_100a}))").run(module)
    assert remark.message == "warp specialization not applied: sm_100a does not have both TMA and wgmma"
    assert str(module) == before
