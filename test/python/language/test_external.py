# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline assembly and external device functions in kernels in Python."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
import smalti.block
import smalti.language as sl
from smalti.codegen import codegen_worker
from smalti.language import fingerprints

COUNT = 100
"""The number of elements of a tile: not a multiple of the elements of a thread."""


def portable_power(t: Any) -> Any:
    """2 to the power of each element, by an instruction on the GPUs of both vendors."""

    def amd(e: Any) -> Any:
        return sl.inline_asm(
            "v_exp_f32 $0, $1", "=v,v", [e], sl.float32, vendor="amd", effects="none", reference=sl.exp2
        )

    return sl.inline_asm(
        "ex2.approx.ftz.f32 $0, $1;", "=f,f", [t], sl.float32, vendor="nvidia", effects="none", reference=amd
    )


def complement(t: Any) -> Any:
    return sl.inline_asm(
        "not.b32 $0, $1;", "=r,r", [t], sl.int8, vendor="nvidia", effects="none", pack=4, reference=lambda e: ~e
    )


def nibbles(t: Any) -> Any:
    """A number from two results of one execution."""
    low, high = sl.inline_asm(
        "{ .reg .u32 a; and.b32 a, $2, 15; mov.u32 $0, a; shr.s32 $1, $2, 4; } // }",
        "=r,=r,r",
        [t],
        (sl.int32, sl.int32),
        vendor="nvidia",
        effects="none",
        reference=lambda e: (e & 15, e >> 4),
    )
    return high * 16 + low


def widened(t: Any) -> Any:
    """Operands and results of different widths: two results of 32 bits for each operand of two elements."""
    return sl.inline_asm(
        "{ .reg .b16 a, b; mov.b32 {a, b}, $2; cvt.f32.f16 $0, a; cvt.f32.f16 $1, b; }",
        "=f,=f,r",
        [t],
        sl.float32,
        vendor="nvidia",
        effects="none",
        pack=2,
        reference=lambda e: e.to(sl.float32),
    )


def tied(t: Any) -> Any:
    return sl.inline_asm(
        "add.s64 $0, $0, $2;", "=l,0,l", [t, t], sl.int64, vendor="nvidia", effects="none", reference=lambda a, b: a + b
    )


def scalar(t: Any) -> Any:
    three = sl.inline_asm(
        "add.f32 $0, $1, 1.0;", "=f,f", [2.0], sl.float32, vendor="nvidia", effects="none", reference=lambda e: e + 1
    )
    return t * three


@smalti.kernel(target="cpu")
def apply(x: sl.Array, y: sl.Array, function: smalti.constexpr) -> None:
    y[0:COUNT] = function(x[0:COUNT])


def applied(function: Any, dtype: Any, target: str, result: Any = None) -> tuple[Any, Any]:
    x = (np.arange(COUNT) - 20).astype(dtype)
    y = np.zeros(COUNT, result or dtype)
    kernel = apply.on(interpret=True) if target == "interpret" else apply.on(target)
    kernel(x, y, function)
    return x, y


ANYWHERE = ("cpu", "interpret", "sim:sm_90a", "emu:sm_80", "emu:gfx942")


@pytest.mark.parametrize("target", ANYWHERE)
@pytest.mark.parametrize(
    ("function", "dtype", "expected"),
    [
        (complement, np.int8, lambda x: ~x),
        (nibbles, np.int32, lambda x: x),
        (tied, np.int64, lambda x: x + x),
        (scalar, np.float32, lambda x: 3 * x),
    ],
)
def test_results(function: Any, dtype: Any, expected: Callable[[Any], Any], target: str) -> None:
    x, y = applied(function, dtype, target)
    np.testing.assert_array_equal(y, expected(x))


@pytest.mark.parametrize("target", [*ANYWHERE, "emu:gfx1100"])
def test_code_for_both_vendors(target: str) -> None:
    x, y = applied(portable_power, np.float32, target)
    np.testing.assert_allclose(y, np.exp2(x), rtol=1e-6)


