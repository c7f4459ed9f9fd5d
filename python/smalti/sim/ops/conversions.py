# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants and type conversions, on uniform scalars, per-thread scalars and vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import instructions, ir
from ..._mlir_libs import _smalti
from ..machine.machine import State
from ..machine.values import (
    NARROW,
    SMALL_FLOATS,
    element_type,
    held_integer,
    integer_bits,
    is_float,
    is_vector,
    signed,
    wrap,
)
from ..translation.translator import Step, Translator, operation
from .arith import Array, as_unsigned, held_type, on_vectors


def constant(found: Any, ty: Any) -> Any:
    """The value of a constant's attribute."""
    dtype, bits = held_type(ty), integer_bits(element_type(ty))
    if not is_vector(ty):
        if is_float(ty):
            return dtype.type(ir.FloatAttr(found).value)
        assert bits is not None
        return wrap(bits)(ir.BoolAttr(found).value if bits == 1 else ir.IntegerAttr(found).value)
    shape = tuple(ty.shape)
    raw = np.frombuffer(_smalti.dense_bytes(ir.DenseElementsAttr(found)), np.uint8)
    if bits == 1:
        elements = np.unpackbits(raw, bitorder="little").view(np.bool_)
        elements = elements[: 1 if found.is_splat else math.prod(shape)]
    else:
        narrow = NARROW.get(str(ty.element_type))
        if narrow is not None:
            # An element has whole bytes, as few as possible.
            given = raw.reshape(-1, -(-narrow // 8))
            raw = np.zeros((len(given), dtype.itemsize), np.uint8)
            raw[:, : given.shape[1]] = given
        elements = raw.view(dtype).reshape(-1)
        elements = elements if narrow is None else signed(elements, narrow)
    array = np.full(shape, elements[0]) if found.is_splat else elements.reshape(shape)
    array.flags.writeable = False
    return array


@operation("arith.constant")
def _constant(op: ir.Operation, translator: Translator) -> Step:
    (result,) = translator.results(op)
    value = constant(op.attributes["value"], op.results[0].type)

    def step(st: State) -> None:
        st.v[result] = value

    return step


def convert_float(x: Array, dtype: np.dtype[Any], rounding: str = "nearest_even") -> Array:
    """Rounds once. Floats of 8 bits or less saturate, also for infinity, as in the compiler's conversions
    (NVIDIAConversions.cpp: `cvt` with `.satfinite`)."""
    array = np.asarray(x)
    source, target = (instructions.type_name(ty) for ty in (array.dtype, dtype))
    result = instructions.convert(array, source, target, rounding=rounding, saturate=dtype.itemsize == 1)
    # Instructions ignore the sign, but the compiler's conversions do not.
    return np.where(array < 0, dtype.type(np.nan), result) if target == "f8E8M0FNU" else result


def _to_integer(x: Array, bits: int, unsigned: bool) -> Array:
    """Truncates toward zero and clamps."""
    array = np.asarray(x)
    held = 1 if bits == 1 else held_integer(bits).itemsize * 8
    target = f"ui{held}" if unsigned else f"i{held}"
    found = instructions.convert(array, instructions.type_name(array.dtype), target, rounding="toward_zero")
    if bits == held:
        return found
    least, most = (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return np.clip(found, least, most)


def conversion(
    name: str, source: np.dtype[Any], target: np.dtype[Any], rounding: str = "nearest_even"
) -> Callable[[Array], Array]:
    if name == "uitofp":
        return lambda x: convert_float(as_unsigned(x), target)
    if name == "sitofp":
        return lambda x: convert_float(-x.astype(np.int8) if x.dtype == np.bool_ else x, target)
    if name in ("extui", "extsi", "trunci", "index_cast", "index_castui"):
        if target == np.bool_:
            return lambda x: (x & 1).astype(np.bool_)
        if name in ("extui", "index_castui"):
            return lambda x: as_unsigned(x).astype(target)
        if source == np.bool_ and name != "trunci":
            return lambda x: -(x.astype(target))
        return lambda x: x.astype(target)
    if name in ("fptosi", "fptoui"):
        bits = 1 if target == np.bool_ else target.itemsize * 8
        return lambda x: _to_integer(x, bits, name == "fptoui").view(target)
    if name == "bitcast":
        return lambda x: np.ascontiguousarray(x).view(target)
    if name in ("extf", "truncf", "convertf"):
        return lambda x: convert_float(x, target, rounding)
    raise AssertionError(name)


def narrow_conversion(op: ir.Operation, name: str, function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A conversion from or to integers that numpy may not have."""
    before, behind = (NARROW.get(str(element_type(value.type))) for value in (op.operands[0], op.results[0]))
    if name == "bitcast":
        return _narrow_bits(op, before, behind, function)
    if behind is not None and name in ("fptosi", "fptoui"):
        bits = behind
        held = held_integer(bits)
        return lambda x: signed(_to_integer(x, bits, name == "fptoui").view(held), bits)
    if before is None and behind is None:
        return function

    def convert(x: Array) -> Array:
        if before is not None and name in ("extui", "uitofp", "index_castui"):
            x = x & (1 << before) - 1
        found = function(x)
        return found if behind is None else signed(found, behind)

    return convert


def _narrow_bits(
    op: ir.Operation, before: int | None, behind: int | None, function: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    """The same bits as another type, which may be packed."""
    of_floats = [str(element_type(value.type)) in SMALL_FLOATS for value in (op.operands[0], op.results[0])]
    if behind is not None and of_floats[0]:
        return lambda x: signed(np.ascontiguousarray(x).view(np.int8), behind)
    if before is not None and of_floats[1]:
        mask = (1 << before) - 1
        return lambda x: function(np.ascontiguousarray(x & mask))
    return function


CONVERSIONS = ("extui", "extsi", "trunci", "sitofp", "uitofp", "fptosi", "fptoui", "extf", "truncf", "bitcast")


@operation(*(f"arith.{name}" for name in (*CONVERSIONS, "index_cast", "index_castui")))
def _convert(op: ir.Operation, translator: Translator) -> Step:
    name = op.name.removeprefix("arith.")
    source, target = held_type(op.operands[0].type), held_type(op.results[0].type)
    function = narrow_conversion(op, name, conversion(name, source, target, instructions.rounding_of(op)))
    if is_vector(op.results[0].type):
        return on_vectors(op, translator, function)
    (x,) = translator.operands(op)
    (result,) = translator.results(op)
    bits, wide = integer_bits(op.operands[0].type), integer_bits(op.results[0].type)
    cut = wrap(wide) if wide is not None else None
    integers = bits is not None and wide is not None and name != "bitcast"
    mask = (1 << (bits or 1)) - 1
    # An i1 is 0 or 1; sign extension yields 0 or -1.
    unsigned = name in ("extui", "index_castui")
    negate = bits == 1 and name in ("extsi", "index_cast")

    def step(st: State) -> None:
        value = st.v[x]
        if integers and value.__class__ is int:
            assert cut is not None
            st.v[result] = cut(value & mask if unsigned else -value if negate else value)
            return
        with np.errstate(all="ignore"):
            found = function(np.asarray(value, source).reshape(np.shape(value) or (1,)))
        if isinstance(value, np.ndarray):
            st.v[result] = found
        else:
            st.v[result] = int(found[0]) if wide is not None else found[0]

    return step
