# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators for torch, with a stand-in for torch. `tools/dev frameworks` runs the tests with torch (torch_cases.py)."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl
import torch_programs
import torch_stand_in
from smalti import targets
from smalti.launch import devices, placement
from stub_driver import Stub
from torch_programs import double
from torch_stand_in import Cuda, Tensor

op = smalti.torch.custom_op


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in torch_stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def operators(torch: None) -> SimpleNamespace:
    return torch_programs.operators()


def random(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape, np.float32))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("softmax", "(Tensor x) -> Tensor"),
        ("scale", "(Tensor(a!) x, float factor, *, bool negate=False) -> ()"),
        ("extrema", "(Tensor x) -> (Tensor, Tensor)"),
        ("lows", "(Tensor x, Tensor(a!) high) -> Tensor"),
        ("count", "(Tensor x, SymInt bins) -> Tensor"),
        ("multiply_add", "(Tensor x, Tensor y, float bias, *, int block=32) -> Tensor"),
    ],
)
def test_schemas(operators: SimpleNamespace, name: str, schema: str) -> None:
    operator = getattr(operators, name)
    assert (operator.name, operator.schema) == (f"smalti_test::{name}", schema)
    assert operator.mutates_args == {"scale": ["x"], "lows": ["high"]}.get(name, [])


def test_outputs(operators: SimpleNamespace) -> None:
    x = random(5, 70)
    np.testing.assert_allclose(operators.softmax(x).array, softmax(x.array), rtol=1e-5)
    low, high = operators.extrema(x)
    assert (low.array == x.array.min(1)).all() and (high.array == x.array.max(1)).all()
    values = Tensor(np.random.default_rng(1).integers(0, 9, 500, dtype=np.int32))
    assert (operators.count(values, 9).array == np.bincount(values.array, minlength=9)).all()


def test_changed_arguments_and_keywords(operators: SimpleNamespace) -> None:
    x = random(100)
    before = x.array.copy()
    assert operators.scale(x, 2.0) is None
    assert (x.array == 2 * before).all()
    # Torch drops arguments that equal their default.
    operators.scale(x, 0.5, negate=True)
    assert (x.array == -before).all()


def test_the_description_is_that_of_the_kernel(operators: SimpleNamespace) -> None:
    assert operators.scale.__doc__ == "Multiplies a vector by a number."


def test_a_target_of_the_kernel() -> None:
    """A kernel for an emulated GPU takes tensors on the CPU."""
    x = random(100)
    before = x.array.copy()
    op("test::emulated", torch_programs.scale.on("emu:sm_80"), mutates_args="x")(x, 2.0)
    assert (x.array == 2 * before).all()


def test_an_interpreted_kernel() -> None:
    x = random(100)
    before = x.array.copy()
    op("test::interpreted", torch_programs.scale.on(interpret=True), mutates_args="x")(x, 2.0)
    assert (x.array == 2 * before).all()
    # Python executes the body.
    seen: list[int] = []

    @smalti.kernel(interpret=True)
    def noted(x: sl.Array, y: sl.Array):
        seen.append(1)
        y[0:4] = x[0:4]

    assert (op("test::noted", noted, outputs={"y": "x"})(random(4)).array == random(4).array).all() and seen == [1]


@pytest.mark.parametrize("kind", ["compiled", "specialized", "emulated"])
def test_compiled_kernels(kind: str) -> None:
    kernel = {
        "compiled": lambda: torch_programs.compiled("cpu", 100),
        "specialized": lambda: smalti.specialize(torch_programs.SCALED, target="cpu"),
        "emulated": lambda: torch_programs.compiled("emu:sm_80"),
    }[kind]()
    scaled = op("test::scaled", kernel, outputs={"dst": "src"})
    assert scaled.schema == "(Tensor src, float factor) -> Tensor"
    x = random(100, 60)
    assert (scaled(x, 2.5).array == np.float32(2.5) * x.array).all()
    with pytest.raises(smalti.LaunchError, match="writes dst, which is an input of the operator"):
        op("test::unstated", kernel, mutates_args="src")(x, 2.5, random(100, 60))


def test_launch_hooks(operators: SimpleNamespace) -> None:
    events: list[str] = []
    for hooks, name in ((torch_programs.softmax.hooks, "own"), (smalti.hooks, "all")):
        hooks.launch_enter.append(lambda launch, name=name: events.append(f"{name} {launch.kernel.symbol}"))
        hooks.launch_exit.append(lambda launch, name=name: events.append(f"{name} {len(launch.arguments)}"))
    try:
        operators.softmax(random(5, 70))
    finally:
        for hooks in (torch_programs.softmax.hooks, smalti.hooks):
            hooks.launch_enter.clear()
            hooks.launch_exit.clear()
    assert events == ["all softmax", "own softmax", "own 3", "all 3"]
    operators.softmax(random(5, 70))
    assert len(events) == 4


