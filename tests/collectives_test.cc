// Replicas in one process: every operation against a sum taken by hand, and everything that can go wrong.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/dispatch.h"
#include "base/error.h"
#include "runtime/collectives/group.h"
#include "runtime/collectives/launcher.h"
#include "runtime/collectives/sum.h"
#include "runtime/collectives/traffic.h"

namespace {

using namespace ort_train;
using namespace ort_train::runtime;

constexpr DataType sum_types[] = {DataType::float32,  DataType::float64, DataType::float16,
                                  DataType::bfloat16, DataType::int64,   DataType::int32};

/// Runs `body` for each replica in a thread of its own. Returns what each one threw, "" for nothing.
std::vector<std::string> run_replicas(int replicas, const std::function<void(Collective&)>& body,
                                      CollectiveOptions options = {}) {
  auto collectives = make_collectives({1, 0, replicas}, options);
  std::vector<std::string> errors(collectives.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        body(*collectives[i]);
      } catch (const Error& error) {
        errors[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

void check_no_errors(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) CHECK(error == "");
}

bool contains(const std::string& whole, const std::string& part) { return whole.find(part) != std::string::npos; }

/// Values that round when they are added, different for each replica, step and element.
template <typename T>
std::vector<T> values(int rank, int step, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(1 + rank + 100 * step));
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

/// The sum over the ranks in their order, in float32 for 16-bit types.
template <typename T>
std::vector<T> expected_sum(int replicas, int step, std::size_t count) {
  using Sum = std::conditional_t<sizeof(T) == 2, float, T>;
  std::vector<Sum> sums(count);
  for (int rank = 0; rank < replicas; ++rank) {
    const std::vector<T> operand = values<T>(rank, step, count);
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] = rank == 0 ? static_cast<Sum>(operand[i]) : sums[i] + static_cast<Sum>(operand[i]);
    }
  }
  std::vector<T> result;
  result.reserve(count);
  for (const Sum sum : sums) result.push_back(static_cast<T>(sum));
  return result;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Calls `function` with the C++ type of each type that has a sum.
template <typename Function>
void for_each_sum_type(Function&& function) {
  for (const DataType dtype : sum_types) {
    CAPTURE(name_of(dtype));
    dispatch(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) function(T{});
    });
  }
}

constexpr std::size_t counts[] = {0, 1, 2, 7, 1000, 5003};

}  // namespace

TEST_CASE("all_reduce gives every replica the same sum, in the order of the ranks") {
  for (int replicas = 1; replicas <= 8; ++replicas) {
    CAPTURE(replicas);
    for_each_sum_type([&](auto zero) {
      using T = decltype(zero);
      std::atomic<int> right = 0;
      check_no_errors(run_replicas(replicas, [&](Collective& collective) {
        int step = 0;
        for (const std::size_t count : counts) {
          std::vector<T> memory = values<T>(collective.rank(), ++step, count);
          collective.wait(collective.all_reduce(data_type_of<T>(), memory.data(), count));
          right += same_bits(memory, expected_sum<T>(replicas, step, count));
        }
      }));
      CHECK(right == replicas * static_cast<int>(std::size(counts)));
    });
  }
}

TEST_CASE("reduce_scatter and all_gather move parts, also in place") {
  for (int replicas = 1; replicas <= 8; ++replicas) {
    CAPTURE(replicas);
    for_each_sum_type([&](auto zero) {
      using T = decltype(zero);
      std::atomic<int> right = 0;
      check_no_errors(run_replicas(replicas, [&](Collective& collective) {
        int step = 0;
        const auto rank = static_cast<std::size_t>(collective.rank());
        for (const std::size_t count : counts) {
          const std::size_t all = count * static_cast<std::size_t>(replicas);
          const bool in_place = ++step % 2 == 0;
          std::vector<T> memory = values<T>(collective.rank(), step, all), part(count);
          T* const own = in_place ? memory.data() + rank * count : part.data();
          const auto scattered = collective.reduce_scatter(data_type_of<T>(), memory.data(), own, count);
          const auto gathered = collective.all_gather(data_type_of<T>(), own, memory.data(), count);
          collective.wait(scattered);
          collective.wait(gathered);
          right += same_bits(memory, expected_sum<T>(replicas, step, all));
        }
      }));
      CHECK(right == replicas * static_cast<int>(std::size(counts)));
    });
  }
}

