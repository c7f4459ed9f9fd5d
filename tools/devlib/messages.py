# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Smalti's messages, as users see them: errors, remarks, findings, hints and help texts.

The texts come from the sources, in which values are expressions. A recording of the tests (message_recorder.py) has the texts
that were printed. Each text of the sources is matched with a printed one that contains it, and the printed one is listed with its
source line, notes and hints. A text that no test prints is listed with the names of its values in braces.
"""

from __future__ import annotations

import ast
import bisect
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from . import message_recorder, outputs, steps
from .shell import ROOT, Failure, step
from .words import CPP_TOKEN, is_prose, tracked

FOLDERS = ("dialects", "emulator", "layouts", "passes", "python", "targets", "tools")
RECORDING = steps.BUILD / "messages.json"


@dataclass(frozen=True)
class Template:
    """A text of the sources; its values are expressions in braces."""

    path: str
    line: int
    context: str
    """The function that the text is passed to, or the kind of statement that it is in."""
    text: str


@dataclass(frozen=True)
class Message:
    """A message as users see it, and the lines of the sources that it comes from."""

    locations: tuple[str, ...]
    text: str
    is_printed: bool
    """Whether a test prints the message."""

    def __str__(self) -> str:
        note = "" if self.is_printed else ": no test prints this message"
        return "\n".join([f"{', '.join(self.locations)}{note}", *(f"    {line}" for line in self.text.splitlines())])


# Recording.


def record(paths: Sequence[str]) -> tuple[int, list[str]]:
    """Runs all tests and writes the texts that they print; or adds those of the tests in `paths`. Returns the number of texts,
    and what failed: the number of tests, by program."""
    failures: list[str] = []
    folder = steps.BUILD / "messages"
    if not paths:
        shutil.rmtree(folder, ignore_errors=True)
    python = [path for path in paths if path.startswith("test/python")] if paths else ["test/python"]
    lit = [path for path in paths if path not in python] if paths else ["test"]
    plugin = ["-p", "message_recorder", "-n", "auto", "--dist", "worksteal", "-q"]
    with outputs.stand_ins(folder, message_recorder.COMMAND, ("smalti-opt", "smalti")):
        with step("Recording messages: help texts"):
            message_recorder.record(message_recorder.helps())
        environment = {**os.environ, **steps.environment(), "PYTHONPATH": str(pathlib.Path(__file__).parent)}
        for name, command, report_option, tests in (
            ("lit", [steps.VENV / "bin" / "lit", "--succinct"], "--xunit-xml-output", lit),
            ("pytest", [steps.PYTHON, "-m", "pytest", *plugin], "--junitxml", python),
        ):
            if tests:
                with step(f"Recording messages: {name}"):
                    # A test that fails, for example because it is slower now, does not end the recording.
                    report = folder / f"{name}.xml"
                    report.unlink(missing_ok=True)
                    done = subprocess.run(
                        [*command, report_option, report, *tests], env=environment, cwd=ROOT, check=False
                    )
                    if failed := _failed_tests(report):
                        failures.append(f"{failed} of {name}")
                    elif done.returncode:
                        failures.append(f"{name} itself, with status {done.returncode}")
    texts = message_recorder.merged(folder)
    RECORDING.write_text(json.dumps(texts, indent=0) + "\n", encoding="utf-8")
    return len(texts), failures


def _failed_tests(report: pathlib.Path) -> int:
    """The number of tests that failed, in a report in JUnit's format. A program that is interrupted does not write it."""
    if not report.is_file():
        return 0
    return sum(
        test.find("failure") is not None or test.find("error") is not None
        for test in ElementTree.parse(report).iter("testcase")
    )


def recording() -> list[str]:
    if not RECORDING.is_file():
        raise Failure(f"{RECORDING.relative_to(ROOT)} does not exist; run `tools/dev messages --record` (15 minutes)")
    return json.loads(RECORDING.read_text(encoding="utf-8"))


# Templates.

