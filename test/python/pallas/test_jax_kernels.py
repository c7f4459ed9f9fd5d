# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that JAX printed, unmodified, as kernels in Python: compiled, called with arrays and with pointers, saved, loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import smalti
from conftest import PALLAS
from helpers import pointwise, row_softmax
from smalti import aot, toolchain
from smalti.calling import tensor_maps
from stub_driver import Stub
from test_launch_gpu import driver  # noqa: F401 (fixtures)

MODULES = [("pointwise", pointwise, 2), ("row_softmax", row_softmax, 1)]


def arrays(kernel: smalti.Kernel) -> list[np.ndarray]:
    """Random inputs, and a result that is wrong in every element."""
    rng = np.random.default_rng(0)
    made = []
    for argument in kernel.arguments:
        shape = argument.static_layout[0]
        data = rng.standard_normal(shape) if argument.reads else np.full(shape, np.nan)
        made.append(data.astype(argument.dtype.numpy))
    return made


@pytest.mark.parametrize("name, wanted, inputs", MODULES, ids=[name for name, *_ in MODULES])
def test_called_with_arrays_with_pointers_and_from_a_file(name: str, wanted, inputs: int, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    kernel = smalti.compile(PALLAS / f"{name}.mlir", target="emu:sm_90a")
    given = arrays(kernel)
    kernel(*given)
    np.testing.assert_allclose(given[-1], wanted(*given[:inputs]), rtol=1e-5, atol=1e-6)
    again = arrays(kernel)
    kernel.launch_pointers(None, [array.ctypes.data for array in again])
    np.testing.assert_array_equal(again[-1], given[-1])
    loaded = aot.load(kernel.save(tmp_path / "k.smalti"))
    again = arrays(loaded)
    loaded(*again)
    np.testing.assert_array_equal(again[-1], given[-1])


def test_arguments_are_checked() -> None:
    kernel = smalti.compile(PALLAS / "row_softmax.mlir", target="emu:sm_90a")
    source, result = arrays(kernel)
    with pytest.raises(smalti.LaunchError, match="the element type is float64; the kernel requires float32"):
        kernel(source.astype(np.float64), result)
    with pytest.raises(smalti.LaunchError, match="the shape is 128x64; the kernel requires 64x128"):
        kernel(np.ascontiguousarray(source.T), result)
    result.flags.writeable = False
    with pytest.raises(
        smalti.LaunchError,
        match=r"argument 1 .* the array is read-only, but the kernel writes it; pass a writable array",
    ):
        kernel(source, result)


@pytest.mark.parametrize("name", [name for name, *_ in MODULES])
def test_the_target_is_the_module_s(name: str) -> None:
    kernel = smalti.compile(PALLAS / f"{name}.mlir")
    assert kernel.target.name == "sm_90a" and kernel.resources.block == (128, 1, 1)
    if toolchain.find_ptxas():
        assert kernel.binary_format == "cubin" and kernel.resources.spills == 0


def test_the_hopper_matmul_of_jax() -> None:
    """All of it: copies of tiles, barriers, two warpgroups that multiply and one that copies."""
    kernel = smalti.compile(PALLAS / "hopper_matmul.mlir", target="emu:sm_90a")
    a, b, c = arrays(kernel)
    kernel(a, b, c)
    wanted = a.astype(np.float64) @ b
    # The sum is of 32 bits, the result of 16.
    bound = 2.0**-11 * np.abs(wanted) + 2049 * 2.0**-23 * (np.abs(a.astype(np.float64)) @ np.abs(b))
    assert (np.abs(c - wanted) <= 2 * bound).all()


def test_driver_calls_of_a_launch_of_the_hopper_matmul(
    tmp_path: Path,
    driver: Stub,  # noqa: F811
) -> None:
    kernel = smalti.compile(PALLAS / "hopper_matmul.mlir")
    if kernel.binary_format != "cubin":
        pytest.skip("needs ptxas")
    assert kernel.resources.spills == 0
    assert f".param .align 64 .b8 {kernel.symbol}_param_3[128]" in kernel.asm["ptx"]
    loaded = aot.load(kernel.save(tmp_path / "k.smalti"))
    driver.takes(8, 8, 8, *[128] * len(kernel.tensor_maps))
    driver.set(current=100)
    pointers = (0x1000000, 0x2000000, 0x3000000)
    loaded.launch_pointers(5, pointers)
    (launch,) = driver.launches
    assert (launch.grid, launch.block, launch.shared, launch.stream) == ((132, 1, 1), (384, 1, 1), 229440, 5)
    assert launch.numbers[:3] == pointers
    assert launch.parameters[3:] == tuple(
        tensor_maps.encode(described, pointers[described.argument] + described.offset)
        for described in kernel.tensor_maps
    )
    assert {described.argument for described in kernel.tensor_maps} == {0, 1, 2}
