// LayerNormalization with its gradient, and RMSNormalization: every row has statistics of its own.
#include <algorithm>
#include <optional>

#include "kernels/arguments.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/launched_kernel.h"
#include "runtime/cuda/row_sums.h"
#include "runtime/cuda/strided.h"

namespace ort_train::runtime::cuda {

namespace {

/// X as `count` rows of `length` elements: the axes from 'axis' on are normalized together.
struct Rows {
  std::int64_t count, length;
  Dims normalized_dims;
};

Rows rows_of(const Request& request, const Dims& dims) {
  const std::int64_t axis =
      ort_train::kernels::normalized_axis(request.node.integer("axis", -1), static_cast<std::int64_t>(dims.size()));
  const Dims inner(dims.begin() + axis, dims.end());
  const std::int64_t length = element_count(inner);
  return {element_count(dims) / length, length, inner};
}

/// Of an array that broadcasts to the normalized extents; zeros where it is left out. Nothing when it does not.
std::optional<Dims> broadcast_strides(const Format& format, const Dims& dims) {
  if (!format.defined()) return Dims(dims.size(), 0);
  Dims padded = format.dims();
  if (padded.size() > dims.size()) return std::nullopt;
  padded.insert(padded.begin(), dims.size() - padded.size(), 1);
  Dims strides = row_major_strides(padded);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (padded[axis] == 1) strides[axis] = 0;
    if (padded[axis] != 1 && padded[axis] != dims[axis]) return std::nullopt;
  }
  return strides;
}

/// One number a row, stored as float32 or float64.
template <typename Float, typename Double>
struct RowNumbers {
  Float narrow;
  Double wide;

  void arrays(Accesses& accesses) const { accesses(narrow)(wide); }
  __host__ __device__ double operator[](std::int64_t row) const {
    return wide.elements != nullptr ? wide[row] : static_cast<double>(narrow[row]);
  }
  __host__ __device__ void set(std::int64_t row, double number) const {
    if (wide.elements != nullptr) wide[row] = number;
    if (narrow.elements != nullptr) narrow[row] = static_cast<float>(number);
  }
};
using WrittenNumbers = RowNumbers<Out<float>, Out<double>>;
using ReadNumbers = RowNumbers<In<float>, In<double>>;

WrittenNumbers written_numbers(const LaunchedKernel& kernel, std::size_t output) {
  if (output >= kernel.outputs.size() || !kernel.outputs[output].defined()) return {};
  if (kernel.outputs[output].dtype() == DataType::float64) return {{}, kernel.out<double>(output)};
  return {kernel.out<float>(output), {}};
}

ReadNumbers read_numbers(const LaunchedKernel& kernel, std::size_t input) {
  if (kernel.inputs[input].dtype() == DataType::float64) return {{}, kernel.in<double>(input)};
  return {kernel.in<float>(input), {}};
}

bool can_hold_numbers(const Format& format) { return !format.defined() || TrainingTypes::contain(format.dtype()); }

template <typename T>
struct NormalizeRows {
  In<T> x, scale, bias;
  Out<T> y;
  WrittenNumbers means, inverses;
  StridedPositions<2> positions;
  std::int64_t length;
  double epsilon;
  bool centered;

  void arrays(Accesses& accesses) const {
    accesses(x)(scale)(bias)(y);
    means.arrays(accesses);
    inverses.arrays(accesses);
  }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t row, const Threads& threads) const {
    const std::int64_t first = row * length;
    const auto element = [&](std::int64_t i) { return static_cast<double>(loaded(x[first + i])); };
    const RowStatistics statistics = row_statistics(threads, length, epsilon, centered, element);
    threads.for_each(length, [&](std::int64_t i) {
      const auto offsets = positions(i);
      double result = (element(i) - statistics.mean) * statistics.inverse_deviation;
      if (scale.elements != nullptr) result *= static_cast<double>(loaded(scale[offsets.of[0]]));
      if (bias.elements != nullptr) result += static_cast<double>(loaded(bias[offsets.of[1]]));
      y[first + i] = stored<T>(result);
    });
    if (!threads.is_first()) return;
    means.set(row, statistics.mean);
    inverses.set(row, statistics.inverse_deviation);
  }
};