TEST_CASE("broadcast gives everyone the elements of the root, of any type") {
  for (const int replicas : {1, 2, 3, 5}) {
    CAPTURE(replicas);
    std::atomic<int> right = 0;
    check_no_errors(run_replicas(replicas, [&](Collective& collective) {
      for (int root = 0; root < replicas; ++root) {
        for (const DataType dtype : {DataType::boolean, DataType::uint16, DataType::float32, DataType::int64}) {
          const std::size_t bytes = 1003 * size_of(dtype);
          std::vector<std::uint8_t> memory = values<std::uint8_t>(collective.rank(), root, bytes);
          collective.wait(collective.broadcast(dtype, memory.data(), 1003, root));
          right += same_bits(memory, values<std::uint8_t>(root, root, bytes));
        }
      }
    }));
    CHECK(right == replicas * replicas * 4);
  }
}

TEST_CASE("a barrier holds everyone until the last one comes") {
  std::atomic<int> before = 0;
  check_no_errors(run_replicas(4, [&](Collective& collective) {
    for (int round = 1; round <= 20; ++round) {
      ++before;
      collective.wait(collective.barrier());
      if (before < 4 * round) fail("left too early");
      collective.wait(collective.barrier());
    }
  }));
  CHECK(before == 80);
}

TEST_CASE("sums of integers wrap around") {
  check_no_errors(run_replicas(2, [](Collective& collective) {
    std::int64_t value = std::numeric_limits<std::int64_t>::max();
    collective.wait(collective.all_reduce(DataType::int64, &value, 1));
    if (value != -2) fail("wrong sum");
  }));
}

TEST_CASE("the sum of 16-bit floats is rounded once") {
  // 1 + 2^-11 rounds to 1, so that three of them, rounded each time, would stay 1.
  check_no_errors(run_replicas(4, [](Collective& collective) {
    Float16 value(collective.rank() == 0 ? 1.0F : 0.000488281F);
    collective.wait(collective.all_reduce(DataType::float16, &value, 1));
    if (static_cast<float>(value) <= 1.0F) fail("rounded too often");
  }));
}

TEST_CASE("hundreds of random operations under way at once, with equal bits in every run") {
  constexpr int replicas = 3, rounds = 60, at_once = 8;
  const auto one_run = [] {
    std::vector<std::vector<float>> last(replicas);
    std::atomic<int> wrong = 0;
    check_no_errors(run_replicas(replicas, [&](Collective& collective) {
      std::mt19937 random(7);  // the same calls on every replica
      int step = 0;
      for (int round = 0; round < rounds; ++round) {
        std::vector<std::vector<float>> memories, expected, parts(at_once);
        std::vector<Collective::Ticket> tickets;
        memories.reserve(at_once);
        for (int i = 0; i < at_once; ++i) {
          const std::size_t count = random() % 3 == 0 ? random() % 40000 : random() % 100;
          const int root = static_cast<int>(random() % replicas);
          ++step;
          memories.push_back(values<float>(collective.rank(), step, count * replicas));
          float* memory = memories.back().data();
          switch (random() % 3) {
            case 0:
              tickets.push_back(collective.all_reduce(DataType::float32, memory, count * replicas));
              expected.push_back(expected_sum<float>(replicas, step, count * replicas));
              break;
            case 1:
              tickets.push_back(collective.broadcast(DataType::float32, memory, count * replicas, root));
              expected.push_back(values<float>(root, step, count * replicas));
              break;
            default:
              parts[static_cast<std::size_t>(i)].resize(count);
              float* part = parts[static_cast<std::size_t>(i)].data();
              tickets.push_back(collective.reduce_scatter(DataType::float32, memory, part, count));
              tickets.push_back(collective.all_gather(DataType::float32, part, memory, count));
              expected.push_back(expected_sum<float>(replicas, step, count * replicas));
          }
        }
        // Tickets may be waited for in any order, and more than once.
        std::shuffle(tickets.begin(), tickets.end(), std::mt19937(static_cast<unsigned>(collective.rank() + round)));
        for (const Collective::Ticket ticket : tickets) collective.wait(ticket);
        for (std::size_t i = 0; i < memories.size(); ++i) wrong += !same_bits(memories[i], expected[i]);
        last[static_cast<std::size_t>(collective.rank())] = memories.back();
      }
    }));
    CHECK(wrong == 0);
    CHECK(same_bits(last[0], last[1]));
    CHECK(same_bits(last[0], last[2]));
    return last[0];
  };
  const std::vector<float> first = one_run();
  CHECK(same_bits(first, one_run()));
}

