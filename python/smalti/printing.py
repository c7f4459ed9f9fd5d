# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lines of `triton_xla.print`, as its page defines them, and formats of C's `printf`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .diagnostics import counted


def tile_lines(tile: int, label: str, elements: Any, element_type: Any) -> Iterator[str]:
    """The lines of a tile or a scalar with elements of this MLIR type."""
    spelling = str(element_type)
    digits = None if spelling.startswith("i") else 17 if spelling == "f64" else 9
    elements = np.asarray(elements)
    for position in np.ndindex(elements.shape):
        where, value = f" {list(position)}" if position else "", elements[position]
        shown = f"{int(value)}" if digits is None else f"{float(value):.{digits}g}"
        yield f"tile {tile}: {label}{where} = {shown}"


_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)(?:hh|ll|[hljztL])?([A-Za-z%])")
_UNSIGNED = "uoxXc"


class Printf:
    """A format of `printf` for values whose integers have these numbers of bits (0: a float)."""

    def __init__(self, text: str, bits: Sequence[int]) -> None:
        kinds = [kind for _, kind in _CONVERSION.findall(text) if kind != "%"]
        if len(kinds) != len(bits):
            raise ValueError(
                f"the format has {counted(len(kinds), 'conversion')}, such as %d, but {counted(len(bits), 'value is', 'values are')} printed; the numbers must be "
                "equal"
            )
        for kind, width in zip(kinds, bits, strict=True):
            known = "diuoxXc" if width else "fFeEgG"
            if kind not in known:
                of = "an integer" if width else "a float"
                raise ValueError(f"the conversion '%{kind}' of {of} is not supported; use one of {', '.join(known)}")
        # Python does not have the modifiers of length, and 'u' is 'd' in it.
        self._format = _CONVERSION.sub(lambda found: f"%{found[1]}{found[2].replace('u', 'd')}", text)
        self._masks = [(1 << n) - 1 if kind in _UNSIGNED else None for kind, n in zip(kinds, bits, strict=True)]

    def __call__(self, values: Sequence[Any]) -> str:
        pairs = zip(values, self._masks, strict=True)
        return self._format % tuple(v.item() if mask is None else v.item() & mask for v, mask in pairs)
