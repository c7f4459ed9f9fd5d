# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the pipelines of the lit tests in the folders on their programs: what they print must parse, and print the same
again.

    round_trip.py smalti-opt FOLDER...

prints how many programs did, and exits with 1 where one does not.
"""

import pathlib
import re
import subprocess
import sys

from unchanged import RUN

PIPELINE = re.compile(r"smalti-opt %s [^|\n]*--pass-pipeline='([^']*)'")
NAME = re.compile(r"[\w.-]+(?=[(){,]|$)")
CLEANUP = re.compile(r",(canonicalize|cse)(\{[^}]*\})?")

ANCHORS = {"builtin.module", "gpu.module", "func.func", "gpu.func", "llvm.func"}


def pipelines(text: str) -> list[tuple[str, str]]:
    """The RUN lines that run one pass, and the pass; later cleanup passes are omitted."""
    lines = "\n".join(RUN.findall(text)).replace("\\\n", " ")
    found = {}
    for pipeline in PIPELINE.findall(lines):
        pipeline = CLEANUP.sub("", pipeline)
        names = set(NAME.findall(re.sub(r"\{[^}]*\}", "", pipeline))) - ANCHORS
        if len(names) == 1:
            found[pipeline] = names.pop()
    return list(found.items())


def opt(tool: str, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [tool, "-", "--mlir-print-local-scope", "--mlir-disable-threading", *options]
    return subprocess.run(command, input=program, capture_output=True, text=True)


def main(tool: str, *folders: str) -> int:
    count = 0
    for path in sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.mlir")):
        text = path.read_text()
        # One pipeline of each pass: the others differ in their options alone.
        for name, pipeline in {name: pipeline for pipeline, name in reversed(pipelines(text))}.items():
            once = opt(tool, text, "-split-input-file", f"--pass-pipeline={pipeline}")
            if once.returncode != 0:
                continue
            again = opt(tool, once.stdout, "-split-input-file")
            if again.stdout != once.stdout:
                print(f"{path}: what {name} prints does not parse to the same: {again.stderr[:400]}")
                return 1
            count += 1
    print(f"{count} outputs parse to what was printed")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
