# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a kernel: tiles, scalars, and arrays with their windows."""

from __future__ import annotations

import contextvars
import dataclasses
import difflib
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from ..bindings import ir
from ..diagnostics import counted
from .types import DType, Misuse

if TYPE_CHECKING:
    import numpy as np


def slices(count: int) -> str:
    """An example of one slice for each of `count` dimensions."""
    names = "ijkl" if count <= 4 else [f"i{d}" for d in range(count)]
    return ", ".join(f"{name} : {name} + 64" for name in names[:count]) or "()"


class Evaluator(Protocol):
    """The interpreter of a kernel with `interpret=True`."""

    def evaluate(self) -> None:
        """Runs the operations that were created, unless they are in a region."""
        ...

    def elements(self, value: ir.Value, dtype: DType) -> np.ndarray | None:
        """The elements of a tile, a scalar or an array; None in a region, such as a function of sl.reduce."""
        ...


EVALUATOR: contextvars.ContextVar[Evaluator | None] = contextvars.ContextVar("evaluator", default=None)


def evaluate() -> None:
    """With `interpret=True`, runs the operations that were created. Called after each operation."""
    evaluator = EVALUATOR.get()
    if evaluator is not None:
        evaluator.evaluate()


def elements(value: Value | Array) -> np.ndarray | None:
    """The elements of a tile, a scalar or an array in a kernel with `interpret=True`; otherwise None."""
    evaluator = EVALUATOR.get()
    return None if evaluator is None else evaluator.elements(value.value, value.dtype)


class Undecided(Misuse):
    """A condition that Python decides is computed by the kernel."""


