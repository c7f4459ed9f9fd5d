# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that benchmarks/isa.py compares. Ours are in benchmarks/kernels/, those of Triton in _isa_triton.py."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, Literal

from _record import ROOT

CHIPS = (
    *("sm_80", "sm_90a", "sm_100a", "sm_120a"),
    *("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"),
)


@dataclass(frozen=True)
class Case:
    """One kernel on data of one size. Both sides compute the same tiles with as many threads."""

    name: str
    kernel: str
    types: tuple[str, ...]
    """The element types of the arguments."""
    constants: dict[str, int]
    """Sizes, by their names in Triton's kernel."""
    threads: int
    """Threads per block that compute; a producer warp is not included."""
    tiles: tuple[int, ...] = (0,)
    """The tiles that are counted: one if the tiles do not differ."""
    per: str = "row"
    """The amount of work that instructions are divided by, such as `row`, `element` or `4096 multiply-accumulates`. """
    amount: float = 1
    """How many times that work the counted tiles do."""
    replace: dict[str, str] = field(default_factory=dict)
    """Replacements in the text of our kernel, for other sizes and types."""

    @property
    def is_matmul(self) -> bool:
        return self.per.endswith("accumulates")

    @property
    def operand(self) -> str:
        """The type of a matmul's operands, by which the table of targets has the rates of MMAs."""
        return self.types[0]

    @property
    def is_for_iree(self) -> bool:
        """Whether the kernel is compared with IREE's, which has a tile of its own."""
        return False

    def source(self) -> str:
        """Our kernel."""
        text = _text(self.kernel)
        for old, new in self.replace.items():
            text = text.replace(old, new)
        return text

    def warps(self, wave_size: int) -> int | Literal["auto"]:
        """The option `num-warps` of our compiler."""
        return self.threads // wave_size

    def jobs(self, chip: str, wave_size: int) -> list[dict[str, Any]]:
        """The jobs of Triton's process; the best kernel counts."""
        options = {"num_warps": self.threads // wave_size, "num_stages": 3 if chip.startswith("sm_") else 2}
        job = {
            "kernel": self.kernel,
            "types": self.types,
            "constants": self.constants,
            "options": options,
            "chip": chip,
        }
        return [job]


@functools.cache
def _text(kernel: str) -> str:
    """The file of a kernel. One run reads it once, so that an edit does not mix two versions."""
    return (ROOT / "benchmarks" / "kernels" / f"{kernel}.mlir").read_text()


def _attention() -> Case:
    tokens, rows, keys, depth = 1000, 128, 64, 64
    tiles = range(-(-tokens // rows))
    steps = sum(min((tile + 1) * rows, -(-tokens // keys) * keys) // keys for tile in tiles)
    macs = 2 * steps * rows * keys * depth
    sizes = {"T": tokens, "D": depth, "ROWS": rows, "KEYS": keys}
    return Case("attention, causal", "attention", ("f16",) * 4, sizes, 128, tuple(tiles), MACS, macs / 4096)


MACS = "4096 multiply-accumulates"
_ROW = {"N": 1000, "TILE": 1024}
_EXACT = {" fastmath<arcp,afn>": "", " fastmath<afn>": "", " fastmath<contract>": ""}
_WHOLE_ROW = {"N": 1024, "TILE": 1024}
_MATMUL = {"M": 4096, "N": 4096, "K": 4096, "TM": 128, "TN": 128, "TK": 64}
_TILE_MACS = 128 * 128 * 4096 / 4096

CASES = (
    Case("vector add", "vector_add", ("f16",) * 3, {"N": 100000, "TILE": 1024}, 128, per="tile"),
    Case("softmax", "softmax", ("f16",) * 2, _ROW, 128),
    Case("softmax, 1024 columns", "softmax", ("f16",) * 2, _WHOLE_ROW, 128, replace={"1000": "1024"}),
    Case("softmax, exact functions", "softmax", ("f16",) * 2, _ROW, 128, replace=_EXACT),
    Case("layer norm", "layer_norm", ("f16",) * 4, _ROW, 128),
    Case("RMS norm", "rms_norm", ("f16",) * 3, _ROW, 128),
    Case("column sum", "column_sum", ("f32",) * 2, {"M": 1000, "N": 512, "ROWS": 64, "COLUMNS": 64}, 128, per="row of a tile", amount=1000),
    Case("matmul", "matmul", ("f16",) * 3, _MATMUL, 256, per=MACS, amount=_TILE_MACS),
    Case("matmul, bias, GELU, residual", "matmul_gelu", ("f16",) * 5, _MATMUL, 256, per=MACS, amount=_TILE_MACS),
    _attention(),
)  # fmt: skip
