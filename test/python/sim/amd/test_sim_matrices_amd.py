# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mfma`, `scaled_mfma` and `wmma` of the simulator: against float64, and bit for bit against the emulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from helpers import gpu_kernel
from smalti import sim, targets

AMD = [target for target in targets.all() if target.vendor == "amd"]
CHIPS = tuple({(target.architecture, target.mmas): target.name for target in reversed(AMD)}.values())
"""One chip for each set of MMAs."""
NUMBERS: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "tf32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "i8": np.int8,
    "ui8": np.int8,
    "i32": np.int32,
}
TABLE = sorted(
    {
        (chip, mma.kind, mma.m, mma.k, 1, mma.a, mma.accumulator)
        for chip in CHIPS
        for mma in targets.get(chip).mmas
        if mma.kind in ("mfma", "wmma")
    }
)
STORED = {"ui8": "i8", "tf32": "f32"}
"""MLIR types in memory."""
# Other instructions: several matrices at a time, f64, results of 8-bit floats and bf16, unsigned bytes.
OTHERS = [
    ("gfx90a", "mfma", 32, 1, 2, "f32", "f32"),
    ("gfx90a", "mfma", 16, 4, 4, "f16", "f32"),
    ("gfx90a", "mfma", 4, 4, 16, "f16", "f32"),
    ("gfx90a", "mfma", 4, 4, 16, "i8", "i32"),
    ("gfx90a", "mfma", 16, 4, 1, "f64", "f64"),
    ("gfx942", "mfma", 4, 4, 4, "f64", "f64"),
    ("gfx1201", "wmma", 16, 16, 1, "bf16", "bf16"),
    ("gfx1201", "wmma", 16, 16, 1, "ui8", "i32"),
    ("gfx1250", "wmma", 16, 64, 1, "f8E4M3FN", "f16"),
    ("gfx1250", "wmma", 16, 128, 1, "f8E5M2", "f32"),
]


def test_the_table_has_mmas_of_each_chip() -> None:
    assert {row[0] for row in TABLE} == set(CHIPS) and len(TABLE) > 40
    assert {row[0] for row in TABLE if row[6] == "f16"} == {row[0] for row in TABLE if row[1] == "wmma"}
    assert {architecture(row[0]) for row in TABLE if row[5] == "tf32"} == {"CDNA3"}
    # The other entries of the table are not matrix instructions.
    assert {mma.kind for target in AMD for mma in target.mmas} == {"mfma", "wmma", "fma"}


def architecture(chip: str) -> str:
    return targets.get(chip).architecture


