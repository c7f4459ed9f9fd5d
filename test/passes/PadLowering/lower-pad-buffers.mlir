// Padded reads and writes on AMD, whose hardware checks the bounds of raw buffers.
//
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{target=gfx942}))' \
// RUN:   --remarks-filter=smalti-lower-pad 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smalti-opt %s --pass-pipeline='builtin.module(func.func(smalti-lower-pad{target=gfx942 assume-small=true}))' \
// RUN:   | FileCheck %s --check-prefix=SMALL

// REMARK: [Passed] smalti-lower-pad | Category:smalti-lower-pad | Function=zeros | Remark="padded read lowered to a raw-buffer read; the hardware returns zeros out of bounds"
// CHECK-LABEL: func.func @zeros(
// CHECK-SAME:    %[[SOURCE:.*]]: memref<10x8xf32>, %[[I:.*]]: index
// CHECK:         %[[BUFFER:.*]] = amdgpu.fat_raw_buffer_cast %[[SOURCE]] : memref<10x8xf32> to memref<10x8xf32, #amdgpu.address_space<fat_raw_buffer>>
// The index of the first lane is clamped to the end.
// CHECK:         %[[ROWS:.*]] = arith.constant 10 : index
// CHECK:         %[[FIRST:.*]] = arith.minsi %{{.*}}, %[[ROWS]]
// CHECK:         vector.transfer_read %[[BUFFER]][%[[FIRST]], %{{.*}}], %{{.*}} {in_bounds = [true, true], tag}
// CHECK-NOT:     select
// CHECK:         return
func.func @zeros(%source: memref<10x8xf32>, %i: index) -> vector<4x8xf32> {
  %c0 = arith.constant 0 : index
  %row = arith.maxsi %i, %c0 : index
  %value = arith.constant 0.0 : f32
  %read = vector.transfer_read %source[%row, %c0], %value {in_bounds = [false, true], tag}
    : memref<10x8xf32>, vector<4x8xf32>
  return %read : vector<4x8xf32>
}

// The hardware does not return a negative zero, and the end of a row is not that of the buffer.
// REMARK: Function=selected | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// REMARK: Function=selected | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// CHECK-LABEL: func.func @selected(
// CHECK:         %[[ALL:.*]] = vector.transfer_read {{.*}} {in_bounds = [true, true]} : memref<10x8xf32, #amdgpu.address_space<fat_raw_buffer>>, vector<4x8xf32>
// CHECK:         %[[MASK:.*]] = vector.create_mask
// CHECK:         %[[PADDING:.*]] = vector.broadcast
// CHECK:         arith.select %[[MASK]], %[[ALL]], %[[PADDING]] : vector<4x8xi1>, vector<4x8xf32>
// CHECK:         arith.select {{.*}} : vector<6xi1>, vector<6xf32>
func.func @selected(%source: memref<10x8xf32>) -> (vector<4x8xf32>, vector<6xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %negative = arith.constant -0.0 : f32
  %value = arith.constant 0.0 : f32
  %read = vector.transfer_read %source[%c7, %c0], %negative {in_bounds = [false, true]}
    : memref<10x8xf32>, vector<4x8xf32>
  %overhang = vector.transfer_read %source[%c7, %c4], %value : memref<10x8xf32>, vector<6xf32>
  return %read, %overhang : vector<4x8xf32>, vector<6xf32>
}

// Permuted vectors and broadcasts.
// REMARK: Function=permuted | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// CHECK-LABEL: func.func @permuted(
// CHECK:         %[[ROWS:.*]] = arith.minsi %{{.*}}, %[[C4:.*]] : index
// CHECK:         vector.create_mask %{{.*}}, %{{.*}}, %{{.*}} : vector<2x3x4xi1>
func.func @permuted(%source: memref<10x7xf32>) -> vector<2x3x4xf32> {
  %c7 = arith.constant 7 : index
  %c6 = arith.constant 6 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c7, %c6], %value
    {in_bounds = [false, true, false], permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>}
    : memref<10x7xf32>, vector<2x3x4xf32>
  return %read : vector<2x3x4xf32>
}

