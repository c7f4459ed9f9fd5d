# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter: every kind of operation against numpy, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from smalti import reference
from smalti.compiler import entry


def run(body: str, arguments: str, *values: Any, tiles: int = 1) -> list[reference.Value]:
    text = f"triton_xla.entry_func @f({arguments}, %tile: index) tiles {tiles} {{\n{body}\n  triton_xla.return\n}}\n"
    module = smalti.parse(text)
    return reference.run(entry.find_entry(module), values)


def unary(op: str, ty: str, x: np.ndarray, result: str | None = None) -> reference.Value:
    """The result of one operation on a tile of 8."""
    result = result or ty
    body = f"""
  %x = triton_xla.extract %a[0] [8] [1] : memref<8x{ty}> to tensor<8x{ty}>
  %y = {op} : tensor<8x{ty}>{f" to tensor<8x{result}>" if result != ty else ""}
  triton_xla.insert %y into %b[0] [8] [1] : tensor<8x{result}> into memref<8x{result}>"""
    kind = np.float64 if result.startswith(("f", "bf")) else np.int64
    return run(body, f"%a: memref<8x{ty}>, %b: memref<8x{result}>", x, np.zeros(8, kind))[1]


def binary(op: str, ty: str, x: np.ndarray, y: np.ndarray, result: str | None = None) -> reference.Value:
    result = result or ty
    body = f"""
  %x = triton_xla.extract %a[0] [8] [1] : memref<8x{ty}> to tensor<8x{ty}>
  %y = triton_xla.extract %b[0] [8] [1] : memref<8x{ty}> to tensor<8x{ty}>
  %z = {op} %x, %y : tensor<8x{ty}>
  triton_xla.insert %z into %c[0] [8] [1] : tensor<8x{result}> into memref<8x{result}>"""
    arguments = f"%a: memref<8x{ty}>, %b: memref<8x{ty}>, %c: memref<8x{result}>"
    return run(body, arguments, x, y, np.zeros(8, np.float64 if result[0] in "fb" else np.int64))[2]


X = np.array([-3.5, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 7.0])
Y = np.array([2.0, -2.0, 0.5, 1.0, -0.125, 3.0, 2.5, -4.0])
I = np.array([-128, -7, -1, 0, 1, 5, 100, 127])  # noqa: E741
J = np.array([3, 2, -1, 5, -4, 3, 100, 127])


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("arith.addf", X + Y),
        ("arith.subf", X - Y),
        ("arith.mulf", X * Y),
        ("arith.divf", X / Y),
        ("arith.maximumf", np.maximum(X, Y)),
        ("arith.minnumf", np.minimum(X, Y)),
        ("arith.remf", np.fmod(X, Y)),
    ],
)
def test_float_operations_are_exact_and_carry_a_bound(op: str, expected: np.ndarray) -> None:
    value = binary(op, "f32", X, Y)
    np.testing.assert_array_equal(value.data, expected)
    if op in ("arith.divf", "arith.remf"):
        assert value.error is not None
        np.testing.assert_allclose(value.error, 2.0**-24 * np.abs(expected), atol=2.0**-149)
    else:
        # f32 represents the results, or the operation does not round.
        assert value.error is None


