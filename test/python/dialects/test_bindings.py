# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR's Python bindings under the package's prefix, and the additions of Smalti's extension."""

from __future__ import annotations

import ast
import importlib
import json
from pathlib import Path

import pytest
from smalti import ir, passmanager, rewrite
from smalti._mlir_libs import _smalti
from smalti.dialects import arith, func

PACKAGE = Path(ir.__file__).parent

DIALECTS = [
    "affine",
    "amdgpu",
    "arith",
    "async_dialect",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "func",
    "gpu",
    "index",
    "linalg",
    "llvm",
    "math",
    "memref",
    "mosaic_gpu",
    "nvgpu",
    "nvvm",
    "pdl",
    "rocdl",
    "scf",
    "shape",
    "tensor",
    "transform",
    "triton_xla",
    "ub",
    "vector",
]
TRANSFORM_EXTENSIONS = [
    "bufferization",
    "debug",
    "extras",
    "gpu",
    "interpreter",
    "loop",
    "memref",
    "nvgpu",
    "pdl",
    "structured",
    "tensor",
    "tune",
    "vector",
]

# The buffer is filled and read in every iteration: a second slot lets the next fill overlap.
LOOP = """
func.func @f(%a: memref<64x64xf16>, %out: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f16
  %smem = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = vector.transfer_read %a[%c0, %c0], %zero : memref<64x64xf16>, vector<64x64xf16>
    vector.transfer_write %v, %smem[%c0, %c0] : vector<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %r = vector.transfer_read %smem[%c0, %c0], %zero
      : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<64x64xf16>
    vector.transfer_write %r, %out[%c0, %c0] : vector<64x64xf16>, memref<64x64xf16>
    gpu.barrier
  }
  return
}
"""
MULTI_BUFFER = "builtin.module(func.func(smalti-multi-buffer{depth=2 target=sm_90a}))"


@pytest.mark.parametrize("name", [*DIALECTS, *(f"transform.{name}" for name in TRANSFORM_EXTENSIONS)])
def test_dialect_module(name: str) -> None:
    importlib.import_module(f"smalti.dialects.{name}")


def test_every_dialect_is_known_to_a_new_context() -> None:
    with ir.Context() as context:
        for name in ("triton_xla", "mosaic_gpu", "gpu", "nvgpu", "amdgpu", "nvvm", "rocdl", "transform", "pdl"):
            assert context.dialects[name].descriptor.namespace == name


def test_building_and_running_passes() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        f32 = ir.F32Type.get()
        with ir.InsertionPoint(module.body):

            @func.FuncOp.from_py_func(f32)
            def doubled(value: ir.Value) -> ir.Value:
                zero = arith.constant(f32, -0.0)
                return arith.addf(arith.addf(value, zero), value)

        passmanager.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        assert str(module).count("arith.addf") == 1


def test_errors_are_exceptions_with_locations() -> None:
    with ir.Context():
        with pytest.raises(ir.MLIRError) as caught:
            ir.Module.parse("func.func @f() {\n  return %x : f32\n}")
        assert "use of undeclared SSA value name" in str(caught.value)
        assert ":2:10" in str(caught.value.error_diagnostics[0].location)
        with pytest.raises(ValueError, match="no-such-pass"):
            passmanager.PassManager.parse("builtin.module(no-such-pass)")


