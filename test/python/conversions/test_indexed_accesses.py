# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers, scatters and atomic operations of block-level kernels, on the emulator and the simulator, against numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import smalti
from smalti import sim, targets
from smalti.emulator import Emulation
from smalti.emulator.options import SANITIZERS

Array = np.ndarray[Any, Any]

THREADS = 128
CHIPS = ("sm_80", "sm_90a", "gfx942", "gfx1201")
TARGETS = (*(targets.EMULATED + chip for chip in CHIPS), "sim:sm_90a")

TYPES: dict[str, Any] = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}

SLOTS = 48
"""The elements of the memory that is accessed at indices."""


def layout(name: str, shape: tuple[int, ...], target: str) -> str:
    """A layout for the block on a chip."""
    lanes = targets.get(target.partition(":")[2]).wave_size
    warps = THREADS // lanes
    if name.startswith("strided"):
        return f"#mosaic_gpu.WGStridedFragLayout<{list(shape)}, {name[-1]}>"
    if name == "tiled":
        tiles = f"[[{2 * THREADS}], [{2 * lanes}], [2]], warp_dims = [-3], lane_dims = [-2]"
    elif name == "warps":
        tiles = f"[[{lanes}], [1]], warp_dims = [#mosaic_gpu.Replicated<times = {warps}>], lane_dims = [-2]"
    else:
        assert name == "lanes"
        tiles = (
            f"[[{THREADS // 4}], [{lanes // 4}], [1]], warp_dims = [-3], "
            "lane_dims = [-2, #mosaic_gpu.Replicated<times = 4>]"
        )
    return f"#mosaic_gpu.TiledLayout<{tiles}, vector_dim = -1>"


LAYOUTS = [("strided1", (256,)), ("strided2", (4, 64)), ("tiled", (256,)), ("warps", (128,)), ("lanes", (64,))]


def of(element: str, shape: tuple[int, ...], kind: str = "vector") -> str:
    return f"{kind}<{'x'.join(map(str, shape))}x{element}>"


class Body:
    """The text of a kernel: its arguments, and ops on vectors in one layout."""

    def __init__(self, target: str, name: str, shape: tuple[int, ...]) -> None:
        self.target, self.shape = target, shape
        self.layout = layout(name, shape, target)
        self.arguments: list[str] = []
        self.lines: list[str] = []

    def memory(self, element: str, shape: tuple[int, ...] | None = None) -> str:
        """An argument."""
        self.arguments.append(of(element, self.shape if shape is None else shape, "memref"))
        return f"%a{len(self.arguments) - 1}"

    def line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def load(self, name: str, element: str, layouts: str = "") -> None:
        """A vector with the elements of a new argument; a mask is stored as i32."""
        declared = f"out_layouts = [{layouts or self.layout}]"
        stored = "i32" if element == "i1" else element
        memory = self.memory(stored)
        source, kind = of(stored, self.shape, "memref"), of(stored, self.shape)
        into = f"{name}_stored" if element == "i1" else name
        self.line(f"%{into} = mosaic_gpu.vector_load {memory} {{optimized = false, {declared}}} : {source} -> {kind}")
        if element == "i1":
            self.line(f"%{name}_zero = arith.constant dense<0> : {kind}")
            self.line(f"%{name} = arith.cmpi ne, %{into}, %{name}_zero {{{declared}}} : {kind}")

    def store(self, name: str, element: str) -> None:
        """Stores a vector to a new argument."""
        memory = self.memory(element)
        types = f"{of(element, self.shape)}, {of(element, self.shape, 'memref')}"
        self.line(f"mosaic_gpu.vector_store %{name}, {memory} {{in_layouts = [{self.layout}]}} : {types}")

    def layouts(self, operands: int, results: int = 0) -> str:
        parts = [f"in_layouts = [{', '.join([self.layout] * operands)}]"]
        if results:
            parts.append(f"out_layouts = [{self.layout}]")
        return f"{{{', '.join(parts)}}}"

    def shared(self, element: str, memory: str) -> str:
        """Copies an argument of SLOTS elements to shared memory: its name and type there."""
        kind = of(element, (SLOTS,), "memref")
        there = kind.replace(">", ", #gpu.address_space<workgroup>>")
        self.line(f"%shared = mosaic_gpu.slice_smem 0 : {there}")
        self._copy(element, memory, kind, "%shared", there)
        return there

    def back(self, element: str, memory: str, there: str) -> None:
        """Copies the shared memory to an argument."""
        self._copy(element, "%shared", there, memory, of(element, (SLOTS,), "memref"))

    def _copy(self, element: str, source: str, source_type: str, target: str, target_type: str) -> None:
        lanes = targets.get(self.target.partition(":")[2]).wave_size
        one = (
            f"#mosaic_gpu.TiledLayout<[[{SLOTS // 3}], [1]], warp_dims = "
            f"[#mosaic_gpu.Replicated<times = {THREADS // lanes}>], "
            f"lane_dims = [-2, #mosaic_gpu.Replicated<times = {lanes // (SLOTS // 3)}>], vector_dim = -1>"
        )
        kind, name = of(element, (SLOTS,)), f"%copy{len(self.lines)}"
        self.line("gpu.barrier")
        self.line(
            f"{name} = mosaic_gpu.vector_load {source} {{optimized = false, out_layouts = [{one}]}} : {source_type} -> {kind}"
        )
        self.line(f"mosaic_gpu.vector_store {name}, {target} {{in_layouts = [{one}]}} : {kind}, {target_type}")
        self.line("gpu.barrier")

    def compile(self) -> Callable[..., Any]:
        declared = ", ".join(f"%a{index}: {kind}" for index, kind in enumerate(self.arguments))
        return _compile("\n".join(self.lines), declared, self.target)


