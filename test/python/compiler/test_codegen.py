# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code generation in the child process, assemblers, and missing tools.

The programs here have an already lowered GPU module, and the pipeline has no passes: the tests cover all steps after
the pipeline.
"""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import smalti
from conftest import GPU_MODULE, GPU_MODULE_THAT_CANNOT_BE_SELECTED, SCALE
from smalti import toolchain
from smalti.codegen import assemble, codegen_worker
from smalti.compiler import driver
from smalti.diagnostics import without_warnings

TO_ISA = "builtin.module(gpu-module-to-binary{format=isa})"

# LLVM warns that the stack frame exceeds the limit.
LARGE_FRAME = """\
module attributes {gpu.container_module} {
  gpu.module @frames [#rocdl.target<chip = "gfx942">] {
    llvm.func @frame(%i: i64) attributes {gpu.kernel, passthrough = [["warn-stack-size", "16"]], rocdl.kernel} {
      %count = llvm.mlir.constant(100 : i32) : i32
      %x = llvm.mlir.constant(1.0 : f32) : f32
      %buffer = llvm.alloca %count x f32 : (i32) -> !llvm.ptr<5>
      %at = llvm.getelementptr %buffer[%i] : (!llvm.ptr<5>, i64) -> !llvm.ptr<5>, f32
      llvm.store volatile %x, %at : f32, !llvm.ptr<5>
      llvm.return
    }
  }
}
"""

NVIDIA = """\
gpu.module @scale_module [#nvvm.target<chip = "sm_90", features = "+ptx80">] {
  llvm.func @scale(%src: !llvm.ptr<1>, %dst: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel,
      gpu.known_block_size = array<i32: 128, 1, 1>, gpu.known_grid_size = array<i32: 4, 1, 1>,
      smalti.shared_memory_bytes = 49152 : i64} {
    %x = llvm.load %src : !llvm.ptr<1> -> f32
    %y = llvm.fadd %x, %x : f32
    llvm.store %y, %dst : f32, !llvm.ptr<1>
    llvm.return
  }
}
"""

AMD = NVIDIA.replace('#nvvm.target<chip = "sm_90", features = "+ptx80">', '#rocdl.target<chip = "gfx942">').replace(
    "nvvm.kernel", "rocdl.kernel"
)


def program(gpu_module: str) -> str:
    return f"module attributes {{gpu.container_module}} {{\n{SCALE}{gpu_module}}}\n"


@pytest.fixture
def lowered_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "compile_pipeline", lambda target, options: "builtin.module()")


@pytest.fixture
def worker() -> Iterator[codegen_worker.Worker]:
    own = codegen_worker.Worker()
    yield own
    own.close()


def bytecode(text: str) -> bytes:
    module = smalti.parse(text)
    data = io.BytesIO()
    module.operation.write_bytecode(data)
    return data.getvalue()


def test_worker_is_kept(worker: codegen_worker.Worker) -> None:
    (code,) = worker.generate(bytecode(GPU_MODULE), TO_ISA)
    assert code.module == "k_module" and b".visible .entry k(" in code.data
    first = worker.pid
    worker.generate(bytecode(GPU_MODULE), TO_ISA)
    assert worker.pid == first is not None


def test_an_abort_in_llvm_is_contained(worker: codegen_worker.Worker) -> None:
    with pytest.raises(codegen_worker.WorkerDied, match="Cannot select"):
        worker.generate(bytecode(GPU_MODULE_THAT_CANNOT_BE_SELECTED), TO_ISA)
    assert worker.pid is None
    assert worker.generate(bytecode(GPU_MODULE), TO_ISA)


def test_a_failing_pass_leaves_the_worker_alive(worker: codegen_worker.Worker) -> None:
    worker.generate(bytecode(GPU_MODULE), TO_ISA)
    first = worker.pid
    with pytest.raises(codegen_worker.WorkerRefused, match="Failure while executing pass pipeline") as caught:
        worker.generate(bytecode(GPU_MODULE), "builtin.module(transform-interpreter{entry-point=nowhere})")
    assert any("nowhere" in item["message"] for item in caught.value.diagnostics)
    with pytest.raises(codegen_worker.WorkerRefused, match="ValueError"):
        worker.generate(bytecode(GPU_MODULE), "builtin.module(nonsense)")
    assert worker.pid == first


def test_a_killed_worker_is_replaced(worker: codegen_worker.Worker) -> None:
    worker.generate(bytecode(GPU_MODULE), TO_ISA)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while worker.pid is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert worker.generate(bytecode(GPU_MODULE), TO_ISA)


def test_a_worker_that_takes_too_long_is_ended(worker: codegen_worker.Worker) -> None:
    worker.generate(bytecode(GPU_MODULE), TO_ISA)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(codegen_worker.WorkerTimeout):
        worker.generate(bytecode(GPU_MODULE), TO_ISA, time_limit=0.2)
    assert worker.generate(bytecode(GPU_MODULE), TO_ISA)


ORPHAN = """
from smalti.codegen import codegen_worker

