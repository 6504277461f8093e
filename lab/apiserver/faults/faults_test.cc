#include "lab/apiserver/faults/faults.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;
using Delivery = Reply::Delivery;

std::string ErrorOf(const std::string& document) {
  try {
    Faults::Parse(document);
    return "";
  } catch (const ParseError& error) {
    return error.what();
  }
}

std::string FaultErrorOf(const std::string& fault) {
  return ErrorOf("faults: [" + fault + "]");
}

TEST(FaultsTest, DocumentErrorsNameTheField) {
  EXPECT_EQ(ErrorOf("[]"), "the document: must be an object, is a list");
  EXPECT_EQ(ErrorOf(""), "the faults must be one document, found 0");
  EXPECT_EQ(ErrorOf("a: [b").substr(0, 4), "line");
  EXPECT_EQ(ErrorOf("fault: []"),
            "fault: unknown field; the known fields are seed, faults");
  EXPECT_EQ(ErrorOf("seed: -1"),
            "seed: must be a whole number of at least 0, is -1");
  EXPECT_EQ(ErrorOf("faults: {}"), "faults: must be a list, is an object");
  EXPECT_EQ(ErrorOf("faults: [{drop: before}, 7]"),
            "faults[1]: must be an object, is 7");
}

TEST(FaultsTest, FaultErrorsNameTheField) {
  EXPECT_EQ(FaultErrorOf("{}"),
            "faults[0]: does nothing: add latency, error, drop, hang or watch");
  EXPECT_THAT(
      FaultErrorOf("{chance: 1, drop: before}"),
      StartsWith(
          "faults[0].chance: unknown field; the known fields are match, "));
  EXPECT_EQ(FaultErrorOf("{probability: 2, drop: before}"),
            "faults[0].probability: must be from 0 to 1, is 2");
  EXPECT_EQ(FaultErrorOf("{probability: often, drop: before}"),
            "faults[0].probability: must be from 0 to 1, is \"often\"");
  EXPECT_EQ(FaultErrorOf("{times: 0, drop: before}"),
            "faults[0].times: must be a whole number of at least 1, is 0");
  EXPECT_EQ(FaultErrorOf("{latency: 5}"),
            "faults[0].latency: must be a duration such as 200ms or 1.5s, is "
            "5");
  EXPECT_EQ(FaultErrorOf("{latency: 0s}"),
            "faults[0].latency: must be from 1ms to a year, is \"0s\"");
  EXPECT_THAT(FaultErrorOf("{latency: soon}"),
              StartsWith("faults[0].latency: invalid duration \"soon\""));
  EXPECT_EQ(FaultErrorOf("{drop: never}"),
            "faults[0].drop: must be one of before, after, is \"never\"");
  EXPECT_EQ(FaultErrorOf("{drop: before, hang: before}"),
            "faults[0].hang: cannot be combined with drop");
  EXPECT_EQ(FaultErrorOf("{drop: before, error: {code: 500}}"),
            "faults[0].drop: cannot be combined with error");
}

TEST(FaultsTest, ErrorsInPartsOfAFaultNameTheField) {
  EXPECT_EQ(FaultErrorOf("{error: {}}"), "faults[0].error.code: is required");
  EXPECT_EQ(FaultErrorOf("{error: {code: 200}}"),
            "faults[0].error.code: must be from 400 to 599, is 200");
  EXPECT_EQ(FaultErrorOf("{error: {code: 500, after: 1}}"),
            "faults[0].error.after: must be true or false, is 1");
  EXPECT_EQ(
      FaultErrorOf("{error: {code: 500, reason: [a]}}"),
      "faults[0].error.reason: must be a string that is not empty, is a list");
  EXPECT_EQ(FaultErrorOf("{watch: {}}"),
            "faults[0]: does nothing: add latency, error, drop, hang or watch");
  EXPECT_EQ(FaultErrorOf("{watch: {cut: 1s}, hang: after}"),
            "faults[0].watch: cannot be combined with hang");
  EXPECT_EQ(FaultErrorOf("{match: {verbs: [get]}, watch: {cut: 1s}}"),
            "faults[0].watch: match.verbs lacks watch, so the fault never "
            "applies");
  EXPECT_EQ(
      FaultErrorOf("{match: {verbs: [post]}, drop: before}"),
      "faults[0].match.verbs[0]: must be one of get, list, watch, create, "
      "update, patch, delete, deletecollection, provision, bind, is \"post\"");
  EXPECT_EQ(FaultErrorOf("{match: {verbs: get}, drop: before}"),
            "faults[0].match.verbs: must be a list, is \"get\"");
  for (const char* name : {"Pod", "pods/scale", "/", "pods/"}) {
    EXPECT_EQ(FaultErrorOf("{match: {resource: " + std::string(name) +
                           "}, drop: before}"),
              "faults[0].match.resource: unknown resource \"" +
                  std::string(name) + "\"; write it like pods or pods/binding");
  }
  EXPECT_EQ(
      FaultErrorOf("{match: {userAgent: ''}, drop: before}"),
      "faults[0].match.userAgent: must be a string that is not empty, is \"\"");
}

