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
import contextlib
import dataclasses
import enum
import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, overload

from .. import ir, targets
from ..cache import disk_cache
from ..calling import arrays, native
from ..compiler import driver
from ..diagnostics import Diagnostic, SourceLocation, diagnostic_from_mlir
from ..errors import CompileError, LaunchError
from ..launch import placement
from ..launch.kernel_cache import KernelCache
from ..launch.untraced import untraced
from ..remarks import Remark
from ..specialization import DIVISOR, SpecializedKernel
from . import fingerprints, hooks, interpreter, listing
from .arithmetic import is_number
from .debugging import multiple_of
from .fingerprints import Fingerprint
from .frames import Frame, Source, source_of
from .grid import GRID
from .specs import described
from .translator import Captured, Translator
from .trees import copied
from .types import DType, Misuse, boolean, float32, index
from .types import dtype as to_dtype
from .values import Array, Scalar

if TYPE_CHECKING:
    from .. import sim
    from ..calling._launcher import Dispatcher
    from ..launch.kernels import Kernel

INTERPRET = "interpret"
"""The option of a kernel whose body Python executes, instead of an option of the compilation."""


if TYPE_CHECKING:
    # A type checker accepts any default value and any use.
    constexpr: TypeAlias = Any
else:

    class constexpr:  # noqa: N801
        """The annotation of a parameter that is a constant of the kernel: `block: smalti.constexpr = 128`.

        Each value is a kernel of its own. The value can be any Python object that can be compared.
        """


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


Translation = tuple["ir.Module", Mapping[Any, Captured], Sequence["Remark"]]
"""The module of a kernel, the values outside of it that it used, and the remarks of the passes that ran on it."""


class Variant:
    """A kernel for the types of its arguments. It is translated when its module is needed, unless the cache on disk has it."""

    def __init__(
        self,
        name: str,
        fingerprint: Fingerprint | None,
        translate: Callable[[], Translation],
    ) -> None:
        self._fingerprint = fingerprint
        self._translate = translate
        self._module: ir.Module | None = None
        self._captured: tuple[Captured, ...] = ()
        self.remarks: Sequence[Remark] = ()
        """Remarks of the passes that ran on the translated module."""
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
        return _are_current(self._captured)

    def cells(self) -> tuple[tuple[tuple[Any, str, Any], ...], Callable[[], bool] | None]:
        """The captured values that are current while they are the same objects, with the dictionaries or cells that have
        them, and a function that checks the others."""
        found: list[tuple[Any, str, Any]] = []
        others: list[Captured] = []
        for one in self._captured:
            space = vars(one.owner) if isinstance(one.owner, types.ModuleType) else one.owner
            value = one.read()
            is_cell = isinstance(space, types.CellType) or (isinstance(space, dict) and one.name in space)
            if is_cell and _is_fixed(value):
                found.append((space, one.name, value))
            else:
                others.append(one)
        return tuple(found), functools.partial(_are_current, others) if others else None

    @property
    def module(self) -> ir.Module:
        """The module before the compilation."""
        if self._module is None:
            if not self.is_current:
                raise LaunchError(
                    "the kernel is from the cache, and a value that it uses has changed; compile it again"
                )
            self._load()
        assert self._module is not None
        return self._module

    @property
    def digest(self) -> str:
        """Equal for variants with equal modules, also in other processes."""
        if self.cache is not None and self._fingerprint is not None:
            return self._fingerprint.digest
        return hashlib.sha256(str(self.module).encode()).hexdigest()

    def _load(self) -> None:
        self._module, captured, self.remarks = self._translate()
        self._captured = tuple(captured.values())
        if self._fingerprint is not None and not self._fingerprint.covers(captured):
            self.cache = None


def _are_current(captured: Sequence[Captured]) -> bool:
    return all(one.is_current for one in captured)


def _is_fixed(value: Any) -> bool:
    """Whether a static value does not have a container that can change."""
    if isinstance(value, tuple):
        return all(map(_is_fixed, cast("tuple[Any, ...]", value)))
    return copied(value) is value


