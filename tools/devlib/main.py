# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The verbs of tools/dev."""

from __future__ import annotations

import pathlib
import shutil
import sys
from collections.abc import Callable, Sequence

from . import architecture, coverage, machine, op_table, outputs, steps, words
from . import examples as example_list
from . import frameworks as framework_tests
from . import messages as message_list
from .shell import ROOT, Failure, capture, run, say, step

Verb = Callable[[Sequence[str]], None]


def no_arguments(arguments: Sequence[str]) -> None:
    if arguments:
        raise Failure(f"this command of tools/dev does not take arguments: {' '.join(arguments)}")


def run_verb(arguments: Sequence[str]) -> None:
    """Set up, build, and compile and run the example kernel for every target."""
    steps.build()
    with step("Main job: one matmul for every target"):
        run([steps.PYTHON, steps.TOOLS / "main_job.py", *arguments], environment=steps.environment())


def build_verb(arguments: Sequence[str]) -> None:
    """Set up and build."""
    no_arguments(arguments)
    steps.build()
    say("build/ is up to date.")


def gcc_verb(arguments: Sequence[str]) -> None:
    """Build everything with g++ and without precompiled headers, in build/gcc (about 25 minutes on two cores)."""
    no_arguments(arguments)
    folder = steps.build_with_gcc()
    say(f"{folder.relative_to(ROOT)}/ is up to date.")


def test_verb(arguments: Sequence[str]) -> None:
    """Set up, build, and run lit and pytest (about 11 minutes on two cores). Paths and pytest options narrow it down."""
    paths, options = split_arguments(arguments)
    python_paths = [path for path in paths if is_pytest_path(path)]
    lit_paths = [path for path in paths if path not in python_paths]
    if options and not python_paths and lit_paths:
        raise Failure(f"these are options of pytest, but all paths are lit tests: {' '.join(options)}")
    if "--help" in options or "-h" in options:
        say(
            "tools/dev test [PATH ...] [OPTION OF PYTEST ...]: see CONTRIBUTING.md; `.venv/bin/pytest --help` lists the options"
        )
        return
    steps.build()
    if lit_paths or not arguments:
        with step("lit"):
            times = ["--xunit-xml-output", steps.BUILD / "lit-times.xml"] if not arguments else []
            run(
                [steps.VENV / "bin" / "lit", "--succinct", "--verbose", *times, *(lit_paths or ["test"])],
                environment=steps.environment(),
            )
    if python_paths or options or not arguments:
        steps.pip_install(
            steps.TOOLS / "requirements-jax.txt",
            optional="JAX could not be installed, so the tests with JAX are skipped. The next run tries again.",
        )
        run_pytest([*options, *python_paths])


OUTPUTS_USAGE = "tools/dev outputs record FOLDER [ARGUMENTS OF test] | tools/dev outputs compare OLD NEW [--all]"


def outputs_verb(arguments: Sequence[str]) -> None:
    """Compare the compiler's outputs before and after a change. `outputs record FOLDER [ARGUMENTS OF test]` tests, and
    records the IR and remarks of every pass run, LLVM IR, PTX and GCN. `outputs compare OLD NEW [--all]` lists the
    outputs that differ, are missing or are new, and fails if one differs or is missing."""
    match list(arguments):
        case ["record", folder, *rest] if not folder.startswith("-"):
            steps.build()
            with outputs.recording(pathlib.Path(folder).absolute()):
                test_verb(rest)
        case ["compare", old, new, *rest] if rest in ([], ["--all"]):
            outputs.compare(pathlib.Path(old), pathlib.Path(new), list_all=bool(rest))
        case _:
            raise Failure(f"usage: {OUTPUTS_USAGE}")


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths among the arguments, from the repository's root, and the rest: options of pytest and their values."""
    paths, options = [], []
    for argument in arguments:
        name, separator, test = argument.partition("::")
        looks_like_path = separator or "/" in name or name.endswith((".py", ".mlir", ".test")) or name == "test"
        if argument.startswith("-") or not looks_like_path:
            options.append(argument)
            continue
        found = next((path for path in (pathlib.Path.cwd() / name, ROOT / name) if path.exists()), None)
        if found is None:
            raise Failure(f"{name} does not exist")
        if not found.resolve().is_relative_to(ROOT):
            raise Failure(f"{name} is not in this repository")
        paths.append(f"{found.resolve().relative_to(ROOT)}{separator}{test}")
    return paths, options


