#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "lab/apiserver/running_server_testing.h"
#include "lab/apiserver/server.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Json = nlohmann::json;

// A pod that no create would accept: with uid, times, status, and an owner that
// does not exist. It is in the form in which servers return pods.
const Json kRestoredPod = Json::parse(R"({
"apiVersion": "v1", "kind": "Pod",
"metadata": {
  "name": "web", "namespace": "shop", "generation": 3,
  "uid": "0f5c2c5e-4d8f-4a51-8a43-6a27fd0a7d65",
  "creationTimestamp": "2026-01-02T03:04:05Z",
  "deletionTimestamp": "2026-01-02T04:04:05Z", "deletionGracePeriodSeconds": 30,
  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                       "name": "gone", "uid": "u", "controller": true}]},
"spec": {
  "nodeName": "node-1", "schedulerName": "mine", "restartPolicy": "Never",
  "dnsPolicy": "Default", "enableServiceLinks": false, "securityContext": {},
  "terminationGracePeriodSeconds": 5,
  "containers": [{
    "name": "c", "resources": {"requests": {"cpu": "500m"}},
    "imagePullPolicy": "Never", "terminationMessagePath": "/log",
    "terminationMessagePolicy": "File"}]},
"status": {"phase": "Running", "startTime": "2026-01-02T03:04:06Z",
           "conditions": [{"type": "Ready", "status": "True",
                           "lastProbeTime": null,
                           "lastTransitionTime": "2026-01-02T03:04:07Z"}]}
})");

// Restores objects into a server without controllers, and runs it.
class RestoreTest : public testing::Test {
 protected:
  std::vector<std::string> Restore(const std::string& manifest) {
    auto left_out = server_->Restore(manifest, "dump.json");
    thread_ = std::jthread([this] { server_->Run(); });
    return left_out;
  }
  ~RestoreTest() override { server_->Stop(); }

  // Returns the object at the path.
  Json Get(const std::string& path) {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    const std::string& url = server_->url();
    socket.connect({asio::ip::make_address("127.0.0.1"),
                    static_cast<unsigned short>(
                        std::stoi(url.substr(url.rfind(':') + 1)))});
    Send(socket, "GET", path, "");
    const std::string response = ReadAll(socket);
    return Json::parse(response.substr(response.find("\r\n\r\n")));
  }

  std::optional<Server> server_{std::in_place,
                                ServerOptions{.controllers = false}};
  std::jthread thread_;
};

TEST_F(RestoreTest, ReturnsWhatWasStored) {
  EXPECT_THAT(Restore(kRestoredPod.dump()), IsEmpty());
  Json pod = Get("/api/v1/namespaces/shop/pods/web");
  EXPECT_NE(pod["metadata"]["resourceVersion"], "");
  pod["metadata"].erase("resourceVersion");
  // The fields that servers always write.
  Json expected = kRestoredPod;
  expected["metadata"]["ownerReferences"][0] =
      pod["metadata"]["ownerReferences"][0];
  EXPECT_EQ(Json::diff(expected, pod).dump(), "[]");
}

// Returns a pending pod whose owner does not exist.
Json Orphan() {
  Json pod = kRestoredPod;
  pod["metadata"].erase("deletionTimestamp");
  pod["spec"].erase("nodeName");
  return pod;
}

TEST_F(RestoreTest, ControllersRemoveAPodWithoutItsOwner) {
  server_.emplace(ServerOptions{});
  Restore(Orphan().dump());
  for (int i = 0; i < 5'000 && !Get("/api/v1/pods")["items"].empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(Get("/api/v1/pods")["items"], IsEmpty());
}

TEST_F(RestoreTest, WithoutControllersObjectsStay) {
  Restore(Orphan().dump());
  // The garbage collector needs a few milliseconds: see the test above.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(Get("/api/v1/pods")["items"].size(), 1);
  EXPECT_THAT(Get("/api/v1/namespaces")["items"], IsEmpty());
}

TEST_F(RestoreTest, ReplacesWhatIsThere) {
  Json changed = kRestoredPod;
  changed["spec"]["nodeName"] = "node-2";
  Restore(Json{{"kind", "List"}, {"items", {kRestoredPod, changed}}}.dump());
  EXPECT_EQ(Get("/api/v1/pods")["items"][0]["spec"]["nodeName"], "node-2");
}

TEST_F(RestoreTest, CompletesObjectsThatWereNeverStored) {
  Restore(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
      "{containers: [{name: c, resources: {limits: {cpu: 1}}}]}}");
  const Json pod = Get("/api/v1/namespaces/default/pods/a");
  EXPECT_EQ(pod["metadata"]["uid"].get<std::string>().size(), 36);
  EXPECT_EQ(pod["spec"]["schedulerName"], "default-scheduler");
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1");
}

TEST_F(RestoreTest, LeavesOutWhatItDoesNotKnow) {
  EXPECT_THAT(
      Restore(R"(
{apiVersion: x.io/v1, kind: Pool, metadata: {name: a}}
---
{apiVersion: v1, kind: Binding, metadata: {name: a}}
---
{apiVersion: v1, kind: Node, metadata: {name: a}}
)"),
      ElementsAre("dump.json: Pool a: the server does not store this kind",
                  "dump.json: Binding a: the server does not store this kind"));
  EXPECT_EQ(Get("/api/v1/nodes")["items"].size(), 1);
}

TEST_F(RestoreTest, NamesTheObjectAndTheField) {
  const auto left_out = Restore(R"(
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}, spec: {nodeName: 3}}
---
{apiVersion: v1, kind: Node, metadata: {}}
---
{apiVersion: v1, kind: Node, metadata: [1]}
---
{apiVersion: v1, kind: Node, metadata: {name: x}, status: {allocatable: {cpu: x}}}
)");
  EXPECT_THAT(
      left_out,
      ElementsAre("dump.json: Pod b/a: json: cannot unmarshal number into "
                  "spec.nodeName of type string",
                  "dump.json: Node : metadata.name is missing",
                  StartsWith("dump.json: Node : json: cannot unmarshal array"),
                  HasSubstr("dump.json: Node x: ")));
}

TEST_F(RestoreTest, RefusesAManifestThatIsNoYaml) {
  try {
    Restore("a: [b");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), StartsWith("dump.json: "));
  }
}

}  // namespace
}  // namespace minisched::apiserver
