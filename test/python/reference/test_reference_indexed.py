# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter's indexed accesses and atomics, against loops in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from smalti import reference
from test_reference import run

RNG = np.random.default_rng(0)


def test_gather_tile_reads_fill_out_of_range() -> None:
    x, n = RNG.standard_normal((4, 6)), RNG.integers(-3, 9, (4, 5))
    body = """
  %t = triton_xla.extract %x[0, 0] [4, 6] [1, 1] : memref<4x6xf32> to tensor<4x6xf32>
  %i = triton_xla.extract %n[0, 0] [4, 5] [1, 1] : memref<4x5xi8> to tensor<4x5xi8>
  %r = triton_xla.gather_tile %t[%i] dim 1 fill -1.0 : f32 : tensor<4x6xf32>, tensor<4x5xi8> -> tensor<4x5xf32>
  triton_xla.insert %r into %y[0, 0] [4, 5] [1, 1] : tensor<4x5xf32> into memref<4x5xf32>"""
    result = run(body, "%x: memref<4x6xf32>, %n: memref<4x5xi8>, %y: memref<4x5xf32>", x, n, np.zeros((4, 5)))[2]
    expected = [[x[i, j] if 0 <= j < 6 else -1.0 for j in n[i]] for i in range(4)]
    np.testing.assert_array_equal(result.data, expected)


def test_gather_with_a_mask_and_a_scalar_index() -> None:
    x, n = RNG.standard_normal((10, 3)), RNG.integers(-3, 13, 16)
    body = """
  %i = triton_xla.extract %n[0] [16] [1] : memref<16xi32> to tensor<16xi32>
  %five = arith.constant dense<5> : tensor<16xi32>
  %m = arith.cmpi ne, %i, %five : tensor<16xi32>
  %two = arith.constant 2 : index
  %r = triton_xla.gather %x[%i, %two] mask %m fill 7.0 : f32 : memref<10x3xf32>, tensor<16xi32>, index -> tensor<16xf32>
  triton_xla.insert %r into %y[0] [16] [1] : tensor<16xf32> into memref<16xf32>"""
    result = run(body, "%x: memref<10x3xf32>, %n: memref<16xi32>, %y: memref<16xf32>", x, n, np.zeros(16))[2]
    np.testing.assert_array_equal(result.data, [x[i, 2] if 0 <= i < 10 and i != 5 else 7.0 for i in n])


def scatter(n: np.ndarray, flags: str = "") -> np.ndarray:
    body = f"""
  %i = triton_xla.extract %n[0] [8] [1] : memref<8xi64> to tensor<8xi64>
  %t = triton_xla.iota dim 0 : tensor<8xf32>
  triton_xla.scatter %t into %y[%i] {flags} : tensor<8xf32> into memref<10xf32>, tensor<8xi64>"""
    return run(body, "%n: memref<8xi64>, %y: memref<10xf32>", n, np.full(10, -1.0))[1].data


def test_the_last_scattered_element_wins() -> None:
    n = np.array([3, 9, 3, -1, 0, 10, 3, 9])
    expected = np.full(10, -1.0)
    for value, index in enumerate(n):
        if 0 <= index < 10:
            expected[index] = value
    np.testing.assert_array_equal(scatter(n), expected)


def test_promises_of_a_scatter_are_checked() -> None:
    with pytest.raises(reference.InterpreterError, match="two elements are scattered to the same index"):
        scatter(np.array([3, 9, 3, -1, 0, 10, 2, 8]), "unique")
    with pytest.raises(reference.InterpreterError, match="the indices decrease"):
        scatter(np.array([0, 1, 3, 2, 4, 10, 5, 8]), "sorted")
    assert scatter(np.array([0, 1, 1, 2, 4, 10, 5, 8]), "sorted")[1] == 2


