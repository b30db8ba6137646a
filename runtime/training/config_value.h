#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ort_train::training {

/// A value of a recipe or of the command line that knows where it stands, so that every error can say so. Reading a
/// value of the wrong type throws (usage): "recipe.yaml:12: 'epochs' must be a whole number, not 'ten'".
class ConfigValue {
 public:
  /// `origin` is the file, or empty for the command line; `name` is the key or the option.
  ConfigValue(const YAML::Node& node, std::string name, std::string origin)
      : node_(node), name_(std::move(name)), origin_(std::move(origin)) {}

  const std::string& name() const { return name_; }
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_scalar() const { return node_.IsScalar(); }
  bool is_null() const { return !node_.IsDefined() || node_.IsNull(); }

  std::string string() const;
  std::int64_t integer(std::int64_t minimum) const;
  double real() const;
  double real_at_least(double minimum) const;
  bool boolean() const;
  /// One of a few words.
  std::string word(const std::vector<std::string>& words) const;
  /// A file to read: relative to the folder of the recipe that names it.
  std::string input_path() const;

  /// The elements of a list; a single value counts as a list of one.
  std::vector<ConfigValue> elements() const;
  /// Elements of a list, or the parts of "a,b".
  std::vector<std::string> strings() const;
  std::vector<double> reals() const;
  std::vector<std::int64_t> integers(std::int64_t minimum) const;
  std::map<std::string, std::string> string_map() const;

  /// Calls the handler of each key of a map. Unknown and repeated keys are errors; "-" and "_" are alike.
  using Handlers = std::map<std::string, std::function<void(const ConfigValue&)>>;
  void read_map(const Handlers& handlers) const;

  /// Throws (usage) with the place in front.
  [[noreturn]] void fail(const std::string& sentence) const;

 private:
  [[noreturn]] void fail_type(const std::string& expected) const;
  std::string shown() const;

  YAML::Node node_;
  std::string name_, origin_;
};

/// The name among `known` that `name` was probably meant to be; empty when none is close.
std::string closest(const std::string& name, const std::vector<std::string>& known);

/// "learning-rate" and "learning_rate" are the same key.
std::string normalized_key(std::string key);

}  // namespace ort_train::training
