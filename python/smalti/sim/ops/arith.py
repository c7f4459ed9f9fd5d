# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`arith`: on uniform scalars, per-thread scalars and vectors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ..machine.findings import KINDS
from ..machine.machine import State
from ..machine.values import (
    NARROW,
    SMALL_FLOATS,
    collapse,
    element_type,
    held_integer,
    integer_bits,
    is_vector,
    numpy_type,
    signed,
    wrap,
)
from ..translation.translator import Step, Translator, Unsupported, attribute, operation, vector_reader

Array = np.ndarray[Any, Any]


def type_of(ty: ir.Type) -> np.dtype[Any]:
    """The numpy type of elements. Raises `Unsupported` if there is none."""
    found = numpy_type(element_type(ty))
    if found is None:
        raise Unsupported.wrong_type("the value", ty)
    return found


def held_type(ty: ir.Type) -> np.dtype[Any]:
    """The numpy type of elements, also of types that numpy does not have."""
    name = str(element_type(ty))
    if name in NARROW:
        return held_integer(NARROW[name])
    return SMALL_FLOATS[name] if name in SMALL_FLOATS else type_of(ty)


# ---------------------------------------------------------------------------------------------------------------------
# Integers
# ---------------------------------------------------------------------------------------------------------------------


def _divide(x: int, y: int) -> int:
    """Division toward zero. Division by zero returns zero, and is a finding (`division`)."""
    if y == 0:
        return 0
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _unsigned(bits: int, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    mask = (1 << bits) - 1
    return lambda x, y: function(x & mask, y & mask)


def _shift(bits: int, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """A shift. A shift by too many bits returns zero; the result is undefined in MLIR."""
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
        "maxsi": operator.and_ if bits == 1 else max,
        "minsi": operator.or_ if bits == 1 else min,
        "maxui": lambda x, y: x if x & mask >= y & mask else y,
        "minui": lambda x, y: x if x & mask <= y & mask else y,
    }


def as_unsigned(x: Array) -> Array:
    """The same bits as unsigned numbers."""
    return x if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def _guarded(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Division without division by zero; the result is zero there."""

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
        inside = (as_unsigned(y) < bits) if y.dtype != np.bool_ else ~y
        return np.where(inside, function(x, np.where(inside, y, np.zeros((), y.dtype))), np.zeros((), x.dtype))

    return shift


def _of_signed(function: Callable[[Array, Array], Array], of_bits: Callable[[Array, Array], Array]) -> Any:
    """A function of signed integers. A signed i1 is 0 or -1; a boolean array holds whether it is set."""
    return lambda x, y: of_bits(x, y) if x.dtype == np.bool_ else function(x, y)


def _on_unsigned(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: function(as_unsigned(x), as_unsigned(y)).view(x.dtype)


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
    "ceildivsi": _of_signed(_guarded(lambda x, y: -(-x // y)), np.logical_and),
    "ceildivui": _on_unsigned(_guarded(lambda x, y: x // y + (x % y != 0).astype(x.dtype))),
    "floordivsi": _guarded(np.floor_divide),
    "shli": _shifted(np.left_shift),
    "shrsi": _shifted(np.right_shift),
    "shrui": _shifted(lambda x, y: np.right_shift(as_unsigned(x), as_unsigned(y)).view(x.dtype)),
    "maxsi": _of_signed(np.maximum, np.logical_and),
    "minsi": _of_signed(np.minimum, np.logical_or),
    "maxui": _on_unsigned(np.maximum),
    "minui": _on_unsigned(np.minimum),
}


INTEGER_NAMES = tuple(_ARRAY_FUNCTIONS)


def integer_array_function(name: str) -> Callable[[Array, Array], Array]:
    return _ARRAY_FUNCTIONS[name]


def integer_function_of(name: str, ty: ir.Type) -> Callable[[Array, Array], Array]:
    """The same for a type that numpy may not have; elements are sign-extended."""
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


_SIGNED_DIVISIONS = ("divsi", "remsi", "ceildivsi", "floordivsi")
_DIVISIONS = (*_SIGNED_DIVISIONS, "divui", "remui", "ceildivui")


def undefined_elements(name: str, ty: Any) -> Callable[[Any, Any], Any] | None:
    """A function that returns where a division is undefined, element by element."""
    if name not in _DIVISIONS:
        return None
    bits = integer_bits(element_type(ty))
    assert bits is not None
    if name not in _SIGNED_DIVISIONS:
        return lambda x, y: y == 0
    least, minus = (True, True) if bits == 1 else (-(1 << (bits - 1)), -1)
    return lambda x, y: (y == 0) | ((y == minus) & (x == least))


def is_only_selected(op: Any) -> bool:
    """Whether the results of an op only reach operands of selects, which may drop them."""
    for use in (use for result in op.results for use in result.uses):
        user = use.owner
        if user.name in ("arith.select", "llvm.select") and use.operand_number > 0:
            continue
        if not user.name.startswith(("arith.", "index.", "vector.broadcast")) or not is_only_selected(user):
            return False
    return True


def _reporting(name: str, op: ir.Operation, translator: Translator, step: Step) -> Step:
    """The step of an op, with a check of the divisor if it is a division."""
    undefined = undefined_elements(name, op.results[0].type)
    if undefined is None or is_only_selected(op):
        return step
    (x, y), site = (vector_reader(op, at, translator) for at in range(2)), translator.site(op)

    def checked(st: State) -> None:
        # Without data, copies do not deliver divisors.
        if st.machine.how.numbers and np.any(undefined(x(st), y(st))):
            st.report("division", KINDS["division"], site)
        step(st)

    return checked


@operation(*(f"arith.{name}" for name in _ARRAY_FUNCTIONS))
def _integers(op: ir.Operation, translator: Translator) -> Step:
    name = op.name.removeprefix("arith.")
    return _reporting(name, op, translator, _integer_step(name, op, translator))


def _integer_step(name: str, op: ir.Operation, translator: Translator) -> Step:
    ty = op.results[0].type
    dtype = held_type(ty)
    on_arrays = integer_function_of(name, ty)
    (result,) = translator.results(op)
    if is_vector(ty):
        return on_vectors(op, translator, on_arrays)
    x, y = translator.operands(op)
    bits = integer_bits(ty)
    assert bits is not None
    on_numbers, cut = integer_functions(bits)[name], wrap(bits)

    def step(st: State) -> None:
        v = st.v
        a, b = v[x], v[y]
        if a.__class__ is int and b.__class__ is int:
            v[result] = cut(on_numbers(a, b))
        else:
            v[result] = collapse(on_arrays(np.asarray(a, dtype), np.asarray(b, dtype)))

    return step


EXTENDED = tuple(f"arith.{name}" for name in ("addui_extended", "mulsi_extended", "mului_extended"))


def extended_function(op: ir.Operation) -> Callable[[Array, Array], tuple[Array, Array]]:
    """The two results of an op on integers whose result has more bits than its operands."""
    ty = op.operands[0].type
    dtype, bits = held_type(ty), integer_bits(element_type(ty))
    assert bits is not None
    is_sum, is_signed, mask = op.name == "arith.addui_extended", op.name == "arith.mulsi_extended", (1 << bits) - 1
    # Numbers of Python have any size.
    wide: Any = np.int64 if bits + (1 if is_sum else bits) < 64 else object

    def widened(x: Array) -> Array:
        found = np.asarray(x, dtype).astype(wide)
        return found & mask if not is_signed else -found if bits == 1 else found

    def narrowed(found: Array) -> Array:
        if bits == 1:
            return np.asarray(found & 1).astype(np.bool_)
        kept = np.asarray(found & mask).astype(f"u{dtype.itemsize}").view(dtype)
        return signed(kept, bits)

    def compute(x: Array, y: Array) -> tuple[Array, Array]:
        a, b = widened(x), widened(y)
        found = np.asarray(a + b if is_sum else a * b)
        high = np.asarray(found >> bits)
        return narrowed(found), high.astype(np.bool_) if is_sum else narrowed(high)

    return compute


@operation(*EXTENDED)
def _extended(op: ir.Operation, translator: Translator) -> Step:
    function, results = extended_function(op), translator.results(op)
    readers = [vector_reader(op, index, translator) for index in range(2)]
    on_groups = is_vector(op.operands[0].type)

    def step(st: State) -> None:
        for slot, found in zip(results, function(*(read(st) for read in readers)), strict=True):
            st.v[slot] = found if on_groups else collapse(found)

    return step


def on_vectors(op: ir.Operation, translator: Translator, function: Callable[..., Array]) -> Step:
    """An op that is a function of arrays."""
    readers = [vector_reader(op, index, translator) for index in range(len(op.operands))]
    (result,) = translator.results(op)
    if len(readers) == 1:
        (only,) = readers

        def unary(st: State) -> None:
            with np.errstate(all="ignore"):
                st.v[result] = function(only(st))

        return unary
    if len(readers) == 2:
        first, second = readers

        def binary(st: State) -> None:
            with np.errstate(all="ignore"):
                st.v[result] = function(first(st), second(st))

        return binary

    def step(st: State) -> None:
        with np.errstate(all="ignore"):
            st.v[result] = function(*(read(st) for read in readers))

    return step


# ---------------------------------------------------------------------------------------------------------------------
# Floats
# ---------------------------------------------------------------------------------------------------------------------


def _nan_last(pick: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """The other operand where one is NaN."""
    return lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, pick(x, y)))


def maximum(x: Array, y: Array) -> Array:
    """The maximum; NaN where one operand is NaN. -0 is less than +0, which numpy does not define."""
    found = np.maximum(x, y)
    return np.where((x == 0) & (y == 0), x + y, found) if (found == 0).any() else found


def minimum(x: Array, y: Array) -> Array:
    """The minimum; NaN where one operand is NaN. -0 is less than +0."""
    found = np.minimum(x, y)
    return np.where((x == 0) & (y == 0), -(-x - y), found) if (found == 0).any() else found


FLOAT_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maximumf": maximum,
    "minimumf": minimum,
    "maxnumf": _nan_last(np.maximum),
    "minnumf": _nan_last(np.minimum),
    "negf": np.negative,
}


def floats(op: ir.Operation, translator: Translator, function: Callable[..., Array]) -> Step:
    """An op on floats, element by element."""
    dtype = type_of(op.results[0].type)
    if is_vector(op.results[0].type):
        return on_vectors(op, translator, lambda *arrays: np.asarray(function(*arrays), dtype))
    operands = translator.operands(op)
    (result,) = translator.results(op)

    def step(st: State) -> None:
        v = st.v
        with np.errstate(all="ignore"):
            found = function(*(np.asarray(v[slot]) for slot in operands))
        v[result] = dtype.type(found) if np.ndim(found) == 0 else np.asarray(found, dtype)

    return step


@operation(*(f"arith.{name}" for name in FLOAT_FUNCTIONS))
def _floats(op: ir.Operation, translator: Translator) -> Step:
    return floats(op, translator, FLOAT_FUNCTIONS[op.name.removeprefix("arith.")])


# ---------------------------------------------------------------------------------------------------------------------
# Comparisons and selects
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
        signed = _SIGNED[predicate]
        # A signed i1 is 0 or -1.
        return lambda x, y: signed(y, x) if x.dtype == np.bool_ else signed(x, y)
    return lambda x, y: _SIGNED[predicate - 4](as_unsigned(x), as_unsigned(y))


def compare_arrays(op: ir.Operation) -> tuple[Callable[[Array, Array], Array], np.dtype[Any]]:
    predicate = attribute(op, "predicate")
    if op.name == "arith.cmpf":
        return float_comparison(predicate), type_of(op.operands[0].type)
    # Sign-extended numbers have the same signed and unsigned order.
    return integer_comparison(predicate), held_type(op.operands[0].type)


def compare_numbers(op: ir.Operation) -> Callable[[int, int], Any] | None:
    """The comparison of Python integers; None for floats."""
    predicate, bits = attribute(op, "predicate"), integer_bits(op.operands[0].type)
    if bits is None:
        return None
    if bits == 1 and predicate < 6:
        return lambda x, y: _SIGNED[predicate](y, x)
    return _SIGNED[predicate] if predicate < 6 else _unsigned(bits, _SIGNED[predicate - 4])


@operation("arith.cmpi", "arith.cmpf")
def _compare(op: ir.Operation, translator: Translator) -> Step:
    function, dtype = compare_arrays(op)
    if is_vector(op.operands[0].type):
        return on_vectors(op, translator, function)
    x, y = translator.operands(op)
    (result,) = translator.results(op)
    on_numbers = compare_numbers(op)

    def step(st: State) -> None:
        v = st.v
        a, b = v[x], v[y]
        if on_numbers is not None and a.__class__ is int and b.__class__ is int:
            v[result] = int(on_numbers(a, b))
        else:
            v[result] = collapse(np.asarray(function(np.asarray(a, dtype), np.asarray(b, dtype))))

    return step


@operation("arith.select")
def _select(op: ir.Operation, translator: Translator) -> Step:
    if is_vector(op.operands[0].type):
        return on_vectors(op, translator, np.where)
    condition, yes, no = translator.operands(op)
    (result,) = translator.results(op)
    site = translator.site(op)
    scalar = None if isinstance(op.results[0].type, ir.MemRefType) else held_type(op.results[0].type)

    def step(st: State) -> None:
        v = st.v
        chosen = v[condition]
        if not isinstance(chosen, np.ndarray):
            v[result] = v[yes] if chosen else v[no]
        elif scalar is not None:
            v[result] = collapse(np.where(chosen, np.asarray(v[yes], scalar), np.asarray(v[no], scalar)))
        else:
            st.stop(
                "divergence",
                "threads of the warpgroup select different operands; the condition of arith.select must be uniform",
                site,
            )

    return step
