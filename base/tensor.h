#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/data_type.h"
#include "base/error.h"

namespace ort_train {

/// Extents of a dense array, outermost first; empty for a scalar.
using Dims = std::vector<std::int64_t>;

/// The product of all extents; 1 for a scalar.
std::int64_t element_count(std::span<const std::int64_t> dims);

/// "[2,3,32,32]".
std::string to_string(std::span<const std::int64_t> dims);

/// Elements between neighbours along each axis of a dense row-major array.
Dims row_major_strides(std::span<const std::int64_t> dims);

/// A dense row-major array on the host. Copies share the elements (cheap); `clone()` makes elements of one's own.
class Tensor {
 public:
  /// No elements and no type.
  Tensor() = default;

  /// Elements are zero.
  Tensor(DataType dtype, Dims dims);

  template <typename T>
  static Tensor of(Dims dims, const std::vector<T>& values) {
    Tensor tensor(data_type_of<T>(), std::move(dims));
    if (static_cast<std::int64_t>(values.size()) != tensor.size()) {
      fail("a tensor of shape ", to_string(tensor.dims()), " was given ", values.size(), " values");
    }
    T* out = tensor.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return tensor;
  }

  template <typename T>
  static Tensor scalar(T value) {
    return of<T>({}, std::vector<T>{value});
  }

  /// A rank-1 int64 tensor, the form in which ONNX passes axes and shapes.
  static Tensor of_int64s(const std::vector<std::int64_t>& values);

  /// A tensor over memory that someone else owns and that outlives it.
  static Tensor view(DataType dtype, Dims dims, void* memory);

  bool defined() const { return dtype_ != DataType::undefined; }
  DataType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(dims_.size()); }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const;

  std::byte* raw() { return storage_.get(); }
  const std::byte* raw() const { return storage_.get(); }

  /// Typed access; throws when T is not the element type.
  template <typename T>
  T* data() {
    check_type(data_type_of<T>());
    return reinterpret_cast<T*>(storage_.get());
  }
  template <typename T>
  const T* data() const {
    check_type(data_type_of<T>());
    return reinterpret_cast<const T*>(storage_.get());
  }
  template <typename T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<std::size_t>(size_)};
  }

  Tensor clone() const;

  /// The same elements under other extents of equal count.
  Tensor reshaped(Dims dims) const;

  /// Every element converted to `dtype` (C++ conversion rules; to bool: != 0).
  Tensor cast(DataType dtype) const;

  /// All elements of an integer tensor, widened.
  std::vector<std::int64_t> to_int64s() const;

  /// All elements of a numeric tensor as doubles.
  std::vector<double> to_doubles() const;

  /// Strings are kept apart from the numbers; only the importer and exporter meet them.
  std::vector<std::string>& strings() { return *strings_; }
  const std::vector<std::string>& strings() const { return *strings_; }

  /// Equal type, extents and bits.
  bool identical(const Tensor& other) const;

 private:
  void check_type(DataType asked) const;

  DataType dtype_ = DataType::undefined;
  Dims dims_;
  std::int64_t size_ = 0;
  std::shared_ptr<std::byte> storage_;
  std::shared_ptr<std::vector<std::string>> strings_;
};

}  // namespace ort_train
