# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-level vectors on an emulated Hopper, compared with numpy: layout changes, reductions, conversions."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from helpers import SAFE, SHARED, Array
from smalti.emulator import Emulation

LAYOUTS = {
    "wgmma": "#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], "
    "vector_dim = -1>",
    "acc": "#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2], [1]], warp_dims = [-8], lane_dims = [-4, -3], "
    "vector_dim = -1>",
    "transposed": "#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2, 2], [2, 1]], warp_dims = [-10], "
    "lane_dims = [-6, -3, -5], vector_dim = -2>",
    "upcast_2x": "#mosaic_gpu.TiledLayout<[[64, 16], [16, 16], [8, 16], [8], [4]], warp_dims = [-8], "
    "lane_dims = [-4, -2, -3], vector_dim = -1>",
    "upcast_4x": "#mosaic_gpu.TiledLayout<[[64, 32], [16, 32], [8, 32], [8]], warp_dims = [-7], lane_dims = [-3, -2], "
    "vector_dim = -1>",
    "eight_bit": "#mosaic_gpu.TiledLayout<[[64, 16], [16, 16], [8, 16], [4]], warp_dims = [-7], lane_dims = [-3, -2], "
    "vector_dim = -1>",
    "tcgen05": "#mosaic_gpu.TiledLayout<[[128, 8], [32, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], "
    "vector_dim = -1>",
    "native": "#mosaic_gpu.TiledLayout<[[128, 2], [32, 2]], warp_dims = [-4], lane_dims = [-2], vector_dim = -1>",
    "strided": "#mosaic_gpu.WGStridedFragLayout<[128, 64], 4>",
    "columns": "#mosaic_gpu.TiledLayout<[[8, 64], [8, 16], [8, 8], [2]], warp_dims = [-6], lane_dims = [-3, -2], "
    "vector_dim = -1>",
    "row": "#mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], "
    "lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>",
    "column": "#mosaic_gpu.TiledLayout<[[8], [2]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], "
    "lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>",
    "native_row": "#mosaic_gpu.TiledLayout<[[128], [32], [1]], warp_dims = [-3], lane_dims = [-2], vector_dim = -1>",
    "columns_row": "#mosaic_gpu.TiledLayout<[[8], [1]], warp_dims = [#mosaic_gpu.Replicated<times = 4>], "
    "lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>",
    "columns_column": "#mosaic_gpu.TiledLayout<[[64], [16], [8], [2]], warp_dims = [-4], "
    "lane_dims = [#mosaic_gpu.Replicated<times = 8>, -2], vector_dim = -1>",
}

TYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}

SHAPE = (128, 64)


def vector(element: str, shape: tuple[int, ...]) -> str:
    return f"vector<{'x'.join(map(str, shape))}x{element}>"


def memref(element: str, shape: tuple[int, ...]) -> str:
    return vector(element, shape).replace("vector", "memref")


@functools.cache
def kernel(arguments: tuple[tuple[str, tuple[int, ...]], ...], body: str, attributes: str = "") -> smalti.Kernel:
    """A block of 128 threads with arguments %0, %1, ... of these types and shapes."""
    declared = ", ".join(f"%{index}: {memref(*argument)}" for index, argument in enumerate(arguments))
    aliases = "\n".join(f"#{name} = {text}" for name, text in LAYOUTS.items())
    return smalti.compile(
        f"""
{aliases}
module attributes {{gpu.container_module}} {{
gpu.module @block_module {{
  gpu.func @block({declared}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>{attributes}}} {{
{body}
    gpu.return
  }}
}}
}}
""",
        target="emu:sm_90a",
    )


def load(name: str, argument: int, element: str, shape: tuple[int, ...], layout: str) -> str:
    return (
        f"    %{name} = mosaic_gpu.vector_load %{argument} {{optimized = false, out_layouts = [#{layout}]}} : "
        f"{memref(element, shape)} -> {vector(element, shape)}\n"
    )


def store(name: str, argument: int, element: str, shape: tuple[int, ...], layout: str) -> str:
    return (
        f"    mosaic_gpu.vector_store %{name}, %{argument} {{in_layouts = [#{layout}]}} : "
        f"{vector(element, shape)}, {memref(element, shape)}\n"
    )


