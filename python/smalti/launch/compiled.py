# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code of a kernel for one target, and the data that a launch needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import targets
from ..calling import arguments
from ..calling.tensor_maps import TensorMap
from ..emulator.options import Emulation
from ..remarks import Remark
from ..settings import Settings

if TYPE_CHECKING:
    from .host_code import HostCode


@dataclass(frozen=True)
class Resources:
    """Resource usage of a kernel. A value is None if the target does not report it."""

    tiles: int | None
    """Number of tiles or blocks. None if it depends on the arguments."""
    block: tuple[int, int, int] | None = None
    """Block size in threads."""
    grid: tuple[int, int, int] | None = None
    """Grid size in blocks. None if it depends on the arguments."""
    cluster: tuple[int, int, int] | None = None
    """Cluster size in blocks, or None for a kernel without clusters."""
    warps: int | None = None
    """Warps per block."""
    stages: int | None = None
    """Largest number of pipeline stages of a loop; 1 if no loop is pipelined."""
    registers: int | None = None
    """32-bit registers per thread."""
    accumulator_registers: int | None = None
    """AMD: AGPRs per thread."""
    scalar_registers: int | None = None
    """AMD: SGPRs per wave."""
    spills: int | None = None
    """Spilled bytes (NVIDIA) or registers (AMD)."""
    stack_bytes: int | None = None
    """Bytes of stack per thread."""
    shared_bytes: int | None = None
    """Bytes of shared memory per block."""
    dynamic_shared_bytes: int = 0
    """The part of `shared_bytes` that the launch allocates; the code declares the rest."""


class Assembly(Mapping[str, str]):
    """The forms of a kernel's code by name. A form is generated on first access."""

    def __init__(self, forms: Mapping[str, str | Callable[[], str]]) -> None:
        self._forms = forms
        self._generated: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._generated:
            if name not in self._forms:
                raise KeyError(
                    f"the kernel does not have code in the form '{name}'; available forms: {', '.join(self._forms)}"
                )
            form = self._forms[name]
            self._generated[name] = form if isinstance(form, str) else form()
        return self._generated[name]

    def __contains__(self, name: object) -> bool:
        return name in self._forms

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def __repr__(self) -> str:
        return f"Assembly({', '.join(self._forms)})"


class CompiledCode(Settings):
    """The part of a kernel that launchers and kernel files use."""

    def __init__(
        self,
        target: targets.Chip,
        entry: arguments.Entry,
        text: Mapping[str, str | Callable[[], str]],
        remarks: tuple[Remark, ...] = (),
    ) -> None:
        self.target = target
        self.entry = entry
        self.asm = Assembly(text)
        """The code by form: `source`, the levels of IR (`tile`, `mosaic`, `pipelined`, `thread`), `mlir` (lowered), `llvm`,
        and `ptx` or `gcn`."""
        self.binary: bytes | None = None
        """The cubin, the HSACO, or the PTX if ptxas was not found. None for the CPU and for an emulated GPU."""
        self.binary_format: str | None = None
        self.resources = Resources(tiles=entry.static_tiles)
        self.remarks = remarks
        self.notes: list[str] = []
        """Notes on the compilation for the user, such as a missing tool."""
        self.pipeline = ""
        self.module: Any = None
        """The lowered module."""
        self.has_line_info = False
        """For a CPU: whether the machine code has source lines."""
        self.symbol = entry.name
        self.tensor_maps: tuple[TensorMap, ...] = ()
        """The tensor maps that a launch passes after the arguments."""
        self.device_ir: bytes | None = None
        """For an emulated GPU: the LLVM IR of the chip as bitcode."""
        self.host_code: HostCode | None = None
        """For the CPU: code that was loaded from the cache. None to compile `module`."""
        self.emulation = Emulation()
        """Settings of an emulated GPU, unless a call passes others."""
        self.time_limit: float | None = None
        """Seconds after which a run on the CPU stops with an error; None for no limit. Emulated GPUs use
        `emulation.time_limit`."""
        self.blocks: range | None = None
        """The tiles to run on the CPU; None for all. Emulated GPUs use `emulation.blocks`."""
        self.announce: Callable[[str], None] | None = None
        """Called with a message before a long run on the CPU; None for a RuntimeWarning."""
        self._is_initialized = True

    def _settings(self) -> Sequence[str]:
        if self.target.is_emulated:
            return ("emulation",)
        return () if self.target.is_gpu else ("time_limit", "blocks", "announce")

    def grid_of(self, values: Sequence[Any]) -> tuple[int, int, int]:
        """The grid size of a call of a GPU kernel, in blocks. `values` are array views and numbers."""
        return self.resources.grid or (self.entry.count_tiles(values), 1, 1)

    @property
    def arguments(self) -> tuple[arguments.Argument, ...]:
        """The arguments of a call."""
        return self.entry.arguments
