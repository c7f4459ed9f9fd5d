# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Undefined integer divisions: an error with a location on every engine."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import smalti
from smalti.errors import CompileError, EmulationError, LaunchError, SimulationError, SmaltiError

SIGNED = ("divsi", "remsi", "ceildivsi", "floordivsi")
UNSIGNED = ("divui", "remui", "ceildivui")
LEAST = np.iinfo(np.int32).min


def of_tiles(name: str, size: int = 64) -> str:
    return f"""triton_xla.entry_func @k(
    %x: memref<{size}xi32>, %y: memref<{size}xi32>, %z: memref<{size}xi32>, %tile: index) tiles 1 {{
  %c0 = arith.constant 0 : index
  %a = triton_xla.extract %x[%c0] [64] [1] : memref<{size}xi32> to tensor<64xi32>
  %b = triton_xla.extract %y[%c0] [64] [1] : memref<{size}xi32> to tensor<64xi32>
  %c = arith.{name} %a, %b : tensor<64xi32>
  triton_xla.insert %c into %z[%c0] [64] [1] : tensor<64xi32> into memref<{size}xi32>
  triton_xla.return
}}
"""


TILES_LINE = 6


def of_numbers(name: str, more: str = "") -> str:
    return f"""{more}triton_xla.entry_func @k(%x: memref<64xi32>, %n: i32, %m: i32, %tile: index) tiles 1 {{
  %c0 = arith.constant 0 : index
  %q = {name} %n, %m : {"i32" if not more else "(i32, i32) -> i32"}
  %at = arith.index_cast %q : i32 to index
  %a = triton_xla.extract %x[%at] [8] [1] : memref<64xi32> to tensor<8xi32>
  triton_xla.insert %a into %x[%c0] [8] [1] : tensor<8xi32> into memref<64xi32>
  triton_xla.return
}}
"""


NUMBERS_LINE = 3


def line_of(error: SmaltiError) -> int:
    (diagnostic,) = error.diagnostics
    assert diagnostic.location is not None
    return diagnostic.location.line


def arrays(divisor: int, dividend: int = 7) -> list[np.ndarray[Any, Any]]:
    """A dividend and a divisor of 63 ones, except for one element."""
    x, y = np.full(64, 3, np.int32), np.ones(64, np.int32)
    x[5], y[5] = dividend, divisor
    return [x, y, np.full(64, -1, np.int32)]


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_vectors_on_the_cpu(name: str) -> None:
    kernel = smalti.compile(of_tiles(name), target="cpu")
    with pytest.raises(LaunchError, match="an element of the divisor of this division is 0") as caught:
        kernel(*arrays(0))
    assert line_of(caught.value) == TILES_LINE
    x, y, z = arrays(2)
    kernel(x, y, z)
    assert z[5] == {"remsi": 1, "remui": 1, "ceildivsi": 4, "ceildivui": 4}.get(name, 3)
    if name in SIGNED:
        with pytest.raises(LaunchError, match="the minimum of i32 divided by -1 exceeds the range") as caught:
            kernel(*arrays(-1, LEAST))
        assert line_of(caught.value) == TILES_LINE
    else:
        kernel(*arrays(-1, LEAST))


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_numbers_on_the_cpu(name: str) -> None:
    kernel = smalti.compile(of_numbers(f"arith.{name}"), target="cpu")
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(LaunchError, match="the divisor of this division is 0") as caught:
        kernel(x, 8, 0)
    assert line_of(caught.value) == NUMBERS_LINE
    assert (x == np.arange(64)).all()
    kernel(x, 8, 3)
    assert x[0] == {"remsi": 2, "remui": 2, "ceildivsi": 3, "ceildivui": 3}.get(name, 2)
    if name in SIGNED:
        with pytest.raises(LaunchError, match="the minimum of i32 divided by -1 exceeds the range"):
            kernel(x, LEAST, -1)


def test_elements_outside_of_the_memref_are_zero() -> None:
    kernel = smalti.compile(of_tiles("divsi", 60), target="cpu")
    ones = [np.ones(60, np.int32) for _ in range(3)]
    with pytest.raises(LaunchError, match="tile elements outside the memref are 0"):
        kernel(*ones)
    positive = of_tiles("divsi", 60).replace(
        "%c = arith.divsi %a, %b",
        "%one = arith.constant dense<1> : tensor<64xi32>\n  "
        "%d = arith.maxsi %b, %one : tensor<64xi32>\n  %c = arith.divsi %a, %d",
    )
    smalti.compile(positive, target="cpu")(*ones)


