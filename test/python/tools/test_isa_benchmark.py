# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/isa.py: counts of hand-made machine code, the figures that are derived from them, and our own figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from smalti import parse, targets, toolchain

sys.path.insert(0, str(ROOT / "benchmarks"))

import _isa_measure
import _isa_page
import _isa_rates
import isa
from _isa_cases import CASES
from _isa_code import Code, multiply_accumulates, read_gcn, read_sass
from _isa_grid import Cell, Grid
from _isa_run import Counts, execute, shared_addresses


def sass(*lines: str) -> Code:
    """Code of a list of instructions and labels; addresses are added."""
    text, address = [".text.kernel:"], 0
    for line in lines:
        if line.endswith(":"):
            text.append(line)
        else:
            text.append(f"        /*{address:04x}*/    {line} ;")
            address += 16
    return read_sass("\n".join(text))


def gcn(*lines: str) -> Code:
    return read_gcn("\n".join(line if line.endswith(":") else f"\t{line}" for line in lines))


def executed(code: Code, warp: int = 0, block: int = 0, wave_size: int = 32) -> tuple[int, int]:
    """Executed instructions, and undecided branches."""
    counts: Counts = execute(code, warp, block, wave_size)
    return sum(counts.executed), counts.undecided


# NVIDIA.


def counted_loop(*update: str, last: str = "@!P0 BRA `(.L_x_0)") -> Code:
    return sass("MOV R2, RZ", ".L_x_0:", *update, last, "EXIT")


@pytest.mark.parametrize(
    "update, iterations",
    [
        (("IADD3 R2, R2, 0x40, RZ", "ISETP.GE.AND P0, PT, R2, 0x1000, PT"), 64),
        (("VIADD R2, R2, 0x40", "ISETP.GE.U32.AND P0, PT, R2, 0x1000, PT"), 64),
        (("IMAD R2, R2, 0x2, 0x1", "ISETP.GT.AND P0, PT, R2, 0x7, PT"), 4),
        (("LEA R2, R2, 0x1, 0x1", "ISETP.GT.AND P0, PT, R2, 0x7, PT"), 4),
        (("IADD3 R2, R2, 0x1, RZ", "SHF.R.U32.HI R3, RZ, 0x3, R2", "ISETP.NE.AND P0, PT, R3, RZ, PT"), 8),
        (("IADD3 R2, R2, 0x1, RZ", "LOP3.LUT P0, RZ, R2, 0x10, RZ, 0xc0, !PT"), 16),
        (("IADD3 R2, R2, -0x1, RZ", "ISETP.LT.AND P0, PT, R2, -0x9, PT"), 10),
        (
            ("IADD3 R2, R2, 0x1, RZ", "MOV R3, RZ", "IMNMX.U64 PT, PT, R4, R2, 0x4, PT, !PT",
             "ISETP.GE.U64.AND P0, PT, R4, 0x4, PT"),
            4,
        ),
        # A counter of 64 bits.
        (
            ("IADD3 R2, P1, R2, 0x1, RZ", "ISETP.GE.U32.AND P0, PT, R2, 0x5, PT",
             "IMAD.X R3, RZ, RZ, RZ, P1", "ISETP.GE.U32.AND.EX P0, PT, R3, RZ, PT, P0"),
            5,
        ),
        (("HFMA2 R4, -RZ, RZ, 0, 5.9604644775390625e-08", "IADD3 R2, R2, R4, RZ", "ISETP.GE.AND P0, PT, R2, 0x3, PT"), 3),
        # The uniform datapath.
        (("UIADD3 UR4, UR4, 0x1, URZ", "UISETP.GE.AND UP0, UPT, UR4, 0x6, UPT", "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0"), 6),
    ],
)  # fmt: skip
def test_sass_loops_with_constant_bounds(update: tuple[str, ...], iterations: int) -> None:
    code = sass("MOV R2, RZ", "UMOV UR4, URZ", ".L_x_0:", *update, "@!P0 BRA `(.L_x_0)", "EXIT")
    assert executed(code) == (3 + iterations * (len(update) + 1), 0)


