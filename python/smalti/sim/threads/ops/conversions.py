"""`nvvm`: bytes that change their places, and conversions that MLIR's `arith` has not. PTX ISA, "prmt" and "cvt"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .... import ir
from ...translator import Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..lanes import Array, spread
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
"""For each mode the byte that byte `i` of the result is, by the lower two bits of the selector."""


@operation("nvvm.prmt")
def _permute(op: Any, tr: ThreadTranslator) -> Step:
    found = re.search(r"<(\w+)>", str(op.attributes["mode"]))
    mode = found[1] if found else ""
    if mode != "default" and mode not in _BYTES:
        raise Unsupported(f"the mode {op.attributes['mode']}")

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


# ---------------------------------------------------------------------------------------------------------------------
# Floats
# ---------------------------------------------------------------------------------------------------------------------

_TF32_BITS = 13
"""Those of f32 that tf32 has not."""


def round_to_tf32(values: Array, rounding: str) -> Array:
    """The words of f32 whose lower bits are zeros; `rounding` is as the PTX ISA calls it."""
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
        raise Unsupported(f"a conversion with {rounding}, {_word(op, 'sat')}")
    return elementwise(op, tr, lambda x: round_to_tf32(x, rounding).reshape(x.shape))


def _word(op: Any, name: str) -> str:
    found = re.search(r"<(\w+)>", str(op.attributes[name])) if name in op.attributes else None
    return found[1] if found else "none"


_SMALL = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}


def _small(op: Any, name: str) -> np.dtype[Any]:
    ty = str(ir.TypeAttr(op.attributes[name]).value)
    if ty not in _SMALL or attribute(op, "relu", False):
        raise Unsupported(f"a conversion of {ty}")
    return np.dtype(_SMALL[ty])


def to_small(values: Array, dtype: np.dtype[Any]) -> Array:
    """The bytes of floats of 8 bits: rounded to nearest even, the largest one where that is too large."""
    largest = float(ml_dtypes.finfo(dtype).max)
    with np.errstate(invalid="ignore"):
        found = np.clip(values, -largest, largest).astype(dtype).view(np.int8)
    return np.where(np.isnan(values), np.int8(0x7F), found)


@operation("nvvm.convert.f32x2.to.f8x2", "nvvm.convert.f16x2.to.f8x2")
def _to_small(op: Any, tr: ThreadTranslator) -> Step:
    dtype, slots, (result,) = _small(op, "dstTy"), tr.operands(op), tr.results(op)
    is_pair = "f32x2" not in op.name
    if not is_pair and (_word(op, "rnd"), _word(op, "sat")) != ("rn", "satfinite"):
        raise Unsupported(f"a conversion with {_word(op, 'rnd')}, {_word(op, 'sat')}")
    is_word = not isinstance(op.results[0].type, ir.VectorType)
    kind = np.dtype(np.float16 if is_pair else np.float32)

    def step(st: Any) -> None:
        if is_pair:
            pairs = spread(st.v[slots[0]], kind, st.lanes, 1)
        else:
            # The second operand goes to the lower half.
            pairs = np.stack([spread(st.v[slot], kind, st.lanes) for slot in reversed(slots)], -1)
        found = np.ascontiguousarray(to_small(pairs, dtype))
        st.v[result] = found.view(np.int16)[:, 0] if is_word else found

    return step


@operation("nvvm.convert.f8x2.to.f16x2")
def _from_small(op: Any, tr: ThreadTranslator) -> Step:
    dtype = _small(op, "srcType")

    def widen(bytes_: Array) -> Array:
        found = np.ascontiguousarray(bytes_).view(dtype).astype(np.float16)
        return np.where(np.isnan(found), np.uint16(0x7FFF).view(np.float16), found)

    return elementwise(op, tr, widen)
