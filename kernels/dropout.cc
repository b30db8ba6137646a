#include <algorithm>

#include "kernels/dropout_scale.h"
#include "kernels/elementwise.h"
#include "kernels/functors/math.h"
#include "kernels/functors/random_numbers.h"
#include "kernels/random_places.h"

namespace ort_train::kernels {

namespace {

/// An element stays where its number in [0, 1) is not below the ratio. `mask` is for `count` elements of the row from
/// `first` on.
void draw_mask(const functors::RandomNumbers& numbers, std::uint64_t row, float ratio, std::int64_t first,
               std::int64_t count, bool* mask) {
  for (std::int64_t element = first; element < first + count;) {
    const PhiloxCounter words = numbers.words(row, static_cast<std::uint32_t>(element / 4));
    do {
      *mask++ = to_unit_float(words[static_cast<std::size_t>(element % 4)]) >= ratio;
    } while (++element % 4 != 0 && element < first + count);
  }
}

template <typename T>
void apply_mask(const T* source, const bool* mask, T scale, std::int64_t count, T* target) {
  for (std::int64_t i = 0; i < count; ++i) target[i] = mask[i] ? source[i] * scale : T(0);
}

void compute_training_dropout(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const float ratio = call.node.real("ratio", 0.5f);
  const double scale = dropout_scale(ratio);
  const functors::RandomNumbers numbers(
      RandomPurpose::dropout, static_cast<std::uint64_t>(call.node.integer("seed", 0)),
      static_cast<std::uint64_t>(call.node.integer("stream", 0)), static_cast<std::uint64_t>(integer_input(call, 1)));
  const RandomPlaces places(call.node, x.dims(), integer_input(call, 2));
  Tensor& y = output(call, 0, x.dtype(), x.dims());
  Tensor mask =
      wants_output(call, 1) ? output(call, 1, DataType::boolean, x.dims()) : Tensor(DataType::boolean, x.dims());
  bool* kept = mask.data<bool>();
  dispatch_floating(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = x.data<T>();
    T* target = y.data<T>();
    places.for_each_run([&](std::uint64_t row, std::int64_t element, std::int64_t offset, std::int64_t count) {
      draw_mask(numbers, row, ratio, element, count, kept + offset);
      apply_mask(source + offset, kept + offset, static_cast<T>(scale), count, target + offset);
    });
  });
}

void compute_dropout_gradient(Invocation& call) {
  const Tensor& dy = call.inputs.at(0);
  const Tensor& mask = call.inputs.at(1);
  const double scale = dropout_scale(call.node.real("ratio", 0.5f));
  if (mask.dims() != dy.dims()) {
    fail("the gradient has the shape ", to_string(dy.dims()), ", but the mask ", to_string(mask.dims()));
  }
  dispatch_floating(dy.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_binary<T, T, bool>(dy, mask, output(call, 0, dy.dtype(), dy.dims()),
                           [scale](T gradient, bool kept) { return kept ? gradient * static_cast<T>(scale) : T(0); });
  });
}

bool trains(const Invocation& call) { return call.has_input(2) && *call.inputs[2].data<bool>(); }

/// ONNX's own Dropout leaves the random numbers open; only its inference form, the identity, has a definite result.
void compute_inference_dropout(Invocation& call) {
  const bool drops = !call.has_input(1) || call.inputs[1].to_doubles().at(0) != 0.0;
  if (trains(call) && drops) {
    fail("a Dropout in training mode has no definite result; training turns it into a TrainingDropout first");
  }
  unary_kernel(call, floating_types, functors::Identity{});
  if (wants_output(call, 1)) {
    Tensor& mask = output(call, 1, DataType::boolean, call.inputs.at(0).dims());
    std::fill_n(mask.data<bool>(), mask.size(), true);
  }
}

const Registration registration("Dropout", compute_inference_dropout);

const TrainingRegistration training_registrations[] = {{"TrainingDropout", compute_training_dropout},
                                                       {"DropoutGrad", compute_dropout_gradient}};

}  // namespace

}  // namespace ort_train::kernels
