# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines in Python: methods, options, Python passes, patterns, failures."""

from __future__ import annotations

import inspect
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import smalti
from smalti import ir
from smalti.compiler import passes, textual
from smalti.compiler.pipeline import PassFailed, PatternSet

FUNCTIONS = """\
func.func @f(%a: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %0 = arith.muli %a, %c2 : i32
  %1 = arith.muli %a, %c2 : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
gpu.module @g {
  gpu.func @h(%a: i32) kernel {
    gpu.return
  }
}
"""


def names_in(operation: Any) -> list[str]:
    found: list[str] = []
    operation.walk(lambda op: found.append(op.name) or ir.WalkResult.ADVANCE)
    return found


def test_methods_options_and_text() -> None:
    pipeline = smalti.Pipeline().canonicalize(max_iterations=3, top_down=False).cse()
    assert str(pipeline) == "builtin.module(canonicalize{max-iterations=3 top-down=false},cse)"


def test_list_options() -> None:
    pipeline = smalti.Pipeline().canonicalize(disable_patterns=["A", "B"])
    assert str(pipeline) == "builtin.module(canonicalize{disable-patterns=A,B})"
    pipeline.run(smalti.parse(FUNCTIONS))


def test_every_registered_pass_has_a_method() -> None:
    from smalti._mlir_libs import _smalti

    methods = passes.methods()
    assert {item.name for item in methods.values()} == set(passes.registered())
    for name, item in methods.items():
        assert name.isidentifier()
        assert _smalti.is_pass_registered(item.name), item.name
        method = getattr(smalti.Pipeline(), name)
        assert method.__doc__.strip()
        assert list(inspect.signature(method).parameters) == [option.keyword for option in item.options]


def test_our_passes_lose_their_prefix() -> None:
    found = passes.method_names(
        {n: passes.Pass(n, "", "", "", ()) for n in ("smalti-lower-pad", "smalti-cse", "cse", "convert-a-to-b")}
    )
    assert sorted(found) == ["convert_a_to_b", "cse", "lower_pad", "smalti_cse"]


def test_unknown_pass_option_type_and_choice() -> None:
    with pytest.raises(AttributeError, match="pass 'nonsense' does not exist"):
        smalti.Pipeline().nonsense()
    with pytest.raises(smalti.PipelineError, match="canonicalize does not have an option 'depth'"):
        smalti.Pipeline().canonicalize(depth=1)
    with pytest.raises(smalti.PipelineError, match="'max_iterations' must be int, not str"):
        smalti.Pipeline().canonicalize(max_iterations="many")
    with pytest.raises(smalti.PipelineError, match="'max_iterations' must be int, not bool"):
        smalti.Pipeline().canonicalize(max_iterations=True)
    with pytest.raises(smalti.PipelineError, match="'region_simplify' must be one of disabled, normal, aggressive"):
        smalti.Pipeline().canonicalize(region_simplify="no")


def test_passes_are_nested_where_they_run() -> None:
    item = next(p for p in passes.registered().values() if p.op == "func.func" and not p.options)
    name = next(n for n, p in passes.methods().items() if p is item)
    assert str(getattr(smalti.Pipeline(), name)()) == f"builtin.module(func.func({item.name}))"
    on_functions = getattr(smalti.Pipeline(), name)()
    assert str(smalti.Pipeline().on("func.func", on_functions)) == f"builtin.module(func.func({item.name}))"
    assert str(smalti.Pipeline().on("gpu.module", smalti.Pipeline().cse())) == "builtin.module(gpu.module(cse))"


def test_passes_on_any_function_reach_gpu_modules() -> None:
    name, item = next((n, p) for n, p in passes.methods().items() if p.op == "any" and not p.options)
    pipeline = getattr(smalti.Pipeline(), name)()
    assert str(pipeline) == f"builtin.module(any({item.name}),gpu.module(any({item.name})))"
    pipeline.run(smalti.parse(FUNCTIONS))


@pytest.mark.parametrize("text", ["builtin.module(cse", "cse)", "cse,,cse", "canonicalize{a=(}", "builtin.module(?)"])
def test_malformed_text(text: str) -> None:
    with pytest.raises(smalti.PipelineError, match=r"does not parse(.|\n)*\^"):
        smalti.Pipeline(text)


