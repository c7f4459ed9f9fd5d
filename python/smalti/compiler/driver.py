# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of a kernel: parsing, verification, lowering, code generation, assembly."""

from __future__ import annotations

import dataclasses
import functools
import io
import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from .. import remarks, sources, targets, toolchain
from ..bindings import _smalti, ir, passmanager
from ..calling import tensor_maps
from ..calling.arguments import source_name
from ..codegen import assemble, codegen_worker, line_tables
from ..diagnostics import Diagnostic, counted, source_location
from ..emulator.options import Emulation
from ..errors import CompileError, LaunchError, ParseError, PipelineError, SmaltiError, VerifyError, mlir_errors
from ..launch.compiled import Resources
from ..launch.kernels import Kernel
from . import dumps, entry, external, passes, reproducer

Source = Any
"""A path, MLIR text, an `ir.Module`, or a module operation of any MLIR bindings."""

PIPELINE = "smalti-compile"
"""The pass that lowers a kernel. Its options are keywords of `smalti.compile`."""

_CHECKS = "check_indices"

_CODEGEN = "gpu-module-to-binary"

STAGES = {
    "nvidia": ("tile", "mosaic", "pipelined", "thread"),
    "amd": ("tile", "mosaic", "pipelined", "thread"),
    "cpu": ("tile",),
}
"""The levels of IR after which `smalti-compile` can stop (`stop-after`)."""


def new_context() -> ir.Context:
    """A context for one module. MLIR runs single-threaded, which is faster for small modules.

    The parser and the pass manager load the dialects that they need; loading all takes longer than parsing a kernel.
    """
    context = ir.Context(load_on_create_dialects=[])
    context.enable_multithreading(False)
    return context


def _is_path(source: str) -> bool:
    if "\n" in source or "{" in source:
        return False
    if source.endswith((".mlir", ".mlirbc")) or re.fullmatch(r"\S+\.[A-Za-z]\w*", source):
        return True
    return (path := Path(source)).exists() and not path.is_dir()


@contextmanager
def _parse_errors(context: ir.Context | None) -> Generator[None, None, None]:
    """Converts parser errors. MLIR verifies while it parses; messages of a verifier begin with the name of the operation."""
    try:
        with mlir_errors(ParseError, "", context):
            yield
    except ParseError as error:
        if error.diagnostics and all(re.match(r"'[\w.]+' op ", d.message) for d in error.diagnostics):
            raise VerifyError("", diagnostics=error.diagnostics, source=sources.text_of(context)) from None
        error.hint = error.hint or next(filter(None, (_hint(d.message) for d in error.diagnostics)), None)
        raise


def _hint(message: str) -> str | None:
    """The remedy for a common mistake, from a message of the parser."""
    if message.startswith("Dialect `' not found for custom op"):
        return "write the name of an op with its dialect: a kernel ends with triton_xla.return, and arith.addf adds"
    return _type_hint(message)


def _type_hint(message: str) -> str | None:
    """How to make the types of two operands equal, if a message of the parser says that they differ."""
    found = re.search(r"expects different type than prior uses: 'tensor<(.*)>' vs '(.*)'$", message)
    if not found:
        return None
    wanted, used = found.groups()
    element = re.sub(r"^(\d+x)*", "", wanted)
    if used == element:
        return f"both uses must have the same type; make a tile of the scalar with `tensor.splat %scalar : tensor<{wanted}>`"
    if used.startswith("tensor<") and re.sub(r"^tensor<(\d+x)*", "", used.rstrip(">")) == element:
        return "both uses must have the same type; repeat a tile along dimensions with triton_xla.broadcast, or change its shape with triton_xla.reshape"
    return None


def _check_nesting(text: bytes) -> None:
    """Raises ParseError if brackets are nested too deeply."""
    if problem := _smalti.check_nesting(text):
        raise ParseError(problem)


