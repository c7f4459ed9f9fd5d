# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reproducers: files with the module before the failing pipeline, the pipeline, and the versions."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from .. import files, toolchain
from ..errors import SmaltiError

_NAME = re.compile(r"smalti-reproducer-[0-9a-f]{12}\.mlir")
_KEPT = 50
"""Number of reproducers that the cache keeps."""


def write(module_text: str, pipeline: str) -> tuple[Path, str] | None:
    """Writes a reproducer for `smalti-opt --run-reproducer`. Returns its path and the command, or None if neither folder
    can be written."""
    head = "".join(f"// {name} {version}\n" for name, version in toolchain.versions().items())
    body = (
        f"{head}{module_text.rstrip()}\n\n"
        "{-#\n  external_resources: {\n    mlir_reproducer: {\n"
        f"      pipeline: {json.dumps(pipeline)},\n"
        "      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n"
    )
    if (path := _store(body)) is None:
        return None
    tool = toolchain.find_smalti_opt()
    command = [str(tool.path) if tool else "smalti-opt", "--run-reproducer", str(path)]
    return path, shlex.join(command)


def _store(body: str) -> Path | None:
    name = f"smalti-reproducer-{hashlib.sha256(body.encode()).hexdigest()[:12]}.mlir"
    given = os.environ.get("SMALTI_REPRODUCER_DIR")
    cache = files.cache_folder("reproducers")
    for folder in (Path(given) if given else cache, Path(tempfile.gettempdir())):
        path = (folder / name).absolute()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write(path, body)
        except (OSError, SmaltiError):
            continue
        if not given and folder == cache:
            with suppress(OSError):
                _delete_oldest(cache, name)
        return path
    return None


def _delete_oldest(folder: Path, written: str) -> None:
    """Keeps `written` and the newest other reproducers. Files with other names are not touched."""
    found: list[tuple[int, str]] = []
    for item in os.scandir(folder):
        if item.name != written and _NAME.fullmatch(item.name):
            with suppress(OSError):
                facts = item.stat(follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode):
                    found.append((facts.st_mtime_ns, item.name))
    for _, name in sorted(found, reverse=True)[_KEPT - 1 :]:
        with suppress(OSError):
            (folder / name).unlink()
