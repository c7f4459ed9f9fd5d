# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators for torch, with torch: `tools/dev frameworks` runs these tests. The name of the file hides them from pytest,
since CI does not have torch; test_torch_stand_in.py has the tests of CI."""

from __future__ import annotations

import io
import re
import runpy
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import smalti
import test_tutorial
import torch
import torch_programs
from conftest import ROOT
from helpers import run_python_blocks

OPERATORS = torch_programs.operators()
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ for inductor")


@pytest.fixture(autouse=True)
def clean() -> None:
    torch.manual_seed(0)
    torch._dynamo.reset()


# --- Values and gradients ---


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_values_and_gradients(device: str, dtype: torch.dtype) -> None:
    x = torch.randn(9, 70, dtype=dtype, device=device, requires_grad=True)
    dy = torch.randn_like(x)
    y = OPERATORS.softmax(x)
    tolerance = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 1e-6)
    torch.testing.assert_close(y, x.softmax(1), rtol=tolerance, atol=tolerance)
    (dx,) = torch.autograd.grad(y, x, dy)
    (wanted,) = torch.autograd.grad(x.softmax(1), x, dy)
    torch.testing.assert_close(dx, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_and_changed_arguments(device: str) -> None:
    x = torch.randn(9, 70, device=device)
    low, high = OPERATORS.extrema(x)
    assert torch.equal(low, x.amin(1)) and torch.equal(high, x.amax(1))
    values = torch.randint(0, 9, (500,), device=device, dtype=torch.int32)
    assert torch.equal(OPERATORS.count(values, 9).long(), torch.bincount(values, minlength=9))
    v = torch.randn(100, device=device)
    wanted, version = v * -2, v._version
    assert OPERATORS.scale(v, 2.0, negate=True) is None
    assert torch.equal(v, wanted) and v._version == version + 1


def test_gradients_agree_with_differences() -> None:
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(OPERATORS.softmax, (x,))
    a, b = (torch.randn(6, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda a, b: OPERATORS.multiply_add(a, b, 0.5, block=4), (a, b))


def test_an_operator_without_a_gradient() -> None:
    x = torch.randn(4, 8, requires_grad=True)
    low, _ = OPERATORS.extrema(x)
    assert low.requires_grad
    with pytest.raises(RuntimeError, match=r"backward through smalti_test\.extrema.*no autograd formula"):
        low.sum().backward()
    with torch.no_grad():
        assert not OPERATORS.extrema(x)[0].requires_grad


@pytest.mark.parametrize("compiled", [False, True])
def test_outputs_without_a_gradient_are_not_differentiable(compiled: bool) -> None:
    operator = smalti.torch.custom_op(
        "smalti_test::low_only",
        torch_programs.extrema,
        outputs={name: lambda x: x.new_empty(x.shape[0]) for name in ("low", "high")},
        constants={"block": 128},
        backward=lambda grad_low, low, x: (x == low[:, None]) * grad_low[:, None],
    )
    x = torch.randn(9, 70, requires_grad=True)
    low, high = torch.compile(operator, backend="aot_eager")(x) if compiled else operator(x)
    assert low.requires_grad and not high.requires_grad
    (dx,) = torch.autograd.grad((low * high).sum(), x)
    torch.testing.assert_close(dx, (x == low[:, None]) * high[:, None])


# --- opcheck ---


def samples() -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    x = torch.randn(9, 70)
    return {
        "softmax": (OPERATORS.softmax, (x,), {}),
        "softmax, requires grad": (OPERATORS.softmax, (x.clone().requires_grad_(),), {}),
        "softmax, transposed": (OPERATORS.softmax, (x.T,), {}),
        "softmax, every second column": (OPERATORS.softmax, (x[:, ::2],), {}),
        "softmax, no rows": (OPERATORS.softmax, (x[:0],), {}),
        "softmax_backward": (OPERATORS.softmax_backward, (x.softmax(1), torch.randn(9, 70)), {}),
        "scale": (OPERATORS.scale, (torch.randn(100), 2.0), {"negate": True}),
        "extrema": (OPERATORS.extrema, (x,), {}),
        "lows": (OPERATORS.lows, (x, torch.zeros(9)), {}),
        "count": (OPERATORS.count, (torch.randint(0, 9, (500,), dtype=torch.int32), 9), {}),
        "multiply_add": (OPERATORS.multiply_add, (torch.randn(50, requires_grad=True), torch.randn(50), 0.5), {}),
        "multiply_add, keyword": (OPERATORS.multiply_add, (torch.randn(50), torch.randn(50), 0.5), {"block": 16}),
    }


@pytest.mark.parametrize("name", samples())
def test_opcheck(name: str) -> None:
    operator, arguments, named = samples()[name]
    assert set(torch.library.opcheck(operator, arguments, named).values()) == {"SUCCESS"}


# --- torch.compile, torch.export, functorch ---


def block(x: torch.Tensor) -> torch.Tensor:
    return OPERATORS.softmax(x * 2).sum(0) + 1


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=needs_compiler)])
def test_compile(backend: str, dynamic: bool) -> None:
    compiled = torch.compile(block, backend=backend, dynamic=dynamic, fullgraph=True)
    for rows in (9, 12):
        x = torch.randn(rows, 70, requires_grad=True)
        found, wanted = compiled(x), (x * 2).softmax(1).sum(0) + 1
        torch.testing.assert_close(found, wanted)
        w = torch.randn(70)
        torch.testing.assert_close(
            torch.autograd.grad(found, x, w), torch.autograd.grad(wanted, x, w), atol=1e-6, rtol=1e-4
        )


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=needs_compiler)])
def test_compile_with_changed_arguments(backend: str) -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        OPERATORS.scale(y, 3.0)
        OPERATORS.scale(x, 2.0)
        return y + x

    x = torch.randn(100)
    before = x.clone()
    y = torch.compile(run, backend=backend, fullgraph=True)(x)
    torch.testing.assert_close(x, 2 * before)
    torch.testing.assert_close(y, 3 * (before + 1) + 2 * before)


def test_a_kernel_in_a_compiled_function_is_called_between_two_graphs() -> None:
    def run(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        torch_programs.softmax(x, y, block=128)
        return y + 1

    x = torch.randn(9, 70)
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"`__call__` of class `PythonKernel`"):
        torch.compile(run, backend="eager", fullgraph=True)(x)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        # Torch warns if it traces the code of Smalti.
        warnings.simplefilter("error")
        torch.testing.assert_close(torch.compile(run, backend="eager")(x), x.softmax(1) + 1)


class Block(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return block(x)


def test_export() -> None:
    x = torch.randn(9, 70)
    program = torch.export.export(Block(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})
    assert "smalti_test.softmax.default" in str(program)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    for rows in (9, 20):
        x = torch.randn(rows, 70)
        torch.testing.assert_close(loaded(x), block(x))


def test_export_refuses_a_kernel_without_an_operator() -> None:
    class Direct(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            torch_programs.softmax(x, y, block=128)
            return y

    with pytest.raises(smalti.LaunchError, match=r"softmax: x: the tensor .* does not expose its memory"):
        torch.export.export(Direct(), (torch.randn(9, 70),))


def test_vmap() -> None:
    x = torch.randn(3, 9, 70)
    torch.testing.assert_close(torch.vmap(OPERATORS.softmax)(x), x.softmax(2))


def test_meta_tensors() -> None:
    y = OPERATORS.softmax(torch.empty(9, 70, device="meta"))
    assert y.shape == (9, 70) and y.device.type == "meta"


# --- Kinds of tensors ---


def test_kinds_that_work() -> None:
    x = torch.randn(9, 70)
    negative = torch.complex(x, -x).conj().imag
    assert negative.is_neg()
    transposed = torch.randn(70, 9).T
    for given in (x, x[:, ::3], x[::2], transposed, x[:0], x[:, :1], x.expand(9, 70), x[:1].expand(5, 70), negative):
        torch.testing.assert_close(OPERATORS.softmax(given), given.softmax(1))
    torch.testing.assert_close(OPERATORS.softmax(torch.nn.Parameter(x)), x.softmax(1))


class Named(torch.Tensor):
    """A subclass with memory of its own."""


class Wrapper(torch.Tensor):
    """A subclass that holds a tensor, and does not have memory."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapper:
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, kinds: Any, given: Any = (), named: Any = None) -> Any:
        return function(*(t.inner if isinstance(t, Wrapper) else t for t in given), **(named or {}))


