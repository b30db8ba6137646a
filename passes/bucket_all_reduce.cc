#include "passes/bucket_all_reduce.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "graph/builder.h"
#include "graph/shape_inference.h"
#include "passes/collectives.h"

namespace ort_train::passes {

using graph::Attributes;
using graph::Graph;
using graph::Node;
using graph::Value;

namespace {

std::int64_t bytes_of(const Value* value) {
  return element_count(value->dims()) * static_cast<std::int64_t>(size_of(value->dtype()));
}

/// Of AllGather the results are what is moved, of the others the operands.
std::int64_t bytes_moved(const Node& node) {
  std::int64_t bytes = 0;
  for (const Value* value : node.is("AllGather", graph::training_domain) ? node.outputs() : node.inputs()) {
    bytes += bytes_of(value);
  }
  return bytes;
}

struct Bucket {
  std::vector<Node*> members;
  std::int64_t bytes = 0;
  std::int64_t ready = 0;
  std::int64_t needed = std::numeric_limits<std::int64_t>::max();

  void add(Node* node) {
    members.push_back(node);
    bytes += bytes_moved(*node);
    ready = std::max(ready, node->integer("ready", 0));
    needed = std::min(needed, node->integer("needed", std::numeric_limits<std::int64_t>::max()));
  }
};

std::string kind_of(const Node& node) {
  return node.op_type() + "/" + name_of(node.input(0)->dtype()) + "/" + std::to_string(node.integer("parts", 0));
}

std::vector<Node*> collectives_by_readiness(const Graph& graph) {
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes()) {
    if (is_collective(*node)) nodes.push_back(node.get());
  }
  // Names settle what the places leave open; the order in the graph of one replica is not that of another.
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) {
    const std::int64_t ready_a = a->integer("ready", 0), ready_b = b->integer("ready", 0);
    return ready_a != ready_b ? ready_a < ready_b : a->output()->name() < b->output()->name();
  });
  return nodes;
}

std::vector<Bucket> make_buckets(const std::vector<Node*>& nodes, std::int64_t limit) {
  std::vector<Bucket> buckets;
  std::map<std::string, std::size_t> open;
  for (Node* node : nodes) {
    const auto found = open.find(kind_of(*node));
    const bool joins = found != open.end() && buckets[found->second].bytes + bytes_moved(*node) <= limit &&
                       node->integer("ready", 0) < buckets[found->second].needed &&
                       buckets[found->second].ready < node->integer("needed", std::numeric_limits<std::int64_t>::max());
    if (!joins) {
      open[kind_of(*node)] = buckets.size();
      buckets.emplace_back();
    }
    buckets[open.at(kind_of(*node))].add(node);
  }
  std::stable_sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
  return buckets;
}

Attributes joined_attributes(const std::vector<Node*>& members) {
  Attributes attributes = members.front()->attributes();
  for (const char* place : {"ready", "needed", "readers"}) attributes.erase(place);
  for (const char* list : {"ranks", "extents"}) {
    if (!members.front()->is("AllGather", graph::training_domain)) break;
    std::vector<std::int64_t> all;
    for (const Node* member : members) {
      const std::vector<std::int64_t> each = member->integers(list);
      all.insert(all.end(), each.begin(), each.end());
    }
    attributes[list] = all;
  }
  return attributes;
}

/// Joins a bucket into one node in front of `before` (null: at the end).
Node* join(Graph& graph, const Bucket& bucket, Node* before) {
  std::vector<Value*> operands;
  std::vector<std::string> names;
  for (Node* member : bucket.members) {
    operands.insert(operands.end(), member->inputs().begin(), member->inputs().end());
    for (Value* result : member->outputs()) {
      names.push_back(result->name());
      graph.rename(result, graph.unique_name(result->name() + ".alone"));
    }
  }
  const Node* first = bucket.members.front();
  Node* joined = graph.add_node(first->op_type(), first->domain(), operands, names, joined_attributes(bucket.members),
                                names.front(), before);
  graph::infer_types(*joined);
  std::size_t next = 0;
  for (Node* member : bucket.members) {
    for (Value* result : member->outputs()) graph.replace_uses(result, joined->outputs()[next++]);
    graph.remove(member);
  }
  return joined;
}

/// The node behind the last one that gives an operand and behind the collective before; null: the end.
Node* place_for(const Graph& graph, const Bucket& bucket, const Node* previous) {
  std::unordered_map<const Node*, bool> awaited;
  for (const Node* member : bucket.members) {
    for (const Value* operand : member->inputs()) {
      if (operand->producer() != nullptr) awaited[operand->producer()] = true;
    }
  }
  if (previous != nullptr) awaited[previous] = true;
  std::size_t missing = awaited.size();
  for (const auto& node : graph.nodes()) {
    if (missing == 0 && std::find(bucket.members.begin(), bucket.members.end(), node.get()) == bucket.members.end()) {
      return node.get();
    }
    missing -= awaited.count(node.get());
  }
  return nullptr;
}

}  // namespace

bool BucketAllReduce::run(Graph& graph) {
  const std::vector<Bucket> buckets = make_buckets(collectives_by_readiness(graph), bucket_bytes_);
  const Node* previous = nullptr;
  for (const Bucket& bucket : buckets) previous = join(graph, bucket, place_for(graph, bucket, previous));
  return !buckets.empty();
}

}  // namespace ort_train::passes
