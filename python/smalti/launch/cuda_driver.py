# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the CUDA driver API (`libcuda.so.1`) that launches use, with driver errors as exceptions.

The library is loaded on first use. Functions are bound by the names that the library exports: `cuMemAlloc` is a macro for
`cuMemAlloc_v2`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ..calling.tensor_maps import BYTES, L2_PROMOTION, TensorMap, check_address
from ..errors import LaunchError, ToolMissing
from . import devices

_P, _I, _U, _S = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
_OUT = ctypes.POINTER

NAME = "the CUDA driver"

_FUNCTIONS: dict[str, list[Any]] = {
    "cuInit": [_U],
    "cuGetErrorName": [_I, _OUT(ctypes.c_char_p)],
    "cuGetErrorString": [_I, _OUT(ctypes.c_char_p)],
    "cuDriverGetVersion": [_OUT(_I)],
    "cuDeviceGetCount": [_OUT(_I)],
    "cuDeviceGet": [_OUT(_I), _I],
    "cuDeviceGetName": [ctypes.c_char_p, _I, _I],
    "cuDeviceGetAttribute": [_OUT(_I), _I, _I],
    "cuDevicePrimaryCtxRetain": [_OUT(_P), _I],
    "cuCtxGetCurrent": [_OUT(_P)],
    "cuCtxSetCurrent": [_P],
    "cuCtxGetDevice": [_OUT(_I)],
    "cuCtxSynchronize": [],
    "cuStreamGetCtx": [_P, _OUT(_P)],
    "cuModuleLoadDataEx": [_OUT(_P), ctypes.c_char_p, _U, _P, _P],
    "cuModuleUnload": [_P],
    "cuModuleGetFunction": [_OUT(_P), _P, ctypes.c_char_p],
    "cuFuncGetAttribute": [_OUT(_I), _I, _P],
    "cuFuncSetAttribute": [_P, _I, _I],
    "cuLaunchKernel": [_P, *[_U] * 7, _P, _P, _P],
    "cuMemAlloc_v2": [_OUT(_P), _S],
    "cuMemFree_v2": [_P],
    "cuMemcpyHtoD_v2": [_P, _P, _S],
    "cuMemcpyDtoH_v2": [_P, _P, _S],
}

_FUNCTIONS_OF_12: dict[str, list[Any]] = {
    "cuLaunchKernelEx": [_P, _P, _P, _P],
    "cuTensorMapEncodeTiled": [_P, _I, _U, _P, _P, _P, _P, _P, _I, _I, _I, _I],
}
"""Functions of CUDA 12.0 and later, which only some kernels need."""

# cuda.h: CUdevice_attribute, CUfunction_attribute, CUjit_option, CUlaunchAttributeID.
MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76
_FUNCTION_SHARED_BYTES, _FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 1, 8
_FUNCTION_NON_PORTABLE_CLUSTER = 14
_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES = 5, 6
_LAUNCH_CLUSTER_DIMENSION = 4
INTERLEAVE_NONE = 0

PORTABLE_CLUSTER_SIZE = 8
"""The cluster size that every chip with clusters supports (CUDA C++ Programming Guide, "Thread Block Clusters")."""

_LOST = {4, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 720}
"""Errors after which a context cannot be used any more (cuda.h)."""
_OUT_OF_MEMORY = 2
_NOT_INITIALIZED = 3


class _LaunchAttribute(ctypes.Structure):
    # CUlaunchAttribute: an id, padding to 8 bytes, and a union of 64.
    _fields_ = [("id", _I), ("padding", ctypes.c_char * 4), ("value", _U * 16)]


class _LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", _U * 3),
        ("block", _U * 3),
        ("shared", _U),
        ("stream", _P),
        ("attributes", _OUT(_LaunchAttribute)),
        ("count", _U),
    ]


