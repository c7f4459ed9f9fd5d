# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Insertion of passes into the pipeline of `smalti.compile`, before or after a level of IR or a pass.

`smalti-compile` builds its list of passes in C++. MLIR prints the list as a textual pipeline, in which the steps of the user
are inserted. The result is a `Pipeline`, which may have steps in Python.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import remarks, targets
from ..bindings import ir, passmanager
from ..errors import PipelineError
from ..settings import suggestion
from . import driver, textual
from .pipeline import Pipeline, PythonPass

Insertions = Mapping[str, "PythonPass | str | Pipeline"]
"""Steps by point: `{"after:tile": function, "before:smalti-allocate-shared-memory": Pipeline().cse()}`."""

_POINT = re.compile(r"(before|after):([\w.-]+)(?:#([1-9]\d*))?")
_LAST = "llvm"
"""The level of the whole pipeline."""


def lowering(target: targets.Target, options: Mapping[str, Any]) -> driver.Lowering:
    """The lowering for `target`. `options` are those of `smalti-compile`, and `passes`, which are inserted."""
    given = dict(options)
    steps = given.pop("passes", None)
    return _LoweringWithSteps(target, given, steps) if steps else driver.Lowering(target, given)


def insertion_points(target: str | targets.Target, **options: Any) -> list[str]:
    """The names that a point of `smalti.compile(passes=...)` may have after `before:` or `after:`, in the order of the
    pipeline. A level follows its passes. A pass that runs several times has a number: `cse#2`."""
    listed = _List(driver.Lowering(targets.get(target), options))
    return listed.points()


@dataclass(frozen=True)
class _Pass:
    """A pass of the pipeline. `path` has the nested pipelines that contain it: a unique number and the operation of each."""

    element: textual.Element
    path: tuple[tuple[int, str], ...]

    @property
    def name(self) -> str:
        return self.element.name


def _flat(elements: Iterable[textual.Element], path: tuple[tuple[int, str], ...], ids: Iterator[int]) -> list[_Pass]:
    found: list[_Pass] = []
    for element in elements:
        if element.children is None:
            found.append(_Pass(element, path))
        else:
            found += _flat(element.children, (*path, (next(ids), element.name)), ids)
    return found


def _nested(passes: Sequence[_Pass], depth: int = 0) -> list[textual.Element]:
    """The elements of consecutive passes."""
    found: list[textual.Element] = []
    for nest, group in itertools.groupby(passes, lambda one: one.path[depth] if len(one.path) > depth else None):
        if nest is None:
            found += [one.element for one in group]
        else:
            found.append(textual.Element(nest[1], children=tuple(_nested(list(group), depth + 1))))
    return found


def _expanded(lowering: driver.Lowering, stage: str) -> list[_Pass]:
    """The passes that `smalti-compile` runs up to a level."""
    words = driver.format_options(lowering.target, {**lowering.options, "stop_after": stage})
    pipeline = f"builtin.module({driver.PIPELINE}-{lowering.target.vendor}{{{words}}})"
    try:
        manager: Any = passmanager.PassManager.parse(pipeline, driver.new_context())
    except ValueError as error:
        raise PipelineError(driver.reason(str(error))) from None
    (module,) = textual.parse(str(manager))
    assert module.children is not None
    return _flat(module.children, (), itertools.count())


