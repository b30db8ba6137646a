#include "graph/training_schemas.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "onnx/defs/schema.h"
#include "onnx/defs/shape_inference.h"

namespace ort_train::graph {

namespace {

using onnx::AttributeProto;
using onnx::InferenceContext;
using onnx::OpSchema;

const std::vector<std::string> floating_types = {"tensor(float)", "tensor(double)", "tensor(float16)",
                                                 "tensor(bfloat16)"};
const std::vector<std::string> label_types = {"tensor(int64)", "tensor(int32)"};

// --- what the outputs look like, in terms of the inputs

// The type of an input is missing when it is the output of an operator that nobody knows.

void same_as_input(InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  *context.getOutputType(output) = *context.getInputType(input);
}

void element_type_of_input(InferenceContext& context, std::size_t input, std::size_t output) {
  context.getOutputType(output)->mutable_tensor_type()->set_elem_type(
      context.getInputType(input)->tensor_type().elem_type());
}

void scalar_like_input(InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  element_type_of_input(context, input, output);
  context.getOutputType(output)->mutable_tensor_type()->mutable_shape()->clear_dim();
}

/// The extents stand in an attribute, the element type is that of input 0.
void shape_from_attribute(InferenceContext& context, const std::string& attribute, std::size_t output) {
  const AttributeProto* extents = context.getAttribute(attribute);
  if (!context.hasInput(0) || extents == nullptr) return;
  element_type_of_input(context, 0, output);
  auto* shape = context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
  for (const std::int64_t extent : extents->ints()) shape->add_dim()->set_dim_value(extent);
}

void infer_input_shape_attribute(InferenceContext& context) { shape_from_attribute(context, "input_shape", 0); }

void infer_conv_grad_weight(InferenceContext& context) {
  shape_from_attribute(context, "weight_shape", 0);
  if (context.getNumOutputs() < 2 || !onnx::hasNInputShapes(context, 1)) return;
  const auto& output_gradient = context.getInputType(0)->tensor_type().shape();
  if (output_gradient.dim_size() < 2) fail_shape_inference("dY has no channel axis");
  element_type_of_input(context, 0, 1);
  *context.getOutputType(1)->mutable_tensor_type()->mutable_shape()->add_dim() = output_gradient.dim(1);
}

void infer_same_as_first(InferenceContext& context) { same_as_input(context, 0, 0); }
void infer_same_as_second(InferenceContext& context) { same_as_input(context, 1, 0); }

void infer_batch_normalization_training(InferenceContext& context) {
  same_as_input(context, 0, 0);
  for (std::size_t output = 1; output < context.getNumOutputs(); ++output) same_as_input(context, 3, output);
}

void infer_normalization_grad(InferenceContext& context) {
  same_as_input(context, 1, 0);
  same_as_input(context, 2, 1);
  same_as_input(context, 2, 2);
}

void infer_training_dropout(InferenceContext& context) {
  same_as_input(context, 0, 0);
  if (context.getNumOutputs() < 2) return;
  same_as_input(context, 0, 1);
  context.getOutputType(1)->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
}

std::int64_t integer_of(InferenceContext& context, const std::string& attribute) {
  const AttributeProto* value = context.getAttribute(attribute);
  return value == nullptr ? 0 : value->i();
}

void infer_random_values(InferenceContext& context) {
  auto* type = context.getOutputType(0)->mutable_tensor_type();
  type->set_elem_type(static_cast<std::int32_t>(integer_of(context, "dtype")));
  if (context.hasInput(0)) {
    const auto& like = context.getInputType(0)->tensor_type();
    if (like.has_shape()) *type->mutable_shape() = like.shape();
    return;
  }
  type->mutable_shape()->clear_dim();
  const AttributeProto* shape = context.getAttribute("shape");
  if (shape == nullptr) return;
  for (const std::int64_t extent : shape->ints()) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

void infer_sum_and_count(InferenceContext& context) {
  scalar_like_input(context, 0, 0);
  scalar_like_input(context, 0, 1);
  same_as_input(context, 0, 2);
}

void infer_same_as_inputs(InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) same_as_input(context, output, output);
}

/// The elements of an input, cut into equal parts.
void part_of_input(InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  element_type_of_input(context, input, output);
  const auto& type = context.getInputType(input)->tensor_type();
  const std::int64_t parts = integer_of(context, "parts");
  if (parts < 1) fail_shape_inference("parts must be at least 1");
  auto* extent = context.getOutputType(output)->mutable_tensor_type()->mutable_shape()->add_dim();
  if (!type.has_shape()) return;
  std::int64_t count = 1;
  for (const auto& dim : type.shape().dim()) {
    if (!dim.has_dim_value()) return;
    count *= dim.dim_value();
  }
  extent->set_dim_value((count + parts - 1) / parts);
}

void infer_parts_of_inputs(InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) part_of_input(context, output, output);
}

/// The shapes of all outputs stand in two lists: how many extents each has, and the extents one after the other.
void infer_shape_list(InferenceContext& context) {
  const AttributeProto* ranks = context.getAttribute("ranks");
  const AttributeProto* extents = context.getAttribute("extents");
  if (ranks == nullptr) return;
  int next = 0;
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) {
    if (!context.hasInput(output) || static_cast<int>(output) >= ranks->ints_size()) return;
    element_type_of_input(context, output, output);
    auto* shape = context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
    for (std::int64_t axis = 0; axis < ranks->ints(static_cast<int>(output)); ++axis) {
      if (extents == nullptr || next >= extents->ints_size()) fail_shape_inference("'extents' is too short");
      shape->add_dim()->set_dim_value(extents->ints(next++));
    }
  }
}