// Returns the effect of the faults on a request from the User-Agent `agent`.
FaultEffect Select(Faults& faults, const std::string& method,
                   const std::string& target, const std::string& agent = "") {
  Request request;
  request.method = method;
  request.headers["user-agent"] = agent;
  EXPECT_TRUE(ParseTarget(target, request));
  return faults.Select(request, RequestInfo::Parse(request).value());
}

constexpr char kPods[] = "/api/v1/namespaces/demo-1/pods";
constexpr char kBinding[] = "/api/v1/namespaces/demo-1/pods/web-1/binding";

bool Matches(const std::string& match, const std::string& method,
             const std::string& target, const std::string& agent = "") {
  Faults faults =
      Faults::Parse("faults: [{match: " + match + ", drop: after}]");
  const FaultEffect effect = Select(faults, method, target, agent);
  EXPECT_EQ(effect.after, effect.delivery == Delivery::kDropped);
  return effect.delivery == Delivery::kDropped;
}

TEST(FaultsTest, AFaultAppliesToMatchingRequestsOnly) {
  EXPECT_TRUE(Matches("{}", "GET", kPods));
  EXPECT_TRUE(Matches("{verbs: [create, patch]}", "POST", kPods));
  EXPECT_FALSE(Matches("{verbs: [create, patch]}", "GET", kPods));
  EXPECT_TRUE(Matches("{resource: pods/binding}", "POST", kBinding));
  EXPECT_FALSE(Matches("{resource: pods}", "POST", kBinding));
  EXPECT_TRUE(Matches("{namespace: demo-*}", "GET", kPods));
  EXPECT_FALSE(Matches("{namespace: demo}", "GET", kPods));
  EXPECT_FALSE(Matches("{namespace: demo-*}", "GET", "/api/v1/pods"));
  EXPECT_TRUE(Matches("{name: 'web-?'}", "POST", kBinding));
  EXPECT_FALSE(Matches("{name: 'web-?'}", "POST", kPods));
  EXPECT_TRUE(Matches("{userAgent: 'a/*'}", "GET", kPods, "a/1 (x/y)"));
  EXPECT_FALSE(Matches("{userAgent: 'a/*'}", "GET", kPods, "b/1"));
  EXPECT_FALSE(Matches("{userAgent: '!a/*'}", "GET", kPods, "a/1 (x/y)"));
  EXPECT_TRUE(Matches("{userAgent: '!a/*'}", "GET", kPods, "b/1"));
}

TEST(FaultsTest, OnlyAFaultWithTheVerbOfAControllerAppliesToIt) {
  const auto applies = [](const std::string& match) {
    Faults faults =
        Faults::Parse("faults: [{match: " + match + ", hang: before}]");
    const ResourceRow& claims = GetResource("", "persistentvolumeclaims");
    RequestInfo info{.row = &claims, .ns = "demo", .name = "c"};
    info.verb = kProvision;
    return faults.Select({}, info).EndsRequest();
  };
  EXPECT_TRUE(applies("{verbs: [provision]}"));
  EXPECT_TRUE(applies("{verbs: [provision], namespace: demo, name: 'c*'}"));
  EXPECT_FALSE(applies("{verbs: [provision], name: d}"));
  // The player of scenarios adds a userAgent to all faults.
  EXPECT_TRUE(applies("{verbs: [provision], userAgent: 'a/*'}"));
  EXPECT_FALSE(applies("{verbs: [bind]}"));
  EXPECT_FALSE(applies("{}"));
  Faults faults =
      Faults::Parse("faults: [{match: {verbs: [provision]}, hang: before}]");
  EXPECT_FALSE(Select(faults, "GET", kPods).EndsRequest());
  EXPECT_EQ(FaultErrorOf("{match: {verbs: [provision, get]}, hang: before}"),
            "faults[0].match.verbs: provision cannot be combined with others");
  EXPECT_EQ(FaultErrorOf("{match: {verbs: [provision]}, drop: before}"),
            "faults[0].drop: cannot be combined with the verb provision");
  EXPECT_EQ(FaultErrorOf("{match: {verbs: [provision], resource: pods}, "
                         "latency: 1s}"),
            "faults[0].match.resource: cannot be combined with the verb "
            "provision");
}

