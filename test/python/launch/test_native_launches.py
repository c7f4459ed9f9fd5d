# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The native launch path against the launchers in Python, and launches from threads and forked processes."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import random
import subprocess
import sys
import textwrap
import threading
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import BUILD, ROOT, SCALE
from smalti import dtypes, targets
from smalti.calling import arguments, arrays, calls, tensor_maps
from smalti.launch import cuda
from smalti.launch.compiled import Resources
from smalti.launch.kernels import Kernel
from stub_driver import Stub
from test_launch_gpu import device_arrays, driver, gpu_kernel, hip  # noqa: F401 (fixtures)

F32, F16 = (dtypes.from_mlir(name) for name in ("f32", "f16"))


def described(kind: str, index: int, shape: Any = None, strides: Any = None, **facts: Any) -> arguments.Argument:
    dtype = dtypes.from_mlir(kind)
    assert dtype is not None
    name = kind if shape is None else "memref<...>" if strides is None else "memref<..., strided<...>>"
    if shape is not None and strides is None:
        strides = row_major(shape)
    return arguments.Argument(index, name, dtype, shape, strides, True, facts.pop("writes", False), **facts)


def row_major(shape: Any) -> tuple[int | None, ...]:
    """The strides in a type without a layout."""
    steps: list[int | None] = [1]
    for size in reversed(shape[1:]):
        steps.append(None if size is None or steps[-1] is None else size * steps[-1])
    return tuple(reversed(steps[: len(shape)]))


def made(taken: list[arguments.Argument], grid: Any = (), **resources: Any) -> Kernel:
    chip = targets.Chip("sm_90a", "nvidia", "", 32, 1024, 0)
    kernel = Kernel(chip, arguments.Entry("k", tuple(taken), 1000, grid=grid), {})
    kernel.binary, kernel.binary_format = b"\x7fELF", "cubin"
    kernel.resources = Resources(
        **({"tiles": None, "block": (128, 1, 1), "grid": None if grid else (4, 1, 1)} | resources)
    )
    return kernel


class Interface:
    """An array of the array interface of CUDA."""

    def __init__(
        self, pointer: int, shape: Any, strides: Any = None, typestr: str = "<f4", readonly: bool = False
    ) -> None:
        size = int(typestr[2:])
        steps = None if strides is None else tuple(step * size for step in strides)
        self.__cuda_array_interface__ = {
            "shape": tuple(shape), "typestr": typestr, "data": (pointer, readonly), "strides": steps, "version": 3
        }  # fmt: skip

    def __repr__(self) -> str:
        return repr(self.__cuda_array_interface__)


def outcome(driver: Stub, call: Callable[[], Any]) -> tuple[list[str], str | None]:  # noqa: F811
    """The launches of a call, and its error."""
    driver.library.stub_forget()
    try:
        call()
    except smalti.LaunchError as error:
        return driver.named("launch"), str(error)
    return driver.named("launch"), None


SIZES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "ui8": 1}
NUMBERS = (
    *(0, 1, 2, 7, -1, 255, 256, -128, 65535, 2**31, 2**32 - 1, -(2**31), 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63)),
    *(True, False, 0.5, -1.5, math.inf, math.nan, 1e39, 70000.0, 1e-320),
    *(np.float32(2.5), np.int32(5), np.int64(-3), np.bool_(True), np.float16(2), "text", None),
)  # fmt: skip


