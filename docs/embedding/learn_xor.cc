// Trains a model from inside a C++ program: a graph goes in, passes make the training step, a device runs it, and a
// trained ONNX file comes out.
//
//     learn-xor OUTPUT.onnx

#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/tensor.h"
#include "graph/onnx_io.h"
#include "passes/training_graph.h"
#include "runtime/executable.h"

namespace {

// Two inputs, four hidden units, two classes. `graph::load("model.onnx")` reads a file instead.
constexpr const char* model_text = R"(
<ir_version: 10, opset_import: ["" : 21]>
xor (float[N, 2] bits) => (float[N, 2] logits)
<
  float[4, 2] hidden_weight = {0.8, -0.6, -0.7, 0.9, 0.5, 0.4, -0.3, -0.8},
  float[4] hidden_bias = {0.1, -0.1, 0.2, 0.0},
  float[2, 4] output_weight = {0.6, -0.5, 0.4, 0.7, -0.6, 0.5, 0.3, -0.4},
  float[2] output_bias = {0.0, 0.0}
>
{
  sum = Gemm<transB = 1>(bits, hidden_weight, hidden_bias)
  hidden = Tanh(sum)
  logits = Gemm<transB = 1>(hidden, output_weight, output_bias)
}
)";

}  // namespace

int main(int argc, char** argv) try {
  using namespace ort_train;
  if (argc != 2) fail_usage("usage: learn-xor OUTPUT.onnx");

  const std::unique_ptr<graph::Graph> model = graph::parse_text(model_text);

  passes::TrainingSpec spec;
  spec.losses = {{.type = "softmax_cross_entropy"}};
  spec.optimizer = {.type = "sgd", .momentum = 0.9};
  const auto step = passes::build_training_graph(*model, spec, {{"bits", {4, 2}}});

  const auto device = runtime::make_cpu_device();
  const auto state = device->make_state();
  const auto executable = device->compile(*step, state);

  executable->set_input("bits", Tensor::of<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}));
  executable->set_input("label", Tensor::of<std::int64_t>({4}, {0, 1, 1, 0}));
  executable->set_input(passes::learning_rate_input, Tensor::scalar(0.1F));
  float loss = 0;
  for (int number = 1; number <= 300; ++number) {
    executable->run();
    loss = executable->output(passes::loss_output).data<float>()[0];
    if (number % 50 == 0) std::cout << "step " << number << ", loss " << loss << '\n';
  }

  std::map<std::string, Tensor> trained;
  for (const graph::Value* value : model->initializers()) trained[value->name()] = state->get(value->name());
  graph::save(*passes::build_inference_model(*model, trained), argv[1]);
  std::cout << "wrote " << argv[1] << '\n';
  return loss < 0.01F ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
