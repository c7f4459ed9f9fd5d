# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators and conversions of tiles and scalars, with numpy's broadcasting."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

from ..bindings import arith, ir, mlir_math
from .tile_ops import tile_ops
from .types import (
    DType,
    Misuse,
    boolean,
    float32,
    index,
    int32,
    int64,
    is_float,
    is_integer,
    mlir_type,
    promote,
)
from .types import dtype as to_dtype
from .values import Affine, Array, Scalar, Tile, Value, method

Operand = Value | int | float | bool


def tile_type(shape: Sequence[int], dtype: DType) -> Any:
    if any(size < 1 for size in shape):
        raise Misuse(f"a tile of shape {tuple(shape)} does not have elements", "use sizes of at least 1")
    if math.prod(shape) >= 1 << 31:
        raise Misuse(f"a tile of shape {tuple(shape)} has {math.prod(shape)} elements, but must have fewer than 2^31")
    return tile_ops().type(shape, mlir_type(dtype))


def wrap(value: ir.Value, dtype: DType) -> Tile | Scalar:
    """The result of an op as a value of the kernel."""
    return Tile(value, dtype) if isinstance(value.type, ir.ShapedType) else Scalar(value, dtype)


def is_number(value: Any) -> bool:
    """Whether the value is a Python or numpy number, which does not have an element type of its own."""
    # A duration of numpy is registered as an integer.
    return (isinstance(value, (bool, numbers.Real)) and type(value).__name__ != "timedelta64") or (
        type(value).__name__ in ("bool_", "bool")
    )


def attribute(number: Any, dtype: DType) -> ir.Attribute:
    """A number as an MLIR attribute of the element type. Raises Misuse if the type cannot represent it."""
    ty = mlir_type(dtype)
    if not is_number(number):
        raise Misuse(f"{number!r} is not a number")
    if is_float(dtype):
        try:
            return ir.FloatAttr.get(ty, float(number))
        except OverflowError:
            raise Misuse(f"{number} is not in the range of {dtype}") from None
    if isinstance(number, float) and not float(number).is_integer():
        raise Misuse(f"{number} is not an integer, as {dtype} requires", "convert the tile with .to(sl.float32)")
    number = int(number)
    if dtype == boolean:
        return ir.IntegerAttr.get(ty, int(bool(number)))
    low, high = (0, 2**dtype.bits) if dtype.kind == "u" else (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1))
    if not low <= number < high:
        raise Misuse(f"{number} is not in the range of {dtype}, {low} to {high - 1}")
    # IntegerAttr takes signed numbers.
    if number >= 2 ** (dtype.bits - 1):
        number -= 2**dtype.bits
    return ir.IntegerAttr.get(ty, number)


def constant(number: Any, dtype: DType) -> Scalar:
    """A number as a scalar."""
    value = arith.constant(mlir_type(dtype), attribute(number, dtype))
    affine = Affine({}, int(number)) if is_integer(dtype) else None
    return Scalar(value, dtype, affine)


def default_dtype(number: Any) -> DType:
    """The element type of a number without another operand."""
    if isinstance(number, (bool,)) or type(number).__name__ in ("bool_",):
        return boolean
    if isinstance(number, numbers.Integral):
        return int32 if -(2**31) <= int(number) < 2**31 else int64
    return float32


def as_value(value: Any, dtype: DType | None = None) -> Tile | Scalar:
    """A tile or scalar as it is, and a number as a constant of `dtype`, or of its default type."""
    if isinstance(value, (Tile, Scalar)):
        return value
    if is_number(value):
        return constant(value, dtype or default_dtype(value))
    if isinstance(value, Array):
        value.refuse_as_tile()
    raise Misuse(f"{value!r} is not a tile, a scalar or a number")


def common(*operands: Any) -> list[Tile | Scalar]:
    """The operands in their common element type. A number takes the type of the other operands."""
    typed = [o for o in operands if isinstance(o, (Tile, Scalar))]
    if not typed:
        dtype = default_dtype(operands[0])
        for other in operands[1:]:
            dtype = promote(dtype, default_dtype(other))
        return [as_value(o, dtype) for o in operands]
    dtype = typed[0].dtype
    for other in typed[1:]:
        dtype = promote(dtype, other.dtype)
    for number in operands:
        if is_number(number) and not isinstance(number, bool):
            wanted = default_dtype(number)
            if is_float(wanted) and not is_float(dtype):
                dtype = float32
            elif dtype == boolean:
                dtype = wanted
    return [cast(o, dtype) if isinstance(o, (Tile, Scalar)) else as_value(o, dtype) for o in operands]


