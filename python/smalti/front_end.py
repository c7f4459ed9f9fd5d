# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti.compile`: compilation of a kernel for any target."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from . import targets
from .bindings import ir
from .compiler import driver, insertion
from .compiler.driver import Source
from .emulator.options import Emulation, Sanitizer
from .errors import PipelineError, TargetError
from .launch import devices
from .launch.kernels import Kernel

if TYPE_CHECKING:
    from . import sim
    from .compiler.options import CompileOptions


def target_of(module: ir.Module, target: str | targets.Target | None) -> targets.Target:
    if target is not None:
        return targets.get(target)
    attributes = module.operation.attributes
    if "mosaic_gpu.arch_major" in attributes and "mosaic_gpu.arch_minor" in attributes:
        numbers = [attributes[f"mosaic_gpu.arch_{part}"] for part in ("major", "minor")]
        if not all(isinstance(number, ir.IntegerAttr) for number in numbers):
            raise TargetError(
                f"mosaic_gpu.arch_major and arch_minor of the module are {numbers[0]} and {numbers[1]}; both must be integers"
            )
        major, minor = (ir.IntegerAttr(number).value for number in numbers)
        if (fitting := targets.for_compute_capability(major, minor)) is None:
            raise TargetError(
                f"mosaic_gpu.arch_major and arch_minor of the module state compute capability {major}.{minor}, which no target has; set --target"
            )
        return fitting
    if "smalti.target" in module.operation.attributes:
        attribute = module.operation.attributes["smalti.target"]
        if not isinstance(attribute, ir.StringAttr):
            raise TargetError(
                f"smalti.target of the module is {attribute}; it must be a string with the name of a target"
            )
        return targets.get(attribute.value)
    return devices.here()


def parse(source: Source, context: ir.Context | None = None) -> ir.Module:
    """Parses and verifies a module.

    `source` is a path, MLIR text, bytecode, or a module, which is verified and returned. Raises ParseError if the file
    does not exist or the text does not parse, and VerifyError if an operation is invalid.
    """
    module = driver.parse(source, context)
    if context is None:
        # The caller may add operations of any dialect.
        module.context.load_all_available_dialects()
    return module


def compile(
    source: Source,
    target: str | targets.Target | None = None,
    *,
    entry: str | None = None,
    dump: str | os.PathLike[str] | None = None,
    dump_ir: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    emulation: Emulation | None = None,
    sanitize: Sanitizer | None = None,
    line_info: bool = False,
    passes: insertion.Insertions | None = None,
    **options: Unpack[CompileOptions],
) -> Kernel | sim.SimulatedKernel:
    """Compiles a kernel for `target`, and returns a `Kernel`, or a `sim.SimulatedKernel` for `sim:CHIP`.

    - `source`: a path, MLIR text or a module. A module is not changed.
    - `target`: a chip such as "sm_90a", "cpu", "emu:CHIP" or "sim:CHIP". None selects the target of the module, else the GPU
      of this machine, else the CPU.
    - `entry`: the name of the entry function. Required if the module has several.
    - `dump`: a folder for each form of the code, in numbered files. Default: the environment variable `SMALTI_DUMP`.
    - `dump_ir`: a folder for the IR after each pass. Default: the environment variable `SMALTI_DUMP_IR`.
    - `progress`: called with the name of each step.
    - `emulation`: the settings of an emulated target.
    - `sanitize`: "thread" or "address", short for `Emulation(sanitize=...)`.
    - `line_info`: adds the source lines to the binary, for profilers and debuggers. The instructions stay the same. Emulated
      and simulated kernels always have them.
    - `passes`: passes to insert, by point: `{"after:tile": step}`. A point is `before:NAME` or `after:NAME`, where NAME is a
      level of IR or a pass (`smalti.insertion_points`). A step is what `Pipeline.add` accepts: a function of the module, a
      textual pipeline, or a `Pipeline`.
    - `options`: options of the pipeline `smalti-compile`, such as `stages=3`.

    Raises ParseError or VerifyError for an invalid module, TargetError for an unknown target, PipelineError for an
    unknown option, and CompileError if a pass or an assembler fails.
    """
    if "stop_after" in options:
        raise PipelineError(
            "stop_after is not supported by smalti.compile; a kernel must be lowered completely",
            hint="kernel.asm has all levels of IR; "
            "smalti opt --pass-pipeline='builtin.module(smalti-compile{target=... stop-after=...})' stops after a level",
        )
    if target is not None:
        # The child loads MLIR at the same time as this process.
        driver.start_codegen(targets.get(target))
    original = driver.parse(source)
    chosen = target_of(original, target)
    if chosen.is_simulated and emulation is None and sanitize is None:
        from . import sim

        inserted: dict[str, Any] = {"passes": passes} if passes else {}
        return sim.simulate(original, chosen, name=entry, **options, **inserted)
    if (emulation is not None or sanitize is not None) and not chosen.is_emulated:
        raise TargetError(
            f"'{chosen}' is not emulated; emulation and sanitize require a target emu:CHIP",
            hint=f"use '{targets.EMULATED}{chosen}'" if chosen.is_gpu else None,
        )
    settings = emulation or Emulation()
    if sanitize is not None:
        settings = dataclasses.replace(settings, sanitize=sanitize)
    return driver.compile_kernel(
        original,
        insertion.lowering(chosen, {**options, "passes": passes}),
        entry_name=entry,
        dump=dump,
        dump_ir=dump_ir,
        report=progress or (lambda _: None),
        emulation=settings,
        line_info=line_info,
    )
