# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smalti sim`, and `smalti run` for simulated GPUs."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics import counted
from ..errors import CheckError, LaunchError, SmaltiError
from .emulated import LIMITS, check_program, parse_blocks, report_progress

if TYPE_CHECKING:
    from ..sim import Finding, SimulatedKernel, Simulation

Options = dict[str, Any]

OPTIONS = (
    click.option(
        "--level",
        type=click.Choice(["block", "thread"]),
        help="Simulate the kernel at this level: convert it to a block-level or thread-level kernel first.",
    ),
    click.option(
        "--races-only",
        is_flag=True,
        help="Check synchronization only: compute only values that addresses and control flow depend on, not the results.",
    ),
    click.option(
        "--explicit-waits",
        is_flag=True,
        help="AMD: do not treat a barrier as a wait for LDS DMA; only explicit waits complete it.",
    ),
    click.option(
        "--explicit-barriers",
        is_flag=True,
        help="Do not treat the end of an scf.forall loop as a barrier of its threads.",
    ),
    click.option(
        "--order",
        help="The order in which warps run: adversarial (default), round-robin, lowest-first, highest-first or random:SEED.",
    ),
    click.option(
        "--completion", help="When asynchronous copies and MMAs complete: late (default), early or random:SEED."
    ),
    click.option(
        "--schedules",
        type=click.Choice(["all"]),
        help="Run once with each of the predefined schedules: combinations of --order and --completion.",
    ),
    click.option("--continue-after-finding", is_flag=True, help="Continue to the end of the kernel after a finding."),
    *LIMITS,
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random inputs."),
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="INDEX=FILE",
        help="The argument INDEX: an array (.npy), a shape (64x300) or a number. Default: random values.",
    ),
    click.option("--save", type=click.Path(dir_okay=False), help="Write the arrays to this file after the run (.npz)."),
    click.option(
        "--timeline",
        type=click.Path(dir_okay=False),
        help="Write an estimated timeline to this file (Chrome trace, JSON).",
    ),
    click.option(
        "--mutants",
        is_flag=True,
        help="Simulate mutants of the kernel, each with one synchronization error, and print which ones the simulator detects.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON."),
)


def _schedules(options: Options) -> list[Simulation]:
    from ..sim import SCHEDULES, Simulation

    common: dict[str, Any] = {"blocks": parse_blocks(options["blocks"]), "numbers": not options["races_only"]}
    common |= {
        name: options[name] for name in ("continue_after_finding", "explicit_waits", "explicit_barriers", "time_limit")
    }
    given: dict[str, Any] = {name: options[name] for name in ("order", "completion") if options[name] is not None}
    if not options["schedules"]:
        return [Simulation(**given, **common)]
    if given:
        raise click.UsageError(
            f"--{next(iter(given))} cannot be combined with --schedules all, which runs with several of --order and --completion; omit one of them"
        )
    return [dataclasses.replace(schedule, **common) for schedule in SCHEDULES]


def _arguments(kernel: SimulatedKernel, given: Mapping[int, str], seed: int) -> list[Any]:
    from .. import inputs
    from ..sim.translation.random_arguments import element

    count = len(kernel.arguments) if kernel.entry is not None else len(kernel.parameters)
    for index in given:
        if not 0 <= index < count:
            raise LaunchError(f"argument {index} does not exist; @{kernel.name} takes {counted(count, 'argument')}")
    if kernel.entry is not None and any(argument.num_parameters > 1 for argument in kernel.arguments):
        return inputs.random_arguments(kernel.entry, seed, given)
    shapes: dict[int, tuple[int, ...]] = {}
    values: dict[int, Any] = {}
    for index, text in given.items():
        parameter = kernel.parameters[index]
        ty = element(parameter)
        if parameter.scalar:
            values[index] = inputs.parse_number(text, ty)
            if values[index] is None:
                raise LaunchError(f"{parameter}: '{text}' is not {'0 or 1' if ty.kind == 'b' else 'a number'}")
        elif re.fullmatch(r"\d+(x\d+)*", text, re.ASCII):
            shapes[parameter.index] = tuple(map(int, text.split("x")))
        else:
            values[index] = inputs.load_typed(f"argument {index}", text, parameter.shape, ty, parameter.packed)
            if None in parameter.shape:
                shapes[parameter.index] = values[index].shape
    found: list[Any] = list(kernel.random_arguments(seed, shapes))
    for index, value in values.items():
        found[index] = value
    return found


_HINTS = "--blocks N simulates only N blocks, --races-only omits the numerics, --time-limit SECONDS stops the run"


