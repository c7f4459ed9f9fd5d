# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous mbarrier arrivals of copies (`cp.async.mbarrier.arrive`), and copies with reductions."""

from __future__ import annotations

import numpy as np
import pytest
import smalti
from conftest import PALLAS
from helpers import gpu_kernel
from smalti import sim
from smalti.errors import CompileError
from smalti.sim import mutants

ARRIVE = "nvvm.cp.async.mbarrier.arrive %b {noinc = true} : !llvm.ptr<3>"


def program(after: str = "", arrive: str = ARRIVE, count: int = 64, size: str = "", more: str = "") -> str:
    """Each of 64 threads copies 16 bytes; after the wait it reads its neighbor's bytes."""
    return gpu_kernel(
        "%x: memref<256xi32>, %o: memref<256xi32>",
        f"""    %tile = memref.alloc() : memref<512xi32, #gpu.address_space<workgroup>>
    %p = memref.extract_aligned_pointer_as_index %tile : memref<512xi32, #gpu.address_space<workgroup>> -> index
    %p64 = arith.index_cast %p : index to i64
    %to = llvm.inttoptr %p64 : i64 to !llvm.ptr<3>
    %q = memref.extract_aligned_pointer_as_index %x : memref<256xi32> -> index
    %q64 = arith.index_cast %q : index to i64
    %from = llvm.inttoptr %q64 : i64 to !llvm.ptr<1>
    %barriers = memref.alloc() : memref<1xi64, #gpu.address_space<workgroup>>
    %r = memref.extract_aligned_pointer_as_index %barriers : memref<1xi64, #gpu.address_space<workgroup>> -> index
    %r64 = arith.index_cast %r : index to i64
    %b = llvm.inttoptr %r64 : i64 to !llvm.ptr<3>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %count = arith.constant {count} : i32
    %ticks = arith.constant 1000 : i32
    %t = gpu.thread_id x
    %t32 = arith.index_cast %t : index to i32
    %at = arith.muli %t32, %four : i32
    %leads = arith.cmpi eq, %t, %c0 : index
    scf.if %leads {{
      nvvm.mbarrier.init %b, %count : !llvm.ptr<3>, i32
    }}
    gpu.barrier
    %mine = llvm.getelementptr %to[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %source = llvm.getelementptr %from[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    {size}
    nvvm.cp.async.shared.global %mine, %source, 16, cache = cg{", %bytes" if size else ""}
        : !llvm.ptr<3>, !llvm.ptr<1>{", i32" if size else ""}
    {arrive}
    {after}
    nvvm.mbarrier.try_wait.parity %b, %zero, %ticks : !llvm.ptr<3>, i32, i32
    %other = arith.subi %c63, %t : index
    %first = arith.muli %other, %c4 : index
    %v = vector.load %tile[%first] : memref<512xi32, #gpu.address_space<workgroup>>, vector<4xi32>
    %place = arith.muli %t, %c4 : index
    vector.store %v, %o[%place] : memref<256xi32>, vector<4xi32>
    {more}""",
        64,
    )


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(256, dtype=np.int32), np.zeros(256, np.int32)


@pytest.mark.parametrize("schedule", [sim.SCHEDULES[0], sim.SCHEDULES[7], sim.SCHEDULES[8]], ids=lambda s: s.order)
def test_arrivals_when_copies_complete(schedule: sim.Simulation) -> None:
    x, o = arrays()
    kernel = sim.simulate(program(), "sim:sm_80")
    kernel(x, o, simulation=schedule)
    assert (o.reshape(64, 4) == x.reshape(64, 4)[::-1]).all()
    # Without `noinc` the threads also have to arrive themselves.
    both = ARRIVE.replace(" {noinc = true}", "") + "\n    %s = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64"
    o[...] = 0
    sim.simulate(program(arrive=both), "sim:sm_80")(x, o, simulation=schedule)
    assert (o.reshape(64, 4) == x.reshape(64, 4)[::-1]).all()


def test_every_mutant_of_an_arrival_is_noticed() -> None:
    kernel = sim.simulate(program(), "sim:sm_80")
    outcomes = mutants.score(kernel, arrays())
    assert [str(one) for one in outcomes if not one.caught] == []
    made = {f"{one.mutant.kind}: {one.mutant.operation}" for one in outcomes}
    assert "arrival removed: nvvm.cp.async.mbarrier.arrive" in made


