# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`wgmma` at thread level. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": shapes, fragments, matrix descriptors
and swizzles."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...machine.findings import Finding
from ...translation.translator import Unsupported
from .elements import READERS, rounded_sum, rows_of_a
from .engines import Work
from .lanes import Array

ROWS = 64
CHUNK = 16
"""The unit of addresses in descriptors, in bytes."""
ROW_BYTES = 32
"""Bytes of the elements along K of one instruction."""
WARPS = 4
LANES = 128
A_WORDS = 4
"""32-bit registers of operand A, if it is in registers."""

_SUMS: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "s32": np.dtype(np.int32),
}
_FLOATS, _INTEGERS = ("e4m3", "e5m2"), ("s8", "u8")
_PAIRS = {("f16", "f16"): ("f32", "f16"), ("bf16", "bf16"): ("f32",), ("tf32", "tf32"): ("f32",)}
_PAIRS |= {(a, b): ("f32", "f16") for a in _FLOATS for b in _FLOATS}
_PAIRS |= {(a, b): ("s32",) for a in _INTEGERS for b in _INTEGERS}


@dataclass(frozen=True)
class Form:
    """One instruction. Types are those of the PTX ISA."""

    columns: int
    depth: int
    sum: str
    a: str
    b: str
    adds: bool = True
    """Whether the accumulator is added."""
    negative: bool = False
    transposed: tuple[bool, bool] = (False, False)
    """Operand A is column-major, or operand B is row-major."""
    saturates: bool = False

    def __post_init__(self) -> None:
        """Raises `Unsupported` for forms that do not exist or are not supported."""
        if self.sum not in _PAIRS.get((self.a, self.b), ()):
            known = " or ".join(_PAIRS.get((self.a, self.b), ()))
            needed = (
                f"for these operands, the accumulator must be {known}" if known else "wgmma cannot multiply these types"
            )
            raise Unsupported(
                f"operand A is {self.a}, operand B is {self.b} and the accumulator is {self.sum}; {needed}"
            )
        bits = READERS[self.a][0]
        if self.depth * bits != 8 * ROW_BYTES or self.columns % 8 or not 0 < self.columns <= 256:
            raise Unsupported(
                f"N is {self.columns} and K is {self.depth}; for operands of {self.a}, K must be {8 * ROW_BYTES // bits}, and N must "
                "be a multiple of 8 up to 256"
            )
        if any(self.transposed) and bits != 16:
            raise Unsupported(
                f"an operand of {self.a} is transposed, but wgmma can transpose only operands of 16-bit elements; store it K-major"
            )
        if self.saturates and self.sum != "s32":
            raise Unsupported(
                f"the op requests saturation of an accumulator of {self.sum}, but only s32 can saturate; remove the saturation"
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        return _SUMS[self.sum]

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns, self.depth

    @property
    def registers(self) -> int:
        """The 32-bit registers of each lane's accumulator."""
        return self.columns * self.dtype.itemsize // 8


class Descriptor:
    """The location of a matrix in shared memory."""

    def __init__(self, bits: int) -> None:
        def field(at: int) -> int:
            return (bits >> at & 0x3FFF) << 4

        self.start, self.leading, self.stride = field(0), field(16), field(32)
        self.base_offset = bits >> 49 & 7
        self.swizzle = (0, 128, 64, 32)[bits >> 62 & 3]

    def chunks(self, rows: int, k: int, transposed: bool) -> Array:
        """The first bytes of chunks: for each row the two halves of its K elements; if transposed, for eight rows (16
        bytes) one for each K."""
        if not transposed:
            row, half = np.arange(rows)[:, None], np.arange(2)[None, :]
            if self.swizzle:
                at = row % 8 * self.swizzle + row // 8 * self.stride + half * CHUNK
            else:
                at = row % 8 * CHUNK + row // 8 * self.stride + half * self.leading
        else:
            row, column = np.arange(rows)[:, None], np.arange(k)[None, :]
            if self.swizzle:
                atom = self.swizzle // CHUNK
                at = row % atom * CHUNK + row // atom * self.leading
                at = at + column % 8 * self.swizzle + column // 8 * self.stride
            else:
                at = row * self.stride + column % 8 * CHUNK + column // 8 * self.leading
        at = at + self.start
        if self.swizzle:
            at = at ^ (((at >> 7) - self.base_offset) << 4 & (self.swizzle - CHUNK))
        return at


@functools.lru_cache(maxsize=1024)
def _chunks(bits: int, rows: int, k: int, transposed: bool) -> Array:
    return Descriptor(bits).chunks(rows, k, transposed)


class SharedMatrix:
    """A matrix in shared memory, rows by K."""

    def __init__(self, bits: int, rows: int, kind: str, transposed: bool) -> None:
        self.rows, self.transposed = rows, transposed
        width, self._read = READERS[kind]
        in_chunk = CHUNK * 8 // width
        k = ROW_BYTES * 8 // width
        self.at = _chunks(bits, rows // in_chunk if transposed else rows, k, transposed)

    def read(self, buffer: Any) -> Array:
        """Its elements."""
        found = buffer.typed(np.dtype("V16"))[self.at // CHUNK]
        numbers = self._read(np.ascontiguousarray(found).view(np.uint8).reshape(*self.at.shape, CHUNK))
        if self.transposed:
            numbers = numbers.transpose(0, 2, 1)
        return numbers.reshape(self.rows, -1)

    def grains(self, grain: int) -> Array:
        """Checks the reads of memory."""
        return ((self.at.reshape(-1, 1) + np.arange(0, CHUNK, grain)) // grain).reshape(-1)


class RegisterMatrix:
    """A matrix in registers, rows by K."""

    def __init__(self, numbers: Array) -> None:
        self._numbers = numbers

    def read(self, buffer: Any) -> Array:
        """Its elements."""
        _ = buffer
        return self._numbers

    def grains(self, grain: int) -> Array:
        """A register operand does not read memory."""
        return np.zeros(0, np.int64)


def matrices_of_registers(words: Array, kind: str) -> list[RegisterMatrix]:
    """The A matrices of the words `[lanes, A_WORDS]`: each warp has 16 rows, with the fragments of `mma`."""
    found = rows_of_a(READERS[kind][1](np.ascontiguousarray(words).view(np.uint8).reshape(len(words), A_WORDS, 4)), 16)
    return [RegisterMatrix(rows) for rows in found.reshape(-1, ROWS, found.shape[-1])]


class Wgmma(Work):
    """A `wgmma` of one or more warpgroups, each with its own matrices."""

    def __init__(self, st: Any, form: Form, start: Any, a: list[Any], b: list[Any], packed: bool, site: Any) -> None:
        super().__init__(st, site)
        self.form, self.start, self.a, self.b = form, start, a, b
        self.packed = packed
        """Whether 16-bit accumulators are pairs in 32-bit numbers instead of vectors."""
        self.buffer = st.block.shared
        self.groups = {warp.wgmmas.agent: warp.wgmmas.next for warp in st.warps}
        """The numbers of its groups."""
        self.streams = set(self.groups)
        """The groups of the warps that have not waited for it."""
        self.fence = st.fence.number if st.fence is not None else 0
        """The register fence before its issue."""
        self.read_behind: dict[int, int] = {}
        """By warpgroup, the register fence before threads read its registers."""
        self.found: Array | None = None
        self._registers: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.form.shape

    @property
    def register_dtype(self) -> np.dtype[Any]:
        """The value of a lane's registers as the register type."""
        return np.dtype(np.int32) if self.form.sum == "f16" and self.packed else self.form.dtype

    def complete(self, warps: list[Any] | None = None) -> None:
        _ = warps
        if self.found is not None:
            return
        form = self.form
        shape = (len(self.a), ROWS, form.columns)
        start = self.start
        if isinstance(start, Wgmma):
            start.complete()
            start = start.found
        if start is None:
            start = np.zeros(shape, form.dtype)
        if self.numbers:
            found = np.empty(shape, form.dtype)
            for i, (a, b) in enumerate(zip(self.a, self.b, strict=True)):
                left = a.read(self.buffer).astype(np.float64, copy=False)
                right = b.read(self.buffer).T.astype(np.float64, copy=False)
                with np.errstate(invalid="ignore"):
                    product = (-left if form.negative else left) @ right
                found[i] = rounded_sum(product, start[i], form.dtype, form.saturates)
            self.found = found
        else:
            self.found = start
        self.start = None

    def register(self, index: int) -> Array:
        """The register of each lane."""
        self.complete()
        if self._registers is None:
            assert self.found is not None
            found = to_registers(self.found)
            if self.form.sum == "f16":
                found = found.view(np.int32) if self.packed else found.reshape(len(found), -1, 2)
            self._registers = found
        return self._registers[:, index]

    def is_waited(self, st: Any) -> bool:
        """Whether all of the converged warps have waited for it."""
        return not {warp.wgmmas.agent for warp in st.warps} & self.streams

    def is_read(self, st: Any) -> None:
        """Records a read of its registers by threads."""
        number = st.fence.number if st.fence is not None else 0
        self.read_behind |= {warp.wgmmas.agent: number for warp in st.warps}

    def check_waited(self, st: Any, site: Any) -> None:
        """Reports a use of the result before the wait."""
        mine = {warp.wgmmas.agent for warp in st.warps}
        if self.is_waited(st):
            for agent in mine & self.groups.keys():
                self.block.relies(agent, self.groups[agent], [w for w in st.warps if w.wgmmas.agent == agent])
            return
        held = any(self in stream.open for stream in {w.wgmmas.agent: w.wgmmas for w in st.warps}.values())
        hint = "wait for the wgmma with nvvm.wgmma.wait.group.sync.aligned before the result is used"
        if held:
            hint = "commit the wgmma with nvvm.wgmma.commit.group.sync.aligned, and " + hint
        thread = int(self.threads[0])
        note = Finding(
            "accumulator",
            "the wgmma is issued here",
            self.block.position,
            agent=self.block.name_of(thread),
            location=self.site.location,
        )
        message = f"{site.name} uses the result of a wgmma that may be in flight"
        st.report("accumulator", message, site, st.first_lane(), hint=hint, others=[note])


def to_registers(matrix: Array) -> Array:
    """The matrix elements (warpgroup, row, column) as fragments of each lane."""
    groups, _, columns = matrix.shape
    # Rows are warp, half, eight of four lanes; columns are eights, lanes, two.
    split = matrix.reshape(groups, WARPS, 2, 8, columns // 8, 4, 2)
    return split.transpose(0, 1, 3, 5, 4, 2, 6).reshape(groups * LANES, columns // 2)


def from_registers(registers: Array, columns: int) -> Array:
    """The matrices for fragments of lanes."""
    split = registers.reshape(-1, WARPS, 8, 4, columns // 8, 2, 2)
    return split.transpose(0, 1, 5, 2, 4, 3, 6).reshape(-1, ROWS, columns)
