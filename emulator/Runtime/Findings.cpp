//===- Findings.cpp - Findings and progress as lines of JSON --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "smalti/emulator/Runtime/Findings.h"
#include "smalti/emulator/Runtime/Launch.h"
#include "smalti/emulator/Runtime/Library.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

using namespace smalti::emulator;

static int reportDescriptor = STDOUT_FILENO;
static int count = 0;

void smalti::emulator::setReportDescriptor(int descriptor) {
  reportDescriptor = descriptor;
}

int smalti::emulator::numFindings() { return count; }

void smalti::emulator::endProcess(ExitCode code) {
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void TextBuffer::appendList(const char *format, va_list list) {
  size_t room = capacity - used;
  int length = vsnprintf(data + used, room, format, list);
  if (length < 0)
    return;
  if (size_t(length) < room) {
    used += length;
    return;
  }
  used = capacity - 1;
  if (capacity >= 4)
    memcpy(data + capacity - 4, "...", 4);
}

void TextBuffer::append(const char *format, ...) {
  va_list list;
  va_start(list, format);
  appendList(format, list);
  va_end(list);
}

/// The number of bytes of the UTF-8 sequence at the start of a text, or 0 if
/// the bytes are not valid UTF-8.
static size_t sequenceLength(const char *text, size_t length) {
  auto lead = static_cast<unsigned char>(text[0]);
  size_t bytes = lead >= 0xc2 && lead < 0xe0   ? 2
                 : lead >= 0xe0 && lead < 0xf0 ? 3
                 : lead >= 0xf0 && lead < 0xf5 ? 4
                                               : 0;
  if (bytes == 0 || bytes > length)
    return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((text[i] & 0xc0) != 0x80)
      return 0;
  auto second = static_cast<unsigned char>(text[1]);
  bool isBad =
      (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return isBad ? 0 : bytes;
}

void smalti::emulator::appendJSONString(TextBuffer &buffer, const char *text,
                                        size_t length) {
  buffer.append("\"");
  for (size_t i = 0; i < length;) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      buffer.append("\\%c", c);
    } else if (c < 0x20 || c == 0x7f) {
      buffer.append("\\u%04x", c);
    } else if (c < 0x80) {
      buffer.append("%c", c);
    } else if (size_t bytes = sequenceLength(text + i, length - i)) {
      buffer.append("%.*s", int(bytes), text + i);
      i += bytes;
      continue;
    } else {
      buffer.append("\\ufffd");
    }
    ++i;
  }
  buffer.append("\"");
}

static void appendQuoted(TextBuffer &buffer, const char *text) {
  appendJSONString(buffer, text, strlen(text));
}

/// Uses the system call, which the sanitizers do not intercept.
static void writeAll(const char *text, size_t length) {
  while (length > 0) {
    long written = syscall(SYS_write, reportDescriptor, text, length);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return; // The reader has exited.
    text += written;
    length -= written;
  }
}

static void writeLine(TextBuffer &buffer) {
  buffer.append("\n");
  writeAll(buffer.text(), buffer.length());
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

void ThreadLocation::addInstruction(const void *address) {
  if (numFrames < maxFrames && kernelLibrary.contains(address))
    frames[numFrames++] = kernelLibrary.offsetOf(address);
}

void ThreadLocation::addReturn(const void *address) {
  // The call is the previous instruction.
  addInstruction(static_cast<const char *>(address) - 1);
}

static void appendPosition(TextBuffer &line, const char *key, int64_t index,
                           Dimensions dimensions) {
  if (index < 0) {
    line.append("\"%s\": null", key);
    return;
  }
  line.append("\"%s\": [%lld, %lld, %lld]", key,
              (long long)(index % dimensions.x),
              (long long)(index / dimensions.x % dimensions.y),
              (long long)(index / dimensions.x / dimensions.y));
}

static void appendLocation(TextBuffer &line, const ThreadLocation &location) {
  appendPosition(line, "block", location.block, launch.grid);
  line.append(", ");
  appendPosition(line, "thread", location.thread, launch.block);
  line.append(", \"write\": %s, \"pc\": [", location.isWrite < 0   ? "null"
                                            : location.isWrite > 0 ? "true"
                                                                   : "false");
  for (int i = 0; i < location.numFrames; ++i)
    line.append("%s%llu", i ? ", " : "",
                (unsigned long long)location.frames[i]);
  line.append("]");
  if (location.note.length() > 0) {
    line.append(", \"note\": ");
    appendQuoted(line, location.note.text());
  }
}

void smalti::emulator::report(const Finding &finding) {
  ++count;
  static BoundedText<65536> line;
  line.clear();
  line.append("{\"kind\": \"%s\", \"message\": ", finding.kind);
  appendQuoted(line, finding.message.text());
  line.append(", ");
  appendLocation(line, finding.location);
  if (finding.hasAddress)
    line.append(", \"address\": %llu", (unsigned long long)finding.address);
  else
    line.append(", \"address\": null");
  if (finding.bytes)
    line.append(", \"bytes\": %llu", (unsigned long long)finding.bytes);
  else
    line.append(", \"bytes\": null");
  line.append(", \"others\": [");
  for (int i = 0; i < finding.numOthers; ++i) {
    line.append("%s{", i ? ", " : "");
    appendLocation(line, finding.others[i]);
    line.append("}");
  }
  line.append("]}");
  writeLine(line);
}

void smalti::emulator::reportOutput(const char *text, size_t length) {
  // Pieces, so that each line fits the buffer.
  constexpr size_t piece = 4096;
  do {
    size_t part = length < piece ? length : piece;
    // Do not split a character.
    while (part < length && part > 1 && (text[part] & 0xc0) == 0x80)
      --part;
    BoundedText<6 * piece + 64> line;
    line.append("{\"output\": ");
    appendJSONString(line, text, part);
    line.append("}");
    writeLine(line);
    text += part;
    length -= part;
  } while (length > 0);
}

void smalti::emulator::reportProgress(uint64_t done, uint64_t total) {
  BoundedText<128> line;
  line.append("{\"progress\": [%llu, %llu]}", (unsigned long long)done,
              (unsigned long long)total);
  writeLine(line);
}

void smalti::emulator::reportDone(double seconds) {
  BoundedText<128> line;
  line.append("{\"done\": %.6f}", seconds);
  writeLine(line);
}

void smalti::emulator::reportLines(const char *text, size_t length) {
  writeAll(text, length);
}