def test_accesses_that_an_arrival_does_not_order() -> None:
    # An arrival of the threads does not cover their asynchronous copies.
    plain = program(arrive="%s = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64")
    assert {f.kind for f in sim.simulate(plain, "sim:sm_80").find(*arrays())} == {"race", "leak"}
    # The arrival does not cover copies that are issued after it, even in the same group as earlier copies.
    again = """%next = llvm.getelementptr %mine[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.cp.async.shared.global %next, %source, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group"""
    read = """%far = arith.constant 256 : index
    %there = arith.addi %first, %far : index
    %w = memref.load %tile[%there] : memref<512xi32, #gpu.address_space<workgroup>>
    memref.store %w, %o[%place] : memref<256xi32>"""
    found = sim.simulate(program(again, more=read), "sim:sm_80").find(*arrays())
    assert {f.kind for f in found} == {"race", "leak"}
    assert (
        found[0].message.startswith("data race: the load reads bytes")
        and "not ordered with the copy" in found[0].message
    )
    done = again + "\n    nvvm.cp.async.wait.group 0\n    gpu.barrier"
    assert sim.simulate(program(done, more=read), "sim:sm_80").find(*arrays()) == ()
    # The arrival does not release plain stores.
    store = """memref.store %t32, %tile[%there0] : memref<512xi32, #gpu.address_space<workgroup>>
    """
    released = "%c300 = arith.constant 300 : index\n    %there0 = arith.addi %c300, %t : index\n    " + store + ARRIVE
    get = """%c300b = arith.constant 300 : index
    %there1 = arith.addi %c300b, %other : index
    %w = memref.load %tile[%there1] : memref<512xi32, #gpu.address_space<workgroup>>
    memref.store %w, %o[%place] : memref<256xi32>"""
    (finding,) = sim.simulate(program(arrive=released, more=get), "sim:sm_80").find(*arrays())
    assert finding.kind == "race" and "not ordered with the store" in finding.message


def test_copies_of_fewer_bytes_are_filled_with_zeros() -> None:
    # An inactive lane may have any address.
    size = """%eight = arith.constant 8 : i32
    %rest = arith.remui %t32, %two : i32
    %bytes = arith.muli %rest, %eight : i32"""
    text = program(size=size).replace("%four = arith", "%two = arith.constant 2 : i32\n    %four = arith")
    text = text.replace(
        "%source = llvm.getelementptr %from[%at]",
        "%odd = arith.remui %t32, %two : i32\n    %is = arith.cmpi eq, %odd, %zero : i32\n"
        "    %wild = arith.constant 99999999 : i32\n    %where = arith.select %is, %wild, %at : i32\n"
        "    %source = llvm.getelementptr %from[%where]",
    )
    x, o = arrays()
    sim.simulate(text, "sim:sm_80")(x, o)
    wanted = x.reshape(64, 4).copy()
    wanted[::2] = 0
    wanted[:, 2:] = 0
    assert (o.reshape(64, 4) == wanted[::-1]).all()


@pytest.mark.parametrize(("name", "target"), [("pipelined_copy", "sm_80"), ("copies_that_reduce", "sm_90a")])
def test_modules_of_jax_by_threads_are_those_by_blocks(name: str, target: str) -> None:
    path = PALLAS / f"{name}.mlir"
    threads, blocks = (sim.simulate(path, f"sim:{target}", level=level) for level in ("thread", "block"))
    arguments = threads.random_arguments()
    wanted = [array.copy() for array in arguments]
    blocks(*wanted)
    threads(*arguments)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arguments, wanted, strict=True))


def stored(arrive: str, count: int = 64, before: str = "") -> str:
    """The same with stores of threads that the threads' own arrivals release."""
    text = program(arrive=arrive, count=count)
    begin, end = text.index("    nvvm.cp.async.shared.global"), text.index(arrive)
    store = """
    %from_at = arith.muli %t, %c4 : index
    %given = vector.load %x[%from_at] : memref<256xi32>, vector<4xi32>
    llvm.store %given, %mine : vector<4xi32>, !llvm.ptr<3>
"""
    return text[:begin] + store + before + "    " + text[end:]


