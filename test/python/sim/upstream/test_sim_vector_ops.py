# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream vector ops in thread-level kernels, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import gpu_kernel, random
from smalti import sim
from smalti.errors import CompileError


def run(body: str, arguments: str, *arrays: np.ndarray, target: str = "sim:sm_80") -> None:
    """A warp of 32 threads, which has `%t` and some numbers."""
    text = gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
{body}""",
        32,
    )
    sim.simulate(text, target)(*arrays)


ROWS = (
    "%v = vector.transfer_read %x[%t, %c0, %c0], %zero {in_bounds = [true, true]} : memref<32x4x6xf32>, vector<4x6xf32>"
)


@pytest.mark.parametrize(
    ("dimensions", "result", "axis"),
    [("[0]", "vector<6xf32>", 1), ("[1]", "vector<4xf32>", 2), ("[0, 1]", "f32", (1, 2))],
)
@pytest.mark.parametrize("kind", ["add", "maximumf", "minnumf", "mul"])
def test_reductions_along_dimensions(dimensions: str, result: str, axis: int | tuple[int, int], kind: str) -> None:
    x = random(32, 4, 6)
    wanted = {"add": np.sum, "maximumf": np.max, "minnumf": np.min, "mul": np.prod}[kind](x.astype(np.float64), axis)
    wanted = wanted.reshape(32, -1)
    y = np.zeros_like(wanted, np.float32)
    start = {"add": "0.0", "maximumf": "0xFF800000", "minnumf": "0x7F800000", "mul": "1.0"}[kind]
    dense = start if result == "f32" else f"dense<{start}>"
    store = (
        "memref.store %r, %y[%t, %c0]"
        if result == "f32"
        else f"vector.transfer_write %r, %y[%t, %c0] {{in_bounds = [true]}} : {result},"
    )
    store += " : " if result == "f32" else " "
    run(
        f"""{ROWS}
    %start = arith.constant {dense} : {result}
    %r = vector.multi_reduction <{kind}>, %v, %start {dimensions} : vector<4x6xf32> to {result}
    {store}memref<32x{y.shape[1]}xf32>""",
        f"%x: memref<32x4x6xf32>, %y: memref<32x{y.shape[1]}xf32>",
        x,
        y,
    )
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("inclusive", [True, False])
def test_scans(inclusive: bool) -> None:
    x, y, last = random(32, 4, 6), np.zeros((32, 4, 6), np.float32), np.zeros((32, 6), np.float32)
    run(
        f"""{ROWS}
    %start = arith.constant dense<3.0> : vector<6xf32>
    %r, %last = vector.scan <add>, %v, %start {{inclusive = {str(inclusive).lower()}, reduction_dim = 0 : i64}}
        : vector<4x6xf32>, vector<6xf32>
    vector.transfer_write %r, %y[%t, %c0, %c0] {{in_bounds = [true, true]}} : vector<4x6xf32>, memref<32x4x6xf32>
    vector.transfer_write %last, %z[%t, %c0] {{in_bounds = [true]}} : vector<6xf32>, memref<32x6xf32>""",
        "%x: memref<32x4x6xf32>, %y: memref<32x4x6xf32>, %z: memref<32x6xf32>",
        x,
        y,
        last,
    )
    sums = np.cumsum(x, 1)
    # Only the exclusive ones have an initial value.
    wanted = sums if inclusive else np.concatenate([np.full((32, 1, 6), 3), 3 + sums[:, :-1]], 1)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)
    assert (last == y[:, -1]).all()


def test_contractions_and_vector_outerproduct() -> None:
    x, y, z = random(32, 4, 6), random(32, 6, 5, seed=1), random(32, 4, 5, seed=2)
    start, outer = z.copy(), np.zeros((32, 4, 6), np.float32)
    run(
        f"""{ROWS}
    %w = vector.transfer_read %y[%t, %c0, %c0], %zero {{in_bounds = [true, true]}} : memref<32x6x5xf32>, vector<6x5xf32>
    %u = vector.transfer_read %z[%t, %c0, %c0], %zero {{in_bounds = [true, true]}} : memref<32x4x5xf32>, vector<4x5xf32>
    %r = vector.contract {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
        kind = #vector.kind<add>}} %v, %w, %u : vector<4x6xf32>, vector<6x5xf32> into vector<4x5xf32>
    vector.transfer_write %r, %z[%t, %c0, %c0] {{in_bounds = [true, true]}} : vector<4x5xf32>, memref<32x4x5xf32>
    %first = vector.extract %v[0] : vector<6xf32> from vector<4x6xf32>
    %column = vector.extract_strided_slice %first {{offsets = [1], sizes = [4], strides = [1]}}
        : vector<6xf32> to vector<4xf32>
    %p = vector.outerproduct %column, %first, %v {{kind = #vector.kind<add>}} : vector<4xf32>, vector<6xf32>
    vector.transfer_write %p, %o[%t, %c0, %c0] {{in_bounds = [true, true]}} : vector<4x6xf32>, memref<32x4x6xf32>""",
        "%x: memref<32x4x6xf32>, %y: memref<32x6x5xf32>, %z: memref<32x4x5xf32>, %o: memref<32x4x6xf32>",
        x,
        y,
        z,
        outer,
    )
    np.testing.assert_allclose(z, start + x.astype(np.float64) @ y, rtol=1e-4, atol=1e-5)
    wanted = x.astype(np.float64) + x[:, 0, 1:5, None].astype(np.float64) * x[:, 0, None, :]
    np.testing.assert_allclose(outer, wanted, rtol=1e-6)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_matrices_of_a_warp(element: str) -> None:
    """D = relu(A B + C), with B as its transpose in memory, through shared memory."""
    a, b, c = random(16, 16).astype(np.float16), random(16, 16, seed=1).astype(np.float16), random(16, 16, seed=2)
    c = c.astype({"f16": np.float16, "f32": np.float32}[element])
    start = c.copy()
    body = """
    %tile = memref.alloc() : memref<16x16xf16, #gpu.address_space<workgroup>>
    %two = arith.constant 2 : index
    %row = arith.divui %t, %two : index
    %half = arith.remui %t, %two : index
    %eight = arith.constant 8 : index
    %column = arith.muli %half, %eight : index
    %v = vector.load %a[%row, %column] : memref<16x16xf16>, vector<8xf16>
    vector.store %v, %tile[%row, %column] : memref<16x16xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    gpu.barrier
    %x = gpu.subgroup_mma_load_matrix %tile[%c0, %c0] {leadDimension = 16 : index}
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %y = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {leadDimension = 16 : index, transpose}
        : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %z = gpu.subgroup_mma_load_matrix %c[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xTYPE> -> MATRIX
    %none = arith.constant 0.0 : TYPE
    %low = gpu.subgroup_mma_constant_matrix %none : MATRIX
    %d = gpu.subgroup_mma_compute %x, %y, %z
        : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> MATRIX
    %r = gpu.subgroup_mma_elementwise maxf %d, %low : (MATRIX, MATRIX) -> MATRIX
    gpu.subgroup_mma_store_matrix %r, %c[%c0, %c0] {leadDimension = 16 : index} : MATRIX, memref<16x16xTYPE>"""
    body = body.replace("MATRIX", '!gpu.mma_matrix<16x16xTYPE, "COp">').replace("TYPE", element)
    arguments = f"%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16x{element}>"
    run(body, arguments, a, b, c)
    wanted = np.maximum(a.astype(np.float64) @ b.T.astype(np.float64) + start, 0)
    np.testing.assert_allclose(c, wanted, rtol=2e-3, atol=1e-2 if element == "f16" else 1e-5)
    c[...] = start
    run(body, arguments, a, b, c, target="sim:gfx1100")
    np.testing.assert_allclose(c, wanted, rtol=2e-3, atol=1e-2 if element == "f16" else 1e-5)
    with pytest.raises(CompileError):
        run(body.replace("_compute %x, %y, %z", "_compute %x, %y, %z {a_transpose}"), arguments, a, b, c)


def test_numbers_of_other_dialects() -> None:
    n = np.array([0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 12], np.int32)
    low, high, carry = (np.zeros(8, np.int32) for _ in range(3))
    found, power = np.zeros(8, np.int64), np.zeros(8, np.int32)
    run(
        """
    %eight = index.constant 8
    %some = index.cmp ult(%t, %eight)
    scf.if %some {
      %v = memref.load %n[%t] : memref<8xi32>
      %back = index.sub %eight, %t
      %i = index.sub %back, %c1
      %w = memref.load %n[%i] : memref<8xi32>
      %l, %h = arith.mulsi_extended %v, %w : i32
      memref.store %l, %low[%t] : memref<8xi32>
      memref.store %h, %high[%t] : memref<8xi32>
      %sum, %over = arith.addui_extended %v, %w : i32, i1
      %o = arith.extui %over : i1 to i32
      memref.store %o, %carry[%t] : memref<8xi32>
      %wide = index.casts %v : i32 to index
      %three = index.constant -3
      %q = index.floordivs %wide, %three
      %k = scf.execute_region -> index {
        %m = index.mins %q, %wide
        scf.yield %m : index
      }
      %r = index.casts %k : index to i64
      memref.store %r, %f[%t] : memref<8xi64>
      %e = index.casts %t : index to i32
      %p = math.ipowi %v, %e : i32
      memref.store %p, %p_out[%t] : memref<8xi32>
    }""",
        "%n: memref<8xi32>, %low: memref<8xi32>, %high: memref<8xi32>, %carry: memref<8xi32>, %f: memref<8xi64>, "
        "%p_out: memref<8xi32>",
        n,
        low,
        high,
        carry,
        found,
        power,
    )
    other = n[::-1]
    exact = n.astype(np.int64) * other
    assert (low == exact.astype(np.int32)).all() and (high == exact >> 32).all()
    assert (carry == (n.view(np.uint32).astype(np.int64) + other.view(np.uint32) >> 32)).all()
    assert (found == np.minimum(np.floor_divide(n.astype(np.int64), -3), n)).all()
    assert power.tolist() == [(int(x) ** i + 2**31) % 2**32 - 2**31 for i, x in enumerate(n)]


def test_floats_of_other_dialects() -> None:
    x = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-40], np.float32)
    classes, values = np.zeros((4, 8), np.int32), np.zeros((5, 8), np.float32)
    rows = "".join(
        f"""
      %r{i} = arith.constant {i} : index
      %is{i} = math.{name} %v : f32
      %n{i} = arith.extui %is{i} : i1 to i32
      memref.store %n{i}, %classes[%r{i}, %t] : memref<4x8xi32>"""
        for i, name in enumerate(("isnan", "isinf", "isfinite", "isnormal"))
    )
    run(
        f"""
    %eight = index.constant 8
    %some = index.cmp ult(%t, %eight)
    scf.if %some {{
      %v = memref.load %x[%t] : memref<8xf32>{rows}
      %one = arith.constant 1.0 : f32
      %c = math.clampf %v to [%zero, %one] : f32
      %s, %k = math.sincos %c : f32
      %two = arith.constant 2 : i32
      %p = math.fpowi %v, %two : f32, i32
      %a = llvm.fadd %v, %one : f32
      %is = llvm.fcmp "olt" %a, %v : f32
      %m = llvm.fmul %v, %one : f32
      memref.store %c, %y[%c0, %t] : memref<5x8xf32>
      memref.store %s, %y[%c1, %t] : memref<5x8xf32>
      memref.store %k, %y[%r2, %t] : memref<5x8xf32>
      memref.store %p, %y[%r3, %t] : memref<5x8xf32>
      %four = arith.constant 4 : index
      %chosen = arith.select %is, %m, %a : f32
      memref.store %chosen, %y[%four, %t] : memref<5x8xf32>
    }}""",
        "%x: memref<8xf32>, %classes: memref<4x8xi32>, %y: memref<5x8xf32>",
        x,
        classes,
        values,
    )
    normal = np.isfinite(x) & (np.abs(x) >= np.finfo(np.float32).tiny)
    assert (classes == np.stack([np.isnan(x), np.isinf(x), np.isfinite(x), normal])).all()
    clamped = np.minimum(np.maximum(x, 0), 1)
    np.testing.assert_array_equal(values[0], clamped)
    np.testing.assert_allclose(values[1:3], [np.sin(clamped), np.cos(clamped)], rtol=1e-6)
    np.testing.assert_array_equal(values[3], x * x)
    np.testing.assert_array_equal(values[4], x + np.float32(1))


def test_promises_and_jumps_by_numbers() -> None:
    y = np.zeros(32, np.int32)
    body = """
    %n = arith.constant NUMBER : i32
    %ok = arith.cmpi ne, %n, %n : i32
    cf.switch %n : i32, [
      default: ^bb1(%n : i32),
      2: ^bb2,
      5: ^bb1(%n : i32)
    ]
  ^bb2:
    %minus = arith.constant -1 : i32
    cf.br ^bb1(%minus : i32)
  ^bb1(%v: i32):
    memref.store %v, %y[%t] : memref<32xi32>"""
    for number, wanted in ((2, -1), (5, 5), (7, 7)):
        run(body.replace("NUMBER", str(number)), "%y: memref<32xi32>", y)
        assert (y == wanted).all()
    text = """gpu.module @m {
  gpu.func @k(%y: memref<32xi32>) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c9 = arith.constant 9 : index
    %ok = arith.cmpi ult, %t, %c9 : index
    cf.assert %ok, "too many"
    gpu.return
  }
}"""
    kernel = sim.simulate(text, "sim:sm_80")
    (finding,) = kernel.find(y)
    assert finding.kind == "assertion" and finding.agent == "warp 0, lane 9" and "too many" in finding.message
