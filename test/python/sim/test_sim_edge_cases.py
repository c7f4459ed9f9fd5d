# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edge cases: each kernel runs, or ends with an error or finding that states the cause."""

from __future__ import annotations

import numpy as np
import pytest
from audit_programs import program
from click.testing import CliRunner
from conftest import PALLAS
from smalti import CompileError, SmaltiError, sim
from smalti.cli import commands

LARGE = "%large = arith.constant 9223372036854775807 : index\n"
NOT_FIRST = "%others = arith.cmpi ne, %t, %c0 : index\n"
TOUCH = "memref.store %f1, %y[%t] : memref<256xf32>"


def find(body: str, **how: object) -> tuple[list[str], np.ndarray]:
    """The findings, and the second array."""
    y = np.zeros(256, np.float32)
    found = sim.simulate(program(body), "sim:sm_80").find(np.zeros_like(y), y, simulation=sim.Simulation(**how))
    return [finding.kind for finding in found], y


# Values of inactive lanes do not matter.
OF_LANES_THAT_REST = {
    "a step of zero": "scf.for %i = %c0 to %c64 step %t { TOUCH }",
    "a negative step": "%n = arith.subi %t, %c1 : index\n%m = arith.maxsi %t, %n : index\n"
    "scf.for %i = %c0 to %c64 step %m { TOUCH }",
    "too many iterations": LARGE + "%end = arith.select %others, %c4, %large : index\n"
    "scf.for %i = %c0 to %end step %c1 { TOUCH }",
    "numbers that wrap": LARGE + "%low = arith.subi %large, %c4 : index\n"
    "%begin = arith.select %others, %c0, %low : index\n%end = arith.select %others, %c4, %large : index\n"
    "scf.for %i = %begin to %end step %c8 { TOUCH }",
}


@pytest.mark.parametrize("name", OF_LANES_THAT_REST)
def test_loops_of_lanes(name: str) -> None:
    inside = OF_LANES_THAT_REST[name].replace("TOUCH", TOUCH)
    kinds, y = find(NOT_FIRST + f"scf.if %others {{ {inside} }}")
    assert kinds == [] and y[0] == 0 and (y[1:64] == 1).all()


