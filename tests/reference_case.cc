#include "tests/reference_case.h"

#include <yaml-cpp/yaml.h>

#include "base/error.h"
#include "base/file.h"

namespace ort_train {
namespace {

/// Reads fields of a map and names the file in every error.
class Fields {
 public:
  Fields(const YAML::Node& map, std::string origin) : map_(map), origin_(std::move(origin)) {
    if (!map_.IsMap()) fail(origin_, ": expected a map of fields");
  }

  bool has(const std::string& key) const { return map_[key].IsDefined() && !map_[key].IsNull(); }

  template <typename T>
  T required(const std::string& key) const {
    if (!has(key)) fail(origin_, ": the field '", key, "' is missing");
    try {
      return map_[key].template as<T>();
    } catch (const YAML::Exception&) {
      fail(origin_, ":", map_[key].Mark().line + 1, ": the field '", key, "' has the wrong type");
    }
  }

  template <typename T>
  T optional(const std::string& key, T fallback) const {
    return has(key) ? required<T>(key) : fallback;
  }

  Fields map(const std::string& key) const { return {required<YAML::Node>(key), origin_}; }

 private:
  YAML::Node map_;
  std::string origin_;
};

passes::LossSpec read_loss(const Fields& fields) {
  passes::LossSpec loss;
  loss.type = fields.required<std::string>("type");
  loss.output = fields.optional<std::string>("output", "");
  loss.label = fields.optional<std::string>("label", "");
  loss.weight = fields.optional("weight", 1.0);
  if (fields.has("ignore_index")) loss.ignore_index = fields.required<std::int64_t>("ignore_index");
  return loss;
}

passes::OptimizerSpec read_optimizer(const Fields& fields) {
  passes::OptimizerSpec optimizer;
  optimizer.type = fields.required<std::string>("type");
  optimizer.momentum = fields.optional("momentum", optimizer.momentum);
  optimizer.nesterov = fields.optional("nesterov", optimizer.nesterov);
  optimizer.weight_decay = fields.optional("weight_decay", optimizer.weight_decay);
  optimizer.beta1 = fields.optional("beta1", optimizer.beta1);
  optimizer.beta2 = fields.optional("beta2", optimizer.beta2);
  optimizer.epsilon = fields.optional("eps", optimizer.epsilon);
  return optimizer;
}

ReferenceCase::Tolerance read_tolerance(const Fields& fields) {
  ReferenceCase::Tolerance tolerance;
  tolerance.loss = fields.required<double>("loss");
  tolerance.out = fields.required<double>("out");
  tolerance.grad = fields.required<double>("grad");
  tolerance.step1 = fields.required<double>("step1");
  tolerance.step5 = fields.required<double>("step5");
  tolerance.out5 = fields.required<double>("out5");
  return tolerance;
}

}  // namespace

ReferenceCase read_reference_case(const std::filesystem::path& folder) {
  const std::string path = (folder / "case.yaml").string();
  YAML::Node document;
  try {
    document = YAML::Load(read_file(path));
  } catch (const YAML::Exception& error) {
    fail(path, ":", error.mark.line + 1, ": ", error.msg);
  }
  const Fields fields(document, path);

  ReferenceCase reference;
  reference.folder = folder;
  reference.name = fields.optional<std::string>("name", folder.filename().string());
  reference.has_numbers = fields.optional<std::string>("kind", "reference") != "property";
  for (const YAML::Node& loss : fields.required<YAML::Node>("losses")) {
    reference.losses.push_back(read_loss({loss, path}));
  }
  reference.optimizer = read_optimizer(fields.map("optimizer"));
  reference.learning_rate = fields.map("optimizer").required<double>("lr");
  reference.trainable = fields.required<std::vector<std::string>>("trainable");
  reference.running_statistics = fields.optional("bn_stats", std::vector<std::string>{});
  reference.batch_axes = fields.optional("batch_axes", reference.batch_axes);
  if (fields.has("tolerance")) reference.tolerance = read_tolerance(fields.map("tolerance"));
  return reference;
}

passes::TrainingSpec training_spec(const ReferenceCase& reference) {
  passes::TrainingSpec spec;
  // The reference numbers follow the mode that the file has.
  spec.form = passes::Form::as_in_file;
  spec.losses = reference.losses;
  spec.optimizer = reference.optimizer;
  spec.trainable_names = reference.trainable;
  spec.batch_axes = reference.batch_axes;
  return spec;
}

}  // namespace ort_train