def parse(source: Source, context: ir.Context | None = None) -> ir.Module:
    """Parses and verifies a module; see `smalti.parse`. A new context has only the dialects of the module."""
    if isinstance(source, ir.Module):
        with mlir_errors(VerifyError, "the module is invalid", source.context):
            source.operation.verify()
        return source
    if not isinstance(source, (str, bytes, os.PathLike)):
        return _foreign(source, context)
    context = context or new_context()
    text: str | bytes
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        path = Path(cast(str | os.PathLike[str], source))
        shown = os.fsencode(path).decode(errors="replace")
        if not path.exists():
            raise ParseError(f"file not found: {shown}")
        if shown != str(path):
            raise ParseError(f"the file name {shown} is not UTF-8; rename the file")
        try:
            source = path.read_bytes()
        except OSError as error:
            raise ParseError(f"cannot read {shown}: {error.strerror}") from None
        if path.is_file():
            _check_nesting(source)
            with _parse_errors(context):
                return ir.Module.parseFile(str(path), context)
        # A pipe can be read only once.
        with suppress(UnicodeDecodeError):
            source = source.decode()
    text = source if isinstance(source, bytes) else str(source)
    if isinstance(text, str):
        sources.remember(context, text)
    _check_nesting(text.encode(errors="replace") if isinstance(text, str) else text)
    with _parse_errors(context):
        return ir.Module.parse(text, context)


def _foreign(source: Any, context: ir.Context | None) -> ir.Module:
    """Converts a module of other MLIR bindings through its text."""
    operation: Any = getattr(source, "operation", source)
    if not hasattr(operation, "get_asm"):
        is_kernel = hasattr(source, "__smalti_function__")
        raise TypeError(
            f"source must be a path, MLIR text or a module, not {type(source).__name__}"
            + (f"; pass {source.__name__}.module(...), with the arguments of a call" if is_kernel else "")
        )
    if isinstance(operation, ir.Operation) and context is None:
        context = operation.context
    text = str(operation.get_asm(enable_debug_info=True))
    with _parse_errors(None):
        return ir.Module.parse(text, context or new_context())


def clone(module: ir.Module) -> ir.Module:
    """A copy of `module` in the same context."""
    with module.context:
        copy = ir.Module.create(module.operation.location)
        attributes: Any = module.operation.attributes
        for name in attributes:
            named: str = name if isinstance(name, str) else name.name
            copy.operation.attributes[named] = module.operation.attributes[named]
        for view in module.body.operations:
            copy.body.append(view.operation.clone())
    return copy


def _no_remarks() -> list[remarks.Remark]:
    return []


@dataclass
class Run:
    """Settings and remarks of a run of a pipeline."""

    dump_ir: Path | None = None
    remarks: list[remarks.Remark] = field(default_factory=_no_remarks)


def run_pipeline(module: ir.Module, pipeline: str, run: Run | None = None) -> list[remarks.Remark]:
    """Runs a textual pipeline in place, and returns the remarks of its passes.

    Raises PipelineError if the pipeline does not parse, and CompileError if a pass fails. A reproducer is written if a
    pass fails without a diagnostic about the kernel.
    """
    run = run or Run()
    context = module.context
    manager = parse_pipeline(pipeline, context, f"the pipeline '{pipeline}'")
    if run.dump_ir is not None:
        run.dump_ir.mkdir(parents=True, exist_ok=True)
        context.enable_multithreading(False)
        manager.enable_ir_printing(print_after_all=True, tree_printing_dir_path=str(run.dump_ir))
    before = io.BytesIO()
    module.operation.write_bytecode(before)
    collected: list[remarks.Remark] = []
    try:
        with mlir_errors(CompileError, "", context), remarks.collect(context, collected):
            manager.run(module.operation)
    except CompileError as error:
        if not error.diagnostics:
            error.message = (
                f"the pipeline '{pipeline}' failed, and the pass did not report a reason; report this as a bug"
            )
        error.remarks = tuple(r for r in collected if r.kind == "failed")
        if not _is_rejection(error, module):
            _attach_reproducer(error, before.getvalue(), context, pipeline)
        raise
    finally:
        run.remarks.extend(collected)
    return collected


def parse_pipeline(pipeline: str, context: ir.Context, what: str) -> Any:
    """The pass manager of a textual pipeline. Raises PipelineError if it does not parse; `what` names it in the message."""
    try:
        return passmanager.PassManager.parse(pipeline, context)
    except ValueError as error:
        raise PipelineError(
            f"{what} does not parse: {reason(str(error))}", hint=passes.correction(str(error))
        ) from None


def reason(message: str) -> str:
    """The message of MLIR about a pipeline that does not parse, without the names of the parsers."""
    text = re.sub(
        r"^(?:MLIR Textual PassPipeline Parser:\d+:\d+: error|<Pass-Options-Parser>): ", "", message, flags=re.M
    )
    lines = [line for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith("failed to add ")]
    return "\n".join(kept or lines)


