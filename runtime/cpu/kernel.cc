#include "runtime/cpu/kernel.h"

#include <map>
#include <utility>

#include "kernels/kernel.h"
#include "passes/collectives.h"
#include "runtime/cpu/plain_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, Factory>& registry() {
  static std::map<Key, Factory> factories;
  return factories;
}

}  // namespace

FactoryRegistration::FactoryRegistration(const std::string& op_type, Factory factory, std::string_view domain) {
  if (!registry().emplace(Key(domain, op_type), factory).second) {
    fail("two CPU kernel factories are registered for the operator ", op_type);
  }
}

bool has_kernel(const graph::Node& node) { return kernels::find_kernel(node.op_type(), node.domain()) != nullptr; }

std::unique_ptr<Kernel> make_kernel(const Request& request, bool plain_only) {
  // The plain kernel of a collective node knows one replica only.
  if (!plain_only || passes::is_collective(request.node)) {
    const auto found = registry().find(Key(request.node.domain(), request.node.op_type()));
    if (found != registry().end()) {
      if (auto kernel = found->second(request)) return kernel;
    }
  }
  return make_plain_kernel(request);
}

}  // namespace ort_train::runtime::cpu
