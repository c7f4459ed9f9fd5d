# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of kernels for the extension module `_launcher`, which chooses and launches them without Python code.

The launchers in Python are the reference: `_launcher` does not launch what it does not support or does not accept. The
launcher in Python then handles the call, and words the error. Without the extension module, such as on a machine that has
only the Python files, every launch takes this path.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import dtypes
from . import arrays, calls
from .arguments import Argument, Entry
from .tensor_maps import TensorMap

if TYPE_CHECKING:
    from ._launcher import Dispatcher, Launcher

_ELEMENTS = {ty.name: index for index, ty in reversed(list(enumerate(dtypes.ELEMENT_TYPES)))}
"""The number of an element type by its name in numpy."""

_DEVICES = {arrays.CPU: 1, arrays.CUDA: 2, arrays.HIP: 3}
"""The enumeration `Device` of LaunchArguments.h."""


@functools.cache
def _module() -> Any:
    """The extension module, or None."""
    try:
        from . import _launcher
    except ImportError:
        return None
    names = {ty.name: _ELEMENTS[ty.name] << 8 | ty.bits // 8 for ty in dtypes.ELEMENT_TYPES}
    typestrs = {
        f"{'<' if ty.bits > 8 else '|'}{ty.kind}{ty.bits // 8}": names[ty.name]
        for ty in dtypes.ELEMENT_TYPES
        if ty.name not in dtypes.EXTENDED
    }
    dlpack = {key: _ELEMENTS[name] for key, name in dtypes.BY_DLPACK.items()}
    _launcher.configure(arrays.view, arrays.ArrayView, arrays.exchange_api, names, typestrs, dlpack)
    return _launcher


if TYPE_CHECKING:

    class NativeCallable:
        """The base class of kernels. A call launches the kernel with `native`, if it supports and accepts the call, or else
        calls the method `_call`."""

        native: Launcher | Dispatcher | None

        def __call__(self, /, *arguments: Any, **named: Any) -> None: ...

elif _module() is not None:
    NativeCallable = _module().Callable
else:

    class NativeCallable:
        native = None

        def __call__(self, /, *arguments, **named):
            self._call(*arguments, **named)


def _array(argument: Argument, device: str, alignment: int) -> tuple[Any, ...]:
    accepted = (index for name, index in _ELEMENTS.items() if dtypes.accepts(argument.dtype, name))
    return (
        sum(1 << index for index in accepted),
        _DEVICES[device],
        argument.shape,
        argument.strides,
        max(argument.dtype.bits // 8, 1),
        argument.address_alignment(alignment),
        argument.writes,
        bool(argument.dynamic_sizes) and argument.is_row_major,
        argument.size_divisors,
        argument.stride_divisors,
        argument.max_bytes,
        argument.dynamic_sizes,
        argument.dynamic_strides,
        argument.packed,
    )


def _scalar(argument: Argument) -> tuple[Any, ...]:
    low, high = (0, 2) if argument.dtype.kind == "b" else calls.integer_range(argument.dtype)
    if argument.dtype.kind == "i":
        # The type i32 is that of an int32 and of an uint32. The launchers in Python check the type that a kernel states.
        high = 1 << argument.dtype.bits - 1
    bits = functools.partial(calls.bits_of, argument.dtype) if argument.dtype.mlir in calls.SMALL_FLOATS else None
    return calls.SCALAR_FORMATS[argument.dtype.mlir], low, high, functools.partial(calls.scalar, argument), bits


def launcher(
    entry: Entry,
    device: str,
    *,
    grid: Sequence[int] | None,
    block: Sequence[int],
    cluster: Sequence[int] | None,
    shared: int,
    maps: Sequence[TensorMap],
    current: Any,
    launch: Any,
    encode: Callable[[int, int, int, tuple[int, ...], tuple[int, ...]], bytes],
    fail: Callable[[int], None],
    stream_pointer: Callable[[Any], int],
) -> Launcher | None:
    """The native launcher of a kernel, or None if the kernel is not supported or the extension module does not exist.

    `current` and `launch` are functions of the driver: `cuCtxGetCurrent` or `hipGetDevice`, and the function of a launch.
    `encode` returns the bytes of a tensor map for a context, the number of the map, the address, and the shape and strides
    of the array. `fail` raises the error for a status of the driver.
    """
    module = _module()
    arguments = entry.arguments
    if module is None or len(arguments) > module.MAX_ARGUMENTS or len(maps) > module.MAX_MAPS:
        return None
    if any(len(argument.shape or ()) > module.MAX_RANK for argument in arguments):
        return None
    if any(not arguments[described.argument].is_memref for described in maps):
        return None
    return module.Launcher(
        tuple(
            _array(argument, device, calls.GPU_ALIGNMENT) if argument.is_memref else _scalar(argument)
            for argument in arguments
        ),
        () if grid is not None else entry.grid or (((-1, -1, entry.num_tiles),),),
        entry.num_tiles,
        tuple(grid or (0, 0, 0)),
        tuple((described.argument, described.offset, described.is_dynamic) for described in maps),
        tuple(block),
        None if cluster is None else tuple(cluster),
        shared,
        address(current),
        address(launch),
        encode,
        fail,
        stream_pointer,
    )


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel that is compiled for facts of its arguments."""

    name: str | None = None
    """The name for calls with keywords."""
    default: tuple[Any, ...] = ()
    """The value if a call does not pass one, or nothing."""
    is_constant: bool = False
    """Whether the value is any Python object, which the kernel does not receive."""
    size_divisors: tuple[int, ...] = ()
    """The number whose multiples are facts, for the sizes of dimensions; `divisor` for the others."""
    stride_divisors: tuple[int, ...] = ()


GridStep = tuple[str, int, int]
"""A step of a program, which uses the last results of the steps before it: an operation with its numbers.

- `constant`: a number
- `number`: the position of an integer in the parameters of the grid function
- `size`: the position of an array, and a dimension
- `negate`, `add`, `subtract`, `multiply`, `divide` (rounds down)
"""

GridProgram = tuple[types.CodeType, tuple[tuple[Any, str, Any], ...], tuple[tuple[GridStep, ...], ...]]
"""The code of a grid function, the values outside of it as `remember` describes them, and the steps of each size."""


def dispatcher(
    parameters: Sequence[Parameter],
    num_positional: int,
    divisor: int,
    grid: tuple[int, ...] | Callable[..., Any] | None = None,
    grid_parameters: Sequence[str] = (),
    grid_program: GridProgram | None = None,
) -> Dispatcher | None:
    """A table of native launchers by the facts of a call, or None if the extension module does not exist.

    The facts of an array are its element type, whether it is row-major, and whether it has less than 2^31 bytes. Each size,
    stride and integer has the facts whether it is 0, 1, negative, or a multiple of `divisor`. `grid` is the
    number of tiles, which follows the arguments of the kernel, or a function of parameters that returns it. `grid_program`
    is evaluated instead of the function where it can be.
    """
    module = _module()
    if module is None or len(parameters) > module.MAX_ARGUMENTS - 3:
        return None
    positions = {parameter.name: index for index, parameter in enumerate(parameters)}
    return module.Dispatcher(
        tuple((one.name, one.default, one.is_constant, one.size_divisors, one.stride_divisors) for one in parameters),
        num_positional,
        divisor,
        grid,
        tuple(grid_parameters),
        tuple(positions[name] for name in grid_parameters),
        grid_program,
    )


def remember(
    called: NativeCallable,
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    kernel: Any,
    sources: Sequence[int],
    captured: Callable[[], tuple[tuple[tuple[Any, ...], ...], Callable[[], bool] | None]] = lambda: ((), None),
) -> None:
    """Adds a kernel with a native launcher to the dispatcher of `called`, for calls with the key of this call.

    `sources` are the positions of the parameters that the kernel takes. `captured` returns the values outside of the kernel
    that a launch compares by identity, and a function that checks others. A value is one of:

    - a dictionary or cell, a key, and the value
    - a dictionary, and a key that it must not have
    - a function, a name, and a tuple of its code, defaults and keyword defaults
    """
    launcher: Any = getattr(kernel, "native", None)
    if called.native is not None and launcher is not None:
        table: Any = called.native
        table.add(tuple(arguments), dict(named), launcher, tuple(sources), *captured())


def address(function: Any) -> int:
    """The address of a function of `ctypes`."""
    import ctypes

    return ctypes.cast(function, ctypes.c_void_p).value or 0