_NOT_LEGALIZED = "failed to legalize"
"""The beginning of the message of an MLIR conversion about an operation that it cannot convert."""


def _is_rejection(error: SmaltiError, module: ir.Module) -> bool:
    """Whether a pass rejected the kernel with a diagnostic. Otherwise the pass has a defect: it failed without a
    diagnostic, left an operation unconverted, or produced invalid IR."""
    messages = [found.message for found in error.diagnostics if found.severity == "error"]
    if not messages or any(message.startswith(_NOT_LEGALIZED) for message in messages):
        return False
    try:
        return bool(module.operation.verify())
    except ir.MLIRError:
        return False


def _attach_reproducer(error: SmaltiError, bytecode: bytes, context: ir.Context, pipeline: str) -> None:
    module = ir.Module.parse(bytecode, context)
    text = str(module.operation.get_asm(enable_debug_info=True))
    if (written := reproducer.write(text, pipeline)) is not None:
        error.reproducer, error.command = written


def format_options(target: targets.Target, options: Mapping[str, Any]) -> str:
    """The options of `smalti-compile` for `target`. An emulated chip also checks indices."""
    if target.is_emulated:
        options = {_CHECKS: True, **options}
    return passes.format_options(passes.registered()[PIPELINE], {"target": target.chip, **options})


def compile_pipeline(target: targets.Target, options: Mapping[str, Any]) -> str:
    """The textual pipeline that lowers a kernel for `target`."""
    return f"builtin.module({PIPELINE}{{{format_options(target, options)}}})"


class Lowering:
    """The pipeline that lowers a kernel for a target: the pass `smalti-compile` with its options."""

    def __init__(self, target: targets.Target, options: Mapping[str, Any]) -> None:
        self.target = target
        self.options = options

    def text(self) -> str:
        """The textual pipeline. Steps in Python are names."""
        return compile_pipeline(self.target, self.options)

    def unreached(self, stage: str) -> list[str]:
        """The points of inserted steps that do not run if the lowering ends at a level."""
        return []

    def run(self, module: ir.Module, run: Run | None = None, stage: str | None = None) -> list[remarks.Remark]:
        """Lowers a module in place, at most up to the level `stage`, and returns the remarks."""
        options = self.options if stage is None else {**self.options, "stop_after": stage}
        return run_pipeline(module, compile_pipeline(self.target, options), run)


def start_codegen(target: targets.Target) -> None:
    """Starts the child process that generates code for a target, if the target needs it."""
    if target.is_gpu and not target.is_simulated:
        codegen_worker.worker.start()


def compile_kernel(
    original: ir.Module,
    lowering: Lowering,
    *,
    entry_name: str | None,
    dump: str | os.PathLike[str] | None,
    dump_ir: str | os.PathLike[str] | None,
    report: Callable[[str], None],
    emulation: Emulation,
    line_info: bool,
) -> Kernel:
    """Compiles a module, which is not changed; see `smalti.compile`."""
    target = lowering.target
    if target.is_gpu and not target.is_emulated and lowering.options.get(_CHECKS):
        raise CompileError(
            "check-indices=true requires an emulated or simulated chip, since a GPU does not have the function that reports an index",
            hint=f"compile the kernel for emu:{target.chip}",
        )
    start_codegen(target)
    passes_folder = dump_ir or os.environ.get("SMALTI_DUMP_IR")
    run = Run(dump_ir=Path(passes_folder) if passes_folder else None)
    compilation = _Compilation(original, lowering, entry_name, run, report, line_info)
    folder = dump or os.environ.get("SMALTI_DUMP")
    kernel = dumps.compile_into(Path(folder), compilation) if folder else compilation.kernel()
    if target.is_emulated:
        kernel.emulation = emulation
    return kernel


