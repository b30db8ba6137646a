#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/data_type.h"
#include "base/tensor.h"

namespace ort_train::graph {

using ort_train::to_string;

/// One extent: a number, a symbol such as "N" (equal symbols mean equal extents), or unknown.
class Dimension {
 public:
  Dimension() = default;
  Dimension(std::int64_t value) : content_(value) {}              // NOLINT: numbers read as dimensions
  Dimension(std::string symbol) : content_(std::move(symbol)) {}  // NOLINT: so do symbols

  bool is_known() const { return std::holds_alternative<std::int64_t>(content_); }
  bool is_symbol() const { return std::holds_alternative<std::string>(content_); }
  std::int64_t value() const { return std::get<std::int64_t>(content_); }
  const std::string& symbol() const { return std::get<std::string>(content_); }
  bool operator==(const Dimension&) const = default;

 private:
  std::variant<std::monostate, std::int64_t, std::string> content_;
};

using Shape = std::vector<Dimension>;

/// What is known of a value: element type, and shape where the rank is known.
struct Type {
  DataType dtype = DataType::undefined;
  std::optional<Shape> shape;

  Type() = default;
  explicit Type(DataType element) : dtype(element) {}
  Type(DataType element, Shape extents) : dtype(element), shape(std::move(extents)) {}
  Type(DataType element, const Dims& dims);

  bool operator==(const Type&) const = default;

  /// Every extent is a number.
  bool is_static() const;
};

/// "float32[N,3,32,32]"; "float32[...]" when the rank is unknown.
std::string to_string(const Type& type);

}  // namespace ort_train::graph
