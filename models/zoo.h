#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "models/builders.h"

namespace ort_train::models {

/// One model that can be asked for by name.
struct Model {
  std::string name;
  std::string description;  ///< one line
  Options defaults;
  bool written_by_build;  ///< false for those of which the file would be larger than 50 MB
  std::unique_ptr<graph::Graph> (*build)(const Options&);
};

/// All models, sorted by name.
const std::vector<Model>& zoo();

/// Throws an Error of kind `usage` that lists the names when there is no such model.
const Model& find_model(const std::string& name);

/// The number of elements of all parameters, running statistics left out.
std::int64_t parameter_count(const graph::Graph& graph);

}  // namespace ort_train::models
