"""The command `smalti`: opt, compile, run, sim, layout, targets, doctor."""

from __future__ import annotations

import json
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from .. import files, interrupts
from ..diagnostics import Diagnostic, SourceLocation
from ..errors import SmaltiError, ToolMissing
from . import emulated, layouts, simulated


class _Group(click.Group):
    """Turns errors into one message and an exit code; no traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        with interrupts.end_native_code():
            try:
                return super().main(*args, **extra)
            except KeyboardInterrupt:
                sys.exit(interrupts.EXIT_CODE)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SmaltiError as error:
            click.echo(_styled(str(error)), err=True)
            ctx.exit(1)
        except MemoryError as error:
            click.echo(_styled(f"there is not enough memory: {error}"), err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(interrupts.EXIT_CODE)
        except BrokenPipeError:
            # Whoever read the output has gone; Python would complain about it once more at exit.
            sys.stderr.close()
            ctx.exit(1)


class _Compiling(click.Command):
    """A command with `-O`: its help lists the options of the pipeline."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with interrupts.end_the_process():
            from ..compiler import driver, passes
        rows = [
            (f"{option.name}={option.metavar}", passes.summary(option))
            for option in passes.registered()[driver.PIPELINE].options
            if option.name not in ("target", "stop-after")
        ]
        with formatter.section("Options of the pipeline (-O)"):
            formatter.write_dl(rows)


def _styled(message: str) -> str:
    if any(word in message.partition("\n")[0] for word in ("error:", "warning:")):
        return message
    return f"{click.style('error:', fg='red', bold=True)} {message}"


@contextmanager
def _progress(title: str) -> Generator[Callable[[str], Any], None, None]:
    """Shows what is being done on a terminal; silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as status:

        def tell(step: str) -> None:
            status.update(f"{title}: {step}")

        yield tell


def _print_remarks(remarks: Sequence[Any]) -> None:
    for remark in remarks:
        click.echo(str(remark), err=True)


def _parse_options(words: Sequence[str]) -> dict[str, Any]:
    """Options of the pipeline, in their types."""
    from ..compiler import driver, passes

    options: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"'{word}' is not NAME=VALUE", param_hint="--option")
        options[name] = value
    pipeline = passes.registered()[driver.PIPELINE]
    values = passes.options_from_text(pipeline, options)
    passes.format_options(pipeline, values, on_shell=True)
    if "target" in values:
        raise click.BadParameter("the target is given with --target", param_hint="--option")
    return values


def _parse_arguments(words: Sequence[str], option: str = "--arg") -> dict[int, str]:
    given: dict[int, str] = {}
    for word in words:
        index, equals, value = word.partition("=")
        if not equals or not index.isdecimal():
            raise click.BadParameter(f"'{word}' is not INDEX=VALUE", param_hint=option)
        if int(index) in given:
            raise click.BadParameter(f"argument {int(index)} is given twice", param_hint=option)
        given[int(index)] = value
    return given


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from .. import toolchain

    known = toolchain.versions()
    click.echo(f"smalti {known['smalti']} (LLVM {known['llvm']}, Python {known['python']})")
    context.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show versions."
)
def main() -> None:
    """GPU tile kernels in MLIR, for NVIDIA, AMD and the CPU."""


_FILE = click.argument("file", type=click.Path(exists=False, dir_okay=False, allow_dash=True))
_TARGET = click.option(
    "-t",
    "--target",
    help="The chip, or cpu; `smalti targets` lists them. Default: the module's, else the best of this machine.",
)
_ENTRY = click.option("--entry", help="The entry function, where the module has several.")
_OPTION = click.option(
    "-O",
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the pipeline smalti-compile; the list is below.",
)
_DUMP_IR = click.option(
    "--dump-ir", type=click.Path(file_okay=False), help="Write the IR after every pass to this folder."
)
_DUMP = click.option(
    "--dump", type=click.Path(file_okay=False), help="Write every form of the code to this folder, in numbered files."
)
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Print the passes' remarks.")


def _source(file: str) -> Any:
    """What to parse: the path, or what comes in where it is a dash."""
    return sys.stdin.read() if file == "-" else Path(file)


@main.command(cls=_Compiling)
@_FILE
@_TARGET
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write; its suffix says what.")
@_ENTRY
@_OPTION
@_DUMP
@_DUMP_IR
@_VERBOSE
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def compile(
    file: str,
    target: str | None,
    output: str | None,
    entry: str | None,
    options: tuple[str, ...],
    dump: str | None,
    dump_ir: str | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Compiles the kernel in FILE.

    The suffix of OUTPUT says what is wanted: .cubin .ptx .hsaco .s .ll .mlir .sass, or .smalti for a kernel that `smalti
    run` and smalti.aot.load take as it is.
    """
    with interrupts.end_the_process():
        from .. import front_end, targets
        from ..compiler import driver
        from ..launch.kernels import Kernel, check_suffix

    given = _parse_options(options)
    module = driver.parse(_source(file))
    if output is not None and target is not None:
        check_suffix(output, targets.get(target))
    start = time.perf_counter()
    with _progress(f"compiling {file}") as tell:
        kernel = front_end.compile(module, target, entry=entry, dump=dump, dump_ir=dump_ir, progress=tell, **given)
    seconds = time.perf_counter() - start
    if not isinstance(kernel, Kernel):
        raise SmaltiError(f"{kernel.target} runs programs as they are: there is no code to write")
    if verbose:
        _print_remarks(kernel.remarks)
    failure: ToolMissing | None = None
    written: Path | None = None
    if output is not None:
        try:
            written = kernel.save(output)
        except ToolMissing as error:
            # What there is without the tool is still worth having; the exit code says that it is not what was asked.
            suffix = ".ptx" if kernel.target.vendor == "nvidia" else ".s"
            written = kernel.save(Path(output).with_suffix(suffix))
            failure = error
    else:
        for note in kernel.notes:
            click.echo(f"note: {note}", err=True)
    _print_summary(kernel, written, seconds, as_json)
    if failure is not None:
        raise ToolMissing(f"{failure.message}; {written} was written instead", hint=failure.hint)


