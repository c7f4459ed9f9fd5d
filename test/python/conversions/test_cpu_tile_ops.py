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


@pytest.mark.grid(12)
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


@pytest.mark.grid(6)
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


def softmax(rows: int, size: int) -> str:
    return f"""
triton_xla.entry_func @softmax(%a: memref<{rows}x{size}xf32>, %o: memref<{rows}x{size}xf32>, %tile: index) tiles {rows} {{
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %x = triton_xla.extract %a[%tile, 0] [1, {size}] [1, 1] : memref<{rows}x{size}xf32> to tensor<{size}xf32>
  %m = triton_xla.reduce %x dims [0] init %ninf : (tensor<{size}xf32>, f32) -> tensor<f32> {{
  ^bb0(%l: f32, %r: f32):
    %c = arith.maximumf %l, %r : f32
    triton_xla.yield %c : f32
  }}
  %mb = triton_xla.broadcast %m dims [] : tensor<f32> -> tensor<{size}xf32>
  %d = arith.subf %x, %mb : tensor<{size}xf32>
  %e = math.exp %d : tensor<{size}xf32>
  %s = triton_xla.reduce %e dims [0] init %zero : (tensor<{size}xf32>, f32) -> tensor<f32> {{
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    triton_xla.yield %c : f32
  }}
  %sb = triton_xla.broadcast %s dims [] : tensor<f32> -> tensor<{size}xf32>
  %q = arith.divf %e, %sb : tensor<{size}xf32>
  triton_xla.insert %q into %o[%tile, 0] [1, {size}] [1, 1] : tensor<{size}xf32> into memref<{rows}x{size}xf32>
  triton_xla.return
}}
"""


@pytest.mark.parametrize("size", [1, 33, 4096])
def test_softmax(size: int) -> None:
    kernel = smalti.compile(softmax(5, size), target="cpu")
    x, out = random((5, size), np.float32) * 10, np.full((5, size), np.nan, np.float32)
    kernel(x, out)
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, wide / wide.sum(1, keepdims=True), rtol=1e-5, atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Scans, sorts, histograms
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.grid(10)
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


# ---------------------------------------------------------------------------------------------------------------------
# Indexed access
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.grid(14)
@pytest.mark.parametrize("element", ["f32", "i8", "f8E4M3FN"])
@pytest.mark.parametrize("index", ["i8", "i32", "i64", "index"])
@pytest.mark.parametrize(
    ("shape", "dim", "count"), [((8, 16), 1, 32), ((8, 16), 0, 3), ((3, 5, 7), 1, 9), ((1,), 0, 4)]
)
def test_gather_tile(shape: tuple[int, ...], dim: int, count: int, index: str, element: str) -> None:
    target = [count if d == dim else size for d, size in enumerate(shape)]
    fill = "-2" if element == "i8" else "-2.0"
    kernel = Tiles(
        [(shape, element), (target, index)],
        f"""%r = triton_xla.gather_tile %x0[%x1] dim {dim} fill {fill} : {element}
    : {tensor(shape, element)}, {tensor(target, index)} -> {tensor(target, element)}""",
        [("%r", target, element)],
    )
    rng = np.random.default_rng(13)
    x = (rng.standard_normal(shape) * 20).astype(DTYPES[element])
    at = rng.integers(-3, shape[dim] + 3, target).astype(DTYPES[index])
    at.reshape(-1)[:2] = [np.iinfo(DTYPES[index]).min, np.iinfo(DTYPES[index]).max]
    inside = (at >= 0) & (at < shape[dim])
    expected = np.take_along_axis(x, np.where(inside, at, 0).astype(np.int64), dim)
    same(kernel(x, at)[0], np.where(inside, expected, np.float64(-2).astype(DTYPES[element])))


