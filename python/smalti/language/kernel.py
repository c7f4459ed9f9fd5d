# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@smalti.kernel`: kernels that are Python functions.

@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def double(x: sl.Array, y: sl.Array, block: smalti.constexpr = 128):
    i = sl.tile_id() * block
    y[i : i + block] = 2 * x[i : i + block]

double(x, y)
"""

from __future__ import annotations

import ast
import contextvars
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from .. import ir, targets
from ..cache import disk_cache
from ..calling import arrays
from ..compiler import driver
from ..diagnostics import Diagnostic, SourceLocation, diagnostic_from_mlir
from ..dialects import triton_xla
from ..errors import CompileError, LaunchError
from ..launch import devices
from ..launch.kernel_cache import KernelCache
from ..specialization import DIVISOR, SpecializedKernel
from . import fingerprints, hooks
from .arithmetic import is_number
from .debugging import multiple_of
from .fingerprints import Fingerprint
from .frames import Frame, source_of
from .specs import described
from .translator import Captured, Translator
from .types import DType, Misuse, boolean, float32, index
from .types import dtype as to_dtype
from .values import Array, Scalar

if TYPE_CHECKING:
    from .. import sim
    from ..launch.kernels import Kernel

_DIALECTS = ("arith", "math", "memref", "scf", "tensor", "triton_xla")


if TYPE_CHECKING:
    # A type checker accepts any default value and any use.
    constexpr: TypeAlias = Any
else:

    class constexpr:  # noqa: N801
        """The annotation of a parameter that is a constant of the kernel: `block: smalti.constexpr = 128`.

        Each value is a kernel of its own. The value can be any Python object that can be compared.
        """


_GRID: contextvars.ContextVar[tuple[Scalar, ...] | None] = contextvars.ContextVar("grid", default=None)
"""The tile ids of the kernel that this thread translates."""


def tile_id(axis: int = 0) -> Scalar:
    """The number of the tile that this instance of the kernel computes, in dimension `axis` of the grid: an `index` scalar."""
    ids = _GRID.get()
    if ids is None:
        raise RuntimeError("tile_id is only available in a function with @smalti.kernel")
    if not isinstance(axis, int) or not 0 <= axis < len(ids):
        raise Misuse(f"tile_id of dimension {axis!r}, but the grid has {len(ids)} dimensions")
    return ids[axis]


def num_tiles(axis: int = 0) -> Scalar:
    """The number of tiles in dimension `axis` of the grid: an `index` scalar."""
    tile_id(axis)  # Checks the dimension.
    return Scalar(triton_xla.num_tiles(axis), index)


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


class Variant:
    """A kernel for the types of its arguments. It is translated when its module is needed, unless the cache on disk has it."""

    def __init__(
        self,
        name: str,
        fingerprint: Fingerprint | None,
        translate: Callable[[], tuple[ir.Module, Mapping[Any, Captured]]],
    ) -> None:
        self._fingerprint = fingerprint
        self._translate = translate
        self._module: ir.Module | None = None
        self._captured: tuple[Captured, ...] = ()
        self.cache = None if fingerprint is None else KernelCache(fingerprint.digest, name)
        self.signature = self.cache and self.cache.entry()
        if fingerprint is None or self.signature is None:
            self._load()
        else:
            self._captured = tuple(fingerprint.captured.values())
        self.compiled: dict[tuple[Any, ...], SpecializedKernel] = {}

    @property
    def is_current(self) -> bool:
        """Whether the values outside of the kernel that it used have not changed."""
        return all(captured.is_current for captured in self._captured)

    @property
    def module(self) -> ir.Module:
        """The tile-level module."""
        if self._module is None:
            if not self.is_current:
                raise LaunchError(
                    "the kernel is from the cache, and a value that it uses has changed; compile it again"
                )
            self._load()
        assert self._module is not None
        return self._module

    def _load(self) -> None:
        self._module, captured = self._translate()
        self._captured = tuple(captured.values())
        if self._fingerprint is not None and not self._fingerprint.covers(captured):
            self.cache = None


Grid = int | Sequence[int] | Callable[..., Any]


class PythonKernel:
    """A kernel that is a Python function; see `smalti.kernel`. Calling it compiles it for its arguments, and runs it."""

    def __init__(
        self,
        function: types.FunctionType,
        grid: Grid,
        target: str | targets.Target | None,
        do_not_specialize: Sequence[str],
        options: dict[str, Any],
    ) -> None:
        functools.update_wrapper(self, function)
        self.__name__: str = function.__name__
        self.__qualname__: str = function.__qualname__
        self.__smalti_function__ = function
        self._grid = grid
        self._grid_parameters = tuple(inspect.signature(grid).parameters) if callable(grid) else ()
        self._target = target
        self._options = options
        self._signature = inspect.signature(function)
        self._constants = {n for n, p in self._signature.parameters.items() if _is_constexpr(p.annotation)}
        self._annotations = _annotations(function)
        unknown = set(do_not_specialize) - set(self._signature.parameters)
        if unknown:
            raise TypeError(f"do_not_specialize has {sorted(unknown)}, which are not parameters of {function.__name__}")
        self._general = frozenset(do_not_specialize)
        self.hooks = hooks.Hooks()
        """The hooks of this kernel, for all targets and options; see `smalti.hooks`."""
        self._variants: dict[Any, Variant] = {}
        self._origin: PythonKernel | None = None
        """The kernel that the decorator made, if this one is from `on`."""

    def on(self, target: str | targets.Target | None = None, **options: Any) -> PythonKernel:
        """The kernel for another target or with other options of `smalti.compile`, such as `num_warps=4`."""
        other = object.__new__(PythonKernel)
        vars(other).update(vars(self))
        other._origin = self._origin or self
        other._target = self._target if target is None else target
        other._options = {**self._options, **options}
        return other

    def __repr__(self) -> str:
        return f"<smalti.kernel {self.__smalti_function__.__name__}({', '.join(self._signature.parameters)})>"

    def __reduce__(self) -> Any:
        """A kernel is pickled by its name, as a function is."""
        if self._origin is None:
            return self.__qualname__
        return functools.partial(self._origin.on, self._target, **self._options), ()

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is not None:
            raise TypeError(f"{self.__name__} is a method; a kernel must be a function of a module")
        return self

    def __call__(self, /, *arguments: Any, stream: Any = None, **named: Any) -> None:
        """Runs the kernel on arrays and numbers, in place. Compiles it unless a call with equal types did.

        `stream` is a stream of CUDA or HIP. Raises CompileError with the line of the kernel, and LaunchError if an
        argument cannot be passed.
        """
        variant, given = self._variant(arguments, named)
        options = {} if stream is None else {"stream": stream}
        specialized = self._specialized(variant)
        if not hooks.has_launch_hooks(self.hooks):
            specialized(*given, **options)
            return
        launch = hooks.Launch(specialized.variant(*given), tuple(given), stream)
        with hooks.launching(self.hooks, launch):
            specialized(*given, **options)

    def compile(self, /, *arguments: Any, **named: Any) -> Kernel | sim.SimulatedKernel:
        """The compiled kernel for these arguments: `k.compile(x, y).asm["ptx"]`. It is not launched.

        An array may also be a `smalti.ShapeDtypeStruct`. The last arguments of the compiled kernel are the numbers of tiles of
        the grid.
        """
        variant, given = self._described_variant(arguments, named)
        return self._specialized(variant).variant(*given)

    def warmup(self, /, *arguments: Any, **named: Any) -> Kernel | sim.SimulatedKernel:
        """Compiles the kernel for these arguments, as `compile` does, and prepares its code for the CPU or the emulator, so
        that the first launch does not."""
        kernel = self.compile(*arguments, **named)
        if not kernel.target.is_gpu or kernel.target.is_emulated:
            kernel.launcher  # noqa: B018
        return kernel

    def module(self, /, *arguments: Any, **named: Any) -> ir.Module:
        """A copy of the tile-level module for these arguments."""
        return driver.clone(self._described_variant(arguments, named)[0].module)

    def ir(self, level: str, /, *arguments: Any, **named: Any) -> str:
        """The code at a level: "tile", or a key of `Kernel.asm` such as "mosaic", "llvm", "ptx" or "gcn"."""
        if level == "tile":
            return str(self._described_variant(arguments, named)[0].module)
        asm: Mapping[str, str] = getattr(self.compile(*arguments, **named), "asm", {})
        if level not in asm:
            raise LaunchError(f"the kernel does not have the level '{level}'; it has {', '.join({'tile': '', **asm})}")
        return asm[level]

    # --- Specialization ---

    def _bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self._signature.bind(*arguments, **named)
        except TypeError as error:
            raise LaunchError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def _tiles(self, bound: Mapping[str, Any]) -> tuple[int, ...]:
        grid: Any = self._grid
        if callable(grid):
            unknown = [name for name in self._grid_parameters if name not in bound]
            if unknown:
                raise LaunchError(
                    f"the grid of {self.__name__} has the parameter {unknown[0]}, which the kernel does not have"
                )
            grid = grid(**{name: bound[name] for name in self._grid_parameters})
        sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
        for size in sizes:
            if not is_number(size) or isinstance(size, (bool, float)):
                raise LaunchError(f"the grid of {self.__name__} is {grid!r}, but must be one or several integers")
        return tuple(int(size) for size in sizes)

    def _described_variant(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        """`_variant`, for arguments that may be descriptions of arrays."""
        bound = self._bind(arguments, named)
        try:
            given = {name: v if name in self._constants else described(v) for name, v in bound.items()}
        except (Misuse, ValueError, TypeError) as error:
            raise LaunchError(f"{self.__name__}: {error}") from None
        return self._bound_variant(given)

    def _variant(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        return self._bound_variant(self._bind(arguments, named))

    def _bound_variant(self, bound: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        tiles = self._tiles(bound)
        specs: dict[str, Any] = {}
        given: list[Any] = []
        for name, value in bound.items():
            if name in self._constants:
                specs[name] = value
                continue
            spec, passed = self._spec(name, value)
            specs[name] = spec
            given.extend(passed)
        key = _hashable((tuple(specs.items()), len(tiles)))
        variant = self._variants.get(key)
        if variant is None or not variant.is_current:
            found = fingerprints.of(self.__smalti_function__, specs, len(tiles)) if disk_cache.is_enabled() else None
            translate = functools.partial(self._translate, specs, len(tiles))
            variant = self._variants[key] = Variant(self.__name__, found, translate)
        return variant, [*given, *tiles]

    def _spec(self, name: str, value: Any) -> tuple[Any, list[Any]]:
        """The facts that select the kernel, and the values that a launch passes."""
        stated = self._annotations.get(name)
        general = name in self._general
        if is_number(value):
            if isinstance(value, bool) or type(value).__name__ == "bool_":
                dtype = boolean
            elif isinstance(value, float):
                dtype = float32
            else:
                dtype = to_dtype(value.dtype) if hasattr(value, "dtype") else index
            if isinstance(stated, DType):
                dtype = stated
            if dtype == index and not general:
                if value == 1:
                    return ConstantSpec(1), []
                return ScalarSpec(dtype, value % DIVISOR == 0), [value]
            return ScalarSpec(dtype), [value]
        if isinstance(stated, DType):
            raise LaunchError(f"{self.__name__}: {name} is {value!r}, but must be a number of type {stated}")
        try:
            view = arrays.view(value)
        except arrays.NotAnArray as error:
            raise LaunchError(
                f"{self.__name__}: {name} is not an array or a number ({error}); annotate a constant with smalti.constexpr"
            ) from None
        try:
            dtype = to_dtype(view.dtype)
        except Misuse as error:
            raise LaunchError(f"{self.__name__}: the elements of {name} are not supported: {error.message}") from None
        wanted = stated if isinstance(stated, tuple) else (None, None)
        element, declared = wanted
        shape = view.shape
        if element is not None and element.bits < 8:
            if dtype.bits != 8 or not shape:
                raise LaunchError(
                    f"{self.__name__}: the elements of {name} are {dtype}, but must be int8 or uint8 with packed {element}"
                )
            shape = (*shape[:-1], shape[-1] * (8 // element.bits))
        elif element is not None and element != dtype:
            raise LaunchError(f"{self.__name__}: the elements of {name} are {dtype}, but must be {element}")
        sizes = tuple(1 if n == 1 and not general else None for n in shape)
        if declared is not None:
            if len(declared) != len(shape):
                raise LaunchError(f"{self.__name__}: {name} has {len(shape)} dimensions, but must have {len(declared)}")
            sizes = tuple(d if isinstance(d, int) else n for d, n in zip(declared, sizes, strict=True))
        strides = None
        if view.strides != arrays.row_major(view.shape):
            # Strides of packed elements are counted in bytes, except the last one.
            is_packed = element is not None and element.bits < 8
            fixed = [s == 0 or (s == 1 and (not is_packed or d == len(shape) - 1)) for d, s in enumerate(view.strides)]
            strides = tuple(s if is_fixed else None for s, is_fixed in zip(view.strides, fixed, strict=True))
        return ArraySpec(element or dtype, sizes, strides), [value]

    def _specialized(self, variant: Variant) -> SpecializedKernel:
        target = self._target
        key = _hashable((target, tuple(sorted(self._options.items()))))
        if key not in variant.compiled:
            chosen = devices.here() if target is None else targets.get(target)
            variant.compiled[key] = SpecializedKernel(
                lambda: variant.module, chosen, None, self._options, variant.cache, variant.signature, self._report
            )
        return variant.compiled[key]

    def _report(self, kernel: Kernel | sim.SimulatedKernel, seconds: float, is_loaded: bool) -> None:
        hooks.compiled(self.hooks, hooks.Compilation(kernel, seconds, is_loaded))

    # --- Translation ---

    def _translate(self, specs: Mapping[str, Any], dimensions: int) -> tuple[ir.Module, Mapping[Any, Captured]]:
        function = self.__smalti_function__
        try:
            source = source_of(function)
        except Misuse as error:
            raise CompileError(error.message, hint=error.hint) from None
        context = driver.new_context()
        for dialect in _DIALECTS:
            context.get_dialect_descriptor(dialect)
        nodes = {a.arg: a for a in ast.walk(source.node.args) if isinstance(a, ast.arg)}
        passed = {n: s for n, s in specs.items() if isinstance(s, (ArraySpec, ScalarSpec)) and n not in self._constants}
        ids = [f"grid{d}" for d in range(dimensions)]

        def argument(name: str, type: str) -> str:
            place = source.location(nodes.get(name, source.node))
            return f'%{name}: {type} loc("{name}"({_quoted(place)}))'

        text = ", ".join(
            [
                *(argument(name, spec.type) for name, spec in passed.items()),
                *(argument(name, "index") for name in ids),
                *(f"%tile{d}: index" for d in range(dimensions)),
            ]
        )
        place = _quoted(source.location(source.node))
        module = ir.Module.parse(
            f"triton_xla.entry_func @{function.__name__}({text}) tiles [{', '.join(f'%{name}' for name in ids)}] {{\n"
            f"  triton_xla.return loc({place})\n}} loc({place})\n",
            context,
        )
        block = module.body.operations[0].regions[0].blocks[0]
        translator = Translator()
        with context, ir.InsertionPoint(block.operations[len(block.operations) - 1]), ir.Location.unknown():
            names = self._arguments(specs, block)
            tiles = tuple(Scalar(value, index) for value in list(block.arguments)[len(passed) + dimensions :])
            grid = _GRID.set(tiles)
            try:
                result = translator.call(Frame(source, names, translator.outside_of(function), function.__code__))
                if result is not None:
                    raise CompileError(
                        "",
                        diagnostics=[Diagnostic("error", "a kernel returns a value", source.location(source.node))],
                        hint="write the result to an array",
                    )
            except CompileError as error:
                # The frames of the translator do not help the user.
                raise error.with_traceback(None) from None
            finally:
                _GRID.reset(grid)
        _verify(module, source.location(source.node))
        return module, translator.captured

    def _arguments(self, specs: Mapping[str, Any], block: ir.Block) -> dict[str, Any]:
        values = iter(block.arguments)
        names: dict[str, Any] = {}
        for name, spec in specs.items():
            if name in self._constants:
                names[name] = spec
            elif isinstance(spec, ArraySpec):
                names[name] = Array(next(values), spec.dtype, name)
            elif isinstance(spec, ConstantSpec):
                names[name] = spec.value
            else:
                scalar = Scalar(next(values), spec.dtype)
                names[name] = multiple_of(scalar, DIVISOR) if spec.is_multiple else scalar
        return names


def _verify(module: ir.Module, location: SourceLocation) -> None:
    """Raises CompileError with the lines of the kernel if an operation is invalid."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        found = [diagnostic_from_mlir(info) for info in error.error_diagnostics]
        if found and "does not dominate" in found[0].message:
            message = "a value of a loop or a branch of the kernel is used outside of it"
            first = dataclasses.replace(found[0], message=message)
            hint = "assign it to a name that has a value before the loop or branch"
            raise CompileError("", diagnostics=[first], hint=hint) from None
        raise CompileError("", diagnostics=found or [Diagnostic("error", str(error), location)]) from None


