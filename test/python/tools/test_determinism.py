"""The order of remarks is that of the ops, in every run of smalti-opt."""

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
    """Functions on two levels, whose passes can run on several threads."""
    kernels = "gpu.module @m {\n" + "".join(FUNCTION.format(i) for i in range(4)) + "}\n"
    functions = "".join(FUNCTION.format(i) for i in range(4, 12))
    functions = functions.replace("gpu.func", "func.func").replace(" kernel", "").replace("gpu.return", "return")
    source = tmp_path / "order.mlir"
    source.write_text(functions + kernels)
    pipeline = f"builtin.module(func.func({PASS}),gpu.module(gpu.func({PASS})))"
    command = [str(BUILD / "bin" / "smalti-opt"), str(source), f"--pass-pipeline={pipeline}"]
    command += ["--remarks-filter=smalti-pipeline-loops", "-o", "/dev/null"]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(10)]
    assert outputs[0].count("remark:") == 12
    assert set(outputs) == {outputs[0]}
