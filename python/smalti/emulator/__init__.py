# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on an emulated GPU: the device code of a chip runs on the CPU.

smalti.compile("matmul.mlir", target="emu:sm_80")(a, b, c)
smalti.emulator.load("kernel.ll", "emu:gfx942").launch(grid, block, a, b, c)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .findings import Finding
    from .module import Module, load
    from .options import SCHEDULES, Emulation
    from .tensor_maps import TensorMap, tensor_map

# Modules are loaded on first use: compilation needs the options only.
_HOMES = {
    "Finding": "findings",
    "Module": "module",
    "load": "module",
    "SCHEDULES": "options",
    "Emulation": "options",
    "TensorMap": "tensor_maps",
    "tensor_map": "tensor_maps",
}

__all__ = ["SCHEDULES", "Emulation", "Finding", "Module", "TensorMap", "load", "tensor_map"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
