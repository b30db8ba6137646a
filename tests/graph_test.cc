#include "graph/graph.h"

#include "graph/builder.h"
#include "graph/onnx_io.h"
#include "graph/verifier.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::graph;
using namespace ort_train::test;

namespace {

Type floats(const Dims& dims) { return Type(DataType::float32, dims); }

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) names.push_back(node->op_type());
  return names;
}

using Names = std::vector<std::string>;

/// x -> Relu -> a -> Neg -> b; w is state that b updates.
struct Chain {
  Graph graph;
  Value* x = graph.add_input("x", floats({2}));
  Value* w = graph.add_initializer("w", Role::parameter, Tensor::of<float>({2}, {1, 2}), true);
  Node* relu = graph.add_node("Relu", "", {x}, {"a"});
  Value* a = relu->output();
  Node* neg = graph.add_node("Neg", "", {a}, {"b"});
  Value* b = neg->output();

  Chain() {
    graph.opsets[""] = 21;
    a->set_type(floats({2}));
    b->set_type(floats({2}));
  }
};

}  // namespace

TEST_CASE("use lists follow the inputs of nodes") {
  Chain chain;
  REQUIRE(chain.a->uses().size() == 1);
  CHECK(chain.a->uses()[0].node == chain.neg);
  CHECK(chain.a->uses()[0].index == 0);
  CHECK(chain.a->producer() == chain.relu);

  Node* add = chain.graph.add_node("Add", "", {chain.a, chain.a}, {"c"});
  CHECK(chain.a->uses().size() == 3);
  add->set_input(1, chain.b);
  CHECK(chain.a->uses().size() == 2);
  CHECK(chain.b->uses()[0].index == 1);
  add->resize_inputs(1);
  CHECK(chain.b->uses().empty());
  add->resize_inputs(3);
  CHECK(add->input(2) == nullptr);
  CHECK(add->input(7) == nullptr);
  chain.graph.remove(add);
  CHECK(chain.a->uses().size() == 1);
  CHECK(chain.graph.find("c") == nullptr);
}

TEST_CASE("replacing uses reaches nodes, outputs and updates, or nodes alone") {
  Chain chain;
  chain.graph.add_output(chain.a);
  chain.graph.add_update(chain.w, chain.a);
  chain.graph.replace_node_uses(chain.a, chain.x);
  CHECK(chain.neg->input(0) == chain.x);
  CHECK(chain.graph.outputs()[0] == chain.a);
  chain.graph.replace_uses(chain.a, chain.b);
  CHECK(chain.graph.outputs()[0] == chain.b);
  CHECK(chain.graph.updates()[0].next == chain.b);
  CHECK(chain.a->uses().empty());
}

TEST_CASE("names are unique, and a free one can be asked for") {
  Chain chain;
  CHECK(chain.graph.unique_name("new") == "new");
  CHECK(chain.graph.unique_name("a") == "a.1");
  chain.graph.add_input("a.2", floats({}));
  CHECK(chain.graph.unique_name("a") == "a.3");
  CHECK_ERROR(chain.graph.add_input("a", floats({})), "the name 'a' stands for two values");
  CHECK_ERROR(chain.graph.rename(chain.a, "x"), "the name 'x' is taken");
  chain.graph.rename(chain.a, "hidden");
  CHECK(chain.graph.find("a") == nullptr);
  CHECK(chain.graph.at("hidden") == chain.a);
  CHECK_ERROR(chain.graph.at("a"), "has no value named 'a'");
  CHECK_ERROR(chain.graph.add_input("", floats({})), "has no name");
}

