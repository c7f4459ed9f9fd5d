"""Random arguments for a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .calling.arguments import Argument, Entry
from .errors import LaunchError


def shape_hint(index: int, shape: Sequence[int | None]) -> str:
    """What to give on the shell for a memref with dynamic sizes."""
    return f"give its shape, such as --arg {index}={'x'.join('64' if size is None else str(size) for size in shape)}"


def _parse_shape(argument: Argument, text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(part) for part in text.split("x"))
    except ValueError:
        shape = (-1,)
    if any(extent < 0 for extent in shape):
        raise LaunchError(f"{argument}: '{text}' is not a shape such as 500x300")
    assert argument.shape is not None
    if len(shape) != len(argument.shape) or any(w not in (None, s) for w, s in zip(argument.shape, shape, strict=True)):
        raise LaunchError(
            f"{argument}: the shape {text} is not one of this type; {shape_hint(argument.index, argument.shape)}"
        )
    return shape


def random_arguments(what: Entry, seed: int = 0, given: Mapping[int, str] | None = None) -> list[Any]:
    """Arguments for a kernel: normal floats, powers of two as scales, small integers; poison where the program writes and never reads.

    `given` holds the shapes of dynamic memrefs ("500x300") and the values of scalars, by index, as text.
    """
    given = dict(given or {})
    if unknown := [i for i in given if not 0 <= i < len(what.arguments)]:
        raise LaunchError(f"there is no argument {unknown[0]}: @{what.name} takes {len(what.arguments)}")
    rng = np.random.default_rng(seed)
    values: list[Any] = []
    for argument in what.arguments:
        text = given.get(argument.index)
        if not argument.is_memref:
            values.append(_scalar(argument, text, rng))
            continue
        assert argument.shape is not None
        if text is not None:
            shape = _parse_shape(argument, text)
        elif None in argument.shape:
            raise LaunchError(f"{argument}: {shape_hint(argument.index, argument.shape)}")
        else:
            shape = tuple(extent for extent in argument.shape if extent is not None)
        try:
            values.append(_array(argument, shape, rng))
        except (MemoryError, OverflowError, ValueError):
            raise LaunchError(
                f"{argument}: an array of {'x'.join(map(str, shape))} elements does not fit in this machine's memory"
            ) from None
    return values


def _scalar(argument: Argument, text: str | None, rng: np.random.Generator) -> Any:
    if argument.is_unused:
        return 0
    if text is None:
        if argument.dtype.kind == "f":
            return float(np.float32(rng.standard_normal()).astype(argument.dtype.numpy))
        raise LaunchError(f"{argument}: give its value: --arg {argument.index}=1")
    try:
        return float(text) if argument.dtype.kind == "f" else int(text, 0)
    except ValueError:
        raise LaunchError(f"{argument}: '{text}' is not a number") from None


def _array(argument: Argument, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    ty = argument.dtype
    if argument.writes and not argument.reads:
        data = np.full(shape, _poison(ty), ty.numpy)
    elif ty.name == "float8_e8m0fnu":
        # A type of scales, which has no sign.
        data = (2.0 ** rng.integers(-4, 5, shape)).astype(ty.numpy)
    elif ty.kind == "f":
        data = rng.standard_normal(shape).astype(np.float32).astype(ty.numpy)
    elif ty.kind == "b":
        data = rng.integers(0, 2, shape).astype(bool)
    else:
        data = rng.integers(0 if ty.kind == "u" else -8, 9, shape).astype(ty.numpy)
    if argument.strides is None:
        return data
    return _strided(data, argument.strides)


def _poison(ty: Any) -> Any:
    if ty.kind == "f":
        return np.nan
    return True if ty.kind == "b" else np.iinfo(ty.numpy).max


def _strided(data: np.ndarray, wanted: Sequence[int | None]) -> np.ndarray:
    """The same values in memory with the strides that a memref type asks for."""
    steps: list[int] = []
    step = 1
    for extent, stride in zip(reversed(data.shape), reversed(tuple(wanted)), strict=True):
        steps.append(step if stride is None else stride)
        step = max(step, steps[-1] * max(extent, 1))
    strides = tuple(reversed(steps))
    if data.size == 0:
        return data
    length = 1 + sum((extent - 1) * stride for extent, stride in zip(data.shape, strides, strict=True))
    memory = np.zeros(length, data.dtype)
    # Not `as_strided`: it knows types by their names, and that of ml_dtypes' float8_e5m2 is one of numpy's.
    view = np.ndarray(data.shape, data.dtype, memory, 0, [s * data.itemsize for s in strides])
    view[...] = data
    return view