@pytest.mark.parametrize(
    ("op", "function"), [("arith.addf", np.add), ("arith.subf", np.subtract), ("arith.mulf", np.multiply)]
)
def test_a_result_that_the_type_does_not_represent_has_a_bound(op: str, function: Any) -> None:
    fine = X + 3.0 * 2.0**-22
    value = binary(op, "f32", fine, Y)
    exact = function(fine, Y)
    np.testing.assert_array_equal(value.data, exact)
    represented = exact.astype(np.float32) == exact
    assert value.error is not None and 0 < np.count_nonzero(represented) < 8
    np.testing.assert_allclose(value.error, np.where(represented, 0.0, 2.0**-24 * np.abs(exact)))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("arith.addi", (I + J).astype(np.int8)),
        ("arith.muli", (I * J).astype(np.int8)),
        ("arith.divsi", np.trunc(I / J).astype(np.int64)),
        ("arith.remsi", I - np.trunc(I / J).astype(np.int64) * J),
        ("arith.floordivsi", I // J),
        ("arith.ceildivsi", -((-I) // J)),
        ("arith.divui", (I & 255) // (J & 255)),
        ("arith.maxui", np.maximum(I & 255, J & 255)),
        ("arith.minsi", np.minimum(I, J)),
        ("arith.xori", I ^ J),
    ],
)
def test_integers_wrap_in_their_width(op: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(binary(op, "i8", I, J).data, expected.astype(np.int8))


def test_shifts() -> None:
    s = np.array([0, 1, 2, 3, 4, 5, 6, 7])
    np.testing.assert_array_equal(binary("arith.shli", "i8", I, s).data, (I << s).astype(np.int8))
    np.testing.assert_array_equal(binary("arith.shrsi", "i8", I, s).data, I >> s)
    np.testing.assert_array_equal(binary("arith.shrui", "i8", I, s).data, ((I & 255) >> s).astype(np.int8))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("slt", I < J), ("uge", (I & 255) >= (J & 255)), ("eq", I == J), ("ne", I != J), ("sge", I >= J)],
)
def test_integer_comparison(predicate: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(binary(f"arith.cmpi {predicate},", "i8", I, J, "i1").data, expected)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("olt", [True, False, False]),
        ("ult", [True, False, True]),
        ("une", [True, False, True]),
        ("one", [True, False, False]),
        ("ord", [True, True, False]),
        ("uno", [False, False, True]),
        ("oeq", [False, True, False]),
        ("uge", [False, True, True]),
    ],
)
def test_float_comparison_with_nan(predicate: str, expected: list[bool]) -> None:
    x, y = np.zeros(8), np.zeros(8)
    x[:3], y[:3] = [1.0, 2.0, np.nan], [2.0, 2.0, 2.0]
    np.testing.assert_array_equal(binary(f"arith.cmpf {predicate},", "f32", x, y, "i1").data[:3], expected)


def test_conversions() -> None:
    wide = np.array([1.0, 1.0 + 2.0**-12, -65504.0, 70000.0, 1e-9, 0.1, np.inf, -2.0])
    half = unary("arith.truncf %x", "f32", wide, "f16")
    assert half.error is not None
    # No rounding is simulated; overflow is.
    assert half.data[1] == 1.0 + 2.0**-12 and half.data[3] == np.inf
    assert abs(np.float16(wide[1]) - half.data[1]) <= half.error[1]
    assert abs(float(np.float16(wide[4])) - half.data[4]) <= half.error[4]
    np.testing.assert_array_equal(unary("arith.fptosi %x", "f32", X, "i32").data, np.trunc(X))
    np.testing.assert_array_equal(unary("arith.sitofp %x", "i8", I, "f32").data, I)
    np.testing.assert_array_equal(unary("arith.uitofp %x", "i8", I, "f32").data, I & 255)
    np.testing.assert_array_equal(unary("arith.extui %x", "i8", I, "i32").data, I & 255)
    np.testing.assert_array_equal(unary("arith.trunci %x", "i32", I * 257, "i8").data, (I * 257).astype(np.int8))
    np.testing.assert_array_equal(unary("arith.bitcast %x", "f32", X, "i32").data, X.astype(np.float32).view(np.int32))


def test_a_bitcast_of_a_width_that_numpy_does_not_have() -> None:
    body = """
  %x = triton_xla.extract %a[0] [8] [1] : memref<8xi32> to tensor<8xi32>
  %n = arith.trunci %x : tensor<8xi32> to tensor<8xi12>
  %c = arith.bitcast %n : tensor<8xi12> to tensor<8xi12>
  %y = arith.extsi %c : tensor<8xi12> to tensor<8xi32>
  triton_xla.insert %y into %b[0] [8] [1] : tensor<8xi32> into memref<8xi32>"""
    found = run(body, "%a: memref<8xi32>, %b: memref<8xi32>", I, np.zeros(8, np.int64))[1]
    np.testing.assert_array_equal(found.data, I)


