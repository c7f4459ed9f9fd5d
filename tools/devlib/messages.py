# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Smalti's messages: errors, remarks, reasons of refusals, hints and texts of the command line.

A reason is listed with the text that other code puts around it, and a verifier's text with the name of the op. A note or a
hint is below its message. Values that code computes are in braces, in words.
"""

from __future__ import annotations

import ast
import pathlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .message_values import Values, constants
from .words import CPP_TOKEN, is_prose, tracked

FOLDERS = ("dialects", "emulator", "layouts", "passes", "python", "targets", "tools")


@dataclass(frozen=True)
class Message:
    path: str
    line: int
    context: str
    """The function that the text is passed to, or the kind of statement that it is in."""
    text: str
    notes: tuple[str, ...] = ()
    """The notes and hints that are attached to the message."""

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.path}:{self.line}: [{self.context}] {self.text}", *(f"    {note}" for note in self.notes)]
        )


# Calls whose texts are not messages: documentation of bindings, citations, patterns, and code.
_NOT_MESSAGES = re.compile(
    r"(?:arg|def|def_\w+|doc|bind\w+|SMALTI_\w+|\w+>|llvm_unreachable|llvm_unreachable_internal|assert|DEBUG_TYPE|number"
    r"|re\.\w+|assembly|.*\.(?:execute|partition|startswith|endswith|replace|split)|\w*(?:Accumulate|addModuleFlag|getModuleFlag)"
    # Parts of messages: what accesses memory or executes an op, and how it is ordered.
    r"|(?:st\.|self\.|barriers\.)?(?:_?touch|locate|find|_?inside|aligned|in_buffer|home|load_bytes|store_bytes|reads_grains)"
    r"|pointees?|buffers_of|whole_warp(?:s|groups)|thread_barrier|ThreadBarrier|numbered|members|_members|_elements|_use"
    r"|(?:\w+\.)?fits|same_for_warps|bounds\.load|st\.store|Buffer|PrivateBuffer|Access|Ready|copy\.leaks|there\.ends|Mbarrier"
    r"|DefaultUnreachable|ld, st|checkBelow|checkUnchanged|checkVerifies|getEntries|_named|np\.dtype|Xml\.Element|random\.Random|recorder\.unknown"
    r"|require_chip|self\.(?:busy|_add|unknown|error|_check|_newer|_require|_copy|_get)|capture|getLatency|_Picture|picture\.text)"
)

# Files and texts that are not messages: generated code, protocols between processes, pictures, citations, names.
_NOT_MESSAGE_PATHS = re.compile(
    r"python/smalti/compiler/_generate_pipeline_stub\.py:.*|python/smalti/emulator/(?:session|memory)\.py:(?:functiondef|for|if)"
    r"|tools/devlib/(?:layout_pictures|recorder|coverage|architecture|messages|message_values|op_table|words)\.py:.*"
    r"|python/smalti/(?:lane_maps|launch/header)\.py:(?:lines\.append|for)"
)
_NOT_MESSAGE_TEXTS = re.compile(
    # Citations, names, code and markup.
    r"<smalti\.|.*\bISA(?: and \w+ ISA)?, \"|LLVM,? |HSA |Memory Consistency|test_wait|llvm\.\w|asm:|smalti\.nvvm\.|!llvm\."
    r"|(?:text|body) \{|import |class |select data|Sequence\[|\{ \.reg|f32\.32x32|bar\.sync|[A-Z ]+$|\w+\.async(?:\.\w+)? / "
    r"|wgmma\.mma_async / |(?:[A-Z]\w+(?:\[[\w| ,]+\])?(?: \| )?)+None$|\w+<\{|(?:e2m1|u\{min)"
    # Parts of lists and of sentences.
    r"|the function has branches between|the bulk copy moves the rows|the tensor map at byte|(?:size|stride) of dimension \{dim\}|(?:has|have) exited|does not reach it|passes another mask|differs between threads|can run$|the copy (?:out of|into) shared memory$"
    r"|(?:nvvm|nvgpu|mosaic_gpu|amdgpu|gpu)\.[\w.]+(?:[ ,]|$)|byte %llu|with member mask|for the other lanes|is unordered with"
    r"|the (?:asynchronous copy of %zu|operation that it conflicts)|an address that does not|(?:increasing|two different) positions"
    r"|(?:the|a tensor-memory) layout of (?:the|an?|operand) [\w' ]+$"
    r"|cannot be determined(?: \(the block size|$)|packed elements$|no tile$|Asynchronous Warpgroup|Data Movement|Parallel Sync"
    r"|\(the addresses of \{|a lowering handles|nothing to do|shuffle and|byte of shared memory,|(?:matrix )?accesses (?:of|x)|transposed reads"
    r"|one slot per iteration$|(?:a )?slot of a larger|\{slots \?|has '\{kSlots|\{name\.str\(\)\} (?:to|from)|at least \{times|padded (?:read|write)$|does not wait for a copy"
    r"|memory attribution of|elements of type \{unknown|type \{type\}; a static|of this '\{use|no layout chosen yet|0b0100|the same power of two|failed to legalize|write a kernel$|not completed$|ld or ld\.lld|ocml\.bc|the file is truncated$"
    r"|.*(?:\}|\bwarp 1), which does not reach it$|\{what\} writes shared memory$|floating-point reduction '"
    # Messages around reasons that are listed with it, and texts that are not for users.
    r"|compile the kernel and save the file again$|raise --time-limit SECONDS \(time_limit\), or|\{[^{}]*\} different finding|the value$"
    r"|0 or 1 is required|a number from \{low\}|an integer$|use numbers of \{wanted"
    r"|the disk cache is disabled: \{reason|\{path\} is damaged: \{damaged|cannot write \{path\}: \{reason|does not dominate$"
    r"|\{summary\}, of each|triton_xla\.(?:size|stride)_divisors = array|a match statement$|warp/lane/value|each element has \{copies"
    r"|Options of smalti-compile|C\[500x260\]|\{output\[1\]\} of"
    # Descriptions of steps and of functions.
    r"|use its number, INDEX|the names are: \{|Main job: |The smallest integer that|The largest integer that|and is not committed to a group$"
    r"|'\{op\}' is not supported in a tile-level kernel; \{|\{quote\(op\)"
    # Two alternatives that the parser joins.
    r"|.*(?:warpgroupnum-warps|rank 0tensor\.pad|encoded at byte \{std|operand\.name :|addrspace\(5\)|\)\)\) |nullopt\}"
    r"|\{return complain|problem =\}|\|\| name ==|signalPassFailure|\{diag\}\])"
    r"|ROCm-Device-Libs|\{listText\(strided|in \{len\((?:emulations|schedules)|dlpack\(|shared memory (?:of block )?\{|mbarrier \{i\} of"
    r"|bank:byte|the array of the tensor map|: the function has|every thread holds the value|outside of the kernel's code"
    r"|\{array\.dtype\.name\} in non-native|data race: %s$|by another thread:|The passes of smalti-compile|columns of tensor memory$"
    r"|with \{stages\} stages,$|the trip count is \{most\}"
    r"|emulator cache$|kernel cache$|CUDA driver$|HIP runtime$|its accumulator registers or|loads from global memory$|copies (?:into|out of) shared"
    r"|code (?:before|after) the function$|the private memory of thread|The chip$|, e\.g\. `|is an error, e\.g\.|strided by \{"
    r"|the number of partitions"
    # The meanings of the kinds of findings.
    r"|two conflicting accesses \(at|two accesses are ordered, but|the result registers of a wgmma are|an access outside its array, view"
    r"|a read of shared or tensor memory that|a barrier is uninitialized or over|the bytes that an mbarrier phase expects differ"
    r"|no thread of the block, cluster|threads that must converge|an asynchronous operation is outstanding|the kernel violates an assert"
    # Prefixes and first parts of reasons.
    r"|the (?:trip count|condition) of '\{op\}' may be divergent$"
    r"|operand \{\w+\} cannot be stored to shared memory:|TMA cannot load operand \{\w+\}:"
    # Lines of C headers and tables.
    r"|/\*|void \*map|typedef|memset|const uint32_t|status = encode|int empty|if \(size|of the driver; 0|`parameters`"
    r"|\{list\(index\)\}|triton_xla\.\{name\}|\{mark\}|\{use\.getOperandNumber|padded rows$|killed: wrong|\{tool\.path|\{message\}; settings|\{problem\.of|\{describeConstraint|the simulator does not support this form of .\{name\}.: \{self|on (?:NVIDIA |AMD )?GPUs$|in the simulator$|SURVIVED|the address is here| is an error, e"
    r"|\{buffers\}|\w* ?prefetched; \{|shared buffers?, \{|barriers? per iteration; trip"
    r"|all (?:\{requirements\}|of its constraints)|not a file$|to a multiple of \{|from \{loop|in this kernel$|running kernels on an emul"
)

# A name in a sentence: at most four words after an article, or a piece between values.
_NAME = re.compile(r"(?:the|a|an|all|one of the|each) [\w.@{}-]+(?: [\w.{}-]+){0,3}", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|has|have|must|cannot|may|does|do|not|was|were|needs?|requires?|requests?|exceeds?|lacks?|reads?|writes?|supports?"
    r"|removed|dropped|chosen|allocated|overlaps?|differs?|matches|match|keeps?|uses|exists?|alias|already|would)\b"
)

# The text that other code puts around the texts of a file and context; "..." is the text itself.
_WHOLE = (
    (
        "python/smalti/compiler/",
        "mlir_errors",
        "...: kernel.mlir:3:5: error: 'arith.addf' op requires the same type for all operands and results",
    ),
    (
        "python/smalti/sim/threads/execution/polling",
        "assign",
        "deadlock: no thread of the block can make progress; this one waits for memory; hint: progress requires ...",
    ),
    (
        "python/smalti/calling/calls",
        "assign",
        "argument 0 (TYPE): the array is in cpu memory; the kernel requires cuda memory; ...",
    ),
    ("", "emitOpError|refuseBarriers|refuseAsyncCopy|refuseMma|refuseThreadGroupBarrier", "'OP' op ..."),
    (
        "layouts/(?:LayoutAlgebra|NamedLayouts)|dialects/MosaicGPU/Layouts",
        "return|failed|text",
        "'OP' op 'out_layouts' entry 0 is not valid for TYPE: ...",
    ),
    ("dialects/MosaicGPU/Attributes", "return", "attribute #mosaic_gpu.TiledLayout: ..."),
    ("dialects/MosaicGPU/Ops/Registers", "return", "'OP' op cannot reduce TYPE: ..."),
    ("dialects/MosaicGPU/Ops/Registers", "text|toText", "'OP' op ..."),
    ("emulator/Instructions", "fail|failAs|failLane|failInOrder", "block (0, 0, 0), thread 7: ..."),
    (
        "emulator/Rewrite/Assembly",
        "complain|complainNone|text|consume_front|starts_with",
        "cannot parse inline assembly 'STATEMENT': ...",
    ),
    ("emulator/Rewrite", "refuse|complain", "@kernel: ..."),
    ("emulator/Runtime/Launch", "setError|return", "invalid launch: ..."),
    (
        "passes/Analysis/Memory/BufferUses",
        "return|failed|text|freesMemory",
        "buffer not multi-buffered: the buffer ...",
    ),
    ("passes/Analysis/Memory/MemoryAccess", "quote|text", "loop not pipelined: ..."),
    (
        "passes/Analysis/Memory/Overwrite",
        "ignore",
        "buffer not multi-buffered: each iteration must overwrite all 8 elements that the loop uses, but is proven to overwrite only 3; 'OP' is not counted as a write: ...",
    ),
    ("passes/Analysis/Memory/Overwrite", "return|text|quote", "buffer not multi-buffered: ..."),
    ("passes/Analysis/Resources/SharedBuffers", "hasStaticShape|isIdentity|get\\w+", "rows not padded: the buffer ..."),
    (
        "passes/Conversion/BlockToThread/Copies/TensorCopyLowering",
        "return|none",
        "'OP' op cannot be lowered for CHIP: ...",
    ),
    ("passes/Conversion/BlockToThread/Copies", "return", "'OP' op cannot be lowered for CHIP: ..."),
    ("passes/Conversion/BlockToThread/Kernel/TensorMaps", "return|failed", "'OP' op cannot use TMA: ..."),
    (
        "passes/Conversion/BlockToThread/Kernel/VendorLowering",
        "return",
        "'OP' op requires a barrier per thread group: ...",
    ),
    ("passes/Conversion/BlockToThread/Kernel/OpaqueLowering", "text", "..."),
    (
        "passes/Conversion/BlockToThread/Registers/Gather",
        "return",
        "'OP' op moves elements between threads, from layout LAYOUT to layout LAYOUT: ...; use a result layout in which each thread "
        "keeps its elements",
    ),
    (
        "passes/Conversion/BlockToThread/(?:Kernel|Transfers|Registers)",
        "return|failed|text|refuse",
        "'OP' op cannot be lowered to thread level: ...",
    ),
    ("passes/Conversion/ThreadLevel", "return", "'OP' op stores 4-bit elements, 2 per byte, ..."),
    ("passes/Conversion/TilesToBlocks/WgmmaDots", "return", "wgmma not used: ..."),
    ("passes/Conversion/TilesToBlocks/TilePlan", "return", "asynchronous copy not used: ..."),
    ("passes/Conversion/TilesToBlocks/TilePlan", "refuse", "argument #0 has type TYPE; ..."),
    ("passes/Conversion/TilesToBlocks/TilePlan", "formatv", "wgmma not used: ..."),
    (
        "passes/Conversion/ToGPU/HostTensorMaps",
        "refuse|text",
        "'gpu.launch' op uses an array of tensor maps of type TYPE that cannot be read at compile time: ...",
    ),
    ("passes/Conversion/ToGPU/HostTensorMaps", "return|getOperandNumber", "note: ..."),
    (
        "passes/Conversion/ToGPU/OutlineLaunches",
        "text",
        "'gpu.launch' op uses a memref of type TYPE that is not from the function's array of pointers: ...",
    ),
    ("passes/Conversion/ToGPU/MosaicGPUTo", "return", "'OP' op cannot be lowered for CHIP: ..."),
    ("passes/Layouts/Inference/Conflict", "text|describeConstraint", "'OP' op ..."),
    ("passes/Layouts/Plans/(?:TensorCopy|TransferDigits)", "return", "'OP' op cannot use TMA: ..."),
    ("passes/Layouts/Plans/Wgmma", "return|text", "'OP' op cannot read operand 'b' from shared memory: ..."),
    (
        "passes/Layouts/Plans/Relayout",
        "return|text|empty|isPossible",
        "'OP' op cannot change the layout from LAYOUT to LAYOUT: ...",
    ),
    ("passes/Layouts/Plans", "return", "'OP' op cannot be lowered to thread level: ..."),
    ("passes/Layouts/Rules/Rules.cpp", "text", "'OP' op the layout of the accumulator ..."),
    ("passes/Conversion/ThreadLevel", "failed", "'OP' op ..."),
    (
        "passes/Layouts/Vectors",
        "return|text",
        "'OP' op has a vector of type TYPE, which is incompatible with layout LAYOUT: ...",
    ),
    ("passes/MultiBuffering/BarrierSlots", "return|quote|empty|text", "mbarrier not multi-buffered: ..."),
    ("passes/MultiBuffering/MultiBuffer", "text", "mbarrier not multi-buffered: ..."),
    (
        "passes/MultiBuffering/MultiBuffer",
        "to_string",
        "buffer multi-buffered: 3 slots of 512 B, 1536 B in total; no more slots: ...",
    ),
    ("passes/MultiBuffering", "return|drop|refuse", "buffer not multi-buffered: ..."),
    ("passes/PadLowering/ConvFilterLayout", "return|text", "filter layout not changed: ..."),
    ("passes/PadLowering/LowerPad", "return", "tensor.pad not lowered: ..."),
    (
        "passes/PadLowering/(?:PadToIntrinsics|PaddingValues)",
        "return|text|str|isaContraction\\w+",
        "op not padded: ...",
    ),
    ("passes/PadLowering/ConvolutionLoops", "text", "op not padded: ..."),
    ("passes/Legality/OpTable.cpp", "return|text", "'OP' is not supported in a tile-level kernel; ..."),
    ("passes/PadLowering/PaddedCopies", "return", "padded read lowered to a masked read; cp.async not used: ..."),
    ("passes/PadLowering/TensorWindows", "return|failed", "padded read lowered to a masked read; TMA not used: ..."),
    (
        "passes/PadLowering/RawBuffers",
        "return|failed",
        "padded read lowered to a masked read; raw buffer not used: ...",
    ),
    ("passes/PadLowering/PaddedTransfers", "return|failed", "padded read or write not lowered: ..."),
    (
        "passes/Pipelining/LoopSchedule",
        "text|to_string",
        "loop pipelined: 3 stages, async mode, 2 copies prefetched; no more stages: ...",
    ),
    ("passes/Pipelining", "return|text|quote|str", "loop not pipelined: ..."),
    ("passes/SharedMemory/LDSDMAOrder", "return|quote|fail|note", "LDS DMA loads not overlapped: ..."),
    ("passes/SharedMemory/PadSharedMemory", "return|miss", "rows not padded: ..."),
    ("passes/SharedMemory/SwizzleSharedMemory", "return|miss", "buffer not swizzled: ..."),
    ("passes/Synchronization/FunctionProgram", "fixNestedBarriers", "barrier neither removed nor weakened: ..."),
    (
        "passes/Synchronization/FunctionProgram",
        "return|text|quote",
        "no barrier inserted to order 'OP' with other accesses: ...",
    ),
    (
        "dialects/MosaicGPU/Ops/Mma",
        "emitUnsupportedTypes",
        "'OP' op cannot multiply elements of TYPE and TYPE; supported are ...",
    ),
    ("passes/Analysis/Resources/ResourceEstimate", "attachNote", "note: ..."),
    ("python/smalti/compiler/driver", "return", "hint: ..."),
    ("python/smalti/cli/doctor", "assign", "GPU 0 (nvidia): NAME, ARCHITECTURE: ..."),
    ("python/smalti/emulator/process", "return", "the emulator ..."),
    (
        "python/smalti/sim/translation/bound_arguments",
        "assign",
        "argument 0 (TYPE): ...",
    ),
    ("passes/Conversion/TilesToTiles/ExpandTileOps", "return", "histogram not expanded: ..."),
    ("passes/Pipelines/FinalizeKernels", "text", "'OP' op on TYPE ..."),
    ("passes/Pipelining/PipelineLoops", "remarkApplied", "loop pipelined: 3 ..."),
    ("passes/Resources/CheckResources", "text|size", "..."),
    (
        "python/smalti/cli/(?:emulated|simulated)|python/smalti/launch/cpu",
        "assign",
        "note: @kernel on TARGET: 64 blocks will take about 90 s: ...",
    ),
    ("python/smalti/emulator/session", "assign", "hint: ..."),
    (
        "python/smalti/reference/interpreter",
        "assign",
        "...; hint: raise --time-limit SECONDS (time_limit), or run fewer blocks with --blocks N (blocks)",
    ),
    ("python/smalti/inputs", "return", "argument 0 (TYPE): the shape is dynamic; ..."),
    ("python/smalti/calling/arguments", "assign", "@kernel: the grid has 3 x -1 tiles; ..."),
    (
        "python/smalti/calling/arrays",
        "ArrayView",
        "argument 0 (TYPE): the element type is ...; the kernel requires float32",
    ),
    ("python/smalti/sim/kernel", "assign", "@kernel ..."),
    ("python/smalti/sim/ops/memref", "assign", "block (0, 0, 0), warp 0: the copy reads ..."),
    ("python/smalti/sim/machine/findings", "assign", "@kernel: 3 findings; ..."),
    ("python/smalti/sim/machine/timeline", "lines.append|assign", "@kernel: 1200 cycles, ..."),
    (
        "python/smalti/sim/machine/values",
        "assign",
        "the view begins or ends inside a byte, which the simulator does not support: ...",
    ),
    ("python/smalti/sim/launch", "for", "hint: ..."),
    (
        "passes/Synchronization/PlaceBarriers",
        "return",
        "possible data race: 'OP' of %a and 'OP' of %b of different threads may access the same memory; ...",
    ),
    ("passes/WarpSpecialization/OrderTiles", "return", "rasterization order not changed: ..."),
    ("passes/WarpSpecialization/WarpPlan", "refuse", "warp specialization not applied: ..."),
    ("python/", "hint", "hint: ..."),
    (
        "python/smalti/sim/mutants",
        "assign|if",
        "kernel.mlir:12:5: OP: mutation '...': SURVIVED: the simulator does not detect this inserted error",
    ),
    (
        "python/smalti/sim/machine/scheduler",
        "return",
        "hint: progress requires ...",
    ),
    ("python/smalti/sim/machine/explain|python/smalti/sim/threads/program", "return", "hint: ..."),
    (
        "python/smalti/sim/(?:ops/(?:gpu|cluster)|threads/ops/(?:collective/(?:gpu|reductions)|nvidia/cluster|amd/(?:barriers|cluster)_amd))",
        "return",
        "deadlock: no thread of the block can make progress; this one waits for ...",
    ),
    ("python/smalti/sim/machine/memory", "return", "block (0, 0, 0), warp 0: memref.store accesses ..."),
    ("python/smalti/sim/", "Finding|(?:\\w+\\.)+finding", "note: ..."),
    ("python/smalti/cache/disk_cache", "Refused|OSError", "the disk cache is disabled: ..."),
    (
        "python/smalti/cli/doctor",
        "_tool|_library|_file|Component|for",
        "missing  COMPONENT; enables: ...; install: (command that installs it)",
    ),
    ("python/smalti/cli/commands", "emulated.refuse", "--OPTION does not apply to ..."),
    ("python/smalti/toolchain", "assign", "hint: ..."),
    ("python/smalti/codegen/codegen_worker", "WorkerDied", "code generation of @kernel for TARGET failed: ..."),
    ("python/smalti/launch/kernels", "assign", "cannot write FILE: ..."),
    ("python/smalti/sim/translation/program", "Unsupported", "..."),
    ("python/smalti/sim/", "Unsupported.invalid", "'OP': ..."),
    ("python/smalti/sim/", "cls", "the simulator does not support this form of 'OP': ..."),
    (
        "python/smalti/sim/",
        "Unsupported",
        "the simulator does not support this form of 'OP': ...",
    ),
    (
        "dialects/TritonXLA/ReductionOps",
        "refuse",
        "'INNER' ...; the region of 'OP' requires scalar ops without side effects",
    ),
    ("dialects/TritonXLA/TritonXLA", "starts_with", "'triton_xla.entry_func' op ..."),
    ("dialects/TritonXLA/TritonXLA", "fail", "'triton_xla.entry_func' op dynamic_grid ..."),
    ("python/smalti/sim/", "(?:\\w+\\.)*(?:stop|report)", "block (0, 0, 0), warp 0: ..."),
    ("python/smalti/launch/archive", "_Damaged", "FILE is damaged: ...; compile the kernel and save the file again"),
    ("python/smalti/cli/", "click.BadParameter", "Invalid value for '--OPTION': ..."),
    (
        "python/smalti/language/control",
        "Undefined",
        "name 'x' is not defined here: ...; hint: assign it before that statement",
    ),
    (
        "python/smalti/language/control",
        "assign",
        "name 'x' is not defined here: ...; hint: assign it before that statement",
    ),
    ("python/smalti/language/arithmetic", "_unary|_count", "help(sl.NAME): ..., of each element."),
    ("python/smalti/calling/arrays", "NotAnArray", "argument 0 (TYPE): ..."),
)


_IMPERATIVE = re.compile(
    r"(?:let|set|remove|place|execute|order|wait|write|commit|initialize|expect|reach|stop|blocks of a grid|in \{|between the)\b"
)
"""Texts that are hints even without a keyword."""


_CLEANUPS = (
    (r"^\{refuse\(\)\}", "'OP' op lhs "),
    (r"^(?='? op )'?", "'OP'"),
    (r"\{\(?int64_t\(1\)?\}\{[^}]*\}", "{alignment}"),
    (r"^\{remark\}", ""),
    (r"this ''", "this 'OP'"),
    (r"does not have the attribute$", "does not have the attribute 'smalti.stage'"),
    (r"(below the rank of )\{[^}]*\}, but found$", r"\g<1>2, but found 3"),
    (r"^results must be$", "results must be 'vector<128x64xf32>', but found 'vector<64x64xf32>'"),
    (r"(is not the window \[)$", r"\g<1>64, 1, 32] with some of its unit dimensions dropped"),
    (r"^(cache is .*; it must be)$", r"\1 'ca', 'cg', 'cs' or 'cv'"),
    (r"(must have the same layout, but found)$", r"\1 {layout}"),
    (r"\{symbol\}\{\(resource ==\}threads", ""),
    (r"^auto\{[^{}]*\} is", "smalti.stages is"),
    (r"^: MMAs of", "dot expanded: MMAs of"),
    (
        r"^\{text\}global",
        "possible data race: 'OP' of %a and 'OP' of %b of different threads may access the same global",
    ),
    (
        r"(of different threads may access the same)$",
        r"\1 memory; the condition of 'scf.if' may be divergent, so no barrier can be placed inside",
    ),
    (r"^barrier removed, ", "1 barrier removed, "),
    (r"^barriers removed, ", "2 barriers removed, "),
    (r"\{\.(?:Case|Default|StartsWith)\}.*", ""),
    (
        r"^(?:help: )?(set relayouts.* before operand)$",
        r"help: \1 0 of this 'OP', whose layout is LAYOUT (cost: 264 cycles)",
    ),
    (r"^\{\.name\}", "{target.name}"),
    (r"\{std::to_string\((\w+)\}", r"{\1}"),
    (
        r"^(suffix '\{suffix\}' is not supported|the name does not have a suffix)$",
        r"\1; suffixes for sm_90a: .cubin .ptx .smalti",
    ),
    (r"^\{which\} is not valid", "the translated module is not valid"),
    (
        r"\{describeTimes\(plan\)\}",
        "1915 cycles per tile (1 block per SM); without it 1871 cycles (1 block per SM, 16 slots per buffer)",
    ),
    (r"^(invalid )\{what\}( size )\{[^{}]*\}", r"\1grid\g<2>0 x 1 x 1"),
    (r"^threads \{what\};", "threads pass different thread counts;"),
    (r"different finding\{[^{}]*\}", "different findings"),
    (r"^\{what\}( with mask .* diverges)", r"gpu.shuffle\1"),
    (r"\{before\.what\}( completes)", r"the TMA load\1"),
    (r"^\{what\}(: the slice has)", r"dimension 0 of x\1"),
    (r"^(has (?:a|the) (?:packed dimension|format).*)", r"'OP' op lhs \1"),
    (r"(was overwritten )%s", r"\1while the wgmma was in flight"),
    (r"(\{[^{}]*\}), are allowed", r"\1 are allowed"),
    (r"(known types:)$", r"\1 {names}"),
    (r"\) \.c_str\(\}", "}"),
    (r"\((\d)\}", r"(\1)}"),
    (r"(not initialized in the function)'.*", r"\1"),
    (r"^is not a dense attribute", "{attribute} is not a dense attribute"),
    (
        r"(stages?, \{toString\(schedule\.mode\)\} mode, )\{.*",
        r"\1 2 copies prefetched; 2 shared buffers, 1024 B; 1 barrier per iteration; trip count 64",
    ),
    (r"(uses argument )\{[^{}]*\}", r"\g<1>0"),
    (r"(; use )\{kind\}(, a \.npy)", r"\1a number\2"),
    (r"(is code for )\{[^{}]*\}", r"\1AMD"),
    (r"(does not have a kernel @)\{name\}", r"\1NAME"),
    (r"(the wave size is )\{lanes\}; it must be .*", r"\g<1>64; it must be 32"),
    (r"^\{self\.__name__\}: (the elements of |)\{[^{}]*\}", r"kernel: \1x"),
    (r"(is indexed by )\{k\}", r"\1'a'"),
    (r"(the bound of a slice is )\{[^{}]*\}", r"\1a tile"),
    (r"(the index is )\{k\}(, but must have)", r"\1a scalar of float32\2"),
    (r"^\{_describe\(target\)\}", "a call"),
    (r"\{(?:self\.)?name\} expects", "named barrier 1 expects"),
    (r"( arrives at )\{self\.name\}", r"\1named barrier 1"),
    (r"(is out of range for \{[^{}]*\}; )\{required\}", r"\1a number from -128 to 255 is required"),
    (r"(^kind is \{kind\}, but must be one of ).*", r"\1add, max, min, and, or, xor, exchange"),
    (r"(for phase \{self\.phase\} of )\{self\.name\}", r"\1the mbarrier at byte 64 of shared memory"),
    (
        r"^\{what\}( of )\{self\.name\}( is not ordered)",
        r"the invalidation\1the mbarrier at byte 64 of shared memory\2",
    ),
    (r"(signaled \()\{[^{}]*\}\)", r"\1waves 0 and 1)"),
    (r"^\{target\.name\} does not have \{what\}.*", "gfx942 does not have scaled MFMA; chips that have it: gfx950"),
    (r"\{[^{}]*\}s (these bytes here)", r"writes \1"),
    (r"^the wgmma is issued here$", "note: the wgmma is issued here"),
    (r"(the operand )\{name\}-\{self\.name\}", r"\1byte-id-a"),
    (r"(accumulator registers of \{types\[before\]\}; )\{[^{}]*\}", r"\g<1>4"),
    (r"(instructions of \{[^{}]*\} that are not emulated)$", r"\1: nvvm.NAME at kernel.mlir:12:5"),
    (r"(B in total)\{.*", r"\1; no more slots: 3 slots are the maximum of depth=auto"),
    (r"^line \{.*?\}1 is", "line 12 is"),
    (r"^\{what\}( is outstanding at the end)", r"the cp.async copy\1"),
    (r"^(remove this .* or)$", r"\1 change its layout to LAYOUT"),
    (r"^slots? per buffer of this loop", "3 slots per buffer of this loop"),
    (r"^\{map\}", "the tensor map at byte 128"),
    (r"is damaged: \{error.*?\};", "is damaged: the file is truncated;"),
    (r"^(lanes .* access different words)", r"every access pattern has bank conflicts; the best is loads of 8 B: \1"),
)
"""Values before or inside a text that the parser does not find."""

_REMARKS = {
    "CheckResources.cpp": "kernel uses 640 of 65536 B of shared memory",
    "OverlapLDSDMA.cpp": "2 of 3 barriers no longer wait for outstanding LDS DMA loads",
    "PlaceBarriers.cpp": "1 barrier removed, 1 inserted, 2 kept",
    "OrderTiles.cpp": "rasterization order changed to grouped: 6 x 8 tiles, 4 rows per group",
    "SpecializeWarps.cpp": "warp specialization applied: 128 producer and 256 consumer threads",
}
"""The first part of a remark whose other parts are texts of their own."""


def _whole(message: Message) -> Message:
    """The text that a user sees: a part of a message with its other parts."""
    text = message.text
    if re.match(r"\{remark\}[; ,]", text):
        text = text.replace("{remark}", _REMARKS.get(message.path.rpartition("/")[2], ""))
    for pattern, shown in _CLEANUPS:
        text = re.sub(pattern, shown, text)
    if message.context == "append" and message.path.startswith("emulator/Runtime/"):
        # "%s" is the access, and the address follows.
        text = re.sub(r"(.*)%s(.*:) (read|write)", r"\1\3\2 ADDRESS", text)
    if (
        "PlaceBarriers" in message.path
        and message.context in ("report", "return")
        and re.match("barriers not|no barrier inserted to order .* accesses$", text)
    ):
        text += ": the function has branches between MLIR blocks; use scf.for, scf.while or scf.if"
    if text.startswith("the kernel does not divide the tile id"):
        text = f"rasterization order not changed: {text}"
    if (
        message.path.startswith("python/smalti/sim/")
        and message.context in ("assign", "return", "for")
        and "mutants" not in message.path
        and _IMPERATIVE.match(text)
    ):
        text = f"hint: {text}"
    message = replace(message, text=text)
    for path, context, frame in _WHOLE:
        if "OpTable" in path and not re.match("use|remove|docs|inline", message.text):
            continue
        if re.match(path, message.path) and re.fullmatch(context, message.context):
            if "FunctionProgram" in path and "move the barrier" in message.text:
                frame = "barrier neither removed nor weakened: ..."
            if "HostTensorMaps" in path and re.match(
                "th(?:is|e value that this)|an (?:array operand|element of an)", message.text
            ):
                frame = "note: ..."
            if message.path.endswith("calling/calls.py") and not message.text.startswith("pass"):
                frame = "..."
            if message.text.startswith("an integer is divided by 0"):
                frame = "block (0, 0, 0), warp 0: ..."
            if message.text.startswith("none, so pass"):
                frame = "@kernel does not have an argument named 'NAME' (names: ...)"
            if path.startswith("python/smalti/cli/doctor") and "cannot be" in message.text:
                frame = "missing  COMPONENT: ..."
            if path.startswith("python/smalti/cli/doctor") and re.match("build|install|use", message.text):
                frame = "missing  COMPONENT; enables: (what needs it); install: ..."
            if frame == "note: ..." and re.match("deadlock: |data race: |.* is outstanding at the end", message.text):
                frame = "..."
            if path.startswith("python/smalti/sim/") and "mutants" not in path and _IMPERATIVE.match(message.text):
                frame = "hint: ..."
            if "PlaceBarriers" in path and re.match("it orders|the search for", message.text):
                frame = "barrier kept: ..."
            if frame == "wgmma not used: ..." and re.match(
                "the (?!kernel does|operands of the dots)|row stride|dimension", message.text
            ):
                frame = "wgmma not used: TMA cannot load operand A: ..."
            if frame.startswith("wgmma") and re.search("triton_xla.insert|column-major order; row", message.text):
                frame = "TMA store not used: ..."
            head, found, tail = frame.rpartition("...")
            known = head.removesuffix("...").rstrip(" ;:")
            text = message.text
            if (" lowered to " in text and "cannot" not in text) or (known and text.startswith(known.split(":")[0])):
                return message
            return replace(message, text=f"{head}{text}{tail}" if found else text)
    return message


def _is_message(message: Message) -> bool:
    if message.path.endswith("Inference/Conflict.cpp") and re.fullmatch(
        "(?:requires|copies|in|a block|the result)[^;]*|.*, and the same layout for.*|.*; use a separate buffer.*"
        "|(?:help: )?(?:align|set|change|give|remove) .*",
        message.text,
    ):
        return False  # Parts of the notes of `conflict`.
    if _NOT_MESSAGES.fullmatch(message.context) or _NOT_MESSAGE_PATHS.fullmatch(f"{message.path}:{message.context}"):
        return False
    if message.path.startswith("python/bindings") and (".def" in message.text or message.text.endswith(".")):
        return False
    text = re.sub(r"\{[^}]*\}", "N", message.text)
    if _NOT_MESSAGE_TEXTS.match(message.text) or not is_prose(text):
        return False
    if message.context in ("summary", "option", "clEnumValN", "click.option"):
        return True
    whole = re.sub(r"\{[^}]*\}", "N", _whole(message).text)
    if message.path.endswith(".cpp") and re.search(
        r"(?:: |the m?buffer |the mbarrier )\{\*?(?:[\w.>-]*(?:reason|why|wrong|Reason|note|escape))\}$", message.text
    ):
        return False  # The reasons are texts of their own.
    is_piece = _NAME.fullmatch(whole) or len(re.findall(r"[A-Za-z]{2,}", whole)) < 4
    return not (is_piece and not _VERB.search(whole)) and re.match(r"[;,)|]", text) is None


_CONVERSION = re.compile(r"(?:std::to_string|llvm::Twine|Twine|llvm::utostr|llvm::itostr)\((.*)\)")


def _shown(expression: str) -> str:
    """A value in a message, in braces; a long one is shortened."""
    expression = " ".join(expression.split()).removesuffix(".str(")
    while expression.endswith(")") and expression.count(")") > expression.count("("):
        expression = expression[:-1].rstrip().removesuffix(".str(")
    if conversion := _CONVERSION.fullmatch(expression):
        expression = conversion[1]
    if quoted := re.fullmatch(r"quote\((.*)\)", expression):
        return f"'{{{quoted[1]}}}'"
    return f"{{{expression if len(expression) <= 80 else '...'}}}"


_ARGUMENT = "\0"
"""Separates the texts of different arguments of a call."""

_PLURAL = re.compile(r".*\b(?:plural|count)\((.*),")


def _values(code: str) -> str:
    """The text that code between two literals inserts; "|" if the second literal is an alternative of the first."""
    code = " ".join(code.split())
    if not code:
        return ""
    if re.fullmatch(r"\)*\s*:\s*\(*(?:[\w:]+\()*", code) or re.fullmatch(r"\)*\s*:[^+<\"]*\?\s*\(*(?:[\w:]+\()*", code):
        return "|"
    if code.startswith((":", ") :")):
        code = code.partition("+")[2].strip() if "+" in code else ""
        if not code:
            return ""
    if plural := _PLURAL.fullmatch(code):
        return _values(code[: plural.start(1)].rpartition("+")[0]) + _shown(plural[1]) + " "
    parts = [part.strip() for part in re.split(r"<<|\+(?!\+)", code)]
    if len(parts) == 1 and "?" in code:
        return ""
    if len(parts) == 1 and (code.strip(" ,()") == "" or "," in code):
        value = code.strip(" ,()")
        return f"{_ARGUMENT}{_shown(value)}{_ARGUMENT}" if value else _ARGUMENT
    if len(parts) == 1:
        return _shown(code.strip(" ()"))
    return "".join(_shown(part.strip(" ,")) for part in parts if part.strip(" ,()") and "?" not in part)


def _leading(code: str) -> str:
    """The value before the first literal."""
    code = " ".join(code.split())
    found = re.search(r"([\w.>:*-]+(?:\((?:[^()]|\([^()]*\))*\))?)\s*(?:\+|<<)$", code)
    if not found or re.search(
        r"emit\w*\(|remark\w*\(|report\w*\(|attachNote|Error|errors?\b|^diagnostic|^\w*[Ss]tream$|^note$|^(?:out|os)$",
        found[1],
    ):
        return ""
    return _shown(found[1].lstrip("*"))


def _context(code: str) -> str:
    """The outermost call or statement that a literal is in: the last one of diagnostics' names, if there is one."""
    names = re.findall(r"([\w.>-]+?)\(", code)
    for name in names:
        short = re.split(r"\.|->", name)[-1]
        if re.match(
            r"emit|create\w*Error|remark|report|miss|fail|refuse|complain|attachNote|ignore|setError|set_error|\w*_error",
            short,
        ):
            return short
    if re.search(r"\b(?:return|co_return)\b", code):
        return "return"
    if names:
        return re.split(r"\.|->", names[-1])[-1]
    return "text"


