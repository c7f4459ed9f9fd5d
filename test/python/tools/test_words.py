# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lint of words and the list of messages in tools/devlib."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from devlib import message_values, messages, words


def rules_in(name: str, source: str) -> set[str]:
    options = words.Options()
    path = pathlib.PurePath(name)
    found = [hit for text in words.texts(path, source) for hit in words.check_text(name, text, options.rules)]
    found += words.check_names(name, words.names(path, source), options)
    return {finding.rule for finding in found}


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        ("product", "The product of two tiles.", "The matmul of two tiles; a cartesian product of lists."),
        ("factor", "The left factor is swizzled.", "Operand A is swizzled; the scale factor is a factor of 2."),
        ("program", "A program of threads runs.", "A thread-level kernel runs."),
        ("personification", "The barrier knows this.", "The barrier has this count."),
        ("nothing-orders", "Accesses that nothing orders.", "Unordered accesses."),
        ("under-way", "The copy is under way.", "The copy is in flight; the loop is over the tiles."),
        ("takes-part", "A warp takes part.", "A warp participates."),
        ("overtake", "A copy overtakes another.", "A copy completes before another."),
        ("behind", "The store runs behind the wait.", "The store runs after the wait."),
        ("ahead", "The load runs ahead.", "The load is prefetched; ahead-of-time compilation."),
        ("adverb", "The two run at once.", "The two run concurrently, as well as others."),
        ("place", "The place of an element.", "The offset of an element, in place."),
        ("way", "Both ways are taken.", "A two-way bank conflict."),
        ("unit", "Blocks of a unit.", "A compute unit; a unit stride; units of 16 bytes."),
        ("dealt", "Rows are dealt to warps.", "Rows are distributed across warps."),
        ("lies", "The tile lies in memory.", "The tile resides in memory."),
        ("left-away", "The barrier is left out.", "The barrier is omitted."),
        ("made", "A new op is made.", "A new op is created; the tile is made of rows."),
        ("not-known", "The stride is not known.", "The stride is dynamic."),
        ("room", "There the buffer does not fit.", "The buffer exceeds the shared memory."),
        ("is-no", "512 is no multiple of 100.", "512 is not a multiple of 100, and is no longer used."),
        ("there-is-no", "There is no barrier.", "The loop does not have a barrier."),
        ("fronted-genitive", "Of a tile, rows are read.", "Rows of a tile are read."),
        ("riddle", "What is read stays.", "The operand stays. What is read?"),
        ("british-other", "The copy is cancelled.", "The copy is canceled."),
        ("long-sentence", " ".join(["word"] * 31) + ".", " ".join(["word"] * 30) + "."),
    ],
)
def test_rule(rule: str, wrong: str, right: str) -> None:
    assert rule in rules_in("page.md", wrong)
    assert rules_in("page.md", right) == set()


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.md", "One line\nis behind another."),
        ("a.md", "# Title\n\n| cell | behind |"),
        ("a.td", "def A {\n  let description = [{\n    It is behind.\n  }];\n}"),
        ("a.td", 'def A { let summary = "It is behind"; }'),
        ("a.td", "let extra = [{ int a; // It is behind.\n }];"),
        ("a.cpp", "int a; // It is\n       // behind."),
        ("a.cpp", 'f("the wait is "\n  "behind");'),
        ("a.cpp", 'f() << "the " << name << " is behind";'),
        ("a.cpp", "int isBehind;"),
        ("a.py", '"""It is behind."""'),
        ("a.py", "# It is behind.\n"),
        ("a.py", 'raise E(f"{a} is behind {b}")'),
        ("a.py", "def run_behind(): ..."),
        ("a.mlir", "// It is behind.\n"),
        ("a.mlir", "func.func @runs_behind() {\n}"),
        ("a.test", "It is behind.\n\nRUN: true\n"),
        ("CMakeLists.txt", "# It is behind.\n"),
    ],
)
def test_text_is_extracted(name: str, source: str) -> None:
    assert "behind" in rules_in(name, source)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.md", "The op `is.behind`.\n\n```mlir\n// behind\n```\n"),
        ("a.md", "[A page](behind.md)"),
        ("a.td", "let description = [{\n  The op `is_behind`.\n}];"),
        ("a.cpp", '#include "behind.h"\nauto *a = "behind";'),
        ("a.py", 'run(["behind"])'),
        ("a.py", '"""Title.\n\n    behind = 1\n"""'),
        ("a.py", '"""Title.\n\nText.\n\n    behind = 1\n"""'),
        ("a.mlir", "// CHECK: behind\n// RUN: behind\n// expected-error @below {{is behind}}\n"),
        ("test/python/a.py", 'assert text == "it is behind"'),
    ],
)
def test_code_is_not_text(name: str, source: str) -> None:
    assert "behind" not in rules_in(name, source)


