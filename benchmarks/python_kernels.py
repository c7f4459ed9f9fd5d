# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/python compared with the same ones in Triton and cuTile: lines of code, and seconds to compile.

- lines: of the kernel with its decorator, and of the functions, classes and values in its file that it uses. Blank lines,
  comments and docstrings do not count. All files have the same formatter. Ours have the number of tiles in the decorator; in the
  other languages it is at the launch, and does not count.
- tokens: those of these lines, which do not depend on line breaks
- cold: a new process that starts Python, imports the language, compiles one kernel for sm_90a, and ends
- warm: the compilation in a process that compiled the kernel before, from the Python function to the cubin. The imports and the
  definition of the function are not included

Each process defines one kernel alone, with what it uses. Both are CPU seconds of the process and those that it starts, such as the
assembler, and elapsed seconds. Other load of the machine has less effect on CPU seconds. CPU seconds of a warm compilation are
multiples of 0.01. No language uses a cache. The three take turns, and a ratio is the median
of the ratios of the turns. The kernels of the peers are
in `_python_kernels_triton.py` and `_python_kernels_cutile.py`. Install the peers, which need no GPU:

    python3 -m venv .cache/peers
    .cache/peers/bin/pip install -r benchmarks/requirements-peers.txt

Without them, only the lines and our seconds are measured. Prints a table and writes JSON with the versions and the machine to
`--json`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tokenize
from pathlib import Path
from typing import Any

import _python_kernels_cases as cases
import _record
from _record import Times
from isa import PEERS
from rich.table import Table

HERE = Path(__file__).resolve().parent
KINDS = ("warm", "cold")
NO_CACHES = {"SMALTI_CACHE": "0", "TRITON_ALWAYS_COMPILE": "1", "CUDA_TILE_CACHE_DIR": "off"}
_LAYOUT = {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def size_of_code(source: str, name: str) -> dict[str, int]:
    """The lines and tokens of a function and of what it uses in its file."""
    lines = set[int]()
    for node in cases.used_definitions(source, name).values():
        lines |= cases.lines_of(node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            lines -= cases.lines_of(node.body[0])
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _LAYOUT and token.start[0] in lines
    ]
    return {"lines": len({token.start[0] for token in tokens}), "tokens": len(tokens)}


def cpu_seconds_of_tree(root: int) -> float:
    """The CPU seconds of a process, of its descendants that run, and of those that ended."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            ticks[int(path.parent.name)] = sum(map(int, fields[11:15]))
    tree = {root}
    while more := {child for child, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(ticks[process] for process in tree) / os.sysconf("SC_CLK_TCK")


class Language:
    """A language, and its processes."""

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        self.file = None if name == "smalti" else HERE / f"_python_kernels_{name}.py"
        self._command = [str(python), str(HERE / "_python_kernels_cases.py"), name]
        self._environment = _record.triton_environment() | NO_CACHES
        self._process: subprocess.Popen[str] | None = None
        self.version: str | None = None

    def size(self, kernel: str) -> dict[str, int]:
        return size_of_code((self.file or cases.example(kernel)).read_text(), kernel)

    def _ask(self, line: str) -> str:
        assert self._process and self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def warm(self, kernel: str) -> Times | str:
        """The seconds to compile a kernel in the process of this language, or the error."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self._environment,
            )
        loaded = self._ask(kernel)
        assert loaded == "loaded\n", loaded
        before = cpu_seconds_of_tree(self._process.pid)
        answer = json.loads(self._ask(""))
        cpu = cpu_seconds_of_tree(self._process.pid) - before
        self.version = answer["version"]
        return answer["error"] if "error" in answer else Times(cpu, answer["seconds"])

    def cold(self, kernel: str) -> Times:
        times, output = _record.run_process([*self._command, kernel], self._environment)
        assert "seconds" in json.loads(output), output
        return times

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()


def measure(languages: list[Language], kernel: str, repeat: int) -> dict[str, dict[str, Any]]:
    """The sizes of a kernel, and the seconds of its compilations in turns."""
    found: dict[str, dict[str, Any]] = {language.name: language.size(kernel) for language in languages}
    able: list[Language] = []
    for language in languages:
        if isinstance(first := language.warm(kernel), str):
            found[language.name]["error"] = first
        else:
            language.cold(kernel)
            able.append(language)
    for kind in KINDS:
        turns: list[dict[str, Times]] = [
            {language.name: getattr(language, kind)(kernel) for language in able} for _ in range(repeat)
        ]
        for name in (language.name for language in able):
            for suffix, field in (("", "cpu"), ("_elapsed", "elapsed")):
                seconds = [getattr(turn[name], field) for turn in turns]
                ratios = [getattr(turn[name], field) / getattr(turn["smalti"], field) for turn in turns]
                found[name][f"{kind}{suffix}"] = round(statistics.median(seconds), 3)
                found[name][f"{kind}{suffix}_ratio"] = round(statistics.median(ratios), 3)
    return found


def cell(result: dict[str, Any], key: str) -> str:
    return f"{result[key]:.2f}" if key in result else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="*", help=f"(default: all: {', '.join(cases.CASES)})")
    parser.add_argument(
        "--peers", type=Path, default=PEERS, help="the Python with Triton and cuTile (default: .cache/peers)"
    )
    parser.add_argument("--repeat", type=int, default=5)
    _record.add_option(parser, "python_kernels")
    options = parser.parse_args()
    ours = Path(sys.executable)
    peers = [Language(name, options.peers) for name in ("triton", "cutile")] if options.peers.exists() else []
    languages = [Language("smalti", ours), *peers]
    load = os.getloadavg()
    results: dict[str, dict[str, dict[str, Any]]] = {}
    table = Table(
        title=f"{cases.CHIP}: lines, tokens, and CPU and elapsed seconds to compile, median of {options.repeat}"
    )
    measured = [f"{kind}{suffix}" for kind in KINDS for suffix in ("", "_elapsed")]
    names = [name for key in measured for name in (key.replace("_", ", "), "ratio")]
    for column in ("kernel", "language", "lines", "tokens", *names):
        table.add_column(column, justify="left" if column in ("kernel", "language") else "right")
    for kernel in options.kernel or cases.CASES:
        print(f"{kernel} ...", file=sys.stderr)
        results[kernel] = measure(languages, kernel, options.repeat)
        for name, one in results[kernel].items():
            times = [cell(one, name) for key in measured for name in (key, f"{key}_ratio")]
            table.add_row(kernel, name, str(one["lines"]), str(one["tokens"]), *times)
    for language in languages:
        language.close()
    record = {
        "what": "kernels of examples/python in three languages: lines, tokens, and seconds to compile",
        "chip": cases.CHIP,
        "repeat": options.repeat,
        "versions": _record.versions() | {one.name: one.version for one in languages},
        "machine": _record.machine() | {"load_before": load[0], "load_after": os.getloadavg()[0]},
        "results": results,
    }
    _record.write(record, options.json, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