def shape_of(*values: Value) -> tuple[int, ...]:
    """The common shape of values by numpy's rule. Raises Misuse if they do not have one."""
    rank = max(value.ndim for value in values)
    result: list[int] = []
    for d in range(rank):
        sizes = {value.shape[value.ndim - rank + d] for value in values if value.ndim - rank + d >= 0} - {1}
        if len(sizes) > 1:
            shapes = " and ".join(str(value.shape) for value in values)
            raise Misuse(
                f"shapes {shapes} do not match: dimension {d - rank} has the sizes {' and '.join(map(str, sorted(sizes)))}",
                "sizes must be equal or 1; insert a dimension with t[:, None]",
            )
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def broadcast_to(value: Any, shape: Sequence[int]) -> Tile:
    """The value repeated to `shape` by numpy's rule."""
    value = as_value(value)
    shape = tuple(shape)
    ty = tile_type(shape, value.dtype)
    if isinstance(value, Scalar):
        owner = getattr(value.value.owner, "operation", None)
        if owner is not None and owner.name == "arith.constant":
            splat = ir.DenseElementsAttr.get_splat(ty, owner.attributes["value"])
            return Tile(arith.constant(ty, splat), value.dtype)
        return Tile(tile_ops().splat(ty, value.value), value.dtype)
    if value.shape == shape:
        return value
    if (
        value.ndim > len(shape)
        or shape_of(value) != value.shape
        or any(size not in (1, shape[len(shape) - value.ndim + d]) for d, size in enumerate(value.shape))
    ):
        raise Misuse(f"a tile of shape {value.shape} cannot be repeated to {shape}", "each size must be equal or 1")
    dims = list(range(len(shape) - value.ndim, len(shape)))
    return Tile(tile_ops().broadcast(ty, value.value, dims), value.dtype)


def matched(*operands: Any) -> list[Tile | Scalar]:
    """The operands with a common element type and shape."""
    values = common(*operands)
    if all(isinstance(value, Scalar) for value in values):
        return values
    shape = shape_of(*values)
    return [broadcast_to(value, shape) for value in values]


def to_scalar(value: Any, dtype: DType | None = None) -> Scalar:
    """A scalar, a tile of rank 0 or a number as a scalar of `dtype`."""
    value = as_value(value, dtype)
    if isinstance(value, Tile):
        if value.shape:
            raise Misuse(f"{value:a} is used as a scalar", "reduce the tile, for example with sl.sum or sl.all")
        value = Scalar(tile_ops().element(value.value), value.dtype)
    return value if dtype is None or value.dtype == dtype else cast(value, dtype)  # type: ignore[return-value]


# --- Conversions ---


def _converted(op: Callable[..., Any], value: Tile | Scalar, dtype: DType, **options: Any) -> Tile | Scalar:
    ty = mlir_type(dtype)
    result = tile_type(value.shape, dtype) if isinstance(value, Tile) else ty
    return wrap(op(result, value.value, **options), dtype)


def cast(value: Tile | Scalar, dtype: DType) -> Tile | Scalar:
    """The value in another element type. Floats are rounded to nearest, and truncated to integers."""
    source = value.dtype
    if source == dtype:
        return value
    if source.mlir.removeprefix("u") == dtype.mlir.removeprefix("u"):
        return type(value)(value.value, dtype)
    if dtype == boolean:
        return compare("ne", value, 0)
    if is_float(source):
        if is_float(dtype):
            if source.bits == dtype.bits or (max(source.bits, dtype.bits) <= 8):
                return cast(cast(value, float32), dtype)
            return _converted(arith.extf if source.bits < dtype.bits else arith.truncf, value, dtype)
        if dtype == index:
            return cast(_converted(arith.fptosi, value, int64), index)
        return _converted(arith.fptosi if dtype.kind == "i" else arith.fptoui, value, dtype)
    if is_float(dtype):
        if source == index:
            return cast(_converted(arith.index_cast, value, int64), dtype)
        return _converted(arith.sitofp if source.kind == "i" else arith.uitofp, value, dtype)
    affine = value.affine if isinstance(value, Scalar) else None
    if index in (source, dtype):
        unsigned = source.kind in "ub"
        result = _converted(arith.index_castui if unsigned else arith.index_cast, value, dtype)
    elif source.bits > dtype.bits:
        result = _converted(arith.trunci, value, dtype)
    else:
        result = _converted(arith.extsi if source.kind == "i" else arith.extui, value, dtype)
    if isinstance(result, Scalar) and affine is not None and source.kind == "i":
        result.affine = affine
    return result


