// Tests the Client with a real API server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"
#include "testing/pem.h"
#include "testing/real_cluster.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class ClientRealTest : public RealClusterTest {
 protected:
  // A pod that no scheduler takes.
  Pod MakePod(const std::string& name) {
    Pod pod;
    pod.metadata.namespace_name = namespace_name();
    pod.metadata.name = name;
    pod.spec.scheduler_name = "none";
    pod.spec.containers.push_back({.name = "c", .image = "i"});
    return pod;
  }

  RestConfig ConfigOf(const TestCertificate& certificate) const {
    RestConfig config = admin();
    config.client_certificate_data = certificate.certificate;
    config.client_key_data = certificate.key;
    return config;
  }

  RestConfig ConfigOf(const std::string& token) const {
    RestConfig config = Nobody();
    config.bearer_token = token;
    return config;
  }

  // The server's response to a user who may not list pods.
  std::string Forbidden(Client& client) {
    const Outcome outcome = OutcomeOf(
        [&] { client.List<Pod>({.namespace_name = namespace_name()}); });
    EXPECT_EQ(outcome.kind, "ApiError") << outcome;
    return outcome.message;
  }

  std::string ForbiddenTo(const std::string& user) {
    return "pods is forbidden: User \"" + user +
           "\" cannot list resource \"pods\" in API group \"\" in the "
           "namespace \"" +
           namespace_name() + "\"";
  }
};

// Expects a call to throw an ApiError, and returns it.
template <class Call>
ApiError ErrorOf(Call call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error;
  }
  ADD_FAILURE() << "no ApiError";
  return ApiError({});
}

// Credentials.

TEST_F(ClientRealTest, ReturnsTheServersVersion) {
  Client client(admin());
  EXPECT_THAT(client.ServerVersion(), StartsWith("v1."));
}

TEST_F(ClientRealTest, AcceptsAClientCertificate) {
  const RestConfig config = ConfigOf(
      IssueClientCertificate({.common_name = "jane", .organizations = {"g"}}));
  EXPECT_EQ(WhoAmI(config), "jane");
  Client client(config);
  EXPECT_EQ(Forbidden(client), ForbiddenTo("jane"));
}

TEST_F(ClientRealTest, AcceptsAToken) {
  const RestConfig config = ConfigOf(ServiceAccountToken("robot"));
  const std::string user =
      "system:serviceaccount:" + namespace_name() + ":robot";
  EXPECT_EQ(WhoAmI(config), user);
  Client client(config);
  EXPECT_EQ(Forbidden(client), ForbiddenTo(user));
}

TEST_F(ClientRealTest, ReadsARotatedTokenFile) {
  RestConfig config = Nobody();
  config.bearer_token_file =
      testing::TempDir() + "client_real_test." + namespace_name();
  const auto rotate = [&](const std::string& token) {
    std::ofstream(config.bearer_token_file + ".new") << token << "\n";
    std::filesystem::rename(config.bearer_token_file + ".new",
                            config.bearer_token_file);
  };
  const std::string users = "system:serviceaccount:" + namespace_name() + ":";
  rotate(ServiceAccountToken("one"));
  Client client(config);
  EXPECT_EQ(Forbidden(client), ForbiddenTo(users + "one"));
  rotate(ServiceAccountToken("two"));
  EXPECT_EQ(Forbidden(client), ForbiddenTo(users + "two"));
  std::filesystem::remove(config.bearer_token_file);
}

TEST_F(ClientRealTest, RefusesAWrongToken) {
  Client client(ConfigOf(std::string("wrong")));
  const ApiError error = ErrorOf([&] { client.List<Node>(); });
  EXPECT_EQ(error.code(), 401);
  EXPECT_EQ(error.reason(), "Unauthorized");
  EXPECT_STREQ(error.what(), "Unauthorized");
}

TEST_F(ClientRealTest, RefusesAnAnonymousUser) {
  Client client(Nobody());
  EXPECT_EQ(Forbidden(client), ForbiddenTo("system:anonymous"));
}

// The server accepts the connection, but not the user.
TEST_F(ClientRealTest, RefusesAnExpiredClientCertificate) {
  const auto now = std::chrono::system_clock::now();
  Client client(ConfigOf(IssueClientCertificate(
      {.common_name = "jane", .not_before = now - 2h, .not_after = now - 1h})));
  const ApiError error = ErrorOf([&] { client.List<Node>(); });
  EXPECT_EQ(error.code(), 401);
  EXPECT_STREQ(error.what(), "Unauthorized");
}

TEST_F(ClientRealTest, RefusesAClientCertificateOfAnotherAuthority) {
  Client client(
      ConfigOf(Issue(MakeCa("another"), {.common_name = "system:admin"})));
  EXPECT_EQ(ErrorOf([&] { client.List<Node>(); }).code(), 401);
}

TEST_F(ClientRealTest, RefusesAServerOfAnotherAuthority) {
  RestConfig config = admin();
  config.ca_data = MakeCa("another").certificate;
  Client client(config);
  const Outcome outcome = OutcomeOf([&] { client.List<Node>(); });
  EXPECT_EQ(outcome.kind, "kTls");
  EXPECT_THAT(outcome.message,
              HasSubstr("is not signed by the configured certificate"));
}

