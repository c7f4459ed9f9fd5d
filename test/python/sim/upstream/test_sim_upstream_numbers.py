# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of upstream ops in thread-level kernels, against numpy in double precision."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from smalti import sim

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def run(body: str, arguments: str, *arrays: np.ndarray, module: str = "", target: str = "sim:sm_100a") -> None:
    """A warp of 32 threads, which has `%t` and some numbers."""
    text = f"""gpu.module @m {{ {module}
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
{body}
    gpu.return
  }}
}}"""
    sim.simulate(text, target)(*arrays)


each = np.vectorize
UNARY = {
    "absf": np.abs,
    "acosh": lambda x: np.arccosh(1 + np.abs(x)),
    "asin": lambda x: np.arcsin(x / 8),
    "acos": lambda x: np.arccos(x / 8),
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": lambda x: np.arctanh(x / 8),
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": each(math.erf),
    "erfc": each(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": lambda x: np.log(1 + np.abs(x)),
    "log10": lambda x: np.log10(1 + np.abs(x)),
    "log1p": lambda x: np.log1p(1 + np.abs(x)),
    "log2": lambda x: np.log2(1 + np.abs(x)),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "roundeven": np.rint,
    "rsqrt": lambda x: (1 + np.abs(x)) ** -0.5,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": lambda x: np.sqrt(1 + np.abs(x)),
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
ABOVE_ONE = ("acosh", "log", "log10", "log1p", "log2", "rsqrt", "sqrt")
BELOW_ONE = ("asin", "acos", "atanh")


@pytest.mark.parametrize("element", TYPES)
def test_functions(element: str) -> None:
    """All in one program, of numbers from -8 to 8."""
    dtype = TYPES[element]
    x = (np.arange(-16, 16) / 2 + 0.25).astype(dtype)
    count = len(UNARY)
    y = np.zeros((count, 32), dtype)
    lines = [
        f"""
    %x = memref.load %in[%t] : memref<32x{element}>
    %one = arith.constant 1.0 : {element}
    %eighth = arith.constant 0.125 : {element}
    %absolute = math.absf %x : {element}
    %above = arith.addf %absolute, %one : {element}
    %below = arith.mulf %x, %eighth : {element}"""
    ]
    for i, name in enumerate(UNARY):
        operand = "%above" if name in ABOVE_ONE else "%below" if name in BELOW_ONE else "%x"
        lines.append(f"""
    %i{i} = arith.constant {i} : index
    %r{i} = math.{name} {operand} fastmath<contract> : {element}
    memref.store %r{i}, %out[%i{i}, %t] : memref<{count}x32x{element}>""")
    run("".join(lines), f"%in: memref<32x{element}>, %out: memref<{count}x32x{element}>", x, y)
    wide = x.astype(np.float64)
    for row, (name, function) in zip(y, UNARY.items(), strict=True):
        with np.errstate(over="ignore"):
            wanted = np.asarray(function(wide)).astype(dtype)
        # One unit in the last place for functions with another implementation.
        np.testing.assert_allclose(row, wanted, rtol=2 * float(np.finfo(dtype).eps), err_msg=name)


BINARY = {
    "math.atan2": np.arctan2,
    "math.copysign": np.copysign,
    "math.powf": lambda x, y: np.power(np.abs(x), y),
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
}


@pytest.mark.parametrize("element", TYPES)
def test_functions_of_two_numbers(element: str) -> None:
    dtype = TYPES[element]
    x, z = (np.arange(-16, 16) / 4 + 0.125).astype(dtype), np.tile([0.5, -1.25, 2, np.nan], 8).astype(dtype)
    y = np.zeros((len(BINARY), 32), dtype)
    lines = [
        f"""
    %x = memref.load %a[%t] : memref<32x{element}>
    %z = memref.load %b[%t] : memref<32x{element}>
    %absolute = math.absf %x : {element}"""
    ]
    for i, name in enumerate(BINARY):
        first = "%absolute" if name == "math.powf" else "%x"
        lines.append(f"""
    %i{i} = arith.constant {i} : index
    %r{i} = {name} {first}, %z : {element}
    memref.store %r{i}, %out[%i{i}, %t] : memref<{len(BINARY)}x32x{element}>""")
    memory = f"memref<32x{element}>"
    run("".join(lines), f"%a: {memory}, %b: {memory}, %out: memref<{len(BINARY)}x32x{element}>", x, z, y)
    for row, (name, function) in zip(y, BINARY.items(), strict=True):
        wanted = function(x.astype(np.float64), z.astype(np.float64)).astype(dtype)
        np.testing.assert_array_equal(row, wanted, err_msg=name)


def _unsigned(function: object) -> object:
    return lambda x, y: function(x.view(np.uint32), y.view(np.uint32)).view(np.int32)  # pyright: ignore


INTEGERS = {
    "addi": ("overflow<nsw, nuw>", np.add),
    "subi": ("overflow<nsw>", np.subtract),
    "muli": ("overflow<nuw>", np.multiply),
    "shli": ("overflow<nsw>", lambda x, y: x << (y & 31)),
    "shrsi": ("exact", lambda x, y: x >> (y & 31)),
    "shrui": ("", lambda x, y: (x.view(np.uint32) >> (y & 31).view(np.uint32)).view(np.int32)),
    "divsi": ("", lambda x, y: np.trunc(x.astype(np.float64) / y).astype(np.int32)),
    "divui": ("exact", _unsigned(np.floor_divide)),
    "remsi": ("", np.fmod),
    "remui": ("", _unsigned(np.remainder)),
    "floordivsi": ("", np.floor_divide),
    "ceildivsi": ("", lambda x, y: np.ceil(x.astype(np.float64) / y).astype(np.int32)),
    "ceildivui": ("", lambda x, y: np.ceil(x.view(np.uint32) / y.view(np.uint32)).astype(np.uint32).view(np.int32)),
    "andi": ("", np.bitwise_and),
    "ori": ("", np.bitwise_or),
    "xori": ("", np.bitwise_xor),
    "maxsi": ("", np.maximum),
    "minsi": ("", np.minimum),
    "maxui": ("", _unsigned(np.maximum)),
    "minui": ("", _unsigned(np.minimum)),
}


def test_integers() -> None:
    """Flags that promise no overflow do not change the bits of results without overflow."""
    rng = np.random.default_rng(0)
    x, z = rng.integers(-(2**31), 2**31, 32).astype(np.int32), rng.integers(1, 99, 32).astype(np.int32)
    z[::3] *= -1
    y = np.zeros((len(INTEGERS), 32), np.int32)
    lines = [
        """
    %x = memref.load %a[%t] : memref<32xi32>
    %whole = memref.load %b[%t] : memref<32xi32>
    %mask = arith.constant 31 : i32
    %shift = arith.andi %whole, %mask : i32"""
    ]
    for i, (name, (flags, _)) in enumerate(INTEGERS.items()):
        second = "%shift" if name.startswith("sh") else "%whole"
        lines.append(f"""
    %i{i} = arith.constant {i} : index
    %r{i} = arith.{name} %x, {second} {flags} : i32
    memref.store %r{i}, %out[%i{i}, %t] : memref<{len(INTEGERS)}x32xi32>""")
    run("".join(lines), f"%a: memref<32xi32>, %b: memref<32xi32>, %out: memref<{len(INTEGERS)}x32xi32>", x, z, y)
    for row, (name, (_, function)) in zip(y, INTEGERS.items(), strict=True):
        np.testing.assert_array_equal(row, function(x, z), err_msg=name)


def test_memory_of_threads_that_pointers_reach() -> None:
    """The results of a conversion of math.sincos, and copies of bytes."""
    x, y = np.linspace(-3, 3, 32).astype(np.float32), np.zeros((32, 3), np.float32)
    ty = "!llvm.struct<(i32, array<2 x f32>)>"
    body = f"""
    %x = memref.load %in[%t] : memref<32xf32>
    %one = llvm.mlir.constant(1 : i32) : i32
    %own = llvm.alloca %one x {ty} : (i32) -> !llvm.ptr
    %other = llvm.alloca %one x {ty} : (i32) -> !llvm.ptr
    %size = llvm.mlir.constant(12 : i64) : i64
    %byte = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%other, %byte, %size) <{{isVolatile = false}}> : (!llvm.ptr, i8, i64) -> ()
    %sine = llvm.getelementptr %own[0, 1, 0] : (!llvm.ptr) -> !llvm.ptr, {ty}
    %cosine = llvm.getelementptr %own[0, 1, 1] : (!llvm.ptr) -> !llvm.ptr, {ty}
    llvm.call @__nv_sincosf(%x, %sine, %cosine) : (f32, !llvm.ptr, !llvm.ptr) -> ()
    %from = llvm.getelementptr %own[0, 1] : (!llvm.ptr) -> !llvm.ptr, {ty}
    %to = llvm.getelementptr %other[0, 1] : (!llvm.ptr) -> !llvm.ptr, {ty}
    %eight = llvm.mlir.constant(8 : i64) : i64
    "llvm.intr.memcpy"(%to, %from, %eight) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    %pair = llvm.load %to {{alignment = 4 : i64}} : !llvm.ptr -> vector<2xf32>
    %first = llvm.load %other : !llvm.ptr -> f32
    %a = vector.extract %pair[0] : f32 from vector<2xf32>
    %b = vector.extract %pair[1] : f32 from vector<2xf32>
    %c2 = arith.constant 2 : index
    memref.store %a, %out[%t, %c0] : memref<32x3xf32>
    memref.store %b, %out[%t, %c1] : memref<32x3xf32>
    memref.store %first, %out[%t, %c2] : memref<32x3xf32>"""
    module = "llvm.func @__nv_sincosf(f32, !llvm.ptr, !llvm.ptr)"
    run(body, "%in: memref<32xf32>, %out: memref<32x3xf32>", x, y, module=module)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, np.stack([np.sin(wide), np.cos(wide), 0 * wide], 1), rtol=1e-7, atol=1e-7)


def test_masked_accesses_by_pointers() -> None:
    x, y = np.arange(128, dtype=np.float32).reshape(32, 4), np.full((32, 4), -1, np.float32)
    body = """
    %x_index = memref.extract_aligned_pointer_as_index %in : memref<32x4xf32> -> index
    %y_index = memref.extract_aligned_pointer_as_index %out : memref<32x4xf32> -> index
    %x_number = arith.index_cast %x_index : index to i64
    %y_number = arith.index_cast %y_index : index to i64
    %x_base = llvm.inttoptr %x_number : i64 to !llvm.ptr
    %y_base = llvm.inttoptr %y_number : i64 to !llvm.ptr
    %row = arith.index_cast %t : index to i64
    %from = llvm.getelementptr %x_base[%row, 0] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
    %to = llvm.getelementptr %y_base[%row] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xf32>
    %read = arith.constant dense<[true, false, true, true]> : vector<4xi1>
    %write = arith.constant dense<[true, true, false, true]> : vector<4xi1>
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %v = llvm.intr.masked.load %from, %read, %zeros {alignment = 4 : i32}
      : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.intr.masked.store %v, %to, %write {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr"""
    run(body, "%in: memref<32x4xf32>, %out: memref<32x4xf32>", x, y)
    assert (y[:, [0, 3]] == x[:, [0, 3]]).all() and (y[:, 1] == 0).all() and (y[:, 2] == -1).all()


def test_pairs_that_are_converted() -> None:
    x = np.random.default_rng(0).standard_normal((32, 2)).astype(np.float32) * 3
    x[0] = 7e4, np.nan
    h, b, z = np.zeros((32, 2), np.float16), np.zeros((32, 2), ml_dtypes.bfloat16), np.zeros((32, 2), np.float16)
    f, g = np.zeros((32, 2), np.float16), np.zeros((32, 2), np.float16)
    body = """
    %hi = memref.load %in[%t, %c1] : memref<32x2xf32>
    %lo = memref.load %in[%t, %c0] : memref<32x2xf32>
    %h = nvvm.convert.f32x2.to.f16x2 %hi, %lo {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xf16>
    vector.store %h, %a[%t, %c0] : memref<32x2xf16>, vector<2xf16>
    %b = nvvm.convert.f32x2.to.bf16x2 %hi, %lo {rnd = #nvvm.fp_rnd_mode<rn>, relu = true} : vector<2xbf16>
    vector.store %b, %b_out[%t, %c0] : memref<32x2xbf16>, vector<2xbf16>
    %z = nvvm.convert.f32x2.to.f16x2 %hi, %lo {rnd = #nvvm.fp_rnd_mode<rz>} : vector<2xf16>
    vector.store %z, %c[%t, %c0] : memref<32x2xf16>, vector<2xf16>
    %f4 = nvvm.convert.f32x2.to.f4x2 %hi, %lo : i8 (f4E2M1FN)
    %f = nvvm.convert.f4x2.to.f16x2 %f4 : i8 (f4E2M1FN) -> vector<2xf16>
    vector.store %f, %d[%t, %c0] : memref<32x2xf16>, vector<2xf16>
    %f6 = nvvm.convert.f32x2.to.f6x2 %hi, %lo : vector<2xi8> (f6E2M3FN)
    %g = nvvm.convert.f6x2.to.f16x2 %f6 : vector<2xi8> (f6E2M3FN) -> vector<2xf16>
    vector.store %g, %e[%t, %c0] : memref<32x2xf16>, vector<2xf16>"""
    halves = "memref<32x2xf16>"
    arguments = (
        f"%in: memref<32x2xf32>, %a: {halves}, %b_out: memref<32x2xbf16>, %c: {halves}, %d: {halves}, %e: {halves}"
    )
    run(body, arguments, x, h, b, z, f, g)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(h, x.astype(np.float16))
    np.testing.assert_array_equal(
        b.astype(np.float32), np.where(x < 0, 0, x).astype(ml_dtypes.bfloat16).astype(np.float32)
    )
    inside = slice(1, None)
    assert (np.abs(z[inside].astype(np.float32)) <= np.abs(x[inside])).all()
    assert (np.abs(z[inside].astype(np.float32) - x[inside]) <= np.abs(x[inside]) * 2**-10).all()
    assert z[0, 0] == np.float16(65504)
    for found, dtype, most in ((f, ml_dtypes.float4_e2m1fn, 6), (g, ml_dtypes.float6_e2m3fn, 7.5)):
        wanted = np.where(np.isnan(x), most, np.clip(x, -most, most)).astype(dtype).astype(np.float16)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("signs", [("signed", "unsigned"), ("unsigned", "signed")])
def test_mmas_of_bytes(signs: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (32, 4)).astype(np.int8) for _ in range(2))
    y = np.zeros((32, 2), np.int32)
    body = f"""
    %a = vector.load %x[%t, %c0] : memref<32x4xi8>, vector<4xi8>
    %b = vector.load %z[%t, %c0] : memref<32x4xi8>, vector<4xi8>
    %start = arith.constant -7 : i32
    %four = nvvm.dot.accumulate.4way %a <{signs[0]}>, %b <{signs[1]}>, %start : vector<4xi8>, vector<4xi8>
    memref.store %four, %y[%t, %c0] : memref<32x2xi32>
    %wide = vector.bitcast %a : vector<4xi8> to vector<2xi16>
    %two = nvvm.dot.accumulate.2way %wide <{signs[0]}>, %b <{signs[1]}>, %start {{b_hi = true}}
      : vector<2xi16>, vector<4xi8>
    memref.store %two, %y[%t, %c1] : memref<32x2xi32>"""
    run(body, "%x: memref<32x4xi8>, %z: memref<32x4xi8>, %y: memref<32x2xi32>", a, b, y)
    of_a, of_a2 = (np.uint8, np.uint16) if signs[0] == "unsigned" else (np.int8, np.int16)
    of_b = np.uint8 if signs[1] == "unsigned" else np.int8
    left, right = a.view(of_a).astype(np.int64), b.view(of_b).astype(np.int64)
    assert (y[:, 0] == (left * right).sum(1) - 7).all()
    assert (y[:, 1] == (a.view(of_a2).astype(np.int64) * right[:, 2:]).sum(1) - 7).all()


def test_reciprocals() -> None:
    x, y = np.linspace(-3, 3, 64).astype(np.float32).reshape(32, 2), np.zeros((32, 3), np.float32)
    x[0] = 1e-40, 2.5e38
    body = """
    %v = vector.load %x[%t, %c0] : memref<32x2xf32>, vector<2xf32>
    %r = nvgpu.rcp %v {rounding = approx, ftz} : vector<2xf32>
    vector.store %r, %y[%t, %c0] : memref<32x3xf32>, vector<2xf32>
    %a = vector.extract %v[0] : f32 from vector<2xf32>
    %s = nvvm.rcp.approx.ftz.f %a : f32
    %c2 = arith.constant 2 : index
    memref.store %s, %y[%t, %c2] : memref<32x3xf32>"""
    run(body, "%x: memref<32x2xf32>, %y: memref<32x3xf32>", x, y)
    with np.errstate(divide="ignore", over="ignore"):
        wanted = (1 / x.astype(np.float64)).astype(np.float32)
    # Subnormal numbers count as 0, as operands and as results.
    wanted[0] = np.inf, 0
    assert (y[:, :2] == wanted).all() and (y[:, 2] == wanted[:, 0]).all()
