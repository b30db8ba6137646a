#include "tests/cuda/execution.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "tests/difference.h"

namespace ort_train::test {

namespace cudnn = runtime::cuda::cudnn;

namespace {

/// Memory of one operand, aligned as a device's is.
class Buffer {
 public:
  explicit Buffer(const cudnn::TensorDescription& tensor) : tensor_(tensor) {
    std::int64_t span = 1;
    for (std::size_t i = 0; i < tensor.dims.size(); ++i) span += (tensor.dims[i] - 1) * tensor.strides[i];
    elements_ = Tensor(tensor.type, {span + padding});
  }

  void* memory() {
    // The first element at the next multiple of 16 bytes.
    const auto address = reinterpret_cast<std::uintptr_t>(elements_.raw());
    return elements_.raw() + (16 - address % 16) % 16;
  }

  void write(const Tensor& values) {
    REQUIRE(values.dims() == tensor_.dims);
    const Tensor typed = values.cast(tensor_.type);
    const std::size_t size = size_of(tensor_.type);
    for_each([&](std::int64_t position, std::int64_t offset) {
      std::memcpy(at(offset), typed.raw() + static_cast<std::size_t>(position) * size, size);
    });
  }

  Tensor read() {
    Tensor typed(tensor_.type, tensor_.dims);
    const std::size_t size = size_of(tensor_.type);
    for_each([&](std::int64_t position, std::int64_t offset) {
      std::memcpy(typed.raw() + static_cast<std::size_t>(position) * size, at(offset), size);
    });
    return typed.cast(DataType::float64);
  }

 private:
  static constexpr std::int64_t padding = 16;

  std::byte* at(std::int64_t offset) {
    return static_cast<std::byte*>(memory()) + static_cast<std::size_t>(offset) * size_of(tensor_.type);
  }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::int64_t position = 0; position < element_count(tensor_.dims); ++position) {
      std::int64_t rest = position, offset = 0;
      for (std::size_t axis = tensor_.dims.size(); axis-- > 0;) {
        offset += rest % tensor_.dims[axis] * tensor_.strides[axis];
        rest /= tensor_.dims[axis];
      }
      visit(position, offset);
    }
  }

  cudnn::TensorDescription tensor_;
  Tensor elements_;
};

}  // namespace

Execution::Execution() {
  REQUIRE(cudnnCreate(&handle_) == CUDNN_STATUS_SUCCESS);
  planner_ = std::make_unique<cudnn::Planner>(handle_);
}

Execution::~Execution() { cudnnDestroy(handle_); }

Operands Execution::run(const OperationGraph& graph, const Operands& inputs) {
  INFO(graph.key());
  std::string refusal;
  const auto plan = planner_->find(graph, &refusal);
  INFO(refusal);
  REQUIRE(plan != nullptr);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void*> pointers;
  for (std::size_t id = 0; id < graph.tensors.size(); ++id) {
    const bool in_memory = !graph.tensors[id].is_virtual && !graph.tensors[id].value;
    buffers.push_back(in_memory ? std::make_unique<Buffer>(graph.tensors[id]) : nullptr);
    pointers.push_back(in_memory ? buffers.back()->memory() : nullptr);
    const auto given = inputs.find(static_cast<cudnn::TensorId>(id));
    if (given != inputs.end()) buffers.back()->write(given->second);
  }
  Tensor workspace(DataType::uint8, {static_cast<std::int64_t>(plan->workspace_bytes()) + 1});
  plan->execute(handle_, pointers, workspace.raw());
  Operands results;
  for (const cudnn::Operation& operation : graph.operations) {
    for (const cudnn::TensorId id : cudnn::outputs_of(operation)) {
      if (id != cudnn::absent && buffers[static_cast<std::size_t>(id)]) {
        results[id] = buffers[static_cast<std::size_t>(id)]->read();
      }
    }
  }
  return results;
}

Tensor rounded(const Tensor& values, DataType type) { return values.cast(type).cast(DataType::float64); }

void check_close(const Tensor& actual, const Tensor& expected, double tolerance, const std::string& what) {
  INFO(what);
  REQUIRE(actual.dims() == expected.dims());
  CHECK(tests::largest_difference(expected.cast(DataType::float64), actual) <= tolerance);
}

double tolerance_of(DataType type) {
  switch (type) {
    case DataType::float64: return 1e-11;
    case DataType::float32: return 1e-5;
    case DataType::float16: return 2e-3;
    default: return 2e-2;
  }
}

}  // namespace ort_train::test
