# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of layout inference with that of JAX, for each op of modules that JAX printed.

    python compare_inference.py [--json FILE] [--all] FOLDER_OR_NAME.mlir...

Every NAME.mlir with a NAME.inferred.mlir or NAME.refused.txt in its folder (see printer/) runs through the pass
`mosaic-gpu-infer-layouts`. The comparison uses attributes of the parsed modules, so two spellings of one layout are
equal. If ops differ, the estimated costs of both modules, from `mosaic-gpu-evaluate-layouts`, determine the result:

- equal: every op has the layouts of JAX, and no relayout was inserted that JAX does not have;
- cheaper, same cost, dearer: the layouts of an op differ;
- ours alone: only JAX reports an error; theirs alone: only this pass reports an error; both refuse.

The exit code is 1 if a module is dearer or theirs alone.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from smalti import Pipeline, SmaltiError, ir
from smalti.compiler import driver
from smalti.dialects import mosaic_gpu

LAYOUTS = (
    "in_layouts",
    "out_layouts",
    "in_transforms",
    "out_transforms",
    "in_tmem_layouts",
    "out_tmem_layouts",
)
INFER = "mosaic-gpu-infer-layouts"
EVALUATE = "mosaic-gpu-evaluate-layouts"


@dataclass
class Difference:
    """One op that is not as in JAX's module."""

    op: str
    """The first line of its text, without attributes."""
    kind: str
    """`differs`, `inserted` (JAX does not have it) or `missing`."""
    what: list[str] = field(default_factory=list)
    """Each layout that differs: JAX's, then ours."""


@dataclass
class Comparison:
    """The result for a module."""

    name: str
    verdict: str = "equal"
    ops: int = 0
    """Those that have layouts."""
    differences: list[Difference] = field(default_factory=list)
    jax_cost: tuple[int, int] | None = None
    """Cycles and registers."""
    cost: tuple[int, int] | None = None
    message: str = ""
    """Where someone refuses."""

    def __str__(self) -> str:
        costs = ""
        if self.differences and self.cost is not None and self.jax_cost is not None:
            costs = ", cycles {} -> {}, registers {} -> {}".format(
                *(number for pair in zip(self.jax_cost, self.cost, strict=True) for number in pair)
            )
        ops = f", {len(self.differences)} of {self.ops} ops differ" if self.differences else f", {self.ops} ops"
        lines = [f"{self.name}: {self.verdict}{ops if self.ops else ''}{costs}"]
        if self.message:
            lines += [f"    {line}" for line in self.message.splitlines()]
        for difference in self.differences:
            lines.append(f"  {difference.kind}: {difference.op}")
            lines += [f"    {line}" for line in difference.what]
        return "\n".join(lines)


def canonical(attribute: ir.Attribute) -> Any:
    """The canonical form of a layout, equal for all its spellings."""
    if isinstance(attribute, ir.ArrayAttr):
        # A swizzle over one chunk changes nothing.
        entries = [canonical(entry) for entry in attribute]
        return tuple(entry for entry in entries if entry != ("swizzle", 16))
    if isinstance(attribute, mosaic_gpu.TiledLayoutAttr):
        return str(attribute.layout.canonical())
    if isinstance(attribute, mosaic_gpu.SwizzleTransformAttr):
        return ("swizzle", attribute.swizzle)
    return str(attribute)


def walk(operation: Any) -> Iterator[Any]:
    """The op and those in its regions, before and after each other as in the text."""
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield from walk(view.operation)


def _layouts(operation: Any) -> dict[str, ir.Attribute]:
    return {name: operation.attributes[name] for name in LAYOUTS if name in operation.attributes}


def _key(operation: Any) -> tuple[str, ...]:
    """The op without its layouts."""
    types = [str(value.type) for value in (*operation.operands, *operation.results)]
    return (operation.name, *types)


def _brief(operation: Any) -> str:
    operands = ", ".join(str(operand.type) for operand in operation.operands)
    results = ", ".join(str(result.type) for result in operation.results)
    text = f"{operation.name}({operands})"
    return f"{text} -> {results}" if results else text


def _text(attribute: ir.Attribute | None) -> str:
    return "none" if attribute is None else str(attribute).replace("#mosaic_gpu.", "")


