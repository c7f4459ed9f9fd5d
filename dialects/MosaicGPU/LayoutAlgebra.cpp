//===- LayoutAlgebra.cpp - Layouts of block-level vectors, as pure data ---===//

#include "dialects/MosaicGPU/LayoutAlgebra.h"

using namespace smalti::layout;

int64_t TiledLayout::vectorLength() const { return 1; }
