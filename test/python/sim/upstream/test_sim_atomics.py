# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic accesses: results, memory order, and blocks that wait for each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import smalti
from helpers import SHARED
from smalti import sim
from smalti.errors import CompileError, LaunchError
from smalti.sim import mutants

ORDERS = ("adversarial", "round-robin", "highest-first", "random:3")
HEAD = """
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %ti = arith.index_cast %t : index to i32
    %bi = arith.index_cast %b : index to i32
    %first = arith.cmpi eq, %t, %c0 : index
    %is0 = arith.cmpi eq, %b, %c0 : index"""


def pointer(name: str, ty: str) -> str:
    """The pointer of an argument."""
    return f"""
    %{name}_index = memref.extract_aligned_pointer_as_index %{name} : {ty} -> index
    %{name}_number = arith.index_cast %{name}_index : index to i64
    %{name}_pointer = llvm.inttoptr %{name}_number : i64 to !llvm.ptr<1>"""


def program(body: str, arguments: dict[str, str], threads: int = 64, grid: int = 1) -> str:
    given = ", ".join(f"%{name}: {ty}" for name, ty in arguments.items())
    pointers = "".join(pointer(name, ty) for name, ty in arguments.items())
    return f"""gpu.module @m {{
  gpu.func @k({given}) kernel attributes {{
      known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: {grid}, 1, 1>}} {{{HEAD}{pointers}
{body}
    gpu.return
  }}
}}"""


def find(text: str, chip: str = "sm_90a", order: str = "adversarial", **how: Any) -> tuple[sim.Finding, ...]:
    made = sim.simulate(text, chip)
    arrays = [np.zeros_like(array) for array in made.random_arguments()]
    return made.find(*arrays, simulation=sim.Simulation(order, **how))


# Numbers.

HISTOGRAM = f"""
    %bins = memref.alloc() : memref<8xi32, {SHARED}>
    %c8 = arith.constant 8 : index
    %starts = arith.cmpi ult, %t, %c8 : index
    scf.if %starts {{
      memref.store %zero, %bins[%t] : memref<8xi32, {SHARED}>
    }}
    gpu.barrier
    %v = memref.load %x[%b, %t] : memref<3x64xi32>
    %bin = arith.index_cast %v : i32 to index
    %old = memref.atomic_rmw addi %one, %bins[%bin] : (i32, memref<8xi32, {SHARED}>) -> i32
    memref.store %old, %ranks[%b, %t] : memref<3x64xi32>
    BARRIER
    scf.if %starts {{
      %n = memref.load %bins[%t] : memref<8xi32, {SHARED}>
      %more = memref.atomic_rmw addi %n, %o[%t] : (i32, memref<8xi32>) -> i32
    }}"""


def histogram(barrier: str = "gpu.barrier") -> str:
    arguments = {"x": "memref<3x64xi32>", "o": "memref<8xi32>", "ranks": "memref<3x64xi32>"}
    return program(HISTOGRAM.replace("BARRIER", barrier), arguments, grid=3)


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_a_histogram_of_several_blocks(chip: str) -> None:
    x = np.random.default_rng(1).integers(0, 8, (3, 64)).astype(np.int32)
    for order in ORDERS:
        o, ranks = np.zeros(8, np.int32), np.full((3, 64), -1, np.int32)
        smalti.compile(histogram(), target=f"sim:{chip}")(x, o, ranks, simulation=sim.Simulation(order))
        assert (o == np.bincount(x.ravel(), minlength=8)).all()
        for block in range(3):
            for value in range(8):
                mine = ranks[block][x[block] == value]
                assert sorted(mine.tolist()) == list(range(len(mine)))
    # The last updater has acquired the accesses of the others, so the findings depend on the order. The wave of 64 runs
    # in lockstep.
    found = [f for order in ORDERS for f in find(histogram(""), chip, order)]
    assert {f.kind for f in found} == (set() if chip == "gfx942" else {"race"})
    assert all("it is not ordered with" in f.message and "the atomic access" in f.message for f in found)


