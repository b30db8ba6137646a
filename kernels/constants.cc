#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/dispatch.h"
#include "kernels/indexing.h"

namespace ort_train::kernels {

namespace {

// Writes the bytes of the one-element tensor `value` over all of `out`.
void fill(Tensor& out, const Tensor& value) {
  const std::size_t element_size = size_of(value.dtype());
  for (std::size_t at = 0; at < out.bytes(); at += element_size) std::memcpy(out.raw() + at, value.raw(), element_size);
}

Tensor scalar_of(double value, DataType dtype) { return Tensor::scalar(value).cast(dtype); }

Tensor constant_strings(const std::vector<std::string>& values, Dims dims) {
  Tensor tensor(DataType::string, std::move(dims));
  tensor.strings() = values;
  return tensor;
}

template <typename T>
Tensor constant_list(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor constant_of(const graph::Node& node) {
  const graph::Attributes& attributes = node.attributes();
  for (const auto& [name, attribute] : attributes) {
    if (name == "value") return std::get<Tensor>(attribute);
    if (name == "value_float") return Tensor::scalar(std::get<float>(attribute));
    if (name == "value_floats") return constant_list(std::get<std::vector<float>>(attribute));
    if (name == "value_int") return Tensor::scalar(std::get<std::int64_t>(attribute));
    if (name == "value_ints") return constant_list(std::get<std::vector<std::int64_t>>(attribute));
    if (name == "value_string") return constant_strings({std::get<std::string>(attribute)}, {});
    if (name == "value_strings") {
      const auto& values = std::get<std::vector<std::string>>(attribute);
      return constant_strings(values, {static_cast<std::int64_t>(values.size())});
    }
  }
  fail("only a dense constant can be computed; store the value of this node as a dense tensor");
}

void compute_constant(Invocation& call) {
  const Tensor value = constant_of(call.node);
  Tensor& out = output(call, 0, value.dtype(), value.dims());
  if (value.dtype() == DataType::string) {
    out.strings() = value.strings();
  } else {
    std::memcpy(out.raw(), value.raw(), value.bytes());
  }
}

void compute_constant_of_shape(Invocation& call) {
  const auto found = call.node.attributes().find("value");
  const Tensor value = found == call.node.attributes().end() ? Tensor::scalar(0.0f) : std::get<Tensor>(found->second);
  if (value.size() != 1) fail("the attribute 'value' must have one element, it has ", value.size());
  fill(output(call, 0, value.dtype(), call.inputs[0].to_int64s()), value);
}

void compute_eye_like(Invocation& call) {
  const Tensor& like = call.inputs[0];
  if (like.rank() != 2) fail("the input must be a matrix, its shape is ", to_string(like.dims()));
  const auto dtype = static_cast<DataType>(call.node.integer("dtype", static_cast<std::int64_t>(like.dtype())));
  const std::int64_t diagonal = call.node.integer("k", 0);
  Tensor& out = output(call, 0, dtype, like.dims());
  const std::size_t element_size = size_of(dtype);
  const Tensor one = scalar_of(1, dtype);
  std::memset(out.raw(), 0, out.bytes());
  const std::int64_t rows = like.dims()[0], columns = like.dims()[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t column = row + diagonal;
    if (column < 0 || column >= columns) continue;
    std::memcpy(out.raw() + static_cast<std::size_t>(row * columns + column) * element_size, one.raw(), element_size);
  }
}

// Element i is start + i * delta. Sixteen-bit floats are computed in float32, ONNX's default stash type.
template <typename T, typename Stash = T>
void fill_range(Invocation& call) {
  const auto start = static_cast<Stash>(*call.inputs[0].data<T>());
  const auto limit = static_cast<Stash>(*call.inputs[1].data<T>());
  const auto delta = static_cast<Stash>(*call.inputs[2].data<T>());
  if (delta == Stash{0}) fail("the step of a range cannot be 0");
  const double steps =
      std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
  const auto count = static_cast<std::int64_t>(std::max(steps, 0.0));
  T* out = output(call, 0, data_type_of<T>(), {count}).template data<T>();
  for (std::int64_t i = 0; i < count; ++i) out[i] = T(static_cast<Stash>(start + static_cast<Stash>(i) * delta));
}

void compute_range(Invocation& call) {
  switch (call.inputs[0].dtype()) {
    case DataType::float32: return fill_range<float>(call);
    case DataType::float64: return fill_range<double>(call);
    case DataType::float16: return fill_range<Float16, float>(call);
    case DataType::bfloat16: return fill_range<BFloat16, float>(call);
    case DataType::int16: return fill_range<std::int16_t>(call);
    case DataType::int32: return fill_range<std::int32_t>(call);
    case DataType::int64: return fill_range<std::int64_t>(call);
    default: fail("there is no range of ", name_of(call.inputs[0].dtype()));
  }
}

void compute_one_hot(Invocation& call) {
  const Tensor& indices = call.inputs[0];
  const std::int64_t depth = integer_input(call, 1);
  const Tensor& off_on = call.inputs[2];
  if (depth < 1) fail("the depth of a one-hot code must be positive, it is ", depth);
  if (off_on.size() != 2) fail("'values' must be the off and the on value, it has ", off_on.size(), " elements");
  const std::int64_t axis = normalized_axis(call.node.integer("axis", -1), indices.rank() + 1);
  Dims dims = indices.dims();
  dims.insert(dims.begin() + axis, depth);
  Tensor& out = output(call, 0, off_on.dtype(), dims);
  const std::size_t element_size = size_of(off_on.dtype());
  const AxisView split = view_along(dims, axis);
  fill(out, off_on);
  const std::vector<std::int64_t> hot = indices.to_int64s();
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    std::int64_t code = hot[static_cast<std::size_t>(i)];
    if (code < -depth || code >= depth) continue;  // ONNX: such a row is all "off"
    if (code < 0) code += depth;
    const std::int64_t position = (i / split.inner * depth + code) * split.inner + i % split.inner;
    std::memcpy(out.raw() + static_cast<std::size_t>(position) * element_size, off_on.raw() + element_size,
                element_size);
  }
}

const Registration constant("Constant", compute_constant);
const Registration constant_of_shape("ConstantOfShape", compute_constant_of_shape);
const Registration eye_like("EyeLike", compute_eye_like);
const Registration range("Range", compute_range);
const Registration one_hot("OneHot", compute_one_hot);

}  // namespace

}  // namespace ort_train::kernels
