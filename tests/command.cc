#include "tests/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace ort_train {
namespace {

void redirect(int descriptor, const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
  close(file);
}

pid_t start(const std::vector<std::string>& arguments, const std::string& output, const std::string& errors) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t process = fork();
  if (process < 0) fail("cannot start ", arguments.at(0));
  if (process == 0) {
    redirect(STDOUT_FILENO, output);
    redirect(STDERR_FILENO, errors);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  return process;
}

}  // namespace

CommandResult run_command_until(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                                int signal) {
  const TemporaryFolder folder;
  const pid_t process = start(arguments, folder / "output", folder / "errors");
  int status = 0;
  bool sent = false;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (!sent && ready()) {
      kill(process, signal);
      sent = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CommandResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.output = read_file(folder / "output");
  result.errors = read_file(folder / "errors");
  return result;
}

CommandResult run_command(const std::vector<std::string>& arguments) {
  return run_command_until(
      arguments, [] { return false; }, 0);
}

std::string built_program(const std::string& path) {
  const char* folder = std::getenv("ORT_TRAIN_BUILD_DIR");
  return (std::filesystem::path(folder ? folder : "build") / path).string();
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "ort-train-test-XXXXXX").string();
  if (!mkdtemp(name.data())) fail("cannot make a temporary folder like ", name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ort_train