@pytest.mark.parametrize(
    ("title", "is_right"),
    [
        ("Reachability between barriers", True),
        ("Tiles that are swizzled", True),
        ("Find a race", True),
        ("What barriers order", False),
        ("Requests are attributes", False),
        ("A sentence.", False),
    ],
)
def test_titles(title: str, is_right: bool) -> None:
    assert ("title" not in rules_in("a.md", f"# {title}\n")) == is_right
    banner = f"//===- A.h - {title} " + "-" * 20 + "===//\n"
    assert ("title" not in rules_in("A.h", banner)) == is_right


@pytest.mark.parametrize(
    ("banner", "is_right"),
    [
        ("//===- a.h - Title ---===//", True),
        ("//===- a.h - Title -*- C++ -*-===//", True),
        ("//===- b.h - Title ---===//", False),
        ("//===- a.h - A title that goes on\n//---===//", False),
    ],
)
def test_first_line_of_a_source(tmp_path: pathlib.Path, banner: str, is_right: bool) -> None:
    (tmp_path / "a.h").write_text(f"{banner}\n")
    assert (list(words.check_file(tmp_path, "a.h", words.Options())) == []) == is_right


def test_lines_of_findings() -> None:
    text = next(iter(words.texts(pathlib.PurePath("a.md"), "One.\n\nA line\nthat is\nbehind.\n")))
    (finding,) = words.check_text("a.md", text, words.read_rules())
    assert str(finding).startswith("a.md:5: [behind] page: 'behind'")


def test_allowed_findings() -> None:
    allowed = [{"rule": "product", "path": "emulator/", "kind": "name", "text": ["product"]}]
    finding = words.Finding("emulator/a.cpp", 1, "product", "name", "product", "")
    assert words.is_allowed(finding, allowed)
    for change in ({"path": "passes/a.cpp"}, {"rule": "behind"}, {"kind": "comment"}, {"text": "dotProducts"}):
        assert not words.is_allowed(dataclasses.replace(finding, **change), allowed)


