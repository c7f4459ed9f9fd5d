# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The matmuls of benchmarks/isa.py in IREE, and their compilation without a GPU.

The Python that has IREE executes this file. It reads jobs from standard input. For each it writes a line of JSON: the
PTX or AMD assembly, the number of threads, the bytes of shared memory and the seconds; or the error. IREE chooses tiles
and threads.
"""

# Only the Python of the peers has IREE.
# pyright: reportMissingImports=false

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import iree.compiler.version
from iree.compiler.api import Session, Source


def program(job: dict[str, Any]) -> str:
    """C = A * B of whole matrices."""
    sizes = job["constants"]
    m, n, k = (sizes[name] for name in "MNK")
    operand, result = job["types"][0], job["types"][2]
    total = "i32" if operand == "i8" else "f32"
    a_shape, a_map = (f"{k}x{m}", "k, m") if sizes["A_COLUMNS"] else (f"{m}x{k}", "m, k")
    b_shape, b_map = (f"{n}x{k}", "n, k") if sizes["B_COLUMNS"] else (f"{k}x{n}", "k, n")
    if operand == "i8":
        multiply = """%x = arith.extsi %l : i8 to i32
    %y = arith.extsi %r : i8 to i32
    %p = arith.muli %x, %y : i32
    %s = arith.addi %t, %p : i32"""
    else:
        extend = ["%x = arith.extf %l", "%y = arith.extf %r"]
        x, y = ("%l", "%r") if operand == "f32" else ("%x", "%y")
        multiply = "\n".join(f"{e} : {operand} to f32" for e in extend if operand != "f32")
        multiply += f"\n    %p = arith.mulf {x}, {y} : f32\n    %s = arith.addf %t, %p : f32"
    zero = "0" if operand == "i8" else "0.0"
    text = f"""func.func @matmul(%a: tensor<{a_shape}x{operand}>, %b: tensor<{b_shape}x{operand}>) -> tensor<{m}x{n}x{result}> {{
  %zero = arith.constant {zero} : {total}
  %empty = tensor.empty() : tensor<{m}x{n}x{total}>
  %zeros = linalg.fill ins(%zero : {total}) outs(%empty : tensor<{m}x{n}x{total}>) -> tensor<{m}x{n}x{total}>
  %c = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> ({a_map})>, affine_map<(m, n, k) -> ({b_map})>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<{a_shape}x{operand}>, tensor<{b_shape}x{operand}>) outs(%zeros : tensor<{m}x{n}x{total}>) {{
  ^bb0(%l: {operand}, %r: {operand}, %t: {total}):
    {multiply}
    linalg.yield %s : {total}
  }} -> tensor<{m}x{n}x{total}>
"""
    if result == total:
        return text + f"  return %c : tensor<{m}x{n}x{result}>\n}}\n"
    return f"""{text}  %out = tensor.empty() : tensor<{m}x{n}x{result}>
  %rounded = linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
      ins(%c : tensor<{m}x{n}x{total}>) outs(%out : tensor<{m}x{n}x{result}>) {{
  ^bb0(%l: {total}, %o: {result}):
    %s = arith.truncf %l : {total} to {result}
    linalg.yield %s : {result}
  }} -> tensor<{m}x{n}x{result}>
  return %rounded : tensor<{m}x{n}x{result}>
}}
"""


def compile_job(job: dict[str, Any], log: Path) -> dict[str, Any]:
    chip = job["chip"]
    is_nvidia = chip.startswith("sm_")
    backend = "cuda" if is_nvidia else "rocm"
    started = log.stat().st_size
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        session = Session()
        session.set_flags(
            f"--iree-hal-target-backends={backend}",
            f"--iree-{backend}-target={chip.rstrip('a') if is_nvidia else chip}",
            f"--iree-hal-dump-executable-binaries-to={folder}",
            f"--iree-hal-dump-executable-intermediates-to={folder}",
        )
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        source = Source.wrap_buffer(session, program(job).encode() + b"\0")
        done = invocation.parse_source(source) and invocation.execute()
        seconds = time.perf_counter() - start
        if not done:
            errors = re.findall(r"error: (.*)", log.read_bytes()[started:].decode(errors="replace"))
            return {"error": errors[0] if errors else "the compilation failed"}
        texts = [path.read_text() for path in Path(folder).iterdir() if path.suffix in (".ptx", ".rocmasm")]
    if len(texts) != 1:
        return {"error": f"{len(texts)} kernels instead of one"}
    (text,) = texts
    threads = re.search(r"\.maxntid (\d+)" if is_nvidia else r"\.max_flat_workgroup_size:\s+(\d+)", text)
    shared = re.search(r"\.group_segment_fixed_size:\s+(\d+)", text)
    return {
        "assembly": text,
        "threads": int(threads[1]) if threads else None,
        # The size of shared memory is not in PTX.
        "shared": int(shared[1]) if shared else None,
        "seconds": seconds,
    }


def main() -> None:
    with tempfile.NamedTemporaryFile() as log:
        # IREE writes diagnostics to the standard error.
        os.dup2(log.fileno(), 2)
        for line in sys.stdin:
            try:
                result = compile_job(json.loads(line), Path(log.name))
            except Exception as error:
                result = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    print(json.dumps({"version": iree.compiler.version.VERSION}), flush=True)
    main()
