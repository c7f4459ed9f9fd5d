# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's per-lane arithmetic, against float64 or integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import amd
import ml_dtypes
import numpy as np
import pytest
from helpers import Array

LANES = 64
F16, F32, F64, BF16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16
LLVM: dict[Any, str] = {F16: "half", F32: "float", F64: "double", BF16: "bfloat"}


def call(name: str, result: str, *operands: amd.Operand, dtype: Any = np.uint8, chip: str = "gfx942") -> Array:
    """In as many lanes as there are rows, for each wave size."""
    rows = next(len(value) for _, value in operands if isinstance(value, np.ndarray))
    return amd.call(chip, f"llvm.amdgcn.{name}", result, *operands, dtype=dtype, threads=rows)


def values(dtype: Any, low: float = -8, high: float = 8, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (LANES, 1))
    x[:8, 0] = np.clip([1, 2, 0.5, 4, 0.25, 3, 7, 6], low, high)
    return x.astype(dtype)


def words(seed: int, count: int = 1, dtype: Any = np.uint32) -> Array:
    x = np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, (LANES, count), dtype, endpoint=True)
    x[:3] = [[0], [np.iinfo(dtype).max], [1]]
    return x


# ---------------------------------------------------------------------------------------------------------------------
# Functions of one float
# ---------------------------------------------------------------------------------------------------------------------

TURN = 2 * np.pi
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "rcp": (lambda x: 1 / x, 0.1, 8),
    "rsq": (lambda x: 1 / np.sqrt(x), 0.1, 8),
    "sqrt": (np.sqrt, 0, 8),
    "exp2": (np.exp2, -8, 8),
    "log": (np.log2, 0.1, 8),
    "sin": (lambda x: np.sin(TURN * x), -3, 3),
    "cos": (lambda x: np.cos(TURN * x), -3, 3),
    "tanh": (np.tanh, -4, 4),
}
OF_F64 = ["rcp", "rsq", "sqrt"]


OF_TYPES = [(name, dtype) for name in FUNCTIONS for dtype in (F16, BF16, F32)] + [(name, F64) for name in OF_F64]


@pytest.mark.parametrize("name, dtype", OF_TYPES, ids=lambda value: getattr(value, "__name__", value))
def test_function(name: str, dtype: Any) -> None:
    function, low, high = FUNCTIONS[name]
    x = values(dtype, low, high)
    got = call(amd.mangle(name, LLVM[dtype]), LLVM[dtype], (LLVM[dtype], x), dtype=dtype, chip="gfx1250")
    expected = function(x.astype(F64))
    bound = {F16: 2.0**-11, BF16: 2.0**-8, F32: 2.0**-24, F64: 2.0**-51}[dtype]
    assert (abs(got.astype(F64) - expected) <= bound * 1.001 * abs(expected) + 1e-15).all()


def test_single_precision_functions_flush_denormal_numbers() -> None:
    tiny = np.full((LANES, 1), 2.0**-140, F32)
    assert np.isinf(call("rcp.f32", "float", ("float", tiny), dtype=F32)).all()
    assert np.isneginf(call("log.f32", "float", ("float", tiny), dtype=F32)).all()
    assert (call("exp2.f32", "float", ("float", tiny * 0 - 130), dtype=F32) == 0).all()


