# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NVIDIA (SASS) and AMD machine code: instructions, their kinds, basic blocks and loops.

SASS is the text of `nvdisasm -c`; AMD code is the assembly of LLVM. `kind_of` states the kinds.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

KINDS = (
    *("mma", "float", "special", "convert", "integer", "move", "shuffle", "scalar"),
    *("load", "store", "copy", "shared load", "shared store", "atomic", "spill"),
    *("wait", "barrier", "branch", "hint", "other"),
)
"""`copy` is an asynchronous copy from global to shared memory. `scalar` is the scalar or uniform datapath. `hint` has
no effect but takes an issue slot: NOP, s_delay_alu, s_clause, s_set_vgpr_msb. A SASS instruction waits by its control
bits, which are not counted; only separate instructions are waits."""

MEMORY = {"load": "global", "store": "global", "copy": "global", "shared load": "shared", "shared store": "shared"}
"""The memory of the kinds whose accesses have a width."""


@dataclass(frozen=True)
class Instruction:
    name: str
    """With all modifiers: `LDG.E.128`, `ds_read_b128`."""
    operands: tuple[str, ...]
    guard: str
    """The predicate of SASS, such as `!P0`, or an empty string."""
    kind: str
    bytes: int
    """Bytes per lane of a memory access; 0 for other instructions, and for copies whose size is in a descriptor."""
    target: int | None
    """The number of the instruction that a branch continues with."""
    text: str
    address: int = -1

    @property
    def ends_block(self) -> bool:
        return self.target is not None or self.is_end

    @property
    def is_end(self) -> bool:
        """Whether no other instruction follows: the program ends, or an unknown one is next."""
        return not self.guard and self.name.split(".")[0] in ("EXIT", "RET", "BRX", "JMX", "s_endpgm", "s_setpc_b64")

    @property
    def is_trap(self) -> bool:
        return self.name.startswith(("BPT", "s_trap")) or (self.is_call and "trap" in self.text)

    @property
    def is_call(self) -> bool:
        """Whether the target returns. A call of a label such as .L_x_1 is a jump of ptxas."""
        return self.name.startswith("CALL") and "`($" in self.text

    @property
    def falls_through(self) -> bool:
        if self.target is None or self.is_call:
            return not self.is_end
        return bool(self.guard) or self.name.startswith("s_cbranch") or ".U" in self.name or len(self.operands) > 1


@dataclass(frozen=True)
class Loop:
    header: int
    """The number of the first instruction."""
    body: frozenset[int]
    """The numbers of all instructions."""


@dataclass(frozen=True)
class Code:
    vendor: str
    instructions: tuple[Instruction, ...]
    block_register: int | None = None
    """The scalar register of AMD code that has the block's number at the start."""

    @cached_property
    def starts(self) -> list[int]:
        """The first instruction of each basic block."""
        starts = {0}
        for i, instruction in enumerate(self.instructions):
            if instruction.target is not None:
                starts.add(instruction.target)
            if instruction.ends_block:
                starts.add(i + 1)
        return sorted(start for start in starts if start < len(self.instructions))

    @cached_property
    def blocks(self) -> dict[int, range]:
        """The instructions of each basic block, by the first one."""
        ends = [*self.starts[1:], len(self.instructions)]
        return {start: range(start, end) for start, end in zip(self.starts, ends, strict=True)}

    @cached_property
    def successors(self) -> dict[int, list[int]]:
        result: dict[int, list[int]] = {}
        for start, block in self.blocks.items():
            last = self.instructions[block[-1]]
            after = [block.stop] if last.falls_through and block.stop < len(self.instructions) else []
            jumps = [last.target] if last.target is not None and not last.is_call else []
            result[start] = after + jumps
        return result

    @cached_property
    def distance_to_end(self) -> dict[int, int]:
        """Instructions on the shortest path from a block to the end of the program, of paths without a trap. Those of
        called functions are included, but not those of functions that these call."""
        return self._distances(self._distances({}))

    def _distances(self, called: dict[int, int]) -> dict[int, int]:
        """The distances if the called functions execute so many instructions, by the first one."""
        before: dict[int, list[int]] = defaultdict(list)
        for start, after in self.successors.items():
            for next_ in after:
                before[next_].append(start)
        far = sys.maxsize
        ends = {start: self.instructions[block[-1]] for start, block in self.blocks.items()}
        lengths = {
            start: len(block) + (called.get(ends[start].target or 0, 0) if ends[start].is_call else 0)
            for start, block in self.blocks.items()
        }
        distance = {start: far if self.successors[start] else length for start, length in lengths.items()}
        traps = {s for s, block in self.blocks.items() if any(self.instructions[i].is_trap for i in block)}
        distance |= dict.fromkeys(traps, far)
        work = [start for start in self.blocks if distance[start] < far]
        while work:
            block = work.pop(0)
            for start in set(before[block]) - traps:
                through = distance[block] + lengths[start]
                if through < distance[start]:
                    distance[start] = through
                    work.append(start)
        return distance

    @cached_property
    def loops(self) -> list[Loop]:
        """The natural loops, each header once, by header."""
        before: dict[int, list[int]] = defaultdict(list)
        for start, after in self.successors.items():
            for next_ in after:
                before[next_].append(start)
        dominators = _dominators(self.starts[0], self.successors, before)
        bodies: dict[int, set[int]] = {}
        for start in dominators:
            for header in self.successors[start]:
                if header not in dominators[start]:
                    continue
                body, work = bodies.setdefault(header, {header}), [start]
                while work:
                    if (block := work.pop()) not in body:
                        body.add(block)
                        work += [b for b in before[block] if b in dominators]
        return [
            Loop(header, frozenset(i for start in body for i in self.blocks[start]))
            for header, body in sorted(bodies.items())
        ]

    @cached_property
    def inner_loops(self) -> list[Loop]:
        """The loops that have no other loop inside."""
        return [loop for loop in self.loops if not any(other.body < loop.body for other in self.loops)]


