# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of floats of at most 8 bits, compared with ml_dtypes for every code, and elements of less than a byte."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import reference
from smalti.check import compare
from smalti.compiler import entry

BYTES = {
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3": "float8_e4m3",
    "f8E3M4": "float8_e3m4",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
}
NIBBLE = {"f4E2M1FN": "float4_e2m1fn"}
SMALL = {**BYTES, **NIBBLE}
# sm_90a and gfx1201 have instructions for some of the types.
TARGETS = ["cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201"]
WIDE: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def numpy_type(small: str) -> Any:
    return getattr(ml_dtypes, SMALL[small])


def bits(small: str) -> int:
    return int(small[1])


def stored(values: np.ndarray, small: str) -> np.ndarray:
    """An array for the call: packed bytes for a 4-bit type."""
    return pack(values.view(np.uint8), 4) if small in NIBBLE else values


def pack(codes: np.ndarray, width: int) -> np.ndarray:
    count = 8 // width
    parts = codes.astype(np.uint8).reshape(*codes.shape[:-1], -1, count) << (np.arange(count, dtype=np.uint8) * width)
    return np.bitwise_or.reduce(parts, -1).astype(np.uint8)


def unpack(packed: np.ndarray, width: int) -> np.ndarray:
    count = 8 // width
    parts = packed[..., None] >> (np.arange(count, dtype=np.uint8) * width) & ((1 << width) - 1)
    return parts.reshape(*packed.shape[:-1], -1)


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal to the bit, except for the payloads of NaNs."""
    got64, expected64 = got.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(got64, expected64)
    numbers = ~np.isnan(expected64)
    np.testing.assert_array_equal(np.signbit(got64)[numbers], np.signbit(expected64)[numbers])


@pytest.mark.grid(16)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("small", SMALL)
def test_every_code_is_extended(small: str, target: str) -> None:
    count = 512
    tile = f"tensor<{count}x{small}>"
    code = f"  %t = triton_xla.extract %a[0] [{count}] [1] : memref<{count}x{small}> to tensor<{count}x{small}>\n"
    for wide in WIDE:
        code += f"""
  %{wide} = arith.extf %t : {tile} to tensor<{count}x{wide}>
  triton_xla.insert %{wide} into %o_{wide}[0] [{count}] [1] : tensor<{count}x{wide}> into memref<{count}x{wide}>
"""
    results = ", ".join(f"%o_{wide}: memref<{count}x{wide}>" for wide in WIDE)
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @extend(%a: memref<{count}x{small}>, {results}, %tile: index) tiles 1 {{
{code}
  triton_xla.return
}}
""",
        target=target,
    )
    values = (np.arange(count) % (1 << bits(small))).astype(np.uint8).view(numpy_type(small))
    outs = [np.full(count, 77, dtype) for dtype in WIDE.values()]
    kernel(stored(values, small), *outs)
    for out in outs:
        with np.errstate(all="ignore"):
            same(out, values.astype(np.float64).astype(out.dtype))


def numbers(small: str) -> np.ndarray:
    """Every value, the middle between neighbors, numbers next to both, large, subnormal and special numbers."""
    codes = np.arange(1 << bits(small), dtype=np.uint8).view(numpy_type(small)).astype(np.float64)
    finite = np.unique(codes[np.isfinite(codes)])
    middle = (finite[1:] + finite[:-1]) / 2
    exact = np.concatenate([finite, middle, finite[-1:] * 1.03, finite[-1:] * 1.5])
    near = np.concatenate([exact * (1 + 2.0**-20), exact * (1 - 2.0**-20), exact * (1 + 2.0**-45), exact])
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 1e-39, 1e38, -1e38, 1e300, 1e-300]
    return np.concatenate([near, -near, special])


def truncated(values: np.ndarray, small: str) -> np.ndarray:
    """The rule of the conversion. (ml_dtypes rounds f64 twice.)"""
    dtype = numpy_type(small)
    wide = values.astype(np.float64)
    scale = small == "f8E8M0FNU"
    codes = np.arange(255 if scale else 1 << (bits(small) - 1), dtype=np.uint8)
    finite = codes[np.isfinite(codes.view(dtype).astype(np.float64))]
    ladder = finite.view(dtype).astype(np.float64)
    middle = (ladder[1:] + ladder[:-1]) / 2
    below = np.searchsorted(middle, np.abs(wide), side="left")
    # At a tie, the even code; of powers of two, the larger one.
    tie = np.isin(np.abs(wide), middle) & (scale | (below % 2 == 1))
    nearest = ladder[np.where(np.isnan(wide), 0, below + tie)]
    result = np.copysign(nearest, wide).astype(dtype)
    if scale:
        result = np.where(wide <= 0, np.where(wide == 0, 2.0**-127, np.nan).astype(dtype), result)
    nan = np.float64(np.nan if bits(small) == 8 else ladder[-1]).astype(dtype)
    return np.where(np.isnan(wide), nan, result)


