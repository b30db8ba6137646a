// Planned executables against the node-by-node interpreter: updates, aliasing, shared state, messages.
#include "runtime/executable.h"

#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "kernels/kernel.h"
#include "runtime/cuda/device.h"

namespace ort_train::runtime {
namespace {

using graph::Graph;
using graph::Role;

std::unique_ptr<Graph> parse(const std::string& body) {
  return graph::parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"ai.ort_train\" : 1]>\n" + body);
}

Tensor filled(const Dims& dims, float start = 1) {
  Tensor elements(DataType::float32, dims);
  for (std::int64_t i = 0; i < elements.size(); ++i)
    elements.data<float>()[i] = start + 0.25f * static_cast<float>(i % 7);
  return elements;
}

std::vector<float> floats(const Tensor& elements) {
  return {elements.values<float>().begin(), elements.values<float>().end()};
}

TEST_CASE("the device says what it is") { CHECK(make_cpu_device(2)->name() == "cpu (2 threads)"); }

TEST_CASE("a negative number of threads is refused") { CHECK_THROWS_AS(make_cpu_device(-1), Error); }

TEST_CASE("without CUDA a GPU is a clear error") {
  CHECK_THROWS_WITH_AS(make_cuda_device(0), doctest::Contains("--device cpu"), Error);
}

TEST_CASE("outputs are those of the interpreter, and inputs stay for the next run") {
  const auto graph = parse(R"(g (float[2,3] x) => (float[2,3] y, float[3,2] z, float[2,3] x)
    { a = Relu(x)  b = Add(a, x)  y = Mul(b, b)  z = Transpose<perm = [1,0]>(y) })");
  const auto device = make_cpu_device(2);
  const auto executable = device->compile(*graph, device->make_state());
  executable->set_input("x", filled({2, 3}, -1));
  for (int run = 0; run < 2; ++run) {
    executable->run();
    for (const auto& [name, expected] : kernels::interpret(*graph, {{"x", filled({2, 3}, -1)}})) {
      CHECK(executable->output(name).identical(expected));
    }
  }
}

TEST_CASE("memory is reused, and outputs take over what nobody needs") {
  const auto graph = parse(R"(g (float[64,64] x) => (float[64,64] y)
    { a = Exp(x)  b = Neg(a)  c = Exp(b)  d = Neg(c)  y = Exp(d) })");
  const auto device = make_cpu_device(1);
  const auto executable = device->compile(*graph, device->make_state());
  const std::size_t array = 64 * 64 * sizeof(float);
  CHECK(executable->report().sum_of_values_bytes == 6 * array);
  CHECK(executable->report().arena_bytes == 2 * array);
  CHECK(executable->report().in_place == 4);
  CHECK(executable->report().instructions == 5);
  CHECK(executable->report().reorders == 0);

  // Plain kernels do not work in place.
  const auto plain = device->compile(*graph, device->make_state(), {.plain_kernels = true});
  CHECK(plain->report().arena_bytes == 3 * array);
  CHECK(plain->report().in_place == 0);
}

TEST_CASE("a view costs no instruction, and its memory lives as long as it does") {
  const auto graph = parse(R"(g (float[2,6] x) => (float[3,4] z)
    <int64[2] shape = {3, 4}> { a = Neg(x)  v = Reshape(a, shape)  b = Neg(a)  c = Reshape(b, shape)  z = Add(v, c) })");
  const auto device = make_cpu_device(1);
  const auto executable = device->compile(*graph, device->make_state());
  executable->set_input("x", filled({2, 6}));
  executable->run();
  CHECK(floats(executable->output("z")) == std::vector<float>(12, 0.0f));
  CHECK(executable->report().instructions == 3);
}

// Parameters of a text graph come in as parameters; updates are added by hand.
std::unique_ptr<Graph> counter_graph() {
  auto graph = parse("g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Mul(w, x)  next = Add(w, x) }");
  graph->at("w")->set_role(Role::parameter);
  graph->add_update(graph->at("w"), graph->at("next"));
  return graph;
}

TEST_CASE("state takes its update when the step ends") {
  const auto graph = counter_graph();
  const auto device = make_cpu_device(1);
  const auto state = device->make_state();
  const auto executable = device->compile(*graph, state);
  CHECK(state->names() == std::vector<std::string>{"w"});
  CHECK(state->role("w") == Role::parameter);
  executable->set_input("x", Tensor::of<float>({3}, {10, 20, 30}));
  executable->run();
  CHECK(floats(executable->output("y")) == std::vector<float>{10, 40, 90});
  CHECK(floats(state->get("w")) == std::vector<float>{11, 22, 33});
  executable->run();
  CHECK(floats(executable->output("y")) == std::vector<float>{110, 440, 990});
  CHECK(floats(state->get("w")) == std::vector<float>{21, 42, 63});
  state->set("w", Tensor::of<float>({3}, {0, 0, 1}));
  executable->run();
  CHECK(floats(executable->output("y")) == std::vector<float>{0, 0, 30});
}

TEST_CASE("old state can be read after its successor is known") {
  auto graph = parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { next = Add(w, x)  y = Mul(w, next) }");
  graph->at("w")->set_role(Role::parameter);
  graph->add_update(graph->at("w"), graph->at("next"));
  const auto device = make_cpu_device(1);
  const auto state = device->make_state();
  const auto executable = device->compile(*graph, state);
  executable->set_input("x", Tensor::of<float>({2}, {5, 5}));
  executable->run();
  CHECK(floats(executable->output("y")) == std::vector<float>{6, 14});
  CHECK(floats(state->get("w")) == std::vector<float>{6, 7});
}

TEST_CASE("states can be exchanged, and an output that is state keeps the old elements") {
  auto graph = parse("g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> { y = Add(a, x) }");
  for (const char* name : {"a", "b"}) graph->at(name)->set_role(Role::parameter);
  graph->add_update(graph->at("a"), graph->at("b"));
  graph->add_update(graph->at("b"), graph->at("a"));
  graph->add_output(graph->at("a"));
  const auto device = make_cpu_device(1);
  const auto state = device->make_state();
  const auto executable = device->compile(*graph, state);
  executable->set_input("x", Tensor::of<float>({2}, {0, 0}));
  executable->run();
  CHECK(floats(executable->output("a")) == std::vector<float>{1, 2});
  CHECK(floats(state->get("a")) == std::vector<float>{3, 4});
  CHECK(floats(state->get("b")) == std::vector<float>{1, 2});
}

TEST_CASE("one value can be the successor of two states and an output as well") {
  auto graph =
      parse("g (float[2] x) => (float[2] next) <float[2] a = {1, 2}, float[2] b = {3, 4}> { next = Add(a, x) }");
  for (const char* name : {"a", "b"}) {
    graph->at(name)->set_role(Role::parameter);
    graph->add_update(graph->at(name), graph->at("next"));
  }
  const auto device = make_cpu_device(1);
  const auto state = device->make_state();
  const auto executable = device->compile(*graph, state);
  executable->set_input("x", Tensor::of<float>({2}, {1, 1}));
  executable->run();
  for (const char* name : {"a", "b"}) CHECK(floats(state->get(name)) == std::vector<float>{2, 3});
  CHECK(floats(executable->output("next")) == std::vector<float>{2, 3});
}

// A convolution whose weights live in a blocked layout, and a rule that moves them.
std::unique_ptr<Graph> shrinking_convolution(std::int64_t batch) {
  auto graph = std::make_unique<Graph>();
  graph->opsets[""] = 21;
  graph::Value* x = graph->add_input("x", graph::Type(DataType::float32, Dims{batch, 32, 6, 6}));
  graph::Value* w = graph->add_initializer("w", Role::parameter, filled({32, 32, 3, 3}), true);
  graph::Value* half = graph->add_constant("half", Tensor::scalar(0.5f));
  const Dims ones{1, 1}, pads{1, 1, 1, 1};
  graph->add_node("Conv", "", {x, w}, {"y"},
                  {{"kernel_shape", Dims{3, 3}}, {"pads", pads}, {"strides", ones}, {"dilations", ones}});
  graph->add_node("Mul", "", {w, half}, {"next"});
  graph->at("y")->set_type(graph::Type(DataType::float32, Dims{batch, 32, 6, 6}));
  graph->at("next")->set_type(graph::Type(DataType::float32, Dims{32, 32, 3, 3}));
  graph->add_output(graph->at("y"));
  graph->add_update(w, graph->at("next"));
  return graph;
}

TEST_CASE("executables of several batch sizes and kinds share one state") {
  const auto device = make_cpu_device(2);
  const auto state = device->make_state();
  const auto large = device->compile(*shrinking_convolution(8), state);
  const auto small = device->compile(*shrinking_convolution(3), state);
  const auto plain = device->compile(*shrinking_convolution(3), state, {.plain_kernels = true});
  CHECK(state->get("w").identical(filled({32, 32, 3, 3})));
  Tensor expected = filled({32, 32, 3, 3});
  for (Executable* executable : {large.get(), small.get(), plain.get(), large.get()}) {
    executable->run();
    for (std::int64_t i = 0; i < expected.size(); ++i) expected.data<float>()[i] *= 0.5f;
    CHECK(state->get("w").identical(expected));
  }
  small->set_input("x", filled({3, 32, 6, 6}));
  plain->set_input("x", filled({3, 32, 6, 6}));
  state->set("w", filled({32, 32, 3, 3}));
  small->run();
  state->set("w", filled({32, 32, 3, 3}));
  plain->run();
  const auto fast = small->output("y").to_doubles(), slow = plain->output("y").to_doubles();
  for (std::size_t i = 0; i < fast.size(); ++i) CHECK(fast[i] == doctest::Approx(slow[i]).epsilon(1e-5));
}

TEST_CASE("a second graph must agree with the state it finds") {
  const auto device = make_cpu_device(1);
  const auto state = device->make_state();
  device->compile(*counter_graph(), state);
  auto other = parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(w, x) }");
  other->at("w")->set_role(Role::parameter);
  CHECK_THROWS_WITH_AS(device->compile(*other, state), doctest::Contains("'w' exists already as float32[3]"), Error);
}

