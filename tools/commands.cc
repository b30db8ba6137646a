#include "tools/commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <thread>

#include "base/error.h"
#include "graph/onnx_io.h"
#include "runtime/collectives/processes.h"
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

/// One process of several trains; the other commands have nothing to divide.
void check_processes(const std::string& command, const runtime::Processes& processes) {
  if (processes.count() == 1 || command == "train") return;
  fail_usage("'", command, "' runs in one process, but ", processes.count(), " were started; leave out mpirun",
             command == "explain" ? ", and give the replicas of all processes with --replicas" : "");
}

void take_part(training::TrainingConfig& config, const std::string& command, const runtime::Processes& processes) {
  check_processes(command, processes);
  config.processes = processes.count();
  config.process = processes.index();
}

/// Takes the command off the arguments; training needs no name.
std::string take_command(std::vector<std::string>& arguments) {
  constexpr std::array names = {"train", "evaluate", "predict", "explain", "devices"};
  if (arguments.empty() || std::find(names.begin(), names.end(), arguments[0]) == names.end()) return "train";
  std::string command = arguments[0];
  arguments.erase(arguments.begin());
  return command;
}

int dispatch(const std::vector<std::string>& arguments, const runtime::Processes& processes) {
  std::vector<std::string> rest = arguments;
  const std::string command = take_command(rest);
  if (command == "devices") {
    check_processes(command, processes);
    return devices(rest);
  }
  if (rest.empty()) fail_usage("no model was given\n\n", short_help);
  CommandLine parsed = parse_command_line(command, rest);
  if (parsed.help_shown) return 0;
  if (parsed.config.model.empty()) fail_usage("no model was given\n\n", short_help);
  take_part(parsed.config, command, processes);
  if (command == "explain") {
    check_explainable(parsed.config);
    return explain(parsed.config, parsed.machine);
  }
  if (command == "train") {
    training::check(parsed.config);
  } else {
    training::check_evaluation(parsed.config);
  }
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

namespace {

/// Of several processes the first one speaks for all; the others say what went wrong with them alone.
int report(const std::string& sentence, int exit_code, const runtime::Processes& processes) {
  if (processes.index() == 0) {
    std::cerr << "ort-train: " << sentence << std::endl;
  } else {
    // A wrong argument is wrong in every process: the first one says so meanwhile, and ends them all.
    if (exit_code == 2) std::this_thread::sleep_for(std::chrono::seconds(2));
    std::cerr << "ort-train (process " << processes.index() << "): " << sentence << std::endl;
  }
  return exit_code;
}

int run_in_process(const std::vector<std::string>& arguments, const runtime::Processes& processes) {
  try {
    return dispatch(arguments, processes);
  } catch (const Error& error) {
    return report(error.what(), error.kind() == Error::Kind::usage ? 2 : 1, processes);
  } catch (const std::bad_alloc&) {
    return report("not enough memory; a smaller --batch-size needs less", 1, processes);
  } catch (const std::exception& error) {
    return report(error.what(), 1, processes);
  }
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  try {
    runtime::Processes processes;
    const int exit_code = run_in_process(arguments, processes);
    // The processes of a failed run cannot part in order.
    if (processes.count() > 1 && exit_code != 0 && exit_code != interrupted_exit_code) processes.end_all(exit_code);
    return exit_code;
  } catch (const std::exception& error) {
    std::cerr << "ort-train: " << error.what() << std::endl;
    return 2;
  }
}

}  // namespace ort_train::tools
