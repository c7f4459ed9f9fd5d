# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of torch and JAX: which parameters are arguments, results and constants of the operator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast

from ..errors import LaunchError
from ..language.kernel import PythonKernel
from ..language.parameters import Parameter
from ..language.types import DType
from ..specialization import SpecializedKernel
from .compiled import Compiled, CompiledKernel, compiled_kernel

OperatorKernel: TypeAlias = PythonKernel[...] | CompiledKernel
"""The kernel of an operator."""
GivenKernel: TypeAlias = "PythonKernel[...] | Compiled"
"""The kernel of an operator as a user passes it."""

CONSTANTS = (bool, int, float, str)
"""The types of the default values of constants that are keyword arguments of an operator."""


class Formula:
    """A function whose parameters are names of values: `lambda x, block: ...`."""

    def __init__(self, what: str, function: Any, known: Iterable[str], example: str) -> None:
        if not callable(function):
            raise TypeError(f"{what} is {function!r}; a function such as `{example}` is required")
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


def _is_number(parameter: Parameter) -> bool:
    return isinstance(parameter.annotation, DType) or parameter.annotation in (bool, int, float)


class Operator:
    """The parameters of a kernel as those of an operator, and the functions that the user states."""

    # The words of the framework in messages.
    array_word: ClassVar[str]
    """The name of an array."""
    changes: ClassVar[str]
    """The option with the arrays that the kernel changes."""
    output_example: ClassVar[str]
    """A function that returns an output."""
    zeros_like: ClassVar[str]
    """The function that returns an initialized array like another one."""

    def __init__(
        self,
        name: str,
        kernel: OperatorKernel,
        outputs: Mapping[str, Any],
        changed: Sequence[str],
        constants: Mapping[str, Any],
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.changed = tuple(changed)
        self._check_names(outputs, constants)
        self.arguments: dict[str, Parameter] = {}
        """The parameters of the kernel that are arguments of the operator."""
        self.defaults: dict[str, Any] = {}
        self.keywords: list[str] = []
        """The constants of the kernel that are arguments by name."""
        for parameter in kernel.parameters.values():
            if parameter.name in outputs or parameter.name in constants:
                continue
            default = parameter.default
            if parameter.is_constant:
                if default is inspect.Parameter.empty:
                    raise TypeError(
                        f"{name}: the constant {parameter.name} does not have a value; state one: "
                        f"constants={{'{parameter.name}': 64}}, or a function such as `lambda x: x.shape[1]`"
                    )
                if type(default) not in CONSTANTS:
                    continue
                self.keywords.append(parameter.name)
            self.arguments[parameter.name] = parameter
            if default is not inspect.Parameter.empty:
                self.defaults[parameter.name] = default
        self.arrays = [n for n, p in self.arguments.items() if not p.is_constant and not _is_number(p)]
        for one in self.changed:
            if one not in self.arrays:
                raise TypeError(
                    f"{name}: {self.changes} has {one}, which is a number of the kernel; list only {self.array_word}s"
                )
        known = list(self.arguments)
        self._constants: dict[str, Any] = {}
        for constant, value in constants.items():
            self._constants[constant] = self._formula(constant, value, known) if callable(value) else value
            known.append(constant)
        self.outputs: dict[str, Formula | str] = {}
        """The function that returns the output, or the name of an argument of equal shape and type."""
        for output, value in outputs.items():
            if not isinstance(value, str):
                self.outputs[output] = self._formula(f"the output {output}", value, known)
                continue
            if value not in self.arrays:
                raise TypeError(
                    f"{name}: outputs={{{output!r}: {value!r}}} takes shape and type of the output from {value!r}, which is not "
                    f"one of the {self.array_word}s: {', '.join(self.arrays)}"
                )
            self.outputs[output] = value
        self._checked: set[tuple[SpecializedKernel | CompiledKernel, frozenset[str]]] = set()

    def _check_names(self, outputs: Mapping[str, Any], constants: Mapping[str, Any]) -> None:
        name, parameters = self.name, self.kernel.parameters
        for what, names in (("outputs", outputs), (self.changes, self.changed), ("constants", constants)):
            for given in names:
                if given not in parameters:
                    raise TypeError(
                        f"{name}: {what} has {given}, but the parameters of the kernel are {', '.join(parameters)}"
                    )
                if parameters[given].is_constant != (what == "constants"):
                    kind = "a constant" if parameters[given].is_constant else "not a constant"
                    raise TypeError(f"{name}: {what} has {given}, but this parameter is {kind} of the kernel")
        if both := set(outputs) & set(self.changed):
            raise TypeError(f"{name}: {min(both)} is in outputs and in {self.changes}; the operator allocates outputs")
        if not outputs and not self.changed:
            raise TypeError(
                f"{name}: the operator does not have a result; state the parameters that the kernel writes, with outputs= or "
                f"{self.changes}="
            )

    def _formula(self, what: str, function: Any, known: Iterable[str]) -> Formula:
        return Formula(f"{self.name}: {what}", function, known, self.output_example)

    def backward_formula(self, function: Callable[..., Any], results: Iterable[str]) -> Formula:
        """The function that returns gradients. It names gradients of results, arguments and outputs."""
        gradients = [f"grad_{result}" for result in results]
        return self._formula("backward", function, [*gradients, *self.arguments, *self.outputs])

    @staticmethod
    def without_gradient(backward: Formula, results: Iterable[str]) -> list[str]:
        """The results whose gradient the backward function does not name."""
        return [result for result in results if f"grad_{result}" not in backward.names]

    def add_constants(self, values: dict[str, Any], needed: Iterable[str] | None = None) -> None:
        """Adds the values of constants, which may be functions of other values. Default: of all constants."""
        for name in self._constants if needed is None else needed:
            if name in self._constants and name not in values:
                value = self._constants[name]
                if isinstance(value, Formula):
                    self.add_constants(values, value.names)
                    value = value(values)
                values[name] = value

    def check(self, kernel: SpecializedKernel | CompiledKernel, initialized: Collection[str]) -> None:
        """Raises LaunchError if the kernel has an access that the operator does not state. `initialized` are the outputs that
        have elements before the kernel runs."""
        # A function of an output may initialize it in some calls only.
        case = (kernel, frozenset(initialized))
        if case in self._checked:
            return
        for argument in kernel.entry.arguments:
            if not argument.is_memref or argument.name is None:
                continue
            name = argument.name
            if argument.writes and name in self.arguments and name not in self.changed:
                raise LaunchError(
                    f"{self.name}: the kernel writes {name}, which is an input of the operator",
                    hint=f"add {self.changes}=['{name}'], or outputs={{'{name}': ...}} if the operator returns it",
                )
            if argument.reads and name in self.outputs and name not in initialized:
                raise LaunchError(
                    f"{self.name}: the kernel reads the output {name}, but its elements are not initialized",
                    hint=self._initialization(name),
                )
        self._checked.add(case)

    def _initialization(self, output: str) -> str:
        """How to initialize an output."""
        formula = self.outputs[output]
        if isinstance(formula, str):
            return f"initialize it: outputs={{'{output}': lambda {formula}: {self.zeros_like}({formula})}}"
        like = next((name for name in (*formula.names, *self.arrays) if name in self.arrays), "x")
        return (
            f"return initialized elements from the function of outputs['{output}'], such as {self.zeros_like}({like})"
        )

    def gradients(self, result: Any) -> Mapping[str, Any]:
        """The gradients that the backward function returned, by the names of the arrays."""
        if isinstance(result, Mapping):
            named = cast(Mapping[str, Any], result)
            unknown = [name for name in named if name not in self.arrays]
            if unknown:
                raise LaunchError(
                    f"{self.name}: backward returned a gradient of {unknown[0]}; the {self.array_word}s are "
                    f"{', '.join(self.arrays)}"
                )
            return named
        results = cast(Sequence[Any], result) if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(self.arrays):
            raise LaunchError(
                f"{self.name}: backward returned {len(results)} gradients; it must return {len(self.arrays)}, for "
                f"{', '.join(self.arrays)}, or a dictionary of gradients by name"
            )
        return dict(zip(self.arrays, results, strict=True))


def kernel_of(name: str, kernel: Any) -> OperatorKernel:
    """The kernel of an operator. Raises TypeError for an object that is not a kernel."""
    if isinstance(kernel, PythonKernel):
        return cast("PythonKernel[...]", kernel)
    found = compiled_kernel(kernel)
    if found is None:
        raise TypeError(
            f"{name}: {kernel!r} is not a kernel; decorate the function with @smalti.kernel, or pass a compiled kernel"
        )
    return found
