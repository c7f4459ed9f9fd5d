# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lint of words: banned phrases, long sentences and titles in pages, comments, docstrings, messages and names.

`typos` checks spelling. Vale would be the linter for the rest, but its package downloads a binary when it first runs, and
it does not read TableGen and string literals. The rules are therefore a file (tools/words.toml) that this module reads.
"""

from __future__ import annotations

import ast
import bisect
import collections
import json
import pathlib
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

TOOLS = pathlib.Path(__file__).resolve().parent.parent
RULES = TOOLS / "words.toml"
OPEN = TOOLS / "words-open.toml"
"""The folders where a rule does not hold yet; a folder that is not in the list holds all rules."""


@dataclass(frozen=True)
class Text:
    """Consecutive lines of text that a person reads; comment markers and code are blanked, lines are kept."""

    kind: str
    line: int
    text: str


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    kind: str
    text: str
    write: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.rule}] {self.kind}: {self.text!r}; write: {self.write}"


# Extraction of text.

_CODE_SPAN = re.compile(r"``.+?``|`[^`\n]+(?:\n[^`\n]+)?`")
_QUOTED_OP = re.compile(r"'[\w.-]*[._-][\w.-]*'")
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_HTML = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\]\([^)\s]*\)|\bhttps?://\S+")
_INDENTED = re.compile(r"(?:(?<=\n\n)|(?<=\A\n))(?: {4}.*(?:\n|$))+")
_HEADING = re.compile(r"^#+[ \t]+(.*)$", re.MULTILINE)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _without_indented(text: str, column: int) -> str:
    """A docstring that begins at a column, without its indented blocks, which are code."""
    first, newline, rest = text.partition("\n")
    return first + newline + _INDENTED.sub(_blank, re.sub(rf"(?m)^ {{{column}}}", "", rest))


def _placeholder(match: re.Match[str]) -> str:
    """One word in place of code, and the line breaks of the code."""
    return "X" + "\n" * match[0].count("\n")


def without_code(text: str) -> str:
    return _QUOTED_OP.sub("X", _CODE_SPAN.sub(_placeholder, text))


def markdown(text: str, kind: str, line: int = 1) -> Iterator[Text]:
    text = _LINK.sub("]", _HTML.sub(_blank, _FENCE.sub(_blank, text)))
    for match in _HEADING.finditer(text):
        yield Text("title", line + text.count("\n", 0, match.start()), without_code(match[1]))
    yield Text(kind, line, without_code(text))


CPP_TOKEN = re.compile(
    r"""(?P<raw>R"(?P<mark>\w*)\((?P<body>.*?)\)(?P=mark)")|(?P<string>"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')|(?P<comment>//[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
_JOIN = re.compile(r"\s*\)?\s*(?:(?:<<|\+)[^;{}\"?]*?(?:<<|\+)\s*(?:\w+\(\s*)*)?\s*")
_BANNER = re.compile(r"===-+ (?P<name>\S+) - (?P<title>.*?)\s*(?:-\*- [\w+]+ -\*-)?-*===//")


_NOT_TEXT = re.compile(r"[=-]*(?:===)?|NOLINT.*|clang-format.*")


def is_prose(text: str) -> bool:
    """Whether a string literal is text and not code or a name."""
    if len(re.findall(r"[A-Za-z]{2,}", text)) < 2 or " " not in text.strip():
        return False
    if text.count("\n") > 3 and "=" in text:
        return False
    return not re.search(r"%\w+ ?[=:,]|::|[{};]\s*\n|=>|^\s*[.#@%]|->|\w\(\)|\w+\.\w+ +%|builtin\.module", text)


def cpp(source: str, first: int = 1) -> Iterator[Text]:
    """Comments, as blocks of consecutive lines, and string literals that are text, joined across `<<` and `+`."""
    comment: list[str] = []
    comment_line = 0
    strings: list[str] = []
    string_line = string_end = 0
    newlines = [match.start() for match in re.finditer("\n", source)]

    def line_of(offset: int) -> int:
        return first + bisect.bisect_left(newlines, offset)

    def flush_strings() -> Iterator[Text]:
        text = "".join(strings)
        strings.clear()
        if is_prose(text):
            yield Text("message", string_line, without_code(text))

    for match in CPP_TOKEN.finditer(source):
        line = line_of(match.start())
        if match["comment"]:
            if match["comment"].startswith("/*"):
                yield Text("comment", line, without_code(match["comment"][2:-2]))
                continue
            text = match["comment"].lstrip("/").removeprefix("<").removeprefix(" ").rstrip()
            if banner := _BANNER.fullmatch(match["comment"][2:].strip()):
                yield Text("title", line, without_code(banner["title"].rstrip("- ")))
                text = ""
            elif _NOT_TEXT.fullmatch(text.replace("-*- C++ -*-", "").strip()):
                text = ""
            if comment and line != comment_line + len(comment):
                yield Text("comment", comment_line, without_code("\n".join(comment)))
                comment = []
            comment_line = comment_line if comment else line
            comment.append(text)
            continue
        if match["char"]:
            continue
        value = match["body"] if match["raw"] else match["string"][1:-1].replace("\\n", " ").replace('\\"', '"')
        gap = source[string_end : match.start()]
        if strings and _JOIN.fullmatch(gap):
            strings.append("N" + "\n" * gap.count("\n") if gap.strip(" \n") else "\n" * gap.count("\n"))
        else:
            yield from flush_strings()
            string_line = line
        strings.append(value)
        string_end = match.end()
    yield from flush_strings()
    if comment:
        yield Text("comment", comment_line, without_code("\n".join(comment)))


TABLEGEN_TOKEN = re.compile(
    r"(?P<block>\[\{(?P<body>.*?)\}\])|(?P<string>\"(?:\\.|[^\"\\\n])*\")|(?P<comment>//[^\n]*)", re.DOTALL
)


def tablegen(source: str) -> Iterator[Text]:
    code: list[str] = []
    end = 0
    for match in TABLEGEN_TOKEN.finditer(source):
        before = source[end : match.start()]
        code.append(before)
        line = 1 + source.count("\n", 0, match.start())
        end = match.end()
        if match["block"] and re.search(r"\b(?:description|summary)\s*=\s*$", before):
            yield from markdown(_dedent(match["body"]), "description", line)
            code.append('""' + "\n" * match[0].count("\n"))
        elif match["block"]:
            yield from cpp(match["body"], line)
            code.append('""' + "\n" * match[0].count("\n"))
        elif match["string"] and re.search(r"\b(?:description|summary)\s*=\s*$", before):
            yield Text("description", line, without_code(match["string"][1:-1]))
            code.append('""')
        else:
            code.append(match[0])
    code.append(source[end:])
    yield from cpp("".join(code))


def _dedent(text: str) -> str:
    """Without the indentation of TableGen, which would hide headings."""
    return re.sub(r"^ {4}", "", text, flags=re.MULTILINE)


PYTHON_TOKEN = re.compile(
    r"(?P<string>\"\"\"(?:\\.|.)*?\"\"\"|'''(?:\\.|.)*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<comment>#[^\n]*)",
    re.DOTALL,
)


def hash_comments(source: str, pattern: re.Pattern[str] = PYTHON_TOKEN) -> Iterator[Text]:
    comment: list[str] = []
    comment_line = 0
    newlines = [match.start() for match in re.finditer("\n", source)]
    for match in pattern.finditer(source):
        if not match["comment"]:
            continue
        line = 1 + bisect.bisect_left(newlines, match.start())
        text = match["comment"].lstrip("#").removeprefix(":").removeprefix(" ").rstrip()
        if text.startswith(("!", "noqa", "type:", "pyright:", "ruff:", "fmt:")):
            continue
        if comment and line != comment_line + len(comment):
            yield Text("comment", comment_line, without_code("\n".join(comment)))
            comment = []
        comment_line = comment_line if comment else line
        comment.append(text)
    if comment:
        yield Text("comment", comment_line, without_code("\n".join(comment)))


def python(source: str, messages: bool = True) -> Iterator[Text]:
    yield from hash_comments(source)
    tree = ast.parse(source)
    docstrings: set[int] = set()
    if doc := ast.get_docstring(tree):
        yield Text("title", 1, without_code(re.split(r"(?<=[\w`)\"'])\.(?:\s|$)", doc.partition("\n")[0])[0].strip()))
    inside: set[int] = set()
    # A node comes after the one that contains it.
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else ():
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                docstrings.add(id(child.value))
        if isinstance(node, ast.JoinedStr):
            inside.update(id(value) for value in node.values)
            parts = [str(v.value) if isinstance(v, ast.Constant) else "N" for v in node.values]
            text = "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        else:
            continue
        if id(node) in docstrings:
            yield Text("docstring", node.lineno, without_code(_without_indented(text, node.col_offset)))
        elif messages and is_prose(text):
            yield Text("message", node.lineno, without_code(text))


_DIRECTIVE = re.compile(r"\s*(?://|#)?\s*[A-Z][A-Z0-9_-]*(?:\{[A-Z]*\})?:")


_NO_COMMENT = re.compile(r"// ?---|// ?expected-")


def mlir(source: str) -> Iterator[Text]:
    """Comments that are not directives of lit and FileCheck; the first one is the file's title."""
    comment: list[str] = []
    comment_line = 0
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        if text.startswith("//") and not _DIRECTIVE.match(text) and not _NO_COMMENT.match(text):
            comment_line = comment_line if comment else number
            comment.append(text.lstrip("/").strip())
        elif comment:
            yield from _comment_with_title(comment, comment_line)
            comment = []
    if comment:
        yield from _comment_with_title(comment, comment_line)


def _comment_with_title(comment: Sequence[str], line: int) -> Iterator[Text]:
    if line == 1:
        title = re.split(r"(?<=\w)[.:;]", without_code(" ".join(comment)))[0]
        yield Text("title", line, title)
    yield Text("comment", line, without_code("\n".join(comment)))


def lit_test(source: str) -> Iterator[Text]:
    lines = source.splitlines()
    head = next((n for n, line in enumerate(lines) if not line.strip() or _DIRECTIVE.match(line)), len(lines))
    if head and "#" not in lines[0][:2]:
        yield from _comment_with_title(lines[:head], 1)
    yield from hash_comments("\n".join(lines))


_NOTHING = re.compile(r"(?P<string>\"(?:\\.|[^\"\\\n])*\")|(?P<comment>(?<![^\s])#[^\n]*)")


def texts(path: pathlib.PurePath, source: str) -> Iterable[Text]:
    """The text of a file that a person reads."""
    is_test_python = path.parts[:2] == ("test", "python")
    match path.suffix:
        case ".md":
            return markdown(source, "page")
        case ".cpp" | ".h" | ".def" | ".c":
            return cpp(source)
        case ".td":
            return tablegen(source)
        case ".py" | ".pyi":
            return python(source, messages=not is_test_python)
        case ".mlir" | ".ll":
            return mlir(source.replace("\n;", "\n//") if path.suffix == ".ll" else source)
        case ".test":
            return lit_test(source)
        case ".cmake" | ".toml":
            return hash_comments(source, _NOTHING)
        case _ if path.name in ("CMakeLists.txt", "dev") or path.name.startswith("requirements"):
            return hash_comments(source, _NOTHING)
    return ()


_DESCRIPTION = re.compile(r"\b(?:description|summary)\s*=\s*\[\{.*?\}\]", re.DOTALL)
_ITERTOOLS = re.compile(r"\bitertools\.product\b|from itertools import .*")


def names(path: pathlib.PurePath, source: str) -> dict[str, int]:
    """The identifiers of a source, each with its first line."""
    if path.suffix in (".cpp", ".h", ".def", ".td", ".c"):
        if path.suffix == ".td":
            source = _DESCRIPTION.sub(_blank, source)
        source = CPP_TOKEN.sub(_blank, source)
    elif path.suffix in (".py", ".pyi"):
        source = _ITERTOOLS.sub(_blank, PYTHON_TOKEN.sub(_blank, source))
    elif path.suffix == ".mlir":
        found = dict[str, int]()
        for match in re.finditer(r"@([A-Za-z_]\w*)", source):
            found.setdefault(match[1], 1 + source.count("\n", 0, match.start()))
        return found
    else:
        return {}
    result: dict[str, int] = {}
    for number, line in enumerate(source.splitlines(), 1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            result.setdefault(name, number)
    return result


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words_of(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


# Rules.


@dataclass(frozen=True)
class Title:
    """Titles that are not noun phrases: questions, and main clauses, whose verb does not follow a relative pronoun."""

    question: re.Pattern[str]
    relative: re.Pattern[str]
    verb: re.Pattern[str]

    def is_wrong(self, text: str) -> bool:
        if self.question.search(text):
            return True
        verb, relative = self.verb.search(text), self.relative.search(text)
        return verb is not None and (relative is None or verb.start() < relative.start())


@dataclass
class Rule:
    id: str
    write: str
    pattern: re.Pattern[str] | None = None
    keys: frozenset[str] = frozenset()
    """Words of which a text has at least one if the pattern can match; empty: any text."""
    exceptions: tuple[re.Pattern[str], ...] = ()
    kinds: frozenset[str] = frozenset({"page", "description", "comment", "docstring", "message"})
    names: frozenset[str] = frozenset()
    longest: int = 0
    """The largest number of words in a sentence."""
    title: Title | None = None

    def hits(self, text: str) -> Iterator[re.Match[str]]:
        assert self.pattern is not None
        allowed: list[tuple[int, int]] | None = None
        for match in self.pattern.finditer(text):
            if allowed is None:
                allowed = [hit.span() for exception in self.exceptions for hit in exception.finditer(text)]
            if not any(start < match.end() and match.start() < end for start, end in allowed):
                yield match


def _phrase(text: str) -> str:
    return r"\s+".join(map(re.escape, text.split()))


def read_rules(path: pathlib.Path = RULES) -> list[Rule]:
    rules: list[Rule] = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["rule"]:
        rule = Rule(entry["id"], entry["write"], longest=entry.get("longest", 0))
        if phrases := entry.get("phrases"):
            longest_first = sorted(phrases, key=len, reverse=True)
            rule.pattern = re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(map(_phrase, longest_first))})(?![\w-])")
            rule.keys = frozenset(re.split(r"[^a-z]", phrase.lower())[0] for phrase in phrases)
            if entry.get("names"):
                rule.names = frozenset(phrase for phrase in phrases if " " not in phrase)
        elif "pattern" in entry:
            rule.pattern = re.compile(entry["pattern"])
            rule.keys = frozenset(entry["keys"])
        elif "question" in entry:
            rule.title = Title(*(re.compile(entry[name]) for name in ("question", "relative", "verb")))
        rule.exceptions = tuple(re.compile(text) for text in entry.get("except", ()))
        if "in" in entry:
            rule.kinds = frozenset(entry["in"])
        rules.append(rule)
    return rules


_PARAGRAPH = re.compile(r"\n[ \t]*(?=\n|[-*+] |\d+\. |#|\|)|\|")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"']?\s+(?=[A-Z\"'(`*\[])")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|resp)\.")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a text, each with its offset."""
    start = 0
    text = _ABBREVIATION.sub(lambda match: match[0].replace(".", "_"), text)
    for paragraph in (*_PARAGRAPH.finditer(text), None):
        end = paragraph.start() if paragraph else len(text)
        part = text[start:end]
        at = 0
        for stop in (*_SENTENCE_END.finditer(part), None):
            sentence = part[at : stop.start() if stop else len(part)]
            if sentence.strip():
                yield start + at + len(sentence) - len(sentence.lstrip()), sentence.strip()
            at = stop.end() if stop else len(part)
        start = paragraph.end() if paragraph else end


