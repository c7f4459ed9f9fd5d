# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bytes of NVIDIA's tensor maps."""

from __future__ import annotations

import dataclasses
import re
import struct
import subprocess
from typing import Any

import pytest
import smalti
from smalti import toolchain
from smalti.calling import tensor_maps
from smalti.calling.tensor_maps import TensorMap, encode

LARGE = TensorMap(
    element="f16",
    extents=(7, 6, 5, 300, 1 << 32),
    strides=(0xF_0000_0010, 0x8_0000_0020, 0x4_0000_0030, 0x2_0000_0040, 2),
    box=(1, 2, 3, 256, 64),
    element_strides=(8, 7, 2, 3, 1),
    swizzle=128,
    fill="nan",
)


def words(described: TensorMap, address: int = 0) -> tuple[int, ...]:
    return struct.unpack("<32I", encode(described, address))


def test_every_field_is_where_it_must_be() -> None:
    assert words(LARGE, 0x7F12_3456_7890) == (
        *(0x3456_7890, 0x7F12),
        # Rank 5, f16 (6), no interleaving, 128 bytes (3), NaN.
        4 << 4 | 6 << 7 | 0 << 11 | 3 << 13 | 1 << 15,
        *(0x2000_0004, 0x4000_0003, 0x8000_0002, 0xF000_0001, 0),
        *(0xFFFF_FFFF, 299, 4, 5, 6),
        0 | 2 << 3 | 1 << 6 | 6 << 9 | 7 << 12 | 63 << 24,
        255 | 2 << 8 | 1 << 16 | 0 << 24,
        *[0] * 17,
    )


def test_dimensions_that_are_not_there_have_one_element() -> None:
    described = TensorMap("f32", (40,), (4,), (16,))
    assert words(described)[2:15] == (7 << 7, 0, 0, 0, 0, 0, 39, 0, 0, 0, 0, 15 << 24, 0)


def test_the_high_bits_of_strides_share_a_word() -> None:
    strides = tuple(high << 36 | 16 for high in (0xD, 0xC, 0xB, 0xA))
    described = dataclasses.replace(LARGE, strides=(*strides, 2))
    assert words(described)[3:8] == (1, 1, 1, 1, 0xDCBA)


@pytest.mark.parametrize(
    "element, driver, code",
    [
        *(("i1", 0, 0), ("i8", 0, 0), ("ui8", 0, 0), ("f8E4M3FN", 0, 0), ("f8E5M2", 0, 0), ("i16", 1, 1)),
        *(("ui32", 2, 2), ("i32", 3, 3), ("ui64", 4, 4), ("i64", 5, 5), ("index", 5, 5)),
        *(("f16", 6, 6), ("f32", 7, 7), ("f64", 8, 9), ("bf16", 9, 10)),
    ],
)
def test_element_types_of_the_driver_and_of_the_map(element: str, driver: int, code: int) -> None:
    """cuda.h, CUtensorMapDataType; PTX ISA, the table of `tensormap.replace`: they agree only up to 7."""
    size = smalti.dtypes.from_mlir(element).bits // 8  # type: ignore[union-attr]
    described = TensorMap(element, (4, 32), (32 * size, size), (4, 32))
    assert (described.driver_type, words(described)[2] >> 7 & 15) == (driver, code)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"element": "i4"}, "the element type is i4"),
    ({"extents": (), "strides": (), "box": (), "element_strides": ()}, "has 0 dimensions"),
    ({"extents": (4,) * 6, "strides": (16,) * 6, "box": (1,) * 6, "element_strides": (1,) * 6}, "has 6 dimensions"),
    ({"box": (4, 257)}, "box is (4, 257); it must have a number from 1 to 256"),
    ({"box": (0, 64)}, "box is (0, 64)"),
    ({"box": (64,)}, "box is (64,)"),
    ({"element_strides": (9, 1)}, "element_strides is (9, 1); it must have a number from 1 to 8"),
    ({"element_strides": (1, 2)}, "element stride of the innermost dimension is 2; it must be 1"),
    ({"extents": (8, (1 << 32) + 1)}, "each size must be from 1 to 2^32"),
    ({"extents": (0, 64)}, "each size must be from 1 to 2^32"),
    ({"strides": (128,)}, "the array has 2 dimensions but 1 stride;"),
    ({"strides": (128, 4)}, "must be contiguous"),
    ({"strides": (120, 2)}, "must be multiples of 16 B below 2^40 B"),
    ({"strides": (1 << 40, 2)}, "must be multiples of 16 B below 2^40 B"),
    ({"strides": (-128, 2)}, "must be multiples of 16 B below 2^40 B"),
    ({"box": (8, 4)}, "a row of the box has 8 B; it must be a multiple of 16 B"),
    ({"swizzle": 48}, "the swizzle is 48 B; it must be one of 32, 64, 128, or 16 for none"),
    ({"swizzle": 64}, "a row of the box has 128 B; it must not exceed the swizzle of 64 B"),
    ({"fill": "ones"}, "the fill is 'ones'; it must be one of zeros, nan"),
    ({"element": "i16", "fill": "nan"}, "elements of int16 do not have NaN"),
    ({"offset": -2}, "the offset is -2 B and the index of the argument is 0"),
]
GOOD = TensorMap("f16", (8, 64), (128, 2), (8, 64))


