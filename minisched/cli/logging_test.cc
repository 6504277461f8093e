#include "minisched/cli/logging.h"

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

// A server could send such texts, for example in the message of a Status.
TEST_F(LoggingTest, EscapesWhatCouldControlATerminalOrForgeALine) {
  ::testing::internal::CaptureStderr();
  SetUpLogging(0);
  spdlog::info("red: \x1b[31m");
  spdlog::warn("no\n12:00:00.000 info  bound\r\n");
  spdlog::info("C1: \xc2\x9b, broken: \xff, end");
  spdlog::info("Gr\u00fc\u00dfe \"web\" \\ \u2192 \u2717");
  const std::string log = ::testing::internal::GetCapturedStderr();
  for (const char* line :
       {" info  red: \\x1b[31m\n",
        " warn  no\\n12:00:00.000 info  bound\\r\\n\n",
        " info  C1: \\x9b, broken: \\xff, end\n",
        " info  Gr\u00fc\u00dfe \"web\" \\ \u2192 \u2717\n"}) {
    EXPECT_THAT(log, HasSubstr(line));
  }
}

TEST_F(LoggingTest, KeepsTheLinesOfATable) {
  ::testing::internal::CaptureStderr();
  SetUpLogging(0);
  spdlog::info("the pods:\n  PLACE   POD\n  active  a\x1b\n  \n  gated");
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      HasSubstr(" info  the pods:\n  PLACE   POD\n  active  a\\x1b\n  \n"
                "  gated\n"));
}

TEST_F(LoggingTest, HidesDebugMessagesByDefault) {
  EXPECT_THAT(Log(0), Not(HasSubstr("a detail")));
}

}  // namespace
}  // namespace minisched