@pytest.mark.parametrize(
    ("ty", "largest"), [("f8E4M3FN", 448.0), ("f8E5M2", 57344.0), ("f8E4M3FNUZ", 240.0), ("f8E3M4", 15.5)]
)
def test_conversions_to_small_floats_saturate(ty: str, largest: float) -> None:
    wide = np.array([largest, 1e30, np.inf, -np.inf, np.nan, largest * 1.2, -1e30, 1.0])
    expected = [largest, largest, largest, -largest, np.nan, largest, -largest, 1.0]
    np.testing.assert_array_equal(unary("arith.truncf %x", "f32", wide, ty).data, expected)


@pytest.mark.parametrize(
    ("op", "function"),
    [("exp", np.exp), ("tanh", np.tanh), ("rsqrt", lambda x: 1 / np.sqrt(x)), ("round", lambda x: np.trunc(x + 0.5))],
)
def test_functions(op: str, function: Any) -> None:
    x = np.abs(X) + 0.5
    value = unary(f"math.{op} %x", "f32", x)
    np.testing.assert_allclose(value.data, function(x), rtol=1e-15)
    if op == "round":
        assert value.error is None
        return
    assert value.error is not None
    actual = np.asarray(function(x.astype(np.float32)), np.float64)
    assert np.all(np.abs(actual - value.data) <= 2 * value.error)


