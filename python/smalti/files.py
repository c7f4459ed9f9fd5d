# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic writing of files, and the cache folder."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import SmaltiError


def cache_folder(name: str) -> Path:
    """The folder `name` in `SMALTI_CACHE_DIR`, or in the cache folder of the user."""
    if given := os.environ.get("SMALTI_CACHE_DIR"):
        return Path(given) / name
    import platformdirs

    return platformdirs.user_cache_path("smalti", appauthor=False) / name


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """A stream whose content replaces the file at `path` if the block ends without an exception. Otherwise the file does
    not change. Raises SmaltiError if the file cannot be written."""
    try:
        given = Path(path)
        if given.exists() and not given.is_file():
            # Devices and pipes are written in place. Opening a folder fails.
            with given.open("wb") as stream:
                yield stream
            return
        # A symbolic link stays a link; its target is replaced.
        target = given.resolve()
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as stream:
                yield stream
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise SmaltiError(f"cannot write {path}: {error.strerror or error}") from None


def write(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Writes a file completely or not at all. Raises SmaltiError if the file cannot be written."""
    with replacing(path) as stream:
        stream.write(data.encode() if isinstance(data, str) else data)
