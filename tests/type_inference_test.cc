#include "graph/builder.h"
#include "graph/onnx_io.h"
#include "graph/shape_inference.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::graph;
using namespace ort_train::test;

namespace {

std::unique_ptr<Graph> parse(const std::string& body) {
  return parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "ai.example" : 1, "ai.ort_train" : 1]>)" + body);
}

std::string type_of(const Graph& graph, const std::string& value) { return to_string(graph.at(value)->type()); }

using Integers = std::vector<std::int64_t>;

/// Types as messages print them: "float32[2,3]", "int64[]", "bool[2]".
Type type_from(const std::string& text) {
  const auto bracket = text.find('[');
  Type type;
  for (const DataType candidate : {DataType::float32, DataType::float64, DataType::int64, DataType::boolean}) {
    if (name_of(candidate) == text.substr(0, bracket)) type.dtype = candidate;
  }
  REQUIRE(type.dtype != DataType::undefined);
  type.shape.emplace();
  std::string extent;
  for (const char c : text.substr(bracket + 1)) {
    if (c != ',' && c != ']') {
      extent += c;
    } else if (!extent.empty()) {
      const bool number = extent.find_first_not_of("0123456789") == std::string::npos;
      type.shape->push_back(number ? Dimension(std::stoll(extent)) : Dimension(extent));
      extent.clear();
    }
  }
  return type;
}

/// The output types of a training operator on inputs of these types; "" leaves an input out.
std::vector<std::string> infer(const std::string& op_type, const std::vector<std::string>& inputs, int outputs,
                               Attributes attributes = {}) {
  Graph graph;
  graph.opsets[""] = 21;
  std::vector<Value*> values;
  values.reserve(inputs.size());
  for (const std::string& input : inputs) {
    values.push_back(input.empty() ? nullptr : graph.add_input(graph.unique_name("x"), type_from(input)));
  }
  std::vector<std::string> types;
  for (const Value* value : Builder(graph).emit_training_many(op_type, values, outputs, std::move(attributes))) {
    types.push_back(to_string(value->type()));
  }
  return types;
}

using Types = std::vector<std::string>;

const Attributes window = {{"kernel_shape", Integers{3, 3}}, {"strides", Integers{1, 1}}, {"pads", Integers(4, 1)}};

Attributes with(Attributes attributes, const std::string& name, Attribute value) {
  attributes[name] = std::move(value);
  return attributes;
}

}  // namespace

TEST_CASE("an error names the node, the operator and the input types") {
  CHECK_ERROR(parse("g (float[2,3] a, float[4,5] b) => (float[2,5] y) { [\"product\"] y = MatMul (a, b) }"),
              "MatMul 'product': its inputs do not fit (float32[2,3], float32[4,5])");
  CHECK_ERROR(parse("g (float[2,3] a, int64[3] b) => (float[2,3] y) { y = Add (a, b) }"),
              "Add 'y': its inputs do not fit (float32[2,3], int64[3])");
  CHECK_ERROR(parse("g (float[1,3,8,8] x, float[4,2,3,3] w) => (float[1,4,6,6] y) { y = Gemm (x, w) }"),
              "Gemm 'y': its inputs do not fit (float32[1,3,8,8], float32[4,2,3,3])");
  CHECK_ERROR(parse("g (float[2] x) => (float[2] y) { y = ai.ort_train.ReluGrad (x) }"), "ReluGrad");
}

TEST_CASE("symbols pass through, and constants decide shapes") {
  const auto graph = parse(R"(g (float[N,3,8,8] x, float[4,3,3,3] w) => (float[N,d] y)
      <int64[2] shape = {0, -1}, int64[1] axes = {1}> {
        c = Conv (x, w)
        r = Reshape (c, shape)
        u = Unsqueeze (r, axes)
        other = Constant <value = int64[3] {0, 12, -1}> ()
        o = Reshape (r, other)
        y = Relu (r)
      })");
  CHECK(type_of(*graph, "c") == "float32[N,4,6,6]");
  CHECK(type_of(*graph, "r") == "float32[N,144]");
  CHECK(type_of(*graph, "u") == "float32[N,1,144]");
  CHECK(type_of(*graph, "o") == "float32[N,12,12]");
  CHECK(type_of(*graph, "y") == "float32[N,144]");
}