def _arguments(code: str) -> list[str]:
    """The arguments of a call after the first, up to the end of the call."""
    depth, found = 0, [""]
    for character in code:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            break
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [argument.strip() for argument in found[1:]]


def _fill(text: str, tail: str) -> str:
    """The text of llvm::formatv with its arguments."""
    values = dict(enumerate(_arguments(tail)))
    return re.sub(r"\{(\d)\}", lambda place: _shown(values.get(int(place[1]), "value")), text)


def cpp_messages(path: str, source: str, first: int = 1) -> Iterator[Message]:
    """Each statement with text is one message, or two if it chooses between texts; values are shown in braces."""
    pieces: list[list[str]] = []
    code = head = ""
    line = 0
    has_words = False

    def flush(tail: str) -> Iterator[Message]:
        nonlocal head, code, has_words
        if pieces:
            context = _context(head)
            is_format = any("{0}" in text for piece in pieces for text in piece)
            if re.search(r"<<|\+", tail) and not is_format:
                pieces.append([_values(tail)])
            choices = range(max(map(len, pieces)))
            texts = dict.fromkeys("".join(piece[min(choice, len(piece) - 1)] for piece in pieces) for choice in choices)
            if is_format:
                texts = {_fill(text, tail): None for text in texts}
            if context in ("toText", "size", "require", "shape") and (context == "toText" or "bindings" in path):
                texts = {text.replace(_ARGUMENT, ""): None for text in texts}
            for text in (part for whole in texts for part in whole.split(_ARGUMENT)):
                if has_words and is_prose(re.sub(r"\{[^}]*\}", "N", text)) and not _NOT_MESSAGES.fullmatch(context):
                    yield Message(path, line, context, " ".join(text.split()))
        pieces.clear()
        head = code = ""
        has_words = False

    end = 0
    for match in (*CPP_TOKEN.finditer(source), None):
        between = source[end : match.start()] if match else source[end:]
        *statements, rest = re.split(r"[;{}]", between)
        for number, statement in enumerate(statements):
            yield from flush(code + statement if not number else statement)
        code += rest
        if match is None:
            break
        end = match.end()
        if match["comment"]:
            continue
        if match["char"]:
            code += match[0]
            continue
        literal = match["body"] if match["raw"] else match["string"][1:-1]
        text = literal.replace('\\"', '"').replace("\\n", " ")
        has_words = has_words or re.search(r"[a-z]{2} |[, ] ?[a-z]{2}", literal) is not None
        value = _values(code) if pieces else _leading(code)
        if pieces and value == "|":
            pieces[-1].append(text)
        elif pieces and not code.strip():
            pieces[-1][-1] += text
        else:
            if not pieces:
                head = code
                line = first + source.count("\n", 0, match.start())
            pieces += [[value], [text]]
        code = ""
    yield from flush(code)


