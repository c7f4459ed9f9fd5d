//===- Options.td - Options shared by several passes -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_OPTIONS
#define SMALTI_PASSES_OPTIONS

include "mlir/Pass/PassBase.td"

/// `use` follows "The chip" in the description.
class TargetOption<string use = "">
    : Option<"target", "target", "std::string", "\"\"",
             "The chip"#use#", e.g. `target=sm_90a`; default: the attribute "
                            "`smalti.target`">;

class StrictOption<string condition>
    : Option<"strict", "strict", "bool", "false",
             condition#" is an error, e.g. `strict=true`; default: `false`, a missed remark">;

class AutoOrNumberOption<string name, string arg, string default, string desc>
    : Option<name, arg, "::smalti::AutoOrNumber", default, desc>;

def NumWarpsOption
    : AutoOrNumberOption<"numWarps", "num-warps", "::smalti::AutoOrNumber()",
                         "Number of warps per block, e.g. `num-warps=4`; default: `auto`, derived from the largest matmul, or the target's default without a matmul">;

def BlocksOption
    : Option<"blocks", "blocks", "int64_t", "0",
             "Number of blocks of a persistent grid, in which each block computes several tiles, e.g. `blocks=132`; default: 0, one block per tile">;

def CopiesOption : Option<"copies", "copies", "::smalti::OperandCopies",
                          "::smalti::OperandCopies::Auto",
                          "How the operands of a matmul are copied to shared memory, "
                          "e.g. `copies=async`; default: `auto`",
                          [{::llvm::cl::values(
             clEnumValN(::smalti::OperandCopies::Auto, "auto", "the faster method on the target"),
             clEnumValN(::smalti::OperandCopies::Async, "async", "by asynchronous copies where possible, else through registers"),
             clEnumValN(::smalti::OperandCopies::Registers, "registers", "by loads to registers and stores to shared memory"))}]>;

def MatmulOption
    : Option<"matmul", "matmul", "::smalti::MatmulKind",
             "::smalti::MatmulKind::Auto",
             "The instructions that compute a matmul, e.g. `matmul=mma`; default: `auto`",
             [{::llvm::cl::values(
             clEnumValN(::smalti::MatmulKind::Auto, "auto",
                        "wgmma if all matmuls of a kernel support it, else mma"),
             clEnumValN(::smalti::MatmulKind::Warpgroups, "wgmma", "`wgmma` if possible; else mma, and a missed remark says why"),
             clEnumValN(::smalti::MatmulKind::Warps, "mma", "MMAs of one warp (`mma.sync`, MFMA, WMMA)"))}]>;

def SpecializeOption
    : Option<"specialize", "specialize", "::smalti::Specialize",
             "::smalti::Specialize::Auto",
             "Whether a kernel is split into producer and consumer warps (warp specialization), e.g. `specialize=off`; default: `auto`",
             [{::llvm::cl::values(
             clEnumValN(::smalti::Specialize::Auto, "auto", "the kernel is split if an estimate predicts a shorter time"),
             clEnumValN(::smalti::Specialize::On, "on", "the kernel is always split; a kernel with synchronous `wgmma` ops (attribute `smalti.synchronous`) that cannot be split is an error"),
             clEnumValN(::smalti::Specialize::Off, "off", "the kernel is not split"))}]>;

def CheckIndicesOption
    : Option<"checkIndices", "check-indices", "bool", "false",
             "Check at run time that indices of single elements are in bounds, e.g. `check-indices=true`; code for a GPU then runs only in the emulator">;

def TileOrderKinds {
  string values = [{::llvm::cl::values(
    clEnumValN(::smalti::TileOrderKind::Auto, "auto", "the order that is estimated to read the fewest bytes of global memory"),
    clEnumValN(::smalti::TileOrderKind::None, "none", "blocks compute tiles in the order of the tile id"),
    clEnumValN(::smalti::TileOrderKind::Grouped, "grouped", "groups of rows of tiles; within a group, column by column"),
    clEnumValN(::smalti::TileOrderKind::Snake, "snake", "like grouped, with the columns of every second group in reverse order"))}];
}

#endif // SMALTI_PASSES_OPTIONS
