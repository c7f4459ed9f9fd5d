//===- runtime.cpp - Device code of GPUs on the host ----------------------===//
//
// Runs the threads of a block as fibers, one block after another. `rewrite.py`
// turns every call of a device intrinsic into `emulated_call` with an index
// into the table at the end of this file: a newcomer adds an entry there.
//
// An instruction of one thread runs at once. An instruction of a wave waits
// for all its lanes and then runs once, on the operands of all of them. The
// meanings are those of the vendors' documents: the PTX ISA for NVIDIA; the
// CDNA and RDNA instruction set guides, and for gfx1250 LLVM, for AMD.
//
// Every fault prints one line and ends the process: a launch runs in a child.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fnmatch.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

//===----------------------------------------------------------------------===//
// The interface to rewrite.py and launch.py
//===----------------------------------------------------------------------===//

namespace {

/// One execution of an instruction by one thread.
struct Call {
  void *result;
  const void *const *operands;
  /// Bytes of the result, then those of each operand.
  const uint32_t *bytes;

  template <class T> T get(int operand) const {
    T value;
    memcpy(&value, operands[operand], sizeof(T));
    return value;
  }
  template <class T> void set(T value) const {
    memcpy(result, &value, sizeof(T));
  }
};

/// One execution of an instruction by a wave.
struct Wave {
  Call lanes[64];
  int size;
};

struct Instruction {
  /// The intrinsic, with wildcards for the types that LLVM appends.
  const char *name;
  void (*ofThread)(const Call &call);
  void (*ofWave)(const Wave &wave);
};

/// The order in which waves run.
enum class Order : int32_t {
  /// Each as far as it comes, the first wave first.
  FirstAhead,
  /// Each as far as it comes, the last wave first.
  LastAhead,
  /// Each up to its next instruction of a wave, in turn.
  InStep,
};

struct Launch {
  void (*kernel)(void **arguments);
  void **arguments;
  int32_t grid[3], block[3];
  int32_t waveSize, sharedBytes;
  int32_t firstBlock, endBlock;
  Order order;
  /// Whether asynchronous copies happen at their wait, the last moment that is
  /// allowed, and not at their issue, the first.
  int32_t lateCopies;
};

struct AsyncCopy {
  char *destination;
  const char *source;
  int bytes, sourceBytes;
};

enum class State { Running, AtBarrier, InWave, Done };

struct Fiber {
  ucontext_t context;
  jmp_buf jump;
  char *stack = nullptr;
  bool isStarted;
  State state;
  /// Barriers that it arrived at, and those that it waited for.
  int64_t arrivals, waits;
  const Instruction *instruction;
  Call call;
  std::vector<AsyncCopy> openGroup;
  std::deque<std::vector<AsyncCopy>> groups;
};

constexpr size_t stackBytes = 256 * 1024;
constexpr size_t sharedCapacity = 512 * 1024;
/// Poison behind the shared memory of the kernel.
constexpr size_t sharedRedZone = 4096;
constexpr unsigned char poison = 0xff; // A NaN in every type of floats.

Launch launch;
std::vector<Fiber> fibers;
Fiber *current = nullptr;
jmp_buf scheduler;
int32_t blockId[3];

int threadId() { return int(current - fibers.data()); }
int laneId() { return threadId() % launch.waveSize; }

[[noreturn]] void fail(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (current)
    dprintf(2, "block %d, thread %d: %s\n", blockId[0], threadId(), text);
  else
    dprintf(2, "block %d: %s\n", blockId[0], text);
  _exit(2);
}

} // namespace

extern "C" {
/// Shared memory of the block, of all kernels.
alignas(1024) char emulated_shared[sharedCapacity];
}

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

static void suspend(State state) {
  current->state = state;
  if (!_setjmp(current->jump))
    _longjmp(scheduler, 1);
}

static void runKernel() {
  launch.kernel(launch.arguments);
  suspend(State::Done);
}

static void resume(Fiber &fiber) {
  current = &fiber;
  if (!_setjmp(scheduler)) {
    // ucontext only starts fibers: its switches cost a system call each.
    if (fiber.isStarted)
      _longjmp(fiber.jump, 1);
    fiber.isStarted = true;
    setcontext(&fiber.context);
  }
  current = nullptr;
}