def find(text: str) -> tuple[sim.Finding, ...]:
    x, o = arrays()
    found = sim.simulate(text, "sim:sm_90a").find(x, o)
    if not found:
        assert (o.reshape(64, 4) == x.reshape(64, 4)[::-1]).all()
    return found


def test_other_arrivals() -> None:
    plain = "%s = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64"
    assert find(stored(plain)) == ()
    (finding,) = find(stored("%s = nvvm.mbarrier.arrive %b {relaxed = true} : !llvm.ptr<3> -> i64"))
    assert finding.kind == "race"
    assert find(stored("%s = nvvm.mbarrier.arrive_drop %b : !llvm.ptr<3> -> i64")) == ()
    # Half of an arrival of two may not complete the phase, and the other half does.
    half = "%h = nvvm.mbarrier.arrive.nocomplete %b, %one : !llvm.ptr<3>, i32 -> i64\n    "
    one = "    %one = arith.constant 1 : i32\n    "
    assert find(stored(plain, 128, one + half)) == ()
    messages = {finding.message for finding in find(stored(plain, 32, one + half))}
    assert (
        "an arrival with noComplete must not complete a phase, but completes phase 0 of the mbarrier at byte 2048"
        in messages
    )


def test_threads_that_drop_out_are_not_waited_for() -> None:
    # In the second phase only the first warp arrives.
    twice = """%s = nvvm.mbarrier.arrive_drop %b : !llvm.ptr<3> -> i64
    nvvm.mbarrier.try_wait.parity %b, %zero, %ticks : !llvm.ptr<3>, i32, i32
    gpu.barrier
    %c32 = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %first_warp = arith.cmpi ult, %t32, %c32 : i32
    scf.if %first_warp {
      %s2 = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64
      nvvm.mbarrier.try_wait.parity %b, %one, %ticks : !llvm.ptr<3>, i32, i32
    }
    gpu.barrier"""
    rest = "    nvvm.mbarrier.try_wait.parity %b, %zero, %ticks : !llvm.ptr<3>, i32, i32\n    %other"
    text = stored(twice, 96).replace(rest, "    %other")
    # 96 arrivals: 32 of the first warp more.
    more = "    %first_warp0 = arith.cmpi ult, %t32, %c320 : i32\n    scf.if %first_warp0 {\n"
    more += "      %s3 = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64\n    }\n"
    text = text.replace(
        "    %s = nvvm.mbarrier.arrive_drop",
        "    %c320 = arith.constant 32 : i32\n" + more + "    %s = nvvm.mbarrier.arrive_drop",
    )
    assert find(text) == ()
    (finding,) = find(text.replace("arrive_drop", "arrive"))
    assert finding.kind == "deadlock" and "outstanding: 64 of 96 arrivals" in finding.message


def test_expected_bytes_and_stores_of_threads() -> None:
    brought = """scf.if %leads {
      nvvm.mbarrier.complete_tx %b, %ticks : !llvm.ptr<3>, i32
    }
    %s = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64"""
    expect = (
        "    scf.if %leads {\n      nvvm.mbarrier.expect_tx %b, %ticks : !llvm.ptr<3>, i32\n    }\n    gpu.barrier\n"
    )
    assert find(stored(brought, 64, expect)) == ()
    assert "transaction" in {one.kind for one in find(stored(brought))}
    kernel = sim.simulate(stored(brought, 64, expect), "sim:sm_90a")
    outcomes = mutants.score(kernel, arrays())
    assert [str(one) for one in outcomes if not one.caught] == []


def test_a_relaxed_wait_before_a_fence() -> None:
    text = stored("%s = nvvm.mbarrier.arrive %b : !llvm.ptr<3> -> i64")
    wait = "nvvm.mbarrier.try_wait.parity %b, %zero, %ticks : !llvm.ptr<3>, i32, i32"
    relaxed = "%over = nvvm.mbarrier.test.wait %b, %zero {relaxed = true} : !llvm.ptr<3>, i32 -> i1"
    assert {f.kind for f in find(text.replace(wait, relaxed))} == {"race"}
    assert find(text.replace(wait, f"{relaxed}\n    nvvm.memory.barrier <cta>")) == ()
    assert {f.kind for f in find(text.replace(wait, f"nvvm.memory.barrier <cta>\n    {relaxed}"))} == {"race"}


