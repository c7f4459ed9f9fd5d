# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that are mutated, and the pipelines that they go through."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n?", re.MULTILINE)
_PIPELINE = re.compile(r"""--?pass-pipeline=(?:'([^']*)'|"([^"]*)")""")
_FLAG = re.compile(r"""(?<=\s)--?([a-z][\w-]*)(?:=(?:'([^']*)'|"([^"]*)"|(\S+)))?""")
_ELSEWHERE = ("gpu-module-to-binary", "transform-interpreter")
"""Upstream's passes that start tools, or interpret a program that the mutations make meaningless."""


@dataclass(frozen=True)
class File:
    """An `.mlir` file: its programs, and the pipelines of its RUN lines."""

    name: str
    programs: tuple[str, ...]
    run_lines: tuple[str, ...]


def split(text: str) -> tuple[str, ...]:
    """The programs of a file, without the lines that are comments."""
    programs = (_COMMENT.sub("", part).strip("\n") for part in _SPLIT.split(text))
    return tuple(f"{program}\n" for program in programs if program.strip())


def run_lines(text: str) -> tuple[str, ...]:
    """The commands of the RUN lines."""
    lines = re.findall(r"^\s*// RUN:(.*)$", text, re.MULTILINE)
    joined = "\n".join(lines).replace("\\\n", " ")
    return tuple(line for line in joined.splitlines() if "smalti-opt" in line)


def read(root: Path = ROOT) -> tuple[File, ...]:
    """Every `.mlir` file below `root`, in the order of their names."""
    files = []
    for path in sorted(root.rglob("*.mlir")):
        name = path.relative_to(root)
        if name.parts[0] == "build" or any(part.startswith(".") for part in name.parts):
            continue
        text = path.read_text(encoding="utf-8")
        if programs := split(text):
            files.append(File(str(name), programs, run_lines(text)))
    return tuple(files)


def digest(files: Iterable[File]) -> str:
    """A hash that distinguishes two versions of the files."""
    return hashlib.sha256(repr(list(files)).encode()).hexdigest()[:16]


def placed(name: str, options: str, op: str) -> str:
    """The pipeline that runs a pass wherever in a module it can run; `op` as in `smalti.passes.Pass`."""
    element = f"{name}{{{options}}}" if options else name
    nested = {
        "any": f"any({element}),gpu.module(any({element}))",
        "gpu.module": f"gpu.module({element})",
        "llvm.func": f"llvm.func({element}),gpu.module(llvm.func({element}))",
    }
    return f"builtin.module({nested.get(op, element)})"


class Pipelines:
    """The pipelines of the RUN lines, and each of our passes in isolation with every set of options of a RUN line."""

    def __init__(self, files: Iterable[File], passes: Mapping[str, str], parses: Callable[[str], bool]) -> None:
        """`passes` maps the name of each registered pass to the operation that it runs on."""
        self._passes = passes
        self.of_file: dict[str, tuple[str, ...]] = {}
        options: dict[str, set[str]] = {name: {""} for name in passes if is_ours(name)}
        for file in files:
            found = dict.fromkeys(self._in_lines(file.run_lines))
            self.of_file[file.name] = tuple(pipeline for pipeline in found if parses(pipeline))
            for pipeline in self.of_file[file.name]:
                for name, text in re.findall(r"([\w-]+)(?:\{([^{}]*)\})?", pipeline):
                    if name in options:
                        options[name].add(text)
        self.of_pass = {
            name: tuple(pipeline for text in sorted(texts) if parses(pipeline := placed(name, text, passes[name])))
            for name, texts in options.items()
        }
        self.of_pass = {name: pipelines for name, pipelines in self.of_pass.items() if pipelines}

    def _in_lines(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if any(name in line for name in _ELSEWHERE):
                continue
            for single, double in _PIPELINE.findall(line):
                yield single or double
            for name, *values in _FLAG.findall(line):
                if name in self._passes:
                    yield placed(name, "".join(values), self._passes[name])


def is_ours(name: str) -> bool:
    """Whether a pass is one of Smalti's."""
    return name.startswith(("smalti-", "mosaic-gpu-", "convert-mosaic-gpu-", "convert-triton-xla-"))


def passes_in(pipeline: str) -> str:
    """The passes of a pipeline, as the counts name them: ours, or else the first of upstream's."""
    names = [name for name in re.findall(r"[\w-]+(?=[{},()]|$)", re.sub(r"\{[^{}]*\}", "", pipeline)) if name != "any"]
    ours = [name for name in names if is_ours(name)]
    chosen = ours or [name for name in names if name not in ("builtin", "module", "func", "gpu")][:1]
    return "+".join(dict.fromkeys(chosen)) or "none"
