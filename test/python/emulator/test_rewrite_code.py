# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and numbers of device modules as host code."""

from __future__ import annotations

import functools
import platform
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from rewriting import AMD, NVIDIA, both, needs_lld, rewrite, run
from smalti.codegen import codegen_worker
from smalti.errors import EmulationError

pytestmark = needs_lld

# ---------------------------------------------------------------------------------------------------------------------
# Functions
# ---------------------------------------------------------------------------------------------------------------------


@both
def test_device_functions_recursion_aliases_and_pointers(vendor: str) -> None:
    body = """
@alias = alias i32 (i32), ptr @double
define linkonce_odr i32 @double(i32 %x) noinline { %y = shl i32 %x, 1
  ret i32 %y }
define i32 @sum(i32 %n) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %t = call i32 @thread()
  %m = sub i32 %n, 1
  %rest = call i32 @sum(i32 %m)
  %plus = add i32 %rest, %n
  %all = add i32 %plus, %t
  br label %end
end:
  %r = phi i32 [ 0, %0 ], [ %all, %more ]
  ret i32 %r
}
define internal i32 @pick(i32 %x) { %t = call i32 @thread()
  %y = add i32 %x, %t
  ret i32 %y }
define kernel void @k(ptr addrspace(1) %out, i32 %which) {
  %t = call i32 @thread()
  %isFirst = icmp eq i32 %which, 0
  %f = select i1 %isFirst, ptr @pick, ptr @alias
  %a = call i32 %f(i32 10)
  %b = call i32 @sum(i32 3)
  %c = add i32 %a, %b
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %c, ptr addrspace(1) %to
  ret void
}
@llvm.used = appending global [1 x ptr] [ptr @double], section "llvm.metadata"
"""
    out = np.zeros(3, np.int32)
    run(body, vendor, out, 0, block=3)
    np.testing.assert_array_equal(out, [10 + t + 6 + 3 * t for t in range(3)])
    run(body, vendor, out, 1, block=3)
    np.testing.assert_array_equal(out, [20 + 6 + 3 * t for t in range(3)])


def test_functions_that_no_kernel_reaches_need_not_be_known() -> None:
    text = NVIDIA + "declare void @unheard()\ndefine void @f() { call void @unheard()\n ret void }\n"
    assert rewrite(text + "define ptx_kernel void @k() { ret void }")["instructions"] == []


def test_variable_arguments_and_tail_calls() -> None:
    body = """
declare void @llvm.va_start.p5(ptr addrspace(5))
define internal i32 @second(i32 %n, ...) {
  %list = alloca ptr, addrspace(5)
  call void @llvm.va_start.p5(ptr addrspace(5) %list)
  %a = va_arg ptr addrspace(5) %list, i32
  %b = va_arg ptr addrspace(5) %list, i32
  ret i32 %b
}
define internal i32 @down(i32 %n, i32 %sum) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %s = add i32 %sum, %n
  %r = musttail call i32 @down(i32 %m, i32 %s)
  ret i32 %r
end:
  ret i32 %sum
}
define kernel void @k(ptr addrspace(1) %out) {
  %x = call i32 (i32, ...) @second(i32 2, i32 5, i32 7)
  %y = call i32 @down(i32 100, i32 %x)
  store i32 %y, ptr addrspace(1) %out
  ret void
}
"""
    out = np.zeros(1, np.int32)
    run(body, AMD, out)
    assert out[0] == 7 + 5050


def test_convergence_tokens_are_dropped() -> None:
    body = """
declare token @llvm.experimental.convergence.entry()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
define kernel void @k(ptr addrspace(1) %out) convergent {
  %token = call token @llvm.experimental.convergence.entry()
  %t = call i32 @thread() [ "convergencectrl"(token %token) ]
  %x = add i32 %t, 3
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %x) [ "convergencectrl"(token %token) ]
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %first, ptr addrspace(1) %to
  ret void
}
"""
    out = np.zeros(64, np.int32)
    run(body, AMD, out, block=64)
    np.testing.assert_array_equal(out, 3)


