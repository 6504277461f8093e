#include "minisched/api/extender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using Names = std::vector<std::string>;

// A response, and what is read of it.
template <class T>
struct Case {
  std::string_view json;
  T result;
};

template <class T>
void ExpectReads(std::initializer_list<Case<T>> cases) {
  for (const auto& [json, result] : cases) {
    EXPECT_EQ(FromJson<T>(json), result) << json;
  }
}

// A malformed response, and the error.
struct MalformedCase {
  std::string_view json;
  std::string error;
};

template <class T>
void ExpectFails(std::initializer_list<MalformedCase> cases) {
  for (const auto& [json, error] : cases) {
    std::string found = "no error";
    try {
      FromJson<T>(json);
    } catch (const ParseError& caught) {
      found = caught.what();
    }
    EXPECT_EQ(found, error) << json;
  }
}

TEST(ExtenderTest, ReadsAFilterResult) {
  ExpectReads<ExtenderFilterResult>({
      {R"({"NodeNames": ["a", "b"], "FailedNodes": {"c": "no disk"},
           "FailedAndUnresolvableNodes": {"d": "no licence"}})",
       {.node_names = Names{"a", "b"},
        .failed_nodes = {{"c", "no disk"}},
        .failed_and_unresolvable_nodes = {{"d", "no licence"}}}},
      {R"({"Nodes": null, "NodeNames": [], "FailedNodes": null, "Error": ""})",
       {.node_names = Names{}}},
      {R"({"Error": "no connection"})", {.error = "no connection"}},
      {"{}", {}},
      {"null", {}},
  });
}

TEST(ExtenderTest, ReadsTheNamesOfAFilterResultsNodes) {
  ExpectReads<ExtenderFilterResult>({
      {R"({"Nodes": {"kind": "NodeList", "metadata": {"name": "c"}, "items": [
             {"metadata": {"name": "a", "uid": "1"}, "status": {"phase": 5}},
             {"spec": {}, "metadata": {"labels": {"x": "y"}, "name": "b"}}]}})",
       {.nodes = Names{"a", "b"}}},
      {R"({"nodes": {"Items": [{"Metadata": {"Name": "a"}}]}})",
       {.nodes = Names{"a"}}},
      {R"({"Nodes": {}})", {.nodes = Names{}}},
      {R"({"Nodes": {"items": null}})", {.nodes = Names{}}},
      {R"({"Nodes": {"items": [null, {}, {"metadata": null}]}})",
       {.nodes = Names{"", "", ""}}},
  });
}

TEST(ExtenderTest, ReadsPriorities) {
  ExpectReads<HostPriorityList>({
      {R"([{"Host": "a", "Score": 10}, {"Host": "b", "Score": -1}])",
       {{"a", 10}, {"b", -1}}},
      {R"([{"host": "a", "score": 9223372036854775807}, {}, null])",
       {{"a", 9223372036854775807}, {}, {}}},
      {"[]", {}},
      {"null", {}},
  });
}

TEST(ExtenderTest, ReadsVictims) {
  ExpectReads<ExtenderPreemptionResult>({
      {R"({"NodeNameToMetaVictims": {
             "a": {"Pods": [{"UID": "1"}, {"UID": "2"}], "NumPDBViolations": 1},
             "B": {"pods": [{"uid": "3"}]}}})",
       {{{"a", {{{"1"}, {"2"}}, 1}}, {"B", {{{"3"}}, 0}}}}},
      {R"({"nodeNameToMetaVictims": {"a": null, "b": {"Pods": [null]}}})",
       {{{"a", {}}, {"b", {{{}}, 0}}}}},
      {R"({"NodeNameToMetaVictims": null})", {}},
  });
}

TEST(ExtenderTest, ReadsABindingResult) {
  ExpectReads<ExtenderBindingResult>({
      {"{}", {}},
      {R"({"Error": "gone"})", {"gone"}},
      {R"({"error": "gone"})", {"gone"}},
  });
}

TEST(ExtenderTest, FindsFieldsInAnyCase) {
  ExpectReads<ExtenderFilterResult>({
      {R"({"nodeNames": ["a"], "failednodes": {"B": "x"}, "ERROR": "e"})",
       {.node_names = Names{"a"}, .failed_nodes = {{"B", "x"}}, .error = "e"}},
      {R"({"nodenames": ["a"], "NodeNames": ["b"], "nodeNames": ["c"]})",
       {.node_names = Names{"b"}}},
      {R"({"NodeNames": null, "nodeNames": ["c"]})",
       {.node_names = Names{"c"}}},
      {R"({"node_names": ["a"], "NodeName": ["b"]})", {}},
  });
}

TEST(ExtenderTest, NullIsAnEmptyElement) {
  ExpectReads<ExtenderFilterResult>({
      {R"({"NodeNames": ["a", null], "FailedNodes": {"b": null}})",
       {.node_names = Names{"a", ""}, .failed_nodes = {{"b", ""}}}},
  });
}

TEST(ExtenderTest, NamesTheMalformedField) {
  ExpectFails<ExtenderFilterResult>({
      {R"({"FailedNodes": {"node-1": 5}})",
       "FailedNodes.node-1: expected a string, found a JSON number"},
      {R"({"failedNodes": []})",
       "failedNodes: expected an object, found a JSON array"},
      {R"({"NodeNames": ["a", {}]})",
       "NodeNames[1]: expected a string, found a JSON object"},
      {R"({"NodeNames": "a"})",
       "NodeNames: expected a list, found a JSON string"},
      {R"({"Nodes": []})", "Nodes: expected an object, found a JSON array"},
      {R"({"Nodes": {"items": [{"metadata": {"name": 1}}]}})",
       "Nodes.items[0].metadata.name: expected a string, found a JSON number"},
      {"[]", "expected an object, found a JSON array"},
  });
  ExpectFails<HostPriorityList>({
      {R"([{"Score": 0.5}])",
       "[0].Score: expected a whole number, found a JSON number"},
      {R"([{"Score": 9223372036854775808}])",
       "[0].Score: the number 9223372036854775808 does not fit"},
      {R"([{"Score": "1"}])",
       "[0].Score: expected a whole number, found a JSON string"},
      {"{}", "expected a list, found a JSON object"},
  });
  ExpectFails<ExtenderPreemptionResult>({
      {R"({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": 1}]}}})",
       "NodeNameToMetaVictims.a.Pods[0].UID: expected a string, found a JSON "
       "number"},
  });
  ExpectFails<ExtenderBindingResult>({
      {R"({"Error": {}})", "Error: expected a string, found a JSON object"},
  });
}

TEST(ExtenderTest, RefusesWhatIsNotOneJsonValue) {
  for (const std::string_view text :
       {"", "<html>", "{", "{} {}", "{}x", R"({"Error": ")"}) {
    EXPECT_THROW(FromJson<ExtenderBindingResult>(text), ParseError) << text;
  }
}

// Recursion would overflow the stack, in the parser or in its result.
TEST(ExtenderTest, ReadsDeepJson) {
  constexpr int kDepth = 100'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_EQ(FromJson<ExtenderBindingResult>(R"({"unknown": )" + deep + "}"),
            ExtenderBindingResult());
  EXPECT_THROW(FromJson<ExtenderFilterResult>(deep), ParseError);
  EXPECT_THROW(FromJson<HostPriorityList>(deep), ParseError);
}

}  // namespace
}  // namespace minisched
