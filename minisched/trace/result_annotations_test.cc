#include "minisched/trace/result_annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kHistoryName = kAnnotationPrefix + "result-history";

// An attempt, and those of its annotations that are neither "{}" nor empty.
struct Case {
  std::string title;
  Attempt attempt;
  Labels annotations;
};

Attempt WithPoints(std::vector<PointResult> points) {
  return {.points = std::move(points)};
}

std::vector<Case> Cases() {
  const Rejection name{"NodeName", {"wrong name"}};
  const Rejection fit{"NodeResourcesFit", {"no cpu", "no memory"}};
  const Rejection excluded{"",
                           {"node(s) didn't satisfy plugin(s) [NodeAffinity]"}};
  return {
      {"an attempt of a step without plugins",
       {.fits = {"b", "a"}, .node = "a"},
       {{"selected-node", "a"}}},
      {"only the first rejection of a node counts",
       {.filters = {"NodeName", "NodePorts", "NodeResourcesFit"},
        .fits = {"b"},
        .rejected = {{"c", {fit, name}}, {"a", {name, fit}}},
        .all_rejections = true,
        .node = "b"},
       {{"filter-result", R"({"a":{"NodeName":"wrong name"},)"
                          R"("b":{"NodeName":"passed","NodePorts":"passed",)"
                          R"("NodeResourcesFit":"passed"},)"
                          R"("c":{"NodeName":"passed","NodePorts":"passed",)"
                          R"("NodeResourcesFit":"no cpu, no memory"}})"},
        {"selected-node", "b"}}},
      {"a plugin that skips filters no node",
       {.filters = {"NodeName", "NodePorts"},
        .fits = {"a"},
        .points = {{"PreFilter", "NodePorts", "Skip", ""},
                   {"PreFilter", "NodeResourcesFit", "Success", ""}}},
       {{"prefilter-result-status",
         R"({"NodePorts":"","NodeResourcesFit":"success"})"},
        {"filter-result", R"({"a":{"NodeName":"passed"}})"}}},
      {"PreFilter rejects the pod",
       {.filters = {"NodeName"},
        .points = {{"PreFilter", "NodeAffinity", "Success", ""},
                   {"PreFilter", "Unsupported", "UnschedulableAndUnresolvable",
                    "no claims"}},
        .failure = "0/3 nodes are available: no claims."},
       {{"prefilter-result-status",
         R"({"NodeAffinity":"success","Unsupported":"no claims"})"}}},
      {"PreFilter excludes nodes",
       {.filters = {"NodeName"},
        .fits = {"c"},
        .rejected = {{"a", {excluded}}, {"b", {name}}}},
       {{"prefilter-result", R"({"NodeAffinity":["b","c"]})"},
        {"filter-result",
         R"({"b":{"NodeName":"wrong name"},"c":{"NodeName":"passed"}})"}}},
      {"several plugins exclude all nodes",
       {.rejected = {{"a",
                      {{"",
                        {"node(s) didn't satisfy plugin(s) [NodeAffinity "
                         "VolumeZone]"}}}}}},
       {{"prefilter-result", R"({"NodeAffinity":[],"VolumeZone":[]})"}}},
      {"final scores are weighted",
       {.fits = {"b", "a"},
        .scores = {{"Taint", 3, {-4, 0}, {100, 0}}, {"Fit", 1, {7, 8}, {7, 8}}},
        .points = {{"PreScore", "Affinity", "Skip", ""},
                   {"PreScore", "Taint", "Success", ""}}},
       {{"prescore-result", R"({"Affinity":"","Taint":"success"})"},
        {"score-result",
         R"({"a":{"Fit":"8","Taint":"0"},"b":{"Fit":"7","Taint":"-4"}})"},
        {"finalscore-result",
         R"({"a":{"Fit":"8","Taint":"0"},"b":{"Fit":"7","Taint":"300"}})"}}},
      {"a pod is bound",
       WithPoints({{"Reserve", "Volumes", "Success", ""},
                   {"Permit", "A", "Success", ""},
                   {"Permit", "B", "Wait", "1m0s"},
                   {"PreBind", "Volumes", "Success", ""},
                   {"Bind", "DefaultBinder", "Success", ""}}),
       {{"reserve-result", R"({"Volumes":"success"})"},
        {"permit-result", R"({"A":"success","B":"wait"})"},
        {"permit-result-timeout", R"({"A":"0s","B":"1m0s"})"},
        {"prebind-result", R"({"Volumes":"success"})"},
        {"bind-result", R"({"DefaultBinder":"success"})"}}},
      {"the end of a wait is not a result of Permit",
       WithPoints({{"Permit", "B", "Wait", "10s"},
                   {"Permit", "B", "Unschedulable", "no quota"}}),
       {{"permit-result", R"({"B":"wait"})"},
        {"permit-result-timeout", R"({"B":"10s"})"}}},
      {"Permit rejects the pod",
       WithPoints({{"Permit", "A", "Unschedulable", "no quota"}}),
       {{"permit-result", R"({"A":"no quota"})"},
        {"permit-result-timeout", R"({"A":"0s"})"}}},
      {"a result of the scheduler itself is no plugin's",
       {.points = {{"Bind", "", "Error", "conflict"}},
        .node = "a",
        .failure = "conflict"},
       {{"selected-node", "a"}}},
      {"texts are JSON strings",
       WithPoints({{"Bind", "Binder", "Error", "no \"x\"\n\xff"}}),
       {{"bind-result", R"({"Binder":"no \"x\"\n)"
                        "\xEF\xBF\xBD\"}"}}},
  };
}

