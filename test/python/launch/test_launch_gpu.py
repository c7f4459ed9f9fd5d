# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on GPUs with a stub driver: the messages, and the driver's calls."""

from __future__ import annotations

import ctypes
import gc
import struct
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import stub_driver
from conftest import SCALE
from smalti import targets
from smalti.calling import arrays, tensor_maps
from smalti.compiler import entry
from smalti.launch import cuda, devices
from smalti.launch.compiled import Resources
from smalti.launch.kernels import Kernel
from stub_driver import Stub
from test_launch_cpu import Handmade

FLOAT32 = (2, 32)
CUDA_DEVICE, ROCM_DEVICE = 2, 10


def gpu_kernel(target: str, program: str = SCALE, **resources: Any) -> Kernel:
    module = smalti.parse(program)
    kernel = Kernel(targets.get(target), entry.describe(entry.find_entry(module)), {})
    kernel.binary = b"\x7fELF"
    kernel.binary_format = "cubin" if kernel.target.vendor == "nvidia" else "hsaco"
    facts = {"block": (128, 1, 1), "grid": (4, 1, 1), "shared_bytes": 65552, "dynamic_shared_bytes": 65536}
    kernel.resources = Resources(tiles=4, **(facts | resources))
    return kernel


def device_arrays(device: int, index: int = 0) -> tuple[Handmade, Handmade]:
    return tuple(Handmade(address, (100, 60), *FLOAT32, device, index=index) for address in (0x10000, 0x20000))  # type: ignore[return-value]


@pytest.fixture
def driver(stub_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    stub = Stub(stub_library)
    stub.takes(8, 8)
    monkeypatch.setattr(devices, "cuda_library", lambda: stub.library)
    yield stub
    stub.library.stub_reset()


def test_no_driver_is_one_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_library", lambda: None)
    monkeypatch.setattr(devices, "hip_library", lambda: None)
    with pytest.raises(
        smalti.ToolMissing, match=r"the CUDA driver \(libcuda\.so\.1\) was not found; @scale for sm_90a can be saved"
    ):
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))
    with pytest.raises(smalti.ToolMissing, match=r"the HIP runtime \(libamdhip64\.so\) was not found"):
        gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE))


def test_no_gpu(driver: Stub) -> None:
    driver.set(devices=0)
    with pytest.raises(smalti.LaunchError, match="a kernel for sm_90a requires an NVIDIA GPU"):
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))


