# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launcher for NVIDIA GPUs, through the CUDA driver, which is loaded at run time."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import targets
from ..calling import arrays, calls, native
from ..calling.tensor_maps import ADDRESS_ALIGNMENT, TensorMap
from ..errors import LaunchError, TargetError
from . import cuda_driver, devices

if TYPE_CHECKING:
    from ..calling._launcher import Launcher
    from .compiled import CompiledCode


def stream_pointer(stream: Any) -> int:
    """The handle of a stream object of any library; 0 is the default stream. Raises LaunchError for other objects."""
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
        raise LaunchError(
            f"{type(stream).__name__} is not a CUDA stream; pass an integer handle, or an object with cuda_stream, ptr or handle"
        ) from None


def check_layouts(kernel: CompiledCode) -> None:
    """Raises LaunchError if a GPU launch does not support the layout of an argument."""
    for argument in kernel.arguments:
        if argument.is_memref and not argument.is_static and argument.num_parameters == 1:
            raise LaunchError(
                f"{argument}: the shape or layout is dynamic; only tile-level kernels support dynamic memrefs on GPUs; declare static sizes and strides"
            )


class _Parameters:
    """The memory of the parameters of one launch, and the array of their addresses."""

    def __init__(self, layout: calls.ParameterLayout, maps: int) -> None:
        self.layout = layout
        self.buffer = ctypes.create_string_buffer(max(layout.size, 1))
        start = ctypes.addressof(self.buffer)
        offsets = layout.offsets
        self.addresses = (ctypes.c_void_p * (len(offsets) + maps))(*(start + at for at in offsets))
        self.maps: list[Any] = []

    def fill(self, values: Sequence[Any], maps: Sequence[Any]) -> None:
        self.layout.pack_into(self.buffer, values)
        first = len(self.layout.offsets)
        for index, encoded in enumerate(maps, first):
            self.addresses[index] = ctypes.addressof(encoded)
        # Keeps the maps alive: the driver reads them during the launch.
        self.maps = list(maps)


class _Code:
    """The code of a kernel in a CUDA context."""

    def __init__(self, driver: cuda_driver.Driver, kernel: CompiledCode) -> None:
        self.device = driver.current_device()
        self._check_capability(driver, kernel)
        resources = kernel.resources
        assert kernel.binary is not None and resources.block is not None
        image = kernel.binary if kernel.binary_format == "cubin" else kernel.binary + b"\0"
        module = driver.load(image, f"@{kernel.symbol}")
        try:
            function = driver.function(module, kernel.symbol)
            self._allow_shared(driver, kernel, function)
            if resources.cluster is not None:
                size = resources.cluster[0] * resources.cluster[1] * resources.cluster[2]
                if size > cuda_driver.PORTABLE_CLUSTER_SIZE:
                    driver.allow_large_clusters(function, size)
            self.function = function
            self.launch: Callable[[Any, int, Sequence[int]], None] = driver.launcher(
                function,
                resources.block,
                resources.cluster,
                resources.dynamic_shared_bytes,
                f"@{kernel.symbol}",
            )
        except Exception:
            driver.unload(module)
            raise
        self.tensor_map = functools.lru_cache(maxsize=1024)(driver.tensor_map)

    def _check_capability(self, driver: cuda_driver.Driver, kernel: CompiledCode) -> None:
        major = driver.attribute(cuda_driver.COMPUTE_CAPABILITY_MAJOR, self.device)
        minor = driver.attribute(cuda_driver.COMPUTE_CAPABILITY_MINOR, self.device)
        if targets.runs_on_compute_capability(kernel.target, major, minor):
            return
        fitting = None
        # The Python files alone launch kernels, and do not include the target table.
        with contextlib.suppress(TargetError):
            fitting = targets.for_compute_capability(major, minor)
        raise LaunchError(
            f"the kernel was compiled for {kernel.target}, but the GPU has compute capability {major}.{minor}",
            hint=f"compile with target='{fitting}'" if fitting else None,
        )

    def _allow_shared(self, driver: cuda_driver.Driver, kernel: CompiledCode, function: int) -> None:
        dynamic = kernel.resources.dynamic_shared_bytes
        if not dynamic:
            return
        needed = dynamic + driver.static_shared_bytes(function)
        limit = driver.attribute(cuda_driver.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, self.device)
        if needed > limit:
            raise LaunchError(
                f"@{kernel.symbol} needs {needed} B of shared memory per block; GPU {self.device} "
                f"({driver.device_name(self.device)}) has at most {limit} B",
                hint="compile with fewer stages or smaller tiles",
            )
        driver.allow_shared_bytes(function, dynamic)


@functools.lru_cache(maxsize=1024)
def _bind(described: TensorMap, shape: tuple[int, ...], strides: tuple[int, ...]) -> TensorMap:
    return described.bind(shape, strides)


def _bound(described: TensorMap, view: arrays.ArrayView) -> TensorMap:
    return _bind(described, view.shape, view.strides) if described.is_dynamic else described


