# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of functions on a target in ulp, against a reference of higher precision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import smalti

Array = np.ndarray[Any, Any]

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
TILE = 1024
CHUNK = 1 << 20
"""Elements of one launch, a multiple of the tile."""


@dataclass(frozen=True)
class Format:
    """The values of a type: precision in bits, and the exponents of the smallest and the largest normal number."""

    precision: int
    smallest: int
    largest: int


FORMATS = {
    "f16": Format(11, -14, 15),
    "bf16": Format(8, -126, 127),
    "f32": Format(24, -126, 127),
    "f64": Format(53, -1022, 1023),
}


@dataclass(frozen=True)
class Limit:
    """Errors that the vendors document, in ulp from the correctly rounded result, for f32 and f64. CUDA's hold in the full
    range; HIP's hold in a small one."""

    cuda: tuple[int, int] | None = None
    hip: tuple[int, int] | None = None


@dataclass(frozen=True)
class Function:
    """A function of `arith` or `math`."""

    op: str
    reference: Callable[..., Array]
    """Takes and returns arrays of float64 or longdouble."""
    low: float = -8.0
    high: float = 8.0
    """The interval of half of the inputs. The other half has random bits."""
    operands: int = 1
    limit: Limit = field(default_factory=Limit)
    specials: tuple[float, ...] = ()
    """Inputs at the ends of the domain."""
    integer: bool = False
    """Whether the last operand is an i32."""


def _scaled_square(x: Array) -> tuple[Array, Array]:
    """x * x as a sum of two numbers, the first one exact."""
    high = x.astype(np.float32).astype(x.dtype)
    low = x - high
    return high * high, low * (2 * high + low)


def _gauss(x: Array) -> Array:
    """exp(-x * x), with a relative error that does not grow with x."""
    large, small = _scaled_square(x)
    return np.exp(-large) * np.exp(-small)


def _erf_series(x: Array) -> Array:
    """For small numbers: the sum has no cancellation."""
    term = total = x
    for n in range(1, 90):
        term = term * (2 * x * x) / (2 * n + 1)
        total = total + term
    return total * _gauss(x) * (2 / np.sqrt(np.arccos(x.dtype.type(-1))))


def _erfc_fraction(x: Array) -> Array:
    """The continued fraction for large positive numbers."""
    fraction = x
    for n in range(120, 0, -1):
        fraction = x + (n / x.dtype.type(2)) / fraction
    return _gauss(x) / fraction / np.sqrt(np.arccos(x.dtype.type(-1)))


def _by_size(x: Array, limit: float, small: Callable[[Array], Array], large: Callable[[Array], Array]) -> Array:
    result = np.empty_like(x)
    is_small = np.abs(x) < limit
    result[is_small], result[~is_small] = small(x[is_small]), large(x[~is_small])
    return result


def erf(x: Array) -> Array:
    def large(x: Array) -> Array:
        return np.copysign(1 - np.where(np.abs(x) < 30, _erfc_fraction(np.clip(np.abs(x), 1, 30)), 0), x) + 0 * x

    return _by_size(
        x, 2.0, _erf_series, lambda x: np.where(np.isinf(x), np.sign(x), large(np.where(np.isinf(x), 30, x)))
    )


def erfc(x: Array) -> Array:
    def large(x: Array) -> Array:
        tail = np.where(np.abs(x) < 150, _erfc_fraction(np.clip(np.abs(x), 1, 150)), 0)
        return np.where(np.isnan(x), x, np.where(x > 0, tail, 2 - tail))

    def small(x: Array) -> Array:
        result = 1 - _erf_series(x)
        result[x >= 0.5] = _erfc_middle(x[x >= 0.5])
        return result

    return _by_size(x, 2.0, small, large)


def _erfc_middle(x: Array) -> Array:
    """The continued fraction converges slowly below 2, so this takes more of its terms."""
    fraction = x
    for n in range(1500, 0, -1):
        fraction = x + (n / x.dtype.type(2)) / fraction
    return _gauss(x) / fraction / np.sqrt(np.arccos(x.dtype.type(-1)))


def _round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1.0, x), 0.0), x)


def _function(op: str, reference: Callable[..., Array], **options: Any) -> tuple[str, Function]:
    return op.split(".")[1], Function(op, reference, **options)


_EXACT = Limit((0, 0), (0, 0))

