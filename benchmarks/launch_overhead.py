# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Microseconds of the host for a launch of a kernel with 19 arguments, 10 arrays and 9 integers.

The kernel is empty. The time is that of the calls, in batches after a warm-up, with the GPU idle before each batch.
Measured, in turns:

- call: `kernel(...)`, with every check, on arrays with CUDA's array interface or of PyTorch
- call with 2 tensor maps: the same for a kernel with tensor-map parameters
- driver: the driver's function only (`cuLaunchKernel` through ctypes), with prepared parameters
- triton: the same kernel in Triton, if Triton, PyTorch and a GPU are available

Without a GPU the driver is the stub of the tests (test/python/stub_driver.c), which only logs the launch: the time is
then the host's part only. MLIR is not needed.

Prints a table and writes JSON with the versions and the machine to `--json`.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import _record
from _record import ROOT

ARRAYS, INTEGERS = 10, 9
SHAPE = (64, 64)

PTX = (
    ".version 7.0\n.target sm_{chip}\n.address_size 64\n.visible .entry nothing("
    + ", ".join(
        [
            *(f".param .u64 a{i}" for i in range(ARRAYS)),
            *(f".param .u32 n{i}" for i in range(INTEGERS)),
            *(f".param .align 64 .b8 m{i}[128]" for i in range(2)),
        ]
    )
    + ") {{ ret; }}\n"
)


def make_kernel(capability: tuple[int, int], maps: int) -> Any:
    """An empty kernel."""
    from smalti import dtypes, targets
    from smalti.calling import arguments, tensor_maps
    from smalti.launch.compiled import Resources
    from smalti.launch.kernels import Kernel

    f16, i32 = dtypes.from_mlir("f16"), dtypes.from_mlir("i32")
    assert f16 is not None and i32 is not None
    taken = [
        arguments.Argument(i, "memref<64x64xf16>", f16, SHAPE, (64, 1), reads=True, writes=i == ARRAYS - 1)
        for i in range(ARRAYS)
    ]
    taken += [arguments.Argument(ARRAYS + i, "i32", i32, None, None, True, False) for i in range(INTEGERS)]
    chip = targets.Chip(f"sm_{capability[0]}{capability[1]}", "nvidia", "", 32, 1024, 0)
    kernel = Kernel(chip, arguments.Entry("nothing", tuple(taken), 1), {})
    kernel.binary = PTX.format(chip=f"{capability[0]}{capability[1]}").encode()
    kernel.binary_format = "ptx"
    kernel.resources = Resources(tiles=1, block=(128, 1, 1), grid=(1, 1, 1))
    described = (tensor_maps.TensorMap("f16", SHAPE, (128, 2), (64, 64), argument=i, swizzle=128) for i in range(maps))
    kernel.tensor_maps = tuple(described)
    return kernel


class Array:
    """Memory of a GPU as other libraries hand it out."""

    def __init__(self, pointer: int) -> None:
        self.__cuda_array_interface__ = {"shape": SHAPE, "typestr": "<f2", "data": (pointer, False), "version": 3}


class StandIn:
    """The attributes of a PyTorch tensor that a launch reads, with Python methods instead of C++ ones."""

    def __init__(self, pointer: int) -> None:
        self.shape, self.dtype, self.device = SHAPE, "torch.float16", SimpleNamespace(type="cuda", index=0)
        self._pointer = pointer

    def data_ptr(self) -> int:
        return self._pointer

    def stride(self) -> tuple[int, int]:
        return (64, 1)

    def is_neg(self) -> bool:
        return False

    is_conj = is_neg


StandIn.__name__, StandIn.__module__ = "Tensor", "torch"


def use_stub() -> Callable[[], None]:
    """Replaces a GPU's driver with the tests' driver; the result empties its log."""
    sys.path.insert(0, str(ROOT / "test" / "python"))
    import stub_driver
    from smalti.launch import devices

    folder = Path(tempfile.mkdtemp(prefix="smalti-"))
    stub = stub_driver.Stub(stub_driver.build(folder))
    devices.cuda_library = lambda: stub.library  # pyright: ignore
    return lambda: stub.library.stub_forget()


