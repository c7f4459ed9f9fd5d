"""Launching a kernel on an NVIDIA GPU, through the driver's Python bindings, loaded at the first call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import arrays, devices, launch, targets
from .errors import LaunchError, ToolMissing

if TYPE_CHECKING:
    from .kernel import Kernel


def stream_pointer(stream: Any) -> int:
    """The handle of a stream object of any library; 0 is the default stream."""
    if stream is None:
        return 0
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair: Any = protocol() if callable(protocol) else protocol
        return int(pair[1])
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    try:
        return int(stream)
    except (TypeError, ValueError):
        raise LaunchError(f"{type(stream).__name__} is not a stream") from None


def check_scalars_and_layouts(kernel: Kernel) -> None:
    """Raises for arguments that the GPU's calling convention cannot take."""
    for argument in kernel.arguments:
        if argument.is_memref and not argument.is_static:
            raise LaunchError(f"{argument}: kernels on GPUs take memrefs of static shape and layout")
        if not argument.is_memref and argument.dtype.mlir not in launch.SCALARS:
            raise LaunchError(f"{argument}: a scalar of this type cannot be passed to a GPU from Python")


class CudaLauncher:
    """Loads the binary once a context and launches it."""

    def __init__(self, kernel: Kernel) -> None:
        check_scalars_and_layouts(kernel)
        self._kernel = kernel
        self._check = launch.ArgumentChecker(kernel.entry, arrays.CUDA, launch.GPU_ALIGNMENT)
        self._functions: dict[int, Any] = {}
        if devices.cuda_library() is None:
            raise ToolMissing(
                f"no CUDA driver here: a kernel for {kernel.target} can be saved, not run",
                hint="run it on a machine with an NVIDIA GPU, or compile with target='cpu' to check its numbers",
            )
        try:
            from cuda.bindings import driver  # pyright: ignore
        except ImportError:
            raise ToolMissing(
                "launching on CUDA needs the package cuda-bindings", hint="pip install cuda-bindings"
            ) from None
        self._driver: Any = driver
        self._ask(driver.cuInit(0), "starting the CUDA driver")

    def _ask(self, answer: tuple[Any, ...], what: str) -> Any:
        status, *values = answer
        if int(status) != 0:
            _, text = self._driver.cuGetErrorString(status)
            reason = text.decode() if isinstance(text, bytes) else str(status)
            raise LaunchError(f"{what}: {reason} (CUDA error {int(status)})")
        return values[0] if len(values) == 1 else tuple(values) or None

    def _context(self, views: list[arrays.ArrayView]) -> int:
        """The context to launch in: the current one, else the primary one of the arrays' device."""
        driver = self._driver
        context = self._ask(driver.cuCtxGetCurrent(), "asking for the current context")
        if int(context) == 0:
            index = next((view.device_index for view in views), 0)
            count = self._ask(driver.cuDeviceGetCount(), "counting GPUs")
            if count == 0:
                raise LaunchError(f"no NVIDIA GPU here to run a kernel for {self._kernel.target}")
            device = self._ask(driver.cuDeviceGet(index), f"finding GPU {index}")
            context = self._ask(driver.cuDevicePrimaryCtxRetain(device), "making a context")
            self._ask(driver.cuCtxSetCurrent(context), "making the context current")
        return int(context)

    def _function(self, context: int) -> Any:
        if context in self._functions:
            return self._functions[context]
        driver, kernel = self._driver, self._kernel
        device = self._ask(driver.cuCtxGetDevice(), "asking for the current GPU")
        attributes = driver.CUdevice_attribute
        major, minor = (
            self._ask(driver.cuDeviceGetAttribute(attribute, device), "asking for the compute capability")
            for attribute in (
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        if not targets.runs_on_compute_capability(kernel.target, major, minor):
            fitting = targets.for_compute_capability(major, minor)
            raise LaunchError(
                f"this kernel is for {kernel.target}, the GPU here has compute capability {major}.{minor}",
                hint=f"compile with target='{fitting}'" if fitting else None,
            )
        assert kernel.binary is not None
        image = kernel.binary if kernel.binary_format == "cubin" else kernel.binary + b"\0"
        module = self._ask(driver.cuModuleLoadData(image), f"loading the code of @{kernel.symbol}")
        function = self._ask(
            driver.cuModuleGetFunction(module, kernel.symbol.encode()), f"finding @{kernel.symbol} in the code"
        )
        if shared := kernel.resources.dynamic_shared_bytes:
            limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._ask(driver.cuFuncSetAttribute(function, limit, shared), f"asking for {shared} B of shared memory")
        self._functions[context] = function
        return function

    def __call__(self, *given: Any, stream: Any = None) -> None:
        handle = stream_pointer(stream)
        values = self._check(given, handle)
        views = [value for value in values if isinstance(value, arrays.ArrayView)]
        function = self._function(self._context(views))
        resources = self._kernel.resources
        assert resources.grid is not None and resources.block is not None
        numbers, types = [], []
        for argument, value in zip(self._kernel.arguments, values, strict=True):
            is_array = isinstance(value, arrays.ArrayView)
            numbers.append(value.pointer if is_array else value)
            types.append(ctypes.c_void_p if is_array else launch.SCALARS[argument.dtype.mlir])
        self._ask(
            self._driver.cuLaunchKernel(
                function,
                *resources.grid,
                *resources.block,
                resources.dynamic_shared_bytes,
                handle,
                (tuple(numbers), tuple(types)),
                0,
            ),
            f"launching @{self._kernel.symbol}",
        )

    def run_on_copies(self, values: list[Any], repeat: int = 1) -> float:
        """Runs on copies of host arrays, copies them back, and returns the shortest run in seconds."""
        self._context([])
        return launch.run_on_copies(_CudaMemory(self._driver, self._ask), self, values, repeat)


class _CudaMemory:
    device = arrays.CUDA

    def __init__(self, driver: Any, ask: Callable[..., Any]) -> None:
        self._driver = driver
        self._ask = ask

    def allocate(self, size: int) -> int:
        return int(self._ask(self._driver.cuMemAlloc(size), f"asking for {size} B of GPU memory"))

    def upload(self, pointer: int, host: int, size: int) -> None:
        self._ask(self._driver.cuMemcpyHtoD(pointer, host, size), "copying to the GPU")

    def download(self, host: int, pointer: int, size: int) -> None:
        self._ask(self._driver.cuMemcpyDtoH(host, pointer, size), "copying from the GPU")

    def free(self, pointer: int) -> None:
        # A kernel that failed has failed already: freeing must not hide its error.
        self._driver.cuMemFree(pointer)

    def synchronize(self) -> None:
        self._ask(self._driver.cuCtxSynchronize(), "running the kernel")
