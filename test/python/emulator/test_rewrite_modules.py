# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device modules of other compilers, and refusals."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import ROOT
from rewriting import AMD, CHIPS, NVIDIA, REVERSE, both, complete, needs_lld, refusal, rewrite
from smalti import emulator, toolchain
from smalti.codegen import codegen_worker

pytestmark = needs_lld

# ---------------------------------------------------------------------------------------------------------------------
# Other compilers, and our own
# ---------------------------------------------------------------------------------------------------------------------

CUDA = """
#define global __attribute__((global))
#define shared __attribute__((shared))
#define device __attribute__((device))
#define constant __attribute__((constant))
#if defined(__AMDGCN__)
device static int thread() { return __builtin_amdgcn_workitem_id_x(); }
device static int block() { return __builtin_amdgcn_workgroup_id_x(); }
device static void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
device static int thread() { return __nvvm_read_ptx_sreg_tid_x(); }
device static int block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
device static void barrier() { __nvvm_bar_sync(0); }
#endif
constant float scale[4] = {1.0f, 2.0f, 3.0f, 4.0f};
device int total = 0;
struct Arguments { short n; double bias; };
struct Node { Node *next; char tag; float value; };
device float walk(const Node *node) {
  float sum = 0;
  for (; node; node = node->next)
    sum += node->value * (node->tag ? 1 : 2);
  return sum;
}
device __attribute__((noinline)) float recurse(int n) {
  barrier();
  return n <= 0 ? 0.0f : n + recurse(n - 1);
}
extern "C" global void k(Arguments arguments, const float *in, float *out, _Float16 h) {
  shared float tile[64];
  shared Node nodes[64];
  int t = thread();
  tile[t] = in[block() * 64 + t];
  nodes[t].next = t % 8 ? &nodes[t - 1] : nullptr;
  nodes[t].tag = t & 1;
  nodes[t].value = 1.0f;
  barrier();
  float local[4];
  for (int i = 0; i < 4; ++i)
    local[i] = tile[(t + i) % 64] * scale[i];
  float sum = (float)arguments.bias + recurse(3);
  for (int i = 0; i < 4; ++i)
    sum += local[(i * 7 + t) & 3];
  switch (t % 3) {
  case 0: sum += walk(&nodes[t]); break;
  case 1: sum += t; break;
  default: sum -= (float)h;
  }
  __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
  if (block() * 64 + t < arguments.n)
    out[block() * 64 + t] = sum;
}
"""