TEST_CASE("calls return at once, while the others are still away") {
  std::atomic<bool> called = false;
  check_no_errors(run_replicas(2, [&](Collective& collective) {
    std::vector<float> a(10, 1), b(10, 2);
    if (collective.rank() == 1) {
      // Comes only when replica 0 has returned from both of its calls.
      while (!called) std::this_thread::yield();
    }
    const auto first = collective.all_reduce(DataType::float32, a.data(), a.size());
    const auto second = collective.all_reduce(DataType::float32, b.data(), b.size());
    called = true;
    collective.wait(second);
    collective.wait(first);
    if (a[9] != 2 || b[9] != 4) fail("wrong sum");
  }));
}

TEST_CASE("abort ends everyone's waiting with its reason, and nothing works after it") {
  const auto start = std::chrono::steady_clock::now();
  const auto errors = run_replicas(4, [](Collective& collective) {
    std::vector<float> memory(100);
    collective.wait(collective.all_reduce(DataType::float32, memory.data(), memory.size()));
    if (collective.rank() == 2) {
      collective.abort("the disk is full");
      collective.abort("a later reason");
    }
    std::string first;
    try {
      collective.wait(collective.all_reduce(DataType::float32, memory.data(), memory.size()));
    } catch (const Error& error) {
      first = error.what();
    }
    try {
      collective.wait(collective.barrier());
    } catch (const Error& error) {
      if (first == error.what()) throw;
    }
  });
  for (const std::string& error : errors) CHECK(error == "replica 2 failed: the disk is full");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("abort comes from any thread") {
  auto collectives = make_collectives({1, 0, 2});
  const auto ticket = collectives[0]->barrier();
  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    collectives[1]->abort("interrupted");
  });
  CHECK_THROWS_WITH_AS(collectives[0]->wait(ticket), "replica 1 failed: interrupted", Error);
  watchdog.join();
}

TEST_CASE("memory may go as soon as wait has thrown, at whatever moment someone gave up") {
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> sums = 0;
    const auto errors = run_replicas(3, [&](Collective& collective) {
      for (;;) {
        auto memory = std::make_unique<std::vector<float>>(20000, 1.0F);
        const auto first = collective.all_reduce(DataType::float32, memory->data(), memory->size());
        const auto second = collective.all_reduce(DataType::float32, memory->data(), memory->size());
        if (collective.rank() == round % 3 && sums > round) collective.abort("enough");
        ++sums;
        collective.wait(first);
        collective.wait(second);
      }
    });
    for (const std::string& error : errors) CHECK(error == text("replica ", round % 3, " failed: enough"));
  }
}

TEST_CASE("whoever does not come in time is named, and the operation too") {
  const auto errors =
      run_replicas(4,
                   [](Collective& collective) {
                     std::vector<double> memory(12);
                     if (collective.rank() == 1 || collective.rank() == 3) {
                       std::this_thread::sleep_for(std::chrono::milliseconds(900));
                     }
                     collective.wait(collective.all_reduce(DataType::float64, memory.data(), memory.size()));
                   },
                   {.timeout_seconds = 0.3});
  for (const std::string& error : errors) {
    CHECK(contains(error, "all_reduce of 12 float64 elements for replica 1, replica 3, which did not come"));
  }
}

