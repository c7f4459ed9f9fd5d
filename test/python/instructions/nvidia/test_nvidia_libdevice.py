# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation and results of libdevice functions."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import nvidia
import pytest
import smalti
from nvidia import Array
from smalti import toolchain

pytestmark = pytest.mark.skipif(
    not toolchain.device_libraries("nvidia", 32), reason="no libdevice was found (pip install nvidia-nvvm)"
)


def _signatures() -> dict[str, tuple[str, list[str]]]:
    disassembler = toolchain.find_llvm_tool("llvm-dis")
    assert disassembler is not None, "LLVM's tools are needed to read libdevice"
    (library,) = toolchain.device_libraries("nvidia", 32)
    text = subprocess.run([disassembler.path, library, "-o", "-"], capture_output=True, text=True, check=True).stdout
    found = {}
    for result, name, parameters in re.findall(r"^define ([^@\n]*)@(__nv_\w+)\(([^)]*)\)", text, re.MULTILINE):
        types = [re.split(r"\s", part.strip())[0] for part in parameters.split(",") if part.strip()]
        found[name] = (result.split()[-1], types)
    return found


def test_every_function_has_its_instructions() -> None:
    signatures = _signatures()
    assert len(signatures) > 300
    text = nvidia.HEADER
    body = ""
    for i, (name, (result, types)) in enumerate(signatures.items()):
        text += f"declare {result} @{name}({', '.join(types)})\n"
        operands = []
        for j, ty in enumerate(types):
            if ty == "ptr":
                operands.append("ptr %out")
                continue
            body += f"  %v{i}_{j} = load volatile {ty}, ptr %out\n"
            operands.append(f"{ty} %v{i}_{j}")
        body += f"  {'' if result == 'void' else f'%r{i} = '}call {result} @{name}({', '.join(operands)})\n"
        if result != "void":
            body += f"  store volatile {result} %r{i}, ptr %out\n"
    text += f"define ptx_kernel void @k(ptr %out) {{\n{body}  ret void\n}}\n"
    # Loading fails if the code has an instruction that the table does not have.
    assert "k" in smalti.emulator.load(text, nvidia.TARGET).kernels


FUNCTIONS: dict[str, tuple[Callable[..., Any], int, tuple[float, float]]] = {
    "sin": (math.sin, 1, (-50, 50)),
    "cos": (math.cos, 1, (-50, 50)),
    "tan": (math.tan, 1, (-1.5, 1.5)),
    "asin": (math.asin, 1, (-1, 1)),
    "acos": (math.acos, 1, (-1, 1)),
    "atan": (math.atan, 1, (-50, 50)),
    "atan2": (math.atan2, 2, (-5, 5)),
    "sinh": (math.sinh, 1, (-5, 5)),
    "cosh": (math.cosh, 1, (-5, 5)),
    "tanh": (math.tanh, 1, (-5, 5)),
    "exp": (math.exp, 1, (-20, 20)),
    "exp2": (lambda x: 2.0**x, 1, (-20, 20)),
    "expm1": (math.expm1, 1, (-2, 2)),
    "log": (math.log, 1, (0.01, 50)),
    "log2": (math.log2, 1, (0.01, 50)),
    "log10": (math.log10, 1, (0.01, 50)),
    "log1p": (math.log1p, 1, (-0.9, 50)),
    "pow": (math.pow, 2, (0.1, 5)),
    "sqrt": (math.sqrt, 1, (0, 50)),
    "rsqrt": (lambda x: 1 / math.sqrt(x), 1, (0.01, 50)),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), 1, (-50, 50)),
    "erf": (math.erf, 1, (-3, 3)),
    "erfc": (math.erfc, 1, (-2, 2)),
    "tgamma": (math.gamma, 1, (0.1, 8)),
    "lgamma": (math.lgamma, 1, (0.1, 8)),
    "floor": (math.floor, 1, (-9, 9)),
    "ceil": (math.ceil, 1, (-9, 9)),
    "fmod": (math.fmod, 2, (-9, 9)),
    "hypot": (math.hypot, 2, (-9, 9)),
    "fma": (lambda x, y, z: x * y + z, 3, (-9, 9)),
}


@pytest.mark.parametrize("ty", ["float", "double"])
def test_functions(ty: str) -> None:
    calls: dict[str, nvidia.Call] = {}
    inputs: dict[str, list[Array]] = {}
    for name, (_, arity, (low, high)) in FUNCTIONS.items():
        random = nvidia.seeded(name)
        symbol = f"__nv_{name}{'f' if ty == 'float' else ''}"
        inputs[name] = [random.uniform(low, high, 128).astype(nvidia.numpy_type(ty)) for _ in range(arity)]
        calls[symbol] = nvidia.call(ty, *((ty, v) for v in inputs[name]))
    found = nvidia.run(calls)
    for (name, (function, _, _)), (fields,) in zip(FUNCTIONS.items(), found.values(), strict=True):
        expected = np.array([function(*map(float, row)) for row in zip(*inputs[name], strict=True)])
        # The CUDA guide states up to 10 ulp, and an absolute error near the zeros of lgamma and of sums.
        ulp = float(np.finfo(nvidia.numpy_type(ty)).eps)
        np.testing.assert_allclose(fields, expected, 10 * ulp, 20 * ulp, err_msg=f"{name} of {ty}")
