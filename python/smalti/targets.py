"""The chips that Smalti knows: the table of the C++ side, typed, and which of them is in this machine."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .errors import TargetError
from .settings import suggestion


@dataclass(frozen=True)
class MatrixInstruction:
    """A warp-wide product D[m x n] = A[m x k] * B[k x n] + C[m x n]."""

    kind: str
    m: int
    n: int
    k: int
    a: str
    b: str
    accumulator: str
    macs_per_cycle: int
    """Multiply-accumulates of a compute unit, as far as this instruction does them."""


@dataclass(frozen=True)
class TransposedRead:
    """A read of shared memory that deals what it reads to the lanes in another order: each lane reads `bytes` bytes at
    its own address, n elements, and lane `l` gets as its element `e` the element `l % n` of what another lane read. The
    number of that lane is made of bits: from the lowest, `first_element_bits` of `e`, `first_lane_bits` of `l // n`,
    what is left of `e`, and what is left of `l // n`."""

    element_bits: int
    bytes: int
    first_element_bits: int
    first_lane_bits: int


@dataclass(frozen=True)
class Timing:
    """Published latencies and throughputs of a product with a chip, of one of its compute units where nothing else is
    said. None where no number is known."""

    product: str
    units: int | None = None
    megahertz: int | None = None
    parts: int | None = None
    """Of a compute unit, each with arithmetic and a matrix unit of its own, among which it deals its warps."""
    memory_bandwidth: int | None = None
    """10^9 bytes of global memory per second, of all units together."""
    global_latency: float | None = None
    """Cycles from a load to its data."""
    shared_latency: float | None = None
    shared_bytes: int | None = None
    """Bytes of shared memory per cycle."""
    results: int | None = None
    """32-bit results of arithmetic per cycle."""
    special_results: int | None = None
    """The same of exponentials, roots and sines."""
    f16_macs: int | None = None
    """Multiply-accumulates of the matrix unit per cycle."""
    tf32_macs: int | None = None
    eight_bit_macs: int | None = None
    cache_bytes: int | None = None
    """Of the cache that all units share."""
    cache_bytes_per_cycle: int | None = None
    threads_per_unit: int | None = None
    """Of all blocks, as is the shared memory."""
    shared_memory_per_unit: int | None = None
    shared_memory_reserved: int | None = None
    """Bytes of each block, on top of its own."""


EMULATED = "emu:"
"""What stands in front of a chip's name where its code runs on this machine's CPU."""

SIMULATED = "sim:"
"""What stands in front of a chip's name where its programs are simulated."""


@dataclass(frozen=True)
class Chip:
    """What a launch needs to know about a chip."""

    name: str
    vendor: str
    """`nvidia`, `amd` or `cpu`."""
    architecture: str
    wave_size: int
    max_threads_per_block: int
    shared_memory_per_block: int

    @property
    def is_gpu(self) -> bool:
        return self.vendor != "cpu"

    @property
    def is_emulated(self) -> bool:
        """Whether kernels run on this machine's CPU as the chip would run them."""
        return self.name.startswith(EMULATED)

    @property
    def is_simulated(self) -> bool:
        """Whether kernels are simulated as programs of warpgroups or blocks."""
        return self.name.startswith(SIMULATED)

    @property
    def chip(self) -> str:
        """The name in the table: what the compiler calls the target."""
        return self.name.removeprefix(EMULATED).removeprefix(SIMULATED)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Target(Chip):
    """What is known about a chip."""

    default_warps: int
    static_shared_memory: int
    shared_memory_banks: int
    bank_bytes: int
    wide_read_order: tuple[int, ...]
    """The lanes of a wave as reads of 16 bytes a lane are served; empty: in order."""
    registers_per_thread: int
    registers_per_unit: int
    tensor_memory_columns: int
    max_cluster_size: int
    async_copy_bytes: tuple[int, ...]
    async_copy: str
    """`cp_async`, `lds_load`, `async_lds_load` or `none`."""
    async_copy_pays_from: int
    """Bytes; 0: never."""
    has_tma: bool
    has_wgmma: bool
    has_tdm: bool
    has_ldmatrix: bool
    has_stmatrix: bool
    has_transposed_8bit_matrix: bool
    transposed_reads: tuple[TransposedRead, ...]
    has_buffer_loads: bool
    barrier: str
    sinks_loads: bool
    waits: tuple[str, ...]
    mmas: tuple[MatrixInstruction, ...]
    """Best first."""
    ptx_version: str
    features: str
    timing: Timing | None = None
    """None where nothing is known."""

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
    """All targets by name, in the table's order."""
    from ._mlir_libs import _smalti

    return {entry["name"]: _target(entry) for entry in json.loads(_smalti.targets_json())}


def all() -> list[Target]:
    """All targets, in the table's order."""
    return list(table().values())


def names() -> list[str]:
    """The names of all targets."""
    return list(table())


def get(name: str | Target) -> Target:
    """The target called `name`, or an error that lists the known ones. `emu:` in front of a GPU's emulates it, `sim:`
    simulates it."""
    if isinstance(name, Target):
        return name
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TargetError(f"a target is a name, such as 'sm_90a', not {type(name).__name__} {name!r}")
    if name in table():
        return table()[name]
    prefix = next((prefix for prefix in (EMULATED, SIMULATED) if name.startswith(prefix)), "")
    chip = name.removeprefix(prefix)
    if prefix and chip in table():
        target = table()[chip]
        if not target.is_gpu:
            word = "emulated" if prefix == EMULATED else "simulated"
            raise TargetError(
                f"'{name}': only GPUs are {word}; kernels for {chip} run on this machine as they are",
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
    """The compute capability in the name of an NVIDIA target, and the letter behind it."""
    found = re.fullmatch(r"sm_(\d+)(\d)([af]?)", target.name)
    return ((int(found.group(1)), int(found.group(2))), found.group(3)) if found else None


def runs_on_compute_capability(target: Chip, major: int, minor: int) -> bool:
    """Whether a GPU of this compute capability can run binary code for `target`."""
    if not (at := _compute_capability(target)):
        return False
    # Architecture-specific code runs on its very chip; other code also on later ones of its generation.
    return at[0] == (major, minor) if at[1] == "a" else at[0][0] == major and at[0][1] <= minor


def for_compute_capability(major: int, minor: int) -> Target | None:
    """The target whose code an NVIDIA GPU of this compute capability runs best, or None."""
    best: tuple[tuple[int, bool], Target] | None = None
    for target in table().values():
        at = _compute_capability(target)
        if at is None or not runs_on_compute_capability(target, major, minor):
            continue
        rank = (at[0][1], at[1] == "a")
        if best is None or rank > best[0]:
            best = (rank, target)
    return best[1] if best else None
