# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/: run and compared with the reference interpreter, and compiled for chips of every family."""

from __future__ import annotations

import json
import pathlib
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .shell import ROOT, Failure, say
from .steps import PYTHON, environment

FOLDER = ROOT / "examples"
RESULTS = ROOT / "benchmarks" / "results" / "examples.json"
RUN_TARGETS = ("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201")
CHIPS = ("sm_80", "sm_90a", "sm_120a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


@dataclass(frozen=True)
class Outcome:
    """One example on one target."""

    example: str
    target: str
    outcome: str
    """`right`, `compiled`, `spills`, or the error."""
    seconds: float


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.mlir"))


def run_command(name: str, target: str) -> list[str]:
    """The command that runs an example and compares it. Its line `// Arguments:` has the shapes of dynamic arguments."""
    path = FOLDER / f"{name}.mlir"
    found = re.search(r"^// Arguments: (.*)$", path.read_text(), re.MULTILINE)
    shapes = [word for item in (found[1].split() if found else []) for word in ("--arg", item)]
    return [str(PYTHON), "-m", "smalti", "run", str(path), "--target", target, "--check", *shapes]


def compile_command(name: str, chip: str, output: pathlib.Path) -> list[str]:
    suffix = ".cubin" if chip.startswith("sm_") else ".hsaco"
    return [
        *(str(PYTHON), "-m", "smalti", "compile", str(FOLDER / f"{name}.mlir"), "--target", chip),
        *("-o", str(output / f"{name}-{chip}{suffix}")),
    ]


def _measure(example: str, target: str, command: Sequence[str]) -> Outcome:
    import subprocess

    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=ROOT)
    seconds = round(time.perf_counter() - start, 2)
    text = (done.stdout + done.stderr).strip()
    if done.returncode:
        outcome = next((line for line in text.splitlines() if "error" in line), text)
    elif "--check" in command:
        outcome = "right"
    else:
        spills = re.search(r"(\d+) spilled", text)
        outcome = "spills" if spills and int(spills[1]) else "compiled"
    return Outcome(example, target, outcome, seconds)


def examples(arguments: Sequence[str]) -> None:
    """Runs and compiles the examples whose names contain one of the arguments; without arguments all, and records the results."""
    chosen = [name for name in names() if not arguments or any(part in name for part in arguments)]
    if not chosen:
        raise Failure(f"no example matches; examples: {', '.join(names())}")
    output = ROOT / "build" / "examples"
    output.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for name in chosen:
        jobs = [(target, run_command(name, target)) for target in RUN_TARGETS]
        jobs += [(chip, compile_command(name, chip, output)) for chip in CHIPS]
        for target, command in jobs:
            outcomes.append(_measure(name, target, command))
            say(f"{name:28} {target:12} {outcomes[-1].seconds:6.2f} s  {outcomes[-1].outcome}")
    if not arguments:
        RESULTS.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n")
        say(f"Recorded in {RESULTS.relative_to(ROOT)}.")
    bad = [outcome for outcome in outcomes if outcome.outcome not in ("right", "compiled", "spills")]
    if bad:
        raise Failure(f"{len(bad)} of {len(outcomes)} runs failed")
