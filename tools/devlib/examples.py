# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of examples/: run and compared with the reference interpreter, and compiled for chips of every family."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from .shell import ROOT, Failure, say
from .steps import PYTHON, environment

FOLDER = ROOT / "examples"
RESULTS = ROOT / "benchmarks" / "results" / "examples.json"
RUN_TARGETS = ("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1201")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.mlir"))


def run_command(name: str, target: str) -> list[str]:
    """The command that runs an example and compares it. Its line `// Arguments:` has the shapes of dynamic arguments."""
    path = FOLDER / f"{name}.mlir"
    found = re.search(r"^// Arguments: (.*)$", path.read_text(), re.MULTILINE)
    shapes = [word for item in (found[1].split() if found else []) for word in ("--arg", item)]
    return [str(PYTHON), "-m", "smalti", "run", str(path), "--target", target, "--check", *shapes]


def _run(example: str, target: str) -> dict[str, Any]:
    done = subprocess.run(run_command(example, target), capture_output=True, text=True, env=environment(), cwd=ROOT)
    text = (done.stdout + done.stderr).strip()
    outcome: dict[str, Any] = {"example": example, "target": target}
    if done.returncode:
        return outcome | {"error": next((line for line in text.splitlines() if "error" in line), text)}
    error = re.search(r"max abs error ([\d.e+-]+)", text)
    return outcome | {"max_error": float(error[1]) if error else None}


def _compiled(chosen: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One process compiles all examples, so that the seconds do not contain its start."""
    command = [str(PYTHON), str(ROOT / "benchmarks" / "examples.py"), *chosen]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), cwd=ROOT) as process:
        assert process.stdout
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise Failure("benchmarks/examples.py failed; its error is above")


def problem_of(outcome: dict[str, Any]) -> str | None:
    """The error of a run or compilation, or its spilled registers."""
    ours = outcome.get("smalti", outcome)
    if "error" in ours:
        return ours["error"]
    return f"{ours['spills']} spilled" if ours.get("spills") else None


def _seconds(side: dict[str, Any]) -> str:
    return f"{side['seconds']:.2f} s" if "seconds" in side else "error"


def _line(outcome: dict[str, Any]) -> str:
    ours = outcome.get("smalti", {})
    times = _seconds(ours) if ours else ""
    times += f", Triton {_seconds(outcome['Triton'])}" if "Triton" in outcome else ""
    return f"{outcome['example']:28} {outcome['target']:12} {problem_of(outcome) or 'ok'}  {times}".rstrip()


def _recorded() -> list[dict[str, Any]]:
    """The outcomes of a run that stopped, except those of the example that it compiled last, which may be incomplete."""
    outcomes = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    last = outcomes[-1]["example"] if outcomes and "smalti" in outcomes[-1] else None
    return [outcome for outcome in outcomes if not ("smalti" in outcome and outcome["example"] == last)]


def examples(arguments: Sequence[str]) -> None:
    """Runs and compiles the examples whose names contain one of the arguments. Without arguments, it runs and compiles all
    and records each result; `--resume` continues a recorded run that stopped. Spilled registers are an error."""
    resumes = list(arguments) == ["--resume"]
    parts = [] if resumes else arguments
    chosen = [name for name in names() if not parts or any(part in name for part in parts)]
    if not chosen:
        raise Failure(f"no example matches; examples: {', '.join(names())}")
    outcomes = _recorded() if resumes else []
    known = {(outcome["example"], None if "smalti" in outcome else outcome["target"]) for outcome in outcomes}
    runs = (_run(name, target) for name in chosen for target in RUN_TARGETS if (name, target) not in known)
    uncompiled = [name for name in chosen if (name, None) not in known]
    for outcome in itertools.chain(runs, _compiled(uncompiled) if uncompiled else ()):
        outcomes.append(outcome)
        say(_line(outcome))
        if not parts:
            RESULTS.write_text(json.dumps(outcomes, indent=1) + "\n")
    if not parts:
        say(f"Recorded in {RESULTS.relative_to(ROOT)}.")
    if bad := sum(problem_of(outcome) is not None for outcome in outcomes):
        raise Failure(f"{bad} of {len(outcomes)} runs and compilations failed")