class _Compilation:
    def __init__(
        self,
        original: ir.Module,
        lowering: Lowering,
        entry_name: str | None,
        run: Run,
        report: Callable[[str], None],
        line_info: bool = False,
    ) -> None:
        self.line_info = line_info
        self.original = original
        self.target = lowering.target
        self.lowering = lowering
        self.run = run
        self.report = report
        self.entry = entry.describe(entry.find_entry(original, entry_name))
        self._libraries = external.libraries(original, self.target)
        self.lowered: Kernel | None = None
        """The kernel after lowering. Later steps may still fail."""

    def stages(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """The levels of IR before lowering, by name, in order."""
        yield "source", lambda: str(self.original)
        for stage in STAGES[self.target.vendor]:
            yield stage, functools.partial(self._stopped_after, stage)

    def kernel(self) -> Kernel:
        module = self._program()
        self.report("lowering")
        self.lowering.run(module, self.run)
        text: dict[str, str | Callable[[], str]] = {
            "source": lambda: str(self.original),
            "mlir": lambda: str(module),
        }
        for stage in STAGES[self.target.vendor]:
            text[stage] = functools.partial(self._stopped_after, stage)
        kernel = Kernel(target=self.target, entry=self.entry, text=text, remarks=tuple(self.run.remarks))
        self.lowered = kernel
        kernel.pipeline = self.lowering.text()
        kernel.module = module
        if not self.target.is_gpu:
            text["llvm"] = lambda: _translate(module)
            kernel.resources = Resources(tiles=self.entry.static_tiles)
            kernel.has_line_info = self.line_info
            return kernel
        launch = launch_parameters(module, self.entry.name, bool(self.entry.grid))
        kernel.symbol = launch.symbol
        kernel.tensor_maps = tuple(map(self._checked_map, launch.tensor_maps))
        self.report("generating code")
        text["llvm"] = lambda: self._llvm(module)
        if self.target.is_emulated:
            kernel.device_ir = self._generate(_with_emulated_output(module), "llvm", line_tables.passes(self.target))
            kernel.resources = _resources(assemble.Usage(), launch, self.entry, self.target)
            return kernel
        ptxas = toolchain.find_ptxas() if self.target.vendor == "nvidia" else None
        if ptxas is not None and (lowered := _lower_ptx_version(module, self.target, ptxas)):
            kernel.notes.append(
                f"{ptxas.path} supports PTX only up to version {lowered}; the code is written in this older version"
            )
        code = self._generate(module, first=line_tables.passes(self.target) if self.line_info else "")
        if self.target.vendor == "nvidia":
            self._finish_nvidia(kernel, code, launch, text)
        else:
            self._finish_amd(kernel, code, launch, text)
        return kernel

    def _checked_map(self, described: tensor_maps.TensorMap) -> tensor_maps.TensorMap:
        """A map of the kernel function with the number of the argument instead of the parameter. Raises CompileError if the
        map exceeds the memory of its argument."""
        argument = self.entry.argument_at(described.argument)
        if argument is not None and described.is_dynamic and described.matches(argument.shape):
            return dataclasses.replace(described, argument=argument.index)
        if argument is None or described.is_dynamic or not argument.is_static:
            raise CompileError(
                f"a tensor map of @{self.entry.name} uses argument {described.argument} of type {argument.type}; a memref of "
                "static shape, or of the dynamic shape that the map states, is required"
                if argument
                else f"a tensor map of @{self.entry.name} uses argument {described.argument}, but the kernel has {counted(len(self.entry.arguments), 'argument')}"
            )
        described = dataclasses.replace(described, argument=argument.index)
        if described.offset + described.extent_bytes > argument.reach:
            raise CompileError(
                f"a tensor map of @{self.entry.name} covers {described.offset + described.extent_bytes} B of {argument}, "
                f"which has only {argument.reach} B"
            )
        return described

    def _program(self) -> ir.Module:
        """A copy of the module for the chip."""
        module = clone(self.original)
        attributes = module.operation.attributes
        if self.target.is_emulated and "smalti.target" in attributes:
            attributes["smalti.target"] = ir.StringAttr.get(self.target.chip, module.context)
        return module

    def _stopped_after(self, stage: str) -> str:
        module = self._program()
        self.lowering.run(module, stage=stage)
        return str(module)

    def _generate(self, module: ir.Module, output: str = "isa", first: str = "") -> bytes:
        toolkit = _toolkit(module, self.target, self._libraries)
        words = [f"format={output}"] + ([f"toolkit={toolkit}"] if toolkit else [])

        def pipeline_with(files: Iterable[str]) -> str:
            linked = [f"l={','.join(files)}"] if self._libraries else []
            return f"builtin.module({first}{_CODEGEN}{{{' '.join(words + linked)}}})"

        pipeline = pipeline_with(library.path for library in self._libraries)
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        try:
            # A path may have characters that a pipeline cannot contain.
            with tempfile.TemporaryDirectory(prefix="smalti-") as folder:
                files = [str(Path(folder, f"{number}.bc")) for number in range(len(self._libraries))]
                for file, library in zip(files, self._libraries, strict=True):
                    Path(file).write_bytes(library.code)
                objects = codegen_worker.worker.generate(bytecode.getvalue(), pipeline_with(files))
        except codegen_worker.WorkerDied as died:
            error = CompileError(
                f"code generation of @{self.entry.name} for {self.target} failed: {died.reason}",
                diagnostics=[Diagnostic("note", "in this kernel", self.entry.location)] if self.entry.location else [],
                source=sources.text_of(module.context),
            )
        except codegen_worker.WorkerTimeout:
            error = CompileError(
                f"code generation of @{self.entry.name} for {self.target} exceeded the time limit",
                hint="the environment variable SMALTI_CODEGEN_TIMEOUT sets the limit in seconds",
            )
        except codegen_worker.WorkerRefused as refused:
            diagnostics = [Diagnostic.from_json(item) for item in refused.diagnostics]
            message = f"code generation of @{self.entry.name} for {self.target} failed"
            error = CompileError(
                message if diagnostics else f"{message}: {refused}",
                diagnostics=diagnostics,
                source=sources.text_of(module.context),
            )
        else:
            if not objects:
                raise CompileError(
                    f"code generation of @{self.entry.name} for {self.target} did not produce a GPU binary; this is an error "
                    "in Smalti: report it with the module"
                )
            # There is one GPU module per entry function; its name is that of the entry function and `_module`.
            named = [o for o in objects if o.module == f"{self.entry.name}_module"] or objects
            return named[0].data
        _attach_reproducer(error, bytecode.getvalue(), module.context, pipeline)
        raise error

    def _llvm(self, module: ir.Module) -> str:
        bitcode = self._generate(module, "llvm")
        tool = toolchain.require(
            toolchain.find_llvm_tool("llvm-dis"),
            "llvm-dis",
            "printing LLVM IR",
            toolchain.LLVM_TOOLS_HINT,
        )
        return assemble.disassemble_bitcode(bitcode, tool.path)

    def _finish_nvidia(self, kernel: Kernel, code: bytes, launch: LaunchParameters, text: dict[str, Any]) -> None:
        ptx = code.rstrip(b"\0").decode()
        text["ptx"] = ptx
        usage = assemble.Usage()
        tool = toolchain.find_ptxas()
        if tool is not None:
            self.report("ptxas")
            made = assemble.assemble_ptx(ptx, tool.path)
            kernel.binary, kernel.binary_format = made.data, "cubin"
            text["ptx"], text["ptxas"] = made.ptx, made.log
            text["sass"] = functools.partial(_sass, made.data)
            usage = made.usages.get(launch.symbol, usage)
        else:
            kernel.binary, kernel.binary_format = ptx.encode(), "ptx"
            kernel.notes.append(
                f"ptxas was not found, so the kernel is PTX, and its register count is unknown; {toolchain.PTXAS_HINT}"
            )
        kernel.resources = _resources(usage, launch, self.entry, self.target)

    def _finish_amd(self, kernel: Kernel, code: bytes, launch: LaunchParameters, text: dict[str, Any]) -> None:
        assembly = code.rstrip(b"\0").decode()
        text["gcn"] = assembly
        usage = assemble.gcn_usage(assembly).get(launch.symbol, assemble.Usage())
        if lld := toolchain.find_llvm_tool("ld.lld"):
            self.report("assembling")
            kernel.binary = assemble.assemble_gcn(assembly, lld.path)
            kernel.binary_format = "hsaco"
        else:
            kernel.notes.append(f"ld.lld was not found, so the kernel is assembly text only; {toolchain.LLD_HINT}")
        kernel.resources = _resources(usage, launch, self.entry, self.target)


@dataclass(frozen=True)
class LaunchParameters:
    """Launch parameters that the passes attach to the kernel function."""

    symbol: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int] | None
    """None if it depends on the arguments."""
    cluster: tuple[int, int, int] | None
    shared_bytes: int
    stages: int
    """The largest number of pipeline stages of a loop."""
    tensor_maps: tuple[tensor_maps.TensorMap, ...]