TEST_CASE("inference overrules what a file claims of intermediate values") {
  const auto graph = parse(R"(g (float[2,3] x, int64[k] s) => (float[7,7] y) <float[9,9] a, float[5,5] r> {
      a = Relu (x)
      r = Reshape (a, s)
      y = Reshape (a, s)
    })");
  CHECK(type_of(*graph, "a") == "float32[2,3]");
  // Nobody knows the extents; only what is declared of an output stays, and it is not taken for known inside.
  CHECK(type_of(*graph, "r") == "float32[...]");
  CHECK(type_of(*graph, "y") == "float32[7,7]");
}

TEST_CASE("behind an operator that nobody knows, nothing is known") {
  const auto graph = parse(R"(g (float[2,3] x) => (float[2,3] y) {
      a = ai.example.Thing (x)
      b = Add (a, x)
      d, m = ai.ort_train.ConvGradWeight <kernel_shape = [1], weight_shape = [1,1,1]> (a, b)
      y = Relu (b)
    })");
  CHECK(graph->at("a")->type() == Type());
  CHECK(graph->at("b")->type() == Type());
  CHECK(graph->at("d")->type() == Type());
  CHECK(type_of(*graph, "y") == "float32[2,3]");
}

TEST_CASE("the number of inputs and their element types are checked before a schema reads them") {
  Graph graph;
  graph.opsets[""] = 21;
  Value* x = graph.add_input("x", Type(DataType::float32, Dims{2}));
  Value* i = graph.add_input("i", Type(DataType::int64, Dims{2}));
  Builder builder(graph);
  CHECK_ERROR(builder.emit("Concat", {}, {{"axis", std::int64_t{0}}}), "Concat 'Concat': its inputs do not fit");
  CHECK_ERROR(builder.emit("Relu", {x, x}), "Relu 'Relu': its inputs do not fit (float32[2], float32[2])");
  CHECK_ERROR(builder.emit("Gather", {x, x}), "Gather 'Gather': its inputs do not fit");
  CHECK_ERROR(builder.emit_training("ReluGrad", {x, i}), "ReluGrad 'ReluGrad' (ai.ort_train): its inputs do not fit");
  CHECK_ERROR(builder.emit_training("SoftmaxCrossEntropy", {x, x}), "its inputs do not fit");
}

TEST_CASE("training operators: convolution and pooling") {
  const std::string dy = "float32[N,4,8,8]", x = "float32[N,3,8,8]", w = "float32[4,3,3,3]";
  CHECK(infer("ConvGradInput", {dy, w}, 1, with(window, "input_shape", Integers{2, 3, 8, 8})) ==
        Types{"float32[2,3,8,8]"});
  CHECK(infer("ConvGradWeight", {dy, x}, 1, with(window, "weight_shape", Integers{4, 3, 3, 3})) == Types{w});
  CHECK(infer("ConvGradWeight", {dy, x}, 2, with(window, "weight_shape", Integers{4, 3, 3, 3})) ==
        Types{w, "float32[4]"});
  CHECK(infer("MaxPoolGrad", {dy, x, dy}, 1, window) == Types{x});
  CHECK(infer("AveragePoolGrad", {dy}, 1, with(window, "input_shape", Integers{2, 4, 8, 8})) ==
        Types{"float32[2,4,8,8]"});
  CHECK_ERROR(infer("ConvGradWeight", {"float32[4]", x}, 2, with(window, "weight_shape", Integers{4, 3, 3, 3})),
              "dY has no channel axis");
}