def simulate(kernel: SimulatedKernel, options: Options, given: Mapping[int, str]) -> None:
    """Runs a kernel and prints the findings. Raises a SmaltiError if there are any."""
    from ..sim import to_json

    found: dict[str, Finding] = {}
    values: list[Any] = []
    start = time.perf_counter()
    schedules = _schedules(options)
    for number, schedule in enumerate(schedules):
        values = _arguments(kernel, given, options["seed"])
        with report_progress(
            f"@{kernel.name} on {kernel.target}", _HINTS, runs=1 if number else len(schedules)
        ) as progress:
            for finding in kernel.find(*values, simulation=dataclasses.replace(schedule, progress=progress)):
                found.setdefault(f"{finding.kind} {finding.location} {finding.hint} {finding.message}", finding)
    if options["save"]:
        from .. import inputs

        inputs.save(options["save"], values)
    seconds = time.perf_counter() - start
    if options["as_json"]:
        click.echo(to_json(found.values()))
    if found:
        from ..sim.machine.findings import error

        error_ = error(f"@{kernel.name} on {kernel.target}", tuple(found.values()), kernel.program.source)
        raise SmaltiError(error_.message) if options["as_json"] else error_
    if not options["as_json"]:
        suffix = f" in {len(schedules)} schedules" if len(schedules) > 1 else ""
        click.echo(f"@{kernel.name} on {kernel.target}: nothing found{suffix}, simulated in {seconds:.3f} s")


def timeline(kernel: SimulatedKernel, options: Options, given: Mapping[int, str]) -> None:
    """Writes the estimated timeline of a kernel, and prints a summary."""
    blocks = parse_blocks(options["blocks"]) or range(1)
    with report_progress(f"timeline of @{kernel.name}", _HINTS) as progress:
        values = _arguments(kernel, given, options["seed"])
        found = kernel.timeline(*values, blocks=blocks, time_limit=options["time_limit"], progress=progress)
    found.save(options["timeline"])
    click.echo(f"@{kernel.name} on {found.timing.product}: {found.summary}")


def score(kernel: SimulatedKernel, options: Options, given: Mapping[int, str]) -> None:
    """Prints the outcome of each mutant of a kernel. Raises a CheckError if a mutant survives."""
    from ..sim import mutants

    values = _arguments(kernel, given, options["seed"])
    hints = "--blocks N simulates only N blocks per mutant, --time-limit SECONDS stops each run"
    with report_progress(f"@{kernel.name} on {kernel.target}", hints, "mutants") as progress:
        alone = {name: options[name] for name in ("explicit_waits", "explicit_barriers", "time_limit")}
        own = [dataclasses.replace(how, **alone) for how in mutants.SCHEDULES]
        blocks = parse_blocks(options["blocks"])
        outcomes = mutants.score(kernel, values, blocks=blocks, schedules=own, progress=progress)
    caught = sum(outcome.caught for outcome in outcomes)
    if options["as_json"]:
        rows = [{"mutant": str(o.mutant), "caught": o.caught, "kinds": [f.kind for f in o.findings]} for o in outcomes]
        click.echo(json.dumps(rows, indent=2))
    else:
        for outcome in outcomes:
            click.echo(str(outcome))
        share = f" ({100 * caught / len(outcomes):.0f} %)" if outcomes else ""
        click.echo(f"@{kernel.name}: {caught} of {len(outcomes)} mutants killed{share}")
    if caught < len(outcomes):
        survivors = len(outcomes) - caught
        noun = "mutant" if survivors == 1 else "mutants"
        raise CheckError(
            f"{survivors} {noun} survived: the simulator did not detect the errors that are marked SURVIVED above"
        )


_AS_SIM = (
    "--blocks N simulates only N blocks, --time-limit SECONDS stops the run; smalti sim --races-only omits the numerics"
)


def run_program(
    kernel: SimulatedKernel, module: Any, checked: bool, seed: int, given: Mapping[int, str], options: Options
) -> None:
    """The simulator part of `smalti run`: runs a kernel once, and prints the time."""
    from .. import inputs

    if kernel.entry is None and checked:
        raise click.UsageError("--check requires a tile-level kernel (triton_xla.entry_func)")
    if kernel.entry is None and options["full_range"]:
        raise click.UsageError("--full-range requires a tile-level kernel (triton_xla.entry_func)")
    result = None
    with report_progress(f"@{kernel.name} on {kernel.target}", _AS_SIM) as progress:
        limits = {"blocks": parse_blocks(options["blocks"]), "time_limit": options["time_limit"]}
        kernel.simulation = dataclasses.replace(kernel.simulation, progress=progress, **limits)
        seconds = 0.0
        if checked:
            result = check_program(kernel, module, seed, given, options)
            seconds = result.seconds
        else:
            values = (
                _arguments(kernel, given, seed)
                if kernel.entry is None
                else inputs.random_arguments(kernel.entry, seed, given, options["full_range"])
            )
            seconds = kernel.run_on_copies(values)
            if options["save"]:
                inputs.save(options["save"], values)
    word = f"{result.require()}, " if result is not None else ""
    click.echo(f"@{kernel.name} on {kernel.target}: {word}simulated in {seconds:.3f} s")


__all__ = ["OPTIONS", "run_program", "score", "simulate", "timeline"]
