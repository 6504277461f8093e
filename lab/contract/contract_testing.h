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

// What the server answered.
struct Reply {
  int status = 0;
  Headers headers;  // names in lower case
  std::string text;
  // Null where the text isn't JSON. Without managedFields, which are of no use
  // but to server-side apply.
  json body;

  friend void PrintTo(const Reply& reply, std::ostream* os) {
    *os << reply.status << " "
        << (reply.body.is_null() ? reply.text : reply.body.dump());
  }
};

// Matches a Reply with this status, whose body has what is expected.
testing::Matcher<const Reply&> Answers(int status,
                                       const json& body = json::object());

// Matches a Reply that is a Status of failure. `details` as for JsonHas.
testing::Matcher<const Reply&> Refuses(
    int code, std::string_view reason,
    const testing::Matcher<const std::string&>& message,
    const json& details = nullptr);

// Matches a 422 for an object "KIND", "KIND.GROUP" or, where the server does
// not name the kind, ".GROUP", of this name, with these errors, each as "FIELD:
// MESSAGE", in any order. One that ends in "..." is the beginning of an error.
// Where the server tells an error twice, once is enough.
testing::Matcher<const Reply&> Invalid(const std::string& kind,
                                       const std::string& name,
                                       std::vector<std::string> errors);

// {"metadata": {"name": name}}, changed by a merge patch.
json Named(const std::string& name, const json& change = json::object());

// A pod that no scheduler takes, changed by a merge patch.
json Pod(const std::string& name, const json& change = json::object());

std::string Uid(const json& object);
std::string Version(const json& object);

// The names of a list's items.
std::vector<std::string> Names(const json& list);

// A watch. Waits for an event no longer than that is sensible.
class WatchReader {
 public:
  explicit WatchReader(std::unique_ptr<HttpStream> stream)
      : stream_(std::move(stream)) {}

  int status() const { return stream_->head().status; }
  const Headers& headers() const { return stream_->head().headers; }

  // The next event; nullopt where the server has ended the watch.
  std::optional<json> Next();

  // The next events, as "ADDED web", without bookmarks.
  std::vector<std::string> Next(int count);

 private:
  std::unique_ptr<HttpStream> stream_;
};

// A test of what the server answers. Each test has a namespace to itself.
//
// Paths: one with a leading slash is as it is; else it begins with a resource
// ("pods/web/status") of the test's namespace, where it has namespaces.
// What follows a '?' need not be encoded.
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

  // Those that must succeed; they return the object.
  json Create(const std::string& path, const json& body);
  json Read(const std::string& path);

  // Takes away the finalizers that hold an object.
  void Release(const std::string& path);

  // `path` names a collection, and has a query, perhaps.
  WatchReader Watch(const std::string& path, const Headers& headers = {});

  // Tries until the check is true; fails the test after a while.
  static void Await(std::string_view what, const std::function<bool()>& check);

  const std::string& namespace_name();
  // For what has no namespace: a name that no other test uses. Each of `paths`
  // is deleted after the test.
  std::string Unique(const std::string& name);
  void DeleteLater(const std::string& path) { leftovers_.push_back(path); }

  // Whether the server under test is ours, and by_design.h lists this test.
  // A test that asks must be listed.
  static bool DiffersByDesign();

  // The absolute path.
  std::string Resolve(const std::string& path);

 private:
  // Deletes all that is in the test's namespace; false where that can't be, or
  // can't be known.
  bool EmptyNamespace();

  std::string namespace_name_;
  std::set<std::string> used_;  // resources of the namespace
  std::vector<std::string> leftovers_;
};

}  // namespace minisched
