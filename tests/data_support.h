#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"

/// What the tests of files and data sets share.
namespace ort_train::test {

/// A folder of one's own that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ort-train-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

/// The sentence of the Error that `function` throws; fails the test when it throws none.
template <typename Function>
std::string sentence_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("no error was thrown");
  return {};
}

inline bool contains(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

/// The folder with the real data sets and the corpus, next to the checkout in which tests run; it need not be there.
inline std::filesystem::path shared_folder() { return std::filesystem::path("..") / "shared"; }

}  // namespace ort_train::test

/// The expression throws an Error whose sentence contains the text.
#define CHECK_ERROR(expression, part)                                                       \
  do {                                                                                      \
    const std::string sentence = ort_train::test::sentence_of([&] { (void)(expression); }); \
    CHECK_MESSAGE(ort_train::test::contains(sentence, part), sentence);                     \
  } while (false)
