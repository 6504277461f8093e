#include "minisched/base/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TaskTest : public ::testing::Test {
 protected:
  // Waits for a callback that the test calls with Call().
  Task<std::string> Wait() {
    const auto keep = [this](Callback<std::string> done) {
      kept_.push_back(std::move(done));
    };
    const std::string result = co_await CallbackResult<std::string>(keep);
    co_return "<" + result + ">";
  }
  void Call(const std::string& result) {
    const auto done = std::move(kept_.front());
    kept_.erase(kept_.begin());
    done(result);
  }

  // Waits `count` times, and records the results. Owns `token`.
  Task<> WaitOften(int count, std::shared_ptr<void> token) {
    for (int i = 0; i < count; ++i) {
      const std::string result = co_await Wait();
      results_.push_back(result);
    }
    results_.push_back(token ? "end, with a token" : "end");
  }

  // Waits for `count` callbacks at the same time.
  Task<> WaitForAll(int count) {
    std::vector<Task<std::string>> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(Wait());
    results_ = co_await AllOf(std::move(tasks));
  }

  std::vector<Callback<std::string>> kept_;
  std::vector<std::string> results_;
};

TEST_F(TaskTest, BeginsWhenItIsStarted) {
  Task<> task = WaitOften(1, nullptr);
  EXPECT_THAT(kept_, IsEmpty());
  task.Start();
  EXPECT_EQ(kept_.size(), 1);
}

TEST_F(TaskTest, GoesOnWhenItsCallbacksAreCalled) {
  WaitOften(2, nullptr).Start();
  EXPECT_THAT(results_, IsEmpty());
  Call("a");
  EXPECT_THAT(results_, ElementsAre("<a>"));
  Call("b");
  EXPECT_THAT(results_, ElementsAre("<a>", "<b>", "end"));
}

TEST_F(TaskTest, PassesItsResultOn) {
  std::string result;
  Wait().Start([&](const std::string& passed) { result = passed; });
  EXPECT_EQ(result, "");
  Call("a");
  EXPECT_EQ(result, "<a>");
}

TEST_F(TaskTest, AllOfWaitsForAllTasks) {
  WaitForAll(3).Start();
  ASSERT_EQ(kept_.size(), 3);
  std::swap(kept_[0], kept_[2]);
  Call("c");
  Call("b");
  EXPECT_THAT(results_, IsEmpty());
  Call("a");
  EXPECT_THAT(results_, ElementsAre("<a>", "<b>", "<c>"));
  WaitForAll(0).Start();
  EXPECT_THAT(results_, IsEmpty());
}

