#include <cstring>

#include "base/dispatch.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/zip.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::test;

namespace {

std::string npy(const std::string& header, const std::string& content, char version = 1) {
  std::string out = "\x93NUMPY";
  out += {version, '\0'};
  const int width = version == 1 ? 2 : 4;
  for (int i = 0; i < width; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + content;
}

std::string from_hex(const std::string& digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return out;
}

/// numpy.savez_compressed of {'grad/a:b': arange(6, '>i4') as 2x3, 'f': arange(6, 'f2') as 2x3 in Fortran order}.
const char* const numpy_compressed =
    "504b03042d000000080000002100d1d5d43cffffffffffffffff0c001400677261642f613a622e6e70790100100098000000000000005400"
    "0000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9769a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17"
    "672416a402f91a463a0ac69a3a0ab50a64032e060860046226206606621620660500504b03042d00000008000000210062f317f7ffffffff"
    "ffffffff05001400662e6e7079010010008c0000000000000051000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e93"
    "66a4aea3a09e965f54529498179f5f94920a120f292a4d050a17672416a402b91a463a0ac69a3a0ab50ae4032e06060627061b0617060706"
    "5700504b01022d032d000000080000002100d1d5d43c54000000980000000c0000000000000000000000800100000000677261642f613a62"
    "2e6e7079504b01022d032d00000008000000210062f317f7510000008c000000050000000000000000000000800192000000662e6e707950"
    "4b050600000000020002006d0000001a0100000000";

}  // namespace

TEST_CASE("every numeric type survives a round trip, with any number of axes") {
  const DataType types[] = {DataType::boolean, DataType::int8,    DataType::int16,   DataType::int32,
                            DataType::int64,   DataType::uint8,   DataType::uint16,  DataType::uint32,
                            DataType::uint64,  DataType::float16, DataType::float32, DataType::float64,
                            DataType::bfloat16};
  for (const DataType type : types) {
    for (const Dims& dims : {Dims{}, Dims{5}, Dims{2, 3}, Dims{0, 4}, Dims{2, 1, 3, 2}}) {
      Tensor numbers(DataType::int64, dims);
      for (std::int64_t i = 0; i < numbers.size(); ++i) numbers.data<std::int64_t>()[i] = i;
      const Tensor tensor = numbers.cast(type);
      const std::string bytes = encode_npy(tensor);
      CHECK((bytes.size() - tensor.bytes()) % 64 == 0);
      CHECK(decode_npy(bytes, "memory").identical(tensor));
    }
  }
}

TEST_CASE("big endian elements are swapped") {
  const Tensor tensor = decode_npy(
      npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", std::string("\0\0\1\2\xff\xff\xff\xfe", 8)),
      "memory");
  CHECK(tensor.identical(Tensor::of<std::int32_t>({2}, {258, -2})));
}

TEST_CASE("Fortran order becomes row-major order") {
  const std::string bytes{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
  const Tensor tensor =
      decode_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }", bytes), "memory");
  CHECK(tensor.identical(Tensor::of<std::uint8_t>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})));
}

TEST_CASE("versions 2 and 3 and the older spellings of a header are read") {
  for (const char version : {1, 2, 3}) {
    const std::string header = "{\"shape\": (2L, 1), 'fortran_order':False, 'descr' : '=u2'}\n";
    const Tensor tensor = decode_npy(npy(header, std::string("\1\0\2\0", 4), version), "memory");
    CHECK(tensor.identical(Tensor::of<std::uint16_t>({2, 1}, {1, 2})));
  }
}

TEST_CASE("a bool is true for every byte but zero") {
  const Tensor tensor =
      decode_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\1\7", 3)), "memory");
  CHECK(tensor.cast(DataType::uint8).identical(Tensor::of<std::uint8_t>({3}, {0, 1, 1})));
}

