// Collective nodes in the CPU runtime: values on several replicas, what is produced inside buckets, when is waited.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <thread>

#include "graph/builder.h"
#include "graph/onnx_io.h"
#include "kernels/kernel.h"
#include "runtime/collectives/group.h"
#include "runtime/executable.h"

namespace ort_train::runtime {
namespace {

using graph::Graph;
using graph::Role;

std::unique_ptr<Graph> parse(const std::string& body) {
  return graph::parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"ai.ort_train\" : 1]>\n" + body);
}

std::unique_ptr<Graph> with_update(std::unique_ptr<Graph> graph, const std::string& state, const std::string& next) {
  graph->at(state)->set_role(Role::parameter);
  graph->add_update(graph->at(state), graph->at(next));
  return graph;
}

Tensor filled(const Dims& dims, float start) {
  Tensor elements(DataType::float32, dims);
  for (std::int64_t i = 0; i < elements.size(); ++i) {
    elements.data<float>()[i] = start + 0.25f * static_cast<float>(i % 7);
  }
  return elements;
}

std::vector<float> floats(const Tensor& elements) {
  return {elements.values<float>().begin(), elements.values<float>().end()};
}

Tensor scaled(const Tensor& elements, float factor) {
  Tensor result = elements.clone();
  for (std::int64_t i = 0; i < result.size(); ++i) result.data<float>()[i] *= factor;
  return result;
}

/// Runs `body(replica)` for each of these, on a thread each; gives what they threw, "" for nothing.
template <typename Body>
std::vector<std::string> on_threads(int replicas, const Body& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(replicas));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(replicas));
  for (int replica = 0; replica < replicas; ++replica) {
    threads.emplace_back([&, replica] {
      try {
        body(replica);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(replica)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

std::vector<std::unique_ptr<Collective>> replicas_of_one_process(int replicas) {
  return make_collectives({1, 0, replicas}, {.timeout_seconds = 30});
}

/// What one replica has after some steps.
struct Outcome {
  std::map<std::string, Tensor> values;  ///< outputs and states
  PlanReport report;
};

/// Runs a graph on `replicas` threads. `graph_of` and `feeds_of` say what each replica has.
template <typename GraphOf, typename FeedsOf>
std::vector<Outcome> run_replicas(int replicas, const GraphOf& graph_of, const FeedsOf& feeds_of, int steps = 1) {
  const auto collectives = replicas_of_one_process(replicas);
  std::vector<Outcome> outcomes(static_cast<std::size_t>(replicas));
  const auto errors = on_threads(replicas, [&](int replica) {
    const auto device = make_cpu_device(1);
    const auto state = device->make_state();
    const std::unique_ptr<Graph> graph = graph_of(replica);
    CompileOptions options;
    options.collective = collectives[static_cast<std::size_t>(replica)].get();
    const auto executable = device->compile(*graph, state, options);
    for (const auto& [name, elements] : std::map<std::string, Tensor>(feeds_of(replica))) {
      executable->set_input(name, elements);
    }
    for (int step = 0; step < steps; ++step) executable->run();
    Outcome& outcome = outcomes[static_cast<std::size_t>(replica)];
    for (const graph::Value* output : graph->outputs())
      outcome.values[output->name()] = executable->output(output->name());
    for (const std::string& name : state->names()) outcome.values[name] = state->get(name);
    outcome.report = executable->report();
  });
  for (const std::string& error : errors) REQUIRE(error == "");
  return outcomes;
}

/// As if all of `replicas` replicas had the same elements. Nothing happens before it is waited for: until then the
/// memory of an operation holds NaN, which shows up where somebody reads it too early, and what somebody writes there
/// too early is lost.
class LateCollective : public Collective {
 public:
  explicit LateCollective(int replicas = 1) : replicas_(replicas) {}

  int rank() const override { return 0; }
  int replicas() const override { return replicas_; }
  Ticket all_reduce(DataType dtype, void* memory, std::size_t count) override {
    REQUIRE(dtype == DataType::float32);
    auto* elements = static_cast<float*>(memory);
    for (std::size_t i = 0; i < count; ++i) summed.push_back(elements[i]);
    return add(elements, times(elements, count));
  }
  Ticket broadcast(DataType, void*, std::size_t, int) override { return add(nullptr, {}); }
  Ticket reduce_scatter(DataType dtype, const void* memory, void* part, std::size_t part_count) override {
    REQUIRE(dtype == DataType::float32);
    const auto* elements = static_cast<const float*>(memory);
    return add(static_cast<float*>(part), times(elements, part_count));
  }
  Ticket all_gather(DataType dtype, const void* part, void* memory, std::size_t part_count) override {
    REQUIRE(dtype == DataType::float32);
    const auto* elements = static_cast<const float*>(part);
    std::vector<float> all;
    for (int i = 0; i < replicas_; ++i) all.insert(all.end(), elements, elements + part_count);
    return add(static_cast<float*>(memory), all);
  }
  Ticket barrier() override { return add(nullptr, {}); }
  void wait(Ticket ticket) override {
    std::this_thread::sleep_for(delay);
    Operation& operation = operations_.at(ticket);
    if (operation.target != nullptr) {
      std::copy(operation.result.begin(), operation.result.end(), operation.target);
    }
    operation.target = nullptr;
    ++waits;
    if (!reason.empty()) fail(reason);
  }
  void abort(const std::string& why) noexcept override { reason = why; }
  void throw_if_failed() override {
    if (!reason.empty()) fail(reason);
  }
  double timeout_seconds() const override { return 1; }
  Statistics statistics() const override { return {operations_.size(), 0, 0, 0}; }

  std::size_t started() const { return operations_.size(); }

  std::chrono::milliseconds delay{0};
  std::size_t waits = 0;
  std::string reason;
  std::vector<float> summed;  ///< every element that was given to all_reduce, gaps included

 private:
  struct Operation {
    float* target;
    std::vector<float> result;
  };

  std::vector<float> times(const float* elements, std::size_t count) const {
    std::vector<float> result(elements, elements + count);
    for (float& element : result) element *= static_cast<float>(replicas_);
    return result;
  }
  Ticket add(float* target, std::vector<float> result) {
    std::fill_n(target, result.size(), std::numeric_limits<float>::quiet_NaN());
    operations_.push_back({target, std::move(result)});
    return operations_.size() - 1;
  }

  int replicas_;
  std::vector<Operation> operations_;
};

/// One executable with a collective of its own.
struct Late {
  explicit Late(std::unique_ptr<Graph> its_graph, int replicas = 1, bool plain = false)
      : graph(std::move(its_graph)), collective(replicas), state(device->make_state()) {
    CompileOptions options;
    options.collective = &collective;
    options.plain_kernels = plain;
    options.profile = true;
    executable = device->compile(*graph, state, options);
  }
  std::vector<std::string> order() const {
    std::vector<std::string> types;
    for (const ProfileEntry& entry : executable->profile()) types.push_back(entry.op_type);
    return types;
  }

  std::unique_ptr<Graph> graph;
  LateCollective collective;
  std::unique_ptr<Device> device = make_cpu_device(1);
  std::shared_ptr<State> state;
  std::unique_ptr<Executable> executable;
};

TEST_CASE("a bucket of several operands is one sum, and its operands are produced inside it") {
  const std::string text = R"(g (float[2,3] x) => (float[6] y, float[2,3] z) <int64[1] flat = {6}> {
    a = Neg(x)  v = Reshape(a, flat)  b = Mul(x, x)
    s, t = ai.ort_train.AllReduce(v, b)
    y = Neg(s)  z = Neg(t) })";
  for (const int replicas : {1, 2, 3}) {
    const auto outcomes = run_replicas(
        replicas, [&](int) { return parse(text); },
        [](int replica) {
          return std::map<std::string, Tensor>{{"x", filled({2, 3}, static_cast<float>(replica))}};
        },
        3);
    std::vector<float> y(6, 0), z(6, 0);
    for (int replica = 0; replica < replicas; ++replica) {
      for (std::size_t i = 0; i < 6; ++i) {
        const float x = static_cast<float>(replica) + 0.25f * static_cast<float>(i);
        y[i] += x;
        z[i] -= x * x;
      }
    }
    for (const Outcome& outcome : outcomes) {
      CHECK(floats(outcome.values.at("y")) == y);
      CHECK(floats(outcome.values.at("z")) == z);
      CHECK(outcome.report.collectives == 1);
      CHECK(outcome.report.operands_in_place == 2);
      CHECK(outcome.report.operands_copied == 0);
      CHECK(outcome.report.bucket_bytes == 64 + 24);
      CHECK(outcome.report.reduced_bytes == 64 + 24);
    }
  }
}

TEST_CASE("sums of float64, and of arrays without elements") {
  const auto outcomes = run_replicas(
      2,
      [](int) {
        return parse(R"(g (double[3] x, double[0,2] n) => (double[3] y, double[0,2] m, double[0,2] k) {
          a = Neg(x)  b = Neg(n)  s, m = ai.ort_train.AllReduce(a, b)  k = ai.ort_train.AllReduce(n)  y = Neg(s) })");
      },
      [](int replica) {
        return std::map<std::string, Tensor>{{"x", Tensor::of<double>({3}, {1e-10 * replica, 1, 2})},
                                             {"n", Tensor(DataType::float64, {0, 2})}};
      });
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.values.at("y").to_doubles() == std::vector<double>{1e-10, 2, 4});
    CHECK(outcome.values.at("m").dims() == Dims{0, 2});
    CHECK(outcome.report.reduced_bytes == 3 * sizeof(double) + 40);
  }
}

