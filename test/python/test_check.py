# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti run --check`: detection and location of wrong results."""

from __future__ import annotations

import re

import numpy as np
import pytest
import smalti
from conftest import SCALE
from smalti import check, dtypes, reference
from smalti.compiler import entry
from test_launch_cpu import SCALE_CPU, kernel_of


def checked(lowered: str) -> check.CheckResult:
    return check.check(kernel_of(SCALE, lowered), smalti.parse(SCALE), seed=3)


def test_right_kernel_passes() -> None:
    result = checked(SCALE_CPU)
    assert result.ok and result.require() is result
    assert result.max_error == 0.0
    (comparison,) = result.comparisons
    assert comparison.argument.index == 1 and comparison.total == 6000


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.0] * 4, "0"),
        ([np.nan] * 4, "nan"),
        ([np.nan], "nan"),
        ([2.5, 2.5], "2.5"),
        ([2.5], None),
        ([0.0, 1.0], None),
        ([0.0, np.nan], None),
        ([], None),
    ],
)
def test_constant_results_are_a_warning(values: list[float], shown: str | None) -> None:
    argument = kernel_of(SCALE, SCALE_CPU).entry.arguments[1]
    data = np.array(values)
    comparison = check.compare(argument, data.astype(np.float32), reference.Value(data))
    warnings = check.CheckResult((comparison,), ()).warnings
    expected = (
        f"argument 1 (%dst: memref<100x60xf32>): all {len(values)} elements of the reference are {shown}, so that"
    )
    assert [warning.split(" the check")[0] for warning in warnings] == ([] if shown is None else [expected])


def test_slightly_wrong_scale_is_found() -> None:
    result = checked(SCALE_CPU.replace("2.0", "2.000001"))
    assert not result.ok and result.comparisons[0].wrong == 6000
    assert re.match(r"wrong: argument 1 .*: 6000 of 6000 elements are wrong; the first is \[0, 0\]", str(result))
    with pytest.raises(smalti.CheckError, match=r"6000 of 6000 elements are wrong; the first is \[0, 0\]: .* \+- "):
        result.require()


def test_the_text_has_the_error_and_its_tolerance() -> None:
    argument = kernel_of(SCALE, SCALE_CPU).entry.arguments[1]
    data, error = np.array([1.0, 2.0, 3.0]), np.array([0.25, 1.0, np.inf])

    def text(actual: list[float], error: np.ndarray | None = error) -> str:
        compared = check.compare(argument, np.array(actual, np.float32), reference.Value(data, error))
        return str(check.CheckResult((compared,), ()))

    assert text([1.0, 2.0, 3.0], None) == "ok, max abs error 0 (tolerance 0)"
    # The last element may have any value.
    assert text([1.25, 2.5, 99.0]) == "ok, max abs error 0.5 (tolerance 2), 1 of 3 elements unchecked"
    assert text([1.25, 2.0, 3.0]) == "ok, max abs error 0.25 (tolerance 0.5), 1 of 3 elements unchecked"
    assert text([2.0, 2.0, 3.0]).startswith("wrong: argument 1 (%dst: memref<100x60xf32>): 1 of 3 elements are wrong")
    # A copy must be exact.
    assert text([1.0, 2.0, np.nextafter(np.float32(3), np.float32(4))], None).startswith("wrong: ")


def test_unwritten_rows_are_found() -> None:
    result = checked(SCALE_CPU.replace("%c100 = arith.constant 100", "%c100 = arith.constant 99"))
    assert result.comparisons[0].wrong == 60 and result.comparisons[0].first_wrong == (99, 0)
    with pytest.raises(smalti.CheckError, match="nan"):
        result.require()


def test_writes_to_read_only_arguments_are_found() -> None:
    damage = SCALE_CPU.replace(
        "memref.store %y, %dst", "memref.store %y, %src[%i, %j] : memref<100x60xf32>\n memref.store %y, %dst"
    )
    result = checked(damage)
    assert [argument.index for argument in result.unwritten_changed] == [0]
    with pytest.raises(
        smalti.CheckError, match=r"argument 0 .*: the kernel only reads this argument, but its contents changed"
    ):
        result.require()


