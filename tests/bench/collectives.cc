// How long replicas take together: a small sum (latency) and a large one (bandwidth).
//     collectives [--replicas 2] [--bytes 33554432] [--repeats 200]
// Under mpirun every process has so many replicas. The bandwidth is that of a ring, 2 (N - 1) / N of the bytes in the
// time of one sum, as other benchmarks of collectives give it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/collectives/group.h"
#include "runtime/collectives/processes.h"

namespace {

using namespace ort_train;
using namespace ort_train::runtime;

struct Arguments {
  int replicas = 2, repeats = 200;
  long bytes = 32L << 20;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = values[i];
    const long number = std::atol(values[i + 1]);
    if (word == "--replicas") {
      arguments.replicas = static_cast<int>(number);
    } else if (word == "--bytes") {
      arguments.bytes = number;
    } else if (word == "--repeats") {
      arguments.repeats = static_cast<int>(number);
    } else {
      fail_usage("unknown argument ", word);
    }
  }
  return arguments;
}

/// Seconds of one all_reduce.
double time_of(Collective& collective, std::size_t bytes, int repeats) {
  std::vector<float> memory(bytes / sizeof(float));
  const auto sum = [&] { collective.wait(collective.all_reduce(DataType::float32, memory.data(), memory.size())); };
  for (int i = 0; i < 3; ++i) sum();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) sum();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}

void run(Collective& collective, const Arguments& arguments) {
  const double small = time_of(collective, 64, 10 * arguments.repeats);
  const double large = time_of(collective, static_cast<std::size_t>(arguments.bytes), arguments.repeats / 10 + 1);
  if (collective.rank() != 0) return;
  const double replicas = collective.replicas();
  std::printf("{\"replicas\": %d, \"latency_us\": %.1f, \"bytes\": %ld, \"ms\": %.2f, \"GB_per_s\": %.2f}\n",
              collective.replicas(), 1e6 * small, arguments.bytes, 1e3 * large,
              2 * (replicas - 1) / replicas * static_cast<double>(arguments.bytes) / large / 1e9);
}

}  // namespace

int main(int count, char** values) {
  try {
    const Arguments arguments = parse(count, values);
    const Processes processes;
    auto collectives = make_collectives({processes.count(), processes.index(), arguments.replicas});
    std::vector<std::thread> threads;
    threads.reserve(collectives.size());
    for (const auto& collective : collectives) {
      threads.emplace_back([&collective, &arguments] {
        try {
          run(*collective, arguments);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