@both
def test_writable_variables_keep_their_values_between_blocks(vendor: str) -> None:
    body = """
@counter = internal addrspace(1) global i32 5
define kernel void @k(ptr addrspace(1) %out) {
  %old = atomicrmw add ptr addrspace(1) @counter, i32 1 monotonic
  %new = add i32 %old, 1
  %r = atomicrmw max ptr addrspace(1) %out, i32 %new monotonic
  ret void
}
"""
    out = np.zeros(1, np.int32)
    run(body, vendor, out, grid=4, block=2)
    assert out[0] == 13


@both
def test_trap_and_code_that_must_not_be_reached(vendor: str) -> None:
    for end in ("call void @llvm.trap()\n  unreachable", "unreachable"):
        body = f"""
define kernel void @k(i32 %n) {{
  %t = call i32 @thread()
  %bad = icmp eq i32 %t, %n
  br i1 %bad, label %fail, label %fine
fail:
  {end}
fine:
  ret void
}}
declare void @llvm.trap()
"""
        run(body, vendor, 9, block=4)
        with pytest.raises(EmulationError) as caught:
            run(body, vendor, 2, block=4)
        assert [(f.kind, f.thread) for f in caught.value.findings] == [("trap", (2, 0, 0))]


def test_reflection_is_answered() -> None:
    body = """
@arch = private constant [12 x i8] c"__CUDA_ARCH\\00"
@ftz = private constant [11 x i8] c"__CUDA_FTZ\\00"
declare i32 @__nvvm_reflect(ptr)
define kernel void @k(ptr addrspace(1) %out) {
  %a = call i32 @__nvvm_reflect(ptr @arch)
  %f = call i32 @__nvvm_reflect(ptr @ftz)
  %x = add i32 %a, %f
  store i32 %x, ptr addrspace(1) %out
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
"""
    out = np.zeros(1, np.int32)
    run(body, NVIDIA, out)
    assert out[0] == 801


def test_libraries_give_what_is_missing(tmp_path: Any) -> None:
    library = tmp_path / "library.ll"
    library.write_text(
        "define float @__nv_twice(float %x) { %y = call float @helper(float %x)\n ret float %y }\n"
        "define internal float @helper(float %x) { %y = fadd float %x, %x\n ret float %y }\n"
        "define float @__nv_other(float %x) { %y = call float @unheard(float %x)\n ret float %y }\n"
        "declare float @unheard(float)\n"
    )
    text = NVIDIA + "declare float @__nv_twice(float)\ndefine ptx_kernel void @k(ptr %p) { %x = load float, ptr %p\n"
    text += "%y = call float @__nv_twice(float %x)\n store float %y, ptr %p\n ret void }"
    assert [item["name"] for item in rewrite(text)["instructions"]] == ["__nv_twice"]
    assert rewrite(text, libraries=[str(library)])["instructions"] == []
    with pytest.raises(codegen_worker.WorkerRefused, match=r"nowhere\.bc cannot be read"):
        rewrite(text, libraries=[str(tmp_path / "nowhere.bc")])


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------

TINY = np.array([1e-39, -1e-39, 1.5, 1e-20], np.float32)


@both
@pytest.mark.parametrize("flush", [False, True])
def test_denormals_follow_the_function(vendor: str, flush: bool) -> None:
    body = """
define kernel void @k(ptr %p, ptr %out) #0 {
  %t = call i32 @thread()
  %from = getelementptr float, ptr %p, i32 %t
  %x = load float, ptr %from
  %y = fmul float %x, 1.0
  %to = getelementptr float, ptr %out, i32 %t
  store float %y, ptr %to
  %z = fmul float %x, %x
  %square = getelementptr float, ptr %to, i32 4
  store float %z, ptr %square
  ret void
}
"""
    mode = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"' if flush else ""
    out = np.zeros(8, np.float32)
    run(body + f"attributes #0 = {{ nounwind {mode} }}\n", vendor, TINY, out, block=4)
    expected = np.concatenate([TINY, TINY * TINY])
    if flush:
        smallest = np.finfo(np.float32).smallest_normal
        expected = np.where(np.abs(expected) < smallest, np.copysign(0, expected), expected)
    np.testing.assert_array_equal(out.view(np.uint32), expected.astype(np.float32).view(np.uint32))


