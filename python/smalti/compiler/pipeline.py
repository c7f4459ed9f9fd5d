# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pass pipelines in Python: one method per registered pass, with Python passes and patterns between them.

A Python step is not an MLIR pass. The pipeline is split at the step: MLIR runs the passes before it, then Python runs the
step, then MLIR runs the passes after it. Therefore exceptions do not unwind through C++, and MLIR threads do not call
Python.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..bindings import ir
from ..errors import PipelineError, VerifyError, mlir_errors
from ..remarks import Remark
from ..settings import suggestion
from . import driver, passes, textual

PythonPass = Callable[..., Any]
"""Called with the operation, or with `(operation, pass_)` if it requires two arguments."""


@dataclass(frozen=True)
class _Registered:
    function: PythonPass
    op: str


_python_passes: dict[str, _Registered] = {}


def register_pass(name: str, function: PythonPass, *, op: str = "builtin.module") -> PythonPass:
    """Registers a Python pass under a name for textual pipelines, `Pipeline` and `smalti opt`. Returns `function`.

    The pass is called once per operation `op`. Raises PipelineError if the name is invalid or belongs to an MLIR pass.
    """
    from .._mlir_libs import _smalti

    if not name or any(not (c.isalnum() or c in "-_") for c in name):
        raise PipelineError(f"'{name}' is not a valid pass name; use letters, digits, '-' and '_'")
    if _smalti.is_pass_registered(name):
        raise PipelineError(f"a pass named '{name}' is already registered; choose another name")
    _python_passes[name] = _Registered(function, op)
    return function


@dataclass(frozen=True)
class _Call:
    """A Python step. `path` are the nested operations from the module to those that the step runs on."""

    name: str
    function: PythonPass
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = self.name
        for op in reversed(self.path):
            text = f"{op}({text})"
        return text


@dataclass(frozen=True)
class _Free:
    """A pass that a method added. It is nested in the operation that it runs on, unless `on` nests it."""

    element: textual.Element
    op: str

    def placed(self, within: str = "builtin.module") -> tuple[textual.Element, ...]:
        """The pass, nested for a pipeline on the operation `within`."""
        if self.op in ("", within) or (self.op == "any" and within not in _CONTAINERS):
            return (self.element,)
        nested = textual.Element(self.op, children=(self.element,))
        if self.op == "any" and within == "builtin.module":
            # The module and its GPU modules contain functions.
            return nested, textual.Element("gpu.module", children=(nested,))
        return (nested,)

    def __str__(self) -> str:
        return textual.to_text(self.placed())


_CONTAINERS = ("builtin.module", "gpu.module")
_Step = textual.Element | _Free | _Call


class PassFailed(PipelineError):
    """A Python pass signaled failure without raising an exception."""


class _Handle:
    """The second argument of a Python pass, as in the MLIR bindings."""

    failed = False

    def signal_pass_failure(self) -> None:
        self.failed = True


