// The checker of virtual GPUs finds mistakes in the order of streams, whatever the timing, and leaves right programs
// alone.
#include "tests/virtual_gpu/testing.h"

using namespace virtual_gpu;
using namespace virtual_gpu::testing;

namespace {

constexpr std::size_t count = 1000;

// Long enough that the work before it would be done, if timing were all that mattered.
void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace

TEST_CASE("a fork and a join by events is in order, and the numbers are right") {
  DeviceArray<float> first(count), second(count);
  Stream main, side;
  Event event;
  require(fill(main, first, 1));
  order(main, side, event);
  require(fill(side, second, 2));
  order(side, main, event);
  require(add(main, second, first));
  require(cudaStreamSynchronize(main));
  CHECK(first.values() == std::vector<float>(count, 3));
  CHECK(reported() == Kinds{});
}

TEST_CASE("a missing fork is reported") {
  DeviceArray<float> first(count), second(count);
  Stream main, side;
  require(fill(main, first, 1));
  require(fill(main, second, 1));
  let_time_pass();
  require(add(side, first, second));
  require(cudaDeviceSynchronize());
  CHECK(reported() == Kinds{"race"});
}

TEST_CASE("a missing join is reported") {
  DeviceArray<float> first(count), second(count);
  Stream main, side;
  Event event;
  require(fill(main, first, 1));
  order(main, side, event);
  require(fill(side, second, 2));
  let_time_pass();
  require(add(main, second, first));
  require(cudaDeviceSynchronize());
  CHECK(reported() == Kinds{"race"});
}

TEST_CASE("a join that comes before the work it should wait for is reported") {
  DeviceArray<float> first(count), second(count);
  Stream main, side;
  Event event;
  require(fill(main, first, 1));
  require(cudaEventRecord(event, side));
  require(fill(side, second, 2));
  require(cudaStreamWaitEvent(main, event, 0));
  let_time_pass();
  require(add(main, second, first));
  require(cudaDeviceSynchronize());
  CHECK(reported() == Kinds{"race"});
}

TEST_CASE("memory that is written again before a reader has ended is reported") {
  DeviceArray<float> first(count), second(count);
  Stream main, side;
  Event event;
  require(fill(main, first, 1));
  require(fill(main, second, 1));
  order(main, side, event);
  require(add(side, first, second));
  let_time_pass();
  require(fill(main, first, 5));
  require(cudaDeviceSynchronize());
  CHECK(reported() == Kinds{"race"});
}

TEST_CASE("reads need no order among themselves, nor do different parts of a block") {
  DeviceArray<float> shared(count), first(count), second(count);
  Stream main, side;
  Event event;
  require(fill(main, shared, 1));
  require(fill(main, first, 1));
  require(fill(main, second, 1));
  order(main, side, event);
  require(add(main, shared, first));
  require(add(side, shared, second));
  require(cudaDeviceSynchronize());
  require(cudaMemsetAsync(shared.get(), 0, shared.bytes() / 2, main));
  require(cudaMemsetAsync(shared.get() + count / 2, 0, shared.bytes() / 2, side));
  require(cudaDeviceSynchronize());
  CHECK(reported() == Kinds{});
}

TEST_CASE("the host orders what it puts on a stream after what it has waited for") {
  DeviceArray<float> array(count);
  Stream main, side;
  require(fill(main, array, 1));
  SUBCASE("by a stream") { require(cudaStreamSynchronize(main)); }
  SUBCASE("by an event") {
    Event event;
    require(cudaEventRecord(event, main));
    require(cudaEventSynchronize(event));
  }
  SUBCASE("by the device") { require(cudaDeviceSynchronize()); }
  require(fill(side, array, 2));
  require(cudaDeviceSynchronize());
  CHECK(array.values() == std::vector<float>(count, 2));
  CHECK(reported() == Kinds{});
}

TEST_CASE("a host that reads pinned memory without waiting is reported") {
  DeviceArray<float> array(count);
  float* pinned = nullptr;
  require(cudaMallocHost(reinterpret_cast<void**>(&pinned), array.bytes()));
  Stream stream;
  require(fill(stream, array, 7));
  require(cudaMemcpyAsync(pinned, array.get(), array.bytes(), cudaMemcpyDeviceToHost, stream));
  Kinds expected;
  SUBCASE("waiting") { require(cudaStreamSynchronize(stream)); }
  SUBCASE("not waiting") {
    let_time_pass();
    expected = {"race"};
  }
  host_access(pinned, array.bytes(), false);
  require(cudaStreamSynchronize(stream));
  CHECK(pinned[count - 1] == 7);
  CHECK(reported() == expected);
  require(cudaFreeHost(pinned));
}

TEST_CASE("the default stream and blocking streams wait for each other, others do not") {
  DeviceArray<float> array(count);
  Kinds expected;
  unsigned flags = cudaStreamDefault;
  SUBCASE("blocking") {}
  SUBCASE("not blocking") {
    flags = cudaStreamNonBlocking;
    expected = {"race"};
  }
  {
    Stream stream(flags);
    require(fill(stream, array, 1));
    require(fill(nullptr, array, 2));
    require(fill(stream, array, 3));
    require(cudaDeviceSynchronize());
  }
  CHECK(reported() == expected);
}

TEST_CASE("an access outside of a block is reported, and the device has failed") {
  int device = device_count() - 1;
  require(cudaSetDevice(device));
  DeviceArray<float> array(count);
  Stream stream;
  require(launch(stream, "too far", {write_of(array.get(), array.bytes() + 1)}, [] {}));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(reported() == Kinds{"bounds"});
  CHECK(fill(stream, array, 1) == cudaErrorIllegalAddress);
  require(cudaSetDevice(0));
}

TEST_CASE("a kernel that touches another device's memory is reported") {
  DeviceArray<float> array(count);
  require(cudaSetDevice(1));
  {
    Stream stream;
    require(fill(stream, array, 1));
    require(cudaStreamSynchronize(stream));
  }
  require(cudaSetDevice(0));
  CHECK(reported() == Kinds{"device"});
}
