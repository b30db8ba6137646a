#include <algorithm>
#include <cmath>

#include "base/dispatch.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

// X seen as `rows` rows of `length` elements: the axes from 'axis' on are normalized together.
struct Rows {
  std::int64_t count, length;
  Dims normalized_dims;
  Dims statistics_dims;  // those of X with the normalized extents 1
};

Rows rows_of(const graph::Node& node, const Dims& dims) {
  const std::int64_t axis = normalized_axis(node.integer("axis", -1), static_cast<std::int64_t>(dims.size()));
  const Dims outer(dims.begin(), dims.begin() + axis), inner(dims.begin() + axis, dims.end());
  Dims statistics = outer;
  statistics.resize(dims.size(), 1);
  return {element_count(outer), element_count(inner), inner, statistics};
}

// For every element of a row the element of scale (bias) that belongs to it: they broadcast to the normalized extents.
std::vector<std::int64_t> places_in(const Dims& dims, const Rows& rows) {
  Dims padded = dims;
  const std::size_t rank = rows.normalized_dims.size();
  if (padded.size() > rank) fail("an array of shape ", to_string(dims), " has more axes than are normalized");
  padded.insert(padded.begin(), rank - padded.size(), 1);
  Dims strides = row_major_strides(padded);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (padded[axis] != 1 && padded[axis] != rows.normalized_dims[axis]) {
      fail("an array of shape ", to_string(dims), " does not broadcast to ", to_string(rows.normalized_dims));
    }
    if (padded[axis] == 1) strides[axis] = 0;
  }
  std::vector<std::int64_t> places(static_cast<std::size_t>(rows.length));
  Dims index(rank, 0);
  for (std::int64_t& place : places) {
    place = offset_of(index, strides);
    advance(index, rows.normalized_dims);
  }
  return places;
}

// Scale or bias, one number for every element of a row; `fallback` where the input is left out.
std::vector<double> row_input(const Invocation& call, std::size_t index, const Rows& rows, double fallback) {
  std::vector<double> values(static_cast<std::size_t>(rows.length), fallback);
  if (!call.has_input(index)) return values;
  const std::vector<double> elements = call.inputs[index].to_doubles();
  const std::vector<std::int64_t> places = places_in(call.inputs[index].dims(), rows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = elements[static_cast<std::size_t>(places[i])];
  return values;
}

template <typename Body>
void for_each_row(const Rows& rows, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, rows.length));
  parallel_for(rows.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

void write_statistics(Invocation& call, std::size_t index, const Rows& rows, const std::vector<double>& values) {
  if (!wants_output(call, index)) return;
  const auto stash_type = static_cast<DataType>(call.node.integer("stash_type", 1));
  Tensor& out = output(call, index, stash_type, rows.statistics_dims);
  dispatch(stash_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T>) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if constexpr (std::is_same_v<T, double>) {
          out.data<T>()[i] = values[i];
        } else {
          out.data<T>()[i] = T(static_cast<float>(values[i]));
        }
      }
    } else {
      fail("statistics cannot be stored as ", name_of(stash_type));
    }
  });
}

template <typename T>
double mean_of(const T* row, std::int64_t length) {
  double sum = 0;
  for (std::int64_t i = 0; i < length; ++i) sum += static_cast<double>(row[i]);
  return sum / static_cast<double>(length);
}

template <typename T>
double mean_square_of(const T* row, std::int64_t length, double mean) {
  double sum = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const double difference = static_cast<double>(row[i]) - mean;
    sum += difference * difference;
  }
  return sum / static_cast<double>(length);
}

// LayerNormalization takes the mean of a row off first, RMSNormalization does not. The arithmetic is in double
// precision whatever the stash type is.
void normalize_rows(Invocation& call, bool centered) {
  const Tensor& x = call.inputs[0];
  const Rows rows = rows_of(call.node, x.dims());
  const auto epsilon = static_cast<double>(call.node.real("epsilon", 1e-5f));
  const std::vector<double> scale = row_input(call, 1, rows, 1), bias = row_input(call, 2, rows, 0);
  std::vector<double> means(static_cast<std::size_t>(rows.count), 0.0), inverses(means.size());
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_row(rows, [&](std::int64_t row) {
      const T* source = x.data<T>() + row * rows.length;
      T* target = y.data<T>() + row * rows.length;
      const double mean = centered ? mean_of(source, rows.length) : 0.0;
      const double inverse = 1 / std::sqrt(mean_square_of(source, rows.length, mean) + epsilon);
      for (std::size_t i = 0; i < scale.size(); ++i) {
        target[i] = static_cast<T>((static_cast<double>(source[i]) - mean) * inverse * scale[i] + bias[i]);
      }
      means[static_cast<std::size_t>(row)] = mean;
      inverses[static_cast<std::size_t>(row)] = inverse;
    });
  });
  if (!centered) return;
  write_statistics(call, 1, rows, means);
  write_statistics(call, 2, rows, inverses);
}

