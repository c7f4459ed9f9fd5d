# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembles every text that `smalti-ptx-table` prints, with the PTX version and the chip that the table names.

    smalti-ptx-table | python assemble_table.py PTXAS

All texts of an instruction are functions of one module. The table names the oldest version and chip that have the
instruction. The first text must be refused with the version before and on the chip before, if Smalti supports them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TYPES = {"h": "b16", "r": "b32", "l": "b64", "f": "f32", "d": "f64"}
VERSIONS = (65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)
OLDEST_VERSION, OLDEST_CHIP = 70, 80
"""The oldest that Smalti supports."""
CHIPS = (75, 80, 86, 89, 90, 100, 103, 120)


def function(number: int, entry: dict[str, Any]) -> str:
    """A kernel with one assembly text. A read-write operand is two operands in LLVM, of which the text names one."""
    letters = entry["written"] + entry["changed"] * 2 + entry["read"]
    registers = [f"%{letter}{place}" for place, letter in enumerate(letters)]
    declared = "".join(f".reg .{TYPES[letter]} %{letter}{place};\n" for place, letter in enumerate(letters))
    text = re.sub(r"\$(\d+)", lambda match: registers[int(match[1])], entry["text"])
    return f".visible .entry k{number}() {{\n{declared}{text}\nret;\n}}\n"


def assemble(ptxas: str, entries: list[dict[str, Any]], version: int, chip: str) -> str:
    """The errors of the assembler; empty if it accepts the entries."""
    head = f".version {version // 10}.{version % 10}\n.target {chip}\n.address_size 64\n"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "table.ptx"
        source.write_text(head + "".join(function(number, entry) for number, entry in enumerate(entries)))
        # Without the slow optimizer: the assembler sees the text as written.
        command = [ptxas, "-O0", f"-arch={chip}", str(source), "-o", str(Path(folder) / "table.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr or "it failed"


def main(ptxas: str) -> None:
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in sys.stdin:
        entry = json.loads(line)
        groups.setdefault(entry["instruction"], []).append(entry)
    for name, entries in groups.items():
        version, chip = entries[0]["version"], entries[0]["chip"]
        suffix = "a" if entries[0]["of_one_chip"] else ""
        if said := assemble(ptxas, entries, version, f"sm_{chip}{suffix}"):
            sys.exit(f"{name}: {said}")
        found = f"{name}: {len(entries)} texts for PTX {version // 10}.{version % 10} and sm_{chip}{suffix}"
        if version > OLDEST_VERSION:
            before = VERSIONS[VERSIONS.index(version) - 1]
            if not assemble(ptxas, entries[:1], before, f"sm_{chip}"):
                sys.exit(f"{name}: PTX {before} has it, too")
            found += ", no older version"
        if chip > OLDEST_CHIP:
            if not assemble(ptxas, entries[:1], version, f"sm_{CHIPS[CHIPS.index(chip) - 1]}"):
                sys.exit(f"{name}: an older chip has it, too")
            if suffix and not assemble(ptxas, entries[:1], version, f"sm_{chip}"):
                sys.exit(f"{name}: sm_{chip} has it, too")
            found += ", no older chip"
        print(found)


if __name__ == "__main__":
    main(sys.argv[1])
