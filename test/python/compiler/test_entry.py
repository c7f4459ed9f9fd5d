# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declarations of a kernel's arguments."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import smalti
from conftest import PALLAS, SCALE
from smalti import check
from smalti.compiler import entry


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
    assert str(result) == "argument 1 (%dst: memref<100x60xf32>)"
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


def test_a_size_is_read() -> None:
    (argument,) = describe(
        "triton_xla.entry_func @f(%a: memref<?xf32>, %tile: index) tiles 1 {\n  %c0 = arith.constant 0 : index\n"
        '  %n = memref.dim %a, %c0 : memref<?xf32>\n  triton_xla.print "n" %n : index\n  triton_xla.return\n}\n'
    ).arguments
    assert (argument.reads, argument.writes) == (True, False)


READS = [
    "%v = vector.load %src[%row, %row] : memref<100x60xf32>, vector<4xf32>",
    "%v = vector.maskedload %src[%row, %row], %mask, %rows : memref<100x60xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
    "%v = vector.transfer_read %src[%row, %row], %one : memref<100x60xf32>, vector<4xf32>",
    "%v = vector.gather %src[%row, %row] [%at], %mask, %rows : memref<100x60xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> "
    "into vector<4xf32>",
    "memref.copy %src, %buffer : memref<100x60xf32> to memref<100x60xf32>",
]
WRITES = [
    "vector.store %rows, %src[%row, %row] : memref<100x60xf32>, vector<4xf32>",
    "vector.maskedstore %src[%row, %row], %mask, %rows : memref<100x60xf32>, vector<4xi1>, vector<4xf32>",
    "vector.transfer_write %rows, %src[%row, %row] : vector<4xf32>, memref<100x60xf32>",
    "vector.scatter %src[%row, %row] [%at], %mask, %rows : memref<100x60xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>",
    "memref.copy %buffer, %src : memref<100x60xf32> to memref<100x60xf32>",
]


@pytest.mark.parametrize(
    ("op", "reads"), [*((op, True) for op in READS), *((op, False) for op in WRITES)], ids=lambda value: str(value)[:30]
)
def test_vectors_are_read_or_written(op: str, reads: bool) -> None:
    text = f"""
gpu.module @m {{
  gpu.func @k(%src: memref<100x60xf32>, %rows: vector<4xf32>, %at: vector<4xindex>, %mask: vector<4xi1>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %row = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %buffer = memref.alloca() : memref<100x60xf32>
    {op}
    gpu.return
  }}
}}"""
    module = smalti.parse(text)
    assert entry._uses(next(iter(entry.find_entry(module).regions[0].blocks[0].arguments))) == (reads, not reads)


def test_any_other_use_counts_as_read_and_written() -> None:
    text = SCALE.replace(
        "%two =", "%at = memref.extract_aligned_pointer_as_index %src : memref<100x60xf32> -> index\n  %two ="
    )
    assert describe(text).arguments[0].writes


def test_views_are_what_is_done_with_them() -> None:
    text = SCALE.replace(
        "%two =",
        "%view = memref.cast %src : memref<100x60xf32> to memref<?x60xf32>\n"
        "  %q = triton_xla.extract %view[%row, 0] [32, 64] [1, 1] : memref<?x60xf32> to tensor<32x64xf32>\n  %two =",
    )
    source = describe(text).arguments[0]
    assert (source.reads, source.writes) == (True, False)
    stored = text.replace("%two =", "memref.store %x, %view[%row, %row] : memref<?x60xf32>\n  %two =")
    stored = stored.replace("%view = memref.cast", "%x = arith.constant 1.0 : f32\n  %view = memref.cast")
    source = describe(stored).arguments[0]
    assert (source.reads, source.writes) == (True, True)


@pytest.mark.parametrize(
    "name, function, blocks, arguments",
    [
        (
            "hopper_matmul",
            "anonymous_mosaic_gpu",
            132,
            [("1024x2048xf16", "reads"), ("2048x1024xf16", "reads"), ("1024x1024xf16", "writes")],
        ),
        (
            "ragged_dot",
            "body_mosaic_gpu",
            132,
            [
                *(("8xi32", "reads"), ("1024x512xbf16", "reads"), ("8x512x1024xbf16", "reads")),
                ("1024x1024xbf16", "writes"),
            ],
        ),
        ("pointwise", "kernel_mosaic_gpu", 1, [("128x128xf32", "reads")] * 2 + [("128x128xf32", "writes")]),
        ("row_softmax", "kernel_mosaic_gpu", 1, [("64x128xf32", "reads"), ("64x128xf32", "writes")]),
    ],
)
def test_a_module_of_jax_takes_its_arrays_in_their_order(
    name: str, function: str, blocks: int, arguments: list[tuple[str, str]]
) -> None:
    found = describe((PALLAS / f"{name}.mlir").read_text())
    assert (found.name, found.num_tiles) == (function, blocks)
    assert [argument.type for argument in found.arguments] == [f"memref<{type}>" for type, _ in arguments]
    for argument, (_, use) in zip(found.arguments, arguments, strict=True):
        assert (argument.reads, argument.writes) == (use == "reads", use == "writes")
        assert argument.is_static


