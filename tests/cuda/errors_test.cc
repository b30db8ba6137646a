// Indices and class labels that are wrong, on the CPU and on a virtual GPU: both say the same about them, and neither
// is the worse for it in the next run.
#include <doctest/doctest.h>

#include <limits>
#include <regex>

#include "graph/onnx_io.h"
#include "runtime/cuda/device.h"
#include "runtime/executable.h"
#include "tests/kernel_case.h"

namespace ort_train::runtime {
namespace {

using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

struct DeviceCase {
  std::string name;
  std::unique_ptr<Device> device;
  CompileOptions options = {};
};

std::vector<DeviceCase> all_devices() {
  std::vector<DeviceCase> devices;
  devices.push_back({"cpu", make_cpu_device(1)});
  devices.push_back({"cuda", make_cuda_device(0, {.capture = false})});
  devices.push_back({"cuda, captured", make_cuda_device(0, {.capture = true})});
  devices.push_back({"cuda, kernels of the host", make_cuda_device(0), {.plain_kernels = true}});
  return devices;
}

/// A graph with an input "chosen" of indices or labels, whose type is written CHOSEN.
struct Operation {
  std::string node;  ///< as sentences name it
  std::string graph;
  std::map<std::string, Numbers> inputs;
  Integers chosen;
  std::size_t wrong_place;  ///< where a wrong number is put among the chosen ones
  std::int64_t extent;      ///< elements of the axis that it is an index of, or classes
  std::map<std::string, Numbers> outputs;
};

std::unique_ptr<graph::Graph> parse(const std::string& body, const std::string& chosen_type) {
  return graph::parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"ai.ort_train\" : 1]>\ng " +
                           std::regex_replace(body, std::regex("CHOSEN"), chosen_type));
}

template <typename T>
Tensor elements_of(const graph::Graph& graph, const std::string& name, const std::vector<T>& numbers) {
  const graph::Value& value = *graph.at(name);
  return Tensor::of<T>(value.dims(), numbers).cast(value.dtype());
}

/// One graph on one device.
class Runner {
 public:
  Runner(const Operation& operation, const std::string& chosen_type, const DeviceCase& place)
      : operation_(operation), graph_(parse(operation.graph, chosen_type)) {
    executable_ = place.device->compile(*graph_, place.device->make_state(), place.options);
    for (const auto& [name, numbers] : operation.inputs) {
      executable_->set_input(name, elements_of(*graph_, name, numbers));
    }
  }