@dataclasses.dataclass(frozen=True)
class Binding:
    """The kernel for the types of arguments, and the array views and numbers of its call."""

    kernel: SpecializedKernel
    given: list[Any]
    digest: str
    """Equal for equal modules, also in other processes."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel."""

    name: str
    default: Any
    """`inspect.Parameter.empty` without a default value."""
    is_constant: bool
    annotation: Any
    """An element type or `int`, `float` or `bool` for a number; element type and shape, or None, for an array."""


Grid = int | Sequence[int] | Callable[..., Any]

_FIXED = (int, float, str, type(None), DType, type, types.FunctionType, enum.Enum)
"""Types of constants that are equal while they are the same object."""


class PythonKernel(native.NativeCallable):
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
        self.native = self._make_dispatcher()
        self._origin: PythonKernel | None = None
        """The kernel that the decorator made, if this one is from `on`."""

    def on(self, target: str | targets.Target | None = None, **options: Any) -> PythonKernel:
        """The kernel for another target or with other options of `smalti.compile`, such as `num_warps=4`, or with `interpret=True`."""
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        other._origin = self._origin or self
        other._target = self._target if target is None else target
        other._options = {**self._options, **options}
        other.native = other._make_dispatcher()
        return other

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters by name, in order."""
        given = self._signature.parameters.values()
        return {
            p.name: Parameter(p.name, p.default, p.name in self._constants, self._annotations.get(p.name))
            for p in given
        }

    @property
    def target(self) -> str | targets.Target | None:
        """The target that the kernel states, or None."""
        return self._target

    @property
    def is_interpreted(self) -> bool:
        """Whether Python executes the body."""
        return bool(self._options.get(INTERPRET))

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

    @untraced("a kernel is called without an operator (smalti.torch.custom_op)")
    def _call(self, /, *arguments: Any, stream: Any = None, **named: Any) -> None:
        """Runs the kernel on arrays and numbers, in place. Compiles it unless a call with equal types did.

        `stream` is a stream of CUDA or HIP. Default: torch's current stream for tensors of torch, else the default stream. Raises CompileError with the line of the kernel, and LaunchError if an
        argument cannot be passed.
        """
        if self.is_interpreted:
            self._interpret(arguments, named)
            return
        variant, given = self._variant(arguments, named)
        kernel = self._specialized(variant, given).variant(*given)
        options = {} if stream is None else {"stream": stream}
        if hooks.has_launch_hooks(self.hooks):
            with hooks.launching(self.hooks, hooks.Launch(kernel, tuple(given), stream)):
                kernel(*given, **options)
            return
        kernel(*given, **options)
        if getattr(kernel, "native", None) is None:
            return
        sources = self._sources(arguments, named)
        if sources is not None:
            native.remember(self, arguments, named, kernel, sources, functools.partial(self._cells, variant))

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[SpecializedKernel, list[Any]]:
        """The kernel for the types of these arguments, and the arrays and numbers of its call."""
        variant, given = self._variant(arguments, named)
        return self._specialized(variant, given), given

    def bind_descriptions(self, named: Mapping[str, Any]) -> Binding:
        """As `bind`, for arguments of which arrays may be descriptions."""
        variant, given = self._described_variant((), named)
        return Binding(self._specialized(variant, given), given, variant.digest)

    def _cells(self, variant: Variant) -> tuple[tuple[tuple[Any, str, Any], ...], Callable[[], bool]]:
        """The captured values that the dispatcher compares before a launch, and a function that checks the others and hooks."""
        found, is_current = variant.cells()

        def is_native() -> bool:
            return not hooks.has_launch_hooks(self.hooks) and (is_current is None or is_current())

        return found, is_native

    def _make_dispatcher(self) -> Dispatcher | None:
        parameters = self._signature.parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        names = [parameter.name for parameter in parameters]
        if any(one.kind not in kinds for one in parameters) or not set(self._grid_parameters) <= set(names):
            return None
        grid: Any = self._grid
        if not callable(grid):
            grid = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
        return native.dispatcher(
            [
                native.Parameter(
                    one.name, () if one.default is one.empty else (one.default,), one.name in self._constants
                )
                for one in parameters
            ],
            sum(one.kind is kinds[0] for one in parameters),
            DIVISOR,
            grid,
            self._grid_parameters,
        )

    def _sources(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[int] | None:
        """The parameters that a launch passes, or None if the key of a dispatcher does not determine the kernel."""
        sources: list[int] = []
        for position, (name, value) in enumerate(self._bind(arguments, named).items()):
            if name in self._constants:
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

    def compile(self, /, *arguments: Any, **named: Any) -> Kernel | sim.SimulatedKernel:
        """The compiled kernel for these arguments: `k.compile(x, y).asm["ptx"]`. It is not launched.

        An array may also be a `smalti.ShapeDtypeStruct`. The last arguments of the compiled kernel are the numbers of tiles of
        the grid.
        """
        variant, given = self._described_variant(arguments, named)
        return self._specialized(variant, given).variant(*given)

    def warmup(self, /, *arguments: Any, **named: Any) -> Kernel | sim.SimulatedKernel:
        """Compiles the kernel for these arguments, as `compile` does, and prepares its code for the CPU or the emulator, so
        that the first launch does not."""
        kernel = self.compile(*arguments, **named)
        if not kernel.target.is_gpu or kernel.target.is_emulated:
            kernel.launcher  # noqa: B018
        return kernel

    def module(self, /, *arguments: Any, **named: Any) -> ir.Module:
        """A copy of the module for these arguments, before it is compiled."""
        return driver.clone(self._described_variant(arguments, named)[0].module)

    def ir(self, level: str, /, *arguments: Any, lines: bool = False, **named: Any) -> str:
        """The code at a level: the one of the kernel ("tile" or "block"), or a key of `Kernel.asm` such as "mosaic", "llvm",
        "ptx" or "gcn".

        With `lines`, a comment before the code of a source line shows the line and the calls that led to it.
        """
        if lines:
            variant, given = self._described_variant(arguments, named)
            return listing.listing(
                self._specialized(variant, given), "source" if level == self._level else level, given
            )
        if level == self._level:
            return str(self._described_variant(arguments, named)[0].module)
        asm: Mapping[str, str] = getattr(self.compile(*arguments, **named), "asm", {})
        if level not in asm:
            known = ", ".join([self._level, *(name for name in asm if name != self._level)])
            raise LaunchError(f"the kernel does not have the level '{level}'; its levels are {known}")
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

    def _facts(self, bound: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any], tuple[int, ...]]:
        """The facts of each parameter, the arguments of a launch without the numbers of tiles, and these numbers."""
        grid = self._tiles(bound)
        specs: dict[str, Any] = {}
        given: list[Any] = []
        for name, value in bound.items():
            if name in self._constants:
                specs[name] = value
                continue
            spec, passed = self._spec(name, value)
            specs[name] = spec
            given.extend(passed)
        return specs, given, grid

    def _variant(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        return self._bound_variant(self._bind(arguments, named))

    def _described_variant(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        """`_variant`, for arguments that may be descriptions of arrays."""
        bound = self._bind(arguments, named)
        try:
            given = {name: v if name in self._constants else described(v) for name, v in bound.items()}
        except (Misuse, ValueError, TypeError) as error:
            raise LaunchError(f"{self.__name__}: {error}") from None
        return self._bound_variant(given)

    def _bound_variant(self, bound: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        specs, given, grid = self._facts(bound)
        launch, numbers = self._launch(grid)
        key = hashable((tuple(specs.items()), launch))
        variant = self._variants.get(key)
        if variant is None or not variant.is_current:
            found = self._fingerprint(specs, launch) if disk_cache.is_enabled() else None
            translate = functools.partial(self._translate, specs, launch)
            variant = self._variants[key] = Variant(self.__name__, found, translate)
        return variant, [*given, *numbers]

    def _fingerprint(self, specs: Mapping[str, Any], launch: Any) -> Fingerprint | None:
        return fingerprints.of(self.__smalti_function__, specs, launch)

    def _launch(self, grid: tuple[int, ...]) -> tuple[Any, Sequence[int]]:
        """The facts of a launch that select the kernel, and the numbers that it passes after the arguments."""
        return len(grid), grid

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
            if arrays.is_torch(value) or arrays.is_jax(value):
                raise LaunchError(f"{self.__name__}: {name}: {error}") from None
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

    def _specialized(self, variant: Variant, given: Sequence[Any]) -> SpecializedKernel:
        arrays_given = [value for value in given if not is_number(value)]
        memory = placement.memory_of(arrays_given) if self._target is None else None
        options = {"line_info": True, **self._options}
        options.pop(INTERPRET, None)
        key = hashable((self._target, memory, tuple(sorted(options.items()))))
        if key not in variant.compiled:
            chosen = placement.target_for(memory) if self._target is None else targets.get(self._target)
            variant.compiled[key] = SpecializedKernel(
                lambda: variant.module, chosen, None, options, variant.cache, variant.signature, self._report
            )
        return variant.compiled[key]

    def _report(self, kernel: Kernel | sim.SimulatedKernel, seconds: float, is_loaded: bool) -> None:
        hooks.compiled(self.hooks, hooks.Compilation(kernel, seconds, is_loaded))

    # --- Translation ---

    def entry(self, specs: Mapping[str, Any], launch: Any) -> tuple[ir.Module, Source]:
        """A module with an empty kernel, and the source of the kernel."""
        function = self.__smalti_function__
        try:
            source = source_of(function)
        except Misuse as error:
            raise CompileError(error.message, hint=error.hint) from None
        context = driver.new_context()
        for dialect in self._dialects:
            context.get_dialect_descriptor(dialect)
        nodes = {a.arg: a for a in ast.walk(source.node.args) if isinstance(a, ast.arg)}
        passed = {n: s for n, s in specs.items() if isinstance(s, (ArraySpec, ScalarSpec)) and n not in self._constants}

        def argument(name: str, type: str) -> str:
            place = source.location(nodes.get(name, source.node))
            return f'%{name}: {type} loc("{name}"({_quoted(place)}))'

        arguments = [argument(name, spec.type) for name, spec in passed.items()]
        text = self._declaration(function.__name__, arguments, argument, launch, _quoted(source.location(source.node)))
        return ir.Module.parse(text, context), source

    def _translate(self, specs: Mapping[str, Any], launch: Any) -> Translation:
        function = self.__smalti_function__
        module, source = self.entry(specs, launch)
        block = self._body(module)
        translator = Translator()
        with (
            module.context,
            ir.InsertionPoint(block.operations[len(block.operations) - 1]),
            ir.Location.unknown(),
            self._scope(launch),
        ):
            names = self.arguments(specs, block)
            grid = GRID.set(self.tile_ids(block, launch))
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
                GRID.reset(grid)
        _verify(module, source.location(source.node))
        return module, translator.captured, self._finish(module, launch)

    # `smalti.block` overrides these attributes and methods.

    _level: ClassVar[str] = "tile"
    _dialects: ClassVar[Sequence[str]] = ("arith", "math", "memref", "scf", "tensor", "triton_xla")

    def _declaration(
        self, name: str, arguments: list[str], argument: Callable[[str, str], str], launch: Any, place: str
    ) -> str:
        """The text of the module with an empty kernel. `argument` declares a further argument."""
        ids = [f"grid{d}" for d in range(launch)]
        text = [*arguments, *(argument(i, "index") for i in ids), *(f"%tile{d}: index" for d in range(launch))]
        return (
            f"module {{ triton_xla.entry_func @{name}({', '.join(text)}) tiles [{', '.join(f'%{i}' for i in ids)}] {{\n"
            f"  triton_xla.return loc({place})\n}} loc({place}) }} loc({place})\n"
        )

    def _body(self, module: ir.Module) -> ir.Block:
        return module.body.operations[0].regions[0].blocks[0]

    def _scope(self, launch: Any) -> contextlib.AbstractContextManager[Any]:
        """Entered while the function is translated."""
        return contextlib.nullcontext()

    def tile_ids(self, block: ir.Block, launch: Any) -> tuple[Scalar, ...]:
        return tuple(Scalar(value, index) for value in list(block.arguments)[-launch:])

    def _interpret(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        interpreter.run(self, *self._facts(self._bind(arguments, named)))

    def _finish(self, module: ir.Module, launch: Any) -> Sequence[Remark]:
        """Runs passes on the translated module, and returns their remarks."""
        return ()

    def _array(self, value: ir.Value, spec: ArraySpec, name: str) -> Any:
        return Array(value, spec.dtype, name)

    def arguments(self, specs: Mapping[str, Any], block: ir.Block) -> dict[str, Any]:
        """The values of the parameters."""
        values = iter(block.arguments)
        names: dict[str, Any] = {}
        for name, spec in specs.items():
            if name in self._constants:
                names[name] = spec
            elif isinstance(spec, ArraySpec):
                names[name] = self._array(next(values), spec, name)
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


def hashable(value: Any) -> Any:
    """A key for a dictionary. Objects that are not hashable are compared by their repr."""
    if isinstance(value, (tuple, list)):
        return (type(value), tuple(hashable(item) for item in value))
    if isinstance(value, dict):
        return (dict, tuple((key, hashable(item)) for key, item in value.items()))
    try:
        hash(value)
    except TypeError:
        return (type(value), repr(value))
    # 1, 1.0 and True are equal, but give different kernels.
    return (type(value), value)


def _is_constexpr(annotation: Any) -> bool:
    return annotation is constexpr or (isinstance(annotation, str) and annotation.split(".")[-1] == "constexpr")


def _annotations(function: types.FunctionType) -> dict[str, Any]:
    """The types and shapes that annotations state: `x: sl.Array[sl.float16, ("m", 64)]`, `n: sl.int32`, `n: int`."""
    try:
        given = inspect.get_annotations(function, eval_str=True)
    except Exception:  # Names that only type checkers know.
        return {}
    found: dict[str, Any] = {}
    for name, annotation in given.items():
        if isinstance(annotation, DType) or annotation in (bool, int, float):
            found[name] = annotation
        elif (
            isinstance(annotation, types.GenericAlias)
            and isinstance(annotation.__origin__, type)
            and issubclass(annotation.__origin__, Array)
        ):
            element, *rest = annotation.__args__
            found[name] = (to_dtype(element), tuple(rest[0]) if rest else None)
    return found


Level = Literal["tile", "block"]
LEVELS: dict[str, type[PythonKernel]] = {"tile": PythonKernel}
"""The classes of kernels by their level. `smalti.block` adds its own."""


@overload
def kernel(function: Callable[..., Any], /) -> PythonKernel: ...
@overload
def kernel(
    *,
    grid: Grid = ...,
    target: str | targets.Target | None = ...,
    do_not_specialize: Sequence[str] = ...,
    level: Level = ...,
    **options: Any,
) -> Callable[[Callable[..., Any]], PythonKernel]: ...
def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    grid: Grid = 1,
    target: str | targets.Target | None = None,
    do_not_specialize: Sequence[str] = (),
    level: Level = "tile",
    **options: Any,
) -> Any:
    """Makes a Python function a kernel, which is compiled when it is called.

    - `grid`: the number of tiles, a tuple for several dimensions, or a function of parameters of the kernel that returns
      them: `grid=lambda x, block: sl.cdiv(x.shape[0], block)`.
    - `target`: as in `smalti.compile`. Default: the GPU of the arrays, or the CPU if they are in host memory.
    - `do_not_specialize`: parameters for which a value of 1 and multiples of 16 do not give kernels of their own.
    - `level`: "tile", or "block" for a kernel that is written with `smalti.block`.
    - `options`: options of `smalti.compile`, such as `num_warps=4`. `interpret=True` executes the body in Python, for
      breakpoints and `print`.

    The parameters are arrays (`sl.Array`), numbers, and constants (`smalti.constexpr`).
    """

    if level not in LEVELS:
        hint = "; import smalti.block before the kernel" if level == "block" else f", not {', '.join(LEVELS)}"
        raise TypeError(f"level is {level!r}, which is not available{hint}")

    def decorate(decorated: Callable[..., Any]) -> PythonKernel:
        if not isinstance(decorated, types.FunctionType):
            raise TypeError(f"@smalti.kernel is for functions, not {type(decorated).__name__}")
        return LEVELS[level](decorated, grid, target, do_not_specialize, options)

    return decorate if function is None else decorate(function)
