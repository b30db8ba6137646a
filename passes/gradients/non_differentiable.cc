// Operators that no gradient passes: their results are integers, booleans or shapes, do not depend on the elements of
// their inputs, or are constant between jumps (there the derivative is 0, as in PyTorch).

#include "passes/gradients/gradient_rule.h"

namespace ort_train::passes {
namespace {

const NonDifferentiable shapes({"Shape", "Size", "NonZero", "Range", "ConstantOfShape", "EyeLike", "Constant"});

const NonDifferentiable comparisons({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsNaN", "IsInf"});

const NonDifferentiable logic({"And", "Or", "Xor", "Not", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot",
                               "BitShift", "BitCast"});

const NonDifferentiable choices({"ArgMax", "ArgMin", "Hardmax", "OneHot", "NonMaxSuppression"});

const NonDifferentiable steps({"Floor", "Ceil", "Round", "Sign"});

const NonDifferentiable random_numbers({"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
                                        "Bernoulli", "Multinomial"});

const NonDifferentiable random_values({"RandomValues"}, graph::training_domain);

const NonDifferentiable windows({"HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"});

const NonDifferentiable counts({"TopKCorrect", "ThresholdCorrect", "LabelCount"}, graph::training_domain);

}  // namespace
}  // namespace ort_train::passes
