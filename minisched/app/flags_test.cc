#include "minisched/app/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    flags_.Add("--rate", &rate_, "A rate");
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
  double rate_ = 0.5;
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
  EXPECT_EQ(rate_, 0.5);
  EXPECT_FALSE(fast_);
  EXPECT_FALSE(seed_);
  EXPECT_EQ(even_, 0);
  EXPECT_EQ(verbosity_, 0);
}

TEST_F(FlagsTest, SetsTheVariables) {
  EXPECT_EQ(Parse({"--name=me", "--count", "-1", "--rate=2.25", "--fast",
                   "--seed", "18446744073709551615", "--even=4", "-vv"}),
            std::nullopt);
  EXPECT_EQ(name_, "me");
  EXPECT_EQ(count_, -1);
  EXPECT_EQ(rate_, 2.25);
  EXPECT_TRUE(fast_);
  EXPECT_EQ(seed_, 18446744073709551615U);
  EXPECT_EQ(even_, 4);
  EXPECT_EQ(verbosity_, 2);
}

TEST_F(FlagsTest, HelpAndVersionExitWithZero) {
  EXPECT_EQ(Parse({"--help"}), 0);
  // The default looks different in different versions of CLI11.
  EXPECT_THAT(out_, AllOf(HasSubstr("A program."), HasSubstr("A rate"),
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
      {{"--rate", "1x"}, "--rate"},
      {{"--even"}, "--even"},
      {{"--even", "3"}, "--even: 3 is odd"},
      {{"--even", "x"}, "--even"}};
  for (const auto& [arguments, culprit] : cases) {
    EXPECT_EQ(Parse(arguments), 2) << culprit;
    EXPECT_THAT(err_, AllOf(HasSubstr(culprit), HasSubstr("program --help")));
    EXPECT_EQ(err_.find('\n'), err_.size() - 1) << err_;
  }
}

}  // namespace
}  // namespace minisched
