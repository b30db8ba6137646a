#include "runtime/data/field_binding.h"

#include <optional>

#include "base/error.h"

namespace ort_train::data {

namespace {

std::optional<std::size_t> find_by_name(const Dataset& dataset, const std::string& name) {
  for (std::size_t i = 0; i < dataset.fields().size(); ++i) {
    if (dataset.fields()[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> find_by_position(const Dataset& dataset, FieldRole role, std::size_t position) {
  for (std::size_t i = 0; i < dataset.fields().size(); ++i) {
    if (dataset.fields()[i].role == role && position-- == 0) return i;
  }
  return std::nullopt;
}

std::string list_of_fields(const Dataset& dataset) {
  std::string list;
  for (const Field& field : dataset.fields()) list += (list.empty() ? "'" : ", '") + field.name + "'";
  return list;
}

}  // namespace

std::size_t find_field(const Dataset& dataset, FieldRole role, const std::string& asked, const std::string& slot,
                       std::size_t position) {
  const std::string what = role == FieldRole::input ? "the model's input" : "the label";
  if (!asked.empty()) {
    if (const auto found = find_by_name(dataset, asked)) return *found;
    fail(what, " '", slot, "' is to come from '", asked, "', but the data set has only ", list_of_fields(dataset));
  }
  if (const auto found = find_by_name(dataset, slot)) return *found;
  if (const auto found = find_by_position(dataset, role, position)) return *found;
  fail("the data set has nothing for ", what, " '", slot, "'; it has ", list_of_fields(dataset));
}

}  // namespace ort_train::data