def test_copies(operators: SimpleNamespace) -> None:
    """An operator is copied as a function is, also in a module of torch."""
    assert copy.deepcopy([operators.softmax])[0] is operators.softmax
    assert pickle.loads(pickle.dumps(operators.softmax)) is operators.softmax
    data = pickle.dumps(operators.softmax).replace(b"smalti_test::softmax", b"smalti_test::another")
    with pytest.raises(smalti.LaunchError, match="smalti_test::another is not defined; import the module"):
        pickle.loads(data)


def test_the_fake_function_does_not_use_memory(operators: SimpleNamespace) -> None:
    x = Tensor(np.zeros((5, 70), np.float16), "meta")
    y = operators.softmax.fake(x)
    assert (y.shape, y.dtype, y.device.type) == ((5, 70), "torch.float16", "meta")
    assert [t.shape for t in operators.extrema.fake(x)] == [(5,), (5,)]
    assert operators.scale.fake(x, 2.0) is None
    assert operators.count.fake(x, 9).shape == (9,)
    with pytest.raises(
        smalti.LaunchError, match="does not have memory; pass an allocated tensor, or call the operator"
    ):
        torch_programs.softmax.on("cpu")(x, y, block=128)


def test_gradients(operators: SimpleNamespace) -> None:
    x, dy = random(5, 70), random(5, 70, seed=1)
    (dx,) = operators.softmax.gradients([x], [dy])
    p = softmax(x.array)
    np.testing.assert_allclose(dx.array, p * (dy.array - (p * dy.array).sum(1, keepdims=True)), atol=1e-6)
    a, b, g = random(50), random(50, seed=1), random(50, seed=2)
    da, db, dbias = operators.multiply_add.gradients([a, b, 0.5], [g], block=16)
    assert (da.array == g.array * b.array).all() and (db.array == g.array * a.array).all() and dbias is None


def test_outputs_without_a_gradient_are_not_differentiable() -> None:
    operator = op(
        "test::low_only",
        torch_programs.extrema,
        outputs={name: lambda x: x.new_empty(x.shape[0]) for name in ("low", "high")},
        constants={"block": 128},
        backward=lambda grad_low, x: x,
    )
    (high,) = operator.context([random(5, 70)]).not_differentiable
    assert (high.array == random(5, 70).array.max(1)).all()