def test_links(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.md").write_text("# First title\n\n[a](b.md) [b](b.md#one-two) [c](#first-title) [d](https://x/y)\n")
    (tmp_path / "b.md").write_text("## One `two`\n\n[a](a.md#second) [b](c.md)\n")
    found = words.check_links(tmp_path, ["a.md", "b.md"])
    assert [(finding.path, finding.line, finding.text) for finding in found] == [
        ("b.md", 3, "a.md#second"),
        ("b.md", 3, "c.md"),
    ]


def test_the_tree_holds_the_rules() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the list of files needs a git checkout")
    found = words.lint(ROOT, [], None)
    spelling = "spelling"  # `tools/dev lint` checks it; `typos` is not installed for tests.
    assert [str(finding) for finding in words.not_open(found)] == []
    assert [line for line in words.closed(found) if f"'{spelling}'" not in line] == []


def messages_in(name: str, source: str) -> list[str]:
    if name.endswith(".py"):
        return [message.text for message in messages.python_messages(name, source)]
    if name.endswith(".td"):
        return [message.text for message in messages.tablegen_messages(name, source)]
    return [message.text for message in messages.cpp_messages(name, source)]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.cpp",
            'op.emitError() << "a stride of " << stride << " B; it "\n "must be " << least;',
            ["a stride of {stride} B; it must be {least}"],
        ),
        ("a.cpp", 'f(n == 1 ? "one copy here" : "some copies here");', ["one copy here", "some copies here"]),
        ("a.cpp", 'return "no wait covers " + std::to_string(n) + " copies";', ["no wait covers {n} copies"]),
        ("a.cpp", 'return quote(op) + " uses the buffer";', ["'{op}' uses the buffer"]),
        ("a.cpp", 'refuse("the call is indirect", op, "it is here now");', ["the call is indirect", "it is here now"]),
        ("a.cpp", 'f(a ? "one load" : b ? "one store" : "one wait");', ["one load", "one store", "one wait"]),
        (
            "a.cpp",
            'return llvm::formatv("{1} slots need {0} B of memory", get(a, b), n).str();',
            ["{n} slots need {get(a, b)} B of memory"],
        ),
        ("a.cpp", '#include "a/b.h"\n// "not a message"\nf("name");', []),
        (
            "a.td",
            'Option<"n", "n", "int", "0", "How many "\n "slots there are">\nlet summary = "Moves ops";',
            ["How many slots there are", "Moves ops"],
        ),
        ("a.py", 'raise E(f"{name} has " + f"{a + b} B of memory")', ["{name} has {a + b} B of memory"]),
        ("a.py", '"""Not a message."""\nre.compile("not a message")\nrun("name")', []),
    ],
)
def test_messages(name: str, source: str, expected: list[str]) -> None:
    assert messages_in(name, source) == expected


@pytest.mark.parametrize(
    ("name", "expression", "expected"),
    [
        ("a.cpp", "op.getAccumulator().getType()", "{accumulator type}"),
        ("a.cpp", "std::to_string(plan.slotBytes)", "{slot bytes}"),
        ("a.cpp", "indices.size()", "{number of indices}"),
        ("a.cpp", "kMaxElements", "{max elements}"),
        ("a.cpp", "kMaxSlots - 1", "15"),
        ("a.py", "len(self.blocks) - 1", "{number of blocks - 1}"),
        ("a.py", "op.operands[1].type", "{type of operand 1}"),
        ("a.py", "scales[0]", "{first scale}"),
        ("a.py", "type(value).__name__", "{Python type}"),
        ("a.py", "' or '.join(map(str, KINDS))", "late or early"),
        ("a.py", "', '.join(sorted(names))", "{names}"),
        ("a.py", "MAX_SIZE // 2", "8"),
        ("a.py", "_MAX", "{max}"),
    ],
)
def test_values_are_shown_in_words(name: str, expression: str, expected: str) -> None:
    known = {
        "kMaxSlots": {"a.h": 16},
        "kMaxElements": {"a.h": None},
        "KINDS": {"b.py": ("late", "early")},
        "MAX_SIZE": {"a.py": 16, "b.py": 32},
        "_MAX": {"b.py": 1},
    }
    values = message_values.Values(known, name)
    assert messages.in_words(f"found {{{expression}}}", values) == f"found {expected}"


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.py", "SIZE = 4\nSIZES = (SIZE, 2 * SIZE)\nOTHER = f()\n", {"SIZE": 4, "SIZES": ("4", "8"), "OTHER": None}),
        (
            "a.h",
            "constexpr int64_t kSize = 1 << 4;\ninline constexpr int kHalf = kSize / g();",
            {"kSize": 16, "kHalf": None},
        ),
        ("a.h", 'constexpr llvm::StringLiteral kName = "a.b";', {"kName": "a.b"}),
    ],
)
def test_constants_of_a_file(name: str, source: str, expected: dict[str, object]) -> None:
    assert message_values.constants_of(name, source) == expected