TEST_CASE("wrong inputs, outputs and states are named") {
  const auto device = make_cpu_device(1);
  const auto state = device->make_state();
  const auto executable = device->compile(*counter_graph(), state);
  CHECK_THROWS_WITH_AS(executable->set_input("q", filled({3})), doctest::Contains("its inputs are 'x'"), Error);
  CHECK_THROWS_WITH_AS(executable->set_input("x", filled({4})),
                       doctest::Contains("'x' is float32[3] and cannot take float32[4]"), Error);
  CHECK_THROWS_WITH_AS(executable->set_input("x", Tensor(DataType::int64, {3})), doctest::Contains("int64[3]"), Error);
  CHECK_THROWS_WITH_AS(executable->output("w"), doctest::Contains("its outputs are 'y'"), Error);
  CHECK_THROWS_WITH_AS(state->get("v"), doctest::Contains("no state 'v'"), Error);
  CHECK_THROWS_WITH_AS(state->set("w", filled({2})), doctest::Contains("'w' is float32[3]"), Error);
}

TEST_CASE("every node without a kernel is named at once") {
  Graph graph;
  graph.opsets["somewhere"] = 1;
  graph::Value* x = graph.add_input("x", graph::Type(DataType::float32, Dims{2}));
  for (const char* op : {"Frobnicate", "Grok"}) {
    graph.add_node(op, "somewhere", {x}, {std::string(op) + "_out"}, {}, std::string(op) + "_node");
    graph.at(std::string(op) + "_out")->set_type(graph::Type(DataType::float32, Dims{2}));
    graph.add_output(graph.at(std::string(op) + "_out"));
  }
  const auto device = make_cpu_device(1);
  std::string message;
  try {
    device->compile(graph, device->make_state());
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("Frobnicate_node") != std::string::npos);
  CHECK(message.find("Grok_node") != std::string::npos);
}

TEST_CASE("an error of a kernel names the node") {
  const auto graph = parse(R"(g (float[2,3] scores, int64[2] labels) => (float sum)
    { sum, count, log_probabilities = ai.ort_train.SoftmaxCrossEntropy(scores, labels) })");
  const auto device = make_cpu_device(1);
  const auto executable = device->compile(*graph, device->make_state());
  executable->set_input("labels", Tensor::of<std::int64_t>({2}, {0, 7}));
  CHECK_THROWS_WITH_AS(executable->run(), doctest::Contains("SoftmaxCrossEntropy"), Error);
}

TEST_CASE("a profile has a line for each instruction") {
  const auto device = make_cpu_device(1);
  const auto executable = device->compile(*counter_graph(), device->make_state(), {.profile = true});
  executable->run();
  executable->run();
  const auto profile = executable->profile();
  REQUIRE(profile.size() == executable->report().instructions);
  CHECK(profile[0].op_type == "Mul");
  CHECK(profile[0].kernel == "own flat");
  for (const ProfileEntry& entry : profile) {
    CHECK(entry.runs == 2);
    CHECK(entry.milliseconds > 0);
  }
}

}  // namespace
}  // namespace ort_train::runtime
