"""The targets that programs run on."""

from __future__ import annotations


def default_targets() -> list[str]:
    """One target of each kind."""
    return ["cpu"]