LAUNCH = """\
func.func @f_mosaic_gpu(%stream: !llvm.ptr, %pointers: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %d = builtin.unrealized_conversion_cast %pointers : !llvm.ptr to memref<8x64xi4> {mosaic_gpu.from_kernel_arg_idx = 1 : i32}
  %s = builtin.unrealized_conversion_cast %pointers : !llvm.ptr to memref<8x16xf32> {mosaic_gpu.from_kernel_arg_idx = 0 : i32}
  gpu.launch blocks(%x, %y, %z) in (%sx = %c6, %sy = %c6, %sz = %c1) threads(%i, %j, %k) in (%si = %c1, %sj = %c1, %sk = %c1) {
    gpu.terminator
  }
  return
}
"""


def test_elements_that_share_a_byte_are_bytes() -> None:
    found = describe(LAUNCH)
    assert found.num_tiles == 36
    argument = found.arguments[1]
    assert (argument.type, argument.shape, argument.strides) == ("memref<8x64xi4>", (8, 32), (32, 1))
    assert (argument.dtype.mlir, argument.packed) == ("i8", 2)
    with pytest.raises(
        smalti.CompileError,
        match="rows must have a whole number of bytes; make each row and stride a multiple of 2 elements",
    ):
        describe(LAUNCH.replace("8x64xi4", "8x63xi4"))


@pytest.mark.parametrize("element", ["i7", "i4", "f4E2M1FN"])
@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
def test_scalars_of_other_widths(element: str, target: str) -> None:
    text = f"triton_xla.entry_func @k(%s: {element}, %tile: index) tiles 1 {{\n  triton_xla.return\n}}"
    with pytest.raises(smalti.CompileError) as caught:
        smalti.compile(text, target=target)
    assert (
        f"argument 0 of type {element}: scalars of type {element} cannot be passed in a launch; use i1, i8, i16, i32, i64, index "
        "or a float of 8 to 64 bits" in str(caught.value)
    )


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
def test_arrays_of_other_widths(target: str) -> None:
    text = "triton_xla.entry_func @k(%s: memref<8xi7>, %tile: index) tiles 1 {\n  triton_xla.return\n}"
    with pytest.raises(smalti.CompileError, match="use elements of 1, 2, 4, 8, 16, 32 or 64 bits"):
        smalti.compile(text, target=target)


PACKED = """
triton_xla.entry_func @k(%w: memref<?x?xi4LAYOUT> {FACTS}, %y: memref<?x?xf32>, %i: index, %j: index)
    tiles [size(%w, 0) ceildiv 4, size(%w, 1) ceildiv 8] {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %r = arith.muli %i, %c4 : index
  %c = arith.muli %j, %c8 : index
  %t = triton_xla.extract %w[%r, %c] [4, 8] [1, 1] : memref<?x?xi4LAYOUT> to tensor<4x8xi4>
  %f = arith.sitofp %t : tensor<4x8xi4> to tensor<4x8xf32>
  triton_xla.insert %f into %y[%r, %c] [4, 8] [1, 1] : tensor<4x8xf32> into memref<?x?xf32>
  triton_xla.return
}
"""


@pytest.mark.parametrize(
    "layout, sizes, strides, shown",
    [
        ("", "1, 2", "", (1, 1)),
        ("", "3, 6", "", (3, 3)),
        (", strided<[?, 1]>", "1, 4", "32, 1", (1, 2)),
    ],
)
def test_dynamic_rows_of_whole_bytes(layout: str, sizes: str, strides: str, shown: tuple[int, int]) -> None:
    facts = [f"triton_xla.size_divisors = array<i64: {sizes}>"]
    facts += [f"triton_xla.stride_divisors = array<i64: {strides}>"] * bool(strides)
    module = smalti.parse(PACKED.replace("LAYOUT", layout).replace("FACTS", ", ".join(facts)))
    kernel = smalti.compile(module, target="cpu")
    argument = kernel.arguments[0]
    assert (argument.shape, argument.packed, argument.size_divisors) == ((None, None), 2, shown)
    assert argument.stride_divisors == ((16, 1) if strides else ())
    # The shape of a packed array counts elements, of which two share a byte.
    given = {0: "6x12", 1: "6x12"}
    values = check.random_arguments(kernel.entry, 0, given)
    assert kernel.entry.grid_sizes(values) == (2, 2)
    kernel(*values)
    low, high = (values[0] << 4) >> 4, values[0] >> 4
    np.testing.assert_array_equal(values[1], np.stack([low, high], axis=-1).reshape(6, 12))
    check.check(kernel, module, given=given).require()


