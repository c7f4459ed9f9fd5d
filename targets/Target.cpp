//===- Target.cpp - Target table: lookup and JSON -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/targets/Target.h"

#include "smalti/targets/Chips.h"
#include "smalti/targets/Timing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace smalti;
using namespace smalti::targets;

static ChipTable buildTable() {
  ChipTable table;
  addCPU(table);
  addNVIDIA(table);
  addAMD(table);
  return table;
}

llvm::ArrayRef<const Target *> targets::all() {
  static const ChipTable table = buildTable();
  return table.targets();
}

const Target *targets::lookup(llvm::StringRef name) {
  for (const Target *target : all())
    if (target->name == name)
      return target;
  return nullptr;
}

const Target *targets::lookupComputeCapability(int64_t major, int64_t minor) {
  std::string number = std::to_string(major) + std::to_string(minor);
  const Target *found = nullptr;
  for (const Target *target : all()) {
    llvm::StringRef name = target->name;
    if (target->vendor != Vendor::NVIDIA || !name.consume_front("sm_"))
      continue;
    bool isSpecific = name.consume_back("a");
    if (name == number && (!found || isSpecific))
      found = target;
  }
  return found;
}

std::string targets::knownNames() {
  return llvm::join(
      llvm::map_range(all(), [](const Target *target) { return target->name; }),
      ", ");
}

llvm::StringRef targets::toString(Vendor vendor) {
  switch (vendor) {
  case Vendor::CPU:
    return "CPU";
  case Vendor::NVIDIA:
    return "NVIDIA";
  case Vendor::AMD:
    return "AMD";
  }
  return "";
}

std::string
targets::namesWith(llvm::function_ref<bool(const Target &)> hasProperty) {
  std::string names;
  for (const Target *target : all())
    if (hasProperty(*target))
      names += (names.empty() ? "" : " or ") + target->name.str();
  return names;
}

std::string targets::namesWithTensorMemory() {
  return namesWith(
      [](const Target &target) { return target.tensorMemoryColumns > 0; });
}

// Type names as in MLIR.
llvm::StringRef targets::toString(Element element) {
  switch (element) {
  case Element::F16:
    return "f16";
  case Element::BF16:
    return "bf16";
  case Element::F32:
    return "f32";
  case Element::TF32:
    return "tf32";
  case Element::F64:
    return "f64";
  case Element::E4M3:
    return "f8E4M3FN";
  case Element::E5M2:
    return "f8E5M2";
  case Element::E4M3FNUZ:
    return "f8E4M3FNUZ";
  case Element::E5M2FNUZ:
    return "f8E5M2FNUZ";
  case Element::I8:
    return "i8";
  case Element::I4:
    return "i4";
  case Element::I32:
    return "i32";
  }
  return "";
}

llvm::StringRef targets::toString(MmaKind kind) {
  switch (kind) {
  case MmaKind::MmaSync:
    return "mma_sync";
  case MmaKind::Mfma:
    return "mfma";
  case MmaKind::Wmma:
    return "wmma";
  case MmaKind::Fma:
    return "fma";
  }
  return "";
}

llvm::StringRef targets::toString(BarrierKind kind) {
  switch (kind) {
  case BarrierKind::None:
    return "none";
  case BarrierKind::BarSync:
    return "bar_sync";
  case BarrierKind::SBarrier:
    return "s_barrier";
  case BarrierKind::SplitBarrier:
    return "split_barrier";
  }
  return "";
}

llvm::StringRef targets::toString(WaitKind kind) {
  switch (kind) {
  case WaitKind::CpAsyncGroup:
    return "cp_async_group";
  case WaitKind::Mbarrier:
    return "mbarrier";
  case WaitKind::Vmcnt:
    return "vmcnt";
  case WaitKind::SplitCounters:
    return "split_counters";
  case WaitKind::AsyncCounter:
    return "async_counter";
  case WaitKind::TensorCounter:
    return "tensor_counter";
  }
  return "";
}

