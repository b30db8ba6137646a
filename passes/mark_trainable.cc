#include "passes/mark_trainable.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/error.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Role;
using graph::Value;

namespace {

bool can_train(const Value* value) {
  return value->role() == Role::parameter && !value->uses().empty() &&
         (value->dtype() == DataType::float32 || value->dtype() == DataType::float64);
}

bool matches(const std::string& glob, const Value* value) {
  const auto match = [&](const std::string& name) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; };
  if (match(value->name())) return true;
  return std::any_of(value->uses().begin(), value->uses().end(),
                     [&](const graph::Use& use) { return !use.node->name().empty() && match(use.node->name()); });
}

std::vector<Value*> select(const std::vector<Value*>& parameters, const std::string& glob, const char* key) {
  std::vector<Value*> chosen;
  std::copy_if(parameters.begin(), parameters.end(), std::back_inserter(chosen),
               [&](const Value* value) { return matches(glob, value); });
  if (!chosen.empty()) return chosen;
  std::string known;
  for (std::size_t i = 0; i < parameters.size() && i < 8; ++i) known += (i == 0 ? "" : ", ") + parameters[i]->name();
  fail_usage(key, ": '", glob, "' matches no parameter and no node; parameters are ", known,
             parameters.size() > 8 ? ", ..." : "");
}

void mark_exact(Graph& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Value* value = graph.find(name);
    if (value == nullptr || !value->is_initializer()) fail("the model has no initializer named '", name, "'");
    // Whoever names a constant as trainable knows better than the roles guessed from its uses.
    if (value->role() == Role::constant) value->set_role(Role::parameter);
    value->set_trainable(true);
  }
}

}  // namespace

bool MarkTrainable::run(Graph& graph) {
  if (exact_) {
    mark_exact(graph, *exact_);
    return !exact_->empty();
  }
  std::vector<Value*> parameters;
  std::copy_if(graph.initializers().begin(), graph.initializers().end(), std::back_inserter(parameters), can_train);
  for (Value* value : parameters) value->set_trainable(trainable_.empty());
  for (const std::string& glob : trainable_) {
    for (Value* value : select(parameters, glob, "trainable")) value->set_trainable(true);
  }
  for (const std::string& glob : freeze_) {
    for (Value* value : select(parameters, glob, "freeze")) value->set_trainable(false);
  }
  if (graph.trainable_parameters().empty()) fail_usage("nothing is left to train: every parameter is frozen");
  return true;
}

}  // namespace ort_train::passes
