# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts of executed instructions, without a GPU: the control flow of one warp, executed.

Integer, predicate and scalar instructions are computed where their operands are known: block and thread numbers,
constants, and what follows from them. All other results are unknown: loads, arguments, floats. So trip counts that
depend on sizes and numbers only are exact. The rules for the rest:

- SASS is executed for lane 0, so code for one leader is counted. AMD code is executed for all lanes of the wave.
  Its vector registers hold a value per lane. A masked region is skipped only if its mask is known to be empty.
- A wait for an mbarrier succeeds at its first try.
- A branch whose condition is unknown takes the shorter path to the end of the program; `undecided` counts these.
"""

from __future__ import annotations

import functools
import operator
import re
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from _isa_code import Code, Instruction

WORD = 0xFFFFFFFF
LONG = 0xFFFFFFFFFFFFFFFF
STEPS = 4_000_000


class Endless(Exception):
    """The program does not end within STEPS instructions."""


@dataclass
class Counts:
    """Executed instructions of one warp."""

    executed: list[int]
    """By instruction."""
    undecided: int = 0
    """Branches whose condition was unknown."""
    entries: dict[int, int] = field(default_factory=dict)
    """How often each loop was entered from outside, by header."""


class Machine(Protocol):
    known: dict[str, Any]
    """The values that are known, by register or predicate."""

    @staticmethod
    def forgotten(instruction: Instruction) -> tuple[str, ...] | None:
        """The registers and predicates that an instruction makes unknown; None for an instruction that `step` executes."""
        ...

    def step(self, instruction: Instruction) -> bool | None:
        """Executes an instruction. The result of a branch is whether it is taken, or None if that is unknown."""
        ...

    def jump(self, instruction: Instruction) -> int | None:
        """The address that a return continues with."""
        ...

    def shared_addresses(self, instruction: Instruction) -> list[list[int | None]]:
        """The byte addresses of an access to shared memory: for each of its parts, those of the executed lanes. An address
        is None if it is unknown, and -1 for an inactive lane."""
        ...


def shared_addresses(
    code: Code, warp: int, block: int, wave_size: int, wanted: Iterable[int]
) -> dict[int, list[list[int]]]:
    """The byte addresses of all lanes, -1 for an inactive one, at the first execution of each wanted access to shared
    memory, for each of its parts. Accesses that are not executed or have an unknown address are not in the result."""
    lanes = range(wave_size) if code.vendor == "nvidia" else range(1)
    found: list[dict[int, list[list[int | None]]]] = [{key: [] for key in wanted} for _ in lanes]
    steps = STEPS
    for lane in lanes:
        counts = execute(code, warp, block, wave_size, lane, found[lane], steps)
        # A lane that does not have the accesses of lane 0 is not executed to the end.
        steps = sum(counts.executed) if lane == 0 else steps
    result = {}
    for i in found[0]:
        # SASS is executed for one lane at a time. A lane that did not come here is inactive.
        parts = max(len(seen[i]) for seen in found)
        of_lanes = [seen[i] or [[-1]] * parts for seen in found]
        together = [[address for lane in of_lanes for address in lane[part]] for part in range(parts)]
        known = [[address for address in part if address is not None] for part in together]
        if parts and known == together:
            result[i] = known
    return result


def execute(
    code: Code,
    warp: int,
    block: int,
    wave_size: int = 32,
    lane: int = 0,
    watched: dict[int, list[list[int | None]]] | None = None,
    most: int = STEPS,
) -> Counts:
    """Executes one warp of one block of a one-dimensional grid. With `watched`, it ends when all accesses to shared memory
    in it have their first addresses, or after `most` instructions. `lane` is that of SASS."""
    machine: Machine = Sass(warp, block, lane) if code.vendor == "nvidia" else Gcn(code, warp, block, wave_size)
    missing = len(watched) if watched is not None else 0
    counts = Counts([0] * len(code.instructions))
    headers = {loop.header: loop.body for loop in code.loops}
    at = {instruction.address: i for i, instruction in enumerate(code.instructions) if instruction.address >= 0}
    forgotten = [machine.forgotten(instruction) for instruction in code.instructions]
    known = machine.known
    i, steps, previous = 0, 0, -1
    while 0 <= i < len(code.instructions):
        instruction = code.instructions[i]
        counts.executed[i] += 1
        if i in headers and previous not in headers[i]:
            counts.entries[i] = counts.entries.get(i, 0) + 1
        steps += 1
        if steps > most:
            if watched is not None:
                break
            raise Endless(f"more than {STEPS} instructions")
        previous = i
        if watched and watched.get(i) == []:
            watched[i] = machine.shared_addresses(instruction)
            missing -= bool(watched[i])
            if not missing:
                break
        if (names := forgotten[i]) is not None:
            for name in names:
                known.pop(name, None)
            i += 1
            continue
        taken = machine.step(instruction)
        if instruction.target is not None:
            if taken is None:
                counts.undecided += 1
                distance = code.distance_to_end
                taken = i + 1 >= len(code.instructions) or distance[instruction.target] < distance[i + 1]
            i = instruction.target if taken else i + 1
        elif instruction.ends_block or (taken and instruction.kind == "branch"):
            address = machine.jump(instruction)
            if address not in at:
                break
            i = at[address]
        else:
            i += 1
    return counts


# NVIDIA.

Value = int | None
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_PREDICATE = re.compile(r"^!?U?P(T|\d)$")
_REGISTER = re.compile(r"^U?R(Z|\d+)$")


def _signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Sass:
    """Lane 0 of a warp. Registers and predicates that are not in the table are unknown."""

    def __init__(self, warp: int, block: int, lane: int = 0) -> None:
        self.known: dict[str, int] = {}
        self.lane = lane
        self.special = {"SR_TID.X": 32 * warp + lane, "SR_CTAID.X": block, "SR_VIRTCTAID": block}
        self.special |= dict.fromkeys(("SR_TID.Y", "SR_TID.Z", "SR_CTAID.Y", "SR_CTAID.Z"), 0)
        self.special |= dict.fromkeys(("SR_CgaCtaId", "SRZ"), 0)
        self.special["SR_LANEID"] = lane

    # Operands.

    def predicate(self, text: str) -> bool | None:
        name = text.lstrip("!")
        value = True if name in ("PT", "UPT") else self.known.get(name)
        return None if value is None else bool(value) != text.startswith("!")

    def value(self, text: str, wide: bool = False) -> Value:
        """32 bits, or 64 of a pair of registers."""
        mask = LONG if wide else WORD
        sign = text[:1] if text[:1] in "-~" else ""
        name = text[len(sign) :].removesuffix(".64")
        if name in ("RZ", "URZ", "SRZ"):
            value: Value = 0
        elif _REGISTER.match(name):
            value = self.known.get(name)
            if wide and value is not None:
                kind, number = re.fullmatch(r"(U?R)(\d+)", name).groups()  # type: ignore[union-attr]
                high = self.known.get(f"{kind}{int(number) + 1}")
                value = None if high is None else high << 32 | value
        elif re.fullmatch(r"0x[0-9a-f]+|\d+", name):
            value = int(name, 0)
        else:
            value = None
        if value is None:
            return None
        return {"": value, "-": -value, "~": ~value}[sign] & mask

    # Results.

    def write(self, name: str, value: Value, words: int = 1) -> None:
        """Writes a register, or as many as the value has words."""
        if not (found := re.fullmatch(r"(U?R)(\d+)", name)):
            return
        for i in range(words):
            register = f"{found[1]}{int(found[2]) + i}"
            if value is None:
                self.known.pop(register, None)
            else:
                self.known[register] = value >> 32 * i & WORD

    def decide(self, name: str, value: bool | None) -> None:
        if name in ("PT", "UPT"):
            return
        if value is None:
            self.known.pop(name, None)
        else:
            self.known[name] = bool(value)

    # Instructions.

    @staticmethod
    @functools.lru_cache(maxsize=1 << 16)
    def forgotten(instruction: Instruction) -> tuple[str, ...] | None:
        base = instruction.name.split(".")[0]
        if instruction.kind == "branch" or hasattr(Sass, "op_" + base.removeprefix("U").lower()):
            return None
        _, outs, register, _, words = _parts(instruction)
        if found := re.fullmatch(r"(U?R)(\d+)", register):
            outs = [*outs, *(f"{found[1]}{int(found[2]) + i}" for i in range(words))]
        return tuple(outs)

    def step(self, instruction: Instruction) -> bool | None:
        guard = self.predicate(instruction.guard) if instruction.guard else True
        base, *modifiers = instruction.name.split(".")
        if instruction.kind == "branch":
            return self.branch(instruction, guard, base, modifiers)
        if guard is False:
            return None
        operands, outs, register, inputs, words = _parts(instruction)
        compute = getattr(self, "op_" + base.removeprefix("U").lower())
        value, decided = compute(modifiers, operands, inputs, len(outs))
        decided = (decided + [None] * len(outs))[: len(outs)]
        if guard is None:
            value, decided = None, [None] * len(outs)
        if register:
            self.write(register, value, words)
        for name, bit in zip(outs, decided, strict=True):
            self.decide(name, bit)
        return None

    def branch(self, instruction: Instruction, guard: bool | None, base: str, modifiers: list[str]) -> bool | None:
        if base in ("EXIT", "RET"):
            # An exit on an unknown condition is not taken: some lanes continue.
            return bool(guard)
        if instruction.target is None:
            return False
        taken = guard
        for operand in instruction.operands[:-1]:
            # BRA.U UP0, target; BRA P0, target.
            if _PREDICATE.match(operand):
                condition = self.predicate(operand)
                taken = None if taken is None or condition is None else taken and condition
        return taken

    def jump(self, instruction: Instruction) -> int | None:
        if not instruction.name.startswith("RET"):
            return None
        return self.value(instruction.operands[0].split()[0])

    def shared_addresses(self, instruction: Instruction) -> list[list[int | None]]:
        guard = self.predicate(instruction.guard) if instruction.guard else True
        if guard is False:
            return []
        address: int | None = 0
        text = next(operand for operand in instruction.operands if operand.startswith("["))
        for term in text.strip("[]").split("+"):
            name, _, scale = term.partition(".X")
            value = self.value(name)
            address = None if value is None or address is None else address + value * int(scale or 1)
        return [[None if address is None else address & WORD]]

    def op_mov(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        return self.value(s[0], "64" in modifiers), []

    op_r2ur = op_mov

    def op_hfma2(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        # Constants are two f16 numbers that are added to zero: HFMA2 R0, -RZ, RZ, 0, 5.96e-08 is 1.
        try:
            halves = [struct.unpack("<H", struct.pack("<e", float(text)))[0] for text in s[2:4]]
        except (ValueError, OverflowError):
            halves = []
        known = s[0] in ("RZ", "-RZ") and s[1] == "RZ" and len(halves) == 2
        return (halves[0] << 16 | halves[1]) if known else None, []

    def op_s2r(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        return self.special.get(s[0]), []

    op_s2ur = op_cs2r = op_s2r

    def op_iadd3(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        wide = "64" in modifiers
        bits = 64 if wide else 32
        total = 0
        for text in s:
            if (value := self.value(text, wide)) is None:
                return None, []
            # A negated register carries as its complement plus 1 does.
            total += (1 << bits) if value == 0 and text.startswith("-") else value
        if "X" in modifiers:
            carries = [self.predicate(text) for text in p]
            if None in carries:
                return None, []
            total += sum(bool(carry) for carry in carries)
        carry = total >> bits
        return total & (LONG if wide else WORD), [carry >= 1, carry >= 2]

    op_iadd = op_viadd = op_iadd3

    def op_imad(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        wide = "WIDE" in modifiers
        a, b = self.value(s[0]), self.value(s[1])
        c = self.value(s[2], wide)
        if a is None or b is None:
            # IMAD.MOV multiplies by RZ and adds its last operand.
            zero = 0 in (a, b)
            if not zero:
                return None, []
            a = b = 0
        if c is None or outs:
            return None, []
        if (wide or "HI" in modifiers) and "U32" not in modifiers:
            a, b = _signed(a), _signed(b)
        total = a * b
        if "HI" in modifiers:
            total >>= 32
        total += c
        if "X" in modifiers:
            carry = self.predicate(p[-1]) if p else None
            if carry is None:
                return None, []
            total += carry
        return total & (LONG if wide else WORD), []

    def op_lea(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        high, extended = "HI" in modifiers, "SX32" in modifiers
        values = [value for text in s if (value := self.value(text)) is not None]
        if len(values) < len(s) or (high and extended and len(s) != 3):
            return None, []
        if high and not extended:
            a, b, c, shift = values
        else:
            a, b, shift = values
            c = WORD if a >> 31 else 0
        carry: bool | None = False
        if "X" in modifiers:
            carry = self.predicate(p[0]) if p else None
            if carry is None:
                return None, []
        part = ((c << 32 | a) << (shift & 31)) >> 32 & WORD if high else a << (shift & 31) & WORD
        total = part + b + carry
        return total & WORD, [total > WORD]

    def op_lop3(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        a, b, c, table = (self.value(text) for text in s[:4])
        if table is None:
            return None, []
        # The result can be known though an operand is not: x & 0.
        result = 0
        for bit in range(32):
            indices = [0]
            for operand in (a, b, c):
                choices = (0, 1) if operand is None else (operand >> bit & 1,)
                indices = [index << 1 | choice for index in indices for choice in choices]
            values = {table >> index & 1 for index in indices}
            if len(values) > 1:
                return None, []
            result |= values.pop() << bit
        return result, [result != 0]

    def op_shf(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        low, shift, high = (self.value(text) for text in s)
        left = modifiers[0] == "L"
        # Only the words that the result depends on must be known.
        if left and "HI" not in modifiers:
            high = 0
        elif not left and "HI" in modifiers:
            low = 0
        if low is None or shift is None or high is None:
            return None, []
        long = "U64" in modifiers or "S64" in modifiers
        shift = min(shift & 255, 64 if long else 32) if "W" not in modifiers else shift & (63 if long else 31)
        pair = high << 32 | low
        if left:
            pair = pair << shift & LONG
        else:
            pair = (_signed(pair, 64) if "S32" in modifiers or "S64" in modifiers else pair) >> shift & LONG
        return (pair >> 32 if "HI" in modifiers else pair) & WORD, []

    def op_isetp(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        wide = "S64" in modifiers or "U64" in modifiers
        bits = 64 if wide else 32
        extended = "EX" in modifiers
        lower = self.predicate(p[-1]) if extended else None
        combine = next(m for m in modifiers if m in ("AND", "OR", "XOR"))
        with_ = self.predicate(p[0]) if len(p) > extended else True
        a, b = self.value(s[0], wide), self.value(s[1], wide)
        result: bool | None = None
        if a is not None and b is not None:
            if "U32" not in modifiers and "U64" not in modifiers:
                a, b = _signed(a, bits), _signed(b, bits)
            compare = _COMPARE[modifiers[0]]
            result = compare(a, b) if not extended or a != b else lower
        return None, [_logic(combine, result, with_)]

    def op_plop3(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        # All operands but the tables are predicates, and follow the results.
        tables = [int(text, 0) for text in s if text.startswith("0x")]
        bits = [self.predicate(text) for text in s if _PREDICATE.match(text)]
        values = []
        for table in tables[:outs]:
            indices = [0]
            for bit in bits[:3]:
                indices = [index << 1 | c for index in indices for c in ((0, 1) if bit is None else (int(bit),))]
            found = {table >> index & 1 for index in indices}
            values.append(bool(found.pop()) if len(found) == 1 else None)
        return None, values

    def op_sel(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        condition = self.predicate(p[-1])
        a, b = (self.value(text, "64" in modifiers) for text in s[:2])
        return (a if a == b else None) if condition is None else (a if condition else b), []

    def op_imnmx(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        wide = "U64" in modifiers or "S64" in modifiers
        smaller = self.predicate(p[0]) if p else None
        a, b = (self.value(text, wide) for text in s[:2])
        if a is None or b is None or smaller is None:
            return None, []
        unsigned = "U32" in modifiers or "U64" in modifiers
        by = (lambda v: v) if unsigned else (lambda v: _signed(v, 64 if wide else 32))
        return (min if smaller else max)(a, b, key=by), []

    op_vimnmx = op_imnmx

    def op_viaddmnmx(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        total, _ = self.op_iadd3([], s[:2], [], 0)
        if total is None:
            return None, []
        return self.op_imnmx(modifiers, [hex(total), s[2]], p, 0)

    def op_sgxt(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        a, bits = (self.value(text) for text in s[:2])
        if a is None or bits is None or not 0 < bits < 32:
            return None, []
        a &= (1 << bits) - 1
        return a if "U32" in modifiers else _signed(a, bits) & WORD, []

    def op_prmt(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        a, selector, b = (self.value(text) for text in s)
        if a is None or selector is None or b is None or modifiers or selector & 0x8888:
            return None, []
        data = (b << 32 | a).to_bytes(8, "little")
        return int.from_bytes(bytes(data[selector >> 4 * i & 7] for i in range(4)), "little"), []

    def op_shfl(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        # Lane 0 reads lane 0.
        return (self.value(s[0]) if modifiers == ["IDX"] and self.value(s[1]) == 0 else None), []

    def op_elect(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        return None, [self.lane == 0]

    def op_vote(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        # VOTEU.ANY UP0, P0: only predicates that all lanes share are voted on here.
        return None, [self.predicate(p[0])] if len(p) == 1 else []

    op_voteu = op_vote

    def op_syncs(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        return None, [True if "TRYWAIT" in modifiers else None]

    def op_setmaxreg(self, modifiers: list[str], s: list[str], p: list[str], outs: int) -> Any:
        return None, [True]


@functools.lru_cache(maxsize=1 << 16)
def _parts(instruction: Instruction) -> tuple[list[str], list[str], str, list[str], int]:
    """The operands of an instruction: sources, resulting predicates, resulting register, predicates that are read; and the
    number of registers that it writes."""
    base, *modifiers = instruction.name.split(".")
    operands = list(instruction.operands)
    # Results come first: a register, predicates, or both.
    outs = _take_predicates(operands, 1 if base == "VOTEU" else 2)
    register = ""
    if operands and _REGISTER.match(operands[0]) and "SETP" not in base and not _is_store(instruction):
        register = operands.pop(0)
        outs += _take_predicates(operands, 2 - len(outs))
    inputs: list[str] = []
    while operands and _PREDICATE.match(operands[-1]):
        inputs.insert(0, operands.pop())
    return operands, outs, register, inputs, _result_words(instruction, base, modifiers)


def _take_predicates(operands: list[str], most: int) -> list[str]:
    """Removes the predicates at the front, at most so many."""
    taken: list[str] = []
    while operands and len(taken) < most and re.fullmatch(r"U?P(T|\d)", operands[0]):
        taken.append(operands.pop(0))
    return taken


def _logic(name: str, a: bool | None, b: bool | None) -> bool | None:
    if name == "AND":
        return False if a is False or b is False else None if a is None or b is None else True
    if name == "OR":
        return True if a or b else None if a is None or b is None else False
    return None if a is None or b is None else a != b


def _is_store(instruction: Instruction) -> bool:
    return instruction.kind in ("store", "shared store") or instruction.name.startswith(("STL", "RED", "LDGSTS"))


def _result_words(instruction: Instruction, base: str, modifiers: list[str]) -> int:
    """The registers that an instruction writes."""
    if base == "HGMMA" or base.endswith("GMMA"):
        n = re.search(r"64x(\d+)x", instruction.name)
        return int(n[1]) // (2 if "F32" in modifiers or base != "HGMMA" else 4) if n else 128
    if instruction.kind == "mma":
        return 4 if "F32" in modifiers or base != "HMMA" else 2
    if base == "LDSM":
        return instruction.bytes // 4
    if base == "LDTM":
        return next((int(m[1:]) for m in modifiers if re.fullmatch(r"x\d+", m)), 1)
    if base == "CS2R":
        return 1 if "32" in modifiers else 2
    if "WIDE" in modifiers or (base == "IMNMX" and ("U64" in modifiers or "S64" in modifiers)):
        return 2
    if base in ("FFMA2", "FADD2", "FMUL2", "DADD", "DMUL", "DFMA"):
        return 2
    return next((int(m) // 32 for m in modifiers if m in ("64", "128", "256")), 1)


# AMD.


def _by_table(table: int, a: Any, b: Any, c: Any) -> Any:
    """The bitwise function of three operands: bit 4 a + 2 b + c of the table."""
    terms = [
        (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
        for index in range(8)
        if table >> index & 1
    ]
    return functools.reduce(operator.or_, terms, 0)


def _bits(value: int, low: int, count: int) -> int:
    return value >> low & (1 << count) - 1


_SCALAR: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "addk": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "mulk": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn2": lambda a, b: a & ~b,
    "and_not1": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "or_not1": lambda a, b: a | ~b,
    "lshl1_add": lambda a, b: (a << 1) + b,
    "lshl2_add": lambda a, b: (a << 2) + b,
    "lshl3_add": lambda a, b: (a << 3) + b,
    "lshl4_add": lambda a, b: (a << 4) + b,
}
_VECTOR: dict[str, Callable[..., Any]] = {
    "mov": lambda a: a,
    "accvgpr_read": lambda a: a,
    "accvgpr_write": lambda a: a,
    "accvgpr_mov": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "lshlrev": lambda a, b: b << (a & 31),
    "lshrrev": lambda a, b: (b & WORD) >> (a & 31),
    "ashrrev": lambda a, b: (((b & WORD) ^ 1 << 31) - (1 << 31)) >> (a & 31),
    "lshl_add": lambda a, b, c: (a << (b & 31)) + c,
    "add_lshl": lambda a, b, c: ((a + b) & WORD) << (c & 31),
    "lshl_or": lambda a, b, c: (a << (b & 31)) | c,
    "and_or": lambda a, b, c: (a & b) | c,
    "or3": lambda a, b, c: a | b | c,
    "add3": lambda a, b, c: a + b + c,
    "xor3": lambda a, b, c: a ^ b ^ c,
    "xad": lambda a, b, c: (a ^ b) + c,
    "bfi": lambda a, b, c: (a & b) | (~a & c),
    "bfe": lambda a, b, c: (a & WORD) >> (b & 31) & ((1 << (c & 31)) - 1),
    "mul_lo": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c,
    "mul_u32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "mad_u32": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
}
_WIDE: dict[str, Callable[..., Any]] = {
    "mov_b64": lambda a: a,
    "add_nc_u64": lambda a, b: a + b,
    "sub_nc_u64": lambda a, b: a - b,
    "min_u64": np.minimum,
    "max_u64": np.maximum,
    "lshlrev_b64": lambda a, b: b << (a & 63),
    "lshrrev_b64": lambda a, b: b >> (a & 63),
    "lshl_add_u64": lambda a, b, c: (a << (b & 63)) + c,
}
"""Operations of register pairs, on lanes that are Python's integers."""
_GCN_COMPARE = {"lg": "NE", "ne": "NE", "eq": "EQ", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}


