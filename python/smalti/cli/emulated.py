"""What `smalti run` does for emulated GPUs: tile programs, and device modules in LLVM IR."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..errors import CheckError, LaunchError

if TYPE_CHECKING:
    from ..check import CheckResult
    from ..emulator import Emulation
    from ..launch.kernels import Kernel

Options = dict[str, Any]

HOW = (
    click.option("--sanitize", type=click.Choice(["thread", "address"]), help="Find races, or accesses out of bounds."),
    click.option("--order", help="Which waves run first: first-ahead (default), last-ahead, in-step, random:SEED."),
    click.option(
        "--copies", type=click.Choice(["late", "early"]), help="When asynchronous copies happen. Default: late."
    ),
    click.option("--schedules", type=click.Choice(["all"]), help="Run once for each order of waves and copies."),
    click.option("--workers", type=click.IntRange(1), help="Processes that run blocks. Default: one a core."),
)
"""For emulated GPUs."""

LIMITS = (
    click.option("--blocks", metavar="N or FIRST:END", help="The blocks to run. Default: all."),
    click.option(
        "--time-limit",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="End a run that takes longer, with an error. Default: 300 for emulated GPUs, else no limit.",
    ),
)
"""For everything that runs on this machine's CPU."""

WHAT = (
    click.option("--kernel", help="The kernel, where a device module has several."),
    click.option("--grid", metavar="X,Y,Z", help="Blocks, for a device module. Default: 1."),
    click.option("--block", metavar="X,Y,Z", help="Threads of a block. Default: what the kernel requires."),
    click.option("--shared", type=click.IntRange(0), help="Bytes of dynamic shared memory of a block."),
    click.option("--save", type=click.Path(dir_okay=False), help="Write the arrays here afterwards (.npz)."),
    click.option(
        "--expect",
        multiple=True,
        metavar="INDEX=FILE",
        help="What an array must hold afterwards (.npy); exit 1 if not.",
    ),
    click.option("--rtol", type=float, help="Relative tolerance of --expect. Default: 4 roundings of the type."),
    click.option("--atol", type=float, help="Absolute tolerance of --expect. Default: 0."),
)
"""For device modules."""


