# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@smalti.kernel(level="block")`: kernels that describe one thread block."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .. import front_end, ir, targets
from ..calling import arrays
from ..compiler import driver
from ..diagnostics import counted
from ..errors import LaunchError
from ..language.kernel import LEVELS, P, PythonKernel
from ..language.parameters import ArraySpec
from ..language.tile_ops import set_tile_ops
from ..language.translation import TileTranslation
from ..language.types import index
from ..language.values import Scalar
from ..language.variants import Variant
from ..launch import devices
from ..remarks import Remark
from ..specialization import SpecializedKernel
from .memory import Memory
from .state import CURRENT, Block, Launch
from .vectors import VectorOps, block_index

if TYPE_CHECKING:
    from .. import sim
    from ..launch.kernels import Kernel

_SHAPE_OPTIONS = ("num_warps", "thread_groups", "cluster")

_GROUP_SIZE = "mosaic_gpu.thread_group_size"

_MAX_CLUSTER = 16
"""The blocks of a cluster on chips that have clusters. NVIDIA: 8 on each of them, and up to 16 on some."""

_AS_WRITTEN: dict[str, Any] = {"depth": 1, "stages": 1, "specialize": "off", "bank_conflicts": "keep"}
"""Options of `smalti.compile` with which no pass changes the copies, loops and buffers of the kernel."""


class BlockTranslation(TileTranslation):
    """The translation of a block-level kernel."""

    _dialects: ClassVar[Sequence[str]] = (
        "arith",
        "gpu",
        "llvm",
        "math",
        "memref",
        "mosaic_gpu",
        "nvvm",
        "scf",
        "vector",
    )

    def _num_launch_arguments(self, launch: Launch) -> int:
        return 0

    def _declaration(self, name: str, arguments: list[str], launch: Launch, place: str) -> str:
        def sizes(*numbers: int) -> str:
            return f"array<i32: {', '.join(map(str, (*numbers, 1, 1)[:3]))}>"

        attributes = {
            "known_block_size": sizes(launch.group_size * launch.thread_groups),
            "known_grid_size": sizes(*launch.grid),
        }
        if any(size != 1 for size in launch.cluster):
            attributes["known_cluster_size"] = sizes(*launch.cluster)
        # Layout inference needs it to know that a kernel without operations of `mosaic_gpu` is at block level.
        attributes[_GROUP_SIZE] = f"{launch.group_size} : i64"
        text = ", ".join(f"{key} = {value}" for key, value in attributes.items())
        return (
            "module attributes {gpu.container_module} {\n"
            f"gpu.module @{name}_module {{\n"
            f"gpu.func @{name}({', '.join(arguments)}) kernel attributes {{{text}}} {{\n"
            f"  gpu.return loc({place})\n}} loc({place})\n}} loc({place})\n}} loc({place})\n"
        )

    def _body(self, module: ir.Module) -> ir.Block:
        outer: Any = module.body.operations[0]
        return outer.regions[0].blocks[0].operations[0].regions[0].blocks[0]

    @contextlib.contextmanager
    def _scope(self, launch: Launch) -> Generator[None, None, None]:
        token = CURRENT.set(Block(launch))
        restore = set_tile_ops(VectorOps())
        try:
            yield
        finally:
            restore()
            CURRENT.reset(token)

    def tile_ids(self, block: ir.Block, launch: Launch) -> tuple[Scalar, ...]:
        return tuple(Scalar(block_index(axis), index) for axis in range(len(launch.grid)))

    def _array(self, value: ir.Value, spec: ArraySpec, name: str) -> Memory:
        return Memory(value, spec.dtype, name)

    def _finish(self, module: ir.Module, launch: Launch) -> Sequence[Remark]:
        """Chooses the layouts of vectors and of shared memory."""
        options = f"target={launch.target.chip} warps={launch.num_warps}"
        remarks = driver.run_pipeline(module, f"builtin.module(mosaic-gpu-infer-layouts{{{options}}})")
        if launch.thread_groups == 1:
            # Findings then name the block, not its only thread group.
            kernel: Any = self._body(module).owner
            del kernel.attributes[_GROUP_SIZE]
        return remarks


