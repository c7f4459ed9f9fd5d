# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Specialization of kernels at launch, for the sizes and strides of the arrays.

kernel = smalti.specialize("matmul.mlir", target="sm_90a")
kernel(a, b, c)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from . import targets
from .bindings import ir
from .calling import arrays, native
from .calling.arguments import Argument
from .calling.calls import extent
from .errors import LaunchError
from .launch.kernels import Kernel

if TYPE_CHECKING:
    from . import sim
    from .calling._launcher import Dispatcher
    from .calling.arguments import Entry
    from .compiler import driver
    from .launch.kernel_cache import KernelCache

DIVISOR = 16
"""Sizes and strides, in elements, are specialized for multiples of this number."""
MAX_BYTES = 2**31 - 1
"""Arrays of at most this many bytes have offsets of 32 bits."""

_OPTIONS = ("stream", "time_limit")


@dataclass(frozen=True)
class Facts:
    """Properties of one array, and those that its argument states."""

    size_divisors: tuple[int, ...]
    stride_divisors: tuple[int, ...]
    max_bytes: int | None


def facts(argument: Argument, value: Any) -> Facts | None:
    """The facts of an array; None if the kernel does not take its sizes or strides."""
    if argument.num_parameters == 1:
        return None
    try:
        view = arrays.view(value)
    except arrays.NotAnArray as error:
        raise LaunchError(f"{argument}: {error}") from None
    assert argument.shape is not None and argument.strides is not None
    if len(view.shape) != len(argument.shape):
        # The launch reports it.
        return None

    def divisors(given: tuple[int, ...], dynamic: tuple[int, ...], stated: tuple[int, ...]) -> tuple[int, ...]:
        known = stated or (1,) * len(given)
        return tuple(
            math.lcm(divisor, DIVISOR)
            # With this divisor, the kernel may use TMA, which requires strides that are not negative.
            if dim in dynamic and number >= 0 and number % math.lcm(divisor, DIVISOR) == 0
            else divisor
            for dim, (number, divisor) in enumerate(zip(given, known, strict=True))
        )

    size = max(argument.dtype.bits // 8, 1)
    first, last = extent(view, size)
    found = max(last - first, *(number * size for number in view.shape), 0)
    most = argument.max_bytes
    # The bound states that elements follow the first one.
    is_positive = all(view.strides[dim] >= 0 for dim in argument.dynamic_strides)
    if found <= MAX_BYTES and is_positive and (most is None or most > MAX_BYTES):
        most = MAX_BYTES
    sizes = divisors(view.shape, argument.dynamic_sizes, argument.size_divisors)
    strides = divisors(view.strides, argument.dynamic_strides, argument.stride_divisors)
    # The argument and the array count bytes of packed elements, except in the last stride.
    packed = argument.packed
    return Facts((*sizes[:-1], sizes[-1] * packed), (*(step * packed for step in strides[:-1]), strides[-1]), most)


class SpecializedKernel(native.NativeCallable):
    """A tile-level kernel with a variant for each combination of facts; see `smalti.specialize`."""

    def __init__(
        self,
        module: ir.Module | Callable[[], ir.Module],
        target: targets.Target,
        name: str | None,
        options: dict[str, Any],
        cache: KernelCache | None = None,
        signature: Entry | None = None,
        report: Callable[[Kernel | sim.SimulatedKernel, float, bool], None] | None = None,
    ) -> None:
        """With a `signature`, which is the entry of the module, `module` may be a function that returns the module. `report`
        is called with each new variant, the seconds that it took, and whether it is from the cache."""
        self._source = module if callable(module) else lambda: module
        self.options = options
        """Those of `smalti.compile`."""
        self._cache = cache
        self._report = report
        self.target = target
        if signature is None:
            # The compiler is not imported if the cache has the kernel.
            from .compiler import entry

            signature = entry.describe(entry.find_entry(self._source(), name))
        self.entry = signature
        self.variants: dict[tuple[Facts | None, ...], Kernel | sim.SimulatedKernel] = {}
        """The compiled kernels by the facts of each argument."""
        self.native = self._make_dispatcher() if target.is_gpu and not target.is_emulated else None

    def _make_dispatcher(self) -> Dispatcher | None:
        def common(divisors: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(math.lcm(divisor, DIVISOR) for divisor in divisors)

        parameters = [
            native.Parameter(
                size_divisors=common(argument.size_divisors), stride_divisors=common(argument.stride_divisors)
            )
            for argument in self.entry.arguments
        ]
        return native.dispatcher(parameters, len(parameters), DIVISOR)

    def _facts(self, arguments: Sequence[Any]) -> tuple[Facts | None, ...]:
        # The launch reports a wrong number of arguments.
        if len(arguments) != len(self.entry.arguments) or not self.target.is_gpu:
            return ()
        return tuple(facts(argument, value) for argument, value in zip(self.entry.arguments, arguments, strict=True))

    def module_for(self, *arguments: Any) -> ir.Module:
        """The module of the kernel for these arguments, before it is compiled."""
        return _with_facts(self._source(), self.entry.name, self._facts(arguments))

    def variant(self, *arguments: Any) -> Kernel | sim.SimulatedKernel:
        """The kernel for these arguments. Compiles it unless a call had the same facts."""
        found = self._facts(arguments)
        if found not in self.variants:
            start = time.perf_counter()
            loaded = self._cached(found)
            kernel = loaded or self._compiled(found)
            seconds = time.perf_counter() - start
            self.variants[found] = kernel
            if self._report is not None:
                self._report(kernel, seconds, loaded is not None)
        return self.variants[found]

    def _cached(self, found: tuple[Facts | None, ...]) -> Kernel | None:
        if self._cache is None:
            return None
        return self._cache.kernel(self.target, self.options, repr(found), lambda: cast(Any, self._compile(found)))

    def _compile(self, found: tuple[Facts | None, ...]) -> Kernel | sim.SimulatedKernel:
        from . import front_end

        module = _with_facts(self._source(), self.entry.name, found)
        return front_end.compile(module, self.target, entry=self.entry.name, **self.options)

    def _compiled(self, found: tuple[Facts | None, ...]) -> Kernel | sim.SimulatedKernel:
        kernel = self._compile(found)
        if self._cache is not None and isinstance(kernel, Kernel):
            self._cache.store(self.entry, kernel, self.target, self.options, repr(found))
        return kernel

    def _call(self, /, *arguments: Any, **named: Any) -> None:
        """Runs the kernel, as `Kernel` does."""
        options = {name: named.pop(name) for name in _OPTIONS if name in named}
        given = self.entry.bind(arguments, named, _OPTIONS)
        kernel = self.variant(*given)
        kernel(*given, **options)
        native.remember(self, given, {}, kernel, range(len(given)))


def specialize(
    source: driver.Source,
    target: str | targets.Target | None = None,
    *,
    entry: str | None = None,
    **options: Any,
) -> SpecializedKernel:
    """A kernel that is compiled at its first call, for facts of the arrays: sizes and strides that are multiples of 16, and
    less than 2^31 bytes. A call with other facts compiles another variant.

    The arguments are those of `smalti.compile`. A module is copied. Attributes of the arguments, such as
    `triton_xla.size_divisors`, remain requirements.
    """
    from . import front_end
    from .compiler import driver

    module = driver.clone(driver.parse(source))
    return SpecializedKernel(module, front_end.target_of(module, target), entry, options)


def _with_facts(module: ir.Module, name: str, found: tuple[Facts | None, ...]) -> ir.Module:
    """A copy of the module whose entry function states the facts of its arguments."""
    from .compiler import driver, entry

    copy = driver.clone(module)
    function = entry.find_entry(copy, name)
    if not any(found):
        return copy
    with copy.context:
        count = len(function.regions[0].blocks[0].arguments)
        stated: list[dict[str, ir.Attribute]] = [{} for _ in range(count)]
        if "arg_attrs" in function.attributes:
            for attributes, known in zip(stated, ir.ArrayAttr(function.attributes["arg_attrs"]), strict=True):
                attributes.update({named.name: named.attr for named in ir.DictAttr(known)})
        for attributes, one in zip(stated, found, strict=False):
            if one is None:
                continue
            for what, numbers in (("size", one.size_divisors), ("stride", one.stride_divisors)):
                if any(number != 1 for number in numbers):
                    attributes[f"triton_xla.{what}_divisors"] = ir.DenseI64ArrayAttr.get(list(numbers))
            if one.max_bytes is not None:
                number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), one.max_bytes)
                attributes["triton_xla.max_bytes"] = number
        array, dictionary = cast(Any, ir.ArrayAttr), cast(Any, ir.DictAttr)
        function.attributes["arg_attrs"] = array.get([dictionary.get(attributes) for attributes in stated])
    return copy
