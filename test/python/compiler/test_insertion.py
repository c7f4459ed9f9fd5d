# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes of the user at points of `smalti.compile`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.language as sl
from click.testing import CliRunner
from conftest import SCALE
from smalti import ir
from smalti.cli import commands
from smalti.compiler import driver, insertion, textual

TARGETS = ["cpu", "sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1201"]


def compiled(source: Any, target: str, **options: Any) -> smalti.Kernel:
    kernel = smalti.compile(source, target, **options)
    assert isinstance(kernel, smalti.Kernel)
    return kernel


def names_in(module: Any) -> set[str]:
    found: set[str] = set()
    module.operation.walk(lambda op: found.add(op.name) or ir.WalkResult.ADVANCE)
    return found


class Recorder:
    """Steps that store the names of the ops at their points."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.ops: dict[str, set[str]] = {}

    def at(self, point: str) -> Callable[[Any], None]:
        def step(module: Any) -> None:
            self.order.append(point)
            self.ops[point] = names_in(module)

        return step


def doubled(module: Any) -> None:
    """Replaces multiplications by additions."""

    def fill(patterns: Any) -> None:
        def rewrite(op: Any, rewriter: Any) -> None:
            with rewriter.ip:
                total = ir.Operation.create(
                    "arith.addf", results=[op.results[0].type], operands=[op.operands[0]] * 2, loc=op.location
                )
            rewriter.replace_op(op, total)

        patterns.add("arith.mulf", rewrite)

    smalti.Pipeline().patterns(fill).run(module)


@pytest.mark.parametrize("target", TARGETS)
def test_the_printed_list_is_that_of_the_compilation(target: str) -> None:
    """Steps at every point that do not change the module do not change the code of any level, so levels end where
    `stop-after` ends."""
    points = [f"{where}:{name}" for name in smalti.insertion_points(target) for where in ("before", "after")]
    seen = Recorder()
    plain = compiled(SCALE, target)
    kernel = compiled(SCALE, target, passes={point: seen.at(point) for point in points})
    assert sorted(seen.order) == sorted(points)
    assert str(kernel.module) == str(plain.module)
    for level in driver.STAGES[kernel.target.vendor]:
        assert kernel.asm[level] == plain.asm[level], level
    assert [str(remark) for remark in kernel.remarks] == [str(remark) for remark in plain.remarks]


BLOCK_LEVEL = """\
gpu.module @kernels {
  gpu.func @twice(%x: memref<128xf32>, %y: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %buffer = memref.alloc() : memref<128xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%t] : memref<128xf32>
    memref.store %v, %buffer[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %w = memref.load %buffer[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %sum = arith.addf %w, %w : f32
    memref.store %sum, %y[%t] : memref<128xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx942"])
def test_block_level_kernels(target: str) -> None:
    seen = Recorder()
    points = ["before:smalti-allocate-shared-memory", "after:smalti-allocate-shared-memory", "after:tile"]
    kernel = compiled(BLOCK_LEVEL, target, passes={point: seen.at(point) for point in points})
    assert seen.order == [points[2], *points[:2]]
    assert "memref.alloc" in seen.ops[points[0]] and "memref.alloc" not in seen.ops[points[1]]
    x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    kernel(x, y)
    assert np.array_equal(y, 2 * x)


def test_order_of_steps() -> None:
    points = ["after:llvm", "before:mosaic", "after:cse#1", "after:tile", "before:thread", "after:smalti-multi-buffer"]
    seen = Recorder()
    smalti.compile(SCALE, "sm_90a", passes={point: seen.at(point) for point in points})
    assert seen.order == [
        "after:cse#1",
        "after:tile",
        "before:mosaic",
        "after:smalti-multi-buffer",
        "before:thread",
        "after:llvm",
    ]
    assert "triton_xla.extract" in seen.ops["after:tile"]
    assert "gpu.func" in seen.ops["before:thread"] and "gpu.thread_id" not in seen.ops["before:thread"]
    assert "llvm.func" in seen.ops["after:llvm"]


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
@pytest.mark.parametrize("kind", ["function", "pipeline", "text"])
def test_a_step_changes_the_kernel(target: str, kind: str) -> None:
    smalti.register_pass("test-doubled", doubled)
    step = {"function": doubled, "pipeline": smalti.Pipeline().add(doubled), "text": "test-doubled,canonicalize"}[kind]
    kernel = compiled(SCALE, target, passes={"after:tile": step})
    assert "arith.addf" in kernel.asm["tile"] and "arith.mulf" not in kernel.asm["tile"]
    assert "arith.mulf" in compiled(SCALE, target).asm["tile"]
    name = "test-doubled" if kind == "text" else "doubled"
    assert f"cse,{name}," in kernel.pipeline


def test_options_of_the_compilation_apply() -> None:
    assert "smalti-pad-shared-memory" in smalti.insertion_points("sm_80")
    assert "smalti-swizzle-shared-memory" in smalti.insertion_points("sm_80", bank_conflicts="swizzle")
    nothing = Recorder().at("")
    kernel = compiled(SCALE, "sm_80", num_warps=2, passes={"after:mosaic": nothing})
    assert kernel.resources.warps == 2


def test_an_exception_of_a_step_reaches_the_caller() -> None:
    def refuse(module: Any) -> None:
        raise ValueError("too large")

    with pytest.raises(ValueError, match="too large") as caught:
        smalti.compile(SCALE, "sm_90a", passes={"after:pipelined": refuse})
    assert "in the Python pass 'refuse'" in caught.value.__notes__


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("tile", "a point is before:NAME or after:NAME"),
        ("after:cse", "the pass 'cse' runs 4 times; use one of 'after:cse#1', "),
        ("after:cse#5", "the pass 'cse' runs only 4 times"),
        ("after:smalti-multi-buffer#2", "runs only once"),
        ("after:nothing-like-it", "'nothing-like-it' is not a level or a pass of the pipeline for sm_90a"),
        ("before:smalti-multibuffer", "did you mean 'smalti-multi-buffer'"),
    ],
)
def test_points_that_do_not_exist(point: str, message: str) -> None:
    with pytest.raises(smalti.PipelineError) as caught:
        smalti.compile(SCALE, "sm_90a", passes={point: "cse"})
    assert message in str(caught.value)


@pytest.mark.parametrize("step", ["canonicalise", "cse,canonicalise"])
def test_a_step_that_does_not_exist_names_the_point(step: str) -> None:
    with pytest.raises(smalti.PipelineError) as caught:
        smalti.compile(SCALE, "sm_90a", passes={"after:tile": step})
    assert "the step at 'after:tile' does not parse: 'canonicalise' does not refer" in caught.value.message
    assert "smalti-" not in str(caught.value) and caught.value.hint == "did you mean 'canonicalize'?"


def test_a_cpu_does_not_have_levels_of_gpus() -> None:
    with pytest.raises(smalti.PipelineError, match="the levels are tile, llvm"):
        smalti.compile(SCALE, "cpu", passes={"after:mosaic": "cse"})


def test_a_launch_is_refused(kernels: Path) -> None:
    source = kernels.parent / "pallas" / "Inputs" / "hopper_matmul.mlir"
    with pytest.raises(smalti.PipelineError, match=r"module with gpu\.launch"):
        smalti.compile(source, passes={"after:thread": "cse"})


def test_options_are_checked_as_without_steps() -> None:
    with pytest.raises(smalti.PipelineError, match="'depth' must be 'auto' or between 1 and 16, but is 99"):
        smalti.compile(SCALE, "sm_90a", depth=99, passes={"after:thread": "cse"})


def test_the_simulator_runs_the_steps_up_to_its_level() -> None:
    seen = Recorder()
    smalti.compile(SCALE, "sim:sm_80", passes={"after:tile": seen.at("after:tile")})
    assert seen.order == ["after:tile"]
    with pytest.raises(smalti.PipelineError, match=r"'after:thread' do not run: .* after the level pipelined"):
        smalti.compile(SCALE, "sim:sm_80", passes={"after:thread": "cse"})


@smalti.kernel(grid=2)
def scaled(x: sl.Array, y: sl.Array) -> None:
    i = sl.tile_id() * 64
    y[i : i + 64] = x[i : i + 64] * 2


def test_kernels_in_python() -> None:
    """The kernel is compiled with the step, and the cache on disk does not have it."""
    seen = Recorder()
    for _ in range(2):
        scaled._variants.clear()
        x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
        scaled.on("cpu", passes={"after:tile": seen.at("after:tile")})(x, y)
        assert np.array_equal(y, 2 * x)
    assert len(seen.order) == 2


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(SCALE)
    (tmp_path / "mine.py").write_text(
        "import smalti\n\n\ndef refuse(module):\n    raise ValueError('this kernel is refused')\n\n\n"
        "smalti.register_pass('test-refuse', refuse)\nsmalti.register_pass('test-accept', lambda module: None)\n"
    )
    words = ["compile", str(tmp_path / "k.mlir"), "--target", "sm_80", "--load", str(tmp_path / "mine.py"), "--insert"]
    accepted = CliRunner().invoke(
        commands.main, [*words, "after:tile=test-accept", "-o", str(tmp_path / "k.mlir.mlir")]
    )
    assert accepted.exit_code == 0, accepted.output
    assert "llvm.func @scale" in (tmp_path / "k.mlir.mlir").read_text()
    refused = CliRunner().invoke(commands.main, [*words, "after:tile=test-refuse"])
    assert refused.exit_code == 1
    assert "mine.py:5: error:" in refused.output and "this kernel is refused" in refused.output
    assert "POINT=PIPELINE" in CliRunner().invoke(commands.main, [*words, "after:tile"]).output


def test_nests_are_split_only_at_steps() -> None:
    text = "a,gpu.module(gpu.func(b,c),d),gpu.module(e)"
    passes = insertion._flat(textual.parse(text), (), iter(range(9)))
    assert textual.to_text(insertion._nested(passes)) == text
    assert textual.to_text(insertion._nested(passes[2:])) == "gpu.module(gpu.func(c),d),gpu.module(e)"