def random_argument(rng: random.Random, index: int) -> arguments.Argument:
    if rng.random() < 0.4:
        return described(rng.choice(list(SIZES)), index)
    rank = rng.randint(0, 3)
    shape = tuple(rng.choice((None, None, 1, 2, 8, 64)) for _ in range(rank))
    is_strided = rank and rng.random() < 0.5
    strides = tuple(rng.choice((None, None, 1, 8, 64)) for _ in range(rank)) if is_strided else row_major(shape)
    facts: dict[str, Any] = {
        "writes": rng.random() < 0.5,
        "alignment": rng.choice((None, None, 4, 64)),
        "dynamic_sizes": tuple(dim for dim in range(rank) if shape[dim] is None),
        "dynamic_strides": tuple(dim for dim in range(rank) if is_strided and strides[dim] is None),
        "size_divisors": rng.choice(((), tuple(rng.choice((1, 2, 16)) for _ in range(rank)))),
        "stride_divisors": rng.choice(((), tuple(rng.choice((1, 8)) for _ in range(rank)))),
        "max_bytes": rng.choice((None, None, 4096, 2**31 - 1)),
    }
    kind = rng.choice(("f32", "f32", "f16", "i8", "ui8", "bf16"))
    return described(kind, index, shape, strides if is_strided else None, **facts)


def random_value(rng: random.Random, argument: arguments.Argument) -> Any:
    if not argument.is_memref:
        if rng.random() < 0.6:
            return rng.choice((1, 3, True)) if argument.dtype.kind in "iub" else rng.choice((0.5, 3))
        return rng.choice(NUMBERS)
    assert argument.shape is not None and argument.strides is not None
    shape = [rng.choice((0, 1, 2, 16, 48)) if size is None else size for size in argument.shape]
    if rng.random() < 0.05:
        shape = [*shape, 2] if rng.random() < 0.5 or not shape else shape[:-1]
    strides: Any = None
    if len(shape) == len(argument.strides) and not (argument.is_row_major and rng.random() < 0.9):
        dense = arrays.row_major(tuple(shape))
        strides = [dense[d] if step is None or rng.random() < 0.1 else step for d, step in enumerate(argument.strides)]
        if strides and rng.random() < 0.2:
            strides[rng.randrange(len(strides))] = rng.choice((0, -1, -64, 64, 3, 4096))
    pointer = 0x100000 * rng.randint(1, 40) + rng.choice((0, 0, 0, 0, 64, 16, 4, 1))
    if rng.random() < 0.03:
        pointer = rng.choice((0, 2**63 - 64, 2**64 - 64, 16))
    right = {"f32": "<f4", "f16": "<f2", "i8": "|i1", "ui8": "|u1", "bf16": "<f2"}[argument.dtype.mlir]
    typestr = right if rng.random() < 0.95 else rng.choice(("<i4", "|u1", "|b1", ">f4", "<f2"))
    if argument.dtype.mlir == "bf16" or rng.random() < 0.2:
        name = "bfloat16" if argument.dtype.mlir == "bf16" else np.dtype(typestr).name
        device = rng.choice((arrays.CUDA, arrays.CUDA, arrays.CUDA, arrays.CPU))
        steps = arrays.row_major(tuple(shape)) if strides is None else tuple(strides)
        return arrays.ArrayView(
            pointer, tuple(shape), steps, name, device, rng.choice((None, 0, 0, 1)), rng.random() < 0.1
        )
    return Interface(pointer, shape, strides, typestr, rng.random() < 0.1)


def random_grid(rng: random.Random, taken: list[arguments.Argument]) -> Any:
    """The number of tiles by sizes and numbers."""
    terms = [(-1, -1, 2)]
    for argument in taken:
        if argument.is_memref and argument.shape:
            terms.append((argument.index, rng.randrange(len(argument.shape)), rng.choice((1, 16))))
        elif not argument.is_memref and argument.dtype.kind in "iu":
            terms.append((argument.index, -1, rng.choice((1, 3))))
    return rng.choice(((), tuple((rng.choice(terms),) for _ in range(rng.randint(1, 3)))))


def sizes_of(taken: Sequence[arguments.Argument]) -> list[int]:
    return [
        size
        for argument in taken
        for size in (8 if argument.is_memref else SIZES[argument.dtype.mlir], *[8] * (argument.num_parameters - 1))
    ]


