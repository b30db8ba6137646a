#include "graph/onnx_io.h"

#include <functional>

#include "base/dispatch.h"
#include "base/file.h"
#include "graph/verifier.h"
#include "tests/data_support.h"
#include "tests/proto_writer.h"

using namespace ort_train;
using namespace ort_train::graph;
using namespace ort_train::test;

namespace {

constexpr const char* header = R"(<ir_version: 10, opset_import: ["" : 21]>)";

std::unique_ptr<Graph> parse(const std::string& body) { return parse_text(header + body); }

/// y = x + w, with w from `initializer`.
Proto adding(const Proto& initializer, const std::vector<std::int64_t>& dims = {2}) {
  return Proto()
      .message(1, node_proto("Add", {"x", "w"}, {"y"}))
      .message(5, initializer)
      .message(11, value_info("x", 1, dims))
      .message(12, value_info("y", 1, dims));
}

std::unique_ptr<Graph> load_with(const Proto& initializer) {
  return parse_model(model_proto(adding(initializer)).str(), ".", "some.onnx");
}

template <typename T>
std::vector<T> elements(const Value* value) {
  const auto values = value->initial().values<T>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("attributes of every kind survive a round trip") {
  Graph graph;
  graph.opsets = {{"", 21}, {"ai.example", 1}};
  Value* x = graph.add_input("x", Type(DataType::float32, Dims{2}));
  Node* node = graph.add_node("Thing", "ai.example", {x, nullptr, x}, {"", "y"},
                              {{"integer", std::int64_t{-5}},
                               {"real", 0.25F},
                               {"string", std::string("text with \0 and \n", 17)},
                               {"integers", std::vector<std::int64_t>{1, -2, std::int64_t{1} << 40}},
                               {"reals", std::vector<float>{1.5F, -2}},
                               {"strings", std::vector<std::string>{"a", ""}},
                               {"no_integers", std::vector<std::int64_t>{}},
                               {"tensor", Tensor::of<double>({2, 1}, {3, 4})}},
                              "the node");
  node->output(1)->set_type(Type(DataType::float32, Shape{std::string("N"), 2}));
  graph.add_output(node->output(1));

  const auto read = parse_model(serialize_model(graph));
  REQUIRE(read->nodes().size() == 1);
  const Node& copy = *read->nodes().front();
  CHECK(copy.name() == "the node");
  CHECK(copy.is("Thing", "ai.example"));
  CHECK(copy.input(1) == nullptr);
  CHECK(copy.input(2) == read->at("x"));
  CHECK(copy.output(0) == nullptr);
  CHECK(to_string(copy.output(1)->type()) == "float32[N,2]");
  CHECK(copy.attributes().size() == node->attributes().size());
  CHECK(copy.integer("integer", 0) == -5);
  CHECK(copy.real("real", 0) == 0.25F);
  CHECK(copy.string("string", "") == std::string("text with \0 and \n", 17));
  CHECK(copy.integers("integers") == node->integers("integers"));
  CHECK(std::get<std::vector<float>>(copy.attributes().at("reals")) == std::vector<float>{1.5F, -2});
  CHECK(std::get<std::vector<std::string>>(copy.attributes().at("strings")) == std::vector<std::string>{"a", ""});
  CHECK(copy.has("no_integers"));
  CHECK(copy.integers("no_integers", {1}).empty());
  CHECK(std::get<Tensor>(copy.attributes().at("tensor")).identical(Tensor::of<double>({2, 1}, {3, 4})));
}

TEST_CASE("subgraphs are carried through") {
  const auto graph = parse(R"(g (bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] a) { a = Relu (x) },
                  else_branch = e () => (float[2] b) { b = Neg (x) }>
    })");
  const Node& node = *graph->nodes().front();
  CHECK(std::holds_alternative<OpaqueAttribute>(node.attributes().at("then_branch")));
  CHECK(to_string(node.output()->type()) == "float32[2]");
  const auto read = parse_model(serialize_model(*graph));
  CHECK(read->nodes().front()->attributes().at("then_branch").index() == 7);
  CHECK(print_text(*read) == print_text(*graph));
}

TEST_CASE("initializers of every type survive a round trip") {
  const DataType types[] = {DataType::boolean, DataType::int8,    DataType::int16,   DataType::int32,
                            DataType::int64,   DataType::uint8,   DataType::uint16,  DataType::uint32,
                            DataType::uint64,  DataType::float16, DataType::float32, DataType::float64,
                            DataType::bfloat16};
  for (const DataType type : types) {
    CAPTURE(name_of(type));
    for (const Dims& dims : {Dims{}, Dims{3}, Dims{2, 2}, Dims{0, 2}}) {
      Tensor numbers(DataType::int64, dims);
      for (std::int64_t i = 0; i < numbers.size(); ++i) numbers.data<std::int64_t>()[i] = i;
      Graph graph;
      graph.opsets[""] = 21;
      graph.add_initializer("w", Role::constant, numbers.cast(type));
      const auto read = parse_model(serialize_model(graph));
      CHECK(read->at("w")->initial().identical(numbers.cast(type)));
      CHECK(read->at("w")->role() == (is_floating_point(type) ? Role::parameter : Role::constant));
      CHECK_FALSE(read->at("w")->trainable());
    }
  }
  Graph graph;
  graph.opsets[""] = 21;
  Tensor words(DataType::string, {2});
  words.strings() = {"one", "two"};
  graph.add_initializer("w", Role::constant, words);
  CHECK(parse_model(serialize_model(graph))->at("w")->initial().identical(words));
}

TEST_CASE("elements in typed fields are read like raw ones") {
  const auto read = [](int data_type, const std::function<void(Proto&)>& add) {
    Proto tensor = tensor_proto("w", data_type, {2});
    add(tensor);
    const Proto graph =
        Proto().message(5, tensor).message(11, value_info("x", 1, {})).message(12, value_info("x", 1, {}));
    return parse_model(model_proto(graph).str())->at("w")->initial();
  };
  const auto integers = [](int field) {
    return [field](Proto& tensor) { tensor.integer(field, 1).integer(field, 0x3C00); };
  };
  CHECK(read(1, [](Proto& t) { t.real(4, 1.5F).real(4, -2); }).identical(Tensor::of<float>({2}, {1.5F, -2})));
  CHECK(read(11, [](Proto& t) { t.bytes(10, raw<double>({1.5, -2})); }).identical(Tensor::of<double>({2}, {1.5, -2})));
  CHECK(read(7, integers(7)).identical(Tensor::of<std::int64_t>({2}, {1, 0x3C00})));
  CHECK(read(6, integers(5)).identical(Tensor::of<std::int32_t>({2}, {1, 0x3C00})));
  CHECK(read(5, integers(5)).identical(Tensor::of<std::int16_t>({2}, {1, 0x3C00})));
  CHECK(read(4, integers(5)).identical(Tensor::of<std::uint16_t>({2}, {1, 0x3C00})));
  CHECK(read(12, integers(11)).identical(Tensor::of<std::uint32_t>({2}, {1, 0x3C00})));
  CHECK(read(13, integers(11)).identical(Tensor::of<std::uint64_t>({2}, {1, 0x3C00})));
  CHECK(read(9, integers(5)).identical(Tensor::of<bool>({2}, {true, true})));
  CHECK(read(3, [](Proto& t) { t.integer(5, 7).integer(5, -1); }).identical(Tensor::of<std::int8_t>({2}, {7, -1})));
  CHECK(read(10, integers(5)).values<Float16>()[1].bits == 0x3C00);  // 1 in float16
  CHECK(read(16, integers(5)).values<BFloat16>()[1].bits == 0x3C00);
  CHECK_ERROR(read(1, [](Proto& t) { t.real(4, 1.5F); }), "(tensor name: w) float_data size (1) is too small");
}

TEST_CASE("external data is read from the model's folder") {
  const TemporaryFolder folder;
  write(folder / "data/weights.bin", "1234" + raw<float>({5, 6}));
  const auto load_external = [&](const Proto& tensor) {
    write(folder / "model.onnx", model_proto(adding(tensor)).str());
    return load(folder / "model.onnx");
  };
  CHECK(elements<float>(load_external(external_tensor("w", {2}, "data/weights.bin", "4", "8"))->at("w")) ==
        std::vector<float>{5, 6});
  CHECK(elements<float>(load_external(external_tensor("w", {2}, "data/weights.bin", "4"))->at("w")) ==
        std::vector<float>{5, 6});

  const auto refuse = [&](const Proto& tensor, const std::string& reason) {
    CHECK_ERROR(load_external(tensor), reason);
    CHECK_ERROR(load_external(tensor), (folder / "model.onnx").string());
  };
  refuse(external_tensor("w", {2}, "absent.bin"), "absent.bin, which cannot be read; copy that file beside the model");
  refuse(external_tensor("w", {2}, "data"), "which cannot be read");
  refuse(external_tensor("w", {2}, "data/weights.bin", "8"), "ends before the elements of 'w' do");
  refuse(external_tensor("w", {2}, "data/weights.bin", "-4"), "ends before the elements of 'w' do");
  refuse(external_tensor("w", {2}, "data/weights.bin", "9223372036854775807"), "ends before the elements of 'w' do");
  refuse(external_tensor("w", {2}, "data/weights.bin", "4", "7"), "'w' needs 8 bytes of external data, but 7");
  refuse(external_tensor("w", {2}, "data/weights.bin", "four"), "has the unreadable offset 'four'");
  refuse(external_tensor("w", {2}, "../weights.bin"), "points outside the model's folder: '../weights.bin'");
  refuse(external_tensor("w", {2}, "data/../../weights.bin"), "points outside the model's folder");
  refuse(external_tensor("w", {2}, "/etc/hostname"), "points outside the model's folder: '/etc/hostname'");
  refuse(external_tensor("w", {2}, ""), "points outside the model's folder: ''");
  refuse(external_tensor("w", {std::int64_t{1} << 62, 4}, "data/weights.bin"), "'w' has the impossible shape");
  refuse(external_tensor("w", {std::int64_t{1} << 50}, "data/weights.bin"), "ends before the elements of 'w' do");
}

TEST_CASE("the ONNX checker sees models with external data too") {
  const TemporaryFolder folder;
  write(folder / "weights.bin", raw<float>({5, 6}));
  const Proto graph = Proto()
                          .message(1, node_proto("Add", {"x"}, {"y"}))
                          .message(5, external_tensor("w", {2}, "weights.bin"))
                          .message(11, value_info("x", 1, {2}))
                          .message(12, value_info("y", 1, {2}));
  write(folder / "model.onnx", model_proto(graph).str());
  CHECK_ERROR(load(folder / "model.onnx"), "the ONNX checker refuses the model");
}

TEST_CASE("up to IR version 3 initializers stand among the inputs and are not fed") {
  Proto graph = adding(tensor_proto("w", 1, {2}).bytes(9, raw<float>({1, 2})));
  graph.message(11, value_info("w", 1, {2}));
  const std::string bytes = model_proto(graph, 8, 3).str();
  const auto read = parse_model(bytes);
  REQUIRE(read->inputs().size() == 1);
  CHECK(read->inputs()[0]->name() == "x");
  CHECK(read->at("w")->role() == Role::parameter);
  const auto again = parse_model(serialize_model(*read));
  CHECK(again->inputs().size() == 1);
  CHECK(elements<float>(again->at("w")) == std::vector<float>{1, 2});
}

TEST_CASE("functions that the model carries are expanded") {
  const auto graph = parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
    g (float[2] x) => (float[2] y) { h = local.twice (x)
                                     y = local.twice_negated (h) }
    <domain: "local", opset_import: ["" : 21]> twice (a) => (b) { b = Add (a, a) }
    <domain: "local", opset_import: ["" : 21, "local" : 1]> twice_negated (a) => (b) { t = local.twice (a)
                                                                                       b = Neg (t) })");
  std::vector<std::string> operators;
  for (const auto& node : graph->nodes()) operators.push_back(node->op_type());
  CHECK(operators == std::vector<std::string>{"Add", "Add", "Neg"});
  CHECK(to_string(graph->at("y")->type()) == "float32[2]");
  verify(*graph, "expanded");
}