TEST_CASE("calls that differ are an error that names both") {
  std::vector<float> memory(8), part(8);
  const auto differ = [&](const std::function<void(Collective&)>& odd) {
    const auto errors = run_replicas(3, [&](Collective& collective) {
      std::vector<float> own(8);
      if (collective.rank() == 1) {
        odd(collective);
      } else {
        collective.wait(collective.all_reduce(DataType::float32, own.data(), own.size()));
      }
    });
    for (const std::string& error : errors) {
      CHECK(contains(error, "replica 0 called all_reduce of 8 float32 elements, but replica 1 called "));
    }
    return errors[0];
  };
  CHECK(contains(differ([](Collective& c) { c.wait(c.barrier()); }), "called barrier;"));
  CHECK(contains(differ([&](Collective& c) { c.wait(c.all_reduce(DataType::float32, memory.data(), 7)); }),
                 "called all_reduce of 7 float32 elements;"));
  CHECK(contains(differ([&](Collective& c) { c.wait(c.all_reduce(DataType::int32, memory.data(), 8)); }),
                 "called all_reduce of 8 int32 elements;"));
  CHECK(contains(differ([&](Collective& c) { c.wait(c.broadcast(DataType::float32, memory.data(), 8, 2)); }),
                 "called broadcast of 8 float32 elements from replica 2;"));
  CHECK(contains(differ([&](Collective& c) { c.wait(c.all_gather(DataType::float32, part.data(), memory.data(), 2)); }),
                 "called all_gather of parts of 2 float32 elements;"));
}

TEST_CASE("a replica that leaves lets nobody hang") {
  const CollectiveOptions options{.timeout_seconds = 60};
  auto collectives = make_collectives({1, 0, 3}, options);
  const auto first = collectives[0]->barrier(), third = collectives[2]->barrier();
  collectives[1].reset();
  CHECK_THROWS_WITH_AS(collectives[0]->wait(first), "replica 1 has left while others go on", Error);
  CHECK_THROWS_WITH_AS(collectives[2]->wait(third), "replica 1 has left while others go on", Error);
}

TEST_CASE("destroying a replica in the middle of an operation ends the others") {
  auto collectives = make_collectives({1, 0, 2});
  collectives[0]->barrier();
  collectives[0].reset();
  CHECK_THROWS_WITH_AS(collectives[1]->wait(collectives[1]->barrier()),
                       "replica 0 left before its operations were done", Error);
}

TEST_CASE("impossible calls are refused where they are made") {
  for (const int replicas : {1, 2}) {
    auto collectives = make_collectives({1, 0, replicas});
    bool flag = true;
    std::string words;
    CHECK_THROWS_AS(collectives[0]->all_reduce(DataType::boolean, &flag, 1), Error);
    CHECK_THROWS_AS(collectives[0]->all_reduce(DataType::string, &words, 1), Error);
    CHECK_THROWS_AS(collectives[0]->broadcast(DataType::boolean, &flag, 1, replicas), Error);
    CHECK_THROWS_AS(collectives[0]->wait(1), Error);
  }
  CHECK_THROWS_AS(make_collectives({1, 0, 0}), Error);
  CHECK_THROWS_AS(make_collectives({1, 1, 2}), Error);
  CHECK_THROWS_AS(make_collectives({1, 0, 2}, {.timeout_seconds = 0}), Error);
  // This test was not started by mpirun.
  CHECK_THROWS_AS(make_collectives({2, 0, 1}), Error);
}

TEST_CASE("a single replica is done at once, and knows its own failure") {
  auto collectives = make_collectives({});
  REQUIRE(collectives.size() == 1);
  Collective& collective = *collectives[0];
  std::vector<float> memory{1, 2, 3}, part(3), gathered(3);
  collective.all_reduce(DataType::float32, memory.data(), 3);
  collective.reduce_scatter(DataType::float32, memory.data(), part.data(), 3);
  const auto ticket = collective.all_gather(DataType::float32, part.data(), gathered.data(), 3);
  CHECK(gathered == std::vector<float>{1, 2, 3});
  collective.wait(ticket);
  CHECK(collective.statistics() == Collective::Statistics{3, 0, 0, 24});
  collective.abort("no more");
  CHECK_THROWS_WITH_AS(collective.wait(ticket), "replica 0 failed: no more", Error);
}

