# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smalti`: opt, compile, run, sim, layout, targets, cache, doctor."""

from __future__ import annotations

import json
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import files
from ..diagnostics import Diagnostic, SourceLocation, counted
from ..errors import SmaltiError, ToolMissing
from . import emulated, interrupts, layouts, simulated

if TYPE_CHECKING:
    from ..calling.arguments import Entry


class _Group(click.Group):
    """Prints an error as one message without a traceback, and sets the exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        # The end of the inner block may be interrupted, too.
        try:
            with interrupts.end_native_code():
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
            click.echo(_styled(f"out of memory: {error}"), err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(interrupts.EXIT_CODE)
        except BrokenPipeError:
            # The reader closed the pipe. Python would report the error a second time at exit.
            sys.stderr.close()
            ctx.exit(1)


class _Compiling(click.Command):
    """A command with `-O`, whose help lists the options of `smalti-compile`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with interrupts.end_the_process():
            from ..compiler import driver, passes
        rows = [
            (f"{option.name}={option.metavar}", passes.summary(option))
            for option in passes.registered()[driver.PIPELINE].options
            if option.name not in ("target", "stop-after")
        ]
        with formatter.section("Options of smalti-compile (-O)"):
            formatter.write_dl(rows)


def _styled(message: str) -> str:
    if any(word in message.partition("\n")[0] for word in ("error:", "warning:")):
        return message
    return f"{click.style('error:', fg='red', bold=True)} {message}"


