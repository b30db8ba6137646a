#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/planning/kernel.h"

namespace ort_train::runtime::planning {

/// What a device brings, as the members of one struct without data.
template <typename B>
concept Backend = requires(const graph::Node& node, const Request<typename B::Format, typename B::Context>& request,
                           const typename B::Context& context, const typename B::State& state,
                           const typename B::Format& format, const std::string& name, const Tensor& elements,
                           std::byte* memory, std::size_t bytes) {
  /// "CPU", for messages.
  { B::device_name } -> std::convertible_to<std::string>;
  { B::has_kernel(node) } -> std::same_as<bool>;
  /// The best kernel for a node that has one; with true the one that defines the operator.
  { B::make_kernel(request, true) } -> std::same_as<std::unique_ptr<Kernel<typename B::Format>>>;
  /// Whether there is one instruction from one format to another; one through the row-major format there always is.
  { B::can_reorder(format, format) } -> std::same_as<bool>;
  { B::make_reorder(context, format, format) } -> std::same_as<std::unique_ptr<Kernel<typename B::Format>>>;
  /// Graphs with collectives can run.
  { B::connects_replicas(context) } -> std::same_as<bool>;
  { B::allocate(context, bytes) } -> std::same_as<std::shared_ptr<std::byte>>;
  /// Puts elements into memory of the device that holds them in a format.
  {B::write(context, elements, format, memory)};
  { state.contains(name) } -> std::same_as<bool>;
  { state.format(name) } -> std::convertible_to<typename B::Format>;
  { state.memory(name) } -> std::same_as<std::byte*>;
};

}  // namespace ort_train::runtime::planning
