# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wgmma` of the simulator, and the project's own PTX: against float64, and bit for bit against the emulator."""

from __future__ import annotations

import functools
import itertools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import BUILD, PALLAS
from smalti import CompileError, SimulationError, sim, targets
from smalti.sim import mutants
from wgmma_programs import (
    COMMIT,
    DTYPES,
    FENCE,
    PROXY,
    ROWS,
    WAIT,
    accumulators,
    copy,
    depth,
    descriptor,
    in_memory,
    in_registers,
    kernel,
    loads,
    pack,
    shared_wgmma,
    stores,
    structure,
)

SUMS = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "s32": np.dtype(np.int32)}


@functools.cache
def table() -> list[dict[str, Any]]:
    """Every text of PTX that the project writes."""
    printed = subprocess.run([BUILD / "bin" / "smalti-ptx-table"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in printed.stdout.splitlines()]


def wgmmas() -> dict[tuple[str, ...], dict[str, Any]]:
    """The texts of `wgmma` ops, by columns, types, and whether B is transposed."""
    found = {}
    for row in table():
        if row["instruction"] == "wgmma.mma_async":
            shape = re.search(r"m64n(\d+)k(\d+)\.(\w+)\.(\w+)\.(\w+) .* p(.*);\n}", row["text"])
            assert shape is not None, row["text"]
            n, k, sums, a, b, flags = shape.groups()
            assert int(k) == depth(a)
            found[int(n), sums, a, b, flags == ", 1, 1, 1"] = row
    return found


def test_every_assembly_text_of_the_conversions_is_supported() -> None:
    """All texts in one function: what the simulator does not know would be an error that names it. Accesses with cache
    hints are plain accesses in simulated code, which ends before smalti-lower-cache-hints."""
    rows = [row for row in table() if "with a" not in row["instruction"]]
    words = {"h": "i16", "r": "i32", "l": "i64", "f": "f32", "d": "f64"}
    lines = [f"%{letter} = llvm.mlir.poison : {ty}" for letter, ty in words.items()]
    lines += ["%q = llvm.mlir.zero : !llvm.ptr<7>"]
    for number, row in enumerate(rows):
        is_wgmma = row["instruction"] == "wgmma.mma_async"
        # Addresses in the shared memory of a cluster are pointers.
        letters = row["read"] if is_wgmma else row["read"].replace("l", "q")
        values = [f"%{letter}" for letter in row["changed"] + letters]
        types = [words.get(letter, "!llvm.ptr<7>") for letter in row["changed"] + letters]
        constraints = [f"={letter}" for letter in row["changed"]]
        constraints += [str(i) for i in range(len(row["changed"]))] + list(row["read"])
        result = f"!llvm.struct<({', '.join(types[: len(row['changed'])])})>" if row["changed"] else "!llvm.void"
        text = row["text"].replace("\n", "\\0A")
        name = f"%result{number} = " if row["changed"] else ""
        lines.append(
            f'{name}llvm.inline_asm has_side_effects "{text}", "{",".join(constraints)}" {", ".join(values)} '
            f": ({', '.join(types)}) -> {result}".replace(" -> !llvm.void", " -> ()")
        )
    assert len(rows) == len(lines) - len(words) - 1 > 500
    made = sim.simulate(kernel("%o: memref<1xf32>", lines), "sim:sm_90a")
    assert made.module is not None
    with pytest.raises(CompileError) as caught:
        sim.simulate(
            kernel("%o: memref<1xf32>", [line.replace("red.async", "red.other") for line in lines]), "sim:sm_90a"
        )
    assert "red.other" in str(caught.value)


def given(kind: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind in ("s8", "u8"):
        return rng.integers(0, 256, shape).astype(np.uint8).view(DTYPES[kind])
    return rng.standard_normal(shape).astype(DTYPES[kind])


def exact(kind: str, matrix: np.ndarray) -> np.ndarray:
    """The operand values of the tensor core, as float64."""
    if kind == "tf32":
        matrix = (matrix.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return matrix.astype(np.float64)


def start_of(sums: str, columns: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if sums == "s32":
        limit = 2**31 - 1
        return np.where(rng.random((ROWS, columns)) < 0.5, limit - 5, -limit).astype(np.int32)
    return (4 * rng.standard_normal((ROWS, columns))).astype(SUMS[sums])


def as_words(lanes: np.ndarray) -> np.ndarray:
    """Registers of 32 bits: pairs of f16 in a number."""
    return np.ascontiguousarray(lanes).view(np.int32) if lanes.dtype == np.float16 else lanes


def wanted(sums: str, exact_result: np.ndarray, saturated: bool = False) -> np.ndarray:
    if sums != "s32":
        with np.errstate(over="ignore"):
            return exact_result.astype(SUMS[sums])
    if saturated:
        return np.clip(exact_result, -(2**31), 2**31 - 1).astype(np.int64).astype(np.int32)
    return exact_result.astype(np.int64).astype(np.int32)


def check(found: np.ndarray, exactly: np.ndarray) -> None:
    """Rounded once; the order of the sum of float64 may differ."""
    if found.dtype.kind == "i":
        assert (found == exactly).all()
    else:
        eps = float(np.finfo(found.dtype).eps)
        assert np.allclose(found.astype(np.float64), exactly.astype(np.float64), rtol=eps, atol=eps / 64)
        assert (found == exactly).mean() > 0.99


class Case:
    """A kernel with a `wgmma` of some form, and its arguments."""

    def __init__(
        self,
        columns: int,
        sums: str,
        a: str,
        b: str,
        *,
        text: str | None = None,
        transposed: tuple[bool, bool] = (False, False),
        scale: str = "one",
        sign: str = "one",
        saturated: bool = False,
    ) -> None:
        left, right = given(a, (ROWS, depth(a)), 1), given(b, (columns, depth(b)), 2)
        start = start_of(sums, columns, 3)
        register = {"f32": "f32", "f16": "i32", "s32": "i32"}[sums]
        lanes = as_words(accumulators(start))
        count = lanes.shape[1]
        bytes_of_b = in_memory(right, transposed[1])
        size = 16 * 8 * -(-len(bytes_of_b) // 128)
        lines = [
            *copy("b", size),
            *loads("c", count, register, "c"),
            *pack([f"%cv{i}" for i in range(count)], register, "s"),
        ]
        if text is None:
            source = in_memory(left, transposed[0])
            lines += [*copy("a", 2048), *PROXY, *descriptor("a", 2048), *descriptor("b", size), FENCE]
            kinds = (sums, a, b)
            lines.append(shared_wgmma("p", "%s", columns, kinds, register, transposed, scale, sign, saturated))
            first = "%a: memref<2048xi8>"
        else:
            source = in_registers(left)
            lines += [*loads("a", 4, "i32", "a"), *PROXY, *descriptor("b", size), FENCE]
            operands = [f"%cv{i}" for i in range(count)] + [f"%av{i}" for i in range(4)] + ["%bd"]
            types = [register] * count + ["i32"] * 4 + ["i64"]
            letter = "f" if register == "f32" else "r"
            constraints = [f"={letter}"] * count + [str(i) for i in range(count)] + ["r"] * 4 + ["l"]
            escaped = text.replace("\n", "\\0A")
            lines.append(
                f'%p = llvm.inline_asm has_side_effects "{escaped}", "{",".join(constraints)}" {", ".join(operands)} '
                f": ({', '.join(types)}) -> {structure(register, count)}"
            )
            first = "%a: memref<128x4xi32>"
        lines += [COMMIT, WAIT, *stores("%p", register, count)]
        arguments = (
            f"{first}, %b: memref<{size}xi8>, %c: memref<128x{count}x{register}>, %o: memref<128x{count}x{register}>"
        )
        self.text = kernel(arguments, lines)
        filled = np.zeros(size, np.int8)
        filled[: len(bytes_of_b)] = bytes_of_b
        self.arguments = (source, filled, lanes)
        exact_result = exact(a, left) @ exact(b, right).T
        exact_result = -exact_result if sign == "neg" else exact_result
        exact_result = exact_result + (start.astype(np.float64) if scale == "one" else 0)
        self.wanted = accumulators(wanted(sums, exact_result, saturated))
        self.dtype = SUMS[sums]

    def run(self, target: str) -> np.ndarray:
        out = np.zeros_like(self.arguments[2])
        smalti.compile(self.text, target=target)(*(x.copy() for x in self.arguments), out)
        return out.view(self.dtype)

    def check(self) -> None:
        check(self.run("sim:sm_90a"), self.wanted)


KINDS = sorted({key[1:4] for key in wgmmas()}) if (BUILD / "bin" / "smalti-ptx-table").exists() else []
BYTES = [("s32", a, b) for a, b in itertools.product(("s8", "u8"), repeat=2)]


def test_warpgroups_of_one_chip_multiply() -> None:
    """Another chip that has `wgmma`, or another type, needs tests here."""
    assert [target.name for target in targets.all() if target.has_wgmma] == ["sm_90a"]
    assert {kind for _, *kinds in KINDS for kind in kinds} | {"u8"} == set(DTYPES) and len(KINDS) == 13


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_wgmma_with_a_in_registers(kinds: tuple[str, str, str]) -> None:
    rows = {key: row for key, row in wgmmas().items() if key[1:4] == kinds}
    rng = np.random.default_rng(sum(map(ord, "".join(kinds))))
    columns = sorted({key[0] for key in rows})
    for n in {8, 256 if kinds == ("f32", "bf16", "bf16") else 24, int(rng.choice(columns[3:12]))}:
        for transposed in (False, True):
            if row := rows.get((n, *kinds, transposed)):
                Case(n, *kinds, text=row["text"], transposed=(False, transposed)).check()


@pytest.mark.parametrize("kinds", sorted({*KINDS, *BYTES}), ids="-".join)
def test_mmas_of_shared_memory(kinds: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(sum(map(ord, "".join(kinds))))
    Case(int(rng.choice([16, 32, 48, 64, 80])), *kinds).check()
    Case(8, *kinds, scale="zero").check()
    if kinds[0] == "s32":
        Case(24, *kinds, saturated=True).check()
    else:
        Case(16, *kinds, sign="neg").check()
    if kinds[1] in ("f16", "bf16"):
        for transposed in ((True, False), (False, True), (True, True)):
            Case(16, *kinds, transposed=transposed).check()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n8k16", "n12k16"),
        ("n8k16", "n8k32"),
        (".f16.f16", ".f16.bf16"),
        (", p, 1, 1, 0", ", p, 1, 2, 0"),
        (", p, 1, 1, 0", ", p, 1, 1"),
        ("setp.ne.b32 p, 1, 0", "setp.eq.b32 p, 1, 0"),
        ("$8, $9, $10, $11", "$8, $9, $10"),
        ("n8k16.f32", "n8k16.f64"),
        ("$12, p", "$13, p"),
        ("$12, p", "!$12, p"),
        ("{$0, $1, $2, $3}, ", ""),
        (",0,1,2,3,r,", ",0,1,2,7,r,"),
        (",r,l", ",l"),
        ("wgmma.mma_async", "@p wgmma.mma_async"),
        ("wgmma.mma_async.sync", "wgmma.mma.sync"),
    ],
)
def test_invalid_matmuls(before: str, after: str) -> None:
    case = Case(8, "f32", "f16", "f16", text=wgmmas()[8, "f32", "f16", "f16", False]["text"])
    changed = case.text.replace(before, after)
    assert changed != case.text
    with pytest.raises(CompileError, match=re.escape("'llvm.inline_asm'")) as caught:
        smalti.compile(changed, target="sim:sm_90a")
    assert len(caught.value.diagnostics) == 1


def test_fences_and_waits_in_assembly() -> None:
    case = Case(8, "f32", "f16", "f16")
    for line, text in ((FENCE, "fence"), (COMMIT, "commit_group"), (WAIT, "wait_group")):
        number = " 0" if text == "wait_group" else ""
        written = f'llvm.inline_asm has_side_effects "wgmma.{text}.sync.aligned{number};", "" : () -> ()'
        assert line in case.text
        case.text = case.text.replace(line, written)
    case.check()
    case.text = "\n".join(line for line in case.text.splitlines() if "wgmma.wait_group" not in line)
    with pytest.raises(SimulationError, match="may be in flight"):
        case.check()


def test_blocks_have_whole_warpgroups() -> None:
    text = Case(8, "f32", "f16", "f16").text.replace("array<i32: 128, 1, 1>", "array<i32: 160, 1, 1>")
    with pytest.raises(CompileError, match="the block has 160 threads; a kernel with wgmma requires a multiple of 128"):
        smalti.compile(text, target="sim:sm_90a")


@pytest.mark.parametrize(
    ("kinds", "more"),
    [
        (("f32", "f16", "f16"), {"transposed": (True, True)}),
        (("f16", "f16", "f16"), {"sign": "neg"}),
        (("f32", "tf32", "tf32"), {}),
        (("f16", "e4m3", "e5m2"), {}),
        (("s32", "s8", "u8"), {"saturated": True}),
    ],
    ids=lambda x: "-".join(x),
)
def test_the_emulator_gives_the_same_bits(kinds: tuple[str, str, str], more: dict[str, Any]) -> None:
    case = Case(16, *kinds, **more)
    assert case.run("sim:sm_90a").tobytes() == case.run("emu:sm_90a").tobytes()


def test_the_emulator_gives_the_same_bits_of_registers() -> None:
    case = Case(16, "f16", "e5m2", "e4m3", text=wgmmas()[16, "f16", "e5m2", "e4m3", False]["text"])
    assert case.run("sim:sm_90a").tobytes() == case.run("emu:sm_90a").tobytes()


@pytest.mark.parametrize("kinds", [("f32", "f16", "f16"), ("f16", "e5m2", "e4m3")], ids="-".join)
def test_infinities_and_zeros(kinds: tuple[str, str, str]) -> None:
    """The same as in float64; NaN is NaN."""
    case = Case(8, *kinds)
    _, right, start = case.arguments
    a = np.zeros((ROWS, depth(kinds[1])), DTYPES[kinds[1]])
    a[0, 0], a[1, 0], a[2, 0], a[3, 1] = np.inf, -np.inf, np.nan, -0.0
    b = np.ones((8, depth(kinds[2])), DTYPES[kinds[2]])
    b[1, 0] = 0
    case.arguments = (in_memory(a, False), np.resize(in_memory(b, False), right.shape), np.zeros_like(start))
    found = case.run("sim:sm_90a").astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact_result = accumulators(a.astype(np.float64) @ b.astype(np.float64).T)
    np.testing.assert_array_equal(found, exact_result)


# ---------------------------------------------------------------------------------------------------------------------
# What the conversion writes
# ---------------------------------------------------------------------------------------------------------------------

MODULES = [
    path
    for path in sorted(PALLAS.glob("*.mlir"))
    if "mosaic_gpu.wgmma" in (text := path.read_text())
    and "gpu.launch" in text
    and ".inferred" not in path.suffixes
    # Those are in other tests.
    and not path.stem.startswith("hopper")
]
FOUND = {
    # Slots without a wait, and a copy that overwrites an operand that a `wgmma` may still read: docs/simulator.md.
    "small_attention_causal": {"leak"},
    "ragged_dot": {"race"},
    "small_ragged_dot": {"race"},
    "small_transposed_ragged_dot": {"race"},
}


@pytest.mark.grid(7, cover=lambda path: {path})
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_of_jax_as_threads(path: Path) -> None:
    """They need no further fences, and compute the same as block-level kernels."""
    how = sim.Simulation("round-robin", blocks=range(1), continue_after_finding=True)
    of_blocks = sim.simulate(path, "sim:sm_90a")
    arguments = of_blocks.random_arguments(seed=0)
    results = [[value.copy() for value in arguments] for _ in range(2)]
    of_blocks.run(*results[0], simulation=how)
    of_threads = sim.simulate(path, "sim:sm_90a", level="thread")
    assert {finding.kind for finding in of_threads.run(*results[1], simulation=how).findings} == FOUND.get(
        path.stem, set()
    )
    for one, other in zip(*results, strict=True):
        wide = [value.astype(np.float64) for value in (one, other)]
        # If a race exists, the numbers may differ.
        assert path.stem in FOUND or np.allclose(*wide, rtol=2e-3, atol=2e-2, equal_nan=True)


@pytest.mark.parametrize("name", ["wgmma_registers", "wgmma_softmax", "wgmma_f16_sums"])
def test_every_effective_fence_of_a_module_is_caught(name: str) -> None:
    path = next(path for path in MODULES if path.stem == name)
    made = sim.simulate(path, "sim:sm_90a", level="thread")
    outcomes = mutants.score(made, made.random_arguments(seed=3), kinds=("fence dropped", "wait removed"))
    assert [str(outcome) for outcome in outcomes if not outcome.caught] == []
    operations = [outcome.mutant.operation for outcome in outcomes]
    assert FENCE in operations and WAIT.removesuffix(" 0") in operations
