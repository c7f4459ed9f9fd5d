# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One kernel with loops, its passes and its arguments, with a file format."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_HEADER = "// loops: "
_BARRIER = re.compile(r"^ *(?:gpu\.barrier|amdgpu\.lds_barrier)\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A plain kernel in `gpu.func`, and the passes for it."""

    text: str
    chip: str
    passes: str
    """The pipeline, as text."""
    scalars: tuple[Mapping[int, str], ...] = ({},)
    """Values of the arguments of type `index`, one set for each launch."""
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the result is compiled."""
    bare: bool = False
    """Whether the passes get the kernel without its barriers, to place them themselves."""

    @property
    def given(self) -> str:
        """The input of the passes."""
        return _BARRIER.sub("", self.text) if self.bare else self.text

    def __str__(self) -> str:
        facts = {name: value for name, value in asdict(self).items() if name != "text"}
        return f"{_HEADER}{json.dumps(facts)}\n{self.text}"

    @classmethod
    def parse(cls, text: str) -> Case:
        """The case that `str` wrote."""
        first, _, rest = text.partition("\n")
        if not first.startswith(_HEADER):
            raise ValueError(f"no case: it does not begin with '{_HEADER}'")
        facts = json.loads(first.removeprefix(_HEADER))
        scalars = tuple({int(index): number for index, number in given.items()} for given in facts.pop("scalars"))
        return cls(rest, scalars=scalars, **facts)

    def save(self, folder: Path) -> Path:
        """Writes the case to a file that is named by its contents."""
        folder.mkdir(parents=True, exist_ok=True)
        text = str(self)
        path = folder / f"loop-{hashlib.sha256(text.encode()).hexdigest()[:12]}.mlir"
        path.write_text(text)
        return path
