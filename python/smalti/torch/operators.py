# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti.torch.custom_op`: a kernel as a custom operator of `torch.library`."""

from __future__ import annotations

import dis
import functools
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, overload

from ..errors import LaunchError
from ..frameworks.operators import GivenKernel, Operator, OperatorKernel, kernel_of
from ..language.kernel import FunctionOfParameters
from ..language.types import DType
from . import derivatives

_NUMBERS: Mapping[type, str] = {bool: "bool", int: "SymInt", float: "float"}
"""The types of a number in a schema, by the annotation of its parameter. Sizes of torch.compile are symbolic."""

_CONSTANTS: Mapping[type, str] = {bool: "bool", int: "int", float: "float", str: "str"}


def _argument_type(annotation: Any) -> str:
    """The type in a schema of a parameter that is not a constant."""
    if isinstance(annotation, DType):
        return {"f": "float", "b": "bool"}.get(annotation.kind, "SymInt")
    return _NUMBERS.get(annotation, "Tensor") if isinstance(annotation, type) else "Tensor"


_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
"""Functions of torch that return a tensor whose elements are not initialized."""
_FACTS = {
    *("torch", "shape", "dtype", "device", "size", "stride", "numel", "ndim", "dim", "layout"),
    *("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"),
}
"""Other names of a function that only allocates a tensor."""


