# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`index`, and the ops of `llvm` and `math` that are not functions of `ops.arith`, on scalars and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .....dialects.index import IndexCmpPredicate
from .....dialects.llvm import FCmpPredicate
from ....machine import values
from ....ops import arith, conversions
from ....ops.registers import enumerator
from ....translation.translator import Step, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.lanes import Array
from .arith import elementwise, reporting, shaped

_INDEX = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "divs": "divsi",
    "divu": "divui",
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivui",
    "floordivs": "floordivsi",
    "rems": "remsi",
    "remu": "remui",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}
"""Ops of `index`, and the equivalent functions of `arith`."""


@operation(*(f"index.{name}" for name in _INDEX))
def _index(op: Any, tr: ThreadTranslator) -> Step:
    name = _INDEX[op.name.removeprefix("index.")]
    on_numbers, cut = arith.integer_functions(64)[name], values.wrap(64)
    step = elementwise(op, tr, arith.integer_array_function(name), lambda x, y: cut(on_numbers(x, y)))
    return reporting(name, op, tr, step)


@operation("index.constant", "index.bool.constant")
def _index_constant(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)
    value = int(attribute(op, "value"))

    def step(st: Any) -> None:
        st.v[result] = value

    return step


@operation("index.sizeof")
def _size_of(op: Any, tr: ThreadTranslator) -> Step:
    (result,) = tr.results(op)

    def step(st: Any) -> None:
        st.v[result] = 64

    return step


@operation("index.casts", "index.castu")
def _index_cast(op: Any, tr: ThreadTranslator) -> Step:
    source, target = (arith.held_type(value.type) for value in (op.operands[0], op.results[0]))
    name = "index_castui" if op.name == "index.castu" else "index_cast"
    function = conversions.narrow_conversion(op, name, conversions.conversion(name, source, target))
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape), narrow=True)


_ORDER = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_ORDER = ("_false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord")
_FLOAT_ORDER += ("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "_true")


@operation("index.cmp", "llvm.icmp")
def _compare(op: Any, tr: ThreadTranslator) -> Step:
    name = "pred" if op.name == "index.cmp" else "predicate"
    found = enumerator(op, name, IndexCmpPredicate)
    return elementwise(op, tr, arith.integer_comparison(_ORDER.index(str(found))), narrow=True)


@operation("llvm.fcmp")
def _compare_floats(op: Any, tr: ThreadTranslator) -> Step:
    found = enumerator(op, "predicate", FCmpPredicate)
    return elementwise(op, tr, arith.float_comparison(_FLOAT_ORDER.index(str(found))))


_FLOATS = {"fadd": "addf", "fsub": "subf", "fmul": "mulf", "fdiv": "divf", "frem": "remf", "fneg": "negf"}


@operation(*(f"llvm.{name}" for name in _FLOATS))
def _floats(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, arith.FLOAT_FUNCTIONS[_FLOATS[op.name.removeprefix("llvm.")]])


_CONVERSIONS = {
    "fpext": "extf",
    "fptrunc": "truncf",
    "sitofp": "sitofp",
    "uitofp": "uitofp",
    "fptosi": "fptosi",
    "fptoui": "fptoui",
}


@operation(*(f"llvm.{name}" for name in _CONVERSIONS))
def _convert(op: Any, tr: ThreadTranslator) -> Step:
    source, target = (arith.held_type(value.type) for value in (op.operands[0], op.results[0]))
    name = _CONVERSIONS[op.name.removeprefix("llvm.")]
    function = conversions.narrow_conversion(op, name, conversions.conversion(name, source, target))
    return elementwise(op, tr, lambda x: function(x.reshape(x.shape or (1,))).reshape(x.shape), narrow=True)


@operation("llvm.freeze")
def _freeze(op: Any, tr: ThreadTranslator) -> Step:
    return tr.moves(tr.operands(op), tr.results(op))


_CLASSES: dict[str, Callable[[Array], Array]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isnormal": lambda x: np.isfinite(x) & (np.abs(x) >= _smallest_normal(x.dtype)),
}


def _smallest_normal(dtype: np.dtype[Any]) -> Any:
    return ml_dtypes.finfo(dtype).smallest_normal


@operation(*(f"math.{name}" for name in _CLASSES))
def _classify(op: Any, tr: ThreadTranslator) -> Step:
    return elementwise(op, tr, _CLASSES[op.name.removeprefix("math.")])


@operation("math.clampf")
def _clamp(op: Any, tr: ThreadTranslator) -> Step:
    # It becomes minimumf and maximumf, so that NaN stays NaN.
    return elementwise(op, tr, lambda x, low, high: np.minimum(np.maximum(x, low), high))


def _power(base: Array, exponent: Array) -> Array:
    """Integers to the power of integers, with wrap-around; with a negative exponent the truncation of 1 / x^n."""
    found = np.ones(np.broadcast(base, exponent).shape, base.dtype)
    factor, left = np.broadcast_to(base, found.shape), np.broadcast_to(exponent, found.shape)
    negative = left < 0
    left = np.where(negative, 0, left)
    while left.any():
        found = np.where(left & 1 == 1, found * factor, found).astype(base.dtype)
        factor, left = (factor * factor).astype(base.dtype), left >> 1
    odd = exponent & 1 == 1
    inverse = np.where(base == 1, 1, np.where(base == -1, np.where(odd, -1, 1), 0)).astype(base.dtype)
    return np.where(negative, inverse, found)


@operation("math.ipowi")
def _integer_power(op: Any, tr: ThreadTranslator) -> Step:
    bits = values.NARROW.get(str(values.element_type(op.results[0].type)))
    return elementwise(op, tr, _power if bits is None else lambda x, n: values.signed(_power(x, n), bits), narrow=True)


@operation("math.fpowi")
def _float_power(op: Any, tr: ThreadTranslator) -> Step:
    dtype = arith.type_of(op.results[0].type)

    def power(x: Array, n: Array) -> Array:
        with np.errstate(all="ignore"):
            return conversions.convert_float(np.asarray(np.power(x.astype(np.float64), n)), dtype)

    return elementwise(op, tr, power)


@operation("math.sincos")
def _sine_and_cosine(op: Any, tr: ThreadTranslator) -> Step:
    (source,), results = tr.operands(op), tr.results(op)
    dtype = arith.type_of(op.operands[0].type)

    def step(st: Any) -> None:
        x = np.asarray(st.v[source], dtype).astype(np.float64)
        with np.errstate(all="ignore"):
            for slot, function in zip(results, (np.sin, np.cos), strict=True):
                st.v[slot] = shaped(conversions.convert_float(np.asarray(function(x)), dtype), dtype)

    return step


@operation(*arith.EXTENDED)
def _extended(op: Any, tr: ThreadTranslator) -> Step:
    (x, y), results = tr.operands(op), tr.results(op)
    function, types = arith.extended_function(op), [arith.held_type(result.type) for result in op.results]

    def step(st: Any) -> None:
        found = function(st.v[x], st.v[y])
        for slot, one, dtype in zip(results, found, types, strict=True):
            st.v[slot] = shaped(one, dtype)

    return step