FUNCTIONS: dict[str, Function] = dict(
    [
        _function("arith.addf", np.add, operands=2, limit=_EXACT),
        _function("arith.subf", np.subtract, operands=2, limit=_EXACT),
        _function("arith.mulf", np.multiply, operands=2, limit=_EXACT),
        _function("arith.divf", np.divide, operands=2, limit=_EXACT),
        _function("arith.remf", np.fmod, operands=2, limit=_EXACT),
        _function("math.absf", np.abs, limit=_EXACT),
        _function("math.ceil", np.ceil, limit=_EXACT),
        _function("math.floor", np.floor, limit=_EXACT),
        _function("math.round", _round_half_away, limit=_EXACT),
        _function("math.roundeven", np.rint, limit=_EXACT),
        _function("math.trunc", np.trunc, limit=_EXACT),
        _function("math.copysign", np.copysign, operands=2, limit=_EXACT),
        _function("math.sqrt", np.sqrt, low=0, high=100, limit=Limit((0, 0), (1, 1))),
        _function("math.rsqrt", lambda x: 1 / np.sqrt(x), low=0, high=100, limit=Limit((2, 1), (1, 1))),
        _function("math.cbrt", np.cbrt, low=-100, high=100, limit=Limit((1, 1), (2, 1))),
        _function("math.exp", np.exp, low=-104, high=90, limit=Limit((2, 1), (1, 1))),
        _function("math.exp2", np.exp2, low=-150, high=129, limit=Limit((2, 1), (1, 1))),
        _function("math.expm1", np.expm1, low=-18, high=90, limit=Limit((1, 1), (1, 1))),
        _function("math.log", np.log, low=0, high=4, limit=Limit((1, 1), (2, 1))),
        _function("math.log2", np.log2, low=0, high=4, limit=Limit((1, 1), (1, 1))),
        _function("math.log10", np.log10, low=0, high=4, limit=Limit((2, 1), (2, 1))),
        _function("math.log1p", np.log1p, low=-1, high=4, limit=Limit((1, 1), (1, 1))),
        _function("math.sin", np.sin, low=-100, high=100, limit=Limit((2, 1), (1, 1))),
        _function("math.cos", np.cos, low=-100, high=100, limit=Limit((2, 1), (1, 1))),
        _function("math.tan", np.tan, low=-100, high=100, limit=Limit((4, 2), (1, 1))),
        _function("math.asin", np.arcsin, low=-1, high=1, limit=Limit((4, 2), (2, 1))),
        _function("math.acos", np.arccos, low=-1, high=1, limit=Limit((3, 1), (1, 1))),
        _function("math.atan", np.arctan, low=-10, high=10, limit=Limit((2, 2), (2, 1))),
        _function("math.sinh", np.sinh, low=-90, high=90, limit=Limit((3, 1), (1, 1))),
        _function("math.cosh", np.cosh, low=-90, high=90, limit=Limit((2, 1), (1, 1))),
        _function("math.tanh", np.tanh, low=-10, high=10, limit=Limit((2, 1), (2, 1))),
        _function("math.asinh", np.arcsinh, low=-10, high=10, limit=Limit((3, 2), (1, 1))),
        _function("math.acosh", np.arccosh, low=1, high=10, limit=Limit((4, 2), (1, 1))),
        _function("math.atanh", np.arctanh, low=-1, high=1, limit=Limit((3, 2), (1, 1))),
        _function("math.erf", erf, low=-5, high=5, limit=Limit((2, 2), (4, 4))),
        _function("math.erfc", erfc, low=-5, high=11, limit=Limit((4, 4), (2, 2))),
        _function("math.atan2", np.arctan2, operands=2, limit=Limit((3, 2), (1, 1))),
        _function("math.powf", np.power, operands=2, limit=Limit((8, 2), (1, 1))),
        _function("math.fpowi", np.power, operands=2, integer=True, limit=Limit(None, (1, 1))),
        _function("math.fma", np.add, operands=3, limit=_EXACT),
    ]
)
"""CUDA: CUDA C++ Programming Guide, "Mathematical Functions". HIP: HIP documentation, "HIP math API"."""

SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 4.0)


def specials(ty: str) -> Array:
    """Zeros, infinities, NaN, the ends of the ranges of denormal and normal numbers, integers, and neighbors of one."""
    form, dtype = FORMATS[ty], TYPES[ty]
    tiny, least = np.ldexp(1.0, form.smallest), np.ldexp(1.0, form.smallest - form.precision + 1)
    step = np.ldexp(1.0, -form.precision)
    most = np.ldexp(2 - 2 * step, form.largest)
    ends = [least, tiny - least, tiny, most, 1 - step, 1 + 2 * step]
    return np.array([*SPECIALS, *ends, *(-x for x in ends)], np.float64).astype(dtype)


def reference(function: Function, ty: str, operands: Sequence[Array]) -> Array:
    wide = np.longdouble if ty == "f64" else np.float64
    with np.errstate(all="ignore"):
        values = [x.astype(wide) for x in operands]
        if function.op == "math.fma":
            return _fma(*values)
        return np.asarray(function.reference(*values))