@method
def to(value: Operand, dtype: Any) -> Tile | Scalar:
    """The value converted to `dtype`: floats are rounded to nearest even, and truncated toward zero to integers.
    `t.to(sl.bool)` is `t != 0`.

    The result is undefined for NaN and for a float out of range of an integer type; docs/python-kernels.md lists what targets
    do. Clamp the floats before the conversion. Example: `t.to(sl.float16)`.
    """
    return cast(as_value(value), to_dtype(dtype))


@method
def bitcast(value: Operand, dtype: Any) -> Tile | Scalar:
    """The same bits as another element type of the same width. Raises an error for another width."""
    value, dtype = as_value(value), to_dtype(dtype)
    if value.dtype.bits != dtype.bits:
        raise Misuse(
            f"bitcast from {value.dtype} to {dtype}: the types have {value.dtype.bits} and {dtype.bits} bits",
            f"use a type of {value.dtype.bits} bits",
        )
    if value.dtype.mlir.removeprefix("u") == dtype.mlir.removeprefix("u"):
        return type(value)(value.value, dtype)
    return _converted(arith.bitcast, value, dtype)


# --- Operators ---

_PREDICATES = {"eq": (0, 0, 1), "ne": (1, 1, 13), "lt": (2, 6, 4), "le": (3, 7, 5), "gt": (4, 8, 2), "ge": (5, 9, 3)}
"""Predicates of arith.cmpi, signed and unsigned, and of arith.cmpf."""


def compare(name: str, a: Any, b: Any) -> Tile | Scalar:
    """An element-wise comparison. A comparison with NaN is false, except `!=`."""
    x, y = matched(a, b)
    signed, unsigned, ordered = _PREDICATES[name]
    if is_float(x.dtype):
        return wrap(arith.cmpf(arith.CmpFPredicate(ordered), x.value, y.value), boolean)
    predicate = arith.CmpIPredicate(unsigned if x.dtype.kind in "ub" else signed)
    return wrap(arith.cmpi(predicate, x.value, y.value), boolean)


_BINARY: dict[str, tuple[str, str, str]] = {
    "add": ("addf", "addi", "addi"),
    "sub": ("subf", "subi", "subi"),
    "mul": ("mulf", "muli", "muli"),
    "maximum": ("maximumf", "maxsi", "maxui"),
    "minimum": ("minimumf", "minsi", "minui"),
}
"""The ops of floats, signed and unsigned integers."""


def widened(value: Tile | Scalar) -> Tile | Scalar:
    """Small floats, which targets do not compute with, as float32."""
    return cast(value, float32) if is_float(value.dtype) and value.dtype.bits <= 8 else value


def binary(name: str, a: Any, b: Any) -> Tile | Scalar:
    """An element-wise operation of two operands."""
    x, y = map(widened, matched(a, b))
    if x.dtype == boolean and name in ("add", "sub", "mul"):
        x, y = cast(x, int32), cast(y, int32)
    floats, signed, unsigned = _BINARY[name]
    op = floats if is_float(x.dtype) else unsigned if x.dtype.kind in "ub" else signed
    result = wrap(getattr(arith, op)(x.value, y.value), x.dtype)
    if isinstance(result, Scalar) and isinstance(x, Scalar) and isinstance(y, Scalar) and is_integer(x.dtype):
        if name in ("add", "sub"):
            result.affine = x.affine.plus(y.affine, 1 if name == "add" else -1)
        elif name == "mul" and not (x.affine.terms and y.affine.terms):
            number, other = (y, x) if x.affine.terms else (x, y)
            result.affine = other.affine.times(number.affine.constant)
    return result


