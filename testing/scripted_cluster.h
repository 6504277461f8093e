#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/rest_config.h"
#include "testing/http_server.h"
#include "testing/scripted_api.h"

namespace minisched {

// An API server for tests that depend on the order of events. Watches receive
// the events that the test sends, and each Binding waits for the test's
// response. Only the test changes objects: a Binding does not. Thread-safe.
class ScriptedCluster {
 public:
  // `clock` is the client's clock. It must outlive the cluster.
  explicit ScriptedCluster(FakeClock& clock) : clock_(clock) {}

  // Returns a configuration for clients, without a rate limit and without a
  // limit on the requests in flight.
  RestConfig config() const;

  // Adds an object to the server's lists. REQUIRES: no client has listed yet.
  template <class T>
  void Add(const T& object) {
    AddItem(std::string(T::kResource.plural), ToJson(object));
  }

  // Sends a watch event (ADDED, MODIFIED or DELETED) and blocks until the
  // client has processed it: the server ends the watch after the event, and the
  // call returns when the client watches again from the event's version.
  // Advances the clock by one second, because an informer backs off after a
  // shorter watch. Throws std::runtime_error after 20 s.
  template <class T>
  void Send(const std::string& type, T object) {
    object.metadata.resource_version = NextVersion();
    SendEvent(std::string(T::kResource.plural), type, ToJson(object));
  }

  // Removes and returns the next Binding, blocking until there is one. Throws
  // std::runtime_error after 20 s.
  ScriptedApi::Exchange TakeBinding() EXCLUDES(mu_);

  // Blocks until the server has received `count` writes other than Bindings,
  // and returns all of these writes so far. The server accepts all of them.
  // Throws std::runtime_error after 20 s.
  std::vector<ServerRequest> AwaitWrites(std::size_t count) EXCLUDES(mu_);

 private:
  void AddItem(const std::string& resource, const std::string& object)
      EXCLUDES(mu_);
  std::string NextVersion() EXCLUDES(mu_);
  void SendEvent(const std::string& resource, const std::string& type,
                 const std::string& object) EXCLUDES(mu_);
  // Blocks until `done` returns true. Throws std::runtime_error(otherwise)
  // after 20 s.
  template <class Done>
  void AwaitThat(Done done, const char* otherwise) REQUIRES(mu_);

  void Handle(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_);

  FakeClock& clock_;
  Mutex mu_;
  CondVar changed_;
  int version_ GUARDED_BY(mu_) = 1;
  // The keys of items_ and watches_ are the plurals of resources.
  std::map<std::string, std::string> items_ GUARDED_BY(mu_);
  std::map<std::string, ScriptedApi::Exchange> watches_ GUARDED_BY(mu_);
  std::deque<ScriptedApi::Exchange> bindings_ GUARDED_BY(mu_);
  std::vector<ServerRequest> writes_ GUARDED_BY(mu_);
  // The last member, because its thread calls Handle().
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Handle(request, std::move(reply));
  }};
};

}  // namespace minisched
