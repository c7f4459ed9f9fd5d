# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with `interpret=True`: equal results, breakpoints, values of tiles, and errors with their lines."""

from __future__ import annotations

import importlib.util
import io
import linecache
import math
import pdb
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import python_kernels
import smalti
import smalti.language as sl
from smalti.language.translation import TileTranslation

ROOT = Path(__file__).resolve().parents[3]
BLOCK_LEVEL = "block_matmul"
"""The example that is not interpreted."""
EXAMPLES = sorted(path for path in (ROOT / "examples" / "python").glob("*.py") if path.stem != BLOCK_LEVEL)
X = np.arange(64, dtype=np.float32)


def test_there_are_twelve_examples() -> None:
    assert len(EXAMPLES) == 12


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_give_their_results(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    on = sl.PythonKernel.on

    def interpreted(kernel: sl.PythonKernel, target: Any = None, **options: Any) -> sl.PythonKernel:
        runs.append(kernel.__name__)
        return on(kernel, target, interpret=True, **options)

    monkeypatch.setattr(sl.PythonKernel, "on", interpreted)
    # The test fails if a kernel is compiled.
    monkeypatch.setattr(TileTranslation, "translate", None)
    spec = importlib.util.spec_from_file_location(f"interpreted_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    module.main()
    assert runs


OFFSET = 3


def shifted(t, by=OFFSET):
    return t + by


@smalti.kernel(grid=2, target="cpu")
def statements(x: sl.Array, n: sl.int32, flags: sl.Array, out: sl.Array, negate: smalti.constexpr = False):
    """Statements whose meaning in a kernel is not that of Python."""
    tile = sl.tile_id()
    t = x[8 * tile : 8 * tile + 8]
    assert t >= 0, "negative"
    inside = 1 <= t < 6
    total = sl.zeros(8)
    for k in range(3):
        total += sl.where(inside, t, 0) * k / 2
    i = n
    while i > 0 and not i == 2:  # noqa: SIM201
        i = i - 1
    total = shifted(total) if max(i, 1) == 2 else -total
    parts = [total[j] for j in range(2)]
    if negate:
        total = -total
    elif total.sum() > 100:
        total = total * 2
    out[8 * tile : 8 * tile + 8] = total + parts[0] + float(n) + sl.reduce(t, 0, lambda a, b: a * b + a + b, 0.0)
    flags[tile] = flags[tile] + sl.num_tiles()


@pytest.mark.parametrize("options", [{}, {"negate": True}], ids=str)
@pytest.mark.parametrize("n", [1, 5])
def test_statements_mean_the_same(n: int, options: dict[str, Any]) -> None:
    results = []
    for kernel in (statements, statements.on(interpret=True)):
        flags, out = np.array([200, 250], np.uint8), np.zeros(16, np.float32)
        kernel(X / 16, n, flags, out, **options)
        results.append((flags, out))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-5)


def test_other_kernels_and_closures() -> None:
    factor = 2

    def helper(t):
        return t * factor

    @smalti.kernel(interpret=True, grid=lambda x: sl.cdiv(x.shape[0], 32))
    def enclosed(x: sl.Array, out: sl.Array):
        i = sl.tile_id() * 32
        out[i : i + 32] = python_kernels.gelu(helper(x[i : i + 32]))

    out = np.zeros(40, np.float32)
    enclosed(X[:40] / 40, out)
    expected = [v * (1 + math.erf(2 * v * math.sqrt(0.5))) for v in X[:40].astype(float) / 40]
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    state = np.zeros(4, np.float32)
    python_kernels.logsumexp.on(interpret=True)(X.reshape(4, 16), state)
    np.testing.assert_allclose(state, np.log(np.exp(X.reshape(4, 16).astype(float)).sum(1)), rtol=1e-6)


def _factorial(n):
    return 1 if n <= 1 else n * _factorial(n - 1)


def test_recursion_is_that_of_python() -> None:
    @smalti.kernel(interpret=True)
    def factorials(o):
        o[0] = _factorial(4)

    o = np.zeros(1, np.int64)
    factorials(o)
    assert o[0] == 24


def test_packed_elements_and_strides() -> None:
    @smalti.kernel(interpret=True)
    def nibbles(a: sl.Array[sl.int4], out: sl.Array[sl.int4], wide: sl.Array):
        out[0:2, 0:4] = -a[0:2, 0:4]
        wide[0:2, 0:4] = a[0:2, 0:4].to(sl.int32)

    packed = np.array([[0x21, 0xF7], [0x08, 0x43]], np.uint8)
    out, wide = np.zeros((2, 2), np.uint8), np.zeros((4, 2), np.int32).T
    nibbles(packed, out, wide)
    np.testing.assert_array_equal(wide, [[1, 2, 7, -1], [-8, 0, 3, 4]])
    np.testing.assert_array_equal(out, [[0xEF, 0x19], [0x08, 0xCD]])


@smalti.kernel(grid=2, interpret=True)
def stopped(x: sl.Array, out: sl.Array):
    i = sl.tile_id() * 4
    t = x[i : i + 4]
    breakpoint()
    doubled = 2 * t
    out[i : i + 4] = doubled


def debugger(commands: list[str], monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Breakpoints run these commands of pdb."""
    output, given = io.StringIO(), io.StringIO("\n".join(commands) + "\n")

    def stop() -> None:
        pdb.Pdb(stdin=given, stdout=output, nosigint=True, readrc=False).set_trace(sys._getframe(1))

    monkeypatch.setattr(sys, "breakpointhook", stop)
    return output


def test_a_breakpoint_stops_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = ["p t", "n", "p doubled.numpy().sum()", "n", "p out", "c", "p i", "c"]
    output = debugger(commands, monkeypatch)
    out = np.zeros(8, np.float32)
    stopped(X, out)
    np.testing.assert_array_equal(out, 2 * X[:8])
    text = output.getvalue()
    first = stopped.__smalti_function__.__code__.co_firstlineno
    assert f"{__file__}({first + 5})stopped()" in text and "-> doubled = 2 * t" in text
    assert "float32 tile of shape 4\n[0. 1. 2. 3.]" in text
    assert "12.0" in text and "array out (memref<?xf32>)\n[0. 2. 4. 6. 0. 0. 0. 0.]" in text
    assert "4 (index scalar)" in text


def test_print_and_conversions(capsys: pytest.CaptureFixture[str]) -> None:
    @smalti.kernel(interpret=True)
    def printed(x: sl.Array, n, out: sl.Array):
        t = x[0:2].to(sl.float16)
        print("tile", t, f"{n}", n + 1)
        sl.print("elements", t)
        print(np.asarray(t).dtype, int(n), float(n), [10, 20, 30][n], x.shape[0], t.dtype)
        out[0:2] = t

    out = np.zeros(2, np.float32)
    printed(X, 2, out)
    assert capsys.readouterr().out.splitlines() == [
        "tile float16 tile of shape 2",
        "[0. 1.] 2 (index scalar) 3 (index scalar)",
        "tile 0: elements [0] = 0",
        "tile 0: elements [1] = 1",
        "float16 2 (int32 scalar) 2.0 (float32 scalar) 30 64 (index scalar) float16",
    ]


def test_a_compiled_kernel_refuses_breakpoints() -> None:
    with pytest.raises(smalti.CompileError, match=r"cannot stop at a breakpoint[\s\S]*use kernel.on\(interpret=True\)"):
        stopped.on("cpu", interpret=False)(X, np.zeros(8, np.float32))


def part(t, n):
    return t[:n] + t  # inner


def element(x, i):
    return x[i]  # inner


def small(t):
    assert t < 3, "too large"  # inner


def wrong_shapes(x, out):
    out[0:4] = part(x[0:4], 3)  # outer


def outside(x, out):
    out[0] = element(x, sl.tile_id() + 64)  # outer


def condition(x, out):
    small(x[0:4])  # outer
    out[0] = 1


def ambiguous(x, out):
    if x[0:4] > 1:  # inner
        out[0] = 1


def invalid(x, out):
    t = x[0:4].to(sl.float4_e2m1fn)
    out[0:4] = sl.dot(t[None, :], t[:, None])[0]  # inner


@pytest.mark.parametrize(
    ("function", "kind", "phrase"),
    [
        (wrong_shapes, smalti.CompileError, r"shapes \(3,\) and \(4,\) do not match"),
        (outside, smalti.LaunchError, "out of bounds|outside"),
        (condition, smalti.LaunchError, "the assertion fails for element \\[3\\]: too large"),
        (ambiguous, smalti.CompileError, "is used as a scalar or a condition"),
        (invalid, smalti.CompileError, "elements of lhs and rhs must be"),
    ],
)
def test_errors_have_the_line(function: Callable[..., Any], kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind, match=phrase) as caught:
        smalti.kernel(interpret=True)(function)(X, np.zeros(64, np.float32))
    assert isinstance(caught.value, smalti.SmaltiError)
    place = caught.value.location
    assert place is not None and place.file == __file__
    assert linecache.getline(__file__, place.line).endswith("# inner\n")
    if place.python:
        (caller,) = place.python
        assert linecache.getline(__file__, caller.line).endswith("# outer\n")
        assert f"note: called by {function.__name__}" in str(caught.value)


def test_errors_of_python_are_not_changed() -> None:
    def failing(x, out):
        raise KeyError("of the user")

    with pytest.raises(KeyError, match="of the user") as caught:
        smalti.kernel(interpret=True)(failing)(X, X.copy())
    assert caught.traceback[-1].name == "failing" and str(caught.traceback[-1].path) == __file__


def test_arrays_before_an_error_are_written() -> None:
    @smalti.kernel(interpret=True, grid=2)
    def half(x, out):
        i = sl.tile_id()
        out[i] = x[i] + 1
        sl.check(i < 1)

    out = np.zeros(2, np.float32)
    with pytest.raises(smalti.LaunchError, match="tile 1: the assertion fails"):
        half(X, out)
    np.testing.assert_array_equal(out, [1, 2])


def test_read_only_arrays() -> None:
    out = np.zeros(8, np.float32)
    out.flags.writeable = False
    monkey = smalti.kernel(interpret=True)(outside_of_python)
    with pytest.raises(smalti.LaunchError, match="read-only"):
        monkey(X, out)


def outside_of_python(x, out):
    out[0:4] = x[4:8]


@smalti.kernel(interpret=True)
def quotient(x, n, o):
    o[0] = 7 // n


@smalti.kernel(interpret=True)
def remainder(x, n, o):
    o[0:4] = 7 % x[0:4]


@smalti.kernel(interpret=True)
def branch_of_quotient(x, n, o):
    if 7 // n > 3:
        o[0] = 1


@smalti.kernel(interpret=True)
def index_of_quotient(x, n, o):
    o[0] = x[7 // n]


@smalti.kernel(interpret=True)
def guarded_quotient(x, n, o):
    t = x[0:4]
    o[0:4] = sl.where(t != 0, 7 // t, n)


@pytest.mark.parametrize("kernel", [quotient, remainder, branch_of_quotient, index_of_quotient])
def test_undefined_divisions_are_errors(kernel: smalti.PythonKernel) -> None:
    with pytest.raises(smalti.LaunchError, match="an integer is divided by 0") as caught:
        kernel(np.array([1, 2, 0, 3]), 0, np.zeros(4, np.int64))
    assert caught.value.location.line == kernel.__wrapped__.__code__.co_firstlineno + 2
    o = np.full(4, -1)
    kernel(np.array([1, 2, 4, 3]), 7, o)
    assert o[0] == {"quotient": 1, "remainder": 0, "index_of_quotient": 2}.get(kernel.__name__, -1)


def test_a_select_drops_an_undefined_division() -> None:
    o = np.zeros(4, np.int64)
    guarded_quotient(np.array([1, 2, 0, 3]), 9, o)
    assert list(o) == [7, 3, 9, 2]
