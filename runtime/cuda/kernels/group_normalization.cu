// GroupNormalization, and InstanceNormalization with its gradient: every group of channels of a sample has statistics
// of its own, and lies in one piece.
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/row_sums.h"

namespace ort_train::runtime::cuda {

namespace {

/// X as [batch, groups, channels of a group, inner].
struct Groups {
  std::int64_t batch, groups, channels, inner;

  __host__ __device__ std::int64_t size() const { return channels * inner; }
  __host__ __device__ std::int64_t count() const { return batch * groups; }
  /// Of element `i` of a group.
  __host__ __device__ std::int64_t channel(std::int64_t group, std::int64_t i) const {
    return group % groups * channels + i / inner;
  }
};

/// The host has a sentence for what does not fit.
bool fit(const Request& request, std::int64_t groups, std::initializer_list<std::size_t> channel_inputs,
         const Format& x) {
  if (!FloatingTypes::contain(x.dtype()) || x.dims().size() < 3 || groups < 1 || x.dims()[1] % groups != 0) {
    return false;
  }
  for (const std::size_t input : channel_inputs) {
    const Format values = request.plain_input(input);
    if (values.dims() != Dims{x.dims()[1]} || values.dtype() != x.dtype()) return false;
  }
  return true;
}

Groups groups_of(const Format& x, std::int64_t groups) {
  const std::int64_t batch = x.dims()[0], channels = x.dims()[1];
  return {batch, groups, channels / groups, x.size() / (batch * channels)};
}

template <typename T>
struct NormalizeGroups {
  In<T> x, scale, bias;
  Out<T> y;
  Groups groups;
  double epsilon;

  void arrays(Accesses& accesses) const { accesses(x)(scale)(bias)(y); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t group, const Threads& threads) const {
    const std::int64_t first = group * groups.size();
    const auto element = [&](std::int64_t i) { return static_cast<double>(loaded(x[first + i])); };
    const RowStatistics statistics = row_statistics(threads, groups.size(), epsilon, true, element);
    threads.for_each(groups.size(), [&](std::int64_t i) {
      const std::int64_t channel = groups.channel(group, i);
      const double normalized = (element(i) - statistics.mean) * statistics.inverse_deviation;
      y[first + i] = stored<T>(normalized * static_cast<double>(loaded(scale[channel])) +
                               static_cast<double>(loaded(bias[channel])));
    });
  }
};

std::unique_ptr<Kernel> make_normalization(const Request& request, std::int64_t count) {
  const Format x = request.plain_input(0);
  if (!fit(request, count, {1, 2}, x)) return nullptr;
  const Groups groups = groups_of(x, count);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches =
        [groups, epsilon = static_cast<double>(request.node.real("epsilon", 1e-5F))](const LaunchedKernel& self) {
          self.for_rows_of(
              groups.count(), groups.size(),
              NormalizeGroups<T>{self.in<T>(0), self.in<T>(1), self.in<T>(2), self.out<T>(0), groups, epsilon});
        };
  });
  return kernel;
}

/// Groups of one channel.
std::int64_t instances(const Format& x) { return x.dims().size() > 1 ? x.dims()[1] : 0; }

std::unique_ptr<Kernel> make_group_normalization(const Request& request) {
  return make_normalization(request, request.node.integer("num_groups", 0));
}

std::unique_ptr<Kernel> make_instance_normalization(const Request& request) {
  return make_normalization(request, instances(request.plain_input(0)));
}

/// dX = scale * inverse * (dY - mean(dY) - n * mean(dY * n)) with n = (X - mean) * inverse. The sums of dY * n and of
/// dY are kept for each instance.
template <typename T>
struct InstanceGradients {
  In<T> dy, x, scale;
  Out<T> dx;
  Out<double> products, sums;
  Groups groups;
  double epsilon;

  void arrays(Accesses& accesses) const { accesses(dy)(x)(scale)(dx)(products)(sums); }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t group, const Threads& threads) const {
    const std::int64_t first = group * groups.size(), size = groups.size();
    const auto element = [&](std::int64_t i) { return static_cast<double>(loaded(x[first + i])); };
    const auto gradient = [&](std::int64_t i) { return static_cast<double>(loaded(dy[first + i])); };
    const RowStatistics statistics = row_statistics(threads, size, epsilon, true, element);
    const auto normalized = [&](std::int64_t i) {
      return (element(i) - statistics.mean) * statistics.inverse_deviation;
    };
    const double sum = row_sum(threads, size, gradient);
    const double product = row_sum(threads, size, [&](std::int64_t i) { return gradient(i) * normalized(i); });
    const double factor = static_cast<double>(loaded(scale[group % groups.groups])) * statistics.inverse_deviation;
    const auto count = static_cast<double>(size);
    threads.for_each(size, [&](std::int64_t i) {
      dx[first + i] = stored<T>(factor * (gradient(i) - sum / count - normalized(i) * product / count));
    });
    if (!threads.is_first()) return;
    products[group] = product;
    sums[group] = sum;
  }
};

/// The sums over the samples.
template <typename T>
struct ChannelGradients {
  In<double> products, sums;
  Out<T> dscale, dbias;
  Groups groups;

  void arrays(Accesses& accesses) const { accesses(products)(sums)(dscale)(dbias); }
  __host__ __device__ void operator()(std::int64_t channel) const {
    double product = 0, sum = 0;
    for (std::int64_t n = 0; n < groups.batch; ++n) {
      product += products[n * groups.groups + channel];
      sum += sums[n * groups.groups + channel];
    }
    if (dscale.elements != nullptr) dscale[channel] = stored<T>(product);
    if (dbias.elements != nullptr) dbias[channel] = stored<T>(sum);
  }
};

std::unique_ptr<Kernel> make_instance_gradient(const Request& request) {
  const Format x = request.plain_input(1);
  if (!fit(request, instances(x), {2}, x) || request.plain_input(0).dims() != x.dims()) return nullptr;
  const Groups groups = groups_of(x, instances(x));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->scratchpad_bytes = static_cast<std::size_t>(2 * groups.count()) * sizeof(double);
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches =
        [groups, epsilon = static_cast<double>(request.node.real("epsilon", 1e-5F))](const LaunchedKernel& self) {
          const std::int64_t count = groups.count();
          double* scratch = self.scratch<double>(2 * count).elements;
          self.for_rows_of(count, groups.size(),
                           InstanceGradients<T>{self.in<T>(0),
                                                self.in<T>(1),
                                                self.in<T>(2),
                                                self.out<T>(0),
                                                {scratch, count},
                                                {scratch + count, count},
                                                groups,
                                                epsilon});
          self.for_each(
              groups.groups,
              ChannelGradients<T>{{scratch, count}, {scratch + count, count}, self.out<T>(1), self.out<T>(2), groups});
        };
  });
  return kernel;
}

const FactoryRegistration group_normalization("GroupNormalization", make_group_normalization);
const FactoryRegistration instance_normalization("InstanceNormalization", make_instance_normalization);
const TrainingFactoryRegistration instance_gradient("InstanceNormalizationGrad", make_instance_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
