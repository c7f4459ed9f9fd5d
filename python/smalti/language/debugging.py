# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints, assertions, facts and random numbers."""

from __future__ import annotations

from typing import Any

from ..bindings import triton_xla
from .arithmetic import Operand, as_value, cast, to_scalar
from .tile_ops import require_tile_level, tile_ops
from .types import Misuse, boolean, float32, int32, is_integer, uint32
from .values import Array, Scalar, Tile, Value, evaluate


def print_(*values: Any) -> None:
    """Prints each element of tiles and scalars when the kernel runs. Texts and other static values are a prefix.

    Example: `sl.print("row maximum", m)`.
    """
    for value in values:
        if isinstance(value, Array):
            raise Misuse(f"{value.name} is an array, but print takes tiles", f"read a tile: {value.name}[i : i + 64]")
    text = " ".join(str(value) for value in values if not isinstance(value, Value))
    tile_ops().print(text, [value.value for value in values if isinstance(value, Value)])
    evaluate()


def check(condition: Operand, message: str = "assertion failed") -> None:
    """Stops the kernel with `message` if the condition, or an element of it, is false. An `assert` statement does the same."""
    value = as_value(condition)
    if value.dtype != boolean:
        raise Misuse(f"the condition is {value.dtype}, but must be a boolean", "compare it, for example with != 0")
    tile_ops().check(value.value, message)
    evaluate()


def assume(condition: Scalar | bool) -> None:
    """States that a condition is true; the behavior is undefined if it is not."""
    require_tile_level("sl.assume")
    triton_xla.assume(to_scalar(condition, boolean).value)
    evaluate()


def multiple_of(value: Scalar, divisor: int) -> Scalar:
    """The value, with the fact that it is a multiple of `divisor`. The behavior is undefined if it is not."""
    if not is_integer(value.dtype):
        raise Misuse(f"the value of multiple_of is {value.dtype}, but must be an integer")
    if not isinstance(divisor, int) or not 1 <= divisor < 1 << 63:
        raise Misuse(f"the divisor of multiple_of is {divisor!r}, but must be a positive number of 64 bits")
    return Scalar(tile_ops().multiple_of(value.value, divisor), value.dtype)


def random_bits(seed: Operand, *counters: Tile, stream: Operand = 0) -> tuple[Tile, ...]:
    """Four uint32 tiles of random bits: Philox4x32-10 of the key `(seed, stream)` and one to four counter tiles.

    Different counters give independent bits, which do not depend on the target.
    """
    require_tile_level("sl.random_bits")
    if not 1 <= len(counters) <= 4:
        raise Misuse(f"{len(counters)} counters are given; use one to four tiles")
    words = [cast(counter, int32).value for counter in counters]
    keys = [to_scalar(key, int32).value for key in (seed, stream)]
    ty = words[0].type
    op = triton_xla.RandomBitsOp(ty, ty, ty, ty, keys[0], keys[1], words)
    return tuple(Tile(result, uint32) for result in op.results)


def random_uniform(seed: Operand, *counters: Tile, stream: Operand = 0) -> Tile:
    """A float32 tile of uniformly distributed numbers in [0, 1), with 24 random bits."""
    bits = random_bits(seed, *counters, stream=stream)[0]
    return cast(bits >> 8, float32) * 2.0**-24
