// Sums over the part of a batch that a replica has, of which the statistics of the whole batch are made. A part without
// samples gives zeros.
#include "kernels/channels.h"

namespace ort_train::kernels {

namespace {

void compute_channel_sum(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const ChannelExtents extents = channel_extents_of(x.dims());
  dispatch_floating(x.dtype(), [&](auto tag) {
    const auto* elements = x.data<typename decltype(tag)::type>();
    write_channels(call, 0, x.dtype(), channel_sums(extents, [elements](std::size_t, std::int64_t i) {
                     return static_cast<double>(elements[i]);
                   }));
  });
}

void compute_channel_squared_deviation(Invocation& call) {
  const Tensor& x = call.inputs.at(0);
  const ChannelExtents extents = channel_extents_of(x.dims());
  const std::vector<double> mean = channel_input(call, 1, extents);
  dispatch_floating(x.dtype(), [&](auto tag) {
    const auto* elements = x.data<typename decltype(tag)::type>();
    write_channels(call, 0, x.dtype(), channel_sums(extents, [elements, &mean](std::size_t c, std::int64_t i) {
                     const double difference = static_cast<double>(elements[i]) - mean[c];
                     return difference * difference;
                   }));
  });
}

const TrainingRegistration registrations[] = {{"ChannelSum", compute_channel_sum},
                                              {"ChannelSquaredDeviation", compute_channel_squared_deviation}};

}  // namespace

}  // namespace ort_train::kernels