static void prepare(Fiber &fiber) {
  if (!fiber.stack)
    fiber.stack = static_cast<char *>(
        mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = stackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, runKernel, 0);
  fiber.isStarted = false;
  fiber.state = State::Running;
  fiber.arrivals = fiber.waits = 0;
  fiber.openGroup.clear();
  fiber.groups.clear();
}

/// Runs the lanes of a wave up to their next common instruction, and that.
/// Returns whether anything happened.
static bool stepWave(int first, int end) {
  bool progress = false;
  for (int thread = first; thread < end; ++thread)
    if (fibers[thread].state == State::Running) {
      resume(fibers[thread]);
      progress = true;
    }
  const Instruction *instruction = fibers[first].instruction;
  for (int thread = first; thread < end; ++thread) {
    const Fiber &fiber = fibers[thread];
    if (fiber.state != State::InWave)
      return progress;
    if (fiber.instruction != instruction)
      fail("threads %d and %d of one wave are at %s and %s", first, thread,
           instruction->name, fiber.instruction->name);
  }
  Wave wave;
  wave.size = end - first;
  for (int lane = 0; lane < wave.size; ++lane)
    wave.lanes[lane] = fibers[first + lane].call;
  instruction->ofWave(wave);
  for (int thread = first; thread < end; ++thread)
    fibers[thread].state = State::Running;
  return true;
}

/// Lets threads go on whose barrier all threads arrived at.
static bool openBarriers() {
  int64_t arrivals = INT64_MAX;
  for (const Fiber &fiber : fibers)
    arrivals = std::min(arrivals, fiber.arrivals);
  bool progress = false;
  for (Fiber &fiber : fibers)
    if (fiber.state == State::AtBarrier && fiber.waits <= arrivals) {
      fiber.state = State::Running;
      progress = true;
    }
  return progress;
}

[[noreturn]] static void reportDeadlock() {
  int counts[4] = {}, examples[4] = {};
  for (const Fiber &fiber : fibers) {
    ++counts[int(fiber.state)];
    examples[int(fiber.state)] = int(&fiber - fibers.data());
  }
  fail("deadlock: %d threads wait at a barrier (as %d), %d for their wave (as "
       "%d), %d have ended (as %d)",
       counts[int(State::AtBarrier)], examples[int(State::AtBarrier)],
       counts[int(State::InWave)], examples[int(State::InWave)],
       counts[int(State::Done)], examples[int(State::Done)]);
}

static void runBlock() {
  size_t sharedEnd = launch.sharedBytes + sharedRedZone;
  memset(emulated_shared, poison, sharedEnd);
  for (Fiber &fiber : fibers)
    prepare(fiber);
  int threads = int(fibers.size());
  int waves = (threads + launch.waveSize - 1) / launch.waveSize;
  while (true) {
    bool progress = false;
    for (int i = 0; i < waves; ++i) {
      int first = (launch.order == Order::LastAhead ? waves - 1 - i : i) *
                  launch.waveSize;
      int end = std::min(first + launch.waveSize, threads);
      bool stepped = stepWave(first, end);
      progress |= stepped;
      while (stepped && launch.order != Order::InStep)
        stepped = stepWave(first, end);
    }
    progress |= openBarriers();
    if (std::all_of(fibers.begin(), fibers.end(),
                    [](const Fiber &f) { return f.state == State::Done; }))
      break;
    if (!progress)
      reportDeadlock();
  }
  for (size_t i = launch.sharedBytes; i < sharedEnd; ++i)
    if (static_cast<unsigned char>(emulated_shared[i]) != poison)
      fail("byte %zu of shared memory was written, the kernel has %d", i,
           launch.sharedBytes);
}

static void onFault(int, siginfo_t *info, void *) {
  fail("access to address %p, which belongs to no argument", info->si_addr);
}

//===----------------------------------------------------------------------===//
// Instructions of one thread
//===----------------------------------------------------------------------===//

static void nothing(const Call &) {}

template <int dimension> static void blockIndex(const Call &call) {
  call.set<int32_t>(blockId[dimension]);
}

