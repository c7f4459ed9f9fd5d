# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launcher for emulated GPUs, which run the code of a chip on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import sources
from ..calling import arrays, calls
from ..calling.arguments import Argument
from ..calling.tensor_maps import ADDRESS_OFFSET
from ..emulator import library, memory, session, tensor_maps
from ..emulator.options import Emulation, chosen
from ..errors import LaunchError
from .cuda import check_layouts

if TYPE_CHECKING:
    from .compiled import CompiledCode


def _number(argument: Argument, value: Any) -> bytes:
    """The bytes of a scalar argument. A signless integer may be signed or unsigned."""
    if isinstance(value, int) and argument.dtype.kind in "iu":
        return value.to_bytes(argument.dtype.bits // 8, "little", signed=value < 0)
    return np.array(value, argument.dtype.numpy).tobytes()


class EmulatedLauncher:
    """Builds a library of the kernel for each requested sanitizer, and runs the library."""

    def __init__(self, kernel: CompiledCode) -> None:
        check_layouts(kernel)
        self._kernel = kernel
        self._check = calls.ArgumentChecker(kernel.entry, arrays.CPU, alignment=0, takes_sizes=True)
        self._libraries: dict[str | None, library.Library] = {}
        self._library(chosen(None, kernel.emulation))

    def _library(self, emulation: Emulation) -> library.Library:
        if emulation.sanitize not in self._libraries:
            kernel = self._kernel
            assert kernel.device_ir is not None
            built = library.build(
                kernel.device_ir, kernel.target, emulation.sanitize, f"@{kernel.symbol}", self._source
            )
            if kernel.symbol not in built.kernels:
                known = ", ".join(f"@{name}" for name in built.kernels) or "none"
                raise LaunchError(f"the compiled code does not have a kernel @{kernel.symbol}; its kernels: {known}")
            self._libraries[emulation.sanitize] = built
        return self._libraries[emulation.sanitize]

    @property
    def _source(self) -> str | None:
        module = self._kernel.module
        return sources.text_of(module.context) if module is not None else None

    def __call__(self, *given: Any, stream: Any = None, emulation: Emulation | None = None) -> float:
        """Runs the kernel in place, and returns the duration of its blocks in seconds."""
        if stream is not None:
            raise LaunchError("stream= is not supported on an emulated GPU; omit it")
        kernel, resources = self._kernel, self._kernel.resources
        emulation = chosen(emulation, kernel.emulation)
        # The emulator assigns addresses.
        maps = {index: value for index, value in enumerate(given) if isinstance(value, tensor_maps.TensorMap)}
        for argument in kernel.arguments:
            if argument.is_tensor_map != (argument.index in maps) and argument.index < len(given):
                raise LaunchError(
                    f"{argument}: a tensor map is required; create one with smalti.emulator.tensor_map(array, box)"
                    if argument.is_tensor_map
                    else f"{argument}: the argument is not a tensor map; pass an array or a number"
                )
        values = self._check.views([0 if index in maps else value for index, value in enumerate(given)])
        assert resources.block is not None
        grid = kernel.grid_of(values)
        if grid[0] == 0:
            return 0.0
        placed: list[memory.Array] = []
        numbers: dict[int, bytes] = {}
        parameter = 0
        starts: list[int] = []
        for argument, value in zip(kernel.arguments, values, strict=True):
            first, parameter = parameter, parameter + argument.num_parameters
            starts.append(first)
            if argument.is_tensor_map:
                continue
            if isinstance(value, arrays.ArrayView):
                placed.append(_array(argument, value, first))
                sizes = calls.dynamic_parameters(argument, value)
                numbers.update((first + 1 + i, size.to_bytes(8, "little", signed=True)) for i, size in enumerate(sizes))
            else:
                numbers[first] = _number(argument, value)
        addresses: dict[int, memory.Address] = {}
        for index, described in enumerate(kernel.tensor_maps, parameter):
            view = values[described.argument]
            numbers[index] = tensor_maps.encode(described.bind(view.shape, view.strides))
            addresses[index] = memory.Address(ADDRESS_OFFSET, starts[described.argument], described.offset)
        placing = tensor_maps.TensorMapPlacement(parameter + len(kernel.tensor_maps), placed, numbers, addresses)
        for index, value in maps.items():
            placing.place(starts[index], str(kernel.arguments[index]), value, is_pointer=True)
        built = self._library(emulation)
        if (stated := built.kernels[kernel.symbol].cluster) != (resources.cluster or (1, 1, 1)):
            # The emulator reads the cluster size from the code.
            raise LaunchError(
                f"@{kernel.symbol} is launched with cluster size {resources.cluster}, but its code states {stated}"
            )
        return session.run(
            session.Launch(
                library=built,
                target=kernel.target,
                symbol=kernel.symbol,
                grid=grid,
                block=resources.block,
                shared_bytes=resources.dynamic_shared_bytes,
                arrays=placed,
                values=numbers,
                addresses=addresses,
                source=self._source,
            ),
            emulation,
        )

    def run_on_copies(self, values: Sequence[Any], repeat: int = 1) -> float:
        """Runs on host arrays, and returns the shortest run in seconds."""
        return min(self(*values) for _ in range(repeat))


def _array(argument: Argument, view: arrays.ArrayView, parameter: int) -> memory.Array:
    return memory.Array(
        index=parameter,
        view=view,
        itemsize=max(argument.dtype.bits // 8, 1),
        alignment=argument.address_alignment(calls.GPU_ALIGNMENT),
        writes=argument.writes,
        title=str(argument),
    )
