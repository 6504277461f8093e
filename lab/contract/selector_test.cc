// Label and field selectors of lists.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using Strings = std::vector<std::string>;

class SelectorTest : public ContractTest {
 protected:
  void CreatePods() {
    for (const char* name : {"a", "b"}) {
      Create("pods", Pod(name, {{"metadata", {{"labels", {{"n", name}}}}}}));
    }
    Create("pods", Pod("c", R"({"metadata": {"labels": {"n": "5", "m": ""}},
                                "spec": {"nodeName": "contract-nowhere",
                                         "restartPolicy": "Never",
                                         "hostNetwork": true}})"_json));
    Create("pods", Pod("d"));
  }

  Strings SelectByLabels(const std::string& selector) {
    return Names(Read("pods?labelSelector=" + selector));
  }

  Strings SelectByFields(const std::string& selector) {
    return Names(Read("pods?fieldSelector=" + selector));
  }

  // Expects the server to accept each of these fields in a field selector.
  void ExpectAccepted(const std::string& path, const Strings& fields) {
    for (const std::string& field : fields) {
      EXPECT_THAT(Get(path + "?fieldSelector=" + field + "=none"), Answers(200))
          << field;
    }
  }
};

TEST_F(SelectorTest, SelectsByLabels) {
  CreatePods();
  EXPECT_EQ(SelectByLabels(""), (Strings{"a", "b", "c", "d"}));
  EXPECT_EQ(SelectByLabels("n=a"), (Strings{"a"}));
  EXPECT_EQ(SelectByLabels("n==a"), (Strings{"a"}));
  EXPECT_EQ(SelectByLabels("n = a , n"), (Strings{"a"}));
  EXPECT_EQ(SelectByLabels("n!=a"), (Strings{"b", "c", "d"}));
  EXPECT_EQ(SelectByLabels("n in (a,b)"), (Strings{"a", "b"}));
  EXPECT_EQ(SelectByLabels("n notin (a,b)"), (Strings{"c", "d"}));
  EXPECT_EQ(SelectByLabels("n"), (Strings{"a", "b", "c"}));
  EXPECT_EQ(SelectByLabels("!n"), (Strings{"d"}));
  EXPECT_EQ(SelectByLabels("n,n!=a"), (Strings{"b", "c"}));
  EXPECT_EQ(SelectByLabels("n>4"), (Strings{"c"}));
  EXPECT_EQ(SelectByLabels("n<4"), (Strings{}));
  EXPECT_EQ(SelectByLabels("m="), (Strings{"c"}));
  EXPECT_EQ(SelectByLabels("n=none"), (Strings{}));
}

TEST_F(SelectorTest, RejectsInvalidLabelSelectors) {
  const auto expect_rejected = [&](const std::string& selector,
                                   const char* message) {
    EXPECT_THAT(Get("pods?labelSelector=" + selector),
                Refuses(400, "BadRequest", testing::HasSubstr(message)))
        << selector;
  };
  expect_rejected(
      "n in (a", "unable to parse requirement: found '', expected: ',' or ')'");
  expect_rejected("n=a b", "found 'b', expected: ',' or 'end of string'");
  expect_rejected("=",
                  "found '=', expected: !, identifier, or 'end of string'");
  expect_rejected("a b=c", "unable to parse requirement: ");
  expect_rejected("n>x",
                  "for 'Gt', 'Lt' operators, the value must be an integer");
  expect_rejected("n=a_", "a valid label must be");
}

