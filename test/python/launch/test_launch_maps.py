# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of kernels that take tensor maps, and of the functions of JAX modules, on emulated GPUs."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import smalti
from smalti.calling import tensor_maps

KERNEL = """\
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x16xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @copy(%from: memref<10x32xf32>, %to: memref<8x16xf32>,
                 %pointer: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>,
                  mosaic_gpu.tensor_maps = [{argument = 0 : i64, offset = 512 : i64, element = f32,
                    extents = array<i64: 6, 32>, strides = array<i64: 128, 4>, box = array<i64: 8, 16>,
                    element_strides = array<i64: 1, 1>, swizzle = 16 : i64, fill = "zeros"}]} {
    %map = builtin.unrealized_conversion_cast %pointer : !llvm.ptr to !map
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %parity = arith.constant false
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    %tile = memref.alloc() {alignment = 128 : i64} : memref<8x16xf32, 3>
    %full = nvgpu.mbarrier.create -> !barriers
    nvgpu.mbarrier.init %full[%c0], %c1, predicate = %first : !barriers
    gpu.barrier
    nvgpu.mbarrier.arrive.expect_tx %full[%c0], %bytes, predicate = %first : !barriers
    nvgpu.tma.async.load %map[%c24, %c0], %full[%c0] to %tile, predicate = %first : !map, !barriers -> memref<8x16xf32, 3>
    nvgpu.mbarrier.try_wait.parity %full[%c0], %parity, %ticks : !barriers
    %i = arith.divui %thread, %c16 : index
    %j = arith.remui %thread, %c16 : index
    %v = memref.load %tile[%i, %j] : memref<8x16xf32, 3>
    memref.store %v, %to[%i, %j] : memref<8x16xf32>
    gpu.return
  }
}
}
"""


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(320, dtype=np.float32).reshape(10, 32), np.full((8, 16), np.nan, np.float32)


def check(source: np.ndarray, result: np.ndarray) -> None:
    """The box at row 4 and column 24: rows 4 to 9 and 8 columns of it are inside."""
    wanted = np.zeros((8, 16), np.float32)
    wanted[:6, :8] = source[4:, 24:]
    np.testing.assert_array_equal(result, wanted)


@pytest.fixture(scope="module")
def kernel() -> smalti.Kernel:
    return smalti.compile(KERNEL, target="emu:sm_90a")


def test_a_launch_makes_the_maps_of_its_arguments(kernel: smalti.Kernel) -> None:
    assert [argument.type for argument in kernel.arguments] == ["memref<10x32xf32>", "memref<8x16xf32>"]
    assert kernel.tensor_maps == (tensor_maps.TensorMap("f32", (6, 32), (128, 4), (8, 16), argument=0, offset=512),)
    source, result = arrays()
    kernel(source, result)
    check(source, result)


def test_pointers_are_enough(kernel: smalti.Kernel) -> None:
    source, result = arrays()
    kernel.launch_pointers(None, [source.ctypes.data, result.ctypes.data])
    check(source, result)
    source, result = arrays()
    table = (ctypes.c_void_p * 2)(source.ctypes.data, result.ctypes.data)
    kernel.launch_pointers(None, ctypes.addressof(table))
    check(source, result)
    with pytest.raises(smalti.LaunchError, match="@copy takes 2 pointers; the call passes 1"):
        kernel.launch_pointers(None, [source.ctypes.data])


def test_launch_requirements_are_in_the_cubin_s_kernel() -> None:
    text = KERNEL.replace("known_grid_size = array<i32: 1, 1, 1>", "known_grid_size = array<i32: 4, 1, 1>")
    text = text.replace("mosaic_gpu.tensor_maps", "known_cluster_size = array<i32: 2, 1, 1>, mosaic_gpu.tensor_maps")
    made = smalti.compile(text, target="sm_90a")
    assert (made.resources.grid, made.resources.cluster) == ((4, 1, 1), (2, 1, 1))
    assert made.tensor_maps[0].offset == 512
    assert ".param .align 64 .b8 copy_param_2[128]" in made.asm["ptx"]


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("offset = 512", "offset = 528", "covers 1296 B of argument 0 .*, which has only 1280 B"),
        ("argument = 0", "argument = 3", "uses argument 3, but the kernel has 2 arguments"),
        (
            "box = array<i64: 8, 16>",
            "box = array<i64: 8, 512>",
            r"is invalid: tensor map: box is \(8, 512\)",
        ),
        ("box = array<i64: 8, 16>,", "", "is invalid"),
        ("{argument = 0 : i64,", "{", "is invalid"),
        ("swizzle = 16 : i64", 'swizzle = "none"', "is invalid"),
    ],
)
def test_maps_that_no_launch_can_make(old: str, new: str, message: str) -> None:
    with pytest.raises(smalti.CompileError, match=message):
        smalti.compile(KERNEL.replace(old, new), target="emu:sm_90a")


def test_clusters_divide_the_grid() -> None:
    text = KERNEL.replace("mosaic_gpu.tensor_maps", "known_cluster_size = array<i32: 2, 1, 1>, mosaic_gpu.tensor_maps")
    with pytest.raises(smalti.CompileError, match="does not divide its grid"):
        smalti.compile(text, target="sm_90a")
