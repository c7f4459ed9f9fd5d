# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounds-checked buffers: an out-of-bounds load returns zero, and an out-of-bounds store has no effect."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .lanes import Array, spread
from .memory import View

_DWORD = 4


def inside(view: View, first: Any, steps: Array, size: int, scalar: Any = 0) -> Any:
    """Whether elements of `size` bytes at bytes `first + steps` are in bounds: for each element, of each lane if
    `first` is an array. Contiguous elements are one access, which is checked per dword. `scalar` is the part of
    `first` outside the 32-bit sum."""
    # Offsets are unsigned 32-bit numbers.
    offset = (first - scalar - view.begin & 0xFFFFFFFF) + scalar
    limit = view.limit
    if isinstance(offset, np.ndarray) or isinstance(limit, np.ndarray):
        offset, limit = np.asarray(offset)[..., None], np.asarray(limit)[..., None]
    return offset + _ends(tuple(steps.tolist()), size) <= limit


@functools.lru_cache(1024)
def _ends(steps: tuple[int, ...], size: int) -> Array:
    """The required size of memory for each element."""
    places = np.array(steps)
    breaks = np.flatnonzero(np.diff(places) != size) + 1
    found = []
    for run in np.split(places, breaks):
        ends = run - run[0] + size
        found.append(run[0] + np.minimum(-(-ends // _DWORD) * _DWORD, ends[-1]))
    return np.concatenate(found)


def load(
    st: Any,
    view: View,
    first: Any,
    steps: Array,
    shape: tuple[int, ...],
    mask: Array | None,
    site: Any,
    what: str = "the load",
    scalar: Any = 0,
) -> Any:
    """The elements that every lane loads at bytes of a view, with bounds checks if its buffer has them."""
    dtype = view.dtype
    if view.limit is None:
        return st.load_bytes(view.buffer, first, steps, dtype, shape, mask, site, what)
    there = inside(view, first, steps, dtype.itemsize, scalar)
    if there.all():
        return st.load_bytes(view.buffer, first, steps, dtype, shape, mask, site, what)
    found = np.zeros((st.lanes, len(steps)), dtype)
    for chosen, columns in _parts(st, there, mask):
        value = st.load_bytes(view.buffer, first, steps[columns], dtype, (len(columns),), chosen, site, what)
        found[np.ix_(chosen, columns)] = spread(value, dtype, st.lanes, 1)[chosen]
    return found.reshape((st.lanes, *shape))


def store(
    st: Any,
    view: View,
    first: Any,
    steps: Array,
    value: Any,
    shape: tuple[int, ...],
    mask: Array | None,
    site: Any,
    what: str = "the store",
    scalar: Any = 0,
) -> None:
    """Every lane stores at bytes of a view."""
    dtype = view.dtype
    if view.limit is None:
        st.store_bytes(view.buffer, first, steps, dtype, value, shape, mask, site, what)
        return
    there = inside(view, first, steps, dtype.itemsize, scalar)
    if there.all():
        st.store_bytes(view.buffer, first, steps, dtype, value, shape, mask, site, what)
        return
    values = spread(value, dtype, st.lanes, len(shape)).reshape(st.lanes, -1)
    for chosen, columns in _parts(st, there, mask):
        st.store_bytes(
            view.buffer, first, steps[columns], dtype, values[:, columns], (len(columns),), chosen, site, what
        )


def _parts(st: Any, there: Array, mask: Array | None) -> list[tuple[Array, Array]]:
    """Groups of lanes with the same elements in bounds."""
    rows = np.broadcast_to(there, (st.lanes, there.shape[-1]))
    if mask is not None:
        rows = rows & mask[:, None]
    parts = []
    for pattern in np.unique(rows, axis=0):
        if pattern.any():
            parts.append(((rows == pattern).all(1), np.flatnonzero(pattern)))
    return parts
