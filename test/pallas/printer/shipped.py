# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that JAX ships for the GPU with Mosaic, in the variants that their configurations have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas.ops.gpu import (
    all_gather_mgpu,
    attention_mgpu,
    blackwell_matmul_mgpu,
    blackwell_ragged_dot_mgpu,
    collective_matmul_mgpu,
    hopper_matmul_mgpu,
    hopper_mixed_type_matmul_mgpu,
    ragged_dot_mgpu,
    reduce_scatter_mgpu,
    transposed_ragged_dot_mgpu,
)
from kernels import BF16, BLACKWELL, F16, F32, HOPPER, I8, I32, Kernel, array

KERNELS: dict[str, Kernel] = {}
# Multiprocessors of the device that the kernels ask about.
CORES = 132


class _Device:
    core_count = CORES


def without_a_device() -> None:
    """Answers for the device that the kernels ask about, which this machine need not have."""
    backend = type("Backend", (), {"get_default_device": staticmethod(lambda: _Device)})
    for module in (
        all_gather_mgpu,
        hopper_matmul_mgpu,
        hopper_mixed_type_matmul_mgpu,
        reduce_scatter_mgpu,
    ):
        vars(module)["backend"] = backend
    hopper_matmul_mgpu.get_num_sms = lambda: CORES
    for module in (blackwell_matmul_mgpu, ragged_dot_mgpu):
        if "backend" in vars(module):
            vars(module)["backend"] = backend
        if "get_num_sms" in vars(module):
            vars(module)["get_num_sms"] = lambda: CORES

    class Jax:
        """The module jax with a replacement for the devices."""

        def __getattr__(self, name: str) -> Any:
            return getattr(jax, name)

        devices = local_devices = staticmethod(lambda *_: [_Device])

    for module in (blackwell_ragged_dot_mgpu, transposed_ragged_dot_mgpu, collective_matmul_mgpu):
        vars(module)["jax"] = Jax()
    # A version of CUDA that compiles all variants.
    attention_mgpu.cuda_versions = type("Versions", (), {"cuda_runtime_get_version": staticmethod(lambda: 13000)})


def _add(name: str, function: Callable[..., Any], arch: tuple[int, int], *arguments: Any) -> None:
    KERNELS[name] = (function, arch, arguments)


def _hopper(a: Any, b: Any, c: Any = None, **options: Any) -> Any:
    config = hopper_matmul_mgpu.TuningConfig(
        **{"tile_m": 128, "tile_n": 128, "tile_k": 64, "max_concurrent_steps": 4, **options}
    )
    return hopper_matmul_mgpu.matmul(a, b, c, config)


_M, _N = hopper_matmul_mgpu.MatmulDimension.M, hopper_matmul_mgpu.MatmulDimension.N
_A, _B, _C = array((1024, 2048), F16), array((2048, 1024), F16), array((1024, 1024), F16)
_add("hopper_matmul_m", partial(_hopper, wg_dimension=_M), HOPPER, _A, _B)
_add("hopper_matmul_cluster_m", partial(_hopper, cluster_dimension=_M), HOPPER, _A, _B)
_add("hopper_matmul_cluster_n", partial(_hopper, cluster_dimension=_N), HOPPER, _A, _B)
_add("hopper_matmul_add", _hopper, HOPPER, _A, _B, _C)
_add("hopper_matmul_small", partial(_hopper, tile_m=64, tile_n=64, epi_tile_n=None, epi_tile_m=None), HOPPER, _A, _B)
# The size in tests: two tiles in each direction.
_SMALL_A, _SMALL_B = array((256, 192), F16), array((192, 256), F16)
_add("small_matmul_cluster_m", partial(_hopper, cluster_dimension=_M), HOPPER, _SMALL_A, _SMALL_B)
_add("small_matmul_cluster_n", partial(_hopper, cluster_dimension=_N), HOPPER, _SMALL_A, array((192, 512), F16))
_add("hopper_matmul_bf16", _hopper, HOPPER, array((1024, 2048), BF16), array((2048, 1024), BF16))


def _mixed(a: Any, b: Any, **options: Any) -> Any:
    config = hopper_mixed_type_matmul_mgpu.TuningConfig(
        **{"tile_m": 64, "tile_n": 128, "tile_k": 64, "max_concurrent_steps": 4, **options}
    )
    return hopper_mixed_type_matmul_mgpu.mixed_matmul_kernel(a, b, out_dtype=b.dtype, config=config)


