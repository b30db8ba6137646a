#include "tools/commands.h"

#include <iostream>

#include "base/error.h"
#include "graph/onnx_io.h"
#include "tools/command_line.h"

namespace ort_train::tools {
namespace {

constexpr const char* short_help = R"(ort-train trains an ONNX model:

  ort-train MODEL.onnx --data PATH [--epochs N --batch-size N --lr RATE ...]

ort-train --help lists everything.)";

constexpr const char* forms_of_data = R"(
Give them with --data PATH, where PATH is
  - a folder with the binary files of CIFAR-10 or CIFAR-100 (data_batch_1.bin, ...)
  - a folder with the files of MNIST (train-images-idx3-ubyte.gz, ...)
  - a folder with one folder of JPEG or PNG pictures a class
  - an .npz file, or .npy files in a folder: x holds the samples and y the labels, first axis = sample
or with a recipe that says so: --config FILE.yaml. For example:
  ort-train MODEL.onnx --data samples.npz --epochs 10 --batch-size 32)";

int dispatch(const std::vector<std::string>& arguments) {
  std::string command = "train";
  std::vector<std::string> rest = arguments;
  const bool named = !rest.empty() && (rest[0] == "train" || rest[0] == "evaluate" || rest[0] == "predict");
  if (named) {
    command = rest[0];
    rest.erase(rest.begin());
  }
  if (rest.empty()) fail_usage("no model was given\n\n", short_help);
  const CommandLine parsed = parse_command_line(command, rest);
  if (parsed.help_shown) return 0;
  if (parsed.config.model.empty()) fail_usage("no model was given\n\n", short_help);
  training::check(parsed.config);
  require_data(parsed.config);
  if (command == "evaluate") return evaluate(parsed.config);
  if (command == "predict") return predict(parsed.config);
  return train(parsed.config);
}

}  // namespace

void require_data(const training::TrainingConfig& config) {
  if (!config.data.path.empty()) return;
  const auto model = graph::load(config.model);
  std::string inputs;
  for (const graph::Value* input : model->inputs()) {
    inputs += (inputs.empty() ? "" : ", ") + input->name() + " " + graph::to_string(input->type());
  }
  fail_usage("no data was given. ", config.model.string(), " takes ", inputs, " and needs samples of that with labels.",
             forms_of_data);
}

int run(const std::vector<std::string>& arguments) {
  try {
    return dispatch(arguments);
  } catch (const Error& error) {
    std::cerr << "ort-train: " << error.what() << std::endl;
    return error.kind() == Error::Kind::usage ? 2 : 1;
  } catch (const std::bad_alloc&) {
    std::cerr << "ort-train: not enough memory; a smaller --batch-size needs less" << std::endl;
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "ort-train: " << error.what() << std::endl;
    return 1;
  }
}

}  // namespace ort_train::tools
