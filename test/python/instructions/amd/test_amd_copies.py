# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of LDS DMA: at waits for counters, and at waits that LLVM's backend inserts."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import amd
import numpy as np
import pytest
from helpers import Array
from smalti import emulator, errors, toolchain
from smalti.emulator import Emulation

HEADER = """target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [2048 x i8] poison, align 16
@other = internal addrspace(3) global [2048 x i8] poison, align 16
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.waitcnt(i32)
declare void @llvm.amdgcn.s.wait.loadcnt(i16)
declare void @llvm.amdgcn.s.wait.asynccnt(i16)
declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
declare void @llvm.amdgcn.global.load.async.to.lds.b32(ptr addrspace(1), ptr addrspace(3), i32, i32)
declare <4 x i16> @llvm.amdgcn.ds.read.tr16.b64.v4i16(ptr addrspace(3))
"""
METADATA = """
!0 = distinct !{!0}
!1 = distinct !{!1, !0}
!2 = !{!1}
!3 = distinct !{!3, !0}
!4 = !{!3}
!5 = !{!"amdgpu-synchronize-as", !"global"}
!6 = !{!"amdgpu-synchronize-as", !"local"}
"""

COPY = "call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %g, ptr addrspace(3) %to, i32 4, i32 0, i32 0)"
BARRIER = "call void @llvm.amdgcn.s.barrier()"
READ = "%v = load i32, ptr addrspace(3) %from"


def kernel(body: str, *, place: str = "@lds", source: str = "@lds") -> str:
    """Lanes copy a dword from `%g` to `%to`, and read one at `%from` as `%v`, which they store."""
    return f"""{HEADER}
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %slot) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %at = mul i32 %lane, 4
  %g = getelementptr i8, ptr addrspace(1) %in, i32 %at
  %to = getelementptr i8, ptr addrspace(3) {place}, i32 %slot
  %from = getelementptr i8, ptr addrspace(3) {source}, i32 %at
  %o = getelementptr i8, ptr addrspace(1) %out, i32 %at
  {body}
  store i32 %v, ptr addrspace(1) %o
  ret void
}}
{METADATA}"""


def run(text: str, chip: str = "gfx950", **options: Any) -> Array:
    lanes = amd.lanes(chip)
    data = np.arange(1, lanes + 1, dtype=np.int32)
    out = np.zeros(lanes, np.int32)
    emulator.load(text, f"emu:{chip}").launch(1, lanes, data, out, 0, emulation=Emulation(**options))
    return out


# The instruction between a copy and the read after it, and whether the backend waits.
BACKEND = {
    "read": ("{copy}\n{read}", True),
    "read-noalias": ("{copy}, !alias.scope !2\n{read}, !noalias !2", False),
    "read-noalias-of-another": ("{copy}, !alias.scope !2\n{read}, !noalias !4", True),
    "read-of-another-scope": ("{copy}, !alias.scope !2\n{read}, !alias.scope !4", True),
    "copy-without-scope": ("{copy}\n{read}, !noalias !2", False),
    "bare-barrier": ("{copy}, !alias.scope !2\n{barrier}\n{read}, !noalias !2", False),
    "release": ('{copy}, !alias.scope !2\nfence syncscope("workgroup") release\n{read}, !noalias !2', True),
    "seq-cst": ('{copy}, !alias.scope !2\nfence syncscope("workgroup") seq_cst\n{read}, !noalias !2', True),
    "acquire": ('{copy}, !alias.scope !2\nfence syncscope("workgroup") acquire\n{read}, !noalias !2', False),
    "release-of-lds": (
        '{copy}, !alias.scope !2\nfence syncscope("workgroup") release, !mmra !6\n{read}, !noalias !2',
        True,
    ),
    "release-of-global": (
        '{copy}, !alias.scope !2\nfence syncscope("workgroup") release, !mmra !5\n{read}, !noalias !2',
        False,
    ),
    "release-of-the-wave": (
        '{copy}, !alias.scope !2\nfence syncscope("wavefront") release\n{read}, !noalias !2',
        False,
    ),
    "acquire-of-the-agent": ('{copy}, !alias.scope !2\nfence syncscope("agent") acquire\n{read}, !noalias !2', True),
    "release-of-lds-of-the-agent": (
        '{copy}, !alias.scope !2\nfence syncscope("agent") release, !mmra !6\n{read}, !noalias !2',
        False,
    ),
}


