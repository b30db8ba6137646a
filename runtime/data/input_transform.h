#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "runtime/data/input_slot.h"
#include "runtime/data/resize.h"
#include "runtime/data/sample_shape.h"
#include "runtime/data/statistics.h"

namespace ort_train::data {

/// Working memory that a thread keeps from one sample to the next.
struct Scratch {
  std::vector<std::byte> raw, resized;
  std::vector<float> converted, rendered, normalized, rows;
};

/// Turns a field of a data set into an input of the model: resize, augmentation, scale, mean and deviation, layout, and
/// element type. The constructor throws when the two do not fit.
class InputTransform {
 public:
  InputTransform(const Field& field, const InputSlot& slot, const Statistics& statistics);

  const SampleShape& shape() const { return shape_; }
  DataType dtype() const { return dtype_; }

  // For a graph that prepares the samples itself, there is what `apply` does in two halves.

  /// What it starts from: images are resized already, and have elements that can be rendered.
  DataType source_dtype() const;
  const Dims& source_dims() const { return source_dims_; }
  /// Images move, are mirrored or cut.
  bool is_rendered() const;
  const Augmentation& augmentation() const { return augmentation_; }
  /// Per element of a prepared sample: value * factor + offset.
  const std::vector<float>& factor() const { return factor_; }
  const std::vector<float>& offset() const { return offset_; }
  /// The sample in `scratch.raw`, `source_dims()` of `source_dtype()`.
  void apply_to_source(Scratch& scratch, std::byte* destination) const;
  /// Writes down, right, mirrored left to right (0 or 1), mirrored top to bottom: see Placement.
  void place(const std::optional<RandomStream>& random, float* placement) const;

  /// Prepares the sample in `scratch.raw`. With `random`, it is augmented by the numbers of that stream.
  void apply(Scratch& scratch, const std::optional<RandomStream>& random, std::byte* destination) const;

 private:
  void set_normalization(const InputOptions& options, const Statistics& statistics);
  std::vector<float> per_element(const char* what, const std::vector<float>& given, const Tensor& computed,
                                 float otherwise) const;

  std::int64_t planes() const;
  template <typename T>
  const T* resized(const T* source, Scratch& scratch) const;
  const std::byte* source_image(Scratch& scratch) const;
  Placement placement(const std::optional<RandomStream>& random) const;
  template <typename T>
  const float* render_image(const T* source, const std::optional<RandomStream>& random, Scratch& scratch) const;
  void apply_to_image(Scratch& scratch, const std::optional<RandomStream>& random, std::byte* destination) const;
  void apply_to_array(Scratch& scratch, std::byte* destination) const;
  void normalize(const float* image, float* out) const;

  std::string name_;
  DataType field_dtype_, dtype_;
  Augmentation augmentation_;
  SampleShape shape_;
  Dims source_dims_;
  std::optional<BilinearResize> resize_;
  bool is_image_ = false;  ///< anything is done that needs to know rows and channels
  bool normalized_ = false;
  std::vector<float> factor_, offset_;  ///< per element of a prepared sample: value * factor + offset
};

}  // namespace ort_train::data
