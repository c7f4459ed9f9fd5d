# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of a device module as text, for the shell.

    TYPE[SHAPE]          an array of random numbers: f16[64x32]
    TYPE[SHAPE]=FILL     an array of zeros, ones, random, iota (0, 1, 2, ...), or of a number: 7, -inf, nan
    TYPE[SHAPE]=FILE     an array from a .npy file
    TYPE:NUMBER          a number: i32:7, f32:0.5; ptr:0 is the null pointer
    bytes:HEX            the bytes of a by-value argument

Types are written as in MLIR: f16, bf16, f32, f8E4M3FN, i32, ui8, ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from .. import dtypes
from ..calling import calls
from ..calling.arguments import Argument
from ..errors import CheckError, LaunchError
from ..inputs import load, load_typed, words_of

_ARRAY = re.compile(r"(?P<type>\w+)\[(?P<shape>\d+(?:x\d+)*)\](?:=(?P<fill>.+))?")
_FILLS = ("random", "zeros", "ones", "iota")


def parse(texts: Mapping[int, str], seed: int = 0) -> list[Any]:
    """The arguments of a launch, from their texts by index."""
    if missing := [index for index in range(max(texts, default=-1) + 1) if index not in texts]:
        raise LaunchError(f"argument {missing[0]} is missing; add --arg {missing[0]}=VALUE")
    rng = np.random.default_rng(seed)
    return [_argument(index, texts[index], rng) for index in range(len(texts))]


def _argument(index: int, text: str, rng: np.random.Generator) -> Any:
    if found := _ARRAY.fullmatch(text):
        shape = tuple(map(int, found["shape"].split("x")))
        ty = _type(index, found["type"])
        try:
            return _array(index, ty, shape, found["fill"] or "random", rng)
        except (MemoryError, ValueError):
            raise LaunchError(
                f"argument {index}: an array {ty.mlir}[{found['shape']}] exceeds the memory of this machine; use a smaller shape"
            ) from None
    kind, colon, value = text.partition(":")
    if not colon:
        raise LaunchError(
            f"argument {index}: cannot parse '{text}'",
            hint="an array is TYPE[SHAPE] or TYPE[SHAPE]=FILL, such as f16[64x32]=zeros; a number is TYPE:NUMBER",
        )
    try:
        if kind == "bytes":
            return bytes.fromhex(value)
        if kind == "ptr":
            return int(value, 0)
        ty = _type(index, kind)
        number = float(value) if ty.kind == "f" else int(value, 0)
        data = np.array(number).astype(ty.numpy) if ty.kind == "f" else np.array(number, ty.numpy)
        return data[()]
    except (ValueError, OverflowError):
        raise LaunchError(f"argument {index}: '{value}' is not a value of type {kind}") from None


def _type(index: int, name: str) -> dtypes.ElementType:
    ty = dtypes.from_mlir(name)
    if ty is None:
        known = ", ".join(known.mlir for known in dtypes.ELEMENT_TYPES)
        raise LaunchError(f"argument {index}: unknown type '{name}'; known types: {known}")
    return ty


def _array(
    index: int, ty: dtypes.ElementType, shape: tuple[int, ...], fill: str, rng: np.random.Generator
) -> np.ndarray:
    if fill == "random":
        if ty.kind == "f":
            return rng.standard_normal(shape).astype(np.float32).astype(ty.numpy)
        low, high = {"b": (0, 2), "u": (0, 9), "i": (-8, 9)}[ty.kind]
        return rng.integers(low, high, shape).astype(ty.numpy)
    if fill in ("zeros", "ones"):
        return np.full(shape, fill == "ones", ty.numpy)
    if fill == "iota":
        return np.arange(np.prod(shape)).reshape(shape).astype(ty.numpy)
    if not fill.endswith(".npy"):
        return np.full(shape, _filling(index, ty, fill), ty.numpy)
    return load_typed(f"argument {index}", fill, shape, ty)


def _filling(index: int, ty: dtypes.ElementType, fill: str) -> Any:
    """The number that an array is filled with."""
    try:
        number = float(fill) if ty.kind == "f" else int(fill, 0)
    except ValueError:
        kind = "a number" if ty.kind == "f" else "an integer"
        raise LaunchError(
            f"argument {index}: the array cannot be filled with '{fill}'; use {kind}, a .npy file or one of: {', '.join(_FILLS)}"
        ) from None
    argument = Argument(index, ty.mlir, ty, None, None, True, False)
    return np.asarray(calls.scalar(argument, number)).astype(ty.numpy)


def expect(index: int, actual: Any, path: str, rtol: float | None, atol: float) -> float:
    """Compares an array with a file; returns the largest difference. The default of `rtol` is 4 roundings of the type."""
    title = f"argument {index}"
    if not isinstance(actual, np.ndarray) or actual.ndim == 0:
        raise LaunchError(f"{title} is not an array; only an array can be compared with {path}")
    actual = cast(np.ndarray[Any, Any], actual)
    expected = load(title, path)
    if expected.dtype.kind == "V" and expected.dtype.itemsize == actual.itemsize:
        expected = expected.view(actual.dtype)
    if expected.shape != actual.shape:
        raise LaunchError(
            f"{title}: {path} has shape {words_of(expected.shape)}, but the argument has shape {words_of(actual.shape)}; save an array of that shape"
        )
    ty = dtypes.from_name(actual.dtype.name)
    if rtol is None:
        rtol = 4 * ty.rounding if ty is not None else 0.0
    exact: Any = np.float64 if ty is not None and ty.kind == "f" else actual.dtype
    a, b = actual.astype(exact), expected.astype(exact)
    with np.errstate(invalid="ignore"):
        same = (a == b) | ((a != a) & (b != b))
        difference = np.where(same, 0.0, np.abs(a.astype(np.float64) - b.astype(np.float64)))
        difference = np.where(np.isnan(difference), np.inf, difference)
        bad = ~same & ~(difference <= atol + rtol * np.abs(b.astype(np.float64)))
    if count := int(np.count_nonzero(bad)):
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise CheckError(
            f"{title}: {count} of {actual.size} elements differ from {path}; the first is "
            f"[{', '.join(map(str, first))}]: {actual[first]}, expected {expected[first]} "
            f"(rtol {rtol:.3g}, atol {atol:.3g})"
        )
    return float(difference.max(initial=0.0))