@pytest.mark.parametrize(
    "layout, facts, named",
    [
        ("", "", "attribute triton_xla.size_divisors = array<i64: 1, 2>$"),
        ("", "triton_xla.size_divisors = array<i64: 2, 3>", "attribute triton_xla.size_divisors = array<i64: 1, 2>$"),
        (
            ", strided<[?, 1]>",
            "triton_xla.size_divisors = array<i64: 1, 2>",
            "attribute triton_xla.stride_divisors = array<i64: 2, 1>$",
        ),
    ],
)
def test_dynamic_rows_state_whole_bytes(layout: str, facts: str, named: str) -> None:
    with pytest.raises(smalti.CompileError, match=f"(?m){named}"):
        smalti.compile(PACKED.replace("LAYOUT", layout).replace("FACTS", facts), target="cpu")


@pytest.mark.parametrize(
    "change, message",
    [
        (
            (("%sx = %c6", "%sx = %n"), ("%c6 =", "%n = arith.addi %c1, %c1 : index\n  %c6 =")),
            "grid size of the launch is dynamic",
        ),
        ((("memref<8x64xi4>", "vector<4xf32>"),), "argument 1 of @f_mosaic_gpu must be a memref"),
    ],
)
def test_a_launch_that_does_not_become_a_kernel(change: tuple[tuple[str, str], ...], message: str) -> None:
    text = LAUNCH
    for old, new in change:
        text = text.replace(old, new, 1)
    with pytest.raises(smalti.CompileError, match=message) as caught:
        describe(text)
    assert caught.value.location is not None


def test_a_pointer_without_a_memref_is_an_unused_argument() -> None:
    found = describe(LAUNCH.replace("arg_idx = 1", "arg_idx = 3"))
    assert [argument.is_unused for argument in found.arguments] == [False, True, True, False]
    assert not any(argument.reads or argument.writes for argument in found.arguments[1:3])


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


def test_a_name_that_is_not_utf8() -> None:
    text = b'triton_xla.entry_func @"k\\FF"(%tile: index) tiles 1 {\n  triton_xla.return\n}\n'
    with pytest.raises(smalti.CompileError, match=r"the name b'k.xff' is not valid UTF-8"):
        smalti.compile(text, target="cpu")


def test_random_arguments_with_negative_strides() -> None:
    text = """
triton_xla.entry_func @reverse(%x: memref<4xf32, strided<[-1]>>, %o: memref<4xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [4] [1] : memref<4xf32, strided<[-1]>> to tensor<4xf32>
  triton_xla.insert %t into %o[0] [4] [1] : tensor<4xf32> into memref<4xf32>
  triton_xla.return
}
"""
    module = smalti.parse(text)
    assert check.check(smalti.compile(module, target="cpu"), module).require().ok


TWO_LEVELS = """\
gpu.module @kernels {
  gpu.func @k(%x: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}
"""


def test_offsets_of_arguments() -> None:
    """The address is that of the first element; only the code of a tile-level kernel does not add the offset."""
    layout = "memref<8xf32, strided<[1], offset: 4>>"
    text = "triton_xla.entry_func @f(%x: memref<8xf32>, %tile: index) tiles 1 {\n  triton_xla.return\n}\n"
    (argument,) = describe(text.replace("memref<8xf32>", layout)).arguments
    assert argument.is_static and argument.strides == (1,)
    with pytest.raises(
        smalti.CompileError, match=r"the offset must be 0 or \?, because an array starts at its first element"
    ):
        describe(TWO_LEVELS.replace("memref<8xf32>", layout))


def test_an_entry_function_keeps_its_module() -> None:
    for text in (SCALE, TWO_LEVELS):
        function = entry.find_entry(smalti.parse(text))
        functions = entry.entry_functions(smalti.parse(text))
        gc.collect()
        for found in (function, *functions):
            assert found.regions[0].blocks[0].operations
            assert found.parent.name in ("builtin.module", "gpu.module")
