#include "runtime/training/text_format.h"

#include <cmath>
#include <cstdio>

namespace ort_train::training {
namespace {

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

}  // namespace

std::string with_separators(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (std::ptrdiff_t place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > first; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), ",");
  }
  return digits;
}

std::string in_bytes(std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size < 1e3) return formatted("%.0f bytes", size);
  if (size < 1e6) return formatted("%.1f kB", size / 1e3);
  if (size < 1e9) return formatted("%.1f MB", size / 1e6);
  return formatted("%.2f GB", size / 1e9);
}

std::string as_clock(double seconds) {
  const long whole = std::lround(std::fmax(0, seconds));
  if (whole >= 3600) return formatted("%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  return formatted("%ld:%02ld", whole / 60, whole % 60);
}

std::string as_figure(double value) {
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e6)) return formatted("%.3e", value);
  return formatted("%.4f", value);
}

std::string as_seconds(double seconds) { return formatted(seconds < 10 ? "%.2f" : "%.0f", seconds); }

}  // namespace ort_train::training
