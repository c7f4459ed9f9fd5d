# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bits: Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .interpreter import Interpreter, handles
from .values import Value, certain, unsigned_of, wrap

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_WORD = np.uint64(0xFFFFFFFF)


def philox(key: Sequence[int], counter: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Four words of 32 bits for each counter of four words and the key of two words, as unsigned integers."""
    words = [np.asarray(word).astype(np.uint64) & _WORD for word in counter]
    for number in range(_ROUNDS):
        keys = [np.uint64((word + number * step) & 0xFFFFFFFF) for word, step in zip(key, _WEYL, strict=True)]
        first, second = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            (second >> np.uint64(32)) ^ words[1] ^ keys[0],
            second & _WORD,
            (first >> np.uint64(32)) ^ words[3] ^ keys[1],
            first & _WORD,
        ]
    return words


@handles("triton_xla.random_bits")
def _random_bits(_: Interpreter, op: Any, operands: list[Value]) -> Sequence[Value]:
    first, second, *counters = (unsigned_of(certain(v, "the key or the counter"), 32) for v in operands)
    missing = [np.zeros_like(counters[0])] * (4 - len(counters))
    return [Value(wrap(word, 32)) for word in philox((int(first), int(second)), [*counters, *missing])]