LOOPS = {
    "each lane's numbers wrap": (
        LARGE + "%low = arith.subi %large, %t : index\nscf.for %i = %low to %large step %c8 { }",
        "overflows before the loop exits",
    ),
    "numbers wrap": (
        LARGE + "%low = arith.subi %large, %c4 : index\nscf.for %i = %low to %large step %c3 { }",
        "from 9223372036854775803 to 9223372036854775807 with step 3",
    ),
    "numbers of 32 bits wrap": (
        "%end = arith.constant 2147483647 : i32\n%low = arith.subi %end, %i2 : i32\n"
        "%ti = arith.index_cast %t : index to i32\n%by = arith.addi %ti, %i3 : i32\n"
        "scf.for %i = %low to %end step %by : i32 { }",
        "with step 3 overflows",
    ),
    "a step of zero": ("scf.for %i = %c0 to %c4 step %t { }", "the loop step is 0"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_do_not_end(name: str) -> None:
    body, message = LOOPS[name]
    kernel = sim.simulate(program(body), "sim:sm_80")
    (finding,) = kernel.find(*kernel.random_arguments())
    assert finding.kind in ("deadlock", "assertion") and message in finding.message


def test_the_last_numbers_of_a_loop() -> None:
    body = LARGE + "%low = arith.subi %large, %c8 : index\nscf.for %i = %low to %large step %c8 { TOUCH }"
    kinds, y = find(body.replace("TOUCH", TOUCH))
    assert kinds == [] and (y[:64] == 1).all()


@pytest.mark.parametrize(
    "division",
    [
        "%q = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%c4)[%zero]",
        "%q = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%c4)[%zero]",
        "%q = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv s0)>(%t)[%zero]",
        "%q:2 = affine.delinearize_index %c4 into (%c2, %zero) : index, index",
        "%q = arith.ceildivui %c4, %zero : index",
    ],
)
def test_division_by_zero_alone_is_not_a_finding(division: str) -> None:
    """A program may compute what it does not use."""
    assert find("%zero = arith.subi %c1, %c1 : index\n" + division)[0] == []


def test_conditions_inside_of_each_other() -> None:
    assert find("scf.if %t0 {" * 100 + TOUCH + "}" * 100)[0] == []
    with pytest.raises(CompileError, match="the program nests loops and conditions more deeply than"):
        find("scf.if %t0 {" * 900 + TOUCH + "}" * 900)


@pytest.mark.parametrize(
    "wait", ["nvvm.cp.async.wait.group -1", "nvvm.cp.async.bulk.wait_group -1", "nvvm.wgmma.wait.group.sync.aligned -1"]
)
def test_waits_that_leave_a_negative_number(wait: str) -> None:
    with pytest.raises(SmaltiError, match="-1"):
        find(wait)


def test_a_function_without_a_launch() -> None:
    with pytest.raises(
        CompileError, match=r"does not contain a kernel to simulate: a triton_xla.entry_func,"
    ) as caught:
        sim.simulate("func.func @f() {\n  return\n}", "sim:sm_80")
    assert "triton_xla.entry_func @name(" in str(caught.value.hint)


def test_kernels_with_one_name() -> None:
    one = program("").partition("{")[2].rpartition("}")[0]
    text = f"gpu.module @m {{ {one} }} gpu.module @n {{ {one} }}"
    for name in ("k", None):
        with pytest.raises(CompileError, match="the module has several kernels named @k; kernel names must be unique"):
            sim.simulate(text, "sim:sm_80", name=name)


def test_remedies_of_a_deadlock() -> None:
    """The suggested fixes remove the finding."""
    body = """%i64c = arith.constant 64 : i32
    scf.if %t0 {
      nvvm.mbarrier.init %b0, %i64c : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %w0 {
      FIRST
      nvvm.mbarrier.try_wait.parity %b0, %i0, %ticks : !llvm.ptr<3>, i32, i32
      LAST
    } else {
      nvvm.mbarrier.arrive %b0 : !llvm.ptr<3>
      gpu.barrier
    }"""
    kernel = sim.simulate(program(body.replace("FIRST", "").replace("LAST", "")), "sim:sm_80")
    (finding,) = kernel.find(*kernel.random_arguments())
    assert finding.kind == "deadlock" and finding.hint is not None
    ways = "32 of 64 arrivals for phase 0 of the mbarrier at byte 1024", "an arrival of warp 0 at the block barrier"
    assert sorted(finding.hint.removeprefix("progress requires ").split("; or ")) == sorted(ways)
    followed = body.replace("FIRST", "nvvm.mbarrier.arrive %b0 : !llvm.ptr<3>").replace("LAST", "gpu.barrier")
    assert sim.simulate(program(followed), "sim:sm_80").find(*kernel.random_arguments()) == ()


def test_a_fence_for_global_memory() -> None:
    """The suggested fence is the one that the kernel needs."""
    body = """%xi = memref.extract_aligned_pointer_as_index %x : memref<256xf32> -> index
    %xn = arith.index_cast %xi : index to i64
    %gp = llvm.inttoptr %xn : i64 to !llvm.ptr<1>
    scf.if %t0 {
      nvvm.mbarrier.init %b0, %i1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    memref.store %f1, %x[%t] : memref<256xf32>
    FENCE
    gpu.barrier
    scf.if %t0 {
      nvvm.mbarrier.arrive.expect_tx %b0, %i256 : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %sp, %gp, %b0, %i256 : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %b0, %i0, %ticks : !llvm.ptr<3>, i32, i32"""
    arrays = [np.zeros(256, np.float32) for _ in range(2)]
    found = sim.simulate(program(body.replace("FENCE", "")), "sim:sm_90a").find(*arrays)
    assert [finding.kind for finding in found] == ["missing-fence"]
    assert (
        found[0].hint
        == "execute nvvm.fence.proxy async.global after the write, before the barrier or wait that orders it"
    )
    fence = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}"
    assert sim.simulate(program(body.replace("FENCE", fence)), "sim:sm_90a").find(*arrays) == ()


def test_a_wait_that_another_lane_of_the_warp_needs() -> None:
    """The suggested synchronization is enough."""
    text = """%near1 = arith.xori %t, %c1 : index
    %cp = nvgpu.device_async_copy %x[%t], %s[%t], 1 : memref<256xf32> to memref<256xf32, SH>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    SYNC
    %v = memref.load %s[%near1] : memref<256xf32, SH>
    memref.store %v, %y[%t] : memref<256xf32>"""
    arrays = [np.zeros(256, np.float32) for _ in range(2)]
    found = sim.simulate(program(text.replace("SYNC", "")), "sim:sm_80").find(*arrays)
    assert {finding.kind for finding in found} == {"race"}
    hint = "place nvvm.bar.warp.sync or another barrier between the wait for the copy and the second access; the threads of warp 0 are not in lockstep"
    assert found[0].hint == hint
    sound = text.replace("SYNC", "%all = arith.constant -1 : i32\n    nvvm.bar.warp.sync %all : i32")
    assert sim.simulate(program(sound), "sim:sm_80").find(*arrays) == ()


@pytest.mark.parametrize("option", ["--timeline", "--save"])
def test_files_that_cannot_be_written(option: str) -> None:
    source = PALLAS / "pointwise.mlir"
    result = CliRunner().invoke(commands.main, ["sim", str(source), "--blocks", "1", option, "/nowhere/x.npz"])
    assert result.exit_code == 1 and "cannot write /nowhere/x.npz" in result.output


@pytest.mark.parametrize("level", ["block", "thread"])
@pytest.mark.parametrize("element", ["i1", "i2", "i4", "i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("op", ["addui_extended", "mulsi_extended", "mului_extended"])
def test_both_halves_of_sums_and_multiplications(op: str, element: str, level: str) -> None:
    """Operands are truncated from i64; results are extended with zeros."""
    bits, tile, wide = int(element[1:]), f"tensor<64x{element}>", "tensor<64xi64>"
    second = "i1" if op == "addui_extended" else element

    def extended(name: str, ty: str) -> str:
        return f"%{name}w = arith.extui %{name} : tensor<64x{ty}> to {wide}" if ty != "i64" else ""

    def narrow(name: str) -> str:
        return f"%{name} = arith.trunci %{name}w : {wide} to {tile}" if bits < 64 else ""

    stored = [("l", "lw" if bits < 64 else "l"), ("h", "hw" if second != "i64" else "h")]
    loaded = [(name, f"{name}w" if bits < 64 else name) for name in "xy"]
    lines = [f"%{tile_} = triton_xla.extract %{name}m[0] [64] [1] : memref<64xi64> to {wide}" for name, tile_ in loaded]
    lines += [narrow("x"), narrow("y")]
    types = f"{tile}, tensor<64xi1>" if op == "addui_extended" else tile
    lines += [f"%l, %h = arith.{op} %x, %y : {types}", extended("l", element), extended("h", second)]
    lines += [
        f"triton_xla.insert %{tile_} into %{name}m[0] [64] [1] : {wide} into memref<64xi64>" for name, tile_ in stored
    ]
    arguments = ", ".join(f"%{name}m: memref<64xi64>" for name in "xylh")
    body = "\n  ".join(line for line in lines if line)
    text = f"triton_xla.entry_func @f({arguments}, %tile: index) tiles 1 {{\n  {body}\n  triton_xla.return\n}}\n"
    # All pairs of the numbers at the limits.
    limits = np.array([0, 1, -1, 2, 1 << (bits - 1), (1 << (bits - 1)) - 1, 3, -3], object)
    mask = (1 << bits) - 1
    x, y = (
        np.array([(value + (1 << 63)) % (1 << 64) - (1 << 63) for value in part], np.int64)
        for part in (np.repeat(limits, 8), np.tile(limits, 8))
    )
    low, high = np.full((2, 64), -7, np.int64)
    sim.simulate(text, "sim:sm_80", level=level)(x, y, low, high)
    a, b = (part.astype(object) & mask for part in (x, y))
    if op == "mulsi_extended":
        a, b = (np.where(part >> (bits - 1), part - (1 << bits), part) for part in (a, b))
    exact = a + b if op == "addui_extended" else a * b
    assert (low.view(np.uint64).astype(object) == exact & mask).all()
    assert (high.view(np.uint64).astype(object) == (exact >> bits) & mask).all()
