#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Largest errors of `arith` and `math` functions in ulp, by target.

The inputs of a function of one number are all values of f16 and bf16, and samples of f32 and f64. Half of a sample has
random bits, and half is in an interval that depends on the function. Functions of several numbers take samples for every
type. Zeros, infinities, NaN, denormal numbers and the ends of domains are always included. The reference is in
f64, and in 80 bits for f64. GPU code is emulated: docs/math.md has what this measures and what it does not.

Each result is written to the record when it is known. A run skips the results that the record has. At the end, the
tables of docs/math.md are replaced.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from typing import Any

import _record
import _ulp

PAGE = _record.ROOT / "docs" / "math.md"

TARGETS = ("cpu", "emu:sm_80", "emu:gfx942")
"""One chip per vendor: the device libraries compute the same on the others, which a test shows."""


def entry_of(error: _ulp.Error) -> dict[str, Any]:
    return {
        "ulp": math.ceil(error.ulp * 1000) / 1000,
        "steps": error.steps,
        "at": list(error.at),
        "inputs": error.inputs,
        **({"special": error.special} if error.special else {}),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", nargs="*", default=list(_ulp.FUNCTIONS))
    parser.add_argument("--types", nargs="*", default=list(_ulp.TYPES), choices=list(_ulp.TYPES))
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    parser.add_argument("--count", type=int, default=10_000_000, help="inputs of f32 (default: %(default)s)")
    parser.add_argument("--count-f64", type=int, default=1_000_000, help="inputs of f64 (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="measure what the record has, too")
    _record.add_option(parser, "ulp")
    options = parser.parse_args()

    record = json.loads(options.json.read_text()) if options.json.exists() else {}
    results = record.get("results", {})
    for ty, name in itertools.product(options.types, options.functions):
        known = results.setdefault(name, {}).setdefault(ty, {})
        targets = [target for target in options.targets if options.again or target not in known]
        if not targets:
            continue
        start = time.perf_counter()
        count = options.count_f64 if ty == "f64" else options.count
        errors = _ulp.measure(_ulp.FUNCTIONS[name], ty, targets, count)
        known.update({target: entry_of(error) for target, error in errors.items()})
        found = ", ".join(f"{target} {error.ulp:.3f}" for target, error in errors.items())
        print(f"{name} {ty}: {found} ({time.perf_counter() - start:.0f} s)", flush=True)
        record = {
            "what": "largest error of functions: in ulp from the exact result, in steps from the correctly rounded one",
            "versions": _record.versions(),
            "results": results,
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record) + "\n")
    _record.write(record, options.json)
    PAGE.write_text(_ulp.with_tables(PAGE.read_text(), results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
