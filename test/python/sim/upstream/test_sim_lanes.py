# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Communication between lanes of a warp: shuffles, votes, reductions and permutations, against the emulator."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from helpers import gpu_kernel
from smalti import sim
from smalti.errors import CompileError, LaunchError

LANES = {"sm_100a": 32, "sm_80": 32, "gfx942": 64, "gfx950": 64, "gfx1201": 32}


def program(body: str, outputs: int, lanes: int, head: str = "") -> str:
    """A warp that has words %v, %f of floats and %t of lanes; `body` ends in %r0, %r1, ... of i32."""
    stores = "\n".join(
        f"    %row{i} = arith.constant {i} : index\n    memref.store %r{i}, %o[%row{i}, %lane] : memref<{outputs}x{lanes}xi32>"
        for i in range(outputs)
    )
    return gpu_kernel(
        f"%a: memref<{lanes}xi32>, %o: memref<{outputs}x{lanes}xi32>",
        f"""    %lane = gpu.thread_id x
    %t = arith.index_cast %lane : index to i32
    %all = arith.constant -1 : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %five = arith.constant 5 : i32
    %clamp = arith.constant 31 : i32
    %v = memref.load %a[%lane] : memref<{lanes}xi32>
    %bit = arith.andi %v, %one : i32
    %odd = arith.cmpi eq, %bit, %one : i32
    %f = arith.sitofp %v : i32 to f32
{head}
{body}
{stores}""",
        lanes,
    )


def words(lanes: int) -> np.ndarray:
    generator = np.random.default_rng(5)
    return generator.integers(-3, 4, lanes).astype(np.int32) * np.where(generator.random(lanes) < 0.5, 1, 1 << 20)


def results(body: str, outputs: int, chip: str) -> np.ndarray:
    """The simulator's results, which equal the emulator's."""
    lanes = LANES[chip]
    text, given = program(body, outputs, lanes), words(lanes).astype(np.int32)
    found, wanted = np.zeros((2, outputs, lanes), np.int32)
    smalti.compile(text, target=f"sim:{chip}")(given, found)
    smalti.compile(text, target=f"emu:{chip}")(given, wanted)
    for row in range(outputs):
        assert found[row].tolist() == wanted[row].tolist(), f"%r{row} on {chip}"
    return found


VOTES = """
    %low = arith.cmpi ult, %t, %five : i32
    %few = arith.constant 31 : i32
    %rest = arith.constant -32 : i32
    %mask = arith.select %low, %few, %rest : i32
    %any = nvvm.vote.sync any %mask, %odd -> i1
    %each = nvvm.vote.sync all %mask, %low -> i1
    %uni = nvvm.vote.sync uni %all, %low -> i1
    %r0 = nvvm.vote.sync ballot %mask, %odd -> i32
    %r1 = arith.extui %any : i1 to i32
    %r2 = arith.extui %each : i1 to i32
    %r3 = arith.extui %uni : i1 to i32
    %r4 = nvvm.match.sync any %mask, %v : i32 -> i32
    %matched = nvvm.match.sync all %mask, %mask : i32 -> !llvm.struct<(i32, i1)>
    %r5 = llvm.extractvalue %matched[0] : !llvm.struct<(i32, i1)>
    %same = llvm.extractvalue %matched[1] : !llvm.struct<(i32, i1)>
    %r6 = arith.extui %same : i1 to i32
    %shuffled = nvvm.shfl.sync up %mask, %v, %one, %zero {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
    %r7 = llvm.extractvalue %shuffled[0] : !llvm.struct<(i32, i1)>
    %valid = llvm.extractvalue %shuffled[1] : !llvm.struct<(i32, i1)>
    %r8 = arith.extui %valid : i1 to i32
    %r9 = nvvm.read.ptx.sreg.lanemask.lt : i32
    %wide = arith.extsi %v : i32 to i64
    %r10 = nvvm.match.sync any %all, %wide : i64 -> i32
    %elected = nvvm.elect.sync -> i1
    %r11 = arith.extui %elected : i1 to i32
"""
VOTES = VOTES.replace("%shuffled = nvvm.shfl.sync up %mask", "%shuffled = nvvm.shfl.sync up %all")


