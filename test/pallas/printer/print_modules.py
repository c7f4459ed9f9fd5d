# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Printer of `mosaic_gpu` modules of the Pallas front end of JAX, without a GPU.

    python print_modules.py [--fuel N] OUT_DIR [NAME ...]

For each kernel (all, or those named), NAME.mlir is the module before layout inference, and NAME.inferred.mlir is the
module after the inference of JAX. If JAX reports an error, its message is in NAME.refused.txt instead. The modules in
modules/ are written by hand for features that the front end cannot emit, and are inferred too. A kernel that cannot be
traced is reported, and the exit code is 1. JAX's inference stops after `--fuel` assignments of its search; the default is
that of JAX.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from pathlib import Path
from typing import Any

# Before jax is imported: collective kernels need devices.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.experimental.mosaic.gpu as mgpu
import kernels
import shipped
from jax._src.interpreters import mlir
from jax.experimental.mosaic.gpu import core
from jax.experimental.pallas import mosaic_gpu as plgpu
from jaxlib.mlir import ir


class Printer:
    """Stands in for JAX's layout inference, and writes what goes in and what comes out."""

    def __init__(self, folder: Path, fuel: int | None) -> None:
        self.folder = folder
        self.name, self.arch, self.count = "", (0, 0), 0
        self.infer = mgpu.infer_layout if fuel is None else functools.partial(mgpu.infer_layout, fuel=fuel)
        mgpu.infer_layout = self
        core._infer_arch = lambda: self.arch
        # Kernels that choose no semantics get those of threads otherwise.
        defaults = plgpu.CompilerParams.__init__.__kwdefaults__
        assert "lowering_semantics" in defaults
        defaults["lowering_semantics"] = plgpu.LoweringSemantics.Warpgroup

    def write(self, suffix: str, text: str) -> None:
        number = "" if self.count == 1 else f"_{self.count}"
        (self.folder / f"{self.name}{number}.{suffix}").write_text(text)

    def __call__(self, module: Any, *arguments: Any, **options: Any) -> None:
        self.count += 1
        self.write("mlir", module.operation.get_asm(enable_debug_info=False))
        try:
            self.infer(module, *arguments, **options)
        except Exception as error:
            self.write("refused.txt", f"{type(error).__name__}: {error}\n")
            raise
        self.write("inferred.mlir", module.operation.get_asm(enable_debug_info=False))

    def read(self, path: Path) -> str:
        """The result for a module that is written by hand."""
        self.name, self.count = path.stem, 0
        with mlir.make_ir_context() as context, ir.Location.unknown():
            mgpu.dialect.register_dialect(context)
            module = ir.Module.parse(path.read_text())
            attributes = module.operation.attributes
            self.arch = tuple(attributes[f"mosaic_gpu.arch_{part}"].value for part in ("major", "minor"))
            try:
                self(module, arch=self.arch)
            except (ValueError, NotImplementedError):
                return "JAX refuses to infer layouts"
            return "printed"

    def run(self, name: str, kernel: kernels.Kernel) -> str:
        """The result for a kernel."""
        function, self.arch, arguments = kernel
        self.name, self.count = name, 0
        try:
            jax.jit(function).trace(*arguments).lower(lowering_platforms=("cuda",))
        except Exception as error:
            if (self.folder / f"{name}.refused.txt").exists():
                return "JAX refuses to infer layouts"
            if self.count == 0:
                return f"no module: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        modules = f" ({self.count} modules)" if self.count > 1 else ""
        return f"printed{modules}" if self.count else "no module: nothing was inferred"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fuel", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    shipped.without_a_device()
    known = kernels.KERNELS | shipped.KERNELS
    printer = Printer(arguments.folder, arguments.fuel)
    failed = False
    written = {path.stem: path for path in sorted(Path(__file__).with_name("modules").glob("*.mlir"))}
    for name in arguments.names or (*known, *written):
        result = printer.run(name, known[name]) if name in known else printer.read(written[name])
        failed |= result.startswith("no module")
        print(f"{name}: {result}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