TEST_CASE("what must keep its elements is copied into the bucket") {
  // An input, state, a constant, an operand twice, one that is read later, one that is an output, and a sum.
  auto graph =
      parse(R"(g (float[5] x) => (float[5] y, float[5] o) <float[5] w = {1,2,3,4,5}, float[5] c = {1,1,1,1,1}> {
    a = Neg(x)  l = Mul(x, x)  o = Add(x, x)
    sx, sw, sc, sa, sa2, sl, so = ai.ort_train.AllReduce(x, w, c, a, a, l, o)
    again = ai.ort_train.AllReduce(sx)
    b = Add(again, sw)  d = Add(sc, sa)  e = Add(sa2, sl)  f = Add(so, l)
    bd = Add(b, d)  ef = Add(e, f)  y = Add(bd, ef) })");
  graph->at("w")->set_role(Role::parameter);
  const Tensor x = filled({5}, 2);
  for (const bool plain : {false, true}) {
    Late late(graph->clone(), 1, plain);
    late.executable->set_input("x", x);
    for (int run = 0; run < 2; ++run) {
      late.executable->run();
      for (const auto& [name, expected] : kernels::interpret(*graph, {{"x", x}})) {
        CHECK(late.executable->output(name).identical(expected));
      }
      CHECK(floats(late.state->get("w")) == std::vector<float>{1, 2, 3, 4, 5});
    }
    CHECK(late.executable->report().collectives == 2);
    CHECK(late.executable->report().operands_in_place == 1);  // 'a', the first time
    CHECK(late.executable->report().operands_copied == 7);
  }
}

