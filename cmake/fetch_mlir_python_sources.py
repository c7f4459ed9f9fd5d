#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Get the sources of MLIR's Python bindings of exactly one LLVM version.

Debian builds MLIR without its Python bindings, so Smalti compiles upstream's own sources against the installed
libraries. They come from the distribution's source package. apt fetches it through a private configuration that is
derived from the machine's own apt sources. The machine's apt configuration does not change, and root is not needed.

Prints the folder that holds `mlir/python` and `mlir/lib/Bindings/Python` as the last line.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator

# Versions whose source package was checked by hand; for others the hash in the signed package index has to do.
SHA256 = {"22.1.8": "b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe"}

FOLDERS = ("mlir/python/", "mlir/lib/Bindings/Python/")
FILES = ("mlir/LICENSE.TXT",)

# Some mirrors list the file under the older suite and hold it only under a newer one.
NEWER_SUITES = ("trixie-security", "trixie", "sid")


class FetchError(Exception):
    """The sources could not be had; the message says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Archive:
    """One package archive of the machine's apt sources."""

    uri: str
    suite: str
    components: tuple[str, ...]
    options: tuple[tuple[str, str], ...]

    @property
    def is_security(self) -> bool:
        return "security" in self.suite

    def as_source_entry(self, suite: str) -> str:
        lines = ["Types: deb-src", f"URIs: {self.uri}", f"Suites: {suite}"]
        if self.components:
            lines.append(f"Components: {' '.join(self.components)}")
        lines += [f"{key}: {value}" for key, value in self.options]
        return "\n".join(lines) + "\n"


def log(message: str) -> None:
    print(f"[mlir-python] {message}", file=sys.stderr, flush=True)


def parse_deb822(text: str) -> Iterator[Archive]:
    """The archives of a .sources file."""
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        key = ""
        for line in stanza.splitlines():
            if line.startswith("#") or not line.strip():
                continue
            if line[0].isspace() and key:
                fields[key] += "\n" + line
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        options = tuple(
            (name, fields[name.lower()])
            for name in ("Signed-By", "Trusted", "Check-Valid-Until")
            if name.lower() in fields
        )
        components = tuple(fields.get("components", "").split())
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield Archive(uri, suite, components, options)


