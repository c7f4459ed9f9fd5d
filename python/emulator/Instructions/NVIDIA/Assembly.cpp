//===- Assembly.cpp - Inline assembly of NVIDIA's libdevice ---------------===//
//
// Strings of inline assembly have no types: they are known by themselves. These
// are all that libdevice.10.bc of CUDA 13 has, so that kernels that call it
// run.
//
//===----------------------------------------------------------------------===//

#include "emulator/Instructions/Lists.h"
#include "emulator/Instructions/NVIDIA/Floats.h"

using namespace smalti::emulator;
using namespace smalti::emulator::nvidia;

namespace {

using uint128 = unsigned __int128;

template <class Float, int mode, bool ftz> void subtract(const Call &call) {
  volatile Float a = call.get<Float>(0), b = call.get<Float>(1);
  if constexpr (ftz) {
    a = flushed<true>(Float(a));
    b = flushed<true>(Float(b));
  }
  volatile Float difference;
  {
    RoundingMode rounding(mode);
    difference = a - b;
  }
  Float result = difference;
  if constexpr (ftz)
    result = flushed<true>(result);
  if (sizeof(Float) == 4 && std::isnan(result))
    return call.set(canonicalNaN);
  call.set(result);
}

void reciprocal(const Call &call) {
  float result = 1 / flushed<true>(call.get<float>(0));
  if (std::isnan(result))
    return call.set(canonicalNaN);
  call.set(flushed<true>(result));
}

/// Only the upper half of an f64 is looked at and computed.
void reciprocalRoot(const Call &call) {
  constexpr uint64_t upper = ~uint64_t(0xffffffff);
  auto value = call.get<double>(0);
  if (std::fpclassify(value) == FP_SUBNORMAL)
    value = std::copysign(0.0, value);
  double root =
      1 / std::sqrt(bitCast<double>(bitCast<uint64_t>(value) & upper));
  call.set(bitCast<uint64_t>(root) & upper);
}

void findShiftAmount(const Call &call) {
  auto value = call.get<uint32_t>(0);
  call.set(value ? uint32_t(__builtin_clz(value)) : ~0U);
}

void selectEqual(const Call &call) {
  auto a = call.get<double>(0), b = call.get<double>(1);
  bool equal = a == b || std::isnan(a) || std::isnan(b);
  call.set(call.get<double>(equal ? 2 : 3));
}

uint128 wide(const Call &call, int operand) {
  return uint128(call.get<uint64_t>(operand + 1)) << 64 |
         call.get<uint64_t>(operand);
}
void setWide(const Call &call, uint128 value) {
  uint64_t halves[] = {uint64_t(value), uint64_t(value >> 64)};
  call.set(halves);
}

void add128(const Call &call) { setWide(call, wide(call, 0) + wide(call, 2)); }
void subtract128(const Call &call) {
  setWide(call, wide(call, 0) - wide(call, 2));
}
void multiply64(const Call &call) {
  setWide(call, uint128(call.get<uint64_t>(0)) * call.get<uint64_t>(1));
}
void multiplyAdd64(const Call &call) {
  setWide(call, uint128(call.get<uint64_t>(0)) * call.get<uint64_t>(1) +
                    call.get<uint64_t>(2));
}
void multiplyAdd32(const Call &call) {
  call.set(uint64_t(call.get<uint32_t>(0)) * call.get<uint32_t>(1) +
           call.get<uint32_t>(2));
}

#define SMALTI_PTX(section) "PTX ISA, \"" section "\""
#define SMALTI_CARRY                                                           \
  SMALTI_PTX("Extended-Precision Integer Arithmetic Instructions")
// clang-format off: one line an instruction, but for long strings
#define SMALTI_SUB(rounding, mode) \
    {"asm:sub." rounding ".f32 $0, $1, $2;", subtract<float, mode, false>, nullptr, SMALTI_PTX("Floating Point Instructions: sub")}, \
    {"asm:sub." rounding ".ftz.f32 $0, $1, $2;", subtract<float, mode, true>, nullptr, SMALTI_PTX("Floating Point Instructions: sub")}, \
    {"asm:sub." rounding ".f64 $0, $1, $2;", subtract<double, mode, false>, nullptr, SMALTI_PTX("Floating Point Instructions: sub")},
constexpr Instruction table[] = {
    SMALTI_SUB("rn", FE_TONEAREST)
    SMALTI_SUB("rz", FE_TOWARDZERO)
    SMALTI_SUB("rm", FE_DOWNWARD)
    SMALTI_SUB("rp", FE_UPWARD)
    {"asm:rcp.approx.ftz.f32 $0,$1;", reciprocal, nullptr, SMALTI_PTX("Floating Point Instructions: rcp")},
    {"asm:rsqrt.approx.ftz.f64 $0, $1;", reciprocalRoot, nullptr, SMALTI_PTX("Floating Point Instructions: rsqrt.approx.ftz.f64")},
    {"asm:bfind.shiftamt.u32 $0, $1;", findShiftAmount, nullptr, SMALTI_PTX("Integer Arithmetic Instructions: bfind")},
    {"asm:{ .reg .pred __$$temp3;\n"
     "  setp.equ.f64 __$$temp3, $1, $2;\n"
     "  selp.f64 $0, $3, $4, __$$temp3;}",
     selectEqual, nullptr, SMALTI_PTX("Comparison and Selection Instructions: setp, selp")},
    {"asm:{\n"
     "\t.reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3;\n"
     "\tmov.b64         {a0,a1}, $2;\n"
     "\tmov.b64         {a2,a3}, $3;\n"
     "\tmov.b64         {b0,b1}, $4;\n"
     "\tmov.b64         {b2,b3}, $5;\n"
     "\tadd.cc.u32      r0, a0, b0; \n"
     "\taddc.cc.u32     r1, a1, b1; \n"
     "\taddc.cc.u32     r2, a2, b2; \n"
     "\taddc.u32        r3, a3, b3; \n"
     "\tmov.b64         $0, {r0,r1};\n"
     "\tmov.b64         $1, {r2,r3};\n"
     "\t}",
     add128, nullptr, SMALTI_CARRY},
    {"asm:{\n"
     "\t.reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3;\n"
     "\tmov.b64         {a0,a1}, $2;\n"
     "\tmov.b64         {a2,a3}, $3;\n"
     "\tmov.b64         {b0,b1}, $4;\n"
     "\tmov.b64         {b2,b3}, $5;\n"
     "\tsub.cc.u32      r0, a0, b0; \n"
     "\tsubc.cc.u32     r1, a1, b1; \n"
     "\tsubc.cc.u32     r2, a2, b2; \n"
     "\tsubc.u32        r3, a3, b3; \n"
     "\tmov.b64         $0, {r0,r1};\n"
     "\tmov.b64         $1, {r2,r3};\n"
     "\t}",
     subtract128, nullptr, SMALTI_CARRY},
    {"asm:{\n"
     "\t.reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi, clo, chi;\n"
     "\tmov.b64         {alo,ahi}, $2;    \n"
     "\tmov.b64         {blo,bhi}, $3;    \n"
     "\tmov.b64         {clo,chi}, $4;    \n"
     "\tmad.lo.cc.u32   r0, alo, blo, clo;\n"
     "\tmadc.hi.cc.u32  r1, alo, blo, chi;\n"
     "\tmadc.hi.u32     r2, alo, bhi,   0;\n"
     "\tmad.lo.cc.u32   r1, alo, bhi,  r1;\n"
     "\tmadc.hi.cc.u32  r2, ahi, blo,  r2;\n"
     "\tmadc.hi.u32     r3, ahi, bhi,   0;\n"
     "\tmad.lo.cc.u32   r1, ahi, blo,  r1;\n"
     "\tmadc.lo.cc.u32  r2, ahi, bhi,  r2;\n"
     "\taddc.u32        r3,  r3,   0;     \n"
     "\tmov.b64         $0, {r0,r1};      \n"
     "\tmov.b64         $1, {r2,r3};      \n"
     "\t}",
     multiplyAdd64, nullptr, SMALTI_CARRY},
    {"asm:{\n"
     "\t.reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi;\n"
     "\tmov.b64         {alo,ahi}, $2;   \n"
     "\tmov.b64         {blo,bhi}, $3;   \n"
     "\tmul.lo.u32      r0, alo, blo;    \n"
     "\tmul.hi.u32      r1, alo, blo;    \n"
     "\tmad.lo.cc.u32   r1, alo, bhi, r1;\n"
     "\tmadc.hi.u32     r2, alo, bhi,  0;\n"
     "\tmad.lo.cc.u32   r1, ahi, blo, r1;\n"
     "\tmadc.hi.cc.u32  r2, ahi, blo, r2;\n"
     "\tmadc.hi.u32     r3, ahi, bhi,  0;\n"
     "\tmad.lo.cc.u32   r2, ahi, bhi, r2;\n"
     "\taddc.u32        r3, r3,  0;      \n"
     "\tmov.b64         $0, {r0,r1};     \n"
     "\tmov.b64         $1, {r2,r3};     \n"
     "\t}",
     multiply64, nullptr, SMALTI_CARRY},
    {"asm:{\n"
     "\tmad.lo.cc.u32   $0, $2, $3, $4;\n"
     "\tmadc.hi.u32     $1, $2, $3,  0;\n"
     "\t}",
     multiplyAdd32, nullptr, SMALTI_CARRY},
};
// clang-format on

} // namespace

const InstructionList smalti::emulator::nvidiaAssembly = table;
