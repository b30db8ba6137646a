#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "base/tensor.h"
#include "runtime/cuda/handles.h"

namespace ort_train::runtime::cuda {

class Watch;

/// Brings the inputs of a step to the device while the step before still computes: elements go to pinned memory, from
/// there over a stream of its own to a waiting room on the device, and at the beginning of their step to their place.
class InputFeed {
 public:
  /// Inputs by number, with the memory on the device where the step reads them.
  void add(int input, std::byte* place, std::size_t bytes);
  /// After the last `add`.
  void allocate();

  /// Takes a copy of the elements at once.
  void set(int input, const Tensor& elements, const Watch& watch);
  /// Puts what was set since the last call into its place, ahead of whatever is put on `compute` next.
  void deliver(cudaStream_t compute);

 private:
  struct Input {
    std::byte* place = nullptr;
    std::size_t bytes = 0, offset = 0;
    bool is_new = false;
  };
  /// One step's inputs on their way; two of them, so that one travels while the other is used.
  struct Lane {
    std::shared_ptr<std::byte> pinned, waiting_room;
    Event arrived, delivered;
    bool used = false;
  };

  std::map<int, Input> inputs_;
  std::size_t bytes_ = 0;
  Stream copies_;
  Lane lanes_[2];
  std::size_t lane_ = 0;
  bool lane_is_free_ = true;
};

}  // namespace ort_train::runtime::cuda
