"""`arith`: the same functions for numbers of all threads, numbers of each, and vectors."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ... import ir
from ..translator import Step, Translator, Unsupported, attribute, operation, vector_reader
from ..values import (
    NARROW,
    SMALL_FLOATS,
    collapse,
    element_type,
    integer_bits,
    is_float,
    is_vector,
    numpy_type,
    signed,
    wrap,
)

Array = np.ndarray[Any, Any]


def type_of(ty: Any) -> np.dtype[Any]:
    """The numpy type of elements, or a refusal."""
    found = numpy_type(element_type(ty))
    if found is None:
        raise Unsupported(f"the simulator has no numbers of type {element_type(ty)}")
    return found


def held_type(ty: Any) -> np.dtype[Any]:
    """The same of what knows types of a few bits, too: integers are bytes with their signs."""
    name = str(element_type(ty))
    if name in NARROW:
        return np.dtype(np.int8)
    return SMALL_FLOATS[name] if name in SMALL_FLOATS else type_of(ty)


# ---------------------------------------------------------------------------------------------------------------------
# Integers
# ---------------------------------------------------------------------------------------------------------------------


def _divide(x: int, y: int) -> int:
    """Division towards zero. By zero it gives zero: the program must not use that, and computes it at times."""
    if y == 0:
        return 0
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _unsigned(bits: int, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    mask = (1 << bits) - 1
    return lambda x, y: function(x & mask, y & mask)


def _shift(bits: int, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """A shift; one by too much gives zero, which the program must not use."""
    return lambda x, y: function(x, y) if 0 <= y < bits else 0


def integer_functions(bits: int) -> dict[str, Callable[[int, int], int]]:
    mask = (1 << bits) - 1
    unsigned = lambda function: _unsigned(bits, function)  # noqa: E731
    return {
        "addi": operator.add,
        "subi": operator.sub,
        "muli": operator.mul,
        "andi": operator.and_,
        "ori": operator.or_,
        "xori": operator.xor,
        "divsi": _divide,
        "divui": unsigned(_divide),
        "remsi": lambda x, y: x - _divide(x, y) * y if y else 0,
        "remui": unsigned(lambda x, y: x % y if y else 0),
        "ceildivsi": lambda x, y: -(-x // y) if y else 0,
        "ceildivui": unsigned(lambda x, y: -(-x // y) if y else 0),
        "floordivsi": lambda x, y: x // y if y else 0,
        "shli": _shift(bits, operator.lshift),
        "shrsi": _shift(bits, operator.rshift),
        "shrui": _shift(bits, lambda x, y: (x & mask) >> y),
        "maxsi": max,
        "minsi": min,
        "maxui": lambda x, y: x if x & mask >= y & mask else y,
        "minui": lambda x, y: x if x & mask <= y & mask else y,
    }


def _as_unsigned(x: Array) -> Array:
    return x if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def _guarded(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Division where nothing is divided by zero; there the result is zero."""

    def divide(x: Array, y: Array) -> Array:
        zero = y == 0
        return np.where(zero, np.zeros((), x.dtype), function(x, np.where(zero, np.ones((), y.dtype), y)))

    return divide


def _truncated(x: Array, y: Array) -> Array:
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


