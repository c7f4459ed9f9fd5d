# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream ops on memory, masks and scalars in thread-level kernels: against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from helpers import random
from smalti.errors import CompileError
from upstream_programs import made, run

# ---------------------------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------------------------


def test_copies_by_all_threads() -> None:
    x, y = random(4, 8), np.zeros((8, 4), np.float32)
    module = 'memref.global "private" constant @order : memref<2x3xi32> = dense<[[5, 4, 3], [2, 1, 0]]>'
    body = """
    %s = memref.alloc() : memref<4x8xf32, 3>
    memref.prefetch %x[%c0, %c0], read, locality<3>, data : memref<4x8xf32>
    memref.copy %x, %s : memref<4x8xf32> to memref<4x8xf32, 3>
    gpu.barrier
    %turned = memref.transpose %s (i, j) -> (j, i)
        : memref<4x8xf32, 3> to memref<8x4xf32, strided<[1, 8]>, 3>
    memref.copy %turned, %y : memref<8x4xf32, strided<[1, 8]>, 3> to memref<8x4xf32>
    %table = memref.get_global @order : memref<2x3xi32>
    %row = arith.remui %t, %two : index
    %rank = memref.rank %table : memref<2x3xi32>
    %last = memref.load %table[%row, %rank] : memref<2x3xi32>
    memref.store %last, %z[%t] : memref<32xi32>"""
    z = np.zeros(32, np.int32)
    body = "%two = arith.constant 2 : index\n" + body
    run(body, "%x: memref<4x8xf32>, %y: memref<8x4xf32>, %z: memref<32xi32>", x, y, z, module=module)
    assert (y == x.T).all() and (z == np.tile([3, 0], 16)).all()


def test_copies_need_what_they_copy() -> None:
    body = """
    %s = memref.alloc() : memref<32xf32, 3>
    %v = memref.load %x[%t] : memref<64xf32>
    %r = arith.remui %t, %n : index
    memref.store %v, %s[%r] : memref<32xf32, 3>
    %w = memref.subview %x[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
    memref.copy %s, %w : memref<32xf32, 3> to memref<32xf32, strided<[1], offset: 32>>"""
    body = "%n = arith.constant 32 : index\n" + body
    found = made(body, "%x: memref<64xf32>", block="32, 1, 1").find(random(64))
    assert {finding.kind for finding in found} == {"race"}
    assert {finding.location.line for finding in found if finding.location} == {15}