@pytest.mark.parametrize("change, message", WRONG, ids=[message for _, message in WRONG])
def test_limits_come_with_a_reason(change: dict[str, Any], message: str) -> None:
    with pytest.raises(smalti.LaunchError, match="tensor map: .*" + re.escape(message)):
        dataclasses.replace(GOOD, **change)


def test_an_array_starts_at_a_multiple_of_16_bytes() -> None:
    with pytest.raises(smalti.LaunchError, match=r"argument 0 at offset 0 B is aligned to 8 B"):
        encode(GOOD, 0x1008)


# ---------------------------------------------------------------------------------------------------------------------
# Tensor maps of the assembler
# ---------------------------------------------------------------------------------------------------------------------

KERNEL = """
.visible .entry {name}(.param .u64 wide, .param .u32 narrow) {{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd2, [wide];
  ld.param.u32 %r1, [narrow];
  mov.u64 %rd1, map;
  tensormap.replace.tile.{field}.shared::cta.b1024.{operands};
  ret;
}}
"""
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 128 .b8 map[];\n"

OPERANDS = {
    "global_address": "b64 [%rd1], %rd2",
    "rank": "b32 [%rd1], %r1",
    **{
        f"{field} {index}": f"b32 [%rd1], {index}, %r1"
        for field in ("box_dim", "global_dim", "element_stride")
        for index in range(5)
    },
    **{f"global_stride {index}": f"b64 [%rd1], {index}, %rd2" for index in range(4)},
    **dict.fromkeys(("elemtype", "swizzle_mode", "fill_mode"), "b32 [%rd1], 0"),
}

Bits = dict[int, int]


@pytest.fixture(scope="module")
def replaced(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bits]:
    """The bits of each word that `tensormap.replace` writes, by field, in the code that ptxas makes of it."""
    ptxas, nvdisasm = toolchain.find_ptxas(), toolchain.find_nvdisasm()
    if ptxas is None or nvdisasm is None:
        pytest.skip("needs ptxas and nvdisasm (tools/requirements-nvidia.txt)")
    folder = tmp_path_factory.mktemp("replace")
    source, binary = folder / "k.ptx", folder / "k.cubin"
    kernels = (
        KERNEL.format(name=f"k{index}", field=field.split()[0], operands=operands)
        for index, (field, operands) in enumerate(OPERANDS.items())
    )
    source.write_text(HEAD + "".join(kernels))
    subprocess.run([ptxas.path, "-arch=sm_90a", source, "-o", binary], check=True)
    code = subprocess.run([nvdisasm.path, "-c", binary], capture_output=True, text=True, check=True).stdout
    _, *parts = re.split(r"^\s*\.section\s+\.text\.k(\d+),", code, flags=re.MULTILINE)
    by_index = dict(zip(map(int, parts[::2]), parts[1::2], strict=True))
    return {field: written(by_index[index]) for index, field in enumerate(OPERANDS)}