void channels_of_input(InferenceContext& context, std::size_t input, std::size_t output) {
  if (output >= context.getNumOutputs() || !context.hasInput(input)) return;
  element_type_of_input(context, input, output);
  const auto& type = context.getInputType(input)->tensor_type();
  if (!type.has_shape()) return;
  if (type.shape().dim_size() < 2) fail_shape_inference("the input has no channel axis");
  *context.getOutputType(output)->mutable_tensor_type()->mutable_shape()->add_dim() = type.shape().dim(1);
}

void infer_channels(InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) channels_of_input(context, 0, output);
}

void infer_label_count(InferenceContext& context) {
  const AttributeProto* dtype = context.getAttribute("to");
  if (dtype == nullptr) return;
  auto* type = context.getOutputType(0)->mutable_tensor_type();
  type->set_elem_type(static_cast<std::int32_t>(dtype->i()));
  type->mutable_shape()->clear_dim();
}

void infer_sgd(InferenceContext& context) {
  same_as_input(context, 0, 0);
  same_as_input(context, 3, 1);
}

void infer_adam(InferenceContext& context) {
  same_as_input(context, 0, 0);
  same_as_input(context, 4, 1);
  same_as_input(context, 5, 2);
}

// --- declaring

/// A schema of the training domain, with T for the floating-point operands and L for class labels.
class TrainingSchema {
 public:
  TrainingSchema(const std::string& name, const std::string& documentation) : schema_(name, __FILE__, __LINE__) {
    schema_.SetDomain(std::string(training_domain)).SinceVersion(1).SetDoc(documentation);
    schema_.TypeConstraint("T", floating_types, "floating point");
  }
  TrainingSchema& in(const std::string& name, const std::string& type = "T") { return input(name, type, true); }
  TrainingSchema& optional_in(const std::string& name, const std::string& type = "T") {
    return input(name, type, false);
  }
  TrainingSchema& out(const std::string& name, const std::string& type = "T") { return output(name, type, true); }
  TrainingSchema& optional_out(const std::string& name, const std::string& type = "T") {
    return output(name, type, false);
  }
  TrainingSchema& labels() {
    schema_.TypeConstraint("L", label_types, "class labels");
    return in("labels", "L");
  }
  TrainingSchema& indices() {
    schema_.TypeConstraint("I", label_types, "indices");
    return in("indices", "I");
  }
  TrainingSchema& any_type(const std::string& variable) {
    schema_.TypeConstraint(variable, OpSchema::all_tensor_types(), "any type");
    return *this;
  }
  TrainingSchema& integer(const std::string& name, std::int64_t fallback) {
    schema_.Attr(name, "", AttributeProto::INT, fallback);
    return *this;
  }
  TrainingSchema& optional_integer(const std::string& name) {
    schema_.Attr(name, "", AttributeProto::INT, false);
    return *this;
  }
  TrainingSchema& real(const std::string& name, float fallback) {
    schema_.Attr(name, "", AttributeProto::FLOAT, fallback);
    return *this;
  }
  TrainingSchema& string(const std::string& name, const std::string& fallback) {
    schema_.Attr(name, "", AttributeProto::STRING, fallback);
    return *this;
  }
  TrainingSchema& required_integer(const std::string& name) {
    schema_.Attr(name, "", AttributeProto::INT, true);
    return *this;
  }
  /// One or more operands and as many results.
  TrainingSchema& variadic(const std::string& input, const std::string& output) {
    schema_.Input(inputs_++, input, "", "T", OpSchema::Variadic);
    schema_.Output(outputs_++, output, "", "T", OpSchema::Variadic);
    return *this;
  }
  TrainingSchema& integers(const std::string& name, bool required) {
    schema_.Attr(name, "", AttributeProto::INTS, required);
    return *this;
  }
  TrainingSchema& window() {
    integers("kernel_shape", true).integers("strides", false).integers("pads", false);
    return integers("dilations", false).string("auto_pad", "NOTSET");
  }
  void infer(onnx::InferenceFunction function) {
    schema_.TypeAndShapeInferenceFunction(std::move(function));
    onnx::RegisterSchema(std::move(schema_));
  }

