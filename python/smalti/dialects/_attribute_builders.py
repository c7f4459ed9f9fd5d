# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of Python values to attributes, for builders of ops.

A builder looks up the conversion of a parameter by the name of the attribute's constraint in TableGen. `smalti.ir` has those of
upstream's constraints, and the generated modules have those of enumerations. cmake/generate_dialect_stubs.py reads the types of
the parameters `value`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir
from .._mlir_libs._smaltiTritonXLA import ScaleLayoutAttr

# The conversion of `arith.AtomicRMWKind`.
from . import _arith_enum_gen  # noqa: F401  # pyright: ignore[reportUnusedImport]
from ._mosaic_gpu_enum_gen import Dimension
from ._triton_xla_enum_gen import ScaleLayout


@ir.register_attribute_builder("Smalti_TextAttr")
def _text(value: str, context: ir.Context | None) -> ir.StringAttr:
    return ir.StringAttr.get(value, context=context)


@ir.register_attribute_builder("MosaicGPU_Dimensions")
def _dimensions(value: Sequence[Dimension], context: ir.Context | None) -> ir.ArrayAttr:
    number = ir.IntegerType.get_signless(32, context=context)
    return ir.ArrayAttr.get([ir.IntegerAttr.get(number, int(dimension)) for dimension in value], context=context)


@ir.register_attribute_builder("TritonXLA_FunctionTypeAttr")
def _function_type(value: ir.FunctionType, context: ir.Context | None) -> ir.TypeAttr:
    return ir.TypeAttr.get(value, context=context)


@ir.register_attribute_builder("TritonXLA_ScaleLayoutAttr")
def _scale_layout(value: ScaleLayout, context: ir.Context | None) -> ScaleLayoutAttr:
    return ScaleLayoutAttr.get(value, context=context)