TEST_CASE("malformed arrays give a sentence that names the file") {
  const auto reject = [](const std::string& bytes, const std::string& part) {
    const std::string sentence = sentence_of([&] { decode_npy(bytes, "some/x.npy"); });
    CHECK_MESSAGE(contains(sentence, part), sentence);
    CHECK(sentence.starts_with("some/x.npy"));
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  reject("", "not a .npy array");
  reject("hello, this is text", "not a .npy array");
  reject("\x93NUMPY", "version");
  reject(npy(good, "12345678", 4), "version");
  reject(npy(good, "12345678").substr(0, 40), "truncated");
  reject(npy(good, "1234567"), "truncated");
  reject(npy(good, "123456789"), "float32 of shape [2]");
  reject(npy("{'descr': '<f4', 'shape': (2,), }", "12345678"), "header is damaged");
  reject(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", "12345678"), "header is damaged");
  reject(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "12345678"), "header is damaged");
  reject(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2", "12345678"), "header is damaged");
  reject(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""), "header is damaged");
  reject(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }", ""), "header says");
  reject(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (900000000000,), }", ""), "truncated");
  reject(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "12345678"), "type '<c8'");
  reject(npy("{'descr': '', 'fortran_order': False, 'shape': (1,), }", "12345678"), "type ''");
  reject(npy("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }", "12345678"), "type '<U2'");
  reject(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "12345678"), "type '|O'");
  reject(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"), "records");
  CHECK_ERROR(encode_npy(Tensor(DataType::string, {1})), "cannot be written");
}

TEST_CASE("an archive keeps any key, and equal arrays give equal bytes") {
  const TemporaryFolder folder;
  std::map<std::string, Tensor> arrays;
  arrays["grad/conv.weight"] = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  arrays["onnx::MatMul_7"] = Tensor::scalar<double>(0.5);
  arrays["with space and \xc3\xa9"] = Tensor::of<std::int64_t>({0}, {});
  write_npz(folder / "deep/a.npz", arrays);
  const auto read = read_npz(folder / "deep/a.npz");
  REQUIRE(read.size() == arrays.size());
  for (const auto& [key, tensor] : arrays) CHECK(read.at(key).identical(tensor));
  CHECK(encode_npz(arrays) == read_file(folder / "deep/a.npz"));
  CHECK(encode_npz(read) == encode_npz(arrays));
  write_npz(folder / "empty.npz", {});
  CHECK(read_npz(folder / "empty.npz").empty());
}

TEST_CASE("a compressed archive made by NumPy is read") {
  const TemporaryFolder folder;
  write(folder / "n.npz", from_hex(numpy_compressed));
  const auto arrays = read_npz(folder / "n.npz");
  REQUIRE(arrays.size() == 2);
  CHECK(arrays.at("grad/a:b").identical(Tensor::of<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5})));
  CHECK(arrays.at("f").identical(Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5}).cast(DataType::float16)));
}

TEST_CASE("sizes and offsets in zip64 records are read") {
  const TemporaryFolder folder;
  ZipWriter writer;
  writer.add("a.txt", "first");
  writer.add("b.txt", "second");
  std::string archive = writer.finish();
  const std::size_t directory = archive.find("PK\1\2");
  const auto put = [](std::string& out, std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  };
  std::string wide = archive.substr(0, directory);
  for (std::size_t at = directory; archive.compare(at, 4, "PK\1\2") == 0; at += 46 + 5) {
    std::uint64_t numbers[3] = {0, 0, 0};  // size, compressed size, offset
    std::memcpy(&numbers[0], &archive[at + 24], 4);
    std::memcpy(&numbers[1], &archive[at + 20], 4);
    std::memcpy(&numbers[2], &archive[at + 42], 4);
    std::string entry = archive.substr(at, 46 + 5);
    for (const int field : {20, 24, 42}) entry.replace(static_cast<std::size_t>(field), 4, "\xff\xff\xff\xff");
    entry[30] = 6 + 28;
    entry += std::string("\x99\x99\2\0ab", 6);  // an extra field of another kind comes first
    put(entry, 1, 2);
    put(entry, 24, 2);
    for (const std::uint64_t number : numbers) put(entry, number, 8);
    wide += entry;
  }
  const std::uint64_t directory_size = wide.size() - directory, record = wide.size();
  wide += "PK\6\6";
  put(wide, 44, 8);
  put(wide, 45, 2);
  put(wide, 45, 2);
  put(wide, 0, 8);
  put(wide, 2, 8);
  put(wide, 2, 8);
  put(wide, directory_size, 8);
  put(wide, directory, 8);
  wide += "PK\6\7";
  put(wide, 0, 4);
  put(wide, record, 8);
  put(wide, 1, 4);
  wide += "PK\5\6";
  put(wide, 0, 4);
  wide += std::string(12, '\xff');
  put(wide, 0, 2);
  write(folder / "wide.zip", wide);
  const ZipReader reader(folder / "wide.zip");
  REQUIRE(reader.members().size() == 2);
  CHECK(reader.read(reader.members()[0]) == "first");
  CHECK(reader.read(reader.members()[1]) == "second");
}

