#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ort_train::data {

/// A picture of 8-bit samples, [height, width, channels], row by row.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> pixels;
};

/// Decodes a JPEG or PNG file, recognized by its first bytes, to 1 (grey) or 3 (red, green, blue) channels. Palettes
/// are resolved, 16-bit samples cut to 8, transparency is dropped. Colour becomes grey by ITU-R BT.601. Throws, with
/// `origin` in the sentence, when the file is corrupt or of another kind.
Image decode_image(std::string_view bytes, std::int64_t channels, const std::string& origin);

}  // namespace ort_train::data
