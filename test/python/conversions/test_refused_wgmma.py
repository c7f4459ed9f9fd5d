# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dots that do not use wgmma, each with its reason: edits of a dot that uses it."""

from __future__ import annotations

import pytest
import smalti

KERNEL = """
triton_xla.entry_func @dot(%a: memref<128x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf32>, %d: memref<64x64xf16>,
                           %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %l = triton_xla.extract %a[0, %k] [64, 64] [1, 1] : memref<128x256xf16> to tensor<64x64xf16>
    %r = triton_xla.extract %b[%k, 0] [64, 64] [1, 1] : memref<256x64xf16> to tensor<64x64xf16>
    %next = triton_xla.dot %l, %r, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  triton_xla.insert %sum into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into memref<64x64xf32>
  triton_xla.return
}
"""
EXTRACT = "%l = triton_xla.extract %a[0, %k] [64, 64] [1, 1]"
DOT = "%next = triton_xla.dot %l, %r, %acc"
STORE = "triton_xla.insert {} into %d[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> into memref<64x64xf16>\n    "
TRANSPOSE = "%t = triton_xla.transpose %l [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>\n    "
MORE = "%m = triton_xla.dot %t, %r, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>\n    "
USE_TRANSPOSED = DOT.replace("%l", "%t").replace("%acc", "%m")


def run(text: str) -> list[str]:
    module = smalti.parse(text)
    remarks = smalti.Pipeline("convert-triton-xla-to-mosaic-gpu{target=sm_90a matmul=wgmma}").run(module)
    reasons = [r.message for r in remarks if r.message.startswith("wgmma not used: ")]
    assert bool(reasons) != ("mosaic_gpu.wgmma" in str(module))
    return reasons


def test_the_dot_without_an_edit() -> None:
    assert not run(KERNEL)


@pytest.mark.parametrize(
    "edits, reason",
    [
        ({"%a: memref<128x256xf16>": "%a: memref<128x256xf16> {llvm.align = 8 : i64}"}, "only proven to be aligned to 8 B"),
        ({"[64, 64] [1, 1] : memref<128": "[64, 64] [2, 1] : memref<128"}, "with a stride other than 1"),
        ({"128x256xf16": "128x260xf16"}, "row stride 520 B must be a multiple of 16 B"),
        ({"memref<128x256xf16>": "memref<2147483648x256xf16>"}, "dimension 0 of the array has 2147483648 elements"),
        (
            {"memref<128x256xf16>": "memref<128x256xf16, strided<[128, 1]>>"},
            "the rows of the array overlap: they have 256 elements and a stride of 128",
        ),
        (
            {"memref<128x256xf16>": "memref<128x256xf16, strided<[512, 2]>>"},
            "strides 512 and 2 along the dimensions of the tile",
        ),
        ({DOT: STORE.format("%l") + DOT}, "the loaded tile has uses other than this dot"),
        (
            {DOT: TRANSPOSE + MORE + USE_TRANSPOSED},
            "the transposed tile has uses other than this dot",
        ),
        (
            {
                "triton_xla.return": "%e = arith.constant dense<1.0> : tensor<64x64xf16>\n  "
                "triton_xla.insert %e into %a[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> into memref<128x256xf16>\n"
                "  triton_xla.return"
            },
            "the kernel also writes the array",
        ),
        ({EXTRACT: EXTRACT + " fill 1.0 : f16"}, "the fill value of triton_xla.extract is not 0"),
        ({"f16": "f32"}, "operands of type f32 are supported only as TF32; set the attribute 'tf32' on the dot"),
        (
            {"f16": "f32", DOT: DOT + " tf32", "memref<128x256xf16>": "memref<128x256xf16, strided<[1, 128]>>"},
            "operand A is not contiguous along K",
        ),
        ({"f16": "f32", DOT: DOT + " tf32"}, "operand B is not contiguous along K"),
    ],
)  # fmt: skip
def test_reasons(edits: dict[str, str], reason: str) -> None:
    text = KERNEL
    for old, new in sorted(edits.items(), key=lambda edit: -len(edit[0])):
        assert old in text
        text = text.replace(old, new)
    said, *_ = run(text)
    assert reason in said
