#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/tensor.h"

namespace ort_train::passes {

/// How the replicas hold one value of the graph.
struct Sharding {
  enum class Kind {
    replicated,  ///< every replica has the same elements
    sharded,     ///< each has those of its own samples
    partial,     ///< the value is the sum over the replicas' arrays
    local,       ///< each has something of its own that only its own nodes understand
    open,        ///< a label that is sharded as the loss or metric asks for that reads it
  };

  Kind kind = Kind::replicated;

  /// Of a sharded value: along `axis` it has the extent outer * samples * inner, and index (o * samples + s) * inner +
  /// i belongs to sample s. A plain batch axis has outer = inner = 1; [N, T] merged into [N*T] has inner = T.
  std::int64_t axis = 0, outer = 1, inner = 1;

  static Sharding replicated() { return {}; }
  static Sharding partial() { return {Kind::partial}; }
  static Sharding local() { return {Kind::local}; }
  static Sharding open() { return {Kind::open}; }
  static Sharding along(std::int64_t axis, std::int64_t outer = 1, std::int64_t inner = 1) {
    return {Kind::sharded, axis, outer, inner};
  }

  bool is_replicated() const { return kind == Kind::replicated; }
  bool is_sharded() const { return kind == Kind::sharded; }
  bool is_partial() const { return kind == Kind::partial; }
  bool operator==(const Sharding&) const = default;

  /// The same samples along another axis.
  Sharding at_axis(std::int64_t other) const { return {kind, other, outer, inner}; }
};

/// "sharded along axis 0", for messages.
std::string describe(const Sharding& sharding);

/// The extents of `rows` samples out of a value with extents `whole`.
Dims extents_of_rows(const Dims& whole, const Sharding& sharding, std::int64_t rows);

/// The array has an axis that holds the samples so.
bool holds_samples(const Dims& dims, const Sharding& sharding, std::int64_t samples);

/// How a label holds the samples where no score says so: the first axis counts samples, each of which has consecutive
/// indices. Nothing where that cannot be.
std::optional<Sharding> along_first_axis(const Dims& dims, std::int64_t samples);

/// True for the types that replicas can add up.
bool has_sum_over_replicas(DataType type);

/// The type in which elements, all but one of them zero, are added up over the replicas without loss.
DataType type_of_sum(DataType type);

/// Where the samples lie after an array is given other extents with its elements in the same order; nothing when they
/// do not lie along one axis any more.
std::optional<Sharding> reshaped(const Sharding& sharding, const Dims& from, const Dims& to, std::int64_t samples);

}  // namespace ort_train::passes
