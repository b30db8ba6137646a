#include "passes/random_operators.h"

#include <bit>
#include <set>

#include "base/error.h"
#include "graph/builder.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

class Lowering {
 public:
  Lowering(Node& node, const RandomSource& source, std::int64_t stream)
      : node_(node), source_(source), stream_(stream), builder_(node.graph(), node.output()->name() + ".", &node) {}

  Value* run() {
    if (node_.is("Bernoulli")) return bernoulli();
    if (node_.is("Multinomial")) return multinomial();
    const bool like = node_.is("RandomNormalLike") || node_.is("RandomUniformLike");
    Attributes attributes;
    if (!like) attributes["shape"] = node_.integers("shape");
    if (node_.is("RandomNormal") || node_.is("RandomNormalLike")) {
      attributes["distribution"] = std::string("normal");
      attributes["mean"] = node_.real("mean", 0);
      attributes["scale"] = node_.real("scale", 1);
    } else {
      attributes["distribution"] = std::string("uniform");
      attributes["low"] = node_.real("low", 0);
      attributes["high"] = node_.real("high", 1);
    }
    const DataType fallback = like ? node_.input(0)->dtype() : DataType::float32;
    return values(like ? node_.input(0) : nullptr, asked_type(fallback), std::move(attributes));
  }

 private:
  DataType asked_type(DataType fallback) const {
    return static_cast<DataType>(node_.integer("dtype", static_cast<std::int64_t>(fallback)));
  }

  Value* values(Value* like, DataType dtype, Attributes attributes) {
    if (!is_floating_point(dtype)) fail(describe(node_), ": random numbers of type ", name_of(dtype), " do not exist");
    attributes["dtype"] = static_cast<std::int64_t>(dtype);
    attributes["seed"] = static_cast<std::int64_t>(source_.seed ^ own_seed());
    attributes["stream"] = stream_;
    return builder_.emit_training("RandomValues", {like, source_.step, source_.first_sample}, std::move(attributes));
  }

  // ONNX has it as a float; its bits stand above those of small seeds.
  std::uint64_t own_seed() const {
    return node_.has("seed") ? std::uint64_t{std::bit_cast<std::uint32_t>(node_.real("seed", 0))} << 32 : 0;
  }

  /// Input 0 in a type that holds a uniform number exactly.
  Value* exact_input() {
    Value* input = node_.input(0);
    return input->dtype() == DataType::float64 ? input : builder_.cast(input, DataType::float32);
  }

  Value* bernoulli() {
    Value* probability = exact_input();
    Value* number = values(probability, probability->dtype(), {{"distribution", std::string("uniform")}});
    return builder_.cast(builder_.emit("Less", {number, probability}), asked_type(node_.input(0)->dtype()));
  }

  // Scores are [batch, samples, classes].
  Value* multinomial() {
    Value* scores = builder_.emit("Unsqueeze", {exact_input(), builder_.int64s({1})});
    const Tensor zeros = Tensor(scores->dtype(), {1, node_.integer("sample_size", 1), 1});
    Value* repeated = builder_.add(scores, builder_.constant(zeros));
    Value* noise = values(repeated, scores->dtype(), {{"distribution", std::string("gumbel")}});
    Value* drawn = builder_.emit("ArgMax", {builder_.add(repeated, noise)},
                                 {{"axis", std::int64_t{2}}, {"keepdims", std::int64_t{0}}});
    return builder_.cast(drawn, asked_type(DataType::int32));
  }

  Node& node_;
  const RandomSource& source_;
  std::int64_t stream_;
  Builder builder_;
};

}  // namespace

bool is_random_operator(const Node& node) {
  static const std::set<std::string> operators = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                                  "RandomUniformLike", "Bernoulli",        "Multinomial"};
  return node.domain().empty() && operators.count(node.op_type()) != 0;
}

void lower_random_operator(Node& node, const RandomSource& source, std::int64_t stream) {
  Graph& graph = node.graph();
  Value* lowered = Lowering(node, source, stream).run();
  Value* output = node.output();
  const std::string name = output->name();
  graph.rename(output, graph.unique_name(name + ".open"));
  graph.rename(lowered, name);
  graph.replace_uses(output, lowered);
  graph.remove(&node);
}

}  // namespace ort_train::passes
