# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples of docs/passes/*.md.

An example is a ```mlir block, a ```sh block with one command on `example.mlir`, and what must come out of it: a ```mlir
block is the whole output, each line of a ```text block is a part of what is printed on the way. A command fails where a
line of a ```text block has an error.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def normalized(opt: str, text: str) -> str:
    """As smalti-opt prints it, so that names of values and blanks do not count."""
    return subprocess.run([opt, "-"], input=text, capture_output=True, text=True, check=True).stdout


def check(page: Path, source: str, command: str, results: list[tuple[str, str]], opt: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "example.mlir").write_text(source)
        arguments = shlex.split(command.replace("\\\n", " "))
        assert arguments[0] == "smalti-opt", command
        done = subprocess.run([opt, *arguments[1:]], cwd=folder, capture_output=True, text=True, check=False)
    fails = any("error: " in expected for kind, expected in results if kind == "text")
    assert (done.returncode != 0) == fails, f"{page}: {command}\n{done.stderr}"
    assert results, f"{page}: nothing is said about what {command} does"
    for kind, expected in results:
        if kind == "mlir":
            assert normalized(opt, done.stdout) == normalized(opt, expected), f"{page}: {command} prints\n{done.stdout}"
            continue
        for line in expected.splitlines():
            assert line in done.stderr, f"{page}: {command} does not say {line!r} but\n{done.stderr}"


def main(folder: str, opt: str) -> None:
    pages = sorted(Path(folder).glob("*.md"))
    count = 0
    for page in pages:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        commands = [i for i, (kind, _) in enumerate(blocks) if kind == "sh"]
        assert commands, f"{page} has no example"
        for i, end in zip(commands, [*commands[1:], len(blocks)], strict=True):
            assert i > 0 and blocks[i - 1][0] == "mlir", f"{page}: a command without a program before it"
            results = blocks[i + 1 : end]
            if end < len(blocks):
                results = results[:-1]
            check(page, blocks[i - 1][1], blocks[i][1], results, opt)
            count += 1
    print(f"{count} examples hold")


if __name__ == "__main__":
    main(*sys.argv[1:])
