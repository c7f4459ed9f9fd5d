# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Order of remarks in repeated runs of smalti-opt: the order of the ops."""

import subprocess
from pathlib import Path

from conftest import BUILD

FUNCTION = """  gpu.func @f{0}(%a: memref<64xf32>, %n: index) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {{
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %a[%c0] : memref<64xf32>
    }}
    gpu.return
  }}
"""
PASS = "smalti-pipeline-loops{stages=2 target=sm_90a}"


def test_the_order_of_remarks(tmp_path: Path) -> None:
    """Functions on two levels, whose passes could run on several threads."""
    parts = []
    for part in range(4):
        kernels = "".join(FUNCTION.format(f"{part}_{number}") for number in range(3))
        functions = kernels.replace("gpu.func", "func.func").replace(" kernel", "").replace("gpu.return", "return")
        parts += [functions, f"gpu.module @m{part} {{\n{kernels}}}\n"]
    source = tmp_path / "order.mlir"
    source.write_text("".join(parts))
    pipeline = f"builtin.module(func.func({PASS}),gpu.module(gpu.func({PASS})))"
    command = [str(BUILD / "bin" / "smalti-opt"), str(source), f"--pass-pipeline={pipeline}"]
    command += ["--remarks-filter=smalti-pipeline-loops", "-o", "/dev/null"]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(10)]
    assert outputs[0].count("remark:") == 24
    assert set(outputs) == {outputs[0]}