@pytest.mark.grid(6)
@both
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("sanitize", [None, "address", "thread"])
def test_code_of_clang(vendor: str, level: str, sanitize: Any, tmp_path: Path) -> None:
    clang = toolchain.find_llvm_tool("clang")
    if clang is None:
        pytest.skip("no clang was found")
    source, output = tmp_path / "kernel.cu", tmp_path / "kernel.bc"
    source.write_text(CUDA)
    language = ["-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc"]
    if vendor == NVIDIA:
        language = ["-x", "cuda", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"]
    command = [clang.path, *language, "--cuda-device-only", "-g", level, "-c", "-emit-llvm", source, "-o", output]
    subprocess.run(command, check=True)
    rng = np.random.default_rng(0)
    given, out = rng.integers(-8, 8, 128).astype(np.float32), np.full(128, -1, np.float32)
    arguments = np.zeros((), np.dtype({"names": ["n", "bias"], "formats": ["i2", "f8"], "offsets": [0, 8]}))
    arguments["n"], arguments["bias"] = 100, 0.5
    module = emulator.load(output, f"emu:{CHIPS[vendor]}")
    how = emulator.Emulation(sanitize=sanitize)
    module.launch(2, 64, arguments.tobytes(), given, out, np.float16(1.5), emulation=how)
    expected = np.full(128, -1, np.float32)
    for i in range(100):
        block, t = divmod(i, 64)
        tile = given[64 * block : 64 * (block + 1)]
        value = 0.5 + 6 + sum(tile[(t + j) % 64] * (j + 1) for j in range(4))
        if t % 3 == 0:
            value += sum(1 if node % 2 else 2 for node in range(t - t % 8, t + 1))
        else:
            value += t if t % 3 == 1 else -1.5
        expected[i] = value
    np.testing.assert_array_equal(out, expected)


@pytest.mark.grid(4)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90", "gfx942", "gfx1250"])
@pytest.mark.parametrize("name", ["vector_add", "matmul_ragged", "matmul_relu_bf16"])
def test_the_emulated_code_is_the_shipped_code(chip: str, name: str) -> None:
    opt = toolchain.find_llvm_tool("opt")
    if opt is None:
        pytest.skip("no opt was found")
    path = ROOT / "test" / "kernels" / f"{name}.mlir"

    def text(ir: str | bytes) -> str:
        data = ir.encode() if isinstance(ir, str) else ir
        command = [opt.path, "--strip-debug", "-S", "-"]
        stripped = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
        # Only a module flag remains of the debug information.
        return re.sub(r"^(?:!\d+ = .*|!llvm.module.flags.*|; ModuleID.*|)\n", "", stripped, flags=re.MULTILINE)

    emulated, shipped = smalti.compile(path, target=f"emu:{chip}"), smalti.compile(path, target=chip)
    assert emulated.device_ir is not None
    assert text(emulated.device_ir) == text(shipped.asm["llvm"])
    assert "!dbg" not in text(emulated.device_ir)

    disassembled = subprocess.run(
        [opt.path, "-S", "-"], input=emulated.device_ir, capture_output=True, check=True
    ).stdout.decode()
    accesses = re.findall(
        r"^ .*(?:= load |^ +store |= atomicrmw |call .*@llvm\.(?:nvvm|amdgcn)\.).*$", disassembled, re.M
    )
    assert accesses
    lines = dict(re.findall(r"^(!\d+) = !DILocation\(line: (\d+),", disassembled, re.M))
    source = path.read_text().splitlines()
    for access in accesses:
        found = re.search(r"!dbg (!\d+)", access)
        assert found, access
        # Thread indices are read at the function's entry.
        if not re.search(r"\.(?:sreg|workitem|workgroup)\.", access):
            assert re.search(r"triton_xla\.|arith\.|math\.|entry_func", source[int(lines[found[1]]) - 1]), access


# ---------------------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------------------

EMPTY = "define ptx_kernel void @k() { ret void }\n"


def assembly(text: str) -> str:
    """A kernel with inline assembly that has a result and an operand of 32 bits."""
    return (
        f'{NVIDIA}define ptx_kernel void @k(ptr %p) {{\n%v = call i32 asm sideeffect "{text}", "=r,r"(i32 1)\n'
        "store i32 %v, ptr %p\n ret void }"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define void @f( {", "expected type"),
        ("BC\xc0\xdegarbage", "the module is not LLVM IR (text or bitcode)"),
        ("", "target triple is ''"),
        ('target triple = "x86_64-linux-gnu"\n' + EMPTY, "target triple is 'x86_64-linux-gnu'"),
        (NVIDIA + "define void @f() { ret void }", "the module does not contain a kernel"),
        (NVIDIA + "define ptx_kernel void @k() { %x = add i32 1, 1.0\n ret void }", "floating point constant invalid"),
        (NVIDIA + EMPTY + 'module asm ".global x;"', "inline assembly outside"),
        (
            NVIDIA + "@x = external addrspace(1) global i32\ndefine ptx_kernel void @k(ptr %p) {\n"
            "%v = load i32, ptr addrspace(1) @x\n store i32 %v, ptr %p\n ret void }",
            "@x is not defined",
        ),
        (
            NVIDIA + "declare void @g()\ndefine ptx_kernel void @k(ptr %p) { store ptr @g, ptr %p\n ret void }",
            "address of @g",
        ),
        (
            NVIDIA + "@s = addrspace(3) global i32 7\ndefine ptx_kernel void @k(ptr %p) {\n"
            "%v = load i32, ptr addrspace(3) @s\n store i32 %v, ptr %p\n ret void }",
            "@s has an initializer",
        ),
        (
            NVIDIA + "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } "
            "{ i32 1, ptr @c, ptr null }]\ndefine void @c() { ret void }\n" + EMPTY,
            "global constructors",
        ),
        (
            NVIDIA + "declare i32 @__nvvm_reflect(ptr)\ndefine ptx_kernel void @k(ptr %p) {\n"
            "%v = call i32 @__nvvm_reflect(ptr %p)\n store i32 %v, ptr %p\n ret void }",
            "the argument of __nvvm_reflect must be a constant string",
        ),
        (assembly("mov.b32 $0, $1; /* x"), "'/* x': the comment is not closed"),
        (assembly("mov.b32 $0, $1 /* x */ /* ;"), "'mov.b32 $0, $1 /* x */ /*': the comment is not closed"),
        (
            assembly("mov.b64 $0, $1;"),
            "'mov.b64 $0, $1' is not emulated: an operand of the instruction has 64 bits, but the register passed for it has 32 bits",
        ),
        (
            assembly("{ .reg .b64 a; cvt.u64.u32 a, $1; mov.b32 $0, a; }"),
            "'mov.b32 $0, a' is not emulated: an operand of the instruction has 32 bits, but the register passed for it has 64 bits",
        ),
        (
            assembly("{ .reg .b32 a<2>; mov.b32 {a0, a1}, $1; mov.b32 $0, a0; }"),
            "'mov.b32 {a0, a1}, $1' is not emulated: an operand of the instruction has 16 bits, but the register passed for it has 32 bits",
        ),
        (
            assembly("{ .reg .b64 a; cvt.u64.u32 a, $1; add.u64 $0, a, a; }"),
            "'add.u64 $0, a, a' is not emulated: an operand of the instruction has 64 bits, but the register passed for it has 32 bits",
        ),
    ],
)
def test_modules_that_are_not_for_the_emulator(text: str, message: str) -> None:
    error = refusal(text.encode("latin-1"))
    assert message in str(error)


def test_text_that_does_not_parse_has_its_location() -> None:
    (diagnostic,) = refusal(b"\n\ndefine void @f( {").diagnostics
    assert diagnostic["location"] == ["-", 3, 18]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%x = alloca i32, addrspace(5)\n %i = ptrtoint ptr addrspace(5) %x to i32\n store i32 %i, ptr %p",
            "private memory",
        ),
        ("%x = alloca i32, addrspace(5)\n store ptr addrspace(5) %x, ptr %p", "private memory"),
        ("%r = load ptr addrspace(8), ptr %p\n store ptr addrspace(8) %r, ptr %p", "buffer resources"),
        (
            "%v = atomicrmw xchg ptr %p, ptr addrspace(3) null monotonic\n store ptr addrspace(3) %v, ptr %p",
            "an atomic access of type ptr addrspace(3) is not emulated",
        ),
        (
            "%v = atomicrmw add ptr %p, i32 1 seq_cst, align 1\n store i32 %v, ptr %p",
            "an atomic access of 4 bytes has an alignment of 1 bytes",
        ),
        (
            "callbr void @llvm.amdgcn.kill(i1 false) to label %a [label %b]\nb:\n unreachable\na:",
            "the instruction 'callbr' is not emulated",
        ),
    ],
)
def test_refused_ops_are_reported_with_their_function(body: str, message: str) -> None:
    kernel = f"define amdgpu_kernel void @k(ptr %p) {{\n {body}\n ret void }}\ndeclare void @llvm.amdgcn.kill(i1)"
    error = refusal(AMD + kernel, "gfx942")
    assert message in str(error)
    assert "(in @k)" in str(error)


