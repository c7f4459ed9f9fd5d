# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules in JAX Mosaic GPU's form, compiled whole and run on an emulated Hopper GPU against float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import DTYPES, PALLAS
from helpers import WGMMA, WGMMA_ROW
from jax_programs import memref, module, run, shared

NAMES: dict[str, Any] = {**DTYPES, "i1": np.bool_, "i16": np.int16, "i64": np.int64}


# The column of 8 and the row of 8 in each 16 of a register of a vector of 16 columns.
WGMMA_REGISTERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def poisoned(shape: tuple[int, ...], element: str) -> np.ndarray:
    """Memory in which what is not written shows: NaN, or all bits."""
    dtype = np.dtype(NAMES[element])
    if dtype.kind in "iu":
        return np.full(shape, -1, dtype)
    return np.full(shape, np.nan, dtype)


def load(argument: int, shape: tuple[int, ...], element: str, name: str, layout: str = "") -> str:
    """A vector of an argument, in a layout if one is named."""
    vector = f"vector<{'x'.join(map(str, shape))}x{element}>"
    loaded = name + "_loaded" if layout else name
    optimized = " {optimized = false}" if layout else ""
    text = f"{loaded} = mosaic_gpu.vector_load %a{argument}{optimized} : {memref(shape, element)} -> {vector}\n"
    if layout:
        text += f"{name} = mosaic_gpu.layout_cast x({loaded} : {vector}) {{new_layout = {layout}}}\n"
    return text


def store(argument: int, shape: tuple[int, ...], element: str, name: str) -> str:
    vector = f"vector<{'x'.join(map(str, shape))}x{element}>"
    return f"mosaic_gpu.vector_store {name}, %a{argument} : {vector}, {memref(shape, element)}\n"


# ---------------------------------------------------------------------------------------------------------------------
# Modules of JAX
# ---------------------------------------------------------------------------------------------------------------------


def test_pointwise() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((128, 128)).astype(np.float32) for _ in range(2))
    out = poisoned((128, 128), "f32")
    run(PALLAS / "pointwise.mlir", a, b, out)
    np.testing.assert_allclose(out, np.exp2(a.astype(np.float64)) + b, rtol=0, atol=4e-6)


@pytest.mark.parametrize("order", ["lowest-first", "highest-first", "random:2"])
def test_row_softmax(order: str) -> None:
    values = (np.random.default_rng(13).standard_normal((64, 128)) * 4).astype(np.float32)
    out = poisoned((64, 128), "f32")
    run(PALLAS / "row_softmax.mlir", values, out, order=order)
    wide = values.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-7)


# ---------------------------------------------------------------------------------------------------------------------
# Single elements
# ---------------------------------------------------------------------------------------------------------------------

Reference = Callable[..., Any]

UNARY: dict[str, Reference] = {
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.cos": np.cos,
    "math.erf": np.vectorize(__import__("math").erf),
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.floor": np.floor,
    "math.log": lambda x: np.log(x),
    "math.log1p": np.log1p,
    "math.log2": lambda x: np.log2(x),
    "math.roundeven": np.round,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.sin": np.sin,
    "math.sqrt": np.sqrt,
    "math.tanh": np.tanh,
    "math.trunc": np.trunc,
    "arith.negf": np.negative,
}
BINARY: dict[str, Reference] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.remf": np.fmod,
    "math.atan2": np.arctan2,
    "math.copysign": np.copysign,
    "math.powf": np.power,
}
POSITIVE = {"math.log", "math.log2", "math.log1p", "math.rsqrt", "math.sqrt", "math.powf"}