def test_specials_of_functions() -> None:
    x = np.resize(np.array([0, -0.0, np.inf, -np.inf, np.nan], F32), (LANES, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_array_equal(call("rcp.f32", "float", ("float", x), dtype=F32), 1 / x)
        np.testing.assert_array_equal(call("sqrt.f32", "float", ("float", x), dtype=F32), np.sqrt(x))
        np.testing.assert_array_equal(call("exp2.f32", "float", ("float", x), dtype=F32), np.exp2(x))
        np.testing.assert_array_equal(call("log.f32", "float", ("float", x), dtype=F32), np.log2(x))


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=lambda t: t.__name__)
def test_fract(dtype: Any) -> None:
    x = values(dtype)
    x[0] = -np.finfo(dtype).tiny
    got = call(amd.mangle("fract", LLVM[dtype]), LLVM[dtype], (LLVM[dtype], x), dtype=dtype)
    expected = x - np.floor(x)
    expected[0] = np.nextafter(dtype(1), dtype(0))
    np.testing.assert_array_equal(got, expected)


def two_over_pi(bits: int) -> int:
    """2 / pi times 2^bits, from Machin's formula in integers."""

    def arccot(x: int) -> int:
        total, term, n = 0, one // x, 1
        while term:
            total += term // n if n % 4 == 1 else -(term // n)
            term, n = term // (x * x), n + 2
        return total

    one = 1 << (bits + 64)
    pi = 4 * (4 * arccot(5) - arccot(239))
    return (one << (bits + 1)) // pi


def test_trig_preop() -> None:
    """Segments of 53 bits of 2 / pi, after the bits that large operands skip."""
    x = np.array([[1.0], [-3.0], [2.0**54], [2.0**55], [2.0**200], [2.0**945], [2.0**1023], [5e-324]])
    digits = two_over_pi(1201)
    for segment in (0, 1, 7, 31):
        got = call("trig.preop.f64", "double", ("double", x), ("i32", segment), dtype=F64)
        for value, found in zip(x[:, 0], got.ravel(), strict=True):
            exponent = int(np.array(value).view(np.uint64)) >> 52 & 0x7FF
            shift = 53 * segment + max(exponent - 1077, 0)
            selected = (digits << shift >> 1148) & (2**53 - 1)
            assert found == np.ldexp(float(selected), -53 - shift + (128 if exponent >= 1968 else 0))


@pytest.mark.parametrize("dtype, integer", [(F16, "i16"), (F16, "i32"), (F32, "i32"), (F64, "i32")])
def test_frexp(dtype: Any, integer: str) -> None:
    x = values(dtype)
    x[:4, 0] = 0, np.inf, -np.inf, np.finfo(dtype).smallest_subnormal
    ty = LLVM[dtype]
    mantissa = call(amd.mangle("frexp.mant", ty), ty, (ty, x), dtype=dtype)
    exponent = call(
        amd.mangle("frexp.exp", integer, ty), integer, (ty, x), dtype={"i16": np.int16, "i32": np.int32}[integer]
    )
    expected, power = np.frexp(x)
    np.testing.assert_array_equal(mantissa, expected)
    np.testing.assert_array_equal(exponent[3:], power[3:])
    assert (exponent[:3] == 0).all()


@pytest.mark.parametrize("dtype, bits", [(F16, np.uint16), (F32, np.uint32), (F64, np.uint64)])
def test_class(dtype: Any, bits: Any) -> None:
    """One bit for each of: signaling NaN, NaN, -inf, -normal, -denormal, -0, 0, denormal, normal, inf."""
    info = np.finfo(dtype)
    nan = np.array(np.nan, dtype).view(bits)
    signaling = (nan & ~bits(1 << (info.nmant - 1))) | bits(1)
    tiny = info.smallest_subnormal
    kinds = [nan, *np.array([-np.inf, -1, -tiny, -0.0, 0, tiny, 1, np.inf], dtype).view(bits)]
    x = np.resize(np.array([signaling, *kinds], bits), (LANES, 1))
    expected = np.resize(np.arange(10), (LANES, 1))
    for kind in range(10):
        got = call(amd.mangle("class", LLVM[dtype]), "i1", (LLVM[dtype], x), ("i32", str(1 << kind)))
        np.testing.assert_array_equal(got, expected == kind)


# ---------------------------------------------------------------------------------------------------------------------
# Functions of several floats
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [F16, F32], ids=lambda t: t.__name__)
def test_fmed3(dtype: Any) -> None:
    x = [values(dtype, seed=i) for i in range(3)]
    ty = LLVM[dtype]
    got = call(amd.mangle("fmed3", ty), ty, *[(ty, a) for a in x], dtype=dtype)
    np.testing.assert_array_equal(got, np.median(np.array(x), axis=0))
    x[1][:] = np.nan
    got = call(amd.mangle("fmed3", ty), ty, *[(ty, a) for a in x], dtype=dtype)
    np.testing.assert_array_equal(got, np.fmin(x[0], x[2]))


