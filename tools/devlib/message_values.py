# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values in Smalti's messages, in words: an expression as the name of its value, a constant as its value."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping

from .words import tracked

_WRAPPER = re.compile(
    r"(?:\b(?:std|llvm|layout|targets|mlir)::)?\b(?:to_string|string|StringRef|ArrayRef|Twine|describe|quote|str|int|int64_t|toString"
    r"|nameOf|printed|listed|list|map|join|make_range|static_cast<[^<>]*>|stringify\w+|\w*[tT]ext|_?words_of|repr)\(([^()]*)\)?"
)
"""A conversion of a value to text."""

_CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*(?:\([^()]*\))?")
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
    "title",
    "chip",
    "code",
    "kind",
    "line",
}
"""Members that need the name of what they belong to."""

_SINGULAR = {
    "shape": "size",
    "shapes": "shape",
    "indices": "index",
    "steps": "stride",
    "matrices": "matrix",
    "masks": "mask",
    "slice": "size of the slice",
    "cluster": "cluster size",
    "tiling": "tile size",
}
"""An element of a list, where it is not the name of the list without "s"."""

_ORDINALS = {"0": "first ", "1": "second ", "-1": "last ", "-2": "second last "}

MOST_LISTED = 8
"""The elements of a list that are shown; an ellipsis replaces the others."""

Constant = int | float | str | tuple[str, ...]
Constants = Mapping[str, Mapping[str, Constant | None]]
"""The value of a constant, by its name and the file that defines or imports it; None if it is computed."""


