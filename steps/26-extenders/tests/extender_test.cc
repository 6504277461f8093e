#include "extender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "minisched/api/quantity.h"
#include "tests/extender_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

const ExtenderConfig kNamesOnly{.node_cache_capable = true};

TEST_F(ExtenderTest, FilterSendsThePodAndTheNodesAsTheServerSentThem) {
  pod_ =
      *Whole<Pod>(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web",)"
                  R"("annotations":{"colour":"grün"},"managedFields":[{}]},)"
                  R"("spec":{"unknown":[1.5]}})");
  infos_[0] = std::make_unique<NodeInfo>(
      Whole<Node>(R"({"kind":"Node","metadata":{"name":"b"},"new":null})"));
  nodes_ = {infos_[0].get(), infos_[1].get()};
  FilterWith("{}");
  ASSERT_EQ(fake_.calls().size(), 1);
  const ServerRequest call = fake_.calls()[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/filter");
  EXPECT_EQ(call.headers.at("content-type"), "application/json");
  EXPECT_EQ(call.body,
            R"({"Pod":{"metadata":{"annotations":{"colour":"gr\u00fcn"},)"
            R"("name":"web"},"spec":{"unknown":[1.5]}},"Nodes":{"items":[)"
            R"({"metadata":{"name":"b"},"new":null},)"
            R"({"metadata":{"name":"a"}}]}})");
}

TEST_F(ExtenderTest, AnExtenderWithACacheGetsTheNamesOfTheNodes) {
  FilterWith("{}", kNamesOnly);
  fake_.Answers("prioritize", "[]");
  ExtenderConfig config = kNamesOnly;
  config.prioritize_verb = "prioritize";
  EXPECT_TRUE(Extender(fake_.With(config), {}).Prioritize(pod_, nodes_));
  ASSERT_EQ(fake_.calls().size(), 2);
  for (const ServerRequest& call : fake_.calls()) {
    EXPECT_EQ(call.body,
              R"({"Pod":{"metadata":{"name":"web","namespace":"shop",)"
              R"("uid":"u1"}},"NodeNames":["b","a","c"]})");
  }
}

TEST_F(ExtenderTest, TheVerbFollowsThePathOfTheUrl) {
  fake_.Answers("filter", "{}");
  for (const char* path : {"", "/", "/api", "/api//"}) {
    ExtenderConfig config = fake_.With({.filter_verb = "filter"});
    config.url_prefix += path;
    NodeToStatus statuses;
    EXPECT_TRUE(Extender(config, {}).Filter(pod_, nodes_, statuses)) << path;
  }
  std::vector<std::string> targets;
  for (const auto& call : fake_.calls()) targets.push_back(call.target);
  EXPECT_THAT(targets,
              ElementsAre("/filter", "/filter", "/api/filter", "/api/filter"));
}

TEST_F(ExtenderTest, FilterKeepsTheOrderOfTheNodes) {
  EXPECT_EQ(FilterWith(R"({"NodeNames":["c","b","c"]})", kNamesOnly), "b c");
  EXPECT_EQ(FilterWith(R"({"Nodes":{"items":[{"metadata":{"name":"c"}},)"
                       R"({"metadata":{"name":"a"}}]}})"),
            "a c");
}

TEST_F(ExtenderTest, OnlyAnExtenderWithACacheCanReturnNames) {
  const std::string both =
      R"({"NodeNames":["a"],"Nodes":{"items":[{"metadata":{"name":"b"}}]}})";
  EXPECT_EQ(FilterWith(both, kNamesOnly), "a");
  EXPECT_EQ(FilterWith(both), "b");
  EXPECT_EQ(FilterWith(R"({"NodeNames":["a"]})"), "");
  EXPECT_EQ(FilterWith(R"({"Nodes":{"items":[{"metadata":{"name":"b"}}]}})",
                       kNamesOnly),
            "b");
  EXPECT_EQ(FilterWith(R"({"NodeNames":[],"Nodes":{"items":[)"
                       R"({"metadata":{"name":"b"}}]}})",
                       kNamesOnly),
            "");
}

TEST_F(ExtenderTest, AnAnswerWithoutNodesAllowsNone) {
  EXPECT_EQ(FilterWith("{}"), "");
  EXPECT_EQ(FilterWith("{}", kNamesOnly), "");
  EXPECT_EQ(FilterWith("null"), "");
}

TEST_F(ExtenderTest, FilterPassesTheReasonsOn) {
  EXPECT_EQ(FilterWith(R"({"NodeNames":["b"],"FailedNodes":{"a":"hot"},)"
                       R"("FailedAndUnresolvableNodes":{"c":"gone"}})",
                       kNamesOnly),
            "b, a: Unschedulable: hot, c: UnschedulableAndUnresolvable: gone");
  EXPECT_EQ(FilterWith(R"({"FailedNodes":{"a":"hot"},)"
                       R"("FailedAndUnresolvableNodes":{"a":"gone"}})"),
            ", a: UnschedulableAndUnresolvable: gone");
}

TEST_F(ExtenderTest, FilterFails) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"NodeNames":["a","d"]})",
       "claims a filtered node \"d\" which is not found in the input node "
       "list"},
      {R"({"NodeNames":["a"],"Error":"no sensors"})", "says: no sensors"},
  };
  for (const auto& [answer, error] : cases) {
    EXPECT_EQ(FilterWith(answer, kNamesOnly),
              "Error: extender \"URL\" " + error);
  }
  for (const char* answer : {"", "{", "[]", "{} {}", R"({"NodeNames":"a"})",
                             R"({"FailedNodes":{"a":1}})"}) {
    EXPECT_THAT(FilterWith(answer, kNamesOnly),
                StartsWith("Error: extender \"URL\" gives a wrong answer to "
                           "filter: "))
        << answer;
  }
}