TEST(ResultAnnotationsTest, HaveTheSimulatorsForm) {
  for (const Case& test : Cases()) {
    SCOPED_TRACE(test.title);
    Labels annotations;
    for (const auto& [name, value] : ResultAnnotations(test.attempt)) {
      ASSERT_TRUE(name.starts_with(kAnnotationPrefix)) << name;
      if (value.empty() || value == "{}") continue;
      annotations[name.substr(kAnnotationPrefix.size())] = value;
    }
    EXPECT_EQ(annotations, test.annotations);
  }
}

TEST(ResultAnnotationsTest, AllAreThereIfThereAreNoResults) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : ResultAnnotations({})) {
    texts.push_back(name.substr(kAnnotationPrefix.size()) + " " + value);
  }
  EXPECT_THAT(
      texts,
      ElementsAre("bind-result {}", "filter-result {}", "finalscore-result {}",
                  "permit-result {}", "permit-result-timeout {}",
                  "postfilter-result {}", "prebind-result {}",
                  "prefilter-result {}", "prefilter-result-status {}",
                  "prescore-result {}", "reserve-result {}", "score-result {}",
                  "selected-node "));
}

class PatchResultsTest : public ::testing::Test {
 protected:
  PatchResultsTest() { pod_.uid = "u1"; }

  // Applies the patch for these results to the pod. Returns the patch.
  AnnotationPatch Apply(const Labels& results,
                        std::size_t limit = kMaxAnnotationBytes) {
    AnnotationPatch patch = PatchResults(pod_, results, limit);
    if (patch.json.empty()) return patch;
    const nlohmann::json metadata =
        nlohmann::json::parse(patch.json).at("metadata");
    EXPECT_EQ(metadata.at("uid"), "u1");
    for (const auto& [name, value] : metadata.at("annotations").items()) {
      if (value.is_null()) {
        EXPECT_EQ(pod_.annotations.erase(name), 1U) << name;
      } else {
        pod_.annotations[name] = value;
      }
    }
    EXPECT_LE(Bytes(), limit);
    return patch;
  }

  std::size_t Bytes() const {
    std::size_t bytes = 0;
    for (const auto& [name, value] : pod_.annotations) {
      bytes += name.size() + value.size();
    }
    return bytes;
  }

  nlohmann::json History() const {
    return nlohmann::json::parse(pod_.annotations.at(kHistoryName));
  }

  ObjectMeta pod_;
};

TEST_F(PatchResultsTest, AppendsTheResultsToTheHistory) {
  pod_.annotations["team"] = "web";
  Apply({{"a", "{}"}, {"b", "1"}});
  Apply({{"a", "{}"}, {"b", "2"}});
  EXPECT_EQ(pod_.annotations["a"], "{}");
  EXPECT_EQ(pod_.annotations["b"], "2");
  EXPECT_EQ(pod_.annotations["team"], "web");
  EXPECT_EQ(pod_.annotations[kHistoryName],
            R"([{"a":"{}","b":"1"},{"a":"{}","b":"2"}])");
}

TEST_F(PatchResultsTest, ChangesNothingIfTheResultsRepeat) {
  Apply({{"a", "1"}});
  EXPECT_THAT(PatchResults(pod_, {{"a", "1"}}).json, IsEmpty());
  Apply({{"a", "2"}});
  Apply({{"a", "1"}});
  EXPECT_THAT(History(), SizeIs(3));
}

TEST_F(PatchResultsTest, ReplacesAMalformedHistory) {
  for (const char* history : {"", "[", "{}", "[1]", R"([{"a":1}])"}) {
    pod_.annotations = {{kHistoryName, history}};
    Apply({{"a", "1"}});
    EXPECT_EQ(pod_.annotations[kHistoryName], R"([{"a":"1"}])") << history;
  }
}

TEST_F(PatchResultsTest, DropsTheOldestEntriesOfTheHistory) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Apply({{"a", std::to_string(i)}}, /*limit=*/100).left_out,
                IsEmpty());
  }
  EXPECT_THAT(History(), SizeIs(4));
  EXPECT_EQ(History().front()["a"], "16");
  EXPECT_EQ(History().back()["a"], "19");
}

TEST_F(PatchResultsTest, LeavesOutTheHistoryIfNoEntryFits) {
  Apply({{"a", "1"}});
  EXPECT_THAT(Apply({{"a", std::string(80, 'x')}}, /*limit=*/100).left_out,
              ElementsAre(kHistoryName));
  EXPECT_EQ(pod_.annotations.count(kHistoryName), 0U);
}

TEST_F(PatchResultsTest, LeavesOutTheLargestResults) {
  Apply({{"a", "1"}, {"b", "1"}, {"c", "1"}});
  const Labels results{
      {"a", std::string(90, 'x')}, {"b", std::string(95, 'x')}, {"c", "2"}};
  EXPECT_THAT(Apply(results, /*limit=*/80).left_out, ElementsAre("b", "a"));
  EXPECT_EQ(pod_.annotations["c"], "2");
  // Old results must not stay beside new ones.
  EXPECT_THAT(pod_.annotations, SizeIs(2));
  EXPECT_EQ(History(), nlohmann::json::parse(R"([{"c":"2"}])"));
  EXPECT_THAT(Apply(results, /*limit=*/80).json, IsEmpty());
}

TEST_F(PatchResultsTest, TheOtherAnnotationsOfThePodCount) {
  pod_.annotations["team"] = std::string(95, 'x');
  EXPECT_THAT(Apply({{"a", "1"}}, /*limit=*/100).left_out, ElementsAre("a"));
  EXPECT_THAT(Apply({{"a", "1"}}, /*limit=*/50).json, IsEmpty());
  EXPECT_EQ(pod_.annotations["team"], std::string(95, 'x'));
}

}  // namespace
}  // namespace minisched