_DIMENSIONS = {
    "block": ("gpu.known_block_size", "known_block_size", "nvvm.reqntid", "nvvm.maxntid"),
    "grid": ("gpu.known_grid_size", "known_grid_size"),
    "cluster": ("gpu.known_cluster_size", "known_cluster_size", "nvvm.cluster_dim"),
}


def _dimensions(operation: Any, names: tuple[str, ...]) -> tuple[int, int, int] | None:
    for name in names:
        if name in operation.attributes:
            sizes = [int(v) for v in ir.DenseI32ArrayAttr(operation.attributes[name])]
            x, y, z = [*sizes, 1, 1][:3]
            return x, y, z
    return None


def _kernels(operation: Any) -> list[Any]:
    found: list[Any] = []
    for inner in _smalti.nested_ops(operation):
        if any(name in inner.attributes for name in ("gpu.kernel", "nvvm.kernel", "rocdl.kernel", "kernel")):
            found.append(inner)
        elif inner.name == "gpu.module":
            found.extend(_kernels(inner))
    return found


def launch_parameters(module: ir.Module, name: str, has_dynamic_grid: bool = False) -> LaunchParameters:
    """The launch parameters of the kernel `name` in a lowered module, or of the only kernel."""
    kernels = _kernels(module.operation)
    named = [kernel for kernel in kernels if source_name(kernel) == name]
    if not named and len(kernels) != 1:
        raise CompileError(f"the compiled module does not contain a GPU kernel @{name}")
    operation = (named or kernels)[0]
    block, grid, cluster = (_dimensions(operation, _DIMENSIONS[which]) for which in ("block", "grid", "cluster"))
    if block is None or (grid is None and not has_dynamic_grid):
        raise CompileError(
            f"the kernel @{name} does not state its block size and grid size; set its attributes known_block_size and known_grid_size"
        )
    if grid and cluster and any(blocks % size for blocks, size in zip(grid, cluster, strict=True)):
        raise CompileError(
            f"the cluster size {cluster} of @{name} does not divide its grid size {grid}; each dimension of the grid must be a multiple of that of the cluster"
        )
    return LaunchParameters(
        ir.StringAttr(operation.attributes["sym_name"]).value,
        block,
        grid,
        cluster if cluster != (1, 1, 1) else None,
        _integer(operation, "smalti.shared_memory_bytes") or 0,
        _integer(operation, "smalti.pipelined_stages") or 1,
        tensor_maps_of(operation),
    )