def numbers(element: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Random bits, so that each element is unique. NaNs are quiet, because bf16 may be converted through f32."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(TYPES[element])
    array = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    if element == "bf16":
        array[np.isnan(array.astype(np.float32))] = -np.nan
    return array


def bits(array: Array) -> Array:
    return array.view(np.uint8)


def fill(element: str, shape: tuple[int, ...]) -> Array:
    return np.full((*shape, np.dtype(TYPES[element]).itemsize), 0xFF, np.uint8).view(TYPES[element])[..., 0]


# --- relayouts --------------------------------------------------------------------------------------------------------

CASTS = [
    ("wgmma", "transposed", "f16"),
    ("transposed", "wgmma", "f32"),
    ("transposed", "wgmma", "bf16"),
    ("wgmma", "transposed", "i8"),
    ("upcast_2x", "wgmma", "bf16"),
    ("upcast_2x", "wgmma", "i8"),
    ("upcast_4x", "wgmma", "f16"),
    ("upcast_4x", "upcast_2x", "i8"),
    ("eight_bit", "upcast_2x", "f8E4M3FN"),
    ("wgmma", "acc", "f32"),
    ("acc", "wgmma", "f16"),
    ("acc", "wgmma", "f32"),
    ("wgmma", "tcgen05", "f16"),
    ("tcgen05", "native", "f32"),
    ("strided", "wgmma", "f16"),
    ("wgmma", "strided", "f32"),
    ("columns", "wgmma", "f64"),
    ("strided", "columns", "i8"),
    ("wgmma", "columns", "i16"),
]


@pytest.mark.grid(8)
@pytest.mark.parametrize(("source", "result", "element"), CASTS)
def test_layout_casts(source: str, result: str, element: str) -> None:
    body = load("v", 0, element, SHAPE, source)
    body += (
        f"    %w = mosaic_gpu.layout_cast x(%v : {vector(element, SHAPE)}) {{in_layouts = [#{source}], "
        f"new_layout = #{result}, out_layouts = [#{result}]}}\n"
    )
    body += store("w", 1, element, SHAPE, result)
    x, y = numbers(element, SHAPE), fill(element, SHAPE)
    kernel(((element, SHAPE), (element, SHAPE)), body).launcher(x, y, emulation=SAFE)
    assert np.array_equal(bits(x), bits(y))


def test_consecutive_casts_share_scratch() -> None:
    """No thread overwrites an element before another thread reads it."""
    body = load("a", 0, "f16", SHAPE, "wgmma") + load("b", 1, "f16", SHAPE, "wgmma")
    for name in "ab":
        body += (
            f"    %{name}2 = mosaic_gpu.layout_cast x(%{name} : {vector('f16', SHAPE)}) {{in_layouts = [#wgmma], "
            "new_layout = #tcgen05, out_layouts = [#tcgen05]}\n"
        )
    body += store("a2", 2, "f16", SHAPE, "tcgen05") + store("b2", 3, "f16", SHAPE, "tcgen05")
    arrays = [numbers("f16", SHAPE, seed) for seed in range(2)] + [fill("f16", SHAPE) for _ in range(2)]
    block = kernel((("f16", SHAPE),) * 4, body)
    block.launcher(*arrays, emulation=Emulation(sanitize="thread", workers=1))
    assert np.array_equal(bits(arrays[0]), bits(arrays[2])) and np.array_equal(bits(arrays[1]), bits(arrays[3]))


# --- reductions -------------------------------------------------------------------------------------------------------

KINDS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "maxui": np.maximum,
    "minui": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}

REDUCTIONS = [
    ("wgmma", 1, "row"),
    ("wgmma", 0, "column"),
    ("native", 1, "native_row"),
    ("columns", 1, "columns_row"),
    ("columns", 0, "columns_column"),
]


def reduce_body(kind: str, element: str, layout: str, axis: int, result: str, scratch: str = "") -> str:
    kept = (SHAPE[1 - axis],)
    body = load("v", 0, element, SHAPE, layout) + load("acc", 1, element, kept, result)
    body += (
        f"    %r = vector.multi_reduction <{kind}>, %v, %acc {{in_layouts = [#{layout}, #{result}], "
        f"out_layouts = [#{result}]{scratch}}} [{axis}] : {vector(element, SHAPE)} to {vector(element, kept)}\n"
    )
    return body + store("r", 2, element, kept, result)


