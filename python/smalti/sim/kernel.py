# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`SimulatedKernel`: a kernel that runs in the simulator."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import inputs, ir, targets
from ..calling import arrays, calls
from ..compiler import driver, entry, insertion, legality
from ..diagnostics import Diagnostic, counted, source_location
from ..errors import CompileError, LaunchError, PipelineError, SmaltiError, TargetError
from ..pace import Pace
from ..remarks import Remark
from ..settings import Settings
from . import launch
from .loading import load
from .machine import findings
from .machine.findings import Finding
from .machine.options import Simulation
from .machine.recorder import Recorder
from .machine.timeline import Timeline
from .threads import has_threads
from .translation import bound_arguments, random_arguments
from .translation.bound_arguments import BoundArgument
from .translation.program import Parameter, Program
from .translation.source_locations import attach_source_locations
from .translation.translator import internal_error, is_packed, walk

CALL_OPTIONS = ("simulation", "time_limit")
"""Keywords of a call that are not arguments of the kernel."""


class SimulatedKernel(Settings):
    """A kernel that runs in the simulator. Call it with its arrays."""

    def __init__(
        self,
        program: Program,
        target: targets.Target,
        module: ir.Module,
        entry: entry.Entry | None = None,
        remarks: Sequence[Remark] = (),
    ) -> None:
        self.program = program if entry is None else _declare(program, entry)
        self.entry = entry
        """The parameters of a tile-level kernel; None for a module that is simulated without lowering."""
        self._check = calls.ArgumentChecker(entry, arrays.CPU, alignment=0, takes_sizes=True) if entry else None
        self.target = target
        self.module = module
        """The module that is simulated."""
        self.remarks = tuple(remarks)
        """What the passes did and did not do; empty for a module that is simulated without lowering."""
        self.simulation = Simulation()
        """The default simulation of a call."""
        self._is_initialized = True

    def _settings(self) -> Sequence[str]:
        return ("simulation",)

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments of a call."""
        return self.program.parameters

    def __repr__(self) -> str:
        types = ", ".join(str(parameter.type) for parameter in self.parameters)
        return f"<smalti.sim.SimulatedKernel @{self.name}({types}) for {self.target}>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise SmaltiError(
            f"cannot pickle @{self.name}: a simulated kernel cannot be serialized",
            hint="pass the program instead, and call smalti.compile in the other process",
        )

    def __copy__(self) -> SimulatedKernel:
        """A kernel of the same program with another `simulation`."""
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> SimulatedKernel:
        """The same kernel: programs are immutable, so copies share them."""
        return self.__copy__()

    def __call__(
        self,
        /,
        *arguments: Any,
        simulation: Simulation | None = None,
        time_limit: float | None = None,
        **named: Any,
    ) -> None:
        """Runs the kernel on arrays, in place. Raises a `SimulationError` if there are findings; the arrays keep their
        values then, unless `continue_after_finding` is set. The arguments of a tile-level kernel can be passed by name, except
        arguments named `simulation` or `time_limit`. `time_limit` replaces that of the simulation."""
        has_options = simulation is not None or time_limit is not None
        if named or (has_options and len(arguments) < len(self.arguments)):
            what = self.entry or entry.Entry(self.name, (), 1)
            arguments = what.bind(arguments, named, CALL_OPTIONS)
        if time_limit is not None:
            simulation = dataclasses.replace(simulation or self.simulation, time_limit=time_limit)
        found = self.find(*arguments, simulation=simulation)
        if found:
            raise findings.error(f"@{self.name} on {self.target}", found, self.program.source)

    def find(self, *arguments: Any, simulation: Simulation | None = None) -> tuple[Finding, ...]:
        """Runs the kernel on arrays, and returns the findings instead of raising an error."""
        return self.run(*arguments, simulation=simulation).findings

    def run(self, *arguments: Any, simulation: Simulation | None = None) -> launch.Result:
        """Runs the kernel on arrays, and returns the result of the run. Without a progress callback, a long run issues
        a warning."""
        how = simulation or self.simulation
        if how.progress is None:
            how = dataclasses.replace(
                how,
                progress=Pace(
                    self._warn,
                    "to shorten the simulation, set blocks, numbers=False or time_limit of smalti.Simulation",
                ),
            )
        with self._internal_errors():
            bound = self._bind(arguments)
            program = self._launched(self.program, arguments)
            if self.entry is not None and self.entry.grid and program.grid == (0, 1, 1):
                return launch.Result((), frozenset())
            return launch.run(program, bound, how)

    def _launched(self, program: Program, arguments: Sequence[Any]) -> Program:
        """The program with the grid of a call, if the grid depends on arguments."""
        if self.entry is None or not self.entry.grid or program.grid is not None:
            return program
        values = [arrays.view(v, None) if a.is_memref else v for a, v in zip(self.arguments, arguments, strict=True)]
        return dataclasses.replace(program, grid=(self.entry.count_tiles(values), 1, 1))

    def _warn(self, message: str) -> None:
        warnings.warn(f"@{self.name} on {self.target}: {message}", RuntimeWarning, stacklevel=2)

    @contextmanager
    def _internal_errors(self) -> Generator[None, None, None]:
        """Converts an unexpected exception to an error with the kernel's location."""
        try:
            yield
        except SmaltiError:
            raise
        except MemoryError as problem:
            raise LaunchError(f"@{self.name}: out of memory: {problem}") from None
        except RecursionError:
            raise LaunchError(f"@{self.name} {TOO_DEEP}") from None
        except Exception as problem:
            told = Diagnostic("error", f"@{self.name}: {internal_error(problem)}", self.program.location)
            raise LaunchError("", diagnostics=[told], source=self.program.source) from problem

    def timeline(
        self,
        *arguments: Any,
        blocks: range = range(1),
        time_limit: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Timeline:
        """The timeline of a run of these blocks on arrays, each with a compute unit of its own. The arrays keep their
        values. Raises a `SimulationError` for findings other than races, which are not checked."""
        timing = targets.table()[self.target.chip].timing
        if timing is None:
            known = ", ".join(target.name for target in targets.all() if target.timing is not None)
            raise TargetError(
                f"no timeline: the target table does not contain latencies for {self.target.chip}; targets that have them: {known}"
            )
        recorder = Recorder(targets.table()[self.target.chip], timing)
        how = Simulation("round-robin", "early", races=False, blocks=blocks, time_limit=time_limit, progress=progress)
        with self._internal_errors():
            program = load(self.module, self.name, self.target, timed=True)
            bound = self._bind(arguments)
            found = launch.run(self._launched(program, arguments), bound, how, recorder, keep=True).findings
        if found:
            raise findings.error(f"@{self.name} on {self.target}", found, self.program.source)
        return Timeline(self.name, self.target.chip, timing, tuple(recorder.slices))

    def _bind(self, arguments: Sequence[Any]) -> list[BoundArgument]:
        if self._check is None:
            calls.check_count(self.name, [str(parameter.type) for parameter in self.parameters], len(arguments))
            return [
                bound_arguments.bind(parameter, value)
                for parameter, value in zip(self.parameters, arguments, strict=True)
            ]
        views = self._check.views(arguments)
        values: list[BoundArgument] = []
        parameters = iter(self.parameters)
        for argument, value, view in zip(self.arguments, arguments, views, strict=True):
            parameter = next(parameters)
            if argument.num_parameters > 1:
                assert argument.shape is not None and argument.strides is not None
                # The address is that of an array with this shape.
                parameter = dataclasses.replace(parameter, shape=argument.shape, strides=argument.strides)
            values.append(bound_arguments.bind(parameter, value))
            values += [
                bound_arguments.bind(next(parameters), size) for size in calls.dynamic_parameters(argument, view)
            ]
        return values

    def random_arguments(
        self, seed: int = 0, shapes: Mapping[int, Sequence[int]] | None = None
    ) -> list[np.ndarray[Any, Any]]:
        """Random arguments, which are the same for the same seed. `shapes` maps argument numbers to shapes, for
        dynamic sizes."""
        generator, known = np.random.default_rng(seed), random_arguments.roles(self.module)
        parameters = bound_arguments.with_shapes(self.parameters, shapes or {})
        try:
            values = [
                random_arguments.drawn(parameter, known.get(parameter.index), generator) for parameter in parameters
            ]
        except (MemoryError, ValueError) as problem:
            raise LaunchError(
                f"out of memory for the arguments of @{self.name}: {problem}; use smaller arrays"
            ) from None
        # A call of a tile-level kernel requires the strides of its types.
        return [
            value if parameter.declared is None else inputs.in_memory(parameter.declared, value)
            for parameter, value in zip(parameters, values, strict=True)
        ]

    @property
    def arguments(self) -> tuple[entry.Argument, ...]:
        """The parameters of a tile-level kernel."""
        return self.entry.arguments if self.entry is not None else ()

    @property
    def launcher(self) -> SimulatedKernel:
        """The kernel itself."""
        return self

    def run_on_copies(self, values: Sequence[Any], repeat: int = 1) -> float:
        """Runs the kernel, which writes its results to `values`. Returns the seconds of the fastest run."""
        best = float("inf")
        first = [np.copy(value) for value in values]
        for number in range(repeat):
            start = time.perf_counter()
            self(*(values if number == 0 else [np.copy(value) for value in first]))
            best = min(best, time.perf_counter() - start)
        return best


def _declare(program: Program, what: entry.Entry) -> Program:
    """The program with the arguments of the tile-level kernel."""
    parameters = iter(program.parameters)
    found: list[Parameter] = []
    for argument in what.arguments:
        found.append(dataclasses.replace(next(parameters), declared=argument))
        names = [f"size of dimension {dim}" for dim in argument.dynamic_sizes]
        names += [f"stride of dimension {dim}" for dim in argument.dynamic_strides]
        found += [
            dataclasses.replace(size, title=f"{name} of argument {argument.index}")
            for name, size in zip(names, parameters, strict=False)
        ]
    return dataclasses.replace(program, parameters=tuple(found))


TOO_DEEP = "nests loops and conditions more deeply than the simulator supports; use less nesting"
LEVELS = {"block": "pipelined", "thread": "thread"}
"""The simulated levels, and the stage of `smalti-compile` for each."""


_OF_THREADS = ("mosaic_gpu.wgmma", "amdgpu.lds_barrier")
"""Ops that are only simulated at thread level: of specialized warps, and barriers that fence LDS only."""


def _needs_threads(module: ir.Module) -> bool:
    return any(
        op.name in _OF_THREADS or any(is_packed(value.type) for value in op.operands) for op in walk(module.operation)
    )


def simulate(
    source: Any, target: str | targets.Target, *, name: str | None = None, level: str | None = None, **options: Any
) -> SimulatedKernel:
    """A kernel for the simulator.

    `source` is a path, a text or a module: a JAX module, a block-level or thread-level kernel, or a tile-level kernel.
    A tile-level kernel is lowered to block level with the options of `smalti-compile`. It is lowered to thread level
    if it uses `wgmma` with specialized warps or addresses of mbarriers, barriers that fence LDS only, or memory with
    elements smaller than a byte. With
    `level="thread"` every kernel is lowered to thread level; a thread-level kernel is transformed as the options
    state.
    """
    chosen = targets.get(target)
    if not chosen.is_gpu:
        raise TargetError(f"'{chosen}' is not a GPU; the simulator requires a GPU target")
    if level is not None and level not in LEVELS:
        raise TargetError(f"unknown level '{level}'; the levels are: {', '.join(LEVELS)}")
    module = driver.parse(source)
    attach_source_locations(source, module)
    described = None
    remarks: list[Remark] = []
    tiles = any(op.operation.name == "triton_xla.entry_func" for op in module.body.operations)
    if tiles:
        function = entry.find_entry(module, name)
        name = ir.StringAttr(function.attributes["sym_name"]).value
        described = entry.describe(function)
        legality.check(function, str(chosen), CompileError)
    stop = options.pop("stop_after", None)
    if tiles or (level == "thread" and (options or not has_threads(module))):
        given = module
        lowering = insertion.lowering(chosen, {"check_indices": True, **options})

        def lowered(stop_after: str) -> ir.Module:
            copy = driver.clone(given)
            if "smalti.target" in copy.operation.attributes:
                copy.operation.attributes["smalti.target"] = ir.StringAttr.get(chosen.chip, copy.context)
            remarks[:] = lowering.run(copy, stage=stop_after)
            return copy

        last = stop or LEVELS[level or "block"]
        module = lowered(last)
        if not stop and level is None and _needs_threads(module):
            last = LEVELS["thread"]
            module = lowered(last)
        if unreached := lowering.unreached(last):
            raise PipelineError(
                f"the passes at '{unreached[0]}' do not run: the kernel is simulated after the level {last}",
                hint="compile the kernel for emu:CHIP to run passes of later levels",
            )
    elif options or stop:
        given = [*options, *(["stop_after"] if stop else [])]
        raise TargetError(
            f"{counted(len(given), 'option')} cannot be used: {', '.join(given)}; a block-level or thread-level kernel is "
            "simulated without lowering"
        )
    try:
        return SimulatedKernel(load(module, name, chosen), chosen, module, described, remarks)
    except SmaltiError:
        raise
    except RecursionError:
        raise CompileError(f"the program {TOO_DEEP}") from None
    except MemoryError as problem:
        raise CompileError(f"out of memory while loading the program: {problem}") from None
    except Exception as problem:
        place = source_location(module.operation.location)
        raise CompileError("", diagnostics=[Diagnostic("error", internal_error(problem), place)]) from problem
