#pragma once

#include <cstdint>

#include "runtime/cpu/vector.h"

// Inner loops of normalization over the elements of `block` neighbouring channels of one sample: [size, block], as in
// nChw16c; block 1 is one row-major channel. Sums of a block of 1 are kept in 16 partial sums, so that they vectorize
// and round alike on every processor.
namespace ort_train::runtime::cpu {

template <int block>
struct ChannelLoops {
  using Block = Lanes<block>;
  static constexpr int partial_sums = block == 1 ? 16 : 4;

  ORT_TRAIN_VECTORIZED static void sum(const float* x, std::int64_t size, float* sums) {
    Block sum[partial_sums] = {};
    std::int64_t i = 0;
    for (; i + partial_sums <= size; i += partial_sums) {
      for (int p = 0; p < partial_sums; ++p) sum[p] += lanes<block>(x + (i + p) * block);
    }
    for (; i < size; ++i) sum[0] += lanes<block>(x + i * block);
    for (int p = 1; p < partial_sums; ++p) sum[0] += sum[p];
    lanes<block>(sums) = sum[0];
  }

  /// The sums of (x - mean)^2.
  ORT_TRAIN_VECTORIZED static void squared_deviation(const float* x, std::int64_t size, const float* mean,
                                                     float* squares) {
    const Block center = lanes<block>(mean);
    Block square[partial_sums] = {};
    std::int64_t i = 0;
    for (; i + partial_sums <= size; i += partial_sums) {
      for (int p = 0; p < partial_sums; ++p) {
        const Block difference = lanes<block>(x + (i + p) * block) - center;
        square[p] += difference * difference;
      }
    }
    for (; i < size; ++i) {
      const Block difference = lanes<block>(x + i * block) - center;
      square[0] += difference * difference;
    }
    for (int p = 1; p < partial_sums; ++p) square[0] += square[p];
    lanes<block>(squares) = square[0];
  }

  /// mean[block] and the sums of squared differences from it.
  static void moments(const float* x, std::int64_t size, float* mean, float* squares) {
    sum(x, size, mean);
    lanes<block>(mean) = lanes<block>(mean) / static_cast<float>(size);
    squared_deviation(x, size, mean, squares);
  }

  /// y = (x - mean) * factor + shift, negative results set to zero if `relu`.
  ORT_TRAIN_VECTORIZED static void normalize(const float* x, float* y, std::int64_t size, const float* mean,
                                             const float* factor, const float* shift, bool relu) {
    const Block m = lanes<block>(mean), f = lanes<block>(factor), s = lanes<block>(shift);
    const Block zero = {};
    if (relu) {
      for (std::int64_t i = 0; i < size; ++i) {
        const Block value = (lanes<block>(x + i * block) - m) * f + s;
        lanes<block>(y + i * block) = value < zero ? zero : value;
      }
    } else {
      for (std::int64_t i = 0; i < size; ++i) {
        lanes<block>(y + i * block) = (lanes<block>(x + i * block) - m) * f + s;
      }
    }
  }

  /// The sums of dy and of dy * (x - mean), where dy counts only where y > 0 unless y is null.
  ORT_TRAIN_VECTORIZED static void gradient_sums(const float* dy, const float* x, const float* y, std::int64_t size,
                                                 const float* mean, float* sums, float* products) {
    const Block m = lanes<block>(mean), zero = {};
    Block sum[partial_sums] = {}, product[partial_sums] = {};
    const auto add = [&](std::int64_t i, int p) __attribute__((always_inline)) {
      Block gradient = lanes<block>(dy + i * block);
      if (y != nullptr) gradient = lanes<block>(y + i * block) <= zero ? zero : gradient;
      sum[p] += gradient;
      product[p] += gradient * (lanes<block>(x + i * block) - m);
    };
    std::int64_t i = 0;
    for (; i + partial_sums <= size; i += partial_sums) {
      for (int p = 0; p < partial_sums; ++p) add(i + p, p);
    }
    for (; i < size; ++i) add(i, 0);
    for (int p = 1; p < partial_sums; ++p) {
      sum[0] += sum[p];
      product[0] += product[p];
    }
    lanes<block>(sums) = sum[0];
    lanes<block>(products) = product[0];
  }

  /// dx = dy * factor - (x - mean) * slope - offset, with dy masked as above. `dx` may be `dy`.
  ORT_TRAIN_VECTORIZED static void gradient(const float* dy, const float* x, const float* y, float* dx,
                                            std::int64_t size, const float* mean, const float* factor,
                                            const float* slope, const float* offset) {
    const Block m = lanes<block>(mean), f = lanes<block>(factor), s = lanes<block>(slope), o = lanes<block>(offset);
    const Block zero = {};
    if (y != nullptr) {
      for (std::int64_t i = 0; i < size; ++i) {
        const Block masked = lanes<block>(y + i * block) <= zero ? zero : lanes<block>(dy + i * block);
        lanes<block>(dx + i * block) = masked * f - (lanes<block>(x + i * block) - m) * s - o;
      }
    } else {
      for (std::int64_t i = 0; i < size; ++i) {
        lanes<block>(dx + i * block) = lanes<block>(dy + i * block) * f - (lanes<block>(x + i * block) - m) * s - o;
      }
    }
  }
};

}  // namespace ort_train::runtime::cpu
