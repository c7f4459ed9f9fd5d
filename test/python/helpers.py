# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants and small functions that tests of several folders share."""

from __future__ import annotations

import linecache
import re
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from smalti.emulator import Emulation

Array = np.ndarray[Any, Any]
Shell = Callable[..., subprocess.CompletedProcess[str]]

SHARED = "#gpu.address_space<workgroup>"
FAT = "#amdgpu.address_space<fat_raw_buffer>"
DESCRIPTOR = (
    f"!nvgpu.tensormap.descriptor<tensor = memref<128xf32, {SHARED}>, swizzle = none, l2promo = none, oob = zero, "
    "interleave = none>"
)
WGMMA = (
    "#mosaic_gpu.TiledLayout<[[64, 8], [16, 8], [8, 8], [2]], warp_dims = [-7], lane_dims = [-3, -2], vector_dim = -1>"
)
WGMMA_ROW = (
    "#mosaic_gpu.TiledLayout<[[64], [16], [8], [1]], warp_dims = [-4], "
    "lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>], vector_dim = -1>"
)

OPERANDS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "i32": np.int32,
}
"""The types of numpy by the element types of matmuls on Hopper."""
FNUZ = {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz}
OCP = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}

SAFE = Emulation(sanitize="address", workers=1)
EARLY = Emulation(sanitize="address", copies="early", workers=1)
LATE = Emulation(sanitize="thread", copies="late", workers=1)
LATE_AND_EARLY = [Emulation(copies="late"), Emulation(copies="early")]


def gpu_kernel(arguments: str, body: str, threads: int, blocks: int = 1) -> str:
    """A module with a thread-level kernel `k`."""
    return f"""gpu.module @m {{
  gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: {blocks}, 1, 1>}} {{
{body}
    gpu.return
  }}
}}"""


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def pack(codes: Array, bits: int) -> Array:
    """The bits of each row, one element after the other."""
    planes = (codes[..., None] >> np.arange(bits)) & 1
    return np.packbits(planes.reshape(len(codes), -1).astype(np.uint8), axis=1, bitorder="little")


def pointwise(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The expected results of pointwise.mlir."""
    return np.exp2(a.astype(np.float64)) + b


def row_softmax(a: np.ndarray) -> np.ndarray:
    """The expected results of row_softmax.mlir."""
    powers = np.exp(a.astype(np.float64) - a.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def run_python_blocks(text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs the Python code of a page in order. A block prints the text block that follows it, or nothing.

    A first line such as `# errors.py` is the name of the block's file in errors.
    """
    module = types.ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for number, (language, block) in enumerate(blocks):
        if language == "text":
            continue
        assert language == "python"
        comment = re.match(r"# (\w+\.py)\n", block)
        file = comment[1] if comment else f"block{number}.py"
        monkeypatch.setitem(linecache.cache, file, (len(block), None, block.splitlines(True), file))
        exec(compile(block, file, "exec", dont_inherit=True), vars(module))
        following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        assert capsys.readouterr().out == (following[1] if following[0] == "text" else "")