def _divide(a: Any, b: Any) -> Tile | Scalar:
    x, y = matched(a, b)
    if not is_float(x.dtype):
        x, y = cast(x, float32), cast(y, float32)
    x, y = widened(x), widened(y)
    return wrap(arith.divf(x.value, y.value), x.dtype)


def _floor_divide(a: Any, b: Any) -> Tile | Scalar:
    x, y = matched(a, b)
    if is_float(x.dtype):
        x, y = widened(x), widened(y)
        return wrap(mlir_math.floor(arith.divf(x.value, y.value)), x.dtype)
    if x.dtype == boolean:
        raise Misuse("the operator // is not supported for booleans", "convert them with .to(sl.int32)")
    op = arith.divui if x.dtype.kind == "u" else arith.floordivsi
    return wrap(op(x.value, y.value), x.dtype)


def _modulo(a: Any, b: Any) -> Tile | Scalar:
    x, y = matched(a, b)
    if is_float(x.dtype):
        x, y = widened(x), widened(y)
        rest = wrap(arith.remf(x.value, y.value), x.dtype)
        wrong = compare("lt", binary("mul", rest, y), 0)
    elif x.dtype == boolean:
        raise Misuse("the operator % is not supported for booleans", "convert them with .to(sl.int32)")
    elif x.dtype.kind == "u":
        return wrap(arith.remui(x.value, y.value), x.dtype)
    else:
        rest = wrap(arith.remsi(x.value, y.value), x.dtype)
        signs = wrap(arith.xori(rest.value, y.value), x.dtype)
        wrong = bits("and", compare("lt", signs, 0), compare("ne", rest, 0))
    return where(wrong, binary("add", rest, y), rest)


def _power(a: Any, b: Any) -> Tile | Scalar:
    if isinstance(b, int) and not isinstance(b, bool) and 0 < b <= 4 and isinstance(a, Value):
        result: Any = a
        for _ in range(b - 1):
            result = binary("mul", result, a)
        return result
    x, y = matched(a, b)
    if is_float(x.dtype):
        x, y = widened(x), widened(y)
        return wrap(mlir_math.powf(x.value, y.value), x.dtype)
    if isinstance(b, int) and b < 0:
        raise Misuse(f"the exponent of a power of {x.dtype} is {b}, but must not be negative", "use 1 / t")
    dtype = x.dtype
    if dtype == boolean:
        raise Misuse("the operator ** is not supported for booleans", "convert them with .to(sl.int32)")
    if dtype == index:
        x, y = cast(x, int64), cast(y, int64)
    return cast(wrap(mlir_math.ipowi(x.value, y.value), x.dtype), dtype)


_BITS = {"and": "andi", "or": "ori", "xor": "xori"}


def bits(name: str, a: Any, b: Any) -> Tile | Scalar:
    """Bitwise and, or and xor of integers, and the logical operations of booleans."""
    x, y = matched(a, b)
    if is_float(x.dtype):
        symbol = {"and": "&", "or": "|", "xor": "^"}[name]
        raise Misuse(f"operands of {symbol} are {x.dtype}, but must be integers or booleans", "compare them first")
    return wrap(getattr(arith, _BITS[name])(x.value, y.value), x.dtype)


def _shift(left: bool, a: Any, b: Any) -> Tile | Scalar:
    x, y = matched(a, b)
    if not is_integer(x.dtype):
        raise Misuse(
            f"operands of {'<<' if left else '>>'} are {x.dtype}, but must be integers",
            "convert them with .to(sl.int32)",
        )
    if isinstance(b, int) and not 0 <= b < x.dtype.bits:
        raise Misuse(f"{x.dtype} is shifted by {b}, but the number must be from 0 to {x.dtype.bits - 1}")
    op = arith.shli if left else arith.shrui if x.dtype.kind == "u" else arith.shrsi
    return wrap(op(x.value, y.value), x.dtype)


def _negate(a: Tile | Scalar) -> Tile | Scalar:
    if is_float(a.dtype):
        a = widened(a)
        return wrap(arith.negf(a.value), a.dtype)
    return binary("sub", 0, a)