@functools.cache
def _compile(lines: str, declared: str, target: str) -> Callable[..., Any]:
    text = f"""
module attributes {{gpu.container_module}} {{
gpu.module @indexed_module {{
  gpu.func @indexed({declared}) kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>,
      known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
{lines}
    gpu.return
  }}
}}
}}
"""
    if target.startswith("sim:"):
        return sim.simulate(text, target)
    return smalti.compile(text, target=target).launcher


def numbers(element: str, shape: tuple[int, ...], seed: int) -> Array:
    """Small integers, which every type represents."""
    return np.random.default_rng(seed).integers(0, 8, shape).astype(TYPES[element])


def indices(shape: tuple[int, ...], index: str, seed: int, unique: bool = False) -> tuple[Array, Array]:
    """Indices and a mask: indices of masked elements are far out of bounds, others occur several times."""
    random = np.random.default_rng(seed)
    mask = random.random(shape) < 0.6
    at = random.integers(0, SLOTS, shape)
    if unique:
        flat = np.full(mask.size, SLOTS)
        flat[: SLOTS - 5] = random.permutation(SLOTS)[: SLOTS - 5]
        at = random.permutation(flat).reshape(shape)
        mask = at < SLOTS
    far = np.where(random.random(shape) < 0.5, -(1 << 30), (1 << 31) - 1)
    return np.where(mask, at, far).astype(TYPES[index]), mask


# --- Gathers and scatters ---------------------------------------------------------------------------------------------

ACCESSES = [(element, index) for element in TYPES if element != "index" for index in ("i32", "i64", "index")]


@pytest.mark.grid(12)
@pytest.mark.parametrize(("element", "index"), ACCESSES)
@pytest.mark.parametrize(("name", "shape"), LAYOUTS)
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("target", TARGETS)
def test_gathers(target: str, shared: bool, name: str, shape: tuple[int, ...], element: str, index: str) -> None:
    body = Body(target, name, shape)
    memory, kind = body.memory(element, (SLOTS,)), of(element, (SLOTS,), "memref")
    if shared:
        kind, memory = body.shared(element, memory), "%shared"
    for vector, ty in (("i", index), ("mask", "i1"), ("padding", element)):
        body.load(vector, ty)
    types = f"{kind}, {of(index, shape)}, {of('i1', shape)}, {of(element, shape)} into {of(element, shape)}"
    body.line(f"%r = vector.gather {memory}[%c0] [%i], %mask, %padding {body.layouts(3, 1)} : {types}")
    body.store("r", element)

    values, padding = numbers(element, (SLOTS,), 1), numbers(element, shape, 2)
    at, mask = indices(shape, index, 3)
    found = np.zeros(shape, TYPES[element])
    body.compile()(values, at, mask.astype(np.int32), padding, found)
    expected = np.where(mask, values[np.where(mask, at, 0)], padding)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.grid(12)
