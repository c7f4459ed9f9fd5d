# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti.torch.custom_op`: a kernel as a custom operator of `torch.library`."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast, overload

from ..errors import LaunchError
from ..language.kernel import Formula, PythonKernel
from ..language.types import DType
from ..specialization import SpecializedKernel

_NUMBERS: Mapping[type, str] = {bool: "bool", int: "SymInt", float: "float"}
"""The types of a number in a schema, by the annotation of its parameter. Sizes of torch.compile are symbolic."""

_CONSTANTS: Mapping[type, str] = {bool: "bool", int: "int", float: "float", str: "str"}


class _Formula:
    """A function whose parameters are names of values: `lambda x, block: ...`."""

    def __init__(self, what: str, function: Any, known: Iterable[str]) -> None:
        if not callable(function):
            raise TypeError(f"{what} is {function!r}; a function such as `lambda x: x.new_empty(x.shape)` is required")
        try:
            self.names = tuple(inspect.signature(function).parameters)
        except ValueError:
            raise TypeError(
                f"{what} is {function!r}, whose parameters have no names; wrap it: `lambda x: ...`"
            ) from None
        unknown = [name for name in self.names if name not in known]
        if unknown:
            raise TypeError(
                f"{what} has the parameter {unknown[0]}, which is not a value of the kernel; its parameters must be among {', '.join(known)}"
            )
        self._function = function

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return self._function(*(values[name] for name in self.names))


def _argument_type(annotation: Any) -> str:
    """The type in a schema of a parameter that is not a constant."""
    if isinstance(annotation, DType):
        return {"f": "float", "b": "bool"}.get(annotation.kind, "SymInt")
    return _NUMBERS.get(annotation, "Tensor") if isinstance(annotation, type) else "Tensor"


