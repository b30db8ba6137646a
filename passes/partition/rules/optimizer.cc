// Optimizers: every replica updates all parameters, with sums over all samples.

#include "passes/partition/rules/support.h"

namespace ort_train::passes {
namespace {

void update_rule(PartitionContext& context) { context.need_all_replicated(); }

const PartitionRegistration updates({"SgdUpdate", "AdamUpdate"}, update_rule, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