_CODE = re.compile(
    r"(?:arg|def\w*|doc|bind\w*|DEBUG_TYPE|SMALTI_\w+|\w+>|llvm_unreachable\w*|assert|number|re\.\w+|np\.dtype|ast\.\w+|summary"
    r"|.*\.(?:execute|partition|split|startswith|endswith|replace|Element|Random)|\w*(?:addModuleFlag|getModuleFlag))"
)
"""Contexts whose texts are not messages: documentation of bindings, patterns and code."""
_CODE_PATHS = re.compile(
    r"tools/devlib/(?:layout_pictures|recorder|coverage|architecture|message\w*|op_table|words)\.py"
    r"|python/smalti/(?:compiler/_generate\w+|emulator/(?:session|memory)|lane_maps|launch/header)\.py|targets/\w+\.cpp"
)
_CODE_TEXT = re.compile(r"!|import |class |[A-Z ]+$|.*\bISA\b|LLVM,? |[\w.]+\.[\w.]+[ ,]|HSA |.*(?:\w+ ){3}= ")
_SURE = re.compile(
    r"(?:.*\.)?(?:emit\w*|remark\w*|report|miss|fail\w*|refuse\w*|complain\w*|attachNote|setError|hint|stop|Misuse|\w*Error"
    r"|Finding|finding|Unsupported|invalid|Failure|warn|option|clEnumValN|click\.option|UsageError|BadParameter|create\w*Error)"
)
"""Contexts whose texts are messages."""
_VERB = re.compile(
    r"\b(?:is|are|has|have|must|cannot|may|do|does|not|was|requires?|exceeds?|uses?|set|remove|write|pass)\b"
)
_VALUE = re.compile(r"\{[^{}]*\}")


def _is_likely_message(template: Template) -> bool:
    """Whether a text that no test prints is a message: many texts of the sources are code, or parts of messages."""
    if template.path.startswith("python/bindings/") and template.text.endswith("."):
        return False  # Documentation.
    count = len(re.findall(r"[A-Za-z]{2,}", _VALUE.sub(" ", template.text)))
    if _SURE.fullmatch(template.context):
        return count >= 3
    return count >= 5 and _VERB.search(template.text) is not None


def _value(expression: str) -> str:
    """A value of a template: the expression in braces; a long one is shortened."""
    expression = " ".join(expression.split()).removesuffix(".str(")
    while expression.endswith(")") and expression.count(")") > expression.count("("):
        expression = expression[:-1].rstrip().removesuffix(".str(")
    expression = expression.replace("{", "(").replace("}", ")")
    if quoted := re.fullmatch(r"quote\((.*)\)", expression):
        return f"'{{{quoted[1]}}}'"
    return f"{{{expression if len(expression) <= 80 else '...'}}}"


_ARGUMENT = "\0"
"""Separates the texts of different arguments of a call."""
_CONCATENATING = ("emitOptionalError", "require", "shape", "size", "toText")
"""Functions that concatenate their arguments."""
_CALLS = r"\(*(?:[\w:]+\()*"


def _between(code: str) -> str:
    """The text that code between two literals inserts; "|" if the second literal is an alternative of the first."""
    code = " ".join(code.split())
    if not code:
        return ""
    if re.fullmatch(rf"\)*\s*:\s*{_CALLS}", code) or re.fullmatch(rf"\)*\s*:[^+<\"]*\?\s*{_CALLS}", code):
        return "|"
    if code.startswith((":", ") :")):
        code = code.partition("+")[2].strip()
        if not code:
            return ""
    parts = [part.strip() for part in re.split(r"<<|\+(?!\+)", code)]
    if len(parts) > 1:
        return "".join(_value(part.strip(" ,")) for part in parts if part.strip(" ,()") and "?" not in part)
    if "?" in code:
        return ""
    value = code.strip(" ,()")
    if "," in code or not value or value[0] == ".":
        return f"{_ARGUMENT}{_value(value)}{_ARGUMENT}" if value else _ARGUMENT
    return _value(value)


_NO_VALUE = re.compile(
    r"emit\w*\(|remark\w*\(|report\w*\(|attachNote|Error|errors?\b|^diagnostic|^\w*[Ss]tream$|^note$|^(?:out|os)$"
)


def _leading(code: str) -> str:
    """The value before the first literal."""
    code = " ".join(code.split())
    found = re.search(r"([\w.>:*-]+(?:\((?:[^()]|\([^()]*\))*\))?)\s*(?:\+|<<)$", code)
    return _value(found[1].lstrip("*")) if found and not _NO_VALUE.search(found[1]) else ""


def _context(code: str) -> str:
    """The call or statement that a literal is in: the outermost one, or one that reports."""
    names = [re.split(r"\.|->", name)[-1] for name in re.findall(r"([\w.>-]+?)\(", code)]
    reporting = next((name for name in names if _SURE.fullmatch(name)), "")
    return reporting or ("return" if re.search(r"\breturn\b", code) else names[-1] if names else "text")


