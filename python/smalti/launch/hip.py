# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launcher for AMD GPUs, through the HIP runtime, which is loaded at run time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..calling import arrays, calls, native
from ..errors import LaunchError, ToolMissing
from . import devices
from .cuda import check_layouts, stream_pointer

if TYPE_CHECKING:
    from ..calling._launcher import Launcher
    from .compiled import CompiledCode

NAME = "the HIP runtime"


def _no_maps(*_: Any) -> bytes:
    """AMD kernels do not have tensor maps."""
    return b""


class HipLauncher:
    """Loads the code object once per device, and launches the kernel."""

    def __init__(self, kernel: CompiledCode) -> None:
        check_layouts(kernel)
        if kernel.binary is None:
            raise ToolMissing(f"@{kernel.symbol} does not have a code object: {' '.join(kernel.notes)}")
        self._kernel = kernel
        self._check = calls.ArgumentChecker(kernel.entry, arrays.HIP, calls.GPU_ALIGNMENT, takes_sizes=True)
        self._layout = calls.ParameterLayout(kernel.arguments, takes_sizes=True)
        self._functions: dict[int, ctypes.c_void_p] = {}
        library = devices.hip_library()
        if library is None:
            raise ToolMissing(
                f"the HIP runtime (libamdhip64.so) was not found; a kernel for {kernel.target} can be saved but not run",
                hint="run it on a machine with an AMD GPU and ROCm, or use target='emu:CHIP' or target='cpu' to check the result",
            )
        devices.check_process(NAME)
        self._hip = library
        self._hip.hipGetErrorString.restype = ctypes.c_char_p
        self._hip.hipModuleLaunchKernel.argtypes = [
            ctypes.c_void_p,
            *[ctypes.c_uint] * 7,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        self._require(self._hip.hipInit(0), "starting the HIP runtime")
        count = ctypes.c_int()
        self._require(self._hip.hipGetDeviceCount(ctypes.byref(count)), "counting GPUs")
        if count.value == 0:
            raise LaunchError(
                f"a kernel for {kernel.target} requires an AMD GPU, but none was found; compile for emu:CHIP to run it on the CPU"
            )
        self.native = self._make_native()
        """Launches without Python code, on GPUs that have the code. `__call__` is the reference."""

    def _make_native(self) -> Launcher | None:
        kernel, resources = self._kernel, self._kernel.resources
        assert resources.block is not None
        return native.launcher(
            kernel.entry,
            arrays.HIP,
            grid=resources.grid,
            block=resources.block,
            cluster=None,
            # The code object declares its shared memory.
            shared=0,
            maps=(),
            current=self._hip.hipGetDevice,
            launch=self._hip.hipModuleLaunchKernel,
            encode=_no_maps,
            fail=self._fail,
            stream_pointer=stream_pointer,
        )

    @property
    def kernel(self) -> CompiledCode:
        """The kernel that the launcher runs."""
        return self._kernel

    def functions(self) -> devices.LaunchFunctions:
        """The functions of the runtime for launches without Python code."""
        return devices.LaunchFunctions(
            launch=self._hip.hipModuleLaunchKernel,
            context_of=self._hip.hipStreamGetDevice,
            get_current=self._hip.hipGetDevice,
            set_current=self._hip.hipSetDevice,
            encode=None,
            # The code object declares its shared memory.
            shared=0,
            error=self._launch_error,
        )

    def function(self) -> int:
        """The handle of the code on the current GPU, which is loaded on first use."""
        return self._function(None).value or 0

    def _launch_error(self, status: int) -> LaunchError:
        return self._error(status, f"launching @{self._kernel.symbol}")

    def _fail(self, status: int) -> None:
        if status:
            raise self._launch_error(status)

    def _error(self, status: int, what: str, hint: str | None = None) -> LaunchError:
        reason = self._hip.hipGetErrorString(status)
        return LaunchError(
            f"{what} failed: {reason.decode() if reason else 'unknown error'} (HIP error {status})", hint=hint
        )

    def _require(self, status: int, what: str, hint: str | None = None) -> None:
        if status:
            raise self._error(status, what, hint)

    def _function(self, needed: int | None) -> ctypes.c_void_p:
        """The code on the current GPU, which must be that of the arrays."""
        device = ctypes.c_int()
        self._require(self._hip.hipGetDevice(ctypes.byref(device)), "querying the current GPU")
        if needed is not None and needed != device.value:
            raise LaunchError(
                f"the arrays are on GPU {needed}, but the current GPU is GPU {device.value}",
                hint=f"select GPU {needed} before the call, for example with torch.cuda.device({needed})",
            )
        if device.value in self._functions:
            return self._functions[device.value]
        chips = [gpu.architecture for gpu in devices.gpus() if gpu.vendor == "amd"]
        hint = f"compile for a GPU of this machine: {', '.join(chips)}" if chips else None
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._require(
            self._hip.hipModuleLoadData(ctypes.byref(module), self._kernel.binary),
            f"loading the {self._kernel.target} code of @{self._kernel.symbol}",
            hint,
        )
        self._require(
            self._hip.hipModuleGetFunction(ctypes.byref(function), module, self._kernel.symbol.encode()),
            f"finding @{self._kernel.symbol} in the code",
        )
        self._functions[device.value] = function
        if self.native is not None:
            self.native.add(device.value, device.value, function.value or 0)
        return function

    def __call__(self, *given: Any, stream: Any = None) -> None:
        devices.check_process(NAME)
        handle = stream_pointer(stream)
        values, device, views = self._check(given, handle)
        function = self._function(device)
        grid = self._kernel.grid_of(views)
        if grid[0] == 0:
            return
        resources = self._kernel.resources
        assert resources.block is not None
        cells = ctypes.create_string_buffer(max(self._layout.size, 1))
        self._layout.pack_into(cells, self._layout.expand(values, views))
        first = ctypes.addressof(cells)
        parameters = (ctypes.c_void_p * len(self._layout.offsets))(*(first + at for at in self._layout.offsets))
        status = self._hip.hipModuleLaunchKernel(
            function, *grid, *resources.block, 0, handle, ctypes.addressof(parameters), None
        )
        if status:
            self._fail(status)

    def run_on_copies(self, values: list[Any], repeat: int = 1) -> float:
        """Runs on copies of host arrays, copies them back, and returns the shortest run in seconds."""
        return calls.run_on_copies(_HipMemory(self._hip, self._require), arrays.HIP, self, values, repeat)


class _HipMemory:
    def __init__(self, library: ctypes.CDLL, require: Callable[..., None]) -> None:
        devices.check_process(NAME)
        self._hip = library
        self._require = require

    def allocate(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        self._require(
            self._hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)), f"allocating {size} B of GPU memory"
        )
        return pointer.value or 0

    def _copy(self, to: int, source: int, size: int, kind: int, what: str) -> None:
        status = self._hip.hipMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size), kind)
        self._require(status, what)

    def upload(self, pointer: int, host: int, size: int) -> None:
        self._copy(pointer, host, size, 1, "copying to the GPU")

    def download(self, host: int, pointer: int, size: int) -> None:
        self._copy(host, pointer, size, 2, "copying from the GPU")

    def free(self, pointer: int) -> None:
        # The status is ignored, so that it does not hide the error of a failed kernel.
        self._hip.hipFree(ctypes.c_void_p(pointer))

    def synchronize(self) -> None:
        self._require(self._hip.hipDeviceSynchronize(), "running the kernel")