class Value:
    """A tile or a scalar that the kernel computes. Its operators are those of numpy."""

    dtype: DType
    shape: tuple[int, ...]
    value: ir.Value
    methods: ClassVar[dict[str, Callable[..., Any]]] = {}
    """The functions of `smalti.language` that are methods too. Their modules add themselves."""
    operators: ClassVar[dict[str, Callable[..., Any]]] = {}
    """The functions of the operators, by the name of the method without underscores."""
    __array_ufunc__ = None
    """A numpy number at the left of an operator leaves it to the value."""

    @property
    def ndim(self) -> int:
        """Number of dimensions; 0 for a scalar."""
        return len(self.shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        close = difflib.get_close_matches(name, [*Value.methods, "dtype", "ndim", "shape"], 1)
        hint = f"a similar name is '{close[0]}'" if close else "help(smalti.language.Tile) lists the methods"
        if name == "astype":  # The name in numpy.
            hint = "convert it with .to(dtype)"
        kind = "a tile" if isinstance(self, Tile) else "a scalar"
        raise Misuse(f"{kind} does not have the attribute '{name}'", hint)

    def __len__(self) -> int:
        if not self.ndim:
            raise Misuse(f"{self:a} does not have a length")
        return self.shape[0]

    def numpy(self) -> np.ndarray:
        """The elements as a numpy array, in a kernel with `interpret=True`."""
        if (found := elements(self)) is None:
            raise Misuse(
                f"{self:a} does not have elements when the kernel is compiled", "use kernel.on(interpret=True)"
            )
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def _number(self) -> Any:
        """The value of a scalar in a kernel with `interpret=True`, else None."""
        found = elements(self)
        if found is not None and self.ndim:
            raise Misuse(
                f"{self:a} is used as a scalar or a condition",
                "reduce it with .any() or .all(), or use sl.where for each element",
            )
        return None if found is None else found.item()

    def __bool__(self) -> bool:
        if (number := self._number()) is not None:
            return bool(number)
        raise Undecided(
            f"{self} is computed when the kernel runs, so Python cannot decide a condition with it",
            "write a scalar directly in an if, while or conditional expression; for tiles, use sl.where, & and |",
        )

    def __iter__(self) -> Any:
        raise Misuse(f"{self} cannot be iterated", "use a reduction, or split it with sl.split")

    def __float__(self) -> float:
        return float(self._converted())

    def __int__(self) -> int:
        return int(self._converted())

    def __index__(self) -> int:
        number = self._converted()
        if not isinstance(number, int):
            raise Misuse(f"{self} is used where Python needs an integer")
        return number

    def _converted(self) -> Any:
        if (number := self._number()) is not None:
            return number
        raise Misuse(
            f"{self} is computed when the kernel runs, but Python needs a number here",
            "pass the number as a smalti.constexpr parameter",
        )

    def __getitem__(self, key: Any) -> Any:
        return Value.operators["getitem"](self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Misuse(f"elements of {self:a} cannot be assigned", "use sl.where, or write the tile to an array")

    def _description(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"{self.dtype} tile of shape {shape}" if self.ndim else f"{self.dtype} scalar"

    def __repr__(self) -> str:
        """The element type and the shape, and the elements in a kernel with `interpret=True`."""
        if (found := elements(self)) is None:
            return self._description()
        return f"{self._description()}\n{found}" if self.ndim else f"{found} ({self._description()})"

    def __format__(self, spec: str) -> str:
        """As repr; with the format "a", the element type and the shape after their article."""
        if spec != "a":
            return repr(self)
        text = self._description()
        return f"an {text}" if text[0] == "i" else f"a {text}"

    # The operators of numpy; `arithmetic` defines them.
    def __add__(self, other: Any) -> Any:
        return Value.operators["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return Value.operators["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return Value.operators["sub"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return Value.operators["sub"](other, self)

    def __mul__(self, other: Any) -> Any:
        return Value.operators["mul"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return Value.operators["mul"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return Value.operators["truediv"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return Value.operators["truediv"](other, self)

    def __floordiv__(self, other: Any) -> Any:
        return Value.operators["floordiv"](self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return Value.operators["floordiv"](other, self)

    def __mod__(self, other: Any) -> Any:
        return Value.operators["mod"](self, other)

    def __rmod__(self, other: Any) -> Any:
        return Value.operators["mod"](other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __round__(self, digits: Any = None) -> NoReturn:
        raise Misuse(f"round of {self:a} is not supported", "use sl.round(t), or sl.round(t).to(sl.int32)")

    def __pow__(self, other: Any) -> Any:
        return Value.operators["pow"](self, other)

    def __rpow__(self, other: Any) -> Any:
        return Value.operators["pow"](other, self)

    def __matmul__(self, other: Any) -> Any:
        return Value.operators["matmul"](self, other)

    def __and__(self, other: Any) -> Any:
        return Value.operators["and"](self, other)

    def __rand__(self, other: Any) -> Any:
        return Value.operators["and"](other, self)

    def __or__(self, other: Any) -> Any:
        return Value.operators["or"](self, other)

    def __ror__(self, other: Any) -> Any:
        return Value.operators["or"](other, self)

    def __xor__(self, other: Any) -> Any:
        return Value.operators["xor"](self, other)

    def __rxor__(self, other: Any) -> Any:
        return Value.operators["xor"](other, self)

    def __lshift__(self, other: Any) -> Any:
        return Value.operators["lshift"](self, other)

    def __rlshift__(self, other: Any) -> Any:
        return Value.operators["lshift"](other, self)

    def __rshift__(self, other: Any) -> Any:
        return Value.operators["rshift"](self, other)

    def __rrshift__(self, other: Any) -> Any:
        return Value.operators["rshift"](other, self)

    def __neg__(self) -> Any:
        return Value.operators["neg"](self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return Value.operators["invert"](self)

    def __abs__(self) -> Any:
        return Value.operators["abs"](self)

    def __lt__(self, other: Any) -> Any:
        return Value.operators["lt"](self, other)

    def __le__(self, other: Any) -> Any:
        return Value.operators["le"](self, other)

    def __gt__(self, other: Any) -> Any:
        return Value.operators["gt"](self, other)

    def __ge__(self, other: Any) -> Any:
        return Value.operators["ge"](self, other)

    def __eq__(self, other: Any) -> Any:
        return Value.operators["eq"](self, other)

    def __ne__(self, other: Any) -> Any:
        return Value.operators["ne"](self, other)

    __hash__ = object.__hash__


class Tile(Value):
    """A tile: elements of one type, with a static shape."""

    def __init__(self, value: ir.Value, dtype: DType) -> None:
        self.value = value
        self.dtype = dtype
        self.shape = tuple(ir.ShapedType(value.type).shape)
        evaluate()

    @property
    def T(self) -> Any:  # noqa: N802
        """The tile with reversed dimensions."""
        return Value.methods["transpose"](self)


@dataclasses.dataclass(frozen=True)
class Affine:
    """A sum of multiples of IR values, and a constant. Two offsets whose difference is constant differ only in `constant`."""

    terms: Mapping[ir.Value, int]
    constant: int = 0

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        terms = dict(self.terms)
        for value, factor in other.terms.items():
            terms[value] = terms.get(value, 0) + sign * factor
        return Affine({v: f for v, f in terms.items() if f}, self.constant + sign * other.constant)

    def times(self, factor: int) -> Affine:
        return Affine({v: f * factor for v, f in self.terms.items() if factor}, self.constant * factor)


class Scalar(Value):
    """A number that is computed when the kernel runs."""

    shape = ()

    def __init__(self, value: ir.Value, dtype: DType, affine: Affine | None = None) -> None:
        self.value = value
        self.dtype = dtype
        self.affine = affine or Affine({value: 1})
        """The value of an integer as a sum of other values, for the extents of slices."""
        evaluate()


class Array:
    """An array argument of a kernel. `x[i : i + 64]` reads a tile, and `x[i : i + 64] = t` writes one."""

    batch: tuple[Scalar, ...] = ()
    """The indices of the first dimensions of the memory, which the kernel does not see."""

    def __class_getitem__(cls, item: Any) -> types.GenericAlias:
        """The annotation of an array with a fixed element type, and optionally its sizes: `sl.Array[sl.int4, ("m", 64)]`."""
        return types.GenericAlias(cls, item)

    def __init__(self, value: ir.Value, dtype: DType, name: str, batch: tuple[Scalar, ...] = ()) -> None:
        self.value = value
        self.dtype = dtype
        self.name = name
        self.type = ir.MemRefType(value.type)
        self.batch = batch

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.type.rank - len(self.batch)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: numbers if they are static, otherwise `index` scalars."""
        shape = _Shape(Value.operators["size"](self, d) for d in range(self.ndim))
        shape.array = self.name
        return shape

    @property
    def at(self) -> _At:
        """`x.at[i : i + 64]` is a `Window`, for reads with a fill value, hints and atomic operations."""
        return _At(self)

    def __getitem__(self, key: Any) -> Any:
        return self.at[key].load()

    def __setitem__(self, key: Any, value: Any) -> None:
        self.at[key].store(value)

    def refuse_as_tile(self, *_: Any) -> NoReturn:
        """Raises Misuse for an array that is used as a tile."""
        raise Misuse(
            f"{self.name} is an array, but this operation takes tiles", f"read a tile: {self.name}[{slices(self.ndim)}]"
        )

    def __len__(self) -> int:
        raise Misuse(f"len({self.name}) is not supported for arrays", f"use {self.name}.shape[0]")

    def __iter__(self) -> Any:
        raise Misuse(f"the array {self.name} cannot be iterated", "read a tile, such as x[i : i + 64]")

    def __bool__(self) -> bool:
        return True

    def numpy(self) -> np.ndarray:
        """A copy of the contents, in a kernel with `interpret=True`."""
        if (found := elements(self)) is None:
            raise Misuse(
                f"{self.name} does not have contents when the kernel is compiled", "use kernel.on(interpret=True)"
            )
        return found

    def __repr__(self) -> str:
        found = elements(self)
        return f"array {self.name} ({self.type})" + ("" if found is None else f"\n{found}")


class _Shape(tuple[Any, ...]):
    """The sizes of an array."""

    array: str | None = None

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except IndexError:
            raise Misuse(
                f"shape[{key}] is not available: {self.array or 'the array'} has {counted(len(self), 'dimension')}"
            ) from None


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    setattr(Array, f"__{_name}__", Array.refuse_as_tile)
    setattr(Array, f"__r{_name}__", Array.refuse_as_tile)
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge"):
    setattr(Array, f"__{_name}__", Array.refuse_as_tile)


class _At:
    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return Value.operators["window"](self._array, key)


_PURE = ("arith.", "math.", "memref.dim", "triton_xla.assume_multiple")
"""Operations without regions whose results depend on their operands and attributes alone."""


def with_equal_values_merged(affine: Affine) -> Affine:
    """An equal sum, with one term for the values that the same pure operations compute from the same operands."""
    first: dict[ir.Value, ir.Value] = {}
    known: dict[Any, ir.Value] = {}
    for term in affine.terms:
        pending = [term]
        while pending:
            value = pending[-1]
            operation: Any = value.owner
            if isinstance(operation, ir.Block) or not operation.name.startswith(_PURE):
                first[value] = value
            elif unknown := [operand for operand in operation.operands if operand not in first]:
                pending += unknown
                continue
            else:
                attributes = tuple((name, str(one)) for name, one in operation.attributes.items())
                operands = tuple(first[operand] for operand in operation.operands)
                key = (operation.name, attributes, operands, ir.OpResult(value).result_number, str(value.type))
                first[value] = known.setdefault(key, value)
            pending.pop()
    merged = Affine({})
    for term, factor in affine.terms.items():
        merged = merged.plus(Affine({first[term]: factor}))
    return Affine(merged.terms, affine.constant)


_SAME = ("triton_xla.assume_multiple", "arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")


def parameter_of(value: ir.Value) -> str | None:
    """The name of the parameter of the kernel whose number is `value`, or None."""
    while not isinstance(value.owner, ir.Block):
        operation: Any = value.owner
        if operation.name not in _SAME:
            return None
        value = operation.operands[0]
    location: Any = value.location
    return location.name_str if location.is_a_name() else None


def method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of `smalti.language` a method of tiles and scalars too."""
    name = function.__name__.rstrip("_")
    Value.methods[name] = function
    setattr(Value, name, function)
    return function