def run_reduction(kind: str, element: str, layout: str, axis: int, result: str, x: Array, initial: Array) -> Array:
    kept = (SHAPE[1 - axis],)
    y = fill(element, kept)
    block = kernel(
        ((element, SHAPE), (element, kept), (element, kept)), reduce_body(kind, element, layout, axis, result)
    )
    block.launcher(x, initial, y, emulation=SAFE)
    return y


@pytest.mark.grid(13)
@pytest.mark.parametrize(("layout", "axis", "result"), REDUCTIONS)
@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "f64", "i32", "i8"])
def test_additions(layout: str, axis: int, result: str, element: str) -> None:
    rng = np.random.default_rng(1)
    is_integer = element[0] == "i"
    x = (rng.integers(-100, 100, SHAPE) if is_integer else rng.standard_normal(SHAPE)).astype(TYPES[element])
    initial = np.arange(SHAPE[1 - axis]).astype(TYPES[element])
    y = run_reduction("add", element, layout, axis, result, x, initial)
    if is_integer:
        assert np.array_equal(y, (x.astype(np.int64).sum(axis) + initial).astype(TYPES[element]))
        return
    wanted = x.astype(np.float64).sum(axis) + initial.astype(np.float64)
    # Sums are computed in f32 at least, and rounded once.
    step = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[element]
    scale = np.abs(x.astype(np.float64)).sum(axis) * (2.0**-21 if element != "f64" else 2.0**-48)
    assert (np.abs(y.astype(np.float64) - wanted) <= scale + 1.01 * step * np.abs(wanted)).all()


@pytest.mark.grid(8)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("add", "mul")])
@pytest.mark.parametrize(("layout", "axis", "result"), [REDUCTIONS[0], REDUCTIONS[1], REDUCTIONS[3]])
def test_reduction_kinds(kind: str, layout: str, axis: int, result: str) -> None:
    is_float = kind.endswith("f")
    for element in ["f32", "bf16", "f16"] if is_float else ["i32", "i8", "i64"]:
        if is_float:
            x = np.random.default_rng(2).standard_normal(SHAPE).astype(TYPES[element])
            # Rows and columns with a NaN, with infinities.
            x[5, 7], x[70, 30], x[100, 60], x[101, 61] = np.nan, np.nan, np.inf, -np.inf
            initial = np.zeros(SHAPE[1 - axis], TYPES[element])
            initial[3] = np.nan
        else:
            x, initial = numbers(element, SHAPE), numbers(element, (SHAPE[1 - axis],), 1)
        y = run_reduction(kind, element, layout, axis, result, x, initial)
        values, start = (x, initial) if not kind.endswith("ui") else (as_unsigned(x), as_unsigned(initial))
        with np.errstate(invalid="ignore"):
            wide = values.astype(np.float64) if is_float else values
            wanted = KINDS[kind](KINDS[kind].reduce(wide, axis), start.astype(wide.dtype))
        got = y if not kind.endswith("ui") else as_unsigned(y)
        assert np.array_equal(got.astype(wide.dtype), wanted, equal_nan=is_float), element


def as_unsigned(array: Array) -> Array:
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def test_multiplications() -> None:
    x = np.random.default_rng(3).uniform(0.9, 1.1, SHAPE).astype(np.float32)
    y = run_reduction("mul", "f32", "wgmma", 1, "row", x, np.full(128, 2, np.float32))
    assert np.allclose(y, 2 * x.astype(np.float64).prod(1), rtol=1e-5)