@both
@pytest.mark.parametrize("name", ["half", "bfloat"])
@pytest.mark.parametrize("processor", ["", "x86-64"], ids=["native", "baseline"])
def test_small_floats_round_once(
    vendor: str, name: str, processor: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if processor:
        if platform.machine() != "x86_64":
            pytest.skip("the baseline is that of x86-64")
        real = codegen_worker.worker.rewrite
        monkeypatch.setattr(codegen_worker.worker, "rewrite", functools.partial(real, processor=processor))
        monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path))
    body = """
define kernel void @k(ptr %a, ptr %b, ptr %c, ptr %wide, ptr %out) {
  %t = call i32 @thread()
  %pa = getelementptr TYPE, ptr %a, i32 %t
  %pb = getelementptr TYPE, ptr %b, i32 %t
  %pc = getelementptr TYPE, ptr %c, i32 %t
  %x = load TYPE, ptr %pa
  %y = load TYPE, ptr %pb
  %z = load TYPE, ptr %pc
  %fused = call TYPE @llvm.fma.TY(TYPE %x, TYPE %y, TYPE %z)
  %product = fmul TYPE %x, %y
  %sum = fadd TYPE %x, %z
  %quotient = fdiv TYPE %x, %y
  %pw = getelementptr double, ptr %wide, i32 %t
  %d = load double, ptr %pw
  %narrow = fptrunc double %d to TYPE
  %single = fptrunc double %d to float
  %narrower = fptrunc float %single to TYPE
  %first = mul i32 %t, 6
  %to = getelementptr TYPE, ptr %out, i32 %first
  %v0 = insertelement <6 x TYPE> poison, TYPE %fused, i32 0
  %v1 = insertelement <6 x TYPE> %v0, TYPE %product, i32 1
  %v2 = insertelement <6 x TYPE> %v1, TYPE %sum, i32 2
  %v3 = insertelement <6 x TYPE> %v2, TYPE %quotient, i32 3
  %v4 = insertelement <6 x TYPE> %v3, TYPE %narrow, i32 4
  %v5 = insertelement <6 x TYPE> %v4, TYPE %narrower, i32 5
  store <6 x TYPE> %v5, ptr %to, align 2
  ret void
}
declare TYPE @llvm.fma.TY(TYPE, TYPE, TYPE)
"""
    from fractions import Fraction

    ty: Any = np.float16 if name == "half" else ml_dtypes.bfloat16
    bits = 11 if name == "half" else 8
    least = -24 if name == "half" else -133
    largest = Fraction(float(ml_dtypes.finfo(ty).max))

    def round_once(exact: Fraction) -> float:
        if exact == 0:
            return 0.0
        size = abs(exact)
        exponent = len(bin(size.numerator)) - len(bin(size.denominator))
        while Fraction(2) ** exponent > size:
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= size:
            exponent += 1
        unit = Fraction(2) ** max(exponent - bits + 1, least)
        rounded = round(size / unit) * unit
        value = float(rounded) if rounded <= largest else float("inf")
        return value if exact > 0 else -value

    rng = np.random.default_rng(3)
    threads = 512
    a, b = (rng.integers(-(2**bits) + 1, 2**bits, threads) | 1 for _ in range(2))
    x = (a * 2.0 ** rng.integers(-bits, 2, threads)).astype(ty)
    y = (b * 2.0 ** rng.integers(-bits, 2, threads)).astype(ty)
    # In half of them, bits far below break a tie.
    z = ((rng.integers(1, 2**bits, threads)) * 2.0 ** rng.integers(-2 * bits, 3, threads)).astype(ty)
    ties = (1 + 2.0**-bits) * 2.0 ** rng.integers(-3, 3, threads)
    wide = ties * (1 + rng.choice([0, 2.0**-40, -(2.0**-40)], threads))
    wide[:9] = [
        2.0**-134 + 2.0**-160,
        2.0**-150,
        2.0**-133.5,
        3e38,
        1e39,
        np.inf,
        2.0**least,
        2.0 ** (least - 1) * 1.0000000001,
        1.0,
    ]
    out = np.zeros((threads, 6), np.uint16)
    text = body.replace("llvm.fma.TY", "llvm.fma.f16" if name == "half" else "llvm.fma.bf16").replace("TYPE", name)
    run(text, vendor, x.view(np.uint16), y.view(np.uint16), z.view(np.uint16), wide, out, block=threads)
    got = out.view(ty).astype(np.float64)
    exact = [[Fraction(float(value)) for value in values] for values in (x, y, z)]
    for i, (p, q, r) in enumerate(zip(*exact, strict=True)):
        assert got[i, 0] == round_once(p * q + r), (p, q, r)
        assert got[i, 1] == round_once(p * q)
        assert got[i, 2] == round_once(p + r)
        assert got[i, 3] == round_once(p / q)
    finite = np.isfinite(wide)
    np.testing.assert_array_equal(got[finite, 4], [round_once(Fraction(value)) for value in wide[finite]])
    with np.errstate(over="ignore"):
        single = wide.astype(np.float32)
    finite = np.isfinite(single)
    np.testing.assert_array_equal(got[finite, 5], [round_once(Fraction(float(value))) for value in single[finite]])
    assert got[5, 4] == got[5, 5] == np.inf


