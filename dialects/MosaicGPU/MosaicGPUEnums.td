//===- MosaicGPUEnums.td - Enumerations of the dialect -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The enumerations are i32 attributes with the numbers of JAX, so that JAX's
// generic form (`oob_fill_mode = 2 : i32`) parses.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUENUMS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUENUMS

include "mlir/IR/EnumAttr.td"

class MosaicGPU_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::smalti::mosaic_gpu";
}

def MosaicGPU_Dimension : MosaicGPU_Enum<"Dimension", "a dimension of the cluster: x, y or z", [
  I32EnumAttrCase<"X", 0, "x">,
  I32EnumAttrCase<"Y", 1, "y">,
  I32EnumAttrCase<"Z", 2, "z">
]>;

def MosaicGPU_TMAReduction : MosaicGPU_Enum<"TMAReduction",
    "reduction of a bulk store: add, min, max, inc, dec, and, or, xor, umin, umax, smin or smax", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Min", 1, "min">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Inc", 3, "inc">,
  I32EnumAttrCase<"Dec", 4, "dec">,
  I32EnumAttrCase<"And", 5, "and">,
  I32EnumAttrCase<"Or", 6, "or">,
  I32EnumAttrCase<"Xor", 7, "xor">,
  I32EnumAttrCase<"Umin", 8, "umin">,
  I32EnumAttrCase<"Umax", 9, "umax">,
  I32EnumAttrCase<"Smin", 10, "smin">,
  I32EnumAttrCase<"Smax", 11, "smax">
]>;

def MosaicGPU_TMEMLoadReduction : MosaicGPU_Enum<"TMEMLoadReduction",
    "row reduction of a tensor memory load: min, max, absmin or absmax", [
  I32EnumAttrCase<"Min", 0, "min">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"AbsMin", 2, "absmin">,
  I32EnumAttrCase<"AbsMax", 3, "absmax">
]>;

def MosaicGPU_OOBFillMode : MosaicGPU_Enum<"OOBFillMode",
    "value of elements outside of the source: undefined, promise_in_bounds or zeros", [
  I32EnumAttrCase<"Undefined", 0, "undefined">,
  I32EnumAttrCase<"PromiseInBounds", 1, "promise_in_bounds">,
  I32EnumAttrCase<"Zeros", 2, "zeros">
]>;

def MosaicGPU_MultimemLoadReductionType : MosaicGPU_Enum<"MultimemLoadReductionType",
    "reduction of a multimem load: add, min, max, and, or, xor, umin, umax, smin or smax", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Min", 1, "min">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"And", 3, "and">,
  I32EnumAttrCase<"Or", 4, "or">,
  I32EnumAttrCase<"Xor", 5, "xor">,
  I32EnumAttrCase<"Umin", 6, "umin">,
  I32EnumAttrCase<"Umax", 7, "umax">,
  I32EnumAttrCase<"Smin", 8, "smin">,
  I32EnumAttrCase<"Smax", 9, "smax">
]>;

def MosaicGPU_AtomicOpType : MosaicGPU_Enum<"AtomicOpType",
    "operation of an atomic store: add, min, max, and, or or xor", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Min", 1, "min">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"And", 3, "and">,
  I32EnumAttrCase<"Or", 4, "or">,
  I32EnumAttrCase<"Xor", 5, "xor">
]>;

// The following enumerations are not in JAX.

def MosaicGPU_AtomicScope : MosaicGPU_Enum<"AtomicScope",
    "threads for which an operation is atomic: block, device or system", [
  I32EnumAttrCase<"Block", 0, "block">,
  I32EnumAttrCase<"Device", 1, "device">,
  I32EnumAttrCase<"System", 2, "system">
]>;

def MosaicGPU_AtomicOrdering : MosaicGPU_Enum<"AtomicOrdering",
    "memory ordering of an atomic operation: relaxed, acquire, release or acq_rel", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcqRel", 3, "acq_rel">
]>;

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUENUMS
