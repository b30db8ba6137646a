#include "runtime/training/config_options.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "runtime/training/config_sections.h"
#include "runtime/training/config_value.h"

namespace ort_train::training {
namespace {

using Reader = void (*)(TrainingConfig&, const ConfigValue&);

struct Option {
  OptionInfo info;
  Reader read;
};

constexpr const char* files_and_data = "Model and data";
constexpr const char* what_to_learn = "What to learn";
constexpr const char* how_to_learn = "How to learn";
constexpr const char* results = "Results";
constexpr const char* machine = "Machine and passes";

// Read in this order whatever the order in the file: a section first, then the single keys that refine it.
const std::vector<Option>& table() {
  static const std::vector<Option> options = {
      {{"model", {}, files_and_data, "FILE", "the ONNX model to train"},
       [](TrainingConfig& c, const ConfigValue& v) { c.model = v.input_path(); }},
      {{"data",
        {},
        files_and_data,
        "PATH",
        "folder or file with the samples: CIFAR or MNIST files, .npz or .npy arrays, one folder of pictures a class"},
       read_data},
      {{"validation", {}, files_and_data, "PATH", "samples to validate on, when PATH of --data has none"},
       [](TrainingConfig& c, const ConfigValue& v) { c.data.validation = v.input_path(); }},
      {{"validation_split",
        {},
        files_and_data,
        "SHARE",
        "share of the samples to validate on, when there are no others (default 0.1; 0: no validation)"},
       read_validation_split},
      {{"preprocessing",
        {},
        files_and_data,
        "MAP",
        "{scale, mean: image | channel | [..], std: channel | [..], layout, on}; pixels become (pixel * scale - mean) "
        "/ "
        "std; on: device does this and augmentation there (default host)"},
       read_preprocessing},
      {{"augmentation",
        {},
        files_and_data,
        "MAP",
        "{shift, flip, crop_padding, fill}: random changes of training images"},
       read_augmentation},
      {{"batch_axis",
        {},
        files_and_data,
        "AXIS",
        "the axis of the model's inputs that counts samples, or {input: axis} (default: by the file, else 0)"},
       read_batch_axis},
      {{"loss",
        {},
        what_to_learn,
        "LOSS",
        "softmax_cross_entropy, nll, bce, bce_with_logits, mse or l1 (default: by the model's output), or a list of "
        "{type, output, label, weight, ignore_index}"},
       read_losses},
      {{"metrics",
        {},
        what_to_learn,
        "LIST",
        "accuracy, binary_accuracy, top_5, mse, mae or none (default: by the loss)"},
       read_metrics},
      {{"trainable", {}, what_to_learn, "GLOBS", "parameters or nodes to train (default: all)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.trainable = v.strings(); }},
      {{"freeze", {}, what_to_learn, "GLOBS", "parameters or nodes that keep their values"},
       [](TrainingConfig& c, const ConfigValue& v) { c.freeze = v.strings(); }},
      {{"epochs", {}, how_to_learn, "N", "passes over the training samples (default 10)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.epochs = v.integer(1); }},
      {{"batch_size", {}, how_to_learn, "N", "samples of each replica that it works on at once (default 32)"},
       read_batch_size},
      {{"global_batch_size",
        {},
        how_to_learn,
        "N",
        "samples of an update, over all replicas (default: batch_size * accumulate * replicas)"},
       read_global_batch_size},
      {{"accumulate",
        {},
        how_to_learn,
        "K",
        "each replica works through K micro-batches of batch_size samples and updates once (default 1)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.accumulate = v.integer(1); }},
      {{"drop_last", {}, how_to_learn, "", "leave out the last batch of an epoch when it is not full"},
       [](TrainingConfig& c, const ConfigValue& v) { c.drop_last = v.boolean(); }},
      {{"shuffle", {}, how_to_learn, "BOOL", "draw a new order of the samples every epoch (default true)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.shuffle = v.boolean(); }},
      {{"optimizer",
        {},
        how_to_learn,
        "NAME",
        "sgd, adam, adamw, or {type, lr, momentum, nesterov, weight_decay, beta1, beta2, epsilon} (default sgd)"},
       read_optimizer},
      {{"lr", {"learning_rate"}, how_to_learn, "RATE", "initial learning rate (default 0.01; adam, adamw: 0.001)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.schedule.learning_rate = v.real_at_least(0); }},
      {{"momentum", {}, how_to_learn, "M", "momentum of sgd (default 0)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.optimizer.momentum = v.real_at_least(0); }},
      {{"nesterov", {}, how_to_learn, "", "Nesterov's form of momentum"},
       [](TrainingConfig& c, const ConfigValue& v) { c.optimizer.nesterov = v.boolean(); }},
      {{"weight_decay", {}, how_to_learn, "W", "weight decay (default 0)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.optimizer.weight_decay = v.real_at_least(0); }},
      {{"schedule",
        {},
        how_to_learn,
        "NAME",
        "constant, step, polynomial, cosine, or {type, power, end_lr, gamma, every, milestones, per: epoch | step, "
        "warmup_steps, warmup_epochs} (default constant)"},
       read_schedule},
      {{"warmup_steps", {}, how_to_learn, "N", "steps over which the learning rate rises at first"},
       [](TrainingConfig& c, const ConfigValue& v) { c.schedule.warmup_steps = v.integer(0); }},
      {{"warmup_epochs", {}, how_to_learn, "N", "the same in epochs"},
       [](TrainingConfig& c, const ConfigValue& v) { c.schedule.warmup_epochs = v.integer(0); }},
      {{"seed", {}, how_to_learn, "N", "of shuffling, augmentation and dropout (default 0)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.seed = static_cast<std::uint64_t>(v.integer(0)); }},
      {{"output", {}, results, "FILE", "trained model (default: MODEL-trained.onnx)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.output = v.string(); }},
      {{"history", {}, results, "FILE.csv", "figures of every epoch as a table"},
       [](TrainingConfig& c, const ConfigValue& v) { c.history = v.string(); }},
      {{"curves", {}, results, "FILE", "picture of the curves, .png or .svg"},
       [](TrainingConfig& c, const ConfigValue& v) { c.curves = v.string(); }},
      {{"checkpoint", {}, results, "FOLDER", "where to keep the last and the best state, to resume from"},
       [](TrainingConfig& c, const ConfigValue& v) { c.checkpoint = v.string(); }},
      {{"checkpoint_every_epochs", {}, results, "N", "epochs between two checkpoints (default 1)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.checkpoint_every_epochs = v.integer(1); }},
      {{"checkpoint_every_steps", {}, results, "N", "also a checkpoint every N steps (default: none within an epoch)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.checkpoint_every_steps = v.integer(0); }},
      {{"resume", {}, results, "PATH", "go on from a checkpoint file or from the last one in a folder"},
       [](TrainingConfig& c, const ConfigValue& v) { c.resume = v.input_path(); }},
      {{"quiet", {}, results, "", "print only the line of each epoch"},
       [](TrainingConfig& c, const ConfigValue& v) { c.quiet = v.boolean(); }},
      {{"threads", {}, machine, "N", "threads of the CPU (default: one a core)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.threads = v.integer(0); }},
      {{"winograd",
        {},
        machine,
        "BOOL",
        "3x3 convolutions of a training step by Winograd's algorithm: faster, rounding of 1e-6 (default true)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.winograd = v.boolean(); }},
      {{"device", {}, machine, "NAME", "cpu or cuda, which is GPU 0 unless gpus says more (default cpu)"}, read_device},
      {{"gpus", {}, machine, "N", "number of GPUs, a replica each, or which: 0,2 (default 0: train on the CPU)"},
       read_gpus},
      {{"tf32",
        {},
        machine,
        "",
        "products of float32 arrays on GPUs may be rounded to TF32: faster, 1e-3 instead of 1e-7"},
       [](TrainingConfig& c, const ConfigValue& v) { c.tf32 = v.boolean(); }},
      {{"cuda_graph", {}, machine, "BOOL", "replay a step on a GPU as one captured CUDA graph (default true)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.cuda_graph = v.boolean(); }},
      {{"replicas",
        {},
        machine,
        "N",
        "copies of the model in this process, each with a part of the batch and of the cores (default 1)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.replicas = v.integer(1); }},
      {{"batch_norm",
        {},
        machine,
        "MODE",
        "local: a replica normalizes by its own samples; sync: by those of all replicas (default local)"},
       read_batch_norm},
      {{"shard_optimizer", {}, machine, "", "each replica keeps and updates its part of the optimizer's state"},
       [](TrainingConfig& c, const ConfigValue& v) { c.shard_optimizer = v.boolean(); }},
      {{"bucket_bytes",
        {},
        machine,
        "BYTES",
        "gradients are joined up to this size to be added up between replicas (default 8388608; 0: each alone)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.bucket_bytes = v.integer(0); }},
      {{"collective_timeout",
        {},
        machine,
        "SECONDS",
        "how long a replica is waited for before the run ends with an error (default 600)"},
       [](TrainingConfig& c, const ConfigValue& v) { c.collective_timeout = v.real_at_least(0); }},
      {{"disable_pass", {}, machine, "NAMES", "optional passes to leave out"},
       [](TrainingConfig& c, const ConfigValue& v) { c.disabled_passes = v.strings(); }},
      {{"dump_passes", {}, machine, "FOLDER", "write the graph after every pass as an ONNX file"},
       [](TrainingConfig& c, const ConfigValue& v) { c.dump_passes = v.string(); }},
  };
  return options;
}

/// Reads collected values in the order of the table.
void read_in_order(TrainingConfig& config, const std::vector<std::pair<std::string, ConfigValue>>& values) {
  for (const Option& option : table()) {
    for (const auto& [name, value] : values) {
      if (name == option.info.name) option.read(config, value);
    }
  }
}

YAML::Node parse_given(const std::string& name, const std::string& value) {
  if (value.empty() || (value[0] != '{' && value[0] != '[')) return YAML::Node(value);
  try {
    return YAML::Load(value);
  } catch (const YAML::Exception& error) {
    fail_usage("--", name, ": ", error.msg, " in '", value, "'");
  }
}

std::string option_spelling(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

const std::vector<OptionInfo>& options() {
  static const std::vector<OptionInfo> infos = [] {
    std::vector<OptionInfo> result;
    for (const Option& option : table()) result.push_back(option.info);
    return result;
  }();
  return infos;
}

void read_recipe(TrainingConfig& config, const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) fail_usage("the recipe ", path.string(), " is a folder, not a file");
  if (!std::filesystem::exists(path)) fail_usage("the recipe ", path.string(), " does not exist");
  YAML::Node document;
  try {
    document = YAML::Load(read_file(path));
  } catch (const YAML::Exception& error) {
    fail_usage(path.string(), ":", error.mark.line + 1, ": this is not YAML: ", error.msg,
               " (a text with *, :, # or { needs quotes)");
  }
  if (document.IsNull()) fail_usage("the recipe ", path.string(), " is empty");
  if (!document.IsMap()) fail_usage(path.string(), ":1: a recipe is a map of keys, like 'epochs: 10'");

  std::vector<std::pair<std::string, ConfigValue>> values;
  ConfigValue::Handlers handlers;
  for (const Option& option : table()) {
    const std::string& name = option.info.name;
    const auto keep = [&values, name](const ConfigValue& value) {
      for (const auto& [given, ignored] : values) {
        if (given == name) value.fail(text("'", value.name(), "' and '", ignored.name(), "' are the same key"));
      }
      if (!value.is_null()) values.emplace_back(name, value);
    };
    handlers[name] = keep;
    for (const std::string& alias : option.info.aliases) handlers[alias] = keep;
  }
  ConfigValue(document, "", path.string()).read_map(handlers);
  read_in_order(config, values);
}

void apply_options(TrainingConfig& config, const GivenOptions& given) {
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (const auto& [name, texts] : given) {
    YAML::Node node;
    if (texts.size() == 1) {
      node = parse_given(option_spelling(name), texts.front());
    } else {
      for (const std::string& each : texts) node.push_back(parse_given(option_spelling(name), each));
    }
    values.emplace_back(normalized_key(name), ConfigValue(node, "--" + option_spelling(name), ""));
  }
  read_in_order(config, values);
}

}  // namespace ort_train::training
