#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"

namespace ort_train {

/// Reads zip archives (PKWARE APPNOTE 6.3.9): stored and deflated members, zip64. Opening reads the central directory;
/// a member is read, and its CRC checked, when asked for. Every error names the file.
class ZipReader {
 public:
  struct Member {
    std::string name;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_offset = 0;
  };

  explicit ZipReader(const std::filesystem::path& path);

  const std::vector<Member>& members() const { return members_; }

  /// The uncompressed bytes of a member.
  std::string read(const Member& member) const;

 private:
  struct Directory {
    std::uint64_t offset = 0, size = 0, members = 0;
  };

  Directory find_directory() const;
  Directory find_zip64_directory(std::uint64_t end_record) const;
  void read_directory(const Directory& directory);
  [[noreturn]] void damaged(std::string_view what) const;

  InputFile file_;
  std::vector<Member> members_;
};

/// Builds a zip archive in memory; members are stored without compression. Sizes beyond 4 GiB use zip64.
class ZipWriter {
 public:
  void add(const std::string& name, std::string_view content);

  /// Appends the central directory and gives the whole archive away.
  std::string finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc;
    std::uint64_t size, offset;
  };

  std::string archive_;
  std::vector<Entry> entries_;
};

}  // namespace ort_train
