#include "minisched/cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() : flags_("A program.") {
    flags_.Add("--name", &name_, "A name");
    flags_.Add("--count", &count_, "A count");
    flags_.Add("--jobs", &jobs_, "A number of jobs", 1, 9);
    flags_.Add("--fast", &fast_, "No waiting");
    flags_.Add("--seed", &seed_, "A seed");
    flags_.Add(
        "--even",
        [this](const std::string& text) {
          if (std::stoi(text) % 2 != 0) {
            throw std::runtime_error(text + " is odd");
          }
          even_ = std::stoi(text);
        },
        "EVEN", "An even number");
    flags_.AddCount("-v,--verbose", &verbosity_, "Log more");
  }

  std::optional<int> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "/usr/bin/program");
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const auto code = flags_.Parse(static_cast<int>(arguments.size()),
                                   arguments.data(), "1.2.3");
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  Flags flags_;
  std::string name_ = "nobody";
  int count_ = 7;
  int jobs_ = 2;
  bool fast_ = false;
  std::optional<std::uint64_t> seed_;
  int even_ = 0;
  int verbosity_ = 0;
  std::string out_;
  std::string err_;
};

TEST_F(FlagsTest, KeepsTheDefaults) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(name_, "nobody");
  EXPECT_EQ(count_, 7);
  EXPECT_EQ(jobs_, 2);
  EXPECT_FALSE(fast_);
  EXPECT_FALSE(seed_);
  EXPECT_EQ(even_, 0);
  EXPECT_EQ(verbosity_, 0);
}

TEST_F(FlagsTest, SetsTheVariables) {
  EXPECT_EQ(Parse({"--name=me", "--count", "-1", "--jobs=9", "--fast", "--seed",
                   "18446744073709551615", "--even=4", "-vv"}),
            std::nullopt);
  EXPECT_EQ(name_, "me");
  EXPECT_EQ(count_, -1);
  EXPECT_EQ(jobs_, 9);
  EXPECT_TRUE(fast_);
  EXPECT_EQ(seed_, 18446744073709551615U);
  EXPECT_EQ(even_, 4);
  EXPECT_EQ(verbosity_, 2);
}

TEST_F(FlagsTest, HelpAndVersionExitWithZero) {
  EXPECT_EQ(Parse({"--help"}), 0);
  // The default looks different in different versions of CLI11.
  EXPECT_THAT(out_,
              AllOf(HasSubstr("A program."), HasSubstr("A number of jobs"),
                    ContainsRegex("--count INT(=| \\[)7"),
                    ContainsRegex("--even EVEN +An even number")));
  EXPECT_EQ(Parse({"--version"}), 0);
  EXPECT_EQ(out_, "program 1.2.3\n");
}

TEST_F(FlagsTest, PrintsTheWrongFlagInOneLine) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
      {{"--bogus"}, "--bogus"},
      {{"stray"}, "stray"},
      {{"--count", "many"}, "--count"},
      {{"--count"}, "--count"},
      {{"--count", "99999999999"}, "--count"},
      {{"--seed", "-1"}, "--seed"},
      {{"--bogus\n\x1b[31m"}, "--bogus\\n\\x1b[31m"},
      {{"--even"}, "--even"},
      {{"--even", "3"}, "--even: 3 is odd"},
      {{"--even", "x"}, "--even"}};
  for (const auto& [arguments, culprit] : cases) {
    EXPECT_EQ(Parse(arguments), 2) << culprit;
    EXPECT_THAT(err_, AllOf(HasSubstr(culprit), HasSubstr("program --help")));
    EXPECT_EQ(err_.find('\n'), err_.size() - 1) << err_;
  }
}

// Without the checks, CLI11 takes "" for 0, and a number that is too large for
// the largest.
TEST_F(FlagsTest, PrintsTheRangeOfAWholeNumber) {
  const std::string seeds = " is not a whole number from 0 to 2^64 - 1";
  const std::string jobs = " is not a whole number from 1 to 9";
  const std::string counts =
      " is not a whole number from -2147483648 to 2147483647";
  const std::vector<std::array<std::string, 3>> cases = {
      {"--seed", "-1", seeds},   {"--seed", "", seeds},
      {"--seed", "1.5", seeds},  {"--seed", "18446744073709551616", seeds},
      {"--jobs", "0", jobs},     {"--jobs", "10", jobs},
      {"--jobs", "", jobs},      {"--jobs", "99999999999", jobs},
      {"--count", "", counts},   {"--count", "1x", counts},
      {"--count", "nan", counts}};
  for (const auto& [flag, value, range] : cases) {
    EXPECT_EQ(Parse({flag.c_str(), value.c_str()}), 2);
    EXPECT_EQ(err_, "program: " + flag + ": \"" + value + "\"" + range +
                        " (program --help lists the flags)\n");
  }
}

TEST_F(FlagsTest, ARepeatedFlagHasOneValueEachTime) {
  std::vector<std::string> steps;
  std::string file;
  flags_.AddRepeated("--step", &steps, "A step");
  flags_.Add("FILE", &file, "A file");
  EXPECT_EQ(Parse({"--step", "[a, b]", "--step", "- c", "a-file"}),
            std::nullopt);
  EXPECT_THAT(steps, ::testing::ElementsAre("[a, b]", "- c"));
  EXPECT_EQ(file, "a-file");
  EXPECT_EQ(Parse({"--step"}), 2);
}

}  // namespace
}  // namespace minisched
