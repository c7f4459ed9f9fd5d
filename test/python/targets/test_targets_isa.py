# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The chip table against LLVM and the assemblers: code generation for each listed fact.

Every instruction goes through the MLIR operation that reaches it, in a child process, because an instruction that a
chip lacks ends LLVM's instruction selection with an abort.
"""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

import pytest
from smalti import toolchain
from test_targets import TABLE, Json

CHIPS = [chip for chip in TABLE if chip["vendor"] != "CPU"]
NVIDIA = [chip for chip in CHIPS if chip["vendor"] == "NVIDIA"]
AMD = [chip for chip in CHIPS if chip["vendor"] == "AMD"]

# mma.sync's names of the types, and the MLIR type of a register of them.
PTX_TYPES = {"bf16": "bf16", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "i8": "s8"}


def run(command: list[str], text: str) -> str:
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stderr[-2000:]}\n{text}"
    return result.stdout


def tool(name: str) -> str:
    found = toolchain.find_smalti_opt() if name == "smalti-opt" else toolchain.find_llvm_tool(name)
    assert found, f"{name} is missing"
    return str(found.path)


def module(chip: Json, functions: list[str]) -> str:
    if chip["vendor"] == "NVIDIA":
        target = f'#nvvm.target<chip = "{chip["name"]}", features = "{chip["features"]}">'
    else:
        target = f'#rocdl.target<chip = "{chip["name"]}">'
    body = "\n".join(functions)
    return f"module attributes {{gpu.container_module}} {{\ngpu.module @kernels [{target}] {{\n{body}\n}}\n}}\n"


def isa(chip: Json, functions: list[str]) -> dict[str, str]:
    """The functions compiled for the chip: name -> assembly, and the whole of it under the empty name."""
    if chip["vendor"] == "NVIDIA":
        lowering = "convert-nvgpu-to-nvvm,gpu.module(convert-gpu-to-nvvm)"
    else:
        options = f"{{chipset={chip['name']}}}"
        lowering = f"gpu.module(convert-amdgpu-to-rocdl{options},convert-gpu-to-rocdl{options})"
    pipeline = f"builtin.module({lowering},reconcile-unrealized-casts,gpu-module-to-binary{{format=isa}})"
    output = run([tool("smalti-opt"), f"--pass-pipeline={pipeline}", "-"], module(chip, functions))
    literal = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', output)
    assert literal, output[:2000]
    text = re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), literal[1])
    start = r"\.visible \.entry (\w+)\(" if chip["vendor"] == "NVIDIA" else r"^(\w+):\s.*$"
    heads = [head for head in re.finditer(start, text, re.MULTILINE) if head[1].startswith("kernel")]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    parts = {head[1]: text[head.start() : end] for head, end in zip(heads, ends, strict=True)}
    return {"": text, **parts}


def assemble(chip: Json, text: str, tmp_path: Path) -> None:
    """The chip's assembler accepts the text; skipped if NVIDIA's is not installed."""
    if chip["vendor"] == "AMD":
        command = [tool("llvm-mc"), "--triple=amdgcn-amd-amdhsa", f"--mcpu={chip['name']}", "--filetype=obj"]
        run([*command, "-o", str(tmp_path / "kernels.o"), "-"], text)
        return
    if not (ptxas := toolchain.find_ptxas()):
        pytest.skip("no ptxas")
    source = tmp_path / "kernels.ptx"
    source.write_text(text, encoding="utf-8")
    run([str(ptxas.path), f"-arch={chip['name']}", str(source), "-o", str(tmp_path / "kernels.cubin")], "")


# --- matrix instructions ----------------------------------------------------------------------------------------------


def elements_per_lane(chip: Json, fragment: Json) -> int:
    copies = math.prod(part["replicated"] for part in fragment["lane_dims"] if isinstance(part, dict))
    return math.prod(fragment["shape"]) * copies // chip["wave_size"]


def through_casts(name: str, operation: str, types: tuple[str, str, str], held: tuple[str, str, str]) -> str:
    """A kernel that loads elements of the type in `held`, casts them to the operand types, and stores the result."""
    loads = "\n".join(
        f"  %{x}0 = llvm.load %p{x} : !llvm.ptr -> {memory}\n"
        f"  %{x} = builtin.unrealized_conversion_cast %{x}0 : {memory} to {operand}"
        for x, operand, memory in zip("abc", types, held, strict=True)
    )
    return f"""gpu.func @{name}(%pa: !llvm.ptr, %pb: !llvm.ptr, %pc: !llvm.ptr) kernel {{
{loads}
  %d = {operation} : {", ".join(types)}
  %d0 = builtin.unrealized_conversion_cast %d : {types[2]} to {held[2]}
  llvm.store %d0, %pc : {held[2]}, !llvm.ptr
  gpu.return
}}"""


def nvgpu_mma(name: str, chip: Json, mma: Json) -> str:
    types, held = [], []
    for operand in "abc":
        fragment = mma[f"{operand}_fragment"]
        registers = len(fragment["order"])
        length = elements_per_lane(chip, fragment) // registers
        element = mma["accumulator"] if operand == "c" else {"tf32": "f32"}.get(mma["a"], mma["a"])
        types.append(f"vector<{registers}x{length}x{element}>")
        held.append(f"!llvm.array<{registers} x vector<{length}x{element}>>")
    enabled = ", tf32Enabled" if mma["a"] == "tf32" else ""
    shape = f"{{mmaShape = [{mma['m']}, {mma['n']}, {mma['k']}]{enabled}}}"
    kernel = through_casts(name, f"nvgpu.mma.sync(%a, %b, %c) {shape}", (*types,), (*held,))
    # The operation's type is written as a function.
    return kernel.replace(f": {', '.join(types)}", f": ({', '.join(types)}) -> {types[2]}")


def nvvm_mma(name: str, mma: Json) -> str:
    """Registers of packed elements are i32; 8-bit floats and most shapes of f64 have an LLVM intrinsic but no operation."""
    accumulator = mma["accumulator"]
    counts = {x: len(mma[f"{x}_fragment"]["order"]) for x in "abc"}
    counts["c"] *= 2
    operand = "f64" if mma["a"] == "f64" else "i32"
    types = {"a": operand, "b": operand, "c": accumulator}
    lines = [f"gpu.func @{name}(%pa: !llvm.ptr, %pb: !llvm.ptr, %pc: !llvm.ptr) kernel {{"]
    for x, count in counts.items():
        for i in range(count):
            lines.append(f"  %{x}p{i} = llvm.getelementptr %p{x}[{i}] : (!llvm.ptr) -> !llvm.ptr, {types[x]}")
            lines.append(f"  %{x}{i} = llvm.load %{x}p{i} : !llvm.ptr -> {types[x]}")
    values = {x: ", ".join(f"%{x}{i}" for i in range(count)) for x, count in counts.items()}
    struct = f"!llvm.struct<({', '.join([accumulator] * counts['c'])})>"
    shape = f"m{mma['m']}n{mma['n']}k{mma['k']}"
    if mma["a"] == "f64" or mma["a"].startswith("f8"):
        operands = ", ".join(values.values())
        signature = ", ".join(types[x] for x, count in counts.items() for _ in range(count))
        suffix = "f64" if mma["a"] == "f64" else f"f32.{PTX_TYPES[mma['a']]}.{PTX_TYPES[mma['b']]}.f32"
        intrinsic = f"llvm.nvvm.mma.{shape}.row.col.{suffix}"
        lines.append(f'  %d = llvm.call_intrinsic "{intrinsic}"({operands}) : ({signature}) -> {struct}')
    else:
        element = PTX_TYPES[mma["a"]]
        attributes = [
            "layoutA = #nvvm.mma_layout<row>",
            "layoutB = #nvvm.mma_layout<col>",
            f"multiplicandAPtxType = #nvvm.mma_type<{element}>",
            f"multiplicandBPtxType = #nvvm.mma_type<{element}>",
            f"shape = #nvvm.shape<m = {mma['m']}, n = {mma['n']}, k = {mma['k']}>",
        ]
        if accumulator == "i32":
            attributes.append("intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>")
        operands = f"A[{values['a']}] B[{values['b']}] C[{values['c']}]"
        signature = f"(i32, i32, {accumulator}) -> {struct}"
        lines.append(f"  %d = nvvm.mma.sync {operands} {{{', '.join(attributes)}}} : {signature}")
    lines += [f"  llvm.store %d, %pc : {struct}, !llvm.ptr", "  gpu.return", "}"]
    return "\n".join(lines)


def amdgpu_mma(name: str, chip: Json, mma: Json) -> str:
    types, held = [], []
    for operand in "abc":
        length = elements_per_lane(chip, mma[f"{operand}_fragment"])
        element = mma["accumulator" if operand == "c" else operand].replace("tf32", "f32")
        # RDNA3 has 16-bit accumulators in halves of registers.
        if operand == "c" and element == "f16" and chip["architecture"] == "RDNA3":
            length *= 2
        stored = "i8" if element.startswith("f8") else element
        types.append(f"vector<{length}x{element}>" if length > 1 else element)
        held.append(f"vector<{length}x{stored}>" if length > 1 else stored)
    shape = f"{mma['m']}x{mma['n']}x{mma['k']}"
    operation = f"amdgpu.{mma['kind']} {shape} %a * %b + %c"
    if mma["kind"] == "mfma":
        operation += f"{' {reducePrecision}' if mma['a'] == 'tf32' else ''} blgp = none"
    return through_casts(name, operation, (*types,), (*held,))


def mma_kernel(name: str, chip: Json, mma: Json) -> str:
    if mma["kind"] != "mma_sync":
        return amdgpu_mma(name, chip, mma)
    return nvgpu_mma(name, chip, mma) if mma["a"] in ("f16", "tf32") else nvvm_mma(name, mma)


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip["name"])
def test_matrix_instructions_exist(chip: Json, tmp_path: Path) -> None:
    mmas = [mma for mma in chip["mmas"] if mma["kind"] != "fma"]
    code = isa(chip, [mma_kernel(f"kernel{i}", chip, mma) for i, mma in enumerate(mmas)])
    for i, mma in enumerate(mmas):
        body = code[f"kernel{i}"]
        assert re.search(rf"\s{re.escape(mma['mnemonic'])}\s", body), f"{mma['mnemonic']} is not in\n{body}"
    assemble(chip, code[""], tmp_path)


# --- asynchronous copies ----------------------------------------------------------------------------------------------


def copy_kernel(name: str, chip: Json, width: int) -> str:
    memory = "memref<1024xi8, {0}>" if width == 1 else "memref<1024xf32, {0}>"
    elements = max(1, width // 4)
    source, destination = memory.format(1), memory.format(3)
    if chip["vendor"] == "NVIDIA":
        copy = f"%token = nvgpu.device_async_copy %source[%i], %destination[%i], {elements} : {source} to {destination}"
    elif chip["name"].startswith("gfx12"):
        return f"""gpu.func @{name}(%source: !llvm.ptr<1>, %destination: !llvm.ptr<3>) kernel {{
  rocdl.global.load.async.to.lds.b{8 * width} %source, %destination, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
  gpu.return
}}"""
    else:
        element = f"vector<{elements}xf32>" if elements > 1 else "f32"
        copy = f"amdgpu.gather_to_lds %source[%i], %destination[%i] : {element}, {source}, {destination}"
    return f"""gpu.func @{name}(%source: {source}, %destination: {destination}, %i: index) kernel {{
  {copy}
  gpu.return
}}"""


@pytest.mark.parametrize("chip", [chip for chip in CHIPS if chip["async_copy_bytes"]], ids=lambda chip: chip["name"])
def test_asynchronous_copies_exist(chip: Json, tmp_path: Path) -> None:
    widths = chip["async_copy_bytes"]
    code = isa(chip, [copy_kernel(f"kernel{width}", chip, width) for width in widths])
    for width in widths:
        body = code[f"kernel{width}"]
        if chip["vendor"] == "NVIDIA":
            wanted = rf"cp\.async\.c[ag]\.shared\.global .*, {width}\b"
        elif chip["name"].startswith("gfx12"):
            wanted = rf"global_load_async_to_lds_b{8 * width}\s"
        else:
            dword = "dword" if width == 4 else f"dwordx{width // 4}"
            wanted = rf"global_load_lds_{dword}\s|global_load_{dword}\s.*\slds\s"
        assert re.search(wanted, body), f"no copy of {width} bytes in\n{body}"
    assemble(chip, code[""], tmp_path)


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", AMD, ids=lambda chip: chip["name"])
def test_shared_memory_and_wave_size_are_llvms(chip: Json) -> None:
    """LLVM accepts exactly the LDS size of the table."""
    for extra in (0, 4):
        source = f"""@buffer = internal addrspace(3) global [{chip["shared_memory_per_block"] + extra} x i8] poison
