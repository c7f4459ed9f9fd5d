# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The derivatives of an operator of torch.

The function that `torch.library.custom_op` registers loses the derivatives of changed tensors, and those of forward mode. It
does not work in `torch.func.grad`. The function of this module has the same result for other calls.
"""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LaunchError
from ..frameworks.operators import Operator


@dataclass(frozen=True)
class _Call:
    """The parts of a call other than its arguments by position."""

    keys: Any
    """The dispatch keys."""
    named: Mapping[str, Any]


def register(definition: Any, operator: Operator) -> None:
    """Registers the derivatives of a `torch.library.CustomOpDef`, which has the backward function."""
    torch: Any = importlib.import_module("torch")
    forward_ad: Any = importlib.import_module("torch.autograd.forward_ad")
    functorch: Any = importlib.import_module("torch._functorch.utils")
    native = torch._C

    def run(call: _Call, arguments: Sequence[Any]) -> Any:
        with native._AutoDispatchBelowAutograd():
            return definition._opoverload.redispatch(
                call.keys & native._after_autograd_keyset, *arguments, **call.named
            )

    @contextlib.contextmanager
    def outer_levels() -> Generator[None, None, None]:
        """Torch disables derivatives in `forward`, also those of outer transformations of torch.func."""
        if not native._are_functorch_transforms_active():
            yield
            return
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            yield

    def forward(ctx: Any, *arguments: Any) -> Any:
        *given, call = arguments
        with outer_levels():
            result = run(call, given)
            if definition._setup_context_fn is not None:
                # Torch drops arguments that equal their default.
                values = {**operator.defaults, **dict(zip(operator.arguments, given, strict=False)), **call.named}
                named = {name: values[name] for name in operator.keywords}
                inputs = tuple(values[name] for name in operator.arguments if name not in named)
                keywords = {"keyword_only_inputs": named} if named else {}
                definition._setup_context_fn(ctx=ctx, inputs=inputs, output=result, **keywords)
        return result

    def backward(ctx: Any, *gradients: Any) -> Any:
        if definition._backward_fn is None:
            raise LaunchError(
                f"{operator.name} does not have a derivative",
                hint="state its gradients: smalti.torch.custom_op(..., backward=...)",
            )
        found = definition._backward_fn(ctx, *gradients)
        return (*found, None) if isinstance(found, tuple) else (found, None)

    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise LaunchError(
            f"{operator.name} does not have a forward-mode derivative",
            hint="use a reverse-mode derivative, such as torch.autograd.grad or torch.func.jacrev",
        )

    # Torch shows the name in `grad_fn`.
    functions = {function.__name__: staticmethod(function) for function in (forward, backward, jvp)}
    derivative: Any = type(definition._name, (torch.autograd.function._SingleLevelFunction,), functions)

    def call(keys: Any, *arguments: Any, **named: Any) -> Any:
        one = _Call(keys, named)
        is_forward_mode = forward_ad._current_level >= 0 and native._is_fwd_grad_enabled()
        needs_gradient = torch.is_grad_enabled() and native._any_requires_grad(*arguments)
        if needs_gradient and operator.changed:
            given = dict(zip(operator.arguments, arguments, strict=False))
            array = next(name for name in operator.arrays if getattr(given[name], "requires_grad", False))
            raise LaunchError(
                f"{operator.name} changes {operator.changed[0]}, and does not have a derivative, but {array} requires grad",
                hint=f"call the operator in torch.no_grad(), or pass {array}.detach()",
            )
        if is_forward_mode or needs_gradient:
            with functorch.enable_single_level_autograd_function():
                return derivative.apply(*arguments, one)
        return run(one, arguments)

    with warnings.catch_warnings():
        # Torch warns once that a function of its own is replaced.
        warnings.simplefilter("ignore")
        definition._lib.impl(definition._name, call, "Autograd", with_keyset=True)
