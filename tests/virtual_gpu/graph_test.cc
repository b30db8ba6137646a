// Capture and graphs of virtual GPUs.
#include "tests/virtual_gpu/testing.h"

using namespace virtual_gpu;
using namespace virtual_gpu::testing;

namespace {

constexpr std::size_t count = 100;

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  require(cudaGraphInstantiate(&executable, graph, 0));
  require(cudaGraphDestroy(graph));
  return executable;
}

}  // namespace

TEST_CASE("a step over two streams is captured, runs only when launched, and runs again") {
  DeviceArray<float> first(std::vector<float>(count, 0)), second(std::vector<float>(count, 0));
  Stream main, side;
  Event event;
  require(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal));
  order(main, side, event);
  require(fill(side, second, 2));
  order(side, main, event);
  require(add(main, second, first));
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(main, &graph));
  require(cudaDeviceSynchronize());
  CHECK(first.values() == std::vector<float>(count, 0));

  std::size_t nodes = 0;
  require(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 2);
  const cudaGraphExec_t executable = instantiate(graph);
  for (int step = 0; step < 3; ++step) require(cudaGraphLaunch(executable, main));
  require(cudaStreamSynchronize(main));
  CHECK(first.values() == std::vector<float>(count, 6));
  require(cudaGraphExecDestroy(executable));
  CHECK(reported() == Kinds{});
}

TEST_CASE("a race inside of a graph is reported when it runs") {
  DeviceArray<float> first(count), second(count);
  Stream main, side;
  Event fork, join;
  require(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal));
  require(fill(main, first, 1));
  order(main, side, fork);
  require(fill(side, second, 2));
  require(add(main, second, first));
  order(side, main, join);
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(main, &graph));
  const cudaGraphExec_t executable = instantiate(graph);
  require(cudaGraphLaunch(executable, main));
  require(cudaStreamSynchronize(main));
  require(cudaGraphExecDestroy(executable));
  CHECK(reported() == Kinds{"race"});
}

TEST_CASE("a stream that is not joined makes the capture fail") {
  DeviceArray<float> array(count);
  Stream main, side;
  Event event;
  require(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal));
  order(main, side, event);
  require(fill(side, array, 2));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureUnjoined);
  CHECK(graph == nullptr);
  require(fill(side, array, 3));
  require(cudaStreamSynchronize(side));
}

TEST_CASE("calls that a capture forbids make it fail, by its mode") {
  Stream stream;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool from_other_thread = false, allowed = false;
  SUBCASE("global, own thread") {}
  SUBCASE("global, another thread") { from_other_thread = true; }
  SUBCASE("of the thread, own thread") { mode = cudaStreamCaptureModeThreadLocal; }
  SUBCASE("of the thread, another thread") {
    mode = cudaStreamCaptureModeThreadLocal;
    from_other_thread = allowed = true;
  }
  SUBCASE("relaxed") {
    mode = cudaStreamCaptureModeRelaxed;
    allowed = true;
  }
  require(cudaStreamBeginCapture(stream, mode));
  void* memory = nullptr;
  cudaError_t status = cudaSuccess;
  const auto allocate = [&] { status = cudaMalloc(&memory, 16); };
  if (from_other_thread) {
    std::thread(allocate).join();
  } else {
    allocate();
  }
  CHECK((status == cudaSuccess) == allowed);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == (allowed ? cudaSuccess : cudaErrorStreamCaptureInvalidated));
  if (graph != nullptr) require(cudaGraphDestroy(graph));
  require(cudaFree(memory));
  take_reports();
  cudaGetLastError();
}

TEST_CASE("a synchronization of a stream that is captured makes the capture fail") {
  Stream stream;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  require(cudaStreamIsCapturing(stream, &status));
  CHECK(status == cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

TEST_CASE("the default stream disturbs the capture of a stream that waits for it, and no other") {
  DeviceArray<float> array(count);
  for (const bool is_blocking : {true, false}) {
    Stream stream(is_blocking ? cudaStreamDefault : cudaStreamNonBlocking);
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK((fill(nullptr, array, 1) == cudaErrorStreamCaptureImplicit) == is_blocking);
    cudaGraph_t graph = nullptr;
    CHECK((cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated) == is_blocking);
    if (graph != nullptr) require(cudaGraphDestroy(graph));
    CHECK(reported() == (is_blocking ? Kinds{"api"} : Kinds{}));
  }
  require(cudaDeviceSynchronize());
  cudaGetLastError();
}

TEST_CASE("a host function of a graph runs in the stream's order") {
  DeviceArray<float> array(count);
  float* pinned = nullptr;
  require(cudaMallocHost(reinterpret_cast<void**>(&pinned), array.bytes()));
  Stream stream;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  require(fill(stream, array, 4));
  require(cudaMemcpyAsync(pinned, array.get(), array.bytes(), cudaMemcpyDeviceToHost, stream));
  require(cudaLaunchHostFunc(
      stream, [](void* memory) { static_cast<float*>(memory)[0] += 1; }, pinned));
  require(cudaMemcpyAsync(array.get(), pinned, array.bytes(), cudaMemcpyHostToDevice, stream));
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(stream, &graph));
  const cudaGraphExec_t executable = instantiate(graph);
  for (int step = 0; step < 2; ++step) require(cudaGraphLaunch(executable, stream));
  require(cudaStreamSynchronize(stream));
  CHECK(array.values()[0] == 5);
  CHECK(array.values()[1] == 4);
  require(cudaGraphExecDestroy(executable));
  require(cudaFreeHost(pinned));
  CHECK(reported() == Kinds{});
}
