"""The command `smalti sim`, and what `smalti run` does for the simulator."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .. import files
from ..errors import CheckError, LaunchError, SmaltiError
from .emulated import LIMITS, check_program, parse_blocks, telling

if TYPE_CHECKING:
    from ..sim import Finding, SimulatedKernel, Simulation

Options = dict[str, Any]

OPTIONS = (
    click.option("--level", type=click.Choice(["block", "thread"]), help="Lower the program to this first."),
    click.option("--races-only", is_flag=True, help="Compute no numbers, but what addresses need."),
    click.option("--own-waits", is_flag=True, help="Let no barrier of AMD's wait for copies to LDS by itself."),
    click.option("--own-barriers", is_flag=True, help="Let scf.forall be no point of synchronisation."),
    click.option("--order", help="Which warpgroups run first. Default: adversarial."),
    click.option("--completion", help="When copies and products happen: late (default), early, random:SEED."),
    click.option("--schedules", type=click.Choice(["all"]), help="Run once for each of several schedules."),
    click.option("--go-on", is_flag=True, help="Compute the arrays to the end although something is found."),
    *LIMITS,
    click.option("--seed", default=0, show_default=True, help="For the random inputs."),
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="INDEX=FILE",
        help="An array (.npy), a shape (64x300) or a number. Default: random.",
    ),
    click.option("--save", type=click.Path(dir_okay=False), help="Write the arrays here afterwards (.npz)."),
    click.option("--timeline", type=click.Path(dir_okay=False), help="Write what takes how long (Chrome trace, JSON)."),
    click.option("--mutants", is_flag=True, help="Make mistakes in the program, and print which are noticed."),
    click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON."),
)


def _schedules(options: Options) -> list[Simulation]:
    from ..sim import SCHEDULES, Simulation

    common: dict[str, Any] = {"blocks": parse_blocks(options["blocks"]), "numbers": not options["races_only"]}
    common |= {name: options[name] for name in ("go_on", "own_waits", "own_barriers", "time_limit")}
    given: dict[str, Any] = {name: options[name] for name in ("order", "completion") if options[name] is not None}
    if not options["schedules"]:
        return [Simulation(**given, **common)]
    if given:
        raise click.UsageError(f"--schedules is all of them: --{next(iter(given))} says nothing")
    return [dataclasses.replace(schedule, **common) for schedule in SCHEDULES]


def _arguments(kernel: SimulatedKernel, given: Mapping[int, str], seed: int) -> list[Any]:
    import numpy as np

    count = len(kernel.parameters)
    shapes: dict[int, tuple[int, ...]] = {}
    arrays: dict[int, Any] = {}
    numbers: dict[int, float] = {}
    for index, path in given.items():
        if not 0 <= index < count:
            raise LaunchError(f"there is no argument {index}: @{kernel.name} takes {count}")
        if kernel.parameters[index].scalar:
            numbers[index] = _number(path, index)
            continue
        if re.fullmatch(r"\d+(x\d+)*", path):
            shapes[kernel.parameters[index].index] = tuple(map(int, path.split("x")))
            continue
        try:
            arrays[index] = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise LaunchError(f"cannot read {path}: {error}") from None
        if None in kernel.parameters[index].shape:
            shapes[kernel.parameters[index].index] = arrays[index].shape
    values: list[Any] = list(kernel.random_arguments(seed, shapes))
    for index, loaded in arrays.items():
        wanted = values[index].dtype
        # Types that numpy does not know are saved as bytes.
        values[index] = loaded.view(wanted) if loaded.dtype.kind == "V" else loaded
    for index, number in numbers.items():
        values[index] = number
    return values


_HINTS = "--blocks N simulates N of them, --races-only computes no numbers, --time-limit SECONDS ends the run"


def _number(text: str, index: int) -> float:
    try:
        return int(text, 0) if re.fullmatch(r"[+-]?(\d+|0x[0-9a-fA-F]+)", text) else float(text)
    except ValueError:
        raise LaunchError(f"argument {index}: '{text}' is not a number") from None


def simulate(kernel: SimulatedKernel, options: Options, given: Mapping[int, str]) -> None:
    """Runs a kernel, prints what was found, and fails where something was."""
    from ..sim import to_json

    found: dict[str, Finding] = {}
    values: list[Any] = []
    start = time.perf_counter()
    ways = _schedules(options)
    for number, way in enumerate(ways):
        values = _arguments(kernel, given, options["seed"])
        with telling(f"@{kernel.name} on {kernel.target}", _HINTS, runs=1 if number else len(ways)) as progress:
            for finding in kernel.find(*values, simulation=dataclasses.replace(way, progress=progress)):
                found.setdefault(f"{finding.kind} {finding.location} {finding.hint} {finding.message}", finding)
    if options["save"]:
        import numpy as np

        # numpy adds the suffix where it is missing.
        path = options["save"] if options["save"].endswith(".npz") else f"{options['save']}.npz"
        with files.replacing(path) as stream:
            np.savez(stream, **{f"arg{index}": value for index, value in enumerate(values)})
    seconds = time.perf_counter() - start
    if options["as_json"]:
        click.echo(to_json(found.values()))
    if found:
        from ..sim.machine.findings import error

        told = error(f"@{kernel.name} on {kernel.target}", tuple(found.values()), kernel.program.source)
        raise SmaltiError(told.message) if options["as_json"] else told
    if not options["as_json"]:
        schedules = f" in {len(ways)} schedules" if len(ways) > 1 else ""
        click.echo(f"@{kernel.name} on {kernel.target}: nothing found{schedules}, simulated in {seconds:.3f} s")


def timeline(kernel: SimulatedKernel, options: Options, given: Mapping[int, str]) -> None:
    """Writes the timeline of a kernel, and prints what it shows."""
    blocks = parse_blocks(options["blocks"]) or range(1)
    with telling(f"timeline of @{kernel.name}", _HINTS) as progress:
        values = _arguments(kernel, given, options["seed"])
        found = kernel.timeline(*values, blocks=blocks, time_limit=options["time_limit"], progress=progress)
    found.save(options["timeline"])
    click.echo(f"@{kernel.name} on {found.timing.product}: {found.summary}")


def score(kernel: SimulatedKernel, options: Options, given: Mapping[int, str]) -> None:
    """Prints what becomes of the mutants of a kernel; fails where one is not noticed."""
    from ..sim import mutants

    values = _arguments(kernel, given, options["seed"])
    hints = "--blocks N simulates N blocks of each, --time-limit SECONDS ends one run"
    with telling(f"@{kernel.name} on {kernel.target}", hints, "mutants") as progress:
        alone = {name: options[name] for name in ("own_waits", "own_barriers", "time_limit")}
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
        click.echo(f"@{kernel.name}: {caught} of {len(outcomes)} mutants are noticed{share}")
    if caught < len(outcomes):
        raise CheckError(f"{len(outcomes) - caught} mutants are not noticed")


_AS_SIM = "--blocks N simulates N of them, --time-limit SECONDS ends the run; smalti sim has --races-only"


def run_program(
    kernel: SimulatedKernel, module: Any, checked: bool, seed: int, given: Mapping[int, str], options: Options
) -> None:
    """What `smalti run` does."""
    from .. import check

    if kernel.entry is None:
        if checked:
            raise click.UsageError("--check needs a tile program: there is no reference for other programs")
        if given:
            raise click.UsageError("--arg says nothing here; smalti sim takes arrays")
    result = None
    with telling(f"@{kernel.name} on {kernel.target}", _AS_SIM) as progress:
        limits = {"blocks": parse_blocks(options["blocks"]), "time_limit": options["time_limit"]}
        kernel.simulation = dataclasses.replace(kernel.simulation, progress=progress, **limits)
        if kernel.entry is None:
            seconds = kernel.run_on_copies(kernel.random_arguments(seed))
        elif checked:
            result = check_program(kernel, module, seed, given)
            seconds = result.seconds
        else:
            seconds = kernel.run_on_copies(check.random_arguments(kernel.entry, seed, given))
    word = f"{result.require()}, " if result is not None else ""
    click.echo(f"@{kernel.name} on {kernel.target}: {word}simulated in {seconds:.3f} s")


__all__ = ["OPTIONS", "run_program", "score", "simulate", "timeline"]
