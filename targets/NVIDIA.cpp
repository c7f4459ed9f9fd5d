//===- NVIDIA.cpp - NVIDIA chips ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources:
// - CUDA C++ Programming Guide, "Compute Capabilities", table of technical
//   specifications: warp size, threads per block, registers, shared memory per
//   block (the opt-in limit, 1 KB less than the SM has), 48 KB without opt-in,
//   32 banks of 4 bytes, clusters of up to 8 blocks.
// - NVIDIA's GTC 2022 session S41723, "How to Understand and Optimize Shared
//   Memory Accesses using Nsight Compute": accesses of 8 bytes per lane are
//   served by half warps and those of 16 by quarter warps, in lane order.
// - PTX ISA 9.0: "cp.async" (4, 8, 16 bytes), "Matrix Fragments for mma.*"
//   and the target notes of each instruction, "Tensor Memory" (512 columns),
//   "ldmatrix" and "stmatrix" (from sm_90; 8-bit matrices from sm_100a).
// - The whitepapers of the architectures: dense multiply-accumulates per cycle
//   and SM. Unknown if they do not state a rate for mma.sync: since Hopper it
//   does not reach the quoted rate of the newer instructions.
// - PTX version: what LLVM 22 writes at most (9.0) and ptxas 13.0 accepts, for
//   each chip; test/python/targets/test_targets_isa.py checks both.
//
//===----------------------------------------------------------------------===//

#include "smalti/targets/Chips.h"
#include "smalti/targets/Fragments.h"

#include <string>

using namespace smalti::targets;

static constexpr int64_t asyncCopyBytes[] = {4, 8, 16};
static constexpr WaitKind ampereWaits[] = {WaitKind::CpAsyncGroup};
static constexpr WaitKind hopperWaits[] = {WaitKind::CpAsyncGroup,
                                           WaitKind::Mbarrier};

/// Multiply-accumulates per cycle and SM, as far as they are published for
/// mma.sync.
struct Rates {
  std::optional<int64_t> f16, tf32, eightBit;
  int64_t fma = 128;
  std::optional<int64_t> f64, f64Fma;
};

/// The name of a type in PTX. Integer operands are named as signed.
static std::string typeName(Element element) {
  switch (element) {
  case Element::E4M3:
    return "e4m3";
  case Element::E5M2:
    return "e5m2";
  case Element::I8:
    return "s8";
  case Element::I32:
    return "s32";
  default:
    return toString(element).str();
  }
}

static MmaInstruction mmaSync(int64_t m, int64_t k, Element a, Element b,
                              Element accumulator,
                              std::optional<int64_t> macsPerCycle,
                              MmaPairing pairing = {}) {
  int64_t packed = 4;
  if (a == Element::F16 || a == Element::BF16)
    packed = 2;
  else if (a == Element::TF32 || a == Element::F64)
    packed = 1;
  std::string mnemonic = "mma.sync.aligned.m" + std::to_string(m) + "n8k" +
                         std::to_string(k) + ".row.col." +
                         typeName(accumulator) + "." + typeName(a) + "." +
                         typeName(b) + "." + typeName(accumulator);
  MmaInstruction mma =
      makeMma(MmaKind::MmaSync, {m, pairing.columns ? 16 : 8, k}, a, b,
              accumulator, mmaSyncA(m, k, packed, pairing.rows),
              mmaSyncB(k, packed, pairing.columns), mmaSyncC(m, pairing),
              mnemonic, macsPerCycle);
  mma.takesUnsigned = a == Element::I8;
  mma.pairing = pairing;
  return mma;
}

/// Generations of matrix instructions, each with those of the previous ones.
enum class Generation { Ampere, Ada, Hopper };

static std::vector<MmaInstruction> instructions(const Rates &rates,
                                                Generation generation) {
  std::vector<MmaInstruction> mmas;
  auto add = [&](int64_t k, Element element, Element accumulator,
                 std::optional<int64_t> macsPerCycle) {
    mmas.push_back(
        mmaSync(/*m=*/16, k, element, element, accumulator, macsPerCycle));
  };
  for (auto [element, accumulator] : {std::pair(Element::F16, Element::F32),
                                      std::pair(Element::F16, Element::F16),
                                      std::pair(Element::BF16, Element::F32)}) {
    add(16, element, accumulator, rates.f16);
    add(8, element, accumulator, rates.f16);
  }
  add(8, Element::TF32, Element::F32, rates.tf32);
  add(4, Element::TF32, Element::F32, rates.tf32);
  if (generation >= Generation::Ada)
    for (Element a : {Element::E4M3, Element::E5M2})
      for (Element b : {Element::E4M3, Element::E5M2})
        mmas.push_back(
            mmaSync(/*m=*/16, 32, a, b, Element::F32, rates.eightBit));
  add(32, Element::I8, Element::I32, rates.eightBit);
  add(16, Element::I8, Element::I32, rates.eightBit);
  if (generation >= Generation::Hopper)
    for (int64_t k : {16, 8, 4})
      add(k, Element::F64, Element::F64, rates.f64);
  mmas.push_back(
      mmaSync(/*m=*/8, 4, Element::F64, Element::F64, Element::F64, rates.f64));
  for (Element element : {Element::F32, Element::F16, Element::BF16})
    mmas.push_back(scalarFma(8, 4, element, rates.fma));
  mmas.push_back(scalarFma(8, 4, Element::F64, rates.f64Fma));
  mmas.push_back(scalarFma(8, 4, Element::I8, /*macsPerCycle=*/{}));
  return mmas;
}