template <bool centered>
std::unique_ptr<Kernel> make_normalization(const Request& request) {
  const Format x = request.plain_input(0);
  const Format scale = request.has_input(1) ? request.plain_input(1) : Format();
  const Format bias = request.has_input(2) ? request.plain_input(2) : Format();
  if (!FloatingTypes::contain(x.dtype()) || (scale.defined() && scale.dtype() != x.dtype())) return nullptr;
  if (bias.defined() && bias.dtype() != x.dtype()) return nullptr;
  for (std::size_t i : {1, 2}) {
    if (request.has_output(i) && !can_hold_numbers(request.plain_output(i))) return nullptr;
  }
  const Rows rows = rows_of(request, x.dims());
  const auto scale_strides = broadcast_strides(scale, rows.normalized_dims);
  const auto bias_strides = broadcast_strides(bias, rows.normalized_dims);
  if (!scale_strides || !bias_strides || rows.normalized_dims.size() > most_axes) return nullptr;
  const auto positions = strided_positions<2>(rows.normalized_dims, {*scale_strides, *bias_strides});
  const auto epsilon = static_cast<double>(request.node.real("epsilon", 1e-5F));
  auto kernel = std::make_unique<LaunchedKernel>(request);
  kernel->in_place = {{0, 0}};
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    kernel->launches = [positions, epsilon, count = rows.count, length = rows.length](const LaunchedKernel& self) {
      self.for_rows_of(
          count, length,
          NormalizeRows<T>{self.in<T>(0), self.in<T>(1), self.in<T>(2), self.out<T>(0), written_numbers(self, 1),
                           written_numbers(self, 2), positions, length, epsilon, centered});
    };
  });
  return kernel;
}

/// With n = (x - mean) * inverse and g = dY * scale in a row of L elements:
/// dX = inverse * (g - sum(g) / L - n * sum(g * n) / L).
template <typename T>
struct GradientRows {
  In<T> dy, x, scale;
  ReadNumbers means, inverses;
  Out<T> dx;
  StridedPositions<1> positions;
  std::int64_t length;

  void arrays(Accesses& accesses) const {
    accesses(dy)(x)(scale)(dx);
    means.arrays(accesses);
    inverses.arrays(accesses);
  }
  template <typename Threads>
  __host__ __device__ void operator()(std::int64_t row, const Threads& threads) const {
    const std::int64_t first = row * length;
    const double mean = means[row], inverse = inverses[row], count = static_cast<double>(length);
    const auto scaled = [&](std::int64_t i) {
      return static_cast<double>(loaded(dy[first + i])) * static_cast<double>(loaded(scale[positions(i).of[0]]));
    };
    const auto normalized = [&](std::int64_t i) {
      return (static_cast<double>(loaded(x[first + i])) - mean) * inverse;
    };
    const double sum = row_sum(threads, length, scaled);
    const double product = row_sum(threads, length, [&](std::int64_t i) { return scaled(i) * normalized(i); });
    threads.for_each(length, [&](std::int64_t i) {
      dx[first + i] = stored<T>(inverse * (scaled(i) - sum / count - normalized(i) * product / count));
    });
  }
};

/// The sums over a part of the rows of dY * n and of dY, for every element of a row.
template <typename T>
struct PartialColumnSums {
  In<T> dy, x;
  ReadNumbers means, inverses;
  Out<double> products, sums;
  std::int64_t rows, rows_a_part, length;

