//===- XlaHandlers.cpp - Kernels in programs of XLA -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that XLA calls to run kernels. They do not use Python. They
// call functions of Python, which take the GIL, to load the code of a kernel
// for the first time on a GPU, and to word an error.
//
//===----------------------------------------------------------------------===//

#include "XlaHandlers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace smalti::xla;

namespace {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

template <typename T> std::vector<T> copied(const T *data, int64_t size) {
  return std::vector<T>(data, data + size);
}

/// A description with memory of its own.
struct Kernel {
  explicit Kernel(const Description &given)
      : facts(given), name(given.name),
        sizes(copied(given.sizes, given.numArguments + given.numResults)),
        aliases(copied(given.aliases, given.numAliases)),
        words(copied(given.words, given.numWords)),
        addresses(copied(given.addresses, given.numAddresses)),
        links(copied(given.links, given.numLinks)),
        parameters(copied(given.parameters, given.numParameters)),
        numbers(copied(given.numbers, given.numNumbers)),
        maps(copied(given.maps, given.numMaps)) {}

  /// Its pointers to memory are not used.
  const Description facts;
  const std::string name;
  const std::vector<int64_t> sizes;
  const std::vector<Alias> aliases;
  const std::vector<uint64_t> words;
  const std::vector<Address> addresses;
  const std::vector<Link> links;
  const std::vector<int64_t> parameters, numbers;
  const std::vector<TensorMap> maps;

  /// The function of a kernel for GPUs in each context.
  std::shared_mutex mutex;
  std::vector<std::pair<uint64_t, uint64_t>> functions;
};

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels;
};

/// Kernels are never removed: XLA does not state when a program is deleted.
Table &table() {
  static Table *kernels = new Table;
  return *kernels;
}