_add("mixed_matmul_int8", _mixed, HOPPER, array((1024, 2048), I8), array((2048, 1024), BF16))
_add("small_mixed_matmul", _mixed, HOPPER, array((128, 192), I8), array((192, 256), BF16))
_add("mixed_matmul_int8_f16", _mixed, HOPPER, array((1024, 2048), I8), array((2048, 1024), F16))


def _ragged(a: Any, b: Any, g: Any, **options: Any) -> Any:
    config = {"block_m": 64, "block_n": 128, "block_k": 64, "max_concurrent_steps": 4, "grid_block_n": 1, **options}
    return ragged_dot_mgpu.ragged_dot(a, b, group_sizes=g, **config)


_GROUPS = array((8,), I32)
_add("ragged_dot_f16", _ragged, HOPPER, array((1024, 512), F16), array((8, 512, 1024), F16), _GROUPS)
_add(
    "ragged_dot_transposed_rhs",
    partial(_ragged, transpose_rhs=True),
    HOPPER,
    array((1024, 512), F16),
    array((8, 1024, 512), F16),
    _GROUPS,
)
_THREE_GROUPS = array((3,), I32)
_add(
    "small_ragged_dot",
    partial(_ragged, max_concurrent_steps=2),
    HOPPER,
    array((256, 256), F16),
    array((3, 256, 128), F16),
    _THREE_GROUPS,
)


def _transposed_ragged(a: Any, b: Any, g: Any) -> Any:
    return transposed_ragged_dot_mgpu.transposed_ragged_dot(
        a, b, group_sizes=g, block_m=64, block_n=64, block_k=64, max_concurrent_steps=2, grid_block_n=2
    )


_add(
    "transposed_ragged_dot",
    _transposed_ragged,
    HOPPER,
    array((1024, 512), F16),
    array((1024, 512), F16),
    _GROUPS,
)
_SMALL = array((256, 128), F16)
_add("small_transposed_ragged_dot", _transposed_ragged, HOPPER, _SMALL, _SMALL, _THREE_GROUPS)


def _attention(q: Any, k: Any, v: Any, *, residuals: bool = False, emitter: bool = False, **options: Any) -> Any:
    config = attention_mgpu.TuningConfig(**{"block_q": 64, "block_kv": 128, "max_concurrent_steps": 2, **options})
    function = attention_mgpu.attention_with_pipeline_emitter if emitter else attention_mgpu.attention
    return function(q, k, v, config, residuals)


def _attention_gradient(q: Any, k: Any, v: Any) -> Any:
    blocks = dict.fromkeys(("block_q_dkv", "block_kv_dkv", "block_q_dq", "block_kv_dq"), 64)
    config = attention_mgpu.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, compute_wgs_bwd=2, **blocks)
    return jax.grad(lambda *qkv: attention_mgpu.attention(*qkv, config).astype(F32).sum(), (0, 1, 2))(q, k, v)


_QKV = tuple(array((1, 1024, 4, 64), F16) for _ in range(3))
_SMALL_QKV = tuple(array((1, 256, 2, 64), F16) for _ in range(3))
_add("small_attention", _attention, HOPPER, *_SMALL_QKV)
_add("small_attention_causal", partial(_attention, causal=True), HOPPER, *_SMALL_QKV)
_add("small_attention_emitter", partial(_attention, emitter=True, residuals=True), HOPPER, *_SMALL_QKV)
_add("small_attention_gradient", _attention_gradient, HOPPER, *_SMALL_QKV)
_add("attention", _attention, HOPPER, *_QKV)
_add("attention_residuals", partial(_attention, residuals=True), HOPPER, *_QKV)
_add("attention_causal", partial(_attention, causal=True), HOPPER, *_QKV)
_add("attention_128", _attention, HOPPER, *(array((1, 1024, 4, 128), F16) for _ in range(3)))
_add("attention_emitter", partial(_attention, emitter=True), HOPPER, *_QKV)
_add("attention_emitter_residuals", partial(_attention, emitter=True, residuals=True), HOPPER, *_QKV)
_add("attention_gradient", _attention_gradient, HOPPER, *_QKV)


