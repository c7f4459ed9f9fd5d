# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Coverage of the operations of `mosaic_gpu` by the functions of `smalti.block`."""

from __future__ import annotations

import inspect
import re
from typing import Any

import block_kernels as kernels
import numpy as np
import smalti.block as sb
from smalti import ir
from smalti.dialects import mosaic_gpu
from smalti.language.kernel import PythonKernel

WITHOUT_FUNCTION = {"multimem_load_reduce": "no target supports memory of other devices"}


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


F16, I32 = np.float16, np.int32
ARGUMENTS: dict[PythonKernel, tuple[str, list[Any]]] = {
    kernels.aliases: ("sm_90a", [zeros(2048), zeros(32, 64)]),
    kernels.bulk_copy: ("sm_90a", [zeros(64, 128)] * 2),
    kernels.bulk_store: ("sm_90a", [zeros(64, 64)] * 3),
    kernels.canceled_clusters: ("sm_100a", [zeros(4)]),
    kernels.claims: ("sm_90a", [zeros(20, dtype=I32), zeros(128, dtype=I32), zeros(128, dtype=I32)]),
    kernels.each_thread: ("sm_90a", [zeros(512)] * 2),
    kernels.each_warp: ("sm_90a", [zeros(512)] * 2),
    kernels.histogram: ("sm_90a", [zeros(128, dtype=I32)] * 3),
    kernels.pipelined_matmul: ("sm_80", [zeros(64, 64, dtype=F16), zeros(64, 64, dtype=F16), zeros(64, 64)]),
    kernels.planes: ("sm_90a", [zeros(48, 3, 56), zeros(3, 64, 64)]),
    kernels.prints: ("sm_90a", [zeros(64)]),
    kernels.reads_of_a_peer: ("sm_90a", [zeros(128, 64)] * 2),
    kernels.scalars: ("sm_90a", [zeros(16, 128), 3.0, 8, zeros(16, 128)]),
    kernels.shapes: ("sm_90a", [zeros(64, 64)] * 3),
    kernels.stores_to_a_peer: ("sm_90a", [zeros(128, 64)] * 2),
    kernels.tensor_copies: ("sm_100a", [zeros(128, 64, dtype=F16)]),
    kernels.tensor_matmul: (
        "sm_100a",
        [zeros(128, 64, dtype=F16), zeros(64, 128, dtype=F16), zeros(128, 128), zeros(128)],
    ),
    kernels.tensor_round_trip: ("sm_100a", [zeros(128, 64)] * 2),
    kernels.transposed_wgmma: ("sm_90a", [zeros(64, 64, dtype=F16), zeros(64, 64, dtype=F16), zeros(64, 64)]),
    kernels.twice_plus_maximum: ("sm_90a", [zeros(64, 64)] * 2),
}


def operations() -> set[str]:
    """The operations of the dialect."""
    classes = [value for value in vars(mosaic_gpu).values() if inspect.isclass(value)]
    found = {str(vars(c)["OPERATION_NAME"]) for c in classes if issubclass(c, ir.OpView) and c is not ir.OpView}
    return {name.removeprefix("mosaic_gpu.") for name in found if name.startswith("mosaic_gpu.")}


def test_every_operation_is_reachable() -> None:
    found: set[str] = set()
    for kernel, (target, arguments) in ARGUMENTS.items():
        text = str(kernel.on(target).module(*arguments).operation)
        found |= set(re.findall(r"mosaic_gpu\.(\w+)", text))
    assert operations() - found == set(WITHOUT_FUNCTION)


def test_every_function_has_a_docstring() -> None:
    for name in sb.__all__:
        value = getattr(sb, name)
        assert value.__doc__, name
        if inspect.isclass(value) and issubclass(value, (sb.Memory, sb.Barrier)):
            methods = {n: m for n, m in vars(value).items() if not n.startswith("_") and callable(m)}
            assert all(m.__doc__ for m in methods.values()), methods
