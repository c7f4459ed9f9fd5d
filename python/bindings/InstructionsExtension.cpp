//===- InstructionsExtension.cpp - Semantics of instructions, for Python --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batched functions over the bytes of numpy's arrays, which
// `smalti.instructions` wraps. This file is the engine of the pure
// instructions: it has no threads and no memory, and what an instruction
// refuses is a ValueError.
//
//===----------------------------------------------------------------------===//

#include "smalti/emulator/Instructions/Context.h"
#include "smalti/emulator/Instructions/Matmul.h"
#include "smalti/emulator/Instructions/NVIDIA/TensorMemory.h"
#include "smalti/emulator/Instructions/Types.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdarg>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace smalti::emulator;

namespace {

template <class T, size_t rank>
using Array = nb::ndarray<T, nb::ndim<rank>, nb::c_contig, nb::device::cpu>;
using Bytes = Array<const uint8_t, 1>;
using Result = Array<uint8_t, 1>;

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

/// The entry that the running thread executes.
struct Running {
  const char *name = "";
  const char *architecture = "";
  int lane = 0;
};
thread_local Running running;

[[noreturn]] void raise(const char *format, va_list arguments) {
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  throw nb::value_error((std::string(running.name) + ": " + text).c_str());
}

/// One address for each name.
const char *interned(const std::string &name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  std::lock_guard<std::mutex> lock(mutex);
  return names.insert(name).first->c_str();
}

} // namespace

const char *smalti::emulator::architecture() { return running.architecture; }
int smalti::emulator::laneId() { return running.lane; }

void smalti::emulator::fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  raise(format, arguments);
}
void smalti::emulator::failLane(const Call &, int, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  raise(format, arguments);
}
void smalti::emulator::failAs(const char *, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  raise(format, arguments);
}

