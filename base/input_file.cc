#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ort_train {

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot read ", path.string(), ": ", std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const std::string reason = !known ? std::strerror(errno) : "it is not a regular file";
    ::close(descriptor_);
    fail("cannot read ", path.string(), ": ", reason);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, void* destination, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    fail(path_.string(), " is truncated: it has ", size_, " bytes, and ", bytes, " bytes at offset ", offset,
         " were to be read");
  }
  auto* out = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read ", path_.string(), ": ", std::strerror(errno));
    if (got == 0) fail(path_.string(), " became shorter while it was read");
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

std::string InputFile::read(std::uint64_t offset, std::size_t bytes) const {
  // The size is checked before memory is asked for: it may come from a damaged header.
  if (offset > size_ || bytes > size_ - offset) read(offset, nullptr, bytes);
  std::string content(bytes, '\0');
  read(offset, content.data(), bytes);
  return content;
}

}  // namespace ort_train
