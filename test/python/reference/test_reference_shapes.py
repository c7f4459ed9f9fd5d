# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter's shape operations, reductions, scans, sorts and histograms, against numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from smalti import reference
from test_reference import run

FLOATS = np.random.default_rng(0).standard_normal


def on_tiles(body: str, result: str, *tiles: tuple[str, np.ndarray]) -> reference.Value:
    """`body` on the tiles `%t0`, `%t1` and so on; the value of `%r`, a tile of the type `result`."""
    arguments, loads, values = [], [], []
    for number, (ty, data) in enumerate([*tiles, (result, np.zeros(0))]):
        *sizes, element = ty.split("x")
        shape = tuple(map(int, sizes))
        window = f"[{', '.join('0' * len(shape))}] [{', '.join(sizes)}] [{', '.join('1' * len(shape))}]"
        arguments.append(f"%m{number}: memref<{ty}>")
        if number < len(tiles):
            loads.append(f"%t{number} = triton_xla.extract %m{number}{window} : memref<{ty}> to tensor<{ty}>")
            values.append(data)
        else:
            store = f"triton_xla.insert %r into %m{number}{window} : tensor<{ty}> into memref<{ty}>"
            values.append(np.zeros(shape, np.float64 if element[0] in "fb" else np.int64))
    text = "\n".join([*loads, body, store])
    return run(text, ", ".join(arguments), *values)[-1]


@pytest.mark.parametrize(
    ("op", "result", "expected"),
    [
        ("broadcast %t0 dims [0, 2] : tensor<3x1xf32> ->", "3x4x5xf32", lambda x: np.tile(x[:, None], (1, 4, 5))),
        ("broadcast %t0 dims [1, 2] : tensor<3x1xf32> ->", "4x3x1xf32", lambda x: np.tile(x, (4, 1, 1))),
        ("transpose %t0 [1, 0] : tensor<3x1xf32> ->", "1x3xf32", lambda x: x.T),
        ("reshape %t0 : tensor<3x1xf32> ->", "1x1x3xf32", lambda x: x.reshape(1, 1, 3)),
        ("squeeze_dims %t0 [1] : tensor<3x1xf32> ->", "3xf32", lambda x: x[:, 0]),
        ("slice %t0 [0, 0] [2, 1] [2, 1] : tensor<3x1xf32> ->", "2x1xf32", lambda x: x[::2]),
        ("concat %t0, %t0 dim 1 : (tensor<3x1xf32>, tensor<3x1xf32>) ->", "3x2xf32", lambda x: np.tile(x, 2)),
    ],
)
def test_shape_operations(op: str, result: str, expected: Any) -> None:
    x = FLOATS((3, 1))
    value = on_tiles(f"%r = triton_xla.{op} tensor<{result}>", result, ("3x1xf32", x))
    np.testing.assert_array_equal(value.data, expected(x))
    assert value.error is None


def test_transpose_of_three_dimensions() -> None:
    x = FLOATS((2, 3, 4))
    op = "%r = triton_xla.transpose %t0 [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>"
    np.testing.assert_array_equal(on_tiles(op, "4x2x3xf32", ("2x3x4xf32", x)).data, np.moveaxis(x, 2, 0))


def test_split_gives_the_parts_in_order() -> None:
    x = FLOATS((2, 6))
    body = """
  %a, %b, %c = triton_xla.split %t0 dim 1 : tensor<2x6xf32> -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %r = triton_xla.concat %c, %a, %b dim 0 : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>"""
    expected = np.concatenate([x[:, 4:], x[:, :2], x[:, 2:4]])
    np.testing.assert_array_equal(on_tiles(body, "6x2xf32", ("2x6xf32", x)).data, expected)


@pytest.mark.parametrize(
    ("ty", "expected"),
    [
        ("i8", (np.arange(300 - 44) % 256).astype(np.uint8).astype(np.int8)),
        ("bf16", [float(x) for x in np.arange(256)]),
        ("f8E5M2", None),
    ],
)
def test_iota_in_small_types(ty: str, expected: Any) -> None:
    value = on_tiles(f"%r = triton_xla.iota dim 0 : tensor<256x{ty}>", f"256x{ty}")
    if expected is None:
        # 3 bits of precision, ties to even.
        assert value.data[:12].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 10, 12]
    else:
        np.testing.assert_array_equal(value.data, expected)
    assert value.error is None


def reduction(op: str, ty: str) -> str:
    return f"""{{
  ^bb0(%x: {ty}, %y: {ty}):
    %v = {op} %x, %y : {ty}
    triton_xla.yield %v : {ty}
  }}"""


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1, 2), ()])
def test_sums_of_integers_wrap(dims: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-128, 128, (3, 4, 5))
    expected = (x.sum(dims) + 100).astype(np.int8)
    result = "x".join([*map(str, expected.shape), "i8"])
    body = f"""%z = arith.constant 100 : i8
  %r = triton_xla.reduce %t0 dims {list(dims)} init %z : (tensor<3x4x5xi8>, i8) -> tensor<{result}>
  {reduction("arith.addi", "i8")}"""
    value = on_tiles(body, result, ("3x4x5xi8", x))
    np.testing.assert_array_equal(value.data, expected)
    assert value.error is None