def test_legacy_multiplication() -> None:
    x, y, z = (values(F32, seed=i) for i in range(3))
    x[:4, 0], y[:4, 0] = (0, np.inf, -0.0, 3), (np.inf, 0, np.nan, np.inf)
    is_zero = (x == 0) | (y == 0)
    with np.errstate(invalid="ignore"):
        multiplied = np.where(is_zero, 0, x * y)
        fused = np.where(is_zero, z, (x.astype(F64) * y + z).astype(F32))
    np.testing.assert_array_equal(call("fmul.legacy", "float", ("float", x), ("float", y), dtype=F32), multiplied)
    got = call("fma.legacy", "float", ("float", x), ("float", y), ("float", z), dtype=F32, chip="gfx1100")
    np.testing.assert_array_equal(got, fused)
    got = call("fmad.ftz.f32", "float", *[("float", a) for a in (y, z, x)], dtype=F32)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, y * z + x)


def test_fdiv_fast() -> None:
    x, y = values(F32), values(F32, 0.5, 4, 1)
    got = call("fdiv.fast", "float", ("float", x), ("float", y), dtype=F32)
    assert (abs(got - x.astype(F64) / y) <= 2.5 * 2.0**-23 * abs(x / y)).all()


DIVISION = """target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare {{ {ty}, i1 }} @llvm.amdgcn.div.scale.{m}({ty}, {ty}, i1)
declare {ty} @llvm.amdgcn.div.fmas.{m}({ty}, {ty}, {ty}, i1)
declare {ty} @llvm.amdgcn.div.fixup.{m}({ty}, {ty}, {ty})
declare {ty} @llvm.amdgcn.rcp.{m}({ty})
declare {ty} @llvm.fma.{m}({ty}, {ty}, {ty})
define amdgpu_kernel void @k(ptr %n, ptr %d, ptr %q) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %i = add i32 %first, %lane
  %pn = getelementptr {ty}, ptr %n, i32 %i
  %pd = getelementptr {ty}, ptr %d, i32 %i
  %pq = getelementptr {ty}, ptr %q, i32 %i
  %num = load {ty}, ptr %pn
  %den = load {ty}, ptr %pd
  %sd = call {{ {ty}, i1 }} @llvm.amdgcn.div.scale.{m}({ty} %num, {ty} %den, i1 false)
  %sn = call {{ {ty}, i1 }} @llvm.amdgcn.div.scale.{m}({ty} %num, {ty} %den, i1 true)
  %ds = extractvalue {{ {ty}, i1 }} %sd, 0
  %ns = extractvalue {{ {ty}, i1 }} %sn, 0
  %vcc = extractvalue {{ {ty}, i1 }} %sn, 1
  %neg = fneg {ty} %ds
  %r0 = call {ty} @llvm.amdgcn.rcp.{m}({ty} %ds)
  %e0 = call {ty} @llvm.fma.{m}({ty} %neg, {ty} %r0, {ty} 1.0)
  %r1 = call {ty} @llvm.fma.{m}({ty} %e0, {ty} %r0, {ty} %r0)
  %q0 = fmul {ty} %ns, %r1
  %e1 = call {ty} @llvm.fma.{m}({ty} %neg, {ty} %q0, {ty} %ns)
  %q1 = call {ty} @llvm.fma.{m}({ty} %e1, {ty} %r1, {ty} %q0)
  %e2 = call {ty} @llvm.fma.{m}({ty} %neg, {ty} %q1, {ty} %ns)
  %f = call {ty} @llvm.amdgcn.div.fmas.{m}({ty} %e2, {ty} %r1, {ty} %q1, i1 %vcc)
  %x = call {ty} @llvm.amdgcn.div.fixup.{m}({ty} %f, {ty} %den, {ty} %num)
  store {ty} %x, ptr %pq
  ret void
}}
"""