TEST_CASE("the statistics are those that the layout predicts") {
  for (const int replicas : {1, 2, 5}) {
    const std::vector<Operation> operations = {
        {OperationKind::all_reduce, DataType::float32, 1000},
        {OperationKind::broadcast, DataType::int64, 10},
        {OperationKind::reduce_scatter, DataType::float16, 100},
        {OperationKind::all_gather, DataType::float32, 100},
        {OperationKind::barrier},
        {OperationKind::all_reduce, DataType::float64, 0},
    };
    check_no_errors(run_replicas(replicas, [&](Collective& collective) {
      std::vector<double> a(2000), b(2000);
      Collective::Statistics expected;
      for (const Operation& operation : operations) {
        expected += traffic_of(operation, {1, 0, replicas}, collective.rank());
      }
      collective.all_reduce(DataType::float32, a.data(), 1000);
      collective.broadcast(DataType::int64, a.data(), 10, 0);
      collective.reduce_scatter(DataType::float16, a.data(), b.data(), 100);
      collective.all_gather(DataType::float32, b.data(), a.data(), 100);
      collective.barrier();
      collective.wait(collective.all_reduce(DataType::float64, a.data(), 0));
      if (collective.statistics() != expected) fail("not as predicted");
      if (expected.bytes_reduced != 4000 + 200 * static_cast<std::uint64_t>(replicas)) fail("wrong prediction");
      if (expected.operations != 6 || expected.messages != 0) fail("wrong prediction");
    }));
  }
}

TEST_CASE("traffic between processes: greetings, then the pieces of a large sum") {
  const Layout layout{2, 0, 2};
  const Operation small{OperationKind::all_reduce, DataType::float32, 100};
  CHECK(traffic_of(small, layout, 0) == Collective::Statistics{1, 1, 32 + 400, 400});
  CHECK(traffic_of(small, layout, 1) == Collective::Statistics{1, 0, 0, 400});
  // 2 Mi elements: each process sends half of its 8 MiB, and its half of the sum, in pieces of 1 MiB.
  const std::uint64_t bytes = std::uint64_t{8} << 20;
  const Operation large{OperationKind::all_reduce, DataType::float32, std::size_t{2} << 20};
  // What the other process sends of its half lies in memory of its own until it is added.
  CHECK(traffic_of(large, layout, 2) == Collective::Statistics{1, 1 + 4 + 4, 32 + bytes, bytes, 0, bytes / 2});
  // 16-bit floats are added in float32, and parts are not where the replicas want them.
  const Operation halves{OperationKind::all_reduce, DataType::float16, 100};
  CHECK(traffic_of(halves, layout, 0).partial_bytes == 400);
  const Operation parts{OperationKind::reduce_scatter, DataType::float32, 100};
  CHECK(traffic_of(parts, layout, 0).partial_bytes == 4 * 400 + 2 * 400);
  CHECK(traffic_of(parts, {1, 0, 4}, 0).partial_bytes == 0);
  CHECK(traffic_of({OperationKind::barrier}, {4, 1, 1}, 1) == Collective::Statistics{1, 3, 96, 0});
}

TEST_CASE("a launcher is recognized by what it writes into the environment") {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK"}) unsetenv(variable);
  CHECK(!find_launch());
  setenv("PMI_SIZE", "3", 1);
  REQUIRE(find_launch());
  CHECK(find_launch()->processes == 3);
  unsetenv("PMI_SIZE");
  setenv("PMIX_RANK", "0", 1);
  setenv("SLURM_STEP_NUM_TASKS", "16", 1);
  REQUIRE(find_launch());
  CHECK(find_launch()->variable == "PMIX_RANK");
  CHECK(find_launch()->processes == 16);
  unsetenv("PMIX_RANK");
  unsetenv("SLURM_STEP_NUM_TASKS");
}
