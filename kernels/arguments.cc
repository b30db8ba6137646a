#include "kernels/arguments.h"

namespace ort_train::kernels {

Tensor& output(Invocation& call, std::size_t index, DataType dtype, const Dims& dims) {
  Tensor& tensor = call.outputs.at(index);
  if (!tensor.defined()) tensor = Tensor(dtype, dims);
  if (tensor.dtype() != dtype || tensor.dims() != dims) {
    fail("output ", index, " is ", name_of(dtype), to_string(dims), " where ", name_of(tensor.dtype()),
         to_string(tensor.dims()), " was expected");
  }
  return tensor;
}

bool wants_output(const Invocation& call, std::size_t index) {
  return call.has_output(index) || call.node.output(static_cast<int>(index)) != nullptr;
}

std::int64_t normalized_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) fail("axis ", axis, " does not exist in a tensor of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

std::int64_t integer_input(const Invocation& call, std::size_t index) {
  if (!call.has_input(index)) fail("input ", index, " is missing");
  const std::vector<std::int64_t> values = call.inputs[index].to_int64s();
  if (values.size() != 1) {
    fail("input ", index, " must hold one number, but has the shape ", to_string(call.inputs[index].dims()));
  }
  return values[0];
}

AxisView view_along(const Dims& dims, std::int64_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    (position < axis ? view.outer : position == axis ? view.extent : view.inner) *= dims[i];
  }
  return view;
}

}  // namespace ort_train::kernels
