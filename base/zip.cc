#include "base/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"

namespace ort_train {

namespace {

constexpr std::uint32_t local_header_signature = 0x04034b50;
constexpr std::uint32_t directory_entry_signature = 0x02014b50;
constexpr std::uint32_t end_record_signature = 0x06054b50;
constexpr std::uint32_t zip64_end_record_signature = 0x06064b50;
constexpr std::uint32_t zip64_locator_signature = 0x07064b50;

constexpr std::size_t local_header_size = 30;
constexpr std::size_t directory_entry_size = 46;
constexpr std::size_t end_record_size = 22;
constexpr std::size_t zip64_end_record_size = 56;
constexpr std::size_t zip64_locator_size = 20;

constexpr std::uint16_t zip64_extra = 1;
constexpr std::uint16_t stored = 0;
constexpr std::uint16_t deflated = 8;
constexpr std::uint16_t utf8_names = 1 << 11;
constexpr std::uint16_t encrypted = 1;
constexpr std::uint32_t in_zip64 = 0xffffffff;
constexpr std::uint16_t in_zip64_16 = 0xffff;

std::uint64_t little_endian(std::string_view bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return value;
}

std::uint16_t u16(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint16_t>(little_endian(bytes, offset, 2));
}
std::uint32_t u32(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(little_endian(bytes, offset, 4));
}
std::uint64_t u64(std::string_view bytes, std::size_t offset) { return little_endian(bytes, offset, 8); }

void put(std::string& out, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

/// The fields that are all ones in a directory entry stand, in this order, in its zip64 extra field. False when that
/// field is missing or too short.
bool widen_from_zip64(ZipReader::Member& member, std::string_view extra) {
  std::vector<std::uint64_t*> wanted;
  for (std::uint64_t* field : {&member.size, &member.compressed_size, &member.header_offset}) {
    if (*field == in_zip64) wanted.push_back(field);
  }
  if (wanted.empty()) return true;
  while (extra.size() >= 4) {
    const std::size_t length = u16(extra, 2);
    if (length > extra.size() - 4) return false;
    if (u16(extra, 0) == zip64_extra) {
      if (length < 8 * wanted.size()) return false;
      for (std::size_t i = 0; i < wanted.size(); ++i) *wanted[i] = u64(extra, 4 + 8 * i);
      return true;
    }
    extra.remove_prefix(4 + length);
  }
  return false;
}

std::uint32_t crc_of(std::string_view content) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<z_size_t>(content.size())));
}

/// False when the deflated data are damaged or do not give exactly `content.size()` bytes.
bool inflate_into(std::string_view compressed, std::string& content) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  // zlib counts in 32 bits, so longer members go through in pieces.
  constexpr std::size_t piece = std::numeric_limits<uInt>::max() / 2;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  std::size_t input_left = compressed.size(), output_left = content.size();
  int status = Z_OK;
  while (status == Z_OK) {
    const uInt input = static_cast<uInt>(std::min(input_left, piece));
    const uInt output = static_cast<uInt>(std::min(output_left, piece));
    stream.avail_in = input;
    stream.avail_out = output;
    status = inflate(&stream, Z_NO_FLUSH);
    input_left -= input - stream.avail_in;
    output_left -= output - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && output_left == 0;
}

/// Zip keeps no time here: two archives of the same arrays have the same bytes. 1980-01-01 is the format's zero.
constexpr std::uint16_t earliest_date = 1 << 5 | 1;

/// What a local header and a directory entry share, from "version needed" to "extra length".
void put_common_header(std::string& out, const std::string& name, std::uint32_t crc, std::uint64_t size, bool wide,
                       std::size_t extra_size) {
  put(out, wide ? 45 : 20, 2);
  put(out, utf8_names, 2);
  put(out, stored, 2);
  put(out, 0, 2);
  put(out, earliest_date, 2);
  put(out, crc, 4);
  put(out, wide ? in_zip64 : size, 4);
  put(out, wide ? in_zip64 : size, 4);
  put(out, name.size(), 2);
  put(out, extra_size, 2);
}

}  // namespace

