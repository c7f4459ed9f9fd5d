# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in files: the code and the data that a launch needs. Loading a kernel does not import MLIR.

smalti.compile("matmul.mlir", target="sm_90a").save("matmul.smalti")
smalti.aot.load("matmul.smalti")(a, b, c)
"""

from __future__ import annotations

import os
from pathlib import Path

from . import files
from .errors import KernelFileError
from .launch import archive
from .launch.kernels import Kernel


def save(kernel: Kernel, path: str | os.PathLike[str]) -> Path:
    """Writes a kernel for a GPU or an emulated GPU, and returns the path. Equal kernels give equal bytes.

    Raises ToolMissing if the kernel does not have a binary, such as a kernel for the CPU.
    """
    path = Path(path)
    files.write(path, archive.dumps(kernel, f"write {path}"))
    return path


def load(path: str | os.PathLike[str]) -> Kernel:
    """The kernel in a file that `save` wrote. Raises KernelFileError if the file cannot be read or is damaged."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KernelFileError(f"{path}: {error.strerror}") from None
    return archive.loads(data, Kernel, str(path))
