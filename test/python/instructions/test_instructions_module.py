# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti.instructions`: conversions exhaustively against ml_dtypes and exact rounding, matmuls against float64, and
wave instructions against their documents' formulas."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import ml_dtypes
import numbers_reference
import numpy as np
import pytest
from helpers import Array
from smalti import instructions
from smalti._mlir_libs import _smaltiInstructions as native

pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")

FLOATS = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
INTEGERS = {
    name: np.dtype(name.replace("ui", "uint").replace("i", "int", 1) if "ui" not in name else f"uint{name[2:]}")
    for name in ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
}
WITHOUT_NAN = ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
UNSIGNED = "f8E8M0FNU"


def bits_of(name: str) -> int:
    return ml_dtypes.finfo(FLOATS[name]).bits


def all_codes(name: str) -> Array:
    """Every number of a type of 16 bits or less."""
    bits = bits_of(name)
    codes = np.arange(1 << bits).astype(np.uint16 if bits == 16 else np.uint8)
    return codes.view(FLOATS[name])


@functools.cache
def numbers(name: str, to: str) -> Array:
    """Every number of a short type; of the others the numbers of the target, the middle between two and
    next to that, and some beyond."""
    if bits_of(name) <= 16:
        return all_codes(name)
    if bits_of(to) <= 16:
        found = np.unique(all_codes(to).astype(np.float64))
        found = found[np.isfinite(found)]
    else:
        found = np.unique(np.float32(np.random.default_rng(1).standard_normal(2000)).astype(np.float64))
    middles = (found[:-1] + found[1:]) / 2
    beyond = [np.nan, np.inf, 1e-45, 1e-310, 1e30, 1e300, *(found.max() * by for by in (1.01, 1.03, 1.06, 1.2, 2))]
    with np.errstate(all="ignore"):
        exact = np.concatenate([found, middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf), beyond])
        return np.concatenate([exact, -exact]).astype(FLOATS[name])


def limits(name: str) -> tuple[int, int, float, float]:
    """Mantissa bits, the exponent of the smallest normal number, the smallest and the largest number."""
    info = ml_dtypes.finfo(FLOATS[name])
    return info.nmant, info.minexp, float(info.smallest_subnormal), float(info.max)


def same(found: Array, wanted: Array) -> None:
    one, two = found.astype(np.float64), wanted.astype(np.float64)
    bad = ~((one == two) & (np.signbit(one) == np.signbit(two)) | (np.isnan(one) & np.isnan(two)))
    assert not bad.any(), (one[bad][:4], two[bad][:4])


def saturated(values: Array, to: str) -> Array:
    """Rounded once by ml_dtypes, except for types that go through float32."""
    largest = limits(to)[3]
    wide = values.astype(np.float64)
    found = np.clip(wide, -largest, largest)
    if to in WITHOUT_NAN:
        found = np.where(np.isnan(wide), largest, found)
    return found


def exactly(values: Array, to: str, mode: str) -> Array:
    """Rounded by exact fractions, without bounds."""
    mantissa, min_exponent, *_ = limits(to)
    format_ = numbers_reference.Format(mantissa, min_exponent, 1023)
    return np.array(
        [
            v if not np.isfinite(v) or v == 0 else numbers_reference.rounded(Fraction(v), format_, mode)
            for v in values.astype(np.float64).tolist()
        ]
    )


PAIRS = [(one, two) for one in FLOATS for two in FLOATS if two != UNSIGNED]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_conversions_that_saturate(source: str, target: str) -> None:
    values = numbers(source, target)
    if (bits_of(source), bits_of(target)) == (64, 16):
        # The oracle takes its time.
        values = np.concatenate([values[::17], values[-24:]])
    with np.errstate(all="ignore"):
        wanted = saturated(values, target)
        if bits_of(target) < 64:
            rounded = exactly(wanted, target, "rn") if bits_of(source) == 64 else wanted
            wanted = np.where(np.isnan(wanted), wanted, rounded).astype(np.float32).astype(FLOATS[target])
    found = instructions.convert(values, source, target, saturate=True)
    assert found.dtype == FLOATS[target]
    same(found, wanted)


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] != "f64"])
def test_conversions_that_overflow(source: str, target: str) -> None:
    values = numbers(source, target)
    if target in WITHOUT_NAN:
        # The OCP's microscaling formats do not have codes above their largest number.
        values = values[np.abs(values.astype(np.float64)) <= limits(target)[3]]
    with np.errstate(all="ignore"):
        wanted = values.astype(np.float32) if source == UNSIGNED else values
        same(instructions.convert(values, source, target), wanted.astype(FLOATS[target]))


