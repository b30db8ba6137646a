// RenderImages: augmentation on the device, from the bytes that the data hold.
#include "kernels/render_images.h"
#include "runtime/cuda/launched_kernel.h"

namespace ort_train::runtime::cuda {

namespace {

using ort_train::kernels::functors::RenderedImage;

template <typename T>
struct RenderPixels {
  In<T> source;
  In<float> placements;
  Out<float> target;
  std::int64_t channels;
  RenderedImage image;

  void arrays(Accesses& accesses) const { accesses(source)(placements)(target); }
  __host__ __device__ void operator()(std::int64_t i) const {
    const std::int64_t x = i % image.width, y = i / image.width % image.height;
    const std::int64_t plane = i / (image.width * image.height);
    const float* placement = placements.elements + plane / channels * RenderedImage::placement_size;
    target[i] = image.pixel(source.elements + plane * image.source_height * image.source_width, placement, y, x);
  }
};

std::unique_ptr<Kernel> make_render(const Request& request) {
  const Format source = request.plain_input(0);
  const RenderedImage image = ort_train::kernels::rendered_image(request.node, source.dims());
  const Dims placements = {source.dims()[0], RenderedImage::placement_size};
  if (request.plain_input(1).dims() != placements || (source.size() == 0 && request.plain_output(0).size() > 0)) {
    return nullptr;  // the host kernel says what is wrong
  }
  auto kernel = std::make_unique<LaunchedKernel>(request);
  const std::int64_t channels = source.dims()[1];
  const auto launch = [kernel = kernel.get(), image, channels](auto tag) {
    using T = decltype(tag);
    kernel->launches = [image, channels](const LaunchedKernel& self) {
      self.for_each(self.outputs[0].size(),
                    RenderPixels<T>{self.in<T>(0), self.in<float>(1), self.out<float>(0), channels, image});
    };
  };
  if (source.dtype() == DataType::uint8) {
    launch(std::uint8_t());
  } else {
    launch(float());
  }
  return kernel;
}

const TrainingFactoryRegistration registration("RenderImages", make_render);

}  // namespace

}  // namespace ort_train::runtime::cuda
