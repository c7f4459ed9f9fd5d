# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops on whole tiles on the CPU, against numpy in float64: shapes, reductions, scans, sorts, indexed access."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from test_cpu_numerics import Guarded, random, same

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}


def shaped(kind: str, shape: Sequence[int], element: str) -> str:
    return f"{kind}<{''.join(f'{size}x' for size in shape)}{element}>"


def tensor(shape: Sequence[int], element: str) -> str:
    return shaped("tensor", shape, element)


class Tiles:
    """A kernel that reads whole arrays as tiles %x0, %x1, ..., runs `body`, and writes the tiles `outputs`."""

    def __init__(
        self,
        inputs: Sequence[tuple[Sequence[int], str]],
        body: str,
        outputs: Sequence[tuple[str, Sequence[int], str]],
        scalars: str = "",
    ) -> None:
        self._outputs = [(tuple(shape), element) for _, shape, element in outputs]
        arguments, reads, writes = [], [], []
        for number, (shape, element) in enumerate(inputs):
            memref, window = shaped("memref", shape, element), self._window(shape)
            arguments.append(f"%a{number}: {memref}")
            reads.append(f"%x{number} = triton_xla.extract %a{number}{window} : {memref} to {tensor(shape, element)}")
        for number, (name, shape, element) in enumerate(outputs):
            memref, window = shaped("memref", shape, element), self._window(shape)
            arguments.append(f"%o{number}: {memref}")
            writes.append(f"triton_xla.insert {name} into %o{number}{window} : {tensor(shape, element)} into {memref}")
        arguments += [scalars] if scalars else []
        lines = "\n".join([*reads, body, *writes])
        self.text = f"""
triton_xla.entry_func @tiles({", ".join(arguments)}, %tile: index) tiles 1 {{
{lines}
triton_xla.return
}}
"""
        self._kernel = smalti.compile(self.text, target="cpu")

    @staticmethod
    def _window(shape: Sequence[int]) -> str:
        return f"{[0] * len(shape)} {list(shape)} {[1] * len(shape)}"

    def __call__(self, *inputs: Any, scalars: Sequence[Any] = ()) -> list[np.ndarray]:
        outputs = [
            Guarded(shape, DTYPES[element], np.nan if "f" in element else 77) for shape, element in self._outputs
        ]
        self._kernel(*(np.array(x, order="C") for x in inputs), *(output.array for output in outputs), *scalars)
        for output in outputs:
            output.check_guards()
        return [output.array for output in outputs]


# ---------------------------------------------------------------------------------------------------------------------
# Shapes
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "dims", "target"),
    [
        ((5,), [0], (5, 7)),
        ((7,), [1], (5, 7)),
        ((5, 1), [0, 1], (5, 19)),
        ((1, 7), [0, 1], (5, 7)),
        ((3, 5), [0, 2], (3, 4, 5)),
        ((1, 1), [1, 2], (2, 3, 4)),
        ((), [], (3, 9)),
        ((), [], ()),
        ((1,), [0], (1,)),
    ],
)
@pytest.mark.parametrize("element", ["f32", "i1", "f8E4M3FN"])
def test_broadcast(shape: tuple[int, ...], dims: list[int], target: tuple[int, ...], element: str) -> None:
    kernel = Tiles(
        [(shape, element)],
        f"%r = triton_xla.broadcast %x0 dims {dims} : {tensor(shape, element)} -> {tensor(target, element)}",
        [("%r", target, element)],
    )
    x = (random(shape, np.float32) > 0).astype(bool) if element == "i1" else random(shape, DTYPES[element])
    expanded = x.reshape([shape[dims.index(d)] if d in dims else 1 for d in range(len(target))])
    same(kernel(x)[0], np.broadcast_to(expanded, target))


