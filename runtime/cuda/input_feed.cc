#include "runtime/cuda/input_feed.h"

#include <cstring>

#include "runtime/cuda/memory.h"
#include "runtime/cuda/watch.h"
#include "runtime/memory_plan.h"

namespace ort_train::runtime::cuda {

void InputFeed::add(int input, std::byte* place, std::size_t bytes) {
  inputs_[input] = {place, bytes, bytes_, false};
  bytes_ += (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

void InputFeed::allocate() {
  for (Lane& lane : lanes_) {
    lane.pinned = allocate_pinned(bytes_);
    lane.waiting_room = allocate_on_device(bytes_, "the inputs of the next step");
  }
}

void InputFeed::set(int number, const Tensor& elements, const Watch& watch) {
  Lane& lane = lanes_[lane_];
  if (!lane_is_free_) {
    // The copy out of the pinned memory two steps ago; it is long done unless the host runs far ahead.
    if (lane.used) watch.wait(lane.arrived);
    lane_is_free_ = true;
  }
  Input& input = inputs_.at(number);
  if (input.bytes > 0) std::memcpy(lane.pinned.get() + input.offset, elements.raw(), input.bytes);
  input.is_new = true;
}

void InputFeed::deliver(cudaStream_t compute) {
  Lane& lane = lanes_[lane_];
  if (lane.used) lane.delivered.hold(copies_);
  bool any = false;
  for (const auto& [number, input] : inputs_) {
    if (!input.is_new) continue;
    copy(lane.waiting_room.get() + input.offset, lane.pinned.get() + input.offset, input.bytes, copies_);
    any = true;
  }
  if (!any) return;
  lane.arrived.record(copies_);
  lane.arrived.hold(compute);
  for (auto& [number, input] : inputs_) {
    if (input.is_new) copy(input.place, lane.waiting_room.get() + input.offset, input.bytes, compute);
    input.is_new = false;
  }
  lane.delivered.record(compute);
  lane.used = true;
  lane_ = 1 - lane_;
  lane_is_free_ = false;
}

}  // namespace ort_train::runtime::cuda
