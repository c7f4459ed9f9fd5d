# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small kernels of Pallas, one or more for each group of ops of `mosaic_gpu`. See print_modules.py.

Every kernel is an entry of KERNELS: what to trace, the compute capability, and the arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

F16, BF16, F32, I8, U8, I16, I32, I4 = (
    jnp.float16,
    jnp.bfloat16,
    jnp.float32,
    jnp.int8,
    jnp.uint8,
    jnp.int16,
    jnp.int32,
    jnp.int4,
)
FP8 = jnp.float8_e4m3fn
HOPPER, BLACKWELL = (9, 0), (10, 0)
# For bodies that ask for the index of their block.
GRID: dict[str, Any] = {"grid": (4,), "grid_names": ("i",)}
Kernel = tuple[Callable[..., Any], tuple[int, int], tuple[Any, ...]]
KERNELS: dict[str, Kernel] = {}


def array(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def pallas(*arguments: Any, out: Any, arch: tuple[int, int] = HOPPER, **options: Any) -> Callable[..., Any]:
    """Registers a kernel body under its name: the references are the arguments, the results, then the scratch."""

    def register(body: Callable[..., None]) -> Callable[..., None]:
        function = plgpu.kernel(body, out_type=out, **options)
        KERNELS[body.__name__] = (function, arch, arguments)
        return body

    return register


def shared(*arguments: Any, out: Any, arch: tuple[int, int] = HOPPER, **options: Any) -> Callable[..., Any]:
    """The same with copies around the body, whose references are in shared memory: the arguments, then the result."""

    def register(body: Callable[..., None]) -> Callable[..., None]:
        count = len(arguments)

        def kernel(*refs: Any) -> None:
            sources, result, scratch = refs[:count], refs[count], refs[count + 1 :]
            buffers, out_buffer, barrier = scratch[:count], scratch[count], scratch[count + 1]
            for source, buffer in zip(sources, buffers, strict=True):
                plgpu.copy_gmem_to_smem(source, buffer, barrier)
            plgpu.barrier_wait(barrier)
            body(*buffers, out_buffer)
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(out_buffer, result)
            plgpu.wait_smem_to_gmem(0)

        scratch = [plgpu.SMEM(a.shape, a.dtype) for a in (*arguments, out)]
        function = plgpu.kernel(
            kernel, out_type=out, scratch_types=[*scratch, plgpu.Barrier(num_arrivals=count)], **options
        )
        KERNELS[body.__name__] = (function, arch, arguments)
        return body

    return register


def broadcast_rows(values: Any, shape: tuple[int, ...]) -> Any:
    return lax.broadcast_in_dim(values, shape, (0,))


def broadcast_columns(values: Any, shape: tuple[int, ...]) -> Any:
    return lax.broadcast_in_dim(values, shape, (1,))


def wgmma_load(ref: Any, *index: Any) -> Any:
    return plgpu.load(ref, index, layout=plgpu.Layout.WGMMA, optimized=False)


# ---------------------------------------------------------------------------------------------------------------------
# Elementwise
# ---------------------------------------------------------------------------------------------------------------------


@pallas(array((128, 128), F32), array((128, 128), F32), out=array((128, 128), F32))
def float_math(x_ref, y_ref, o_ref):
    x, y = x_ref[...], y_ref[...]
    z = jnp.sin(x) * jnp.cos(y) + jnp.tanh(x) - jnp.log(jnp.abs(y) + 1.0)
    z = jnp.maximum(z, lax.rsqrt(x * x + 1.0)) / (jnp.exp(-y) + 2.0)
    o_ref[...] = jnp.where(x > y, z, jnp.round(z)) + jnp.minimum(x, 3.0) ** 3


@pallas(array((64, 256), I32), array((64, 256), I32), out=array((64, 256), I32))
def integer_math(x_ref, y_ref, o_ref):
    x, y = x_ref[...], y_ref[...]
    z = (x & y) | (x ^ 7)
    z = lax.shift_right_arithmetic(z, 2) + lax.shift_left(y, 3) - lax.shift_right_logical(x, 1)
    z = jnp.maximum(z, y) * jnp.minimum(x, 100)
    o_ref[...] = jnp.where(x < y, lax.div(z, 3), lax.rem(z, 5)) + lax.clz(x)


@pallas(array((64, 256), F16), out=array((64, 256), I32))
def conversions(x_ref, o_ref):
    x = x_ref[...].astype(F32)
    b = x.astype(BF16).astype(F32)
    i = b.astype(I32)
    o_ref[...] = (i.astype(I16).astype(I32) + i) * (x > 0).astype(I32)


@pallas(array((64, 256), F32), out=array((64, 256), I32))
def bit_casts(x_ref, o_ref):
    o_ref[...] = lax.bitcast_convert_type(x_ref[...], I32) + 1


@shared(array((64, 128), BF16), out=array((64, 128), BF16))
def gelu(x_ref, o_ref):
    x = x_ref[...].astype(F32)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    o_ref[...] = (0.5 * x * (1.0 + jnp.tanh(inner))).astype(BF16)


@pallas(array((128, 128), F32), out=array((128, 128), F32))
def error_function(x_ref, o_ref):
    o_ref[...] = lax.erf(x_ref[...])


@pallas(array((128, 128), F32), array((128, 128), F32), out=array((128, 128), F32))
def arc_tangent(x_ref, y_ref, o_ref):
    o_ref[...] = lax.atan2(x_ref[...], y_ref[...])


@pallas(array((4096,), F32), out=array((4096,), F32))
def flat_scale(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0 + 1.0


@pallas(array((32, 128), F32), out=array((32, 128), F32), scratch_types=[plgpu.SMEM((32, 128), F32)])
def no_tiles(x_ref, o_ref, s_ref):
    s_ref[...] = x_ref[...] + 1.0
    plgpu.commit_smem()
    o_ref[...] = s_ref[...] * 2.0


@pallas(out=array((128, 128), F32))
def fill(o_ref):
    o_ref[...] = jnp.full((128, 128), 3.0, F32)


# ---------------------------------------------------------------------------------------------------------------------
# Reductions and broadcasts
# ---------------------------------------------------------------------------------------------------------------------


@shared(array((64, 128), F32), out=array((64,), F32))
def row_sums(x_ref, o_ref):
    o_ref[...] = jnp.sum(wgmma_load(x_ref), axis=1)


@shared(array((64, 128), F32), out=array((128,), F32))
def column_maxima(x_ref, o_ref):
    o_ref[...] = jnp.max(wgmma_load(x_ref), axis=0)


@shared(array((64, 128), F32), out=array((64, 128), F32))
def column_softmax(x_ref, o_ref):
    x = wgmma_load(x_ref)
    e = jnp.exp(x - broadcast_columns(jnp.max(x, axis=0), x.shape))
    o_ref[...] = e / broadcast_columns(jnp.sum(e, axis=0), x.shape)


@shared(array((128, 128), F32), out=array((128, 128), F32))
def softmax_without_a_cast(x_ref, o_ref):
    x = x_ref[...]
    e = jnp.exp(x - broadcast_rows(jnp.max(x, axis=1), x.shape))
    o_ref[...] = e / broadcast_rows(jnp.sum(e, axis=1), x.shape)


@shared(array((64, 128), F32), array((128,), F32), array((128,), F32), out=array((64, 128), F32))
def layer_norm(x_ref, gamma_ref, beta_ref, o_ref):
    x = wgmma_load(x_ref)
    mean = jnp.sum(x, axis=1) / 128.0
    d = x - broadcast_rows(mean, x.shape)
    scale = lax.rsqrt(jnp.sum(d * d, axis=1) / 128.0 + 1e-5)
    gamma, beta = gamma_ref[...], beta_ref[...]
    y = d * broadcast_rows(scale, x.shape)
    o_ref[...] = y * broadcast_columns(gamma, x.shape) + broadcast_columns(beta, x.shape)


@shared(array((64, 256), BF16), array((256,), BF16), out=array((64, 256), BF16))
def rms_norm(x_ref, w_ref, o_ref):
    x = wgmma_load(x_ref).astype(F32)
    scale = lax.rsqrt(jnp.sum(x * x, axis=1) / 256.0 + 1e-6)
    w = w_ref[...].astype(F32)
    o_ref[...] = (x * broadcast_rows(scale, x.shape) * broadcast_columns(w, x.shape)).astype(BF16)


@pallas(array((128, 64), F32), out=array((1,), F32), scratch_types=[])
def reduce_all(x_ref, o_ref):
    o_ref[0] = jnp.sum(x_ref[...])


@pallas(array((4096,), F32), out=array((4096,), F32))
def sum_of_a_vector(x_ref, o_ref):
    x = x_ref[...]
    o_ref[...] = x - lax.broadcast_in_dim(jnp.sum(x), x.shape, ())


@shared(array((64,), F32), array((64, 128), F32), out=array((64, 128), F32))
def add_row_vector(v_ref, x_ref, o_ref):
    o_ref[...] = broadcast_rows(v_ref[...], (64, 128)) + wgmma_load(x_ref)


@shared(array((128,), F32), out=array((64, 128), F32))
def broadcast_only(v_ref, o_ref):
    o_ref[...] = broadcast_columns(v_ref[...], (64, 128))


@shared(array((2, 64, 128), F32), out=array((2, 64), F32))
def batched_row_sums(x_ref, o_ref):
    o_ref[...] = jnp.sum(x_ref[...], axis=2)


@shared(array((64, 128), F32), out=array((64, 1), F32))
def keep_dims(x_ref, o_ref):
    o_ref[...] = jnp.sum(wgmma_load(x_ref), axis=1, keepdims=True)


@shared(array((64, 128), F32), out=array((64, 128), F32))
def keep_dims_softmax(x_ref, o_ref):
    x = wgmma_load(x_ref)
    e = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=1, keepdims=True)


@shared(array((64, 128), I32), out=array((64,), I32))
def integer_row_minima(x_ref, o_ref):
    o_ref[...] = jnp.min(wgmma_load(x_ref), axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# Shapes
# ---------------------------------------------------------------------------------------------------------------------


@shared(array((128, 64), F16), out=array((64, 128), F16))
def transpose_through_memory(x_ref, o_ref):
    x = plgpu.load(plgpu.transpose_ref(x_ref, (1, 0)), (), layout=plgpu.Layout.WGMMA_TRANSPOSED)
    o_ref[...] = plgpu.layout_cast(x, plgpu.Layout.WGMMA)


@shared(array((64, 128), F16), out=array((128, 64), F16))
def store_transposed(x_ref, o_ref):
    x = plgpu.load(x_ref, (), layout=plgpu.Layout.WGMMA)
    plgpu.transpose_ref(o_ref, (1, 0))[...] = plgpu.layout_cast(x, plgpu.Layout.WGMMA_TRANSPOSED)


@shared(array((64, 128), F32), out=array((64, 64), F32))
def slice_of_a_vector(x_ref, o_ref):
    x = wgmma_load(x_ref)
    o_ref[...] = x[:, 64:] + x[:, :64]


@pallas(array((2, 64, 128), F32), out=array((128, 128), F32))
def reshape_leading(x_ref, o_ref):
    o_ref[...] = lax.reshape(x_ref[...], (128, 128))


@shared(array((2, 64, 128), F32), out=array((64, 128), F32))
def sub_references(x_ref, o_ref):
    o_ref[...] = x_ref[0] + x_ref[1]


@shared(array((256, 128), F16), out=array((64, 128), F16), **GRID)
def dynamic_reference(x_ref, o_ref):
    row = (lax.axis_index("i") % 4) * 64
    o_ref[...] = x_ref[pl.ds(row, 64), :]


@shared(array((64, 128), I32), out=array((64, 128), I32))
def iota(x_ref, o_ref):
    rows = plgpu.broadcasted_iota(I32, (64, 128), 0, layout=plgpu.Layout.WGMMA)
    columns = plgpu.broadcasted_iota(I32, (64, 128), 1, layout=plgpu.Layout.WGMMA)
    o_ref[...] = jnp.where(rows >= columns, wgmma_load(x_ref), 0)


@pallas(out=array((64, 128), I32))
def iota_without_a_cast(o_ref):
    o_ref[...] = lax.broadcasted_iota(I32, (64, 128), 1)


# ---------------------------------------------------------------------------------------------------------------------
# Control flow
# ---------------------------------------------------------------------------------------------------------------------


@shared(array((64, 128), F32), out=array((64, 128), F32))
def loop_of_vectors(x_ref, o_ref):
    x = wgmma_load(x_ref)
    o_ref[...] = lax.fori_loop(0, 10, lambda i, v: v * x + 1.0, x)


@shared(array((64, 128), F32), out=array((64, 128), F32))
def while_of_vectors(x_ref, o_ref):
    x = wgmma_load(x_ref)
    _, result = lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 2, c[1] + x), (jnp.int32(0), x))
    o_ref[...] = result


