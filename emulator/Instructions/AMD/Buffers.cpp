//===- Buffers.cpp - Loads, stores and atomics of buffers, of AMD ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alignment: the backend makes code for the mode in which loads and stores may
// begin anywhere (LLVM, "User Guide for AMDGPU Backend:
// unaligned-access-mode"); atomics must be aligned to their size.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/AMD/Buffers.h"
#include "smalti/emulator/Instructions/AMD/Atomic.h"
#include "smalti/emulator/Instructions/AMD/Generation.h"
#include "smalti/emulator/Instructions/Lists.h"
#include "smalti/emulator/Instructions/Thread.h"

#include <algorithm>
#include <deque>

using namespace smalti::emulator;

//===----------------------------------------------------------------------===//
// Resources
//===----------------------------------------------------------------------===//

namespace {

/// A pointer cannot hold a resource. Resources are stored, and the pointer
/// refers to the stored one.
void makeResource(const Call &call) {
  static std::deque<Buffer> buffers;
  Buffer buffer = {};
  buffer.base = call.get<char *>(0);
  buffer.stride = call.get<uint16_t>(1);
  if (buffer.stride >> 14)
    fail("the buffer resource enables swizzling, which is not emulated; use a "
         "resource without swizzling");
  buffer.records =
      call.bytes(2) == 8 ? call.get<uint64_t>(2) : call.get<uint32_t>(2);
  // The field has 45 bits in GFX12.5.
  if (generation() != Generation::GFX125)
    buffer.records = uint32_t(buffer.records);
  buffer.flags = call.get<uint32_t>(3);
  auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer &known) {
        return known.base == buffer.base && known.stride == buffer.stride &&
               known.records == buffer.records && known.flags == buffer.flags;
      });
  if (found == buffers.end())
    found = buffers.insert(buffers.end(), buffer);
  call.set<const Buffer *>(&*found);
}

Buffer readResource(const Call &call, int operand) {
  if (call.bytes(operand) == sizeof(void *)) {
    auto *buffer = call.get<const Buffer *>(operand);
    if (!buffer)
      failAs("out-of-bounds", "the access uses a null buffer resource; pass a "
                              "resource of rocdl.make.buffer.rsrc");
    return *buffer;
  }
  // CDNA3 ISA, "Buffer Resource Descriptor"; RDNA3 ISA, the same.
  if (generation() == Generation::GFX125)
    fail(
        "the buffer resource is a vector of four dwords, which is not emulated "
        "for gfx1250; create it with rocdl.make.buffer.rsrc");
  uint32_t words[4];
  memcpy(words, call.data(operand), sizeof words);
  Buffer buffer = {};
  uint64_t base = uint64_t(words[1] & 0xffff) << 32 | words[0];
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  buffer.base = reinterpret_cast<char *>(base);
  buffer.stride = words[1] >> 16 & 0x3fff;
  if (words[1] >> 30)
    fail("the buffer resource enables swizzling, which is not emulated; use a "
         "resource without swizzling");
  buffer.records = words[2];
  buffer.flags = words[3];
  return buffer;
}

} // namespace

BufferAddress smalti::emulator::readBufferAddress(const Call &call, int first,
                                                  Addressing addressing,
                                                  uint64_t extraOffset) {
  BufferAddress place = {};
  place.buffer = readResource(call, first);
  if (place.buffer.flags >> 23 & 1)
    fail("the buffer resource adds the lane id to the index (add_tid_enable), "
         "which is not emulated; use a resource without this flag");
  place.addressing = addressing;
  int next = first + 1;
  if (addressing == Addressing::Structured)
    place.index = call.get<uint32_t>(next++);
  // The sum is one of 32 bits.
  place.offset = uint32_t(call.get<uint32_t>(next++) + extraOffset);
  place.scalarOffset = call.get<uint32_t>(next);
  return place;
}

bool BufferAddress::contains(uint64_t first, uint64_t bytes,
                             uint64_t all) const {
  uint64_t end = offset + first + bytes;
  bool hasIndex = addressing == Addressing::Structured;
  if (isCDNA(generation())) {
    // CDNA3 ISA, "Buffer Addressing: Range checking": with an index and a
    // stride it is the index that counts; else bytes, the scalar offset
    // included.
    if (hasIndex && buffer.stride)
      return index < buffer.records;
    return end + scalarOffset <= buffer.records;
  }
  // RDNA3 ISA, "Buffer Addressing: Range checking", OOB_SELECT. The scalar
  // offset is included when bytes are compared (CDNA5 ISA, the same). For RDNA,
  // AMD's rocjitsu and LLVM's #207796 report this behavior of the chips; LLVM's
  // documentation of the intrinsics states that it is never included. GFX12.5
  // does not have the OOB_SELECT field: MLIR's conversion of
  // `amdgpu.fat_raw_buffer_cast` sets the flags of a checked raw buffer to
  // zero.
  switch (generation() == Generation::GFX125 ? 3 : buffer.flags >> 28 & 3) {
  case 0:
    return index < buffer.records &&
           (!hasIndex || !buffer.stride || offset + all <= buffer.stride);
  case 1:
    return index < buffer.records;
  case 2:
    return buffer.records != 0;
  default:
    return index * buffer.stride + end + scalarOffset <= buffer.records;
  }
}

