#pragma once

#include "passes/pass.h"

namespace ort_train::passes {

/// Joins collective nodes of one kind and element type into buckets of at most `bucket_bytes` (an array that is larger
/// has a bucket of its own), in the order in which their operands are ready, and puts each right behind the last node
/// that gives it an operand, so that it runs while the backward part goes on (as in "PyTorch Distributed", Li and
/// others, 2020). Every replica joins the same: the attributes `ready` and `needed` decide, not the graph of the
/// replica.
class BucketAllReduce : public Pass {
 public:
  explicit BucketAllReduce(std::int64_t bucket_bytes) : bucket_bytes_(bucket_bytes) {}
  std::string name() const override { return "bucket-all-reduce"; }
  bool run(graph::Graph& graph) override;

 private:
  std::int64_t bucket_bytes_;
};

}  // namespace ort_train::passes
