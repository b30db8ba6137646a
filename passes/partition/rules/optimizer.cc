// Optimizers: every replica updates all parameters, with sums over all samples.

#include "base/error.h"
#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

void update_rule(PartitionContext& context) {
  for (int i = 0; i < static_cast<int>(context.node().inputs().size()); ++i) {
    if (context.input(i).is_sharded()) {
      context.refuse(text("the parameter '", context.node().input(0)->name(), "' ", to_string(context.input_dims(0)),
                          " has elements of its own for each sample"));
    }
    context.need_replicated(i);
  }
}

const PartitionRegistration updates({"SgdUpdate", "AdamUpdate"}, update_rule, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
