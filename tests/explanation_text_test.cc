#include "runtime/training/explanation_text.h"

#include <doctest/doctest.h>

namespace ort_train::training {
namespace {

/// Four replicas; a bucket of a million floats in the middle of a step of 100 ms, a count at its end.
Explanation example() {
  Explanation explanation;
  explanation.passes = {{"mark-trainable", false, 9, 9, 0.25}, {"autodiff", true, 12, 40, 1.5}};
  explanation.global_batch = 128;
  explanation.replica_batch = 32;
  explanation.replicas = 4;
  explanation.plan.arena_bytes = 12'600'000;
  explanation.plan.bucket_bytes = 4'000'128;
  explanation.plan.scratchpad_bytes = 512;
  explanation.parameter_bytes = explanation.slot_bytes = 4'000'000;
  explanation.compute_seconds = 0.1;
  const auto sum = [](std::size_t count) {
    return runtime::Operation{runtime::OperationKind::all_reduce, DataType::float32, count, 0, nullptr, nullptr};
  };
  explanation.collectives = {{sum(1'000'000), "bucket", 8, 0.05, 0.09}, {sum(1), "count", 1, 0.1, 0.1}};
  return explanation;
}

}  // namespace

TEST_CASE("the whole report, as a terminal shows it") {
  // 1 ms a message and 100 MB/s: the bucket takes 6 (1 ms + 10 ms) in a ring, 2 (2 ms + 40 ms) in trees.
  CHECK(explanation_text(example(), {{1e-3, 1e8}, {}}) == R"(passes
  pass            nodes  nodes after    ms
  mark-trainable      9    unchanged  0.25
  autodiff           12           40  1.50

batch: 128 samples an update, 4 replicas of at most 32

memory of a replica
  parameters                           4.0 MB
  optimizer slots                      4.0 MB
  intermediates                       12.6 MB
  of these, buckets of collectives     4.0 MB
  scratch of kernels                512 bytes
  scratch between processes            3.0 MB

computation: 100.000 ms a step, timed on this machine

collectives of a step
  collective  arrays    bytes  ready ms  needed ms  hidden (ring)  hidden (tree)
  all_reduce       8   4.0 MB    50.000     90.000         60.6 %         47.6 %
  all_reduce       1  4 bytes   100.000    100.000          0.0 %          0.0 %

a step of the first process
  processes x replicas  operations  reduced  messages sent     sent  scratch
  1 x 4                          2   4.0 MB              0  0 bytes  0 bytes
  4 x 1                          2   4.0 MB             12   6.0 MB   3.0 MB

prediction with 0.1 GB/s and 1000 µs a message
  algorithm  step ms  communication ms  exposed ms  efficiency  samples/s
  ring       132.000            72.000      32.000      75.8 %        970
  tree       148.000            88.000      48.000      67.6 %        865
)");
}

TEST_CASE("one replica, micro-batches, and the time of another machine") {
  Explanation explanation = example();
  explanation.replicas = 1;
  explanation.accumulate = 4;
  explanation.collectives.clear();
  const std::string report = explanation_text(explanation, {{}, 0.05});
  const auto says = [&](const char* line) { return report.find(line) != std::string::npos; };
  CAPTURE(report);
  CHECK(says("batch: 128 samples an update, 1 replica of 32, in 4 micro-batches\n"));
  CHECK(says("computation: 50.000 ms a step, as given\n"));
  CHECK(says("collectives: none\n"));
  CHECK(says("prediction with 12.5 GB/s and 10 µs a message\n"));
  CHECK(says("  ring        50.000             0.000       0.000     100.0 %       2560\n"));
}

}  // namespace ort_train::training