_GAP = re.compile(r'^\{(".*?)\},$', re.DOTALL | re.MULTILINE)
_GAP_PLATFORMS = {"GPUs": " on GPUs", "AMD": " on AMD GPUs", "Simulator": " in the simulator"}


def gap_messages(path: str, source: str) -> Iterator[Message]:
    """The refusals of the gaps of the table of legal ops, as `describeGap` in OpTable.cpp writes them."""
    for row in _GAP.finditer(source, source.index("#ifdef GET_GAPS")):
        fields = re.sub(r'"\s+"', "", row[1])
        ops, form, reason, remedy, *_ = re.findall(r'"([^"]*)"', fields)
        platform = fields.split(",")[1].strip()
        op = "{op}" if "*" in ops else ops.split()[0]
        text = " ".join(f"'{op}' {form} is not supported{_GAP_PLATFORMS.get(platform, '')}: {reason}".split())
        yield Message(path, 1 + source.count("\n", 0, row.start()), "gap", f"{text}; {remedy}" if remedy else text)


_TABLEGEN_STRINGS = re.compile(
    r"(?P<block>\[\{(?P<body>.*?)\}\])|(?P<strings>\"(?:\\.|[^\"\\\n])*\"(?:\s*\"(?:\\.|[^\"\\\n])*\")*)|//[^\n]*",
    re.DOTALL,
)


