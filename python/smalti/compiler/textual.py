# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parser of textual pass pipelines.

Example: `builtin.module(canonicalize{max-iterations=3}, func.func(cse))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import PipelineError

_NAME = re.compile(r"[\w.\-]+")
_CLOSING = {"{": "}", "[": "]", "(": ")", "<": ">"}


@dataclass(frozen=True)
class Element:
    """A pass with its options, or a nested pipeline on an operation (`children` is not None)."""

    name: str
    options: str = ""
    """The text between the braces."""
    children: tuple[Element, ...] | None = None

    def __str__(self) -> str:
        options = f"{{{self.options}}}" if self.options else ""
        nested = f"({to_text(self.children)})" if self.children is not None else ""
        return f"{self.name}{options}{nested}"


def to_text(elements: Iterable[Element]) -> str:
    """The textual form of the elements."""
    return ",".join(str(element) for element in elements)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, what: str) -> PipelineError:
        return PipelineError(f"the pipeline does not parse: {what}\n  {self.text}\n  {' ' * self.at}^")

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self) -> str:
        self.skip()
        return self.text[self.at] if self.at < len(self.text) else ""

    def elements(self) -> Iterator[Element]:
        if self.peek() in ("", ")"):
            return
        while True:
            yield self.element()
            if self.peek() != ",":
                return
            self.at += 1

    def element(self) -> Element:
        self.skip()
        found = _NAME.match(self.text, self.at)
        if not found:
            raise self.fail("expected the name of a pass or an operation here")
        self.at = found.end()
        options = self.braces() if self.peek() == "{" else ""
        if self.peek() != "(":
            return Element(found.group(), options)
        self.at += 1
        children = tuple(self.elements())
        if self.peek() != ")":
            raise self.fail("expected ')' here")
        self.at += 1
        return Element(found.group(), options, children)

    def braces(self) -> str:
        start = self.at
        open_: list[str] = []
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in "'\"":
                closing = self.text.find(c, self.at + 1)
                if closing < 0:
                    raise self.fail("the quotation mark at this position is not closed")
                self.at = closing
            elif c in "{[(":
                open_.append(_CLOSING[c])
            elif open_ and c == open_[-1]:
                open_.pop()
                if not open_:
                    self.at += 1
                    return self.text[start + 1 : self.at - 1].strip()
            self.at += 1
        self.at = start
        raise self.fail("the brace at this position is not closed")


def parse(text: str) -> tuple[Element, ...]:
    """Parses a textual pipeline. Raises PipelineError with the position of a syntax error."""
    reader = _Reader(text)
    elements = tuple(reader.elements())
    if reader.peek():
        raise reader.fail("unexpected text here")
    return elements