def is_pytest_path(path: str) -> bool:
    return pathlib.Path(path.partition("::")[0]).is_relative_to("test/python")


def run_pytest(arguments: Sequence[str]) -> None:
    # No step: pytest's own closing line is the last one.
    say("==> pytest")
    parallel = ["-n", "auto", "--dist", "worksteal"]
    if not arguments:
        parallel.append(f"--junitxml={steps.BUILD / 'test-times.xml'}")
    # conftest.py adds options, and is read early enough only if its own folder is named.
    paths = [] if any(is_pytest_path(argument) for argument in arguments) else ["test/python"]
    run([steps.PYTHON, "-m", "pytest", *parallel, *arguments, *paths], environment=steps.environment())


def changed_files(*patterns: str) -> list[str]:
    """Files of these patterns that differ from the main branch, or are not committed yet."""
    base = capture(["git", "merge-base", "HEAD", "main"]) if capture(["git", "branch", "--list", "main"]) else "HEAD"
    listed = capture(["git", "diff", "--name-only", "--diff-filter=d", base, "--", *patterns])
    untracked = capture(["git", "ls-files", "--others", "--exclude-standard", "--", *patterns])
    return sorted({*listed.splitlines(), *untracked.splitlines()})


def tracked_files(*patterns: str) -> list[str]:
    return capture(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]).splitlines()


def format_verb(arguments: Sequence[str]) -> None:
    """Format the C++ and Python sources in place. `--check` only reports."""
    check = list(arguments) == ["--check"]
    if not check:
        no_arguments(arguments)
    machine.install_packages(machine.FORMAT_PACKAGES)
    steps.set_up()
    steps.pip_install(steps.TOOLS / "requirements-lint.txt")
    with step("clang-format"):
        mode = ["--dry-run", "--Werror"] if check else ["-i"]
        run([f"clang-format-{machine.LLVM}", *mode, *tracked_files("*.h", "*.cpp")])
    with step("ruff format"):
        run([steps.VENV / "bin" / "ruff", "format", *(["--check"] if check else []), ".", "tools/dev"])


USER_PROGRAMS = ROOT / "test" / "python" / "typed"
"""Type checkers see the installed package there, without the settings in pyproject.toml."""

LINT_USAGE = "tools/dev lint [--words | --counts | --record] [PATH ...]"


def lint_verb(arguments: Sequence[str]) -> None:
    """ruff, pyright on the package, pyright and mypy on programs of users (test/python/typed), clang-tidy on the C++ files
    that differ from main, and the rules for words (tools/words.toml). `--words` and paths check words only; `--counts` prints the findings per folder and rule;
    `--record` writes tools/words-open.toml, the folders where a rule does not hold yet."""
    options = [argument for argument in arguments if argument.startswith("-")]
    paths = [argument for argument in arguments if not argument.startswith("-")]
    if len(options) > 1 or any(option not in ("--words", "--counts", "--record") for option in options):
        raise Failure(f"usage: {LINT_USAGE}")
    if options == ["--record"] and paths:
        raise Failure("--record takes no paths; it needs the findings of all folders")
    if arguments:
        steps.set_up()
        steps.pip_install(steps.TOOLS / "requirements-lint.txt")
        lint_words(paths, options)
        return
    machine.install_packages(machine.LINT_PACKAGES)
    steps.build()
    steps.pip_install(steps.TOOLS / "requirements-lint.txt")
    with step("ruff"):
        run([steps.VENV / "bin" / "ruff", "check", ".", "tools/dev"])
    with step("pyright"):
        run([steps.VENV / "bin" / "pyright", "--pythonpath", steps.PYTHON])
    with step("pyright and mypy on programs of users"):
        run([steps.VENV / "bin" / "pyright", "-p", USER_PROGRAMS, "--pythonpath", steps.PYTHON])
        run([steps.VENV / "bin" / "mypy", "--strict", "--cache-dir", steps.BUILD / "mypy", USER_PROGRAMS])
    lint_words([], [])
    files = changed_files("*.cpp")
    if files:
        with step(f"clang-tidy on {len(files)} changed files"):
            run([f"clang-tidy-{machine.LLVM}", "-p", steps.BUILD, "--quiet", "--warnings-as-errors=*", *files])


