#pragma once

// Reading and writing the elements of cuDNN's tensors in the type of the arithmetic.

#include <cudnn.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "tests/virtual_gpu/cudnn_program.h"

namespace virtual_gpu {

inline std::size_t bytes_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64: return 8;
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_INT32: return 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return 2;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN: return 1;
    default:
      throw std::runtime_error("data type " + std::to_string(static_cast<int>(type)) + " is not known to virtual GPUs");
  }
}

/// Calls `function` with a value of the C++ type that holds elements of `type`.
template <typename Function>
void dispatch(cudnnDataType_t type, const Function& function) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return function(double{});
    case CUDNN_DATA_FLOAT: return function(float{});
    case CUDNN_DATA_HALF: return function(ort_train::Float16{});
    case CUDNN_DATA_BFLOAT16: return function(ort_train::BFloat16{});
    case CUDNN_DATA_INT64: return function(std::int64_t{});
    case CUDNN_DATA_INT32: return function(std::int32_t{});
    case CUDNN_DATA_INT8: return function(std::int8_t{});
    case CUDNN_DATA_UINT8: return function(std::uint8_t{});
    case CUDNN_DATA_BOOLEAN: return function(bool{});
    default:
      throw std::runtime_error("data type " + std::to_string(static_cast<int>(type)) + " is not known to virtual GPUs");
  }
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, ort_train::Float16> || std::is_same_v<From, ort_train::BFloat16>) {
    return static_cast<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, ort_train::Float16> || std::is_same_v<To, ort_train::BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else {
    return static_cast<To>(value);
  }
}

/// Calls `row(position, offset)` for every element along all axes but the last, in row-major order: `position` counts
/// elements, `offset` is where the row begins in memory.
template <typename Row>
void for_each_row(const Extents& dims, const Extents& strides, const Row& row) {
  const std::size_t last = dims.size() - 1;
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis < last; ++axis) rows *= dims[axis];
  Extents at(dims.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    row(i * dims[last], offset);
    for (std::size_t axis = last; axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      at[axis] = 0;
    }
  }
}

inline Extents dense_strides(const Extents& dims) {
  Extents strides(dims.size(), 1);
  for (std::size_t axis = dims.size() - 1; axis-- > 0;) strides[axis] = strides[axis + 1] * dims[axis + 1];
  return strides;
}

/// The axes in the order batch, spatial, channels.
inline Extents channels_innermost(const Extents& values) {
  Extents result{values[0]};
  result.insert(result.end(), values.begin() + 2, values.end());
  result.push_back(values[1]);
  return result;
}

/// Where the operands of a running program lie, and their elements as numbers of type T.
template <typename T>
class Operands {
 public:
  Operands(const CudnnProgram& program, const std::vector<void*>& memory) : program_(program), memory_(memory) {
    virtual_.resize(program.tensors.size());
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
      const CudnnTensor& t = program.tensors[i];
      strides_.push_back(t.is_virtual ? dense_strides(t.dims) : t.strides);
      if (!t.is_virtual) continue;
      virtual_[i].resize(static_cast<std::size_t>(t.elements()) * bytes_of(t.type));
      memory_[i] = virtual_[i].data();
    }
  }

  const CudnnTensor& tensor(int id) const { return program_.tensors[static_cast<std::size_t>(id)]; }
  void* memory(int id) const { return memory_[static_cast<std::size_t>(id)]; }
  /// Where the elements lie: as declared in memory, dense for virtual tensors, some of which cudnn-frontend declares
  /// with strides that overlap.
  const Extents& strides(int id) const { return strides_[static_cast<std::size_t>(id)]; }

  /// Row-major elements; broadcast to `dims` when given.
  std::vector<T> load(int id, const Extents* dims = nullptr) const {
    const CudnnTensor& t = tensor(id);
    if (dims == nullptr) return read(id, t.dims, strides(id));
    Extents steps = strides(id);
    for (std::size_t axis = 0; axis < dims->size(); ++axis) {
      if (t.dims[axis] == (*dims)[axis]) continue;
      if (t.dims[axis] != 1) throw std::runtime_error("operands that cannot be broadcast");
      steps[axis] = 0;
    }
    return read(id, *dims, steps);
  }

  /// Elements in the order batch, spatial, channels.
  std::vector<T> load_channels_innermost(int id) const {
    return read(id, channels_innermost(tensor(id).dims), channels_innermost(strides(id)));
  }

  void store(int id, const std::vector<T>& values) { write(id, tensor(id).dims, strides(id), values); }

  void store_channels_innermost(int id, const std::vector<T>& values) {
    write(id, channels_innermost(tensor(id).dims), channels_innermost(strides(id)), values);
  }

  T number(int id) const { return load(id)[0]; }

 private:
  std::vector<T> read(int id, const Extents& dims, const Extents& strides) const {
    std::int64_t count = 1;
    for (const std::int64_t extent : dims) count *= extent;
    std::vector<T> values(static_cast<std::size_t>(count));
    const std::int64_t length = dims.back(), step = strides.back();
    dispatch(tensor(id).type, [&](auto sample) {
      const auto* from = static_cast<const decltype(sample)*>(memory(id));
      for_each_row(dims, strides, [&](std::int64_t position, std::int64_t offset) {
        T* to = values.data() + position;
        for (std::int64_t i = 0; i < length; ++i) to[i] = convert<T>(from[offset + i * step]);
      });
    });
    return values;
  }

  void write(int id, const Extents& dims, const Extents& strides, const std::vector<T>& values) {
    const std::int64_t length = dims.back(), step = strides.back();
    dispatch(tensor(id).type, [&](auto sample) {
      using Element = decltype(sample);
      auto* to = static_cast<Element*>(memory(id));
      for_each_row(dims, strides, [&](std::int64_t position, std::int64_t offset) {
        const T* from = values.data() + position;
        for (std::int64_t i = 0; i < length; ++i) to[offset + i * step] = convert<Element>(from[i]);
      });
    });
  }

  const CudnnProgram& program_;
  std::vector<void*> memory_;
  std::vector<Extents> strides_;
  std::vector<std::vector<unsigned char>> virtual_;
};

template <typename T>
void compute_convolution(Operands<T>& operands, const CudnnNode& node);
template <typename T>
void compute_pooling(Operands<T>& operands, const CudnnNode& node);
template <typename T>
void compute_pointwise(Operands<T>& operands, const CudnnNode& node);
template <typename T>
void compute_normalization(Operands<T>& operands, const CudnnNode& node);

}  // namespace virtual_gpu
