# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements smaller than a byte: packed in global memory, and in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from helpers import SHARED, gpu_kernel
from jax_programs import memref, module, pack, parts_of_packed_rows
from sim_programs import BARRIER, FENCE, SYNC, barrier
from sim_programs import program as sim_program
from smalti import sim
from smalti.errors import CompileError, LaunchError
from smalti.sim import mutants

SHAPE = (128, 64)
NARROW, WIDE = "vector<128x64xi4>", "vector<128x64xi32>"
LEVELS: list[dict[str, Any]] = [{}, {"level": "thread"}]


@pytest.mark.parametrize("level", LEVELS, ids=["block", "thread"])
@pytest.mark.parametrize("extension", ["extsi", "extui"])
def test_two_numbers_in_a_byte(extension: str, level: dict[str, Any]) -> None:
    body = f"""
      %n = mosaic_gpu.vector_load %a0 {{optimized = false}} : {memref(SHAPE, "i4")} -> {NARROW}
      %w = arith.{extension} %n : {NARROW} to {WIDE}
      mosaic_gpu.vector_store %w, %a1 : {WIDE}, {memref(SHAPE, "i32")}
      %three = arith.constant dense<3> : {WIDE}
      %s = arith.addi %w, %three : {WIDE}
      %t = arith.trunci %s : {WIDE} to {NARROW}
      mosaic_gpu.vector_store %t, %a2 : {NARROW}, {memref(SHAPE, "i4")}
    """
    x = np.random.default_rng(4).integers(-8, 8, SHAPE)
    source = module([(SHAPE, "i4"), (SHAPE, "i32"), (SHAPE, "i4")], body)
    made = sim.simulate(source, "sm_90a", **level)
    assert [array.shape for array in made.random_arguments()] == [(128, 32), SHAPE, (128, 32)]
    out, again = np.full(SHAPE, 99, np.int32), np.full((128, 32), 0x55, np.int8)
    made(pack(x), out, again)
    assert (out == (x if extension == "extsi" else x & 15)).all()
    assert (again == pack(x + 3)).all()
    with pytest.raises(LaunchError, match="the shape is 128x64; the kernel requires 128x32"):
        made(x.astype(np.int8), out, again)


@pytest.mark.parametrize("level", LEVELS, ids=["block", "thread"])
def test_parts_of_rows(level: dict[str, Any]) -> None:
    source, x, expected = parts_of_packed_rows()
    out = np.full_like(expected, 99)
    sim.simulate(source, "sm_90a", **level)(pack(x), out)
    np.testing.assert_array_equal(out, expected)


def test_four_numbers_in_a_byte() -> None:
    narrow = "vector<128x64xi2>"
    body = f"""
      %n = mosaic_gpu.vector_load %a0 {{optimized = false}} : {memref(SHAPE, "i2")} -> {narrow}
      %w = arith.extsi %n : {narrow} to {WIDE}
      mosaic_gpu.vector_store %w, %a1 : {WIDE}, {memref(SHAPE, "i32")}
      mosaic_gpu.vector_store %n, %a2 : {narrow}, {memref(SHAPE, "i2")}
    """
    given = np.random.default_rng(5).integers(-128, 128, (128, 16)).astype(np.int8)
    out, again = np.zeros(SHAPE, np.int32), np.zeros((128, 16), np.int8)
    sim.simulate(module([(SHAPE, "i2"), (SHAPE, "i32"), (SHAPE, "i2")], body), "sm_90a")(given, out, again)
    codes = np.stack([given.view(np.uint8) >> 2 * i & 3 for i in range(4)], -1).reshape(SHAPE).astype(np.int32)
    assert (out == np.where(codes > 1, codes - 4, codes)).all() and (again == given).all()


def tile(element: str, ty: str = "64x128") -> str:
    return f"memref<{ty}x{element}, {SHARED}>"


