# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX's side of layout_inference.py: run with a Python that has JAX, it infers the layouts of modules on request.

A request is a line of standard input, the path of a module. The answer is a line of JSON with the seconds that
`infer_layout` took (process time and wall time) and the error, if there was one. The module is parsed before the clocks
start. The first answer is the version of JAX.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.experimental.mosaic.gpu as mgpu
from jax._src.interpreters import mlir
from jaxlib.mlir import ir


def infer(text: str) -> dict[str, object]:
    with mlir.make_ir_context() as context, ir.Location.unknown():
        mgpu.dialect.register_dialect(context)
        module = ir.Module.parse(text)
        attributes = module.operation.attributes
        arch = tuple(ir.IntegerAttr(attributes[f"mosaic_gpu.arch_{part}"]).value for part in ("major", "minor"))
        wall, process = time.perf_counter(), time.process_time()
        error = None
        try:
            mgpu.infer_layout(module, arch=arch)
        except (ValueError, NotImplementedError) as failure:
            error = str(failure)
        return {
            "process": time.process_time() - process,
            "wall": time.perf_counter() - wall,
            "error": error,
        }


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # Output of JAX is not an answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    print(json.dumps({"jax": jax.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(infer(Path(line.strip()).read_text())), file=answers, flush=True)


if __name__ == "__main__":
    main()
