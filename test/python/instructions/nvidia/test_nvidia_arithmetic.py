# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of floats: rounded results against exact fractions, approximate ones against float64."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import nvidia
from numbers_reference import BF16, F16, F32, F64, MODES, Format, floats, flush, rounded, rounded_root, same
from nvidia import Array

COUNT = 384
PREFIX = "llvm.nvvm."
TYPES: dict[str, tuple[Any, Format]] = {
    "float": (np.float32, F32),
    "double": (np.float64, F64),
    "half": (np.float16, F16),
    "bfloat": (ml_dtypes.bfloat16, BF16),
}


def _operands(seed: str, ty: str, count: int) -> list[Array]:
    """Numbers of all kinds, and pairs of close numbers, so that sums cancel."""
    random = nvidia.seeded(f"{seed}{ty}")
    dtype = TYPES[ty][0]
    made = [floats(random, dtype, COUNT) for _ in range(count)]
    for i in range(1, count):
        random.shuffle(made[i])
        made[i][: COUNT // 4] = random.standard_normal(COUNT // 4).astype(dtype)
        made[0][: COUNT // 4] = random.standard_normal(COUNT // 4).astype(dtype)
    if count == 3:
        # Multiplications halfway between two numbers of bf16, and slightly off on one side.
        for values, last in zip(made, ((9, 3), (29, 89), (2.0**-100, -(2.0**-100))), strict=True):
            values[-2:] = last
    return made


# ---------------------------------------------------------------------------------------------------------------------
# With a rounding
# ---------------------------------------------------------------------------------------------------------------------


def _exact(operation: str, values: tuple[float, ...], to: Format, mode: str) -> float:
    """IEEE 754: infinities and NaNs are left to the host's doubles, which have no other result there."""
    a = values[0]
    b = values[1] if len(values) > 1 else 0.0
    c = values[2] if len(values) > 2 else 0.0
    if not all(map(math.isfinite, values)) or (operation in ("div", "rcp") and (b if operation == "div" else a) == 0):
        with np.errstate(all="ignore"):
            x, y, z = np.float64(a), np.float64(b), np.float64(c)
            if operation == "fma":
                # The product of two numbers is never infinite here, however large.
                multiplied = x * y if not (math.isfinite(a) and math.isfinite(b)) else np.float64(0)
                return float(multiplied + z)
            return float(
                {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y, "rcp": 1 / x, "sqrt": np.sqrt(x)}[operation]
            )
    if operation == "sqrt":
        return a if a == 0 else math.nan if a < 0 else rounded_root(Fraction(a), to, mode)
    p, q, r = Fraction(a), Fraction(b), Fraction(c)
    made = {
        "add": lambda: p + q,
        "sub": lambda: p - q,
        "mul": lambda: p * q,
        "div": lambda: p / q,
        "rcp": lambda: 1 / p,
        "fma": lambda: p * q + r,
    }[operation]()
    return rounded(made, to, mode)


ROUNDED: dict[str, tuple[str, str, str, bool, str, int]] = {}
"""Name: operation, type, mode, ftz, clamp, elements."""
for _op in ("add", "mul", "div", "rcp", "sqrt", "fma"):
    for _mode in MODES:
        for _ftz in (False, True):
            _name = f"{PREFIX}{_op}.{_mode}{'.ftz' if _ftz else ''}"
            ROUNDED[f"{_name}.f"] = (_op, "float", _mode, _ftz, "", 1)
            if _op in ("add", "fma"):
                ROUNDED[f"{_name}.sat.f"] = (_op, "float", _mode, _ftz, "sat", 1)
        ROUNDED[f"{PREFIX}{_op}.{_mode}.d"] = (_op, "double", _mode, False, "", 1)
for _ty, _short in (("half", "f16"), ("bfloat", "bf16")):
    for _count in (1, 2):
        for _ftz in (False, True):
            for _clamp in ("", "sat", "relu"):
                _middle = ("ftz." if _ftz else "") + (f"{_clamp}." if _clamp else "")
                _name = f"{PREFIX}fma.rn.{_middle}{_short}{'x2' if _count == 2 else ''}"
                ROUNDED[_name] = ("fma", _ty, "rn", _ftz, _clamp, _count)
_ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "rcp": 1, "sqrt": 1, "fma": 3}
for _op, _arity in _ARITY.items():
    for _mode in ("", *MODES) if _op in ("add", "sub", "mul") else MODES:
        _rounding = f".{_mode}" if _mode else ""
        for _clamp in ("", "sat") if _op in ("add", "sub", "mul", "fma") else ("",):
            for _ftz in (False, True):
                _name = f"{_op}{_rounding}{'.ftz' if _ftz else ''}{_clamp and '.' + _clamp}"
                ROUNDED[nvidia.text(f"{_name}.f32", _arity)] = (_op, "float", _mode or "rn", _ftz, _clamp, 1)
        ROUNDED[nvidia.text(f"{_op}{_rounding}.f64", _arity)] = (_op, "double", _mode or "rn", False, "", 1)
SMALL: dict[str, tuple[str, str, int]] = {}
"""Instructions of inline assembly whose signs of zero are checked: operation, type, elements."""
for _count, _end in ((1, ""), (2, "x2")):
    for _op in ("add", "sub", "mul"):
        for _rounding in ("", ".rn"):
            for _ftz in ("", ".ftz"):
                for _clamp in ("", "sat"):
                    _name = nvidia.text(f"{_op}{_rounding}{_ftz}{_clamp and '.' + _clamp}.f16{_end}")
                    ROUNDED[_name] = (_op, "half", "rn", bool(_ftz), _clamp, _count)
            ROUNDED[nvidia.text(f"{_op}{_rounding}.bf16{_end}")] = (_op, "bfloat", "rn", False, "", _count)
            SMALL[nvidia.text(f"{_op}{_rounding}.f16{_end}")] = (_op, "half", _count)
            SMALL[nvidia.text(f"{_op}{_rounding}.bf16{_end}")] = (_op, "bfloat", _count)
    for _clamp in ("", "sat", "relu"):
        for _ftz in ("", ".ftz"):
            _name = nvidia.text(f"fma.rn{_ftz}{_clamp and '.' + _clamp}.f16{_end}", 3)
            ROUNDED[_name] = ("fma", "half", "rn", bool(_ftz), _clamp, _count)
        if _clamp != "sat":
            _name = nvidia.text(f"fma.rn{_clamp and '.' + _clamp}.bf16{_end}", 3)
            ROUNDED[_name] = ("fma", "bfloat", "rn", False, _clamp, _count)
# Approximate in hardware: of these there is one result that all errors allow.
ROUNDED[PREFIX + "sqrt.f"] = ("sqrt", "float", "rn", False, "", 1)
for _end, _ftz in (("", False), (".ftz", True)):
    ROUNDED[f"{PREFIX}div.full{_end}"] = ("div", "float", "rn", _ftz, "", 1)


def _as_bits(ty: str, values: Array) -> Array:
    return values.view(np.uint16) if ty == "bfloat" else values


def _double(values: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


def _type(ty: str, count: int) -> str:
    return ty if count == 1 else f"<{count} x {ty}>"


def _numbers(ty: str, fields: Array) -> Array:
    return (np.ascontiguousarray(fields).view(ml_dtypes.bfloat16) if ty == "bfloat" else fields).astype(np.float64)


@functools.cache
def _rounded_results(operation: str, ty: str, mode: str, ftz: bool, clamp: str) -> Array:
    to = TYPES[ty][1]
    least = math.ldexp(1.0, to.min_exponent)
    inputs = _operands(operation, ty, _ARITY[operation])
    values = [flush(_double(v), least) if ftz else _double(v) for v in inputs]
    expected = np.array([_exact(operation, tuple(map(float, row)), to, mode) for row in zip(*values, strict=True)])
    if clamp == "sat":
        expected = np.where(np.isnan(expected), 0, np.clip(expected, 0, 1))
    if clamp == "relu":
        expected = np.where(expected < 0, 0, expected)
    return flush(expected, least) if ftz else expected


def test_rounded() -> None:
    calls = {}
    for name, (operation, ty, _, _, _, count) in ROUNDED.items():
        inputs = _operands(operation, ty, _ARITY[operation])
        full = _type(ty, count)
        packed = [_as_bits(ty, v).reshape(-1, count) if count > 1 else _as_bits(ty, v) for v in inputs]
        calls[name] = nvidia.call(full, *((full, v) for v in packed))
    found = nvidia.run(calls)
    for name, (operation, ty, mode, ftz, clamp, _) in ROUNDED.items():
        same(_numbers(ty, found[name][0]).reshape(-1), _rounded_results(operation, ty, mode, ftz, clamp), name)


def test_signs_of_zeros() -> None:
    """The sign of a zero is that of doubles: sums that cancel, and multiplications that underflow."""
    calls, inputs = {}, {}
    for name, (_, ty, count) in SMALL.items():
        dtype = TYPES[ty][0]
        tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
        pairs = [(a, b) for a in (0.0, -0.0, 1.0, -1.0, tiny, -tiny) for b in (0.0, -0.0, 1.0, -1.0, tiny, -tiny)]
        inputs[name] = [np.array(column).astype(dtype) for column in zip(*pairs, strict=True)]
        full = _type(ty, count)
        packed = [_as_bits(ty, v).reshape(-1, count) if count > 1 else _as_bits(ty, v) for v in inputs[name]]
        calls[name] = nvidia.call(full, *((full, v) for v in packed))
    for name, (fields,) in nvidia.run(calls).items():
        operation, ty, _ = SMALL[name]
        a, b = map(_double, inputs[name])
        expected = {"add": a + b, "sub": a - b, "mul": a * b}[operation]
        result = _numbers(ty, fields).reshape(-1)
        zeros = result == 0
        assert zeros.sum() >= 8
        np.testing.assert_array_equal(np.signbit(result[zeros]), np.signbit(expected[zeros]), name)


# ---------------------------------------------------------------------------------------------------------------------
# Approximate
# ---------------------------------------------------------------------------------------------------------------------


def _quiet(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def call(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return function(x)

    return call


APPROXIMATE: dict[str, tuple[str, int, bool, Callable[[Array], Array]]] = {}
"""Name: type, elements, ftz, the function of float64."""
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
for _function, _compute in _FUNCTIONS.items():
    for _ftz in (False, True):
        _name = f"{PREFIX}{_function}.approx{'.ftz' if _ftz else ''}.f"
        APPROXIMATE[_name] = ("float", 1, _ftz, _quiet(_compute))
        APPROXIMATE[f"asm:{_function}.approx{'.ftz' if _ftz else ''}.f32 $0, $1;"] = (
            "float",
            1,
            _ftz,
            _quiet(_compute),
        )
for _ftz in (False, True):
    APPROXIMATE[f"asm:ex2.approx{'.ftz' if _ftz else ''}.f32 $0, $1;"] = ("float", 1, _ftz, _quiet(np.exp2))
APPROXIMATE["asm:tanh.approx.f32 $0, $1;"] = ("float", 1, False, _quiet(np.tanh))
APPROXIMATE[PREFIX + "rcp.approx.ftz.f"] = ("float", 1, True, _quiet(lambda x: 1 / x))
APPROXIMATE["asm:rcp.approx.ftz.f32 $0,$1;"] = ("float", 1, True, _quiet(lambda x: 1 / x))
APPROXIMATE["asm:rcp.approx.f32 $0, $1;"] = ("float", 1, False, _quiet(lambda x: 1 / x))
APPROXIMATE[PREFIX + "lg2.approx.d"] = ("double", 1, False, _quiet(np.log2))
APPROXIMATE[PREFIX + "rsqrt.approx.d"] = ("double", 1, False, _quiet(lambda x: 1 / np.sqrt(x)))
APPROXIMATE[PREFIX + "ex2.approx.f64"] = ("double", 1, False, _quiet(np.exp2))
for _ftz in (False, True):
    for _short, _ty, _count in (
        ("f32", "float", 1),
        ("f16", "half", 1),
        ("v2f16", "half", 2),
        ("bf16", "bfloat", 1),
        ("v2bf16", "bfloat", 2),
    ):
        APPROXIMATE[f"{PREFIX}ex2.approx.{'ftz.' if _ftz else ''}{_short}"] = (_ty, _count, _ftz, _quiet(np.exp2))


def test_approximate() -> None:
    calls, inputs = {}, {}
    for name, (ty, count, _, _) in APPROXIMATE.items():
        values = _operands("approximate", ty, 1)[0]
        if re.search(r"\b(sin|cos)\.", name):
            # Large arguments have no bound on the error.
            values = np.where(np.abs(values) < 1e4, values, np.sign(values).astype(values.dtype))
        inputs[name] = values
        full = _type(ty, count)
        packed = _as_bits(ty, values).reshape(-1, count) if count > 1 else _as_bits(ty, values)
        calls[name] = nvidia.call(full, (full, packed))
    for name, (fields,) in nvidia.run(calls).items():
        ty, _, ftz, function = APPROXIMATE[name]
        dtype, to = TYPES[ty]
        least = math.ldexp(1.0, to.min_exponent)
        values = inputs[name].astype(np.float64)
        expected = function(flush(values, least) if ftz else values)
        with np.errstate(over="ignore"):
            expected = expected.astype(dtype).astype(np.float64)
        result = _numbers(ty, fields).reshape(-1)
        if ftz and ty in ("float",):
            expected = flush(expected, least)
        with np.errstate(invalid="ignore"):
            close = np.isclose(result, expected, 2.0 ** (1 - to.mantissa), 0, equal_nan=True)
        assert close.all(), f"{name}: {result[~close][:4]} instead of {expected[~close][:4]}"


UPPER_HALF: dict[str, Callable[[Array], Array]] = {
    PREFIX + "rcp.approx.ftz.d": _quiet(lambda x: 1 / x),
    PREFIX + "rsqrt.approx.ftz.d": _quiet(lambda x: 1 / np.sqrt(x)),
    "asm:rsqrt.approx.ftz.f64 $0, $1;": _quiet(lambda x: 1 / np.sqrt(x)),
}


def test_upper_half_of_doubles() -> None:
    values = _operands("upper", "double", 1)[0]
    for name, (fields,) in nvidia.run({n: nvidia.call("double", ("double", values)) for n in UPPER_HALF}).items():
        with np.errstate(all="ignore"):
            expected = flush(UPPER_HALF[name](flush(values, 2.0**-1022)), 2.0**-1022)
            close = np.isclose(fields, expected, 2.0**-19, 0, equal_nan=True)
        assert close.all(), f"{name}: {fields[~close][:4]} instead of {expected[~close][:4]}"
        numbers = ~np.isnan(fields)
        assert not (fields[numbers].view(np.uint64) & np.uint64(0xFFFFFFFF)).any(), f"{name}: the lower half is zero"


DIVISIONS = {f"{PREFIX}div.approx{end}.f": ftz for end, ftz in (("", False), (".ftz", True))}


def test_approximate_division() -> None:
    a, b = _operands("division", "float", 2)
    b[:8] = [2.0**126, 2.0**127, -(2.0**127), 2.0**126.5, 3e38, 2.0**125, np.inf, 2.0**127]
    a[:8] = [1, 2.0**127, 2.0**127, -np.inf, np.inf, 2.0**125, 1, np.nan]
    calls = {name: nvidia.call("float", ("float", a), ("float", b)) for name in DIVISIONS}
    for name, (fields,) in nvidia.run(calls).items():
        x, y = (flush(v, 2.0**-126) if DIVISIONS[name] else v for v in (a, b))
        with np.errstate(all="ignore"):
            quotient = x.astype(np.float64) / y.astype(np.float64)
            large = np.isfinite(y) & (np.abs(y) > 2.0**126)
            quotient = np.where(large, np.where(np.isinf(x), np.nan, np.where(np.isnan(x), x, 0)), quotient)
            expected = quotient.astype(np.float32)
            expected = flush(expected, 2.0**-126) if DIVISIONS[name] else expected
            close = np.isclose(fields, expected, 2.0**-22, 2.0**-149, equal_nan=True)
        assert close.all(), f"{name}: {fields[~close][:4]} instead of {expected[~close][:4]}"


# ---------------------------------------------------------------------------------------------------------------------
# Exact
# ---------------------------------------------------------------------------------------------------------------------

UNARY: dict[str, tuple[str, int, bool, Callable[[Array], Array]]] = {}
_INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "round": np.rint,
}
for _function, _compute in _INTEGRAL.items():
    UNARY[f"{PREFIX}{_function}.f"] = ("float", 1, False, _compute)
    UNARY[f"{PREFIX}{_function}.ftz.f"] = ("float", 1, True, _compute)
    UNARY[f"{PREFIX}{_function}.d"] = ("double", 1, False, _compute)


def _saturated(x: Array) -> Array:
    return np.where(x > 0, np.minimum(x, 1), 0.0)


UNARY[PREFIX + "saturate.f"] = ("float", 1, False, _saturated)
UNARY[PREFIX + "saturate.ftz.f"] = ("float", 1, True, _saturated)
UNARY[PREFIX + "saturate.d"] = ("double", 1, False, _saturated)
for _short, _ty, _count in (
    ("f32", "float", 1),
    ("f16", "half", 1),
    ("v2f16", "half", 2),
    ("bf16", "bfloat", 1),
    ("v2bf16", "bfloat", 2),
):
    UNARY[f"{PREFIX}fabs.{_short}"] = (_ty, _count, False, np.abs)
    UNARY[f"{PREFIX}fabs.ftz.{_short}"] = (_ty, _count, True, np.abs)
UNARY[PREFIX + "fabs.f64"] = ("double", 1, False, np.abs)
UNARY[PREFIX + "neg.bf16"] = ("bfloat", 1, False, np.negative)
UNARY[PREFIX + "neg.bf16x2"] = ("bfloat", 2, False, np.negative)
_SIGNS: dict[str, Callable[[Array], Array]] = {"abs": np.abs, "neg": np.negative}
for _function, _compute in _SIGNS.items():
    for _short, _ty, _count in (
        ("f32", "float", 1),
        ("f64", "double", 1),
        ("f16", "half", 1),
        ("f16x2", "half", 2),
        ("bf16", "bfloat", 1),
        ("bf16x2", "bfloat", 2),
    ):
        UNARY[nvidia.text(f"{_function}.{_short}", 1)] = (_ty, _count, False, _compute)
        if _ty in ("float", "half"):
            UNARY[nvidia.text(f"{_function}.ftz.{_short}", 1)] = (_ty, _count, True, _compute)


def test_exact() -> None:
    calls, inputs = {}, {}
    for name, (ty, count, _, _) in UNARY.items():
        inputs[name] = _operands("exact", ty, 1)[0]
        full = _type(ty, count)
        packed = _as_bits(ty, inputs[name])
        calls[name] = nvidia.call(full, (full, packed.reshape(-1, count) if count > 1 else packed))
    for name, (fields,) in nvidia.run(calls).items():
        ty, _, ftz, function = UNARY[name]
        values = inputs[name].astype(np.float64)
        expected = function(flush(values, math.ldexp(1.0, TYPES[ty][1].min_exponent)) if ftz else values)
        result = _numbers(ty, fields).reshape(-1)
        same(result, expected, name)
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]), name)


