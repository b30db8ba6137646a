#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/error.h"

namespace ort_train {

namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void make_folder_of(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(folder_of(path), error);
  if (error) fail("cannot make the folder ", folder_of(path).string(), ": ", error.message());
}

void write_all(int descriptor, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = ::write(descriptor, content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category());
    done += static_cast<std::size_t>(written);
  }
  if (::fsync(descriptor) != 0) throw std::system_error(errno, std::generic_category());
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) fail("cannot read ", path.string(), ": it is a folder");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot read ", path.string(), ": ", std::strerror(errno));
  std::ostringstream content;
  content << stream.rdbuf();
  if (stream.bad()) fail("cannot read ", path.string(), ": ", std::strerror(errno));
  return content.str();
}

void write_file_atomically(const std::filesystem::path& path, const std::string& content) {
  make_folder_of(path);
  std::string temporary = path.string() + ".partial-XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) fail("cannot write ", path.string(), ": ", std::strerror(errno));
  try {
    write_all(descriptor, content);
    ::fchmod(descriptor, 0644);
    ::close(descriptor);
    std::filesystem::rename(temporary, path);
  } catch (const std::system_error& error) {
    ::unlink(temporary.c_str());
    fail("cannot write ", path.string(), ": ", error.code().message());
  }
  // The rename itself must reach the disk, or a power cut brings the old name back.
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void check_writable(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) fail("cannot write ", path.string(), ": it is a folder");
  make_folder_of(path);
  std::string temporary = path.string() + ".partial-XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) fail("cannot write ", path.string(), ": ", std::strerror(errno));
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

}  // namespace ort_train