def through_shared_memory(element: str, count: int, wait: str, column: int) -> str:
    """A box of the argument that exceeds it by a column of bytes. Its right part is reversed, and the box is stored
    again."""
    half, vector = f"memref<64x64x{element}, strided<[128, 1], offset: ?>, {SHARED}>", f"vector<64x64x{element}>"
    turned = f"memref<64x64x{element}, strided<[1, 128], offset: ?>, {SHARED}>"
    whole, out = f"memref<64x256x{element}>", f"memref<64x128x{element}>"
    return sim_program(
        f"""{barrier("b", 65528)}
      %x = mosaic_gpu.slice_smem 1024 : {tile(element)}
      %y = mosaic_gpu.slice_smem {1024 + 64 * 128 // count} : {tile(element)}
      %from = arith.constant {column} : i32
      %c64 = arith.constant 64 : index
      mosaic_gpu.arrive_expect_tx barrier(%b : {BARRIER}) {64 * 128 // count}
      mosaic_gpu.async_load %a0[%c0, %from] [64, 128] to %x barrier(%b)
          : {whole}[i32, i32] to {tile(element)}, {BARRIER}
      {wait}
      %h = memref.subview %x[0, %c64] [64, 64] [1, 1] : {tile(element)} to {half}
      %r = memref.transpose %h (i, j) -> (j, i) : {half} to {turned}
      %v = mosaic_gpu.vector_load %r {{optimized = false}} : {turned} -> {vector}
      %w = arith.extsi %v : {vector} to vector<64x64xi32>
      mosaic_gpu.vector_store %w, %a1 : vector<64x64xi32>, memref<64x64xi32>
      %all = mosaic_gpu.vector_load %x {{optimized = false}} : {tile(element)} -> vector<64x128x{element}>
      mosaic_gpu.vector_store %all, %y : vector<64x128x{element}>, {tile(element)}{FENCE}{SYNC}
      mosaic_gpu.async_store %y to %a2[%c0, %c0] [64, 128] : {tile(element)} to {out}[i32, i32]
      nvvm.cp.async.bulk.wait_group 0""",
        [whole, "memref<64x64xi32>", out],
    )


WAIT = f"mosaic_gpu.wait barrier(%b : {BARRIER}) parity(%false : i1)"