ZipReader::ZipReader(const std::filesystem::path& path) : file_(path) { read_directory(find_directory()); }

void ZipReader::damaged(std::string_view what) const {
  fail(file_.path().string(), " is not a usable zip archive: ", what);
}

ZipReader::Directory ZipReader::find_directory() const {
  // The end record is the last thing in the file, followed only by a comment of at most 65535 bytes.
  const std::size_t tail_size =
      static_cast<std::size_t>(std::min<std::uint64_t>(file_.size(), end_record_size + 65535));
  if (tail_size < end_record_size) damaged("it is too short");
  const std::uint64_t tail_offset = file_.size() - tail_size;
  const std::string tail = file_.read(tail_offset, tail_size);
  for (std::size_t at = tail_size - end_record_size + 1; at-- > 0;) {
    if (u32(tail, at) != end_record_signature) continue;
    if (at + end_record_size + u16(tail, at + 20) > tail_size) continue;
    Directory directory{u32(tail, at + 16), u32(tail, at + 12), u16(tail, at + 10)};
    const bool wide = directory.offset == in_zip64 || directory.size == in_zip64 || directory.members == in_zip64_16;
    return wide ? find_zip64_directory(tail_offset + at) : directory;
  }
  damaged("its end record is missing (another kind of file, or a truncated one)");
}

ZipReader::Directory ZipReader::find_zip64_directory(std::uint64_t end_record) const {
  if (end_record < zip64_locator_size) damaged("its zip64 locator is missing");
  const std::string locator = file_.read(end_record - zip64_locator_size, zip64_locator_size);
  if (u32(locator, 0) != zip64_locator_signature) damaged("its zip64 locator is missing");
  const std::string record = file_.read(u64(locator, 8), zip64_end_record_size);
  if (u32(record, 0) != zip64_end_record_signature) damaged("its zip64 end record is missing");
  return {u64(record, 48), u64(record, 40), u64(record, 32)};
}

void ZipReader::read_directory(const Directory& directory) {
  if (directory.offset > file_.size() || directory.size > file_.size() - directory.offset) {
    damaged("its directory lies beyond its end (truncated?)");
  }
  const std::string bytes = file_.read(directory.offset, static_cast<std::size_t>(directory.size));
  std::set<std::string> names;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (bytes.size() - at < directory_entry_size || u32(bytes, at) != directory_entry_signature) {
      damaged("its directory is damaged");
    }
    const std::size_t name_size = u16(bytes, at + 28), extra_size = u16(bytes, at + 30);
    const std::size_t entry_size = directory_entry_size + name_size + extra_size + u16(bytes, at + 32);
    if (bytes.size() - at < entry_size) damaged("its directory is damaged");
    Member member{bytes.substr(at + directory_entry_size, name_size),
                  u16(bytes, at + 10),
                  u32(bytes, at + 16),
                  u32(bytes, at + 20),
                  u32(bytes, at + 24),
                  u32(bytes, at + 42)};
    const std::string_view extra(bytes.data() + at + directory_entry_size + name_size, extra_size);
    if (!widen_from_zip64(member, extra))
      damaged(text("the zip64 sizes of its member '", member.name, "' are missing"));
    if ((u16(bytes, at + 8) & encrypted) != 0) damaged(text("its member '", member.name, "' is encrypted"));
    if (!names.insert(member.name).second) damaged(text("it has two members named '", member.name, "'"));
    members_.push_back(std::move(member));
    at += entry_size;
  }
}

