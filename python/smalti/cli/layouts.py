# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smalti layout`: the location of each element of a vector or of shared memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from .. import files
from ..diagnostics import counted
from ..errors import SmaltiError

if TYPE_CHECKING:
    from ..lane_maps import LaneMap


def parse_shape(text: str) -> list[int]:
    """The sizes in `64x128`."""
    if not re.fullmatch(r"[1-9][0-9]*(x[1-9][0-9]*)*", text):
        raise click.BadParameter(
            f"'{text}' is not a shape; use positive sizes joined by x, such as 64x128", param_hint="--shape"
        )
    return [int(size) for size in text.split("x")]


@contextmanager
def _value_errors_as_smalti_errors() -> Any:
    try:
        yield
    except ValueError as error:
        raise SmaltiError(str(error)) from None


def _bits(element: str) -> int:
    from .. import ir

    with ir.Context():
        try:
            kind = ir.Type.parse(element)
        except ir.MLIRError:
            raise SmaltiError(
                f"--element is '{element}', which is not an MLIR type; use an integer or float type, such as f16"
            ) from None
        if not isinstance(kind, (ir.IntegerType, ir.FloatType)):
            raise SmaltiError(f"--element is '{element}'; use an integer or float type, such as f16")
        return kind.width


def _memory(transforms: Sequence[Any], shape: Sequence[int], element: str, target: str | None) -> LaneMap:
    from .. import lane_maps, targets
    from ..dialects import mosaic_gpu

    tile, swizzle = [], 16
    for transform in transforms:
        if isinstance(transform, mosaic_gpu.TileTransformAttr):
            tile = transform.tiling
        elif isinstance(transform, mosaic_gpu.SwizzleTransformAttr):
            swizzle = transform.swizzle
        else:
            raise SmaltiError(
                f"{transform} is not a transform of shared memory; use #mosaic_gpu.tile or #mosaic_gpu.swizzle"
            )
    banks = {}
    if target is not None:
        chip = targets.get(target)
        if not chip.is_gpu:
            raise SmaltiError(f"{chip} does not have shared memory; set --target to a GPU, such as sm_90a")
        banks = {"banks": chip.shared_memory_banks, "bank_bytes": chip.bank_bytes}
    return lane_maps.of_memory(shape, _bits(element), tile=tile, swizzle=swizzle, **banks)


def lane_map(layout: str, shape: Sequence[int] | None, element: str, target: str | None) -> LaneMap:
    """The map of a layout, given as its name, its attribute, or an array of shared-memory transforms."""
    from .. import ir, lane_maps, layouts
    from ..dialects import mosaic_gpu

    if layout in layouts.layout_names():
        with _value_errors_as_smalti_errors():
            return lane_maps.of_registers(layouts.named_layout(layout), shape)
    with ir.Context(), _value_errors_as_smalti_errors():
        try:
            attribute = ir.Attribute.parse(layout)
        except ir.MLIRError as error:
            detail = error.error_diagnostics[0].message if error.error_diagnostics else str(error)
            hint = None if "#" in layout else f"named layouts: {', '.join(layouts.layout_names())}"
            raise SmaltiError(f"'{layout}' is not a layout: {detail}", hint=hint) from None
        if isinstance(attribute, mosaic_gpu.TiledLayoutAttr):
            return lane_maps.of_registers(attribute.layout, shape)
        if isinstance(attribute, mosaic_gpu.WGStridedFragLayoutAttr):
            return lane_maps.of_registers(attribute.layout, shape)
        if isinstance(attribute, mosaic_gpu.WGSplatFragLayoutAttr):
            if shape is not None and list(shape) != list(attribute.shape):
                raise SmaltiError(
                    f"the layout is for vectors of shape {attribute.shape}, but --shape is {list(shape)}; omit --shape"
                )
            return lane_maps.of_splat(attribute.shape)
        transforms = list(attribute) if isinstance(attribute, ir.ArrayAttr) else [attribute]
        if shape is None:
            raise SmaltiError("a shared-memory layout requires --shape, such as --shape 64x64")
        return _memory(transforms, shape, element, target)


def write(result: LaneMap, html: str | None, svg: str | None) -> None:
    """Writes the map to the requested files, or as text to standard output."""
    for path, text in ((html, result.html), (svg, result.svg)):
        if path is None:
            continue
        files.write(path, text())
        click.echo(f"{path}: {counted(len(result.cells), 'element')}")
    if html is None and svg is None:
        click.echo(result.text(), nl=False)
