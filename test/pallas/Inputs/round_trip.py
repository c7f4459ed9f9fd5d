"""Checks that modules are the same after they were printed and parsed again: round_trip.py SMALTI_OPT FILE..."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path

GENERIC = "--mlir-print-op-generic"


def run(tool: str, text: str, *options: str) -> str:
    done = subprocess.run([tool, "-", *options], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stderr[:2000]}\n{tool} {' '.join(options)} failed")
    return done.stdout


def compare(name: str, expected: str, actual: str) -> None:
    if expected != actual:
        lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "first", "again", lineterm="", n=0)
        raise SystemExit(f"{name} is another module after the round trip:\n" + "\n".join(list(lines)[:20]))


def check(tool: str, path: Path) -> None:
    """The generic form says all of a module, so it is what is compared; its own text must be the same again."""
    text = path.read_text()
    custom, generic = run(tool, text), run(tool, text, GENERIC)
    compare(f"{path.name} in its own form", custom, run(tool, custom))
    compare(f"{path.name} in generic form", generic, run(tool, generic, GENERIC))
    compare(f"{path.name} from its own form", generic, run(tool, custom, GENERIC))
    compare(f"{path.name} from generic form", custom, run(tool, generic))
    ours, theirs = generic.count('"mosaic_gpu.'), text.count('"mosaic_gpu.') + text.count(" mosaic_gpu.")
    # JAX prints custom forms too: after `= `, or at the beginning of a line, so behind a blank.
    if ours == 0 or ours != theirs:
        raise SystemExit(f"{path.name} has {ours} ops of the dialect after the round trip, and {theirs} before")
    print(f"{path.name}: {ours} ops")


def main() -> None:
    tool, *paths = sys.argv[1:]
    for path in paths:
        check(tool, Path(path))


main()