def _dominators(entry: int, after: dict[int, list[int]], before: dict[int, list[int]]) -> dict[int, set[int]]:
    """The blocks on all paths from the entry to a block, for each block that can be reached."""
    reached, work = {entry}, [entry]
    while work:
        for next_ in after[work.pop()]:
            if next_ not in reached:
                reached.add(next_)
                work.append(next_)
    order = sorted(reached)
    result = {block: set(order) for block in order} | {entry: {entry}}
    changed = True
    while changed:
        changed = False
        for block in order:
            if block == entry:
                continue
            new = {block} | set.intersection(*(result[b] for b in before[block] if b in reached))
            if new != result[block]:
                result[block], changed = new, True
    return result


# SASS.

_SASS_LABEL = re.compile(r"^([.$\w]+):\s*$")
_SASS = re.compile(r"/\*([0-9a-f]{4,})\*/\s+\{?\s*(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*[;}]")
_SASS_KINDS = {
    "mma": "HMMA IMMA DMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCQMMA UTCIMMA UTCOMMA",
    "float": "FADD FMUL FFMA FMNMX FMNMX3 FADD2 FMUL2 FFMA2 HADD2 HMUL2 HFMA2 HMNMX2 DADD DMUL DFMA FSETP HSETP2 DSETP FSEL FSET FCHK FSWZADD",
    "special": "MUFU",
    "convert": "F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND",
    "move": "MOV PRMT SEL CS2R S2R S2UR R2UR P2R R2P R2B B2R MOVM",
    "shuffle": "SHFL VOTE MATCH REDUX CREDUX",
    "load": "LDG LD",
    "store": "STG ST",
    "copy": "LDGSTS UTMALDG UBLKCP UTMASTG",
    "shared load": "LDS LDSM LDTM",
    "shared store": "STS STSM STTM STAS",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDS SUATOM UTMAREDG UTCATOMSWS",
    "spill": "LDL STL",
    "wait": "DEPBAR LDGDEPBAR SYNCS WARPGROUP WARPSYNC CCTL MEMBAR FENCE ERRBAR ARRIVES UTMACMDFLUSH UTCBAR NANOSLEEP UCGABAR_WAIT",
    "barrier": "BAR UCGABAR_ARV B2R_RESULT",
    "branch": "BRA BRX JMP JMX CALL RET EXIT BSSY BSYNC BREAK BMOV YIELD BPT KILL",
    "hint": "NOP PMTRIG",
    "integer": "IADD3 IADD IMAD IMUL LEA LOP3 LOP SHF SHL SHR ISETP IMNMX VIADD VIMNMX VIMNMX3 VIADDMNMX PLOP3 POPC FLO BREV BMSK SGXT IABS ISCADD IDP IDE LOP32I VABSDIFF XMAD",
}
_KIND_OF_SASS = {name: kind for kind, names in _SASS_KINDS.items() for name in names.split()}


