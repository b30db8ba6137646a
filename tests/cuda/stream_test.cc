// Plans of cuDNN on virtual GPUs: they run in the order of their stream, may be captured and measured, and what they
// read before it is there is reported.
#include "runtime/cuda/cudnn/plan.h"
#include "tests/cuda/operation_graphs.h"
#include "tests/virtual_gpu/testing.h"

using namespace ort_train;
using namespace ort_train::test;
using namespace virtual_gpu::testing;
namespace cudnn = ort_train::runtime::cuda::cudnn;

namespace {

class Handle {
 public:
  Handle() { REQUIRE(cudnnCreate(&handle_) == CUDNN_STATUS_SUCCESS); }
  ~Handle() { cudnnDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  // Stands wherever the library wants its handle: NOLINTNEXTLINE(google-explicit-constructor)
  operator cudnnHandle_t() const { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

/// A 1x1 convolution of eight channels to eight: with ones, every response is eight times the image.
struct Problem {
  OperationGraph graph =
      convolution(ConvolutionPass::forward, convolution_2d({2, 8, 4, 4}, 8, 1, 0), DataType::float32);
  DeviceArray<float> image{256}, filter{64}, response{256};
  DeviceArray<std::byte> workspace{std::size_t{1} << 22};

  std::vector<void*> pointers() const { return {image.get(), filter.get(), response.get()}; }
};

}  // namespace

TEST_CASE("a plan runs after the work before it in its stream") {
  Problem problem;
  Stream stream;
  Handle handle;
  cudnn::Planner planner(handle);
  const auto plan = planner.find(problem.graph);
  REQUIRE(plan != nullptr);
  REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  require(fill(stream, problem.image, 3));
  require(fill(stream, problem.filter, 1));
  plan->execute(handle, problem.pointers(), problem.workspace.get());
  require(cudaStreamSynchronize(stream));
  CHECK(problem.response.values() == std::vector<float>(256, 24));
  CHECK(reported() == Kinds{});
}

TEST_CASE("an image that another stream has yet to write is reported") {
  Problem problem;
  Stream stream, other;
  Handle handle;
  cudnn::Planner planner(handle);
  const auto plan = planner.find(problem.graph);
  REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  require(fill(stream, problem.filter, 1));
  require(fill(other, problem.image, 3));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  plan->execute(handle, problem.pointers(), problem.workspace.get());
  require(cudaDeviceSynchronize());
  CHECK(reported() == Kinds{"race"});
}

TEST_CASE("a captured plan runs at every replay") {
  Problem problem;
  Stream stream;
  Handle handle;
  cudnn::Planner planner(handle);
  const auto plan = planner.find(problem.graph);
  REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  require(fill(stream, problem.filter, 1));
  require(fill(stream, problem.response, 0));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  plan->execute(handle, problem.pointers(), problem.workspace.get());
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  require(cudaGraphInstantiate(&executable, graph, 0));
  require(cudaStreamSynchronize(stream));
  CHECK(problem.response.values() == std::vector<float>(256, 0));
  for (const float value : {1.0F, 2.0F}) {
    require(fill(stream, problem.image, value));
    require(cudaGraphLaunch(executable, stream));
    require(cudaStreamSynchronize(stream));
    CHECK(problem.response.values() == std::vector<float>(256, 8 * value));
  }
  require(cudaGraphExecDestroy(executable));
  require(cudaGraphDestroy(graph));
  CHECK(reported() == Kinds{});
}

TEST_CASE("a measured plan is the one that is found from then on") {
  Problem problem;
  Stream stream;
  Handle handle;
  cudnn::Planner planner(handle);
  REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  require(fill(stream, problem.image, 3));
  require(fill(stream, problem.filter, 1));
  const auto plan = planner.autotune(problem.graph, handle, problem.pointers(), problem.workspace.get(),
                                     problem.workspace.bytes(), 3);
  REQUIRE(plan != nullptr);
  CHECK(plan->workspace_bytes() <= problem.workspace.bytes());
  CHECK(planner.find(problem.graph) == plan);
  require(cudaStreamSynchronize(stream));
  CHECK(problem.response.values() == std::vector<float>(256, 24));
  CHECK(reported() == Kinds{});
}

TEST_CASE("devices of one kind share a planner and its plans, each with a handle of its own") {
  std::shared_ptr<cudnn::Planner> planner;
  for (const int device : {0, 1}) {
    require(cudaSetDevice(device));
    {
      Problem problem;
      Stream stream;
      Handle handle;
      const auto mine = cudnn::Planner::shared(handle);
      if (!planner) planner = mine;
      CHECK(mine == planner);
      REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
      require(fill(stream, problem.image, 1));
      require(fill(stream, problem.filter, 1));
      mine->find(problem.graph)->execute(handle, problem.pointers(), problem.workspace.get());
      require(cudaStreamSynchronize(stream));
      CHECK(problem.response.values() == std::vector<float>(256, 8));
    }
  }
  require(cudaSetDevice(0));
  CHECK(reported() == Kinds{});
}

TEST_CASE("a stream of another device is refused") {
  Handle handle;
  require(cudaSetDevice(1));
  {
    Stream stream;
    CHECK(cudnnSetStream(handle, stream) == CUDNN_STATUS_BAD_PARAM);
  }
  require(cudaSetDevice(0));
  CHECK(reported() == Kinds{"api"});
}

TEST_CASE("a launch that fails is an error with cuDNN's words") {
  Problem problem;
  Handle handle;
  Stream stream;
  cudnn::Planner planner(handle);
  const auto plan = planner.find(problem.graph);
  REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  virtual_gpu::inject("cudnnBackendExecute", 1, 1);
  CHECK_THROWS_WITH_AS(plan->execute(handle, problem.pointers(), problem.workspace.get()),
                       doctest::Contains("cuDNN failed to run"), Error);
}

TEST_CASE("a plan that needs scratch memory and gets none is an error") {
  Problem problem;
  Handle handle;
  cudnn::Planner planner(handle);
  const OperationGraph graph = normalization_forward(NormalizationKind::batch, {4, 64, 8, 8}, DataType::float32);
  const auto plan = planner.find(graph);
  REQUIRE(plan != nullptr);
  REQUIRE(plan->workspace_bytes() > 0);
  const std::vector<void*> anything(graph.tensors.size(), problem.workspace.get());
  CHECK_THROWS_WITH_AS(plan->execute(handle, anything, nullptr), doctest::Contains("workspace"), Error);
}
