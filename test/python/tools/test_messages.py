# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/dev messages: texts of the sources, recorded texts, and which of them belong together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

from devlib import message_recorder, messages, outputs


def texts_in(name: str, source: str) -> list[str]:
    return [template.text for template in messages.templates_of(name, source)]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.cpp",
            'op.emitError() << "a stride of " << stride << " B; it "\n "must be " << least;',
            ["a stride of {stride} B; it must be {least}"],
        ),
        ("a.cpp", 'f(n == 1 ? "one copy here" : "some copies here");', ["one copy here", "some copies here"]),
        (
            "a.cpp",
            'return "no wait covers " + std::to_string(n) + " copies";',
            ["no wait covers {std::to_string(n)} copies"],
        ),
        ("a.cpp", 'return quote(op) + " uses the buffer";', ["'{op}' uses the buffer"]),
        ("a.cpp", 'refuse("the call is indirect", op, "it is here now");', ["the call is indirect", "it is here now"]),
        ("a.cpp", 'f(a ? "one load" : b ? "one store" : "one wait");', ["one load", "one store", "one wait"]),
        (
            "a.cpp",
            'return llvm::formatv("{1} slots need {0} B of memory", get(a, b), n).str();',
            ["{1} slots need {0} B of memory"],
        ),
        ("a.cpp", '#include "a/b.h"\n// "not a message"\nf("name");', []),
        (
            "aPasses.td",
            'Option<"n", "n", "int", "0", "How many "\n "slots there are">\nlet summary = "Moves ops";',
            ["How many slots there are", "Moves ops"],
        ),
        ("a.py", 'raise E(f"{name} has " + f"{a + b} B of memory")', ["{name} has {a + b} B of memory"]),
        (
            "a.py",
            'raise Misuse(f"{x} is not a tile", "use a smaller tile")',
            ["{x} is not a tile", "use a smaller tile"],
        ),
        ("a.py", '"""Not a message."""\nre.compile("not a message")\nrun("name")', []),
    ],
)
def test_texts_of_the_sources(name: str, source: str, expected: list[str]) -> None:
    assert texts_in(name, source) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("op.getAccumulator().getType()", "accumulator type"),
        ("std::to_string(plan.slotBytes)", "slot bytes"),
        ("indices.size()", "number of indices"),
        ("kMaxElements", "max elements"),
        ("len(self.blocks) - 1", "number of blocks"),
        ("', '.join(sorted(names))", "names"),
        ("getStride(op, dim)", "stride"),
        ("0", "value"),
    ],
)
def test_names_of_values(expression: str, expected: str) -> None:
    assert messages.in_words(expression) == expected


OUTPUT = """\
/tmp/pytest-of-x/a.mlir:3:5: error: 'a.b' op cannot be lowered
  a.b
  ^
/tmp/pytest-of-x/a.mlir:1:1: note: it is used here
// -----// IR Dump After P Failed //----- //
module {}
a.mlir:9:9: remark: [passed] p: 2 copies
"""


def test_diagnostics_of_an_output() -> None:
    first, second = map(message_recorder.shown, message_recorder.blocks(OUTPUT))
    assert first.splitlines() == [
        "a.mlir:3:5: error: 'a.b' op cannot be lowered",
        "  a.b",
        "  ^",
        "a.mlir:1:1: note: it is used here",
    ]
    assert second == "a.mlir:9:9: remark: [passed] p: 2 copies"


def test_texts_are_recorded_once_and_in_order(tmp_path: Path) -> None:
    texts = ["b\nnote", "b", "a 2", "a 10", "c"]
    for number, part in enumerate((texts, texts[::-1])):
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(text) + "\n" for text in part))
    assert message_recorder.merged(tmp_path) == ["a 10", "b\nnote", "c"]