def tensor_maps_of(kernel: Any) -> tuple[tensor_maps.TensorMap, ...]:
    """The tensor maps that a kernel takes after its arguments."""
    if entry.TENSOR_MAPS not in kernel.attributes:
        return ()
    try:
        return tuple(map(_tensor_map, ir.ArrayAttr(kernel.attributes[entry.TENSOR_MAPS])))
    except (ValueError, TypeError, LaunchError) as error:
        raise CompileError(
            "",
            diagnostics=[
                Diagnostic(
                    "error", f"attribute {entry.TENSOR_MAPS} is invalid: {error}", source_location(kernel.location)
                )
            ],
        ) from None


def _tensor_map(attribute: ir.Attribute) -> tensor_maps.TensorMap:
    fields = ir.DictAttr(attribute)

    def field(name: str) -> ir.Attribute:
        if name not in fields:
            raise ValueError(f"a tensor map does not have the entry '{name}'")
        return fields[name]

    def numbers(name: str) -> tuple[int, ...]:
        return tuple(int(value) for value in ir.DenseI64ArrayAttr(field(name)))

    def sizes(name: str) -> tuple[int | None, ...]:
        return tuple(None if value == dynamic else value for value in numbers(name))

    dynamic = ir.ShapedType.get_dynamic_size()

    def number(name: str) -> int:
        return ir.IntegerAttr(field(name)).value

    return tensor_maps.TensorMap(
        element=str(ir.TypeAttr(field("element")).value),
        extents=sizes("extents"),
        strides=sizes("strides"),
        box=numbers("box"),
        element_strides=numbers("element_strides"),
        swizzle=number("swizzle"),
        fill=ir.StringAttr(field("fill")).value,
        argument=number("argument"),
        offset=number("offset"),
        dims=numbers("dims") if "dims" in fields else (),
    )


def _integer(operation: Any, name: str) -> int | None:
    found = operation.attributes.get(name, None)
    return found.value if isinstance(found, ir.IntegerAttr) else None


