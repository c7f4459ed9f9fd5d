# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The native choice of a kernel for a call against the choice in Python."""

from __future__ import annotations

import builtins
import enum
import gc
import inspect
import itertools
import random
import sys
import types
import weakref
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl
from smalti import front_end, targets
from smalti.calling import arrays, grid_programs
from smalti.compiler import entry
from smalti.language.kernel import PythonKernel
from smalti.launch.compiled import Resources
from smalti.launch.kernels import Kernel
from smalti.specialization import SpecializedKernel
from stub_driver import Stub
from test_launch_gpu import driver  # noqa: F401 (fixtures)
from test_native_launches import (
    Interface,
    exchange_tensor,
    outcome,
    sizes_of,
    torch_stand_in,  # noqa: F401 (fixture)
)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kernels without code, which have the name of their module; the names of the compiled ones."""
    names: list[str] = []

    def compile(module: Any, target: Any, **options: Any) -> Kernel:
        kernel = Kernel(targets.get("sm_90a"), entry.describe(entry.find_entry(module)), {})
        kernel.binary, kernel.binary_format = b"\x7fELF", "cubin"
        sizes = "_".join(map(str, sizes_of(kernel.arguments)))
        kernel.symbol = f"k{zlib.crc32(f'{module}{options}'.encode()):x}__{sizes}"
        kernel.resources = Resources(tiles=None, block=(128, 1, 1), grid=None)
        names.append(kernel.symbol)
        return kernel

    monkeypatch.setattr(front_end, "compile", compile)
    return names


class Mode(enum.Enum):
    ADD = 1
    SUBTRACT = 2


FACTOR: Any = 2
OPTIONS: Any = {"bias": 1}
MODULE = types.ModuleType("constants")
MODULE.number = 3  # pyright: ignore[reportAttributeAccessIssue]


@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block), target="sm_90a")
def combine(
    x,
    n,
    y,
    scale: sl.float32 = 1.0,
    count: sl.index = 7,
    block: smalti.constexpr = 16,
    mode: smalti.constexpr = Mode.ADD,
):
    i = sl.tile_id() * block
    tile = x[i : i + block] * FACTOR + OPTIONS["bias"] + MODULE.number
    y[i : i + block] = tile + n if mode is Mode.ADD else tile - count * scale


class Tensor:
    """An array with a shape, which the grid reads."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.__cuda_array_interface__ = Interface(*arguments, **named).__cuda_array_interface__
        self.shape = self.__cuda_array_interface__["shape"]


def without_dispatcher(kernel: PythonKernel) -> PythonKernel:
    other = kernel.on()
    other.native = None
    return other


