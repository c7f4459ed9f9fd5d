# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache on disk: misses for modified files, and deletion of its own files only."""

from __future__ import annotations

import errno
import fcntl
import io
import multiprocessing
import os
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from smalti.cache import disk_cache
from smalti.cache.disk_cache import DiskCache, Refused

LIMIT = 1 << 20


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "state" / "cache.key"


@pytest.fixture
def cache(tmp_path: Path, key: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache", LIMIT, key)


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*.entry"))


@pytest.mark.parametrize("content", [b"", b"x", b"\n", b"a\nb", bytes(range(256)) * 100, pickle.dumps({"a": 1})])
def test_bytes_come_back(cache: DiskCache, content: bytes) -> None:
    assert cache.get("k") is None
    cache.set("k", content)
    assert cache.get("k") == content
    cache.set("k", content + b"!")
    assert cache.get("k") == content + b"!" and cache.get("other") is None


def test_entries_are_listed_and_cleared(cache: DiskCache, tmp_path: Path) -> None:
    assert cache.items() == [] and cache.clear() == (0, 0)
    cache.set("a", b"of a", "@first", "cpu")
    cache.set("b", b"of b" * 1000, "@second, @third", "sm_90a")
    cache.set("c", b"of c", "@" + "c" * 10_000, "cpu")
    for number, key in enumerate("cab"):
        os.utime(tmp_path / "cache" / f"{cache._name(key)}.entry", (number, number))
    listed = cache.items()
    assert [(item.name, item.target, item.used) for item in listed] == [
        ("@second, @third", "sm_90a", 2),
        ("@first", "cpu", 1),
        ("", "", 0),
    ]
    assert cache.get("c") == b"of c"
    precious = tmp_path / "cache" / ("0" * 64 + ".entry")
    precious.write_bytes(b"not of the cache")
    assert cache.clear() == (3, sum(item.bytes for item in listed))
    assert entries(tmp_path) == [precious] and cache.get("a") is None


def test_a_damaged_entry_is_listed_without_a_name(cache: DiskCache, tmp_path: Path) -> None:
    cache.set("a", b"of a", "@first", "cpu")
    (path,) = entries(tmp_path)
    for label in (b"[1]\n", b'{"name": "\\u001b[2J", "target": "cpu"}\n', b"\xff\n", b""):
        path.write_bytes(path.read_bytes()[:80] + label)
        assert [item.name for item in cache.items()] == [""] and cache.get("a") is None


def test_the_cache_can_be_disabled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("SMALTI_CACHE", "0")
    assert disk_cache.opened("kernels") is None and not list(tmp_path.iterdir())
    monkeypatch.delenv("SMALTI_CACHE")
    assert disk_cache.opened("kernels") is not None and (tmp_path / "kernels").is_dir()


class Payload:
    """Creates a file when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.system, ("touch ran",)


def exchanged(path: Path) -> None:
    other = next(file for file in path.parent.glob("*.entry") if file != path)
    path.write_bytes(other.read_bytes())


def flipped(at: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)

    return change


def linked(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


TAMPERED: dict[str, Callable[[Path], object]] = {
    "pickle": lambda path: path.write_bytes(pickle.dumps(Payload())),
    "pickle after the header": lambda path: path.write_bytes(path.read_bytes()[:80] + pickle.dumps(Payload())),
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "header alone": lambda path: path.write_bytes(path.read_bytes()[:80]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "exchanged": exchanged,
    "magic": flipped(0),
    "tag of the name": flipped(20),
    "tag of the content": flipped(50),
    "content": flipped(-1),
    "link": linked,
    "pipe": fifo,
    "folder": folder,
    "gone": Path.unlink,
    "huge": lambda path: os.truncate(path, 1 << 40),
    "unreadable text": lambda path: path.write_text("SQLite format 3"),
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_modified_file_is_a_miss(
    cache: DiskCache, tmp_path: Path, change: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cache.set("a", b"of a")
    (path,) = entries(tmp_path)
    cache.set("b", b"of b")
    change(path)
    assert cache.get("a") is None and cache.get("b") == b"of b" and not Path("ran").exists()
    # It is replaced if possible.
    cache.set("a", b"again")
    assert cache.get("a") == (None if path.is_dir() else b"again")


def test_entries_of_another_key_are_a_miss(cache: DiskCache, tmp_path: Path) -> None:
    cache.set("a", b"of a")
    other = DiskCache(tmp_path / "cache", LIMIT, tmp_path / "other" / "cache.key")
    assert other.get("a") is None
    (path,) = entries(tmp_path)
    path.rename(path.with_name(other._name("a") + ".entry"))
    assert other.get("a") is None


def test_the_key_is_private_and_stays(cache: DiskCache, key: Path, tmp_path: Path) -> None:
    assert key.stat().st_mode & 0o777 == 0o600 and key.stat().st_size == 32
    assert not key.is_relative_to(tmp_path / "cache")
    cache.set("a", b"of a")
    assert DiskCache(tmp_path / "cache", LIMIT, key).get("a") == b"of a"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cache, key: cache.chmod(0o770), "other users have access"),
        (lambda cache, key: cache.chmod(0o707), "other users have access"),
        (lambda cache, key: os.chown(cache, 12345, -1), "belongs to another user"),
        (lambda cache, key: key.chmod(0o640), "other users have access"),
        (lambda cache, key: os.chown(key, 12345, -1), "belongs to another user"),
        (lambda cache, key: key.parent.chmod(0o777), "other users have access"),
        (lambda cache, key: key.write_bytes(b"short"), "bytes instead of 32"),
    ],
)
def test_files_that_others_can_write_are_refused(
    cache: DiskCache, key: Path, tmp_path: Path, change: Callable[[Path, Path], object], said: str
) -> None:
    if "chown" in change.__code__.co_names and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    change(tmp_path / "cache", key)
    with pytest.raises(Refused, match=said):
        DiskCache(tmp_path / "cache", LIMIT, key)


def test_a_file_in_place_of_the_folder(tmp_path: Path, key: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises((Refused, OSError)):
        DiskCache(tmp_path / "cache", LIMIT, key)
    assert disk_cache.why_unusable(tmp_path / "cache")


def test_only_own_files_are_deleted(cache: DiskCache, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    precious = {
        folder / "precious.txt": b"x" * LIMIT,
        folder / ("0" * 64 + ".entry"): b"y" * LIMIT,
        folder / ("1" * 64 + ".abc.part"): b"z" * LIMIT,
    }
    for path, content in precious.items():
        path.write_bytes(content)
        os.utime(path, (0, 0))
    target = tmp_path / "target"
    target.write_bytes(b"t" * LIMIT)
    (folder / ("2" * 64 + ".entry")).symlink_to(target)
    for number in range(8):
        cache.set(str(number), b"c" * (LIMIT // 4))
    assert all(path.read_bytes() == content for path, content in precious.items()) and target.exists()


def test_entries_that_were_used_last_stay(cache: DiskCache, tmp_path: Path, key: Path) -> None:
    for number in range(3):
        cache.set(str(number), b"c" * (LIMIT // 4))
        os.utime(tmp_path / "cache" / f"{cache._name(str(number))}.entry", (number, number))
    assert cache.get("0") is not None
    cache.set("3", b"c" * (LIMIT // 4))
    kept = [number for number in range(4) if cache.get(str(number)) is not None]
    assert kept == [0, 3] and sum(path.stat().st_size for path in entries(tmp_path)) <= LIMIT
    # A file of an interrupted process is an own file, too.
    part = tmp_path / "cache" / f"{cache._name('p')}.abc.part"
    part.write_bytes(cache._header(cache._name("p")) + b"p" * LIMIT)
    os.utime(part, (0, 0))
    DiskCache(tmp_path / "cache", LIMIT, key).set("4", b"c")
    assert not part.exists()


def test_few_writes_scan_the_folder(cache: DiskCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[int] = []
    evict = cache._evict
    monkeypatch.setattr(cache, "_evict", lambda size: scans.append(evict(size)) or scans[-1])
    for number in range(600):
        cache.set(str(number), b"c" * (LIMIT // 500))
        assert number % 7 or taken(tmp_path) <= LIMIT
    # The first write, and those that reach the limit: each deletes a quarter of it.
    assert 2 <= len(scans) < 8, len(scans)


def taken(tmp_path: Path) -> int:
    return sum(path.stat().st_size for path in entries(tmp_path))


def test_writers_that_opened_the_folder_early_share_the_limit(tmp_path: Path, key: Path) -> None:
    # A writer that relies on its own last scan alone does not see what the others wrote.
    caches = [DiskCache(tmp_path / "cache", LIMIT, key) for _ in range(8)]
    for number, cache in enumerate(caches):
        cache.set(f"first of {number}", b"c" * 100)
    for number in range(93):
        caches[0].set(f"{number} of 0", b"c" * (LIMIT // 100))
    for number in range(20):
        for writer in range(1, 8):
            caches[writer].set(f"{number} of {writer}", b"c" * (LIMIT // 100))
        assert LIMIT // 2 < taken(tmp_path) <= LIMIT


def fill(folder: Path, key: Path, seed: int) -> int:
    """Writes entries, and returns the most bytes that all entries took."""
    cache = DiskCache(folder, LIMIT, key)
    most = 0
    for number in range(60):
        cache.set(f"{number} of {seed}", b"c" * (LIMIT // 100))
        files = list(folder.glob("*.entry")) + list(folder.glob("*.part"))
        sizes = 0
        for path in files:
            try:
                sizes += path.stat().st_size
            except FileNotFoundError:
                continue
        most = max(most, sizes)
    return most


def test_processes_that_write_concurrently_do_not_exceed_the_limit(tmp_path: Path, key: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        most = pool.starmap(fill, [(tmp_path / "cache", key, seed) for seed in range(8)])
    # Not all of them wait in vain for their turns.
    assert LIMIT // 2 < max(most) <= LIMIT and taken(tmp_path) > LIMIT // 2


def test_a_lock_that_is_not_released_is_a_miss(
    cache: DiskCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "_LOCK_SECONDS", 0.05)
    cache.set("a", b"of a")
    with (tmp_path / "cache" / "used").open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        cache.set("b", b"of b")
        assert cache.get("a") == b"of a" and cache.get("b") is None
    cache.set("b", b"of b")
    assert cache.get("b") == b"of b"


def test_a_file_system_without_locks_has_a_cache(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(disk_cache.fcntl, "flock", fail)
    cache.set("a", b"of a")
    assert cache.get("a") == b"of a"


@pytest.mark.parametrize("count", [b"", b"x", b"\xff" * 8, b"\0" * 8])
def test_a_wrong_count_is_corrected(cache: DiskCache, tmp_path: Path, key: Path, count: bytes) -> None:
    for number in range(90):
        cache.set(str(number), b"c" * (LIMIT // 100))
    (tmp_path / "cache" / "used").write_bytes(count)
    cache = DiskCache(tmp_path / "cache", LIMIT, key)
    for number in range(90, 190):
        cache.set(str(number), b"c" * (LIMIT // 100))
        assert LIMIT // 2 < taken(tmp_path) <= LIMIT


def test_large_results_are_not_stored(cache: DiskCache, tmp_path: Path) -> None:
    cache.set("a", b"x" * LIMIT)
    assert cache.get("a") is None and not entries(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.EAGAIN])
@pytest.mark.parametrize("function", ["open", "mkstemp", "replace", "write", "scandir"])
def test_errors_of_the_disk_are_a_miss(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: Path, number: int, function: str
) -> None:
    cache.set("a", b"of a")
    # Its first write scans the folder.
    cache = DiskCache(tmp_path / "cache", LIMIT, key)

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    class Full(io.BytesIO):
        write = fail  # pyright: ignore

    with monkeypatch.context() as patch:
        if function == "mkstemp":
            patch.setattr(disk_cache.tempfile, "mkstemp", fail)
        elif function == "write":

            def full(descriptor: int, mode: str) -> Full:
                os.close(descriptor)
                return Full()

            patch.setattr(disk_cache.os, "fdopen", full)
        else:
            patch.setattr(disk_cache.os, function, fail)
        cache.set("b", b"of b")
        cache.get("a")
    assert cache.get("a") == b"of a" and not list((tmp_path / "cache").glob("*.part"))


def use(folder: Path, key: Path, seed: int) -> int:
    cache = DiskCache(folder, 40_000, key)
    wrong = 0
    for number in range(300):
        name = str((number * 7 + seed) % 20)
        content = cache.get(name)
        wrong += content not in (None, name.encode() * 1500)
        cache.set(name, name.encode() * 1500)
    return wrong


def test_processes_share_a_folder(tmp_path: Path, key: Path) -> None:
    # They also create the folder and the key concurrently.
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.starmap(use, [(tmp_path / "cache", key, seed) for seed in range(4)]) == [0] * 4
    assert not list((tmp_path / "cache").glob("*.part"))
    assert [path.name for path in key.parent.iterdir()] == ["cache.key"]


# --- File systems without hard links ----------------------------------------------------------------------------------


def refuse_links(number: int) -> Callable[..., None]:
    def link(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return link


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES])
def test_a_key_is_created_without_hard_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: Path, number: int
) -> None:
    monkeypatch.setattr(disk_cache.os, "link", refuse_links(number))
    DiskCache(tmp_path / "cache", LIMIT, key).set("a", b"of a")
    assert key.stat().st_mode & 0o777 == 0o600 and key.stat().st_size == 32
    assert [path.name for path in key.parent.iterdir()] == ["cache.key"]
    assert DiskCache(tmp_path / "cache", LIMIT, key).get("a") == b"of a"


def test_processes_create_one_key_without_hard_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: Path
) -> None:
    write = os.write

    def late(descriptor: int, data: bytes) -> int:
        # The others find the file before the key is in it.
        time.sleep(0.2)
        return write(descriptor, data)

    monkeypatch.setattr(disk_cache.os, "link", refuse_links(errno.EPERM))
    monkeypatch.setattr(disk_cache.os, "write", late)
    folder = tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        caches = list(pool.map(lambda _: DiskCache(folder, LIMIT, key), range(4)))
    assert {cache._key for cache in caches} == {key.read_bytes()}
    assert [path.name for path in key.parent.iterdir()] == ["cache.key"]


def test_an_empty_key_is_an_error_in_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: Path, cache: DiskCache
) -> None:
    monkeypatch.setattr(disk_cache, "_KEY_SECONDS", 0.1)
    key.write_bytes(b"")
    with pytest.raises(Refused, match="bytes instead of 32; remove it"):
        DiskCache(tmp_path / "cache", LIMIT, key)


@pytest.mark.parametrize("kind", ["a symbolic link", "not a file"])
def test_a_key_that_is_not_a_file(kind: str, tmp_path: Path, key: Path) -> None:
    # Permissions are not the cause, although the link and the folder have many.
    key.parent.mkdir(exist_ok=True)
    if kind == "a symbolic link":
        key.symlink_to(tmp_path / "elsewhere")
    else:
        key.mkdir(0o755)
    with pytest.raises(Refused, match=f"cache.key, the key of the cache, is {kind}; remove it"):
        DiskCache(tmp_path / "cache", LIMIT, key)
    key.rename(tmp_path / "away")
    assert DiskCache(tmp_path / "cache", LIMIT, key) is not None


def test_a_key_that_cannot_be_written_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: Path
) -> None:
    monkeypatch.setattr(disk_cache.os, "link", refuse_links(errno.EPERM))
    monkeypatch.setattr(disk_cache.os, "write", lambda descriptor, data: 5)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        DiskCache(tmp_path / "cache", LIMIT, key)
    assert not list(key.parent.iterdir())