def test_special_values() -> None:
    x = np.array([-0.0, -0.3, -0.5, -1.5, 2.5, np.inf, -np.inf, np.nan])
    rounded = unary("math.round %x", "f64", x).data
    np.testing.assert_array_equal(rounded, [-0.0, -0.0, -1, -2, 3, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(np.signbit(rounded), np.signbit(x))
    roots = run(
        """
  %half = arith.constant 0.5 : f64
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%c0] : memref<2xf64>
  %y = math.powf %x, %half : f64
  memref.store %y, %a[%c0] : memref<2xf64>""",
        "%a: memref<2xf64>",
        np.array([-np.inf, 0]),
    )[0].data
    assert roots[0] == np.inf
    # f8E8M0FNU does not have a zero, negative numbers or infinity, and exceeds the range of f16.
    y = np.array([0.0, -0.0, -1.0, 1e-300, 4.0, np.inf, np.nan, -np.inf])
    scales = unary("arith.truncf %x", "f64", y, "f8E8M0FNU").data
    np.testing.assert_array_equal(scales, [2.0**-127, 2.0**-127, np.nan, 2.0**-127, 4, 2.0**127, np.nan, np.nan])
    assert unary("arith.extf %x", "f8E8M0FNU", np.full(8, 2.0**100), "f16").data[0] == np.inf
    assert unary("arith.truncf %x", "f64", np.full(8, np.nan), "f6E3M2FN").data[0] == 28


def test_division_of_the_smallest_integer() -> None:
    smallest = np.full(8, -(2**63))
    divisors = np.array([3, -3, 2, -2, 7, 2**63 - 1, -(2**63), -(2**63) + 1])
    quotients = [-int(2**63 // abs(d)) if d > 0 else int(2**63 // abs(d)) for d in divisors.tolist()]
    np.testing.assert_array_equal(binary("arith.divsi", "i64", smallest, divisors).data, quotients)
    remainders = [-(2**63) - q * d for q, d in zip(quotients, divisors.tolist(), strict=True)]
    np.testing.assert_array_equal(binary("arith.remsi", "i64", smallest, divisors).data, remainders)
    np.testing.assert_array_equal(
        binary("arith.ceildivsi", "i64", smallest, divisors).data,
        [q + (1 if r and d < 0 else 0) for q, r, d in zip(quotients, remainders, divisors.tolist(), strict=True)],
    )


def test_fma_in_f64_is_not_exact() -> None:
    body = """
  %x = triton_xla.extract %a[0] [8] [1] : memref<8xf64> to tensor<8xf64>
  %y = math.fma %x, %x, %x : tensor<8xf64>
  triton_xla.insert %y into %b[0] [8] [1] : tensor<8xf64> into memref<8xf64>"""
    x = -1 - np.arange(8.0) * 2.0**-30
    value = run(body, "%a: memref<8xf64>, %b: memref<8xf64>", x, np.zeros(8))[1]
    # x (x + 1): the addition is exact, and the multiplication is rounded once.
    assert value.error is not None and np.any(value.data != x * (x + 1))
    assert np.all(np.abs(value.data - x * (x + 1)) <= value.error)


def test_windows_overhang_below_and_above() -> None:
    body = """
  %m3 = arith.constant -3 : index
  %t = triton_xla.extract %a[%m3, 4] [8, 4] [1, 2] fill 9.0 : f32 : memref<6x8xf32> to tensor<8x4xf32>
  triton_xla.insert %t into %b[0, 0] [8, 4] [1, 1] : tensor<8x4xf32> into memref<8x4xf32>
  triton_xla.insert %t into %a[%m3, 4] [8, 4] [1, 2] : tensor<8x4xf32> into memref<6x8xf32>"""
    a = np.arange(48.0).reshape(6, 8)
    memory = run(body, "%a: memref<6x8xf32>, %b: memref<8x4xf32>", a, np.zeros((8, 4)))
    expected = np.full((8, 4), 9.0)
    expected[3:8, :2] = a[0:5, 4:8:2]
    np.testing.assert_array_equal(memory[1].data, expected)
    np.testing.assert_array_equal(memory[0].data, a)


def test_rank_reduction_and_tile_ids() -> None:
    body = """
  %t = triton_xla.extract %a[%tile, 0] [1, 8] [1, 1] : memref<3x8xf32> to tensor<8xf32>
  triton_xla.insert %t into %b[0, %tile] [8, 1] [1, 1] : tensor<8xf32> into memref<8x3xf32>"""
    a = np.arange(24.0).reshape(3, 8)
    memory = run(body, "%a: memref<3x8xf32>, %b: memref<8x3xf32>", a, np.zeros((8, 3)), tiles=3)
    np.testing.assert_array_equal(memory[1].data, a.T)


def test_mask_with_static_and_dynamic_bounds() -> None:
    body = """
  %v = arith.constant -1.0 : f32
  %t = triton_xla.extract %a[0, 0] [4, 4] [1, 1] : memref<4x4xf32> to tensor<4x4xf32>
  %m = triton_xla.mask %t [%n, 3], %v : tensor<4x4xf32>
  triton_xla.insert %m into %a[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into memref<4x4xf32>"""
    a = np.arange(16.0).reshape(4, 4)
    expected = np.full((4, 4), -1.0)
    expected[:2, :3] = a[:2, :3]
    np.testing.assert_array_equal(run(body, "%a: memref<4x4xf32>, %n: index", a, 2)[0].data, expected)
    assert np.all(run(body, "%a: memref<4x4xf32>, %n: index", a, -5)[0].data == -1.0)


def test_control_flow() -> None:
    body = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> (tensor<4xf32>) {
    %t = triton_xla.extract %a[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to tensor<4xf32>
    %odd = arith.andi %i, %c1 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %next = scf.if %is_odd -> (tensor<4xf32>) {
      %s = arith.subf %acc, %t : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    } else {
      %s = arith.addf %acc, %t : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    scf.yield %next : tensor<4xf32>
  }
  %n, %r = scf.while (%i = %c0, %x = %sum) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %c5 : index
    scf.condition(%more) %i, %x : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %x: tensor<4xf32>):
    %j = arith.addi %i, %c1 : index
    %y = arith.addf %x, %x : tensor<4xf32>
    scf.yield %j, %y : index, tensor<4xf32>
  }
  triton_xla.insert %r into %b[0] [4] [1] : tensor<4xf32> into memref<4xf32>"""
    a = np.random.default_rng(0).integers(-9, 9, (5, 4)).astype(np.float64)
    memory = run(body, "%a: memref<5x4xf32>, %b: memref<4xf32>", a, np.zeros(4))
    np.testing.assert_array_equal(memory[1].data, 32 * (a[0] - a[1] + a[2] - a[3] + a[4]))


def test_dot_bound_covers_float32_in_any_order() -> None:
    body = """
  %x = triton_xla.extract %a[0, 0] [16, 256] [1, 1] : memref<16x256xf16> to tensor<16x256xf16>
  %y = triton_xla.extract %b[0, 0] [256, 16] [1, 1] : memref<256x16xf16> to tensor<256x16xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = triton_xla.dot %x, %y, %z : tensor<16x256xf16>, tensor<256x16xf16> -> tensor<16x16xf32>
  triton_xla.insert %r into %c[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>"""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((16, 256)).astype(np.float16)
    b = rng.standard_normal((256, 16)).astype(np.float16)
    arguments = "%a: memref<16x256xf16>, %b: memref<256x16xf16>, %c: memref<16x16xf32>"
    value = run(body, arguments, a, b, np.zeros((16, 16)))[2]
    np.testing.assert_allclose(value.data, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-14)
    assert value.error is not None
    for order in (np.arange(256), np.arange(255, -1, -1), rng.permutation(256)):
        total = np.zeros((16, 16), np.float32)
        for k in order:
            total += np.outer(a[:, k].astype(np.float32), b[k].astype(np.float32))
        assert np.all(np.abs(total - value.data) <= value.error)
    # The bound is useful: one missing multiplication of ordinary size is outside it.
    assert value.error.max() < 0.01


def test_unknown_operation_is_located() -> None:
    body = "  %0 = arith.constant 1.0 : f32\n  %1 = tensor.from_elements %n : tensor<1xi32>"
    with pytest.raises(reference.InterpreterError) as caught:
        run(body, "%n: i32", 3)
    assert "'tensor.from_elements' is not supported in a tile-level kernel" in str(caught.value)
    assert caught.value.location is not None and caught.value.location.line == 3


def test_zero_step_is_an_error_and_not_a_hang() -> None:
    body = "  %c0 = arith.constant 0 : index\n  scf.for %i = %c0 to %n step %c0 {\n  }"
    with pytest.raises(reference.InterpreterError, match="step is 0"):
        run(body, "%n: index", 3)


@pytest.mark.parametrize("kind", ["", "unsigned "])
def test_an_induction_variable_that_overflows_is_an_error(kind: str) -> None:
    body = f"  scf.for {kind}%i = %a to %b step %s : i32 {{\n  }}"
    last = 2**32 - 1 if kind else 2**31 - 1
    wrapped = [int(np.array(n, np.uint32).view(np.int32)) for n in (last - 7, last, last - 3)]
    run(body, "%a: i32, %b: i32, %s: i32", wrapped[0], wrapped[2], 4)
    with pytest.raises(reference.InterpreterError, match=f"to {last} with step 4 overflows before the loop exits"):
        run(body, "%a: i32, %b: i32, %s: i32", wrapped[0], wrapped[1], 4)


@pytest.mark.parametrize("ty", ["index", "i64", "i32", "i16", "i8", "i4", "i12", "i48"])
@pytest.mark.parametrize("numbers", [[1, -2, 3, -8], [-2] * 4])
def test_constants_of_negative_integers(ty: str, numbers: list[int]) -> None:
    convert = "index_cast" if ty == "index" else "extsi"
    body = f"""
  %c = arith.constant dense<{numbers}> : tensor<4x{ty}>
  %w = arith.{convert} %c : tensor<4x{ty}> to tensor<4xi64>
  triton_xla.insert %w into %o[0] [4] [1] : tensor<4xi64> into memref<4xi64>"""
    if ty == "i64":
        body = body.replace("%w = arith.extsi %c : tensor<4xi64> to", "%w = arith.addi %c, %c :")
        numbers = [2 * n for n in numbers]
    (out,) = run(body, "%o: memref<4xi64>", np.zeros(4, np.int64))
    assert out.data.tolist() == numbers


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%t = tensor.empty(%n) : tensor<?xf32>", "'tensor.empty' is not supported in a tile-level kernel"),
        ("%s = arith.shli %n, %n : index", None),
        ("%d = arith.divsi %n, %c0 : index\n  %e = arith.remui %n, %c0 : index", None),
    ],
)
def test_a_value_that_an_operation_cannot_take_is_an_error_with_a_location(body: str, message: str | None) -> None:
    text = f"  %c0 = arith.constant 0 : index\n  {body}"
    if message is None:
        run(text, "%n: index", -3)
        return
    with pytest.raises(reference.InterpreterError, match=message) as caught:
        run(text, "%n: index", -3)
    assert caught.value.location is not None and caught.value.location.line == 3


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(reference.InterpreterError, match="the entry function takes 2 arguments; the call passes 1"):
        run("", "%a: memref<2xf32>, %b: memref<2xf32>", np.zeros(2))
