#include "runtime/cpu/kernels/winograd.h"

#include <omp.h>

#include "kernels/parallel.h"
#include "runtime/cpu/vector.h"

namespace ort_train::runtime::cpu {

namespace {

constexpr int lane_count = 16;
using Block = Lanes<lane_count>;

constexpr std::int64_t tile_out = 4, tile_in = 6, frequencies = tile_in * tile_in;
// Rows of a product that are kept in registers.
constexpr std::int64_t rows = 14;
// What one thread keeps of transformed tiles should stay in its second-level cache.
constexpr std::int64_t cache_floats = 192 * 1024;

#define ORT_TRAIN_INLINE inline __attribute__((always_inline))

// The three transforms along one axis; `step` is the distance of neighbours. Matrices G, B^T and A^T of the paper.
ORT_TRAIN_INLINE void transform_weight(const Block* g, std::int64_t g_step, Block* out, std::int64_t step) {
  const Block a = g[0], b = g[g_step], c = g[2 * g_step];
  const Block even = (a + c) * (-1.0f / 6), odd = b * (1.0f / 6);
  const Block far = a * (1.0f / 24) + c * (1.0f / 6), middle = b * (1.0f / 12);
  out[0] = a * 0.25f;
  out[step] = even - odd;
  out[2 * step] = even + odd;
  out[3 * step] = far + middle;
  out[4 * step] = far - middle;
  out[5 * step] = c;
}

ORT_TRAIN_INLINE void transform_input(const Block* d, std::int64_t d_step, Block* out, std::int64_t step) {
  const Block d0 = d[0], d1 = d[d_step], d2 = d[2 * d_step], d3 = d[3 * d_step], d4 = d[4 * d_step], d5 = d[5 * d_step];
  const Block a = d4 - 4.0f * d2, b = d3 - 4.0f * d1;
  const Block c = d4 - d2, e = 2.0f * (d3 - d1);
  out[0] = 4.0f * d0 - 5.0f * d2 + d4;
  out[step] = a + b;
  out[2 * step] = a - b;
  out[3 * step] = c + e;
  out[4 * step] = c - e;
  out[5 * step] = 4.0f * d1 - 5.0f * d3 + d5;
}

ORT_TRAIN_INLINE void transform_output(const Block* m, std::int64_t m_step, Block* out, std::int64_t step) {
  const Block near_sum = m[m_step] + m[2 * m_step], near_difference = m[m_step] - m[2 * m_step];
  const Block far_sum = m[3 * m_step] + m[4 * m_step], far_difference = m[3 * m_step] - m[4 * m_step];
  out[0] = m[0] + near_sum + far_sum;
  out[step] = near_difference + 2.0f * far_difference;
  out[2 * step] = near_sum + 4.0f * far_sum;
  out[3 * step] = near_difference + 8.0f * far_difference + m[5 * m_step];
}

// One reduction channel of one output block: nine vectors of the weight, `spacing` floats apart, become 36,
// `target_step` floats apart.
ORT_TRAIN_VECTORIZED void transform_weights(const float* weight, std::int64_t spacing, float* target,
                                            std::int64_t target_step) {
  Block g[9], half[18], all[frequencies];
  for (std::int64_t k = 0; k < 9; ++k) g[k] = lanes<lane_count>(weight + k * spacing);
  for (std::int64_t column = 0; column < 3; ++column) transform_weight(g + column, 3, half + column, 3);
  for (std::int64_t row = 0; row < tile_in; ++row) transform_weight(half + 3 * row, 1, all + tile_in * row, 1);
  for (std::int64_t f = 0; f < frequencies; ++f) lanes<lane_count>(target + f * target_step) = all[f];
}

// A tile of one channel block whose first element may lie outside of the image [height, width], where there are zeros.
ORT_TRAIN_VECTORIZED void transform_tile(const float* image, std::int64_t height, std::int64_t width, std::int64_t top,
                                         std::int64_t left, float* target, std::int64_t target_step) {
  Block d[frequencies], half[frequencies];
  const bool inside = top >= 0 && left >= 0 && top + tile_in <= height && left + tile_in <= width;
  if (inside) {
    const float* corner = image + (top * width + left) * lane_count;
    for (std::int64_t i = 0; i < tile_in; ++i) {
      for (std::int64_t j = 0; j < tile_in; ++j) {
        d[i * tile_in + j] = lanes<lane_count>(corner + (i * width + j) * lane_count);
      }
    }
  } else {
    for (std::int64_t i = 0; i < tile_in; ++i) {
      for (std::int64_t j = 0; j < tile_in; ++j) {
        const std::int64_t y = top + i, x = left + j;
        const bool exists = y >= 0 && y < height && x >= 0 && x < width;
        d[i * tile_in + j] = exists ? lanes<lane_count>(image + (y * width + x) * lane_count) : Block{};
      }
    }
  }
  for (std::int64_t j = 0; j < tile_in; ++j) transform_input(d + j, tile_in, half + j, tile_in);
  for (std::int64_t i = 0; i < tile_in; ++i) transform_input(half + i * tile_in, 1, d + i * tile_in, 1);
  for (std::int64_t f = 0; f < frequencies; ++f) lanes<lane_count>(target + f * target_step) = d[f];
}

// Writes what of the tile lies inside of [height, width]. `bias` may be null.
ORT_TRAIN_VECTORIZED void finish_tile(const float* products, std::int64_t step, const float* bias, float* image,
                                      std::int64_t height, std::int64_t width, std::int64_t top, std::int64_t left) {
  Block m[frequencies], half[tile_out * tile_in], out[tile_out * tile_out];
  for (std::int64_t f = 0; f < frequencies; ++f) m[f] = lanes<lane_count>(products + f * step);
  for (std::int64_t j = 0; j < tile_in; ++j) transform_output(m + j, tile_in, half + j, tile_in);
  for (std::int64_t i = 0; i < tile_out; ++i) transform_output(half + i * tile_in, 1, out + i * tile_out, 1);
  const Block added = bias == nullptr ? Block{} : lanes<lane_count>(bias);
  for (std::int64_t i = 0; i < tile_out && top + i < height; ++i) {
    for (std::int64_t j = 0; j < tile_out && left + j < width; ++j) {
      lanes<lane_count>(image + ((top + i) * width + left + j) * lane_count) = out[i * tile_out + j] + added;
    }
  }
}

// products[r] = sum over k of tiles[r, k] * weights[k], for `groups * rows` rows and one block of outputs.
ORT_TRAIN_VECTORIZED void multiply(const float* tiles, const float* weights, float* products, std::int64_t groups,
                                   std::int64_t inputs, std::int64_t outputs) {
  for (std::int64_t group = 0; group < groups; ++group) {
    Block sums[rows] = {};
    for (std::int64_t k = 0; k < inputs; ++k) {
      const Block weight = lanes<lane_count>(weights + k * lane_count);
      for (std::int64_t r = 0; r < rows; ++r) sums[r] += tiles[r * inputs + k] * weight;
    }
    for (std::int64_t r = 0; r < rows; ++r) lanes<lane_count>(products + r * outputs) = sums[r];
    tiles += rows * inputs;
    products += rows * outputs;
  }
}

class WinogradKernel : public Kernel {
 public:
  WinogradKernel(const Context& context, const WinogradShape& shape, WinogradUse use, bool has_bias)
      : shape_(shape), use_(use), has_bias_(has_bias) {
    name = "own winograd";
    tiles_down_ = (shape.out_height + tile_out - 1) / tile_out;
    tiles_across_ = (shape.out_width + tile_out - 1) / tile_out;
    tiles_ = shape.samples * tiles_down_ * tiles_across_;
    const std::int64_t per_group = frequencies * rows * (shape.inputs + shape.outputs);
    chunk_ = rows * std::max<std::int64_t>(1, std::min<std::int64_t>(8, cache_floats / per_group));
    scratchpad_bytes = static_cast<std::size_t>(weights_size() + context.threads * thread_size()) * sizeof(float);
    last_thread_ = context.threads - 1;
  }