  void arrays(Accesses& accesses) const {
    accesses(dy)(x)(products)(sums);
    means.arrays(accesses);
    inverses.arrays(accesses);
  }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t first = i / length * rows_a_part;
    const std::int64_t last = first + rows_a_part < rows ? first + rows_a_part : rows;
    double product = 0, sum = 0;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t at = row * length + i % length;
      const auto gradient = static_cast<double>(loaded(dy[at]));
      product += gradient * (static_cast<double>(loaded(x[at])) - means[row]) * inverses[row];
      sum += gradient;
    }
    products[i] = product;
    sums[i] = sum;
  }
};

/// dScale and dB, where they are asked for.
template <typename T>
struct ColumnSums {
  In<double> products, sums;
  Out<T> dscale, dbias;
  std::int64_t parts, length;

  void arrays(Accesses& accesses) const { accesses(products)(sums)(dscale)(dbias); }
  __host__ __device__ void operator()(std::int64_t i) const {
    double product = 0, sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      product += products[part * length + i];
      sum += sums[part * length + i];
    }
    if (dscale.elements != nullptr) dscale[i] = stored<T>(product);
    if (dbias.elements != nullptr) dbias[i] = stored<T>(sum);
  }
};

/// Enough threads for a GPU where rows are short, but no more partial sums than rows.
std::int64_t rows_a_part(const Rows& rows) {
  constexpr std::int64_t threads = 1 << 16, fewest = 16;
  const std::int64_t parts = std::max<std::int64_t>(1, threads / rows.length);
  return std::max(fewest, (rows.count + parts - 1) / parts);
}

template <typename T>
LaunchedKernel::Launches gradient_launches(const Rows& rows, const StridedPositions<1>& positions, std::int64_t part) {
  return [positions, part, count = rows.count, length = rows.length](const LaunchedKernel& self) {
    const In<T> dy = self.in<T>(0), x = self.in<T>(1);
    const ReadNumbers means = read_numbers(self, 3), inverses = read_numbers(self, 4);
    self.for_rows_of(count, length,
                     GradientRows<T>{dy, x, self.in<T>(2), means, inverses, self.out<T>(0), positions, length});
    const std::int64_t parts = (count + part - 1) / part, sums = parts * length;
    double* scratch = self.scratch<double>(2 * sums).elements;
    self.for_each(sums, PartialColumnSums<T>{
                            dy, x, means, inverses, {scratch, sums}, {scratch + sums, sums}, count, part, length});
    self.for_each(
        length, ColumnSums<T>{{scratch, sums}, {scratch + sums, sums}, self.out<T>(1), self.out<T>(2), parts, length});
  };
}

std::unique_ptr<Kernel> make_gradient(const Request& request) {
  const Format x = request.plain_input(1), scale = request.plain_input(2);
  const Rows rows = rows_of(request, x.dims());
  if (!FloatingTypes::contain(x.dtype()) || scale.dtype() != x.dtype() || scale.size() != rows.length ||
      rows.normalized_dims.size() > most_axes || !can_hold_numbers(request.plain_input(3)) ||
      !can_hold_numbers(request.plain_input(4)) || request.plain_input(0).dtype() != x.dtype()) {
    return nullptr;
  }
  const auto strides = broadcast_strides(scale, rows.normalized_dims);
  if (!strides) return nullptr;
  const auto positions = strided_positions<1>(rows.normalized_dims, {*strides});
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const std::int64_t part = rows_a_part(rows), parts = (rows.count + part - 1) / part;
  kernel->scratchpad_bytes = static_cast<std::size_t>(2 * parts * rows.length) * sizeof(double);
  FloatingTypes::dispatch(x.dtype(), [&](auto tag) {
    kernel->launches = gradient_launches<typename decltype(tag)::type>(rows, positions, part);
  });
  return kernel;
}

const FactoryRegistration layer_normalization("LayerNormalization", make_normalization<true>);
const FactoryRegistration rms_normalization("RMSNormalization", make_normalization<false>);
const TrainingFactoryRegistration layer_normalization_gradient("LayerNormalizationGrad", make_gradient);

}  // namespace

}  // namespace ort_train::runtime::cuda