@pytest.mark.parametrize("ty", ["f32", "f16", "bf16"])
def test_the_bound_of_a_sum_covers_all_orders(ty: str) -> None:
    # The first elements cancel the last ones, so that partial sums are much larger than the result.
    x = np.concatenate([FLOATS(30) * 100, FLOATS(17)])
    x = np.concatenate([x, -x[:30]])
    kind = reference.values.element_type(_type(ty)).numpy
    x = x.astype(kind).astype(np.float64)
    body = f"""%z = arith.constant 3.0 : {ty}
  %r = triton_xla.reduce %t0 dims [0] init %z : (tensor<77x{ty}>, {ty}) -> tensor<{ty}>
  {reduction("arith.addf", ty)}"""
    value = on_tiles(body, ty, (f"77x{ty}", x))
    np.testing.assert_allclose(value.data, x.sum() + 3, atol=1e-12)
    assert value.error is not None and np.isfinite(value.error)
    worst = 0.0
    for seed in range(30):
        total = np.asarray(3.0, kind)
        for term in np.random.default_rng(seed).permutation(x):
            total = (total + np.asarray(term, kind)).astype(kind)
        worst = max(worst, abs(float(total) - float(value.data)))
    assert worst <= value.error <= 77 * 2.0 ** -(8 if ty == "bf16" else 11) * (3.01 + np.abs(x).sum())


def test_the_bound_of_a_matmul_in_f64_covers_all_orders() -> None:
    x = FLOATS(21)
    body = f"""%z = arith.constant 1.0 : f64
  %r = triton_xla.reduce %t0 dims [0] init %z : (tensor<21xf64>, f64) -> tensor<f64> {reduction("arith.mulf", "f64")}"""
    value = on_tiles(body, "f64", ("21xf64", x))
    assert value.error is not None and 0 < value.error <= 100 * 2.0**-53 * abs(value.data)
    for seed in range(10):
        assert abs(np.multiply.reduce(np.random.default_rng(seed).permutation(x)) - value.data) <= value.error


def _type(spelling: str) -> Any:
    import smalti

    return smalti.ir.Type.parse(spelling, smalti.parse("module {}").context)


def test_maximum_and_its_index() -> None:
    x = np.random.default_rng(2).integers(0, 4, (6, 9)).astype(np.float64)
    body = """
  %ninf = arith.constant 0xFF800000 : f32
  %last = arith.constant 99 : i32
  %n = triton_xla.iota dim 1 : tensor<6x9xi32>
  %v, %r = triton_xla.reduce %t0, %n dims [1] init %ninf, %last
      : (tensor<6x9xf32>, tensor<6x9xi32>, f32, i32) -> (tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
    %greater = arith.cmpf ogt, %lv, %rv : f32
    %equal = arith.cmpf oeq, %lv, %rv : f32
    %before = arith.cmpi slt, %li, %ri : i32
    %first = arith.andi %equal, %before : i1
    %left = arith.ori %greater, %first : i1
    %value = arith.select %left, %lv, %rv : f32
    %index = arith.select %left, %li, %ri : i32
    triton_xla.yield %value, %index : f32, i32
  }"""
    value = on_tiles(body, "6xi32", ("6x9xf32", x))
    np.testing.assert_array_equal(value.data, x.argmax(1))
    assert value.error is None


def test_an_uncertain_maximum_has_the_error_of_its_index() -> None:
    # Elements 1 and 4 differ by less than the rounding of their sum with 0.1.
    x = np.array([0.0, 1.0, 0.5, -2.0, 1.0 + 2.0**-25, 0.0])
    body = """
  %ninf = arith.constant 0xFF800000 : f32
  %last = arith.constant 99 : i32
  %tenth = arith.constant dense<0.1> : tensor<6xf32>
  %s = arith.addf %t0, %tenth : tensor<6xf32>
  %n = triton_xla.iota dim 0 : tensor<6xi32>
  %v, %r = triton_xla.reduce %s, %n dims [0] init %ninf, %last
      : (tensor<6xf32>, tensor<6xi32>, f32, i32) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
    %greater = arith.cmpf ogt, %lv, %rv : f32
    %value = arith.select %greater, %lv, %rv : f32
    %index = arith.select %greater, %li, %ri : i32
    triton_xla.yield %value, %index : f32, i32
  }"""
    value = on_tiles(body, "i32", ("6xf32", x))
    assert value.data == 4 and value.error is not None and value.error >= 3