def _fma(x: Array, y: Array, z: Array) -> Array:
    """The error is that of the last sum, also after a cancellation: the other sums and multiplications are exact."""
    multiplied = x * y
    # Parts of at most 32 and 21 bits, so that their multiplications are exact.
    (a, b), (c, d) = (_parts(v) for v in (x, y))
    error = ((a * c - multiplied) + (a * d + b * c)) + b * d
    total = multiplied + z
    back = total - multiplied
    rest = (multiplied - (total - back)) + (z - back)
    # A zero keeps the sign of the sum.
    is_exact = ~np.isfinite(total) | ~np.isfinite(error) | (rest + error == 0)
    return np.where(is_exact, total, total + (rest + error))


def _parts(x: Array) -> tuple[Array, Array]:
    scaled = x * (1 + np.ldexp(x.dtype.type(1), 32 if x.dtype == np.longdouble else 27))
    high = scaled - (scaled - x)
    return high, x - high


def _rounded(exact: Array, ty: str) -> Array:
    """The nearest values of the type, as wide numbers; infinity is the power of two after the largest value."""
    form = FORMATS[ty]
    spacing = _spacing(exact, ty)
    with np.errstate(all="ignore"):
        nearest = np.rint(exact / spacing) * spacing
    return _finite(nearest, form)


def _finite(x: Array, form: Format) -> Array:
    end = np.ldexp(x.dtype.type(1), form.largest + 1) if form.largest < 1023 else np.ldexp(np.longdouble(1), 1024)
    return np.where(np.isnan(x), x, np.clip(x, -end, end))


def _spacing(exact: Array, ty: str) -> Array:
    """The unit in the last place of the type at numbers."""
    form = FORMATS[ty]
    _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 0))
    exponent = np.clip(exponent - 1, form.smallest, form.largest) - form.precision + 1
    return np.ldexp(exact.dtype.type(1), exponent)


_UNCERTAINTY = 2.0**-8
"""The error of the reference for f64, in ulp. It is 2^-29 for f32."""


@dataclass
class Error:
    """The largest errors of a function."""

    ulp: float = 0.0
    """Distance from the exact result."""
    steps: int = 0
    """Distance from the correctly rounded result."""
    at: tuple[float, ...] = ()
    """The operands of the largest distance from the exact result."""
    inputs: int = 0
    special: list[str] = field(default_factory=list)
    """Wrong results for special operands, wrong NaNs and signs of zero."""

    def add(self, function: Function, ty: str, operands: Sequence[Array], got: Array, exact: Array) -> None:
        form = FORMATS[ty]
        self.inputs += got.size
        value, nearest, spacing = _finite(got.astype(exact.dtype), form), _rounded(exact, ty), _spacing(exact, ty)
        exact = _finite(exact, form)
        with np.errstate(all="ignore"):
            ulp = np.abs(value - exact) / spacing
            steps = np.abs(value - nearest) / spacing
        # The reference cannot decide a tie.
        steps = np.where(ulp <= 0.5 + _UNCERTAINTY, 0, steps)
        same = np.isnan(value) == np.isnan(exact)
        same &= (value != 0) | (nearest != 0) | (np.signbit(got.astype(np.float32)) == np.signbit(exact))
        for i in np.flatnonzero(~same)[:4]:
            self._report(function, [x[i] for x in operands], got[i], exact[i])
        ulp, steps = np.where(np.isnan(ulp), 0, ulp), np.where(np.isnan(steps), 0, steps)
        worst = int(np.argmax(ulp))
        if ulp[worst] > self.ulp:
            self.ulp, self.at = float(ulp[worst]), tuple(float(x[worst]) for x in operands)
        self.steps = max(self.steps, int(min(np.ceil(steps.max(initial=0)), 2**31)))

    def _report(self, function: Function, operands: Sequence[Any], got: Any, exact: Any) -> None:
        if len(self.special) < 8:
            listed = ", ".join(f"{float(x):g}" for x in operands)
            self.special.append(f"{function.op}({listed}) = {float(got):g}, not {float(exact):g}")


def kernel(function: Function, ty: str, target: str) -> Any:
    """A compiled kernel of the function on CHUNK elements."""
    types = [*[ty] * (function.operands - function.integer), *["i32"] * function.integer]
    arguments = "".join(f"%a{i}: memref<{CHUNK}x{t}>, " for i, t in enumerate(types))
    loads = "".join(
        f"  %x{i} = triton_xla.extract %a{i}[%s] [{TILE}] [1] : memref<{CHUNK}x{t}> to tensor<{TILE}x{t}>\n"
        for i, t in enumerate(types)
    )
    tile = f"tensor<{TILE}x{ty}>"
    trailing = f"{tile}, tensor<{TILE}xi32>" if function.integer else tile
    text = f"""
triton_xla.entry_func @function({arguments}%o: memref<{CHUNK}x{ty}>, %tile: index) tiles {CHUNK // TILE} {{
  %c = arith.constant {TILE} : index
  %s = arith.muli %tile, %c : index
{loads}  %y = {function.op} {", ".join(f"%x{i}" for i in range(len(types)))} : {trailing}
  triton_xla.insert %y into %o[%s] [{TILE}] [1] : {tile} into memref<{CHUNK}x{ty}>
  triton_xla.return
}}
"""
    return smalti.compile(text, target=target)


