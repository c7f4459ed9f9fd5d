//===- AMD.cpp - AMD chips ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources:
// - The instruction set guides of CDNA2 (gfx90a), CDNA3 (gfx942), CDNA4
//   (gfx950), RDNA3 (gfx1100, gfx1101) and RDNA4 (gfx1200, gfx1201): local data
//   share (size, banks), registers, matrix instructions and the layouts of
//   their operands, wait counters.
// - LLVM's "User Guide for AMDGPU Backend" and its processor definitions: the
//   default wave size, addressable LDS, and everything on gfx1250, whose
//   instruction set guide is not public.
// - Composable Kernel documentation, "Understanding AMD GPU LDS and Bank
//   Conflicts": banks, and the lanes that ds_read_b128 and ds_write_b128 serve
//   together on CDNA2 and CDNA3; Triton's pull request 11365, by AMD, has the
//   same for CDNA4. RDNA and GFX12.5 are not published: lane order is assumed.
// - AMD's whitepapers: dense multiply-accumulates per cycle and compute unit.
// - Direct copies to LDS: what amdgpu.gather_to_lds lowers to (1, 2, 4 bytes;
//   on gfx950 also 12 and 16). Only 4 and 16 are listed. Narrower ones are
//   widened to a dword in LDS and 12 is padded to 16, so they do not copy
//   contiguous bytes. gfx1250 has its own asynchronous loads to LDS.
// - Transposed reads of LDS: Triton's AMD backend, by AMD, and AMD's "ROCm
//   blogs" on gfx1250 state the source lane of each element.
//
//===----------------------------------------------------------------------===//

#include "smalti/targets/Chips.h"
#include "smalti/targets/Fragments.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace smalti::targets;

// clang-format off
/// ds_read_b128 serves 8 lanes at a time.
static constexpr int64_t cdna3ReadOrder[] = {
     0,  1,  2,  3, 20, 21, 22, 23,    4,  5,  6,  7, 16, 17, 18, 19,
     8,  9, 10, 11, 28, 29, 30, 31,   12, 13, 14, 15, 24, 25, 26, 27,
    32, 33, 34, 35, 52, 53, 54, 55,   36, 37, 38, 39, 48, 49, 50, 51,
    40, 41, 42, 43, 60, 61, 62, 63,   44, 45, 46, 47, 56, 57, 58, 59};
/// ds_read_b128 serves 16 lanes at a time.
static constexpr int64_t cdna4ReadOrder[] = {
     0,  1,  2,  3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27,
     4,  5,  6,  7,  8,  9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31,
    32, 33, 34, 35, 44, 45, 46, 47, 52, 53, 54, 55, 56, 57, 58, 59,
    36, 37, 38, 39, 40, 41, 42, 43, 48, 49, 50, 51, 60, 61, 62, 63};
// clang-format on

/// ds_read_b64_tr_b16, ds_read_b64_tr_b8: 16 lanes hold 16 columns.
static constexpr TransposedRead cdna4TransposedReads[] = {
    {/*elementBits=*/16, /*bytes=*/8, /*firstElementBits=*/0,
     /*firstLaneBits=*/2},
    {/*elementBits=*/8, /*bytes=*/8, /*firstElementBits=*/0,
     /*firstLaneBits=*/1}};
/// ds_load_tr16_b128, ds_load_tr8_b64: 8 lanes hold 8 columns.
static constexpr TransposedRead gfx1250TransposedReads[] = {
    {/*elementBits=*/16, /*bytes=*/16, /*firstElementBits=*/3,
     /*firstLaneBits=*/0},
    {/*elementBits=*/8, /*bytes=*/8, /*firstElementBits=*/2,
     /*firstLaneBits=*/1}};

static constexpr WaitKind vmcntWaits[] = {WaitKind::Vmcnt};
static constexpr WaitKind splitWaits[] = {WaitKind::SplitCounters};
static constexpr WaitKind gfx1250Waits[] = {
    WaitKind::SplitCounters, WaitKind::AsyncCounter, WaitKind::TensorCounter};