def lint_words(paths: Sequence[str], options: Sequence[str]) -> None:
    typos = str(steps.VENV / "bin" / "typos")
    inside = [str((pathlib.Path.cwd() / path).resolve().relative_to(ROOT)) for path in paths]
    found = words.lint(ROOT, inside, typos)
    match options:
        case ["--counts"]:
            say("\n".join(words.table(found)))
            return
        case ["--record"]:
            words.record(found)
            say(f"{words.OPEN.relative_to(ROOT)} is written.")
            return
    wrong = [str(finding) for finding in words.not_open(found)]
    if not paths:
        wrong += words.closed(found)
        wrong += stale_pages()
    with step("words"):
        for line in wrong:
            say(line)
        if wrong:
            count = "1 finding" if len(wrong) == 1 else f"{len(wrong)} findings"
            raise Failure(f"{count}; the rules are in {words.RULES.relative_to(ROOT)}")


def stale_pages() -> list[str]:
    """Generated pages in the tree that `tools/dev docs` would change."""
    pages = {coverage.PAGE: coverage.page()}
    if (steps.BUILD / "libraries.json").exists():
        pages[architecture.PAGE] = architecture.page(steps.BUILD)
        pages[op_table.PAGE] = op_table.page()
    return [
        f"{page.relative_to(ROOT)}:1: [stale] the generated text is not up to date; run `tools/dev docs`"
        for page, text in pages.items()
        if page.read_text(encoding="utf-8") != text
    ]


MESSAGES_USAGE = "tools/dev messages [PATH ...] [--tested | --untested] [--random COUNT] [--seed NUMBER] | tools/dev messages --record [TEST ...]"


def messages_verb(arguments: Sequence[str]) -> None:
    """List Smalti's messages as the tests printed them, below the lines of the sources that they come from; then those that
    no test prints. `--tested` or `--untested` lists one kind, `--random COUNT` a sample. `messages --record [TEST ...]` runs
    lit and pytest (about 15 minutes), and records what they print in build/messages.json."""
    if arguments[:1] == ["--record"]:
        tests, options = split_arguments(arguments[1:])
        if options:
            raise Failure(f"usage: {MESSAGES_USAGE}")
        steps.build()
        count, failures = message_list.record(tests)
        say(f"{message_list.RECORDING.relative_to(ROOT)} has {count} texts.")
        if failures:
            say(f"Failed tests: {', '.join(failures)}. The messages that these tests did not reach are not recorded.")
        return
    paths: list[str] = []
    numbers = {"--random": 0, "--seed": 0}
    kinds = {"--tested": True, "--untested": False}
    shown: set[bool] = set()
    words_left = list(arguments)
    while words_left:
        word = words_left.pop(0)
        if word in numbers:
            if not words_left or not words_left[0].isdigit():
                raise Failure(f"{word} needs a number")
            numbers[word] = int(words_left.pop(0))
        elif word in kinds:
            shown.add(kinds[word])
        elif word.startswith("-"):
            raise Failure(f"messages does not have the option '{word}'; usage: {MESSAGES_USAGE}")
        else:
            paths.append(str((pathlib.Path.cwd() / word).resolve().relative_to(ROOT)))
    found = list(message_list.messages(ROOT, message_list.recording(), paths or message_list.FOLDERS))
    found = [message for message in found if not shown or message.is_printed in shown]
    if numbers["--random"]:
        found = message_list.sample(found, numbers["--random"], numbers["--seed"])
    say("\n".join(map(str, found)))