def _summary(kernel: Any, written: Path | None, seconds: float) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "kernel": kernel.entry.name,
        "target": kernel.target.name,
        "output": str(written) if written else None,
        "bytes": written.stat().st_size if written else None,
        "seconds": round(seconds, 4),
        **asdict(kernel.resources),
    }


def _print_summary(kernel: Any, written: Path | None, seconds: float, as_json: bool) -> None:
    summary = _summary(kernel, written, seconds)
    if as_json:
        click.echo(json.dumps(summary))
        return
    words = [f"@{kernel.entry.name} for {kernel.target}"]
    if written:
        words.append(f"{written} ({summary['bytes']} B)")
    resources = kernel.resources
    if resources.registers is not None:
        accumulators = f" + {resources.accumulator_registers} AGPR" if resources.accumulator_registers else ""
        words.append(f"{resources.registers} registers{accumulators}")
    if resources.spills is not None:
        words.append(f"{resources.spills} spilled")
    if resources.shared_bytes is not None:
        words.append(f"{resources.shared_bytes} B shared memory")
    if resources.block is not None:
        words.append(f"{resources.warps} warps x {resources.tiles} blocks")
    if resources.stages is not None:
        words.append(f"{resources.stages} stage{'s' * (resources.stages != 1)}")
    words.append(f"{seconds:.2f} s")
    click.echo(", ".join(words))


_ARG_HELP = (
    "As INDEX=VALUE. For a tile program the shape of a dynamic memref, or a scalar. For a device module TYPE[SHAPE] or "
    "TYPE[SHAPE]=FILL with zeros, ones, random, iota, a number (7, -inf, nan) or a file (.npy); TYPE:NUMBER; bytes:HEX."
)


