#pragma once

#include <string>

#include "base/tensor.h"

namespace ort_train::runtime::cuda {

/// How the elements of one array lie in memory: row-major, or with the channels (axis 1) innermost, as convolutions
/// like them.
class Format {
 public:
  /// Of an input or output that is left out.
  Format() = default;
  static Format plain(DataType dtype, Dims dims);
  static Format plain(const Tensor& like) { return plain(like.dtype(), like.dims()); }
  /// [N, C, spatial...] in the order N, spatial, C. Where that is row-major after all, the plain format.
  static Format channels_last(DataType dtype, Dims dims);
  /// The layout of this format for other elements or extents of equal rank.
  Format with(DataType dtype, Dims dims) const;

  bool defined() const { return dtype_ != DataType::undefined; }
  bool is_plain() const { return defined() && !channels_last_; }
  bool is_channels_last() const { return channels_last_; }
  DataType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  std::int64_t size() const { return element_count(dims_); }
  std::size_t bytes() const { return defined() ? static_cast<std::size_t>(size()) * size_of(dtype_) : 0; }
  /// In elements, for each axis.
  Dims strides() const;

  bool operator==(const Format&) const = default;

 private:
  DataType dtype_ = DataType::undefined;
  Dims dims_;
  bool channels_last_ = false;
};

/// "row-major" or "channels-last".
std::string to_string(const Format& format);

}  // namespace ort_train::runtime::cuda