define amdgpu_kernel void @kernel(i32 %i) {{
  %p = getelementptr i8, ptr addrspace(3) @buffer, i32 %i
  store volatile i32 1, ptr addrspace(3) %p
  ret void
}}
"""
        command = [tool("llc"), "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip['name']}", "-"]
        result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        assert (result.returncode == 0) == (extra == 0), result.stderr
        if extra:
            assert "exceeds limit" in result.stderr
        else:
            wave = re.search(r"\.wavefront_size:\s*(\d+)", result.stdout)
            assert wave and int(wave[1]) == chip["wave_size"]


@pytest.mark.parametrize("chip", NVIDIA, ids=lambda chip: chip["name"])
def test_ptx_version(chip: Json, tmp_path: Path) -> None:
    """LLVM writes the listed version for the chip, does not support a newer one, and the assembler accepts it."""
    source = "define ptx_kernel void @kernel() { ret void }"
    command = [tool("llc"), "-march=nvptx64", f"-mcpu={chip['name']}", "-o", "-", "-"]
    version = int(chip["ptx_version"])
    text = run([*command, f"-mattr={chip['features']}"], source)
    assert f".version {version // 10}.{version % 10}\n" in text
    newer = subprocess.run(
        [*command, f"-mattr=+ptx{version + 1}"], input=source, capture_output=True, text=True, check=False
    )
    assert "not a recognized feature" in newer.stderr
    assemble(chip, text, tmp_path)


@pytest.mark.parametrize("chip", NVIDIA, ids=lambda chip: chip["name"])
def test_shared_memory_is_ptxas_limit(chip: Json, tmp_path: Path) -> None:
    """Declared statically, a block gets what the table calls static, or all of it from Hopper on (ptxas 13)."""
    if not (ptxas := toolchain.find_ptxas()):
        pytest.skip("no ptxas")
    too_much = chip["shared_memory_per_block"] + 4
    text = run(
        [tool("llc"), "-march=nvptx64", f"-mcpu={chip['name']}", f"-mattr={chip['features']}", "-o", "-", "-"],
        f"""@buffer = internal addrspace(3) global [{too_much} x i8] poison
