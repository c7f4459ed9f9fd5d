# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Order of `wgmma` register accesses.

PTX ISA, "wgmma.fence": it is required before the first `wgmma` of a warpgroup, and between a register access by threads
and a `wgmma` with the same registers as accumulator or operand A. Consecutive `wgmma` of one shape with the same accumulator
do not need it.

IR values are not registers, so this mapping is used: the definition of a value writes its registers; a computation with
the result of a `wgmma` reads them; a `wgmma` that is executed again with the same accumulator reads a copy. Ops that only
rename registers, such as extracting elements of vectors, are looked through. Constants have no registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .... import ir
from .code import ThreadTranslator
from .pending import Pending, PendingVector, is_held

_RENAMES = {f"vector.{name}" for name in ("extract", "insert", "from_elements", "to_elements", "bitcast", "shape_cast")}
_RENAMES |= {f"vector.{name}" for name in ("broadcast", "splat", "shuffle", "transpose")}
_RENAMES |= {"vector.extract_strided_slice", "vector.insert_strided_slice", "arith.bitcast"}
_RENAMES |= {f"llvm.{name}" for name in ("extractvalue", "insertvalue", "extractelement", "insertelement", "bitcast")}
_RENAMES |= {"builtin.unrealized_conversion_cast"}

_CONSTANTS = {"arith.constant", "llvm.mlir.constant", "llvm.mlir.undef", "llvm.mlir.poison", "llvm.mlir.zero"}
_CONSTANTS |= {"ub.poison"}


def sources(values: Iterable[Any], tr: ThreadTranslator) -> tuple[int, ...]:
    """The slots of the values that share registers with some values."""
    found: dict[int, None] = {}
    seen: set[Any] = set()
    work = list(values)
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.owner if isinstance(value, ir.OpResult) else None
        if op is not None and op.name in _CONSTANTS:
            continue
        if op is not None and (op.name in _RENAMES or is_held(op)):
            work += op.operands
        else:
            found[tr.slot(value)] = None
    return tuple(sorted(found))


class RegisterFence:
    """An executed `wgmma` register fence."""

    def __init__(self, site: Any, number: int, values: list[Any], before: RegisterFence | None) -> None:
        self.site, self.number = site, number
        self.values = values
        """The values at the fence."""
        self.before = before
        self.ran: set[int] = set()
        """The `wgmma` ops after it, by op number, that used registers written by threads."""
        self._ids: set[int] | None = None

    def orders(self, slot: int, value: Any) -> bool:
        """Whether a value existed at the fence."""
        if slot < len(self.values) and self.values[slot] is value:
            return True
        if self._ids is None:
            self._ids = {id(other) for other in self.values}
        return id(value) in self._ids

    def take(self, values: list[Any], taken: list[Any]) -> RegisterFence:
        """The fence for converged warps with some of the lanes: `taken` are their parts of `values`."""
        kept = [new for slot, (old, new) in enumerate(zip(values, taken, strict=True)) if self.orders(slot, old)]
        before = self.before.take(values, taken) if self.before is not None else None
        found = RegisterFence(self.site, self.number, kept, before)
        found.ran = set(self.ran)
        return found


def fence(st: Any, site: Any) -> None:
    """Executes a fence: all register accesses before it are ordered."""
    before: RegisterFence | None = st.fence
    if before is not None:
        before.before = None
    st.fence = RegisterFence(site, before.number + 1 if before is not None else 1, list(st.v), before)


def check(st: Any, accumulator: tuple[int, ...], a: tuple[int, ...], shape: tuple[int, int], site: Any) -> None:
    """Reports register accesses that no fence orders before a `wgmma` with these slots."""
    now: RegisterFence | None = st.fence
    if not _is_ordered(st, now, set(), accumulator, a, shape, site):
        what = "its accumulator registers" if a == () else "its accumulator registers or the registers of operand A"
        hint = "execute nvvm.wgmma.fence.aligned between the access of these registers and the wgmma"
        st.report("missing-fence", f"the wgmma may not see writes to {what}", site, hint=hint)
        return
    assert now is not None
    if not _is_ordered(st, now.before, {now.number}, accumulator, a, shape, site, now.ran):
        st.machine.effective.add((now.site.number, "removed"))
    if not _is_passed_on(st, accumulator):
        now.ran.add(site.number)


def _is_ordered(
    st: Any,
    given: RegisterFence | None,
    removed: set[int],
    accumulator: tuple[int, ...],
    a: tuple[int, ...],
    shape: tuple[int, int],
    site: Any,
    ran: Iterable[int] = (),
) -> bool:
    """Whether a fence, without the `removed` ones, orders all register accesses before a `wgmma`."""
    if given is None:
        return False
    behind = removed | {given.number}
    for slot in accumulator:
        value = st.v[slot]
        products = _products(value)
        if not products and not given.orders(slot, value):
            return False
        for product in products:
            # The registers were read, or have another shape, and no fence follows.
            read = any(product.read_behind.get(warp.wgmmas.agent) in behind for warp in st.warps)
            if read or (product.shape != shape and product.fence in behind):
                return False
    for slot in a:
        value = st.v[slot]
        products = _products(value)
        if any(product.fence in behind for product in products) or (not products and not given.orders(slot, value)):
            return False
    return _is_passed_on(st, accumulator) or site.number not in (given.ran | set(ran))


def _is_passed_on(st: Any, accumulator: tuple[int, ...]) -> bool:
    """Whether the accumulator consists of `wgmma` results only."""
    return bool(accumulator) and all(_products(st.v[slot]) for slot in accumulator)


def _products(value: Any) -> list[Any]:
    """The `wgmma` ops that write the registers of a value; empty if it also has other registers."""
    items: Any = [value]
    if value.__class__ is PendingVector:
        items = value.items
    elif value.__class__ is tuple:
        items = value
    if not items or not all(item.__class__ is Pending for item in items):
        return []
    return list({id(item.product): item.product for item in items}.values())


__all__ = ["RegisterFence", "check", "fence", "sources"]