 private:
  TrainingSchema& input(const std::string& name, const std::string& type, bool required) {
    const auto option = required ? OpSchema::Single : OpSchema::Optional;
    schema_.Input(inputs_++, name, "", type, option);
    return *this;
  }
  TrainingSchema& output(const std::string& name, const std::string& type, bool required) {
    const auto option = required ? OpSchema::Single : OpSchema::Optional;
    schema_.Output(outputs_++, name, "", type, option);
    return *this;
  }

  OpSchema schema_;
  int inputs_ = 0;
  int outputs_ = 0;
};

void register_convolution() {
  TrainingSchema("ConvGradInput", "Gradient of Conv for its input; also the forward of ConvTranspose.")
      .in("dY")
      .in("W")
      .out("dX")
      .window()
      .integer("group", 1)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
  TrainingSchema("ConvGradWeight", "Gradient of Conv for its weight and, optionally, its bias.")
      .in("dY")
      .in("X")
      .out("dW")
      .optional_out("dB")
      .window()
      .integer("group", 1)
      .integers("weight_shape", true)
      .infer(infer_conv_grad_weight);
}

void register_pooling() {
  TrainingSchema("MaxPoolGrad", "Gradient of MaxPool; it goes to the first maximum of each window.")
      .in("dY")
      .in("X")
      .in("Y")
      .out("dX")
      .window()
      .integer("ceil_mode", 0)
      .integer("storage_order", 0)
      .infer(infer_same_as_second);
  TrainingSchema("AveragePoolGrad", "Gradient of AveragePool.")
      .in("dY")
      .out("dX")
      .window()
      .integer("ceil_mode", 0)
      .integer("count_include_pad", 0)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
}

