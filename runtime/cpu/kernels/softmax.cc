// Softmax, LogSoftmax and their gradients by oneDNN, float32, row-major.
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/onednn_kernel.h"

namespace ort_train::runtime::cpu {

namespace {

using Forward = dnnl::softmax_forward::primitive_desc;
using Backward = dnnl::softmax_backward::primitive_desc;

int axis_of(const Request& request) {
  const auto rank = static_cast<std::int64_t>(request.plain_output(0).dims().size());
  const std::int64_t axis = request.node.integer("axis", -1);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool fits(const Request& request) {
  const Format y = request.plain_output(0);
  return request.all_of_type(DataType::float32) && !y.dims().empty() && y.size() != 0;
}

Forward forward_primitive(const Request& request, dnnl::algorithm algorithm, const dnnl::memory::desc& layout) {
  return {request.context.engine, dnnl::prop_kind::forward_training, algorithm, layout, layout, axis_of(request),
          scratchpad_by_user()};
}

template <dnnl::algorithm algorithm>
std::unique_ptr<Kernel> make_forward(const Request& request) {
  if (!fits(request)) return nullptr;
  const auto layout = request.plain_output(0).desc();
  const Forward primitive = forward_primitive(request, algorithm, layout);
  if (is_slow_implementation(primitive)) return nullptr;
  auto kernel =
      std::make_unique<OnednnKernel>(request.context, dnnl::softmax_forward(primitive), primitive.impl_info_str());
  kernel->inputs = request.plain_inputs();
  kernel->outputs = request.plain_outputs();
  kernel->in_place = {{0, 0}};
  kernel->reads(DNNL_ARG_SRC, layout, 0);
  kernel->writes(DNNL_ARG_DST, layout, 0);
  kernel->uses_scratchpad(primitive.scratchpad_desc());
  return kernel;
}

template <dnnl::algorithm algorithm>
std::unique_ptr<Kernel> make_backward(const Request& request) {
  if (!fits(request)) return nullptr;
  const auto layout = request.plain_output(0).desc();
  const Backward primitive(request.context.engine, algorithm, layout, layout, layout, axis_of(request),
                           forward_primitive(request, algorithm, layout), scratchpad_by_user());
  if (is_slow_implementation(primitive)) return nullptr;
  auto kernel =
      std::make_unique<OnednnKernel>(request.context, dnnl::softmax_backward(primitive), primitive.impl_info_str());
  kernel->inputs = request.plain_inputs();
  kernel->outputs = request.plain_outputs();
  kernel->in_place = {{0, 0}};
  kernel->reads(DNNL_ARG_DIFF_DST, layout, 0);
  kernel->reads(DNNL_ARG_DST, layout, 1);
  kernel->writes(DNNL_ARG_DIFF_SRC, layout, 0);
  kernel->uses_scratchpad(primitive.scratchpad_desc());
  return kernel;
}

constexpr auto plain = dnnl::algorithm::softmax_accurate;
constexpr auto logarithmic = dnnl::algorithm::softmax_log;

const FactoryRegistration softmax("Softmax", make_forward<plain>);
const FactoryRegistration log_softmax("LogSoftmax", make_forward<logarithmic>);
const TrainingFactoryRegistration softmax_grad("SoftmaxGrad", make_backward<plain>);
const TrainingFactoryRegistration log_softmax_grad("LogSoftmaxGrad", make_backward<logarithmic>);

}  // namespace

}  // namespace ort_train::runtime::cpu