def test_shapes_of_memory() -> None:
    x, y = random(4, 8), np.zeros(32, np.float32)
    shape = np.array([16, 2], np.int64)
    body = """
    %r = memref.reshape %x(%shape) : (memref<4x8xf32>, memref<2xindex>) -> memref<?x?xf32>
    %two = memref.dim %r, %c1 : memref<?x?xf32>
    %i = arith.divui %t, %two : index
    %j = arith.remui %t, %two : index
    %v = memref.load %r[%i, %j] : memref<?x?xf32>
    memref.store %v, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<4x8xf32>, %shape: memref<2xindex>, %y: memref<32xf32>", x, shape, y)
    assert (y == x.ravel()).all()


# ---------------------------------------------------------------------------------------------------------------------
# Masks of vectors
# ---------------------------------------------------------------------------------------------------------------------


def test_vectors_with_masks() -> None:
    x, counts = random(32, 8), np.arange(32) % 9
    y, z, sums = np.zeros((32, 8), np.float32), np.zeros((32, 8), np.float32), np.zeros((32, 2), np.float32)
    body = """
    %k = memref.load %counts[%t] : memref<32xindex>
    %m = vector.create_mask %k : vector<8xi1>
    %sevens = arith.constant dense<7.0> : vector<8xf32>
    %v = vector.mask %m, %sevens {
      vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<32x8xf32>, vector<8xf32>
    } : vector<8xi1> -> vector<8xf32>
    vector.store %v, %y[%t, %c0] : memref<32x8xf32>, vector<8xf32>
    %sum = vector.mask %m { vector.reduction <add>, %v : vector<8xf32> into f32 } : vector<8xi1> -> f32
    memref.store %sum, %sums[%t, %c0] : memref<32x2xf32>
    %rows = vector.shape_cast %v : vector<8xf32> to vector<1x8xf32>
    %wide = vector.shape_cast %m : vector<8xi1> to vector<1x8xi1>
    %start = arith.constant dense<-3.0> : vector<1xf32>
    %most = vector.mask %wide {
      vector.multi_reduction <maximumf>, %rows, %start [1] : vector<1x8xf32> to vector<1xf32>
    } : vector<1x8xi1> -> vector<1xf32>
    %e = vector.extract %most[0] : f32 from vector<1xf32>
    memref.store %e, %sums[%t, %c1] : memref<32x2xf32>
    %odd = arith.constant dense<[true, false, true, true, false, false, true, true]> : vector<8xi1>
    %spread = vector.expandload %x[%t, %c0], %odd, %sevens
        : memref<32x8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.compressstore %z[%t, %c1], %m, %spread : memref<32x8xf32>, vector<8xi1>, vector<8xf32>"""
    arguments = "%x: memref<32x8xf32>, %counts: memref<32xindex>, %y: memref<32x8xf32>, %z: memref<32x8xf32>, "
    counts[counts == 8] = 7
    run(body, arguments + "%sums: memref<32x2xf32>", x, counts, y, z, sums)
    inside = np.arange(8) < counts[:, None]
    assert (y == np.where(inside, x, 7)).all()
    np.testing.assert_allclose(sums[:, 0], np.where(inside, x, 0).sum(1, np.float64), atol=1e-5)
    assert (sums[:, 1] == np.where(inside, x, -3).max(1, initial=-3)).all()
    spread = np.full((32, 8), 7, np.float32)
    spread[:, [0, 2, 3, 6, 7]] = x[:, :5]
    assert (z[:, 1:] == np.where(inside, spread, 0)[:, :7]).all() and (z[:, 0] == 0).all()


def test_masks_of_transposed_transfers_and_contractions() -> None:
    """A mask has the dimensions of the memory, that of a contraction those of its iterations."""
    x, y, z = random(4, 6), np.zeros((32, 6, 4), np.float32), np.zeros((32, 4), np.float32)
    body = """
    %four = arith.constant 3 : index
    %six = arith.constant 5 : index
    %m = vector.create_mask %four, %six : vector<4x6xi1>
    %v = vector.transfer_read %x[%c0, %c0], %zero, %m
        {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<4x6xf32>, vector<6x4xf32>
    vector.transfer_write %v, %y[%t, %c0, %c0] {in_bounds = [true, true]} : vector<6x4xf32>, memref<32x6x4xf32>
    %w = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : memref<4x6xf32>, vector<4x6xf32>
    %start = arith.constant dense<1.0> : vector<4xf32>
    %c = vector.mask %m {
      vector.contract {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>,
        affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>}
        %w, %w, %start : vector<4x6xf32>, vector<4x6xf32> into vector<4xf32>
    } : vector<4x6xi1> -> vector<4xf32>
    vector.transfer_write %c, %z[%t, %c0] {in_bounds = [true]} : vector<4xf32>, memref<32x4xf32>"""
    run(body, "%x: memref<4x6xf32>, %y: memref<32x6x4xf32>, %z: memref<32x4xf32>", x, y, z)
    kept = x.copy()
    kept[3:], kept[:, 5:] = 0, 0
    assert (y == kept.T).all()
    np.testing.assert_allclose(z, np.broadcast_to(1 + (kept.astype(np.float64) ** 2).sum(1), (32, 4)), rtol=1e-6)


def test_masked_elements_are_not_touched() -> None:
    """Masked elements may be outside."""
    body = """
    %n = arith.constant {count} : index
    %m = vector.create_mask %n : vector<8xi1>
    %zeros = arith.constant dense<0.0> : vector<8xf32>
    vector.mask %m {{
      vector.transfer_write %zeros, %x[%t] {{in_bounds = [true]}} : vector<8xf32>, memref<36xf32>
    }} : vector<8xi1>"""
    assert not made(body.format(count=5), "%x: memref<36xf32>").find(np.zeros(36, np.float32))
    found = made(body.format(count=6), "%x: memref<36xf32>").find(np.zeros(36, np.float32))
    assert {finding.kind for finding in found} == {"out-of-bounds"}


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------


def test_complex_numbers() -> None:
    x, y = random(32), np.zeros((2, 32), np.float32)
    body = """
    %p = memref.load %x[%t] : memref<32xf32>
    %a = complex.create %p, %p : complex<f32>
    %k = complex.constant [2.0 : f32, -1.0 : f32] : complex<f32>
    %b = complex.mul %a, %k : complex<f32>
    %r = complex.re %b : complex<f32>
    %c = complex.create %r, %zero : complex<f32>
    %d = complex.add %c, %b : complex<f32>
    %s = memref.alloc() : memref<32xcomplex<f32>, 3>
    memref.store %d, %s[%t] : memref<32xcomplex<f32>, 3>
    %e = memref.load %s[%t] : memref<32xcomplex<f32>, 3>
    %f = complex.exp %e : complex<f32>
    %re = complex.re %f : complex<f32>
    %im = complex.im %f : complex<f32>
    memref.store %re, %y[%c0, %t] : memref<2x32xf32>
    memref.store %im, %y[%c1, %t] : memref<2x32xf32>"""
    run(body, "%x: memref<32xf32>, %y: memref<2x32xf32>", x, y)
    wanted = (x + 1j * x.astype(np.float64)) * (2 - 1j)
    wanted = np.exp(wanted + wanted.real)
    np.testing.assert_allclose(y, [wanted.real, wanted.imag], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("scale", "power"), [("11.0 : f32", 3), ("dense<0.25> : vector<1xf8E8M0FNU>", -2)])
def test_conversions_with_scales(scale: str, power: int) -> None:
    """Only the exponent of a scale counts."""
    x, y = np.linspace(-9, 9, 32).astype(np.float32), np.zeros(32, np.float32)
    kind = scale.rpartition(" : ")[2]
    element = "f8E8M0FNU" if "vector" in kind else "f32"
    take = (
        f"%s = vector.extract %k[0] : {element} from {kind}" if "vector" in kind else "%s = arith.addf %k, %zero : f32"
    )
    body = f"""
    %k = arith.constant {scale}
    {take}
    %a = memref.load %x[%t] : memref<32xf32>
    %q = arith.scaling_truncf %a, %s : f32, {element} to f8E4M3FN
    %b = arith.scaling_extf %q, %s : f8E4M3FN, {element} to f32
    memref.store %b, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<32xf32>, %y: memref<32xf32>", x, y)
    scaled = (x / 2.0**power).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * 2.0**power
    assert (y == scaled).all()


def test_fused_multiply_adds_are_rounded_once() -> None:
    """2^-60 decides the rounding of a multiply-add."""
    x = np.array([[1 + 2**-12, 1 + 2**-12, 2**-60]] * 32, np.float32)
    y = np.zeros(32, np.float32)
    body = """
    %c2 = arith.constant 2 : index
    %a = memref.load %x[%t, %c0] : memref<32x3xf32>
    %b = memref.load %x[%t, %c1] : memref<32x3xf32>
    %c = memref.load %x[%t, %c2] : memref<32x3xf32>
    %r = math.fma %a, %b, %c : f32
    memref.store %r, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<32x3xf32>, %y: memref<32xf32>", x, y)
    # 1 + 2^-11 + 2^-24 + 2^-60 is just above the middle of two numbers.
    assert (y == np.float32(1 + 2**-11 + 2**-23)).all()


LIBRARY = {
    "llvm.call @__nv_expf(%a) : (f32) -> f32": np.exp,
    "llvm.call @__nv_fast_log2f(%p) : (f32) -> f32": lambda x: np.log2(np.abs(x)),
    "llvm.call @__ocml_rsqrt_f32(%p) : (f32) -> f32": lambda x: np.abs(x) ** -0.5,
    "llvm.call @__nv_fmodf(%a, %p) : (f32, f32) -> f32": lambda x: np.fmod(x, np.abs(x)),
    "llvm.intr.exp10(%a) : (f32) -> f32": lambda x: 10**x,
    "llvm.intr.fabs(%a) : (f32) -> f32": np.abs,
    "llvm.intr.fmuladd(%a, %p, %a) : (f32, f32, f32) -> f32": lambda x: x * np.abs(x) + x,
    "llvm.intr.maxnum(%a, %zero) : (f32, f32) -> f32": lambda x: np.maximum(x, 0),
}


@pytest.mark.parametrize("call", LIBRARY)
def test_functions_of_libraries(call: str) -> None:
    x, y = random(32), np.zeros(32, np.float32)
    name = call.partition("@")[2].partition("(")[0]
    count = call.partition("(")[2].partition(")")[0].count(",") + 1
    module = f"llvm.func @{name}({', '.join(['f32'] * count)}) -> f32" if name else ""
    body = f"""
    %a = memref.load %x[%t] : memref<32xf32>
    %p = math.absf %a : f32
    %r = {call}
    memref.store %r, %y[%t] : memref<32xf32>"""
    run(body, "%x: memref<32xf32>, %y: memref<32xf32>", x, y, module=module)
    np.testing.assert_allclose(y, LIBRARY[call](x.astype(np.float64)), rtol=1e-6, atol=1e-7)


def test_undefined_functions_are_refused() -> None:
    with pytest.raises(CompileError, match="__nv_unheard"):
        made(
            "%r = llvm.call @__nv_unheard(%zero) : (f32) -> f32",
            "%x: memref<8xf32>",
            module="llvm.func @__nv_unheard(f32) -> f32",
        )


BITS = {
    "llvm.intr.bswap(%a) : (i32) -> i32": lambda x: x.byteswap(),
    "llvm.intr.bitreverse(%a) : (i32) -> i32": lambda x: np.array(
        [int(f"{int(v) & 0xFFFFFFFF:032b}"[::-1], 2) for v in x], np.uint32
    ).view(np.int32),
    "llvm.intr.fshl(%a, %b, %s) : (i32, i32, i32) -> i32": lambda x: np.array(
        [((int(v) & 0xFFFFFFFF) << 37 % 32 | (int(v) * 7 & 0xFFFFFFFF) >> 32 - 37 % 32) & 0xFFFFFFFF for v in x],
        np.uint32,
    ).view(np.int32),
    "llvm.intr.sadd.sat(%a, %b) : (i32, i32) -> i32": lambda x: np.clip(
        x.astype(np.int64) + (x.astype(np.int64) * 7).astype(np.int32), -(2**31), 2**31 - 1
    ).astype(np.int32),
    "llvm.intr.smax(%a, %b) : (i32, i32) -> i32": lambda x: np.maximum(x, (x.astype(np.int64) * 7).astype(np.int32)),
    "llvm.intr.ucmp(%a, %b) : (i32, i32) -> i32": lambda x: np.sign(
        x.view(np.uint32).astype(np.int64) - (x.astype(np.int64) * 7).astype(np.int32).view(np.uint32)
    ).astype(np.int32),
}


@pytest.mark.parametrize("call", BITS)
def test_intrinsics_of_integers(call: str) -> None:
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 32).astype(np.int32)
    y = np.zeros(32, np.int32)
    body = f"""
    %a = memref.load %x[%t] : memref<32xi32>
    %seven = arith.constant 7 : i32
    %s = arith.constant 37 : i32
    %b = arith.muli %a, %seven overflow<nsw> : i32
    %r = {call.replace("llvm.intr", '"llvm.intr').replace("(", '"(', 1)}
    memref.store %r, %y[%t] : memref<32xi32>"""
    run(body, "%x: memref<32xi32>, %y: memref<32xi32>", x, y)
    assert (y == BITS[call](x)).all()


def test_overflows_and_pointers_into_structures() -> None:
    """Shared memory that has a name, and a structure with a gap."""
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 32).astype(np.int32)
    y, z = np.zeros(32, np.int32), np.zeros(32, np.int32)
    ty = "!llvm.struct<(i8, struct<(i32, i16)>, array<32 x i32>)>"
    module = f"llvm.mlir.global internal @kept() {{addr_space = 3 : i32}} : {ty}"
    body = f"""
    %a = memref.load %x[%t] : memref<32xi32>
    %pair = "llvm.intr.sadd.with.overflow"(%a, %a) : (i32, i32) -> !llvm.struct<(i32, i1)>
    %sum = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %bit = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %over = llvm.zext %bit : i1 to i32
    %base = llvm.mlir.addressof @kept : !llvm.ptr<3>
    %i = arith.index_cast %t : index to i32
    %at = llvm.getelementptr %base[0, 2, %i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {ty}
    llvm.store %sum, %at : i32, !llvm.ptr<3>
    gpu.barrier
    %last = arith.constant 31 : i32
    %j = arith.subi %last, %i : i32
    %from = llvm.getelementptr %base[0, 2, %j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {ty}
    %v = llvm.load %from : !llvm.ptr<3> -> i32
    memref.store %v, %y[%t] : memref<32xi32>
    %second = llvm.getelementptr %base[0, 1, 0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, {ty}
    %gap = llvm.ptrtoint %second : !llvm.ptr<3> to i32
    %begin = llvm.ptrtoint %base : !llvm.ptr<3> to i32
    %place = arith.subi %gap, %begin : i32
    %both = arith.addi %over, %place : i32
    memref.store %both, %z[%t] : memref<32xi32>"""
    run(body, "%x: memref<32xi32>, %y: memref<32xi32>, %z: memref<32xi32>", x, y, z, module=module)
    twice = 2 * x.astype(np.int64)
    assert (y == twice.astype(np.int32)[::-1]).all()
    assert (z == 4 + (np.abs(twice + 0.5) > 2**31)).all()


def test_promises_to_a_compiler() -> None:
    body = "%few = arith.cmpi ult, %t, %limit : index\nllvm.intr.assume %few : i1"
    for limit, kinds in ((32, []), (31, ["assertion"])):
        text = f"%limit = arith.constant {limit} : index\n{body}"
        found = made(text, "%x: memref<8xf32>").find(np.zeros(8, np.float32))
        assert [finding.kind for finding in found] == kinds
