// A program for mpirun: collectives_program SCENARIO REPLICAS [SECONDS | MODEL]. Every process has so many replicas.
//     operations   all operations, types and sizes against sums taken by hand, and the statistics
//     step         a training step of the file MODEL: what it sends is what an explanation of it says
//     mismatch     the last replica calls something else
//     abort        the last replica gives up
//     interrupt    the same, in the middle of a large sum
//     die          the last process kills itself in the middle of large sums
//     stop         the last process is stopped there, so that nothing of it is heard any more
//     absent       the last process never calls anything, for the time limit SECONDS
//     usage        an exception passes through while the processes are joined
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/dispatch.h"
#include "base/error.h"
#include "graph/onnx_io.h"
#include "runtime/collectives/group.h"
#include "runtime/collectives/processes.h"
#include "runtime/collectives/sum.h"
#include "runtime/collectives/traffic.h"
#include "runtime/training/explanation.h"

namespace {

using namespace ort_train;
using namespace ort_train::runtime;

using Body = std::function<void(Collective&)>;

/// Runs `body` for each replica of this process and throws the error of the first that has one.
void run_replicas(const Layout& layout, const CollectiveOptions& options, const Body& body) {
  auto collectives = make_collectives(layout, options);
  std::vector<std::exception_ptr> errors(collectives.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        body(*collectives[i]);
      } catch (const Error& error) {
        collectives[i]->abort(error.what());
        errors[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

template <typename T>
std::vector<T> values(int rank, int step, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(1 + rank + 1000 * step));
  std::vector<T> result(count);
  for (T& value : result) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(static_cast<int>(random() % 2001) - 1000);
    } else {
      value = static_cast<T>(std::uniform_real_distribution<float>(-3, 3)(random));
    }
  }
  return result;
}

/// The sums over each process's ranks, added in the order of the processes.
template <typename T>
std::vector<T> expected_sum(const Layout& layout, int step, std::size_t count) {
  using Sum = std::conditional_t<sizeof(T) == 2, float, T>;
  std::vector<Sum> sums(count);
  for (int process = 0; process < layout.processes; ++process) {
    std::vector<Sum> local(count);
    for (int i = 0; i < layout.replicas_per_process; ++i) {
      const std::vector<T> operand = values<T>(process * layout.replicas_per_process + i, step, count);
      for (std::size_t k = 0; k < count; ++k) {
        local[k] = i == 0 ? static_cast<Sum>(operand[k]) : local[k] + static_cast<Sum>(operand[k]);
      }
    }
    for (std::size_t k = 0; k < count; ++k) sums[k] = process == 0 ? local[k] : sums[k] + local[k];
  }
  std::vector<T> result;
  result.reserve(count);
  for (const Sum sum : sums) result.push_back(static_cast<T>(sum));
  return result;
}

template <typename T>
void compare(const std::vector<T>& found, const std::vector<T>& expected, const char* what) {
  if (!expected.empty() && std::memcmp(found.data(), expected.data(), expected.size() * sizeof(T)) != 0) {
    fail(what, " of ", expected.size(), " ", name_of(data_type_of<T>()), " elements gave something else");
  }
}

/// Counts with and without a remainder, below and above the sizes at which messages and pieces change.
constexpr std::size_t counts[] = {0, 1, 5, 1000, 5001, 700001};

template <typename T>
void check_type(Collective& collective, const Layout& layout, Collective::Statistics& expected) {
  constexpr DataType dtype = data_type_of<T>();
  const int replicas = layout.replicas();
  const auto note = [&](OperationKind kind, std::size_t count, int root) {
    expected += traffic_of({kind, dtype, count, root}, layout, collective.rank());
  };
  int step = 0;
  for (const std::size_t count : counts) {
    const int root = ++step % replicas;
    const std::size_t part_count = count / static_cast<std::size_t>(replicas), all = part_count * replicas;
    std::vector<T> reduced = values<T>(collective.rank(), step, count), cast = reduced;
    std::vector<T> scattered = values<T>(collective.rank(), step, all), part(part_count);
    collective.all_reduce(dtype, reduced.data(), count);
    collective.broadcast(dtype, cast.data(), count, root);
    collective.reduce_scatter(dtype, scattered.data(), part.data(), part_count);
    collective.all_gather(dtype, part.data(), scattered.data(), part_count);
    collective.wait(collective.barrier());
    compare(reduced, expected_sum<T>(layout, step, count), "all_reduce");
    compare(cast, values<T>(root, step, count), "broadcast");
    compare(scattered, expected_sum<T>(layout, step, all), "reduce_scatter and all_gather");
    note(OperationKind::all_reduce, count, 0);
    note(OperationKind::broadcast, count, root);
    note(OperationKind::reduce_scatter, part_count, 0);
    note(OperationKind::all_gather, part_count, 0);
    expected += traffic_of({}, layout, collective.rank());
  }
}

void operations(Collective& collective, const Layout& layout) {
  Collective::Statistics expected;
  check_type<float>(collective, layout, expected);
  check_type<double>(collective, layout, expected);
  check_type<Float16>(collective, layout, expected);
  check_type<BFloat16>(collective, layout, expected);
  check_type<std::int32_t>(collective, layout, expected);
  check_type<std::int64_t>(collective, layout, expected);
  const Collective::Statistics found = collective.statistics();
  if (found != expected) {
    fail("replica ", collective.rank(), " sent ", found.bytes_sent, " bytes in ", found.messages,
         " messages, but the layout predicts ", expected.bytes_sent, " in ", expected.messages);
  }
}

/// One step of `model`, with what the explanation predicts for it.
void training_step(Collective& collective, const Layout& layout, const graph::Graph& model, bool shard_optimizer) {
  passes::TrainingSpec spec;
  spec.losses = {passes::LossSpec{"softmax_cross_entropy"}};
  spec.optimizer.momentum = 0.9;
  passes::Replication replication;
  replication.replicas = layout.replicas();
  replication.shard_optimizer = shard_optimizer;
  replication.bucket_bytes = 1 << 20;
  std::map<std::string, Dims> dims;
  for (const graph::Value* input : model.inputs()) {
    dims[input->name()] = {2 * layout.replicas()};
    for (std::size_t axis = 1; axis < input->type().shape->size(); ++axis) {
      dims[input->name()].push_back(input->type().shape->at(axis).value());
    }
  }
  const training::Explanation explanation = training::explain(model, spec, dims, replication, 1);
  replication.rank = collective.rank();
  const auto graph = passes::build_training_graph(model, spec, dims, replication);
  const auto device = make_cpu_device(1);
  const auto executable = device->compile(*graph, device->make_state(), {.collective = &collective});
  for (const graph::Value* input : graph->inputs()) {
    executable->set_input(input->name(), Tensor(input->dtype(), input->dims()));
  }
  const Collective::Statistics before = collective.statistics();
  executable->run();
  const Collective::Statistics found = collective.statistics();
  const Collective::Statistics expected = traffic_of(explanation, layout, collective.rank());
  const bool as_expected = found.operations - before.operations == expected.operations &&
                           found.messages - before.messages == expected.messages &&
                           found.bytes_sent - before.bytes_sent == expected.bytes_sent &&
                           found.bytes_reduced - before.bytes_reduced == expected.bytes_reduced &&
                           found.partial_bytes == expected.partial_bytes &&
                           found.received_bytes == expected.received_bytes;
  const bool sends = expected.bytes_sent > explanation.parameter_bytes / 2;
  if (!as_expected || (collective.rank() == layout.first_replica() && !sends)) {
    fail("replica ", collective.rank(), " carried out ", found.operations - before.operations, " operations, sent ",
         found.messages - before.messages, " messages of ", found.bytes_sent - before.bytes_sent, " bytes, reduced ",
         found.bytes_reduced - before.bytes_reduced, " and needed ", found.partial_bytes, " and ", found.received_bytes,
         " bytes, but the explanation says ", expected.operations, ", ", expected.messages, ", ", expected.bytes_sent,
         ", ", expected.bytes_reduced, ", ", expected.partial_bytes, " and ", expected.received_bytes);
  }
}

void mismatch(Collective& collective) {
  std::vector<float> memory(1000000);
  const bool last = collective.rank() == collective.replicas() - 1;
  collective.wait(collective.all_reduce(DataType::float32, memory.data(), last ? 10 : memory.size()));
}

void give_up(Collective& collective) {
  std::vector<float> memory(1000000);
  collective.wait(collective.all_reduce(DataType::float32, memory.data(), memory.size()));
  if (collective.rank() == collective.replicas() - 1) fail("the disk is full");
  collective.wait(collective.all_reduce(DataType::float32, memory.data(), memory.size()));
}

void interrupt(Collective& collective) {
  for (int step = 0;; ++step) {
    std::vector<float> memory(3000000);
    const auto ticket = collective.all_reduce(DataType::float32, memory.data(), memory.size());
    if (step == 10 && collective.rank() == collective.replicas() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      collective.abort("enough");
    }
    collective.wait(ticket);
  }
}

/// Large sums without end, until the last process gets `signal` in the middle of one.
void sums_until(Collective& collective, const Layout& layout, int signal) {
  std::vector<float> memory(4000000);
  for (int step = 0;; ++step) {
    const auto ticket = collective.all_reduce(DataType::float32, memory.data(), memory.size());
    if (step == 20 && layout.process == layout.processes - 1) std::raise(signal);
    collective.wait(ticket);
  }
}

void run(const std::string& scenario, const Layout& layout, CollectiveOptions options, const std::string& model) {
  const bool last = layout.process == layout.processes - 1;
  if (scenario == "operations") {
    // A group may follow another one.
    run_replicas(layout, options, [&](Collective& collective) { operations(collective, layout); });
    run_replicas(layout, options, [&](Collective& collective) { operations(collective, layout); });
  } else if (scenario == "step") {
    const auto graph = graph::load(model);
    for (const bool shard_optimizer : {false, true}) {
      run_replicas(layout, options,
                   [&](Collective& collective) { training_step(collective, layout, *graph, shard_optimizer); });
    }
  } else if (scenario == "mismatch") {
    run_replicas(layout, options, mismatch);
  } else if (scenario == "abort") {
    run_replicas(layout, options, give_up);
  } else if (scenario == "interrupt") {
    run_replicas(layout, options, interrupt);
  } else if (scenario == "die" || scenario == "stop") {
    options.silence_seconds = 5;
    run_replicas(layout, options, [&](Collective& collective) {
      sums_until(collective, layout, scenario == "die" ? SIGKILL : SIGSTOP);
    });
  } else if (scenario == "absent") {
    if (last) std::this_thread::sleep_for(std::chrono::seconds(60));
    run_replicas(layout, options, [](Collective& collective) { collective.wait(collective.barrier()); });
  } else if (scenario == "usage") {
    fail_usage("a mistake in the arguments");
  } else {
    fail_usage("unknown scenario ", scenario);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::unique_ptr<Processes> processes;
  try {
    if (count < 3) fail_usage("usage: collectives_program SCENARIO REPLICAS [SECONDS | MODEL]");
    processes = std::make_unique<Processes>();
    const Layout layout{processes->count(), processes->index(), std::stoi(arguments[2])};
    CollectiveOptions options;
    const std::string scenario = arguments[1], more = count > 3 ? arguments[3] : "";
    if (!more.empty() && scenario != "step") options.timeout_seconds = std::stod(more);
    run(scenario, layout, options, more);
    std::printf("process %d: all is well\n", layout.process);
    return 0;
  } catch (const Error& error) {
    const int code = error.kind() == Error::Kind::usage ? 2 : 1;
    std::fprintf(stderr, "process %d: %s\n", processes ? processes->index() : 0, error.what());
    if (processes) processes->end_all(code);
    return code;
  }
}
