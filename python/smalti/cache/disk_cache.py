# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder of byte strings by key, for results that can be computed again.

Every entry is a file `<name>.entry`:

    magic, 16 bytes | tag of the name, 32 bytes | tag of the name and the content, 32 bytes | content

Tags are HMAC-SHA256 with a random key of the user, which is stored outside of the folder, in a file that only the user can
read. The name is the tag of the entry's key. An entry that was changed, truncated, swapped with another one or written by
another user is therefore not returned. Only files with a valid tag of their name are deleted. The cache does not unpickle.
The content is a line of JSON that describes the entry for `smalti cache list`, and the bytes.

Files are written under a temporary name and then renamed, so that several processes can read one folder while another one
writes. Writers take turns: each one locks the file `used`, which has the number of bytes of all entries, and first deletes old
entries if its entry would exceed the limit. After each write, all entries take at most the limit. `used` does not count a file
that was copied into the folder: the scan before the first write of each process finds it. On a file system without locks, each
write scans the folder, and concurrent writers may exceed the limit by one entry each. Every failure (a full or read-only disk,
a file that another process deletes, a lock that is not released) is a miss.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .. import files
from ..diagnostics import counted

_MAGIC = b"smalti-cache-1\n\0"
_TAG = hashlib.sha256().digest_size
_HEADER = len(_MAGIC) + 2 * _TAG
_KEY_SECONDS = 1.0
"""How long an empty key file may be one that another process is writing."""
_ENTRY = re.compile(r"([0-9a-f]{64})\.(?:entry|[^./]+\.part)")
_LONGEST_LABEL = 4096

FOLDERS = ("kernels", "emulator")
"""The folders of compiled kernels and of code for emulated GPUs, in the cache folder."""
LIMIT = 1 << 30
"""How many bytes the entries of each folder may take."""
_LOCK_SECONDS = 1.0
"""How long a writer waits for its turn. A stopped process may hold the lock for any time."""


def _lock(descriptor: int) -> bool:
    """Locks a file until it is closed, or returns False on a file system without locks. Raises OSError if another process
    does not release it."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.001)
        except OSError:
            return False


class Refused(Exception):
    """The reason why a folder or a key cannot be trusted or used."""


def _check_owner(path: Path, found: os.stat_result, forbidden: int, change: str) -> None:
    if found.st_uid != os.geteuid():
        raise Refused(f"{path} belongs to another user; set SMALTI_CACHE_DIR to a folder of your own")
    if found.st_mode & forbidden:
        raise Refused(f"other users have access to {path}, which must be private; run `chmod {change} {path}`")


def _private_folder(path: Path) -> None:
    """Creates a folder that only the user can write, or checks that it is one."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise Refused(f"{path} is not a folder; set SMALTI_CACHE_DIR to a folder")
    _check_owner(path, found, stat.S_IWGRP | stat.S_IWOTH, "go-w")


