#include "runtime/cuda/elementwise_plan.h"

#include <algorithm>
#include <optional>

namespace ort_train::runtime::cuda {

namespace {

Dims in_memory_order(const Format& format, const Dims& values) {
  if (!format.is_channels_last()) return values;
  Dims ordered{values[0]};
  ordered.insert(ordered.end(), values.begin() + 2, values.end());
  ordered.push_back(values[1]);
  return ordered;
}

Format common_format(const Request& request, std::size_t operands, const Format& output) {
  std::optional<bool> channels_last;
  for (std::size_t i = 0; i < operands; ++i) {
    if (request.undecided[i] || request.plain_input(i).dims() != output.dims()) continue;
    const bool found = request.input(i).is_channels_last();
    if (channels_last.value_or(found) != found) return output;
    channels_last = found;
  }
  return channels_last.value_or(false) ? Format::channels_last(output.dtype(), output.dims()) : output;
}

}  // namespace

ElementwisePlan::ElementwisePlan(const Request& request, std::size_t operands)
    : output_(common_format(request, operands, request.plain_output(0))) {
  dims_ = in_memory_order(output_, output_.dims());
  fits_ = std::count_if(dims_.begin(), dims_.end(), [](std::int64_t extent) { return extent != 1; }) <= most_axes;
  for (std::size_t i = 0; i < operands; ++i) {
    const Format plain = request.plain_input(i);
    add_operand(plain.dims() == output_.dims() ? output_.with(plain.dtype(), plain.dims()) : plain);
  }
}

void ElementwisePlan::add_operand(const Format& format) {
  Dims strides = format.strides();
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    if (format.dims()[axis] == 1) strides[axis] = 0;
  }
  strides.insert(strides.begin(), output_.dims().size() - strides.size(), 0);
  strides_.push_back(in_memory_order(output_, strides));
  operands_.push_back(format);
}

void ElementwisePlan::apply_to(Kernel& kernel, std::size_t shareable) const {
  std::copy(operands_.begin(), operands_.end(), kernel.inputs.begin());
  kernel.outputs[0] = output_;
  for (std::size_t i = 0; i < std::min(shareable, operands_.size()); ++i) {
    const bool same = operands_[i].dims() == output_.dims() && operands_[i].bytes() == output_.bytes();
    if (same) kernel.in_place.push_back({0, static_cast<int>(i)});
  }
}

}  // namespace ort_train::runtime::cuda
