//===- TritonXLAEnums.td - Enumerations of the dialect -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_TRITONXLAENUMS
#define SMALTI_DIALECTS_TRITONXLA_TRITONXLAENUMS

include "mlir/IR/EnumAttr.td"

class TritonXLA_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::smalti::triton_xla";
}

def TritonXLA_MemoryScope : TritonXLA_Enum<"MemoryScope",
    "threads that an atomic operation is atomic for: those of the block (cta), the GPU (gpu) or the system (sys)", [
  I32EnumAttrCase<"CTA", 0, "cta">,
  I32EnumAttrCase<"GPU", 1, "gpu">,
  I32EnumAttrCase<"System", 2, "sys">
]>;

def TritonXLA_MemoryOrdering : TritonXLA_Enum<"MemoryOrdering",
    "ordering of an atomic operation: relaxed, acquire, release or acq_rel", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcquireRelease", 3, "acq_rel">
]>;

def TritonXLA_CacheModifier : TritonXLA_Enum<"CacheModifier",
    "caches of an access: ca, cg, cs or cv of loads; wb, cg, cs or wt of stores", [
  I32EnumAttrCase<"CA", 0, "ca">,
  I32EnumAttrCase<"CG", 1, "cg">,
  I32EnumAttrCase<"CS", 2, "cs">,
  I32EnumAttrCase<"CV", 3, "cv">,
  I32EnumAttrCase<"WB", 4, "wb">,
  I32EnumAttrCase<"WT", 5, "wt">
]>;

def TritonXLA_EvictionPolicy : TritonXLA_Enum<"EvictionPolicy",
    "priority of cached data of an access: evict_first, evict_last or no_allocate", [
  I32EnumAttrCase<"EvictFirst", 0, "evict_first">,
  I32EnumAttrCase<"EvictLast", 1, "evict_last">,
  I32EnumAttrCase<"NoAllocate", 2, "no_allocate">
]>;

def TritonXLA_DotAlgorithm : TritonXLA_Enum<"DotAlgorithm",
    "algorithm of a matmul: default, tf32, tf32x3, bf16, bf16x3, bf16x6, bf16x9 or ieee", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">,
  I32EnumAttrCase<"BF16", 3, "bf16">,
  I32EnumAttrCase<"BF16x3", 4, "bf16x3">,
  I32EnumAttrCase<"BF16x6", 5, "bf16x6">,
  I32EnumAttrCase<"BF16x9", 6, "bf16x9">,
  I32EnumAttrCase<"IEEE", 7, "ieee">
]>;

def TritonXLA_ScaleLayout : TritonXLA_Enum<"ScaleLayout",
    "order of the scales of an operand: linear, padded or swizzled_128x4", [
  I32EnumAttrCase<"Linear", 0, "linear">,
  I32EnumAttrCase<"Padded", 1, "padded">,
  I32EnumAttrCase<"Swizzled128x4", 2, "swizzled_128x4">
]> {
  let genSpecializedAttr = 0; // #triton_xla.scale_layout is its attribute.
}

#endif // SMALTI_DIALECTS_TRITONXLA_TRITONXLAENUMS