def test_cuda_launch_parameters(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel(*device_arrays(CUDA_DEVICE), stream=5)
    kernel(*device_arrays(CUDA_DEVICE))
    # The code is loaded once, and may use as much shared memory as it needs.
    assert driver.named("load") == ["load \x7fELF"] and driver.named("attribute") == ["attribute 8 65536"]
    first, second = driver.launches
    assert first == stub_driver.Launch(
        "scale", (4, 1, 1), (128, 1, 1), (0, 0, 0), 65536, 5, (struct.pack("<Q", 0x10000), struct.pack("<Q", 0x20000))
    )
    assert second.stream == 0 and driver.named("unload") == []


def test_cuda_scalars_are_passed_by_their_type(driver: Stub) -> None:
    types_ = "%n: i32, %x: f32, %y: f64, %b: i1, %c: i8, %h: i16, %i: index, %u: i64"
    program = SCALE.replace("%dst: memref<100x60xf32>", f"%dst: memref<100x60xf32>, {types_}")
    driver.takes(8, 8, 4, 4, 8, 1, 1, 2, 8, 8)
    values = (-7, 0.5, 0.25, True, 255, -2, -3, (1 << 64) - 1)
    gpu_kernel("sm_90a", program)(*device_arrays(CUDA_DEVICE), *values)
    assert b"".join(driver.launches[0].parameters[2:]) == struct.pack("<ifd?BhqQ", *values)


def test_clusters_are_asked_for(driver: Stub) -> None:
    gpu_kernel("sm_90a", cluster=(2, 1, 1))(*device_arrays(CUDA_DEVICE), stream=9)
    assert (driver.launches[0].cluster, driver.launches[0].stream) == ((2, 1, 1), 9)
    assert driver.named("attribute") == ["attribute 8 65536"]


def test_clusters_of_more_blocks_than_every_chip_takes_are_allowed_first(driver: Stub) -> None:
    gpu_kernel("sm_90a", grid=(16, 1, 1), cluster=(16, 1, 1))(*device_arrays(CUDA_DEVICE))
    assert driver.named("attribute") == ["attribute 8 65536", "attribute 14 1"]
    assert driver.launches[0].cluster == (16, 1, 1)


MAP = tensor_maps.TensorMap("f32", (100, 60), (240, 4), (32, 20))


def test_tensor_maps_follow_the_arguments(driver: Stub) -> None:
    """The driver encodes them; its operands give the bytes that Python's own encoder gives."""
    kernel = gpu_kernel("sm_90a")
    described = tensor_maps.TensorMap(
        *("bf16", (7, 6, 90, 64), (1 << 38, 1 << 20, 128, 2), (1, 2, 33, 32), (1, 2, 3, 1)), swizzle=64, fill="nan",
        argument=1, offset=32,
    )  # fmt: skip
    kernel.tensor_maps = (MAP, described)
    driver.takes(8, 8, 128, 128)
    kernel(*device_arrays(CUDA_DEVICE))
    assert driver.launches[0].parameters[2:] == (
        tensor_maps.encode(MAP, 0x10000),
        tensor_maps.encode(described, 0x20000 + 32),
    )
    with_zeros = gpu_kernel("sm_90a")
    with_zeros.tensor_maps = (tensor_maps.TensorMap("f16", (64,), (2,), (64,)),)
    driver.takes(8, 8, 128)
    with_zeros(*device_arrays(CUDA_DEVICE))
    assert driver.launches[1].parameters[2] == tensor_maps.encode(with_zeros.tensor_maps[0], 0x10000)


def test_a_tensor_map_is_made_once_for_an_address(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel.tensor_maps = (MAP,)
    driver.takes(8, 8, 128)
    first, second = device_arrays(CUDA_DEVICE)
    kernel(first, second)
    kernel(first, second)
    kernel(second, first)
    assert driver.named("encode") == ["encode 10000", "encode 20000"]
    assert [launch.parameters[2] for launch in driver.launches] == [
        tensor_maps.encode(MAP, address) for address in (0x10000, 0x10000, 0x20000)
    ]


def test_maps_live_as_long_as_launches_need_them(driver: Stub) -> None:
    """More addresses than maps are kept for."""
    kernel = gpu_kernel("sm_90a")
    kernel.tensor_maps = (MAP,)
    driver.takes(8, 8, 128)
    target = device_arrays(CUDA_DEVICE)[1]
    wanted = []
    for index in range(1100):
        address = 0x100000 * (index + 1)
        kernel(Handmade(address, (100, 60), *FLOAT32, CUDA_DEVICE), target)
        wanted.append(tensor_maps.encode(MAP, address))
        if index % 300 == 0:
            gc.collect()
    assert [launch.parameters[2] for launch in driver.launches] == wanted


def test_an_older_driver_has_no_tensor_maps_and_no_clusters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stub_library: Path
) -> None:
    old = Stub(stub_driver.build(tmp_path, "STUB_IS_OLD"))
    monkeypatch.setattr(devices, "cuda_library", lambda: old.library)
    old.takes(8, 8)
    gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))
    assert len(old.launches) == 1
    kernel = gpu_kernel("sm_90a")
    kernel.tensor_maps = (MAP,)
    with pytest.raises(
        smalti.ToolMissing,
        match=r"TMA copies requires cuTensorMapEncodeTiled; the installed driver supports CUDA 13\.0",
    ):
        kernel(*device_arrays(CUDA_DEVICE))
    with pytest.raises(smalti.ToolMissing, match="a kernel with clusters requires cuLaunchKernelEx"):
        gpu_kernel("sm_90a", cluster=(2, 1, 1))(*device_arrays(CUDA_DEVICE))


def test_host_arrays_are_copied_there_and_back_for_a_check(driver: Stub) -> None:
    source = np.arange(6000, dtype=np.float32).reshape(100, 60)
    result = np.zeros_like(source)

    def multiply(name: str, parameters: Any) -> None:
        pointers = [ctypes.cast(parameters[i], ctypes.POINTER(ctypes.c_uint64))[0] for i in range(2)]
        views = [np.frombuffer((ctypes.c_float * 6000).from_address(pointer), np.float32) for pointer in pointers]
        views[1][:] = 2 * views[0]

    driver.on_launch(multiply)
    assert gpu_kernel("sm_90a").launcher.run_on_copies([source, result], repeat=2) < 10
    np.testing.assert_array_equal(result, 2 * source)
    assert len(driver.launches) == 2
    assert len(driver.named("alloc")) == len(driver.named("free")) == 2