// The buffer starts at the pointer and ends after the last element, for any offset.
// REMARK: Function=offset | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// CHECK-LABEL: func.func @offset(
// CHECK:         %[[BYTES:.*]] = arith.constant 224 : i64
// CHECK:         amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%[[BYTES]])
func.func @offset(%source: memref<4x8xf32, strided<[8, 1], offset: 24>>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0, %c0], %value {in_bounds = [false]}
    : memref<4x8xf32, strided<[8, 1], offset: 24>>, vector<16xf32>
  return %read : vector<16xf32>
}

// The last row ends after the longest dimension: 36 bytes, not 32.
// REMARK: Function=overlapping_rows | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// CHECK-LABEL: func.func @overlapping_rows(
// CHECK:         %[[BYTES:.*]] = arith.constant 36 : i64
// CHECK:         amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%[[BYTES]])
func.func @overlapping_rows(%source: memref<4x3xf32, strided<[2, 1]>>) -> vector<4xf32> {
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c3, %c0], %value {in_bounds = [false]}
    : memref<4x3xf32, strided<[2, 1]>>, vector<4xf32>
  return %read : vector<4xf32>
}

// One buffer for the argument; its views are recreated.
// REMARK: Function=views | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// REMARK: Function=views | Remark="padded write lowered to a raw-buffer write; out-of-bounds elements get an offset past the end of the buffer, where the hardware drops them"
// CHECK-LABEL: func.func @views(
// CHECK:         %[[BUFFER:.*]] = amdgpu.fat_raw_buffer_cast %{{.*}} : memref<10x8xf32>
// CHECK-NOT:     fat_raw_buffer_cast
// CHECK:         memref.subview %{{.*}} to memref<3x?xf32, strided<[8, 1], offset: ?>>
// CHECK:         %[[VIEW:.*]] = memref.subview %[[BUFFER]]{{.*}} to memref<3x?xf32, strided<[8, 1], offset: ?>, #amdgpu.address_space<fat_raw_buffer>>
// CHECK:         vector.transfer_read %[[VIEW]]
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}}, %[[VIEW]]
// CHECK:         } else {
// CHECK-COUNT-4:   memref.store %{{.*}}, %[[VIEW]]
func.func @views(%source: memref<10x8xf32>, %at: index, %size: index) {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %view = memref.subview %source[%at, 4] [3, %size] [1, 1]
    : memref<10x8xf32> to memref<3x?xf32, strided<[8, 1], offset: ?>>
  %read = vector.transfer_read %view[%c0, %c0], %value : memref<3x?xf32, strided<[8, 1], offset: ?>>, vector<4xf32>
  vector.transfer_write %read, %view[%c0, %c0] : vector<4xf32>, memref<3x?xf32, strided<[8, 1], offset: ?>>
  return
}

// The hardware checks dwords: the last of these three elements would be read as 0.
// REMARK: Function=half_dword | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value; if the read crosses the end of the buffer at run time, a masked read is used instead"
// CHECK-LABEL: func.func @half_dword(
// CHECK:         %[[END:.*]] = arith.constant 3 : index
// CHECK:         amdgpu.fat_raw_buffer_cast
// CHECK:         %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[END]]
// CHECK:         scf.if %[[INSIDE]]
// CHECK:           vector.transfer_read {{.*}} {in_bounds = [true]} : memref<3xf16, #amdgpu.address_space<fat_raw_buffer>>, vector<4xf16>
// CHECK:         } else {
// CHECK:           %[[MASK:.*]] = vector.create_mask
// CHECK:           vector.transfer_read {{.*}}, %[[MASK]] {in_bounds = [true]} : memref<3xf16>, vector<4xf16>
func.func @half_dword(%source: memref<3xf16>) -> vector<4xf16> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f16
  %read = vector.transfer_read %source[%c0], %value : memref<3xf16>, vector<4xf16>
  return %read : vector<4xf16>
}

