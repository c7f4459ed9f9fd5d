# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mma.sync`, `ldmatrix` and `stmatrix` of the simulator: against float64, and bit for bit against the emulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
import wgmma_programs
from helpers import SHARED, gpu_kernel
from smalti import CompileError, sim, targets

DTYPES: dict[str, Any] = {
    **wgmma_programs.DTYPES,
    # Two in a byte.
    "s4": np.uint8,
    "u4": np.uint8,
}
PTX_TYPES = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "i8": "s8"}
CHIPS = [target for target in targets.all() if target.vendor == "nvidia"]


def table() -> dict[tuple[int, int, str, str, str], str]:
    """The warp-level MMAs of the target table, each with the first chip that has it."""
    found: dict[tuple[int, int, str, str, str], str] = {}
    for chip in CHIPS:
        for mma in chip.mmas:
            # f64 has other figures; test_dots_of_f64 multiplies it.
            if mma.kind == "mma_sync" and mma.a != "f64":
                assert mma.n == 8
                kinds = PTX_TYPES.get(mma.a, mma.a), PTX_TYPES.get(mma.b, mma.b)
                found.setdefault((mma.m, mma.k, *kinds, mma.accumulator), chip.name)
    return found


# Other MMAs: accumulators of 16 bits, mixed types, unsigned and 4-bit integers, matrices of 8 rows.
OTHERS = {
    (16, 16, "f16", "f16", "f16"): "sm_80",
    (16, 8, "f16", "f16", "f16"): "sm_80",
    (16, 32, "e4m3", "e5m2", "f16"): "sm_89",
    (16, 16, "e5m2", "e4m3", "f32"): "sm_89",
    (16, 16, "e5m2", "e5m2", "f16"): "sm_89",
    (16, 32, "u8", "s8", "i32"): "sm_80",
    (8, 16, "s8", "u8", "i32"): "sm_80",
    (16, 64, "s4", "u4", "i32"): "sm_80",
    (16, 32, "u4", "u4", "i32"): "sm_80",
    (16, 32, "u4", "s4", "i32"): "sm_80",
    (8, 32, "s4", "s4", "i32"): "sm_80",
    (8, 32, "u4", "s4", "i32"): "sm_80",
}


def test_the_table_does_not_have_other_mmas() -> None:
    """A row of another kind would need a test. `fma` is not a matrix instruction."""
    assert {mma.kind for chip in CHIPS for mma in chip.mmas} == {"mma_sync", "fma"}
    assert {kind for row in table() for kind in row[2:4]} <= set(DTYPES) and len(table()) >= 10