def run(kernel: Any, ty: str, operands: Sequence[Array]) -> Array:
    """The results for at most CHUNK elements."""
    count = operands[0].size
    padded = [np.resize(x, CHUNK) for x in operands]
    out = np.zeros(CHUNK, TYPES[ty])
    kernel(*padded, out)
    return out[:count]


def _random_bits(rng: np.random.Generator, count: int, ty: str) -> Array:
    dtype = np.dtype(TYPES[ty])
    values = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    # Operations may differ on signaling NaNs.
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(values), np.array(np.nan, dtype), values)


def _pieces(operands: Sequence[Array]) -> Iterator[list[Array]]:
    for first in range(0, operands[0].size, CHUNK):
        yield [x[first : first + CHUNK] for x in operands]


def chunks(function: Function, ty: str, count: int, seed: int = 0) -> Iterator[list[Array]]:
    """Operands: the special ones in all combinations, then all values of a 16-bit type, or a sample."""
    rng = np.random.default_rng(seed)
    values = specials(ty)
    integers = np.array([0, 1, -1, 2, -2, 3, -3, 5, 17, -24], np.int32)
    axes = [values] * (function.operands - function.integer) + [integers] * function.integer
    yield from _pieces([x.ravel() for x in np.meshgrid(*axes, indexing="ij")])
    if function.operands == 1 and np.dtype(TYPES[ty]).itemsize == 2:
        yield from _pieces([np.arange(1 << 16, dtype=np.uint16).view(TYPES[ty])])
        return
    while count > 0:
        size = min(count, CHUNK)
        operands = []
        for _ in axes:
            bits = _random_bits(rng, size // 2, ty)
            near = rng.uniform(function.low, function.high, size - size // 2).astype(TYPES[ty])
            operands.append(np.concatenate([bits, near]))
        if function.op == "math.powf":
            # Negative bases have a result for integers only.
            operands[0] = np.where(rng.random(size) < 0.9, np.abs(operands[0]), operands[0])
            whole = rng.random(size) < 0.1
            with np.errstate(all="ignore"):
                integers = np.rint(operands[1].astype(np.float64)).astype(TYPES[ty])
            operands[1] = np.where(whole, integers, operands[1])
        if function.integer:
            operands[-1] = rng.integers(-12, 13, size).astype(np.int32)
        yield operands
        count -= size


def measure(function: Function, ty: str, targets: Sequence[str], count: int, seed: int = 0) -> dict[str, Error]:
    """The errors of a function on targets."""
    kernels = {target: kernel(function, ty, target) for target in targets}
    errors = {target: Error() for target in targets}
    for operands in chunks(function, ty, count, seed):
        exact = reference(function, ty, operands)
        for target in targets:
            with np.errstate(all="ignore"):
                errors[target].add(function, ty, operands, run(kernels[target], ty, operands), exact)
    return errors


COLUMNS = {"cpu": "CPU", "emu:sm_80": "NVIDIA", "emu:gfx942": "AMD"}


def _cell(found: dict[str, Any] | None) -> str:
    return "-" if found is None else f"{found['ulp']:.3g}" if found["ulp"] > 0.5 else str(found["ulp"])


def table(results: dict[str, Any], types: Sequence[str]) -> str:
    """The errors of types, in Markdown. For one type of 32 or 64 bits, with those that the vendors document."""
    shows_limits = types[0] in ("f32", "f64")
    names = [f"{column}{'' if len(types) == 1 else f', {ty}'}" for ty in types for column in COLUMNS.values()]
    header = ["function", *names, *(["CUDA documents", "HIP documents"] if shows_limits else [])]
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    for name, function in FUNCTIONS.items():
        found = results.get(name, {})
        row = [_cell(found.get(ty, {}).get(target)) for ty in types for target in COLUMNS]
        if shows_limits:
            limits = (function.limit.cuda, function.limit.hip)
            row += ["-" if values is None else str(values[types[0] == "f64"]) for values in limits]
        lines.append(f"| `{name}` | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def with_tables(page: str, results: dict[str, Any]) -> str:
    """A page with its tables replaced. The line before a table is `<!-- errors of TYPES -->`."""

    def replaced(match: re.Match[str]) -> str:
        return f"{match[1]}\n{table(results, match[2].split())}"

    return re.sub(r"(<!-- errors of ([\w ]+) -->)\n(?:\|[^\n]*\n)*", replaced, page)