def _invert(a: Tile | Scalar) -> Tile | Scalar:
    if is_float(a.dtype):
        raise Misuse(
            f"the operator ~ is not supported for {a.dtype}", "use an integer or a boolean, or - for the negative value"
        )
    return bits(
        "xor",
        a,
        True
        if a.dtype == boolean
        else constant(2**a.dtype.bits - 1, a.dtype)
        if a.dtype.kind == "u"
        else constant(-1, a.dtype),
    )


@method
def abs_(value: Operand) -> Tile | Scalar:
    """The absolute value. That of the smallest integer is the integer itself."""
    x = widened(as_value(value))
    if is_float(x.dtype):
        return wrap(mlir_math.absf(x.value), x.dtype)
    return x if x.dtype.kind in "ub" else wrap(mlir_math.absi(x.value), x.dtype)


def where(condition: Operand, a: Any, b: Any) -> Tile | Scalar:
    """`a` where the condition is true, and `b` elsewhere. The operands are repeated to their common shape.

    Example: `sl.where(t > 0, t, 0)`.
    """
    condition = as_value(condition)
    if condition.dtype != boolean:
        raise Misuse(f"the condition is {condition.dtype}, but must be a boolean", "compare it, for example with != 0")
    x, y = common(a, b)
    if isinstance(condition, Scalar) and isinstance(x, Scalar) and isinstance(y, Scalar):
        return wrap(arith.select(condition.value, x.value, y.value), x.dtype)
    shape = shape_of(condition, x, y)
    operands = [broadcast_to(v, shape).value for v in (condition, x, y)]
    return wrap(arith.select(*operands), x.dtype)


def maximum(a: Operand, b: Operand) -> Tile | Scalar:
    """The larger operand of each pair of elements. NaN if one is NaN; 0.0 is larger than -0.0."""
    return binary("maximum", a, b)


def minimum(a: Operand, b: Operand) -> Tile | Scalar:
    """The smaller operand of each pair of elements. NaN if one is NaN; -0.0 is smaller than 0.0."""
    return binary("minimum", a, b)