def test_votes() -> None:
    found = results(VOTES, 12, "sm_80")
    odd, low = words(32) & 1 == 1, np.arange(32) < 5
    ballot = sum(1 << lane for lane in range(32) if odd[lane])
    assert (found[0].view(np.uint32) == np.where(low, ballot & 31, ballot & ~31)).all()
    assert (found[2] == low).all() and not found[3].any()
    assert found[8].tolist() == [0] + [1] * 31 and found[11].sum() == 1


REDUX = ("add", "and", "max", "min", "or", "umax", "umin", "xor")


def test_reductions_of_words() -> None:
    head = """
    %low = arith.cmpi ult, %t, %five : i32
    %few = arith.constant 31 : i32
    %rest = arith.constant -32 : i32
    %mask = arith.select %low, %few, %rest : i32"""
    body = "\n".join(f"    %r{i} = nvvm.redux.sync {kind} %v, %mask : i32 -> i32" for i, kind in enumerate(REDUX))
    found = results(head + body, len(REDUX), "sm_80")
    given = words(32)
    assert found[0, 0] == given[:5].sum() and found[0, 5] == given[5:].sum() and found[3, 31] == given[5:].min()


@pytest.mark.parametrize("odd", ["nothing", "zeros", "nan", "nans"])
def test_reductions_of_floats(odd: str) -> None:
    x = {
        "nothing": np.linspace(-3, 4, 32),
        "zeros": np.where(np.arange(32) % 2, 0.0, -0.0),
        "nan": np.where(np.arange(32) == 7, np.nan, np.arange(32) - 40.0),
        "nans": np.full(32, np.nan),
    }[odd].astype(np.float32)
    body = """
    %g = arith.bitcast %v : i32 to f32
    %x0 = nvvm.redux.sync fmin %g, %all : f32 -> f32
    %x1 = nvvm.redux.sync fmax %g, %all {nan = true} : f32 -> f32
    %x2 = nvvm.redux.sync fmax %g, %all {abs = true} : f32 -> f32
    %r0 = arith.bitcast %x0 : f32 to i32
    %r1 = arith.bitcast %x1 : f32 to i32
    %r2 = arith.bitcast %x2 : f32 to i32"""
    found = np.zeros((3, 32), np.int32)
    smalti.compile(program(body, 3, 32), target="sim:sm_100a")(x.view(np.int32), found)
    nan = 0x7FFFFFFF
    bits = [np.float32(f(x)).view(np.int32) for f in (np.fmin.reduce, np.max, lambda y: np.fmax.reduce(np.abs(y)))]
    wanted = {
        "nothing": bits,
        "zeros": [np.int32(-(1 << 31)), 0, 0],
        "nan": [bits[0], nan, bits[2]],
        "nans": [nan, nan, nan],
    }[odd]
    assert (found == np.array(wanted)[:, None]).all()


EXCHANGES = """
    %r0 = rocdl.ds_bpermute %v, %t : (i32, i32) -> i32
    %pattern = llvm.mlir.constant(PATTERN : i32) : i32
    %r1 = rocdl.ds_swizzle %v, %pattern : (i32, i32) -> i32
    %votes = rocdl.ballot %odd : i64
    %r2 = arith.trunci %votes : i64 to i32
    %r3 = rocdl.update.dpp %t, %v with CONTROL, 13, 7, true : i32
    %r4 = rocdl.update.dpp %t, %v with CONTROL, 15, 14, false : i32
    %r5 = rocdl.readlane %v, %five : (i32, i32) -> i32
"""