def cpp_templates(path: str, source: str, first: int = 1) -> Iterator[Template]:
    """Each statement with text has one template, or more if it chooses between texts."""
    pieces: list[list[str]] = []
    code = head = ""
    line = 0

    def flush(tail: str) -> Iterator[Template]:
        nonlocal head, code
        if pieces:
            context = _context(head)
            if re.search(r"<<|\+", tail) and "formatv" not in head:
                pieces.append([_between(tail)])
            choices = range(max(map(len, pieces)))
            texts = ["".join(piece[min(choice, len(piece) - 1)] for piece in pieces) for choice in choices]
            separator = "\n" if context in _CONCATENATING else _ARGUMENT
            for text in dict.fromkeys(part for whole in texts for part in whole.split(separator)):
                text = text.replace(_ARGUMENT, "")
                if is_prose(_VALUE.sub("N", text)) and not _CODE.fullmatch(context):
                    yield Template(path, line, context, " ".join(text.split()))
        pieces.clear()
        head = code = ""

    end = 0
    for match in (*CPP_TOKEN.finditer(source), None):
        between = source[end : match.start()] if match else source[end:]
        *statements, rest = re.split(r"[;{}]", between)
        for number, statement in enumerate(statements):
            yield from flush(code + statement if not number else statement)
        code += rest
        if match is None:
            break
        end = match.end()
        if match["comment"]:
            continue
        if match["char"]:
            code += match[0]
            continue
        literal = match["body"] if match["raw"] else match["string"][1:-1]
        text = literal.replace('\\"', '"').replace("\\n", " ")
        value = _between(code) if pieces else _leading(code)
        if pieces and value == "|":
            pieces[-1].append(text)
        elif pieces and not code.strip():
            pieces[-1][-1] += text
        else:
            if not pieces:
                head = code
                line = first + source.count("\n", 0, match.start())
            pieces += [[value], [text]]
        code = ""
    yield from flush(code)


_TABLEGEN_STRINGS = re.compile(
    r"(?P<block>\[\{(?P<body>.*?)\}\])|(?P<strings>\"(?:\\.|[^\"\\\n])*\"(?:\s*\"(?:\\.|[^\"\\\n])*\")*)|//[^\n]*",
    re.DOTALL,
)
_ENUM_VALUE = re.compile(r'clEnumValN\([\w:]+,\s*"[^"]*",\s*"([^"]*)"\)')


def tablegen_templates(path: str, source: str) -> Iterator[Template]:
    """Descriptions of passes and of their options, which `--help` prints, and texts in code."""
    for match in _TABLEGEN_STRINGS.finditer(source):
        line = 1 + source.count("\n", 0, match.start())
        before = source[max(0, match.start() - 200) : match.start()]
        if match["strings"]:
            text = re.sub(r'"\s*"', "", match["strings"])[1:-1].replace('\\"', '"')
            is_summary = re.search(r"\bsummary\s*=\s*$", before) and path.endswith("Passes.td")
            if is_summary or (is_prose(text) and re.search(r"\w*Option<[^;{}<>]*$", before)):
                yield Template(path, line, "option", text)
        elif match["block"] and not re.search(r"\b(?:description|summary)\s*=\s*$", before):
            if values := list(_ENUM_VALUE.finditer(match["body"])):
                for value in values:
                    at = line + match["body"].count("\n", 0, value.start())
                    yield Template(path, at, "clEnumValN", value[1])
            else:
                yield from cpp_templates(path, match["body"], line)


def _part(node: ast.expr) -> str:
    """A value in an f-string: the longer one of two texts, or the expression in braces."""
    if isinstance(node, ast.IfExp):
        texts = [text for branch in (node.body, node.orelse) if (text := _render(branch)) is not None]
        if len(texts) == 2:
            return max(texts, key=len)
    return _value(ast.unparse(node))


