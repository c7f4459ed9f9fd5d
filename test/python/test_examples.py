# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples run and agree with the reference interpreter, each on one target. `tools/dev examples` runs all of them on all
targets."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from devlib import examples

_TARGETS = dict(
    zip(
        examples.names(),
        random.Random(22).choices(("cpu", "emu:sm_80", "emu:gfx942", "emu:gfx1201"), k=len(examples.names())),
        strict=True,
    )
)


@pytest.mark.parametrize("name", examples.names())
def test_example(name: str) -> None:
    command = examples.run_command(name, _TARGETS[name])
    done = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and ": ok" in done.stdout, done.stdout + done.stderr
