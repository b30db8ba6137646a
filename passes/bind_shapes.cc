#include "passes/bind_shapes.h"

#include "base/error.h"

namespace ort_train::passes {

using graph::Graph;
using graph::Value;

namespace {

// A number in the file binds the caller; symbols are the caller's to choose, the same one alike everywhere.
void check_fits(const Value& input, const Dims& dims, std::map<std::string, std::int64_t>& symbols) {
  if (!input.type().shape) return;
  const graph::Shape& declared = *input.type().shape;
  if (declared.size() != dims.size()) {
    fail("the input '", input.name(), "' is ", to_string(input.type()), ", but data of shape ", to_string(dims),
         " was given");
  }
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const graph::Dimension& extent = declared[axis];
    bool fits = true;
    if (extent.is_known()) fits = extent.value() == dims[axis];
    if (extent.is_symbol()) fits = symbols.emplace(extent.symbol(), dims[axis]).first->second == dims[axis];
    if (!fits) {
      fail("the input '", input.name(), "' is ", to_string(input.type()), ", but data of shape ", to_string(dims),
           " was given (axis ", axis, ")");
    }
  }
}

}  // namespace

bool BindShapes::run(Graph& graph) {
  std::map<std::string, std::int64_t> symbols;
  for (Value* input : graph.inputs()) {
    const auto given = input_dims_.find(input->name());
    if (given == input_dims_.end()) {
      if (input->type().is_static()) continue;
      fail("no extents were given for the input '", input->name(), "', ", to_string(input->type()));
    }
    check_fits(*input, given->second, symbols);
    input->set_type(graph::Type(input->dtype(), given->second));
  }
  // What the file claimed of intermediate values was for other extents.
  for (const auto& node : graph.nodes()) {
    for (Value* output : node->outputs()) {
      if (output != nullptr && !output->is_graph_output()) output->set_type(graph::Type(output->dtype()));
    }
  }
  return true;
}

}  // namespace ort_train::passes
