# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wgmma.fence` in thread-level kernels: PTX ISA, "wgmma.fence"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from smalti import sim
from smalti.sim import mutants
from test_sim_threads import matmul
from wgmma_programs import (
    COMMIT,
    FENCE,
    PROXY,
    WAIT,
    copy,
    descriptor,
    kernel,
    loads,
    pack,
    shared_wgmma,
    stores,
    structure,
)

KINDS = ("f32", "f16", "f16")
FOUR = structure("f32", 4)
LOADED = [*loads("x", 4, "f32", "c"), *pack([f"%cv{i}" for i in range(4)], "f32", "c")]
ZERO = ["%z = arith.constant 0.0 : f32", *pack(["%z"] * 4, "f32", "zero")]
COPIES = [*copy("a", 2048), *copy("b", 256), *PROXY, *descriptor("a", 2048), *descriptor("b", 256)]


def scaled(value: str, name: str) -> list[str]:
    """Threads compute with the registers of a `wgmma`."""
    lines = ["%two" + name + " = arith.constant 2.0 : f32"]
    for i in range(4):
        lines += [
            f"%{name}x{i} = llvm.extractvalue {value}[{i}] : {FOUR}",
            f"%{name}y{i} = arith.mulf %{name}x{i}, %two{name} : f32",
        ]
    return [*lines, *pack([f"%{name}y{i}" for i in range(4)], "f32", name)]


def wgmma(name: str, start: str, scale: str = "one") -> str:
    return shared_wgmma(name, start, 8, KINDS, "f32", scale=scale)


def in_loop(*body: str, start: str, yields: str, trips: int = 3) -> list[str]:
    return [
        f"%trips = arith.constant {trips} : index",
        "%step = arith.constant 1 : index",
        f"%loop = scf.for %i = %c0 to %trips step %step iter_args(%sum = {start}) -> ({FOUR}) {{",
        *(f"  {line}" for line in body),
        f"  scf.yield {yields} : {FOUR}",
        "}",
    ]


END = [COMMIT, WAIT]
ARGUMENTS = "%a: memref<2048xi8>, %b: memref<256xi8>, %x: memref<128x4xf32>, %o: memref<128x4xf32>"


