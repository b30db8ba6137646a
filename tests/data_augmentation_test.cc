#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/data/augmentation.h"
#include "tests/data_support.h"

using namespace ort_train;
using namespace ort_train::data;

namespace {

/// 4 rows of 5 pixels.
const std::vector<std::uint8_t> picture = {5,   42,  153, 87, 95,  96, 146, 19, 217, 238,
                                           187, 250, 136, 96, 130, 27, 103, 2,  226, 22};
constexpr PlaneSize picture_size{4, 5};

std::vector<float> rendered(const Placement& placement, FillMode fill, PlaneSize target = picture_size) {
  std::vector<float> out(static_cast<std::size_t>(target.height * target.width), -1.0f), scratch;
  render(picture.data(), picture_size, 1, placement, fill, 7.0f, target, out.data(), scratch);
  return out;
}

void check_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK_MESSAGE(std::fabs(found[i] - expected[i]) < 1e-3f, "element ", i, ": ", found[i], ", expected ", expected[i]);
  }
}

RandomStream stream(std::uint64_t sample) { return {11, RandomPurpose::augmentation, 0, sample}; }

}  // namespace

// Expected: scipy.ndimage.affine_transform(order=1, cval=7) with the modes nearest, constant, reflect and grid-wrap,
// which is what Keras' ImageDataGenerator calls.
TEST_CASE("shifts by fractions of a pixel agree with SciPy in every fill mode") {
  const Placement a{0.75f, -1.25f, false, false}, b{-2.5f, 3.5f, false, false};
  check_close(rendered(a, FillMode::nearest),
              {73.25f, 73.25f, 108.3125f, 69.375f,  151.5f, 164.25f, 164.25f, 209.0625f, 136.0625f, 121.375f,
               67,     67,     121.5625f, 61.5625f, 154,    27,      27,      84,        27.25f,    170});
  check_close(rendered(b, FillMode::nearest),
              {91, 95, 95, 95, 95, 91, 95, 95, 95, 95, 91, 95, 95, 95, 95, 159.25f, 166.5f, 166.5f, 166.5f, 166.5f});
  check_close(rendered(a, FillMode::constant), {7, 7, 108.3125f, 69.375f,  151.5f, 7, 7, 209.0625f, 136.0625f, 121.375f,
                                                7, 7, 121.5625f, 61.5625f, 154,    7, 7, 7,         7,         7});
  check_close(rendered(b, FillMode::constant), {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 159.25f, 7, 7, 7, 7});
  check_close(rendered(a, FillMode::reflect),
              {84.9375f, 73.25f, 108.3125f, 69.375f,  151.5f, 179.1875f, 164.25f, 209.0625f, 136.0625f, 121.375f,
               85.1875f, 67,     121.5625f, 61.5625f, 154,    46,        27,      84,        27.25f,    170});
  check_close(rendered(b, FillMode::reflect), {170.25f, 184, 170.25f, 117, 137.75f, 159.25f, 166.5f, 159.25f, 119, 90,
                                               91,      95,  91,      120, 97.5f,   159.25f, 166.5f, 159.25f, 119, 90});
  check_close(rendered(a, FillMode::wrap),
              {197.8125f, 105.5f, 108.3125f, 69.375f,  151.5f, 149.3125f, 162.4375f, 209.0625f, 136.0625f, 121.375f,
               85.125f,   62.5f,  121.5625f, 61.5625f, 154,    88,        27.0625f,  45.5625f,  100.75f,   120.125f});
  check_close(rendered(b, FillMode::wrap),
              {170.25f, 162.75f, 169.75f, 137.75f, 117, 118.5f,  91.5f,  141.75f, 122.75f, 115,
               107.5f,  37.25f,  44.25f,  75,      117, 159.25f, 108.5f, 72.25f,  90,      119});
}

TEST_CASE("no shift leaves every pixel as it is, in every fill mode") {
  const std::vector<float> expected(picture.begin(), picture.end());
  for (const FillMode fill : {FillMode::nearest, FillMode::constant, FillMode::reflect, FillMode::wrap}) {
    CHECK(rendered({}, fill) == expected);
  }
}

TEST_CASE("shifts far beyond the image still fill") {
  for (const float value : rendered({100, -100, false, false}, FillMode::nearest)) CHECK(value == 27);
  for (const float value : rendered({100, -100, false, false}, FillMode::constant)) CHECK(value == 7);
  CHECK(rendered({8, -10, false, false}, FillMode::wrap) == rendered({}, FillMode::wrap));
  CHECK(rendered({-8, 10, false, false}, FillMode::reflect) == rendered({}, FillMode::reflect));
}