def _shifted(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def shift(x: Array, y: Array) -> Array:
        bits = x.dtype.itemsize * 8
        inside = (_as_unsigned(y) < bits) if y.dtype != np.bool_ else ~y
        return np.where(inside, function(x, np.where(inside, y, np.zeros((), y.dtype))), np.zeros((), x.dtype))

    return shift


def _on_unsigned(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: function(_as_unsigned(x), _as_unsigned(y)).view(x.dtype)


_ARRAY_FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "addi": lambda x, y: x ^ y if x.dtype == np.bool_ else x + y,
    "subi": lambda x, y: x ^ y if x.dtype == np.bool_ else x - y,
    "muli": lambda x, y: x & y if x.dtype == np.bool_ else x * y,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "divsi": _guarded(_truncated),
    "divui": _on_unsigned(_guarded(np.floor_divide)),
    "remsi": _guarded(np.fmod),
    "remui": _on_unsigned(_guarded(np.remainder)),
    "ceildivsi": _guarded(lambda x, y: -(-x // y)),
    "ceildivui": _on_unsigned(_guarded(lambda x, y: x // y + (x % y != 0).astype(x.dtype))),
    "floordivsi": _guarded(np.floor_divide),
    "shli": _shifted(np.left_shift),
    "shrsi": _shifted(np.right_shift),
    "shrui": _shifted(lambda x, y: np.right_shift(_as_unsigned(x), _as_unsigned(y)).view(x.dtype)),
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "maxui": _on_unsigned(np.maximum),
    "minui": _on_unsigned(np.minimum),
}


INTEGER_NAMES = tuple(_ARRAY_FUNCTIONS)


def integer_array_function(name: str) -> Callable[[Array, Array], Array]:
    return _ARRAY_FUNCTIONS[name]


def integer_function_of(name: str, ty: Any) -> Callable[[Array, Array], Array]:
    """The same of a type, whose numbers bytes may hold with their signs."""
    function, bits = _ARRAY_FUNCTIONS[name], NARROW.get(str(element_type(ty)))
    if bits is None:
        return function
    mask = (1 << bits) - 1

    def compute(x: Array, y: Array) -> Array:
        if name.startswith("sh"):
            x, y = x & mask if name == "shrui" else x, y & mask
            return signed(np.where(y < bits, function(x, y), np.zeros((), x.dtype)), bits)
        if name.endswith("ui"):
            x, y = x & mask, y & mask
        return signed(function(x, y), bits)

    return compute


@operation(*(f"arith.{name}" for name in _ARRAY_FUNCTIONS))
def _integers(op: Any, translator: Translator) -> Step:
    name = op.name.removeprefix("arith.")
    ty = op.results[0].type
    dtype = held_type(ty)
    on_arrays = integer_function_of(name, ty)
    (result,) = translator.results(op)
    if is_vector(ty):
        return _on_vectors(op, translator, on_arrays)
    x, y = translator.operands(op)
    bits = integer_bits(ty)
    assert bits is not None
    on_numbers, cut = integer_functions(bits)[name], wrap(bits)

    def step(st: Any) -> None:
        v = st.v
        a, b = v[x], v[y]
        if a.__class__ is int and b.__class__ is int:
            v[result] = cut(on_numbers(a, b))
        else:
            v[result] = collapse(on_arrays(np.asarray(a, dtype), np.asarray(b, dtype)))

    return step


def _on_vectors(op: Any, translator: Translator, function: Callable[..., Array]) -> Step:
    readers = [vector_reader(op, index, translator) for index in range(len(op.operands))]
    (result,) = translator.results(op)
    if len(readers) == 1:
        (only,) = readers

        def unary(st: Any) -> None:
            with np.errstate(all="ignore"):
                st.v[result] = function(only(st))

        return unary
    if len(readers) == 2:
        first, second = readers

        def binary(st: Any) -> None:
            with np.errstate(all="ignore"):
                st.v[result] = function(first(st), second(st))

        return binary

    def step(st: Any) -> None:
        with np.errstate(all="ignore"):
            st.v[result] = function(*(read(st) for read in readers))

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Floats
# ---------------------------------------------------------------------------------------------------------------------


def _nan_last(pick: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """The other one where one is NaN."""
    return lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, pick(x, y)))


FLOAT_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": _nan_last(np.maximum),
    "minnumf": _nan_last(np.minimum),
    "negf": np.negative,
}


def floats(op: Any, translator: Translator, function: Callable[..., Array]) -> Step:
    """An operation on floats, element by element."""
    dtype = type_of(op.results[0].type)
    if is_vector(op.results[0].type):
        return _on_vectors(op, translator, lambda *arrays: np.asarray(function(*arrays), dtype))
    operands = translator.operands(op)
    (result,) = translator.results(op)

    def step(st: Any) -> None:
        v = st.v
        with np.errstate(all="ignore"):
            found = function(*(np.asarray(v[slot]) for slot in operands))
        v[result] = dtype.type(found) if np.ndim(found) == 0 else np.asarray(found, dtype)

    return step


@operation(*(f"arith.{name}" for name in FLOAT_FUNCTIONS))
def _floats(op: Any, translator: Translator) -> Step:
    return floats(op, translator, FLOAT_FUNCTIONS[op.name.removeprefix("arith.")])


# ---------------------------------------------------------------------------------------------------------------------
# Comparisons and choices
# ---------------------------------------------------------------------------------------------------------------------

_SIGNED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_ORDERED: dict[int, Callable[[Array, Array], Array]] = {
    1: np.equal,
    2: np.greater,
    3: np.greater_equal,
    4: np.less,
    5: np.less_equal,
    6: lambda x, y: (x < y) | (x > y),
}


def float_comparison(predicate: int) -> Callable[[Array, Array], Array]:
    nan = lambda x, y: np.isnan(x) | np.isnan(y)  # noqa: E731
    if predicate in _ORDERED:
        return _ORDERED[predicate]
    if predicate == 0:
        return lambda x, y: np.zeros(np.broadcast(x, y).shape, np.bool_)
    if predicate == 7:
        return lambda x, y: ~nan(x, y)
    if predicate == 14:
        return nan
    if predicate == 15:
        return lambda x, y: np.ones(np.broadcast(x, y).shape, np.bool_)
    ordered = _ORDERED[predicate - 7]
    return lambda x, y: ordered(x, y) | nan(x, y)


def integer_comparison(predicate: int) -> Callable[[Array, Array], Array]:
    if predicate < 6:
        return _SIGNED[predicate]
    return lambda x, y: _SIGNED[predicate - 4](_as_unsigned(x), _as_unsigned(y))


def compare_arrays(op: Any) -> tuple[Callable[[Array, Array], Array], np.dtype[Any]]:
    predicate = attribute(op, "predicate")
    if op.name == "arith.cmpf":
        return float_comparison(predicate), type_of(op.operands[0].type)
    # Numbers with more signs have the same order, with and without a sign.
    return integer_comparison(predicate), held_type(op.operands[0].type)


def compare_numbers(op: Any) -> Callable[[int, int], Any] | None:
    """The comparison of Python's numbers; None of floats."""
    predicate, bits = attribute(op, "predicate"), integer_bits(op.operands[0].type)
    if bits is None:
        return None
    return _SIGNED[predicate] if predicate < 6 else _unsigned(bits, _SIGNED[predicate - 4])


@operation("arith.cmpi", "arith.cmpf")
def _compare(op: Any, translator: Translator) -> Step:
    function, dtype = compare_arrays(op)
    if is_vector(op.operands[0].type):
        return _on_vectors(op, translator, function)
    x, y = translator.operands(op)
    (result,) = translator.results(op)
    on_numbers = compare_numbers(op)

    def step(st: Any) -> None:
        v = st.v
        a, b = v[x], v[y]
        if on_numbers is not None and a.__class__ is int and b.__class__ is int:
            v[result] = int(on_numbers(a, b))
        else:
            v[result] = collapse(np.asarray(function(np.asarray(a, dtype), np.asarray(b, dtype))))

    return step


@operation("arith.select")
def _select(op: Any, translator: Translator) -> Step:
    if is_vector(op.operands[0].type):
        return _on_vectors(op, translator, np.where)
    condition, yes, no = translator.operands(op)
    (result,) = translator.results(op)
    site = translator.site(op)
    narrow = str(op.results[0].type) in NARROW
    scalar = np.dtype(np.int8) if narrow else numpy_type(op.results[0].type)

    def step(st: Any) -> None:
        v = st.v
        chosen = v[condition]
        if not isinstance(chosen, np.ndarray):
            v[result] = v[yes] if chosen else v[no]
        elif scalar is not None:
            v[result] = collapse(np.where(chosen, np.asarray(v[yes], scalar), np.asarray(v[no], scalar)))
        else:
            st.stop("divergence", "threads of the warpgroup choose different values", site)

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Constants and conversions
# ---------------------------------------------------------------------------------------------------------------------


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


def convert_float(x: Array, dtype: np.dtype[Any]) -> Array:
    """Rounds to the nearest number, ties to even; what is too large for a type without infinity becomes its largest, as
    does NaN in one without NaN (PTX ISA, "cvt", `.satfinite`)."""
    if dtype in SMALL_FLOATS.values():
        wide, largest = np.asarray(x, np.float32), float(ml_dtypes.finfo(dtype).max)
        x = np.where(np.isnan(wide), np.float32(largest), np.clip(wide, -largest, largest))
    if dtype.name == "float8_e4m3fn":
        x = np.clip(np.asarray(x, np.float32), -448.0, 448.0)
    elif dtype.name == "float8_e5m2":
        wide = np.asarray(x, np.float32)
        x = np.where(np.isinf(wide), wide, np.clip(wide, -57344.0, 57344.0))
    if dtype.itemsize == 1 and x.dtype != np.float32:
        x = x.astype(np.float32)
    return np.asarray(x).astype(dtype)


def _float_to_integer(x: Array, dtype: np.dtype[Any], unsigned: bool, bits: int) -> Array:
    low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    wide = np.nan_to_num(np.trunc(np.asarray(x, np.float64)), nan=0.0, posinf=high, neginf=low)
    limited = np.where(wide >= high, high, np.where(wide <= low, low, wide))
    if unsigned:
        return limited.astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    result = limited.astype(np.int64)
    return np.where(wide >= high, high, result).astype(dtype)


def conversion(name: str, source: np.dtype[Any], target: np.dtype[Any]) -> Callable[[Array], Array]:
    if name in ("extui", "uitofp", "index_castui"):
        return lambda x: _as_unsigned(x).astype(target)
    if name in ("extsi", "trunci", "index_cast"):
        if source == np.bool_ and name != "trunci":
            return lambda x: -(x.astype(target))
        if target == np.bool_:
            return lambda x: (x & 1).astype(np.bool_)
        return lambda x: x.astype(target)
    if name == "sitofp":
        return lambda x: -(x.astype(target)) if x.dtype == np.bool_ else x.astype(target)
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
        return _on_vectors(op, translator, function)
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
