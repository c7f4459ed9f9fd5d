# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cvt: each conversion against exact fractions, or against ml_dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import nvidia
from numbers_reference import BF16, F16, F32, F64, MODES, TF32, Format, floats, flush, rounded, same
from nvidia import Array

COUNT = 512
PREFIX = "llvm.nvvm."


def _narrow(values: Array, to: Format, mode: str, relu: bool, satfinite: bool) -> Array:
    """As float64."""

    def one(x: float) -> float:
        if math.isnan(x):
            return x
        if relu and x < 0:
            return 0.0
        result = x if math.isinf(x) else rounded(Fraction(x), to, mode)
        if satfinite and abs(result) > to.largest:
            result = math.copysign(to.largest, x)
        return result

    return np.array([one(float(x)) for x in values])


def _decode(codes: Array, ty: str) -> Array:
    if ty == "f16":
        return codes.astype(np.uint16).view(np.float16).astype(np.float64)
    if ty == "bf16":
        return codes.astype(np.uint16).view(ml_dtypes.bfloat16).astype(np.float64)
    assert not (codes & 0x1FFF)[~np.isnan(codes.view(np.float32))].any(), "the low bits of tf32 are zero"
    return codes.view(np.float32).astype(np.float64)


NARROW: dict[str, tuple[str, str, Format, str, bool, bool]] = {}
"""Name: one value or two, the type, its format, the mode, relu, satfinite."""
for _one, _two, _ty, _to in (
    ("f2f16", "ff2f16x2", "f16", F16),
    ("f2bf16", "ff2bf16x2", "bf16", BF16),
    ("f2tf32", "", "tf32", TF32),
):
    for _mode in ("rn", "rz"):
        for _relu in (False, True):
            for _sat in (False, True):
                _end = f".{_mode}{'.relu' if _relu else ''}{'.satfinite' if _sat else ''}"
                NARROW[PREFIX + _one + _end] = ("one", _ty, _to, _mode, _relu, _sat)
                if _two:
                    NARROW[PREFIX + _two + _end] = ("two", _ty, _to, _mode, _relu, _sat)
NARROW[PREFIX + "f2tf32.rna"] = ("one", "tf32", TF32, "rna", False, False)
NARROW[PREFIX + "f2tf32.rna.satfinite"] = ("one", "tf32", TF32, "rna", False, True)

# The same in inline assembly; for tf32 the words are in another order.
for _name, _case in list(NARROW.items()):
    _kind, _ty, _, _mode, _relu, _sat = _case
    _words = [".relu" if _relu else "", ".satfinite" if _sat else ""]
    _words = "".join(_words[::-1] if _ty == "tf32" else _words)
    _opcode = f"cvt.{_mode}{_words}.{_ty}{'x2' if _kind == 'two' else ''}.f32"
    NARROW[nvidia.text(_opcode, 2 if _kind == "two" else 1)] = _case

_RESULT = {"f16": ("half", "<2 x half>"), "bf16": ("bfloat", "<2 x bfloat>"), "tf32": ("i32", "")}


def test_narrow() -> None:
    random = nvidia.seeded("narrow")
    a, b = floats(random, np.float32, COUNT), floats(random, np.float32, COUNT)[::-1].copy()
    calls = {}
    for name, (kind, ty, *_) in NARROW.items():
        operands = [("float", a)] if kind == "one" else [("float", a), ("float", b)]
        calls[name] = nvidia.call(_RESULT[ty][kind == "two"], *operands)
    found = nvidia.run(calls)
    for name, (kind, ty, to, mode, relu, sat) in NARROW.items():
        raw = found[name][0]
        codes = raw.view(np.uint32 if ty == "tf32" else np.uint16).reshape(raw.shape)
        pairs = [(codes, a)] if kind == "one" else [(codes[:, 1], a), (codes[:, 0], b)]
        for got, source in pairs:
            same(_decode(np.ascontiguousarray(got), ty), _narrow(source, to, mode, relu, sat), name)
            nan = got[np.isnan(source)]
            assert (nan == (0x7FFFFFFF if ty == "tf32" else 0x7FFF)).all(), f"{name}: NaN is canonical"


