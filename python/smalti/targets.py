# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target table of the C++ side as typed Python objects, and look-up of targets by name."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from .errors import TargetError
from .settings import suggestion


@dataclass(frozen=True)
class MatrixInstruction:
    """A warp-wide MMA: D[m x n] = A[m x k] * B[k x n] + C[m x n]."""

    kind: str
    m: int
    n: int
    k: int
    a: str
    b: str
    accumulator: str
    macs_per_cycle: int | None
    """Multiply-accumulates of this instruction per cycle and SM, CU or WGP. None: unknown."""
    accumulates_in_halves: bool
    """Whether the 16-bit elements of C and D are the low halves of 32-bit registers."""
    takes_unsigned: bool
    """Whether each i8 operand may also be unsigned."""


@dataclass(frozen=True)
class TransposedRead:
    """A shared-memory load that permutes elements across lanes. Each lane reads `bytes` bytes at its own address: n
    elements. Element `e` of lane `l` receives element `l % n` of the data of another lane. The index of that lane
    consists of bits, lowest first: `first_element_bits` of `e`, `first_lane_bits` of `l // n`, the remaining bits of
    `e`, and the remaining bits of `l // n`."""

    element_bits: int
    bytes: int
    first_element_bits: int
    first_lane_bits: int


@dataclass(frozen=True)
class Timing:
    """Published latencies and throughputs of a graphics card or accelerator. Throughputs are per SM, CU or WGP unless
    stated otherwise. A value is None if no number is published."""

    product: str
    """The name of the card or accelerator."""
    units: int | None = None
    """Number of SMs, CUs or WGPs."""
    megahertz: int | None = None
    parts: int | None = None
    """Partitions (SIMDs) per SM, CU or WGP. Each has its own ALUs and matrix unit."""
    memory_bandwidth: int | None = None
    """Global-memory bandwidth of the whole chip in GB/s (10^9 bytes per second)."""
    global_latency: float | None = None
    """Latency of a global load in cycles."""
    shared_latency: float | None = None
    """Latency of a shared-memory load in cycles."""
    shared_bytes: int | None = None
    """Bytes of shared memory per cycle."""
    results: int | None = None
    """32-bit arithmetic results per cycle."""
    special_results: int | None = None
    """32-bit results of exp, sqrt, sin and similar functions per cycle."""
    f16_macs: int | None = None
    """16-bit multiply-accumulates of the matrix units per cycle."""
    tf32_macs: int | None = None
    eight_bit_macs: int | None = None
    cache_bytes: int | None = None
    """Size of the cache that the whole chip shares, in bytes."""
    cache_bytes_per_cycle: int | None = None
    threads_per_unit: int | None = None
    """Resident threads per SM, CU or WGP."""
    shared_memory_per_unit: int | None = None
    """Bytes of shared memory for all resident blocks."""
    shared_memory_reserved: int | None = None
    """Bytes that the system reserves per block in addition to those of the kernel."""


EMULATED = "emu:"
"""The prefix of an emulated target, which runs the code of a GPU on the CPU."""

SIMULATED = "sim:"
"""The prefix of a simulated target, which interprets kernels on the CPU."""


@dataclass(frozen=True)
class Chip:
    """The properties of a chip that a launch needs."""

    name: str
    vendor: str
    """`nvidia`, `amd` or `cpu`."""
    architecture: str
    wave_size: int
    """Lanes per warp (NVIDIA) or wave (AMD)."""
    max_threads_per_block: int
    shared_memory_per_block: int
    """Bytes."""

    @property
    def is_gpu(self) -> bool:
        return self.vendor != "cpu"

    @property
    def is_emulated(self) -> bool:
        """Whether the code of the chip runs on the CPU."""
        return self.name.startswith(EMULATED)

    @property
    def is_simulated(self) -> bool:
        """Whether the simulator interprets kernels."""
        return self.name.startswith(SIMULATED)

    @property
    def max_grid(self) -> tuple[int, int, int]:
        """The largest sizes of a grid of a GPU in x, y and z, in blocks. NVIDIA: CUDA C++ Programming Guide, 'Technical
        Specifications per Compute Capability'."""
        most = 2**31 - 1
        return (most, 65535, 65535) if self.vendor == "nvidia" else (most, most, most)

    @property
    def chip(self) -> str:
        """The name in the target table, without a prefix."""
        return self.name.removeprefix(EMULATED).removeprefix(SIMULATED)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Target(Chip):
    """All properties of a chip. docs/targets.md describes them."""

    default_warps: int
    static_shared_memory: int
    shared_memory_banks: int
    bank_bytes: int
    wide_read_order: tuple[int, ...]
    """The order in which 16-byte shared-memory loads serve the lanes; empty: in lane order."""
    registers_per_thread: int
    registers_per_unit: int
    tensor_memory_columns: int
    max_cluster_size: int
    async_copy_bytes: tuple[int, ...]
    async_copy: str
    """The kind of asynchronous copy: `cp_async`, `lds_load`, `async_lds_load` or `none`."""
    min_async_copy_bytes: int
    """The smallest copy, in bytes, for which an asynchronous copy is faster; 0: never."""
    has_tma: bool
    has_wgmma: bool
    has_tdm: bool
    has_ldmatrix: bool
    has_stmatrix: bool
    has_transposed_8bit_matrix: bool
    transposed_reads: tuple[TransposedRead, ...]
    has_buffer_loads: bool
    has_row_exchange: bool
    has_lane_swap: bool
    barrier: str
    sinks_loads: bool
    waits: tuple[str, ...]
    mmas: tuple[MatrixInstruction, ...]
    """The MMA instructions, in order of preference."""
    ptx_version: str
    features: str
    timing: Timing | None = None
    """None if no numbers are published."""

    def __str__(self) -> str:
        return self.name


