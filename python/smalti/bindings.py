# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR's Python bindings, which are loaded on first use: a process that only launches cached kernels does not need them.

Modules that are imported before a launch get the bindings from here: `from .bindings import ir`.
"""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import execution_engine, ir, passmanager, rewrite
    from ._mlir_libs import _smalti
    from .dialects import arith, memref, scf, tensor, triton_xla
    from .dialects import math as mlir_math


class _Module(types.ModuleType):
    """A module that is loaded when one of its attributes is first read."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        # The next read does not call this method.
        setattr(self, name, value)
        return value


if not TYPE_CHECKING:
    ir = _Module(f"{__package__}.ir")
    passmanager = _Module(f"{__package__}.passmanager")
    rewrite = _Module(f"{__package__}.rewrite")
    execution_engine = _Module(f"{__package__}.execution_engine")
    _smalti = _Module(f"{__package__}._mlir_libs._smalti")
    arith = _Module(f"{__package__}.dialects.arith")
    mlir_math = _Module(f"{__package__}.dialects.math")
    memref = _Module(f"{__package__}.dialects.memref")
    scf = _Module(f"{__package__}.dialects.scf")
    tensor = _Module(f"{__package__}.dialects.tensor")
    triton_xla = _Module(f"{__package__}.dialects.triton_xla")

__all__ = [
    "_smalti",
    "arith",
    "execution_engine",
    "ir",
    "load",
    "memref",
    "mlir_math",
    "passmanager",
    "rewrite",
    "scf",
    "tensor",
    "triton_xla",
]


def load() -> None:
    """Loads the bindings now, for code that must choose the time."""
    importlib.import_module(f"{__package__}.ir")
