# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Output and assertions of kernels on the CPU, the emulator and the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import reference, sim, targets
from smalti.compiler import entry

EMULATED = [targets.EMULATED + chip for chip in ("sm_80", "sm_90a", "gfx942", "gfx1201")]
SIMULATED = ["sim:sm_90a", "sim:gfx942"]

KERNEL = """
module attributes {{gpu.container_module}} {{
gpu.module @output_module {{
  gpu.func @output(%x: memref<{shape}xELEMENT>) kernel attributes {{known_block_size = array<i32: 128, 1, 1>,
      known_grid_size = array<i32: 2, 1, 1>}} {{
    %v = mosaic_gpu.vector_load %x {{out_layouts = [{layout}]}} : memref<{shape}xELEMENT> -> vector<{shape}xELEMENT>
    {body}
    gpu.return
  }}
}}
}}
"""

STRIDED = ("4x64", "#mosaic_gpu.WGStridedFragLayout<[4, 64], 2>")


def replicated(target: str) -> tuple[str, str]:
    lanes = targets.get(target.partition(":")[2]).wave_size
    layout = (
        f"#mosaic_gpu.TiledLayout<[[{lanes}], [1]], warp_dims = [#mosaic_gpu.Replicated<times = {128 // lanes}>], "
        "lane_dims = [-2], vector_dim = -1>"
    )
    return "64", layout


def compiled(target: str, how: tuple[str, str], element: str, body: str) -> Callable[..., Any]:
    shape, layout = how
    text = KERNEL.format(shape=shape, layout=layout, body=body).replace("ELEMENT", element)
    text = text.replace("VECTOR", f"vector<{shape}x{element}>").replace("MASK", f"vector<{shape}xi1>")
    text = text.replace("LAYOUT", layout)
    if target.startswith("sim:"):
        return sim.simulate(text, target)
    return smalti.compile(text, target=target).launcher