@pytest.mark.parametrize("chip", ["gfx942", "gfx1201"])
@pytest.mark.parametrize(
    ("pattern", "control"), [(0x041F, 0x1B), (0x801B, 0x101), (0xC0A3, 0x113), (0xE003, 0x12F), (0xC523, 0x141)]
)
def test_wave_permutations(chip: str, pattern: int, control: int) -> None:
    body = EXCHANGES.replace("PATTERN", str(pattern)).replace("CONTROL", str(control))
    found = results(body, 6, chip)
    assert (found[5] == words(LANES[chip])[5]).all()


@pytest.mark.parametrize("control", [0x130, 0x134, 0x138, 0x13C, 0x140, 0x142, 0x143])
def test_moves_of_waves_of_64(control: int) -> None:
    results(f"    %r0 = rocdl.update.dpp %t, %v with {control}, 15, 15, false : i32", 1, "gfx942")


def test_moves_of_waves_of_32() -> None:
    body = """
    %low = arith.constant 0x76543210 : i32
    %high = arith.constant 0x0123fedc : i32
    %r0 = rocdl.permlanex16 %t, %v, %low, %high, true, false : i32, i32
    %r1 = rocdl.update.dpp %t, %v with 0x157, 15, 15, false : i32
    %r2 = rocdl.update.dpp %t, %v with 0x163, 15, 15, false : i32"""
    results(body.replace("0x157", "343").replace("0x163", "355"), 3, "gfx1201")
    with pytest.raises(CompileError, match=r"chips with a wave size of 32 do not have the DPP control row_bcast_15"):
        results("    %r0 = rocdl.update.dpp %t, %v with 322, 15, 15, false : i32", 1, "gfx1201")


@pytest.mark.parametrize("length", [16, 32])
def test_rows_are_swapped(length: int) -> None:
    body = f"""
    %pair = rocdl.permlane{length}.swap %v, %t, false, false : (i32, i32) -> <(i32, i32)>
    %r0 = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i32)>
    %r1 = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i32)>
    %r2 = amdgpu.permlane_swap %v {length} : i32"""
    found = results(body, 3, "gfx950")
    assert (found[2] == words(64)[np.arange(64) ^ length]).all()


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_lanes_of_either_vendor(chip: str) -> None:
    body = """
    %r0, %valid = gpu.rotate %v, 3, 16 : i32
    %lower = arith.cmpi ult, %t, %two : i32
    %r1 = gpu.subgroup_broadcast %v, specific_lane %five : i32
    %r2 = scf.if %lower -> i32 {
      scf.yield %zero : i32
    } else {
      %first = gpu.subgroup_broadcast %v, first_active_lane : i32
      scf.yield %first : i32
    }
    %r3 = gpu.all_reduce add %v {} : (i32) -> i32
    %r4 = arith.extui %valid : i1 to i32"""
    lanes = LANES[chip]
    found, given = np.zeros((5, lanes), np.int32), words(lanes).astype(np.int32)
    smalti.compile(program(body, 5, lanes), target=f"sim:{chip}")(given, found)
    lane = np.arange(lanes)
    assert (found[0, :16] == given[(lane + 3)[:16] % 16]).all() and (found[4] == (lane < 16)).all()
    assert (found[1] == given[5]).all() and found[2].tolist() == [0, 0] + [given[2]] * (lanes - 2)
    assert (found[3] == given.sum(dtype=np.int32)).all()


def test_a_reduction_of_several_warps() -> None:
    text = """gpu.module @m {
  gpu.func @k(%a: memref<80xf32>, %o: memref<80xf32>) kernel attributes {
      known_block_size = array<i32: 80, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<80xf32>
    %r = gpu.all_reduce maximumf %x {} : (f32) -> f32
    memref.store %r, %o[%t] : memref<80xf32>
    gpu.return
  }
}"""
    for order in ("adversarial", "highest-first"):
        a, o = np.random.default_rng(2).standard_normal(80, np.float32), np.zeros(80, np.float32)
        smalti.compile(text, target="sim:sm_90a")(a, o, simulation=sim.Simulation(order))
        assert (o == a.max()).all()