def test_subclasses() -> None:
    x = torch.randn(9, 70)
    for given in (x.as_subclass(Named), Wrapper(x)):
        torch.testing.assert_close(OPERATORS.softmax(given).as_subclass(torch.Tensor), x.softmax(1))
    y = torch.empty(9, 70)
    torch_programs.softmax(x.as_subclass(Named), y, block=128)
    torch.testing.assert_close(y, x.softmax(1))


def test_kinds_that_are_refused() -> None:
    x = torch.randn(9, 70)
    with pytest.raises(smalti.LaunchError, match="the elements of x are not supported: 'complex64'"):
        OPERATORS.softmax(torch.complex(x, x).conj())
    with pytest.raises(smalti.LaunchError, match="along dimension 0 share one address"):
        OPERATORS.scale(torch.ones(1).expand(100), 2.0)
    with pytest.raises(smalti.LaunchError, match=r"layout torch\.sparse_coo does not expose its memory"):
        OPERATORS.softmax(x.to_sparse())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda x: x.to("meta"), "the Tensor of shape (9, 70) does not have memory"),
        (lambda x: Wrapper(x), "the Wrapper of shape (9, 70) does not have memory"),
        (lambda x: torch.complex(x, -x).conj().imag, "a lazily negated or conjugated view; pass tensor.clone()"),
        (lambda x: x.to_sparse(), "the tensor with the layout torch.sparse_coo does not expose its memory"),
        (lambda x: torch.nested.nested_tensor([x[0], x[1, :5]]), "does not expose its memory"),
    ],
    ids=["meta", "wrapper", "negated", "sparse", "nested"],
)
def test_a_kernel_refuses_tensors_without_memory(given: Any, message: str) -> None:
    x = torch.randn(9, 70)
    with pytest.raises(smalti.LaunchError, match=re.escape(message)):
        torch_programs.double.on("cpu")(given(x), torch.empty(9, 70))


# --- GPUs ---


@needs_gpu
def test_the_current_stream_is_used() -> None:
    x, stream = torch.randn(4096, 1000, device="cuda"), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        doubled = x * 2
        y = OPERATORS.softmax(doubled)
    stream.synchronize()
    torch.testing.assert_close(y, (x * 2).softmax(1))


@needs_gpu
def test_cuda_graphs() -> None:
    x = torch.randn(64, 70, device="cuda")
    OPERATORS.softmax(x)  # Compiles the kernel and loads its code.
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = OPERATORS.softmax(x)
    x.copy_(torch.randn_like(x))
    graph.replay()
    torch.testing.assert_close(y, x.softmax(1))


# --- The example and the page ---


def test_the_example() -> None:
    runpy.run_path(str(ROOT / "examples" / "python" / "mlp.py"))["main"]("torch")


def test_blocks_print_what_the_page_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    run_python_blocks((ROOT / "docs" / "torch.md").read_text(), monkeypatch, capsys)


def test_the_tutorial(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    test_tutorial.test_pages_run_and_print_what_they_show("first-kernel.md", monkeypatch, tmp_path)