def _quoted(place: SourceLocation) -> str:
    file = place.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{file}":{place.line}:{place.column}'


def _hashable(value: Any) -> Any:
    """A key for a dictionary. Objects that are not hashable are compared by their repr."""
    if isinstance(value, (tuple, list)):
        return (type(value), tuple(_hashable(item) for item in value))
    if isinstance(value, dict):
        return (dict, tuple((key, _hashable(item)) for key, item in value.items()))
    try:
        hash(value)
    except TypeError:
        return (type(value), repr(value))
    # 1, 1.0 and True are equal, but give different kernels.
    return (type(value), value)


def _is_constexpr(annotation: Any) -> bool:
    return annotation is constexpr or (isinstance(annotation, str) and annotation.split(".")[-1] == "constexpr")


def _annotations(function: types.FunctionType) -> dict[str, Any]:
    """The element types and shapes that annotations state: `x: sl.Array[sl.float16, ("m", 64)]`, `n: sl.int32`."""
    try:
        given = inspect.get_annotations(function, eval_str=True)
    except Exception:  # Names that only type checkers know.
        return {}
    found: dict[str, Any] = {}
    for name, annotation in given.items():
        if isinstance(annotation, DType):
            found[name] = annotation
        elif isinstance(annotation, types.GenericAlias) and annotation.__origin__ is Array:
            element, *rest = annotation.__args__
            found[name] = (to_dtype(element), tuple(rest[0]) if rest else None)
    return found