def _snake(name: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return name.replace("ld_matrix", "ldmatrix")


def _target(entry: Mapping[str, Any]) -> Target:
    facts = {_snake(key): value for key, value in entry.items()}
    mmas = tuple(
        MatrixInstruction(**{k: v for k, v in mma.items() if k in MatrixInstruction.__dataclass_fields__})
        for mma in facts.pop("mmas", ())
    )
    facts["transposed_reads"] = tuple(TransposedRead(**read) for read in facts["transposed_reads"])
    if "timing" in facts:
        facts["timing"] = Timing(**facts["timing"])
    facts |= {key: tuple(cast(list[Any], value)) for key, value in facts.items() if isinstance(value, list)}
    facts["vendor"] = str(facts["vendor"]).lower()
    known = {key: value for key, value in facts.items() if key in Target.__dataclass_fields__}
    return Target(mmas=mmas, **known)


@functools.cache
def table() -> Mapping[str, Target]:
    """All targets by name, in the order of the table. Raises TargetError if the package was not built."""
    path = Path(__file__).with_name("_targets.json")
    try:
        entries = json.loads(path.read_text())
    except FileNotFoundError:
        raise TargetError(
            f"{path}, the target table, does not exist: the build of Smalti creates it",
            hint=f"copy {path.name} from an installed package smalti, or from build/python_packages/smalti",
        ) from None
    return {entry["name"]: _target(entry) for entry in entries}


def all() -> list[Target]:
    """All targets, in the order of the table."""
    return list(table().values())


def names() -> list[str]:
    """The names of all targets."""
    return list(table())


def get(name: str | Target) -> Target:
    """The target called `name`. The prefixes `emu:` and `sim:` select an emulated or simulated GPU. Raises TargetError with
    the known names if the target does not exist."""
    if isinstance(name, Target):
        return name
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TargetError(f"a target must be a string such as 'sm_90a', not {type(name).__name__} {name!r}")
    if name in table():
        return table()[name]
    prefix = next((prefix for prefix in (EMULATED, SIMULATED) if name.startswith(prefix)), "")
    chip = name.removeprefix(prefix)
    if prefix and chip in table():
        target = table()[chip]
        if not target.is_gpu:
            word = "emulated" if prefix == EMULATED else "simulated"
            raise TargetError(
                f"'{name}': only GPUs can be {word}; kernels for {chip} run on this machine directly",
                hint=f"use '{chip}', or one of: {', '.join(prefix + gpu.name for gpu in all() if gpu.is_gpu)}",
            )
        return dataclasses.replace(target, name=name)
    hint = suggestion(chip, names())
    raise TargetError(
        f"unknown target '{name}'; known targets: {', '.join(names())}, and {EMULATED}CHIP for an emulated GPU, "
        f"{SIMULATED}CHIP for a simulated one",
        hint=hint and hint.replace("'", f"'{prefix}", 1),
    )


def _compute_capability(target: Chip) -> tuple[tuple[int, int], str] | None:
    """The compute capability in the name of an NVIDIA target, and its suffix letter."""
    found = re.fullmatch(r"sm_(\d+)(\d)([af]?)", target.name)
    return ((int(found.group(1)), int(found.group(2))), found.group(3)) if found else None


def runs_on_compute_capability(target: Chip, major: int, minor: int) -> bool:
    """Whether a GPU of this compute capability can run a cubin for `target`."""
    if not (at := _compute_capability(target)):
        return False
    # Architecture-specific code runs on one compute capability only; other code also on later minor versions.
    return at[0] == (major, minor) if at[1] == "a" else at[0][0] == major and at[0][1] <= minor


def for_compute_capability(major: int, minor: int) -> Target | None:
    """The best target for an NVIDIA GPU of this compute capability, or None."""
    best: tuple[tuple[int, bool], Target] | None = None
    for target in table().values():
        at = _compute_capability(target)
        if at is None or not runs_on_compute_capability(target, major, minor):
            continue
        rank = (at[0][1], at[1] == "a")
        if best is None or rank > best[0]:
            best = (rank, target)
    return best[1] if best else None
