# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of the matrix of tile-level operations. `tools/dev fuzz tiles` runs all of it, with a table of refusals."""

from __future__ import annotations

import random

import pytest
from smalti.errors import CompileError, Diagnostic

from tiles import kernels, matrix

CASES = list(kernels.cases())


def sample(count: int, seed: str) -> list[kernels.Case]:
    return random.Random(seed).sample(CASES, count)


def check(cases: list[kernels.Case], target: str) -> matrix.Report:
    report = matrix.Report()
    for case in cases:
        report.add(matrix.run(case, [target]))
    assert not report.wrong, "\n".join(map(str, report.wrong))
    return report


def test_names_are_unique_and_kernels_are_many() -> None:
    assert len({str(case) for case in CASES}) == len(CASES) > 2000


def test_the_reference_executes_every_operation() -> None:
    """One kernel of each operation, in a type and a shape that depend on the operation."""
    by_operation: dict[str, list[kernels.Case]] = {}
    for case in CASES:
        by_operation.setdefault(case.operation, []).append(case)
    for operation, cases in by_operation.items():
        matrix.expected(random.Random(operation).choice(cases))


@pytest.mark.parametrize("target", matrix.TARGETS)
def test_a_sample_is_right_or_refused(target: str) -> None:
    check(sample(30 if target == "cpu" else 8, target), target)


@pytest.mark.parametrize("target", matrix.TARGETS)
def test_switches_are_right(target: str) -> None:
    """The branches yield tiles from outside, also in the simulator."""
    report = check(matrix.selected(CASES, "^scf.index_switch-f32"), target)
    assert not report.reasons()


def test_a_wrong_result_is_not_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in CASES if str(case) == "arith.addf-f32-aligned")
    (right,) = matrix.run(case, ["cpu"])
    assert right.kind == "right"
    wanted = matrix.expected(case)
    wanted[-1].data += 1
    monkeypatch.setattr(matrix, "expected", lambda case: wanted)
    (wrong,) = matrix.run(case, ["cpu"])
    assert wrong.kind == "wrong" and "elements are wrong" in wrong.detail


def test_a_refusal_has_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_(*_: object, **__: object) -> None:
        raise CompileError("", diagnostics=[Diagnostic("error", "tiles of 3 elements are not supported")])

    monkeypatch.setattr("smalti.compile", compile_)
    report = matrix.Report()
    report.add(matrix.run(CASES[0], ["cpu"]))
    assert report.reasons() == ["cpu: 1 refused: tiles of N elements are not supported"]


@pytest.mark.parametrize("target", ["emu:gfx950", "emu:gfx1250"])
def test_transposes_of_rank_3_on_chips_with_transposed_reads(target: str) -> None:
    """The relayout goes through shared memory."""
    names = [
        f"triton_xla.transpose of rank 3-{element}-{extent}"
        for element, extent in (("f16", "ragged"), ("i16", "aligned"))
    ]
    check([case for case in CASES if str(case) in names], target)