llvm::StringRef targets::toString(AsyncCopyKind kind) {
  switch (kind) {
  case AsyncCopyKind::None:
    return "none";
  case AsyncCopyKind::CpAsync:
    return "cp_async";
  case AsyncCopyKind::LDSLoad:
    return "lds_load";
  case AsyncCopyKind::AsyncLDSLoad:
    return "async_lds_load";
  }
  return "";
}

static void writeNumbers(llvm::json::OStream &json, llvm::StringRef key,
                         llvm::ArrayRef<int64_t> numbers) {
  json.attributeArray(key, [&] {
    for (int64_t number : numbers)
      json.value(number);
  });
}

/// A dimension is a negative number; replication is {"replicated": times}.
static void writePartition(llvm::json::OStream &json, llvm::StringRef key,
                           llvm::ArrayRef<layout::PartitionDim> dims) {
  json.attributeArray(key, [&] {
    for (const layout::PartitionDim &dim : dims) {
      if (dim.isReplicated())
        json.object([&] { json.attribute("replicated", dim.times); });
      else
        json.value(dim.dim);
    }
  });
}

static void writeFragment(llvm::json::OStream &json, llvm::StringRef key,
                          llvm::ArrayRef<int64_t> shape,
                          const layout::TiledLayout &layout,
                          llvm::ArrayRef<int64_t> order) {
  json.attributeObject(key, [&] {
    writeNumbers(json, "shape", shape);
    json.attributeArray("tiling", [&] {
      for (llvm::ArrayRef<int64_t> tile : layout.tiling)
        json.array([&] {
          for (int64_t size : tile)
            json.value(size);
        });
    });
    writePartition(json, "warp_dims", layout.warpDims);
    writePartition(json, "lane_dims", layout.laneDims);
    json.attribute("vector_dim", layout.vectorDim);
    writeNumbers(json, "order", order);
  });
}

static void writeMma(llvm::json::OStream &json, const MmaInstruction &mma) {
  json.object([&] {
    json.attribute("kind", toString(mma.kind));
    json.attribute("mnemonic", mma.mnemonic);
    json.attribute("m", mma.m);
    json.attribute("n", mma.n);
    json.attribute("k", mma.k);
    json.attribute("a", toString(mma.a));
    json.attribute("b", toString(mma.b));
    json.attribute("accumulator", toString(mma.accumulator));
    json.attribute("macs_per_cycle", mma.macsPerCycle);
    json.attribute("accumulates_in_halves", mma.accumulatesInHalves);
    json.attribute("takes_unsigned", mma.takesUnsigned);
    writeFragment(json, "a_fragment", mma.aShape(), mma.aLayout, mma.aOrder);
    writeFragment(json, "b_fragment", mma.bShape(), mma.bLayout, mma.bOrder);
    writeFragment(json, "c_fragment", mma.cShape(), mma.cLayout, mma.cOrder);
  });
}

/// The highest known MMA rate for a type, or 0.
static int64_t bestRate(const Target &target, Element element) {
  int64_t best = 0;
  for (const MmaInstruction &mma : target.mmas)
    if (mma.kind != MmaKind::Fma && mma.a == element)
      best = std::max(best, mma.macsPerCycle.value_or(0));
  return best;
}

/// Omits unknown numbers.
static void writeTiming(llvm::json::OStream &json, const Target &target,
                        const Timing &timing) {
  auto write = [&](llvm::StringRef key, auto number) {
    if (number != 0)
      json.attribute(key, number);
  };
  json.attributeObject("timing", [&] {
    json.attribute("product", timing.product);
    write("units", timing.units);
    write("megahertz", timing.megahertz);
    write("parts", timing.parts);
    write("memory_bandwidth", timing.memoryBandwidth);
    write("global_latency", timing.globalLatency);
    write("shared_latency", timing.sharedLatency);
    write("shared_bytes", timing.sharedBytes);
    write("results", timing.results);
    write("special_results", timing.specialResults);
    auto writeRate = [&](llvm::StringRef key, int64_t rate, Element element) {
      write(key, rate ? rate : bestRate(target, element));
    };
    writeRate("f16_macs", timing.f16Macs, Element::F16);
    writeRate("tf32_macs", timing.tf32Macs, Element::TF32);
    writeRate("eight_bit_macs", timing.eightBitMacs, Element::I8);
    write("cache_bytes", timing.cacheBytes);
    write("cache_bytes_per_cycle", timing.cacheBytesPerCycle);
    write("threads_per_unit", timing.threadsPerUnit);
    write("shared_memory_per_unit", timing.sharedMemoryPerUnit);
    write("shared_memory_reserved", timing.sharedMemoryReserved);
  });
}

