#include "runtime/cuda/format.h"

#include <utility>

#include "runtime/cuda/cudnn/operation_graph.h"

namespace ort_train::runtime::cuda {

namespace {

using cudnn::channels_last_strides;

// Axes of extent 1 have no say in the order of the elements.
bool lie_alike(const Dims& dims, const Dims& a, const Dims& b) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] > 1 && a[axis] != b[axis]) return false;
  }
  return true;
}

}  // namespace

Format Format::plain(DataType dtype, Dims dims) {
  Format format;
  format.dtype_ = dtype;
  format.dims_ = std::move(dims);
  return format;
}

Format Format::channels_last(DataType dtype, Dims dims) {
  Format format = plain(dtype, std::move(dims));
  format.channels_last_ =
      format.dims_.size() > 2 && element_count(format.dims_) > 0 &&
      !lie_alike(format.dims_, row_major_strides(format.dims_), channels_last_strides(format.dims_));
  return format;
}

Format Format::with(DataType dtype, Dims dims) const {
  return channels_last_ ? channels_last(dtype, std::move(dims)) : plain(dtype, std::move(dims));
}

Dims Format::strides() const { return channels_last_ ? channels_last_strides(dims_) : row_major_strides(dims_); }

std::string to_string(const Format& format) {
  if (!format.defined()) return "none";
  return format.is_plain() ? "row-major" : "channels-last";
}

}  // namespace ort_train::runtime::cuda
