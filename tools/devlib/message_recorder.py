# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recording of the messages that users see during the tests (`tools/dev messages --record`, messages.py).

It runs instead of smalti-opt and smalti in lit tests (`message_recorder.py TOOL ARGUMENTS`), and as a plugin of pytest, where it
records errors, findings, remarks and the output of commands. Each process writes a file of its own into the folder of the
recording. Standard library only, since it runs before any package is on the path.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
import recorder

COMMAND = (*recorder.COMMAND[:-1], str(Path(__file__).resolve()))
"""Runs a tool and records its messages."""
MOST_CHARACTERS = 4000
"""The part of one output that is recorded, if the output does not consist of diagnostics."""

_FOLDER = re.compile(r"(?<![\w.])/(?:[\w.+@-]+/)+(?=[\w.@<-])")
START = re.compile(r"(?:\S+: )?(?:fatal error|error|warning|remark): |Error: |Usage: |Traceback ")
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")
_PASS = re.compile(r" {6}--([\w-]+)")
_NOT_PRODUCED = re.compile(r'[^\n]* error: expected \w+ ".*" was not produced')
"""The errors of MLIR about `expected-error` comments in a file that it only parses."""

_seen: set[str] = set()
_of_test: list[str] = []
"""The texts of the current test."""


def key(text: str) -> str:
    """The text without its numbers: of messages that differ only there, one is kept."""
    return _NUMBERS.sub("0", text)


def shown(text: str) -> str:
    """The text without folders of this machine, colors and progress."""
    text = re.sub(r"\x1b\[[\d;]*m|[^\n]*\r(?!\n)", "", text)
    return _FOLDER.sub("", text.replace(str(recorder.ROOT) + "/", "")).strip("\n")


def blocks(text: str) -> Iterator[str]:
    """The diagnostics of an output, each with its notes and without dumps of the IR; other text is one block."""
    block: list[str] = []
    is_dump = False
    for line in [*text.splitlines(), None]:
        if line is None or START.match(line):
            if any(map(str.strip, block)):
                yield "\n".join(block)[:MOST_CHARACTERS]
            block, is_dump = [], False
        is_dump = is_dump or line is None or line.startswith("// -----// IR Dump")
        if line is not None and not is_dump:
            block.append(line)


