//===- XlaFfi.h - The part of XLA's foreign function interface ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures of XLA's C interface for foreign functions that handlers of
// kernels use (jaxlib: xla/ffi/api/c_api.h, version 0.3). Smalti is built
// without jaxlib; test/python/frameworks compares the two if jaxlib is
// installed.
//
//===----------------------------------------------------------------------===//

#ifndef SMALTI_BINDINGS_XLAFFI_H
#define SMALTI_BINDINGS_XLAFFI_H

#include <cstddef>
#include <cstdint>

namespace smalti::xla {

constexpr int majorVersion = 0, minorVersion = 3;

struct Error;
struct ExecutionContext;

struct Extension {
  size_t size;
  int type;
  Extension *next;
};

struct Version {
  size_t size;
  Extension *extensions;
  int major, minor;
};

/// XLA_FFI_Extension_Metadata: XLA asks for the properties of a handler.
constexpr int metadataExtension = 1;
/// A command buffer (a CUDA graph) may capture and repeat the call.
constexpr uint32_t isCommandBufferCompatible = 1;

struct Metadata {
  size_t size;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

enum class ErrorCode : int {
  InvalidArgument = 3,
  NotFound = 5,
  FailedPrecondition = 9,
  Internal = 13,
};

struct CreateError {
  size_t size;
  Extension *extensions;
  const char *message;
  ErrorCode code;
};

struct DestroyError {
  size_t size;
  Extension *extensions;
  Error *error;
};

struct GetStream {
  size_t size;
  Extension *extensions;
  ExecutionContext *context;
  void *stream;
};

struct ScheduleTask {
  size_t size;
  Extension *extensions;
  ExecutionContext *context;
  void (*task)(void *);
  void *data;
};

struct GetNumThreads {
  size_t size;
  Extension *extensions;
  ExecutionContext *context;
  int64_t *count;
};

struct Api {
  size_t size;
  Extension *extensions;
  Version version;
  const void *internal;
  Error *(*createError)(CreateError *);
  void *getErrorMessage;
  void (*destroyError)(DestroyError *);
  void *registerHandler;
  Error *(*getStream)(GetStream *);
  void *others[6];
  Error *(*scheduleTask)(ScheduleTask *);
  Error *(*getNumThreads)(GetNumThreads *);
};

struct Buffer {
  size_t size;
  Extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *dims;
};

/// The arguments or the results of a call. A type of 1 is a buffer.
struct Buffers {
  size_t size;
  Extension *extensions;
  int64_t count;
  int *types;
  Buffer **buffers;
};

struct String {
  const char *data;
  size_t size;
};

struct Array {
  int type;
  size_t size;
  const void *data;
};

constexpr int arrayAttribute = 1, stringAttribute = 4;
/// The type of the elements of an array.
constexpr int int64Type = 5;

struct Attributes {
  size_t size;
  Extension *extensions;
  int64_t count;
  int *types;
  String **names;
  void **values;
};

struct CallFrame {
  size_t size;
  Extension *extensions;
  const Api *api;
  ExecutionContext *context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};

using Handler = Error *(CallFrame *);

} // namespace smalti::xla

#endif // SMALTI_BINDINGS_XLAFFI_H
