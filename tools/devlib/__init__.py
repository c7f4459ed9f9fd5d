"""The parts of tools/dev. Standard library only: it runs before anything is installed."""