def test_a_computed_row_is_broadcast_and_used_with_the_tile() -> None:
    kernel = Tiles(
        [((6, 20), "f32"), ((6,), "f32")],
        """
%e = math.exp %x1 : tensor<6xf32>
%b = triton_xla.broadcast %e dims [0] : tensor<6xf32> -> tensor<6x20xf32>
%r = arith.mulf %x0, %b : tensor<6x20xf32>
%n = triton_xla.iota dim 1 : tensor<6x20xf32>
%s = arith.addf %n, %b : tensor<6x20xf32>
""",
        [("%r", (6, 20), "f32"), ("%s", (6, 20), "f32")],
    )
    x, y = random((6, 20), np.float32, 1), random((6,), np.float32, 2)
    r, s = kernel(x, y)
    np.testing.assert_allclose(r, x * np.exp(y.astype(np.float64))[:, None], rtol=1e-6)
    np.testing.assert_allclose(s, np.arange(20) + np.exp(y.astype(np.float64))[:, None], rtol=1e-6)


@pytest.mark.parametrize("permutation", [list(p) for p in itertools.permutations(range(3))])
def test_transpose(permutation: list[int]) -> None:
    shape = (3, 10, 17)
    target = [shape[p] for p in permutation]
    kernel = Tiles(
        [(shape, "f16")],
        f"""
%t = triton_xla.transpose %x0 {permutation} : {tensor(shape, "f16")} -> {tensor(target, "f16")}
%r = arith.negf %t : {tensor(target, "f16")}
""",
        [("%r", target, "f16"), ("%t", target, "f16")],
    )
    x = random(shape, np.float16)
    r, t = kernel(x)
    same(r, -x.transpose(permutation))
    same(t, x.transpose(permutation))


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((6, 4), (24,)),
        ((24,), (2, 3, 4)),
        ((6, 4), (3, 8)),
        ((1, 1), ()),
        ((), (1, 1, 1)),
        ((5,), (5,)),
        ((2, 1, 3), (3, 2)),
        ((1,), ()),
    ],
)
def test_reshape(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    kernel = Tiles(
        [(shape, "i32")],
        f"""
%n = arith.addi %x0, %x0 : {tensor(shape, "i32")}
%r = triton_xla.reshape %n : {tensor(shape, "i32")} -> {tensor(target, "i32")}
%s = arith.addi %r, %r : {tensor(target, "i32")}
""",
        [("%r", target, "i32"), ("%s", target, "i32")],
    )
    x = np.random.default_rng(1).integers(-1000, 1000, shape).astype(np.int32)
    r, s = kernel(x)
    np.testing.assert_array_equal(r, 2 * x.reshape(target))
    np.testing.assert_array_equal(s, 4 * x.reshape(target))


def test_squeeze_slice_split_concat() -> None:
    kernel = Tiles(
        [((8, 1, 12), "f32")],
        """
%q = triton_xla.squeeze_dims %x0 [1] : tensor<8x1x12xf32> -> tensor<8x12xf32>
%s = triton_xla.slice %q [1, 2] [3, 5] [2, 2] : tensor<8x12xf32> -> tensor<3x5xf32>
%p0, %p1, %p2 = triton_xla.split %q dim 1 : tensor<8x12xf32> -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
%m = arith.mulf %p0, %p2 : tensor<8x4xf32>
%n = arith.negf %s : tensor<3x5xf32>
%c = triton_xla.concat %p1, %m, %p0 dim 0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<24x4xf32>
%d = triton_xla.concat %s, %n, %s dim 1 : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x15xf32>
""",
        [("%c", (24, 4), "f32"), ("%d", (3, 15), "f32"), ("%n", (3, 5), "f32"), ("%q", (8, 12), "f32")],
    )
    x = random((8, 1, 12), np.float32)
    c, d, n, q = kernel(x)
    whole = x[:, 0]
    part = whole[1:7:2, 2:12:2]
    same(q, whole)
    same(n, -part)
    same(d, np.concatenate([part, -part, part], 1))
    same(c, np.concatenate([whole[:, 4:8], whole[:, :4] * whole[:, 8:], whole[:, :4]]))


@pytest.mark.parametrize("element", ["i8", "i32", "i64", "index", "f16", "bf16", "f32", "f64"])
def test_iota(element: str) -> None:
    shape = (3, 300) if element not in ("i8", "bf16") else (3, 256)
    kernel = Tiles(
        [],
        f"""
%r = triton_xla.iota dim 1 : {tensor(shape, element)}
%s = triton_xla.iota dim 0 : {tensor(shape, element)}
""",
        [("%r", shape, element), ("%s", shape, element)],
    )
    r, s = kernel()
    np.testing.assert_array_equal(r, np.broadcast_to(np.arange(shape[1]).astype(DTYPES[element]), shape))
    np.testing.assert_array_equal(s, np.broadcast_to(np.arange(3).astype(DTYPES[element])[:, None], shape))


# ---------------------------------------------------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------------------------------------------------


def combiner(op: str, element: str) -> str:
    return f"""{{
^bb0(%l: {element}, %r: {element}):
  %c = {op} %l, %r : {element}
  triton_xla.yield %c : {element}
}}"""


def reduction(
    shape: Sequence[int], dims: list[int], element: str, op: str, init: str, what: str = "reduce", more: str = ""
) -> Tiles:
    kept = shape if what == "scan" else [size for dim, size in enumerate(shape) if dim not in dims]
    along = f"dims {dims}" if what == "reduce" else f"dim {dims[0]}"
    types = f"({tensor(shape, element)}, {element}) -> {tensor(kept, element)}"
    return Tiles(
        [(shape, element)],
        f"""%init = arith.constant {init} : {element}
%z = triton_xla.{what} %x0 {along} init %init {more} : {types} {combiner(op, element)}""",
        [("%z", kept, element)],
    )


SHAPES_AND_DIMS = [
    ((1,), [0]),
    ((5,), [0]),
    ((64,), [0]),
    ((1000,), [0]),
    ((7, 45), [1]),
    ((7, 45), [0]),
    ((7, 45), [0, 1]),
    ((7, 45), []),
    ((64, 1), [0]),
    ((64, 1), [1]),
    ((1, 33), [0]),
    ((3, 9, 35), [0, 2]),
    ((3, 9, 35), [1]),
    ((4, 3, 5, 6), [0, 2]),
    ((4, 3, 5, 6), [1, 3]),
    ((2, 70), [0]),
    ((), []),
]


@pytest.mark.parametrize(("shape", "dims"), SHAPES_AND_DIMS)
@pytest.mark.parametrize("element", ["i32", "f32", "i8", "f64"])
def test_sum_with_an_initial_value(shape: tuple[int, ...], dims: list[int], element: str) -> None:
    is_float = element.startswith("f")
    kernel = reduction(
        shape, dims, element, "arith.addf" if is_float else "arith.addi", "1000.5" if is_float else "100"
    )
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape) if is_float else rng.integers(-128, 128, shape)
    x = np.asarray(x).astype(DTYPES[element])
    (got,) = kernel(x)
    if is_float:
        expected = x.astype(np.float64).sum(tuple(dims)) + 1000.5
        np.testing.assert_allclose(got, expected, rtol=1e-6 if element == "f32" else 1e-14)
    else:
        expected = x.astype(np.int64).sum(tuple(dims)) + 100
        np.testing.assert_array_equal(got, np.asarray(expected).astype(DTYPES[element]))


