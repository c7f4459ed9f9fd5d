//===- ThreadAccesses.cpp - Checks of the simulator's accesses ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of smalti.sim.threads.execution.shadow over the grains of memory
// that threads access. An access is a row of grains for each thread; a row of
// the shadow has for each grain the number of an access, or 0. The arrays are
// numpy's.
//
//===----------------------------------------------------------------------===//

#include "smalti/python/bindings/ThreadAccesses.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

template <typename T, size_t Rank>
using Array = nb::ndarray<T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;
using Grains = Array<const int64_t, 2>;
using Ints = Array<const int32_t, 1>;
using Longs = Array<const int64_t, 1>;
using Row = Array<int32_t, 1>;
using Bits = Array<uint32_t, 1>;

// Functions of their own, which keep the loops small.
[[noreturn]] void raiseOutside(int64_t number, size_t size) {
  throw nb::index_error(("index " + std::to_string(number) +
                         " is out of bounds: the array has " +
                         std::to_string(size) + " elements")
                            .c_str());
}
[[noreturn]] void raiseOutside(int64_t begin, int64_t size, size_t bytes) {
  int64_t end = begin + size;
  throw nb::index_error(("bytes [" + std::to_string(begin) + ", " +
                         std::to_string(end) +
                         ") are out of bounds: the memory has " +
                         std::to_string(bytes) + " bytes")
                            .c_str());
}

/// The elements of an array, which are looked up by a number that has to be one
/// of theirs.
template <typename T> struct Elements {
  template <typename A>
  Elements(const A &array) : data(array.data()), size(array.shape(0)) {}
  T &operator[](int64_t number) const {
    if (static_cast<uint64_t>(number) >= size)
      raiseOutside(number, size);
    return data[number];
  }
  T *data;
  size_t size;
};

/// The rows of an access, one for each thread.
struct Rows {
  explicit Rows(const Grains &grains)
      : data(grains.data()), count(grains.shape(0)), columns(grains.shape(1)) {}
  const int64_t *begin(size_t row) const { return data + row * columns; }
  const int64_t *end(size_t row) const { return begin(row) + columns; }
  const int64_t *data;
  size_t count, columns;
};

