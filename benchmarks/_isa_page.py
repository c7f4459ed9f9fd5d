# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of benchmarks/isa.py: one HTML file without scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from _isa_code import KINDS

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; max-width: 100em }
table { border-collapse: collapse; margin: .5em 0 }
th, td { border: 1px solid #ccc; padding: .15em .5em; text-align: right; vertical-align: top }
th:first-child, td:first-child, td.text { text-align: left }
.worse { background: #fdd } .better { background: #dfd } .failed { background: #eee; text-align: left }
pre { font-size: 11px; margin: 0; text-align: left } details { margin: .3em 0 }
"""

_METHOD = """
Both sides compile the same kernel for the same chip, tile, types and number of threads, with all sizes constant. Numbers are
instructions that all warps of a block execute. The control flow of each warp is executed: integer, predicate and scalar
instructions are computed from the numbers of block and thread, and everything else is unknown. NVIDIA code is executed for
lane 0 of each warp, AMD code for all lanes of a wave. An mbarrier wait succeeds at its first try. A branch on an unknown
condition takes the shorter path to the end; the column "undecided" has the number of such branches. An instruction whose
predicate is false counts, because it takes an issue slot. Steady-state loops are the innermost loops that a warp repeats.
For matmuls the figures are instructions other than MMAs per 4096 multiply-accumulates; for loops, those that the MMAs of the
loops compute. "MMA work" is the multiply-accumulates of all counted MMAs, divided by those of the kernel's tiles: a check of
the counts, 1 where no MMA is wasted. Occupancy is in warps per SM or CU, as registers, shared memory and threads allow.
"Conflicts" are the cycles that bank conflicts in the loops cost per 4096 multiply-accumulates of a warp, by the
compiler's model of the banks. They are "-" if an address is unknown. "Issue bound" is the time that the loops take of the
issue slots of a part of an SM or CU, divided by that of its matrix unit. Issue slots limit the speed above 1. "llvm-mca" has the cycles that llvm-mca computes for 4096 multiply-accumulates of one wave in the
loop, where LLVM models the chip.
"""


SIDES = ("ours", "Triton", "IREE")
"""In the order of the columns. Only some matmuls have a kernel of IREE."""

RESOURCES = {
    "conflicts": "conflicts",
    "warps": "warps",
    "registers": "registers",
    "spills": "spills",
    "shared memory": "shared",
    "occupancy": "occupancy",
    "issue bound": "issue bound",
    "llvm-mca": "mca cycles",
    "MMA work": "MMA work",
    "undecided": "undecided",
}
"""Columns of the table, and the names of their figures."""


def number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def _ratio_cell(value: float | None) -> str:
    style = "" if value is None else " class=worse" if value > 1.05 else " class=better" if value < 0.95 else ""
    return f"<td{style}>{number(value)}</td>"


def _sides(cell: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, cell[name]) for name in SIDES if name in cell]


def _row(cell: dict[str, Any], link: str) -> str:
    sides = _sides(cell)

    def both(name: str) -> str:
        return f"<td>{' / '.join(number(side.get(name)) for _, side in sides)}</td>"

    first = (
        f"<td><a href='#{link}'>{escape(cell['kernel'])}</a></td><td>{cell['chip']}</td><td>{escape(cell['per'])}</td>"
    )
    if error := cell["ours"].get("error"):
        return f"<tr>{first}<td class=failed colspan={len(RESOURCES) + 4}>{escape(error)}</td></tr>"
    return (
        f"<tr>{first}{both('rate')}{_ratio_cell(cell.get('rate ratio'))}"
        f"{both('loop rate')}{_ratio_cell(cell.get('loop rate ratio'))}"
        f"{''.join(both(name) for name in RESOURCES.values())}</tr>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{escape(text)}</th>" for text in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _detail(cell: dict[str, Any], link: str, loops: Callable[[dict[str, Any], str], list[list[str]]]) -> str:
    sides = [(name, side) for name, side in _sides(cell) if "error" not in side]
    errors = [f"<p>{name}: {escape(side['error'])}</p>" for name, side in _sides(cell) if "error" in side]
    names = [name for name, _ in sides]
    columns = [f"{name}{of}" for of in ("", ", loops") for name in names]
    in_loops = [
        {kind: sum(loop["kinds"].get(kind, 0) for loop in side["loops"]) for kind in KINDS} for _, side in sides
    ]
    kinds = []
    for kind in KINDS:
        row = [side["kinds"].get(kind, 0) for _, side in sides] + [counted[kind] for counted in in_loops]
        if any(row):
            kinds.append([kind, *(str(value) for value in row)])
    totals = [side["executed"] for _, side in sides] + [sum(counted.values()) for counted in in_loops]
    kinds.append(["all", *(str(value) for value in totals)])
    if any("loop kinds" in side for _, side in sides):
        per_work = [[k, *(number(s.get("loop kinds", {}).get(k)) for _, s in sides)] for k in KINDS]
        in_loop = f"<p>In the loops, per {escape(cell['per'])}:</p>{_table(['kind', *names], per_work)}"
    else:
        in_loop = ""
    widths = []
    for memory in ("global", "shared"):
        for access in sorted({name for _, side in sides for name in side["widths"][memory]}):
            label = access if access.startswith("shared") else f"{memory} {access}"
            widths.append([label, *(str(side["widths"][memory].get(access, 0)) for _, side in sides)])
    texts = []
    for name in names:
        parts = [
            f"{loop['iterations']} iterations in {number(loop['warps'])} warps per block, "
            f"{len(lines)} instructions:\n" + "\n".join(lines)
            for loop, lines in zip(cell[name]["loops"], loops(cell, name), strict=True)
        ]
        texts.append(f"<td class=text><pre>{escape((chr(10) * 2).join(parts) or 'no loop')}</pre></td>")
    side_by_side = f"<table><tr>{''.join(f'<th>{n}</th>' for n in names)}</tr><tr>{''.join(texts)}</tr></table>"
    return (
        f"<h3 id='{link}'>{escape(cell['kernel'])}, {cell['chip']}</h3>{''.join(errors)}"
        f"<details><summary>by kind and width</summary>{_table(['kind', *columns], kinds)}{in_loop}"
        f"{_table(['access, bytes per lane', *names], widths)}</details>"
        f"<details><summary>the loops, side by side</summary>{side_by_side}</details>"
    )


def page(
    cells: Sequence[dict[str, Any]],
    versions: dict[str, str | None],
    loops: Callable[[dict[str, Any], str], list[list[str]]],
    details: int = sys.maxsize,
    absent: Sequence[dict[str, Any]] = (),
) -> str:
    """The page: the method, a table with the first cell first, details of the first cells, and the cells that do not exist,
    with the reason."""
    heads = ("kernel", "chip", "per", "whole kernel", "ratio", "loops", "ratio", *RESOURCES)
    rows = "".join(_row(cell, f"cell{i}") for i, cell in enumerate(cells))
    shown = "".join(_detail(cell, f"cell{i}", loops) for i, cell in enumerate(cells[:details]))
    failed = [(cell, name, side["error"]) for cell in cells for name, side in _sides(cell) if "error" in side]
    missing = [(cell["kernel"], cell["chip"], f"{name}: {error}") for cell, name, error in failed]
    missing += [(cell["kernel"], cell["chip"], cell["absent"]) for cell in absent]
    if missing:
        shown += f"<h2>Cells without figures</h2>{_table(('kernel', 'chip', 'reason'), missing)}"
    known = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    return (
        f"<!doctype html><meta charset=utf-8><title>Executed instructions</title><style>{_STYLE}</style>"
        f"<h1>Executed instructions, {' / '.join(SIDES)}</h1><p>{escape(_METHOD.strip())}</p><p>{escape(known)}</p>"
        f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>{shown}"
    )