@pytest.mark.parametrize("seed", range(40))
def test_both_paths_launch_the_same(driver: Stub, seed: int) -> None:  # noqa: F811
    """The native path launches only what the launcher in Python launches, with the same parameters."""
    rng = random.Random(seed)
    accepted = 0
    for _ in range(12):
        taken = [random_argument(rng, index) for index in range(rng.randint(1, 4))]
        kernel = made(taken, random_grid(rng, taken), cluster=rng.choice((None, (2, 1, 1))))
        driver.set(current=100)
        driver.takes(*sizes_of(taken))
        launcher = kernel.launcher
        native = launcher.native
        assert native is not None
        launcher._code(None)
        for _ in range(25):
            given = tuple(random_value(rng, argument) for argument in taken)
            wanted, error = outcome(driver, lambda: launcher(*given))  # noqa: B023
            launches, _ = outcome(driver, lambda: native(given, None))  # noqa: B023
            if error is not None:
                assert not launches, (taken, given, error)
            elif launches or native(given, 0):
                assert launches == wanted, (taken, given)
                accepted += 1
            # A call takes both paths.
            assert outcome(driver, lambda: kernel(*given)) == (wanted, error), (taken, given)  # noqa: B023
    assert accepted > 10


def test_common_calls_take_the_native_path(driver: Stub) -> None:  # noqa: F811
    """Otherwise the other tests would compare Python with itself."""
    kernel = made(
        [
            described("f32", 0, (None, 64), dynamic_sizes=(0,), size_divisors=(16, 64), max_bytes=2**31 - 1),
            described("bf16", 1, (None, None), (None, 1), dynamic_sizes=(0, 1), dynamic_strides=(0,), writes=True),
            described("index", 2),
            described("f16", 3),
        ],
        (((0, 0, 32),), ((2, -1, 1),)),
    )
    driver.takes(8, 8, 8, 8, 8, 8, 8, 2)
    given = (
        Interface(0x10000, (64, 64)),
        arrays.ArrayView(0x80000, (5, 7), (9, 1), "bfloat16", arrays.CUDA, 0),
        np.int64(3),
        1.5,
    )
    kernel(*given)
    assert kernel.native(given, None)
    kernel(*given)
    first, second, third = driver.launches
    assert first == second == third and first.grid == (6, 1, 1)
    assert first.numbers == (0x10000, 64, 0x80000, 5, 7, 9, 3, int(np.float16(1.5).view(np.uint16)))
    empty = (Interface(0x10000, (0, 64)), *given[1:])
    assert kernel.native(empty, None) and len(driver.launches) == 3


def random_part(rng: random.Random) -> arrays.ArrayView:
    """Some elements of a matrix of 24 rows of 16 floats."""
    rows, columns = rng.randint(1, 6), rng.randint(1, 6)
    steps = rng.choice((1, 1, 2, 4, -1)) * 16, rng.choice((1, 1, 2, 3, -1))
    at = rng.randint(0, 23) * 16 + rng.randint(0, 15)
    return arrays.ArrayView(0x10000 + 4 * at, (rows, columns), steps, "float32", arrays.CUDA)


def bytes_of(view: arrays.ArrayView) -> set[int]:
    return {
        view.pointer + 4 * (i * view.strides[0] + j * view.strides[1]) + byte
        for i in range(view.shape[0])
        for j in range(view.shape[1])
        for byte in range(4)
    }


