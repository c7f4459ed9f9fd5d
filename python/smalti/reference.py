# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference interpreter of `triton_xla` kernels. It is slow, simple and independent of all passes.

The interpreter runs tiles sequentially, and operations in order, on float64 arrays. Integers are exact in their width.
Roundings are not simulated. Instead each float value has an error bound: the largest difference of a correct
implementation. The bound is a first-order running error analysis, where `u` is the unit roundoff of the type of a value:

- an operation adds `u * |result|` to the propagated bounds of its operands; a conversion adds `u` of the new type;
- a function of `math` has an error of at most 4 `u`;
- a dot of depth K with f32 accumulation adds `(K + 1) * 2**-23 * sum(|a| * |b|)`: the order of the sum is unspecified,
  and matrix units truncate where scalar arithmetic rounds;
- for 8-bit floats, `2**-13` replaces `2**-23`: Hopper matrix units align the terms to the largest one and keep about 14 bits
  (DeepSeek-V3 Technical Report, 2024, 3.3.2). Integer dots are exact and wrap;
- with `tf32`, each operand has an additional error of `2**-10`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from . import dtypes, ir
from .diagnostics import Diagnostic, source_location
from .dialects.triton_xla import DotAlgorithm
from .errors import SmaltiError
from .pace import MORE_TIME, check_time_limit

_DOT_ROUNDING = 2.0**-23
_FLOAT8_DOT_ROUNDING = 2.0**-13
_TF32_ROUNDING = 2.0**-10
_FUNCTION_ULPS = 4
_MATMUL_CHUNK = 1 << 26
"""Number of multiplications in one call of numpy."""
_REPORT_INTERVAL = 1.0
"""Seconds between two progress reports."""


class InterpreterError(SmaltiError):
    """The reference interpreter does not support an operation or type, or the kernel has undefined behavior."""


@dataclass
class Value:
    """An SSA value: the exact result, and its error bound per element. None means that the result must be exact."""

    data: np.ndarray
    error: np.ndarray | None = None


def _error(value: Value) -> np.ndarray:
    return np.zeros(value.data.shape) if value.error is None else value.error


def _element_type(ty: Any) -> dtypes.ElementType:
    spelling = str(ty.element_type if isinstance(ty, ir.ShapedType) else ty)
    found = dtypes.from_mlir(spelling)
    if found:
        return found
    if spelling.startswith("i") and spelling[1:].isdigit() and int(spelling[1:]) <= 64:
        return dtypes.ElementType(spelling, spelling, int(spelling[1:]), "i")
    raise InterpreterError(f"the reference interpreter does not support the element type {spelling}")


def _shape(ty: Any) -> tuple[int, ...]:
    return tuple(ty.shape) if isinstance(ty, ir.ShapedType) else ()


def _wrap(data: np.ndarray, bits: int) -> np.ndarray:
    """`data` as signed integers of `bits` bits. One bit gives a bool."""
    if bits == 1:
        return (np.asarray(data).astype(np.int64) & 1).astype(bool)
    data = np.asarray(data).astype(np.int64)
    if bits == 64:
        return data
    half = np.int64(1) << (bits - 1)
    mask = (np.int64(1) << bits) - 1
    return ((data & mask) ^ half) - half


def _unsigned(data: np.ndarray, bits: int) -> np.ndarray:
    data = np.asarray(data).astype(np.int64).astype(np.uint64)
    return data if bits == 64 else data & np.uint64((1 << bits) - 1)


def _signed(value: Value) -> np.ndarray:
    # As a signed integer, the i1 value 1 is -1.
    return -value.data.astype(np.int64) if value.data.dtype == bool else value.data.astype(np.int64)


def _rounded(data: np.ndarray, ty: dtypes.ElementType, error: np.ndarray | None) -> Value:
    """A float result that an implementation rounds to `ty`. `error` is the propagated error bound."""
    data = np.asarray(data, np.float64)
    with np.errstate(all="ignore"):
        if ty.bits == 8:
            # Conversions to 8-bit floats saturate, also from infinity, as on GPUs.
            limits = cast(Any, ml_dtypes).finfo(ty.numpy)
            largest = float(limits.max)
            data = np.clip(data, -largest, largest)
        if ty.bits < 64:
            stored = data.astype(ty.numpy).astype(np.float64)
            data = np.where(np.isfinite(stored), data, stored)
        # The smallest normal number bounds the error of underflow, gradual or flushed.
        lost = ty.rounding * np.abs(data) + (2.0**-14 * ty.rounding if ty.bits <= 16 else 0.0)
        if ty.bits == 64:
            lost = np.zeros_like(data)
        total = lost if error is None else lost + error
    return Value(data, np.where(np.isfinite(total), total, 0.0))