@pytest.mark.parametrize(("shape", "dims"), [((100,), [0]), ((5, 40), [0]), ((5, 40), [1])])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_maximum_of_special_values(shape: tuple[int, ...], dims: list[int], element: str) -> None:
    kernel = reduction(shape, dims, element, "arith.maximumf", "-3.0")
    x = np.minimum(random(shape, np.float32), 2).astype(DTYPES[element]).reshape(-1)
    lines = x.reshape(shape)
    for position, value in [(3, np.inf), (27, np.nan), (11, -np.inf), (5, -0.0)]:
        x[position] = value
    with np.errstate(invalid="ignore"):
        expected = np.maximum(lines.astype(np.float64).max(tuple(dims)), -3.0)
    same(kernel(lines)[0], expected.astype(DTYPES[element]))


def test_maximum_of_zeros_and_the_initial_value_alone() -> None:
    kernel = reduction((2, 20), [1], "f32", "arith.maximumf", "-0.0")
    x = np.full((2, 20), -0.0, np.float32)
    x[1, 13] = 0.0
    same(kernel(x)[0], np.array([-0.0, 0.0], np.float32))
    x = np.full((2, 20), -5, np.float32)
    same(kernel(x)[0], np.array([-0.0, -0.0], np.float32))


@pytest.mark.parametrize("op", ["andi", "ori", "xori"])
def test_booleans_are_reduced(op: str) -> None:
    kernel = Tiles(
        [((9, 33), "i1")],
        f"""%init = arith.constant {str(op != "ori").lower()}
%z = triton_xla.reduce %x0 dims [1] init %init : (tensor<9x33xi1>, i1) -> tensor<9xi1> {combiner(f"arith.{op}", "i1")}""",
        [("%z", (9,), "i1")],
    )
    x = np.random.default_rng(5).integers(0, 2, (9, 33)).astype(bool)
    x[2], x[3] = True, False
    expected = {
        "andi": x.all(1),
        "ori": x.any(1),
        "xori": np.logical_xor.reduce(x, 1) ^ True,
    }[op]
    np.testing.assert_array_equal(kernel(x)[0], expected)