def interpret(text: str, *values: Any) -> list[smalti.reference.Value]:
    return smalti.reference.run(smalti.entry.find_entry(smalti.parse(text)), values)


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_in_the_reference(name: str) -> None:
    undefined = [arrays(0)] + [arrays(-1, LEAST)] * (name in SIGNED)
    for values in undefined:
        with pytest.raises(
            smalti.reference.InterpreterError, match="an integer is divided by 0, or the smallest"
        ) as caught:
            interpret(of_tiles(name), *values)
        assert line_of(caught.value) == TILES_LINE
    with pytest.raises(smalti.reference.InterpreterError, match="tile elements outside the memref are 0"):
        interpret(of_tiles(name, 60), *(np.ones(60, np.int32) for _ in range(3)))
    interpret(of_tiles(name), *arrays(2))


def test_a_select_may_drop_the_result_in_the_reference() -> None:
    z = interpret(selected(), *arrays(0))[2]
    assert z.data[5] == 0 and z.data[6] == 3
    assert not smalti.reference.error_of(z).any()


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx942"])
def test_on_the_emulator(target: str) -> None:
    kernel = smalti.compile(of_tiles("divsi"), target=target)
    with pytest.raises(
        EmulationError, match="integer division by zero, or division of the smallest integer by -1"
    ) as caught:
        kernel(*arrays(0))
    assert line_of(caught.value) == TILES_LINE
    kernel(*arrays(2))


@pytest.mark.parametrize("level", ["block", "thread"])
@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_in_the_simulator(name: str, level: str) -> None:
    kernel = smalti.sim.simulate(of_tiles(name), "sm_80", level=level)
    with pytest.raises(SimulationError, match="an integer is divided by 0, or the smallest integer by -1") as caught:
        kernel(*arrays(0))
    assert caught.value.findings[0].kind == "division"
    assert line_of(caught.value) == TILES_LINE
    kernel(*arrays(2))
    if name in SIGNED:
        assert [finding.kind for finding in kernel.find(*arrays(-1, LEAST))] == ["division"]
    # Without numbers, loads have no values.
    assert not kernel.find(*arrays(0), simulation=smalti.sim.Simulation(numbers=False))


def test_threads_that_do_not_run_divide_nothing() -> None:
    text = """
gpu.module @m {
  gpu.func @k(%x: memref<64xi32>, %y: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0 : i32
    %a = memref.load %x[%t] : memref<64xi32>
    %has = arith.cmpi ne, %a, %zero : i32
    scf.if %has {
      %b = arith.divsi %zero, %a : i32
      memref.store %b, %y[%t] : memref<64xi32>
    }
    gpu.return
  }
}
"""
    kernel = smalti.sim.simulate(text, "sm_80")
    assert not kernel.find(np.arange(64, dtype=np.int32), np.zeros(64, np.int32))
    wrong = smalti.sim.simulate(text.replace("cmpi ne", "cmpi sge"), "sm_80")
    (found,) = wrong.find(np.arange(64, dtype=np.int32), np.zeros(64, np.int32))
    assert found.kind == "division" and found.agent == "warp 0, lane 0"


def test_a_select_may_drop_the_result_on_the_cpu() -> None:
    x, y, z = arrays(0)
    smalti.compile(selected(), target="cpu")(x, y, z)
    assert z[5] == 0 and z[6] == 3


def selected() -> str:
    return (
        of_tiles("divsi")
        .replace(
            "  triton_xla.insert %c",
            "  %has = arith.cmpi ne, %b, %zero : tensor<64xi32>\n"
            "  %d = arith.select %has, %c, %zero : tensor<64xi1>, tensor<64xi32>\n  triton_xla.insert %d",
        )
        .replace("  %c0 =", "  %zero = arith.constant dense<0> : tensor<64xi32>\n  %c0 =", 1)
    )


def test_a_select_may_drop_the_result() -> None:
    text = selected()
    for level in ("block", "thread"):
        x, y, z = arrays(0)
        smalti.sim.simulate(text, "sm_80", level=level)(x, y, z)
        assert z[5] == 0 and z[6] == 3


@pytest.mark.parametrize("target", ["cpu", "sm_90a", "gfx942", "emu:sm_80", "sim:sm_80"])
def test_a_divisor_that_is_always_zero(target: str) -> None:
    text = of_numbers("arith.remui").replace("%n, %m :", "%n, %zero :")
    text = text.replace("  %c0 =", "  %zero = arith.constant 0 : i32\n  %c0 =", 1)
    with pytest.raises(CompileError, match="divides by 0; the divisor must not be 0") as caught:
        smalti.compile(text, target=target)
    assert line_of(caught.value) == NUMBERS_LINE + 1


def test_the_process_continues(tmp_path: Any) -> None:
    """In a process of its own: a signal would end this one."""
    script = f"""
import numpy as np, smalti
kernel = smalti.compile({of_tiles("divsi")!r}, target="cpu")
try:
    kernel(*(np.zeros(64, np.int32) for _ in range(3)))
except smalti.LaunchError:
    print("goes on")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "goes on\n"), done.stderr
