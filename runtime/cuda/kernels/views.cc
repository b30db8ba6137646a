// Operators that only give an array other extents: no instruction at all when it lies in row-major order.
#include "runtime/cuda/kernel.h"

namespace ort_train::runtime::cuda {

namespace {

class ViewKernel : public Kernel {
 public:
  ViewKernel(Format input, Format output) {
    name = "view";
    views = {{0, 0}};
    inputs = {std::move(input)};
    outputs = {std::move(output)};
  }
  void bind(const Pointers&) override {}
  void run() override {}
};

// The extents that Reshape and the like take are known; the array that holds them is not read.
std::unique_ptr<Kernel> make_view(const Request& request) {
  auto kernel = std::make_unique<ViewKernel>(request.plain_input(0), request.plain_output(0));
  kernel->inputs = request.plain_inputs();
  return kernel;
}

// Keeps the extents, and so whatever format the array has.
std::unique_ptr<Kernel> make_identity(const Request& request) {
  return std::make_unique<ViewKernel>(request.input(0), request.input(0));
}

const FactoryRegistration reshape("Reshape", make_view);
const FactoryRegistration flatten("Flatten", make_view);
const FactoryRegistration squeeze("Squeeze", make_view);
const FactoryRegistration unsqueeze("Unsqueeze", make_view);
const FactoryRegistration identity("Identity", make_identity);

}  // namespace

}  // namespace ort_train::runtime::cuda