def _sass_kind(name: str) -> str:
    base = name.split(".")[0]
    if base == "IMAD" and ".MOV" in name:
        return "move"
    if base in _KIND_OF_SASS:
        return _KIND_OF_SASS[base]
    # The uniform datapath repeats the integer instructions: UIADD3, ULEA, UMOV, ULDC.
    if base.startswith("U") or base in ("VOTEU", "LDC", "LDCU", "ELECT"):
        return "scalar"
    return "other"


def _sass_bytes(name: str, kind: str) -> int:
    parts = name.split(".")
    if parts[0] in ("LDSM", "STSM"):
        return 4 * next((int(p) for p in reversed(parts) if p in ("2", "4")), 1)
    if kind not in MEMORY or parts[0].startswith("U") or parts[0] in ("LDTM", "STTM"):
        return 0
    for part in parts[1:]:
        if part in ("64", "128", "256"):
            return int(part) // 8
        if part in ("U8", "S8"):
            return 1
        if part in ("U16", "S16"):
            return 2
    return 4


def read_sass(text: str) -> Code:
    """The code of the first kernel in the text."""
    labels: dict[str, int] = {}
    rows: list[tuple[str, str, str, str]] = []
    kernels = 0
    for line in text.splitlines():
        if found := _SASS_LABEL.match(line.strip()):
            kernels += found[1].startswith(".text.")
            if kernels > 1:
                break
            labels[found[1]] = len(rows)
        elif found := _SASS.search(line):
            rows.append((found[1], found[2] or "", found[3], found[4]))
    instructions = []
    for address, guard, name, operands in rows:
        # ptxas emits loads that are never executed, and only take an issue slot.
        kind = "hint" if guard == "!PT" else _sass_kind(name)
        target = None
        if name.split(".")[0] in ("BRA", "CALL", "JMP") and (to := re.search(r"`\(([^)]+)\)", operands)):
            target = labels.get(to[1])
        instructions.append(
            Instruction(
                name=name,
                operands=split_operands(operands),
                guard="" if guard in ("PT", "UPT") else guard,
                kind=kind,
                bytes=_sass_bytes(name, kind),
                target=target if target is not None and target < len(rows) else None,
                text=f"{'@' + guard + ' ' if guard else ''}{name} {operands}".strip(),
                address=int(address, 16),
            )
        )
    # Padding after the last jump is not part of the program.
    while instructions and instructions[-1].name == "NOP":
        instructions.pop()
    return Code("nvidia", tuple(instructions))


# AMD.

_GCN_LABEL = re.compile(r"^([.$\w]+):")
_GCN = re.compile(r"^\s+([a-z]\w+)\s*(.*)$")
_GCN_WIDTHS = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2, "dword": 4}
_GCN_FLOAT = re.compile(r"^v_(pk_|dual_)?(fma|fmac|fmamk|fmaak|mad|mac|add|sub|subrev|mul|max3?|min3?|maximum3?|minimum3?|maxmin|minmax|med3|cmp\w*|ldexp|div_\w+|dot\d\w*|frexp\w*|rndne|floor|ceil|trunc|fract)(_num|_dx9_zero|_legacy)?_(mix\w*_)?(f|bf)(16|32|64)")  # fmt: skip
_GCN_SPECIAL = re.compile(r"^v_(s_)?(exp|log|rcp|rsq|sqrt|sin|cos|tanh)")


def _gcn_kind(name: str, rest: str) -> str:
    if name.startswith(("v_mfma", "v_wmma", "v_swmmac", "v_smfmac")):
        return "mma"
    if name.startswith(("buffer_", "global_", "flat_", "tensor_")):
        if "lds" in name or re.search(r"\blds\b", rest):
            return "copy"
        if "atomic" in name:
            return "atomic"
        if "load" in name:
            return "load"
        return "store" if "store" in name else "wait" if re.search("wb|inv", name) else "hint"
    if name.startswith("scratch_"):
        return "spill"
    if name.startswith("ds_"):
        if "permute" in name or "swizzle" in name:
            return "shuffle"
        if re.match("ds_(read|load)", name):
            return "shared load"
        return "shared store" if re.match("ds_(write|store)", name) else "atomic"
    if name.startswith(("s_waitcnt", "s_wait_")):
        return "wait"
    if name.startswith("s_barrier"):
        return "barrier"
    if re.match("s_(cbranch|branch|endpgm|setpc|swappc|call)", name):
        return "branch"
    if re.match("s_(nop|delay_alu|clause|set_vgpr_msb|set_gpr_idx|setprio|sched|sleep|sendmsg|setreg|code_end|icache|prefetch|inst_prefetch|trap)|v_nop", name):  # fmt: skip
        return "hint"
    if name.startswith("s_"):
        return "scalar"
    if _GCN_SPECIAL.match(name):
        return "special"
    if name.startswith(("v_cvt", "v_pack_b32_f16")):
        return "convert"
    if _GCN_FLOAT.match(name):
        return "float"
    if re.match("v_(readlane|writelane|readfirstlane|permlane|ds_)", name):
        return "shuffle"
    if re.match("v_(dual_)?(mov|swap|accvgpr|cndmask|perm|alignb)", name):
        return "move"
    return "integer" if name.startswith("v_") else "other"


