# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The primitive of JAX that calls a kernel: its types, batching rule and lowering."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import targets
from ..errors import LaunchError
from ..frameworks import batching
from ..frameworks.operators import Operator, OperatorKernel
from ..language import hooks
from ..language.kernel import PythonKernel
from ..language.parameters import ShapeDtypeStruct
from ..language.trees import hashable
from ..launch import placement
from ..launch.kernels import Kernel
from . import handlers
from .platforms import PLATFORMS


class Static:
    """Numbers and constants of a call by name, which can be compared."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self._key = hashable(tuple(self.values.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.values)


@dataclass(frozen=True)
class Call:
    """The parameters of the primitive."""

    operator: Operator
    numbers: Static
    version: Any
    """Differs if the code or the grid of the kernel do, since JAX keeps the programs of equal calls."""
    operands: tuple[str, ...]
    """The parameters of the kernel that are operands. Those in `results` too are in the memory of the result."""
    results: tuple[str, ...]
    types: tuple[tuple[tuple[int, ...], Any], ...]
    """The shape and the element type of each result, without a batch."""
    initialized: frozenset[str]
    """The outputs that have initial elements."""
    sizes: tuple[int, ...]
    """The dimensions of the batch, which are the first dimensions of the results."""
    dimensions: tuple[tuple[int, ...], ...]
    """The dimensions of the batch that each operand has. They are its first dimensions."""

    def __repr__(self) -> str:
        return f"{self.operator.name}({self.numbers})"

    def dimensions_of(self) -> dict[str, tuple[int, ...]]:
        """The dimensions of the batch that each array has."""
        every = tuple(range(len(self.sizes)))
        return dict(zip(self.operands, self.dimensions, strict=True)) | dict.fromkeys(self.results, every)

    def add_batch(self, size: int, is_batched: Sequence[bool]) -> Call:
        """The call for one more dimension of the batch, which becomes the first one."""
        dimensions = tuple(
            ((0,) if batched else ()) + tuple(d + 1 for d in before)
            for before, batched in zip(self.dimensions, is_batched, strict=True)
        )
        return replace(self, sizes=(size, *self.sizes), dimensions=dimensions)


def module(name: str = "jax") -> Any:
    """A module of JAX, which is imported by the first function: Smalti does not require JAX."""
    return importlib.import_module(name)


@functools.cache
def _primitive() -> Any:
    """The primitive, with its rules."""
    mlir = module("jax.interpreters.mlir")
    handlers.register(module())
    one = module("jax.extend.core").Primitive("smalti_kernel")
    one.multiple_results = True
    one.def_impl(functools.partial(module("jax.interpreters.xla").apply_primitive, one))
    one.def_abstract_eval(_abstract_eval)
    module("jax.interpreters.batching").primitive_batchers[one] = _batch
    module("jax.interpreters.ad").primitive_jvps[one] = _jvp
    for platform in PLATFORMS:
        mlir.register_lowering(one, functools.partial(_lower, platform), platform=platform)
    return one


def bind(call: Call, operands: Sequence[Any]) -> Sequence[Any]:
    """Calls the kernel."""
    return _primitive().bind(*_same_axes(operands), call=call)


def converted(arrays: Sequence[Any]) -> list[Any]:
    """The arrays of a call with the types that the kernel takes: not divided over devices with explicit axes of a mesh."""
    jax = module()

    def gathered(array: Any) -> Any:
        sharding = jax.typeof(array).sharding
        if all(axes is None for axes in sharding.spec):
            return array
        return jax.reshard(array, jax.NamedSharding(sharding.mesh, jax.P(*[None] * array.ndim)))

    return _same_axes([gathered(array) for array in arrays])


def _same_axes(operands: Sequence[Any]) -> list[Any]:
    """In `jax.shard_map`, operands that vary over the same axes of the mesh."""
    axes = [module().typeof(operand).manual_axis_type.varying for operand in operands]
    union = frozenset[Any]().union(*axes)
    return [
        operand if one == union else module().lax.pcast(operand, tuple(union - one), to="varying")
        for operand, one in zip(operands, axes, strict=True)
    ]


def _abstract_eval(*operands: Any, call: Call) -> list[Any]:
    sharding, core = module("jax.sharding"), module("jax.core")
    results: list[Any] = []
    # A dimension of the batch may be divided over devices with an explicit axis of a mesh.
    axes: list[Any] = [None] * len(call.sizes)
    for operand, dimensions in zip(operands, call.dimensions, strict=True):
        for dimension, axis in zip(dimensions, operand.sharding.spec, strict=False):
            axes[dimension] = axes[dimension] or axis
    for shape, dtype in call.types:
        shape = (*call.sizes, *shape)
        if not operands:
            results.append(core.ShapedArray(shape, dtype))
            continue
        first = operands[0]
        spec = sharding.PartitionSpec(*axes, *[None] * (len(shape) - len(axes)))
        placed = sharding.NamedSharding(first.sharding.mesh, spec)
        results.append(first.update(shape=shape, dtype=dtype, weak_type=False, sharding=placed))
    return results


def _batch(operands: Sequence[Any], dims: Sequence[int | None], *, call: Call) -> tuple[Sequence[Any], Sequence[int]]:
    size = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
    moved = [x if d is None else module().numpy.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True)]
    # Each element of the batch changes its own copy.
    is_changed = [name in call.results for name in call.operands]
    moved = [
        module().numpy.broadcast_to(x, (size, *x.shape)) if d is None and changed else x
        for x, d, changed in zip(moved, dims, is_changed, strict=True)
    ]
    is_batched = [d is not None or changed for d, changed in zip(dims, is_changed, strict=True)]
    if batching.can_batch(call.operator.kernel):
        results = bind(call.add_batch(size, is_batched), moved)
    else:
        results = _loop(call, moved, is_batched)
    return results, [0] * len(results)


def _loop(call: Call, operands: Sequence[Any], is_batched: Sequence[bool]) -> Sequence[Any]:
    """Calls a block-level kernel for each element of a batch."""

    def one(elements: Sequence[Any]) -> Sequence[Any]:
        rest = iter(elements)
        return bind(call, [next(rest) if b else x for x, b in zip(operands, is_batched, strict=True)])

    return module().lax.map(one, [x for x, b in zip(operands, is_batched, strict=True) if b])


def _jvp(*_: Any, call: Call) -> Any:
    raise LaunchError(
        f"{call.operator.name} does not have a derivative",
        hint="state its gradients: smalti.jax.ffi_call(..., backward=...)",
    )


def _target(call: Call, platform: str) -> targets.Target:
    """The target for a platform of JAX."""
    kernel = call.operator.kernel
    stated = kernel.target
    target = placement.target_for((PLATFORMS[platform].memory, 0)) if stated is None else targets.get(stated)
    if target.vendor != PLATFORMS[platform].vendor or target.is_emulated or target.is_simulated:
        what = "its target is" if stated is not None else "this machine does not have its GPU, and the target is"
        raise LaunchError(
            f"{call.operator.name} is called on the platform {platform} of JAX, but {what} {target}",
            hint=f"state the chip: {call.operator.name}.on({PLATFORMS[platform].example!r})"
            if isinstance(kernel, PythonKernel)
            else f"compile the kernel for the platform: smalti.compile(..., target={PLATFORMS[platform].example!r})",
        )
    return target


def _is_in_python(kernel: OperatorKernel) -> bool:
    """Whether Python runs the kernel: interpreted, emulated and simulated ones."""
    if kernel.is_interpreted:
        return True
    target = None if kernel.target is None else targets.get(kernel.target)
    return target is not None and (target.is_emulated or target.is_simulated)


def _call_python(call: Call, *operands: Any) -> Sequence[Any]:
    types = [module().ShapeDtypeStruct((*call.sizes, *shape), dtype) for shape, dtype in call.types]
    return module().pure_callback(functools.partial(_run_in_python, call), types, *operands)


def _run_in_python(call: Call, *operands: Any) -> list[np.ndarray]:
    """Runs the kernel for each element of a batch, on arrays of numpy."""
    kernel = call.operator.kernel
    found = {
        # A kernel does not change its operands, which other operations use.
        name: np.array(value) if name in call.results else np.asarray(value)
        for name, value in zip(call.operands, operands, strict=True)
    }
    for name, (shape, dtype) in zip(call.results, call.types, strict=True):
        found.setdefault(name, np.empty((*call.sizes, *shape), dtype))
    dimensions = call.dimensions_of()
    for position in np.ndindex(*call.sizes):
        elements = {name: value[(*(position[d] for d in dimensions[name]), ...)] for name, value in found.items()}
        arguments = {**call.numbers.values, **elements}
        if not kernel.is_interpreted:
            call.operator.check(kernel.bind((), arguments)[0], call.initialized)
        kernel(**arguments)
    return [found[name] for name in call.results]


def _lower(platform: str, context: Any, *operands: Any, call: Call) -> Any:
    if platform == "cpu" and _is_in_python(call.operator.kernel):
        return module("jax.interpreters.mlir").lower_fun(functools.partial(_call_python, call))(context, *operands)
    avals = [*context.avals_in, *context.avals_out]
    names = [*call.operands, *call.results]
    kernel = call.operator.kernel
    if _has_launch_hooks(kernel):
        raise LaunchError(
            f"{call.operator.name} has launch hooks, but a program of XLA launches kernels without Python",
            hint="remove the functions in launch_enter and launch_exit of smalti.hooks and of the hooks of the kernel, or call the "
            "kernel without JAX",
        )
    kernel = kernel.on(_target(call, platform))
    if call.sizes:
        assert isinstance(kernel, PythonKernel)
        kernel = batching.batched(kernel, call.sizes, call.dimensions_of())
    described = {name: described_array(call.operator, name, aval) for name, aval in zip(names, avals, strict=True)}
    binding = kernel.bind_descriptions({**call.numbers.values, **described})
    call.operator.check(binding.kernel, call.initialized)
    compiled = binding.kernel.variant(*binding.given)
    assert isinstance(compiled, Kernel)
    buffers = handlers.Buffers(call.operands, call.results, [math.prod(aval.shape) for aval in avals])
    attributes = handlers.add(
        compiled, binding.given, buffers, repr((binding.digest, sorted(binding.kernel.options.items())))
    )
    rule = module().ffi.ffi_lowering(handlers.TARGET, operand_output_aliases=buffers.aliases)
    return rule(context, *operands, **attributes)


def version(operator: Operator, named: Mapping[str, Any]) -> Any:
    """The version of the kernel for a call. A callback of Python uses the values at its run."""
    kernel = operator.kernel
    return None if _is_in_python(kernel) else (kernel.version(named), _has_launch_hooks(kernel))


def _has_launch_hooks(kernel: OperatorKernel) -> bool:
    return isinstance(kernel, PythonKernel) and hooks.has_launch_hooks(kernel.hooks)


def described_array(operator: Operator, name: str, aval: Any) -> ShapeDtypeStruct:
    if not all(isinstance(size, int) for size in aval.shape):
        raise LaunchError(
            f"{operator.name}: the shape of {name} is {aval.shape}; a kernel in a program of XLA needs static sizes",
            hint="export the function for each size",
        )
    return ShapeDtypeStruct(aval.shape, aval.dtype)
