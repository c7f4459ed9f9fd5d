"""Every kind of `memref.atomic_rmw` on every type and engine: the simulator, the emulator and the CPU target."""

from __future__ import annotations

import pytest
import smalti
from atomic_programs import CASES, FUNCTIONS, TYPES, arguments, check, program, tile_program
from smalti import sim, targets
from smalti.dialects.arith import AtomicRMWKind

UPSTREAM_LOWERS_NONE = {AtomicRMWKind.mulf, AtomicRMWKind.muli}
"""MLIR's conversion to LLVM has no atomic multiplication."""


def test_the_table_has_every_kind() -> None:
    assert set(FUNCTIONS) == set(AtomicRMWKind) == {kind for kind, _ in CASES}


@pytest.mark.parametrize("ty", TYPES)
@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
def test_in_the_simulator(chip: str, ty: str) -> None:
    for number, kind in enumerate(kind for kind, of in CASES if of == ty):
        given = arguments(kind, ty)
        found = [array.copy() for array in given]
        # Global and shared memory in turn, another one for the other chip.
        shared = (number + (chip == "gfx942")) % 2 == 1
        order = ("adversarial", "round-robin", "last-ahead", "random:3")[number % 4]
        sim.simulate(program(kind, ty, shared), chip)(*found, simulation=sim.Simulation(order))
        check(kind, ty, given, found)


@pytest.mark.grid(24)
@pytest.mark.parametrize(("kind", "ty"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("chip", ["sm_90a", "gfx942"])
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
def test_in_the_emulator(chip: str, kind: AtomicRMWKind, ty: str, shared: bool) -> None:
    given = arguments(kind, ty)
    found = [array.copy() for array in given]
    if kind in UPSTREAM_LOWERS_NONE:
        with pytest.raises(smalti.CompileError, match=r"'memref.atomic_rmw'.* has no lowering to"):
            smalti.compile(program(kind, ty, shared), target=targets.EMULATED + chip)
        return
    smalti.compile(program(kind, ty, shared), target=targets.EMULATED + chip).launcher(*found)
    check(kind, ty, given, found)


@pytest.mark.grid(16)
@pytest.mark.parametrize(("kind", "ty"), CASES, ids=lambda value: str(value))
def test_on_the_cpu(kind: AtomicRMWKind, ty: str) -> None:
    given = arguments(kind, ty)
    found = [array.copy() for array in given]
    if kind in UPSTREAM_LOWERS_NONE:
        with pytest.raises(smalti.CompileError):
            smalti.compile(tile_program(kind, ty), target="cpu")(*found)
        return
    smalti.compile(tile_program(kind, ty), target="cpu")(*found)
    check(kind, ty, given, found)


@pytest.mark.parametrize(("kind", "ty"), [("maxnumf", "i32"), ("minnumf", "i8")])
def test_a_kind_of_another_type_is_refused(kind: str, ty: str) -> None:
    """The verifier of MLIR takes these."""
    with pytest.raises(smalti.CompileError) as caught:
        sim.simulate(program(AtomicRMWKind[kind], ty), "sm_90a")
    (told,) = caught.value.diagnostics
    assert f"the combination '{kind}' of" in told.message and told.location is not None