def _gcn_bytes(name: str, kind: str) -> int:
    if kind not in MEMORY or name.startswith("tensor_"):
        return 0
    # ds_read_b64_tr_b16 reads 8 bytes of 16-bit elements; ds_read2_b32 has two addresses.
    name = re.sub(r"(_d16(_hi)?|_lds)$", "", re.sub(r"_tr_b\d+$", "", name))
    if found := re.search(r"_(?:tr\d*_)?[uib](\d+)$", name):
        return int(found[1]) // 8 * (2 if re.search("(read|write)2|_2addr", name) else 1)
    found = re.search(r"_(ubyte|sbyte|byte|ushort|sshort|short|dword)(?:x(\d))?$", name)
    return _GCN_WIDTHS[found[1]] * int(found[2] or 1) if found else 0


def read_gcn(text: str) -> Code:
    """The code of the first kernel in the assembly."""
    labels: dict[str, int] = {}
    rows: list[tuple[str, str]] = []
    # The block's number follows the arguments that the launch puts into registers.
    preloaded = re.search(r"\.amdhsa_user_sgpr_count (\d+)", text)
    for line in text.splitlines():
        line = re.split(r";|//", line)[0].rstrip()
        # The comment has the register that s_set_vgpr_msb selects: v2 /*v258*/.
        line = re.sub(r"[va](?:\d+|\[[\d:]+\]) /\*([^*]+)\*/", r"\1", line)
        if found := _GCN_LABEL.match(line):
            labels[found[1]] = len(rows)
        elif found := _GCN.match(line):
            rows.append((found[1], found[2]))
        elif rows and re.match(r"\s+\.(section|end_amdhsa_kernel|amdhsa_kernel)", line):
            break
    instructions = []
    for name, rest in rows:
        kind = _gcn_kind(name, rest)
        target = labels.get(rest.split()[-1]) if kind == "branch" and rest else None
        instructions.append(
            Instruction(
                name=name,
                operands=split_operands(rest),
                guard="",
                kind=kind,
                bytes=_gcn_bytes(name, kind),
                target=target if target is not None and target < len(rows) else None,
                text=f"{name} {rest}".strip(),
            )
        )
    while instructions and instructions[-1].name in ("s_nop", "s_code_end"):
        instructions.pop()
    return Code("amd", tuple(instructions), int(preloaded[1]) if preloaded else None)


def multiply_accumulates(instruction: Instruction) -> int | None:
    """The multiply-accumulates of an MMA per warp, or None if a descriptor has the shape."""
    name = instruction.name
    if found := re.match(r"[HIQB]GMMA\.(\d+)x(\d+)x(\d+)", name):
        # The four warps of a warpgroup issue it.
        return int(found[1]) * int(found[2]) * int(found[3]) // 4
    if found := re.match(r"[HIQOD]MMA\.(?:SP\.)?(16|8)(8)(\d+)\b", name):
        return int(found[1]) * int(found[2]) * int(found[3])
    if found := re.match(r"v_\w*?_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?", name):
        return int(found[1]) * int(found[2]) * int(found[3]) * int(found[4] or 1)
    return None


def split_operands(text: str) -> tuple[str, ...]:
    """The operands of an instruction, without `.reuse`."""
    parts = re.split(r",\s*(?![^\[]*\])", text.replace(".reuse", "")) if text else []
    return tuple(part.strip() for part in parts)


def count(kinds: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sum for each kind, in the order of KINDS, without zeros."""
    found: dict[str, int] = defaultdict(int)
    for kind, number in kinds:
        found[kind] += number
    return {kind: found[kind] for kind in KINDS if found[kind]}
