#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the list of registered passes and pipelines, with their options, as JSON.

The names are those in the opt tool's --help. The facts about a pass come from its definition in a Passes.td. Pipelines
do not have definitions, so theirs come from the help text.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap


def passes_of(tblgen: str, include_dirs: list[str], td_file: str) -> list[dict]:
    """The passes that one Passes.td defines."""
    includes = [f"-I{folder}" for folder in include_dirs]
    result = subprocess.run([tblgen, "-dump-json", *includes, td_file], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{tblgen} fails on {td_file}:\n{result.stderr}")
    records = json.loads(result.stdout)
    passes = []
    for name in records["!instanceof"].get("PassBase", []):
        record = records[name]
        passes.append(
            {
                "name": record["argument"],
                "class": name,
                "summary": record["summary"],
                "description": textwrap.dedent(record["description"]).strip(),
                "op": operation_of(record["baseClass"]),
                "pipeline": False,
                "options": [option_of(records[option["def"]]) for option in record["options"]],
            }
        )
    return passes


def operation_of(base_class: str) -> str:
    """`::mlir::OperationPass<func::FuncOp>` -> `func::FuncOp`; empty for a pass on any op."""
    match = re.search(r"<(.*)>$", base_class)
    return match[1].removeprefix("::") if match else ""


def option_of(record: dict) -> dict:
    # The values of an enumeration: the C++ expression and the word for it.
    values = dict(re.findall(r"clEnumValN?\((.*?),\s*\"([^\"]+)\"", record["additionalOptFlags"], re.DOTALL))
    default = record.get("defaultValue", "")
    if default.endswith("AutoOrNumber()"):
        default = "auto"
    return {
        "name": record["argument"],
        "cppName": record["cppName"],
        "type": record["type"],
        "default": values.get(default, default),
        "description": " ".join(record["description"].split()),
        "list": "ListOption" in record["!superclasses"],
        "choices": list(values.values()),
    }


def read_help(opt: str) -> tuple[set[str], list[dict]]:
    """The names of the registered passes, and the pipelines with their options."""
    text = subprocess.run([opt, "--help"], capture_output=True, text=True, check=True).stdout
    names: set[str] = set()
    pipelines: list[dict] = []
    section = ""
    for line in text.splitlines():
        if re.match(r" {4}Passes:$", line):
            section = "passes"
        elif re.match(r" {4}Pass Pipelines:$", line):
            section = "pipelines"
        elif re.match(r" {2}--", line):
            section = ""
        elif match := re.match(r" {6}--([\w.-]+)\s+-\s*(.*)$", line):
            if section == "passes":
                names.add(match[1])
            elif section == "pipelines":
                pipelines.append(
                    {
                        "name": match[1],
                        "class": "",
                        "summary": match[2].strip(),
                        "description": "",
                        "op": "",
                        "pipeline": True,
                        "options": [],
                    }
                )
        elif section == "pipelines" and (match := re.match(r" {8}--([\w.-]+)(?:=<(.*?)>)?\s+-\s*(.*)$", line)):
            pipelines[-1]["options"].append(
                {
                    "name": match[1],
                    "cppName": "",
                    "type": match[2] or "bool",
                    "default": "",
                    "description": match[3].strip(),
                    "list": False,
                    "choices": [],
                }
            )
        elif section == "pipelines" and (match := re.match(r" +=(\S+)\s+-", line)):
            pipelines[-1]["options"][-1]["choices"].append(match[1])
    return names, pipelines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tblgen", required=True)
    parser.add_argument("--opt", required=True, help="the opt tool that registers every pass")
    parser.add_argument("-I", dest="include_dirs", action="append", default=[])
    parser.add_argument("--upstream", required=True, help="MLIR's include folder, searched for Passes.td files")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("td_files", nargs="+")
    arguments = parser.parse_args()

    upstream = sorted(str(file) for file in pathlib.Path(arguments.upstream).rglob("Passes.td"))
    names, pipelines = read_help(arguments.opt)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lists = pool.map(
            lambda file: passes_of(arguments.tblgen, arguments.include_dirs, file), [*upstream, *arguments.td_files]
        )
        passes = {entry["name"]: entry for entries in lists for entry in entries if entry["name"] in names}
    if missing := names - passes.keys():
        # Registered without a definition: still callable, with what the help text says.
        print(f"note: no Passes.td defines {', '.join(sorted(missing))}", file=sys.stderr)
    for pipeline in pipelines:
        # A pipeline that is one case of a pass has the options of the pass, which its help does not repeat.
        general = passes.get(pipeline["name"].rpartition("-")[0])
        if general and not pipeline["options"]:
            pipeline["options"] = general["options"]
    entries = sorted([*passes.values(), *pipelines], key=lambda entry: entry["name"])
    arguments.output.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