template <int dimension> static void gridSize(const Call &call) {
  call.set<int32_t>(launch.grid[dimension]);
}

template <int dimension> static void blockSize(const Call &call) {
  call.set<int32_t>(launch.block[dimension]);
}

template <int dimension> static void threadIndex(const Call &call) {
  int id = threadId();
  if (dimension > 0)
    id /= launch.block[0];
  if (dimension > 1)
    id /= launch.block[1];
  call.set<int32_t>(dimension == 2 ? id : id % launch.block[dimension]);
}

static void laneIndex(const Call &call) { call.set<int32_t>(laneId()); }

/// v_mbcnt_lo/hi_u32_b32: set bits of the mask below this lane, plus a sum.
template <int half> static void maskedBitCount(const Call &call) {
  uint32_t mask = call.get<uint32_t>(0);
  int below = std::clamp(laneId() - 32 * half, 0, 32);
  if (below < 32)
    mask &= (uint32_t(1) << below) - 1;
  call.set<uint32_t>(__builtin_popcount(mask) + call.get<uint32_t>(1));
}

//--- Barriers -----------------------------------------------------------------

static void arriveAtBarrier(const Call &) { ++current->arrivals; }

static void waitAtBarrier(const Call &) {
  ++current->waits;
  suspend(State::AtBarrier);
}

static void barrier(const Call &call) {
  arriveAtBarrier(call);
  waitAtBarrier(call);
}

/// bar.sync of a barrier by its number.
static void numberedBarrier(const Call &call) {
  if (int number = call.get<int32_t>(0))
    fail("barrier %d: only barrier 0 is emulated", number);
  barrier(call);
}

//--- cp.async (PTX ISA, "Data Movement: Asynchronous copy") -------------------

static void perform(const std::vector<AsyncCopy> &copies) {
  for (const AsyncCopy &copy : copies) {
    memcpy(copy.destination, copy.source, copy.sourceBytes);
    memset(copy.destination + copy.sourceBytes, 0,
           copy.bytes - copy.sourceBytes);
  }
}

template <int bytes, bool hasSourceBytes>
static void copyAsync(const Call &call) {
  AsyncCopy copy = {call.get<char *>(0), call.get<const char *>(1), bytes,
                    hasSourceBytes ? call.get<int32_t>(2) : bytes};
  if (copy.sourceBytes < 0 || copy.sourceBytes > bytes)
    fail("cp.async of %d bytes reads %d", bytes, copy.sourceBytes);
  if (uintptr_t(copy.destination) % bytes || uintptr_t(copy.source) % bytes)
    fail("cp.async of %d bytes from %p to %p: not aligned", bytes, copy.source,
         copy.destination);
  if (!launch.lateCopies)
    perform({copy});
  else
    current->openGroup.push_back(copy);
}

static void commitGroup(const Call &) {
  current->groups.push_back(std::move(current->openGroup));
  current->openGroup.clear();
}

static void waitForGroups(size_t pending) {
  for (; current->groups.size() > pending; current->groups.pop_front())
    perform(current->groups.front());
}

static void waitGroup(const Call &call) { waitForGroups(call.get<int32_t>(0)); }

static void waitAll(const Call &call) {
  commitGroup(call);
  waitForGroups(0);
}

//--- Buffers (RDNA and CDNA guides, "Buffer addressing") ----------------------

/// A pointer has no room for a descriptor: they are kept, and pointed to.
struct Buffer {
  char *base;
  uint64_t bytes;
};

static void makeBuffer(const Call &call) {
  static std::deque<Buffer> buffers;
  if (call.get<uint16_t>(1))
    fail("a buffer with a stride is not emulated");
  auto base = call.get<char *>(0);
  uint64_t bytes =
      call.bytes[3] == 8 ? call.get<uint64_t>(2) : call.get<uint32_t>(2);
  auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer &b) {
        return b.base == base && b.bytes == bytes;
      });
  if (found == buffers.end())
    found = buffers.insert(buffers.end(), {base, bytes});
  call.set<const Buffer *>(&*found);
}