def test_ptx_without_ptxas_is_loaded_with_its_zero(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel.binary, kernel.binary_format = b".version 8.0", "ptx"
    kernel(*device_arrays(CUDA_DEVICE))
    assert driver.named("load") == ["load .version 8.0"]


def test_wrong_arguments_never_reach_the_gpu(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    host = np.zeros((100, 60), np.float32)
    with pytest.raises(
        smalti.LaunchError, match="the array is in cpu memory; the kernel requires cuda memory"
    ) as caught:
        kernel(host, host)
    assert "pass device arrays" in str(caught.value)
    good = device_arrays(CUDA_DEVICE)
    with pytest.raises(smalti.LaunchError, match="the shape is 100x61; the kernel requires 100x60"):
        kernel(Handmade(0x10000, (100, 61), *FLOAT32, CUDA_DEVICE), good[1])
    with pytest.raises(smalti.LaunchError, match="the element type is float16; the kernel requires float32"):
        kernel(Handmade(0x10000, (100, 60), 2, 16, CUDA_DEVICE), good[1])
    with pytest.raises(smalti.LaunchError, match=r"@scale takes 2 arguments \(.*\); the call passes 1"):
        kernel(good[0])
    with pytest.raises(smalti.LaunchError, match="overlaps argument 0"):
        kernel(good[0], good[0])
    with pytest.raises(smalti.LaunchError, match="not a CUDA stream"):
        kernel(*good, stream="main")
    assert driver.log == ["init"]
    kernel(*good)
    assert len(driver.launches) == 1


def test_arrays_on_two_gpus(driver: Stub) -> None:
    driver.set(devices=2)
    kernel = gpu_kernel("sm_90a")
    with pytest.raises(smalti.LaunchError, match=r"argument 1 .* the array is on GPU 1, but argument 0 is on GPU 0"):
        kernel(device_arrays(CUDA_DEVICE)[0], device_arrays(CUDA_DEVICE, 1)[1])
    assert driver.launches == []
    # Without a context, the arrays' GPU is used; then it is the current one.
    kernel(*device_arrays(CUDA_DEVICE, 1))
    with pytest.raises(
        smalti.LaunchError, match="the arrays are on GPU 0, but the current context belongs to GPU 1"
    ) as caught:
        kernel(*device_arrays(CUDA_DEVICE, 0))
    assert "select GPU 0 before the call" in str(caught.value)
    driver.set(current=100)
    kernel(*device_arrays(CUDA_DEVICE, 0))
    # Loaded in each context.
    assert len(driver.launches) == len(driver.named("load")) == 2


def test_arrays_must_start_where_the_code_assumes_it(driver: Stub) -> None:
    first = Handmade(0x10004, (100, 60), *FLOAT32, CUDA_DEVICE)
    with pytest.raises(smalti.LaunchError, match="the address is aligned to 4 B; the kernel requires 16 B") as caught:
        gpu_kernel("sm_90a")(first, device_arrays(CUDA_DEVICE)[1])
    assert "llvm.align" in str(caught.value)
    stated = SCALE.replace("%src: memref<100x60xf32>", "%src: memref<100x60xf32> {llvm.align = 4 : i64}")
    gpu_kernel("sm_90a", stated)(first, device_arrays(CUDA_DEVICE)[1])
    assert len(driver.launches) == 1
    with_map = gpu_kernel("sm_90a", stated)
    with_map.tensor_maps = (MAP,)
    with pytest.raises(smalti.LaunchError, match=r"tensor map: argument 0 at offset 0 B is aligned to 4 B"):
        with_map(first, device_arrays(CUDA_DEVICE)[1])


def test_another_gpu_than_the_kernel_is_for(driver: Stub) -> None:
    driver.set(major=8)
    with pytest.raises(
        smalti.LaunchError, match=r"was compiled for sm_90a, but the GPU has compute capability 8\.0"
    ) as caught:
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))
    assert "compile with target='sm_80'" in str(caught.value)
    assert driver.named("load") == []


