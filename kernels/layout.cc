#include <algorithm>
#include <cstring>

#include "kernels/indexing.h"
#include "kernels/strided.h"

namespace ort_train::kernels {

namespace {

void compute_transpose(Invocation& call) {
  const Tensor& input = call.inputs[0];
  std::vector<std::int64_t> reversed = all_axes(input.rank());
  std::reverse(reversed.begin(), reversed.end());
  const std::vector<std::int64_t> permutation = normalized_axes(call.node.integers("perm", reversed), input.rank());
  if (permutation.size() != input.dims().size()) {
    fail("the permutation ", to_string(permutation), " does not fit the shape ", to_string(input.dims()));
  }
  const Dims input_strides = row_major_strides(input.dims());
  Dims dims, strides;
  for (const std::int64_t axis : permutation) {
    dims.push_back(input.dims()[static_cast<std::size_t>(axis)]);
    strides.push_back(input_strides[static_cast<std::size_t>(axis)]);
  }
  Tensor& out = output(call, 0, input.dtype(), dims);
  gather_strided(dims, input.raw(), strides, out.raw(), size_of(input.dtype()));
}

void compute_expand(Invocation& call) {
  const Tensor& input = call.inputs[0];
  Dims dims = call.inputs[1].to_int64s();
  Dims from = input.dims();
  const std::size_t rank = std::max(dims.size(), from.size());
  dims.insert(dims.begin(), rank - dims.size(), 1);
  from.insert(from.begin(), rank - from.size(), 1);
  Dims strides = row_major_strides(from);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] == 1) dims[axis] = from[axis];
    if (from[axis] == 1) strides[axis] = 0;
    if (from[axis] != 1 && from[axis] != dims[axis]) {
      fail("the shape ", to_string(input.dims()), " cannot be expanded to ", to_string(call.inputs[1].to_int64s()));
    }
  }
  Tensor& out = output(call, 0, input.dtype(), dims);
  gather_strided(dims, input.raw(), strides, out.raw(), size_of(input.dtype()));
}

void compute_tile(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::vector<std::int64_t> repeats = integers_input(call, 1);
  if (repeats.size() != input.dims().size()) {
    fail("there are ", repeats.size(), " repeats for the shape ", to_string(input.dims()));
  }
  // Every axis becomes two: the repeats, which stay in place, and the elements.
  const Dims input_strides = row_major_strides(input.dims());
  Dims dims, pairs, strides;
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 0) fail("the number of repeats cannot be ", repeats[axis]);
    dims.push_back(repeats[axis] * input.dims()[axis]);
    pairs.insert(pairs.end(), {repeats[axis], input.dims()[axis]});
    strides.insert(strides.end(), {0, input_strides[axis]});
  }
  Tensor& out = output(call, 0, input.dtype(), dims);
  gather_strided(pairs, input.raw(), strides, out.raw(), size_of(input.dtype()));
}

// One number an axis, in the order `permutation` of the axes.
Dims permuted(const Dims& values, const std::vector<std::size_t>& permutation) {
  Dims out;
  for (const std::size_t axis : permutation) out.push_back(values[axis]);
  return out;
}

std::int64_t block_size(const Invocation& call) {
  const std::int64_t block = call.node.integer("blocksize", 0);
  if (block < 1) fail("the attribute 'blocksize' must be positive, it is ", block);
  if (call.inputs[0].rank() != 4) fail("the input must be [N,C,H,W], it is ", to_string(call.inputs[0].dims()));
  return block;
}

// Depth first (CRD) has the position in the block behind the channel, DCR in front of it.
bool is_depth_first(const graph::Node& node) {
  const std::string mode = node.string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail("the mode '", mode, "' is neither DCR nor CRD");
  return mode == "CRD";
}

using Order = std::vector<std::size_t>;

// Reads the input as an array of extents `split`, and writes its axes in `order`.
void rearrange(Invocation& call, const Dims& split, const Order& order, const Dims& dims) {
  const Tensor& input = call.inputs[0];
  Tensor& out = output(call, 0, input.dtype(), dims);
  gather_strided(permuted(split, order), input.raw(), permuted(row_major_strides(split), order), out.raw(),
                 size_of(input.dtype()));
}

