# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arguments for a kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import files
from .calling.arguments import Argument, Entry
from .calling.calls import is_nested
from .diagnostics import counted
from .dtypes import ElementType
from .errors import LaunchError


def shape_hint(index: int, shape: Sequence[int | None]) -> str:
    """The command-line option that sets the shape of a memref with dynamic sizes, in elements."""
    return f"set its shape, such as --arg {index}={'x'.join('64' if size is None else str(size) for size in shape)}"


def parse_number(text: str, ty: ElementType) -> int | float | bool | None:
    """The value of a scalar, or None if the text is not one. A bool is 0 or 1."""
    if not text.isascii():
        return None
    try:
        number = float(text) if ty.kind == "f" else int(text, 0)
    except ValueError:
        return None
    if ty.kind != "b":
        return number
    return bool(number) if number in (0, 1) else None


def _parse_shape(argument: Argument, text: str) -> tuple[int, ...]:
    """The shape of an array, from its shape in elements."""
    wanted = argument.element_shape
    if not re.fullmatch(r"\d+(x\d+)*", text, re.ASCII):
        raise LaunchError(f"{argument}: '{text}' is not a shape; pass sizes that are separated by x, such as 500x300")
    shape = tuple(map(int, text.split("x")))
    if len(shape) != len(wanted) or any(w not in (None, s) for w, s in zip(wanted, shape, strict=True)):
        raise LaunchError(
            f"{argument}: the shape {text} does not match the type of the argument; {shape_hint(argument.index, wanted)}"
        )
    if argument.packed == 1:
        return shape
    if shape[-1] % argument.packed:
        raise LaunchError(
            f"{argument}: a row has {counted(shape[-1], 'element')}; rows must have a whole number of bytes, so a multiple of "
            f"{counted(argument.packed, 'element')}"
        )
    return (*shape[:-1], shape[-1] // argument.packed)


_MOST_SHOWN = 200
"""The number of characters of numpy's message that are shown; it may contain the header of the file."""


def load(title: str, path: str) -> np.ndarray:
    """Loads an array from a .npy file."""
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise LaunchError(f"{title}: {path}: {error.strerror or error}") from None
    except Exception as error:  # numpy parses the header as Python code, which may raise any error.
        reason, *_ = str(error).splitlines() or [type(error).__name__]
        reason = reason if len(reason) <= _MOST_SHOWN else f"{reason[:_MOST_SHOWN]}..."
        raise LaunchError(f"{title}: {path} is not a .npy file of numpy: {reason}") from None


def words_of(shape: Sequence[int | None]) -> str:
    return "x".join("?" if size is None else str(size) for size in shape) or "scalar"


def load_typed(title: str, path: str, shape: Sequence[int | None], ty: ElementType, packed: int = 1) -> np.ndarray:
    """Loads an array of this type from a .npy file. None is any size. With `packed` elements per byte, the file has bytes,
    or elements of ml_dtypes, such as int4."""
    data = load(title, path)
    if packed > 1 and data.dtype == np.dtype("V1") and data.ndim and data.shape[-1] % packed == 0:
        bits = 8 // packed
        codes = data.view(np.uint8).reshape(*data.shape[:-1], -1, packed) & (1 << bits) - 1
        shifted = codes << np.arange(packed, dtype=np.uint8) * bits
        data = np.bitwise_or.reduce(shifted, -1).astype(np.uint8)
    if len(data.shape) != len(shape) or any(w not in (None, s) for w, s in zip(shape, data.shape, strict=True)):
        raise LaunchError(
            f"{title}: {path} has shape {words_of(data.shape)}, but the argument has shape {words_of(shape)}; save an array of that shape"
        )
    if data.dtype == ty.numpy:
        return np.ascontiguousarray(data).reshape(data.shape)
    # numpy saves unknown types as bytes. Integers of MLIR do not have a sign.
    is_unknown = data.dtype.kind == "V" and data.dtype.names is None
    are_integers = data.dtype.kind in "iu" and ty.numpy.kind in "iu"
    if (is_unknown or are_integers) and data.dtype.itemsize == ty.numpy.itemsize:
        return np.ascontiguousarray(data).view(ty.numpy).reshape(data.shape)
    raise LaunchError(
        f"{title}: {path} has elements of {data.dtype}, but the argument has elements of {ty}; convert the array"
    )


def save(path: str, arguments: Sequence[Any]) -> None:
    """Saves the arrays as arg0, arg1, ... in a file of numpy's (.npz)."""
    if Path(path).suffix != ".npz":
        raise LaunchError(f"{path}: the file name must end with .npz")
    named: dict[str, Any] = {
        f"arg{index}": value for index, value in enumerate(arguments) if isinstance(value, np.ndarray)
    }
    with files.replacing(path) as stream:
        np.savez(stream, **named)


def random_arguments(
    what: Entry, seed: int = 0, given: Mapping[int, str] | None = None, full_range: bool = False
) -> list[Any]:
    """Random arguments for a kernel.

    Floats have a normal distribution, and scales are powers of two. Integers are -8 to 8, or 0 to 8 if they are unsigned;
    with `full_range`, they are all numbers of their type. Arrays that the kernel only writes hold NaN or the largest integer. `given` maps an argument index to text: the shape of a dynamic memref ("500x300"), a
    .npy file with the array, or the value of a scalar. Raises a LaunchError if `given` does not match the kernel or lacks a shape or value.
    """
    given = dict(given or {})
    if unknown := [i for i in given if not 0 <= i < len(what.arguments)]:
        raise LaunchError(
            f"argument {unknown[0]} does not exist; @{what.name} takes {counted(len(what.arguments), 'argument')}"
        )
    rng = np.random.default_rng(seed)
    values: list[Any] = []
    for argument in what.arguments:
        text = given.get(argument.index)
        if not argument.is_memref:
            values.append(_scalar(argument, text, rng))
            continue
        assert argument.shape is not None
        if text is not None and text.endswith(".npy"):
            data = load_typed(f"argument {argument.index}", text, argument.shape, argument.dtype, argument.packed)
            values.append(in_memory(argument, data))
            continue
        if text is not None:
            shape = _parse_shape(argument, text)
        elif None in argument.shape:
            raise LaunchError(f"{argument}: the shape is dynamic; {shape_hint(argument.index, argument.element_shape)}")
        else:
            shape = tuple(extent for extent in argument.shape if extent is not None)
        try:
            values.append(_array(argument, shape, rng, full_range))
        except (MemoryError, OverflowError, ValueError):
            raise LaunchError(
                f"{argument}: an array of {'x'.join(map(str, shape))} elements exceeds the memory of this machine; use a smaller shape"
            ) from None
    return values


def _scalar(argument: Argument, text: str | None, rng: np.random.Generator) -> Any:
    if argument.is_unused:
        return 0
    if text is None:
        if argument.dtype.kind == "f":
            return float(np.float32(rng.standard_normal()).astype(argument.dtype.numpy))
        raise LaunchError(f"{argument}: the value is missing; set it with --arg {argument.index}=VALUE")
    number = parse_number(text, argument.dtype)
    if number is None:
        required = {"f": "a number", "b": "0 or 1"}.get(argument.dtype.kind, "an integer")
        raise LaunchError(f"{argument}: '{text}' is not {required}")
    return number


def _array(argument: Argument, shape: tuple[int, ...], rng: np.random.Generator, full_range: bool) -> np.ndarray:
    ty = argument.dtype
    if argument.writes and not argument.reads:
        data = np.full(shape, _poison(ty), ty.numpy)
    elif ty.name == "float8_e8m0fnu":
        # This type holds scales and does not have a sign.
        data = (2.0 ** rng.integers(-4, 5, shape)).astype(ty.numpy)
    elif ty.kind == "f":
        data = rng.standard_normal(shape).astype(np.float32).astype(ty.numpy)
    elif ty.kind == "b":
        data = rng.integers(0, 2, shape).astype(bool)
    elif full_range:
        limits = np.iinfo(ty.numpy)
        data = rng.integers(limits.min, limits.max, shape, ty.numpy, endpoint=True)
    else:
        data = rng.integers(0 if ty.kind == "u" else -8, 9, shape).astype(ty.numpy)
    return in_memory(argument, data)


def in_memory(argument: Argument, data: np.ndarray) -> np.ndarray:
    """The array with the strides of the argument."""
    if argument.strides is None:
        return data
    steps = _strides(data.shape, [None if s is None else abs(s) for s in argument.strides], argument.stride_divisors)
    signs = [-1 if wanted is not None and wanted < 0 else 1 for wanted in argument.strides]
    return with_strides(data, [step * sign for step, sign in zip(steps, signs, strict=True)])


def _poison(ty: Any) -> Any:
    if ty.kind == "f":
        return np.nan
    return True if ty.kind == "b" else np.iinfo(ty.numpy).max


def _strides(shape: Sequence[int], wanted: Sequence[int | None], divisors: Sequence[int]) -> list[int]:
    """Strides for which elements do not overlap. Dynamic strides are multiples of the divisors, and row-major if possible."""
    found = list(wanted)
    inner = 1
    for dim in reversed(range(len(shape))):
        divisor = divisors[dim] if divisors else 1
        if found[dim] is None:
            known = [(step, size) for step, size in zip(found, shape, strict=True) if step is not None and size > 1]
            step = -(-inner // divisor) * divisor
            if shape[dim] > 1 and not is_nested([*known, (step, shape[dim])]):
                step = -(-_span(known) // divisor) * divisor
            found[dim] = step
        inner = max(inner, (found[dim] or 0) * max(shape[dim], 1))
    return [step for step in found if step is not None]


def _span(dimensions: Sequence[tuple[int, int]]) -> int:
    """The smallest stride of an array of such (stride, size) dimensions."""
    last = sum((size - 1) * step for step, size in dimensions)
    return max(1 + last, *(size * step for step, size in dimensions), 1)


def with_strides(data: np.ndarray, strides: Sequence[int]) -> np.ndarray:
    """A copy in memory with these strides, in elements."""
    if any(stride < 0 for stride in strides):
        forward = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in strides)
        return with_strides(data[forward], [abs(stride) for stride in strides])[forward]
    length = 1 + sum((extent - 1) * stride for extent, stride in zip(data.shape, strides, strict=True))
    memory = np.zeros(length if data.size else 1, data.dtype)
    # Not `as_strided`: it looks types up by name, and numpy has another type with the name of ml_dtypes' float8_e5m2.
    view = np.ndarray(data.shape, data.dtype, memory, 0, [s * data.itemsize for s in strides])
    view[...] = data
    return view
