#include "minisched/app/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace minisched {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LoggingTest : public ::testing::Test {
 protected:
  ~LoggingTest() override { spdlog::set_default_logger(logger_); }

  static std::string Log(int verbosity) {
    ::testing::internal::CaptureStderr();
    SetUpLogging(verbosity);
    spdlog::debug("a detail");
    spdlog::info("as it goes");
    spdlog::warn("take care");
    spdlog::error("did not work");
    return ::testing::internal::GetCapturedStderr();
  }

 private:
  const std::shared_ptr<spdlog::logger> logger_ = spdlog::default_logger();
};

TEST_F(LoggingTest, AlignsTheLevels) {
  const std::string log = Log(1);
  for (const char* line : {" debug a detail\n", " info  as it goes\n",
                           " warn  take care\n", " error did not work\n"}) {
    EXPECT_THAT(log, HasSubstr(line));
  }
}

TEST_F(LoggingTest, HidesDebugMessagesByDefault) {
  EXPECT_THAT(Log(0), Not(HasSubstr("a detail")));
}

}  // namespace
}  // namespace minisched