@pytest.mark.grid(16)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("small", SMALL)
def test_truncation_rounds_once_and_saturates(small: str, target: str) -> None:
    rng = np.random.default_rng(5)
    exact = np.concatenate([numbers(small), rng.integers(0, 1 << 32, 200, np.uint32).view(np.float32)])
    exact = np.append(exact, np.zeros(-len(exact) % 512))
    with np.errstate(all="ignore"):
        inputs = [exact.astype(dtype) for dtype in WIDE.values()]
    count = len(exact)
    code = ""
    for wide in WIDE:
        code += f"""
  %t_{wide} = triton_xla.extract %a_{wide}[0] [{count}] [1] : memref<{count}x{wide}> to tensor<{count}x{wide}>
  %n_{wide} = arith.truncf %t_{wide} : tensor<{count}x{wide}> to tensor<{count}x{small}>
  triton_xla.insert %n_{wide} into %o_{wide}[0] [{count}] [1] : tensor<{count}x{small}> into memref<{count}x{small}>
"""
    arguments = [f"%a_{wide}: memref<{count}x{wide}>" for wide in WIDE]
    arguments += [f"%o_{wide}: memref<{count}x{small}>" for wide in WIDE]
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @truncate({", ".join(arguments)}, %tile: index) tiles 1 {{
{code}
  triton_xla.return
}}
""",
        target=target,
    )
    outs = [np.full(count // 2 if small in NIBBLE else count, 0x5A, np.int8) for _ in WIDE]
    typed = small not in NIBBLE
    kernel(*inputs, *(out.view(numpy_type(small)) if typed else out for out in outs))
    for values, out in zip(inputs, outs, strict=True):
        codes = unpack(out.view(np.uint8), 4) if small in NIBBLE else out.view(np.uint8)
        with np.errstate(all="ignore"):
            same(codes.view(numpy_type(small)), truncated(values, small))


@pytest.mark.grid(10)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("small", SMALL)
def test_integers_round_once(small: str, target: str) -> None:
    """Also if the kernel converts to f32 first: MLIR combines the conversions."""
    powers = 1 << np.arange(31)
    values = np.unique(np.concatenate([np.arange(-600, 600), powers, -powers, powers + 1, powers - 1, 3 * powers >> 1]))
    values = np.append(values, np.zeros(-len(values) % 512, int)).astype(np.int32)
    count = len(values)
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @convert(%a: memref<{count}xi32>, %o: memref<{count}x{small}>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %a[0] [{count}] [1] : memref<{count}xi32> to tensor<{count}xi32>
  %f = arith.sitofp %t : tensor<{count}xi32> to tensor<{count}xf32>
  %n = arith.truncf %f : tensor<{count}xf32> to tensor<{count}x{small}>
  triton_xla.insert %n into %o[0] [{count}] [1] : tensor<{count}x{small}> into memref<{count}x{small}>
  triton_xla.return
}}
""",
        target=target,
    )
    out = np.full(count // 2 if small in NIBBLE else count, 0x5A, np.int8)
    typed = small not in NIBBLE
    kernel(values, out.view(numpy_type(small)) if typed else out)
    codes = unpack(out.view(np.uint8), 4) if small in NIBBLE else out.view(np.uint8)
    with np.errstate(all="ignore"):
        same(codes.view(numpy_type(small)), truncated(values.astype(np.float64), small))


@pytest.mark.grid(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("small", BYTES)
def test_conversions_between_small_floats(small: str, target: str) -> None:
    """All codes, to all types of the other width, and through a type of 4 bits."""
    count = 1 << bits(small)
    others = [other for other in BYTES if bits(other) != bits(small)]
    op = "arith.extf" if bits(small) == 6 else "arith.truncf"
    code = f"  %t = triton_xla.extract %a[0] [{count}] [1] : memref<{count}x{small}> to tensor<{count}x{small}>\n"
    code += f"  %f = arith.truncf %t : tensor<{count}x{small}> to tensor<{count}xf4E2M1FN>\n"
    for other in others:
        for name, value in (
            ("n", f"{op} %t : tensor<{count}x{small}>"),
            ("m", f"arith.extf %f : tensor<{count}xf4E2M1FN>"),
        ):
            code += f"""
  %{name}_{other} = {value} to tensor<{count}x{other}>
  triton_xla.insert %{name}_{other} into %o{name}_{other}[0] [{count}] [1] : tensor<{count}x{other}> into memref<{count}x{other}>
"""
    results = ", ".join(f"%o{name}_{other}: memref<{count}x{other}>" for other in others for name in "nm")
    text = f"""
triton_xla.entry_func @convert(%a: memref<{count}x{small}>, {results}, %tile: index) tiles 1 {{
{code}
  triton_xla.return
}}
"""
    values = np.arange(count).astype(np.uint8).view(numpy_type(small))
    outs = [np.zeros(count, numpy_type(other)) for other in others for _ in "nm"]
    module = smalti.parse(text)
    function = entry.find_entry(module)
    arguments = entry.describe(function).arguments
    expected = reference.run(function, [values, *outs])
    smalti.compile(text, target=target)(values, *outs)
    with np.errstate(all="ignore"):
        narrow = truncated(values, "f4E2M1FN")
        for number, (other, out) in enumerate(zip((other for other in others for _ in "nm"), outs, strict=True)):
            same(out, truncated(narrow if number % 2 else values, other))
            assert not compare(arguments[number + 1], out, expected[number + 1]).wrong


@pytest.mark.grid(10)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("small", BYTES)
def test_moves(small: str, target: str) -> None:
    """Constants, selections, transposes, loads and stores of tiles keep the bits of the elements."""
    tile, turned = f"tensor<64x32x{small}>", f"tensor<32x64x{small}>"
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @move(%a: memref<64x32x{small}>, %m: memref<64x32xi8>, %o: memref<32x64x{small}>, %tile: index) tiles 1 {{
  %t = triton_xla.extract %a[0, 0] [64, 32] [1, 1] : memref<64x32x{small}> to {tile}
  %mt = triton_xla.extract %m[0, 0] [64, 32] [1, 1] : memref<64x32xi8> to tensor<64x32xi8>
  %zero = arith.constant dense<0> : tensor<64x32xi8>
  %isSet = arith.cmpi ne, %mt, %zero : tensor<64x32xi8>
  %k = arith.constant dense<2.0> : {tile}
  %s = arith.select %isSet, %t, %k : tensor<64x32xi1>, {tile}
  %r = triton_xla.transpose %s [1, 0] : {tile} -> {turned}
  triton_xla.insert %r into %o[0, 0] [32, 64] [1, 1] : {turned} into memref<32x64x{small}>
  triton_xla.return
}}
""",
        target=target,
    )
    rng = np.random.default_rng(6)
    a = rng.permutation(np.arange(2048) % (1 << bits(small))).astype(np.uint8).reshape(64, 32)
    mask = rng.integers(0, 2, (64, 32), np.int8)
    out = np.full((32, 64), 0x5A, np.uint8)
    kernel(a.view(numpy_type(small)), mask, out.view(numpy_type(small)))
    two = np.array(2.0).astype(numpy_type(small)).view(np.uint8)
    np.testing.assert_array_equal(out, np.where(mask, a, two).T)


@pytest.mark.parametrize("element", ["i4", "i2", "f4E2M1FN"])
@pytest.mark.parametrize(
    ("rows", "columns", "row", "column"), [(3, 5, 1, 3), (2, 16, 0, 0), (4, 7, 2, 11), (3, 9, -1, -3)]
)
def test_windows_of_packed_elements(element: str, rows: int, columns: int, row: int, column: int) -> None:
    width = 2 if element == "i2" else 4
    source, target = (f"memref<?x16x{element}, strided<[{stride}, 1]>>" for stride in (24, 16))
    tile = f"tensor<{rows}x{columns}x{element}>"
    kernel = smalti.compile(
        f"""
triton_xla.entry_func @copy(%a: {source}, %o: {target}, %r: index, %c: index, %tile: index) tiles 1 {{
  %t = triton_xla.extract %a[%r, %c] [{rows}, {columns}] [1, 1] : {source} to {tile}
  triton_xla.insert %t into %o[%r, %c] [{rows}, {columns}] [1, 1] : {tile} into {target}
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %s = memref.load %a[%c1, %c15] : {source}
  %c3 = arith.constant 3 : index
  memref.store %s, %o[%c3, %c1] : {target}
  triton_xla.return
}}
""",
        target="cpu",
    )
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 256, (5, 24 * width // 8), dtype=np.uint8)
    a = whole[:, : 16 * width // 8]
    out = rng.integers(0, 256, (5, 16 * width // 8), dtype=np.uint8)
    expected, values = unpack(out, width).copy(), unpack(a, width)
    for y in range(max(row, 0), min(row + rows, 5)):
        for x in range(max(column, 0), min(column + columns, 16)):
            expected[y, x] = values[y, x]
    expected[3, 1] = values[1, 15]
    kernel(a.view(np.int8), out.view(np.int8), row, column)
    np.testing.assert_array_equal(unpack(out, width), expected)


def test_tiles_that_share_bytes_on_several_threads() -> None:
    """Each instance of the kernel writes three elements; a byte has two."""
    kernel = smalti.compile(
        """
triton_xla.entry_func @share(%a: memref<30000xi8>, %o: memref<30000xi4>, %tile: index) tiles 10000 {
  %c3 = arith.constant 3 : index
  %at = arith.muli %tile, %c3 : index
  %t = triton_xla.extract %a[%at] [3] [1] : memref<30000xi8> to tensor<3xi8>
  %n = arith.trunci %t : tensor<3xi8> to tensor<3xi4>
  triton_xla.insert %n into %o[%at] [3] [1] : tensor<3xi4> into memref<30000xi4>
  triton_xla.return
}
""",
        target="cpu",
    )
    a = np.random.default_rng(2).integers(-128, 128, 30000, dtype=np.int8)
    out = np.full(15000, 0x5A, np.int8)
    kernel(a, out)
    np.testing.assert_array_equal(unpack(out.view(np.uint8), 4), a.view(np.uint8) & 15)


def test_integers_and_constants_of_less_than_a_byte() -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @mixed(%a: memref<16xi4>, %o: memref<16xi8>, %p: memref<16xi8>, %f: memref<4xf32>,
                             %tile: index) tiles 1 {
  %t = triton_xla.extract %a[0] [16] [1] : memref<16xi4> to tensor<16xi4>
  %k = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1]> : tensor<16xi4>
  %s = arith.addi %t, %k : tensor<16xi4>
  %w = arith.extsi %s : tensor<16xi4> to tensor<16xi8>
  triton_xla.insert %w into %o[0] [16] [1] : tensor<16xi8> into memref<16xi8>
  %u = arith.extui %s : tensor<16xi4> to tensor<16xi8>
  triton_xla.insert %u into %p[0] [16] [1] : tensor<16xi8> into memref<16xi8>
  %c = arith.constant dense<[1.0, -6.0, 0.5, -0.0]> : tensor<4xf4E2M1FN>
  %d = arith.extf %c : tensor<4xf4E2M1FN> to tensor<4xf32>
  triton_xla.insert %d into %f[0] [4] [1] : tensor<4xf32> into memref<4xf32>
  triton_xla.return
}
""",
        target="cpu",
    )
    values = np.random.default_rng(3).integers(0, 16, 16).astype(np.uint8)
    o, p, f = np.full(16, 77, np.int8), np.full(16, 77, np.int8), np.full(4, np.nan, np.float32)
    kernel(pack(values, 4).view(np.int8), o, p, f)
    total = (values + np.arange(16)) % 16
    np.testing.assert_array_equal(p, total)
    np.testing.assert_array_equal(o, np.where(total < 8, total, total - 16))
    same(f, np.array([1.0, -6.0, 0.5, -0.0]))


def test_constants_and_matmul_of_every_8_bit_type() -> None:
    for small in ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"):
        kernel = smalti.compile(
            f"""
triton_xla.entry_func @matmul(%a: memref<16x8x{small}>, %o: memref<16x16xf32>, %tile: index) tiles 1 {{
  %x = triton_xla.extract %a[0, 0] [16, 8] [1, 1] : memref<16x8x{small}> to tensor<16x8x{small}>
  %y = arith.constant dense<2.5> : tensor<8x16x{small}>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = triton_xla.dot %x, %y, %zero : tensor<16x8x{small}>, tensor<8x16x{small}> -> tensor<16x16xf32>
  triton_xla.insert %r into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into memref<16x16xf32>
  triton_xla.return
}}
""",
            target="cpu",
        )
        a = np.random.default_rng(4).standard_normal((16, 8)).astype(numpy_type(small))
        out = np.full((16, 16), np.nan, np.float32)
        kernel(a, out)
        expected = a.astype(np.float64).sum(1) * 2.5
        np.testing.assert_allclose(out, np.repeat(expected[:, None], 16, 1), rtol=1e-6, atol=1e-6)