def check_floats(op: str, element: str, arity: int, reference: Reference) -> None:
    shape = (64, 32)
    rng = np.random.default_rng(1)
    values = [rng.uniform(-6, 6, shape) for _ in range(arity)]
    if op in POSITIVE:
        values = [np.abs(value) + 0.1 for value in values]
    arrays = [value.astype(NAMES[element]) for value in values]
    vector = f"vector<64x32x{element}>"
    names = [f"%v{i}" for i in range(arity)]
    body = "".join(load(i, shape, element, name) for i, name in enumerate(names))
    body += f"%r = {op} {', '.join(names)} : {vector}\n" + store(arity, shape, element, "%r")
    out = poisoned(shape, element)
    run(module([(shape, element)] * (arity + 1), body), *arrays, out)
    expected = reference(*(array.astype(np.float64) for array in arrays))
    rtol = {"f64": 1e-12, "f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2}[element]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("op", UNARY)
def test_unary_functions(op: str) -> None:
    check_floats(op, "f32", 1, UNARY[op])


@pytest.mark.parametrize("op", BINARY)
def test_binary_functions(op: str) -> None:
    check_floats(op, "f32", 2, BINARY[op])


@pytest.mark.parametrize("element", ["f16", "bf16", "f64"])
@pytest.mark.parametrize("op", ["math.exp", "math.rsqrt", "math.tanh", "arith.divf", "arith.maximumf"])
def test_functions_of_other_types(op: str, element: str) -> None:
    table = UNARY if op in UNARY else BINARY
    check_floats(op, element, 1 if op in UNARY else 2, table[op])


INTEGERS: dict[str, Reference] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.divsi": lambda a, b: np.trunc(a / b),
    "arith.remsi": lambda a, b: np.fmod(a, b),
    "arith.floordivsi": lambda a, b: np.floor(a / b),
    "arith.shli": lambda a, b: a << (b & 3),
    "arith.shrsi": lambda a, b: a >> (b & 3),
}


@pytest.mark.grid(17)
@pytest.mark.parametrize("element", ["i8", "i16", "i32"])
@pytest.mark.parametrize("op", INTEGERS)
def test_integers(op: str, element: str) -> None:
    shape = (64, 32)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-100, 100, shape).astype(NAMES[element]) for _ in range(2))
    b[b == 0] = 7
    vector = f"vector<64x32x{element}>"
    body = load(0, shape, element, "%x") + load(1, shape, element, "%y")
    if op.startswith("arith.sh"):
        body += f"%three = arith.constant dense<3> : {vector}\n%z = arith.andi %y, %three : {vector}\n"
    else:
        body += f"%zero = arith.constant dense<0> : {vector}\n%z = arith.addi %y, %zero : {vector}\n"
    body += f"%r = {op} %x, %z : {vector}\n" + store(2, shape, element, "%r")
    out = poisoned(shape, element)
    run(module([(shape, element)] * 3, body), a, b, out)
    expected = INTEGERS[op](a.astype(np.int64), b.astype(np.int64)).astype(np.int64).astype(NAMES[element])
    np.testing.assert_array_equal(out, expected)


def test_bits() -> None:
    shape = (64, 32)
    values = np.random.default_rng(3).integers(-(2**31), 2**31, shape).astype(np.int32)
    values[0, :3] = (0, 1, -1)
    vector = "vector<64x32xi32>"
    for op, reference in {
        "math.ctlz": lambda n: 32 - n.bit_length(),
        "math.ctpop": lambda n: bin(n).count("1"),
        "math.cttz": lambda n: (n & -n).bit_length() - 1 if n else 32,
    }.items():
        body = load(0, shape, "i32", "%x") + f"%r = {op} %x : {vector}\n" + store(1, shape, "i32", "%r")
        out = poisoned(shape, "i32")
        run(module([(shape, "i32")] * 2, body), values, out)
        expected = np.vectorize(lambda n, count=reference: count(int(n) & 0xFFFFFFFF))(values)
        np.testing.assert_array_equal(out, expected, err_msg=op)


def test_comparisons_and_selections() -> None:
    shape = (64, 64)
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    a[0, :4] = np.nan
    vector, bits = "vector<64x64xf32>", "vector<64x64xi1>"
    body = load(0, shape, "f32", "%x", WGMMA) + load(1, shape, "f32", "%y", WGMMA)
    body += f"""
      %greater = arith.cmpf ogt, %x, %y : {vector}
      %unordered = arith.cmpf uno, %x, %y : {vector}
      %either = arith.ori %greater, %unordered : {bits}
      %r = arith.select %either, %y, %x : {bits}, {vector}
    """ + store(2, shape, "f32", "%r")
    out = poisoned(shape, "f32")
    run(module([(shape, "f32")] * 3, body), a, b, out)
    np.testing.assert_array_equal(out, np.where((a > b) | np.isnan(a), b, a))