def find(*lines: str, before: list[str] | None = None) -> list[sim.Finding]:
    made = sim.simulate(kernel(ARGUMENTS, [*COPIES, *(LOADED if before is None else before), *lines]), "sim:sm_90a")
    a, b, x, o = made.random_arguments(seed=1)
    a, b = (np.random.default_rng(i).standard_normal(len(y) // 2).astype(np.float16) for i, y in enumerate((a, b)))
    return list(made.find(a.view(np.int8), b.view(np.int8), x, o))


LEGAL: dict[str, list[str]] = {
    "a fence in front": [FENCE, wgmma("p", "%c"), *END, *stores("%p", "f32", 4)],
    "one accumulator": [FENCE, wgmma("q", "%c"), wgmma("p", "%q"), *END, *stores("%p", "f32", 4)],
    "groups": [FENCE, wgmma("q", "%c"), COMMIT, wgmma("p", "%q"), *END, *stores("%p", "f32", 4)],
    "waited between": [FENCE, wgmma("q", "%c"), *END, wgmma("p", "%q"), *END, *stores("%p", "f32", 4)],
    "a loop": [
        FENCE,
        *in_loop(wgmma("p", "%sum"), COMMIT, start="%c", yields="%p"),
        WAIT,
        *stores("%loop", "f32", 4),
    ],
    "a fence after reads": [
        *[FENCE, wgmma("q", "%c"), *END, *scaled("%q", "twice"), FENCE, wgmma("p", "%twice"), *END],
        *stores("%p", "f32", 4),
    ],
    "two accumulators": [
        *[FENCE, wgmma("q", "%c"), wgmma("p", "%c"), *END],
        *[*stores("%q", "f32", 4), *stores("%p", "f32", 4, prefix="s")],
    ],
    "registers that nobody wrote": [
        *["%one = arith.constant 1.0 : f32", f"%none = llvm.mlir.poison : {FOUR}"],
        *[f"%part = llvm.insertvalue %one, %none[1] : {FOUR}", FENCE, wgmma("p", "%part"), *END],
        *stores("%p", "f32", 4),
    ],
    "bits of what is under way": [
        *[FENCE, wgmma("p", "%c"), COMMIT, f"%early = llvm.extractvalue %p[2] : {FOUR}"],
        *["%bits = llvm.bitcast %early : f32 to i32", WAIT, "%late = llvm.bitcast %bits : i32 to f32"],
        "memref.store %late, %o[%t, %c0] : memref<128x4xf32>",
    ],
    "constants after the fence": [FENCE, *ZERO, wgmma("p", "%zero"), *END, *stores("%p", "f32", 4)],
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal_kernels_have_no_findings(name: str) -> None:
    assert find(*LEGAL[name]) == []


MISSING: dict[str, tuple[list[str], list[str]]] = {
    "no fence": (LOADED, [wgmma("p", "%c"), *END, *stores("%p", "f32", 4)]),
    "no fence, nothing added": (
        ["%none = llvm.mlir.poison : " + FOUR],
        [wgmma("p", "%none", "zero"), *END, *stores("%p", "f32", 4)],
    ),
    "written after the fence": ([], [FENCE, *LOADED, wgmma("p", "%c"), *END, *stores("%p", "f32", 4)]),
    "computed after the fence": (
        LOADED,
        [FENCE, *scaled("%c", "twice"), wgmma("p", "%twice"), *END, *stores("%p", "f32", 4)],
    ),
    "read after the fence": (
        LOADED,
        [
            *[FENCE, wgmma("q", "%c"), *END, *stores("%q", "f32", 4)],
            *[wgmma("p", "%q"), *END, *stores("%p", "f32", 4, prefix="s")],
        ],
    ),
    "the same start in each iteration": (
        LOADED,
        [
            *[FENCE, *in_loop(wgmma("p", "%c"), *END, *scaled("%p", "twice"), start="%c", yields="%twice")],
            *stores("%loop", "f32", 4),
        ],
    ),
    "new in each iteration": (
        LOADED,
        [
            *[FENCE, *in_loop(wgmma("p", "%sum"), *END, *scaled("%p", "twice"), start="%c", yields="%twice")],
            *stores("%loop", "f32", 4),
        ],
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_fences_are_found(name: str) -> None:
    before, lines = MISSING[name]
    (finding,) = find(*lines, before=before)
    assert finding.kind == "missing-fence"
    assert finding.message == "the wgmma may not see writes to its accumulator registers"
    assert finding.hint == "execute nvvm.wgmma.fence.aligned between the access of these registers and the wgmma"


def test_another_shape_needs_a_wait_and_a_fence() -> None:
    """Without a wait and a fence, only MMAs of the same shape are ordered."""
    many = pack([f"%half{i}" for i in range(4)] * 2, "f32", "wide")
    parts = [f"%half{i} = llvm.extractvalue %q[{i}] : {FOUR}" for i in range(4)]
    wide = shared_wgmma("p", "%wide", 16, KINDS, "f32", descriptors=("%ad", "%ad"))
    tail = [wide, *END, *(f"%w{i} = llvm.extractvalue %p[{i}] : {structure('f32', 8)}" for i in range(4))]
    begin = [FENCE, wgmma("q", "%c")]
    assert {f.kind for f in find(*begin, *parts, *many, *tail)} == {"accumulator", "missing-fence"}
    assert {f.kind for f in find(*begin, COMMIT, WAIT, *parts, *many, *tail)} == {"missing-fence"}
    assert find(*begin, COMMIT, WAIT, FENCE, *parts, *many, *tail) == []


def of_registers(name: str, words: list[str]) -> list[str]:
    text = (
        "{\\0A.reg .pred p;\\0Asetp.ne.b32 p, 1, 0;\\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
        "{$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 0;\\0A}"
    )
    return [
        *(f"%{name}s{i} = llvm.extractvalue %c[{i}] : {FOUR}" for i in range(4)),
        f'%{name} = llvm.inline_asm has_side_effects "{text}", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l" '
        f"{', '.join(f'%{name}s{i}' for i in range(4))}, {', '.join(words)}, %bd "
        f": (f32, f32, f32, f32, i32, i32, i32, i32, i64) -> {FOUR}",
    ]


WORDS = [
    *(f"%j{i} = arith.constant {i} : index" for i in range(4)),
    *(f"%f{i} = memref.load %x[%t, %j{i}] : memref<128x4xf32>" for i in range(4)),
    *(f"%w{i} = llvm.bitcast %f{i} : f32 to i32" for i in range(4)),
]
A = [f"%w{i}" for i in range(4)]


def test_registers_of_a_need_a_fence() -> None:
    tail = [*END, *stores("%p", "f32", 4)]
    assert find(*WORDS, FENCE, *of_registers("p", A), *tail) == []
    assert find(*WORDS, FENCE, *of_registers("q", A), *of_registers("p", A), *tail) == []
    (finding,) = find(FENCE, *WORDS, *of_registers("p", A), *tail)
    assert finding.kind == "missing-fence"
    assert finding.message == "the wgmma may not see writes to its accumulator registers or the registers of operand A"


def test_warpgroups_that_diverge() -> None:
    """Each warpgroup has its own `wgmma` groups in a branch, and its own fences."""
    branch = ["%half = arith.constant 128 : index", "%mine = arith.cmpi ult, %t, %half : index", "scf.if %mine {"]
    inside = [*LOADED, FENCE, wgmma("p", "%c"), *END, *stores("%p", "f32", 4)]
    arguments = ARGUMENTS.replace("128x4", "256x4")
    wide = [line.replace("128x4", "256x4") for line in inside]
    made = sim.simulate(kernel(arguments, [*COPIES, *branch, *wide, "}"], 256), "sim:sm_90a")
    assert made.find(*made.random_arguments()) == ()
    after = [*LOADED, wgmma("q", "%c"), *END, *stores("%q", "f32", 4, prefix="s")]
    lines = [*COPIES, *branch, FENCE, "}", *(line.replace("128x4", "256x4") for line in after)]
    (finding,) = sim.simulate(kernel(arguments, lines, 256), "sim:sm_90a").find(*made.random_arguments())
    assert finding.kind == "missing-fence" and finding.agent.startswith("warps 4, 5, 6, 7")


@pytest.mark.parametrize("options", [{}, {"specialize": "off"}], ids=["specialized", "alone"])
def test_every_effective_fence_of_a_matmul_is_caught(options: dict[str, Any]) -> None:
    made = sim.simulate(matmul(128, 128, 128), "sim:sm_90a", level="thread", matmul="wgmma", depth=2, **options)
    outcomes = mutants.score(made, made.random_arguments(), kinds=("fence dropped",))
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    assert "nvvm.wgmma.fence.aligned" in {outcome.mutant.operation for outcome in outcomes}


def test_redundant_fences_do_not_have_mutants() -> None:
    lines = [FENCE, wgmma("q", "%c"), FENCE, wgmma("p", "%q"), *END, *stores("%p", "f32", 4)]
    made = sim.simulate(kernel(ARGUMENTS, [*COPIES, *LOADED, *lines]), "sim:sm_90a")
    outcomes = mutants.score(made, made.random_arguments(), kinds=("fence dropped",))
    fences = [outcome.mutant for outcome in outcomes if outcome.mutant.operation == FENCE]
    assert len(fences) == 1 and all(outcome.caught for outcome in outcomes)
