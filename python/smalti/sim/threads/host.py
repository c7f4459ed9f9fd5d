# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host functions with a launch: sizes, device arrays and tensor maps.

The ops before the launch run before the blocks, and the other ops after them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ir
from ...diagnostics import Diagnostic, counted, source_location
from ...errors import LaunchError
from ..machine.memory import MemRef
from ..ops.memref import mixed
from ..translation.translator import Unsupported, attribute, walk
from .execution.code import ThreadTranslator
from .execution.memory import SPACING, LaneBuffer, PrivateBuffer, View, contiguous
from .ops.collective.gpu import thread_id
from .ops.memory.memref import memory_dtype
from .ops.nvidia.nvgpu import is_tensor_map, tensor_map

FIRST_ALLOCATION = 1 << 11
"""The number of the first host array, among buffers that are SPACING apart."""

LAUNCHES = ("gpu.launch", "gpu.launch_func")
_SIZES = ("async", "gx", "gy", "gz", "bx", "by", "bz", "cx", "cy", "cz", "shared", "operands", "object")
_IDS = ("block_id", "thread_id", "grid_dim", "block_dim", "cluster_id", "cluster_dim")
"""The arguments of a launch body, three of each."""

_VIEWS = {
    "memref.dim",
    "memref.cast",
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.memory_space_cast",
    "memref.transpose",
}
_NOTHING = {"gpu.wait", "gpu.dealloc", "memref.dealloc", "gpu.host_register", "gpu.host_unregister", "func.return"}


_THREAD_POSITIONS = {"gpu.thread_id", "gpu.lane_id", "gpu.subgroup_id"}


def is_of_threads(function: Any) -> bool:
    """Whether a kernel is at the thread level. A block-level kernel has ops of `mosaic_gpu` or layouts. Without them,
    it is one that was created from tiles (`smalti.num_warps`) and is not distributed across threads."""
    distributed = "smalti.num_warps" not in function.attributes
    for op in walk(function):
        if op.name.startswith("mosaic_gpu.") or "in_layouts" in op.attributes or "out_layouts" in op.attributes:
            return False
        distributed |= op.name in _THREAD_POSITIONS
    return distributed


def host_of(launch: Any) -> Any:
    """The function around a launch; None if there is none, or if JAX printed it."""
    owner = launch.parent.operation
    if owner.name != "func.func":
        return None
    arguments = list(owner.regions[0].blocks[0].arguments)
    by_table = launch.name == "gpu.launch" and [str(a.type) for a in arguments] == ["!llvm.ptr", "!llvm.ptr"]
    return None if by_table else owner


def kernel_of(launch: Any) -> Any:
    """The launched function; None if the module does not define it."""
    found = launch.parent.operation.parent.operation
    for name in ir.SymbolRefAttr(launch.attributes["kernel"]).value:
        inside = (op for region in found.regions for block in region for op in block)
        named = (op.operation for op in inside if "sym_name" in op.operation.attributes)
        found = next((op for op in named if ir.StringAttr(op.attributes["sym_name"]).value == name), None)
        if found is None:
            return None
    return found


def needs_host(kernel: Any) -> bool:
    """Whether a kernel does not state its launch sizes."""
    stated = all(
        any(f"{of}known_{what}_size" in kernel.attributes for of in ("", "gpu.")) for what in ("grid", "block")
    )
    given = any(is_tensor_map(argument.type) for argument in kernel.regions[0].blocks[0].arguments)
    return not stated or (given and "mosaic_gpu.tensor_maps" not in kernel.attributes)


class HostRun:
    """The state of the host."""

    lanes = 1
    mask = None

    def __init__(self, values: list[Any]) -> None:
        self.v = values

    def stop(self, kind: str, message: str, site: Any, lane: int | None = None) -> None:
        _ = kind, lane
        raise LaunchError(f"{site.location}: {message}")

    report = stop

    def uniform(self, value: Any) -> int:
        return int(value)

    def require_uniform(self, value: Any, message: str, site: Any) -> int:
        _ = message, site
        return int(value)


Step = Callable[[Any], Any]