def test_same_seed_same_inputs() -> None:
    what = kernel_of(SCALE, SCALE_CPU).entry
    first, second, other = (check.random_arguments(what, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.array_equal(first[0], other[0])
    # Memory that is written and never read starts as poison.
    assert np.isnan(first[1]).all()


def test_shapes_and_scalars_are_asked_for() -> None:
    module = smalti.parse(
        "triton_xla.entry_func @f(%a: memref<?x4xbf16, strided<[?, 1]>>, %n: index, %x: f16, %tile: index) tiles 1 {\n"
        "  triton_xla.return\n}\n"
    )
    what = entry.describe(entry.find_entry(module))
    with pytest.raises(smalti.LaunchError, match="set its shape, such as --arg 0=64x4"):
        check.random_arguments(what)
    with pytest.raises(smalti.LaunchError, match="set it with --arg 1=VALUE"):
        check.random_arguments(what, given={0: "3x4"})
    with pytest.raises(smalti.LaunchError, match="the shape 3x5 does not match the type"):
        check.random_arguments(what, given={0: "3x5", 1: "2"})
    with pytest.raises(smalti.LaunchError, match="'many' is not an integer"):
        check.random_arguments(what, given={0: "3x4", 1: "many"})
    with pytest.raises(smalti.LaunchError, match="argument 7 does not exist"):
        check.random_arguments(what, given={7: "1"})
    array, n, x = check.random_arguments(what, given={0: "3x4", 1: "0x10"})
    assert array.shape == (3, 4) and array.dtype.name == "bfloat16" and n == 16
    assert x == float(np.float16(x))


def test_padded_strides_of_the_type_are_honored() -> None:
    module = smalti.parse(
        "triton_xla.entry_func @f(%a: memref<3x4xf32, strided<[10, 2]>>, %tile: index) tiles 1 {\n  triton_xla.return\n}\n"
    )
    (array,) = check.random_arguments(entry.describe(entry.find_entry(module)))
    assert array.strides == (40, 8) and np.isfinite(array).all()


@pytest.mark.parametrize(
    ("layout", "facts", "shape", "expected"),
    [
        ("[1, ?]", "", "16x32", (4, 64)),
        ("[1, ?]", "1, 24", "16x32", (4, 96)),
        ("[?, 1]", "16, 1", "3x5", (64, 4)),
        ("[?, ?]", "", "3x5", (20, 4)),
        ("[64, ?]", "", "3x5", (256, 4)),
        ("[4, ?]", "", "3x5", (16, 48)),
        ("[1, ?]", "1, 16", "0x5", (4, 64)),
    ],
)
def test_elements_of_random_arrays_do_not_overlap(layout, facts, shape, expected) -> None:
    facts = f"{{triton_xla.stride_divisors = array<i64: {facts}>}}" if facts else ""
    module = smalti.parse(
        f"triton_xla.entry_func @f(%a: memref<?x?xf32, strided<{layout}>> {facts}, %tile: index) tiles 1 {{\n"
        "  triton_xla.return\n}\n"
    )
    (array,) = check.random_arguments(entry.describe(entry.find_entry(module)), given={0: shape})
    assert array.strides == expected
    assert len(np.unique(array)) == array.size


def test_integers_must_be_equal() -> None:
    argument = entry.Argument(0, "memref<2xi32>", dtypes.from_mlir("i32"), (2,), (1,), True, True)
    assert argument.dtype.mlir == "i32"
    assert check.compare(argument, np.array([1, 2], np.int32), reference.Value(np.array([1, 2]))).wrong == 0
    assert check.compare(argument, np.array([1, 2], np.int32), reference.Value(np.array([1, 3]))).wrong == 1


def test_nan_and_infinity_must_be_where_they_are_expected() -> None:
    argument = entry.Argument(0, "memref<3xf32>", dtypes.ELEMENT_TYPES[1], (3,), (1,), True, True)
    wanted = reference.Value(np.array([np.nan, np.inf, 1.0]), np.zeros(3))
    assert check.compare(argument, np.array([np.nan, np.inf, 1.0], np.float32), wanted).wrong == 0
    assert check.compare(argument, np.array([0.0, np.inf, np.nan], np.float32), wanted).wrong == 2
    assert check.compare(argument, np.array([np.nan, -np.inf, 1.0], np.float32), wanted).wrong == 1


def run_reduction(op: str, ty: str, body: str) -> reference.Value:
    size, window, call = {
        "reduce": ("", "[] [] []", "reduce %t dims [0]"),
        "scan": ("64x", "[0] [64] [1]", "scan %t dim 0"),
    }[op]
    module = smalti.parse(f"""
      triton_xla.entry_func @k(%x: memref<64x{ty}>, %y: memref<{size}{ty}>, %tile: index) tiles 1 {{
        %init = arith.constant {1 if ty[0] == "i" else 1.0} : {ty}
        %t = triton_xla.extract %x[0] [64] [1] : memref<64x{ty}> to tensor<64x{ty}>
        %r = triton_xla.{call} init %init : (tensor<64x{ty}>, {ty}) -> tensor<{size}{ty}> {{
        ^bb0(%a: {ty}, %b: {ty}):
          {body}
          triton_xla.yield %s : {ty}
        }}
        triton_xla.insert %r into %y{window} : tensor<{size}{ty}> into memref<{size}{ty}>
        triton_xla.return
      }}
    """)
    function = entry.find_entry(module)
    return reference.run(function, check.random_arguments(entry.describe(function), 0))[1]


@pytest.mark.parametrize(
    ("op", "ty", "body", "law"),
    [
        ("reduce", "f32", "%s = arith.subf %a, %b : f32", "commutative"),
        ("reduce", "f32", "%c = arith.mulf %b, %b : f32\n %s = arith.addf %a, %c : f32", "commutative"),
        ("reduce", "f16", "%c = arith.addf %a, %b : f16\n %s = math.absf %c : f16", "associative"),
        ("reduce", "i32", "%s = arith.subi %a, %b : i32", "commutative"),
        ("scan", "f32", "%s = arith.subf %a, %b : f32", "associative"),
    ],
)
def test_a_reduction_that_depends_on_the_order_is_an_error(op: str, ty: str, body: str, law: str) -> None:
    with pytest.raises(
        smalti.SmaltiError, match=rf"the region is not {law}: for x = .* the result depends on the order"
    ):
        run_reduction(op, ty, body)


@pytest.mark.parametrize(
    ("op", "ty", "body"),
    [
        ("reduce", "f32", "%s = arith.mulf %a, %b : f32"),
        ("reduce", "f16", "%c = arith.mulf %a, %b : f16\n %d = arith.addf %a, %b : f16\n %s = arith.addf %c, %d : f16"),
        ("reduce", "f32", "%p = arith.cmpf ogt, %a, %b : f32\n %s = arith.select %p, %a, %b : f32"),
        ("reduce", "i8", "%s = arith.muli %a, %b : i8"),
        ("scan", "i32", "%z0 = arith.constant 0 : i32\n %s = arith.addi %b, %z0 : i32"),
    ],
)
def test_a_reduction_in_any_order_is_accepted(op: str, ty: str, body: str) -> None:
    assert run_reduction(op, ty, body).data.size