/// Calls `access(offset, address)` for each dword inside the buffer; bounds
/// hold for each of them, and are those of the offset without the scalar one.
template <class Access>
static void accessBuffer(const Call &call, int descriptor, int bytes,
                         Access access) {
  auto *buffer = call.get<const Buffer *>(descriptor);
  uint64_t offset = call.get<uint32_t>(descriptor + 1),
           scalarOffset = call.get<uint32_t>(descriptor + 2);
  int width = std::min(bytes, 4);
  for (int i = 0; i < bytes; i += width)
    if (offset + i + width <= buffer->bytes)
      access(i, width, buffer->base + offset + scalarOffset + i);
}

static void loadBuffer(const Call &call) {
  char *result = static_cast<char *>(call.result);
  memset(result, 0, call.bytes[0]);
  accessBuffer(call, 0, int(call.bytes[0]),
               [&](int i, int width, char *address) {
                 memcpy(result + i, address, width);
               });
}

static void storeBuffer(const Call &call) {
  auto *data = static_cast<const char *>(call.operands[0]);
  accessBuffer(call, 1, int(call.bytes[1]),
               [&](int i, int width, char *address) {
                 memcpy(address, data + i, width);
               });
}

//--- Arithmetic ---------------------------------------------------------------

static void reciprocal(const Call &call) {
  call.set<float>(1.0F / call.get<float>(0));
}
static void power2(const Call &call) {
  call.set<float>(__builtin_exp2f(call.get<float>(0)));
}
static void logarithm2(const Call &call) {
  call.set<float>(__builtin_log2f(call.get<float>(0)));
}
static void absolute(const Call &call) {
  call.set<float>(__builtin_fabsf(call.get<float>(0)));
}
static void squareRoot(const Call &call) {
  call.set<float>(__builtin_sqrtf(call.get<float>(0)));
}

/// v_frexp_mant_f32, v_frexp_exp_i32_f32: x = mantissa * 2^exponent, the
/// mantissa in [0.5, 1); zero, infinite and NaN have the exponent 0.
static void mantissa(const Call &call) {
  int exponent;
  call.set<float>(__builtin_frexpf(call.get<float>(0), &exponent));
}
static void exponent(const Call &call) {
  float value = call.get<float>(0);
  int exponent = 0;
  if (__builtin_isfinite(value))
    __builtin_frexpf(value, &exponent);
  call.set<int32_t>(exponent);
}

/// cvt.rna.tf32.f32: to the nearest of 10 bits, ties away from zero.
static void roundToTF32(const Call &call) {
  auto bits = call.get<uint32_t>(0);
  bool isFinite = (bits & 0x7f800000U) != 0x7f800000U;
  call.set<uint32_t>(isFinite ? (bits + 0x1000U) & 0xffffe000U : bits);
}

//===----------------------------------------------------------------------===//
// Instructions of a wave
//===----------------------------------------------------------------------===//

static void readFirstLane(const Wave &wave) {
  for (int lane = 0; lane < wave.size; ++lane)
    memcpy(wave.lanes[lane].result, wave.lanes[0].operands[0],
           wave.lanes[0].bytes[0]);
}

/// shfl.sync.idx with all lanes in one segment.
static void shuffle(const Wave &wave) {
  for (int lane = 0; lane < wave.size; ++lane) {
    const Call &call = wave.lanes[lane];
    call.set<int32_t>(
        wave.lanes[call.get<int32_t>(2) % wave.size].get<int32_t>(1));
  }
}

/// ldmatrix (PTX ISA, "ldmatrix"): lane 8 * m + r has the address of row r of
/// matrix m; lane l gets the elements 2 * (l % 4) and the next of row l / 4,
/// or, transposed, of column l / 4.
template <int matrices, bool transposed>
static void loadMatrix(const Wave &wave) {
  for (int lane = 0; lane < 32; ++lane)
    for (int m = 0; m < matrices; ++m)
      for (int e = 0; e < 2; ++e) {
        int row = lane / 4, column = 2 * (lane % 4) + e;
        if (transposed)
          std::swap(row, column);
        auto *address = wave.lanes[8 * m + row].get<const char *>(0);
        if (uintptr_t(address) % 16)
          fail("ldmatrix of row %d at %p: not aligned", row, address);
        memcpy(static_cast<char *>(wave.lanes[lane].result) + 4 * m + 2 * e,
               address + 2 * column, 2);
      }
}