REDUCE = """
    %leads = arith.cmpi eq, %t, %c0 : index
    scf.if %leads {
      nvvm.cp.async.bulk.tensor.reduce %map, %p, box[%zero, %zero] {redKind = #nvvm.tma_redux_kind<KIND>}
          : !llvm.ptr, <3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }"""


def reducing(kind: str, element: str, copy: str = REDUCE) -> str:
    """Three blocks combine a row of 16 numbers, 1 to 16 times the block's number and 1, with an array."""
    store = (
        "%v = arith.index_cast %n : index to i32"
        if element == "i32"
        else (f"%m = arith.index_cast %n : index to i32\n    %v = arith.sitofp %m : i32 to {element}")
    )
    width = {"i32": 4, "f16": 2, "f32": 4}[element]
    return f"""gpu.module @m {{
  gpu.func @k(%x: memref<1x16x{element}>, %map: !llvm.ptr) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>,
      mosaic_gpu.tensor_maps = [{{argument = 0 : i64, box = array<i64: 1, 16>, element = {element},
        element_strides = array<i64: 1, 1>, extents = array<i64: 1, 16>, fill = "zeros", offset = 0 : i64,
        strides = array<i64: {16 * width}, {width}>, swizzle = 16 : i64}}]}} {{
    %tile = memref.alloc() : memref<16x{element}, #gpu.address_space<workgroup>>
    %p0 = memref.extract_aligned_pointer_as_index %tile : memref<16x{element}, #gpu.address_space<workgroup>> -> index
    %p64 = arith.index_cast %p0 : index to i64
    %p = llvm.inttoptr %p64 : i64 to !llvm.ptr<3>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %b1 = arith.addi %b, %c1 : index
    %t1 = arith.addi %t, %c1 : index
    %n = arith.muli %t1, %b1 : index
    {store}
    %writes = arith.cmpi ult, %t, %c16 : index
    scf.if %writes {{
      memref.store %v, %tile[%t] : memref<16x{element}, #gpu.address_space<workgroup>>
    }}
    nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
    gpu.barrier
{copy.replace("KIND", kind)}
    gpu.return
  }}
}}"""


@pytest.mark.parametrize(
    ("kind", "element", "wanted"),
    [
        ("add", "i32", lambda i: 6 * i + 20),
        ("add", "f16", lambda i: 6 * i + 20),
        ("add", "f32", lambda i: 6 * i + 20),
        ("min", "i32", lambda i: np.minimum(i, 20)),
        ("max", "f16", lambda i: np.maximum(3 * i, 20)),
        ("xor", "i32", lambda i: i ^ 2 * i ^ 3 * i ^ 20),
    ],
)
def test_reducing_copies_do_not_race(kind: str, element: str, wanted: object) -> None:
    kernel = smalti.compile(reducing(kind, element), target="sim:sm_90a")
    x = np.full((1, 16), 20, {"i32": np.int32, "f16": np.float16, "f32": np.float32}[element])
    kernel(x)
    assert (x[0] == wanted(np.arange(1, 17))).all()  # pyright: ignore[reportCallIssue]


def test_unsupported_reductions_of_copies() -> None:
    x = np.zeros((1, 16), np.float32)
    (finding,) = smalti.compile(reducing("min", "f32"), target="sim:sm_90a").find(x)
    assert finding.message == "a TMA copy cannot reduce elements of f32 with 'min'; supported reductions: add"
    with pytest.raises(CompileError, match="cannot be simulated"):
        sim.simulate(reducing("inc", "i32"), "sim:sm_90a")
    # With a copy that does not combine they race.
    plain = REDUCE.replace("bulk.tensor.reduce", "bulk.tensor.global.shared.cta").replace(
        " {redKind = #nvvm.tma_redux_kind<KIND>}", ""
    )
    x = np.zeros((1, 16), np.int32)
    text = reducing("add", "i32", plain)
    found = smalti.compile(text, target="sim:sm_90a").find(x)
    assert {one.kind for one in found} == {"race"}
