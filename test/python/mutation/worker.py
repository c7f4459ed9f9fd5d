# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that runs mutants, and its protocol.

It reads jobs from its standard input and writes events to its standard output, a JSON object a line. After a crash, the
last event states the job.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import IO, Any

from .corpus import File, Pipelines, digest, read
from .mutators import MUTATIONS, Pool, mutate

MEMORY = 4 << 30
"""Bytes of address space beyond what the process has when it is ready."""
CHECKED = 10
"""One mutant out of so many runs on the CPU against the reference."""
LARGEST = 1 << 22
"""Elements of all arguments of a program that is run, at most."""
MOST_TILES = 256
SLOW = 2.0
"""Seconds of processor time that a pass may take."""
PARSE, CHECK = "parse", "check"

VALUES = {"shape": 40, "scalar": 3}
"""The dynamic extents and scalars of a program."""

BAD = (
    "crash", "hang", "memory", "traceback", "unparsable", "no reason", "no location", "opaque", "changed", "slow", "wrong"
)  # fmt: skip
"""The outcomes that are findings."""

_OPAQUE = re.compile(
    r"failed to legalize|failed to verify|does not dominate|unresolved materialization|operand #\d+ must be|result #\d+ must be"
)
"""Messages of upstream's drivers and verifiers about a rewrite: the pass itself gave no reason."""


_MANY = "smalti-compile"
"""Many passes in one name, upstream's among them: each may refuse what the one before it made."""


def _is_opaque(said: str, program: str) -> bool:
    """Whether a refusal is about what the pass made, and not about the program."""
    named = re.match(r"'([\w.]+)' op ", said)
    return bool(_OPAQUE.search(said)) or (named is not None and named[1].rpartition(".")[2] not in program)


Program = tuple[str, str | None]
"""As it is written and, if it is valid, in generic form."""
Group = tuple[str, list[Program]]
"""A file's name, and programs of it."""