_ENUM_VALUE = re.compile(r'clEnumValN\([\w:]+,\s*"([^"]*)",\s*"([^"]*)"\)')


def tablegen_messages(path: str, source: str) -> Iterator[Message]:
    """Descriptions of options and of passes, which `--help` prints."""
    for match in _TABLEGEN_STRINGS.finditer(source):
        line = 1 + source.count("\n", 0, match.start())
        before = source[max(0, match.start() - 200) : match.start()]
        if match["strings"]:
            text = re.sub(r'"\s*"', "", match["strings"])[1:-1].replace('\\"', '"')
            if re.search(r"\bsummary\s*=\s*$", before):
                yield Message(path, line, "summary", text)
            elif is_prose(text) and (kind := re.search(r"(\w*Option)<[^;{}<>]*$", before)):
                # passes/Support/Options.td
                if kind[1] == "TargetOption":
                    text = f"The chip{text}, e.g. `target=sm_90a`; default: the attribute `smalti.target`"
                elif kind[1] == "StrictOption":
                    text = f"{text} is an error, e.g. `strict=true`; default: `false`, a missed remark"
                yield Message(path, line, "option", text)
        elif match["block"] and "clEnumValN" in match["body"]:
            record = source[: match.start()].rpartition("\ndef ")[2]
            *_, option = re.findall(r'Option<"\w+",\s*"([\w-]+)"', record) or [""]
            for value in _ENUM_VALUE.finditer(match["body"]):
                at = line + match["body"].count("\n", 0, value.start())
                yield Message(path, at, "clEnumValN", f"{option or 'OPTION'}={value[1]}: {value[2]}")
        elif match["block"] and not re.search(r"\b(?:description|summary)\s*=\s*$", before):
            yield from cpp_messages(path, match["body"], line)


def _formatted(node: ast.expr) -> str:
    """A value in an f-string: one of two texts, or the expression in braces."""
    if isinstance(node, ast.IfExp):
        texts = [_render(branch) for branch in (node.body, node.orelse)]
        if None not in texts:
            return max((text for text in texts if text is not None), key=len)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
        joined = node.args[0]
        if isinstance(joined, ast.GeneratorExp):
            return _shown(f"{ast.unparse(node.func)}({ast.unparse(joined.generators[0].iter)})")
    return _shown(ast.unparse(node))