def test_sass_bounds_depend_on_the_block_and_the_warp() -> None:
    code = sass(
        "S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "SHF.R.U32.HI R0, RZ, 0x5, R0",
        "IMAD R1, R1, 0x3, R0", "MOV R2, RZ",
        ".L_x_0:", "IADD3 R2, R2, 0x1, RZ", "ISETP.GT.AND P0, PT, R2, R1, PT", "@!P0 BRA `(.L_x_0)", "EXIT",
    )  # fmt: skip
    assert [executed(code, warp, block)[0] for warp, block in ((0, 0), (2, 0), (1, 4))] == [9, 15, 48]


def test_sass_instructions_with_a_false_predicate_count_and_have_no_effect() -> None:
    code = counted_loop(
        "IADD3 R2, R2, 0x1, RZ", "ISETP.GE.AND P0, PT, R2, 0x3, PT", "@!P0 FADD R5, R5, R6", "@P0 MOV R2, RZ"
    )
    assert executed(code) == (2 + 3 * 5, 0)


def test_sass_unknown_branches_take_the_shorter_path_without_a_trap() -> None:
    slow = ("MUFU.RCP R4, R4",) * 3
    code = sass(
        "LDG.E R4, desc[UR4][R2.64]", "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(.L_x_1)", *slow, ".L_x_1:", "EXIT"
    )
    assert executed(code) == (4, 1)
    trap = sass(
        "LDS R4, [R2]",
        "ISETP.NE.AND P0, PT, R4, RZ, PT",
        "@P0 BRA `(.L_x_1)",
        *slow,
        "EXIT",
        ".L_x_1:",
        "BPT.TRAP 0x1",
        "EXIT",
    )
    assert executed(trap) == (7, 1)


def test_sass_paths_include_called_functions() -> None:
    inline, function = ("FFMA R5, R5, R4, R4",) * 4, ("FFMA R4, R4, R4, R4",) * 3
    code = sass(
        "LDS R4, [R2]", "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(.L_x_1)", "MOV R2, 0x50", "CALL.REL.NOINC `($slow)",
        "EXIT", ".L_x_1:", *inline, "EXIT", "$slow:", *function, "RET.REL.NODEC R2 `(kernel)",
    )  # fmt: skip
    assert executed(code) == (3 + 4 + 1, 1)


def test_sass_waits_for_mbarriers_succeed_at_once() -> None:
    code = sass(".L_x_0:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3", "@!P0 BRA `(.L_x_0)", "EXIT")
    assert executed(code) == (3, 0)
    assert [loop.header for loop in code.loops] == [0]
    assert _isa_measure.steady_loops(code, [execute(code, 0, 0)]) == []


def test_sass_calls_return() -> None:
    code = sass(
        "MOV R2, 0x20", "CALL.REL.NOINC `($slow)", "EXIT", "$slow:", "FADD R4, R4, R4", "RET.REL.NODEC R2 `(kernel)"
    )
    assert executed(code) == (5, 0)
    # The loop around a call is a loop.
    looped = sass(
        "MOV R5, RZ",
        ".L_x_0:",
        "MOV R2, 0x30",
        "CALL.REL.NOINC `($slow)",
        "IADD3 R5, R5, 0x1, RZ",
        "ISETP.GE.AND P0, PT, R5, 0x3, PT",
        "@!P0 BRA `(.L_x_0)",
        "EXIT",
        "$slow:",
        "RET.REL.NODEC R2 `(kernel)",
    )
    assert executed(looped) == (2 + 3 * 6, 0)
    assert [loop.header for loop in looped.loops] == [1]


def test_sass_kinds_and_widths() -> None:
    code = sass(
        "LDG.E.128 R4, desc[UR4][R2.64]", "LDG.E.U16 R4, desc[UR4][R2.64]", "STG.E.64 desc[UR4][R2.64], R4",
        "LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64]", "LDSM.16.MT88.4 R8, [R2]", "STS [R2], R3",
        "HMMA.16816.F32 R4, R8, R12, R4", "UTMALDG.2D [UR4], [UR8]", "IMAD.MOV.U32 R3, RZ, RZ, R4", "IMAD R3, R3, R4, R5",
        "BAR.SYNC.DEFER_BLOCKING 0x0", "LDL R2, [R1]", "EXIT",
    )  # fmt: skip
    assert [(i.kind, i.bytes) for i in code.instructions] == [
        ("load", 16), ("load", 2), ("store", 8), ("copy", 16), ("shared load", 16), ("shared store", 4),
        ("mma", 0), ("copy", 0), ("move", 0), ("integer", 0), ("barrier", 0), ("spill", 0), ("branch", 0),
    ]  # fmt: skip