def _requires_two(function: PythonPass) -> bool:
    """A second parameter with a default value belongs to the user: `lambda module, level=level: ...`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is one.empty for one in parameters) == 2


def _nested(operation: Any, path: Sequence[str]) -> list[Any]:
    if not path:
        return [operation]
    return [
        found
        for region in operation.regions
        for block in region.blocks
        for view in block.operations
        if path[0] in ("any", view.operation.name)
        for found in _nested(view.operation, path[1:])
    ]


def _run_call(call: _Call, module: Any) -> None:
    context = module.context
    # The step may create operations of any dialect.
    context.load_all_available_dialects()
    handle = _Handle()
    with context, mlir_errors(VerifyError, f"MLIR reported an error in the Python pass '{call.name}'", context):
        for operation in _nested(module.operation, call.path):
            try:
                if _requires_two(call.function):
                    call.function(operation.opview, handle)
                else:
                    call.function(operation.opview)
            except ir.MLIRError:
                raise
            except Exception as error:
                error.add_note(f"in the Python pass '{call.name}'")
                raise
            if handle.failed:
                raise PassFailed(f"the Python pass '{call.name}' signaled failure without an error message")
    with mlir_errors(VerifyError, f"the Python pass '{call.name}' produced an invalid module", context):
        module.operation.verify()


class PatternSet:
    """Rewrite patterns in Python. A pattern returns None or another false value if it matched and rewrote the operation."""

    def __init__(self) -> None:
        self._patterns: list[tuple[Any, Callable[..., Any], int]] = []

    def add(self, root: type | str, function: Callable[[Any, Any], Any], benefit: int = 1) -> PatternSet:
        """Adds the pattern `function(op, rewriter)` for operations of the class or name `root`."""
        self._patterns.append((root, function, benefit))
        return self

    def apply(self, operation: Any, *, walk: bool = False, config: Any = None) -> None:
        """Applies the patterns to the operations in `operation`: greedily with folding to a fixed point, or once with `walk`."""
        from .. import rewrite

        raised: list[BaseException] = []

        def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
            def pattern(op: Any, rewriter: Any) -> bool:
                # An exception must not unwind through the C++ driver. It is stored and raised after the driver returns.
                if raised:
                    return True
                try:
                    return bool(function(op, rewriter))
                except BaseException as error:
                    raised.append(error)
                    return True

            return pattern

        with operation.context:
            patterns = rewrite.RewritePatternSet()
            keep = [guarded(function) for _, function, _ in self._patterns]
            for (root, _, benefit), function in zip(self._patterns, keep, strict=True):
                patterns.add(root, function, benefit)
            _apply(operation, patterns.freeze(), walk, config, raised)


def _apply(operation: Any, frozen: Any, walk: bool, config: Any, raised: Sequence[BaseException] = ()) -> None:
    from .. import rewrite

    try:
        if walk:
            rewrite.walk_and_apply_patterns(operation, frozen)
        else:
            rewrite.apply_patterns_and_fold_greedily(operation, frozen, config)
    except RuntimeError as error:
        if not raised:
            raise PipelineError(
                f"the patterns did not reach a fixed point: {error}; do not match the ops that a pattern creates"
            ) from None
    if raised:
        raise raised[0]


class Pipeline:
    """A pass pipeline that is built step by step and run on a module.

        smalti.Pipeline().lower_pad().multi_buffer(depth=3).canonicalize().run(module)

    Each registered pass is a method. Its name has underscores for dashes, without the prefix `smalti-`. Options are
    keywords. A pass that runs on functions or GPU modules is nested automatically; `on` nests other
    pipelines.
    """

    def __init__(self, text: str = "") -> None:
        """An empty pipeline, or the one in `text`: `"builtin.module(canonicalize, func.func(cse))"`."""
        self._steps: list[_Step] = []
        if text:
            elements = textual.parse(text)
            if len(elements) == 1 and elements[0].name == "builtin.module" and elements[0].children is not None:
                elements = elements[0].children
            for element in elements:
                self._steps.extend(_resolve(element, ()))

    def __getattr__(self, name: str) -> Callable[..., Pipeline]:
        if name.startswith("__"):
            raise AttributeError(name)
        registered = _python_passes.get(name) or _python_passes.get(name.replace("_", "-"))
        if registered is not None:
            python_name = name if name in _python_passes else name.replace("_", "-")
            return lambda: self.add(registered.function, name=python_name, op=registered.op)
        item = passes.methods().get(name)
        if item is None:
            hint = suggestion(name, [*_python_passes, *passes.methods()]) or "dir(smalti.Pipeline()) lists the passes"
            raise AttributeError(f"pass '{name}' does not exist; {hint}")

        def method(**options: Any) -> Pipeline:
            return self._add_pass(item, options)

        method.__name__ = name
        method.__qualname__ = f"Pipeline.{name}"
        method.__doc__ = passes.documentation(item)
        parameters = [
            inspect.Parameter(
                option.keyword, inspect.Parameter.KEYWORD_ONLY, annotation=option.annotation, default=None
            )
            for option in item.options
        ]
        method.__signature__ = inspect.Signature(parameters, return_annotation=Pipeline)
        return method

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *passes.methods()]

    def _add_pass(self, item: passes.Pass, options: dict[str, Any]) -> Pipeline:
        given = {name: value for name, value in options.items() if value is not None}
        self._steps.append(_Free(textual.Element(item.name, passes.format_options(item, given)), item.op))
        return self

    def add(
        self, step: PythonPass | str | Pipeline, *, name: str | None = None, op: str = "builtin.module"
    ) -> Pipeline:
        """Adds a Python callable, text such as `"func.func(cse)"`, or another pipeline.

        A callable is called with each operation named `op`, by default with the module. It may change the contents of the
        operation. An exception stops the run and propagates to the caller of `run`.
        """
        if isinstance(step, Pipeline):
            self._steps.extend(step._steps)
        elif isinstance(step, str):
            self._steps.extend(Pipeline(step)._steps)
        elif callable(step):
            path = () if op == "builtin.module" else (op,)
            self._steps.append(_Call(name or getattr(step, "__name__", type(step).__name__), step, path))
        else:
            raise TypeError(
                f"a step of a pipeline must be a callable, a string or a Pipeline, not {type(step).__name__}"
            )
        return self

    def on(self, op: str, nested: Pipeline) -> Pipeline:
        """Runs `nested` on every `op` directly in the module: `.on("gpu.module", Pipeline().cse())`."""
        for step in nested._steps:
            if isinstance(step, _Call):
                self._steps.append(_Call(step.name, step.function, (op, *step.path)))
            else:
                inner = step.placed(op) if isinstance(step, _Free) else (step,)
                self._steps.append(textual.Element(op, children=inner))
        return self

    def patterns(
        self,
        patterns: PatternSet | Callable[[PatternSet], Any] | Any,
        *,
        name: str = "patterns",
        walk: bool = False,
        config: Any = None,
    ) -> Pipeline:
        """Applies rewrite patterns: a `PatternSet`, a function that fills one, or a frozen set of `smalti.rewrite`.

        The patterns run greedily to a fixed point, or once in a walk over all operations with `walk`. `config` is a
        `smalti.rewrite.GreedyRewriteConfig`. An exception in a pattern of a `PatternSet` propagates to the caller of `run`.
        """

        def apply(module: Any) -> None:
            operation = module.operation
            if isinstance(patterns, PatternSet):
                patterns.apply(operation, walk=walk, config=config)
            elif callable(patterns):
                filled = PatternSet()
                patterns(filled)
                filled.apply(operation, walk=walk, config=config)
            else:
                _apply(operation, patterns, walk, config)

        return self.add(apply, name=name)

    def __str__(self) -> str:
        return f"builtin.module({','.join(str(step) for step in self._steps)})"

    def __repr__(self) -> str:
        return f"Pipeline('{self}')"

    def run(self, module: Any, *, dump_ir: Path | str | None = None) -> list[Remark]:
        """Runs the pipeline on `module` in place, and returns the remarks of the passes.

        `dump_ir` is a folder for the IR after each pass. Raises CompileError if a pass fails, PipelineError if the pipeline
        is invalid, and the exception of a failing Python step.
        """
        if not isinstance(getattr(module, "operation", None), ir.Operation):
            raise TypeError(
                f"Pipeline.run requires a module, not {type(module).__name__}; smalti.parse creates one from a path or text"
            )
        run = driver.Run()
        number = 0
        for part in self._parts():
            if isinstance(part, _Call):
                _run_call(part, module)
                continue
            run.dump_ir = Path(dump_ir) / f"{number:02}" if dump_ir is not None else None
            driver.run_pipeline(module, part, run)
            number += 1
        return run.remarks

    def _parts(self) -> list[str | _Call]:
        """The Python steps, and the textual pipelines before and after them."""
        parts: list[str | _Call] = []
        for is_call, steps in itertools.groupby(self._steps, lambda step: isinstance(step, _Call)):
            if is_call:
                parts += cast("list[_Call]", list(steps))
            else:
                parts.append(f"builtin.module({','.join(map(str, steps))})")
        return parts

    def check(self, what: str = "the pipeline") -> None:
        """Raises PipelineError if the pipeline does not parse. `what` names the pipeline in the message."""
        for part in self._parts():
            if isinstance(part, str):
                driver.parse_pipeline(part, driver.new_context(), what)


def _resolve(element: textual.Element, path: tuple[str, ...]) -> list[_Step]:
    """The steps of an element of a textual pipeline, split at Python passes."""
    if element.children is None:
        if found := _python_passes.get(element.name):
            if element.options:
                raise PipelineError(f"the Python pass '{element.name}' does not accept options")
            where = path or (() if found.op == "builtin.module" else (found.op,))
            return [_Call(element.name, found.function, where)]
        for op in reversed(path):
            element = textual.Element(op, children=(element,))
        return [element]
    steps: list[_Step] = []
    for child in element.children:
        steps.extend(_resolve(child, (*path, element.name)))
    if not any(isinstance(step, _Call) for step in steps):
        # Without a Python pass, keep the element as written, so that its passes share analyses.
        for op in reversed(path):
            element = textual.Element(op, children=(element,))
        return [element]
    return steps