def add(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A decorator that gives a command several options."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def refuse(given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    """Raises where one of the options was given: `what` has no use for them."""
    for name in names:
        if given[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} says nothing for {what}")


HOW_NAMES = ("sanitize", "order", "copies", "schedules", "workers")
LIMIT_NAMES = ("blocks", "time_limit")
WHAT_NAMES = ("kernel", "grid", "block", "shared", "save", "expect", "rtol", "atol")


@contextmanager
def _block_progress(title: str) -> Generator[Callable[[int, int], None] | None, None, None]:
    """A bar of the blocks that are done, on a terminal; nothing elsewhere."""
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
        return range(int(first), int(end)) if colon else range(int(first))
    except ValueError:
        raise click.BadParameter(f"'{text}' is not a number of blocks or FIRST:END", param_hint="--blocks") from None


HINTS = "--blocks N runs N of them, --time-limit SECONDS ends the run"


@contextmanager
def telling(title: str, hints: str = HINTS, unit: str = "blocks", runs: int = 1) -> Generator[Any, None, None]:
    """What is told of progress: a bar on a terminal, and a note where the work is long."""
    from ..pace import SILENT, Pace

    pace = Pace(lambda message: click.echo(f"note: {title}: {message}", err=True), hints, unit, runs)
    # Some engines report nothing before the first block has ended.
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


def _ways(options: Options) -> list[Emulation]:
    """How the kernel is to run: once, or once for each schedule."""
    from ..emulator import SCHEDULES, Emulation

    given = {name: options[name] for name in HOW_NAMES if name != "schedules" and options[name] is not None}
    given["blocks"] = parse_blocks(options["blocks"])
    if options["time_limit"] is not None:
        given["time_limit"] = options["time_limit"]
    if not options["schedules"]:
        return [Emulation(**given)]
    if taken := [name for name in ("order", "copies") if name in given]:
        raise click.UsageError(f"--schedules is all of them: --{taken[0]} says nothing")
    return [dataclasses.replace(schedule, **given) for schedule in SCHEDULES]


def _schedule(emulation: Emulation) -> str:
    return f"{emulation.order}, copies {emulation.copies}"


def check_program(kernel: Any, module: Any, seed: int, given: Mapping[int, str]) -> Any:
    """Compares a run of a kernel with the reference interpreter."""
    from .. import check

    with telling(f"reference of @{kernel.entry.name}", unit="tiles") as progress:
        return check.check(kernel, module, seed=seed, given=given, progress=progress)


def run_program(
    kernel: Kernel,
    module: Any,
    checked: bool,
    seed: int,
    given: Mapping[int, str],
    repeat: int | None,
    options: Options,
) -> None:
    """Runs a compiled tile program; a check's run is the one that is timed, unless more were asked for."""
    from .. import inputs

    ways = _ways(options)
    times: list[float] = []
    worst: CheckResult | None = None
    for way in ways:
        title = f"@{kernel.entry.name} on {kernel.target}" + (f" ({_schedule(way)})" if len(ways) > 1 else "")
        with telling(title) as progress:
            kernel.emulation = dataclasses.replace(way, progress=progress)
            result = check_program(kernel, module, seed, given) if checked else None
            if result is None or repeat is not None:
                values = inputs.random_arguments(kernel.entry, seed, given)
                times.append(kernel.launcher.run_on_copies(values, repeat or 1))
            else:
                times.append(result.seconds)
        if result is not None:
            try:
                result.require()
            except CheckError as error:
                if len(ways) > 1:
                    error.message = f"with the schedule {_schedule(way)}: {error.message}"
                raise
            if worst is None or result.max_error > worst.max_error:
                worst = result
    word = f"{worst}, " if worst else ""
    schedules = f" in {len(ways)} schedules" if len(ways) > 1 else ""
    click.echo(f"@{kernel.entry.name} on {kernel.target}: {word}emulated{schedules} in {min(times):.3f} s")


def _size(text: str | None, option: str) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"'{text}' is not one to three numbers such as 4,1,1", param_hint=option) from None


def run_device_module(
    file: str, target: str | None, given: Mapping[int, str], expected: Mapping[int, str], seed: int, options: Options
) -> None:
    """Runs a kernel of a device module."""
    import numpy as np

    from .. import emulator
    from ..emulator import arguments

    if target is None:
        raise click.UsageError("a device module needs --target, such as emu:sm_80")
    module = emulator.load(file, target)
    first: list[Any] | None = None
    best = None
    ways = _ways(options)
    for way in ways:
        values = arguments.parse(given, seed)
        with telling(f"{file} on {target}") as progress:
            seconds = module.launch(
                _size(options["grid"], "--grid") or 1,
                _size(options["block"], "--block"),
                *values,
                kernel=options["kernel"],
                shared=options["shared"] or 0,
                emulation=dataclasses.replace(way, progress=progress),
            )
        best = seconds if best is None else min(best, seconds)
        if first is None:
            first = values
        for index, (value, other) in enumerate(zip(values, first, strict=True)):
            if isinstance(value, np.ndarray) and value.tobytes() != other.tobytes():
                raise CheckError(
                    f"argument {index}: what it holds afterwards depends on the schedule: "
                    f"{_schedule(ways[0])} and {_schedule(way)} differ"
                )
    assert first is not None and best is not None
    if options["save"]:
        arguments.save(options["save"], first)
    for index, path in expected.items():
        if not 0 <= index < len(first):
            raise LaunchError(f"--expect {index}={path}: there is no argument {index}")
        error = arguments.expect(index, first[index], path, options["rtol"], options["atol"] or 0.0)
        click.echo(f"argument {index}: as in {path}, max abs error {error:.3g}")
    click.echo(f"{file} on {target}: {'ok, ' if expected else ''}emulated in {best:.3f} s")
