# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as functions of JAX, on the CPU."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl
from conftest import ROOT
from helpers import run_python_blocks

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import jax_kernels  # noqa: E402
import torch_programs  # noqa: E402

FUNCTIONS = jax_kernels.functions()


def random(*shape: int, seed: int = 0, dtype: Any = np.float32) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, np.float32)).astype(dtype)


def check(found: Any, wanted: Any, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(
        np.asarray(found, np.float64), np.asarray(wanted, np.float64), rtol=tolerance, atol=tolerance
    )


def custom_calls(function: Callable[..., Any], *arguments: Any) -> int:
    """The number of calls of kernels in the program that JAX gives to XLA."""
    return jax.jit(function).lower(*arguments).as_text().count("custom_call @smalti_kernel")


# --- Values ---


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float16, jnp.bfloat16], ids=lambda t: t.__name__)
def test_outputs(dtype: Any) -> None:
    x = random(5, 70, dtype=dtype)
    tolerance = {jnp.float16: 2e-3, jnp.bfloat16: 2e-2}.get(dtype, 1e-6)
    y = FUNCTIONS.softmax(x)
    assert y.dtype == x.dtype
    check(y, jax.nn.softmax(x), tolerance)
    low, high = jax.jit(FUNCTIONS.extrema)(x)
    assert (low == x.min(1)).all() and (high == x.max(1)).all()


def test_outputs_with_initial_elements() -> None:
    values = jnp.asarray(np.random.default_rng(1).integers(0, 9, 500, dtype=np.int32))
    for _ in range(2):
        assert (FUNCTIONS.count(values, 9) == jnp.bincount(values, length=9)).all()


def test_a_function_without_arrays() -> None:
    assert (FUNCTIONS.count_up() == jnp.arange(100)).all()
    assert (jax.jit(FUNCTIONS.count_up)() == jnp.arange(100)).all()


def test_arrays_without_dimensions() -> None:
    @smalti.kernel
    def repeat(x: sl.Array, unused: sl.Array, y: sl.Array):
        y[0:4] = sl.full(4, 2.0, sl.float32) * x[()]

    function = smalti.jax.ffi_call(repeat, outputs={"y": lambda: jax.ShapeDtypeStruct((4,), jnp.float32)})
    assert (jax.jit(function)(3.0, jnp.zeros(2)) == 6).all()
    assert (jax.vmap(function, (0, None))(jnp.arange(3.0), jnp.zeros(2)) == 2 * jnp.arange(3.0)[:, None]).all()


def test_empty_arrays_and_arrays_of_numpy() -> None:
    assert FUNCTIONS.softmax(jnp.zeros((0, 70))).shape == (0, 70)
    x = np.asarray(random(5, 70))
    check(FUNCTIONS.softmax(x), jax.nn.softmax(x))
    # XLA changes the layout of the transposed array.
    check(jax.jit(lambda x: FUNCTIONS.softmax(x.T))(x), jax.nn.softmax(x.T))


def test_changed_arrays() -> None:
    """The kernel changes the memory of its argument in the program; the array of the caller does not change."""
    x = random(100)
    before = np.asarray(x)
    check(FUNCTIONS.scale(x, 2.0), 2 * before)
    check(FUNCTIONS.scale(x, 0.5, negate=True), -0.5 * before)
    assert (np.asarray(x) == before).all()

    def both(x: jax.Array) -> jax.Array:
        return FUNCTIONS.scale(x, 3.0) + x

    check(jax.jit(both)(x), 4 * before)
    text = jax.jit(FUNCTIONS.scale, static_argnums=1).lower(x, 2.0).as_text()
    assert "output_tuple_indices = [], operand_index = 0" in text
    given = jnp.array(before)
    donated = jax.jit(lambda x: FUNCTIONS.scale(x, 2.0), donate_argnums=0)
    address = given.unsafe_buffer_pointer()
    result = donated(given)
    assert result.unsafe_buffer_pointer() == address and given.is_deleted()
    low, high = FUNCTIONS.lows(random(5, 70), jnp.zeros(5))
    assert (high == random(5, 70).max(1)).all() and (low == random(5, 70).min(1)).all()


def test_many_tiles_run_on_several_threads() -> None:
    x = random(1 << 20)
    y = random(1 << 20, seed=1)
    function = jax.jit(FUNCTIONS.multiply_add, static_argnums=2, static_argnames="block")
    for _ in range(5):
        check(function(x, y, 0.5), np.asarray(x) * np.asarray(y) + np.float32(0.5))


def test_the_name_and_description_are_those_of_the_kernel() -> None:
    assert FUNCTIONS.scale.__name__ == "scale"
    assert FUNCTIONS.scale.__doc__ == "Multiplies a vector by a number."


FACTOR, TILES = 1.0, 1


