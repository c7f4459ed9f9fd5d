# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of the passes of the lit tests on their programs, with a check of unchanged programs.

A failed pass must leave the module byte for byte unchanged. A pass that reports its changes must do so for each function
without a remark of a change.

    unchanged.py test smalti-opt FOLDER...

prints for each pass the number of failures, and of functions without a remark, and exits with 1 if one of them has changed.
"""

import collections
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

RUN = re.compile(r"^// RUN: (.*)$", re.M)
PASS = re.compile(r"--?(?:pass-pipeline|smalti-|convert-|mosaic-gpu-)")
# Replaced by options of this script, or without a meaning in it.
DROPPED = re.compile(r"--?(?:verify-diagnostics|mlir-print-ir|remarks|dump-pass-pipeline)")
DUMP = re.compile(r"^// -----// IR Dump (Before|After) \S+( Failed)?(?: \(([\w-]+)\))?.* //----- //$", re.M)
END = re.compile(r"^\}$", re.M)
FUNCTION = re.compile(r"^( *)(?:func\.func|gpu\.func|llvm\.func|triton_xla\.entry_func) .*?@(\w+)")
APPLIED = re.compile(r"remark: \[Passed\].* Function=([\w.$-]*) \|")
# How smalti-pipeline-loops records a kernel with one stage.
RECORD = re.compile(r"smalti\.pipelined_stages = 1 : i64,? ?")

# Passes with a remark for each changed function.
REPORTING = {
    "smalti-annotate-lds-dma",
    "smalti-async-wgmma",
    "smalti-check-resources",
    "smalti-conv-filter-layout",
    "smalti-guard-folds",
    "smalti-hold-loads",
    "smalti-lower-pad",
    "smalti-mask-transfers",
    "smalti-multi-buffer",
    "smalti-order-tiles",
    "smalti-overlap-lds-dma",
    "smalti-pad-shared-memory",
    "smalti-pad-to-intrinsics",
    "smalti-pipeline-loops",
    "smalti-place-barriers",
    "smalti-share-reciprocals",
    "smalti-specialize-warps",
    "smalti-split-address-offsets",
    "smalti-swizzle-shared-memory",
}


def commands(path: pathlib.Path) -> set[tuple[str, ...]]:
    """The arguments of smalti-opt in the RUN lines that run passes on the file."""
    found = set()
    for line in "\n".join(RUN.findall(path.read_text())).replace("\\\n", " ").split("\n"):
        words = iter(shlex.split(line.removeprefix("not "), posix=True))
        if next(words) != "smalti-opt":
            continue
        arguments: list[str] = []
        for word in words:
            if re.match(r"\||\d?[<>]", word):
                break
            if word == "-o":
                next(words)
            elif not DROPPED.match(word):
                arguments.append(word.replace("%s", str(path)))
        if str(path) in arguments and any(PASS.match(word) for word in arguments):
            found.add(tuple(arguments))
    return found


def functions(module: str) -> dict[str, str]:
    """The text of each function of a printed module."""
    found, lines = {}, iter(module.splitlines())
    for line in lines:
        if not (start := FUNCTION.match(line)):
            continue
        body = [line]
        while line.endswith("{") and body[-1] != start[1] + "}":
            body.append(next(lines))
        found[start[2]] = "\n".join(body)
    return found


def runs(tool: str, arguments: tuple[str, ...]) -> Iterator[tuple[str, bool, str, str, set[str]]]:
    """The runs of passes: the name, whether it failed, the module before and after, and the functions that a remark names."""
    options = [
        "-o",
        "/dev/null",
        "--mlir-disable-threading",
        "--mlir-print-local-scope",
        "--mlir-print-ir-module-scope",
    ]
    is_long = any("smalti-compile" in word for word in arguments)
    options += [
        "--mlir-print-ir-before-all",
        f"--mlir-print-ir-after-{'failure' if is_long else 'all'}",
        "--remarks-filter=.*",
    ]
    text = subprocess.run([tool, *arguments, *options], capture_output=True, text=True).stderr
    parts = DUMP.split(text)[1:]
    before = None
    for time, failed, name, rest in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True):
        end = END.search(rest)
        module = RECORD.sub("", rest[: end.end()] if end else rest)
        if time == "After" and before is not None and before[0] == name:
            yield name, bool(failed), before[1], module, before[2]
        before = (name, module, set(APPLIED.findall(rest))) if time == "Before" else None


def main() -> int:
    folder, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    failures: collections.Counter[str] = collections.Counter()
    alone: collections.Counter[str] = collections.Counter()
    wrong = []
    for path in sorted(path for theme in sys.argv[3:] for path in (folder / theme).rglob("*.mlir")):
        for arguments in sorted(commands(path)):
            for name, failed, before, after, applied in runs(tool, arguments):
                if failed:
                    failures[name] += 1
                    wrong += [f"{path.name}: {name} fails after a change"] if before != after else []
                elif name in REPORTING:
                    old, new = functions(before), functions(after)
                    unnamed = old.keys() - applied
                    alone[name] += len(unnamed)
                    changed = [function for function in unnamed if old[function] != new.get(function)]
                    wrong += [f"{path.name}: {name} changes @{function}, and does not say so" for function in changed]
    for name, count in sorted(failures.items()):
        print(f"{name} failed {count} times")
    for name, count in sorted(alone.items()):
        print(f"{name} left {count} functions alone")
    for what in wrong:
        print(f"error: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