def _only_allocates(function: Any) -> bool:
    """Whether a function such as `lambda x: x.new_empty(x.shape[0])` cannot initialize its result, which is known if it has
    one expression without other names than those of torch above."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_nlocals != code.co_argcount or code.co_freevars:
        return False
    names = set(code.co_names)
    is_assignment = any(one.opname == "STORE_SUBSCR" for one in dis.get_instructions(code))
    return bool(names & _EMPTY) and names <= _EMPTY | _FACTS and not is_assignment


class _Operator(Operator):
    """The functions that torch calls: implementation, fake function and autograd formula."""

    array_word = "tensor"
    changes = "mutates_args"
    output_example = "lambda x: x.new_empty(x.shape)"
    zeros_like = "torch.zeros_like"

    def __init__(
        self,
        name: str,
        kernel: OperatorKernel,
        outputs: Mapping[str, Any],
        mutates_args: Sequence[str],
        constants: Mapping[str, Any],
        backward: Callable[..., Any] | None,
    ) -> None:
        super().__init__(name, kernel, outputs, mutates_args, constants)
        self.types = {
            name: _CONSTANTS[type(one.default)] if one.is_constant else _argument_type(one.annotation)
            for name, one in self.arguments.items()
        }
        """The types of the arguments of the operator in its schema."""
        # Other functions may initialize their outputs.
        self._initialized = [
            output for output, value in outputs.items() if not isinstance(value, str) and not _only_allocates(value)
        ]
        self._backward = None if backward is None else self.backward_formula(backward, outputs)

    @property
    def schema(self) -> str:
        letters = iter("abcdefghijklmnopqrstuvwxyz")

        def text(name: str) -> str:
            type_ = f"Tensor({next(letters)}!)" if name in self.changed else self.types[name]
            default = f"={_literal(self.defaults[name])}" if name in self.defaults else ""
            return f"{type_} {name}{default}"

        arguments = [text(name) for name in self.types if name not in self.keywords]
        if self.keywords:
            arguments += ["*", *(text(name) for name in self.keywords)]
        results = ", ".join("Tensor" for _ in self.outputs)
        return f"({', '.join(arguments)}) -> {results if len(self.outputs) == 1 else f'({results})'}"

    def _values(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name. Torch drops those that equal their default."""
        values = {**self.defaults, **dict(zip(self.types, arguments, strict=False)), **named}
        for name in self.arrays:
            if values[name] is None:
                raise LaunchError(f"{self.name}: {name} is None, but must be a tensor")
        return values

    def _allocate(self, values: dict[str, Any]) -> dict[str, Any]:
        torch = importlib.import_module("torch")
        allocated: dict[str, Any] = {}
        for name, formula in self.outputs.items():
            if isinstance(formula, str):
                allocated[name] = torch.empty_like(values[formula])
                continue
            self.add_constants(values, formula.names)
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
        self.add_constants(values)
        values |= allocated
        if self.kernel.is_interpreted:
            self.kernel(**values)
            return self._results(allocated)
        kernel, given = self.kernel.bind((), values)
        self.check(kernel, self._initialized)
        self.kernel.launch(cast(Any, kernel), given)
        return self._results(allocated)

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
        values = {**self._values(inputs, keyword_only_inputs or {}), **dict(zip(self.outputs, outputs, strict=True))}
        saved = {name: values[name] for name in self._backward.names if name in values}
        tensors = {name for name in saved if name in self.arrays or name in self.outputs}
        ctx.smalti_tensors = [name for name in saved if name in tensors]
        ctx.smalti_numbers = {name: value for name, value in saved.items() if name not in tensors}
        # A gradient that the backward function does not take would be dropped silently.
        constant = self.without_gradient(self._backward, self.outputs)
        ctx.mark_non_differentiable(*(values[name] for name in constant))
        ctx.save_for_backward(*(saved[name] for name in ctx.smalti_tensors))

    def backward(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        """The gradients of the arguments by position."""
        assert self._backward is not None
        values = dict(zip((f"grad_{name}" for name in self.outputs), gradients, strict=True))
        values |= dict(zip(ctx.smalti_tensors, ctx.saved_tensors, strict=True))
        found = self.gradients(self._backward({**values, **ctx.smalti_numbers}))
        return tuple(found.get(name) for name in self.types if name not in self.keywords)


_operators: dict[str, Any] = {}
"""The operators by name."""


def _operator(name: str) -> Any:
    """The operator that was pickled: an operator is pickled by its name, as a kernel is."""
    if name not in _operators:
        raise LaunchError(f"the operator {name} is not defined; import the module that defines it")
    return _operators[name]


def _literal(value: Any) -> str:
    """A default value in a schema."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


@overload
def custom_op(
    name: str,
    kernel: GivenKernel,
    /,
    *,
    outputs: Mapping[str, str | FunctionOfParameters] = ...,
    mutates_args: str | Sequence[str] = ...,
    constants: Mapping[str, FunctionOfParameters | object] = ...,
    backward: FunctionOfParameters | None = ...,
) -> Callable[..., Any]: ...
@overload
def custom_op(
    name: str,
    /,
    *,
    outputs: Mapping[str, str | FunctionOfParameters] = ...,
    mutates_args: str | Sequence[str] = ...,
    constants: Mapping[str, FunctionOfParameters | object] = ...,
    backward: FunctionOfParameters | None = ...,
) -> Callable[[GivenKernel], Callable[..., Any]]: ...
def custom_op(
    name: str,
    kernel: GivenKernel | None = None,
    /,
    *,
    outputs: Mapping[str, str | FunctionOfParameters] | None = None,
    mutates_args: str | Sequence[str] = (),
    constants: Mapping[str, Any] | None = None,
    backward: FunctionOfParameters | None = None,
) -> Any:
    """A kernel as an operator of PyTorch, or a decorator that makes one.

    The kernel is decorated with `@smalti.kernel`, or compiled by `smalti.compile`, `smalti.specialize` or `smalti.aot.load`.
    The operator has the parameters of the kernel, except outputs and the constants that `constants` states. It returns
    the outputs. It runs on the GPU of its tensors and on the current stream of torch, or on the CPU.

    - `name`: the name in `torch.ops`, with a namespace: "mylib::softmax".
    - `outputs`: the parameters that the operator allocates, in the order in which it returns them. A value is a function that
      returns the tensor, such as `lambda x: x.new_empty(x.shape[0])`, or the name of an argument of equal shape and type.
    - `mutates_args`: the tensors that the operator changes.
    - `constants`: values of `smalti.constexpr` parameters, or functions of the arguments. A constant with a default value of
      the type `bool`, `int`, `float` or `str` is else a keyword argument of the operator.
    - `backward`: a function that returns the gradients of the tensors: a tuple, or a dictionary by name; a tensor if the
      operator has one tensor. `grad_y` is the gradient of the output `y`. The function calls operators, not kernels. An output
      whose gradient the function does not name is not differentiable.

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
    kernel: GivenKernel,
    outputs: Mapping[str, Any] | None,
    mutates_args: str | Sequence[str],
    constants: Mapping[str, Any] | None,
    backward: FunctionOfParameters | None,
) -> Any:
    if [bool(part) for part in name.split("::")] != [True, True]:
        raise TypeError(
            f"the name of an operator is {name!r}; a namespace and a name are required, such as 'mylib::softmax'"
        )
    found = kernel_of(name, kernel)
    mutated = [mutates_args] if isinstance(mutates_args, str) else list(mutates_args)
    if backward is not None and mutated:
        raise TypeError(f"{name}: an operator with mutates_args cannot have a backward function; omit one of them")
    operator = _Operator(name, found, outputs or {}, mutated, constants or {}, backward)
    library: Any = importlib.import_module("torch.library")
    result = library.custom_op(name, operator.run, mutates_args=mutated, schema=operator.schema)
    result.register_fake(operator.fake)
    if operator.has_backward:
        result.register_autograd(operator.backward, setup_context=operator.save)
    derivatives.register(result, operator)

    # Torch cannot copy an operator, which a module may have as an attribute.
    def copied(_: Any) -> Any:
        return result

    def reduced(_: Any) -> Any:
        return _operator, (name,)

    result.__deepcopy__, result.__reduce_ex__ = copied, reduced
    _operators[name] = result
    result.__doc__ = found.__doc__
    return result