@main.command(cls=_Compiling)
@_FILE
@_TARGET
@click.option("--check", is_flag=True, help="Compare with the float64 reference; exit 1 where it differs.")
@click.option("--seed", default=0, show_default=True, help="For the random inputs.")
@click.option("--arg", "arguments", multiple=True, help=_ARG_HELP)
@click.option("--repeat", type=click.IntRange(1), help="Runs; the best time is printed. Default: 1.")
@_ENTRY
@_OPTION
@_DUMP
@_DUMP_IR
@_VERBOSE
@emulated.add(emulated.LIMITS)
@emulated.add(emulated.HOW)
@emulated.add(emulated.WHAT)
def run(file: str, target: str | None, seed: int, arguments: tuple[str, ...], **options: Any) -> None:
    """Runs the kernel in FILE on random inputs.

    FILE is a tile program or a module of JAX's (.mlir), a kernel that was compiled before (.smalti), or for an emulated
    GPU also a device module in LLVM IR (.ll, .bc), written by hand or by another compiler. The target emu:CHIP runs the code of a GPU on this machine's CPU:

    \b
      smalti run k.mlir --target emu:gfx942 --check --sanitize thread
      smalti run k.ll --target emu:sm_80 --grid 4 --block 256 \\
          --arg 0=f16[64x32] --arg 1=f32[64]=nan --arg 2=i32:7 --save out.npz
    """
    given = _parse_arguments(arguments)
    if file.endswith((".ll", ".bc")):
        emulated.refuse(
            options, ("check", "repeat", "entry", "options", "dump", "dump_ir", "verbose"), "a device module"
        )
        expected = _parse_arguments(options["expect"], "--expect")
        emulated.run_device_module(file, target, given, expected, seed, options)
        return
    if file.endswith(".smalti"):
        compiled = ("check", "entry", "options", "dump", "dump_ir", "verbose")
        emulated.refuse(options, (*compiled, *emulated.WHAT_NAMES), "a compiled kernel")
        _run_compiled(file, target, given, seed, options)
        return
    emulated.refuse(options, emulated.WHAT_NAMES, "a tile program")
    with interrupts.end_the_process():
        from .. import front_end, inputs
        from ..compiler import driver
        from ..launch.kernels import Kernel

    pipeline_options = _parse_options(options["options"])
    module = driver.parse(_source(file))
    with _progress(f"compiling {file}") as tell:
        kernel = front_end.compile(
            module,
            target,
            entry=options["entry"],
            dump=options["dump"],
            dump_ir=options["dump_ir"],
            progress=tell,
            **pipeline_options,
        )
    if not isinstance(kernel, Kernel):
        emulated.refuse(options, (*emulated.HOW_NAMES, "repeat", "verbose"), "a simulated GPU; see smalti sim")
        simulated.run_program(kernel, module, options["check"], seed, given, options)
        return
    if options["verbose"]:
        _print_remarks(kernel.remarks)
    checked, repeat, word = options["check"], options["repeat"], ""
    if kernel.target.is_emulated:
        emulated.run_program(kernel, module, checked, seed, given, repeat, options)
        return
    emulated.refuse(options, emulated.HOW_NAMES, f"{kernel.target}, which is not emulated")
    title = f"@{kernel.entry.name} on {kernel.target}"
    if kernel.target.is_gpu:
        emulated.refuse(options, emulated.LIMIT_NAMES, f"{kernel.target}: a GPU runs all blocks to their end")
    else:
        kernel.time_limit, kernel.blocks = options["time_limit"], emulated.parse_blocks(options["blocks"])
        kernel.announce = lambda message: click.echo(f"note: {title}: {message}: {emulated.HINTS}", err=True)
    if checked:
        result = emulated.check_program(kernel, module, seed, given).require()
        word = f"{result}, "
    values = inputs.random_arguments(kernel.entry, seed, given)
    # The first run loads code and starts threads; it is not the one to measure.
    with emulated.telling(title):
        best = kernel.launcher.run_on_copies(values, (repeat or 1) + 1)
    click.echo(f"@{kernel.entry.name} on {kernel.target}: {word}{best * 1e3:.3f} ms")


def _run_compiled(file: str, target: str | None, given: dict[int, str], seed: int, options: dict[str, Any]) -> None:
    from .. import aot, inputs

    kernel = aot.load(file)
    if target not in (None, kernel.target.name):
        raise click.UsageError(f"{file} is for {kernel.target}, and not for {target}")
    if kernel.target.is_emulated:
        emulated.run_program(kernel, None, False, seed, given, options["repeat"], options)
        return
    names = (*emulated.HOW_NAMES, *emulated.LIMIT_NAMES)
    emulated.refuse(options, names, f"{kernel.target}, which is not emulated")
    values = inputs.random_arguments(kernel.entry, seed, given)
    best = kernel.launcher.run_on_copies(values, (options["repeat"] or 1) + 1)
    click.echo(f"@{kernel.entry.name} on {kernel.target}: {best * 1e3:.3f} ms")


@main.command(cls=_Compiling)
@_FILE
@click.option("-t", "--target", default="sim:sm_90a", show_default=True, help="The chip.")
@_ENTRY
@_OPTION
@emulated.add(simulated.OPTIONS)
def sim(
    file: str,
    target: str,
    entry: str | None,
    options: tuple[str, ...],
    mutants: bool,
    arguments: tuple[str, ...],
    level: str | None,
    **how: Any,
) -> None:
    """Simulates the program in FILE, and reports races, deadlocks and what else it must not do.

    FILE is a module as JAX's Pallas prints it, a program of a block in mosaic_gpu, one of threads, or a tile program:

    \b
      smalti sim matmul.mlir --races-only
      smalti sim matmul.mlir --schedules all --json
      smalti sim matmul.mlir --mutants --blocks 1
      smalti sim matmul.mlir --timeline matmul.json
      smalti sim matmul.mlir --level thread
    """
    given = _parse_arguments(arguments)
    with interrupts.end_the_process():
        from .. import sim as simulator
        from ..compiler import driver

    target = target if target.startswith("sim:") else f"sim:{target}"
    with _progress(f"reading {file}"):
        module = driver.parse(_source(file))
        kernel = simulator.simulate(module, target, name=entry, level=level, **_parse_options(options))
    if mutants and how["timeline"]:
        raise click.UsageError("--mutants has no timeline")
    what = simulated.score if mutants else simulated.timeline if how["timeline"] else simulated.simulate
    what(kernel, how, given)


