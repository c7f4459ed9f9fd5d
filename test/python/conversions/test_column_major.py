# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Column-major arguments of GPU kernels: accesses of every kind, results of matmuls, and large tiles."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from matmuls import matmul
from smalti import targets
from smalti.launch.kernels import Kernel
from test_gpu_numerics import FAMILIES
from test_narrow_matmuls import check_exactly

ROWS, COLUMNS, DEPTH = 40, 24, 6

# Tile i reads column i of the matrices of X, and writes column i of Y, Z and W. A window of X ends after the array.
ACCESSES = """
triton_xla.entry_func @accesses(%x: {cube}, %y: {matrix}, %z: {matrix}, %w: {matrix}, %i: index) tiles {tiles} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %pair = triton_xla.extract %x[9, %i, 1] [32, 1, 2] [1, 1, 2] fill 7 : i32 : {cube} to tensor<32x2xi32>
  %zero = arith.constant 0 : i32
  %sum = triton_xla.reduce %pair dims [1] init %zero : (tensor<32x2xi32>, i32) -> tensor<32xi32> {{
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    triton_xla.yield %s : i32
  }}
  triton_xla.insert %sum into %y[0, %i] [32, 1] [1, 1] : tensor<32xi32> into {matrix}
  %rows = triton_xla.iota dim 0 : tensor<32xi32>
  %gathered = triton_xla.gather %x[%rows, %i, %c3] : {cube}, tensor<32xi32>, index, index -> tensor<32xi32>
  %old = triton_xla.atomic_rmw addi %gathered into %z[%rows, %i] : tensor<32xi32> into {matrix}, tensor<32xi32>, index
  %eight = arith.constant dense<8> : tensor<32xi32>
  %later = arith.addi %rows, %eight : tensor<32xi32>
  triton_xla.scatter %gathered into %w[%later, %i] unique : tensor<32xi32> into {matrix}, tensor<32xi32>, index
  %element = memref.load %x[%c1, %i, %c3] : {cube}
  memref.store %element, %w[%c0, %i] : {matrix}
  %columns = memref.dim %y, %c1 : {matrix}
  %of_columns = arith.index_cast %columns : index to i32
  memref.store %of_columns, %w[%c1, %i] : {matrix}
  %depth = memref.dim %x, %c2 : {cube}
  %of_depth = arith.index_cast %depth : index to i32
  memref.store %of_depth, %w[%c2, %i] : {matrix}
  triton_xla.return
}}
"""
ARRAYS = {
    "static": {
        "cube": f"memref<{ROWS}x{COLUMNS}x{DEPTH}xi32, strided<[1, {ROWS}, {ROWS * COLUMNS}]>>",
        "matrix": f"memref<{ROWS}x{COLUMNS}xi32, strided<[1, {ROWS}]>>",
        "tiles": COLUMNS,
    },
    "dynamic": {
        "cube": "memref<?x?x?xi32, strided<[1, ?, ?]>>",
        "matrix": "memref<?x?xi32, strided<[1, ?]>>",
        "tiles": "size(%y, 1)",
    },
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("target", [*(targets.EMULATED + name for name in FAMILIES), "sim:sm_90a"])
def test_accesses(target: str, kind: str) -> None:
    x = np.arange(ROWS * COLUMNS * DEPTH, dtype=np.int32).reshape(ROWS, COLUMNS, DEPTH)
    y, z, w = (np.full((ROWS, COLUMNS), start, np.int32, order="F") for start in (-1, 5, -1))
    smalti.compile(ACCESSES.format(**ARRAYS[kind]), target=target)(np.asfortranarray(x), y, z, w)
    padded = np.full((32, COLUMNS, DEPTH), 7)
    padded[: ROWS - 9] = x[9:]
    np.testing.assert_array_equal(y[:32], padded[..., 1] + padded[..., 3])
    np.testing.assert_array_equal(y[32:], -1)
    np.testing.assert_array_equal(z[:32], 5 + x[:32, :, 3])
    np.testing.assert_array_equal(z[32:], 5)
    np.testing.assert_array_equal(w[8:], x[:32, :, 3])
    np.testing.assert_array_equal(w[0], x[1, :, 3])
    np.testing.assert_array_equal(w[1:8, 0], [COLUMNS, DEPTH, -1, -1, -1, -1, -1])


SHAPES = {
    "aligned": ((64, 64, 64), (64, 64, 32)),
    "ragged": ((33, 50, 70), (32, 32, 32)),
}


@pytest.mark.grid(10)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["NN", "TT"])
@pytest.mark.parametrize("dtype", ["f16", "i8"])
@pytest.mark.parametrize("target", FAMILIES)
def test_column_major_results(target: str, dtype: str, order: str, shape: str) -> None:
    text = matmul(*SHAPES[shape], dtype, columns_of_a=order[0] == "T", columns_of_b=order[1] == "T", columns_of_c=True)
    kernel = smalti.compile(text, target=targets.EMULATED + target)
    check_exactly(kernel, kernel.launcher)