def driver_alone(kernel: Any, given: list[Any]) -> Callable[[], None]:
    """The driver's function, called with what the launcher makes once."""
    kernel(*given)
    launcher = kernel.launcher
    (code,) = launcher._codes.values()
    parameters = launcher._free[-1]
    grid = launcher._kernel.resources.grid
    return lambda: code.launch(parameters.addresses, 0, grid)


def triton_call(tensors: list[Any]) -> Callable[[], None] | None:
    """The same kernel in Triton."""
    try:
        import triton
        import triton.language  # noqa: F401 (kernels need it)
    except ImportError:
        return None
    names = [f"a{i}" for i in range(ARRAYS)] + [f"n{i}" for i in range(INTEGERS)]
    # Triton reads the source of its kernels from a file.
    path = Path(tempfile.mkdtemp(prefix="smalti-")) / "nothing.py"
    path.write_text(f"import triton\n\n\n@triton.jit\ndef nothing({', '.join(names)}):\n    pass\n")
    sys.path.insert(0, str(path.parent))
    from nothing import nothing  # pyright: ignore

    integers = list(range(2, 2 + INTEGERS))
    return lambda: nothing[(1,)](*tensors, *integers)


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
    return {
        name: {"min": 1e6 * min(values), "median": 1e6 * statistics.median(values), "max": 1e6 * max(values)}
        for name, values in samples.items()
    }


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def run(count: int, repeat: int) -> dict[str, Any]:
    """The record of a run on this machine."""
    from smalti.launch import cuda_driver, devices

    library = devices.cuda_library()
    number = ctypes.c_int()
    has_gpu = library is not None and not library.cuInit(0) and not library.cuDeviceGetCount(ctypes.byref(number))
    has_gpu = has_gpu and number.value > 0
    torch: Any = None
    if has_gpu:
        try:
            import torch
        except ImportError:
            torch = None
    empty = use_stub() if not has_gpu else lambda: None
    driver = cuda_driver.load("the benchmark")
    driver.use_primary_context(0)
    capability = (
        driver.attribute(cuda_driver.COMPUTE_CAPABILITY_MAJOR, 0),
        driver.attribute(cuda_driver.COMPUTE_CAPABILITY_MINOR, 0),
    )

    def idle() -> None:
        driver.synchronize()
        empty()

    integers = list(range(2, 2 + INTEGERS))
    pointers = [driver.allocate(64 * 64 * 2) for _ in range(ARRAYS)]
    plain = [Array(pointer) for pointer in pointers]
    if torch is not None:
        tensors: list[Any] = [torch.zeros(SHAPE, dtype=torch.float16, device="cuda") for _ in range(ARRAYS)]
    else:
        tensors = [StandIn(pointer) for pointer in pointers]
    kernel, with_maps = make_kernel(capability, 0), make_kernel(capability, 2)
    calls: dict[str, Callable[[], None]] = {
        "call, array interface": lambda: kernel(*plain, *integers),
        "call, PyTorch" if torch is not None else "call, stand-in for PyTorch": lambda: kernel(*tensors, *integers),
        "call with 2 tensor maps, array interface": lambda: with_maps(*plain, *integers),
        "driver": driver_alone(kernel, [*plain, *integers]),
    }
    if torch is not None and (in_triton := triton_call(tensors)) is not None:
        calls["triton"] = in_triton
    return {
        "what": f"microseconds of the host for a launch with {ARRAYS} arrays and {INTEGERS} integers",
        "driver": driver.device_name(0) if has_gpu else "stub: no GPU",
        "count": count,
        "repeat": repeat,
        "versions": {
            "python": platform.python_version(),
            "torch": version("torch") if has_gpu else None,
            "triton": version("triton") if has_gpu else None,
        },
        "machine": _record.machine(),
        "results": measure(calls, idle, count, repeat),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="launches of a batch")
    parser.add_argument("--repeat", type=int, default=300, help="batches")
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