def order(body: str) -> str:
    """The instructions in the order of the text: neither moves over assembly that may touch all memory."""
    lines = [line.strip() for line in body.format(copy=COPY, read=READ, barrier=BARRIER).splitlines()]
    return '\n  call void asm sideeffect "", "~{memory}"()\n  '.join(lines)


def backend_waits(text: str, chip: str) -> bool:
    """Whether LLVM's own output waits for all vector memory between the copy and the read of LDS."""
    tool = toolchain.find_llvm_tool("llc")
    assert tool is not None, toolchain.LLVM_TOOLS_HINT
    command = [str(tool.path), "-O3", f"-mcpu={chip}", "-o", "-"]
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    (between,) = re.findall(r"load_(?:lds_dword|dword \S+.* lds)(.*?)\tds_read", made, re.DOTALL)
    return "vmcnt(0)" in between


@pytest.mark.grid(18)
@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx950"])
@pytest.mark.parametrize("name", BACKEND)
def test_waits_of_the_backend(name: str, chip: str) -> None:
    """The emulator waits exactly where LLVM's output does."""
    body, waits = BACKEND[name]
    text = kernel(order(body))
    assert backend_waits(text, chip) == waits
    got = run(text, chip, copies="late")
    assert (got == np.arange(1, 65)).all() == waits
    assert (run(text, chip, copies="early") == np.arange(1, 65)).all()


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
@pytest.mark.parametrize("is_same", [True, False])
def test_variables_tell_copies_apart(is_same: bool, chip: str) -> None:
    """The backend gives the variables of a kernel that has several their own scopes."""
    use_both = 'store i32 7, ptr addrspace(3) %unused\ncall void asm sideeffect "", "~{memory}"()'
    text = kernel(
        "%unused = getelementptr i8, ptr addrspace(3) @other, i32 %at\n" + use_both + "\n" + order("{copy}\n{read}"),
        place="@lds",
        source="@lds" if is_same else "@other",
    )
    assert backend_waits(text, chip) == is_same
    # The copy is outstanding while other memory is read: only its own destination shows that.
    text = text.replace(
        "store i32 %v, ptr addrspace(1) %o",
        """%mine = getelementptr i8, ptr addrspace(3) @lds, i32 %at
  %w = load i32, ptr addrspace(3) %mine, !noalias !8
  store i32 %w, ptr addrspace(1) %o""",
    )
    text = text.replace("i32 0, i32 0)\n", "i32 0, i32 0), !alias.scope !8\n", 1)
    text += "!7 = distinct !{!7, !0}\n!8 = !{!7}\n"
    assert (run(text, chip) == np.arange(1, 65)).all() == is_same


def test_transposed_reads_wait() -> None:
    read = """%four = call <4 x i16> @llvm.amdgcn.ds.read.tr16.b64.v4i16(ptr addrspace(3) %from8)
  %two = bitcast <4 x i16> %four to <2 x i32>
  %v = extractelement <2 x i32> %two, i32 0"""
    body = f"%half = and i32 %lane, 31\n%a8 = mul i32 %half, 8\n%from8 = getelementptr i8, ptr addrspace(3) @lds, i32 %a8\n{COPY}\n{read}"
    assert (run(kernel(body)) == run(kernel(body), copies="early")).all()


# ---------------------------------------------------------------------------------------------------------------------
# Counters
# ---------------------------------------------------------------------------------------------------------------------