EXTREMA: dict[str, tuple[str, str, int, bool, bool, bool]] = {}
"""Name: min or max, type, elements, ftz, nan, xorsign.abs."""
for _op in ("fmin", "fmax"):
    EXTREMA[f"{PREFIX}{_op}.d"] = (_op, "double", 1, False, False, False)
    EXTREMA[nvidia.text(f"{_op[1:]}.f64")] = (_op, "double", 1, False, False, False)
    for _short, _ty, _count in (
        ("f", "float", 1),
        ("f16", "half", 1),
        ("f16x2", "half", 2),
        ("bf16", "bfloat", 1),
        ("bf16x2", "bfloat", 2),
    ):
        for _ftz in (False, True):
            for _nan in (False, True):
                for _xor in (False, True):
                    _middle = ("ftz." if _ftz else "") + ("nan." if _nan else "") + ("xorsign.abs." if _xor else "")
                    EXTREMA[f"{PREFIX}{_op}.{_middle}{_short}"] = (_op, _ty, _count, _ftz, _nan, _xor)
                    if _ty == "bfloat" and _ftz:
                        continue
                    _name = f"{_op[1:]}.{_middle.replace('nan', 'NaN')}{'f32' if _short == 'f' else _short}"
                    EXTREMA[nvidia.text(_name)] = (_op, _ty, _count, _ftz, _nan, _xor)