def _literal(node: ast.expr, constant: Callable[[str], Constant | None]) -> Constant | None:
    """The value of an expression of literals and constants; the keys of a dictionary."""
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.Name(id=name):
            return constant(name)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _literal(left, constant), _literal(right, constant)
            if isinstance(first, int) and isinstance(second, int):
                match op:
                    case ast.Add():
                        return first + second
                    case ast.Sub():
                        return first - second
                    case ast.Mult():
                        return first * second
                    case ast.FloorDiv() if second:
                        return first // second
                    case ast.Pow() | ast.LShift() if 0 <= second < 64:
                        return first**second if isinstance(op, ast.Pow) else first << second
        case ast.Dict(keys=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            texts: list[str] = []
            for element in elements:
                value = (
                    _literal(element.value if isinstance(element, ast.Starred) else element, constant)
                    if element
                    else None
                )
                if value is None:
                    return None
                texts += value if isinstance(value, tuple) else [str(value)]
            return tuple(texts)
        case ast.Call(func=ast.Name(id="frozenset" | "tuple" | "sorted"), args=[inner]):
            return _literal(inner, constant)
    return None


def _python_constants(source: str) -> dict[str, Constant | None]:
    found: dict[str, Constant | None] = {}
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name.isupper():
            found[name] = _literal(value, found.get)
    return found


def _imports(path: str, source: str) -> Iterator[tuple[str, str]]:
    """The constants that a file imports, each with the file that it imports them from."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ImportFrom) and statement.level:
            folder = pathlib.PurePosixPath(path).parents[statement.level - 1]
            module = folder.joinpath(*(statement.module or "").split(".")).as_posix()
            for alias in statement.names:
                if alias.name.isupper():
                    yield alias.asname or alias.name, f"{module}.py"
                    yield alias.asname or alias.name, f"{module}/__init__.py"


_CPP_CONSTANT = re.compile(
    r"\bconst(?:expr)?\b[^;{}()=]*\b(k[A-Z]\w*)(?:\[\])?\s*(?:=\s*(?P<value>[^;]*)|[({](?P<initial>[^;]*)[)}]);"
)


def _cpp_constants(source: str) -> dict[str, Constant | None]:
    found: dict[str, Constant | None] = {}
    for match in _CPP_CONSTANT.finditer(source):
        name, value = match[1], match["value"] or match["initial"] or ""
        try:
            node = ast.parse(re.sub(r"(?<=\d)(?:[uU]?[lL]{0,2})\b", "", value.strip()), mode="eval").body
        except SyntaxError:
            found[name] = None
        else:
            found[name] = _literal(node, found.get)
    return found


def constants_of(path: str, source: str) -> dict[str, Constant | None]:
    """The constants that a file defines."""
    return _python_constants(source) if path.endswith(".py") else _cpp_constants(source)


@functools.cache
def constants(root: pathlib.Path, paths: tuple[str, ...]) -> Constants:
    found: dict[str, dict[str, Constant | None]] = {}
    imported: list[tuple[str, str, str]] = []
    for path in tracked(root, paths):
        if path.endswith((".py", ".cpp", ".h")):
            source = (root / path).read_text(encoding="utf-8", errors="replace")
            for name, value in constants_of(path, source).items():
                found.setdefault(name, {})[path] = value
            if path.endswith(".py"):
                imported += [(name, path, module) for name, module in _imports(path, source)]
    for name, path, module in imported:
        if module in found.get(name, {}):
            found[name][path] = found[name][module]
    return found


def _words(name: str) -> str:
    """`getElementType` as "element type"."""
    name = re.sub(r"^_*(?:get|stringify|k)(?=[A-Z])|^_+|OrSelf$", "", name)
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+", " ", name).strip()
    return re.sub(r"^(?:num|len) ", "number of ", spaced if spaced.isupper() else spaced.lower())


def _element(found: re.Match[str]) -> str:
    """`scales[0]` as "first_scale"."""
    words = _words(found[1])
    before, space, name = words.rpartition(" ")
    before += space
    singular = _SINGULAR.get(name, name[:-1] if name.endswith("s") and not name.endswith("ss") else name)
    return (_ORDINALS.get(found[2].strip(), "") + before + singular).replace(" ", "_")


def _in_words(expression: str) -> str:
    """The words of an expression: `op.getAccumulator().getType()` as "accumulator type"."""
    expression = re.sub(
        r"\(\)|^\*|\b(?:llvm|std|mlir|layout|mosaic_gpu|triton_xla|transfers|targets|block_to_thread)::", "", expression
    )
    expression = re.sub(r", RankedTensorType$", "", expression)
    expression = re.sub(r"^toString\((.*), 10, (?:true|false)\)$", r"\1", expression).lstrip("*")
    expression = re.sub(r"(?:\w+\.)?operands\[(\d+)\]\.type", r"type_of_operand_\1", expression)
    expression = re.sub(
        r"(?:\w+\.)?(operand|result)s\[\w+\]\.type|(?:\w+->)?get(Result)\(0\)\.getType", r"\1\2_type", expression
    )
    before = ""
    while before != expression:
        before, expression = expression, _WRAPPER.sub(r"\1", expression)
    expression = re.sub(r"\bnames\.get\((?:getRootBuffer\()?[\w.>-]*\)*", "buffer", expression)
    expression = re.sub(
        r"(?:\w+(?:\.|->))*\b([A-Za-z]\w*)\[([^\[\]]*)\](?:\.element_type|\.index)?", _element, expression
    )

    def words(chain: re.Match[str]) -> str:
        if chain[0].startswith("len("):
            return f"number of {_words(chain[0][4:-1].split('.')[-1])}"
        parts = [_words(part) for part in re.split(r"\.|->|::", chain[0].partition("(")[0])]
        while len(parts) > 1 and parts[-1] in ("str", "value", "front", "ref", "strref", "text", "rtrim", "trim"):
            parts.pop()
        if parts[-1] in ("get", "dim size"):
            return "size" if parts[-1] == "dim size" else "buffer"
        if len(parts) == 1 or parts[-2] in ("op", "self", "this", parts[-1]):
            return parts[-1]
        if parts[-1] == "size":
            return f"number of {parts[-2]}"
        return f"{parts[-2]} {parts[-1]}" if parts[-1] in _VAGUE else parts[-1]

    if '"' in expression:
        return expression
    expression = re.sub(r"(\w*OrSelf)\(.*", r"\1", expression)
    text = _CHAIN.sub(words, expression).strip("()* ")
    return text if re.search("[a-z]", text, re.IGNORECASE) and len(text) <= 40 and "'" not in text else "value"


class Values:
    """The words for the values in the messages of a file."""

    def __init__(self, known: Constants, path: str) -> None:
        self._known = known
        self._path = path

    def constant(self, name: str) -> Constant | None:
        values = self._known.get(name, {})
        if self._path in values or name.startswith("_"):
            return values.get(self._path)
        return next(iter(values.values())) if len(set(values.values())) == 1 else None

    def shown(self, expression: str) -> str:
        """The value of a constant, or the words of another expression in braces."""
        if self._path.endswith(".py"):
            try:
                node = ast.parse(expression.strip(), mode="eval").body
            except SyntaxError:
                return f"{{{_in_words(expression)}}}"
            return self._python(node)
        number = re.sub(r"\bk[A-Z]\w*", lambda name: str(self.constant(name[0])), expression.replace(" / ", " // "))
        try:
            literal = _literal(ast.parse(number, mode="eval").body, lambda _: None)
        except SyntaxError:
            literal = None
        if literal is None:
            literal = self.constant(expression)
        return f"{{{_in_words(expression)}}}" if literal is None else str(literal)

    def _python(self, node: ast.expr, separator: str = ", ") -> str:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if (
                name.isupper() and (value := self.constant(name)) is not None
            ):
                if not isinstance(value, tuple):
                    return f"{value:g}" if isinstance(value, float) else str(value)
                # The last one is shown too: it follows "or".
                shown = value if len(value) <= MOST_LISTED else (*value[: MOST_LISTED - 2], "...", value[-1])
                return separator.join(shown)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"), args=[joined]):
                return self._python(joined, between)
            case ast.Call(func=ast.Name(id="map"), args=[_, inner]):
                return self._python(inner, separator)
            case ast.Call(
                func=ast.Name(id="sorted" | "list" | "tuple" | "str" | "repr") | ast.Attribute(attr="islice"),
                args=[inner, *_],
            ):
                return self._python(inner, separator)
            case ast.GeneratorExp(generators=[only]) | ast.ListComp(generators=[only]):
                return self._python(only.iter, separator)
            case ast.BoolOp(op=ast.Or(), values=[first, *_]):
                return self._python(first, separator)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) if any(
                isinstance(word, ast.Starred) for word in elements
            ):
                return separator.join(self._python(word, separator) for word in elements)
            case ast.Starred(value=inner):
                return self._python(inner, separator)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name.isupper():
                return f"{{{_words(name).lower()}}}"
            case ast.Constant(value=str(text)):
                return text
            case ast.Attribute(value=ast.Call(func=ast.Name(id="type"), args=[_]), attr="__name__"):
                return "{Python type}"
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Slice(lower=ast.Constant(value=int(first)), upper=None)
            ):
                value = self.constant(name)
                if isinstance(value, tuple):
                    return separator.join(value[first:])
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name)) if name.isupper() and self.constant(
                name
            ):
                return f"{{{_words(name).lower().removesuffix('s')}}}"
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                return f"{{{_words(key)}}}"
            case ast.Call(func=ast.Attribute(attr="text"), args=[ast.Constant(value=str(key))]):
                return f"{{{_words(key)}}}"
        if (literal := _literal(node, self.constant)) is not None:
            return str(literal)
        return f"{{{_in_words(ast.unparse(node))}}}"