worker = codegen_worker.Worker()
worker.start()
print(worker.pid, flush=True)
text = "".join(f"llvm.func @f{i}(%a: i32) -> i32 {{ llvm.return %a : i32 }}\\n" for i in range(1000))
worker.generate(text.encode(), f"builtin.module({','.join(['cse'] * 100000)})")
"""


def processor_time(process: int) -> int:
    """In hundredths of a second; -1 if the process has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().split()
    except OSError:
        return -1
    return -1 if fields[2] == "Z" else int(fields[13]) + int(fields[14])


def test_a_worker_ends_with_its_parent() -> None:
    """Also during a request."""
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        # The child starts in less time, and the request takes longer.
        deadline = time.monotonic() + 60
        while 0 <= processor_time(child) < 100 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert processor_time(child) >= 100
        parent.kill()
    deadline = time.monotonic() + 5
    while processor_time(child) >= 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processor_time(child) < 0


def test_fatal_message_leaves_the_stack_out() -> None:
    log = "warning: x\nLLVM ERROR: Cannot select: 0x1\nIn function: k\nPLEASE submit a bug report\nStack dump:\n0. f\n"
    assert codegen_worker.WorkerDied(log).reason == "LLVM ERROR: Cannot select: 0x1\nIn function: k"
    assert (
        codegen_worker.WorkerDied("the process ended with exit code -9").reason == "the process ended with exit code -9"
    )