SMALL: dict[str, Any] = {
    "e4m3x2": ml_dtypes.float8_e4m3fn,
    "e5m2x2": ml_dtypes.float8_e5m2,
    "e2m3x2": ml_dtypes.float6_e2m3fn,
    "e3m2x2": ml_dtypes.float6_e3m2fn,
    "e2m1x2": ml_dtypes.float4_e2m1fn,
}
TO_SMALL: dict[str, tuple[str, Any, bool]] = {}
FROM_SMALL: dict[str, tuple[Any, bool]] = {}
for _name, _dtype in SMALL.items():
    _sat_end = "" if _name in ("e4m3x2", "e5m2x2") else ".satfinite"
    for _relu in (False, True):
        _relu_end = ".relu" if _relu else ""
        TO_SMALL[f"{PREFIX}ff.to.{_name}.rn{_relu_end}{_sat_end}"] = ("floats", _dtype, _relu)
        FROM_SMALL[f"{PREFIX}{_name}.to.f16x2.rn{_relu_end}"] = (_dtype, _relu)
        if not _sat_end:
            TO_SMALL[f"{PREFIX}f16x2.to.{_name}.rn{_relu_end}"] = ("halves", _dtype, _relu)
            TO_SMALL[nvidia.text(f"cvt.rn.satfinite{_relu_end}.{_name}.f16x2", 1)] = ("halves", _dtype, _relu)
        # A pair of 4 bits each has a register of 8.
        _to, _from = f"cvt.rn.satfinite{_relu_end}.{_name}.f32", f"cvt.rn{_relu_end}.f16x2.{_name}"
        if ml_dtypes.finfo(_dtype).bits == 4:
            _to_text = f"asm:{{ .reg .b8 b; {_to} b, $1, $2; cvt.u16.u8 $0, b; }}"
            _from_text = f"asm:{{ .reg .b8 b; cvt.u8.u16 b, $1; {_from} $0, b; }}"
        else:
            _to_text, _from_text = nvidia.text(_to), nvidia.text(_from, 1)
        TO_SMALL[_to_text] = ("floats", _dtype, _relu)
        FROM_SMALL[_from_text] = (_dtype, _relu)


def _small_codes(values: Array, dtype: Any, relu: bool) -> Array:
    info = ml_dtypes.finfo(dtype)
    largest = float(info.max)
    codes = np.clip(values.astype(np.float64), -largest, largest).astype(dtype).view(np.uint8)
    if relu:
        codes = np.where(values <= 0, 0, codes)
    # NaN is NaN, or the largest number in types without NaN.
    nan = 0x7F if info.bits == 8 else np.array(largest).astype(dtype).view(np.uint8)
    return np.where(np.isnan(values), nan, codes)


def test_to_small() -> None:
    random = nvidia.seeded("small")
    a, b = floats(random, np.float32, COUNT), floats(random, np.float32, COUNT)[::-1].copy()
    with np.errstate(over="ignore", under="ignore"):
        halves = np.stack([b.astype(np.float16), a.astype(np.float16)], 1)
    calls = {}
    for name, (source, _, _) in TO_SMALL.items():
        operands = [("float", a), ("float", b)] if source == "floats" else [("<2 x half>", halves)]
        calls[name] = nvidia.call("i16", *operands)
    found = nvidia.run(calls)
    for name, (source, dtype, relu) in TO_SMALL.items():
        upper, lower = (a, b) if source == "floats" else (halves[:, 1], halves[:, 0])
        shift = 4 if ml_dtypes.finfo(dtype).bits == 4 else 8
        expected = _small_codes(upper, dtype, relu).astype(np.uint16) << shift | _small_codes(lower, dtype, relu)
        np.testing.assert_array_equal(found[name][0], expected, name)


def test_from_small() -> None:
    calls, expected = {}, {}
    for name, (dtype, relu) in FROM_SMALL.items():
        bits = ml_dtypes.finfo(dtype).bits
        width = 4 if bits == 4 else 8
        lower = np.arange(256, dtype=np.uint16) & ((1 << bits) - 1)
        upper = lower[::-1].copy()
        calls[name] = nvidia.call("<2 x half>", ("i16", upper << width | lower))
        values = np.stack([lower, upper], 1).astype(np.uint8).view(dtype).astype(np.float64)
        expected[name] = np.where(relu & (values < 0), 0, values)
    for name, (fields,) in nvidia.run(calls).items():
        same(fields.astype(np.float64), expected[name], name)


E8M0: dict[str, tuple[str, bool, bool]] = {
    f"{PREFIX}{source}.to.ue8m0x2.{mode}{'.satfinite' if sat else ''}": (source, mode == "rp", sat)
    for source in ("ff", "bf16x2")
    for mode in ("rz", "rp")
    for sat in (False, True)
}
for _ty, _source in (("f32", "ff"), ("bf16x2", "bf16x2")):
    for _mode in ("rz", "rp"):
        for _sat in (False, True):
            _opcode = f"cvt.{_mode}{'.satfinite' if _sat else ''}.ue8m0x2.{_ty}"
            E8M0[nvidia.text(_opcode, 2 if _source == "ff" else 1)] = (_source, _mode == "rp", _sat)


