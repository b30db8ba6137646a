#pragma once

#include "graph/graph.h"
#include "kernels/functors/rendered_image.h"

namespace ort_train::kernels {

/// What a RenderImages node does with planes of the extents [samples, channels, height, width].
functors::RenderedImage rendered_image(const graph::Node& node, const Dims& source);

}  // namespace ort_train::kernels