def test_a_call_uses_the_current_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call in eager mode does, and a new program. A compiled program does not change."""

    @smalti.kernel(grid=lambda: TILES)
    def scaled(x: sl.Array, y: sl.Array):
        i = sl.tile_id() * 4
        y[i : i + 4] = FACTOR * x[i : i + 4]

    function = smalti.jax.ffi_call(
        scaled, outputs={"y": lambda x: jnp.zeros_like(x)}, backward=lambda grad_y: grad_y * FACTOR
    )
    compiled = jax.jit(lambda x: function(x))
    x = jnp.ones((8,))

    def found() -> list[Any]:
        batched, gradient = jax.vmap(function)(x[None])[0], jax.value_and_grad(lambda x: function(x).sum())(x)[0]
        new = jax.jit(lambda x: function(x))(x)
        assert (function(x) == batched).all() and (new == batched).all() and gradient == batched.sum()
        return [float(value) for value in batched]

    assert found() == list(compiled(x)) == [1] * 4 + [0] * 4
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert found() == [5] * 4 + [0] * 4
    monkeypatch.setitem(globals(), "TILES", 2)
    assert found() == [5] * 8
    monkeypatch.setitem(globals(), "FACTOR", 1.0)
    assert found() == [1] * 8
    assert list(compiled(x)) == [1] * 4 + [0] * 4


# --- Transformations ---


@pytest.mark.parametrize(("in_axes", "shape"), [(0, (3, 5, 70)), (1, (5, 3, 70)), (-1, (5, 70, 3))], ids=str)
def test_vmap_is_one_launch(in_axes: int, shape: tuple[int, ...]) -> None:
    x = random(*shape)
    batched = jax.vmap(FUNCTIONS.softmax, in_axes=in_axes)
    check(batched(x), jax.vmap(jax.nn.softmax, in_axes=in_axes)(x))
    assert custom_calls(batched, x) == 1


def test_vmap_compiles_a_kernel_once() -> None:
    @smalti.kernel(grid=lambda x: x.shape[0])
    def doubled(x: sl.Array, y: sl.Array):
        row = sl.tile_id()
        y[row, 0:4] = 2 * x[row, 0:4]

    compiled: list[Any] = []
    doubled.hooks.compile.append(compiled.append)
    function = smalti.jax.ffi_call(doubled, outputs={"y": "x"})
    for size in (2, 3, 4):
        x = random(size, 5, 4)
        check(jax.jit(lambda x: jax.vmap(function)(x) + 1)(x), 2 * x + 1)
    assert len(compiled) == 1
    # The same number of dimensions, of which another one is the batch; and the kernel without a batch.
    w = random(5, 4)
    check(jax.vmap(jax.vmap(function))(random(2, 3, 5, 4)), 2 * random(2, 3, 5, 4))
    check(function(w), 2 * w)
    assert len(compiled) == 3


def test_vmap_of_some_arrays() -> None:
    """An array without the batch is not repeated in memory, except if the kernel changes it."""
    x, w = random(3, 5, 70), random(70)

    def wanted(x: Any, w: Any) -> Any:
        return x + w + 5

    check(jax.vmap(FUNCTIONS.rows_plus, (0, None))(x, w), wanted(x, w))
    both = jax.vmap(jax.vmap(FUNCTIONS.rows_plus, (0, None)), (None, 0))
    v = random(2, 70, seed=1)
    check(both(x, v), x[None] + v[:, None, None] + 5)
    assert custom_calls(both, x, v) == 1 and "broadcast_in_dim" not in jax.jit(both).lower(x, v).as_text()
    check(
        jax.vmap(jax.vmap(FUNCTIONS.rows_plus, (1, None), 1), (2, 1), 2)(random(5, 4, 3, 70), random(70, 3)),
        jax.vmap(jax.vmap(lambda x, w: x + w + 5, (1, None), 1), (2, 1), 2)(random(5, 4, 3, 70), random(70, 3)),
    )
    inner = jax.vmap(jax.vmap(FUNCTIONS.rows_plus, (None, 0)), (0, 0))
    u = random(3, 2, 70, seed=2)
    check(inner(x, u), x[:, None] + u[:, :, None] + 5)

    low, high = jax.vmap(FUNCTIONS.lows, (0, None))(x, jnp.zeros(5))
    assert (low == x.min(2)).all() and (high == x.max(2)).all()
    counts = jax.vmap(FUNCTIONS.count, (0, None))
    values = jnp.asarray(np.random.default_rng(1).integers(0, 9, (3, 500), dtype=np.int32))
    for row, found in zip(values, jax.vmap(lambda v: FUNCTIONS.count(v, 9))(values), strict=True):
        assert (found == jnp.bincount(row, length=9)).all()
    with pytest.raises(smalti.LaunchError, match=r"bins is .*; a number must be a Python number"):
        counts(values, jnp.int32(9))


def test_gradients() -> None:
    x, w = random(5, 70), random(5, 70, seed=1)

    def loss(softmax: Callable[..., Any], x: jax.Array) -> jax.Array:
        return (softmax(2 * x) * w).sum()

    found, wanted = (jax.grad(lambda x, f=f: loss(f, x)) for f in (FUNCTIONS.softmax, jax.nn.softmax))
    check(found(x), wanted(x))
    check(jax.jit(found)(x), wanted(x))
    batch = random(3, 5, 70, seed=2)
    check(jax.jit(jax.vmap(found))(batch), jax.vmap(wanted)(batch))
    # The gradient of an array that all elements of the batch use is a sum.
    rows, w1 = random(3, 50), random(50, seed=3)
    sums = [
        jax.grad(lambda w, f=f: (jax.vmap(f, (0, None))(rows, w) ** 2).sum())(w1)
        for f in (lambda x, w: FUNCTIONS.multiply_add(x, w, 0.5), lambda x, w: x * w + 0.5)
    ]
    check(*sums, 1e-5)
    check(jax.grad(lambda x: jax.checkpoint(lambda x: loss(FUNCTIONS.softmax, x))(x))(x), wanted(x))
    a, b = random(50), random(50, seed=1)
    da, db = jax.grad(lambda a, b: FUNCTIONS.multiply_add(a, b, 0.5, block=16).sum(), (0, 1))(a, b)
    assert (da == b).all() and (db == a).all()
    # `x` is the array before the call, and `grad_x` the gradient of the array after it.
    power = smalti.jax.ffi_call(
        torch_programs.scale, input_output_aliases="x", backward=lambda grad_x, x, factor: grad_x * x * factor
    )
    check(jax.grad(lambda x: power(x, 3.0).sum())(a), 3 * a)


def test_second_derivatives() -> None:
    """The backward function is differentiated; it may consist of functions that have gradients."""
    a, b = random(20), random(20, seed=1)

    def cubes(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda a: (function(a, b) ** 3).sum()

    multiply_add = cubes(lambda a, b: FUNCTIONS.multiply_add(a, b, 0.5))
    wanted = cubes(lambda a, b: a * b + 0.5)
    check(jax.jacrev(jax.grad(multiply_add))(a), jax.hessian(wanted)(a), 1e-4)
    third = [jax.grad(lambda a, f=f: jax.jacrev(jax.grad(f))(a).sum())(a) for f in (multiply_add, wanted)]
    check(*third, 1e-4)

    def second(function: Callable[..., Any]) -> Callable[..., Any]:
        return jax.grad(lambda a: (jax.grad(function)(a) ** 2).sum())

    check(jax.jit(second(multiply_add))(a), second(wanted)(a), 1e-4)
    check(jax.vmap(second(multiply_add))(jnp.stack([a, b])), jax.vmap(second(wanted))(jnp.stack([a, b])), 1e-4)
    check(second(jax.checkpoint(multiply_add))(a), second(wanted)(a), 1e-4)
    # The second derivative of an array before and after the call.
    power = smalti.jax.ffi_call(
        torch_programs.scale, input_output_aliases="x", backward=lambda grad_x, x, factor: grad_x * x * factor
    )
    check(jax.grad(lambda a: (jax.grad(lambda a: power(a, 3.0).sum())(a)).sum())(a), 3 + 0 * a)


def test_a_second_derivative_without_a_formula() -> None:
    def gradient(x: jax.Array) -> jax.Array:
        return jax.grad(lambda x: (FUNCTIONS.softmax(x) ** 2).sum())(x)

    with pytest.raises(
        smalti.LaunchError, match=r"softmax_backward does not have a derivative\nhint: state its gradients"
    ):
        jax.grad(lambda x: gradient(x).sum())(random(5, 70))


def test_forward_mode() -> None:
    x = random(5, 70)
    for derivative in (
        lambda f: jax.jvp(f, (x,), (x,)),
        lambda f: jax.jacfwd(f)(x),
        lambda f: jax.vmap(lambda t: jax.jvp(f, (x,), (t,))[1])(x[None]),
    ):
        with pytest.raises(smalti.LaunchError, match=r"softmax has .* do not give a forward-mode derivative") as found:
            derivative(FUNCTIONS.softmax)
        assert "use a reverse-mode derivative, such as jax.grad" in str(found.value)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jit(lambda x: jax.jvp(FUNCTIONS.softmax, (x,), (x,)))(x)
    with pytest.raises(smalti.LaunchError, match="extrema does not have a derivative"):
        jax.jvp(FUNCTIONS.extrema, (x,), (x,))

    @jax.custom_jvp
    def softmax(x: jax.Array) -> jax.Array:
        return FUNCTIONS.softmax(x)

    def rule(primals: Any, tangents: Any) -> Any:
        y = softmax(primals[0])
        return y, y * (tangents[0] - (y * tangents[0]).sum(1, keepdims=True))

    softmax.defjvp(rule)
    for found, wanted in zip(
        jax.jvp(softmax, (x,), (x,)), jax.jvp(lambda x: jax.nn.softmax(x), (x,), (x,)), strict=True
    ):
        check(found, wanted)
    hessians = [jax.hessian(lambda x, f=f: (f(x) ** 2).sum())(x[:2, :5]) for f in (softmax, jax.nn.softmax)]
    check(*hessians)


def test_wrong_gradients() -> None:
    def gradient(backward: Any) -> Any:
        function = smalti.jax.ffi_call(torch_programs.multiply_add, outputs={"out": "x"}, backward=backward)
        return jax.grad(lambda x: function(x, random(8), 0.0).sum())(random(8))

    with pytest.raises(smalti.LaunchError, match="returned 1 gradients; it must return 2, for x, y, or a dictionary"):
        gradient(lambda grad_out: grad_out)
    with pytest.raises(smalti.LaunchError, match="returned a gradient of bias; the arrays are x, y"):
        gradient(lambda grad_out: {"bias": grad_out})
    # Without the rule, no function has a gradient.
    with pytest.raises(smalti.LaunchError, match=r"extrema does not have a derivative\nhint: state its gradients"):
        jax.grad(lambda x: FUNCTIONS.extrema(x)[0].sum())(random(5, 70))


def test_a_gradient_that_backward_does_not_name() -> None:
    function = smalti.jax.ffi_call(
        torch_programs.extrema,
        outputs={name: lambda x: jax.ShapeDtypeStruct(x.shape[:1], x.dtype) for name in ("low", "high")},
        constants={"block": 128},
        backward=lambda grad_low, low, x: (x == low[:, None]) * grad_low[:, None],
    )
    x = random(5, 70)
    wanted = x == x.min(1)[:, None]
    for run in (function, jax.jit(function), jax.vmap(lambda row: tuple(t[0] for t in function(row[None])))):
        check(jax.grad(lambda x, run=run: run(x)[0].sum())(x), wanted)
        stopped = jax.grad(lambda x, run=run: (run(x)[0] * jax.lax.stop_gradient(run(x)[1])).sum())
        check(stopped(x), wanted * x.max(1)[:, None])
        with pytest.raises(smalti.LaunchError, match=r"needs the gradient of the result high.*grad_high") as found:
            jax.grad(lambda x, run=run: (run(x)[0] + run(x)[1]).sum())(x)
        assert "hint: add the parameter grad_high to backward" in str(found.value)
    # A gradient that backward names may be zero.
    both = smalti.jax.ffi_call(
        torch_programs.extrema,
        outputs={name: lambda x: jax.ShapeDtypeStruct(x.shape[:1], x.dtype) for name in ("low", "high")},
        constants={"block": 128},
        backward=lambda grad_low, grad_high, x: x * 0 + grad_low[:, None] + 2 * grad_high[:, None],
    )
    check(jax.grad(lambda x: both(x)[1].sum())(x), 2 + 0 * x)


def test_control_flow() -> None:
    x = random(100)
    _, found = jax.lax.scan(lambda carry, _: (FUNCTIONS.scale(carry, 2.0), carry.sum()), x, length=4)
    check(found, [x.sum() * 2**i for i in range(4)], 1e-5)
    assert (jax.lax.cond(True, lambda x: FUNCTIONS.scale(x, 2.0), lambda x: x, x) == 2 * x).all()
    with jax.disable_jit():
        check(FUNCTIONS.scale(x, 2.0), 2 * x)
    batch = random(3, 100)
    check(jax.lax.map(lambda x: FUNCTIONS.scale(x, 2.0), batch, batch_size=2), 2 * batch)

    def repeated(x: jax.Array, count: Any) -> jax.Array:
        step = lambda state: (state[0] + 1, FUNCTIONS.scale(state[1], 2.0))  # noqa: E731
        return jax.lax.while_loop(lambda state: state[0] < count, step, (0, x))[1]

    check(jax.jit(repeated)(x, 3), 8 * x)
    # The batched loop runs until the last element of the batch is done.
    check(jax.vmap(repeated)(batch, jnp.arange(3)), batch * jnp.array([1, 2, 4])[:, None])
    w = random(100, seed=1)

    def last_carry(x: jax.Array) -> jax.Array:
        body = jax.checkpoint(lambda carry, _: (FUNCTIONS.multiply_add(carry, w, 0.5), None))
        return jax.lax.scan(body, x, length=3)[0].sum()

    check(jax.grad(last_carry)(x), w**3)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import jax_kernels

functions = jax_kernels.functions()
x = jnp.asarray(np.random.default_rng(0).standard_normal((8, 5, 70), np.float32))
w = jnp.ones(70)
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((4,), ("d",), axis_types=(kind,))
    placed = jax.device_put(x, NamedSharding(mesh, P("d")))
    with jax.set_mesh(mesh):
        for check_vma in (False, True):
            # The kernel has the shapes of one device; the vector is the same for all devices.
            rows = jax.shard_map(jax.vmap(functions.rows_plus, (0, None)), in_specs=(P("d"), P()), out_specs=P("d"), check_vma=check_vma)
            found = jax.jit(rows)(placed, w)
            assert len(found.sharding.device_set) == 4 and found.addressable_shards[0].data.shape == (2, 5, 70)
            np.testing.assert_allclose(found, x + 6, rtol=1e-6)
            assert "tensor<2x5x70xf32>" in jax.jit(rows).lower(placed, w).as_text()
            # Outputs with initial elements.
            count = jax.shard_map(lambda v: functions.count(v, 9)[None], in_specs=P("d"), out_specs=P("d"), check_vma=check_vma)
            values = jax.device_put(jnp.arange(400, dtype=jnp.int32) % 9, NamedSharding(mesh, P("d")))
            np.testing.assert_array_equal(np.asarray(count(values)).sum(0), np.bincount(np.arange(400) % 9))
        gradient = jax.shard_map(jax.grad(lambda x: (functions.softmax(x) ** 2).sum()), in_specs=P("d"), out_specs=P("d"))
        flat = jax.device_put(x[:, 0], NamedSharding(mesh, P("d")))
        np.testing.assert_allclose(gradient(flat), jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum())(x[:, 0]), atol=1e-6)
        # Without shard_map, each device computes the whole array.
        found = jax.jit(functions.softmax)(flat)
        np.testing.assert_allclose(found, jax.nn.softmax(x[:, 0]), atol=1e-6)
        wanted = jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum())(x[:, 0])
        np.testing.assert_allclose(jax.jit(jax.grad(lambda x: (functions.softmax(x) ** 2).sum()))(flat), wanted, atol=1e-6)
        # All devices use the vector: its gradient is the sum of theirs.
        a, b = (jax.device_put(x[i].reshape(-1)[:64], NamedSharding(mesh, P("d"))) for i in range(2))
        c = x[2, 0, :16]
        wanted = (2 * (a.reshape(4, 16) * c + 0.5) * a.reshape(4, 16)).sum(0)
        product = jax.shard_map(lambda a, b: functions.multiply_add(a, b, 0.5), in_specs=(P("d"), P()), out_specs=P("d"))
        square = lambda c: (product(a, c) ** 2).sum()
        inner = jax.shard_map(
            lambda a, c: jax.grad(lambda c: (functions.multiply_add(a, c, 0.5) ** 2).sum())(c), in_specs=(P("d"), P()), out_specs=P()
        )
        for gradient in (jax.grad(square)(c), jax.jit(jax.grad(square))(c), inner(a, c)):
            np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-5)
        second = jax.jit(jax.grad(lambda c: (jax.grad(square)(c)).sum()))(c)
        np.testing.assert_allclose(second, (2 * a.reshape(4, 16) ** 2).sum(0), rtol=1e-4, atol=1e-5)
        both = jax.shard_map(jax.vmap(functions.softmax), in_specs=P("d"), out_specs=P("d"))
        np.testing.assert_allclose(jax.jit(jax.vmap(both, 1, 1))(placed[:, None]), jax.nn.softmax(x[:, None]), atol=1e-6)
        # A batch of which each device has a part.
        for square in (lambda f: lambda x: (jax.vmap(f)(x) ** 2).sum(), lambda f: lambda x: jax.vmap(lambda x: (f(x) ** 2).sum())(x).sum()):
            for run in (jax.grad, lambda f: jax.jit(jax.grad(f))):
                np.testing.assert_allclose(run(square(functions.softmax))(placed), jax.grad(square(jax.nn.softmax))(x), atol=1e-6)
        # A changed array, of which each device has a part.
        scaled = jax.shard_map(lambda a: functions.scale(a, 2.0), in_specs=P("d"), out_specs=P("d"))
        twice = 2 * np.asarray(a)
        np.testing.assert_array_equal(jax.jit(scaled, donate_argnums=0)(a), twice)
        assert a.is_deleted()
wanted = jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum())(x)
np.testing.assert_allclose(jax.pmap(functions.softmax)(x), jax.nn.softmax(x), atol=1e-6)
np.testing.assert_allclose(jax.pmap(jax.grad(lambda x: (functions.softmax(x) ** 2).sum()))(x), wanted, atol=1e-6)
np.testing.assert_allclose(jax.pmap(functions.rows_plus, in_axes=(0, None))(x, w), x + 6, rtol=1e-6)
print("passed")
"""