@both
def test_math_functions_of_llvm_are_the_hosts(vendor: str) -> None:
    body = """
define kernel void @k(ptr %p) {
  %x = load float, ptr %p
  %e = call float @llvm.exp2.f32(float %x)
  %s = call float @llvm.sqrt.f32(float %e)
  %t = call float @llvm.sin.f32(float %s)
  %m = call float @llvm.fmuladd.f32(float %t, float 2.0, float %s)
  store float %m, ptr %p
  ret void
}
declare float @llvm.exp2.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.sin.f32(float)
declare float @llvm.fmuladd.f32(float, float, float)
"""
    values = np.array([1.25], np.float32)
    run(body, vendor, values)
    root = np.sqrt(2.0**1.25)
    np.testing.assert_allclose(values, [np.sin(root) * 2 + root], rtol=1e-6)


SHIFTS = """
define kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %amounts, ptr addrspace(1) %out) {
  %t = call i32 @thread()
  %from = getelementptr TYPE, ptr addrspace(1) %in, i32 %t
  %x = load TYPE, ptr addrspace(1) %from
  %which = getelementptr TYPE, ptr addrspace(1) %amounts, i32 %t
  %n = load TYPE, ptr addrspace(1) %which
  %y = OPERATION TYPE %x, %n
  %to = getelementptr TYPE, ptr addrspace(1) %out, i32 %t
  store TYPE %y, ptr addrspace(1) %to
  ret void
}
"""


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("operation", ["shl", "lshr", "ashr"])
def test_shift_amounts_of_ptx_are_clamped_to_the_width(operation: str, dtype: Any) -> None:
    """libdevice's pow tests with a shift whether an exponent is odd."""
    bits = np.dtype(dtype).itemsize * 8
    amounts = np.array([0, 1, bits - 1, bits, bits + 1, 2 * bits, 1000, -1], dtype)
    x = np.array([-7, 7, -7, -7, 7, -7, 5, -1], dtype)
    out = np.full(8, 77, dtype)
    body = SHIFTS.replace("TYPE", f"i{bits}").replace("OPERATION", operation)
    run(body, NVIDIA, x, amounts, out, block=8)
    for number, amount, got in zip(x.tolist(), amounts.tolist(), out.tolist(), strict=True):
        count = min(amount % 2**bits, bits)
        wanted = {"shl": number << count, "lshr": number % 2**bits >> count, "ashr": number >> count}[operation]
        assert got % 2**bits == wanted % 2**bits