@pytest.mark.parametrize(("element", "count"), [("i4", 2), ("i2", 4)])
def test_tiles_in_shared_memory(element: str, count: int) -> None:
    kernel = sim.simulate(through_shared_memory(element, count, WAIT, 256 - 128 + count), "sm_90a")
    x, turned, out = kernel.random_arguments()
    kernel(x, turned, out)
    bits = 8 // count
    codes = np.stack([x.view(np.uint8) >> bits * i & (1 << bits) - 1 for i in range(count)], -1)
    codes = codes.reshape(64, 256).astype(np.int32)
    signed = np.where(codes >= 1 << bits - 1, codes - (1 << bits), codes)
    # Elements outside are filled.
    wanted = np.pad(signed[:, 128 + count :], ((0, 0), (0, count)))
    assert (turned == wanted[:, 64:].T).all()
    bytes_of = np.pad(x[:, (128 + count) // count :], ((0, 0), (0, 1)))
    assert (out == bytes_of).all()


def test_races_of_tiles_and_parts_of_bytes() -> None:
    kernel = sim.simulate(through_shared_memory("i4", 2, "", 0), "sm_90a")
    found = kernel.find(*kernel.random_arguments())
    assert found[0].kind == "race" and "of shared memory; it is not ordered with the copy" in found[0].message
    outcomes = mutants.score(
        kernel := sim.simulate(through_shared_memory("i4", 2, WAIT, 0), "sm_90a"), kernel.random_arguments()
    )
    assert outcomes and [str(o) for o in outcomes if not o.caught] == []
    odd = sim.simulate(through_shared_memory("i4", 2, WAIT, 3), "sm_90a")
    with pytest.raises(
        LaunchError, match="begins or ends inside a byte, which the simulator does not support: 3 elements"
    ):
        odd(*odd.random_arguments())


def test_arithmetic_of_blocks() -> None:
    body = f"""
      %n = mosaic_gpu.vector_load %a0 {{optimized = false}} : {memref(SHAPE, "i4")} -> {NARROW}
      %m = mosaic_gpu.vector_load %a1 {{optimized = false}} : {memref(SHAPE, "i4")} -> {NARROW}
      %three = arith.constant dense<-3> : {NARROW}
      %two = arith.constant dense<2> : {NARROW}
      %p = arith.muli %n, %m : {NARROW}
      %q = arith.addi %p, %three : {NARROW}
      %r = arith.shrui %q, %two : {NARROW}
      %c = arith.cmpi ult, %n, %m : {NARROW}
      %s = arith.select %c, %q, %r : vector<128x64xi1>, {NARROW}
      mosaic_gpu.vector_store %s, %a2 : {NARROW}, {memref(SHAPE, "i4")}
    """
    x, y = np.random.default_rng(4).integers(-8, 8, (2, *SHAPE))
    out = np.zeros((128, 32), np.int8)
    sim.simulate(module([(SHAPE, "i4")] * 3, body), "sm_90a")(pack(x), pack(y), out)
    added = x * y - 3
    assert (out == pack(np.where(x & 15 < y & 15, added, (added & 15) >> 2))).all()


def test_unsupported_packed_ops_are_named() -> None:
    with pytest.raises(CompileError) as error:
        sim.simulate(program("%v = arith.constant 1 : i4\n memref.store %v, %a[%t] : memref<32xi4>", "i4"), "sm_80")
    assert (
        "the simulator does not support this form of 'memref.store': an operand or a result has elements smaller than a byte"
        in str(error.value)
    )
    with pytest.raises(CompileError) as error:
        sim.simulate(program("", "i4").replace("32xi4", "31xi4"), "sm_80")
    assert "rows must be whole bytes" in str(error.value)


def program(body: str, element: str = "i32", out: str = "32xi32") -> str:
    return gpu_kernel(
        f"%a: memref<32x{element}>, %o: memref<{out}>",
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    {body}""",
        32,
    )


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_numbers_of_a_few_bits_in_registers(chip: str) -> None:
    body = """
    %v = memref.load %a[%t] : memref<32xi32>
    %one = vector.broadcast %v : i32 to vector<1xi32>
    %n = vector.bitcast %one : vector<1xi32> to vector<8xi4>
    %s = arith.extsi %n : vector<8xi4> to vector<8xi8>
    %u = arith.uitofp %n : vector<8xi4> to vector<8xf32>
    %m = llvm.bitcast %v : i32 to vector<16xi2>
    %w = arith.extui %m : vector<16xi2> to vector<16xi8>
    %back = arith.trunci %s : vector<8xi8> to vector<8xi4>
    %turned = vector.shuffle %back, %back [7, 6, 5, 4, 3, 2, 1, 0] : vector<8xi4>, vector<8xi4>
    %word = vector.bitcast %turned : vector<8xi4> to vector<1xi32>
    %s32 = vector.bitcast %s : vector<8xi8> to vector<2xi32>
    %u32 = vector.bitcast %u : vector<8xf32> to vector<8xi32>
    %w32 = vector.bitcast %w : vector<16xi8> to vector<4xi32>
    vector.store %word, %o[%t, %c0] : memref<32x15xi32>, vector<1xi32>
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c11 = arith.constant 11 : index
    vector.store %s32, %o[%t, %c1] : memref<32x15xi32>, vector<2xi32>
    vector.store %u32, %o[%t, %c3] : memref<32x15xi32>, vector<8xi32>
    vector.store %w32, %o[%t, %c11] : memref<32x15xi32>, vector<4xi32>"""
    text = program(body, out="32x15xi32")
    a = np.random.default_rng(6).integers(-(1 << 31), 1 << 31, 32).astype(np.int32)
    found, wanted = np.zeros((2, 32, 15), np.int32)
    smalti.compile(text, target=f"sim:{chip}")(a, found)
    smalti.compile(text, target=f"emu:{chip}")(a, wanted)
    assert (found == wanted).all()
    digits = np.stack([a.view(np.uint32) >> 4 * i & 15 for i in range(8)], 1)
    assert (found[:, 3:11].view(np.float32) == digits).all()


PACKED: list[tuple[str, int]] = [("i4", 2), ("i2", 4)]


def tile_kernel(arguments: str, lines: list[str], tiles: int = 1) -> str:
    body = "\n  ".join(lines)
    return f"triton_xla.entry_func @f({arguments}, %tile: index) tiles {tiles} {{\n  {body}\n  triton_xla.return\n}}\n"


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
@pytest.mark.parametrize(("element", "count"), PACKED)
def test_integer_functions_of_tiles(element: str, count: int, chip: str) -> None:
    """Tile-level kernels with packed arguments are simulated at thread level."""
    memory, tile_type, wide = f"memref<8x64x{element}>", f"tensor<8x64x{element}>", "tensor<8x64xi32>"
    names = ("absi", "ctlz", "cttz", "ctpop")
    lines = [f"%x = triton_xla.extract %a[0, 0] [8, 64] [1, 1] : {memory} to {tile_type}"]
    for number, name in enumerate(names):
        lines += [
            f"%r{number} = math.{name} %x : {tile_type}",
            f"%w{number} = arith.extui %r{number} : {tile_type} to {wide}",
            f"triton_xla.insert %w{number} into %o[{number}, 0, 0] [1, 8, 64] [1, 1, 1] : {wide} into memref<4x8x64xi32>",
        ]
    text = tile_kernel(f"%a: {memory}, %o: memref<4x8x64xi32>", lines)
    x = np.random.default_rng(1).integers(-128, 128, (8, 64 // count)).astype(np.int8)
    found, wanted = np.full((2, 4, 8, 64), -1, np.int32)
    smalti.compile(text, target=f"sim:{chip}")(x, found)
    smalti.compile(text, target=f"emu:{chip}")(x, wanted)
    assert (found == wanted).all()
    bits = 8 // count
    codes = np.stack([x.view(np.uint8) >> bits * i & (1 << bits) - 1 for i in range(count)], -1).reshape(8, 64)
    assert (found[3] == np.bitwise_count(codes)).all() and (found[2][codes == 0] == bits).all()


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_windows_that_share_bytes(chip: str) -> None:
    """Two blocks update the halves of a byte, atomically; an element of the first row is added to each."""
    lines = [
        "%c0 = arith.constant 0 : index",
        "%c21 = arith.constant 21 : index",
        "%p = arith.muli %tile, %c21 : index",
        "%n = memref.load %a[%c0, %p] : memref<8x64xi4>",
        "%s = tensor.splat %n : tensor<8x21xi4>",
        "%t = triton_xla.extract %a[0, %p] [8, 21] [1, 1] : memref<8x64xi4> to tensor<8x21xi4>",
        "%u = arith.addi %t, %s : tensor<8x21xi4>",
        "triton_xla.insert %u into %o[0, %p] [8, 21] [1, 1] : tensor<8x21xi4> into memref<8x64xi4>",
    ]
    made = sim.simulate(tile_kernel("%a: memref<8x64xi4>, %o: memref<8x64xi4>", lines, 3), f"sim:{chip}")
    x = np.random.default_rng(2).integers(-8, 8, (8, 64))
    out = pack(np.full((8, 64), 5))
    assert made.find(pack(x), out) == ()
    wanted = np.full((8, 64), 5)
    for begin in (0, 21, 42):
        wanted[:, begin : begin + 21] = x[:, begin : begin + 21] + x[0, begin]
    assert (out == pack(wanted)).all()


@pytest.mark.parametrize("element", ["i4", "i2", "f4E2M1FN"])
def test_a_race_of_packed_elements(element: str) -> None:
    """Blocks write different values to the same elements. With few threads, each writes whole bytes."""
    memory, tile_type = f"memref<8x64x{element}>", f"tensor<8x64x{element}>"
    rows = memory.replace("8x", "9x", 1)
    lines = [
        f"%t = triton_xla.extract %a[%tile, 0] [8, 64] [1, 1] : {rows} to {tile_type}",
        f"triton_xla.insert %t into %o[0, 0] [8, 64] [1, 1] : {tile_type} into {memory}",
    ]
    for tiles, kinds in ((1, []), (2, ["race"])):
        made = sim.simulate(tile_kernel(f"%a: {rows}, %o: {memory}", lines, tiles), "sim:sm_80", num_warps=1)
        x, out = made.random_arguments()
        assert [finding.kind for finding in made.find(x, out)] == kinds
        assert tiles > 1 or (x[:8] == out).all()


def test_bits_of_a_vector() -> None:
    body = """
    %v = memref.load %a[%t] : memref<32xi32>
    %one = vector.broadcast %v : i32 to vector<1xi32>
    %bits = vector.bitcast %one : vector<1xi32> to vector<32xi1>
    %turned = vector.shuffle %bits, %bits [31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
        12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : vector<32xi1>, vector<32xi1>
    %word = vector.bitcast %turned : vector<32xi1> to vector<1xi32>
    vector.store %word, %o[%t] : memref<32xi32>, vector<1xi32>"""
    a, o = np.arange(32, dtype=np.int32) * 77777, np.zeros(32, np.int32)
    smalti.compile(program(body), target="sim:sm_80")(a, o)
    assert [f"{x:032b}"[::-1] for x in a.view(np.uint32)] == [f"{x:032b}" for x in o.view(np.uint32)]
    stored = "%m = arith.constant dense<true> : vector<4xi1>\nvector.maskedstore %a[%c0], %m, %m : memref<32xi1>, vector<4xi1>, vector<4xi1>"
    with pytest.raises(CompileError) as error:
        sim.simulate(program(stored, "i1"), "sm_80")
    assert "vector<4xi1> in memory" in str(error.value)
