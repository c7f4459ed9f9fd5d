//===- MosaicGPUAttrs.td - Layouts, transforms, barrier type -*- tablegen -*-===//

#ifndef SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUATTRS
#define SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUATTRS

include "dialects/MosaicGPU/MosaicGPUDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"

class MosaicGPU_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<MosaicGPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def MosaicGPU_SwizzlingMode : I32EnumAttr<"SwizzlingMode", "Bytes that a shared-memory swizzle spans", [
    I32EnumAttrCase<"kNoSwizzle", 16, "none">, I32EnumAttrCase<"k32ByteSwizzle", 32, "32">,
    I32EnumAttrCase<"k64ByteSwizzle", 64, "64">, I32EnumAttrCase<"k128ByteSwizzle", 128, "128">]> {
  let cppNamespace = "::smalti::mosaic_gpu";
}

def MosaicGPU_WGStridedFragLayout : MosaicGPU_Attr<"WGStridedFragLayout", "WGStridedFragLayout"> {
  let summary = "Chunks of consecutive elements, dealt to the threads in turn";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "int64_t":$vector_size);
  let assemblyFormat = "`<` `[` $shape `]` `,` $vector_size `>`";
}

def MosaicGPU_WGSplatFragLayout : MosaicGPU_Attr<"WGSplatFragLayout", "WGSplatFragLayout"> {
  let summary = "One scalar that every element equals";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` `[` $shape `]` `>`";
}

def MosaicGPU_Replicated : MosaicGPU_Attr<"Replicated", "Replicated"> {
  let summary = "A factor of the warp or lane index that holds the same elements";
  let parameters = (ins "int64_t":$times);
  let assemblyFormat = "`<` `times` `=` $times `>`";
}

def MosaicGPU_TiledLayout : MosaicGPU_Attr<"TiledLayout", "TiledLayout"> {
  let summary = "A nested tiling whose dimensions are warps, lanes, registers and a vector";
  let parameters = (ins "::mlir::ArrayAttr":$tiling, "::mlir::ArrayAttr":$warp_dims, "::mlir::ArrayAttr":$lane_dims,
                        "int64_t":$vector_dim);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The layout as data.
    ::smalti::layout::TiledLayout getLayout() const;
    /// The attribute of a layout.
    static TiledLayoutAttr get(::mlir::MLIRContext *context, const ::smalti::layout::TiledLayout &layout);
  }];
}

def MosaicGPU_Tile : MosaicGPU_Attr<"TileTransform", "tile"> {
  let summary = "Shared memory is stored tile after tile";
  let parameters = (ins ArrayRefParameter<"int64_t">:$tiling);
  let assemblyFormat = "`<` `[` $tiling `]` `>`";
}

def MosaicGPU_Swizzle : MosaicGPU_Attr<"SwizzleTransform", "swizzle"> {
  let summary = "16-byte chunks of a row are exchanged so that columns spread over the banks";
  let parameters = (ins "::mlir::IntegerAttr":$swizzle);
  let assemblyFormat = "`<` $swizzle `>`";
}

def MosaicGPU_Barrier : TypeDef<MosaicGPU_Dialect, "Barrier", [MemRefElementTypeInterface]> {
  let mnemonic = "barrier";
  let summary = "A barrier object in shared memory (8 bytes)";
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$orders_tensor_core);
  let assemblyFormat = "(`<` `orders_tensor_core` `=` $orders_tensor_core^ `>`)?";
}

#endif // SMALTI_DIALECTS_MOSAICGPU_MOSAICGPUATTRS