def random_call(rng: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    size = rng.choice((0, 1, 5, 16, 48, 1 << 29))
    step = rng.choice((1, 1, 1, 2, 16, 0, -1))
    address = 1 << 40
    x = Tensor(address, (size,), (step,), rng.choice(("<f4", "<f4", "<f2")))
    y = Tensor(1 << 50, (size,), None, "<f4", rng.random() < 0.1)
    n = rng.choice((0, 1, 2, 16, 17, -1, -16, True, 0.5, np.int64(1), np.int64(4), np.float32(1), 1 << 70, "text"))
    named: dict[str, Any] = {}
    if rng.random() < 0.3:
        named["scale"] = rng.choice((1, 16, 2.5, True, np.float32(1.5)))
    if rng.random() < 0.3:
        named["count"] = rng.choice((1, 16, 5, 1.0, 16.0, True, np.int32(1)))
    if rng.random() < 0.4:
        named["block"] = rng.choice((16, 32, "text", [16]))
    if rng.random() < 0.4:
        named["mode"] = rng.choice((Mode.SUBTRACT, Mode.ADD, None))
    if rng.random() < 0.1:
        named["wrong"] = 1
    return rng.choice(
        (((x, n, y), named), ((x, n), {"y": y, **named}), ((x,), {"n": n, "y": y, **named}), ((x, n), named))
    )


def outcome_of(driver: Stub, kernel: Callable[..., Any], given: Any, named: Any) -> Any:  # noqa: F811
    try:
        return outcome(driver, lambda: kernel(*given, **named))
    except Exception as error:
        # The grid of a wrong argument, or an operation that the kernel does not have.
        return driver.named("launch"), f"{type(error)} {error}"


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", range(4))
def test_the_choice_for_python_kernels(driver: Stub, compiled: list[str], seed: int) -> None:  # noqa: F811
    rng = random.Random(seed)
    ours, theirs = combine.on(), without_dispatcher(combine)
    driver.set(current=100)
    native = 0
    for _ in range(300):
        given, named = random_call(rng)
        wanted = outcome_of(driver, theirs, given, named)
        assert outcome_of(driver, ours, given, named) == wanted, (given, named)
        # The second call has a known key.
        assert outcome_of(driver, ours, given, named) == wanted, (given, named)
        assert ours.native is not None
        native += wanted[1] is None and ours.native(given, named, None)
    assert native > 40


def test_captured_values(driver: Stub, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    # Kernels with equal options share what they compiled.
    kernel = combine.on(num_warps=2)
    given = (Tensor(1 << 40, (48,)), 5, Tensor(1 << 50, (48,)))

    def is_native() -> bool:
        assert kernel.native is not None
        return kernel.native(given, None, None)

    kernel(*given)
    assert is_native()
    changes: list[Callable[[], None]] = [
        lambda: monkeypatch.setitem(globals(), "FACTOR", 5),
        lambda: monkeypatch.setitem(OPTIONS, "bias", 7),
        lambda: monkeypatch.setattr(MODULE, "number", 9),
        lambda: monkeypatch.setitem(globals(), "FACTOR", 2.5),
    ]
    for count, change in enumerate(changes, 2):
        change()
        assert not is_native()
        kernel(*given)
        assert is_native() and len(compiled) == count
    # An equal object does not change the kernel.
    monkeypatch.setitem(globals(), "FACTOR", float("2.5"))
    assert not is_native()
    kernel(*given)
    assert is_native() and len(compiled) == len(changes) + 1
    launches = driver.launches
    assert len({launch.name for launch in launches}) == len(compiled)


def doubled(tile: Any, factor: Any = 2) -> Any:
    return tile * factor


def tripled(tile: Any, factor: Any = 3) -> Any:
    return tile * factor


def kernel_in_function() -> tuple[Any, Callable[[Any], None]]:
    """A kernel with a helper, a builtin and a value of its enclosing function, and a function that sets this value."""
    offset = 1

    def set_offset(value: Any) -> None:
        nonlocal offset
        offset = value

    @smalti.kernel(target="sm_90a")
    def steps(x, y):
        tile = x[0:16]
        for _ in range(3):
            tile = doubled(tile) + offset * new_builtin()  # pyright: ignore[reportUndefinedVariable]  # noqa: F821
        y[0:16] = tile * FACTOR

    return steps, set_offset


def test_changes_that_a_launch_without_python_code_notices(
    driver: Stub,  # noqa: F811
    compiled: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(builtins, "new_builtin", lambda: 1, raising=False)
    code = doubled.__code__
    kernel, set_offset = kernel_in_function()
    given = (Tensor(1 << 40, (16,)), Tensor(1 << 50, (16,)))

    def is_native() -> bool:
        calls: list[str] = []

        def record(frame: types.FrameType, event: str, _: Any) -> None:
            if event == "call":
                calls.append(frame.f_code.co_qualname)

        sys.setprofile(record)
        try:
            is_launched = kernel.native(given, None, None)
        finally:
            sys.setprofile(None)
        assert not calls
        return is_launched

    kernel(*given)
    assert is_native()
    changes: list[Callable[[], None]] = [
        lambda: monkeypatch.setitem(globals(), "FACTOR", 5),
        lambda: monkeypatch.setitem(globals(), "range", lambda n: builtins.range(n + 1)),
        lambda: monkeypatch.delitem(globals(), "range"),
        lambda: monkeypatch.setattr(builtins, "new_builtin", lambda: 2),
        lambda: set_offset(2),
        lambda: monkeypatch.setitem(globals(), "doubled", tripled),
        lambda: monkeypatch.setattr(tripled, "__defaults__", (7,)),
        lambda: monkeypatch.setattr(tripled, "__code__", code),
    ]
    for index, change in enumerate(changes):
        change()
        assert not is_native(), index
        kernel(*given)
        assert is_native(), index
    # The last change does not change the module: the code of both functions is equal.
    assert len(set(compiled)) == len(changes) - 1


@smalti.kernel(target="sm_90a")
def filled(y, value: smalti.constexpr = 0.0):
    y[0:16] = sl.full(16, value, sl.float32)


def test_constants_are_compared_by_their_bits(driver: Stub, compiled: list[str]) -> None:  # noqa: F811
    y = Tensor(1 << 50, (48,))

    def is_native(value: float) -> bool:
        assert filled.native is not None
        return filled.native((y, value), None, None)

    filled(y, 0.0)
    assert is_native(float("0.0")) and not is_native(-0.0)
    filled(y, -0.0)
    assert is_native(-0.0)
    filled(y, float("nan"))
    assert is_native(float("nan"))
    assert len(compiled) == len({launch.name for launch in driver.launches}) == 3


def test_grids_that_raise(driver: Stub, compiled: list[str]) -> None:  # noqa: F811
    kernel = combine.on()
    x = Tensor(1 << 40, (48,))
    kernel(x, 5, Tensor(1 << 50, (48,)))
    with pytest.raises(smalti.LaunchError, match="ZeroDivisionError"):
        kernel(x, 5, Tensor(1 << 50, (48,)), block=0)


def test_numbers_that_do_not_fit_the_stated_type(driver: Stub, compiled: list[str]) -> None:  # noqa: F811
    @smalti.kernel(target="sm_90a")
    def store(x, n: sl.int32, m: sl.uint32):
        x[0:1] = n + m

    x = Tensor(1 << 40, (48,))
    for n, m in ((5, 6), (5, 6), (2**31 - 1, 2**32 - 1), (-(2**31), 0)):
        store(x, n, m)
    assert store.native is not None and store.native((x, 5, 6), {}, None)
    for n, m in ((3_000_000_001, 6), (-(2**31) - 1, 6), (5, -1), (5, 2**32)):
        with pytest.raises(smalti.LaunchError, match=r"out of range for u?int32"):
            store(x, n, m)


ROWS = 4
MANY = 1 << 40


def grids(columns: int) -> list[Callable[..., Any]]:
    """Functions that are evaluated without Python code."""
    return [
        lambda x, block: sl.cdiv(x.shape[0], block),
        lambda n, x: (sl.cdiv(x.shape[1], ROWS), 3, n),
        lambda x: [x.shape[-1] * x.shape[-2] // columns],
        lambda x, n: 3 * x.shape[-1] - (-x.shape[0] // n) - 2 * n,
        lambda n, block: (10 - n) * (1000 // n + block) // -block + 4 * 1000,
        lambda n: n * MANY * MANY,
        lambda x: x.shape[2],
        lambda n: 5,
    ]


UNSUPPORTED: list[Callable[..., Any]] = [
    lambda x, n: x.shape[0] if n else 1,
    lambda x, n: x.shape[0] % n,
    lambda x: min(x.shape[0], 4),
    lambda x: len(x.shape),
    lambda x, n: (n is None) * x.shape[0],
    lambda x: sum(size for size in x.shape),
    lambda x: int(x.shape[0]),
    lambda x: MODULE.number * x.shape[0],
    lambda x: x.shape[0] * 0.5,
    lambda x: x.size,
    lambda x: (1, 1, 1, x.shape[0]),
]


@pytest.mark.parametrize("number", range(len(grids(7))))
def test_programs_of_grids(
    driver: Stub,  # noqa: F811
    compiled: list[str],
    torch_stand_in: None,  # noqa: F811
    number: int,
) -> None:
    @smalti.kernel(grid=grids(7)[number], target="sm_90a")
    def copy(x, n, block: smalti.constexpr):
        pass

    calls = 0

    def count(frame: types.FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is grids(7)[number].__code__

    given = [
        (exchange_tensor(1 << 40, (60, 1), shape=(rows, 60)), n, block)
        for rows, n, block in itertools.product((1, 17, 48), (1, 2, 7, 0, -3), (16, 5))
    ]
    theirs = without_dispatcher(copy)
    launched = 0
    for arguments in given:
        wanted = outcome_of(driver, theirs, arguments, {})
        assert outcome_of(driver, copy, arguments, {}) == wanted, arguments
        sys.setprofile(count)
        before = calls
        found = outcome_of(driver, copy, arguments, {})
        sys.setprofile(None)
        assert found == wanted, arguments
        is_program = wanted[1] is None
        launched += is_program
        assert not is_program or calls == before
    assert launched > 10 or number in (5, 6)


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def test_grids_without_a_program() -> None:
    for grid in UNSUPPORTED:
        assert grid_programs.program(grid, parameters_of(grid), sl.cdiv) is None, parameters_of(grid)
    assert all(grid_programs.program(grid, parameters_of(grid), sl.cdiv) for grid in grids(7))


class ModuleWithAttributes(types.ModuleType):
    def __getattribute__(self, name: str) -> Any:
        return (lambda a, b: 3) if name == "cdiv" else super().__getattribute__(name)


def test_a_class_of_modules_may_compute_attributes() -> None:
    module = ModuleWithAttributes("module")
    vars(module)["cdiv"] = sl.cdiv
    assert grid_programs.program(lambda x: module.cdiv(x.shape[0], 16), ("x",), sl.cdiv) is None


def test_hidden_parameters_and_orders_of_a_signature() -> None:
    def hidden(x: Any, rows: int = 16) -> Any:
        return sl.cdiv(x.shape[0], rows)

    assert grid_programs.program(hidden, parameters_of(hidden), sl.cdiv)
    # The value of `rows` is the default of the function, which may change.
    vars(hidden)["__signature__"] = inspect.signature(lambda x: None)
    assert grid_programs.program(hidden, parameters_of(hidden), sl.cdiv) is None

    def exchanged(n: Any, *, x: Any) -> Any:
        return x.shape[1] - n

    vars(exchanged)["__signature__"] = inspect.signature(lambda x, n: None)
    _, _, (steps,) = grid_programs.program(exchanged, parameters_of(exchanged), sl.cdiv) or pytest.fail("no program")
    assert steps == (("size", 0, 1), ("number", 1, 0), ("subtract", 0, 0))


def test_changes_of_a_grid(
    driver: Stub,  # noqa: F811
    compiled: list[str],
    torch_stand_in: None,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def sizes(x):
        return sl.cdiv(x.shape[0], ROWS)

    @smalti.kernel(grid=sizes, target="sm_90a")
    def copy(x):
        pass

    x = exchange_tensor(1 << 40)

    def tiles() -> int:
        copy(x)
        copy(x)
        return driver.launches[-1].grid[0]

    assert tiles() == 25
    monkeypatch.setitem(globals(), "ROWS", 10)
    assert tiles() == 10
    monkeypatch.setattr(sl, "cdiv", lambda a, b: a // b + 7)
    assert tiles() == 17
    sizes.__code__ = (lambda x: 3).__code__
    assert tiles() == 3


def test_streams_and_options(driver: Stub, compiled: list[str]) -> None:  # noqa: F811
    kernel = combine.on(num_warps=8)
    given = (Tensor(1 << 40, (48,)), 5, Tensor(1 << 50, (48,)))
    for stream in (None, 4, types.SimpleNamespace(ptr=13), 4):
        kernel(*given, stream=stream)
    assert [launch.stream for launch in driver.launches] == [0, 4, 13, 4]
    other = kernel.on(num_warps=4)
    other(*given)
    assert len(compiled) == 2 and driver.launches[-1].name == compiled[1]


def test_dispatchers_are_collected(driver: Stub, compiled: list[str]) -> None:  # noqa: F811
    kernel = combine.on()
    kernel(Tensor(1 << 40, (48,)), 5, Tensor(1 << 50, (48,)))
    made = weakref.ref(next(iter(next(iter(kernel._variants.values())).compiled.values())))
    assert made() is not None
    kernel._variants = {}
    del kernel
    combine._variants.clear()
    gc.collect()
    assert made() is None


PROGRAM = """
triton_xla.entry_func @copy(
    %a: memref<?x?xf16> {triton_xla.size_divisors = array<i64: 1, 24>},
    %b: memref<?x?xf16, strided<[?, ?]>> {triton_xla.max_bytes = 3000000000 : i64}, %n: index, %tile: index)
    tiles size(%a, 0) ceildiv 16 {
  triton_xla.return
}
"""


@pytest.mark.parametrize("seed", range(4))
def test_the_choice_for_specialized_kernels(driver: Stub, compiled: list[str], seed: int) -> None:  # noqa: F811
    rng = random.Random(seed)
    ours, theirs = (smalti.specialize(PROGRAM, target="sm_90a") for _ in range(2))
    assert isinstance(ours, SpecializedKernel) and ours.native is not None
    theirs.native = None
    driver.set(current=100)
    native = 0
    for _ in range(400):
        rows, columns = rng.choice((0, 1, 5, 16, 40)), rng.choice((0, 24, 48, 16))
        shape = (rows, columns)
        a = Interface(1 << 40, shape, None, "<f2")
        strides = rng.choice((None, None, (columns + 8, 1), (1, 4096), (64, 2), (-64, 1), (0, 1), (1 << 26, 1)))
        kind = rng.choice(("<f2", "<f2", "<f2", "<f4"))
        b = Interface(1 << 50, rng.choice((shape, shape, (rows,))), None, kind)
        if strides is not None and len(b.__cuda_array_interface__["shape"]) == 2:
            b = Interface(1 << 50, shape, strides, kind)
        given = (a, b, rng.choice((1, 16, 3, np.int64(2), 0.5)))
        wanted = outcome_of(driver, theirs, given, {})
        assert outcome_of(driver, ours, given, {}) == wanted, given
        assert outcome_of(driver, ours, given, {"stream": None}) == wanted, given
        native += wanted[1] is None and ours.native(given, None, None)
    assert native > 40
    assert set(ours.variants) == set(theirs.variants)


def test_views_of_the_host_are_not_kernels_of_the_gpu(driver: Stub, compiled: list[str]) -> None:  # noqa: F811
    kernel = combine.on()
    given = (Tensor(1 << 40, (48,)), 5, Tensor(1 << 50, (48,)))
    kernel(*given)
    host = arrays.ArrayView(1 << 40, (48,), (1,), "float32", arrays.CPU)
    with pytest.raises(smalti.LaunchError, match="requires cuda memory"):
        kernel(host, *given[1:])