def test_gather_with_mask_scalar_index_and_extreme_indices() -> None:
    source = "memref<?x60xf32, strided<[60, 1]>>"
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @gather(%a: {source}, %n: memref<4x8xi32>, %m: memref<4x8xi1>, %o: memref<4x8xf32>,
                              %p: memref<4x8xf32>, %column: i64, %tile: index) tiles 1 {{
  %i = triton_xla.extract %n[0, 0] [4, 8] [1, 1] : memref<4x8xi32> to tensor<4x8xi32>
  %k = triton_xla.extract %m[0, 0] [4, 8] [1, 1] : memref<4x8xi1> to tensor<4x8xi1>
  %r = triton_xla.gather %a[%i, %column] mask %k fill 1.5 : f32 : {source}, tensor<4x8xi32>, i64 -> tensor<4x8xf32>
  triton_xla.insert %r into %o[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32>
  %c = arith.constant dense<2> : tensor<4x8xi64>
  %s = triton_xla.gather %a[%i, %c] : {source}, tensor<4x8xi32>, tensor<4x8xi64> -> tensor<4x8xf32>
  triton_xla.insert %s into %p[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into memref<4x8xf32>
  triton_xla.return
}}
""",
        target="cpu",
    )
    rng = np.random.default_rng(14)
    n, m = rng.integers(-2, 9, (4, 8)).astype(np.int32), rng.integers(0, 2, (4, 8)).astype(bool)
    n[0, :2] = [2**31 - 1, -(2**31)]
    for rows, column in [(7, 5), (7, -1), (7, 60), (7, 2**62), (0, 3)]:
        a = rng.standard_normal((rows, 60)).astype(np.float32)
        o, p = np.full((4, 8), np.nan, np.float32), np.full((4, 8), np.nan, np.float32)
        kernel(a, n, m, o, p, column)
        for i, j in np.ndindex(4, 8):
            inside = 0 <= n[i, j] < rows
            assert o[i, j] == (a[n[i, j], column] if inside and m[i, j] and 0 <= column < 60 else np.float32(1.5))
            assert p[i, j] == (a[n[i, j], 2] if inside else 0)


def test_scatter_stores_the_last_of_several_elements() -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @scatter(%x: memref<64xf32>, %n: memref<64xi64>, %m: memref<64xi1>, %a: memref<?x3xf32>,
                               %b: memref<10xi4>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %i = triton_xla.extract %n[0] [64] [1] : memref<64xi64> to tensor<64xi64>
  %k = triton_xla.extract %m[0] [64] [1] : memref<64xi1> to tensor<64xi1>
  %c1 = arith.constant 1 : index
  triton_xla.scatter %t into %a[%i, %c1] mask %k : tensor<64xf32> into memref<?x3xf32>, tensor<64xi64>, index
  %d = triton_xla.iota dim 0 : tensor<64xi8>
  %e = arith.trunci %d : tensor<64xi8> to tensor<64xi4>
  triton_xla.scatter %e into %b[%i] : tensor<64xi4> into memref<10xi4>, tensor<64xi64>
  triton_xla.return
}
""",
        target="cpu",
    )
    rng = np.random.default_rng(15)
    x, n = rng.standard_normal(64).astype(np.float32), rng.integers(-2, 12, 64)
    m = rng.integers(0, 2, 64).astype(bool)
    n[5], n[6] = 2**62, -(2**63)
    a, b = Guarded((9, 3), np.float32), np.zeros(5, np.int8)
    expected, nibbles = a.array.copy(), np.zeros(10, np.uint8)
    for position in range(64):
        if m[position] and 0 <= n[position] < 9:
            expected[n[position], 1] = x[position]
        if 0 <= n[position] < 10:
            nibbles[n[position]] = position % 16
    kernel(x, n, m, a.array, b)
    same(a.array, expected)
    a.check_guards()
    np.testing.assert_array_equal(b.view(np.uint8), nibbles[::2] | nibbles[1::2] << 4)


KINDS: dict[str, Any] = {
    "addf": lambda x, y: x + y,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "addi": lambda x, y: x + y,
    "maxs": np.maximum,
    "mins": np.minimum,
    "maxu": None,
    "minu": None,
    "andi": lambda x, y: x & y,
    "ori": lambda x, y: x | y,
    "xori": lambda x, y: x ^ y,
    "assign": lambda x, y: y,
}


@pytest.mark.grid(15)
@pytest.mark.parametrize(
    "ordering", ["", "scope sys ordering acq_rel", "scope cta ordering acquire", "ordering release"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_atomic_updates_in_order_and_their_old_values(kind: str, ordering: str) -> None:
    floats = kind.endswith("f")
    for element in ("f16", "bf16", "f32", "f64") if floats else ("i8", "i16", "i32", "i64", "index"):
        if ordering and element not in ("f32", "i64"):
            continue
        dtype = DTYPES[element]
        kernel = smalti.compile(
            f"""
triton_xla.entry_func @update(%x: memref<40x{element}>, %n: memref<40xi32>, %m: memref<40xi1>, %a: memref<?x{element}>,
                              %o: memref<40x{element}>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %x[0] [40] [1] : memref<40x{element}> to tensor<40x{element}>
  %i = triton_xla.extract %n[0] [40] [1] : memref<40xi32> to tensor<40xi32>
  %k = triton_xla.extract %m[0] [40] [1] : memref<40xi1> to tensor<40xi1>
  %old = triton_xla.atomic_rmw {kind} %t into %a[%i] mask %k {ordering} deterministic
      : tensor<40x{element}> into memref<?x{element}>, tensor<40xi32>
  triton_xla.insert %old into %o[0] [40] [1] : tensor<40x{element}> into memref<40x{element}>
  triton_xla.return
}}
""",
            target="cpu",
        )
        rng = np.random.default_rng(16)
        x, a = (
            (rng.standard_normal(size) if floats else rng.integers(-100, 100, size)).astype(dtype) for size in (40, 7)
        )
        if floats:
            x[3], a[2] = np.nan, -np.inf
        n, m = rng.integers(-2, 9, 40).astype(np.int32), rng.random(40) < 0.8
        out, expected, old = np.full(40, 77, dtype), a.copy(), np.zeros(40, dtype)
        for at in range(40):
            if m[at] and 0 <= n[at] < 7:
                old[at] = expected[n[at]]
                left, right = expected[n[at] : n[at] + 1], x[at : at + 1]
                if kind in ("maxu", "minu"):
                    unsigned = f"u{dtype(0).dtype}"
                    pick = np.maximum if kind == "maxu" else np.minimum
                    combined = pick(left.view(unsigned), right.view(unsigned)).view(dtype)
                else:
                    combined = KINDS[kind](left, right)
                expected[n[at]] = combined.astype(dtype)[0]
        kernel(x, n, m, a, out)
        np.testing.assert_array_equal(a.astype(np.float64), expected.astype(np.float64))
        np.testing.assert_array_equal(out.astype(np.float64), old.astype(np.float64))


@pytest.mark.parametrize(("kind", "element"), [("addf", "f32"), ("addi", "i32"), ("addf", "f16")])
def test_atomic_updates_of_several_threads(kind: str, element: str) -> None:
    """Sums of small integers are exact in any order."""
    one = "1.0" if element.startswith("f") else "1"
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @count(%a: memref<3x{element}>, %s: memref<{element}>, %tile: index) tiles 20000 {{
  %c3 = arith.constant 3 : index
  %i = arith.remui %tile, %c3 : index
  %one = arith.constant {one} : {element}
  %0 = triton_xla.atomic_rmw {"addi" if kind == "addi" else "maximumf"} %one into %s[] : {element} into memref<{element}>
  %limit = arith.constant 2000 : index
  %few = arith.cmpi ult, %tile, %limit : index
  %1 = triton_xla.atomic_rmw {kind} %one into %a[%i] mask %few : {element} into memref<3x{element}>, index
  triton_xla.return
}}
""",
        target="cpu",
    )
    a, s = np.zeros(3, DTYPES[element]), np.zeros((), DTYPES[element])
    kernel(a, s)
    np.testing.assert_array_equal(a, [667, 667, 666])
    assert s == (20000 if kind == "addi" else 1)


def test_compare_and_swap() -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @swap(%x: memref<8xi16>, %y: memref<8xi16>, %n: memref<8xi64>, %a: memref<4xi16>,
                            %o: memref<8xi16>, %lock: memref<1xi64>, %p: memref<2xi64>, %tile: index) tiles 1 {
  %e = triton_xla.extract %x[0] [8] [1] : memref<8xi16> to tensor<8xi16>
  %d = triton_xla.extract %y[0] [8] [1] : memref<8xi16> to tensor<8xi16>
  %i = triton_xla.extract %n[0] [8] [1] : memref<8xi64> to tensor<8xi64>
  %old = triton_xla.atomic_cas %e, %d into %a[%i] : tensor<8xi16> into memref<4xi16>, tensor<8xi64>
  triton_xla.insert %old into %o[0] [8] [1] : tensor<8xi16> into memref<8xi16>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %free = arith.constant 0 : i64
  %held = arith.constant 1 : i64
  %first = triton_xla.atomic_cas %free, %held into %lock[%c0] ordering acquire : i64 into memref<1xi64>, index
  %second = triton_xla.atomic_cas %free, %held into %lock[%c0] ordering acq_rel : i64 into memref<1xi64>, index
  memref.store %first, %p[%c0] : memref<2xi64>
  memref.store %second, %p[%c1] : memref<2xi64>
  triton_xla.return
}
""",
        target="cpu",
    )
    x = np.array([10, 11, -1, 13, 10, 7, 0, 0], np.int16)
    y = np.array([20, 21, 22, 23, 24, 25, 26, 27], np.int16)
    n, a = np.array([0, 1, 2, 3, 1, 0, -1, 4]), np.array([10, 10, -1, 13], np.int16)
    o, lock, p = np.full(8, 77, np.int16), np.zeros(1, np.int64), np.full(2, 77)
    kernel(x, y, n, a, o, lock, p)
    np.testing.assert_array_equal(a, [20, 24, 22, 23])
    np.testing.assert_array_equal(o, [10, 10, -1, 13, 10, 20, 0, 0])
    np.testing.assert_array_equal(p, [0, 1])
    assert lock[0] == 1


# ---------------------------------------------------------------------------------------------------------------------
# Random bits, output, assertions, facts
# ---------------------------------------------------------------------------------------------------------------------


def philox(counter: list[int], key: list[int]) -> list[int]:
    for _ in range(10):
        even, odd = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        low = 2**32 - 1
        counter = [odd >> 32 ^ counter[1] ^ key[0], odd & low, even >> 32 ^ counter[3] ^ key[1], even & low]
        key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
    return counter


def test_philox_is_that_of_the_paper() -> None:
    """The known answers of Random123, kat_vectors."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([2**32 - 1] * 4, [2**32 - 1] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_random_bits(count: int) -> None:
    shape = (3, 11)
    t = tensor(shape, "i32")
    names = [f"%x{number}" for number in range(count)]
    kernel = Tiles(
        [(shape, "i32")] * count,
        f"%r:4 = triton_xla.random_bits %k0, %k1, {', '.join(names)} : (i32, i32, {', '.join([t] * count)}) -> ({t}, {t}, {t}, {t})",
        [(f"%r#{word}", shape, "i32") for word in range(4)],
        "%k0: i32, %k1: i32",
    )
    rng = np.random.default_rng(17)
    counters = [rng.integers(-(2**31), 2**31, shape).astype(np.int32) for _ in range(count)]
    for keys in [(0, 0), (-1, 12345)]:
        words = kernel(*counters, scalars=keys)
        for at in np.ndindex(*shape):
            counter = [int(c[at]) % 2**32 for c in counters] + [0] * (4 - count)
            expected = philox(counter, [k % 2**32 for k in keys])
            assert [int(word[at]) % 2**32 for word in words] == expected


def test_print(capfd: Any) -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @show(%a: memref<2x2xf32>, %b: memref<2xi8>, %x: f64, %tile: index) tiles 2 {
  %t = triton_xla.extract %a[0, 0] [2, 2] [1, 1] : memref<2x2xf32> to tensor<2x2xf32>
  %u = triton_xla.extract %b[0] [2] [1] : memref<2xi8> to tensor<2xi8>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %c = arith.cmpf ogt, %t, %zero : tensor<2x2xf32>
  triton_xla.print "100% of t" %t : tensor<2x2xf32>
  triton_xla.print "several" %u, %x, %tile : tensor<2xi8>, f64, index
  triton_xla.print "positive" %c : tensor<2x2xi1>
  triton_xla.print "nothing"
  triton_xla.return
}
""",
        target="cpu",
    )
    kernel(np.array([[0.1, -2], [np.inf, np.nan]], np.float32), np.array([-7, 120], np.int8), 0.25)
    lines = capfd.readouterr().out.splitlines()
    for tile in range(2):
        start = f"tile {tile}: "
        assert [line.removeprefix(start) for line in lines if line.startswith(start)] == [
            "100% of t [0, 0] = 0.100000001",
            "100% of t [0, 1] = -2",
            "100% of t [1, 0] = inf",
            "100% of t [1, 1] = nan",
            "several #0 [0] = -7",
            "several #0 [1] = 120",
            "several #1 = 0.25",
            f"several #2 = {tile}",
            "positive [0, 0] = 1",
            "positive [0, 1] = 0",
            "positive [1, 0] = 1",
            "positive [1, 1] = 0",
            "nothing",
        ]
    assert len(lines) == 26


def test_assertions() -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @check(%a: memref<?xi32>, %n: i32, %tile: index) tiles 3 {
  %c50 = arith.constant 50 : index
  %at = arith.muli %tile, %c50 : index
  %t = triton_xla.extract %a[%at] [50] [1] : memref<?xi32> to tensor<50xi32>
  %zero = arith.constant dense<0> : tensor<50xi32>
  %c = arith.cmpi sge, %t, %zero : tensor<50xi32>
  triton_xla.assert %c, "the elements must not be negative" : tensor<50xi1>
  %c5 = arith.constant 5 : i32
  %d = arith.cmpi slt, %n, %c5 : i32
  triton_xla.assert %d, "n is too large" : i1
  triton_xla.assume %d
  %m = triton_xla.assume_multiple %n, 2 : i32
  %s = tensor.splat %m : tensor<50xi32>
  %r = arith.addi %t, %s : tensor<50xi32>
  triton_xla.insert %r into %a[%at] [50] [1] : tensor<50xi32> into memref<?xi32>
  triton_xla.return
}
""",
        target="cpu",
    )
    a = np.arange(130, dtype=np.int32)
    kernel(a, 4)
    np.testing.assert_array_equal(a, np.arange(130) + 4)
    with pytest.raises(smalti.LaunchError, match="the assertion failed in tile 0: n is too large"):
        kernel(a, 6)
    a[117] = -1
    with pytest.raises(
        smalti.LaunchError, match=r"the assertion failed in tile 2 at \[17\]: the elements must not be negative"
    ):
        kernel(a, 4)


@pytest.mark.parametrize(("shape", "where"), [("2x3x4", r" at \[1, 0, 2\]"), ("1x1", r" at \[0, 0\]"), ("", "")])
def test_the_position_of_a_failed_assertion(shape: str, where: str) -> None:
    """Also if the condition is a comparison of an index, which is not the position."""
    dims = shape.replace("x", ", ")
    kind = f"tensor<{shape}xindex>" if shape else "index"
    load = (
        f"%t = triton_xla.extract %a[{', '.join('0' * len(dims.split(',')))}] [{dims}] [{', '.join('1' * len(dims.split(',')))}]"
        f" : memref<{shape}xindex> to {kind}"
        if shape
        else "%t = memref.load %a[] : memref<index>"
    )
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @check(%a: memref<{shape}{"x" * bool(shape)}index>, %tile: index) tiles 2 {{
  {load}
  %one = arith.constant {f"dense<1> : {kind}" if shape else "1 : index"}
  %c = arith.cmpi eq, %t, %one : {kind}
  triton_xla.assert %c, "{{not}} one" : {kind.replace("index", "i1")}
  triton_xla.return
}}
""",
        target="cpu",
    )
    a = np.ones(tuple(map(int, shape.split("x"))) if shape else (), np.int64)
    kernel(a)
    a.flat[min(14, a.size - 1) :] = 24
    with pytest.raises(smalti.LaunchError, match=rf"the assertion failed in tile 0{where}: {{not}} one"):
        kernel(a)


