// Every gradient rule against central differences, in double precision.

#include <doctest/doctest.h>

#include "passes/gradients/gradient_rule.h"
#include "tests/gradient_check.h"
#include "tests/gradient_checks/activation.h"
#include "tests/gradient_checks/binary.h"
#include "tests/gradient_checks/convolution.h"
#include "tests/gradient_checks/dropout.h"
#include "tests/gradient_checks/elementwise.h"
#include "tests/gradient_checks/indexing.h"
#include "tests/gradient_checks/loss.h"
#include "tests/gradient_checks/matmul.h"
#include "tests/gradient_checks/normalization.h"
#include "tests/gradient_checks/pooling.h"
#include "tests/gradient_checks/reduction.h"
#include "tests/gradient_checks/shape.h"
#include "tests/gradient_checks/softmax.h"

namespace ort_train::tests {
namespace {

std::vector<GradientCheck> all_checks() {
  std::vector<GradientCheck> all;
  const auto append = [&](const std::vector<GradientCheck>& checks) {
    all.insert(all.end(), checks.begin(), checks.end());
  };
  append(convolution_checks);
  append(pooling_checks);
  append(normalization_checks);
  append(elementwise_checks);
  append(activation_checks);
  append(binary_checks);
  append(all_reduction_forms());
  append(product_checks);
  append(cumulative_checks);
  append(matmul_checks);
  append(shape_checks);
  append(indexing_checks);
  append(softmax_checks);
  append(dropout_checks);
  append(loss_checks);
  return all;
}

TEST_CASE("rules agree with central differences") {
  for (const GradientCheck& check : all_checks()) {
    try {
      run(check);
    } catch (const Error& error) {
      FAIL_CHECK(text(check.name, ": ", error.what()));
    }
  }
}

TEST_CASE("every rule has a check") {
  std::set<std::pair<std::string, std::string>> checked;
  for (const GradientCheck& check : all_checks()) checked.merge(operators_of(check));
  for (const auto& rule : passes::registered_gradient_rules()) {
    INFO(rule.first, " ", rule.second);
    CHECK(checked.count(rule) == 1);
  }
}

TEST_CASE("no operator both has a rule and stops gradients") {
  for (const auto& rule : passes::registered_gradient_rules()) {
    INFO(rule.first, " ", rule.second);
    CHECK_FALSE(passes::is_non_differentiable(rule.second, rule.first));
  }
}

}  // namespace
}  // namespace ort_train::tests