def test_e8m0() -> None:
    random = nvidia.seeded("e8m0")
    wide = [np.abs(floats(random, np.float32, COUNT)) for _ in range(2)]
    short = [np.abs(floats(random, ml_dtypes.bfloat16, COUNT)) for _ in range(2)]
    calls = {}
    for name, (source, _, _) in E8M0.items():
        if source == "ff":
            calls[name] = nvidia.call("i16", ("float", wide[0]), ("float", wide[1]))
        else:
            calls[name] = nvidia.call("i16", ("<2 x bfloat>", np.stack([short[1], short[0]], 1)))

    def code(x: float, up: bool, sat: bool) -> int:
        if math.isnan(x):
            return 0xFF
        exponent = 128 if math.isinf(x) else -127 if x == 0 else (math.ceil if up else math.floor)(_log2(x))
        if exponent > 127:
            return 0xFE if sat else 0xFF
        return max(exponent, -127) + 127

    for name, (fields,) in nvidia.run(calls).items():
        source, up, sat = E8M0[name]
        of = wide if source == "ff" else short
        codes = [np.array([code(float(x), up, sat) for x in values], np.uint16) for values in of]
        np.testing.assert_array_equal(fields, codes[0] << 8 | codes[1], name)


def _log2(x: float) -> Fraction:
    """Exact for powers of two, and else between two integers."""
    mantissa, exponent = math.frexp(x)
    return Fraction(exponent - 1) if mantissa == 0.5 else Fraction(2 * exponent - 1, 2)


FROM_E8M0 = [PREFIX + "ue8m0x2.to.bf16x2", nvidia.text("cvt.rn.bf16x2.ue8m0x2", 1)]


def test_from_e8m0() -> None:
    codes = np.arange(256, dtype=np.uint16)
    made = nvidia.call("<2 x bfloat>", ("i16", codes[::-1].copy() << 8 | codes))
    values = codes.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    for name, (found,) in nvidia.run(dict.fromkeys(FROM_E8M0, made)).items():
        same(found.view(ml_dtypes.bfloat16).astype(np.float64), np.stack([values, values[::-1]], 1), name)


OTHER: dict[str, tuple[str, str, Callable[[Array], Array]]] = {}
"""Name: the operand's type, the result's, and the expected value."""
for _ftz in (False, True):
    _end = ".ftz" if _ftz else ""

    def _to_half(values: Array, ftz: bool = _ftz) -> Array:
        least = float(np.finfo(np.float32).smallest_normal)
        wide = values.astype(np.float32)
        return _narrow(flush(wide, least) if ftz else wide, F16, "rn", False, False)

    OTHER[f"{PREFIX}f2h.rn{_end}"] = ("float", "i16", _to_half)
    OTHER[f"{PREFIX}bf2h.rn{_end}"] = ("bfloat", "i16", _to_half)

    def _widened(values: Array, ftz: bool = _ftz) -> Array:
        with np.errstate(invalid="ignore"):
            wide = values.astype(np.float64)
        return flush(wide, 2.0**-126) if ftz else wide

    for _ty, _short in (("half", "f16"), ("bfloat", "bf16")):
        OTHER[nvidia.text(f"cvt{_end}.f32.{_short}", 1)] = (_ty, "float", _widened)
    for _mode in MODES:

        def _to_float(values: Array, mode: str = _mode, ftz: bool = _ftz) -> Array:
            made = _narrow(values, F32, mode, False, False)
            return flush(made, 2.0**-126) if ftz else made

        OTHER[f"{PREFIX}d2f.{_mode}{_end}"] = ("double", "float", _to_float)


def _near_f32(random: np.random.Generator) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return floats(random, np.float32, COUNT).astype(np.float64) * (
            1 + random.choice([0, 2.0**-24, 2.0**-30], COUNT)
        )


def test_other_floats() -> None:
    random = nvidia.seeded("other")
    inputs = {
        "float": floats(random, np.float32, COUNT),
        "bfloat": floats(random, ml_dtypes.bfloat16, COUNT),
        "half": floats(random, np.float16, COUNT),
        # Near f32 and its ties, and far from them.
        "double": np.concatenate([_near_f32(random), floats(random, np.float64, COUNT)]),
    }
    calls = {name: nvidia.call(result, (ty, inputs[ty])) for name, (ty, result, _) in OTHER.items()}
    for name, (fields,) in nvidia.run(calls).items():
        ty, result, expected = OTHER[name]
        values = fields.view(np.float16) if result == "i16" else fields
        same(values.astype(np.float64), expected(inputs[ty]), name)


