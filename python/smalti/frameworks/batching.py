# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that run for each element of a batch: the batch is the first dimensions of the grid."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any

from ..bindings import ir
from ..calling import arrays
from ..language.grid import BATCH
from ..language.kernel import PythonKernel
from ..language.parameters import ArraySpec
from ..language.translation import TileTranslation
from ..language.values import Array, Scalar

Dimensions = tuple[int, ...]
"""The dimensions of a batch that an array has, in order. They are the first dimensions of the array."""

_Launch = tuple[int, int, tuple[tuple[str, Dimensions], ...]]
"""The number of dimensions of the batch and of the grid of the kernel, and the dimensions of each array."""


def can_batch(kernel: Any) -> bool:
    """Whether `batched` supports the kernel."""
    return type(kernel) in (PythonKernel, BatchedKernel)


def batched(kernel: PythonKernel[...], sizes: Sequence[int], dimensions: Mapping[str, Dimensions]) -> BatchedKernel:
    """The kernel for a batch with `sizes`. `dimensions` has the arrays with dimensions of the batch; the others are used for
    each element. Arguments are descriptions of row-major arrays."""
    assert can_batch(kernel)
    result = kernel._copy(BatchedKernel)
    result.sizes = tuple(sizes)
    result.dimensions = dict(dimensions)
    return result


class BatchedKernel(PythonKernel[...]):
    """A tile-level kernel for each element of a batch; see `batched`."""

    sizes: tuple[int, ...]
    dimensions: dict[str, Dimensions]

    def _facts(self, bound: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any], tuple[int, ...]]:
        elements: dict[str, Any] = {}
        for name, value in bound.items():
            count = len(self.dimensions.get(name, ()))
            if count:
                shape = value.shape[count:]
                value = arrays.ArrayView(value.pointer, shape, arrays.row_major(shape), value.dtype, value.device)
            elements[name] = value
        specs, _, grid = super()._facts(elements)
        given: list[Any] = []
        for name, spec in specs.items():
            if isinstance(spec, ArraySpec) and self.dimensions.get(name):
                sizes = (None,) * len(self.dimensions[name])
                specs[name] = ArraySpec(spec.dtype, (*sizes, *spec.shape), None)
                given.append(bound[name])
            elif name not in self._parameters.constants:
                given.extend(self._spec(name, elements[name])[1])
        return specs, given, grid

    def _launch(self, grid: tuple[int, ...]) -> tuple[Any, Sequence[int]]:
        # Unlike the number of dimensions of the kernel's grid, so that a variant is not one of the kernel without the batch.
        launch: _Launch = (len(self.sizes), len(grid), tuple(sorted(self.dimensions.items())))
        return launch, (*self.sizes, *grid)

    @property
    def _translation(self) -> BatchedTranslation:
        return BatchedTranslation(self.__smalti_function__, self._parameters.constants, self.dimensions)


class BatchedTranslation(TileTranslation):
    """The translation of a kernel for each element of a batch."""

    def __init__(
        self, function: types.FunctionType, constants: Collection[str], dimensions: Mapping[str, Dimensions]
    ) -> None:
        super().__init__(function, constants)
        self._dimensions = dimensions
        self._position: Callable[[ir.Block], tuple[Scalar, ...]] = lambda _: ()
        """Returns the position in the batch, while the function is translated."""

    def _num_launch_arguments(self, launch: Any) -> int:
        return launch[0] + launch[1]

    def tile_ids(self, block: ir.Block, launch: Any) -> tuple[Scalar, ...]:
        return super().tile_ids(block, launch)[launch[0] :]

    @contextlib.contextmanager
    def _scope(self, launch: Any) -> Generator[None, None, None]:
        self._position = lambda block: super(BatchedTranslation, self).tile_ids(block, launch)[: launch[0]]
        count = BATCH.set(launch[0])
        try:
            yield
        finally:
            BATCH.reset(count)

    def _array(self, value: ir.Value, spec: ArraySpec, name: str) -> Any:
        block: Any = value.owner
        position = self._position(block)
        return Array(value, spec.dtype, name, tuple(position[d] for d in self._dimensions.get(name, ())))
