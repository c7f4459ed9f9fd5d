# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@smalti.kernel`: kernels that are Python functions.

@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def double(x: sl.Array, y: sl.Array, block: smalti.constexpr = 128):
    i = sl.tile_id() * block
    y[i : i + block] = 2 * x[i : i + block]

double(x, y)
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, ParamSpec, TypeAlias, TypeVar, overload

from .. import targets
from ..cache import disk_cache
from ..calling import grid_programs, native
from ..diagnostics import Diagnostic
from ..errors import CompileError, LaunchError, SmaltiError
from ..launch import placement
from ..launch.untraced import untraced
from ..specialization import DIVISOR, SpecializedKernel
from . import fingerprints, hooks
from .arithmetic import cdiv, is_number
from .fingerprints import Fingerprint
from .frames import parameter_location
from .parameters import Parameter, Parameters, WrongAnnotation, described
from .trees import hashable
from .types import Misuse
from .values import counted
from .variants import Variant

if TYPE_CHECKING:
    from .. import ir, sim
    from ..calling._launcher import Dispatcher
    from ..launch.kernels import Kernel
    from .translation import TileTranslation

INTERPRET = "interpret"
"""The option of a kernel whose body Python executes, instead of an option of the compilation."""

P = ParamSpec("P")
K = TypeVar("K", bound="PythonKernel[...]")

FunctionOfParameters: TypeAlias = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any, Any, Any], Any]
    | Callable[..., Any]
)
"""A function of parameters of a kernel. Type checkers infer the parameters of a lambda from `[Any]`, but not from `...`, which
accepts a function of more parameters."""

Grid: TypeAlias = int | Sequence[int] | FunctionOfParameters


@dataclasses.dataclass(frozen=True)
class Binding:
    """The kernel for the types of arguments, and the array views and numbers of its call."""

    kernel: SpecializedKernel
    given: list[Any]
    digest: str
    """Equal for equal modules, also in other processes."""