TO_INTEGER: dict[str, tuple[str, Any, str, bool]] = {}
FROM_INTEGER: dict[str, tuple[Any, str, str]] = {}
_INTEGERS: dict[str, Any] = {"i": np.int32, "ui": np.uint32, "ll": np.int64, "ull": np.uint64}
for _short, _dtype in _INTEGERS.items():
    for _mode in MODES:
        TO_INTEGER[f"{PREFIX}f2{_short}.{_mode}"] = ("float", _dtype, _mode, False)
        TO_INTEGER[f"{PREFIX}f2{_short}.{_mode}.ftz"] = ("float", _dtype, _mode, True)
        TO_INTEGER[f"{PREFIX}d2{_short}.{_mode}"] = ("double", _dtype, _mode, False)
        FROM_INTEGER[f"{PREFIX}{_short}2f.{_mode}"] = (_dtype, "float", _mode)
        FROM_INTEGER[f"{PREFIX}{_short}2d.{_mode}"] = (_dtype, "double", _mode)


def _to_integer(x: float, dtype: Any, mode: str, is_double: bool) -> int:
    info = np.iinfo(dtype)
    if math.isnan(x):
        return 0 if info.bits == 32 and not is_double else -(1 << 63) if info.bits == 64 else -(1 << 31)
    if math.isinf(x):
        return int(info.max if x > 0 else info.min)
    exact = Fraction(x)
    down = math.floor(exact)
    made = {"rm": down, "rp": math.ceil(exact), "rz": math.trunc(exact), "rn": round(exact)}[mode]
    return min(max(made, int(info.min)), int(info.max))


def test_to_integer() -> None:
    random = nvidia.seeded("integers")
    inputs: dict[str, Array] = {}
    for ty, dtype in (("float", np.float32), ("double", np.float64)):
        near = np.array([s * (2.0**e + d) for s in (1, -1) for e in (31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5, 1)])
        small = random.standard_normal(COUNT - len(near)).astype(dtype) * 100
        inputs[ty] = np.concatenate([floats(random, dtype, COUNT), near.astype(dtype), small]).astype(dtype)
    calls = {
        name: nvidia.call(f"i{np.iinfo(dtype).bits}", (ty, inputs[ty]))
        for name, (ty, dtype, _, _) in TO_INTEGER.items()
    }
    for name, (fields,) in nvidia.run(calls).items():
        ty, dtype, mode, ftz = TO_INTEGER[name]
        values = flush(inputs[ty], 2.0**-126) if ftz else inputs[ty]
        expected = [_to_integer(float(x), dtype, mode, ty == "double") % (1 << np.iinfo(dtype).bits) for x in values]
        np.testing.assert_array_equal(fields, np.array(expected, fields.dtype), name)


def test_from_integer() -> None:
    random = nvidia.seeded("from integers")
    raw = random.integers(0, 1 << 64, COUNT, np.uint64) >> random.integers(0, 64, COUNT).astype(np.uint64)
    edges = np.array([0, 1, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    bits = np.resize(np.concatenate([edges, raw]), COUNT)
    calls = {}
    for name, (dtype, ty, _) in FROM_INTEGER.items():
        width = np.iinfo(dtype).bits
        calls[name] = nvidia.call(ty, (f"i{width}", bits.astype(f"u{width // 8}")))
    for name, (fields,) in nvidia.run(calls).items():
        dtype, ty, mode = FROM_INTEGER[name]
        values = bits.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
        to = F32 if ty == "float" else F64
        expected = np.array([rounded(Fraction(int(v)), to, mode) for v in values])
        same(fields.astype(np.float64), expected, name)


HALVES = {PREFIX + "d2i.lo", PREFIX + "d2i.hi", PREFIX + "lohi.i2d"}


def test_halves_of_doubles() -> None:
    random = nvidia.seeded("halves")
    bits = random.integers(0, 1 << 62, 64, np.uint64)
    low, high = bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)
    found = nvidia.run(
        {
            PREFIX + "d2i.lo": nvidia.call("i32", ("double", bits.view(np.float64))),
            PREFIX + "d2i.hi": nvidia.call("i32", ("double", bits.view(np.float64))),
            PREFIX + "lohi.i2d": nvidia.call("double", ("i32", low), ("i32", high)),
        }
    )
    assert set(found) == HALVES
    np.testing.assert_array_equal(found[PREFIX + "d2i.lo"][0], low)
    np.testing.assert_array_equal(found[PREFIX + "d2i.hi"][0], high)
    np.testing.assert_array_equal(found[PREFIX + "lohi.i2d"][0].view(np.uint64), bits)


TESTED = [*NARROW, *TO_SMALL, *FROM_SMALL, *E8M0, *FROM_E8M0, *OTHER, *TO_INTEGER, *FROM_INTEGER, *HALVES]
