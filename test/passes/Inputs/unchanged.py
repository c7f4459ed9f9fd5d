# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of the passes of the lit tests on their programs, with a check of unchanged functions.

A function without a remark of a change must be byte for byte unchanged, and so must the whole program of a failed pass.

    unchanged.py test/passes smalti-opt THEME...

prints for each pass the number of unchanged functions, and exits with 1 if one of them has changed.
"""

import collections
import pathlib
import re
import subprocess
import sys

RUN = re.compile(r"^// RUN: (.*)$", re.M)
PIPELINE = re.compile(r"smalti-opt %s [^|\n]*--pass-pipeline='([^']*)'")
NAME = re.compile(r"[\w.-]+(?=[(){,]|$)")
CLEANUP = re.compile(r",(canonicalize|cse)(\{[^}]*\})?")
FUNCTION = re.compile(r"^( *)(?:func\.func|gpu\.func|llvm\.func) .*?@(\w+)")
APPLIED = re.compile(r"remark: \[Passed\].* Function=([\w.$-]*) \|")
DUMP = re.compile(r"^// -----// IR Dump After .* Failed .*$\n", re.M)

ANCHORS = {"builtin.module", "gpu.module", "func.func", "gpu.func", "llvm.func"}
# Passes, and a pipeline, that change programs and do not say so.
SILENT = {"smalti-allocate-shared-memory", "smalti-compile"}


def pipelines(text: str) -> list[tuple[str, str]]:
    """The RUN lines that run one pass, and the pass; later cleanup passes are omitted."""
    lines = "\n".join(RUN.findall(text)).replace("\\\n", " ")
    found = {}
    for pipeline in PIPELINE.findall(lines):
        pipeline = CLEANUP.sub("", pipeline)
        names = set(NAME.findall(re.sub(r"\{[^}]*\}", "", pipeline))) - ANCHORS
        if len(names) == 1 and not names & SILENT:
            found[pipeline] = names.pop()
    return list(found.items())


def opt(tool: str, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [tool, "-", "--mlir-print-local-scope", "--mlir-disable-threading", *options]
    return subprocess.run(command, input=program, capture_output=True, text=True)


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


def check(tool: str, program: str, pipeline: str, name: str) -> tuple[int, list[str]]:
    """The number of functions that the pass did not change, and the changed ones."""
    parts = re.split(r"^// -----.*$", program, flags=re.M)
    split = ["--split-input-file"] if len(parts) > 1 else []
    before = opt(tool, program, *split)
    if before.returncode != 0 and not split:
        return 0, []  # an invalid program
    run = opt(
        tool,
        program,
        *split,
        f"--pass-pipeline={pipeline}",
        f"--remarks-filter={name}",
        "--mlir-print-ir-after-failure",
        "--mlir-print-ir-module-scope",
    )
    if split and (before.returncode != 0 or run.returncode != 0):
        results = [check(tool, part, pipeline, name) for part in parts]
        return sum(count for count, _ in results), [function for _, changed in results for function in changed]
    after = run.stdout
    if run.returncode != 0:
        dumps = DUMP.split(run.stderr)
        if len(dumps) != 2:
            return 0, []  # the pass did not run
        after = dumps[1]
    applied = set(APPLIED.findall(run.stderr))
    alone = []
    for old, new in zip(before.stdout.split("// -----"), after.split("// -----"), strict=True):
        texts = functions(new)
        alone += [(function, text == texts.get(function)) for function, text in functions(old).items()]
    alone = [(function, is_same) for function, is_same in alone if function not in applied]
    return len(alone), [function for function, is_same in alone if not is_same]


def main() -> int:
    folder, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    counts: collections.Counter[str] = collections.Counter()
    wrong = []
    for path in sorted(path for theme in sys.argv[3:] for path in (folder / theme).rglob("*.mlir")):
        program = path.read_text()
        for pipeline, name in pipelines(program):
            count, changed = check(tool, program, pipeline, name)
            counts[name] += count
            wrong += [f"{path.name}: {pipeline} changed @{function}" for function in changed]
    for name, count in sorted(counts.items()):
        print(f"{name} left {count} functions alone")
    for what in wrong:
        print(f"error: {what}, and does not say so")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
