//===- ExternalOps.td - Assembly and external functions ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_EXTERNALOPS
#define SMALTI_DIALECTS_TRITONXLA_EXTERNALOPS

include "smalti/dialects/TritonXLA/TritonXLABase.td"
include "smalti/dialects/TritonXLA/TritonXLAEnums.td"

/// Code of a GPU that computes each element of its results from the elements with the same index of its operands.
class TritonXLA_ExternalOp<string mnemonic, list<Trait> traits = []> : TritonXLA_Op<mnemonic,
    traits # ElementwiseMappable.traits #
    [SingleBlock, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let regions = (region MaxSizedRegion<1>:$reference);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TritonXLA_InlineAsmOp : TritonXLA_ExternalOp<"inline_asm"> {
  let summary = "Inline assembly on each element of tiles";
  let description = [{
    An execution of the assembly computes `pack` elements of each result from the elements
    with the same indices of the operands. The operands and results are tiles of one
    shape, scalars, or in a block-level kernel vectors of one shape. Their elements are
    `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32` or `f64`. The op has at least one
    operand and one result.

    The `pack` elements of an operand or result are in registers. Elements of 32 or 64
    bits have one register each. Narrower elements are together in registers of up to 32 bits,
    the first one in the low bits. `pack` is a power of two, at most 16. Which elements
    are in an execution is not specified. `constraints` has an entry of LLVM's syntax for
    each register: those of the results (`=r`), those of the operands (`r`), then
    clobbers (`~{memory}`). The assembly names them `$0`, `$1` and so on; `$$` is a
    dollar sign.

    | vendor | constraint | register |
    |---|---|---|
    | `nvidia` | `h` | 16 bits |
    | `nvidia` | `r`, `f` | 32 bits: integer, float |
    | `nvidia` | `l`, `d` | 64 bits: integer, float |
    | `amd` | `v` | VGPR, or a pair of VGPRs for 64 bits |
    | both | `0`, `1`, ... | an operand in the register of this result |

    The assembly has instructions. AMD's cannot have labels or directives. In PTX, labels
    and declarations such as `.reg` are inside of braces, since several executions may be in
    a kernel.

    A result may begin with `=&` instead of `=`: its register differs from those of the
    operands.

    | `effects` | meaning |
    |---|---|
    | `none` | the results depend only on the operands; executions may be added, merged and removed |
    | `read` | the assembly also reads memory |
    | `write` | the assembly reads and writes memory, or has other effects such as a clock |

    The number of executions for an element is not specified: several threads may hold
    the element. Accesses to memory are not ordered with accesses of other threads.

    The region computes the results from the elements of the operands by scalar ops
    without side effects. The simulator, the reference interpreter, the CPU and the GPUs of
    the other vendor run the region; without it, they refuse the op. An op with effects does
    not have the region.

    Example: an approximate power of two.

    ```mlir
    triton_xla.entry_func @power(%x: memref<64xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
      %r = triton_xla.inline_asm nvidia "ex2.approx.ftz.f32 $0, $1;", "=f,f" (%t) effects none
          : (tensor<64xf32>) -> tensor<64xf32> reference {
      ^bb0(%e: f32):
        %p = math.exp2 %e : f32
        triton_xla.yield %p : f32
      }
      triton_xla.insert %r into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_GPUVendor:$vendor, StrAttr:$text, StrAttr:$constraints, Variadic<AnyType>:$operands,
    TritonXLA_ExternalEffects:$effects, DefaultValuedAttr<I64Attr, "1">:$pack);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $vendor $text `,` $constraints `(` $operands `)` `effects` $effects (`pack` $pack^)? attr-dict
    `:` functional-type($operands, $results) (`reference` $reference^)?
  }];
}

def TritonXLA_ExternCallOp : TritonXLA_ExternalOp<"extern_call"> {
  let summary = "Call of an external device function for each element of tiles";
  let description = [{
    An element of the result is `function` of the elements with the same index of the
    operands. The operands and the result are tiles of one shape, scalars, or in a
    block-level kernel vectors of one shape. Their elements are `i8`, `i16`, `i32`, `i64`,
    `f16`, `bf16`, `f32` or `f64`, and the function has parameters and a result of the
    same types.

    `library` is the path of a file with LLVM IR, as text or bitcode, that defines the
    function. Without it, the function is of the device library of the vendor, and its
    name begins with `__nv_` (libdevice), or with `__ocml_` or `__ockl_`.

    The effects and the region are those of `triton_xla.inline_asm`.

    Example: the square root of libdevice.

    ```mlir
    triton_xla.entry_func @root(%x: memref<64xf32>, %tile: index) tiles 1 {
      %t = triton_xla.extract %x[0] [64] [1] : memref<64xf32> to tensor<64xf32>
      %r = triton_xla.extern_call nvidia "__nv_fsqrt_rn"(%t) effects none : (tensor<64xf32>) -> tensor<64xf32>
      triton_xla.insert %r into %x[0] [64] [1] : tensor<64xf32> into memref<64xf32>
      triton_xla.return
    }
    ```
  }];
  let arguments = (ins
    TritonXLA_GPUVendor:$vendor, StrAttr:$function, OptionalAttr<StrAttr>:$library, Variadic<AnyType>:$operands,
    TritonXLA_ExternalEffects:$effects);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $vendor $function (`library` $library^)? `(` $operands `)` `effects` $effects attr-dict
    `:` functional-type($operands, $result) (`reference` $reference^)?
  }];
}

#endif // SMALTI_DIALECTS_TRITONXLA_EXTERNALOPS
