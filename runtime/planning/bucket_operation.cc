#include "runtime/planning/bucket_operation.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/memory_plan.h"

namespace ort_train::runtime::planning {

namespace {

std::vector<std::size_t> bytes_of(const std::vector<graph::Value*>& values) {
  std::vector<std::size_t> bytes;
  bytes.reserve(values.size());
  for (const graph::Value* value : values) {
    bytes.push_back(
        value == nullptr ? 0 : static_cast<std::size_t>(element_count(value->dims())) * size_of(value->dtype()));
  }
  return bytes;
}

class Operation : public BucketOperation {
 public:
  Operation(const graph::Node& node, int replicas)
      : dtype_(node.input(0)->dtype()),
        element_bytes_(size_of(dtype_)),
        replicas_(static_cast<std::size_t>(replicas)),
        inputs_(bytes_of(node.inputs())),
        outputs_(bytes_of(node.outputs())) {}

 protected:
  // Memory of `bytes` bytes as one more output, which is a bucket or several in a row.
  int add_memory(std::size_t bytes) {
    own_memory.push_back(static_cast<std::int64_t>(bytes / element_bytes_));
    bucket_bytes += bytes;
    awaited.push_back(static_cast<int>(outputs_.size() + own_memory.size()) - 1);
    return awaited.back();
  }

  static std::vector<Slot> slots(const Bucket& bucket, int memory) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < bucket.offsets.size(); ++i) {
      slots.push_back({static_cast<int>(i), memory, bucket.offsets[i]});
    }
    return slots;
  }

  // An operand may have been produced in its place in the bucket. What follows up to the next one becomes zero.
  static void put(const std::byte* source, std::size_t bytes, const Bucket& bucket, std::size_t index,
                  std::byte* memory, ReplicaLink& link) {
    const std::size_t begin = bucket.offsets[index], end = begin + bytes;
    const std::size_t next = index + 1 < bucket.offsets.size() ? bucket.offsets[index + 1] : bucket.bytes;
    if (source != memory + begin) link.copy(source, memory + begin, bytes);
    if (next > end) link.clear(memory + end, next - end);
  }

  std::size_t elements(const Bucket& bucket) const { return bucket.bytes / element_bytes_; }

  DataType dtype_;
  std::size_t element_bytes_, replicas_;
  std::vector<std::size_t> inputs_, outputs_;  // in bytes
};

std::byte* memory_at(const Pointers& pointers, int output) { return pointers.output<std::byte>(output); }

class AllReduce : public Operation {
 public:
  AllReduce(const graph::Node& node, int replicas) : Operation(node, replicas), bucket_(lay_out_bucket(inputs_)) {
    reduced_bytes = bucket_.bytes;
    sums_ = add_memory(bucket_.bytes);
    input_slots = output_slots = slots(bucket_, sums_);
  }

  void start(const Pointers& pointers, ReplicaLink& link) override {
    std::byte* sums = memory_at(pointers, sums_);
    for (std::size_t i = 0; i < inputs_.size(); ++i) put(pointers.inputs[i], inputs_[i], bucket_, i, sums, link);
    link.all_reduce(dtype_, sums, elements(bucket_));
  }

 private:
  Bucket bucket_;
  int sums_ = 0;
};

// Where the parts of an array that is cut into one part a replica begin and end, in bytes.
struct Cut {
  std::size_t begin = 0, bytes = 0;
};

// Part `index` of `whole` bytes; the last ones may be short or empty, which zeros fill up.
Cut cut(std::size_t whole, std::size_t part, std::size_t index) {
  const std::size_t begin = std::min(whole, index * part);
  return {begin, std::min(whole - begin, part)};
}

class ReduceScatter : public Operation {
 public:
  ReduceScatter(const graph::Node& node, int replicas) : Operation(node, replicas), bucket_(lay_out_bucket(outputs_)) {
    reduced_bytes = replicas_ * bucket_.bytes;
    operands_ = add_memory(reduced_bytes);
    sums_ = add_memory(bucket_.bytes);
    output_slots = slots(bucket_, sums_);
  }

  // The bucket of the first replica, then that of the second, and so on.
  void start(const Pointers& pointers, ReplicaLink& link) override {
    for (std::size_t replica = 0; replica < replicas_; ++replica) {
      std::byte* bucket = memory_at(pointers, operands_) + replica * bucket_.bytes;
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const Cut part = cut(inputs_[i], outputs_[i], replica);
        put(pointers.inputs[i] + part.begin, part.bytes, bucket_, i, bucket, link);
      }
    }
    link.reduce_scatter(dtype_, memory_at(pointers, operands_), memory_at(pointers, sums_), elements(bucket_));
  }

 private:
  Bucket bucket_;
  int operands_ = 0, sums_ = 0;
};

class AllGather : public Operation {
 public:
  AllGather(const graph::Node& node, int replicas) : Operation(node, replicas), bucket_(lay_out_bucket(inputs_)) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) awaited.push_back(static_cast<int>(i));
    part_ = add_memory(bucket_.bytes);
    parts_ = add_memory(replicas_ * bucket_.bytes);
    input_slots = slots(bucket_, part_);
  }

  void start(const Pointers& pointers, ReplicaLink& link) override {
    std::byte* part = memory_at(pointers, part_);
    for (std::size_t i = 0; i < inputs_.size(); ++i) put(pointers.inputs[i], inputs_[i], bucket_, i, part, link);
    link.all_gather(dtype_, part, memory_at(pointers, parts_), elements(bucket_));
  }

  void finish(const Pointers& pointers, ReplicaLink& link) override {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (pointers.outputs[i] == nullptr) continue;
      for (std::size_t replica = 0; replica < replicas_; ++replica) {
        const Cut part = cut(outputs_[i], inputs_[i], replica);
        const std::byte* bucket = memory_at(pointers, parts_) + replica * bucket_.bytes;
        link.copy(bucket + bucket_.offsets[i], pointers.outputs[i] + part.begin, part.bytes);
      }
    }
  }

 private:
  Bucket bucket_;
  int part_ = 0, parts_ = 0;
};

// Parts are those of as many replicas as take part.
void check_part(const graph::Node& node, const graph::Value* whole, const graph::Value* part, std::int64_t replicas) {
  if (whole == nullptr || part == nullptr) return;
  const std::int64_t expected = (element_count(whole->dims()) + replicas - 1) / replicas;
  if (element_count(part->dims()) == expected) return;
  fail(describe(node), ": a part of '", whole->name(), "' has ", element_count(part->dims()),
       " elements, but shared by ", replicas, " replicas it has ", expected);
}

}  // namespace

std::unique_ptr<BucketOperation> make_bucket_operation(const graph::Node& node, int replicas) {
  if (node.op_type() == "AllReduce") return std::make_unique<AllReduce>(node, replicas);
  if (node.op_type() == "ReduceScatter") {
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      if (node.outputs()[i] == nullptr) fail(describe(node), ": output ", i, " is left out");
      check_part(node, node.inputs()[i], node.outputs()[i], replicas);
    }
    return std::make_unique<ReduceScatter>(node, replicas);
  }
  if (node.op_type() == "AllGather") {
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      check_part(node, node.outputs()[i], node.inputs()[i], replicas);
    }
    return std::make_unique<AllGather>(node, replicas);
  }
  fail(describe(node), ": no operation between replicas");
}

}  // namespace ort_train::runtime::planning
