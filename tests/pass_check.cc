#include "tests/pass_check.h"

#include <doctest/doctest.h>

#include "graph/onnx_io.h"
#include "graph/verifier.h"

namespace ort_train::tests {

namespace {

std::unique_ptr<graph::Graph> parse(const std::string& text) {
  auto graph = graph::parse_text(with_header(text));
  for (graph::Value* value : graph->initializers()) {
    if (value->role() == graph::Role::parameter) value->set_trainable(true);
  }
  return graph;
}

}  // namespace

std::string with_header(const std::string& body) {
  const auto first = body.find_first_not_of(" \n");
  if (first != std::string::npos && body[first] == '<') return body;
  return R"(<ir_version: 14, opset_import: ["" : 28, "ai.ort_train" : 1]>)" + body;
}

std::string body_of(const graph::Graph& graph) {
  const std::string printed = graph::print_text(graph);
  return printed.substr(printed.find(">\n") + 2);
}

void check_pass(passes::Pass& pass, const std::string& before, const std::string& after) {
  const auto graph = parse(before);
  const bool changed = pass.run(*graph);
  CHECK(changed);
  graph::verify(*graph, "after the pass " + pass.name());
  CHECK(body_of(*graph) == body_of(*parse(after)));
}

void check_unchanged(passes::Pass& pass, const std::string& text) {
  const auto graph = parse(text);
  const std::string before = graph::print_text(*graph);
  CHECK_FALSE(pass.run(*graph));
  CHECK(graph::print_text(*graph) == before);
}

}  // namespace ort_train::tests
