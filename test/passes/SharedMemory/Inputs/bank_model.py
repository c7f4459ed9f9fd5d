# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random access patterns: conflicts and paddings of smalti-pad-shared-memory, compared with a cycle-accurate simulation.

The phases follow the vendors' documents and are independent of the target table:

- NVIDIA: CUDA C++ Programming Guide, "Shared Memory" (32 banks of 4 bytes, words are broadcast); GTC 2022 S41723 (half
  warps for 8 bytes a lane, quarters for 16)
- AMD: Composable Kernel, "Understanding AMD GPU LDS and Bank Conflicts" (CDNA2, CDNA3); Triton's pull request 11365
  (CDNA4)
"""

from __future__ import annotations

import random
import re
import subprocess
import sys

CDNA3_READ = [
    [*range(4), *range(20, 24)],
    [*range(4, 8), *range(16, 20)],
    [*range(8, 12), *range(28, 32)],
    [*range(12, 16), *range(24, 28)],
]
CDNA4_READ = [
    [*range(4), *range(12, 16), *range(20, 24), *range(24, 28)],
    [*range(4, 8), *range(8, 12), *range(16, 20), *range(28, 32)],
]


def in_order(lanes: int, size: int) -> list[list[int]]:
    return [list(range(first, first + size)) for first in range(0, lanes, size)]


def twice(groups: list[list[int]]) -> list[list[int]]:
    return groups + [[lane + 32 for lane in group] for group in groups]


# (banks, lanes, phases of an access by its bytes)
CHIPS = {
    "sm_80": (32, 32, lambda size, read: in_order(32, {4: 32, 8: 16, 16: 8}[size])),
    "gfx942": (
        32,
        64,
        lambda size, read: (
            twice(CDNA3_READ) if (size, read) == (16, True) else in_order(64, {4: 32, 8: 16, 16: 8}[size])
        ),
    ),
    "gfx950": (
        64,
        64,
        lambda size, read: (
            twice(CDNA4_READ) if (size, read) == (16, True) else in_order(64, {4: 64, 8: 32, 16: 16}[size])
        ),
    ),
    "gfx1201": (32, 32, lambda size, read: in_order(32, {4: 32, 8: 16, 16: 8}[size])),
}


def simulate(chip: str, size: int, read: bool, addresses: list[int]) -> tuple[int, int]:
    """Cycles and conflicts of one wave: in each cycle a bank serves one word to all lanes that access it."""
    banks, _, phases = CHIPS[chip]
    cycles = conflicts = 0
    for group in phases(max(size, 4), read):
        waiting = {(addresses[lane] + byte) // 4 for lane in group for byte in range(size)}
        taken = 0
        while waiting:
            busy: set[int] = set()
            for word in sorted(waiting):
                if word % banks not in busy:
                    busy.add(word % banks)
                    waiting.remove(word)
            taken += 1
        cycles += taken
        conflicts += max(taken - 1, 0)
    return cycles, conflicts


class Pattern:
    """A load or store of a vector at (row, column), both random functions of the lane."""

    def __init__(self, rng: random.Random) -> None:
        self.chip = rng.choice(list(CHIPS))
        self.element, self.type = rng.choice([(1, "i8"), (2, "f16"), (4, "f32"), (8, "f64")])
        self.width = rng.choice([w for w in (1, 2, 4, 8, 16) if w * self.element <= 16])
        self.read = rng.random() < 0.5
        self.rows = 32
        self.columns = rng.choice([16, 32, 40, 64, 104, 128])
        while self.columns % self.width:
            self.columns *= 2
        self.chunks = self.columns // self.width
        self.divisor = rng.choice([1, 2, 4, 8, 16, 32])
        self.factor = rng.choice([1, 1, 2, 3, 4])
        self.flip = rng.choice([0, 0, 1, 3])
        self.transposed = rng.random() < 0.5

    def place(self, lane: int) -> tuple[int, int]:
        row, chunk = (lane // self.divisor, lane % self.divisor)
        if self.transposed:
            row, chunk = lane % self.divisor, lane // self.divisor
        return (row * self.factor) % self.rows, ((chunk ^ self.flip) % self.chunks) * self.width

    def text(self, name: str) -> str:
        memref = f"memref<{self.rows}x{self.columns}x{self.type}, #gpu.address_space<workgroup>>"
        vector = f"vector<{self.width}x{self.type}>"
        major, minor = ("remui", "divui") if self.transposed else ("divui", "remui")
        access = (
            f"%v = vector.load %b[%r, %c] : {memref}, {vector}"
            if self.read
            else f"vector.store %x, %b[%r, %c] : {memref}, {vector}"
        )
        return f"""