TEST_CASE("what a node, an output or an update uses cannot be removed") {
  Chain chain;
  CHECK_ERROR(chain.graph.remove(chain.relu), "Relu 'a': its output 'a' is still in use");
  CHECK_ERROR(chain.graph.remove(chain.x), "'x' is still in use");
  chain.graph.add_output(chain.b);
  CHECK_ERROR(chain.graph.remove(chain.neg), "'b' is still in use");
  CHECK_ERROR(chain.neg->drop_output(0), "cannot be dropped");
  chain.graph.set_outputs({});
  chain.graph.add_update(chain.w, chain.b);
  CHECK_ERROR(chain.graph.remove(chain.neg), "'b' is still in use");
  CHECK_ERROR(chain.neg->drop_output(0), "cannot be dropped");
  CHECK_ERROR(chain.graph.remove(chain.w), "'w' is still in use");
  chain.graph.clear_updates();
  chain.graph.remove(chain.neg);
  chain.graph.remove(chain.relu);
  chain.graph.remove(chain.x);
  chain.graph.remove(chain.w);
  CHECK(chain.graph.nodes().empty());
  CHECK(chain.graph.inputs().empty());
  CHECK(chain.graph.initializers().empty());
}

TEST_CASE("outputs can be added to a node and left out") {
  Chain chain;
  Node* split = chain.graph.add_node("Split", "", {chain.a}, {"p", "", "q"});
  CHECK(split->output(1) == nullptr);
  CHECK(split->output(2)->output_index() == 2);
  CHECK(split->add_output("p", floats({1}))->name() == "p.1");
  split->drop_output(3);
  split->drop_output(2);
  CHECK(split->outputs().size() == 1);
}

TEST_CASE("a refused node leaves the graph as it was") {
  Chain chain;
  Graph other;
  Value* foreign = other.add_input("foreign", floats({2}));
  CHECK_ERROR(chain.graph.add_node("Add", "", {chain.x, foreign}, {"c"}), "'foreign' belongs to another graph");
  CHECK_ERROR(chain.graph.add_node("Split", "", {chain.x}, {"c", "a"}), "'a' stands for two values");
  CHECK_ERROR(chain.graph.add_node("Split", "", {chain.x}, {"c", "c"}), "'c' stands for two values");
  CHECK_ERROR(chain.graph.add_output(foreign), "belongs to another graph");
  CHECK(chain.graph.find("c") == nullptr);
  CHECK(chain.x->uses().size() == 1);
  CHECK(chain.graph.nodes().size() == 2);
}

TEST_CASE("a clone is equal, and independent") {
  Chain chain;
  chain.graph.add_output(chain.b);
  chain.graph.add_update(chain.w, chain.b);
  chain.graph.metadata.properties["key"] = "value";
  chain.relu->set("note", std::string("kept"));
  const auto copy = chain.graph.clone();
  CHECK(serialize_model(*copy) == serialize_model(chain.graph));
  CHECK(copy->at("w")->trainable());
  CHECK(copy->at("w")->initial().raw() == chain.w->initial().raw());
  CHECK(copy->updates()[0].state == copy->at("w"));
  CHECK(copy->at("b")->uses().empty());
  CHECK(copy->at("a")->uses()[0].node == copy->at("b")->producer());

  copy->at("w")->set_initial(Tensor::of<float>({2}, {7, 8}));
  copy->rename(copy->at("a"), "hidden");
  copy->clear_updates();
  CHECK(chain.w->initial().values<float>()[0] == 1);
  CHECK(chain.graph.at("a") == chain.a);
  CHECK(chain.graph.updates().size() == 1);
}

TEST_CASE("nodes move, and sorting restores a topological order") {
  Chain chain;
  Node* abs = chain.graph.add_node("Abs", "", {chain.x}, {"c"});
  chain.graph.move_before(abs, chain.relu);
  CHECK(names_of(chain.graph) == Names{"Abs", "Relu", "Neg"});
  chain.graph.sort();
  CHECK(names_of(chain.graph) == Names{"Abs", "Relu", "Neg"});
  chain.graph.move_before(chain.neg, abs);
  chain.graph.sort();
  CHECK(names_of(chain.graph) == Names{"Abs", "Relu", "Neg"});
  Node* exp = chain.graph.add_node("Exp", "", {chain.x}, {"d"}, {}, "", chain.neg);
  CHECK(names_of(chain.graph) == Names{"Abs", "Relu", "Exp", "Neg"});
  chain.graph.remove(exp);
  CHECK(chain.graph.node_list() == std::vector<Node*>{abs, chain.relu, chain.neg});
}