/// v_mfma_*, wave64. A: row = lane % m, `chunk` columns from chunk * (lane /
/// m); B likewise. C: column = lane % n, groups of four rows, or single rows
/// for f64, distributed round-robin across the 64 / n groups of lanes.
static MmaInstruction mfma(int64_t m, int64_t k, Element a, Element b,
                           Element accumulator, llvm::StringRef mnemonic,
                           int64_t macsPerCycle) {
  int64_t groups = 64 / m;
  int64_t chunk = k / groups;
  int64_t chunkC = accumulator == Element::F64 ? 1 : 4;
  return makeMma(MmaKind::Mfma, {m, m, k}, a, b, accumulator,
                 rowsAlongLanes(m, k, groups, chunk),
                 columnsAlongLanes(k, m, groups, chunk),
                 columnsAlongLanes(m, m, groups, chunkC), mnemonic,
                 macsPerCycle);
}

static MmaInstruction mfma(int64_t m, int64_t k, Element element,
                           Element accumulator, llvm::StringRef mnemonic,
                           int64_t macsPerCycle) {
  return mfma(m, k, element, element, accumulator, mnemonic, macsPerCycle);
}

/// v_wmma_* of RDNA3, wave32. A and B are replicated in both half waves, and
/// the rows of C alternate between them. 16-bit elements of C are the low
/// halves of registers.
static MmaInstruction rdna3Wmma(Element element, Element accumulator,
                                llvm::StringRef mnemonic,
                                int64_t macsPerCycle) {
  MmaInstruction mma = makeMma(
      MmaKind::Wmma, {16, 16, 16}, element, element, accumulator,
      rowsAlongLanes(16, 16, /*groups=*/1, /*chunk=*/16, /*replicas=*/2),
      columnsAlongLanes(16, 16, /*groups=*/1, /*chunk=*/16, /*replicas=*/2),
      columnsAlongLanes(16, 16, /*groups=*/2, /*chunk=*/1), mnemonic,
      macsPerCycle);
  mma.takesUnsigned = element == Element::I8;
  mma.accumulatesInHalves = accumulator == Element::F16;
  return mma;
}

/// v_wmma_* of gfx12, wave32: K is distributed across the half waves in chunks;
/// the second half wave holds the lower half of C. The RDNA4 guide can also be
/// read with bit 2 of k, instead of bit 3, in bit 4 of the lane for 16-bit
/// operands. Both give the same result, since A and B have the same order along
/// K.
static MmaInstruction gfx12Wmma(int64_t k, int64_t chunk, Element a, Element b,
                                Element accumulator, llvm::StringRef mnemonic,
                                std::optional<int64_t> macsPerCycle) {
  MmaInstruction mma =
      makeMma(MmaKind::Wmma, {16, 16, k}, a, b, accumulator,
              rowsAlongLanes(16, k, /*groups=*/2, chunk),
              columnsAlongLanes(k, 16, /*groups=*/2, chunk),
              columnsAlongLanes(16, 16, /*groups=*/2, /*chunk=*/8), mnemonic,
              macsPerCycle);
  mma.takesUnsigned = a == Element::I8;
  return mma;
}

/// Calls `add` with each combination of two 8-bit floats and the suffix of the
/// mnemonic.
static void
addFloat8(Element fp8, Element bf8,
          llvm::function_ref<void(Element, Element, llvm::StringRef)> add) {
  for (auto [a, nameA] : {std::pair(fp8, "fp8"), std::pair(bf8, "bf8")})
    for (auto [b, nameB] : {std::pair(fp8, "fp8"), std::pair(bf8, "bf8")})
      add(a, b, (llvm::Twine(nameA) + "_" + nameB).str());
}