@contextmanager
def _progress(title: str) -> Generator[Callable[[str], Any], None, None]:
    """Shows the current step on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as status:

        def report(step: str) -> None:
            status.update(f"{title}: {step}")

        yield report


def _print_remarks(remarks: Sequence[Any]) -> None:
    for remark in remarks:
        click.echo(str(remark), err=True)


def _parse_options(words: Sequence[str]) -> dict[str, Any]:
    """The options of `smalti-compile` as keywords with typed values."""
    from ..compiler import driver, passes

    options: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"'{word}' must have the form NAME=VALUE, such as stages=3", param_hint="--option")
        options[name] = value
    pipeline = passes.registered()[driver.PIPELINE]
    values = passes.options_from_text(pipeline, options)
    passes.format_options(pipeline, values, on_shell=True)
    if "target" in values:
        raise click.BadParameter("the target cannot be set with -O; set it with --target", param_hint="--option")
    return values


def _parse_insertions(words: Sequence[str]) -> dict[str, str]:
    """The pipelines to insert, by point."""
    found: dict[str, str] = {}
    for word in words:
        point, equals, pipeline = word.partition("=")
        if not equals:
            raise click.BadParameter(
                f"'{word}' must have the form POINT=PIPELINE, such as after:tile=cse", param_hint="--insert"
            )
        found[point] = f"{found[point]},{pipeline}" if point in found else pipeline
    return found


def _check_target(options: Mapping[str, Any], module: Any, target: str | None) -> None:
    """Raises a UsageError if options of `smalti-compile` other than `stop-after` are set for a CPU, which ignores them."""
    from .. import front_end

    ignored = [name.replace("_", "-") for name in options if name != "stop_after"]
    if ignored and not (chosen := front_end.target_of(module, target)).is_gpu:
        raise click.UsageError(f"-O {ignored[0]} does not apply to {chosen}; omit it, or set --target to a GPU")


def _parse_arguments(words: Sequence[str], option: str = "--arg") -> dict[str, str]:
    """The values by number or name of an argument."""
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        is_number = key.isascii() and key.isdecimal()
        if not equals or not (is_number or key.isidentifier()):
            raise click.BadParameter(
                f"'{word}' must have the form INDEX=VALUE or NAME=VALUE, such as 0=64x64", param_hint=option
            )
        key = str(int(key)) if is_number else key
        if key in given:
            raise click.BadParameter(f"argument {key} is specified twice", param_hint=option)
        given[key] = value
    return given


def _by_index(given: Mapping[str, str], what: Entry | None, option: str = "--arg") -> dict[int, str]:
    """The values by number of an argument. Without an entry function, arguments do not have names."""
    named = {argument.name: argument.index for argument in (what.arguments if what else ()) if argument.name}
    found: dict[int, str] = {}
    for key, value in given.items():
        index = int(key) if key.isdecimal() else named.get(key)
        if index is None:
            known = f"the names are: {', '.join(named)}" if named else "use its number, INDEX=VALUE"
            raise click.BadParameter(f"an argument named '{key}' does not exist; {known}", param_hint=option)
        if index in found:
            raise click.BadParameter(f"argument {index} ({key}) is specified twice", param_hint=option)
        found[index] = value
    return found


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
    help="A chip, or cpu; `smalti targets` lists them. Default: the target of the module, else the GPU here, else cpu.",
)
_ENTRY = click.option("--entry", help="The name of the entry function. Required if the module has several.")
_OPTION = click.option(
    "-O",
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set an option of smalti-compile, such as -O stages=3; see the list below. May be repeated.",
)
_DUMP_IR = click.option(
    "--dump-ir", type=click.Path(file_okay=False), help="Write the IR after every pass to this folder."
)
_DUMP = click.option(
    "--dump",
    type=click.Path(file_okay=False),
    help="Write every form of the code (MLIR, LLVM IR, assembly, ...) to this folder, in numbered files.",
)
_LINE_INFO = click.option(
    "--line-info",
    is_flag=True,
    help="Add the lines of FILE to the binary, for profilers and debuggers. Code for emu:CHIP always has them.",
)
_LOAD = click.option(
    "--load", "scripts", multiple=True, type=click.Path(dir_okay=False), help="A Python file that registers passes."
)
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Print the remarks of the passes.")


def _source(file: str) -> Any:
    """The path of the file, or the text of standard input for a dash."""
    return sys.stdin.read() if file == "-" else Path(file)


@main.command(cls=_Compiling)
@_FILE
@_TARGET
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="The file to write. The suffix selects the format."
)
@_ENTRY
@_OPTION
@_LOAD
@click.option(
    "--insert",
    "insertions",
    multiple=True,
    metavar="POINT=PIPELINE",
    help="Insert passes, such as --insert after:tile=my-pass; smalti.insertion_points lists the points. May be repeated.",
)
@_DUMP
@_DUMP_IR
@_LINE_INFO
@_VERBOSE
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def compile(
    file: str,
    target: str | None,
    output: str | None,
    entry: str | None,
    options: tuple[str, ...],
    scripts: tuple[str, ...],
    insertions: tuple[str, ...],
    dump: str | None,
    dump_ir: str | None,
    line_info: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Compiles the kernel in FILE.

    The suffix of OUTPUT selects the format: .cubin .ptx .sass (NVIDIA), .hsaco (AMD), .s .ll .mlir, .smalti or .h. A
    .smalti file holds a compiled kernel for `smalti run` and smalti.aot.load. A .h file is a C header for launches without
    Smalti: it encodes tensor maps, and computes grids and parameters.
    """
    with interrupts.end_the_process():
        from .. import bindings, front_end, targets
        from ..compiler import driver
        from ..launch.kernels import Kernel, check_suffix

        if target is not None:
            driver.start_codegen(targets.get(target))
        bindings.load()

    given = _parse_options(options)
    passes = _parse_insertions(insertions)
    for script in scripts:
        _load(script)
    module = driver.parse(_source(file))
    _check_target(given, module, target)
    if output is not None and target is not None:
        check_suffix(output, targets.get(target))
    start = time.perf_counter()
    with _progress(f"compiling {file}") as report:
        try:
            kernel = front_end.compile(
                module,
                target,
                entry=entry,
                dump=dump,
                dump_ir=dump_ir,
                progress=report,
                line_info=line_info,
                passes=passes,
                **given,
            )
        except SmaltiError:
            raise
        except Exception as error:
            if not scripts:
                raise
            raise _python_error(error, scripts) from None
    seconds = time.perf_counter() - start
    if not isinstance(kernel, Kernel):
        raise SmaltiError(
            f"cannot compile for {kernel.target}: the simulator interprets the kernel and does not generate code; "
            f"use --target {kernel.target.chip}"
        )
    if verbose:
        _print_remarks(kernel.remarks)
    failure: ToolMissing | None = None
    written: Path | None = None
    if output is not None:
        try:
            written = kernel.save(output)
        except ToolMissing as error:
            # Write the last form that does not need the tool. The exit code is 1, because the requested file is missing.
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
        unit = "B" if kernel.target.vendor == "nvidia" else "registers"
        words.append(f"{resources.spills} {unit} spilled")
    if resources.shared_bytes is not None:
        words.append(f"{resources.shared_bytes} B shared memory")
    if resources.block is not None:
        words.append(counted(resources.warps, "warp") + (" per block" if resources.tiles is None else ""))
        if resources.tiles is not None:
            words[-1] += f" x {counted(resources.tiles, 'block')}"
    if resources.stages is not None:
        words.append(counted(resources.stages, "stage"))
    words.append(f"{seconds:.2f} s")
    click.echo(", ".join(words))