# ---------------------------------------------------------------------------------------------------------------------
# Kernels of several ops
# ---------------------------------------------------------------------------------------------------------------------

ATTENTION = """
triton_xla.entry_func @attention(%q: memref<?x16xf32>, %k: memref<?x16xf32>, %v: memref<?x16xf32>, %o: memref<?x16xf32>,
                                 %n: index, %tile: index) tiles 3 {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %ninf = arith.constant -1.0e30 : f32
  %zero = arith.constant 0.0 : f32
  %m0 = arith.constant dense<-1.0e30> : tensor<24xf32>
  %l0 = arith.constant dense<0.0> : tensor<24xf32>
  %o0 = arith.constant dense<0.0> : tensor<24x16xf32>
  %s0 = arith.constant dense<0.0> : tensor<24x32xf32>
  %row = arith.muli %tile, %c24 : index
  %qt = triton_xla.extract %q[%row, 0] [24, 16] [1, 1] : memref<?x16xf32> to tensor<24x16xf32>
  %r:3 = scf.for %j = %c0 to %n step %c32 iter_args(%m = %m0, %l = %l0, %acc = %o0)
      -> (tensor<24xf32>, tensor<24xf32>, tensor<24x16xf32>) {
    %kt = triton_xla.extract %k[%j, 0] [32, 16] [1, 1] : memref<?x16xf32> to tensor<32x16xf32>
    %vt = triton_xla.extract %v[%j, 0] [32, 16] [1, 1] : memref<?x16xf32> to tensor<32x16xf32>
    %kk = triton_xla.transpose %kt [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
    %s = triton_xla.dot %qt, %kk, %s0 : tensor<24x16xf32>, tensor<16x32xf32> -> tensor<24x32xf32>
    %left = arith.subi %n, %j : index
    %masked = triton_xla.mask %s [24, %left], %ninf : tensor<24x32xf32>
    %mj = triton_xla.reduce %masked dims [1] init %ninf : (tensor<24x32xf32>, f32) -> tensor<24xf32> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      triton_xla.yield %z : f32
    }
    %m1 = arith.maximumf %m, %mj : tensor<24xf32>
    %mb = triton_xla.broadcast %m1 dims [0] : tensor<24xf32> -> tensor<24x32xf32>
    %d = arith.subf %masked, %mb : tensor<24x32xf32>
    %p = math.exp %d : tensor<24x32xf32>
    %pj = triton_xla.reduce %p dims [1] init %zero : (tensor<24x32xf32>, f32) -> tensor<24xf32> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      triton_xla.yield %z : f32
    }
    %dm = arith.subf %m, %m1 : tensor<24xf32>
    %scale = math.exp %dm : tensor<24xf32>
    %l1 = arith.mulf %l, %scale : tensor<24xf32>
    %l2 = arith.addf %l1, %pj : tensor<24xf32>
    %sb = triton_xla.broadcast %scale dims [0] : tensor<24xf32> -> tensor<24x16xf32>
    %a1 = arith.mulf %acc, %sb : tensor<24x16xf32>
    %a2 = triton_xla.dot %p, %vt, %a1 : tensor<24x32xf32>, tensor<32x16xf32> -> tensor<24x16xf32>
    scf.yield %m1, %l2, %a2 : tensor<24xf32>, tensor<24xf32>, tensor<24x16xf32>
  }
  %lb = triton_xla.broadcast %r#1 dims [0] : tensor<24xf32> -> tensor<24x16xf32>
  %out = arith.divf %r#2, %lb : tensor<24x16xf32>
  triton_xla.insert %out into %o[%row, 0] [24, 16] [1, 1] : tensor<24x16xf32> into memref<?x16xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize("keys", [1, 32, 77])
def test_attention(keys: int) -> None:
    kernel = smalti.compile(ATTENTION, target="cpu")
    q, k, v = (random((rows, 16), np.float32, seed) for seed, rows in enumerate((70, keys, keys)))
    out = Guarded((70, 16), np.float32)
    kernel(q, k, v, out.array, keys)
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(out.array, weights / weights.sum(1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)
    out.check_guards()


def test_tiles_that_are_read_after_later_ops() -> None:
    """Buffers are reused only after the last read, and loops carry tiles of every kind of op."""
    kernel = Tiles(
        [((4, 8), "i32")],
        """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c5 = arith.constant 5 : index