/// Adds the MFMA instructions of CDNA3 and CDNA4 for a type, with 16 and 32
/// rows. `k` is that of 16 rows; `types` is the suffix of the mnemonic.
static void addMfmas(std::vector<MmaInstruction> &mmas, Element a, Element b,
                     Element accumulator, int64_t k, llvm::StringRef types,
                     int64_t macsPerCycle) {
  for (int64_t m : {16, 32}) {
    int64_t columns = k * 16 / m;
    std::string mnemonic = llvm::formatv(
        "v_mfma_{0}_{1}x{1}x{2}_{3}",
        accumulator == Element::I32 ? "i32" : "f32", m, columns, types);
    mmas.push_back(mfma(m, columns, a, b, accumulator, mnemonic, macsPerCycle));
  }
}

static void addMfmas(std::vector<MmaInstruction> &mmas, Element element,
                     Element accumulator, int64_t k, llvm::StringRef types,
                     int64_t macsPerCycle) {
  addMfmas(mmas, element, element, accumulator, k, types, macsPerCycle);
}

static void add16BitMfmas(std::vector<MmaInstruction> &mmas, int64_t k,
                          int64_t macsPerCycle) {
  addMfmas(mmas, Element::F16, Element::F32, k, "f16", macsPerCycle);
  addMfmas(mmas, Element::BF16, Element::F32, k, "bf16", macsPerCycle);
}

/// Adds the MFMA instructions that CDNA3 and CDNA4 have in common. Only the
/// types of 8-bit floats and the rate of f64 differ.
static void addCommonMfmas(std::vector<MmaInstruction> &mmas, Element fp8,
                           Element bf8, int64_t f64MacsPerCycle) {
  add16BitMfmas(mmas, 16, 1024);
  addMfmas(mmas, Element::F32, Element::F32, 4, "f32", 128);
  mmas.push_back(mfma(16, 4, Element::F64, Element::F64,
                      "v_mfma_f64_16x16x4_f64", f64MacsPerCycle));
  addFloat8(fp8, bf8, [&](Element a, Element b, llvm::StringRef types) {
    addMfmas(mmas, a, b, Element::F32, 32, types, 2048);
  });
}

/// The WMMA instructions that RDNA4 and gfx1250 have in common. Their depths
/// are those of 16-bit and of 8-bit types.
static std::vector<MmaInstruction> gfx12Wmmas(int64_t depth16, int64_t depth8,
                                              std::optional<int64_t> rate16,
                                              std::optional<int64_t> rate8) {
  std::vector<MmaInstruction> mmas;
  auto add = [&](int64_t k, Element a, Element b, Element accumulator,
                 llvm::StringRef types, std::optional<int64_t> rate) {
    std::string mnemonic = llvm::formatv("v_wmma_{0}_16x16x{1}_{2}",
                                         toString(accumulator), k, types);
    mmas.push_back(
        gfx12Wmma(k, /*chunk=*/8, a, b, accumulator, mnemonic, rate));
  };
  add(depth16, Element::F16, Element::F16, Element::F32, "f16", rate16);
  add(depth16, Element::F16, Element::F16, Element::F16, "f16", rate16);
  add(depth16, Element::BF16, Element::BF16, Element::F32, "bf16", rate16);
  add(depth8, Element::I8, Element::I8, Element::I32, "iu8", rate8);
  addFloat8(Element::E4M3, Element::E5M2,
            [&](Element a, Element b, llvm::StringRef types) {
              add(depth8, a, b, Element::F32, types, rate8);
            });
  return mmas;
}

/// The scalar fallback, last in every list.
static void addFma(std::vector<MmaInstruction> &mmas, int64_t waveSize,
                   std::optional<int64_t> macsPerCycle,
                   std::optional<int64_t> f64MacsPerCycle = {}) {
  auto add = [&](Element element, std::optional<int64_t> rate) {
    mmas.push_back(scalarFma(8, waveSize / 8, element, rate));
  };
  for (Element element : {Element::F32, Element::F16, Element::BF16})
    add(element, macsPerCycle);
  add(Element::F64, f64MacsPerCycle);
  add(Element::I8, /*rate=*/{});
}