def docs_verb(arguments: Sequence[str]) -> None:
    """Write docs/tests.md, docs/ops.md, the diagram in docs/architecture.md, the pictures in docs/pictures, and the references of ops,
    passes and emulated instructions into docs/reference."""
    no_arguments(arguments)
    steps.build()
    with step("Generating docs/reference"):
        run(["ninja", "-C", steps.BUILD, "smalti-docs"], quiet=True)
    coverage.PAGE.write_text(coverage.page(), encoding="utf-8")
    architecture.PAGE.write_text(architecture.page(steps.BUILD), encoding="utf-8")
    op_table.PAGE.write_text(op_table.page(), encoding="utf-8")
    run([steps.PYTHON, pathlib.Path(__file__).with_name("layout_pictures.py")])
    for page in (coverage.PAGE, op_table.PAGE, architecture.PAGE, *sorted((ROOT / "docs" / "reference").glob("*.md"))):
        say(f"    {page.relative_to(ROOT)}")


FUZZERS = {"loops": "loops", "mutants": "mutation", "tiles": "tiles"}


def fuzz_verb(arguments: Sequence[str]) -> None:
    """Random programs against the reference. `fuzz loops`: kernels through the loop passes; `fuzz mutants`: mutants of
    every .mlir file through every pass; `fuzz tiles`: every tile-level operation, element type and kind of shape
    (`--help` of all four). `fuzz grids`: every point of the tests that `test`
    samples, and the tests marked slow (paths and pytest options narrow it down)."""
    steps.build()
    if arguments[:1] == ["grids"]:
        paths, options = split_arguments(arguments[1:])
        run_pytest(["--grids", *options, *paths])
        return
    path = {"PYTHONPATH": str(ROOT / "test" / "python")}
    words = list(arguments)
    if words and not words[0].startswith("-") and words[0] not in FUZZERS:
        raise Failure(f"'{words[0]}' is not a fuzzer; use one of {', '.join([*FUZZERS, 'grids'])}, or only options")
    module = FUZZERS[words.pop(0)] if words and words[0] in FUZZERS else "fuzz"
    run([steps.PYTHON, "-m", module, *words], environment={**steps.environment(), **path})


def bench_verb(arguments: Sequence[str]) -> None:
    """Run the benchmarks: all of them but `build`, or those named (`tools/dev bench compile_time --option=value`)."""
    steps.build()
    # The names precede the options, which may have values of their own.
    first = next((number for number, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    names = [name.removesuffix(".py").replace("-", "_") for name in arguments[:first]]
    options = arguments[first:]
    folder = ROOT / "benchmarks"
    scripts = [folder / f"{pathlib.Path(name).name}.py" for name in names] or sorted(
        {*folder.glob("[!_]*.py")} - {folder / "build.py"}
    )
    for script in scripts:
        if not script.is_file():
            raise Failure(f"{script.relative_to(ROOT)} does not exist")
        with step(script.stem):
            run([steps.PYTHON, script, *options], environment=steps.environment())


def clean_verb(arguments: Sequence[str]) -> None:
    """Remove build/ and what it generated; with `--all` also .venv and .cache."""
    folders = [steps.BUILD, ROOT / "docs" / "reference", ROOT / ".pytest_cache", ROOT / ".ruff_cache"]
    if list(arguments) == ["--all"]:
        folders += [steps.VENV, steps.CACHE]
    else:
        no_arguments(arguments)
    for folder in folders:
        if folder.exists():
            say(f"removing {folder.relative_to(ROOT)}")
            shutil.rmtree(folder)


def help_verb(_: Sequence[str]) -> None:
    """Show this list."""
    say("usage: tools/dev VERB [ARGUMENTS]\n")
    for name, verb in VERBS.items():
        say(f"  {name:10} {' '.join((verb.__doc__ or '').split())}")


VERBS: dict[str, Verb] = {
    "run": run_verb,
    "test": test_verb,
    "build": build_verb,
    "gcc": gcc_verb,
    "format": format_verb,
    "lint": lint_verb,
    "messages": messages_verb,
    "docs": docs_verb,
    "bench": bench_verb,
    "examples": example_list.examples,
    "frameworks": framework_tests.frameworks,
    "fuzz": fuzz_verb,
    "outputs": outputs_verb,
    "clean": clean_verb,
    "help": help_verb,
}


def main(arguments: Sequence[str]) -> int:
    name, *rest = arguments or ["help"]
    if name in ("-h", "--help"):
        name = "help"
    if name not in VERBS:
        print(f"error: '{name}' is not a verb of tools/dev; the verbs are {', '.join(VERBS)}", file=sys.stderr)
        return 2
    try:
        VERBS[name](rest)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
