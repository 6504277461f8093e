#include "lab/live/line_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/live/files_testing.h"

namespace minisched::live {
namespace {

using ::testing::ElementsAre;

class LineTailTest : public ::testing::Test {
 protected:
  std::vector<std::string> Poll() {
    std::vector<std::string> lines;
    tail_.Poll([&](const std::string& line, const std::string& place) {
      lines.push_back(place.substr(place.rfind(':') + 1) + " " + line);
    });
    return lines;
  }

  void Append(const std::string& text) {
    std::ofstream(file_.path(), std::ios::app) << text;
  }

  const TestFile file_{"a\n"};
  LineTail tail_{file_.path()};
};

TEST_F(LineTailTest, ReturnsEachLineOnce) {
  EXPECT_THAT(Poll(), ElementsAre("1 a"));
  EXPECT_THAT(Poll(), ElementsAre());
  Append("b\n\nc\n");
  EXPECT_THAT(Poll(), ElementsAre("2 b", "3 ", "4 c"));
}

TEST_F(LineTailTest, WaitsForTheEndOfALine) {
  Append("b");
  EXPECT_THAT(Poll(), ElementsAre("1 a"));
  Append("c\nd");
  EXPECT_THAT(Poll(), ElementsAre("2 bc"));
}

TEST_F(LineTailTest, ReadsLinesThatAreLongerThanTheBuffer) {
  Append(std::string(200'000, 'x') + "\nb\n");
  const auto lines = Poll();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].size(), 200'002U);
  EXPECT_EQ(lines[2], "3 b");
}

TEST_F(LineTailTest, WaitsForTheFile) {
  std::filesystem::remove(file_.path());
  EXPECT_THAT(Poll(), ElementsAre());
  Append("b\n");
  EXPECT_THAT(Poll(), ElementsAre("1 b"));
}

TEST(LineTailErrorTest, ReportsAFileThatCannotBeRead) {
  LineTail tail("/tmp");
  try {
    tail.Poll([](const std::string&, const std::string&) {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot read /tmp: Is a directory");
  }
}

}  // namespace
}  // namespace minisched::live
