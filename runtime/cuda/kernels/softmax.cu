// Softmax, LogSoftmax and their gradients along any axis of an array in any format.
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/softmax_rows.h"

namespace ort_train::runtime::cuda {

namespace {

/// dx = y * (dy - sum(dy * y)), of log-probabilities dx = dy - exp(y) * sum(dy).
template <typename T>
struct GradientRows {
  In<T> dy, y;
  Out<T> dx;
  Lanes lanes;
  bool logarithmic;

  void arrays(Accesses& accesses) const { accesses(dy)(y)(dx); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t row, const Threads& threads) const {
    const std::int64_t first = lanes.first(row);
    const double sum = threads.reduce(
        lanes.extent, 0.0,
        [&](std::int64_t k) {
          const std::int64_t i = first + k * lanes.stride;
          const auto gradient = static_cast<double>(loaded(dy[i]));
          return logarithmic ? gradient : gradient * static_cast<double>(loaded(y[i]));
        },
        [](double a, double b) { return a + b; });
    threads.for_each(lanes.extent, [&](std::int64_t k) {
      const std::int64_t i = first + k * lanes.stride;
      const Computed<T> gradient = loaded(dy[i]), result = loaded(y[i]);
      dx[i] = stored<T>(logarithmic ? gradient - std::exp(result) * sum : result * (gradient - sum));
    });
  }
};

/// All inputs and the output in the format of one of them where an axis is as good as any other in it.
std::unique_ptr<LaunchedKernel> make_along_axis(const Request& request) {
  if (!FloatingTypes::contain(request.plain_input(0).dtype()) || request.plain_output(0).dims().empty()) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const Format format = request.input(0).with(request.plain_input(0).dtype(), request.plain_input(0).dims());
  for (Format& input : kernel->inputs) input = format;
  kernel->outputs = {format};
  for (std::size_t i = 0; i < kernel->inputs.size(); ++i) kernel->in_place.push_back({0, static_cast<int>(i)});
  return lanes_along(format, request.node.integer("axis", -1)) ? std::move(kernel) : nullptr;
}

template <bool logarithmic>
std::unique_ptr<Kernel> make_softmax(const Request& request) {
  auto kernel = make_along_axis(request);
  if (kernel == nullptr) return nullptr;
  const Lanes lanes = *lanes_along(kernel->outputs[0], request.node.integer("axis", -1));
  FloatingTypes::dispatch(kernel->outputs[0].dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes](const LaunchedKernel& self) {
      const SoftmaxRows<T> rows{self.in<T>(0), self.out<T>(0), lanes, logarithmic};
      self.for_rows_of(lanes.count, lanes.extent, rows);
    };
  });
  return kernel;
}

template <bool logarithmic>
std::unique_ptr<Kernel> make_gradient(const Request& request) {
  auto kernel = make_along_axis(request);
  if (kernel == nullptr) return nullptr;
  const Lanes lanes = *lanes_along(kernel->outputs[0], request.node.integer("axis", -1));
  FloatingTypes::dispatch(kernel->outputs[0].dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [lanes](const LaunchedKernel& self) {
      const GradientRows<T> rows{self.in<T>(0), self.in<T>(1), self.out<T>(0), lanes, logarithmic};
      self.for_rows_of(lanes.count, lanes.extent, rows);
    };
  });
  return kernel;
}

const FactoryRegistration registrations[] = {{"Softmax", make_softmax<false>}, {"LogSoftmax", make_softmax<true>}};

const TrainingFactoryRegistration training_registrations[] = {{"SoftmaxGrad", make_gradient<false>},
                                                              {"LogSoftmaxGrad", make_gradient<true>}};

}  // namespace

}  // namespace ort_train::runtime::cuda