TEST_CASE("training operators: normalization") {
  const std::string x = "float64[N,3,8]", c = "float64[3]", rows = "float64[N,3,1]";
  CHECK(infer("BatchNormalizationTraining", {x, c, c, c, c}, 5) == Types{x, c, c, c, c});
  CHECK(infer("BatchNormalizationTraining", {x, c, c, c, c}, 1) == Types{x});
  CHECK(infer("BatchNormalizationGrad", {x, x, c, c, c}, 3) == Types{x, c, c});
  CHECK(infer("BatchNormalizationGrad", {x, x, c, c, c, x}, 1, {{"activation", std::string("Relu")}}) == Types{x});
  CHECK(infer("LayerNormalizationGrad", {x, x, "float64[8]", rows, rows}, 3) == Types{x, "float64[8]", "float64[8]"});
  CHECK(infer("InstanceNormalizationGrad", {x, x, c}, 3) == Types{x, c, c});
  CHECK(infer("LRNGrad", {x, x, x}, 1) == Types{x});
}

TEST_CASE("training operators: activations and dropout") {
  const std::string x = "float32[N,3]";
  for (const char* name : {"ReluGrad", "SigmoidGrad", "TanhGrad", "SoftmaxGrad", "LogSoftmaxGrad"}) {
    CHECK(infer(name, {x, x}, 1) == Types{x});
  }
  CHECK(infer("TrainingDropout", {x, "int64[]", "int64[]"}, 2) == Types{x, "bool[N,3]"});
  CHECK(infer("DropoutGrad", {x, "bool[N,3]"}, 1) == Types{x});
}

TEST_CASE("training operators: losses and metrics are scalars") {
  const std::string scores = "float32[N,10]", labels = "int64[N]", scalar = "float32[]";
  CHECK(infer("SoftmaxCrossEntropy", {scores, labels}, 3) == Types{scalar, scalar, scores});
  CHECK(infer("SoftmaxCrossEntropyGrad", {scalar, scores, labels}, 1) == Types{scores});
  CHECK(infer("NegativeLogLikelihood", {scores, labels}, 2) == Types{scalar, scalar});
  CHECK(infer("NegativeLogLikelihoodGrad", {scalar, scores, labels}, 1) == Types{scores});
  for (const std::string name :
       {"BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "SquaredError", "AbsoluteError"}) {
    CHECK(infer(name, {"float64[N,1]", "float64[N,1]"}, 2) == Types{"float64[]", "float64[]"});
    CHECK(infer(name + "Grad", {"float64[]", "float64[N,1]", "float64[N,1]"}, 1) == Types{"float64[N,1]"});
  }
  CHECK(infer("TopKCorrect", {scores, labels}, 2, {{"k", std::int64_t{5}}}) == Types{scalar, scalar});
  CHECK(infer("ThresholdCorrect", {scores, scores}, 2) == Types{scalar, scalar});
}

TEST_CASE("training operators: optimizers and indexing") {
  const std::string w = "float64[4,3]", rate = "float32[]";
  CHECK(infer("SgdUpdate", {w, w, rate}, 1) == Types{w});
  CHECK(infer("SgdUpdate", {w, w, rate, w}, 2, {{"momentum", 0.9F}}) == Types{w, w});
  CHECK(infer("AdamUpdate", {w, w, rate, "int64[]", w, w}, 3) == Types{w, w, w});
  const Attributes shape = {{"input_shape", Integers{5, 3}}};
  CHECK(infer("GatherGrad", {"float32[7,3]", "int64[7]"}, 1, shape) == Types{"float32[5,3]"});
  Attributes slice = shape;
  for (const char* name : {"starts", "ends", "axes", "steps"}) slice[name] = Integers{1};
  CHECK(infer("SliceGrad", {"float32[1,3]"}, 1, slice) == Types{"float32[5,3]"});
  CHECK(infer("PadGrad", {"float32[7,3]"}, 1, with(shape, "pads", Integers{1, 0, 1, 0})) == Types{"float32[5,3]"});
}
