#include "runtime/training/config_value.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/error.h"

namespace ort_train::training {
namespace {

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the other (the
/// restricted distance of Damerau and Levenshtein).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      table[i][j] = std::min({replaced, table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : ", ") + word;
  return result;
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    const std::size_t first = std::min(list.find_first_not_of(' ', start), comma);
    const std::size_t last = list.find_last_not_of(' ', comma == 0 ? 0 : comma - 1);
    if (first < comma) parts.push_back(list.substr(first, last - first + 1));
    start = comma + 1;
  }
  return parts;
}

}  // namespace

std::string normalized_key(std::string key) {
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string closest(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

void ConfigValue::fail(const std::string& sentence) const {
  if (origin_.empty()) fail_usage(sentence);
  const int line = node_.IsDefined() ? node_.Mark().line : -1;
  if (line < 0) fail_usage(origin_, ": ", sentence);
  fail_usage(origin_, ":", line + 1, ": ", sentence);
}

std::string ConfigValue::shown() const {
  if (is_null()) return "nothing";
  if (is_map()) return "a map";
  if (is_list()) return "a list";
  return "'" + node_.Scalar() + "'";
}

void ConfigValue::fail_type(const std::string& expected) const {
  fail(text("'", name_, "' must be ", expected, ", not ", shown()));
}

std::string ConfigValue::string() const {
  if (!is_scalar() || node_.Scalar().empty()) fail_type("a text");
  return node_.Scalar();
}

std::int64_t ConfigValue::integer(std::int64_t minimum) const {
  std::int64_t value = 0;
  if (!is_scalar() || !YAML::convert<std::int64_t>::decode(node_, value)) fail_type("a whole number");
  if (value < minimum) fail_type(text("a whole number of at least ", minimum));
  return value;
}

double ConfigValue::real() const {
  double value = 0;
  if (!is_scalar() || !YAML::convert<double>::decode(node_, value)) fail_type("a number");
  if (!std::isfinite(value)) fail_type("a finite number");
  return value;
}

double ConfigValue::real_at_least(double minimum) const {
  const double value = real();
  if (value < minimum) fail_type(text("a number of at least ", minimum));
  return value;
}

bool ConfigValue::boolean() const {
  bool value = false;
  if (!is_scalar() || !YAML::convert<bool>::decode(node_, value)) fail_type("true or false");
  return value;
}

std::string ConfigValue::word(const std::vector<std::string>& words) const {
  std::string value = string();
  if (std::find(words.begin(), words.end(), value) != words.end()) return value;
  const std::string meant = closest(value, words);
  fail(text("'", name_, "' must be one of ", joined(words), ", not '", value, "'",
            meant.empty() ? "" : text("; did you mean '", meant, "'?")));
}

std::string ConfigValue::input_path() const {
  const std::filesystem::path path = string();
  if (origin_.empty() || path.is_absolute()) return path.string();
  return (std::filesystem::path(origin_).parent_path() / path).lexically_normal().string();
}

std::vector<ConfigValue> ConfigValue::elements() const {
  if (!is_list()) return {*this};
  std::vector<ConfigValue> result;
  for (const YAML::Node& element : node_) result.emplace_back(element, name_, origin_);
  return result;
}

std::vector<std::string> ConfigValue::strings() const {
  if (is_scalar()) return split_at_commas(node_.Scalar());
  std::vector<std::string> result;
  for (const ConfigValue& element : elements()) {
    // On the command line an option may be repeated, and each time hold several names.
    if (origin_.empty()) {
      for (std::string& part : split_at_commas(element.string())) result.push_back(std::move(part));
    } else {
      result.push_back(element.string());
    }
  }
  return result;
}

std::vector<double> ConfigValue::reals() const {
  std::vector<double> result;
  for (const ConfigValue& element : elements()) result.push_back(element.real());
  return result;
}

std::vector<std::int64_t> ConfigValue::integers(std::int64_t minimum) const {
  std::vector<std::int64_t> result;
  for (const ConfigValue& element : elements()) result.push_back(element.integer(minimum));
  return result;
}

std::map<std::string, std::string> ConfigValue::string_map() const {
  if (!is_map()) fail_type("a map of names");
  std::map<std::string, std::string> result;
  for (const auto& entry : node_) {
    const ConfigValue value(entry.second, name_ + "." + entry.first.Scalar(), origin_);
    result[entry.first.Scalar()] = value.string();
  }
  return result;
}

void ConfigValue::read_map(const Handlers& handlers) const {
  if (!is_map()) fail_type("a map");
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const ConfigValue key(entry.first, name_, origin_);
    const std::string written = key.string();
    const auto handler = handlers.find(normalized_key(written));
    if (handler == handlers.end()) {
      std::vector<std::string> known;
      for (const auto& each : handlers) known.push_back(each.first);
      const std::string meant = closest(normalized_key(written), known);
      key.fail(text("unknown key '", written, "'", name_.empty() ? "" : text(" in '", name_, "'"),
                    meant.empty() ? text("; known keys are ", joined(known)) : text("; did you mean '", meant, "'?")));
    }
    if (!seen.insert(handler->first).second) key.fail(text("the key '", written, "' is given twice"));
    handler->second(ConfigValue(entry.second, written, origin_));
  }
}

}  // namespace ort_train::training