def _render(node: ast.AST) -> str | None:
    """The text of a string expression, values in braces; None for another expression."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            parts = (value.value if isinstance(value, ast.FormattedValue) else value for value in values)
            return "".join(str(part.value) if isinstance(part, ast.Constant) else _part(part) for part in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            first, second = _render(left), _render(right)
            if first is None and second is None:
                return None
            return (first or _value(ast.unparse(left))) + (second or _value(ast.unparse(right)))
    return None


def python_templates(path: str, source: str) -> Iterator[Template]:
    def visit(node: ast.AST, context: str) -> Iterator[Template]:
        match node:
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Call():
                context = ast.unparse(node.func)
            case ast.Assign(targets=[ast.Name(id="hint")]) | ast.keyword(arg="hint"):
                context = "hint"
            case ast.stmt() if not isinstance(node, ast.Expr):
                context = type(node).__name__.lower()
        if isinstance(node, ast.expr) and (text := _render(node)) is not None:
            if is_prose(text) and not _CODE.fullmatch(context):
                yield Template(path, node.lineno, context, " ".join(text.split()))
            for child in ast.walk(node):
                if isinstance(child, ast.FormattedValue):
                    yield from visit(child.value, context)
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, context)

    yield from visit(ast.parse(source), "module")


def templates_of(path: str, source: str) -> Iterable[Template]:
    if path.endswith((".cpp", ".h", ".def")):
        return cpp_templates(path, source)
    if path.endswith(".td"):
        return tablegen_templates(path, source)
    return python_templates(path, source) if path.endswith(".py") else ()


def templates(root: pathlib.Path, paths: Sequence[str] = FOLDERS) -> Iterator[Template]:
    for path in tracked(root, paths):
        source = (root / path).read_text(encoding="utf-8", errors="replace")
        if not _CODE_PATHS.match(path):
            found = {template.text: template for template in templates_of(path, source)}
            yield from (template for text, template in found.items() if not _CODE_TEXT.match(text))


_CONVERSION = re.compile(
    r"\b(?:to_string|string|str|StringRef|Twine|describe|quote|int|toString|nameOf|listed|list|sorted|join|map|len|repr"
    r"|stringify\w+)\(([^()]*)\)"
)
_VAGUE = {
    "type",
    "name",
    "number",
    "bytes",
    "size",
    "index",
    "count",
    "first",
    "second",
    "chip",
    "code",
    "kind",
    "line",
}
"""Members that need the name of what they belong to."""


def in_words(expression: str) -> str:
    """The name of a value: `op.getAccumulator().getType()` as "accumulator type"."""
    is_length = "len(" in expression or ".size()" in expression
    expression = re.sub(r"'[^']*'|\"[^\"]*\"|\[\w+\]|\w+::|\.size\(\)|\bself\b|\bthis\b", "", expression)
    for pattern, part in ((_CONVERSION, r"\1"), (re.compile(r"\([^()]*\)"), "")):
        before = ""
        while before != expression:
            before, expression = expression, pattern.sub(part, expression)
    names = [
        re.sub(r"^_*(?:get|stringify|k)(?=[A-Z])|^_+", "", name) for name in re.findall(r"[A-Za-z_]\w*", expression)
    ]
    words = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name).lower() for name in names] or ["value"]
    shown = " ".join(words[-2:]) if words[-1] in _VAGUE else words[-1]
    return f"number of {shown}" if is_length else shown


# Matching of templates with printed texts.

_LEAST_LETTERS = 12
"""The letters of a text of the sources; with fewer, texts that contain it by chance would match."""
_SHORT, _LEAST_PART = 25, 0.6
"""The part of a template's text that a printed text must contain; of a text with fewer letters, all."""
_SHORT_VALUE, _LONG_VALUE = 80, 400
"""The length of values in short and in other texts."""
_MOST_CANDIDATES = 200
_MOST_LINES = 24
"""The lines of a printed text above which only the lines around the match are listed."""

Spans = list[tuple[int, int]]


def _segments(template: Template) -> list[str]:
    """The texts between values."""
    return [part for part in _VALUE.split(template.text) if re.search(r"\w", part)]


def _match(segments: Sequence[str], anchor: int, text: str, at: int, longest: int) -> Spans:
    """Where a text contains the segments in their order, from that of one of them; a value has `longest` characters."""
    found = [(at, at + len(segments[anchor]))]
    for segment in segments[anchor + 1 :]:
        end = found[-1][1]
        if (position := text.find(segment, end, end + longest + len(segment))) >= 0:
            found.append((position, position + len(segment)))
    for segment in reversed(segments[:anchor]):
        start = found[0][0]
        if (position := text.rfind(segment, max(0, start - longest - len(segment)), start)) >= 0:
            found.insert(0, (position, position + len(segment)))
    return found


def _length(spans: Spans) -> int:
    return sum(end - start for start, end in spans)


def _overlap(first: Spans, second: Spans) -> int:
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in first for b in second)


