"""Constants, and conversions between types: the same functions for numbers of all threads, numbers of each, and vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ... import ir
from ..translator import Step, Translator, operation
from ..values import NARROW, SMALL_FLOATS, element_type, integer_bits, is_float, is_vector, signed, wrap
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
    dense: Any = ir.DenseElementsAttr(found)
    if dense.is_splat:
        value = dense.get_splat_value()
        number = value.value if hasattr(value, "value") else value
        if dtype.kind == "i" and bits is not None:
            number = wrap(bits)(int(number))
        array = np.full(shape, number, dtype)
    else:
        array = _items(found, dtype, is_float(ty.element_type)).reshape(shape)
    array.flags.writeable = False
    return array


def _items(found: Any, dtype: np.dtype[Any], floats: bool) -> Array:
    """The elements of a dense attribute."""
    kind: Any = ir.DenseFPElementsAttr if floats else ir.DenseIntElementsAttr
    try:
        return np.array([kind(found)[i] for i in range(len(kind(found)))]).astype(dtype)
    except TypeError:
        # The bindings have no such numbers: as text, many of them are bytes.
        text = str(found).partition("<")[2].rpartition("> :")[0]
    if text.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(text.strip('"')[2:]), np.uint8).view(dtype)
    words = re.findall(r"[^\s,\[\]]+", text)
    if not floats:
        return np.array([int(word) for word in words], dtype)
    codes = [int(word, 16) if word.startswith("0x") else None for word in words]
    given = np.array([0.0 if code is not None else float(word) for word, code in zip(words, codes, strict=True)])
    array = given.astype(dtype)
    for i, code in enumerate(codes):
        if code is not None:
            array.view(np.uint8)[i] = code
    return array


@operation("arith.constant")
def _constant(op: Any, translator: Translator) -> Step:
    (result,) = translator.results(op)
    value = constant(op.attributes["value"], op.results[0].type)

    def step(st: Any) -> None:
        st.v[result] = value

    return step


def _to_odd(x: Array) -> Array:
    """Numbers of 64 bits as such of 32 bits that round to the same ones of fewer bits: where numbers are not exact, they
    are cut off and have an odd code. The types of ml_dtypes would round twice."""
    with np.errstate(all="ignore"):
        found = np.ascontiguousarray(x.astype(np.float32))
        wide = found.astype(np.float64)
        inexact = (wide != x) & ~np.isnan(x)
        codes = found.view(np.uint32) - (inexact & (np.abs(wide) > np.abs(x))).astype(np.uint32)
    return np.where(inexact, codes | np.uint32(1), codes).astype(np.uint32).view(np.float32)


def convert_float(x: Array, dtype: np.dtype[Any]) -> Array:
    """Rounds to the nearest number, ties to even. A float of 8 bits or less becomes the largest number where the value
    is larger, infinite, or NaN in a type without NaN (PTX ISA, "cvt", `.satfinite`)."""
    x = np.asarray(x)
    if x.dtype == np.float64 and dtype.itemsize <= 2 and dtype != np.float16:
        x = _to_odd(x)
    if dtype.itemsize > 1:
        return x.astype(dtype)
    wide, largest = np.asarray(x, np.float32), float(ml_dtypes.finfo(dtype).max)
    limited = np.clip(wide, -largest, largest)
    if dtype in SMALL_FLOATS.values():
        limited = np.where(np.isnan(wide), np.float32(largest), limited)
    return limited.astype(dtype)


def _float_to_integer(x: Array, dtype: np.dtype[Any], unsigned: bool, bits: int) -> Array:
    low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    wide = np.nan_to_num(np.trunc(np.asarray(x, np.float64)), nan=0.0, posinf=high, neginf=low)
    limited = np.where(wide >= high, high, np.where(wide <= low, low, wide))
    if unsigned:
        return limited.astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    result = limited.astype(np.int64)
    return np.where(wide >= high, high, result).astype(dtype)


def conversion(name: str, source: np.dtype[Any], target: np.dtype[Any]) -> Callable[[Array], Array]:
    if name == "uitofp":
        return lambda x: convert_float(as_unsigned(x), target)
    if name == "sitofp":
        return lambda x: convert_float(-x.astype(np.int8) if x.dtype == np.bool_ else x, target)
    if name in ("extui", "index_castui"):
        return lambda x: as_unsigned(x).astype(target)
    if name in ("extsi", "trunci", "index_cast"):
        if source == np.bool_ and name != "trunci":
            return lambda x: -(x.astype(target))
        if target == np.bool_:
            return lambda x: (x & 1).astype(np.bool_)
        return lambda x: x.astype(target)
    if name in ("fptosi", "fptoui"):
        return lambda x: _float_to_integer(x, target, name == "fptoui", target.itemsize * 8)
    if name == "bitcast":
        return lambda x: np.ascontiguousarray(x).view(target)
    if name in ("extf", "truncf", "convertf"):
        return lambda x: convert_float(x, target)
    raise AssertionError(name)


def narrow_conversion(op: Any, name: str, function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A conversion from integers of a few bits, or to them."""
    before, behind = (NARROW.get(str(element_type(value.type))) for value in (op.operands[0], op.results[0]))
    if name == "bitcast":
        return _narrow_bits(op, before, behind, function)
    if behind is not None and name in ("fptosi", "fptoui"):
        bits, dtype = behind, np.dtype(np.int8)
        return lambda x: signed(_float_to_integer(x, dtype, name == "fptoui", bits), bits)
    if before is None and behind is None:
        return function

    def convert(x: Array) -> Array:
        if before is not None and name in ("extui", "uitofp", "index_castui"):
            x = x & (1 << before) - 1
        found = function(x)
        return found if behind is None else signed(found, behind)

    return convert


def _narrow_bits(
    op: Any, before: int | None, behind: int | None, function: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    """The same bits as another type, where a number may have less than a byte."""
    of_floats = [str(element_type(value.type)) in SMALL_FLOATS for value in (op.operands[0], op.results[0])]
    if behind is not None and of_floats[0]:
        return lambda x: signed(np.ascontiguousarray(x).view(np.int8), behind)
    if before is not None and of_floats[1]:
        mask = (1 << before) - 1
        return lambda x: function(np.ascontiguousarray(x & mask))
    return function


CONVERSIONS = ("extui", "extsi", "trunci", "sitofp", "uitofp", "fptosi", "fptoui", "extf", "truncf", "bitcast")


@operation(*(f"arith.{name}" for name in (*CONVERSIONS, "index_cast", "index_castui")))
def _convert(op: Any, translator: Translator) -> Step:
    name = op.name.removeprefix("arith.")
    source, target = held_type(op.operands[0].type), held_type(op.results[0].type)
    function = narrow_conversion(op, name, conversion(name, source, target))
    if is_vector(op.results[0].type):
        return on_vectors(op, translator, function)
    (x,) = translator.operands(op)
    (result,) = translator.results(op)
    bits, wide = integer_bits(op.operands[0].type), integer_bits(op.results[0].type)
    cut = wrap(wide) if wide is not None else None
    integers = bits is not None and wide is not None and name != "bitcast"
    mask = (1 << (bits or 1)) - 1
    # Numbers of one bit are 0 and 1, which a signed extension takes to 0 and -1.
    unsigned = name in ("extui", "index_castui")
    negate = bits == 1 and name in ("extsi", "index_cast")

    def step(st: Any) -> None:
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
