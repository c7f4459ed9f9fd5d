// Refused buffers: the full reason, and the unchanged function.
// RUN: smalti-opt %s -o %t.before
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=gfx942}))' \
// RUN:   --remarks-filter=smalti-pad-shared-memory -o %t.after 2>%t.remarks
// RUN: diff %t.before %t.after
// RUN: FileCheck %s --implicit-check-not=Function=barriers < %t.remarks
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=gfx942 strict=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT
// STRICT: error: smalti-pad-shared-memory: rows not padded: the buffer has type memref<{{.*}}>; at least two dimensions are required
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// TARGET: error: no target given
// RUN: not smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=gfx942 max-padding=0}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPTION
// OPTION: error: smalti-pad-shared-memory: option 'max-padding' must be between 1 and 4096 bytes; it is 0
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=gfx942 marked=true}))' \
// RUN:   --remarks-filter=smalti-pad-shared-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=MARKED
// MARKED: Function=number
// MARKED-NOT: Function=
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-pad-shared-memory{target=cpu}))' -o %t.cpu
// RUN: diff %t.before %t.cpu
#shared = #gpu.address_space<workgroup>

// CHECK: [Missed] smalti-pad-shared-memory | Category:smalti-pad-shared-memory | Function=one_dimension | Remark="rows not padded: the buffer has type memref<{{.*}}; at least two dimensions are required"
func.func @one_dimension() -> f32 {
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<1024xf32, #shared>
  %v = memref.load %buffer[%lane] : memref<1024xf32, #shared>
  return %v : f32
}

// Barriers do not have rows.
func.func @barriers() {
  %barriers = memref.alloc() : memref<8x!mosaic_gpu.barrier, #shared>
  return
}

// CHECK: Function=dynamic | Remark="rows not padded: the buffer has a dynamic size: its type is memref<?x{{.*}}; a static shape is required"
func.func @dynamic(%n: index) {
  %buffer = memref.alloc(%n) : memref<?x32xf32, #shared>
  return
}

// CHECK: Function=layout | Remark="rows not padded: the buffer has type memref<32x32xf32, strided<[1, 32]>, #gpu.address_space<workgroup>>, whose layout is not the identity; allocate it without a layout"
func.func @layout() {
  %buffer = memref.alloc() : memref<32x32xf32, strided<[1, 32]>, #shared>
  return
}

// CHECK: Function=empty | Remark="rows not padded: the buffer is empty: its type is memref<{{.*}}"
func.func @empty() {
  %buffer = memref.alloc() : memref<0x32xf32, #shared>
  return
}

// CHECK: Function=placed | Remark="rows not padded: the buffer already has a fixed offset in shared memory; run the pass before smalti-allocate-shared-memory"
func.func @placed() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %bytes = gpu.dynamic_shared_memory : memref<?xi8, #shared>
  %buffer = memref.view %bytes[%c0][] : memref<?xi8, #shared> to memref<32x32xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<32x32xf32, #shared>
  return %v : f32
}

// CHECK: Function=reinterpreted | Remark="rows not padded: the buffer is viewed by 'memref.reinterpret_cast', which does not accept padded rows; access the buffer directly"
func.func @reinterpreted() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %flat = memref.reinterpret_cast %buffer to offset: [0], sizes: [1024], strides: [1]
    : memref<32x32xf32, #shared> to memref<1024xf32, strided<[1]>, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<32x32xf32, #shared>
  return %v : f32
}

// CHECK: Function=collapsed | Remark="rows not padded: the buffer is viewed by 'memref.collapse_shape', which does not accept padded rows; access the buffer directly"
func.func @collapsed() -> f32 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %flat = memref.collapse_shape %buffer [[0, 1]] : memref<32x32xf32, #shared> into memref<1024xf32, #shared>
  %i = arith.muli %lane, %c32 : index
  %v = memref.load %flat[%i] : memref<1024xf32, #shared>
  return %v : f32
}

// The second cast states the old strides.
// CHECK: Function=cast_back | Remark="rows not padded: the buffer is viewed by 'memref.cast', which does not accept padded rows; remove the cast"
func.func @cast_back() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<32x32xf32, #shared>
  %some = memref.cast %buffer : memref<32x32xf32, #shared> to memref<32x32xf32, strided<[?, ?], offset: ?>, #shared>
  %back = memref.cast %some : memref<32x32xf32, strided<[?, ?], offset: ?>, #shared> to memref<32x32xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<32x32xf32, #shared>
  return %v : f32
}