TEST_CASE("gaps between the operands hold zeros, whatever lay there before") {
  // NaN fills the arena, then dies.
  const auto graph = parse(R"(g (float[512] x, float[1] p, float[3] q) => (float[1] s, float[3] t, float[3] u) {
    n = Neg(x)  r = Sqrt(n)  m = ReduceMin<keepdims = 0>(x)
    e = Exp(r)  k = IsNaN(e)  f = Cast<to = 1>(k)  h = ReduceSum<keepdims = 0>(f)
    a = Add(p, h)  b = Mul(q, m)
    s, t, u = ai.ort_train.AllReduce(a, b, q) })");
  Late late(graph->clone());
  late.executable->set_input("x", filled({512}, 1));
  late.executable->set_input("p", filled({1}, 1));
  late.executable->set_input("q", filled({3}, 1));
  late.executable->run();
  CHECK(floats(late.executable->output("s")) == std::vector<float>{513});
  REQUIRE(late.collective.summed.size() == 16 + 16 + 3);
  for (std::size_t i = 1; i < 16; ++i) CHECK(late.collective.summed[i] == 0);
  for (std::size_t i = 19; i < 32; ++i) CHECK(late.collective.summed[i] == 0);
}

TEST_CASE("instructions that need no sum run before it is waited for") {
  const auto graph = parse(R"(g (float[8] x) => (float[8] y, float[8] z) <int64[2] grid = {2, 4}, int64[1] flat = {8}> {
    a = Neg(x)  s = ai.ort_train.AllReduce(a)  v = Reshape(s, grid)
    b = Exp(x)  c = Mul(b, b)  z = Sqrt(c)
    w = Mul(v, v)  y = Reshape(w, flat) })");
  Late late(graph->clone());
  late.collective.delay = std::chrono::milliseconds(20);
  late.executable->set_input("x", filled({8}, 1));
  late.executable->run();
  CHECK(late.order() == std::vector<std::string>{"Neg", "AllReduce", "Exp", "Mul", "Sqrt", "AllReduce (wait)", "Mul"});
  for (const auto& [name, expected] : kernels::interpret(*graph, {{"x", filled({8}, 1)}})) {
    const Tensor computed = late.executable->output(name);
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      CHECK(computed.data<float>()[i] == doctest::Approx(expected.data<float>()[i]).epsilon(1e-5));
    }
  }
  for (const ProfileEntry& entry : late.executable->profile()) {
    if (entry.op_type == "AllReduce (wait)") {
      CHECK(entry.milliseconds >= 19);
      CHECK(entry.node == late.executable->profile()[1].node);
    }
    if (entry.op_type == "AllReduce") CHECK(entry.milliseconds < 19);
  }
}