TEST_CASE("metadata survives a round trip") {
  const auto graph = parse("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  graph->metadata.producer_name = "someone";
  graph->metadata.producer_version = "1.2";
  graph->metadata.domain = "org.example";
  graph->metadata.model_version = 7;
  graph->metadata.documentation = "what it is";
  graph->metadata.properties = {{"b", "2"}, {"a", "1"}};
  const auto read = parse_model(serialize_model(*graph));
  CHECK(read->name == "g");
  CHECK(read->metadata.ir_version == 10);
  CHECK(read->metadata.producer_name == "someone");
  CHECK(read->metadata.producer_version == "1.2");
  CHECK(read->metadata.domain == "org.example");
  CHECK(read->metadata.model_version == 7);
  CHECK(read->metadata.documentation == "what it is");
  CHECK(read->metadata.properties == graph->metadata.properties);
  CHECK(read->opset() == 21);
}

TEST_CASE("updates are written as training info and read again") {
  const auto graph = parse(R"(g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, int64 step = {0}, int64 one = {1}> {
      y = Add (x, w)
      next = Add (step, one) })");
  graph->at("step")->set_role(Role::counter);
  graph->add_update(graph->at("w"), graph->at("y"));
  graph->add_update(graph->at("step"), graph->at("next"));
  const auto read = parse_model(serialize_model(*graph));
  REQUIRE(read->updates().size() == 2);
  CHECK(read->updates()[0].state == read->at("w"));
  CHECK(read->updates()[0].next == read->at("y"));
  CHECK(read->at("step")->role() == Role::counter);
  CHECK(read->at("one")->role() == Role::constant);
}

