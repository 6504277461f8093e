#include "lab/explain/profiles.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/errors.h"
#include "lab/scenario/errors.h"

namespace minisched::explain {
namespace {

using Json = nlohmann::json;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json Select(const std::string& text, const std::string& name,
            std::vector<std::string> warnings = {}) {
  std::vector<std::string> found;
  Json config = Json::parse(SelectProfile(text, "f.yaml", name, found));
  EXPECT_EQ(found, warnings);
  return config;
}

std::string SelectionError(const std::string& text) {
  try {
    Select(text, "mine");
  } catch (const CannotTell& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProfilesTest, OnlyTheProfileOfThePodIsLeft) {
  const Json config = Select(
      "parallelism: 4\n"
      "profiles:\n"
      "- schedulerName: other\n"
      "- {schedulerName: mine, plugins: {}}\n",
      "mine");
  EXPECT_EQ(config, Json::parse(R"({"parallelism": 4,
      "profiles": [{"schedulerName": "mine", "plugins": {}}],
      "clientConnection": {"qps": -1}})"));
}

TEST(ProfilesTest, TheOnlyProfileNeedsNoName) {
  for (const char* const text : {"a: 1", "profiles: []", "profiles: [{}]"}) {
    EXPECT_EQ(Select(text, "default-scheduler")["profiles"],
              Json::parse(R"([{"schedulerName": "default-scheduler"}])"));
  }
}

TEST(ProfilesTest, AnErrorNamesTheProfilesOfTheFile) {
  EXPECT_EQ(
      SelectionError("profiles: [{schedulerName: a}, {schedulerName: b}]"),
      "f.yaml has no profile for the pod's schedulerName \"mine\"; its "
      "profiles are a, b");
  EXPECT_EQ(SelectionError("a: 1"),
            "f.yaml has no profile for the pod's schedulerName \"mine\"; its "
            "profiles are default-scheduler");
}

TEST(ProfilesTest, ExtendersAreLeftOutWithAWarning) {
  const Json config = Select(
      "extenders: [{urlPrefix: 'http://x'}]\n"
      "clientConnection: {qps: 7, burst: 9}\n",
      "default-scheduler",
      {"the extenders of f.yaml are left out: they may reject or prefer "
       "nodes"});
  EXPECT_FALSE(config.contains("extenders"));
  EXPECT_EQ(config["clientConnection"],
            Json::parse(R"({"qps": -1, "burst": 9})"));
}

TEST(ProfilesTest, LeavesWrongTypesToTheScheduler) {
  EXPECT_EQ(
      Select("clientConnection: [1]", "default-scheduler")["clientConnection"],
      Json::parse("[1]"));
}

TEST(ProfilesTest, ReportsMalformedYaml) {
  EXPECT_THROW(Select("a: [", "mine"), scenario::CannotPlay);
}

}  // namespace
}  // namespace minisched::explain