_ARG_HELP = (
    "INDEX=VALUE or NAME=VALUE, for %NAME in the file. Tile-level kernel: a .npy file, the shape of a dynamic memref (64x300), or a scalar. Device module: TYPE[SHAPE] or "
    "TYPE[SHAPE]=FILL (zeros, ones, random, iota, a number such as 7, -inf, nan, or a .npy file), TYPE:NUMBER or bytes:HEX."
)


@main.command(cls=_Compiling)
@_FILE
@_TARGET
@click.option("--check", is_flag=True, help="Compare the result with the float64 reference; exit 1 if it differs.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random inputs.")
@click.option(
    "--full-range",
    is_flag=True,
    help="Random integers have all values of their type. Default: -8 to 8, or 0 to 8 if the type is unsigned.",
)
@click.option("--arg", "arguments", multiple=True, help=_ARG_HELP)
@click.option("--repeat", type=click.IntRange(1), help="Number of runs; the shortest time is printed. Default: 1.")
@click.option(
    "--specialize",
    is_flag=True,
    help="Compile a tile-level kernel for sizes and strides that are multiples of 16, and for arrays of less than 2^31 bytes, "
    "where the arguments have them.",
)
@_ENTRY
@_OPTION
@_DUMP
@_DUMP_IR
@_LINE_INFO
@_VERBOSE
@emulated.add(emulated.LIMITS)
@emulated.add(emulated.RUN_OPTIONS)
@emulated.add(emulated.DEVICE_MODULE_OPTIONS)
def run(file: str, target: str | None, seed: int, arguments: tuple[str, ...], **options: Any) -> None:
    """Runs the kernel in FILE on random inputs. The exit status is 1 after a finding, or if a result is wrong.

    FILE is a tile-level, block-level or thread-level kernel or a module from JAX (.mlir), or a compiled kernel (.smalti).
    An emulated GPU also runs device modules in LLVM IR (.ll, .bc), from any compiler. The target emu:CHIP runs the code of
    a GPU on the CPU, and sim:CHIP simulates the kernel:

    \b
      smalti run k.mlir --target emu:gfx942 --check --sanitize thread
      smalti run k.ll --target emu:sm_80 --grid 4 --block 256 \\
          --arg 0=f16[64x32] --arg 1=f32[64]=nan --arg 2=i32:7 --save out.npz
    """
    texts = _parse_arguments(arguments)
    if file.endswith((".ll", ".bc")):
        emulated.refuse(
            options,
            (
                "check",
                "full_range",
                "repeat",
                "specialize",
                "entry",
                "options",
                "dump",
                "dump_ir",
                "line_info",
                "verbose",
            ),
            "a device module (.ll, .bc); omit it",
        )
        expected = _by_index(_parse_arguments(options["expect"], "--expect"), None, "--expect")
        emulated.run_device_module(file, target, _by_index(texts, None), expected, seed, options)
        return
    if file.endswith(".smalti"):
        compiled = ("check", "specialize", "entry", "options", "dump", "dump_ir", "line_info", "verbose")
        emulated.refuse(options, compiled, "a compiled kernel (.smalti); run the source file (.mlir) with this option")
        emulated.refuse(
            options, emulated.DEVICE_MODULE_NAMES, "a compiled kernel; this option requires a device module (.ll, .bc)"
        )
        _run_compiled(file, target, texts, seed, options)
        return
    emulated.refuse(
        options,
        emulated.DEVICE_MODULE_NAMES,
        "a tile-level kernel; this option requires a device module (.ll, .bc)",
    )
    with interrupts.end_the_process():
        from .. import bindings, front_end, inputs
        from ..compiler import driver
        from ..launch.kernels import Kernel

        bindings.load()

    pipeline_options = _parse_options(options["options"])
    module = driver.parse(_source(file))
    _check_target(pipeline_options, module, target)
    if options["specialize"]:
        from .. import specialization

        generic = specialization.specialize(module, target, entry=options["entry"])
        given = _by_index(texts, generic.entry)
        values = inputs.random_arguments(generic.entry, seed, given, options["full_range"])
        module = generic.module_for(*values)
    with _progress(f"compiling {file}") as report:
        kernel = front_end.compile(
            module,
            target,
            entry=options["entry"],
            dump=options["dump"],
            dump_ir=options["dump_ir"],
            progress=report,
            line_info=options["line_info"],
            **pipeline_options,
        )
    given = _by_index(texts, kernel.entry)
    if options["verbose"]:
        _print_remarks(kernel.remarks)
    if not isinstance(kernel, Kernel):
        emulated.refuse(
            options,
            (*emulated.RUN_NAMES, "repeat"),
            "a simulated GPU; `smalti sim --help` lists the options of the simulator",
        )
        simulated.run_program(kernel, module, options["check"], seed, given, options)
        return
    checked, repeat, word, result = options["check"], options["repeat"], "", None
    if kernel.target.is_emulated:
        emulated.run_program(kernel, module, checked, seed, given, repeat, options)
        return
    emulated.refuse(options, emulated.RUN_NAMES, f"{kernel.target}, which is not emulated; use --target emu:CHIP")
    title = f"@{kernel.entry.name} on {kernel.target}"
    if kernel.target.is_gpu:
        emulated.refuse(
            options,
            emulated.LIMIT_NAMES,
            f"{kernel.target}, which always runs all blocks to the end; use --target emu:CHIP",
        )
    else:
        kernel.time_limit, kernel.blocks = options["time_limit"], emulated.parse_blocks(options["blocks"])
        kernel.announce = lambda message: click.echo(f"note: {title}: {message}: {emulated.HINTS}", err=True)
    if checked:
        result = emulated.check_program(kernel, module, seed, given, options).require()
        word = f"{result}, "
    with emulated.report_progress(title):
        best = _measure(kernel, given, seed, options, result)
    click.echo(f"@{kernel.entry.name} on {kernel.target}: {word}{best * 1e3:.3f} ms")