class Host:
    """The host function with the launch."""

    def __init__(self, function: Any, launch: Any, tr: ThreadTranslator) -> None:
        self.launch = launch
        self.before: list[Step] = []
        self.after: list[Step] = []
        self.allocated: list[int] = []
        """Slots of its arrays."""
        self._known = HostRun([])
        """Statically known numbers."""
        # Host code takes no time.
        timed, tr.timed = tr.timed, False
        steps = self.before
        operations = [view.operation for view in function.regions[0].blocks[0].operations]
        for op in operations:
            if op == launch:
                steps = self.after
                continue
            try:
                step = self._step(op, tr)
            except Unsupported as problem:
                message = f"{problem.of(op.name)} (in the host function)"
                tr.problems.append(Diagnostic("error", message, source_location(op.location)))
                continue
            if step is not None:
                steps.append(step)
        tr.timed = timed
        self._read_sizes(tr)
        self.kernel = kernel_of(launch) if launch.name == "gpu.launch_func" else launch

    def _step(self, op: Any, tr: ThreadTranslator) -> Step | None:
        if op.name in LAUNCHES:
            raise Unsupported(
                "the host function contains a second launch, but only one launch is supported; move it to another function"
            )
        if op.name in _NOTHING:
            return None
        if op.name in ("gpu.alloc", "memref.alloc"):
            return self._allocation(op, tr)
        if op.name == "gpu.memcpy":
            return _copy(op, tr)
        if op.name == "nvgpu.tma.create.descriptor":
            return tensor_map(op, tr)
        computes = op.name.startswith(("arith.", "affine.", "index.")) or op.name == "llvm.mlir.constant"
        if not computes and op.name not in _VIEWS:
            raise Unsupported
        made = tr.step(op)
        if made is None or made.step is None:
            return None
        if computes:
            values = self._known.v
            values += [None] * (tr.count - len(values))
            if all(values[slot] is not None for slot in tr.operands(op)):
                made.step(self._known)
        return made.step

    def _allocation(self, op: Any, tr: ThreadTranslator) -> Step:
        ty, slot = op.results[0].type, tr.slot(op.results[0])
        sizes = [tr.slot(value) for value in op.operands if isinstance(value.type, ir.IndexType)]
        items, dtype, site = mixed(list(ty.shape), sizes), memory_dtype(ty), tr.site(op)
        if len(sizes) != sum(is_slot for is_slot, _ in items):
            raise Unsupported(
                f"the allocated array has type {ty} and {counted(len(sizes), 'size operand')}; it must have one for each dynamic dimension"
            )
        self.allocated.append(slot)
        number = FIRST_ALLOCATION + len(self.allocated)
        name = f"host array {len(self.allocated)}"

        def step(st: Any) -> None:
            shape = tuple(int(st.v[value]) if is_slot else value for is_slot, value in items)
            if min(shape, default=0) < 0:
                st.stop("assertion", f"the host array has shape {shape}; sizes must not be negative", site)
            strides = tuple(by * dtype.itemsize for by in contiguous(shape))
            size = math.prod(shape) * dtype.itemsize
            buffer = LaneBuffer(name, size, dtype.itemsize, shared=False, fill=0xFF)
            buffer.address = number * SPACING
            st.v[slot] = View(buffer, 0, shape, strides, dtype)

        return step

    def _read_sizes(self, tr: ThreadTranslator) -> None:
        launch, at = self.launch, 0
        self.operands: dict[str, list[Any]] = {}
        for name, count in zip(_SIZES, attribute(launch, "operandSegmentSizes"), strict=False):
            self.operands[name] = [launch.operands[at + i] for i in range(count)]
            at += count
        self.grid_slots = tuple(tr.slot(self.operands["g" + axis][0]) for axis in "xyz")
        """The grid size after the host ran up to the launch. Other sizes must be constant."""
        self.block = self._three("block", tr)
        self.cluster = self._three("cluster", tr) if self.operands["cx"] else (1, 1, 1)
        shared = self.operands["shared"]
        self.shared_bytes = self._number(shared[0], "size of dynamic shared memory", tr) if shared else 0

    def _three(self, unit: str, tr: ThreadTranslator) -> tuple[int, int, int]:
        x, y, z = (
            self._number(self.operands[unit[0] + axis][0], f"{unit} size in dimension {axis}", tr) for axis in "xyz"
        )
        return x, y, z

    def _number(self, value: Any, what: str, tr: ThreadTranslator) -> int:
        slot, values = tr.slot(value), self._known.v
        found = values[slot] if slot < len(values) else None
        if found is None:
            message = f"the {what} of the launch is dynamic; only the grid size may be dynamic, so use a constant"
            tr.problems.append(Diagnostic("error", message, source_location(self.launch.location)))
            return 1
        return int(found)

    def run(self, values: list[Any]) -> None:
        """Runs the ops before the launch, which set slots of the program."""
        st = HostRun(values)
        for step in self.before:
            step(st)

    def finish(self, values: list[Any]) -> None:
        """Runs the ops after the launch."""
        st = HostRun(values)
        for step in self.after:
            step(st)

    def enter(self, tr: ThreadTranslator) -> list[Any]:
        """Binds the arguments of the launch body; returns the remaining ones, which are memory attributions."""
        arguments = list(self.kernel.regions[0].blocks[0].arguments)
        if self.launch.name == "gpu.launch_func":
            given = self.operands["operands"]
            sources, targets = ([tr.slot(value) for value in values] for values in (given, arguments[: len(given)]))

            def move(st: Any) -> None:
                for source, target in zip(sources, targets, strict=True):
                    st.v[target] = st.v[source]

            self.before.append(move)
            return arguments[len(given) :]
        count = 18 if self.operands["cx"] else 12
        for index, argument in enumerate(arguments[:count]):
            tr.emit(_position(_IDS[index // 3], index % 3, tr.slot(argument)))
        return arguments[count:]


def _position(name: str, dimension: int, slot: int) -> Step:
    if name == "thread_id":
        return thread_id(dimension, slot)

    def step(st: Any) -> None:
        st.v[slot] = st.block.names[name][dimension]

    return step


def _copy(op: Any, tr: ThreadTranslator) -> Step:
    slots = tr.operands(op)
    target, source = slots[len(slots) - 2 :]
    site = tr.site(op)

    def step(st: Any) -> None:
        there, here = st.v[target], st.v[source]
        if there.shape != here.shape:
            st.stop(
                "assertion",
                f"the host copies an array of shape {here.shape} to one of shape {there.shape}; the shapes must be "
                "equal",
                site,
            )
        _array(there)[...] = _array(here)

    return step


def _array(view: View) -> np.ndarray[Any, Any]:
    assert not isinstance(view.buffer, PrivateBuffer)
    return MemRef(view.buffer, view.offset, view.shape, view.strides, view.dtype).array()


def launches_of(module: Any) -> list[tuple[Any, Any]]:
    """The launches that need their host function, each with the function."""
    found = []
    for op in walk(module):
        if op.name not in LAUNCHES or (host := host_of(op)) is None:
            continue
        kernel = op if op.name == "gpu.launch" else kernel_of(op)
        if kernel is not None and is_of_threads(kernel) and (kernel is op or needs_host(kernel)):
            found.append((host, op))
    return found
