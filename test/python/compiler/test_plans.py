# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of passes as objects: they have the numbers of the remarks, of the code and of the attributes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
import smalti
import smalti.language as sl
from conftest import ROOT
from smalti import plans
from smalti.layouts import SplatLayout, TiledLayout

MATMUL = ROOT / "test" / "kernels" / "matmul_ragged.mlir"
SHARED = "memref<{}, #gpu.address_space<workgroup>>"


def kernel(body: str, attributes: str = "") -> smalti.ir.Module:
    return smalti.parse(f"gpu.module @m {{\ngpu.func @k() kernel {attributes} {{\n{body}\ngpu.return\n}}\n}}")


@pytest.fixture(scope="module")
def matmul() -> plans.Plans:
    return plans.of(MATMUL, "sm_90a")


def test_the_map_of_shared_memory_is_that_of_the_kernel(matmul: plans.Plans) -> None:
    compiled = smalti.compile(MATMUL, "sm_90a")
    assert isinstance(compiled, smalti.Kernel)
    (memory,) = matmul.shared_memory
    assert memory.function == "matmul_ragged" and not memory.unknown
    assert memory.bytes == memory.dynamic_bytes == compiled.resources.shared_bytes
    # The padded rows of the loads of A and B.
    assert [(b.offset, b.bytes, b.type) for b in memory.buffers] == [
        (0, 55296, SHARED.format("3x128x72xf16")),
        (55296, 52224, SHARED.format("3x64x136xf16")),
    ]
    assert [b.location and b.location.line for b in memory.buffers] == [23, 24]
    assert all(b.end == b.offset + b.bytes and not memory.aliases(b) for b in memory.buffers)


def test_shared_memory_before_and_after_the_allocation() -> None:
    module = kernel(
        f"%a = memref.alloc() : {SHARED.format('3xf32')}\n"
        f"%b = memref.alloc() {{alignment = 256 : i64}} : {SHARED.format('64xf32')}"
    )
    (before,) = plans.shared_memory(module)
    assert [(b.offset, b.bytes) for b in before.buffers] == [(0, 12), (256, 256)]
    assert [b.name for b in before.buffers] == ["%alloc", "%alloc_0"]
    smalti.Pipeline().allocate_shared_memory(target="sm_90a").run(module)
    (after,) = plans.shared_memory(module)
    assert [(b.offset, b.bytes) for b in after.buffers] == [(b.offset, b.bytes) for b in before.buffers]
    assert before.bytes == after.bytes == after.dynamic_bytes == 512


def test_aliases_and_static_shared_memory() -> None:
    module = smalti.parse(
        "gpu.module @m {\n"
        f"gpu.func @k() workgroup(%w : {SHARED.format('4xf32')}) kernel {{\n"
        f"%a = mosaic_gpu.slice_smem 0 : {SHARED.format('8xf32')}\n"
        f"%b = mosaic_gpu.slice_smem 16 : {SHARED.format('8xf32')}\n"
        f"%c = mosaic_gpu.slice_smem 48 : {SHARED.format('8xf32')}\n"
        "gpu.return\n}\n}"
    )
    (memory,) = plans.shared_memory(module)
    a, b, c, w = memory.buffers
    assert (memory.aliases(a), memory.aliases(b), memory.aliases(c)) == ((b,), (a,), ())
    assert (memory.dynamic_bytes, memory.bytes) == (80, 96) and w.offset == 80


def test_functions_without_shared_memory_have_no_map() -> None:
    assert plans.shared_memory(kernel("")) == ()
    assert plans.shared_memory(smalti.parse("func.func @f() {\n return\n}")) == ()


def test_the_schedule_has_the_numbers_of_the_remark(matmul: plans.Plans) -> None:
    compiled = smalti.compile(MATMUL, "sm_90a")
    (remark,) = [one.message for one in compiled.remarks if one.category == "smalti-pipeline-loops"]
    (schedule,) = matmul.schedules
    numbers = (schedule.stages, schedule.mode, schedule.prefetched, schedule.barriers, schedule.trip_count)
    found = re.search(r"(\d+) stages, (\w+) mode, (\d+) copies.*; (\d+) barrier.*; trip count (\d+)", remark)
    assert found is not None
    assert numbers == (int(found[1]), found[2], *(int(number) for number in found.groups()[2:]))
    assert (schedule.is_guarded, schedule.location and schedule.location.line) == (False, 22)
    shared = [buffer for buffer in schedule.buffers if buffer.is_shared]
    assert [(buffer.slots, buffer.is_barrier) for buffer in shared] == [(3, False)] * 2
    first, last = schedule.stage(0), schedule.stage(2)
    assert [op.name for op in first if "async_copy" in op.name] == ["mosaic_gpu.async_copy"] * 2
    assert [op.name for op in last if op.name == "mosaic_gpu.mma"] == ["mosaic_gpu.mma"] * 4
    assert {op.location and op.location.line for op in last if op.name == "mosaic_gpu.mma"} == {25}
    assert not [op for op in schedule.ops if op.name == "mosaic_gpu.mma" and op.stages != (2,)]


ROWS = """
func.func @sum(%a: memref<?x8xf32>, %n: index, %init: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> f32 {
    %next_row = arith.addi %i, %c1 : index
    %x = memref.load %a[%next_row, %c0] : memref<?x8xf32>
    %y = arith.mulf %x, %x : f32
    %next = arith.addf %acc, %y : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
"""


