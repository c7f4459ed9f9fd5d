"""Launching on GPUs, without one: the messages, and the calls that the drivers get."""

from __future__ import annotations

import builtins
import ctypes
import sys
import types
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import SCALE
from smalti import devices, entry, launch_cuda, targets
from smalti.kernel import Kernel, Resources
from test_launch_cpu import Handmade

FLOAT32 = (2, 32)
CUDA_DEVICE, ROCM_DEVICE = 2, 10


def gpu_kernel(target: str, program: str = SCALE) -> Kernel:
    module = smalti.parse(program)
    kernel = Kernel(targets.get(target), entry.describe(entry.find_entry(module)), {})
    kernel.binary = b"\x7fELF"
    kernel.binary_format = "cubin" if kernel.target.vendor == "nvidia" else "hsaco"
    kernel.resources = Resources(
        tiles=4, block=(128, 1, 1), grid=(4, 1, 1), shared_bytes=65552, dynamic_shared_bytes=65536
    )
    return kernel


def device_arrays(device: int) -> tuple[Handmade, Handmade]:
    return tuple(Handmade(address, (100, 60), *FLOAT32, device) for address in (0x10000, 0x20000))  # type: ignore[return-value]


class FakeStatus(int):
    pass


class FakeDriver(types.ModuleType):
    """Answers like cuda.bindings.driver and writes down what it was asked."""

    CUdevice_attribute = types.SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor"
    )
    CUfunction_attribute = types.SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="dynamic shared")

    def __init__(self, capability: tuple[int, int] = (9, 0)) -> None:
        super().__init__("driver")
        self.capability = dict(zip(("major", "minor"), capability, strict=True))
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.fail: dict[str, int] = {}
        self.memory: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append((name, arguments))
            status = FakeStatus(self.fail.get(name, 0))
            if name == "cuGetErrorString":
                return 0, b"invalid argument"
            if name == "cuDeviceGetAttribute":
                return status, self.capability[arguments[0]]
            if name == "cuMemAlloc":
                # A buffer of the host stands for the GPU's memory.
                self.memory.append(ctypes.create_string_buffer(arguments[0] + 256))
                return status, (ctypes.addressof(self.memory[-1]) + 255) & ~255
            if name in ("cuMemcpyHtoD", "cuMemcpyDtoH"):
                ctypes.memmove(*arguments)
                return (status,)
            if name == "cuCtxSynchronize":
                return (status,)
            return status, {"cuCtxGetCurrent": 0, "cuDeviceGetCount": 1}.get(name, 77)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    fake = FakeDriver()
    bindings = types.ModuleType("cuda.bindings")
    bindings.driver = fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setattr(devices, "cuda_library", lambda: object())
    return fake


def test_no_driver_is_one_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_library", lambda: None)
    monkeypatch.setattr(devices, "hip_library", lambda: None)
    with pytest.raises(smalti.ToolMissing, match="no CUDA driver here"):
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))
    with pytest.raises(smalti.ToolMissing, match=r"no HIP runtime here \(libamdhip64\.so\)"):
        gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE))


def test_missing_cuda_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("cuda"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(devices, "cuda_library", lambda: object())
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(smalti.ToolMissing, match="pip install cuda-bindings"):
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))


def test_cuda_launch_parameters(driver: FakeDriver) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel(*device_arrays(CUDA_DEVICE), stream=5)
    kernel(*device_arrays(CUDA_DEVICE))
    assert driver.named("cuModuleLoadData") == [(b"\x7fELF",)]
    assert driver.named("cuFuncSetAttribute") == [(77, "dynamic shared", 65536)]
    first, second = driver.named("cuLaunchKernel")
    pointers = ((0x10000, 0x20000), (ctypes.c_void_p, ctypes.c_void_p))
    assert first == (77, 4, 1, 1, 128, 1, 1, 65536, 5, pointers, 0)
    assert second[8] == 0


