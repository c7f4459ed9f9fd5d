# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators for torch, with torch: `tools/dev frameworks` runs these tests. The name of the file hides them from pytest,
since CI does not have torch; test_torch_stand_in.py has the tests of CI."""

from __future__ import annotations

import copy
import io
import pickle
import re
import runpy
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
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


def test_second_derivatives() -> None:
    """The backward function is differentiated; it may consist of operators that have gradients."""
    a, b = (torch.randn(6, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradgradcheck(lambda a, b: OPERATORS.multiply_add(a, b, 0.5, block=4), (a, b))
    x = torch.randn(4, 8, requires_grad=True)
    (dx,) = torch.autograd.grad((OPERATORS.softmax(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(smalti.LaunchError, match="smalti_test::softmax_backward does not have a derivative"):
        dx.sum().backward()


def test_an_operator_without_a_gradient() -> None:
    x = torch.randn(4, 8, requires_grad=True)
    low, _ = OPERATORS.extrema(x)
    assert low.requires_grad
    with pytest.raises(smalti.LaunchError, match=r"extrema does not have a derivative\nhint: state its gradients"):
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


def test_changed_tensors_that_require_grad() -> None:
    """Torch would drop their derivatives."""
    x, v = torch.randn(9, 70), torch.ones(100)
    leaf = torch.ones(100, requires_grad=True)
    for given in (leaf, leaf * 1):
        with pytest.raises(
            smalti.LaunchError, match="scale changes x, and does not have a derivative, but x requires"
        ) as found:
            OPERATORS.scale(given, 2.0)
        assert "call the operator in torch.no_grad(), or pass x.detach()" in str(found.value)
        OPERATORS.scale(given.detach(), 2.0)
    with pytest.raises(smalti.LaunchError, match=r"lows changes high, .* but x requires grad"):
        OPERATORS.lows(x.requires_grad_(), torch.zeros(9))
    with torch.no_grad():
        OPERATORS.scale(leaf, 2.0)
    assert torch.equal(leaf, 4 * v)


def test_forward_mode() -> None:
    """Torch would return tangents of zeros."""
    x = torch.randn(9, 70)
    message = r"extrema does not have a forward-mode derivative\nhint: use a reverse-mode derivative"
    for derivative in (
        lambda f: torch.func.jvp(f, (x,), (x,)),
        lambda f: torch.func.jacfwd(f)(x),
        lambda f: torch.func.vmap(lambda t: torch.func.jvp(f, (x,), (t,))[1])(x[None]),
    ):
        with pytest.raises(smalti.LaunchError, match=message):
            derivative(OPERATORS.extrema)
        with pytest.raises(smalti.LaunchError, match="softmax does not have a forward-mode derivative"):
            derivative(OPERATORS.softmax)
    with pytest.raises(smalti.LaunchError, match="scale does not have a forward-mode derivative"):
        torch.func.jvp(lambda x: (OPERATORS.scale(x, 2.0), x)[1], (torch.ones(8),), (torch.ones(8),))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        for given in (dual, dual.clone().requires_grad_()):
            with pytest.raises(smalti.LaunchError, match=message):
                OPERATORS.extrema(given)
        torch.testing.assert_close(OPERATORS.softmax(x), x.softmax(1))
    # A tensor without a tangent is a constant.
    _, tangent = torch.func.jvp(lambda v: v * OPERATORS.softmax(x), (x,), (x,))
    torch.testing.assert_close(tangent, x * x.softmax(1))


def test_transformations_of_functions() -> None:
    """torch.func, with derivatives that use arguments (multiply_add) and outputs (softmax)."""
    func, x, batch = torch.func, torch.randn(3, 7), torch.randn(2, 3, 7)
    a, b = torch.randn(5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)

    def loss(softmax: Any) -> Any:
        return lambda x: (softmax(2 * x) ** 2).sum()

    found, wanted = loss(OPERATORS.softmax), loss(lambda x: x.softmax(1))
    cubes = lambda a: (OPERATORS.multiply_add(a, b, 0.5, block=4) ** 3).sum()  # noqa: E731
    plain = lambda a: ((a * b + 0.5) ** 3).sum()  # noqa: E731
    close = torch.testing.assert_close
    close(func.grad(found)(x), func.grad(wanted)(x))
    close(func.vmap(func.grad(found))(batch), func.vmap(func.grad(wanted))(batch))
    close(func.grad(lambda b: func.vmap(found)(b).sum())(batch), func.grad(lambda b: func.vmap(wanted)(b).sum())(batch))
    close(func.vjp(found, x)[1](torch.tensor(2.0))[0], 2 * func.grad(wanted)(x))
    close(func.jacrev(OPERATORS.softmax)(x), func.jacrev(lambda x: x.softmax(1))(x))
    close(func.jacrev(func.jacrev(cubes))(a), func.hessian(plain)(a))
    close(
        func.grad(lambda a: func.jacrev(func.grad(cubes))(a).sum())(a),
        func.grad(lambda a: func.jacrev(func.grad(plain))(a).sum())(a),
    )
    # The output that backward uses has the derivatives of the outer transformation.
    square = smalti.torch.custom_op(
        "smalti_test::square",
        torch_programs.square,
        outputs={"y": "x"},
        backward=lambda grad_y, x, y: 2 * grad_y * y / x,
    )
    close(func.grad(lambda x: func.grad(lambda x: square(x).sum())(x).sum())(a), torch.full_like(a, 2))
    with pytest.raises(smalti.LaunchError, match="square does not have a forward-mode derivative"):
        func.hessian(lambda x: square(x).sum())(a)
    compiled = torch.compile(lambda x: func.grad(found)(x), backend="aot_eager")
    close(compiled(x), func.grad(wanted)(x))


def test_modes() -> None:
    x = torch.randn(9, 70)
    with torch.inference_mode():
        y = OPERATORS.softmax(x)
        assert y.is_inference()
        torch.testing.assert_close(y, x.softmax(1))
        v = torch.ones(70)
        OPERATORS.scale(v, 2.0)
        assert torch.equal(v, torch.full((70,), 2.0))
    w = torch.randn(70, 70, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        # Autocast does not change the types of the operator.
        y = OPERATORS.softmax(x @ w)
        assert y.dtype == torch.bfloat16 and OPERATORS.softmax(x).dtype == torch.float32
    (dw,) = torch.autograd.grad(y.float()[:, 0].sum(), w)
    (wanted,) = torch.autograd.grad((x @ w).softmax(1)[:, 0].sum(), w)
    torch.testing.assert_close(dw, wanted, rtol=0.1, atol=0.05)
    with torch._subclasses.fake_tensor.FakeTensorMode():
        fake = torch.empty(9, 70, requires_grad=True)
        OPERATORS.softmax(fake).sum().backward()
        assert fake.grad is not None and fake.grad.shape == (9, 70)


def test_backward_passes_of_several_threads() -> None:
    def gradient(seed: int) -> bool:
        x = torch.randn(9 + seed % 3, 70, generator=torch.Generator().manual_seed(seed), requires_grad=True)
        w = torch.arange(70.0)
        (found,), (wanted,) = (
            torch.autograd.grad((f(x) * w).sum(), x) for f in (OPERATORS.softmax, lambda x: x.softmax(1))
        )
        return torch.allclose(found, wanted, rtol=1e-4, atol=1e-5)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(gradient, range(32)))


class Weighted(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.softmax = OPERATORS.softmax
        self.weight = torch.nn.Parameter(torch.randn(70))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.softmax(x * self.weight)


def test_copies_of_a_module_with_an_operator() -> None:
    module, x = Weighted(), torch.randn(9, 70)
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert copied.softmax is OPERATORS.softmax and copied.weight is not module.weight
        assert torch.equal(copied(x), module(x))


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
def test_compiled_kernels(target: str) -> None:
    scaled = smalti.torch.custom_op(
        "smalti_test::scaled",
        torch_programs.compiled(target, 100),
        outputs={"dst": "src"},
        backward=lambda grad_dst, factor: scaled(grad_dst, factor),
    )
    x = torch.randn(100, 60, requires_grad=True)
    y = torch.compile(scaled, backend="aot_eager", fullgraph=True)(x, 2.5)
    torch.testing.assert_close(y, 2.5 * x)
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], torch.full((100, 60), 2.5))
    with pytest.raises(smalti.LaunchError, match="the shape is 50x60; the kernel requires 100x60"):
        scaled(x[:50].detach(), 2.5)
    simulated = smalti.torch.custom_op(
        "smalti_test::simulated", torch_programs.compiled("sim:sm_80", 100), outputs={"dst": "src"}
    )
    with pytest.raises(smalti.LaunchError, match="pass a numpy array instead of Tensor"):
        simulated(x.detach(), 2.5)


def test_launch_hooks() -> None:
    names: list[str] = []
    torch_programs.softmax.hooks.launch_enter.append(lambda launch: names.append(launch.kernel.symbol))
    try:
        torch.compile(OPERATORS.softmax, backend="aot_eager")(torch.randn(9, 70))
    finally:
        torch_programs.softmax.hooks.launch_enter.clear()
    assert names == ["softmax"]


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
def test_compile_with_dynamic_sizes_and_numbers(backend: str) -> None:
    compiled = torch.compile(block, backend=backend, dynamic=True, fullgraph=True)
    for shape in ((9, 70), (4, 33), (1, 1), (1, 128), (0, 5)):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), (x * 2).softmax(1).sum(0) + 1)
    count = torch.compile(
        lambda values, bins: OPERATORS.count(values, bins) + 1, backend=backend, dynamic=True, fullgraph=True
    )
    for bins in (4, 5, 9):
        values = torch.randint(0, bins, (500 + bins,), dtype=torch.int32)
        assert torch.equal(count(values, bins).long(), torch.bincount(values, minlength=bins) + 1)


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
    sizes = {0: torch.export.Dim("rows"), 1: torch.export.Dim("columns")}
    program = torch.export.export(Block(), (x,), dynamic_shapes={"x": sizes})
    assert "smalti_test.softmax.default" in str(program)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    for shape in ((9, 70), (20, 70), (4, 33), (2, 200)):
        x = torch.randn(shape)
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
    x4, w = torch.randn(2, 3, 4, 50), torch.randn(50)
    torch.testing.assert_close(
        torch.vmap(torch.vmap(OPERATORS.softmax, 2, 1), 1, 2)(x4),
        torch.vmap(torch.vmap(lambda x: x.softmax(1), 2, 1), 1, 2)(x4),
    )
    rows = torch.vmap(lambda x, w: OPERATORS.multiply_add(x, w, 0.5), (0, None))
    torch.testing.assert_close(rows(x4[0, 0], w), x4[0, 0] * w + 0.5)
    with pytest.raises(RuntimeError, match="Batching rule not implemented for smalti_test::scale"):
        torch.vmap(lambda x: OPERATORS.scale(x, 2.0))(x4[0, 0])


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


def test_kinds_that_a_direct_call_takes() -> None:
    x = torch.randn(9, 70, requires_grad=True)
    plain = x.detach()
    for given in (x, torch.nn.Parameter(plain), plain[:, ::3], plain[::2], plain.T, plain[:0], plain[:1].expand(5, 70)):
        y = torch.empty(given.shape)
        torch_programs.softmax(given, y, block=128)
        assert not y.requires_grad
        torch.testing.assert_close(y, given.detach().softmax(1))
    # The output may have strides too.
    y = torch.zeros(70, 18).T[::2]
    torch_programs.softmax(plain, y, block=128)
    torch.testing.assert_close(y, plain.softmax(1))


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
    with pytest.raises(smalti.LaunchError, match="multiply_add: y is None, but must be a tensor"):
        OPERATORS.multiply_add(x[0], None, 0.5)
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