# AMD.


@pytest.mark.parametrize(
    "update, iterations",
    [
        (("s_add_i32 s4, s4, 64", "s_cmp_lt_u32 s4, 0x1000", "s_cbranch_scc1 .LBB0_1"), 64),
        (("s_addk_i32 s4, 0xffff", "s_cmpk_lg_i32 s4, 0xfff6", "s_cbranch_scc1 .LBB0_1"), 10),
        (("s_addk_co_i32 s4, 0x80", "s_cmp_gt_u32 s4, 0xf7f", "s_cbranch_scc0 .LBB0_1"), 31),
        (("s_add_i32 s4, s4, 1", "s_brev_b32 s6, 0x20000000", "s_cmp_lt_u32 s4, s6", "s_cbranch_scc1 .LBB0_1"), 4),
        (("s_add_i32 s4, s4, 1", "s_mul_hi_i32 s6, s4, 0x40000000", "s_cmp_lt_u32 s6, 2", "s_cbranch_scc1 .LBB0_1"), 8),
        (("s_add_u32 s4, s4, 1", "s_addc_u32 s5, s5, 0", "s_cmp_eq_u64 s[4:5], 7", "s_cbranch_scc0 .LBB0_1"), 7),
        (("s_lshl_b32 s6, s6, 1", "s_and_b32 s7, s6, 0xff", "s_cmp_lg_u32 s7, 0", "s_cbranch_scc1 .LBB0_1"), 8),
        (
            ("s_add_i32 s4, s4, 1", "v_mov_b32_e32 v1, 4", "v_accvgpr_write_b32 a7, v1", "v_accvgpr_read_b32 v2, a7",
             "v_readfirstlane_b32 s9, v2", "v_writelane_b32 v9, s9, 3", "v_readlane_b32 s10, v9, 3",
             "s_cmp_lt_u32 s4, s10", "s_cbranch_scc1 .LBB0_1"),
            4,
        ),
        # A condition of all lanes.
        (("s_add_i32 s4, s4, 1", "v_cmp_gt_u32_e64 s[8:9], 5, s4", "s_and_b64 vcc, exec, s[8:9]", "s_cbranch_vccnz .LBB0_1"), 5),
        (("s_add_u32 s4, s4, 1", "v_lshrrev_b64 v[2:3], 2, 23", "v_min_u64 v[2:3], 9, v[2:3]", "v_cmp_lt_u64_e32 vcc, s[4:5], v[2:3]", "s_cbranch_vccnz .LBB0_1"), 5),
        (("s_add_u32 s4, s4, 1", "s_mov_b64 s[8:9], 6", "v_pk_mov_b32 v[2:3], s[8:9], s[8:9] op_sel:[0,1]", "v_cmp_lt_i64_e32 vcc, s[4:5], v[2:3]", "s_cbranch_vccnz .LBB0_1"), 6),
    ],
)  # fmt: skip
def test_gcn_loops_with_constant_bounds(update: tuple[str, ...], iterations: int) -> None:
    code = gcn("s_mov_b64 s[4:5], 0", "s_mov_b32 s6, 1", ".LBB0_1:", *update, "s_endpgm")
    assert executed(code, wave_size=64) == (3 + iterations * len(update), 0)


def test_gcn_masked_regions_are_skipped_if_no_lane_is_active() -> None:
    region = ("v_cmp_gt_u32_e32 vcc, 100, v0", "s_and_saveexec_b64 s[2:3], vcc", "s_cbranch_execz .LBB0_2")
    code = gcn(*region, "global_load_dword v1, v0, s[4:5]", ".LBB0_2:", "s_or_b64 exec, exec, s[2:3]", "s_endpgm")
    # Lanes 0 to 63, 64 to 127 and 128 to 191: all, some, none.
    assert [executed(code, warp, wave_size=64)[0] for warp in (0, 1, 2)] == [6, 6, 5]