class BlockKernel(PythonKernel[P]):
    """A block-level kernel: each instance is one thread block. See docs/block-kernels.md."""

    _level: ClassVar[str] = "block"

    def _launch(self, grid: tuple[int, ...]) -> tuple[Launch, Sequence[int]]:
        if not 1 <= len(grid) <= 3 or any(size < 1 for size in grid):
            raise LaunchError(f"the grid of {self.__name__} is {grid}, but must be one to three positive sizes")
        chosen = targets.get(self._target) if self._target is not None else devices.here()
        if not chosen.is_gpu:
            raise LaunchError(
                f"{self.__name__} is a block-level kernel, which {chosen} cannot run",
                hint=f"select a GPU, or an emulated one: {self.__name__}.on('emu:sm_90a')",
            )
        table = targets.table()[chosen.chip]
        numbers: dict[str, int] = {}
        for name, default in (("num_warps", 4), ("thread_groups", 1)):
            given = self._options.get(name, default)
            if not isinstance(given, int) or isinstance(given, bool) or given < 1:
                raise LaunchError(f"{name} of {self.__name__} is {given!r}, but must be a positive number")
            numbers[name] = given
        if any(size > most for size, most in zip(grid, table.max_grid, strict=False)):
            raise LaunchError(
                f"the grid of {self.__name__} is {grid}, but the maximum of {table} is {table.max_grid[: len(grid)]}"
            )
        cluster = self._cluster(chosen, grid)
        launch = Launch(table, grid, numbers["num_warps"], numbers["thread_groups"], cluster)
        threads = launch.group_size * launch.thread_groups
        if threads > table.max_threads_per_block:
            raise LaunchError(
                f"{self.__name__} has {counted(threads, 'thread')} per block; {table} has at most {table.max_threads_per_block}"
            )
        return launch, ()

    def _cluster(self, chosen: targets.Chip, grid: tuple[int, ...]) -> tuple[int, ...]:
        given = self._options.get("cluster", 1)
        cluster: tuple[Any, ...] = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if not all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in cluster):
            raise LaunchError(f"the cluster of {self.__name__} is {given!r}, but must be one to three positive numbers")
        if len(cluster) > len(grid) or any(size % part for size, part in zip(grid, cluster, strict=False)):
            raise LaunchError(f"the cluster of {self.__name__} is {cluster}, but must divide the grid {grid}")
        has_clusters = targets.table()[chosen.chip].max_cluster_size > 1 and (
            chosen.is_simulated or chosen.vendor == "nvidia"
        )
        if (blocks := math.prod(cluster)) > (most := _MAX_CLUSTER if has_clusters else 1):
            raise LaunchError(
                f"the cluster of {self.__name__} is {cluster}, of {blocks} blocks; the maximum on {chosen} is "
                f"{counted(most, 'block')}"
            )
        return cluster

    def _spec(self, name: str, value: Any) -> tuple[Any, list[Any]]:
        spec, passed = super()._spec(name, value)
        if not isinstance(spec, ArraySpec):
            return spec, passed
        view = arrays.view(value)
        # Rows of packed elements have a whole number of bytes.
        packed = max(8 // spec.dtype.bits, 1)
        shape = (*view.shape[:-1], *(size * packed for size in view.shape[-1:]))
        for stated, size in zip(spec.shape, shape, strict=True):
            if stated not in (None, size):
                wanted = ", ".join("any" if size is None else str(size) for size in spec.shape)
                raise LaunchError(f"{self.__name__}: {name} has the sizes {shape}, but must have ({wanted})")
        strides = None
        if spec.strides is not None:
            strides = (*(step * packed for step in view.strides[:-1]), *view.strides[-1:])
        return ArraySpec(spec.dtype, shape, strides), passed

    def _make_dispatcher(self) -> None:
        # Its kernels depend on all sizes, and the key of a dispatcher does not.
        return None

    def _call(self, /, *arguments: Any, stream: Any = None, **named: Any) -> None:
        """Runs the kernel on arrays and numbers, in place; see `PythonKernel`. A grid without blocks does not run anything."""
        if 0 not in self._tiles(self._parameters.bind(arguments, named)):
            super()._call(*arguments, stream=stream, **named)

    def compile(self, /, *arguments: P.args, **named: P.kwargs) -> Kernel | sim.SimulatedKernel:
        """The compiled kernel for these arguments: `k.compile(x, y).asm["ptx"]`. It takes the arrays and scalars."""
        variant, given = self._described_variant(arguments, named)
        kernel = self._specialized(variant, given).variant(*given)
        if variant.remarks and variant.remarks[0] not in kernel.remarks:
            kernel.remarks = (*variant.remarks, *kernel.remarks)
        return kernel

    def _specialized(self, variant: Variant, given: Sequence[Any]) -> SpecializedKernel:
        key = (self._target, repr(sorted(self._options.items())))
        if key not in variant.compiled:
            chosen = front_end.target_of(variant.module, self._target)
            given_options = {"line_info": True, **self._options}
            options = {name: value for name, value in given_options.items() if name not in _SHAPE_OPTIONS}
            if not chosen.is_simulated:
                options = {**_AS_WRITTEN, **options}
            variant.compiled[key] = SpecializedKernel(variant.module, chosen, None, options)
        return variant.compiled[key]

    def _fingerprint(self, specs: Mapping[str, Any], launch: Any) -> None:
        # The cache does not have the remarks of the layout inference.
        return None

    def _interpret(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        raise LaunchError(
            f"{self.__name__} is a block-level kernel, which is not interpreted",
            hint=f"simulate it: {self.__name__}.on('sim:sm_90a')",
        )

    @property
    def _translation(self) -> BlockTranslation:
        return BlockTranslation(self.__smalti_function__, self._parameters.constants)


LEVELS["block"] = BlockKernel
