#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "minisched/api/json.h"
#include "plugins/node_name.h"
#include "plugins/node_unschedulable.h"
#include "plugins/taint_toleration.h"

namespace minisched {
namespace {

template <class T>
Status Filter(const std::string& pod, const std::string& node) {
  return T().Filter(
      {}, FromJson<Pod>(R"({"spec":)" + pod + "}"),
      NodeInfo(std::make_shared<const Node>(FromJson<Node>(node))));
}

// Whether a pod with this spec fits the node.
struct Case {
  const char* name;
  const char* pod;
  const char* node;
  bool fits;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

template <class T>
void Expect(const Case& c, const std::string& reason) {
  const Status status = Filter<T>(c.pod, c.node);
  EXPECT_EQ(status.code(),
            c.fits ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.Message(), c.fits ? "" : reason);
}

class NodeUnschedulableTest : public ::testing::TestWithParam<Case> {};

TEST_P(NodeUnschedulableTest, Filter) {
  Expect<NodeUnschedulable>(GetParam(), "node(s) were unschedulable");
}

constexpr char kCordoned[] = R"({"spec":{"unschedulable":true}})";

INSTANTIATE_TEST_SUITE_P(
    Cases, NodeUnschedulableTest,
    ::testing::Values(
        Case{"Schedulable", "{}", "{}", true},
        Case{"Cordoned", "{}", kCordoned, false},
        Case{"ToleratesCordons",
             R"({"tolerations":[{"key":"node.kubernetes.io/unschedulable",
                 "operator":"Exists","effect":"NoSchedule"}]})",
             kCordoned, true},
        Case{"ToleratesEverything",
             R"({"tolerations":[{"operator":"Exists"}]})", kCordoned, true},
        Case{"ToleratesTheOtherEffect",
             R"({"tolerations":[{"key":"node.kubernetes.io/unschedulable",
                 "operator":"Exists","effect":"NoExecute"}]})",
             kCordoned, false}),
    NameOf);

class NodeNameTest : public ::testing::TestWithParam<Case> {};

TEST_P(NodeNameTest, Filter) {
  Expect<NodeName>(GetParam(), "node(s) didn't match the requested node name");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NodeNameTest,
    ::testing::Values(Case{"None", "{}", R"({"metadata":{"name":"node-1"}})",
                           true},
                      Case{"This", R"({"nodeName":"node-1"})",
                           R"({"metadata":{"name":"node-1"}})", true},
                      Case{"Another", R"({"nodeName":"node-2"})",
                           R"({"metadata":{"name":"node-1"}})", false}),
    NameOf);

class TaintTolerationTest : public ::testing::TestWithParam<Case> {};

TEST_P(TaintTolerationTest, Filter) {
  Expect<TaintToleration>(GetParam(), "node(s) had untolerated taint(s)");
}

// api/taints_test.cc tests which toleration matches which taint.
INSTANTIATE_TEST_SUITE_P(
    Cases, TaintTolerationTest,
    ::testing::Values(
        Case{"NoTaint", "{}", "{}", true},
        Case{"NoSchedule", "{}",
             R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})",
             false},
        Case{"NoExecute", "{}",
             R"({"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}})",
             false},
        Case{"PreferNoScheduleIsAPreference", "{}",
             R"({"spec":{"taints":[{"key":"a","effect":"PreferNoSchedule"}]}})",
             true},
        Case{"OneOfTwoTolerated",
             R"({"tolerations":[{"key":"a","operator":"Exists"}]})",
             R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                                   {"key":"b","effect":"NoSchedule"}]}})",
             false},
        Case{"BothTolerated",
             R"({"tolerations":[{"key":"a","operator":"Exists"},
                                {"key":"b","operator":"Exists"}]})",
             R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                                   {"key":"b","effect":"NoExecute"}]}})",
             true}),
    NameOf);

}  // namespace
}  // namespace minisched