TEST_CASE("a cycle is an error that names a node, and the graph keeps its nodes") {
  Chain chain;
  chain.graph.add_node("Abs", "", {chain.x}, {"c"});
  chain.relu->set_input(0, chain.b);
  CHECK_ERROR(chain.graph.sort(), "has a cycle through Relu 'a'");
  CHECK(chain.graph.nodes().size() == 3);
  chain.relu->set_input(0, chain.x);
  chain.graph.sort();
  CHECK(names_of(chain.graph) == Names{"Abs", "Relu", "Neg"});
}

TEST_CASE("only floating-point parameters are ever trained") {
  Graph graph;
  Value* mean = graph.add_initializer("mean", Role::running_statistic, Tensor::of<float>({1}, {0}));
  Value* index = graph.add_initializer("index", Role::parameter, Tensor::of<std::int64_t>({1}, {0}));
  Value* weight = graph.add_initializer("weight", Role::parameter, Tensor::of<float>({1}, {0}));
  Value* input = graph.add_input("x", floats({1}));
  CHECK_ERROR(mean->set_trainable(true), "'mean' cannot be trained: its role is running statistic");
  CHECK_ERROR(mean->set_role(Role::parameter), "'mean' is a running statistic and cannot become a parameter");
  CHECK_ERROR(input->set_trainable(true), "'x' cannot be trained: its role is input");
  CHECK_ERROR(index->set_trainable(true), "'index' cannot be trained: it holds int64");
  weight->set_trainable(true);
  CHECK(graph.trainable_parameters() == std::vector<Value*>{weight});
  weight->set_role(Role::constant);
  CHECK_FALSE(weight->trainable());
  weight->set_role(Role::parameter);
  CHECK_FALSE(weight->trainable());
}

TEST_CASE("stored elements fit the type of their value") {
  Graph graph;
  CHECK_ERROR(graph.add_initializer("v", Role::intermediate, Tensor::scalar(1.0F)), "cannot have stored elements");
  Value* weight = graph.add_initializer("weight", Role::parameter, Tensor::of<float>({2}, {1, 2}));
  CHECK_ERROR(weight->set_initial(Tensor::of<double>({2}, {1, 2})),
              "'weight' is float32[2] and cannot hold float64[2]");
  CHECK_ERROR(weight->set_initial(Tensor::of<float>({1, 2}, {1, 2})), "cannot hold float32[1,2]");
  CHECK(graph.add_constant("weight", Tensor::scalar(1.0F))->name() == "weight.1");
  CHECK_ERROR(graph.convert_input_to_initializer(weight, Role::constant, Tensor::scalar(1.0F)), "is no input");

  Value* input = graph.add_input("x", Type(DataType::float32));
  Node* node = graph.add_node("Relu", "", {input}, {"y"});
  graph.convert_input_to_initializer(input, Role::constant, Tensor::of<float>({3}, {1, 2, 3}));
  CHECK(graph.inputs().empty());
  CHECK(input->is_constant());
  CHECK(to_string(input->type()) == "float32[3]");
  CHECK(node->input(0) == input);
}

TEST_CASE("updates fit their state") {
  Chain chain;
  Value* constant = chain.graph.add_constant("one", Tensor::of<float>({2}, {1, 1}));
  CHECK_ERROR(chain.graph.add_update(constant, chain.b), "'one' is no state");
  CHECK_ERROR(chain.graph.add_update(chain.x, chain.b), "'x' is no state");
  chain.b->set_type(floats({3}));
  CHECK_ERROR(chain.graph.add_update(chain.w, chain.b), "'w' is float32[2] and cannot take float32[3]");
}

