#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "runtime/executable.h"

namespace ort_train::runtime {

/// A small graph, run once by the fast kernels and once by the plain ones.
class KernelComparison {
 public:
  KernelComparison() : builder_(graph_) {
    graph_.opsets[""] = 24;
    graph_.opsets[std::string(graph::training_domain)] = 1;
  }

  graph::Builder& builder() { return builder_; }
  graph::Graph& graph() { return graph_; }

  /// A fed float32 array of normal random numbers.
  graph::Value* input(const Dims& dims, double mean = 0, double deviation = 1) {
    return feed(random_tensor(dims, mean, deviation));
  }

  graph::Value* feed(const Tensor& elements) {
    graph::Value* value = graph_.add_input(graph_.unique_name("x"), graph::Type(elements.dtype(), elements.dims()));
    feeds_[value->name()] = elements;
    return value;
  }

  /// State of random numbers.
  graph::Value* parameter(const Dims& dims, double mean = 0, double deviation = 1) {
    return graph_.add_initializer(graph_.unique_name("w"), graph::Role::parameter, random_tensor(dims, mean, deviation),
                                  true);
  }

  /// [N, C, ...] that comes out of a convolution, and so in the layout that convolutions like. The weights are small
  /// integers and the inputs multiples of 1/8, so that the elements are exact and ties occur.
  graph::Value* blocked(const Dims& dims) {
    Tensor elements(DataType::float32, dims);
    for (std::int64_t i = 0; i < elements.size(); ++i) {
      elements.data<float>()[i] = static_cast<float>(static_cast<int>(random_() % 33) - 16) / 8;
    }
    Dims weight(dims.size(), 1);
    weight[0] = weight[1] = dims[1];
    Tensor mixing(DataType::float32, weight);
    for (std::int64_t c = 0; c < dims[1]; ++c) {
      mixing.data<float>()[c * dims[1] + c] = 1;
      mixing.data<float>()[c * dims[1] + (c + 1) % dims[1]] += 1;
    }
    graph::Value* w = graph_.add_initializer(graph_.unique_name("mix"), graph::Role::parameter, mixing);
    const Dims ones(dims.size() - 2, 1), zeros(2 * (dims.size() - 2), 0);
    return builder_.emit("Conv", {feed(elements), w},
                         {{"kernel_shape", ones}, {"strides", ones}, {"dilations", ones}, {"pads", zeros}});
  }

  void output(graph::Value* value) { graph_.add_output(value); }
  void outputs(const std::vector<graph::Value*>& values) {
    for (graph::Value* value : values) {
      if (value != nullptr) graph_.add_output(value);
    }
  }

  /// Fails unless the two runs agree within `tolerance` of the largest element of each output, and every node of type
  /// `op_type` ran a kernel that is not the plain one.
  void check(const std::string& op_type, double tolerance = 2e-5) {
    const Results plain = run({.plain_kernels = true}, nullptr);
    std::vector<ProfileEntry> profile;
    const Results fast = run({.profile = true}, &profile);
    for (const ProfileEntry& entry : profile) {
      if (entry.op_type == op_type) {
        INFO(op_type, " ran ", entry.kernel);
        CHECK(entry.kernel != "plain");
        kernels_[op_type].insert(entry.kernel);
      }
    }
    for (const auto& [name, expected] : plain) compare(name, expected, fast.at(name), tolerance);
    const Results again = run({}, nullptr);
    for (const auto& result : fast) {
      INFO(op_type, ": a second run gave other bits of ", result.first);
      CHECK(result.second.identical(again.at(result.first)));
    }
  }

  /// Whether `check` saw a node of that type run that kernel.
  bool ran(const std::string& op_type, const std::string& kernel) { return kernels_[op_type].count(kernel) != 0; }

  static constexpr std::uint32_t seed = 5;

 private:
  using Results = std::map<std::string, Tensor>;

  Tensor random_tensor(const Dims& dims, double mean, double deviation) {
    Tensor elements(DataType::float32, dims);
    std::normal_distribution<double> distribution(mean, deviation);
    for (std::int64_t i = 0; i < elements.size(); ++i) {
      elements.data<float>()[i] = static_cast<float>(distribution(random_));
    }
    return elements;
  }

  Results run(const CompileOptions& options, std::vector<ProfileEntry>* profile) const {
    const auto device = make_cpu_device(2);
    const auto state = device->make_state();
    const auto executable = device->compile(graph_, state, options);
    for (const auto& [name, elements] : feeds_) executable->set_input(name, elements);
    executable->run();
    Results results;
    for (const graph::Value* value : graph_.outputs()) results[value->name()] = executable->output(value->name());
    for (const std::string& name : state->names()) results["state " + name] = state->get(name);
    if (profile != nullptr) *profile = executable->profile();
    return results;
  }

  static void compare(const std::string& name, const Tensor& expected, const Tensor& got, double tolerance) {
    INFO("output ", name, " ", to_string(expected.dims()));
    REQUIRE(expected.dims() == got.dims());
    REQUIRE(expected.dtype() == got.dtype());
    const std::vector<double> a = expected.to_doubles(), b = got.to_doubles();
    double largest = 0, deviation = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(a[i]));
      // Written so that NaN on one side only counts.
      if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) {
        deviation = std::isnan(a[i] - b[i]) ? INFINITY : std::max(deviation, std::abs(a[i] - b[i]));
      }
    }
    CHECK(deviation <= tolerance * largest + 1e-7);
  }

  graph::Graph graph_;
  graph::Builder builder_;
  std::map<std::string, Tensor> feeds_;
  std::map<std::string, std::set<std::string>> kernels_;
  std::mt19937 random_{seed};
};

}  // namespace ort_train::runtime