def counted(chip: str, wait: str, copies: int = 4) -> list[bool]:
    """The copies that are complete after a wait."""
    lanes = amd.lanes(chip)
    is_gather = chip.startswith("gfx9")
    lines = []
    for i in range(copies):
        lines.append(f"%g{i} = getelementptr i8, ptr addrspace(1) %g, i32 {4 * lanes * i}")
        if is_gather:
            lines.append(f"%to{i} = getelementptr i8, ptr addrspace(3) @lds, i32 {4 * lanes * i}")
            lines.append(COPY.replace("%to", f"%to{i}").replace("%g,", f"%g{i},") + ", !alias.scope !2")
        else:
            lines.append(f"%to{i} = getelementptr i8, ptr addrspace(3) %from, i32 {4 * lanes * i}")
            lines.append(
                "call void @llvm.amdgcn.global.load.async.to.lds.b32("
                f"ptr addrspace(1) %g{i}, ptr addrspace(3) %to{i}, i32 0, i32 0)"
            )
    lines.append(wait)
    for i in range(copies):
        lines.append(f"%r{i} = getelementptr i8, ptr addrspace(3) %from, i32 {4 * lanes * i}")
        lines.append(f"%v{i} = load i32, ptr addrspace(3) %r{i}, !noalias !2")
        lines.append(f"%o{i} = getelementptr i8, ptr addrspace(1) %o, i32 {4 * lanes * i}")
        lines.append(f"store i32 %v{i}, ptr addrspace(1) %o{i}")
    text = kernel("\n  ".join(lines)).replace("  store i32 %v, ptr addrspace(1) %o\n", "")
    data = np.arange(1, copies * lanes + 1, dtype=np.int32)
    out = np.zeros_like(data)
    emulator.load(text, f"emu:{chip}").launch(1, lanes, data, out, 0)
    return [bool(same) for same in (out == data).reshape(copies, lanes).all(axis=1)]


@pytest.mark.parametrize("pending", range(5))
def test_counts(pending: int) -> None:
    expected = [i < 4 - pending for i in range(4)]
    assert counted("gfx950", f"call void @llvm.amdgcn.s.waitcnt(i32 {0x0F70 | pending})") == expected
    assert counted("gfx90a", f"call void @llvm.amdgcn.s.waitcnt(i32 {0x0F70 | pending})") == expected
    assert counted("gfx1250", f"call void @llvm.amdgcn.s.wait.asynccnt(i16 {pending})") == expected


def test_counters_do_not_wait_for_one_another() -> None:
    assert counted("gfx1250", "call void @llvm.amdgcn.s.wait.loadcnt(i16 0)") == [False] * 4


def test_all_fields_of_the_immediate() -> None:
    """vmcnt is in the bits 3:0 and 15:14; the other bits are other counters."""
    for immediate, done in ((0x3F70, 4), (0x0070, 4), (0x0F00, 4), (0x0F7F, 0), (0x4F70, 0), (0xC073, 0), (0x0F02, 2)):
        wait = f"call void @llvm.amdgcn.s.waitcnt(i32 {immediate})"
        assert counted("gfx950", wait) == [i < done for i in range(4)], hex(immediate)


def test_a_copy_counts_once_per_wave() -> None:
    """A copy by half of the lanes counts for all of them: the previous copy is complete."""
    first, second = "ptr addrspace(3) %to, i32 4, i32 0", "ptr addrspace(3) %to, i32 4, i32 1024"
    body = f"""%half = icmp ult i32 %lane, 32
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %g, {first}, i32 0), !alias.scope !2
  br i1 %half, label %some, label %all
some:
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %in, {second}, i32 0), !alias.scope !2
  br label %all
all:
  call void @llvm.amdgcn.s.waitcnt(i32 {0x0F71})
  {READ}, !noalias !2"""
    # The immediate offset also belongs to the source.
    text = kernel(body)
    data, out = np.arange(1, 513, dtype=np.int32), np.zeros(64, np.int32)
    emulator.load(text, "emu:gfx942").launch(1, 64, data, out, 0)
    np.testing.assert_array_equal(out, np.arange(1, 65))