def word_count(sentence: str) -> int:
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def check_text(path: str, text: Text, rules: Sequence[Rule]) -> Iterator[Finding]:
    present = set(re.findall(r"[a-z]+", text.text.lower()))
    for rule in rules:
        if text.kind not in rule.kinds:
            continue
        if rule.longest:
            for offset, sentence in sentences(text.text):
                if (count := word_count(sentence)) > rule.longest:
                    line = text.line + text.text.count("\n", 0, offset)
                    start = " ".join(sentence.split()[:6])
                    yield Finding(path, line, rule.id, text.kind, f"{start} ... ({count} words)", rule.write)
            continue
        if rule.title:
            if rule.title.is_wrong(text.text):
                yield Finding(path, text.line, rule.id, text.kind, " ".join(text.text.split()), rule.write)
            continue
        if rule.keys and not (rule.keys & present):
            continue
        for match in rule.hits(text.text):
            line = text.line + text.text.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip()))
            yield Finding(path, line, rule.id, text.kind, " ".join(match[0].split()), rule.write)


def _name_settings() -> dict[str, Any]:
    return tomllib.loads(RULES.read_text(encoding="utf-8"))["names"]


@dataclass
class Options:
    rules: list[Rule] = field(default_factory=read_rules)
    allowed_names: frozenset[str] = field(default_factory=lambda: frozenset(_name_settings()["allowed"]))
    names_except: re.Pattern[str] = field(default_factory=lambda: re.compile(_name_settings()["except"]))


