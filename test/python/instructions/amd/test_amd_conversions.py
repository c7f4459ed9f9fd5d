# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's conversions: each against the types of ml_dtypes, bit by bit."""

from __future__ import annotations

from typing import Any

import amd
import ml_dtypes
import numpy as np
import pytest
from helpers import FNUZ, OCP, Array, pack

F16, F32, BF16 = np.float16, np.float32, ml_dtypes.bfloat16
LLVM: dict[Any, str] = {F16: "half", F32: "float", BF16: "bfloat"}
NUMPY: dict[str, Any] = {"f16": F16, "f32": F32, "bf16": BF16}
SMALL: dict[str, tuple[Any, int]] = {
    "fp8": (ml_dtypes.float8_e4m3fn, 8),
    "bf8": (ml_dtypes.float8_e5m2, 8),
    "fp6": (ml_dtypes.float6_e2m3fn, 6),
    "bf6": (ml_dtypes.float6_e3m2fn, 6),
    "fp4": (ml_dtypes.float4_e2m1fn, 4),
}
CHIPS_OF_8_BITS = [("gfx942", FNUZ), ("gfx950", OCP), ("gfx1201", OCP)]
LANES = 64


def call(name: str, result: str, *operands: amd.Operand, dtype: Any = np.uint8, chip: str = "gfx950") -> Array:
    rows = next(len(value) for _, value in operands if isinstance(value, np.ndarray))
    return amd.call(chip, f"llvm.amdgcn.{name}", result, *operands, dtype=dtype, threads=rows)


def same(got: Array, expected: Array) -> None:
    """Equal bits, except that all NaNs are equal."""
    got, expected = np.asarray(got), np.asarray(expected)
    is_nan = np.isnan(expected.astype(float))
    np.testing.assert_array_equal(np.isnan(got.astype(float)), is_nan)
    bits = f"u{got.itemsize}"
    np.testing.assert_array_equal(got.view(bits)[~is_nan], expected.view(bits)[~is_nan])


