#include "lab/explain/progress.h"

#include <gmock/gmock.h>

#include <chrono>
#include <vector>

#include "minisched/base/fake_clock.h"

namespace minisched::explain {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProgressTest : public ::testing::Test {
 protected:
  // Lets two seconds pass, and waits until the thread sleeps again.
  void Pass() {
    const auto next = clock_.NextDeadline();
    clock_.Advance(next - clock_.Now());
    clock_.AwaitDeadline(next + seconds(2));
  }

  FakeClock clock_;
  std::vector<std::string> lines_;
  Progress progress_{
      clock_, [this](const std::string& line) { lines_.push_back(line); }};
};

TEST_F(ProgressTest, PrintsNothingBeforeTwoSeconds) {
  progress_.Begin("reading");
  const auto next = clock_.NextDeadline();
  EXPECT_EQ(next - clock_.Now(), seconds(2));
  clock_.Advance(seconds(2) - std::chrono::milliseconds(1));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ProgressTest, PrintsEachLineOnce) {
  progress_.Begin("reading");
  Pass();
  Pass();
  progress_.Begin("trying change 1");
  progress_.Begin("trying change 2");
  Pass();
  EXPECT_THAT(lines_, ElementsAre("reading (2 s)", "trying change 2 (6 s)"));
}

TEST_F(ProgressTest, PrintsNothingBeforeTheBegin) {
  Pass();
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace minisched::explain
