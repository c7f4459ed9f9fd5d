# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters of kernels, and the facts of their arguments that select a compiled kernel."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import numbers
import types
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from ..calling import arrays, calls
from ..errors import LaunchError
from ..specialization import DIVISOR
from .arithmetic import is_number
from .trees import hashable
from .types import DType, Misuse, boolean, float32, index, is_integer
from .types import dtype as to_dtype
from .values import Array, counted

if TYPE_CHECKING:
    # A type checker accepts any default value and any use.
    constexpr: TypeAlias = Any
else:

    class constexpr:  # noqa: N801
        """The annotation of a parameter that is a constant of the kernel: `block: smalti.constexpr = 128`.

        Each value is a kernel of its own. The value can be any Python object that is hashable, or a list, a
        dictionary, a set, a dataclass or a numpy array, which are compared by their contents.
        """


_PROTOCOLS = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")


@dataclasses.dataclass(frozen=True)
class ShapeDtypeStruct:
    """The shape and the element type of an array, for `compile`, `warmup`, `ir` and `module` of a kernel.

    `strides` are in elements; the default is a row-major array.
    """

    shape: Sequence[int]
    dtype: Any
    strides: Sequence[int] | None = None


def described(value: Any) -> Any:
    """The view of an array that a `ShapeDtypeStruct` describes, or an object of another library with the same attributes.
    Other values do not change."""
    is_ours = isinstance(value, ShapeDtypeStruct)
    if not is_ours and (
        not (hasattr(value, "shape") and hasattr(value, "dtype")) or any(hasattr(value, name) for name in _PROTOCOLS)
    ):
        return value
    shape = tuple(int(size) for size in value.shape)
    strides = value.strides if is_ours else None
    steps = arrays.row_major(shape) if strides is None else tuple(int(step) for step in strides)
    if len(steps) != len(shape):
        raise ValueError(
            f"'strides' has {counted(len(steps), 'number')}, and 'shape' has {len(shape)}; one stride per dimension is required"
        )
    dtype = to_dtype(value.dtype)
    if dtype.bits < 8:
        raise Misuse(
            f"an array has elements of {dtype}; elements of less than 8 bits are packed in an array of int8 or uint8, and the "
            f"parameter is annotated with sl.Array[sl.{dtype}]"
        )
    return arrays.ArrayView(0, shape, steps, dtype.name, arrays.CPU)


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """Facts of an array that select a kernel: element type, and sizes and strides that are 1 or 0 (None: dynamic)."""

    dtype: DType
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...] | None
    """None for a row-major array."""

    @property
    def type(self) -> str:
        """The MLIR type, with the attributes of an argument."""

        def text(numbers: Sequence[int | None]) -> list[str]:
            return ["?" if n is None else str(n) for n in numbers]

        layout = "" if self.strides is None else f", strided<[{', '.join(text(self.strides))}]>"
        element = self.dtype.mlir.removeprefix("u")
        return f"memref<{'x'.join([*text(self.shape), element])}{layout}>{self._attributes}"

    @property
    def _attributes(self) -> str:
        """Rows of packed elements have whole bytes."""
        if self.dtype.bits >= 8 or not self.shape:
            return ""
        ones = ["1"] * (len(self.shape) - 1)
        packed = str(8 // self.dtype.bits)
        found = [f"triton_xla.size_divisors = array<i64: {', '.join([*ones, packed])}>"]
        if self.strides is not None:
            found.append(f"triton_xla.stride_divisors = array<i64: {', '.join([*[packed] * len(ones), '1'])}>")
        return f" {{{', '.join(found)}}}"


@dataclasses.dataclass(frozen=True)
class ScalarSpec:
    """The type of a scalar, and whether it is a multiple of 16."""

    dtype: DType
    is_multiple: bool = False

    @property
    def type(self) -> str:
        return self.dtype.mlir.removeprefix("u")


@dataclasses.dataclass(frozen=True)
class ConstantSpec:
    """A number of a scalar parameter that is compiled into the kernel, since it is 1."""

    value: int


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel."""

    name: str
    default: Any
    """`inspect.Parameter.empty` without a default value."""
    is_constant: bool
    annotation: Any
    """An element type or `int`, `float` or `bool` for a number; element type and shape, or None, for an array."""


class WrongAnnotation(Misuse):
    """The annotation of a parameter is not valid."""

    def __init__(self, parameter: str, error: Misuse) -> None:
        super().__init__(f"the annotation of {parameter} is not valid: {error.message}", error.hint)
        self.parameter = parameter


_FIXED = (int, float, str, type(None), DType, type, types.FunctionType, enum.Enum)
"""Types of constants that are equal while they are the same object."""


class Parameters:
    """The parameters of a kernel, and the facts of the values that are passed for them."""

    def __init__(self, function: types.FunctionType, do_not_specialize: Sequence[str]) -> None:
        self._kernel = function.__name__
        self.signature = inspect.signature(function)
        self.constants = {n for n, p in self.signature.parameters.items() if _is_constexpr(p.annotation)}
        self._annotations = _annotations(function)
        unknown = set(do_not_specialize) - set(self.signature.parameters)
        if unknown:
            raise TypeError(f"do_not_specialize has {sorted(unknown)}, which are not parameters of {function.__name__}")
        self._general = frozenset(do_not_specialize)

    @property
    def by_name(self) -> dict[str, Parameter]:
        """The parameters by name, in order."""
        given = self.signature.parameters.values()
        return {
            p.name: Parameter(p.name, p.default, p.name in self.constants, self._annotations.get(p.name)) for p in given
        }

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self.signature.bind(*arguments, **named)
        except TypeError as error:
            hint = None
            if "stream" in self.signature.parameters:
                hint = "pass the argument stream by position; the keyword stream= is an option of the call"
            raise LaunchError(f"{self._kernel}: {error}", hint=hint) from None
        bound.apply_defaults()
        return bound.arguments

    def spec(self, name: str, value: Any) -> tuple[Any, list[Any]]:
        """The facts that select the kernel, and the values that a launch passes."""
        stated = self._annotations.get(name)
        general = name in self._general
        if is_number(value):
            if isinstance(stated, tuple):
                raise LaunchError(f"{self._kernel}: {name} is annotated sl.Array, but {value!r} is a number")
            if isinstance(value, bool) or type(value).__name__ == "bool_":
                dtype = boolean
            elif isinstance(value, float):
                dtype = float32
            else:
                dtype = self._dtype(f"the type of {name} is", value.dtype) if hasattr(value, "dtype") else index
            if isinstance(stated, DType):
                dtype = stated
            self._require_range(name, value, dtype)
            if dtype == index and not general:
                if value == 1:
                    return ConstantSpec(1), []
                return ScalarSpec(dtype, value % DIVISOR == 0), [value]
            return ScalarSpec(dtype), [value]
        if isinstance(stated, DType):
            raise LaunchError(f"{self._kernel}: {name} is {value!r}, but must be a number of type {stated}")
        try:
            view = arrays.view(value)
        except arrays.NotAnArray as error:
            if arrays.is_torch(value) or arrays.is_jax(value):
                raise LaunchError(f"{self._kernel}: {name}: {error}") from None
            raise LaunchError(
                f"{self._kernel}: {name} is not an array or a number ({error}); annotate a constant with smalti.constexpr"
            ) from None
        dtype = self._dtype(f"the elements of {name} are", view.dtype)
        wanted = stated if isinstance(stated, tuple) else (None, None)
        element, declared = wanted
        shape = view.shape
        if element is not None and element.bits < 8:
            if dtype.bits != 8 or not shape:
                raise LaunchError(
                    f"{self._kernel}: the elements of {name} are {dtype}, but must be int8 or uint8 with packed {element}"
                )
            shape = (*shape[:-1], shape[-1] * (8 // element.bits))
        elif element is not None and element != dtype:
            raise LaunchError(f"{self._kernel}: the elements of {name} are {dtype}, but must be {element}")
        sizes = tuple(1 if n == 1 and not general else None for n in shape)
        if declared is not None:
            if len(declared) != len(shape):
                raise LaunchError(
                    f"{self._kernel}: {name} has {counted(len(shape), 'dimension')}, but must have {len(declared)}"
                )
            sizes = tuple(d if isinstance(d, int) else n for d, n in zip(declared, sizes, strict=True))
        strides = None
        if view.strides != arrays.row_major(view.shape):
            # Strides of packed elements are counted in bytes, except the last one.
            is_packed = element is not None and element.bits < 8
            fixed = [s == 0 or (s == 1 and (not is_packed or d == len(shape) - 1)) for d, s in enumerate(view.strides)]
            strides = tuple(s if is_fixed else None for s, is_fixed in zip(view.strides, fixed, strict=True))
        return ArraySpec(element or dtype, sizes, strides), [value]

    def _dtype(self, what: str, given: Any) -> DType:
        try:
            return to_dtype(given)
        except Misuse as error:
            raise LaunchError(f"{self._kernel}: {what} not supported: {error.message}") from None

    def _require_range(self, name: str, value: Any, dtype: DType) -> None:
        """Raises LaunchError if an integer is out of range. A launcher does not know whether the bits of a scalar have a sign."""
        if is_integer(dtype) and isinstance(value, numbers.Integral):
            low = 0 if dtype.kind == "u" else -(1 << dtype.bits - 1)
            high = low + (1 << dtype.bits)
            if not low <= int(value) < high:
                raise LaunchError(
                    f"{self._kernel}: {name} is {calls.shown(value)}, which is out of range for {dtype}; a number from {low} to "
                    f"{high - 1} is required"
                )

    def sources(self, bound: Mapping[str, Any]) -> list[int] | None:
        """The parameters that a launch passes, or None if the key of a dispatcher does not determine the kernel."""
        sources: list[int] = []
        for position, (name, value) in enumerate(bound.items()):
            if name in self.constants:
                if not isinstance(value, _FIXED):
                    return None
                continue
            if is_number(value):
                stated = self._annotations.get(name)
                is_index = isinstance(stated, DType) and stated == index
                # The key has facts of integers only.
                if type(value) is not int and (is_index or type(value) not in (bool, float)):
                    return None
                is_general = name in self._general or (isinstance(stated, DType) and not is_index)
                if type(value) is int and value == 1 and not is_general:
                    continue  # Compiled into the kernel.
            sources.append(position)
        return sources

    def key(self, specs: Mapping[str, Any]) -> Any:
        """A key for a dictionary, of the facts of all parameters."""
        keys: list[tuple[str, Any]] = []
        for name, value in specs.items():
            try:
                keys.append((name, hashable(value)))
            except LaunchError as error:
                raise LaunchError(f"{self._kernel}: {name}: {error}") from None
        return tuple(keys)


def _is_constexpr(annotation: Any) -> bool:
    return annotation is constexpr or (isinstance(annotation, str) and annotation.split(".")[-1] == "constexpr")


def _annotations(function: types.FunctionType) -> dict[str, Any]:
    """The types and shapes that annotations state: `x: sl.Array[sl.float16, ("m", 64)]`, the same as
    `x: Annotated[sl.Array, sl.float16, ("m", 64)]`, `n: sl.int32`, `n: int`. Raises WrongAnnotation."""
    found: dict[str, Any] = {}
    for name, annotation in inspect.get_annotations(function).items():
        try:
            stated = _stated(_evaluated(annotation, function))
        except Misuse as error:
            raise WrongAnnotation(name, error) from None
        if stated is not None:
            found[name] = stated
    return found


def _evaluated(annotation: Any, function: types.FunctionType) -> Any:
    """The object that an annotation in quotes names, or None if only type checkers know its names."""
    if not isinstance(annotation, str):
        return annotation
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    try:
        return eval(annotation, function.__globals__, {name: cell.cell_contents for name, cell in cells})
    except AttributeError as error:
        if getattr(error.obj, "__name__", None) == "smalti.language":
            raise Misuse(str(error)) from None
        return None
    except Exception:
        return None


def _stated(annotation: Any) -> Any:
    """An element type or `int`, `float` or `bool` for a number; element type and shape, or None, for an array. None for other
    annotations. Raises Misuse."""
    if typing.get_origin(annotation) is Annotated and annotation.__origin__ is Array:
        annotation = types.GenericAlias(Array, annotation.__metadata__)
    if annotation is Array:
        return (None, None)
    if isinstance(annotation, DType) or any(annotation is one for one in (bool, int, float)):
        return annotation
    origin = getattr(annotation, "__origin__", None)
    if not isinstance(annotation, types.GenericAlias) or not isinstance(origin, type) or not issubclass(origin, Array):
        return None
    if not annotation.__args__:
        raise Misuse("sl.Array[()] does not have an element type", "write sl.Array, or sl.Array[sl.float32]")
    element, *rest = annotation.__args__
    if not rest:
        return to_dtype(element), None
    shape = rest[0] if len(rest) == 1 else None
    if not isinstance(shape, (tuple, list)) or not all(isinstance(n, (str, type(None))) or _is_size(n) for n in shape):
        raise Misuse(
            f"the shape of an array is {', '.join(map(repr, rest))}, but must be a tuple of names and sizes",
            'write it such as sl.Array[sl.float32, ("m", 64)]',
        )
    return to_dtype(element), tuple(shape)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