def run(code: str, *arguments: str, **environment: str) -> str:
    """Runs code in a new process, which sees several devices."""
    setup = f"import sys\nsys.path += {sys.path!r}\n"
    variables = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", **environment}
    command = ["env", *(f"{key}={value}" for key, value in variables.items()), sys.executable, "-c", setup + code]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_shard_map() -> None:
    assert run(SHARDED) == "passed\n"


# --- Programs in other processes ---

EXPORT = """
import pathlib, jax, jax.numpy as jnp, jax_kernels
from jax import export

functions = jax_kernels.functions()
path = pathlib.Path(sys.argv[1])
x = jnp.arange(350.0).reshape(5, 70)
if sys.argv[2] == "write":
    checks = [export.DisabledSafetyCheck.custom_call("smalti_kernel")]
    path.write_bytes(export.export(jax.jit(functions.softmax), disabled_checks=checks)(x).serialize())
else:
    if sys.argv[2] == "traced":
        jax.jit(functions.softmax).lower(x)
    else:
        functions.softmax(x[:4])  # Other shapes.
    try:
        print(abs(export.deserialize(path.read_bytes()).call(x) - jax.nn.softmax(x)).max() < 1e-6)
    except jax.errors.JaxRuntimeError as error:
        print(error)
"""


def test_an_exported_program_needs_its_kernels(tmp_path: Path) -> None:
    path = str(tmp_path / "program")
    run(EXPORT, path, "write")
    message = r"the kernel softmax-\w{32} is not in this process; a loaded program does not contain the code of kernels"
    assert re.search(message, run(EXPORT, path, "loaded"))
    assert run(EXPORT, path, "traced") == "True\n"