TEST_F(ClientRealTest, ExplainsHttpToAnHttpsServer) {
  RestConfig config = Nobody();
  config.server.replace(0, 5, "http");
  Client client(config);
  EXPECT_STREQ(ErrorOf([&] { client.List<Node>(); }).what(),
               "the server answered 400: Client sent an HTTP request to an "
               "HTTPS server.");
}

// Objects.

TEST_F(ClientRealTest, CreatesGetsPatchesDeletes) {
  Client client(admin());
  const auto created = client.Create(MakePod("web"));
  EXPECT_NE(created->metadata.uid, "");
  const std::string& ns = namespace_name();

  client.Patch<Pod>(ns, "web", PatchType::kMerge,
                    R"({"metadata": {"labels": {"a": "1", "b": "2"}}})");
  client.Patch<Pod>(ns, "web", PatchType::kJson,
                    R"([{"op": "remove", "path": "/metadata/labels/b"}])");
  // Only this type merges the lists of containers by name.
  client.Patch<Pod>(
      ns, "web", PatchType::kStrategicMerge,
      R"({"spec": {"containers": [{"name": "c", "image": "new"}]}})");
  client.Patch<Pod>(ns, "web", PatchType::kStrategicMerge,
                    R"({"status": {"conditions": [{"type": "PodScheduled",
                        "status": "False", "reason": "Unschedulable"}]}})",
                    "status");

  const auto pod = client.Get<Pod>(ns, "web");
  EXPECT_EQ(pod->metadata.uid, created->metadata.uid);
  EXPECT_EQ(pod->metadata.labels, (Labels{{"a", "1"}}));
  EXPECT_EQ(pod->spec.containers.at(0).image, "new");
  EXPECT_EQ(pod->status.conditions.at(0).reason, "Unschedulable");

  client.Delete<Pod>(ns, "web", {.grace_period_seconds = 0});
  EXPECT_EQ(ErrorOf([&] { client.Get<Pod>(ns, "web"); }).code(), 404);
}

TEST_F(ClientRealTest, AMissingObjectIsNotFound) {
  Client client(admin());
  const ApiError error =
      ErrorOf([&] { client.Get<Pod>(namespace_name(), "none"); });
  EXPECT_EQ(error.code(), 404);
  EXPECT_EQ(error.reason(), "NotFound");
  EXPECT_STREQ(error.what(), "pods \"none\" not found");
  EXPECT_EQ(error.status().details.name, "none");
  // Without encoding, the name would be two path segments.
  EXPECT_STREQ(
      ErrorOf([&] { client.Get<Pod>(namespace_name(), "a?b"); }).what(),
      "pods \"a?b\" not found");
}

TEST_F(ClientRealTest, CreatingTwiceIsAConflict) {
  Client client(admin());
  client.Create(MakePod("web"));
  const ApiError error = ErrorOf([&] { client.Create(MakePod("web")); });
  EXPECT_EQ(error.code(), 409);
  EXPECT_EQ(error.reason(), "AlreadyExists");
}

TEST_F(ClientRealTest, AnInvalidPodIsRefused) {
  Client client(admin());
  Pod pod = MakePod("web");
  pod.spec.containers.clear();
  const ApiError error = ErrorOf([&] { client.Create(pod); });
  EXPECT_EQ(error.code(), 422);
  EXPECT_EQ(error.reason(), "Invalid");
  ASSERT_FALSE(error.status().details.causes.empty());
  EXPECT_EQ(error.status().details.causes[0].field, "spec.containers");
}

TEST_F(ClientRealTest, DeletesOnlyTheObjectWithTheUid) {
  Client client(admin());
  const auto pod = client.Create(MakePod("web"));
  const ApiError error = ErrorOf(
      [&] { client.Delete<Pod>(namespace_name(), "web", {.uid = "other"}); });
  EXPECT_EQ(error.code(), 409);
  EXPECT_EQ(error.reason(), "Conflict");
  client.Delete<Pod>(namespace_name(), "web",
                     {.grace_period_seconds = 0, .uid = pod->metadata.uid});
}

TEST_F(ClientRealTest, Binds) {
  Client client(admin());
  const auto pod = client.Create(MakePod("web"));
  Binding binding;
  binding.metadata = {.name = "web", .namespace_name = namespace_name()};
  binding.target = {.kind = "Node", .name = "nowhere"};

  binding.metadata.uid = "11111111-2222-3333-4444-555555555555";
  ApiError error = ErrorOf([&] { client.Bind(binding); });
  EXPECT_EQ(error.code(), 409);
  EXPECT_THAT(error.what(), HasSubstr("Precondition failed: UID"));

  binding.metadata.uid = pod->metadata.uid;
  client.Bind(binding);
  EXPECT_EQ(client.Get<Pod>(namespace_name(), "web")->spec.node_name,
            "nowhere");

  error = ErrorOf([&] { client.Bind(binding); });
  EXPECT_EQ(error.code(), 409);
  EXPECT_THAT(error.what(), HasSubstr("is already assigned to node"));
  client.Delete<Pod>(namespace_name(), "web", {.grace_period_seconds = 0});
}