//--- Matrix products ----------------------------------------------------------

struct Position {
  int row, column;
};

/// Operands of an intrinsic that hold one matrix together.
struct Operands {
  int first, count;
};

/// D = A * B + C. The functions say which element of its matrix is element `e`
/// of a lane, counted through the lane's registers; that of B has row and
/// column of its transpose, as most documents state A and B alike.
struct Product {
  int m, n, k;
  Operands a, b, c;
  Position (*ofA)(int lane, int e);
  Position (*ofB)(int lane, int e);
  Position (*ofC)(int lane, int e);
};

struct F16 {
  using Storage = _Float16;
  static double read(Storage value) { return value; }
};
struct BF16 {
  using Storage = uint16_t;
  static double read(Storage value) {
    uint32_t bits = uint32_t(value) << 16;
    float result;
    memcpy(&result, &bits, 4);
    return result;
  }
};
struct F32 {
  using Storage = float;
  static double read(Storage value) { return value; }
};
/// The low 13 bits are ignored.
struct TF32 {
  using Storage = uint32_t;
  static double read(Storage value) {
    value &= 0xffffe000U;
    float result;
    memcpy(&result, &value, 4);
    return result;
  }
};

/// Calls `use(e, address)` for each element of a lane's operands.
template <class Storage, class Use>
static void forEachElement(const Call &call, Operands operands, Use use) {
  int e = 0;
  for (int i = operands.first; i < operands.first + operands.count; ++i)
    for (uint32_t offset = 0; offset < call.bytes[i + 1];
         offset += sizeof(Storage))
      use(e++, static_cast<const char *>(call.operands[i]) + offset);
}

template <class Element, class At>
static void gather(const Wave &wave, Operands operands,
                   Position (*position)(int, int), At at) {
  for (int lane = 0; lane < wave.size; ++lane)
    forEachElement<typename Element::Storage>(
        wave.lanes[lane], operands, [&](int e, const void *address) {
          typename Element::Storage value;
          memcpy(&value, address, sizeof value);
          at(position(lane, e)) = Element::read(value);
        });
}

/// Sums in double and rounds once: the vendors state less, and not the order.
template <const Product &p, class Element>
static void multiply(const Wave &wave) {
  static double a[32][32], b[32][32], c[32][32];
  gather<Element>(wave, p.a, p.ofA,
                  [](Position at) -> double & { return a[at.row][at.column]; });
  gather<Element>(wave, p.b, p.ofB,
                  [](Position at) -> double & { return b[at.row][at.column]; });
  gather<F32>(wave, p.c, p.ofC,
              [](Position at) -> double & { return c[at.row][at.column]; });
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j)
      for (int k = 0; k < p.k; ++k)
        c[i][j] += a[i][k] * b[j][k];
  for (int lane = 0; lane < wave.size; ++lane)
    for (int e = 0; e < p.m * p.n / wave.size; ++e) {
      Position at = p.ofC(lane, e);
      auto value = float(c[at.row][at.column]);
      memcpy(static_cast<char *>(wave.lanes[lane].result) + 4 * e, &value, 4);
    }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k*": `packed` elements in a register.
template <int packed> static Position mmaSyncA(int lane, int e) {
  int reg = e / packed;
  return {lane / 4 + 8 * (reg % 2),
          packed * (lane % 4) + e % packed + 4 * packed * (reg / 2)};
}
template <int packed> static Position mmaSyncB(int lane, int e) {
  return {lane / 4,
          packed * (lane % 4) + e % packed + 4 * packed * (e / packed)};
}
static Position mmaSyncC(int lane, int e) {
  return {lane / 4 + 8 * (e / 2), 2 * (lane % 4) + e % 2};
}

static constexpr Product m16n8k16 = {
    16, 8, 16, {0, 4}, {4, 2}, {6, 4}, mmaSyncA<2>, mmaSyncB<2>, mmaSyncC};
static constexpr Product m16n8k8 = {
    16, 8, 8, {0, 2}, {2, 1}, {3, 4}, mmaSyncA<2>, mmaSyncB<2>, mmaSyncC};
static constexpr Product m16n8k8tf32 = {
    16, 8, 8, {0, 4}, {4, 2}, {6, 4}, mmaSyncA<1>, mmaSyncB<1>, mmaSyncC};
static constexpr Product m16n8k4tf32 = {
    16, 8, 4, {0, 2}, {2, 1}, {3, 4}, mmaSyncA<1>, mmaSyncB<1>, mmaSyncC};

// CDNA guides, "Matrix Arithmetic Instructions": a lane has row lane % m of A
// and `chunk` columns, those of the group lane / m; the rows of C come in
// fours, which go round the groups.
template <int m, int chunk> static Position mfmaA(int lane, int e) {
  return {lane % m, chunk * (lane / m) + e};
}
template <int m> static Position mfmaC(int lane, int e) {
  return {4 * (64 / m) * (e / 4) + 4 * (lane / m) + e % 4, lane % m};
}
template <int m, int k>
static constexpr Product mfma = {m,
                                 m,
                                 k,
                                 {0, 1},
                                 {1, 1},
                                 {2, 1},
                                 mfmaA<m, k * m / 64>,
                                 mfmaA<m, k * m / 64>,
                                 mfmaC<m>};

// RDNA3 guide, "Wave Matrix Multiply Accumulate", wave32: both halves of the
// wave have the same A and B; the rows of C alternate between them.
static Position rdna3A(int lane, int e) { return {lane % 16, e}; }
static Position rdna3C(int lane, int e) {
  return {2 * e + lane / 16, lane % 16};
}
static constexpr Product rdna3Wmma = {16,     16,     16,     {0, 1}, {1, 1},
                                      {2, 1}, rdna3A, rdna3A, rdna3C};

// RDNA4 guide, and LLVM for gfx1250: the halves of the wave take turns along K
// in chunks; the upper half of C belongs to the first, the lower to the second.
template <int chunk> static Position gfx12A(int lane, int e) {
  return {lane % 16, e % chunk + chunk * (lane / 16) + 2 * chunk * (e / chunk)};
}
static Position gfx12C(int lane, int e) {
  return {8 * (lane / 16) + e, lane % 16};
}
static constexpr Product rdna4Wmma = {
    16, 16, 16, {0, 1}, {1, 1}, {2, 1}, gfx12A<8>, gfx12A<8>, gfx12C};
// Modifiers stand before each of the operands.
static constexpr Product gfx1250Wmma = {
    16, 16, 32, {1, 1}, {3, 1}, {5, 1}, gfx12A<8>, gfx12A<8>, gfx12C};
static constexpr Product gfx1250WmmaF32 = {
    16, 16, 4, {1, 1}, {3, 1}, {5, 1}, gfx12A<2>, gfx12A<2>, gfx12C};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

