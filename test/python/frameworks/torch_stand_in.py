# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of torch that Smalti uses, on arrays of numpy: CI does not have torch, which is large."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np


class Tensor:
    """A tensor on the CPU, or one without memory on another device."""

    def __init__(self, array: np.ndarray, device: str = "cpu", index: int | None = None, pointer: int = 0) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = f"torch.{array.dtype.name}"
        self.device = SimpleNamespace(type=device, index=index)
        self._pointer = pointer

    def data_ptr(self) -> int:
        return self.array.ctypes.data if self.device.type == "cpu" else self._pointer

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def is_neg(self) -> bool:
        return False

    def is_conj(self) -> bool:
        return False

    def _like(self, array: np.ndarray) -> Tensor:
        return Tensor(array, self.device.type, self.device.index)

    def new_empty(self, *shape: int) -> Tensor:
        return self._like(np.full(shape, 77, self.array.dtype))

    def new_zeros(self, *shape: int) -> Tensor:
        return self._like(np.zeros(shape, self.array.dtype))

    def __mul__(self, other: Tensor) -> Tensor:
        return self._like(self.array * other.array)


Tensor.__module__ = "torch"


class Context:
    """The object that torch passes from the forward to the backward function."""

    saved_tensors: tuple[Tensor, ...] = ()
    not_differentiable: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        self.not_differentiable = tensors


class Operator:
    """`torch.library.CustomOpDef`: what is registered, and a call that runs it."""

    def __init__(self, name: str, function: Callable[..., Any], mutates_args: Sequence[str], schema: str) -> None:
        self.name, self.function, self.mutates_args, self.schema = name, function, mutates_args, schema
        self.fake: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., None] | None = None
        self._name = name
        self._lib = SimpleNamespace(impl=lambda *given, **named: None)

    def register_fake(self, function: Callable[..., Any]) -> None:
        self.fake = function

    def register_autograd(self, backward: Callable[..., Any], *, setup_context: Callable[..., None]) -> None:
        self.backward, self.setup_context = backward, setup_context

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def gradients(self, arguments: Sequence[Any], gradients: Sequence[Any], **named: Any) -> Any:
        """The gradients of the arguments by position, as torch computes them."""
        assert self.backward is not None
        return self.backward(self.context(arguments, **named), *gradients)

    def context(self, arguments: Sequence[Any], **named: Any) -> Context:
        """The object after a forward pass."""
        assert self.setup_context is not None
        context = Context()
        keywords = {"keyword_only_inputs": named} if "*" in self.schema else {}
        self.setup_context(ctx=context, inputs=arguments, output=self(*arguments, **named), **keywords)
        return context


class Cuda:
    """`torch.cuda`: the current GPU, and a current stream for each GPU."""

    def __init__(self, select: Callable[[int], None] = lambda index: None) -> None:
        self._select = select
        self.streams: Mapping[int, int] = {0: 70, 1: 71}

    @contextlib.contextmanager
    def device(self, device: Any) -> Generator[None, None, None]:
        self._select(device.index)
        yield
        self._select(0)

    def current_stream(self, device: Any) -> Any:
        return SimpleNamespace(cuda_stream=self.streams[device.index])


def modules(cuda: Cuda | None = None) -> dict[str, types.ModuleType]:
    """The modules `torch` and `torch.library`."""
    torch, library = types.ModuleType("torch"), types.ModuleType("torch.library")

    def custom_op(name: str, function: Callable[..., Any], *, mutates_args: Sequence[str], schema: str) -> Operator:
        return Operator(name, function, mutates_args, schema)

    def empty_like(tensor: Tensor) -> Tensor:
        return tensor.new_empty(*tensor.shape)

    vars(library).update(custom_op=custom_op)
    autograd = SimpleNamespace(function=SimpleNamespace(_SingleLevelFunction=object))
    vars(torch).update(
        Tensor=Tensor, empty_like=empty_like, library=library, cuda=cuda or Cuda(), autograd=autograd, _C=None
    )
    names = ("torch.autograd.forward_ad", "torch._functorch.utils")
    return {"torch": torch, "torch.library": library, **{name: types.ModuleType(name) for name in names}}
