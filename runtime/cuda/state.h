#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/format.h"
#include "runtime/cuda/kernel.h"
#include "runtime/state.h"

namespace ort_train::runtime::cuda {

/// State on one GPU. An array lives in the format that the first executable with it chose; its address never changes.
/// `get` and `set` wait for the work on the compute stream.
class CudaState : public State {
 public:
  /// `context` must outlive the state.
  explicit CudaState(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  std::vector<std::string> names() const override { return order_; }
  bool contains(const std::string& name) const override { return arrays_.count(name) != 0; }
  graph::Role role(const std::string& name) const override { return at(name).role; }
  Tensor get(const std::string& name) const override;
  void set(const std::string& name, const Tensor& elements) override;

  /// A new array; throws when the name is taken.
  void add(const std::string& name, graph::Role role, const Format& format, const Tensor& elements);
  const Format& format(const std::string& name) const { return at(name).format; }
  std::byte* memory(const std::string& name) const { return at(name).memory.get(); }

 private:
  struct Array {
    graph::Role role;
    Format format;
    std::shared_ptr<std::byte> memory;
  };
  const Array& at(const std::string& name) const;

  std::shared_ptr<const Context> context_;
  std::map<std::string, Array> arrays_;
  std::vector<std::string> order_;
};

/// Elements of an array on the device, row-major. Waits for the compute stream.
Tensor read_array(const Context& context, const Format& format, const std::byte* memory);

/// Puts row-major elements into an array on the device. Waits for the compute stream.
void write_array(const Context& context, const Tensor& elements, const Format& format, std::byte* memory);

}  // namespace ort_train::runtime::cuda