Handler = Callable[["Interpreter", Any, list[Value]], "Sequence[Value] | Value | None"]
_HANDLERS: dict[str, Handler] = {}


def _handles(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


class Interpreter:
    """An interpreter of one entry function."""

    def __init__(
        self, entry: Any, time_limit: float | None = None, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.entry = entry
        self._values: dict[Any, Value] = {}
        check_time_limit(time_limit)
        now = time.monotonic()
        self._time_limit, self._progress = time_limit, progress
        self._deadline = now + time_limit if time_limit is not None else math.inf
        self._next_check = min(now + _REPORT_INTERVAL, self._deadline)
        self._done, self._total = 0, 0

    def run(self, arguments: Sequence[Value], blocks: range | None = None) -> None:
        """Runs all tiles, or those of `blocks`. Memrefs in `arguments` are changed in place."""
        block = self.entry.regions[0].blocks[0]
        tiles = range(ir.IntegerAttr(self.entry.attributes["num_tiles"]).value)
        if blocks is not None:
            tiles = tiles[blocks.start : blocks.stop]
        self._total = len(tiles)
        for tile in tiles:
            self._values = {}
            self.run_block(block, [*arguments, Value(np.asarray(tile, np.int64))])
            self._done += 1
            self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _tick(self, operation: Any) -> None:
        """Called before each operation. Stops a run that reached its time limit, and reports progress."""
        now = time.monotonic()
        if now < self._next_check:
            return
        if now >= self._deadline:
            message = (
                f"the reference interpreter reached the time limit of {self._time_limit:g} s here; {self._done} of "
                f"{self._total} tiles completed"
            )
            error = _located(operation, message)
            error.hint = MORE_TIME
            raise error
        self._next_check = min(now + _REPORT_INTERVAL, self._deadline)
        self._report()

    def run_block(self, block: Any, arguments: Sequence[Value]) -> tuple[str, list[Value]]:
        """Runs `block`; returns the name and the operands of its terminator."""
        for argument, value in zip(block.arguments, arguments, strict=True):
            self._values[argument] = value
        operation = None
        operands: list[Value] = []
        for view in block.operations:
            operation = view.operation
            operands = [self._values[operand] for operand in operation.operands]
            self._tick(operation)
            if operation.name in ("scf.yield", "scf.condition", "triton_xla.return"):
                break
            self._run_operation(operation, operands)
        return (operation.name if operation else "", operands)

    def _run_operation(self, operation: Any, operands: list[Value]) -> None:
        handler = _HANDLERS.get(operation.name)
        if handler is None:
            raise _located(operation, f"the reference interpreter does not support '{operation.name}'")
        try:
            with np.errstate(all="ignore"):
                results = handler(self, operation, operands)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise _located(
                operation, f"the reference interpreter cannot execute '{operation.name}': {error}"
            ) from error
        if results is None:
            results = ()
        elif isinstance(results, Value):
            results = (results,)
        for result, value in zip(operation.results, results, strict=True):
            self._values[result] = value


def _located(operation: Any, message: str) -> InterpreterError:
    return InterpreterError("", diagnostics=[Diagnostic("error", message, source_location(operation.location))])


# --- constants and shapes -----------------------------------------------------------------------------------------


def _attribute_data(attribute: Any, ty: Any) -> np.ndarray:
    element, shape = _element_type(ty), _shape(ty)
    if isinstance(attribute, ir.DenseElementsAttr):
        if attribute.is_splat:
            splat: Any = attribute.get_splat_value()
            flat = np.full(int(np.prod(shape, dtype=np.int64)), splat.value)
        else:
            values: Any = attribute
            flat = np.asarray([values[i] for i in range(len(values))])
    else:
        scalar: Any = attribute
        flat = np.asarray([scalar.value])
    data = flat.reshape(shape)
    return data.astype(np.float64) if element.kind == "f" else _wrap(data, _width(element))


def _width(ty: dtypes.ElementType) -> int:
    return 1 if ty.kind == "b" else ty.bits


@_handles("arith.constant")
def _constant(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(_attribute_data(op.attributes["value"], op.results[0].type))


@_handles("tensor.splat")
def _splat(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    shape = _shape(op.results[0].type)
    source = operands[0]
    error = None if source.error is None else np.broadcast_to(source.error, shape).copy()
    return Value(np.broadcast_to(source.data, shape).copy(), error)


@_handles("tensor.empty")
def _empty(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    # The contents are unspecified. NaN makes a use visible in the result.
    ty = op.results[0].type
    element = _element_type(ty)
    fill: Any = np.nan if element.kind == "f" else 0
    return Value(np.full(_shape(ty), fill, np.float64 if element.kind == "f" else np.int64))


# --- arith --------------------------------------------------------------------------------------------------------


def _float_binary(function: Callable[[Any, Any], Any], bound: Callable[[Value, Value, np.ndarray], Any]) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        a, b = operands
        data = function(a.data, b.data)
        error = None if a.error is None and b.error is None else bound(a, b, data)
        return _rounded(data, _element_type(op.results[0].type), error)

    return handler


def _sum_bound(a: Value, b: Value, _: np.ndarray) -> np.ndarray:
    return _error(a) + _error(b)


def _multiplication_bound(a: Value, b: Value, _: np.ndarray) -> np.ndarray:
    return np.abs(a.data) * _error(b) + np.abs(b.data) * _error(a) + _error(a) * _error(b)


def _quotient_bound(a: Value, b: Value, quotient: np.ndarray) -> np.ndarray:
    divisor = np.maximum(np.abs(b.data) - _error(b), np.finfo(np.float64).tiny)
    return (_error(a) + np.abs(quotient) * _error(b)) / divisor


_HANDLERS["arith.addf"] = _float_binary(np.add, _sum_bound)
_HANDLERS["arith.subf"] = _float_binary(np.subtract, _sum_bound)
_HANDLERS["arith.mulf"] = _float_binary(np.multiply, _multiplication_bound)
_HANDLERS["arith.divf"] = _float_binary(np.divide, _quotient_bound)
_HANDLERS["arith.remf"] = _float_binary(np.fmod, _sum_bound)


def _exact_float(function: Callable[..., Any]) -> Handler:
    """A handler of an operation without rounding: the result is an operand, possibly with another sign."""

    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        errors = [v.error for v in operands if v.error is not None]
        data = np.asarray(function(*(v.data for v in operands)))
        return Value(data, np.maximum.reduce([np.broadcast_to(e, data.shape) for e in errors]) if errors else None)

    return handler


_HANDLERS["arith.negf"] = _exact_float(np.negative)
_HANDLERS["math.absf"] = _exact_float(np.abs)
_HANDLERS["arith.maximumf"] = _exact_float(np.maximum)
_HANDLERS["arith.minimumf"] = _exact_float(np.minimum)
_HANDLERS["arith.maxnumf"] = _exact_float(np.fmax)
_HANDLERS["arith.minnumf"] = _exact_float(np.fmin)


def _integer(function: Callable[[Any, Any], Any], unsigned: bool = False) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        bits = _width(_element_type(op.results[0].type))
        x, y = (_unsigned(v.data, bits) if unsigned else _signed(v) for v in operands[:2])
        return Value(_wrap(function(x, y), bits))

    return handler


def _truncated_quotient(a: Any, b: Any) -> Any:
    """Integer division that rounds toward zero, as in arith. numpy rounds down."""
    divisor = cast(Any, np.where(b == 0, 1, b))
    quotient = np.abs(a) // np.abs(divisor)
    return cast(Any, np.where((a < 0) == (divisor < 0), quotient, -quotient))


def _remainder(a: Any, b: Any) -> Any:
    return a - _truncated_quotient(a, b) * b


def _nonzero(b: Any) -> Any:
    return np.where(b == 0, 1, b).astype(np.asarray(b).dtype)


_INTEGER_FUNCTIONS: tuple[tuple[str, Callable[[Any, Any], Any], bool], ...] = (
    ("addi", np.add, False),
    ("subi", np.subtract, False),
    ("muli", np.multiply, False),
    ("divsi", _truncated_quotient, False),
    ("remsi", _remainder, False),
    ("ceildivsi", lambda a, b: -((-a) // _nonzero(b)), False),
    ("floordivsi", lambda a, b: a // _nonzero(b), False),
    ("divui", lambda a, b: a // _nonzero(b), True),
    ("remui", lambda a, b: a % _nonzero(b), True),
    ("ceildivui", lambda a, b: (a // _nonzero(b)) + (a % _nonzero(b) != 0), True),
    ("maxsi", np.maximum, False),
    ("minsi", np.minimum, False),
    ("maxui", np.maximum, True),
    ("minui", np.minimum, True),
    ("andi", np.bitwise_and, False),
    ("ori", np.bitwise_or, False),
    ("xori", np.bitwise_xor, False),
    ("shli", np.left_shift, True),
    ("shrui", np.right_shift, True),
    ("shrsi", np.right_shift, False),
)
for _name, _binary, _is_unsigned in _INTEGER_FUNCTIONS:
    _HANDLERS[f"arith.{_name}"] = _integer(_binary, _is_unsigned)


_INTEGER_PREDICATES: tuple[tuple[Callable[[Any, Any], Any], bool], ...] = (
    (np.equal, False),
    (np.not_equal, False),
    (np.less, False),
    (np.less_equal, False),
    (np.greater, False),
    (np.greater_equal, False),
    (np.less, True),
    (np.less_equal, True),
    (np.greater, True),
    (np.greater_equal, True),
)


@_handles("arith.cmpi")
def _cmpi(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    compare, unsigned = _INTEGER_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    bits = _width(_element_type(op.operands[0].type))
    a, b = (_unsigned(v.data, bits) if unsigned else _signed(v) for v in operands)
    return Value(np.asarray(compare(a, b)))


_FLOAT_PREDICATES = (None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal, None)


@_handles("arith.cmpf")
def _cmpf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    # arith numbers the ordered comparisons 0 to 7 and the unordered ones 8 to 15.
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    a, b = (v.data for v in operands)
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return Value(np.full(np.shape(a), predicate == 15))
    if predicate in (7, 14):
        return Value(np.asarray(unordered if predicate == 14 else ~unordered))
    compare = _FLOAT_PREDICATES[predicate if predicate < 8 else predicate - 7]
    assert compare is not None
    result = compare(a, b)
    return Value(np.asarray((result & ~unordered) if predicate < 8 else (result | unordered)))


@_handles("arith.select")
def _select(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    condition, a, b = operands
    error = None
    if a.error is not None or b.error is not None:
        error = np.where(condition.data, _error(a), _error(b))
    return Value(np.where(condition.data, a.data, b.data), error)


@_handles("arith.extf")
def _extf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return operands[0]


@_handles("arith.truncf")
def _truncf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return _rounded(operands[0].data, _element_type(op.results[0].type), operands[0].error)


@_handles("arith.extsi", "arith.trunci", "arith.index_cast")
def _resize(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(_wrap(_signed(operands[0]), _width(_element_type(op.results[0].type))))


@_handles("arith.extui", "arith.index_castui")
def _extend_unsigned(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = _unsigned(operands[0].data, _width(_element_type(op.operands[0].type)))
    return Value(_wrap(source, _width(_element_type(op.results[0].type))))


@_handles("arith.sitofp")
def _sitofp(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return _rounded(_signed(operands[0]), _element_type(op.results[0].type), None)


@_handles("arith.uitofp")
def _uitofp(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = _unsigned(operands[0].data, _width(_element_type(op.operands[0].type)))
    return _rounded(source, _element_type(op.results[0].type), None)


@_handles("arith.fptosi", "arith.fptoui")
def _fptoint(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(_wrap(np.trunc(operands[0].data), _width(_element_type(op.results[0].type))))


@_handles("arith.bitcast")
def _bitcast(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source, result = _element_type(op.operands[0].type), _element_type(op.results[0].type)
    bits = np.ascontiguousarray(operands[0].data.astype(source.numpy)).view(result.numpy)
    return Value(bits.astype(np.float64) if result.kind == "f" else _wrap(bits, _width(result)))


# --- math ---------------------------------------------------------------------------------------------------------


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _round_half_away(x: np.ndarray) -> np.ndarray:
    return np.trunc(x + np.copysign(0.5, x))


def _function(function: Callable[[Any], Any]) -> Handler:
    def handler(_: Interpreter, op: Any, operands: list[Value]) -> Value:
        x, ty = operands[0], _element_type(op.results[0].type)
        data = np.asarray(function(x.data), np.float64)
        error = (_FUNCTION_ULPS - 1) * ty.rounding * np.abs(data) if ty.bits < 64 else np.zeros(data.shape)
        if x.error is not None:
            ends = [np.abs(np.asarray(function(x.data + side * x.error)) - data) for side in (-1, 1)]
            error = error + np.nan_to_num(np.maximum(*ends))
        return _rounded(data, ty, error)

    return handler


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _round_half_away,
    "roundeven": np.rint,
}
for _name, _unary in _FUNCTIONS.items():
    _HANDLERS[f"math.{_name}"] = _function(_unary)


@_handles("math.powf")
def _powf(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    x, y = operands
    ty = _element_type(op.results[0].type)
    data = np.power(x.data, y.data)
    error = (_FUNCTION_ULPS - 1) * ty.rounding * np.abs(data)
    if x.error is not None or y.error is not None:
        corners = [np.power(x.data + i * _error(x), y.data + j * _error(y)) for i in (-1, 1) for j in (-1, 1)]
        error = error + np.nan_to_num(np.maximum.reduce([np.abs(c - data) for c in corners]))
    return _rounded(data, ty, error)


@_handles("math.fma")
def _fma(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    ty = _element_type(op.results[0].type)
    error = None
    if any(v.error is not None for v in operands):
        error = _multiplication_bound(a, b, a.data) + _error(c)
    if ty.bits == 64:
        # numpy rounds the multiplication, so this rounding is part of the bound.
        error = ty.rounding * np.abs(a.data * b.data) + ty.rounding * np.abs(c.data) + (0 if error is None else error)
    return _rounded(a.data * b.data + c.data, ty, error)


@_handles("math.absi")
def _absi(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    return Value(_wrap(np.abs(_signed(operands[0])), _width(_element_type(op.results[0].type))))


# --- scf ----------------------------------------------------------------------------------------------------------


@_handles("scf.for")
def _for(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    lower, upper, step = (int(v.data) for v in operands[:3])
    if step <= 0:
        raise _located(op, f"the loop step is {step}; it must be positive")
    carried = operands[3:]
    for induction in range(lower, upper, step):
        _, carried = run.run_block(op.regions[0].blocks[0], [Value(np.asarray(induction, np.int64)), *carried])
    return carried


@_handles("scf.if")
def _if(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    region = op.regions[0 if operands[0].data else 1]
    return run.run_block(region.blocks[0], [])[1] if len(region.blocks) else ()


@_handles("scf.while")
def _while(run: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    while True:
        condition, *operands = run.run_block(op.regions[0].blocks[0], operands)[1]
        if not condition.data:
            return operands
        operands = run.run_block(op.regions[1].blocks[0], operands)[1]


# --- triton_xla ---------------------------------------------------------------------------------------------------


def _mixed(static: Sequence[int], dynamic: Sequence[Value]) -> list[int]:
    remaining = iter(dynamic)
    placeholder = ir.ShapedType.get_dynamic_size()
    return [int(next(remaining).data) if value == placeholder else int(value) for value in static]


def _window(op: Any, operands: list[Value], first: int) -> tuple[list[int], list[np.ndarray]]:
    """The sizes of the window, and the memory index of each element along each dimension."""
    segments = [int(s) for s in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]
    rest = operands[first:]
    groups: list[list[Value]] = []
    for count in segments[first:]:
        groups.append(rest[:count])
        rest = rest[count:]
    offsets, sizes, strides = (
        _mixed([int(v) for v in ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])], group)
        for name, group in zip(("offsets", "sizes", "strides"), groups, strict=True)
    )
    return sizes, [o + np.arange(n) * s for o, n, s in zip(offsets, sizes, strides, strict=True)]


def _inside(indices: Sequence[np.ndarray], shape: Sequence[int]) -> list[np.ndarray]:
    return [(i >= 0) & (i < extent) for i, extent in zip(indices, shape, strict=True)]


def _fill(op: Any) -> Any:
    return op.attributes["fill"].value if "fill" in op.attributes else 0


@_handles("triton_xla.extract")
def _extract(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    source = operands[0]
    sizes, indices = _window(op, operands, 1)
    inside = _inside(indices, source.data.shape)
    target = np.ix_(*(np.nonzero(ok)[0] for ok in inside))
    origin = np.ix_(*(index[ok] for index, ok in zip(indices, inside, strict=True)))
    shape = _shape(op.results[0].type)
    data = np.full(sizes, _fill(op), source.data.dtype)
    data[target] = source.data[origin]
    error = None
    if source.error is not None:
        error = np.zeros(sizes)
        error[target] = source.error[origin]
        error = error.reshape(shape)
    return Value(data.reshape(shape), error)


@_handles("triton_xla.insert")
def _insert(_: Interpreter, op: Any, operands: list[Value]) -> None:
    tile, destination = operands[:2]
    sizes, indices = _window(op, operands, 2)
    inside = _inside(indices, destination.data.shape)
    origin = np.ix_(*(np.nonzero(ok)[0] for ok in inside))
    target = np.ix_(*(index[ok] for index, ok in zip(indices, inside, strict=True)))
    destination.data[target] = tile.data.reshape(sizes)[origin]
    if tile.error is not None or destination.error is not None:
        if destination.error is None:
            destination.error = np.zeros(destination.data.shape)
        destination.error[target] = _error(tile).reshape(sizes)[origin]


@_handles("triton_xla.mask")
def _mask(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    tile, *dynamic, value = operands
    bounds = _mixed([int(v) for v in ir.DenseI64ArrayAttr(op.attributes["static_bounds"])], dynamic)
    keep = np.ones(tile.data.shape, bool)
    for dimension, bound in enumerate(bounds):
        lanes = cast(Any, np.arange(tile.data.shape[dimension]) < bound)
        keep &= lanes.reshape([-1 if d == dimension else 1 for d in range(tile.data.ndim)])
    error = None
    if tile.error is not None or value.error is not None:
        error = np.where(keep, _error(tile), _error(value))
    return Value(np.where(keep, tile.data, value.data), error)


def _matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # Not `@`: for small tiles on a busy machine, BLAS threads mostly wait for each other.
    # In chunks, because Python handles Ctrl-C between calls.
    rows = max(1, _MATMUL_CHUNK // max(1, b.size))
    parts = [np.einsum("mk,kn->mn", a[at : at + rows], b) for at in range(0, len(a), rows)]
    return np.concatenate(parts) if len(parts) != 1 else parts[0]


@_handles("triton_xla.dot")
def _dot(_: Interpreter, op: Any, operands: list[Value]) -> Value:
    a, b, c = operands
    data = c.data + _matmul(a.data, b.data)
    operand = _element_type(op.operands[0].type)
    if operand.kind != "f":
        return Value(_wrap(data, _width(_element_type(op.results[0].type))))
    rounding = _FLOAT8_DOT_ROUNDING if operand.bits == 8 else _DOT_ROUNDING
    magnitude = _matmul(np.abs(a.data), np.abs(b.data))
    depth = a.data.shape[1]
    error = (depth + 1) * rounding * (magnitude + np.abs(c.data))
    if ir.IntegerAttr(op.attributes["algorithm"]).value == DotAlgorithm.TF32:
        error = error + 2 * _TF32_ROUNDING * magnitude
    if a.error is not None:
        error = error + _matmul(a.error, np.abs(b.data))
    if b.error is not None:
        error = error + _matmul(np.abs(a.data), b.error)
    if c.error is not None:
        error = error + c.error
    return Value(data, np.where(np.isfinite(error), error, 0.0))


# --- entry points -------------------------------------------------------------------------------------------------


def load(array: np.ndarray) -> Value:
    """The contents of `array` as memory of the interpreter."""
    if array.dtype == bool:
        return Value(array.copy())
    if np.issubdtype(array.dtype, np.integer):
        return Value(array.astype(np.int64))
    return Value(array.astype(np.float64))


def run(
    entry: Any,
    arguments: Sequence[Any],
    *,
    time_limit: float | None = None,
    blocks: range | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Value]:
    """Runs `entry`, a `triton_xla.entry_func` operation, on numpy arrays and scalars.

    Returns the memory after the run, one `Value` per argument. The arrays are not changed. `time_limit` is in seconds.
    `blocks` selects the tiles to run; None runs all. `progress` is called with the numbers of completed and of all tiles.
    Raises InterpreterError for an unsupported operation, undefined behavior, or a run that reaches the time limit.
    """
    if entry.operation.name != "triton_xla.entry_func":
        raise InterpreterError(
            f"the reference interpreter does not support '{entry.operation.name}'; triton_xla.entry_func is required"
        )
    memory = [load(np.asarray(argument)) for argument in arguments]
    wanted = len(entry.regions[0].blocks[0].arguments) - 1
    if len(memory) != wanted:
        raise InterpreterError(f"the entry function takes {wanted} arguments; the call passes {len(memory)}")
    Interpreter(entry, time_limit, progress).run(memory, blocks)
    return memory