def test_gcn_masks_that_depend_on_data_are_not_empty() -> None:
    code = gcn(
        "global_load_dword v1, v0, s[4:5]", "v_cmp_gt_u32_e32 vcc, 100, v1", "s_and_saveexec_b64 s[2:3], vcc",
        "s_cbranch_execz .LBB0_2", "v_add_f32_e32 v1, v1, v1", ".LBB0_2:", "s_endpgm",
    )  # fmt: skip
    assert executed(code, wave_size=64) == (6, 0)


def test_gcn_two_operations_in_one_instruction_read_before_they_write() -> None:
    code = gcn(
        "v_mov_b32_e32 v1, 3", "v_mov_b32_e32 v2, 5", "v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1",
        "v_readfirstlane_b32 s4, v2", ".LBB0_1:", "s_sub_i32 s4, s4, 1", "s_cmp_lg_u32 s4, 0", "s_cbranch_scc1 .LBB0_1", "s_endpgm",
    )  # fmt: skip
    assert executed(code) == (4 + 3 * 3 + 1, 0)


def test_gcn_block_number() -> None:
    code = read_gcn(
        "\ts_mov_b32 s4, 0\n.LBB0_1:\n\ts_add_i32 s4, s4, 1\n\ts_cmp_le_u32 s4, s6\n\ts_cbranch_scc1 .LBB0_1\n"
        "\ts_endpgm\n\t.section\t.rodata\n\t\t.amdhsa_user_sgpr_count 6\n"
    )
    assert executed(code, block=3) == (2 + 3 * 4, 0)


def test_gcn_block_number_of_a_launch_without_clusters() -> None:
    code = gcn(
        "s_getreg_b32 s4, hwreg(HW_REG_IB_STS2, 6, 4)", "s_cmp_eq_u32 s4, 0", "s_cselect_b32 s5, ttmp9, s3", ".LBB0_1:",
        "s_sub_co_i32 s5, s5, 1", "s_cmp_lg_u32 s5, 0", "s_cbranch_scc1 .LBB0_1", "s_endpgm",
    )  # fmt: skip
    assert executed(code, block=4) == (3 + 4 * 3 + 1, 0)


def test_gcn_kinds_and_widths() -> None:
    code = gcn(
        "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0", "global_store_b16 v[0:1], v2, off", "ds_read_b64_tr_b16 v[0:1], v2",
        "ds_read2_b32 v[0:1], v2", "global_load_lds_dwordx4 v[0:1], off", "buffer_load_short_d16_hi v0, v1, s[0:3], 0",
        "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]", "v_pk_mul_f32 v[0:1], v[0:1], v[2:3]", "v_exp_f32_e32 v0, v0",
        "s_waitcnt vmcnt(0)", "s_delay_alu instid0(VALU_DEP_1)", "v_add_u32_e32 v0, v0, v1", "scratch_load_dword v0, off, s32",
    )  # fmt: skip
    assert [(i.kind, i.bytes) for i in code.instructions] == [
        ("load", 16), ("store", 2), ("shared load", 8), ("shared load", 8), ("copy", 16), ("load", 2), ("mma", 0),
        ("float", 0), ("special", 0), ("wait", 0), ("hint", 0), ("integer", 0), ("spill", 0),
    ]  # fmt: skip


# Addresses in shared memory.


def addresses(code: Code, access: int, warp: int = 0, wave_size: int = 32) -> list[list[int]] | None:
    return shared_addresses(code, warp, 0, wave_size, [access]).get(access)


def test_sass_addresses_of_all_lanes() -> None:
    code = sass(
        "S2R R0, SR_TID.X", "LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT", "SHF.L.U32 R1, R1, 0x4, RZ", "UMOV UR4, 0x400",
        "LDS.128 R4, [R1+UR4+0x20]", "ISETP.GE.AND P0, PT, R0, 0x28, PT", "@!P0 STS [R0.X4], R4", "LDG.E R2, desc[UR4][R2.64]",
        "STS [R2], R4", "@!PT LDS RZ, [RZ]", "EXIT",
    )  # fmt: skip
    assert addresses(code, 4, warp=1) == [[0x420 + 16 * lane for lane in range(32)]]
    # Lanes 8 to 31 of warp 1 are inactive.
    assert addresses(code, 6, warp=1) == [[4 * (32 + lane) if lane < 8 else -1 for lane in range(32)]]
    assert addresses(code, 8) is None
    assert code.instructions[9].kind == "hint"