@pytest.mark.parametrize("target", [*EMULATED, *SIMULATED])
@pytest.mark.parametrize("is_replicated", [False, True])
def test_each_element_is_printed_once(target: str, is_replicated: bool, capsys: pytest.CaptureFixture[str]) -> None:
    how = replicated(target) if is_replicated else STRIDED
    body = 'mosaic_gpu.debug_print "50% of {}, x", %v {with_block_id, in_layouts = [LAYOUT]} : VECTOR'
    shape = tuple(map(int, how[0].split("x")))
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float16) / 4
    expected = [
        f"block [{block}, 0, 0]: 50% of {list(index)}: {x[index]:f}, x"
        for block in range(2)
        for index in np.ndindex(shape)
    ]
    run = compiled(target, how, "f16", body)
    run(x)
    first = capsys.readouterr().out
    assert sorted(first.splitlines()) == sorted(expected)
    run(x)
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("target", [*EMULATED, *SIMULATED])
def test_splats_are_printed_once(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    body = """%s = arith.constant dense<-3> : vector<256xi16>
    mosaic_gpu.debug_print "{} {}", %s : vector<256xi16>
    %t = arith.constant dense<true> : vector<256xi1>
    mosaic_gpu.debug_print "{}", %t : vector<256xi1>"""
    compiled(target, STRIDED, "f32", body)(np.zeros((4, 64), np.float32))
    assert sorted(capsys.readouterr().out.splitlines()) == ["-3 -3"] * 2 + ["1"] * 2


ASSERTION = """%zero = arith.constant dense<0> : VECTOR
    %c = arith.cmpi sge, %v, %zero {in_layouts = [LAYOUT, LAYOUT], out_layouts = [LAYOUT]} : VECTOR
    mosaic_gpu.assert %c, "not 100% positive" {in_layouts = [LAYOUT]} : MASK"""


@pytest.mark.parametrize("target", EMULATED)
@pytest.mark.parametrize("is_replicated", [False, True])
def test_failed_assertions(target: str, is_replicated: bool, capsys: pytest.CaptureFixture[str]) -> None:
    how = replicated(target) if is_replicated else STRIDED
    run = compiled(target, how, "i32", ASSERTION)
    x = np.zeros(tuple(map(int, how[0].split("x"))), np.int32)
    run(x)
    assert not capsys.readouterr().out
    x.flat[37] = -1
    with pytest.raises(smalti.EmulationError) as caught:
        run(x)
    where = "[37]" if is_replicated else "[0, 37]"
    assert f"assertion failed in block [0, 0, 0] at {where}: not 100% positive\n" in capsys.readouterr().out
    (finding, *_) = caught.value.findings
    assert finding.kind == "trap" and finding.location is not None
    assert finding.message.endswith(
        f"the thread printed: assertion failed in block [0, 0, 0] at {where}: not 100% positive"
    )
    assert "unknown" not in finding.message


@pytest.mark.parametrize("target", SIMULATED)
def test_assertions_in_the_simulator(target: str) -> None:
    kernel = compiled(target, STRIDED, "i32", ASSERTION)
    x = np.zeros((4, 64), np.int32)
    assert not kernel.find(x)  # type: ignore[attr-defined]
    x[1, 2] = x[3, 4] = -1
    (finding, *_) = kernel.find(x)  # type: ignore[attr-defined]
    assert finding.kind == "assertion"
    assert finding.message == "assertion failed at [1, 2], the first of 2 false elements: not 100% positive"
    assert finding.block == (0, 0, 0)
    assert finding.location is not None


@pytest.mark.parametrize("target", EMULATED)
def test_failed_splats(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    body = """%c = arith.constant dense<false> : vector<256xi1>
    mosaic_gpu.assert %c, "never" : vector<256xi1>"""
    with pytest.raises(smalti.EmulationError):
        compiled(target, STRIDED, "f32", body)(np.zeros((4, 64), np.float32))
    assert capsys.readouterr().out.startswith("assertion failed in block [0, 0, 0]: never\n")


TILES = """
triton_xla.entry_func @show(%a: memref<2x3xf32>, %b: memref<5xi8>, %h: memref<4xf8E4M3FN>, %x: f64, %tile: index) tiles 3 {
  %t = triton_xla.extract %a[0, 0] [2, 3] [1, 1] : memref<2x3xf32> to tensor<2x3xf32>
  %u = triton_xla.extract %b[0] [5] [1] : memref<5xi8> to tensor<5xi8>
  %e = triton_xla.extract %h[0] [4] [1] : memref<4xf8E4M3FN> to tensor<4xf8E4M3FN>
  %splat = arith.constant dense<0.1> : tensor<2x3xf16>
  %scalar = arith.constant dense<-0.0> : tensor<bf16>
  %zero = arith.constant dense<0.0> : tensor<2x3xf32>
  %c = arith.cmpf ogt, %t, %zero : tensor<2x3xf32>
  %one = arith.constant dense<1> : tensor<1xi32>
  triton_xla.print "100% {} of" %t, %splat : tensor<2x3xf32>, tensor<2x3xf16>
  triton_xla.print "several" %u, %x, %tile, %scalar : tensor<5xi8>, f64, index, tensor<bf16>
  triton_xla.print "positive" %c : tensor<2x3xi1>
  triton_xla.print "small" %e : tensor<4xf8E4M3FN>
  triton_xla.print "one" %one : tensor<1xi32>
  triton_xla.print "nothing"
  triton_xla.return
}
"""


@pytest.mark.parametrize("target", SIMULATED)
def test_tiles_are_printed_at_thread_level(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    arrays: list[Any] = [np.ones((2, 3), np.float32), np.array([-7, 120, 0, -128, 1], np.int8)]
    arrays.append(np.ones(4, ml_dtypes.float8_e4m3fn))
    expected: list[str] = []
    reference.run(entry.find_entry(smalti.parse(TILES)), [*arrays, 0.1], printed=expected.append)
    module = smalti.parse(TILES)
    smalti.Pipeline().compile(target=target.removeprefix("sim:"), stop_after="thread").run(module)
    sim.simulate(module, target)(*arrays, 0.1)
    assert sorted(capfd.readouterr().out.splitlines()) == sorted(expected)


@pytest.mark.parametrize("target", ["cpu", *EMULATED[1:3], *SIMULATED])
def test_tiles_are_printed_as_in_the_reference(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    arrays: list[Any] = [
        np.array([[0.1, -2, 1e20], [np.inf, 1e-40, -0.0]], np.float32),
        np.array([-7, 120, 0, -128, 1], np.int8),
        np.array([0.001953125, -448, 0, 1], ml_dtypes.float8_e4m3fn),
    ]
    module = smalti.parse(TILES)
    expected: list[str] = []
    reference.run(entry.find_entry(module), [*arrays, 0.1], printed=expected.append)
    assert "tile 1: 100% {} of #0 [0, 0] = 0.100000001" in expected
    assert "tile 2: several #1 = 0.10000000000000001" in expected
    assert "tile 2: several #3 = -0" in expected
    assert len(expected) == 3 * (6 + 6 + 5 + 3 + 6 + 4 + 1 + 1)
    # A persistent grid, in which the index of a block is not the id of the tile.
    options = {} if target == "cpu" else {"blocks": 1}
    smalti.compile(module, target=target, **options)(*arrays, 0.1)
    assert sorted(capfd.readouterr().out.splitlines()) == sorted(expected)


PRINTF = """
gpu.module @output_module {
  gpu.func @output(%x: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>} {
    %thread = gpu.thread_id x
    %two = arith.constant 2 : index
    %half = arith.constant 0.5 : f32
    %v = memref.load %x[%thread] : memref<64xi32>
    %is_printed = arith.cmpi ult, %thread, %two : index
    scf.if %is_printed {
      gpu.printf "100%% %lld: %d, %u, %x, %5.2f\\0A", %thread, %v, %v, %v, %half : index, i32, i32, i32, f32
    }
    gpu.return
  }
}
"""


@pytest.mark.parametrize("target", ["sim:sm_90a", "emu:sm_90a"])
def test_printf_of_thread_level_kernels(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.full(64, -2, np.int32)
    smalti.compile(PRINTF, target=target)(x)
    assert capfd.readouterr().out.splitlines() == [
        f"100% {thread}: -2, 4294967294, fffffffe,  0.50" for thread in range(2)
    ]


@pytest.mark.parametrize(
    "conversion, message",
    [("%s", "'%s' of an integer is not supported"), ("%f", "'%f' of an integer"), ("", "0 conversions")],
)
def test_unsupported_printf(conversion: str, message: str) -> None:
    text = PRINTF.replace("%lld: %d, %u, %x, %5.2f", conversion)
    text = text.replace("%thread, %v, %v, %v, %half : index, i32, i32, i32, f32", "%v : i32")
    with pytest.raises(smalti.SmaltiError, match=message):
        smalti.compile(text, target="sim:sm_90a")(np.zeros(64, np.int32))
