# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Saying what happens, running commands, stopping at the first failure."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]

Argument = str | pathlib.Path


class Failure(Exception):
    """A step failed; the message is complete for a person."""


def say(text: str) -> None:
    print(text, flush=True)


def color(code: str, text: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() else text


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Announce a step, and how long it took if that is significant."""
    say(color("1", f"==> {title}"))
    start = time.monotonic()
    yield
    if (seconds := time.monotonic() - start) >= 1:
        say(f"    {seconds:.0f} s")


def as_text(command: Sequence[Argument]) -> str:
    return shlex.join(os.path.relpath(part, ROOT) if isinstance(part, pathlib.Path) else part for part in command)


def run(
    command: Sequence[Argument],
    *,
    environment: Mapping[str, str] | None = None,
    quiet: bool = False,
    hint: str = "",
) -> None:
    """Run a command from the repository's root. A `quiet` command's output is shown only if it fails."""
    say(color("2", f"    $ {as_text(command)}"))
    full_environment = {**os.environ, **(environment or {})}
    try:
        result = subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            env=full_environment,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
            text=True,
            check=False,
        )
    except OSError as error:
        raise Failure(f"cannot run this command ({error.strerror}):\n  {as_text(command)}") from None
    if result.returncode == 0:
        return
    if quiet:
        say(result.stdout.rstrip())
    how = f"signal {-result.returncode}" if result.returncode < 0 else f"exit code {result.returncode}"
    raise Failure(f"this command failed ({how}):\n  {as_text(command)}" + (f"\n{hint}" if hint else ""))


def capture(command: Sequence[Argument]) -> str:
    """The output of a command that must succeed, without announcing it."""
    try:
        return subprocess.run(
            [str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
    except OSError as error:
        raise Failure(f"cannot run this command ({error.strerror}):\n  {as_text(command)}") from None
    except subprocess.CalledProcessError as error:
        raise Failure(
            f"this command failed (exit code {error.returncode}):\n  {as_text(command)}\n{error.stderr}"
        ) from None
