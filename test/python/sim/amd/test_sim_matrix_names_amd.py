# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rocdl.mfma`, `rocdl.smfmac` and `rocdl.wmma`: bit for bit against in the emulator, with all packings and modifiers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import sim
from smalti.sim.translation.translator import THREAD_OPERATIONS
from test_sim_matrices_amd import NUMBERS, kernel

KINDS = NUMBERS | {"f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz}
# The chip, the name, the types of an operand and of its elements, those of the accumulator, further attributes.
MFMA = [
    ("gfx90a", "f32.16x16x4f16", "vector<4xf16>", "f16", "f16", "vector<16xf32>", (1, 1, 3)),
    ("gfx90a", "i32.32x32x8i8", "i32", "i8", "i8", "vector<16xi32>", (0, 0, 0)),
    ("gfx90a", "f32.32x32x4bf16.1k", "vector<4xi16>", "bf16", "bf16", "vector<32xf32>", (0, 0, 0)),
    ("gfx942", "f64.16x16x4f64", "f64", "f64", "f64", "vector<4xf64>", (0, 0, 5)),
    ("gfx942", "f32.16x16x32.fp8.bf8", "i64", "f8E4M3FNUZ", "f8E5M2FNUZ", "vector<4xf32>", (0, 0, 0)),
    ("gfx950", "f32.32x32x16.bf8.fp8", "i64", "f8E5M2", "f8E4M3FN", "vector<16xf32>", (0, 0, 0)),
    ("gfx950", "i32.16x16x64.i8", "vector<4xi32>", "i8", "i8", "vector<4xi32>", (0, 0, 0)),
    ("gfx950", "f32.16x16x32.bf16", "vector<8xbf16>", "bf16", "bf16", "vector<4xf32>", (0, 0, 0)),
]
WMMA = [
    ("gfx1100", "f32.16x16x16.bf16", "vector<16xi16>", "bf16", "bf16", "vector<8xf32>", ""),
    ("gfx1100", "f16.16x16x16.f16", "vector<16xf16>", "f16", "f16", "vector<16xf16>", "{opsel = true}"),
    ("gfx1201", "i32.16x16x16.iu8", "vector<2xi32>", "i8", "i8", "vector<8xi32>", "{signA = true, clamp = true}"),
    ("gfx1100", "i32.16x16x16.iu4", "vector<2xi32>", "i8", "i8", "vector<8xi32>", "{signB = true, clamp = true}"),
    ("gfx1201", "i32.16x16x16.iu4", "i32", "i8", "i8", "vector<8xi32>", "{signA = true}"),
    ("gfx1201", "i32.16x16x32.iu4", "vector<2xi32>", "i8", "i8", "vector<8xi32>", "{signA = true, signB = true}"),
    ("gfx1201", "f32.16x16x16.fp8_bf8", "vector<2xi32>", "f8E4M3FN", "f8E5M2", "vector<8xf32>", ""),
    ("gfx1201", "bf16.16x16x16.bf16", "vector<8xi16>", "bf16", "bf16", "vector<8xi16>", ""),
    ("gfx1250", "f32.16x16x32.f16", "vector<16xf16>", "f16", "f16", "vector<8xf32>", "{signB = true, modC = 3 : i16}"),
    ("gfx1250", "bf16f32.16x16x32.bf16", "vector<16xbf16>", "bf16", "bf16", "vector<8xf32>", "{modC = 1 : i16}"),
    ("gfx1250", "f16.16x16x64.fp8_bf8", "vector<8xi32>", "f8E4M3FN", "f8E5M2", "vector<8xf16>", ""),
]


def parts(ty: str) -> tuple[int, str]:
    """How many elements a type has, and which."""
    count, _, element = ty.removeprefix("vector<").rstrip(">").rpartition("x")
    return int(count or 1), element


def check(chip: str, line: str, factors: tuple[str, str], elements: tuple[str, str], total: str, result: str) -> None:
    wave = 64 if "mfma" in line else 32
    lines, arrays, arguments = [], [], []
    for i, (name, ty) in enumerate(zip("abc", (*factors, total), strict=True)):
        count, element = parts(ty)
        held = np.dtype({"i16": np.int16, "i64": np.int64}.get(element) or NUMBERS[element])
        known = KINDS[elements[i]] if i < 2 else held
        if i == 2 and element == "i16":
            known = ml_dtypes.bfloat16
        of = np.dtype(known)
        rng = np.random.default_rng(i)
        shape = (wave, count * held.itemsize // of.itemsize)
        values = rng.integers(-99, 99, shape).astype(of) if of.kind == "i" else rng.standard_normal(shape).astype(of)
        if chip == "gfx1100" and i < 2:
            values[16:] = values[:16]
        arrays.append(np.ascontiguousarray(values).view(held))
        arguments.append(f"%{name}: memref<{wave}x{count}x{element}>")
        lines.append(
            f"%{name}l = vector.load %{name}[%t, %c0] : memref<{wave}x{count}x{element}>, vector<{count}x{element}>"
        )
        lines.append(
            f"%{name}v = vector.extract %{name}l[0] : {ty} from vector<1x{ty}>"
            if count == 1
            else f"%{name}v = vector.bitcast %{name}l : {ty} to {ty}"
        )
    count, element = parts(result)
    arguments.append(f"%o: memref<{wave}x{count}x{element}>")
    lines += [line, f"vector.store %d, %o[%t, %c0] : memref<{wave}x{count}x{element}>, {result}"]
    text, outs = kernel(", ".join(arguments), lines, wave), []
    for target in (f"sim:{chip}", f"emu:{chip}"):
        outs.append(np.zeros((wave, count), {"i16": np.int16}.get(element) or NUMBERS[element]))
        smalti.compile(text, target=target)(*arrays, outs[-1])
    mine, theirs = outs
    if "opsel" in line:
        # The other halves are undefined.
        mine, theirs = mine[:, 1::2].copy(), theirs[:, 1::2].copy()
    assert mine.tobytes() == theirs.tobytes() and mine.any()


@pytest.mark.parametrize(("chip", "name", "factor", "of_a", "of_b", "total", "numbers"), MFMA, ids=lambda x: str(x))
def test_mfma(
    chip: str, name: str, factor: str, of_a: str, of_b: str, total: str, numbers: tuple[int, int, int]
) -> None:
    constants = "\n    ".join(f"%n{i} = arith.constant {value} : i32" for i, value in enumerate(numbers))
    line = f"{constants}\n    %d = rocdl.mfma.{name} %av, %bv, %cv, %n0, %n1, %n2 "
    check(
        chip,
        f"{line}: ({factor}, {factor}, {total}, i32, i32, i32) -> {total}",
        (factor, factor),
        (of_a, of_b),
        total,
        total,
    )


@pytest.mark.parametrize(("chip", "name", "factor", "of_a", "of_b", "total", "flags"), WMMA, ids=lambda x: str(x))
def test_wmma(chip: str, name: str, factor: str, of_a: str, of_b: str, total: str, flags: str) -> None:
    result = "vector<8xbf16>" if name.startswith("bf16f32") else total
    line = f"%d = rocdl.wmma.{name} %av, %bv, %cv {flags} : ({factor}, {factor}, {total}) -> {result}"
    check(chip, line, (factor, factor), (of_a, of_b), total, result)


def test_supported_names() -> None:
    names = {name for name in THREAD_OPERATIONS if name.startswith(("rocdl.mfma.", "rocdl.wmma."))}
    assert len(names) == 45 + 34 + 2


@pytest.mark.parametrize(("chip", "k", "factor"), [("gfx1100", 32, "vector<4xi32>"), ("gfx1250", 16, "i32")])
def test_chips_without_4_bit_wmma(chip: str, k: int, factor: str) -> None:
    line = f"%d = rocdl.wmma.i32.16x16x{k}.iu4 %a, %a, %c : ({factor}, {factor}, vector<8xi32>) -> vector<8xi32>"
    lines = [f"%a = llvm.mlir.zero : {factor}", "%c = llvm.mlir.zero : vector<8xi32>", line]
    with pytest.raises(smalti.CompileError, match=f"operand A of i4, operand B of i4 and K = {k}"):
        sim.simulate(kernel("%o: memref<32x8xi32>", lines, 32), f"sim:{chip}")


# ---------------------------------------------------------------------------------------------------------------------
# Sparse operands, and operands with scales
# ---------------------------------------------------------------------------------------------------------------------

SMFMAC = [
    ("gfx942", "f32.16x16x32.f16", "f16", 4, 1),
    ("gfx942", "f32.32x32x16.bf16", "bf16", 4, 0),
    ("gfx942", "f32.16x16x64.fp8.bf8", "i8", 8, 0),
    ("gfx942", "i32.32x32x32.i8", "i8", 8, 1),
    ("gfx950", "f32.16x16x64.f16", "f16", 8, 0),
    ("gfx950", "f32.32x32x64.bf8.fp8", "i8", 16, 0),
    ("gfx950", "i32.16x16x128.i8", "i8", 16, 0),
]


@pytest.mark.parametrize(("chip", "name", "element", "count", "chosen"), SMFMAC)
def test_smfmac(chip: str, name: str, element: str, count: int, chosen: int) -> None:
    """The same as `amdgpu.sparse_mfma`, and bit for bit as in the emulator, if it supports it."""
    total, m, k = name[:3], int(name[4:6]), int(name.split(".")[1].split("x")[2])
    results, words = m * m // 64, count // 4
    factor, other = (
        f"vector<{n}x{element}>" if element != "i8" else f"vector<{n // 4}xi32>" for n in (count, 2 * count)
    )
    if element == "bf16":
        factor, other = factor.replace("bf16", "i16"), other.replace("bf16", "i16")
    held = count if element != "i8" else words
    ty = factor[factor.index("x") + 1 : -1]
    sums = f"vector<{results}x{total}>"
    lines = [
        f"%a = vector.load %x[%t, %c0] : memref<64x{held}x{ty}>, {factor}",
        f"%b = vector.load %y[%t, %c0] : memref<64x{2 * held}x{ty}>, {other}",
        f"%c = vector.load %z[%t, %c0] : memref<64x{results}x{total}>, {sums}",
        "%at = memref.load %i[%t] : memref<64xi32>",
        "%zero = arith.constant 0 : i32",
        f"%set = arith.constant {chosen} : i32",
        f"%d = rocdl.smfmac.{name} %a, %b, %c, %at, %zero, %set : ({factor}, {other}, {sums}, i32, i32, i32) -> {sums}",
        f"vector.store %d, %o[%t, %c0] : memref<64x{results}x{total}>, {sums}",
    ]
    arguments = f"%x: memref<64x{held}x{ty}>, %y: memref<64x{2 * held}x{ty}>, %z: memref<64x{results}x{total}>, "
    text = kernel(arguments + f"%i: memref<64xi32>, %o: memref<64x{results}x{total}>", lines, 64)
    rng = np.random.default_rng(count)
    dtype = {"f16": np.float16, "bf16": np.int16}.get(element, np.int32)
    a, b = ((rng.standard_normal((64, n * held)) * 8).astype(np.float16) for n in (1, 2))
    if dtype is not np.float16:
        a, b = (x.astype(ml_dtypes.bfloat16).view(np.int16) for x in (a, b))
    if dtype is np.int32:
        a, b = (rng.integers(-(2**31), 2**31, (64, n * held)).astype(np.int32) for n in (1, 2))
    c = rng.integers(-9, 9, (64, results)).astype(np.int32 if total == "i32" else np.float32)
    # Places among four: 0 and 1, 0 and 2, 1 and 3.
    nibbles = rng.choice([0b0100, 0b1000, 0b1101], (64, 8))
    indices = (nibbles << 4 * np.arange(8)).sum(1).astype(np.uint32).view(np.int32)
    kinds = {"fp8": "f8E4M3FN", "bf8": "f8E5M2"} if chip == "gfx950" else {"fp8": "f8E4M3FNUZ", "bf8": "f8E5M2FNUZ"}
    of = [kinds.get(part, part) for part in name.split(".")[2:]]
    index = "vector<4xi8>" if dtype is not np.int32 else "vector<2xi16>"
    types = [f"vector<{n}x{kind}>" for n, kind in ((count, of[0]), (2 * count, of[-1]))]
    same = [
        f"%a_typed = vector.bitcast %a : {factor} to {types[0]}",
        f"%b_typed = vector.bitcast %b : {other} to {types[1]}",
        "%word = vector.broadcast %at : i32 to vector<1xi32>",
        f"%places = vector.bitcast %word : vector<1xi32> to {index}",
        f"%d = amdgpu.sparse_mfma {m}x{m}x{k} %a_typed * %b_typed + %c sparse(%places : {index}) {{abid = {chosen} : i32}}",
        f"  : {types[0]}, {types[1]}, {sums}",
    ]
    plain = "\n".join("\n".join(same) if "rocdl.smfmac" in line else line for line in text.splitlines())
    outs = [np.zeros_like(c) for _ in range(3)]
    sim.simulate(text, f"sim:{chip}")(a, b, c, indices, outs[0])
    sim.simulate(plain, f"sim:{chip}")(a, b, c, indices, outs[1])
    if count == 4:
        smalti.compile(text, target=f"emu:{chip}")(a, b, c, indices, outs[2])
        assert outs[0].tobytes() == outs[2].tobytes()
    assert np.array_equal(*outs[:2], equal_nan=total == "f32") and (outs[0] != c).any()


@pytest.mark.parametrize("unscaled", [False, True])
@pytest.mark.parametrize(("of_a", "of_b"), [(0, 4), (1, 2), (3, 3), (4, 0)])
@pytest.mark.parametrize(("m", "k"), [(16, 128), (32, 64)])
def test_mfma_with_scales(m: int, k: int, of_a: int, of_b: int, unscaled: bool) -> None:
    words = [{0: 8, 1: 8, 2: 6, 3: 6, 4: 4}[of] for of in (of_a, of_b)]
    results = m * m // 64
    (factor, other), sums = (f"vector<{n}xi32>" for n in words), f"vector<{results}xf32>"
    lines = [
        f"%a = vector.load %x[%t, %c0] : memref<64x{words[0]}xi32>, {factor}",
        f"%b = vector.load %y[%t, %c0] : memref<64x{words[1]}xi32>, {other}",
        f"%c = vector.load %z[%t, %c0] : memref<64x{results}xf32>, {sums}",
        "%sa = memref.load %i[%t] : memref<64xi32>",
        "%sb = memref.load %j[%t] : memref<64xi32>",
        *(f"%n{n} = arith.constant {n} : i32" for n in range(5)),
        f"%d = rocdl.mfma.scale.f32.{m}x{m}x{k}.f8f6f4 %a, %b, %c, %n{of_a}, %n{of_b}, %n1, %sa, %n3, %sb",
        f"  : ({factor}, {other}, {sums}, i32, i32, i32, i32, i32, i32) -> {sums}",
        f"vector.store %d, %o[%t, %c0] : memref<64x{results}xf32>, {sums}",
    ]
    arguments = f"%x: memref<64x{words[0]}xi32>, %y: memref<64x{words[1]}xi32>, %z: memref<64x{results}xf32>, "
    text = kernel(arguments + f"%i: memref<64xi32>, %j: memref<64xi32>, %o: memref<64x{results}xf32>", lines, 64)
    rng = np.random.default_rng(of_a + 5 * of_b)
    # Without the highest bits, 8-bit numbers are neither infinite nor NaN.
    factors = [rng.integers(0, 2**31, (64, n)).astype(np.int32) & 0x3F3F3F3F for n in words]
    scales = [rng.integers(120, 134, (64, 4)).astype(np.uint8).view(np.int32)[:, 0] * (not unscaled) for _ in range(2)]
    c = rng.standard_normal((64, results)).astype(np.float32)
    outs = [np.zeros_like(c) for _ in range(2)]
    sim.simulate(text, "sim:gfx950")(*factors, c, *scales, outs[0])
    smalti.compile(text, target="emu:gfx950")(*factors, c, *scales, outs[1])
    assert outs[0].tobytes() == outs[1].tobytes() and np.isfinite(outs[0]).all()
    with pytest.raises(smalti.CompileError, match="sim:gfx942 does not have this instruction"):
        sim.simulate(text, "sim:gfx942")
