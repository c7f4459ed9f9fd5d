"""`rocdl.mfma` and `rocdl.wmma`: bit for bit as the emulator has them, whatever they pack and modify."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import sim
from smalti.sim.threads.code import OPERATIONS
from test_sim_matrices_amd import NUMBERS, kernel

KINDS = NUMBERS | {"f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz}
# The chip, the name, the types of a factor and of its elements, those of the accumulator, what else it says.
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


def test_names_that_are_known() -> None:
    names = {name for name in OPERATIONS if name.startswith(("rocdl.mfma.", "rocdl.wmma."))}
    assert len(names) == 45 + 34


@pytest.mark.parametrize(("chip", "k", "factor"), [("gfx1100", 32, "vector<4xi32>"), ("gfx1250", 16, "i32")])
def test_chips_that_lack_a_product_of_4_bits(chip: str, k: int, factor: str) -> None:
    line = f"%d = rocdl.wmma.i32.16x16x{k}.iu4 %a, %a, %c : ({factor}, {factor}, vector<8xi32>) -> vector<8xi32>"
    lines = [f"%a = llvm.mlir.zero : {factor}", "%c = llvm.mlir.zero : vector<8xi32>", line]
    with pytest.raises(smalti.CompileError, match=f"wmma of 16 x 16 x {k} of i4 and i4 on sim:{chip}"):
        sim.simulate(kernel("%o: memref<32x8xi32>", lines, 32), f"sim:{chip}")
