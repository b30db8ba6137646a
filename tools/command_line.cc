#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "runtime/training/config_options.h"
#include "runtime/training/config_value.h"

namespace ort_train::tools {
namespace {

constexpr const char* train_examples = R"(
Other commands:
  ort-train evaluate MODEL --data PATH                   loss and metrics of a model
  ort-train predict MODEL --data X.npz --output Y.npz    outputs of a model
  ort-train explain MODEL                                what a step does, needs and takes on N replicas
  ort-train devices                                      the CPU and the GPUs that are there

Examples:
  ort-train lenet.onnx --data mnist/ --epochs 5 --batch-size 64 --lr 0.01 --momentum 0.9
  ort-train minigooglenet.onnx --config minigooglenet.yaml --data cifar-10-batches-bin/
  ort-train model.onnx --data samples.npz --optimizer adam --loss mse --curves curves.png
  ort-train model.onnx --data pictures/ --freeze "features.*" --augmentation "{shift: 0.1, flip: true}"
  ort-train model.onnx --config recipe.yaml --checkpoint run1/ --checkpoint-every-steps 500
  ort-train model.onnx --config recipe.yaml --checkpoint run1/ --resume run1/

Every option is also a key of a recipe (a YAML file), with "_" for "-":
  data: mnist/
  epochs: 5
  optimizer: {type: sgd, lr: 0.01, momentum: 0.9}

Exit codes: 0 done, 1 the run failed, 2 wrong arguments or recipe, 130 interrupted (the state is saved).)";

constexpr const char* evaluate_examples = R"(
Examples:
  ort-train evaluate lenet-trained.onnx --data mnist/ --batch-size 100
  ort-train evaluate model-trained.onnx --config recipe.yaml
  ort-train evaluate model-trained.onnx --data samples.npz --gpus 1)";

constexpr const char* predict_examples = R"(
Example:
  ort-train predict model-trained.onnx --data X.npz --output Y.npz)";

constexpr const char* explain_examples = R"(
Examples:
  ort-train explain lenet.onnx --batch-size 64 --momentum 0.9
  ort-train explain model.onnx --config recipe.yaml --replicas 1024 --bandwidth 12.5 --latency 5 --step-time 80

All options of training are understood; those that change nothing here are not listed.)";

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// Breaks a help text into lines; CLI11 indents those that follow the first.
std::string wrapped(const std::string& help) {
  constexpr std::size_t width = 84;
  std::string result;
  std::size_t line = 0, start = 0;
  while (start < help.size()) {
    const std::size_t space = std::min(help.find(' ', start), help.size());
    const std::string word = help.substr(start, space - start);
    const bool breaks = line > 0 && line + 1 + word.size() > width;
    result += (line == 0 ? "" : breaks ? "\n" : " ") + word;
    line = breaks ? word.size() : line + 1 + word.size();
    start = space + 1;
  }
  return result;
}

/// "--batch-size,--batch_size".
std::string spellings(const training::OptionInfo& option) {
  std::string result = "--" + dashed(option.name);
  if (dashed(option.name) != option.name) result += ",--" + option.name;
  for (const std::string& alias : option.aliases) {
    result += ",--" + dashed(alias);
    if (dashed(alias) != alias) result += ",--" + alias;
  }
  return result;
}

/// The help names each option once, in the spelling with dashes.
class OptionFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    if (positional) return option->get_name(true);
    const std::string name = option->get_lnames().empty() ? option->get_name() : "--" + option->get_lnames().front();
    return option->get_snames().empty() ? name : "-" + option->get_snames().front() + ", " + name;
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_type_name();
    return value.empty() ? "" : " " + value;
  }
};

