#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "onnx/defs/schema.h"

// How operators of the training domain are declared, and the families that they are declared in. Only graph/ sees this.
namespace ort_train::graph {

/// A schema of the training domain, with T for the floating-point operands and L for class labels.
class TrainingSchema {
 public:
  TrainingSchema(const std::string& name, const std::string& documentation) : schema_(name, __FILE__, __LINE__) {
    schema_.SetDomain(std::string(training_domain)).SinceVersion(1).SetDoc(documentation);
    schema_.TypeConstraint("T", floating_types(), "floating point");
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
    schema_.TypeConstraint("L", label_types(), "class labels");
    return in("labels", "L");
  }
  TrainingSchema& indices() {
    schema_.TypeConstraint("I", label_types(), "indices");
    return in("indices", "I");
  }
  /// Input X: pixels as the data hold them.
  TrainingSchema& pixels() {
    schema_.TypeConstraint("P", {"tensor(uint8)", "tensor(float)"}, "bytes or float32");
    return in("X", "P");
  }
  TrainingSchema& any_type(const std::string& variable) {
    schema_.TypeConstraint(variable, onnx::OpSchema::all_tensor_types(), "any type");
    return *this;
  }
  TrainingSchema& integer(const std::string& name, std::int64_t fallback) {
    schema_.Attr(name, "", onnx::AttributeProto::INT, fallback);
    return *this;
  }
  TrainingSchema& optional_integer(const std::string& name) {
    schema_.Attr(name, "", onnx::AttributeProto::INT, false);
    return *this;
  }
  TrainingSchema& real(const std::string& name, float fallback) {
    schema_.Attr(name, "", onnx::AttributeProto::FLOAT, fallback);
    return *this;
  }
  TrainingSchema& string(const std::string& name, const std::string& fallback) {
    schema_.Attr(name, "", onnx::AttributeProto::STRING, fallback);
    return *this;
  }
  TrainingSchema& required_integer(const std::string& name) {
    schema_.Attr(name, "", onnx::AttributeProto::INT, true);
    return *this;
  }
  /// One or more operands and as many results.
  TrainingSchema& variadic(const std::string& input, const std::string& output, const std::string& type = "T") {
    schema_.Input(inputs_++, input, "", type, onnx::OpSchema::Variadic);
    schema_.Output(outputs_++, output, "", type, onnx::OpSchema::Variadic);
    return *this;
  }
  /// "S": what replicas add up.
  TrainingSchema& sums() {
    std::vector<std::string> types = floating_types();
    for (const std::string& type : label_types()) types.push_back(type);
    schema_.TypeConstraint("S", types, "floating point and signed integers");
    return *this;
  }
  TrainingSchema& integers(const std::string& name, bool required) {
    schema_.Attr(name, "", onnx::AttributeProto::INTS, required);
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
  static std::vector<std::string> floating_types() {
    return {"tensor(float)", "tensor(double)", "tensor(float16)", "tensor(bfloat16)"};
  }
  static std::vector<std::string> label_types() { return {"tensor(int64)", "tensor(int32)"}; }

  TrainingSchema& input(const std::string& name, const std::string& type, bool required) {
    const auto option = required ? onnx::OpSchema::Single : onnx::OpSchema::Optional;
    schema_.Input(inputs_++, name, "", type, option);
    return *this;
  }
  TrainingSchema& output(const std::string& name, const std::string& type, bool required) {
    const auto option = required ? onnx::OpSchema::Single : onnx::OpSchema::Optional;
    schema_.Output(outputs_++, name, "", type, option);
    return *this;
  }

  onnx::OpSchema schema_;
  int inputs_ = 0;
  int outputs_ = 0;
};

void register_convolution_schemas();
void register_normalization_schemas();
void register_activation_schemas();
void register_random_schemas();
void register_loss_and_metric_schemas();
void register_collective_schemas();
void register_optimizer_schemas();
void register_indexing_schemas();
void register_image_schemas();

}  // namespace ort_train::graph
