# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tools/dev outputs`: recordings of what the tests make the compiler produce, and their comparison."""

from __future__ import annotations

import contextlib
import difflib
import os
import pathlib
import shlex
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence

from . import recorder, steps
from .shell import Failure, capture, say

SHOWN, LINES = 20, 12
"""How many outputs of a kind `compare` lists, and how many lines of each difference."""


@contextlib.contextmanager
def stand_ins(folder: pathlib.Path, command: Sequence[str], names: Sequence[str]) -> Iterator[None]:
    """Inside, lit tests run `command NAME ARGUMENTS` instead of the tools with these names, to record into `folder`."""
    tools = folder / recorder.TOOLS
    tools.mkdir(parents=True)
    for tool in names:
        (tools / tool).write_text(f'#!/bin/sh\nexec {shlex.join((*command, tool))} "$@"\n')
        (tools / tool).chmod(0o755)
    previous = os.environ.get(recorder.VARIABLE)
    os.environ[recorder.VARIABLE] = str(folder)
    try:
        yield
    finally:
        shutil.rmtree(tools)
        del os.environ[recorder.VARIABLE]
        if previous is not None:
            os.environ[recorder.VARIABLE] = previous


@contextlib.contextmanager
def recording(folder: pathlib.Path) -> Iterator[None]:
    """Inside, the tests' interpreters and tools record into `folder`."""
    if folder.exists() and any(folder.iterdir()):
        raise Failure(f"the folder '{folder}' is not empty; name a new or an empty folder for the recording")
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(recorder.connect(folder)) as connection:
        connection.executescript(recorder.SCHEMA)
    packages = capture([steps.PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    startup = pathlib.Path(packages) / f"smalti_record_outputs_{os.getpid()}.pth"
    devlib = str(pathlib.Path(recorder.__file__).parent)
    startup.write_text(
        f"import os, sys; os.environ.get({recorder.VARIABLE!r}) and "
        f"(sys.path.append({devlib!r}), __import__('recorder').install(), sys.path.pop())\n"
    )
    try:
        with stand_ins(folder, recorder.COMMAND, ("smalti-opt", "mlir-opt")):
            yield
    finally:
        startup.unlink()


class Recording:
    def __init__(self, folder: pathlib.Path) -> None:
        if not (folder / recorder.DATABASE).is_file():
            raise Failure(f"{folder} has no {recorder.DATABASE}: it is not a recording of `tools/dev outputs record`")
        self.connection = sqlite3.connect(folder / recorder.DATABASE)
        self.outputs: dict[tuple[str, str], set[str]] = {}
        self.about: dict[str, tuple[str, str]] = {}
        rows = self.connection.execute("select key, name, digest, label, test from outputs where name != 'input'")
        for key, name, digest, label, test in rows:
            self.outputs.setdefault((key, name), set()).add(digest)
            self.about[key] = (label, test)

    def lines(self, output: tuple[str, str]) -> list[str]:
        """The text of an output; the same input may have given several."""
        find = "select data from texts where digest = ?"
        data = (self.connection.execute(find, (digest,)).fetchone()[0] for digest in sorted(self.outputs[output]))
        return [line for text in data for line in zlib.decompress(text).decode(errors="replace").splitlines()]

    def describe(self, output: tuple[str, str]) -> str:
        label, test = self.about[output[0]]
        shortened = label if len(label) <= 200 else f"{label[:200]}..."
        return f"{output[1]} of {shortened}" + (f"\n    in {test}" if test else "")


def compare(old: pathlib.Path, new: pathlib.Path, *, list_all: bool = False) -> None:
    """Lists the outputs that differ, are missing in `new`, or are only in `new`. Fails if one differs or is missing."""
    before, after = Recording(old), Recording(new)
    if not before.outputs:
        raise Failure(f"{old} has no outputs: nothing can be compared")
    common = before.outputs.keys() & after.outputs.keys()
    differing = {output for output in common if before.outputs[output] != after.outputs[output]}
    missing, added = before.outputs.keys() - common, after.outputs.keys() - common

    def show(title: str, side: Recording, outputs: set[tuple[str, str]], detail: Callable[..., list[str]]) -> None:
        ordered = sorted(outputs, key=lambda output: (side.describe(output), output))
        shown = ordered if list_all else ordered[:SHOWN]
        for output in shown:
            say(f"{title}: {side.describe(output)}")
            for line in detail(output):
                say(f"    {line}")
        if len(shown) < len(ordered):
            say(f"... and {len(ordered) - len(shown)} more that are {title} (--all lists them)")

    def difference(output: tuple[str, str]) -> list[str]:
        lines = list(difflib.unified_diff(before.lines(output), after.lines(output), lineterm="", n=1))[2:]
        return (
            lines if list_all or len(lines) <= LINES else [*lines[:LINES], f"... and {len(lines) - LINES} more lines"]
        )

    show("differing", before, differing, difference)
    show("missing", before, missing, lambda _: [])
    show("new", after, added, lambda _: [])
    counts = f"{len(differing)} differing, {len(missing)} missing, {len(added)} new"
    say(f"{len(common) - len(differing)} equal, {counts}")
    if differing or missing:
        raise Failure(f"the outputs in {new} differ from those in {old}: {counts}")
