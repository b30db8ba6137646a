#include "passes/free_batch_size.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/constant_elements.h"
#include "graph/shape_inference.h"

namespace ort_train::passes {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

using Integers = std::vector<std::int64_t>;

// Nothing when the batch is symbolic, or when the inputs do not agree on it.
std::optional<std::int64_t> baked_batch_size(const Graph& graph) {
  std::optional<std::int64_t> size;
  for (const Value* input : graph.inputs()) {
    const auto& shape = input->type().shape;
    if (!shape) return {};
    if (shape->empty()) continue;
    if (!shape->front().is_known() || (size && *size != shape->front().value())) return {};
    size = shape->front().value();
  }
  return size;
}

class Rewriter {
 public:
  Rewriter(Graph& graph, std::int64_t batch) : graph_(graph), batch_(batch) {}

  void run() {
    for (const Value* input : graph_.inputs()) of_batch_.insert(input);
    for (Node* node : graph_.node_list()) {
      if (node->is("Reshape")) free_reshape(*node);
      if (node->is("Expand") || node->is("ConstantOfShape")) free_filled(*node);
      const bool depends = std::any_of(node->inputs().begin(), node->inputs().end(),
                                       [&](const Value* input) { return of_batch_.count(input) != 0; });
      if (depends) of_batch_.insert(node->outputs().begin(), node->outputs().end());
    }
  }

 private:
  // 0 copies the extent of the input; -1 takes what is left.
  void free_reshape(Node& node) {
    const Tensor* shape = graph::constant_elements(node.input(1));
    const Value* data = node.input(0);
    if (shape == nullptr || shape->size() == 0 || of_batch_.count(data) == 0) return;
    if (!data->type().is_static() || !node.output()->type().is_static() || node.integer("allowzero", 0) != 0) return;
    const Dims from = data->dims(), to = node.output()->dims();
    Integers wanted = shape->to_int64s();
    if (wanted[0] <= 0) return;
    if (to[0] == batch_ && !from.empty() && from[0] == batch_) {
      wanted[0] = 0;
    } else if (to[0] % batch_ == 0) {
      for (std::size_t axis = 1; axis < wanted.size(); ++axis) wanted[axis] = to[axis];
      wanted[0] = -1;
    } else {
      return;
    }
    node.set_input(1, graph_.add_constant(node.output()->name() + ".shape", Tensor::of_int64s(wanted)));
  }

  // The shape of a broadcast or a filled array is put together from the batch of an input at run time.
  void free_filled(Node& node) {
    const int index = node.is("Expand") ? 1 : 0;
    const Tensor* shape = graph::constant_elements(node.input(index));
    if (shape == nullptr || shape->size() == 0 || batch_ == 1) return;
    const Integers wanted = shape->to_int64s();
    if (wanted[0] != batch_) return;
    const std::string name = node.output()->name();
    Builder builder(graph_, name + ".", &node);
    Value* batch = builder.emit("Gather", {builder.emit("Shape", {graph_.inputs().front()}), builder.int64s({0})});
    Value* rest = builder.int64s(Integers(wanted.begin() + 1, wanted.end()));
    node.set_input(index, builder.emit("Concat", {batch, rest}, {{"axis", std::int64_t{0}}}));
  }

  Graph& graph_;
  std::int64_t batch_;
  std::unordered_set<const Value*> of_batch_;
};

bool has_axis_0(const graph::Type& type) { return type.shape && !type.shape->empty(); }

void name_axis_0(Value* value) {
  graph::Shape shape = *value->type().shape;
  shape[0] = std::string("N");
  value->set_type(graph::Type(value->dtype(), std::move(shape)));
}

// Inference says what became of an output's extents; where it cannot, the file's word stands, less the baked number.
void free_output(Value* output, const graph::Type& declared, std::int64_t batch) {
  if (!output->type().shape) output->set_type(declared);
  const bool was_batch = has_axis_0(declared) && (*declared.shape)[0] == graph::Dimension(batch);
  if (was_batch && has_axis_0(output->type())) name_axis_0(output);
}

}  // namespace

bool FreeBatchSize::run(Graph& graph) {
  const auto batch = baked_batch_size(graph);
  if (!batch) return false;
  graph::infer_types(graph);
  std::vector<graph::Type> declared;
  for (const Value* output : graph.outputs()) declared.push_back(output->type());
  Rewriter(graph, *batch).run();
  for (Value* input : graph.inputs()) {
    if (has_axis_0(input->type())) name_axis_0(input);
  }
  graph::infer_types(graph);
  for (std::size_t i = 0; i < declared.size(); ++i) free_output(graph.outputs()[i], declared[i], *batch);
  return true;
}

}  // namespace ort_train::passes