/// Whether an option means anything to the command.
bool is_for(const std::string& command, const training::OptionInfo& option) {
  static const std::set<std::string> not_explained = {"validation",
                                                      "validation_split",
                                                      "epochs",
                                                      "drop_last",
                                                      "shuffle",
                                                      "schedule",
                                                      "warmup_steps",
                                                      "warmup_epochs",
                                                      "output",
                                                      "history",
                                                      "curves",
                                                      "checkpoint",
                                                      "checkpoint_every_epochs",
                                                      "checkpoint_every_steps",
                                                      "resume",
                                                      "quiet",
                                                      "device",
                                                      "gpus",
                                                      "tf32",
                                                      "cuda_graph",
                                                      "collective_timeout",
                                                      "augmentation"};
  if (command == "explain") return not_explained.count(option.name) == 0;
  static const std::map<std::string, std::set<std::string>> known = {
      {"evaluate",
       {"data", "validation", "validation_split", "batch_size", "loss", "metrics", "preprocessing", "batch_axis",
        "resume", "threads", "device", "gpus", "tf32", "cuda_graph"}},
      {"predict",
       {"data", "batch_size", "preprocessing", "batch_axis", "resume", "threads", "device", "gpus", "tf32",
        "cuda_graph", "output"}}};
  const auto found = known.find(command);
  return found == known.end() || found->second.count(option.name) != 0;
}

std::string help_of(const training::OptionInfo& option, const std::string& command) {
  if (command == "explain" && option.name == "replicas") return "copies of the model, of all processes";
  if (command == "predict" && option.name == "output") return "archive for the model's outputs, .npz";
  if (command != "train" && option.name == "gpus") return "1: GPU 0; \"[2]\": GPU 2 (default 0: the CPU)";
  if (command != "train" && option.name == "cuda_graph") {
    return "replay the work of a batch on a GPU as one captured CUDA graph (default true)";
  }
  if (command != "train" && option.name == "resume") return "checkpoint of the run, for the mean and deviation it took";
  return option.help;
}

class Parser {
 public:
  explicit Parser(const std::string& command)
      : app_(title(command), command == "train" ? "ort-train" : "ort-train " + command) {
    auto formatter = std::make_shared<OptionFormatter>();
    formatter->column_width(34);
    app_.formatter(formatter);
    app_.set_help_flag("-h,--help", "print this text");
    app_.set_version_flag("--version", std::string("ort-train ") + ORT_TRAIN_VERSION, "print the version");
    app_.add_option("MODEL", model_, "the ONNX model");
    app_.add_option("--config", recipe_,
                    wrapped("recipe: a YAML file with the options below as keys; options typed here win"))
        ->type_name("FILE.yaml");
    for (const training::OptionInfo& option : training::options()) add(option, command);
    if (command == "explain") add_machine();
    app_.footer(examples(command));
  }