def test_waves_wait_for_their_own() -> None:
    """A wave's wait does not cover another wave's copies: a barrier without a preceding wait is not enough."""
    body = """%wave = lshr i32 %lane, 6
  %base = mul i32 %wave, 256
  %mine = getelementptr i8, ptr addrspace(3) @lds, i32 %base
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %g, ptr addrspace(3) %mine, i32 4, i32 0, i32 0), !alias.scope !2
  WAIT
  call void @llvm.amdgcn.s.barrier()
  %back = sub i32 508, %at
  %there = getelementptr i8, ptr addrspace(3) @lds, i32 %back
  call void @llvm.amdgcn.s.waitcnt(i32 3952)
  %v = load i32, ptr addrspace(3) %there, !noalias !2"""
    data = np.arange(1, 129, dtype=np.int32)
    for wait, is_right in (("call void @llvm.amdgcn.s.waitcnt(i32 3952)", True), ("", False)):
        for order in ("lowest-first", "highest-first"):
            out = np.zeros(128, np.int32)
            module = emulator.load(kernel(body.replace("WAIT", wait)), "emu:gfx950")
            module.launch(1, 128, data, out, 0, emulation=Emulation(order=order))
            assert (out == data[::-1]).all() == is_right


@pytest.mark.parametrize("chip", ["gfx1100", "gfx1201", "gfx1250"])
def test_chips_without_the_copy(chip: str) -> None:
    with pytest.raises(errors.EmulationError, match="LDS DMA load: this chip does not have the instruction"):
        run(kernel(f"{COPY}\n{READ}"), chip)


# ---------------------------------------------------------------------------------------------------------------------
# Findings
# ---------------------------------------------------------------------------------------------------------------------


def finding(text: str, chip: str = "gfx950", **options: Any) -> Any:
    with pytest.raises(errors.EmulationError) as caught:
        run(text, chip, **options)
    return caught.value.findings[0]


def test_reads_of_copies_in_flight_are_poison() -> None:
    got = run(kernel(f"store i32 5, ptr addrspace(3) %from\n{COPY}, !alias.scope !2\n{READ}, !noalias !2"))
    assert (got == 0x7FFF7FFF).all()


@pytest.mark.parametrize(
    "access", [f"{READ}, !noalias !2", "store i32 3, ptr addrspace(3) %from, !noalias !2\n%v = add i32 0, 0"]
)
def test_address_sanitizer_names_both_sides(access: str) -> None:
    found = finding(kernel(f"{COPY}, !alias.scope !2\n{access}"), sanitize="address")
    word = "write" if "store" in access else "read"
    assert found.kind == "race"
    assert found.message.startswith(
        f"data race: a {word} of 4 bytes in the destination of an outstanding asynchronous copy of thread 0"
    )
    assert "byte 0 of shared memory" in found.message
    assert found.thread == (0, 0, 0) and len(found.others) == 1
    assert found.others[0].message == "the asynchronous copy of 4 bytes, in flight"
    assert found.location != found.others[0].location


def test_address_sanitizer_is_content_after_the_wait() -> None:
    wait = f"call void @llvm.amdgcn.s.waitcnt(i32 {0x0F70})"
    text = kernel(f"{COPY}, !alias.scope !2\n{wait}\n{READ}, !noalias !2")
    assert (run(text, sanitize="address") == np.arange(1, 65)).all()
    assert (run(text, sanitize="thread") == np.arange(1, 65)).all()


def test_instructions_find_it_without_a_sanitizer() -> None:
    read = """%four = call <4 x i16> @llvm.amdgcn.ds.read.tr16.b64.v4i16(ptr addrspace(3) @lds), !noalias !2
  %two = bitcast <4 x i16> %four to <2 x i32>
  %v = extractelement <2 x i32> %two, i32 0"""
    found = finding(kernel(f"{COPY}, !alias.scope !2\n{read}"))
    assert found.kind == "race" and "asynchronous copy of thread 0" in found.message