TEST_F(ClientRealTest, ListsInPages) {
  constexpr int kPods = 1200;
  Client client(admin());
  const std::string ns = namespace_name();
  std::set<std::string> names;
  for (int i = 0; i < kPods; ++i) names.insert("pod-" + std::to_string(i));
  {
    std::vector<std::jthread> threads;
    for (int first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (int i = first; i < kPods; i += 4) {
          client.Create(MakePod("pod-" + std::to_string(i)));
        }
      });
    }
  }

  ListOptions options{.namespace_name = ns, .limit = 500};
  std::set<std::string> seen;
  std::vector<std::size_t> sizes;
  do {
    const auto page = client.ListPage<Pod>(options);
    for (const auto& pod : page.items) seen.insert(pod->metadata.name);
    sizes.push_back(page.items.size());
    options.continue_token = page.metadata.continue_token;
  } while (!options.continue_token.empty());
  EXPECT_THAT(sizes, testing::ElementsAre(500, 500, 200));
  EXPECT_EQ(seen, names);

  const auto list = client.List<Pod>({.namespace_name = ns});
  EXPECT_EQ(list.items.size(), kPods);
  EXPECT_NE(list.metadata.resource_version, "");
  EXPECT_EQ(client
                .List<Pod>({.namespace_name = ns,
                            .field_selector = "metadata.name=pod-7"})
                .items.size(),
            1);
  Call("DELETE", "/api/v1/namespaces/" + ns + "/pods",
       R"({"gracePeriodSeconds": 0})");
  EXPECT_EQ(client.List<Pod>({.namespace_name = ns}).items.size(), 0);
}

// Watches.

TEST_F(ClientRealTest, WatchesFromAList) {
  Client client(admin());
  client.Create(MakePod("old"));
  const std::string ns = namespace_name();
  const auto list = client.List<Pod>({.namespace_name = ns});
  auto watch =
      client.Watch<Pod>({.namespace_name = ns,
                         .resource_version = list.metadata.resource_version});
  client.Create(MakePod("new"));
  client.Patch<Pod>(ns, "new", PatchType::kMerge,
                    R"({"metadata": {"labels": {"a": "1"}}})");
  client.Delete<Pod>(ns, "new", {.grace_period_seconds = 0});

  using Type = WatchEvent<Pod>::Type;
  std::vector<Type> types;
  do {
    const auto event = watch.Next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->object->metadata.name, "new");
    EXPECT_EQ(event->resource_version,
              event->object->metadata.resource_version);
    types.push_back(event->type);
    // The pod is marked as being deleted first.
    EXPECT_EQ(event->object->metadata.deletion_timestamp.has_value(),
              types.size() > 2);
  } while (types.back() != Type::kDeleted);
  EXPECT_THAT(types, testing::ElementsAre(Type::kAdded, Type::kModified,
                                          Type::kModified, Type::kDeleted));
}

TEST_F(ClientRealTest, AWatchEndsWithoutAnErrorAtItsTimeout) {
  Client client(admin());
  client.Create(MakePod("web"));
  auto watch =
      client.Watch<Pod>({.namespace_name = namespace_name(), .timeout = 1s});
  EXPECT_EQ(watch.Next()->object->metadata.name, "web");
  while (const auto event = watch.Next()) {
    EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kBookmark);
  }
}

TEST_F(ClientRealTest, AForbiddenWatchIsAnApiError) {
  Client client(ConfigOf(IssueClientCertificate({.common_name = "jane"})));
  const ApiError error = ErrorOf([&] { client.Watch<Pod>({}); });
  EXPECT_EQ(error.code(), 403);
  EXPECT_THAT(error.what(), HasSubstr("User \"jane\" cannot watch"));
}

TEST_F(ClientRealTest, AWatchOutlivesThreeMinutesOfSilence) {
  Client client(admin());
  auto watch = client.Watch<Pod>({.namespace_name = namespace_name(),
                                  .field_selector = "metadata.name=late",
                                  .bookmarks = false});
  std::this_thread::sleep_for(3min);
  client.Create(MakePod("late"));
  const auto event = watch.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->object->metadata.name, "late");
}

std::size_t CountEntries(const std::string& directory) {
  const std::filesystem::directory_iterator entries(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_F(ClientRealTest, AHundredWatchesLeaveNothingBehind) {
  Client client(admin());
  client.ServerVersion();
  const std::size_t files = CountEntries("/proc/self/fd");
  const std::size_t threads = CountEntries("/proc/self/task");
  std::stop_source stop;
  std::vector<WatchStream<Node>> watches;
  for (int i = 0; i < 100; ++i) {
    watches.push_back(client.Watch<Node>({}, stop.get_token()));
    ASSERT_TRUE(watches.back().Next());
  }
  // The first watch uses the connection that was open before.
  EXPECT_EQ(CountEntries("/proc/self/fd"), files + 99);
  EXPECT_EQ(CountEntries("/proc/self/task"), threads);
  stop.request_stop();
  watches.clear();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (CountEntries("/proc/self/fd") > files) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace minisched
