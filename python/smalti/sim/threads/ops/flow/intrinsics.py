# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`llvm.intr`: arithmetic, vector reductions and assumptions. LLVM language reference, "Intrinsic Functions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .....instructions import fused
from ....ops import arith, conversions, math
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array, dtype_of, rank_of, spread
from ..arithmetic.arith import combining, elementwise, shaped
from ..arithmetic.vector import element_dtype, on_vectors, shape_of
from .calls import in_double

# ---------------------------------------------------------------------------------------------------------------------
# Floats
# ---------------------------------------------------------------------------------------------------------------------

_MATH = {"fabs": "absf", "pow": "powf", "rint": "roundeven", "nearbyint": "roundeven"}
_MATH |= {name: name for name in ("acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "exp", "exp2")}
_MATH |= {name: name for name in ("floor", "log", "log10", "log2", "round", "roundeven", "sin", "sinh", "sqrt")}
_MATH |= {name: name for name in ("tan", "tanh", "trunc")}


@operation(*(f"llvm.intr.{name}" for name in _MATH))
def _float(op: Any, tr: ThreadTranslator) -> Step:
    function = math.FUNCTIONS[_MATH[_name(op)]]
    return elementwise(op, tr, in_double(function, element_dtype(op.results[0].type)))


def _name(op: Any) -> str:
    return op.name.removeprefix("llvm.intr.")


@operation("llvm.intr.exp10")
def _exp10(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, in_double(lambda x: np.power(10.0, x), element_dtype(op.results[0].type)))


@operation("llvm.intr.powi", "llvm.intr.ldexp")
def _with_integer(op: Any, tr: ThreadTranslator) -> Step:
    function: Any = np.power if _name(op) == "powi" else np.ldexp
    dtype = element_dtype(op.results[0].type)

    def compute(x: Array, n: Array) -> Array:
        with np.errstate(all="ignore"):
            return conversions.convert_float(np.asarray(function(x.astype(np.float64), n)), dtype)

    return elementwise(op, tr, compute)


@operation("llvm.intr.fma", "llvm.intr.fmuladd")
def _fma(op: Any, tr: ThreadTranslator) -> Step:
    dtype = element_dtype(op.results[0].type)
    return elementwise(op, tr, lambda x, y, z: fused(x, y, z).astype(dtype))


_EXTREMES = {"maxnum": "maxnumf", "minnum": "minnumf", "maximum": "maximumf", "minimum": "minimumf"}


@operation(*(f"llvm.intr.{name}" for name in _EXTREMES))
def _extreme(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, arith.FLOAT_FUNCTIONS[_EXTREMES[_name(op)]])


@operation("llvm.intr.lrint", "llvm.intr.llrint", "llvm.intr.lround", "llvm.intr.llround")
def _to_integer(op: Any, tr: ThreadTranslator) -> Step:
    function, dtype = math.FUNCTIONS["roundeven" if "rint" in op.name else "round"], dtype_of(op.results[0].type)
    assert dtype is not None

    def compute(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(function(x.astype(np.float64))).astype(dtype)

    return elementwise(op, tr, compute)


_CLASSES: tuple[Callable[[Array, Any], Array], ...] = (
    lambda x, tiny: np.zeros(x.shape, np.bool_),
    lambda x, tiny: np.isnan(x),
    lambda x, tiny: np.isneginf(x),
    lambda x, tiny: (x <= -tiny) & np.isfinite(x),
    lambda x, tiny: (x < 0) & (x > -tiny),
    lambda x, tiny: (x == 0) & np.signbit(x),
    lambda x, tiny: (x == 0) & ~np.signbit(x),
    lambda x, tiny: (x > 0) & (x < tiny),
    lambda x, tiny: (x >= tiny) & np.isfinite(x),
    lambda x, tiny: np.isposinf(x),
)
"""Whether a number is in a class, by the bits of LLVM's mask; all NaNs are quiet here."""


@operation("llvm.intr.is.fpclass")
def _is_of_class(op: Any, tr: ThreadTranslator) -> Step:
    bits = attribute(op, "bit")
    tiny = float(ml_dtypes.finfo(element_dtype(op.operands[0].type)).smallest_normal)

    def compute(x: Array) -> Array:
        wide = x.astype(np.float64)
        return np.any([_CLASSES[i](wide, tiny) for i in range(10) if bits >> i & 1 or i == 0], axis=0)

    return elementwise(op, tr, compute)


# ---------------------------------------------------------------------------------------------------------------------
# Integers
# ---------------------------------------------------------------------------------------------------------------------


def _exactly(function: Callable[..., Any], dtype: np.dtype[Any], signed: bool = False) -> Callable[..., Array]:
    """A function of integers of any size, unsigned unless `signed` is set; the result is truncated."""
    bits = dtype.itemsize * 8
    mask = (1 << bits) - 1

    def compute(*given: Array) -> Array:
        exact = [x.astype(object) if signed else x.astype(object) & mask for x in given]
        found = np.asarray(np.frompyfunc(function, len(exact), 1)(*exact), object)
        return np.asarray(found & mask).astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)

    return compute


def _reversed_bits(bits: int) -> Callable[[int], int]:
    return lambda x: int(f"{x:0{bits}b}"[::-1], 2)


def _funnel(left: bool, bits: int) -> Callable[[int, int, int], int]:
    def shift(high: int, low: int, by: int) -> int:
        both, by = high << bits | low, by % bits
        return both >> (bits - by) if left else both >> by

    return shift


@operation("llvm.intr.bitreverse", "llvm.intr.bswap", "llvm.intr.fshl", "llvm.intr.fshr")
def _moved_bits(op: Any, tr: ThreadTranslator) -> Step:
    dtype = element_dtype(op.results[0].type)
    bits = dtype.itemsize * 8
    functions: dict[str, Callable[..., int]] = {
        "bitreverse": _reversed_bits(bits),
        "bswap": lambda x: int.from_bytes(x.to_bytes(bits // 8, "little"), "big"),
        "fshl": _funnel(True, bits),
        "fshr": _funnel(False, bits),
    }
    return elementwise(op, tr, _exactly(functions[_name(op)], dtype))


@operation("llvm.intr.abs", "llvm.intr.ctlz", "llvm.intr.cttz", "llvm.intr.ctpop")
def _bits(op: Any, tr: ThreadTranslator) -> Step:
    function = math.INTEGER_FUNCTIONS[{"abs": "absi"}.get(_name(op), _name(op))]
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape))


_PICKS = {"smax": "maxsi", "smin": "minsi", "umax": "maxui", "umin": "minui"}


@operation(*(f"llvm.intr.{name}" for name in _PICKS))
def _pick(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, arith.integer_array_function(_PICKS[_name(op)]))


_SUMS: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "shl": lambda x, y: x << y,
}


def _limits(dtype: np.dtype[Any], signed: bool) -> tuple[int, int]:
    bits = dtype.itemsize * 8
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


@operation(*(f"llvm.intr.{sign}{name}.sat" for sign in "su" for name in ("add", "sub", "shl")))
def _saturated(op: Any, tr: ThreadTranslator) -> Step:
    name, dtype = _name(op).removesuffix(".sat"), element_dtype(op.results[0].type)
    signed, function = name[0] == "s", _SUMS[name[1:]]
    low, high = _limits(dtype, signed)
    return elementwise(op, tr, _exactly(lambda x, y: min(max(function(x, y), low), high), dtype, signed))


@operation(*(f"llvm.intr.{sign}{name}.with.overflow" for sign in "su" for name in ("add", "sub", "mul")))
def _overflowing(op: Any, tr: ThreadTranslator) -> Step:
    name, dtype = _name(op).removesuffix(".with.overflow"), element_dtype(op.operands[0].type)
    signed, function, rank = name[0] == "s", _SUMS[name[1:]], rank_of(op.operands[0].type)
    low, high = _limits(dtype, signed)
    cut = _exactly(function, dtype, signed)
    over = _exactly(lambda x, y: int(not low <= function(x, y) <= high), dtype, signed)
    slots, (result,) = tr.operands(op), tr.results(op)

    def step(st: Any) -> None:
        x, y = (spread(st.v[slot], dtype, st.lanes, rank) for slot in slots)
        st.v[result] = (cut(x, y), over(x, y) != 0)

    return step


@operation("llvm.intr.scmp", "llvm.intr.ucmp")
def _compared(op: Any, tr: ThreadTranslator) -> Step:
    dtype, signed = element_dtype(op.results[0].type), _name(op) == "scmp"
    less = arith.integer_comparison(2 if signed else 6)
    return elementwise(op, tr, lambda x, y: np.where(less(x, y), -1, np.where(less(y, x), 1, 0)).astype(dtype))


# ---------------------------------------------------------------------------------------------------------------------
# Vectors
# ---------------------------------------------------------------------------------------------------------------------

_REDUCTIONS = {name: name for name in ("add", "and", "mul", "or", "xor")}
_REDUCTIONS |= {"smax": "maxsi", "smin": "minsi", "umax": "maxui", "umin": "minui", "fadd": "add", "fmul": "mul"}
_REDUCTIONS |= {"fmax": "maxnumf", "fmin": "minnumf", "fmaximum": "maximumf", "fminimum": "minimumf"}


@operation(*(f"llvm.intr.vector.reduce.{name}" for name in _REDUCTIONS))
def _reduce(op: Any, tr: ThreadTranslator) -> Step:
    """From the first element; floating-point sums and products start with the first operand."""
    name = _name(op).rpartition(".")[2]
    combine = combining(_REDUCTIONS[name], element_dtype(op.results[0].type))

    def reduce(lanes: bool, *given: Array) -> Array:
        x = given[-1]
        found = given[0] if len(given) > 1 else x[..., 0]
        for i in range(len(given) == 1, x.shape[-1]):
            found = combine(found, x[..., i]).astype(x.dtype)
        return found

    return on_vectors(op, tr, reduce)


@operation("llvm.intr.vector.interleave2")
def _interleave(op: Any, tr: ThreadTranslator) -> Step:
    return on_vectors(op, tr, lambda lanes, x, y: np.stack([x, y], -1).reshape((*x.shape[:-1], -1)))


@operation("llvm.intr.vector.extract")
def _extract(op: Any, tr: ThreadTranslator) -> Step:
    begin, size = attribute(op, "pos"), shape_of(op.results[0].type)[0]
    return on_vectors(op, tr, lambda lanes, x: x[..., begin : begin + size])


@operation("llvm.intr.vector.insert")
def _insert(op: Any, tr: ThreadTranslator) -> Step:
    begin = attribute(op, "pos")

    def insert(lanes: bool, target: Array, part: Array) -> Array:
        found = target.copy()
        found[..., begin : begin + part.shape[-1]] = part
        return found

    return on_vectors(op, tr, insert)


@operation("llvm.shufflevector")
def _shuffle(op: Any, tr: ThreadTranslator) -> Step:
    order = np.maximum(np.array(attribute(op, "mask")), 0)
    return on_vectors(op, tr, lambda lanes, x, y: np.concatenate([x, y], -1)[..., order])


@operation("llvm.intr.stepvector")
def _steps(op: Any, tr: ThreadTranslator) -> Step:
    (result,), dtype = tr.results(op), element_dtype(op.results[0].type)
    value = np.arange(shape_of(op.results[0].type)[0]).astype(dtype)

    def step(st: Any) -> None:
        st.v[result] = value

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Assumptions
# ---------------------------------------------------------------------------------------------------------------------


@operation("llvm.intr.assume")
def _assume(op: Any, tr: ThreadTranslator) -> Step:
    condition, site = tr.operands(op)[0], tr.site(op)

    def step(st: Any) -> None:
        bad = np.broadcast_to(~np.asarray(st.v[condition], np.bool_), (st.lanes,))
        bad = bad if st.mask is None else bad & st.mask
        if bad.any():
            st.report("assertion", "llvm.assume: the condition is false", site, int(bad.argmax()))

    return step


_SAME = ("expect", "expect.with.probability", "ssa.copy", "launder.invariant.group", "strip.invariant.group")


@operation(*(f"llvm.intr.{name}" for name in _SAME))
def _same(op: Any, tr: ThreadTranslator) -> Step:
    return tr.moves(tr.operands(op)[:1], tr.results(op))


_NOTHING = ("lifetime.start", "lifetime.end", "experimental.noalias.scope.decl", "prefetch", "invariant.end")
_NOTHING += ("dbg.declare", "dbg.label", "dbg.value", "var.annotation")


@operation(*(f"llvm.intr.{name}" for name in _NOTHING))
def _nothing(op: Any, tr: ThreadTranslator) -> None:
    """An op without effect on values."""


@operation("llvm.select")
def _select(op: Any, tr: ThreadTranslator) -> Step:
    condition, yes, no = tr.operands(op)
    (result,), ty = tr.results(op), op.results[0].type
    dtype, rank, each = dtype_of(ty), rank_of(ty), rank_of(op.operands[0].type)
    if dtype is None:
        raise Unsupported.wrong_type("the value", ty)

    def step(st: Any) -> None:
        chosen = np.asarray(st.v[condition], np.bool_)
        if chosen.ndim > each and not each:
            chosen = chosen.reshape(chosen.shape + (1,) * rank)
        st.v[result] = shaped(np.where(chosen, np.asarray(st.v[yes], dtype), np.asarray(st.v[no], dtype)), dtype)

    return step