def test_more_shared_memory_than_the_gpu_has(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a", dynamic_shared_bytes=101000)
    driver.set(shared=101376, static_shared=400)
    with pytest.raises(smalti.LaunchError) as caught:
        kernel(*device_arrays(CUDA_DEVICE))
    assert str(caught.value).startswith(
        "@scale needs 101400 B of shared memory per block; GPU 0 (Stub 0) has at most 101376 B\nhint: "
    )
    assert driver.named("unload") and driver.launches == []
    # The context is still valid: a launch within the limits runs.
    driver.set(static_shared=0)
    kernel(*device_arrays(CUDA_DEVICE))
    assert driver.launches[0].shared == 101000


def test_code_that_the_driver_does_not_take(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel.binary = b"BAD"
    with pytest.raises(
        smalti.LaunchError,
        match=r"loading the code of @scale \(the image is bad\) failed: device kernel image is invalid \(CUDA_ERROR_INVALID_IMAGE, 200\)",
    ):
        kernel(*device_arrays(CUDA_DEVICE))
    kernel.binary = b"\x7fELF"
    kernel(*device_arrays(CUDA_DEVICE))
    assert len(driver.launches) == 1


@pytest.mark.parametrize("name", ["cuModuleGetFunction", "cuFuncSetAttribute"])
def test_code_that_cannot_be_made_ready_is_unloaded(name: str, driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    driver.fail(name, 500, times=1)
    with pytest.raises(smalti.LaunchError, match="named symbol not found"):
        kernel(*device_arrays(CUDA_DEVICE))
    assert driver.named("unload") == ["unload 7"]
    kernel(*device_arrays(CUDA_DEVICE))
    assert len(driver.launches) == 1


@pytest.mark.parametrize("resources, name", [({}, "cuLaunchKernel"), ({"cluster": (2, 1, 1)}, "cuLaunchKernelEx")])
def test_a_launch_that_fails_leaves_the_next_one_well(resources: dict[str, Any], name: str, driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a", **resources)
    driver.fail(name, 701, times=1)
    with pytest.raises(
        smalti.LaunchError,
        match=r"launching @scale failed: too many resources requested \(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701\)",
    ):
        kernel(*device_arrays(CUDA_DEVICE))
    kernel(*device_arrays(CUDA_DEVICE))
    assert [launch.numbers for launch in driver.launches] == [(0x10000, 0x20000)]


def test_a_context_that_is_lost_is_said_to_be(driver: Stub) -> None:
    host = np.zeros((100, 60), np.float32)
    driver.fail("cuCtxSynchronize", 700)
    with pytest.raises(smalti.LaunchError, match=r"running the kernel failed: an illegal memory access") as caught:
        gpu_kernel("sm_90a").launcher.run_on_copies([host, host.copy()])
    assert "The GPU context is lost" in str(caught.value)
    # The first error is reported, and as much memory as possible is freed.
    assert len(driver.named("free")) == 2


def test_a_gpu_without_memory(driver: Stub) -> None:
    host = np.zeros((100, 60), np.float32)
    driver.set(memory=30000)
    with pytest.raises(
        smalti.LaunchError, match=r"allocating 24000 B of GPU memory failed: out of memory \(.*, 2\)"
    ) as caught:
        gpu_kernel("sm_90a").launcher.run_on_copies([host, host.copy()])
    assert "free GPU memory" in str(caught.value)
    assert len(driver.named("alloc")) == len(driver.named("free")) == 1
    driver.set(memory=1 << 20)
    gpu_kernel("sm_90a").launcher.run_on_copies([host, host.copy()])
    assert len(driver.launches) == 1


def test_errors_without_a_name(driver: Stub) -> None:
    driver.fail("cuLaunchKernel", 12345, times=1)
    with pytest.raises(smalti.LaunchError, match=r"launching @scale failed: unknown error \(CUDA error, 12345\)"):
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))


def test_dynamic_sizes_are_parameters(driver: Stub) -> None:
    program = SCALE.replace("memref<100x60xf32>", "memref<?x60xf32>").replace(
        "tiles 4", "tiles size(%src, 0) ceildiv 32"
    )
    gpu_kernel("sm_90a", program)(*device_arrays(CUDA_DEVICE))
    (launch,) = driver.launches
    assert launch.grid == (4, 1, 1)


def test_threads_have_parameters_of_their_own(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    wrong: list[Any] = []
    # Threads are switched while the driver runs.
    inside = threading.Barrier(4, timeout=20)

    def look(name: str, parameters: Any) -> None:
        read: Callable[[], list[int]] = lambda: [  # noqa: E731
            ctypes.cast(parameters[i], ctypes.POINTER(ctypes.c_uint64))[0] for i in range(2)
        ]
        before = read()
        inside.wait()
        if read() != before:
            wrong.append((before, read()))

    driver.on_launch(look)
    driver.set(current=100)

    def run(first: int) -> None:
        given = [Handmade(first + offset, (100, 60), *FLOAT32, CUDA_DEVICE) for offset in (0, 0x8000)]
        for _ in range(20):
            kernel(*given)

    kernel.launcher  # noqa: B018 (made before the threads need it)
    threads = [threading.Thread(target=run, args=(0x10000 * (i + 1),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class TorchLike:
    """The result of `arrays.view` for a tensor of PyTorch's."""

    def __init__(self, pointer: int, device: str = "cuda", index: int | None = 0, negated: bool = False) -> None:
        self.shape, self.dtype = (100, 60), "torch.float32"
        self.device = types.SimpleNamespace(type=device, index=index)
        self._pointer, self._negated = pointer, negated

    def data_ptr(self) -> int:
        if not self._pointer:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        return self._pointer

    def stride(self) -> tuple[int, int]:
        return (60, 1)

    def is_neg(self) -> bool:
        return self._negated

    def is_conj(self) -> bool:
        return False


TorchLike.__name__, TorchLike.__module__ = "Tensor", "torch"


def test_tensors_of_pytorch(driver: Stub) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel(TorchLike(0x10000), TorchLike(0x20000))
    assert driver.launches[0].numbers == (0x10000, 0x20000)
    view = arrays.view(TorchLike(0x10000, index=3))
    assert (view.dtype, view.strides, view.device, view.device_index) == ("float32", (60, 1), "cuda", 3)
    for wrong, message in (
        (TorchLike(0x10000, "meta"), "the array is in meta memory"),
        (TorchLike(0), "does not expose its memory: Cannot access data"),
        (TorchLike(0x10000, negated=True), r"pass tensor\.clone\(\)"),
    ):
        with pytest.raises(smalti.LaunchError, match=message):
            kernel(wrong, TorchLike(0x20000))


def test_streams_of_any_library() -> None:
    protocol = types.SimpleNamespace(__cuda_stream__=lambda: (0, 11))
    torch_like, cupy_like = types.SimpleNamespace(cuda_stream=12), types.SimpleNamespace(ptr=13)
    assert [cuda.stream_pointer(s) for s in (None, protocol, torch_like, cupy_like, 14)] == [0, 11, 12, 13, 14]


@pytest.fixture
def hip(driver: Stub, monkeypatch: pytest.MonkeyPatch) -> Stub:
    monkeypatch.setattr(devices, "hip_library", lambda: driver.library)
    return driver


def test_hip_launch_parameters(hip: Stub) -> None:
    kernel = gpu_kernel("gfx942")
    for _ in range(2):
        kernel(*device_arrays(ROCM_DEVICE), stream=3)
    first, second = hip.launches
    # Shared memory is in the code object, so the launch does not request any.
    assert (first.grid, first.block, first.shared, first.stream) == ((4, 1, 1), (128, 1, 1), 0, 3)
    assert first.numbers == (0x10000, 0x20000) and second == first


def test_hip_memory_under_the_name_of_cuda(hip: Stub) -> None:
    arrays = [
        types.SimpleNamespace(
            __cuda_array_interface__={"shape": (100, 60), "typestr": "<f4", "data": (address, False), "version": 3}
        )
        for address in (0x10000, 0x20000)
    ]
    gpu_kernel("gfx942")(*arrays)
    assert hip.launches[0].numbers == (0x10000, 0x20000)


def test_hip_arrays_on_another_gpu(hip: Stub) -> None:
    hip.set(devices=2)
    kernel = gpu_kernel("gfx942")
    for _ in range(2):
        kernel(*device_arrays(ROCM_DEVICE, 0))
        with pytest.raises(smalti.LaunchError, match="the arrays are on GPU 1, but the current GPU is GPU 0") as caught:
            kernel(*device_arrays(ROCM_DEVICE, 1))
        assert "select GPU 1 before the call" in str(caught.value)
    hip.library.hipSetDevice(1)
    kernel(*device_arrays(ROCM_DEVICE, 1))
    hip.library.hipSetDevice(0)
    assert len(hip.launches) == 3 and len(hip.named("load")) == 2


def test_hip_errors(hip: Stub) -> None:
    hip.fail("hipModuleLoadData", 209)
    with pytest.raises(
        smalti.LaunchError, match=r"loading the gfx942 code of @scale failed: no kernel image \(HIP error 209\)"
    ):
        gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE))
    hip.set(devices=0)
    with pytest.raises(smalti.LaunchError, match="requires an AMD GPU"):
        gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE))
    kernel = gpu_kernel("gfx942")
    kernel.binary = None
    kernel.notes.append("ld.lld was not found")
    with pytest.raises(smalti.ToolMissing, match=r"does not have a code object: ld\.lld was not found"):
        kernel(*device_arrays(ROCM_DEVICE))