TEST_CASE("a sum that nobody reads is waited for at the end of the step") {
  const auto graph =
      parse("g (float[8] x) => (float[8] y) { a = Neg(x)  s = ai.ort_train.AllReduce(a)  y = Mul(x, x) }");
  Late late(graph->clone());
  late.executable->set_input("x", filled({8}, 1));
  late.executable->run();
  CHECK(late.order() == std::vector<std::string>{"Neg", "AllReduce", "Mul", "AllReduce (wait)"});
  CHECK(late.collective.waits == 1);
}

/// Elementwise nodes, views and sums in random order, over a few arrays of few shapes.
std::unique_ptr<Graph> random_graph(std::mt19937& random) {
  auto graph = std::make_unique<Graph>();
  graph->opsets[""] = 21;
  graph->opsets[std::string(graph::training_domain)] = 1;
  graph::Builder builder(*graph);
  const std::vector<Dims> shapes = {{2, 12}, {24}, {4, 6}};
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::vector<graph::Value*> values;
  values.push_back(graph->add_input("x", graph::Type(DataType::float32, Dims{24})));
  values.push_back(graph->add_initializer("w", Role::parameter, filled({24}, -1), true));
  const std::size_t nodes = 6 + pick(20);
  for (std::size_t i = 0; i < nodes; ++i) {
    graph::Value* a = values[pick(values.size())];
    switch (random() % 6) {
      case 0: values.push_back(builder.emit("Neg", {a})); break;
      case 1: values.push_back(builder.emit("Identity", {a})); break;
      case 2: values.push_back(builder.reshape(a, shapes[pick(shapes.size())])); break;
      case 3:
        values.push_back(builder.emit("Sub", {a, builder.reshape(values[pick(values.size())], a->dims())}));
        break;
      default: {
        std::vector<graph::Value*> operands;
        const std::size_t count = 1 + pick(4);
        for (std::size_t operand = 0; operand < count; ++operand) operands.push_back(values[pick(values.size())]);
        const auto sums = builder.emit_training_many("AllReduce", operands, static_cast<int>(count));
        values.insert(values.end(), sums.begin(), sums.end());
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    graph::Value* output = values[2 + pick(values.size() - 2)];
    graph->add_output(builder.emit("Identity", {output}));
  }
  graph::Value* next = values[2 + pick(values.size() - 2)];
  graph->add_update(graph->at("w"), next->dims() == Dims{24} ? next : builder.reshape(next, {24}));
  return graph;
}

TEST_CASE("random graphs: nobody touches what a collective works on") {
  std::mt19937 random(5);
  std::size_t in_place = 0, copied = 0;
  for (int round = 0; round < 300; ++round) {
    const auto graph = random_graph(random);
    Late late(graph->clone());
    late.executable->set_input("x", filled({24}, 1));
    in_place += late.executable->report().operands_in_place;
    copied += late.executable->report().operands_copied;
    for (int run = 0; run < 2; ++run) {
      auto expected = kernels::interpret(*graph, {{"x", filled({24}, 1)}, {"w", late.state->get("w")}});
      late.executable->run();
      CHECK(late.collective.waits == late.collective.started());
      for (const graph::Value* output : graph->outputs()) {
        CHECK(late.executable->output(output->name()).identical(expected.at(output->name())));
      }
      CHECK(late.state->get("w").identical(expected.at("w")));
    }
  }
  CHECK(in_place > 100);
  CHECK(copied > 100);
}

TEST_CASE("a running statistic takes the sum over replicas") {
  const auto graph_of = [](int) {
    return with_update(parse(R"(g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> {
        a = Add(w, x)  s = ai.ort_train.AllReduce(a)  y = Neg(x) })"),
                       "w", "s");
  };
  const auto outcomes = run_replicas(2, graph_of, [](int replica) {
    return std::map<std::string, Tensor>{{"x", Tensor::of<float>({3}, {1.0f + static_cast<float>(replica), 0, 0})}};
  });
  for (const Outcome& outcome : outcomes) {
    CHECK(floats(outcome.values.at("w")) == std::vector<float>{5, 4, 6});
    CHECK(outcome.report.operands_in_place == 1);
  }
}

TEST_CASE("a state takes the elements of its own replica where an operand is its update") {
  for (const std::string next : {"a", "v"}) {
    const auto graph_of = [&](int) {
      return with_update(parse(R"(g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}, int64[1] flat = {3}> {
          b = Mul(w, w)  a = Add(b, x)  v = Reshape(a, flat)  s = ai.ort_train.AllReduce(a)  y = Neg(s) })"),
                         "w", next);
    };
    const auto outcomes = run_replicas(2, graph_of, [](int replica) {
      return std::map<std::string, Tensor>{{"x", Tensor::of<float>({3}, {static_cast<float>(replica), 0, 0})}};
    });
    for (std::size_t replica = 0; replica < 2; ++replica) {
      CHECK(floats(outcomes[replica].values.at("w")) == std::vector<float>{1 + static_cast<float>(replica), 4, 9});
      CHECK(floats(outcomes[replica].values.at("y")) == std::vector<float>{-3, -8, -18});
    }
  }
}