@pytest.mark.parametrize(
    "text",
    [
        "cse",
        "canonicalize{max-iterations=3},cse",
        "func.func(cse,canonicalize),gpu.module(gpu.func(cse))",
        'gpu-module-to-binary{opts="-a , )}" format=isa}',
        "any(cse)",
    ],
)
def test_text_round_trip(text: str) -> None:
    assert textual.to_text(textual.parse(text)) == text
    assert str(smalti.Pipeline(f"builtin.module({text})")) == f"builtin.module({text})"


def test_unknown_pass_in_text() -> None:
    with pytest.raises(smalti.PipelineError, match="'nonsense' does not refer to a registered pass"):
        smalti.Pipeline("nonsense").run(smalti.parse(FUNCTIONS))


def test_python_pass_in_the_middle() -> None:
    seen: list[list[str]] = []
    module = smalti.parse(FUNCTIONS)

    def look(op: Any) -> None:
        seen.append(names_in(op.operation))

    smalti.Pipeline().add(look).cse().add(look).run(module)
    before, after = seen
    assert before.count("arith.muli") == 2 and after.count("arith.muli") == 1


def test_python_pass_on_matching_operations_only() -> None:
    seen: list[str] = []
    pipeline = smalti.Pipeline().on(
        "gpu.module", smalti.Pipeline().add(lambda op: seen.append(op.operation.name), op="gpu.func")
    )
    pipeline.add(lambda op: seen.append(op.operation.name), op="func.func")
    # An operation of this name does not exist: nothing is called, and nothing aborts.
    pipeline.add(lambda op: seen.append("never"), op="spirv.module")
    pipeline.run(smalti.parse(FUNCTIONS))
    assert seen == ["gpu.func", "func.func"]


def test_python_pass_with_a_handle_can_signal_failure() -> None:
    def refuse(op: Any, pass_: Any) -> None:
        pass_.signal_pass_failure()

    with pytest.raises(PassFailed, match="'refuse' signaled failure"):
        smalti.Pipeline().add(refuse).run(smalti.parse(FUNCTIONS))


def test_a_parameter_with_a_default_value_is_not_the_handle() -> None:
    seen: list[str] = []
    pipeline = smalti.Pipeline()
    for name in ("first", "second"):
        pipeline.add(lambda op, name=name: seen.append(name))
    pipeline.run(smalti.parse(FUNCTIONS))
    assert seen == ["first", "second"]


def test_exception_in_a_python_pass_reaches_the_caller() -> None:
    class Mine(Exception):
        pass

    def fail(op: Any) -> None:
        raise Mine("not today")

    with pytest.raises(Mine, match="not today") as caught:
        smalti.Pipeline().cse().add(fail).cse().run(smalti.parse(FUNCTIONS))
    assert "in the Python pass 'fail'" in caught.value.__notes__


def test_invalid_module_after_a_python_pass_is_reported() -> None:
    def damage(module: Any) -> None:
        function = module.operation.regions[0].blocks[0].operations[0].operation
        function.attributes["sym_name"] = ir.StringAttr.get("g")

    with pytest.raises(smalti.VerifyError, match="the Python pass 'damage' produced an invalid module"):
        smalti.Pipeline().add(damage).run(smalti.parse(FUNCTIONS))


def strength_reduce(patterns: PatternSet) -> None:
    """x * 2 -> x + x"""

    def rewrite(op: Any, rewriter: Any) -> bool:
        constant = op.operands[1].owner
        if constant.name != "arith.constant" or ir.IntegerAttr(constant.attributes["value"]).value != 2:
            return True
        with rewriter.ip:
            add = ir.Operation.create(
                "arith.addi", results=[op.results[0].type], operands=[op.operands[0]] * 2, loc=op.location
            )
        rewriter.replace_op(op, add)
        return False

    patterns.add("arith.muli", rewrite)


@pytest.mark.parametrize("walk", [False, True])
def test_patterns_in_the_middle(walk: bool) -> None:
    module = smalti.parse(FUNCTIONS)
    smalti.Pipeline().cse().patterns(strength_reduce, walk=walk).canonicalize().run(module)
    names = names_in(module.operation)
    assert "arith.muli" not in names and names.count("arith.addi") == 2