@pytest.mark.parametrize(("element", "index"), ACCESSES)
@pytest.mark.parametrize(("name", "shape"), LAYOUTS)
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("target", TARGETS)
def test_scatters(target: str, shared: bool, name: str, shape: tuple[int, ...], element: str, index: str) -> None:
    body = Body(target, name, shape)
    argument = memory = body.memory(element, (SLOTS,))
    kind = of(element, (SLOTS,), "memref")
    if shared:
        kind, memory = body.shared(element, memory), "%shared"
    for vector, ty in (("i", index), ("mask", "i1"), ("v", element)):
        body.load(vector, ty)
    types = f"{kind}, {of(index, shape)}, {of('i1', shape)}, {of(element, shape)}"
    body.line(f"vector.scatter {memory}[%c0] [%i], %mask, %v {body.layouts(3)} : {types}")
    if shared:
        body.back(element, argument, kind)

    found, stored = numbers(element, (SLOTS,), 1), numbers(element, shape, 2)
    at, mask = indices(shape, index, 3, unique=True)
    expected = found.copy()
    expected[at[mask]] = stored[mask]
    body.compile()(found, at, mask.astype(np.int32), stored)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_splats_and_offsets(target: str) -> None:
    """One index for all elements, in a row of a matrix."""
    body = Body(target, "strided1", (256,))
    memory = body.memory("f32", (3, 5))
    body.line("%c2 = arith.constant 2 : index")
    body.line("%c1 = arith.constant 1 : index")
    body.line("%i = arith.constant dense<3> : vector<256xi32>")
    body.line("%on = arith.constant dense<true> : vector<256xi1>")
    body.line("%v = arith.constant dense<-1.0> : vector<256xf32>")
    types = "memref<3x5xf32>, vector<256xi32>, vector<256xi1>, vector<256xf32>"
    body.line(f"%r = vector.gather {memory}[%c2, %c1] [%i], %on, %v : {types} into vector<256xf32>")
    body.line("gpu.barrier")
    body.line(f"vector.scatter {memory}[%c1, %c1] [%i], %on, %v : {types}")
    body.store("r", "f32")
    values, found = np.arange(15, dtype=np.float32).reshape(3, 5), np.zeros(256, np.float32)
    expected = values.copy()
    expected[1, 4] = -1
    body.compile()(values, found)
    assert (found == 14).all()
    np.testing.assert_array_equal(values, expected)


# --- Atomic operations ------------------------------------------------------------------------------------------------

FLOATS, INTEGERS = ("f16", "bf16", "f32", "f64"), ("i8", "i16", "i32", "i64")


def unsigned(function: Any) -> Callable[[Array, Array], Array]:
    return lambda x, y: function(x.view(f"u{x.itemsize}"), y.view(f"u{x.itemsize}")).view(x.dtype)


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Array, Array], Array]]] = {
    "addf": (FLOATS, np.add),
    "maximumf": (FLOATS, np.maximum),
    "minimumf": (FLOATS, np.minimum),
    "maxnumf": (FLOATS, np.fmax),
    "minnumf": (FLOATS, np.fmin),
    "addi": (INTEGERS, np.add),
    "andi": (INTEGERS, np.bitwise_and),
    "ori": (INTEGERS, np.bitwise_or),
    "xori": (INTEGERS, np.bitwise_xor),
    "maxs": (INTEGERS, np.maximum),
    "mins": (INTEGERS, np.minimum),
    "maxu": (INTEGERS, unsigned(np.maximum)),
    "minu": (INTEGERS, unsigned(np.minimum)),
}
CASES = [(kind, element) for kind, (elements, _) in KINDS.items() for element in elements]


def operands(kind: str, element: str, shape: tuple[int, ...], seed: int) -> Array:
    """Values whose combination does not depend on the order."""
    values = numbers(element, shape, seed)
    random = np.random.default_rng(seed + 1)
    if kind == "addf":
        return values % 2 if element == "bf16" else values
    if element in FLOATS:
        special = np.array([np.nan, np.inf, -np.inf, 3, -3], values.dtype)
        # Without signed zeros, whose order is undefined for maxnumf.
        return np.where(random.random(shape) < 0.2, special[random.integers(0, 5, shape)], values + 1)
    return random.integers(-100, 100, shape).astype(values.dtype)


