#include "runtime/training/checkpoint.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/npy.h"

namespace ort_train::training {
namespace {

constexpr const char* format_name = "ort-train checkpoint";
constexpr std::int64_t newest_version = 1;
constexpr const char* manifest_key = "checkpoint";
constexpr const char* state_prefix = "state/";
constexpr const char* statistics_prefix = "statistics/";

/// Shortest text that gives the same number again.
std::string exact(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

std::string manifest_of(const Checkpoint& checkpoint) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  out << YAML::Key << "format" << YAML::Value << format_name;
  out << YAML::Key << "version" << YAML::Value << newest_version;
  out << YAML::Key << "model" << YAML::Value << checkpoint.model_digest;
  out << YAML::Key << "epoch" << YAML::Value << checkpoint.position.epoch;
  out << YAML::Key << "step" << YAML::Value << checkpoint.position.step;
  out << YAML::Key << "seconds" << YAML::Value << exact(checkpoint.seconds);
  out << YAML::Key << "best" << YAML::Value << exact(checkpoint.best);
  out << YAML::Key << "columns" << YAML::Value << YAML::Flow << checkpoint.history.columns();
  out << YAML::Key << "settings" << YAML::Value << checkpoint.settings;
  out << YAML::EndMap;
  return out.c_str();
}

double to_double(const std::string& digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Tensor to_tensor(const std::vector<std::vector<double>>& rows, std::size_t columns) {
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return Tensor::of({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)}, values);
}

std::vector<std::vector<double>> to_rows(const Tensor& table) {
  const std::vector<double> values = table.to_doubles();
  const auto columns = static_cast<std::size_t>(table.dims().at(1));
  std::vector<std::vector<double>> rows;
  for (std::size_t start = 0; start < values.size(); start += columns) {
    rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(start),
                      values.begin() + static_cast<std::ptrdiff_t>(start + columns));
  }
  return rows;
}

void read_manifest(const std::string& manifest, Checkpoint& checkpoint, std::vector<std::string>& columns) {
  const YAML::Node node = YAML::Load(manifest);
  if (node["format"].as<std::string>() != format_name) fail("it is no checkpoint of ort-train");
  const auto version = node["version"].as<std::int64_t>();
  if (version > newest_version) fail("it has version ", version, ", and this program knows up to ", newest_version);
  checkpoint.model_digest = node["model"].as<std::string>();
  checkpoint.position = {node["epoch"].as<std::int64_t>(), node["step"].as<std::int64_t>()};
  checkpoint.seconds = to_double(node["seconds"].as<std::string>());
  checkpoint.best = to_double(node["best"].as<std::string>());
  columns = node["columns"].as<std::vector<std::string>>();
  checkpoint.settings = node["settings"].as<std::map<std::string, std::string>>();
}

Checkpoint decode(std::map<std::string, Tensor>& arrays) {
  const auto manifest = arrays.find(manifest_key);
  if (manifest == arrays.end()) fail("it is no checkpoint of ort-train");
  const auto bytes = manifest->second.values<std::uint8_t>();
  Checkpoint checkpoint;
  std::vector<std::string> columns;
  read_manifest(std::string(bytes.begin(), bytes.end()), checkpoint, columns);
  checkpoint.totals = arrays.at("totals").to_doubles();
  checkpoint.history = History(columns, to_rows(arrays.at("history")));
  for (const auto& [name, tensor] : arrays) {
    if (name.rfind(state_prefix, 0) == 0) checkpoint.state[name.substr(std::strlen(state_prefix))] = tensor;
    if (name.rfind(statistics_prefix, 0) == 0) {
      checkpoint.statistics[name.substr(std::strlen(statistics_prefix))] = tensor;
    }
  }
  return checkpoint;
}

/// The 64-bit hash of Fowler, Noll and Vo (FNV-1a).
class Hash {
 public:
  void add(const void* memory, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(memory);
    for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ byte[i]) * 0x100000001b3u;
  }
  void add(const std::string& word) { add(word.c_str(), word.size() + 1); }

  std::string hex() const {
    char digits[17] = {};
    std::to_chars(digits, digits + 16, value_, 16);
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : " ") + word;
  return result;
}

std::string describe(const PreprocessingConfig& preprocessing) {
  std::string result = text("scale ", exact(preprocessing.scale), " mean ", static_cast<int>(preprocessing.mean));
  for (const double value : preprocessing.mean_values) result += " " + exact(value);
  result += text(" std ", static_cast<int>(preprocessing.deviation));
  for (const double value : preprocessing.deviation_values) result += " " + exact(value);
  return result;
}