@pytest.mark.parametrize("size", [8192, 4096])
@pytest.mark.parametrize("element", ["f32", "f16", "i32"])
def test_reduction_to_scalar(size: int, element: str) -> None:
    strided = f"#mosaic_gpu.WGStridedFragLayout<[{size}], 2>"
    shape = (size,)
    body = (
        f"    %v = mosaic_gpu.vector_load %0 {{optimized = false, out_layouts = [{strided}]}} : "
        f"{memref(element, shape)} -> {vector(element, shape)}\n"
        f"    %s = vector.reduction <add>, %v {{in_layouts = [{strided}]}} : {vector(element, shape)} into {element}\n"
        f"    %b = vector.broadcast %s {{out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]}} : {element} to "
        f"{vector(element, (128,))}\n"
        f"    %w = mosaic_gpu.layout_cast x(%b : {vector(element, (128,))}) {{"
        "in_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>], "
        "new_layout = #mosaic_gpu.WGStridedFragLayout<[128], 1>, "
        "out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]}\n"
        f"    mosaic_gpu.vector_store %w, %1 {{in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]}} : "
        f"{vector(element, (128,))}, {memref(element, (128,))}\n"
    )
    x = np.random.default_rng(4).integers(-8, 8, shape).astype(TYPES[element])
    y = fill(element, (128,))
    kernel(((element, shape), (element, (128,))), body).launcher(x, y, emulation=SAFE)
    # Every thread has the same sum.
    assert (y == x.astype(np.int64).sum().astype(TYPES[element])).all()


@pytest.mark.parametrize("kind", ["add", "mul", "xor", "maxsi"])
def test_reduction_of_splats(kind: str) -> None:
    """A splat has as many elements as its shape; both dimensions are reduced to a scalar."""
    splat = "#mosaic_gpu.WGSplatFragLayout<[4, 9]>"
    strided = "#mosaic_gpu.WGStridedFragLayout<[128], 1>"
    body = (
        f"    %c = arith.constant {{out_layouts = [{splat}]}} dense<3> : vector<4x9xi32>\n"
        "    %start = arith.constant 5 : i32\n"
        f"    %s = vector.multi_reduction <{kind}>, %c, %start {{in_layouts = [{splat}]}} [0, 1] : vector<4x9xi32> "
        "to i32\n"
        "    %b = vector.broadcast %s {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>\n"
        f"    mosaic_gpu.vector_store %b, %0 {{in_layouts = [{strided}]}} : vector<128xi32>, memref<128xi32>\n"
    )
    y = fill("i32", (128,))
    kernel((("i32", (128,)),), body).launcher(y, emulation=SAFE)
    wanted = {"add": 5 + 36 * 3, "mul": 5 * 3**36, "xor": 5, "maxsi": 5}[kind]
    assert (as_unsigned(y) == wanted % 2**32).all()


@pytest.mark.parametrize("kind", ["and", "or", "xor"])
def test_i1_reductions(kind: str) -> None:
    """Reduction of all elements to a scalar: and, or, xor."""
    strided = "#mosaic_gpu.WGStridedFragLayout<[128, 64], 4>"
    body = load("v", 0, "i32", SHAPE, "strided")
    body += (
        f"    %zero = arith.constant {{out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128, 64]>]}} dense<0> : "
        f"{vector('i32', SHAPE)}\n"
        f"    %t = arith.cmpi ne, %v, %zero {{in_layouts = [{strided}, {strided}], out_layouts = [{strided}]}} : "
        f"{vector('i32', SHAPE)}\n"
        f"    %start = arith.constant {'true' if kind == 'and' else 'false'}\n"
        f"    %s = vector.multi_reduction <{kind}>, %t, %start {{in_layouts = [{strided}]}} [0, 1] : "
        f"{vector('i1', SHAPE)} to i1\n"
        "    %w = arith.extui %s : i1 to i32\n"
        "    %b = vector.broadcast %w {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} : i32 to vector<128xi32>\n"
        "    mosaic_gpu.vector_store %b, %1 {in_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]} : "
        "vector<128xi32>, memref<128xi32>\n"
    )
    block = kernel((("i32", SHAPE), ("i32", (128,))), body)
    for ones in (0, 1, 2, 8191, 8192):
        x, y = np.zeros(SHAPE, np.int32), fill("i32", (128,))
        x.reshape(-1)[np.random.default_rng(8).permutation(8192)[:ones]] = 1
        block.launcher(x, y, emulation=SAFE)
        wanted = {"and": ones == 8192, "or": ones > 0, "xor": ones % 2 == 1}[kind]
        assert (y == wanted).all(), ones


