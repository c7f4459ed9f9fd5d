# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors for misspelled settings of kernels and for arguments of a wrong type."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from conftest import ROOT
from smalti.cli import commands
from smalti.emulator import arguments as device_arguments

ADD = str(ROOT / "test/kernels/vector_add.mlir")
TARGETS = ("cpu", "sm_90a", "emu:sm_80", "sim:sm_80")


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    return {target: smalti.compile(ADD, target) for target in TARGETS}


@pytest.mark.parametrize("target", TARGETS)
def test_an_attribute_that_does_not_exist_is_refused(kernels: dict[str, Any], target: str) -> None:
    for kernel in (kernels[target], copy.copy(kernels[target])):
        with pytest.raises(AttributeError, match="does not have a setting 'blokcs'; settings: ") as caught:
            kernel.blokcs = 3
        assert ("did you mean 'blocks'?" in str(caught.value)) == (target != "sm_90a")
        assert "blokcs" not in vars(kernel)


@pytest.mark.parametrize(
    ("target", "name", "message"),
    [
        ("emu:sm_80", "blocks", r"settings: emulation \(sanitize, .*; set kernel.emulation = Emulation\(blocks=...\)"),
        ("emu:sm_80", "time_limit", r"set kernel.emulation = Emulation\(time_limit=...\)"),
        ("sim:sm_80", "blocks", r"settings: simulation \(order, .*; set kernel.simulation = Simulation\(blocks=...\)"),
        ("sim:sm_80", "time_limit", r"set kernel.simulation = Simulation\(time_limit=...\)"),
        ("cpu", "emulation", "settings: time_limit, blocks, announce$"),
        ("sm_90a", "time_limit", "settings: none$"),
    ],
)
def test_a_setting_that_calls_do_not_read_is_refused(
    kernels: dict[str, Any], target: str, name: str, message: str
) -> None:
    with pytest.raises(AttributeError, match=f"does not have a setting '{name}'; {message}|{message}"):
        setattr(kernels[target], name, None)


def test_settings_are_read(kernels: dict[str, Any]) -> None:
    x, y = np.ones(1999, np.float32), np.ones(1000, np.float32)
    settings = {
        "cpu": ("blocks", range(1)),
        "emu:sm_80": ("emulation", smalti.Emulation(blocks=range(1))),
        "sim:sm_80": ("simulation", smalti.sim.Simulation(blocks=range(1))),
    }
    for target, (name, value) in settings.items():
        kernel, z = copy.copy(kernels[target]), np.zeros(1000, np.float32)
        setattr(kernel, name, value)
        kernel(x, y, z)
        assert (z[:256] == 2).all() and not z[256:].any()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda p: p.multibuffer(), "pass 'multibuffer' does not exist; did you mean 'multi_buffer'?"),
        (lambda p: p.xyz(), r"pass 'xyz' does not exist; dir(smalti.Pipeline()) lists the passes"),
        (lambda p: p.multi_buffer(depht=3), "hint: did you mean 'depth'?"),
        (lambda p: p.add("canonicalise"), "hint: did you mean 'canonicalize'?"),
        (lambda p: p.add("func.func(smalti-multi-buffer{depht=3})"), "hint: did you mean 'depth'?"),
        (lambda p: p.add("func.func(smalti-multi-buffer{x=3})"), "hint: options of smalti-multi-buffer: depth"),
        (lambda p: p.add("smalti-compile{target=sm_90z}"), "did you mean 'sm_90'?"),
    ],
)
def test_misspelled_names_of_passes(build: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((AttributeError, smalti.SmaltiError)) as caught:
        build(smalti.Pipeline()).run(smalti.parse("module {}"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["opt", ADD, "--pass-pipeline", "builtin.module(canonicalise)"], "did you mean 'canonicalize'?"),
        (["opt", ADD, "--pass-pipeline", "builtin.module(smalti-compile{targt=cpu})"], "did you mean 'target'?"),
        (["opt", ADD, "--pass-pipeline", "builtin.module(smalti-compile{target=gfx943})"], "did you mean 'gfx942'?"),
        (["compile", ADD, "-t", "emu:sm90a"], "did you mean 'emu:sm_90a'?"),
        (["compile", ADD, "-t", "cpu", "-O", "hold_loads=true"], "did you mean 'hold-loads'?"),
    ],
)
def test_misspelled_names_on_the_shell(words: list[str], message: str) -> None:
    done = CliRunner().invoke(commands.main, words)
    assert done.exit_code == 1 and message in done.output


