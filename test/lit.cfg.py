# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of the lit suite: which files are tests, and what their RUN lines may name.

`lit test/...` in the source tree finds this file first; the paths come from the site file of the build folder
(SMALTI_BUILD_DIR, or build/ next to the sources).
"""

import os
import pathlib
import platform
import shutil
import sys

import lit.formats

# lit runs this file with these two in scope.
config = globals()["config"]
lit_config = globals()["lit_config"]


def load_site_file() -> None:
    source_dir = pathlib.Path(__file__).resolve().parent.parent
    build_dir = pathlib.Path(os.environ.get("SMALTI_BUILD_DIR", source_dir / "build"))
    site_file = build_dir / "test" / "lit.site.cfg.py"
    if not site_file.is_file():
        lit_config.fatal(f"no {site_file}: build first (tools/dev build), or name the build folder in SMALTI_BUILD_DIR")
    lit_config.load_config(config, str(site_file))


def find_ptxas() -> str | None:
    """The PyPI package's ptxas, else one on PATH."""
    for site in sys.path:
        for folder in ("cu13", "cu12", "cuda_nvcc"):
            candidate = pathlib.Path(site) / "nvidia" / folder / "bin" / "ptxas"
            if candidate.is_file():
                return str(candidate)
    return shutil.which("ptxas")


def configure() -> None:
    build_dir = pathlib.Path(config.smalti_build_dir)
    tools_dir = pathlib.Path(config.llvm_tools_dir)

    config.name = "smalti"
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = [".mlir", ".test"]
    # The printer's modules are what JAX infers layouts of, and no tests of their own.
    config.excludes = ["Inputs", "printer"]
    config.test_source_root = os.path.join(config.smalti_source_dir, "test")
    config.test_exec_root = str(build_dir / "test")

    # A missing tool is an error here and not a skipped test.
    for tool in ("FileCheck", "not", "mlir-opt", "mlir-runner", "mlir-translate", "llvm-mc", "llvm-readelf", "llc"):
        if not (tools_dir / tool).is_file():
            lit_config.fatal(f"{tool} is missing from {tools_dir}; tools/dev build installs it")
    path = [str(build_dir / "bin"), str(tools_dir), os.path.dirname(sys.executable), os.environ.get("PATH", "")]
    # `tools/dev outputs record` and `tools/dev messages --record` put tools that record before those of the build.
    if recording := os.environ.get("SMALTI_RECORD_OUTPUTS"):
        path.insert(0, os.path.join(recording, "bin"))
        config.environment["SMALTI_RECORD_OUTPUTS"] = recording
    config.environment["PATH"] = os.pathsep.join(path)
    config.environment["PYTHONPATH"] = str(build_dir / "python_packages")
    config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"

    config.substitutions += [
        ("%smalti_plugin", str(build_dir / "lib" / "SmaltiPlugin.so")),
        ("%smalti_src", config.smalti_source_dir),
        ("%mlir_runner_libs", str(tools_dir.parent / "lib" / "libmlir_c_runner_utils.so")),
        ("%python", config.python_executable or sys.executable),
    ]
    config.available_features.add(platform.machine())
    if config.enable_python:
        config.available_features.add("python")
    if ptxas := find_ptxas():
        config.available_features.add("ptxas")
        config.substitutions.append(("%ptxas", ptxas))
    if (tools_dir / "ld.lld").is_file():
        config.available_features.add("lld")


if hasattr(config, "smalti_build_dir"):
    configure()
else:
    load_site_file()
