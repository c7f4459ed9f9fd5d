# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU of benchmarks/gemm.py: data, references, peers, the time of kernels and the ceiling."""

from __future__ import annotations

import importlib.metadata
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _gemm_problem import OURS, Comparison, Problem, Unavailable

SAFETY = 2.0
"""The bound on errors is this many times the first-order one."""
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8}
"""Of results, relative."""
SUMMING = {"f16": 2.0**-23, "bf16": 2.0**-23, "fp8": 2.0**-13}
"""For one addition of a sum. Hopper's matrix units keep 14 bits in sums of fp8."""


class Gpu:
    """The first GPU, through PyTorch."""

    def __init__(self, kernels: Path | None) -> None:
        try:
            import torch
        except ImportError:
            raise Unavailable("PyTorch is not installed") from None
        if not torch.cuda.is_available():
            raise Unavailable("PyTorch finds no GPU")
        self.torch: Any = torch
        # The references must have at least the stated precision.
        torch.backends.cuda.matmul.allow_tf32 = False
        self._peers = [Smalti(self, kernels), Cublas(self), Triton(self), Pallas(self)]
        self._ceilings: dict[str, float | None] = {}

    def peers(self) -> Sequence[Any]:
        return self._peers

    def type(self, dtype: str) -> Any:
        names = {"f16": "float16", "bf16": "bfloat16", "fp8": "float8_e4m3fn"}
        return getattr(self.torch, names[dtype])

    def data(self, problem: Problem) -> tuple[Any, Any]:
        torch = self.torch
        generator = torch.Generator(device="cuda").manual_seed(problem.m ^ problem.n << 8 ^ problem.k << 16)

        def normal(*shape: int) -> Any:
            return torch.randn(shape, generator=generator, device="cuda").to(self.type(problem.dtype))

        a = normal(problem.m, problem.k)
        if problem.dtype == "fp8":
            # The operand order of the instruction and of cuBLAS: B in column-major order.
            return a, normal(problem.n, problem.k).t()
        return a, normal(problem.k, problem.n)

    def reference(self, problem: Problem, a: Any, b: Any) -> Callable[[Any], Comparison]:
        torch = self.torch
        # In blocks of rows: float64 of the largest matmuls exceeds the memory otherwise.
        rows = max(1, (1 << 26) // problem.n)
        wide_b = b.to(torch.float32).double()
        absolute_b = wide_b.abs()
        rounding = ROUNDING["bf16" if problem.dtype == "fp8" else problem.dtype]
        # The order of the sum is unspecified; each term is rounded at most this often.
        summing = (problem.k + 1) * SUMMING[problem.dtype]

        def compare(got: Any) -> Comparison:
            if tuple(got.shape) != (problem.m, problem.n):
                raise ValueError(f"the result is {tuple(got.shape)}")
            worst = largest = 0.0
            wrong = 0
            for start in range(0, problem.m, rows):
                part = a[start : start + rows].to(torch.float32).double()
                wanted = part @ wide_b
                bound = SAFETY * (rounding * wanted.abs() + summing * (part.abs() @ absolute_b))
                difference = (got[start : start + rows].double() - wanted).abs()
                # A NaN is wrong.
                wrong += int((~(difference <= bound)).sum())
                worst = max(worst, float(difference.max()))
                largest = max(largest, float(wanted.abs().max()))
            return Comparison(worst, worst / largest if largest else 0.0, wrong)

        return compare

    def seconds(self, call: Callable[[], Any], least: float) -> float:
        """The kernels' time as CUPTI counts it; copies and the host's work between them do not count."""
        torch = self.torch
        call()
        torch.cuda.synchronize()
        once = self._kernel_seconds(call, 3)
        return self._kernel_seconds(call, max(3, min(2000, math.ceil(least / max(once, 1e-7)))))

    def _kernel_seconds(self, call: Callable[[], Any], count: int) -> float:
        torch = self.torch
        from torch.autograd import DeviceType
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as profiled:
            for _ in range(count):
                result = call()
            wait = getattr(result, "block_until_ready", None)
            if wait is not None:
                wait()
            torch.cuda.synchronize()
        events = [event for event in profiled.events() if event.device_type == DeviceType.CUDA]
        kernels = [event for event in events if not event.name.startswith(("Memcpy", "Memset"))]
        if not kernels:
            raise RuntimeError("the profiler saw no kernel: is CUPTI there, and may this user profile?")
        return sum(event.device_time_total for event in kernels) * 1e-6 / count

    def ceiling(self, dtype: str) -> float | None:
        if dtype not in self._ceilings:
            try:
                self._ceilings[dtype] = self._measure_ceiling(dtype)
            except Exception as error:
                print(f"no ceiling for {dtype}: {error}", file=sys.stderr)
                self._ceilings[dtype] = None
        return self._ceilings[dtype]

    def _measure_ceiling(self, dtype: str) -> float | None:
        if self.torch.cuda.get_device_capability() != (9, 0):
            return None
        torch = self.torch
        kernel = ceiling_kernel(dtype, blocks := torch.cuda.get_device_properties(0).multi_processor_count)
        data = torch.randn(CEILING_BYTES, device="cuda").to(self.type(dtype)).view(torch.uint8)[:CEILING_BYTES]
        data = data.contiguous()
        sums = torch.zeros(blocks * CEILING_THREADS, dtype=torch.float32, device="cuda")
        seconds = min(self.seconds(lambda: kernel(data, sums), 0.05) for _ in range(5))
        return blocks * ceiling_operations(dtype) / seconds

    def clocks(self) -> dict[str, Any]:
        names = ("clocks.sm", "clocks.mem", "clocks.max.sm", "power.draw", "power.limit", "temperature.gpu")
        command = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            return {}
        return dict(zip(names, (cell.strip() for cell in done.stdout.strip().split(",")), strict=False))

    def machine(self) -> dict[str, Any]:
        facts = self.torch.cuda.get_device_properties(0)
        return {"gpu": facts.name, "multiprocessors": facts.multi_processor_count, "memory": facts.total_memory}

    def versions(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {"cuda of torch": self.torch.version.cuda}
        for package in ("torch", "triton", "jax", "jaxlib", "nvidia-cublas", "nvidia-cublas-cu12"):
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                found[package] = None
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
            found["driver"] = done.stdout.strip().splitlines()[0]
        except (OSError, subprocess.SubprocessError, IndexError):
            found["driver"] = None
        return found


# ---------------------------------------------------------------------------------------------------------------------
# Peers
# ---------------------------------------------------------------------------------------------------------------------


class Smalti:
    """Kernels from files."""

    name = OURS

    def __init__(self, gpu: Gpu, folder: Path | None) -> None:
        self._gpu, self._folder = gpu, folder

    def prepare(self, problem: Problem, a: Any, b: Any) -> Callable[[], Any]:
        if self._folder is None:
            raise Unavailable("no folder with kernels was given (--kernels)")
        path = self._folder / problem.file
        if not path.is_file():
            raise Unavailable(f"{path.name} does not exist")
        from smalti import aot

        kernel = aot.load(path)
        result = self._gpu.type("bf16" if problem.dtype == "fp8" else problem.dtype)
        c = self._gpu.torch.empty((problem.m, problem.n), dtype=result, device="cuda")

        def call() -> Any:
            kernel(a, b, c, stream=self._gpu.torch.cuda.current_stream())
            return c

        return call


class Cublas:
    """The functions of PyTorch that compute it."""

    name = "cublas"

    def __init__(self, gpu: Gpu) -> None:
        self._torch = gpu.torch

    def prepare(self, problem: Problem, a: Any, b: Any) -> Callable[[], Any]:
        torch = self._torch
        if problem.dtype != "fp8":
            c = torch.empty((problem.m, problem.n), dtype=a.dtype, device="cuda")
            return lambda: torch.mm(a, b, out=c)
        if any(size % 16 for size in (problem.m, problem.n, problem.k)):
            raise Unavailable("cuBLAS takes fp8 in multiples of 16")
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)


TRITON = """
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"TM": tm, "TN": tn, "TK": tk, "GROUP": 8}, num_warps=warps, num_stages=stages)
    for tm, tn, tk, warps, stages in (
        (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (128, 128, 64, 8, 4),
        (128, 128, 64, 4, 4), (128, 128, 32, 4, 5), (64, 256, 64, 4, 4), (64, 128, 64, 4, 5), (128, 64, 64, 4, 5),
        (64, 64, 128, 4, 4), (128, 128, 128, 8, 3), (128, 256, 128, 8, 3), (64, 64, 64, 4, 6),
    )
]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def matmul(a, b, c, m, n, k, a_row, b_row, b_column, c_row,
           TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP: tl.constexpr):
    # Groups of rows of tiles, so that neighbors in time share operands in the cache.
    rows, columns = tl.cdiv(m, TM), tl.cdiv(n, TN)
    in_group = GROUP * columns
    group = tl.program_id(0) // in_group
    first = group * GROUP
    height = min(rows - first, GROUP)
    at = tl.program_id(0) % in_group
    i = first + at % height
    j = at // height
    at_m = (i * TM + tl.arange(0, TM)) % m
    at_n = (j * TN + tl.arange(0, TN)) % n
    at_k = tl.arange(0, TK)
    a_at = a + at_m[:, None] * a_row + at_k[None, :]
    b_at = b + at_k[:, None] * b_row + at_n[None, :] * b_column
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for p in range(0, tl.cdiv(k, TK)):
        left = k - p * TK
        x = tl.load(a_at, mask=at_k[None, :] < left, other=0.0)
        y = tl.load(b_at, mask=at_k[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        a_at += TK
        b_at += TK * b_row
    out_m, out_n = i * TM + tl.arange(0, TM), j * TN + tl.arange(0, TN)
    inside = (out_m[:, None] < m) & (out_n[None, :] < n)
    tl.store(c + out_m[:, None] * c_row + out_n[None, :], total.to(c.dtype.element_ty), mask=inside)
"""


class Triton:
    """A tuned kernel in the style of Triton: tiles, pointers and masks, grouped for the cache."""

    name = "triton"

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._kernel: Any = None

    def _load(self) -> Any:
        if self._kernel is None:
            try:
                import triton  # noqa: F401
            except ImportError:
                raise Unavailable("Triton is not installed") from None
            # It reads the source of its kernels from a file.
            folder = Path(tempfile.mkdtemp(prefix="smalti-"))
            (folder / "smalti_triton_gemm.py").write_text(TRITON)
            sys.path.insert(0, str(folder))
            import smalti_triton_gemm  # pyright: ignore

            self._kernel = smalti_triton_gemm.matmul
        return self._kernel

    def prepare(self, problem: Problem, a: Any, b: Any) -> Callable[[], Any]:
        kernel, torch = self._load(), self._gpu.torch
        m, n, k = problem.m, problem.n, problem.k
        result = self._gpu.type("bf16" if problem.dtype == "fp8" else problem.dtype)
        c = torch.empty((m, n), dtype=result, device="cuda")

        def grid(chosen: Any) -> tuple[int]:
            return (-(-m // chosen["TM"]) * -(-n // chosen["TN"]),)

        def call() -> Any:
            kernel[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), b.stride(1), c.stride(0))
            return c

        # Tuning precedes the measurement.
        call()
        return call


class Pallas:
    """JAX's own matmul for Hopper, with the fastest of some configurations of its own tuner."""

    name = "pallas"

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu

    def prepare(self, problem: Problem, a: Any, b: Any) -> Callable[[], Any]:
        try:
            import jax
            from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as shipped
        except ImportError as error:
            raise Unavailable(f"JAX's matmul cannot be loaded: {error}") from None
        if problem.dtype == "fp8":
            raise Unavailable("it takes 16-bit operands")
        torch = self._gpu.torch
        left, right = jax.dlpack.from_dlpack(a), jax.dlpack.from_dlpack(b)
        fastest: tuple[float, Any] | None = None
        reasons = []
        for tm, tn, tk, stages in ((64, 256, 64, 4), (64, 128, 64, 4), (128, 128, 64, 4), (128, 256, 64, 4)):
            try:
                config = shipped.TuningConfig(tile_m=tm, tile_n=tn, tile_k=tk, max_concurrent_steps=stages)
                compiled = jax.jit(lambda x, y, config=config: shipped.matmul(x, y, config))
                compiled(left, right).block_until_ready()
                seconds = self._gpu.seconds(lambda run=compiled: run(left, right), 0.01)
            except Exception as error:
                reasons.append(f"{type(error).__name__}: {error}".splitlines()[0][:200])
                continue
            if fastest is None or seconds < fastest[0]:
                fastest = (seconds, compiled)
        if fastest is None:
            raise Unavailable(f"no configuration of it works: {reasons[0]}")
        run = fastest[1]
        return lambda: _Result(run(left, right), torch)


class _Result:
    """An array of JAX's, which is PyTorch's to compare."""

    def __init__(self, array: Any, torch: Any) -> None:
        self._array, self._torch = array, torch
        self.shape = array.shape

    def block_until_ready(self) -> None:
        self._array.block_until_ready()

    def __getitem__(self, rows: Any) -> Any:
        return self._torch.from_dlpack(self._array)[rows]


# ---------------------------------------------------------------------------------------------------------------------
# The ceiling
# ---------------------------------------------------------------------------------------------------------------------

CEILING_THREADS = 256
"""For a block: two warpgroups, as in the fastest matmuls."""
CEILING_STEPS, CEILING_UNROLLED = 512, 8
_A_BYTES, _B_BYTES = 64 * 128, 256 * 128
CEILING_BYTES = 2 * _A_BYTES + _B_BYTES
_KINDS = {
    "f16": ("m64n256k16", "f16.f16", ", 1, 1, 0, 0", 16),
    "bf16": ("m64n256k16", "bf16.bf16", ", 1, 1, 0, 0", 16),
    "fp8": ("m64n256k32", "e4m3.e4m3", ", 1, 1", 32),
}


def ceiling_operations(dtype: str) -> int:
    """For a block."""
    depth = _KINDS[dtype][3]
    return 2 * (CEILING_THREADS // 128) * 64 * 256 * depth * CEILING_STEPS * CEILING_UNROLLED


def ceiling_ptx(dtype: str) -> str:
    """A kernel that consists of wgmma only.

    Each warpgroup multiplies its 64 rows with the same 256 columns. All operands are in shared memory in rows of 128
    bytes with swizzling, as in a matmul. It repeats four steps along a row."""
    shape, kinds, scales, _ = _KINDS[dtype]
    registers = ", ".join(f"%f{i}" for i in range(128))
    # PTX ISA, "Matrix Descriptor Format": address / 16; the distance of groups of 8 rows / 16 = 64; swizzling of 128 B.
    fixed = 64 << 32 | 1 << 62 | 1 << 16
    mmas = []
    for step in range(CEILING_UNROLLED):
        along = step % 4 * 2
        mmas.append(f"  add.s64 %rd5, %rd3, {along};\n  add.s64 %rd6, %rd4, {along};\n")
        mmas.append(f"  wgmma.mma_async.sync.aligned.{shape}.f32.{kinds} {{{registers}}}, %rd5, %rd6, 1{scales};\n")
    adds = "".join(f"  add.f32 %f0, %f0, %f{i};\n" for i in range(1, 128))
    zeros = "".join(f"  mov.f32 %f{i}, 0f00000000;\n" for i in range(128))
    return f"""
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry ceiling(.param .u64 data, .param .u64 sums) .reqntid {CEILING_THREADS}, 1, 1 {{
  .reg .f32 %f<129>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<12>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [sums];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tiles;
  shl.b32 %r3, %r1, 2;
FILL:
  cvt.u64.u32 %rd7, %r3;
  add.s64 %rd8, %rd1, %rd7;
  ld.global.b32 %r4, [%rd8];
  add.s32 %r5, %r2, %r3;
  st.shared.b32 [%r5], %r4;
  add.s32 %r3, %r3, {4 * CEILING_THREADS};
  setp.lt.s32 %p1, %r3, {CEILING_BYTES};
  @%p1 bra FILL;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %r6, %r1, 7;
  mul.lo.s32 %r6, %r6, {_A_BYTES};
  add.s32 %r6, %r6, %r2;
  shr.u32 %r6, %r6, 4;
  cvt.u64.u32 %rd3, %r6;
  or.b64 %rd3, %rd3, {fixed};
  add.s32 %r7, %r2, {2 * _A_BYTES};
  shr.u32 %r7, %r7, 4;
  cvt.u64.u32 %rd4, %r7;
  or.b64 %rd4, %rd4, {fixed};
{zeros}  mov.u32 %r8, 0;
STEP:
  wgmma.fence.sync.aligned;
{"".join(mmas)}  wgmma.commit_group.sync.aligned;
  add.s32 %r8, %r8, 1;
  setp.lt.s32 %p2, %r8, {CEILING_STEPS};
  @%p2 bra STEP;
  wgmma.wait_group.sync.aligned 0;
{adds}  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r3, %r3, {CEILING_THREADS}, %r1;
  mul.wide.u32 %rd9, %r3, 4;
  add.s64 %rd9, %rd2, %rd9;
  st.global.f32 [%rd9], %f0;
  ret;
}}
"""


def ceiling_kernel(dtype: str, blocks: int) -> Any:
    """The kernel, as one that was loaded from a file."""
    from smalti import dtypes, targets
    from smalti.calling import arguments
    from smalti.launch.compiled import Resources
    from smalti.launch.kernels import Kernel

    byte, f32 = dtypes.from_mlir("ui8"), dtypes.from_mlir("f32")
    assert byte is not None and f32 is not None
    size = blocks * CEILING_THREADS
    taken = (
        arguments.Argument(0, f"memref<{CEILING_BYTES}xui8>", byte, (CEILING_BYTES,), (1,), True, False),
        arguments.Argument(1, f"memref<{size}xf32>", f32, (size,), (1,), False, True),
    )
    chip = targets.Chip("sm_90a", "nvidia", "", 32, 1024, 0)
    kernel = Kernel(chip, arguments.Entry("ceiling", taken, blocks), {})
    kernel.binary, kernel.binary_format = ceiling_ptx(dtype).encode(), "ptx"
    block, grid = (CEILING_THREADS, 1, 1), (blocks, 1, 1)
    kernel.resources = Resources(tiles=blocks, block=block, grid=grid, dynamic_shared_bytes=CEILING_BYTES)
    return kernel
