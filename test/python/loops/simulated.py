# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with loops in the simulator, after the passes: equal numbers, no findings, and killed mutants."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from smalti import ir, sim
from smalti.sim import Simulation, mutants
from smalti.sim.translation.translator import walk

from . import runner
from .campaign import Point
from .case import Case

SCHEDULES = sim.SCHEDULES


class Kernel:
    """A kernel for the simulator."""

    def __init__(self, chip: str, text: str) -> None:
        module = runner.parse(text)
        function = next(op for op in walk(module.operation) if op.name == "gpu.func")
        types = [str(argument.type) for argument in function.regions[0].blocks[0].arguments]
        self._given = [index for index, ty in enumerate(types) if "tensormap" not in ty]
        if len(self._given) < len(types):
            module = runner.parse(_with_host(text, ir.StringAttr(function.attributes["sym_name"]).value, types))
        self.kernel = sim.simulate(module, f"sim:{chip}")

    def arguments(self, case: Case, scalars: Any) -> list[Any]:
        """Random arrays, and the numbers of a launch."""
        values: list[Any] = list(self.kernel.random_arguments(case.seed))
        for index, number in scalars.items():
            values[self._given.index(index)] = np.int64(int(number))
        return values

    def run(self, case: Case, scalars: Any, how: Simulation) -> list[np.ndarray[Any, Any]]:
        """The arrays, when it has run."""
        values = self.arguments(case, scalars)
        self.kernel(*values, simulation=how)
        return [value for value in values if value.ndim]


def _with_host(text: str, name: str, types: Sequence[str]) -> str:
    """The kernel with a function that makes its tensor maps, of the first arrays in turn."""
    sizes = [re.findall(rf"known_{what}_size = array<i32: (\d+), 1, 1>", text)[0] for what in ("grid", "block")]
    lines = ["%one = arith.constant 1 : index"]
    lines += [f"%{what} = arith.constant {size} : index" for what, size in zip(("grid", "block"), sizes, strict=True)]
    arrays = [index for index, ty in enumerate(types) if ty.startswith("memref")]
    maps = [index for index, ty in enumerate(types) if "tensormap" in ty]
    for array, index in zip(arrays, maps, strict=False):
        found = re.search(r"tensor = memref<((?:\d+x)+)(\w+)", types[index])
        assert found
        box = found[1].rstrip("x").split("x")
        for at, extent in enumerate(box):
            lines.append(f"%box{index}_{at} = arith.constant {extent} : index")
        source, ty = f"%p{array}", types[array]
        if len(box) == 1:
            count = int(np.prod([int(n) for n in re.findall(r"(\d+)x", ty)]))
            flat = f"memref<{count}x{found[2]}>"
            lines.append(f"%flat{index} = memref.collapse_shape {source} [[0, 1]] : {ty} into {flat}")
            source, ty = f"%flat{index}", flat
        lines.append(f"%cast{index} = memref.cast {source} : {ty} to memref<*x{found[2]}>")
        extents = ", ".join(f"%box{index}_{at}" for at in range(len(box)))
        lines.append(
            f"%p{index} = nvgpu.tma.create.descriptor %cast{index} box[{extents}] : memref<*x{found[2]}> -> {types[index]}"
        )
    given = ", ".join(f"%p{index}: {ty}" for index, ty in enumerate(types) if index not in maps)
    passed = ", ".join(f"%p{index} : {ty}" for index, ty in enumerate(types))
    lines.append(
        f"gpu.launch_func @kernels::@{name} blocks in (%grid, %one, %one) threads in (%block, %one, %one) args({passed})"
    )
    host = "\n".join(lines)
    inner = text[text.index("gpu.module") : text.rindex("}")] if text.lstrip().startswith("module") else text
    return (
        f"module attributes {{gpu.container_module}} {{\n{inner}\nfunc.func @host({given}) {{\n{host}\nreturn\n}}\n}}\n"
    )


@functools.lru_cache(maxsize=16)
def plain_kernel(chip: str, text: str) -> Kernel:
    """The kernel before the passes."""
    return Kernel(chip, text)


def execute(case: Case, text: str, schedules: Sequence[Simulation]) -> None:
    """Runs the plain kernel and the one in `text`: nothing is found, and all arrays are the same."""
    plain, changed = plain_kernel(case.chip, case.text), Kernel(case.chip, text)
    for scalars in case.scalars:
        wanted = plain.run(case, scalars, Simulation())
        for how in schedules:
            for index, (one, other) in enumerate(zip(wanted, changed.run(case, scalars, how), strict=True)):
                if one.tobytes() != other.tobytes():
                    raise runner.Wrong(f"{how}, {dict(scalars)}: array {index} differs")


def check(point: Point, schedules: Sequence[Simulation] = SCHEDULES[:1]) -> runner.Outcome:
    """The plain kernel against numpy, and what the passes make of it against the plain one."""
    case = point.case
    plain = plain_kernel(case.chip, case.text)
    for bounds, scalars in zip(point.bounds, case.scalars, strict=True):
        point.shape.check(bounds, plain.run(case, scalars, Simulation()))
    outcome = runner.transform(case)
    execute(case, outcome.text, schedules)
    return outcome


def score(point: Point) -> list[mutants.Outcome]:
    """The outcomes of the mutants of the passes' output for a kernel."""
    case = point.case
    kernel = Kernel(case.chip, runner.transform(case).text)
    return mutants.score(kernel.kernel, kernel.arguments(case, case.scalars[0]))