  void bind(const Pointers& pointers) override {
    x_ = pointers.input<float>(0);
    w_ = pointers.input<float>(1);
    b_ = has_bias_ ? pointers.input<float>(2) : nullptr;
    y_ = pointers.output<float>(0);
    transformed_weights_ = reinterpret_cast<float*>(pointers.scratchpad);
  }

  void run() override {
    ort_train::kernels::parallel_for(output_blocks() * input_blocks(), 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) prepare_weights(i / input_blocks(), i % input_blocks());
    });
    const std::int64_t chunks = (tiles_ + chunk_ - 1) / chunk_;
    ort_train::kernels::parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      float* memory = transformed_weights_ + weights_size() + thread() * thread_size();
      for (std::int64_t i = begin; i < end; ++i) run_chunk(i * chunk_, std::min(tiles_, (i + 1) * chunk_), memory);
    });
  }

 private:
  struct Place {
    std::int64_t sample, top, left;
  };

  std::int64_t input_blocks() const { return shape_.inputs / lane_count; }
  std::int64_t output_blocks() const { return shape_.outputs / lane_count; }
  std::int64_t weights_size() const { return frequencies * shape_.inputs * shape_.outputs; }
  std::int64_t thread_size() const { return frequencies * chunk_ * (shape_.inputs + shape_.outputs); }
  std::int64_t thread() const { return std::min(last_thread_, omp_get_thread_num()); }

  Place place_of(std::int64_t tile) const {
    return {tile / (tiles_down_ * tiles_across_), tile / tiles_across_ % tiles_down_ * tile_out,
            tile % tiles_across_ * tile_out};
  }

  // [frequency][output block][input][16 outputs]. The weight lies as OIhw16i16o for the forward convolution; its
  // gradient runs it backwards, upside down and from O to I, and wants OIhw16o16i.
  void prepare_weights(std::int64_t output_block, std::int64_t input_block) {
    constexpr std::int64_t square = lane_count * lane_count, kernel = 9 * square;
    const bool forward = use_ == WinogradUse::forward;
    const float* source = forward ? w_ + (output_block * input_blocks() + input_block) * kernel
                                  : w_ + (input_block * output_blocks() + output_block) * kernel + 8 * square;
    for (std::int64_t i = 0; i < lane_count; ++i) {
      const std::int64_t input = input_block * lane_count + i;
      transform_weights(source + i * lane_count, forward ? square : -square,
                        transformed_weights_ + (output_block * shape_.inputs + input) * lane_count,
                        shape_.inputs * shape_.outputs);
    }
  }

  // Tiles [begin, end): [frequency][tile][inputs] times the weights gives [frequency][tile][outputs].
  void run_chunk(std::int64_t begin, std::int64_t end, float* memory) {
    const std::int64_t groups = (end - begin + rows - 1) / rows, count = groups * rows;
    float *tiles = memory, *products = memory + frequencies * chunk_ * shape_.inputs;
    for (std::int64_t t = 0; t < count; ++t) {
      const Place place = place_of(std::min(begin + t, end - 1));
      for (std::int64_t block = 0; block < input_blocks(); ++block) {
        const float* image = x_ + (place.sample * input_blocks() + block) * shape_.height * shape_.width * lane_count;
        transform_tile(image, shape_.height, shape_.width, place.top - shape_.pad_top, place.left - shape_.pad_left,
                       tiles + t * shape_.inputs + block * lane_count, count * shape_.inputs);
      }
    }
    for (std::int64_t f = 0; f < frequencies; ++f) {
      for (std::int64_t block = 0; block < output_blocks(); ++block) {
        multiply(tiles + f * count * shape_.inputs,
                 transformed_weights_ + (f * output_blocks() + block) * shape_.inputs * lane_count,
                 products + f * count * shape_.outputs + block * lane_count, groups, shape_.inputs, shape_.outputs);
      }
    }
    for (std::int64_t t = 0; t < end - begin; ++t) {
      const Place place = place_of(begin + t);
      for (std::int64_t block = 0; block < output_blocks(); ++block) {
        float* image =
            y_ + (place.sample * output_blocks() + block) * shape_.out_height * shape_.out_width * lane_count;
        finish_tile(products + t * shape_.outputs + block * lane_count, count * shape_.outputs,
                    b_ == nullptr ? nullptr : b_ + block * lane_count, image, shape_.out_height, shape_.out_width,
                    place.top, place.left);
      }
    }
  }

  WinogradShape shape_;
  WinogradUse use_;
  bool has_bias_;
  int last_thread_ = 0;
  std::int64_t tiles_down_, tiles_across_, tiles_, chunk_;
  const float *x_ = nullptr, *w_ = nullptr, *b_ = nullptr;
  float *y_ = nullptr, *transformed_weights_ = nullptr;
};

}  // namespace