def _render(node: ast.AST) -> str | None:
    """The text of a string expression, values in braces; None for another expression."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                value.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
                else _formatted(value.value)
                if isinstance(value, ast.FormattedValue)
                else ""
                for value in values
            )
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            first, second = _render(left), _render(right)
            if first is None and second is None:
                return None
            return (first or _shown(ast.unparse(left))) + (second or _shown(ast.unparse(right)))
    return None


def _hint(node: ast.AST) -> str | None:
    """A hint that is not only forwarded."""
    return _shown(node.attr) if isinstance(node, ast.Attribute) and node.attr != "hint" else _render(node)


def _metavar(given: dict[str | None, ast.expr]) -> str:
    """The value of an option, as `--help` shows it; empty for a flag."""
    if "metavar" in given:
        return f" {_render(given['metavar'])}"
    if "is_flag" in given or "count" in given or "flag_value" in given:
        return ""
    kind = ast.unparse(given["type"]) if "type" in given else "str"
    if "Choice" in kind:
        choices = re.findall(r"'([^']*)'", kind)
        return f" [{'|'.join(choices)}]" if choices else " CHOICE"
    if "Path" in kind or "File" in kind:
        return " DIRECTORY" if "file_okay=False" in kind else " FILE"
    return " INTEGER" if "int" in kind.lower() else " FLOAT" if "float" in kind.lower() else " TEXT"


def python_messages(path: str, source: str) -> Iterator[Message]:
    def visit(node: ast.AST, context: str) -> Iterator[Message]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Call):
            context = ast.unparse(node.func)
            if context == "click.option":
                names = ", ".join(name for word in node.args if (name := _render(word)) and name.startswith("-"))
                for keyword in node.keywords:
                    if keyword.arg == "help" and (text := _render(keyword.value)):
                        given = {word.arg: word.value for word in node.keywords}
                        default = f" [default: {ast.unparse(given['default'])}]" if "show_default" in given else ""
                        yield Message(path, keyword.lineno, context, f"{names}{_metavar(given)}: {text}{default}")
                return
            hints = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
            if context == "Misuse":
                hints += node.args[1:2]
            hint = next(map(_hint, hints), None)
            said = next((word for word in node.args if is_prose(_render(word) or "")), None)
            if hint and said is not None and not _NOT_MESSAGES.fullmatch(context):
                notes = (f"hint: {' '.join(hint.split())}",)
                yield Message(path, said.lineno, context, " ".join((_render(said) or "").split()), notes)
                for child in (*node.args, *node.keywords):
                    if child is not said and child not in hints and getattr(child, "value", None) not in hints:
                        yield from visit(child, context)
                return
        elif isinstance(node, ast.stmt) and not isinstance(node, ast.Expr):
            context = type(node).__name__.lower()
            if isinstance(node, ast.Assign) and any(
                isinstance(at, ast.Name) and at.id == "hint" for at in node.targets
            ):
                context = "hint"
        elif isinstance(node, ast.keyword) and node.arg == "hint":
            context = "hint"
        if isinstance(node, ast.expr) and (text := _render(node)) is not None:
            if is_prose(text) and not _NOT_MESSAGES.fullmatch(context):
                yield Message(path, node.lineno, context, " ".join(text.split()))
            for child in ast.walk(node):
                if isinstance(child, ast.FormattedValue):
                    yield from visit(child.value, context)
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, context)

    yield from visit(ast.parse(source), "module")


# Layout conflicts: ops that require different layouts.
_VECTOR = "(vector<64x64xf32> in registers)"
_MEMORY = "(memref<64x64xf16, #gpu.address_space<workgroup>> in shared memory)"
_TENSOR = "(memref<128x128xf32, #mosaic_gpu.tmem> in tensor memory)"
_INDICES = "(vector<64xi32> in registers)"

_RULE_OPS = (
    ("alias id|uses of a buffer", "mosaic_gpu.slice_smem"),
    ("does not reduce a dimension", "vector.multi_reduction"),
    ("vector operand to memory", "mosaic_gpu.vector_store"),
    ("dimensions in the shape of the source", "mosaic_gpu.async_store_scales_smem_to_tmem"),
    ("tensor core reads", "mosaic_gpu.wgmma"),
    ("old values in memory", "mosaic_gpu.atomic_rmw"),
    ("TMA gather", "mosaic_gpu.async_load"),
    ("/ElementwiseRules", "arith.constant"),
    ("/MemRefRules", "memref.subview"),
    ("/RegisterRules", "mosaic_gpu.vector_load"),
    ("/SharedMemoryRules", "mosaic_gpu.async_load"),
    ("/VectorRules", "vector.extract_strided_slice"),
    ("", "arith.addf"),
)
"""An op for the reasons that several ops share, by the file and the reason."""

_MMA_TILES = (
    f"requires tiles of 8x64 or 8x32 or 8x16, with a swizzle as wide as the tile's rows, for operand 2 {_MEMORY}"
)
_UNTILED = f"requires untiled memory for operand 0 {_MEMORY}"
_NOT_SPLAT = f"requires a layout other than splat (one scalar for all elements) for the result {_VECTOR}"
_MATCHING = "requires matching layouts for operand 0 {0} and the result {0}"
_TRANSFER = (
    "requires a layout for {} that can be {} memref<64x64xf16, #gpu.address_space<workgroup>> without bank conflicts"
)
_TENSOR_TRANSFER = f"requires a layout for {{}} {_VECTOR} that can be loaded from and stored to {_TENSOR[1:-1]}"

LAYOUT_RULES = (
    (
        "cut vector",
        "VectorRules.*(?::divides|whole tiles)",
        f"requires tiles whose sizes divide [64, 4] for operand 0 {_VECTOR}",
    ),
    (
        "cut view",
        "(?:MemRef|SharedMemory)Rules.*:divides",
        f"requires tiles whose sizes divide [64, 8] for operand 0 {_MEMORY}",
    ),
    ("cut", ".*:divides", f"requires tiles whose sizes divide [8, 32] for operand 2 {_MEMORY}"),
    ("untiled", ".*(?::noTransforms|row-major order of)", _UNTILED),
    ("constant", "ElementwiseRules.*:splat", f"requires layout splat for the result {_VECTOR}"),
    ("splat", ".*(?::splat|the same scalar)", f"requires layout splat for operand 0 {_VECTOR}"),
    ("not splat", ".*(?::notSplat|may differ|an iota differ)", _NOT_SPLAT),
    (
        "not strided",
        ".*(?::notStrided|only tiled layouts)",
        f"requires a layout other than strided for operand 0 {_VECTOR}",
    ),
    ("tiles", ".*tensor core reads", _MMA_TILES),
    (
        "rows",
        ".*32 bytes of each row",
        f"requires tiles whose rows are a multiple of 16 elements for operand 0 {_MEMORY}",
    ),
    ("tensor transfer", ".*loads its result from tensor", _TENSOR_TRANSFER.format("the result")),
    ("tensor transfer", ".*stores its .* tensor memory", _TENSOR_TRANSFER.format("operand 0")),
    ("transfer", ".*loads its result from memory", _TRANSFER.format(f"the result {_VECTOR}", "loaded from")),
    ("transfer", ".*stores its vector operand", _TRANSFER.format(f"operand 0 {_VECTOR}", "stored to")),
    (
        "layout",
        ".*only splats are converted",
        f"requires operand 0 {_VECTOR} in the layout of the result of 'mosaic_gpu.layout_cast', and the same layout for operand 1 "
        "and the result",
    ),
    (
        "layout",
        ".*converts its operand",
        f"requires a layout that can be converted to the layout of the result {_VECTOR} for operand 0 {_VECTOR}",
    ),
    ("indices", ".*TMA gather copies 4", f"requires layout TMA_INDICES or TMA_INDICES_4 for operand 3 {_INDICES}"),
    ("tensor", ".*'packing' of the op", f"requires layout LAYOUT for the result {_TENSOR}"),
    ("memory", ".*(?:same memory|view has|alias id|of a buffer|tile and swizzle)", _MATCHING.format(_MEMORY)),
    ("layout", "", _MATCHING.format(_VECTOR)),
)
"""The kind and the text of a requirement, by the file, the function and the reason of its rule."""

_CAST, _VIEW, _TMEM = "mosaic_gpu.layout_cast", "mosaic_gpu.with_transforms", "mosaic_gpu.tmem_layout_cast"


def _cast(layout: str, subject: str = _VECTOR) -> tuple[str, str, str]:
    return _CAST, f"requires layout {layout} for the result {subject}", "the layout of the cast result"


def _view(layout: str) -> tuple[str, str, str]:
    return _VIEW, f"requires {layout} for operand 0 and the result {_MEMORY}", "the layout of the memory"


def _change(op: str, layout: str) -> str:
    return f"help: remove this '{op}' or change the layout of the op to {layout}, which satisfies the other ops"


_TILED = _view("tile 8x64, swizzle 128")
_ELEMENT = (
    "memref.load",
    _UNTILED,
    "the op accesses a single element by its index; use a separate buffer for the ops that require tiles",
)
_LOAD = ("mosaic_gpu.vector_load", _NOT_SPLAT, "the loaded elements may differ")
_TMEM_CAST = (
    _TMEM,
    f"requires layout TMEM_NATIVE(2) for operand 0 and the result {_TENSOR}",
    "the layout of the memory",
)
_EXTRACT = (
    "vector.extract",
    f"requires layout splat for operand 0 {_VECTOR}",
    "every thread needs the extracted element, and only the splat layout holds all elements in every thread; store the vector to "
    "memory, and load the element from there",
)
_ALIGN = "help: align the offsets and sizes of this 'OP' to tile boundaries"
_CONVERT = (
    "help: set relayouts=true, or insert a 'mosaic_gpu.layout_cast' to the layout {} before operand {} of this 'OP', whose layout is "
    "{} (cost: 264 cycles)"
)
LAYOUT_OPPOSITES: dict[str, tuple[list[tuple[str, str, str]], str]] = {
    "cut vector": ([_cast("WGMMA")], _ALIGN),
    "cut view": (
        [("mosaic_gpu.wgmma", _MMA_TILES, "the tensor core reads tiles of 8 rows of 32, 64 or 128 bytes")],
        _ALIGN,
    ),
    "cut": ([_TILED], _change(_VIEW, "tile 8x32, swizzle 64")),
    "untiled": ([_TILED], _change(_VIEW, "no tile")),
    "tiles": (
        [_view("tile 16x64, swizzle 128")],
        "help: change the sizes in this 'OP' to multiples of one of the tiles that it requires",
    ),
    "rows": (
        [_view("tile 8x8, no swizzle")],
        "help: give the shared memory of this 'OP' a tile whose rows are a multiple of 32 bytes, with 'mosaic_gpu.with_transforms'",
    ),
    "memory": ([_TILED, _view("tile 8x32, swizzle 64")], _change(_VIEW, "tile 8x64, swizzle 128")),
    "constant": ([_cast("WGMMA")], f"help: remove this '{_CAST}'"),
    "splat": ([_LOAD], ""),
    "not splat": ([_EXTRACT], ""),
    "not strided": ([_cast("strided by 2")], _change(_CAST, "WGMMA")),
    "transfer": (
        [_cast("WGMMA"), _ELEMENT],
        "help: set 'optimized = false' on this 'OP', which then may have bank conflicts",
    ),
    "tensor transfer": (
        [_cast("WGMMA"), _TMEM_CAST],
        "help: change the layout of the tensor memory of this 'OP' with 'mosaic_gpu.tmem_layout_cast'",
    ),
    "tensor": ([_TMEM_CAST], _change(_TMEM, "LAYOUT")),
    "indices": ([_cast("WGMMA_ROW", _INDICES)], _CONVERT.format("TMA_INDICES", 3, "WGMMA_ROW")),
    "layout": ([_cast("TCGEN05"), _cast("WGMMA")], _CONVERT.format("TCGEN05", 0, "WGMMA")),
}
"""The requirements of other ops that conflict with each kind, with their reasons, and the hint of the conflict."""

_RULE_STRUCT = re.compile(r"^(?:template <typename \w+> )?struct (\w+)|^[\w}].*$", re.MULTILINE)


def _rule_op(message: Message, source: str) -> str:
    """The op whose layout rule contains the message."""
    before = "".join(source.splitlines(keepends=True)[: message.line - 1])
    name = "" if re.search("old values|TMA gather", message.text) else None
    for start in _RULE_STRUCT.finditer(before) if name is None else ():
        name = start[1]
    op = name and re.search(rf"attachRule<{name}(?:<[^>]*>)?,\s*((?:\w+::)?\w+?)Op>", source)
    if not op:
        return next(op for where, op in _RULE_OPS if re.search(where, f"{message.path}: {message.text}"))
    dialect, _, mnemonic = op[1].rpartition("::")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", mnemonic).lower()
    for parts, word in (
        ("tc_gen05", "tcgen05"),
        ("sub_view", "subview"),
        ("bit_cast", "bitcast"),
        ("multi_dim", "multi"),
    ):
        words = words.replace(parts, word)
    return f"{dialect or 'mosaic_gpu'}.{words}"


def conflict(message: Message, source: str) -> Message:
    """The reason of a layout requirement as a note of a conflict with other ops."""
    op = _rule_op(message, source)
    rule = f"{message.path.rpartition('/')[2]}:{message.context}: {message.text}"
    kind, requirement = next((kind, text) for kind, where, text in LAYOUT_RULES if re.match(where, rule))
    others, hint = LAYOUT_OPPOSITES[kind]
    remedy = "; use a separate buffer for the ops that require tiles" if kind == "untiled" else ""
    notes = [f"note: '{op}' {requirement}: {message.text}{remedy}"]
    notes += [f"note: '{other}' {text}: {reason}" for other, text, reason in others]
    notes += [hint.replace("OP", op)] if hint else []
    head = f"'{others[0][0]}' op {others[0][1]}; no layout assignment satisfies all requirements in the notes"
    return replace(message, text=head, notes=tuple(notes))


_NOTE_DISTANCE = 30
"""The lines after an error in which its notes are attached."""

_RACE = (
    "block (0, 0, 0), warp 1: data race: the load reads bytes [0, 4) of shared memory; it is not ordered with the copy"
)
_UNREADABLE = "'gpu.launch' op uses an array of tensor maps of type TYPE that cannot be read at compile time"

_MESSAGES_OF_NOTES = (
    (
        "passes/Layouts/Inference/Conflict.*pad the vector",
        "'mosaic_gpu.vector_load' op requires a layout for the result (vector<100x100xf32> in registers); no known layout satisfies "
        "all requirements in the notes",
    ),
    (
        "passes/Layouts/Inference/Conflict",
        f"'mosaic_gpu.layout_cast' op {_cast('TCGEN05')[1]}; no layout assignment satisfies all requirements in the notes",
    ),
    (
        "passes/Conversion/ToGPU/HostTensorMaps.*not a call that encodes",
        f"{_UNREADABLE}: the array is used by an op other than calls that encode tensor maps",
    ),
    (
        "passes/Conversion/ToGPU/HostTensorMaps.*this call does not precede",
        f"{_UNREADABLE}: the tensor map at byte 128: the call that encodes it does not precede the load of the array",
    ),
    (
        "passes/Conversion/ToGPU/HostTensorMaps",
        f"{_UNREADABLE}: the sizes, strides or box of the encoder call are not constant",
    ),
    (
        "python/smalti/sim/(?:machine/explain|threads/program|machine/machine|threads/execution/accesses)",
        f"{_RACE}\n    note: block (0, 0, 0), warp 0: the copy writes these bytes here",
    ),
    (
        "python/smalti/sim/launch.*the run was in this loop",
        "@kernel: time limit of 300 s reached; 3 of 64 blocks completed\n    note: the run was in this loop",
    ),
    (
        "python/smalti/sim/threads/execution/accesses.*different value",
        "data race: threads write different values to byte 0 of shared memory in one store",
    ),
    (
        "python/smalti/sim/(?:launch|threads/execution/engines)",
        "the copy is outstanding at the end of the kernel; no wait covers it",
    ),
    (
        "python/smalti/sim/machine/scheduler",
        "deadlock: no thread of the block can make progress; this one waits for the cluster barrier",
    ),
    (
        "python/smalti/sim/(?:machine/engines|threads/execution/wgmma)",
        "block (0, 0, 0), warp 0: arith.addf uses the result of a wgmma that may be in flight",
    ),
    (
        "python/smalti/sim/machine/synchronization",
        "this wait for phase 1 of the mbarrier may run after phase 2 completes (phase aliasing) and would then block until "
        "phase 3",
    ),
    (
        "python/smalti/compiler/driver.*both uses",
        "use of value '%x' expects different type than prior uses: 'tensor<64xf32>' vs 'f32'",
    ),
    ("python/smalti/toolchain", "TOOL was not found; PURPOSE requires it"),
    ("python/smalti/emulator/session", "the launch exceeded the time limit of 300 s"),
    (
        "python/smalti/launch/cuda.*compile with fewer",
        "@kernel needs 300000 B of shared memory per block; GPU 0 (NVIDIA H100) has at most 232448 B",
    ),
    ("python/smalti/launch/cuda_driver.*an earlier", "cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
    (
        "python/smalti/launch/cuda_driver.*install a driver",
        "cuModuleLoadData failed: CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    ),
    ("python/smalti/launch/cuda_driver.*free GPU", "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY"),
    ("python/smalti/launch/hip", "loading @kernel failed: no kernel image for the GPU (HIP error 209)"),
    ("python/smalti/language/translation.*write the result", "the kernel returns a value"),
    ("python/smalti/launch/cuda", "the launch of @kernel failed: CUDA_ERROR_INVALID_VALUE"),
)
"""The message that notes of a file are attached to, if it is in another place."""


_OF_OTHERS = re.compile(
    "hint: (?:compile with fewer stages|compile for a GPU of|an earlier kernel may|install a driver for|free GPU memory|write the result to)"
)
"""Notes of messages that are not near."""


def attach(found: Sequence[Message]) -> Iterator[Message]:
    """The messages of a file: a note is a part of the message that the code attaches it to, the nearest one."""
    is_note = [message.text.startswith(("note: ", "help: ", "hint: ")) for message in found]
    is_note = [note or message.context == "attachNote" for note, message in zip(is_note, found, strict=True)]
    notes: dict[int, list[str]] = {}
    attached: set[int] = set()
    for number, message in enumerate(found):
        if not is_note[number] or message.context not in ("attachNote", "hint", "request.report"):
            continue
        if _OF_OTHERS.match(message.text):
            continue
        before = next((at for at in reversed(range(number)) if not is_note[at]), None)
        after = next((at for at in range(number + 1, len(found)) if not is_note[at]), None)
        if message.context == "attachNote":
            after = None
        near = [at for at in (before, after) if at is not None and abs(found[at].line - message.line) <= _NOTE_DISTANCE]
        if near:
            target = min(near, key=lambda at: abs(found[at].line - message.line))
            notes.setdefault(target, []).append(re.sub("^(?!note: |help: |hint: )", "note: ", message.text))
            attached.add(number)
    for number, message in enumerate(found):
        if number not in attached:
            yield _example(_with_message(replace(message, notes=(*message.notes, *notes.get(number, ())))))


def _with_message(note: Message) -> Message:
    """A note with the message that it is attached to."""
    for path, text in _MESSAGES_OF_NOTES:
        if re.match(path, f"{note.path}: {note.text}") and note.text.startswith(("note: ", "help: ", "hint: ")):
            return replace(note, text=text, notes=(note.text,))
    return note


_EXAMPLES: tuple[tuple[str, dict[str, str]], ...] = (
    ("passes/Analysis/Memory/BufferUses", {"what": "one slot per iteration"}),
    ("passes/Analysis/Resources/ResourceEstimate", {"what": "tile", "among": " with 128 threads"}),
    (
        "passes/Analysis/Memory/Overwrite",
        {
            "describe unknown": "cannot be determined (the block size is unknown, or control flow may be divergent)",
            "ignored": "; 'memref.store' is not counted as a write: its mask may disable elements",
        },
    ),
    (
        "passes/MultiBuffering",
        {
            "has": "; sm_90a has 232448 B per block",
            "demand": "3 slots per buffer",
            "plan limit": "; no more slots: 3 slots are the maximum of depth=auto",
            "limit": "3 slots are the maximum of depth=auto",
            "slots attr": "smalti.slots",
            "fixed size": ", which cannot be enlarged; allocate the mbarrier in the function",
            "unknown": "the function has a shared-memory buffer of type memref<?xf32, 3>, whose size cannot be determined statically",
        },
    ),
    (
        "passes/Pipelining",
        {
            "suggest noalias": "; if these arguments do not overlap, mark them llvm.noalias",
            "pipelined already": "the loop appears to be pipelined already",
            "mode attr": "smalti.mode",
            "stage attr": "smalti.stage",
            "cluster attr": "smalti.cluster",
            "with": "with 4 stages, ",
            "buffer": "%tile",
        },
    ),
    (
        "passes/PadLowering",
        {"string ref": "memref.store", "tma rejection reason": "; TMA not used: the chip does not have TMA"},
    ),
    ("passes/Pipelining/ScheduleChecks", {"x": "'memref.load' of %tile", "y": "'memref.store' of %tile"}),
    (
        "passes/SharedMemory/OverlapLDSDMA",
        {"first note": "'memref.load' may read memory that an outstanding LDS DMA load writes"},
    ),
    ("passes/Conversion/ToCPU/LowerCPULoops", {"true": "64", "integer(attr).value or": "0", "value": "64"}),
    (
        "passes/Conversion/TilesToBlocks",
        {
            "describe operands": "operand A loaded by TMA, B loaded by TMA (32768 B by TMA)",
            "subject": "stride",
            "fact": "; if sizes and strides are multiples of 16, state them with triton_xla.stride_divisors",
            "begin, end": "64, 1",
        },
    ),
    ("passes/Legality/OpTable.cpp", {"name targets": " on GPUs"}),
    (
        "passes/Synchronization",
        {"unmodeled synchronization": "func.call", "reason second": "the condition of 'scf.if' may be divergent"},
    ),
    ("passes/Layouts/Inference/Conflict", {"variable, op": "the result (vector<100x100xf32> in registers)"}),
    ("passes/Layouts|layouts/", {"layouts name": "WGMMA", "table name": "WGMMA", "find->str": "WGMMA"}),
    ("dialects/TritonXLA/TritonXLA", {"where": " of argument #0"}),
    (
        "dialects/TritonXLA",
        {
            "size divisors": "triton_xla.size_divisors",
            "stride divisors": "triton_xla.stride_divisors",
            "max bytes": "triton_xla.max_bytes",
        },
    ),
    (
        "passes/Synchronization/PlaceBarriers",
        {"barrier first": "'memref.store' of %a", "barrier second": "'memref.load' of %a"},
    ),
    (
        "passes/Synchronization",
        {"hazard first": "'memref.store' of %a", "hazard second": "'memref.load' of %b"},
    ),
    ("dialects/MosaicGPU/Versions", {"int": "{version}", "version": "{newest version}", "where": ""}),
    ("dialects/MosaicGPU/Attributes", {"int": "1", "name": "warp_dims"}),
    (
        "dialects/MosaicGPU/Ops/Mma",
        {
            "first a": "{rows of a}",
            "second a": "{columns of a}",
            "first b": "{rows of b}",
            "second b": "{columns of b}",
            "first accumulator": "{rows}",
            "second accumulator": "{columns}",
        },
    ),
    (
        "dialects/TritonXLA/TritonXLA",
        {"fail": "states that the size of dimension 0 of argument #0 is a multiple of 16", "number": "{size}"},
    ),
    ("dialects/TritonXLA/ReductionOps", {"why": "has side effects", "nested name": "INNER", "name": "OP"}),
    ("dialects/TritonXLA/MatmulOps", {"clone": ""}),
    ("emulator/Rewrite/Assembly", {"each": "2"}),
    ("layouts/LayoutAlgebra", {"list": "'lane_dims'"}),
    ("layouts/LayoutTransforms", {"from / gcd": "{ratio of the element sizes}"}),
    ("layouts/", {"from / gcd": "{ratio of the element sizes}", "own": "{shape of the layout}"}),
    (
        "passes/Conversion/BlockToThread/Transfers/PeerMemory",
        {"s ext value": "4", "[dim]": "x", "cluster)[dim]": "4 blocks", "cluster)[dim] - 1": "3"},
    ),
    ("passes/Conversion/BlockToThread/Transfers/ViewLowering", {"int": "{shared memory bytes}"}),
    ("passes/Conversion/ThreadLevel", {"why": "and the offset may be odd"}),
    ("passes/Conversion/TilesToBlocks/TritonXLAToMosaicGPU", {"number of warps / 4": "2"}),
    ("passes/Conversion/TilesToBlocks/TilePlan", {"value": "triton_xla.stride_divisors"}),
    ("passes/Layouts/Inference/InferLayouts", {"s ext value": "9", "relayout.str": "264 cycles"}),
    ("passes/Layouts/Plans/WgmmaPlan", {"number of block": "{columns of the instruction}"}),
    ("passes/Layouts/Plans/TensorCopyPlan", {"number of digit": "{elements per row}"}),
    ("passes/Layouts/Rules/SharedMemoryRules", {"back": "{row length}"}),
    ("passes/Legality/Nesting", {"utostr(drop back.count}1": "12", "utostr": "256"}),
    ("passes/Legality/OpTable.def", {"e": "TYPE"}),
    ("passes/Pipelining/LoopChecks", {"exchange": "gpu.shuffle"}),
    ("passes/PadLowering/PadToIntrinsics", {"times": "1.9 times the work", "format ratio": "{max-waste}"}),
    ("passes/PadLowering/PaddedCopies", {"back": "16"}),
    ("passes/PadLowering/TensorWindows", {"int": "{alignment}"}),
    ("passes/SharedMemory/LDSDMAOrder", {"value names.buffer": "%tile"}),
    ("passes/WarpSpecialization/WarpPlan", {"def": "arith.addi"}),
    ("passes/MultiBuffering/BarrierSlots", {"create": "memref.view"}),
    ("passes/Conversion/ToGPU/OutlineLaunches", {"symbol": "@SYMBOL"}),
    (
        "python/smalti/calling/calls",
        {
            "high - 1": "255",
            "low": "-128",
            "known[0][0].index": "1",
            "first known[0].index": "1",
            "first known[1]": "1",
            "index": "0",
            "pointer & -pointer": "4",
            "needed": "16",
            "pointer": "0x7f0000000002",
            "one": "0",
            "other": "1",
            "last": "1",
            "first": "0",
            "written": "argument 0 (TYPE)",
            "other index": "1",
            "shown": "300",
            "mlir": "i8",
            "required": "an integer",
        },
    ),
    (
        "python/smalti/calling/tensor_maps",
        {
            "address & -address": "8",
            "title": "'box'",
            "values": "[64, 512]",
            "most": "256",
            "extents": "[0, 64]",
            "argument": "0",
        },
    ),
    (
        "python/smalti/check",
        {
            "lines": "argument 2: 3 of 4096 elements are wrong",
            "rule": "tolerance per element: ...",
            "first": "INDEX",
            "float": "{tolerance}",
            "a": "argument 0 (TYPE)",
            "actual": "{result}",
            "exact": "{reference value}",
            "number of exact": "{elements}",
        },
    ),
    (
        "python/smalti/cli/commands",
        {"first ignored": "stages", "chosen": "cpu", "known": "the names are: %x, %y", "key": "x", "word": "x:1"},
    ),
    (
        "python/smalti/cli/emulated",
        {"replace": "OPTION", "what": "a tile-level kernel", "first taken": "order", "number of first": "2"},
    ),
    (
        "python/smalti/cli/simulated",
        {"next(iter": "order", "parameter": "argument 1 (f32)", "survivors": "2", "noun": "mutants"},
    ),
    ("python/smalti/cli/layouts", {"detail": "{reason of the parser}"}),
    (
        "python/smalti/compiler/driver",
        {
            "offset + extent bytes": "8192",
            "argument": "argument 0 (memref<64x32xf16>)",
            "reach": "4096",
            "lowered": "8.0",
            "first value type": "TYPE",
            "shown": "kernel.mlir",
        },
    ),
    ("python/smalti/compiler/entry", {"first value type": "{type}", "found": "@a, @b", "known": "@a, @b"}),
    (
        "python/smalti/compiler/passes",
        {"annotation": "an integer", "item name": "smalti-pipeline-loops", "known": "mode, stages"},
    ),
    ("python/smalti/compiler/pipeline", {"element name": "{name}"}),
    ("python/smalti/compiler/dumps", {}),
    (
        "python/smalti/emulator/arguments",
        {
            "first missing": "2",
            "mlir": "f16",
            "shape": "{shape}",
            "kind": "f16",
            "title": "argument 0",
            "first": "INDEX",
            "actual": "{value}",
            "number of actual": "{elements}",
            "known": "f16, f32, i32, ...",
        },
    ),
    (
        "python/smalti/emulator/disk_cache",
        {"tag": "32", "kind": "a folder", "TAG": "32", "number of key": "{number}", "change": "go-rwx"},
    ),
    ("python/smalti/emulator/library", {"what": "@kernel"}),
    ("python/smalti/emulator/memory", {"array title": "argument 0"}),
    (
        "python/smalti/emulator/module",
        {
            "bytes": "128",
            "title": "argument 0",
            "most": "{maximum}",
            "first alignment": "{maximum}",
            "alignment of": "",
            "facts name": "kernel",
            "ALIGNMENTS[-1]": "4096",
            "BYTES": "128",
            "written title": "argument 0",
            "other index": "1",
            "device": "cuda:0",
            "vendor": "NVIDIA",
            "number of data": "{number}",
            "name": "kernel.ll",
        },
    ),
    ("python/smalti/emulator/options", {"sanitizers": "'thread' or 'address'"}),
    (
        "python/smalti/emulator/process",
        {
            "timeout + GRACE": "310",
            "timeout + 10": "310",
            "quote": "",
            "decode": "{line}",
            "signals.name": "SIGSEGV",
            "-code": "11",
        },
    ),
    ("python/smalti/emulator/session", {"start": "0", "stop": "80"}),
    (
        "python/smalti/inputs",
        {
            "argument": "argument 0 (memref<?x?xf16>)",
            "first unknown": "3",
            "number of arguments": "3",
            "argument index": "1",
            "title": "argument 0 (TYPE)",
            "what name": "kernel",
            "required": "a number",
            "shape hint": "set its shape, such as --arg 0=64x300",
            "ty": "f16",
        },
    ),
    (
        "python/smalti/instructions",
        {
            "remedy": "use numbers of 2 B in the byte order of this machine",
            "signatures": "llvm.nvvm.shfl.sync.bfly.i32, ...",
        },
    ),
    ("python/smalti/lane_maps", {"prod": "{number}"}),
    ("python/smalti/launch/cuda_driver", {}),
    (
        "python/smalti/launch/kernels",
        {
            "first dynamic": "argument 0 (memref<?xf32>)",
            "form": "cubin",
            "suffix": ".txt",
            "reason": "the name does not have a suffix",
        },
    ),
    ("python/smalti/launch/compiled", {"forms": "llvm, ptx"}),
    ("python/smalti/launch/cpu", {"seconds / workers": "90", "symbol": "kernel"}),
    ("python/smalti/launch/hip", {"chips": "gfx942"}),
    ("python/smalti/launch/header", {"wanted": "64", "what": "size"}),
    ("python/smalti/language/kernel", {"name": "kernel", "first unknown": "'BLOCK'"}),
    (
        "python/smalti/language/parameters",
        {
            "kernel": "kernel",
            "name": "x",
            "unknown": "'BLOCK'",
            "error": "a list is not an array",
            "stated": "int32",
            "ones": "1",
            "[packed] * number of ones": "2",
            "packed": "2",
            "number of declared": "{declared number}",
        },
    ),
    (
        "python/smalti/language/control",
        {
            "before": "a tile",
            "after": "a number",
            "old": "a tuple",
            "new": "a tile of float32 and shape (64,)",
            "start": "0",
            "what": "x",
            "a": "a tile of float32 and shape (64,)",
            "b": "None",
        },
    ),
    (
        "python/smalti/language/shapes",
        {
            "-ndim - 1": "-3",
            "ndim": "2",
            "order": "(0, 0)",
            "values": "(64, 32), (64, 16)",
            "sizes": "(32, 16)",
            "prod": "512",
            "k": "64",
            "low": "5",
            "high": "5",
            "given": "3",
            "shape": "(64, 32)",
        },
    ),
    (
        "python/smalti/language/arithmetic",
        {
            "high - 1": "127",
            "d - rank": "-1",
            "low": "-128",
            "number": "300",
            "symbol": "&",
            "value name": "x",
            "value": "{value}",
        },
    ),
    (
        "python/smalti/language/matmul",
        {"kinds": "'default', 'tf32', 'bf16x3', ...", "last size": "64", "second last size": "32", "tile": "x"},
    ),
    (
        "python/smalti/language/reductions",
        {"items": "(64,), (32,)", "item": "'a'", "number of items": "1", "number of results": "2", "count": "4"},
    ),
    (
        "python/smalti/language/translator",
        {"source name": "f", "describe": "a with statement", "package": "numpy", "what": "break", "value": "{value}"},
    ),
    (
        "python/smalti/language/values",
        {"first close": "shape", "kind": "a tile", "self": "a tile of float32 and shape (64,)"},
    ),
    ("python/smalti/language/types", {"a": "int32", "b": "float8"}),
    (
        "python/smalti/language/windows",
        {
            "what": "dimension 0 of x",
            "names": "'ca', 'cg', 'cs', 'cv'",
            "k": "'a'",
            "position": "-1",
            "number of keys": "3",
            "array name": "x",
            "ndim": "2",
            "constant": "0",
        },
    ),
    ("python/smalti/language/debugging", {"value name": "x"}),
    (
        "python/smalti/reference/reductions",
        {
            "law": "associative",
            "given": "a = 1, b = 2, c = 3",
            "first text": "(a + b) + c",
            "second text": "a + (b + c)",
            "float": "{result}",
        },
    ),
    ("python/smalti/reference/values", {"what": "the condition of the loop", "spelling": "{type}"}),
    ("python/smalti/reference/debug", {"where": ""}),
    ("python/smalti/pace", {"total": "64", "unit": "blocks", "schedules": "", "estimate": "90"}),
    ("python/smalti/settings", {"self": "smalti.Simulation"}),
    ("python/smalti/sim/kernel", {"known": "sm_90a, gfx942, ...", "given": "stages", "problem": "{reason}"}),
    (
        "python/smalti/sim/launch",
        {
            "prod": "{number}",
            "most": "{maximum}",
            "stop - 1": "64",
            "count - 1": "63",
            "count": "64",
            "number of numbers": "{number}",
            "hint": "select blocks with Simulation.blocks or --blocks",
        },
    ),
    (
        "python/smalti/sim/machine/scheduler",
        {
            "expected": "4096",
            "expected - transactions": "2048",
            "transactions": "2048",
            "wanted": "an arrival of warp 1 at the mbarrier at byte 64",
            "together": "block",
            "message": "waits for the cluster barrier",
            "names": "warp 1",
            "partition[0]": "the cluster barrier",
        },
    ),
    (
        "python/smalti/sim/machine/synchronization",
        {
            "others": "warpgroup 1",
            "last group name": "warpgroup 1",
            "name": "warpgroup 0",
            "meeting count": "64",
            "count": "128",
            "phase - 1": "1",
            "phase": "2",
            "phase + 1": "3",
            "before": "1",
            "other": "warpgroup 1",
            "arrived": "96",
        },
    ),
    (
        "python/smalti/sim/machine/explain",
        {"stream": "mosaic_gpu.async_wait_group", "one": "warp 0", "other": "warp 1"},
    ),
    (
        "python/smalti/sim/machine/timeline",
        {"in flight": "900 cycles in flight", "100 * overlap": "80", "100 * matrix share": "60"},
    ),
    (
        "python/smalti/sim/machine/values",
        {"message": "7 elements, with 2 per byte, do not fill whole bytes; use multiples of 2"},
    ),
    ("python/smalti/sim/machine/findings", {"shown": "20 findings"}),
    (
        "python/smalti/sim/ops/barriers",
        {
            "there name": "the mbarrier at byte 64 of shared memory",
            "memory name": "shared memory",
            "at": "64",
            "number of data": "{size}",
            "pending": "1",
            "barrier count": "2",
            "more": "2048",
        },
    ),
    (
        "python/smalti/sim/ops/cluster",
        {"absent": "block 1", "dimension": "x", "index": "{number}", "which": "{number}"},
    ),
    (
        "python/smalti/sim/ops/copies",
        {"first type": "TYPE", "second type": "TYPE", "lengths": "{shape}", "parts": "{number}"},
    ),
    (
        "python/smalti/sim/ops/gpu",
        {
            "meeting count": "128",
            "arrived": "64",
            "there": "warps 0 and 1",
            "missing": "; missing: warp 2, which waits elsewhere",
        },
    ),
    ("python/smalti/sim/ops/llvm", {"name": "OP", "given": "TYPE", "wanted": "TYPE"}),
    ("python/smalti/sim/ops/lanes", {"second size": "{number}", "whole": "TYPE"}),
    (
        "python/smalti/sim/ops/memref",
        {
            "number of memory": "{size}",
            "group": "4 x 8",
            "times": "{stride}",
            "number of strides": "{dimension}",
            "how count": "2",
            "wanted": "{shape}",
            "at": "{dimension}",
            "number of shape": "2",
            "number of shape - 1": "1",
        },
    ),
    (
        "python/smalti/sim/ops/tensor",
        {
            "512 - first": "{number}",
            "COLUMNS - first": "{number}",
            "at": "{number}",
            "first": "{number}",
            "position": "{number}",
        },
    ),
    ("python/smalti/sim/ops/registers", {"where": "", "known": "add, mul, min, max, ..."}),
    (
        "python/smalti/sim/threads/execution/accesses",
        {
            "at + low": "0",
            "at + high": "4",
            "number of buffer": "{size}",
            "of": "{size}",
            "byte": "{offset}",
            "byte + grain": "{end}",
        },
    ),
    (
        "python/smalti/sim/threads/execution/cluster_loads",
        {"last named": "4", "own": "0", "numbers": "1 and 2", "blocks": "blocks", "verb": "do"},
    ),
    (
        "python/smalti/sim/threads/execution/wgmma",
        {
            "sum": "{type}",
            "a": "{type}",
            "b": "{type}",
            "8 * ROW BYTES // bits": "16",
            "columns": "{n}",
            "depth": "{k}",
        },
    ),
    ("python/smalti/sim/threads/execution/block", {"number": "4", "number of blocks": "4"}),
    ("python/smalti/sim/threads/host", {"number of sizes": "{number}"}),
    (
        "python/smalti/sim/threads/ops/amd/barriers_amd",
        {
            "cluster barrier": "-3",
            "work group": "-1",
            "arrived": "64",
            "meeting count": "128",
            "number of arrived": "1",
            "barrier count": "4",
            "which": "{number}",
            "WORK GROUP": "-1",
            "CLUSTER BARRIER": "-3",
        },
    ),
    ("python/smalti/sim/threads/ops/amd/cluster_amd", {"before name": "warp 0", "absent": "block 1"}),
    (
        "python/smalti/sim/threads/ops/amd/matrix_amd_formats",
        {"first first": "16", "chosen": "{abid}", "most": "{limit}", "of a name": "f16", "attribute": "{n}"},
    ),
    (
        "python/smalti/sim/threads/ops/amd/matrix_amd",
        {
            "what": "operand 0",
            "first name": "i4",
            "second name": "i8",
            "second size": "{number}",
            "lane % 32": "0",
            "lane % 32 + 16": "16",
            "name": "operand A",
            "size": "{cbsz}",
            "chosen": "{abid}",
            "known": "16, 32",
        },
    ),
    ("python/smalti/sim/threads/ops/amd/tiles_amd", {"first tensor": "{number}"}),
    ("python/smalti/sim/threads/ops/arithmetic/vector", {"asarray.reshape[lane if ndim else 0]": "{index}"}),
    (
        "python/smalti/sim/threads/ops/arithmetic/conversions",
        {"scale": "f8E8M0FNU", "small": "f8E4M3FN, f8E5M2, ...", "2 + number of rest": "{number}", "word": "satfinite"},
    ),
    ("python/smalti/sim/threads/ops/arithmetic/llvm", {"before": "TYPE", "after": "TYPE", "uniform": "{address}"}),
    (
        "python/smalti/sim/threads/ops/collective/shuffles",
        {
            "at % WARP": "0",
            "at % 32": "0",
            "name": "warp 1",
            "warp": "warp 1",
            "lost": "{number}",
            "found": "is 12",
            "required": "a power of two up to 32",
            "at": "{number}",
            "message": "gpu.shuffle with mask 0xffffffff diverges: lane 3 of warp 1 does not reach it",
            "location": "kernel.mlir:12:5",
        },
    ),
    (
        "python/smalti/sim/threads/ops/collective/gpu",
        {
            "unit": "warp",
            "meeting count": "128",
            "arrived": "64",
            "missing": "; missing: warp 2, which waits elsewhere",
        },
    ),
    ("python/smalti/sim/threads/ops/collective/exchanges", {"control": "{number}"}),
    ("python/smalti/sim/threads/ops/collective/reductions", {"absent": "warp 1", "whole": "TYPE", "part": "TYPE"}),
    ("python/smalti/sim/threads/ops/memory/atomics", {"at": "{offset}"}),
    (
        "python/smalti/sim/threads/ops/memory/memref",
        {
            "first size": "{size}",
            "first shape": "{shape}",
            "second shape": "{shape}",
            "prod": "{number}",
            "of": "{size}",
            "which": "{dimension}",
            "number of shape": "2",
            "number of shape - 1": "1",
        },
    ),
    (
        "python/smalti/sim/threads/ops/nvidia/assembly",
        {"normalized": "STATEMENT", "kind": "f32", "word": "{constraint}"},
    ),
    ("python/smalti/sim/threads/ops/nvidia/cluster", {"absent": "block 1", "IN CLUSTER": "7"}),
    ("python/smalti/sim/threads/ops/nvidia/cp_async", {"count * itemsize": "{number}"}),
    (
        "python/smalti/sim/threads/ops/nvidia/matrix_nvidia_formats",
        {
            "4 // lanes - 1": "1",
            "name": "byte-id-a",
            "multiple": "even and ",
            "limit": "4",
            "required": "0x4, 0x8, 0x9, 0xc, 0xd or 0xe",
            "pattern": "{hexadecimal digit}",
            "columns": "columns 0 to 3",
        },
    ),
    (
        "python/smalti/sim/threads/ops/nvidia/matrix_nvidia",
        {
            "forms": "8 x 8 of 16 bits, 8 x 16 of 6 or 4 bits, ...",
            "what": "nvvm.ldmatrix",
            "rows * depth * bits / (LANES * max": "4",
            "of c": "{number}",
            "at": "{offset}",
            "first size": "{rows}",
            "second size": "{columns}",
            "value": "",
        },
    ),
    (
        "python/smalti/sim/threads/ops/nvidia/mbarrier",
        {
            "number[0]": "4",
            "group number": "4",
            "of": " of block 1",
            "first": "warp 0",
            "number of shared": "{size}",
            "at": "64",
        },
    ),
    (
        "python/smalti/sim/threads/ops/nvidia/tma",
        {
            "supported": "add, min, max, ...",
            "number of buffer": "{size}",
            "mlir": "{type}",
            "target": "{offset}",
            "source": "{offset}",
        },
    ),
    (
        "python/smalti/sim/threads/ops/nvidia/wgmma",
        {"what": "nvvm.wgmma.mma_async", "sum": "{type}", "register": "{type}"},
    ),
    (
        "python/smalti/sim/threads/ops/nvidia/wmma",
        {"factor": "{type}", "sums": "{type}", "number of slots": "{number}", "sum": "{number}"},
    ),
    (
        "python/smalti/sim/threads/program",
        {"multiple": "128", "prod": "{number}", "other}s": "writes", "edge": "nvvm.cp.async.wait.group"},
    ),
    (
        "python/smalti/sim/translation/bound_arguments",
        {
            "wanted * itemsize": "{number}",
            "first other": "argument 1",
            "by": "{number}",
            "parameters": "0, 1",
            "wanted": "{shape}",
            "parameter": "argument 0 (TYPE)",
            "problem": "{reason}",
        },
    ),
    ("python/smalti/sim/translation/program", {"packed": "2"}),
    ("python/smalti/targets", {"word": "emulated", "value": "emu:sm_90a, ..."}),
    (
        "python/smalti/sim/threads/execution/code",
        {"most named barriers": "16", "named barrier count": "20"},
    ),
    (
        "python/smalti/printing",
        {"of": "an integer", "known": "d, i, u, o, x, X, c", "number of kinds": "2", "number of bits": "3"},
    ),
    (
        "python/smalti/sim/ops/tensor_operands",
        {"a": "TYPE", "b": "TYPE", "first scale": "TYPE", "second scale": "TYPE"},
    ),
    ("python/smalti/sim/threads/execution/polling", {"warps name": "warp 1", "location": "kernel.mlir:12:5"}),
    (
        "python/smalti/launch/archive",
        {
            "limit": " of at least 1",
            "expected": "3 integers",
            "REMEDY": "compile the kernel and save the file again",
            "where": "arguments[0]",
        },
    ),
    ("python/smalti/(?:codegen|compiler)/", {"PTXAS HINT": "pip install nvidia-cuda-nvcc"}),
    (
        "python/smalti/",
        {
            "MORE TIME": "raise --time-limit SECONDS (time_limit), or run fewer blocks with --blocks N (blocks)",
            "TENSOR MAPS": "smalti.tensor_maps",
            "SCALE": "f8E8M0FNU",
        },
    ),
    ("python/smalti/cli/commands", {"message": "ptxas was not found", "written": "kernel.ptx"}),
    ("python/smalti/emulator/module", {"what": "grid"}),
    ("python/smalti/launch/(?:cuda|kernels|header|compiled)", {"what": "a kernel for sm_90a"}),
    ("python/smalti/calling", {"what": "size"}),
    ("python/smalti/sim/machine/recorder", {"product": "H100 SXM", "what": "latencies"}),
    (
        "python/smalti/sim/launch",
        {"what": "the copy into shared memory", "without": " and is not committed to a group"},
    ),
    (
        "python/smalti/sim/threads/ops/amd/barriers_amd",
        {"what": "signals", "there": "2", "barrier name": "named barrier 1"},
    ),
    ("python/smalti/sim/threads/ops/collective/gpu", {"what": "gpu.barrier", "there": "warps 0 and 1"}),
    ("python/smalti/sim/threads/execution/engines", {"what": "commit a group of copies"}),
    (
        "python/smalti/sim/(?:machine/explain|threads/program)",
        {"group name": "warp 0", "others": "warp 1 also reaches", "wait": "wait for the copy in warp 0"},
    ),
    ("python/smalti/sim/threads/execution/fences", {"what": "its accumulator registers"}),
    ("python/smalti/sim/(?:translation/translator|threads/ops/m)", {"what": "operand 0"}),
    (
        "python/smalti/sim/",
        {
            "what": "the copy",
            "verb": "accesses",
            "side": "warp 1 accesses",
            "place": "bytes [0, 4) of shared memory",
            "where": "index 64 in dimension 0",
            "says": "does not reach it",
            "conflicting": "a store by warp 0",
            "buffer name": "shared memory",
            "barrier name": "the mbarrier at byte 64 of shared memory",
            "warp name": "warp 1",
            "group name": "warpgroup 0",
            "other}s": "accesses",
            "edges[agent]": "nvvm.cp.async.wait.group",
            "streams[agent]": "mosaic_gpu.async_wait_group",
            "others": "warp 0 also reaches",
            "wait": "wait for the copy in warp 1",
        },
    ),
    (".*AMD|.*amd", {"target name": "gfx942", "target chip": "gfx942"}),
    (".*", {"target name": "sm_90a", "chip name": "sm_90a", "target chip": "sm_90a", "LLVM MAJOR": "22"}),
    # Names of the code that say less than a general word.
    (
        ".*",
        {
            ".strip dialect": "OP",
            "1 << log2": "{alignment}",
            "4 * four": "0",
            "4 * four + 3": "3",
            "8 / element bits": "{number}",
            "LLVM VERSION STRING": "22.1.0",
            "SMALTI STRINGIFY(LLVM VERSION MAJOR": "22",
            "access count * bits": "{number}",
            "align of.value": "{alignment}",
            "barriers - 1": "{number}",
            "block threads / number of threads": "{number}",
            "block threads % number of threads": "{number}",
            "bytes second - 1": "{last byte}",
            "bytes first": "{first byte}",
            "chosen + 1": "{number}",
            "cost / cycle": "{number}",
            "depth * bytes": "{total}",
            "depth * slot bytes": "{total}",
            "elements * element bytes": "{bytes}",
            "field bytes * max field": "{maximum}",
            "groups * bytes": "{number}",
            "index % number of elements": "{number}",
            "max threads per block - producers": "{maximum}",
            "number of elements / elements": "{number}",
            "parts - 1": "{number}",
            "registers * register bytes": "{number}",
            "requested warps * wave size": "{number}",
            "scales a * each": "{number}",
            "scales b * each": "{number}",
            "spanned / 8": "{swizzle}",
            "spanned / bits": "{number}",
            "strides[first kept]": "{stride}",
            "strides[second kept]": "{stride}",
            "vector size * threads": "{number}",
            "vector type.element type": "{type}",
            "warps * wave size": "{number}",
            "width * element bytes": "{number}",
            "clone": "{required type}",
            "def": "{op}",
            "digits": "{text}",
            "find->str": "{layout}",
            "front type": "{type}",
            "i": "{index}",
            "int": "{number}",
            "k / per element": "{number}",
            "operation name": "OP",
            "prod": "{number}",
            "s ext value": "{number}",
            "site name": "OP",
            "take front": "{text}",
            "ty": "{type}",
            "type of.element type": "{element type}",
        },
    ),
)
"""Plausible values for parts of messages that code composes."""


def _example(message: Message) -> Message:
    """The message with plausible values for the parts that have an example."""
    values: dict[str, str] = {}
    for path, given in _EXAMPLES:
        if re.match(path, message.path):
            values = given | values

    def example(text: str) -> str:
        return re.sub(r"\{([^{}]+)\}", lambda value: values.get(value[1], value[0]), text)

    return replace(message, text=example(message.text), notes=tuple(map(example, message.notes)))


def in_words(text: str, values: Values) -> str:
    """A message whose values are words instead of code."""
    return re.sub(r"\{([^{}]+)\}", lambda value: values.shown(value[1]), text)


def messages(root: pathlib.Path, paths: Sequence[str] = FOLDERS) -> Iterator[Message]:
    known = constants(root, tuple(FOLDERS))
    for path in tracked(root, paths):
        values = Values(known, path)
        source = (root / path).read_text(encoding="utf-8", errors="replace")
        if path == "passes/Legality/OpTable.def":
            found = gap_messages(path, source)
        elif path.endswith((".cpp", ".h", ".def")):
            found = cpp_messages(path, source)
        elif path.endswith(".td"):
            found = tablegen_messages(path, source)
        elif path.endswith(".py"):
            found = python_messages(path, source)
        else:
            continue
        seen: dict[str, Message] = {}
        for message in found:
            if _is_message(message) and message.text not in seen:
                is_rule = (
                    path.startswith("passes/Layouts/Rules/")
                    and not message.context.startswith("emit")
                    and not path.endswith("/Rules.cpp")
                )
                whole = conflict(message, source) if is_rule else _whole(message)
                notes = tuple(in_words(note, values) for note in whole.notes)
                seen[message.text] = replace(whole, text=in_words(whole.text, values), notes=notes)
        yield from attach(list(seen.values()))


def sample(found: Iterable[Message], count: int, seed: int) -> list[Message]:
    everything = list(found)
    chosen = random.Random(seed).sample(range(len(everything)), min(count, len(everything)))
    return [everything[number] for number in sorted(chosen)]
