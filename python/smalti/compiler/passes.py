# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registered passes, their options and their documentation."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..errors import PipelineError
from ..settings import suggestion


@dataclass(frozen=True)
class Option:
    """An option of a pass."""

    name: str
    type: str
    """`bool`, `int`, `float`, `str`, `list` (of any of them), or `count` (a positive number or `auto`)."""
    default: str
    description: str
    choices: tuple[str, ...] = ()
    """The values of an enumeration."""

    @property
    def keyword(self) -> str:
        """The name as a Python keyword argument."""
        name = self.name.replace("-", "_")
        return name + "_" if keyword.iskeyword(name) else name

    @property
    def metavar(self) -> str:
        """The placeholder of the value in the help of a command."""
        if self.choices:
            return "|".join(self.choices)
        return {"bool": "true|false", "int": "N", "float": "X", "count": "auto|N"}.get(self.type, "TEXT")

    @property
    def annotation(self) -> str:
        """The type of the keyword in a stub file."""
        if self.choices and self.type == "str":
            return f"Literal[{', '.join(repr(choice) for choice in self.choices)}]"
        return _ANNOTATIONS[self.type]


@dataclass(frozen=True)
class Pass:
    """A registered pass."""

    name: str
    summary: str
    description: str
    op: str
    """The operation that the pass runs on; `any` for all function-like operations; empty if the pass is not restricted."""
    options: tuple[Option, ...]

    @property
    def keywords(self) -> Mapping[str, Option]:
        return {option.keyword: option for option in self.options}


_ANNOTATIONS = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str",
    "count": "int | Literal['auto']",
    "list": "Sequence[str | int | float | bool] | str",
}
_ACCEPTED: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str, int, float, bool),
    "count": (int, str),
    "list": (list, tuple, str, int),
}


def _option_type(spelling: str, is_list: bool) -> str:
    if is_list:
        return "list"
    bare = spelling.removeprefix("::").removeprefix("std::")
    if bare == "bool":
        return "bool"
    if bare == "smalti::AutoOrNumber":
        return "count"
    if bare.startswith(("int", "uint", "unsigned", "size_t", "long")):
        return "int"
    if bare in ("float", "double"):
        return "float"
    return "str"


# Names of operations by the C++ class that a pass is defined on, without the namespace of MLIR.
_OPERATIONS = {
    "ModuleOp": "builtin.module",
    "func::FuncOp": "func.func",
    "gpu::GPUModuleOp": "gpu.module",
    "gpu::GPUFuncOp": "gpu.func",
    "spirv::ModuleOp": "spirv.module",
    "LLVM::LLVMFuncOp": "llvm.func",
    "FunctionOpInterface": "any",
}


def load(path: Path) -> dict[str, Pass]:
    """The passes in a `_passes.json`."""
    found: dict[str, Pass] = {}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        options = tuple(
            Option(
                option["name"],
                _option_type(option["type"], bool(option.get("list"))),
                str(option.get("default") or ""),
                option.get("description") or "",
                tuple(option.get("choices") or ()),
            )
            for option in entry["options"]
        )
        operation = (entry.get("op") or "").removeprefix("::").removeprefix("mlir::")
        found[entry["name"]] = Pass(
            entry["name"],
            entry["summary"],
            entry.get("description") or "",
            _OPERATIONS.get(operation, ""),
            options,
        )
    return found


@functools.cache
def registered() -> Mapping[str, Pass]:
    """All registered passes by their command-line name."""
    path = Path(__file__).parent.parent / "_passes.json"
    try:
        return load(path)
    except OSError:
        raise PipelineError(f"the list of passes was not found: {path}; build or install Smalti again") from None


def method_names(passes: Mapping[str, Pass]) -> dict[str, Pass]:
    """The methods of `Pipeline` and the passes that they add. The prefix `smalti-` is dropped."""
    methods = {name.replace("-", "_"): item for name, item in passes.items()}
    for name, item in passes.items():
        short = name.removeprefix("smalti-").replace("-", "_")
        if short != name.replace("-", "_") and short not in methods:
            del methods[name.replace("-", "_")]
            methods[short] = item
    return {(m + "_" if keyword.iskeyword(m) else m): item for m, item in methods.items()}