@pytest.mark.parametrize(
    ("target", "level", "instruction"),
    [("sm_80", "ptx", "ex2.approx.ftz.f32"), ("gfx942", "gcn", "v_exp_f32 "), ("gfx1100", "gcn", "v_exp_f32 ")],
)
def test_a_gpu_executes_the_assembly(target: str, level: str, instruction: str) -> None:
    x = np.zeros(COUNT, np.float32)
    assert instruction in apply.on(target).ir(level, x, x, portable_power)


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
def test_elements_of_different_widths(target: str) -> None:
    x, y = applied(widened, np.float16, target, np.float32)
    np.testing.assert_array_equal(y, x.astype(np.float32))


def permuted(t: Any) -> Any:
    return sl.inline_asm(
        "v_perm_b32 $0, $1, $2, $3", "=v,v,v,v", [t, t, 0x00010203], sl.int32, vendor="amd", effects="none"
    )


def swapped(t: Any) -> Any:
    return sl.inline_asm("prmt.b32 $0, $1, $1, 0x0123;", "=r,r", [t], sl.int32, vendor="nvidia", effects="none")


def test_a_move_is_emulated() -> None:
    def moved(t: Any) -> Any:
        return sl.inline_asm("v_mov_b32 $0, $1", "=v,v", [t], t.dtype, vendor="amd", effects="none")

    for dtype in (np.int32, np.float32, np.float16):
        x, y = applied(moved, dtype, "emu:gfx942")
        np.testing.assert_array_equal(y, x)


def test_a_label_in_braces() -> None:
    def branch(t: Any) -> Any:
        text = "{ .reg .pred p; setp.lt.s32 p, $1, 0; mov.u32 $0, 0; @p bra end; mov.u32 $0, $1;\nend: }"
        return sl.inline_asm(text, "=r,r", [t], sl.int32, vendor="nvidia", effects="none")

    x, y = applied(branch, np.int32, "emu:sm_80")
    np.testing.assert_array_equal(y, np.maximum(x, 0))


@pytest.mark.parametrize(("function", "target"), [(permuted, "emu:gfx942"), (swapped, "emu:sm_80")])
def test_permutation_of_bytes(function: Any, target: str) -> None:
    x, y = applied(function, np.int32, target)
    np.testing.assert_array_equal(y, x.byteswap())


def test_assembly_with_effects_is_executed() -> None:
    def unused(t: Any) -> Any:
        sl.inline_asm("nanosleep.u32 $1; mov.u32 $0, $1;", "=r,r", [t], sl.int32, vendor="nvidia", effects="write")
        sl.inline_asm("brev.b32 $0, $1;", "=r,r", [t], sl.int32, vendor="nvidia", effects="none")
        return t

    x = np.zeros(COUNT, np.int32)
    ptx = apply.on("sm_80").ir("ptx", x, x, unused)
    assert "nanosleep" in ptx
    assert "brev" not in ptx


# --- External functions ---

