# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Smalti: GPU tile kernels in MLIR, for NVIDIA, AMD and the CPU.

    kernel = smalti.compile("matmul.mlir", target="cpu")
    kernel(a, b, c)

The package includes the MLIR bindings: `smalti.ir`, `smalti.passmanager`, `smalti.rewrite`, `smalti.dialects`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from . import aot, emulator, jax, sim, targets, testing, torch
    from .compiler import plans
    from .compiler.insertion import insertion_points
    from .compiler.pipeline import Pipeline, register_pass
    from .emulator.options import Emulation
    from .errors import (
        CheckError,
        CompileError,
        Diagnostic,
        EmulationError,
        KernelFileError,
        LaunchError,
        ParseError,
        PipelineError,
        SimulationError,
        SmaltiError,
        SourceLocation,
        TargetError,
        ToolMissing,
        VerifyError,
    )
    from .front_end import compile, parse
    from .language import hooks
    from .language.kernel import kernel
    from .language.parameters import ShapeDtypeStruct, constexpr
    from .launch.compiled import Resources
    from .launch.kernels import Kernel
    from .remarks import Remark
    from .specialization import specialize

# Loaded on first use: the bindings and numpy are slow to import, and the code-generation process needs neither.
_HOMES = {
    "compile": "front_end",
    "parse": "front_end",
    "specialize": "specialization",
    "constexpr": "language.parameters",
    "ShapeDtypeStruct": "language.parameters",
    "kernel": "language.kernel",
    "Emulation": "emulator.options",
    "CheckError": "errors",
    "CompileError": "errors",
    "Diagnostic": "errors",
    "EmulationError": "errors",
    "KernelFileError": "errors",
    "LaunchError": "errors",
    "ParseError": "errors",
    "PipelineError": "errors",
    "SimulationError": "errors",
    "SmaltiError": "errors",
    "SourceLocation": "errors",
    "TargetError": "errors",
    "ToolMissing": "errors",
    "VerifyError": "errors",
    "Kernel": "launch.kernels",
    "Resources": "launch.compiled",
    "insertion_points": "compiler.insertion",
    "Pipeline": "compiler.pipeline",
    "register_pass": "compiler.pipeline",
    "Remark": "remarks",
}
_MODULES = {
    name: name
    for name in (
        "aot",
        "targets",
        "emulator",
        "sim",
        "testing",
        "ir",
        "passmanager",
        "rewrite",
        "dialects",
        "runtime",
        "execution_engine",
        "reference",
        "errors",
        "language",
        "block",
        "jax",
        "torch",
    )
}
_MODULES["entry"] = "compiler.entry"
_MODULES["plans"] = "compiler.plans"
_MODULES["hooks"] = "language.hooks"

__all__ = [
    "CheckError",
    "CompileError",
    "Diagnostic",
    "Emulation",
    "EmulationError",
    "Kernel",
    "KernelFileError",
    "LaunchError",
    "ParseError",
    "Pipeline",
    "PipelineError",
    "Remark",
    "Resources",
    "ShapeDtypeStruct",
    "SimulationError",
    "SmaltiError",
    "SourceLocation",
    "TargetError",
    "ToolMissing",
    "VerifyError",
    "__version__",
    "aot",
    "compile",
    "constexpr",
    "emulator",
    "hooks",
    "insertion_points",
    "jax",
    "kernel",
    "parse",
    "plans",
    "register_pass",
    "sim",
    "specialize",
    "targets",
    "testing",
    "torch",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = importlib.import_module(".toolchain", __name__).versions()["smalti"]
    elif name in _HOMES:
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{_MODULES[name]}", __name__)
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
