"""Buffers whose bounds the hardware checks: what is outside is read as zero, and not written."""

from __future__ import annotations

from typing import Any

import numpy as np

from .lanes import Array, spread
from .memory import View

_DWORD = 4


def inside(view: View, first: Any, steps: Array, size: int) -> Any:
    """Whether elements of `size` bytes at bytes `first + steps` are inside: for each element, of each lane where `first`
    is an array. An access that is not all inside is checked dword by dword."""
    total = int(steps[-1]) + size
    # Offsets are numbers of 32 bits without a sign.
    offset = (first - view.begin) & 0xFFFFFFFF
    limit = view.limit
    if isinstance(offset, np.ndarray) or isinstance(limit, np.ndarray):
        offset, limit = np.asarray(offset)[..., None], np.asarray(limit)[..., None]
    ends = np.minimum((steps + size + _DWORD - 1) // _DWORD * _DWORD, total)
    return (offset + ends <= limit) | (offset + total <= limit)


def load(st: Any, view: View, first: Any, shape: tuple[int, ...], mask: Array | None, site: Any, what: str) -> Any:
    """What every lane loads at bytes of a checked buffer."""
    steps, dtype = view.steps(shape), view.dtype
    there = inside(view, first, steps, dtype.itemsize)
    if there.all():
        return st.load_bytes(view.buffer, first, steps, dtype, shape, mask, site, what)
    found = np.zeros((st.lanes, len(steps)), dtype)
    for chosen, columns in _parts(st, there, mask):
        value = st.load_bytes(view.buffer, first, steps[columns], dtype, (len(columns),), chosen, site, what)
        found[np.ix_(chosen, columns)] = spread(value, dtype, st.lanes, 1)[chosen]
    return found.reshape((st.lanes, *shape))


def store(
    st: Any, view: View, first: Any, value: Any, shape: tuple[int, ...], mask: Array | None, site: Any, what: str
) -> None:
    """Every lane stores at bytes of a checked buffer."""
    steps, dtype = view.steps(shape), view.dtype
    there = inside(view, first, steps, dtype.itemsize)
    if there.all():
        st.store_bytes(view.buffer, first, steps, dtype, value, shape, mask, site, what)
        return
    values = spread(value, dtype, st.lanes, len(shape)).reshape(st.lanes, -1)
    for chosen, columns in _parts(st, there, mask):
        st.store_bytes(
            view.buffer, first, steps[columns], dtype, values[:, columns], (len(columns),), chosen, site, what
        )


def _parts(st: Any, there: Array, mask: Array | None) -> list[tuple[Array, Array]]:
    """Lanes that have the same elements inside, and these."""
    rows = np.broadcast_to(there, (st.lanes, there.shape[-1]))
    if mask is not None:
        rows = rows & mask[:, None]
    parts = []
    for pattern in np.unique(rows, axis=0):
        if pattern.any():
            parts.append(((rows == pattern).all(1), np.flatnonzero(pattern)))
    return parts
