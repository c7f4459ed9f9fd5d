# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline PTX, parsed by the emulator's parser."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operand:
    """An operand."""

    kind: str
    """`argument` (`$0`), `register`, `special`, `number`, `sink`, `address`, `vector`, `pair` or `label`."""
    value: int
    """The number of an argument or register; the offset of an address."""
    name: str
    negated: bool
    parts: tuple[Operand, ...]


@dataclass(frozen=True)
class Statement:
    """An instruction."""

    text: str
    opcode: str
    operands: tuple[Operand, ...]
    guard: Operand | None
    """Its predicate."""


def _operand(told: Mapping[str, Any]) -> Operand:
    parts = tuple(_operand(part) for part in told["parts"])
    return Operand(told["kind"], told["value"], told["name"], told["negated"], parts)


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Statement, ...]:
    """The statements of a text. Raises a `ValueError` for text that is not understood."""
    from ..._mlir_libs import _smalti

    return tuple(
        Statement(
            told["text"],
            told["opcode"],
            tuple(_operand(operand) for operand in told["operands"]),
            _operand(told["guard"]) if told["guard"] else None,
        )
        for told in json.loads(_smalti.parse_assembly(text))
    )