define ptx_kernel void @kernel(i32 %i) {{
  %p = getelementptr i8, ptr addrspace(3) @buffer, i32 %i
  store volatile i32 1, ptr addrspace(3) %p
  ret void
}}
""",
    )
    source = tmp_path / "kernel.ptx"
    source.write_text(text, encoding="utf-8")
    command = [str(ptxas.path), f"-arch={chip['name']}", str(source), "-o", str(tmp_path / "kernel.cubin")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    limit = re.search(r"too much shared data \(\w+ bytes, (\w+) max\)", result.stdout + result.stderr)
    assert limit, result.stdout + result.stderr
    limits = {chip["static_shared_memory"]} | ({chip["shared_memory_per_block"]} if chip["has_tma"] else set())
    assert int(limit[1], 16) in limits


# Code that assembles for a chip with the fact, and not for a chip without it.
MATRIX_MOVES = {
    "has_ldmatrix": "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0, r1, r2, r3}, [r4];",
    "has_stmatrix": "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [r4], {r0, r1, r2, r3};",
    "has_transposed_8bit_matrix": "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {r0, r1, r2, r3}, [r4];\n"
    "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [r4], {r0, r1, r2, r3};",
}


@pytest.mark.parametrize("chip", NVIDIA, ids=lambda chip: chip["name"])
@pytest.mark.parametrize("fact", MATRIX_MOVES)
def test_matrix_loads_and_stores_exist_where_the_table_says(chip: Json, fact: str, tmp_path: Path) -> None:
    if not (ptxas := toolchain.find_ptxas()):
        pytest.skip("no ptxas")
    source = tmp_path / "kernel.ptx"
    version = f"{int(chip['ptx_version']) // 10}.{int(chip['ptx_version']) % 10}"
    body = (
        ".reg .b32 r0, r1, r2, r3, r4;\nmov.u32 r4, 0;\nmov.u32 r0, 0;\nmov.u32 r1, 0;\nmov.u32 r2, 0;\nmov.u32 r3, 0;"
    )
    source.write_text(
        f".version {version}\n.target {chip['name']}\n.address_size 64\n"
        f".visible .entry kernel() {{\n{body}\n{MATRIX_MOVES[fact]}\nret;\n}}\n"
    )
    command = [str(ptxas.path), f"-arch={chip['name']}", str(source), "-o", str(tmp_path / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == chip[fact], done.stderr


@pytest.mark.parametrize("chip", AMD, ids=lambda chip: chip["name"])
def test_transposed_reads_exist_where_the_table_says(chip: Json, tmp_path: Path) -> None:
    names = {
        (16, 8): "ds_read_b64_tr_b16 v[0:1], v4",
        (8, 8): "ds_read_b64_tr_b8 v[0:1], v4" if chip["name"] != "gfx1250" else "ds_load_tr8_b64 v[0:1], v4",
        (16, 16): "ds_load_tr16_b128 v[0:3], v4",
    }
    listed = {(read["element_bits"], read["bytes"]) for read in chip["transposed_reads"]}
    for read, text in names.items():
        command = [tool("llvm-mc"), "--triple=amdgcn-amd-amdhsa", f"--mcpu={chip['name']}", "--filetype=obj"]
        command += ["-o", str(tmp_path / "kernel.o")]
        done = subprocess.run(command, input=text + "\n", capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (read in listed), (text, done.stderr)
