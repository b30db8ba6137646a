#include <doctest/doctest.h>

#include <map>

#include "graph/training_schemas.h"
#include "kernels/kernel.h"
#include "passes/gradients/gradient_rule.h"
#include "passes/partition/partition_rule.h"

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

TEST_CASE("every operator can work on a divided batch, or is known not to") {
  const std::string computed = "the extents of its result depend on elements",
                    constant = "a constant once all shapes are numbers",
                    replaced = "replaced before batches are divided",
                    collective = "put in where a batch has been divided";
  const std::map<std::string, std::string> reasons = {
      {"Compress", computed},  {"NonZero", computed},     {"Unique", computed},          {"Constant", constant},
      {"Shape", constant},     {"Size", constant},        {"ConstantOfShape", constant}, {"Range", constant},
      {"Dropout", replaced},   {"AllReduce", collective}, {"AllGather", collective},     {"ReduceScatter", collective},
      {"FlatPart", collective}};
  auto operators = kernels::registered_kernels();
  const auto differentiable = passes::registered_gradient_rules();
  operators.insert(operators.end(), differentiable.begin(), differentiable.end());
  for (const auto& entry : operators) {
    const bool has_rule = passes::find_partition_rule(entry.second, entry.first) != nullptr;
    CHECK_MESSAGE((has_rule != (reasons.count(entry.second) != 0)), entry.second);
  }
}
