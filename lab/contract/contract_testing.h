#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lab/contract/json_has_testing.h"
#include "minisched/client/transport.h"

namespace minisched {

using nlohmann::json;
// NOLINTNEXTLINE(google-global-names-in-headers): for tests
using namespace nlohmann::literals;

using Headers = std::map<std::string, std::string>;

// A response of the server.
struct Reply {
  int status = 0;
  Headers headers;  // names in lower case
  std::string text;
  // The text as JSON, without managedFields, which only server-side apply uses.
  // Null if the text isn't JSON.
  json body;

  friend void PrintTo(const Reply& reply, std::ostream* os) {
    *os << reply.status << " "
        << (reply.body.is_null() ? reply.text : reply.body.dump());
  }
};

// Matches a Reply with this status and a body that JsonHas(body) matches.
testing::Matcher<const Reply&> Answers(int status,
                                       const json& body = json::object());

// Matches a Reply with a failure Status. JsonHas(details) must match the
// Status's details, unless `details` is null. An empty `reason` matches a
// Status without a reason.
testing::Matcher<const Reply&> Refuses(
    int code, std::string_view reason,
    const testing::Matcher<const std::string&>& message,
    const json& details = nullptr);

// Matches a 422 for an object of this kind and name with these errors in any
// order. `kind` is "KIND", "KIND.GROUP" or, if the server omits the kind,
// ".GROUP". Each error is "FIELD: MESSAGE", or "PREFIX..." for any error with
// this prefix. An error that the server repeats counts once.
testing::Matcher<const Reply&> Invalid(const std::string& kind,
                                       const std::string& name,
                                       std::vector<std::string> errors);

// Returns {"metadata": {"name": name}} with a merge patch applied.
json Named(const std::string& name, const json& change = json::object());

// Returns a pod whose schedulerName belongs to no scheduler, with a merge patch
// applied.
json Pod(const std::string& name, const json& change = json::object());

// Return metadata.uid and metadata.resourceVersion.
std::string Uid(const json& object);
std::string Version(const json& object);

// Returns the names of a list's items.
std::vector<std::string> Names(const json& list);

// A watch. Next() throws TransportError if the server sends nothing for 60 s.
class WatchReader {
 public:
  explicit WatchReader(std::unique_ptr<HttpStream> stream)
      : stream_(std::move(stream)) {}

  int status() const { return stream_->head().status; }
  const Headers& headers() const { return stream_->head().headers; }

  // Returns the next event, or nullopt if the server has ended the watch.
  std::optional<json> Next();

  // Returns the next `count` events without bookmarks, as "ADDED web". If the
  // watch ends earlier, the last element is "the end".
  std::vector<std::string> Next(int count);

 private:
  std::unique_ptr<HttpStream> stream_;
};

// A fixture for tests of the server's responses. Each test has its own
// namespace.
//
// A path with a leading slash is absolute. Any other path begins with a
// resource ("pods/web/status"); namespaced resources are in the test's
// namespace. Callers must not encode the query after '?'.
class ContractTest : public testing::Test {
 protected:
  void TearDown() override;

  Reply Send(const std::string& method, const std::string& path,
             const std::string& body, const Headers& headers = {});
  Reply Get(const std::string& path, const Headers& headers = {});
  Reply Post(const std::string& path, const json& body);
  Reply Put(const std::string& path, const json& body);
  Reply Delete(const std::string& path, const json& options = json::object());
  Reply JsonPatch(const std::string& path, const json& patch);
  Reply MergePatch(const std::string& path, const json& patch);
  Reply StrategicPatch(const std::string& path, const json& patch);

  // Create or read an object, and return the object. The test fails if the
  // request fails.
  json Create(const std::string& path, const json& body);
  json Read(const std::string& path);

  // Removes an object's finalizers.
  void Release(const std::string& path);

  // Watches a collection. `path` may have a query.
  WatchReader Watch(const std::string& path, const Headers& headers = {});

  // Polls until `check` returns true. Fails the test after 60 s. `what`
  // completes the sentence "timed out waiting for …".
  static void Await(std::string_view what, const std::function<bool()>& check);

  // Returns the test's own namespace. The first call creates it.
  const std::string& namespace_name();
  // Returns a unique name that begins with `name`, for cluster-scoped objects.
  std::string Unique(const std::string& name);
  // Deletes `path` after the test.
  void DeleteLater(const std::string& path) { leftovers_.push_back(path); }

  // Returns true if the server under test is the embedded server. Fails the
  // test unless by_design.h lists this test.
  static bool DiffersByDesign();

  // Returns the absolute path.
  std::string Resolve(const std::string& path);

 private:
  // Deletes all objects in the test's namespace. Returns false if some may be
  // left.
  bool EmptyNamespace();

  std::string namespace_name_;
  std::set<std::string> used_;  // resources and paths used in the namespace
  std::vector<std::string> leftovers_;
};

}  // namespace minisched
