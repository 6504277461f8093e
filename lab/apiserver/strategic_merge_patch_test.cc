#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/patch.h"

namespace minisched::apiserver {
namespace {

Json Apply(std::string_view object, std::string_view patch,
           std::string_view api_version = "v1", std::string_view kind = "Pod") {
  return ApplyStrategicMergePatch(Json::parse(object), Json::parse(patch),
                                  *Schema::Get().Find(api_version, kind));
}

// Applies a patch to a pod's spec.
Json ApplyToSpec(const std::string& spec, const std::string& patch) {
  return Apply(R"({"spec": )" + spec + "}",
               R"({"spec": )" + patch + "}")["spec"];
}

struct Case {
  const char* title;
  const char* spec;
  const char* patch;
  const char* result;
};

void CheckSpecs(std::initializer_list<Case> cases) {
  for (const auto& [title, spec, patch, result] : cases) {
    EXPECT_EQ(ApplyToSpec(spec, patch), Json::parse(result)) << title;
  }
}

TEST(StrategicMergePatchTest, MergesObjects) {
  CheckSpecs({
      {"sets, adds and deletes members",
       R"({"nodeName": "a", "hostname": "h", "nodeSelector": {"x": "1"}})",
       R"({"nodeName": "b", "hostname": null, "subdomain": null,
           "nodeSelector": {"y": "2"}, "securityContext": {"fsGroup": null}})",
       R"({"nodeName": "b", "nodeSelector": {"x": "1", "y": "2"},
           "securityContext": {}})"},
      {"replaces an object by a directive", R"({"nodeSelector": {"x": "1"}})",
       R"({"nodeSelector": {"$patch": "replace", "y": "2"}})",
       R"({"nodeSelector": {"y": "2"}})"},
      {"empties an object by a directive", R"({"nodeSelector": {"x": "1"}})",
       R"({"nodeSelector": {"$patch": "delete"}})", R"({"nodeSelector": {}})"},
      {"drops directives for missing members", "{}",
       R"({"nodeSelector": {"$patch": "delete"}, "hostname": "h"})",
       R"({"hostname": "h"})"},
  });
  EXPECT_EQ(Apply(R"({"spec": {"selector": {"matchLabels": {"a": "1"}}}})",
                  R"({"spec": {"selector": {"matchLabels": {"b": "2"}}}})",
                  "policy/v1", "PodDisruptionBudget"),
            Json::parse(R"({"spec": {"selector": {"matchLabels":
                                                      {"b": "2"}}}})"))
      << "replaces an object that the schema marks so";
}

TEST(StrategicMergePatchTest, MergesListsOfObjectsByTheirKey) {
  CheckSpecs({
      {"changes and adds containers, in the order of the patch",
       R"({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})",
       R"({"containers": [{"name": "c"}, {"name": "a", "tty": true}]})",
       R"({"containers": [{"name": "c"},
                          {"name": "a", "image": "1", "tty": true},
                          {"name": "b"}]})"},
      {"merges lists in lists",
       R"({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"},
                                                {"name": "Y", "value": "2"}]}]})",
       R"({"containers": [{"name": "a", "env": [{"name": "Y", "value": "3"}]}]})",
       R"({"containers": [{"name": "a", "env": [{"name": "X", "value": "1"},
                                                {"name": "Y", "value": "3"}]}]})"},
      {"deletes by key", R"({"containers": [{"name": "a"}, {"name": "b"}]})",
       R"({"containers": [{"name": "a", "$patch": "delete"}]})",
       R"({"containers": [{"name": "b"}]})"},
      {"replaces the list", R"({"containers": [{"name": "a"}, {"name": "b"}]})",
       R"({"containers": [{"name": "c"}, {"$patch": "replace"}]})",
       R"({"containers": [{"name": "c"}]})"},
      {"replaces an element",
       R"({"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]})",
       R"({"volumes": [{"name": "a", "emptyDir": {"$patch": "replace"}}]})",
       R"({"volumes": [{"name": "a", "emptyDir": {}}]})"},
      {"replaces lists without a key",
       R"({"tolerations": [{"key": "a"}, {"key": "b"}]})",
       R"({"tolerations": [{"key": "c"}]})",
       R"({"tolerations": [{"key": "c"}]})"},
      {"adds a new list without its directives", "{}",
       R"({"containers": [{"name": "a"}, {"name": "b", "$patch": "delete"}]})",
       R"({"containers": [{"name": "a"}]})"},
      {"deletes the list",
       R"({"tolerations": [{"key": "a"}], "volumes": [{"name": "v"}]})",
       R"({"tolerations": null, "volumes": null})", "{}"},
  });
}

TEST(StrategicMergePatchTest, MergesListsOfScalars) {
  const struct {
    const char* before;
    const char* patch;
    const char* after;
  } kCases[] = {
      {R"(["a", "b"])", R"({"finalizers": ["c", "a"]})", R"(["c", "a", "b"])"},
      {R"(["a", "b"])",
       R"({"$deleteFromPrimitiveList/finalizers": ["a", "x"]})", R"(["b"])"},
      {R"(["a", "b"])",
       R"({"$deleteFromPrimitiveList/finalizers": ["a"],
           "$setElementOrder/finalizers": ["c", "b"], "finalizers": ["c"]})",
       R"(["c", "b"])"},
      {R"(["a", "b", "c"])", R"({"$setElementOrder/finalizers": ["c", "a"]})",
       R"(["b", "c", "a"])"},
  };
  for (const auto& [before, patch, after] : kCases) {
    const Json object = {{"metadata", {{"finalizers", Json::parse(before)}}}};
    const Json result =
        ApplyStrategicMergePatch(object, {{"metadata", Json::parse(patch)}},
                                 *Schema::Get().Find("v1", "Pod"));
    EXPECT_EQ(result["metadata"]["finalizers"], Json::parse(after)) << patch;
  }
}

