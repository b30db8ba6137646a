// Cast and CastLike.
#include "kernels/functors/convert.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

/// The type of the source is looked at on the device: a kernel for each pair of types would be many.
template <typename To>
struct ConvertElements {
  In<std::uint8_t> source;
  DataType from;
  Out<To> target;

  void arrays(Accesses& accesses) const { accesses(source)(target); }
  __host__ __device__ void operator()(std::int64_t i) const {
    switch (from) {
      case DataType::boolean: return convert<bool>(i);
      case DataType::int8: return convert<std::int8_t>(i);
      case DataType::int16: return convert<std::int16_t>(i);
      case DataType::int32: return convert<std::int32_t>(i);
      case DataType::int64: return convert<std::int64_t>(i);
      case DataType::uint8: return convert<std::uint8_t>(i);
      case DataType::uint16: return convert<std::uint16_t>(i);
      case DataType::uint32: return convert<std::uint32_t>(i);
      case DataType::uint64: return convert<std::uint64_t>(i);
      case DataType::float16: return convert<Float16>(i);
      case DataType::bfloat16: return convert<BFloat16>(i);
      case DataType::float32: return convert<float>(i);
      default: return convert<double>(i);
    }
  }

 private:
  template <typename From>
  __host__ __device__ void convert(std::int64_t i) const {
    const From element = reinterpret_cast<const From*>(source.elements)[i];
    target[i] = stored<To>(functors::Convert<Computed<To>>{}(loaded(element)));
  }
};

std::unique_ptr<Kernel> make_cast(const Request& request) {
  const DataType from = request.plain_input(0).dtype(), to = request.plain_output(0).dtype();
  if (from == DataType::string || to == DataType::string) return nullptr;
  const ElementwisePlan plan(request, 1);
  auto kernel = std::make_unique<LaunchedKernel>(request);
  plan.apply_to(*kernel, 1);
  dispatch(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    kernel->launches = [plan, from](const LaunchedKernel& self) {
      const auto bytes = static_cast<std::int64_t>(plan.operand(0).bytes());
      const In<std::uint8_t> source{self.in<std::uint8_t>(0).elements, bytes};
      self.for_each(plan.count(), ConvertElements<To>{source, from, self.out<To>(0)});
    };
  });
  return kernel;
}

const FactoryRegistration registrations[] = {{"Cast", make_cast}, {"CastLike", make_cast}};

}  // namespace

}  // namespace ort_train::runtime::cuda