TEST_CASE("an update may be written straight into the state after its sum") {
  const auto graph_of = [](int) {
    return with_update(parse(R"(g (float[3] x, float lr) => (float[3] y) <float[3] w = {1, 2, 3}> {
        a = Mul(w, x)  g = ai.ort_train.AllReduce(a)  next = ai.ort_train.SgdUpdate(w, g, lr)  y = Neg(x) })"),
                       "w", "next");
  };
  const auto outcomes = run_replicas(3, graph_of, [](int replica) {
    return std::map<std::string, Tensor>{{"x", Tensor::of<float>({3}, {static_cast<float>(replica), 1, 0})},
                                         {"lr", Tensor::of<float>({}, {0.5f})}};
  });
  for (const Outcome& outcome : outcomes) {
    CHECK(floats(outcome.values.at("w")) == std::vector<float>{1 - 0.5f * 3, 2 - 0.5f * 6, 3});
    CHECK(outcome.report.instructions == 5);  // Mul, AllReduce, its wait, SgdUpdate, Neg: no copy
  }
}

/// One step of SGD with momentum on two parameters, each replica updating its part of them.
std::unique_ptr<Graph> sharded_step(int replicas, int replica) {
  const std::string parts = "parts = " + std::to_string(replicas);
  const std::string part = "<index = " + std::to_string(replica) + ", " + parts + ">";
  const auto extent = [&](int count) { return std::to_string((count + replicas - 1) / replicas); };
  std::string text =
      "g (float[2,5] x, float[3] z, float lr) => (float[2,5] y) <float[2,5] v = {1,2,3,4,5,6,7,8,9,10}, "
      "float[3] w = {1,2,3}, float[" +
      extent(10) + "] mv, float[" + extent(3) + "] mw> {\n";
  text += "a = Mul(v, x)  b = Mul(w, z)  y = Add(v, x)\n";
  text += "ga, gb = ai.ort_train.ReduceScatter<" + parts + ">(a, b)\n";
  text += "pv = ai.ort_train.FlatPart" + part + "(v)  pw = ai.ort_train.FlatPart" + part + "(w)\n";
  text += "nv, nmv = ai.ort_train.SgdUpdate<momentum = 0.5>(pv, ga, lr, mv)\n";
  text += "nw, nmw = ai.ort_train.SgdUpdate<momentum = 0.5>(pw, gb, lr, mw)\n";
  text += "new_v, new_w = ai.ort_train.AllGather<ranks = [2, 1], extents = [2, 5, 3]>(nv, nw) }";
  std::string filled_in = text;
  const auto fill = [&](const std::string& name, int count) {
    std::string zeros;
    for (int i = 0; i < std::stoi(extent(count)); ++i) zeros += i == 0 ? "0" : ",0";
    filled_in.replace(filled_in.find("] " + name), name.size() + 2, "] " + name + " = {" + zeros + "}");
  };
  fill("mv", 10);
  fill("mw", 3);
  auto graph = parse(filled_in);
  for (const auto& [state, next] : std::map<std::string, std::string>{{"v", "new_v"}, {"w", "new_w"}}) {
    graph->at(state)->set_role(Role::parameter);
    graph->add_update(graph->at(state), graph->at(next));
  }
  for (const auto& [state, next] : std::map<std::string, std::string>{{"mv", "nmv"}, {"mw", "nmw"}}) {
    graph->at(state)->set_role(Role::optimizer_slot);
    graph->add_update(graph->at(state), graph->at(next));
  }
  return graph;
}

