"""`smalti.compile`: a program for any target."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from . import ir, targets
from .compiler import driver
from .compiler.driver import Source, parse
from .emulator.options import Emulation, Sanitizer
from .errors import PipelineError, TargetError
from .launch import devices
from .launch.kernels import Kernel

if TYPE_CHECKING:
    from . import sim
    from .compiler.options import CompileOptions


def _target_of(module: ir.Module, target: str | targets.Target | None) -> targets.Target:
    if target is not None:
        return targets.get(target)
    attributes = module.operation.attributes
    if "mosaic_gpu.arch_major" in attributes and "mosaic_gpu.arch_minor" in attributes:
        numbers = [attributes[f"mosaic_gpu.arch_{part}"] for part in ("major", "minor")]
        if not all(isinstance(number, ir.IntegerAttr) for number in numbers):
            raise TargetError(
                f"the module's mosaic_gpu.arch_major and arch_minor are {numbers[0]} and {numbers[1]}; both must be integers"
            )
        major, minor = (ir.IntegerAttr(number).value for number in numbers)
        if (fitting := targets.for_compute_capability(major, minor)) is None:
            raise TargetError(f"the module is for compute capability {major}.{minor}, which no target has")
        return fitting
    if "smalti.target" in module.operation.attributes:
        attribute = module.operation.attributes["smalti.target"]
        if not isinstance(attribute, ir.StringAttr):
            raise TargetError(f"the module's smalti.target is {attribute}, which is no name of a target")
        return targets.get(attribute.value)
    return devices.here()


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
    **options: Unpack[CompileOptions],
) -> Kernel | sim.SimulatedKernel:
    """Compiles a tile program for `target`, or for the best that this machine has.

    `source` is a path, MLIR text or a module, which is left as it is. `entry` names the function where the module has
    several. `options` go to the pipeline `smalti-compile`: `stages=3`, for example. `dump` is a folder for every form of
    the code, in numbered files, and `dump_ir` one for the IR after every pass; so are the environment variables
    `SMALTI_DUMP` and `SMALTI_DUMP_IR`. `emulation` says how an emulated target
    (`emu:sm_80`) runs; `sanitize` ("thread" or "address") is short for `Emulation(sanitize=...)`. For a simulated target
    (`sim:sm_90a`) it is a `sim.SimulatedKernel`.
    """
    if "stop_after" in options:
        raise PipelineError(
            "a kernel is lowered completely: a pipeline that stops after a level leaves nothing to run",
            hint="the levels of IR are in kernel.asm; "
            "smalti opt --pass-pipeline='builtin.module(smalti-compile{target=... stop-after=...})' stops at one",
        )
    original = parse(source)
    chosen = _target_of(original, target)
    if chosen.is_simulated and emulation is None and sanitize is None:
        from . import sim

        return sim.simulate(original, chosen, name=entry, **options)
    if (emulation is not None or sanitize is not None) and not chosen.is_emulated:
        raise TargetError(
            f"'{chosen}' is not emulated: it takes neither emulation nor sanitize",
            hint=f"use '{targets.EMULATED}{chosen}'" if chosen.is_gpu else None,
        )
    how = emulation or Emulation()
    if sanitize is not None:
        how = dataclasses.replace(how, sanitize=sanitize)
    return driver.compile_kernel(
        original,
        chosen,
        entry_name=entry,
        dump=dump,
        dump_ir=dump_ir,
        tell=progress or (lambda _: None),
        emulation=how,
        options=options,
    )