def differing_layouts(theirs: Any, ours: Any) -> list[str]:
    """The layouts in which two ops differ."""
    first, second = _layouts(theirs), _layouts(ours)
    found = []
    for name in LAYOUTS:
        left, right = first.get(name), second.get(name)
        if left is None and right is None:
            continue
        if isinstance(left, ir.ArrayAttr) and isinstance(right, ir.ArrayAttr) and len(left) == len(right):
            for index, (one, other) in enumerate(zip(left, right, strict=True)):
                if canonical(one) != canonical(other):
                    found.append(f"{name}[{index}]: JAX has {_text(one)}, ours is {_text(other)}")
        elif left is None or right is None or canonical(left) != canonical(right):
            found.append(f"{name}: JAX has {_text(left)}, ours is {_text(right)}")
    return found


def compare_modules(theirs: Any, ours: Any) -> tuple[int, list[Difference]]:
    """How many ops have layouts, and which differ; both modules are of one context."""
    first = [op for op in walk(theirs.operation) if _layouts(op)]
    second = [op for op in walk(ours.operation) if _layouts(op)]
    left, right = [_key(op) for op in first], [_key(op) for op in second]
    differences = []
    for tag, i, j, k, m in difflib.SequenceMatcher(a=left, b=right, autojunk=False).get_opcodes():
        if tag == "equal":
            for one, other in zip(first[i:j], second[k:m], strict=True):
                if what := differing_layouts(one, other):
                    differences.append(Difference(_brief(one), "differs", what))
            continue
        differences += [Difference(_brief(op), "missing", _all_layouts(op)) for op in first[i:j]]
        differences += [Difference(_brief(op), "inserted", _all_layouts(op)) for op in second[k:m]]
    return len(first), differences


def _all_layouts(operation: Any) -> list[str]:
    return [f"{name}: {_text(attribute)}" for name, attribute in _layouts(operation).items()]


def cost(module: Any) -> tuple[int, int]:
    """The estimated cost of the layouts of a module: cycles, then registers."""
    remarks = Pipeline(f"builtin.module({EVALUATE})").run(module)
    totals = [
        re.fullmatch(r"estimated cost of all layouts: (\d+) cycles and (\d+) registers per thread, .*", remark.message)
        for remark in remarks
    ]
    (total,) = [found for found in totals if found]
    return int(total[1]), int(total[2])


def compare(path: Path, options: str = "") -> Comparison:
    """Infers the layouts of a module and compares them with those of JAX."""
    name = path.name.removesuffix(".mlir")
    result = Comparison(name)
    refused = path.with_name(f"{name}.refused.txt")
    ours = driver.parse(path)
    failure = None
    try:
        Pipeline(f"builtin.module({INFER}{options})").run(ours)
    except SmaltiError as error:
        failure = str(error)
    if refused.exists():
        result.verdict = "both refuse" if failure else "ours alone"
        result.message = f"JAX: {refused.read_text().strip()[:300]}" + (f"\nours: {failure}" if failure else "")
        result.ops = 0 if failure else sum(bool(_layouts(op)) for op in walk(ours.operation))
        result.cost = None if failure else cost(ours)
        return result
    if failure is not None:
        result.verdict, result.message = "theirs alone", failure
        return result
    with ours.context:
        theirs = ir.Module.parse(path.with_name(f"{name}.inferred.mlir").read_text())
        result.ops, result.differences = compare_modules(theirs, ours)
    result.jax_cost, result.cost = cost(theirs), cost(ours)
    if result.differences:
        sign = (result.cost > result.jax_cost) - (result.cost < result.jax_cost)
        result.verdict = ("same cost", "dearer", "cheaper")[sign]
    return result


def find(paths: Sequence[Path]) -> Iterator[Path]:
    """The modules before inference, those of folders in the order of their names."""
    for path in paths:
        files = sorted(path.glob("*.mlir")) if path.is_dir() else [path]
        for file in files:
            stem = file.name.removesuffix(".mlir")
            if not stem.endswith(".inferred") and any(
                file.with_name(stem + suffix).exists() for suffix in (".inferred.mlir", ".refused.txt")
            ):
                yield file


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares layout inference with JAX's.")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--json", type=Path, help="write all of it to this file")
    parser.add_argument("--all", action="store_true", help="print the modules that are equal too")
    parser.add_argument("--options", default="", help="options of the pass, as fuel=100")
    arguments = parser.parse_args()
    options = f"{{{arguments.options}}}" if arguments.options else ""
    results = []
    for path in find(arguments.paths):
        result = compare(path, options)
        results.append(result)
        if arguments.all or result.verdict != "equal":
            print(result, flush=True)
    verdicts = Counter(result.verdict for result in results)
    print(f"{len(results)} modules: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    sys.exit(any(verdicts[verdict] for verdict in ("dearer", "theirs alone")))


if __name__ == "__main__":
    main()
