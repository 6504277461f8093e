// Tests objects that a client doesn't expect: objects of a newer API, and
// objects that are older than today's validation. The scheduler reports the
// pods and nodes that it can't read and the pods that fit no node, and
// schedules the other pods.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "minisched/api/event.h"
#include "minisched/api/json.h"
#include "minisched/base/mutex.h"
#include "scheduler.h"
#include "testing/http_server.h"
#include "testing/log_capture.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Names and bodies of pods.
const std::pair<std::string, std::string> kPods[] = {
    {"absurd-quantity", R"("spec": {
       "schedulerName": "minisched", "containers": [
         {"name": "c", "resources": {"requests": {"cpu": "1e99999999999"}}}]})"},
    {"no-quantity", R"("spec": {
       "schedulerName": "minisched", "containers": [
         {"name": "c", "resources": {"requests": {"cpu": {"much": true}}}}]})"},
    {"spec-is-a-number", R"("spec": 5)"},
    {"nothing-but-a-name", R"("status": {})"},
    {"no-status", R"("spec": {"schedulerName": "minisched"})"},
    {"from-the-future", R"("soul": 7, "spec": {
       "schedulerName": "minisched", "wishes": {"much": [1, null]},
       "affinity": null, "restartPolicy": "Perhaps"},
       "status": {"phase": "Dreaming", "conditions": null})"},
    {"huge-quantity", R"("spec": {
       "schedulerName": "minisched", "containers": [
         {"name": "c",
          "resources": {"requests": {"memory": "9223372036854775807Ei"}}}]})"},
    {"huge-quantity-on-huge-node", R"("spec": {
       "schedulerName": "minisched", "tolerations": [{"operator": "Exists"}],
       "nodeSelector": {"size": "huge"}, "containers": [
         {"name": "c", "resources": {"requests": {"cpu": "1e29"}}},
         {"name": "d", "resources": {"requests": {"cpu": "1e29"}}}]})"},
    {"absurd-port", R"("spec": {
       "schedulerName": "minisched", "containers": [
         {"name": "c", "ports": [{"hostPort": 1e99}]}]})"},
    {"odd-port", R"("spec": {
       "schedulerName": "minisched", "containers": [
         {"name": "c", "ports": [{"hostPort": -1}, {"hostPort": 2147483647,
           "hostIP": "nowhere", "protocol": "CARRIER-PIGEON"}]}]})"},
    {"affinity-is-a-number", R"("spec": {
       "schedulerName": "minisched", "affinity": {"nodeAffinity": 5}})"},
    {"malformed-affinity", R"("spec": {
       "schedulerName": "minisched", "affinity": {"nodeAffinity": {
         "requiredDuringSchedulingIgnoredDuringExecution": {
           "nodeSelectorTerms": [{"matchExpressions": [
             {"key": "_/_", "operator": "Roughly", "values": [""]}]}]}}}})"},
    {"malformed-spread", R"("spec": {
       "schedulerName": "minisched", "topologySpreadConstraints": [
         {"maxSkew": 1, "topologyKey": "zone",
          "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {
            "matchExpressions": [{"key": "app", "operator": "Roughly"}]}}]})"},
    {"malformed-pod-affinity", R"("spec": {
       "schedulerName": "minisched", "affinity": {"podAntiAffinity": {
         "requiredDuringSchedulingIgnoredDuringExecution": [
           {"topologyKey": "zone", "labelSelector": {"matchExpressions": [
             {"key": "app", "operator": "Roughly"}]}}]}}})"},
    {"large", R"("spec": {"schedulerName": "minisched"}, "note": ")" +
                  std::string(1 << 20, 'x') + "\""},
};
constexpr char kNodes[] = R"(
  {"metadata": {"name": "absurd-node"},
   "status": {"allocatable": {"cpu": "minus four"}}},
  {"metadata": {"name": "no-status"}, "status": null},
  {"metadata": {"name": "negative"},
   "status": {"allocatable": {"cpu": "-4", "pods": "-9e18"}}},
  {"metadata": {"name": "huge", "labels": {"size": "huge"}},
   "spec": {"taints": [{"key": "huge", "effect": "NoSchedule"}]},
   "status": {"allocatable": {"cpu": "1e29", "pods": "9223372036854775807Ei"}}},
  {"metadata": {"name": "node-1"}, "engine": {"steam": true},
   "status": {"allocatable": {"pods": "110", "wishes": "3"}, "much": null}}
)";

// Returns all pods, or those of our scheduler.
std::string Pods(bool only_ours) {
  std::string pods;
  for (const auto& [name, rest] : kPods) {
    if (only_ours && rest.find("minisched") == std::string::npos) continue;
    pods += (pods.empty() ? "" : ",") +
            fmt::format(R"({{"metadata": {{"namespace": "default",
                            "name": "{0}", "uid": "{0}"}}, {1}}})",
                        name, rest);
  }
  return pods;
}