TEST_CASE("attributes have fallbacks, and a wrong type names the node") {
  Graph graph;
  Node* node = graph.add_node(
      "Thing", "ai.example", {}, {"y"},
      {{"i", std::int64_t{3}}, {"f", 0.5F}, {"s", std::string("text")}, {"l", std::vector<std::int64_t>{1, 2}}});
  CHECK(node->integer("i", 0) == 3);
  CHECK(node->integer("absent", 7) == 7);
  CHECK(node->real("f", 0) == 0.5F);
  CHECK(node->string("s", "") == "text");
  CHECK(node->integers("l") == std::vector<std::int64_t>{1, 2});
  CHECK_ERROR(node->integer("f", 0), "Thing 'y' (ai.example): the attribute 'f' should be an integer");
  CHECK_ERROR(node->real("i", 0), "should be a number");
  CHECK_ERROR(node->string("i", ""), "should be a string");
  CHECK_ERROR(node->integers("i"), "should be a list of integers");
  node->erase("i");
  CHECK_FALSE(node->has("i"));
  CHECK(graph.add_node("Relu", "ai.onnx", {}, {"z"})->is("Relu"));
  node->rename_operator("Other", "");
  CHECK(node->is("Other"));
  CHECK_FALSE(node->is("Other", "ai.example"));
}

TEST_CASE("types print and answer as messages need them") {
  Graph graph;
  Value* image = graph.add_input("image", Type(DataType::float32, Shape{std::string("N"), 3, Dimension()}));
  CHECK(to_string(image->type()) == "float32[N,3,?]");
  CHECK_ERROR(image->dims(), "the shape of 'image' is not known in numbers: float32[N,3,?]");
  CHECK(image->rank() == 3);
  Value* unknown = graph.add_input("unknown", Type(DataType::int64));
  CHECK(to_string(unknown->type()) == "int64[...]");
  CHECK_ERROR(unknown->rank(), "the rank of 'unknown' is not known");
  CHECK(to_string(floats({})) == "float32[]");
}

TEST_CASE("the builder adds nodes with their types, in front of a node and under a prefix") {
  Chain chain;
  Builder builder(chain.graph, "grad.", chain.neg);
  Value* sum = builder.add(chain.a, builder.scalar_like(2, chain.a));
  CHECK(sum->name() == "grad.Add");
  CHECK(builder.add(sum, sum)->name() == "grad.Add.1");
  CHECK(names_of(chain.graph) == Names{"Relu", "Add", "Add", "Neg"});
  CHECK(to_string(sum->type()) == "float32[2]");
  builder.set_insertion_point(nullptr);
  builder.set_prefix("end.");
  const std::vector<Value*> parts = builder.emit_many("Split", {sum}, 2, {{"num_outputs", std::int64_t{2}}});
  CHECK(parts[1]->name() == "end.Split_1");
  CHECK(to_string(parts[1]->type()) == "float32[1]");
  CHECK(to_string(builder.reshape(sum, {1, 2})->type()) == "float32[1,2]");
  CHECK(to_string(builder.transpose(builder.reshape(sum, {1, 2}), {1, 0})->type()) == "float32[2,1]");
  CHECK(to_string(builder.reduce_sum(sum, {0}, true)->type()) == "float32[1]");
  CHECK(to_string(builder.reduce_sum(sum, {0}, false)->type()) == "float32[]");
  CHECK(to_string(builder.expand(sum, {3, 2})->type()) == "float32[3,2]");
  CHECK(to_string(builder.unsqueeze(sum, {0})->type()) == "float32[1,2]");
  CHECK(to_string(builder.cast(sum, DataType::int64)->type()) == "int64[2]");
  CHECK(builder.cast(sum, DataType::float32) == sum);
  CHECK(to_string(builder.filled_like(0, sum)->type()) == "float32[2]");
  CHECK(builder.scalar(2.5, DataType::float64)->initial().values<double>()[0] == 2.5);
  CHECK_ERROR(builder.add(sum, builder.int64s({1})), "Add 'end.Add': its inputs do not fit (float32[2], int64[1])");

  CHECK(builder.emit_training("ReluGrad", {sum, sum})->producer()->domain() == training_domain);
  CHECK(chain.graph.opset(training_domain) == 1);
}