def test_scratch_attributes() -> None:
    """The scratch holds half of the elements, so the reduction has two steps."""
    x = np.random.default_rng(5).standard_normal(SHAPE).astype(np.float32)
    initial = np.zeros(64, np.float32)
    wanted = x.astype(np.float64).sum(0)
    for size in (2048, 1024, 512, 256, 16):
        y = fill("f32", (64,))
        scratch = f", offset = 1024 : i32, scratch_size = {size} : i32"
        block = kernel(
            (("f32", SHAPE), ("f32", (64,)), ("f32", (64,))),
            reduce_body("add", "f32", "wgmma", 0, "column", scratch),
            ", smalti.shared_memory_bytes = 4096 : i64",
        )
        block.launcher(x, initial, y, emulation=Emulation(sanitize="thread", workers=1))
        assert np.allclose(y, wanted, atol=1e-4)


# --- conversions ------------------------------------------------------------------------------------------------------

CONVERSIONS = [
    ("extf", "f8E4M3FN", "f32"),
    ("extf", "f8E4M3FN", "f16"),
    ("extf", "f8E5M2", "bf16"),
    ("extf", "f8E5M2", "f32"),
    ("extf", "bf16", "f32"),
    ("truncf", "f32", "f8E4M3FN"),
    ("truncf", "f32", "f8E5M2"),
    ("truncf", "f16", "f8E4M3FN"),
    ("truncf", "bf16", "f8E5M2"),
    ("truncf", "f32", "bf16"),
    ("truncf", "f32", "f16"),
    ("sitofp", "i8", "bf16"),
    ("sitofp", "i8", "f16"),
    ("sitofp", "i8", "f32"),
    ("uitofp", "i8", "bf16"),
    ("uitofp", "i8", "f16"),
    ("fptosi", "f32", "i8"),
    ("fptosi", "bf16", "i32"),
    ("extsi", "i8", "i32"),
    ("trunci", "i32", "i8"),
]


def converted(op: str, x: Array, to: str) -> Array:
    dtype = np.dtype(TYPES[to])
    if op == "uitofp":
        return as_unsigned(x).astype(np.float32).astype(dtype)
    if to.startswith("f8"):
        # Values that are too large saturate.
        most = float(ml_dtypes.finfo(dtype).max)
        wide = x.astype(np.float32)
        return np.where(np.isnan(wide), wide, np.clip(wide, -most, most)).astype(dtype)
    return x.astype(dtype)


@pytest.mark.grid(20)
@pytest.mark.parametrize(("op", "source", "result"), CONVERSIONS)
@pytest.mark.parametrize("layout", ["wgmma", "eight_bit", "acc"])
def test_conversions(op: str, source: str, result: str, layout: str) -> None:
    body = load("v", 0, source, SHAPE, layout)
    body += (
        f"    %w = arith.{op} %v {{in_layouts = [#{layout}], out_layouts = [#{layout}]}} : "
        f"{vector(source, SHAPE)} to {vector(result, SHAPE)}\n"
    )
    body += store("w", 1, result, SHAPE, layout)
    if op == "fptosi":
        x = np.random.default_rng(6).uniform(-120, 120, SHAPE).astype(TYPES[source])
    elif op == "truncf":
        x = np.random.default_rng(6).standard_normal(SHAPE) * 2.0 ** np.arange(-40, 24)
        with np.errstate(over="ignore"):
            x = x.astype(TYPES[source])
        x[:4, 0] = [np.nan, np.inf, -np.inf, -0.0]
    else:
        x = numbers(source, SHAPE)
    y = fill(result, SHAPE)
    kernel(((source, SHAPE), (result, SHAPE)), body).launcher(x, y, emulation=SAFE)
    with np.errstate(all="ignore"):
        wanted = converted(op, x, result)
    if source[0] != "i" and result[0] not in "i":
        both = np.isnan(wanted.astype(np.float32)) & np.isnan(y.astype(np.float32))
        wanted = np.where(both, y, wanted)
    assert np.array_equal(bits(np.ascontiguousarray(wanted)), bits(y))


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("layout", ["upcast_4x", "wgmma", "eight_bit"])
def test_int4_conversions(is_signed: bool, layout: str) -> None:
    """A conversion to four bits, a layout change, and back."""
    sign = "s" if is_signed else "u"
    body = load("v", 0, "i8", SHAPE, layout)
    body += (
        f"    %n = arith.trunci %v {{in_layouts = [#{layout}], out_layouts = [#{layout}]}} : {vector('i8', SHAPE)} "
        f"to {vector('i4', SHAPE)}\n"
        f"    %c = mosaic_gpu.layout_cast x(%n : {vector('i4', SHAPE)}) {{in_layouts = [#{layout}], "
        "new_layout = #upcast_2x, out_layouts = [#upcast_2x]}\n"
        f"    %d = mosaic_gpu.layout_cast x(%n : {vector('i4', SHAPE)}) {{in_layouts = [#{layout}], "
        "new_layout = #acc, out_layouts = [#acc]}\n"
        f"    %f = arith.{sign}itofp %c {{in_layouts = [#upcast_2x], out_layouts = [#upcast_2x]}} : "
        f"{vector('i4', SHAPE)} to {vector('bf16', SHAPE)}\n"
        f"    %i = arith.ext{sign}i %d {{in_layouts = [#acc], out_layouts = [#acc]}} : {vector('i4', SHAPE)} to "
        f"{vector('i32', SHAPE)}\n"
    )
    body += store("f", 1, "bf16", SHAPE, "upcast_2x") + store("i", 2, "i32", SHAPE, "acc")
    x, y, z = numbers("i8", SHAPE), fill("bf16", SHAPE), fill("i32", SHAPE)
    kernel((("i8", SHAPE), ("bf16", SHAPE), ("i32", SHAPE)), body).launcher(x, y, z, emulation=SAFE)
    wanted = as_unsigned(x).astype(np.int32) & 15
    if is_signed:
        wanted = (wanted ^ 8) - 8
    assert np.array_equal(y.astype(np.int32), wanted) and np.array_equal(z, wanted)