@shared(array((64, 128), F32), out=array((64, 128), F32), **GRID)
def branches_of_vectors(x_ref, o_ref):
    x = wgmma_load(x_ref)
    o_ref[...] = lax.cond(lax.axis_index("i") == 0, lambda: x + 1.0, lambda: x * 2.0)


@shared(array((64, 128), F32), out=array((64, 128), F32), **GRID)
def switch_of_vectors(x_ref, o_ref):
    x = wgmma_load(x_ref)
    o_ref[...] = lax.switch(lax.axis_index("i"), [lambda: x, lambda: x + 1.0, lambda: jnp.exp2(x)])


@shared(array((64, 128), F32), out=array((64, 128), F32), **GRID)
def branches_that_store(x_ref, o_ref):
    @pl.when(lax.axis_index("i") == 0)
    def _():
        o_ref[...] = x_ref[...]

    @pl.when(lax.axis_index("i") != 0)
    def _():
        o_ref[...] = x_ref[...] * 2.0


@shared(array((64, 128), F32), out=array((64,), F32))
def loop_of_row_sums(x_ref, o_ref):
    x = wgmma_load(x_ref)

    def step(i, carry):
        values, total = carry
        return values * 0.5, total + jnp.sum(values, axis=1)

    zero = plgpu.layout_cast(jnp.zeros((64,), F32), plgpu.Layout.WGMMA.reduce(1))
    o_ref[...] = lax.fori_loop(0, 4, step, (x, zero))[1]


