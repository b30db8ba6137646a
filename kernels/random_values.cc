#include "base/dispatch.h"
#include "kernels/functors/random_numbers.h"
#include "kernels/random_places.h"

namespace ort_train::kernels {

namespace {

template <typename T>
T converted(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

/// Draws elements [first, first + count) of a row.
template <typename T, typename Distribution>
void draw(const functors::RandomNumbers& numbers, const Distribution& distribution, std::uint64_t row,
          std::int64_t first, std::int64_t count, T* out) {
  constexpr std::int64_t per_block = 4 / Distribution::words;
  for (std::int64_t element = first; element < first + count;) {
    const PhiloxCounter words = numbers.words(row, static_cast<std::uint32_t>(element / per_block));
    do {
      *out++ = converted<T>(distribution(words.data() + element % per_block * Distribution::words));
    } while (++element % per_block != 0 && element < first + count);
  }
}

template <typename Distribution>
void fill(const Invocation& call, const Distribution& distribution, const RandomPlaces& places, Tensor& out) {
  const functors::RandomNumbers numbers(
      RandomPurpose::random_operator, static_cast<std::uint64_t>(call.node.integer("seed", 0)),
      static_cast<std::uint64_t>(call.node.integer("stream", 0)), static_cast<std::uint64_t>(integer_input(call, 1)));
  dispatch_any_floating(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* elements = out.data<T>();
    places.for_each_run([&](std::uint64_t row, std::int64_t element, std::int64_t offset, std::int64_t count) {
      draw(numbers, distribution, row, element, count, elements + offset);
    });
  });
}

/// The extents are those of X, whose elements are not read, or stand in `shape`.
void compute_random_values(Invocation& call) {
  const graph::Node& node = call.node;
  const Dims dims = call.has_input(0) ? call.inputs[0].dims() : node.integers("shape");
  Tensor& out = output(call, 0, static_cast<DataType>(node.integer("dtype", 0)), dims);
  const RandomPlaces places(node, dims, integer_input(call, 2));
  const std::string distribution = node.string("distribution", "uniform");
  const auto real = [&node](const char* name, float fallback) {
    return static_cast<double>(node.real(name, fallback));
  };
  if (distribution == "uniform") {
    fill(call, functors::Uniform{real("low", 0), real("high", 1)}, places, out);
  } else if (distribution == "normal") {
    fill(call, functors::Normal{real("mean", 0), real("scale", 1)}, places, out);
  } else if (distribution == "gumbel") {
    fill(call, functors::Gumbel{}, places, out);
  } else {
    fail("there is no distribution '", distribution, "'; distributions are gumbel, normal, uniform");
  }
}

const TrainingRegistration registration("RandomValues", compute_random_values);

}  // namespace

}  // namespace ort_train::kernels