def atomic(
    kind: str, ty: str, x: np.ndarray, n: np.ndarray, y: np.ndarray, tiles: int = 1, flags: str = ""
) -> list[reference.Value]:
    """Each of `tiles` tiles updates y at n by its row of x, and stores the old values."""
    count = x.shape[1]
    body = f"""
  %t = triton_xla.extract %x[%tile, 0] [1, {count}] [1, 1] : memref<{tiles}x{count}x{ty}> to tensor<{count}x{ty}>
  %i = triton_xla.extract %n[%tile, 0] [1, {count}] [1, 1] : memref<{tiles}x{count}xi32> to tensor<{count}xi32>
  %o = triton_xla.atomic_rmw {kind} %t into %y[%i] {flags}
      : tensor<{count}x{ty}> into memref<{len(y)}x{ty}>, tensor<{count}xi32>
  triton_xla.insert %o into %old[%tile, 0] [1, {count}] [1, 1] : tensor<{count}x{ty}> into memref<{tiles}x{count}x{ty}>"""
    types = [f"%x: memref<{tiles}x{count}x{ty}>", f"%n: memref<{tiles}x{count}xi32>", f"%y: memref<{len(y)}x{ty}>"]
    arguments = ", ".join([*types, f"%old: memref<{tiles}x{count}x{ty}>"])
    return run(body, arguments, x, n, y, np.zeros(x.shape, x.dtype), tiles=tiles)[2:]


INTEGERS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxs": max,
    "mins": min,
    "maxu": lambda a, b: max(a & 255, b & 255),
    "minu": lambda a, b: min(a & 255, b & 255),
}


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_atomics(kind: str) -> None:
    x, n, y = RNG.integers(-128, 128, (3, 20)), RNG.integers(-2, 8, (3, 20)), RNG.integers(-128, 128, 6)
    memory, old = atomic(kind, "i8", x, n, y, tiles=3)
    expected, before = y.copy(), np.zeros(x.shape, np.int64)
    for at in np.ndindex(x.shape):
        if 0 <= n[at] < 6:
            before[at] = expected[n[at]]
            combined = INTEGERS[kind](int(expected[n[at]]), int(x[at]))
            expected[n[at]] = (combined & 255 ^ 128) - 128
    np.testing.assert_array_equal(memory.data, expected)
    assert memory.error is None or not memory.error.any()
    np.testing.assert_array_equal(old.data, before)
    # All elements have several updates, so the old values depend on the order.
    assert old.error is not None
    np.testing.assert_array_equal(np.isinf(old.error), (n >= 0) & (n < 6))


def test_old_values_of_single_updates_are_certain() -> None:
    x, n = np.arange(8).reshape(2, 4), np.array([[0, 1, 2, 3], [3, 4, 5, 9]])
    memory, old = atomic("assign", "i32", x, n, np.arange(6) * 10, tiles=2)
    assert memory.data.tolist() == [0, 1, 2, 4, 5, 6]
    assert memory.error is not None and np.isinf(memory.error).tolist() == [False, False, False, True, False, False]
    assert old.data.tolist() == [[0, 10, 20, 30], [3, 40, 50, 0]]
    assert old.error is not None and np.argwhere(old.error).tolist() == [[0, 3], [1, 0]]


@pytest.mark.parametrize("flags", ["", "deterministic"])
def test_exchanges_of_one_operation(flags: str) -> None:
    memory, _ = atomic("assign", "f32", np.array([[1.0, 2.0, 3.0]]), np.array([[1, 1, 0]]), np.zeros(2), flags=flags)
    assert memory.data.tolist() == [3.0, 2.0]
    assert memory.error is None or np.isinf(memory.error).tolist() == [False, not flags]