def test_float8_to_integers_needs_instructions() -> None:
    with pytest.raises(
        smalti.CompileError, match="converts 'f8E4M3FN' to 'i32', for which sm_80 does not have an instruction"
    ):
        smalti.compile(
            f"""
gpu.module @m {{
  gpu.func @k(%x: memref<128x64xf8E4M3FN>, %y: memref<128x64xi32>) kernel
      attributes {{known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %v = mosaic_gpu.vector_load %x {{optimized = false, out_layouts = [{LAYOUTS["strided"]}]}}
        : memref<128x64xf8E4M3FN> -> vector<128x64xf8E4M3FN>
    %w = arith.fptosi %v : vector<128x64xf8E4M3FN> to vector<128x64xi32>
    mosaic_gpu.vector_store %w, %y {{in_layouts = [{LAYOUTS["strided"]}]}} : vector<128x64xi32>, memref<128x64xi32>
    gpu.return
  }}
}}
""",
            target="emu:sm_80",
        )


# --- shared memory ----------------------------------------------------------------------------------------------------

PROGRAM = ", mosaic_gpu.thread_group_size = 128 : i64, smalti.shared_memory_bytes = 65536 : i64"


def transforms(tile: tuple[int, ...], swizzle: int) -> str:
    parts = [f"#mosaic_gpu.tile<[{', '.join(map(str, tile))}]>"] if tile else []
    parts += [f"#mosaic_gpu.swizzle<{swizzle} : i32>"] if swizzle > 16 else []
    return f"[{', '.join(parts)}]"


