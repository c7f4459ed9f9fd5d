# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selection and translation of one kernel of a module."""

from __future__ import annotations

from typing import Any

from .. import ir, passmanager, sources
from ..compiler import driver, entry
from ..errors import CompileError, mlir_errors
from . import ops, threads
from .translation.program import Program, is_written, of_function, of_launch
from .translation.translator import UNSUPPORTED, Translator, walk

assert ops  # The imports register the translations of ops.


def _layouts(module: ir.Module) -> dict[tuple[int, str], str]:
    """The layouts of vectors from layout inference, if the module does not have them; empty if inference fails."""
    found = _stated_layouts(module)
    if found:
        return found
    copy = driver.clone(module)
    try:
        with mlir_errors(CompileError, "", module.context):
            manager: Any = passmanager.PassManager.parse(_INFERENCE, module.context)
            manager.run(copy.operation)
    except CompileError:
        return {}
    same = [op.name for op in walk(copy.operation)] == [op.name for op in walk(module.operation)]
    return _stated_layouts(copy) if same else {}


_INFERENCE = "builtin.module(mosaic-gpu-infer-layouts)"


def _stated_layouts(module: ir.Module) -> dict[tuple[int, str], str]:
    found: dict[tuple[int, str], str] = {}
    for number, op in enumerate(walk(module.operation)):
        for name in ("in_layouts", "out_layouts"):
            if name in op.attributes and len(layouts := ir.ArrayAttr(op.attributes[name])):
                found[number, name] = str(layouts[0])
    return found


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else op.name


def load(module: ir.Module, name: str | None, target: Any, timed: bool = False) -> Program:
    """The program of a module: the function with `gpu.launch` of a JAX module, or a block-level or thread-level
    `gpu.func`. A `timed` program runs with a recorder."""
    candidates: dict[str, tuple[Any, Any]] = {}
    twice: set[str] = set()
    for op in walk(module.operation):
        if op.name == "gpu.func" and ("gpu.kernel" in op.attributes or "kernel" in op.attributes):
            twice |= {_name(op)} & candidates.keys()
            candidates[_name(op)] = (op, None)
        elif op.name == "gpu.launch":
            owner = op.parent.operation
            while owner.name not in ("func.func", "llvm.func", "builtin.module"):
                owner = owner.parent.operation
            candidates[_name(owner)] = (owner, op)
    for function, launch in threads.launches_of(module.operation):
        if launch.name == "gpu.launch_func":
            # The kernel does not state its launch sizes.
            candidates.pop(_name(threads.kernel_of(launch)), None)
        candidates[_name(function)] = (function, launch)
    if name in twice or (name is None and twice):
        raise CompileError(f"the module has several kernels named @{name or min(twice)}; kernel names must be unique")
    if name is not None and name not in candidates:
        known = ", ".join(f"@{n}" for n in candidates) or "none"
        raise CompileError(f"the module does not have a kernel @{name}; it has: {known}")
    if name is None and len(candidates) != 1:
        if not candidates:
            raise CompileError(
                "the module does not contain a kernel to simulate: a triton_xla.entry_func, a gpu.launch, a gpu.func kernel or an outlined kernel is required",
                hint=entry.TILE_LEVEL_FORM,
            )
        raise CompileError(
            f"the module has several kernels; select one with entry= or --entry: {', '.join(f'@{n}' for n in candidates)}"
        )
    chosen = name or next(iter(candidates))
    function, launch = candidates[chosen]
    numbers = {op: number for number, op in enumerate(walk(module.operation))}
    hosted = any(launch == op for _, op in threads.launches_of(module.operation))
    if hosted or (launch is None and threads.is_of_threads(function)):
        program, translator = threads.of_threads(chosen, function, target, numbers, is_written, timed, launch)
    else:
        translator = Translator(numbers, timed)
        if launch:
            translator.layouts = _layouts(module)
            program = of_launch(chosen, function, launch, translator)
        else:
            translator.layouts = _stated_layouts(module)
            program = of_function(chosen, function, translator)
    if translator.problems:
        emulator = f"the emulator may support the kernel: use the target emu:{target.chip}"
        raise CompileError(
            f"@{chosen} cannot be simulated",
            diagnostics=translator.problems,
            source=sources.text_of(module.context),
            hint=emulator if any(UNSUPPORTED in problem.message for problem in translator.problems) else None,
        )
    program.source = sources.text_of(module.context)
    program.most_shared_bytes = target.shared_memory_per_block
    return program
