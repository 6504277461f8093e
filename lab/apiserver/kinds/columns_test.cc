#include "lab/apiserver/kinds/columns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "lab/apiserver/views.h"

namespace minisched::apiserver {
namespace {

using namespace std::chrono_literals;

// Returns the cells of an object in all columns of the resource.
Json Cells(const char* resource, const char* object) {
  const Time now = ParseTime("2026-03-01T01:00:00Z");
  Json cells = Json::array();
  for (const Column& column : FindColumns(resource)) {
    cells.push_back(column.cell(Json::parse(object), now));
  }
  return cells;
}

TEST(ColumnsTest, DurationsHaveOneOrTwoUnits) {
  const struct {
    std::chrono::microseconds duration;
    const char* expected;
  } tests[] = {
      {-2s, "<invalid>"},    {-1900ms, "0s"},
      {-1ms, "0s"},          {0s, "0s"},
      {1900ms, "1s"},        {119s, "119s"},
      {120s, "2m"},          {121s, "2m1s"},
      {9min + 59s, "9m59s"}, {10min + 59s, "10m"},
      {179min, "179m"},      {180min, "3h"},
      {3h + 25min, "3h25m"}, {7h + 59min, "7h59m"},
      {8h + 59min, "8h"},    {47h, "47h"},
      {48h, "2d"},           {49h, "2d1h"},
      {191h, "7d23h"},       {192h, "8d"},
      {24h * 729, "729d"},   {24h * 730, "2y"},
      {24h * 731, "2y1d"},   {24h * 365 * 8 - 1h, "7y364d"},
      {24h * 365 * 9, "9y"},
  };
  for (const auto& test : tests) {
    EXPECT_EQ(HumanDuration(test.duration), test.expected);
  }
}

TEST(ColumnsTest, AMissingAgeIsUnknown) {
  EXPECT_EQ(Cells("leases.coordination.k8s.io", "{}"),
            Json({"", "", "<unknown>"}));
}

TEST(ColumnsTest, OtherKindsHaveNameAndAge) {
  EXPECT_EQ(Cells("configmaps", R"({"metadata": {"name": "s"}})"),
            Json({"s", "<unknown>"}));
}

TEST(ColumnsTest, CellsKeepTheirTypes) {
  EXPECT_EQ(Cells("priorityclasses.scheduling.k8s.io", R"({
              "metadata": {"name": "high",
                           "creationTimestamp": "2026-03-01T00:55:00Z"},
              "value": 7, "preemptionPolicy": "Never"})"),
            Json({"high", 7, false, "5m", "Never"}));
  EXPECT_EQ(Cells("poddisruptionbudgets.policy", R"({
              "metadata": {"name": "a"}, "spec": {"minAvailable": 1},
              "status": {"disruptionsAllowed": 2}})"),
            Json({"a", "1", "N/A", 2, "<unknown>"}));
}

TEST(ColumnsTest, ADeploymentShowsItsReplicas) {
  EXPECT_EQ(Cells("deployments.apps", R"({
              "metadata": {"name": "web"},
              "spec": {"replicas": 3},
              "status": {"readyReplicas": 1, "updatedReplicas": 2}})"),
            Json({"web", "1/3", 2, 0, "<unknown>"}));
}

TEST(ColumnsTest, AJobShowsItsStatusCompletionsAndDuration) {
  const auto cells = [](const char* spec, const char* status,
                        const char* metadata = "{}") {
    const std::string job =
        fmt::format(R"({{"spec": {}, "status": {}, "metadata": {}}})", spec,
                    status, metadata);
    Json all = Cells("jobs.batch", job.c_str());
    return Json({all[1], all[2], all[3]});
  };
  const auto condition = [](const std::string& type) {
    return R"({"conditions": [{"type": "Complete", "status": "False"},
              {"type": ")" +
           type + R"(", "status": "True"}]})";
  };
  EXPECT_EQ(cells("{}", "{}"), Json({"Running", "0/1", ""}));
  EXPECT_EQ(cells(R"({"parallelism": 3})", R"({"succeeded": 2,
                "startTime": "2026-03-01T00:59:00Z"})"),
            Json({"Running", "2/1 of 3", "60s"}));
  EXPECT_EQ(cells(R"({"completions": 4})", R"({"succeeded": 4,
                "conditions": [{"type": "Complete", "status": "True"}],
                "startTime": "2026-03-01T00:00:00Z",
                "completionTime": "2026-03-01T00:00:30Z"})"),
            Json({"Complete", "4/4", "30s"}));
  for (const char* type : {"Failed", "Suspended", "FailureTarget"}) {
    EXPECT_EQ(cells("{}", condition(type).c_str())[0], type);
  }
  EXPECT_EQ(cells("{}", condition("Suspended").c_str(),
                  R"({"deletionTimestamp": "2026-03-01T01:00:00Z"})")[0],
            "Terminating");
}

