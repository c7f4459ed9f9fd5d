# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Microseconds of the host for a launch of an empty kernel.

The time is that of the calls, in batches after a warm-up, with the GPU idle before each batch. Measured, in turns:

- 19 tensors: `kernel(...)` with every check, on tensors of PyTorch
- 19 arrays, 10 arrays and 9 integers: the same on arrays with CUDA's array interface
- 19 blocks of columns: the arrays are parts of one matrix, of which the kernel writes one
- with 2 tensor maps: the same for a kernel with tensor-map parameters
- in Python: the launcher in Python, which handles calls that the native path does not support
- kernel in Python: a function with `@smalti.kernel`, whose code is chosen by the arguments, with and without a grid function
- with helpers: the same with two helper functions, a constant and three names of builtins, which every launch compares
- TVM FFI: an empty function of `apache-tvm-ffi` with the same 19 tensors, which are not checked
- triton: the same kernel in Triton. Without a GPU, the current device and stream of Triton are constants
- driver: the driver's functions only, which every row except TVM FFI contains

Without a GPU the driver is the stub of the tests (test/python/stub_driver.c), which only logs the launch. The tensors are then
those of PyTorch's CPU build, and the launcher accepts memory of the host instead of memory of a GPU. Rows whose package is
not installed are missing.

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _record
from _record import ROOT

SHAPE = (64, 64)


def ptx(capability: tuple[int, int], arrays: int, integers: int) -> str:
    parameters = [
        *(f".param .u64 a{i}" for i in range(arrays)),
        *(f".param .u32 n{i}" for i in range(integers)),
        *(f".param .align 64 .b8 m{i}[128]" for i in range(2)),
    ]
    chip = f"{capability[0]}{capability[1]}"
    return (
        f".version 7.0\n.target sm_{chip}\n.address_size 64\n"
        f".visible .entry nothing({', '.join(parameters)}) {{ ret; }}\n"
    )


def make_kernel(
    capability: tuple[int, int], count: int, integers: int, maps: int = 0, strides: tuple[int, int] = (SHAPE[1], 1)
) -> Any:
    """An empty kernel, which writes its last array."""
    from smalti import dtypes, targets
    from smalti.calling import arguments, tensor_maps
    from smalti.launch.compiled import Resources
    from smalti.launch.kernels import Kernel

    f16, i32 = dtypes.from_mlir("f16"), dtypes.from_mlir("i32")
    assert f16 is not None and i32 is not None
    taken = [
        arguments.Argument(i, "memref<64x64xf16>", f16, SHAPE, strides, reads=True, writes=i == count - 1)
        for i in range(count)
    ]
    taken += [arguments.Argument(count + i, "i32", i32, None, None, True, False) for i in range(integers)]
    chip = targets.Chip(f"sm_{capability[0]}{capability[1]}", "nvidia", "", 32, 1024, 0)
    kernel = Kernel(chip, arguments.Entry("nothing", tuple(taken), 1), {})
    kernel.binary = ptx(capability, count, integers).encode()
    kernel.binary_format = "ptx"
    kernel.resources = Resources(tiles=1, block=(128, 1, 1), grid=(1, 1, 1))
    described = (tensor_maps.TensorMap("f16", SHAPE, (128, 2), (64, 64), argument=i, swizzle=128) for i in range(maps))
    kernel.tensor_maps = tuple(described)
    return kernel


class Array:
    """Memory of a GPU as other libraries hand it out."""

    def __init__(self, pointer: int, strides: tuple[int, int] | None = None) -> None:
        self.__cuda_array_interface__ = {
            "shape": SHAPE, "typestr": "<f2", "data": (pointer, False), "strides": strides, "version": 3
        }  # fmt: skip


def use_stub() -> Any:
    """Replaces a GPU's driver with the tests' driver, which is the result."""
    sys.path.insert(0, str(ROOT / "test" / "python"))
    import stub_driver
    from smalti.launch import devices

    folder = Path(tempfile.mkdtemp(prefix="smalti-"))
    stub = stub_driver.Stub(stub_driver.build(folder, sources=[Path(__file__).with_name("_triton_driver.c")]))
    devices.cuda_library = lambda: stub.library  # pyright: ignore
    return stub