# ---------------------------------------------------------------------------------------------------------------------
# Narrow types
# ---------------------------------------------------------------------------------------------------------------------


@shared(array((64, 128), FP8), out=array((64, 128), F16))
def upcast_fp8(x_ref, o_ref):
    o_ref[...] = plgpu.load(x_ref, (), layout=plgpu.Layout.WGMMA_8BIT, optimized=False).astype(F32).astype(F16)


@shared(array((64, 128), I8), out=array((64, 128), BF16))
def upcast_int8(x_ref, o_ref):
    x = plgpu.load(x_ref, (), layout=plgpu.Layout.WGMMA_UPCAST_2X, optimized=False)
    o_ref[...] = plgpu.layout_cast(x.astype(BF16), plgpu.Layout.WGMMA)


@shared(array((64, 256), I4), out=array((64, 256), BF16))
def upcast_int4(x_ref, o_ref):
    x = plgpu.load(x_ref, (), layout=plgpu.Layout.WGMMA_UPCAST_4X, optimized=False)
    o_ref[...] = plgpu.layout_cast(x.astype(BF16), plgpu.Layout.WGMMA)


@shared(array((64, 128), I8), out=array((64, 128), I8))
def copy_int8(x_ref, o_ref):
    o_ref[...] = x_ref[...]