TEST_CASE("flips mirror the rows, the columns or both") {
  const std::vector<float> plain(picture.begin(), picture.end());
  const std::vector<float> horizontal = rendered({0, 0, true, false}, FillMode::nearest);
  const std::vector<float> vertical = rendered({0, 0, false, true}, FillMode::nearest);
  const std::vector<float> both = rendered({0, 0, true, true}, FillMode::nearest);
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 5; ++x) {
      CHECK(horizontal[y * 5 + x] == plain[y * 5 + 4 - x]);
      CHECK(vertical[y * 5 + x] == plain[(3 - y) * 5 + x]);
      CHECK(both[y * 5 + x] == plain[19 - (y * 5 + x)]);
    }
  }
}

TEST_CASE("channels that lie side by side give what separate planes give") {
  std::vector<float> interleaved(4 * 5 * 3);
  std::vector<float> planes(3 * 4 * 5);
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      planes[c * 20 + i] = interleaved[i * 3 + c] = static_cast<float>((picture[i] * (c + 1)) % 256);
  }
  for (const FillMode fill : {FillMode::nearest, FillMode::constant, FillMode::reflect, FillMode::wrap}) {
    const Placement placement{-0.4f, 1.7f, true, false};
    std::vector<float> together(60), plane(20), scratch;
    render(interleaved.data(), picture_size, 3, placement, fill, 7.0f, picture_size, together.data(), scratch);
    for (std::size_t c = 0; c < 3; ++c) {
      render(planes.data() + c * 20, picture_size, 1, placement, fill, 7.0f, picture_size, plane.data(), scratch);
      for (std::size_t i = 0; i < 20; ++i) CHECK(plane[i] == together[i * 3 + c]);
    }
  }
}

TEST_CASE("a crop is a window of the padded image, and every window comes up") {
  Augmentation crop;
  crop.random_crop = true;
  crop.crop_padding = 1;
  const PlaneSize target{3, 4};
  std::set<std::pair<float, float>> windows;
  for (std::uint64_t sample = 0; sample < 400; ++sample) {
    const Placement placement = draw_placement(crop, picture_size, target, stream(sample));
    windows.insert({placement.down, placement.right});
    CHECK_FALSE(placement.mirror_rows);
  }
  std::set<std::pair<float, float>> expected;
  for (int down = -1; down <= 2; ++down) {
    for (int right = -1; right <= 2; ++right) expected.insert({static_cast<float>(down), static_cast<float>(right)});
  }
  CHECK(windows == expected);
  check_close(rendered({-1, 2, false, false}, FillMode::constant, target),
              {7, 7, 7, 7, 153, 87, 95, 7, 19, 217, 238, 7});
  CHECK(centred(picture_size, target).down == 0);
  CHECK(centred({10, 9}, {4, 4}).right == 2);
  CHECK(centred({10, 9}, {4, 4}).down == 3);
}

TEST_CASE("shifts are uniform within the fraction of the size, and half of the images are flipped") {
  Augmentation augmentation;
  augmentation.width_shift = 0.1f;
  augmentation.height_shift = 0.2f;
  augmentation.horizontal_flip = true;
  const PlaneSize size{32, 64};
  const int draws = 20000;
  double sum = 0, squares = 0;
  float largest_down = 0, largest_right = 0;
  int flips = 0;
  for (int sample = 0; sample < draws; ++sample) {
    const Placement placement = draw_placement(augmentation, size, size, stream(static_cast<std::uint64_t>(sample)));
    largest_down = std::max(largest_down, std::fabs(placement.down));
    largest_right = std::max(largest_right, std::fabs(placement.right));
    sum += placement.right;
    squares += placement.right * placement.right;
    flips += placement.mirror_rows;
    CHECK_FALSE(placement.mirror_columns);
  }
  CHECK(largest_down <= 6.4f);
  CHECK(largest_down > 6.3f);
  CHECK(largest_right <= 6.4f);
  CHECK(largest_right > 6.3f);
  CHECK(std::fabs(sum / draws) < 0.1);
  CHECK(squares / draws == doctest::Approx(6.4 * 6.4 / 3).epsilon(0.03));
  CHECK(std::abs(flips - draws / 2) < 300);
}

TEST_CASE("one setting does not change the random numbers of another") {
  Augmentation shift;
  shift.width_shift = 0.5f;
  Augmentation both = shift;
  both.horizontal_flip = both.vertical_flip = true;
  both.height_shift = 0.3f;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    CHECK(draw_placement(shift, picture_size, picture_size, stream(sample)).right ==
          draw_placement(both, picture_size, picture_size, stream(sample)).right);
  }
}

TEST_CASE("for evaluation only the crop is left, and it takes the middle") {
  Augmentation augmentation;
  augmentation.width_shift = 0.1f;
  augmentation.horizontal_flip = augmentation.random_crop = true;
  augmentation.crop_padding = 4;
  const Augmentation rest = without_randomness(augmentation);
  CHECK(rest.random_crop);
  CHECK(rest.width_shift == 0.0f);
  CHECK_FALSE(rest.horizontal_flip);
  CHECK_FALSE(Augmentation{}.active());
}
