//===- TritonXLAEnums.td - Enumerations of the dialect -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_DIALECTS_TRITONXLA_TRITONXLAENUMS
#define SMALTI_DIALECTS_TRITONXLA_TRITONXLAENUMS

include "mlir/IR/EnumAttr.td"

class TritonXLA_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::smalti::triton_xla";
}

def TritonXLA_MemoryScope : TritonXLA_Enum<"MemoryScope",
    "scope of an atomic operation", [
  I32EnumAttrCase<"CTA", 0, "cta">,
  I32EnumAttrCase<"GPU", 1, "gpu">,
  I32EnumAttrCase<"System", 2, "sys">
]>;

def TritonXLA_MemoryOrdering : TritonXLA_Enum<"MemoryOrdering",
    "memory ordering of an atomic operation", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcquireRelease", 3, "acq_rel">
]>;

def TritonXLA_CacheModifier : TritonXLA_Enum<"CacheModifier",
    "cache modifier of an access", [
  I32EnumAttrCase<"CA", 0, "ca">,
  I32EnumAttrCase<"CG", 1, "cg">,
  I32EnumAttrCase<"CS", 2, "cs">,
  I32EnumAttrCase<"CV", 3, "cv">,
  I32EnumAttrCase<"WB", 4, "wb">,
  I32EnumAttrCase<"WT", 5, "wt">
]>;

def TritonXLA_EvictionPolicy : TritonXLA_Enum<"EvictionPolicy",
    "eviction policy of an access", [
  I32EnumAttrCase<"EvictFirst", 0, "evict_first">,
  I32EnumAttrCase<"EvictLast", 1, "evict_last">,
  I32EnumAttrCase<"NoAllocate", 2, "no_allocate">
]>;

def TritonXLA_DotAlgorithm : TritonXLA_Enum<"DotAlgorithm",
    "algorithm of a matmul", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">,
  I32EnumAttrCase<"BF16", 3, "bf16">,
  I32EnumAttrCase<"BF16x3", 4, "bf16x3">,
  I32EnumAttrCase<"BF16x6", 5, "bf16x6">,
  I32EnumAttrCase<"BF16x9", 6, "bf16x9">,
  I32EnumAttrCase<"IEEE", 7, "ieee">
]>;

def TritonXLA_GPUVendor : TritonXLA_Enum<"GPUVendor",
    "vendor of the GPUs for which external code is written", [
  I32EnumAttrCase<"NVIDIA", 0, "nvidia">,
  I32EnumAttrCase<"AMD", 1, "amd">
]>;

def TritonXLA_ExternalEffects : TritonXLA_Enum<"ExternalEffects",
    "effects of external code on memory", [
  I32EnumAttrCase<"NoEffects", 0, "none">,
  I32EnumAttrCase<"Read", 1, "read">,
  I32EnumAttrCase<"Write", 2, "write">
]>;

def TritonXLA_ScaleLayout : TritonXLA_Enum<"ScaleLayout",
    "layout of the scales of an operand", [
  I32EnumAttrCase<"Linear", 0, "linear">,
  I32EnumAttrCase<"Padded", 1, "padded">,
  I32EnumAttrCase<"Swizzled128x4", 2, "swizzled_128x4">
]> {
  let genSpecializedAttr = 0; // #triton_xla.scale_layout is its attribute.
}

#endif // SMALTI_DIALECTS_TRITONXLA_TRITONXLAENUMS
