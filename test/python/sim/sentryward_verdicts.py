#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the simulator's verdicts with those of SentryWard, which checks PTX without running it.

Thread-level kernels are simulated, and compiled to PTX that SentryWard checks: race-free kernels, and each with one
synchronization mistake. Needs `sentryward` (PyPI) in the path.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import smalti
from iree_nvidia_programs import matmul as iree_matmul
from iree_nvidia_programs import softmax
from smalti import sim, targets
from smalti.compiler import driver
from smalti.sim import mutants

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "test" / "kernels"))

from matmuls import matmul  # noqa: E402

CHIP = "sm_80"


def _program(body: str) -> str:
    return f"""module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @program(%x: memref<64xf32>, %y: memref<64xf32>) kernel
        attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
      %s = memref.get_global @s : memref<64xf32, #gpu.address_space<workgroup>>
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c63 = arith.constant 63 : index
      %v = memref.load %x[%t] : memref<64xf32>
{body}
      gpu.return
    }}
    memref.global "private" @s : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
  }}
}}
"""


_SMEM = "memref<64xf32, #gpu.address_space<workgroup>>"
_REVERSE = f"""
      memref.store %v, %s[%t] : {_SMEM}
      gpu.barrier
      %r = arith.subi %c63, %t : index
      %w = memref.load %s[%r] : {_SMEM}
      memref.store %w, %y[%t] : memref<64xf32>"""
_SAME_VALUE = f"""
      %one = arith.constant 1.0 : f32
      memref.store %one, %s[%c0] : {_SMEM}
      gpu.barrier
      %w = memref.load %s[%c0] : {_SMEM}
      memref.store %w, %y[%t] : memref<64xf32>"""
_DIVERGENT = """
      %some = arith.cmpi ult, %t, %c32 : index
      scf.if %some {
        gpu.barrier
      }
      memref.store %v, %y[%t] : memref<64xf32>"""


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of both on a kernel."""

    program: str
    findings: tuple[str, ...]
    """Kinds of the simulator's findings."""
    sentryward: str

    @property
    def agree(self) -> bool:
        return bool(self.findings) == (self.sentryward != "race_free")

    def __str__(self) -> str:
        ours = ", ".join(sorted(set(self.findings))) or "nothing found"
        return f"{'same' if self.agree else 'DIFFERENT'}: {self.program}: {ours} / {self.sentryward}"


def _lowered(stages: int) -> str:
    module = driver.parse(matmul((64, 64, 64), (64, 64, 32), start="zero"))
    options = {"stop_after": "thread", "stages": stages, "num_warps": 2}
    driver.run_pipeline(module, driver.compile_pipeline(targets.get(CHIP), options))
    return str(module)


def programs() -> Iterator[tuple[str, str]]:
    """Thread-level kernels, with names."""
    for stages in (1, 2, 3):
        yield f"a product in {stages} stages", _lowered(stages)
    yield "a reversed vector", _program(_REVERSE)
    yield "a value that all threads store", _program(_SAME_VALUE)
    yield "a barrier for some threads", _program(_DIVERGENT)
    # A kernel is compiled in a module for a GPU, which is in one for the host.
    of_host = "module attributes {{gpu.container_module}} {{\n{}\n}}".format
    yield "a softmax by shuffles", of_host(softmax(warps=2, columns=128, blocks=1))
    module = driver.parse(of_host(iree_matmul(96)))
    passes = "smalti-multi-buffer{depth=3},smalti-pipeline-loops{stages=3 target=sm_80}"
    smalti.Pipeline(f"builtin.module(gpu.module(gpu.func({passes})))").run(module)
    yield "a product in the style of IREE in 3 stages", str(module)


def find() -> str | None:
    """SentryWard, next to this Python or in the path."""
    return shutil.which("sentryward", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def sentryward(text: str) -> str:
    """SentryWard's verdict on a kernel, compiled to PTX."""
    program = find()
    assert program is not None
    ptx = smalti.compile(text, target=CHIP).asm["ptx"]
    grid, block = (
        [int(n) for n in re.findall(rf"known_{what}_size = array<i32: (\d+), (\d+), (\d+)>", text)[0]]
        for what in ("grid", "block")
    )
    launch = {"grid_dim": grid, "block_dim": block, "cluster_dim": [1, 1, 1], "dynamic_shared_bytes": 49152}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.ptx").write_text(ptx)
        given = {"schema": "spverify.kernel-input/v1", "launch": launch, "arguments": []}
        (Path(folder) / "in.json").write_text(json.dumps(given))
        command = [program, f"{folder}/k.ptx", "--input", f"{folder}/in.json", "--timeout", "120"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["result"]


def _verdicts(name: str, text: str) -> Verdicts:
    kernel = sim.simulate(text, f"sim:{CHIP}")
    found = kernel.find(*kernel.random_arguments())
    return Verdicts(name, tuple(finding.kind for finding in found), sentryward(text))


def compare(chosen: Iterable[tuple[str, str]]) -> Iterator[Verdicts]:
    """The verdicts on programs, and on the mutants of those that both find sound."""
    for name, text in chosen:
        verdicts = _verdicts(name, text)
        yield verdicts
        if not verdicts.findings and verdicts.agree:
            kernel = sim.simulate(text, f"sim:{CHIP}")
            for mutant in mutants.mutants(kernel.module):
                changed = str(mutants.apply(kernel.module, mutant))
                yield _verdicts(f"{name}, {mutant.kind}: {mutant.operation}", changed)


def main() -> int:
    if find() is None:
        print("there is no sentryward: pip install sentryward")
        return 2
    found = list(compare(programs()))
    print("\n".join(map(str, found)))
    print(f"{sum(v.agree for v in found)} of {len(found)} verdicts are the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
