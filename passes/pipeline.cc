#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "graph/onnx_io.h"
#include "graph/verifier.h"
#include "passes/pass.h"

namespace ort_train::passes {

namespace {

std::string stage_file(std::size_t stage, const std::string& pass) {
  char number[8];
  std::snprintf(number, sizeof number, "%02zu", stage);
  return std::string(number) + "-" + pass + ".onnx";
}

}  // namespace

void Pipeline::disable(const std::string& pass_name) {
  const auto found =
      std::find_if(passes_.begin(), passes_.end(), [&](const auto& pass) { return pass->name() == pass_name; });
  if (found == passes_.end()) fail_usage("there is no pass named '", pass_name, "'");
  if (!(*found)->optional())
    fail_usage("the pass '", pass_name, "' is needed for right numbers and cannot be disabled");
  disabled_.insert(pass_name);
}

std::vector<Pipeline::Record> Pipeline::run(graph::Graph& graph) const {
  std::vector<Record> records;
  for (const auto& pass : passes_) {
    if (disabled_.count(pass->name()) != 0) continue;
    Record record{pass->name(), false, graph.nodes().size(), 0, 0};
    const auto start = std::chrono::steady_clock::now();
    record.changed = pass->run(graph);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    record.milliseconds = spent.count();
    record.nodes_after = graph.nodes().size();
    graph::verify(graph, "after the pass " + pass->name());
    records.push_back(record);
    if (!dump_folder_.empty()) graph::save(graph, dump_folder_ / stage_file(records.size(), pass->name()));
  }
  return records;
}

}  // namespace ort_train::passes