def parted(inside: str) -> str:
    """Lanes from 5 on are active."""
    return f"""
    %upper = arith.cmpi uge, %t, %five : i32
    %rest = arith.constant -32 : i32
    %r0 = scf.if %upper -> i32 {{
      {inside}
      scf.yield %got : i32
    }} else {{
      scf.yield %zero : i32
    }}"""


@pytest.mark.parametrize(
    ("inside", "chip", "message"),
    [
        (
            "%got = nvvm.vote.sync ballot %all, %odd -> i32",
            "sm_80",
            "the vote with mask 0xffffffff diverges: lane 0 of warp 0",
        ),
        (
            "%got = nvvm.redux.sync add %v, %one : i32 -> i32",
            "sm_80",
            "the reduction is executed by lane 5, which is not in its own mask 0x1",
        ),
        ("%got = nvvm.shfl.sync idx %rest, %v, %two, %clamp : i32 -> i32", "sm_80", "the shuffle reads lane 2"),
        (
            "%got = nvvm.match.sync any %t, %v : i32 -> i32",
            "sm_80",
            "the match is executed by lane 5, which is not in its own mask 0x5",
        ),
        ("%got = rocdl.readlane %v, %two : (i32, i32) -> i32", "gfx942", "the permutation reads lane 2 of wave 0"),
        (
            "%got = gpu.subgroup_broadcast %v, specific_lane %two : i32",
            "gfx942",
            "the broadcast reads lane 2 of wave 0",
        ),
    ],
)
def test_lanes_that_are_inactive(inside: str, chip: str, message: str) -> None:
    made = sim.simulate(program(parted(inside), 1, LANES[chip]), chip)
    (finding,) = made.find(*made.random_arguments())
    assert finding.kind == "divergence" and finding.message.startswith(message), finding.message


def test_lanes_that_converge_at_another_op() -> None:
    """Divergent threads may vote together on both paths of a condition."""
    text = parted("%got = nvvm.vote.sync ballot %all, %odd -> i32")
    both = text.replace(
        "scf.yield %zero : i32", "%other = nvvm.vote.sync ballot %all, %odd -> i32\nscf.yield %other : i32"
    )
    made = sim.simulate(program(both, 1, 32), "sm_80")
    with pytest.raises(LaunchError, match="runs the lanes of a warp in lockstep"):
        made.find(*made.random_arguments())


@pytest.mark.parametrize(
    ("inside", "chip"),
    [
        ("%got = nvvm.vote.sync ballot %rest, %odd -> i32", "sm_80"),
        ("%got = nvvm.redux.sync xor %v, %rest : i32 -> i32", "sm_80"),
        ("%got = nvvm.shfl.sync bfly %rest, %v, %zero, %clamp : i32 -> i32", "sm_80"),
        ("%got = rocdl.ds_bpermute %v, %t : (i32, i32) -> i32", "gfx942"),
        ("%votes = rocdl.ballot %odd : i64\n%got = arith.trunci %votes : i64 to i32", "gfx942"),
        ("%got = rocdl.update.dpp %t, %v with 273, 15, 15, false : i32", "gfx942"),
    ],
)
def test_permutations_of_some_lanes(inside: str, chip: str) -> None:
    results(parted(inside), 1, chip)


def test_missing_features_of_a_chip_are_reported() -> None:
    for body, message in (
        ("%r0 = rocdl.permlanex16 %t, %v, %v, %v, true, false : i32, i32", "gfx942 does not have this instruction"),
        (
            "%r0 = rocdl.ballot %odd : i32",
            "the result has type i32; it must be an integer with a bit for each of the 64 lanes",
        ),
    ):
        with pytest.raises(CompileError) as error:
            smalti.compile(program(body, 1, 64), target="sim:gfx942")
        assert message in str(error.value)