TEST(ColumnsTest, OnlyTheFirstThreeOfAListAreShown) {
  const auto hosts = [](const char* rules) {
    return Cells(
        "ingresses.networking.k8s.io",
        fmt::format(R"({{"spec": {{"rules": {}}}}})", rules).c_str())[2];
  };
  EXPECT_EQ(hosts("[]"), "*");
  EXPECT_EQ(hosts(R"([{"host": "a"}, {"host": "b"}, {"host": "c"}])"), "a,b,c");
  EXPECT_EQ(hosts(R"([{"host": "a"}, {"host": "b"}, {"host": "c"},
                      {"host": "d"}, {"host": "e"}])"),
            "a,b,c + 2 more...");
}

TEST(ColumnsTest, AServiceShowsItsAddressesAndPorts) {
  EXPECT_EQ(Cells("services", R"({
              "metadata": {"name": "s"}, "spec": {"type": "LoadBalancer",
                "clusterIP": "10.96.0.1", "externalIPs": ["10.0.0.3"],
                "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"},
                          {"port": 53, "protocol": "UDP"}]},
              "status": {"loadBalancer": {"ingress":
                [{"ip": "10.0.0.2"}, {"hostname": "a.b"}]}}})"),
            Json({"s", "LoadBalancer", "10.96.0.1", "10.0.0.2,a.b,10.0.0.3",
                  "80:30080/TCP,53/UDP", "<unknown>"}));
  EXPECT_EQ(Cells("services", R"({"spec": {"type": "LoadBalancer"}})")[3],
            "<pending>");
  EXPECT_EQ(Cells("services", R"({"spec": {"type": "ExternalName",
                                           "externalName": "a.b"}})")[3],
            "a.b");
}

TEST(ColumnsTest, NetworkKindsShowWhereTheyLead) {
  EXPECT_EQ(Cells("ingressclasses.networking.k8s.io", R"({
              "metadata": {"name": "c", "annotations": {
                "ingressclass.kubernetes.io/is-default-class": "true"}},
              "spec": {"controller": "x.y/z", "parameters": {
                "apiGroup": "x.y", "kind": "Kind", "name": "n"}}})"),
            Json({"c (default)", "x.y/z", "Kind.x.y/n", "<unknown>"}));
  EXPECT_EQ(Cells("ingresses.networking.k8s.io", R"({
              "metadata": {"name": "i"}, "status": {"loadBalancer": {"ingress":
                [{"ip": "10.0.0.2"}, {"hostname": "a.b"}]}}})"),
            Json({"i", "<none>", "*", "10.0.0.2,a.b", "80", "<unknown>"}));
  EXPECT_EQ(Cells("endpointslices.discovery.k8s.io", R"({
              "metadata": {"name": "e"}, "addressType": "IPv4",
              "ports": [{"name": "http"}, {"port": 80}, {"name": ""}]})"),
            Json({"e", "IPv4", "http,80,*", "<unset>", "<unknown>"}));
}

TEST(ColumnsTest, ANodeShowsItsStatusRolesAndAddresses) {
  EXPECT_EQ(Cells("nodes", R"({
              "metadata": {"name": "n", "labels": {
                  "node-role.kubernetes.io/worker": "",
                  "node-role.kubernetes.io/boss": ""}},
              "spec": {"unschedulable": true},
              "status": {
                  "conditions": [{"type": "Ready", "status": "Unknown"}],
                  "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                  "nodeInfo": {"kubeletVersion": "v1", "kernelVersion": "6.1",
                               "architecture": "amd64"}}})"),
            Json({"n", "NotReady,SchedulingDisabled", "boss,worker",
                  "<unknown>", "v1", "10.0.0.1", "<none>", "<unknown>",
                  "6.1 (amd64)", "<unknown>"}));
}

TEST(ColumnsTest, EventsOfBothGroupsHaveTheSameCells) {
  constexpr const char* kEvent = R"({
      "metadata": {"name": "e"},
      "involvedObject": {"kind": "Pod", "name": "web", "fieldPath": "spec.x"},
      "eventTime": "2026-03-01T00:00:00.000000Z",
      "series": {"count": 4, "lastObservedTime": "2026-03-01T00:59:50.000000Z"},
      "type": "Normal", "reason": "Scheduled", "message": " done\n",
      "reportingComponent": "scheduler", "reportingInstance": "host"})";
  const Json expected = {
      "10s",  "Normal", "Scheduled", "pod/web", "spec.x", "scheduler, host",
      "done", "60m",    4,           "e"};
  EXPECT_EQ(Cells("events", kEvent), expected);
  const std::string view = ToEventsV1(Json::parse(kEvent)).dump();
  EXPECT_EQ(Cells("events.events.k8s.io", view.c_str()), expected);
}

