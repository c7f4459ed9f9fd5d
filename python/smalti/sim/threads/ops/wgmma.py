"""`nvvm`: products of warpgroups, which run beside the program. PTX ISA, "Asynchronous Warpgroup Level Matrix
Instructions": shapes, fragments, matrix descriptors and their swizzles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...engines import happens_at_once
from ...findings import Finding
from ...matmul import multiply, to_float, truncate_to_tf32
from ...program import Step, Unsupported, attribute
from ..code import ThreadTranslator, operation
from ..engines import Work
from ..lanes import Array, spread
from ..pending import Pending
from .gpu import whole_warps

ROWS = 64
CHUNK = 16
"""Bytes of which descriptors say where they are."""
ROW_BYTES = 32
"""Bytes of the elements along k that a product takes."""
WARPS = 4
LANES = 128


def _types() -> dict[str, np.dtype[Any]]:
    from .... import dtypes

    names = {"f16": "f16", "bf16": "bf16", "tf32": "f32", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "s8": "i8", "u8": "u8"}
    found: dict[str, np.dtype[Any]] = {}
    for name, mlir in names.items():
        known = dtypes.from_mlir(mlir)
        found[name] = known.numpy if known is not None else np.dtype(np.uint8)
    return found


class Descriptor:
    """Where a matrix in shared memory is."""

    def __init__(self, bits: int) -> None:
        def field(at: int) -> int:
            return (bits >> at & 0x3FFF) << 4

        self.start, self.leading, self.stride = field(0), field(16), field(32)
        self.base_offset = bits >> 49 & 7
        self.swizzle = (0, 128, 64, 32)[bits >> 62 & 3]

    def chunks(self, rows: int, k: int, is_k_inside: bool) -> Array:
        """The first bytes of chunks: of each row the two halves of its k elements; or else for eight rows (16 bytes of
        them) one for each k."""
        if is_k_inside:
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


class Operand:
    """A matrix in shared memory, rows by k."""

    def __init__(self, bits: int, rows: int, dtype: np.dtype[Any], is_k_inside: bool) -> None:
        self.dtype, self.rows, self.is_k_inside = dtype, rows, is_k_inside
        self.k = ROW_BYTES // dtype.itemsize
        in_chunk = CHUNK // dtype.itemsize
        self.at = Descriptor(bits).chunks(rows if is_k_inside else rows // in_chunk, self.k, is_k_inside)

    def read(self, buffer: Any) -> Array:
        found = buffer.typed(np.dtype("V16"))[self.at // CHUNK]
        numbers = np.ascontiguousarray(found).view(self.dtype).reshape(*self.at.shape, -1)
        if self.is_k_inside:
            return numbers.reshape(self.rows, self.k)
        return numbers.transpose(0, 2, 1).reshape(self.rows, self.k)

    def grains(self, grain: int) -> Array:
        return ((self.at.reshape(-1, 1) + np.arange(0, CHUNK, grain)) // grain).reshape(-1)


class Product(Work):
    """A product of one or more warpgroups, each with its own matrices."""

    def __init__(self, st: Any, accumulator: Any, a: list[Operand], b: list[Operand], columns: int, site: Any) -> None:
        super().__init__(st, site)
        self.accumulator, self.a, self.b, self.columns = accumulator, a, b, columns
        self.buffer = st.block.shared
        self.sign = 1.0
        self.tf32 = False
        self.dtype: np.dtype[Any] = np.dtype(np.float32)
        self.groups = {warp.products.agent: warp.products.next for warp in st.warps}
        """The numbers of its groups."""
        self.streams = set(self.groups)
        """Of those who have not waited for it."""
        self.found: Array | None = None
        self._registers: Array | None = None

    def complete(self, warps: list[Any] | None = None) -> None:
        _ = warps
        if self.found is not None:
            return
        shape = (len(self.a), ROWS, self.columns)
        start = self.accumulator
        if isinstance(start, Product):
            start.complete()
            start = start.found
        if start is None:
            start = np.zeros(shape, self.dtype)
        if self.numbers:
            found = np.empty(shape, self.dtype)
            for i, (a, b) in enumerate(zip(self.a, self.b, strict=True)):
                found[i] = self._multiply(start[i], a.read(self.buffer), b.read(self.buffer).T)
            self.found = found
        else:
            self.found = start
        self.accumulator = None

    def _multiply(self, start: Array, left: Array, right: Array) -> Array:
        """Products are exact, and sums are rounded once for each instruction."""
        if self.dtype.kind == "i":
            return multiply(start, left, right)
        left, right = to_float(left), to_float(right)
        if self.tf32:
            left, right = truncate_to_tf32(left), truncate_to_tf32(right)
        product = left.astype(np.float64) @ right.astype(np.float64)
        with np.errstate(all="ignore"):
            return (start + self.sign * product).astype(self.dtype)

    def register(self, index: int) -> Array:
        """The register of each lane."""
        self.complete()
        if self._registers is None:
            assert self.found is not None
            self._registers = to_registers(self.found)
        return self._registers[:, index]

    def check_waited(self, st: Any, site: Any) -> None:
        """Reports that a result is used too early."""
        mine = {warp.products.agent for warp in st.warps}
        if not mine & self.streams:
            for agent in mine & self.groups.keys():
                self.block.relies(agent, self.groups[agent], st.warps)
            return
        held = any(self in stream.open for stream in {w.products.agent: w.products for w in st.warps}.values())
        edge = "nvvm.wgmma.wait.group.sync.aligned that covers it"
        if held:
            edge = "nvvm.wgmma.commit.group.sync.aligned behind the product, and " + edge
        thread = int(self.threads[0])
        note = Finding(
            "accumulator",
            "the product is started here",
            self.block.position,
            self.block.name_of(thread),
            self.site.location,
        )
        message = f"{site.name} uses the result of a product that may not be there"
        st.report("accumulator", message, site, st.first_lane(), edge=edge, others=[note])


def to_registers(matrix: Array) -> Array:
    """The elements of matrices (warpgroup, row, column) as registers (lane, register)."""
    groups, _, columns = matrix.shape
    # Rows are warp, half, eight of four lanes; columns are eights, lanes, two.
    split = matrix.reshape(groups, WARPS, 2, 8, columns // 8, 4, 2)
    return split.transpose(0, 1, 3, 5, 4, 2, 6).reshape(groups * LANES, columns // 2)


def from_registers(registers: Array, columns: int) -> Array:
    """The matrices that registers hold."""
    split = registers.reshape(-1, WARPS, 8, 4, columns // 8, 2, 2)
    return split.transpose(0, 1, 5, 2, 4, 3, 6).reshape(-1, ROWS, columns)


def _shape(op: Any) -> tuple[int, int, int]:
    words = re.findall(r"\b([mnk]) = (\d+)", str(op.attributes["shape"]))
    sizes = {name: int(size) for name, size in words}
    return sizes["m"], sizes["n"], sizes["k"]


def _word(op: Any, name: str) -> str:
    return str(op.attributes[name]).rpartition("<")[2].strip("<>").rpartition(" ")[2]


@operation("nvvm.wgmma.mma_async")
def _multiply(op: Any, tr: ThreadTranslator) -> Step:
    accumulator, first, second = tr.operands(op)
    (result,), site = tr.results(op), tr.site(op)
    _, columns, k = _shape(op)
    types = _types()
    kinds = [types.get(_word(op, name)) for name in ("typeA", "typeB")]
    left, right = kinds
    if left is None or right is None or _word(op, "typeA") == "u8" or _word(op, "typeB") == "u8":
        raise Unsupported(f"matrices of {_word(op, 'typeA')} and {_word(op, 'typeB')}")
    if _word(op, "typeD") not in ("f32", "s32"):
        raise Unsupported(f"an accumulator of {_word(op, 'typeD')}")
    dtype = np.dtype(np.float32 if _word(op, "typeD") == "f32" else np.int32)
    if k * left.itemsize != ROW_BYTES:
        raise Unsupported(f"a product of {k} along k")
    tr.warpgroups = True
    for kind in (left, right):
        tr.uses_shared(kind.itemsize)
    keeps = _word(op, "scaleD") != "zero"
    negative = (_word(op, "scaleA") == "neg") != (_word(op, "scaleB") == "neg")
    # Of A rows, of B columns lie along k.
    inside = (_word(op, "layoutA") == "row", _word(op, "layoutB") == "col")
    tf32 = _word(op, "typeA") == "tf32"
    count = columns // 2

    def step(st: Any) -> None:
        whole_warps(st, "a product", site)
        if st.mask is not None or len(st.warps) % WARPS:
            st.stop("divergence", "a product that not all warps of a warpgroup come to", site)
        wide = np.dtype(np.int64)
        operands: list[list[Operand]] = []
        for slot, rows, kind, is_inside in ((first, ROWS, left, inside[0]), (second, columns, right, inside[1])):
            bits = spread(st.v[slot], wide, st.lanes).reshape(-1, LANES)
            if (bits != bits[:, :1]).any():
                st.stop("divergence", "threads of a warpgroup give different matrices", site)
            operands.append([Operand(int(of) & (1 << 64) - 1, rows, kind, is_inside) for of in bits[:, 0]])
        a, b = operands
        start = _accumulator(st.v[accumulator], count, columns, dtype, st.lanes) if keeps else None
        product = Product(st, start, a, b, columns, site)
        product.dtype, product.tf32, product.sign = dtype, tf32, -1.0 if negative else 1.0
        _touch(st, a, b, site)
        for warp in st.warps[::WARPS]:
            warp.products.open.append(product)
        if happens_at_once(st):
            product.complete()
        st.v[result] = tuple(Pending(product, i) for i in range(count))

    return step


def _accumulator(value: Any, count: int, columns: int, dtype: np.dtype[Any], lanes: int) -> Any:
    """The product whose result goes on, or matrices."""
    items: list[Any] = list(value) if value is not None else [np.zeros(lanes, dtype)] * count
    first: Any = items[0]
    if first.__class__ is Pending and all(
        item.__class__ is Pending and item.product is first.product and item.index == i and item.lanes is None
        for i, item in enumerate(items)
    ):
        return first.product
    numbers = [item.force() if item.__class__ is Pending else spread(item, dtype, lanes) for item in items]
    return from_registers(np.stack(numbers, -1), columns)


def _touch(st: Any, a: list[Operand], b: list[Operand], site: Any) -> None:
    """Checks what the warps of each warpgroup let the product read."""
    buffer = st.block.shared
    grains = []
    for left, right in zip(a, b, strict=True):
        row = np.concatenate([left.grains(buffer.grain), right.grains(buffer.grain)])
        grains += [row] * WARPS
    lanes = np.arange(0, st.lanes, st.block.warp_size)
    rows = np.array(grains)
    if rows.size and (int(rows.max()) + 1) * buffer.grain > buffer.size:
        message = f"a product reads up to byte {(int(rows.max()) + 1) * buffer.grain} of {buffer.name}, which has"
        st.stop("out-of-bounds", f"{message} {buffer.size}", site, 0)
    agents = np.array([warp.products.agent for warp in st.warps], np.int32)
    ends = np.array([warp.products.next for warp in st.warps], np.int32)
    st.reads_grains(buffer, lanes, rows, "the product", site, (agents, ends))


@operation("nvvm.wgmma.fence.aligned")
def _fence(op: Any, tr: ThreadTranslator) -> None:
    tr.warpgroups = True


@operation("nvvm.wgmma.commit.group.sync.aligned")
def _commit(op: Any, tr: ThreadTranslator) -> Step:
    site = tr.site(op)
    tr.warpgroups = True

    def step(st: Any) -> None:
        whole_warps(st, "an end of a group of products", site)
        for stream in {warp.products.agent: warp.products for warp in st.active_warps()}.values():
            st.block.commits(stream, site)

    return step


@operation("nvvm.wgmma.wait.group.sync.aligned")
def _wait(op: Any, tr: ThreadTranslator) -> Step:
    left, site = attribute(op, "group"), tr.site(op)
    tr.warpgroups = True

    def step(st: Any) -> None:
        whole_warps(st, "a wait for products", site)
        streams: set[int] = set()
        for warp in st.active_warps():
            stream = warp.products
            upto = stream.committed - left
            if upto <= 0:
                continue
            if stream.agent not in streams:
                streams.add(stream.agent)
                st.block.waits_for(stream, upto, site, {stream.agent})
                for number in sorted(n for n in stream.groups if n <= upto):
                    for product in stream.groups.pop(number):
                        product.complete()
                        product.streams.discard(stream.agent)
                stream.completed = max(stream.completed, upto)
            st.learn(warp, stream.agent, upto)

    return step
