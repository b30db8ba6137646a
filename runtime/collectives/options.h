#pragma once

namespace ort_train::runtime {

struct CollectiveOptions {
  /// How long an operation waits for a replica that has not called it, and for a transfer that does not move.
  double timeout_seconds = 600;
  /// A process that was not heard of for so long is taken for dead. Each process sends a sign of life, whatever it
  /// computes, four times in that span.
  double silence_seconds = 20;
};

}  // namespace ort_train::runtime
