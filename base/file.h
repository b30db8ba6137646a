#pragma once

#include <filesystem>
#include <string>

namespace ort_train {

/// The whole file as bytes. Throws when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes a file so that a reader sees the old content or the whole new one, never a part: temporary name in the same
/// folder, fsync, rename. Missing folders are made. Throws, and leaves nothing behind, when that fails.
void write_file_atomically(const std::filesystem::path& path, const std::string& content);

/// Throws the error that `write_file_atomically` would give, before hours are spent on what should be written.
void check_writable(const std::filesystem::path& path);

}  // namespace ort_train
