# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutations of a program's text: tokens, numbers, types, attributes, operands and statements.

A mutation is a function of the program, a pool of parts of all programs, and a random number generator. Many of them
work best on MLIR's generic form, in which each statement says the types of its operands.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|%[\w$.#-]+|\^\w+|@[\w$.]+|[#!][A-Za-z_][\w.$]*|0x[0-9A-Fa-f]+|\d+\.\d*(?:[eE][+-]?\d+)?|\d+'
    r"|[A-Za-z_][\w.$]*|->|::|\s+|."
)
NUMBER = re.compile(
    r"(?<![\w%@^#!$.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])"
    r"|(?<=[<x\[])\d+(?=x[\w?\[]|\])"
)
SCALAR = re.compile(r"(?<![\w%@^#!$.\"])(?:index|[su]?i\d+|bf16|tf32|f\d+\w*)(?![\w\"=])")
ELEMENT = re.compile(r"(?<=[\dx?]x)(?:index|[su]?i\d+|bf16|f\d+\w*)(?=[,>])")
SHAPED = re.compile(r"(?<![\w.#])(?:memref|tensor|vector|![A-Za-z_][\w.]*)")
NAMED = re.compile(r"#[A-Za-z_][\w.]*")
ENTRY = re.compile(r"(?<=[{,\s])([A-Za-z_][\w.]*|\"[\w.]+\") = ")
NAME = re.compile(r"%[\w$.-]+(?:#\d+)?")
GENERIC = re.compile(
    r'^\s*(?:(?P<results>%[\w]+)(?::\d+)? = )?"(?P<op>[\w.]+)"\((?P<operands>[^()]*)\)(?P<rest>.*) : '
    r"\((?P<inputs>[^{}]*)\) -> (?P<outputs>[^{}]*)$"
)

