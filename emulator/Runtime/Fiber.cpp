//===- Fiber.cpp - Stacks of GPU threads ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Fiber.h"
#include "smalti/emulator/Runtime/Sanitizers.h"

#include <cstdint>
#include <cstring>

using namespace smalti::emulator;

//===----------------------------------------------------------------------===//
// The switch: saves callee-saved registers on the stack
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

// System V ABI, "Register Usage": rbx, rbp, r12 to r15. Rounding modes are the
// same in all fibers.
extern "C" void smalti_emu_switch(void **save, void *restore);
asm(R"(
  .text
  .p2align 4
  .globl smalti_emu_switch
  .hidden smalti_emu_switch
  .type smalti_emu_switch, @function
smalti_emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
  .size smalti_emu_switch, . - smalti_emu_switch
)");

static void *prepareStack(char *end, void (*entry)()) {
  // At the entry of a function the stack is 8 bytes past a multiple of 16.
  auto *top = reinterpret_cast<void **>(end) - 1;
  *top = nullptr; // The return address of the entry.
  *--top = reinterpret_cast<void *>(entry);
  top -= 6;
  memset(static_cast<void *>(top), 0, 6 * sizeof(void *));
  return static_cast<void *>(top);
}

#elif defined(__aarch64__)

// AAPCS64, "Registers": x19 to x30, d8 to d15.
extern "C" void smalti_emu_switch(void **save, void *restore);
asm(R"(
  .text
  .p2align 4
  .globl smalti_emu_switch
  .hidden smalti_emu_switch
  .type smalti_emu_switch, %function
smalti_emu_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size smalti_emu_switch, . - smalti_emu_switch
)");

static void *prepareStack(char *end, void (*entry)()) {
  auto *top = reinterpret_cast<void **>(end - 160);
  memset(static_cast<void *>(top), 0, 160);
  top[11] = reinterpret_cast<void *>(entry); // x30, where `ret` goes.
  return static_cast<void *>(top);
}

#endif

//===----------------------------------------------------------------------===//
// Fiber
//===----------------------------------------------------------------------===//

/// The stack that the last switch left. Only the sanitizer has the bounds of
/// the stack of the process.
static void **leftStack = nullptr;
static size_t *leftBytes = nullptr;

void Fiber::prepare(void *stack, size_t bytes, void (*entry)()) {
  bottom = stack;
  size = bytes;
  fakeStack = nullptr;
#ifdef SMALTI_EMULATOR_OWN_SWITCH
  char *end = static_cast<char *>(stack) + bytes;
  end -= reinterpret_cast<uintptr_t>(end) % 16;
  stackPointer = prepareStack(end, entry);
#else
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
#endif
}

void Fiber::switchTo(Fiber &next, bool ends) {
  leftStack = &bottom;
  leftBytes = &size;
  sanitizer::beforeSwitch(ends ? nullptr : &fakeStack, next.bottom, next.size);
#ifdef SMALTI_EMULATOR_OWN_SWITCH
  smalti_emu_switch(&stackPointer, next.stackPointer);
#else
  swapcontext(&context, &next.context);
#endif
  sanitizer::afterSwitch(fakeStack, leftStack, leftBytes);
}

void smalti::emulator::beginFiber() {
  sanitizer::afterSwitch(nullptr, leftStack, leftBytes);
}
