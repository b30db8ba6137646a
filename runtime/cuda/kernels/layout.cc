// Operators that give elements another order, or repeat them: strided copies, or nothing at all where the elements lie
// right already.
#include <algorithm>

#include "kernels/indexing.h"
#include "runtime/cuda/strided_copy.h"

namespace ort_train::runtime::cuda {

namespace {

using ort_train::kernels::all_axes;
using ort_train::kernels::normalized_axes;

using Axes = std::vector<std::int64_t>;

Dims permuted(const Dims& values, const Axes& order) {
  Dims result;
  for (const std::int64_t axis : order) result.push_back(values[static_cast<std::size_t>(axis)]);
  return result;
}

std::unique_ptr<Kernel> make_transpose(const Request& request) {
  const Format input = request.input(0), plain = request.plain_output(0);
  const auto rank = static_cast<std::int64_t>(input.dims().size());
  Axes reversed = all_axes(rank);
  std::reverse(reversed.begin(), reversed.end());
  const Axes order = normalized_axes(request.node.integers("perm", reversed), rank);
  const Dims strides = permuted(input.strides(), order);
  // An image that becomes one with its channels last, or comes from there, may lie so already.
  const Format channels_last = Format::channels_last(plain.dtype(), plain.dims());
  const Format& output = strides == channels_last.strides() ? channels_last : plain;
  return make_strided_copy(request, {input}, output, plain.dims(), strides, output.strides());
}

std::unique_ptr<Kernel> make_expand(const Request& request) {
  const Format input = request.input(0), plain = request.plain_output(0);
  const std::size_t added = plain.dims().size() - input.dims().size();
  Dims strides = input.strides();
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    if (input.dims()[axis] == 1) strides[axis] = 0;
  }
  strides.insert(strides.begin(), added, 0);
  return make_strided_copy(request, with_first_as_it_lies(request), plain, plain.dims(), strides, plain.strides());
}

/// Every axis becomes two: the repeats and the elements.
std::unique_ptr<Kernel> make_tile(const Request& request) {
  const Format input = request.input(0);
  const Format output = input.with(input.dtype(), request.plain_output(0).dims());
  Dims dims, source, target;
  for (std::size_t axis = 0; axis < input.dims().size(); ++axis) {
    const std::int64_t extent = input.dims()[axis];
    dims.insert(dims.end(), {output.dims()[axis] / extent, extent});
    source.insert(source.end(), {0, input.strides()[axis]});
    target.insert(target.end(), {output.strides()[axis] * extent, output.strides()[axis]});
  }
  return make_strided_copy(request, with_first_as_it_lies(request), output, dims, source, target);
}

/// The strides of [N, C, H, block, W, block] inside an image, and of [N, block, block, depth, H, W] (or depth first)
/// inside the one with blocks of pixels as channels.
Dims strides_of_pixels(const Dims& strides, std::int64_t block) {
  return {strides[0], strides[1], strides[2] * block, strides[2], strides[3] * block, strides[3]};
}

Dims strides_of_channels(const Dims& strides, std::int64_t block, std::int64_t depth, bool depth_first) {
  const std::int64_t channel = strides[1];
  const std::int64_t of_depth = depth_first ? channel * block * block : channel;
  const std::int64_t of_column = depth_first ? channel : channel * depth;
  return {strides[0], of_depth, strides[2], of_column * block, strides[3], of_column};
}

/// Both directions go through [N, depth, H, block row, W, block column], H and W of the image of deep pixels.
std::unique_ptr<Kernel> make_block_rearrangement(const Request& request, bool to_space) {
  const Format input = request.input(0);
  const Format output = input.with(input.dtype(), request.plain_output(0).dims());
  const std::int64_t block = request.node.integer("blocksize", 1);
  const bool depth_first = request.node.string("mode", "DCR") == "CRD";
  const Format& image = to_space ? output : input;
  const Format& deep = to_space ? input : output;
  const Dims pixels = strides_of_pixels(image.strides(), block);
  const Dims channels = strides_of_channels(deep.strides(), block, image.dims()[1], depth_first);
  const Dims dims = {image.dims()[0], image.dims()[1], deep.dims()[2], block, deep.dims()[3], block};
  return to_space ? make_strided_copy(request, {input}, output, dims, channels, pixels)
                  : make_strided_copy(request, {input}, output, dims, pixels, channels);
}

std::unique_ptr<Kernel> make_depth_to_space(const Request& request) { return make_block_rearrangement(request, true); }
std::unique_ptr<Kernel> make_space_to_depth(const Request& request) { return make_block_rearrangement(request, false); }

const FactoryRegistration transpose("Transpose", make_transpose);
const FactoryRegistration expand("Expand", make_expand);
const FactoryRegistration tile("Tile", make_tile);
const FactoryRegistration depth_to_space("DepthToSpace", make_depth_to_space);
const FactoryRegistration space_to_depth("SpaceToDepth", make_space_to_depth);

}  // namespace

}  // namespace ort_train::runtime::cuda