%zero = arith.constant 0 : i32
%none = arith.constant dense<false> : tensor<4x8xi1>
%start = arith.constant dense<7> : tensor<i32>
%r:4 = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %x0, %b = %none, %y = %start, %t = %x0)
    -> (tensor<4x8xi32>, tensor<4x8xi1>, tensor<i32>, tensor<4x8xi32>) {
  %s = triton_xla.scan %x dim 1 init %zero : (tensor<4x8xi32>, i32) -> tensor<4x8xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.addi %l, %r : i32
    triton_xla.yield %c : i32
  }
  %h = triton_xla.slice %s [0, 4] [4, 4] [1, 1] : tensor<4x8xi32> -> tensor<4x4xi32>
  %g = triton_xla.slice %x [0, 0] [4, 4] [1, 1] : tensor<4x8xi32> -> tensor<4x4xi32>
  %n = triton_xla.concat %h, %g dim 1 : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x8xi32>
  %q = arith.cmpi sgt, %n, %x : tensor<4x8xi32>
  %b2 = arith.xori %b, %q : tensor<4x8xi1>
  %total = triton_xla.reduce %x dims [0, 1] init %zero : (tensor<4x8xi32>, i32) -> tensor<i32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    triton_xla.yield %c : i32
  }
  %y2 = arith.addi %y, %total : tensor<i32>
  scf.yield %n, %b2, %y2, %x : tensor<4x8xi32>, tensor<4x8xi1>, tensor<i32>, tensor<4x8xi32>
}
""",
        [
            ("%r#0", (4, 8), "i32"),
            ("%r#1", (4, 8), "i1"),
            ("%r#2", (), "i32"),
            ("%r#3", (4, 8), "i32"),
            ("%x0", (4, 8), "i32"),
        ],
    )
    start = np.random.default_rng(18).integers(-5, 6, (4, 8)).astype(np.int32)
    x, b, y, t = start, np.zeros((4, 8), bool), np.int32(7), start
    for _ in range(5):
        following = np.concatenate([x.cumsum(1, dtype=np.int32)[:, 4:], x[:, :4]], 1)
        b, y, t, x = b ^ (following > x), y + np.bitwise_xor.reduce(x, None), x, following
    for got, expected in zip(kernel(start), (x, b, y, t, start), strict=True):
        np.testing.assert_array_equal(got, expected)


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls and grids
# ---------------------------------------------------------------------------------------------------------------------

DOTS = [
    ("f16", "f16", "f32", ""),
    ("f16", "f16", "f16", ""),
    ("f64", "f64", "f64", ""),
    ("f32", "f32", "f32", "algorithm ieee"),
    ("f32", "f32", "f32", "algorithm bf16x9"),
    ("f8E4M3FN", "f8E5M2", "f32", ""),
    ("i8", "i8", "i32", ""),
    ("i8", "i8", "i32", "unsigned_lhs"),
    ("i8", "i8", "i32", "unsigned_rhs"),
    ("i8", "i8", "i32", "unsigned_lhs unsigned_rhs"),
]


@pytest.mark.grid(10)
@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize(("lhs", "rhs", "accumulator", "more"), DOTS)
def test_dots_of_every_kind(lhs: str, rhs: str, accumulator: str, more: str, batch: int) -> None:
    numbers = {**DTYPES, "f8E5M2": ml_dtypes.float8_e5m2}
    first = [batch] if batch else []
    shapes = [[*first, 17, 11], [*first, 11, 35], [*first, 17, 35]]
    types = [tensor(shape, element) for shape, element in zip(shapes, (lhs, rhs, accumulator), strict=True)]
    kernel = Tiles(
        list(zip(shapes, (lhs, rhs, accumulator), strict=True)),
        f"%r = triton_xla.dot %x0, %x1, %x2 {more} : {types[0]}, {types[1]} -> {types[2]}",
        [("%r", shapes[2], accumulator)],
    )
    rng = np.random.default_rng(19)
    # Every sum of small integers is exact.
    bound = 128 if lhs == "i8" else 4
    a, b, c = (
        rng.integers(-bound, bound, shape).astype(numbers[element])
        for shape, element in zip(shapes, (lhs, rhs, accumulator), strict=True)
    )
    wide_a = a.view(np.uint8).astype(np.float64) if "unsigned_lhs" in more else a.astype(np.float64)
    wide_b = b.view(np.uint8).astype(np.float64) if "unsigned_rhs" in more else b.astype(np.float64)
    np.testing.assert_array_equal(kernel(a, b, c)[0].astype(np.float64), c.astype(np.float64) + wide_a @ wide_b)


def test_grid_of_three_dimensions() -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @grid(%o: memref<2x3x5xindex>, %i: index, %j: index, %k: index) tiles [2, 3, 5] {
  %n = triton_xla.num_tiles dim 1
  %c10 = arith.constant 10 : index
  %0 = arith.muli %i, %c10 : index
  %1 = arith.addi %0, %j : index
  %2 = arith.muli %1, %c10 : index
  %3 = arith.addi %2, %k : index
  %4 = arith.muli %3, %n : index
  memref.store %4, %o[%i, %j, %k] : memref<2x3x5xindex>
  triton_xla.return
}
""",
        target="cpu",
    )
    o = np.full((2, 3, 5), -1)
    kernel(o)
    i, j, k = np.ogrid[:2, :3, :5]
    np.testing.assert_array_equal(o, 3 * (100 * i + 10 * j + k))
