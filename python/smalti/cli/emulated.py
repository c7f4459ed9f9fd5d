# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti run` for emulated GPUs: tile-level kernels, and device modules in LLVM IR."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics import counted
from ..errors import CheckError, LaunchError

if TYPE_CHECKING:
    from ..check import CheckResult
    from ..emulator import Emulation
    from ..launch.kernels import Kernel

Options = dict[str, Any]

RUN_OPTIONS = (
    click.option(
        "--sanitize",
        type=click.Choice(["thread", "address"]),
        help="thread: detect data races; address: detect accesses out of bounds.",
    ),
    click.option(
        "--order",
        help="The order in which warps run: lowest-first (default), highest-first, round-robin or random:SEED.",
    ),
    click.option(
        "--copies",
        type=click.Choice(["late", "early"]),
        help="When asynchronous copies complete: as late as the waits permit (default), or when they are issued.",
    ),
    click.option(
        "--schedules",
        type=click.Choice(["all"]),
        help="all: run once with each combination of --order and --copies, and compare the results.",
    ),
    click.option(
        "--workers", type=click.IntRange(1), help="Number of processes that run blocks. Default: one per core."
    ),
)
"""Options for emulated GPUs."""

LIMITS = (
    click.option(
        "--blocks",
        metavar="N or FIRST:END",
        help="The blocks to run: the first N, or those from FIRST to END - 1. Default: all blocks.",
    ),
    click.option(
        "--time-limit",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Stop a run that takes longer, with an error. Default: 300 on an emulated GPU, otherwise no limit.",
    ),
)
"""Options for targets that run on the CPU: cpu, emulated GPUs and simulated GPUs."""

DEVICE_MODULE_OPTIONS = (
    click.option("--kernel", help="The kernel of a device module. Required if the module has several."),
    click.option("--grid", metavar="X,Y,Z", help="Grid size in blocks. Default: 1."),
    click.option("--block", metavar="X,Y,Z", help="Block size in threads. Default: the size that the kernel states."),
    click.option("--shared", type=click.IntRange(0), help="Dynamic shared memory per block, in bytes. Default: 0."),
    click.option("--save", type=click.Path(dir_okay=False), help="Write the arrays to this file after the run (.npz)."),
    click.option(
        "--expect",
        multiple=True,
        metavar="INDEX=FILE",
        help="The expected values of an array after the run (.npy); exit 1 if they differ.",
    ),
    click.option(
        "--rtol", type=float, help="Relative tolerance of --expect. Default: 4 times the unit roundoff of the type."
    ),
    click.option("--atol", type=float, help="Absolute tolerance of --expect. Default: 0."),
)
"""Options for device modules."""