def test_interleaved_arrays(driver: Stub) -> None:  # noqa: F811
    rng = random.Random(0)
    facts: dict[str, Any] = {"dynamic_sizes": (0, 1), "dynamic_strides": (0, 1)}
    taken = [described("f32", i, (None, None), (None, None), writes=i == 1, alignment=4, **facts) for i in range(2)]
    kernel = made(taken)
    driver.takes(*sizes_of(taken))
    kernel(*(arrays.ArrayView(0x10000 * i, (4, 4), (4, 1), "float32", arrays.CUDA) for i in (1, 2)))
    separate = interleaved = 0
    for _ in range(2000):
        given = random_part(rng), random_part(rng)
        has_common = bool(bytes_of(given[0]) & bytes_of(given[1]))
        is_interleaved = calls.are_interleaved(*given, (4, 4))
        assert not (has_common and is_interleaved), given
        launches, _ = outcome(driver, lambda: kernel.native(given, None))  # noqa: B023
        wanted, _ = outcome(driver, lambda: kernel.launcher(*given))  # noqa: B023
        assert not launches or launches == wanted, given
        assert bool(wanted) == (not has_common), given
        ranges = [calls.extent(view, 4) for view in given]
        if max(ranges)[0] < min(ranges)[1]:
            separate += not has_common
            interleaved += is_interleaved
            assert bool(launches) == is_interleaved, given
    # Most arrays in gaps of others are interleaved.
    assert interleaved > 300, (separate, interleaved)


def test_tensor_maps_of_dynamic_arrays(driver: Stub) -> None:  # noqa: F811
    kernel = made([described("f16", 0, (None, None), (None, 1), dynamic_sizes=(0, 1), dynamic_strides=(0,))])
    kernel.tensor_maps = (tensor_maps.TensorMap("f16", (None, None), (None, 2), (16, 32), argument=0, dims=(0, 1)),)
    driver.takes(8, 8, 8, 8, 128)
    given = [Interface(0x10000, (n, 64), (step, 1), "<f2") for n in (16, 32) for step in (64, 128)] * 2
    for array in given:
        kernel(array)
    wanted = [launch.parameters for launch in driver.launches]
    driver.library.stub_forget()
    for array in given:
        kernel.launcher(array)
    assert [launch.parameters for launch in driver.launches] == wanted
    assert len({parameters[4] for parameters in wanted}) == 4
    # TMA does not support this stride, which only the launcher in Python checks.
    with pytest.raises(smalti.LaunchError, match="multiples of 16 B"):
        kernel(Interface(0x10000, (16, 64), (65, 1), "<f2"))


@pytest.mark.parametrize("vendor", ["cuda", "hip"])
def test_errors_of_the_driver(driver: Stub, hip: Stub, vendor: str) -> None:  # noqa: F811
    kernel = gpu_kernel("sm_90a" if vendor == "cuda" else "gfx942")
    given = device_arrays(2 if vendor == "cuda" else 10)
    kernel(*given)
    driver.fail("cuLaunchKernel" if vendor == "cuda" else "hipModuleLaunchKernel", 701)
    with pytest.raises(smalti.LaunchError, match=r"launching @scale failed: .*701"):
        kernel(*given)
    # It is not launched a second time.
    assert len(driver.launches) == 1


def test_names_options_and_copies(driver: Stub) -> None:  # noqa: F811
    kernel = gpu_kernel("sm_90a")
    first, second = device_arrays(2)
    kernel(first, second)
    kernel(first, dst=second)
    kernel(first, second, stream=types.SimpleNamespace(ptr=13))
    with pytest.raises(smalti.LaunchError, match="cannot be stopped"):
        kernel(first, second, time_limit=1)
    with pytest.raises(smalti.LaunchError, match="not a CUDA stream"):
        kernel(first, second, stream=object())
    assert [launch.stream for launch in driver.launches] == [0, 0, 13]


def test_threads_and_devices(driver: Stub) -> None:  # noqa: F811
    """Each thread has a current context of its own; without one, it uses the GPU of the arrays."""
    driver.set(devices=4)
    kernel = gpu_kernel("sm_90a")
    kernel.launcher  # noqa: B018
    start = threading.Barrier(8, timeout=20)
    wrong: list[Any] = []

    def run(index: int) -> None:
        given = [
            arrays.ArrayView(0x100000 * (index + 1) + at, (100, 60), (60, 1), "float32", "cuda", index % 4)
            for at in (0, 0x10000)
        ]
        other = [arrays.ArrayView(view.pointer, *view.signature[:3], "cuda", (index + 1) % 4) for view in given]
        start.wait()
        for _ in range(50):
            kernel(*given)
            try:
                kernel(*other)
                wrong.append(index)
            except smalti.LaunchError as error:
                if f"the current context belongs to GPU {index % 4}" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    launches = driver.launches
    assert len(launches) == 400 and len(driver.named("load")) == 4
    assert {launch.numbers for launch in launches} == {(0x100000 * n, 0x100000 * n + 0x10000) for n in range(1, 9)}