/// Calls `access(first, bytes)` for each part inside the buffer. Each dword is
/// checked separately; a narrower access is checked as a whole.
template <class Access>
static void forEachPart(const BufferAddress &place, uint32_t bytes,
                        Access access) {
  if (place.contains(0, bytes, bytes))
    return access(0, bytes);
  for (uint32_t first = 0; first < bytes; first += 4) {
    uint32_t width = std::min<uint32_t>(4, bytes - first);
    if (place.contains(first, width, bytes))
      access(first, width);
  }
}

void smalti::emulator::readBuffer(const BufferAddress &place, char *to,
                                  uint32_t bytes, bool isAtomic) {
  memset(to, 0, bytes);
  forEachPart(place, bytes, [&](uint32_t first, uint32_t width) {
    if (isAtomic)
      touchAtomicRead(place.address() + first, width);
    else
      touchRead(place.address() + first, width);
    memcpy(to + first, place.address() + first, width);
  });
}

namespace {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

template <Addressing addressing, bool isAtomic = false>
void load(const Call &call) {
  readBuffer(readBufferAddress(call, 0, addressing),
             static_cast<char *>(call.result), call.resultBytes(), isAtomic);
}

template <Addressing addressing> void store(const Call &call) {
  BufferAddress place = readBufferAddress(call, 1, addressing);
  forEachPart(place, call.bytes(0), [&](uint32_t first, uint32_t width) {
    touchWrite(place.address() + first, width);
    memcpy(place.address() + first, call.data(0) + first, width);
  });
}

/// Operands resource, offset.
void loadScalar(const Call &call) {
  BufferAddress place = {};
  place.buffer = readResource(call, 0);
  place.offset = call.get<uint32_t>(1);
  // RDNA3 ISA, "Scalar memory: buffer loads": bytes are compared, independent
  // of OOB_SELECT.
  auto *result = static_cast<char *>(call.result);
  memset(result, 0, call.resultBytes());
  uint64_t size =
      place.buffer.records * (place.buffer.stride ? place.buffer.stride : 1);
  for (uint32_t first = 0; first < call.resultBytes(); first += 4) {
    uint32_t width = std::min<uint32_t>(4, call.resultBytes() - first);
    if (place.offset + first + width > size)
      continue;
    touchRead(place.address() + first, width);
    memcpy(result + first, place.address() + first, width);
  }
}

/// Operands data, [compared value,] then the address.
template <class Number, template <class> class Operation, Addressing addressing,
          int first = 1>
void update(const Call &call) {
  BufferAddress place = readBufferAddress(call, first, addressing);
  if (!place.contains(0, sizeof(Number), sizeof(Number)))
    return call.set(Number());
  call.set(updateMemory<Number, Operation>(place.address(), call));
}

template <template <class> class Operation, Addressing addressing,
          int first = 1>
void updateInteger(const Call &call) {
  if (call.resultBytes() == 8)
    return update<uint64_t, Operation, addressing, first>(call);
  update<uint32_t, Operation, addressing, first>(call);
}

template <template <class> class Operation, Addressing addressing>
void updateFloat(const Call &call) {
  if (call.resultBytes() == 8)
    return update<double, Operation, addressing>(call);
  update<float, Operation, addressing>(call);
}

constexpr char resource[] =
    "LLVM, \"User Guide for AMDGPU Backend: Buffer Resource\"; CDNA3 ISA, "
    "\"Buffer Resource Descriptor\"";
constexpr char buffers[] =
    "CDNA3 ISA, \"Vector Memory Buffer Instructions\"; RDNA3 ISA and RDNA4 "
    "ISA, the same";
constexpr char scalars[] =
    "CDNA3 ISA, \"Scalar Memory Instructions: S_BUFFER_LOAD_DWORD\"; RDNA3 "
    "ISA, the same";

constexpr Addressing raw = Addressing::Raw, structured = Addressing::Structured;

// clang-format off: one line an instruction; older forms have the resource in four dwords
// NOLINTBEGIN(bugprone-macro-parentheses): arguments of templates
#define UPDATES(name, function) \
    {"llvm.amdgcn.raw.ptr.buffer.atomic." name, function<raw>, nullptr, buffers}, \
    {"llvm.amdgcn.struct.ptr.buffer.atomic." name, function<structured>, nullptr, buffers}, \
    {"llvm.amdgcn.raw.buffer.atomic." name, function<raw>, nullptr, buffers}, \
    {"llvm.amdgcn.struct.buffer.atomic." name, function<structured>, nullptr, buffers}
// NOLINTEND(bugprone-macro-parentheses)
template <Addressing a> constexpr auto swap = updateInteger<Exchange, a>;
template <Addressing a> constexpr auto add = updateInteger<Add, a>;
template <Addressing a> constexpr auto subtract = updateInteger<Subtract, a>;
template <Addressing a> constexpr auto signedMin = updateInteger<SignedMin, a>;
template <Addressing a> constexpr auto unsignedMin = updateInteger<UnsignedMin, a>;
template <Addressing a> constexpr auto signedMax = updateInteger<SignedMax, a>;
template <Addressing a> constexpr auto unsignedMax = updateInteger<UnsignedMax, a>;
template <Addressing a> constexpr auto bitAnd = updateInteger<And, a>;
template <Addressing a> constexpr auto bitOr = updateInteger<Or, a>;
template <Addressing a> constexpr auto bitXor = updateInteger<Xor, a>;
template <Addressing a> constexpr auto increment = updateInteger<Increment, a>;
template <Addressing a> constexpr auto decrement = updateInteger<Decrement, a>;
template <Addressing a> constexpr auto subtractIfEnough = updateInteger<SubtractIfEnough, a>;
template <Addressing a> constexpr auto subtractClamped = updateInteger<SubtractClamped, a>;
template <Addressing a> constexpr auto compareExchange = updateInteger<CompareExchange, a, 2>;
template <Addressing a> constexpr auto floatMin = updateFloat<NumberMin, a>;
template <Addressing a> constexpr auto floatMax = updateFloat<NumberMax, a>;
template <Addressing a> constexpr auto floatAdd = updateFloat<Add, a>;
template <Addressing a> constexpr auto halfAdd = update<PairOf<F16>, Add, a>;
template <Addressing a> constexpr auto bfloatAdd = update<PairOf<BF16>, Add, a>;

constexpr Instruction table[] = {
    {"llvm.amdgcn.make.buffer.rsrc.*", makeResource, nullptr, resource},
    {"llvm.amdgcn.raw.ptr.buffer.load.[ivbpf][0-9f]*", load<raw>, nullptr, buffers},
    {"llvm.amdgcn.struct.ptr.buffer.load.[ivbpf][0-9f]*", load<structured>, nullptr, buffers},
    {"llvm.amdgcn.raw.buffer.load.[ivbpf][0-9f]*", load<raw>, nullptr, buffers},
    {"llvm.amdgcn.struct.buffer.load.[ivbpf][0-9f]*", load<structured>, nullptr, buffers},
    {"llvm.amdgcn.raw.ptr.buffer.store.[ivbpf][0-9f]*", store<raw>, nullptr, buffers},
    {"llvm.amdgcn.struct.ptr.buffer.store.[ivbpf][0-9f]*", store<structured>, nullptr, buffers},
    {"llvm.amdgcn.raw.buffer.store.[ivbpf][0-9f]*", store<raw>, nullptr, buffers},
    {"llvm.amdgcn.struct.buffer.store.[ivbpf][0-9f]*", store<structured>, nullptr, buffers},
    {"llvm.amdgcn.raw.ptr.atomic.buffer.load.[ivbpf][0-9f]*", load<raw, true>, nullptr, buffers},
    {"llvm.amdgcn.struct.ptr.atomic.buffer.load.[ivbpf][0-9f]*", load<structured, true>, nullptr, buffers},
    {"llvm.amdgcn.s.buffer.load.[ivbpf][0-9f]*", loadScalar, nullptr, scalars},
    UPDATES("swap.*", swap),
    UPDATES("add.*", add),
    UPDATES("sub.i[36][24]", subtract),
    UPDATES("smin.*", signedMin),
    UPDATES("umin.*", unsignedMin),
    UPDATES("smax.*", signedMax),
    UPDATES("umax.*", unsignedMax),
    UPDATES("and.*", bitAnd),
    UPDATES("or.*", bitOr),
    UPDATES("xor.*", bitXor),
    UPDATES("inc.*", increment),
    UPDATES("dec.*", decrement),
    UPDATES("cond.sub.u32.*", subtractIfEnough),
    UPDATES("sub.clamp.u32.*", subtractClamped),
    UPDATES("cmpswap.*", compareExchange),
    UPDATES("fmin.*", floatMin),
    UPDATES("fmax.*", floatMax),
    UPDATES("fadd.f[36][24]", floatAdd),
    UPDATES("fadd.v2f16", halfAdd),
    UPDATES("fadd.v2bf16", bfloatAdd),
};
#undef UPDATES
// clang-format on

} // namespace

const InstructionList smalti::emulator::amdBuffers = table;
