# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kind of `memref.atomic_rmw` with every type, on the simulator, the emulator and the CPU target."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smalti
from atomic_programs import (
    CASES,
    FUNCTIONS,
    SLOTS,
    SMALL_FLOATS,
    THREADS,
    TYPES,
    arguments,
    check,
    program,
    tile_program,
)
from smalti import sim, targets
from smalti.dialects.arith import AtomicRMWKind


def test_the_table_has_every_kind() -> None:
    assert set(FUNCTIONS) == set(AtomicRMWKind) == {kind for kind, _ in CASES}


@pytest.mark.grid(8)
@pytest.mark.parametrize("ty", TYPES)
@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_in_the_simulator(chip: str, ty: str) -> None:
    for number, kind in enumerate(kind for kind, of in CASES if of == ty):
        given = arguments(kind, ty)
        found = [array.copy() for array in given]
        # Global and shared memory alternate, differently for the other chip.
        shared = (number + (chip == "gfx942")) % 2 == 1
        order = ("adversarial", "round-robin", "highest-first", "random:3")[number % 4]
        sim.simulate(program(kind, ty, shared), chip)(*found, simulation=sim.Simulation(order))
        check(kind, ty, given, found)


@pytest.mark.grid(24)
@pytest.mark.parametrize(("kind", "ty"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
def test_in_the_emulator(chip: str, kind: AtomicRMWKind, ty: str, shared: bool) -> None:
    given = arguments(kind, ty)
    found = [array.copy() for array in given]
    smalti.compile(program(kind, ty, shared), target=targets.EMULATED + chip).launcher(*found)
    check(kind, ty, given, found)


@pytest.mark.grid(16)
@pytest.mark.parametrize(("kind", "ty"), CASES, ids=lambda value: str(value))
def test_on_the_cpu(kind: AtomicRMWKind, ty: str) -> None:
    given = arguments(kind, ty)
    found = [array.copy() for array in given]
    smalti.compile(tile_program(kind, ty), target="cpu")(*found)
    check(kind, ty, given, found)


@pytest.mark.parametrize(("kind", "ty"), [("maxnumf", "i32"), ("minnumf", "i8")])
def test_unsupported_types_are_refused(kind: str, ty: str) -> None:
    """The verifier of MLIR accepts these."""
    with pytest.raises(smalti.CompileError) as caught:
        sim.simulate(program(AtomicRMWKind[kind], ty), "sm_90a")
    (reported,) = caught.value.diagnostics
    assert f"the kind '{kind}' cannot combine" in reported.message and reported.location is not None


ENGINES: dict[str, Callable[[AtomicRMWKind, str], Any]] = {
    "sim": lambda kind, ty: sim.simulate(program(kind, ty), "sm_90a"),
    "emu:sm_90a": lambda kind, ty: smalti.compile(program(kind, ty), target="emu:sm_90a"),
    "emu:gfx942": lambda kind, ty: smalti.compile(program(kind, ty), target="emu:gfx942"),
    "cpu": lambda kind, ty: smalti.compile(tile_program(kind, ty), target="cpu"),
}


@pytest.mark.parametrize("ty", SMALL_FLOATS)
@pytest.mark.parametrize("engine", ENGINES)
def test_small_floats(engine: str, ty: str) -> None:
    for kind in AtomicRMWKind:
        # A multiplication of several values is rounded in the order of the threads.
        if not (str(kind).endswith("f") or kind == AtomicRMWKind.assign) or kind == AtomicRMWKind.mulf:
            continue
        given = arguments(kind, ty)
        found = [array.copy() for array in given]
        if engine != "sim" and kind != AtomicRMWKind.assign:
            with pytest.raises(smalti.CompileError) as caught:
                ENGINES[engine](kind, ty)
            (reported,) = caught.value.diagnostics
            assert reported.location is not None
            continue
        ENGINES[engine](kind, ty)(*found)
        check(kind, ty, given, found)


BITS: dict[AtomicRMWKind, Any] = {
    AtomicRMWKind.addi: np.logical_xor,
    AtomicRMWKind.andi: np.logical_and,
    # The one bit is the sign: 1 is less than 0.
    AtomicRMWKind.maxs: np.logical_and,
    AtomicRMWKind.maxu: np.logical_or,
    AtomicRMWKind.mins: np.logical_or,
    AtomicRMWKind.minu: np.logical_and,
    AtomicRMWKind.muli: np.logical_and,
    AtomicRMWKind.ori: np.logical_or,
    AtomicRMWKind.xori: np.logical_xor,
}


@pytest.mark.parametrize("kind", BITS, ids=str)
def test_one_bit(kind: AtomicRMWKind) -> None:
    generator = np.random.default_rng(3)
    for shared in (False, True):
        # Several updates of a slot with each value.
        x = generator.random(THREADS) < np.repeat([0.03, 0.97], THREADS // 2)[generator.permutation(THREADS)]
        for first in (False, True):
            slots = np.full(SLOTS, first)
            sim.simulate(program(kind, "i1", shared), "sm_90a")(x, slots, np.zeros(THREADS, bool))
            assert [functools.reduce(BITS[kind], x[slot::SLOTS], first) for slot in range(SLOTS)] == slots.tolist()
            slots = np.full(SLOTS, first)
            smalti.compile(tile_program(kind, "i1"), target="cpu")(x, slots, np.zeros(THREADS, bool))
            assert [functools.reduce(BITS[kind], x[slot::SLOTS], first) for slot in range(SLOTS)] == slots.tolist()
        # An array of i1 in shared memory is refused, except by the simulator.
        for chip in () if shared else ("sm_90a", "gfx942"):
            slots = np.zeros(SLOTS, bool)
            smalti.compile(program(kind, "i1", shared), target=targets.EMULATED + chip)(
                x, slots, np.zeros(THREADS, bool)
            )
            assert [functools.reduce(BITS[kind], x[slot::SLOTS], False) for slot in range(SLOTS)] == slots.tolist()


@pytest.mark.parametrize("ty", ["i3", "i24", "i128", "f128", "index"])
@pytest.mark.parametrize("engine", ENGINES)
def test_types_without_array_support(engine: str, ty: str) -> None:
    kind = AtomicRMWKind.addf if ty == "f128" else AtomicRMWKind.addi
    with pytest.raises(smalti.SmaltiError) as caught:
        ENGINES[engine](kind, ty)
    assert caught.value.diagnostics[0].location is not None


def test_block_level_is_refused() -> None:
    """Block-level kernels do not support atomic updates of memory, and the error names the op. Tile-level kernels do."""
    text = program(AtomicRMWKind.addi, "i32").replace("known_block", "smalti.num_warps = 2 : i64, known_block", 1)
    with pytest.raises(smalti.SmaltiError, match=r"memref\.atomic_rmw"):
        sim.simulate(text.replace("gpu.thread_id x", "arith.constant 5 : index"), "sm_90a")
    given = arguments(AtomicRMWKind.addi, "i32")
    found = [array.copy() for array in given]
    sim.simulate(tile_program(AtomicRMWKind.addi, "i32"), "sm_90a")(*found)
    check(AtomicRMWKind.addi, "i32", given, found)
