#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ort_train {

/// How a program ended.
struct CommandResult {
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  std::string output;  ///< what it wrote to standard output
  std::string errors;  ///< and to standard error
};

/// Runs a program with arguments, without a shell, and waits for it.
CommandResult run_command(const std::vector<std::string>& arguments);

/// The same; as soon as `ready()` is true the program gets `signal`. Returns once it has ended.
CommandResult run_command_until(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                                int signal);

/// A program of the build folder (environment variable ORT_TRAIN_BUILD_DIR, else "build").
std::string built_program(const std::string& path);

/// A new empty folder that is removed with everything in it at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace ort_train