// clang-format off: one line an instruction
static const Instruction table[] = {
    // NVIDIA: indices
    {"llvm.nvvm.read.ptx.sreg.tid.x", threadIndex<0>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.tid.y", threadIndex<1>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.tid.z", threadIndex<2>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.ntid.x", blockSize<0>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.ntid.y", blockSize<1>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.ntid.z", blockSize<2>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.ctaid.x", blockIndex<0>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.ctaid.y", blockIndex<1>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.ctaid.z", blockIndex<2>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.nctaid.x", gridSize<0>, nullptr},
    {"llvm.nvvm.read.ptx.sreg.laneid", laneIndex, nullptr},
    // NVIDIA: synchronisation and copies
    {"llvm.nvvm.barrier0", barrier, nullptr},
    {"llvm.nvvm.barrier.cta.sync.aligned.all", numberedBarrier, nullptr},
    {"llvm.nvvm.cp.async.ca.shared.global.4", copyAsync<4, false>, nullptr},
    {"llvm.nvvm.cp.async.ca.shared.global.8", copyAsync<8, false>, nullptr},
    {"llvm.nvvm.cp.async.c[ag].shared.global.16", copyAsync<16, false>, nullptr},
    {"llvm.nvvm.cp.async.ca.shared.global.4.s", copyAsync<4, true>, nullptr},
    {"llvm.nvvm.cp.async.ca.shared.global.8.s", copyAsync<8, true>, nullptr},
    {"llvm.nvvm.cp.async.c[ag].shared.global.16.s", copyAsync<16, true>, nullptr},
    {"llvm.nvvm.cp.async.commit.group", commitGroup, nullptr},
    {"llvm.nvvm.cp.async.wait.group", waitGroup, nullptr},
    {"llvm.nvvm.cp.async.wait.all", waitAll, nullptr},
    // NVIDIA: instructions of a warp
    {"llvm.nvvm.shfl.sync.idx.i32", nullptr, shuffle},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3", nullptr, loadMatrix<1, false>},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3", nullptr, loadMatrix<2, false>},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3", nullptr, loadMatrix<4, false>},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3", nullptr, loadMatrix<1, true>},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3", nullptr, loadMatrix<2, true>},
    {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3", nullptr, loadMatrix<4, true>},
    {"llvm.nvvm.mma.m16n8k16.row.col.f32.f32", nullptr, multiply<m16n8k16, F16>},
    {"llvm.nvvm.mma.m16n8k8.row.col.f32.f32", nullptr, multiply<m16n8k8, F16>},
    {"llvm.nvvm.mma.m16n8k16.row.col.bf16", nullptr, multiply<m16n8k16, BF16>},
    {"llvm.nvvm.mma.m16n8k8.row.col.bf16", nullptr, multiply<m16n8k8, BF16>},
    {"llvm.nvvm.mma.m16n8k8.row.col.tf32", nullptr, multiply<m16n8k8tf32, TF32>},
    {"llvm.nvvm.mma.m16n8k4.row.col.tf32", nullptr, multiply<m16n8k4tf32, TF32>},
    // NVIDIA: arithmetic
    {"llvm.nvvm.f2tf32.rna", roundToTF32, nullptr},
    {"llvm.nvvm.fabs.f32", absolute, nullptr},
    {"llvm.nvvm.ex2.approx*", power2, nullptr},
    {"llvm.nvvm.lg2.approx*", logarithm2, nullptr},
    {"llvm.nvvm.rcp.*", reciprocal, nullptr},
    {"llvm.nvvm.sqrt.*", squareRoot, nullptr},
    // AMD: indices
    {"llvm.amdgcn.workitem.id.x", threadIndex<0>, nullptr},
    {"llvm.amdgcn.workitem.id.y", threadIndex<1>, nullptr},
    {"llvm.amdgcn.workitem.id.z", threadIndex<2>, nullptr},
    {"llvm.amdgcn.workgroup.id.x", blockIndex<0>, nullptr},
    {"llvm.amdgcn.workgroup.id.y", blockIndex<1>, nullptr},
    {"llvm.amdgcn.workgroup.id.z", blockIndex<2>, nullptr},
    {"llvm.amdgcn.mbcnt.lo", maskedBitCount<0>, nullptr},
    {"llvm.amdgcn.mbcnt.hi", maskedBitCount<1>, nullptr},
    // AMD: synchronisation; what only steers the hardware's schedule is nothing here
    {"llvm.amdgcn.s.barrier", barrier, nullptr},
    {"llvm.amdgcn.s.barrier.signal", arriveAtBarrier, nullptr},
    {"llvm.amdgcn.s.barrier.wait", waitAtBarrier, nullptr},
    {"llvm.amdgcn.s.waitcnt", nothing, nullptr},
    {"llvm.amdgcn.s.wait.*", nothing, nullptr},
    {"llvm.amdgcn.s.setprio", nothing, nullptr},
    {"llvm.amdgcn.sched.*", nothing, nullptr},
    // AMD: memory
    {"llvm.amdgcn.make.buffer.rsrc.*", makeBuffer, nullptr},
    {"llvm.amdgcn.raw.ptr.buffer.load.*", loadBuffer, nullptr},
    {"llvm.amdgcn.raw.ptr.buffer.store.*", storeBuffer, nullptr},
    // AMD: instructions of a wave
    {"llvm.amdgcn.readfirstlane*", nullptr, readFirstLane},
    {"llvm.amdgcn.mfma.f32.16x16x16f16", nullptr, multiply<mfma<16, 16>, F16>},
    {"llvm.amdgcn.mfma.f32.32x32x8f16", nullptr, multiply<mfma<32, 8>, F16>},
    {"llvm.amdgcn.mfma.f32.16x16x16bf16.1k", nullptr, multiply<mfma<16, 16>, BF16>},
    {"llvm.amdgcn.mfma.f32.32x32x8bf16.1k", nullptr, multiply<mfma<32, 8>, BF16>},
    {"llvm.amdgcn.mfma.f32.16x16x32.f16", nullptr, multiply<mfma<16, 32>, F16>},
    {"llvm.amdgcn.mfma.f32.32x32x16.f16", nullptr, multiply<mfma<32, 16>, F16>},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf16", nullptr, multiply<mfma<16, 32>, BF16>},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf16", nullptr, multiply<mfma<32, 16>, BF16>},
    {"llvm.amdgcn.mfma.f32.16x16x4f32", nullptr, multiply<mfma<16, 4>, F32>},
    {"llvm.amdgcn.mfma.f32.32x32x2f32", nullptr, multiply<mfma<32, 2>, F32>},
    {"llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16", nullptr, multiply<rdna3Wmma, F16>},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16", nullptr, multiply<rdna3Wmma, BF16>},
    {"llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16", nullptr, multiply<rdna4Wmma, F16>},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16", nullptr, multiply<rdna4Wmma, BF16>},
    {"llvm.amdgcn.wmma.f32.16x16x32.f16.*", nullptr, multiply<gfx1250Wmma, F16>},
    {"llvm.amdgcn.wmma.f32.16x16x32.bf16.*", nullptr, multiply<gfx1250Wmma, BF16>},
    {"llvm.amdgcn.wmma.f32.16x16x4.f32.*", nullptr, multiply<gfx1250WmmaF32, F32>},
    // AMD: arithmetic
    {"llvm.amdgcn.rcp.f32", reciprocal, nullptr},
    {"llvm.amdgcn.exp2.f32", power2, nullptr},
    {"llvm.amdgcn.log.f32", logarithm2, nullptr},
    {"llvm.amdgcn.sqrt.f32", squareRoot, nullptr},
    {"llvm.amdgcn.frexp.mant.f32", mantissa, nullptr},
    {"llvm.amdgcn.frexp.exp.i32.f32", exponent, nullptr},
};
// clang-format on

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

