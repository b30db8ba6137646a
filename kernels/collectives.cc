// What the replicas of a run do together, for a run of exactly one replica: its own elements are the whole sum. Runs of
// more replicas need a device that was given a collective.
#include <cstring>

#include "kernels/arguments.h"

namespace ort_train::kernels {

namespace {

void copy_elements(Invocation& call, std::size_t index, const Dims& dims) {
  if (!wants_output(call, index)) return;
  const Tensor& source = call.inputs.at(index);
  Tensor& target = output(call, index, source.dtype(), dims);
  if (source.bytes() > 0) std::memcpy(target.raw(), source.raw(), source.bytes());
}

void compute_all_reduce(Invocation& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) copy_elements(call, i, call.inputs[i].dims());
}

void compute_reduce_scatter(Invocation& call) {
  const std::int64_t parts = call.node.integer("parts", 0);
  if (parts != 1) fail("sums over ", parts, " replicas need all of them; here is one alone");
  for (std::size_t i = 0; i < call.inputs.size(); ++i) copy_elements(call, i, {call.inputs[i].size()});
}

void compute_all_gather(Invocation& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!wants_output(call, i)) continue;
    const Dims dims = call.outputs[i].dims();
    if (call.inputs[i].size() != element_count(dims)) {
      fail("array ", i, " of the shape ", to_string(dims), " comes in parts of ", call.inputs[i].size(),
           " elements, and the other replicas' parts are not here");
    }
    copy_elements(call, i, dims);
  }
}

const TrainingRegistration registrations[] = {
    {"AllReduce", compute_all_reduce}, {"ReduceScatter", compute_reduce_scatter}, {"AllGather", compute_all_gather}};

}  // namespace

}  // namespace ort_train::kernels