/// Settings that decide which sample comes when.
const std::set<std::string>& order_settings() {
  static const std::set<std::string> names = {"seed", "batch_size", "drop_last", "shuffle", "training_samples"};
  return names;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  const std::string manifest = manifest_of(checkpoint);
  std::map<std::string, Tensor> arrays;
  arrays[manifest_key] = Tensor::of({static_cast<std::int64_t>(manifest.size())},
                                    std::vector<std::uint8_t>(manifest.begin(), manifest.end()));
  arrays["totals"] = Tensor::of({static_cast<std::int64_t>(checkpoint.totals.size())}, checkpoint.totals);
  arrays["history"] = to_tensor(checkpoint.history.rows(), checkpoint.history.columns().size());
  for (const auto& [name, tensor] : checkpoint.state) arrays[state_prefix + name] = tensor;
  for (const auto& [name, tensor] : checkpoint.statistics) arrays[statistics_prefix + name] = tensor;
  write_npz(path, arrays);
}

std::filesystem::path checkpoint_path(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? path / "last.npz" : path;
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) fail("the checkpoint ", path.string(), " does not exist");
  try {
    std::map<std::string, Tensor> arrays = read_npz(path);
    return decode(arrays);
  } catch (const std::exception& error) {
    // YAML and missing arrays speak of themselves; the user needs the file.
    fail("cannot resume from ", path.string(), ": ", error.what());
  }
}

std::string digest_of(const graph::Graph& model) {
  Hash hash;
  for (const graph::Value* input : model.inputs()) hash.add(input->name());
  for (const graph::Value* output : model.outputs()) hash.add(output->name());
  for (const auto& node : model.nodes()) {
    hash.add(node->op_type());
    for (const graph::Value* input : node->inputs()) hash.add(input != nullptr ? input->name() : "");
    for (const graph::Value* output : node->outputs()) hash.add(output != nullptr ? output->name() : "");
  }
  for (const graph::Value* initializer : model.initializers()) {
    const Tensor& elements = initializer->initial();
    hash.add(initializer->name());
    hash.add(to_string(elements.dims()));
    if (elements.dtype() != DataType::string) hash.add(elements.raw(), elements.bytes());
  }
  return hash.hex();
}

std::map<std::string, std::string> settings_of(const TrainingConfig& config, const passes::TrainingSpec& spec,
                                               std::int64_t training_samples) {
  std::string losses;
  for (const passes::LossSpec& loss : spec.losses) {
    losses += text(losses.empty() ? "" : ", ", loss.type, " of ", loss.output, " weight ", exact(loss.weight));
  }
  const data::Augmentation& augmentation = config.augmentation;
  return {
      {"epochs", text(config.epochs)},
      {"batch_size", text(global_batch(config))},
      {"drop_last", config.drop_last ? "true" : "false"},
      {"shuffle", config.shuffle ? "true" : "false"},
      {"seed", text(config.seed)},
      {"training_samples", text(training_samples)},
      {"loss", losses},
      {"optimizer",
       text(spec.optimizer.type, " momentum ", exact(spec.optimizer.momentum), " nesterov ", spec.optimizer.nesterov,
            " weight_decay ", exact(spec.optimizer.weight_decay), " beta1 ", exact(spec.optimizer.beta1), " beta2 ",
            exact(spec.optimizer.beta2), " epsilon ", exact(spec.optimizer.epsilon))},
      {"schedule", text("lr ", exact(config.schedule.learning_rate), ", ", describe(config.schedule))},
      {"trainable", joined(spec.trainable)},
      {"freeze", joined(spec.freeze)},
      {"preprocessing", describe(config.preprocessing)},
      {"augmentation",
       text("shift ", augmentation.height_shift, " ", augmentation.width_shift, " flip ", augmentation.horizontal_flip,
            " ", augmentation.vertical_flip, " crop ", augmentation.random_crop, " ", augmentation.crop_padding,
            " fill ", static_cast<int>(augmentation.fill), " ", augmentation.fill_value)},
  };
}

std::vector<std::string> check_resumable(const Checkpoint& checkpoint, const std::string& model_digest,
                                         const std::map<std::string, std::string>& settings,
                                         const std::filesystem::path& path) {
  if (checkpoint.model_digest != model_digest) {
    fail("the checkpoint ", path.string(), " is of another model; resume with the model file that the run began with");
  }
  std::vector<std::string> changes;
  for (const auto& [name, value] : settings) {
    const auto found = checkpoint.settings.find(name);
    const std::string before = found == checkpoint.settings.end() ? "" : found->second;
    if (before == value) continue;
    if (checkpoint.position.step > 0 && order_settings().count(name) != 0) {
      fail("the checkpoint ", path.string(), " stops within an epoch and was made with ", name, " ", before,
           "; resume with the same instead of ", value);
    }
    changes.push_back(text("resumed with ", name, " ", value, " instead of ", before));
  }
  return changes;
}

}  // namespace ort_train::training