_ELEMENTS = [
    "f32",
    "f16",
    "bf16",
    "f64",
    "tf32",
    "f8E4M3FN",
    "f8E5M2",
    "f8E4M3FNUZ",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "f6E3M2FN",
    "f4E2M1FN",
    "f80",
    "f128",
    "i1",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "i7",
    "si8",
    "ui8",
    "si32",
    "ui32",
    "i0",
    "index",
    "complex<f32>",
    "vector<4xf32>",
    "none",
]
_NUMBERS = (
    0, 1, -1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 255, 256, 512, 1000, 1024, 4096, 65535, 65536,
    1 << 20, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 32, (1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 64,
)  # fmt: skip
_FLOATS = ("0.0", "-0.0", "1.0e+300", "-1.0e+300", "1.0e-300", "0x7F800000", "0x7FC00000", "0.1", "65504.0", "1.0e+400")
_VALUES = (
    "unit", "true", "false", '""', '"none"', "[]", "[1, 2]", "{}", "0 : i64", "-1 : i64", "1 : i32", "array<i64>",
    "array<i64: 0>", "array<i64: -1, 9223372036854775807>", "array<i32: 1, 1, 1, 1>", "dense<0> : tensor<2xi64>", "f32",
    "@nowhere", "9223372036854775807 : i64", "affine_map<(d0) -> (d0)>", "affine_map<(d0, d1) -> (d1, d0)>", "1.0 : f32",
    "#mosaic_gpu.WGMMA", "#gpu.address_space<workgroup>", "strided<[1, 2], offset: ?>",
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# The parts of a program
# ---------------------------------------------------------------------------------------------------------------------

_OPEN, _CLOSE = "<([{", ">)]}"


def end_of(text: str, start: int) -> int:
    """The end of the bracket that opens at `start`, or `start` if it does not close."""
    depth, at = 0, start
    while at < len(text):
        letter = text[at]
        if letter == '"':
            closing = text.find('"', at + 1)
            at = len(text) if closing < 0 else closing
        elif text.startswith("->", at):
            at += 1
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return start


def separated(text: str) -> list[str]:
    """The parts of a list between its commas, without those in brackets."""
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] in _OPEN:
            at = max(end_of(text, at), at + 1)
            continue
        if text[at] == ",":
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _bracketed(text: str, heads: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    for head in heads:
        end = head.end()
        yield head.start(), end_of(text, end) if text[end : end + 1] == "<" else end


_cached = functools.lru_cache(maxsize=4000)
"""The programs of the files are mutated again and again."""


@_cached
def types_in(text: str) -> list[tuple[int, int]]:
    """The positions of the types."""
    return [*_bracketed(text, SHAPED.finditer(text)), *(found.span() for found in SCALAR.finditer(text))]


@_cached
def attributes_in(text: str) -> list[tuple[int, int]]:
    """The positions of the attributes of dialects."""
    return list(_bracketed(text, NAMED.finditer(text)))


@_cached
def entries_in(text: str) -> list[tuple[str, int, int, int]]:
    """The entries of dictionaries: the name, the begins of the entry and of its value, and the end of both."""
    found = []
    for head in ENTRY.finditer(text):
        at = head.end()
        while at < len(text) and text[at] not in ",}\n)]>":
            if text[at] == '"':
                at = text.find('"', at + 1) + 1 or len(text)
            elif text[at] in "<([{":
                at = max(end_of(text, at), at + 1)
            else:
                at += 1
        value = text[head.end() : at].strip()
        if (value and not value.startswith(("%", '"'))) or value.endswith('"'):
            found.append((head[1], head.start(), head.end(), at))
    return found


@dataclass
class Statement:
    """A statement of the generic form on one line, and the values that it may use."""

    line: int
    match: re.Match[str]
    visible: list[tuple[list[tuple[str, str]], int]]
    """The values of each region around it, and the number of them before it."""

    @property
    def scope(self) -> dict[str, str]:
        """The types of the values, by their names."""
        return {name: kind for values, count in self.visible for name, kind in values[:count]}

    @property
    def operands(self) -> list[tuple[str, str]]:
        """The names of the operands, and their types."""
        names, types = separated(self.match["operands"]), separated(self.match["inputs"])
        return list(zip(names, types, strict=True)) if len(names) == len(types) else []


@_cached
def statements_in(text: str) -> list[Statement]:
    """The statements of a program in generic form that have no regions."""
    scopes: list[list[tuple[str, str]]] = [[]]
    found = []
    for number, line in enumerate(text.splitlines()):
        stripped = line.strip()
        if stripped.startswith("}") and len(scopes) > 1:
            scopes.pop()
        if stripped.startswith("^"):
            arguments = separated(stripped[stripped.find("(") + 1 : -2])
            scopes[-1] += [(name, kind) for name, colon, kind in (part.partition(": ") for part in arguments) if colon]
        elif match := GENERIC.match(line):
            found.append(Statement(number, match, [(values, len(values)) for values in scopes]))
            if name := match["results"]:
                types = separated(match["outputs"].strip().removeprefix("(").removesuffix(")"))
                names = [name] if len(types) == 1 else [f"{name}#{index}" for index in range(len(types))]
                scopes[-1] += zip(names, types, strict=True)
        if stripped.endswith("({"):
            scopes.append([])
    return found


@dataclass
class Pool:
    """Parts of all programs, to put into others."""

    tokens: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    """The values of the entries of dictionaries, by name."""
    statements: list[str] = field(default_factory=list)
    """Statements in generic form."""

    @functools.cached_property
    def of_dialect(self) -> dict[str, list[str]]:
        """Tokens and attributes by what is before their first dot."""
        found: dict[str, list[str]] = {}
        for part in (*self.tokens, *self.attributes):
            head = part.partition("<")[0]
            if "." in head and not head[0].isdigit():
                found.setdefault(head.partition(".")[0], []).append(part)
        return found

    @classmethod
    def of(cls, programs: Iterable[str]) -> Pool:
        """The parts of these programs, each once."""
        tokens: set[str] = set()
        types: set[str] = set()
        attributes: set[str] = set()
        values: dict[str, set[str]] = {}
        statements: set[str] = set()
        for text in programs:
            tokens.update(token for token in TOKEN.findall(text) if not token.isspace() and len(token) < 40)
            types.update(part for start, end in types_in(text) if len(part := text[start:end]) < 160)
            attributes.update(part for start, end in attributes_in(text) if len(part := text[start:end]) < 160)
            for name, _, start, end in entries_in(text):
                if end - start < 160:
                    values.setdefault(name, set()).add(text[start:end].strip())
            statements.update(line.strip() for line in text.splitlines() if len(line) < 400 and GENERIC.match(line))
        listed = {name: sorted(of_name) for name, of_name in sorted(values.items())}
        return cls(sorted(tokens), sorted(types), sorted(attributes), listed, sorted(statements))


# ---------------------------------------------------------------------------------------------------------------------
# The mutations
# ---------------------------------------------------------------------------------------------------------------------


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def mutate_token(text: str, pool: Pool, rng: random.Random) -> str:
    """Deletes, doubles or replaces a token, or exchanges it with the next."""
    tokens = TOKEN.findall(text)
    solid = [at for at, token in enumerate(tokens) if not token.isspace()]
    if len(solid) < 2:
        return text
    number = rng.randrange(len(solid) - 1)
    at, other = solid[number], solid[number + 1]
    how = rng.randrange(5)
    if how == 0:
        tokens[at] = ""
    elif how == 1:
        tokens[at] += f" {tokens[at]}"
    elif how == 2:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif how == 3:
        tokens[at] = rng.choice(pool.tokens)
    else:
        # One of the same sort: a name for a name, a word for a word.
        same = [token for token in tokens if not token.isspace() and token[0] == tokens[at][0]]
        tokens[at] = rng.choice(pool.of_dialect.get(tokens[at].partition(".")[0], same))
    return "".join(tokens)


def mutate_number(text: str, pool: Pool, rng: random.Random) -> str:
    """Replaces a number, once or wherever it is."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    old = match[0]
    if "." in old or "e" in old:
        new = rng.choice(_FLOATS)
    else:
        value = int(old)
        near = (value + 1, value - 1, 2 * value, value // 2, -value, value * 3, value + 8)
        new = str(rng.choice(near if rng.random() < 0.5 else _NUMBERS))
    # A size that changes in only one type makes the program invalid.
    if rng.random() < (0.7 if text[match.start() - 1] in "<x[" else 0.3):
        return NUMBER.sub(lambda other: new if other[0] == old else other[0], text)
    return _spliced(text, *match.span(), new)


def mutate_type(text: str, pool: Pool, rng: random.Random) -> str:
    """Replaces a type, its elements or one of its sizes, once or wherever the type is."""
    positions = types_in(text)
    if not positions:
        return text
    start, end = rng.choice(positions)
    old = text[start:end]
    how = rng.randrange(4)
    if how == 0 and (elements := list(ELEMENT.finditer(text))):
        # The same elements in all types that have them.
        kind = rng.choice(elements)[0]
        # Constants are written as floats or as integers.
        same = [other for other in _ELEMENTS if ("f" in other) == ("f" in kind)]
        new = rng.choice(same if rng.random() < 0.8 else _ELEMENTS)
        return SCALAR.sub(
            lambda found: new if found[0] == kind else found[0],
            ELEMENT.sub(lambda found: new if found[0] == kind else found[0], text),
        )
    if how == 1 or "<" not in old:
        new = rng.choice(pool.types) if "<" in old or rng.random() < 0.3 else rng.choice(_ELEMENTS)
    elif how == 2:
        new = ELEMENT.sub(rng.choice(_ELEMENTS), old)
    else:
        new = _resized(old, rng)
    if rng.random() < 0.8:
        return text.replace(old, new)
    return _spliced(text, start, end, new)


def _resized(kind: str, rng: random.Random) -> str:
    """The type with a size less, more, or another one."""
    sizes = list(re.finditer(r"(?<=[<x])(?:\d+|\?|\[\d+\])x", kind))
    if not sizes:
        return kind.replace("<", f"<{rng.choice((1, 2, 3, 64))}x", 1)
    chosen = rng.choice(sizes)
    how = rng.randrange(4)
    if how == 0:
        return _spliced(kind, *chosen.span(), "")
    if how == 1:
        return _spliced(kind, chosen.start(), chosen.start(), rng.choice(("1x", "2x", "?x", "0x", "3x")))
    new = rng.choice(
        ("?", "0", "1", "2", "3", "5", "7", "8", "16", "32", "48", "64", "100", "128", "256", "4096", "65536")
    )
    if how == 2 and rng.random() < 0.2:
        new = rng.choice(("2147483648", "4611686018427387904", "9223372036854775807", "[4]"))
    return _spliced(kind, *chosen.span(), f"{new}x")


def mutate_attribute(text: str, pool: Pool, rng: random.Random) -> str:
    """Replaces an attribute, or drops, renames, adds or replaces an entry of a dictionary."""
    entries, named = entries_in(text), attributes_in(text)
    if named and (not entries or rng.random() < 0.35):
        start, end = rng.choice(named)
        same = pool.of_dialect.get(text[start:end].partition("<")[0].partition(".")[0], pool.attributes)
        new = rng.choice(same if rng.random() < 0.8 else pool.attributes)
        if rng.random() < 0.5:
            return text.replace(text[start:end], new)
        return _spliced(text, start, end, new)
    if not entries:
        return text
    name, start, value, end = rng.choice(entries)
    how = rng.randrange(5)
    if how == 0:
        comma = end + 1 if text[end : end + 1] == "," else end
        return _spliced(text, start, comma, "")
    if how == 1:
        other = rng.choice(list(pool.values))
        return _spliced(text, start, start, f"{other} = {rng.choice(pool.values[other])}, ")
    if how == 2:
        return _spliced(text, value, end, rng.choice(_VALUES))
    if how == 3 and name in pool.values:
        return _spliced(text, value, end, rng.choice(pool.values[name]))
    return _spliced(text, value, end, rng.choice(pool.values[rng.choice(list(pool.values))]))


def mutate_operand(text: str, pool: Pool, rng: random.Random) -> str:
    """Replaces a use of a value by another one, of the same type if the text states the types."""
    lines = text.splitlines()
    statements = [statement for statement in statements_in(text) if "%" in statement.match["operands"]]
    for statement in rng.sample(statements, min(4, len(statements))):
        if not statement.operands:
            continue
        at = rng.randrange(len(statement.operands))
        old, kind = statement.operands[at]
        others = [
            name for name, known in statement.scope.items() if name != old and (known == kind or rng.random() < 0.02)
        ]
        if others:
            names = [name for name, _ in statement.operands]
            names[at] = rng.choice(others)
            start, end = statement.match.span("operands")
            lines[statement.line] = _spliced(lines[statement.line], start, end, ", ".join(names))
            return "\n".join(lines) + "\n"
    uses = [use for use in NAME.finditer(text) if not re.match(r"(?::\d+)? = |: ", text[use.end() : use.end() + 8])]
    if not uses:
        return text
    return _spliced(text, *rng.choice(uses).span(), rng.choice(uses)[0])


def mutate_statement(text: str, pool: Pool, rng: random.Random) -> str:
    """Removes, doubles, moves or inserts a statement; one with regions goes as a whole."""
    lines = text.splitlines()
    how = rng.randrange(6)
    known = statements_in(text)
    if known and how >= 4 and pool.statements:
        return _grafted(lines, known, pool, rng)
    if known and how == 0:
        statement = rng.choice(known)
        name = statement.match["results"]
        scope = statement.scope
        del lines[statement.line]
        rest = "\n".join(lines) + "\n"
        same = [other for other, kind in scope.items() if kind == statement.match["outputs"].strip()]
        if name and same:
            # Its uses take another value.
            rest = re.sub(rf"{re.escape(name)}(?![\w#])", rng.choice(same), rest)
        return rest
    if len(lines) < 3:
        return text
    at = rng.randrange(len(lines))
    end = _block_end(lines, at)
    block = lines[at:end]
    if how == 1:
        fresh = [re.sub(r"^(\s*)%(\w+)( =|:\d+ =)", r"\1%\2_again\3", line) for line in block]
        return "\n".join(lines[:end] + fresh + lines[end:]) + "\n"
    rest = lines[:at] + lines[end:]
    if how in (2, 3):
        # Most moves of more than a few lines put a use in front of its definition.
        to = rng.randrange(len(rest) + 1) if how == 2 else max(0, min(len(rest), at + rng.randint(-3, 3)))
        rest[to:to] = block
    return "\n".join(rest) + "\n"


def _block_end(lines: Sequence[str], at: int) -> int:
    """The line after the statement that begins at line `at`, with its regions."""
    depth = 0
    for number in range(at, len(lines)):
        depth += lines[number].count("{") - lines[number].count("}")
        if depth <= 0:
            return number + 1
    return at + 1


def _grafted(lines: list[str], known: Sequence[Statement], pool: Pool, rng: random.Random) -> str:
    """A statement of another program, with operands of this one that have its types."""
    place = rng.choice(known)
    by_type: dict[str, list[str]] = {}
    for name, kind in place.scope.items():
        by_type.setdefault(kind, []).append(name)
    for _ in range(40):
        match = GENERIC.match(rng.choice(pool.statements))
        assert match is not None
        types = separated(match["inputs"])
        if all(kind in by_type for kind in types):
            names = [rng.choice(by_type[kind]) for kind in types]
            line = _spliced(match[0], *match.span("operands"), ", ".join(names))
            if match["results"]:
                line = _spliced(line, *match.span("results"), "%grafted")
            lines.insert(place.line, line)
            break
    return "\n".join(lines) + "\n"


Mutation = Callable[[str, Pool, random.Random], str]

MUTATIONS: dict[str, Mutation] = {
    "token": mutate_token,
    "number": mutate_number,
    "type": mutate_type,
    "attribute": mutate_attribute,
    "operand": mutate_operand,
    "statement": mutate_statement,
}


def mutate(text: str, kind: str, pool: Pool, rng: random.Random) -> str:
    """A mutant of `text`: one mutation of this kind, and one time out of six others after it."""
    result = text
    for _ in range(8):
        result = MUTATIONS[kind](text, pool, rng)
        if result != text:
            break
    while rng.random() < 0.17:
        result = MUTATIONS[rng.choice(list(MUTATIONS))](result, pool, rng)
    return result