TEST_CASE("a sharded optimizer step gives what one replica gives") {
  const auto feeds = [](float factor) {
    return std::map<std::string, Tensor>{{"x", scaled(filled({2, 5}, 0.5f), factor)},
                                         {"z", scaled(filled({3}, 0.25f), factor)},
                                         {"lr", Tensor::of<float>({}, {0.125f})}};
  };
  // Replicas 0, 1, 2 feed 1, 2, 4 times the same numbers; the one that is alone feeds their sum. All are exact.
  for (const int replicas : {2, 3}) {
    const float sum = replicas == 2 ? 3 : 7;
    const auto alone = run_replicas(
        1, [](int) { return sharded_step(1, 0); }, [&](int) { return feeds(sum); }, 3);
    const auto together = run_replicas(
        replicas, [&](int replica) { return sharded_step(replicas, replica); },
        [&](int replica) { return feeds(static_cast<float>(1 << replica)); }, 3);
    for (const Outcome& outcome : together) {
      for (const std::string name : {"v", "w"}) {
        CHECK(floats(outcome.values.at(name)) == floats(alone[0].values.at(name)));
      }
      CHECK(outcome.report.collectives == 2);
      CHECK(outcome.report.operands_in_place == 2);  // the updated parts
      CHECK(outcome.report.operands_copied == 2);    // the gradients
    }
    const std::vector<float> momentum = floats(alone[0].values.at("mv"));
    std::vector<float> joined;
    for (const Outcome& outcome : together) {
      const std::vector<float> part = floats(outcome.values.at("mv"));
      joined.insert(joined.end(), part.begin(), part.end());
    }
    REQUIRE(joined.size() >= 10);
    for (std::size_t i = 0; i < joined.size(); ++i) CHECK(joined[i] == (i < 10 ? momentum[i] : 0.0f));
  }
}