def shared_body(element: str, shape: tuple[int, int], how: str, stored: str, loaded: str, is_transposed: bool) -> str:
    """Through shared memory, from one layout to another; with `is_transposed`, the load transposes."""
    there = memref(element, shape)[:-1] + f", {SHARED}>"
    body = load("v", 0, element, shape, stored)
    body += (
        f'    %m = "mosaic_gpu.slice_smem"() <{{offset = 1024 : i32}}> {{out_transforms = [{how}]}} : () -> {there}\n'
        f"    mosaic_gpu.vector_store %v, %m {{in_layouts = [#{stored}], in_transforms = [{how}], optimized = false}} : "
        f"{vector(element, shape)}, {there}\n"
        "    gpu.barrier\n"
    )
    source, result = "m", shape
    if is_transposed:
        rows, columns = shape
        result = (columns, rows)
        tile = how.split("tile<[")[1].split("]")[0].split(", ")
        turned = how.replace(f"tile<[{', '.join(tile)}]", f"tile<[{', '.join(tile[::-1])}]")
        type_of_result = f"memref<{columns}x{rows}x{element}, strided<[1, {columns}]>, {SHARED}>"
        body += (
            f"    %t = memref.transpose %m (d0, d1) -> (d1, d0) {{in_transforms = [{how}], "
            f"out_transforms = [{turned}]}} : {there} to {type_of_result}\n"
        )
        source, there, how = "t", type_of_result, turned
    body += (
        f"    %w = mosaic_gpu.vector_load %{source} {{optimized = false, in_transforms = [{how}], "
        f"out_layouts = [#{loaded}]}} : {there} -> {vector(element, result)}\n"
    )
    return body + store("w", 1, element, result, loaded)


@pytest.mark.grid(14)
@pytest.mark.parametrize(
    ("element", "tile", "swizzle"),
    [
        ("f16", (8, 64), 128),
        ("f16", (8, 32), 64),
        ("f16", (8, 16), 32),
        ("bf16", (8, 64), 16),
        ("f32", (8, 32), 128),
        ("i8", (8, 64), 64),
        ("f8E5M2", (8, 32), 32),
        ("f64", (8, 16), 128),
        ("f16", (), 128),
        ("f32", (), 16),
    ],
)
@pytest.mark.parametrize(
    ("stored", "loaded"),
    [("wgmma", "eight_bit"), ("strided", "wgmma"), ("upcast_2x", "strided"), ("native", "transposed"), ("acc", "acc")],
)
def test_shared_memory(element: str, tile: tuple[int, ...], swizzle: int, stored: str, loaded: str) -> None:
    body = shared_body(element, SHAPE, transforms(tile, swizzle), stored, loaded, False)
    x, y = numbers(element, SHAPE), fill(element, SHAPE)
    kernel(((element, SHAPE), (element, SHAPE)), body, PROGRAM).launcher(x, y, emulation=SAFE)
    assert np.array_equal(bits(x), bits(y))


