//===- Printf.h - Formatted output of kernels -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMALTI_EMULATOR_INSTRUCTIONS_PRINTF_H
#define SMALTI_EMULATOR_INSTRUCTIONS_PRINTF_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

namespace smalti::emulator {

template <class Type>
void appendValue(std::string &text, const std::string &format, Type value) {
  char buffer[512];
  int length = snprintf(buffer, sizeof buffer, format.c_str(), value);
  if (length < 0)
    return;
  if (size_t(length) < sizeof buffer) {
    text.append(buffer, length);
    return;
  }
  std::string longer(size_t(length) + 1, '\0');
  snprintf(longer.data(), longer.size(), format.c_str(), value);
  text.append(longer, 0, size_t(length));
}

/// Appends the output of printf to `text`, one conversion at a time. Returns
/// the number of conversions, or nothing if one is not supported. `values`
/// has a function `next<Type>()`.
template <class Values>
std::optional<int> appendFormatted(std::string &text, const char *format,
                                   Values &values) {
  int conversions = 0;
  while (*format) {
    if (*format != '%') {
      text += *format++;
      continue;
    }
    std::string spec(1, *format++);
    int longs = 0;
    while (*format && strchr("-+ #0123456789.*hlLqjzt", *format)) {
      if (*format == '*')
        spec += std::to_string(values.template next<int32_t>());
      else if (strchr("lLqjzt", *format))
        longs += *format == 'l' ? 1 : 2;
      else
        spec += *format;
      ++format;
    }
    char conversion = *format;
    if (!conversion)
      break;
    ++format;
    if (conversion == '%') {
      text += '%';
      continue;
    }
    ++conversions;
    if (strchr("diouxX", conversion)) {
      // `long` has 64 bits, as on the hosts of CUDA and HIP on Linux.
      if (longs)
        appendValue(text, spec + "ll" + conversion,
                    values.template next<long long>());
      else
        appendValue(text, spec + conversion, values.template next<int32_t>());
    } else if (conversion == 'c') {
      appendValue(text, spec + 'c', values.template next<int32_t>());
    } else if (strchr("aAeEfFgG", conversion)) {
      appendValue(text, spec + conversion, values.template next<double>());
    } else if (conversion == 'p') {
      appendValue(text, spec + 'p', values.template next<const void *>());
    } else if (conversion == 's') {
      auto *string = values.template next<const char *>();
      appendValue(text, spec + 's', string ? string : "(null)");
    } else {
      return std::nullopt;
    }
  }
  return conversions;
}

} // namespace smalti::emulator

#endif // SMALTI_EMULATOR_INSTRUCTIONS_PRINTF_H