class _Operator:
    """The functions that torch calls: implementation, fake function and autograd formula."""

    def __init__(
        self,
        name: str,
        kernel: PythonKernel[...],
        outputs: Mapping[str, Any],
        mutates_args: Sequence[str],
        constants: Mapping[str, Any],
        backward: Callable[..., Any] | None,
    ) -> None:
        self.name = name
        self._kernel = kernel
        self.mutated = tuple(mutates_args)
        parameters = kernel.parameters
        for what, names in (("outputs", outputs), ("mutates_args", mutates_args), ("constants", constants)):
            for given in names:
                if given not in parameters:
                    raise TypeError(
                        f"{name}: {what} has {given}, but the parameters of the kernel are {', '.join(parameters)}"
                    )
                if parameters[given].is_constant != (what == "constants"):
                    kind = "a constant" if parameters[given].is_constant else "not a constant"
                    raise TypeError(f"{name}: {what} has {given}, but this parameter is {kind} of the kernel")
        if both := set(outputs) & set(mutates_args):
            raise TypeError(f"{name}: {min(both)} is in outputs and in mutates_args; the operator allocates outputs")
        if not outputs and not mutates_args:
            raise TypeError(
                f"{name}: the operator does not have a result; state the parameters that the kernel writes, with outputs= or "
                "mutates_args="
            )
        self.types: dict[str, str] = {}
        """The types of the arguments of the operator in its schema."""
        self.defaults: dict[str, Any] = {}
        self.keywords: list[str] = []
        for parameter in parameters.values():
            if parameter.name in outputs or parameter.name in constants:
                continue
            default = parameter.default
            if not parameter.is_constant:
                self.types[parameter.name] = _argument_type(parameter.annotation)
            elif type(default) in _CONSTANTS:
                self.types[parameter.name] = _CONSTANTS[type(default)]
                self.keywords.append(parameter.name)
            elif default is inspect.Parameter.empty:
                raise TypeError(
                    f"{name}: the constant {parameter.name} does not have a value; state one: "
                    f"constants={{'{parameter.name}': 64}}, or a function such as `lambda x: x.shape[1]`"
                )
            else:
                continue
            if default is not inspect.Parameter.empty:
                self.defaults[parameter.name] = default
        for mutated in self.mutated:
            if self.types[mutated] != "Tensor":
                raise TypeError(f"{name}: mutates_args has {mutated}, but this parameter is a number")
        self.tensors = [given for given, type_ in self.types.items() if type_ == "Tensor"]
        known = list(self.types)
        self._constants: dict[str, Any] = {}
        for constant, value in constants.items():
            self._constants[constant] = _Formula(f"{name}: {constant}", value, known) if callable(value) else value
            known.append(constant)
        self._outputs: dict[str, _Formula | str] = {}
        for output, value in outputs.items():
            if isinstance(value, str):
                if value not in self.tensors:
                    raise TypeError(
                        f"{name}: the output {output} is like {value!r}, but the tensors are {', '.join(self.tensors)}"
                    )
                self._outputs[output] = value
            else:
                self._outputs[output] = _Formula(f"{name}: the output {output}", value, known)
        self._backward = None
        if backward is not None:
            gradients = [f"grad_{output}" for output in outputs]
            self._backward = _Formula(f"{name}: backward", backward, [*gradients, *self.types, *outputs])
        self._checked: set[SpecializedKernel] = set()

    @property
    def schema(self) -> str:
        letters = iter("abcdefghijklmnopqrstuvwxyz")

        def text(name: str) -> str:
            type_ = f"Tensor({next(letters)}!)" if name in self.mutated else self.types[name]
            default = f"={_literal(self.defaults[name])}" if name in self.defaults else ""
            return f"{type_} {name}{default}"

        arguments = [text(name) for name in self.types if name not in self.keywords]
        if self.keywords:
            arguments += ["*", *(text(name) for name in self.keywords)]
        results = ", ".join("Tensor" for _ in self._outputs)
        return f"({', '.join(arguments)}) -> {results if len(self._outputs) == 1 else f'({results})'}"

    def _values(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name. Torch drops those that equal their default."""
        return {**self.defaults, **dict(zip(self.types, arguments, strict=False)), **named}

    def _add_constants(self, values: dict[str, Any], needed: Iterable[str]) -> None:
        for name in needed:
            if name in self._constants and name not in values:
                value = self._constants[name]
                if isinstance(value, _Formula):
                    self._add_constants(values, value.names)
                    value = value(values)
                values[name] = value

    def _allocate(self, values: dict[str, Any]) -> dict[str, Any]:
        torch = importlib.import_module("torch")
        allocated: dict[str, Any] = {}
        for name, formula in self._outputs.items():
            if isinstance(formula, str):
                allocated[name] = torch.empty_like(values[formula])
                continue
            self._add_constants(values, formula.names)
            result = allocated[name] = formula(values)
            if not isinstance(result, torch.Tensor):
                raise LaunchError(
                    f"{self.name}: the function of the output {name} returned {type(result).__name__}; a tensor is required"
                )
        return allocated

    def _results(self, allocated: Mapping[str, Any]) -> Any:
        results = tuple(allocated.values())
        return None if not results else results[0] if len(results) == 1 else results

    def run(self, *arguments: Any, **named: Any) -> Any:
        """Allocates the outputs, and runs the kernel."""
        values = self._values(arguments, named)
        allocated = self._allocate(values)
        self._add_constants(values, self._constants)
        kernel, given = self._kernel.bind((), {**values, **allocated})
        if kernel not in self._checked:
            self._check(kernel)
        kernel(*given)
        return self._results(allocated)

    def _check(self, kernel: SpecializedKernel) -> None:
        """Raises LaunchError if the kernel writes an argument that torch does not know to be written."""
        for argument in kernel.entry.arguments:
            if not argument.is_memref or argument.name is None:
                continue
            name = argument.name
            if argument.writes and name in self.types and name not in self.mutated:
                raise LaunchError(
                    f"{self.name}: the kernel writes {name}, which is an input of the operator",
                    hint=f"add mutates_args=['{name}'], or outputs={{'{name}': ...}} if the operator returns it",
                )
            if argument.reads and isinstance(self._outputs.get(name), str):
                raise LaunchError(
                    f"{self.name}: the kernel reads the output {name}, but its elements are not initialized",
                    hint=f"initialize it: outputs={{'{name}': lambda x: torch.zeros_like(x)}}",
                )
        self._checked.add(kernel)

    def fake(self, *arguments: Any, **named: Any) -> Any:
        """The outputs without their elements."""
        return self._results(self._allocate(self._values(arguments, named)))

    # --- Autograd ---

    @property
    def has_backward(self) -> bool:
        return self._backward is not None

    def save(
        self, ctx: Any, inputs: Sequence[Any], output: Any, keyword_only_inputs: Mapping[str, Any] | None = None
    ) -> None:
        """Saves the values that the backward function names."""
        assert self._backward is not None
        outputs = cast(tuple[Any, ...], output) if isinstance(output, tuple) else (output,)
        values = {**self._values(inputs, keyword_only_inputs or {}), **dict(zip(self._outputs, outputs, strict=True))}
        saved = {name: values[name] for name in self._backward.names if name in values}
        tensors = {name for name in saved if name in self.tensors or name in self._outputs}
        ctx.smalti_tensors = [name for name in saved if name in tensors]
        ctx.smalti_numbers = {name: value for name, value in saved.items() if name not in tensors}
        ctx.save_for_backward(*(saved[name] for name in ctx.smalti_tensors))

    def backward(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        """The gradients of the arguments by position."""
        assert self._backward is not None
        values = dict(zip((f"grad_{name}" for name in self._outputs), gradients, strict=True))
        values |= dict(zip(ctx.smalti_tensors, ctx.saved_tensors, strict=True))
        found = self._gradients(self._backward({**values, **ctx.smalti_numbers}))
        return tuple(found.get(name) for name in self.types if name not in self.keywords)

    def _gradients(self, result: Any) -> Mapping[str, Any]:
        if isinstance(result, Mapping):
            named = cast(Mapping[str, Any], result)
            unknown = [name for name in named if name not in self.tensors]
            if unknown:
                raise LaunchError(
                    f"{self.name}: backward returned a gradient of {unknown[0]}; the tensors are {', '.join(self.tensors)}"
                )
            return named
        results = cast(Sequence[Any], result) if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(self.tensors):
            raise LaunchError(
                f"{self.name}: backward returned {len(results)} gradients; it must return {len(self.tensors)}, for "
                f"{', '.join(self.tensors)}, or a dictionary of gradients by name"
            )
        return dict(zip(self.tensors, results, strict=True))


def _literal(value: Any) -> str:
    """A default value in a schema."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


@overload
def custom_op(
    name: str,
    kernel: PythonKernel[...],
    /,
    *,
    outputs: Mapping[str, str | Formula] = ...,
    mutates_args: str | Sequence[str] = ...,
    constants: Mapping[str, Formula | object] = ...,
    backward: Formula | None = ...,
) -> Callable[..., Any]: ...
@overload
def custom_op(
    name: str,
    /,
    *,
    outputs: Mapping[str, str | Formula] = ...,
    mutates_args: str | Sequence[str] = ...,
    constants: Mapping[str, Formula | object] = ...,
    backward: Formula | None = ...,
) -> Callable[[PythonKernel[...]], Callable[..., Any]]: ...
def custom_op(
    name: str,
    kernel: PythonKernel[...] | None = None,
    /,
    *,
    outputs: Mapping[str, str | Formula] | None = None,
    mutates_args: str | Sequence[str] = (),
    constants: Mapping[str, Any] | None = None,
    backward: Formula | None = None,
) -> Any:
    """A kernel as an operator of PyTorch, or a decorator that makes one.

    The operator has the parameters of the kernel, except outputs and the constants that `constants` states. It returns
    the outputs. It runs on the GPU of its tensors and on the current stream of torch, or on the CPU.

    - `name`: the name in `torch.ops`, with a namespace: "mylib::softmax".
    - `outputs`: the parameters that the operator allocates, in the order in which it returns them. A value is a function that
      returns the tensor, such as `lambda x: x.new_empty(x.shape[0])`, or the name of an argument of equal shape and type.
    - `mutates_args`: the tensors that the operator changes.
    - `constants`: values of `smalti.constexpr` parameters, or functions of the arguments. A constant with a default value of
      the type `bool`, `int`, `float` or `str` is else a keyword argument of the operator.
    - `backward`: a function that returns the gradients of the tensors: a tuple, or a dictionary by name; a tensor if the
      operator has one tensor. `grad_y` is the gradient of the output `y`. The function calls operators, not kernels.

    Each function names the arguments that it needs. The parameters of the kernel are tensors, or numbers if they are annotated
    with an element type such as `sl.int32`, or with `int`, `float` or `bool`.

    The result is a `torch.library.CustomOpDef`. Raises TypeError if the kernel does not have these parameters.
    """
    if kernel is None:
        return functools.partial(
            _custom_op, name, outputs=outputs, mutates_args=mutates_args, constants=constants, backward=backward
        )
    return _custom_op(name, kernel, outputs, mutates_args, constants, backward)


def _custom_op(
    name: str,
    kernel: PythonKernel[...],
    outputs: Mapping[str, Any] | None,
    mutates_args: str | Sequence[str],
    constants: Mapping[str, Any] | None,
    backward: Formula | None,
) -> Any:
    if not isinstance(kernel, PythonKernel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name}: {kernel!r} is not a kernel; decorate the function with @smalti.kernel")
    mutated = [mutates_args] if isinstance(mutates_args, str) else list(mutates_args)
    if backward is not None and mutated:
        raise TypeError(f"{name}: an operator with mutates_args cannot have a backward function; omit one of them")
    operator = _Operator(name, kernel, outputs or {}, mutated, constants or {}, backward)
    library: Any = importlib.import_module("torch.library")
    result = library.custom_op(name, operator.run, mutates_args=mutated, schema=operator.schema)
    result.register_fake(operator.fake)
    if operator.has_backward:
        result.register_autograd(operator.backward, setup_context=operator.save)
    result.__doc__ = kernel.__doc__
    return result