def test_diagnostics_that_a_test_expects_are_recorded(tmp_path: Path) -> None:
    source = tmp_path / "a.mlir"
    source.write_text(
        "// expected-error@+1 {{must be a ranked memref}}\n"
        "triton_xla.entry_func @f(%x: memref<*xf32>, %tile: index) tiles 1 {\n  triton_xla.return\n}\n"
    )
    with outputs.stand_ins(tmp_path / "recorded", message_recorder.COMMAND, ("smalti-opt",)):
        path = os.pathsep.join([str(tmp_path / "recorded" / "bin"), str(BUILD / "bin"), os.environ["PATH"]])
        command = [tmp_path / "recorded" / "bin" / "smalti-opt", source, "--verify-diagnostics"]
        subprocess.run(command, env={**os.environ, "PATH": path}, check=True)
    (text,) = message_recorder.merged(tmp_path / "recorded")
    assert text.startswith(
        "a.mlir:2:1: error: 'triton_xla.entry_func' op argument #0 must be a ranked memref or a scalar"
    )


def template(text: str, line: int = 1) -> messages.Template:
    return messages.Template("a.cpp", line, "emitError", text)


def test_texts_of_the_sources_and_printed_texts_that_belong_together() -> None:
    frame = template("loop not pipelined: {reason}")
    reason = template("the loop has {n} copies; at least {least} are required")
    general = template("the loop has {n} copies")
    missing = template("the loop does not have a wait for {copy}")
    printed = messages.Printed(
        [
            "a.mlir:1:1: error: loop not pipelined: the loop has 1 copies; at least\n2 are required",
            "loop not pipelined: none",
            "the loop has 3 copies",
        ]
    )
    found = messages.matched([frame, reason, general, missing], printed)
    # The general text is not that of the first message, whose words belong to the longer one.
    assert found == {frame: 0, reason: 0, general: 2}


def test_messages_with_and_without_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [template("the buffer is {size} B too large", 3), template("the slot has {slots.size()} bytes", 5)]
    monkeypatch.setattr(messages, "templates", lambda _: found)
    text = "a.mlir:3:4: error: the buffer is 3 B too large\n  code\na.mlir:1:1: note: it is here"
    assert [str(message) for message in messages.messages(ROOT, [text])] == []
    assert [str(message) for message in messages.messages(ROOT, [text], ["a.cpp"])] == [
        "a.cpp:3\n    a.mlir:3:4: error: the buffer is 3 B too large\n      code\n    a.mlir:1:1: note: it is here",
        "a.cpp:5: no test prints this message\n    the slot has {number of slots} bytes",
    ]


def test_sample_of_messages() -> None:
    found = [messages.Message((f"a.py:{line}",), "text", True) for line in range(100)]
    first = messages.sample(found, 40, 7)
    assert len(first) == 40 and first == messages.sample(found, 40, 7) != messages.sample(found, 40, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--random", "few"), "--random needs a number"),
        (("--bogus",), "messages does not have the option '--bogus'"),
        (("--record", "--bogus"), "usage: tools/dev messages"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], message: str) -> None:
    command = [sys.executable, ROOT / "tools" / "dev", "messages", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and message in done.stderr


@pytest.mark.parametrize("has_report", [True, False])
def test_the_recording_counts_failed_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_report: bool) -> None:
    (tmp_path / "test_outcomes.py").write_text(
        "def test_passes(): pass\ndef test_fails(): assert False\ndef test_error(nothing): pass\n"
    )
    run = subprocess.run

    def plain(command: list[object], **options: Any) -> subprocess.CompletedProcess[str]:
        report, tests = command[-2:]
        assert tests == "test/python/x"
        tests = tmp_path / "test_outcomes.py" if has_report else tmp_path / "missing.py"
        return run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", report, tests], text=True
        )

    monkeypatch.setattr(messages.steps, "BUILD", tmp_path)
    monkeypatch.setattr(messages, "RECORDING", tmp_path / "messages.json")
    monkeypatch.setattr(messages.message_recorder, "helps", list)
    monkeypatch.setattr(messages.subprocess, "run", plain)
    _, failures = messages.record(["test/python/x"])
    assert failures == (["2 of pytest"] if has_report else ["pytest itself, with status 4"])