void register_normalization() {
  TrainingSchema("BatchNormalizationTraining",
                 "BatchNormalization by batch statistics (population variance), which are also outputs. With "
                 "activation Relu, Y is max(0, y).")
      .in("X")
      .in("scale")
      .in("B")
      .in("running_mean")
      .in("running_var")
      .out("Y")
      .optional_out("new_running_mean")
      .optional_out("new_running_var")
      .optional_out("batch_mean")
      .optional_out("batch_var")
      .real("epsilon", 1e-5F)
      .real("momentum", 0.9F)
      .string("activation", "")
      .infer(infer_batch_normalization_training);
  TrainingSchema("BatchNormalizationGrad",
                 "Gradient of BatchNormalizationTraining. With activation Relu, dY counts only where Y > 0.")
      .in("dY")
      .in("X")
      .in("scale")
      .in("batch_mean")
      .in("batch_var")
      .optional_in("Y")
      .out("dX")
      .optional_out("dScale")
      .optional_out("dB")
      .real("epsilon", 1e-5F)
      .string("activation", "")
      .infer(infer_normalization_grad);
  TrainingSchema("ChannelSum", "Sum over every axis but the channel axis 1.").in("X").out("sum").infer(infer_channels);
  TrainingSchema("ChannelSquaredDeviation", "Sum of (X - mean)^2 over every axis but the channel axis 1.")
      .in("X")
      .in("mean")
      .out("sum")
      .infer(infer_channels);
  TrainingSchema("BatchNormalizationGradSums",
                 "Those parts of the gradient of BatchNormalizationTraining that are sums over the batch: with "
                 "x^ = (X - batch_mean) / sqrt(batch_var + epsilon), dScale = sum of dY x^ and dB = sum of dY. With "
                 "activation Relu, dY counts only where Y > 0.")
      .in("dY")
      .in("X")
      .in("batch_mean")
      .in("batch_var")
      .optional_in("Y")
      .out("dScale")
      .out("dB")
      .real("epsilon", 1e-5F)
      .string("activation", "")
      .infer(infer_channels);
  TrainingSchema(
      "BatchNormalizationGradInput",
      "Gradient of BatchNormalizationTraining for X, from the sums over the batch: dX = scale / "
      "sqrt(batch_var + epsilon) (dY - dB / count - x^ dScale / count), where count is the number of elements "
      "a channel of the batch. With activation Relu, dY counts only where Y > 0.")
      .in("dY")
      .in("X")
      .in("scale")
      .in("batch_mean")
      .in("batch_var")
      .in("dScale")
      .in("dB")
      .optional_in("Y")
      .out("dX")
      .real("epsilon", 1e-5F)
      .required_integer("count")
      .string("activation", "")
      .infer(infer_same_as_second);
  TrainingSchema("LayerNormalizationGrad", "Gradient of LayerNormalization.")
      .in("dY")
      .in("X")
      .in("scale")
      .in("mean")
      .in("inv_std_dev")
      .out("dX")
      .optional_out("dScale")
      .optional_out("dB")
      .integer("axis", -1)
      .infer(infer_normalization_grad);
  TrainingSchema("InstanceNormalizationGrad", "Gradient of InstanceNormalization.")
      .in("dY")
      .in("X")
      .in("scale")
      .out("dX")
      .optional_out("dScale")
      .optional_out("dB")
      .real("epsilon", 1e-5F)
      .infer(infer_normalization_grad);
  TrainingSchema("LRNGrad", "Gradient of LRN.")
      .in("dY")
      .in("X")
      .in("Y")
      .out("dX")
      .real("alpha", 0.0001F)
      .real("beta", 0.75F)
      .real("bias", 1.0F)
      .integer("size", 1)
      .infer(infer_same_as_second);
}

void register_activations() {
  for (const char* name : {"ReluGrad", "SigmoidGrad", "TanhGrad"}) {
    TrainingSchema(name, "Gradient in terms of the output Y.").in("dY").in("Y").out("dX").infer(infer_same_as_first);
  }
  for (const char* name : {"SoftmaxGrad", "LogSoftmaxGrad"}) {
    TrainingSchema(name, "Gradient in terms of the output Y.")
        .in("dY")
        .in("Y")
        .out("dX")
        .integer("axis", -1)
        .infer(infer_same_as_first);
  }
  TrainingSchema(
      "TrainingDropout",
      "Dropout whose mask is a function of (seed, stream, step, row, element), so that it does not depend on how "
      "the batch is split. Rows are counted along axis 0 from first_sample. Where the batch lies along another "
      "axis, `split_axis` names it, `split_extent` is its extent before the batch was split, and first_sample "
      "is the place of its first index there.")
      .in("X")
      .in("step", "tensor(int64)")
      .in("first_sample", "tensor(int64)")
      .out("Y")
      .optional_out("mask", "tensor(bool)")
      .real("ratio", 0.5F)
      .integer("seed", 0)
      .integer("stream", 0)
      .integer("split_axis", 0)
      .integer("split_extent", 0)
      .infer(infer_training_dropout);
  TrainingSchema("DropoutGrad", "Gradient of TrainingDropout.")
      .in("dY")
      .in("mask", "tensor(bool)")
      .out("dX")
      .real("ratio", 0.5F)
      .infer(infer_same_as_first);
}

