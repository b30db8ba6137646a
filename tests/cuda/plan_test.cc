// cuDNN makes the plans of every kind of operation graph for three GPUs, without a GPU: the same code as in production,
// only the device properties come from a text. Where cuDNN has no engine the planner has to say so, because the runtime
// then takes another way. Plans that cuDNN compiles take up to two seconds each: by default each GPU makes those of one
// precision; ORT_TRAIN_LONG_TESTS=1 makes all of them.
#include "runtime/cuda/cudnn/plan.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "tests/cuda/device_properties.h"
#include "tests/cuda/operation_graphs.h"

using namespace ort_train;
using namespace ort_train::test;
namespace cudnn = ort_train::runtime::cuda::cudnn;

namespace {

enum class Family {
  convolution,
  fused_convolution,
  pointwise,
  reduction,
  product,
  batch,
  normalization,
  pooling,
  attention
};

struct Case {
  std::string name;
  Family family;
  OperationGraph graph;
  std::int64_t channels = 0;
};

struct Gpu {
  GpuModel model;
  /// The precision in which compiled plans are made by default.
  DataType compiled;
};

const Gpu gpus[] = {{h200, DataType::bfloat16}, {a100, DataType::float32}, {t4, DataType::float16}};
const DataType precisions[] = {DataType::float32, DataType::float64, DataType::bfloat16, DataType::float16};

bool long_run() { return std::getenv("ORT_TRAIN_LONG_TESTS") != nullptr; }

/// The convolutions of the zoo, and what else models have: strides, dilations, groups, one and three spatial axes,
/// unequal padding.
std::vector<std::pair<std::string, ConvolutionShape>> convolutions() {
  return {
      {"LeNet 1", convolution_2d({8, 1, 28, 28}, 6, 5, 2)},
      {"LeNet 2", convolution_2d({8, 6, 14, 14}, 16, 5, 0)},
      {"MiniGoogLeNet first", convolution_2d({8, 3, 32, 32}, 96, 3, 1)},
      {"MiniGoogLeNet 1x1", convolution_2d({8, 96, 32, 32}, 32, 1, 0)},
      {"MiniGoogLeNet downsample", convolution_2d({8, 80, 32, 32}, 80, 3, 0, 2)},
      {"ResNet stem", convolution_2d({8, 3, 64, 64}, 64, 7, 3, 2)},
      {"ResNet shortcut", convolution_2d({8, 64, 16, 16}, 128, 1, 0, 2)},
      {"VGG", convolution_2d({4, 512, 4, 4}, 512, 3, 1)},
      {"U-Net up", convolution_2d({4, 32, 32, 32}, 64, 2, 0, 2)},
      {"depthwise", convolution_2d({8, 64, 16, 16}, 64, 3, 1, 1, 1, 64)},
      {"groups", convolution_2d({8, 64, 16, 16}, 64, 3, 1, 1, 1, 4)},
      {"dilated", convolution_2d({8, 32, 16, 16}, 32, 3, 2, 1, 2)},
      {"odd channels", convolution_2d({8, 97, 9, 9}, 33, 3, 1)},
      {"one axis", {{8, 16, 1, 50}, {32, 16, 1, 5}, {0, 2}, {0, 2}, {1, 1}, {1, 1}}},
      {"three axes", {{2, 8, 8, 8, 8}, {16, 8, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
      {"unequal padding", {{2, 8, 9, 9}, {16, 8, 3, 3}, {0, 0}, {1, 1}, {2, 2}, {1, 1}}},
  };
}

void add_convolutions(std::vector<Case>& cases, DataType type) {
  for (const auto& [name, shape] : convolutions()) {
    cases.push_back({name + " forward", Family::convolution, convolution(ConvolutionPass::forward, shape, type)});
    cases.push_back({name + " data", Family::convolution, convolution(ConvolutionPass::data_gradient, shape, type)});
    cases.push_back(
        {name + " filter", Family::convolution, convolution(ConvolutionPass::filter_gradient, shape, type)});
  }
  for (const std::int64_t filters : {6, 96, 512}) {
    cases.push_back({text("bias and relu ", filters), Family::fused_convolution,
                     convolution_bias_relu(convolution_2d({8, 32, 16, 16}, filters, 3, 1), type)});
  }
}

void add_normalizations(std::vector<Case>& cases, DataType type) {
  for (const std::int64_t channels : {64, 80, 97, 100}) {
    const Dims dims{8, channels, 16, 16};
    cases.push_back({text("batch normalization ", channels), Family::batch,
                     normalization_forward(NormalizationKind::batch, dims, type), channels});
    cases.push_back({text("batch normalization gradient ", channels), Family::batch,
                     normalization_backward(NormalizationKind::batch, dims, type), channels});
  }
  const Dims image{8, 64, 16, 16};
  cases.push_back({"batch normalization, add, relu", Family::batch, batch_normalization_add_relu(image, type), 64});
  cases.push_back({"its gradient", Family::batch, batch_normalization_relu_backward(image, type), 64});
  for (const auto kind : {NormalizationKind::instance, NormalizationKind::layer, NormalizationKind::rms}) {
    const Dims dims = kind == NormalizationKind::instance ? image : Dims{128, 256, 1, 1};
    cases.push_back({"normalization", Family::normalization, normalization_forward(kind, dims, type)});
    cases.push_back({"normalization gradient", Family::normalization, normalization_backward(kind, dims, type)});
  }
}

void add_poolings(std::vector<Case>& cases, DataType type) {
  const Dims image{8, 64, 16, 16};
  for (const auto mode :
       {PoolingMode::maximum, PoolingMode::average_with_padding, PoolingMode::average_without_padding}) {
    cases.push_back({"pooling", Family::pooling, pooling_forward(mode, image, 3, 1, 2, type, false)});
    cases.push_back({"pooling gradient", Family::pooling, pooling_backward(mode, image, 3, 1, 2, type)});
  }
  cases.push_back(
      {"pooling with index", Family::pooling, pooling_forward(PoolingMode::maximum, image, 2, 0, 2, type, true)});
  cases.push_back({"global pooling", Family::pooling,
                   pooling_forward(PoolingMode::average_with_padding, {8, 64, 8, 8}, 8, 0, 1, type, false)});
  cases.push_back({"global pooling gradient", Family::pooling,
                   pooling_backward(PoolingMode::average_with_padding, {8, 64, 8, 8}, 8, 0, 1, type)});
}

std::vector<Case> compiled_cases(DataType type) {
  std::vector<Case> cases;
  add_normalizations(cases, type);
  add_poolings(cases, type);
  const Dims image{8, 64, 16, 16};
  for (const auto mode : {PointwiseMode::add, PointwiseMode::gelu, PointwiseMode::gelu_backward, PointwiseMode::greater,
                          PointwiseMode::select}) {
    cases.push_back({"pointwise", Family::pointwise, pointwise(mode, image, type)});
  }
  cases.push_back({"sums of channels", Family::reduction, reduction(ReductionMode::sum, image, {1, 64, 1, 1}, type)});
  cases.push_back(
      {"sums of rows", Family::reduction, reduction(ReductionMode::sum, {64, 1000, 1, 1}, {64, 1, 1, 1}, type)});
  cases.push_back({"matrix product", Family::product, matrix_product(4, 64, 32, 128, type)});
  for (const bool causal : {false, true}) {
    cases.push_back({"attention", Family::attention, attention_forward(2, 4, 128, 64, causal, false, type)});
    cases.push_back({"attention gradient", Family::attention, attention_backward(2, 4, 128, 64, causal, false, type)});
  }
  cases.push_back({"attention with bias", Family::attention, attention_forward(2, 4, 128, 64, false, true, type)});
  return cases;
}

std::vector<Case> convolution_cases(DataType type) {
  std::vector<Case> cases;
  add_convolutions(cases, type);
  return cases;
}

/// What is known of cuDNN 9.19. Neither an engine nor its workspace is pinned, only whether there is one.
bool expected(const Case& one, DataType type, const GpuModel& gpu) {
  const bool turing = gpu.compute_capability < 80;
  const bool half = type == DataType::bfloat16 || type == DataType::float16;
  if (type == DataType::bfloat16 && turing) return one.family == Family::reduction;
  // cuDNN's older calls take a batch normalization that stands alone.
  if (one.family == Family::batch && one.graph.operations.size() == 1 && type != DataType::bfloat16) return true;
  if (type == DataType::float64) return one.family == Family::convolution || one.family == Family::fused_convolution;
  switch (one.family) {
    case Family::batch:
      // The channels of one pixel have to fill whole 16-byte words.
      return !turing && one.channels * static_cast<std::int64_t>(size_of(type)) % 16 == 0;
    case Family::attention: return half && !turing;
    case Family::product:
      // In float32 there are tensor-core engines only, which would round to TF32.
      return half;
    default: return true;
  }
}

void check_cases(const std::vector<Case>& cases, DataType type, const GpuModel& gpu, cudnn::Planner& planner) {
  for (const Case& one : cases) {
    std::string refusal;
    const auto plan = planner.find(one.graph, &refusal);
    INFO(std::string(gpu.name), " ", name_of(type), " ", one.name, ": ", one.graph.key());
    INFO("cuDNN says: ", refusal);
    CHECK((plan != nullptr) == expected(one, type, gpu));
    if (plan) {
      CHECK(plan->workspace_bytes() <= (std::size_t{1} << 30));
      CHECK_FALSE(plan->name().empty());
    } else {
      CHECK_FALSE(refusal.empty());
    }
  }
}

std::filesystem::path empty_folder(const std::string& name) {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / text("ort_train_", name, "_", ::getpid());
  std::filesystem::remove_all(folder);
  return folder;
}

OperationGraph small_convolution() {
  return convolution(ConvolutionPass::forward, convolution_2d({2, 8, 8, 8}, 8, 3, 1), DataType::float32);
}

}  // namespace

TEST_CASE("Convolutions have plans on every GPU in every precision that it has") {
  for (const Gpu& gpu : gpus) {
    cudnn::Planner planner(cudnn::DeviceProperties{device_properties(gpu.model)});
    for (const DataType type : precisions) {
      // On Turing a few filter gradients in bfloat16 have a plan; the runtime refuses the precision as a whole.
      if (type == DataType::bfloat16 && gpu.model.compute_capability < 80) continue;
      check_cases(convolution_cases(type), type, gpu.model, planner);
    }
  }
}

TEST_CASE("Everything else has a plan, or a refusal where the runtime has another way") {
  for (const Gpu& gpu : gpus) {
    cudnn::Planner planner(cudnn::DeviceProperties{device_properties(gpu.model)});
    for (const DataType type : precisions) {
      const bool quick = type == DataType::float64 || (type == DataType::bfloat16 && gpu.model.compute_capability < 80);
      if (type == gpu.compiled || quick || long_run()) check_cases(compiled_cases(type), type, gpu.model, planner);
    }
  }
}

TEST_CASE("The cases hold every kind of operation") {
  std::set<std::size_t> kinds;
  for (const auto& cases : {convolution_cases(DataType::float32), compiled_cases(DataType::float32)}) {
    for (const Case& one : cases) {
      for (const auto& operation : one.graph.operations) kinds.insert(operation.index());
    }
  }
  CHECK(kinds.size() == std::variant_size_v<cudnn::Operation>);
}

TEST_CASE("TF32 only where it is allowed") {
  cudnn::Planner planner(cudnn::DeviceProperties{device_properties(h200)});
  OperationGraph graph = matrix_product(4, 64, 32, 128, DataType::float32);
  CHECK(planner.find(graph) == nullptr);
  graph.allow_tf32 = true;
  CHECK(planner.find(graph) != nullptr);
}

TEST_CASE("Equal graphs share a plan, others do not") {
  cudnn::Planner planner(cudnn::DeviceProperties{device_properties(h200)});
  CHECK(planner.find(small_convolution()) == planner.find(small_convolution()));
  OperationGraph other = small_convolution();
  other.deterministic = true;
  CHECK(other.key() != small_convolution().key());
  CHECK(planner.find(other) != planner.find(small_convolution()));
}

TEST_CASE("Plans on disk are found again; damaged files and those of other devices are replaced") {
  const auto folder = empty_folder("cudnn_plans");
  const auto plan_with = [&](const GpuModel& gpu) {
    cudnn::Planner planner(cudnn::DeviceProperties{device_properties(gpu)}, {.cache_folder = folder});
    CHECK(planner.find(small_convolution()) != nullptr);
    return planner.cache_counts();
  };
  const auto first = plan_with(h200);
  CHECK(first.written == 1);
  CHECK(first.loaded == 0);
  const auto second = plan_with(h200);
  CHECK(second.written == 0);
  CHECK(second.loaded == 1);
  CHECK(plan_with(a100).written == 1);

  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::string content = read_file(file.path());
    content[content.size() / 2] ^= 1;
    write_file_atomically(file.path(), content);
  }
  const auto damaged = plan_with(h200);
  CHECK(damaged.ignored == 1);
  CHECK(damaged.written == 1);
  CHECK(plan_with(h200).loaded == 1);

  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::filesystem::resize_file(file.path(), 40);
  }
  CHECK(plan_with(h200).ignored == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("A cache folder that cannot be written costs nothing but time") {
  const auto file = empty_folder("cudnn_no_folder");
  std::ofstream(file) << "a file where the folder should be";
  cudnn::Planner planner(cudnn::DeviceProperties{device_properties(h200)}, {.cache_folder = file});
  CHECK(planner.find(small_convolution()) != nullptr);
  CHECK(planner.cache_counts().written == 0);
  std::filesystem::remove(file);
}

TEST_CASE("Graphs that are wrong in themselves are errors, not refusals") {
  cudnn::Planner planner(cudnn::DeviceProperties{device_properties(h200)});
  CHECK_THROWS_WITH_AS(planner.find(OperationGraph{}), doctest::Contains("no operation"), Error);

  OperationGraph unknown = small_convolution();
  unknown.tensors.pop_back();
  CHECK_THROWS_WITH_AS(planner.find(unknown), doctest::Contains("names tensor 2"), Error);

  OperationGraph unmade = small_convolution();
  unmade.tensors[0].is_virtual = true;
  CHECK_THROWS_WITH_AS(planner.find(unmade), doctest::Contains("no earlier operation makes"), Error);

  OperationGraph length = small_convolution();
  std::get<cudnn::Convolution>(length.operations[0]).strides = {1};
  CHECK_THROWS_WITH_AS(planner.find(length), doctest::Contains("spatial axes"), Error);

  OperationGraph empty = small_convolution();
  empty.tensors[0].dims[0] = 0;
  CHECK_THROWS_WITH_AS(planner.find(empty), doctest::Contains("positive"), Error);
}

TEST_CASE("Device properties that cuDNN does not take are an error") {
  CHECK_THROWS_AS(cudnn::Planner(cudnn::DeviceProperties{"{}"}), Error);
}
