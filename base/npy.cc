#include "base/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/dispatch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/zip.h"

namespace ort_train {

namespace {

static_assert(std::endian::native == std::endian::little, "array files are written in the byte order of memory");

constexpr std::string_view magic = "\x93NUMPY";

struct ElementCode {
  char kind;
  std::size_t width;
  DataType dtype;
};

constexpr ElementCode element_codes[] = {
    {'b', 1, DataType::boolean},  {'i', 1, DataType::int8},    {'i', 2, DataType::int16},   {'i', 4, DataType::int32},
    {'i', 8, DataType::int64},    {'u', 1, DataType::uint8},   {'u', 2, DataType::uint16},  {'u', 4, DataType::uint32},
    {'u', 8, DataType::uint64},   {'f', 2, DataType::float16}, {'f', 4, DataType::float32}, {'f', 8, DataType::float64},
    {'V', 2, DataType::bfloat16},
};

struct Header {
  DataType dtype = DataType::undefined;
  bool swapped = false;
  bool fortran_order = false;
  Dims dims;
};

/// Reads the header, which is a Python dictionary with the keys 'descr', 'fortran_order' and 'shape'.
class HeaderParser {
 public:
  HeaderParser(std::string_view source, const std::string& origin) : source_(source), origin_(origin) {}

  Header parse() {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        parse_type();
        has_type = true;
      } else if (key == "fortran_order") {
        header_.fortran_order = parse_truth();
        has_order = true;
      } else if (key == "shape") {
        parse_shape();
        has_shape = true;
      } else {
        damaged();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_type || !has_order || !has_shape) damaged();
    return header_;
  }

 private:
  [[noreturn]] void damaged() const { fail(origin_, " is not a usable .npy array: its header is damaged"); }

  void skip_blanks() {
    while (at_ < source_.size() && (source_[at_] == ' ' || source_[at_] == '\n' || source_[at_] == '\t')) ++at_;
  }

  bool accept(char symbol) {
    skip_blanks();
    if (at_ >= source_.size() || source_[at_] != symbol) return false;
    ++at_;
    return true;
  }

  void expect(char symbol) {
    if (!accept(symbol)) damaged();
  }

  std::string quoted() {
    skip_blanks();
    if (at_ >= source_.size() || (source_[at_] != '\'' && source_[at_] != '"')) damaged();
    const std::size_t end = source_.find(source_[at_], at_ + 1);
    if (end == std::string_view::npos) damaged();
    std::string content(source_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return content;
  }

  bool parse_truth() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (source_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    damaged();
  }

  std::int64_t parse_extent() {
    skip_blanks();
    const std::size_t start = at_;
    std::int64_t value = 0;
    while (at_ < source_.size() && source_[at_] >= '0' && source_[at_] <= '9') {
      if (value > std::numeric_limits<std::int64_t>::max() / 10 - 10) damaged();
      value = value * 10 + (source_[at_++] - '0');
    }
    if (at_ == start) damaged();
    accept('L');  // a long integer of Python 2
    return value;
  }

  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      header_.dims.push_back(parse_extent());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  void parse_type() {
    skip_blanks();
    if (at_ < source_.size() && source_[at_] == '[') {
      fail(origin_, " is an array of records; only plain numeric and bool arrays can be read");
    }
    const std::string code = quoted();
    std::size_t kind = 0;
    if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) kind = 1;
    const std::string width = code.size() > kind ? code.substr(kind + 1) : "";
    for (const ElementCode& element : element_codes) {
      if (code.size() > kind && element.kind == code[kind] && std::to_string(element.width) == width) {
        header_.dtype = element.dtype;
        header_.swapped = code[0] == '>' && element.width > 1;
        return;
      }
    }
    fail(origin_, " is an array of NumPy type '", code,
         "'; only bool, integers, float16, float32 and float64 can be read");
  }

  std::string_view source_;
  const std::string& origin_;
  std::size_t at_ = 0;
  Header header_;
};

/// The bytes that the array needs; false when that is more than a machine can address.
bool needed_bytes(const Header& header, std::uint64_t& bytes) {
  bytes = size_of(header.dtype);
  bool empty = false;
  for (const std::int64_t extent : header.dims) {
    empty = empty || extent == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    if (bytes > std::numeric_limits<std::int64_t>::max() / factor) return false;
    bytes *= factor;
  }
  if (empty) bytes = 0;
  return true;
}

void swap_bytes(Tensor& tensor) {
  const std::size_t width = size_of(tensor.dtype());
  for (std::size_t at = 0; at < tensor.bytes(); at += width) {
    std::reverse(tensor.raw() + at, tensor.raw() + at + width);
  }
}

/// A bool of C++ must hold 0 or 1.
void normalize_truths(Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.bytes(); ++i) tensor.raw()[i] = std::byte{tensor.raw()[i] != std::byte{0}};
}