// Rows of 6 dwords at a multiple of 2: every dword is entirely inside or outside.
// REMARK: Function=dwords | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value"
// REMARK: Function=dwords | Remark="padded write lowered to a raw-buffer write; the hardware drops out-of-bounds elements"
// CHECK-LABEL: func.func @dwords(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @dwords(%source: memref<10x12xf16>, %dest: memref<24xf16>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %value = arith.constant 1.0 : f16
  scf.for %i = %c0 to %c12 step %c2 {
    %read = vector.transfer_read %source[%c2, %i], %value : memref<10x12xf16>, vector<8xf16>
    vector.transfer_write %read, %dest[%i] : vector<8xf16>, memref<24xf16>
  }
  return
}

// REMARK: Function=any_index | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value; if the read crosses the start or the end of the buffer at run time, a masked read is used instead"
// CHECK-LABEL: func.func @any_index(
// CHECK:         %[[BELOW_END:.*]] = arith.cmpi slt
// CHECK:         %[[BEHIND_BEGIN:.*]] = arith.cmpi sge
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[BELOW_END]], %[[BEHIND_BEGIN]]
// CHECK:         scf.if %[[INSIDE]]
func.func @any_index(%source: memref<10x8xf32>, %i: index, %mask: vector<4x4xi1>) -> vector<4x4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%i, %c0], %value, %mask {in_bounds = [false, true]}
    : memref<10x8xf32>, vector<4x4xf32>
  return %read : vector<4x4xf32>
}

// Dynamic sizes: arithmetic saturates at 2^31, and a larger memref does not use a buffer.
// REMARK: Function=dynamic | Remark="padded read lowered to a raw-buffer read; a select inserts the padding value; if the memref exceeds the maximum size of a raw buffer at run time, a masked read is used instead"
// REMARK: Function=dynamic | Remark="padded write lowered to a raw-buffer write; the hardware drops out-of-bounds elements; if the memref exceeds the maximum size of a raw buffer at run time, a masked write is used instead"
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[DIM:.*]] = memref.dim
// CHECK:         %[[MOST:.*]] = arith.constant 2147483648 : index
// CHECK:         %[[END:.*]] = arith.minui %[[DIM]], %[[MOST]]
// CHECK:         %[[FOUR:.*]] = arith.constant 4 : index
// CHECK:         %[[PRODUCT:.*]] = arith.muli %[[END]], %[[FOUR]]
// CHECK:         %[[BYTES:.*]] = arith.index_cast %[[PRODUCT]] : index to i64
// CHECK:         %[[LARGEST:.*]] = arith.constant 536608767 : index
// CHECK:         %[[FITS:.*]] = arith.cmpi ule, %[[END]], %[[LARGEST]]
// CHECK:         amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%[[BYTES]])
// CHECK:         scf.if %[[FITS]] -> (vector<4xf32>) {
// CHECK:         } else {
// CHECK:           vector.transfer_read %{{.*}} : memref<?xf32>, vector<4xf32>
// CHECK:         scf.if %[[FITS]] {
// CHECK:           vector.transfer_write %{{.*}} {in_bounds = [true]} : vector<4xf32>, memref<?xf32, #amdgpu.address_space<fat_raw_buffer>>
// CHECK:         } else {
// CHECK:           vector.create_mask
// CHECK:           vector.transfer_write %{{.*}} : vector<4xf32>, memref<?xf32>
// SMALL-LABEL: func.func @dynamic(
// SMALL-NOT:     scf.if
// SMALL:         return
func.func @dynamic(%source: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value : memref<?xf32>, vector<4xf32>
  vector.transfer_write %read, %source[%c0] : vector<4xf32>, memref<?xf32>
  return
}