@pytest.mark.grid(6)
@pytest.mark.parametrize("target", FAMILIES)
def test_results_do_not_need_shared_memory(target: str) -> None:
    """The slots of the operands take most of it."""

    def count_bytes(columns_of_c: bool) -> int:
        text = matmul((256, 256, 256), (128, 128, 64), start="zero", columns_of_c=columns_of_c)
        kernel = smalti.compile(text, target=targets.EMULATED + target)
        assert isinstance(kernel, Kernel) and kernel.resources.shared_bytes is not None
        return kernel.resources.shared_bytes

    assert count_bytes(columns_of_c=True) <= count_bytes(columns_of_c=False)


COPY = """
triton_xla.entry_func @copy(%x: memref<{n}x{n}xf32, strided<[1, {n}]>>, %y: memref<{n}x{n}xf32>, %i: index) tiles 1 {{
  %t = triton_xla.extract %x[0, 0] [{n}, {n}] [1, 1] : memref<{n}x{n}xf32, strided<[1, {n}]>> to tensor<{n}x{n}xf32>
  triton_xla.insert %t into %y[0, 0] [{n}, {n}] [1, 1] : tensor<{n}x{n}xf32> into memref<{n}x{n}xf32>
  triton_xla.return
}}
"""


@pytest.mark.parametrize("size", [64, 256])
@pytest.mark.parametrize("target", ["sm_80", "gfx942", "gfx1201"])
def test_copies_of_any_size(target: str, size: int) -> None:
    """A large tile is not transposed in shared memory."""
    x = np.asfortranarray(np.arange(size * size, dtype=np.float32).reshape(size, size))
    y = np.zeros((size, size), np.float32)
    smalti.compile(COPY.format(n=size), target=targets.EMULATED + target)(x, y)
    np.testing.assert_array_equal(y, x)


MATMUL = """
triton_xla.entry_func @matmul(%k: index, %a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>, %c: memref<?x?xf32>,
                              %i: index, %j: index) tiles [size(%a, 0) ceildiv 64, size(%b, 1) ceildiv 64] {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %p = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = triton_xla.extract %a[%row, %p] [64, 64] [1, 1] : memref<?x?xf16> to tensor<64x64xf16>
    %bt = triton_xla.extract %b[%p, %column] [64, 64] [1, 1] : memref<?x?xf16, strided<[1, ?]>> to tensor<64x64xf16>
    %next = triton_xla.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %c[%row, %column] [64, 64] [1, 1] : tensor<64x64xf32> into memref<?x?xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "gfx942", "gfx1250"])
def test_dynamic_operands(target: str) -> None:
    """With sizes that are multiples of 16, operands are copied asynchronously on chips that can."""
    kernel = smalti.specialize(MATMUL, target=targets.EMULATED + target)
    rng = np.random.default_rng(0)
    for m, n, k in ((128, 128, 192), (100, 72, 90)):
        a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
        b, c = np.asfortranarray(b), np.zeros((m, n), np.float32)
        kernel(k, a, b, c)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
        missed = [r.message for r in kernel.variant(k, a, b, c).remarks if "copy not used" in r.message]
        assert not missed or m == 100