def test_frozen_pattern_set_of_the_bindings() -> None:
    from smalti import rewrite

    module = smalti.parse(FUNCTIONS)
    seen: list[str] = []
    with module.context:
        patterns = rewrite.RewritePatternSet()
        patterns.add("arith.muli", lambda op, rewriter: seen.append(op.name) or True)
        frozen = patterns.freeze()
    smalti.Pipeline().patterns(frozen).run(module)
    assert seen


@pytest.mark.parametrize("walk", [False, True])
def test_exception_in_a_pattern_reaches_the_caller(walk: bool) -> None:
    def fill(patterns: PatternSet) -> None:
        def fail(op: Any, rewriter: Any) -> None:
            raise KeyError("lost")

        patterns.add("arith.muli", fail)

    with pytest.raises(KeyError, match="lost"):
        smalti.Pipeline().patterns(fill, walk=walk).run(smalti.parse(FUNCTIONS))


def test_patterns_without_fixed_point() -> None:
    def fill(patterns: PatternSet) -> None:
        def swap(op: Any, rewriter: Any) -> None:
            with rewriter.ip:
                new = ir.Operation.create(
                    op.name, results=[op.results[0].type], operands=[op.operands[1], op.operands[0]], loc=op.location
                )
            rewriter.replace_op(op, new)

        patterns.add("arith.addi", swap)

    with pytest.raises(smalti.PipelineError, match="fixed point"):
        smalti.Pipeline().patterns(fill).run(smalti.parse(FUNCTIONS))


def test_registered_python_pass_by_name() -> None:
    seen: list[str] = []
    smalti.register_pass("test-look", lambda op: seen.append(op.operation.name), op="func.func")
    smalti.Pipeline("builtin.module(canonicalize, test-look, func.func(cse, test-look, cse))").run(
        smalti.parse(FUNCTIONS)
    )
    smalti.Pipeline().test_look().run(smalti.parse(FUNCTIONS))
    assert seen == ["func.func"] * 3


def test_registered_names_are_checked() -> None:
    with pytest.raises(smalti.PipelineError, match="a pass named 'cse' is already registered"):
        smalti.register_pass("cse", lambda op: None)
    with pytest.raises(smalti.PipelineError, match="not a valid pass name"):
        smalti.register_pass("a b", lambda op: None)


def test_failing_pipeline_leaves_a_reproducer_that_replays(reproducers: Path) -> None:
    module = smalti.parse("gpu.module @m {\n  gpu.func @k(%a: tensor<4xf32>) kernel {\n    gpu.return\n  }\n}\n")
    with pytest.raises(smalti.CompileError) as caught:
        smalti.Pipeline("builtin.module(cse,gpu.module(convert-gpu-to-nvvm))").run(module)
    error = caught.value
    assert "failed to legalize" in str(error)
    assert error.reproducer is not None and error.reproducer.parent == reproducers
    assert error.reproducer.name.startswith("smalti-reproducer-")
    assert error.command is not None and f"to replay: {error.command}" in str(error)
    written = error.reproducer.read_text()
    assert "// llvm 22" in written and "mlir_reproducer" in written
    replay = subprocess.run(shlex.split(error.command), capture_output=True, text=True, timeout=120, check=False)
    assert replay.returncode != 0
    assert "failed to legalize" in replay.stderr


def test_remarks_are_returned_with_their_parts() -> None:
    from smalti.remarks import collect

    module = smalti.parse(FUNCTIONS)
    into: list[smalti.Remark] = []
    with collect(module.context, into):
        pass
    assert into == []
    # A second collector on the same context starts empty and ends cleanly.
    assert smalti.Pipeline().cse().run(module) == []


def test_dump_ir_numbers_what_every_pass_left(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    smalti.Pipeline().canonicalize().add(lambda op: None).cse().run(smalti.parse(FUNCTIONS), dump_ir=folder)
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.mlir"))
    assert any("canonicalize" in name for name in files) and any("cse" in name for name in files)


def test_stub_is_fresh(tmp_path: Path) -> None:
    import smalti.compiler._generate_pipeline_stub as generator

    package = Path(next(iter(smalti.__path__)))
    for name, generate in (("pipeline", generator.generate), ("options", generator.generate_options)):
        stub = (package / "compiler" / f"{name}.pyi").read_text()
        assert stub == generate(package / "_passes.json")
        compile(stub, f"{name}.pyi", "exec")
    listed = {entry["name"] for entry in json.loads((package / "_passes.json").read_text())}
    assert listed == set(passes.registered())