class Printed:
    """The printed texts, as one string with a line for each, so that a search is fast."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.lines = [" ".join(text.split()) for text in texts]
        self._all = "\n".join(self.lines) + "\n"
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def _occurrences(self, segment: str) -> Iterator[tuple[int, int]]:
        """The texts with a segment and its offset in them, each once."""
        at = 0
        for _ in range(_MOST_CANDIDATES):
            if (at := self._all.find(segment, at)) < 0:
                return
            number = bisect.bisect_right(self._starts, at) - 1
            if (self._all[at - 1] + segment[0]).isalnum() or (segment[-1] + self._all[at + len(segment)]).isalnum():
                at += 1  # A part of a longer word.
                continue
            yield number, at - self._starts[number]
            at = self._starts[number + 1] - 1

    def candidates(self, template: Template) -> dict[int, Spans]:
        """The texts that contain a template, and where."""
        segments = _segments(template)
        total = sum(map(len, segments))
        literal = " ".join(segments)
        letters = len(re.findall(r"[A-Za-z]", literal))
        least, longest = (1, _SHORT_VALUE) if letters < _SHORT else (_LEAST_PART, _LONG_VALUE)
        if letters < _LEAST_LETTERS or len(re.findall(r"[A-Za-z]{2,}", literal)) < 3:
            return {}
        for anchor in sorted(range(len(segments)), key=lambda number: -len(segments[number]))[:3]:
            found: dict[int, Spans] = {}
            for number, at in self._occurrences(segments[anchor]):
                spans = _match(segments, anchor, self.lines[number], at, longest)
                if _length(spans) >= least * total:
                    found[number] = spans
            if found:
                return found
        return {}

    def order(self, number: int) -> tuple[object, ...]:
        """The order of texts in which a template is listed with the first one: diagnostics, then others, JSON last."""
        line = self.lines[number]
        return (line[0] in "[{", message_recorder.START.match(line) is None, len(line), line)

    def excerpt(self, number: int, template: Template) -> str:
        """A printed text; of a long one, the lines around the longest segment of a template."""
        text = self.texts[number]
        lines = text.splitlines()
        if len(lines) <= _MOST_LINES:
            return text
        words = max(_segments(template), key=len).split()
        shared = [sum(word in line for word in words) for line in lines]
        best = shared.index(max(shared))
        first, last = max(0, best - 3), min(len(lines), best + 4)
        return "\n".join(["..."] * (first > 0) + lines[first:last] + ["..."] * (last < len(lines)))


def matched(found: Sequence[Template], printed: Printed) -> dict[Template, int]:
    """The printed text of each template that has one. A template does not match where a longer one has the same words."""
    candidates = {template: printed.candidates(template) for template in found}
    claims: dict[int, list[Spans]] = defaultdict(list)
    for texts in candidates.values():
        for number, spans in texts.items():
            claims[number].append(spans)
    result: dict[Template, int] = {}
    for template, texts in candidates.items():
        own = {
            number: spans
            for number, spans in texts.items()
            if not any(
                _length(others) > _length(spans) and _overlap(spans, others) > 0.8 * _length(spans)
                for others in claims[number]
            )
        }
        if own:
            result[template] = min(own, key=lambda at: (-_length(own[at]), *printed.order(at)))
    return result


def messages(root: pathlib.Path, texts: Sequence[str], paths: Sequence[str] = FOLDERS) -> Iterator[Message]:
    """The printed messages, then those that no test prints, in the order of the sources."""
    everything = list(templates(root))
    printed = Printed(texts)
    numbers = matched(everything, printed)
    wanted = [template for template in everything if any(template.path.startswith(path) for path in paths)]
    locations: dict[str, list[str]] = {}
    for template in wanted:
        if template in numbers:
            text = printed.excerpt(numbers[template], template)
            locations.setdefault(text, []).append(f"{template.path}:{template.line}")
    for text, lines in locations.items():
        yield Message(tuple(dict.fromkeys(lines)), text, True)
    for template in wanted:
        if template not in numbers and _is_likely_message(template):
            text = _VALUE.sub(lambda value: f"{{{in_words(value[0][1:-1])}}}", template.text)
            yield Message((f"{template.path}:{template.line}",), text, False)


def sample(found: Sequence[Message], count: int, seed: int) -> list[Message]:
    chosen = random.Random(seed).sample(range(len(found)), min(count, len(found)))
    return [found[number] for number in sorted(chosen)]