def test_cuda_scalars_are_passed_by_their_type(driver: FakeDriver) -> None:
    program = SCALE.replace("%dst: memref<100x60xf32>", "%dst: memref<100x60xf32>, %n: i32, %x: f32")
    gpu_kernel("sm_90a", program)(*device_arrays(CUDA_DEVICE), 7, 0.5)
    values, types_ = driver.named("cuLaunchKernel")[0][9]
    assert values[2:] == (7, 0.5) and types_[2:] == (ctypes.c_int32, ctypes.c_float)


def test_host_arrays_are_copied_there_and_back_for_a_check(driver: FakeDriver) -> None:
    source = np.arange(6000, dtype=np.float32).reshape(100, 60)
    result = np.zeros_like(source)

    def multiply(*arguments: Any) -> tuple[int]:
        driver.calls.append(("cuLaunchKernel", arguments))
        views = [(ctypes.c_float * 6000).from_address(pointer) for pointer in arguments[9][0]]
        np.frombuffer(views[1], np.float32)[:] = 2 * np.frombuffer(views[0], np.float32)
        return (0,)

    driver.cuLaunchKernel = multiply
    assert gpu_kernel("sm_90a").launcher.run_on_copies([source, result], repeat=2) < 10
    np.testing.assert_array_equal(result, 2 * source)
    assert len(driver.named("cuLaunchKernel")) == 2
    assert len(driver.named("cuMemAlloc")) == len(driver.named("cuMemFree")) == 2


def test_copies_are_freed_where_the_launch_fails(driver: FakeDriver) -> None:
    driver.fail["cuCtxSynchronize"] = 700
    host = np.zeros((100, 60), np.float32)
    with pytest.raises(smalti.LaunchError, match=r"running the kernel: .* \(CUDA error 700\)"):
        gpu_kernel("sm_90a").launcher.run_on_copies([host, host.copy()])
    assert len(driver.named("cuMemFree")) == 2


def test_ptx_without_ptxas_is_loaded_with_its_zero(driver: FakeDriver) -> None:
    kernel = gpu_kernel("sm_90a")
    kernel.binary, kernel.binary_format = b".version 8.0", "ptx"
    kernel(*device_arrays(CUDA_DEVICE))
    assert driver.named("cuModuleLoadData") == [(b".version 8.0\0",)]


def test_wrong_arguments_never_reach_the_gpu(driver: FakeDriver) -> None:
    kernel = gpu_kernel("sm_90a")
    host = np.zeros((100, 60), np.float32)
    with pytest.raises(smalti.LaunchError, match="its memory is on cpu, this kernel runs on cuda") as caught:
        kernel(host, host)
    assert "pass device arrays" in str(caught.value)
    with pytest.raises(smalti.LaunchError, match="shape"):
        kernel(Handmade(0x10000, (100, 61), *FLOAT32, CUDA_DEVICE), device_arrays(CUDA_DEVICE)[1])
    with pytest.raises(smalti.LaunchError, match="not a stream"):
        kernel(*device_arrays(CUDA_DEVICE), stream="main")
    assert [name for name, _ in driver.calls if name != "cuInit"] == []


def test_arrays_must_start_where_the_code_assumes_it(driver: FakeDriver) -> None:
    first = Handmade(0x10004, (100, 60), *FLOAT32, CUDA_DEVICE)
    with pytest.raises(smalti.LaunchError, match="its address is a multiple of 4 bytes, the kernel needs 16") as caught:
        gpu_kernel("sm_90a")(first, device_arrays(CUDA_DEVICE)[1])
    assert "llvm.align" in str(caught.value)
    stated = SCALE.replace("%src: memref<100x60xf32>", "%src: memref<100x60xf32> {llvm.align = 4 : i64}")
    gpu_kernel("sm_90a", stated)(first, device_arrays(CUDA_DEVICE)[1])
    assert len(driver.named("cuLaunchKernel")) == 1


def test_another_gpu_than_the_kernel_is_for(driver: FakeDriver) -> None:
    driver.capability = {"major": 8, "minor": 0}
    with pytest.raises(smalti.LaunchError, match=r"is for sm_90a, the GPU here has compute capability 8\.0") as caught:
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))
    assert "compile with target='sm_80'" in str(caught.value)
    assert driver.named("cuModuleLoadData") == []