def driver_alone(kernel: Any, given: list[Any]) -> Callable[[], None]:
    """The driver's function through ctypes, called with what the launcher in Python makes once."""
    kernel.launcher(*given)
    launcher = kernel.launcher
    (code,) = launcher._codes.values()
    parameters = launcher._free[-1]
    grid = launcher._kernel.resources.grid
    return lambda: code.launch(parameters.addresses, 0, grid)


HELPERS = """
FACTOR = 2


def inner(n):
    return max(n, 0) * FACTOR


def outer(n):
    return sum(inner(i) for i in range(n))
"""


def python_kernels(target: str, count: int) -> tuple[Any, ...] | None:
    """An empty kernel in Python, with a constant number of tiles and with a function of the number, and a kernel with
    helpers. None without MLIR."""
    try:
        import smalti.language as sl
        from smalti import kernel
    except ImportError:
        return None
    names = [f"a{i}" for i in range(count)]
    # The source of a kernel is in a file.
    path = Path(tempfile.mkdtemp(prefix="smalti-")) / "empty_kernels.py"
    path.write_text(
        f"{HELPERS}\n\ndef nothing({', '.join(names)}):\n    pass\n"
        f"\n\ndef with_helpers({', '.join(names)}):\n    outer(3)\n"
    )
    sys.path.insert(0, str(path.parent))
    from empty_kernels import nothing, with_helpers  # pyright: ignore

    return (
        kernel(target=target)(nothing),
        kernel(target=target, grid=lambda a0: sl.cdiv(a0.shape[0], 64))(nothing),
        kernel(target=target)(with_helpers),
    )


def tvm_ffi_call(tensors: list[Any]) -> Callable[[], None] | None:
    """An empty function of TVM FFI."""
    try:
        import tvm_ffi
    except ImportError:
        return None
    nothing: Any = tvm_ffi.get_global_func("testing.nop")
    return lambda: nothing(*tensors)


def triton_call(tensors: list[Any], capability: tuple[int, int], stub: Any) -> Callable[[], None] | None:
    """The same kernel in Triton."""
    try:
        import triton
        import triton.language
    except ImportError:
        return None
    if stub is not None:
        # Triton links its extension module with the driver.
        os.environ["TRITON_LIBCUDA_PATH"] = os.environ["TRITON_CACHE_DIR"] = str(Path(stub.library._name).parent)
        from triton.backends.nvidia.driver import CudaDriver

        driver = CudaDriver()
        # PyTorch's CPU build does not have these functions.
        driver.get_current_device = lambda: 0
        driver.get_current_stream = lambda device: 0
        driver.get_device_capability = lambda device: capability
        triton.runtime.driver.set_active(driver)
    names = [f"a{i}" for i in range(len(tensors))]
    # Triton reads the source of its kernels from a file.
    path = Path(tempfile.mkdtemp(prefix="smalti-")) / "nothing.py"
    path.write_text(f"import triton\n\n\n@triton.jit\ndef nothing({', '.join(names)}):\n    pass\n")
    sys.path.insert(0, str(path.parent))
    from nothing import nothing  # pyright: ignore

    return lambda: nothing[(1,)](*tensors)


def batches(call: Callable[[], None], idle: Callable[[], None], count: int, repeat: int) -> list[float]:
    """Seconds of a call in each batch."""
    found = []
    for _ in range(repeat):
        idle()
        start = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - start) / count)
    return found


