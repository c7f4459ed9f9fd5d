# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutation fuzzer: the same mutants for the same seed, a watchdog, counts that add up, a resumed run."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import ROOT
from mutation import campaign, corpus, stacks, triage, undefined
from mutation.mutators import MUTATIONS, Pool, mutate, statements_in, types_in
from mutation.pool import Died, Limits, Worker
from mutation.worker import Case, Corpus
from smalti.compiler import entry

GENERIC = """\
"builtin.module"() ({
  "func.func"() <{function_type = (index, f32) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: index, %arg1: f32):
    %0 = "arith.constant"() <{value = 7 : index}> : () -> index
    %1 = "arith.addi"(%arg0, %0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""


# ---------------------------------------------------------------------------------------------------------------------
# The mutants
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(MUTATIONS))
def test_a_mutation_changes_the_program_and_is_repeatable(kind: str) -> None:
    pool = Pool.of([GENERIC])
    mutants = [mutate(GENERIC, kind, pool, random.Random(seed)) for seed in range(50)]
    assert mutants == [mutate(GENERIC, kind, pool, random.Random(seed)) for seed in range(50)]
    assert sum(mutant != GENERIC for mutant in mutants) > 40
    assert len(set(mutants)) > 5


def test_the_generic_form_says_which_values_a_statement_may_use() -> None:
    scopes = {statement.match["op"]: statement.scope for statement in statements_in(GENERIC)}
    assert scopes["arith.addi"] == {"%arg0": "index", "%arg1": "f32", "%0": "index"}
    assert scopes["func.return"] == {**scopes["arith.addi"], "%1": "index"}


def test_nested_types_are_found_as_a_whole() -> None:
    text = "memref<4x?xf16, affine_map<(d0, d1) -> (d1, d0)>, 3>"
    assert text in {f"({text}) -> f32"[start:end] for start, end in types_in(f"({text}) -> f32")}


def test_kernels_and_pipelines_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(
        "// RUN: smalti-opt %s --pass-pipeline='builtin.module(any(smalti-p{n=1}))' \\\n// RUN:   | FileCheck %s\n"
        "// RUN: smalti-opt %s --smalti-q='m=2 k=3' --cse\n"
        "func.func @one()\n// -----\n  // expected-error@below {{no}}\nfunc.func @two()\n"
    )
    (file,) = corpus.read(tmp_path)
    assert file.programs == ("func.func @one()\n", "func.func @two()\n")
    pipelines = corpus.Pipelines([file], {"smalti-p": "any", "smalti-q": "gpu.module", "cse": ""}, lambda _: True)
    assert pipelines.of_file["a.mlir"] == (
        "builtin.module(any(smalti-p{n=1}))",
        "builtin.module(gpu.module(smalti-q{m=2 k=3}))",
        "builtin.module(cse)",
    )
    nested = "builtin.module(any({0}),gpu.module(any({0})))"
    assert pipelines.of_pass["smalti-p"] == (nested.format("smalti-p"), nested.format("smalti-p{n=1}"))
    assert "cse" not in pipelines.of_pass


def test_every_pass_of_ours_is_in_a_pipeline_and_every_file_in_a_round() -> None:
    files = corpus.read()
    chosen = Corpus([file for file in files if file.name.startswith("test/kernels/")])
    assert {"smalti-compile", "mosaic-gpu-infer-layouts", "smalti-annotate-lds-dma"} <= set(chosen.pipelines.of_pass)
    cases = [Case(number, 5, chosen) for number in range(1, 8)]
    assert {case.file for case in cases} == {file.name for file in chosen.files}
    assert [case.text for case in cases] == [Case(number, 5, chosen).text for number in range(1, 8)]
    assert cases[0].text != Case(1, 6, chosen).text


# ---------------------------------------------------------------------------------------------------------------------
# The processes
# ---------------------------------------------------------------------------------------------------------------------

WORKER = """
import os, sys, json
from mutation.worker import serve

def do(job):
    def tell(**event): print(json.dumps(event), flush=True)
    for number in range(job["first"], job["end"]):
        tell(mutant=number, file="f.mlir", kind="token", text=f"program {number}")
        tell(stage="parse")
        if number % 50 == 7:
            sys.stderr.write("LLVM ERROR: on purpose\\n")
            sys.stderr.flush()
            os.abort()
        tell(stage="parse", outcome="valid", message="")
        tell(stage="builtin.module(cse)")
        while number == 13:
            pass
        tell(stage="builtin.module(cse)", outcome="refused", message="no")