extern "C" {

/// The index of an intrinsic in the table, -1 where it is not emulated.
int emulated_find(const char *intrinsic) {
  for (const Instruction &instruction : table)
    if (fnmatch(instruction.name, intrinsic, 0) == 0)
      return int(&instruction - table);
  return -1;
}

void emulated_call(int index, void *result, const void *const *operands,
                   const uint32_t *bytes) {
  const Instruction &instruction = table[index];
  Call call = {result, operands, bytes};
  if (instruction.ofThread)
    return instruction.ofThread(call);
  current->instruction = &instruction;
  current->call = call;
  suspend(State::InWave);
}

void emulated_launch(const Launch *given) {
  launch = *given;
  if (launch.sharedBytes + sharedRedZone > sharedCapacity)
    fail("%d bytes of shared memory are more than is emulated",
         launch.sharedBytes);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  fibers = std::vector<Fiber>(size_t(launch.block[0]) * launch.block[1] *
                              launch.block[2]);
  for (int block = launch.firstBlock; block < launch.endBlock; ++block) {
    blockId[0] = block % launch.grid[0];
    blockId[1] = block / launch.grid[0] % launch.grid[1];
    blockId[2] = block / launch.grid[0] / launch.grid[1];
    runBlock();
  }
}

/// What LLVM calls to round to bf16; GCC's library has it since version 13. The
/// result is in the low half of the register that a float is returned in.
__attribute__((weak)) float __truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if (value != value)
    bits = bits >> 16 | 0x40;
  else
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  memcpy(&value, &bits, 4);
  return value;
}
}
