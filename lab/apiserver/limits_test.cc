#include "lab/apiserver/limits.h"

#include <gmock/gmock.h>

#include <string>

#include "lab/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

using ::testing::HasSubstr;

Json Nested(std::size_t levels) {
  Json value = Json::array();
  for (; levels > 0; --levels) value = Json::array({std::move(value)});
  return value;
}

std::string Refusal(const Json& document) {
  try {
    CheckLimits(document);
    return "";
  } catch (const StatusError& error) {
    return std::to_string(error.code()) + " " + error.what();
  }
}

TEST(LimitsTest, AcceptsDocumentsWithinTheLimits) {
  EXPECT_EQ(Refusal(nullptr), "");
  EXPECT_EQ(Refusal(Nested(kMaxNesting)), "");
  EXPECT_EQ(Refusal(Json(kMaxValues - 1, 0)), "");
  EXPECT_EQ(Refusal(std::string(kMaxBytes - 10, 'x')), "");
}

TEST(LimitsTest, RefusesDocumentsBeyondALimit) {
  EXPECT_EQ(Refusal(Nested(kMaxNesting + 1)),
            "400 the object is nested more than 200 levels deep");
  EXPECT_EQ(Refusal(Json(kMaxValues, 0)),
            "413 Request entity too large: an object has at most 100000 "
            "values");
  EXPECT_EQ(Refusal(std::string(kMaxBytes, 'x')),
            "413 Request entity too large: an object has at most 3145728 "
            "bytes");
  EXPECT_THAT(Refusal({{std::string(kMaxBytes, 'x'), 1}}), HasSubstr("bytes"));
}

TEST(EffortTest, ThrowsForADocumentBeyondALimit) {
  Effort effort;
  effort.Spend(Extent::Of(Json(kMaxValues - 1, 0)));
  EXPECT_THROW(effort.Spend(Extent::Of(Json(kMaxValues, 0))), StatusError);
  EXPECT_THROW(effort.Spend(Extent::Of(std::string(kMaxBytes, 'x'))),
               StatusError);
}

}  // namespace
}  // namespace minisched::apiserver