/// The 8-bit MMAs with every pairing.
static std::vector<MmaInstruction>
pairings(const std::vector<MmaInstruction> &mmas) {
  std::vector<MmaInstruction> paired;
  for (const MmaInstruction &mma : mmas)
    if (mma.kind == MmaKind::MmaSync && mma.aLayout.vectorLength() == 4)
      for (MmaPairing pairing :
           {MmaPairing{true, false}, MmaPairing{false, true},
            MmaPairing{true, true}})
        paired.push_back(mmaSync(mma.m, mma.k, mma.a, mma.b, mma.accumulator,
                                 mma.macsPerCycle, pairing));
  return paired;
}

/// Common properties of all NVIDIA chips.
static Target ampere(llvm::StringRef name, llvm::StringRef architecture,
                     int64_t sharedMemory) {
  Target target;
  target.name = name;
  target.vendor = Vendor::NVIDIA;
  target.architecture = architecture;
  target.waveSize = 32;
  target.maxThreadsPerBlock = 1024;
  target.defaultWarps = 8;
  target.sharedMemoryPerBlock = sharedMemory;
  target.staticSharedMemory = 48 * 1024;
  target.sharedMemoryBanks = 32;
  target.bankBytes = 4;
  target.registersPerThread = 255;
  target.registersPerUnit = 64 * 1024;
  target.asyncCopyBytes = asyncCopyBytes;
  target.asyncCopy = AsyncCopyKind::CpAsync;
  target.minAsyncCopyBytes = asyncCopyBytes[0];
  target.hasLdMatrix = true;
  target.barrier = BarrierKind::BarSync;
  target.waits = ampereWaits;
  target.ptxVersion = "90";
  target.features = "+ptx90";
  return target;
}

/// Hopper and later: TMA, mbarriers with transaction counts, clusters of 8
/// blocks (larger clusters are not portable).
static Target hopper(llvm::StringRef name, llvm::StringRef architecture,
                     int64_t sharedMemory) {
  Target target = ampere(name, architecture, sharedMemory);
  target.hasTMA = true;
  target.hasStMatrix = true;
  target.maxClusterSize = 8;
  target.waits = hopperWaits;
  return target;
}

void smalti::targets::addNVIDIA(ChipTable &table) {
  constexpr int64_t kb = 1024;
  auto add = [&](const Target &target, std::vector<MmaInstruction> mmas) {
    std::vector<MmaInstruction> paired = pairings(mmas);
    table.add(target, std::move(mmas), std::move(paired));
  };
  add(ampere("sm_80", "Ampere", 163 * kb),
      instructions({/*f16=*/1024, /*tf32=*/512, /*eightBit=*/2048, /*fma=*/64,
                    /*f64=*/64, /*f64Fma=*/32},
                   Generation::Ampere));
  add(ampere("sm_86", "Ampere", 99 * kb),
      instructions({/*f16=*/512, /*tf32=*/256, /*eightBit=*/1024,
                    /*fma=*/128, /*f64=*/2, /*f64Fma=*/2},
                   Generation::Ampere));
  add(ampere("sm_89", "Ada", 99 * kb),
      instructions({/*f16=*/512, /*tf32=*/256, /*eightBit=*/1024,
                    /*fma=*/128, /*f64=*/2, /*f64Fma=*/2},
                   Generation::Ada));
  for (const char *name : {"sm_90", "sm_90a"}) {
    Target target = hopper(name, "Hopper", 227 * kb);
    target.hasWGMMA = name == llvm::StringRef("sm_90a");
    add(target, instructions({}, Generation::Hopper));
  }
  for (const char *name : {"sm_100a", "sm_103a"}) {
    Target target = hopper(name, "Blackwell", 227 * kb);
    target.tensorMemoryColumns = 512;
    target.hasTransposed8BitMatrix = true;
    add(target, instructions({}, Generation::Hopper));
  }
  for (const char *name : {"sm_120a", "sm_121a"}) {
    Target target = hopper(name, "Blackwell", 99 * kb);
    target.hasTransposed8BitMatrix = true;
    add(target, instructions({}, Generation::Hopper));
  }
}
