# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nvvm`: byte permutation, and conversions that `arith` does not have. PTX ISA, "prmt" and "cvt"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ..... import ir
from ....machine.values import SMALL_FLOATS, packed
from ....ops.conversions import convert_float
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, spread
from .arith import elementwise

# ---------------------------------------------------------------------------------------------------------------------
# Bytes
# ---------------------------------------------------------------------------------------------------------------------

_BYTES: dict[str, Callable[[int, Array], Array]] = {
    "f4e": lambda i, at: at + i,
    "b4e": lambda i, at: (at - i) & 7,
    "rc8": lambda i, at: at,
    "ecl": lambda i, at: np.maximum(at, i),
    "ecr": lambda i, at: np.minimum(at, i),
    "rc16": lambda i, at: (at & 1) * 2 + i % 2,
}
"""For each mode the source byte of byte `i` of the result, by the lower two bits of the selector."""


@operation("nvvm.prmt")
def _permute(op: Any, tr: ThreadTranslator) -> Step:
    found = re.search(r"<(\w+)>", str(op.attributes["mode"]))
    mode = found[1] if found else ""
    if mode != "default" and mode not in _BYTES:
        raise Unsupported(f"mode {op.attributes['mode']}")

    def permute(*words: Array) -> Array:
        low, *high, selector = (np.asarray(word).astype(np.int64) & 0xFFFFFFFF for word in words)
        pool = low | high[0] << 32 if high else low
        result = np.zeros((), np.int64)
        for i in range(4):
            if mode == "default":
                nibble = selector >> 4 * i & 15
                byte = pool >> 8 * (nibble & 7) & 255
                # The highest bit of it, eight times.
                byte = np.where(nibble & 8, (byte >> 7) * 255, byte)
            else:
                byte = pool >> 8 * _BYTES[mode](i, selector & 3) & 255
            result = result | byte << 8 * i
        return result.astype(np.uint32).view(np.int32)

    return elementwise(op, tr, permute)


def permute_amd(op: Any, tr: ThreadTranslator) -> Step:
    """`v_perm_b32`: a selector byte below 8 picks a byte, 0 to 3 of the second operand and 4 to 7 of the first one; 8 to
    11 repeat the sign of a halfword, 12 is 0 and more is 255. CDNA3 ISA, "V_PERM_B32"."""

    def permute(*words: Array) -> Array:
        high, low, selector = (np.asarray(word).astype(np.int64) & 0xFFFFFFFF for word in words)
        pool = low | high << 32
        result = np.zeros((), np.int64)
        for i in range(4):
            choice = selector >> 8 * i & 255
            byte = pool >> 8 * (choice & 7) & 255
            sign = (pool >> (16 * (choice & 3) + 15) & 1) * 255
            byte = np.where(choice < 8, byte, np.where(choice < 12, sign, np.where(choice == 12, 0, 255)))
            result = result | byte << 8 * i
        return result.astype(np.uint32).view(np.int32)

    return elementwise(op, tr, permute)


# ---------------------------------------------------------------------------------------------------------------------
# Floats
# ---------------------------------------------------------------------------------------------------------------------

_TF32_BITS = 13
"""The mantissa bits of f32 that tf32 does not have."""