TEST_CASE("gathered parts go straight into the state") {
  Late late(sharded_step(1, 0));
  for (const std::string& type : late.order()) CHECK(type != "Copy");
  CHECK(late.order().back() == "AllGather (wait)");
}

TEST_CASE("repeated runs give the same bits") {
  const std::string text = R"(g (float[1000] x, float[77] z) => (float[1000] s, float[77] t) {
    a = Exp(x)  b = Tanh(z)  s, t = ai.ort_train.AllReduce(a, b) })";
  const auto run = [&] {
    return run_replicas(
        3, [&](int) { return parse(text); },
        [](int replica) {
          std::mt19937 random(static_cast<unsigned>(replica));
          Tensor x(DataType::float32, {1000}), z(DataType::float32, {77});
          for (Tensor* tensor : {&x, &z}) {
            for (std::int64_t i = 0; i < tensor->size(); ++i) {
              tensor->data<float>()[i] = std::normal_distribution<float>()(random);
            }
          }
          return std::map<std::string, Tensor>{{"x", x}, {"z", z}};
        },
        2);
  };
  const auto first = run();
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto again = run();
    for (std::size_t replica = 0; replica < 3; ++replica) {
      for (const std::string name : {"s", "t"}) {
        CHECK(again[replica].values.at(name).identical(first[0].values.at(name)));
      }
    }
  }
}

TEST_CASE("the planned sums are those that the collective counts") {
  const auto collectives = replicas_of_one_process(2);
  const auto errors = on_threads(2, [&](int replica) {
    const auto device = make_cpu_device(1);
    CompileOptions options;
    options.collective = collectives[static_cast<std::size_t>(replica)].get();
    const auto executable = device->compile(*sharded_step(2, replica), device->make_state(), options);
    for (int step = 1; step <= 3; ++step) {
      executable->run();
      const auto reduced = static_cast<std::size_t>(options.collective->statistics().bytes_reduced);
      if (reduced != static_cast<std::size_t>(step) * executable->report().reduced_bytes) {
        fail("after step ", step, ": ", reduced, " bytes, planned ", executable->report().reduced_bytes, " a step");
      }
    }
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("without a collective the graph is refused") {
  const auto graph = parse("g (float[8] x) => (float[8] s) { s = ai.ort_train.AllReduce(x) }");
  const auto device = make_cpu_device(1);
  CHECK_THROWS_WITH_AS(device->compile(*graph, device->make_state()), doctest::Contains("no collective connects them"),
                       Error);
  CHECK_THROWS_WITH_AS(device->compile(*graph, device->make_state(), {.plain_kernels = true}),
                       doctest::Contains("AllReduce"), Error);
}

TEST_CASE("parts for another number of replicas are refused") {
  CHECK_THROWS_WITH_AS(Late(sharded_step(3, 0), 2), doctest::Contains("shared by 2 replicas"), Error);
  const auto graph = parse(R"(g (float[4] x) => (float[9] y) {
    y = ai.ort_train.AllGather<ranks = [1], extents = [9]>(x) })");
  CHECK_THROWS_WITH_AS(Late(graph->clone(), 3), doctest::Contains("it has 3"), Error);
}

// Index 9 is out of range when the second input says so.
const char* const failing_graph = R"(g (float[4] x, int64[1] i) => (float[4] s, float[1] y) {
  a = Neg(x)  s = ai.ort_train.AllReduce(a)  y = Gather(x, i) })";

