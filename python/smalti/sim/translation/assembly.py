"""Inline PTX, parsed by the emulator's parser."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operand:
    """What stands behind an opcode."""

    kind: str
    """`argument` (`$0`), `register`, `special`, `number`, `sink`, `address`, `vector`, `pair` or `label`."""
    value: int
    """Of an argument or a register its number; of an address what is added to it."""
    name: str
    negated: bool
    parts: tuple[Operand, ...]


@dataclass(frozen=True)
class Statement:
    """An instruction as it was written."""

    text: str
    opcode: str
    operands: tuple[Operand, ...]
    guard: Operand | None
    """The predicate under which it is executed."""


def _operand(told: Mapping[str, Any]) -> Operand:
    parts = tuple(_operand(part) for part in told["parts"])
    return Operand(told["kind"], told["value"], told["name"], told["negated"], parts)


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Statement, ...]:
    """The statements of a text; `ValueError` says what is not understood."""
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