def cdiv(a: Any, b: Any) -> Any:
    """The quotient, rounded up: `(a + b - 1) // b`. Both are positive numbers or scalars."""
    if not isinstance(a, Value) and not isinstance(b, Value):
        return -(-a // b)
    x, y = matched(a, b)
    if not is_integer(x.dtype):
        raise Misuse(f"operands of cdiv are {x.dtype}, but must be integers", "convert them with .to(sl.int32)")
    return wrap((arith.ceildivui if x.dtype.kind == "u" else arith.ceildivsi)(x.value, y.value), x.dtype)


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    return lambda a, b: compare(name, a, b)


Value.operators.update(
    {
        **{name: (lambda a, b, name=name: binary(name, a, b)) for name in ("add", "sub", "mul")},
        **{name: _comparison(name) for name in _PREDICATES},
        **{name: (lambda a, b, name=name: bits(name, a, b)) for name in _BITS},
        "truediv": _divide,
        "floordiv": _floor_divide,
        "mod": _modulo,
        "pow": _power,
        "lshift": lambda a, b: _shift(True, a, b),
        "rshift": lambda a, b: _shift(False, a, b),
        "neg": _negate,
        "invert": _invert,
        "abs": abs_,
    }
)

# --- Mathematical functions ---


def _unary(name: str, summary: str, op: str | None = None) -> Callable[[Operand], Tile | Scalar]:
    def function(value: Operand) -> Tile | Scalar:
        x = as_value(value)
        if not is_float(x.dtype):
            x = cast(x, float32)
        x = widened(x)
        return wrap(getattr(mlir_math, op or name)(x.value), x.dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}, of each element. Integers are converted to float32. Errors in ulp: docs/math.md."
    return method(function)


exp = _unary("exp", "The exponential function")
exp2 = _unary("exp2", "2 to the power of the operand")
expm1 = _unary("expm1", "The exponential function minus 1")
log = _unary("log", "The natural logarithm")
log2 = _unary("log2", "The logarithm to base 2")
log10 = _unary("log10", "The logarithm to base 10")
log1p = _unary("log1p", "The natural logarithm of 1 plus the operand")
sqrt = _unary("sqrt", "The square root")
rsqrt = _unary("rsqrt", "1 divided by the square root")
cbrt = _unary("cbrt", "The cube root")
sin = _unary("sin", "The sine")
cos = _unary("cos", "The cosine")
tan = _unary("tan", "The tangent")
asin = _unary("asin", "The inverse sine")
acos = _unary("acos", "The inverse cosine")
atan = _unary("atan", "The inverse tangent")
sinh = _unary("sinh", "The hyperbolic sine")
cosh = _unary("cosh", "The hyperbolic cosine")
tanh = _unary("tanh", "The hyperbolic tangent")
asinh = _unary("asinh", "The inverse hyperbolic sine")
acosh = _unary("acosh", "The inverse hyperbolic cosine")
atanh = _unary("atanh", "The inverse hyperbolic tangent")
erf = _unary("erf", "The error function")
erfc = _unary("erfc", "1 minus the error function")
floor = _unary("floor", "The largest integer that is not larger")
ceil = _unary("ceil", "The smallest integer that is not smaller")
round_ = _unary("round_", "The nearest integer, ties to even", "roundeven")
trunc = _unary("trunc", "The integer part")


@method
def isnan(value: Operand) -> Tile | Scalar:
    """Whether each element is NaN."""
    x = widened(as_value(value))
    return compare("ne", x, x)


@method
def isinf(value: Operand) -> Tile | Scalar:
    """Whether each element is an infinity."""
    x = widened(as_value(value))
    return wrap(mlir_math.isinf(x.value), boolean) if is_float(x.dtype) else compare("ne", x, x)


@method
def isfinite(value: Operand) -> Tile | Scalar:
    """Whether each element is not NaN and not an infinity."""
    x = widened(as_value(value))
    return wrap(mlir_math.isfinite(x.value), boolean) if is_float(x.dtype) else compare("eq", x, x)


def copysign(a: Operand, b: Operand) -> Tile | Scalar:
    """`a` with the sign of `b`. Operands are floats."""
    x, y = map(widened, matched(a, b))
    if not is_float(x.dtype):
        raise Misuse(f"operands of copysign are {x.dtype}, but must be floats", "convert them with .to(sl.float32)")
    return wrap(mlir_math.copysign(x.value, y.value), x.dtype)


def _count(name: str, summary: str, op: str) -> Callable[[Operand], Tile | Scalar]:
    def function(value: Operand) -> Tile | Scalar:
        x = as_value(value)
        if not is_integer(x.dtype):
            raise Misuse(f"the operand of {name} is {x.dtype}, but must be an integer", "convert it with .to(sl.int32)")
        return wrap(getattr(mlir_math, op)(x.value), x.dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}, of each integer, in its element type."
    return method(function)


popcount = _count("popcount", "The number of bits that are 1", "ctpop")
count_leading_zeros = _count("count_leading_zeros", "The number of zeros before the highest 1", "ctlz")
count_trailing_zeros = _count("count_trailing_zeros", "The number of zeros after the lowest 1", "cttz")


def fma(a: Operand, b: Operand, c: Operand) -> Tile | Scalar:
    """`a * b + c`, rounded once. Operands are floats."""
    x, y, z = map(widened, matched(a, b, c))
    if not is_float(x.dtype):
        raise Misuse(f"operands of fma are {x.dtype}, but must be floats", "use a * b + c")
    return wrap(mlir_math.fma(x.value, y.value, z.value), x.dtype)


def atan2(y: Operand, x: Operand) -> Tile | Scalar:
    """The angle of the point `(x, y)`, from -pi to pi."""
    a, b = matched(y, x)
    if not is_float(a.dtype):
        a, b = cast(a, float32), cast(b, float32)
    a, b = widened(a), widened(b)
    return wrap(mlir_math.atan2(a.value, b.value), a.dtype)


def clamp(value: Operand, low: Operand, high: Operand) -> Tile | Scalar:
    """The value limited to the range from `low` to `high`. NaN stays NaN."""
    return minimum(maximum(value, low), high)


def sigmoid(value: Operand) -> Tile | Scalar:
    """`1 / (1 + exp(-x))`."""
    return _divide(1.0, binary("add", exp(_negate(as_value(value))), 1.0))


method(sigmoid)