TEST_CASE("an error ends what was started before it leaves the step") {
  Late late(parse(failing_graph));
  late.executable->set_input("x", filled({4}, 1));
  late.executable->set_input("i", Tensor::of<std::int64_t>({1}, {9}));
  CHECK_THROWS_WITH_AS(late.executable->run(), doctest::Contains("Gather"), Error);
  CHECK(late.collective.started() == 1);
  CHECK(late.collective.waits == 1);
  CHECK(late.collective.reason.find("Gather") != std::string::npos);
}

TEST_CASE("an error of one replica reaches the others") {
  const auto collectives = replicas_of_one_process(3);
  const auto errors = on_threads(3, [&](int replica) {
    const auto device = make_cpu_device(1);
    CompileOptions options;
    options.collective = collectives[static_cast<std::size_t>(replica)].get();
    const auto executable = device->compile(*parse(failing_graph), device->make_state(), options);
    executable->set_input("i", Tensor::of<std::int64_t>({1}, {replica == 1 ? 9 : 0}));
    for (int step = 0; step < 3; ++step) executable->run();
  });
  CHECK(errors[1].find("Gather") != std::string::npos);
  for (const std::size_t replica : {0, 2}) {
    CHECK(errors[replica].find("AllReduce") != std::string::npos);
    CHECK(errors[replica].find("Gather") != std::string::npos);
  }
}

TEST_CASE("executables of one device may run on several threads at once") {
  const auto graph = parse(R"(g (float[4,8,9,9] x, float[16,8,3,3] w) => (float[4,16] p) {
    c = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w)  r = Relu(c)
    m = GlobalAveragePool(r)  f = Flatten(m)  p = Softmax(f) })");
  const auto device = make_cpu_device(1);
  const auto compute = [&](int seed) {
    const auto executable = device->compile(*graph, device->make_state());
    executable->set_input("w", scaled(filled({16, 8, 3, 3}, static_cast<float>(seed)), 0.01f));
    for (int step = 0; step < 20; ++step) {
      executable->set_input("x", filled({4, 8, 9, 9}, static_cast<float>(seed + step)));
      executable->run();
    }
    return executable->output("p");
  };
  std::vector<Tensor> expected, computed(4);
  for (int seed = 0; seed < 4; ++seed) expected.push_back(compute(seed));
  const auto errors =
      on_threads(4, [&](int replica) { computed[static_cast<std::size_t>(replica)] = compute(replica); });
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(errors[i] == "");
    CHECK(computed[i].identical(expected[i]));
  }
}

TEST_CASE("the interpreter knows collectives of one replica") {
  const auto graph = parse(R"(g (float[2,3] x, float[2] z) => (float[2,3] s, float[2,3] y) {
    s, t = ai.ort_train.AllReduce(x, z)
    a, b = ai.ort_train.ReduceScatter<parts = 1>(x, z)
    y, c = ai.ort_train.AllGather<ranks = [2, 1], extents = [2, 3, 2]>(a, b) })");
  const Tensor x = filled({2, 3}, 1);
  const auto results = kernels::interpret(*graph, {{"x", x}, {"z", filled({2}, 0)}});
  CHECK(results.at("s").identical(x));
  CHECK(results.at("y").identical(x));
  const auto two = parse("g (float[4] x) => (float[2] y) { y = ai.ort_train.ReduceScatter<parts = 2>(x) }");
  CHECK_THROWS_WITH_AS(kernels::interpret(*two, {{"x", filled({4}, 1)}}), doctest::Contains("2 replicas"), Error);
  const auto part = parse(R"(g (float[2] x) => (float[4] y) {
    y = ai.ort_train.AllGather<ranks = [1], extents = [4]>(x) })");
  CHECK_THROWS_WITH_AS(kernels::interpret(*part, {{"x", filled({2}, 1)}}), doctest::Contains("parts of 2"), Error);
}

}  // namespace
}  // namespace ort_train::runtime
