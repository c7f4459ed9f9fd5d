# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Addresses of arrays without memory, on every engine."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import smalti

ENGINES = ("cpu", "emu:sm_80", "emu:gfx942", "sim:sm_80")
PROGRAM = """
triton_xla.entry_func @twice(%a: memref<16xf32>, %tile: index) tiles 1 {
  %x = triton_xla.extract %a[0] [16] [1] : memref<16xf32> to tensor<16xf32>
  %y = arith.addf %x, %x : tensor<16xf32>
  triton_xla.insert %y into %a[0] [16] [1] : tensor<16xf32> into memref<16xf32>
  triton_xla.return
}
"""
MEMORY = np.zeros(64, np.float32)
HERE = MEMORY.ctypes.data


class Array:
    """An array of another library."""

    def __init__(self, address: int, shape: tuple[int, ...] = (16,), strides: tuple[int, ...] | None = None) -> None:
        self.__array_interface__ = {
            "shape": shape,
            "typestr": "<f4",
            "data": (address, False),
            "strides": strides,
            "version": 3,
        }


@functools.cache
def kernel(engine: str) -> Any:
    return smalti.compile(PROGRAM, target=engine)


WRONG = {
    "null": Array(0),
    "null with strides": Array(0, strides=(0,)),
    "past the end of memory": Array(2**64 - 8),
    "before its begin": Array(16, strides=(-4,)),
    "in the kernel's half": Array(2**63),
    "huge": Array(HERE, (2**61,)),
    "far apart": Array(HERE, strides=(2**62,)),
    "negative": Array(HERE, (-16,)),
}


@pytest.mark.parametrize("array", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("engine", ENGINES)
def test_wrong_addresses_are_refused(engine: str, array: Array) -> None:
    with pytest.raises(smalti.LaunchError, match=r"^argument 0 \((%a: )?memref<16xf32>\)"):
        kernel(engine)(array)


@pytest.mark.parametrize("array", [np.zeros(0, np.float32), Array(0, (0,)), Array(HERE, (0,))])
def test_empty_arrays_need_no_memory(array: Any) -> None:
    # The whole window is out of bounds.
    text = PROGRAM.replace("memref<16xf32>", "memref<?xf32>")
    smalti.compile(text, target="cpu")(array)


def test_an_array_of_another_library_is_not_copied() -> None:
    MEMORY[:] = 1
    kernel("cpu")(Array(HERE))
    assert MEMORY[:16].tolist() == [2] * 16 and MEMORY[16:].tolist() == [1] * 48


def test_an_address_between_elements_is_refused() -> None:
    with pytest.raises(smalti.LaunchError, match="not a multiple of the element size, 4 B"):
        kernel("cpu")(Array(HERE + 1))