@pytest.mark.parametrize(
    "lines, expected",
    [
        (("v_mbcnt_lo_u32_b32 v1, -1, 0", "v_mbcnt_hi_u32_b32 v1, -1, v1", "ds_read_b128 v[2:5], v1 offset:32"), lambda i: [32 + i]),
        (("v_bfe_i32 v1, v0, 2, 1", "v_and_b32_e32 v1, 0x140, v1", "ds_read_b64 v[2:3], v1"), lambda i: [0x140 * (i >> 2 & 1)]),
        (("v_bitop3_b32 v1, v0, 3, 8 bitop3:0x6a", "ds_write_b32 v1, v7"), lambda i: [(i & 3) ^ 8]),
        (("v_bitop2_b32 v1, 12, v0 bitop3:0x40", "ds_write_b32 v1, v7"), lambda i: [i & 12]),
        (("v_cmp_gt_u32_e32 vcc, 5, v0", "v_cndmask_b32_e32 v1, 7, v0, vcc", "ds_write_b32 v1, v7"), lambda i: [i if i < 5 else 7]),
        (("v_mad_u32 v1, v0, 5, 3", "ds_write_b32 v1, v7"), lambda i: [i * 5 + 3]),
        (("v_mad_u64_u32 v[2:3], null, v0, 5, 3", "ds_write_b32 v2, v7"), lambda i: [i * 5 + 3]),
        (("v_xad_u32 v1, v0, 5, 3", "ds_write_b32 v1, v7"), lambda i: [(i ^ 5) + 3]),
        (("v_bfi_b32 v1, 12, v0, 3", "ds_write_b32 v1, v7"), lambda i: [(i & 12) | 3]),
        (("ds_read2_b32 v[2:3], v0 offset1:4",), lambda i: [i, i + 16]),
        (("ds_read2st64_b64 v[2:5], v0 offset0:1 offset1:2",), lambda i: [i + 512, i + 1024]),
        (("ds_store_2addr_b64 v0, v[2:3], v[4:5] offset0:2",), lambda i: [i + 16, i]),
        (("v_cmp_gt_u32_e32 vcc, 5, v0", "s_and_saveexec_b64 s[2:3], vcc", "ds_write_b32 v0, v7"), lambda i: [i if i < 5 else -1]),
    ],
)  # fmt: skip
def test_gcn_addresses_of_all_lanes(lines: tuple[str, ...], expected: Callable[[int], list[int]]) -> None:
    code = gcn(*lines, "s_endpgm")
    of_lanes = [expected(lane) for lane in range(64)]
    assert addresses(code, len(lines) - 1, wave_size=64) == [list(part) for part in zip(*of_lanes, strict=True)]


@pytest.mark.parametrize("stride, conflicts", [(16, 0), (128, 28)])
def test_bank_conflicts_of_a_loop(stride: int, conflicts: int) -> None:
    # A matrix load reads 4 x 8 rows of 16 bytes; rows at a distance of 128 bytes are in the same banks.
    code = sass(
        "S2R R0, SR_TID.X", f"IMAD R1, R0, {stride:#x}, RZ", "MOV R2, RZ", ".L_x_0:", "LDSM.16.M88.4 R4, [R1]", "IADD3 R2, R2, 0x1, RZ",
        "ISETP.GE.AND P0, PT, R2, 0x3, PT", "@!P0 BRA `(.L_x_0)", "EXIT",
    )  # fmt: skip
    found = _isa_measure.figures(code, warps=1, blocks=(0,), chip="sm_80")
    assert found["banks"] == {"cycles": 3 * (4 + conflicts), "conflicts": 3 * conflicts, "unknown": 0}


# Loops and figures.