Kernel *find(const std::string &key) {
  std::shared_lock<std::shared_mutex> lock(table().mutex);
  auto found = table().kernels.find(key);
  return found == table().kernels.end() ? nullptr : found->second.get();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Error *fail(const CallFrame *frame, ErrorCode code, const std::string &text) {
  CreateError arguments{sizeof(CreateError), nullptr, text.c_str(), code};
  return frame->api->createError(&arguments);
}

/// The error of a run, which Python words.
Error *failedRun(const CallFrame *frame, const Kernel &kernel, int64_t status,
                 const int64_t *values = nullptr) {
  char text[4096] = "";
  kernel.facts.describeError(status, values, text, sizeof text);
  return fail(frame, ErrorCode::Internal, text);
}

/// Answers the question for the properties of a handler.
bool answersMetadata(const CallFrame *frame, uint32_t traits) {
  Extension *extension = frame->extensions;
  while (extension && extension->type != metadataExtension)
    extension = extension->next;
  if (!extension)
    return false;
  Metadata *metadata =
      reinterpret_cast<MetadataExtension *>(extension)->metadata;
  metadata->version = {sizeof(Version), nullptr, majorVersion, minorVersion};
  metadata->traits = traits;
  return true;
}

/// Returns an attribute of a call, or null.
template <typename T>
const T *attribute(const CallFrame *frame, const char *name, int type) {
  const Attributes &attributes = frame->attributes;
  for (int64_t i = 0; i < attributes.count; ++i) {
    const String &found = *attributes.names[i];
    if (std::string(found.data, found.size) == name &&
        attributes.types[i] == type)
      return static_cast<const T *>(attributes.values[i]);
  }
  return nullptr;
}

/// Finds the kernel that the call names.
Error *findKernel(const CallFrame *frame, bool isForGpu, Kernel *&kernel) {
  std::string key;
  if (auto *value = attribute<String>(frame, "kernel", stringAttribute))
    key.assign(value->data, value->size);
  kernel = find(key);
  if (!kernel)
    return fail(frame, ErrorCode::NotFound,
                "the kernel " + key +
                    " is not in this process; a loaded program does not "
                    "contain the code of kernels; lower the function for "
                    "these shapes in this process first");
  if ((kernel->facts.host == nullptr) != isForGpu)
    return fail(frame, ErrorCode::FailedPrecondition,
                kernel->name + (isForGpu ? " is a kernel for the CPU, but XLA "
                                           "calls it on a GPU"
                                         : " is a kernel for a GPU, but XLA "
                                           "calls it on the CPU"));
  return nullptr;
}

/// The numbers, descriptors and addresses of one call.
struct Call {
  std::vector<uint64_t> words;
  int64_t tiles = 0;

  /// Checks the buffers of a call, and reads their addresses.
  Error *read(const CallFrame *frame, const Kernel &kernel) {
    int64_t numArguments = kernel.facts.numArguments,
            numResults = kernel.facts.numResults;
    if (frame->arguments.count != numArguments ||
        frame->results.count != numResults)
      return fail(frame, ErrorCode::InvalidArgument,
                  kernel.name + " has " + std::to_string(numArguments) +
                      " arguments and " + std::to_string(numResults) +
                      " results; the call has " +
                      std::to_string(frame->arguments.count) + " and " +
                      std::to_string(frame->results.count));
    auto bufferOf = [&](int64_t index) {
      return index < numArguments
                 ? frame->arguments.buffers[index]
                 : frame->results.buffers[index - numArguments];
    };
    for (int64_t i = 0; i < numArguments + numResults; ++i) {
      int64_t size = 1;
      for (int64_t dim = 0; dim < bufferOf(i)->rank; ++dim)
        size *= bufferOf(i)->dims[dim];
      if (size != kernel.sizes[i])
        return fail(frame, ErrorCode::InvalidArgument,
                    kernel.name + ": buffer " + std::to_string(i) + " has " +
                        std::to_string(size) +
                        " elements; the kernel was "
                        "compiled for " +
                        std::to_string(kernel.sizes[i]));
    }
    for (const Alias &alias : kernel.aliases)
      if (bufferOf(alias.argument)->data !=
          bufferOf(numArguments + alias.result)->data)
        return fail(frame, ErrorCode::Internal,
                    kernel.name + ": argument " +
                        std::to_string(alias.argument) + " and result " +
                        std::to_string(alias.result) +
                        " must be in the same memory");
    auto *numbers = attribute<Array>(frame, "numbers", arrayAttribute);
    if (!numbers || numbers->type != int64Type ||
        numbers->size != kernel.numbers.size() + 1)
      return fail(frame, ErrorCode::InvalidArgument,
                  kernel.name + " takes " +
                      std::to_string(kernel.numbers.size()) +
                      " numbers after the number of tiles; the call has "
                      "others");
    auto *values = static_cast<const int64_t *>(numbers->data);
    tiles = values[0];
    words = kernel.words;
    for (size_t i = 0; i < kernel.numbers.size(); ++i)
      words[kernel.numbers[i]] = values[i + 1];
    for (const Link &link : kernel.links)
      words[link.word] = reinterpret_cast<uint64_t>(&words[link.target]);
    for (const Address &address : kernel.addresses) {
      auto data = reinterpret_cast<uint64_t>(bufferOf(address.buffer)->data);
      if (data % address.alignment)
        return fail(frame, ErrorCode::InvalidArgument,
                    kernel.name + ": the address of buffer " +
                        std::to_string(address.buffer) +
                        " is not a multiple of " +
                        std::to_string(address.alignment) + " B");
      words[address.word] = data;
    }
    return nullptr;
  }

  /// The addresses of the parameters of the kernel, with space for more.
  std::vector<void *> parameters(const Kernel &kernel, size_t more) {
    std::vector<void *> addresses;
    addresses.reserve(kernel.parameters.size() + more);
    for (int64_t word : kernel.parameters)
      addresses.push_back(&words[word]);
    return addresses;
  }
};

//===----------------------------------------------------------------------===//
// The CPU
//===----------------------------------------------------------------------===//

/// A run of a kernel by several threads, which take ranges of tiles. XLA may
/// start a task after the run, so that each task shares ownership.
struct Run {
  Call call;
  const Kernel *kernel;
  /// The stop flag, and the values of each error.
  std::vector<int64_t> memory;
  int64_t end, step = 1;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable isDone;
  int64_t done = 0;

  bool isStopped() {
    return __atomic_load_n(reinterpret_cast<int32_t *>(memory.data()),
                           __ATOMIC_RELAXED) != 0;
  }

  void runTiles(int64_t first, int64_t last) {
    std::vector<void *> addresses = call.parameters(*kernel, 3);
    void *flag = memory.data();
    addresses.insert(addresses.end(), {&first, &last, &flag});
    kernel->facts.host(addresses.data());
  }

  /// Runs ranges of tiles until all are taken.
  void takeTiles() {
    for (;;) {
      int64_t first = next.fetch_add(step);
      if (first >= end)
        return;
      int64_t last = std::min(first + step, end);
      if (!isStopped())
        runTiles(first, last);
      std::lock_guard<std::mutex> lock(mutex);
      done += last - first;
      if (done == end)
        isDone.notify_all();
    }
  }
};

/// The number of threads that XLA offers besides the calling one.
int64_t threadsOf(const CallFrame *frame) {
  int64_t count = 0;
  GetNumThreads arguments{sizeof(GetNumThreads), nullptr, frame->context,
                          &count};
  if (Error *error = frame->api->getNumThreads(&arguments)) {
    DestroyError destroyed{sizeof(DestroyError), nullptr, error};
    frame->api->destroyError(&destroyed);
    return 0;
  }
  return count;
}

void schedule(const CallFrame *frame, const std::shared_ptr<Run> &run) {
  auto *owner = new std::shared_ptr<Run>(run);
  ScheduleTask arguments{sizeof(ScheduleTask), nullptr, frame->context,
                         [](void *data) {
                           std::unique_ptr<std::shared_ptr<Run>> owned(
                               static_cast<std::shared_ptr<Run> *>(data));
                           (*owned)->takeTiles();
                         },
                         owner};
  if (Error *error = frame->api->scheduleTask(&arguments)) {
    // The calling thread takes the tiles.
    delete owner;
    DestroyError destroyed{sizeof(DestroyError), nullptr, error};
    frame->api->destroyError(&destroyed);
  }
}

void runAll(const CallFrame *frame, const std::shared_ptr<Run> &run) {
  if (run->end == 0)
    return;
  // Tiles are independent, so the duration of the first tile decides whether
  // to use threads.
  auto start = std::chrono::steady_clock::now();
  run->runTiles(0, 1);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  int64_t rest = run->end - 1;
  if (rest == 0 || run->isStopped())
    return;
  int64_t threads = std::min(run->kernel->facts.numThreads, rest);
  if (seconds.count() * rest >= run->kernel->facts.parallelSeconds &&
      threads > 1)
    threads = std::min(threads, threadsOf(frame) + 1);
  else
    threads = 1;
  if (threads == 1)
    return run->runTiles(1, run->end);
  // Several ranges for each thread, since a thread may start late.
  run->step = std::max<int64_t>(1, rest / (4 * threads));
  run->next = 1;
  run->done = 1;
  for (int64_t i = 1; i < threads; ++i)
    schedule(frame, run);
  run->takeTiles();
  // Only ranges that other threads run now are left.
  std::unique_lock<std::mutex> lock(run->mutex);
  run->isDone.wait(lock, [&] { return run->done == run->end; });
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// The stream of a call; nullopt if the stage does not have one.
std::optional<uint64_t> streamOf(const CallFrame *frame) {
  GetStream arguments{sizeof(GetStream), nullptr, frame->context, nullptr};
  if (Error *error = frame->api->getStream(&arguments)) {
    DestroyError destroyed{sizeof(DestroyError), nullptr, error};
    frame->api->destroyError(&destroyed);
    return std::nullopt;
  }
  return reinterpret_cast<uint64_t>(arguments.stream);
}

/// Makes the context of a stream the current one, as long as it exists.
struct CurrentContext {
  explicit CurrentContext(const Description &facts) : facts(facts) {}
  ~CurrentContext() {
    if (isChanged)
      facts.setCurrent(before);
  }

  /// Returns a status of the driver.
  int set(uint64_t stream) {
    if (int status = facts.contextOf(stream, &context))
      return status;
    if (int status = facts.getCurrent(&before))
      return status;
    if (before == context)
      return 0;
    isChanged = true;
    return facts.setCurrent(context);
  }

  const Description &facts;
  uint64_t context = 0, before = 0;
  bool isChanged = false;
};

/// Finds the function of a kernel in the current context, or loads it.
Error *findFunction(const CallFrame *frame, Kernel &kernel, uint64_t context,
                    uint64_t &function) {
  {
    std::shared_lock<std::shared_mutex> lock(kernel.mutex);
    for (auto [known, loaded] : kernel.functions)
      if (known == context) {
        function = loaded;
        return nullptr;
      }
  }
  // Without the lock, since another thread may hold the GIL and wait for it.
  char text[4096] = "";
  function = kernel.facts.load(text, sizeof text);
  if (!function)
    return fail(frame, ErrorCode::FailedPrecondition, text);
  std::unique_lock<std::shared_mutex> lock(kernel.mutex);
  kernel.functions.emplace_back(context, function);
  return nullptr;
}

struct alignas(mapAlignment) EncodedMap {
  unsigned char bytes[smalti::launch::mapBytes];
};

int encode(const Kernel &kernel, const TensorMap &map, uint64_t address,
           EncodedMap &encoded) {
  address = std::max<uint64_t>(address + map.offset, map.leastAddress);
  return kernel.facts.encode(encoded.bytes, map.type, map.rank, address,
                             map.sizes, map.strides, map.box,
                             map.elementStrides, map.interleave, map.swizzle,
                             map.promotion, map.fill);
}

int launchKernel(const Kernel &kernel, int64_t tiles, uint64_t function,
                 uint64_t stream, void **parameters) {
  const Description &facts = kernel.facts;
  const uint32_t grid[] = {static_cast<uint32_t>(tiles), facts.outerGrid[0],
                           facts.outerGrid[1]};
  const uint32_t *block = facts.block;
  if (!facts.cluster[0])
    return reinterpret_cast<smalti::launch::LaunchFunction>(facts.launch)(
        function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
        facts.shared, stream, parameters, nullptr);
  smalti::launch::LaunchAttribute attribute = {
      smalti::launch::clusterDimension, {}, {}};
  memcpy(attribute.value, facts.cluster, sizeof facts.cluster);
  smalti::launch::LaunchConfig config = {{grid[0], grid[1], grid[2]},
                                         {block[0], block[1], block[2]},
                                         facts.shared,
                                         reinterpret_cast<void *>(stream),
                                         &attribute,
                                         1};
  return reinterpret_cast<smalti::launch::LaunchExFunction>(facts.launch)(
      &config, function, parameters, nullptr);
}

} // namespace

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

void smalti::xla::smalti_xla_add(const char *key,
                                 const Description *description) {
  auto kernel = std::make_unique<Kernel>(*description);
  std::unique_lock<std::shared_mutex> lock(table().mutex);
  table().kernels.try_emplace(key, std::move(kernel));
}

Error *smalti::xla::smalti_xla_run_on_cpu(CallFrame *frame) {
  if (answersMetadata(frame, 0))
    return nullptr;
  Kernel *kernel;
  if (Error *error = findKernel(frame, /*isForGpu=*/false, kernel))
    return error;
  auto run = std::make_shared<Run>();
  if (Error *error = run->call.read(frame, *kernel))
    return error;
  run->kernel = kernel;
  run->memory.resize(1 + kernel->facts.numErrorValues);
  run->end = run->call.tiles;
  runAll(frame, run);
  auto status = static_cast<int32_t>(run->memory[0]);
  return status ? failedRun(frame, *kernel, status, run->memory.data())
                : nullptr;
}

Error *smalti::xla::smalti_xla_run_on_gpu(CallFrame *frame) {
  if (answersMetadata(frame, isCommandBufferCompatible))
    return nullptr;
  Kernel *kernel;
  if (Error *error = findKernel(frame, /*isForGpu=*/true, kernel))
    return error;
  Call call;
  if (Error *error = call.read(frame, *kernel))
    return error;
  if (!call.tiles)
    return nullptr;
  std::optional<uint64_t> stream = streamOf(frame);
  if (!stream)
    return fail(frame, ErrorCode::Internal,
                kernel->name + ": XLA does not have a stream for the call");
  CurrentContext current(kernel->facts);
  if (int status = current.set(*stream))
    return failedRun(frame, *kernel, status);
  uint64_t function;
  if (Error *error = findFunction(frame, *kernel, current.context, function))
    return error;
  std::vector<EncodedMap> maps(kernel->maps.size());
  std::vector<void *> parameters = call.parameters(*kernel, maps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    const TensorMap &map = kernel->maps[i];
    if (int status = encode(*kernel, map, call.words[map.word], maps[i]))
      return failedRun(frame, *kernel, status);
    parameters.push_back(&maps[i]);
  }
  int status =
      launchKernel(*kernel, call.tiles, function, *stream, parameters.data());
  return status ? failedRun(frame, *kernel, status) : nullptr;
}

Error *smalti::xla::smalti_xla_prepare_gpu(CallFrame *frame) {
  if (answersMetadata(frame, isCommandBufferCompatible))
    return nullptr;
  Kernel *kernel;
  if (Error *error = findKernel(frame, /*isForGpu=*/true, kernel))
    return error;
  std::optional<uint64_t> stream = streamOf(frame);
  // XLA may not have a stream before the run, which then loads the code.
  if (!stream)
    return nullptr;
  CurrentContext current(kernel->facts);
  if (int status = current.set(*stream))
    return failedRun(frame, *kernel, status);
  uint64_t function;
  return findFunction(frame, *kernel, current.context, function);
}
