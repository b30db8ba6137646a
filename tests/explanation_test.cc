#include "runtime/training/explanation.h"

#include <doctest/doctest.h>

#include <thread>

#include "base/shard.h"
#include "runtime/collectives/group.h"
#include "tests/small_task.h"

namespace ort_train::training {
namespace {

using runtime::CollectiveAlgorithm;
using runtime::Interconnect;
using runtime::Operation;
using runtime::OperationKind;

Operation floats(OperationKind kind, std::size_t count) {
  return {kind, DataType::float32, count, 0, nullptr, nullptr};
}

passes::TrainingSpec spec() {
  passes::TrainingSpec spec;
  spec.losses = {passes::LossSpec{"softmax_cross_entropy"}};
  spec.optimizer.momentum = 0.9;
  return spec;
}

/// A step of one second in which each collective is ready and needed at the given times, and takes `seconds`.
Explanation timeline(const std::vector<std::pair<double, double>>& times, double seconds, const Interconnect& network) {
  Explanation explanation;
  explanation.replicas = 2;
  explanation.compute_seconds = 1;
  const auto count = static_cast<std::size_t>(seconds * network.bandwidth / sizeof(float));
  for (const auto& [ready, needed] : times) {
    explanation.collectives.push_back({floats(OperationKind::all_reduce, count), "g", 1, ready, needed});
  }
  return explanation;
}

}  // namespace

TEST_CASE("seconds of a collective, by hand") {
  const Interconnect network{1e-3, 1e6};
  const Operation megabyte = floats(OperationKind::all_reduce, 250000);
  CHECK(seconds_of(megabyte, 1, network, CollectiveAlgorithm::ring) == 0);
  // 2 (4 - 1) messages of a quarter: 6 (1 ms + 250 ms).
  CHECK(seconds_of(megabyte, 4, network, CollectiveAlgorithm::ring) == doctest::Approx(1.506));
  // 2 log2(4) latencies, every byte twice.
  CHECK(seconds_of(megabyte, 4, network, CollectiveAlgorithm::tree) == doctest::Approx(2.004));
  // Parts of a megabyte: 3 (1 ms + 1 s).
  CHECK(seconds_of(floats(OperationKind::all_gather, 250000), 4, network, CollectiveAlgorithm::ring) ==
        doctest::Approx(3.003));
}

TEST_CASE("trees win with many replicas and few bytes, rings with many bytes") {
  const Interconnect network;
  const auto ring_wins = [&](std::size_t count, int replicas) {
    const Operation sum = floats(OperationKind::all_reduce, count);
    return seconds_of(sum, replicas, network, CollectiveAlgorithm::ring) <
           seconds_of(sum, replicas, network, CollectiveAlgorithm::tree);
  };
  CHECK_FALSE(ring_wins(16, 1024));
  CHECK(ring_wins(100'000'000, 8));
}

TEST_CASE("what computation hides costs nothing, and what it does not delays the step") {
  const Interconnect network{0, 1e6};  // two replicas in a ring move each byte once
  const auto step = [&](const Explanation& explanation) {
    return predict_step(explanation, network, CollectiveAlgorithm::ring);
  };
  const StepPrediction hidden = step(timeline({{0.2, 0.9}}, 0.5, network));
  CHECK(hidden.seconds == doctest::Approx(1));
  CHECK(hidden.efficiency == doctest::Approx(1));
  CHECK(step(timeline({{0.9, 1}}, 0.5, network)).exposed_seconds == doctest::Approx(0.4));
  // One after the other: ready at 0.1 and 0.2, done at 0.6 and 1.1.
  CHECK(step(timeline({{0.1, 1}, {0.2, 1}}, 0.5, network)).seconds == doctest::Approx(1.1));
  // A wait of 0.4 s in the middle makes the second one ready later.
  CHECK(step(timeline({{0.1, 0.2}, {0.5, 1}}, 0.5, network)).seconds == doctest::Approx(1.4));
  // Of the second one 0.4 of its 0.5 s are waited for; the first one is done in time.
  const std::vector<double> shares = step(timeline({{0.1, 0.7}, {0.9, 1}}, 0.5, network)).hidden;
  CHECK(shares.at(0) == doctest::Approx(1));
  CHECK(shares.at(1) == doctest::Approx(0.2));
  // A machine that computes twice as fast hides less.
  CHECK(predict_step(timeline({{0.2, 0.9}}, 0.5, network), network, CollectiveAlgorithm::ring, 0.5).seconds ==
        doctest::Approx(0.65));
}

TEST_CASE("bytes, collectives and reductions are those of real replicas") {
  const auto model = test::small_classifier();
  for (const bool sharded : {false, true}) {
    for (int replicas = 1; replicas <= 8; ++replicas) {
      CAPTURE(replicas);
      CAPTURE(sharded);
      passes::Replication replication;
      replication.replicas = replicas;
      replication.shard_optimizer = sharded;
      replication.bucket_bytes = 256;
      const std::int64_t batch = 2 * replicas;
      const std::map<std::string, Dims> dims = {{"image", {batch, 1, 8, 8}}};
      const Explanation explanation = explain(*model, spec(), dims, replication, 1);
      CHECK(explanation.replica_batch == 2);

      auto collectives = runtime::make_collectives({1, 0, replicas});
      std::vector<std::thread> threads;
      threads.reserve(static_cast<std::size_t>(replicas));
      std::vector<runtime::PlanReport> plans(static_cast<std::size_t>(replicas));
      std::vector<std::string> errors(static_cast<std::size_t>(replicas));
      for (int rank = 0; rank < replicas; ++rank) {
        threads.emplace_back([&, rank] {
          const auto place = static_cast<std::size_t>(rank);
          try {
            passes::Replication own = replication;
            own.rank = rank;
            const auto graph = passes::build_training_graph(*model, spec(), dims, own);
            const auto device = runtime::make_cpu_device(1);
            const auto executable =
                device->compile(*graph, device->make_state(), {.collective = collectives[place].get()});
            for (const graph::Value* input : graph->inputs()) {
              executable->set_input(input->name(), Tensor(input->dtype(), input->dims()));
            }
            executable->run();
            plans[place] = executable->report();
          } catch (const std::exception& error) {
            errors[place] = error.what();
            collectives[place]->abort(error.what());
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (int rank = 0; rank < replicas; ++rank) {
        const auto place = static_cast<std::size_t>(rank);
        REQUIRE(errors[place].empty());
        CHECK(plans[place].state_bytes == explanation.plan.state_bytes);
        CHECK(plans[place].arena_bytes == explanation.plan.arena_bytes);
        CHECK(plans[place].bucket_bytes == explanation.plan.bucket_bytes);
        const auto statistics = collectives[place]->statistics();
        CHECK(statistics.operations == explanation.collectives.size());
        CHECK(statistics.bytes_reduced == explanation.plan.reduced_bytes);
        // Messages and bytes between processes are none here, and memory for them neither.
        CHECK(statistics == traffic_of(explanation, {1, 0, replicas}, rank));
      }
    }
  }
}

}  // namespace ort_train::training