def _measure(kernel: Any, given: Mapping[int, str], seed: int, options: dict[str, Any], result: Any = None) -> float:
    """The duration of the shortest run. The first run loads code and starts threads, so it is measured only if it is the
    only one: if the arrays are saved, since further runs may change them. A check has saved its own run, the `result`."""
    from .. import inputs

    repeat, path = options["repeat"], options["save"]
    if path is not None and result is not None and repeat is None:
        return result.seconds
    values = inputs.random_arguments(kernel.entry, seed, given, options["full_range"])
    if path is None or result is not None:
        return kernel.launcher.run_on_copies(values, (repeat or 1) + 1)
    seconds = kernel.launcher.run_on_copies(values)
    inputs.save(path, values)
    return seconds if repeat is None else kernel.launcher.run_on_copies(values, repeat)


def _run_compiled(file: str, target: str | None, texts: Mapping[str, str], seed: int, options: dict[str, Any]) -> None:
    from .. import aot

    kernel = aot.load(file)
    if target not in (None, kernel.target.name):
        raise click.UsageError(
            f"{file} was compiled for {kernel.target}; omit --target {target}, or compile the source for that target"
        )
    given = _by_index(texts, kernel.entry)
    if kernel.target.is_emulated:
        emulated.run_program(kernel, None, False, seed, given, options["repeat"], options)
        return
    names = (*emulated.RUN_NAMES, *emulated.LIMIT_NAMES)
    emulated.refuse(options, names, f"{kernel.target}, which is not emulated; compile the source for emu:CHIP")
    best = _measure(kernel, given, seed, options)
    click.echo(f"@{kernel.entry.name} on {kernel.target}: {best * 1e3:.3f} ms")


@main.command(cls=_Compiling)
@_FILE
@click.option("-t", "--target", default="sim:sm_90a", show_default=True, help="The chip to simulate.")
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
    """Simulates the kernel in FILE on the CPU, and reports data races, missing fences, deadlocks and other findings.

    The exit status is 0 if nothing was found, and 1 after a finding.

    FILE is a module that JAX Pallas printed, or a block-level (mosaic_gpu), thread-level or tile-level kernel:

    \b
      smalti sim matmul.mlir --races-only
      smalti sim matmul.mlir --schedules all --json
      smalti sim matmul.mlir --mutants --blocks 1
      smalti sim matmul.mlir --timeline matmul.json
      smalti sim matmul.mlir --level thread
    """
    texts = _parse_arguments(arguments)
    with interrupts.end_the_process():
        from .. import bindings
        from .. import sim as simulator
        from ..compiler import driver

        bindings.load()

    target = target if target.startswith("sim:") else f"sim:{target}"
    with _progress(f"reading {file}"):
        module = driver.parse(_source(file))
        kernel = simulator.simulate(module, target, name=entry, level=level, **_parse_options(options))
    if mutants and how["timeline"]:
        raise click.UsageError("--mutants and --timeline cannot be combined; omit one of them")
    action = simulated.score if mutants else simulated.timeline if how["timeline"] else simulated.simulate
    action(kernel, how, _by_index(texts, kernel.entry))