def test_nested_loops_count_the_inner_one() -> None:
    inner = ("IADD3 R3, R3, 0x1, RZ", "FFMA R8, R9, R9, R8", "ISETP.GE.AND P0, PT, R3, 0x4, PT", "@!P0 BRA `(.L_x_1)")
    outer = ("IADD3 R2, R2, 0x1, RZ", "ISETP.GE.AND P1, PT, R2, 0x3, PT", "@!P1 BRA `(.L_x_0)")
    code = sass("MOV R2, RZ", ".L_x_0:", "MOV R3, RZ", ".L_x_1:", *inner, *outer, "EXIT")
    found = _isa_measure.figures(code, warps=2, blocks=(0,), chip="sm_80")
    assert found["executed"] == 2 * (2 + 3 * (1 + 4 * 4 + 3))
    assert [(loop["first"], loop["iterations"], loop["warps"]) for loop in found["loops"]] == [(2, 24, 2)]
    assert found["loops"][0]["kinds"] == {"float": 24, "integer": 48, "branch": 24}


def test_rates_of_a_matmul_exclude_mmas_and_follow_its_loops() -> None:
    loop: dict[str, Any] = {"kinds": {"mma": 60, "shared load": 30}, "mma": 60}
    producer: dict[str, Any] = {"kinds": {"copy": 10}, "mma": 0}
    found: dict[str, Any] = {"executed": 200, "kinds": {"mma": 80}, "loops": [loop, producer]}
    # The loops have 60 of 80 MMAs, so 40 others belong to three quarters of the amount.
    found["multiply-accumulates"] = 10 * 4096
    found["banks"] = {"cycles": 30, "conflicts": 15, "unknown": 0}
    rates = _isa_rates.rates(found, True, 10)
    assert {name: rates[name] for name in ("rate", "loop rate", "MMA work", "conflicts")} == {
        "rate": 12, "loop rate": pytest.approx(40 / 7.5), "MMA work": 1, "conflicts": 15 / 7.5,
    }  # fmt: skip
    assert rates["loop kinds"]["shared load"] == 30 / 7.5
    found["banks"]["unknown"] = 1
    assert _isa_rates.rates(found, True, 10)["conflicts"] is None
    assert _isa_rates.rates(found, False, 10) == {"rate": 20, "loop rate": 10}


@pytest.mark.parametrize(
    "name, work",
    [
        ("HMMA.16816.F32", 2048), ("HMMA.1688.F32.TF32", 1024), ("IMMA.16832.S8.S8", 4096), ("HGMMA.64x128x16.F32", 32768),
        ("v_mfma_f32_32x32x8_f16", 8192), ("v_mfma_f32_4x4x4_16b_f16", 1024), ("v_wmma_f32_16x16x32_f16", 8192), ("UTCHMMA", None),
    ],
)  # fmt: skip
def test_multiply_accumulates(name: str, work: int | None) -> None:
    code = sass(name + " R4, R8, R12, R4") if name[0] != "v" else gcn(name + " v[0:3], v[4:5], v[6:7], v[0:3]")
    assert code.instructions[0].kind == "mma"
    assert multiply_accumulates(code.instructions[0]) == work


@pytest.mark.parametrize(
    "chip, registers, shared, warps, expected",
    [("sm_80", 32, 0, 4, 64), ("sm_80", 128, 0, 4, 16), ("sm_80", 32, 80 << 10, 4, 8), ("gfx942", 256, 0, 4, 8), ("gfx942", 64, 40 << 10, 4, 4)],
)  # fmt: skip
def test_occupancy(chip: str, registers: int, shared: int, warps: int, expected: int) -> None:
    assert _isa_rates.occupancy(chip, registers, shared, warps) == expected


@pytest.mark.parametrize(
    "chip, type_, kinds, bound",
    [
        # 4096 multiply-accumulates take 16 cycles of a quarter of an SM of sm_80.
        ("sm_80", "f16", {"mma": 2, "integer": 4, "shared load": 2}, 8 / 16),
        # A wave of 64 takes four cycles, and 4096 multiply-accumulates take 16 of a SIMD.
        ("gfx942", "f16", {"mma": 1, "integer": 2, "scalar": 2, "shared load": 1}, 3 * 4 / 16),
        ("gfx942", "fp8", {"mma": 1, "integer": 2, "scalar": 4}, 4 * 4 / 8),
        ("gfx1100", "i8", {"mma": 1, "integer": 3}, 4 / (4096 * 2 / 256)),
        ("sm_90a", "f32", {"mma": 1}, None),
    ],
)
def test_issue_bound(chip: str, type_: str, kinds: dict[str, float], bound: float | None) -> None:
    assert _isa_rates.issue_bound(chip, type_, kinds) == bound


