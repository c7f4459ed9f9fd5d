# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Smalti's messages: errors, remarks, reasons of refusals, hints and texts of the command line."""

from __future__ import annotations

import ast
import pathlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .words import CPP_TOKEN, is_prose, tracked

FOLDERS = ("dialects", "emulator", "layouts", "passes", "python", "targets", "tools")


@dataclass(frozen=True)
class Message:
    path: str
    line: int
    context: str
    """The function that the text is passed to, or the kind of statement that it is in."""
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.context}] {self.text}"


# Calls whose texts are not messages: documentation of bindings, citations, patterns, and code.
_NOT_MESSAGES = re.compile(
    r"(?:arg|def|def_\w+|doc|bind\w+|SMALTI_(?!HINT)\w+|llvm_unreachable|llvm_unreachable_internal|assert|DEBUG_TYPE"
    r"|re\.\w+|assembly|.*\.(?:execute|partition|startswith|endswith|replace|split)|\w*(?:Accumulate|addModuleFlag|getModuleFlag))"
)


_CONVERSION = re.compile(r"(?:std::to_string|llvm::Twine|Twine|llvm::utostr|llvm::itostr)\((.*)\)")


def _shown(expression: str) -> str:
    """A value in a message, in braces; a long one is shortened."""
    expression = " ".join(expression.split())
    if conversion := _CONVERSION.fullmatch(expression):
        expression = conversion[1]
    return f"{{{expression if len(expression) <= 32 else '...'}}}"


def _values(code: str) -> str:
    """The text that code between two literals inserts."""
    code = " ".join(code.split())
    if not code:
        return ""
    if re.fullmatch(r"\)*\s*:\s*\(*(?:\w+\()*", code):
        return "|"
    parts = [part.strip() for part in re.split(r"<<|\+(?!\+)", code)]
    if len(parts) == 1 and "?" in code:
        return ""
    if len(parts) == 1:
        return " / " if code.strip(" ,()") == "" or "," in code else _shown(code.strip(" ()"))
    return "".join(_shown(part.strip(" ,")) for part in parts if part.strip(" ,()") and "?" not in part)


def _context(code: str) -> str:
    """The outermost call or statement that a literal is in: the last one of diagnostics' names, if there is one."""
    names = re.findall(r"([\w.>-]+?)\(", code)
    for name in names:
        short = re.split(r"\.|->", name)[-1]
        if re.match(
            r"emit|create\w*Error|remark|report|miss|fail|refuse|complain|attachNote|ignore|setError|set_error|\w*_error",
            short,
        ):
            return short
    if re.search(r"\b(?:return|co_return)\b", code):
        return "return"
    if names:
        return re.split(r"\.|->", names[-1])[-1]
    return "text"


def cpp_messages(path: str, source: str, first: int = 1) -> Iterator[Message]:
    """Each statement with text is one message; values are shown in braces, alternatives between bars."""
    pieces: list[str] = []
    code = head = ""
    line = 0
    has_words = False

    def flush(tail: str) -> Iterator[Message]:
        nonlocal head, code, has_words
        if pieces:
            text = "".join(pieces)
            if re.search(r"<<|\+", tail):
                text += _values(tail)
            context = _context(head)
            if has_words and is_prose(re.sub(r"\{[^}]*\}", "N", text)) and not _NOT_MESSAGES.fullmatch(context):
                yield Message(path, line, context, " ".join(text.split()))
        pieces.clear()
        head = code = ""
        has_words = False

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
        if pieces:
            pieces.append(_values(code))
        else:
            head = code
            line = first + source.count("\n", 0, match.start())
        code = ""
        literal = match["body"] if match["raw"] else match["string"][1:-1]
        has_words = has_words or re.search(r"[a-z]{2} |[, ] ?[a-z]{2}", literal) is not None
        pieces.append(literal.replace('\\"', '"').replace("\\n", " "))
    yield from flush(code)


_TABLEGEN_STRINGS = re.compile(
    r"(?P<block>\[\{(?P<body>.*?)\}\])|(?P<strings>\"(?:\\.|[^\"\\\n])*\"(?:\s*\"(?:\\.|[^\"\\\n])*\")*)|//[^\n]*",
    re.DOTALL,
)


def tablegen_messages(path: str, source: str) -> Iterator[Message]:
    """Descriptions of options and of passes, which `--help` prints."""
    for match in _TABLEGEN_STRINGS.finditer(source):
        line = 1 + source.count("\n", 0, match.start())
        before = source[max(0, match.start() - 200) : match.start()]
        if match["strings"]:
            text = re.sub(r'"\s*"', "", match["strings"])[1:-1].replace('\\"', '"')
            if re.search(r"\bsummary\s*=\s*$", before):
                yield Message(path, line, "summary", text)
            elif is_prose(text) and re.search(r"Option<[^;{}]*$", before):
                yield Message(path, line, "option", text)
        elif match["block"] and not re.search(r"\b(?:description|summary)\s*=\s*$", before):
            yield from cpp_messages(path, match["body"], line)


def _render(node: ast.AST) -> str | None:
    """The text of a string expression, values in braces; None for another expression."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                value.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
                else _shown(ast.unparse(value.value))
                if isinstance(value, ast.FormattedValue)
                else ""
                for value in values
            )
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            first, second = _render(left), _render(right)
            if first is None and second is None:
                return None
            return (first or _shown(ast.unparse(left))) + (second or _shown(ast.unparse(right)))
    return None


def python_messages(path: str, source: str) -> Iterator[Message]:
    def visit(node: ast.AST, context: str) -> Iterator[Message]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Call):
            context = ast.unparse(node.func)
        elif isinstance(node, ast.stmt) and not isinstance(node, ast.Expr):
            context = type(node).__name__.lower()
        if isinstance(node, ast.expr) and (text := _render(node)) is not None:
            if is_prose(text) and not _NOT_MESSAGES.fullmatch(context):
                yield Message(path, node.lineno, context, " ".join(text.split()))
            for child in ast.walk(node):
                if isinstance(child, ast.FormattedValue):
                    yield from visit(child.value, context)
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, context)

    yield from visit(ast.parse(source), "module")


def messages(root: pathlib.Path, paths: Sequence[str] = FOLDERS) -> Iterator[Message]:
    for path in tracked(root, paths):
        source = (root / path).read_text(encoding="utf-8", errors="replace")
        if path.endswith((".cpp", ".h", ".def")):
            yield from cpp_messages(path, source)
        elif path.endswith(".td"):
            yield from tablegen_messages(path, source)
        elif path.endswith(".py"):
            yield from python_messages(path, source)


def sample(found: Iterable[Message], count: int, seed: int) -> list[Message]:
    everything = list(found)
    chosen = random.Random(seed).sample(range(len(everything)), min(count, len(everything)))
    return [everything[number] for number in sorted(chosen)]