@pytest.mark.parametrize("ty", ["f32", "f16"])
def test_the_bound_of_atomic_sums_covers_all_orders(ty: str) -> None:
    kind: Any = np.float32 if ty == "f32" else np.float16
    x = (RNG.standard_normal((4, 16)) * 10).astype(kind)
    n = np.zeros((4, 16), np.int64)
    memory, _ = atomic("addf", ty, x, n, np.array([100.0]), tiles=4)
    np.testing.assert_allclose(memory.data, [100 + x.astype(np.float64).sum()])
    assert memory.error is not None
    unit = 2.0**-24 if ty == "f32" else 2.0**-11
    np.testing.assert_allclose(memory.error, [64 * unit * (100 + np.abs(x.astype(np.float64)).sum())])
    for seed in range(20):
        total = kind(100)
        for term in np.random.default_rng(seed).permutation(x.reshape(-1)):
            total = kind(total + term)
        assert abs(float(total) - memory.data[0]) <= memory.error[0]


def test_atomic_maximum_of_floats() -> None:
    x, n = RNG.standard_normal((2, 12)), RNG.integers(0, 4, (2, 12))
    memory, _ = atomic("maximumf", "f32", x, n, np.zeros(4), tiles=2)
    np.testing.assert_array_equal(memory.data, [max(0.0, x[n == i].max(initial=0)) for i in range(4)])
    assert memory.error is None or not memory.error.any()