def test_a_python_callable_and_a_pattern() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse("func.func @f(%a: i32) -> i32 { %0 = arith.addi %a, %a : i32\n return %0 : i32 }")
        seen: list[str] = []

        def to_mulf(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> None:
            with rewriter.ip, op.location:
                new = arith.muli(op.operands[0], op.operands[1])
            rewriter.replace_op(op, [new])

        patterns = rewrite.RewritePatternSet()
        patterns.add(arith.AddIOp, to_mulf)
        frozen = patterns.freeze()

        def python_pass(op: ir.Operation, _: object) -> None:
            seen.append(op.name)
            rewrite.apply_patterns_and_fold_greedily(op, frozen)

        manager = passmanager.PassManager("builtin.module")
        manager.add("canonicalize")
        manager.add(python_pass)
        manager.run(module.operation)
        assert seen == ["builtin.module"]
        assert "arith.muli" in str(module)


def test_transform_interpreter() -> None:
    from smalti.dialects.transform import interpreter

    with ir.Context():
        payload = ir.Module.parse("func.func @f() { return }")
        script = ir.Module.parse(
            "module attributes {transform.with_named_sequence} {\n"
            "  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {\n"
            "    %f = transform.structured.match ops{['func.func']} in %m"
            " : (!transform.any_op) -> !transform.any_op\n"
            "    transform.annotate %f 'seen' : !transform.any_op\n"
            "    transform.yield\n  }\n}".replace("'", '"')
        )
        interpreter.apply_named_sequence(payload, script.body.operations[0], script)
        assert "seen" in str(payload)


def test_execution_engine() -> None:
    import ctypes

    from smalti.execution_engine import ExecutionEngine

    with ir.Context():
        module = ir.Module.parse(
            "func.func @add(%a: i32, %b: i32) -> i32 attributes {llvm.emit_c_interface} {\n"
            "  %0 = arith.addi %a, %b : i32\n  return %0 : i32\n}"
        )
        pipeline = "builtin.module(convert-arith-to-llvm,convert-func-to-llvm)"
        passmanager.PassManager.parse(pipeline).run(module.operation)
        engine = ExecutionEngine(module)
        result = ctypes.c_int32()
        arguments = [ctypes.pointer(ctypes.c_int32(value)) for value in (2, 40)]
        engine.invoke("add", *arguments, ctypes.pointer(result))
        assert result.value == 42


def remarks_of(text: str, pipeline: str, **options: str) -> list[_smalti.Remark]:
    with ir.Context() as context:
        module = ir.Module.parse(text)
        with _smalti.RemarkCollector(context, **options) as collector:
            passmanager.PassManager.parse(pipeline).run(module.operation)
        # Remarks stay valid after the collector is detached from the context.
        return collector.remarks


def test_remarks() -> None:
    (remark,) = remarks_of(LOOP, MULTI_BUFFER)
    assert (remark.kind, remark.category, remark.function) == ("passed", "smalti-multi-buffer", "f")
    assert "2 slots of 8192 B" in remark.message
    assert (remark.file, remark.line, remark.column) == ("-", 7, 11)
    assert ("Remark", remark.message) in remark.args
    assert remarks_of(LOOP, MULTI_BUFFER, filter="another-pass") == []


def test_remarks_go_to_the_newest_collector() -> None:
    with ir.Context() as context:
        module = ir.Module.parse(LOOP)
        first = _smalti.RemarkCollector(context)
        second = _smalti.RemarkCollector(context)
        # The older one goes, and must not take the newer one's engine with it.
        first.detach()
        passmanager.PassManager.parse(MULTI_BUFFER).run(module.operation)
        assert (len(first.remarks), len(second.remarks)) == (0, 1)
        second.detach()
        second.detach()


def test_remark_filter_that_is_no_expression() -> None:
    with ir.Context() as context, pytest.raises(ValueError, match="is not a valid regular expression"):
        _smalti.RemarkCollector(context, "(")


def test_listed_passes_are_the_registered_ones() -> None:
    passes = json.loads((PACKAGE / "_passes.json").read_text())
    names = [entry["name"] for entry in passes]
    assert len(names) == len(set(names)) > 250
    assert {"canonicalize", "convert-gpu-to-nvvm", "gpu-lower-to-nvvm-pipeline", "smalti-multi-buffer"} <= set(names)
    assert [name for name in names if not _smalti.is_pass_registered(name)] == []
    assert not _smalti.is_pass_registered("no-such-pass")
    for entry in passes:
        assert set(entry) == {"name", "class", "summary", "description", "op", "pipeline", "options"}
        for option in entry["options"]:
            assert set(option) == {"name", "cppName", "type", "default", "description", "list", "choices"}


def test_chip_table() -> None:
    table = json.loads(_smalti.targets_json())
    assert {"cpu", "sm_80", "sm_90a", "gfx942", "gfx1201"} <= {chip["name"] for chip in table}


def test_stubs() -> None:
    """Every extension module has a stub that parses, and the stub has the module's names."""
    libs = PACKAGE / "_mlir_libs"
    stubs = {"_mlir/__init__", "_mlir/ir", "_mlir/passmanager", "_mlir/rewrite"}
    stubs |= {path.name.split(".")[0] for path in libs.glob("_*.so")} - {"_mlir"}
    for name in sorted(stubs):
        ast.parse((libs / f"{name}.pyi").read_text())
    declared = {node.name for node in ast.parse((libs / "_smalti.pyi").read_text()).body if hasattr(node, "name")}
    assert declared == {name for name in dir(_smalti) if not name.startswith("_")}


def test_stubs_of_dialects() -> None:
    """Each module of a dialect has a stub, with a type of each parameter and result."""
    dialects = PACKAGE / "dialects"
    modules = [
        *dialects.glob("_*_ops_gen.py"),
        *dialects.glob("[a-z]*.py"),
        dialects / "gpu" / "__init__.py",
        PACKAGE / "ir.py",
    ]
    names = {path.stem for path in modules}
    assert {"_mosaic_gpu_ops_gen", "_triton_xla_ops_gen", "_arith_ops_gen", "arith", "func", "scf"} <= names
    for path in modules:
        for node in ast.walk(ast.parse(path.with_suffix(".pyi").read_text())):
            if isinstance(node, ast.FunctionDef):
                parameters = [one for one in (*node.args.args, *node.args.kwonlyargs) if one.arg not in ("self", "cls")]
                assert all(one.annotation for one in parameters) and node.returns, f"{path.stem}: {ast.unparse(node)}"


def test_version() -> None:
    assert _smalti.llvm_version().startswith("22.")
