# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests with torch, which CI does not have, and with JAX, in a virtual environment of their own, and the record of them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import steps
from .shell import ROOT, Failure, capture, run, say, step

ENVIRONMENT = steps.CACHE / "frameworks"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = steps.TOOLS / "requirements-frameworks.txt"
_FOLDER = ROOT / "test" / "python" / "frameworks"
CASES = {
    "torch": [_FOLDER / "torch_cases.py"],
    "jax": [_FOLDER / "test_jax_functions.py", _FOLDER / "test_jax_handlers.py"],
}
"""The files of tests by framework."""
RESULTS = ROOT / "benchmarks" / "results" / "frameworks.json"

_VERSIONS = """
import importlib.metadata, jax, json, torch
facts = {name: importlib.metadata.version(name) for name in ("torch", "jax", "numpy")}
gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
print(json.dumps({"versions": facts, "gpu": gpu, "jax_platform": jax.default_backend()}))
"""


def _install() -> None:
    stamp = ENVIRONMENT / ".stamp"
    files = [REQUIREMENTS, *(steps.TOOLS / f"requirements{name}.txt" for name in ("", "-jax"))]
    key = steps.digest(*(file.read_bytes() for file in files), str(ROOT))
    if steps.is_stamped(stamp, key):
        return
    with step(f"Installing {REQUIREMENTS.relative_to(ROOT)} into {ENVIRONMENT.relative_to(ROOT)}"):
        run([steps.base_interpreter(), "-m", "venv", "--clear", ENVIRONMENT], quiet=True)
        packages = Path(capture([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]))
        (packages / "smalti_build_tree.pth").write_text(f"{steps.PACKAGES}\n")
        run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS], quiet=True)
        stamp.write_text(key)


def outcomes(report: Path) -> dict[str, str]:
    """The outcome of each test of a JUnit report: "passed", "failed", or "not run: REASON"."""
    found: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        outcome = "passed"
        for part in case:
            if part.tag in ("failure", "error"):
                outcome = "failed"
            elif part.tag == "skipped":
                outcome = f"not run: {part.get('message')}"
        found[str(case.get("name"))] = outcome
    return found


def frameworks(arguments: Sequence[str]) -> None:
    """Run the tests with torch, which CI does not have, and with JAX, in .cache/frameworks, and record the versions and
    outcomes in benchmarks/results/frameworks.json. Options of pytest narrow them down; then nothing is recorded."""
    steps.build()
    _install()
    codes: set[int] = set()
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for framework, files in CASES.items():
            report = Path(folder) / f"{framework}.xml"
            command = [PYTHON, "-m", "pytest", f"--junitxml={report}", *arguments, *files]
            environment = {**os.environ, **steps.environment()}
            codes.add(subprocess.run(list(map(str, command)), env=environment, cwd=ROOT, check=False).returncode)
            if report.is_file():
                found[framework] = outcomes(report)
    # Pytest returns 5 if the options select no test of a framework.
    if not codes <= {0, 1, 5} or codes == {5}:
        raise Failure("pytest did not run the tests; its error is above")
    if not arguments:
        facts: dict[str, Any] = json.loads(capture([PYTHON, "-c", _VERSIONS]))
        facts["python"] = platform.python_version()
        facts["tests"] = found
        RESULTS.write_text(json.dumps(facts, indent=1) + "\n")
        say(f"    {RESULTS.relative_to(ROOT)}")
    if 1 in codes:
        raise Failure("tests failed; their errors are above")
