# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`smalti.jax.ffi_call`: a kernel as a function of JAX."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from ..errors import LaunchError
from ..frameworks.operators import GivenKernel, Operator, OperatorKernel, kernel_of
from ..language.arithmetic import is_number
from . import primitive
from .primitive import Call, Static


class _Function(Operator):
    """The functions that JAX traces: the call of the kernel, and its derivative."""

    array_word = "array"
    changes = "input_output_aliases"
    output_example = "lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype)"
    zeros_like = "jnp.zeros_like"

    def __init__(
        self,
        kernel: OperatorKernel,
        outputs: Mapping[str, Any],
        aliases: Sequence[str],
        constants: Mapping[str, Any],
        backward: Callable[..., Any] | None,
    ) -> None:
        super().__init__(kernel.__name__, kernel, outputs, aliases, constants)
        self.results = (*self.outputs, *self.changed)
        self._backward = None if backward is None else self.backward_formula(backward, self.results)
        kinds = inspect.Parameter
        self.signature = inspect.Signature(
            [
                kinds(name, kinds.KEYWORD_ONLY if one.is_constant else kinds.POSITIONAL_OR_KEYWORD, default=one.default)
                for name, one in sorted(self.arguments.items(), key=lambda item: item[1].is_constant)
            ]
        )
        self._jax = primitive.module()
        self._differentiable: Any = None
        self._finds_zeros = False
        """Whether JAX states which gradients of results are zero. It does not support that in jax.shard_map without jax.jit."""
        if self._backward is not None:
            self._finds_zeros = bool(self.without_gradient(self._backward, self.results))
            self._differentiable = self._jax.custom_vjp(self._run, nondiff_argnums=(0,))
            self._differentiable.defvjp(self._forward, self._gradients, symbolic_zeros=self._finds_zeros)

    def __call__(self, *given: Any, **named: Any) -> Any:
        try:
            bound = self.signature.bind(*given, **named)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        values = bound.arguments
        # Before the rule of the derivative, so that JAX differentiates the conversions too.
        arrays = primitive.converted([self._array(name, values[name]) for name in self.arrays])
        numbers = Static({name: self._number(name, value) for name, value in values.items() if name not in self.arrays})
        try:
            results = (self._differentiable or self._run)(numbers, *arrays)
        except TypeError as error:
            if "forward-mode" not in str(error):
                raise
            raise LaunchError(
                f"{self.name} has the gradients of backward=, which do not give a forward-mode derivative",
                hint="use a reverse-mode derivative, such as jax.grad or jax.jacrev, or state a rule with jax.custom_jvp",
            ) from None
        return results[0] if len(results) == 1 else results

    def _array(self, name: str, value: Any) -> Any:
        try:
            array = self._jax.numpy.asarray(value)
        except (TypeError, ValueError):
            raise LaunchError(f"{self.name}: {name} is {value!r}, but must be an array") from None
        if self._jax.dtypes.issubdtype(array.dtype, self._jax.dtypes.prng_key):
            raise LaunchError(
                f"{self.name}: {name} is an array of random keys, which does not have elements for a kernel",
                hint=f"pass jax.random.key_data({name})",
            )
        return array

    def _number(self, name: str, value: Any) -> Any:
        is_constant = self.arguments[name].is_constant
        if is_number(value) or (is_constant and not isinstance(value, self._jax.Array)):
            return value
        static = f"make it a static argument: jax.jit(..., static_argnames='{name}')"
        raise LaunchError(
            f"{self.name}: {name} is {value!r}; {'a constant' if is_constant else 'a number'} must be a Python number, which is "
            "a constant of the program of XLA",
            hint=static if is_constant else f"{static}, or declare the parameter as an array, `{name}: sl.Array`",
        )

    def _run(self, given: Static, *arrays: Any) -> tuple[Any, ...]:
        operands = dict(zip(self.arrays, arrays, strict=True))
        # The functions of the user may not work for symbolic sizes.
        described = {name: primitive.described_array(self, name, value) for name, value in operands.items()}
        values = {**given.values, **operands}
        types: dict[str, Any] = {}
        for name, formula in self.outputs.items():
            if isinstance(formula, str):
                types[name] = self._jax.ShapeDtypeStruct(values[formula].shape, values[formula].dtype)
                continue
            self.add_constants(values, formula.names)
            types[name] = self._output(name, formula(values))
        self.add_constants(values)
        for name, value in types.items():
            if isinstance(value, self._jax.Array):
                operands[name] = value
        types |= {name: operands[name] for name in self.changed}
        numbers = {n: v for n, v in values.items() if n not in self.arrays}
        described |= {name: primitive.described_array(self, name, value) for name, value in types.items()}
        call = Call(
            operator=self,
            numbers=Static(numbers),
            version=primitive.version(self, {**numbers, **described}),
            operands=tuple(operands),
            results=self.results,
            types=tuple((tuple(types[n].shape), types[n].dtype) for n in self.results),
            initialized=frozenset(operands) & frozenset(self.outputs),
            sizes=(),
            dimensions=((),) * len(operands),
        )
        return tuple(primitive.bind(call, list(operands.values())))

    def _output(self, name: str, value: Any) -> Any:
        """The type of an output, or its initial elements."""
        if isinstance(value, (self._jax.Array, self._jax.ShapeDtypeStruct)):
            return value
        if hasattr(value, "__array__"):
            return self._jax.numpy.asarray(value)
        raise LaunchError(
            f"{self.name}: the function of the output {name} returned {type(value).__name__}; a jax.ShapeDtypeStruct or an array "
            "is required"
        )

    # --- Derivatives ---

    def _forward(self, numbers: Static, *primals: Any) -> tuple[Any, Any]:
        """The results, and the values that the backward function names."""
        assert self._backward is not None
        arrays = [primal.value for primal in primals] if self._finds_zeros else primals
        # A second derivative differentiates this function.
        results = self._differentiable(numbers, *arrays)
        # A changed array has the name of the argument, which is its value before the call.
        values = {**dict(zip(self.results, results, strict=True)), **dict(zip(self.arrays, arrays, strict=True))}
        return results, {name: values[name] for name in self._backward.names if name in values}

    def _gradients(self, numbers: Static, saved: Mapping[str, Any], gradients: Sequence[Any]) -> tuple[Any, ...]:
        assert self._backward is not None
        zero = self._jax.custom_derivatives.SymbolicZero
        given = dict(zip(self.results, gradients, strict=True))
        for name in self.without_gradient(self._backward, given):
            if not isinstance(given[name], zero):
                raise LaunchError(
                    f"{self.name}: the derivative needs the gradient of the result {name}, but backward does not have the "
                    f"parameter grad_{name}",
                    hint=f"add the parameter grad_{name} to backward, or use jax.lax.stop_gradient({name})",
                )
        values = {
            f"grad_{name}": self._jax.numpy.zeros(one.shape, one.dtype) if isinstance(one, zero) else one
            for name, one in given.items()
            if f"grad_{name}" in self._backward.names
        }
        found = self.gradients(self._backward({**numbers.values, **saved, **values}))
        return tuple(found.get(name) for name in self.arrays)