def test_parameters_that_no_launch_can_give_are_refused() -> None:
    for type_ in ("ptr addrspace(8)", "[2 x ptr addrspace(3)]"):
        error = refusal(AMD + f"define amdgpu_kernel void @k(i32 %n, {type_} %p) {{ ret void }}", "gfx942")
        assert f"parameter 1 of the kernel @k has the type {type_}" in str(error)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("define ptx_kernel void @0() { ret void }", "a kernel of the module does not have a name; name it"),
        ('define ptx_kernel void @"a\\0Ab"() { ret void }', "a kernel name contains a line break"),
        (
            "define ptx_kernel void @k(ptr %p) { %v = load <vscale x 4 x float>, ptr %p\n ret void }",
            "the instruction 'load' uses type <vscale x 4 x float>; GPUs do not support this type (in @k)",
        ),
        ("define ptx_kernel void @k(ptr %p) { %a = alloca <vscale x 4 x i32>\n ret void }", "<vscale x 4 x i32>"),
        ("define ptx_kernel void @k(x86_fp80 %x) { ret void }", "parameter 0 of the function @k has type x86_fp80"),
        (
            "@x = addrspace(1) global ppc_fp128 zeroinitializer\n"
            "define ptx_kernel void @k(ptr %p) { store ptr addrspace(1) @x, ptr %p\n ret void }",
            "the variable @x has type ppc_fp128",
        ),
        *(
            (
                f"declare void @{name}()\ndefine ptx_kernel void @k() {{ call void @{name}()\n ret void }}",
                f"the intrinsic {name}; GPUs do not support this intrinsic",
            )
            for name in ("llvm.x86.sse2.pause", "llvm.no.such.thing", "llvm.eh.unwind.init")
        ),
        (
            "@s = internal addrspace(3) global [4294967312 x i8] poison\n"
            "define ptx_kernel void @k() { store i8 1, ptr addrspace(3) @s\n ret void }",
            "the shared variables up to and including @s have 4294967312 bytes, which exceeds the shared memory of every GPU",
        ),
    ],
)
def test_features_without_a_device_are_refused(module: str, message: str) -> None:
    assert message in str(refusal(NVIDIA + module))


