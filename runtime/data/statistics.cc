#include "runtime/data/statistics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "runtime/data/field_binding.h"
#include "runtime/data/input_transform.h"
#include "runtime/data/parallel.h"

namespace ort_train::data {

namespace {

/// Sums per element over some samples.
struct Sums {
  std::vector<double> values, squares;
};

/// The samples are summed in this many pieces, whatever the number of threads: the order of additions, and so the
/// rounding, is always the same.
constexpr std::int64_t pieces = 32;

Sums sum_samples(const Dataset& dataset, std::size_t field, const InputTransform& transform, std::int64_t first,
                 std::int64_t end) {
  const auto count = static_cast<std::size_t>(element_count(transform.shape().dims));
  Sums sums{std::vector<double>(count, 0.0), std::vector<double>(count, 0.0)};
  std::vector<float> sample(count);
  Scratch scratch;
  scratch.raw.resize(dataset.fields()[field].bytes());
  for (std::int64_t index = first; index < end; ++index) {
    dataset.read(index, field, scratch.raw.data());
    transform.apply(scratch, std::nullopt, reinterpret_cast<std::byte*>(sample.data()));
    for (std::size_t i = 0; i < count; ++i) {
      const double value = sample[i];
      sums.values[i] += value;
      sums.squares[i] += value * value;
    }
  }
  return sums;
}

Sums sum_all(const Dataset& dataset, std::size_t field, const InputTransform& transform, int threads) {
  std::vector<Sums> parts(pieces);
  const std::int64_t size = dataset.size();
  run_in_parallel(pieces, threads, [&](std::int64_t piece) {
    parts[static_cast<std::size_t>(piece)] =
        sum_samples(dataset, field, transform, size * piece / pieces, size * (piece + 1) / pieces);
  });
  Sums total = std::move(parts[0]);
  for (std::size_t piece = 1; piece < parts.size(); ++piece) {
    for (std::size_t i = 0; i < total.values.size(); ++i) {
      total.values[i] += parts[piece].values[i];
      total.squares[i] += parts[piece].squares[i];
    }
  }
  return total;
}

/// Sums per channel, and how many numbers went into each.
struct ChannelSums {
  std::vector<double> values, squares;
  double count = 0.0;
};

ChannelSums sum_channels(const Sums& sums, const SampleShape& shape, std::int64_t samples) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  ChannelSums total{std::vector<double>(channels, 0.0), std::vector<double>(channels, 0.0), 0.0};
  for (std::size_t i = 0; i < sums.values.size(); ++i) {
    const auto channel = static_cast<std::size_t>(shape.channel_of(static_cast<std::int64_t>(i)));
    total.values[channel] += sums.values[i];
    total.squares[channel] += sums.squares[i];
  }
  total.count = static_cast<double>(sums.values.size() / channels) * static_cast<double>(samples);
  return total;
}

Statistics compute_for(const Dataset& dataset, std::size_t field, InputSlot slot, int threads) {
  const InputOptions wanted = slot.options;
  slot.dtype = DataType::float32;
  slot.options.augmentation = without_randomness(wanted.augmentation);
  slot.options.given_mean.clear();
  slot.options.given_deviation.clear();
  const InputTransform transform(dataset.fields()[field], slot, {});
  const SampleShape& shape = transform.shape();
  const Sums sums = sum_all(dataset, field, transform, threads);
  const ChannelSums channels = sum_channels(sums, shape, dataset.size());

  Statistics statistics;
  if (wanted.mean == InputOptions::Mean::per_pixel) {
    statistics.mean = Tensor(DataType::float32, shape.dims);
    for (std::size_t i = 0; i < sums.values.size(); ++i) {
      statistics.mean.data<float>()[i] = static_cast<float>(sums.values[i] / static_cast<double>(dataset.size()));
    }
  } else if (wanted.mean == InputOptions::Mean::per_channel) {
    statistics.mean = Tensor(DataType::float32, {shape.channels});
    for (std::size_t i = 0; i < channels.values.size(); ++i) {
      statistics.mean.data<float>()[i] = static_cast<float>(channels.values[i] / channels.count);
    }
  }
  if (wanted.deviation) {
    statistics.deviation = Tensor(DataType::float32, {shape.channels});
    for (std::size_t i = 0; i < channels.values.size(); ++i) {
      const double mean = channels.values[i] / channels.count;
      const double variance = channels.squares[i] / channels.count - mean * mean;
      statistics.deviation.data<float>()[i] = static_cast<float>(std::sqrt(std::max(variance, 0.0)));
    }
  }
  return statistics;
}

}  // namespace

StatisticsByInput compute_statistics(const Dataset& training, const std::vector<InputSlot>& inputs, int threads) {
  StatisticsByInput statistics;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].options.needs_statistics()) continue;
    const std::size_t field = find_field(training, FieldRole::input, inputs[i].options.field, inputs[i].name, i);
    statistics[inputs[i].name] = compute_for(training, field, inputs[i], threads);
  }
  return statistics;
}

std::map<std::string, Tensor> to_tensors(const StatisticsByInput& statistics) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [input, numbers] : statistics) {
    if (numbers.mean.defined()) tensors[input + "/mean"] = numbers.mean;
    if (numbers.deviation.defined()) tensors[input + "/deviation"] = numbers.deviation;
  }
  return tensors;
}

StatisticsByInput statistics_from_tensors(const std::map<std::string, Tensor>& tensors) {
  StatisticsByInput statistics;
  for (const auto& [key, tensor] : tensors) {
    const std::size_t slash = key.rfind('/');
    const std::string input = key.substr(0, slash), what = slash == std::string::npos ? "" : key.substr(slash + 1);
    if (what == "mean") {
      statistics[input].mean = tensor;
    } else if (what == "deviation") {
      statistics[input].deviation = tensor;
    } else {
      fail("'", key, "' is not the name of a statistic of an input");
    }
  }
  return statistics;
}

}  // namespace ort_train::data