ARGMAX = """{
^bb0(%lv: f32, %li: INDEX, %rv: f32, %ri: INDEX):
  %greater = arith.cmpf ogt, %lv, %rv : f32
  %equal = arith.cmpf oeq, %lv, %rv : f32
  %before = arith.cmpi slt, %li, %ri : INDEX
  %first = arith.andi %equal, %before : i1
  %left = arith.ori %greater, %first : i1
  %value = arith.select %left, %lv, %rv : f32
  %index = arith.select %left, %li, %ri : INDEX
  triton_xla.yield %value, %index : f32, INDEX
}"""


@pytest.mark.parametrize("element", ["i32", "index", "i8"])
@pytest.mark.parametrize(("shape", "dim"), [((5, 100), 1), ((100, 5), 0), ((100, 40), 0), ((4, 1), 1), ((3, 3, 6), 1)])
def test_argmax_with_ties(shape: tuple[int, ...], dim: int, element: str) -> None:
    kept = [size for d, size in enumerate(shape) if d != dim]
    types = f"({tensor(shape, 'f32')}, {tensor(shape, element)}, f32, {element})"
    kernel = Tiles(
        [(shape, "f32")],
        f"""
%ninf = arith.constant 0xFF800000 : f32
%last = arith.constant {shape[dim]} : {element}
%n = triton_xla.iota dim {dim} : {tensor(shape, element)}
%v, %i = triton_xla.reduce %x0, %n dims [{dim}] init %ninf, %last
    : {types} -> ({tensor(kept, "f32")}, {tensor(kept, element)}) {ARGMAX.replace("INDEX", element)}
""",
        [("%v", kept, "f32"), ("%i", kept, element)],
    )
    x = np.random.default_rng(7).integers(0, 5, shape).astype(np.float32)
    value, index = kernel(x)
    np.testing.assert_array_equal(value, x.max(dim))
    np.testing.assert_array_equal(index, x.argmax(dim))
    # The initial value is larger than all elements.
    low = np.full(shape, -np.inf, np.float32)
    np.testing.assert_array_equal(kernel(low)[1], np.zeros(kept))


def test_region_that_uses_scalars_from_outside_and_control_flow() -> None:
    kernel = Tiles(
        [((6, 50), "i32")],
        """%zero = arith.constant 0 : i32
%z = triton_xla.reduce %x0 dims [1] init %zero : (tensor<6x50xi32>, i32) -> tensor<6xi32> {
^bb0(%l: i32, %r: i32):
  %s = arith.addi %l, %r : i32
  %m = arith.remui %s, %modulus : i32
  triton_xla.yield %m : i32
}
%y = triton_xla.reduce %x0 dims [1] init %zero : (tensor<6x50xi32>, i32) -> tensor<6xi32> {
^bb0(%l: i32, %r: i32):
  %c = arith.cmpi ult, %l, %r : i32
  %m = scf.if %c -> (i32) {
    scf.yield %r : i32
  } else {
    scf.yield %l : i32
  }
  triton_xla.yield %m : i32
}""",
        [("%z", (6,), "i32"), ("%y", (6,), "i32")],
        "%modulus: i32",
    )
    x = np.random.default_rng(8).integers(0, 1000, (6, 50)).astype(np.int32)
    z, y = kernel(x, scalars=(97,))
    np.testing.assert_array_equal(z, x.sum(1) % 97)
    np.testing.assert_array_equal(y, x.max(1))


