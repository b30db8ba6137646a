// Losses of predictions with a target each, and their gradients.
#include "kernels/functors/losses.h"
#include "runtime/cuda/tally.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

template <typename T, typename Loss>
struct LossTerm {
  In<T> predictions, targets;
  Loss loss;

  void arrays(Accesses& accesses) const { accesses(predictions)(targets); }
  __host__ __device__ Tally operator()(std::int64_t i) const {
    return {static_cast<double>(loss(predictions[i], targets[i])), 1, HostScratch::no_error};
  }
};

/// Whether a prediction is on the same side of the threshold as its target is of 0.5.
struct SameSide {
  double threshold;
  template <typename T>
  __host__ __device__ bool operator()(T prediction, T target) const {
    return prediction == prediction && (prediction > threshold) == (target > 0.5);
  }
};

template <typename Loss>
std::unique_ptr<Kernel> make_loss(const Request& request, const Loss& loss) {
  const Format predictions = request.plain_input(0);
  if (!TrainingTypes::contain(predictions.dtype()) || request.plain_input(1) != predictions) return nullptr;
  const TallyPlan plan(predictions.size());
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->scratchpad_bytes = plan.scratch_bytes();
  TrainingTypes::dispatch(predictions.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [plan, loss](const LaunchedKernel& self) {
      run_tally<T>(self, plan, LossTerm<T, Loss>{self.in<T>(0), self.in<T>(1), loss}, self.out<T>(0), self.out<T>(1),
                   nullptr);
    };
  });
  return kernel;
}

template <typename Loss>
std::unique_ptr<Kernel> loss(const Request& request) {
  return make_loss(request, Loss{});
}

std::unique_ptr<Kernel> make_threshold_correct(const Request& request) {
  return make_loss(request, SameSide{request.node.real("threshold", 0.5f)});
}

template <typename T, typename Derivative>
struct GradientElements {
  In<T> sum_gradient, predictions, targets;
  Out<T> gradient;

  void arrays(Accesses& accesses) const { accesses(sum_gradient)(predictions)(targets)(gradient); }
  __host__ __device__ void operator()(std::int64_t i) const {
    gradient[i] = sum_gradient[0] * Derivative{}(predictions[i], targets[i]);
  }
};

template <typename Derivative>
std::unique_ptr<Kernel> gradient(const Request& request) {
  const Format predictions = request.plain_input(1);
  if (!TrainingTypes::contain(predictions.dtype()) || request.plain_input(2) != predictions) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 1}, {0, 2}};
  TrainingTypes::dispatch(predictions.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [](const LaunchedKernel& self) {
      const Out<T> out = self.out<T>(0);
      self.for_each(out.count, GradientElements<T, Derivative>{self.in<T>(0), self.in<T>(1), self.in<T>(2), out});
    };
  });
  return kernel;
}

const TrainingFactoryRegistration registrations[] = {
    {"SquaredError", loss<functors::SquaredError>},
    {"SquaredErrorGrad", gradient<functors::SquaredErrorDerivative>},
    {"AbsoluteError", loss<functors::AbsoluteError>},
    {"AbsoluteErrorGrad", gradient<functors::AbsoluteErrorDerivative>},
    {"BinaryCrossEntropy", loss<functors::BinaryCrossEntropy>},
    {"BinaryCrossEntropyGrad", gradient<functors::BinaryCrossEntropyDerivative>},
    {"BinaryCrossEntropyWithLogits", loss<functors::BinaryCrossEntropyWithLogits>},
    {"BinaryCrossEntropyWithLogitsGrad", gradient<functors::BinaryCrossEntropyWithLogitsDerivative>},
    {"ThresholdCorrect", make_threshold_correct},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