BINARY: dict[str, Any] = {
    "xchg": lambda a, b: b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "_and": lambda a, b: a & b,
    "nand": lambda a, b: ~(a & b),
    "_or": lambda a, b: a | b,
    "_xor": lambda a, b: a ^ b,
    "max": max,
    "min": min,
    "umax": lambda a, b: max(a & 0xFFFFFFFF, b & 0xFFFFFFFF),
    "umin": lambda a, b: min(a & 0xFFFFFFFF, b & 0xFFFFFFFF),
    "uinc_wrap": lambda a, b: 0 if a & 0xFFFFFFFF >= b & 0xFFFFFFFF else a + 1,
    "udec_wrap": lambda a, b: b if a == 0 or a & 0xFFFFFFFF > b & 0xFFFFFFFF else a - 1,
    "usub_cond": lambda a, b: a - b if a & 0xFFFFFFFF >= b & 0xFFFFFFFF else a,
    "usub_sat": lambda a, b: a - b if a & 0xFFFFFFFF >= b & 0xFFFFFFFF else 0,
    "fadd": lambda a, b: np.float32(a + b),
    "fsub": lambda a, b: np.float32(a - b),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmaximum": np.maximum,
    "fminimum": np.minimum,
}


def wrapped(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize("name", BINARY)
def test_every_reduction(name: str) -> None:
    """Lanes with the same address run one after another, and each reads its predecessor's value."""
    floats = name.startswith("f")
    ty = "f32" if floats else "i32"
    body = f"""
    %v = memref.load %x[%t] : memref<64x{ty}>
    %c3 = arith.constant 3 : i32
    %at = arith.remui %ti, %c3 : i32
    %p = llvm.getelementptr %o_pointer[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {ty}
    %old = llvm.atomicrmw {name} %p, %v syncscope("device") monotonic : !llvm.ptr<1>, {ty}
    memref.store %old, %r[%t] : memref<64x{ty}>"""
    text = program(body, {"x": f"memref<64x{ty}>", "o": f"memref<3x{ty}>", "r": f"memref<64x{ty}>"})
    generator = np.random.default_rng(4)
    if floats:
        x, o = generator.standard_normal(64, np.float32), np.array([0.5, -0.0, 3], np.float32)
        x[7] = np.nan
    else:
        x, o = generator.integers(-9, 9, 64).astype(np.int32), np.array([5, -7, 0], np.int32)
    before, r = o.copy(), np.zeros_like(x)
    smalti.compile(text, target="sim:sm_90a")(x, o, r)
    wanted, olds = before.tolist() if not floats else list(before), []
    for lane in range(64):
        olds.append(wanted[lane % 3])
        new = BINARY[name](wanted[lane % 3], x[lane] if floats else int(x[lane]))
        wanted[lane % 3] = new if floats else wrapped(new)
    assert r.tobytes() == np.array(olds, x.dtype).tobytes()
    assert o.tobytes() == np.array(wanted, x.dtype).tobytes()


def test_regions_that_compute_the_stored_value() -> None:
    body = """
    %old = memref.generic_atomic_rmw %o[%c1] : memref<2xf32> {
    ^bb0(%now : f32):
      %half = arith.constant 0.5 : f32
      %less = arith.mulf %now, %half : f32
      %more = arith.addf %less, %half : f32
      memref.atomic_yield %more : f32
    }
    memref.store %old, %r[%t] : memref<64xf32>"""
    o, r = np.array([7, 9], np.float32), np.zeros(64, np.float32)
    smalti.compile(program(body, {"o": "memref<2xf32>", "r": "memref<64xf32>"}), target="sim:gfx942")(o, r)
    wanted = [np.float32(9)]
    for _ in range(64):
        wanted.append(np.float32(wanted[-1] * np.float32(0.5) + np.float32(0.5)))
    assert r.tolist() == wanted[:-1] and o.tolist() == [7, wanted[-1]]


def test_one_lane_swaps_and_the_others_see_it() -> None:
    body = """
    %new = arith.addi %ti, %two : i32
    %pair = llvm.cmpxchg %o_pointer, %zero, %new acq_rel monotonic : !llvm.ptr<1>, i32
    %old = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %done = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %d = arith.extui %done : i1 to i32
    memref.store %old, %r[%c0, %t] : memref<2x64xi32>
    memref.store %d, %r[%c1, %t] : memref<2x64xi32>"""
    o, r = np.zeros(1, np.int32), np.zeros((2, 64), np.int32)
    smalti.compile(program(body, {"o": "memref<1xi32>", "r": "memref<2x64xi32>"}), target="sim:sm_80")(o, r)
    assert o[0] == 2 and r[0].tolist() == [0] + [2] * 63 and r[1].tolist() == [1] + [0] * 63


@pytest.mark.parametrize("chip", ["sm_90a", "gfx942", "gfx1201"])
def test_a_reduction_of_halves(chip: str) -> None:
    body = """
    %i = arith.addi %t, %t : index
    %v = vector.load %x[%i] : memref<128xf16>, vector<2xf16>
    %old = llvm.atomicrmw fadd %o_pointer, %v syncscope("SCOPE") monotonic : !llvm.ptr<1>, vector<2xf16>"""
    body = body.replace("SCOPE", "device" if chip.startswith("sm") else "agent")
    x, o = np.arange(128).astype(np.float16), np.zeros(2, np.float16)
    smalti.compile(program(body, {"x": "memref<128xf16>", "o": "memref<2xf16>"}), target=f"sim:{chip}")(x, o)
    assert o.tolist() == x.reshape(64, 2).sum(0).tolist()


# Ordering by atomics: a block signals to another that its writes are available.

RELEASE = 'llvm.store %one, %flag_pointer atomic syncscope("SCOPE") release {alignment = 4 : i64} : i32, !llvm.ptr<1>'
ACQUIRE = '%f = llvm.load %flag_pointer atomic syncscope("SCOPE") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32'


def handover(release: str = RELEASE, acquire: str = ACQUIRE, writer: int = 1, chip: str = "sm_90a") -> str:
    """One of two blocks writes, the other waits for its flag and reads."""
    body = f"""
    %writer = arith.constant {writer} : index
    %writes = arith.cmpi eq, %b, %writer : index
    scf.if %writes {{
      memref.store %ti, %data[%t] : memref<64xi32>
      gpu.barrier
      scf.if %first {{
        {release}
      }}
    }} else {{
      scf.if %first {{
        scf.while : () -> () {{
          {acquire}
          %again = arith.cmpi eq, %f, %zero : i32
          scf.condition(%again)
        }} do {{
          scf.yield
        }}
      }}
      gpu.barrier
      %v = memref.load %data[%t] : memref<64xi32>
      memref.store %v, %o[%t] : memref<64xi32>
    }}"""
    arguments = {"data": "memref<64xi32>", "flag": "memref<1xi32>", "o": "memref<64xi32>"}
    text = program(body, arguments, grid=2)
    return text.replace("SCOPE", "device" if chip.startswith("sm") else "agent")


FENCED = {
    "release": """llvm.fence syncscope("SCOPE") release
      llvm.store %one, %flag_pointer atomic syncscope("SCOPE") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>""",
    "acquire": """%f = llvm.load %flag_pointer atomic syncscope("SCOPE") monotonic {alignment = 4 : i64}
          : !llvm.ptr<1> -> i32
        llvm.fence syncscope("SCOPE") acquire""",
}


@pytest.mark.grid(6)
@pytest.mark.parametrize("chip", ["sm_90a", "gfx942", "gfx1201"])
@pytest.mark.parametrize("writer", [0, 1])
@pytest.mark.parametrize("fenced", [False, True])
def test_blocks_that_wait_for_each_other(chip: str, writer: int, fenced: bool) -> None:
    text = handover(writer=writer, chip=chip, **(FENCED if fenced else {}))
    for order in ORDERS:
        data, flag, o = np.zeros(64, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
        smalti.compile(text, target=f"sim:{chip}")(data, flag, o, simulation=sim.Simulation(order))
        assert (o == np.arange(64)).all() and flag[0] == 1
    made = sim.simulate(text, chip)
    outcomes = mutants.score(made, [np.zeros_like(a) for a in made.random_arguments()])
    assert [str(o) for o in outcomes if not o.caught] == []
    kinds = {o.mutant.kind for o in outcomes}
    assert kinds >= ({"fence dropped"} if fenced else {"ordering weakened", "scope narrowed"})
    assert chip == "gfx942" or "barrier removed" in kinds


@pytest.mark.parametrize(
    "changed",
    [
        {"release": RELEASE.replace("release", "monotonic")},
        {"acquire": ACQUIRE.replace("acquire", "monotonic")},
        {"release": RELEASE.replace("SCOPE", "block")},
        {"acquire": ACQUIRE.replace("SCOPE", "block")},
        {**FENCED, "release": RELEASE.replace("release", "monotonic")},
        {**FENCED, "acquire": FENCED["acquire"].replace("llvm.fence", 'llvm.fence syncscope("block") acquire //')},
    ],
)
def test_accesses_without_release_and_acquire_race(changed: dict[str, str]) -> None:
    found = find(handover(**changed), max_findings=100)
    assert {f.kind for f in found} == {"race"}
    race = next(f for f in found if "the load reads" in f.message)
    assert (
        race.hint is not None
        and "an atomic release after the first access and an atomic acquire before the second" in race.hint
    )


def test_membar_is_a_fence() -> None:
    sound = {
        name: text.replace('llvm.fence syncscope("SCOPE")', "nvvm.memory.barrier <gpu> //")
        for name, text in FENCED.items()
    }
    assert find(handover(**sound)) == ()
    narrow = {name: text.replace("<gpu>", "<cta>") for name, text in sound.items()}
    assert {f.kind for f in find(handover(**narrow))} == {"race"}


ASSEMBLY = {
    "release": """llvm.inline_asm has_side_effects "fence.acq_rel.gpu;", "~{memory}" : () -> ()
      llvm.inline_asm has_side_effects "st.relaxed.gpu.global.u32 [$0], $1;", "l,r" %flag_number, %one : (i64, i32) -> ()""",
    "acquire": """%f = llvm.inline_asm has_side_effects "ld.volatile.global.u32 $0, [$1];", "=r,l" %flag_number : (i64) -> i32
        llvm.inline_asm has_side_effects "membar.gl;", "~{memory}" : () -> ()""",
}


def test_assembly_orders_as_the_operations_do() -> None:
    text = handover(**ASSEMBLY)
    made = sim.simulate(text, "sm_90a")
    data, flag, o = np.zeros(64, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
    made(data, flag, o)
    assert (o == np.arange(64)).all()
    outcomes = mutants.score(made, [np.zeros_like(a) for a in made.random_arguments()])
    assert [str(o) for o in outcomes if not o.caught] == []
    assert [o.mutant.kind for o in outcomes].count("fence dropped") == 2
    acquire = {"acquire": ASSEMBLY["acquire"].split("\n")[0].replace("ld.volatile", "ld.acquire.gpu")}
    assert find(handover(**{**ASSEMBLY, **acquire})) == ()
    narrow = {"acquire": acquire["acquire"].replace("gpu", "cta")}
    assert {f.kind for f in find(handover(**{**ASSEMBLY, **narrow}))} == {"race"}


@pytest.mark.parametrize(
    ("text", "ty", "same"),
    [
        ("atom.add.s32 $0, [$1], $2;", "i32", "add"),
        ("atom.relaxed.gpu.global.max.u32 $0, [$1], $2;", "i32", "umax"),
        ("atom.min.s32 $0, [$1], $2;", "i32", "min"),
        ("atom.global.inc.u32 $0, [$1], $2;", "i32", "uinc_wrap"),
        ("atom.acq_rel.sys.global.exch.b32 $0, [$1], $2;", "i32", "xchg"),
        ("atom.add.f32 $0, [$1], $2;", "f32", "fadd"),
    ],
)
def test_updates_in_assembly(text: str, ty: str, same: str) -> None:
    """They have the semantics of LLVM's operations, each of which is tested."""
    body = """
    %v = memref.load %x[%t] : memref<64xTYPE>
    DO
    memref.store %old, %r[%t] : memref<64xTYPE>"""
    letter = "f" if ty == "f32" else "r"
    asm = (
        f'%old = llvm.inline_asm has_side_effects "{text}", "={letter},l,{letter}" %o_number, %v : (i64, {ty}) -> {ty}'
    )
    operation = f"%old = llvm.atomicrmw {same} %o_pointer, %v monotonic : !llvm.ptr<1>, {ty}"
    dtype = np.float32 if ty == "f32" else np.int32
    x = np.random.default_rng(8).integers(-5, 9, 64).astype(dtype)
    found = []
    for do in (asm, operation):
        memory = {"x": f"memref<64x{ty}>", "o": f"memref<1x{ty}>", "r": f"memref<64x{ty}>"}
        o, r = np.array([3], dtype), np.zeros(64, dtype)
        smalti.compile(program(body.replace("DO", do).replace("TYPE", ty), memory), target="sim:sm_90a")(x, o, r)
        found.append((o.tolist(), r.tolist()))
    assert found[0] == found[1]


def test_a_swap_and_a_reduction_in_assembly() -> None:
    body = """
    %new = arith.addi %ti, %two : i32
    %old = llvm.inline_asm has_side_effects "atom.acquire.gpu.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r"
        %o_number, %zero, %new : (i64, i32, i32) -> i32
    %p = arith.addi %o_number, %four : i64
    llvm.inline_asm has_side_effects "red.global.add.u32 [$0], $1;", "l,r" %p, %old : (i64, i32) -> ()"""
    o = np.array([0, 5], np.int32)
    text = program("%four = arith.constant 4 : i64" + body, {"o": "memref<2xi32>"})
    smalti.compile(text, target="sim:sm_80")(o)
    assert o.tolist() == [2, 5 + 63 * 2]
    with pytest.raises(CompileError, match=r"atom\.add\.noftz\.f16"):
        find(text.replace("atom.acquire.gpu.cas.b32", "atom.add.noftz.f16"))


LAST = """
    %mine = memref.load %x[%b, %t] : memref<4x64xi32>
    %old = llvm.atomicrmw add %sum_pointer, %mine syncscope("SCOPE") monotonic : !llvm.ptr<1>, i32
    memref.store %mine, %parts[%b, %t] : memref<4x64xi32>
    gpu.barrier
    %ticket = memref.alloc() : memref<1xi32, #gpu.address_space<workgroup>>
    scf.if %first {
      %n = llvm.atomicrmw add %count_pointer, %one syncscope("SCOPE") ORDER : !llvm.ptr<1>, i32
      memref.store %n, %ticket[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %place = memref.load %ticket[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    %three = arith.constant 3 : i32
    %last = arith.cmpi eq, %place, %three : i32
    scf.if %last {
      %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> i32 {
        %p = memref.load %parts[%i, %t] : memref<4x64xi32>
        %n = arith.addi %s, %p : i32
        scf.yield %n : i32
      }
      memref.store %s, %o[%t] : memref<64xi32>
      scf.if %first {
        %all = memref.load %sum[%c0] : memref<1xi32>
        memref.store %all, %total[%c0] : memref<1xi32>
      }
    }"""


def last_block(order: str, chip: str) -> str:
    arguments = {"x": "memref<4x64xi32>", "parts": "memref<4x64xi32>", "count": "memref<1xi32>", "o": "memref<64xi32>"}
    arguments |= {"sum": "memref<1xi32>", "total": "memref<1xi32>"}
    text = program(LAST.replace("ORDER", order), arguments, grid=4)
    return text.replace("SCOPE", "device" if chip.startswith("sm") else "agent")


@pytest.mark.parametrize("chip", ["sm_80", "gfx942"])
def test_the_last_block_reduces(chip: str) -> None:
    """The accesses of all blocks are known to the last one, through the counter."""
    x = np.random.default_rng(3).integers(-9, 9, (4, 64)).astype(np.int32)
    for schedule in ("adversarial", "highest-first"):
        parts, count, o = np.zeros((4, 64), np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
        whole, total = np.zeros((2, 1), np.int32)
        kernel = smalti.compile(last_block("acq_rel", chip), target=f"sim:{chip}")
        kernel(x, parts, count, o, whole, total, simulation=sim.Simulation(schedule))
        assert (o == x.sum(0)).all() and total[0] == x.sum()
    for order in ("monotonic", "acquire", "release"):
        assert {f.kind for f in find(last_block(order, chip), chip, max_findings=50)} == {"race"}, order


LOCK = """
    scf.if %first {
      scf.while : () -> () {
        %pair = llvm.cmpxchg %lock_pointer, %zero, %one syncscope("device") acquire monotonic : !llvm.ptr<1>, i32
        %mine = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
        %again = arith.xori %mine, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      %v = memref.load %o[%c0] : memref<1xi32>
      %w = arith.addi %v, %bi : i32
      memref.store %w, %o[%c0] : memref<1xi32>
      UNLOCK
    }"""
UNLOCK = (
    """llvm.store %zero, %lock_pointer atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>"""
)


def lock(unlock: str = UNLOCK) -> str:
    return program(LOCK.replace("UNLOCK", unlock), {"lock": "memref<1xi32>", "o": "memref<1xi32>"}, grid=5)


def test_blocks_take_a_lock() -> None:
    for order in ORDERS:
        taken, o = np.zeros(1, np.int32), np.zeros(1, np.int32)
        smalti.compile(lock(), target="sim:sm_90a")(taken, o, simulation=sim.Simulation(order))
        assert o[0] == 10 and taken[0] == 0
    assert {f.kind for f in find(lock(UNLOCK.replace("release", "monotonic")))} == {"race"}
    found = find(lock(""), max_findings=100)
    assert {f.kind for f in found} == {"deadlock"}
    assert "a write to the memory that 'llvm.cmpxchg' polls" in found[0].message


def test_a_lock_of_the_lanes_of_a_warp() -> None:
    """The threads of an NVIDIA warp may diverge; those of a wave do not."""
    text = lock().replace("scf.if %first {", "scf.if %true {").replace("device", "")
    with pytest.raises(LaunchError, match="runs the threads of a warp in lockstep"):
        find(text)
    assert {f.kind for f in find(text, "gfx942")} == {"deadlock"}


GRID = """
    scf.if %first {
      memref.store %one, %parts[%b] : memref<5xi32>
      %before = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
      scf.while : () -> () {
        %n = memref.atomic_rmw addi %zero, %count[%c0] : (i32, memref<1xi32>) -> i32
        %all = arith.constant 5 : i32
        %again = arith.cmpi slt, %n, %all : i32
        scf.condition(%again)
      } do {
        scf.yield
      }
      %c5 = arith.constant 5 : index
      %s = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %zero) -> i32 {
        %p = memref.load %parts[%i] : memref<5xi32>
        %more = arith.addi %s, %p : i32
        scf.yield %more : i32
      }
      memref.store %s, %o[%b] : memref<5xi32>
    }"""


@pytest.mark.parametrize("chip", ["sm_90a", "gfx1201"])
def test_all_blocks_wait_for_all(chip: str) -> None:
    memory = {"parts": "memref<5xi32>", "count": "memref<1xi32>", "o": "memref<5xi32>"}
    text = program(GRID, memory, grid=5)
    for order in ORDERS:
        parts, count, o = np.zeros(5, np.int32), np.zeros(1, np.int32), np.zeros(5, np.int32)
        smalti.compile(text, target=f"sim:{chip}")(parts, count, o, simulation=sim.Simulation(order))
        assert o.tolist() == [5] * 5
    (finding,) = find(text.replace("arith.constant 5 : i32", "arith.constant 6 : i32"), chip)
    assert finding.kind == "deadlock" and len(finding.others) == 4


def test_a_wait_that_gives_up() -> None:
    """A loop that counts continues, although the value that it reads does not change."""
    body = """
    scf.if %first {
      %c9 = arith.constant 9 : i32
      %n = scf.while (%i = %zero) : (i32) -> i32 {
        %f = llvm.load %flag_pointer atomic acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %off = arith.cmpi eq, %f, %zero : i32
        %few = arith.cmpi ult, %i, %c9 : i32
        %again = arith.andi %off, %few : i1
        scf.condition(%again) %i : i32
      } do {
      ^bb0(%i: i32):
        %next = arith.addi %i, %one : i32
        scf.yield %next : i32
      }
      memref.store %n, %o[%b] : memref<2xi32>
    }"""
    text = program(body, {"flag": "memref<1xi32>", "o": "memref<2xi32>"}, grid=2)
    for order in ORDERS:
        o = np.zeros(2, np.int32)
        smalti.compile(text, target="sim:sm_80")(np.zeros(1, np.int32), o, simulation=sim.Simulation(order))
        assert o.tolist() == [9, 9]


# Races.


def test_accesses_that_are_not_atomic_are_races() -> None:
    update = "%old = memref.atomic_rmw addi %one, %o[%c0] : (i32, memref<1xi32>) -> i32"
    plain = """scf.if %first {
      memref.store %zero, %o[%c0] : memref<1xi32>
    }"""
    memory = {"o": "memref<1xi32>"}
    for body in (f"{plain}\n{update}", f"{update}\n{plain}"):
        for grid in (1, 2):
            assert {f.kind for f in find(program(body, memory, grid=grid), max_findings=9)} == {"race"}
    for body in (f"{plain}\n    gpu.barrier\n{update}", f"{update}\n    gpu.barrier\n{plain}"):
        assert find(program(body, memory)) == ()
    assert find(program(update, memory, grid=3)) == ()


def test_atomic_accesses_of_other_sizes_and_scopes_are_races() -> None:
    half = "%h = arith.trunci %one : i32 to i16\n"
    of_16 = half + "%x = llvm.atomicrmw add %o_pointer, %h monotonic : !llvm.ptr<1>, i16"
    of_32 = "%y = llvm.atomicrmw add %o_pointer, %one monotonic : !llvm.ptr<1>, i32"
    memory = {"o": "memref<2xi32>"}
    assert {f.kind for f in find(program(f"{of_16}\n{of_32}", memory), max_findings=9)} == {"race"}
    of_block = of_32.replace("monotonic", 'syncscope("block") monotonic')
    assert find(program(of_block, memory)) == ()
    assert {f.kind for f in find(program(of_block, memory, grid=2))} == {"race"}


def test_all_updates_are_remembered() -> None:
    """The plain read is ordered after the last update, but not after the one before."""
    body = """
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %low = arith.cmpi ult, %t, %c32 : index
    %high = arith.cmpi uge, %t, %c64 : index
    %n = arith.constant 1 : i32
    %count = arith.constant 64 : i32
    scf.if %low {
      %a = llvm.atomicrmw add %o_pointer, %one monotonic : !llvm.ptr<1>, i32
    } else {
      %b2 = llvm.atomicrmw add %o_pointer, %one monotonic : !llvm.ptr<1>, i32
      nvvm.barrier id = %n number_of_threads = %count
      scf.if %high {
        %v = memref.load %o[%c0] : memref<2xi32>
        memref.store %v, %o[%c1] : memref<2xi32>
      }
    }"""
    for order in ORDERS:
        found = find(program(body, {"o": "memref<2xi32>"}, threads=96), order=order, max_findings=9)
        assert {f.kind for f in found} == {"race"}, order


def test_uninitialized_shared_memory() -> None:
    body = f"""
    %s = memref.alloc() : memref<1xi32, {SHARED}>
    %old = memref.atomic_rmw addi %one, %s[%c0] : (i32, memref<1xi32, {SHARED}>) -> i32"""
    (finding,) = find(program(body, {"o": "memref<1xi32>"}))
    assert finding.kind == "uninitialized"


def test_a_misaligned_atomic_update() -> None:
    body = """
    %p = llvm.getelementptr %o_pointer[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %old = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr<1>, i32"""
    (finding,) = find(program(body, {"o": "memref<2xi32>"}))
    assert finding.kind == "assertion" and "of 4 B is at byte offset 2" in finding.message


def test_scopes_of_the_other_vendor_are_named() -> None:
    update = '%x = llvm.atomicrmw add %o_pointer, %one syncscope("agent") monotonic : !llvm.ptr<1>, i32'
    with pytest.raises(CompileError) as error:
        find(program(update, {"o": "memref<1xi32>"}))
    assert "the attribute 'syncscope' is 'agent'; the scopes of sm_90a are: " in str(error.value)