class _List:
    """The passes of `smalti-compile`, and the positions of its levels."""

    def __init__(self, lowering: driver.Lowering) -> None:
        self.target = lowering.target
        self.passes = _expanded(lowering, _LAST)
        self.levels: dict[str, tuple[int, int]] = {}
        """The positions before the first pass and after the last pass of each level."""
        start = 0
        for level in (*driver.STAGES[self.target.vendor], _LAST):
            end = self._end_of(_expanded(lowering, level))
            self.levels[level] = start, end
            start = end

    def _end_of(self, passes: Sequence[_Pass]) -> int:
        """The position after the last of `passes`. The whole pipeline has further checks between them."""
        end = 0
        for one in passes:
            while self.passes[end].name != one.name:
                end += 1
            end += 1
        return end

    def _numbers(self, name: str) -> list[int]:
        return [number for number, one in enumerate(self.passes) if one.name == name]

    def points(self) -> list[str]:
        found: list[str] = []
        for level, (start, end) in self.levels.items():
            for number in range(start, end):
                name = self.passes[number].name
                numbers = self._numbers(name)
                found.append(name if len(numbers) == 1 else f"{name}#{numbers.index(number) + 1}")
            found.append(level)
        return found

    def position(self, point: str) -> int:
        """The number of passes before a point. Raises PipelineError if the point does not exist."""
        parsed = _POINT.fullmatch(point)
        if parsed is None:
            raise PipelineError(
                f"the point '{point}' does not parse; a point is before:NAME or after:NAME, where NAME is a level or a pass",
                hint="examples: 'after:tile', 'before:smalti-allocate-shared-memory', 'after:cse#2'",
            )
        where, name, number = parsed.groups()
        if name in self.levels and number is None:
            start, end = self.levels[name]
            return start if where == "before" else end
        numbers = self._numbers(name)
        if not numbers:
            raise PipelineError(
                f"point '{point}': '{name}' is not a level or a pass of the pipeline for {self.target}; the levels are "
                f"{', '.join(self.levels)}",
                hint=suggestion(name, [*self.levels, *(one.name for one in self.passes)])
                or f"smalti.insertion_points('{self.target}') lists the passes",
            )
        if number is None and len(numbers) > 1:
            known = ", ".join(f"'{where}:{name}#{n + 1}'" for n in range(len(numbers)))
            raise PipelineError(f"point '{point}': the pass '{name}' runs {len(numbers)} times; use one of {known}")
        index = int(number or 1)
        if index > len(numbers):
            times = "once" if len(numbers) == 1 else f"{len(numbers)} times"
            raise PipelineError(f"point '{point}': the pass '{name}' runs only {times}")
        return numbers[index - 1] + (where == "after")


def _has_launches(module: ir.Module) -> bool:
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name != "gpu.launch":
            return ir.WalkResult.ADVANCE
        found.append(op.name)
        return ir.WalkResult.INTERRUPT

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return bool(found)


@dataclass(frozen=True)
class _Step:
    """A step of the user, and the number of passes before it."""

    position: int
    is_before: bool
    """Whether the point is before a pass or level."""
    point: str
    pipeline: Pipeline


def _pipeline_at(point: str, step: Any) -> Pipeline:
    """The pipeline of a step. Raises PipelineError with the point if its text does not parse."""
    pipeline = Pipeline().add(step)
    pipeline.check(f"the step at '{point}'")
    return pipeline


class _LoweringWithSteps(driver.Lowering):
    """`smalti-compile` with further steps."""

    def __init__(self, target: targets.Target, options: Mapping[str, Any], steps: Insertions) -> None:
        super().__init__(target, options)
        if not isinstance(steps, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"passes must be a dictionary such as {{'after:tile': function}}, not {type(steps).__name__}"
            )
        self._list = _List(self)
        # At one position, steps after a pass run before the steps that precede the next pass.
        self._steps = sorted(
            (_Step(self._list.position(p), p.startswith("before"), p, _pipeline_at(p, s)) for p, s in steps.items()),
            key=lambda step: (step.position, step.is_before),
        )

    def _is_reached(self, step: _Step, stage: str) -> bool:
        return (step.position, step.is_before) <= (self._list.levels[stage][1], False)

    def unreached(self, stage: str) -> list[str]:
        return [step.point for step in self._steps if not self._is_reached(step, stage)]

    def _pipeline(self, stage: str = _LAST) -> Pipeline:
        pipeline = Pipeline()
        at = 0
        for step in self._steps:
            if self._is_reached(step, stage):
                pipeline.add(self._text(at, step.position)).add(step.pipeline)
                at = step.position
        return pipeline.add(self._text(at, self._list.levels[stage][1]))

    def _text(self, start: int, end: int) -> str:
        return textual.to_text(_nested(self._list.passes[start:end]))

    def text(self) -> str:
        return str(self._pipeline())

    def run(self, module: ir.Module, run: driver.Run | None = None, stage: str | None = None) -> list[remarks.Remark]:
        run = run or driver.Run()
        if _has_launches(module):
            raise PipelineError(
                "passes cannot be inserted into the compilation of a module with gpu.launch, which has another list of passes",
                hint="run the passes on the module with smalti.Pipeline before smalti.compile",
            )
        found = self._pipeline(stage or _LAST).run(module, dump_ir=run.dump_ir)
        run.remarks.extend(found)
        return found