class Driver:
    """The functions of the driver. Each raises LaunchError if the driver reports an error."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        for name, types in (_FUNCTIONS | _FUNCTIONS_OF_12).items():
            if (function := getattr(library, name, None)) is not None:
                function.argtypes, function.restype = types, _I
            elif name in _FUNCTIONS:
                raise ToolMissing(f"the CUDA driver does not have the function {name}", hint="install a newer driver")
        self._launch_kernel = library.cuLaunchKernel
        self._check(library.cuInit(0), "starting the CUDA driver")

    @property
    def context_function(self) -> Any:
        """`cuCtxGetCurrent`."""
        return self._library.cuCtxGetCurrent

    @property
    def stream_functions(self) -> tuple[Any, Any, Any]:
        """`cuStreamGetCtx`, `cuCtxGetCurrent` and `cuCtxSetCurrent`."""
        return self._library.cuStreamGetCtx, self._library.cuCtxGetCurrent, self._library.cuCtxSetCurrent

    @property
    def encode_function(self) -> Any:
        """`cuTensorMapEncodeTiled`."""
        return self._newer("cuTensorMapEncodeTiled", "a kernel with TMA copies")

    def launch_function(self, cluster: Sequence[int] | None) -> Any:
        """The function that launches a kernel with these clusters, or None if the driver does not have it."""
        return self._launch_kernel if cluster is None else getattr(self._library, "cuLaunchKernelEx", None)

    def _check(self, status: int, what: str, hint: str | None = None) -> None:
        if status:
            raise self.error(status, what, hint)

    def error(self, status: int, what: str, hint: str | None = None) -> LaunchError:
        """The error for a status of the driver. `what` is the failed action."""
        text, name = ctypes.c_char_p(), ctypes.c_char_p()
        self._library.cuGetErrorString(status, ctypes.byref(text))
        self._library.cuGetErrorName(status, ctypes.byref(name))
        reason = (text.value or b"unknown error").decode(errors="replace")
        title = (name.value or b"CUDA error").decode(errors="replace")
        if hint is None and status in _LOST:
            hint = (
                "this kernel or an earlier one caused the error; to find the cause, run the kernels on the emulator (emu:CHIP) or "
                "under compute-sanitizer. The GPU context is lost: start a new process to use the GPU again"
            )
        if hint is None and status == _NOT_INITIALIZED:
            hint = devices.FORK_HINT
        return LaunchError(f"{what} failed: {reason} ({title}, {status})", hint=hint)

    def _newer(self, name: str, what: str) -> Any:
        function = getattr(self._library, name, None)
        if function is None:
            version = ctypes.c_int()
            self._library.cuDriverGetVersion(ctypes.byref(version))
            raise ToolMissing(
                f"{what} requires {name}; the installed driver supports CUDA {version.value // 1000}."
                f"{version.value % 1000 // 10} and does not have it",
                hint="install a driver for CUDA 12.0 or newer",
            )
        return function

    # Devices and contexts.

    def device_count(self) -> int:
        count = ctypes.c_int()
        self._check(self._library.cuDeviceGetCount(ctypes.byref(count)), "counting GPUs")
        return count.value

    def attribute(self, attribute: int, device: int) -> int:
        value = ctypes.c_int()
        status = self._library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        self._check(status, f"querying attribute {attribute} of GPU {device}")
        return value.value

    def device_name(self, device: int) -> str:
        name = ctypes.create_string_buffer(256)
        self._check(self._library.cuDeviceGetName(name, len(name), device), f"querying the name of GPU {device}")
        return name.value.decode(errors="replace")

    def current_context(self) -> int:
        """The handle of the current context, or 0."""
        context = ctypes.c_void_p()
        self._check(self._library.cuCtxGetCurrent(ctypes.byref(context)), "querying the current context")
        return context.value or 0

    def current_device(self) -> int:
        device = ctypes.c_int()
        self._check(self._library.cuCtxGetDevice(ctypes.byref(device)), "querying the current GPU")
        return device.value

    def use_primary_context(self, index: int) -> int:
        """Makes the primary context of a GPU current, and returns it."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._check(self._library.cuDeviceGet(ctypes.byref(device), index), f"finding GPU {index}")
        status = self._library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        self._check(status, f"creating a context on GPU {index}")
        self._check(self._library.cuCtxSetCurrent(context), "setting the current context")
        return context.value or 0

    def synchronize(self) -> None:
        self._check(self._library.cuCtxSynchronize(), "running the kernel")

    # Code.

    def load(self, image: bytes, what: str) -> int:
        """Loads a cubin, or PTX with a terminating zero, and returns the module."""
        log = ctypes.create_string_buffer(8192)
        keys = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        module = ctypes.c_void_p()
        status = self._library.cuModuleLoadDataEx(ctypes.byref(module), image, 2, keys, values)
        if status:
            details = log.value.decode(errors="replace").strip()
            raise self.error(status, f"loading the code of {what}" + (f" ({details})" if details else ""))
        return module.value or 0

    def unload(self, module: int) -> None:
        """Unloads a module after an error. Its kernels must not have run."""
        self._library.cuModuleUnload(module)

    def function(self, module: int, name: str) -> int:
        function = ctypes.c_void_p()
        status = self._library.cuModuleGetFunction(ctypes.byref(function), module, name.encode())
        self._check(status, f"finding @{name} in the code")
        return function.value or 0

    def static_shared_bytes(self, function: int) -> int:
        value = ctypes.c_int()
        status = self._library.cuFuncGetAttribute(ctypes.byref(value), _FUNCTION_SHARED_BYTES, function)
        self._check(status, "querying the shared memory of the code")
        return value.value

    def allow_shared_bytes(self, function: int, size: int) -> None:
        status = self._library.cuFuncSetAttribute(function, _FUNCTION_MAX_DYNAMIC_SHARED_BYTES, size)
        self._check(status, f"requesting {size} B of dynamic shared memory (within the limit of the GPU)")

    def allow_large_clusters(self, function: int, size: int) -> None:
        status = self._library.cuFuncSetAttribute(function, _FUNCTION_NON_PORTABLE_CLUSTER, 1)
        self._check(status, f"requesting clusters of {size} blocks")

    # Launches.

    def tensor_map(self, described: TensorMap, address: int) -> Any:
        """Encodes a tensor map. Returns its 128 bytes in host memory that a launch can read."""
        encode = self.encode_function
        check_address(described, address)
        # The driver requires an alignment of 64 bytes.
        storage = (ctypes.c_char * (BYTES + 64))()
        start = -ctypes.addressof(storage) % 64
        result = (ctypes.c_char * BYTES).from_buffer(storage, start)
        rank = described.rank
        extents, strides = described.static_layout

        def inner_first(values: Sequence[int], kind: Any) -> Any:
            return (kind * max(len(values), 1))(*reversed(values))

        status = encode(
            ctypes.addressof(result),
            described.driver_type,
            rank,
            address,
            inner_first(extents, ctypes.c_uint64),
            inner_first(strides[:-1], ctypes.c_uint64),
            inner_first(described.box, ctypes.c_uint32),
            inner_first(described.element_strides, ctypes.c_uint32),
            INTERLEAVE_NONE,
            described.driver_swizzle,
            L2_PROMOTION,
            described.driver_fill,
        )
        self._check(status, f"encoding {described}")
        return result

    def launcher(
        self,
        function: int,
        block: Sequence[int],
        cluster: Sequence[int] | None,
        shared: int,
        what: str,
    ) -> Any:
        """A function `(parameters, stream, grid)` that launches the kernel, and raises LaunchError if the launch fails."""
        if cluster is None:
            launch = self._launch_kernel

            def run(parameters: Any, stream: int, grid: Sequence[int]) -> None:
                if status := launch(function, *grid, *block, shared, stream, parameters, None):
                    raise self.launch_error(status, what)

            return run
        launch = self._newer("cuLaunchKernelEx", "a kernel with clusters")
        attribute = _LaunchAttribute(id=_LAUNCH_CLUSTER_DIMENSION)
        attribute.value[:3] = cluster
        config = _LaunchConfig((_U * 3)(1, 1, 1), (_U * 3)(*block), shared, None, ctypes.pointer(attribute), 1)

        def run_clusters(parameters: Any, stream: int, grid: Sequence[int]) -> None:
            # Threads share everything in `config` except for the stream and the grid.
            mine = _LaunchConfig.from_buffer_copy(config)
            mine.stream = stream
            mine.grid[:] = grid
            if status := launch(ctypes.byref(mine), function, parameters, None):
                raise self.launch_error(status, what)

        return run_clusters

    def launch_error(self, status: int, what: str) -> LaunchError:
        """The error of a launch of the kernel `what`."""
        return self.error(status, f"launching {what}")

    # Memory.

    def allocate(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        status = self._library.cuMemAlloc_v2(ctypes.byref(pointer), size)
        hint = "free GPU memory; this process or another one uses it" if status == _OUT_OF_MEMORY else None
        self._check(status, f"allocating {size} B of GPU memory", hint)
        return pointer.value or 0

    def upload(self, pointer: int, host: int, size: int) -> None:
        self._check(self._library.cuMemcpyHtoD_v2(pointer, host, size), "copying to the GPU")

    def download(self, host: int, pointer: int, size: int) -> None:
        self._check(self._library.cuMemcpyDtoH_v2(host, pointer, size), "copying from the GPU")

    def free(self, pointer: int) -> None:
        # The status is ignored, so that it does not hide the error of a failed kernel.
        self._library.cuMemFree_v2(pointer)


def load(what: str) -> Driver:
    """Loads the driver. `what` names the kernel in the error. Raises ToolMissing if the driver is not installed."""
    library = devices.cuda_library()
    if library is None:
        raise ToolMissing(
            f"the CUDA driver (libcuda.so.1) was not found; {what} can be saved but not run",
            hint="run it on a machine with an NVIDIA GPU, or use target='emu:CHIP' or target='cpu' to check the result",
        )
    devices.check_process(NAME)
    return Driver(library)