bool winograd_fits(const WinogradShape& shape, const Context& context) {
  if (!context.winograd || context.channel_block != lane_count) return false;
  if (shape.inputs % lane_count != 0 || shape.outputs % lane_count != 0) return false;
  if (shape.pad_top < 0 || shape.pad_left < 0 || shape.samples * shape.out_height * shape.out_width == 0) return false;
  // Transforms are worth it when enough channels share them, and tiles must not stick out too far.
  constexpr std::int64_t fewest_channels = 32;
  const auto used = static_cast<double>(shape.out_height * shape.out_width);
  const auto computed = static_cast<double>((shape.out_height + tile_out - 1) / tile_out * tile_out *
                                            ((shape.out_width + tile_out - 1) / tile_out * tile_out));
  return shape.inputs >= fewest_channels && shape.outputs >= fewest_channels && used / computed >= 0.7;
}

std::unique_ptr<Kernel> make_winograd(const Request& request, const WinogradShape& shape, WinogradUse use,
                                      bool has_bias) {
  using Tag = dnnl::memory::format_tag;
  const bool forward = use == WinogradUse::forward;
  auto kernel = std::make_unique<WinogradKernel>(request.context, shape, use, has_bias);
  const Dims weight = request.plain_input(1).dims();
  kernel->inputs = request.plain_inputs();
  kernel->inputs[0] = Format::of(channel_blocked_desc(request.plain_input(0).dims(), lane_count));
  kernel->inputs[1] =
      Format::of(dnnl::memory::desc(weight, dnnl::memory::data_type::f32, forward ? Tag::OIhw16i16o : Tag::OIhw16o16i));
  kernel->outputs = {Format::of(channel_blocked_desc(request.plain_output(0).dims(), lane_count))};
  return kernel;
}

}  // namespace ort_train::runtime::cpu