@pytest.mark.grid(60)
@pytest.mark.parametrize("target", [name for name in FLOATS if name not in ("f64", UNSIGNED)])
@pytest.mark.parametrize("source", ["f64", "f32", "f16"])
@pytest.mark.parametrize(
    ("rounding", "mode"),
    [("nearest_even", "rn"), ("nearest_away", "rna"), ("toward_zero", "rz"), ("down", "rm"), ("up", "rp")],
)
def test_roundings(source: str, target: str, rounding: str, mode: str) -> None:
    values = numbers(source, target)
    values = values[np.isfinite(values.astype(np.float64))][:: max(1, len(values) // 1500)]
    largest = limits(target)[3]
    with np.errstate(all="ignore"):
        wanted = exactly(values, target, mode)
    inside = np.abs(wanted) <= largest
    for saturate in (True, False):
        found = instructions.convert(values, source, target, rounding=rounding, saturate=saturate).astype(np.float64)
        zeros_have_signs = "FNUZ" not in target
        same(np.abs(found[inside]), np.abs(wanted[inside]))
        signs = inside & ((wanted != 0) | zeros_have_signs)
        assert (np.signbit(found[signs]) == np.signbit(values.astype(np.float64)[signs])).all()
        beyond = values.astype(np.float64)[~inside]
        downward = (mode == "rz") | ((mode == "rm") & (beyond > 0)) | ((mode == "rp") & (beyond < 0))
        stays = np.full(beyond.shape, saturate or target in WITHOUT_NAN) | downward
        assert (np.abs(found[~inside][stays]) == largest).all()
        assert not np.isfinite(found[~inside][~stays]).any()


def test_nan_is_the_documents() -> None:
    """PTX ISA, "cvt": canonical NaN has all bits but the sign."""
    nan = -np.array(np.nan, np.float32)
    codes = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF, "tf32": 0x7FFFFFFF, "f8E4M3FN": 0x7F, "f8E5M2": 0x7F}
    for name, code in codes.items():
        found = instructions.convert(nan, "f32", name, saturate=True)
        assert int(found.reshape(1).view(f"u{found.itemsize}")[0]) == code


def test_tf32_reads_the_upper_bits() -> None:
    words = np.random.default_rng(2).integers(0, 1 << 32, 4096).astype(np.uint32)
    found = instructions.convert(words.view(np.float32), "tf32", "f32")
    same(found, (words & np.uint32(0xFFFFE000)).view(np.float32))


@pytest.mark.parametrize("source", ["f32", "bf16", "f64"])
def test_scales_of_powers_of_two(source: str) -> None:
    """PTX ISA, "cvt": to ue8m0 `.rz` and `.rp` round the exponent. In the middle between two powers, the nearest is the
    larger one, as for ml_dtypes, which rounds wrongly what is denormal in f32."""
    values = numbers(source, "bf16").astype(FLOATS[source])
    positive = np.abs(values.astype(np.float64))
    positive = positive[np.isfinite(positive) & (positive > 0) & (positive < 2.0**127)]
    for rounding, function in (("toward_zero", np.floor), ("up", np.ceil)):
        exact = positive.astype(FLOATS[source])
        mantissa, exponent = np.frexp(exact.astype(np.float64))
        wanted = exponent - 1 + (mantissa > 0.5 if function is np.ceil else 0)
        found = instructions.convert(exact, source, UNSIGNED, rounding=rounding)
        assert (found.view(np.uint8) == np.clip(wanted + 127, 0, 254)).all()
    mantissa, exponent = np.frexp(positive.astype(FLOATS[source]).astype(np.float64))
    found = instructions.convert(positive.astype(FLOATS[source]), source, UNSIGNED)
    assert (found.view(np.uint8) == np.clip(exponent - 1 + (mantissa >= 0.75) + 127, 0, 254)).all()
    for code in range(256):
        found = instructions.convert(np.uint8(code).reshape(1), UNSIGNED, "f64")[0]
        assert found == 2.0 ** (code - 127) if code < 255 else np.isnan(found)


@pytest.mark.parametrize("step", [29, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", [name for name in FLOATS if name != UNSIGNED])
def test_integers_round_once(source: str, target: str, step: int) -> None:
    """The oracle takes its time: it checks every 29th number of 16 bits, and every seventh in the long run."""
    info = np.iinfo(INTEGERS[source])
    if info.bits <= 16:
        values = np.arange(info.min, info.max + 1)
    else:
        base = [1 << e for e in range(info.bits - (info.min < 0))]
        near = [b + (b >> 11) * odd + d for b in base for odd in (0, 1, 3) for d in (-1, 0, 1)]
        near += [b + (b >> s) + d for b in base for s in (4, 8, 9, 24, 25, 53, 54) for d in (-1, 0, 1)]
        values = np.array([v * sign for v in near for sign in (1, -1) if info.min <= v * sign <= info.max], object)
    largest = Fraction(limits(target)[3])
    mantissa, min_exponent, *_ = limits(target)
    format_ = numbers_reference.Format(mantissa, min_exponent, 1023)
    found = instructions.convert(values.astype(INTEGERS[source]), source, target, saturate=True).astype(np.float64)
    step = step if info.bits == 16 else 1
    for value, number in zip(values.tolist()[::step], found[::step], strict=True):
        limited = max(-largest, min(largest, Fraction(value)))
        assert number == numbers_reference.rounded(limited, format_, "rn")


@pytest.mark.parametrize("source", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f4E2M1FN"])
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("rounding", ["toward_zero", "nearest_even", "down", "up"])
def test_floats_as_integers(source: str, target: str, rounding: str) -> None:
    """PTX ISA, "cvt": clamped; NaN is 0, or the sign bit alone if a type has 64 bits."""
    values = numbers(source, "f16")
    info = np.iinfo(INTEGERS[target])
    if bits_of(source) > 16:
        edges = [float(edge) for edge in (info.min, info.max)] + [0.5, 1.5, 2.5, 1e10, 1e19, 1e20]
        values = np.concatenate([values, np.array([*edges, *(-e for e in edges)], FLOATS[source])])
    function: Any = {"toward_zero": np.trunc, "nearest_even": np.rint, "down": np.floor, "up": np.ceil}[rounding]
    found = instructions.convert(values, source, target, rounding=rounding)
    nan = 1 << (info.bits - 1) if 64 in (info.bits, bits_of(source)) else 0
    nan -= (1 << info.bits) if nan and info.min else 0
    wide = function(values.astype(np.float64))
    low, high = wide < info.min, wide >= 2.0 ** (info.bits - (info.min < 0))
    inside = ~(low | high | np.isnan(wide))
    assert (found[np.isnan(wide)] == nan).all()
    assert (found[low] == info.min).all()
    assert (found[high] == info.max).all()
    assert (found[inside] == wide[inside].astype(INTEGERS[target])).all()


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integers_as_integers(source: str, target: str) -> None:
    info, to = np.iinfo(INTEGERS[source]), np.iinfo(INTEGERS[target])
    edges = {0, 1, -1, 127, 128, 255, 256, 32768, -32769, 1 << 31, (1 << 63) - 1, info.min, info.max, to.min, to.max}
    values = np.array(sorted(e for e in edges if info.min <= e <= info.max), INTEGERS[source])
    wrapped = instructions.convert(values, source, target)
    assert (wrapped == values.astype(INTEGERS[target])).all()
    clamped = instructions.convert(values, source, target, saturate=True)
    assert clamped.tolist() == [max(to.min, min(to.max, v)) for v in values.tolist()]


def test_integers_of_some_bits() -> None:
    values = np.arange(-128, 128).astype(np.int8)
    assert (instructions.convert(values, "i8", "i4") == ((values & 15) ^ 8) - 8).all()
    assert (instructions.convert(values, "i8", "ui4") == (values & 15)).all()
    assert (instructions.convert(values, "i8", "i2", saturate=True) == np.clip(values, -2, 1)).all()
    four = np.arange(16).astype(np.int8)
    assert (instructions.convert(four, "i4", "f32") == (four ^ 8) - 8).all()
    assert instructions.convert(np.array([False, True]), "i1", "f32").tolist() == [0, -1]
    assert instructions.convert(np.array([False, True]), "ui1", "f32").tolist() == [0, 1]
    assert instructions.convert(np.array([0, 3, -2]), "i64", "i1").tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "f8E4M3FN"])
def test_fused_additions_round_once(name: str) -> None:
    random = np.random.default_rng(3)
    x, y, z = (np.array(random.standard_normal(300) * by, FLOATS[name]) for by in (1, 1, 2.0**-9))
    mantissa, min_exponent, *_ = limits(name)
    format_ = numbers_reference.Format(mantissa, min_exponent, 1023)
    found = instructions.convert(instructions.fused(x, y, z), "f64", name).astype(np.float64)
    for a, b, c, number in zip(*(v.astype(np.float64).tolist() for v in (x, y, z)), found, strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        assert number == numbers_reference.rounded(exact, format_, "rn")


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------------------------------------------------

OPERANDS = [name for name in FLOATS if name != UNSIGNED]


def drawn(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    return np.array(random.standard_normal(shape), FLOATS[name])


@pytest.mark.parametrize("type_c", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("type_b", OPERANDS)
@pytest.mark.parametrize("type_a", OPERANDS)
def test_matmul(type_a: str, type_b: str, type_c: str) -> None:
    """The sum in float64 may differ by what the order of its terms makes."""
    random = np.random.default_rng(4)
    for m, n, k in ((13, 9, 5), (64, 24, 32), (1, 1, 1), (8, 8, 0)):
        a, b, c = drawn(random, type_a, (m, k)), drawn(random, type_b, (k, n)), drawn(random, type_c, (m, n))
        found = instructions.matmul(c, a, b, type_a, type_b, type_c)
        assert found.dtype == c.dtype
        wide = [v.astype(np.float64) for v in (a, b, c)]
        exact = wide[0] @ wide[1] + wide[2]
        terms = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
        with np.errstate(all="ignore"):
            rounded = np.asarray(exact.astype(np.float32) if type_c != "f64" else exact, FLOATS[type_c])
        unit = float(ml_dtypes.finfo(FLOATS[type_c]).eps)
        difference = np.abs(found.astype(np.float64) - rounded.astype(np.float64))
        assert (difference <= unit * np.abs(exact) + 2.0**-50 * terms).all()
        assert m * n < 100 or type_c == "f64" or (difference == 0).mean() > 0.98


def test_matmul_rounds_once() -> None:
    """1 + 2^-24 + 2^-60 is above the middle between two numbers of f32, and its terms in f32 are not."""
    a = np.array([[1, 1, 1]], np.float32)
    b = np.array([[1], [2.0**-24], [2.0**-52]], np.float32)
    found = instructions.matmul(np.zeros((1, 1), np.float32), a, b, "f32", "f32", "f32")
    assert found[0, 0] == np.nextafter(np.float32(1), np.float32(2))


def test_matmul_of_tf32_ignores_low_bits() -> None:
    a = np.array([[np.nextafter(np.float32(1), np.float32(2))]])
    one = np.ones((1, 1), np.float32)
    zero = np.zeros((1, 1), np.float32)
    assert instructions.matmul(zero, a, one, "tf32", "tf32", "f32")[0, 0] == 1
    assert instructions.matmul(zero, a, one, "f32", "f32", "f32")[0, 0] == a[0, 0]


@pytest.mark.parametrize("type_c", ["i32", "i64", "ui32", "i8"])
@pytest.mark.parametrize("type_b", INTEGERS)
@pytest.mark.parametrize("type_a", INTEGERS)
def test_matmul_of_integers_wraps(type_a: str, type_b: str, type_c: str) -> None:
    random = np.random.default_rng(5)

    def values(name: str, shape: tuple[int, int]) -> Array:
        info = np.iinfo(INTEGERS[name])
        return random.integers(info.min, info.max, shape, INTEGERS[name], endpoint=True)

    a, b, c = values(type_a, (12, 20)), values(type_b, (20, 11)), values(type_c, (12, 11))
    exact = a.astype(object) @ b.astype(object) + c.astype(object)
    bits = np.iinfo(INTEGERS[type_c]).bits
    wanted = np.array((exact & ((1 << bits) - 1)).tolist(), f"u{bits // 8}").view(INTEGERS[type_c])
    assert (instructions.matmul(c, a, b, type_a, type_b, type_c) == wanted).all()


@pytest.mark.parametrize("scale_type", ["f8E8M0FNU", "ue4m3"])
@pytest.mark.parametrize("name", ["f8E4M3FN", "f4E2M1FN", "f6E2M3FN"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_matmul_with_scales(name: str, scale_type: str, is_sparse: bool) -> None:
    random = np.random.default_rng(6)
    m, n, k, block = 24, 17, 64, 16
    a, b = drawn(random, name, (m, k // 2 if is_sparse else k)), drawn(random, name, (k, n))
    low, high = (120, 134) if scale_type == UNSIGNED else (0x28, 0x50)
    of_rows, of_columns = (random.integers(low, high, (count, k // block)).astype(np.uint8) for count in (m, n))
    scales = of_rows, of_columns
    values = [
        2.0 ** (codes.astype(np.float64) - 127)
        if scale_type == UNSIGNED
        else codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64)
        for codes in scales
    ]
    positions = np.sort(np.argsort(random.random((m, k // 4, 4)), -1)[..., :2], -1)
    full = np.zeros((m, k // 4, 4))
    if is_sparse:
        np.put_along_axis(full, positions, a.astype(np.float64).reshape(m, k // 4, 2), -1)
    left = (full.reshape(m, k) if is_sparse else a.astype(np.float64)) * np.repeat(values[0], block, 1)
    right = b.astype(np.float64) * np.repeat(values[1], block, 1).T
    found = instructions.matmul(
        np.ones((m, n), np.float32),
        a,
        b,
        name,
        name,
        "f32",
        scales=scales,
        scale_type=scale_type,
        scale_block=block,
        sparsity=positions if is_sparse else None,
    )
    np.testing.assert_allclose(found, left @ right + 1, rtol=2.0**-23, atol=2.0**-40)


def test_scales_that_are_no_numbers() -> None:
    """0xff of ue8m0 is NaN; ue4m3 has 7 bits, and a code with the eighth means nothing."""
    a = np.ones((1, 32), ml_dtypes.float4_e2m1fn)
    for scale_type, code in (("f8E8M0FNU", 0xFF), ("ue4m3", 0x7F), ("ue4m3", 0xB8)):
        scales = np.full((1, 1), code, np.uint8), np.full((1, 1), 0x38, np.uint8)
        found = instructions.matmul(
            np.zeros((1, 1), np.float32),
            a,
            a.T,
            "f4E2M1FN",
            "f4E2M1FN",
            "f32",
            scales=scales,
            scale_type=scale_type,
            scale_block=32,
        )
        assert np.isnan(found).all()


# ---------------------------------------------------------------------------------------------------------------------
# Instructions of waves and layouts
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str) -> None:
    """The pseudocode of the PTX ISA, "shfl.sync"."""
    random = np.random.default_rng(7)
    waves = 6
    value = random.integers(0, 1 << 32, (waves, 32)).astype(np.uint32)
    by = random.integers(0, 32, (waves, 32)).astype(np.int32)
    clamp = np.broadcast_to(random.choice([31, 0x1C1F, 0x1807, 0x181F], (waves, 1)), by.shape).astype(np.int32)
    everyone = np.full((waves, 32), -1, np.int32)
    found = instructions.execute(f"llvm.nvvm.shfl.sync.{mode}.i32", [everyone, value, by, clamp], np.uint32)
    for wave, lane in np.ndindex(found.shape):
        segment, bound, b = clamp[wave, lane] >> 8 & 31, clamp[wave, lane] & 31, by[wave, lane]
        most = (lane & segment) | (bound & ~segment)
        source = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": (lane & segment) | (b & ~segment)}[mode]
        inside = source >= most if mode == "up" else source <= most
        assert found[wave, lane] == value[wave, source if inside else lane]


def test_an_mma_in_waves() -> None:
    """mma.m16n8k8 with tf32: layouts from the PTX ISA, "Matrix Fragments for mma.m16n8k8"."""
    random = np.random.default_rng(8)
    waves = 3
    a, b, c = (random.integers(-8, 8, (waves, *shape)).astype(np.float32) for shape in ((16, 8), (8, 8), (16, 8)))
    lane = np.arange(32)
    group, thread = lane // 4, lane % 4
    of_a = [a[:, group + 8 * (i % 2), thread + 4 * (i // 2)] for i in range(4)]
    of_b = [b[:, thread + 4 * i, group] for i in range(2)]
    of_c = [c[:, group + 8 * (i // 2), 2 * thread + i % 2] for i in range(4)]
    name = "llvm.nvvm.mma.m16n8k8.row.col.tf32"
    found = instructions.execute(name, [*of_a, *of_b, *of_c], np.float32, count=4)
    d = a @ b + c
    for i in range(4):
        assert (found[..., i] == d[:, group + 8 * (i // 2), 2 * thread + i % 2]).all()


def test_a_meaning_that_depends_on_the_architecture() -> None:
    """CDNA3's fp8 has a bias of 8 and CDNA4's of 7: one code is half as large."""
    word, byte = np.full((1, 64), 0x40, np.uint32), np.zeros((1, 64), np.int32)
    for architecture, wanted in (("CDNA3", 1.0), ("CDNA4", 2.0), ("CDNA3", 1.0)):
        found = instructions.execute("llvm.amdgcn.cvt.f32.fp8", [word, byte], np.float32, architecture=architecture)
        assert (found == wanted).all()


def test_lanes_that_do_not_participate() -> None:
    value = np.arange(64, dtype=np.int32).reshape(1, 64)
    found = instructions.execute(
        "llvm.amdgcn.readfirstlane.i32", [value], np.int32, active=np.array([0b1100], np.uint64)
    )
    assert found[0, :5].tolist() == [0, 0, 2, 2, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: instructions.convert(np.float32(1), "f32", "f9"),
            "unknown element type 'f9'; known types: f64, f32",
        ),
        (lambda: instructions.convert(np.float32(1), "f16", "f32"), "cannot hold elements of type 'f16'"),
        (lambda: instructions.convert(np.float32(1), "f32", "f16", rounding="odd"), "unknown rounding 'odd'"),
        (
            lambda: instructions.convert(np.float32(1), "f32", "ue4m3"),
            "values cannot be rounded to the element type ue4m3",
        ),
        (
            lambda: instructions.matmul(np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2)), "f64", "f64", "f64"),
            "their shapes must be",
        ),
        (
            lambda: instructions.matmul(
                np.zeros((2, 2)), np.zeros((2, 2), np.int64), np.zeros((2, 2)), "i64", "f64", "f64"
            ),
            "all floats or all integers",
        ),
        (
            lambda: instructions.matmul(
                np.zeros((1, 1)), np.zeros((1, 2)), np.zeros((4, 1)), "f64", "f64", "f64", sparsity=np.array([[[1, 4]]])
            ),
            "from 0 to 3",
        ),
        (lambda: instructions.execute("llvm.nvvm.mbarrier.init", [np.zeros((1, 32))], np.int32), "unknown instruction"),
        (
            lambda: instructions.execute("llvm.amdgcn.readfirstlane.i32", [np.zeros((1, 5), np.int32)], np.int32),
            "must be 32 or 64",
        ),
        (
            lambda: instructions.execute("llvm.nvvm.shfl.sync.up.i32", [np.zeros((1, 64), np.int32)] * 4, np.int32),
            "must be 32$",
        ),
        (
            lambda: instructions.execute("llvm.nvvm.shfl.sync.up.i32", [np.zeros((1, 32), np.int32)] * 3, np.int32),
            r"requires operands of \(4, 4, 4, 4\) bytes and a result of 4$",
        ),
        (
            lambda: instructions.execute("llvm.nvvm.shfl.sync.up.i32", [np.zeros((1, 32), np.int32)] * 4, np.int64),
            "the result has 8",
        ),
        (
            lambda: instructions.execute(
                "llvm.nvvm.vote.ballot.sync", [np.full((1, 32), 3, np.int32), np.zeros((1, 32), np.int8)], np.int32
            ),
            "the mask of lane 0, 0x3, is not that of the active lanes",
        ),
        (
            lambda: instructions.execute("llvm.amdgcn.cvt.f32.fp8", [np.zeros((1, 64), np.int32)] * 2, np.float32),
            "the AMD architecture '' is not emulated",
        ),
        (
            lambda: instructions.execute(
                "llvm.nvvm.mma.m16n8k8.row.col.tf32",
                [np.zeros((1, 32), np.float32)] * 10,
                np.float32,
                count=4,
                active=np.array([1]),
            ),
            "the mask of wave 0 has inactive lanes; this instruction requires that all lanes of a wave are active",
        ),
        (
            lambda: instructions.unpack_scales(np.zeros((1, 1, 31, 16), np.uint8)),
            "has the shape .1, 1, 31, 16.; dimension 2 must",
        ),
        (lambda: instructions.sparse_positions(np.zeros((15, 64), np.int8), 16), "multiples of 16"),
        (lambda: instructions.sparse_positions(np.zeros((16, 64), np.int8), 7), "8 or 16 bits"),
        (lambda: instructions.unpack_metadata(np.zeros((1, 1, 3, 5), np.uint8)), "the last two of 128 and of 16 or 64"),
        (lambda: instructions.convert(np.ones(3, ">f4"), "f32", "f16"), "cannot hold elements"),
        (lambda: instructions.convert(np.ones(3, "M8[s]"), "f64", "f16"), "cannot hold elements"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def _zeros(count: int) -> Array:
    return np.zeros(count, np.uint8)


def _execute(name: str, results: tuple[int, int, int], active: list[int], operands: list[tuple[int, int, int]]) -> None:
    arrays = [np.zeros(shape, np.uint8) for shape in operands]
    native.execute(name, arrays, np.array(active, np.uint64), np.zeros(results, np.uint8), "")


SHUFFLE = "llvm.nvvm.shfl.sync.up.i32"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: native.convert(_zeros(8), "f32", "f16", "nearest_even", False, _zeros(6)),
            "'values' has 8 bytes, 4 per element, and 'results' has 6 bytes, 2 per element; the numbers of elements must be equal",
        ),
        (
            lambda: native.fuse("f32", _zeros(8), _zeros(8), _zeros(4), np.zeros(2)),
            "the operands x, y and z have 8, 8 and 4 bytes; for 2 results, each must have 8 bytes",
        ),
        (
            lambda: _matmul(_zeros(16), _zeros(16), -1),
            "the matmul sizes m, n and k are -1, 2 and 2; each must be from 0 to 2^24 - 1",
        ),
        (
            lambda: _matmul(_zeros(16), _zeros(12), 2),
            "the matmul operands a, b and accumulator have 16, 12 and 16 bytes; for m=2, n=2 and k=2, they must have 16, 16 and 16 bytes",
        ),
        (
            lambda: _matmul(_zeros(16), _zeros(16), 2, "i32", (_zeros(2), _zeros(2))),
            "the operands of the matmul are integers, but it has scales, which only floats can have; remove the scales",
        ),
        (
            lambda: _matmul(_zeros(16), _zeros(16), 2, "f32", (_zeros(2), _zeros(2)), 3),
            "k is 2, and each scale applies to 3 elements along k; k must be a multiple of this number, which must be positive",
        ),
        (
            lambda: _matmul(_zeros(16), _zeros(16), 2, "f32", (_zeros(2), _zeros(3)), 2),
            "the scales of a and b have 2 and 3 bytes; they must have 2 and 2 bytes (2 and 2 scales)",
        ),
        (
            lambda: _execute("llvm.nvvm.mbarrier.init", (1, 32, 4), [1], []),
            "unknown instruction 'llvm.nvvm.mbarrier.init'; pass the name of an emulated instruction that accesses "
            "neither memory nor other threads",
        ),
        (
            lambda: _execute(SHUFFLE, (1, 5, 4), [1], []),
            "the result of the instruction has 5 lanes; it must have 32 or 64",
        ),
        (
            lambda: _execute(SHUFFLE, (2, 32, 4), [1], []),
            "the operands have 2 waves, but 1 masks are given; one mask per wave is required",
        ),
        (
            lambda: _execute(SHUFFLE, (1, 32, 513), [1], []),
            "the instruction has 0 operands and 513 result bytes per lane; at most 64 operands and 512 result bytes are supported",
        ),
        (
            lambda: _execute(SHUFFLE, (1, 32, 4), [1], [(1, 64, 4)]),
            "operand 0 has 1 waves of 64 lanes with 4 bytes each; 1 waves of 32 lanes with at most 512 bytes each are "
            "required",
        ),
        (
            lambda: _execute(SHUFFLE, (1, 32, 4), [1 << 32], [(1, 32, 4)] * 4),
            f"{SHUFFLE}: the mask 0x100000000 of wave 0 exceeds 32 bits; the wave has 32 lanes",
        ),
        (
            lambda: native.sparse_positions(np.zeros((16, 16), np.uint8), 16, _zeros(8)),
            "'metadata' has 256 bytes, but 'positions' has 8; both must have the same number of bytes",
        ),
    ],
)
def test_refusals_of_the_bindings(call: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def _matmul(a: Array, b: Array, m: int, kind: str = "f32", scales: Any = None, block: int = 0) -> None:
    native.matmul(_zeros(16), a, b, m, 2, 2, kind, kind, kind, scales, "f8E8M0FNU", block, None)


@pytest.mark.parametrize("rows", [32, 64])
def test_scales_as_rows_and_columns(rows: int) -> None:
    """PTX ISA, "Layout of the scale factor matrix": 32 lanes have four rows 32 apart, of four columns each."""
    packed = np.arange(2 * 3 * rows * 16, dtype=np.uint32).reshape(2, 3, rows, 16).astype(np.uint8)
    found = instructions.unpack_scales(packed)
    assert found.shape == (8 * rows, 12)
    for tile, column, row, part, element in np.ndindex(2, 3, rows, 4, 4):
        at = 4 * rows * tile + 128 * (row // 32) + 32 * part + row % 32
        assert found[at, 4 * column + element] == packed[tile, column, row, 4 * part + element]


def test_metadata_as_rows_and_columns() -> None:
    packed = np.random.default_rng(9).integers(0, 4, (2, 3, 128, 64)).astype(np.int8)
    found = instructions.unpack_metadata(packed)
    assert (found[128 + 5, 64:128] == packed[1, 1, 5]).all()
    assert (found == packed.transpose(0, 2, 1, 3).reshape(256, 192)).all()
    assert (instructions.sparse_positions(found, 8) == found.reshape(256, 96, 2)).all()
    halves = instructions.sparse_positions(found, 16).reshape(256, 192)
    # JAX, `format_tcgen05_sparse_metadata`, inverted.
    split = found.reshape(2, 8, 2, 8, 3, 4, 2, 8).transpose(0, 1, 6, 3, 4, 5, 2, 7)
    assert (halves == split.reshape(256, 192)).all()


def test_all_types_are_known() -> None:
    assert set(FLOATS) | set(INTEGERS) <= set(instructions.types())
    for name, found in instructions.types().items():
        assert instructions.dtype(name).itemsize == found.bytes
