# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry point of the command line, `smalti` or `python -m smalti`, of the package."""

from .cli import interrupts


def main() -> None:
    """Runs the command line."""
    with interrupts.end_the_process():
        from .cli.commands import main as command
    command(prog_name="smalti")


if __name__ == "__main__":
    main()