@pytest.mark.grid(8)
@pytest.mark.parametrize(("kind", "element"), CASES)
@pytest.mark.parametrize(("name", "shape"), LAYOUTS)
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("target", TARGETS)
def test_atomics(target: str, shared: bool, name: str, shape: tuple[int, ...], kind: str, element: str) -> None:
    body = Body(target, name, shape)
    argument = memory = body.memory(element, (SLOTS,))
    memory_type = of(element, (SLOTS,), "memref")
    if shared:
        memory_type, memory = body.shared(element, memory), "%shared"
    for vector, ty in (("i", "i32"), ("mask", "i1"), ("v", element)):
        body.load(vector, ty)
    types = f"{of(element, shape)}, {memory_type}, {of('i32', shape)}"
    scope = "block" if shared else "device"
    body.line(f"mosaic_gpu.atomic_rmw {kind} %v, {memory}[%i] mask(%mask) {scope} relaxed {body.layouts(3)} : {types}")
    if shared:
        body.back(element, argument, memory_type)

    found, values = operands(kind, element, (SLOTS,), 1), operands(kind, element, shape, 2)
    at, mask = indices(shape, "i32", 3)
    expected = found.copy()
    for slot, value in zip(at[mask], values[mask], strict=True):
        with np.errstate(all="ignore"):
            expected[slot : slot + 1] = KINDS[kind][1](expected[slot : slot + 1], np.asarray([value]))
    body.compile()(found, at, mask.astype(np.int32), values)
    # numpy compares NaN with NaN only in its own types.
    wide = np.float64 if element in FLOATS else found.dtype
    np.testing.assert_array_equal(found.astype(wide), expected.astype(wide))


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize(("name", "shape"), LAYOUTS)
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("target", TARGETS)
def test_old_values(target: str, shared: bool, name: str, shape: tuple[int, ...], element: str) -> None:
    """Tickets: each operation on a counter returns another number, also if several threads hold an element."""
    body = Body(target, name, shape)
    argument = memory = body.memory(element, (SLOTS,))
    memory_type = of(element, (SLOTS,), "memref")
    if shared:
        memory_type, memory = body.shared(element, memory), "%shared"
    body.load("i", "i64")
    body.load("mask", "i1")
    body.line(f"%one = arith.constant dense<1> : {of(element, shape)}")
    types = f"{of(element, shape)}, {memory_type}, {of('i64', shape)} -> {of(element, shape)}"
    body.line(
        f"%old = mosaic_gpu.atomic_rmw addi %one, {memory}[%i] mask(%mask) device acq_rel {body.layouts(3, 1)} : {types}"
    )
    body.store("old", element)
    if shared:
        body.back(element, argument, memory_type)

    counters, old = numbers(element, (SLOTS,), 1), np.full(shape, -1, TYPES[element])
    at, mask = indices(shape, "i64", 3)
    before = counters.copy()
    body.compile()(counters, at, mask.astype(np.int32), old)
    assert (old[~mask] == 0).all()
    for slot in range(SLOTS):
        tickets = np.sort(old[mask & (at == slot)])
        np.testing.assert_array_equal(tickets, before[slot] + np.arange(len(tickets)))
        assert counters[slot] == before[slot] + len(tickets)