def test_mca_cycles() -> None:
    if not toolchain.find_llvm_tool("llvm-mca"):
        pytest.skip("needs llvm-mca")
    lines = ["v_add_u32_e32 v0, v0, v1"] * 4
    assert _isa_rates.mca_cycles("gfx90a", lines) == pytest.approx(4, abs=1)
    assert _isa_rates.mca_cycles("gfx90a", ["v_wmma_of_another_chip v0"]) is None
    assert _isa_rates.mca_cycles("sm_80", lines) is None


def test_cache_is_by_content_and_survives_a_truncated_file(tmp_path: Path) -> None:
    cache = isa.Cache(tmp_path / "cache")
    path = cache.path("ours", "a")
    assert cache.get(path) is None
    cache.put(path, {"code": "x"})
    assert cache.get(path) == {"code": "x"}
    assert cache.path("ours", "b") != path and cache.path("our", "sa") != path
    path.write_text('{"code"')
    assert cache.get(path) is None


def test_the_better_peer_counts(tmp_path: Path) -> None:
    class Of(isa.Peer):
        def __init__(self, name: str) -> None:
            self.name, self.version = name, "1"

        def jobs(self, case: Any, chip: str) -> list[dict[str, Any]]:
            return []

    class Counted(isa.Runner):
        def ours(self, case: Any, chip: str) -> dict[str, Any]:
            return {"rate": 6.0, "loop rate": 5.0}

        def peer(self, name: str, case: Any, chip: str) -> dict[str, Any] | None:
            return {
                "A": {"rate": 4.0, "loop rate": 2.0},
                "B": {"rate": 3.0, "loop rate": 2.5},
                "C": {"error": "no"},
            }.get(name)

        def figures(self, case: Any, chip: str, kernel: dict[str, Any], has_own_tile: bool = False) -> dict[str, Any]:
            return kernel

    runner = Counted(isa.Cache(tmp_path), [Of(name) for name in "ABCD"])
    cell = isa.compare(runner, CASES[0], "sm_80")
    assert (cell["rate ratio"], cell["loop rate ratio"]) == (2.0, 2.0)
    assert "error" in cell["C"] and "D" not in cell


def test_the_page_has_the_worst_cells_first() -> None:
    def cell(name: str, ratio: float | None, **ours: Any) -> dict[str, Any]:
        side = {"kinds": {"float": 1}, "executed": 1, "loops": [], "widths": {"global": {"load 16": 1}, "shared": {}}}
        result = {"kernel": name, "chip": "sm_80", "per": "row", "ours": {**side, **ours}, "Triton": side}
        if ratio == 2.0:
            result["IREE"] = {"error": "not <available>"}
        return result if ratio is None else result | {"rate ratio": ratio}

    cells = isa.worst_first([cell("good", 0.5), cell("bad <1>", 2.0), cell("refused", None, error="no & reason")])
    assert [c["kernel"] for c in cells] == ["refused", "bad <1>", "good"]
    absent = [{"kernel": "f32", "chip": "sm_80", "absent": "no MMA"}]
    page = _isa_page.page(cells, {"smalti": "1"}, lambda cell, side: [], 1, absent)
    assert page.index("refused") < page.index("bad &lt;1&gt;") < page.index("good")
    assert "IREE: not &lt;available&gt;" in page and "no MMA" in page
    assert page.count("side by side</summary>") == 1
    assert "no &amp; reason" in page and "class=worse>2<" in page and "class=better>0.5<" in page


# The grid.


def test_the_grid_has_every_cell_or_a_reason() -> None:
    cells = Grid(splits=(1,)).cells()
    assert len(cells) == len(set(cells)) == 11 * 6 * 4 * 2 * 4 * 3
    reasons = {(cell.chip, cell.absent) for cell in cells if cell.absent}
    assert ("sm_80", "sm_80 does not have an MMA for fp8 operands") in reasons
    accumulators = "the accumulators of a 128x256 tile take 256 registers per thread with 4 warps"
    assert ("sm_90a", f"{accumulators}; sm_90a has 255") in reasons
    assert not any(chip == "gfx1250" and "accumulators" in reason for chip, reason in reasons if reason)


