// Collectives between virtual GPUs: numbers, and mistakes that are reported instead of a wrong number or a silent wait.
#include <nccl.h>

#include "tests/virtual_gpu/testing.h"

using namespace virtual_gpu;
using namespace virtual_gpu::testing;

namespace {

/// One rank of a communicator: its GPU is current while its function runs.
struct Rank {
  int rank, ranks;
  ncclComm_t communicator;
  cudaStream_t stream;
};

// doctest's assertions of several threads at once are its affair; here they throw on one of them at a time.
void on_ranks(int ranks, const std::function<void(const Rank&)>& run) {
  ncclUniqueId id;
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([=, &run] {
      require(cudaSetDevice(rank));
      Stream stream;
      ncclComm_t communicator = nullptr;
      CHECK(ncclCommInitRank(&communicator, ranks, id, rank) == ncclSuccess);
      run({rank, ranks, communicator, stream});
      CHECK(ncclCommDestroy(communicator) == ncclSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(100 * rank) + static_cast<float>(i);
  return values;
}

}  // namespace

TEST_CASE("collectives of four ranks") {
  on_ranks(4, [](const Rank& at) {
    const auto mine = static_cast<std::size_t>(at.rank);
    DeviceArray<float> whole(values_of(at.rank, 8)), part(std::vector<float>(2, 0)), all(std::vector<float>(8, 0));
    REQUIRE(ncclReduceScatter(whole.get(), part.get(), 2, ncclFloat, ncclSum, at.communicator, at.stream) ==
            ncclSuccess);
    REQUIRE(ncclAllGather(part.get(), all.get(), 2, ncclFloat, at.communicator, at.stream) == ncclSuccess);
    REQUIRE(ncclAllReduce(whole.get(), whole.get(), 8, ncclFloat, ncclSum, at.communicator, at.stream) == ncclSuccess);
    require(cudaStreamSynchronize(at.stream));
    // Sums over the ranks of 100 rank + i.
    CHECK(part.values() == std::vector<float>{600 + 8.f * mine, 604 + 8.f * mine});
    CHECK(all.values() == whole.values());
    CHECK(whole.values()[7] == 628);
  });
  CHECK(reported() == Kinds{});
}

TEST_CASE("collectives with a root, other operations and types") {
  on_ranks(3, [](const Rank& at) {
    DeviceArray<float> array(values_of(at.rank, 4)), result(std::vector<float>(4, -1));
    REQUIRE(ncclBroadcast(array.get(), result.get(), 4, ncclFloat, 2, at.communicator, at.stream) == ncclSuccess);
    require(cudaStreamSynchronize(at.stream));
    CHECK(result.values() == values_of(2, 4));
    REQUIRE(ncclReduce(array.get(), result.get(), 4, ncclFloat, ncclMax, 1, at.communicator, at.stream) == ncclSuccess);
    REQUIRE(ncclAllReduce(array.get(), array.get(), 4, ncclFloat, ncclAvg, at.communicator, at.stream) == ncclSuccess);
    DeviceArray<std::int64_t> integers(std::vector<std::int64_t>{at.rank + 1});
    REQUIRE(ncclAllReduce(integers.get(), integers.get(), 1, ncclInt64, ncclProd, at.communicator, at.stream) ==
            ncclSuccess);
    require(cudaStreamSynchronize(at.stream));
    CHECK(result.values() == values_of(2, 4));
    CHECK(array.values() == values_of(1, 4));
    CHECK(integers.values()[0] == 6);
  });
  CHECK(reported() == Kinds{});
}

TEST_CASE("a collective in a graph") {
  on_ranks(2, [](const Rank& at) {
    DeviceArray<float> array(std::vector<float>{1.f + at.rank});
    require(cudaStreamBeginCapture(at.stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE(ncclAllReduce(array.get(), array.get(), 1, ncclFloat, ncclSum, at.communicator, at.stream) == ncclSuccess);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    require(cudaStreamEndCapture(at.stream, &graph));
    require(cudaGraphInstantiate(&executable, graph, 0));
    for (int step = 0; step < 3; ++step) require(cudaGraphLaunch(executable, at.stream));
    require(cudaStreamSynchronize(at.stream));
    CHECK(array.values()[0] == 12);
    require(cudaGraphExecDestroy(executable));
    require(cudaGraphDestroy(graph));
  });
  CHECK(reported() == Kinds{});
}

TEST_CASE("one thread makes communicators of all GPUs and uses them in a group") {
  ncclComm_t communicators[2] = {};
  REQUIRE(ncclCommInitAll(communicators, 2, nullptr) == ncclSuccess);
  DeviceArray<float> first(std::vector<float>{1});
  Stream first_stream;
  require(cudaSetDevice(1));
  DeviceArray<float> second(std::vector<float>{2});
  Stream second_stream;
  REQUIRE(ncclGroupStart() == ncclSuccess);
  REQUIRE(ncclAllReduce(first.get(), first.get(), 1, ncclFloat, ncclSum, communicators[0], first_stream) ==
          ncclSuccess);
  REQUIRE(ncclAllReduce(second.get(), second.get(), 1, ncclFloat, ncclSum, communicators[1], second_stream) ==
          ncclSuccess);
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  require(cudaStreamSynchronize(first_stream));
  require(cudaStreamSynchronize(second_stream));
  CHECK(second.values()[0] == 3);
  require(cudaSetDevice(0));
  CHECK(first.values()[0] == 3);
  for (const ncclComm_t communicator : communicators) CHECK(ncclCommDestroy(communicator) == ncclSuccess);
  CHECK(reported() == Kinds{});
}

TEST_CASE("ranks that come with different sizes are reported") {
  on_ranks(2, [](const Rank& at) {
    DeviceArray<float> array(std::vector<float>(2, 1));
    const std::size_t count = at.rank == 0 ? 1 : 2;
    REQUIRE(ncclAllReduce(array.get(), array.get(), count, ncclFloat, ncclSum, at.communicator, at.stream) ==
            ncclSuccess);
    require(cudaStreamSynchronize(at.stream));
    ncclResult_t error = ncclSuccess;
    REQUIRE(ncclCommGetAsyncError(at.communicator, &error) == ncclSuccess);
    CHECK(error == ncclInvalidUsage);
    CHECK(array.values()[0] == 1);
  });
  CHECK(reported() == Kinds{"collective"});
}

TEST_CASE("a rank that does not come is reported, and an abort ends the wait") {
  on_ranks(2, [](const Rank& at) {
    if (at.rank == 1) return;
    DeviceArray<float> array(std::vector<float>{1});
    REQUIRE(ncclAllReduce(array.get(), array.get(), 1, ncclFloat, ncclSum, at.communicator, at.stream) == ncclSuccess);
    CHECK(cudaStreamSynchronize(at.stream) == cudaErrorLaunchTimeout);
    CHECK(ncclCommAbort(at.communicator) == ncclSuccess);
    CHECK(cudaStreamSynchronize(at.stream) == cudaSuccess);
  });
  CHECK(reported() == Kinds{"collective", "timeout"});
}

TEST_CASE("a communicator whose ranks do not all come is reported") {
  ncclUniqueId id;
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  ncclComm_t communicator = nullptr;
  CHECK(ncclCommInitRank(&communicator, 2, id, 0) == ncclSystemError);
  CHECK(reported() == Kinds{"collective"});
}

TEST_CASE("faults: a rank hangs or dies") {
  ncclResult_t expected = ncclSuccess;
  SUBCASE("hangs") { inject("hang1", 2, 1); }
  SUBCASE("dies") {
    inject("death1", 2, ncclRemoteError);
    expected = ncclRemoteError;
  }
  on_ranks(2, [&](const Rank& at) {
    DeviceArray<float> array(std::vector<float>{1});
    const auto reduce = [&] {
      REQUIRE(ncclAllReduce(array.get(), array.get(), 1, ncclFloat, ncclSum, at.communicator, at.stream) ==
              ncclSuccess);
      return cudaStreamSynchronize(at.stream);
    };
    CHECK(reduce() == cudaSuccess);
    CHECK(reduce() == cudaErrorLaunchTimeout);
    ncclResult_t error = ncclSuccess;
    REQUIRE(ncclCommGetAsyncError(at.communicator, &error) == ncclSuccess);
    CHECK(error == expected);
    CHECK(ncclCommAbort(at.communicator) == ncclSuccess);
    CHECK(cudaStreamSynchronize(at.stream) == cudaSuccess);
  });
  take_reports();
}
