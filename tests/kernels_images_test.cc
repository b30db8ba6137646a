#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "runtime/data/augmentation.h"
#include "tests/kernel_case.h"

using namespace ort_train;

namespace {

Tensor placements_of(const std::vector<data::Placement>& placements) {
  std::vector<double> numbers;
  for (const data::Placement& placement : placements) {
    numbers.insert(numbers.end(), {placement.down, placement.right, placement.mirror_rows ? 1.0 : 0.0,
                                   placement.mirror_columns ? 1.0 : 0.0});
  }
  return Tensor::of({static_cast<std::int64_t>(placements.size()), 4}, numbers).cast(DataType::float32);
}

Tensor run(const Tensor& x, const Tensor& placement, const std::string& attributes) {
  return tests::run_node("y = ai.ort_train.RenderImages<" + attributes + ">(x, placement)",
                         {{"x", x}, {"placement", placement}});
}

}  // namespace

// The loader's own renderer is compared with SciPy in data_augmentation_test.
TEST_CASE("RenderImages shows what the loader renders, wherever an image goes") {
  constexpr data::PlaneSize source{5, 6}, target{4, 7};
  constexpr std::int64_t samples = 40, channels = 2;
  RandomStream random(3, RandomPurpose::augmentation, 0, 0);
  std::vector<double> pixels(static_cast<std::size_t>(samples * channels * 30));
  for (double& pixel : pixels) pixel = static_cast<double>(random.below(256));
  std::vector<data::Placement> placements;
  for (std::int64_t i = 0; i < samples; ++i) {
    const bool whole = i % 3 == 0;
    const auto draw = [&] { return whole ? static_cast<float>(random.below(9)) - 4 : random.uniform(-9.0f, 9.0f); };
    const float down = draw(), right = draw();
    placements.push_back({down, right, random.chance(0.5f), random.chance(0.5f)});
  }
  for (const DataType dtype : {DataType::uint8, DataType::float32}) {
    const Tensor x = Tensor::of({samples, channels, 5, 6}, pixels).cast(dtype);
    for (const FillMode fill : {FillMode::nearest, FillMode::constant, FillMode::reflect, FillMode::wrap}) {
      const std::string attributes =
          "height = 4, width = 7, fill_value = 9.0, fill = \"" + std::string(name_of(fill)) + "\"";
      const Tensor shown = run(x, placements_of(placements), attributes);
      REQUIRE(shown.dims() == Dims{samples, channels, 4, 7});
      const Tensor source_pixels = x.cast(DataType::float32);
      std::vector<float> expected(28), scratch;
      for (std::int64_t plane = 0; plane < samples * channels; ++plane) {
        data::render(source_pixels.data<float>() + plane * 30, source, 1,
                     placements[static_cast<std::size_t>(plane / channels)], fill, 9.0f, target, expected.data(),
                     scratch);
        for (std::int64_t i = 0; i < 28; ++i) {
          const float found = shown.data<float>()[plane * 28 + i];
          CHECK_MESSAGE(std::abs(found - expected[static_cast<std::size_t>(i)]) <= 1e-4f, "plane ", plane, " pixel ", i,
                        " fill ", std::string(name_of(fill)));
        }
      }
    }
  }
}

TEST_CASE("RenderImages keeps the size unless told otherwise, and says what does not fit") {
  const Tensor x = tests::sample({2, 1, 3, 3}, 0, DataType::float32);
  const Tensor still = placements_of({{}, {}});
  CHECK(run(x, still, "fill = \"wrap\"").identical(x));
  CHECK_THROWS_WITH_AS(run(x, placements_of({{}}), "height = 3"), doctest::Contains("placements [2,4]"), Error);
  CHECK_THROWS_WITH_AS(run(x, still, "fill = \"mirror\""), doctest::Contains("not 'mirror'"), Error);
  CHECK_THROWS_WITH_AS(run(x.reshaped({2, 9}), still, "height = 3"), doctest::Contains("[N,C,height,width]"), Error);
}