TEST_CASE("equal graphs give equal bytes, and files hold just them") {
  const std::string body = R"(g (float[N,3] x) => (float[N,2] y) <float[2,3] w = {1,2,3,4,5,6}> {
      y = Gemm <transB = 1, alpha = 2.0> (x, w) })";
  const std::string bytes = serialize_model(*parse(body));
  CHECK(serialize_model(*parse(body)) == bytes);
  CHECK(serialize_model(*parse_model(bytes)) == bytes);
  const TemporaryFolder folder;
  save(*parse(body), folder / "below/model.onnx");
  CHECK(read_file(folder / "below/model.onnx") == bytes);
  CHECK(serialize_model(*load(folder / "below/model.onnx")) == bytes);
}

TEST_CASE("printed text parses into the same graph") {
  const auto graph = parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "ai.ort_train" : 1]>
    g (float[N,3] x, float[N,3] g) => (float[N,3] y, float[N,3] d)
      <float[3] w = {1.5, -2, 3}, int64[1] axes = {-1}, float[N,3] ignored> {
      ["the sum"] ignored = Add (x, w)
      y = Relu (ignored)
      d = ai.ort_train.ReluGrad (g, y)
    })");
  CHECK(graph->at("axes")->is_constant());
  CHECK(graph->at("w")->role() == Role::parameter);
  CHECK(graph->at("ignored")->producer()->name() == "the sum");
  const std::string printed = print_text(*graph);
  CHECK(print_text(*parse_text(printed)) == printed);
  CHECK(serialize_model(*parse_text(printed)) == serialize_model(*graph));
  CHECK_ERROR(parse_text("no model"), "cannot parse the ONNX text");
}

