#include "passes/partition/partition_rule.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "graph/shape_inference.h"

namespace ort_train::passes {

namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, PartitionRule>& registry() {
  static std::map<Key, PartitionRule> rules;
  return rules;
}

bool is_sharded(const Sharding& sharding) { return sharding.is_sharded(); }

/// What a rule says about an output must be possible, whatever led it there.
void check_outputs(const PartitionContext& context) {
  const std::vector<graph::Value*>& outputs = context.node().outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    const Sharding& sharding = context.decision().outputs[i];
    if (sharding.is_partial() && !has_sum_over_replicas(outputs[i]->dtype())) {
      context.refuse(text("replicas do not add up ", name_of(outputs[i]->dtype()), " numbers"));
    }
    if (sharding.is_sharded() && !holds_samples(outputs[i]->dims(), sharding, context.samples())) {
      context.refuse(text("'", outputs[i]->name(), "' ", to_string(outputs[i]->dims()), " has no axis ", sharding.axis,
                          " for the samples"));
    }
  }
}

}  // namespace

std::vector<graph::Value*> Emission::clone(graph::Attributes attributes) const {
  graph::Graph& graph = builder.graph();
  std::vector<std::string> names;
  for (const graph::Value* output : whole.outputs()) {
    names.push_back(output == nullptr ? "" : graph.unique_name(output->name()));
  }
  graph::Node* node =
      graph.add_node(whole.op_type(), whole.domain(), inputs, names, std::move(attributes), whole.name());
  graph::infer_types(*node);
  return node->outputs();
}

bool Decision::divided() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const Sharding& s) { return !s.is_replicated(); }) ||
         std::any_of(outputs.begin(), outputs.end(), [](const Sharding& s) { return !s.is_replicated(); });
}

PartitionContext::PartitionContext(const graph::Node& node, std::vector<Sharding> inputs, std::int64_t samples)
    : node_(node), lying_(inputs), samples_(samples) {
  decision_.inputs = std::move(inputs);
  decision_.outputs.resize(node.outputs().size());
}

Sharding PartitionContext::input(int index) const {
  return index < static_cast<int>(lying_.size()) ? lying_[static_cast<std::size_t>(index)] : Sharding::replicated();
}

std::vector<std::int64_t> PartitionContext::constant_input(int index) const {
  const graph::Value* value = node_.input(index);
  if (value == nullptr || !value->is_constant()) {
    refuse(text("its input ", index, " is computed, so it is not known before the batch is divided"));
  }
  return value->initial().to_int64s();
}

bool PartitionContext::any_sharded() const { return std::any_of(lying_.begin(), lying_.end(), is_sharded); }

void PartitionContext::need(int index, const Sharding& sharding) {
  const Sharding lying = input(index);
  if (lying == sharding || !has_input(index)) return;
  const bool can_be_made_whole = lying.kind != Sharding::Kind::local;
  if (!can_be_made_whole || !(sharding.is_replicated() || sharding.is_sharded())) {
    refuse(text("it needs '", node_.input(index)->name(), "' ", describe(sharding), ", but it is ", describe(lying)));
  }
  if (sharding.is_sharded() && !holds_samples(input_dims(index), sharding, samples_)) {
    refuse(text("'", node_.input(index)->name(), "' ", to_string(input_dims(index)), " has no axis ", sharding.axis,
                " for the samples"));
  }
  decision_.inputs[static_cast<std::size_t>(index)] = sharding;
}

void PartitionContext::need_all_replicated() {
  for (int i = 0; i < static_cast<int>(node_.inputs().size()); ++i) need_replicated(i);
}

void PartitionContext::give(int output, const Sharding& sharding) {
  if (output < static_cast<int>(decision_.outputs.size())) {
    decision_.outputs[static_cast<std::size_t>(output)] = sharding;
  }
}

void PartitionContext::give_all(const Sharding& sharding) {
  std::fill(decision_.outputs.begin(), decision_.outputs.end(), sharding);
}

void PartitionContext::refuse(const std::string& reason) const { throw CannotDivide{reason}; }

Decision decide_partition(const graph::Node& node, const std::vector<Sharding>& inputs, std::int64_t samples) {
  PartitionContext context(node, inputs, samples);
  const bool replicated =
      std::all_of(inputs.begin(), inputs.end(), [](const Sharding& s) { return s.is_replicated(); });
  if (replicated) return context.decision();
  std::string reason = "its operator works only on whole arrays";
  if (const PartitionRule rule = find_partition_rule(node.op_type(), node.domain())) {
    try {
      rule(context);
      check_outputs(context);
      return context.decision();
    } catch (const CannotDivide& refusal) {
      reason = refusal.reason;
    }
  }
  try {
    PartitionContext whole(node, inputs, samples);
    whole.need_all_replicated();
    return whole.decision();
  } catch (const CannotDivide& refusal) {
    fail(describe(node), ": the batch cannot be divided here: ", reason, "; and ", refusal.reason,
         "; train on one replica without gradient accumulation");
  }
}

PartitionRule find_partition_rule(std::string_view op_type, std::string_view domain) {
  const auto found = registry().find(Key(domain, op_type));
  return found == registry().end() ? nullptr : found->second;
}

PartitionRegistration::PartitionRegistration(const std::vector<std::string>& op_types, PartitionRule rule,
                                             std::string_view domain) {
  for (const std::string& op_type : op_types) {
    if (!registry().emplace(Key(domain, op_type), rule).second) {
      fail("two partition rules are registered for the operator ", op_type);
    }
  }
}

}  // namespace ort_train::passes