@pytest.mark.grid(8)
@pytest.mark.parametrize("element", [*INTEGERS, "f8E5M2", "bf16", "f16", "f32", "f64"])
@pytest.mark.parametrize("name", ["strided1", "warps"])
@pytest.mark.parametrize("kind", ["cas", "assign"])
@pytest.mark.parametrize("target", TARGETS)
def test_claims(target: str, kind: str, name: str, element: str) -> None:
    """Elements claim slots: the old values and the last value of a slot are its first value and all claims."""
    shape = (128,)
    body = Body(target, name, shape)
    memory, memory_type = body.memory(element, (SLOTS,)), of(element, (SLOTS,), "memref")
    for vector, ty in (("i", "index"), ("free", element), ("me", element)):
        body.load(vector, ty)
    types = f"{of(element, shape)}, {memory_type}, {of('index', shape)} -> {of(element, shape)}"
    if kind == "cas":
        body.line(
            f"%old = mosaic_gpu.atomic_cas %free, %me, {memory}[%i] device relaxed {body.layouts(3, 1)} : {types}"
        )
    else:
        body.line(
            f"%old = mosaic_gpu.atomic_rmw assign %me, {memory}[%i] device relaxed {body.layouts(2, 1)} : {types}"
        )
    body.store("old", element)

    random = np.random.default_rng(1)
    at = random.integers(0, SLOTS, shape)
    # NaN equals itself, and -0.0 does not equal 0.0.
    is_float = element not in INTEGERS
    free = np.full(shape, np.nan if is_float else 0, TYPES[element])
    slots = np.full(SLOTS, np.nan if is_float else 0, TYPES[element])
    taken = random.random(SLOTS) < 0.3
    slots[taken] = -0.0 if is_float else 1
    before = slots.copy()
    # 1 to 3, so that several elements have the same value.
    me, old = (1 + np.arange(128) % 3).astype(TYPES[element]), np.zeros(shape, TYPES[element])
    body.compile()(slots, at, free, me, old)

    def bits(array: Any) -> list[bytes]:
        return sorted(value.tobytes() for value in np.asarray(array).reshape(-1))

    for slot in range(SLOTS):
        mine = at == slot
        if kind == "assign":
            # A chain: the first value and all claims are old values, or the last value.
            assert bits([*old[mine], slots[slot]]) == bits([before[slot], *me[mine]])
        elif taken[slot] or not mine.any():
            assert bits([*old[mine], slots[slot]]) == bits([before[slot]] * (1 + mine.sum()))
        else:
            # One element replaced the free slot, and the others observe it.
            assert bits(old[mine]) == bits([before[slot], *[slots[slot]] * (mine.sum() - 1)])
            assert slots[slot] in me[mine]


@pytest.mark.parametrize("target", TARGETS)
def test_equal_operations(target: str) -> None:
    """Each element of a splat is one operation."""
    body = Body(target, "strided1", (384,))
    memory = body.memory("i32", (4,))
    body.line("%i = arith.constant dense<2> : vector<384xi32>")
    types = "vector<384xi32>, memref<4xi32>, vector<384xi32>"
    body.line(f"mosaic_gpu.atomic_rmw addi %i, {memory}[%i] device relaxed : {types}")
    counters = np.zeros(4, np.int32)
    body.compile()(counters)
    assert counters.tolist() == [0, 0, 2 * 384, 0]


# --- Findings ---------------------------------------------------------------------------------------------------------


def test_wrong_indices_are_findings() -> None:
    text = """
module attributes {gpu.container_module} {
gpu.module @indexed_module {
  gpu.func @indexed(%m: memref<48xf32>, %at: memref<128xi32>, %v: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = mosaic_gpu.vector_load %at {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]} : memref<128xi32> -> vector<128xi32>
    %x = mosaic_gpu.vector_load %v {out_layouts = [#mosaic_gpu.WGStridedFragLayout<[128], 1>]} : memref<128xf32> -> vector<128xf32>
    %on = arith.constant dense<true> : vector<128xi1>
    vector.scatter %m[%c0] [%i], %on, %x : memref<48xf32>, vector<128xi32>, vector<128xi1>, vector<128xf32>
    gpu.return
  }
}
}
"""
    kernel = sim.simulate(text, "sim:sm_90a")

    def find(at: Array, values: Array) -> list[tuple[str, str]]:
        found = kernel.find(np.zeros(48, np.float32), at.astype(np.int32), values)
        return [(finding.kind, finding.message) for finding in found]

    repeated = np.arange(128) % 48
    different = find(repeated, np.arange(128, dtype=np.float32))
    assert different[0] == ("race", "the scatter stores different values at index 0")
    equal = np.ones(128, np.float32)
    assert not find(repeated, equal)
    (kind, message), *_ = find(np.where(repeated == 47, 48, repeated), equal)
    assert (kind, "index 48" in message, "dimension 0 has size 48" in message) == ("out-of-bounds", True, True)


