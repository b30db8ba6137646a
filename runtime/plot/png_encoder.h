#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ort_train::plot {

/// A PNG file of 8-bit red, green and blue samples, row by row.
std::string encode_png(const std::vector<std::uint8_t>& pixels, int width, int height);

}  // namespace ort_train::plot