TEST_F(SelectorTest, SelectsByFields) {
  CreatePods();
  EXPECT_EQ(SelectByFields("metadata.name=a"), (Strings{"a"}));
  EXPECT_EQ(SelectByFields("metadata.name==a"), (Strings{"a"}));
  EXPECT_EQ(SelectByFields("metadata.name!=a"), (Strings{"b", "c", "d"}));
  EXPECT_EQ(SelectByFields("metadata.namespace=" + namespace_name()),
            (Strings{"a", "b", "c", "d"}));
  EXPECT_EQ(SelectByFields("metadata.namespace=other"), (Strings{}));
  EXPECT_EQ(SelectByFields("spec.nodeName="), (Strings{"a", "b", "d"}));
  EXPECT_EQ(SelectByFields("spec.nodeName!="), (Strings{"c"}));
  EXPECT_EQ(SelectByFields("spec.nodeName=contract-nowhere"), (Strings{"c"}));
  EXPECT_EQ(SelectByFields("spec.nodeName=,metadata.name!=b"),
            (Strings{"a", "d"}));
  EXPECT_EQ(SelectByFields("spec.restartPolicy=Never"), (Strings{"c"}));
  EXPECT_EQ(SelectByFields("spec.schedulerName!=contract"), (Strings{}));
  EXPECT_EQ(SelectByFields("spec.hostNetwork=true"), (Strings{"c"}));
  EXPECT_EQ(SelectByFields("spec.hostNetwork=false"), (Strings{"a", "b", "d"}));
  EXPECT_EQ(SelectByFields("status.phase=Pending"),
            (Strings{"a", "b", "c", "d"}));
  EXPECT_EQ(SelectByFields("status.phase!=Pending"), (Strings{}));
}

TEST_F(SelectorTest, CombinesBothSelectors) {
  CreatePods();
  EXPECT_EQ(Names(Read("pods?labelSelector=n&fieldSelector=spec.nodeName=")),
            (Strings{"a", "b"}));
}

TEST_F(SelectorTest, AcceptsFieldsOfPods) {
  ExpectAccepted("pods",
                 {"metadata.name", "metadata.namespace", "spec.nodeName",
                  "spec.restartPolicy", "spec.schedulerName",
                  "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                  "status.podIP", "status.podIPs", "status.nominatedNodeName"});
}

TEST_F(SelectorTest, AcceptsFieldsOfOtherKinds) {
  ExpectAccepted("nodes", {"metadata.name", "spec.unschedulable"});
  ExpectAccepted("namespaces", {"metadata.name", "status.phase"});
  ExpectAccepted("deployments", {"metadata.name", "metadata.namespace"});
  ExpectAccepted("leases", {"metadata.name", "metadata.namespace"});
}

TEST_F(SelectorTest, AcceptsFieldsOfEvents) {
  ExpectAccepted("events",
                 {"metadata.name", "metadata.namespace", "involvedObject.kind",
                  "involvedObject.namespace", "involvedObject.name",
                  "involvedObject.uid", "involvedObject.apiVersion",
                  "involvedObject.resourceVersion", "involvedObject.fieldPath",
                  "reason", "reportingComponent", "source", "type"});
  ExpectAccepted(
      "/apis/events.k8s.io/v1/events",
      {"metadata.name", "metadata.namespace", "regarding.kind",
       "regarding.namespace", "regarding.name", "regarding.uid",
       "regarding.apiVersion", "regarding.resourceVersion",
       "regarding.fieldPath", "reason", "reportingController", "type"});
}

TEST_F(SelectorTest, RejectsUnknownFields) {
  for (const char* path :
       {"pods?fieldSelector=spec.foo", "nodes?fieldSelector=spec.foo",
        "namespaces?fieldSelector=spec.foo", "events?fieldSelector=spec.foo"}) {
    EXPECT_THAT(
        Get(path + std::string("=x")),
        Refuses(400, "BadRequest", "field label not supported: spec.foo"))
        << path;
  }
  for (const char* path :
       {"deployments?fieldSelector=spec.foo", "leases?fieldSelector=spec.foo",
        "configmaps?fieldSelector=spec.foo",
        "priorityclasses?fieldSelector=spec.foo"}) {
    EXPECT_THAT(Get(path + std::string("=x")),
                Refuses(400, "BadRequest", testing::HasSubstr("spec.foo")))
        << path;
  }
}

TEST_F(SelectorTest, RejectsInvalidFieldSelectors) {
  for (const std::string selector : {"bad", "metadata.name in (a)"}) {
    EXPECT_THAT(Get("pods?fieldSelector=" + selector),
                Refuses(400, "BadRequest",
                        "invalid selector: '" + selector +
                            "'; can't understand '" + selector + "'"));
  }
}

}  // namespace
}  // namespace minisched