def test_sum_of_a_masked_ragged_window() -> None:
    """Elements outside of the memref are `fill`, and mask replaces them before the reduction."""
    kernel = smalti.compile(
        """
triton_xla.entry_func @ragged(%a: memref<?xf32>, %o: memref<1xf32>, %n: index, %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [64] [1] fill 7.0 : f32 : memref<?xf32> to tensor<64xf32>
  %one = arith.constant 1.0 : f32
  %m = triton_xla.mask %t [%n], %one : tensor<64xf32>
  %p = triton_xla.reduce %m dims [0] init %one : (tensor<64xf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.mulf %l, %r : f32
    triton_xla.yield %c : f32
  }
  %q = triton_xla.reshape %p : tensor<f32> -> tensor<1xf32>
  triton_xla.insert %q into %o[0] [1] [1] : tensor<1xf32> into memref<1xf32>
  triton_xla.return
}
""",
        target="cpu",
    )
    for count in (1, 2, 37, 63, 64, 100):
        a = np.random.default_rng(count).uniform(0.9, 1.1, count).astype(np.float32)
        out = np.full(1, np.nan, np.float32)
        kernel(a, out, count)
        np.testing.assert_allclose(out[0], np.prod(a[:64].astype(np.float64)), rtol=1e-5)


SOFTMAX = """
triton_xla.entry_func @softmax(%a: memref<ROWSxSIZExf32>, %o: memref<ROWSxSIZExf32>, %tile: index) tiles ROWS {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %x = triton_xla.extract %a[%tile, 0] [1, SIZE] [1, 1] : memref<ROWSxSIZExf32> to tensor<SIZExf32>
  %m = triton_xla.reduce %x dims [0] init %ninf : (tensor<SIZExf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.maximumf %l, %r : f32
    triton_xla.yield %c : f32
  }
  %mb = triton_xla.broadcast %m dims [] : tensor<f32> -> tensor<SIZExf32>
  %d = arith.subf %x, %mb : tensor<SIZExf32>
  %e = math.exp %d : tensor<SIZExf32>
  %s = triton_xla.reduce %e dims [0] init %zero : (tensor<SIZExf32>, f32) -> tensor<f32> {
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    triton_xla.yield %c : f32
  }
  %sb = triton_xla.broadcast %s dims [] : tensor<f32> -> tensor<SIZExf32>
  %q = arith.divf %e, %sb : tensor<SIZExf32>
  triton_xla.insert %q into %o[%tile, 0] [1, SIZE] [1, 1] : tensor<SIZExf32> into memref<ROWSxSIZExf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("size", [1, 33, 4096])
def test_softmax(size: int) -> None:
    kernel = smalti.compile(SOFTMAX.replace("ROWS", "5").replace("SIZE", str(size)), target="cpu")
    x, out = random((5, size), np.float32) * 10, np.full((5, size), np.nan, np.float32)
    kernel(x, out)
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, wide / wide.sum(1, keepdims=True), rtol=1e-5, atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Scans, sorts, histograms
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(("shape", "dim"), [((1,), 0), ((40,), 0), ((6, 35), 1), ((6, 35), 0), ((3, 4, 5), 1)])
def test_sums_of_prefixes(shape: tuple[int, ...], dim: int, exclusive: bool, reverse: bool) -> None:
    more = "exclusive " * exclusive + "reverse" * reverse
    kernel = reduction(shape, [dim], "i32", "arith.addi", "100", "scan", more)
    x = np.random.default_rng(9).integers(-50, 50, shape).astype(np.int32)
    line = np.flip(x, dim) if reverse else x
    expected = line.cumsum(dim) + 100 - (line if exclusive else 0)
    np.testing.assert_array_equal(kernel(x)[0], np.flip(expected, dim) if reverse else expected)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_scan_of_a_recurrence(exclusive: bool, reverse: bool) -> None:
    """Compositions of affine maps, which do not commute: two operands."""
    shape, dim = (4, 21), 1
    types = "(tensor<4x21xi32>, tensor<4x21xi32>, i32, i32) -> (tensor<4x21xi32>, tensor<4x21xi32>)"
    kernel = Tiles(
        [(shape, "i32"), (shape, "i32")],
        f"""%ia = arith.constant 3 : i32
