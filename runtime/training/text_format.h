#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ort_train::training {

/// "1,652,826".
std::string with_separators(std::int64_t number);

/// "12.6 MB"; powers of 1000.
std::string in_bytes(std::size_t bytes);

/// "0:42", "12:05", "1:02:03".
std::string as_clock(double seconds);

/// "1.4323": four digits after the point, or scientific where that would show nothing.
std::string as_figure(double value);

/// "0.03", "9.46", "158".
std::string as_seconds(double seconds);

}  // namespace ort_train::training