@shared(array((64, 128), F32), out=array((64, 128), FP8))
def downcast_fp8(x_ref, o_ref):
    o_ref[...] = x_ref[...].astype(FP8)


# ---------------------------------------------------------------------------------------------------------------------
# Matmuls of Hopper
# ---------------------------------------------------------------------------------------------------------------------


def _hopper_matmul(
    a_ref: Any, b_ref: Any, o_ref: Any, dtype: Any, finish: Callable[[Any], Any] = lambda v: v, sums: Any = F32
) -> None:
    m, n = o_ref.shape

    def scope(acc_ref: Any) -> Any:
        plgpu.wgmma(acc_ref, a_ref, b_ref)
        return acc_ref[...]

    result = pl.run_scoped(scope, plgpu.ACC((m, n), sums))
    o_ref[...] = finish(result).astype(dtype)


@shared(array((64, 128), F16), array((128, 128), F16), out=array((64, 128), F16))
def wgmma_shared(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, b_ref, o_ref, F16)


@shared(array((64, 128), BF16), array((128, 128), BF16), out=array((64, 128), F32))
def wgmma_registers(a_ref, b_ref, o_ref):
    _hopper_matmul(wgmma_load(a_ref) * 2, b_ref, o_ref, F32)


@shared(array((64, 128), F16), array((128, 128), F16), out=array((64, 128), F16))
def wgmma_transposed(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, plgpu.transpose_ref(b_ref, (1, 0)), o_ref, F16)


@shared(array((64, 128), FP8), array((128, 128), FP8), out=array((64, 128), F32))
def wgmma_fp8(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, plgpu.transpose_ref(b_ref, (1, 0)), o_ref, F32)


@shared(array((64, 64), F16), array((64, 128), F16), array((128,), F32), out=array((64, 128), F16))
def wgmma_bias_relu(a_ref, b_ref, bias_ref, o_ref):
    bias = broadcast_columns(bias_ref[...], (64, 128))
    _hopper_matmul(a_ref, b_ref, o_ref, F16, lambda v: jnp.maximum(v + bias, 0.0))


@shared(array((64, 64), F16), array((64, 128), F16), out=array((64, 128), F16))
def wgmma_softmax(a_ref, b_ref, o_ref):
    def softmax(v: Any) -> Any:
        e = jnp.exp(v - broadcast_rows(jnp.max(v, axis=1), v.shape))
        return e / broadcast_rows(jnp.sum(e, axis=1), v.shape)

    _hopper_matmul(a_ref, b_ref, o_ref, F16, softmax)


@shared(array((64, 64), F16), array((64, 64), F16), array((64, 128), F16), out=array((64, 128), F16))
def two_matmuls(a_ref, b_ref, c_ref, o_ref):
    def first(acc_ref: Any) -> Any:
        plgpu.wgmma(acc_ref, a_ref, b_ref)
        return acc_ref[...]

    middle = pl.run_scoped(first, plgpu.ACC((64, 64), F32)).astype(F16)
    _hopper_matmul(middle, c_ref, o_ref, F16)


@shared(array((64, 128), I8), array((128, 128), BF16), out=array((64, 128), F32))
def wgmma_mixed_types(a_ref, b_ref, o_ref):
    a = plgpu.load(a_ref, (), layout=plgpu.Layout.WGMMA_UPCAST_2X, optimized=False).astype(BF16)
    _hopper_matmul(plgpu.layout_cast(a, plgpu.Layout.WGMMA), b_ref, o_ref, F32)


