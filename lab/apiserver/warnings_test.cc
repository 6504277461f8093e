#include "lab/apiserver/warnings.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

std::vector<std::pair<std::string, std::string>> Headers(
    const std::vector<std::string>& texts) {
  Reply reply;
  AddWarnings(texts, reply);
  return reply.headers;
}

auto Warning(const std::string& text) {
  return Pair("Warning", "299 - \"" + text + "\"");
}

TEST(WarningsTest, AreAddedAsQuotedHeaders) {
  EXPECT_THAT(
      Headers({"a", "say \"b\"", "\u00fc"}),
      ElementsAre(Warning("a"), Warning("say \\\"b\\\""), Warning("\u00fc")));
}

TEST(WarningsTest, AreNotRepeated) {
  EXPECT_THAT(Headers({"a", "b", "a"}),
              ElementsAre(Warning("a"), Warning("b")));
}

TEST(WarningsTest, AreSkippedIfHeadersCannotContainThem) {
  EXPECT_THAT(Headers({"", "a\nb", "a\x7f", "b"}), ElementsAre(Warning("b")));
}

// The limits count characters. This character has two bytes.
TEST(WarningsTest, AreCutIfTheyAreTooLongTogether) {
  std::string half;
  for (int i = 0; i < 2048; ++i) half += "\u00fc";
  const std::string other = "x" + half.substr(2);
  EXPECT_THAT(Headers({half, other}),
              ElementsAre(Warning(half), Warning(other)));
  EXPECT_THAT(Headers({half, other, "y"}),
              ElementsAre(Warning(half.substr(0, 512)),
                          Warning(other.substr(0, 511)), Warning("y")));
}

TEST(WarningsTest, StopAtTheTotalLimitIfCut) {
  std::vector<std::string> texts;
  for (int i = 100; i < 200; ++i) {
    texts.push_back(std::to_string(i) + std::string(1000, 'x'));
  }
  EXPECT_THAT(Headers(texts), SizeIs(16));
}

}  // namespace
}  // namespace minisched::apiserver