%ib = arith.constant 5 : i32
%a, %b = triton_xla.scan %x0, %x1 dim {dim} init %ia, %ib {"exclusive" * exclusive} {"reverse" * reverse} : {types} {{
^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
  %a = arith.muli %la, %ra : i32
  %p = arith.muli %lb, %ra : i32
  %b = arith.addi %p, %rb : i32
  triton_xla.yield %a, %b : i32, i32
}}""",
        [("%a", shape, "i32"), ("%b", shape, "i32")],
    )
    rng = np.random.default_rng(10)
    x, y = (rng.integers(-3, 4, shape).astype(np.int32) for _ in range(2))
    a, b = kernel(x, y)
    for row in range(shape[0]):
        state = [3, 5]
        order = range(shape[1])
        for at in reversed(order) if reverse else order:
            before = list(state)
            state = [state[0] * int(x[row, at]), state[1] * int(x[row, at]) + int(y[row, at])]
            wanted = before if exclusive else state
            assert [int(a[row, at]), int(b[row, at])] == [(w + 2**31) % 2**32 - 2**31 for w in wanted]


@pytest.mark.parametrize(
    ("shape", "dim"), [((1,), 0), ((2,), 0), ((100,), 0), ((7, 33), 1), ((33, 7), 0), ((2, 9, 3), 1)]
)
def test_sort_is_stable(shape: tuple[int, ...], dim: int) -> None:
    types = f"{tensor(shape, 'f32')}, {tensor(shape, 'i32')}"
    kernel = Tiles(
        [(shape, "f32")],
        f"""%n = triton_xla.iota dim {dim} : {tensor(shape, "i32")}
%k, %v = triton_xla.sort %x0, %n dim {dim} : ({types}) -> ({types}) {{
^bb0(%k0: f32, %k1: f32, %v0: i32, %v1: i32):
  %c = arith.cmpf ogt, %k0, %k1 : f32
  triton_xla.yield %c : i1
}}""",
        [("%k", shape, "f32"), ("%v", shape, "i32")],
    )
    x = np.random.default_rng(11).integers(0, 6, shape).astype(np.float32)
    keys, values = kernel(x)
    order = np.argsort(-x, dim, kind="stable")
    np.testing.assert_array_equal(values, order)
    np.testing.assert_array_equal(keys, np.take_along_axis(x, order, dim))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("element", "bins", "count"), [("i32", 10, "i32"), ("i8", 200, "i64"), ("index", 1, "i32"), ("i64", 5, "i32")]
)
def test_histogram(element: str, bins: int, count: str, masked: bool) -> None:
    shape = (5, 67)
    mask = "mask %x1" * masked
    kernel = Tiles(
        [(shape, element), (shape, "i1")],
        f"%h = triton_xla.histogram %x0 bins {bins} {mask} : {tensor(shape, element)} -> {tensor((bins,), count)}",
        [("%h", (bins,), count)],
    )
    rng = np.random.default_rng(12)
    x = rng.integers(-20, 120 if element == "i8" else 15, shape).astype(DTYPES[element])
    keep = rng.integers(0, 2, shape).astype(bool)
    counted = x[keep] if masked else x.reshape(-1)
    counted = counted[(counted >= 0) & (counted < bins)]
    np.testing.assert_array_equal(kernel(x, keep)[0], np.bincount(counted, minlength=bins))