// Dynamic strides and a dynamic offset.
// REMARK: Function=dynamic_strides | Remark="padded write lowered to a raw-buffer write; out-of-bounds elements get an offset past the end of the buffer, where the hardware drops them; if the memref exceeds the maximum size of a raw buffer at run time, a masked write is used instead"
// CHECK-LABEL: func.func @dynamic_strides(
// CHECK:         memref.extract_strided_metadata
// CHECK:         amdgpu.fat_raw_buffer_cast
// CHECK:         scf.if
// CHECK:           %[[ROW:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK:           scf.if
// CHECK:           %[[COLUMN:.*]] = arith.select
// CHECK:           vector.store %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func @dynamic_strides(%dest: memref<?x?xf32, strided<[?, 1], offset: ?>>, %vector: vector<2x2xf32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %vector, %dest[%c0, %c0] : vector<2x2xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>
  return
}

// An empty memref has 0 bytes, for any longest dimension.
// REMARK: Function=empty | Remark="padded read lowered to a raw-buffer read; the hardware returns zeros out of bounds"
// CHECK-LABEL: func.func @empty(
// CHECK:         %[[BYTES:.*]] = arith.constant 0 : i64
// CHECK:         amdgpu.fat_raw_buffer_cast %{{.*}} validBytes(%[[BYTES]])
func.func @empty(%source: memref<0x4xf32>) -> vector<2x4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 0.0 : f32
  %read = vector.transfer_read %source[%c0, %c0], %value {in_bounds = [false, true]}
    : memref<0x4xf32>, vector<2x4xf32>
  return %read : vector<2x4xf32>
}

// Reasons why a raw buffer is not used.
// CHECK-LABEL: func.func @large(
// CHECK-NOT:     fat_raw_buffer_cast
// REMARK: Function=large | Remark="padded read lowered to a masked read; raw buffer not used: the memref has 4294967296 B; a raw buffer has at most 2146435071 B"
func.func @large(%source: memref<1073741824xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value {in_bounds = [false]} : memref<1073741824xf32>, vector<4xf32>
  return %read : vector<4xf32>
}

// Lanes past its end would wrap around.
// REMARK: Function=wraps | Remark="padded read lowered to a masked read; raw buffer not used: the memref has 2147483644 B; a raw buffer has at most 2146435071 B"
func.func @wraps(%source: memref<536870911xi32>) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1 : i32
  %read = vector.transfer_read %source[%c0], %value : memref<536870911xi32>, vector<4xi32>
  return %read : vector<4xi32>
}

// REMARK: Function=shared | Remark="padded read lowered to a masked read; raw buffer not used: the memref is not in global memory, which raw buffers require"
func.func @shared(%source: memref<8xf32, #gpu.address_space<workgroup>>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value : memref<8xf32, #gpu.address_space<workgroup>>, vector<16xf32>
  return %read : vector<16xf32>
}

// REMARK: Function=buffer | Remark="padded read lowered to a masked read; raw buffer not used: the memref is already a raw buffer"
func.func @buffer(%source: memref<8xf32, #amdgpu.address_space<fat_raw_buffer>>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value
    : memref<8xf32, #amdgpu.address_space<fat_raw_buffer>>, vector<16xf32>
  return %read : vector<16xf32>
}

// REMARK: Function=bits | Remark="padded read lowered to a masked read; raw buffer not used: the element type is i4; an integer or float whose size is a power-of-two number of bytes is required"
func.func @bits(%source: memref<8xi4>) -> vector<16xi4> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1 : i4
  %read = vector.transfer_read %source[%c0], %value : memref<8xi4>, vector<16xi4>
  return %read : vector<16xi4>
}

// REMARK: Function=reversed | Remark="padded read lowered to a masked read; raw buffer not used: the memref has a negative stride or offset; raw buffers support only non-negative ones"
func.func @reversed(%source: memref<8xf32, strided<[-1], offset: 7>>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value : memref<8xf32, strided<[-1], offset: 7>>, vector<16xf32>
  return %read : vector<16xf32>
}

