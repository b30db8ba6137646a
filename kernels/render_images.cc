#include "kernels/render_images.h"

#include "base/error.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"

namespace ort_train::kernels {

functors::RenderedImage rendered_image(const graph::Node& node, const Dims& source) {
  if (source.size() != 4) fail("images [N,C,height,width] were expected, not ", to_string(source));
  const std::string name = node.string("fill", "nearest");
  const std::optional<FillMode> fill = fill_mode_of(name);
  if (!fill) fail("'fill' is nearest, constant, reflect or wrap, not '", name, "'");
  return {source[2],
          source[3],
          node.integer("height", source[2]),
          node.integer("width", source[3]),
          *fill,
          node.real("fill_value", 0)};
}

namespace {

template <typename T>
void render(const functors::RenderedImage& image, const Tensor& source, const float* placements, Tensor& target) {
  const std::int64_t channels = source.dims()[1], source_plane = image.source_height * image.source_width;
  const std::int64_t plane = image.height * image.width;
  parallel_for(source.dims()[0] * channels, plane, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* from = source.data<T>() + i * source_plane;
      const float* placement = placements + i / channels * functors::RenderedImage::placement_size;
      float* to = target.data<float>() + i * plane;
      for (std::int64_t y = 0; y < image.height; ++y) {
        for (std::int64_t x = 0; x < image.width; ++x) *to++ = image.pixel(from, placement, y, x);
      }
    }
  });
}

void compute_render_images(Invocation& call) {
  const Tensor &source = call.inputs.at(0), &placements = call.inputs.at(1);
  const functors::RenderedImage image = rendered_image(call.node, source.dims());
  const Dims expected = {source.dims()[0], functors::RenderedImage::placement_size};
  if (placements.dims() != expected) {
    fail("placements ", to_string(expected), " were expected, not ", to_string(placements.dims()));
  }
  const Dims dims = {source.dims()[0], source.dims()[1], image.height, image.width};
  Tensor& target = output(call, 0, DataType::float32, dims);
  if (source.size() == 0 && target.size() > 0) fail("an empty image has no pixels to show");
  if (source.dtype() == DataType::uint8) {
    render<std::uint8_t>(image, source, placements.data<float>(), target);
  } else {
    render<float>(image, source, placements.data<float>(), target);
  }
}

const TrainingRegistration registration("RenderImages", compute_render_images);

}  // namespace

}  // namespace ort_train::kernels
