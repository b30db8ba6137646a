#pragma once

#include <cstdint>

#include "kernels/functors/host_device.h"

namespace ort_train::kernels::functors {

/// An array as runs of elements that are neighbours both in it and in a row of the whole batch; kernels/random_places.h
/// says what rows are.
struct RandomRuns {
  std::int64_t count = 0;     ///< of all runs
  std::int64_t length = 0;    ///< of a run
  std::int64_t in_row = 1;    ///< runs in a row
  std::int64_t distance = 0;  ///< from run to run, in the whole row
  /// Elements of a whole row from sample to sample, where samples do not lie along axis 0; 0: a sample is a row.
  std::int64_t sample_size = 0;

  ORT_TRAIN_HOST_DEVICE std::uint64_t row(std::int64_t run, std::int64_t first_sample) const {
    return static_cast<std::uint64_t>(run / in_row + (sample_size == 0 ? first_sample : 0));
  }
  /// Of the row, where the run starts.
  ORT_TRAIN_HOST_DEVICE std::int64_t element(std::int64_t run, std::int64_t first_sample) const {
    return run % in_row * distance + first_sample * sample_size;
  }
};

}  // namespace ort_train::kernels::functors