def check_names(path: str, found: dict[str, int], options: Options) -> Iterator[Finding]:
    banned = {word: rule for rule in options.rules for word in rule.names}
    allowed, exceptions = options.allowed_names, options.names_except
    for name, line in found.items():
        if name in allowed:
            continue
        for word in words_of(exceptions.sub("", name)):
            if word in banned:
                yield Finding(path, line, banned[word].id, "name", name, banned[word].write)
                break


GENERATED = ("docs/tests.md", "docs/reference/")


def check_file(root: pathlib.Path, path: str, options: Options) -> Iterator[Finding]:
    relative = pathlib.PurePath(path)
    if path.startswith(GENERATED):
        return
    try:
        source = (root / path).read_text(encoding="utf-8")
        found = list(texts(relative, source))
    except (UnicodeDecodeError, SyntaxError) as error:
        yield Finding(path, 1, "unreadable", "file", str(error), "a file that can be parsed")
        return
    if source.startswith("//===-"):
        line = source.partition("\n")[0]
        banner = _BANNER.fullmatch(line[2:])
        if banner is None or banner["name"] != relative.name:
            yield Finding(path, 1, "title", "title", line, f"//===- {relative.name} - TITLE ---===// on one line")
    for text in found:
        yield from check_text(path, text, options.rules)
    yield from check_names(path, names(relative, source), options)
    # A file's own name, as the first line of the file.
    for word in words_of(options.names_except.sub("", relative.stem)):
        for rule in options.rules:
            if word in rule.names and relative.stem not in options.allowed_names:
                yield Finding(path, 1, rule.id, "file name", relative.name, rule.write)