static Target amd(llvm::StringRef name, llvm::StringRef architecture) {
  Target target;
  target.name = name;
  target.vendor = Vendor::AMD;
  target.architecture = architecture;
  target.maxThreadsPerBlock = 1024;
  // A dispatch packet has a grid size of 32 bits, in work-items.
  target.maxBlocksPerGrid =
      std::numeric_limits<uint32_t>::max() / target.maxThreadsPerBlock;
  target.sharedMemoryPerBlock = target.staticSharedMemory = 64 * 1024;
  target.sharedMemoryBanks = 32;
  target.bankBytes = 4;
  target.hasBufferLoads = true;
  target.sinksLoads = true;
  return target;
}

/// CDNA: wave64; 256 vector and 256 accumulation registers per thread; 512 KB
/// of registers per compute unit.
static Target cdna(llvm::StringRef name, llvm::StringRef architecture) {
  Target target = amd(name, architecture);
  target.waveSize = 64;
  target.defaultWarps = 4;
  target.registersPerThread = 512;
  target.registersPerUnit = 128 * 1024;
  target.barrier = BarrierKind::SBarrier;
  target.waits = vmcntWaits;
  target.wideReadOrder = cdna3ReadOrder;
  return target;
}

/// RDNA3 and RDNA4: wave32; two SIMDs per compute unit with 192 KB of registers
/// each; 32 LDS banks per compute unit.
static Target rdna(llvm::StringRef name, llvm::StringRef architecture) {
  Target target = amd(name, architecture);
  target.waveSize = 32;
  target.hasRowExchange = true;
  target.defaultWarps = 8;
  target.registersPerThread = 256;
  target.registersPerUnit = 96 * 1024;
  return target;
}

static void addGfx90a(ChipTable &table) {
  static constexpr int64_t asyncCopyBytes[] = {4};
  Target target = cdna("gfx90a", "CDNA2");
  target.asyncCopyBytes = asyncCopyBytes;
  target.asyncCopy = AsyncCopyKind::LDSLoad;
  std::vector<MmaInstruction> mmas = {
      mfma(32, 8, Element::F16, Element::F32, "v_mfma_f32_32x32x8f16", 512),
      mfma(16, 16, Element::F16, Element::F32, "v_mfma_f32_16x16x16f16", 512),
      mfma(32, 8, Element::BF16, Element::F32, "v_mfma_f32_32x32x8bf16_1k",
           512),
      mfma(16, 16, Element::BF16, Element::F32, "v_mfma_f32_16x16x16bf16_1k",
           512),
      mfma(32, 2, Element::F32, Element::F32, "v_mfma_f32_32x32x2f32", 128),
      mfma(16, 4, Element::F32, Element::F32, "v_mfma_f32_16x16x4f32", 128),
      mfma(16, 4, Element::F64, Element::F64, "v_mfma_f64_16x16x4f64", 128),
      mfma(32, 8, Element::I8, Element::I32, "v_mfma_i32_32x32x8i8", 512),
      mfma(16, 16, Element::I8, Element::I32, "v_mfma_i32_16x16x16i8", 512)};
  addFma(mmas, 64, 64, 64);
  table.add(target, std::move(mmas));
}

// ROCm's "workload optimization" guide for MI300X: 16x16 is usually faster than
// 32x32, also for large matmuls.
static void addGfx942(ChipTable &table) {
  static constexpr int64_t asyncCopyBytes[] = {4};
  Target target = cdna("gfx942", "CDNA3");
  target.asyncCopyBytes = asyncCopyBytes;
  target.asyncCopy = AsyncCopyKind::LDSLoad;
  std::vector<MmaInstruction> mmas;
  addCommonMfmas(mmas, Element::E4M3FNUZ, Element::E5M2FNUZ,
                 /*f64MacsPerCycle=*/128);
  addMfmas(mmas, Element::TF32, Element::F32, 8, "xf32", 512);
  addMfmas(mmas, Element::I8, Element::I32, 32, "i8", 2048);
  addFma(mmas, 64, 128, 64);
  table.add(target, std::move(mmas));
}

