#pragma once

#include <memory>
#include <optional>

#include "runtime/cuda/indices.h"
#include "runtime/cuda/tally.h"

namespace ort_train::runtime::cuda {

/// Row-major scores [N, C, d1, ...] with a label out of [0, C) for each of the positions [N, d1, ...]; a label may say
/// that its position is to be ignored.
struct LabelView {
  std::int64_t classes = 1, inner = 1, positions = 0;
  bool ignores = false;
  std::int64_t ignored = 0;

  __host__ __device__ bool is_ignored(std::int64_t label) const { return ignores && label == ignored; }
  __host__ __device__ bool is_class(std::int64_t label) const { return label >= 0 && label < classes; }
  /// Where the score of class 0 of a position is; further classes follow at distances of `inner`.
  __host__ __device__ std::int64_t offset(std::int64_t position) const {
    return position / inner * classes * inner + position % inner;
  }
};

/// Nothing where scores and labels do not go together: the host kernel says what is wrong.
inline std::optional<LabelView> view_labels(const Request& request, std::size_t scores, std::size_t labels) {
  Dims dims = request.plain_input(scores).dims();
  if (dims.size() < 2 || !can_be_indices(request.plain_input(labels).dtype())) return std::nullopt;
  LabelView view;
  view.classes = dims[1];
  dims.erase(dims.begin() + 1);
  if (request.plain_input(labels).dims() != dims) return std::nullopt;
  view.positions = element_count(dims);
  view.inner = view.positions / dims[0];
  view.ignores = request.node.has("ignore_index");
  view.ignored = request.node.integer("ignore_index", 0);
  return view;
}

/// The number of the word for a label that is not a class.
inline std::size_t add_label_error(const Request& request, const LabelView& view) {
  return request.context.host_scratch->add_error_word(
      [node = describe(request.node), classes = view.classes](std::int64_t label) {
        return text(node, ": the label ", label, " is not one of the ", classes, " classes 0 to ", classes - 1);
      });
}

}  // namespace ort_train::runtime::cuda
