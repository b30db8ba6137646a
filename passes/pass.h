#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace ort_train::passes {

/// One transformation of a graph. Deterministic: equal graphs become equal graphs.
class Pass {
 public:
  virtual ~Pass() = default;
  /// Kebab-case, unique; `--disable-pass` and `--dump-passes` use it.
  virtual std::string name() const = 0;
  /// One that the pipeline needs to give right numbers cannot be switched off.
  virtual bool optional() const { return false; }
  /// Returns whether it changed anything.
  virtual bool run(graph::Graph& graph) = 0;
};

/// Runs passes in order and verifies the graph after each.
class Pipeline {
 public:
  /// What one pass did, for `explain`.
  struct Record {
    std::string pass;
    bool changed = false;
    std::size_t nodes_before = 0, nodes_after = 0;
    double milliseconds = 0;
  };

  void add(std::unique_ptr<Pass> pass) { passes_.push_back(std::move(pass)); }
  template <typename PassType, typename... Arguments>
  void add(Arguments&&... arguments) {
    passes_.push_back(std::make_unique<PassType>(std::forward<Arguments>(arguments)...));
  }

  /// Throws (usage) when no optional pass of the pipeline has that name.
  void disable(const std::string& pass_name);
  /// Every stage is written to `folder` as a valid ONNX file, numbered in order.
  void dump_to(std::filesystem::path folder) { dump_folder_ = std::move(folder); }

  /// Throws an Error that starts with the name of the pass that failed.
  std::vector<Record> run(graph::Graph& graph) const;

 private:
  std::vector<std::unique_ptr<Pass>> passes_;
  std::set<std::string> disabled_;
  std::filesystem::path dump_folder_;
};

}  // namespace ort_train::passes
