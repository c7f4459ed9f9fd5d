# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`amdgpu` and `rocdl`: conversions of small floats, packed in registers, with or without a scale.

The instruction set guides (CDNA3 and CDNA4, "VOP3A and VOP3B Instructions: V_CVT_..."; RDNA4, "V_CVT_PK_FP8_F32" and
similar): round to nearest even, or stochastic rounding with a random number below the last kept bit. A value that is too
large becomes infinity; NaN if the type has no infinity; the largest number if it has neither. Only the exponent of a
scale is used.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

from ..... import ir
from .....targets import Target
from ....translation.translator import Step, Unsupported, attribute, require_chip
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import SMALL_TYPES, Array, dtype_of, rank_of, spread

_F32 = np.dtype(np.float32)
_WORD = np.dtype(np.int32)

# ---------------------------------------------------------------------------------------------------------------------
# Values and encodings
# ---------------------------------------------------------------------------------------------------------------------

_NAMES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
_OCP: dict[str, Any] = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp4": ml_dtypes.float4_e2m1fn}
_OCP |= {"fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn}
_ONE_ZERO: dict[str, Any] = {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz}
_BITS = dict(SMALL_TYPES.values())


def _small(tr: ThreadTranslator, name: str) -> np.dtype[Any]:
    """The float type of a name on a chip."""
    known = {"CDNA3": _ONE_ZERO, "CDNA4": _OCP, "RDNA4": _OCP, "GFX12.5": _OCP}
    require_chip(tr.target, "conversions of 8-bit floats", lambda target: target.architecture in known)
    return np.dtype(known[tr.target.architecture][name])


def narrow(values: Array, dtype: np.dtype[Any], random: Array | None = None, mantissa: int = 23) -> Array:
    """The encodings of floats, a byte each. With a 32-bit `random` number for each they are rounded stochastically,
    with as many random bits as the source `mantissa` has more."""
    info = ml_dtypes.finfo(dtype)
    values = values.astype(np.float64)
    finite = np.where(np.isfinite(values), values, 0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, info.minexp)
    unit = np.ldexp(1.0, exponent - info.nmant)
    if random is None:
        rounded = np.rint(finite / unit) * unit
    else:
        dropped = mantissa - info.nmant
        fraction = np.ldexp((random.astype(np.int64) & 0xFFFFFFFF) >> 32 - dropped, -dropped)
        rounded = np.copysign(np.floor(np.abs(finite) / unit + fraction) * unit, finite)
        rounded = np.where(finite == 0, finite, rounded)
    largest, sign = float(info.max), np.signbit(values)
    large = (np.abs(rounded) > largest) | np.isinf(values)
    found = np.where(large, 0, rounded).astype(dtype).view(np.uint8)
    bits = _BITS.get(dtype, 8)
    top = np.array(largest, dtype).view(np.uint8)
    signs = sign.astype(np.uint8) << bits - 1
    if dtype in _BITS:
        return np.where(np.isnan(values), top, np.where(large, top | signs, found)).astype(np.uint8)
    one_zero = str(dtype).endswith("fnuz")
    over = np.uint8(0x80) if one_zero else top + np.uint8(1) | signs
    return np.where(np.isnan(values), np.uint8(0x80 if one_zero else 0x7F), np.where(large, over, found))


def widen(codes: Array, dtype: np.dtype[Any]) -> Array:
    """The values of encodings, a byte each."""
    found = np.ascontiguousarray(codes, np.uint8).view(dtype).astype(np.float64)
    return np.where(np.isnan(found), np.nan, found)


def _scales(st: Any, slot: int) -> Array:
    """The values of scales, a row per lane."""
    bits = spread(st.v[slot], _F32, st.lanes).view(np.uint32) >> 23 & 255
    return np.where(bits == 255, np.nan, np.ldexp(1.0, bits.astype(np.int64) - 127))[:, None]


def _rounded(numbers: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Registers
# ---------------------------------------------------------------------------------------------------------------------


def _bytes(st: Any, slot: int, ty: Any) -> Array:
    """A value's bytes, a row per lane."""
    dtype = dtype_of(ty)
    assert dtype is not None
    found = spread(st.v[slot], dtype, st.lanes, rank_of(ty)).reshape(st.lanes, -1)
    return np.ascontiguousarray(found).view(np.uint8)


def _value(found: Array, ty: Any) -> Array:
    """A value with these bytes, or these elements."""
    dtype = dtype_of(ty)
    assert dtype is not None
    found = np.ascontiguousarray(found)
    found = found.view(dtype) if found.dtype == np.dtype(np.uint8) else found
    return found.reshape(-1, *ty.shape) if isinstance(ty, ir.VectorType) else found.reshape(-1)


def unpack(data: Array, bits: int) -> Array:
    """Unpacks encodings of this many bits from rows of bytes, the first in the low bits."""
    if bits == 8:
        return data
    ones = np.unpackbits(data, axis=1, bitorder="little").reshape(len(data), -1, bits)
    return np.packbits(ones, axis=2, bitorder="little")[..., 0]


def pack(codes: Array, bits: int) -> Array:
    """Packs encodings into rows of bytes."""
    if bits == 8:
        return codes
    ones = np.unpackbits(codes[..., None], axis=2, bitorder="little")[..., :bits]
    return np.packbits(ones.reshape(len(codes), -1), axis=1, bitorder="little")


def _inserted(before: Array, codes: Array, at: int) -> Array:
    after = before.copy()
    after[:, at : at + codes.shape[1]] = codes
    return after


# ---------------------------------------------------------------------------------------------------------------------
# rocdl
# ---------------------------------------------------------------------------------------------------------------------


@operation(*(f"rocdl.cvt.{name}" for pair in ("fp8", "bf8") for name in (f"f32.{pair}", f"pk.f32.{pair}")))
def _from_bytes(op: Any, tr: ThreadTranslator) -> Step:
    (source,), (result,), of = tr.operands(op), tr.results(op), op.operands[0].type
    dtype, ty = _small(tr, op.name[-3:]), op.results[0].type
    pairs = ".pk." in op.name
    first = 2 * int(attribute(op, "wordSel")) if pairs else attribute(op, "byteSel") & 3

    def step(st: Any) -> None:
        codes = _bytes(st, source, of)[:, first : first + 1 + pairs]
        st.v[result] = _value(_rounded(widen(codes, dtype), _F32), ty)

    return step


@operation(*(f"rocdl.cvt.{way}.{name}.f32" for name in ("fp8", "bf8") for way in ("pk", "sr")))
def _to_bytes(op: Any, tr: ThreadTranslator) -> Step:
    a, b, old = tr.operands(op)
    (result,), ty = tr.results(op), op.results[0].type
    dtype, stochastic = _small(tr, op.name.split(".")[3]), ".sr." in op.name
    first = attribute(op, "byteSel") & 3 if stochastic else 2 * int(attribute(op, "wordSel"))

    def step(st: Any) -> None:
        values = spread(st.v[a], _F32, st.lanes)[:, None]
        if stochastic:
            codes = narrow(values, dtype, spread(st.v[b], _WORD, st.lanes)[:, None])
        else:
            codes = narrow(np.concatenate([values, spread(st.v[b], _F32, st.lanes)[:, None]], 1), dtype)
        st.v[result] = _value(_inserted(_bytes(st, old, ty), codes, first), ty)

    return step


@operation("rocdl.cvt.pkrtz")
def _toward_zero(op: Any, tr: ThreadTranslator) -> Step:
    slots, (result,) = tr.operands(op), tr.results(op)

    def step(st: Any) -> None:
        values = np.stack([spread(st.v[slot], _F32, st.lanes) for slot in slots], -1)
        kept = np.where(np.isfinite(values), np.clip(values, -65504, 65504), values)
        with np.errstate(over="ignore"):
            found = kept.astype(np.float16)
        # Those that became larger go one step back.
        beyond = np.abs(found.astype(np.float32)) > np.abs(kept)
        st.v[result] = np.where(beyond, np.nextafter(found, np.float16(0)), found)

    return step


_SCALED = re.compile(r"rocdl\.cvt\.scalef32\.(?:(pk|pk32|2xpk16)\.)?(\w+)\.(\w+)")
_LARGE, _EIGHTS, _SIXES = ("f32", "f16", "bf16"), ("fp8", "bf8"), ("fp6", "bf6")
_FROM = [f"{large}.{small}" for large in ("f32", "f16") for small in _EIGHTS]
_FROM += [f"pk.{large}.{small}" for large in _LARGE for small in (*_EIGHTS, "fp4")]
_FROM += [f"pk32.{large}.{small}" for large in _LARGE for small in _SIXES]
_TO = [f"pk.{small}.{large}" for large in _LARGE for small in (*_EIGHTS, "fp4")]
_TO += [f"pk32.{small}.{large}" for large in ("f16", "bf16") for small in _SIXES]
_TO += [f"2xpk16.{small}.f32" for small in _SIXES]


def _is_cdna4(target: Target) -> bool:
    return target.architecture == "CDNA4"


def _scaled(op: Any, tr: ThreadTranslator) -> tuple[str, str, str]:
    require_chip(tr.target, "this instruction", _is_cdna4)
    found = _SCALED.fullmatch(op.name)
    assert found is not None
    return found[1] or "", found[2], found[3]


@operation(*(f"rocdl.cvt.scalef32.{name}" for name in _FROM))
def _from_scaled(op: Any, tr: ThreadTranslator) -> Step:
    way, to, of = _scaled(op, tr)
    source, scale, *_ = operands = tr.operands(op)
    (result,), ty, small = tr.results(op), op.results[0].type, np.dtype(_OCP[of])
    large, bits, position = np.dtype(_NAMES[to]), _BITS.get(small, 8), 0
    into = to == "f16" and not way
    if into:
        # One number is put into the half of a register.
        source, scale = operands[1:]
    held = op.operands[int(into)].type
    count = {"": 1, "pk": 2}.get(way, 32)
    if count < 32:
        position = int(attribute(op, "srcLoHiSel" if way and bits == 8 else "srcSelIndex"))
    half = int(attribute(op, "dstLoHiSel")) if into else 0

    def step(st: Any) -> None:
        codes = unpack(_bytes(st, source, held), bits)[:, position * count : (position + 1) * count]
        found = _rounded(widen(codes, small) * _scales(st, scale), large)
        if into:
            before = spread(st.v[operands[0]], large, st.lanes, 1)
            found = np.where(np.arange(2) == half, found, before)
        st.v[result] = _value(found, ty)

    return step


@operation(*(f"rocdl.cvt.scalef32.{name}" for name in _TO))
def _to_scaled(op: Any, tr: ThreadTranslator) -> Step:
    way, to, of = _scaled(op, tr)
    *sources, scale = tr.operands(op)
    (result,), ty, small = tr.results(op), op.results[0].type, np.dtype(_OCP[to])
    large, bits = np.dtype(_NAMES[of]), _BITS.get(small, 8)
    first = sources.pop(0) if way == "pk" else None
    rank = 0 if way == "pk" and of == "f32" else 1
    place = int(attribute(op, "dstSelIndex" if bits == 4 else "dstLoHiSel")) if way == "pk" else 0

    def step(st: Any) -> None:
        values = [spread(st.v[slot], large, st.lanes, rank).astype(np.float64) for slot in sources]
        # Elements of two sources alternate.
        numbers = np.stack(values, -1).reshape(st.lanes, -1)
        codes = narrow(numbers / _scales(st, scale), small)
        if first is not None:
            codes = _inserted(unpack(_bytes(st, first, ty), bits), codes, 2 * place)
        st.v[result] = _value(pack(codes, bits), ty)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# amdgpu
# ---------------------------------------------------------------------------------------------------------------------


def _codes(st: Any, slot: int, ty: Any, count: int) -> Array:
    """The encodings of a vector of small floats, a byte each; undefined elements are zero."""
    found = _bytes(st, slot, ty)
    return np.concatenate([found, np.zeros((st.lanes, max(0, count - found.shape[1])), np.uint8)], 1)


def _dtype(ty: Any) -> np.dtype[Any]:
    found = dtype_of(ty)
    if found is None:
        raise Unsupported.wrong_type("the value", ty)
    return found


@operation("amdgpu.ext_packed_fp8", "amdgpu.scaled_ext_packed")
def _extend(op: Any, tr: ThreadTranslator) -> Step:
    source, *scale = tr.operands(op)
    (result,), held, ty = tr.results(op), op.operands[0].type, op.results[0].type
    small, large = _dtype(held), _dtype(ty)
    if scale:
        require_chip(tr.target, "this instruction", _is_cdna4)
    if not scale:
        _check(tr, small)
    count = ty.shape[0] if isinstance(ty, ir.VectorType) else 1
    first = attribute(op, "index") * count

    def step(st: Any) -> None:
        numbers = widen(_codes(st, source, held, first + count)[:, first : first + count], small)
        if scale:
            numbers = numbers * _scales(st, scale[0])
        st.v[result] = _value(_rounded(numbers, large), ty)

    return step


def _check(tr: ThreadTranslator, dtype: np.dtype[Any]) -> None:
    if dtype not in (_small(tr, "fp8"), _small(tr, "bf8")):
        raise Unsupported.invalid(
            f"the op converts the 8-bit type {dtype}; {tr.target.name} converts only {_small(tr, 'fp8')} and {_small(tr, 'bf8')}"
        )


@operation("amdgpu.packed_trunc_2xfp8", "amdgpu.packed_stoch_round_fp8", "amdgpu.packed_scaled_trunc")
def _truncate(op: Any, tr: ThreadTranslator) -> Step:
    operands, (result,), ty = tr.operands(op), tr.results(op), op.results[0].type
    small, of = _dtype(ty), op.operands[0].type
    large, rank = _dtype(of), rank_of(of)
    source, random, scale, second = operands.pop(0), None, None, None
    if op.name.endswith("scaled_trunc"):
        require_chip(tr.target, "this instruction", _is_cdna4)
        scale, first = operands.pop(0), 2 * attribute(op, "index")
    else:
        _check(tr, small)
        if op.name.endswith("round_fp8"):
            random, first = operands.pop(0), attribute(op, "storeIndex")
        else:
            second = operands.pop(0) if attribute(op, "operandSegmentSizes")[1] else None
            first = 2 * attribute(op, "wordIndex")
    old = operands.pop(0) if operands else None

    def step(st: Any) -> None:
        numbers = spread(st.v[source], large, st.lanes, rank).reshape(st.lanes, -1).astype(np.float64)
        if second is not None:
            numbers = np.concatenate([numbers, spread(st.v[second], large, st.lanes)[:, None]], 1)
        if scale is not None:
            numbers = numbers / _scales(st, scale)
        codes = narrow(numbers, small, None if random is None else spread(st.v[random], _WORD, st.lanes)[:, None])
        before = np.zeros((st.lanes, ty.shape[0]), np.uint8) if old is None else _bytes(st, old, ty)
        st.v[result] = _value(_inserted(before, codes, first), ty)

    return step