def test_wrong_gradients() -> None:
    def gradients(backward: Any) -> Any:
        operator = op("test::wrong", torch_programs.multiply_add, outputs={"out": "x"}, backward=backward)
        return operator.gradients([random(8), random(8), 0.0], [random(8)])

    with pytest.raises(smalti.LaunchError, match="returned 1 gradients; it must return 2, for x, y, or a dictionary"):
        gradients(lambda grad_out: grad_out)
    with pytest.raises(smalti.LaunchError, match="returned a gradient of bias; the tensors are x, y"):
        gradients(lambda grad_out: {"bias": grad_out})


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        ("scale", {}, "does not have a result; state the parameters that the kernel writes"),
        ("scale", {"outputs": {"z": "x"}}, "outputs has z, but the parameters of the kernel are x, factor, negate"),
        ("scale", {"outputs": {"negate": "x"}}, "outputs has negate, but this parameter is a constant"),
        ("scale", {"mutates_args": "x", "constants": {"factor": 2}}, "factor, but this parameter is not a constant"),
        ("scale", {"mutates_args": "factor"}, "mutates_args has factor, which is a number of the kernel"),
        ("scale", {"mutates_args": "x", "backward": lambda x: x}, "cannot have a backward function"),
        ("accumulate", {"outputs": {"out": "x"}, "mutates_args": ["out"]}, "is in outputs and in mutates_args"),
        (
            "accumulate",
            {"outputs": {"out": "y"}},
            "takes shape and type of the output from 'y', which is not one of the tensors: x",
        ),
        ("accumulate", {"outputs": {"out": 3}}, "the output out is 3; a function such as"),
        (
            "accumulate",
            {"outputs": {"out": lambda z: z}},
            "the output out has the parameter z, which is not a value of the kernel",
        ),
        (
            "accumulate",
            {"outputs": {"out": "x"}, "backward": lambda grad: grad},
            "its parameters must be among grad_out, x, out",
        ),
        ("softmax", {"outputs": {"y": "x"}}, "the constant block does not have a value; state one"),
    ],
)
def test_wrong_definitions(kernel: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        op("test::wrong", getattr(torch_programs, kernel), **options)


@pytest.mark.parametrize("name", ["conv1d", "::conv1d", "a::b::c"])
def test_a_name_needs_a_namespace(name: str) -> None:
    with pytest.raises(TypeError, match=f"is '{name}'; a namespace and a name are required, such as 'mylib::softmax'"):
        op(name, torch_programs.softmax, outputs={"y": "x"})


def test_only_kernels_become_operators() -> None:
    with pytest.raises(TypeError, match=r"is not a kernel; decorate the function with @smalti\.kernel"):
        op("test::wrong", softmax, outputs={"y": "x"})  # type: ignore[call-overload]


def test_accesses_that_torch_would_not_know() -> None:
    """Torch reorders operators by what the schema states, so the kernel must not do anything else."""
    x = random(8)
    reads = op("test::reads", torch_programs.accumulate_multiplied, outputs={"sums": "c"})
    with pytest.raises(
        smalti.LaunchError, match="reads the output sums, but its elements are not initialized"
    ) as caught:
        reads(x, x)
    assert "outputs={'sums': lambda c: torch.zeros_like(c)}" in str(caught.value)
    with pytest.raises(smalti.LaunchError, match="reads the output out, but its elements are not initialized"):
        op("test::empty", torch_programs.accumulate, outputs={"out": lambda x: x.new_empty(x.shape[0])})(x)

    def initialized(x: Tensor) -> Tensor:
        out = x.new_empty(*x.shape)
        out.array[:] = 0
        return out

    # A function with other statements may initialize its result.
    sums = op("test::filled", torch_programs.accumulate, outputs={"out": initialized})
    assert (sums(x).array[:4] == x.array[:4]).all()
    sums = op("test::sums", torch_programs.accumulate, outputs={"out": lambda x: x.new_zeros(8)})
    assert (sums(x).array[:4] == x.array[:4]).all()
    writes = op(
        "test::writes", torch_programs.extrema, outputs={"low": lambda x: x.new_empty(2)}, constants={"block": 4}
    )
    with pytest.raises(smalti.LaunchError, match="writes high, which is an input of the operator") as caught:
        writes(random(2, 4), random(2))
    assert "mutates_args=['high']" in str(caught.value)


def test_an_output_must_be_a_tensor() -> None:
    wrong = op("test::wrong", torch_programs.accumulate, outputs={"out": lambda x: x.array})
    with pytest.raises(
        smalti.LaunchError, match="the function of the output out returned ndarray; a tensor is required"
    ):
        wrong(random(8))


# --- Launches on a GPU ---


@pytest.fixture
def driver(stub_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    stub = Stub(stub_library)
    stub.set(devices=2, major=8, minor=0)
    monkeypatch.setattr(devices, "cuda_library", lambda: stub.library)
    cuda = Cuda(lambda index: stub.set(current=100 + index))
    monkeypatch.setattr(sys.modules["torch"], "cuda", cuda)
    yield stub
    stub.library.stub_reset()


@pytest.mark.parametrize("index", [0, 1])
def test_the_gpu_and_stream_are_those_of_torch(driver: Stub, index: int) -> None:
    driver.takes(8, 8, 8, 8)
    x, y = (Tensor(np.zeros(64, np.float32), "cuda", index, pointer) for pointer in (0x10000, 0x20000))
    double(x, y)
    double(x, y, stream=5)
    assert double.bind((x, y), {})[0].target.name == "sm_80"
    assert [(launch.stream, launch.numbers[0]) for launch in driver.launches] == [(70 + index, 0x10000), (5, 0x10000)]
    # Both calls were on the GPU of the tensors, which is the current one only during the call.
    assert len(driver.named("load")) == 1


@pytest.mark.parametrize(
    ("memory", "target"),
    [
        (("cuda", 1), "sm_90a"),
        (("cuda", None), "sm_80"),
        (("hip", 0), "gfx942"),
        (("cpu", None), "cpu"),
        (None, "sm_80"),
    ],
)
def test_targets_of_memory(monkeypatch: pytest.MonkeyPatch, memory: placement.Memory | None, target: str) -> None:
    chips = (("nvidia", 0, "sm_80"), ("nvidia", 1, "sm_90a"), ("amd", 0, "gfx942"))
    found = [devices.Gpu(vendor, index, chip, chip, targets.get(chip)) for vendor, index, chip in chips]
    monkeypatch.setattr(devices, "gpus", lambda: found)
    assert placement.target_for(memory).name == target


def test_the_memory_of_the_arrays_selects_the_target(driver: Stub) -> None:
    """Without a target, numpy arrays are computed on the CPU, also on a machine with a GPU."""
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    double(x, y)
    assert (y == 2).all() and not driver.launches