namespace {

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Raises a ValueError, whose message is `parts`, unless `holds`.
template <class... Parts> void require(bool holds, const Parts &...parts) {
  if (holds)
    return;
  std::ostringstream message;
  (message << ... << parts);
  throw nb::value_error(message.str().c_str());
}

const ElementType &typeNamed(const std::string &name) {
  if (const ElementType *type = findElementType(name.c_str()))
    return *type;
  std::string message = "unknown element type '" + name + "'; known types:";
  size_t count;
  const ElementType *types = elementTypes(count);
  for (size_t i = 0; i < count; ++i)
    message += (i ? ", " : " ") + std::string(types[i].name);
  throw nb::value_error(message.c_str());
}

const ElementType &writableType(const std::string &name) {
  const ElementType &type = typeNamed(name);
  require(!type.isFloat() || type.write,
          "values cannot be rounded to the element type ue4m3, which is "
          "supported only for the scales of a matmul; use another type");
  return type;
}

Rounding roundingNamed(const std::string &name) {
  static constexpr const char *names[] = {"nearest_even", "nearest_away",
                                          "toward_zero", "down", "up"};
  for (int i = 0; i < 5; ++i)
    if (name == names[i])
      return Rounding(i);
  throw nb::value_error(("unknown rounding '" + name +
                         "'; known roundings: nearest_even, nearest_away, "
                         "toward_zero, down, up")
                            .c_str());
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// (name, kind, bits, bytes) of each type.
nb::list types() {
  nb::list result;
  size_t count;
  const ElementType *all = elementTypes(count);
  constexpr const char *kinds[] = {"float", "signed", "unsigned"};
  for (size_t i = 0; i < count; ++i)
    result.append(nb::make_tuple(all[i].name, kinds[all[i].kind], all[i].bits,
                                 all[i].bytes));
  return result;
}

void convertBytes(Bytes values, const std::string &from, const std::string &to,
                  const std::string &rounding, bool saturate, Result results) {
  const ElementType &source = typeNamed(from), &target = writableType(to);
  size_t count = values.size() / source.bytes;
  require(count * source.bytes == values.size() &&
              count * target.bytes == results.size(),
          "'values' has ", values.size(), " bytes, ", source.bytes,
          " per element, and 'results' has ", results.size(), " bytes, ",
          target.bytes, " per element; the numbers of elements must be equal");
  Rounding how = roundingNamed(rounding);
  nb::gil_scoped_release release;
  convert(source, target, values.data(), count, how, saturate, results.data());
}

void fuseBytes(const std::string &type, Bytes x, Bytes y, Bytes z,
               Array<double, 1> results) {
  const ElementType &element = typeNamed(type);
  size_t bytes = results.size() * element.bytes;
  require(x.size() == bytes && y.size() == bytes && z.size() == bytes,
          "the operands x, y and z have ", x.size(), ", ", y.size(), " and ",
          z.size(), " bytes; for ", results.size(), " results, each must have ",
          bytes, " bytes");
  nb::gil_scoped_release release;
  fuse(element, x.data(), y.data(), z.data(), results.size(), results.data());
}

void matmul(Result accumulator, Bytes a, Bytes b, int64_t m, int64_t n,
            int64_t k, const std::string &typeA, const std::string &typeB,
            const std::string &typeC,
            std::optional<std::pair<Bytes, Bytes>> scales,
            const std::string &typeScale, int64_t scaleBlock,
            std::optional<Bytes> positions) {
  Matmul matmul;
  constexpr int64_t limit = int64_t(1) << 24;
  require(m >= 0 && n >= 0 && k >= 0 && m < limit && n < limit && k < limit,
          "the matmul sizes m, n and k are ", m, ", ", n, " and ", k,
          "; each must be from 0 to 2^24 - 1");
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  matmul.typeA = &typeNamed(typeA);
  matmul.typeB = &typeNamed(typeB);
  matmul.typeC = &writableType(typeC);
  bool isFloat = matmul.typeC->isFloat();
  require(matmul.typeA->isFloat() == isFloat &&
              matmul.typeB->isFloat() == isFloat,
          "the operands and the accumulator of a matmul must be either all "
          "floats or all integers");
  int64_t stored = positions ? m * k / 2 : m * k;
  int64_t bytesA = stored * matmul.typeA->bytes,
          bytesB = k * n * matmul.typeB->bytes,
          bytesC = m * n * matmul.typeC->bytes;
  require(int64_t(a.size()) == bytesA && int64_t(b.size()) == bytesB &&
              int64_t(accumulator.size()) == bytesC,
          "the matmul operands a, b and accumulator have ", a.size(), ", ",
          b.size(), " and ", accumulator.size(), " bytes; for m=", m, ", n=", n,
          " and k=", k, ", they must have ", bytesA, ", ", bytesB, " and ",
          bytesC, " bytes");
  matmul.a = a.data();
  matmul.b = b.data();
  matmul.c = accumulator.data();
  if (positions) {
    require(k % 4 == 0, "K is ", k,
            "; with a sparse operand, K must be a multiple of 4");
    require(int64_t(positions->size()) == stored, "the sparse operand has ",
            positions->size(), " metadata indices; ", stored,
            " are required, two for every four elements along K");
    matmul.positions = positions->data();
    for (int64_t i = 0; i < stored; ++i)
      require(matmul.positions[i] < 4, "metadata index ", i,
              " of the sparse operand is ", int(matmul.positions[i]),
              "; it must be from 0 to 3");
  }
  if (scales) {
    matmul.typeScale = &typeNamed(typeScale);
    require(isFloat,
            "the operands of the matmul are integers, but it has scales, which "
            "only floats can have; remove the scales");
    require(scaleBlock > 0 && k % scaleBlock == 0, "k is ", k,
            ", and each scale applies to ", scaleBlock,
            " elements along k; k must be a multiple of this number, which "
            "must be positive");
    int64_t scalesA = m * (k / scaleBlock), scalesB = n * (k / scaleBlock),
            each = matmul.typeScale->bytes;
    require(int64_t(scales->first.size()) == scalesA * each &&
                int64_t(scales->second.size()) == scalesB * each,
            "the scales of a and b have ", scales->first.size(), " and ",
            scales->second.size(), " bytes; they must have ", scalesA * each,
            " and ", scalesB * each, " bytes (", scalesA, " and ", scalesB,
            " scales)");
    matmul.scalesA = scales->first.data();
    matmul.scalesB = scales->second.data();
    matmul.scaleBlock = scaleBlock;
  }
  nb::gil_scoped_release release;
  multiply(matmul);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Executes an instruction in each of `waves` waves. Operands are
/// [waves][lanes][bytes]; `active` has a mask for each wave.
void execute(const std::string &name,
             const std::vector<Array<const uint8_t, 3>> &operands,
             Array<const uint64_t, 1> active, Array<uint8_t, 3> results,
             const std::string &architecture) {
  const Instruction *found = findPureInstruction(name.c_str());
  if (!found)
    throw nb::value_error(("unknown instruction '" + name +
                           "'; pass the name of an emulated instruction that "
                           "accesses neither memory nor other threads")
                              .c_str());
  size_t waves = results.shape(0), lanes = results.shape(1);
  require(lanes == 32 || lanes == 64, "the result of the instruction has ",
          lanes, " lanes; it must have 32 or 64");
  require(active.size() == waves, "the operands have ", waves, " waves, but ",
          active.size(), " masks are given; one mask per wave is required");
  // An instruction reads and writes the bytes that its document states, which
  // may exceed these arrays: copies with padding keep the accesses inside.
  constexpr size_t room = 512, mostOperands = 64;
  require(operands.size() <= mostOperands && results.shape(2) <= room,
          "the instruction has ", operands.size(), " operands and ",
          results.shape(2), " result bytes per lane; at most ", mostOperands,
          " operands and ", room, " result bytes are supported");
  std::vector<uint32_t> bytes(mostOperands);
  for (size_t i = 0; i < operands.size(); ++i) {
    require(operands[i].shape(0) == waves && operands[i].shape(1) == lanes &&
                operands[i].shape(2) <= room,
            "operand ", i, " has ", operands[i].shape(0), " waves of ",
            operands[i].shape(1), " lanes with ", operands[i].shape(2),
            " bytes each; ", waves, " waves of ", lanes, " lanes with at most ",
            room, " bytes each are required");
    bytes[i] = uint32_t(operands[i].shape(2));
  }
  Site site = {uint32_t(results.shape(2)), uint32_t(operands.size()), 0, 0,
               bytes.data()};

  nb::gil_scoped_release release;
  Running before = running;
  running = {found->name, interned(architecture), 0};
  struct Restore {
    Running before;
    ~Restore() { running = before; }
  } restore{before};
  // Zeros, then the result and the operands of each lane.
  size_t perLane = (1 + operands.size()) * room;
  std::vector<char> storage(room + lanes * perLane);
  auto resultOf = [&](size_t lane) { return &storage[room + lane * perLane]; };
  auto operandOf = [&](size_t lane, size_t i) {
    return resultOf(lane) + (1 + i) * room;
  };
  std::vector<const void *> pointers(lanes * mostOperands, storage.data());
  auto wave = std::make_unique<Wave>();
  wave->size = int(lanes);
  for (size_t lane = 0; lane < lanes; ++lane) {
    for (size_t i = 0; i < operands.size(); ++i)
      pointers[lane * mostOperands + i] = operandOf(lane, i);
    wave->lanes[lane] = {&site, resultOf(lane), &pointers[lane * mostOperands],
                         nullptr};
  }
  for (size_t w = 0; w < waves; ++w) {
    wave->active = active.data()[w];
    if (lanes == 32 && wave->active >> 32)
      fail("the mask 0x%llx of wave %zu exceeds 32 bits; the wave has 32 lanes",
           (unsigned long long)wave->active, w);
    if (found->needsFullWave && !wave->isFull())
      fail("the mask of wave %zu has inactive lanes; this instruction requires "
           "that all lanes of a wave are active",
           w);
    for (size_t lane = 0; lane < lanes; ++lane)
      for (size_t i = 0; i < operands.size(); ++i)
        memcpy(operandOf(lane, i),
               operands[i].data() + (w * lanes + lane) * bytes[i], bytes[i]);
    if (found->members)
      wave->forEach([&](int lane, const Call &call) {
        if (found->members(call) != wave->active)
          fail("the mask of lane %d, 0x%llx, is not that of the active lanes, "
               "0x%llx",
               lane, (unsigned long long)found->members(call),
               (unsigned long long)wave->active);
      });
    if (found->ofWave && wave->active)
      found->ofWave(*wave);
    wave->forEach([&](int lane, const Call &call) {
      if (found->ofThread) {
        running.lane = lane;
        found->ofThread(call);
      }
      memcpy(results.data() + (w * lanes + size_t(lane)) * site.resultBytes,
             resultOf(size_t(lane)), site.resultBytes);
    });
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

void unpackScales(Array<const uint8_t, 4> packed, Result scales) {
  require(
      packed.shape(2) % 32 == 0 && packed.shape(3) == 16,
      "'packed' has the shape [", packed.shape(0), ", ", packed.shape(1), ", ",
      packed.shape(2), ", ", packed.shape(3),
      "]; dimension 2 must be a multiple of 32, and dimension 3 must be 16");
  require(scales.size() == packed.size(), "'packed' has ", packed.size(),
          " bytes, but 'scales' has ", scales.size(),
          "; both must have the same number of bytes");
  nvidia::unpackScales(packed.data(), int64_t(packed.shape(0)),
                       int64_t(packed.shape(1)), int64_t(packed.shape(2)),
                       scales.data());
}

void unpackMetadata(Array<const uint8_t, 4> packed, Result metadata) {
  require(metadata.size() == packed.size(), "'packed' has ", packed.size(),
          " bytes, but 'metadata' has ", metadata.size(),
          "; both must have the same number of bytes");
  nvidia::unpackMetadata(packed.data(), int64_t(packed.shape(0)),
                         int64_t(packed.shape(1)), int64_t(packed.shape(2)),
                         int64_t(packed.shape(3)), metadata.data());
}

void sparsePositions(Array<const uint8_t, 2> metadata, int elementBits,
                     Result positions) {
  require(metadata.shape(0) % 16 == 0 && metadata.shape(1) % 16 == 0,
          "'metadata' has ", metadata.shape(0), " rows and ", metadata.shape(1),
          " columns; both numbers must be multiples of 16");
  require(positions.size() == metadata.size(), "'metadata' has ",
          metadata.size(), " bytes, but 'positions' has ", positions.size(),
          "; both must have the same number of bytes");
  nvidia::sparsePositions(metadata.data(), int64_t(metadata.shape(0)),
                          int64_t(metadata.shape(1)), elementBits,
                          positions.data());
}

} // namespace

NB_MODULE(_smaltiInstructions, m) {
  m.doc() = "The semantics of instructions, on bytes; see smalti.instructions.";
  m.def("types", types);
  m.def("convert", convertBytes, nb::arg("values"), nb::arg("from_type"),
        nb::arg("to_type"), nb::arg("rounding"), nb::arg("saturate"),
        nb::arg("results"));
  m.def("fuse", fuseBytes, nb::arg("type"), nb::arg("x"), nb::arg("y"),
        nb::arg("z"), nb::arg("results"));
  m.def("matmul", matmul, nb::arg("accumulator"), nb::arg("a"), nb::arg("b"),
        nb::arg("m"), nb::arg("n"), nb::arg("k"), nb::arg("type_a"),
        nb::arg("type_b"), nb::arg("type_c"), nb::arg("scales").none(),
        nb::arg("scale_type"), nb::arg("scale_block"),
        nb::arg("positions").none());
  m.def("execute", execute, nb::arg("name"), nb::arg("operands"),
        nb::arg("active"), nb::arg("results"), nb::arg("architecture"));
  m.def("unpack_scales", unpackScales, nb::arg("packed"), nb::arg("scales"));
  m.def("unpack_metadata", unpackMetadata, nb::arg("packed"),
        nb::arg("metadata"));
  m.def("sparse_positions", sparsePositions, nb::arg("metadata"),
        nb::arg("element_bits"), nb::arg("positions"));
}