def all_codes(count: int) -> Array:
    """Each of 256 codes in some lane, `count` in a row."""
    return np.resize(np.arange(256, dtype=np.uint8), (256 // count, count))


def numbers(shape: tuple[int, ...], dtype: Any = F32, scale: float = 1, seed: int = 0) -> Array:
    """Numbers of all magnitudes of a small float, below the largest, with both zeros."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * np.exp2(rng.integers(-9, 2, shape)) * scale
    x.flat[:4] = 0, -0.0, scale, -scale
    return x.astype(dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Packed integers, and f16 toward zero
# ---------------------------------------------------------------------------------------------------------------------


def test_cvt_pkrtz() -> None:
    x = numbers((LANES, 2), scale=1000)
    x[:4] = [[1e9, -1e9], [65519, -65535.9], [np.inf, np.nan], [2.0**-25, -(2.0**-24) * 1.9]]
    got = call("cvt.pkrtz", "<2 x half>", ("float", x[:, :1]), ("float", x[:, 1:]), dtype=F16)
    with np.errstate(over="ignore"):
        expected = x.astype(F16)
        too_large = abs(expected.astype(float)) > abs(x)
        expected = np.where(too_large, np.nextafter(expected, F16(0)), expected).astype(F16)
    expected[np.isinf(x)] = np.inf
    same(got, expected)


@pytest.mark.parametrize("name, dtype, low, scale", [("i16", np.int16, -1, 32767), ("u16", np.uint16, 0, 65535)])
def test_cvt_pknorm(name: str, dtype: Any, low: int, scale: int) -> None:
    x = numbers((LANES, 2))
    x[:2] = [[2, -2], [np.nan, np.inf]]
    got = call(f"cvt.pknorm.{name}", "<2 x i16>", ("float", x[:, :1]), ("float", x[:, 1:]), dtype=dtype)
    expected = np.rint(np.clip(np.nan_to_num(x.astype(float), nan=0), low, 1) * scale)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "name, wide, narrow", [("cvt.pk.i16", np.int32, np.int16), ("cvt.pk.u16", np.uint32, np.uint16)]
)
def test_cvt_pk_integers(name: str, wide: Any, narrow: Any) -> None:
    x = np.random.default_rng(1).integers(-70000, 70000, (LANES, 2)).astype(wide)
    got = call(name, "<2 x i16>", ("i32", x[:, :1]), ("i32", x[:, 1:]), dtype=narrow)
    np.testing.assert_array_equal(got, np.clip(x, np.iinfo(narrow).min, np.iinfo(narrow).max))


def test_cvt_pk_u8_f32() -> None:
    x = np.linspace(-20, 300, LANES, dtype=F32)[:, None]
    x[5] = np.nan
    place = np.arange(LANES, dtype=np.uint32)[:, None]
    old = np.full((LANES, 4), 0xAB, np.uint8)
    got = call("cvt.pk.u8.f32", "i32", ("float", x), ("i32", place), ("i32", old))
    old[np.arange(LANES), place[:, 0] % 4] = np.clip(np.rint(np.nan_to_num(x[:, 0])), 0, 255)
    np.testing.assert_array_equal(got, old)


def test_cvt_off_f32_i4() -> None:
    x = np.arange(16, dtype=np.uint32)[:, None]
    got = call("cvt.off.f32.i4", "float", ("i32", x), dtype=F32)
    np.testing.assert_array_equal(got, np.where(x < 8, x.astype(float), x - 16.0) / 16)


# ---------------------------------------------------------------------------------------------------------------------
# 8-bit floats
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip, types", CHIPS_OF_8_BITS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("ty", ["fp8", "bf8"])
def test_from_8_bits(ty: str, chip: str, types: dict[str, Any]) -> None:
    codes = all_codes(4)
    expected = codes.view(types[ty]).astype(F32)
    for i in range(4):
        same(call(f"cvt.f32.{ty}", "float", ("i32", codes), ("i32", i), dtype=F32, chip=chip), expected[:, i : i + 1])
    for i in range(2):
        got = call(f"cvt.pk.f32.{ty}", "<2 x float>", ("i32", codes), ("i1", i), dtype=F32, chip=chip)
        same(got, expected[:, 2 * i : 2 * i + 2])


@pytest.mark.parametrize("chip, types", CHIPS_OF_8_BITS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("ty", ["fp8", "bf8"])
@pytest.mark.parametrize("upper", [0, 1])
def test_to_8_bits(ty: str, upper: int, chip: str, types: dict[str, Any]) -> None:
    x = numbers((512, 2), scale=50)
    x[:4] = [[1e9, -1e9], [np.inf, -np.inf], [np.nan, 448], [2.0**-18, 3 * 2.0**-18]]
    old = np.full((512, 4), 0x5A, np.uint8)
    got = call(
        f"cvt.pk.{ty}.f32", "i32", ("float", x[:, :1]), ("float", x[:, 1:]), ("i32", old), ("i1", upper), chip=chip
    )
    with np.errstate(over="ignore", invalid="ignore"):
        same(got[:, 2 * upper : 2 * upper + 2].copy().view(types[ty]), x.astype(types[ty]))
    assert (got[:, 2 - 2 * upper : 4 - 2 * upper] == 0x5A).all()


def stochastic(x: Array, random: Array, dtype: Any, source_mantissa: int) -> Array:
    """The neighbor away from zero, if the upper bits of the random number carry."""
    info = ml_dtypes.finfo(dtype)
    magnitude = abs(x.astype(float))
    exponent = np.floor(np.log2(np.where(magnitude == 0, 1, magnitude)))
    unit = np.exp2(np.maximum(exponent, info.minexp) - info.nmant)
    dropped = source_mantissa - info.nmant
    fraction = (random >> np.uint32(32 - dropped)) / 2.0**dropped
    return (np.sign(x) * np.floor(magnitude / unit + fraction) * unit).astype(dtype)


@pytest.mark.parametrize("chip, types", CHIPS_OF_8_BITS, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("ty", ["fp8", "bf8"])
def test_to_8_bits_stochastically(ty: str, chip: str, types: dict[str, Any]) -> None:
    x = numbers((256, 1), scale=10)[4:]
    random = np.random.default_rng(1).integers(0, 2**32, x.shape).astype(np.uint32)
    old = np.full((len(x), 4), 0x5A, np.uint8)
    for place in range(4):
        got = call(f"cvt.sr.{ty}.f32", "i32", ("float", x), ("i32", random), ("i32", old), ("i32", place), chip=chip)
        same(got[:, place : place + 1].copy().view(types[ty]), stochastic(x, random, types[ty], 23))
        assert (np.delete(got, place, axis=1) == 0x5A).all()


def test_stochastic_rounding_is_so_on_average() -> None:
    x = np.full((4096 // 4, 1), 1.03125, F32)
    random = np.random.default_rng(1).integers(0, 2**32, x.shape).astype(np.uint32)
    got = call("cvt.sr.fp8.f32", "i32", ("float", x), ("i32", random), ("i32", 0), ("i32", 0))
    mean = got[:, 0].copy().view(OCP["fp8"]).astype(float).mean()
    assert abs(mean - 1.03125) < 0.01


def test_cvt_f32_fp8_e5m3() -> None:
    codes = all_codes(4)
    exponent, fraction = codes >> 3, codes & 7
    expected = np.where(exponent > 0, (8.0 + fraction) * np.exp2(exponent - 18.0), fraction * 2.0**-17)
    expected[codes == 0xFF] = np.nan
    for i in range(4):
        got = call("cvt.f32.fp8.e5m3", "float", ("i32", codes), ("i32", i), dtype=F32, chip="gfx1250")
        np.testing.assert_array_equal(got, expected[:, i : i + 1])


@pytest.mark.parametrize("ty", ["fp8", "bf8"])
def test_between_8_bits_and_f16(ty: str) -> None:
    codes = all_codes(4)
    expected = codes.view(OCP[ty]).astype(F16)
    for i in range(4):
        got = call(f"cvt.f16.{ty}", "half", ("i32", codes), ("i32", i), dtype=F16, chip="gfx1250")
        same(got, expected[:, i : i + 1])
    got = call(f"cvt.pk.f16.{ty}", "<2 x half>", ("i16", all_codes(2)), dtype=F16, chip="gfx1250")
    same(got, all_codes(2).view(OCP[ty]).astype(F16))
    x = numbers((256, 2), F16, 50)
    got = call(f"cvt.pk.{ty}.f16", "i16", ("<2 x half>", x), chip="gfx1250")
    with np.errstate(over="ignore", invalid="ignore"):
        same(got.view(OCP[ty]), x.astype(F32).astype(OCP[ty]))
    y = numbers((256, 1), F16, 10)[4:]
    random = np.random.default_rng(1).integers(0, 2**32, y.shape).astype(np.uint32)
    got = call(f"cvt.sr.{ty}.f16", "i32", ("half", y), ("i32", random), ("i32", 0), ("i32", 2), chip="gfx1250")
    same(got[:, 2:3].copy().view(OCP[ty]), stochastic(y, random, OCP[ty], 10))


def next_random(x: Array) -> Array:
    return (x << np.uint32(1)) ^ np.where(x >> 31, 197, 0).astype(np.uint32)


@pytest.mark.parametrize("ty", ["f16", "bf16"])
def test_to_halves_stochastically(ty: str) -> None:
    dtype = NUMPY[ty]
    x = numbers((256, 2))[2:]
    random = np.random.default_rng(1).integers(0, 2**32, (len(x), 1)).astype(np.uint32)
    full = f"<2 x {LLVM[dtype]}>"
    expected = np.concatenate(
        [stochastic(x[:, :1], random, dtype, 23), stochastic(x[:, 1:], next_random(random), dtype, 23)], axis=1
    )
    operands = (("float", x[:, :1]), ("float", x[:, 1:]), ("i32", random))
    same(call(f"cvt.sr.pk.{ty}.f32", full, *operands, dtype=dtype, chip="gfx1250"), expected)
    old = np.full((len(x), 2), 7, dtype)
    for upper in (0, 1):
        got = call(
            f"cvt.sr.{ty}.f32", full, (full, old), ("float", x[:, :1]), ("i32", random), ("i1", upper), dtype=dtype
        )
        same(got[:, upper].copy(), expected[:, 0].copy())
        assert (got[:, 1 - upper].astype(float) == 7).all()


# ---------------------------------------------------------------------------------------------------------------------
# With a scale
# ---------------------------------------------------------------------------------------------------------------------

SCALE = 1.75 * 2.0**3
"""Of it only the exponent counts."""
FACTOR = 8.0


def unpack(data: Array, bits: int) -> Array:
    planes = np.unpackbits(data, axis=1, bitorder="little").reshape(len(data), -1, bits)
    return (planes << np.arange(bits)).sum(axis=2).astype(np.uint8)


def small_codes(ty: str, count: int) -> Array:
    return np.random.default_rng(count).integers(0, 1 << SMALL[ty][1], (128, count)).astype(np.uint8)


FROM_PARTS = [
    *[(f"cvt.scalef32.f32.{ty}", ty, "f32", 1, 4, "i32") for ty in ("fp8", "bf8")],
    *[(f"cvt.scalef32.pk.{to}.{ty}", ty, to, 2, 2, "i1") for to in ("f32", "f16", "bf16") for ty in ("fp8", "bf8")],
    *[(f"cvt.scalef32.pk.{to}.fp4", "fp4", to, 2, 4, "i32") for to in ("f32", "f16", "bf16")],
]


@pytest.mark.parametrize("name, ty, to, count, parts, selector", FROM_PARTS, ids=lambda v: v if "cvt" in str(v) else "")
def test_from_a_part(name: str, ty: str, to: str, count: int, parts: int, selector: str) -> None:
    small, bits = SMALL[ty]
    codes = small_codes(ty, count * parts)
    dtype = NUMPY[to]
    full = LLVM[dtype] if count == 1 else f"<{count} x {LLVM[dtype]}>"
    with np.errstate(over="ignore"):
        expected = (codes.view(small).astype(F32) * FACTOR).astype(dtype)
    for part in range(parts):
        got = call(name, full, ("i32", pack(codes, bits)), ("float", str(SCALE)), (selector, part), dtype=dtype)
        same(got, expected[:, count * part : count * (part + 1)])


@pytest.mark.parametrize("ty", ["fp8", "bf8"])
def test_to_one_half(ty: str) -> None:
    codes = all_codes(4)
    old = np.full((64, 2), 7, F16)
    with np.errstate(over="ignore"):
        expected = (codes.view(OCP[ty]).astype(F32) * FACTOR).astype(F16)
    for place in range(4):
        for upper in (0, 1):
            got = call(f"cvt.scalef32.f16.{ty}", "<2 x half>", ("<2 x half>", old), ("i32", codes), ("float", str(SCALE)),
                       ("i32", place), ("i1", upper), dtype=F16)  # fmt: skip
            same(got[:, upper].copy(), expected[:, place].copy())
            assert (got[:, 1 - upper] == 7).all()


@pytest.mark.parametrize("to", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("ty", ["fp6", "bf6"])
def test_from_32_of_6_bits(ty: str, to: str) -> None:
    small, bits = SMALL[ty]
    codes, dtype = small_codes(ty, 32), NUMPY[to]
    name = f"cvt.scalef32.pk32.{to}.{ty}"
    got = call(name, f"<32 x {LLVM[dtype]}>", ("<6 x i32>", pack(codes, bits)), ("float", str(SCALE)), dtype=dtype)
    same(got, (codes.view(small).astype(F32) * FACTOR).astype(dtype))


def rounded(x: Array, ty: str) -> Array:
    """The codes; values that are too large become the largest number in types without infinity and NaN."""
    small, _ = SMALL[ty]
    y = x.astype(float) / FACTOR
    if ty in ("fp6", "bf6", "fp4"):
        largest = float(ml_dtypes.finfo(small).max)
        y = np.clip(y, -largest, largest)
    return y.astype(F32).astype(small).view(np.uint8)


@pytest.mark.parametrize("of", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("ty", ["fp8", "bf8", "fp4"])
def test_to_a_part(ty: str, of: str) -> None:
    bits, dtype = SMALL[ty][1], NUMPY[of]
    x = numbers((256, 2), dtype, 20)
    is_byte = ty != "fp4"
    word = "<2 x i16>" if is_byte else "i32"
    old = np.full((256, 4), 0x5A, np.uint8)
    source: list[amd.Operand] = (
        [("float", x[:, :1]), ("float", x[:, 1:])] if of == "f32" else [(f"<2 x {LLVM[dtype]}>", x)]
    )
    for part in range(2 if is_byte else 4):
        got = call(f"cvt.scalef32.pk.{ty}.{of}", word, (word, old), *source, ("float", str(SCALE)),
                   ("i1" if is_byte else "i32", part))  # fmt: skip
        codes = unpack(got, bits)
        np.testing.assert_array_equal(codes[:, 2 * part : 2 * part + 2], rounded(x, ty))
        np.testing.assert_array_equal(
            np.delete(codes, [2 * part, 2 * part + 1], axis=1), unpack(old, bits)[:, : codes.shape[1] - 2]
        )


@pytest.mark.parametrize("of", ["f16", "bf16"])
@pytest.mark.parametrize("ty", ["fp6", "bf6"])
def test_to_32_of_6_bits(ty: str, of: str) -> None:
    dtype = NUMPY[of]
    x = numbers((64, 32), dtype, 20)
    got = call(f"cvt.scalef32.pk32.{ty}.{of}", "<6 x i32>", (f"<32 x {LLVM[dtype]}>", x), ("float", str(SCALE)))
    np.testing.assert_array_equal(unpack(got, 6), rounded(x, ty))


@pytest.mark.parametrize("ty", ["fp6", "bf6"])
def test_to_twice_16_of_6_bits(ty: str) -> None:
    x = numbers((64, 32), F32, 20)
    operands = (("<16 x float>", x[:, ::2]), ("<16 x float>", x[:, 1::2]), ("float", str(SCALE)))
    got = call(f"cvt.scalef32.2xpk16.{ty}.f32", "<6 x i32>", *operands)
    np.testing.assert_array_equal(unpack(got, 6), rounded(x, ty))


MANTISSAS = {"f32": 23, "f16": 10, "bf16": 7}


def stochastic_codes(x: Array, random: Array, ty: str, of: str) -> Array:
    y = x.astype(float) / FACTOR
    largest = float(ml_dtypes.finfo(SMALL[ty][0]).max)
    result = np.zeros(x.shape, np.uint8)
    for i in range(x.shape[1]):
        column = stochastic(np.clip(y[:, i : i + 1], -largest, largest), random, SMALL[ty][0], MANTISSAS[of])
        result[:, i : i + 1] = column.view(np.uint8)
        random = next_random(random)
    return result


@pytest.mark.parametrize("of", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("ty", ["fp8", "bf8", "fp4"])
def test_to_a_part_stochastically(ty: str, of: str) -> None:
    dtype, bits = NUMPY[of], SMALL[ty][1]
    count = 2 if ty == "fp4" else 1
    x = numbers((256, count), dtype, 10)[4:]
    random = np.random.default_rng(1).integers(0, 2**32, (len(x), 1)).astype(np.uint32)
    old = np.full((len(x), 4), 0x5A, np.uint8)
    source = f"<2 x {LLVM[dtype]}>" if ty == "fp4" else LLVM[dtype]
    name = f"cvt.scalef32.sr.{'pk.' if ty == 'fp4' else ''}{ty}.{of}"
    for place in range(4):
        got = call(name, "i32", ("i32", old), (source, x), ("i32", random), ("float", str(SCALE)), ("i32", place))
        codes = unpack(got[:, place : place + 1], bits)
        np.testing.assert_array_equal(codes, stochastic_codes(x, random, ty, of))
        assert (np.delete(got, place, axis=1) == 0x5A).all()


@pytest.mark.parametrize("of", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("ty", ["fp6", "bf6"])
def test_to_32_of_6_bits_stochastically(ty: str, of: str) -> None:
    dtype = NUMPY[of]
    x = numbers((64, 33), dtype, 10)[:, 1:]
    x[0, :4] = 1
    random = np.random.default_rng(1).integers(0, 2**32, (len(x), 1)).astype(np.uint32)
    name = f"cvt.scalef32.sr.pk32.{ty}.{of}"
    got = call(name, "<6 x i32>", (f"<32 x {LLVM[dtype]}>", x), ("i32", random), ("float", str(SCALE)))
    np.testing.assert_array_equal(unpack(got, 6), stochastic_codes(x, random, ty, of))