FORK = """
import os, sys
sys.path[:0] = [{packages!r}, {tests!r}, {launch!r}]
import smalti
from smalti.launch import devices
from stub_driver import Stub
import pathlib
stub = Stub(pathlib.Path({path!r}))
devices.{name}_library = lambda: stub.library
from test_launch_gpu import gpu_kernel, device_arrays
kernel, given = gpu_kernel({target!r}), device_arrays({device})
stub.takes(8, 8)

def child(call):
    sys.stdout.flush()
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    try:
        call()
        print("launched", flush=True)
    except smalti.LaunchError as error:
        print(error, flush=True)
    finally:
        os._exit(0)

# A process that was forked before may start the driver.
child(lambda: kernel(*given))
kernel(*given)
kernel(*given)
child(lambda: kernel(*given))
child(lambda: gpu_kernel({target!r})(*given))
kernel(*given)
print(len(stub.launches))
"""


@pytest.mark.parametrize(
    ("name", "target", "device", "runtime"),
    [("cuda", "sm_90a", 2, "the CUDA driver"), ("hip", "gfx942", 10, "the HIP runtime")],
)
def test_a_forked_process_is_refused(name: str, target: str, device: int, runtime: str, stub_library: Path) -> None:
    script = FORK.format(
        packages=str(BUILD / "python_packages"),
        tests=str(ROOT / "test" / "python"),
        launch=str(ROOT / "test" / "python" / "launch"),
        path=str(stub_library), name=name, target=target, device=device,
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    before, *after = done.stdout.splitlines()
    assert before == "launched" and after[-1] == "3", done.stdout
    assert sum(f"started {runtime} before it forked this process" in line for line in after) == 2
    assert sum("get_context('spawn')" in line for line in after) == 2


def test_a_forked_process_runs_kernels_of_the_cpu() -> None:
    """The threads of the first process do not exist in the other one."""
    script = textwrap.dedent(
        """
        import os, sys, numpy as np, smalti
        from smalti.calling import calls
        from smalti.launch import cpu
        calls.num_threads = lambda: 4
        cpu.PARALLEL_SECONDS = 0  # All tiles use threads.
        kernel = smalti.compile(sys.argv[1], target="cpu")

        def run():
            source, result = np.full((100, 60), 3, np.float32), np.zeros((100, 60), np.float32)
            kernel(source, result)
            assert (result == 6).all()

        run()
        process = os.fork()
        if not process:
            run()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        """
    )
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python_packages")}
    subprocess.run([sys.executable, "-c", script, SCALE], timeout=120, check=True, env=environment)


CURRENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
DESCRIBE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(arrays._DLTensor))


class _ExchangeAPI(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("functions", ctypes.c_void_p * 3),
        ("describe", DESCRIBE),
        ("stream", CURRENT),
    ]


def exchange_capsule(api: _ExchangeAPI) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(api), b"dlpack_exchange_api", None)


@DESCRIBE
def describe(tensor: Any, result: Any) -> int:
    tensor.reads += 1
    if tensor.fails:
        return -1
    view, out = tensor.view, result[0]
    out.data, out.ndim, out.byte_offset = view.pointer - 64, len(view.shape), 64
    out.device = arrays._DLDevice(2, view.device_index)
    out.dtype = arrays._DLDataType(2, 32, 1)
    tensor.kept = [(ctypes.c_int64 * len(view.shape))(*numbers) for numbers in (view.shape, view.strides)]
    out.shape, out.strides = (ctypes.cast(kept, ctypes.POINTER(ctypes.c_int64)) for kept in tensor.kept)
    return 0


