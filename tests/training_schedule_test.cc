#include <doctest/doctest.h>

#include <cmath>

#include "runtime/training/history.h"
#include "runtime/training/schedule.h"
#include "runtime/training/text_format.h"

namespace ort_train::training {
namespace {

Schedule schedule_of(Schedule::Kind kind, double rate) {
  Schedule schedule;
  schedule.kind = kind;
  schedule.learning_rate = rate;
  return schedule;
}

TEST_CASE("constant") {
  const Schedule schedule = schedule_of(Schedule::Kind::constant, 0.3);
  CHECK(schedule.rate(0, 10, 5) == 0.3);
  CHECK(schedule.rate(49, 10, 5) == 0.3);
}

TEST_CASE("polynomial decay per epoch stays the same within an epoch") {
  const Schedule schedule = schedule_of(Schedule::Kind::polynomial, 7e-3);
  CHECK(schedule.rate(0, 100, 70) == 7e-3);
  CHECK(schedule.rate(99, 100, 70) == 7e-3);
  CHECK(schedule.rate(100, 100, 70) == doctest::Approx(6.9e-3));
  CHECK(schedule.rate(6999, 100, 70) == doctest::Approx(1e-4));
}

TEST_CASE("polynomial decay per step, with a power and an end") {
  Schedule schedule = schedule_of(Schedule::Kind::polynomial, 1.0);
  schedule.per_step = true;
  schedule.power = 2;
  schedule.end_learning_rate = 0.5;
  CHECK(schedule.rate(0, 10, 10) == 1.0);
  CHECK(schedule.rate(50, 10, 10) == doctest::Approx(0.5 + 0.5 * 0.25));
}

TEST_CASE("steps at milestones and at regular intervals") {
  Schedule milestones = schedule_of(Schedule::Kind::step, 1.0);
  milestones.milestones = {2, 4};
  CHECK(milestones.rate(19, 10, 6) == 1.0);
  CHECK(milestones.rate(20, 10, 6) == doctest::Approx(0.1));
  CHECK(milestones.rate(40, 10, 6) == doctest::Approx(0.01));

  Schedule regular = schedule_of(Schedule::Kind::step, 1.0);
  regular.every = 3;
  regular.gamma = 0.5;
  CHECK(regular.rate(29, 10, 9) == 1.0);
  CHECK(regular.rate(30, 10, 9) == 0.5);
  CHECK(regular.rate(60, 10, 9) == 0.25);
}

TEST_CASE("cosine goes from the rate to the end, half way in the middle") {
  Schedule schedule = schedule_of(Schedule::Kind::cosine, 1.0);
  schedule.per_step = true;
  CHECK(schedule.rate(0, 10, 10) == 1.0);
  CHECK(schedule.rate(50, 10, 10) == doctest::Approx(0.5));
  CHECK(schedule.rate(99, 10, 10) == doctest::Approx((1 + std::cos(M_PI * 0.99)) / 2));
}

TEST_CASE("warm-up rises to the rate of the schedule") {
  Schedule schedule = schedule_of(Schedule::Kind::constant, 1.0);
  schedule.warmup_steps = 2;
  schedule.warmup_epochs = 1;
  CHECK(schedule.rate(0, 3, 4) == doctest::Approx(0.2));
  CHECK(schedule.rate(3, 3, 4) == doctest::Approx(0.8));
  CHECK(schedule.rate(4, 3, 4) == 1.0);
  CHECK(schedule.rate(5, 3, 4) == 1.0);
}

TEST_CASE("a schedule is described in words") {
  Schedule schedule = schedule_of(Schedule::Kind::polynomial, 1.0);
  CHECK(describe(schedule) == "polynomial decay of power 1 to 0, each epoch");
  schedule = schedule_of(Schedule::Kind::step, 1.0);
  schedule.milestones = {2, 4};
  schedule.warmup_epochs = 1;
  CHECK(describe(schedule) == "times 0.1 at epoch 2, 4, warm-up over 1 epochs");
}

TEST_CASE("history as a table, with numbers that can be read back exactly") {
  History history({"accuracy"}, true);
  history.add({1, 2.5, 0.1, 1.0 / 3, 0.5, 0.25, 0.75});
  CHECK(
      history.to_csv() ==
      "epoch,seconds,learning_rate,loss,accuracy,val_loss,val_accuracy\n1,2.5,0.1,0.3333333333333333,0.5,0.25,0.75\n");
  CHECK(history.last("val_accuracy") == 0.75);
  CHECK_THROWS(history.add({1, 2}));
  CHECK_THROWS(history.column("val_mse"));
}

TEST_CASE("numbers for people") {
  CHECK(with_separators(0) == "0");
  CHECK(with_separators(999) == "999");
  CHECK(with_separators(1652826) == "1,652,826");
  CHECK(with_separators(-1000) == "-1,000");
  CHECK(in_bytes(12) == "12 bytes");
  CHECK(in_bytes(12600000) == "12.6 MB");
  CHECK(as_clock(42) == "0:42");
  CHECK(as_clock(3723) == "1:02:03");
  CHECK(as_figure(1.43231) == "1.4323");
  CHECK(as_figure(0.0000123) == "1.230e-05");
}

}  // namespace
}  // namespace ort_train::training
