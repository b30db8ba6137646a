#include <doctest/doctest.h>

#include "graph/training_schemas.h"
#include "kernels/kernel.h"
#include "passes/gradients/gradient_rule.h"

using namespace ort_train;

TEST_CASE("every operator of the training domain has a kernel") {
  for (const std::string& op_type : graph::training_operators()) {
    CHECK_MESSAGE((kernels::find_kernel(op_type, graph::training_domain) != nullptr), op_type);
  }
}

TEST_CASE("every operator with a gradient rule has a kernel") {
  for (const auto& rule : passes::registered_gradient_rules()) {
    CHECK_MESSAGE((kernels::find_kernel(rule.second, rule.first) != nullptr), rule.second);
  }
}

TEST_CASE("no operator is both differentiable and not") {
  for (const auto& rule : passes::registered_gradient_rules()) {
    CHECK_MESSAGE(!passes::is_non_differentiable(rule.second, rule.first), rule.second);
  }
}