void compute_depth_to_space(Invocation& call) {
  const std::int64_t block = block_size(call);
  const Dims& dims = call.inputs[0].dims();
  const std::int64_t n = dims[0], c = dims[1], h = dims[2], w = dims[3];
  if (c % (block * block) != 0) fail(c, " channels do not split into blocks of ", block, "x", block);
  const std::int64_t depth = c / (block * block);
  const Dims result{n, depth, h * block, w * block};
  if (is_depth_first(call.node)) {
    rearrange(call, {n, depth, block, block, h, w}, Order{0, 1, 4, 2, 5, 3}, result);
  } else {
    rearrange(call, {n, block, block, depth, h, w}, Order{0, 3, 4, 1, 5, 2}, result);
  }
}

void compute_space_to_depth(Invocation& call) {
  const std::int64_t block = block_size(call);
  const Dims& dims = call.inputs[0].dims();
  const std::int64_t n = dims[0], c = dims[1], h = dims[2], w = dims[3];
  if (h % block != 0 || w % block != 0) fail(h, "x", w, " elements do not split into blocks of ", block, "x", block);
  const Order order = is_depth_first(call.node) ? Order{0, 1, 3, 5, 2, 4} : Order{0, 3, 5, 1, 2, 4};
  rearrange(call, {n, c, h / block, block, w / block, block}, order, {n, c * block * block, h / block, w / block});
}

void compute_trilu(Invocation& call) {
  const Tensor& input = call.inputs[0];
  if (input.rank() < 2) fail("the input must be matrices, its shape is ", to_string(input.dims()));
  const bool upper = call.node.integer("upper", 1) != 0;
  const std::int64_t diagonal = integer_input_or(call, 1, 0);
  Tensor& out = output(call, 0, input.dtype(), input.dims());
  const std::size_t element_size = size_of(input.dtype());
  const std::int64_t columns = input.dims().back();
  const std::int64_t rows = input.dims()[input.dims().size() - 2];
  std::memset(out.raw(), 0, out.bytes());
  const std::int64_t all_rows = columns == 0 ? 0 : input.size() / columns;
  for (std::int64_t i = 0; i < all_rows; ++i) {
    // The first column on or above the diagonal, and the first one above it.
    const std::int64_t on = std::clamp<std::int64_t>(i % rows + diagonal, 0, columns);
    const std::int64_t above = std::clamp<std::int64_t>(i % rows + diagonal + 1, 0, columns);
    const std::int64_t begin = upper ? on : 0;
    const std::int64_t end = upper ? columns : above;
    const std::size_t at = static_cast<std::size_t>(i * columns + begin) * element_size;
    std::memcpy(out.raw() + at, input.raw() + at, static_cast<std::size_t>(end - begin) * element_size);
  }
}

void compute_reverse_sequence(Invocation& call) {
  const Tensor& input = call.inputs[0];
  const std::vector<std::int64_t> lengths = integers_input(call, 1);
  const std::int64_t batch_axis = normalized_axis(call.node.integer("batch_axis", 1), input.rank());
  const std::int64_t time_axis = normalized_axis(call.node.integer("time_axis", 0), input.rank());
  if (batch_axis + time_axis != 1) fail("the batch and the time axis must be the axes 0 and 1");
  const std::int64_t batch = input.dims()[static_cast<std::size_t>(batch_axis)];
  const std::int64_t time = input.dims()[static_cast<std::size_t>(time_axis)];
  if (static_cast<std::int64_t>(lengths.size()) != batch) {
    fail("there are ", lengths.size(), " sequence lengths for ", batch, " sequences");
  }
  Tensor& out = output(call, 0, input.dtype(), input.dims());
  if (input.size() == 0) return;
  const std::size_t block = input.bytes() / static_cast<std::size_t>(batch * time);
  const std::int64_t batch_step = batch_axis == 0 ? time : 1;
  const std::int64_t time_step = time_axis == 0 ? batch : 1;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    if (length < 0 || length > time) fail("sequence ", b, " cannot have the length ", length, " of ", time, " steps");
    for (std::int64_t t = 0; t < time; ++t) {
      const std::int64_t source = t < length ? length - 1 - t : t;
      std::memcpy(out.raw() + static_cast<std::size_t>(b * batch_step + t * time_step) * block,
                  input.raw() + static_cast<std::size_t>(b * batch_step + source * time_step) * block, block);
    }
  }
}

const Registration transpose("Transpose", compute_transpose);
const Registration expand("Expand", compute_expand);
const Registration tile("Tile", compute_tile);
const Registration depth_to_space("DepthToSpace", compute_depth_to_space);
const Registration space_to_depth("SpaceToDepth", compute_space_to_depth);
const Registration trilu("Trilu", compute_trilu);
const Registration reverse_sequence("ReverseSequence", compute_reverse_sequence);

}  // namespace

}  // namespace ort_train::kernels
