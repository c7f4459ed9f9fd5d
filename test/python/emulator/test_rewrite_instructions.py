# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics and calls of instructions of device modules as host code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from rewriting import AMD, NVIDIA, both, complete, host_ir, needs_lld, rewrite, run
from smalti.errors import CompileError

pytestmark = needs_lld

# ---------------------------------------------------------------------------------------------------------------------
# Atomics
# ---------------------------------------------------------------------------------------------------------------------

ATOMICS: Sequence[tuple[str, str, str, float, float, float]] = [
    # operation, type, syncscope, before, operand, after 8 threads
    ("add", "i32", "", 1, 2, 17),
    ("sub", "i64", 'syncscope("agent")', 100, 1, 92),
    ("xchg", "i32", "", 1, 9, 9),
    ("max", "i32", 'syncscope("device")', -5, 3, 3),
    ("umin", "i32", 'syncscope("workgroup")', 50, 3, 3),
    ("and", "i8", "", 15, 6, 6),
    ("xor", "i16", "", 3, 5, 3),
    ("nand", "i32", "", -1, -1, -1),
    ("fadd", "float", "", 0.5, 0.25, 2.5),
    ("fsub", "double", "", 4, 0.25, 2),
    ("fmax", "float", "", 1, 7, 7),
    ("fmin", "double", "", 1, -7, -7),
    ("fadd", "half", "", 0.5, 0.25, 2.5),
    ("fadd", "bfloat", "", 0.5, 0.25, 2.5),
    ("uinc_wrap", "i32", "", 0, 5, 2),
    ("udec_wrap", "i32", "", 0, 5, 4),
    ("usub_cond", "i32", "", 20, 3, 2),
    ("usub_sat", "i32", "", 20, 3, 0),
    ("xchg", "float", "", 1, 9, 9),
]
_NUMPY: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "float": np.float32,
    "double": np.float64,
    "half": np.float16,
    "bfloat": ml_dtypes.bfloat16,
}


@pytest.mark.parametrize("sanitize", [None, "thread"])
def test_atomics(sanitize: Any) -> None:
    lines, arrays, expected = [], [], []
    for index, (operation, type_, scope, before, operand, after) in enumerate(ATOMICS):
        written = f"{float(operand)}" if type_ in ("float", "double", "half", "bfloat") else str(int(operand))
        if type_ == "half":
            written = "0xH3400"
        elif type_ == "bfloat":
            written = "0xR3E80"
        lines.append(f"  %r{index} = atomicrmw {operation} ptr %p{index}, {type_} {written} {scope} monotonic")
        value = np.array([before]).astype(_NUMPY[type_])
        arrays.append(value.view(np.uint16) if type_ == "bfloat" else value)
        expected.append(after)
    parameters = ", ".join(f"ptr %p{i}" for i in range(len(ATOMICS)))
    body = f"define kernel void @k({parameters}) {{\n" + "\n".join(lines) + "\n  ret void\n}\n"
    run(body, NVIDIA, *arrays, block=8, sanitize=sanitize)
    for (operation, type_, *_), array, after in zip(ATOMICS, arrays, expected, strict=True):
        assert float(array.view(_NUMPY[type_])[0]) == after, (operation, type_)


@pytest.mark.parametrize("sanitize", [None, "thread"])
def test_atomics_of_pointers(sanitize: Any) -> None:
    body = """
define kernel void @k(ptr %slot, ptr %out) {
  store i64 0, ptr %slot
  %first = atomicrmw xchg ptr %slot, ptr %out seq_cst
  %pair = cmpxchg ptr %slot, ptr %out, ptr %slot seq_cst seq_cst
  %p = extractvalue { ptr, i1 } %pair, 0
  %now = load atomic ptr, ptr %slot seq_cst, align 8
  %isThere = icmp eq ptr %now, %slot
  %isFirst = icmp eq ptr %first, null
  %both = and i1 %isThere, %isFirst
  %x = zext i1 %both to i64
  store atomic i64 0, ptr %slot seq_cst, align 8
  store i64 %x, ptr %p
  ret void
}
"""
    slot, out = np.zeros(1, np.int64), np.zeros(1, np.int64)
    run(body, NVIDIA, slot, out, sanitize=sanitize)
    assert out[0] == 1


def test_atomics_of_vectors() -> None:
    body = """
define kernel void @k(ptr %p) {
  %r = atomicrmw fadd ptr %p, <2 x half> <half 1.0, half 2.0> seq_cst
  ret void
}
"""
    values = np.array([1, 2], np.float16)
    run(body, NVIDIA, values, block=4)
    np.testing.assert_array_equal(values, [5, 10])