@pytest.mark.parametrize("dtype, m", [(F32, "f32"), (F64, "f64")], ids=["f32", "f64"])
def test_division(dtype: Any, m: str) -> None:
    """div.scale, div.fmas and div.fixup as LLVM's expansion of a division has them: right in the whole range."""
    info = np.finfo(dtype)
    exponents = np.arange(info.minexp, info.maxexp, 7 if dtype is F32 else 60)
    n, d = (np.ldexp(1 + np.random.default_rng(i).random((len(exponents),) * 2), e).astype(dtype).ravel()
            for i, e in enumerate(np.meshgrid(exponents, exponents)))  # fmt: skip
    extra = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -3, info.smallest_subnormal, info.max], dtype)
    n = np.concatenate([n, np.repeat(extra, len(extra))])
    d = np.concatenate([d, np.tile(extra, len(extra))])
    count = -(-len(n) // 64) * 64
    n, d = np.resize(n, count), np.resize(d, count)
    q = np.zeros(count, dtype)
    made = amd.emulator.load(DIVISION.format(ty=LLVM[dtype], m=m), "emu:gfx942")
    made.launch(count // 64, 64, n, d, q)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(q, n / d)


def test_div_fixup_f16() -> None:
    numbers = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -3], F16)
    n, d = np.resize(np.repeat(numbers, 7), (LANES, 1)), np.resize(np.tile(numbers, 7), (LANES, 1))
    with np.errstate(all="ignore"):
        q = n / d
    got = call("div.fixup.f16", "half", ("half", abs(q)), ("half", d), ("half", n), dtype=F16)
    np.testing.assert_array_equal(got, q)


# ---------------------------------------------------------------------------------------------------------------------
# Bits and integers
# ---------------------------------------------------------------------------------------------------------------------


def byte(x: Array, i: int) -> Array:
    return (x >> np.uint32(8 * i)).astype(np.int64) & 0xFF


def signed(x: Array, bits: int) -> Array:
    x = x.astype(np.int64) & ((1 << bits) - 1)
    return np.where(x >> (bits - 1), x - (1 << bits), x)


def test_perm() -> None:
    a, b = words(1), words(2)
    selectors = np.random.default_rng(3).integers(0, 16, (LANES, 4)).astype(np.uint8)
    got = call("perm", "i32", ("i32", a), ("i32", b), ("i32", selectors))
    data = np.concatenate([b.view(np.uint8), a.view(np.uint8)], axis=1)
    for lane in range(LANES):
        for i, select in enumerate(selectors[lane]):
            if select >= 13:
                expected = 0xFF
            elif select == 12:
                expected = 0
            elif select >= 8:
                expected = 0xFF if data[lane, 2 * (select - 8) + 1] & 0x80 else 0
            else:
                expected = data[lane, select]
            assert got[lane, i] == expected


def test_alignbyte() -> None:
    a, b, c = words(1), words(2), words(3)
    got = call("alignbyte", "i32", ("i32", a), ("i32", b), ("i32", c), dtype=np.uint32)
    both = a.astype(np.uint64) << np.uint64(32) | b
    np.testing.assert_array_equal(got, (both >> (8 * (c & 3)).astype(np.uint64)).astype(np.uint32))


@pytest.mark.parametrize("name, is_signed", [("i24", True), ("u24", False)])
def test_multiplication_of_24_bits(name: str, is_signed: bool) -> None:
    a, b = words(1), words(2)
    x, y = ((signed(v, 24) if is_signed else v.astype(np.int64) & 0xFFFFFF) for v in (a, b))
    got = call(f"mul.{name}.i32", "i32", ("i32", a), ("i32", b), dtype=np.int32)
    np.testing.assert_array_equal(got, (x * y).astype(np.int32))
    got = call(f"mul.{name}.i64", "i64", ("i32", a), ("i32", b), dtype=np.int64)
    np.testing.assert_array_equal(got, x * y)
    got = call(f"mulhi.{name}", "i32", ("i32", a), ("i32", b), dtype=np.int32)
    np.testing.assert_array_equal(got, (x * y >> 32).astype(np.int32))


@pytest.mark.parametrize("name, bits, is_signed", [
    ("ubfe.i32", 32, False), ("sbfe.i32", 32, True), ("ubfe.i64", 64, False), ("sbfe.i64", 64, True),
])  # fmt: skip
def test_bit_fields(name: str, bits: int, is_signed: bool) -> None:
    dtype = {32: np.uint32, 64: np.uint64}[bits]
    x, offset, width = words(1, dtype=dtype), words(2), words(3)
    got = call(name, f"i{bits}", (f"i{bits}", x), ("i32", offset), ("i32", width), dtype=dtype)
    for lane in range(LANES):
        first, count = int(offset[lane, 0]) % bits, int(width[lane, 0]) % bits
        field = (int(x[lane, 0]) >> first) & ((1 << count) - 1)
        available = min(count, bits - first)
        if is_signed and available and field >> (available - 1) & 1:
            field -= 1 << available
        assert int(got[lane, 0]) == field % (1 << bits)


