// Refused buffers: the full reason, and the unchanged function.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-swizzle-shared-memory{target=gfx950}))' \
// RUN:   --remarks-filter=smalti-swizzle-shared-memory -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-swizzle-shared-memory{target=gfx950 strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// STRICT: error: smalti-swizzle-shared-memory: buffer not swizzled: the buffer has type memref<{{.*}}>; at least two dimensions are required
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-swizzle-shared-memory{target=gfx950 marked=true}))' \
// RUN:   --remarks-filter=smalti-swizzle-shared-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=MARKED
// MARKED: Function=number
// MARKED-NOT: Function=
#shared = #gpu.address_space<workgroup>

// CHECK: [Missed] smalti-swizzle-shared-memory | Category:smalti-swizzle-shared-memory | Function=one_dimension | Remark="buffer not swizzled: the buffer has type memref<{{.*}}; at least two dimensions are required"
func.func @one_dimension() -> f32 {
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<1024xf32, #shared>
  %v = memref.load %buffer[%lane] : memref<1024xf32, #shared>
  return %v : f32
}

// CHECK: Function=escapes | Remark="buffer not swizzled: the buffer escapes through 'memref.extract_aligned_pointer_as_index', so not all of its uses are known; do not pass it or its address to this op"
func.func @escapes() -> index {
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %p = memref.extract_aligned_pointer_as_index %buffer : memref<32x32xf32, #shared> -> index
  return %p : index
}

// CHECK: Function=reinterpreted | Remark="buffer not swizzled: indices cannot be traced through 'memref.reinterpret_cast'; use memref.subview, or reshape a memref with static sizes"
func.func @reinterpreted() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %flat = memref.reinterpret_cast %buffer to offset: [0], sizes: [1024], strides: [1]
    : memref<32x32xf32, #shared> to memref<1024xf32, strided<[1]>, #shared>
  %v = memref.load %flat[%lane] : memref<1024xf32, strided<[1]>, #shared>
  return %v : f32
}

// Wider than a chunk: upstream's XOR is wrong for these.
// CHECK: Function=wide | Remark="buffer not swizzled: 'vector.load' accesses 32 B; a power of two up to 16 B is required"
func.func @wide() -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  %v = vector.load %buffer[%lane, %c0] : memref<64x64xf32, #shared>, vector<8xf32>
  return %v : vector<8xf32>
}

// CHECK: Function=odd_width | Remark="buffer not swizzled: 'vector.store' accesses 12 B; a power of two up to 16 B is required"
func.func @odd_width(%v: vector<3xf32>) {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  vector.store %v, %buffer[%lane, %c0] : memref<64x64xf32, #shared>, vector<3xf32>
  return
}

// CHECK: Function=unaligned | Remark="buffer not swizzled: 'vector.load' accesses 16 B at offsets that cannot be proven to be multiples of the access size; use aligned indices"
func.func @unaligned(%column: index) -> vector<4xf32> {
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  %v = vector.load %buffer[%lane, %column] : memref<64x64xf32, #shared>, vector<4xf32>
  return %v : vector<4xf32>
}

// CHECK: Function=several_rows | Remark="buffer not swizzled: 'vector.load' does not access the buffer with an index per dimension, as the swizzle requires; use loads and stores of memref or vector"
func.func @several_rows() -> vector<2x4xf32> {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  %v = vector.load %buffer[%lane, %c0] : memref<64x64xf32, #shared>, vector<2x4xf32>
  return %v : vector<2x4xf32>
}

// CHECK: Function=bounds | Remark="buffer not swizzled: 'vector.transfer_read' may be out of bounds; mark the transfer as in_bounds"
func.func @bounds(%column: index) -> vector<4xf32> {
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  %v = vector.transfer_read %buffer[%lane, %column], %zero : memref<64x64xf32, #shared>, vector<4xf32>
  return %v : vector<4xf32>
}

// CHECK: Function=gather | Remark="buffer not swizzled: 'amdgpu.gather_to_lds' writes consecutive addresses across lanes, which a swizzle would break"
func.func @gather(%in: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  amdgpu.gather_to_lds %in[%lane], %buffer[%c0, %c0] : f32, memref<1024xf32>, memref<64x64xf32, #shared>
  return
}

