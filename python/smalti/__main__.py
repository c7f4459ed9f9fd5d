"""`python -m smalti` is the command `smalti`."""

from . import interrupts


def main() -> None:
    """Runs the command."""
    with interrupts.end_the_process():
        from .cli.commands import main as command
    command(prog_name="smalti")


if __name__ == "__main__":
    main()