STREAM = 0x77
"""The current stream of the stand-in for PyTorch."""


@CURRENT
def current_stream(device_type: int, index: int, out: Any) -> int:
    out[0] = STREAM if (device_type, index) == (2, 0) else None
    return 0


API = _ExchangeAPI(1, 3, None, (ctypes.c_void_p * 3)(), describe, current_stream)


class ExchangeTensor(str):
    """A tensor of PyTorch with DLPack's C exchange API. It is a string for a method that is written in C."""

    __slots__ = ("fails", "kept", "reads", "view")
    __dlpack_c_exchange_api__ = exchange_capsule(API)
    is_neg = str.isupper

    def is_conj(self) -> bool:
        return False

    def data_ptr(self) -> int:
        if self.fails:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        return self.view.pointer

    def stride(self) -> tuple[int, ...]:
        return self.view.strides

    @property
    def shape(self) -> tuple[int, ...]:
        return self.view.shape

    @property
    def device(self) -> Any:
        return types.SimpleNamespace(type="cuda", index=self.view.device_index)

    dtype = "torch.float32"


ExchangeTensor.__name__, ExchangeTensor.__module__ = "Tensor", "torch"


def exchange_tensor(
    pointer: int,
    strides: tuple[int, int] = (60, 1),
    name: str = "a",
    fails: bool = False,
    shape: tuple[int, int] = (100, 60),
) -> Any:
    tensor = ExchangeTensor(name)
    tensor.view = arrays.ArrayView(pointer, shape, strides, "float32", "cuda", 0)
    tensor.fails, tensor.reads = fails, 0
    return tensor


@pytest.fixture
def torch_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = types.SimpleNamespace(
        device=lambda device: contextlib.nullcontext(),
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=STREAM),
    )
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=gpu))


def test_the_exchange_api_of_dlpack(driver: Stub, torch_stand_in: None) -> None:  # noqa: F811
    kernel = gpu_kernel("sm_90a")
    first, second = exchange_tensor(0x10000), exchange_tensor(0x20000)
    kernel(first, second)
    before = first.reads
    kernel(first, second)
    assert first.reads == before + 1
    one, two = driver.launches
    assert one == two and two.numbers == (0x10000, 0x20000) and two.stream == STREAM
    kernel(first, second, stream=0x88)
    assert driver.launches[-1].stream == 0x88
    for wrong, message in (
        (exchange_tensor(0x10000, name="A"), r"pass tensor\.clone\(\)"),
        (exchange_tensor(0x10000, (61, 1)), "the stride of dimension 0 is 61 elements"),
        (exchange_tensor(0x10000, fails=True), "does not expose its memory"),
        (exchange_tensor(0), "does not have memory"),
    ):
        with pytest.raises(smalti.LaunchError, match=message):
            kernel(wrong, second)
    assert len(driver.launches) == 3


def test_tensors_of_torch(driver: Stub, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """With PyTorch's CPU build, whose tensors stand for those of a GPU."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(cuda.CudaLauncher, "_device", arrays.CPU)
    kernel = gpu_kernel("sm_90a")
    first, second = torch.zeros(100, 60), torch.nn.Parameter(torch.zeros(100, 60))
    kernel(first, second)
    assert kernel.native((first, second), None)
    assert {launch.numbers for launch in driver.launches} == {(first.data_ptr(), second.data_ptr())}
    complex_ = torch.zeros(100, 60, dtype=torch.complex64).conj()
    seen: list[bool] = []
    torch.vmap(lambda x: seen.append(kernel.native((x, second), None)) or x)(torch.zeros(2, 100, 60))
    for wrong in (
        torch._neg_view(first),
        complex_.imag,
        complex_,
        first.to_sparse(),
        torch.zeros(100, 60, device="meta"),
    ):
        seen.append(kernel.native((wrong, second), None))
        with pytest.raises(smalti.LaunchError):
            kernel(wrong, second)
    assert not any(seen) and len(driver.launches) == 2