class Case:
    """A mutant: the program and what it goes through."""

    def __init__(self, number: int, seed: int, corpus: Corpus) -> None:
        rng = random.Random(f"{seed}:{number}")
        self.number = number
        self.checked = number % CHECKED == 0
        groups = corpus.runnable if self.checked else corpus.groups
        # Rounds over all files and passes; within a round a program, a pipeline and a mutation are drawn.
        at = number // CHECKED if self.checked else number
        self.file, programs = groups[at % len(groups)]
        names = list(corpus.pipelines.of_pass)
        name = names[(at // len(groups)) % len(names)]
        self.kind = list(MUTATIONS)[rng.randrange(len(MUTATIONS))]
        self.pipelines = [rng.choice(corpus.pipelines.of_pass[name])]
        if own := corpus.pipelines.of_file[self.file]:
            self.pipelines.append(rng.choice(own))
        valid = [program for program in programs if program[1]]
        plain, generic = rng.choice(valid if valid and rng.random() < 0.8 else programs)
        text = generic if generic and rng.random() < 0.75 else plain
        self.text = mutate(text, self.kind, corpus.pool, rng)


class Corpus:
    """The files with their programs in both forms, the pipelines, and the pool of parts."""

    def __init__(self, files: Sequence[File] | None = None) -> None:
        from smalti import ir, passmanager
        from smalti.compiler import driver, passes
        from smalti.errors import SmaltiError

        context = driver.new_context()
        self.files = tuple(files or read())
        self.digest = digest(self.files)
        self.groups: list[Group] = []
        """The programs of each file."""
        self.runnable: list[Group] = []
        """Each program that runs only on the CPU."""
        for file in self.files:
            programs: list[Program] = []
            for text in file.programs:
                generic = None
                with contextlib.suppress(SmaltiError):
                    generic = driver.parse(text, context).operation.get_asm(print_generic_op_form=True)
                programs.append((text, generic))
                if generic and "triton_xla.entry_func" in text:
                    self.runnable.append((file.name, [programs[-1]]))
            self.groups.append((file.name, programs))
        everything = [generic or text for _, programs in self.groups for text, generic in programs]
        self.pool = Pool.of(everything)

        def parses(pipeline: str) -> bool:
            try:
                passmanager.PassManager.parse(pipeline, context)
            except (ValueError, ir.MLIRError):
                return False
            return True

        registered = {name: item.op for name, item in passes.registered().items()}
        self.pipelines = Pipelines(self.files, registered, parses)


class Runner:
    """Runs programs in this process."""

    def __init__(self, events: IO[str]) -> None:
        self._events = events

    def tell(self, **event: Any) -> None:
        """Writes an event."""
        self._events.write(json.dumps(event) + "\n")
        self._events.flush()

    @functools.cached_property
    def context(self) -> Any:
        """The context of all programs of a job."""
        from smalti.compiler import driver

        return driver.new_context()

    def stage(self, name: str, run: Any, *arguments: Any) -> Any:
        """One step of a mutant: reports its begin and its outcome. Returns the outcome and the result of `run`."""
        self.tell(stage=name)
        result, start = None, time.process_time()
        try:
            outcome, message, result = run(*arguments)
        except MemoryError as error:
            outcome, message = "too large" if name == CHECK else "memory", str(error)
        except Exception as error:
            outcome, message = "traceback", _last_frames(error)
        seconds = time.process_time() - start
        if name != CHECK and seconds > SLOW and outcome not in BAD:
            outcome, message = "slow", f"{outcome} after {seconds:.1f} s"
        self.tell(stage=name, outcome=outcome, message=message[:2000])
        return result

    def program(self, text: str, pipelines: Sequence[str], checked: bool, seed: int = 0) -> None:
        """A program: parsed, printed, through each pipeline, and run if requested."""
        if not self.stage(PARSE, self._parse, text):
            return
        for pipeline in pipelines:
            self.stage(pipeline, self._pipeline, text, pipeline)
        if checked:
            self.stage(CHECK, self._check, text, seed)

    def _parse(self, text: str) -> tuple[str, str, bool]:
        from smalti.compiler import driver
        from smalti.errors import ParseError, VerifyError

        context = self.context
        try:
            module = driver.parse(text, context)
        except VerifyError as error:
            return "refused by the verifier", str(error), False
        except ParseError as error:
            return "refused by the parser", str(error), False
        if said := _does_not_read_back(module, context):
            return "unparsable", said, False
        return "valid", "", True

    def _pipeline(self, text: str, pipeline: str) -> tuple[str, str, None]:
        from smalti.compiler import driver
        from smalti.errors import SmaltiError

        context = self.context
        module = driver.parse(text, context)
        before = str(module)
        try:
            driver.run_pipeline(module, pipeline)
        except SmaltiError as error:
            said = str(error)
            if not error.diagnostics:
                return "no reason", said, None
            if error.diagnostics[0].location is None:
                return "no location", said, None
            alone = "," not in re.sub(r"\{[^{}]*\}", "", pipeline) and _MANY not in pipeline
            if alone and _is_opaque("\n".join(d.message for d in error.diagnostics), before):
                return "opaque", said, None
            # One function: none that was rewritten before the refusal of another one.
            functions = len(re.findall(r"func[ \"].*@|entry_func", before))
            if alone and functions == 1 and str(module) != before:
                return "changed", said, None
            return "refused", said, None
        if str(module) == before:
            return "unchanged", "", None
        if said := _does_not_read_back(module, context):
            return "unparsable", said, None
        return "applied", "", None

    def _check(self, text: str, seed: int) -> tuple[str, str, None]:
        import numpy as np
        import smalti
        from smalti import check
        from smalti.compiler import driver, entry
        from smalti.errors import CheckError, SmaltiError

        from . import undefined

        module = driver.parse(text, self.context)
        try:
            described = entry.describe(entry.find_entry(module))
            given, elements = {}, 0
            for argument in described.arguments:
                if not argument.is_memref:
                    if argument.dtype.kind != "f":
                        given[argument.index] = str(VALUES["scalar"])
                    continue
                shape = [VALUES["shape"] if extent is None else extent for extent in argument.shape]
                elements += int(np.prod([float(extent) for extent in shape], initial=1.0))
                if argument.shape and None in argument.shape:
                    given[argument.index] = "x".join(map(str, shape))
            if elements > LARGEST or (described.num_tiles or 0) > MOST_TILES:
                return "too large", "", None
            kernel = smalti.compile(module, "cpu")
            values = check.random_arguments(described, seed, given)
            program = entry.find_entry(module)
            if said := undefined.behavior(program, values):
                return "undefined", said, None
            with np.errstate(all="ignore"):
                check.check(kernel, module, seed=seed, given=given).require()
        except CheckError as error:
            said = undefined.order(program, values)
            return ("undefined", said, None) if said else ("wrong", str(error), None)
        except SmaltiError as error:
            return "refused", str(error), None
        return "agrees", "", None


def _does_not_read_back(module: Any, context: Any) -> str:
    """The error in the text of a module, or an empty string: its custom form and the generic one must be valid."""
    from smalti.compiler import driver
    from smalti.errors import SmaltiError

    for generic in (False, True):
        text = module.operation.get_asm(print_generic_op_form=generic)
        try:
            driver.parse(text, context)
        except SmaltiError as error:
            return str(error)
    return ""


def _last_frames(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in reversed(frames))  # noqa: PTH119
    return f"{type(error).__name__}: {error} ({where})"


def _limit_memory() -> None:
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _quiet_reproducers() -> None:
    """A refusal writes no file: there are tens of thousands of them."""
    from pathlib import Path

    from smalti.compiler import reproducer

    reproducer.write = lambda text, pipeline: (Path("none"), "none")


def _die_with_the_parent() -> None:
    """A process that the watchdog would end must not outlive it."""
    death_signal = 1
    ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)


Job = dict[str, Any]


def serve(lines: IO[str], events: IO[str], do: Callable[[Job], None], **ready: Any) -> None:
    """Runs each job in a process of its own, so that only that process dies in a crash.

    Modules are loaded once; no thread may be running at the fork.
    """

    def tell(**event: Any) -> None:
        events.write(json.dumps(event) + "\n")
        events.flush()

    tell(**ready)
    for line in lines:
        job = json.loads(line)
        process = os.fork()
        if process == 0:
            code = 1
            try:
                _die_with_the_parent()
                tell(process=os.getpid())
                do(job)
                tell(finished=True)
                code = 0
            finally:
                # Not sys.exit: the caller's cleanup is the other process's.
                if code:
                    traceback.print_exc()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code:
            tell(died=code)


def main() -> int:
    events = os.fdopen(os.dup(1), "w")
    # Output of MLIR or of a kernel is not an event.
    os.dup2(2, 1)
    from smalti import check  # noqa: F401
    from smalti.compiler import driver  # noqa: F401
    from smalti.launch import cpu  # noqa: F401

    from . import undefined  # noqa: F401

    corpus = Corpus()
    _quiet_reproducers()

    def do(job: Job) -> None:
        _limit_memory()
        runner = Runner(events)
        if "text" in job:
            runner.tell(mutant=-1)
            runner.program(job["text"], job["pipelines"], job["checked"], job["seed"])
            return
        for number in range(job["first"], job["end"]):
            case = Case(number, job["seed"], corpus)
            runner.tell(mutant=number, file=case.file, kind=case.kind, text=case.text)
            runner.program(case.text, case.pipelines, case.checked, number)

    serve(sys.stdin, events, do, ready=corpus.digest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
