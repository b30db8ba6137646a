// Gradients of reductions and running sums.

#include <numeric>

#include "passes/gradients/helpers.h"

namespace ort_train::passes {
namespace {

using graph::Attributes;
using graph::Builder;
using graph::Value;

/// A reduction of `x` over some axes, with what its gradient needs.
class Reduction {
 public:
  explicit Reduction(GradientContext& context)
      : builder(context.builder()), x(context.input(0)), dims_(x->dims()), kept_dims_(dims_) {
    const graph::Node& node = context.node();
    axes_ = node.has("axes") ? node.integers("axes") : constant_integers(node, 1, "axes");
    const std::int64_t rank = x->rank();
    if (axes_.empty() && node.integer("noop_with_empty_axes", 0) == 0) {
      axes_.resize(rank);
      std::iota(axes_.begin(), axes_.end(), 0);
    }
    for (std::int64_t& axis : axes_) {
      axis = normalized_axis(node, axis, rank);
      kept_dims_[axis] = 1;
      count_ *= dims_[axis];
    }
    gradient = kept(context.output_gradient());
    y = kept(context.output());
  }

  /// Elements that are reduced to one.
  double count() const { return static_cast<double>(count_); }

  /// Gives an array of the extents of `x` from one that has extent 1 along the reduced axes.
  Value* spread(Value* reduced) const { return reduced->dims() == dims_ ? reduced : builder.expand(reduced, dims_); }

  /// Reduces over the same axes, which keep the extent 1.
  Value* reduce(const std::string& op_type, Value* value) const {
    return builder.emit(op_type, {value, builder.int64s(axes_)},
                        Attributes{{"keepdims", std::int64_t{1}}, {"noop_with_empty_axes", std::int64_t{1}}});
  }

  Builder& builder;
  Value* x;
  Value* gradient;  ///< of the result, with extent 1 along the reduced axes
  Value* y;         ///< the result, likewise

 private:
  Value* kept(Value* value) const { return value->dims() == kept_dims_ ? value : builder.reshape(value, kept_dims_); }

  Dims dims_, kept_dims_;
  std::vector<std::int64_t> axes_;
  std::int64_t count_ = 1;
};

void reduce_sum_gradient(GradientContext& context) {
  const Reduction reduction(context);
  context.set(0, reduction.spread(reduction.gradient));
}

void reduce_mean_gradient(GradientContext& context) {
  const Reduction reduction(context);
  context.set(0, reduction.spread(scaled(reduction.builder, reduction.gradient, 1 / reduction.count())));
}

/// ReduceMax and ReduceMin: equal shares for all elements that attain the extremum, as PyTorch's amax.
void reduce_extremum_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Builder& builder = reduction.builder;
  Value* attained = builder.cast(builder.emit("Equal", {reduction.x, reduction.y}), reduction.x->dtype());
  Value* share = builder.div(reduction.gradient, reduction.reduce("ReduceSum", attained));
  context.set(0, builder.mul(attained, share));
}

/// dX = dY times the product of the OTHER elements: of all without a zero among them, of the rest for a single zero.
void reduce_product_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Builder& builder = reduction.builder;
  Value* x = reduction.x;
  Value* is_zero = equal(builder, x, 0);
  Value* zeros = reduction.reduce("ReduceSum", builder.cast(is_zero, x->dtype()));
  Value* nonzero = where(builder, is_zero, builder.scalar_like(1, x), x);
  Value* product = reduction.reduce("ReduceProd", nonzero);
  Value* weighted = builder.mul(reduction.gradient, product);
  Value* for_zero = keep_where(builder, equal(builder, zeros, 1), weighted);
  Value* for_others = builder.div(keep_where(builder, equal(builder, zeros, 0), weighted), nonzero);
  context.set(0, where(builder, is_zero, for_zero, for_others));
}

void reduce_l1_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Builder& builder = reduction.builder;
  context.set(0, builder.mul(reduction.gradient, builder.emit("Sign", {reduction.x})));
}

/// dX = dY * x / y, and 0 where the norm y is 0.
void reduce_l2_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Builder& builder = reduction.builder;
  Value* quotient = builder.div(reduction.gradient, reduction.y);
  Value* factor = drop_where(builder, equal(builder, reduction.y, 0), quotient);
  context.set(0, builder.mul(factor, reduction.x));
}

void reduce_log_sum_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Value* sum = reduction.reduce("ReduceSum", reduction.x);
  context.set(0, reduction.spread(reduction.builder.div(reduction.gradient, sum)));
}

void reduce_log_sum_exp_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Builder& builder = reduction.builder;
  Value* weights = builder.emit("Exp", {builder.sub(reduction.x, reduction.y)});
  context.set(0, builder.mul(reduction.gradient, weights));
}

void reduce_sum_square_gradient(GradientContext& context) {
  const Reduction reduction(context);
  Builder& builder = reduction.builder;
  context.set(0, builder.mul(scaled(builder, reduction.gradient, 2), reduction.x));
}

/// Element i adds to every sum after it, so its gradient is the running sum from the other end.
void cumulative_sum_gradient(GradientContext& context) {
  const graph::Node& node = context.node();
  const std::int64_t reverse = node.integer("reverse", 0) == 0 ? 1 : 0;
  context.set(0, context.builder().emit("CumSum", {context.output_gradient(), context.input(1)},
                                        {{"exclusive", node.integer("exclusive", 0)}, {"reverse", reverse}}));
}

const GradientRegistration sum_rule("ReduceSum", reduce_sum_gradient);
const GradientRegistration mean_rule("ReduceMean", reduce_mean_gradient);
const GradientRegistration max_rule("ReduceMax", reduce_extremum_gradient);
const GradientRegistration min_rule("ReduceMin", reduce_extremum_gradient);
const GradientRegistration product_rule("ReduceProd", reduce_product_gradient);
const GradientRegistration l1_rule("ReduceL1", reduce_l1_gradient);
const GradientRegistration l2_rule("ReduceL2", reduce_l2_gradient);
const GradientRegistration log_sum_rule("ReduceLogSum", reduce_log_sum_gradient);
const GradientRegistration log_sum_exp_rule("ReduceLogSumExp", reduce_log_sum_exp_gradient);
const GradientRegistration sum_square_rule("ReduceSumSquare", reduce_sum_square_gradient);
const GradientRegistration cumulative_sum_rule("CumSum", cumulative_sum_gradient);

}  // namespace
}  // namespace ort_train::passes