LIBRARY = """
attributes #0 = { "target-cpu"="sm_20" "target-features"="+none" }
define float @half_of(float %x) #0 {
  %r = fmul float %x, 5.0e-1
  ret float %r
}
define i32 @sum(i32 %x, i64 %y) {
  %t = trunc i64 %y to i32
  %r = add i32 %x, %t
  ret i32 %r
}
declare float @elsewhere(float)
define float @incomplete(float %x) {
  %r = call float @elsewhere(float %x)
  ret float %r
}
declare float @__nv_sqrtf(float)
define float @root_of(float %x) {
  %r = call float @__nv_sqrtf(float %x)
  ret float %r
}
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    # A name that a textual pipeline cannot contain.
    path = tmp_path / "a, {b}.ll"
    path.write_text(LIBRARY)
    return path


@pytest.mark.parametrize(("vendor", "target"), [("nvidia", "emu:sm_80"), ("amd", "emu:gfx942"), ("amd", "emu:gfx1100")])
def test_function_of_a_library(library: Path, vendor: Any, target: str) -> None:
    half = sl.external("half_of", sl.float32, vendor=vendor, effects="none", library=library)
    x, y = applied(half, np.float32, target)
    np.testing.assert_array_equal(y, x / 2)
    total = sl.external("sum", sl.int32, vendor=vendor, effects="write", library=library)
    x, y = applied(lambda t: total(t, t.to(sl.int64)), np.int32, target)
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize(("vendor", "target", "level"), [("nvidia", "sm_90a", "ptx"), ("amd", "gfx1100", "gcn")])
def test_a_function_is_inlined(library: Path, vendor: Any, target: str, level: str) -> None:
    half = sl.external("half_of", sl.float32, vendor=vendor, effects="none", library=library)
    x = np.zeros(COUNT, np.float32)
    code = apply.on(target).ir(level, x, x, half)
    assert "half_of" not in code
    assert "mul" in code


@pytest.mark.parametrize("target", ["cpu", "interpret", "sim:sm_90a", "emu:gfx942"])
def test_reference_of_a_function(library: Path, target: str) -> None:
    half = sl.external(
        "half_of", sl.float32, vendor="nvidia", effects="none", library=library, reference=lambda x: x * 0.25
    )
    x, y = applied(half, np.float32, target)
    np.testing.assert_array_equal(y, x / 4)


@pytest.mark.parametrize(
    ("name", "vendor", "target"),
    [("__nv_fsqrt_rn", "nvidia", "emu:sm_90a"), ("__ocml_sqrt_f32", "amd", "emu:gfx942")],
)
def test_function_of_the_device_library(name: str, vendor: Any, target: str) -> None:
    root = sl.external(name, sl.float32, vendor=vendor, effects="none")
    x, y = applied(lambda t: root(t * t), np.float32, target)
    np.testing.assert_array_equal(y, np.abs(x))


def test_a_library_may_call_the_device_library(library: Path) -> None:
    root = sl.external("root_of", sl.float32, vendor="nvidia", effects="none", library=library)
    x, y = applied(lambda t: root(t * t), np.float32, "emu:sm_80")
    np.testing.assert_array_equal(y, np.abs(x))
    assert "sqrt.approx.f32" in apply.on("sm_80").ir("ptx", x, y, root)


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "emu:sm_80"])
def test_library_with_a_missing_function(library: Path, target: str) -> None:
    vendor: Any = "amd" if "gfx" in target else "nvidia"
    bad = sl.external("incomplete", sl.float32, vendor=vendor, effects="none", library=library)
    with pytest.raises(smalti.CompileError, match="elsewhere"):
        applied(bad, np.float32, target) if ":" in target else apply.on(target).compile(
            np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), bad
        )


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx942"])
def test_a_helper_has_the_name_of_the_kernel(tmp_path: Path, target: str) -> None:
    vendor: Any = "amd" if "gfx" in target else "nvidia"
    path = tmp_path / "l.ll"
    path.write_text("""
    @llvm.used = appending global [1 x ptr] [ptr @apply]
    define float @apply(float %x) noinline {
      %r = fmul float %x, 3.0
      ret float %r
    }
    define linkonce_odr float @mine(float %x) {
      %r = call float @apply(float %x)
      ret float %r
    }""")
    x, y = applied(sl.external("mine", sl.float32, vendor=vendor, effects="none", library=path), np.float32, target)
    np.testing.assert_array_equal(y, 3 * x)


@pytest.mark.parametrize("target", ["emu:sm_80", "emu:gfx942"])
def test_two_libraries_with_a_helper_of_one_name(tmp_path: Path, target: str) -> None:
    vendor: Any = "amd" if "gfx" in target else "nvidia"

    def declared(name: str, factor: float) -> Any:
        path = tmp_path / f"{name}.ll"
        path.write_text(f"""
        @table = constant float {factor}
        define float @helper(float %x) noinline {{
          %f = load float, ptr @table
          %r = fmul float %x, %f
          ret float %r
        }}
        define float @{name}(float %x) {{
          %r = call float @helper(float %x)
          ret float %r
        }}""")
        return sl.external(name, sl.float32, vendor=vendor, effects="none", library=path)

    one, two = declared("one", 2.0), declared("two", 5.0)
    x, y = applied(lambda t: one(t) + two(t), np.float32, target)
    np.testing.assert_array_equal(y, 7 * x)


@pytest.mark.parametrize("function", ["sinf", "__nv_nothing"])
def test_a_missing_function_is_named(tmp_path: Path, function: str) -> None:
    path = tmp_path / "l.ll"
    path.write_text(f"""
    declare float @{function}(float)
    define float @f(float %x) {{
      %r = call float @{function}(float %x)
      ret float %r
    }}""")
    found = message(sl.external("f", sl.float32, vendor="nvidia", effects="none", library=path))
    assert f"l.ll uses '{function}', which neither the library nor the device library defines" in found
    assert "llvm-link" in found
    assert "test_external.py:" in found


def test_an_undefined_variable_is_named(tmp_path: Path) -> None:
    path = tmp_path / "l.ll"
    path.write_text("""
    @table = external global float
    define float @f(float %x) {
      %r = load float, ptr @table
      ret float %r
    }""")
    assert "uses 'table'" in message(sl.external("f", sl.float32, vendor="nvidia", effects="read", library=path))


@pytest.mark.parametrize("failure", [codegen_worker.WorkerTimeout(), codegen_worker.WorkerDied("it ended")])
def test_a_failure_of_the_worker_is_not_cached(
    library: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(*_: Any) -> Any:
        raise failure

    library.write_text(f"; {type(failure)}\n{LIBRARY}")
    half = sl.external("half_of", sl.float32, vendor="nvidia", effects="none", library=library)
    x = np.zeros(COUNT, np.float32)
    with monkeypatch.context() as patch:
        patch.setattr(codegen_worker.worker, "prepare_library", fail)
        assert "is not LLVM IR that can be linked" in message(half)
    apply.on("sm_80").compile(x, x, half)


CONVENTIONS = """
define internal fastcc float @doubled(float %x) noinline {
  %r = fadd float %x, %x
  ret float %r
}
define CONVENTION float @f(float %x) noinline {
  %a = call fastcc float @doubled(float %x)
  ret float %a
}
define CONVENTION i32 @g(i32 inreg %x) noinline {
  %a = call i32 @minus(i32 inreg %x)
  ret i32 %a
}
define i32 @minus(i32 inreg %x) noinline {
  %r = sub i32 0, %x
  ret i32 %r
}
define KERNEL void @k() {
  ret void
}
define tailcc float @t(float %x) {
  ret float %x
}
"""


@pytest.mark.parametrize("convention", ["", "fastcc", "coldcc", "spir_func", "ptx_device"])
@pytest.mark.parametrize(("vendor", "target"), [("nvidia", "emu:sm_80"), ("amd", "emu:gfx942")])
def test_functions_of_any_calling_convention(tmp_path: Path, convention: str, vendor: Any, target: str) -> None:
    """A call with another convention than the function would be undefined: LLVM made it a trap."""
    path = tmp_path / "conventions.ll"
    path.write_text(CONVENTIONS.replace("CONVENTION", convention).replace("KERNEL", "ptx_kernel"))
    f = sl.external("f", sl.float32, vendor=vendor, effects="none", library=path)
    x, y = applied(f, np.float32, target)
    np.testing.assert_array_equal(y, 2 * x)
    level = "ptx" if vendor == "nvidia" else "gcn"
    assert "doubled" in apply.on(target.removeprefix("emu:")).ir(level, x, x, f)
    g = sl.external("g", sl.int32, vendor=vendor, effects="none", library=path)
    minus = sl.external("minus", sl.int32, vendor=vendor, effects="none", library=path)
    x, y = applied(lambda t: g(t) + 2 * minus(t), np.int32, target)
    np.testing.assert_array_equal(y, -3 * x)


@pytest.mark.parametrize(
    ("name", "kernel", "vendor", "target", "number"),
    [
        ("k", "ptx_kernel", "nvidia", "sm_80", 71),
        ("k", "amdgpu_kernel", "amd", "gfx942", 91),
        ("t", "", "amd", "gfx942", 18),
    ],
)
def test_functions_that_kernels_cannot_call(
    tmp_path: Path, name: str, kernel: str, vendor: Any, target: str, number: int
) -> None:
    path = tmp_path / "conventions.ll"
    path.write_text(CONVENTIONS.replace("CONVENTION", "").replace("KERNEL", kernel))
    found = sl.external(name, sl.float32, vendor=vendor, effects="none", library=path)
    x = np.zeros(COUNT, np.float32)
    with pytest.raises(smalti.CompileError, match=f"'{name}' has the calling convention cc {number} in .*cannot call"):
        apply.on(target).compile(x, x, found)


def test_bitcode_of_another_target(tmp_path: Path) -> None:
    path = tmp_path / "host.ll"
    path.write_text('target triple = "x86_64-unknown-linux-gnu"\ndefine float @f(float %x) {\n  ret float %x\n}\n')
    found = sl.external("f", sl.float32, vendor="nvidia", effects="none", library=path)
    with pytest.raises(smalti.CompileError, match="is for 'x86_64-unknown-linux-gnu', but sm_80 requires 'nvptx64'"):
        apply.on("sm_80").compile(np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), found)


@pytest.mark.parametrize("content", [b"", b"not IR", b"BC\xc0\xde garbage", b"define float @f(float %x) {", b"\0"])
def test_invalid_library(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.bc"
    path.write_bytes(content)
    found = sl.external("f", sl.float32, vendor="nvidia", effects="none", library=path)
    with pytest.raises(smalti.CompileError, match=r"is not LLVM IR that can be linked|does not define 'f'"):
        apply.on("sm_80").compile(np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), found)


def test_calls_that_do_not_match(library: Path) -> None:
    def error(function: Any, target: str = "sm_80") -> str:
        with pytest.raises(smalti.CompileError) as raised:
            apply.on(target).compile(np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), function)
        return str(raised.value)

    def declared(name: str, dtype: Any = sl.float32, vendor: Any = "nvidia", library: Any = library) -> Any:
        return sl.external(name, dtype, vendor=vendor, effects="none", library=library)

    assert "does not define 'missing'" in error(declared("missing"))
    text = error(declared("half_of", sl.float64))
    assert "'half_of' is float (float) in " in text
    assert "but the call needs double (float); convert the operands, or state the type of the result" in text
    assert "test_external.py:" in text
    assert "the device library does not define '__nv_nothing'" in error(declared("__nv_nothing", library=None))
    assert "'__nv_sqrt' is double (double) in the device library" in error(declared("__nv_sqrt", library=None))
    # Only the code of the target is checked; here, the vendor of the code is refused.
    assert "for AMD GPUs without a reference is not supported on NVIDIA GPUs" in error(
        declared("missing", vendor="amd")
    )
    path = library.parent / "apply.ll"
    path.write_text(LIBRARY.replace("half_of", "apply"))
    assert "calls 'apply', which is also the name of a symbol of the module" in error(declared("apply", library=path))


def test_calls_with_different_types(library: Path) -> None:
    other = library.parent / "other.ll"
    other.write_text(LIBRARY)
    one, two = (
        sl.external("half_of", sl.float32, vendor="nvidia", effects="none", library=p) for p in (library, other)
    )
    with pytest.raises(smalti.CompileError, match="from another library than another call"):
        apply.on("sm_80").compile(np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), lambda t: one(t) + two(t))


def test_declaration(library: Path) -> None:
    with pytest.raises(smalti.errors.SmaltiError, match=r"the library .*nowhere\.ll' cannot be read: No such file"):
        sl.external("f", sl.float32, vendor="nvidia", effects="none", library="nowhere.ll")
    wrong: Any
    for wrong, phrase in (("a\0b.ll", "cannot be read: embedded null byte"), (5, "library is 5, but must be a path")):
        with pytest.raises(smalti.errors.SmaltiError, match=phrase):
            sl.external("f", sl.float32, vendor="nvidia", effects="none", library=wrong)
    for wrong in ("a\0b", "é", 5):
        with pytest.raises(smalti.errors.SmaltiError, match=r"name is .*, but must be a string of ASCII characters"):
            sl.external(wrong, sl.float32, vendor="nvidia", effects="none")
    with pytest.raises(smalti.errors.SmaltiError, match="vendor is 'intel', but must be 'nvidia' or 'amd'"):
        sl.external("f", sl.float32, vendor="intel", effects="none")  # pyright: ignore[reportArgumentType]
    half = sl.external("half_of", sl.float32, vendor="nvidia", effects="none", library=library)
    assert pickle.loads(pickle.dumps(half)) == half
    library.write_text(LIBRARY + "\n")
    with pytest.raises(
        smalti.CompileError, match=r"has changed since sl.external declared half_of.*\n.*\n.*\n.*declare it again"
    ):
        apply.on("sm_80").compile(np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32), half)


@pytest.mark.parametrize("kernel", ["apply", "blocks"])
def test_a_library_that_changed_after_the_translation(library: Path, kernel: str) -> None:
    half = sl.external("half_of", sl.float32, vendor="nvidia", effects="none", library=library)
    x = np.zeros(COUNT if kernel == "apply" else (64, 64), np.float32)
    module = globals()[kernel].on("sm_80").module(x, x, half)
    smalti.compile(module, target="sm_80")
    library.write_text(LIBRARY.replace("5.0e-1", "2.5e-1"))
    with pytest.raises(
        smalti.CompileError, match=r"has changed since sl\.external declared 'half_of'; declare it again"
    ):
        smalti.compile(module, target="sm_80")


def test_the_fingerprint_has_the_content_of_the_library(library: Path) -> None:
    def digest() -> str:
        half = sl.external("half_of", sl.float32, vendor="nvidia", effects="none", library=library)

        def kernel(t: Any) -> Any:
            return half(t)

        found = fingerprints.of(kernel)
        assert found is not None
        return found.digest

    first = digest()
    assert digest() == first
    library.write_text(LIBRARY.replace("5.0e-1", "2.5e-1"))
    assert digest() != first


# --- Errors ---


def message(function: Any, target: str = "sm_80", dtype: Any = np.float32) -> str:
    x = np.zeros(COUNT, dtype)
    with pytest.raises(smalti.CompileError) as raised:
        if target == "interpret":
            apply.on(interpret=True)(x, x, function)
        elif ":" in target or target == "cpu":
            apply.on(target)(x, x, function)
        else:
            apply.on(target).compile(x, x, function)
    return str(raised.value)


def assembly(text: str, constraints: str = "=f,f", vendor: Any = "nvidia", **options: Any) -> Callable[[Any], Any]:
    options = {"effects": "none", **options}
    return lambda t: sl.inline_asm(text, constraints, [t], sl.float32, vendor=vendor, **options)


@pytest.mark.parametrize(
    ("text", "vendor", "target", "expected"),
    [
        ("foo.f32 $0, $1;", "nvidia", "sm_80", "Not a name of any known instruction: 'foo'"),
        ("v_foo_f32 $0, $1", "amd", "gfx942", "invalid instruction"),
        ("foo.f32 $0, $1;", "nvidia", "emu:sm_80", "asm:foo.f32"),
        ("v_foo_f32 $0, $1", "amd", "emu:gfx942", "asm:v_foo_f32"),
        ("add.f32 $0, $1, $1; ret;", "nvidia", "emu:sm_80", "asm:ret"),
        ("v_add_f32 $0, $1, $1\nv_foo_f32 $0, $0", "amd", "emu:gfx942", "asm:v_add_f32 $0, $1, $1\nv_foo_f32"),
    ],
)
def test_errors_of_assemblers_have_the_line(text: str, vendor: str, target: str, expected: str) -> None:
    found = message(assembly(text, "=v,v" if vendor == "amd" else "=f,f", vendor), target)
    assert expected in found
    assert "test_external.py:" in found
    assert "too old" not in found and "apt install" not in found
    is_emulated = target.startswith("emu:")
    assert ("sim:CHIP and interpret=True run the reference=" in found) == is_emulated
    assert ("does not check whether an instruction of assembly exists; if it exists, run" in found) == is_emulated


@pytest.mark.parametrize("target", ["sm_80", "emu:sm_80"])
def test_a_missing_semicolon_is_refused_for_all_targets(target: str) -> None:
    """ptxas reports it at the next statement, which is not of the assembly."""
    found = message(assembly("mov.b32 $0, $1"), target)
    assert "the assembly has the statement 'mov.b32 $0, $1' without a ';' after it" in found
    assert "test_external.py:" in found


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a", "gfx942"])
def test_code_without_a_reference(target: str) -> None:
    found = message(assembly("mov.b32 $0, $1;"), target)
    assert "without a reference is not supported" in found
    assert "add a reference" in found


def test_interpretation_without_a_reference() -> None:
    x = np.zeros(COUNT, np.float32)
    with pytest.raises(smalti.errors.SmaltiError, match="it is code for a GPU; add a reference"):
        apply.on(interpret=True)(x, x, assembly("mov.b32 $0, $1;"))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (assembly("mov.b32 $0, $9;"), "uses $9, but its registers are $0 to $1"),
        (assembly("mov.b32 %0, $1;"), "has '%0', which is not a register; write '$0'"),
        (assembly("{ mov.b32 $0, $1;"), "has a '{' that is not closed"),
        (assembly("a: .long 0\nv_mov_b32 $0, $1", "=v,v", "amd"), "has the label 'a', which would be defined again"),
        (assembly("mov.b32 $0, $1;\0"), "must be a string of ASCII characters without NUL"),
        (assembly("mov.b32 $0, $1; // \u00e9"), "must be a string of ASCII characters"),
        (assembly("mov.b32 $0, $1; // \ud800"), "must be a string of ASCII characters"),
        (assembly("mov.b32 $0, $1;", "=f,s"), "the constraint 's' of operand 0 is not supported"),
        (assembly("mov.b32 $0, $1;", "=f"), "the operands need 1 register, such as '=f,f'"),
        (assembly("mov.b32 $0, $1;", "=f,"), "the constraint '' is not supported"),
        (assembly("mov.b32 $0, $1;", pack=3), "pack is 3; it must be 1, 2, 4, 8 or 16"),
        (assembly("mov.b32 $0, $1;", pack=2.0), "pack is 2.0, but must be 1, 2, 4, 8 or 16"),
        (assembly("mov.b32 $0, $1;", vendor="arm"), "vendor is 'arm', but must be 'nvidia' or 'amd'"),
        (assembly("mov.b32 $0, $1;", effects="some"), "effects is 'some', but must be 'none' or 'read' or 'write'"),
        (assembly("mov.b32 $0, $1;", effects="read", reference=sl.exp), "has effects on memory and a reference"),
        (assembly("mov.b32 $0, $1;", reference=lambda e: (e, e)), "returns 2 values; it must return 1"),
        (lambda t: assembly("mov.b32 $0, $1;")(t > 0), "an operand or result of external code is bool,"),
        (lambda t: assembly("mov.b32 $0, $1;")(t.to(sl.float8_e5m2)), "is float8_e5m2, but must be an integer"),
        (
            lambda t: sl.inline_asm("mov.b32 $0, 0;", "=f", [], sl.float32, vendor="nvidia", effects="none"),
            "external code does not have operands",
        ),
        (
            lambda t: sl.reduce(t, 0, lambda a, b: assembly("mov.b32 $0, $1;")(a), 0.0) + t,
            "is in the region of 'triton_xla.reduce', which cannot have external code",
        ),
    ],
)
def test_errors(function: Any, expected: str) -> None:
    found = message(function)
    assert expected in found
    assert "test_external.py:" in found


# --- Block level ---


@smalti.kernel(level="block", grid=1)
def blocks(x: sl.Array, y: sl.Array, function: smalti.constexpr) -> None:
    y[0:64, 0:64] = function(x[0:64, 0:64])


@pytest.mark.parametrize("target", ["emu:sm_90a", "emu:gfx942", "sim:sm_90a"])
@pytest.mark.parametrize(("function", "dtype"), [(portable_power, np.float32), (complement, np.int8)])
def test_block_level(target: str, function: Any, dtype: Any) -> None:
    x = (np.arange(64 * 64).reshape(64, 64) % 41 - 20).astype(dtype)
    y = np.zeros_like(x)
    blocks.on(target)(x, y, function)
    np.testing.assert_allclose(y, np.exp2(x) if function is portable_power else ~x, rtol=1e-6)


def test_block_level_errors() -> None:
    x = np.zeros((64, 64), np.float32)
    with pytest.raises(smalti.CompileError, match="has code for NVIDIA GPUs, but the target gfx942 is an AMD GPU"):
        blocks.on("gfx942").compile(x, x, assembly("mov.b32 $0, $1;"))
    with pytest.raises(smalti.CompileError, match="does not have a reference; add a reference, or use the emulator"):
        blocks.on("sim:sm_90a")(x, x, assembly("mov.b32 $0, $1;"))