TEST_F(ExtenderTest, OnlyTheCode200IsASuccess) {
  for (const int code : {201, 204, 404, 500, 503}) {
    fake_.Answers("filter", R"({"NodeNames":["a"]})", code);
    EXPECT_EQ(Filter(kNamesOnly),
              "Error: failed filter with extender at URL URL/filter, code " +
                  std::to_string(code));
  }
  EXPECT_EQ(fake_.calls().size(), 5) << "no call is repeated";
}

class PrioritizeTest : public ExtenderTest {
 protected:
  // Returns the weighted scores of the nodes: "0 50 100"; or the error.
  std::string PrioritizeWith(const std::string& answer,
                             std::int64_t weight = 1) {
    fake_.Answers("prioritize", answer);
    const Extender extender(
        fake_.With({.prioritize_verb = "prioritize", .weight = weight}), {});
    const auto scores = extender.Prioritize(pod_, nodes_);
    if (!scores) return ErrorOf(scores.error());
    EXPECT_EQ(scores->plugin, fake_.url());
    std::string text;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      EXPECT_EQ(scores->normalized[i].node, nodes_[i]);
      EXPECT_EQ(scores->normalized[i].score, scores->raw[i] * 10);
      text += fmt::format("{}{}", i == 0 ? "" : " ",
                          scores->weight * scores->normalized[i].score);
    }
    return text;
  }
};

TEST_F(PrioritizeTest, SendsTheNodes) {
  PrioritizeWith("[]");
  EXPECT_EQ(fake_.calls().at(0).target, "/prioritize");
  EXPECT_EQ(fake_.calls().at(0).body,
            R"({"Pod":{"metadata":{"name":"web","namespace":"shop","uid":"u1"})"
            R"(},"Nodes":{"items":[{"metadata":{"name":"b"}},)"
            R"({"metadata":{"name":"a"}},{"metadata":{"name":"c"}}]}})");
}

// Ten points of an extender are as much as 100 points of a plugin.
TEST_F(PrioritizeTest, ScalesTheScores) {
  const std::string answer =
      R"([{"Host":"c","Score":10},{"Host":"b","Score":3}])";
  EXPECT_EQ(PrioritizeWith(answer), "30 0 100");
  EXPECT_EQ(PrioritizeWith(answer, 5), "150 0 500");
  EXPECT_EQ(PrioritizeWith(answer, 2'147'483'647),
            "64424509410 0 214748364700");
}

TEST_F(PrioritizeTest, NodesThatTheAnswerLeavesOutGetNothing) {
  EXPECT_EQ(PrioritizeWith("[]"), "0 0 0");
  EXPECT_EQ(PrioritizeWith("null"), "0 0 0");
  EXPECT_EQ(PrioritizeWith(R"([{"Host":"d","Score":10}])"), "0 0 0");
}

TEST_F(PrioritizeTest, RejectsScoresOutOfRange) {
  for (const char* score : {"-1", "11", "9223372036854775807"}) {
    EXPECT_EQ(
        PrioritizeWith(fmt::format(
            R"([{{"Host":"a","Score":1}},{{"Host":"b","Score":{}}}])", score)),
        fmt::format("Error: extender \"URL\" gives node \"b\" the score "
                    "{}, which is not from 0 to 10",
                    score));
  }
  EXPECT_THAT(PrioritizeWith(R"([{"Host":"a","Score":1.5}])"),
              StartsWith("Error: extender \"URL\" gives a wrong answer to "
                         "prioritize: "));
}

// Upstream's TestIsInterested.
TEST(IsInterestedTest, AsksAboutPodsThatUseAManagedResource) {
  const Extender all({.url_prefix = "http://127.0.0.1:1"}, {});
  const Extender memory({.url_prefix = "http://127.0.0.1:1",
                         .managed_resources = {{.name = "memory"}}},
                        {});
  Pod pod;
  EXPECT_TRUE(all.IsInterested(pod)) << "empty managed resources";

  const Container container{.name = "app"};
  pod.spec.containers = {container};
  EXPECT_FALSE(memory.IsInterested(pod)) << "empty resources";

  pod.spec.containers[0].resources.requests = {{"cpu", Quantity()}};
  EXPECT_FALSE(memory.IsInterested(pod)) << "another resource";

  pod.spec.containers[0].resources.requests = {{"memory", Quantity()}};
  EXPECT_TRUE(memory.IsInterested(pod)) << "container with requests";

  pod.spec.containers = {container, container};
  pod.spec.containers[1].resources.limits = {{"memory", Quantity()}};
  EXPECT_TRUE(memory.IsInterested(pod)) << "container with limits";

  pod.spec.containers = {container};
  pod.spec.init_containers = {container};
  pod.spec.init_containers[0].resources.requests = {{"memory", Quantity()}};
  EXPECT_TRUE(memory.IsInterested(pod)) << "init container";
}

TEST(NewExtendersTest, IgnorableExtendersAreLast) {
  std::vector<ExtenderConfig> configs;
  for (const auto& [name, ignorable] :
       {std::pair("a", true), {"b", false}, {"c", true}, {"d", false}}) {
    configs.push_back(
        {.url_prefix = "http://" + std::string(name), .ignorable = ignorable});
  }
  std::vector<std::string> names;
  for (const auto& extender : NewExtenders(configs, {})) {
    names.push_back(extender->Name());
  }
  EXPECT_THAT(names,
              ElementsAre("http://b", "http://d", "http://a", "http://c"));
}

}  // namespace
}  // namespace minisched
