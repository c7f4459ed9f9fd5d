# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fuzzer's fixed set: the same random programs every time, on one target of each kind, against the reference."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import numpy as np
import pytest
import smalti
from fuzz import differential
from fuzz.campaign import SETTINGS, Campaign
from fuzz.grammar import programs
from fuzz.program import Program
from fuzz.targets import default_targets
from smalti import reference
from smalti.compiler import entry
from smalti.reference.values import error_of


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


ZEROS = """
triton_xla.entry_func @zeros(%x: memref<64xT>, %y: memref<64xT>, %max: memref<64xT>, %min: memref<64xT>,
                             %sign: memref<64xT>, %inverse: memref<64xT>, %bits: memref<64xINT>,
                             %equal: memref<64xi8>, %tile: index) tiles 1 {
  %zero = arith.constant dense<0.0> : tensor<64xT>
  %one = arith.constant dense<1.0> : tensor<64xT>
  %t = triton_xla.extract %x[0] [64] [1] : memref<64xT> to tensor<64xT>
  %u = triton_xla.extract %y[0] [64] [1] : memref<64xT> to tensor<64xT>
  %a = arith.mulf %t, %zero : tensor<64xT>
  %b = arith.mulf %u, %zero : tensor<64xT>
  %larger = arith.maxnumf %a, %b : tensor<64xT>
  %smaller = arith.minnumf %a, %b : tensor<64xT>
  %s = math.copysign %one, %larger : tensor<64xT>
  %i = arith.divf %one, %smaller : tensor<64xT>
  %n = arith.bitcast %larger : tensor<64xT> to tensor<64xINT>
  %e = arith.cmpf oeq, %larger, %smaller : tensor<64xT>
  %w = arith.extui %e : tensor<64xi1> to tensor<64xi8>
  triton_xla.insert %larger into %max[0] [64] [1] : tensor<64xT> into memref<64xT>
  triton_xla.insert %smaller into %min[0] [64] [1] : tensor<64xT> into memref<64xT>
  triton_xla.insert %s into %sign[0] [64] [1] : tensor<64xT> into memref<64xT>
  triton_xla.insert %i into %inverse[0] [64] [1] : tensor<64xT> into memref<64xT>
  triton_xla.insert %n into %bits[0] [64] [1] : tensor<64xINT> into memref<64xINT>
  triton_xla.insert %w into %equal[0] [64] [1] : tensor<64xi8> into memref<64xi8>
  triton_xla.return
}
"""
"""Each element of `%a` and `%b` is a zero with the sign of a random number."""


@pytest.mark.grid(12)
@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("target", [*default_targets(), "sim:sm_90a", "sim:gfx942"])
def test_either_zero_is_correct(target: str, element: str) -> None:
    program = Program(ZEROS.replace("xT>", f"x{element}>").replace("INT", f"i{element.strip('bf')}"))
    tally = differential.Tally()
    differential.compare(program, [target], tally)
    assert tally.agreed[target] == 1, tally


def test_the_reference_of_zeros() -> None:
    program = Program(ZEROS.replace("xT>", "xf32>").replace("INT", "i32"))
    arguments = program.arguments()
    with np.errstate(all="ignore"):
        values = reference.run(entry.find_entry(smalti.parse(program.text)), arguments)
    is_either = np.signbit(arguments[0]) != np.signbit(arguments[1])
    assert 0 < is_either.sum() < 64
    for value in values[4:7]:
        np.testing.assert_array_equal(np.isinf(error_of(value)) | (error_of(value) >= 1), is_either)
    # A comparison does not depend on the sign of a zero.
    assert values[7].data.all() and not error_of(values[7]).any()


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