def test_sffbh() -> None:
    x = words(1).view(np.int32) >> (np.arange(LANES, dtype=np.int32)[:, None] % 32)
    got = call("sffbh.i32", "i32", ("i32", x), dtype=np.int32)
    for lane in range(LANES):
        text = format(int(x[lane, 0]) & 0xFFFFFFFF, "032b")
        other = text.find("1" if text[0] == "0" else "0")
        assert got[lane, 0] == other


def test_lerp() -> None:
    a, b, c = words(1), words(2), words(3)
    got = call("lerp", "i32", ("i32", a), ("i32", b), ("i32", c), dtype=np.uint32)
    expected = sum((byte(a, i) + byte(b, i) + (byte(c, i) & 1)) // 2 << (8 * i) for i in range(4))
    np.testing.assert_array_equal(got, expected)


def differences(a: Array, b: Array, is_masked: bool) -> Array:
    return sum(np.where(is_masked & (byte(b, i) == 0), 0, abs(byte(a, i) - byte(b, i))) for i in range(4))  # type: ignore


def test_sums_of_differences() -> None:
    a, b, c = words(1), words(2), words(3) >> np.uint32(12)
    b[5] = 0x00FF0012
    operands = [("i32", x) for x in (a, b, c)]
    np.testing.assert_array_equal(call("sad.u8", "i32", *operands, dtype=np.uint32), differences(a, b, False) + c)
    np.testing.assert_array_equal(call("msad.u8", "i32", *operands, dtype=np.uint32), differences(a, b, True) + c)
    high = ((differences(a, b, False) << 16) + c).astype(np.uint32)
    np.testing.assert_array_equal(call("sad.hi.u8", "i32", *operands, dtype=np.uint32), high)
    halves = abs(a.astype(int) % 65536 - b.astype(int) % 65536) + abs((a >> 16).astype(int) - (b >> 16).astype(int))
    np.testing.assert_array_equal(call("sad.u16", "i32", *operands, dtype=np.uint32), halves + c)


@pytest.mark.parametrize("name, is_masked, ty, dtype", [
    ("qsad.pk.u16.u8", False, "i64", np.uint16),
    ("mqsad.pk.u16.u8", True, "i64", np.uint16),
    ("mqsad.u32.u8", True, "<4 x i32>", np.uint32),
])  # fmt: skip
def test_four_sums_of_differences(name: str, is_masked: bool, ty: str, dtype: Any) -> None:
    a, b = words(1, dtype=np.uint64), words(2)
    c = (words(3, 4) >> np.uint32(20)).astype(dtype)
    got = call(name, ty, ("i64", a), ("i32", b), (ty, c), dtype=dtype)
    for i in range(4):
        part = (a >> np.uint64(8 * i)).astype(np.uint32)
        np.testing.assert_array_equal(
            got[:, i : i + 1], (differences(part, b, is_masked) + c[:, i : i + 1]).astype(dtype)
        )


@pytest.mark.parametrize("function", [0x00, 0x80, 0x96, 0xE8, 0xCA, 0x5B, 0xFF])
@pytest.mark.parametrize("bits", [16, 32])
def test_bitop3(bits: int, function: int) -> None:
    dtype = {16: np.uint16, 32: np.uint32}[bits]
    x = [words(i, dtype=dtype) for i in range(3)]
    got = call(
        f"bitop3.i{bits}", f"i{bits}", *[(f"i{bits}", v) for v in x], ("i32", function), dtype=dtype, chip="gfx950"
    )
    a, b, c = (np.unpackbits(v.view(np.uint8), axis=1) for v in x)
    expected = np.packbits((function >> (4 * a.astype(int) + 2 * b + c)) & 1, axis=1)
    np.testing.assert_array_equal(got.view(np.uint8), expected)


def test_prng_b32() -> None:
    x = words(1)
    got = call("prng.b32", "i32", ("i32", x), dtype=np.uint32, chip="gfx950")
    np.testing.assert_array_equal(got, (x << np.uint32(1)) ^ np.where(x >> 31, 197, 0).astype(np.uint32))


@pytest.mark.parametrize("name, low, high", [("ashr.pk.i8.i32", -128, 127), ("ashr.pk.u8.i32", 0, 255)])
def test_shift_and_pack(name: str, low: int, high: int) -> None:
    a, b, c = words(1).view(np.int32), words(2).view(np.int32), words(3)
    got = call(name, "i16", ("i32", a), ("i32", b), ("i32", c), chip="gfx950")
    for i, x in enumerate((a, b)):
        np.testing.assert_array_equal(got[:, i : i + 1], np.clip(x >> (c & 31).astype(int), low, high) & 255)


@pytest.mark.parametrize(
    "name, dtype, low, high", [("sat.pk4.i4.i8", np.int8, -8, 7), ("sat.pk4.u4.u8", np.uint8, 0, 15)]
)
def test_packed_nibbles(name: str, dtype: Any, low: int, high: int) -> None:
    x = words(1, 4, np.uint8)
    got = call(name, "i16", ("i32", x), dtype=np.uint16, chip="gfx1250")
    nibbles = np.clip(x.view(dtype).astype(int), low, high) & 15
    np.testing.assert_array_equal(got[:, 0], (nibbles << (4 * np.arange(4))).sum(axis=1))


@pytest.mark.parametrize("clamp", [0, 1])
@pytest.mark.parametrize("name, ty, dtype", [
    ("add.max.i32", "i32", np.int32), ("add.max.u32", "i32", np.uint32),
    ("add.min.i32", "i32", np.int32), ("add.min.u32", "i32", np.uint32),
    ("pk.add.max.i16", "<2 x i16>", np.int16), ("pk.add.max.u16", "<2 x i16>", np.uint16),
    ("pk.add.min.i16", "<2 x i16>", np.int16), ("pk.add.min.u16", "<2 x i16>", np.uint16),
])  # fmt: skip
def test_add_and_compare(name: str, ty: str, dtype: Any, clamp: int) -> None:
    x = [words(i, 4 // np.dtype(dtype).itemsize, np.uint32 if ty == "i32" else np.uint16).view(dtype) for i in range(3)]
    got = call(name, ty, *[(ty, v) for v in x], ("i1", clamp), dtype=dtype, chip="gfx1250")
    total = x[0].astype(np.int64) + x[1]
    info = np.iinfo(dtype)
    total = np.clip(total, info.min, info.max) if clamp else total.astype(dtype)
    np.testing.assert_array_equal(got, (np.maximum if "max" in name else np.minimum)(total, x[2]))


# ---------------------------------------------------------------------------------------------------------------------
# Dot products
# ---------------------------------------------------------------------------------------------------------------------

FP8, BF8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
DOTS: list[tuple[str, str, Any, Any, Any, str, bool]] = [
    ("fdot2", "<2 x half>", F16, F16, F32, "gfx942", True),
    ("fdot2.f16.f16", "<2 x half>", F16, F16, F16, "gfx1100", False),
    ("fdot2.bf16.bf16", "<2 x bfloat>", BF16, BF16, BF16, "gfx1100", False),
    ("fdot2.f32.bf16", "<2 x bfloat>", BF16, BF16, F32, "gfx1100", True),
    ("fdot2c.f32.bf16", "<2 x bfloat>", BF16, BF16, F32, "gfx950", True),
    ("dot4.f32.fp8.fp8", "i32", FP8, FP8, F32, "gfx1200", False),
    ("dot4.f32.fp8.bf8", "i32", FP8, BF8, F32, "gfx1200", False),
    ("dot4.f32.bf8.fp8", "i32", BF8, FP8, F32, "gfx1200", False),
    ("dot4.f32.bf8.bf8", "i32", BF8, BF8, F32, "gfx1200", False),
]


CLAMPED_DOTS = [(case, clamp) for case in DOTS for clamp in ((0, 1) if case[-1] else (0,))]


@pytest.mark.parametrize("case, clamp", CLAMPED_DOTS, ids=lambda c: c[0] if isinstance(c, tuple) else f"clamp{c}")
def test_dot_of_floats(case: tuple[str, str, Any, Any, Any, str, bool], clamp: int) -> None:
    name, ty, of_a, of_b, of_c, chip, has_clamp = case
    rng = np.random.default_rng(1)
    count = amd.lanes(chip)
    n = 4 // np.dtype(of_a).itemsize
    a, b = rng.standard_normal((count, n)).astype(of_a), rng.standard_normal((count, n)).astype(of_b)
    c = rng.standard_normal((count, 1)).astype(of_c)
    extra: list[amd.Operand] = [("i1", clamp)] if has_clamp else []
    got = call(name, LLVM[of_c], (ty, a), (ty, b), (LLVM[of_c], c), *extra, dtype=of_c, chip=chip)
    exact = (a.astype(F64) * b.astype(F64)).sum(axis=1, keepdims=True) + c.astype(F64)
    if clamp:
        exact = np.clip(exact, 0, 1)
    ulp = {F32: 2.0**-24, F16: 2.0**-11, BF16: 2.0**-8}[of_c]
    assert (abs(got.astype(F64) - exact) <= 1.001 * ulp * abs(exact) + 2.0**-25).all()


def test_dot_of_denormal_numbers() -> None:
    """CDNA2 takes them as 0."""
    tiny, one = np.full((LANES, 2), 2.0**-20, F16), np.ones((LANES, 2), F16)
    for chip, expected in (("gfx90a", 0), ("gfx942", 2.0**-19)):
        got = call(
            "fdot2",
            "float",
            ("<2 x half>", tiny),
            ("<2 x half>", one),
            ("float", "0.0"),
            ("i1", 0),
            dtype=F32,
            chip=chip,
        )
        assert (got == expected).all()


def elements(x: Array, bits: int, is_signed: bool) -> Array:
    shifts = np.arange(0, 32, bits)
    values = (x.astype(np.int64) >> shifts) & ((1 << bits) - 1)
    return signed(values, bits) if is_signed else values


@pytest.mark.parametrize("clamp", [0, 1])
@pytest.mark.parametrize("name, bits, is_signed", [
    ("sdot2", 16, True), ("udot2", 16, False), ("sdot4", 8, True), ("udot4", 8, False), ("sdot8", 4, True), ("udot8", 4, False),
])  # fmt: skip
def test_dot_of_integers(name: str, bits: int, is_signed: bool, clamp: int) -> None:
    a, b, c = words(1), words(2), words(3)
    c[4], c[5] = 0x7FFFFFF0, 0xFFFFFFF0
    ty = "<2 x i16>" if bits == 16 else "i32"
    dtype = np.int32 if is_signed else np.uint32
    got = call(name, "i32", (ty, a), (ty, b), ("i32", c), ("i1", clamp), dtype=dtype)
    multiplied = elements(a, bits, is_signed) * elements(b, bits, is_signed)
    total = multiplied.sum(axis=1, keepdims=True) + c.view(dtype).astype(np.int64)
    info = np.iinfo(dtype)
    np.testing.assert_array_equal(got, np.clip(total, info.min, info.max) if clamp else total.astype(dtype))


@pytest.mark.parametrize("clamp", [0, 1])
@pytest.mark.parametrize("sign_of_a, sign_of_b", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("name, bits", [("sudot4", 8), ("sudot8", 4)])
def test_dot_of_mixed_integers(name: str, bits: int, sign_of_a: int, sign_of_b: int, clamp: int) -> None:
    a, b, c = (words(i)[:32] for i in (1, 2, 3))
    c[4] = 0x7FFFFFF0
    got = call(name, "i32", ("i1", sign_of_a), ("i32", a), ("i1", sign_of_b), ("i32", b), ("i32", c), ("i1", clamp),
               dtype=np.int32, chip="gfx1100")  # fmt: skip
    multiplied = elements(a, bits, bool(sign_of_a)) * elements(b, bits, bool(sign_of_b))
    total = multiplied.sum(axis=1, keepdims=True) + c.view(np.int32).astype(np.int64)
    np.testing.assert_array_equal(got, np.clip(total, -(2**31), 2**31 - 1) if clamp else total.astype(np.int32))