std::string ZipReader::read(const Member& member) const {
  const auto member_damaged = [&](const auto&... reason) {
    damaged(text("its member '", member.name, "' ", reason...));
  };
  const std::string header = file_.read(member.header_offset, local_header_size);
  if (u32(header, 0) != local_header_signature) member_damaged("is not where the directory says");
  // The extra field of the local header may differ in length from that of the directory.
  const std::uint64_t offset = member.header_offset + local_header_size + u16(header, 26) + u16(header, 28);
  if (offset > file_.size() || member.compressed_size > file_.size() - offset) member_damaged("is truncated");
  std::string content = file_.read(offset, static_cast<std::size_t>(member.compressed_size));
  if (member.method == deflated) {
    // Deflate shrinks by at most 1032, so a larger claim comes from a damaged directory.
    if (member.size / 1032 > member.compressed_size) member_damaged("claims an impossible size");
    std::string inflated(static_cast<std::size_t>(member.size), '\0');
    if (!inflate_into(content, inflated)) member_damaged("has damaged deflated data");
    content = std::move(inflated);
  } else if (member.method != stored) {
    member_damaged("is compressed by method ", member.method, "; only stored and deflated members can be read");
  }
  if (content.size() != member.size) member_damaged("has two different sizes");
  if (crc_of(content) != member.crc) member_damaged("is corrupt (its CRC does not fit)");
  return content;
}

void ZipWriter::add(const std::string& name, std::string_view content) {
  if (name.size() > 65535) fail("an archive member cannot have a name of ", name.size(), " bytes");
  const Entry entry{name, crc_of(content), content.size(), archive_.size()};
  const bool wide = entry.size >= in_zip64;
  put(archive_, local_header_signature, 4);
  put_common_header(archive_, name, entry.crc, entry.size, wide, wide ? 20 : 0);
  archive_ += name;
  if (wide) {
    put(archive_, zip64_extra, 2);
    put(archive_, 16, 2);
    put(archive_, entry.size, 8);
    put(archive_, entry.size, 8);
  }
  archive_ += content;
  entries_.push_back(entry);
}

std::string ZipWriter::finish() {
  const std::uint64_t directory_offset = archive_.size();
  for (const Entry& entry : entries_) {
    // In the directory all three numbers go wide together, which keeps the extra field of one form.
    const bool wide = entry.size >= in_zip64 || entry.offset >= in_zip64;
    put(archive_, directory_entry_signature, 4);
    put(archive_, 45, 2);
    put_common_header(archive_, entry.name, entry.crc, entry.size, wide, wide ? 28 : 0);
    put(archive_, 0, 2);  // comment length
    put(archive_, 0, 2);  // disk
    put(archive_, 0, 2);  // internal attributes
    put(archive_, 0, 4);  // external attributes
    put(archive_, wide ? in_zip64 : entry.offset, 4);
    archive_ += entry.name;
    if (wide) {
      put(archive_, zip64_extra, 2);
      put(archive_, 24, 2);
      put(archive_, entry.size, 8);
      put(archive_, entry.size, 8);
      put(archive_, entry.offset, 8);
    }
  }
  const std::uint64_t directory_size = archive_.size() - directory_offset;
  const bool wide = directory_offset >= in_zip64 || directory_size >= in_zip64 || entries_.size() >= in_zip64_16;
  if (wide) {
    const std::uint64_t record_offset = archive_.size();
    put(archive_, zip64_end_record_signature, 4);
    put(archive_, zip64_end_record_size - 12, 8);
    put(archive_, 45, 2);
    put(archive_, 45, 2);
    put(archive_, 0, 4);
    put(archive_, 0, 4);
    put(archive_, entries_.size(), 8);
    put(archive_, entries_.size(), 8);
    put(archive_, directory_size, 8);
    put(archive_, directory_offset, 8);
    put(archive_, zip64_locator_signature, 4);
    put(archive_, 0, 4);
    put(archive_, record_offset, 8);
    put(archive_, 1, 4);
  }
  put(archive_, end_record_signature, 4);
  put(archive_, 0, 4);
  put(archive_, wide ? in_zip64_16 : entries_.size(), 2);
  put(archive_, wide ? in_zip64_16 : entries_.size(), 2);
  put(archive_, wide ? in_zip64 : directory_size, 4);
  put(archive_, wide ? in_zip64 : directory_offset, 4);
  put(archive_, 0, 2);
  entries_.clear();
  return std::move(archive_);
}

}  // namespace ort_train
