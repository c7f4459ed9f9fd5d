# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One kernel of the fuzzer with all inputs of a run, and its file format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import smalti
from smalti import check
from smalti.compiler import entry

_HEADER = "// fuzz: "
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)


@dataclass(frozen=True)
class Program:
    """A tile-level kernel, the options to compile it with, and its arguments."""

    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    scalars: Mapping[int, str] = field(default_factory=dict)
    """The values of arguments of type `index`."""
    special: tuple[int, ...] = ()
    """Arguments that hold infinities and NaNs here and there."""
    seed: int = 0

    def arguments(self) -> list[Any]:
        """The arguments of a call."""
        module = smalti.parse(self.text)
        values = check.random_arguments(entry.describe(entry.find_entry(module)), self.seed, self.scalars)
        rng = np.random.default_rng(self.seed)
        for index in self.special:
            array = values[index]
            for number in _SPECIAL:
                positions = rng.integers(0, 8, array.shape) == 0
                array[positions] = number
        return values

    def __str__(self) -> str:
        facts = {
            "options": dict(self.options),
            "scalars": {str(index): text for index, text in self.scalars.items()},
            "special": list(self.special),
            "seed": self.seed,
        }
        return f"{_HEADER}{json.dumps(facts)}\n{self.text}"

    @classmethod
    def parse(cls, text: str) -> Program:
        """The program that `str` wrote; a plain `.mlir` file has the first seed and no options."""
        first, _, rest = text.partition("\n")
        if not first.startswith(_HEADER):
            return cls(text)
        facts = json.loads(first.removeprefix(_HEADER))
        scalars = {int(index): number for index, number in facts["scalars"].items()}
        return cls(rest, facts["options"], scalars, tuple(facts["special"]), facts["seed"])

    @classmethod
    def load(cls, path: Path) -> Program:
        return cls.parse(path.read_text())
