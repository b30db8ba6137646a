#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace ort_train {

/// The one exception type of the project. `what()` is a sentence for the user: what went wrong, where (file, node
/// name, operator, shapes) and what to do about it.
class Error : public std::runtime_error {
 public:
  /// Whose mistake it is decides the exit code of the command: `run` gives 1, `usage` (arguments, configuration) 2.
  enum class Kind { run, usage };

  explicit Error(const std::string& sentence, Kind kind = Kind::run) : std::runtime_error(sentence), kind_(kind) {}

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// Joins anything that can be streamed into one string.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

/// Throws an Error whose sentence is `text(parts...)`.
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(text(parts...));
}

/// The same for a mistake in arguments or configuration (exit code 2).
template <typename... Parts>
[[noreturn]] void fail_usage(const Parts&... parts) {
  throw Error(text(parts...), Error::Kind::usage);
}

}  // namespace ort_train