TEST_F(TaskTest, AllOfIsFreedWithATaskThatIsDropped) {
  const auto token = std::make_shared<int>();
  WaitForAll(2).Start([token] {});
  Call("a");
  EXPECT_EQ(token.use_count(), 2);
  kept_.clear();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(TaskTest, FreesItsVariablesAtTheEnd) {
  const auto token = std::make_shared<int>();
  WaitOften(1, token).Start();
  EXPECT_EQ(token.use_count(), 2);
  Call("a");
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_THAT(results_, ElementsAre("<a>", "end, with a token"));
}

TEST_F(TaskTest, FreesItsVariablesIfItIsNeverStarted) {
  const auto token = std::make_shared<int>();
  {
    const Task<> task = WaitOften(1, token);
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

// The callback belongs to Wait(), which WaitOften() awaits.
TEST_F(TaskTest, ADroppedCallbackFreesTheCoroutineAndThoseThatAwaitIt) {
  const auto token = std::make_shared<int>();
  WaitOften(1, token).Start();
  Callback<std::string> copy = kept_.front();
  kept_.clear();
  EXPECT_EQ(token.use_count(), 2);
  copy = nullptr;
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_THAT(results_, IsEmpty());
}

Task<> AwaitDropped(std::shared_ptr<int> token, bool& went_on) {
  const auto drop = [](const Callback<int>& /*done*/) {};
  const int result = co_await CallbackResult<int>(drop);
  went_on = result == *token;
}

TEST_F(TaskTest, ACallbackMayBeDroppedAtOnce) {
  const auto token = std::make_shared<int>();
  bool went_on = false;
  AwaitDropped(token, went_on).Start();
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_FALSE(went_on);
}

Task<int> Count(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto answer = [](const Callback<int>& done) { done(1); };
    const int one = co_await CallbackResult<int>(answer);
    sum += one;
  }
  co_return sum;
}

// A call of each would need a part of the stack.
TEST_F(TaskTest, AMillionCallbacksMayBeCalledAtOnce) {
  int sum = 0;
  Count(1'000'000).Start([&](int result) { sum = result; });
  EXPECT_EQ(sum, 1'000'000);
}

Task<std::string> Record(std::vector<std::string>& calls) {
  const auto begin = [&](const Callback<void>& done) {
    calls.emplace_back("begin");
    done();
    calls.emplace_back("still in begin");
  };
  co_await CallbackResult<void>(begin);
  calls.emplace_back("go on");
  co_return "result";
}

TEST_F(TaskTest, GoesOnAfterTheFunctionThatGotTheCallbackHasReturned) {
  std::vector<std::string> calls;
  Record(calls).Start(
      [&](const std::string& result) { calls.push_back(result); });
  EXPECT_THAT(calls, ElementsAre("begin", "still in begin", "go on", "result"));
}

// Throws in the function that starts the operation.
Task<std::string> CatchAnError() {
  const auto fail = [](const Callback<int>& /*done*/) {
    throw std::runtime_error("no such name");
  };
  try {
    co_await CallbackResult<int>(fail);
  } catch (const std::runtime_error& error) {
    co_return error.what();
  }
  co_return "no error";
}

TEST_F(TaskTest, AnErrorOfTheStartIsThrownByCoAwait) {
  std::string result;
  CatchAnError().Start([&](const std::string& passed) { result = passed; });
  EXPECT_EQ(result, "no such name");
}

Task<int> Fail(std::shared_ptr<void> /*token*/) {
  throw std::runtime_error("disk full");
  co_return 0;
}
Task<> AwaitFailure(std::shared_ptr<void> token, bool& went_on) {
  co_await Fail(token);
  went_on = true;
}

TEST_F(TaskTest, AnExceptionFreesTheCoroutineAndThoseThatAwaitIt) {
  const auto token = std::make_shared<int>();
  bool went_on = false;
  AwaitFailure(token, went_on).Start();
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_FALSE(went_on);
}

// Posts `count` tasks to the executor, one after the other. Their threads call
// the callbacks while this one may still return from Post().
Task<> Hop(Executor& executor, int count, std::shared_ptr<void> /*token*/) {
  for (int i = 0; i < count; ++i) {
    const auto post = [&](Callback<void> done) {
      executor.Post(std::move(done));
    };
    co_await CallbackResult<void>(post);
  }
}

// Sanitizers check the accesses.
TEST_F(TaskTest, AnotherThreadMayCallTheCallbackMeanwhile) {
  constexpr int kTasks = 100;
  constexpr int kHops = 200;
  FakeClock clock;
  Executor executor(4, clock);
  std::atomic<int> ended = 0;
  const auto token = std::make_shared<int>();
  for (int i = 0; i < kTasks; ++i) {
    Hop(executor, kHops, token).Start([&] { ++ended; });
  }
  EXPECT_TRUE(executor.Drain(Clock::TimePoint::max()));
  EXPECT_EQ(ended, kTasks);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(TaskTest, AnExecutorThatDropsItsTasksFreesTheCoroutines) {
  const auto token = std::make_shared<int>();
  {
    FakeClock clock;
    Executor executor(2, clock);
    for (int i = 0; i < 100; ++i) Hop(executor, 1'000'000, token).Start();
  }
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace minisched