@shared(array((64, 32), F16), array((32, 64), F16), out=array((64, 64), F32))
def wgmma_short_rows(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, b_ref, o_ref, F32)


@shared(array((64, 64), F32), array((128, 64), F32), out=array((64, 128), F32))
def wgmma_tf32(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, plgpu.transpose_ref(b_ref, (1, 0)), o_ref, F32)


@shared(array((64, 64), F16), array((64, 128), F16), out=array((64, 128), F16))
def wgmma_f16_sums(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, b_ref, o_ref, F16, sums=F16)


@shared(array((64, 128), I8), array((128, 128), I8), out=array((64, 128), I32))
def wgmma_int8(a_ref, b_ref, o_ref):
    _hopper_matmul(a_ref, plgpu.transpose_ref(b_ref, (1, 0)), o_ref, I32, sums=I32)


# ---------------------------------------------------------------------------------------------------------------------
# Copies
# ---------------------------------------------------------------------------------------------------------------------


@pallas(
    array((256, 128), F16),
    array((64,), I32),
    out=array((64, 128), F16),
    scratch_types=[plgpu.SMEM((64, 128), F16), plgpu.Barrier()],
    arch=BLACKWELL,
)
def gather_rows(x_ref, indices_ref, o_ref, s_ref, barrier):
    indices = plgpu.load(indices_ref, (), layout=plgpu.Layout.TMA_INDICES, optimized=False)
    plgpu.copy_gmem_to_smem(x_ref.at[indices], s_ref, barrier)
    plgpu.barrier_wait(barrier)
    plgpu.copy_smem_to_gmem(s_ref, o_ref)
    plgpu.wait_smem_to_gmem(0)


@pallas(
    array((256, 128), F16),
    out=array((256, 128), F16),
    grid=(4,),
    grid_names=("i",),
    scratch_types=[plgpu.SMEM((64, 128), F16), plgpu.Barrier()],
)
def copy_through_tiles(x_ref, o_ref, s_ref, barrier):
    rows = pl.ds(lax.axis_index("i") * 64, 64)
    plgpu.copy_gmem_to_smem(x_ref.at[rows], s_ref, barrier)
    plgpu.barrier_wait(barrier)
    s_ref[...] = s_ref[...] * 2
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(s_ref, o_ref.at[rows])
    plgpu.wait_smem_to_gmem(0)


@pallas(
    array((256, 128), F16),
    out=array((256, 128), F16),
    grid=(2,),
    grid_names=("i",),
    cluster=(2,),
    cluster_names=("c",),
    scratch_types=[plgpu.SMEM((128, 128), F16), plgpu.Barrier()],
)
def collective_copy(x_ref, o_ref, s_ref, barrier):
    rows = pl.ds(lax.axis_index("i") * 128, 128)
    plgpu.copy_gmem_to_smem(x_ref.at[rows], s_ref, barrier, collective_axes="c")
    plgpu.barrier_wait(barrier)
    plgpu.copy_smem_to_gmem(s_ref, o_ref.at[rows])
    plgpu.wait_smem_to_gmem(0)


@pallas(
    array((512, 256), F16),
    out=array((512, 256), F16),
    grid=(8,),
    grid_names=("i",),
)
def pipelined_copy(x_ref, o_ref):
    def body(_, x, o):
        o[...] = x[...] + 1

    spec = plgpu.BlockSpec(
        (64, 64), lambda i: (0, i), transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    )
    rows = pl.ds(lax.axis_index("i") * 64, 64)
    plgpu.emit_pipeline(body, grid=(4,), in_specs=[spec], out_specs=[spec], max_concurrent_steps=2)(
        x_ref.at[rows], o_ref.at[rows]
    )


@pallas(array((128, 128), F32), out=array((128, 128), F32), scratch_types=[plgpu.SMEM((128, 128), F32)])
def transforms_by_hand(x_ref, o_ref, s_ref):
    s_ref[...] = x_ref[...]
    plgpu.commit_smem()
    o_ref[...] = plgpu.layout_cast(s_ref[...] * 2.0, plgpu.Layout.WG_STRIDED((128, 128), vec_size=4))


@pallas(
    array((256, 128), F32),
    out=array((256, 128), F32),
    cluster=(2,),
    cluster_names=("c",),
    scratch_types=[plgpu.SMEM((128, 128), F32), plgpu.Barrier()],
)
def store_to_a_peer(x_ref, o_ref, s_ref, barrier):
    mine = lax.axis_index("c")
    rows = pl.ds(mine * 128, 128)
    x = plgpu.load(x_ref, (rows, slice(None)), layout=plgpu.Layout.WGMMA, optimized=False)
    plgpu.async_store_smem(x, s_ref, barrier, cluster_idx=1 - mine, cluster_dim="c", optimized=False)
    plgpu.barrier_wait(barrier)
    o_ref[rows, :] = s_ref[...]


