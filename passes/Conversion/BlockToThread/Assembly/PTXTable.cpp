//===- PTXTable.cpp - Table of inline PTX ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/passes/Conversion/BlockToThread/Assembly/PTXTable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace smalti;
using namespace smalti::ptx;
using llvm::StringRef;

// A test checks that the assembler rejects older versions.
static constexpr Instruction held{"(none)", "Identifiers", 70, 80, false};
static constexpr Instruction wgmma{
    "wgmma.mma_async",
    "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions: "
    "wgmma.mma_async",
    80, 90, true};
static constexpr Instruction remoteStore{
    "st.async", "Data Movement and Conversion Instructions: st.async", 81, 90,
    false};
static constexpr Instruction remoteReduction{
    "red.async",
    "Parallel Synchronization and Communication Instructions: red.async", 81,
    90, false};
static constexpr Instruction cacheOperator{
    "ld, st with a cache operator",
    "Data Movement and Conversion Instructions: ld, st", 70, 80, false};
static constexpr Instruction evictionPriority{
    "ld, st with an eviction priority",
    "Data Movement and Conversion Instructions: ld, st", 74, 80, false};

/// "{$0, $1}" starting at number `first`.
static std::string listOperands(size_t first, size_t count) {
  std::string text = "{";
  for (size_t number = 0; number < count; ++number)
    text += (number ? ", $" : "$") + std::to_string(first + number);
  return text + "}";
}

Text ptx::getOpaque(std::string letters) {
  return {&held, "", "", std::move(letters), ""};
}

Text ptx::getWgmmaWithRegisterA(const Wgmma &form) {
  // A register holds one f32, or 32 bits: i32 or two f16.
  bool isInteger = form.accumulator == "s32",
       isPacked = form.accumulator == "f16";
  size_t accumulators = form.columns / (isPacked ? 4 : 2), a = 4;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
     << "wgmma.mma_async.sync.aligned.m64n" << form.columns << "k" << form.depth
     << "." << form.accumulator << "." << form.a << "." << form.b << " "
     << listOperands(0, accumulators) << ", "
     << listOperands(2 * accumulators, a) << ", $" << 2 * accumulators + a
     << ", p";
  // Signs of the operands (floats only), then whether B is transposed (16-bit
  // elements only).
  if (!isInteger)
    os << ", 1, 1";
  if (form.a == "f16" || form.a == "bf16")
    os << ", " << (form.transposesB ? 1 : 0);
  os << ";\n}";
  return {&wgmma, text, "",
          std::string(accumulators, isInteger || isPacked ? 'r' : 'f'),
          std::string(a, 'r') + "l"};
}

static constexpr StringRef kCountedBytes =
    ".shared::cluster.mbarrier::complete_tx::bytes";

Text ptx::getRemoteStore(unsigned registers) {
  std::string text = "st.async.weak" + kCountedBytes.str();
  if (registers > 1)
    text += ".v" + std::to_string(registers);
  text += ".b32 [$0], " +
          (registers > 1 ? listOperands(1, registers) : std::string("$1")) +
          ", [$" + std::to_string(registers + 1) + "];";
  return {&remoteStore, text, "", "", "l" + std::string(registers, 'r') + "l"};
}

Text ptx::getRemoteReduction(StringRef operation) {
  bool isBitwise =
      operation == "and" || operation == "or" || operation == "xor";
  return {&remoteReduction,
          "red.async.relaxed.cluster" + kCountedBytes.str() + "." +
              operation.str() + (isBitwise ? ".b32" : ".u32") +
              " [$0], $1, [$2];",
          "", "", "lrl"};
}

static constexpr StringRef kEvictionPriorities[] = {"evict_first", "evict_last",
                                                    "no_allocate"};
static constexpr StringRef kLoadOperators[] = {"cg", "cs", "cv"};
static constexpr StringRef kStoreOperators[] = {"cg", "cs", "wt"};

static llvm::ArrayRef<StringRef> getOperators(bool isStore) {
  if (isStore)
    return kStoreOperators;
  return kLoadOperators;
}

bool ptx::hasCacheHint(StringRef hint, bool isStore) {
  return llvm::is_contained(kEvictionPriorities, hint) ||
         llvm::is_contained(getOperators(isStore), hint);
}

static Text getHintedAccess(StringRef hint, unsigned bytes, bool isStore) {
  bool isPriority = llvm::is_contained(kEvictionPriorities, hint),
       isPair = bytes == 16;
  std::string registers(isPair ? 2 : 1, bytes == 2   ? 'h'
                                        : bytes == 4 ? 'r'
                                                     : 'l');
  std::string mnemonic =
                  std::string(isStore ? "st" : "ld") + ".global." +
                  (isPriority ? "L1::" : "") + hint.str() +
                  (isPair ? ".v2.b64" : ".b" + std::to_string(8 * bytes)),
              value = isPair ? listOperands(isStore, 2)
                             : "$" + std::to_string(isStore);
  const Instruction *instruction =
      isPriority ? &evictionPriority : &cacheOperator;
  if (isStore)
    return {instruction, mnemonic + " [$0], " + value + ";", "", "",
            "l" + registers};
  std::string address = "[$" + std::to_string(registers.size()) + "]";
  return {instruction, mnemonic + " " + value + ", " + address + ";", registers,
          "", "l"};
}

Text ptx::getHintedLoad(StringRef hint, unsigned bytes) {
  return getHintedAccess(hint, bytes, /*isStore=*/false);
}

Text ptx::getHintedStore(StringRef hint, unsigned bytes) {
  return getHintedAccess(hint, bytes, /*isStore=*/true);
}

std::vector<Text> ptx::getAll() {
  std::vector<Text> all;
  all.push_back(getOpaque("hrlfd"));

  struct Types {
    StringRef a, b, accumulator;
    int64_t depth;
  };
  static constexpr Types types[] = {
      {"f16", "f16", "f32", 16},   {"f16", "f16", "f16", 16},
      {"bf16", "bf16", "f32", 16}, {"tf32", "tf32", "f32", 8},
      {"e4m3", "e4m3", "f32", 32}, {"e4m3", "e5m2", "f32", 32},
      {"e5m2", "e4m3", "f32", 32}, {"e5m2", "e5m2", "f32", 32},
      {"e4m3", "e4m3", "f16", 32}, {"e4m3", "e5m2", "f16", 32},
      {"e5m2", "e4m3", "f16", 32}, {"e5m2", "e5m2", "f16", 32},
      {"s8", "s8", "s32", 32}};
  for (const Types &type : types)
    for (int64_t columns = 8; columns <= 256; columns += 8) {
      // Integer wgmma supports these numbers of columns only.
      if (type.accumulator == "s32" && columns > 32 && columns % 16 != 0)
        continue;
      bool isHalf = type.a == "f16" || type.a == "bf16";
      for (bool transposesB : {false, true})
        if (isHalf || !transposesB)
          all.push_back(
              getWgmmaWithRegisterA({columns, type.depth, type.accumulator,
                                     type.a, type.b, transposesB}));
    }
  for (unsigned registers : {1, 2, 4})
    all.push_back(getRemoteStore(registers));
  for (StringRef operation : {"add", "min", "max", "and", "or", "xor"})
    all.push_back(getRemoteReduction(operation));
  for (bool isStore : {false, true})
    for (unsigned bytes : {2, 4, 8, 16}) {
      for (StringRef hint : getOperators(isStore))
        all.push_back(getHintedAccess(hint, bytes, isStore));
      for (StringRef hint : kEvictionPriorities)
        all.push_back(getHintedAccess(hint, bytes, isStore));
    }
  return all;
}
