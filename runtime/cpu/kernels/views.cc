// Operators that only give an array other extents: no instruction at all when it lies in row-major order.
#include "runtime/cpu/kernel.h"

namespace ort_train::runtime::cpu {

namespace {

class ViewKernel : public Kernel {
 public:
  ViewKernel() {
    name = "view";
    views = {{0, 0}};
  }
  void bind(const Pointers&) override {}
  void run() override {}
};

std::unique_ptr<Kernel> make_view(const Request& request) {
  auto kernel = std::make_unique<ViewKernel>();
  kernel->inputs = request.plain_inputs();
  kernel->outputs = request.plain_outputs();
  return kernel;
}

// Keeps the extents, and so whatever format the array has.
std::unique_ptr<Kernel> make_identity(const Request& request) {
  auto kernel = std::make_unique<ViewKernel>();
  kernel->inputs = {request.input(0)};
  kernel->outputs = {request.input(0)};
  return kernel;
}

const FactoryRegistration reshape("Reshape", make_view);
const FactoryRegistration flatten("Flatten", make_view);
const FactoryRegistration squeeze("Squeeze", make_view);
const FactoryRegistration unsqueeze("Unsqueeze", make_view);
const FactoryRegistration identity("Identity", make_identity);

}  // namespace

}  // namespace ort_train::runtime::cpu
