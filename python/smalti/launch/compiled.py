"""The code of a kernel for one target, and what a launch of it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import targets
from ..calling import arguments
from ..calling.tensor_maps import TensorMap
from ..emulator.options import Emulation
from ..remarks import Remark
from ..settings import Settings


@dataclass(frozen=True)
class Resources:
    """What a kernel takes of its chip; None where it is not known."""

    tiles: int
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    """Blocks of a cluster, where the kernel has clusters."""
    warps: int | None = None
    stages: int | None = None
    registers: int | None = None
    """32-bit registers of a thread."""
    accumulator_registers: int | None = None
    scalar_registers: int | None = None
    spills: int | None = None
    """Bytes (NVIDIA) or registers (AMD) that went to memory."""
    stack_bytes: int | None = None
    shared_bytes: int | None = None
    """Shared memory of a block."""
    dynamic_shared_bytes: int = 0
    """The part of it that a launch asks for; the code declares the rest."""


class Assembly(Mapping[str, str]):
    """The forms of a kernel's code by name, made when first asked for."""

    def __init__(self, forms: Mapping[str, str | Callable[[], str]]) -> None:
        self._forms = forms
        self._made: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            if name not in self._forms:
                raise KeyError(f"no '{name}' here; there are: {', '.join(self._forms)}")
            form = self._forms[name]
            self._made[name] = form if isinstance(form, str) else form()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._forms

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def __repr__(self) -> str:
        return f"Assembly({', '.join(self._forms)})"


class CompiledCode(Settings):
    """What the launchers and the archive know of a kernel."""

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
        """The code by form: `source`, the levels it passed (`tile`, `mosaic`, `pipelined`, `thread`), `mlir` (lowered),
        `llvm`, and `ptx` or `gcn`."""
        self.binary: bytes | None = None
        """The cubin, the HSACO, or the PTX where there was no ptxas; None on the CPU and on an emulated GPU."""
        self.binary_format: str | None = None
        self.resources = Resources(tiles=entry.num_tiles)
        self.remarks = remarks
        self.notes: list[str] = []
        """What a person should know about how this kernel was made, such as a missing tool."""
        self.pipeline = ""
        self.module: Any = None
        """The lowered module."""
        self.symbol = entry.name
        self.tensor_maps: tuple[TensorMap, ...] = ()
        """The maps that a launch passes behind the arguments."""
        self.device_ir: bytes | None = None
        """What an emulated GPU runs: LLVM IR of its chip, as bitcode."""
        self.emulation = Emulation()
        """How an emulated GPU runs the kernel, unless a call says otherwise."""
        self.time_limit: float | None = None
        """Seconds after which a run on the CPU ends with an error; None for no limit. An emulated GPU has
        `emulation.time_limit`."""
        self.blocks: range | None = None
        """The tiles to run on the CPU; None for all of them. An emulated GPU has `emulation.blocks`."""
        self.announce: Callable[[str], None] | None = None
        """Called with what to say before a long run on the CPU; None for a warning."""
        self._is_made = True

    def _settings(self) -> Sequence[str]:
        if self.target.is_emulated:
            return ("emulation",)
        return () if self.target.is_gpu else ("time_limit", "blocks", "announce")

    @property
    def arguments(self) -> tuple[arguments.Argument, ...]:
        """What a call takes."""
        return self.entry.arguments