@pytest.mark.parametrize("layout", ["", WGMMA], ids=["strided", "wgmma"])
def test_booleans_in_memory(layout: str) -> None:
    """A memref of i1 has a byte for each element, as JAX passes arrays of bool."""
    shape = (64, 64)
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    vector, bits = "vector<64x64xf32>", "vector<64x64xi1>"
    body = (
        load(0, shape, "f32", "%x", layout) + load(1, shape, "f32", "%y", layout) + load(2, shape, "i1", "%m", layout)
    )
    body += f"""
      %greater = arith.cmpf ogt, %x, %y : {vector}
      %either = arith.xori %greater, %m : {bits}
      %r = arith.select %m, %x, %y : {bits}, {vector}
    """
    body += store(3, shape, "i1", "%either") + store(4, shape, "f32", "%r")
    mask, out, chosen = rng.integers(0, 2, shape).astype(np.bool_), np.zeros(shape, np.bool_), poisoned(shape, "f32")
    run(module([*[(shape, "f32")] * 2, *[(shape, "i1")] * 2, (shape, "f32")], body), a, b, mask, out, chosen)
    np.testing.assert_array_equal(out.view(np.uint8), ((a > b) ^ mask).astype(np.uint8))
    np.testing.assert_array_equal(chosen, np.where(mask, a, b))


def test_a_boolean_everywhere() -> None:
    shape = (64, 24)
    body = "%true = arith.constant dense<true> : vector<64x24xi1>\n" + store(0, shape, "i1", "%true")
    out = np.zeros(shape, np.bool_)
    run(module([(shape, "i1")], body), out)
    np.testing.assert_array_equal(out.view(np.uint8), np.ones(shape, np.uint8))


CASTS = [
    ("arith.extf", "f16", "f32"),
    ("arith.truncf", "f32", "bf16"),
    ("arith.truncf", "f32", "f16"),
    ("arith.sitofp", "i8", "f32"),
    ("arith.uitofp", "i16", "f32"),
    ("arith.fptosi", "f32", "i32"),
    ("arith.extsi", "i8", "i32"),
    ("arith.extui", "i16", "i64"),
    ("arith.trunci", "i32", "i8"),
    ("arith.bitcast", "f32", "i32"),
]


@pytest.mark.parametrize(("op", "source", "target"), CASTS)
def test_casts(op: str, source: str, target: str) -> None:
    shape = (64, 32)
    values = (np.random.default_rng(5).standard_normal(shape) * 50).astype(NAMES[source])
    body = load(0, shape, source, "%x")
    body += f"%r = {op} %x : vector<64x32x{source}> to vector<64x32x{target}>\n" + store(1, shape, target, "%r")
    out = poisoned(shape, target)
    run(module([(shape, source), (shape, target)], body), values, out)
    if op == "arith.bitcast":
        expected = values.view(NAMES[target])
    elif op in ("arith.uitofp", "arith.extui"):
        expected = values.astype(np.uint16).astype(NAMES[target])
    else:
        expected = values.astype(NAMES[target])
    np.testing.assert_array_equal(out, expected)