def _map_address(described: TensorMap, addresses: Sequence[int]) -> int:
    address = addresses[described.argument] + described.offset
    # The address of an empty array may be 0, which the driver may refuse. The kernel does not access it.
    return max(address, ADDRESS_ALIGNMENT) if described.is_dynamic else address


class CudaLauncher:
    """Loads the binary once per context, and launches the kernel."""

    _device = arrays.CUDA
    """The memory of the arrays."""

    def __init__(self, kernel: CompiledCode) -> None:
        check_layouts(kernel)
        self._kernel = kernel
        self._check = calls.ArgumentChecker(kernel.entry, self._device, calls.GPU_ALIGNMENT, takes_sizes=True)
        self._layout = calls.ParameterLayout(kernel.arguments, takes_sizes=True)
        self._maps = kernel.tensor_maps
        self._codes: dict[int, _Code] = {}
        self._lock = threading.Lock()
        self._free: list[_Parameters] = []
        self._driver = cuda_driver.load(f"@{kernel.symbol} for {kernel.target}")
        self.native = self._make_native()
        """Launches without Python code, in contexts that have the code. `__call__` is the reference."""

    def _make_native(self) -> Launcher | None:
        kernel, resources = self._kernel, self._kernel.resources
        assert resources.block is not None
        if (launch := self._driver.launch_function(resources.cluster)) is None:
            return None
        return native.launcher(
            kernel.entry,
            self._device,
            grid=resources.grid,
            block=resources.block,
            cluster=resources.cluster,
            shared=resources.dynamic_shared_bytes,
            maps=self._maps,
            current=self._driver.context_function,
            launch=launch,
            encode=self._encode,
            fail=self._fail,
            stream_pointer=stream_pointer,
        )

    @property
    def kernel(self) -> CompiledCode:
        """The kernel that the launcher runs."""
        return self._kernel

    def functions(self) -> devices.LaunchFunctions:
        """The functions of the driver for launches without Python code."""
        resources = self._kernel.resources
        context_of, get_current, set_current = self._driver.stream_functions
        return devices.LaunchFunctions(
            launch=self._driver.launch_function(resources.cluster),
            context_of=context_of,
            get_current=get_current,
            set_current=set_current,
            encode=self._driver.encode_function if self._maps else None,
            shared=resources.dynamic_shared_bytes,
            error=lambda status: self._driver.launch_error(status, f"@{self._kernel.symbol}"),
        )

    def function(self) -> int:
        """The handle of the code in the current context, which is loaded on first use."""
        return self._code(None).function

    def _encode(
        self, context: int, index: int, address: int, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> bytes:
        described = self._maps[index]
        if described.is_dynamic:
            described = _bind(described, shape, strides)
        return bytes(self._codes[context].tensor_map(described, address))

    def _fail(self, status: int) -> None:
        raise self._driver.launch_error(status, f"@{self._kernel.symbol}")

    def _code(self, device: int | None) -> _Code:
        """The code in the current context, or else in the primary context of the GPU of the arrays."""
        driver = self._driver
        context = driver.current_context()
        if context == 0:
            count = driver.device_count()
            if count == 0:
                raise LaunchError(
                    f"a kernel for {self._kernel.target} requires an NVIDIA GPU, but none was found; compile for emu:CHIP to run it on the CPU"
                )
            context = driver.use_primary_context(device or 0)
        code = self._codes.get(context)
        if code is None:
            # Another thread may load the code.
            with self._lock:
                code = self._codes.get(context)
                if code is None:
                    code = self._codes[context] = _Code(driver, self._kernel)
                    if self.native is not None:
                        self.native.add(context, code.device, code.function)
        if device is not None and device != code.device:
            raise LaunchError(
                f"the arrays are on GPU {device}, but the current context belongs to GPU {code.device}",
                hint=f"select GPU {device} before the call, for example with torch.cuda.device({device})",
            )
        return code

    def __call__(self, *given: Any, stream: Any = None) -> None:
        devices.check_process(cuda_driver.NAME)
        handle = stream_pointer(stream)
        values, device, views = self._check(given, handle)
        code = self._code(device)
        grid = self._kernel.grid_of(views)
        if grid[0] == 0:
            return
        maps = [
            code.tensor_map(_bound(described, views[described.argument]), _map_address(described, values))
            for described in self._maps
        ]
        try:
            # Threads may launch concurrently, so each launch uses its own parameters.
            parameters = self._free.pop()
        except IndexError:
            parameters = _Parameters(self._layout, len(self._maps))
        parameters.fill(self._layout.expand(values, views), maps)
        try:
            code.launch(parameters.addresses, handle, grid)
        finally:
            self._free.append(parameters)

    def run_on_copies(self, values: list[Any], repeat: int = 1) -> float:
        """Runs on copies of host arrays, copies the results back, and returns the shortest run in seconds."""
        self._code(None)
        return calls.run_on_copies(self._driver, self._device, self, values, repeat)