WARNINGS = {
    "code generator": (
        "warning: <unknown>:0:0: stack frame size (70000) exceeds limit (65535) in function 'k'\n"
        "error: <unknown>:0:0: in function k void (ptr): illegal VGPR to SGPR copy\n",
        "error: <unknown>:0:0: in function k void (ptr): illegal VGPR to SGPR copy",
    ),
    "assembler": (
        "k.s:1:1: warning: deprecated\n  s_nop 0\n  ^\nk.s:1:1: note: use s_wait\nk.s:2:1: error: unknown\n  s_x\n  ^\n",
        "k.s:2:1: error: unknown\n  s_x\n  ^",
    ),
    "linker": (
        "ld.lld: warning: cannot find entry symbol\nld.lld: error: undefined symbol: f\n>>> referenced by k.o\n",
        "ld.lld: error: undefined symbol: f\n>>> referenced by k.o",
    ),
    "ptxas": (
        "ptxas info    : 0 bytes gmem\nptxas warning : Unresolved extern\nptxas fatal   : Unresolved extern function 'f'\n",
        "ptxas fatal   : Unresolved extern function 'f'",
    ),
    "crash": ("remark: x\nk.cpp:3: int f(): Assertion `x' failed.\n", "k.cpp:3: int f(): Assertion `x' failed."),
    "note of an error": ("error: a\nnote: b\n", "error: a\nnote: b"),
    "no errors": ("ld: warning: x\n", "ld: warning: x"),
    "no severity": ("cannot open file\n", "cannot open file"),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_are_not_part_of_errors(name: str) -> None:
    log, expected = WARNINGS[name]
    assert without_warnings(log) == expected


def test_errors_do_not_have_the_output_of_earlier_requests(worker: codegen_worker.Worker) -> None:
    """LLVM warns of the first module, and aborts on the second."""
    worker.generate(bytecode(LARGE_FRAME), TO_ISA)
    with pytest.raises(codegen_worker.WorkerDied) as died:
        worker.generate(bytecode(GPU_MODULE_THAT_CANNOT_BE_SELECTED), TO_ISA)
    assert "Cannot select" in str(died.value) and "stack frame size" not in str(died.value)


def test_a_warning_of_ptxas_is_not_the_error(tmp_path: Path) -> None:
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'ptxas warning : odd' >&2\necho 'ptxas fatal   : bad' >&2\nexit 255\n")
    ptxas.chmod(0o755)
    with pytest.raises(smalti.CompileError, match=r"^ptxas failed: ptxas fatal   : bad\n"):
        assemble.assemble_ptx(".version 9.0\n.target sm_90\n", ptxas)


def test_compile_survives_an_abort_and_says_how_to_replay_it(lowered_already: None) -> None:
    bad = GPU_MODULE_THAT_CANNOT_BE_SELECTED.partition("{\n")[2].rpartition("}")[0]
    bad = (
        bad.replace("@k_module", "@scale_module")
        .replace("@k(", "@scale(")
        .replace(
            "nvvm.kernel}",
            "nvvm.kernel, gpu.known_block_size = array<i32: 1, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>}",
        )
    )
    with pytest.raises(smalti.CompileError) as caught:
        smalti.compile(program(bad), "sm_90a")
    error = caught.value
    assert "code generation of @scale for sm_90a failed: LLVM ERROR: Cannot select" in str(error)
    assert error.location == smalti.SourceLocation("<text>", 2, 1)
    assert error.command is not None
    replay = subprocess.run(shlex.split(error.command), capture_output=True, text=True, timeout=120, check=False)
    assert replay.returncode != 0 and "Cannot select" in replay.stderr
    # The next compilation works as before.
    assert smalti.compile(program(NVIDIA), "sm_90").binary


def test_nvidia_kernel(lowered_already: None, tmp_path: Path) -> None:
    kernel = smalti.compile(program(NVIDIA), "sm_90")
    assert ".entry scale(" in kernel.asm["ptx"] and ".target sm_90" in kernel.asm["ptx"]
    assert kernel.binary_format == "cubin" and kernel.binary is not None and kernel.binary[:4] == b"\x7fELF"
    resources = kernel.resources
    assert resources.block == (128, 1, 1) and resources.grid == (4, 1, 1) and resources.warps == 4
    assert resources.stages == 1 and resources.shared_bytes == 49152
    assert resources.registers and resources.spills == 0 and resources.stack_bytes == 0
    assert "define" in kernel.asm["llvm"] and "triton_xla.entry_func" in kernel.asm["source"]
    assert set(kernel.asm) == {
        "source",
        "tile",
        "mosaic",
        "pipelined",
        "thread",
        "mlir",
        "llvm",
        "ptx",
        "ptxas",
        "sass",
    }
    with pytest.raises(KeyError, match="does not have code in the form 'gcn'; available forms: source, mlir"):
        kernel.asm["gcn"]
    for suffix, start in {
        ".cubin": b"\x7fELF",
        ".ptx": b"//",
        ".s": b"//",
        ".ll": b"; Module",
        ".mlir": b"module",
    }.items():
        assert kernel.save(tmp_path / f"k{suffix}").read_bytes().startswith(start)
    with pytest.raises(
        smalti.SmaltiError, match=r"suffix '\.hsaco' is not supported; suffixes for sm_90: \.cubin \.ptx"
    ):
        kernel.save(tmp_path / "k.hsaco")
    with pytest.raises(smalti.SmaltiError, match="the name does not have a suffix"):
        kernel.save(tmp_path / "k")
    with pytest.raises(smalti.SmaltiError, match="cannot write"):
        kernel.save(tmp_path / "nowhere" / "k.ptx")
    assert repr(kernel) == "<smalti.Kernel @scale(memref<100x60xf32>, memref<100x60xf32>) for sm_90>"


def test_amd_kernel(lowered_already: None, tmp_path: Path) -> None:
    kernel = smalti.compile(program(AMD), "gfx942")
    assert "s_endpgm" in kernel.asm["gcn"]
    assert kernel.binary_format == "hsaco" and kernel.binary is not None and kernel.binary[:4] == b"\x7fELF"
    resources = kernel.resources
    assert resources.warps == 2 and resources.registers and resources.scalar_registers
    assert resources.spills == 0 and resources.accumulator_registers == 0
    assert kernel.save(tmp_path / "k.s").read_text() == kernel.asm["gcn"]
    assert kernel.save(tmp_path / "k.hsaco").read_bytes() == kernel.binary
    with pytest.raises(smalti.SmaltiError, match=r"suffixes for gfx942: \.hsaco \.s \.ll \.mlir"):
        kernel.save(tmp_path / "k.cubin")


def test_assembly_of_amd_is_that_of_llvm_mc(
    lowered_already: None, worker: codegen_worker.Worker, tmp_path: Path
) -> None:
    assembly = smalti.compile(program(AMD), "gfx942", line_info=True).asm["gcn"]
    source, linkable = tmp_path / "kernel.s", tmp_path / "kernel.o"
    source.write_text(assembly)
    tool = toolchain.find_llvm_tool("llvm-mc")
    assert tool is not None
    flags = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj"]
    subprocess.run([tool.path, *flags, source, "-o", linkable], check=True)
    assert worker.assemble(assembly, "amdgcn-amd-amdhsa", "gfx942", "") == linkable.read_bytes()
    with pytest.raises(codegen_worker.WorkerRefused, match=r"kernel\.s:1:1: error: invalid instruction"):
        worker.assemble("no_such_instruction\n", "amdgcn-amd-amdhsa", "gfx942", "")


def test_without_ptxas_there_is_ptx(lowered_already: None, no_tools: None, tmp_path: Path) -> None:
    kernel = smalti.compile(program(NVIDIA), "sm_90")
    assert kernel.binary_format == "ptx" and kernel.resources.registers is None
    assert "pip install nvidia-cuda-nvcc" in kernel.notes[0]
    kernel.save(tmp_path / "k.ptx")
    with pytest.raises(smalti.ToolMissing, match="ptxas was not found"):
        kernel.save(tmp_path / "k.cubin")


def test_without_lld_there_is_assembly(lowered_already: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    original = toolchain.find_llvm_tool
    monkeypatch.setattr(toolchain, "find_llvm_tool", lambda name: None if name == "ld.lld" else original(name))
    kernel = smalti.compile(program(AMD), "gfx942")
    assert kernel.binary is None and kernel.resources.registers
    kernel.save(tmp_path / "k.s")
    with pytest.raises(smalti.ToolMissing, match=r"ld\.lld was not found.*apt install lld"):
        kernel.save(tmp_path / "k.hsaco")


def test_module_target_attribute_and_argument(lowered_already: None) -> None:
    text = program(NVIDIA).replace("{gpu.container_module}", '{gpu.container_module, smalti.target = "sm_90"}', 1)
    assert smalti.compile(text).target.name == "sm_90"


def test_the_module_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "compile_pipeline", lambda target, options: "builtin.module(canonicalize)")
    module = smalti.parse(
        program(
            NVIDIA.replace("%y = llvm.fadd", "%z = llvm.mul %i, %i : i32\n %y = llvm.fadd").replace(
                "%x = llvm.load", "%i = llvm.mlir.constant(3 : i32) : i32\n %x = llvm.load"
            )
        )
    )
    before = str(module)
    kernel = smalti.compile(module, "sm_90")
    assert str(module) == before and kernel.asm["mlir"] != before


def test_older_ptxas_error_is_one_message(tmp_path: Path) -> None:
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'ptxas fatal: Unsupported .version 9.0' >&2\nexit 255\n")
    ptxas.chmod(0o755)
    with pytest.raises(smalti.CompileError, match=r"ptxas failed: ptxas fatal: Unsupported \.version 9\.0"):
        assemble.assemble_ptx(".version 9.0\n.target sm_90\n", ptxas)


def fake_ptxas(folder: Path, with_directive: int, without: int) -> Path:
    """A ptxas whose kernel spills the given numbers of bytes, with `.minnctapersm` and without."""
    ptxas = folder / "ptxas"
    ptxas.write_text(f"""\
#!/bin/sh
grep -q minnctapersm $4 && spills={with_directive} || spills={without}
echo "ptxas info    : Compiling entry function 'k' for 'sm_80'"
echo "    0 bytes stack frame, $spills bytes spill stores, $spills bytes spill loads"
cp $4 $6
""")
    ptxas.chmod(0o755)
    return ptxas


@pytest.mark.parametrize(
    ("with_directive", "without", "body", "keeps"),
    [
        (0, 0, "", True),
        (64, 0, "", False),
        (64, 32, "", False),
        (64, 64, "", True),
        (64, 128, "", True),
        (64, 0, "setmaxnreg.dec.sync.aligned.u32 40;\n", True),
    ],
)
def test_a_module_that_spills_is_assembled_with_and_without_all_registers(
    tmp_path: Path, with_directive: int, without: int, body: str, keeps: bool
) -> None:
    ptx = f".version 8.0\n.target sm_80\n.entry k()\n.maxntid 256, 1, 1\n.minnctapersm 1\n{{\n{body}ret;\n}}\n"
    cubin = assemble.assemble_ptx(ptx, fake_ptxas(tmp_path, with_directive, without))
    assert ("minnctapersm" in cubin.ptx) == keeps
    assert cubin.data == cubin.ptx.encode()
    assert cubin.spills == 2 * (with_directive if keeps else without)


def test_ptxas_numbers_of_several_kernels() -> None:
    log = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 16384 bytes smem
ptxas info    : Compiling entry function 'b' for 'sm_90a'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
    usage = assemble.ptx_usage(log)
    assert usage["a"] == assemble.Usage(registers=255, spills=20, stack_bytes=16, static_shared_bytes=16384)
    assert usage["b"] == assemble.Usage(registers=8, spills=0, stack_bytes=0, static_shared_bytes=0)


def test_tools_are_searched_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program_at(folder: Path) -> Path:
        path = folder / "ptxas"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "SMALTI_PTXAS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(toolchain, "package_dirs", lambda: [tmp_path / "site-packages"])
    monkeypatch.setattr(toolchain, "_cuda_homes", lambda: iter([tmp_path / "cuda"]))
    assert toolchain.find_ptxas() is None
    steps = [
        (tmp_path / "cuda" / "bin", "cuda"),
        (tmp_path / "site-packages" / "nvidia" / "cu13" / "bin", "package"),
        (tmp_path / "bin", "path"),
    ]
    for folder, origin in steps:
        path = program_at(folder)
        if origin == "path":
            monkeypatch.setenv("PATH", str(folder))
        assert toolchain.find_ptxas() == toolchain.Tool("ptxas", path, origin)
    given = program_at(tmp_path / "given")
    monkeypatch.setenv("SMALTI_PTXAS", str(given))
    found: Any = toolchain.find_ptxas()
    assert found.origin == "environment" and found.path == given
    monkeypatch.setenv("SMALTI_PTXAS", str(tmp_path / "nowhere"))
    with pytest.raises(smalti.ToolMissing, match=r"SMALTI_PTXAS is .*nowhere, which is not an executable file"):
        toolchain.find_ptxas()


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_stages_are_those_that_a_loop_got(kernels: Path, target: str) -> None:
    source = kernels / "matmul_relu_bf16.mlir"
    assert smalti.compile(source, target=target, stages=1).resources.stages == 1
    assert smalti.compile(source, target=target, stages=2).resources.stages == 2
    assert smalti.compile(source, target=target, stages=2, depth=1, copies="async").resources.stages == 1


def test_settings_that_are_no_numbers(monkeypatch: pytest.MonkeyPatch, worker: codegen_worker.Worker) -> None:
    monkeypatch.setenv("SMALTI_CODEGEN_TIMEOUT", "soon")
    with pytest.raises(smalti.SmaltiError, match="SMALTI_CODEGEN_TIMEOUT is 'soon'"):
        worker.generate(bytecode(GPU_MODULE), TO_ISA)