def test_options_of_schedules_and_the_module_does_not_change() -> None:
    module = smalti.parse(ROWS)
    before = str(module)
    (two,), (three,) = plans.schedules(module), plans.schedules(module, stages=3)
    assert str(module) == before
    assert (two.stages, three.stages, two.mode, two.trip_count, two.is_guarded) == (2, 3, "stream", None, True)
    assert [op.name for op in three.stage(0)][-1] == "memref.load"
    assert [op.name for op in three.stage(2)] == ["arith.mulf", "arith.addf"]
    assert plans.schedules(module, stages=1) == ()
    with pytest.raises(smalti.PipelineError, match="stages"):
        plans.schedules(module, stages="many")


@pytest.mark.parametrize("point", ["after:smalti-pipeline-loops", "after:pipelined"])
def test_schedules_are_read_before_the_pass(point: str) -> None:
    with pytest.raises(
        smalti.PipelineError, match=r"already pipelined in \d stages(.|\n)*before:smalti-pipeline-loops"
    ):
        smalti.compile(MATMUL, "sm_90a", passes={point: lambda module: plans.schedules(module)})


def test_a_schedule_can_be_read_back() -> None:
    module, direct = smalti.parse(ROWS), smalti.parse(ROWS)
    smalti.Pipeline().pipeline_loops(emit_schedule=True).run(module)
    assert "smalti.schedule" in str(module)
    smalti.Pipeline().pipeline_loops(use_schedule=True).run(module)
    smalti.Pipeline().pipeline_loops().run(direct)
    assert str(module) == str(direct)


def test_layouts_are_those_of_the_attributes(matmul: plans.Plans) -> None:
    found = [one for one in matmul.layouts if one.op == "mosaic_gpu.mma"]
    assert [(one.is_result, one.index) for one in found[:4]] == [(False, 0), (False, 1), (False, 2), (True, 0)]
    accumulator, a, b, result = found[:4]
    assert accumulator.layout == result.layout and a.layout != b.layout
    assert (a.type, b.type) == ("vector<128x16xf16>", "vector<16x128xf16>")
    assert isinstance(a.layout, TiledLayout) and a.space == "registers"
    # 128 x 16 elements on 4 x 2 warps, of which 2 hold the same elements.
    assert a.layout.num_warps == 8 and a.layout.num_registers([128, 16]) * a.layout.vector_length == 128 * 16 // 4 // 32
    assert a.location is not None and a.location.line == 25 and a.function == "matmul_ragged"


INFERRED = """
module attributes {mosaic_gpu.arch_major = 10 : i32, mosaic_gpu.arch_minor = 0 : i32} {
  func.func @rows(%out: memref<64xf16>, %tensor: memref<128x64xf32, #mosaic_gpu.tmem>) {
    %zero = arith.constant dense<0.0> : vector<64xf16>
    %a = mosaic_gpu.slice_smem 0 : memref<64x64xf16, #gpu.address_space<workgroup>>
    %t = mosaic_gpu.with_transforms %a [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>] : memref<64x64xf16, #gpu.address_space<workgroup>>
    %v = mosaic_gpu.vector_load %t : memref<64x64xf16, #gpu.address_space<workgroup>> -> vector<64x64xf16>
    %s = vector.multi_reduction <add>, %v, %zero [1] : vector<64x64xf16> to vector<64xf16>
    mosaic_gpu.vector_store %s, %out : vector<64xf16>, memref<64xf16>
    %x = mosaic_gpu.async_load_tmem %tensor : memref<128x64xf32, #mosaic_gpu.tmem> -> vector<128x64xf32>
    return
  }
}
"""


def test_layouts_of_shared_and_tensor_memory_and_of_equal_elements() -> None:
    module = smalti.parse(INFERRED)
    assert plans.layouts(module) == ()
    smalti.Pipeline().mosaic_gpu_infer_layouts().run(module)
    found = {(one.op, one.is_result, one.index): one for one in plans.layouts(module)}
    load = found["mosaic_gpu.vector_load", False, 0]
    assert (load.space, load.layout) == ("shared memory", plans.SharedLayout((8, 64), 128))
    constant = found["arith.constant", True, 0]
    assert isinstance(constant.layout, SplatLayout) and constant.layout.shape == [64]
    # The array in global memory does not have a layout.
    assert ("mosaic_gpu.vector_store", False, 1) not in found
    tensor = found["mosaic_gpu.async_load_tmem", False, 0]
    assert tensor.space == "tensor memory" and isinstance(tensor.layout, TiledLayout)


def test_plans_are_frozen(matmul: plans.Plans) -> None:
    for one in (matmul, *matmul.layouts[:1], *matmul.schedules, *matmul.shared_memory):
        name = dataclasses.fields(one)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, None)


@pytest.mark.parametrize("level", ["tile", "thread", "llvm"])
@pytest.mark.parametrize("function", [plans.shared_memory, plans.layouts, plans.schedules])
def test_other_levels_are_refused(function: Callable[[Any], Any], level: str) -> None:
    phrase = f"plans.{function.__name__} is not available at the level {level}"
    with pytest.raises(smalti.PipelineError, match=phrase):
        smalti.compile(MATMUL, "sm_90a", passes={f"after:{level}": lambda module: function(module)})


def test_a_kernel_in_python_is_refused_with_its_module() -> None:
    @smalti.kernel
    def empty(x: sl.Array) -> None: ...

    with pytest.raises(TypeError, match=r"not PythonKernel; pass empty\.module\(\.\.\.\)"):
        plans.of(empty, "sm_90a")


def test_targets_without_plans() -> None:
    with pytest.raises(smalti.PipelineError, match="mosaic"):
        plans.of(MATMUL, "cpu")
