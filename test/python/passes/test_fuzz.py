# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fuzzer's fixed set: the same random programs every time, on one target of each kind, against the reference."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest
import smalti
from fuzz import differential
from fuzz.campaign import SETTINGS, Campaign
from fuzz.grammar import programs
from fuzz.program import Program
from fuzz.targets import default_targets
from smalti import reference


@pytest.mark.grid(3)
@pytest.mark.parametrize("target", default_targets())
def test_random_kernels_agree_with_the_reference(target: str) -> None:
    tally = differential.Tally()

    @hypothesis.settings(SETTINGS, max_examples=7, derandomize=True)
    @hypothesis.given(programs())
    def run(program: Program) -> None:
        differential.compare(program, [target], tally)

    run()
    # Refusals are allowed, but not to become the rule.
    assert tally.agreed[target] >= 4, tally


DOUBLED = """
triton_xla.entry_func @doubled(%x: memref<32xf32>, %y: memref<32xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0] [32] [1] : memref<32xf32> to tensor<32xf32>
  %u = arith.addf %t, %t : tensor<32xf32>
  triton_xla.insert %u into %y[0] [32] [1] : tensor<32xf32> into memref<32xf32>
  triton_xla.return
}
"""


def test_a_wrong_target_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(DOUBLED)
    differential.compare(program, ["cpu"])
    compiled = smalti.compile
    tripled = DOUBLED.replace(
        "%u = arith.addf %t, %t", "%v = arith.addf %t, %t : tensor<32xf32>\n  %u = arith.addf %v, %t"
    )
    monkeypatch.setattr(smalti, "compile", lambda text, **options: compiled(tripled, **options))
    with pytest.raises(differential.Disagreement, match=r"cpu: argument 1 .* 32 of 32 elements are wrong"):
        differential.compare(program, ["cpu"])


def test_a_crash_is_not_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(message: str) -> differential.Tally:
        def compile_(*_: object, **__: object) -> None:
            raise smalti.CompileError("", diagnostics=[smalti.errors.Diagnostic("error", message, None)])

        monkeypatch.setattr(smalti, "compile", compile_)
        tally = differential.Tally()
        differential.compare(Program(DOUBLED), ["cpu"], tally)
        return tally

    assert refuse("a tile of type tensor<3x5xf32> needs 12 registers").refused == {
        ("cpu", "a tile of type N needs N registers"): 1
    }
    with pytest.raises(differential.Disagreement, match="failed to legalize"):
        refuse("failed to legalize operation 'arith.addf'")


def test_a_failure_is_reduced_kept_and_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A reference with wrong sums.
    monkeypatch.setitem(reference.HANDLERS, "arith.addf", reference.HANDLERS["arith.subf"])
    campaign = Campaign(["cpu"])
    failure = campaign.batch(seed=1, count=100)
    assert failure is not None and failure.target == "cpu"
    # The reduced kernel needs the sum.
    assert failure.program.text.count("arith.") <= 3 and "arith.addf" in failure.program.text
    path = failure.save(tmp_path)
    again = Program.load(path)
    assert again == failure.program
    with pytest.raises(differential.Disagreement):
        differential.compare(again, ["cpu"])
    monkeypatch.undo()
    differential.compare(again, ["cpu"])