void register_random_values() {
  TrainingSchema("RandomValues",
                 "Random numbers, each a function of (seed, stream, step, row, element); rows, split_axis and "
                 "split_extent as in TrainingDropout. The extents are those of X, whose elements are not read, or, "
                 "without X, `shape`. Distributions: uniform (from low to high), normal (mean, scale), gumbel.")
      .optional_in("X", "A")
      .any_type("A")
      .in("step", "tensor(int64)")
      .in("first_sample", "tensor(int64)")
      .out("Y")
      .string("distribution", "uniform")
      .required_integer("dtype")
      .integers("shape", false)
      .real("mean", 0)
      .real("scale", 1)
      .real("low", 0)
      .real("high", 1)
      .integer("seed", 0)
      .integer("stream", 0)
      .integer("split_axis", 0)
      .integer("split_extent", 0)
      .infer(infer_random_values);
}

void register_losses() {
  TrainingSchema("SoftmaxCrossEntropy", "Sum over labelled elements of -log softmax(scores)[label], class axis 1.")
      .in("scores")
      .labels()
      .out("sum")
      .optional_out("count")
      .optional_out("log_probabilities")
      .optional_integer("ignore_index")
      .infer(infer_sum_and_count);
  TrainingSchema("SoftmaxCrossEntropyGrad", "Gradient of SoftmaxCrossEntropy's sum for the scores.")
      .in("dSum")
      .in("log_probabilities")
      .labels()
      .out("dScores")
      .optional_integer("ignore_index")
      .infer(infer_same_as_second);
  TrainingSchema("NegativeLogLikelihood", "Sum over labelled elements of -log_probabilities[label], class axis 1.")
      .in("log_probabilities")
      .labels()
      .out("sum")
      .optional_out("count")
      .optional_integer("ignore_index")
      .infer(infer_sum_and_count);
  TrainingSchema("NegativeLogLikelihoodGrad", "Gradient of NegativeLogLikelihood's sum.")
      .in("dSum")
      .in("log_probabilities")
      .labels()
      .out("dX")
      .optional_integer("ignore_index")
      .infer(infer_same_as_second);
  for (const char* name : {"BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "SquaredError", "AbsoluteError"}) {
    TrainingSchema(name, "Sum and number of the elementwise losses.")
        .in("predictions")
        .in("targets")
        .out("sum")
        .optional_out("count")
        .infer(infer_sum_and_count);
    TrainingSchema(std::string(name) + "Grad", "Gradient of the sum for the predictions.")
        .in("dSum")
        .in("predictions")
        .in("targets")
        .out("dX")
        .infer(infer_same_as_second);
  }
}

// `ready`, `needed` and `readers` are for the passes that join or replace collectives, and the same on every replica:
// the places, in the order of the undivided graph, of the node that gives the operand and of the first one that reads
// the result, and how many read it there.
void register_collectives() {
  TrainingSchema("AllReduce", "The sum of each operand over all replicas.")
      .variadic("operands", "sums")
      .optional_integer("ready")
      .optional_integer("needed")
      .optional_integer("readers")
      .infer(infer_same_as_inputs);
  TrainingSchema("ReduceScatter",
                 "Of the sum of each operand over all replicas, the part that belongs to this one: the elements in "
                 "row-major order, filled up with zeros, in `parts` equal parts.")
      .variadic("operands", "part_sums")
      .optional_integer("ready")
      .optional_integer("needed")
      .optional_integer("readers")
      .required_integer("parts")
      .infer(infer_parts_of_inputs);
  TrainingSchema(
      "AllGather",
      "Whole arrays from the parts that the replicas have, the inverse of FlatPart. `ranks` holds the number "
      "of extents of each array, `extents` all extents one after the other.")
      .variadic("parts", "wholes")
      .optional_integer("ready")
      .optional_integer("needed")
      .optional_integer("readers")
      .integers("ranks", true)
      .integers("extents", false)
      .infer(infer_shape_list);
  TrainingSchema("FlatPart", "Part `index` of the elements in row-major order, filled up with zeros, in equal parts.")
      .in("whole")
      .out("part")
      .required_integer("index")
      .required_integer("parts")
      .infer(infer_parts_of_inputs);
}

void register_metrics() {
  TrainingSchema("LabelCount", "Number of labels that count; `to` is the element type of the result.")
      .in("labels", "A")
      .out("count")
      .any_type("A")
      .optional_integer("ignore_index")
      .required_integer("to")
      .infer(infer_label_count);
  TrainingSchema("TopKCorrect", "Number of labels among the k best scores, and number of labels.")
      .in("scores")
      .labels()
      .out("sum")
      .out("count")
      .integer("k", 1)
      .optional_integer("ignore_index")
      .infer(infer_sum_and_count);
  TrainingSchema("ThresholdCorrect", "Number of predictions on the same side of the threshold as their target.")
      .in("predictions")
      .in("targets")
      .out("sum")
      .out("count")
      .real("threshold", 0.5F)
      .infer(infer_sum_and_count);
}

void register_optimizers() {
  TrainingSchema("SgdUpdate", "One step of stochastic gradient descent; the momentum buffer starts at zero.")
      .in("w")
      .in("g")
      .in("learning_rate", "tensor(float)")
      .optional_in("momentum_buffer")
      .out("new_w")
      .optional_out("new_momentum_buffer")
      .real("momentum", 0)
      .integer("nesterov", 0)
      .real("weight_decay", 0)
      .infer(infer_sgd);
  TrainingSchema("AdamUpdate",
                 "One step of Adam (Kingma and Ba 2015) or, decoupled, AdamW (Loshchilov and Hutter 2019).")
      .in("w")
      .in("g")
      .in("learning_rate", "tensor(float)")
      .in("step", "tensor(int64)")
      .in("m")
      .in("v")
      .out("new_w")
      .out("new_m")
      .out("new_v")
      .real("beta1", 0.9F)
      .real("beta2", 0.999F)
      .real("epsilon", 1e-8F)
      .real("weight_decay", 0)
      .integer("decoupled", 0)
      .infer(infer_adam);
}

void register_indexing() {
  TrainingSchema("GatherGrad", "Gradient of Gather: rows added up at their indices.")
      .in("dY")
      .indices()
      .out("dX")
      .integer("axis", 0)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
  TrainingSchema("SliceGrad", "Gradient of Slice: dY put into zeros.")
      .in("dY")
      .out("dX")
      .integers("input_shape", true)
      .integers("starts", true)
      .integers("ends", true)
      .integers("axes", true)
      .integers("steps", true)
      .infer(infer_input_shape_attribute);
  TrainingSchema("PadGrad", "Gradient of Pad for its data.")
      .in("dY")
      .out("dX")
      .string("mode", "constant")
      .integers("pads", true)
      .integers("input_shape", true)
      .infer(infer_input_shape_attribute);
}

}  // namespace

void register_training_schemas() {
  static std::once_flag once;
  std::call_once(once, [] {
    onnx::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion(std::string(training_domain), 1, 1);
    register_convolution();
    register_pooling();
    register_normalization();
    register_activations();
    register_random_values();
    register_losses();
    register_metrics();
    register_collectives();
    register_optimizers();
    register_indexing();
  });
}

std::vector<std::string> training_operators() {
  register_training_schemas();
  std::vector<std::string> names;
  for (const OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
    if (schema.domain() == training_domain) names.push_back(schema.Name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ort_train::graph
