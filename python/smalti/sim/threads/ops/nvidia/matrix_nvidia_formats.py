# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warp-level MMAs of NVIDIA with a sparse operand A (`mma.sp`) or with scales (`mma` with `.block_scale`), and MMAs by intrinsic
name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..... import dtypes
from ....machine.findings import Site
from ....translation.translator import Step, Unsupported, attribute
from ...execution.code import ThreadTranslator, operation
from ...execution.elements import COLUMNS, LANES, READERS
from ...execution.lanes import Array
from ..arithmetic.conversions import permute_amd
from ..arithmetic.llvm import constant_of
from .matrix_nvidia import Changes, multiply_registers, multiply_vectors, nvvm_shape, saturates

# ---------------------------------------------------------------------------------------------------------------------
# Half of A is zeros. PTX ISA, "Sparse matrix storage": of each chunk of a row there are four bits, two indices
# ---------------------------------------------------------------------------------------------------------------------

_IN_HALVES = ("f16", "bf16", "tf32")
"""Types of which a register holds the metadata of two rows."""


class _Sparse:
    """The positions of the stored elements of A."""

    def __init__(self, kind: str, m: int, k: int, ordered: bool, selector: int) -> None:
        if m != 16:
            raise Unsupported(f"M is {m}; a sparse MMA requires M = 16")
        bits = READERS[kind][0] if kind in READERS else 0
        # 2 of 4 elements, of 4 bits 2 pairs of 4, of 32 bits 1 of 2.
        self.chunk, self.unit = {4: (8, 2), 32: (2, 1)}.get(bits, (4, 1))
        self.halves, self.ordered = bits == 32, ordered
        chunks = k // self.chunk
        # Lanes of four that have the metadata of a row and of the one eight below.
        lanes = chunks // 4
        if lanes not in (1, 2, 4):
            raise Unsupported(
                f"K is {k}; PTX does not have a sparse MMA of {kind} with this K; use a K that the PTX ISA lists"
            )
        if not 0 <= selector < 4 // lanes:
            raise Unsupported(
                f"the sparsity selector is {selector}; for {kind} with K = {k}, it must be from 0 to {4 // lanes - 1}"
            )
        row, chunk = np.arange(m)[:, None], np.arange(chunks)[None, :]
        self.lane = 4 * (row % 8) + lanes * selector
        if kind in _IN_HALVES:
            # "Matrix Fragments for sparse mma.m16n8k16 with .f16 and .bf16 types", and of .tf32.
            self.lane, self.bit = self.lane + chunk // 4, 16 * (row // 8) + 4 * (chunk % 4)
        else:
            # The same of integers and smaller floats: a lane has eight chunks of a row.
            self.lane, self.bit = self.lane + 2 * (chunk // 8) + row // 8, 4 * (chunk % 8) + 0 * row

    def expand(self, st: Any, metadata: Array, stored: Array, site: Site) -> Array:
        """A of each warp. Invalid metadata are reported."""
        warps, m, _ = stored.shape
        words = np.ascontiguousarray(metadata).view(np.uint32).reshape(warps, LANES)
        bits = words[:, self.lane] >> self.bit.astype(np.uint32) & 15
        first, second = (bits & 3).astype(np.int64), (bits >> 2).astype(np.int64)
        apart = first < second if self.ordered else first != second
        wrong = ~np.isin(bits, (0b0100, 0b1110)) if self.halves else ~apart
        if st.machine.how.numbers and wrong.any():
            warp, row, chunk = (int(i) for i in np.argwhere(wrong)[0])
            columns = f"columns {chunk * self.chunk} to {(chunk + 1) * self.chunk - 1}"
            required = "two increasing positions" if self.ordered else "two different positions"
            if self.halves:
                required = "0b0100 or 0b1110"
            pattern = f"{int(bits[warp, row, chunk]):#06b}"
            message = f"the sparsity metadata of row {row}, {columns}, are {pattern}; they must be {required}"
            st.report("assertion", message, site, warp * LANES + int(self.lane[row, chunk]))
        chunks = bits.shape[-1]
        if self.halves:
            found = np.zeros((warps, m, chunks, 2))
            np.put_along_axis(found, first[..., None] // 2, stored[..., None], -1)
            return found.reshape(warps, m, -1)
        found = np.zeros((warps, m, chunks, 4, self.unit))
        places = np.stack([first, second], -1)[..., None]
        np.put_along_axis(found, places, stored.reshape(warps, m, chunks, 2, self.unit), -2)
        return found.reshape(warps, m, -1)


def _expanding(sparse: _Sparse, metadata: int) -> Changes:
    """The transformation of an MMA whose operand of this number after C is the metadata."""
    return lambda st, rest, a, b, site: (sparse.expand(st, rest[metadata], a, site), b)


# ---------------------------------------------------------------------------------------------------------------------
# Scales. PTX ISA, "Block Scaling for mma.sync"
# ---------------------------------------------------------------------------------------------------------------------

_SCALES = {"ue8m0": "f8E8M0FNU", "ue4m3": "f8E4M3FN"}


def _scale_values(name: str) -> Array:
    """The values of scale bytes. A scale is unsigned: one with the sign bit is NaN."""
    known = dtypes.from_mlir(_SCALES[name])
    assert known is not None
    found = np.arange(256).astype(np.uint8).view(known.numpy).astype(np.float64)
    return np.where(np.signbit(found), np.nan, found)


class _Scales:
    """The scales of an operand: data, byte id and thread id are the operands from `first` on, after C."""

    def __init__(self, name: str, rows: int, blocks: int, format_: str, first: int) -> None:
        self.name, self.blocks, self.first, self.values = name, blocks, first, _scale_values(format_)
        self.row = np.arange(rows)
        self.lanes = rows // 8
        """The lanes of four that hold the scales of a row and of the row eight below."""

    def _number(self, st: Any, value: Array, name: str, step: int, limit: int, site: Site) -> int:
        found = st.require_uniform(
            value,
            f"the operand {name}-{self.name} of the scales differs between threads of a warp; it must be warp-uniform",
            site,
        )
        if found % step or not 0 <= found < limit:
            multiple = f"a multiple of {step} and " if step > 1 else ""
            st.stop(
                "assertion",
                f"the operand {name}-{self.name} of the scales is {found}; it must be {multiple}below {limit}",
                site,
            )
        return found

    def of(self, st: Any, rest: list[Array], k: int, site: Site) -> Array:
        """For each warp, row and element along K its scale."""
        data, byte, thread = rest[self.first : self.first + 3]
        start = self._number(st, byte, "byte-id", self.blocks, 4, site)
        chosen = self._number(st, thread, "thread-id", 1, 4 // self.lanes, site)
        codes = np.ascontiguousarray(data).view(np.uint8).reshape(-1, LANES, 4)
        lane = 4 * (self.row % 8) + self.lanes * chosen + self.row // 8
        return np.repeat(self.values[codes[:, lane, start : start + self.blocks]], k // self.blocks, -1)


def _scaling(m: int, k: int, blocks: int, format_: str, first: int, before: Changes | None) -> Changes:
    """The transformation of an MMA with scales, after `before`."""
    of_a, of_b = _Scales("a", m, blocks, format_, first), _Scales("b", COLUMNS, blocks, format_, first + 3)

    def scale(st: Any, rest: list[Array], a: Array, b: Array, site: Site) -> tuple[Array, Array]:
        if before is not None:
            a, b = before(st, rest, a, b, site)
        with np.errstate(invalid="ignore"):
            return a * of_a.of(st, rest, k, site), b * of_b.of(st, rest, k, site).transpose(0, 2, 1)

    return scale


# ---------------------------------------------------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------------------------------------------------


def _in_bytes(kinds: tuple[str, str]) -> tuple[str, str]:
    """The operand types of instructions with 8-bit, 6-bit and 4-bit floats."""
    a, b = ("e2m1 in bytes" if kind == "e2m1" else kind for kind in kinds)
    return a, b


def _word(op: Any, name: str) -> str:
    found = re.search(r"<(\w+)>", str(op.attributes[name])) if name in op.attributes else None
    return found[1] if found else ""


@operation("nvvm.mma.sp.sync")
def _sparse_mma(op: Any, tr: ThreadTranslator) -> Step:
    shape, counts, kinds = nvvm_shape(op)
    if _word(op, "kind"):
        kinds = _in_bytes(kinds)
    selector = constant_of(op.operands[sum(counts) + 1])
    sparse = _Sparse(kinds[0], shape[0], shape[2], "orderedMetadata" in op.attributes, selector)
    return multiply_registers(op, tr, shape, kinds, counts, saturates(op), stored=2, changes=_expanding(sparse, 0))


@operation("nvgpu.mma.sp.sync")
def _sparse_vectors(op: Any, tr: ThreadTranslator) -> Step:
    m, _, k = attribute(op, "mmaShape")
    element = str(op.operands[0].type.element_type)
    kind = {"f32": "tf32", "i8": "s8", "i4": "s4"}.get(element, element)
    sparse = _Sparse(kind, m, k, False, attribute(op, "sparsitySelector", 0))
    return multiply_vectors(op, tr, 2, _expanding(sparse, 0))


_BLOCKS = {"x1": 1, "x2": 2, "x4": 4}


@operation("nvvm.mma.block_scale", "nvvm.mma.sp.block_scale")
def _scaled_mma(op: Any, tr: ThreadTranslator) -> Step:
    shape, counts, kinds = nvvm_shape(op)
    if _word(op, "kind") == "mxf8f6f4":
        kinds = _in_bytes(kinds)
    (m, _, k), is_sparse, expand = shape, ".sp." in op.name, None
    if is_sparse:
        selector = constant_of(op.operands[sum(counts) + 1])
        expand = _expanding(_Sparse(kinds[0], m, k, True, selector), 0)
    blocks = _BLOCKS[_word(op, "scaleVecSize")]
    changes = _scaling(m, k, blocks, _word(op, "blockScaleFormat"), 2 if is_sparse else 0, expand)
    return multiply_registers(op, tr, shape, kinds, counts, stored=2 if is_sparse else 1, changes=changes)


_INTRINSIC = re.compile(
    r"llvm\.nvvm\.mma\.(?P<popc>(?:and|xor)\.popc\.)?(?P<sparse>sp\.(?P<ordered>ordered\.metadata\.)?)?"
    r"(?P<scaled>block\.scale\.)?m(?P<m>\d+)n8k(?P<k>\d+)\.row\.col\."
    r"(?:kind\.(?P<bytes>f8f6f4)\.|(?P<mx>mxf\w+)\.(?:scale\.(?P<blocks>[124])x\.)?)?(?P<satfinite>satfinite\.)?(?P<types>.*)"
)
_DEFAULT_BLOCKS = {"mxf8f6f4": 1, "mxf4": 2}


def _types(text: str, scaled: bool) -> tuple[str, str, str] | None:
    """The types of A and B, and of scales, by the suffix of an intrinsic's name."""
    words = text.split(".")
    if scaled:
        _, a, b, _, scales = words if len(words) == 5 else ("",) * 5
        return a, b, scales
    if words in (["f16", "f16"], ["f32", "f32"]):
        return "f16", "f16", ""
    if len(words) == 4 and words[0] == words[3]:
        return words[1], words[2], ""
    return (words[0], words[-1], "") if len(words) <= 2 else None


@operation("llvm.call_intrinsic")
def _intrinsic(op: Any, tr: ThreadTranslator) -> Step:
    """MMAs by intrinsic name, since `nvvm.mma.sync` does not accept 8-bit floats, and the byte permutation of AMD."""
    name = attribute(op, "intrin")
    if name == "llvm.amdgcn.perm":
        return permute_amd(op, tr)
    found = _INTRINSIC.fullmatch(name)
    types = _types(found["types"], bool(found["scaled"])) if found else None
    # Fragments of f16 of `mma.m8n8k4` are others.
    quads = types is not None and types[0] == "f16" and found is not None and found["m"] == "8"
    if found is None or types is None or quads or any(kind not in READERS for kind in types[:2]):
        raise Unsupported(f"intrinsic '{name}'")
    m, k, (kind_a, kind_b, format_) = int(found["m"]), int(found["k"]), types
    kinds, stored = (kind_a, kind_b), 2 if found["sparse"] else 1
    if "f8f6f4" in (found["bytes"] or found["mx"] or ""):
        kinds = _in_bytes(kinds)
    widths = [max(READERS[kind][0], 32) // READERS[kind][0] for kind in kinds]
    of_a, of_b = m * k // stored // LANES // widths[0], COLUMNS * k // LANES // widths[1]
    behind = (2 if stored > 1 else 0) + (6 if found["scaled"] else 0)
    counts = (of_a, of_b, len(op.operands) - of_a - of_b - behind)
    changes: Changes | None = None
    if found["sparse"]:
        selector = constant_of(op.operands[sum(counts) + 1])
        changes = _expanding(_Sparse(kinds[0], m, k, bool(found["ordered"]), selector), 0)
    if found["scaled"]:
        blocks = int(found["blocks"] or _DEFAULT_BLOCKS.get(found["mx"], 0))
        if not blocks or format_ not in _SCALES:
            raise Unsupported(f"intrinsic '{name}'")
        changes = _scaling(m, k, blocks, format_, behind - 6, changes)
    of_bits = f"{found['popc'].partition('.')[0]}_popc" if found["popc"] else ""
    saturated = bool(found["satfinite"])
    return multiply_registers(op, tr, (m, COLUMNS, k), kinds, counts, saturated, of_bits, stored, changes)