def test_samples_of_the_grid_repeat() -> None:
    assert Grid().sample(20, 1) == Grid().sample(20, 1) != Grid().sample(20, 2)
    assert len(Grid(chips=("sm_80",), types=("f16",), orders=("NN",), rows=("aligned",)).sample(1000, 0)) == 4 * 3 + 1


@pytest.mark.parametrize("type_, size", [("f16", 4100), ("i8", 4104), ("f32", 4098)])
def test_ragged_rows_are_not_a_multiple_of_16_bytes(type_: str, size: int) -> None:
    case = Cell("gfx942", type_, "NN", "ragged", "64x64x64", "8", 1).case()
    assert {case.constants[name] for name in "MNK"} == {size}
    assert case.warps(64) == 8 and case.amount == 64 * 64 * 65 * 64 / 4096


def test_every_kernel_of_the_grid_parses() -> None:
    for cell in Grid(chips=("gfx942",), tiles=("64x64x64",), warps=("default",)).cells():
        if not cell.absent:
            parse(cell.case().source())


# Our own figures.

RECORD = ROOT / "benchmarks" / "results" / "isa.json"
PINNED = {
    "sm_80": "RMS norm",
    "sm_90a": "softmax",
    "sm_100a": "layer norm",
    "sm_120a": "column sum",
    "gfx90a": "softmax",
    "gfx942": "matmul",
    "gfx950": "layer norm",
    "gfx1100": "attention, causal",
    "gfx1201": "column sum",
    "gfx1250": "softmax",
}


@pytest.mark.parametrize("chip", PINNED)
def test_our_code_is_not_worse_than_recorded(chip: str, tmp_path: Path) -> None:
    if targets.get(chip).vendor == "nvidia" and not (toolchain.find_ptxas() and toolchain.find_nvdisasm()):
        pytest.skip("needs ptxas and nvdisasm (tools/requirements-nvidia.txt)")
    case = next(case for case in CASES if case.name == PINNED[chip])
    cells = json.loads(RECORD.read_text())["cells"]
    recorded = next(cell["ours"] for cell in cells if (cell["kernel"], cell["chip"]) == (case.name, chip))
    runner = isa.Runner(isa.Cache(tmp_path))
    found = runner.figures(case, chip, runner.ours(case, chip))
    for name in ("rate", "loop rate", "registers", "spills"):
        assert (found[name] or 0) <= (recorded[name] or 0), name


GRID_RECORD = ROOT / "benchmarks" / "results" / "isa_grid.json"
PINNED_CELLS = {
    "sm_80": "f16 NN aligned 128x128x64",
    "sm_86": "f16 TN aligned 128x128x64",
    "sm_89": "f16 NN ragged 128x128x64",
    "sm_90a": "f16 TT aligned 128x128x64",
    "sm_120a": "f16 NT aligned 128x128x64",
    "gfx90a": "f16 NN aligned 128x128x64",
    "gfx942": "f16 TN aligned 128x128x64",
    "gfx950": "f16 NN ragged 128x128x64",
    "gfx1100": "f16 NT aligned 128x128x64",
    "gfx1201": "f16 TN aligned 128x128x64",
    "gfx1250": "f16 NN aligned 128x128x64",
}


@pytest.mark.parametrize("chip", PINNED_CELLS)
def test_our_matmul_is_not_worse_than_recorded(chip: str, tmp_path: Path) -> None:
    if targets.get(chip).vendor == "nvidia" and not (toolchain.find_ptxas() and toolchain.find_nvdisasm()):
        pytest.skip("needs ptxas and nvdisasm (tools/requirements-nvidia.txt)")
    name = PINNED_CELLS[chip]
    cell = next(cell for cell in Grid((chip,), ("f16",)).cells() if cell.name == name)
    cells = json.loads(GRID_RECORD.read_text())["cells"]
    recorded = next(cell["ours"] for cell in cells if (cell["kernel"], cell["chip"]) == (name, chip))
    runner = isa.Runner(isa.Cache(tmp_path))
    found = isa.brief(runner.figures(cell.case(), chip, runner.ours(cell.case(), chip)))
    for figure in ("rate", "loop rate", "conflicts", "registers", "spills"):
        assert found.get(figure, 0) <= recorded.get(figure, 0), figure
