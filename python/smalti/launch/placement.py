# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target, GPU and stream of a call that does not name them: those of its arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from .. import targets
from ..calling import arrays
from . import devices

Memory = tuple[str, int | None]
"""The device of an array, as in `arrays.ArrayView`, and the index of the GPU if the array states it."""

_VENDORS = {arrays.CUDA: "nvidia", arrays.HIP: "amd"}


def memory_of(given: Sequence[Any]) -> Memory | None:
    """The memory of the first array, or None without arrays and for a description of one. The launch checks that all arrays are on one device."""
    if not given or (isinstance(given[0], arrays.ArrayView) and not given[0].pointer):
        return None
    view = arrays.view(given[0])
    return view.device, view.device_index


def target_for(memory: Memory | None) -> targets.Target:
    """The target that accesses the memory. Without arrays, it is the GPU of this machine, else the CPU."""
    if memory is None:
        return devices.here()
    device, index = memory
    if device == arrays.CPU:
        return targets.get("cpu")
    found = [gpu.target for gpu in devices.gpus() if (gpu.vendor, gpu.index) == (_VENDORS.get(device), index)]
    # An array interface does not state the GPU.
    return next((target for target in found if target is not None), None) or devices.here()


def _torch_device(values: Sequence[Any]) -> Any:
    """The GPU of the first torch tensor on a GPU, or None."""
    for value in values:
        if arrays.is_torch(value) and value.device.type == "cuda":
            return value.device
    return None


def launch(launcher: Callable[..., None], values: Sequence[Any], stream: Any) -> None:
    """Launches a kernel. Tensors of torch select their GPU, and the current stream of torch if `stream` is None."""
    # Torch is imported if there are tensors of torch.
    if "torch" not in sys.modules or (device := _torch_device(values)) is None:
        launcher(*values, stream=stream)
        return
    # ROCm builds of torch also use the name `cuda`.
    cuda: Any = sys.modules["torch"].cuda
    with cuda.device(device):
        launcher(*values, stream=cuda.current_stream(device) if stream is None else stream)