def add(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A decorator that adds options to a command."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def refuse(given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    """Raises a UsageError if one of the options is set. `what` names the kernel or target that does not support it."""
    for name in names:
        if given[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} does not apply to {what}")


RUN_NAMES = ("sanitize", "order", "copies", "schedules", "workers")
LIMIT_NAMES = ("blocks", "time_limit")
DEVICE_MODULE_NAMES = ("kernel", "grid", "block", "shared", "expect", "rtol", "atol")


@contextmanager
def _block_progress(title: str) -> Generator[Callable[[int, int], None] | None, None, None]:
    """A progress bar of completed blocks on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TextColumn("blocks"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def parse_blocks(text: str | None) -> range | None:
    if text is None:
        return None
    first, colon, end = text.partition(":")
    try:
        blocks = range(int(first), int(end)) if colon else range(int(first))
        len(blocks)
        return blocks
    except (OverflowError, ValueError):
        raise click.BadParameter(
            f"'{text}' must be a number of blocks, such as 4, or FIRST:END, such as 2:6 for blocks 2 to 5",
            param_hint="--blocks",
        ) from None


HINTS = "--blocks N runs only N blocks, --time-limit SECONDS stops the run"


@contextmanager
def report_progress(title: str, hints: str = HINTS, unit: str = "blocks", runs: int = 1) -> Generator[Any, None, None]:
    """Reports progress: a bar on a terminal, and a note about a long run."""
    from ..pace import SILENT, Pace

    pace = Pace(lambda message: click.echo(f"note: {title}: {message}", err=True), hints, unit, runs)
    # Some engines do not report progress before the first block completes.
    timer = threading.Timer(SILENT, lambda: pace(0, 1))
    timer.daemon = True
    timer.start()
    try:
        with _block_progress(title) as bar:

            def progress(done: int, total: int) -> None:
                timer.cancel()
                pace(done, total)
                if bar is not None:
                    bar(done, total)

            yield progress
    finally:
        timer.cancel()


def _emulations(options: Options) -> list[Emulation]:
    """The settings of each run: one run, or one run per schedule."""
    from ..emulator import SCHEDULES, Emulation

    given = {name: options[name] for name in RUN_NAMES if name != "schedules" and options[name] is not None}
    given["blocks"] = parse_blocks(options["blocks"])
    if options["time_limit"] is not None:
        given["time_limit"] = options["time_limit"]
    if not options["schedules"]:
        return [Emulation(**given)]
    if taken := [name for name in ("order", "copies") if name in given]:
        raise click.UsageError(
            f"--{taken[0]} cannot be combined with --schedules all, which runs with every --order and --copies; omit one of them"
        )
    return [dataclasses.replace(schedule, **given) for schedule in SCHEDULES]


def _schedule(emulation: Emulation) -> str:
    return f"{emulation.order}, copies {emulation.copies}"


def check_program(
    kernel: Any, module: Any, seed: int, given: Mapping[int, str], options: Options, is_first: bool = True
) -> Any:
    """Runs a kernel and compares the result with the reference interpreter. The first run is saved, and may warn."""
    from .. import check, inputs

    full_range = options["full_range"]
    hints = "--blocks N computes and runs only N tiles, --time-limit SECONDS stops the run"
    title = f"computing the reference result of @{kernel.entry.name}"
    with report_progress(title, hints, unit="tiles") as progress:
        result = check.check(kernel, module, seed=seed, given=given, full_range=full_range, progress=progress)
    if is_first:
        for warning in result.warnings:
            click.echo(f"warning: {warning}", err=True)
        if options["save"]:
            inputs.save(options["save"], result.values)
    return result


def run_program(
    kernel: Kernel,
    module: Any,
    checked: bool,
    seed: int,
    given: Mapping[int, str],
    repeat: int | None,
    options: Options,
) -> None:
    """Runs a compiled tile-level kernel. The run of a check is timed, unless `repeat` asks for further runs."""
    from .. import inputs

    def arguments() -> list[Any]:
        return inputs.random_arguments(kernel.entry, seed, given, options["full_range"])

    emulations = _emulations(options)
    times: list[float] = []
    worst: CheckResult | None = None
    for emulation in emulations:
        title = f"@{kernel.entry.name} on {kernel.target}" + (
            f" ({_schedule(emulation)})" if len(emulations) > 1 else ""
        )
        with report_progress(title) as progress:
            kernel.emulation = dataclasses.replace(emulation, progress=progress)
            is_first = emulation is emulations[0]
            result = check_program(kernel, module, seed, given, options, is_first) if checked else None
            saves = result is None and options["save"] and is_first
            if saves:
                values = arguments()
                times.append(kernel.launcher.run_on_copies(values))
                inputs.save(options["save"], values)
            if repeat is not None or (result is None and not saves):
                times.append(kernel.launcher.run_on_copies(arguments(), repeat or 1))
            elif result is not None:
                times.append(result.seconds)
        if result is not None:
            try:
                result.require()
            except CheckError as error:
                if len(emulations) > 1:
                    error.message = f"schedule {_schedule(emulation)}: {error.message}"
                raise
            if worst is None or result.max_error > worst.max_error:
                worst = result
    word = f"{worst}, " if worst else ""
    schedules = f" in {len(emulations)} schedules" if len(emulations) > 1 else ""
    click.echo(f"@{kernel.entry.name} on {kernel.target}: {word}emulated{schedules} in {min(times):.3f} s")


def _size(text: str | None, option: str) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"'{text}' must be one to three numbers, such as 4,1,1", param_hint=option) from None


def run_device_module(
    file: str, target: str | None, given: Mapping[int, str], expected: Mapping[int, str], seed: int, options: Options
) -> None:
    """Runs a kernel of a device module."""
    import numpy as np

    from .. import emulator, inputs
    from ..emulator import arguments

    if target is None:
        raise click.UsageError("a device module requires --target, such as emu:sm_80")
    module = emulator.load(file, target)
    first: list[Any] | None = None
    best = None
    emulations = _emulations(options)
    for emulation in emulations:
        values = arguments.parse(given, seed)
        with report_progress(f"{file} on {target}") as progress:
            seconds = module.launch(
                _size(options["grid"], "--grid") or 1,
                _size(options["block"], "--block"),
                *values,
                kernel=options["kernel"],
                shared=options["shared"] or 0,
                emulation=dataclasses.replace(emulation, progress=progress),
            )
        best = seconds if best is None else min(best, seconds)
        if first is None:
            first = values
        for index, (value, other) in enumerate(zip(values, first, strict=True)):
            if isinstance(value, np.ndarray) and value.tobytes() != other.tobytes():
                raise CheckError(
                    f"argument {index}: the result depends on the schedule: "
                    f"{_schedule(emulations[0])} and {_schedule(emulation)} differ; run again with --sanitize thread to find the race"
                )
    assert first is not None and best is not None
    if options["save"]:
        inputs.save(options["save"], first)
    for index, path in expected.items():
        if not 0 <= index < len(first):
            raise LaunchError(
                f"--expect {index}={path}: argument {index} does not exist; --arg passes {counted(len(first), 'argument')}, numbered from 0"
            )
        error = arguments.expect(index, first[index], path, options["rtol"], options["atol"] or 0.0)
        click.echo(f"argument {index}: matches {path}, max abs error {error:.3g}")
    click.echo(f"{file} on {target}: {'ok, ' if expected else ''}emulated in {best:.3f} s")