class PythonKernel(native.NativeCallable, Generic[P]):
    """A kernel that is a Python function; see `smalti.kernel`. Calling it compiles it for its arguments, and runs it."""

    _level: ClassVar[str] = "tile"

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
        try:
            self._parameters = Parameters(function, do_not_specialize)
        except WrongAnnotation as error:
            place = parameter_location(function, error.parameter)
            raise CompileError("", diagnostics=[Diagnostic("error", error.message, place)], hint=error.hint) from None
        self.hooks = hooks.Hooks()
        """The hooks of this kernel, for all targets and options; see `smalti.hooks`."""
        self._variants: dict[Any, Variant] = {}
        self.native = self._make_dispatcher()
        self._origin: PythonKernel[P] | None = None
        """The kernel that the decorator made, if this one is from `on`."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, *arguments: P.args, **named: P.kwargs) -> None: ...
        @overload
        def __call__(self, *arguments: Any, stream: Any, **named: Any) -> None: ...
        def __call__(self, *arguments: Any, **named: Any) -> None: ...

    def on(self, target: str | targets.Target | None = None, **options: Any) -> PythonKernel[P]:
        """The kernel for another target or with other options of `smalti.compile`, such as `num_warps=4`, or with `interpret=True`."""
        other = self._copy(type(self))
        other._origin = self._origin or self
        other._target = self._target if target is None else target
        other._options = {**self._options, **options}
        other.native = other._make_dispatcher()
        return other

    def _copy(self, kind: type[K]) -> K:
        """A kernel of the same function, without a dispatcher. Both share variants, so that their keys must differ if their
        translations do: see `_launch`."""
        other = kind.__new__(kind)
        vars(other).update(vars(self))
        other.native = None
        return other

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters by name, in order."""
        return self._parameters.by_name

    @property
    def target(self) -> str | targets.Target | None:
        """The target that the kernel states, or None."""
        return self._target

    @property
    def is_interpreted(self) -> bool:
        """Whether Python executes the body."""
        return bool(self._options.get(INTERPRET))

    def __getitem__(self, grid: Any) -> Any:
        raise TypeError(
            f"{self.__name__} is called without a grid in brackets; state the grid in the decorator: @smalti.kernel(grid=...)"
        )

    def __repr__(self) -> str:
        return (
            f"<smalti.kernel {self.__smalti_function__.__name__}({', '.join(self._parameters.signature.parameters)})>"
        )

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
        sources = self._parameters.sources(self._parameters.bind(arguments, named))
        if sources is not None:
            native.remember(self, arguments, named, kernel, sources, functools.partial(self._cells, variant))

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[SpecializedKernel, list[Any]]:
        """The kernel for the types of these arguments, and the arrays and numbers of its call."""
        variant, given = self._variant(arguments, named)
        return self._specialized(variant, given), given

    def launch(self, kernel: SpecializedKernel, given: Sequence[Any]) -> None:
        """Runs a kernel with the arguments of `bind`, and calls the launch hooks."""
        if hooks.has_launch_hooks(self.hooks):
            with hooks.launching(self.hooks, hooks.Launch(kernel.variant(*given), tuple(given))):
                kernel(*given)
            return
        kernel(*given)

    def bind_descriptions(self, named: Mapping[str, Any]) -> Binding:
        """As `bind`, for arguments of which arrays may be descriptions."""
        variant, given = self._described_variant((), named)
        return Binding(self._specialized(variant, given), given, variant.digest)

    def version(self, named: Mapping[str, Any]) -> Any:
        """A key that is equal for calls with these arguments that run the same code on the same grid. It changes if a value
        outside of the kernel that the kernel uses changes. Arrays may be descriptions."""
        variant, given = self._described_variant((), named)
        return variant, hashable([value for value in given if is_number(value)])

    def _cells(self, variant: Variant) -> tuple[tuple[tuple[Any, ...], ...], Callable[[], bool] | None]:
        """The captured values and lists of hooks that the dispatcher compares before a launch, and a function that checks
        other captured values."""
        found, is_current = variant.cells()
        return (*found, (vars(self), "hooks", self.hooks), *hooks.launch_lists(self.hooks)), is_current

    def _make_dispatcher(self) -> Dispatcher | None:
        parameters = self._parameters.signature.parameters.values()
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
                    one.name, () if one.default is one.empty else (one.default,), one.name in self._parameters.constants
                )
                for one in parameters
            ],
            sum(one.kind is kinds[0] for one in parameters),
            DIVISOR,
            grid,
            self._grid_parameters,
            grid_programs.program(grid, self._grid_parameters, cdiv),
        )

    def compile(self, /, *arguments: P.args, **named: P.kwargs) -> Kernel | sim.SimulatedKernel:
        """The compiled kernel for these arguments: `k.compile(x, y).asm["ptx"]`. It is not launched.

        An array may also be a `smalti.ShapeDtypeStruct`. The last arguments of the compiled kernel are the numbers of tiles of
        the grid.
        """
        variant, given = self._described_variant(arguments, named)
        return self._specialized(variant, given).variant(*given)

    def warmup(self, /, *arguments: P.args, **named: P.kwargs) -> Kernel | sim.SimulatedKernel:
        """Compiles the kernel for these arguments, as `compile` does, and prepares its code for the CPU or the emulator, so
        that the first launch does not."""
        kernel = self.compile(*arguments, **named)
        if not kernel.target.is_gpu or kernel.target.is_emulated:
            kernel.launcher  # noqa: B018
        return kernel

    def module(self, /, *arguments: P.args, **named: P.kwargs) -> ir.Module:
        """A copy of the module for these arguments, before it is compiled."""
        from ..compiler import driver

        return driver.clone(self._described_variant(arguments, named)[0].module)

    @overload
    def ir(self, level: str, /, *arguments: P.args, **named: P.kwargs) -> str: ...
    @overload
    def ir(self, level: str, /, *arguments: Any, lines: bool, **named: Any) -> str: ...
    def ir(self, level: str, /, *arguments: Any, lines: bool = False, **named: Any) -> str:
        """The code at a level: the one of the kernel ("tile" or "block"), or a key of `Kernel.asm` such as "mosaic", "llvm",
        "ptx" or "gcn".

        With `lines`, a comment before the code of a source line shows the line and the calls that led to it.
        """
        if lines:
            from . import listing

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

    def _tiles(self, bound: Mapping[str, Any]) -> tuple[int, ...]:
        grid: Any = self._grid
        if callable(grid):
            unknown = [name for name in self._grid_parameters if name not in bound]
            if unknown:
                raise LaunchError(
                    f"the grid of {self.__name__} has the parameter {unknown[0]}, which the kernel does not have; the kernel "
                    f"has {', '.join(bound) or 'no parameters'}"
                )
            given = {name: bound[name] for name in self._grid_parameters}
            try:
                grid = grid(**given)
            except SmaltiError:
                raise
            except Exception as error:
                raise self._grid_error(given, error) from error
        sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
        if not sizes or not all(
            isinstance(n, numbers.Integral) and not isinstance(n, bool) and int(n) >= 0 for n in sizes
        ):
            raise LaunchError(
                f"the grid of {self.__name__} is {grid!r}, but must be one or several integers that are not negative"
            )
        return tuple(int(size) for size in sizes)

    def _grid_error(self, given: Mapping[str, Any], error: Exception) -> LaunchError:
        """The error for an exception of the grid function, such as for arguments with fewer dimensions."""
        facts: list[str] = []
        for name, value in given.items():
            if name in self._parameters.constants:
                if is_number(value):
                    facts.append(f"{name} is {value!r}")
                continue
            spec, _ = self._spec(name, value)  # Raises LaunchError for a value that the kernel does not accept.
            shape = getattr(spec, "shape", None)
            facts.append(f"{name} is {value!r}" if shape is None else f"{name} has {counted(len(shape), 'dimension')}")
        message = f"the grid function of {self.__name__} failed with {type(error).__name__}: {error}"
        return LaunchError(f"{message}; {', '.join(facts)}" if facts else message)

    def _facts(self, bound: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any], tuple[int, ...]]:
        """The facts of each parameter, the arguments of a launch without the numbers of tiles, and these numbers."""
        grid = self._tiles(bound)
        specs: dict[str, Any] = {}
        given: list[Any] = []
        for name, value in bound.items():
            if name in self._parameters.constants:
                specs[name] = value
                continue
            spec, passed = self._spec(name, value)
            specs[name] = spec
            given.extend(passed)
        return specs, given, grid

    def _variant(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        return self._bound_variant(self._parameters.bind(arguments, named))

    def _described_variant(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        """`_variant`, for arguments that may be descriptions of arrays."""
        bound = self._parameters.bind(arguments, named)
        try:
            given = {name: v if name in self._parameters.constants else described(v) for name, v in bound.items()}
        except Misuse as error:
            raise LaunchError(f"{self.__name__}: {error.message}", hint=error.hint) from None
        except (ValueError, TypeError) as error:
            raise LaunchError(f"{self.__name__}: {error}") from None
        return self._bound_variant(given)

    def _bound_variant(self, bound: Mapping[str, Any]) -> tuple[Variant, list[Any]]:
        specs, given, grid = self._facts(bound)
        launch, numbers = self._launch(grid)
        key = (self._parameters.key(specs), hashable(launch))
        variant = self._variants.get(key)
        if variant is None or not variant.is_current:
            found = self._fingerprint(specs, launch) if disk_cache.is_enabled() else None
            variant = self._variants[key] = Variant(
                self.__name__, found, lambda: self._translation.translate(specs, launch)
            )
        return variant, [*given, *numbers]

    def _fingerprint(self, specs: Mapping[str, Any], launch: Any) -> Fingerprint | None:
        return fingerprints.of(self.__smalti_function__, specs, launch)

    def _launch(self, grid: tuple[int, ...]) -> tuple[Any, Sequence[int]]:
        """The facts of a launch that select the kernel, and the numbers that it passes after the arguments."""
        return len(grid), grid

    def _spec(self, name: str, value: Any) -> tuple[Any, list[Any]]:
        """The facts that select the kernel, and the values that a launch passes."""
        return self._parameters.spec(name, value)

    def _specialized(self, variant: Variant, given: Sequence[Any]) -> SpecializedKernel:
        memory = None
        if self._target is None:
            memory = placement.memory_of([value for value in given if not is_number(value)])
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

    @property
    def _translation(self) -> TileTranslation:
        # Not imported if the cache has the kernel.
        from .translation import TileTranslation

        return TileTranslation(self.__smalti_function__, self._parameters.constants)

    def _interpret(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        from . import interpreter

        interpreter.run(self._translation, *self._facts(self._parameters.bind(arguments, named)))


Level = Literal["tile", "block"]
LEVELS: dict[str, type[PythonKernel[...]]] = {"tile": PythonKernel}
"""The classes of kernels by their level. `smalti.block` adds its own."""


@overload
def kernel(function: Callable[P, Any], /) -> PythonKernel[P]: ...
@overload
def kernel(
    *,
    grid: Grid = ...,
    target: str | targets.Target | None = ...,
    do_not_specialize: Sequence[str] = ...,
    level: Level = ...,
    **options: Any,
) -> Callable[[Callable[P, Any]], PythonKernel[P]]: ...
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
      them: `grid=lambda x, block: sl.cdiv(x.shape[0], block)`. Default: 1, so that `sl.tile_id()` is 0.
    - `target`: as in `smalti.compile`. Default: the GPU of the arrays, or the CPU if they are in host memory.
    - `do_not_specialize`: parameters for which a value of 1 and multiples of 16 do not give kernels of their own.
    - `level`: "tile", or "block" for a kernel that is written with `smalti.block`.
    - `options`: options of `smalti.compile`, such as `num_warps=4`. `interpret=True` executes the body in Python, for
      breakpoints and `print`.

    The parameters are arrays (`sl.Array`), numbers, and constants (`smalti.constexpr`).
    """

    if level not in LEVELS:
        if level == "block":
            raise TypeError("level is 'block', which requires smalti.block; import smalti.block before the kernel")
        raise TypeError(f"level is {level!r}; it must be {' or '.join(map(repr, LEVELS))}")

    def decorate(decorated: Callable[..., Any]) -> PythonKernel[...]:
        if not isinstance(decorated, types.FunctionType):
            raise TypeError(f"@smalti.kernel is for functions, not {type(decorated).__name__}")
        return LEVELS[level](decorated, grid, target, do_not_specialize, options)

    return decorate if function is None else decorate(function)