serve(sys.stdin, sys.stdout, do, ready="corpus")
"""


def make_worker() -> Worker:
    return Worker([sys.executable, "-c", WORKER], Limits(cpu=0.2, wall=5))


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "test" / "python"))
    monkeypatch.setattr(campaign, "crash_of", lambda *arguments, **options: None)
    made = make_worker()
    yield made
    made.close()


def test_a_crash_and_a_hang_end_one_mutant(worker: Worker) -> None:
    results = list(worker.run({"first": 5, "end": 16, "seed": 0}))
    assert [result.number for result in results] == list(range(5, 16))
    outcomes = {result.number: [(stage.name, stage.outcome) for stage in result.stages] for result in results}
    assert outcomes[7] == [("parse", "crash")]
    assert "SIGABRT" in results[2].stages[0].message and "on purpose" in results[2].stages[0].message
    assert outcomes[13] == [("parse", "valid"), ("builtin.module(cse)", "hang")]
    assert outcomes[15] == [("parse", "valid"), ("builtin.module(cse)", "refused")]


def test_a_worker_that_does_not_start_is_an_error() -> None:
    worker = Worker([sys.executable, "-c", "raise SystemExit('no such module')"])
    with pytest.raises(Died, match="no such module"):
        list(worker.run({"first": 0, "end": 1, "seed": 0}))


@pytest.mark.usefixtures("worker")
def test_counts_add_up_over_an_interrupted_run(tmp_path: Path) -> None:
    whole = campaign.run(tmp_path / "whole", 3, 200, 1, resume=False, make=make_worker)
    assert whole.counts.mutants == 200
    assert whole.counts.parse == Counter({"valid": 196, "crash": 4})
    assert whole.counts.runs == {"cse": Counter({"refused": 195, "hang": 1})}
    assert [(f.number, f.outcome) for f in whole.findings] == [
        (7, "crash"), (13, "hang"), (57, "crash"), (107, "crash"), (157, "crash")
    ]  # fmt: skip

    path = tmp_path / "resumed"
    campaign.run(path, 3, 100, 1, resume=False, make=make_worker)
    # An interrupted write is not a batch.
    path.write_text(path.read_text() + '{"batch": 1, "cou')
    path.write_text(path.read_text() + "\n")
    resumed = campaign.run(path, 0, 200, 1, resume=True, make=make_worker)
    assert (resumed.seed, resumed.counts, resumed.done) == (3, whole.counts, {0, 1})
    assert resumed.corpora == {"corpus": 200}
    again = campaign.State.load(path)
    assert again.counts == whole.counts
    assert [(f.number, f.stage, f.text) for f in again.findings] == [
        (f.number, f.stage, f.text) for f in whole.findings
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Programs without one result
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tiles", "body", "reason"),
    [
        (2, "%n = arith.divui %one, %tile : index", "arith.divui by zero"),
        (2, "%n = arith.shli %one, %m : index", "arith.shli by more than the width"),
        (2, "%n = arith.addi %one, %m overflow<nsw> : index", "arith.addi with flags of overflow"),
        (2, "%n = arith.index_cast %tile : index to i64\n  %f = arith.sitofp %n : i64 to f32", ""),
        (1, "scf.for %i = %tile to %large step %one {\n  }", "more than"),
        (2, "triton_xla.insert %x into %a[0] [4] [1] : tensor<4xf32> into memref<8xf32>", ""),
    ],
)
def test_undefined_behavior_is_found(tiles: int, body: str, reason: str) -> None:
    module = program(tiles, body)
    said = undefined.behavior(entry.find_entry(module), [np.full(8, -1, np.float32)])
    assert said.startswith(reason) and bool(said) == bool(reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("triton_xla.insert %x into %a[%four] [4] [1] : tensor<4xf32> into memref<8xf32>", ""),
        ("triton_xla.insert %x into %a[0] [4] [1] : tensor<4xf32> into memref<8xf32>", "two tiles write one element"),
    ],
)
def test_results_that_depend_on_the_order_of_tiles_are_found(body: str, reason: str) -> None:
    module = program(2, body)
    assert undefined.order(entry.find_entry(module), [np.full(8, -1, np.float32)]) == reason


def program(tiles: int, body: str) -> Any:
    return smalti.parse(f"""triton_xla.entry_func @f(%a: memref<8xf32>, %tile: index) tiles {tiles} {{
  %one = arith.constant 1 : index
  %m = arith.constant -1 : index
  %large = arith.constant 1000000000 : index
  %c4 = arith.constant 4 : index
  %four = arith.muli %tile, %c4 : index
  %i32 = arith.index_cast %tile : index to i32
  %n32 = arith.sitofp %i32 : i32 to f32
  %x = tensor.splat %n32 : tensor<4xf32>
  {body}
  triton_xla.return
}}""")


# ---------------------------------------------------------------------------------------------------------------------
# Texts of findings
# ---------------------------------------------------------------------------------------------------------------------


def test_a_kernel_is_reduced_to_the_ops_of_the_finding() -> None:
    def shows(text: str) -> bool:
        # The brackets must stay balanced.
        return '"arith.addi"' in text and "func.func" in text and text.count("{") == text.count("}")

    reduced = triage.reduce(GENERIC, shows)
    assert shows(reduced) and len(reduced.splitlines()) <= 5


@pytest.mark.parametrize(
    ("stage", "text", "owner"),
    [
        (triage.PARSE, '"func.func"() <{sym_name = ""}>', "upstream"),
        (triage.PARSE, "linalg.generic", "upstream"),
        (triage.PARSE, '"nvgpu.device_async_create_group"() : () -> ()\nmosaic_gpu.wait_wgmma', "upstream"),
        (triage.PARSE, "triton_xla.extract", "ours"),
        ("smalti-lower-pad", "linalg.generic", "ours"),
    ],
)
def test_whose_finding_without_a_stack_it_is(stage: str, text: str, owner: str) -> None:
    finding = campaign.Finding(0, "", "", stage, "unparsable", "", text)
    assert triage.owner_of_text(finding, text) == owner


def test_whose_crash_it_is() -> None:
    said = """\
