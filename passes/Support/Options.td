//===- Options.td - Options that several passes have -------*- tablegen -*-===//

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
                         "Warps of a block, or `auto`: what the largest matmul "
                         "needs, or the target's default, e.g. "
                         "`num-warps=4`">;

def BlocksOption
    : Option<"blocks", "blocks", "int64_t", "0",
             "Blocks of a persistent grid, each of which computes every so "
             "many-th tile, e.g. `blocks=132`; 0: a block for "
             "each tile">;

def CopiesOption : Option<"copies", "copies", "::smalti::OperandCopies",
                          "::smalti::OperandCopies::Auto",
                          "How the operands of a matmul get to shared memory, "
                          "e.g. `copies=async`",
                          [{::llvm::cl::values(
             clEnumValN(::smalti::OperandCopies::Auto, "auto", "as it pays on the target"),
             clEnumValN(::smalti::OperandCopies::Async, "async", "by asynchronous copies wherever that is possible"),
             clEnumValN(::smalti::OperandCopies::Registers, "registers", "through registers"))}]>;

def MatmulOption
    : Option<"matmul", "matmul", "::smalti::MatmulKind",
             "::smalti::MatmulKind::Auto",
             "Which instructions compute a matmul, e.g. `matmul=mma`",
             [{::llvm::cl::values(
             clEnumValN(::smalti::MatmulKind::Auto, "auto",
                        "wgmma where all matmuls of a program allow it and it pays, else mma"),
             clEnumValN(::smalti::MatmulKind::Warpgroups, "wgmma", "`wgmma` of warpgroups wherever that is possible"),
             clEnumValN(::smalti::MatmulKind::Warps, "mma", "the MMAs of warps"))}]>;

def SpecializeOption
    : Option<"specialize", "specialize", "::smalti::Specialize",
             "::smalti::Specialize::Auto",
             "Whether warps of their own copy for warpgroups that multiply, "
             "e.g. `specialize=off`",
             [{::llvm::cl::values(
             clEnumValN(::smalti::Specialize::Auto, "auto", "where it is estimated to pay"),
             clEnumValN(::smalti::Specialize::On, "on", "always; it is an error if that is not possible for a kernel with synchronous wgmma"),
             clEnumValN(::smalti::Specialize::Off, "off", "never"))}]>;

def TileOrderKinds {
  string values = [{::llvm::cl::values(
    clEnumValN(::smalti::TileOrderKind::Auto, "auto", "the order that is estimated to read the least"),
    clEnumValN(::smalti::TileOrderKind::None, "none", "as tiles are numbered"),
    clEnumValN(::smalti::TileOrderKind::Grouped, "grouped", "down the rows of a group, column by column"),
    clEnumValN(::smalti::TileOrderKind::Snake, "snake", "grouped, every other group backwards"))}];
}

#endif // SMALTI_PASSES_OPTIONS