void require(bool holds) {
  if (!holds)
    throw nb::value_error(
        "the arrays that describe this access have shapes that do not match; "
        "this is an error of the simulator, please report it");
}

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> newArray(std::vector<T> values,
                                                size_t rows, size_t columns) {
  auto *kept = new std::vector<T>(std::move(values));
  nb::capsule owner(
      kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return {kept->data(), {rows, columns}, owner};
}

/// The grains that threads access from bytes `first` on, each of them elements
/// of `size` bytes that are `steps` further.
nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>
getGrains(Longs first, Longs steps, int64_t size, int64_t grain) {
  require(grain > 0 && (grain & (grain - 1)) == 0);
  int shift = __builtin_ctzll(grain);
  size_t each = std::max<int64_t>(size / grain, 1), count = first.shape(0),
         columns = steps.shape(0);
  std::vector<int64_t> grains(count * columns * each);
  int64_t *next = grains.data(), lowest = 0;
  for (size_t r = 0; r < count; ++r) {
    int64_t begin = first.data()[r];
    for (size_t c = 0; c < columns; ++c) {
      int64_t byte = begin + steps.data()[c];
      lowest = std::min(lowest, byte);
      for (size_t i = 0; i < each; ++i)
        *next++ = (byte >> shift) + static_cast<int64_t>(i);
    }
  }
  if (lowest < 0)
    throw nb::index_error(
        ("byte " + std::to_string(lowest) +
         " is before the start of memory; offsets must not be negative")
            .c_str());
  return newArray(std::move(grains), count, columns * each);
}

/// Whether all of some numbers are from `low` to `high`.
bool allInside(Longs values, int64_t low, int64_t high) {
  bool inside = true;
  for (size_t i = 0; i < values.shape(0); ++i)
    inside &= values.data()[i] >= low && values.data()[i] <= high;
  return inside;
}

/// Whether all elements of `size` bytes, `steps` from the first ones, are
/// within so many bytes, and the first ones at multiples of their size.
bool allFit(Longs first, Longs steps, int64_t size, int64_t bytes) {
  int64_t low = 0, high = 0;
  if (steps.shape(0)) {
    auto [least, most] =
        std::minmax_element(steps.data(), steps.data() + steps.shape(0));
    low = *least, high = *most;
  }
  int64_t anyFirst = 0;
  for (size_t i = 0; i < first.shape(0); ++i)
    anyFirst |= first.data()[i];
  return (anyFirst & (size - 1)) == 0 &&
         allInside(first, -low, bytes - high - size);
}

/// Calls a function with the first byte of every element of an access, all of
/// which are inside of memory, and the bytes for it in a row of values.
template <typename Byte, typename Fn>
void forEachElement(Longs first, Longs steps, int64_t size, size_t bytes,
                    Byte *values, Fn fn) {
  for (size_t r = 0; r < first.shape(0); ++r)
    for (size_t c = 0; c < steps.shape(0); ++c, values += size) {
      int64_t byte = first.data()[r] + steps.data()[c];
      if (byte < 0 || static_cast<size_t>(byte + size) > bytes)
        raiseOutside(byte, size, bytes);
      fn(byte, values);
    }
}

/// Copies bytes; of the sizes that elements have without a call.
void copyBytes(uint8_t *to, const uint8_t *from, int64_t size) {
  switch (size) {
  case 1:
    *to = *from;
    break;
  case 2:
    std::memcpy(to, from, 2);
    break;
  case 4:
    std::memcpy(to, from, 4);
    break;
  case 8:
    std::memcpy(to, from, 8);
    break;
  default:
    std::memcpy(to, from, size);
  }
}

/// The bytes of elements of memory, a row for each thread.
nb::ndarray<nb::numpy, uint8_t, nb::ndim<2>>
gather(Array<const uint8_t, 1> memory, Longs first, Longs steps, int64_t size) {
  require(size > 0);
  std::vector<uint8_t> values(first.shape(0) * steps.shape(0) * size);
  forEachElement(first, steps, size, memory.shape(0), values.data(),
                 [&](int64_t byte, uint8_t *value) {
                   copyBytes(value, memory.data() + byte, size);
                 });
  return newArray(std::move(values), first.shape(0), steps.shape(0) * size);
}

/// Stores the bytes of elements to memory, one thread after the other.
void scatter(Array<uint8_t, 1> memory, Longs first, Longs steps, int64_t size,
             Array<const uint8_t, 2> values) {
  require(size > 0 && values.shape(0) == first.shape(0) &&
          values.shape(1) == steps.shape(0) * size);
  forEachElement(first, steps, size, memory.shape(0), values.data(),
                 [&](int64_t byte, const uint8_t *value) {
                   copyBytes(memory.data() + byte, value, size);
                 });
}

/// The state before an access.
struct Before {
  /// Whether there are grains that no access is known of.
  bool unwritten = false;
  /// Warps, and the numbers of accesses that happen before theirs.
  std::vector<std::pair<int64_t, int64_t>> pairs;
  /// For each grain whether it is in order; empty if all are.
  std::vector<uint8_t> ordered;
  size_t rows = 0, columns = 0;
};

/// Looks up the earlier accesses to grains, and whether they happen before
/// those of each warp. `known` has the last step of each agent that each warp
/// has acquired; agents from `firstAgent` on are in columns from 1 on. None if
/// the grains have no accesses.
std::optional<Before> lookBefore(Ints row, Grains grains, Longs threads,
                                 int64_t warpSize, Ints agents, Ints steps,
                                 Array<const int32_t, 2> known,
                                 int64_t firstAgent) {
  require(threads.shape(0) == grains.shape(0) && warpSize > 0 &&
          agents.shape(0) == steps.shape(0));
  Rows rows(grains);
  Elements<const int32_t> numbers(row), agentOf(agents);
  Before found;
  size_t some = 0;
  int32_t lastNumber = 0;
  int64_t lastWarp = -1;
  bool lastOrdered = true;
  for (size_t r = 0; r < rows.count; ++r) {
    int64_t warp = threads.data()[r] / warpSize;
    for (const int64_t *grain = rows.begin(r); grain != rows.end(r); ++grain) {
      int32_t number = numbers[*grain];
      if (number == 0)
        continue;
      ++some;
      if (number != lastNumber || warp != lastWarp) {
        int64_t agent = agentOf[number];
        size_t column = agent < firstAgent ? 0 : agent - firstAgent + 1;
        require(static_cast<size_t>(warp) < known.shape(0) &&
                column < known.shape(1));
        lastNumber = number, lastWarp = warp;
        lastOrdered = known(warp, column) >= steps.data()[number];
        if (lastOrdered)
          found.pairs.emplace_back(warp, number);
      }
      if (!lastOrdered) {
        if (found.ordered.empty())
          found.ordered.assign(rows.count * rows.columns, 1);
        found.ordered[grain - rows.data] = 0;
      }
    }
  }
  if (some == 0)
    return std::nullopt;
  found.rows = rows.count, found.columns = rows.columns;
  found.unwritten = some != rows.count * rows.columns;
  std::sort(found.pairs.begin(), found.pairs.end());
  found.pairs.erase(std::unique(found.pairs.begin(), found.pairs.end()),
                    found.pairs.end());
  return found;
}

/// For each grain whether it is in order, as a new array; None if all are.
std::optional<nb::ndarray<nb::numpy, uint8_t, nb::ndim<2>>>
getOrdered(const Before &before) {
  if (before.ordered.empty())
    return std::nullopt;
  return newArray(before.ordered, before.rows, before.columns);
}

/// Makes threads the last ones that wrote grains; each names the access by a
/// number. Where the lanes of a warp run by themselves, those that wrote a
/// grain together are remembered as bits. Returns whether several threads did.
bool rememberWrites(Row writes, Array<int16_t, 1> writers,
                    std::optional<Bits> lanes, Grains grains, Ints numbers,
                    Longs threads, int64_t warpSize) {
  Rows rows(grains);
  require(numbers.shape(0) == rows.count && threads.shape(0) == rows.count &&
          writers.shape(0) == writes.shape(0) &&
          (!lanes || lanes->shape(0) == writes.shape(0)) && warpSize > 0);
  Elements<int32_t> numberOf(writes);
  int16_t *writer = writers.data();
  uint32_t *bits = lanes ? lanes->data() : nullptr;
  for (size_t r = 0; r < rows.count; ++r)
    for (const int64_t *grain = rows.begin(r); grain != rows.end(r); ++grain) {
      numberOf[*grain] = numbers.data()[r];
      writer[*grain] = threads.data()[r];
      if (bits)
        bits[*grain] = 0;
    }
  bool several = false;
  for (size_t r = 0; r < rows.count; ++r) {
    int64_t thread = threads.data()[r];
    uint32_t bit = uint32_t(1) << thread % warpSize % 32;
    for (const int64_t *grain = rows.begin(r); grain != rows.end(r); ++grain) {
      several |= writer[*grain] != thread;
      if (bits)
        bits[*grain] |= bit;
    }
  }
  return several;
}

/// Remembers reads, or atomic accesses, each in the row of its agent, which
/// `which` names for each thread. Returns false, and remembers nothing, if an
/// agent of another cluster than `cluster` is in the row (-1: they do not
/// matter).
bool rememberOthers(std::vector<Row> rowsOfShadow, Grains grains, Ints which,
                    int32_t first, Ints clusters, int32_t cluster) {
  Rows rows(grains);
  require(which.shape(0) == rows.count);
  Elements<const int32_t> clusterOf(clusters);
  for (bool remembers : {false, true}) {
    if (!remembers && cluster < 0)
      continue;
    for (size_t r = 0; r < rows.count; ++r) {
      size_t who = which.data()[r];
      require(who < rowsOfShadow.size());
      Elements<int32_t> numberOf(rowsOfShadow[who]);
      int32_t number = first + static_cast<int32_t>(who);
      for (const int64_t *grain = rows.begin(r); grain != rows.end(r);
           ++grain) {
        int32_t &before = numberOf[*grain];
        if (remembers)
          before = number;
        else if (before != 0 && clusterOf[before] != cluster)
          return false;
      }
    }
  }
  return true;
}

/// Remembers as bits which lanes access grains, by the rows of their agents, in
/// which the previous access is still named. Earlier lanes stay if none of
/// these lanes has acquired their access. For each warp and lane, `acquired`
/// has the last acquired step of each other lane; `own` is the agent of each
/// warp.
void rememberLanes(std::vector<Row> rowsOfShadow, std::vector<Bits> rowsOfLanes,
                   Grains grains, Ints which, Longs threads, Ints agents,
                   Ints steps, Array<const int32_t, 3> acquired, Ints own) {
  Rows rows(grains);
  require(which.shape(0) == rows.count && threads.shape(0) == rows.count &&
          rowsOfShadow.size() == rowsOfLanes.size() &&
          agents.shape(0) == steps.shape(0) &&
          own.shape(0) == acquired.shape(0) &&
          acquired.shape(1) == acquired.shape(2) && acquired.shape(2) <= 32);
  int64_t warpSize = acquired.shape(1);
  Elements<const int32_t> agentOf(agents);
  std::vector<uint32_t> kept(rows.count * rows.columns, 0);
  for (size_t r = 0; r < rows.count; ++r) {
    size_t who = which.data()[r];
    int64_t thread = threads.data()[r];
    size_t warp = thread / warpSize, lane = thread % warpSize;
    require(who < rowsOfShadow.size() && warp < own.shape(0));
    Elements<int32_t> numberOf(rowsOfShadow[who]);
    Elements<uint32_t> bits(rowsOfLanes[who]);
    int32_t lastNumber = 0;
    uint32_t unknown = 0;
    for (const int64_t *grain = rows.begin(r); grain != rows.end(r); ++grain) {
      int32_t number = numberOf[*grain];
      if (number == 0)
        continue;
      if (number != lastNumber) {
        lastNumber = number;
        unknown = 0;
        if (agentOf[number] == own.data()[warp])
          for (int64_t other = 0; other < warpSize; ++other)
            if (acquired(warp, lane, other) < steps.data()[number])
              unknown |= uint32_t(1) << other;
      }
      if (unknown)
        kept[grain - rows.data] = bits[*grain] & unknown;
    }
  }
  for (bool sets : {false, true})
    for (size_t r = 0; r < rows.count; ++r) {
      Elements<uint32_t> bits(rowsOfLanes[which.data()[r]]);
      uint32_t bit = uint32_t(1) << threads.data()[r] % warpSize;
      for (const int64_t *grain = rows.begin(r); grain != rows.end(r); ++grain)
        if (sets)
          bits[*grain] |= bit;
        else
          bits[*grain] &= kept[grain - rows.data];
    }
}

} // namespace