TEST_CASE("what is no model is refused with its name") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& content, const std::string& reason) {
    write(folder / "some.onnx", content);
    CHECK_ERROR(load(folder / "some.onnx"), reason);
    CHECK_ERROR(load(folder / "some.onnx"), (folder / "some.onnx").string());
  };
  refuse("", "the file is empty");
  refuse("This is a text file, not a model.\n", "this is no ONNX model, or it is truncated");
  refuse("epochs: 5\nbatch_size: 64\n", "this is no ONNX model, or it is truncated");
  refuse(Proto().integer(1, 8).str(), "the model has no graph");
  CHECK_ERROR(load(folder / "absent.onnx"), "cannot read " + (folder / "absent.onnx").string());
  CHECK_ERROR(load(folder.path()), "it is a folder");
}

TEST_CASE("a truncated file is refused wherever it ends") {
  const std::string bytes =
      serialize_model(*parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Add (x, w) y = Relu (a) }"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(parse_model(bytes.substr(0, size)), Error);
  }
  CHECK(parse_model(bytes)->nodes().size() == 2);
}

TEST_CASE("a changed byte never does worse than an error") {
  const std::string bytes = serialize_model(*parse(
      "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, int64[1] s = {2}> { a = Add (x, w) y = Reshape (a, s) }"));
  int refused = 0;
  for (std::size_t position = 0; position < bytes.size(); ++position) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[position] = static_cast<char>(damaged[position] ^ change);
      try {
        verify(*parse_model(damaged), "damaged");
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > static_cast<int>(bytes.size()));
}

