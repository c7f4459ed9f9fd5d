# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles of integers whose width is not a power of two, in memory and between threads; reductions of one element."""

from __future__ import annotations

import numpy as np
import pytest
import smalti

TARGETS = ("cpu", "emu:sm_80", "emu:gfx942", "sim:sm_80")


@pytest.mark.grid(5)
@pytest.mark.parametrize("bits", [12, 24, 33, 48])
@pytest.mark.parametrize("target", TARGETS)
def test_integers_of_other_widths(target: str, bits: int) -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @widths(%x: memref<13x17xi64>, %o: memref<13x17xi64>, %p: memref<13xi64>, %q: memref<17x13xi64>,
                              %tile: index) tiles 1 {
  %zero = arith.constant 0 : T
  %wide = triton_xla.extract %x[0, 0] [13, 17] [1, 1] : memref<13x17xi64> to tensor<13x17xi64>
  %t = arith.trunci %wide : tensor<13x17xi64> to tensor<13x17xT>
  %s = triton_xla.scan %t dim 0 init %zero : (tensor<13x17xT>, T) -> tensor<13x17xT> {
  ^bb0(%l: T, %r: T):
    %c = arith.addi %l, %r : T
    triton_xla.yield %c : T
  }
  %m = triton_xla.reduce %t dims [1] init %zero : (tensor<13x17xT>, T) -> tensor<13xT> {
  ^bb0(%l: T, %r: T):
    %c = arith.maxsi %l, %r : T
    triton_xla.yield %c : T
  }
  %u = triton_xla.transpose %t [1, 0] : tensor<13x17xT> -> tensor<17x13xT>
  %v = triton_xla.sort %u dim 1 : (tensor<17x13xT>) -> tensor<17x13xT> {
  ^bb0(%l: T, %r: T):
    %c = arith.cmpi slt, %l, %r : T
    triton_xla.yield %c : i1
  }
  %a = arith.extsi %s : tensor<13x17xT> to tensor<13x17xi64>
  %b = arith.extsi %m : tensor<13xT> to tensor<13xi64>
  %d = arith.extsi %v : tensor<17x13xT> to tensor<17x13xi64>
  triton_xla.insert %a into %o[0, 0] [13, 17] [1, 1] : tensor<13x17xi64> into memref<13x17xi64>
  triton_xla.insert %b into %p[0] [13] [1] : tensor<13xi64> into memref<13xi64>
  triton_xla.insert %d into %q[0, 0] [17, 13] [1, 1] : tensor<17x13xi64> into memref<17x13xi64>
  triton_xla.return
}""".replace("T,", f"i{bits},")
        .replace("xT", f"xi{bits}")
        .replace(" T", f" i{bits}"),
        target=target,
    )

    def wrapped(x: np.ndarray) -> np.ndarray:
        return (x << 64 - bits) >> 64 - bits

    x = np.random.default_rng(bits).integers(-(2**62), 2**62, (13, 17))
    o, p, q = np.zeros_like(x), np.zeros(13, np.int64), np.zeros((17, 13), np.int64)
    kernel(x, o, p, q)
    t = wrapped(x)
    np.testing.assert_array_equal(o, wrapped(t.cumsum(0)))
    np.testing.assert_array_equal(p, t.max(1, initial=0))
    np.testing.assert_array_equal(q, np.sort(t.T, 1))


@pytest.mark.parametrize("target", TARGETS)
def test_a_reduction_without_dimensions_combines_with_the_initial_value(target: str) -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @one(%a: memref<i16>, %b: memref<f32>, %v: memref<5xi16>, %o: memref<i16>, %p: memref<f32>,
                           %q: memref<5xi16>, %tile: index) tiles 1 {
  %three = arith.constant 3 : i16
  %half = arith.constant 0.5 : f32
  %x = triton_xla.extract %a[] [] [] : memref<i16> to tensor<i16>
  %y = triton_xla.extract %b[] [] [] : memref<f32> to tensor<f32>
  %z = triton_xla.extract %v[0] [5] [1] : memref<5xi16> to tensor<5xi16>
  %r, %s = triton_xla.reduce %x, %y dims [] init %three, %half : (tensor<i16>, tensor<f32>, i16, f32) -> (tensor<i16>, tensor<f32>) {
  ^bb0(%i: i16, %f: f32, %j: i16, %g: f32):
    %c = arith.addi %i, %j : i16
    %d = arith.mulf %f, %g : f32
    triton_xla.yield %c, %d : i16, f32
  }
  %t = triton_xla.reduce %z dims [] init %three : (tensor<5xi16>, i16) -> tensor<5xi16> {
  ^bb0(%i: i16, %j: i16):
    %c = arith.addi %i, %j : i16
    triton_xla.yield %c : i16
  }
  triton_xla.insert %r into %o[] [] [] : tensor<i16> into memref<i16>
  triton_xla.insert %s into %p[] [] [] : tensor<f32> into memref<f32>
  triton_xla.insert %t into %q[0] [5] [1] : tensor<5xi16> into memref<5xi16>
  triton_xla.return
}""",
        target=target,
    )
    a, b, v = np.array(7, np.int16), np.array(3.0, np.float32), np.arange(5, dtype=np.int16)
    o, p, q = np.zeros_like(a), np.zeros_like(b), np.zeros_like(v)
    kernel(a, b, v, o, p, q)
    assert (o, p) == (10, 1.5)
    np.testing.assert_array_equal(q, v + 3)
