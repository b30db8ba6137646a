#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/image_fill.h"
#include "base/tensor.h"
#include "passes/pass.h"

namespace ort_train::passes {

/// How the samples of a model input come from those of the data: rendered, rearranged, then value * factor + offset.
struct InputPreparation {
  /// What is known of samples that are images.
  struct Image {
    std::int64_t channels = 1;
    std::int64_t data_height = 0, data_width = 0;  ///< in the data
    std::int64_t height = 0, width = 0;            ///< in the model
    bool data_channels_last = false, channels_last = false;
    /// Moved, mirrored or cut as is fed for each sample; what lies beyond the edge is as `fill` says.
    bool rendered = false;
    FillMode fill = FillMode::nearest;
    float fill_value = 0;
  };

  DataType dtype = DataType::undefined;  ///< of the data
  Dims dims;                             ///< of a sample of the data
  std::optional<Image> image;
  /// float32, of the extents of a prepared sample; undefined: 1 and 0.
  Tensor factor, offset;
};

/// By the name of the model's input.
using InputPreparations = std::map<std::string, InputPreparation>;

std::string data_input(const std::string& input);       ///< "ort_train.data.<input>": [samples, ...] of the data
std::string placement_input(const std::string& input);  ///< "ort_train.placement.<input>": see RenderImages

/// Puts the preparation of inputs into the graph, which is then fed with what the data hold.
class PrepareInputs : public Pass {
 public:
  explicit PrepareInputs(const InputPreparations& preparations) : preparations_(preparations) {}
  std::string name() const override { return "prepare-inputs"; }
  bool run(graph::Graph& graph) override;

 private:
  const InputPreparations& preparations_;
};

}  // namespace ort_train::passes