// client-go's older recorder writes events with a count and timestamps.
TEST(ColumnsTest, EventsOfTheOlderRecorderShowTheirCount) {
  const std::string source =
      R"("source": {"component": "kubelet", "host": "n"})";
  EXPECT_EQ(Cells("events", (R"({"metadata": {"name": "e"}, "count": 3,
      "firstTimestamp": "2026-03-01T00:00:00Z",
      "lastTimestamp": "2026-03-01T00:59:50Z", )" +
                             source + "}")
                                .c_str()),
            Json({"10s", "", "", "", "", "kubelet, n", "", "60m", 3, "e"}));
  EXPECT_EQ(Cells("events", R"({"metadata": {"name": "e"},
      "source": {"component": "c"}})"),
            Json({"<unknown>", "", "", "", "", "c", "", "<unknown>", 1, "e"}));
}

// Returns the cells Ready, Status and Restarts of a pod: "1/2 Running 3".
std::string Print(const Json& pod) {
  std::string text;
  for (const Column& column : FindColumns("pods")) {
    if (column.name == "Age") break;
    if (column.name == "Name") continue;
    text += (text.empty() ? "" : " ") + GetString(column.cell(pod, Time()));
  }
  return text;
}

// Returns a pod with this status and spec, and with the containers a and b.
Json Pod(const std::string& status, const std::string& spec = "{}") {
  Json pod = {{"spec", Json::parse(spec)}, {"status", Json::parse(status)}};
  pod["spec"]["containers"] = Json::parse(R"([{"name":"a"},{"name":"b"}])");
  return pod;
}

TEST(PodColumnsTest, ReadyStatusAndRestartsComeFromContainers) {
  const struct {
    std::string statuses;
    std::string expected;
  } tests[] = {
      {"", "0/2 Running 0"},
      {R"({"name": "a", "ready": true, "state": {"running": {}}},
          {"name": "b", "ready": true, "state": {"running": {}}})",
       "2/2 Running 0"},
      {R"({"name": "a", "restartCount": 3, "ready": true},
          {"name": "b", "restartCount": 1, "ready": false})",
       "1/2 Running 4"},
      {R"({"name": "b", "state": {"terminated": {"reason": "Completed"}}})",
       "0/2 Completed 0"},
      // The reason comes from the first container of the spec.
      {R"({"name": "b", "state": {"waiting": {"reason": "No"}}},
          {"name": "a", "state": {"waiting": {"reason": "CrashLoopBackOff"}}})",
       "0/2 CrashLoopBackOff 0"},
  };
  for (const auto& test : tests) {
    EXPECT_EQ(Print(Pod(R"({"phase": "Running", "containerStatuses": [)" +
                        test.statuses + "]}")),
              test.expected)
        << test.statuses;
  }
}

TEST(PodColumnsTest, OnlySidecarsCountAmongInitContainers) {
  EXPECT_EQ(Print(Pod(R"({"phase": "Running", "initContainerStatuses": [
                {"name": "init", "restartCount": 5,
                 "state": {"terminated": {"reason": "Completed"}}},
                {"name": "sidecar", "ready": true, "restartCount": 1}]})",
                      R"({"initContainers": [{"name": "init"},
                {"name": "sidecar", "restartPolicy": "Always"}]})")),
            "1/3 Running 1");
}

TEST(PodColumnsTest, ReadinessGatesAreCounted) {
  const auto print = [](const Json& pod) {
    return FindColumns("pods").back().cell(pod, Time());
  };
  EXPECT_EQ(print(Pod("{}")), "<none>");
  EXPECT_EQ(print(Pod(R"({"conditions": [{"type": "x", "status": "True"}]})",
                      R"({"readinessGates": [{"conditionType": "x"},
                                             {"conditionType": "y"}]})")),
            "1/2");
}

TEST(PodColumnsTest, AReasonReplacesThePhase) {
  EXPECT_EQ(Print(Pod(R"({"phase": "Pending"})")), "0/2 Pending 0");
  EXPECT_EQ(Print(Pod(R"({"phase": "Failed", "reason": "Evicted"})")),
            "0/2 Evicted 0");
  EXPECT_EQ(Print(Pod(R"({"phase": "Pending", "conditions": [
      {"type": "PodScheduled", "status": "False",
       "reason": "SchedulingGated"}]})")),
            "0/2 SchedulingGated 0");
}

TEST(PodColumnsTest, ADeletedPodIsTerminatingUnlessItHasFinished) {
  const struct {
    std::string status;
    std::string expected;
  } tests[] = {
      {R"({"phase": "Running"})", "0/2 Terminating 0"},
      {R"({"phase": "Succeeded"})", "0/2 Succeeded 0"},
  };
  for (const auto& test : tests) {
    Json pod = Pod(test.status);
    pod["metadata"]["deletionTimestamp"] = "2026-03-01T00:00:00Z";
    EXPECT_EQ(Print(pod), test.expected);
  }
}

}  // namespace
}  // namespace minisched::apiserver