  /// False when the help or the version was asked for and printed.
  bool parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    try {
      app_.parse(arguments);
    } catch (const CLI::CallForHelp& request) {
      app_.exit(request, std::cout, std::cerr);
      return false;
    } catch (const CLI::CallForVersion& request) {
      app_.exit(request, std::cout, std::cerr);
      return false;
    } catch (const CLI::ParseError& error) {
      explain(error);
    }
    return true;
  }

  training::TrainingConfig config(training::TrainingConfig config) const {
    if (!recipe_.empty()) training::read_recipe(config, recipe_);
    training::GivenOptions given;
    for (const training::OptionInfo& option : training::options()) {
      const auto values = values_.find(option.name);
      if (values != values_.end() && !values->second.empty()) given.emplace_back(option.name, values->second);
    }
    training::apply_options(config, given);
    if (!model_.empty()) config.model = model_;
    return config;
  }

  training::ExplainedMachine machine() const {
    training::ExplainedMachine machine;
    if (const auto gigabytes = number("bandwidth", false)) machine.network.bandwidth = *gigabytes * 1e9;
    if (const auto microseconds = number("latency", true)) machine.network.latency = *microseconds / 1e6;
    if (const auto milliseconds = number("step-time", false)) machine.compute_seconds = *milliseconds / 1e3;
    return machine;
  }

 private:
  std::optional<double> number(const std::string& name, bool may_be_zero) const {
    const auto found = machine_.find(name);
    if (found == machine_.end() || !found->second) return std::nullopt;
    const double value = *found->second;
    if (!std::isfinite(value) || value < 0 || (value == 0 && !may_be_zero)) {
      fail_usage("'", name, "' is ", value, "; give a number ", may_be_zero ? "from 0 on" : "above 0");
    }
    return value;
  }

  static const char* examples(const std::string& command) {
    if (command == "evaluate") return evaluate_examples;
    if (command == "predict") return predict_examples;
    return command == "explain" ? explain_examples : train_examples;
  }

  /// Options of "explain" alone; they are no keys of a recipe.
  void add_machine() {
    const auto add_number = [this](const char* name, const char* unit, const char* help) {
      app_.add_option("--" + std::string(name), machine_[name], wrapped(help))->type_name(unit)->group("Network");
    };
    add_number("bandwidth", "GB/S", "of each replica's connection, each way; 12.5 unless given");
    add_number("latency", "MICROSECONDS", "of a message; 10 unless given");
    add_number("step-time", "MS", "computation of a step on your machine; timed on this one unless given");
  }

  static std::string title(const std::string& command) {
    if (command == "evaluate") return "ort-train evaluate: loss and metrics of an ONNX model on a data set.\n";
    if (command == "predict")
      return "ort-train predict: the outputs of an ONNX model for every sample of a data set.\n";
    if (command == "explain")
      return "ort-train explain: what a training step does, what memory it needs, how it scales. Needs no data.\n";
    return "ort-train: trains an ONNX model; a trained ONNX model comes out.\n";
  }

  void add(const training::OptionInfo& option, const std::string& command) {
    std::vector<std::string>& values = values_[option.name];
    CLI::Option* added = nullptr;
    if (option.value.empty()) {
      added = app_.add_flag(
          spellings(option), [&values](std::int64_t count) { values.assign(1, count > 0 ? "true" : "false"); },
          wrapped(help_of(option, command)));
    } else {
      added = app_.add_option(spellings(option), values, wrapped(help_of(option, command)));
      added->type_size(1)->allow_extra_args(false)->type_name(option.value);
    }
    // An empty group keeps an option out of the help.
    const bool shown = option.name != "model" && is_for(command, option);
    added->group(shown ? option.group : "");
  }

  [[noreturn]] void explain(const CLI::ParseError& error) const {
    const std::vector<std::string> extra = app_.remaining(false);
    const auto unknown = std::find_if(extra.begin(), extra.end(), [](const std::string& argument) {
      return argument.size() > 1 && argument[0] == '-';
    });
    if (unknown == extra.end()) fail_usage(error.what(), "; ort-train --help lists the options");
    std::vector<std::string> known = {"config", "help", "version"};
    for (const training::OptionInfo& option : training::options()) {
      known.push_back(option.name);
      known.insert(known.end(), option.aliases.begin(), option.aliases.end());
    }
    for (const auto& number : machine_) known.push_back(training::normalized_key(number.first));
    const std::string typed = unknown->substr(0, unknown->find('='));
    const std::string name = typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
    const std::string meant = training::closest(training::normalized_key(name), known);
    fail_usage("unknown option '", typed, "'",
               meant.empty() ? "; ort-train --help lists the options" : "; did you mean '--" + dashed(meant) + "'?");
  }

  CLI::App app_;
  std::string model_, recipe_;
  std::map<std::string, std::vector<std::string>> values_;
  std::map<std::string, std::optional<double>> machine_;
};

}  // namespace

CommandLine parse_command_line(const std::string& command, const std::vector<std::string>& arguments) {
  Parser parser(command);
  CommandLine result;
  if (!parser.parse(arguments)) {
    result.help_shown = true;
    return result;
  }
  training::TrainingConfig defaults;
  // Whoever evaluates wants every sample, unless told otherwise.
  if (command != "train") defaults.data.validation_split = 0;
  result.config = parser.config(defaults);
  result.machine = parser.machine();
  return result;
}

}  // namespace ort_train::tools
