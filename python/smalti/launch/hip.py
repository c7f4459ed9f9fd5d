"""Launching a kernel on an AMD GPU, through the HIP runtime found at run time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..calling import arrays, calls
from ..errors import LaunchError, ToolMissing
from . import devices
from .cuda import check_scalars_and_layouts, stream_pointer

if TYPE_CHECKING:
    from .compiled import CompiledCode


class HipLauncher:
    """Loads the code object once a device and launches it."""

    def __init__(self, kernel: CompiledCode) -> None:
        check_scalars_and_layouts(kernel)
        if kernel.binary is None:
            raise ToolMissing(f"@{kernel.symbol} has no code object to load: {' '.join(kernel.notes)}")
        self._kernel = kernel
        self._check = calls.ArgumentChecker(kernel.entry, arrays.HIP, calls.GPU_ALIGNMENT)
        self._layout = calls.ParameterLayout(kernel.arguments)
        self._functions: dict[int, ctypes.c_void_p] = {}
        library = devices.hip_library()
        if library is None:
            raise ToolMissing(
                f"no HIP runtime here (libamdhip64.so): a kernel for {kernel.target} can be saved, not run",
                hint="run it on a machine with an AMD GPU and ROCm, or compile with target='cpu' to check its numbers",
            )
        self._hip = library
        self._hip.hipGetErrorString.restype = ctypes.c_char_p
        self._hip.hipModuleLaunchKernel.argtypes = [
            ctypes.c_void_p,
            *[ctypes.c_uint] * 7,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        self._ask(self._hip.hipInit(0), "starting the HIP runtime")
        count = ctypes.c_int()
        self._ask(self._hip.hipGetDeviceCount(ctypes.byref(count)), "counting GPUs")
        if count.value == 0:
            raise LaunchError(f"no AMD GPU here to run a kernel for {kernel.target}")

    def _ask(self, status: int, what: str, hint: str | None = None) -> None:
        if status:
            reason = self._hip.hipGetErrorString(status)
            raise LaunchError(f"{what}: {reason.decode() if reason else '?'} (HIP error {status})", hint=hint)

    def _function(self) -> ctypes.c_void_p:
        device = ctypes.c_int()
        self._ask(self._hip.hipGetDevice(ctypes.byref(device)), "asking for the current GPU")
        if device.value in self._functions:
            return self._functions[device.value]
        chips = [gpu.architecture for gpu in devices.gpus() if gpu.vendor == "amd"]
        hint = f"the GPUs here are: {', '.join(chips)}" if chips else None
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._ask(
            self._hip.hipModuleLoadData(ctypes.byref(module), self._kernel.binary),
            f"loading the {self._kernel.target} code of @{self._kernel.symbol}",
            hint,
        )
        self._ask(
            self._hip.hipModuleGetFunction(ctypes.byref(function), module, self._kernel.symbol.encode()),
            f"finding @{self._kernel.symbol} in the code",
        )
        self._functions[device.value] = function
        return function

    def __call__(self, *given: Any, stream: Any = None) -> None:
        handle = stream_pointer(stream)
        values, _, _keep = self._check(given, handle)
        function = self._function()
        resources = self._kernel.resources
        assert resources.grid is not None and resources.block is not None
        cells = ctypes.create_string_buffer(max(self._layout.size, 1))
        self._layout.pack_into(cells, values)
        first = ctypes.addressof(cells)
        parameters = (ctypes.c_void_p * len(values))(*(first + at for at in self._layout.offsets))
        # Shared memory is static in the code object.
        self._ask(
            self._hip.hipModuleLaunchKernel(
                function, *resources.grid, *resources.block, 0, handle, ctypes.addressof(parameters), None
            ),
            f"launching @{self._kernel.symbol}",
        )

    def run_on_copies(self, values: list[Any], repeat: int = 1) -> float:
        """Runs on copies of host arrays, copies them back, and returns the shortest run in seconds."""
        return calls.run_on_copies(_HipMemory(self._hip, self._ask), arrays.HIP, self, values, repeat)


class _HipMemory:
    def __init__(self, library: ctypes.CDLL, ask: Callable[..., None]) -> None:
        self._hip = library
        self._ask = ask

    def allocate(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        self._ask(self._hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)), f"asking for {size} B")
        return pointer.value or 0

    def _copy(self, to: int, source: int, size: int, kind: int, what: str) -> None:
        status = self._hip.hipMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size), kind)
        self._ask(status, what)

    def upload(self, pointer: int, host: int, size: int) -> None:
        self._copy(pointer, host, size, 1, "copying to the GPU")

    def download(self, host: int, pointer: int, size: int) -> None:
        self._copy(host, pointer, size, 2, "copying from the GPU")

    def free(self, pointer: int) -> None:
        # A kernel that failed has failed already: freeing must not hide its error.
        self._hip.hipFree(ctypes.c_void_p(pointer))

    def synchronize(self) -> None:
        self._ask(self._hip.hipDeviceSynchronize(), "running the kernel")
