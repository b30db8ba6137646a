#include "runtime/cuda/kernel.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "passes/collectives.h"
#include "runtime/cuda/host_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

using Key = std::pair<std::string, std::string>;

struct Candidate {
  Factory factory;
  int priority;
};

std::map<Key, std::vector<Candidate>>& registry() {
  static std::map<Key, std::vector<Candidate>> factories;
  return factories;
}

bool has_empty_array(const graph::Node& node) {
  for (const auto* values : {&node.inputs(), &node.outputs()}) {
    for (const graph::Value* value : *values) {
      if (value != nullptr && element_count(value->dims()) == 0) return true;
    }
  }
  return false;
}

}  // namespace

FactoryRegistration::FactoryRegistration(const std::string& op_type, Factory factory, int priority,
                                         std::string_view domain) {
  std::vector<Candidate>& candidates = registry()[Key(domain, op_type)];
  candidates.push_back({factory, priority});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.priority > b.priority; });
}

bool has_kernel(const graph::Node& node) { return kernels::find_kernel(node.op_type(), node.domain()) != nullptr; }

std::unique_ptr<Kernel> make_kernel(const Request& request, bool host_only) {
  const bool is_collective = passes::is_collective(request.node);
  if (is_collective || (!host_only && !has_empty_array(request.node))) {
    const auto found = registry().find(Key(request.node.domain(), request.node.op_type()));
    if (found != registry().end()) {
      for (const Candidate& candidate : found->second) {
        if (auto kernel = candidate.factory(request)) return kernel;
      }
    }
  }
  return make_host_kernel(request);
}

}  // namespace ort_train::runtime::cuda