CACHED = """
import logging, jax, jax.numpy as jnp, jax_kernels
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None)
x = jnp.arange(350.0).reshape(5, 70)
run = jax.jit(lambda x: jax_kernels.functions().softmax(x) + 1)
assert abs(run(x) - jax.nn.softmax(x) - 1).max() < 1e-6
print(len(hits))
"""


@pytest.mark.parametrize("cache", ["0", "1"])
def test_the_compilation_cache_of_jax(tmp_path: Path, cache: str) -> None:
    """The key of a kernel is the same in each process, with and without the cache of kernels."""
    counts = [int(run(CACHED, str(tmp_path), SMALTI_CACHE=cache)) for _ in range(2)]
    assert counts[1] > counts[0]


# --- Errors ---


def test_errors_of_a_run() -> None:
    @smalti.kernel
    def small(x: sl.Array, y: sl.Array):
        t = x[0:4]
        sl.check(t < 3, "the element is too large")
        y[0:4] = t

    function = jax.jit(smalti.jax.ffi_call(small, outputs={"y": "x"}))
    assert (function(jnp.zeros(4)) == 0).all()
    for _ in range(2):
        with pytest.raises(Exception, match=r"the assertion failed in tile 0 at \[3\]: the element is too large"):
            jax.block_until_ready(function(jnp.arange(4.0)))


