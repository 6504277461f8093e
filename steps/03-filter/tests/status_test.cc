#include "framework/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StatusTest, TheDefaultIsSuccess) {
  const Status status;
  EXPECT_TRUE(status.IsSuccess());
  EXPECT_THAT(status.reasons(), IsEmpty());
  EXPECT_EQ(status.Message(), "");
  EXPECT_EQ(status.plugin(), "");
}

TEST(StatusTest, ACodeAloneHasNoReasons) {
  const Status status = Code::kSkip;
  EXPECT_EQ(status.code(), Code::kSkip);
  EXPECT_FALSE(status.IsSuccess());
  EXPECT_THAT(status.reasons(), IsEmpty());
}

TEST(StatusTest, JoinsReasonsMadeAtRunTime) {
  const std::vector<std::string> reasons = {"too small", "too hot"};
  const Status status(Code::kUnschedulable, reasons);
  EXPECT_THAT(status.reasons(), ElementsAre("too small", "too hot"));
  EXPECT_EQ(status.Message(), "too small, too hot");
}

TEST(StatusTest, CopiesShareTheReasons) {
  const Status status(Code::kUnschedulable, "too small");
  const Status copy = status.WithPlugin("Size");
  EXPECT_EQ(&copy.reasons(), &status.reasons());
  EXPECT_EQ(copy.plugin(), "Size");
  EXPECT_EQ(status.plugin(), "");
}

TEST(StatusTest, ARejectionIsNoError) {
  for (const Code code :
       {Code::kUnschedulable, Code::kUnschedulableAndUnresolvable}) {
    EXPECT_TRUE(Status(code).IsRejected());
  }
  for (const Code code :
       {Code::kSuccess, Code::kError, Code::kWait, Code::kSkip}) {
    EXPECT_FALSE(Status(code).IsRejected());
  }
}

}  // namespace
}  // namespace minisched