def written(code: str) -> Bits:
    """The bits of each word of shared memory that a kernel writes: all of one that it does not read first."""
    loaded = {int(at or "0", 16) for at in re.findall(r"\bLDS \w+, \[UR\d+(?:\+(0x\w+))?\]", code)}
    masks = [int(mask, 16) for mask in re.findall(r"LOP3\.LUT \w+, \w+, (0x\w+), \w+, 0xb8", code)]
    found: Bits = {}
    for wide, at in re.findall(r"\bSTS(\.64)? \[UR\d+(?:\+(0x\w+))?\]", code):
        word = int(at or "0", 16) // 4
        for index in [word, word + 1] if wide else [word]:
            found[index] = sum(masks) if 4 * index in loaded else 0xFFFF_FFFF
    assert found
    return found


def changed(*maps: tuple[TensorMap, int]) -> Bits:
    """The bits of each word that differ among maps."""
    first, *others = (words(*item) for item in maps)
    result: Bits = {}
    for other in others:
        for index, (a, b) in enumerate(zip(first, other, strict=True)):
            if a != b:
                result[index] = result.get(index, 0) | (a ^ b)
    return result


SMALL = TensorMap("i8", (1,) * 5, (0, 0, 0, 0, 1), (1, 1, 1, 1, 256), (1,) * 5)


def with_one(field: str, index: int, value: int, base: TensorMap = SMALL) -> tuple[TensorMap, int]:
    """A map with another number in one dimension; the maps count from the innermost one."""
    values = list(getattr(base, field))
    values[4 - index] = value
    return dataclasses.replace(base, **{field: tuple(values)}), 0


INNERMOST = [with_one("box", 0, size) for size in (16, 32, 64, 128, 256)]
FIELDS: dict[str, tuple[tuple[TensorMap, int], tuple[TensorMap, int]]] = {
    "global_address": ((SMALL, 0), (SMALL, (1 << 64) - 16)),
    **{
        f"{field} {index}": (with_one(name, index, 1), with_one(name, index, high))
        for field, name, high in (
            ("box_dim", "box", 256),
            ("global_dim", "extents", 1 << 32),
            ("element_stride", "element_strides", 8),
        )
        for index in range(5)
        if (name, index) not in (("box", 0), ("element_strides", 0))
    },
    **{
        f"global_stride {index}": (
            with_one("strides", index + 1, 0),
            with_one("strides", index + 1, (1 << 40) - 16),
        )
        for index in range(4)
    },
    "fill_mode": ((GOOD, 0), (dataclasses.replace(GOOD, fill="nan"), 0)),
}


@pytest.mark.parametrize("field", FIELDS)
def test_offsets_of_fields_in_the_assembler(field: str, replaced: dict[str, Bits]) -> None:
    wanted = dict(replaced[field])
    if field == "global_address":
        # An array starts at a multiple of 16 bytes.
        wanted[0] &= ~15
    assert changed(*FIELDS[field]) == wanted


def test_fields_of_which_few_values_are_possible(replaced: dict[str, Bits]) -> None:
    """The field's offset is from the assembler, and the values are from the map."""
    (rank,) = replaced["rank"].items()
    for ours in range(1, 6):
        described = TensorMap("i8", (1,) * ours, (16,) * (ours - 1) + (1,), (1,) * (ours - 1) + (16,))
        assert words(described)[rank[0]] == (ours - 1) << low_bit(rank[1])
    types = replaced["elemtype"][2]
    assert words(dataclasses.replace(GOOD, element="bf16"))[2] & types == 10 << low_bit(types)
    swizzles = replaced["swizzle_mode"][2]
    # The upper bit of the field is for newer chips, which swizzle with other granularities.
    field = swizzles & 0xFFFF
    for code, swizzle in enumerate(tensor_maps.SWIZZLES):
        described = dataclasses.replace(GOOD, box=(8, swizzle // 2), swizzle=swizzle)
        assert words(described)[2] & swizzles == code << low_bit(field)
    assert replaced["element_stride 0"] == {13: 7} and words(GOOD)[13] & 7 == 0
    (boxes,) = replaced["box_dim 0"].values()
    assert list(replaced["box_dim 0"]) == [13]
    for described, _ in INNERMOST:
        assert words(described)[13] == (described.box[-1] - 1) << low_bit(boxes)


def low_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