def parse_one_line(text: str) -> Iterator[Archive]:
    """The archives of a classic .list file."""
    names = {"signed-by": "Signed-By", "trusted": "Trusted", "check-valid-until": "Check-Valid-Until"}
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<rest>[^#]+)", line)
        if not match:
            continue
        rest = match["rest"].split()
        if len(rest) < 2:
            continue
        pairs = (option.partition("=") for option in (match["options"] or "").split())
        options = tuple((names[key.lower()], value) for key, _, value in pairs if key.lower() in names)
        yield Archive(rest[0], rest[1], tuple(rest[2:]), options)


def machine_archives(apt_folder: pathlib.Path = pathlib.Path("/etc/apt")) -> list[Archive]:
    """The package archives this machine installs from."""
    archives: list[Archive] = []
    files = [apt_folder / "sources.list", *sorted((apt_folder / "sources.list.d").glob("*"))]
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(errors="replace")
        if file.suffix == ".sources":
            archives += parse_deb822(text)
        elif file.suffix == ".list":
            archives += parse_one_line(text)
    return archives


def distribution_codename() -> str:
    try:
        text = pathlib.Path("/etc/os-release").read_text()
    except OSError:
        return ""
    match = re.search(r"^VERSION_CODENAME=\"?([\w-]+)", text, re.MULTILINE)
    return match[1] if match else ""


def candidate_entries(archives: list[Archive], codename: str) -> list[tuple[str, str]]:
    """(name, deb-src entry) in the order to try: the machine's own suites, then the newer ones on the same archives."""
    wanted = [f"{codename}-security", codename, *NEWER_SUITES] if codename else list(NEWER_SUITES)
    entries: list[tuple[str, str]] = []
    for suite in wanted:
        # A suite lives in the archive that holds its kind: security suites in the security archive.
        for archive in archives:
            if "main" not in archive.components or archive.is_security != ("security" in suite):
                continue
            if codename and archive.suite.split("-")[0].split("/")[0] != codename:
                continue
            entry = (f"{suite} at {archive.uri}", archive.as_source_entry(suite))
            if entry not in entries:
                entries.append(entry)
    return entries


class Apt:
    """apt with one deb-src entry and its own state folders."""

    def __init__(self, folder: pathlib.Path, entry: str) -> None:
        self.folder = folder
        sources = folder / "sources"
        for sub in (sources, folder / "lists/partial", folder / "cache/archives/partial"):
            sub.mkdir(parents=True, exist_ok=True)
        (sources / "smalti.sources").write_text(entry)
        self.options = [
            "-o", "Dir::Etc::SourceList=/dev/null",
            "-o", f"Dir::Etc::SourceParts={sources}",
            "-o", f"Dir::State::Lists={folder / 'lists'}",
            "-o", f"Dir::Cache={folder / 'cache'}",
            "-o", "APT::Sandbox::User=",
            "-o", "Acquire::Retries=3",
        ]  # fmt: skip

    def run(self, tool: str, *arguments: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run(
            [tool, "-q", *self.options, *arguments],
            cwd=cwd,
            env=environment,
            text=True,
            capture_output=True,
            check=False,
        )


def errors_of(result: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in result.stderr.splitlines() if line.startswith(("E:", "W:"))]
    return "; ".join(lines[:2]) or f"exit code {result.returncode}"


def download(version: str, folder: pathlib.Path, name: str, entry: str) -> pathlib.Path | str:
    """The tarball in `folder`, or why it could not be had from this archive."""
    package = f"llvm-toolchain-{version.split('.')[0]}"
    apt = Apt(pathlib.Path(tempfile.mkdtemp(prefix="apt-", dir=folder)), entry)
    try:
        updated = apt.run("apt-get", "update")
        if updated.returncode != 0:
            return errors_of(updated)
        listing = apt.run("apt-cache", "showsrc", package)
        versions = re.findall(rf"^Version: ((?:\d+:)?{re.escape(version)}-\S+)$", listing.stdout, re.MULTILINE)
        if not versions:
            return f"holds no {package} {version}"
        problem = ""
        for full_version in dict.fromkeys(versions):
            log(f"downloading {package} {full_version} ({name})")
            for attempt in range(3):
                got = apt.run(
                    "apt-get", "source", "--download-only", "--tar-only", f"{package}={full_version}", cwd=apt.folder
                )
                tarballs = list(apt.folder.glob(f"{package}_{version}.orig.tar.*"))
                if got.returncode == 0 and tarballs:
                    return tarballs[0].replace(folder / tarballs[0].name)
                problem = errors_of(got)
                if "404" in got.stderr:
                    break  # The archive does not hold the file; asking again changes nothing.
                time.sleep(2 * (attempt + 1))
        return problem
    finally:
        shutil.rmtree(apt.folder, ignore_errors=True)


def sha256_of(file: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def checked(tarball: pathlib.Path, version: str) -> bool:
    expected = SHA256.get(version)
    return expected is None or sha256_of(tarball) == expected


def fetch_tarball(version: str, cache: pathlib.Path) -> pathlib.Path:
    """The source package's tarball, from the cache or from a package archive."""
    for cached in cache.glob(f"llvm-toolchain-*_{version}.orig.tar.*"):
        if checked(cached, version):
            return cached
        log(f"{cached} is damaged; fetching it again")
        cached.unlink()

    if not shutil.which("apt-get"):
        raise FetchError("this machine does not have apt-get, which fetches the source package")
    tried: list[str] = []
    for name, entry in candidate_entries(machine_archives(), distribution_codename()):
        result = download(version, cache, name, entry)
        if isinstance(result, str):
            tried.append(f"  {name}: {result}")
            continue
        if checked(result, version):
            return result
        result.unlink()
        tried.append(f"  {name}: the file's SHA-256 is not {SHA256[version]}")
    raise FetchError(
        "no package archive gave the source package:\n" + ("\n".join(tried) or "  (no Debian archive in /etc/apt)")
    )


def unpack(tarball: pathlib.Path, destination: pathlib.Path) -> None:
    """Unpack the two folders of the bindings; the rest of the 2 GB is skipped."""
    partial = destination.with_name(destination.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    seen: set[str] = set()
    with tarfile.open(tarball, "r|*") as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            folder = next((f for f in FOLDERS if path.startswith(f)), None)
            if folder or path in FILES:
                seen.add(folder or path)
                if member.isfile():
                    target = partial / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    stream = archive.extractfile(member)
                    assert stream is not None
                    target.write_bytes(stream.read())
            elif len(seen) == len(FOLDERS) + len(FILES):
                break  # Archives hold a folder's files one after the other: both are complete.
    missing = {*FOLDERS, *FILES} - seen
    if missing:
        raise FetchError(f"{tarball} has no {', '.join(sorted(missing))}")
    partial.replace(destination)


def fetch(version: str, cache: pathlib.Path) -> pathlib.Path:
    """The folder with the sources, downloaded and unpacked where that was not done before."""
    destination = cache / f"mlir-python-{version}"
    if destination.is_dir():
        return destination
    cache.mkdir(parents=True, exist_ok=True)
    log(f"getting the sources of MLIR {version}'s Python bindings (197 MB, once) into {cache}")
    tarball = fetch_tarball(version, cache)
    log(f"unpacking {', '.join(folder.rstrip('/') for folder in FOLDERS)}")
    unpack(tarball, destination)
    return destination


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True, help="the LLVM version, for example 22.1.8")
    parser.add_argument("--cache", required=True, type=pathlib.Path, help="the folder to keep the sources in")
    arguments = parser.parse_args()
    try:
        print(fetch(arguments.version, arguments.cache.resolve()))
    except FetchError as error:
        print(
            f"error: cannot get the sources of MLIR {arguments.version}'s Python bindings: {error}\n"
            f"Unpack mlir/python and mlir/lib/Bindings/Python of LLVM {arguments.version} somewhere and name that folder in "
            "SMALTI_MLIR_SOURCES.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