@functools.cache
def methods() -> Mapping[str, Pass]:
    """`method_names` of the registered passes."""
    return method_names(registered())


def format_value(value: Any) -> str:
    """The value of an option in the syntax of MLIR."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(format_value, cast(Sequence[Any], value)))
    text = str(value)
    return f'"{text}"' if any(c.isspace() or c in "{}" for c in text) else text


def format_options(item: Pass, given: Mapping[str, Any], *, on_shell: bool = False) -> str:
    """The options of a call in the syntax of MLIR.

    Raises PipelineError for an unknown option and for a value of the wrong type. Errors use the names of keywords, or those
    of the command line with `on_shell`.
    """
    words: list[str] = []
    for name, value in given.items():
        option = item.keywords.get(name)
        if option is None:
            raise _unknown(item, name, [o.name if on_shell else o.keyword for o in item.options])
        if on_shell:
            name = option.name
        wrong_bool = isinstance(value, bool) and bool not in _ACCEPTED[option.type]
        if wrong_bool or not isinstance(value, _ACCEPTED[option.type]):
            raise PipelineError(
                f"{item.name}: option '{name}' must be {option.annotation}, not {type(value).__name__} {value!r}"
            )
        if option.choices and option.type == "str" and value not in option.choices:
            raise PipelineError(
                f"{item.name}: option '{name}' must be one of {', '.join(option.choices)}, not {value!r}"
            )
        if option.type == "count" and value != "auto" and (isinstance(value, str) or value < 1):
            raise PipelineError(f"{item.name}: option '{name}' must be 'auto' or a positive number, not {value!r}")
        words.append(f"{option.name}={format_value(value)}")
    return " ".join(words)


def _unknown(item: Pass, name: str, known: Sequence[str]) -> PipelineError:
    """The error for an unknown option; `known` are the options of the pass."""
    return PipelineError(
        f"{item.name} does not have an option '{name}' (options: {', '.join(known) or 'none'})",
        hint=suggestion(name, known),
    )


def correction(message: str) -> str | None:
    """A hint for a message of MLIR about an unknown pass or an unknown option in a pipeline."""
    if found := re.search(r"'([\w.-]+)' does not refer to a registered pass", message):
        return suggestion(found[1], registered())
    option, owner = (
        re.search(r"no such option (\S+)", message),
        re.search(r"failed to add `([\w.-]+)` with options", message),
    )
    if not option or not owner or not (item := registered().get(owner[1])):
        return None
    known = [other.name for other in item.options]
    return suggestion(option[1], known) or f"options of {item.name}: {', '.join(known) or 'none'}"


def options_from_text(item: Pass, words: Mapping[str, str]) -> dict[str, Any]:
    """Converts options of the command line to the keywords and types of `format_options`."""
    known = {option.name: option for option in item.options}
    values: dict[str, Any] = {}
    for name, text in words.items():
        option = known.get(name)
        if option is None:
            raise _unknown(item, name, list(known))
        value: Any = text
        if option.type == "bool" and text in ("true", "false"):
            value = text == "true"
        elif option.type in ("int", "float", "count"):
            with contextlib.suppress(ValueError):
                value = float(text) if option.type == "float" else int(text, 0)
        values[option.keyword] = value
    return values


def documentation(item: Pass) -> str:
    """The docstring of the method of a pass."""
    parts = [f"{item.summary.rstrip('.')}."]
    if item.description.strip():
        parts.append(inspect.cleandoc(item.description))
    if item.options:
        lines = [f"    {o.keyword}: {summary(o)}" for o in item.options]
        parts.append("Options:\n" + "\n".join(lines))
    return "\n\n".join(parts)


def summary(option: Option) -> str:
    """The description of an option, and its default unless the description states it."""
    default = f" (default: {option.default})" if option.default and "default:" not in option.description else ""
    return (option.description or option.name) + default
