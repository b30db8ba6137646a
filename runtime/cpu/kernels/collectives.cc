// AllReduce, ReduceScatter and AllGather. A node with several operands is one operation on one bucket: the operands lie
// one after the other in one array, and the gaps between them hold zeros.
#include <algorithm>
#include <cstring>

#include "runtime/cpu/collective_kernel.h"
#include "runtime/memory_plan.h"

namespace ort_train::runtime::cpu {

namespace {

Bucket bucket_of(const std::vector<Format>& arrays) {
  std::vector<std::size_t> bytes;
  bytes.reserve(arrays.size());
  for (const Format& array : arrays) bytes.push_back(array.bytes());
  return lay_out_bucket(bytes);
}

// From the end of array `index` to the next one.
void clear_gap(const Bucket& bucket, std::size_t index, std::size_t end, std::byte* memory) {
  const std::size_t next = index + 1 < bucket.offsets.size() ? bucket.offsets[index + 1] : bucket.bytes;
  std::memset(memory + end, 0, next - end);
}

// An operand may have been produced in its place in the bucket.
void put(const std::byte* source, std::byte* target, std::size_t bytes) {
  if (source != target && bytes > 0) std::memcpy(target, source, bytes);
}

class BucketKernel : public CollectiveKernel {
 public:
  explicit BucketKernel(const Request& request)
      : CollectiveKernel(*request.context.collective),
        dtype_(request.input(0).dtype()),
        element_bytes_(size_of(dtype_)),
        replicas_(static_cast<std::size_t>(collective_.replicas())) {
    inputs = request.plain_inputs();
    outputs = request.plain_outputs();
  }

 protected:
  // Memory of `bytes` bytes as one more output, which is a bucket or several in a row.
  int add_memory(std::size_t bytes) {
    outputs.push_back(Format::plain(dtype_, {static_cast<std::int64_t>(bytes / element_bytes_)}));
    bucket_bytes += bytes;
    awaited.push_back(static_cast<int>(outputs.size()) - 1);
    return awaited.back();
  }

  std::vector<Slot> slots(const Bucket& bucket, int memory) const {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < bucket.offsets.size(); ++i) {
      slots.push_back({static_cast<int>(i), memory, bucket.offsets[i]});
    }
    return slots;
  }

  std::byte* memory(int output) const { return pointers_.outputs[static_cast<std::size_t>(output)]; }

  DataType dtype_;
  std::size_t element_bytes_, replicas_;
};

class AllReduceKernel : public BucketKernel {
 public:
  explicit AllReduceKernel(const Request& request) : BucketKernel(request), bucket_(bucket_of(inputs)) {
    reduced_bytes = bucket_.bytes;
    sums_ = add_memory(bucket_.bytes);
    input_slots = output_slots = slots(bucket_, sums_);
  }

 protected:
  Ticket start() override {
    std::byte* sums = memory(sums_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t bytes = inputs[i].bytes(), offset = bucket_.offsets[i];
      put(pointers_.inputs[i], sums + offset, bytes);
      clear_gap(bucket_, i, offset + bytes, sums);
    }
    return collective_.all_reduce(dtype_, sums, bucket_.bytes / element_bytes_);
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

class ReduceScatterKernel : public BucketKernel {
 public:
  explicit ReduceScatterKernel(const Request& request) : BucketKernel(request), bucket_(bucket_of(outputs)) {
    parts_ = outputs;
    reduced_bytes = replicas_ * bucket_.bytes;
    operands_ = add_memory(reduced_bytes);
    sums_ = add_memory(bucket_.bytes);
    output_slots = slots(bucket_, sums_);
  }

 protected:
  // The bucket of the first replica, then that of the second, and so on.
  Ticket start() override {
    for (std::size_t replica = 0; replica < replicas_; ++replica) {
      std::byte* bucket = memory(operands_) + replica * bucket_.bytes;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Cut part = cut(inputs[i].bytes(), parts_[i].bytes(), replica);
        put(pointers_.inputs[i] + part.begin, bucket + bucket_.offsets[i], part.bytes);
        clear_gap(bucket_, i, bucket_.offsets[i] + part.bytes, bucket);
      }
    }
    return collective_.reduce_scatter(dtype_, memory(operands_), memory(sums_), bucket_.bytes / element_bytes_);
  }

 private:
  Bucket bucket_;
  std::vector<Format> parts_;
  int operands_ = 0, sums_ = 0;
};

class AllGatherKernel : public BucketKernel {
 public:
  explicit AllGatherKernel(const Request& request) : BucketKernel(request), bucket_(bucket_of(inputs)) {
    wholes_ = outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) awaited.push_back(static_cast<int>(i));
    part_ = add_memory(bucket_.bytes);
    parts_ = add_memory(replicas_ * bucket_.bytes);
    input_slots = slots(bucket_, part_);
  }

 protected:
  Ticket start() override {
    std::byte* part = memory(part_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t bytes = inputs[i].bytes(), offset = bucket_.offsets[i];
      put(pointers_.inputs[i], part + offset, bytes);
      clear_gap(bucket_, i, offset + bytes, part);
    }
    return collective_.all_gather(dtype_, part, memory(parts_), bucket_.bytes / element_bytes_);
  }

  void finish() override {
    for (std::size_t i = 0; i < wholes_.size(); ++i) {
      if (!wholes_[i].defined()) continue;
      for (std::size_t replica = 0; replica < replicas_; ++replica) {
        const Cut part = cut(wholes_[i].bytes(), inputs[i].bytes(), replica);
        const std::byte* bucket = memory(parts_) + replica * bucket_.bytes;
        put(bucket + bucket_.offsets[i], pointers_.outputs[i] + part.begin, part.bytes);
      }
    }
  }

 private:
  Bucket bucket_;
  std::vector<Format> wholes_;
  int part_ = 0, parts_ = 0;
};

// Parts are those of as many replicas as take part.
void check_part(const Request& request, const graph::Value* whole, const graph::Value* part) {
  if (whole == nullptr || part == nullptr) return;
  const std::int64_t replicas = request.context.collective->replicas();
  const std::int64_t expected = (element_count(whole->dims()) + replicas - 1) / replicas;
  if (element_count(part->dims()) == expected) return;
  fail(describe(request.node), ": a part of '", whole->name(), "' has ", element_count(part->dims()),
       " elements, but shared by ", replicas, " replicas it has ", expected);
}

std::unique_ptr<Kernel> make_all_reduce(const Request& request) { return std::make_unique<AllReduceKernel>(request); }

std::unique_ptr<Kernel> make_reduce_scatter(const Request& request) {
  const graph::Node& node = request.node;
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    if (node.outputs()[i] == nullptr) fail(describe(node), ": output ", i, " is left out");
    check_part(request, node.inputs()[i], node.outputs()[i]);
  }
  return std::make_unique<ReduceScatterKernel>(request);
}

std::unique_ptr<Kernel> make_all_gather(const Request& request) {
  const graph::Node& node = request.node;
  for (std::size_t i = 0; i < node.outputs().size(); ++i) check_part(request, node.outputs()[i], node.inputs()[i]);
  return std::make_unique<AllGatherKernel>(request);
}

const TrainingFactoryRegistration all_reduce("AllReduce", make_all_reduce);
const TrainingFactoryRegistration reduce_scatter("ReduceScatter", make_reduce_scatter);
const TrainingFactoryRegistration all_gather("AllGather", make_all_gather);

}  // namespace

}  // namespace ort_train::runtime::cpu