/// Elements whose first index runs fastest, put in row-major order.
Tensor from_fortran_order(const Tensor& source) {
  Tensor target(source.dtype(), source.dims());
  const std::size_t width = size_of(source.dtype());
  const Dims& dims = source.dims();
  Dims strides(dims.size(), 1);
  for (std::size_t i = 1; i < dims.size(); ++i) strides[i] = strides[i - 1] * dims[i - 1];
  Dims index(dims.size(), 0);
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < source.size(); ++to) {
    std::memcpy(target.raw() + static_cast<std::size_t>(to) * width,
                source.raw() + static_cast<std::size_t>(from) * width, width);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < dims[axis]) break;
      from -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return target;
}

std::string type_code(DataType dtype) {
  for (const ElementCode& element : element_codes) {
    if (element.dtype == dtype) return text(element.width == 1 ? '|' : '<', element.kind, element.width);
  }
  fail("elements of type ", name_of(dtype), " cannot be written to a .npy file");
}

}  // namespace

Tensor decode_npy(std::string_view bytes, const std::string& origin) {
  if (!bytes.starts_with(magic)) fail(origin, " is not a .npy array: it does not start with the bytes of one");
  const auto byte_at = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
  const std::size_t version = bytes.size() > 7 ? byte_at(6) : 0;
  if (version < 1 || version > 3) fail(origin, " is not a usable .npy array: its version is not 1, 2 or 3");
  const std::size_t length_width = version == 1 ? 2 : 4;
  const std::size_t header_start = 8 + length_width;
  std::size_t header_size = 0;
  if (bytes.size() >= header_start) {
    for (std::size_t i = length_width; i-- > 0;) header_size = header_size << 8 | byte_at(8 + i);
  }
  if (bytes.size() < header_start || bytes.size() - header_start < header_size) {
    fail(origin, " is truncated: it ends within the header of its array");
  }
  const Header header = HeaderParser(bytes.substr(header_start, header_size), origin).parse();
  const std::string_view content = bytes.substr(header_start + header_size);
  std::uint64_t needed = 0;
  if (!needed_bytes(header, needed) || content.size() != needed) {
    fail(origin, content.size() < needed ? " is truncated" : " is damaged", ": its header says ", name_of(header.dtype),
         " of shape ", to_string(header.dims), ", which is not the ", content.size(), " bytes that follow");
  }
  Tensor tensor(header.dtype, header.dims);
  std::copy_n(reinterpret_cast<const std::byte*>(content.data()), content.size(), tensor.raw());
  if (header.swapped) swap_bytes(tensor);
  if (header.dtype == DataType::boolean) normalize_truths(tensor);
  return header.fortran_order && header.dims.size() > 1 ? from_fortran_order(tensor) : tensor;
}

Tensor read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  return decode_npy(file.read(0, static_cast<std::size_t>(file.size())), path.string());
}

std::string encode_npy(const Tensor& tensor) {
  std::string shape;
  for (const std::int64_t extent : tensor.dims()) shape += std::to_string(extent) + ", ";
  if (tensor.rank() > 1) shape.resize(shape.size() - 2);
  if (tensor.rank() == 1) shape.resize(shape.size() - 1);  // a tuple of one keeps its comma
  std::string header =
      text("{'descr': '", type_code(tensor.dtype()), "', 'fortran_order': False, 'shape': (", shape, "), }");
  // The elements start at a multiple of 64 bytes, so that the file can be mapped into memory.
  const std::size_t start = magic.size() + 4;
  header.append(63 - (start + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 65535) fail("an array of rank ", tensor.rank(), " cannot be written to a .npy file");

  std::string out(magic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  return out;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_file_atomically(path, encode_npy(tensor));
}

std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  constexpr std::string_view suffix = ".npy";
  const ZipReader archive(path);
  std::map<std::string, Tensor> arrays;
  for (const ZipReader::Member& member : archive.members()) {
    if (member.name.ends_with('/')) continue;  // a folder
    if (!member.name.ends_with(suffix)) fail(path.string(), ": its member '", member.name, "' is not a .npy array");
    const std::string key = member.name.substr(0, member.name.size() - suffix.size());
    arrays[key] = decode_npy(archive.read(member), text(path.string(), ": '", member.name, "'"));
  }
  return arrays;
}

std::string encode_npz(const std::map<std::string, Tensor>& arrays) {
  ZipWriter archive;
  for (const auto& [key, tensor] : arrays) archive.add(key + ".npy", encode_npy(tensor));
  return archive.finish();
}

void write_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& arrays) {
  write_file_atomically(path, encode_npz(arrays));
}

}  // namespace ort_train