@main.command()
@_FILE
@_LOAD
@click.option(
    "--pass-pipeline", "pipeline", default="builtin.module()", help="The pass pipeline, in the textual form of MLIR."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The file to write. Default: standard output.")
@_DUMP_IR
@_VERBOSE
def opt(
    file: str, scripts: tuple[str, ...], pipeline: str, output: str | None, dump_ir: str | None, verbose: bool
) -> None:
    """Runs a pass pipeline on FILE (- for standard input).

    A Python file of --load calls smalti.register_pass(name, function). The pipeline can then use the pass by name.
    """
    with interrupts.end_the_process():
        from .. import bindings
        from ..compiler import driver
        from ..compiler.pipeline import Pipeline

        bindings.load()

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
        raise SmaltiError(f"--load {script}: file not found")
    try:
        runpy.run_path(script, run_name=Path(script).stem)
    except SmaltiError:
        raise
    except Exception as error:
        raise _python_error(error, [script]) from None


def _python_error(error: Exception, scripts: Sequence[str]) -> SmaltiError:
    """An exception in a Python file of the user, with the innermost line of that file."""
    if isinstance(error, SyntaxError) and error.filename and error.filename in scripts and error.lineno:
        where = SourceLocation(error.filename, error.lineno, error.offset or 1)
        return SmaltiError("", diagnostics=[Diagnostic("error", f"{type(error).__name__}: {error.msg}", where)])
    known = {str(Path(script).resolve()) for script in scripts}
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(Path(f.filename).resolve()) in known]
    location = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
    return SmaltiError(f"{location}error: {type(error).__name__}: {error}{notes}")


@main.command()
@click.argument("layout")
@click.option(
    "--shape", help="The shape of the vector or memory, such as 64x128. Default: the shape that the layout states."
)
@click.option("--element", default="f16", show_default=True, help="Element type of the shared memory.")
@click.option("-t", "--target", help="The chip whose shared-memory banks are shown. Default: 32 banks of 4 bytes.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write an HTML page with a picture of the layout.")
@click.option("--svg", type=click.Path(dir_okay=False), help="Write the picture as an SVG file.")
def layout(layout: str, shape: str | None, element: str, target: str | None, html: str | None, svg: str | None) -> None:
    """Shows which lane and register, or which bank and byte, holds each element.

    LAYOUT is the name of a register layout, or a mosaic_gpu attribute: a register layout, or an array of shared-memory
    transforms:

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
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def targets(as_json: bool) -> None:
    """Lists the chips that --target accepts.

    emu:CHIP runs the code of a GPU on the CPU, and sim:CHIP simulates the kernel.
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
    _print_table(rows)


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())


@main.group()
def cache() -> None:
    """Lists or clears the cache on disk: kernels in Python, and code for emulated GPUs.

    The environment variable SMALTI_CACHE_DIR sets the folder.
    """


@cache.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def list_cache(as_json: bool) -> None:
    """Lists the entries, the one that was used last first."""
    from . import cached

    found = cached.entries()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    rows = [("KERNEL", "TARGET", "FOLDER", "SIZE", "LAST USE")]
    rows += [
        (one["name"] or "?", one["target"], one["folder"], f"{one['bytes']} B", f"{cached.age(one['age'])} ago")
        for one in found
    ]
    _print_table(rows)
    click.echo(f"{counted(len(found), 'entry', 'entries')}, {sum(one['bytes'] for one in found)} B")


@cache.command("clear")
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def clear_cache(as_json: bool) -> None:
    """Deletes the entries. Files that the cache did not write, and reproducers, stay."""
    from . import cached

    count, size = cached.clear()
    if as_json:
        click.echo(json.dumps({"entries": count, "bytes": size}))
    else:
        click.echo(f"{counted(count, 'entry', 'entries')} deleted, {size} B")


@cache.command("path")
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def cache_path(as_json: bool) -> None:
    """Prints the folder of the cache."""
    folder = str(files.cache_folder("kernels").parent)
    click.echo(json.dumps({"path": folder}) if as_json else folder)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def doctor(as_json: bool) -> None:
    """Lists the tools, libraries and GPUs that Smalti found, and how to install missing ones."""
    with interrupts.end_the_process():
        from . import doctor as examination

        components = examination.examine()
    if as_json:
        click.echo(json.dumps(examination.report(components), indent=2))
    else:
        for component in components:
            mark = click.style("found  ", fg="green") if component.found else click.style("missing", fg="yellow")
            click.echo(f"{mark}  {component.name}" + (f": {component.detail}" if component.detail else ""))
            if not component.found:
                click.echo(f"         enables: {component.enables}")
                click.echo(f"         install: {component.get}")
    if missing := [component.name for component in components if component.required and not component.found]:
        raise SmaltiError(
            f"required components are missing: {', '.join(missing)}; the lines 'install:' show how to get them"
        )


if __name__ == "__main__":
    main()