static void addGfx950(ChipTable &table) {
  static constexpr int64_t asyncCopyBytes[] = {4, 16};
  Target target = cdna("gfx950", "CDNA4");
  target.hasLaneSwap = true;
  target.sharedMemoryPerBlock = target.staticSharedMemory = 160 * 1024;
  target.sharedMemoryBanks = 64;
  target.wideReadOrder = cdna4ReadOrder;
  target.transposedReads = cdna4TransposedReads;
  target.asyncCopyBytes = asyncCopyBytes;
  target.asyncCopy = AsyncCopyKind::LDSLoad;
  std::vector<MmaInstruction> mmas;
  add16BitMfmas(mmas, 32, 2048);
  addCommonMfmas(mmas, Element::E4M3, Element::E5M2, /*f64MacsPerCycle=*/64);
  addMfmas(mmas, Element::I8, Element::I32, 64, "i8", 4096);
  addFma(mmas, 64, 128, 64);
  table.add(target, std::move(mmas));
}

static void addRDNA3(ChipTable &table) {
  for (const char *name : {"gfx1100", "gfx1101"}) {
    Target target = rdna(name, "RDNA3");
    target.barrier = BarrierKind::SBarrier;
    target.waits = vmcntWaits;
    std::vector<MmaInstruction> mmas = {
        rdna3Wmma(Element::F16, Element::F32, "v_wmma_f32_16x16x16_f16", 256),
        rdna3Wmma(Element::F16, Element::F16, "v_wmma_f16_16x16x16_f16", 256),
        rdna3Wmma(Element::BF16, Element::F32, "v_wmma_f32_16x16x16_bf16", 256),
        rdna3Wmma(Element::I8, Element::I32, "v_wmma_i32_16x16x16_iu8", 256)};
    addFma(mmas, 32, 128);
    table.add(target, std::move(mmas));
  }
}

static void addRDNA4(ChipTable &table) {
  for (const char *name : {"gfx1200", "gfx1201"}) {
    Target target = rdna(name, "RDNA4");
    target.barrier = BarrierKind::SplitBarrier;
    target.waits = splitWaits;
    std::vector<MmaInstruction> mmas =
        gfx12Wmmas(/*depth16=*/16, /*depth8=*/16, /*rate16=*/512,
                   /*rate8=*/1024);
    addFma(mmas, 32, 128);
    table.add(target, std::move(mmas));
  }
}

static void addGfx1250(ChipTable &table) {
  static constexpr int64_t asyncCopyBytes[] = {1, 4, 8, 16};
  Target target = amd("gfx1250", "GFX12.5");
  target.waveSize = 32;
  target.hasRowExchange = true;
  target.defaultWarps = 8;
  target.sharedMemoryPerBlock = target.staticSharedMemory = 320 * 1024;
  target.sharedMemoryBanks = 64;
  target.registersPerThread = 1024;
  target.registersPerUnit = 128 * 1024;
  target.maxClusterSize = 16;
  target.asyncCopyBytes = asyncCopyBytes;
  target.asyncCopy = AsyncCopyKind::AsyncLDSLoad;
  target.hasTDM = true;
  target.transposedReads = gfx1250TransposedReads;
  target.barrier = BarrierKind::SplitBarrier;
  target.waits = gfx1250Waits;
  std::vector<MmaInstruction> mmas =
      gfx12Wmmas(/*depth16=*/32, /*depth8=*/64, /*rate16=*/{}, /*rate8=*/{});
  mmas.push_back(gfx12Wmma(4, /*chunk=*/2, Element::F32, Element::F32,
                           Element::F32, "v_wmma_f32_16x16x4_f32",
                           /*macsPerCycle=*/{}));
  addFma(mmas, 32, /*macsPerCycle=*/{});
  table.add(target, std::move(mmas));
}

void smalti::targets::addAMD(ChipTable &table) {
  addGfx90a(table);
  addGfx942(table);
  addGfx950(table);
  addRDNA3(table);
  addRDNA4(table);
  addGfx1250(table);
}
