"""What a program says about its arguments."""

from __future__ import annotations

import pytest
import smalti
from conftest import SCALE
from smalti import entry


def describe(text: str) -> entry.Entry:
    module = smalti.parse(text)
    return entry.describe(entry.find_entry(module))


def test_arguments_of_a_tile_program() -> None:
    found = describe(SCALE)
    assert (found.name, found.num_tiles) == ("scale", 4)
    source, result = found.arguments
    assert (source.shape, source.strides, source.dtype.name) == ((100, 60), (60, 1), "float32")
    assert (source.reads, source.writes) == (True, False) and (result.reads, result.writes) == (False, True)
    assert source.is_static and source.alignment is None
    assert str(result) == "argument 1 (memref<100x60xf32>)"
    assert result.location == smalti.SourceLocation("<text>", 1, SCALE.index("%dst") + 1)


def test_dynamic_strided_aligned_and_scalar_arguments() -> None:
    found = describe(
        "triton_xla.entry_func @f(%a: memref<?x4xf16, strided<[?, 1], offset: ?>>, %b: memref<4xi8> {llvm.align = 64 : i64},"
        " %n: index, %x: bf16, %tile: index) tiles 1 {\n  triton_xla.return\n}\n"
    )
    a, b, n, x = found.arguments
    assert (a.shape, a.strides, a.is_static) == ((None, 4), (None, 1), False)
    assert b.alignment == 64 and b.is_static
    assert not n.is_memref and n.dtype.mlir == "index" and x.dtype.name == "bfloat16"


def test_any_other_use_counts_as_read_and_written() -> None:
    text = SCALE.replace(
        "%two =",
        "%view = memref.cast %src : memref<100x60xf32> to memref<?x60xf32>\n"
        "  %q = triton_xla.extract %view[%row, 0] [32, 64] [1, 1] : memref<?x60xf32> to tensor<32x64xf32>\n  %two =",
    )
    assert describe(text).arguments[0].writes


def test_arguments_of_a_block_program() -> None:
    found = describe("""\
module attributes {gpu.container_module} {
  gpu.module @k_module {
    gpu.func @k(%a: memref<8x8xf16>, %n: i32) workgroup(%w: memref<4xf32, 3>) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 5, 2, 1>} {
      gpu.return
    }
  }
}
""")
    assert (found.name, found.num_tiles) == ("k", 10)
    assert [argument.type for argument in found.arguments] == ["memref<8x8xf16>", "i32"]


def test_element_type_that_no_array_has() -> None:
    with pytest.raises(smalti.CompileError) as caught:
        describe("triton_xla.entry_func @f(%a: memref<4xi3>, %tile: index) tiles 1 {\n  triton_xla.return\n}\n")
    assert "argument 0 of type memref<4xi3>" in str(caught.value)
    assert caught.value.location == smalti.SourceLocation("<text>", 1, 26)
