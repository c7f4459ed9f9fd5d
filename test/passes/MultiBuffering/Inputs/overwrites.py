# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Overwritten buffers of smalti-multi-buffer, compared with an execution of all threads.

Random programs store to a buffer by index arithmetic on thread ids, lane ids and the counters of inner loops, under
conditions on them, as scalars and as vectors. Here every thread is executed. A multi-buffered buffer must be
overwritten by then (otherwise the pass is wrong). An overwritten buffer must be multi-buffered, unless an intermediate
number is negative or has more than 31 bits, which the pass does not support.
"""

from __future__ import annotations

import operator
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

CASES = 600
SEED = 5
WAVE = 64  # of gfx942
MASK = (1 << 64) - 1


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass
class Thread:
    """The values of one thread; `clean` if the pass must support them."""

    x: int
    y: int
    lane: int
    counters: list[int] = field(default_factory=list)
    clean: bool = True

    def keep(self, value: int, bits: int = 64) -> int:
        if value < 0 or value >= 1 << 31:
            self.clean = False
        return signed(value, bits)


Value = Callable[[Thread], int]


def arithmetic(name: str) -> Callable[[int, int], int]:
    return {
        "addi": operator.add,
        "subi": operator.sub,
        "muli": operator.mul,
        "andi": operator.and_,
        "ori": operator.or_,
        "xori": operator.xor,
        "minsi": min,
        "maxsi": max,
        "minui": lambda a, b: min(a & MASK, b & MASK),
        "maxui": lambda a, b: max(a & MASK, b & MASK),
        "divui": lambda a, b: (a & MASK) // b,
        "remui": lambda a, b: (a & MASK) % b,
        "ceildivui": lambda a, b: -(-(a & MASK) // b),
        "shli": operator.lshift,
        "shrui": lambda a, b: (a & MASK) >> b,
    }[name]


class Program:
    """One function, as text and as something to execute."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.names = 0
        self.depth = 0
        self.indent = 2
        self.block = rng.choice([(64, 1), (32, 4), (48, 1), (128, 1), (16, 6), (100, 2)])
        self.threads = self.block[0] * self.block[1]
        self.width = rng.choice([1, 1, 2, 4])
        self.trips = rng.choice([1, 1, 2, 3])
        whole = self.threads * self.width * self.trips
        self.elements = rng.choice([whole, whole, whole, max(self.width, whole - self.width), whole + 1, whole // 2])
        self.name = f"case{number}"
        self.constants: dict[tuple[int, str], str] = {}
        self.stores: list[Callable[[Thread], list[int]]] = []

    def emit(self, text: str) -> str:
        self.names += 1
        self.lines.append(" " * self.indent + f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def constant(self, value: int, kind: str = "index") -> tuple[str, Value]:
        return self.emit(f"arith.constant {value} : {kind}"), lambda _: value

    def binary(self, name: str, a: tuple[str, Value], b: tuple[str, Value]) -> tuple[str, Value]:
        apply = arithmetic(name)
        text = self.emit(f"arith.{name} {a[0]}, {b[0]} : index")
        return text, lambda t: t.keep(apply(a[1](t), b[1](t)))

    def with_constant(self, name: str, a: tuple[str, Value], value: int) -> tuple[str, Value]:
        return self.binary(name, a, self.constant(value))

    def narrow(self, a: tuple[str, Value]) -> tuple[str, Value]:
        """Through a number of few bits, with and without a sign."""
        bits = self.rng.choice([8, 16])
        small = self.emit(f"arith.index_cast {a[0]} : index to i{bits}")
        one = self.emit(f"arith.constant 3 : i{bits}")
        total = self.emit(f"arith.addi {small}, {one} : i{bits}")
        unsigned = self.rng.random() < 0.5
        wide = self.emit(f"arith.index_cast{'ui' if unsigned else ''} {total} : i{bits} to index")

        def value(t: Thread) -> int:
            number = signed(a[1](t) + 3, bits)
            return t.keep(number & ((1 << bits) - 1) if unsigned else number)

        return wide, value

    def expression(self, depth: int) -> tuple[str, Value]:
        leaves: list[tuple[str, Value]] = [("%x", lambda t: t.x), ("%y", lambda t: t.y), ("%lane", lambda t: t.lane)]
        leaves += [(f"%i{k}", lambda t, k=k: t.counters[k]) for k in range(self.depth)]
        if depth == 0 or self.rng.random() < 0.2:
            return self.rng.choice([*leaves, self.constant(self.rng.randrange(17))])
        a = self.expression(depth - 1)
        kind = self.rng.randrange(10)
        if kind < 3:
            return self.with_constant(self.rng.choice(["divui", "remui", "ceildivui"]), a, self.rng.randrange(1, 40))
        if kind < 4:
            return self.with_constant(self.rng.choice(["shli", "shrui"]), a, self.rng.randrange(4))
        if kind < 5:
            return self.with_constant("muli", a, self.rng.randrange(9))
        if kind < 6:
            return self.narrow(a)
        if kind < 7:
            condition, holds = self.condition(a, self.constant(self.rng.randrange(64)))
            b = self.expression(depth - 1)
            text = self.emit(f"arith.select {condition}, {a[0]}, {b[0]} : index")
            return text, lambda t: (a[1](t), b[1](t))[0 if holds(t) else 1]
        names = ["addi", "subi", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"]
        return self.binary(self.rng.choice(names), a, self.expression(depth - 1))

    def condition(self, a: tuple[str, Value], b: tuple[str, Value]) -> tuple[str, Callable[[Thread], bool]]:
        name, compare = self.rng.choice(
            [("ult", operator.lt), ("slt", operator.lt), ("uge", operator.ge), ("eq", operator.eq), ("ne", operator.ne)]
        )
        bits = MASK if name.startswith("u") else -1
        text = self.emit(f"arith.cmpi {name}, {a[0]}, {b[0]} : index")
        return text, lambda t: compare(a[1](t) & bits, b[1](t) & bits)

    def index(self) -> tuple[str, Value]:
        """Mostly a number for each thread and iteration, in some other order; else anything inside."""
        if self.rng.random() < 0.15:
            free = max(self.elements - self.width + 1, 1)
            return self.with_constant("remui", self.expression(3), free)
        x, y = ("%x", lambda t: t.x), ("%y", lambda t: t.y)
        linear = self.binary("addi", x, self.with_constant("muli", y, self.block[0]))
        if self.depth:
            counter = ("%i0", lambda t: t.counters[0])
            linear = self.binary("addi", linear, self.with_constant("muli", counter, self.threads))
        total = self.threads * self.trips
        change = self.rng.randrange(6)
        if change == 0:
            linear = self.with_constant("xori", linear, self.rng.choice([1, 2, 5]))
        elif change == 1:
            linear = self.with_constant("remui", self.with_constant("addi", linear, self.rng.randrange(50)), total)
        elif change == 2:
            linear = self.binary("subi", self.constant(total - 1), linear)
        elif change == 3:
            rows = self.rng.choice([4, 8])
            quotient, rest = (self.with_constant(name, linear, rows) for name in ("divui", "remui"))
            linear = self.binary("addi", self.with_constant("muli", quotient, rows), rest)
        return self.with_constant("muli", linear, self.width) if self.width > 1 else linear

    def store(self, guard: Callable[[Thread], bool]) -> None:
        text, value = self.index()
        if self.width == 1:
            self.lines.append(" " * self.indent + f"memref.store %f, %b[{text}] : !buffer{self.name}")
        else:
            kind = f"vector<{self.width}xf32>"
            self.lines.append(
                " " * self.indent + f"vector.store %w{self.width}, %b[{text}] : !buffer{self.name}, {kind}"
            )
        depth, trips, width = self.depth, self.trips, self.width

        def written(t: Thread) -> list[int]:
            elements: list[int] = []
            for i in range(trips if depth else 1):
                t.counters = [i]
                if guard(t):
                    first = value(t)
                    elements += range(first, first + width)
            return elements

        self.stores.append(written)

    def build(self) -> str:
        looped = self.trips > 1 or self.rng.random() < 0.2
        if looped:
            self.lines.append("    scf.for %i0 = %c0 to %trips step %c1 {")
            self.depth = 1
        self.indent = 6
        if self.rng.random() < 0.4:
            a = self.expression(1)
            condition, holds = self.condition(a, self.constant(self.rng.randrange(64)))
            self.lines.append(f"      scf.if {condition} {{")
            self.store(holds)
            if self.rng.random() < 0.7:
                self.lines.append("      } else {")
                self.store(lambda t: not holds(t))
            self.lines.append("      }")
        else:
            self.store(lambda _: True)
            if self.rng.random() < 0.3:
                self.store(lambda _: True)
        if looped:
            self.lines.append("    }")
        body = "\n".join(self.lines)
        kind = f"memref<{self.elements}xf32, #gpu.address_space<workgroup>>"
        return f"""
!buffer{self.name} = {kind}
func.func @{self.name}(%out: memref<4xf32>, %f: f32, %w2: vector<2xf32>, %w4: vector<4xf32>)
    attributes {{gpu.known_block_size = array<i32: {self.block[0]}, {self.block[1]}, 1>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %trips = arith.constant {self.trips} : index
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %lane = gpu.lane_id
  %b = memref.alloc() : !buffer{self.name}
  scf.for %k = %c0 to %c8 step %c1 {{
{body}
    gpu.barrier
    %back = memref.load %b[%c0] : !buffer{self.name}
    memref.store %back, %out[%c0] : memref<4xf32>
    gpu.barrier
  }}
  return
}}
"""

    def execute(self) -> tuple[bool, bool, bool]:
        """Whether the buffer is overwritten, whether the pass must see it, and whether all of it is in bounds."""
        written: set[int] = set()
        clean = True
        for number in range(self.threads):
            thread = Thread(number % self.block[0], number // self.block[0], number % WAVE)
            for store in self.stores:
                written.update(store(thread))
            clean &= thread.clean
        inside = all(0 <= element < self.elements for element in written)
        return len(written & set(range(self.elements))) == self.elements, clean, inside


def main() -> int:
    rng = random.Random(SEED)
    programs = [Program(number, rng) for number in range(CASES)]
    text = "\n".join(program.build() for program in programs)
    pipeline = "builtin.module(func.func(smalti-multi-buffer{target=gfx942}))"
    result = subprocess.run(
        [sys.argv[1], "-", f"--pass-pipeline={pipeline}", "--remarks-filter=smalti-multi-buffer", "-o", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        print(result.stderr[-3000:])
        return 1
    taken = dict.fromkeys((program.name for program in programs), False)
    taken.update((name, True) for name in re.findall(r"\[Passed\].*Function=(\w+)", result.stderr))
    wrong = overwritten = refused = 0
    for program in programs:
        full, clean, inside = program.execute()
        if not inside:
            continue  # undefined
        overwritten += full
        refused += not full
        if taken[program.name] and not full:
            print(f"{program.name} gets slots and is not overwritten")
            wrong += 1
        if full and clean and not taken[program.name]:
            print(f"{program.name} is overwritten and gets no slots")
            wrong += 1
    if min(overwritten, refused) < CASES // 10:
        print(f"the programs prove nothing: {overwritten} overwritten, {refused} not")
        return 1
    print(f"{overwritten} buffers are overwritten, {refused} are not, {wrong} answers are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