@main.command()
@_FILE
@click.option("--load", "scripts", multiple=True, type=click.Path(dir_okay=False), help="A Python file with passes.")
@click.option("--pass-pipeline", "pipeline", default="builtin.module()", help="The pipeline, as MLIR writes it.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write. Default: standard output.")
@_DUMP_IR
@_VERBOSE
def opt(
    file: str, scripts: tuple[str, ...], pipeline: str, output: str | None, dump_ir: str | None, verbose: bool
) -> None:
    """Runs a pipeline on FILE (- for standard input).

    Python files given with --load call smalti.register_pass(name, function); PIPELINE can name what they registered.
    """
    with interrupts.end_the_process():
        from ..compiler import driver
        from ..compiler.pipeline import Pipeline

    for script in scripts:
        _load(script)
    module = driver.parse(_source(file))
    passes = Pipeline(pipeline)
    try:
        remarks = passes.run(module, dump_ir=dump_ir)
    except SmaltiError:
        raise
    except Exception as error:
        raise _python_error(error, scripts) from None
    if verbose:
        _print_remarks(remarks)
    text = str(module).rstrip() + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    files.write(output, text)


def _load(script: str) -> None:
    if not Path(script).is_file():
        raise SmaltiError(f"no such file: {script}")
    try:
        runpy.run_path(script, run_name=Path(script).stem)
    except SmaltiError:
        raise
    except Exception as error:
        raise _python_error(error, [script]) from None


def _python_error(error: Exception, scripts: Sequence[str]) -> SmaltiError:
    """An exception of a user's Python, with the last line of theirs that it came from."""
    if isinstance(error, SyntaxError) and error.filename and error.filename in scripts and error.lineno:
        where = SourceLocation(error.filename, error.lineno, error.offset or 1)
        return SmaltiError("", diagnostics=[Diagnostic("error", f"{type(error).__name__}: {error.msg}", where)])
    known = {str(Path(script).resolve()) for script in scripts}
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(Path(f.filename).resolve()) in known]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
    return SmaltiError(f"{place}error: {type(error).__name__}: {error}{notes}")


@main.command()
@click.argument("layout")
@click.option("--shape", help="Sizes of the vector or memory, as in 64x128. Default: the layout's own.")
@click.option("--element", default="f16", show_default=True, help="The type of the elements, for shared memory.")
@click.option("-t", "--target", help="The chip whose banks are shown, for shared memory. Default: 32 of 4 bytes.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with a picture.")
@click.option("--svg", type=click.Path(dir_okay=False), help="Write a picture.")
def layout(layout: str, shape: str | None, element: str, target: str | None, html: str | None, svg: str | None) -> None:
    """Shows where every element of a vector, or of shared memory, is.

    LAYOUT is an attribute of mosaic_gpu, a layout of registers or an array of transforms of shared memory, or the name
    of a layout of registers:

    \b
      smalti layout WGMMA --shape 64x16
      smalti layout '#mosaic_gpu.WGStridedFragLayout<[16, 128], 2>'
      smalti layout '[#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]' --shape 64x64 --html map.html
    """
    sizes = None if shape is None else layouts.parse_shape(shape)
    with interrupts.end_the_process():
        result = layouts.lane_map(layout, sizes, element, target)
    layouts.write(result, html, svg)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def targets(as_json: bool) -> None:
    """Lists the chips that --target takes.

    emu:CHIP runs the code of a GPU on this machine's CPU, sim:CHIP simulates its programs.
    """
    with interrupts.end_the_process():
        from .. import targets as table

    if as_json:
        from dataclasses import asdict

        click.echo(json.dumps([asdict(target) for target in table.all()], indent=2))
        return
    rows = [("NAME", "VENDOR", "ARCHITECTURE", "WARP", "SHARED MEMORY PER BLOCK")]
    rows += [
        (
            target.name,
            target.vendor,
            target.architecture,
            str(target.wave_size) if target.is_gpu else "",
            f"{target.shared_memory_per_block} B" if target.is_gpu else "",
        )
        for target in table.all()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> None:
    """Lists what this machine has for Smalti, what is missing, and how to get it."""
    with interrupts.end_the_process():
        from . import doctor as examination

        findings = examination.examine()
    if as_json:
        click.echo(json.dumps(examination.report(findings), indent=2))
    else:
        for finding in findings:
            mark = click.style("found  ", fg="green") if finding.found else click.style("missing", fg="yellow")
            click.echo(f"{mark}  {finding.name}" + (f": {finding.detail}" if finding.detail else ""))
            if not finding.found:
                click.echo(f"         for: {finding.enables}")
                click.echo(f"         get: {finding.get}")
    if any(finding.required and not finding.found for finding in findings):
        raise SmaltiError("something that nothing works without is missing")


if __name__ == "__main__":
    main()