@pytest.mark.parametrize("target", TARGETS[:-1])
def test_sanitized(target: str) -> None:
    """Atomic operations do not race with each other; replicated elements are stored once."""
    body = Body(target, "warps", (128,))
    memory, counters = body.memory("f32", (SLOTS,)), body.memory("i32", (SLOTS,))
    for vector, ty in (("i", "i32"), ("j", "i32"), ("mask", "i1"), ("v", "f32")):
        body.load(vector, ty)
    kind = "memref<48xf32>, vector<128xi32>, vector<128xi1>, vector<128xf32>"
    body.line(f"vector.scatter {memory}[%c0] [%i], %mask, %v {body.layouts(3)} : {kind}")
    kind = "vector<128xi32>, memref<48xi32>, vector<128xi32>"
    body.line(f"mosaic_gpu.atomic_rmw addi %j, {counters}[%j] block relaxed {body.layouts(2)} : {kind}")
    at, mask = indices((128,), "i32", 3, unique=True)
    bins = (np.arange(128) % SLOTS).astype(np.int32)
    for sanitize in SANITIZERS:
        found, counts = np.zeros(SLOTS, np.float32), np.zeros(SLOTS, np.int32)
        launch = body.compile()
        launch(
            found,
            counts,
            at,
            bins,
            mask.astype(np.int32),
            np.ones(128, np.float32),
            emulation=Emulation(sanitize=sanitize),  # type: ignore[arg-type]
        )
        assert found.sum() == mask.sum()
        np.testing.assert_array_equal(counts, np.bincount(bins, minlength=SLOTS) * np.arange(SLOTS))


LAST_BLOCK = """
module attributes {gpu.container_module} {
gpu.module @last_module {
  gpu.func @last(%parts: memref<2x128xf32>, %count: memref<1xi32>, %sum: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ones = arith.constant dense<1.0> : vector<128xf32>
    %own = memref.subview %parts[%b, 0] [1, 128] [1, 1] : memref<2x128xf32> to memref<128xf32, strided<[1], offset: ?>>
    mosaic_gpu.vector_store %ones, %own : vector<128xf32>, memref<128xf32, strided<[1], offset: ?>>
    BARRIER
    %slot = arith.constant dense<0> : vector<1xindex>
    %one = arith.constant dense<1> : vector<1xi32>
    %old = mosaic_gpu.atomic_rmw addi %one, %count[%slot] device ORDERING : vector<1xi32>, memref<1xi32>, vector<1xindex> -> vector<1xi32>
    gpu.barrier
    %ticket = vector.extract %old[0] : i32 from vector<1xi32>
    %last = arith.constant 1 : i32
    %is_last = arith.cmpi eq, %ticket, %last : i32
    scf.if %is_last {
      %row0 = memref.subview %parts[%c0, 0] [1, 128] [1, 1] : memref<2x128xf32> to memref<128xf32, strided<[1], offset: ?>>
      %row1 = memref.subview %parts[%c1, 0] [1, 128] [1, 1] : memref<2x128xf32> to memref<128xf32, strided<[1], offset: ?>>
      %x = mosaic_gpu.vector_load %row0 : memref<128xf32, strided<[1], offset: ?>> -> vector<128xf32>
      %y = mosaic_gpu.vector_load %row1 : memref<128xf32, strided<[1], offset: ?>> -> vector<128xf32>
      %s = arith.addf %x, %y : vector<128xf32>
      mosaic_gpu.vector_store %s, %sum : vector<128xf32>, memref<128xf32>
    }
    gpu.return
  }
}
}
"""


@pytest.mark.parametrize(
    ("ordering", "barrier", "kinds"),
    [
        ("acq_rel", "gpu.barrier", []),
        # The barrier before the release covers the other threads.
        ("acq_rel", "", ["race"]),
        ("release", "gpu.barrier", ["race"]),
        ("acquire", "gpu.barrier", ["race"]),
        ("relaxed", "gpu.barrier", ["race"]),
    ],
)
def test_atomics_order_other_accesses(ordering: str, barrier: str, kinds: list[str]) -> None:
    """The last of two blocks adds the parts that both wrote."""
    text = LAST_BLOCK.replace("ORDERING", ordering).replace("BARRIER", barrier)
    kernel = sim.simulate(text, "sim:sm_90a")
    arguments = np.zeros((2, 128), np.float32), np.zeros(1, np.int32), np.zeros(128, np.float32)
    assert sorted({finding.kind for finding in kernel.find(*arguments)}) == kinds
