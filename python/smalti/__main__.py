"""`python -m smalti` is the command `smalti`."""

from .cli import main

main(prog_name="smalti")