@both
def test_names_of_the_system_are_a_kernels_own(vendor: str) -> None:
    # The host's code calls `memcpy` and `expf` of the system.
    body = """\
define kernel void @expf(ptr %in, ptr %out) {
  %x = load float, ptr %in
  %y = call float @llvm.exp.f32(float %x)
  store float %y, ptr %out
  ret void
}
define kernel void @memcpy(ptr %in, ptr %out, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %in, i64 %n, i1 false)
  ret void
}
@smalti_emu_names = addrspace(1) global i32 3
define kernel void @smalti_emu_call(ptr %in, ptr %out) {
  %i = call i32 @thread()
  %v = load i32, ptr addrspace(1) @smalti_emu_names
  %sum = add i32 %v, %i
  store i32 %sum, ptr %out
  ret void
}
"""
    module = emulator.load(complete(body, vendor), f"emu:{CHIPS[vendor]}")
    given, got = np.ones(4, np.float32), np.zeros(4, np.float32)
    module.launch(1, 1, given, got, kernel="expf")
    np.testing.assert_allclose(got, [np.e, 0, 0, 0], rtol=1e-6)
    module.launch(1, 1, given, got, np.int64(16), kernel="memcpy")
    np.testing.assert_array_equal(got, 1)
    number = np.zeros(1, np.int32)
    module.launch(1, 1, given, number, kernel="smalti_emu_call")
    assert number[0] == 3


def test_a_fractional_block_size_is_ignored() -> None:
    kernel = "define amdgpu_kernel void @k() !reqd_work_group_size !0 { ret void }\n!0 = !{null, i32 2}"
    assert rewrite(AMD + kernel, "gfx942")["kernels"][0]["block"] is None


def test_bad_options_are_refused() -> None:
    for options, message in (
        ({"processor": "teapot"}, "LLVM does not support processor 'teapot'"),
        ({"sanitize": "memory"}, "unknown sanitizer 'memory'"),
        (
            {"libraries": [3]},
            "option 'libraries' has an entry that is not a string; each entry must be the path of a library",
        ),
    ):
        with pytest.raises(codegen_worker.WorkerRefused, match=message):
            rewrite(NVIDIA + EMPTY, **options)


def test_the_worker_continues_after_a_refusal() -> None:
    refusal("nothing")
    assert rewrite(NVIDIA + EMPTY)["vendor"] == "nvidia"


def test_the_same_module_gives_the_same_code() -> None:
    text = complete(REVERSE, AMD).encode()
    first, second = (codegen_worker.worker.rewrite(text, chip="gfx942") for _ in range(2))
    assert first == second