# ---------------------------------------------------------------------------------------------------------------------
# Tensor memory
# ---------------------------------------------------------------------------------------------------------------------


def _tensor_core(name: str, a: Any, b: Any, out: Any, finish: Callable[[Any], Any], layout: Any = None) -> None:
    (m, k), (_, n) = a.shape, b.shape

    def kernel(a_ref, b_ref, o_ref, a_smem, b_smem, o_smem, acc, loaded, done):
        plgpu.copy_gmem_to_smem(a_ref, a_smem, loaded)
        plgpu.copy_gmem_to_smem(b_ref, b_smem, loaded)
        plgpu.barrier_wait(loaded)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_smem[...] = finish(plgpu.async_load_tmem(acc, layout=layout)).astype(out.dtype)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_ref)
        plgpu.wait_smem_to_gmem(0)

    function = plgpu.kernel(
        kernel,
        out_type=out,
        scratch_types=[
            plgpu.SMEM((m, k), a.dtype),
            plgpu.SMEM((k, n), b.dtype),
            plgpu.SMEM(out.shape, out.dtype),
            plgpu.TMEM((m, n), F32),
            plgpu.Barrier(num_arrivals=2),
            plgpu.Barrier(orders_tensor_core=True),
        ],
    )
    KERNELS[name] = (function, BLACKWELL, (a, b))


_A, _B, _O = array((128, 64), F16), array((64, 128), F16), array((128, 128), F16)
_tensor_core("tensor_core", _A, _B, _O, lambda v: v)
_tensor_core("tensor_core_relu", _A, _B, _O, lambda v: jnp.maximum(v, 0.0))
_tensor_core("tensor_core_native", _A, _B, _O, lambda v: v * 2.0, plgpu.Layout.TCGEN05_TMEM_NATIVE)
_tensor_core("tensor_core_tcgen05", _A, _B, _O, lambda v: v * 2.0, plgpu.Layout.TCGEN05)
_tensor_core("tensor_core_row_sums", _A, _B, array((128,), F32), lambda v: jnp.sum(v, axis=1))
_tensor_core("tensor_core_half_rows", array((64, 64), F16), _B, array((64, 128), F16), lambda v: v)
_tensor_core("tensor_core_fp8", array((128, 64), FP8), array((64, 128), FP8), _O, lambda v: v)
_tensor_core(
    "tensor_core_softmax",
    _A,
    _B,
    _O,
    lambda v: jnp.exp(v - broadcast_rows(jnp.max(v, axis=1), v.shape)),
)


@pallas(
    array((128, 128), F32),
    out=array((128, 128), F32),
    scratch_types=[plgpu.SMEM((128, 128), F32), plgpu.TMEM((128, 128), F32), plgpu.Barrier()],
    arch=BLACKWELL,
)
def tensor_memory_round_trip(x_ref, o_ref, smem, tmem, barrier):
    plgpu.copy_gmem_to_smem(x_ref, smem, barrier)
    plgpu.barrier_wait(barrier)
    plgpu.async_store_tmem(tmem, plgpu.load(smem, (), optimized=False))
    plgpu.commit_tmem()
    smem[...] = plgpu.async_load_tmem(tmem)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, o_ref)
    plgpu.wait_smem_to_gmem(0)


@pallas(
    array((128, 128), F16),
    out=array((128, 128), F16),
    scratch_types=[plgpu.SMEM((128, 128), F16), plgpu.TMEM((128, 128), F16, packed=True), plgpu.Barrier()],
    arch=BLACKWELL,
)
def tensor_memory_packed(x_ref, o_ref, smem, tmem, barrier):
    plgpu.copy_gmem_to_smem(x_ref, smem, barrier)
    plgpu.barrier_wait(barrier)
    plgpu.async_store_tmem(tmem, plgpu.load(smem, (), optimized=False))
    plgpu.commit_tmem()
    smem[...] = plgpu.async_load_tmem(tmem)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, o_ref)
    plgpu.wait_smem_to_gmem(0)