TEST_CASE("models that are too new are refused with the versions") {
  const Proto graph = adding(tensor_proto("w", 1, {2}).bytes(9, raw<float>({1, 2})));
  CHECK_ERROR(parse_model(model_proto(graph, 999).str(), ".", "some.onnx"),
              "some.onnx: it uses opset 999 of ai.onnx; the newest one known here is");
  CHECK_ERROR(parse_model(model_proto(graph, 17, 99).str()), "it has IR version 99; the newest one known here is");
  CHECK_ERROR(parse_model(Proto().integer(1, 8).message(7, graph).str()), "it names no opset");
}

TEST_CASE("damaged initializers are refused by name") {
  CHECK_ERROR(load_with(tensor_proto("w", 1, {2}).bytes(9, raw<float>({1}))), "some.onnx");
  CHECK_ERROR(load_with(tensor_proto("w", 1, {2}).bytes(9, raw<float>({1, 2, 3}))), "'w' needs 8 bytes but stores 12");
  CHECK_ERROR(load_with(tensor_proto("w", 1, {-2}).bytes(9, raw<float>({1, 2}))), "some.onnx");
  CHECK_ERROR(load_with(tensor_proto("w", 1, {std::int64_t{1} << 62, 8}).bytes(9, raw<float>({1, 2}))), "some.onnx");
  CHECK_ERROR(load_with(tensor_proto("w", 17, {2}).bytes(9, "ab")),
              "some.onnx: 'w': elements of type FLOAT8E4M3FN are not supported");
  CHECK_ERROR(load_with(tensor_proto("w", 0, {2}).bytes(9, raw<float>({1, 2}))), "some.onnx");
}

TEST_CASE("graphs that ONNX does not allow are refused with the reason") {
  const auto refuse = [](const std::string& body, const std::string& reason) {
    CHECK_ERROR(parse(body), "the ONNX checker refuses the model");
    CHECK_ERROR(parse(body), reason);
  };
  refuse("g (float[2] x) => (float[2] y) { y = Relu (nothing) }", "input 'nothing' of node");
  refuse("g (float[2] x) => (float[2] y) { y = Neg (a) a = Relu (x) }", "topologically sorted");
  refuse("g (float[2] x) => (float[2] x) { x = Relu (x) }", "SSA");
  refuse("g (float[2] x) => (float[2] y) { y = Relu <slope = 3> (x) }", "Unrecognized attribute: slope");
  refuse("g (float[2] x) => (float[2] y) { y = Conv (x) }", "input size 1 not in range");
  refuse("g (float[2] x) => (float[2] y) { y = NoSuchOperator (x) }", "No Op registered for NoSuchOperator");
  CHECK_ERROR(parse("g (float[2] x) => (float[2] z) { y = Relu (x) }"),
              "Graph output 'z' is not an output of any node");
}

TEST_CASE("sequences at the border of a model are refused, inside they are left to the preflight") {
  CHECK_ERROR(parse("g (seq(float[2]) x) => (float[2] y) { y = ConcatFromSequence <axis = 0> (x) }"),
              "'x' is no tensor");
  const auto graph = parse(R"(g (float[2] x) => (float[4] y) <seq(float[2]) s> {
      s = SequenceConstruct (x, x)
      y = ConcatFromSequence <axis = 0> (s) })");
  CHECK(graph->at("s")->dtype() == DataType::undefined);
  CHECK(to_string(graph->at("y")->type()) == "float32[4]");
}