def test_driver_errors_carry_their_text(driver: FakeDriver) -> None:
    driver.fail["cuLaunchKernel"] = 1
    with pytest.raises(smalti.LaunchError, match=r"launching @scale: invalid argument \(CUDA error 1\)"):
        gpu_kernel("sm_90a")(*device_arrays(CUDA_DEVICE))


def test_dynamic_memrefs_are_refused_on_gpus(driver: FakeDriver) -> None:
    program = SCALE.replace("memref<100x60xf32>", "memref<?x60xf32>")
    with pytest.raises(smalti.LaunchError, match="static shape"):
        gpu_kernel("sm_90a", program)(*device_arrays(CUDA_DEVICE))


def test_streams_of_any_library() -> None:
    protocol = types.SimpleNamespace(__cuda_stream__=lambda: (0, 11))
    torch_like, cupy_like = types.SimpleNamespace(cuda_stream=12), types.SimpleNamespace(ptr=13)
    assert [launch_cuda.stream_pointer(s) for s in (None, protocol, torch_like, cupy_like, 14)] == [0, 11, 12, 13, 14]


class FakeFunction:
    """A function of a ctypes library: attributes can be set, and a call is written down."""

    def __init__(self, library: FakeHip, name: str) -> None:
        self._library, self._name = library, name

    def __call__(self, *arguments: Any) -> Any:
        self._library.calls.append((self._name, arguments))
        if self._name == "hipGetErrorString":
            return b"no kernel image"
        if self._name == "hipGetDeviceCount":
            arguments[0]._obj.value = self._library.count
        if self._name == "hipModuleLaunchKernel":
            cells = ctypes.cast(arguments[9], ctypes.POINTER(ctypes.c_void_p))
            read = [ctypes.cast(cells[i], ctypes.POINTER(ctypes.c_uint64))[0] for i in range(2)]
            self._library.launched.append((arguments[1:8], arguments[8], read))
        return self._library.fail.get(self._name, 0)


class FakeHip:
    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.launched: list[Any] = []
        self.fail: dict[str, int] = {}
        self.count = 1

    def __getattr__(self, name: str) -> FakeFunction:
        function = FakeFunction(self, name)
        self.__dict__[name] = function
        return function


@pytest.fixture
def hip(monkeypatch: pytest.MonkeyPatch) -> FakeHip:
    fake = FakeHip()
    monkeypatch.setattr(devices, "hip_library", lambda: fake)
    return fake


def test_hip_launch_parameters(hip: FakeHip) -> None:
    gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE), stream=3)
    # Shared memory is in the code object, so the launch asks for none.
    assert hip.launched == [((4, 1, 1, 128, 1, 1, 0), 3, [0x10000, 0x20000])]


def test_hip_memory_under_the_name_of_cuda(hip: FakeHip) -> None:
    arrays = [
        types.SimpleNamespace(
            __cuda_array_interface__={"shape": (100, 60), "typestr": "<f4", "data": (address, False), "version": 3}
        )
        for address in (0x10000, 0x20000)
    ]
    gpu_kernel("gfx942")(*arrays)
    assert hip.launched[0][2] == [0x10000, 0x20000]


def test_hip_errors(hip: FakeHip) -> None:
    hip.fail["hipModuleLoadData"] = 209
    with pytest.raises(
        smalti.LaunchError, match=r"loading the gfx942 code of @scale: no kernel image \(HIP error 209\)"
    ):
        gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE))
    hip.count = 0
    with pytest.raises(smalti.LaunchError, match="no AMD GPU here"):
        gpu_kernel("gfx942")(*device_arrays(ROCM_DEVICE))
    kernel = gpu_kernel("gfx942")
    kernel.binary = None
    kernel.notes.append("no ld.lld was found")
    with pytest.raises(smalti.ToolMissing, match=r"no code object to load: no ld\.lld was found"):
        kernel(*device_arrays(ROCM_DEVICE))
