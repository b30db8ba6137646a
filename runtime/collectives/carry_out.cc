#include "runtime/collectives/carry_out.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "base/shard.h"
#include "runtime/collectives/scratch.h"
#include "runtime/collectives/sum.h"
#include "runtime/collectives/wire.h"

namespace ort_train::runtime {

namespace {

void copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0 && from != to) std::memcpy(to, from, bytes);
}

void* at(void* memory, std::size_t bytes) { return static_cast<std::byte*>(memory) + bytes; }
const void* at(const void* memory, std::size_t bytes) { return static_cast<const std::byte*>(memory) + bytes; }

/// One replica's view of one operation.
class Part {
 public:
  Part(LocalGroup& group, int local, const Operation& operation)
      : group_(group),
        layout_(group.layout()),
        exchange_(group.exchange()),
        local_(local),
        operation_(operation),
        element_(operation.kind == OperationKind::barrier ? 0 : size_of(operation.dtype)),
        bytes_(operation.count * element_),
        scratch_(scratch_of(operation, layout_)) {}

  void carry_out() {
    group_.arrive(local_, operation_, [this] { grow(group_.scratch(), scratch_.partial + scratch_.result); });
    switch (operation_.kind) {
      case OperationKind::all_reduce: all_reduce(); break;
      case OperationKind::broadcast: broadcast(); break;
      case OperationKind::reduce_scatter: reduce_scatter(); break;
      case OperationKind::all_gather: all_gather(); break;
      case OperationKind::barrier:
        if (leads()) exchange_->barrier(operation_);
        break;
    }
    group_.meet();
  }

 private:
  bool leads() const { return exchange_ && local_ == 0; }
  std::size_t local() const { return static_cast<std::size_t>(local_); }
  std::size_t size() const { return static_cast<std::size_t>(group_.size()); }

  std::byte* partial() const { return group_.scratch().data(); }
  std::byte* result() const { return partial() + scratch_.partial; }

  /// The operands of all local replicas, from this byte on.
  std::vector<const void*> inputs(std::size_t skipped) const {
    std::vector<const void*> all(size());
    for (std::size_t i = 0; i < size(); ++i) all[i] = at(group_.operation(static_cast<int>(i)).input, skipped);
    return all;
  }

  std::vector<void*> outputs() const {
    std::vector<void*> all(size());
    for (std::size_t i = 0; i < size(); ++i) all[i] = group_.operation(static_cast<int>(i)).output;
    return all;
  }

  /// This replica's slice of the sum over the local ones, of `count` elements, goes to `results`.
  void add_slice(DataType to, const std::vector<void*>& results, std::int64_t first, std::int64_t count) {
    const auto skipped = static_cast<std::size_t>(first);
    std::vector<void*> places(results);
    for (void*& place : places) place = at(place, skipped * size_of(to));
    add_in_order(operation_.dtype, inputs(skipped * element_), to, places, static_cast<std::size_t>(count));
  }

  void* leader_output() const { return group_.operation(0).output; }

  void all_reduce() {
    const Shard slice = shard_of(static_cast<std::int64_t>(operation_.count), group_.size(), local_);
    if (!exchange_) {
      add_slice(operation_.dtype, outputs(), slice.first, slice.rows);
      return;
    }
    void* sum = scratch_.partial > 0 ? partial() : leader_output();
    if (size() > 1) {
      add_slice(partial_type(operation_.dtype, layout_), {sum}, slice.first, slice.rows);
      group_.meet();
    }
    if (leads()) exchange_->all_reduce(operation_, sum, operation_.output);
    group_.meet();
    copy(leader_output(), operation_.output, bytes_);
  }

  void broadcast() {
    const int root_process = layout_.process_of(operation_.root);
    const bool from_here = root_process == layout_.process;
    void* source = group_.operation(from_here ? operation_.root - layout_.first_replica() : 0).output;
    if (leads()) exchange_->broadcast(operation_, source);
    if (exchange_) group_.meet();
    copy(source, operation_.output, bytes_);
  }

  void reduce_scatter() {
    const auto count = static_cast<std::int64_t>(operation_.count);
    if (!exchange_) {
      void* const result[] = {operation_.output};
      add_in_order(operation_.dtype, inputs(local() * bytes_), operation_.dtype, result, operation_.count);
      return;
    }
    if (size() == 1) {
      exchange_->reduce_scatter(operation_, operation_.input, operation_.output);
      return;
    }
    const Shard slice = shard_of(count * layout_.replicas(), group_.size(), local_);
    add_slice(partial_type(operation_.dtype, layout_), {partial()}, slice.first, slice.rows);
    group_.meet();
    if (leads()) exchange_->reduce_scatter(operation_, partial(), result());
    group_.meet();
    copy(result() + local() * bytes_, operation_.output, bytes_);
  }

  void all_gather() {
    if (!exchange_) {
      for (std::size_t i = 0; i < size(); ++i) {
        copy(group_.operation(static_cast<int>(i)).input, at(operation_.output, i * bytes_), bytes_);
      }
      return;
    }
    const std::size_t place = static_cast<std::size_t>(layout_.first_replica() + local_) * bytes_;
    copy(operation_.input, at(leader_output(), place), bytes_);
    group_.meet();
    if (leads()) exchange_->all_gather(operation_, operation_.output);
    group_.meet();
    copy(leader_output(), operation_.output, bytes_ * static_cast<std::size_t>(layout_.replicas()));
  }

  LocalGroup& group_;
  const Layout& layout_;
  ProcessExchange* exchange_;
  const int local_;
  const Operation& operation_;
  const std::size_t element_, bytes_;
  const Scratch scratch_;
};

}  // namespace

void carry_out(LocalGroup& group, int local, const Operation& operation) { Part(group, local, operation).carry_out(); }

}  // namespace ort_train::runtime
