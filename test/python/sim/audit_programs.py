# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small thread-level kernels that are easily misjudged."""

from __future__ import annotations

from helpers import SHARED, gpu_kernel


def program(
    body: str,
    arguments: str = "%x: memref<256xf32>, %y: memref<256xf32>",
    *,
    threads: int = 64,
    grid: int = 1,
    wave: int = 32,
) -> str:
    """A kernel with `body`. The body can use thread numbers and indices, an array %s and barriers %b0 and %b1 in shared
    memory, %sp which points to %s and %gp which points to %x. SH is its address space."""
    return gpu_kernel(
        arguments,
        f"""    {" ".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 8, 16, 31, 63, 64, 250))}
    {" ".join(f"%i{n} = arith.constant {n} : i32" for n in (-1, 0, 1, 2, 3, 8, 16, 32, 48, 64, 128, 256, 512))}
    %ticks = arith.constant 10000 : i32
    %true = arith.constant true
    %f0 = arith.constant 0.0 : f32
    %f1 = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %wave = arith.constant {wave} : index
    %last = arith.constant {2 * wave - 1} : index
    %inside = arith.constant {wave - 1} : index
    %warp = arith.divui %t, %wave : index
    %lane = arith.remui %t, %wave : index
    %mirror = arith.xori %t, %last : index
    %near = arith.xori %t, %inside : index
    %far = arith.addi %t, %c64 : index
    %w0 = arith.cmpi eq, %warp, %c0 : index
    %l0 = arith.cmpi eq, %lane, %c0 : index
    %half = arith.cmpi ult, %lane, %c16 : index
    %t0 = arith.cmpi eq, %t, %c0 : index
    %s = memref.alloc() : memref<256xf32, {SHARED}>
    %sa = memref.extract_aligned_pointer_as_index %s : memref<256xf32, {SHARED}> -> index
    %sn = arith.index_cast %sa : index to i32
    %sp = llvm.inttoptr %sn : i32 to !llvm.ptr<3>
    %bars = memref.alloc() : memref<2xi64, {SHARED}>
    %ba = memref.extract_aligned_pointer_as_index %bars : memref<2xi64, {SHARED}> -> index
    %bn = arith.index_cast %ba : index to i32
    %b0 = llvm.inttoptr %bn : i32 to !llvm.ptr<3>
    %b1 = llvm.getelementptr %b0[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
{body.replace("SH", SHARED)}""",
        threads,
        grid,
    )


STORE = "memref.store %f1, %s[%t] : memref<256xf32, SH>\n"


def load(place: str = "%mirror", name: str = "v") -> str:
    """The element of %s at an index is stored to %y."""
    return f"%{name} = memref.load %s[{place}] : memref<256xf32, SH>\nmemref.store %{name}, %y[%t] : memref<256xf32>\n"


def first(body: str, otherwise: str | None = None, who: str = "%w0") -> str:
    """Code of the first warp, and code of the others."""
    return f"scf.if {who} {{ {body} }}" + (f" else {{ {otherwise} }}\n" if otherwise is not None else "\n")


# -- Barriers in shared memory -----------------------------------------------------------------------------------------


def initialized(count: int, fence: bool = True) -> str:
    made = f"nvvm.mbarrier.init %b0, %i{count} : !llvm.ptr<3>, i32\n"
    return first(made + "nvvm.fence.mbarrier.init\n" * fence, who="%t0") + "gpu.barrier\n"


ARRIVE = "nvvm.mbarrier.arrive %b0 : !llvm.ptr<3>\n"


def wait(parity: int) -> str:
    return f"nvvm.mbarrier.try_wait.parity %b0, %i{parity}, %ticks : !llvm.ptr<3>, i32, i32\n"


POINTER = """%xi = memref.extract_aligned_pointer_as_index %x : memref<256xf32> -> index
%xn = arith.index_cast %xi : index to i64
%gp = llvm.inttoptr %xn : i64 to !llvm.ptr<1>
"""


def bulk(size: int) -> str:
    return f"nvvm.cp.async.bulk.shared.cluster.global %sp, %gp, %b0, %i{size} : !llvm.ptr<3>, !llvm.ptr<1>\n"


def expect(size: int) -> str:
    return f"nvvm.mbarrier.arrive.expect_tx %b0, %i{size} : !llvm.ptr<3>, i32\n"


def fence(kind: str) -> str:
    space = ", space = #nvvm.shared_space<cta>" if kind == "async.shared" else ""
    return f"nvvm.fence.proxy {{kind = #nvvm.proxy_kind<{kind}>{space}}}\n"


def copied(copies: str, before: str = "", after: str = "", count: int = 1) -> str:
    """One thread copies, all wait."""
    return POINTER + initialized(count) + before + first(copies, who="%t0") + wait(0) + after


# -- Copies by threads -------------------------------------------------------------------------------------------------


def copy(number: int = 0, place: str = "%t", target: str = "%t", elements: int = 1) -> str:
    types = "memref<256xf32> to memref<256xf32, SH>"
    return (
        f"%cp{number} = nvgpu.device_async_copy %x[{place}], %s[{target}], {elements} : {types}\n"
        f"%g{number} = nvgpu.device_async_create_group %cp{number}\n"
    )


def wait_groups(left: int) -> str:
    return f"nvvm.cp.async.wait.group {left}\n"


# -- Barriers of threads -----------------------------------------------------------------------------------------------


def sync(number: int, count: int) -> str:
    return f"nvvm.barrier id = %i{number} number_of_threads = %i{count}\n"


def arrive(number: int, count: int) -> str:
    return f"nvvm.barrier.arrive id = %i{number} number_of_threads = %i{count}\n"