// CHECK: Function=fill | Remark="buffer not swizzled: 'linalg.fill' does not access the buffer with an index per dimension, as the swizzle requires; use loads and stores of memref or vector"
func.func @fill(%zero: f32) {
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  linalg.fill ins(%zero : f32) outs(%buffer : memref<64x64xf32, #shared>)
  return
}

// CHECK: Function=ragged_rows | Remark="buffer not swizzled: the row size of 200 B is not a multiple of the widest access, 16 B"
func.func @ragged_rows() -> vector<8xf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %lane = gpu.thread_id x
  %even = arith.muli %lane, %c2 : index
  %buffer = memref.alloc() : memref<128x100xf16, #shared>
  %v = vector.load %buffer[%even, %c0] : memref<128x100xf16, #shared>, vector<8xf16>
  return %v : vector<8xf16>
}

// CHECK: Function=shared_bytes | Remark="buffer not swizzled: 'memref.view' creates a view of bytes 64 to 4159, which overlaps the buffer; allocate separate bytes"
// CHECK: Function=shared_bytes | Remark="buffer not swizzled: 'memref.view' creates a view of bytes 0 to 4095, which overlaps the buffer; allocate separate bytes"
func.func @shared_bytes() -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %lane = gpu.thread_id x
  %bytes = gpu.dynamic_shared_memory : memref<?xi8, #shared>
  %again = gpu.dynamic_shared_memory : memref<?xi8, #shared>
  %buffer = memref.view %bytes[%c0][] : memref<?xi8, #shared> to memref<32x32xf32, #shared>
  %other = memref.view %again[%c64][] : memref<?xi8, #shared> to memref<32x32xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<32x32xf32, #shared>
  %w = memref.load %other[%c0, %c0] : memref<32x32xf32, #shared>
  %s = arith.addf %v, %w : f32
  return %s : f32
}

// CHECK: Function=block_level | Remark="buffer not swizzled: the kernel is block-level, where accesses do not have per-thread indices; run this pass after the conversion to thread level"
func.func @block_level() -> vector<64x64xf32> {
  %buffer = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #shared>
  %v = mosaic_gpu.vector_load %buffer : memref<64x64xf32, #shared> -> vector<64x64xf32>
  return %v : vector<64x64xf32>
}

// CHECK: Function=unknown_lanes | Remark="buffer not swizzled: bank conflicts cannot be determined, since no access has statically known addresses; 'only-when-conflicts=false' swizzles anyway"
func.func @unknown_lanes(%i: index) -> f32 {
  %buffer = memref.alloc() : memref<64x64xf32, #shared>
  %v = memref.load %buffer[%i, %i] : memref<64x64xf32, #shared>
  return %v : f32
}

// CHECK: Function=number | Remark="buffer not swizzled: the buffer has the attribute smalti.swizzle_shared_memory = 0 : i64; it must be true or false"
func.func @number() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() {smalti.swizzle_shared_memory = 0} : memref<64x64xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<64x64xf32, #shared>
  return %v : f32
}

// CHECK-NOT: Remark
func.func @left_alone() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() {smalti.swizzle_shared_memory = false} : memref<64x64xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<64x64xf32, #shared>
  return %v : f32
}

// CHECK: Function=single | Remark="buffer not swizzled: the buffer has a single row; a swizzle requires several rows, whose chunks it permutes differently"
func.func @single(%x: f32) {
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %b = memref.alloc() : memref<1x64xf32, #shared>
  memref.store %x, %b[%c0, %t] : memref<1x64xf32, #shared>
  return
}

// CHECK: Function=place | Remark="buffer not swizzled: the offset of the buffer is dynamic; a static offset is required"
func.func @place(%n: index, %x: f32) {
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %m = gpu.dynamic_shared_memory : memref<?xi8, #shared>
  %b = memref.view %m[%n][] : memref<?xi8, #shared> to memref<64x32xf32, #shared>
  memref.store %x, %b[%t, %c0] : memref<64x32xf32, #shared>
  return
}

// CHECK: Function=lessens | Remark="buffer not swizzled: no swizzle reduces the 63 bank conflicts"
func.func @lessens(%x: f32) {
  %t = gpu.thread_id x
  %c2 = arith.constant 128 : index
  %c0 = arith.constant 0 : index
  %r = arith.muli %t, %c2 : index
  %b = memref.alloc() : memref<8192x2xf32, #shared>
  memref.store %x, %b[%r, %c0] : memref<8192x2xf32, #shared>
  return
}
