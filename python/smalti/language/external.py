# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inline assembly and external device functions."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ..bindings import ir, triton_xla
from ..diagnostics import counted
from ..errors import SmaltiError
from .arithmetic import Operand, as_value, broadcast_to, cast, shape_of, wrap
from .reductions import fill_region
from .tile_ops import tile_ops
from .types import DType, Misuse, boolean, index, is_float, member, mlir_type
from .types import dtype as to_dtype
from .values import Scalar, Tile, Value, evaluate

Vendor = Literal["nvidia", "amd"]
Effects = Literal["none", "read", "write"]


def _check(what: str, value: Any, names: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in names:
        raise Misuse(f"{what} is {value!r}, but must be {' or '.join(map(repr, names))}")


def _check_text(what: str, value: Any) -> None:
    if not isinstance(value, str) or not value.isascii() or "\0" in value:
        raise Misuse(f"{what} is {value!r}, but must be a string of ASCII characters without NUL")


def _check_code(vendor: Any, effects: Any) -> None:
    _check("vendor", vendor, get_args(Vendor))
    _check("effects", effects, get_args(Effects))


def _checked(dtype: DType) -> DType:
    if dtype.bits < 8 or dtype in (boolean, index) or (is_float(dtype) and dtype.bits < 16):
        raise Misuse(
            f"an operand or result of external code is {dtype}, but must be an integer of 8 to 64 bits or a float of 16 to "
            "64 bits",
            "convert it with .to(sl.int32), or a float of 8 bits with .bitcast(sl.int8)",
        )
    return dtype


def _operands(operands: Sequence[Operand]) -> list[Value]:
    """The operands with a common shape. Their element types may differ."""
    if isinstance(operands, Value):
        raise Misuse(f"the operands are {operands:a}, but must be a list", "write [t]")
    values = [as_value(operand) for operand in operands]
    if not values:
        raise Misuse(
            "external code does not have operands", "pass at least one; it determines the shape of the results"
        )
    for value in values:
        _checked(value.dtype)
    if all(isinstance(value, Scalar) for value in values):
        return list(values)
    shape = shape_of(*values)
    return [broadcast_to(value, shape) for value in values]


def _applied(
    values: Sequence[Value],
    dtypes: Sequence[DType],
    vendor: Vendor,
    reference: Callable[..., Any] | None,
    create: Callable[[list[Any]], Any],
) -> list[Value]:
    """The results of an op that `create` makes, or those of the reference if the code is for other GPUs than the kernel."""
    first = values[0]
    other = tile_ops().vendor not in (None, vendor)
    if other and reference is not None:
        found = reference(*values)
        items = list(found) if isinstance(found, (tuple, list)) else [found]
        results = [cast(as_value(item), dtype) for item, dtype in zip(items, dtypes, strict=True)]
        return [broadcast_to(r, first.shape) if isinstance(first, Tile) else r for r in results]
    types = [tile_ops().type(first.shape, mlir_type(d)) if isinstance(first, Tile) else mlir_type(d) for d in dtypes]
    # A block-level kernel does not have other operations of the dialect.
    _ = first.value.context.dialects["triton_xla"]
    op = create(types)
    if reference is not None:
        form = f"for {counted(len(values), 'operand')}: reference({', '.join(f'x{i}' for i in range(len(values)))})"
        fill_region(op, [value.dtype for value in values], reference, form, dtypes, triton_xla.yield_)
    evaluate()
    return [wrap(result, dtype) for result, dtype in zip(op.results, dtypes, strict=True)]


def inline_asm(
    text: str,
    constraints: str,
    operands: Sequence[Operand],
    dtype: Any,
    *,
    vendor: Vendor,
    effects: Effects,
    pack: int = 1,
    reference: Callable[..., Any] | None = None,
) -> Any:
    """The results of assembly for each element of tiles or scalars, which are broadcast to one shape.

    `dtype` is the element type of the result, or a tuple of types of several results. `constraints` has a constraint of
    LLVM for each register: of the results (`=r`), then of the operands (`r`), then clobbers. `text` names the registers `$0`,
    `$1`, ... On NVIDIA GPUs, constraints are `h` (16 bits), `r` and `f` (32), `l` and `d` (64), and on AMD GPUs `v`. An
    execution computes `pack` elements; those of 8 and 16 bits are together in registers of up to 32 bits.

    `effects` is "none" if the results depend only on the operands, "read" if the assembly also reads memory, and "write" for
    other effects. The number of executions of an element is not specified. `reference` is a function of scalars that
    computes the same results: the CPU, the GPUs of the other vendor, the simulator and `interpret=True` run it.

    Raises Misuse for operands of other types than integers of 8 to 64 bits and floats of 16 to 64 bits. Example:
    `sl.inline_asm("ex2.approx.ftz.f32 $0, $1;", "=f,f", [t], sl.float32, vendor="nvidia", effects="none", reference=sl.exp2)`.
    """
    is_tuple = isinstance(dtype, (tuple, list))
    dtypes = [_checked(to_dtype(one)) for one in (dtype if is_tuple else [dtype])]
    _check_code(vendor, effects)
    for what, given in (("text", text), ("constraints", constraints)):
        _check_text(what, given)
    if not isinstance(pack, int) or isinstance(pack, bool):
        raise Misuse(f"pack is {pack!r}, but must be 1, 2, 4, 8 or 16")
    values = _operands(operands)

    def create(types: list[Any]) -> Any:
        inputs = [value.value for value in values]
        chosen = member(triton_xla.GPUVendor, "vendor", vendor)
        effect = member(triton_xla.ExternalEffects, "effects", effects)
        return triton_xla.InlineAsmOp(types, chosen, text, constraints, inputs, effect, pack=pack)

    results = _applied(values, dtypes, vendor, reference, create)
    return tuple(results) if is_tuple else results[0]


@dataclasses.dataclass(frozen=True)
class External:
    """A device function; see `external`."""

    name: str
    dtype: DType
    vendor: Vendor
    effects: Effects
    library: str | None
    digest: str
    """The SHA-256 of the library, so that the cache has an entry for each content."""
    reference: Callable[..., Any] | None

    def __call__(self, *operands: Operand, reference: Callable[..., Any] | None = None) -> Any:
        """The result of the function for each element of tiles or scalars, which are broadcast to one shape."""
        if self.library is not None and _digest(self.library) != self.digest:
            raise Misuse(f"{self.library} has changed since sl.external declared {self.name}", "declare it again")
        values = _operands(operands)

        def create(types: list[Any]) -> Any:
            from ..compiler.external import LIBRARY_DIGEST  # Not imported if the cache has the kernel.

            op = triton_xla.ExternCallOp(
                types[0],
                member(triton_xla.GPUVendor, "vendor", self.vendor),
                self.name,
                [value.value for value in values],
                member(triton_xla.ExternalEffects, "effects", self.effects),
                library=self.library,
            )
            if self.library is not None:
                op.attributes[LIBRARY_DIGEST] = ir.StringAttr.get(self.digest)
            return op

        return _applied(values, [self.dtype], self.vendor, reference or self.reference, create)[0]


def _digest(library: str) -> str:
    try:
        return hashlib.sha256(Path(library).read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        raise SmaltiError(f"the library {library!r} cannot be read: {getattr(error, 'strerror', error)}") from None


def external(
    name: str,
    dtype: Any,
    *,
    vendor: Vendor,
    effects: Effects,
    library: str | os.PathLike[str] | None = None,
    reference: Callable[..., Any] | None = None,
) -> External:
    """Declares a device function that kernels call: `root = sl.external("__nv_fsqrt_rn", sl.float32, ...)`, then `root(t)`.

    `dtype` is the type of the result; the parameters have the element types of the operands of a call. `library` is a
    file with LLVM IR (`.ll` or `.bc`) for the GPUs of the vendor that defines the function. Without it, the function is of the device
    library of the vendor: `__nv_*`, or `__ocml_*` and `__ockl_*`. The file is read when the function is declared, and when
    a kernel is compiled. `vendor`, `effects` and `reference` are those of `inline_asm`.

    Raises SmaltiError if the file cannot be read, or an argument is wrong. A call that does not match the function is a CompileError.
    """
    try:
        _check_code(vendor, effects)
        result = _checked(to_dtype(dtype))
        _check_text("name", name)
        if not isinstance(library, (str, os.PathLike, type(None))):
            raise Misuse(f"library is {library!r}, but must be a path")
    except Misuse as misuse:
        raise SmaltiError(f"sl.external: {misuse.message}", hint=misuse.hint) from None
    path = None if library is None else str(Path(library).absolute())
    digest = "" if path is None else _digest(path)
    return External(name, result, vendor, effects, path, digest, reference)
