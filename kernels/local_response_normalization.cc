#include <algorithm>
#include <cmath>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

namespace {

// Y = X / base^beta, base = bias + alpha / size * (sum of X^2 over the channels around this one).
struct Response {
  std::int64_t batch, channels, inner;
  std::int64_t before, behind;  // how many channels on either side are summed over
  double scale, beta, bias;
};

Response response_of(const graph::Node& node, const Dims& dims) {
  if (dims.size() < 2) fail("an array [N,C,...] was expected, this one is ", to_string(dims));
  const std::int64_t size = node.integer("size", 0);
  if (size < 1) fail("the attribute 'size' must be positive, it is ", size);
  return {dims[0],
          dims[1],
          element_count(std::span(dims).subspan(2)),
          (size - 1) / 2,
          size / 2,
          static_cast<double>(node.real("alpha", 1e-4f)) / static_cast<double>(size),
          static_cast<double>(node.real("beta", 0.75f)),
          static_cast<double>(node.real("bias", 1.0f))};
}

// sums[c, i] = sum of terms[k, i] over the channels k from c - before to c + behind.
void sum_around(const Response& response, std::int64_t before, std::int64_t behind, const std::vector<double>& terms,
                std::vector<double>& sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::int64_t c = 0; c < response.channels; ++c) {
    double* sum = sums.data() + c * response.inner;
    const std::int64_t last = std::min(response.channels - 1, c + behind);
    for (std::int64_t k = std::max<std::int64_t>(0, c - before); k <= last; ++k) {
      const double* term = terms.data() + k * response.inner;
      for (std::int64_t i = 0; i < response.inner; ++i) sum[i] += term[i];
    }
  }
}

// The bases of one sample.
template <typename T>
void compute_bases(const Response& response, const T* x, std::vector<double>& squares, std::vector<double>& bases) {
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<double>(x[i]) * static_cast<double>(x[i]);
  sum_around(response, response.before, response.behind, squares, bases);
  for (double& base : bases) base = response.bias + response.scale * base;
}

void compute_lrn(Invocation& call) {
  const Tensor& x = call.inputs[0];
  const Response response = response_of(call.node, x.dims());
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  const std::int64_t size = response.channels * response.inner;
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(response.batch, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> squares(static_cast<std::size_t>(size)), bases(squares.size());
      for (std::int64_t n = begin; n < end; ++n) {
        const T* source = x.data<T>() + n * size;
        T* target = y.data<T>() + n * size;
        compute_bases(response, source, squares, bases);
        for (std::size_t i = 0; i < bases.size(); ++i) {
          target[i] = static_cast<T>(static_cast<double>(source[i]) * std::pow(bases[i], -response.beta));
        }
      }
    });
  });
}

// dX[c] = dY[c] / base[c]^beta - 2 * beta * alpha / size * X[c] * (sum of dY[k] * Y[k] / base[k] over the channels k
// that sum over c).
void compute_lrn_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& x = call.inputs[1];
  const Tensor& y = call.inputs[2];
  if (gradient.dims() != x.dims() || y.dims() != x.dims()) {
    fail("dY of shape ", to_string(gradient.dims()), " does not fit X of shape ", to_string(x.dims()));
  }
  const Response response = response_of(call.node, x.dims());
  Tensor& result = output(call, 0, x.dtype(), x.dims());
  const std::int64_t size = response.channels * response.inner;
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(response.batch, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> terms(static_cast<std::size_t>(size)), bases(terms.size()), sums(terms.size());
      for (std::int64_t n = begin; n < end; ++n) {
        const T* source = x.data<T>() + n * size;
        const T* dy = gradient.data<T>() + n * size;
        const T* forward = y.data<T>() + n * size;
        T* dx = result.data<T>() + n * size;
        compute_bases(response, source, terms, bases);
        for (std::size_t i = 0; i < terms.size(); ++i) {
          terms[i] = static_cast<double>(dy[i]) * static_cast<double>(forward[i]) / bases[i];
        }
        sum_around(response, response.behind, response.before, terms, sums);
        for (std::size_t i = 0; i < terms.size(); ++i) {
          dx[i] = static_cast<T>(static_cast<double>(dy[i]) * std::pow(bases[i], -response.beta) -
                                 2 * response.beta * response.scale * static_cast<double>(source[i]) * sums[i]);
        }
      }
    });
  });
}

const Registration lrn("LRN", compute_lrn);
const TrainingRegistration lrn_grad("LRNGrad", compute_lrn_grad);

}  // namespace

}  // namespace ort_train::kernels