TEST_CASE("malformed archives give a sentence that names the file") {
  const TemporaryFolder folder;
  const auto reject = [&](const std::string& bytes, const std::string& part) {
    write(folder / "bad.npz", bytes);
    const std::string sentence = sentence_of([&] { read_npz(folder / "bad.npz"); });
    CHECK_MESSAGE(contains(sentence, part), sentence);
    CHECK(contains(sentence, "bad.npz"));
  };
  const std::string good = encode_npz({{"x", Tensor::of<float>({3}, {1, 2, 3})}});
  reject("", "too short");
  reject("not an archive at all, only a text of some length", "end record");
  reject(good.substr(0, good.size() - 30), "end record");
  reject(good.substr(10), "");

  std::string changed = good;
  changed[good.find("PK\1\2") - 1] ^= 1;
  reject(changed, "'x.npy' is corrupt");
  changed = good;
  changed[good.find("PK\1\2") + 8] |= 1;
  reject(changed, "encrypted");
  changed = good;
  changed[good.find("PK\1\2") + 10] = 12;
  reject(changed, "compressed by method 12");
  changed = good;
  changed[good.find("PK\1\2")] = 'X';
  reject(changed, "directory is damaged");
  changed = good;
  changed[good.find("PK\1\2") + 45] = 1;
  reject(changed, "truncated");
  changed = from_hex(numpy_compressed);
  changed[70] ^= 0x55;
  reject(changed, "'grad/a:b.npy' ");
  changed = from_hex(numpy_compressed);
  changed[changed.find("PK\1\2") + 27] = 0x7f;  // almost 2 GiB out of 84 bytes
  reject(changed, "impossible size");

  ZipWriter other;
  other.add("readme.txt", "hello");
  reject(other.finish(), "'readme.txt' is not a .npy array");
  ZipWriter twice;
  twice.add("x.npy", "1");
  twice.add("x.npy", "2");
  reject(twice.finish(), "two members");
  ZipWriter broken;
  broken.add("x.npy", "hello");
  reject(broken.finish(), "'x.npy' is not a .npy array");
}

TEST_CASE("a file that is missing or no file gives a sentence") {
  const TemporaryFolder folder;
  CHECK_ERROR(read_npy(folder / "absent.npy"), "absent.npy: No such file");
  CHECK_ERROR(read_npz(folder / "absent.npz"), "absent.npz: No such file");
  CHECK_ERROR(read_npy(folder.path()), "not a regular file");
}

TEST_CASE("the arrays of the corpus are read and keep their meaning when written again") {
  const auto cases = shared_folder() / "corpus" / "cases";
  if (!std::filesystem::exists(cases)) {
    MESSAGE("skipped: there is no ../shared/corpus");
    return;
  }
  const TemporaryFolder folder;
  int archives = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cases)) {
    if (entry.path().extension() != ".npz") continue;
    const auto arrays = read_npz(entry.path());
    CHECK_FALSE(arrays.empty());
    write_npz(folder / "again.npz", arrays);
    const auto again = read_npz(folder / "again.npz");
    REQUIRE(again.size() == arrays.size());
    for (const auto& [key, tensor] : arrays) CHECK(again.at(key).identical(tensor));
    ++archives;
  }
  CHECK(archives > 100);
}