def given(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind in ("i8", "ui8"):
        return rng.integers(-128, 128, shape).astype(np.int8)
    if kind == "i32":
        return rng.integers(-1000, 1000, shape).astype(np.int32)
    if kind == "tf32":
        return rng.standard_normal(shape).astype(np.float16).astype(np.float32)
    return rng.standard_normal(shape).astype(NUMBERS[kind])


def exact(kind: str, matrix: np.ndarray) -> np.ndarray:
    return (matrix.view(np.uint8) if kind == "ui8" else matrix).astype(np.float64)


# The position of each element in the guides of the instruction sets, lane by lane: (matrix, row, column).


def operand_positions(chip: str, kind: str, m: int, k: int, blocks: int, bits: int) -> list[list[tuple[int, int, int]]]:
    lanes: list[list[tuple[int, int, int]]] = [[] for _ in range(64 if kind == "mfma" else 32)]
    for block in range(blocks):
        for row in range(m):
            for column in range(k):
                if kind == "mfma":
                    chosen = [row + m * (block + blocks * (column // (m * k * blocks // 64)))]
                elif architecture(chip) == "RDNA3":
                    chosen = [row, row + 16]
                elif architecture(chip) == "RDNA4":
                    chosen = [row + 16 * (column // 8)]
                else:
                    chosen = [row + 16 * (column // (2 if bits == 32 else 8) % 2)]
                for lane in chosen:
                    lanes[lane].append((block, row, column))
    return lanes


def result_positions(chip: str, kind: str, m: int, blocks: int, double: bool) -> list[list[tuple[int, int, int]]]:
    lanes: list[list[tuple[int, int, int]]] = [[] for _ in range(64 if kind == "mfma" else 32)]
    for block in range(blocks):
        for row in range(m):
            for column in range(m):
                if kind == "wmma":
                    lane = column + 16 * (row % 2 if architecture(chip) == "RDNA3" else row // 8)
                elif double:
                    lane = 16 * (row % 4) + (4 * block if blocks > 1 else 0) + column
                elif m == 4:
                    lane = 4 * block + column
                else:
                    lane = m * (row // 4 % (64 // m)) + column
                lanes[lane].append((block, row, column))
    return lanes


def place(matrices: np.ndarray, positions: list[list[tuple[int, int, int]]]) -> np.ndarray:
    return np.stack([np.stack([matrices[at] for at in lane]) for lane in positions])


def vector(count: int, element: str) -> str:
    return f"vector<{count}x{element}>"


def is_in_halves(row: tuple[str, str, int, int, int, str, str]) -> bool:
    """Whether the accumulator is in every other half of the registers."""
    chip, kind, *_, element, total = row
    return any(
        mma.accumulates_in_halves
        for mma in targets.get(chip).mmas
        if (mma.kind, mma.a, mma.accumulator) == (kind, element, total)
    )


def place_accumulator(row: tuple[str, str, int, int, int, str, str], c: np.ndarray) -> np.ndarray:
    _, kind, m, _, blocks, _, total = row
    placed = place(c, result_positions(row[0], kind, m, blocks, total == "f64"))
    return np.stack([placed, np.zeros_like(placed)], -1).reshape(32, 16) if is_in_halves(row) else placed


def mma_kernel(row: tuple[str, str, int, int, int, str, str], a: int, b: int, c: int) -> str:
    """A kernel of a wave that multiplies vectors of so many elements."""
    _, kind, m, k, blocks, element, total = row
    wave = 64 if kind == "mfma" else 32
    lines = []
    stored = STORED.get(element, element)
    for name, count, ty in (("a", a, stored), ("b", b, stored), ("c", c, total)):
        lines.append(f"%{name}v = vector.load %{name}[%t, %c0] : memref<{wave}x{count}x{ty}>, {vector(count, ty)}")
    scalar = kind == "mfma" and a == 1
    factor, result = stored if scalar else vector(a, stored), total if c == 1 else vector(c, total)
    names = ["%av", "%bv", "%cv"]
    for i, (name, count) in enumerate(zip("abc", (a, b, c), strict=True)):
        if kind == "mfma" and count == 1:
            ty = stored if name != "c" else total
            lines.append(f"%{name}s = vector.extract %{name}v[0] : {ty} from {vector(1, ty)}")
            names[i] = f"%{name}s"
    signs = " {unsignedA, unsignedB}" if element == "ui8" else ""
    named = [f"blocks = {blocks} : i32"] * (blocks > 1) + ["reducePrecision"] * (element == "tf32")
    attributes = f" {{{', '.join(named)}}}" if named else ""
    tail = f"{attributes} blgp = none" if kind == "mfma" else signs
    lines.append(
        f"%d = amdgpu.{kind} {m}x{m}x{k} {names[0]} * {names[1]} + {names[2]}{tail} : {factor}, {factor}, {result}"
    )
    if c == 1:
        lines.append(f"memref.store %d, %o[%t, %c0] : memref<{wave}x1x{total}>")
    else:
        lines.append(f"vector.store %d, %o[%t, %c0] : memref<{wave}x{c}x{total}>, {result}")
    arguments = ", ".join(
        f"%{name}: memref<{wave}x{count}x{ty}>"
        for name, count, ty in (("a", a, stored), ("b", b, stored), ("c", c, total), ("o", c, total))
    )
    return kernel(arguments, lines, wave)


def kernel(arguments: str, lines: list[str], wave: int) -> str:
    body = "\n    ".join(lines)
    return gpu_kernel(
        arguments,
        f"""    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    {body}""",
        wave,
    )


def check(found: np.ndarray, wanted: np.ndarray, sums: np.ndarray) -> None:
    """Rounded once."""
    if found.dtype.kind == "i":
        assert (found == wanted).all()
        return
    eps = float(ml_dtypes.finfo(found.dtype).eps)
    assert (
        np.abs(found.astype(np.float64) - wanted) <= eps / 2 * 1.01 * np.abs(wanted) + 1e-13 * sums + 1e-7 * eps
    ).all()


@pytest.mark.parametrize("row", TABLE + OTHERS, ids=lambda row: "-".join(map(str, row)))
def test_matmuls(row: tuple[str, str, int, int, int, str, str]) -> None:
    chip, kind, m, k, blocks, element, total = row
    a, b = given(element, (blocks, m, k), 1), given(element, (blocks, m, k), 2)
    c = given(total, (blocks, m, m), 3)
    factors = operand_positions(chip, kind, m, k, blocks, 8 * a.itemsize)
    results = result_positions(chip, kind, m, blocks, total == "f64")
    left, right, start = place(a, factors), place(b, factors), place_accumulator(row, c)
    text = mma_kernel(row, left.shape[1], right.shape[1], start.shape[1])
    out = np.zeros_like(start)
    sim.simulate(text, f"sim:{chip}")(left, right, start, out)
    x, y = exact(element, a), exact(element, b)
    wanted = place(np.einsum("bik,bjk->bij", x, y) + c.astype(np.float64), results)
    sums = place(np.einsum("bik,bjk->bij", abs(x), abs(y)) + abs(c.astype(np.float64)), results)
    check(out[:, ::2] if is_in_halves(row) else out, wanted, sums)
    if is_in_halves(row):
        assert np.isnan(out[:, 1::2]).all()


SIXTEEN_BITS = {(row[0], row[5], row[6]): row for row in TABLE if row[5] in ("f16", "bf16")}
"""One MMA for each pair of types."""


@pytest.mark.parametrize("row", SIXTEEN_BITS.values(), ids=lambda row: "-".join(map(str, row)))
def test_mmas_are_those_of_the_emulator(row: tuple[str, str, int, int, int, str, str]) -> None:
    chip, kind, m, k, blocks, element, total = row
    factors = operand_positions(chip, kind, m, k, blocks, 16)
    a, b = place(given(element, (1, m, k), 4), factors), place(given(element, (1, m, k), 5), factors)
    # No normal numbers: CDNA2 takes them for zero.
    a.reshape(-1)[::7] = np.asarray(float(ml_dtypes.finfo(a.dtype).smallest_subnormal), a.dtype)
    if architecture(chip) == "RDNA3":
        a[16:] = a[:16]
    c = place_accumulator(row, given(total, (1, m, m), 6))
    text = mma_kernel(row, a.shape[1], b.shape[1], c.shape[1])
    outs = [np.zeros_like(c) for _ in range(2)]
    sim.simulate(text, f"sim:{chip}")(a, b, c, outs[0])
    smalti.compile(text, target=f"emu:{chip}")(a, b, c, outs[1])
    # The other halves are undefined.
    mine, theirs = (out[:, ::2] if is_in_halves(row) else out for out in outs)
    assert mine.tobytes() == theirs.tobytes() and mine.any()


@pytest.mark.parametrize("signs", ["", "unsignedA, clamp", "unsignedB", "unsignedA, unsignedB, clamp"])
@pytest.mark.parametrize(("chip", "k"), [("gfx1100", 16), ("gfx1201", 16), ("gfx1201", 32)])
def test_mmas_of_4_bits(chip: str, k: int, signs: str) -> None:
    rng = np.random.default_rng(k)
    codes = [rng.integers(0, 16, (1, 16, k)).astype(np.uint8) for _ in range(2)]
    numbers = [
        np.where((x > 7) & (f"unsigned{name}" not in signs), x.astype(np.int64) - 16, x)
        for x, name in zip(codes, "AB", strict=True)
    ]
    c = rng.integers(-1000, 1000, (1, 16, 16))
    c[0, 0], c[0, 1] = 2**31 - 1, -(2**31)
    lane = np.arange(32)[:, None]
    e = np.arange(k if chip == "gfx1100" else k // 2)[None, :]
    column = e if chip == "gfx1100" else lane // 16 * (k // 2) + e
    left, right = (packed(x[0, lane % 16, column], 4) for x in codes)
    results = result_positions(chip, "wmma", 16, 1, False)
    start = place(c.astype(np.int32), results)
    count, lines = e.size // 2, []
    for name in "ab":
        lines.append(f"%{name}w = vector.load %{name}[%t, %c0] : memref<32x{count}xi8>, vector<{count}xi8>")
        lines.append(f"%{name}v = vector.bitcast %{name}w : vector<{count}xi8> to vector<{e.size}xi4>")
    factor = f"vector<{e.size}xi4>"
    lines += [
        "%cv = vector.load %c[%t, %c0] : memref<32x8xi32>, vector<8xi32>",
        f"%d = amdgpu.wmma 16x16x{k} %av * %bv + %cv {{{signs}}} : {factor}, {factor}, vector<8xi32>",
        "vector.store %d, %o[%t, %c0] : memref<32x8xi32>, vector<8xi32>",
    ]
    arguments = [f"%{name}: memref<32x{count}xi8>" for name in "ab"] + [f"%{name}: memref<32x8xi32>" for name in "co"]
    text, outs = kernel(", ".join(arguments), lines, 32), [np.zeros_like(start) for _ in range(2)]
    for target, out in zip(("sim", "emu"), outs, strict=True):
        smalti.compile(text, target=f"{target}:{chip}")(left, right, start, out)
    wanted = np.einsum("bik,bjk->bij", *numbers) + c
    assert (wanted != wanted.astype(np.int32)).any()
    wanted = np.clip(wanted, -(2**31), 2**31 - 1) if "clamp" in signs else wanted
    assert (outs[0] == place(wanted.astype(np.int32), results)).all() and (outs[0] == outs[1]).all()


ODD = [
    ("gfx90a", "f16"),
    ("gfx90a", "f32"),
    ("gfx942", "bf16"),
    ("gfx950", "f8E5M2"),
    ("gfx1100", "f16"),
    ("gfx1201", "f8E4M3FN"),
]
ODD += [("gfx1250", "f16"), ("gfx1250", "f32")]


@pytest.mark.parametrize(("chip", "element"), ODD)
def test_nan_values(chip: str, element: str) -> None:
    """Infinities, NaNs, zeros with signs: as in the emulator."""
    chip = next(name for name in CHIPS if architecture(name) == architecture(chip))
    row = next(row for row in TABLE if row[0] == chip and row[5] == element and row[6] == "f32")
    _, kind, m, k, blocks, _, total = row
    factors, results = (
        operand_positions(chip, kind, m, k, blocks, 8 * np.dtype(NUMBERS[element]).itemsize),
        result_positions(chip, kind, m, 1, False),
    )
    rng = np.random.default_rng(7)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 65504.0])

    def some(shape: tuple[int, ...], how_often: float) -> np.ndarray:
        """Mostly zeros, so that not all sums are without a number."""
        return np.where(rng.random(shape) < how_often, rng.choice(odd, shape), rng.choice(odd[:2], shape))

    with np.errstate(over="ignore"):
        a, b = (some((1, m, k), 0.5 / k).astype(NUMBERS[element]) for _ in range(2))
    c = np.where(rng.random((1, m, m)) < 0.2, rng.choice([*odd, 1e-40], (1, m, m)), -0.0).astype(NUMBERS[total])
    # All multiplications with this element give zeros with a sign.
    a[0, 3], b[0, 2], c[0, 3, 2] = 1, -0.0, -0.0
    left, right, start = place(a, factors), place(b, factors), place(c, results)
    text = mma_kernel(row, left.shape[1], right.shape[1], start.shape[1])
    outs = [np.zeros_like(start) for _ in range(2)]
    sim.simulate(text, f"sim:{chip}")(left, right, start, outs[0])
    smalti.compile(text, target=f"emu:{chip}")(left, right, start, outs[1])
    mine, theirs = outs
    assert (np.isnan(mine) == np.isnan(theirs)).all() and np.isnan(mine).any()
    rest = ~np.isnan(mine)
    assert (mine[rest].view(np.uint32) == theirs[rest].view(np.uint32)).all()
    assert np.isinf(mine).any() and (mine == 0).any() and (np.signbit(mine) & (mine == 0)).any()


SMALL: dict[str, tuple[Any, int]] = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 8),
    "f8E5M2": (ml_dtypes.float8_e5m2, 8),
    "f6E2M3FN": (ml_dtypes.float6_e2m3fn, 6),
    "f6E3M2FN": (ml_dtypes.float6_e3m2fn, 6),
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, 4),
}


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    """The bits of each row, element after element."""
    planes = (codes[..., None] >> np.arange(bits)) & 1
    return np.packbits(planes.reshape(len(codes), -1).astype(np.uint8), axis=1, bitorder="little").view(np.int8)


PAIRS = [(name, name) for name in SMALL] + [("f4E2M1FN", "f8E5M2"), ("f6E3M2FN", "f4E2M1FN")]


@pytest.mark.parametrize(("m", "k"), [(16, 128), (32, 64)])
@pytest.mark.parametrize(("of_a", "of_b"), PAIRS)
def test_scaled_mmas(m: int, k: int, of_a: str, of_b: str) -> None:
    rng = np.random.default_rng(m)
    lane, e = np.arange(64)[:, None], np.arange(32)[None, :]
    arrays, sides, lines, arguments, types = [], [], [], [], []
    for side, element in zip("ab", (of_a, of_b), strict=True):
        dtype, bits = SMALL[element]
        values = rng.standard_normal((m, k)).astype(dtype)
        group = lane // m
        # 4 bits: 32 elements that follow one another; else 16 of each half of the row.
        column = 32 * group + e if bits == 4 else k // 2 * (e // 16) + 16 * group + e % 16
        exponents = rng.integers(120, 134, (m, k // 32))
        scales = np.full((64, 4), 7, np.uint8)
        scales[:, 2] = exponents[np.arange(64) % m, np.arange(64) // m]
        arrays += [packed(values.view(np.uint8)[lane % m, column], bits), scales.view(ml_dtypes.float8_e8m0fnu)]
        sides.append(values.astype(np.float64) * np.repeat(2.0 ** (exponents - 127.0), 32, axis=1))
        count = 4 * bits
        arguments += [f"%{side}: memref<64x{count}xi8>", f"%s{side}: memref<64x4xf8E8M0FNU>"]
        types += ["vector<4xf8E8M0FNU>", f"vector<32x{element}>"]
        lines += [
            f"%{side}w = vector.load %{side}[%t, %c0] : memref<64x{count}xi8>, vector<{count}xi8>",
            f"%{side}v = vector.bitcast %{side}w : vector<{count}xi8> to vector<32x{element}>",
            f"%{side}s = vector.load %s{side}[%t, %c0] : memref<64x4xf8E8M0FNU>, vector<4xf8E8M0FNU>",
        ]
    count = m * m // 64
    lines += [
        f"%cv = vector.load %c[%t, %c0] : memref<64x{count}xf32>, vector<{count}xf32>",
        f"%d = amdgpu.scaled_mfma {m}x{m}x{k} (%as[2] * %av) * (%bs[2] * %bv) + %cv "
        f": {', '.join(types)}, vector<{count}xf32>",
        f"vector.store %d, %o[%t, %c0] : memref<64x{count}xf32>, vector<{count}xf32>",
    ]
    arguments += [f"%{name}: memref<64x{count}xf32>" for name in "co"]
    results = result_positions("gfx950", "mfma", m, 1, False)
    c = rng.standard_normal((1, m, m)).astype(np.float32)
    start = place(c, results)
    out = np.zeros_like(start)
    text = kernel(", ".join(arguments), lines, 64)
    sim.simulate(text, "sim:gfx950")(*arrays, start, out)
    with pytest.raises(smalti.CompileError, match="gfx942 does not have scaled MFMA"):
        sim.simulate(text, "sim:gfx942")
    x, y = sides
    check(out, place((x @ y.T)[None] + c, results), place((abs(x) @ abs(y).T)[None] + abs(c), results))


def test_permuted_operands() -> None:
    """`cbsz` and `abid` give one matrix of A to several; `blgp` exchanges the lanes of B."""
    lanes = np.arange(64)
    a, b = given("f16", (64, 4), 1), given("f16", (64, 4), 2)
    c, outs = np.zeros((64, 16), np.float32), []
    text = mma_kernel(("gfx942", "mfma", 16, 4, 4, "f16", "f32"), 4, 4, 16)
    changed = text.replace("blocks = 4 : i32", "blocks = 4 : i32, cbsz = 1 : i32, abid = 1 : i32")
    changed = changed.replace("blgp = none", "blgp = rotate_16_right")
    for kernel_text, x, y in ((changed, a, b), (text, a[lanes // 32 * 32 + 16 + lanes % 16], b[(lanes + 16) % 64])):
        outs.append(np.zeros_like(c))
        sim.simulate(kernel_text, "sim:gfx942")(x, y, c, outs[-1])
    assert (outs[0] == outs[1]).all() and outs[0].any()


def test_halves_of_a_wave_that_differ() -> None:
    row = ("gfx1100", "wmma", 16, 16, 1, "f16", "f32")
    made = sim.simulate(mma_kernel(row, 16, 16, 8), "sim:gfx1100")
    found = made.find(*made.random_arguments(seed=1))
    assert {finding.kind for finding in found} == {"assertion"}
    assert found[0].message == "wmma: lane 0 and lane 16 hold different elements of A; they must be equal"


def test_inactive_waves_do_not_have_operands() -> None:
    """The registers of inactive lanes are not used."""
    lines = [
        "%c32 = arith.constant 32 : index",
        "%zeros = arith.constant dense<0.0> : vector<8xf32>",
        "%i = arith.index_cast %t : index to i32",
        "%x = arith.sitofp %i : i32 to f16",
        "%first = arith.cmpi ult, %t, %c32 : index",
        "%zero = arith.constant 0.0 : f16",
        "%y = arith.select %first, %zero, %x : f16",
        "%v = vector.broadcast %y : f16 to vector<16xf16>",
        "scf.if %first {",
        "  %d = amdgpu.wmma 16x16x16 %v * %v + %zeros : vector<16xf16>, vector<16xf16>, vector<8xf32>",
        "  vector.store %d, %o[%t, %c0] : memref<64x8xf32>, vector<8xf32>",
        "}",
    ]
    made = sim.simulate(kernel("%o: memref<64x8xf32>", lines, 64), "sim:gfx1100")
    o = np.full((64, 8), -1, np.float32)
    assert made.find(o, simulation=sim.Simulation("round-robin")) == ()
    assert (o[:32] == 0).all() and (o[32:] == -1).all()


@pytest.mark.parametrize(("m", "k"), [(16, 8), (32, 4)])
def test_mfma_of_xf32(m: int, k: int) -> None:
    """The operands have 10 bits of mantissa, and further bits are truncated."""
    row = ("gfx942", "mfma", m, k, 1, "f32", "f32")
    factors, results = operand_positions("gfx942", "mfma", m, k, 1, 32), result_positions("gfx942", "mfma", m, 1, False)
    matrices = [given("f32", shape, seed) for seed, shape in enumerate([(1, m, k), (1, m, k), (1, m, m)])]
    left, right, start = (place(x, at) for x, at in zip(matrices, (factors, factors, results), strict=True))
    text = mma_kernel(row, left.shape[1], right.shape[1], start.shape[1])
    text = text.replace(" blgp = none", " {reducePrecision} blgp = none")
    total = f"vector<{start.shape[1]}xf32>"
    named = f"""%z = arith.constant 0 : i32
    %d = rocdl.mfma.f32.{m}x{m}x{k}.xf32 %av, %bv, %cv, %z, %z, %z
      : (vector<2xf32>, vector<2xf32>, {total}, i32, i32, i32) -> {total}"""
    by_name = "\n".join(named if "amdgpu.mfma" in line else line for line in text.splitlines())
    outs = []
    for source in (text, by_name):
        outs.append(np.zeros_like(start))
        sim.simulate(source, "sim:gfx942")(left, right, start, outs[-1])
    outs.append(np.zeros_like(start))
    smalti.compile(text, target="emu:gfx942")(left, right, start, outs[-1])
    assert all((out.view(np.uint32) == outs[0].view(np.uint32)).all() for out in outs)
    a, b, c = (x.astype(np.float64) for x in matrices)
    kept_a, kept_b = (np.trunc(np.ldexp(*_parts(x))) * np.exp2(_exponents(x)) for x in (a, b))
    sums = place(np.einsum("bik,bjk->bij", abs(a), abs(b)) + abs(c), results)
    check(outs[0], place(np.einsum("bik,bjk->bij", kept_a, kept_b) + c, results), sums)
    # As exact as the type: an error of at most one in the last place of each operand.
    wanted = place(np.einsum("bik,bjk->bij", a, b) + c, results)
    assert (np.abs(outs[0] - wanted) <= 2.001 * 2.0**-10 * sums).all()
    assert np.abs(outs[0] - wanted).max() > 2.0**-14
    with pytest.raises(smalti.CompileError, match="sim:gfx950 does not have MFMA of xf32"):
        sim.simulate(text, "sim:gfx950")


def _exponents(x: np.ndarray) -> np.ndarray:
    """In units of the last place of xf32."""
    return np.frexp(x)[1] - 11


def _parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, -_exponents(x)