// The 64 x 4 bytes of a wave are consecutive in LDS, four rows of the buffer.
// CHECK: Function=gather | Remark="rows not padded: 'amdgpu.gather_to_lds' accesses 64 consecutive elements, which cannot be proven to stay in one row of 16 elements; access a power of two of elements that divides the row size, at indices that are multiples of it"
func.func @gather(%in: memref<1024xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x16xf32, #shared>
  amdgpu.gather_to_lds %in[%lane], %buffer[%c0, %c0] : f32, memref<1024xf32>, memref<64x16xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<64x16xf32, #shared>
  return %v : f32
}

// CHECK: Function=unknown_op | Remark="rows not padded: 'vector.gather' may ignore the strides of its memref; padding requires accesses that use the strides"
func.func @unknown_op(%offsets: vector<8xindex>, %mask: vector<8xi1>, %pass: vector<8xf32>) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %buffer = memref.alloc() : memref<64x16xf32, #shared>
  %v = vector.gather %buffer[%c0, %c0] [%offsets], %mask, %pass
    : memref<64x16xf32, #shared>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  return %v : vector<8xf32>
}

// CHECK: Function=unknown_lanes | Remark="rows not padded: bank conflicts cannot be determined, since no access has statically known addresses; 'only-when-conflicts=false' pads anyway"
func.func @unknown_lanes(%i: index) -> f32 {
  %buffer = memref.alloc() : memref<64x16xf32, #shared>
  %v = memref.load %buffer[%i, %i] : memref<64x16xf32, #shared>
  return %v : f32
}

// Always two words of one bank: the lanes are at least 128 bytes apart within a row.
// CHECK: Function=hopeless | Remark="rows not padded: no padding of up to 128 B in steps of 4 B reduces the 62 bank conflicts"
func.func @hopeless() -> f32 {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %lane = gpu.thread_id x
  %column = arith.muli %lane, %c32 : index
  %buffer = memref.alloc() : memref<2x2048xf32, #shared>
  %v = memref.load %buffer[%c0, %column] : memref<2x2048xf32, #shared>
  return %v : f32
}

// 65536 bytes are available.
// CHECK: Function=budget | Remark="rows not padded: with the smallest padding that reduces the 62 bank conflicts of the buffer, the kernel needs 66048 B of shared memory; gfx942 allows 65536 B, so use smaller buffers"
func.func @budget() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<128x128xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<128x128xf32, #shared>
  return %v : f32
}

// CHECK: Function=number | Remark="rows not padded: the buffer has the attribute smalti.pad_shared_memory = 0 : i64; it must be true or false"
func.func @number() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() {smalti.pad_shared_memory = 0} : memref<64x64xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<64x64xf32, #shared>
  return %v : f32
}

// CHECK-NOT: Remark
func.func @left_alone() -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() {smalti.pad_shared_memory = false} : memref<64x64xf32, #shared>
  %v = memref.load %buffer[%lane, %c0] : memref<64x64xf32, #shared>
  return %v : f32
}

// The loads to LDS of a wave write consecutive addresses.
// CHECK: Function=filled_by_waves | Remark="rows not padded: the waves of 'mosaic_gpu.async_copy' write consecutive LDS addresses on gfx942 and cannot skip padding"
func.func @filled_by_waves(%a: memref<64x32xf32>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %lane = gpu.thread_id x
  %buffer = memref.alloc() : memref<64x32xf32, #shared>
  mosaic_gpu.async_copy %a[%c0, %c0] to %buffer : memref<64x32xf32> to memref<64x32xf32, #shared>
  mosaic_gpu.async_commit_group
  mosaic_gpu.async_wait_group 0
  gpu.barrier
  %v = memref.load %buffer[%lane, %c0] : memref<64x32xf32, #shared>
  return %v : f32
}

// CHECK: Function=on_the_stack | Remark="rows not padded: the buffer is allocated by 'memref.alloca', which does not permit padded rows; use memref.alloc"
func.func @on_the_stack(%which: memref<32xindex>, %out: memref<32xf32>) attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %thread = gpu.thread_id x
  %v = arith.constant 0.0 : f32
  %buffer = memref.alloca() : memref<32x32xf32, #shared>
  memref.store %v, %buffer[%thread, %c0] : memref<32x32xf32, #shared>
  %place = memref.load %which[%thread] : memref<32xindex>
  %w = memref.load %buffer[%place, %c0] : memref<32x32xf32, #shared>
  memref.store %w, %out[%thread] : memref<32xf32>
  return
}

// CHECK: Function=no_bits | Remark="rows not padded: the buffer has type memref<{{.*}}>, whose size in bytes is unknown"
func.func @no_bits() {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %s = memref.alloc() : memref<16x64xi0, 3>
  scf.for %i = %c0 to %c16 step %c1 {
    %v = vector.load %s[%i, %c0] : memref<16x64xi0, 3>, vector<8xi0>
    vector.store %v, %s[%i, %c0] : memref<16x64xi0, 3>, vector<8xi0>
  }
  return
}