static void writeTarget(llvm::json::OStream &json, const Target &target) {
  json.object([&] {
    json.attribute("name", target.name);
    json.attribute("vendor", toString(target.vendor));
    json.attribute("architecture", target.architecture);
    json.attribute("wave_size", target.waveSize);
    json.attribute("max_threads_per_block", target.maxThreadsPerBlock);
    json.attribute("default_warps", target.defaultWarps);
    json.attribute("shared_memory_per_block", target.sharedMemoryPerBlock);
    json.attribute("static_shared_memory", target.staticSharedMemory);
    json.attribute("shared_memory_banks", target.sharedMemoryBanks);
    json.attribute("bank_bytes", target.bankBytes);
    writeNumbers(json, "wide_read_order", target.wideReadOrder);
    json.attribute("registers_per_thread", target.registersPerThread);
    json.attribute("registers_per_unit", target.registersPerUnit);
    json.attribute("tensor_memory_columns", target.tensorMemoryColumns);
    json.attribute("max_cluster_size", target.maxClusterSize);
    writeNumbers(json, "async_copy_bytes", target.asyncCopyBytes);
    json.attribute("async_copy", toString(target.asyncCopy));
    json.attribute("min_async_copy_bytes", target.minAsyncCopyBytes);
    json.attribute("has_tma", target.hasTMA);
    json.attribute("has_wgmma", target.hasWGMMA);
    json.attribute("has_tdm", target.hasTDM);
    json.attribute("has_ldmatrix", target.hasLdMatrix);
    json.attribute("has_stmatrix", target.hasStMatrix);
    json.attribute("has_transposed_8bit_matrix",
                   target.hasTransposed8BitMatrix);
    json.attributeArray("transposed_reads", [&] {
      for (const TransposedRead &read : target.transposedReads)
        json.object([&] {
          json.attribute("element_bits", read.elementBits);
          json.attribute("bytes", read.bytes);
          json.attribute("first_element_bits", read.firstElementBits);
          json.attribute("first_lane_bits", read.firstLaneBits);
        });
    });
    json.attribute("has_buffer_loads", target.hasBufferLoads);
    json.attribute("has_row_exchange", target.hasRowExchange);
    json.attribute("has_lane_swap", target.hasLaneSwap);
    json.attribute("barrier", toString(target.barrier));
    json.attribute("sinks_loads", target.sinksLoads);
    json.attributeArray("waits", [&] {
      for (WaitKind wait : target.waits)
        json.value(toString(wait));
    });
    json.attribute("ptx_version", target.ptxVersion);
    json.attribute("features", target.features);
    if (const Timing *timing = lookupTiming(target.name))
      writeTiming(json, target, *timing);
    json.attributeArray("mmas", [&] {
      for (const MmaInstruction &mma : target.mmas)
        writeMma(json, mma);
    });
  });
}

int64_t TransposedRead::sourceLane(int64_t lane, int64_t element) const {
  int64_t rest = lane / elements();
  int64_t first = int64_t(1) << firstElementBits;
  int64_t next = int64_t(1) << firstLaneBits;
  // The number of values of the upper element bits.
  int64_t others = elements() / first;
  return element % first +
         first *
             (rest % next + next * (element / first + others * (rest / next)));
}

std::string targets::toJSON() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.array([&] {
    for (const Target *target : all())
      writeTarget(json, *target);
  });
  return text;
}
