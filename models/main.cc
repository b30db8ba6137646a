// build-models OUTPUT_FOLDER [NAME...]: writes NAME.onnx of each model with its default options; without names, all
// but the very large ones.

#include <filesystem>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "graph/onnx_io.h"
#include "models/zoo.h"

namespace {

using namespace ort_train;

void write(const models::Model& model, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / (model.name + ".onnx");
  const auto graph = model.build(model.defaults);
  graph::save(*graph, path);
  std::cout << path.string() << ": " << model.description << ", " << models::parameter_count(*graph) << " parameters\n";
}

void run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) fail_usage("usage: build-models OUTPUT_FOLDER [NAME...]");
  std::vector<const models::Model*> chosen;
  for (std::size_t i = 1; i < arguments.size(); ++i) chosen.push_back(&models::find_model(arguments[i]));
  if (chosen.empty()) {
    for (const models::Model& model : models::zoo()) {
      if (model.written_by_build) chosen.push_back(&model);
    }
  }
  for (const models::Model* model : chosen) write(*model, arguments[0]);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
    return 0;
  } catch (const Error& error) {
    std::cerr << "build-models: " << error.what() << "\n";
    return error.kind() == Error::Kind::usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::cerr << "build-models: " << error.what() << "\n";
    return 1;
  }
}