def test_a_region_with_control_flow_runs_per_element() -> None:
    x = FLOATS((4, 8))
    body = """
  %z = arith.constant -100.0 : f32
  %r = triton_xla.reduce %t0 dims [1] init %z : (tensor<4x8xf32>, f32) -> tensor<4xf32> {
  ^bb0(%x: f32, %y: f32):
    %greater = arith.cmpf ogt, %x, %y : f32
    %v = scf.if %greater -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    triton_xla.yield %v : f32
  }"""
    np.testing.assert_array_equal(on_tiles(body, "4xf32", ("4x8xf32", x)).data, x.max(1))


@pytest.mark.parametrize(("exclusive", "reverse"), list(itertools.product([False, True], repeat=2)))
def test_scans_keep_the_order(exclusive: bool, reverse: bool) -> None:
    """The composition of x -> a x + b is associative, and not commutative."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 9, (2, 3, 7))
    flags = f"{'exclusive ' * exclusive}{'reverse ' * reverse}"
    body = f"""
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %s, %r = triton_xla.scan %t0, %t1 dim 1 init %one, %two {flags}
      : (tensor<3x7xi32>, tensor<3x7xi32>, i32, i32) -> (tensor<3x7xi32>, tensor<3x7xi32>) {{
  ^bb0(%a0: i32, %b0: i32, %a1: i32, %b1: i32):
    %a = arith.muli %a0, %a1 : i32
    %m = arith.muli %a1, %b0 : i32
    %b = arith.addi %m, %b1 : i32
    triton_xla.yield %a, %b : i32, i32
  }}"""
    expected = np.zeros((3, 7), np.int64)
    for line in range(3):
        total = 2
        for at in reversed(range(7)) if reverse else range(7):
            after = int(a[line, at]) * total + int(b[line, at])
            expected[line, at] = total if exclusive else after
            total = after
    value = on_tiles(body, "3x7xi32", ("3x7xi32", a), ("3x7xi32", b))
    np.testing.assert_array_equal(value.data, expected.astype(np.int32))


def test_the_bound_of_a_prefix_sum_grows() -> None:
    x = FLOATS(65)
    body = f"""%z = arith.constant 0.0 : f32
  %r = triton_xla.scan %t0 dim 0 init %z : (tensor<65xf32>, f32) -> tensor<65xf32> {reduction("arith.addf", "f32")}"""
    value = on_tiles(body, "65xf32", ("65xf32", x))
    np.testing.assert_allclose(value.data, np.cumsum(x), atol=1e-12)
    assert value.error is not None
    np.testing.assert_allclose(value.error, np.arange(1, 66) * 2.0**-24 * np.cumsum(np.abs(x)))


def test_a_stable_sort_with_values() -> None:
    keys = np.random.default_rng(4).integers(0, 5, (20, 3))
    body = """
  %v = triton_xla.iota dim 0 : tensor<20x3xi32>
  %k, %r = triton_xla.sort %t0, %v dim 0 : (tensor<20x3xi16>, tensor<20x3xi32>) -> (tensor<20x3xi16>, tensor<20x3xi32>) {
  ^bb0(%k0: i16, %k1: i16, %v0: i32, %v1: i32):
    %before = arith.cmpi sgt, %k0, %k1 : i16
    triton_xla.yield %before : i1
  }"""
    value = on_tiles(body, "20x3xi32", ("20x3xi16", keys))
    np.testing.assert_array_equal(value.data, np.argsort(-keys, axis=0, kind="stable"))
    assert value.error is None


def test_a_sort_that_rounding_decides() -> None:
    x = np.array([3.0, 1.0 + 2.0**-25, 2.0, 1.0])
    body = """
  %tenth = arith.constant dense<0.1> : tensor<4xf32>
  %s = arith.addf %t0, %tenth : tensor<4xf32>
  %v = triton_xla.iota dim 0 : tensor<4xi32>
  %k, %r = triton_xla.sort %s, %v dim 0 : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%k0: f32, %k1: f32, %v0: i32, %v1: i32):
    %before = arith.cmpf olt, %k0, %k1 : f32
    triton_xla.yield %before : i1
  }"""
    value = on_tiles(body, "4xi32", ("4xf32", x))
    assert value.data[2:].tolist() == [2, 0] and sorted(value.data[:2]) == [1, 3]
    assert value.error is not None and value.error.tolist() == [2, 2, 0, 0]


@pytest.mark.parametrize("masked", [False, True])
def test_histogram(masked: bool) -> None:
    x = np.random.default_rng(5).integers(-3, 12, 100)
    mask = np.arange(100) < 60
    body = """
  %limit = arith.constant dense<60> : tensor<100xi32>
  %n = triton_xla.iota dim 0 : tensor<100xi32>
  %m = arith.cmpi slt, %n, %limit : tensor<100xi32>
  """
    body += f"%r = triton_xla.histogram %t0 bins 10 {'mask %m ' * masked}: tensor<100xi32> -> tensor<10xi32>"
    kept = x[mask] if masked else x
    expected = [np.count_nonzero(kept == number) for number in range(10)]
    np.testing.assert_array_equal(on_tiles(body, "10xi32", ("100xi32", x)).data, expected)
