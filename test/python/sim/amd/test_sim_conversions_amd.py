# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of small floats on AMD chips: bit for bit against in the emulator, and against `ml_dtypes`."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import sim
from smalti.sim.threads.ops.amd.conversions_amd import narrow, pack, unpack, widen

LANES = 64
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    448.0,
    464.0,
    465.0,
    -1e9,
    57344.0,
    61440.0,
    2.0**-9,
    2.0**-10,
    6.5,
    -7.9,
]
SPECIAL += [240.0, 248.0, 2.0**-17, 1.5 * 2.0**-10, 65504.0, 65520.0, -65519.9, 1e-8]
EIGHTS = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}
SMALL = EIGHTS | {"fp4": ml_dtypes.float4_e2m1fn, "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn}


def numbers(seed: int, count: int = LANES) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = (rng.standard_normal(count) * np.exp2(rng.integers(-12, 12, count))).astype(np.float32)
    found[: min(len(SPECIAL), count)] = np.roll(SPECIAL, seed)[:count]
    return found


def words(seed: int, shape: tuple[int, ...] = (LANES,)) -> np.ndarray:
    return np.random.default_rng(seed).integers(-(2**31), 2**31, shape).astype(np.int32)


def compared(body: str, arguments: str, *arrays: np.ndarray, chip: str) -> np.ndarray:
    """The value stored to the last argument, by the simulator and by the emulator."""
    text = f"""gpu.module @m {{ gpu.func @k({arguments}) kernel attributes {{
      known_block_size = array<i32: {LANES}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    {body}
    gpu.return
  }} }}"""
    results = []
    for target in (f"sim:{chip}", f"emu:{chip}"):
        given = [array.copy() for array in arrays]
        smalti.compile(text, target=target)(*given)
        results.append(given[-1])
    mine, theirs = (np.ascontiguousarray(result).view(np.float32) for result in results)
    # The sign of a NaN is not specified.
    alike = (mine.view(np.int32) == theirs.view(np.int32)) | (np.isnan(mine) & np.isnan(theirs))
    assert alike.all(), np.argwhere(~alike)[:8]
    return results[0]


F32, I32 = "memref<64xf32>", "memref<64xi32>"
CHIPS = ("gfx942", "gfx950", "gfx1201")


@pytest.mark.parametrize("chip", CHIPS)
def test_floats_of_8_bits(chip: str) -> None:
    body = ["%w = memref.load %i[%t] : " + I32, "%a = memref.load %x[%t] : " + F32, "%b = memref.load %y[%t] : " + F32]
    stored: list[str] = []
    for name in EIGHTS:
        for i, (lines, of) in enumerate(
            [
                (f"rocdl.cvt.f32.{name} %w[2] : f32", "f32"),
                (f"rocdl.cvt.pk.f32.{name} %w[true] : vector<2xf32>", "v"),
                (f"rocdl.cvt.pk.{name}.f32 %a, %b -> %w[true] : i32", "i32"),
                (f"rocdl.cvt.pk.{name}.f32 %a, %b -> %w[false] : i32", "i32"),
                (f"rocdl.cvt.sr.{name}.f32 %a, %w -> %w[1] : i32", "i32"),
            ]
        ):
            value = f"%{name}{i}"
            body.append(f"{value} = {lines}")
            if of == "v":
                body.append(f"{value}_e = vector.extract {value}[1] : f32 from vector<2xf32>")
                value, of = f"{value}_e", "f32"
            if of == "f32":
                body.append(f"{value}_i = arith.bitcast {value} : f32 to i32")
                value = f"{value}_i"
            stored.append(value)
    body.append("%r = rocdl.cvt.pkrtz %a, %b : vector<2xf16>")
    body.append("%r_v = vector.bitcast %r : vector<2xf16> to vector<1xi32>")
    body.append("%r_i = vector.extract %r_v[0] : i32 from vector<1xi32>")
    stored.append("%r_i")
    for place, value in enumerate(stored):
        body.append(f"%p{place} = arith.constant {place} : index")
        body.append(f"memref.store {value}, %o[%p{place}, %t] : memref<{len(stored)}x64xi32>")
    out = np.zeros((len(stored), LANES), np.int32)
    x, y, i = numbers(1), numbers(2), words(3)
    found = compared(
        "\n".join(body), f"%x: {F32}, %y: {F32}, %i: {I32}, %o: memref<{len(stored)}x64xi32>", x, y, i, out, chip=chip
    )
    dtype = ml_dtypes.float8_e4m3fnuz if chip == "gfx942" else ml_dtypes.float8_e4m3fn
    wanted = i.view(np.uint8).reshape(-1, 4)[:, 2].copy().view(dtype).astype(np.float32)
    assert np.array_equal(found[0].view(np.float32), wanted, equal_nan=True)
    finite = np.isfinite(x) & (np.abs(x) < 200)
    codes = found[2].view(np.uint8).reshape(-1, 4)[:, 2].copy()
    assert (codes.view(dtype)[finite] == x.astype(dtype)[finite]).all()


@pytest.mark.parametrize("small", ["fp8", "bf8", "fp4"])
@pytest.mark.parametrize("large", ["f32", "f16", "bf16"])
def test_conversions_with_scales(small: str, large: str) -> None:
    """Of pairs, in all parts of a register."""
    position = ("[0]", "[3]") if small == "fp4" else ("[false]", "[true]")
    held = "i32" if small == "fp4" else "vector<2xi16>"
    body = [f"%w = memref.load %i[%t] : {I32}", f"%a = memref.load %x[%t] : {F32}", f"%b = memref.load %y[%t] : {F32}"]
    body += [f"%s = memref.load %z[%t] : {F32}", "%wv = vector.broadcast %w : i32 to vector<1xi32>"]
    body += ["%old = vector.bitcast %wv : vector<1xi32> to vector<2xi16>"]
    old = "%w" if small == "fp4" else "%old"
    sources = "%a, %b"
    if large != "f32":
        body += [f"%ta = arith.truncf %a : f32 to {large}", f"%tb = arith.truncf %b : f32 to {large}"]
        body += [f"%pair = vector.from_elements %ta, %tb : vector<2x{large}>"]
        sources = "%pair"
    stored = []
    for n, at in enumerate(position):
        body.append(f"%d{n} = rocdl.cvt.scalef32.pk.{small}.{large} {sources}, %s -> {old}{at} : {held}")
        body.append(f"%e{n} = rocdl.cvt.scalef32.pk.{large}.{small} %w{at}, %s : vector<2x{large}>")
        if held == "i32":
            stored.append(f"%d{n}")
        else:
            body.append(f"%d{n}_v = vector.bitcast %d{n} : vector<2xi16> to vector<1xi32>")
            body.append(f"%d{n}_i = vector.extract %d{n}_v[0] : i32 from vector<1xi32>")
            stored.append(f"%d{n}_i")
        body.append(f"%e{n}_f = arith.extf %e{n} : vector<2x{large}> to vector<2xf32>" if large != "f32" else "")
        name = f"%e{n}_f" if large != "f32" else f"%e{n}"
        body.append(f"%e{n}_v = vector.bitcast {name} : vector<2xf32> to vector<2xi32>")
        for half in range(2):
            body.append(f"%e{n}_{half} = vector.extract %e{n}_v[{half}] : i32 from vector<2xi32>")
            stored.append(f"%e{n}_{half}")
    for place, value in enumerate(stored):
        body.append(f"%p{place} = arith.constant {place} : index")
        body.append(f"memref.store {value}, %o[%p{place}, %t] : memref<{len(stored)}x64xi32>")
    scales = np.exp2(np.random.default_rng(5).integers(-5, 6, LANES)).astype(np.float32) * np.float32(1.5)
    arguments = f"%x: {F32}, %y: {F32}, %z: {F32}, %i: {I32}, %o: memref<{len(stored)}x64xi32>"
    arrays = [numbers(1), numbers(2), scales, words(3), np.zeros((len(stored), LANES), np.int32)]
    found = compared("\n".join(body), arguments, *arrays, chip="gfx950")
    bits = 4 if small == "fp4" else 8
    codes = unpack(arrays[3].view(np.uint8).reshape(LANES, 4), bits)
    exact = widen(codes, np.dtype(SMALL[small]))[:, 0] * scales / 1.5
    fine = np.isfinite(exact) & (np.abs(exact) < 60000)
    assert (found[1].view(np.float32)[fine] == exact[fine]).all()


@pytest.mark.parametrize("small", ["fp6", "bf6"])
def test_32_floats_of_6_bits(small: str) -> None:
    body, stored = [f"%s = memref.load %z[%t] : {F32}"], []
    body += ["%none = arith.constant 0 : i32", "%zero = arith.constant 0.0 : f32"]
    body += ["%six = vector.transfer_read %i[%t, %c0], %none {in_bounds = [true]} : memref<64x6xi32>, vector<6xi32>"]
    body += ["%u = vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<64x16xf32>, vector<16xf32>"]
    body += ["%v = vector.transfer_read %y[%t, %c0], %zero {in_bounds = [true]} : memref<64x16xf32>, vector<16xf32>"]
    body += [f"%twice = rocdl.cvt.scalef32.2xpk16.{small}.f32 %u, %v, %s : vector<6xi32>"]
    body += ["vector.transfer_write %twice, %n[%t, %c0] {in_bounds = [true]} : vector<6xi32>, memref<64x6xi32>"]
    for large in ("f32", "f16", "bf16"):
        body += [f"%{large} = rocdl.cvt.scalef32.pk32.{large}.{small} %six, %s : vector<32x{large}>"]
        if large != "f32":
            body += [f"%back{large} = rocdl.cvt.scalef32.pk32.{small}.{large} %{large}, %s : vector<6xi32>"]
            body += [f"%w{large} = arith.addi %back{large}, %twice : vector<6xi32>"]
            stored.append(f"%w{large}")
    body += ["vector.transfer_write %f32, %o[%t, %c0] {in_bounds = [true]} : vector<32xf32>, memref<64x32xf32>"]
    body += [f"%more = arith.addi {stored[0]}, {stored[1]} : vector<6xi32>"]
    body += ["vector.transfer_write %more, %n[%t, %c0] {in_bounds = [true]} : vector<6xi32>, memref<64x6xi32>"]
    arguments = f"%z: {F32}, %i: memref<64x6xi32>, %x: memref<64x16xf32>, %y: memref<64x16xf32>"
    scales = np.exp2(np.random.default_rng(5).integers(-3, 4, LANES)).astype(np.float32)
    arrays = [scales, words(3, (LANES, 6)), numbers(1, 1024).reshape(64, 16), numbers(2, 1024).reshape(64, 16)]
    for last, of in (
        ("%n: memref<64x6xi32>, %o: memref<64x32xf32>", 2),
        ("%o: memref<64x32xf32>, %n: memref<64x6xi32>", 2),
    ):
        outputs = [np.zeros((64, 6), np.int32), np.zeros((64, 32), np.float32)]
        if last.startswith("%o"):
            outputs.reverse()
        assert len(outputs) == of
        found = compared("\n".join(body), f"{arguments}, {last}", *arrays, *outputs, chip="gfx950")
        if found.dtype == np.float32:
            codes = unpack(arrays[1].view(np.uint8).reshape(LANES, -1), 6)
            assert (found == widen(codes, np.dtype(SMALL[small])) * scales[:, None]).all()


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_conversions_of_amdgpu(chip: str) -> None:
    eight = "f8E4M3FNUZ" if chip == "gfx942" else "f8E4M3FN"
    body = f"""
    %a = memref.load %x[%t] : {F32}
    %b = memref.load %y[%t] : {F32}
    %w = memref.load %i[%t] : {I32}
    %wv = vector.broadcast %w : i32 to vector<1xi32>
    %old = vector.bitcast %wv : vector<1xi32> to vector<4x{eight}>
    %p = amdgpu.packed_trunc_2xfp8 %a, %b into %old[word 1] : f32 to vector<4x{eight}> into vector<4x{eight}>
    %q = amdgpu.packed_stoch_round_fp8 %b + %w into %p[1] : f32 to vector<4x{eight}> into vector<4x{eight}>
    MORE
    %pair = amdgpu.ext_packed_fp8 %q[1] : vector<4x{eight}> to vector<2xf32>
    %one = amdgpu.ext_packed_fp8 %q[1] : vector<4x{eight}> to f32
    %e = vector.extract %pair[0] : f32 from vector<2xf32>
    %qi = vector.bitcast %q : vector<4x{eight}> to vector<1xi32>
    %qw = vector.extract %qi[0] : i32 from vector<1xi32>
    %qf = arith.bitcast %qw : i32 to f32
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    memref.store %e, %o[%c0, %t] : memref<3x64xf32>
    memref.store %one, %o[%c1, %t] : memref<3x64xf32>
    memref.store %qf, %o[%c2, %t] : memref<3x64xf32>"""
    arguments = f"%x: {F32}, %y: {F32}, %i: {I32}, %o: memref<3x64xf32>"
    arrays = [numbers(1), numbers(2), words(3), np.zeros((3, LANES), np.float32)]
    compared(body.replace("MORE", ""), arguments, *arrays, chip=chip)
    if chip == "gfx942":
        text = body.replace("MORE", "").replace("FNUZ", "FN")
        with pytest.raises(
            smalti.CompileError, match="the op converts the 8-bit type float8_e4m3fn; sim:gfx942 converts only"
        ):
            compared(text, arguments, *arrays, chip=chip)
        return
    more = f"""
    %two = vector.from_elements %a, %b : vector<2xf32>
    %r = amdgpu.packed_scaled_trunc %two into %q[1], %b : vector<2xf32> to vector<4x{eight}> into vector<4x{eight}>
    %s = amdgpu.scaled_ext_packed %r[1], %a : vector<4x{eight}> to vector<2xf32>
    %sa = vector.extract %s[0] : f32 from vector<2xf32>"""
    compared(body.replace("MORE", more).replace("%e, %o", "%sa, %o"), arguments, *arrays, chip=chip)


@pytest.mark.parametrize("name", SMALL)
def test_rounding_is_that_of_ml_dtypes(name: str) -> None:
    dtype = np.dtype(SMALL[name])
    values = np.random.default_rng(0).standard_normal((1, 4096)) * 4
    largest = float(ml_dtypes.finfo(dtype).max)
    values = np.clip(values, -largest, largest)
    codes = narrow(values, dtype)
    assert (codes == values.astype(np.float32).astype(dtype).view(np.uint8)).all()
    bits = {"fp4": 4, "fp6": 6, "bf6": 6}.get(name, 8)
    assert (unpack(pack(codes, bits), bits) == codes).all()


def test_chips_without_them() -> None:
    body = "%w = arith.constant 1 : i32\n%v = rocdl.cvt.f32.fp8 %w[0] : f32\nmemref.store %v, %o[%t] : memref<64xf32>"
    text = f"""gpu.module @m {{ gpu.func @k(%o: {F32}) kernel attributes {{
      known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %t = gpu.thread_id x
    {body}
    gpu.return
  }} }}"""
    sim.simulate(text, "sim:gfx942")
    with pytest.raises(smalti.CompileError, match="sim:gfx1100 does not have conversions of 8-bit floats"):
        sim.simulate(text, "sim:gfx1100")
