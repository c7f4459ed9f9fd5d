# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code with the source lines as comments: `kernel.ir(level, ..., lines=True)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .. import toolchain
from ..codegen import assemble, line_tables
from ..compiler import driver, insertion
from ..diagnostics import SourceLocation, source_line
from ..errors import LaunchError
from ..launch.kernels import Kernel
from ..specialization import SpecializedKernel

NOT_OF_PASSES = ("dump", "dump_ir", "progress", "emulation", "sanitize", "line_info")
"""Arguments of `smalti.compile` that are not options of the pipeline."""

_WITHOUT_LINES = ("llvm", "ptxas")

Chain = tuple[SourceLocation, ...]
"""A line and its callers, innermost first."""


def listing(kernel: SpecializedKernel, level: str, arguments: Iterable[Any]) -> str:
    """The code of a kernel at a level, with source lines."""
    given = list(arguments)
    if level in ("tile", "source"):
        return of_mlir(kernel.module_for(*given).operation)
    compiled = kernel.variant(*given)
    known = ["tile", "source", *getattr(compiled, "asm", {})]
    levels = [name for name in dict.fromkeys(known) if name not in _WITHOUT_LINES]
    if not isinstance(compiled, Kernel) or level not in levels:
        raise LaunchError(f"source lines are not available for the level '{level}'; use one of {', '.join(levels)}")
    # A kernel from the cache does not have its module.
    if level == "mlir" and (final := getattr(compiled, "module", None)) is not None:
        return of_mlir(final.operation)
    if level == "mlir" or level in driver.STAGES[kernel.target.vendor]:
        passes = {name: value for name, value in kernel.options.items() if name not in NOT_OF_PASSES}
        module = driver.clone(kernel.module_for(*given))
        insertion.lowering(kernel.target, passes).run(module, stage=None if level == "mlir" else level)
        return of_mlir(module.operation)
    if level == "sass":
        tool = toolchain.require(
            toolchain.find_nvdisasm(), "nvdisasm", "disassembling a cubin", toolchain.NVDISASM_HINT
        )
        assert compiled.binary is not None
        return of_sass(assemble.disassemble_cubin(compiled.binary, tool.path, lines=True))
    return of_assembly(compiled.asm[level], "//" if level == "ptx" else ";")


def _comment(chain: Chain) -> str:
    """The source line, and the positions of the calls."""
    first, *callers = chain
    found = source_line(first, None)
    text = f": {found[0].strip()}" if found else ""
    calls = "".join(f", called at {_position(caller)}" for caller in callers)
    return f"{_position(first)}{calls}{text}"


def _position(place: SourceLocation) -> str:
    return f"{Path(place.file).name}:{place.line}"


def _annotated(lines: Iterable[tuple[str, Chain]], mark: str) -> str:
    """The lines, with a comment before each one that has another source line than the one before."""
    result: list[str] = []
    last: Any = None
    for line, chain in lines:
        if chain and (key := [(place.file, place.line) for place in chain]) != last:
            indentation = line[: len(line) - len(line.lstrip())]
            result.append(f"{indentation}{mark} {_comment(chain)}")
            last = key
        result.append(line)
    return "\n".join(result) + "\n"


# --- MLIR ---

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\s*\bloc\(|[()]')
_POSITION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def _without_locations(line: str) -> tuple[str, str]:
    """A line of MLIR without its locations, and the location of the operation that ends in it."""
    parts: list[str] = []
    at = depth = 0
    location = ""
    start: int | None = None
    for found in _TOKEN.finditer(line):
        if start is not None:
            depth += {"(": 1, ")": -1}.get(found[0].lstrip()[-1:], 0) if not found[0].startswith('"') else 0
            if depth == 0:
                location, at, start = line[start : found.end()], found.end(), None
        elif found[0].endswith("loc("):
            parts.append(line[at : found.start()])
            start, depth = found.start(), 1
    return "".join([*parts, line[at:]]), "" if line[at:].strip() else location


def of_mlir(operation: Any) -> str:
    """MLIR with source lines."""
    text: str = operation.get_asm(enable_debug_info=True, use_local_scope=True)
    lines: list[tuple[str, Chain]] = []
    headers: list[int] = []
    for original in text.splitlines():
        line, location = _without_locations(original)
        chain = tuple(SourceLocation(file, int(row), int(column)) for file, row, column in _POSITION.findall(location))
        # The location of an operation with regions is printed after them, and shown before them.
        if line.lstrip().startswith("}"):
            header = headers.pop()
            if line.endswith("{"):
                headers.append(header)
            else:
                lines[header] = lines[header][0], chain
            chain = ()
        elif line.endswith("{"):
            headers.append(len(lines))
        lines.append((line.rstrip(), chain))
    return _annotated(lines, "//")


# --- Assembly ---


def of_assembly(text: str, mark: str) -> str:
    """PTX or AMD assembly with source lines."""
    return _annotated(line_tables.source_lines(text), mark)


_SASS_LINE = re.compile(r'\s*//## File "([^"]+)", line (\d+)')


def of_sass(text: str) -> str:
    """The output of `nvdisasm -g` with source lines."""

    def lines() -> Iterator[tuple[str, Chain]]:
        chain: Chain = ()
        for line in text.splitlines():
            if found := _SASS_LINE.match(line):
                chain = (SourceLocation(found[1], int(found[2]), 1),)
            else:
                yield line, chain if re.match(r"\s+/\*[0-9a-f]+\*/", line) else ()

    return _annotated(lines(), "//")
