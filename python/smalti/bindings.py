# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR's Python bindings, which are loaded on first use: a process that only launches cached kernels does not need them.

Modules that are imported before a launch get the bindings from here: `from .bindings import ir`.
"""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import execution_engine as execution_engine
    from . import ir as ir
    from . import passmanager as passmanager
    from . import rewrite as rewrite
    from ._mlir_libs import _smalti as _smalti
    from .dialects import arith as arith
    from .dialects import math as mlir_math  # noqa: F401  # pyright: ignore[reportUnusedImport]
    from .dialects import memref as memref
    from .dialects import scf as scf
    from .dialects import tensor as tensor
    from .dialects import triton_xla as triton_xla

_MODULES = {
    **{name: name for name in ("execution_engine", "ir", "passmanager", "rewrite")},
    "_smalti": "_mlir_libs._smalti",
    **{name: f"dialects.{name}" for name in ("arith", "memref", "scf", "tensor", "triton_xla")},
    "mlir_math": "dialects.math",
}
"""The modules by their names here. `importlib.util.LazyLoader` would load the packages around them and the extension."""


class _Module:
    """A module that is loaded when one of its attributes is first read. From then on, both have the same namespace."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def _load(self) -> types.ModuleType:
        module = importlib.import_module(self.__name__)
        self.__dict__ = vars(module)
        return module

    def __getattr__(self, name: str) -> Any:
        # `inspect` reads special attributes of each value that it finds.
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())


if not TYPE_CHECKING:
    globals().update({name: _Module(f"{__package__}.{module}") for name, module in _MODULES.items()})


def load() -> None:
    """Loads the bindings now, for code that must choose the time."""
    importlib.import_module(f"{__package__}.ir")