Stack dump:
 #0 0x00007f1 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/llvm-22/lib/libLLVM.so.22.1+0x3a)
 #1 0x00007f2 (/lib/x86_64-linux-gnu/libc.so.6+0x1)
 #2 0x00007f2 raise (/lib/x86_64-linux-gnu/libc.so.6+0x3)
 #3 0x00007f3 mlir::FloatType::getWidth() (/usr/lib/llvm-22/lib/libMLIR.so.22.1+0x1b)
 #4 0x00005a4 (anonymous namespace)::Plan::make(mlir::Operation*) Plan.cpp:0:0
 #5 0x0000561 main (/work/build/bin/smalti-opt+0x7)
"""
    ours = stacks.Crash(-11, stacks.stack_of(said))
    assert ours.stack[0] == "mlir::FloatType::getWidth() (/usr/lib/llvm-22/lib/libMLIR.so.22.1)"
    assert ours.is_below_ours
    without = said[: said.index(" #4")] + " #4 0x0000561 main (/work/build/bin/smalti-opt+0x7)\n"
    assert not stacks.Crash(-11, stacks.stack_of(without)).is_below_ours


def test_a_stack_without_symbols_is_the_same_in_each_process() -> None:
    said = "0  libLLVM.so.22.1 0x00007fd0\n1  libc.so.6 0x00007f12\n2  libMLIR.so.22.1 0x{}d12 mlir::f() + 8\n3  smalti-opt 0x{}a42\n"
    assert stacks.stack_of(said.format("7f1", "561")) == ("libMLIR.so.22.1 mlir::f() + 8", "smalti-opt a42")
    assert stacks.stack_of(said.format("7f2", "562")) == stacks.stack_of(said.format("7f1", "561"))


def test_findings_of_one_cause_have_one_signature() -> None:
    def signature(message: str) -> str:
        return campaign.Finding(0, "f", "type", "builtin.module(any(smalti-p{n=1}))", "opaque", message, "").signature

    assert signature("<text>:3:4: error: %a has 12 of memref<4xf32>") == signature(
        "<text>:9:1: error: %b has 7 of memref<8xf16>"
    )
    assert signature("error: too large") != signature("error: too small")