def test_errors_of_the_compilation() -> None:
    @smalti.kernel
    def wrong(x: sl.Array, y: sl.Array):
        y[0:4] = x[0:4] + x[0:8]

    with pytest.raises(smalti.CompileError, match=r"shapes \(4,\) and \(8,\) do not match"):
        smalti.jax.ffi_call(wrong, outputs={"y": "x"})(jnp.zeros(8))


def test_accesses_that_jax_would_not_know() -> None:
    call = smalti.jax.ffi_call
    reads = call(torch_programs.accumulate_multiplied, outputs={"sums": "c"})
    with pytest.raises(
        smalti.LaunchError, match="reads the output sums, but its elements are not initialized"
    ) as found:
        reads(random(8), random(8))
    assert "outputs={'sums': lambda c: jnp.zeros_like(c)}" in str(found.value)
    writes = call(
        torch_programs.extrema, outputs={"low": lambda x: jax.ShapeDtypeStruct((2,), x.dtype)}, constants={"block": 4}
    )
    with pytest.raises(smalti.LaunchError, match="writes high, which is an input of the operator") as found:
        writes(random(2, 4), random(2))
    assert "input_output_aliases=['high']" in str(found.value)


def test_an_output_that_is_initialized_in_some_calls() -> None:
    initial = [True]

    def output(x: jax.Array) -> Any:
        return jnp.zeros_like(x) if initial[0] else jax.ShapeDtypeStruct(x.shape, x.dtype)

    function = smalti.jax.ffi_call(torch_programs.accumulate, outputs={"out": output})
    assert (function(jnp.ones(4)) == 1).all()
    initial[0] = False
    with pytest.raises(smalti.LaunchError, match="reads the output out, but its elements are not initialized") as found:
        function(jnp.ones(4))
    assert "return initialized elements from the function of outputs['out'], such as jnp.zeros_like(x)" in str(
        found.value
    )