def _extremum(op: str, a: float, b: float, keeps_nan: bool, xor: bool) -> float:
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b):
        if keeps_nan or (math.isnan(a) and math.isnan(b)):
            return math.nan
        result = b if math.isnan(a) else a
    else:
        x, y = (abs(a), abs(b)) if xor else (a, b)
        # -0 is below +0.
        ordered = sorted((x, y), key=lambda v: (v, math.copysign(1, v)))
        result = ordered[0] if op == "fmin" else ordered[1]
    return math.copysign(result, sign) if xor else result


def test_extrema() -> None:
    calls, inputs = {}, {}
    for name, (_, ty, count, _, _, _) in EXTREMA.items():
        a, b = _operands("extrema", ty, 2)
        zeros = np.array([0.0, -0.0, 0.0, -0.0, np.nan, np.nan, 1, -np.nan], a.dtype)
        a[-8:], b[-8:] = zeros, np.array([-0.0, 0.0, 0.0, -0.0, np.nan, -1, np.nan, 2], a.dtype)
        inputs[name] = (a, b)
        full = _type(ty, count)
        packed = [_as_bits(ty, v).reshape(-1, count) if count > 1 else _as_bits(ty, v) for v in (a, b)]
        calls[name] = nvidia.call(full, *((full, v) for v in packed))
    for name, (fields,) in nvidia.run(calls).items():
        op, ty, _, ftz, keeps_nan, xor = EXTREMA[name]
        values = [_double(v) for v in inputs[name]]
        if ftz:
            values = [flush(v, math.ldexp(1.0, TYPES[ty][1].min_exponent)) for v in values]
        expected = np.array([_extremum(op, float(x), float(y), keeps_nan, xor) for x, y in zip(*values, strict=True)])
        result = _numbers(ty, fields).reshape(-1)
        same(result, expected, name)
        if not xor:
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]), name)


TESTED = [*ROUNDED, *APPROXIMATE, *UPPER_HALF, *DIVISIONS, *UNARY, *EXTREMA]
