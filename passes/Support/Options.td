//===- Options.td - Options shared by several passes -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_PASSES_OPTIONS
#define SMALTI_PASSES_OPTIONS

include "mlir/Pass/PassBase.td"

/// `use` follows "The chip" in the description.
class TargetOption<string use = "">
    : Option<"target", "target", "std::string", "\"\"",
             "The chip"#use#", e.g. `target=sm_90a`; empty: the attribute "
                            "`smalti.target`">;

class StrictOption<string condition>
    : Option<"strict", "strict", "bool", "false",
             condition#" is an error, e.g. `strict=true`">;

class AutoOrNumberOption<string name, string arg, string default, string desc>
    : Option<name, arg, "::smalti::AutoOrNumber", default, desc>;

def NumWarpsOption
    : AutoOrNumberOption<"numWarps", "num-warps", "::smalti::AutoOrNumber()",
                         "Warps per block, or `auto`: derived from the largest "
                         "matmul, or the target's default, e.g. "
                         "`num-warps=4`">;

def BlocksOption
    : Option<"blocks", "blocks", "int64_t", "0",
             "Blocks of a persistent grid, each of which computes every "
             "`blocks`-th tile, e.g. `blocks=132`; 0: one block per "
             "tile">;

def CopiesOption : Option<"copies", "copies", "::smalti::OperandCopies",
                          "::smalti::OperandCopies::Auto",
                          "How the operands of a matmul are copied to shared memory, "
                          "e.g. `copies=async`",
                          [{::llvm::cl::values(
             clEnumValN(::smalti::OperandCopies::Auto, "auto", "the faster method on the target"),
             clEnumValN(::smalti::OperandCopies::Async, "async", "by asynchronous copies if possible"),
             clEnumValN(::smalti::OperandCopies::Registers, "registers", "through registers"))}]>;

def MatmulOption
    : Option<"matmul", "matmul", "::smalti::MatmulKind",
             "::smalti::MatmulKind::Auto",
             "Which instructions compute a matmul, e.g. `matmul=mma`",
             [{::llvm::cl::values(
             clEnumValN(::smalti::MatmulKind::Auto, "auto",
                        "wgmma if all matmuls of a kernel support it, else mma"),
             clEnumValN(::smalti::MatmulKind::Warpgroups, "wgmma", "`wgmma` of warpgroups if possible"),
             clEnumValN(::smalti::MatmulKind::Warps, "mma", "MMAs of warps"))}]>;

def SpecializeOption
    : Option<"specialize", "specialize", "::smalti::Specialize",
             "::smalti::Specialize::Auto",
             "Whether a kernel is split into producer and consumer warps, "
             "e.g. `specialize=off`",
             [{::llvm::cl::values(
             clEnumValN(::smalti::Specialize::Auto, "auto", "if the estimated time decreases"),
             clEnumValN(::smalti::Specialize::On, "on", "always; an error if it is not possible for a kernel with a synchronous wgmma"),
             clEnumValN(::smalti::Specialize::Off, "off", "never"))}]>;

def TileOrderKinds {
  string values = [{::llvm::cl::values(
    clEnumValN(::smalti::TileOrderKind::Auto, "auto", "the order with the fewest estimated bytes read"),
    clEnumValN(::smalti::TileOrderKind::None, "none", "the given order"),
    clEnumValN(::smalti::TileOrderKind::Grouped, "grouped", "groups of rows, numbered down each column"),
    clEnumValN(::smalti::TileOrderKind::Snake, "snake", "grouped, with reversed columns in every second group"))}];
}

#endif // SMALTI_PASSES_OPTIONS