def test_constants_and_scalars() -> None:
    shape = (64, 32)
    values = np.random.default_rng(6).standard_normal(shape).astype(np.float32)
    vector = "vector<64x32xf32>"
    body = (
        load(0, shape, "f32", "%x")
        + f"""
      %half = arith.constant dense<0.5> : {vector}
      %three = arith.constant 3.0 : f32
      %scale = vector.broadcast %three : f32 to {vector}
      %same = mosaic_gpu.optimization_barrier %scale : {vector}
      %product = arith.mulf %x, %same : {vector}
      %sum = arith.addf %product, %half : {vector}
      %hidden = mosaic_gpu.optimization_barrier %sum : {vector}
    """
        + store(1, shape, "f32", "%hidden")
    )
    out = poisoned(shape, "f32")
    run(module([(shape, "f32")] * 2, body), values, out)
    np.testing.assert_allclose(out, values.astype(np.float64) * 3 + 0.5, rtol=1e-6, atol=1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Shapes
# ---------------------------------------------------------------------------------------------------------------------


def test_slices_and_concatenation() -> None:
    shape = (128, 64)
    values = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    body = (
        load(0, shape, "f32", "%x", WGMMA)
        + """
      %low = vector.extract_strided_slice %x {offsets = [0, 0], sizes = [64, 64], strides = [1, 1]}
          : vector<128x64xf32> to vector<64x64xf32>
      %right = vector.extract_strided_slice %x {offsets = [64, 32], sizes = [64, 32], strides = [1, 1]}
          : vector<128x64xf32> to vector<64x32xf32>
      %wide = mosaic_gpu.vector_concat(%low, %right, %right
          : vector<64x64xf32>, vector<64x32xf32>, vector<64x32xf32>) {dimension = 1 : i32} -> vector<64x128xf32>
      %r = vector.insert_strided_slice %right, %wide {offsets = [0, 0], strides = [1, 1]}
          : vector<64x32xf32> into vector<64x128xf32>
    """
        + store(1, (64, 128), "f32", "%r")
    )
    out = poisoned((64, 128), "f32")
    run(module([(shape, "f32"), ((64, 128), "f32")], body), values, out)
    right = values[64:, 32:]
    np.testing.assert_array_equal(out, np.hstack([right, values[:64, 32:], right, right]))


def test_rows_in_all_columns() -> None:
    rows = np.random.default_rng(8).standard_normal(128).astype(np.float32)
    body = (
        load(0, (128,), "f32", "%x", WGMMA_ROW)
        + f"""
      %wide = mosaic_gpu.broadcast_in_dim(%x : vector<128xf32>) {{broadcast_dimensions = array<i64: 0>}}
          -> vector<128x64xf32>
      %r = mosaic_gpu.layout_cast x(%wide : vector<128x64xf32>) {{new_layout = {WGMMA}}}
    """
        + store(1, (128, 64), "f32", "%r")
    )
    out = poisoned((128, 64), "f32")
    run(module([((128,), "f32"), ((128, 64), "f32")], body), rows, out)
    np.testing.assert_array_equal(out, np.repeat(rows[:, None], 64, axis=1))


@pytest.mark.parametrize("element", ["i32", "i16", "i64", "f32"])
@pytest.mark.parametrize("layout", [WGMMA, ""])
def test_indices(layout: str, element: str) -> None:
    shape = (128, 32)
    vector = f"vector<128x32x{element}>"
    body = ""
    for dimension in range(2):
        body += f"%i{dimension} = mosaic_gpu.broadcasted_iota {dimension} : {vector}\n"
        name = f"%i{dimension}"
        if layout:
            body += f"%l{dimension} = mosaic_gpu.layout_cast x({name} : {vector}) {{new_layout = {layout}}}\n"
            name = f"%l{dimension}"
        body += store(dimension, shape, element, name)
    outs = [poisoned(shape, element) for _ in range(2)]
    run(module([(shape, element)] * 2, body), *outs)
    for out, expected in zip(outs, np.indices(shape), strict=True):
        np.testing.assert_array_equal(out.astype(np.int64), expected)


def test_reshape_of_leading_dimensions() -> None:
    values = np.random.default_rng(9).standard_normal((2, 64, 32)).astype(np.float32)
    body = (
        load(0, (2, 64, 32), "f32", "%x", WGMMA)
        + """
      %r = vector.shape_cast %x : vector<2x64x32xf32> to vector<128x32xf32>
    """
        + store(1, (128, 32), "f32", "%r")
    )
    out = poisoned((128, 32), "f32")
    run(module([((2, 64, 32), "f32"), ((128, 32), "f32")], body), values, out)
    np.testing.assert_array_equal(out, values.reshape(128, 32))


# ---------------------------------------------------------------------------------------------------------------------
# Control flow, and programs side by side
# ---------------------------------------------------------------------------------------------------------------------


def test_loops_and_branches() -> None:
    shape = (64, 32)
    values = np.random.default_rng(10).standard_normal(shape).astype(np.float32)
    vector = "vector<64x32xf32>"
    body = (
        load(0, shape, "f32", "%x", WGMMA)
        + f"""
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c5 = arith.constant 5 : i32
      %zero = arith.constant dense<0.0> : {vector}
      %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %zero) -> ({vector}) : i32 {{
        %odd = arith.andi %i, %c1 : i32
        %case = arith.index_cast %odd : i32 to index
        %term = scf.index_switch %case -> {vector}
        case 0 {{
          scf.yield %x : {vector}
        }}
        default {{
          %twice = arith.addf %x, %x : {vector}
          scf.yield %twice : {vector}
        }}
        %next = arith.addf %s, %term : {vector}
        scf.yield %next : {vector}
      }}
      %last:2 = scf.while (%v = %sum, %n = %c0) : ({vector}, i32) -> ({vector}, i32) {{
        %more = arith.cmpi slt, %n, %c2 : i32
        scf.condition(%more) %v, %n : {vector}, i32
      }} do {{
      ^bb0(%v: {vector}, %n: i32):
        %half = arith.constant dense<0.5> : {vector}
        %w = arith.mulf %v, %half : {vector}
        %m = arith.addi %n, %c1 : i32
        scf.yield %w, %m : {vector}, i32
      }}
    """
        + store(1, shape, "f32", "%last#0")
    )
    out = poisoned(shape, "f32")
    run(module([(shape, "f32")] * 2, body), values, out)
    np.testing.assert_allclose(out, values.astype(np.float64) * 7 / 4, rtol=1e-6)


@pytest.mark.parametrize("order", ["lowest-first", "highest-first", "random:1"])
def test_concurrent_kernels(order: str) -> None:
    """Each of three warpgroups has a vector, sends it to the next through shared memory, and stores the received
    one."""
    values = np.random.default_rng(11).standard_normal((3, 64, 32)).astype(np.float32)
    part, whole = shared((64, 32), "f32", "strided<[32, 1], offset: ?>"), shared((3, 64, 32), "f32")
    rows = "memref<64x32xf32, strided<[32, 1], offset: ?>>"
    vector = "vector<64x32xf32>"
    body = f"""
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c128 = arith.constant 128 : index
      %t = gpu.thread_id x
      %group = arith.divui %t, %c128 : index
      %after = arith.addi %group, %c1 : index
      %next = arith.remui %after, %c3 : index
      %in = memref.subview %a0[%group, 0, 0] [1, 64, 32] [1, 1, 1] : memref<3x64x32xf32> to {rows}
      %v = mosaic_gpu.vector_load %in : {rows} -> {vector}
      %s = mosaic_gpu.slice_smem 0 : {whole}
      %mine = memref.subview %s[%group, 0, 0] [1, 64, 32] [1, 1, 1] : {whole} to {part}
      mosaic_gpu.vector_store %v, %mine : {vector}, {part}
      gpu.barrier
      %others = memref.subview %s[%next, 0, 0] [1, 64, 32] [1, 1, 1] : {whole} to {part}
      %w = mosaic_gpu.vector_load %others : {part} -> {vector}
      %out = memref.subview %a1[%group, 0, 0] [1, 64, 32] [1, 1, 1] : memref<3x64x32xf32> to {rows}
      mosaic_gpu.vector_store %w, %out : {vector}, {rows}
    """
    arguments = [((3, 64, 32), "f32")] * 2
    out = poisoned((3, 64, 32), "f32")
    run(module(arguments, body, threads=384, shared_bytes=3 * 64 * 32 * 4), values, out, order=order)
    np.testing.assert_array_equal(out, np.roll(values, -1, axis=0))


def test_views_and_elements_of_shared_memory() -> None:
    """A loop carries the shared memory that it reads, and threads access single elements through views."""
    values = np.random.default_rng(12).standard_normal((4, 64)).astype(np.float32)
    whole, row = shared((4, 64), "f32"), shared((64,), "f32", "strided<[1], offset: ?>")
    column = shared((64, 4), "f32", "strided<[1, 64]>")
    flat = shared((256,), "f32")
    body = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %s = mosaic_gpu.slice_smem 1024 : {whole}
      %flat = memref.collapse_shape %s [[0, 1]] : {whole} into {flat}
      %turned = memref.transpose %s (i, j) -> (j, i) : {whole} to {column}
      scf.for %i = %t to %c64 step %c64 {{
        scf.for %j = %c0 to %c4 step %c1 {{
          %x = memref.load %a0[%j, %i] : memref<4x64xf32>
          memref.store %x, %turned[%i, %j] : {column}
        }}
      }}
      gpu.barrier
      %isin = arith.cmpi ult, %t, %c64 : index
      scf.if %isin {{
        %first = memref.subview %s[%c0, 0] [1, 64] [1, 1] : {whole} to {row}
        %sum:2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%acc = %zero, %now = %first) -> (f32, {row}) {{
          %back = arith.subi %c63, %t : index
          %x = memref.load %now[%back] : {row}
          %next = arith.addf %acc, %x : f32
          %k = arith.addi %j, %c1 : index
          %m = arith.remui %k, %c4 : index
          %then = memref.subview %s[%m, 0] [1, 64] [1, 1] : {whole} to {row}
          scf.yield %next, %then : f32, {row}
        }}
        %place = arith.muli %t, %c2 : index
        %y = memref.load %flat[%place] : {flat}
        %r = arith.addf %sum#0, %y : f32
        memref.store %r, %a1[%t] : memref<64xf32>
      }}
    """
    out = poisoned((64,), "f32")
    run(module([((4, 64), "f32"), ((64,), "f32")], body, shared_bytes=2048), values, out)
    wide = values.astype(np.float64)
    np.testing.assert_allclose(out, wide.sum(axis=0)[::-1] + wide.reshape(-1)[:128:2], rtol=1e-5, atol=1e-5)


def test_code_for_threads() -> None:
    """A custom primitive takes a vector apart into a thread's registers, and puts it together in another order."""
    shape = (64, 16)
    values = np.random.default_rng(14).standard_normal(shape).astype(np.float32)
    registers = ", ".join(["vector<2xf32>"] * 4)
    vector = "vector<64x16xf32>"
    body = (
        load(0, shape, "f32", "%x", WGMMA)
        + f"""
      %r = mosaic_gpu.custom_primitive (%v = %x : {vector}) {{
        %half = arith.constant dense<[0.5, 2.0]> : vector<2xf32>
        %p:4 = builtin.unrealized_conversion_cast %v : {vector} to {registers} {{layout = {WGMMA}}}
        %q = arith.mulf %p#0, %half : vector<2xf32>
        %y = builtin.unrealized_conversion_cast %p#2, %p#3, %q, %p#1 : {registers} to {vector} {{layout = {WGMMA}}}
        mosaic_gpu.return %y : {vector}
      }} {{in_layouts = [{WGMMA}], in_transforms = [], out_layouts = [{WGMMA}]}} -> {vector}
    """
        + store(1, shape, "f32", "%r")
    )
    out = poisoned(shape, "f32")
    run(module([(shape, "f32")] * 2, body), values, out)
    # Registers: columns 0 to 7 of rows 0 to 7 and 8 to 15 of each 16, or of the other 8 columns.
    block = values.reshape(4, 2, 8, 2, 4, 2)
    flat = [block[:, row, :, column] for column, row in WGMMA_REGISTERS]
    wanted = [flat[2], flat[3], flat[0] * [0.5, 2.0], flat[1]]
    expected = np.empty_like(block)
    for (column, row), register in zip(WGMMA_REGISTERS, wanted, strict=True):
        expected[:, row, :, column] = register
    np.testing.assert_array_equal(out, expected.reshape(shape))