TEST(FaultsTest, TimesLimitsHowOftenAFaultApplies) {
  Faults faults = Faults::Parse("faults: [{times: 2, hang: before}]");
  EXPECT_EQ(Select(faults, "GET", kPods).delivery, Delivery::kWithheld);
  EXPECT_EQ(Select(faults, "GET", kPods).delivery, Delivery::kWithheld);
  EXPECT_EQ(Select(faults, "GET", kPods).delivery, Delivery::kSent);
  EXPECT_EQ(faults.ToJson()["faults"][0]["applied"], 2);
}

TEST(FaultsTest, EffectsAddUpUntilOneEndsTheRequest) {
  Faults faults = Faults::Parse(R"(
faults:
- latency: 200ms
- watch: {delay: 1s, cut: 3s}
- watch: {delay: 1s, cut: 2s}
  latency: 1.5s
- match: {verbs: [create]}
  error: {code: 503}
- drop: after
)");
  const FaultEffect create = Select(faults, "POST", kPods);
  EXPECT_EQ(create.latency, milliseconds(200));
  EXPECT_TRUE(create.error);
  EXPECT_FALSE(create.after);
  const FaultEffect watch =
      Select(faults, "GET", std::string(kPods) + "?watch=1");
  EXPECT_EQ(watch.latency, milliseconds(1700));
  EXPECT_EQ(watch.watch_delay, milliseconds(2000));
  EXPECT_EQ(watch.watch_cut, milliseconds(2000));
  EXPECT_EQ(watch.delivery, Delivery::kDropped);
}

TEST(FaultsTest, ErrorsHaveTheConfiguredStatus) {
  const auto status = [](const std::string& error) {
    Faults faults = Faults::Parse("faults: [{error: " + error + "}]");
    return Select(faults, "GET", kPods).error->ToJson();
  };
  const Json unavailable = status("{code: 503}");
  EXPECT_EQ(unavailable["reason"], "ServiceUnavailable");
  EXPECT_EQ(unavailable["message"], "a fault was injected");
  EXPECT_EQ(unavailable["code"], 503);
  EXPECT_FALSE(status("{code: 418}").contains("reason"));
  const Json own =
      status("{code: 409, reason: Mine, message: mine, retryAfterSeconds: 2}");
  EXPECT_EQ(own["reason"], "Mine");
  EXPECT_EQ(own["message"], "mine");
  EXPECT_EQ(own["details"]["retryAfterSeconds"], 2);
}

// Makes several requests. Returns 'x' for each to which a fault applied, and
// '-' for the others.
std::string AppliedPattern(Faults faults, int requests) {
  std::string applied;
  for (int i = 0; i < requests; ++i) {
    applied +=
        Select(faults, "GET", kPods).delivery == Delivery::kDropped ? 'x' : '-';
  }
  return applied;
}

TEST(FaultsTest, TheSeedDeterminesWhichRequestsAFaultAppliesTo) {
  const std::string fault = "faults: [{probability: 0.3, drop: before}]";
  const std::string first =
      AppliedPattern(Faults::Parse("seed: 7\n" + fault), 1000);
  EXPECT_EQ(AppliedPattern(Faults::Parse("seed: 7\n" + fault), 1000), first);
  EXPECT_NE(AppliedPattern(Faults::Parse("seed: 8\n" + fault), 1000), first);
  const auto applied = std::count(first.begin(), first.end(), 'x');
  EXPECT_GT(applied, 250);
  EXPECT_LT(applied, 350);
  EXPECT_EQ(AppliedPattern(
                Faults::Parse("faults: [{probability: 0, drop: before}]"), 5),
            "-----");
}

TEST(FaultsTest, TheJsonOfFaultsCanBeParsedAgain) {
  Faults faults = Faults::Parse(
      "{seed: 7, faults: [{match: {name: a}, times: 1, latency: 2s}]}");
  const Json document = faults.ToJson();
  EXPECT_EQ(document["faults"][0]["applied"], 0);
  EXPECT_EQ(Faults::Parse(document.dump()).ToJson(), document);
  EXPECT_EQ(Faults().ToJson().dump(), R"({"faults":[]})");
  EXPECT_EQ(Faults::Parse("{}").ToJson(), Faults().ToJson());
}

}  // namespace
}  // namespace minisched::apiserver