def test_notes_are_shown_below_their_message() -> None:
    def message(line: int, context: str, text: str) -> messages.Message:
        return messages.Message("a.cpp", line, context, text)

    found = [
        message(1, "emitError", "the buffer is too large"),
        message(3, "attachNote", "it is allocated here"),
        message(40, "hint", "hint: use a smaller tile"),
        message(42, "st.report", "the tile is too large"),
    ]
    assert [str(message) for message in messages.attach(found)] == [
        "a.cpp:1: [emitError] the buffer is too large\n    note: it is allocated here",
        "a.cpp:42: [st.report] the tile is too large\n    hint: use a smaller tile",
    ]


def test_the_second_argument_of_misuse_is_a_hint() -> None:
    (found,) = messages.python_messages("a.py", 'raise Misuse(f"{x} is not a tile", "use a smaller tile")')
    assert (found.text, found.notes) == ("{x} is not a tile", ("hint: use a smaller tile",))


@pytest.mark.parametrize(
    ("keywords", "option"),
    [
        ('metavar="NAME=FILE"', "-x, --expect NAME=FILE"),
        ('type=click.Choice(["a", "b"])', "-x, --expect [a|b]"),
        ("type=click.Path(file_okay=False)", "-x, --expect DIRECTORY"),
        ("type=float", "-x, --expect FLOAT"),
        ("is_flag=True", "-x, --expect"),
    ],
)
def test_options_are_shown_with_their_values(keywords: str, option: str) -> None:
    (text,) = messages_in("a.py", f'click.option("-x", "--expect", {keywords}, help="The expected values.")')
    assert text == f"{option}: The expected values."


def test_layout_requirements_are_shown_in_a_conflict() -> None:
    source = """struct ScanRule {
  static LogicalResult derive() {
    system.notStrided(var, "the scan of strided vectors is not supported");
};
attachRule<ScanRule, ScanOp>(context);
"""
    (reason,) = messages.cpp_messages("passes/Layouts/Rules/RegisterRules.cpp", source)
    conflict = messages.conflict(reason, source)
    assert conflict.text.startswith("'mosaic_gpu.layout_cast' op requires layout strided by 2 for the result (vector<")
    own, other, hint = conflict.notes
    assert own.startswith("note: 'mosaic_gpu.scan' requires a layout other than strided for operand 0 (vector<")
    assert own.endswith(": the scan of strided vectors is not supported")
    assert other.startswith("note: 'mosaic_gpu.layout_cast' requires layout strided by 2")
    assert hint.startswith("help: remove this 'mosaic_gpu.layout_cast'")


def test_examples_of_conflicts_have_the_phrases_of_the_pass() -> None:
    source = re.sub(r'"\s*"', "", (ROOT / "passes/Layouts/Inference/Conflict.cpp").read_text(encoding="utf-8"))
    texts = [requirement for _, _, requirement in messages.LAYOUT_RULES]
    for requirements, hint in messages.LAYOUT_OPPOSITES.values():
        texts += [requirement for _, requirement, _ in requirements] + ([hint.removeprefix("help: ")] if hint else [])
    for text in texts:
        phrase = re.match(r"requires layout |[a-z ]+?(?= for | in | this | the result|[^a-z ])", text)
        assert phrase and phrase[0].strip() in source, text


def test_sample_of_messages() -> None:
    found = [messages.Message("a.py", line, "f", "text") for line in range(100)]
    first = messages.sample(found, 40, 7)
    assert len(first) == 40 and first == messages.sample(found, 40, 7) != messages.sample(found, 40, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lint", "--bogus"), "usage: tools/dev lint"),
        (("lint", "--words", "--counts"), "usage: tools/dev lint"),
        (("lint", "--record", "tools"), "--record takes no paths"),
        (("messages", "--random", "few"), "--random needs a number"),
        (("messages", "--bogus"), "messages does not have the option '--bogus'"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "dev", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and message in done.stderr


def test_messages_of_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "dev", "messages", "python/smalti/cli", "--random", "3", "--seed", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("    ")]
    assert len(lines) == 3 and all(line.startswith("python/smalti/cli/") for line in lines)