@overload
def kernel(function: Callable[..., Any], /) -> PythonKernel: ...
@overload
def kernel(
    *,
    grid: Grid = ...,
    target: str | targets.Target | None = ...,
    do_not_specialize: Sequence[str] = ...,
    **options: Any,
) -> Callable[[Callable[..., Any]], PythonKernel]: ...
def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    grid: Grid = 1,
    target: str | targets.Target | None = None,
    do_not_specialize: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Makes a Python function a kernel, which is compiled when it is called.

    - `grid`: the number of tiles, a tuple for several dimensions, or a function of parameters of the kernel that returns
      them: `grid=lambda x, block: sl.cdiv(x.shape[0], block)`.
    - `target`: as in `smalti.compile`. Default: the GPU of this machine, else the CPU.
    - `do_not_specialize`: parameters for which a value of 1 and multiples of 16 do not give kernels of their own.
    - `options`: options of `smalti.compile`, such as `num_warps=4`.

    The parameters are arrays (`sl.Array`), numbers, and constants (`smalti.constexpr`).
    """

    def decorate(decorated: Callable[..., Any]) -> PythonKernel:
        if not isinstance(decorated, types.FunctionType):
            raise TypeError(f"@smalti.kernel is for functions, not {type(decorated).__name__}")
        return PythonKernel(decorated, grid, target, do_not_specialize, options)

    return decorate if function is None else decorate(function)