def measure(
    calls: dict[str, Callable[[], None]], idle: Callable[[], None], count: int, repeat: int
) -> dict[str, dict[str, float]]:
    """Microseconds of every call, in turns."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        batches(call, idle, count, 1)
    for _ in range(repeat):
        for name, call in calls.items():
            samples[name] += batches(call, idle, count, 1)
    return {name: statistics_of(values) for name, values in samples.items()}


def statistics_of(seconds: list[float]) -> dict[str, float]:
    """Microseconds."""
    return {"min": 1e6 * min(seconds), "median": 1e6 * statistics.median(seconds), "max": 1e6 * max(seconds)}


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def run(count: int, repeat: int) -> dict[str, Any]:
    """The record of a run on this machine."""
    from smalti.calling import arrays
    from smalti.launch import cuda, cuda_driver, devices

    library = devices.cuda_library()
    number = ctypes.c_int()
    has_gpu = library is not None and not library.cuInit(0) and not library.cuDeviceGetCount(ctypes.byref(number))
    has_gpu = has_gpu and number.value > 0
    stub = None if has_gpu else use_stub()
    driver = cuda_driver.load("the benchmark")
    driver.use_primary_context(0)
    capability = (
        driver.attribute(cuda_driver.COMPUTE_CAPABILITY_MAJOR, 0),
        driver.attribute(cuda_driver.COMPUTE_CAPABILITY_MINOR, 0),
    )

    def idle() -> None:
        driver.synchronize()
        if stub is not None:
            stub.library.stub_forget()

    integers = list(range(2, 11))
    pointers = [driver.allocate(64 * 64 * 2) for _ in range(19)]
    plain = [Array(pointer) for pointer in pointers]
    calls: dict[str, Callable[[], None]] = {}

    def add(name: str, kernel: Any, given: list[Any]) -> None:
        kernel(*given)
        # A dispatcher also takes named arguments.
        options = (None,) if hasattr(kernel, "launcher") else (None, None)
        assert kernel.native(tuple(given), *options)
        calls[name] = lambda: kernel(*given)

    kernel = make_kernel(capability, 19, 0)
    add("19 arrays", kernel, plain)
    calls["19 arrays, in Python"] = lambda: kernel.launcher(*plain)
    matrix = driver.allocate(19 * 64 * 64 * 2)
    columns = [Array(matrix + 64 * 2 * i, (19 * 64 * 2, 2)) for i in range(19)]
    add("19 blocks of columns", make_kernel(capability, 19, 0, strides=(19 * 64, 1)), columns)
    add("10 arrays and 9 integers", make_kernel(capability, 10, 9), [*plain[:10], *integers])
    add("10 arrays and 9 integers, with 2 tensor maps", make_kernel(capability, 10, 9, 2), [*plain[:10], *integers])
    add("1 array", make_kernel(capability, 1, 0), plain[:1])
    if stub is None:
        calls["driver"] = driver_alone(kernel, plain)
    try:
        import torch
    except ImportError:
        torch: Any = None
    if torch is not None:
        if stub is not None:
            # Launchers that are created from here on.
            cuda.CudaLauncher._device = arrays.CPU
        device = "cpu" if stub is not None else "cuda"
        tensors = [torch.zeros(SHAPE, dtype=torch.float16, device=device) for _ in range(19)]
        add("19 tensors", make_kernel(capability, 19, 0), tensors)
        add("1 tensor", make_kernel(capability, 1, 0), tensors[:1])
        suffixes = "", " with a grid function", " with helpers"
        names = [f"19 tensors, kernel in Python{suffix}" for suffix in suffixes]
        for name, nothing in zip(names, python_kernels(f"sm_{capability[0]}{capability[1]}", 19) or (), strict=False):
            add(name, nothing, tensors)
        if (in_tvm := tvm_ffi_call(tensors)) is not None:
            calls["19 tensors, TVM FFI"] = in_tvm
        if (in_triton := triton_call(tensors, capability, stub)) is not None:
            calls["19 tensors, Triton"] = in_triton
    results = measure(calls, idle, count, repeat)
    if stub is not None:
        results["driver"] = statistics_of(
            [stub.library.stub_seconds(count) / count for _ in range(repeat) if not idle()]
        )
    return {
        "what": "microseconds of the host for a launch; each row except TVM FFI contains the driver",
        "driver": driver.device_name(0) if has_gpu else "stub: no GPU",
        "count": count,
        "repeat": repeat,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "triton", "apache-tvm-ffi")},
        },
        "machine": _record.machine(),
        "results": results,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="launches of a batch")
    parser.add_argument("--repeat", type=int, default=2000, help="batches")
    _record.add_option(parser, "launch_overhead")
    options = parser.parse_args()
    record = run(options.count, options.repeat)
    print(f"{record['what']} ({record['driver']}): median (minimum)")
    for name, times in record["results"].items():
        print(f"  {name:42} {times['median']:8.2f} ({times['min']:.2f})")
    _record.write(record, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