  /// Empty where nothing is wrong.
  std::string error_of(const Integers& chosen) {
    try {
      run(chosen);
      for (const auto& [name, numbers] : operation_.outputs) executable_->output(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  void check_right() {
    run(operation_.chosen);
    for (const auto& [name, numbers] : operation_.outputs) {
      tests::check_array(executable_->output(name), graph_->at(name)->dims(), numbers);
    }
  }

 private:
  void run(const Integers& chosen) {
    executable_->set_input("chosen", elements_of(*graph_, "chosen", chosen));
    executable_->run();
  }

  const Operation& operation_;
  std::unique_ptr<graph::Graph> graph_;
  std::unique_ptr<Executable> executable_;
};

/// Numbers of the type around a range, and as far from it as they get.
Integers outside(std::int64_t first, std::int64_t behind, const std::string& type) {
  if (type == "int32") {
    using Limits = std::numeric_limits<std::int32_t>;
    return {behind, first - 1, Limits::max(), Limits::min()};
  }
  using Limits = std::numeric_limits<std::int64_t>;
  // The last two are lost where they are multiplied by a small number to make room for another one.
  return {behind, first - 1, Limits::max(), Limits::min(), std::int64_t{1} << 61, -(std::int64_t{1} << 60)};
}

using Sentence = std::function<std::string(const Operation&, std::int64_t)>;

std::string index_sentence(const Operation& operation, std::int64_t index) {
  return text(operation.node, ": the index ", index, " is outside an axis of ", operation.extent, " elements");
}

std::string label_sentence(const Operation& operation, std::int64_t label) {
  return text(operation.node, ": the label ", label, " is not one of the ", operation.extent, " classes 0 to ",
              operation.extent - 1);
}

/// A kernel on the GPU does not say where a label stands.
std::string without_position(const std::string& sentence) {
  return std::regex_replace(sentence, std::regex(" at position \\[[0-9,]*\\]"), "");
}

/// Wrong numbers in the first run, which is not captured, and among replays of the captured one.
void check_wrong_number(const Operation& operation, const std::string& type, std::int64_t number,
                        const DeviceCase& device, const Sentence& sentence) {
  Integers wrong = operation.chosen;
  wrong.at(operation.wrong_place) = number;
  const std::string expected = sentence(operation, number);
  Runner runner(operation, type, device);
  CHECK(without_position(runner.error_of(wrong)) == expected);
  runner.check_right();
  runner.check_right();
  CHECK(without_position(runner.error_of(wrong)) == expected);
  CHECK(without_position(runner.error_of(wrong)) == expected);
  runner.check_right();
}

void check_on_all_devices(const Operation& operation, const std::string& type, const Integers& wrong,
                          const Sentence& sentence) {
  for (const DeviceCase& device : all_devices()) {
    INFO(operation.graph, " of ", type, " on ", device.name);
    for (const std::int64_t number : wrong) check_wrong_number(operation, type, number, device, sentence);
  }
}

void check_indices(const Operation& operation) {
  for (const std::string type : {"int32", "int64"}) {
    check_on_all_devices(operation, type, outside(-operation.extent, operation.extent, type), index_sentence);
  }
}

void check_labels(const Operation& operation) {
  for (const std::string type : {"int32", "int64"}) {
    check_on_all_devices(operation, type, outside(0, operation.extent, type), label_sentence);
  }
}

const Numbers six{0, 1, 2, 3, 4, 5};

TEST_CASE("indices of Gather") {
  check_indices({"Gather 'node'",
                 "(float[3,2] x, CHOSEN[2] chosen) => (float[2,2] node) { node = Gather(x, chosen) }",
                 {{"x", six}},
                 {-1, 0},
                 1,
                 3,
                 {{"node", {4, 5, 0, 1}}}});
  check_indices({"Gather 'node'",
                 "(int8[2,3] x, CHOSEN chosen) => (int8[2] node) { node = Gather<axis = 1>(x, chosen) }",
                 {{"x", six}},
                 {-3},
                 0,
                 3,
                 {{"node", {0, 3}}}});
}

TEST_CASE("indices of Gather's gradient") {
  check_indices({"GatherGrad 'node' (ai.ort_train)",
                 "(float[3,2] dy, CHOSEN[3] chosen) => (float[2,2] node)"
                 " { node = ai.ort_train.GatherGrad<input_shape = [2, 2]>(dy, chosen) }",
                 {{"dy", six}},
                 {-1, 0, 1},
                 2,
                 2,
                 {{"node", {2, 3, 4, 6}}}});
}

TEST_CASE("indices of GatherElements") {
  check_indices({"GatherElements 'node'",
                 "(float[2,3] x, CHOSEN[2,2] chosen) => (float[2,2] node)"
                 " { node = GatherElements<axis = 1>(x, chosen) }",
                 {{"x", six}},
                 {-1, 0, -3, 1},
                 3,
                 3,
                 {{"node", {2, 0, 3, 4}}}});
}

TEST_CASE("indices of GatherND") {
  // Only int64 is allowed.
  const Operation pairs{"GatherND 'node'",
                        "(float[2,3] x, CHOSEN[2,2] chosen) => (float[2] node) { node = GatherND(x, chosen) }",
                        {{"x", six}},
                        {-1, 0, -2, -1},
                        3,
                        3,
                        {{"node", {3, 2}}}};
  const Operation batch{"GatherND 'node'",
                        "(float[2,3] x, CHOSEN[2,1] chosen) => (float[2] node)"
                        " { node = GatherND<batch_dims = 1>(x, chosen) }",
                        {{"x", six}},
                        {-1, 0},
                        1,
                        3,
                        {{"node", {2, 3}}}};
  for (const Operation& operation : {pairs, batch}) {
    check_on_all_devices(operation, "int64", outside(-3, 3, "int64"), index_sentence);
  }
}

TEST_CASE("indices of ScatterElements") {
  for (const std::string reduction : {"none", "add"}) {
    const bool adds = reduction == "add";
    check_indices({"ScatterElements 'node'",
                   "(float[2,3] x, CHOSEN[2,1] chosen, float[2,1] updates) => (float[2,3] node)"
                   " { node = ScatterElements<axis = 1, reduction = \"" +
                       reduction + "\">(x, chosen, updates) }",
                   {{"x", six}, {"updates", {10, 20}}},
                   {-1, 1},
                   1,
                   3,
                   {{"node", {0, 1, adds ? 12.0 : 10.0, 3, adds ? 24.0 : 20.0, 5}}}});
  }
}

TEST_CASE("indices of ScatterND") {
  for (const std::string reduction : {"none", "add"}) {
    const bool adds = reduction == "add";
    const Operation operation{"ScatterND 'node'",
                              "(float[2,3] x, CHOSEN[2,2] chosen, float[2] updates) => (float[2,3] node)"
                              " { node = ScatterND<reduction = \"" +
                                  reduction + "\">(x, chosen, updates) }",
                              {{"x", six}, {"updates", {10, 20}}},
                              {-2, -1, 1, 1},
                              3,
                              3,
                              {{"node", {0, 1, adds ? 12.0 : 10.0, 3, adds ? 24.0 : 20.0, 5}}}};
    check_on_all_devices(operation, "int64", outside(-3, 3, "int64"), index_sentence);
  }
}

TEST_CASE("a code of OneHot outside of the depth is no error") {
  for (const std::string type : {"int32", "int64"}) {
    for (const DeviceCase& device : all_devices()) {
      for (const std::int64_t code : outside(-2, 2, type)) {
        const Operation operation{"OneHot 'node'",
                                  "(CHOSEN[3] chosen, float[2] off_on) => (float[3,2] node)"
                                  " <int64 depth = {2}> { node = OneHot(chosen, depth, off_on) }",
                                  {{"off_on", {-1, 1}}},
                                  {-1, code, 0},
                                  0,
                                  2,
                                  {{"node", {-1, 1, -1, -1, 1, -1}}}};
        INFO(device.name, ": ", code);
        Runner(operation, type, device).check_right();
      }
    }
  }
}

TEST_CASE("of several nodes with wrong indices the first one is told") {
  // GatherElements of so many axes runs on the host.
  const std::string start =
      "(float[3,1,1,1,1,1,1,1,1] x, CHOSEN[1,1,1,1,1,1,1,1,1] chosen) => (float[1] one, float[1] two)"
      " <int64[1] all = {-1}> { ";
  const std::string end = " one = Reshape(node, all)  two = Reshape(other, all) }";
  for (const auto& [first, second] : {std::pair("Gather", "GatherElements"), std::pair("GatherElements", "Gather")}) {
    const std::string graph = text(start, "node = ", first, "(x, chosen)  other = ", second, "(x, chosen) ", end);
    check_on_all_devices({text(first, " 'node'"), graph, {{"x", {1, 2, 3}}}, {-1}, 0, 3, {{"one", {3}}, {"two", {3}}}},
                         "int64", {3}, index_sentence);
  }
}

// Scores of 0 make every class as likely as the others: the logarithm of one half.
constexpr double half = 0.69314718055994531;

TEST_CASE("labels of SoftmaxCrossEntropy") {
  check_labels({"SoftmaxCrossEntropy 'node' (ai.ort_train)",
                "(float[2,2,2] scores, CHOSEN[2,2] chosen) => (float node, float count)"
                " { node, count = ai.ort_train.SoftmaxCrossEntropy<ignore_index = -100>(scores, chosen) }",
                {{"scores", Numbers(8, 0)}},
                {1, 0, -100, 1},
                1,
                2,
                {{"node", {3 * half}}, {"count", {3}}}});
}

TEST_CASE("labels of SoftmaxCrossEntropy's gradient") {
  check_labels({"SoftmaxCrossEntropyGrad 'node' (ai.ort_train)",
                "(float sum, float[3,2] logarithms, CHOSEN[3] chosen) => (float[3,2] node)"
                " { node = ai.ort_train.SoftmaxCrossEntropyGrad<ignore_index = -5>(sum, logarithms, chosen) }",
                {{"sum", {2}}, {"logarithms", Numbers(6, -half)}},
                {1, -5, 0},
                2,
                2,
                {{"node", {1, -1, 0, 0, -1, 1}}}});
}

TEST_CASE("labels of NegativeLogLikelihood") {
  check_labels({"NegativeLogLikelihood 'node' (ai.ort_train)",
                "(float[3,2] logarithms, CHOSEN[3] chosen) => (float node, float count)"
                " { node, count = ai.ort_train.NegativeLogLikelihood<ignore_index = 1>(logarithms, chosen) }",
                {{"logarithms", {-1, -2, -3, -4, -5, -6}}},
                {0, 1, 0},
                1,
                2,
                {{"node", {6}}, {"count", {2}}}});
}

TEST_CASE("labels of NegativeLogLikelihood's gradient") {
  check_labels({"NegativeLogLikelihoodGrad 'node' (ai.ort_train)",
                "(float sum, float[3,2] logarithms, CHOSEN[3] chosen) => (float[3,2] node)"
                " { node = ai.ort_train.NegativeLogLikelihoodGrad<ignore_index = 3>(sum, logarithms, chosen) }",
                {{"sum", {2}}, {"logarithms", Numbers(6, -half)}},
                {1, 3, 0},
                0,
                2,
                {{"node", {0, -2, 0, 0, -2, 0}}}});
}

TEST_CASE("labels of TopKCorrect") {
  check_labels({"TopKCorrect 'node' (ai.ort_train)",
                "(float[3,3] scores, CHOSEN[3] chosen) => (float node, float count)"
                " { node, count = ai.ort_train.TopKCorrect<k = 2, ignore_index = -5>(scores, chosen) }",
                {{"scores", {1, 2, 3, 1, 2, 3, 1, 2, 3}}},
                {0, -5, 1},
                2,
                3,
                {{"node", {1}}, {"count", {2}}}});
}

}  // namespace
}  // namespace ort_train::runtime
