#include "tests/case_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ort_train {
namespace {

using Arrays = std::map<std::string, Tensor>;

double largest(const std::vector<double>& values) {
  double result = 0;
  for (double value : values) result = std::max(result, std::abs(value));
  return result;
}

/// The largest |a - b|; NaN when any difference is NaN.
double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_doubles(), right = b.to_doubles();
  double result = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(left[i] - right[i]);
    if (std::isnan(difference)) return difference;
    result = std::max(result, difference);
  }
  return result;
}

/// "grad" of "grad/conv.weight", and the rest.
std::pair<std::string, std::string> split_key(const std::string& key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string::npos) return {key, ""};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

class Bounds {
 public:
  Bounds(const ReferenceCase& reference, const Arrays& expected)
      : tolerance_(reference.tolerance), expected_(expected) {
    for (const auto& [key, array] : expected) {
      const auto [kind, name] = split_key(key);
      if (kind == "grad") largest_gradient_ = std::max(largest_gradient_, largest(array.to_doubles()));
      if (kind == "step1" || kind == "step5") {
        double& step = largest_step_[kind];
        step = std::max(step, largest_difference(array, initial(name)));
      }
    }
  }

  double of(const std::string& key) const {
    const auto [kind, name] = split_key(key);
    const Tensor& array = expected_.at(key);
    const double size = largest(array.to_doubles());
    if (kind == "loss" || kind == "losses") return tolerance_.loss * size + 1e-7;
    if (kind == "out") return tolerance_.out * size + 1e-6;
    if (kind == "out5") return tolerance_.out5 * size + 1e-6;
    if (kind == "grad") return tolerance_.grad * size + 1e-6 * largest_gradient_;
    if (kind == "step1") return step_bound(tolerance_.step1, kind, name, array);
    if (kind == "step5") return step_bound(tolerance_.step5, kind, name, array);
    return 1e-4 * size + 1e-6;
  }

 private:
  const Tensor& initial(const std::string& name) const {
    const auto found = expected_.find("init/" + name);
    if (found == expected_.end()) fail("expected.npz has no array 'init/", name, "'");
    return found->second;
  }

  double step_bound(double relative, const std::string& kind, const std::string& name, const Tensor& array) const {
    const double moved = largest_difference(array, initial(name));
    return relative * moved + 1e-6 * std::max(largest(initial(name).to_doubles()), largest_step_.at(kind));
  }

  ReferenceCase::Tolerance tolerance_;
  const Arrays& expected_;
  double largest_gradient_ = 0;
  std::map<std::string, double> largest_step_;
};

bool is_compared(const std::string& key) {
  const std::string kind = split_key(key).first;
  return kind != "init" && kind != "stat1_unbiased" && kind != "stat5_unbiased";
}

}  // namespace

CaseComparison compare_case(const ReferenceCase& reference, const Arrays& expected, const Arrays& got) {
  const Bounds bounds(reference, expected);
  CaseComparison result;
  for (const auto& [key, array] : expected) {
    if (!is_compared(key)) continue;
    const auto found = got.find(key);
    if (found == got.end()) {
      result.missing.push_back(key);
      continue;
    }
    ++result.keys;
    if (found->second.dims() != array.dims()) {
      result.wrong.push_back(
          text(key, ": shape ", to_string(found->second.dims()), " instead of ", to_string(array.dims())));
      continue;
    }
    const double difference = largest_difference(found->second, array);
    const double bound = bounds.of(key);
    if (bound > 0) result.largest_share = std::max(result.largest_share, difference / bound);
    if (!(difference <= bound)) result.wrong.push_back(text(key, ": off by ", difference, ", allowed ", bound));
  }
  return result;
}

}  // namespace ort_train
