#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "tests/reference_case.h"

namespace ort_train {

/// What comparing a run with expected.npz found.
struct CaseComparison {
  int keys = 0;                      ///< compared
  double largest_share = 0;          ///< the largest difference as a share of what its tolerance allows
  std::vector<std::string> wrong;    ///< one line for each key that is too far off
  std::vector<std::string> missing;  ///< keys of expected.npz that the run does not have
};

/// Applies the tolerances of the case; each bound is relative to the largest reference element of its array, and
/// parameters are compared by how far they moved from their initial value.
CaseComparison compare_case(const ReferenceCase& reference, const std::map<std::string, Tensor>& expected,
                            const std::map<std::string, Tensor>& got);

}  // namespace ort_train