func.func @{name}(%x: {vector}) {{
  %d = arith.constant {self.divisor} : index
  %f = arith.constant {self.factor} : index
  %e = arith.constant {self.flip} : index
  %n = arith.constant {self.rows} : index
  %m = arith.constant {self.chunks} : index
  %w = arith.constant {self.width} : index
  %lane = gpu.thread_id x
  %major = arith.{major} %lane, %d : index
  %minor = arith.{minor} %lane, %d : index
  %r0 = arith.muli %major, %f : index
  %r = arith.remui %r0, %n : index
  %c0 = arith.xori %minor, %e : index
  %c1 = arith.remui %c0, %m : index
  %c = arith.muli %c1, %w : index
  %b = memref.alloc() : {memref}
  {access}
  return
}}"""

    def cost(self, padding: int) -> tuple[int, int]:
        lanes = CHIPS[self.chip][1]
        pitch = self.columns + padding
        positions = [self.place(lane) for lane in range(lanes)]
        addresses = [(row * pitch + column) * self.element for row, column in positions]
        return simulate(self.chip, self.width * self.element, self.read, addresses)


def run(opt: str, chip: str, patterns: list[Pattern]) -> dict[str, str]:
    text = "".join(pattern.text(f"f{i}") for i, pattern in enumerate(patterns))
    pipeline = f"builtin.module(func.func(smalti-pad-shared-memory{{target={chip}}}))"
    command = [opt, "-", f"--pass-pipeline={pipeline}", "--remarks-filter=smalti-pad-shared-memory", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r'Function=(\w+) \| Remark="(.*?)"', done.stderr))


def check(pattern: Pattern, remark: str) -> str:
    """Compares a remark with the simulation, and returns its kind."""
    _, conflicts = pattern.cost(0)
    if conflicts == 0:
        assert remark == "rows not padded: no bank conflicts in 1 access", (vars(pattern), remark)
        return "no conflicts"
    step = pattern.width * pattern.element
    costs = {size // pattern.element: pattern.cost(size // pattern.element) for size in range(step, 129, step)}
    best = min(costs, key=lambda padding: (costs[padding][0], padding))
    if costs[best][0] >= pattern.cost(0)[0]:
        expected = (
            f"rows not padded: no padding of up to 128 B in steps of {step} B reduces the {conflicts} bank conflicts"
        )
        assert remark == expected, (vars(pattern), remark, expected)
        return "no padding helps"
    expected = (
        f"rows padded by {best} element{'s' * (best != 1)} ({best * pattern.element} B): {costs[best][1]} bank conflicts instead of "
        f"{conflicts} in 1 access"
    )
    assert remark.startswith(expected), (vars(pattern), remark, expected)
    return "padded"


def main(opt: str, seed: int = 0, count: int = 400) -> None:
    rng = random.Random(seed)
    patterns = [Pattern(rng) for _ in range(count)]
    seen = set()
    for chip in CHIPS:
        own = [pattern for pattern in patterns if pattern.chip == chip]
        remarks = run(opt, chip, own)
        for i, pattern in enumerate(own):
            seen.add(check(pattern, remarks[f"f{i}"]))
    assert seen == {"no conflicts", "no padding helps", "padded"}
    print(f"{len(patterns)} patterns agree")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