def round_to_tf32(values: Array, rounding: str) -> Array:
    """f32 words with zeros in the lower bits; `rounding` has PTX names."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.int64)
    half = 1 << _TF32_BITS - 1
    more = {"rna": half, "rn": half - 1 + (bits >> _TF32_BITS & 1), "rz": 0}[rounding]
    kept = bits + more >> _TF32_BITS << _TF32_BITS
    infinite = np.isinf(values)
    # All NaN become one.
    kept = np.where(np.isnan(values), 0x7FFFFFFF, np.where(infinite, bits, kept))
    return kept.astype(np.uint32).view(np.int32)


@operation("nvvm.convert.float.to.tf32")
def _to_tf32(op: Any, tr: ThreadTranslator) -> Step:
    rounding = _word(op, "rnd")
    if rounding not in ("rna", "rn", "rz") or _word(op, "sat") != "none" or attribute(op, "relu", False):
        raise Unsupported(
            f"the conversion has rounding mode {rounding}, saturation {_word(op, 'sat')} and relu = {_relu(op)}; "
            "the rounding mode must be rna, rn or rz, without saturation and relu"
        )
    return elementwise(op, tr, lambda x: round_to_tf32(x, rounding).reshape(x.shape))


def _relu(op: Any) -> str:
    return "true" if attribute(op, "relu", False) else "false"


def _word(op: Any, name: str) -> str:
    found = re.search(r"<(\w+)>", str(op.attributes[name])) if name in op.attributes else None
    return found[1] if found else "none"


_SMALL = {"f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "f8E5M2": np.dtype(ml_dtypes.float8_e5m2), **SMALL_FLOATS}
_SCALE, _NO_SCALE, _LARGEST_SCALE = "f8E8M0FNU", 0xFF, 0xFE


def _type_name(op: Any, name: str) -> str:
    found = str(ir.TypeAttr(op.attributes[name]).value)
    if found not in _SMALL and found != _SCALE:
        raise Unsupported(f"the attribute '{name}' is {found}; supported types: {', '.join((*_SMALL, _SCALE))}")
    return found


def to_small(values: Array, dtype: np.dtype[Any], relu: bool = False) -> Array:
    """The bytes of floats of 8 bits or less: rounded to nearest even, saturated to the largest number, also for types
    without NaN. Negative numbers become zero if `relu` is set."""
    if relu:
        values = np.where(values <= 0, np.zeros((), values.dtype), values)
    if dtype in SMALL_FLOATS.values():
        return convert_float(values, dtype).view(np.int8)
    largest = float(ml_dtypes.finfo(dtype).max)
    with np.errstate(invalid="ignore"):
        found = np.clip(values, -largest, largest).astype(dtype).view(np.int8)
    return np.where(np.isnan(values), np.int8(0x7F), found)


def to_scale(values: Array, up: bool, saturates: bool) -> Array:
    """The bytes of scales: the exponents of magnitudes, rounded to a power of two (PTX ISA, "cvt", `.ue8m0x2`)."""
    with np.errstate(invalid="ignore"):
        fraction, exponent = np.frexp(np.abs(values.astype(np.float64)))
    exponent = exponent - (fraction == 0.5) if up else exponent - 1
    exponent = np.where(values == 0, -127, np.where(np.isinf(values), 128, exponent))
    codes = np.where(exponent > 127, _LARGEST_SCALE if saturates else _NO_SCALE, np.maximum(exponent + 127, 0))
    return np.where(np.isnan(values), _NO_SCALE, codes).astype(np.uint8).view(np.int8)


def _rounding(op: Any, kind: str, of_scales: bool) -> Callable[[Array], Array]:
    """The encoder of floats to bytes."""
    rounding, saturation = _word(op, "rnd"), _word(op, "sat")
    relu = bool(attribute(op, "relu", False))
    if of_scales:
        if rounding not in ("rz", "rp") or relu:
            raise Unsupported(
                f"the conversion to {_SCALE} has rounding mode {rounding} and relu = {_relu(op)}; the rounding mode must "
                "be rz or rp, without relu"
            )
        return lambda values: to_scale(values, rounding == "rp", saturation == "satfinite")
    # Only floats of 8 bits say how they are rounded, of 32 bits.
    if "f32x2.to.f8x2" in op.name and (rounding, saturation) != ("rn", "satfinite"):
        raise Unsupported(
            f"the conversion has rounding mode {rounding} and saturation {saturation}; only rounding mode rn with saturation satfinite is supported"
        )
    return lambda values: to_small(values, _SMALL[kind], relu)


@operation(
    "nvvm.convert.f32x2.to.f8x2",
    "nvvm.convert.f32x2.to.f6x2",
    "nvvm.convert.f32x2.to.f4x2",
    "nvvm.convert.f16x2.to.f8x2",
    "nvvm.convert.bf16x2.to.f8x2",
)
def _to_small(op: Any, tr: ThreadTranslator) -> Step:
    kind, slots, (result,) = _type_name(op, "dstTy"), tr.operands(op), tr.results(op)
    convert = _rounding(op, kind, kind == _SCALE)
    is_word = not isinstance(op.results[0].type, ir.VectorType)
    in_nibbles, is_pair = op.name.endswith("f4x2"), "f32x2" not in op.name
    dtype = dtype_of(op.operands[0].type)
    assert dtype is not None

    def step(st: Any) -> None:
        if is_pair:
            pairs = spread(st.v[slots[0]], dtype, st.lanes, 1)
        else:
            # The second operand goes to the lower half.
            pairs = np.stack([spread(st.v[slot], dtype, st.lanes) for slot in reversed(slots)], -1)
        found = np.ascontiguousarray(convert(pairs))
        if in_nibbles:
            found = packed(found, 2)
            st.v[result] = found[:, 0]
        else:
            st.v[result] = found.view(np.int16)[:, 0] if is_word else found

    return step


@operation(
    "nvvm.convert.f8x2.to.f16x2",
    "nvvm.convert.f6x2.to.f16x2",
    "nvvm.convert.f4x2.to.f16x2",
    "nvvm.convert.f8x2.to.bf16x2",
)
def _from_small(op: Any, tr: ThreadTranslator) -> Step:
    kind, relu = _type_name(op, "srcType"), attribute(op, "relu", False)
    wide = dtype_of(op.results[0].type)
    assert wide is not None
    dtype = _SMALL[kind] if kind in _SMALL else np.dtype(ml_dtypes.float8_e8m0fnu)
    count = 1 << ml_dtypes.finfo(dtype).bits
    values = np.arange(count).astype(np.uint8).view(dtype).astype(wide)
    if relu:
        values = np.where(values <= 0, np.zeros((), wide), values)
    values = np.where(np.isnan(values), np.uint16(0x7FFF).view(wide), values)

    def widen(bytes_: Array) -> Array:
        codes = np.asarray(bytes_).view(np.uint8)
        if kind == "f4E2M1FN":
            codes = np.stack([codes & 15, codes >> 4], -1)
        return values[codes & count - 1]

    return elementwise(op, tr, widen)


# ---------------------------------------------------------------------------------------------------------------------
# Pairs of other types
# ---------------------------------------------------------------------------------------------------------------------

_HALVES = {"f16x2": np.dtype(np.float16), "bf16x2": np.dtype(ml_dtypes.bfloat16)}


@operation("nvvm.convert.f32x2.to.f16x2", "nvvm.convert.f32x2.to.bf16x2")
def _to_halves(op: Any, tr: ThreadTranslator) -> Step:
    high, low, *rest = tr.operands(op)
    (result,), dtype = tr.results(op), _HALVES[op.name.rpartition(".")[2]]
    rounding, relu, largest = _word(op, "rnd"), attribute(op, "relu", False), _word(op, "sat") == "satfinite"
    if rounding not in ("rn", "rz") or rest:
        raise Unsupported(
            f"the conversion has rounding mode {rounding} and {2 + len(rest)} operands; only rounding mode rn "
            "or rz with two operands is supported"
        )
    most = float(ml_dtypes.finfo(dtype).max)

    def step(st: Any) -> None:
        # The second operand goes to the lower half.
        x = np.stack([spread(st.v[slot], np.dtype(np.float32), st.lanes) for slot in (low, high)], -1)
        x = np.where(x > 0, x, np.where(np.isnan(x), x, np.float32(0))) if relu else x
        with np.errstate(all="ignore"):
            found = x.astype(dtype)
            if rounding == "rz":
                too_far = np.isfinite(x) & (np.abs(found.astype(np.float32)) > np.abs(x))
                found = (found.view(np.uint16) - too_far).astype(np.uint16).view(dtype)
            if largest:
                found = np.where(np.isnan(found), found, np.clip(x, -most, most).astype(dtype))
        nan = np.array(0x7FFF, np.uint16).view(dtype)
        st.v[result] = np.where(np.isnan(found), nan, found)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Arithmetic of its own
# ---------------------------------------------------------------------------------------------------------------------


@operation("nvvm.dot.accumulate.4way", "nvvm.dot.accumulate.2way")
def _dot(op: Any, tr: ThreadTranslator) -> Step:
    """PTX ISA, "dp4a" and "dp2a": the lower or upper bytes among the four bytes of B."""
    unsigned = [_word(op, name) == "unsigned" for name in ("a_type", "b_type")]
    four = op.name.endswith("4way")
    begin = 2 if not four and attribute(op, "b_hi") else 0

    def dot(a: Array, b: Array, c: Array) -> Array:
        x, y = (
            (v.view(f"u{v.dtype.itemsize}") if plain else v).astype(np.int64)
            for v, plain in zip((a, b), unsigned, strict=True)
        )
        y = y if four else y[..., begin : begin + 2]
        return (c.astype(np.int64) + (x * y).sum(-1)).astype(np.int32)

    slots, (result,) = tr.operands(op), tr.results(op)
    kinds = [np.dtype(np.int8 if four else np.int16), np.dtype(np.int8), np.dtype(np.int32)]

    def step(st: Any) -> None:
        given = [spread(st.v[s], kind, st.lanes, rank) for s, kind, rank in zip(slots, kinds, (1, 1, 0), strict=True)]
        st.v[result] = dot(*(np.ascontiguousarray(value) for value in given))

    return step


def _flushed(x: Array) -> Array:
    """Flushes subnormal numbers to zero."""
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


@operation("nvvm.rcp.approx.ftz.f", "nvgpu.rcp")
def _reciprocal(op: Any, tr: ThreadTranslator) -> Step:
    """Rounded once; the hardware is approximate."""
    flushes = op.name.startswith("nvvm") or "ftz" in op.attributes

    def compute(x: Array) -> Array:
        with np.errstate(all="ignore"):
            found = (np.float32(1) / (_flushed(x) if flushes else x)).astype(np.float32)
        return _flushed(found) if flushes else found

    return elementwise(op, tr, compute)