@pytest.mark.parametrize("given", ["module {}", 3, None])
def test_a_pipeline_runs_on_modules(given: Any) -> None:
    for pipeline in (smalti.Pipeline(), smalti.Pipeline().cse()):
        with pytest.raises(
            TypeError, match=f"Pipeline.run requires a module, not {type(given).__name__}; smalti.parse creates one"
        ):
            pipeline.run(given)


COPY = """gpu.module @m {
  gpu.func @k(%x: memref<64xi32>, %y: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %a = memref.load %x[%t] : memref<64xi32>
    memref.store %a, %y[%t] : memref<64xi32>
    gpu.return
  }
}
"""


def test_only_tile_level_kernels_have_a_reference(tmp_path: Path) -> None:
    path = tmp_path / "copy.mlir"
    path.write_text(COPY)
    command = ["run", str(path), "--target", "emu:sm_80"]
    assert CliRunner().invoke(commands.main, command).exit_code == 0
    done = CliRunner().invoke(commands.main, [*command, "--check"])
    assert done.exit_code == 1
    assert "the reference interpreter does not support 'gpu.func'; triton_xla.entry_func is required" in done.output


DYNAMIC = """triton_xla.entry_func @k(%x: memref<?xf32>, %y: memref<?x8xf32>, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %a = triton_xla.extract %x[%c0] [8] [1] : memref<?xf32> to tensor<8xf32>
  triton_xla.insert %a into %y[%c0, %c0] [1, 8] [1, 1] : tensor<8xf32> into memref<?x8xf32>
  triton_xla.return
}
"""


def test_shapes_on_the_shell(tmp_path: Path) -> None:
    path = tmp_path / "dynamic.mlir"
    path.write_text(DYNAMIC)

    def run(*arguments: str) -> str:
        words = [word for argument in arguments for word in ("--arg", argument)]
        return CliRunner().invoke(commands.main, ["run", str(path), "-t", "cpu", *words]).output

    assert "set its shape, such as --arg 0=64" in run("1=8x8")
    assert "set its shape, such as --arg 1=64x8" in run("0=8")
    message = "the shape 64x64 does not match the type of the argument; set its shape, such as --arg 0=64\n"
    assert message in run("0=64x64", "1=8x8")
    assert "argument" not in run("0=8", "1=8x8")


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sim:sm_80"])
def test_every_engine_says_the_same_of_arguments(kernels: dict[str, Any], target: str) -> None:
    x, y, z = np.zeros(1999, np.float32), np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    fixed = np.zeros(1000, np.float32)
    fixed.flags.writeable = False
    for given, message in (
        ((x, y), r"@vector_add takes 3 arguments \(.*\); the call passes 2"),
        ((x, y, z[:999]), r"argument 2 \((%z: )?memref<1000xf32>\): the shape is 999; the kernel requires 1000"),
        ((x, y.astype(np.float64), z), r"argument 1 .*: the element type is float64; the kernel requires float32"),
        ((x, y, fixed), r"argument 2 .*: the array is read-only, but the kernel writes it; pass a writable array"),
        ((x, z, z), r"argument 2 .* overlaps argument 1"),
        ((x, None, z), r"argument 1 .*: NoneType is not an array"),
    ):
        with pytest.raises(smalti.LaunchError, match=message):
            kernels[target](*given)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("f32[4]=-inf", -np.inf), ("f16[4]=2.5", 2.5), ("i8[4]=-3", -3), ("ui8[4]=0xff", 255), ("f32[4]=nan", np.nan)],
)
def test_arrays_are_filled_with_numbers(text: str, wanted: float) -> None:
    (found,) = device_arguments.parse({0: text})
    np.testing.assert_array_equal(found, np.full(4, wanted, found.dtype))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "i32[4]=nan",
            "the array cannot be filled with 'nan'; use an integer, a .npy file or one of: random, zeros, ones, iota",
        ),
        ("f32[4]=-infinite", "the array cannot be filled with '-infinite'; use a number, a .npy file or one of"),
        ("i8[4]=300", "300 is out of range for i8"),
    ],
)
def test_values_that_arrays_are_not_filled_with(text: str, message: str) -> None:
    with pytest.raises(smalti.LaunchError) as caught:
        device_arguments.parse({0: text})
    assert message in str(caught.value)
