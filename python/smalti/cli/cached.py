# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smalti cache`: the entries of the cache on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from .. import files
from ..cache import disk_cache
from ..errors import SmaltiError

_Result = TypeVar("_Result")
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def _each(use: Callable[[disk_cache.DiskCache], _Result]) -> dict[str, _Result]:
    """The results for the folders that exist. Raises SmaltiError if a folder cannot be used."""
    results: dict[str, _Result] = {}
    for name in disk_cache.FOLDERS:
        folder = files.cache_folder(name)
        if not folder.exists():
            continue
        try:
            results[name] = use(disk_cache.DiskCache(folder, disk_cache.LIMIT))
        except disk_cache.Refused as refused:
            raise SmaltiError(str(refused)) from None
        except OSError as error:
            raise SmaltiError(f"{error.filename or folder}: {error.strerror or error}") from None
    return results


def entries() -> list[dict[str, Any]]:
    """The entries, with the seconds since their last use."""
    now = time.time()
    found = [
        {"folder": folder, **asdict(item), "age": max(now - item.used, 0.0)}
        for folder, items in _each(lambda cache: cache.items()).items()
        for item in items
    ]
    return sorted(found, key=lambda entry: entry["age"])


def clear() -> tuple[int, int]:
    """Deletes the entries, and returns their number and their bytes."""
    cleared = list(_each(lambda cache: cache.clear()).values())
    return sum(count for count, _ in cleared), sum(size for _, size in cleared)


def age(seconds: float) -> str:
    """A duration as text: `3 min`."""
    length, unit = next(((length, unit) for length, unit in _UNITS if seconds >= length), _UNITS[-1])
    return f"{seconds // length:.0f} {unit}"