def record(texts: Iterable[str]) -> None:
    folder = os.environ.get(recorder.VARIABLE)
    new = []
    for text in map(shown, texts):
        _of_test.append(text)
        if text.strip() and not _NOT_PRODUCED.match(text) and (mark := key(text)) not in _seen:
            _seen.add(mark)
            new.append(json.dumps(text) + "\n")
    if folder and new:
        with (Path(folder) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(new)


def run_tool(tool: str, arguments: list[str]) -> int:
    """Runs a tool as if it had been called itself; where a test checks diagnostics in the tool, again so that they are printed."""
    path = recorder.find_tool(tool)
    given = None if any(Path(word).is_file() for word in arguments) else sys.stdin.buffer.read()
    result = subprocess.run([path, *arguments], input=given, capture_output=True, check=False)
    outputs = [result.stderr]
    visible = [word for word in arguments if not word.startswith(("--verify-diagnostics", "-verify-diagnostics"))]
    if visible != arguments:
        outputs.append(subprocess.run([path, *visible], input=given, capture_output=True, check=False).stderr)
    elif Path(tool).name == "smalti":
        outputs.append(result.stdout)
    record(block for output in outputs for block in blocks(output.decode(errors="replace")))
    return recorder.replay(result)


def helps() -> Iterator[str]:
    """The help texts: those of passes and their options line by line."""
    tools = recorder.ROOT / ".venv" / "bin"

    def output(*words: str) -> str:
        return subprocess.run([str(tools / words[0]), *words[1:]], capture_output=True, text=True, check=False).stdout

    summary = output("smalti", "--help")
    yield summary
    for command in re.findall(r"^ {2}(\w[\w-]+) ", summary.partition("Commands:")[2], re.MULTILINE):
        yield from re.split(r"\n(?=  -)", output("smalti", command, "--help"))
    above: list[str] = []
    for line in re.sub(r"(?<=\S) {3,}", "  ", output("smalti-opt", "--help")).splitlines():
        if found := _PASS.match(line):
            above = [line] if re.match("smalti|mosaic-gpu|convert-(?:mosaic|triton)", found[1]) else []
            yield from above
        elif above:
            is_value = line.lstrip().startswith("=")
            yield "\n".join([*above, line] if is_value else [above[0], line])
            above = above if is_value else [above[0], line]
    yield from map(str.strip, re.split(r"\n(?=  \w)", output("python", str(recorder.ROOT / "tools" / "dev"), "help")))


def merged(folder: Path) -> list[str]:
    """The recorded texts in a fixed order; a text that is the first part of another one is not kept."""
    found: dict[str, str] = {}
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = json.loads(line)
            mark = key(text)
            found[mark] = min(text, found.get(mark, text))
    marks = sorted(found)
    kept = [mark for mark, after in itertools.pairwise([*marks, ""]) if not after.startswith(mark + "\n")]
    return sorted(found[mark] for mark in kept)


# The plugin of pytest.


def _after(owner: Any, name: str, texts: Callable[..., Iterable[str]]) -> None:
    """Records `texts` of the result and the arguments of each call of a function."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        record(texts(result, *arguments))
        return result

    setattr(owner, name, wrapper)


def _outputs(*texts: str | bytes | None) -> Iterator[str]:
    for text in filter(None, texts):
        yield from blocks(text if isinstance(text, str) else text.decode(errors="replace"))


_OF_MESSAGES = re.compile(r"raises|match=|message|finding|find\(|stderr|stdout|output|remark|warn|hint|said|report")
"""Words in the code of tests of messages."""
_MOST_POINTS = 3


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keeps a few points of each parametrized test that is not a test of messages; all others would take an hour."""
    count: dict[str, int] = {}
    kept = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        count[name] = count.get(name, 0) + 1
        if count[name] <= _MOST_POINTS or _OF_MESSAGES.search(inspect.getsource(item.function)):
            kept.append(item)
    items[:] = kept


_pending: dict[int, Any] = {}
"""The findings of a test that are not part of another one."""


def _add_finding(finding: Any) -> None:
    _pending[id(finding)] = finding
    for other in finding.others:
        _pending.pop(id(other), None)


def pytest_runtest_teardown() -> None:
    found = {str(finding): finding.message for finding in _pending.values()}
    notes = [*_of_test, *(text.partition("\n")[2] for text in found)]
    record([text for text, message in found.items() if not any(message in note for note in notes)])
    _pending.clear()
    _of_test.clear()


def pytest_configure() -> None:
    import _pytest.capture
    import _pytest.raises
    import click.testing
    from smalti import errors, remarks
    from smalti.emulator import findings
    from smalti.sim.machine import findings as sim_findings

    _after(subprocess, "run", lambda done, *_: _outputs(done.stderr, done.stdout))
    _after(click.testing.CliRunner, "invoke", lambda done, *_: _outputs(done.output))
    _after(_pytest.capture.CaptureFixture, "readouterr", lambda captured, *_: _outputs(captured.err, captured.out))
    _after(_pytest.raises.RaisesExc, "__exit__", lambda _, __, kind, error, *___: [str(error)] if error else [])
    _after(errors.SmaltiError, "__init__", lambda _, error, *__: [str(error)])
    _after(remarks.Remark, "__init__", lambda _, remark, *__: [str(remark)])
    _after(warnings, "warn", lambda _, message, *__: [str(message)])
    for kind in (findings.Finding, sim_findings.Finding):
        _after(kind, "__init__", lambda _, finding, *__: _add_finding(finding) or [])


if __name__ == "__main__":
    sys.exit(run_tool(sys.argv[1], sys.argv[2:]))