class Gcn:
    """A wave. Scalar registers are integers, vector registers arrays of lanes; what is not in the table is unknown."""

    def __init__(self, code: Code, warp: int, block: int, lanes: int) -> None:
        self.lanes = lanes
        self.all = (1 << lanes) - 1
        # v0 has the thread number in its low 10 bits; ttmp8 and ttmp9 have the wave and block on GFX12.
        self.known: dict[str, Any] = {"v0": np.arange(lanes, dtype=np.int64) + lanes * warp}
        self.known |= {"ttmp9": block, "ttmp7": 0, "ttmp8": warp << 25}
        self.exec: int | None = self.all
        self.scc: bool | None = None
        if code.block_register is not None:
            self.known[f"s{code.block_register}"] = block

    @staticmethod
    def names(text: str) -> list[str]:
        """The registers of an operand: `s[4:5]` is two."""
        if found := re.fullmatch(r"([sva]|ttmp)\[(\d+):(\d+)\]", text):
            return [f"{found[1]}{i}" for i in range(int(found[2]), int(found[3]) + 1)]
        if text in ("vcc", "exec"):
            return [f"{text}_lo", f"{text}_hi"]
        return [text]

    def word(self, name: str) -> int | None:
        if name in ("exec_lo", "exec_hi"):
            return None if self.exec is None else _bits(self.exec, 32 * (name == "exec_hi"), 32)
        return self.known.get(name)

    def value(self, text: str, words: int = 1) -> Any:
        """The value of an operand: an integer, lanes, or None."""
        if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", text):
            return int(text, 0) & ((1 << 32 * words) - 1)
        if text in ("off", "null"):
            return 0
        if re.fullmatch(r"[va]\d+", text):
            return self.known.get(text)
        if text.startswith(("v[", "a[", "-v", "|")):
            return None
        total = 0
        for i, name in enumerate(self.names(text)[:words]):
            if (word := self.word(name)) is None:
                return None
            total |= word << 32 * i
        return total

    def write(self, text: str, value: Any, words: int = 1) -> None:
        if re.fullmatch(r"[va]\d+", text):
            if value is None or self.exec is None:
                self.known.pop(text, None)
                return
            new = np.broadcast_to(np.asarray(value, dtype=np.int64) & WORD, self.lanes)
            if self.exec != self.all:
                old = self.known.get(text)
                if old is None:
                    return
                new = np.where([self.exec >> lane & 1 for lane in range(self.lanes)], new, old)
            self.known[text] = new
            return
        for i, name in enumerate(self.names(text)):
            if name in ("exec_lo", "exec_hi"):
                if value is None:
                    self.exec = None
                else:
                    shift = 32 * (name == "exec_hi")
                    kept = 0 if self.exec is None else self.exec & ~(WORD << shift)
                    self.exec = (kept | _bits(value, 32 * i, 32) << shift) & self.all
            elif value is None:
                self.known.pop(name, None)
            else:
                self.known[name] = _bits(value, 32 * i, 32)

    def set(self, register: str, value: Any) -> None:
        """Makes the register of all lanes have a value, or none that is known."""
        if value is None:
            self.known.pop(register, None)
        else:
            self.known[register] = value

    def forget(self, text: str) -> None:
        for name in self.names(text):
            self.write(name, None)

    @staticmethod
    @functools.lru_cache(maxsize=1 << 16)
    def forgotten(instruction: Instruction) -> tuple[str, ...] | None:
        name, operands = instruction.name, instruction.operands
        computed = ("scalar", "integer", "move", "shuffle", "branch")
        if "::" in instruction.text or name.startswith("v_cmp"):
            return None
        if instruction.kind in computed and name.startswith(("s_", "v_")):
            return None
        if instruction.kind in ("store", "shared store", "copy", "wait", "barrier", "hint") or not operands:
            return ()
        return tuple(Gcn.names(operands[0].split()[0]))

    def step(self, instruction: Instruction) -> bool | None:
        name, operands = instruction.name, list(instruction.operands)
        if instruction.kind == "branch":
            return self.branch(name)
        (self.vector_step if name.startswith("v_") else self.scalar_step)(name, operands)
        return None

    def branch(self, name: str) -> bool | None:
        if name in ("s_branch", "s_endpgm"):
            return True
        if "exec" in name:
            # An unknown mask counts as not empty.
            empty = self.exec == 0
            return empty if name.endswith("execz") else not empty
        if "vcc" in name:
            vcc = self.value("vcc", 2 if self.lanes == 64 else 1)
            return None if vcc is None else (vcc == 0) == name.endswith("vccz")
        return None if self.scc is None else self.scc == name.endswith("scc1")

    def jump(self, instruction: Instruction) -> int | None:
        return None

    def shared_addresses(self, instruction: Instruction) -> list[list[int | None]]:
        is_load = instruction.kind == "shared load"
        name, *_ = instruction.operands[is_load].split()
        base = self.value(name)
        text = instruction.text
        offsets = [int(found) for found in re.findall(r"offset[01]?:(\d+)", text)]
        if re.search("(read|write|load|store)(x)?2|_2addr", instruction.name):
            # Two addresses, in units of the elements or of 64 of them.
            unit = instruction.bytes // 2 * (64 if "st64" in instruction.name or "stride64" in instruction.name else 1)
            named = dict(re.findall(r"offset([01]):(\d+)", text))
            offsets = [unit * int(named.get(which, 0)) for which in "01"]
        if base is None:
            return [[None]] * max(len(offsets), 1)
        lanes = np.broadcast_to(np.asarray(base, dtype=np.int64), self.lanes)
        active = [self.exec is None or self.exec >> lane & 1 for lane in range(self.lanes)]
        return [
            [int(address) + offset & WORD if on else -1 for address, on in zip(lanes, active, strict=True)]
            for offset in offsets or [0]
        ]

    def scalar_step(self, name: str, s: list[str]) -> None:
        words = 2 if re.search(r"_(?:b|u|i)64", name) else 1
        bits = 32 * words
        mask = (1 << bits) - 1
        stem, _, type_ = name.removeprefix("s_").rpartition("_")
        # gfx12 names s_addk_i32 as s_addk_co_i32.
        stem = re.sub("^addk_co$", "addk", stem)
        signed = type_.startswith("i")
        if stem in ("cmp_" + c for c in _GCN_COMPARE) or stem in ("cmpk_" + c for c in _GCN_COMPARE):
            a, b = self.value(s[0], words), self.value(s[1], words)
            if a is None or b is None:
                self.scc = None
            else:
                if stem.startswith("cmpk") and signed:
                    b = _signed(b & 0xFFFF, 16) & WORD
                a, b = (_signed(a, bits), _signed(b, bits)) if signed else (a, b)
                self.scc = _COMPARE[_GCN_COMPARE[stem.split("_")[1]]](a, b)
            return
        if stem in ("bitcmp0", "bitcmp1"):
            a, b = self.value(s[0]), self.value(s[1])
            self.scc = None if a is None or b is None else (a >> (b & 31) & 1) == (stem == "bitcmp1")
            return
        if stem.endswith("saveexec"):
            old, new = self.exec, self.value(s[1], words)
            kind = stem.removesuffix("_saveexec")
            self.write(s[0], old, words)
            if kind in ("and_not1", "andn2"):
                # s_andn2_saveexec: the operand without the mask; s_and_not1_saveexec the same.
                self.exec = None if old is None or new is None else new & ~old & self.all
            else:
                self.exec = self.combine(kind, new, old)
            self.scc = None if self.exec is None else self.exec != 0
            return
        if not s or not re.match(r"s\d|s\[|vcc|exec|m0|ttmp", s[0]):
            return
        if name == "s_getreg_b32":
            # A launch without clusters: gfx1250 takes the block's number from ttmp9 then.
            self.write(s[0], 0 if "HW_REG_IB_STS2" in s[1] else None)
            return
        if stem == "cselect":
            a, b = self.value(s[1], words), self.value(s[2], words)
            self.write(s[0], (a if a == b else None) if self.scc is None else (a if self.scc else b), words)
            return
        if stem in ("mov", "movk"):
            value = self.value(s[1], words)
            # The number of s_movk has 16 bits with a sign.
            self.write(s[0], _signed(value & 0xFFFF, 16) & WORD if stem == "movk" else value, words)
            return
        sources = s[1:] if stem not in ("addk", "mulk") else s
        values: list[Any] = [self.value(text, words) for text in sources]
        if stem in ("addk", "mulk"):
            values[1] = _signed(int(s[1], 0) & 0xFFFF, 16) & WORD
        kind = re.sub(r"_(co|nc)$", "", stem)
        result: Any = None
        scc: bool | None = None
        if kind in ("addc", "subb", "add_co_ci", "sub_co_ci"):
            if None not in values and self.scc is not None:
                total = values[0] + values[1] + self.scc if "add" in kind else values[0] - values[1] - self.scc
                result, scc = total & mask, total >> bits != 0
        elif kind in ("and", "or", "xor", "andn2", "and_not1", "orn2", "or_not1"):
            result = self.combine(kind, *values)
            result = None if result is None else result & mask
            scc = None if result is None else result != 0
        elif None in values:
            pass
        elif kind in _SCALAR and len(values) == 2:
            total = _SCALAR[kind](*values)
            result = total & mask
            if signed and kind in ("add", "sub"):
                a, b = (_signed(v, bits) for v in values)
                scc = _signed(result, bits) != _SCALAR[kind](a, b)
            else:
                scc = total >> bits != 0
        elif kind in ("lshl", "lshr", "ashr"):
            shift = values[1] & (bits - 1)
            a = _signed(values[0], bits) if kind == "ashr" else values[0]
            result = (a << shift if kind == "lshl" else a >> shift) & mask
            scc = result != 0
        elif kind == "bfe":
            at, width = values[1] & 31, values[1] >> 16 & 127
            result = _bits(values[0], at, width)
            result = _signed(result, width) & mask if signed and width else result
            scc = result != 0
        elif kind == "brev":
            result = int(f"{values[0]:0{bits}b}"[::-1], 2)
        elif kind == "mul_hi":
            a, b = (_signed(v) for v in values) if signed else values
            result = a * b >> 32 & mask
        elif kind in ("min", "max"):
            by = (lambda v: _signed(v, bits)) if signed else (lambda v: v)
            result = (min if kind == "min" else max)(*values, key=by)
            scc = result == values[0]
        elif kind == "not":
            result = ~values[0] & mask
            scc = result != 0
        elif kind == "sext" or name in ("s_sext_i32_i16", "s_sext_i32_i8"):
            width = 16 if name.endswith("i16") else 8
            result = _signed(_bits(values[0], 0, width), width) & mask
            scc = self.scc
        elif kind in ("brev", "mul_hi", "bfm", "pack_ll", "ff1", "ctz"):
            pass
        self.write(s[0], result, words)
        if "load" not in name and not name.startswith(("s_mul", "s_get", "s_movk", "s_sext")):
            self.scc = scc

    def combine(self, kind: str, a: int | None, b: int | None) -> int | None:
        """A bit operation, whose result can be known though an operand is not."""
        if a is not None and b is not None:
            return _SCALAR[kind](a, b)
        known = a if b is None else b
        if kind == "and" and known == 0:
            return 0
        if kind == "or" and known == self.all:
            return self.all
        return None

    def vector_step(self, name: str, s: list[str]) -> None:
        if " :: " in (s[-1] if s else "") or any("::" in text for text in s):
            # Two instructions in one: v_dual_X a, b :: v_dual_Y c, d. Both read before either writes.
            first, second = (part.strip() for part in ", ".join(s).split("::", 1))
            other, _, rest = second.partition(" ")
            operands, others = ([part.strip() for part in text.split(",")] for text in (first, rest))
            before = self.known.get(operands[0])
            self.vector_step(name, operands)
            result = self.known.get(operands[0])
            self.set(operands[0], before)
            self.vector_step(other, others)
            self.set(operands[0], result)
            return
        stem = re.sub(r"_(e32|e64|dpp|e64_dpp|sdwa)$", "", name.removeprefix("v_").removeprefix("dual_"))
        if name.endswith(("dpp", "sdwa")) or any("quad_perm" in t or "row_" in t for t in s):
            self.write(s[0].split()[0], None)
            return
        if stem.startswith("writelane"):
            # LLVM spills scalar registers to the lanes of a vector register.
            self.set(f"{s[0]} lane {s[2]}", self.value(s[1]))
            return
        if stem.startswith("readlane") and (spilled := self.known.get(f"{s[1]} lane {s[2]}")) is not None:
            self.write(s[0], spilled)
            return
        if stem.startswith(("readfirstlane", "readlane")):
            value = self.value(s[1])
            lane = 0 if stem.startswith("readfirst") else self.value(s[2])
            is_lanes = isinstance(value, np.ndarray)
            known = value is not None and lane is not None and (self.exec is None or self.exec & 1)
            self.write(s[0], (int(value[lane]) if is_lanes else value) if known else None)
            return
        if found := re.fullmatch(r"cmpx?_(\w+)_([ui])(32|64)", stem):
            self.compare(s, found[1], found[2] == "i", stem.startswith("cmpx"), int(found[3]))
            return
        if stem.startswith("cmp"):
            self.write(s[0], None, 2)
            if stem.startswith("cmpx"):
                self.exec = None
            return
        if stem.startswith("mbcnt"):
            # The number of lower lanes in a mask.
            mask, base = (self.value(text) for text in s[1:3])
            if mask is None or base is None:
                self.write(s[0], None)
            else:
                first = 32 * ("hi" in stem)
                of_lanes = [_bits(mask, 0, min(max(lane - first, 0), 32)).bit_count() for lane in range(self.lanes)]
                self.write(s[0], np.asarray(of_lanes, dtype=np.int64) + base)
            return
        if stem == "cndmask_b32":
            mask = self.value(s[3] if len(s) > 3 else "vcc", 2 if self.lanes == 64 else 1)
            unset, chosen = (self.value(text) for text in s[1:3])
            if mask is None or unset is None or chosen is None:
                self.write(s[0], None)
            else:
                lanes = np.asarray([mask >> lane & 1 for lane in range(self.lanes)], dtype=bool)
                self.write(s[0], np.where(lanes, chosen, unset))
            return
        if found := re.search(r"bitop3:(0x[0-9a-f]+|\d+)", s[-1]):
            operands = [text.split()[0] for text in s[1:]]
            values = [self.value(text) for text in operands] + [0] * (3 - len(operands))
            is_known = stem.endswith("b32") and all(value is not None for value in values)
            self.write(s[0], _by_table(int(found[1], 0), *values) if is_known else None)
            return
        if (wide := _WIDE.get(stem)) and (found := re.fullmatch(r"v\[(\d+):(\d+)\]", s[0])):
            # A shift has 32 bits.
            sources = [self.lane_values(text, 32 if "rev_" in stem and i == 0 else 64) for i, text in enumerate(s[1:])]
            value = None if any(source is None for source in sources) else wide(*sources) & LONG
            for i, register in enumerate(found.groups()):
                self.write(f"v{register}", None if value is None else (value >> 32 * i & WORD).astype(np.int64))
            return
        if stem == "mad_u64_u32" and (found := re.fullmatch(r"v\[(\d+):(\d+)\]", s[0])):
            # The second result is the carry.
            self.forget(s[1])
            sources = [self.lane_values(text, 32 + 32 * (i == 2)) for i, text in enumerate(s[2:])]
            value = None if any(source is None for source in sources) else (sources[0] * sources[1] + sources[2]) & LONG
            for i, register in enumerate(found.groups()):
                self.write(f"v{register}", None if value is None else (value >> 32 * i & WORD).astype(np.int64))
            return
        if stem == "pk_mov_b32" and (found := re.fullmatch(r"v\[(\d+):(\d+)\]", s[0])):
            # A word of each source: the low one, or the high one by op_sel.
            chosen = re.search(r"op_sel:\[(\d), ?(\d)\]", ", ".join(s))
            for register, text, is_high in zip(
                found.groups(), s[1:3], chosen.groups() if chosen else "00", strict=True
            ):
                pair = self.lane_values(text.split()[0], 64)
                word = None if pair is None else (pair >> 32 * int(is_high) & WORD).astype(np.int64)
                self.write(f"v{register}", word)
            return
        kind, _, type_ = stem.rpartition("_")
        kind = re.sub(r"_(nc|co)$", "", kind)
        if kind in ("mul_u32", "mad_u32") or stem in ("mul_u32_u24", "mad_u32_u24"):
            kind = kind if kind in _VECTOR else stem.removesuffix("_u24")
        results = 2 if re.search(r"_(co|co_ci)_u32$", stem) or stem.startswith(("addc", "subb")) else 1
        operation = _VECTOR.get(kind)
        if operation is None or type_ not in ("b32", "u32", "i32", "u24") or "co_ci" in stem:
            for text in s[:results]:
                self.forget(text.split()[0])
            return
        values = [self.value(text.split()[0]) if text.split() else None for text in s[results:]]
        if kind == "bfe" and type_ == "i32":
            width = values[2]
            if any(value is None for value in values) or not isinstance(width, int):
                self.write(s[0], None)
                return
            # The highest bit of the field is a sign.
            sign = 1 << max((width & 31) - 1, 0)
            self.write(s[0], (operation(*values) ^ sign) - sign)
            return
        if any(value is None for value in values):
            self.write(s[0], None)
        else:
            try:
                self.write(s[0], operation(*values))
            except TypeError:
                self.write(s[0], None)
        for text in s[1:results]:
            self.write(text, None)

    def lane_values(self, text: str, bits: int) -> Any:
        """The value of an operand in each lane, as Python's integers, or None."""
        if found := re.fullmatch(r"v\[(\d+):(\d+)\]", text):
            low, high = (self.known.get(f"v{number}") for number in found.groups())
            if low is None or high is None:
                return None
            return (high & WORD).astype(object) << 32 | (low & WORD).astype(object)
        value = self.value(text, bits // 32)
        return None if value is None else np.broadcast_to(np.asarray(value, dtype=object), self.lanes)

    def compare(self, s: list[str], relation: str, signed: bool, masks: bool, bits: int) -> None:
        words = 2 if self.lanes == 64 else 1
        to_exec = masks and (len(s) == 2 or s[0].startswith("exec"))
        destination = None if len(s) == 2 else s[0]
        a, b = (self.lane_values(text, bits) for text in s[-2:])
        result: int | None = None
        if a is not None and b is not None and self.exec is not None and relation in _GCN_COMPARE:
            mask, sign = (1 << bits) - 1, 1 << bits - 1
            a, b = (((v & mask) ^ sign) - sign if signed else v & mask for v in (a, b))
            lanes = _COMPARE[_GCN_COMPARE[relation]](a, b)
            result = sum(1 << lane for lane in range(self.lanes) if lanes[lane]) & self.exec
        if destination is not None:
            self.write(destination, result, words)
        if to_exec or masks:
            self.exec = result
