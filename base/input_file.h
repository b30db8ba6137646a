#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ort_train {

/// A file opened for reading at any offset; several threads may read at once. Every error names the file.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Throws when the file ends before `bytes` bytes are read.
  void read(std::uint64_t offset, void* destination, std::size_t bytes) const;
  std::string read(std::uint64_t offset, std::size_t bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace ort_train