@pytest.mark.grid(7)
@pytest.mark.parametrize(("element", "swizzle"), [("f16", 128), ("f16", 64), ("bf16", 32), ("f32", 128), ("i8", 128)])
@pytest.mark.parametrize("loaded", ["wgmma", "transposed", "acc"])
def test_shared_memory_transposed(element: str, swizzle: int, loaded: str) -> None:
    shape = (128, 128)
    tile = (8, swizzle // np.dtype(TYPES[element]).itemsize)
    body = shared_body(element, shape, transforms(tile, swizzle), "wgmma", loaded, True)
    x, y = numbers(element, shape), fill(element, shape)
    kernel(((element, shape), (element, shape)), body, PROGRAM).launcher(x, y, emulation=SAFE)
    assert np.array_equal(bits(np.ascontiguousarray(x.T)), bits(y))


def test_splats_and_replicas_in_shared_memory() -> None:
    """If several threads hold an element, one writes it: no two threads write the same address."""
    there = f"memref<128xf32, {SHARED}>"
    body = load("v", 0, "f32", (128,), "row")
    body += (
        f'    %m = "mosaic_gpu.slice_smem"() <{{offset = 0 : i32}}> {{out_transforms = [[]]}} : () -> {there}\n'
        f'    %n = "mosaic_gpu.slice_smem"() <{{offset = 1024 : i32}}> {{out_transforms = [[]]}} : () -> {there}\n'
        "    %c = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]} dense<3.0> : vector<128xf32>\n"
        f"    mosaic_gpu.vector_store %v, %m {{in_layouts = [#row]}} : vector<128xf32>, {there}\n"
        f"    mosaic_gpu.vector_store %c, %n {{in_layouts = [#mosaic_gpu.WGSplatFragLayout<[128]>]}} : "
        f"vector<128xf32>, {there}\n"
        "    gpu.barrier\n"
        f"    %a = mosaic_gpu.vector_load %m {{optimized = false, out_layouts = [#native_row]}} : {there} -> "
        "vector<128xf32>\n"
        f"    %b = mosaic_gpu.vector_load %n {{optimized = false, out_layouts = [#native_row]}} : {there} -> "
        "vector<128xf32>\n"
        "    %s = arith.addf %a, %b : vector<128xf32>\n"
    )
    body += store("s", 1, "f32", (128,), "native_row")
    x, y = np.arange(128, dtype=np.float32), fill("f32", (128,))
    block = kernel((("f32", (128,)), ("f32", (128,))), body, PROGRAM)
    block.launcher(x, y, emulation=Emulation(sanitize="thread", workers=1))
    assert np.array_equal(y, x + 3)


def test_concurrent_thread_groups() -> None:
    """Each thread group has its own barrier and scratch."""
    body = """
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %program = arith.divui %thread, %c128 : index
    %x = memref.subview %0[%program, 0, 0] [1, 128, 64] [1, 1, 1]
        : memref<2x128x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
    %y = memref.subview %1[%program, 0, 0] [1, 128, 64] [1, 1, 1]
        : memref<2x128x64xf16> to memref<128x64xf16, strided<[64, 1], offset: ?>>
    %z = memref.subview %2[%program, 0] [1, 64] [1, 1] : memref<2x64xf16> to memref<64xf16, strided<[1], offset: ?>>
    %v = mosaic_gpu.vector_load %x {optimized = false, out_layouts = [#wgmma]}
        : memref<128x64xf16, strided<[64, 1], offset: ?>> -> vector<128x64xf16>
    %w = mosaic_gpu.layout_cast x(%v : vector<128x64xf16>) {in_layouts = [#wgmma], new_layout = #tcgen05,
        out_layouts = [#tcgen05]}
    mosaic_gpu.vector_store %w, %y {in_layouts = [#tcgen05]}
        : vector<128x64xf16>, memref<128x64xf16, strided<[64, 1], offset: ?>>
    %zero = arith.constant {out_layouts = [#mosaic_gpu.WGSplatFragLayout<[64]>]} dense<-0.0> : vector<64xf16>
    %s = vector.multi_reduction <add>, %v, %zero {in_layouts = [#wgmma, #column], out_layouts = [#column],
        offset = 0 : i32, scratch_size = 2048 : i32} [0] : vector<128x64xf16> to vector<64xf16>
    mosaic_gpu.vector_store %s, %z {in_layouts = [#column]} : vector<64xf16>, memref<64xf16, strided<[1], offset: ?>>
"""
    aliases = "\n".join(f"#{name} = {text}" for name, text in LAYOUTS.items())
    block = smalti.compile(
        f"""
{aliases}
module attributes {{gpu.container_module}} {{
gpu.module @block_module {{
  gpu.func @block(%0: memref<2x128x64xf16>, %1: memref<2x128x64xf16>, %2: memref<2x64xf16>) kernel attributes {{
      known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>{PROGRAM}}} {{
{body}
    gpu.return
  }}
}}
}}
""",
        target="emu:sm_90a",
    )
    x = np.random.default_rng(7).standard_normal((2, 128, 64)).astype(np.float16)
    y, z = fill("f16", (2, 128, 64)), fill("f16", (2, 64))
    for order in ("lowest-first", "highest-first", "round-robin"):
        block.launcher(x, y, z, emulation=Emulation(sanitize="thread", workers=1, order=order))
        assert np.array_equal(x, y)
        assert np.allclose(z.astype(np.float64), x.astype(np.float64).sum(1), atol=2e-2, rtol=1e-3)
    assert "barrier.sync" in block.asm["llvm"] or "barrier.cta.sync" in block.asm["llvm"]


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i32", "f64"])
def test_atomic_stores(element: str) -> None:
    body = load("v", 0, element, (128,), "row")
    body += (
        f"    mosaic_gpu.vector_store %v, %1 {{in_layouts = [#row], atomic_type = 0 : i32}} : "
        f"{vector(element, (128,))}, {memref(element, (128,))}\n"
    )
    x, y = np.arange(128).astype(TYPES[element]), np.arange(128)[::-1].astype(TYPES[element])
    kernel(((element, (128,)), (element, (128,))), body).launcher(x, y, emulation=SAFE)
    # Once per element, although four threads hold it.
    assert (y.astype(np.int64) == 127).all()
