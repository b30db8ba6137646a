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

Format plain_format(const graph::Value* value) {
  return value == nullptr ? Format() : Format::plain(value->dtype(), value->dims());
}

std::vector<Format> plain_formats(const std::vector<graph::Value*>& values) {
  std::vector<Format> formats;
  formats.reserve(values.size());
  for (const graph::Value* value : values) formats.push_back(plain_format(value));
  return formats;
}

}  // namespace

Format Request::plain_input(std::size_t index) const { return plain_format(node.input(static_cast<int>(index))); }
Format Request::plain_output(std::size_t index) const { return plain_format(node.output(static_cast<int>(index))); }
std::vector<Format> Request::plain_inputs() const { return plain_formats(node.inputs()); }
std::vector<Format> Request::plain_outputs() const { return plain_formats(node.outputs()); }

bool Request::all_of_type(DataType dtype) const {
  for (const auto* values : {&node.inputs(), &node.outputs()}) {
    for (const graph::Value* value : *values) {
      if (value != nullptr && value->dtype() != dtype) return false;
    }
  }
  return true;
}

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