// REMARK: Function=masked_and_permuted | Remark="padded read lowered to a masked read; raw buffer not used: the read has both a mask and a permutation map; only one of them is supported"
func.func @masked_and_permuted(%source: memref<10x7xf32>, %mask: vector<4x2xi1>) -> vector<2x4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0, %c0], %value, %mask {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
    : memref<10x7xf32>, vector<2x4xf32>
  return %read : vector<2x4xf32>
}

// REMARK: Function=writes | Remark="padded write lowered to a masked write; raw buffer not used: the write already has a mask; only writes without a mask are supported"
// REMARK: Function=writes | Remark="padded write lowered to a masked write, which also masks elements at negative indices; raw buffer not used: an index of the write may be negative, which is only supported for reads; limit the index with arith.maxsi"
// REMARK: Function=writes | Remark="padded write lowered to a masked write; raw buffer not used: the elements of a vector row are not contiguous in memory; contiguous rows are required"
// REMARK: Function=writes | Remark="padded write lowered to a masked write; raw buffer not used: the vector has 33 rows and 66 elements in total; at most 32 rows and 256 elements in total are supported; use a smaller vector"
func.func @writes(%dest: memref<10x7xf32>, %mask: vector<4xi1>, %i: index, %v: vector<4xf32>, %columns: vector<2x4xf32>,
                  %rows: vector<33x2xf32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %v, %dest[%c0, %c0], %mask : vector<4xf32>, memref<10x7xf32>
  vector.transfer_write %v, %dest[%c0, %i] : vector<4xf32>, memref<10x7xf32>
  vector.transfer_write %columns, %dest[%c0, %c0] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
    : vector<2x4xf32>, memref<10x7xf32>
  vector.transfer_write %rows, %dest[%c0, %c0] : vector<33x2xf32>, memref<10x7xf32>
  return
}

// REMARK: Function=no_strides | Remark="padded read lowered to a masked read, which also masks elements at negative indices; raw buffer not used: the layout of the memref is not strided; use a strided layout"
func.func @no_strides(%source: memref<16xf32, affine_map<(d0) -> (d0 mod 7)>>, %i: index, %v: f32) -> vector<4xf32> {
  %r = vector.transfer_read %source[%i], %v : memref<16xf32, affine_map<(d0) -> (d0 mod 7)>>, vector<4xf32>
  return %r : vector<4xf32>
}

// REMARK: Function=no_extent | Remark="padded read lowered to a masked read, which also masks elements at negative indices; raw buffer not used: type memref<4294967296x4294967296xf32> spans 2^63 or more elements; a raw buffer has at most 2146435071 B"
func.func @no_extent(%source: memref<4294967296x4294967296xf32>, %i: index, %v: f32) -> vector<4xf32> {
  %r = vector.transfer_read %source[%i, %i], %v : memref<4294967296x4294967296xf32>, vector<4xf32>
  return %r : vector<4xf32>
}

// REMARK: Function=long_vector | Remark="padded read lowered to a masked read, which also masks elements at negative indices; raw buffer not used: the vector has 524288 elements of 4 B; at most 1048576 B per vector are supported; use a smaller vector"
func.func @long_vector(%source: memref<1024x1024xf32>, %i: index, %v: f32) -> vector<1024x512xf32> {
  %r = vector.transfer_read %source[%i, %i], %v : memref<1024x1024xf32>, vector<1024x512xf32>
  return %r : vector<1024x512xf32>
}

// REMARK: Function=far_begin | Remark="padded read lowered to a masked read; raw buffer not used: the memref has 2^63 or more B; a raw buffer has at most 2146435071 B"
// CHECK-LABEL: func.func @far_begin(
// CHECK-NOT:     fat_raw_buffer_cast
func.func @far_begin(%source: memref<8xf32, strided<[1], offset: 4611686018427387904>>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %value = arith.constant 1.0 : f32
  %read = vector.transfer_read %source[%c0], %value {in_bounds = [false]} : memref<8xf32, strided<[1], offset: 4611686018427387904>>, vector<4xf32>
  return %read : vector<4xf32>
}
