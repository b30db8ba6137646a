#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "runtime/cpu/format.h"
#include "runtime/planning/kernel.h"

namespace ort_train::runtime {
class Collective;
}

namespace ort_train::runtime::cpu {

/// What all kernels of one device share.
struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
  int threads = 1;
  /// Channels in a block of the layout that convolutions like best on this processor: 16 or 8, 0 for row-major. Only
  /// kernels whose inputs leave them the choice need it.
  std::int64_t channel_block = 0;
  /// Winograd's algorithm for 3x3 convolutions (see kernels/winograd.h).
  bool winograd = false;
  /// Of the replica that the graph is one of, null for a graph on its own.
  Collective* collective = nullptr;
};

using Kernel = planning::Kernel<Format>;
using Request = planning::Request<Format, Context>;
using planning::Pointers;
using planning::Sharing;
using planning::Slot;

/// Null when the factory has no kernel for this node; the plain one of kernels/ then takes its place.
using Factory = std::unique_ptr<Kernel> (*)(const Request&);

/// Declares a factory at namespace scope, for an operator of the default domain or of graph::training_domain.
class FactoryRegistration {
 public:
  FactoryRegistration(const std::string& op_type, Factory factory, std::string_view domain = "");
};
class TrainingFactoryRegistration {
 public:
  TrainingFactoryRegistration(const std::string& op_type, Factory factory)
      : registration_(op_type, factory, graph::training_domain) {}

 private:
  FactoryRegistration registration_;
};

/// Every operator that runs on the CPU has a plain kernel; factories only add faster ones.
bool has_kernel(const graph::Node& node);

/// The best kernel for a node that has one: its factory's, or the plain one. `plain_only` skips the factories.
std::unique_ptr<Kernel> make_kernel(const Request& request, bool plain_only);

}  // namespace ort_train::runtime::cpu