@both
@pytest.mark.parametrize(
    "wait",
    [
        "%v = load atomic i32, ptr %flag acquire, align 4",
        "%v = load volatile i32, ptr %flag, align 4",
        "%v = atomicrmw or ptr %flag, i32 0 acquire",
        "%pair = cmpxchg ptr %flag, i32 1, i32 1 acquire monotonic\n  %v = extractvalue { i32, i1 } %pair, 0",
    ],
)
def test_a_thread_that_spins_lets_others_run(vendor: str, wait: str) -> None:
    body = f"""
define kernel void @k(ptr %flag, ptr %out) {{
  %t = call i32 @thread()
  %waits = icmp eq i32 %t, 0
  br i1 %waits, label %spin, label %signal
spin:
  {wait}
  %set = icmp eq i32 %v, 1
  br i1 %set, label %go, label %spin
go:
  store i32 7, ptr %out
  ret void
signal:
  store atomic i32 1, ptr %flag release, align 4
  ret void
}}
"""
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(body, vendor, flag, out, block=2)
    assert out[0] == 7


# ---------------------------------------------------------------------------------------------------------------------
# Calls of instructions
# ---------------------------------------------------------------------------------------------------------------------


def _sites(text: str) -> list[tuple[int, int, int]]:
    """Bytes of the result, number of operands and place of each call site."""
    pattern = r"@site[.\d]* = .*constant \{[^}]*\} \{ i32 (\d+), i32 (\d+), i32 (\d+),"
    return [(int(r), int(n), int(o)) for r, n, o in re.findall(pattern, text)]


def test_operands_and_results_are_packed() -> None:
    body = """
declare { i32, i1 } @outside({ i8, i64 }, i1, <3 x half>, ptr addrspace(3), [2 x i16])
define kernel void @k(ptr %p, i1 %b, <3 x half> %h) {
  %s = call { i32, i1 } @outside({ i8, i64 } { i8 1, i64 2 }, i1 %b, <3 x half> %h, ptr addrspace(3) null,
    [2 x i16] [i16 1, i16 2])
  %x = extractvalue { i32, i1 } %s, 0
  store i32 %x, ptr %p
  ret void
}
"""
    text = host_ir(body, AMD)
    assert _sites(text) == [(5, 5, 0)]
    assert "[5 x i32] [i32 9, i32 1, i32 6, i32 8, i32 4]" in text
    # Only the kernel's own accesses are a sanitizer's matter.
    checked = host_ir(body, AMD, sanitize="thread")
    assert len(re.findall(r"call void @(?:__tsan_(?:unaligned_)?write\d+|smalti_emu_report_write)\(", checked)) == 1
    assert not re.findall(r"call void @__tsan_(?:unaligned_)?read\d+\(", checked)


def test_call_sites_are_numbered_in_the_order_of_the_code() -> None:
    # The loop's blocks come after its exit in the text; a diamond is inside.
    body = """
declare void @first()
declare void @left()
declare void @right()
declare void @latch()
declare void @behind()
declare void @callee()
define internal void @f() noinline { call void @callee()
  ret void }
define kernel void @k(i32 %n, i1 %c) {
  call void @first()
  br label %head
exit:
  call void @behind()
  ret void
head:
  %i = phi i32 [ 0, %0 ], [ %j, %join ]
  br i1 %c, label %a, label %b
b:
  call void @right()
  %out = icmp eq i32 %n, 77
  br i1 %out, label %exit, label %join
a:
  call void @left()
  call void @f()
  br label %join
join:
  call void @latch()
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %head, label %exit
}
"""
    names = [item["name"] for item in rewrite(complete(body, NVIDIA))["instructions"]]
    assert names[0] == "first"
    assert set(names[1:4]) == {"left", "callee", "right"}
    assert names[4:] == ["latch", "behind"]
    assert names.index("callee") == names.index("left") + 1
    assert sorted(order for _, _, order in _sites(host_ir(body, NVIDIA))) == list(range(6))


def test_inline_assembly_becomes_its_instructions() -> None:
    body = """
define kernel void @k(ptr %p) {
  %x = load i32, ptr %p
  %y = call i32 asm sideeffect "  bfind.shiftamt.u32 $0, $1; ", "=r,r"(i32 %x)
  call void asm sideeffect "", "~{memory}"()
  %z = call i32 asm "", "=r,0"(i32 %y)
  store i32 %z, ptr %p
  ret void
}
"""
    (used,) = rewrite(complete(body, NVIDIA))["instructions"]
    assert used["name"] == "asm:bfind.shiftamt.u32"
    value = np.array([0x10], np.int32)
    run(body, NVIDIA, value)
    assert value[0] == 31 - 4


def test_unknown_instructions_are_reported_with_their_location() -> None:
    body = """
declare void @unheard(i32)
define kernel void @k() !dbg !3 {
  call void @unheard(i32 1), !dbg !4
  ret void
}
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "source.mlir", directory: "/somewhere")
!3 = distinct !DISubprogram(name: "k", file: !2, line: 3, type: !5, unit: !1, spFlags: DISPFlagDefinition)
!4 = !DILocation(line: 12, column: 5, scope: !3)
!5 = !DISubroutineType(types: !6)
!6 = !{}
"""
    with pytest.raises(CompileError) as caught:
        run(body, NVIDIA)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "the instruction 'unheard' of sm_80 is not emulated"
    assert diagnostic.location is not None
    assert (diagnostic.location.file, diagnostic.location.line, diagnostic.location.column) == (
        "/somewhere/source.mlir",
        12,
        5,
    )
