# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPUs of this machine, detected without linking a driver and without creating a context."""

from __future__ import annotations

import ctypes
import functools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import targets
from ..errors import LaunchError

# cuda.h: CUdevice_attribute.
_COMPUTE_CAPABILITY = (75, 76)


@dataclass(frozen=True)
class Gpu:
    """A GPU and its target."""

    vendor: str
    index: int
    name: str
    architecture: str
    """The compute capability (NVIDIA) or the name of the chip (AMD)."""
    target: targets.Target | None
    """None if the target table does not have the GPU."""


@functools.cache
def cuda_library() -> ctypes.CDLL | None:
    """The CUDA driver library, or None if it is not installed."""
    for name in ("libcuda.so.1", "libcuda.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@functools.cache
def hip_library() -> ctypes.CDLL | None:
    """The HIP runtime library, or None if it is not installed."""
    from .. import toolchain

    folders = [str(home / "lib") + "/" for home in toolchain.rocm_homes()]
    for folder in ("", *folders):
        for name in ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"):
            try:
                return ctypes.CDLL(folder + name)
            except OSError:
                continue
    return None


@dataclass(frozen=True)
class LaunchFunctions:
    """The functions of a driver for launches without Python code, as objects of ctypes."""

    launch: Any
    """`cuLaunchKernel`, `cuLaunchKernelEx` for a kernel with clusters, or `hipModuleLaunchKernel`."""
    context_of: Any
    """`cuStreamGetCtx` or `hipStreamGetDevice`."""
    get_current: Any
    """`cuCtxGetCurrent` or `hipGetDevice`."""
    set_current: Any
    """`cuCtxSetCurrent` or `hipSetDevice`."""
    encode: Any
    """`cuTensorMapEncodeTiled`, for a kernel with tensor maps."""
    shared: int
    """Bytes of dynamic shared memory."""
    error: Callable[[int], LaunchError]
    """The error for a status of the driver."""


FORK_HINT = "start the process before the first use of the GPU, or without a fork: multiprocessing.get_context('spawn').Process(...)"

_processes: dict[str, int] = {}
"""The process that started each driver."""


def check_process(driver: str) -> None:
    """Raises LaunchError if this process is a fork of one that started the driver. A driver does not work after a fork."""
    process = os.getpid()
    if (started := _processes.setdefault(driver, process)) != process:
        raise LaunchError(
            f"process {started} started {driver} before it forked this process {process}; a forked process cannot use the GPU",
            hint=FORK_HINT,
        )


def _cuda_gpus() -> list[Gpu]:
    driver = cuda_library()
    count = ctypes.c_int()
    if driver is not None:
        check_process("the CUDA driver")
    if driver is None or driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found: list[Gpu] = []
    for index in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        numbers: list[int] = []
        if driver.cuDeviceGet(ctypes.byref(device), index) or driver.cuDeviceGetName(name, 256, device):
            continue
        for attribute in _COMPUTE_CAPABILITY:
            value = ctypes.c_int()
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            numbers.append(value.value)
        major, minor = numbers
        target = targets.for_compute_capability(major, minor)
        found.append(Gpu("nvidia", index, name.value.decode(), f"{major}.{minor}", target))
    return found


def _amd_gpus() -> list[Gpu]:
    # The kernel driver lists the chips. A node with version 0 is a CPU.
    found: list[Gpu] = []
    for node in sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        try:
            text = node.read_text()
        except OSError:
            continue
        version = re.search(r"^gfx_target_version (\d+)", text, re.MULTILINE)
        if not version or not int(version.group(1)):
            continue
        number = int(version.group(1))
        chip = f"gfx{number // 10000}{number // 100 % 100}{number % 100:x}"
        found.append(Gpu("amd", len(found), chip, chip, targets.table().get(chip)))
    return found


def gpus() -> list[Gpu]:
    """The GPUs of this machine, NVIDIA GPUs first."""
    return [*_cuda_gpus(), *_amd_gpus()]


def here() -> targets.Target:
    """The default target: the first GPU that the target table has, else the CPU."""
    for gpu in gpus():
        if gpu.target is not None:
            return gpu.target
    return targets.get("cpu")