// A server that serves these objects. Records Bindings and FailedScheduling
// events.
class OddServer {
 public:
  RestConfig config() const {
    RestConfig config;
    config.server = server_.url();
    config.qps = 0;
    return config;
  }

  std::set<std::string> bound() const {
    MutexLock lock(mu_);
    return bound_;
  }

  // Returns the message of the last FailedScheduling event of each pod.
  std::map<std::string, std::string> failed() const {
    MutexLock lock(mu_);
    return failed_;
  }

 private:
  void Handle(const ServerRequest& request, ServerReply reply) {
    const std::string& target = request.target;
    if (target.find("/binding") != std::string::npos) {
      const auto binding = FromJson<Binding>(request.body);
      MutexLock lock(mu_);
      bound_.insert(fmt::format("{} (uid {}) to {}", binding.metadata.name,
                                binding.metadata.uid, binding.target.name));
      reply.Send(201, R"({"kind": "Status", "status": "Success"})");
    } else if (request.method != "GET") {
      RecordEvent(request);
      reply.Send(201, request.body);
    } else if (target.find("watch=") != std::string::npos) {
      reply.Start();  // a watch without events
    } else {
      const bool pods = target.find("/pods") != std::string::npos;
      const bool nodes = target.find("/nodes") != std::string::npos;
      const bool only_ours = target.find("schedulerName") != std::string::npos;
      reply.Send(200, R"({"metadata": {"resourceVersion": "1"}, "items": [)" +
                          (pods    ? Pods(only_ours)
                           : nodes ? kNodes
                                   : "") +
                          "]}");
    }
  }

  void RecordEvent(const ServerRequest& request) {
    if (request.target.find("/events") == std::string::npos) return;
    const auto event = FromJson<Event>(request.body);
    if (event.reason != "FailedScheduling") return;
    MutexLock lock(mu_);
    failed_[event.regarding.name] = event.note;
  }

  mutable Mutex mu_;
  std::set<std::string> bound_ GUARDED_BY(mu_);
  std::map<std::string, std::string> failed_ GUARDED_BY(mu_);
  // Last, because it calls Handle().
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Handle(request, std::move(reply));
  }};
};

TEST(OddObjectsTest, UnreadableObjectsAreReportedAndTheOthersScheduled) {
  const LogCapture log;
  const OddServer server;
  {
    Client client(server.config());
    Trace trace("minisched");
    Scheduler scheduler({client, "minisched", trace, {}}, {});
    const std::jthread thread(
        [&](const std::stop_token& stop) { scheduler.Run(stop); });
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while ((server.bound().size() < 4 || server.failed().size() < 5) &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_THAT(server.bound(),
              ElementsAre("from-the-future (uid from-the-future) to node-1",
                          "large (uid large) to node-1",
                          "no-status (uid no-status) to node-1",
                          "odd-port (uid odd-port) to node-1"));
  const std::string no_help =
      " preemption: 0/4 nodes are available: 4 Preemption is not helpful for "
      "scheduling.";
  EXPECT_THAT(
      server.failed(),
      ElementsAre(
          Pair("huge-quantity",
               "0/4 nodes are available: 1 node(s) had untolerated taint(s), 2 "
               "Too many pods, 3 Insufficient memory." +
                   no_help),
          Pair("huge-quantity-on-huge-node",
               "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't "
               "match Pod's node affinity/selector." +
                   no_help),
          Pair("malformed-affinity",
               "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 "
               "node(s) didn't match Pod's node affinity/selector." +
                   no_help),
          Pair("malformed-pod-affinity",
               "0/4 nodes are available: parsing pod: "
               "requiredAntiAffinityTerms: \"Roughly\" is not a valid label "
               "selector operator." +
                   no_help),
          Pair(
              "malformed-spread",
              "running PreFilter plugin \"PodTopologySpread\": get constraints "
              "from pod: obtaining pod's hard topology spread constraints: "
              "\"Roughly\" is not a valid label selector operator")));
  for (const char* object :
       {"Node absurd-node: status.allocatable.cpu: ",
        "Pod default/absurd-quantity: spec.containers[0]",
        "Pod default/absurd-port: spec.containers[0].ports[0].hostPort: ",
        "Pod default/affinity-is-a-number: spec.affinity.nodeAffinity: ",
        "Pod default/no-quantity: spec.containers[0]"}) {
    EXPECT_THAT(log.text(), HasSubstr(object));
  }
}

}  // namespace
}  // namespace minisched