@overload
def ffi_call(
    kernel: GivenKernel,
    /,
    *,
    outputs: Mapping[str, str | Callable[..., Any]] = ...,
    input_output_aliases: str | Sequence[str] = ...,
    constants: Mapping[str, Any] = ...,
    backward: Callable[..., Any] | None = ...,
) -> Callable[..., Any]: ...
@overload
def ffi_call(
    *,
    outputs: Mapping[str, str | Callable[..., Any]] = ...,
    input_output_aliases: str | Sequence[str] = ...,
    constants: Mapping[str, Any] = ...,
    backward: Callable[..., Any] | None = ...,
) -> Callable[[GivenKernel], Callable[..., Any]]: ...
def ffi_call(
    kernel: GivenKernel | None = None,
    /,
    *,
    outputs: Mapping[str, str | Callable[..., Any]] | None = None,
    input_output_aliases: str | Sequence[str] = (),
    constants: Mapping[str, Any] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Any:
    """A kernel as a function of JAX, or a decorator that makes one.

    The kernel is decorated with `@smalti.kernel`, or compiled by `smalti.compile`, `smalti.specialize` or `smalti.aot.load`.
    The function has the parameters of the kernel, except outputs and the constants that `constants` states. It returns the
    outputs, and then the arrays of `input_output_aliases`. XLA calls the kernel without Python, on the stream of the program.

    - `outputs`: the parameters that the function returns. A value is a function that returns a `jax.ShapeDtypeStruct`, or an
      array with initial elements such as `jnp.zeros_like(x)`, or the name of an argument of equal shape and type.
    - `input_output_aliases`: the arrays that the kernel changes. Each is an argument and a result, in the same memory in the
      program. XLA copies the argument if it is used elsewhere.
    - `constants`: values of `smalti.constexpr` parameters, or functions of the arguments. A constant with a default value of
      the type `bool`, `int`, `float` or `str` is else a keyword argument of the function.
    - `backward`: a function that returns the gradients of the arrays: a tuple, or a dictionary by name; an array if the
      function has one array. `grad_y` is the gradient of the result `y`. It is the rule of `jax.custom_vjp`. A derivative
      that needs a gradient that the function does not name is an error.

    Each function names the arguments that it needs. The parameters of the kernel are arrays, or numbers if they are annotated
    with an element type such as `sl.int32`, or with `int`, `float` or `bool`.

    Raises TypeError if the kernel does not have these parameters.
    """
    if kernel is None:
        return functools.partial(_ffi_call, outputs, input_output_aliases, constants, backward)
    return _ffi_call(outputs, input_output_aliases, constants, backward, kernel)


def _ffi_call(
    outputs: Mapping[str, Any] | None,
    aliases: str | Sequence[str],
    constants: Mapping[str, Any] | None,
    backward: Callable[..., Any] | None,
    kernel: GivenKernel,
) -> Callable[..., Any]:
    found = kernel_of("ffi_call", kernel)
    names = [aliases] if isinstance(aliases, str) else list(aliases)
    operator = _Function(found, outputs or {}, names, constants or {}, backward)

    def call(*arguments: Any, **named: Any) -> Any:
        return operator(*arguments, **named)

    call.__name__, call.__qualname__, call.__doc__ = found.__name__, found.__qualname__, found.__doc__
    call.__module__ = found.__module__
    # jax.jit finds arguments of the names in static_argnames.
    vars(call)["__signature__"] = operator.signature
    return call
