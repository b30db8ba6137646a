#include "graph/training_schemas.h"

#include <algorithm>
#include <mutex>

#include "graph/training_schemas/training_schema.h"

namespace ort_train::graph {

void register_training_schemas() {
  static std::once_flag once;
  std::call_once(once, [] {
    onnx::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion(std::string(training_domain), 1, 1);
    register_convolution_schemas();
    register_normalization_schemas();
    register_activation_schemas();
    register_random_schemas();
    register_loss_and_metric_schemas();
    register_collective_schemas();
    register_optimizer_schemas();
    register_indexing_schemas();
    register_image_schemas();
  });
}

std::vector<std::string> training_operators() {
  register_training_schemas();
  std::vector<std::string> names;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
    if (schema.domain() == training_domain) names.push_back(schema.Name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ort_train::graph