void smalti::python::bindThreadAccesses(nb::module_ &m) {
  m.def("grains_of", &getGrains, nb::arg("first"), nb::arg("steps"),
        nb::arg("size"), nb::arg("grain"),
        "The grains that threads access from bytes `first` on: elements of "
        "`size` bytes that are `steps` further.");
  m.def("all_inside", &allInside, nb::arg("values"), nb::arg("low"),
        nb::arg("high"),
        "Whether all of some numbers are from `low` to `high`.");
  m.def(
      "all_fit", &allFit, nb::arg("first"), nb::arg("steps"), nb::arg("size"),
      nb::arg("bytes"),
      "Whether all elements of `size` bytes, `steps` from the first ones, are "
      "within so many bytes, and the first ones at multiples of their size.");
  m.def("gather", &gather, nb::arg("memory"), nb::arg("first"),
        nb::arg("steps"), nb::arg("size"),
        "The bytes of elements of memory, a row for each thread.");
  m.def("scatter", &scatter, nb::arg("memory").noconvert(), nb::arg("first"),
        nb::arg("steps"), nb::arg("size"), nb::arg("values"),
        "Stores the bytes of elements to memory, one thread after the other.");
  nb::class_<Before>(m, "AccessesBefore",
                     "The earlier accesses to grains of memory that are "
                     "accessed.")
      .def_ro("unwritten", &Before::unwritten,
              "Whether some grains have no earlier access.")
      .def_ro("pairs", &Before::pairs,
              "Warps, and the numbers of accesses that happen before "
              "theirs.")
      .def_prop_ro("ordered", &getOrdered, nb::rv_policy::automatic,

                   "For each grain whether it is in order, as a new array; "
                   "None if all are.");
  m.def("look_before", &lookBefore, nb::arg("row").noconvert(),
        nb::arg("grains"), nb::arg("threads"), nb::arg("warp_size"),
        nb::arg("agents"), nb::arg("steps"), nb::arg("known"),
        nb::arg("first_agent"),
        "The earlier accesses to grains, and whether they happen before "
        "those of each warp. None if the grains have no accesses.");
  m.def("remember_writes", &rememberWrites, nb::arg("writes").noconvert(),
        nb::arg("writers").noconvert(), nb::arg("lanes").noconvert().none(),
        nb::arg("grains"), nb::arg("numbers"), nb::arg("threads"),
        nb::arg("warp_size"),
        "Makes threads the last ones that wrote grains. Returns whether "
        "several wrote one.");
  m.def("remember_others", &rememberOthers, nb::arg("rows").noconvert(),
        nb::arg("grains"), nb::arg("which"), nb::arg("first"),
        nb::arg("clusters"), nb::arg("cluster"),
        "Remembers reads, or atomic accesses. Returns False, and remembers "
        "nothing, if another cluster has accessed one.");
  m.def("remember_lanes", &rememberLanes, nb::arg("rows").noconvert(),
        nb::arg("lanes").noconvert(), nb::arg("grains"), nb::arg("which"),
        nb::arg("threads"), nb::arg("agents"), nb::arg("steps"),
        nb::arg("acquired"), nb::arg("own"),
        "Remembers which lanes access grains, in addition to earlier lanes "
        "whose accesses are not ordered before these.");
}