_LINKS = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as they are in HTML that is rendered from it."""
    seen: collections.Counter[str] = collections.Counter()
    result: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub(_blank, text)):
        title = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower())
        slug = title.replace(" ", "-")
        result.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return result | set(re.findall(r"""<a (?:id|name)=["']([^"']+)""", text))


def check_links(root: pathlib.Path, paths: Iterable[str]) -> Iterator[Finding]:
    cache: dict[pathlib.Path, set[str]] = {}
    for path in paths:
        if not path.endswith(".md") or path.startswith(GENERATED):
            continue
        text = (root / path).read_text(encoding="utf-8")
        bare = _FENCE.sub(_blank, _HTML.sub(_blank, text))
        for match in _LINKS.finditer(bare):
            target, _, anchor = match[1].partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            file = (root / path).parent / target if target else root / path
            line = 1 + bare.count("\n", 0, match.start())
            generated = file.resolve().is_relative_to(root.resolve() / "docs" / "reference")
            if not file.exists():
                if not generated or (root / "docs" / "reference").exists():
                    yield Finding(path, line, "link", "page", match[1], "a link to a file that exists")
            elif anchor and file.suffix == ".md":
                if file not in cache:
                    cache[file] = anchors(file.read_text(encoding="utf-8"))
                if anchor not in cache[file]:
                    yield Finding(path, line, "link", "page", match[1], "a link to a heading that exists")


def check_spelling(root: pathlib.Path, typos: str, paths: Sequence[str]) -> Iterator[Finding]:
    """American spelling and misspellings, by `typos`, in text and in identifiers."""
    if not paths:
        return
    done = subprocess.run(
        [typos, "--config", str(TOOLS / "typos.toml"), "--force-exclude", "--format", "json", *paths],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    for line in done.stdout.splitlines():
        entry = json.loads(line)
        if entry.get("type") == "typo":
            path = entry["path"].removeprefix("./")
            yield Finding(
                path, entry.get("line_num", 1), "spelling", "word", entry["typo"], ", ".join(entry["corrections"])
            )


def tracked(root: pathlib.Path, paths: Sequence[str]) -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted({path for path in done.stdout.splitlines() if (root / path).is_file()})


def is_allowed(finding: Finding, allowed: Sequence[dict[str, Any]]) -> bool:
    """Whether the rules list the finding: the text is a whole name, or the begin of another text."""
    return any(
        (finding.rule, finding.kind) == (entry["rule"], entry["kind"])
        and finding.path.startswith(entry["path"])
        and (finding.text in entry["text"] if finding.kind == "name" else finding.text.startswith(tuple(entry["text"])))
        for entry in allowed
    )


def lint(root: pathlib.Path, paths: Sequence[str], typos: str | None) -> list[Finding]:
    files = tracked(root, paths)
    options = Options()
    found = [finding for path in files for finding in check_file(root, path, options)]
    found += check_links(root, files)
    if typos:
        found += check_spelling(root, typos, files)
    allowed = tomllib.loads(RULES.read_text(encoding="utf-8")).get("allow", [])
    found = [finding for finding in found if not is_allowed(finding, allowed)]
    return sorted(found, key=lambda finding: (finding.path, finding.line, finding.rule))


def folder_of(path: str) -> str:
    """The folder that counts and the list of open folders have: two levels, three in python and test/python."""
    parts = pathlib.PurePath(path).parent.parts
    depth = 3 if parts[:1] == ("python",) or parts[:2] == ("test", "python") else 2
    return "/".join(parts[:depth]) or "."


def counts(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """The number of findings per folder and rule."""
    result: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for finding in findings:
        result[folder_of(finding.path)][finding.rule] += 1
    return {folder: dict(sorted(rules.items())) for folder, rules in sorted(result.items())}


def table(findings: Sequence[Finding]) -> list[str]:
    """Lines with the number of findings in each folder, by rule."""
    lines = [
        f"{folder:36} {sum(rules.values()):5}  "
        + ", ".join(f"{rule} {number}" for rule, number in sorted(rules.items(), key=lambda item: (-item[1], item[0])))
        for folder, rules in counts(findings).items()
    ]
    total = collections.Counter(finding.rule for finding in findings)
    lines += [f"{'all folders':36} {len(findings):5}  " + ", ".join(f"{rule} {n}" for rule, n in total.most_common())]
    return lines


def open_folders() -> dict[str, list[str]]:
    return tomllib.loads(OPEN.read_text(encoding="utf-8")) if OPEN.exists() else {}


def not_open(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in folders that hold the rule."""
    folders = {rule: frozenset(names) for rule, names in open_folders().items()}
    return [finding for finding in findings if folder_of(finding.path) not in folders.get(finding.rule, ())]


def closed(findings: Iterable[Finding]) -> list[str]:
    """Entries of the list of open folders that have no finding; they leave the list, so that it only gets shorter."""
    found = {(finding.rule, folder_of(finding.path)) for finding in findings}
    return [
        f"tools/{OPEN.name}: '{rule}' holds in {folder}; run `tools/dev lint --record`"
        for rule, folders in open_folders().items()
        for folder in folders
        if (rule, folder) not in found
    ]


def record(findings: Iterable[Finding]) -> None:
    folders: dict[str, set[str]] = collections.defaultdict(set)
    for finding in findings:
        folders[finding.rule].add(folder_of(finding.path))
    lines = ["# Folders where a rule of words.toml does not hold yet; `tools/dev lint --record` writes this file.", ""]
    for rule, names in sorted(folders.items()):
        lines += [f"{rule} = [", *(f'  "{name}",' for name in sorted(names)), "]"]
    OPEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