def _blackwell(a: Any, b: Any, **options: Any) -> Any:
    config = blackwell_matmul_mgpu.TuningConfig(
        **{
            "tile_m": 128,
            "tile_n": 128,
            "tile_k": 64,
            "max_concurrent_steps": 4,
            "collective": False,
            "epilogue_tile_n": 64,
            "grid_minor_dim": blackwell_matmul_mgpu.MatmulDimension.N,
            "grid_tile_width": 4,
            **options,
        }
    )
    return blackwell_matmul_mgpu.matmul_kernel(a, b, config)


def _blackwell_ragged(a: Any, b: Any, g: Any) -> Any:
    config = blackwell_ragged_dot_mgpu.TuningConfig(
        tile_m=128,
        tile_n=128,
        tile_k=64,
        max_concurrent_steps=4,
        collective=True,
        grid_tile_width=4,
        grid_minor_dim=blackwell_matmul_mgpu.MatmulDimension.N,
    )
    return blackwell_ragged_dot_mgpu.ragged_dot_kernel(a, b, g, config)


_add("blackwell_matmul_collective", partial(_blackwell, collective=True), BLACKWELL, _A, _B)
_add("blackwell_matmul_bf16", _blackwell, BLACKWELL, array((1024, 2048), BF16), array((2048, 1024), BF16))
_add("blackwell_matmul_narrow", partial(_blackwell, tile_n=64, epilogue_tile_n=32), BLACKWELL, _A, _B)
# The size in tests: eight tiles of six steps.
_add("small_blackwell_matmul", _blackwell, BLACKWELL, array((256, 384), F16), array((384, 512), F16))


def _blackwell_cluster(a: Any, b: Any) -> Any:
    """The matmul of two blocks, whose loop over tiles has the cluster as an argument."""

    class Plgpu:
        def __getattr__(self, name: str) -> Any:
            return getattr(plgpu, name)

        dynamic_scheduling_loop = staticmethod(partial(plgpu.dynamic_scheduling_loop, cluster_axes=("x",)))

    vars(blackwell_matmul_mgpu)["plgpu"] = Plgpu()
    try:
        return _blackwell(a, b, collective=True)
    finally:
        vars(blackwell_matmul_mgpu)["plgpu"] = plgpu


_CLUSTER_A, _CLUSTER_B = array((512, 384), F16), array((384, 1024), F16)
_add("small_blackwell_matmul_collective", partial(_blackwell, collective=True), BLACKWELL, _CLUSTER_A, _CLUSTER_B)
_add("small_blackwell_matmul_cluster", _blackwell_cluster, BLACKWELL, _CLUSTER_A, _CLUSTER_B)
_RAGGED = (array((2048, 1024), F16), array((8, 1024, 1024), F16), _GROUPS)
# The other variant asks for an axis that it does not have.
_add("blackwell_ragged_dot_collective", _blackwell_ragged, BLACKWELL, *_RAGGED)


def _over_devices(function: Callable[..., Any], inputs: Any, outputs: Any) -> Callable[..., Any]:
    """The function on each of the devices of the machine; the printer sees to it that there are some."""

    def run(*arguments: Any) -> Any:
        mesh = jax.make_mesh((jax.device_count(),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        return jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False)(*arguments)

    return run


_X, _NONE = jax.sharding.PartitionSpec("x"), jax.sharding.PartitionSpec(None)


def _collective_matmul(a: Any, b: Any) -> Any:
    config = hopper_matmul_mgpu.TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4)
    return collective_matmul_mgpu.all_gather_lhs_matmul(a, b, axis_name="x", config=config, dtype=F16)


_COLUMNS = jax.sharding.PartitionSpec(None, "x")
_add("all_gather_matmul", _over_devices(_collective_matmul, (_X, _COLUMNS), _COLUMNS), HOPPER, _A, _B)
_add(
    "all_gather",
    _over_devices(partial(all_gather_mgpu.all_gather, axis_name="x", num_blocks=4), _X, _NONE),
    HOPPER,
    array((1024, 1024), F32),
)
_add(
    "reduce_scatter",
    _over_devices(partial(reduce_scatter_mgpu.reduce_scatter, axis_name="x", num_blocks=4), _NONE, _X),
    HOPPER,
    array((1024, 1024), F32),
)
_add(
    "reduce_scatter_max",
    _over_devices(partial(reduce_scatter_mgpu.reduce_scatter, axis_name="x", reduction="max", num_blocks=4), _NONE, _X),
    HOPPER,
    array((1024, 1024), F16),
)
