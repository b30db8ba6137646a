// Losses of class scores, their gradients, and the numbers of right answers and of labels.
#include "kernels/functors/losses.h"
#include "runtime/cuda/labels.h"
#include "runtime/cuda/softmax_rows.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// What a position with this label contributes.
__host__ __device__ Tally tally_of(const LabelView& view, std::int64_t label, double value) {
  if (view.is_ignored(label)) return {};
  if (!view.is_class(label)) return {0, 0, label};
  return {value, 1, HostScratch::no_error};
}

template <typename T>
struct LikelihoodTerm {
  In<T> log_probabilities;
  Indices labels;
  LabelView view;

  void arrays(Accesses& accesses) const {
    accesses(log_probabilities);
    labels.arrays(accesses);
  }
  __host__ __device__ Tally operator()(std::int64_t i) const {
    const std::int64_t label = labels[i];
    const double value =
        view.is_class(label) ? -static_cast<double>(log_probabilities[view.offset(i) + label * view.inner]) : 0.0;
    return tally_of(view, label, value);
  }
};

/// Without `of_scores` input 0 holds logarithms of probabilities, else they are made of it.
template <bool of_scores>
std::unique_ptr<Kernel> make_loss(const Request& request) {
  const Format scores = request.plain_input(0);
  const auto view = view_labels(request, 0, 1);
  const auto lanes = scores.dims().size() < 2 ? std::nullopt : lanes_along(scores, 1);
  if (!TrainingTypes::contain(scores.dtype()) || !view || !lanes) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const TallyPlan plan(view->positions);
  // Logarithms that nobody asked for lie behind the tallies.
  const bool keeps = of_scores && request.has_output(2);
  kernel->scratchpad_bytes = plan.scratch_bytes() + (of_scores && !keeps ? scores.bytes() : 0);
  HostScratch* errors = request.context.host_scratch.get();
  const std::size_t error = add_label_error(request, *view);
  TrainingTypes::dispatch(scores.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=, view = *view, lanes = *lanes](const LaunchedKernel& self) {
      In<T> log_probabilities = self.in<T>(0);
      if constexpr (of_scores) {
        const Out<T> target = keeps ? self.out<T>(2) : self.scratch<T>(log_probabilities.count, plan.scratch_bytes());
        self.for_rows_of(lanes.count, lanes.extent, SoftmaxRows<T>{log_probabilities, target, lanes, true});
        log_probabilities = {target.elements, target.count};
      }
      run_tally<T>(self, plan, LikelihoodTerm<T>{log_probabilities, indices_of(self, 1), view}, self.out<T>(0),
                   self.out<T>(1), errors->error_word(error));
    };
  });
  return kernel;
}

struct LikelihoodDerivative {
  template <typename T>
  __host__ __device__ T operator()(T, bool is_label) const {
    return is_label ? T(-1) : T(0);
  }
};

template <typename T, typename Derivative>
struct GradientElements {
  In<T> sum_gradient, log_probabilities;
  Indices labels;
  Out<T> gradient;
  LabelView view;
  std::int64_t* error_word;

  void arrays(Accesses& accesses) const {
    accesses(sum_gradient)(log_probabilities)(gradient);
    labels.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t slice = i / view.inner;
    const std::int64_t label = labels[slice / view.classes * view.inner + i % view.inner];
    const bool is_ignored = view.is_ignored(label);
    if (!is_ignored && !view.is_class(label)) *error_word = label;
    const T derivative = Derivative{}(log_probabilities[i], slice % view.classes == label);
    gradient[i] = is_ignored ? T(0) : sum_gradient[0] * derivative;
  }
};

/// Inputs: the gradient of the sum, log-probabilities, labels.
template <typename Derivative>
std::unique_ptr<Kernel> gradient(const Request& request) {
  const DataType type = request.plain_input(1).dtype();
  const auto view = view_labels(request, 1, 2);
  if (!TrainingTypes::contain(type) || !view) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 1}};
  HostScratch* errors = request.context.host_scratch.get();
  const std::size_t error = add_label_error(request, *view);
  TrainingTypes::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=, view = *view](const LaunchedKernel& self) {
      const Out<T> out = self.out<T>(0);
      self.for_each(out.count, GradientElements<T, Derivative>{self.in<T>(0), self.in<T>(1), indices_of(self, 2), out,
                                                               view, errors->error_word(error)});
    };
  });
  return kernel;
}