def given(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind in ("s8", "u8"):
        return rng.integers(0, 256, shape).astype(np.uint8).view(DTYPES[kind])
    if kind in ("s4", "u4"):
        return rng.integers(0, 256, (*shape[:-1], shape[-1] // 2)).astype(np.uint8)
    return rng.standard_normal(shape).astype(DTYPES[kind])


def exact(kind: str, matrix: np.ndarray) -> np.ndarray:
    """The operand values of the tensor core, as float64."""
    if kind == "tf32":
        matrix = (matrix.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    elif kind in ("s4", "u4"):
        matrix = np.stack([matrix & 15, matrix >> 4], -1).reshape(len(matrix), -1).astype(np.int32)
        matrix = np.where(matrix > 7, matrix - 16, matrix) if kind == "s4" else matrix
    return matrix.astype(np.float64)


def place(matrix: np.ndarray, of_a: bool) -> np.ndarray:
    """The registers of each lane as 32-bit words, of A or of B transposed, by the figures of the PTX ISA for
    mma.m16n8k*. Lane 4 * g + t has row g (of 16 rows registers 0 and 2) and row g + 8 (1 and 3) of A, and column g of
    B. Registers of the same row are consecutive along k."""
    rows, bytes_ = matrix.shape[0], matrix.view(np.uint8).reshape(len(matrix), -1)
    halves = rows // 8 if of_a else 1
    registers = bytes_.shape[1] // 16 * halves
    words = np.empty((32, registers, 4), np.uint8)
    for lane in range(32):
        g, t = divmod(lane, 4)
        for register in range(registers):
            first = register // halves * 16 + 4 * t
            words[lane, register] = bytes_[g + 8 * (register % halves), first : first + 4]
    return words.view(np.int32).reshape(32, registers)


def accumulators(matrix: np.ndarray) -> np.ndarray:
    """Lane 4 * g + t has the columns 2 * t and the next of row g, then of row g + 8."""
    count = matrix.size // 32
    return np.stack(
        [matrix[(x // 4) + 8 * (i // 2), 2 * (x % 4) + i % 2] for x in range(32) for i in range(count)]
    ).reshape(32, count)


def mma_kernel(m: int, k: int, a: str, b: str, total: str, saturated: bool = False) -> str:
    """A kernel of a warp that multiplies registers which it loads."""
    bits = {"tf32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4, "b1": 1}.get(a, 8)
    sums = m // 4 if total != "f16" else m // 8
    counts = {"a": m * k * bits // 1024, "b": 8 * k * bits // 1024, "c": sums}
    register = {"f16": "vector<2xf16>"}.get(total, total)
    operand = "vector<2xf16>" if a == "f16" else "i32"
    lines = []
    for name, wanted in (("a", operand), ("b", operand), ("c", register)):
        stored = "i32" if name != "c" or total == "f16" else total
        for i in range(counts[name]):
            lines.append(f"%{name}w{i} = memref.load %{name}[%t, %i{i}] : memref<32x{counts[name]}x{stored}>")
            lines.append(f"%{name}{i} = llvm.bitcast %{name}w{i} : {stored} to {wanted}")
    names = {name: [f"%{name}{i}" for i in range(count)] for name, count in counts.items()}
    struct = f"!llvm.struct<({', '.join([register] * sums)})>"
    if a in ("e4m3", "e5m2"):
        operands = [*names["a"], *names["b"], *names["c"]]
        types = [operand] * (counts["a"] + counts["b"]) + [register] * sums
        lines.append(
            f'%d = llvm.call_intrinsic "llvm.nvvm.mma.m{m}n8k{k}.row.col.{total}.{a}.{b}.{total}"'
            f"({', '.join(operands)}) : ({', '.join(types)}) -> {struct}"
        )
    else:
        of_types = {"A": a, "B": b}
        types = "".join(f", multiplicand{x}PtxType = #nvvm.mma_type<{kind}>" for x, kind in of_types.items())
        behavior = "satfinite" if saturated else "wrapped"
        overflow = f", intOverflowBehavior = #nvvm.mma_int_overflow<{behavior}>" if total == "i32" else ""
        lists = " ".join(f"{name.upper()}[{', '.join(values)}]" for name, values in names.items())
        lines.append(
            f"%d = nvvm.mma.sync {lists} {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
            f"shape = #nvvm.shape<m = {m}, n = 8, k = {k}>{'' if a == 'f16' else types}{overflow}}} "
            f": ({operand}, {operand}, {register}) -> {struct}"
        )
    stored = "i32" if total == "f16" else total
    for i in range(sums):
        lines.append(f"%dr{i} = llvm.extractvalue %d[{i}] : {struct}")
        lines.append(f"%d{i} = llvm.bitcast %dr{i} : {register} to {stored}")
        lines.append(f"memref.store %d{i}, %o[%t, %i{i}] : memref<32x{sums}x{stored}>")
    arguments = [f"%{name}: memref<32x{counts[name]}xi32>" for name in "ab"]
    arguments += [f"%{name}: memref<32x{sums}x{stored}>" for name in "co"]
    return kernel(", ".join(arguments), lines)


def kernel(arguments: str, lines: list[str]) -> str:
    body = "\n    ".join([f"%i{i} = arith.constant {i} : index" for i in range(8)] + lines)
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    {body}""",
        32,
    )


Row = tuple[int, int, str, str, str]


def both(text: str, chip: str, inputs: list[np.ndarray], dtype: Any) -> np.ndarray:
    """The simulator's results, which equal the emulator's bit for bit."""
    results = [np.zeros_like(inputs[2]) for _ in range(2)]
    for result, target in zip(results, ("sim", "emu"), strict=True):
        smalti.compile(text, target=f"{target}:{chip}")(*inputs, result)
    found, emulated = (result.view(dtype) for result in results)
    np.testing.assert_array_equal(found, emulated)
    return found


@pytest.mark.parametrize("row", [*table(), *OTHERS], ids=lambda row: "-".join(map(str, row)))
def test_mmas_of_the_target_table(row: Row) -> None:
    m, k, kind_a, kind_b, total = row
    a, b = given(kind_a, (m, k), 1), given(kind_b, (8, k), 2)
    dtype = np.dtype({"i32": np.int32, "f32": np.float32, "f16": np.float16}[total])
    c = (np.random.default_rng(3).standard_normal((m, 8)) * 8).astype(dtype)
    words = [place(a, True), place(b, False), accumulators(c)]
    words[2] = words[2].view(np.int32) if total == "f16" else words[2]
    found = both(mma_kernel(*row), {**OTHERS, **table()}[row], words, dtype)
    wanted = accumulators(exact(kind_a, a) @ exact(kind_b, b).T + c.astype(np.float64))
    eps = 0.0 if total == "i32" else float(np.finfo(dtype).eps)
    assert np.allclose(found.astype(np.float64), wanted, rtol=eps, atol=eps * 8)
    assert found.any()


@pytest.mark.parametrize(("m", "k"), [(8, 128), (16, 128), (16, 256)])
@pytest.mark.parametrize("of_bits", ["xor_popc", "and_popc"])
def test_single_bit_mmas(m: int, k: int, of_bits: str) -> None:
    a, b = given("s8", (m, k // 8), 1).view(np.uint8), given("s8", (8, k // 8), 2).view(np.uint8)
    c = np.random.default_rng(3).integers(-(2**31), 2**31, (m, 8)).astype(np.int32)
    words = [place(a, True), place(b, False), accumulators(c)]
    text = mma_kernel(m, k, "b1", "b1", "i32").replace(
        "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>", f"b1Op = #nvvm.mma_b1op<{of_bits}>"
    )
    found = both(text, "sm_80", words, np.int32)
    joined = a[:, None] ^ b if of_bits == "xor_popc" else a[:, None] & b
    wanted = np.unpackbits(joined, axis=-1).sum(-1, dtype=np.int64) + c
    assert (found == accumulators(wanted.astype(np.int32))).all()


def test_other_single_bit_mmas_are_refused() -> None:
    text = mma_kernel(16, 128, "b1", "b1", "i32", True).replace(
        "intOverflowBehavior", "b1Op = #nvvm.mma_b1op<and_popc>, intOverflowBehavior"
    )
    with pytest.raises(CompileError, match="the MMA then requires b1 for both operands"):
        sim.simulate(text, "sim:sm_80")


@pytest.mark.parametrize("k", [32, 64])
def test_nvgpu_mma_of_4_bit_integers(k: int) -> None:
    counts, lines = {"a": k // 16, "b": k // 32}, []
    for name, count in counts.items():
        lines += [
            f"%{name}l = vector.load %{name}[%t, %i0] : memref<32x{count}xi32>, vector<{count}xi32>",
            f"%{name}n = vector.bitcast %{name}l : vector<{count}xi32> to vector<{8 * count}xi4>",
            f"%{name}v = vector.shape_cast %{name}n : vector<{8 * count}xi4> to vector<{count}x8xi4>",
        ]
    types = [f"vector<{count}x8xi4>" for count in counts.values()] + ["vector<2x2xi32>"]
    lines += [
        "%cl = vector.load %c[%t, %i0] : memref<32x4xi32>, vector<4xi32>",
        "%cv = vector.shape_cast %cl : vector<4xi32> to vector<2x2xi32>",
        f"%d = nvgpu.mma.sync (%av, %bv, %cv) {{mmaShape = [16, 8, {k}]}} : ({', '.join(types)}) -> vector<2x2xi32>",
        "%dl = vector.shape_cast %d : vector<2x2xi32> to vector<4xi32>",
        "vector.store %dl, %o[%t, %i0] : memref<32x4xi32>, vector<4xi32>",
    ]
    arguments = [f"%{name}: memref<32x{count}xi32>" for name, count in {**counts, "c": 4, "o": 4}.items()]
    text = kernel(", ".join(arguments), lines)
    a, b = given("s4", (16, k), 1), given("s4", (8, k), 2)
    c = np.random.default_rng(3).integers(-9, 9, (16, 8)).astype(np.int32)
    c[0] = 2**31 - 5
    inputs = [place(a, True), place(b, False), accumulators(c)]
    wanted = exact("s4", a) @ exact("s4", b).T + c
    assert (wanted > 2**31 - 1).any()
    expected = accumulators(np.minimum(wanted, 2**31 - 1).astype(np.int32))
    assert (both(text, "sm_80", inputs, np.int32) == expected).all()


@pytest.mark.parametrize("kind", ["s8", "s4"])
@pytest.mark.parametrize("saturated", [False, True])
def test_sums_of_integers_that_are_too_large(saturated: bool, kind: str) -> None:
    a, b = np.full((16, 32), 127, np.int8), np.full((8, 32), 127, np.int8)
    b[::2] = -128
    k, factors = 32, (a.astype(np.int64), b.astype(np.int64))
    if kind == "s4":
        # In a byte are 7 and 7, or -8 and 0.
        a, b = (np.where(x == -128, 0x08, 0x77).astype(np.uint8) for x in (a, b))
        k, factors = 64, (exact(kind, a).astype(np.int64), exact(kind, b).astype(np.int64))
    c = np.tile(np.array([-(2**31) + 5, 2**31 - 5], np.int64), (16, 4)).astype(np.int32)
    words = [place(a, True), place(b, False), accumulators(c)]
    found = both(mma_kernel(16, k, kind, kind, "i32", saturated), "sm_80", words, np.int32)
    wanted = factors[0] @ factors[1].T + c
    assert (wanted != wanted.astype(np.int32)).any()
    wanted = np.clip(wanted, -(2**31), 2**31 - 1) if saturated else wanted
    assert (found == accumulators(wanted.astype(np.int32))).all()


def test_nvgpu_saturates() -> None:
    """Its attributes cannot state another value."""
    text = kernel(
        "%o: memref<32x2xi32>",
        [
            "%a = arith.constant dense<1> : vector<4x4xi8>",
            "%b = arith.constant dense<1> : vector<2x4xi8>",
            "%c = arith.constant dense<2147483640> : vector<2x2xi32>",
            "%d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 32]} "
            ": (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>",
            "%e = vector.extract %d[1] : vector<2xi32> from vector<2x2xi32>",
            "vector.store %e, %o[%t, %i0] : memref<32x2xi32>, vector<2xi32>",
        ],
    )
    for target in ("sim:sm_80", "emu:sm_80"):
        out = np.zeros((32, 2), np.int32)
        smalti.compile(text, target=target)(out)
        assert (out == 2**31 - 1).all()


@pytest.mark.parametrize(
    "name",
    [
        "llvm.nvvm.mma.m16n8k32.row.col.kind.f8f6f4.f16.e2m1.e2m1.f32",
        "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f16",
        "llvm.nvvm.mma.m8n8k4.row.col.f16.f16",
    ],
)
def test_other_intrinsics_are_refused_by_their_names(name: str) -> None:
    line = mma_kernel(16, 32, "e4m3", "e4m3", "f32").replace("llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32", name)
    with pytest.raises(CompileError, match=f"intrinsic '{name}'"):
        sim.simulate(line, "sim:sm_120a")


def special(kind: str) -> np.ndarray:
    return np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 1.0], DTYPES[kind])


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32", "e5m2"])
def test_mmas_of_infinities(kind: str) -> None:
    k = 32 // np.dtype(DTYPES[kind]).itemsize
    a, b = given(kind, (16, k), 1), given(kind, (8, k), 2)
    a[: len(special(kind)), 3] = special(kind)
    b[:6, 5] = special(kind)
    c = np.full((16, 8), -0.0, np.float32)
    words = [place(a, True), place(b, False), accumulators(c)]
    found = both(mma_kernel(16, k, kind, kind, "f32"), "sm_90a", words, np.float32)
    with np.errstate(all="ignore"):
        wanted = accumulators(exact(kind, a) @ exact(kind, b).T)
    np.testing.assert_allclose(found, wanted, rtol=2e-7, atol=1e-6)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count: int, transposed: bool) -> None:
    ty = f"memref<{8 * count}x24xf16, {SHARED}>"
    rows = 8 * count
    text = kernel(
        f"%x: memref<{rows}x24xf16>, %o: memref<32x{count}x2xf16>",
        [
            f"%s = memref.alloc() : {ty}",
            f"%rows = arith.constant {rows} : index",
            "%in = arith.cmpi ult, %t, %rows : index",
            "%last = arith.subi %rows, %i1 : index",
            "%row = arith.minui %t, %last : index",
            "scf.if %in {",
            f"  %v = vector.load %x[%row, %i0] : memref<{rows}x24xf16>, vector<24xf16>",
            f"  vector.store %v, %s[%row, %i0] : {ty}, vector<24xf16>",
            "}",
            "gpu.barrier",
            "%eight = arith.constant 8 : index",
            f"%f = nvgpu.ldmatrix %s[%row, %eight] {{numTiles = {count} : i32, transpose = {str(transposed).lower()}}} "
            f": {ty} -> vector<{count}x2xf16>",
            f"vector.store %f, %o[%t, %i0, %i0] : memref<32x{count}x2xf16>, vector<{count}x2xf16>",
        ],
    )
    x = given("f16", (rows, 24), 5)
    out = np.zeros((32, count, 2), np.float16)
    sim.simulate(text, "sim:sm_80")(x, out)
    # PTX ISA: lane 4 * r + c has the elements 2 * c and 2 * c + 1 of row r, or of column r, of each matrix.
    for lane in range(32):
        r, c = divmod(lane, 4)
        for i in range(count):
            matrix = x[8 * i : 8 * i + 8, 8:16]
            matrix = matrix.T if transposed else matrix
            assert (out[lane, i] == matrix[r, 2 * c : 2 * c + 2]).all()


def test_ldmatrix_of_a_row_that_is_not_aligned() -> None:
    ty = f"memref<8x12xf16, {SHARED}>"
    text = kernel(
        "%o: memref<32x1x2xf16>",
        [
            f"%s = memref.alloc() : {ty}",
            "%zero = arith.constant dense<0.0> : vector<12xf16>",
            "%row = arith.remui %t, %eight : index",
            f"vector.store %zero, %s[%row, %i0] : {ty}, vector<12xf16>",
            "gpu.barrier",
            f"%f = nvgpu.ldmatrix %s[%row, %i0] {{numTiles = 1 : i32, transpose = false}} : {ty} -> vector<1x2xf16>",
            "vector.store %f, %o[%t, %i0, %i0] : memref<32x1x2xf16>, vector<1x2xf16>",
        ],
    ).replace("%row = arith.remui", "%eight = arith.constant 8 : index\n    %row = arith.remui")
    made = sim.simulate(text, "sim:sm_80")
    (finding,) = made.find(*made.random_arguments())
    assert finding.kind == "assertion" and finding.agent == "warp 0, lane 1"
    assert (
        finding.message == "ldmatrix is misaligned: the row at byte 24 of shared memory must be at a multiple of 16 B"
    )


def rows_in_memory(count: int, names: list[str]) -> tuple[str, list[str]]:
    """Rows of 16 bytes of an argument in shared memory, and the pointer of each lane to one, the last ones all the
    last."""
    ty = f"memref<{count}x16xi8, {SHARED}>"
    lines = [
        f"%s = memref.alloc() : {ty}",
        f"%rows = arith.constant {count} : index",
        "%in = arith.cmpi ult, %t, %rows : index",
        "%last = arith.subi %rows, %i1 : index",
        "%row = arith.minui %t, %last : index",
        "scf.if %in {",
        f"  %v = vector.load %x[%row, %i0] : memref<{count}x16xi8>, vector<16xi8>",
        f"  vector.store %v, %s[%row, %i0] : {ty}, vector<16xi8>",
        "}",
        "gpu.barrier",
        f"%base = memref.extract_aligned_pointer_as_index %s : {ty} -> index",
        "%sixteen = arith.constant 16 : index",
        "%offset = arith.muli %row, %sixteen : index",
        "%at = arith.addi %base, %offset : index",
        "%number = arith.index_cast %at : index to i64",
        "%p = llvm.inttoptr %number : i64 to !llvm.ptr<3>",
        *names,
    ]
    return ty, lines


LOADS = [(8, 8, "b16", transposed, count) for transposed in (False, True) for count in (1, 2, 4)]
LOADS += [(8, 16, small, False, count) for small in ("b8x16.b6x16_p32", "b8x16.b4x16_p64") for count in (1, 2, 4)]
LOADS += [(16, 16, kind, True, count) for kind in ("b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64") for count in (1, 2)]


@pytest.mark.parametrize(("m", "n", "element", "transposed", "count"), LOADS)
def test_ldmatrix_gives_the_bits_of_the_emulator(m: int, n: int, element: str, transposed: bool, count: int) -> None:
    rows, words = max(m, 8) * count, count * m // 8
    shape = f"#nvvm.ld_st_matrix_shape<m = {m}, n = {n}>"
    layout = f"#nvvm.mma_layout<{'col' if transposed else 'row'}>"
    result = "i32" if words == 1 else f"!llvm.struct<({', '.join(['i32'] * words)})>"
    _, lines = rows_in_memory(
        rows,
        [
            f"%f = nvvm.ldmatrix %p {{num = {count} : i32, layout = {layout}, shape = {shape}, "
            f"eltType = #nvvm.ld_st_matrix_elt_type<{element}>}} : (!llvm.ptr<3>) -> {result}"
        ],
    )
    for i in range(words):
        value = "%f" if words == 1 else f"%w{i}"
        if words > 1:
            lines.append(f"%w{i} = llvm.extractvalue %f[{i}] : {result}")
        lines.append(f"memref.store {value}, %o[%t, %i{i}] : memref<32x{words}xi32>")
    text = kernel(f"%x: memref<{rows}x16xi8>, %o: memref<32x{words}xi32>", lines)
    x = np.random.default_rng(1).integers(-128, 128, (rows, 16)).astype(np.int8)
    found = [np.zeros((32, words), np.int32) for _ in range(2)]
    for out, target in zip(found, ("sim:sm_100a", "emu:sm_100a"), strict=True):
        smalti.compile(text, target=target)(x, out)
    np.testing.assert_array_equal(*found)
    if element == "b8":
        # PTX ISA, "ldmatrix": a lane has bytes of rows 4 * (lane % 4) and following.
        assert sorted(found[0].view(np.uint8).reshape(-1)) == sorted(x.view(np.uint8).reshape(-1))


STORES = [(8, 8, "b16", transposed, count) for transposed in (False, True) for count in (1, 2, 4)]
STORES += [(16, 8, "b8", True, count) for count in (1, 2, 4)]


@pytest.mark.parametrize(("m", "n", "element", "transposed", "count"), STORES)
def test_stmatrix_gives_the_bits_of_the_emulator(m: int, n: int, element: str, transposed: bool, count: int) -> None:
    rows = 8 * count
    layout = f"#nvvm.mma_layout<{'col' if transposed else 'row'}>"
    values = [f"%r{i} = memref.load %w[%t, %i{i}] : memref<32x{count}xi32>" for i in range(count)]
    names = ", ".join(f"%r{i}" for i in range(count))
    ty, lines = rows_in_memory(
        rows,
        [
            *values,
            f"nvvm.stmatrix %p, {names} {{layout = {layout}, shape = #nvvm.ld_st_matrix_shape<m = {m}, n = {n}>, "
            f"eltType = #nvvm.ld_st_matrix_elt_type<{element}>}} : !llvm.ptr<3>, {', '.join(['i32'] * count)}",
            "gpu.barrier",
            "scf.if %in {",
        ],
    )
    lines += [
        f"  %back = vector.load %s[%row, %i0] : {ty}, vector<16xi8>",
        f"  vector.store %back, %o[%row, %i0] : memref<{rows}x16xi8>, vector<16xi8>",
        "}",
    ]
    arguments = f"%x: memref<{rows}x16xi8>, %w: memref<32x{count}xi32>, %o: memref<{rows}x16xi8>"
    words = np.random.default_rng(1).integers(-(2**31), 2**31, (32, count)).astype(np.int32)
    found = [np.zeros((rows, 16), np.int8) for _ in range(2)]
    for out, target in zip(found, ("sim:sm_100a", "emu:sm_100a"), strict=True):
        smalti.compile(kernel(arguments, lines), target=target)(np.zeros_like(out), words, out)
    np.testing.assert_array_equal(*found)
    assert sorted(found[0].view(np.uint8).reshape(-1)) == sorted(words.view(np.uint8).reshape(-1))


# ---------------------------------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------------------------------

WORDS = np.concatenate(
    [
        np.array(
            [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00001, 0x7F7FFFFF, 0x00000001, 0x3F801000, 0x3F803000], np.uint32
        ),
        np.array([448, 449, 464, 465, 1e9, -57344, 61440, 65000, 2.0**-10, 2.0**-17, 3.0], np.float32).view(np.uint32),
        np.random.default_rng(0).integers(0, 2**32, 12, np.uint32),
    ]
).view(np.int32)
HALVES = np.random.default_rng(2).integers(0, 2**32, 32, np.uint32).view(np.int32)
HALVES[0] = -1
CONVERSIONS = {
    "rna": "%r = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rna>}",
    "rn": "%r = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rn>}",
    "rz": "%r = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rz>}",
    **{
        f"f32 to {kind}": f"%n = nvvm.convert.f32x2.to.f8x2 %f, %g {{rnd = #nvvm.fp_rnd_mode<rn>, "
        f"sat = #nvvm.sat_mode<satfinite>}} : i16 ({kind})\n%r = arith.extui %n : i16 to i32"
        for kind in ("f8E4M3FN", "f8E5M2")
    },
    **{
        f"f16 to {kind}": "%h = llvm.bitcast %y : i32 to vector<2xf16>\n"
        f"%b = nvvm.convert.f16x2.to.f8x2 %h : vector<2xf16> -> vector<2xi8> ({kind})\n"
        "%n = llvm.bitcast %b : vector<2xi8> to i16\n%r = arith.extui %n : i16 to i32"
        for kind in ("f8E4M3FN", "f8E5M2")
    },
    **{
        f"{kind} to f16": "%n = arith.trunci %y : i32 to i16\n%b = llvm.bitcast %n : i16 to vector<2xi8>\n"
        f"%h = nvvm.convert.f8x2.to.f16x2 %b : vector<2xi8> ({kind}) -> vector<2xf16>\n"
        "%r = llvm.bitcast %h : vector<2xf16> to i32"
        for kind in ("f8E4M3FN", "f8E5M2")
    },
    **{
        f"f32 to {kind}{', relu' if relu else ''}": f"%n = nvvm.convert.f32x2.to.{name} %f, %g {{{attributes}"
        f"relu = {'true' if relu else 'false'}}} : {ty} ({kind})\n%r = arith.extui %n : {ty} to i32"
        for kind, name, ty, attributes in (
            ("f6E2M3FN", "f6x2", "i16", ""),
            ("f6E3M2FN", "f6x2", "i16", ""),
            ("f4E2M1FN", "f4x2", "i8", ""),
            ("f8E5M2", "f8x2", "i16", "rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>, "),
        )
        for relu in ((True,) if kind == "f8E5M2" else (False, True))
    },
    **{
        f"{source} to f8E8M0FNU, {mode} {sat}": f"{given}%n = nvvm.convert.{source}x2.to.f8x2 {operand} "
        f"{{rnd = #nvvm.fp_rnd_mode<{mode}>, sat = #nvvm.sat_mode<{sat}>}} : {ty}i16 (f8E8M0FNU)\n"
        "%r = arith.extui %n : i16 to i32"
        for source, given, operand, ty in (
            ("f32", "", "%f, %g", ""),
            ("bf16", "%h = llvm.bitcast %x : i32 to vector<2xbf16>\n", "%h", "vector<2xbf16> -> "),
        )
        for mode in ("rz", "rp")
        for sat in ("none", "satfinite")
    },
    **{
        f"{kind} to {to}{', relu' if relu else ''}": "%n = arith.trunci %y : i32 to i16\n"
        f"%b = llvm.bitcast %n : i16 to vector<2xi8>\n%c = arith.trunci %y : i32 to i8\n"
        f"%h = nvvm.convert.{name}.to.{to}x2 {operand} {{{'relu = true' if relu else ''}}} : {ty} ({kind}) "
        f"-> vector<2x{to}>\n%r = llvm.bitcast %h : vector<2x{to}> to i32"
        for kind, name, operand, ty, to in (
            ("f6E2M3FN", "f6x2", "%b", "vector<2xi8>", "f16"),
            ("f6E3M2FN", "f6x2", "%b", "vector<2xi8>", "f16"),
            ("f4E2M1FN", "f4x2", "%c", "i8", "f16"),
            ("f8E4M3FN", "f8x2", "%b", "vector<2xi8>", "f16"),
            ("f8E8M0FNU", "f8x2", "%b", "vector<2xi8>", "bf16"),
        )
        for relu in ((False, True) if to == "f16" else (False,))
        if relu or kind != "f8E4M3FN"
    },
    **{
        f"prmt {mode}": f"%r = nvvm.prmt #nvvm.permute_mode<{mode}> %y, %x, %y : i32"
        for mode in ("default", "f4e", "b4e")
    },
    **{
        f"prmt {mode}": f"%r = nvvm.prmt #nvvm.permute_mode<{mode}> %y, %x : i32"
        for mode in ("rc8", "ecl", "ecr", "rc16")
    },
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_give_the_bits_of_the_emulator(name: str) -> None:
    lines = [
        "%x = memref.load %u[%t] : memref<32xi32>",
        "%y = memref.load %w[%t] : memref<32xi32>",
        "%f = llvm.bitcast %x : i32 to f32",
        "%g = llvm.bitcast %y : i32 to f32",
        *CONVERSIONS[name].split("\n"),
        "memref.store %r, %o[%t] : memref<32xi32>",
    ]
    text = kernel("%u: memref<32xi32>, %w: memref<32xi32>, %o: memref<32xi32>", lines)
    found = [np.zeros(32, np.int32) for _ in range(2)]
    for out, target in zip(found, ("sim:sm_100a", "emu:sm_100a"), strict=True):
        smalti.compile(text, target=target)(WORDS, HALVES, out)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("chip, k", [("sm_80", 4), ("sm_90a", 4), ("sm_90a", 8), ("sm_90a", 16)])
def test_dots_of_f64(chip: str, k: int) -> None:
    kernel = sim.simulate(
        f"""
        triton_xla.entry_func @dot(%a: memref<32x{k}xf64>, %b: memref<{k}x16xf64>, %c: memref<32x16xf64>, %t: index)
            tiles 1 {{
          %l = triton_xla.extract %a[0, 0] [32, {k}] [1, 1] : memref<32x{k}xf64> to tensor<32x{k}xf64>
          %r = triton_xla.extract %b[0, 0] [{k}, 16] [1, 1] : memref<{k}x16xf64> to tensor<{k}x16xf64>
          %z = arith.constant dense<0.0> : tensor<32x16xf64>
          %d = triton_xla.dot %l, %r, %z : tensor<32x{k}xf64>, tensor<{k}x16xf64> -> tensor<32x16xf64>
          triton_xla.insert %d into %c[0, 0] [32, 16] [1, 1] : tensor<32x16xf64> into memref<32x16xf64>
          triton_xla.return
        }}
        """,
        chip,
        level="thread",
    )
    rng = np.random.default_rng(k)
    a, b, c = rng.standard_normal((32, k)), rng.standard_normal((k, 16)), np.full((32, 16), np.nan)
    kernel(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-13)
