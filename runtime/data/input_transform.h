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

  /// Prepares the sample in `scratch.raw`. With `random`, it is augmented by the numbers of that stream.
  void apply(Scratch& scratch, const std::optional<RandomStream>& random, std::byte* destination) const;

 private:
  void set_normalization(const InputOptions& options, const Statistics& statistics);
  std::vector<float> per_element(const char* what, const std::vector<float>& given, const Tensor& computed,
                                 float otherwise) const;

  template <typename T>
  const float* render_image(const std::byte* source, const std::optional<RandomStream>& random, Scratch& scratch) const;
  void apply_to_image(Scratch& scratch, const std::optional<RandomStream>& random, std::byte* destination) const;
  void apply_to_array(Scratch& scratch, std::byte* destination) const;
  void normalize(const float* image, float* out) const;

  std::string name_;
  DataType field_dtype_, dtype_;
  Augmentation augmentation_;
  SampleShape shape_;
  std::optional<BilinearResize> resize_;
  bool is_image_ = false;  ///< anything is done that needs to know rows and channels
  bool normalized_ = false;
  std::vector<float> factor_, offset_;  ///< per element of a prepared sample: value * factor + offset
};

}  // namespace ort_train::data