@pallas(
    array((128, 128), F16),
    array((128, 128), F16),
    out=array((128, 128), F32),
    scratch_types=[
        plgpu.SMEM((128, 128), F16),
        plgpu.SMEM((128, 128), F16),
        plgpu.TMEM((128, 128), F16, packed=True),
        plgpu.TMEM((128, 128), F32),
        plgpu.Barrier(num_arrivals=2),
        plgpu.Barrier(orders_tensor_core=True),
    ],
    arch=BLACKWELL,
)
def tensor_core_operand_in_tensor_memory(a_ref, b_ref, o_ref, a_smem, b_smem, a_tmem, acc, loaded, done):
    plgpu.copy_gmem_to_smem(a_ref, a_smem, loaded)
    plgpu.copy_gmem_to_smem(b_ref, b_smem, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.async_store_tmem(a_tmem, plgpu.load(a_smem, (), optimized=False) * 2)
    plgpu.commit_tmem()
    plgpu.tcgen05_mma(acc, a_tmem, b_smem, done, accumulate=False)
    plgpu.barrier_wait(done)
    o_ref[...] = plgpu.async_load_tmem(acc)


@pallas(
    array((128, 128), FP8),
    array((128, 128), FP8),
    array((1, 1, 32, 16), jnp.float8_e8m0fnu),
    array((1, 1, 32, 16), jnp.float8_e8m0fnu),
    out=array((128, 128), F32),
    scratch_types=[
        plgpu.SMEM((128, 128), FP8),
        plgpu.SMEM((128, 128), FP8),
        plgpu.SMEM((1, 1, 32, 16), jnp.float8_e8m0fnu),
        plgpu.SMEM((1, 1, 32, 16), jnp.float8_e8m0fnu),
        plgpu.TMEM((128, 128), F32),
        plgpu.TMEM((128, 4), jnp.float8_e8m0fnu, layout=plgpu.TMEMLayout.SCALES_LAYOUT),
        plgpu.TMEM((128, 4), jnp.float8_e8m0fnu, layout=plgpu.TMEMLayout.SCALES_LAYOUT),
        plgpu.Barrier(num_arrivals=4),
        plgpu.Barrier(orders_tensor_core=True),
    ],
    arch=BLACKWELL,
)
def tensor_core_scaled(a_ref, b_ref, p_ref, q_ref, o_ref, a, b, p, q, acc, a_scale, b_scale, loaded, done):
    for source, buffer in ((a_ref, a), (b_ref, b), (p_ref, p), (q_ref, q)):
        plgpu.copy_gmem_to_smem(source, buffer, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.async_copy_scales_to_tmem(p, a_scale)
    plgpu.async_copy_scales_to_tmem(q, b_scale)
    transposed = plgpu.transpose_ref(b, (1, 0))
    plgpu.tcgen05_mma(acc, a, transposed, done, a_scale=a_scale, b_scale=b_scale, accumulate=False)
    plgpu.barrier_wait(done)
    o_ref[...] = plgpu.async_load_tmem(acc)


@pallas(
    array((128, 64), F16),
    array((128, 128), F16),
    array((1, 2, 128, 64), jnp.uint2),
    out=array((128, 128), F32),
    scratch_types=[
        plgpu.SMEM((128, 64), F16),
        plgpu.SMEM((128, 128), F16),
        plgpu.SMEM((1, 1, 128, 64), jnp.uint2),
        plgpu.TMEM((128, 128), F32),
        plgpu.TMEM((128, 64), jnp.uint2, layout=plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT),
        plgpu.Barrier(num_arrivals=3),
        plgpu.Barrier(orders_tensor_core=True),
    ],
    arch=BLACKWELL,
)
def tensor_core_sparse(a_ref, b_ref, m_ref, o_ref, a, b, m, acc, metadata, loaded, done):
    plgpu.copy_gmem_to_smem(a_ref, a, loaded)
    plgpu.copy_gmem_to_smem(b_ref, b, loaded)
    plgpu.copy_gmem_to_smem(m_ref.at[:, 0:1], m, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.async_copy_sparse_metadata_to_tmem(m, metadata)
    plgpu.tcgen05_mma(acc, a, b, done, a_sparse_metadata=metadata, accumulate=False)
    plgpu.barrier_wait(done)
    o_ref[...] = plgpu.async_load_tmem(acc)


@pallas(
    array((128, 128), F32),
    out=array((128, 128), F32),
    scratch_types=[
        plgpu.SMEM((128, 128), F32),
        plgpu.TMEM((128, 128), F32),
        plgpu.Barrier(),
        plgpu.Barrier(orders_tensor_core=True),
    ],
    arch=BLACKWELL,
)
def copy_to_tensor_memory(x_ref, o_ref, smem, tmem, loaded, done):
    plgpu.copy_gmem_to_smem(x_ref, smem, loaded)
    plgpu.barrier_wait(loaded)
    plgpu.async_copy_smem_to_tmem(smem, tmem)
    plgpu.tcgen05_commit_arrive(done)
    plgpu.barrier_wait(done)
    o_ref[...] = plgpu.async_load_tmem(tmem, layout=plgpu.Layout.TCGEN05)


@pallas(
    array((128, 256), F32),
    out=array((128, 128), F32),
    scratch_types=[plgpu.TMEM((128, 256), F32)],
    arch=BLACKWELL,
)
def slices_of_tensor_memory(x_ref, o_ref, tmem):
    x = plgpu.load(x_ref, (), layout=plgpu.Layout.TCGEN05_TMEM_NATIVE, optimized=False)
    plgpu.async_store_tmem(tmem, x)
    plgpu.commit_tmem()
    left = plgpu.async_load_tmem(tmem.at[:, 0:128])
    right = plgpu.async_load_tmem(tmem.at[:, 128:256])
    o_ref[...] = left + right


# ---------------------------------------------------------------------------------------------------------------------
# Several blocks, several uses of memory
# ---------------------------------------------------------------------------------------------------------------------


@pallas(array((512, 128), F32), out=array((512, 128), F32), arch=BLACKWELL, grid=(8,), grid_names=("i",))
def dynamic_schedule(x_ref, o_ref):
    @plgpu.dynamic_scheduling_loop(("i",))
    def _(loop):
        rows = pl.ds(loop.index[0] * 64, 64)
        o_ref[rows, :] = x_ref[rows, :] * 2.0


@pallas(
    array((64, 128), F32),
    out=array((64, 128), F32),
    scratch_types=[plgpu.RefUnion(plgpu.SMEM((64, 128), F32), plgpu.SMEM((64, 128), BF16))],
)
def memory_used_twice(x_ref, o_ref, union):
    wide, narrow = union
    wide[...] = plgpu.load(x_ref, (), layout=plgpu.Layout.WGMMA, optimized=False)
    plgpu.commit_smem()
    x = plgpu.load(wide, (), layout=plgpu.Layout.WGMMA)
    narrow[...] = x.astype(BF16)
    plgpu.commit_smem()
    o_ref[...] = plgpu.load(narrow, (), layout=plgpu.Layout.WGMMA).astype(F32)


@pallas(array((64, 128), F32), out=array((64, 128), F32), **GRID)
def prefetch(x_ref, o_ref):
    plgpu.async_prefetch(x_ref)
    o_ref[...] = x_ref[...]


@pallas(array((64, 128), F32), out=array((64, 128), F32), **GRID)
def atomic_sum(x_ref, o_ref):
    plgpu.atomic_add(o_ref, x_ref[...])


@pallas(
    array((256, 128), F16),
    out=array((256, 128), F16),
    num_threads=2,
    thread_name="wg",
    scratch_types=[plgpu.SMEM((2, 128, 128), F16), plgpu.Barrier(num_barriers=2)],
)
def two_groups(x_ref, o_ref, s_ref, barrier):
    group = lax.axis_index("wg")
    rows = pl.ds(group * 128, 128)
    plgpu.copy_gmem_to_smem(x_ref.at[rows], s_ref.at[group], barrier.at[group])
    plgpu.barrier_wait(barrier.at[group])
    s_ref[group] = jnp.maximum(s_ref[group], 0)
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(s_ref.at[group], o_ref.at[rows])
    plgpu.wait_smem_to_gmem(0)


@pallas(
    array((128, 128), F32),
    out=array((128, 128), F32),
    scratch_types=[plgpu.SMEM((128, 128), F32), plgpu.SMEM((128, 128), F32), plgpu.Barrier(num_arrivals=1)],
)
def copies_that_reduce(x_ref, o_ref, s_ref, t_ref, barrier):
    plgpu.copy_gmem_to_smem(x_ref, s_ref, barrier)
    plgpu.barrier_wait(barrier)
    t_ref[...] = s_ref[...] + 1.0
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(t_ref, o_ref, reduction_op="add")
    plgpu.wait_smem_to_gmem(0)


# ---------------------------------------------------------------------------------------------------------------------
# Debugging, regions
# ---------------------------------------------------------------------------------------------------------------------


@shared(array((64, 128), F32), out=array((64, 128), F32), **GRID)
def printing(x_ref, o_ref):
    x = wgmma_load(x_ref)
    plgpu.print_layout("x: {}", x)
    pl.debug_print("block {}", lax.axis_index("i"))
    o_ref[...] = x


@shared(array((64, 128), F32), out=array((64, 128), F32))
def custom_primitive(x_ref, o_ref):
    x = wgmma_load(x_ref)

    @plgpu.inline_mgpu(
        arg_types=(plgpu.Layout.WGMMA,),
        return_type=plgpu.ShapeDtypeStruct((64, 128), F32, layout=plgpu.Layout.WGMMA),
    )
    def double(_, value):
        return value + value

    o_ref[...] = double(x) + 1.0


@pallas(
    array((64, 128), F32),
    out=array((64, 128), F32),
    scratch_types=[plgpu.SMEM((64, 128), F32), plgpu.Barrier()],
)
def warps_of_the_group(x_ref, o_ref, s_ref, barrier):
    @plgpu.warp_map
    def _(warp):
        @pl.when(warp == 0)
        def _():
            plgpu.copy_gmem_to_smem(x_ref, s_ref, barrier)

    plgpu.barrier_wait(barrier)
    o_ref[...] = s_ref[...]