def _resources(usage: assemble.Usage, launch: LaunchParameters, what: entry.Entry, target: targets.Target) -> Resources:
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    # AMD code declares the memory that the passes allocated, and the assembler counts it.
    dynamic = launch.shared_bytes if target.vendor == "nvidia" else 0
    static = usage.static_shared_bytes or 0
    return Resources(
        tiles=what.static_tiles,
        block=launch.block,
        grid=launch.grid,
        cluster=launch.cluster,
        warps=-(-threads // target.wave_size),
        stages=launch.stages,
        registers=usage.registers,
        accumulator_registers=usage.accumulator_registers,
        scalar_registers=usage.scalar_registers,
        spills=usage.spills,
        stack_bytes=usage.stack_bytes,
        shared_bytes=dynamic + static if dynamic else max(launch.shared_bytes, static),
        dynamic_shared_bytes=dynamic,
    )


def _calls(module: ir.Module, prefixes: tuple[str, ...], libraries: Iterable[external.Library] = ()) -> bool:
    """Whether the code, or a library, declares functions whose names have one of the prefixes."""
    if any(name.startswith(prefixes) for library in libraries for name in library.missing):
        return True
    for outer in _smalti.nested_ops(module.operation):
        if outer.name != "gpu.module":
            continue
        for inner in _smalti.nested_ops(outer):
            if inner.name == "llvm.func" and ir.StringAttr(inner.attributes["sym_name"]).value.startswith(prefixes):
                return True
    return False


_OUTPUT = "__ockl_printf_"


def _with_emulated_output(module: ir.Module) -> ir.Module:
    """The module without references to the functions of AMD's device library that print: the emulator's table has them."""
    if not _calls(module, (_OUTPUT,)):
        return module
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    with module.context:
        renamed = ir.Module.parse(bytecode.getvalue())
        for view in renamed.body.operations:
            if view.operation.name != "gpu.module":
                continue
            for inner in view.operation.regions[0].blocks[0].operations:
                if inner.operation.name != "llvm.func":
                    continue
                name = ir.StringAttr(inner.operation.attributes["sym_name"]).value
                if name.startswith(_OUTPUT):
                    ir.SymbolTable.replace_all_symbol_uses(name, f"emulated{name}", view.operation)
                    ir.SymbolTable.set_symbol_name(inner, f"emulated{name}")
    return renamed


def _toolkit(module: ir.Module, target: targets.Target, libraries: Iterable[external.Library]) -> Path | None:
    """The folder with device bitcode if the code calls its functions. Linking it takes time, so it is not linked always."""
    if target.vendor == "nvidia":
        if not _calls(module, ("__nv_",), libraries):
            return None
        folder, name, hint = toolchain.find_cuda_toolkit(), "libdevice.10.bc", toolchain.LIBDEVICE_HINT
    else:
        if not _calls(module, ("__ocml_", "__ockl_"), libraries):
            return None
        folder, name, hint = toolchain.find_rocm_bitcode(), "ocml.bc and ockl.bc", toolchain.ROCM_BITCODE_HINT
    if folder is None:
        from ..errors import ToolMissing

        raise ToolMissing(
            f"{name} was not found; the kernel calls mathematical functions from this device library of the vendor",
            hint=hint,
        )
    return folder


def _sass(cubin: bytes) -> str:
    tool = toolchain.require(toolchain.find_nvdisasm(), "nvdisasm", "disassembling a cubin", toolchain.NVDISASM_HINT)
    return assemble.disassemble_cubin(cubin, tool.path)


def _lower_ptx_version(module: ir.Module, target: targets.Target, ptxas: toolchain.Tool) -> str | None:
    """Lowers the PTX version of the module to the newest one that ptxas supports, and returns it. Returns None if ptxas
    supports the version in the target table, which is the newest one that LLVM writes."""
    known = toolchain.ptx_version_of(ptxas.path)
    if known is None or not target.ptx_version or known >= divmod(int(target.ptx_version), 10):
        return None
    old, new = f"+ptx{target.ptx_version}", f"+ptx{known[0]}{known[1]}"
    for operation in _smalti.nested_ops(module.operation):
        attributes = operation.attributes
        if operation.name == "gpu.module" and "targets" in attributes:
            attributes["targets"] = ir.Attribute.parse(str(attributes["targets"]).replace(old, new), module.context)
    return f"{known[0]}.{known[1]}"


def _translate(module: ir.Module) -> str:
    from ..dialects import llvm

    return llvm.translate_module_to_llvmir(module.operation)