def test_zeros_of_both_signs_are_different_numbers() -> None:
    @smalti.kernel
    def filled(value: float, y: sl.Array, other: smalti.constexpr = 0.0):
        y[0:2] = sl.full(2, value + other, sl.float32)

    function = smalti.jax.ffi_call(filled, outputs={"y": lambda: jax.ShapeDtypeStruct((2,), jnp.float32)})
    assert not np.signbit(function(0.0, other=-0.0)).any()
    assert np.signbit(function(-0.0, other=-0.0)).all()
    assert not np.signbit(function(-0.0, other=0.0)).any()


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        ("scale", {}, "state the parameters that the kernel writes, with outputs= or input_output_aliases="),
        ("scale", {"input_output_aliases": "factor"}, "factor, which is a number of the kernel"),
        (
            "accumulate",
            {"outputs": {"out": "y"}},
            "takes shape and type of the output from 'y', which is not one of the arrays: x",
        ),
        ("accumulate", {"outputs": {"out": 3}}, r"a function such as `lambda x: jax\.ShapeDtypeStruct"),
        (
            "scale",
            {"input_output_aliases": "x", "backward": lambda grad: grad},
            "its parameters must be among grad_x, x, factor, negate",
        ),
    ],
)
def test_wrong_definitions(kernel: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        smalti.jax.ffi_call(getattr(torch_programs, kernel), **options)


def test_wrong_arguments() -> None:
    x = random(100)
    with pytest.raises(TypeError, match="scale: missing a required argument: 'factor'"):
        FUNCTIONS.scale(x)
    with pytest.raises(smalti.LaunchError, match=r"factor is .*; a number must be a Python number") as found:
        jax.jit(FUNCTIONS.scale)(x, 2.0)
    assert "make it a static argument: jax.jit(..., static_argnames='factor')" in str(found.value)
    with pytest.raises(smalti.LaunchError, match=r"block is .*; a constant must be a Python number") as found:
        jax.jit(FUNCTIONS.multiply_add, static_argnums=2)(x, x, 0.5, block=16)
    assert "make it a static argument: jax.jit(..., static_argnames='block')" in str(found.value)
    with pytest.raises(smalti.LaunchError, match=r"1e\+40"):
        FUNCTIONS.scale(x, 1e40)
    with pytest.raises(smalti.LaunchError, match="x is 'text', but must be an array"):
        FUNCTIONS.scale("text", 2.0)
    for wrong in (None, [[1.0, 2.0], [1.0]]):
        with pytest.raises(smalti.LaunchError, match=r"x is .*, but must be an array"):
            FUNCTIONS.softmax(wrong)
    with pytest.raises(smalti.LaunchError, match=r"array of random keys.*\nhint: pass jax\.random\.key_data\(x\)"):
        FUNCTIONS.softmax(jax.random.key(0))
    with pytest.raises(smalti.LaunchError, match=r"an array has elements of int4; .* packed in an array of int8"):
        FUNCTIONS.softmax(jnp.zeros((5, 70), jnp.int4))
    with pytest.raises(smalti.LaunchError, match=r"complex64.* is not an element type"):
        FUNCTIONS.softmax(jnp.zeros((5, 70), jnp.complex64))
    wrong = smalti.jax.ffi_call(torch_programs.accumulate, outputs={"out": lambda x: x.shape})
    with pytest.raises(smalti.LaunchError, match=r"returned tuple; a jax.ShapeDtypeStruct or an array is required"):
        wrong(x)
    with pytest.raises(TypeError, match=r"is not a kernel; decorate the function with @smalti\.kernel"):
        smalti.jax.ffi_call(check, outputs={"y": "x"})  # type: ignore[call-overload]


def test_static_arguments_by_name() -> None:
    x, y = random(100), random(100, seed=1)
    compiled = jax.jit(FUNCTIONS.multiply_add, static_argnames=("bias", "block"))
    check(compiled(x, y, 0.5), x * y + 0.5)
    check(compiled(x, y, bias=0.5, block=16), x * y + 0.5)
    check(compiled(y=y, x=x, bias=0.5), x * y + 0.5)
    check(jax.jit(FUNCTIONS.scale, static_argnames=("factor", "negate"))(x, 2.0, negate=True), -2 * x)


def test_a_kernel_in_a_traced_function() -> None:
    message = r"double: x: JAX traces the array, .*; inside jax\.jit, call the kernel through smalti\.jax\.ffi_call"
    with pytest.raises(smalti.LaunchError, match=message):
        jax.jit(lambda x: torch_programs.double(x, np.zeros(64, np.float32)))(random(64))


def test_sizes_must_be_static() -> None:
    from jax import export

    described = jax.ShapeDtypeStruct(export.symbolic_shape("n, 70"), jnp.float32)
    function = smalti.jax.ffi_call(torch_programs.softmax, outputs={"y": "x"}, constants={"block": 128})
    checks = [export.DisabledSafetyCheck.custom_call("smalti_kernel")]
    # A function of the user would fail for a symbolic size.
    other = smalti.jax.ffi_call(
        torch_programs.softmax.on("cpu"), outputs={"y": "x"}, constants={"block": lambda x: 1 << int(x.shape[0])}
    )
    for one in (function, other, jax.vmap(function, in_axes=1)):
        with pytest.raises(smalti.LaunchError, match=r"the shape of x is \(n.* needs static sizes") as found:
            export.export(jax.jit(one), disabled_checks=checks)(described)
        assert "hint: export the function for each size" in str(found.value)


# --- Targets ---


def test_a_target_of_another_platform() -> None:
    function = jax_kernels.functions("sm_90a").softmax
    with pytest.raises(
        smalti.LaunchError, match="is called on the platform cpu of JAX, but its target is sm_90a"
    ) as found:
        function(random(5, 70))
    assert "state the chip: softmax.on('cpu')" in str(found.value)


@pytest.mark.parametrize("options", [("emu:sm_80", {}), ("sim:sm_80", {}), (None, {"interpret": True})], ids=str)
def test_kernels_that_python_runs(options: tuple[str | None, dict[str, Any]]) -> None:
    """An emulated, a simulated and an interpreted kernel run as a callback of JAX."""
    target, more = options
    add = smalti.jax.ffi_call(jax_kernels.rows_plus.on(target, **more), outputs={"y": "x"})
    x, w = random(5, 70), random(70)
    check(jax.jit(add)(x, w), x + w + 5)
    scale = smalti.jax.ffi_call(torch_programs.scale.on(target, **more), input_output_aliases="x")
    check(scale(w, 2.0), 2 * w)
    check(jax.vmap(lambda w: add(x, w))(jnp.stack([w, 2 * w])), jnp.stack([x + w, x + 2 * w]) + 5)


COMPILED: dict[str, Callable[[], Any]] = {
    "static": lambda: torch_programs.compiled("cpu", 100),
    "dynamic": lambda: torch_programs.compiled("cpu"),
    "specialized": lambda: smalti.specialize(torch_programs.SCALED, target="cpu"),
    "emulated": lambda: torch_programs.compiled("emu:sm_80"),
    "simulated": lambda: torch_programs.compiled("sim:sm_80", 100),
}


@pytest.mark.parametrize("kind", COMPILED)
def test_compiled_kernels(kind: str) -> None:
    scaled = smalti.jax.ffi_call(
        COMPILED[kind](), outputs={"dst": "src"}, backward=lambda grad_dst, factor: scaled(grad_dst, factor)
    )
    assert scaled.__name__ == "scaled"
    x = random(100, 60)
    check(jax.jit(scaled, static_argnames="factor")(x, 2.5), 2.5 * x)
    check(jax.vmap(lambda x: scaled(x, -1.0))(jnp.stack([x, 2 * x])), jnp.stack([-x, -2 * x]))
    check(jax.grad(lambda x: (scaled(x, 3.0) ** 2).sum())(x), 18 * x, 1e-5)
    if kind in ("dynamic", "specialized", "emulated"):
        check(scaled(x[:40], factor=2.0), 2 * x[:40])


def test_a_loaded_kernel(tmp_path: Path) -> None:
    path = torch_programs.compiled("emu:sm_80", 100).save(tmp_path / "scaled.smalti")
    scaled = smalti.jax.ffi_call(smalti.aot.load(path), outputs={"dst": "src"})
    check(scaled(random(100, 60), 2.0), 2 * random(100, 60))


def test_compiled_kernels_refuse_arrays_that_do_not_match() -> None:
    call = smalti.jax.ffi_call
    scaled = call(COMPILED["static"](), outputs={"dst": "src"})
    x = random(100, 60)
    with pytest.raises(smalti.LaunchError, match="the shape is 50x60; the kernel requires 100x60"):
        scaled(x[:50], 2.0)
    with pytest.raises(smalti.LaunchError, match="the element type is float16; the kernel requires float32"):
        scaled(x.astype(jnp.float16), 2.0)
    with pytest.raises(smalti.LaunchError, match=r"argument 2 .* the shape is 4; the kernel requires 100x60"):
        call(COMPILED["static"](), outputs={"dst": lambda: jax.ShapeDtypeStruct((4,), jnp.float32)})(x, 2.0)
    with pytest.raises(smalti.LaunchError, match="the kernel writes dst, which is an input of the operator"):
        call(COMPILED["static"](), input_output_aliases="src")(x, 2.0, x)
    with pytest.raises(smalti.LaunchError, match="platform cpu of JAX, but its target is sm_90a") as found:
        call(torch_programs.compiled("sm_90a"), outputs={"dst": "src"})(x, 2.0)
    assert "compile the kernel for the platform: smalti.compile(..., target='cpu')" in str(found.value)
    with pytest.raises(TypeError, match="outputs has z, but the parameters of the kernel are src, factor, dst"):
        call(COMPILED["static"](), outputs={"z": "src"})
    unnamed = smalti.compile(torch_programs.SCALED.replace("%src", "%0"), target="cpu")
    with pytest.raises(TypeError, match=r"argument 0 .* does not have a name; name it in the source, such as %x"):
        call(unnamed, outputs={"dst": "src"})


def test_launch_hooks_are_refused() -> None:
    """XLA launches kernels without Python, so that a hook would be missed."""

    @smalti.kernel
    def copied(x: sl.Array, y: sl.Array):
        y[0:4] = x[0:4]

    launches: list[Any] = []
    function = smalti.jax.ffi_call(copied, outputs={"y": "x"})
    x = random(4)
    assert (function(x) == x).all()
    for hooks in (copied.hooks, smalti.hooks):
        hooks.launch_exit.append(launches.append)
        try:
            for run in (function, lambda x: jax.jit(lambda x: function(x) + 1)(x)):
                with pytest.raises(smalti.LaunchError, match="copied has launch hooks, but a program of XLA") as found:
                    run(x)
            assert "remove the functions in launch_enter and launch_exit" in str(found.value)
        finally:
            hooks.launch_exit.clear()
        assert (function(x) == x).all() and not launches
    # Python runs an emulated kernel.
    emulated = copied.on("emu:sm_80")
    emulated.hooks.launch_exit.append(launches.append)
    assert (smalti.jax.ffi_call(emulated, outputs={"y": "x"})(x) == x).all()
    assert [launch.kernel.target.name for launch in launches] == ["emu:sm_80"]


def test_a_race_in_the_emulator() -> None:
    @smalti.kernel(grid=2, target="emu:sm_80", sanitize="thread")
    def same(x: sl.Array, y: sl.Array):
        y[0:4] = x[0:4] + sl.tile_id().to(sl.float32)

    with pytest.raises(Exception, match="race"):
        jax.block_until_ready(smalti.jax.ffi_call(same, outputs={"y": "x"})(jnp.zeros(4)))


def test_the_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run_python_blocks((ROOT / "docs" / "jax.md").read_text(), monkeypatch, capsys)