def test_warps_by_themselves() -> None:
    """Each warp of a program adds up what all warps stored before, and the program sees all sums after."""
    values = np.random.default_rng(15).standard_normal(256).astype(np.float32)
    memory = shared((256,), "f32")
    body = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c128 = arith.constant 128 : index
      %t = gpu.thread_id x
      %s = mosaic_gpu.slice_smem 0 : {memory}
      %sums = mosaic_gpu.slice_smem 1024 : {memory}
      %x = memref.load %a0[%t] : memref<256xf32>
      memref.store %x, %s[%t] : {memory}
      mosaic_gpu.warp_map (%m = %s : {memory}, %n = %sums : {memory}) {{
        %zero = arith.constant 0.0 : f32
        %d0 = arith.constant 0 : index
        %d1 = arith.constant 1 : index
        %d128 = arith.constant 128 : index
        %u = gpu.thread_id x
        %group = arith.divui %u, %d128 : index
        %first = arith.muli %group, %d128 : index
        %last = arith.addi %first, %d128 : index
        %sum = scf.for %i = %first to %last step %d1 iter_args(%acc = %zero) -> f32 {{
          %y = memref.load %m[%i] : {memory}
          %z = arith.addf %acc, %y : f32
          scf.yield %z : f32
        }}
        memref.store %sum, %n[%u] : {memory}
      }}
      %group = arith.divui %t, %c128 : index
      %place = arith.remui %t, %c128 : index
      %back = arith.subi %c128, %place : index
      %within = arith.subi %back, %c1 : index
      %first = arith.muli %group, %c128 : index
      %other = arith.addi %first, %within : index
      %r = memref.load %sums[%other] : {memory}
      memref.store %r, %a1[%t] : memref<256xf32>
    """
    for order in ("lowest-first", "highest-first", "round-robin"):
        out = poisoned((256,), "f32")
        run(
            module([((256,), "f32")] * 2, body, threads=256, shared_bytes=2048),
            values,
            out,
            order=order,
            sanitize="thread",
        )
        sums = values.reshape(2, 128).astype(np.float64).sum(axis=1)
        np.testing.assert_allclose(out, np.repeat(sums, 128), rtol=1e-4, atol=1e-4)


def test_memory_that_is_used_again() -> None:
    """A kernel may overwrite shared memory that it read, in another layout, without a barrier of its own."""
    shape = (64, 128)
    values = np.random.default_rng(16).standard_normal(shape).astype(np.float32)
    wide, narrow = shared(shape, "f32"), shared(shape, "bf16")
    vector, halves = "vector<64x128xf32>", "vector<64x128xbf16>"
    body = (
        load(0, shape, "f32", "%x", WGMMA)
        + f"""
      %s = mosaic_gpu.slice_smem 0 : {wide}
      %n = mosaic_gpu.slice_smem 0 : {narrow}
      mosaic_gpu.vector_store %x, %s : {vector}, {wide}
      %y = mosaic_gpu.vector_load %s {{optimized = false}} : {wide} -> {vector}
      %l = mosaic_gpu.layout_cast x(%y : {vector}) {{new_layout = {WGMMA}}}
      %h = arith.truncf %l : {vector} to {halves}
      mosaic_gpu.vector_store %h, %n : {halves}, {narrow}
      %z = mosaic_gpu.vector_load %n {{optimized = false}} : {narrow} -> {halves}
      %r = mosaic_gpu.layout_cast x(%z : {halves}) {{new_layout = {WGMMA}}}
    """
        + store(1, shape, "bf16", "%r")
    )
    source = module([(shape, "f32"), (shape, "bf16")], body, shared_bytes=64 * 128 * 4)
    for order in ("lowest-first", "highest-first"):
        out = poisoned(shape, "bf16")
        run(source, values, out, order=order, sanitize="thread")
        np.testing.assert_array_equal(out, values.astype(ml_dtypes.bfloat16))
