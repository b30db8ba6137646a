#include "models/initialization.h"

#include <cmath>

#include "base/random.h"

namespace ort_train::models {

Tensor initial_weight(Initialization initialization, const Dims& dims, std::uint64_t seed, std::uint32_t parameter) {
  if (dims.size() < 2) fail("a weight of shape ", to_string(dims), " has no fan in and fan out");
  const auto window = element_count(std::span(dims).subspan(2));
  const auto fan_in = static_cast<double>(dims[1] * window);
  const auto fan_out = static_cast<double>(dims[0] * window);

  Tensor weight(DataType::float32, dims);
  float* elements = weight.data<float>();
  RandomStream random(seed, RandomPurpose::initialization, parameter);
  if (initialization == Initialization::glorot_uniform) {
    const auto bound = static_cast<float>(std::sqrt(6.0 / (fan_in + fan_out)));
    for (std::int64_t i = 0; i < weight.size(); ++i) elements[i] = random.uniform(-bound, bound);
  } else {
    const auto deviation = static_cast<float>(std::sqrt(2.0 / fan_in));
    for (std::int64_t i = 0; i < weight.size(); ++i) elements[i] = deviation * random.normal();
  }
  return weight;
}

}  // namespace ort_train::models
