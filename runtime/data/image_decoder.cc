#include "runtime/data/image_decoder.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
// These two need the types of <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"

namespace ort_train::data {

namespace {

// Both libraries report errors by a jump, so the functions that may be jumped out of keep no object with a destructor;
// the image belongs to the caller.

constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;

struct Decoding {
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX > 256 ? JMSG_LENGTH_MAX : 256] = {};
  const unsigned char* next = nullptr;
  std::size_t left = 0;
};

[[noreturn]] void give_up(Decoding& decoding, const char* message) {
  std::snprintf(decoding.message, sizeof decoding.message, "%s", message);
  std::longjmp(decoding.jump, 1);
}

bool allocate(Image& image, std::uint64_t height, std::uint64_t width, std::int64_t channels) {
  if (height == 0 || width == 0 || height > most_pixels / width) return false;
  image.height = static_cast<std::int64_t>(height);
  image.width = static_cast<std::int64_t>(width);
  image.channels = channels;
  image.pixels.resize(height * width * static_cast<std::uint64_t>(channels));
  return true;
}

[[noreturn]] void on_jpeg_error(j_common_ptr info) {
  auto& decoding = *static_cast<Decoding*>(info->client_data);
  char message[JMSG_LENGTH_MAX];
  info->err->format_message(info, message);
  give_up(decoding, message);
}

/// libjpeg goes on, with grey areas, where data are damaged or missing; a picture for training must be whole.
void on_jpeg_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL: on_jpeg_error(info);
    default: break;
  }
}

/// Adobe programs store CMYK inverted: 255 is no ink.
void cmyk_to_rgb(const unsigned char* source, std::uint8_t* target, std::size_t pixels, bool inverted) {
  for (std::size_t i = 0; i < pixels; ++i, source += 4, target += 3) {
    const int black = inverted ? source[3] : 255 - source[3];
    for (int channel = 0; channel < 3; ++channel) {
      const int colour = inverted ? source[channel] : 255 - source[channel];
      target[channel] = static_cast<std::uint8_t>((colour * black + 127) / 255);
    }
  }
}

bool decode_jpeg(std::string_view bytes, Image& image, std::vector<unsigned char>& row, Decoding& decoding) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = on_jpeg_error;
  errors.emit_message = on_jpeg_message;
  info.client_data = &decoding;
  if (setjmp(decoding.jump) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  const bool grey = info.jpeg_color_space == JCS_GRAYSCALE;
  const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = grey ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info);
  if (!allocate(image, info.output_height, info.output_width, grey ? 1 : 3)) give_up(decoding, "it is too large");
  row.resize(static_cast<std::size_t>(info.output_width) * static_cast<std::size_t>(info.output_components));
  const std::size_t row_bytes = static_cast<std::size_t>(image.width * image.channels);
  while (info.output_scanline < info.output_height) {
    std::uint8_t* target = image.pixels.data() + info.output_scanline * row_bytes;
    JSAMPROW destination = cmyk ? row.data() : target;
    jpeg_read_scanlines(&info, &destination, 1);
    if (cmyk) cmyk_to_rgb(row.data(), target, info.output_width, info.saw_Adobe_marker != 0);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

void on_png_error(png_structp png, png_const_charp message) {
  give_up(*static_cast<Decoding*>(png_get_error_ptr(png)), message);
}

void on_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep destination, std::size_t bytes) {
  auto& decoding = *static_cast<Decoding*>(png_get_io_ptr(png));
  if (bytes > decoding.left) png_error(png, "it ends too early");
  std::memcpy(destination, decoding.next, bytes);
  decoding.next += bytes;
  decoding.left -= bytes;
}

bool decode_png(std::string_view bytes, Image& image, std::vector<png_bytep>& rows, Decoding& decoding) {
  decoding.next = reinterpret_cast<const unsigned char*>(bytes.data());
  decoding.left = bytes.size();
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoding, on_png_error, on_png_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  if (info == nullptr || setjmp(decoding.jump) != 0) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &decoding, read_png_bytes);
  png_read_info(png, info);
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (!allocate(image, png_get_image_height(png, info), png_get_image_width(png, info), png_get_channels(png, info))) {
    png_error(png, "it is too large");
  }
  rows.resize(static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < rows.size(); ++y) {
    rows[y] = image.pixels.data() + y * static_cast<std::size_t>(image.width * image.channels);
  }
  png_read_image(png, rows.data());
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

Image grey_to_rgb(const Image& grey) {
  Image rgb{grey.height, grey.width, 3, std::vector<std::uint8_t>(grey.pixels.size() * 3)};
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) std::memset(&rgb.pixels[3 * i], grey.pixels[i], 3);
  return rgb;
}

Image rgb_to_grey(const Image& rgb) {
  Image grey{rgb.height, rgb.width, 1, std::vector<std::uint8_t>(rgb.pixels.size() / 3)};
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    const std::uint8_t* pixel = &rgb.pixels[3 * i];
    // 0.299 R + 0.587 G + 0.114 B in 16 fractional bits.
    grey.pixels[i] = static_cast<std::uint8_t>((19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 0x8000) >> 16);
  }
  return grey;
}

}  // namespace

Image decode_image(std::string_view bytes, std::int64_t channels, const std::string& origin) {
  if (channels != 1 && channels != 3) fail(origin, ": a picture gives 1 or 3 channels, not ", channels);
  Image image;
  Decoding decoding;
  bool done = false;
  if (bytes.starts_with("\xff\xd8\xff")) {
    std::vector<unsigned char> row;
    done = decode_jpeg(bytes, image, row, decoding);
  } else if (bytes.starts_with("\x89PNG\r\n\x1a\n")) {
    std::vector<png_bytep> rows;
    done = decode_png(bytes, image, rows, decoding);
  } else {
    fail(origin, " is neither a JPEG nor a PNG picture");
  }
  if (!done) fail(origin, " is a corrupt picture: ", decoding.message);
  if (image.channels == channels) return image;
  return channels == 3 ? grey_to_rgb(image) : rgb_to_grey(image);
}

}  // namespace ort_train::data