def _read(path: Path, limit: int) -> bytes:
    """A regular file of the user of at most `limit` bytes. Symbolic links are not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size > limit:
            raise OSError(f"{path} is in the folder of the cache, but is not a file that the cache wrote; remove it")
        return stream.read(limit + 1)


def _create_key(path: Path) -> None:
    """Creates a random key. A key that another process creates at the same time stays."""
    key = secrets.token_bytes(_TAG)
    descriptor, part = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(key)
        os.link(part, path)
        return
    except FileExistsError:
        return
    except OSError:
        # The file system may not have hard links. An error that has another cause is repeated below.
        pass
    finally:
        Path(part).unlink()
    # Other processes may find this file before the key is in it: they wait (`_wait_for_content`).
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    try:
        if os.write(descriptor, key) != len(key):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    except BaseException:
        path.unlink()
        raise
    finally:
        os.close(descriptor)


def _wait_for_content(path: Path) -> None:
    """Waits while a key file is empty: the process that created it is about to write the key."""
    deadline = time.monotonic() + _KEY_SECONDS
    while path.lstat().st_size == 0 and time.monotonic() < deadline:
        time.sleep(0.01)


def _user_key(path: Path) -> bytes:
    """The random key of the user, which is created the first time."""
    _private_folder(path.parent)
    for _ in range(2):
        try:
            found = path.lstat()
        except FileNotFoundError:
            _create_key(path)
            continue
        if not stat.S_ISREG(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a file"
            raise Refused(f"{path}, the key of the cache, is {kind}; remove it, and the next run creates a new key")
        _check_owner(path, found, stat.S_IRWXG | stat.S_IRWXO, "go-rwx")
        if found.st_size == 0:
            _wait_for_content(path)
        key = _read(path, _TAG)
        if len(key) != _TAG:
            raise Refused(
                f"{path}, the key of the cache, has {counted(len(key), 'byte')} instead of {_TAG}; remove it, and the next run creates a new key"
            )
        return key
    raise Refused(f"{path}, the key of the cache, cannot be created: another process removes it; run again")


def key_path() -> Path:
    """Where the user's key is: below the user's state folder, which `XDG_STATE_HOME` names."""
    import platformdirs

    return platformdirs.user_state_path("smalti", appauthor=False) / "cache.key"


@dataclass(frozen=True)
class Item:
    """An entry, for a list."""

    name: str
    """The name of the kernel, or the names of several."""
    target: str
    bytes: int
    used: float
    """When the entry was used last, in seconds since the epoch."""


class DiskCache:
    """The entries in a folder; raises `Refused` or `OSError` where the folder or the key cannot be used."""

    def __init__(self, folder: Path, limit: int, key: Path | None = None) -> None:
        """`limit` is how many bytes all entries may take; the entries that were used last stay."""
        _private_folder(folder)
        self._folder = folder
        self._limit = limit
        self._key = _user_key(key or key_path())
        self._has_scanned = False

    def _tag(self, *parts: bytes) -> bytes:
        tag = hmac.new(self._key, digestmod=hashlib.sha256)
        for part in parts:
            tag.update(len(part).to_bytes(8, "little"))
            tag.update(part)
        return tag.digest()

    def _name(self, key: str) -> str:
        return self._tag(b"key of a labeled entry", key.encode()).hex()

    def _header(self, name: str) -> bytes:
        return _MAGIC + self._tag(b"name", name.encode())

    def get(self, key: str) -> bytes | None:
        """The bytes that `set` was given for this key, or None."""
        name = self._name(key)
        path = self._folder / f"{name}.entry"
        try:
            entry = _read(path, _HEADER + self._limit)
            header, content = entry[:_HEADER], entry[_HEADER:]
            expected = self._header(name) + self._tag(b"content", name.encode(), content)
            if not hmac.compare_digest(header, expected):
                return None
            with suppress(OSError):
                os.utime(path)
            return content.partition(b"\n")[2]
        except (OSError, MemoryError):
            return None

    def set(self, key: str, content: bytes, name: str = "", target: str = "") -> None:
        """Stores bytes, where that is possible. `name` and `target` are for `items`."""
        label = json.dumps({"name": name, "target": target}).encode()
        content = (label if len(label) < _LONGEST_LABEL else b"{}") + b"\n" + content
        if len(content) > self._limit // 2:
            return
        name = self._name(key)
        with suppress(OSError), self._capacity(_HEADER + len(content)):
            descriptor, part = tempfile.mkstemp(".part", f"{name}.", self._folder)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(self._header(name) + self._tag(b"content", name.encode(), content))
                    stream.write(content)
                Path(part).replace(self._folder / f"{name}.entry")
            except OSError:
                Path(part).unlink()

    @contextmanager
    def _capacity(self, size: int) -> Iterator[None]:
        """The turn of a writer. The limit has capacity for `size` more bytes."""
        descriptor = os.open(self._folder / "used", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            has_lock = _lock(descriptor)
            count = os.pread(descriptor, 8, 0)
            used = int.from_bytes(count, "little")
            # A scan visits all files. An entry that replaces another one is counted twice until the next scan.
            if not (has_lock and self._has_scanned) or len(count) != 8 or used + size > self._limit:
                used = self._evict(size)
                self._has_scanned = True
            # An interrupted write may be counted, but none is missed.
            os.pwrite(descriptor, (used + size).to_bytes(8, "little"), 0)
            yield
        finally:
            os.close(descriptor)

    def _evict(self, size: int) -> int:
        """Deletes the entries that were used longest ago if all entries and `size` more bytes exceed the limit, until they take
        three quarters of it. Returns how many bytes the remaining entries take."""
        found: list[tuple[int, int, str]] = []
        for item in os.scandir(self._folder):
            if _ENTRY.fullmatch(item.name):
                with suppress(OSError):
                    facts = item.stat(follow_symlinks=False)
                    found.append((facts.st_mtime_ns, facts.st_size, item.name))
        total = sum(size for _, size, _ in found)
        if total + size <= self._limit:
            return total
        # Entries of a key that was lost are not deleted, and do not take the place of others.
        found = [item for item in found if self._start_of_own(item[2]) is not None]
        total = sum(size for _, size, _ in found)
        if total + size <= self._limit:
            return total
        for _, bytes_of_file, file in sorted(found):
            if total + size <= self._limit * 3 // 4:
                break
            with suppress(OSError):
                (self._folder / file).unlink()
                total -= bytes_of_file
        return total

    def _start_of_own(self, file: str, length: int = 0) -> bytes | None:
        """The first bytes after the tags of a file with a valid tag of its name; None for another file."""
        header = self._header(file[: 2 * _TAG])
        try:
            descriptor = os.open(self._folder / file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as stream:
                start = stream.read(_HEADER + length)
                return start[_HEADER:] if hmac.compare_digest(start[: len(header)], header) else None
        except OSError:
            return None

    def _own(self) -> Iterator[tuple[str, os.stat_result, bytes]]:
        """The files of this user's cache, with their first bytes. No other file is deleted."""
        for item in os.scandir(self._folder):
            if _ENTRY.fullmatch(item.name) and (start := self._start_of_own(item.name, _LONGEST_LABEL)) is not None:
                with suppress(OSError):
                    yield item.name, item.stat(follow_symlinks=False), start

    def items(self) -> list[Item]:
        """The entries, the one that was used last first."""
        found: list[Item] = []
        for file, facts, start in self._own():
            if not file.endswith(".entry"):
                continue
            try:
                label = json.loads(start.partition(b"\n")[0])
                name, target = str(label["name"]), str(label["target"])
            except (ValueError, KeyError, TypeError):
                # An entry of an earlier version, or a damaged one.
                name, target = "", ""
            # The label is not authenticated.
            name, target = (text if text.isprintable() else "" for text in (name, target))
            found.append(Item(name, target, facts.st_size, facts.st_mtime))
        return sorted(found, key=lambda item: -item.used)

    def clear(self) -> tuple[int, int]:
        """Deletes the entries, and returns their number and their bytes."""
        count = size = 0
        for file, facts, _ in list(self._own()):
            with suppress(FileNotFoundError):
                (self._folder / file).unlink()
                count, size = count + 1, size + facts.st_size
        return count, size


def why_unusable(folder: Path) -> str | None:
    """The reason why a folder cannot be used as a cache, in one clause; None if it can."""
    try:
        DiskCache(folder, 1)
    except Refused as refused:
        return str(refused)
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror or error}"
    return None


@functools.cache
def open_cache(folder: Path, limit: int) -> DiskCache | None:
    """The cache in a folder, or None where there can be none: a warning says why, once."""
    reason = why_unusable(folder)
    if reason is None:
        with suppress(Refused, OSError):
            return DiskCache(folder, limit)
    warnings.warn(f"the disk cache is disabled: {reason}", RuntimeWarning, stacklevel=2)
    return None


def is_enabled() -> bool:
    """Whether the environment variable `SMALTI_CACHE` does not disable the cache."""
    return os.environ.get("SMALTI_CACHE") != "0"


def opened(folder: str) -> DiskCache | None:
    """The cache in one of `FOLDERS`, or None where there can be none."""
    return open_cache(files.cache_folder(folder), LIMIT) if is_enabled() else None