TEST(StrategicMergePatchTest, SetElementOrderSortsLists) {
  CheckSpecs({
      {"keeps a server's element before the element that followed it",
       R"({"containers": [{"name": "a"}, {"name": "s"}, {"name": "b"}]})",
       R"({"$setElementOrder/containers": [{"name": "b"}, {"name": "c"},
                                           {"name": "a"}],
           "containers": [{"name": "c"}, {"name": "a", "image": "1"}]})",
       R"({"containers": [{"name": "s"}, {"name": "b"}, {"name": "c"},
                          {"name": "a", "image": "1"}]})"},
      {"sorts a list that the patch does not have",
       R"({"containers": [{"name": "a"}, {"name": "b"}]})",
       R"({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]})",
       R"({"containers": [{"name": "b"}, {"name": "a"}]})"},
      {"sorts and deletes",
       R"({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})",
       R"({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
           "containers": [{"name": "b", "$patch": "delete"}]})",
       R"({"containers": [{"name": "c"}, {"name": "a"}]})"},
      {"sorts a new list", "{}",
       R"({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
           "containers": [{"name": "b"}, {"name": "a"}]})",
       R"({"containers": [{"name": "b"}, {"name": "a"}]})"},
      {"ignores a missing list", "{}",
       R"({"$setElementOrder/containers": [{"name": "b"}]})", "{}"},
  });
}

TEST(StrategicMergePatchTest, RefusesInvalidPatches) {
  const struct {
    const char* patch;
    int code;
    const char* message;
  } kCases[] = {
      {R"({"containers": [{"image": "x"}]})", 500,
       "{\"image\":\"x\"} does not contain declared merge key: name"},
      {R"({"containers": [{"$patch": "delete"}]})", 500,
       "{\"$patch\":\"delete\"} does not contain declared merge key: name"},
      {R"({"containers": ["a"]})", 500,
       "\"a\" does not contain declared merge key: name"},
      {R"({"containers": [{"name": "a", "$patch": "x"}]})", 500,
       "unknown patch type: x"},
      {R"({"nodeSelector": {"$patch": 1, "a": null}})", 500,
       "unknown patch type: 1"},
      {R"({"$retainKeys": "containers"})", 400,
       "invalid patch format of retainKeys"},
      {R"({"$retainKeys": ["containers"], "nodeName": "n"})", 400,
       "invalid patch format of retainKeys"},
      {R"({"$setElementOrder/containers": "a"})", 500,
       "expected a []interface {}, but received a string"},
      {R"({"$setElementOrder/containers": [], "containers": {}})", 500,
       "expected a []interface {}, but received a map[string]interface {}"},
      {R"({"$setElementOrder/nodeSelector": []})", 500,
       "expected a []interface {}, but received a map[string]interface {}"},
      {R"({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
           "containers": [{"name": "a"}, {"name": "b"}]})",
       500,
       "The order in patch list:\n[{\"name\":\"a\"},{\"name\":\"b\"}]\n "
       "doesn't match $setElementOrder list:\n"
       "[{\"name\":\"b\"},{\"name\":\"a\"}]\n"},
      {R"({"$setElementOrder": []})", 400,
       "invalid patch format of setElementOrder list"},
      {R"({"$deleteFromPrimitiveList": []})", 400,
       "invalid patch format of primitive list"},
  };
  for (const auto& [patch, code, message] : kCases) {
    try {
      ApplyToSpec(R"({"containers": [{"name": "a"}], "nodeSelector": {}})",
                  patch);
      ADD_FAILURE() << patch;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code(), code) << patch;
      EXPECT_STREQ(error.what(), message) << patch;
    }
  }
  EXPECT_THROW(Apply("{}", "[]"), StatusError);
}

// Each element of the patch merges a short list into the same long list.
TEST(StrategicMergePatchTest, RefusesAPatchThatMergesTheSameListTooOften) {
  Json ports = Json::array();
  for (int i = 1; i <= 10'000; ++i) ports.push_back({{"containerPort", i}});
  const Json same = {{"name", "a"}, {"ports", {{{"containerPort", 1}}}}};
  const Json object = {
      {"spec", {{"containers", {{{"name", "a"}, {"ports", ports}}}}}}};
  const Json patch = {{"spec", {{"containers", Json(1000, same)}}}};
  try {
    ApplyStrategicMergePatch(object, patch, *Schema::Get().Find("v1", "Pod"));
    ADD_FAILURE();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code(), 413);
    EXPECT_STREQ(error.what(),
                 "Request entity too large: the patch copies, moves or merges "
                 "too much data: send it in parts");
  }
}

}  // namespace
}  // namespace minisched::apiserver