def test_mixed_atomics_have_no_order_between_tiles() -> None:
    body = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %five = arith.constant 5 : i32
  %a = triton_xla.atomic_rmw addi %five into %y[%c0] : i32 into memref<4xi32>, index
  %b = triton_xla.atomic_rmw maxs %five into %y[%c0] : i32 into memref<4xi32>, index
  %i = arith.addi %tile, %c1 : index
  %c = triton_xla.atomic_rmw addi %five into %y[%i] : i32 into memref<4xi32>, index
  %d = triton_xla.atomic_rmw maxs %five into %y[%i] : i32 into memref<4xi32>, index"""
    (memory,) = run(body, "%y: memref<4xi32>", np.zeros(4, np.int64), tiles=2)
    assert memory.data.tolist() == [10, 5, 5, 0]
    # Within a tile, the two updates of an element have an order.
    assert memory.error is not None and np.isinf(memory.error).tolist() == [True, False, False, False]


def test_compare_and_swap() -> None:
    body = """
  %e = triton_xla.extract %expected[0] [4] [1] : memref<4xi32> to tensor<4xi32>
  %d = triton_xla.iota dim 0 : tensor<4xi32>
  %i = triton_xla.extract %n[0] [4] [1] : memref<4xi32> to tensor<4xi32>
  %o = triton_xla.atomic_cas %e, %d into %y[%i] : tensor<4xi32> into memref<4xi32>, tensor<4xi32>
  triton_xla.insert %o into %old[0] [4] [1] : tensor<4xi32> into memref<4xi32>"""
    arguments = ", ".join(f"%{name}: memref<4xi32>" for name in ("expected", "n", "y", "old"))
    expected, n, y = np.array([7, 8, 7, 7]), np.array([3, 2, 1, 5]), np.array([7, 7, 7, 7])
    memory = run(body, arguments, expected, n, y, np.zeros(4, np.int64))
    assert memory[2].data.tolist() == [7, 2, 7, 0]
    assert memory[3].data.tolist() == [7, 7, 7, 0]
    assert memory[3].error is None


def test_an_index_that_rounding_decides_is_an_error() -> None:
    body = """
  %tenth = arith.constant 0.1 : f32
  %three = arith.constant 3.0 : f32
  %p = arith.mulf %tenth, %three : f32
  %q = arith.divf %p, %tenth : f32
  %i = arith.fptosi %q : f32 to i64
  %j = arith.index_cast %i : i64 to index
  %v = memref.load %y[%j] : memref<4xf32>"""
    with pytest.raises(reference.InterpreterError, match="an index depends on rounded floats"):
        run(body, "%y: memref<4xf32>", np.zeros(4))


def test_loads_and_stores_of_elements() -> None:
    body = """
  %v = memref.load %x[%tile, %tile] : memref<?x3xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %y[%tile] : memref<3xf32>"""
    x = RNG.standard_normal((3, 3)).astype(np.float32)
    memory = run(body, "%x: memref<?x3xf32>, %y: memref<3xf32>", x, np.zeros(3), tiles=3)
    np.testing.assert_array_equal(memory[1].data, 2 * np.diag(x))
    with pytest.raises(reference.InterpreterError, match="the index 2 of dimension 0 is out of bounds; the size is 2"):
        run(body, "%x: memref<?x3xf32>, %y: memref<3xf32>", x[:2], np.zeros(3), tiles=3)


def test_philox_known_answers() -> None:
    """The vectors of Random123 (kat_vectors, philox4x32 10)."""
    words = 0xFFFFFFFF
    counters = [(0, 0, 0, 0), (words,) * 4, (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)]
    keys = [(0, 0), (words, words), (0xA4093822, 0x299F31D0)]
    answers = [
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ]
    for key, counter, answer in zip(keys, counters, answers, strict=True):
        body = """
  %a = triton_xla.extract %c[0] [1] [1] : memref<4xi32> to tensor<1xi32>
  %b = triton_xla.extract %c[1] [1] [1] : memref<4xi32> to tensor<1xi32>
  %d = triton_xla.extract %c[2] [1] [1] : memref<4xi32> to tensor<1xi32>
  %e = triton_xla.extract %c[3] [1] [1] : memref<4xi32> to tensor<1xi32>
  %r:4 = triton_xla.random_bits %k0, %k1, %a, %b, %d, %e : (i32, i32, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>,
      tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  %all = triton_xla.concat %r#0, %r#1, %r#2, %r#3 dim 0
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
  triton_xla.insert %all into %c[0] [4] [1] : tensor<4xi32> into memref<4xi32>"""
        signed = [np.asarray(value, np.uint32).astype(np.int32) for value in (*key, counter)]
        memory = run(body, "%k0: i32, %k1: i32, %c: memref<4xi32>", *signed)
        np.testing.assert_array_equal(memory[2].data, np.asarray(answer, np.uint32).astype(np.int32))


def test_prints_assertions_and_facts() -> None:
    import smalti
    from smalti.compiler import entry

    text = """
triton_xla.entry_func @f(%n: index, %tile: index) tiles 2 {
  %m = triton_xla.assume_multiple %n, 4 : index
  %c8 = arith.constant 8 : index
  %c = arith.cmpi ult, %m, %c8 : index
  triton_xla.assume %c
  %t = triton_xla.iota dim 0 : tensor<2xi32>
  triton_xla.print "t" %t, %tile : tensor<2xi32>, index
  %one = arith.constant dense<1> : tensor<2xi32>
  %n32 = arith.index_cast %m : index to i32
  %s = tensor.splat %n32 : tensor<2xi32>
  %sum = arith.addi %t, %s : tensor<2xi32>
  %ok = arith.cmpi ne, %sum, %one : tensor<2xi32>
  triton_xla.assert %ok, "not one" : tensor<2xi1>
  triton_xla.return
}"""
    module = smalti.parse(text)
    function = entry.find_entry(module)
    lines: list[str] = []
    reference.run(function, [4], printed=lines.append)
    assert lines == [
        "tile 0: t #0 [0] = 0",
        "tile 0: t #0 [1] = 1",
        "tile 0: t #1 = 0",
        "tile 1: t #0 [0] = 0",
        "tile 1: t #0 [1] = 1",
        "tile 1: t #1 = 1",
    ]
    for value, message in [
        (0, r"tile 0: the assertion fails for element \[1\]: not one"),
        (12, "the condition of 'triton_xla.assume' is false"),
        (5, "the value 5 is not a multiple of 4"),
    ]:
        with pytest.raises(reference.InterpreterError, match=message):
            reference.run(function, [value])