void compute_layer_normalization(Invocation& call) { normalize_rows(call, true); }
void compute_rms_normalization(Invocation& call) { normalize_rows(call, false); }

// Writes sums that belong to the elements of a row into an array of the shape of scale.
void write_row_sums(Invocation& call, std::size_t index, const Rows& rows, const std::vector<double>& sums) {
  if (!wants_output(call, index)) return;
  const Tensor& scale = call.inputs[2];
  const std::vector<std::int64_t> places = places_in(scale.dims(), rows);
  std::vector<double> totals(static_cast<std::size_t>(scale.size()), 0.0);
  for (std::size_t i = 0; i < sums.size(); ++i) totals[static_cast<std::size_t>(places[i])] += sums[i];
  Tensor& out = output(call, index, scale.dtype(), scale.dims());
  dispatch_floating(scale.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t i = 0; i < totals.size(); ++i) out.data<T>()[i] = static_cast<T>(totals[i]);
  });
}

// With n = (x - mean) * inverse and g = dY * scale in a row of L elements:
// dX = inverse * (g - sum(g) / L - n * sum(g * n) / L), dScale = sum over rows of dY * n, dB = sum over rows of dY.
// J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization" (2016).
void compute_layer_normalization_grad(Invocation& call) {
  const Tensor& gradient = call.inputs[0];
  const Tensor& x = call.inputs[1];
  const Rows rows = rows_of(call.node, x.dims());
  const std::vector<double> scale = row_input(call, 2, rows, 1);
  const std::vector<double> means = call.inputs[3].to_doubles(), inverses = call.inputs[4].to_doubles();
  const auto count = static_cast<std::size_t>(rows.count);
  if (gradient.dims() != x.dims() || means.size() != count || inverses.size() != count) {
    fail("dY, mean or inv_std_dev do not fit X of shape ", to_string(x.dims()));
  }
  std::vector<double> scale_sums(scale.size(), 0.0), bias_sums(scale.size(), 0.0);
  Tensor& result = output(call, 0, x.dtype(), x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* dy = gradient.data<T>();
    const T* source = x.data<T>();
    const auto length = static_cast<double>(rows.length);
    for_each_row(rows, [&](std::int64_t row) {
      const double mean = means[static_cast<std::size_t>(row)], inverse = inverses[static_cast<std::size_t>(row)];
      const std::int64_t first = row * rows.length;
      double sum = 0, product = 0;
      for (std::int64_t i = 0; i < rows.length; ++i) {
        const double g = static_cast<double>(dy[first + i]) * scale[static_cast<std::size_t>(i)];
        sum += g;
        product += g * (static_cast<double>(source[first + i]) - mean) * inverse;
      }
      for (std::int64_t i = 0; i < rows.length; ++i) {
        const double g = static_cast<double>(dy[first + i]) * scale[static_cast<std::size_t>(i)];
        const double n = (static_cast<double>(source[first + i]) - mean) * inverse;
        result.data<T>()[first + i] = static_cast<T>(inverse * (g - sum / length - n * product / length));
      }
    });
    // Every thread has columns of its own and takes the rows in order.
    parallel_for(rows.length, std::max<std::int64_t>(1, cheap_grain / std::max<std::int64_t>(1, rows.count)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = 0; row < rows.count; ++row) {
                     const double mean = means[static_cast<std::size_t>(row)];
                     const double inverse = inverses[static_cast<std::size_t>(row)];
                     for (std::int64_t i = begin; i < end; ++i) {
                       const auto g = static_cast<double>(dy[row * rows.length + i]);
                       const double n = (static_cast<double>(source[row * rows.length + i]) - mean) * inverse;
                       scale_sums[static_cast<std::size_t>(i)] += g * n;
                       bias_sums[static_cast<std::size_t>(i)] += g;
                     }
                   }
                 });
  });
  write_row_sums(call, 1, rows, scale_sums);
  write_row_sums(call, 2, rows, bias_sums);
}

const Registration layer_normalization("LayerNormalization", compute_layer_normalization);
const Registration rms_normalization("RMSNormalization", compute_rms_normalization);
const TrainingRegistration layer_normalization_grad("LayerNormalizationGrad", compute_layer_normalization_grad);

}  // namespace

}  // namespace ort_train::kernels