/// Whether fewer than k classes stand in front of the label's: a higher score or an equal one of a lower class. NaN
/// stands in front of everything, and is never right itself. One position is a row.
template <typename T>
struct CorrectRows {
  In<T> scores;
  Indices labels;
  Out<bool> correct;
  LabelView view;
  std::int64_t k;

  void arrays(Accesses& accesses) const {
    accesses(scores)(correct);
    labels.arrays(accesses);
  }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t position, const Threads& threads) const {
    const std::int64_t label = labels[position], first = view.offset(position);
    const T own = view.is_class(label) ? scores[first + label * view.inner] : T(0);
    const auto ahead = threads.reduce(
        view.classes, std::int64_t{0},
        [&](std::int64_t c) -> std::int64_t {
          const T other = scores[first + c * view.inner];
          return other > own || other != other || (other == own && c < label);
        },
        [](std::int64_t a, std::int64_t b) { return a + b; });
    if (threads.is_first()) correct[position] = own == own && ahead < k;
  }
};

struct CorrectTerm {
  In<bool> correct;
  Indices labels;
  LabelView view;

  void arrays(Accesses& accesses) const {
    accesses(correct);
    labels.arrays(accesses);
  }
  __host__ __device__ Tally operator()(std::int64_t i) const { return tally_of(view, labels[i], correct[i]); }
};

std::unique_ptr<Kernel> make_top_k_correct(const Request& request) {
  const DataType type = request.plain_input(0).dtype();
  const auto view = view_labels(request, 0, 1);
  const std::int64_t k = request.node.integer("k", 1);
  if (!TrainingTypes::contain(type) || !view || k < 1) return nullptr;
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const TallyPlan plan(view->positions);
  kernel->scratchpad_bytes = plan.scratch_bytes() + static_cast<std::size_t>(view->positions);
  HostScratch* errors = request.context.host_scratch.get();
  const std::size_t error = add_label_error(request, *view);
  TrainingTypes::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [=, view = *view](const LaunchedKernel& self) {
      const Indices labels = indices_of(self, 1);
      const auto correct = self.scratch<bool>(view.positions, plan.scratch_bytes());
      self.for_rows_of(view.positions, view.classes, CorrectRows<T>{self.in<T>(0), labels, correct, view, k});
      run_tally<T>(self, plan, CorrectTerm{{correct.elements, correct.count}, labels, view}, self.out<T>(0),
                   self.out<T>(1), errors->error_word(error));
    };
  });
  return kernel;
}

/// Any label counts that is not ignored.
struct CountTerm {
  Indices labels;
  LabelView view;

  void arrays(Accesses& accesses) const { labels.arrays(accesses); }
  __host__ __device__ Tally operator()(std::int64_t i) const {
    return {view.is_ignored(labels[i]) ? 0.0 : 1.0, 0, HostScratch::no_error};
  }
};

std::unique_ptr<Kernel> make_label_count(const Request& request) {
  const Format labels = request.plain_input(0);
  const DataType type = request.plain_output(0).dtype();
  if (!can_be_indices(labels.dtype()) || !TrainingTypes::contain(type)) return nullptr;
  LabelView view;
  view.ignores = request.node.has("ignore_index");
  view.ignored = request.node.integer("ignore_index", 0);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const TallyPlan plan(labels.size());
  kernel->scratchpad_bytes = plan.scratch_bytes();
  TrainingTypes::dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [plan, view](const LaunchedKernel& self) {
      run_tally<T>(self, plan, CountTerm{indices_of(self, 0), view}, self.out<T>(0), Out<T>{nullptr, 0}, nullptr);
    };
  });
  return kernel;
}

const TrainingFactoryRegistration registrations[] = {
    {"SoftmaxCrossEntropy", make_loss<true>},
    {"SoftmaxCrossEntropyGrad", gradient<functors::SoftmaxCrossEntropyDerivative>},
    {"NegativeLogLikelihood", make_loss<false>},
    {"NegativeLogLikelihoodGrad", gradient<LikelihoodDerivative>},
    {"TopKCorrect", make_top_k_correct},
    {"LabelCount", make_label_count},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
