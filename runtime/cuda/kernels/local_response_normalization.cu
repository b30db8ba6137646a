// LRN and its gradient, in any format.
#include <cmath>

#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

/// Y = X / base^beta, base = bias + scale * (sum of X^2 over the channels around this one), scale = alpha / size.
struct Response {
  std::int64_t channels, stride;  // neighbours along the channels lie `stride` elements apart
  std::int64_t before, behind;    // how many channels on either side are summed over
  double scale, beta, bias;

  __host__ __device__ std::int64_t channel(std::int64_t i) const { return i / stride % channels; }

  /// The sum of term(k) over the places k of the channels from `lower` before to `upper` behind the one of place i.
  template <typename Term>
  __host__ __device__ double sum_around(std::int64_t i, std::int64_t lower, std::int64_t upper,
                                        const Term& term) const {
    const std::int64_t c = channel(i);
    const std::int64_t first = c < lower ? -c : -lower, last = c + upper < channels ? upper : channels - 1 - c;
    double sum = 0;
    for (std::int64_t k = first; k <= last; ++k) sum += term(i + k * stride);
    return sum;
  }

  template <typename T>
  __host__ __device__ double base(const In<T>& x, std::int64_t i) const {
    return bias + scale * sum_around(i, before, behind, [&](std::int64_t k) {
                    const auto element = static_cast<double>(loaded(x[k]));
                    return element * element;
                  });
  }
};

Response response_of(const graph::Node& node, const Format& x) {
  const std::int64_t size = node.integer("size", 0);
  return {x.dims()[1],
          x.strides()[1],
          (size - 1) / 2,
          size / 2,
          static_cast<double>(node.real("alpha", 1e-4F)) / static_cast<double>(size),
          static_cast<double>(node.real("beta", 0.75F)),
          static_cast<double>(node.real("bias", 1.0F))};
}

/// The host has sentences for the rest.
bool fits(const Request& request, const Format& x) {
  return FloatingTypes::contain(x.dtype()) && x.dims().size() >= 2 && request.node.integer("size", 0) > 0;
}

template <typename T>
struct NormalizeResponses {
  In<T> x;
  Out<T> y;
  Response response;

  void arrays(Accesses& accesses) const { accesses(x)(y); }
  __host__ __device__ void operator()(std::int64_t i) const {
    y[i] = stored<T>(static_cast<double>(loaded(x[i])) * pow(response.base(x, i), -response.beta));
  }
};

std::unique_ptr<Kernel> make_lrn(const Request& request) {
  const Format x = request.input(0);
  if (!fits(request, x)) return nullptr;
  const Response response = response_of(request.node, x);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs = kernel->outputs = {x};
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [response](const LaunchedKernel& self) {
      const In<T> elements = self.in<T>(0);
      self.for_each(elements.count, NormalizeResponses<T>{elements, self.out<T>(0), response});
    };
  });
  return kernel;
}

template <typename T>
struct GradientTerms {
  In<T> dy, x, y;
  Out<double> terms;
  Response response;

  void arrays(Accesses& accesses) const { accesses(dy)(x)(y)(terms); }
  __host__ __device__ void operator()(std::int64_t i) const {
    terms[i] = static_cast<double>(loaded(dy[i])) * static_cast<double>(loaded(y[i])) / response.base(x, i);
  }
};

/// dX[c] = dY[c] / base[c]^beta - 2 * beta * scale * X[c] * (sum of dY[k] * Y[k] / base[k] over the channels k that sum
/// over c).
template <typename T>
struct GradientOfResponses {
  In<T> dy, x;
  In<double> terms;
  Out<T> dx;
  Response response;

  void arrays(Accesses& accesses) const { accesses(dy)(x)(terms)(dx); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const double sum =
        response.sum_around(i, response.behind, response.before, [&](std::int64_t k) { return terms[k]; });
    dx[i] = stored<T>(static_cast<double>(loaded(dy[i])) * pow(response.base(x, i), -response.beta) -
                      2 * response.beta * response.scale * static_cast<double>(loaded(x[i])) * sum);
  }
};

std::unique_ptr<Kernel> make_lrn_gradient(const Request& request) {
  const Format x = request.input(1);
  if (!fits(request, x) || request.plain_input(0).dims() != x.dims() || request.plain_input(2).dims() != x.dims()) {
    return nullptr;
  }
  const Response response = response_of(request.node, x);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->inputs = {x, x, x};
  kernel->outputs = {x};
  kernel->scratchpad_bytes = static_cast<std::size_t>(x.size()) * sizeof(double);
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [response](const LaunchedKernel& self) {
      const In<T> dy = self.in<T>(0), elements = self.in<T>(1);
      const Out<double> terms = self.scratch<double>(dy.count);
      self.for_each(dy.count, GradientTerms<T>{dy, elements, self.in<T>(2), terms, response});
      self.for_each(dy.count,
                    GradientOfResponses<T>{dy, elements, {terms.elements, terms.count}, self.out<T>(0), response});
    };
  });
  return kernel;
}

const FactoryRegistration lrn("LRN", make_lrn);
const TrainingFactoryRegistration lrn_gradient("LRNGrad", make_lrn_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
