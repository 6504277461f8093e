#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/resources.h"
#include "minisched/api/labels.h"

namespace minisched::apiserver {

// A term of a field selector: "spec.nodeName=node-1" or "status.phase!=Failed".
struct FieldTerm {
  std::string field;              // the name that the client sent
  std::vector<std::string> path;  // of the field in stored objects
  bool equal;                     // false for "!="
  std::string value;
};

// The options of a list, watch or deletecollection (metav1.ListOptions).
struct ListOptions {
  std::string ns;  // "" for all namespaces
  Selector labels = Selector::Everything();
  // The terms of the field selector; all must hold. Follows apimachinery
  // pkg/fields/selector.go, but does not support escapes in values (of comma,
  // '=' and backslash).
  std::vector<FieldTerm> fields;
  std::string resource_version;
  std::string resource_version_match;
  // For lists.
  std::int64_t limit = 0;  // 0 for none
  std::string continue_token;
  // For watches.
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;

  // Parses the query. `name` is the name in the path, or ""; it has the same
  // effect as a term metadata.name=NAME in the field selector. Throws
  // StatusError, for example if the field selector has a field that the row
  // does not support.
  static ListOptions Parse(const Request& request, const ResourceRow& row,
                           const std::string& ns, const std::string& name);

  bool Matches(const Json& object) const;
};

// Returns a query parameter as a number, or nullopt if it is absent or empty.
// Throws StatusError (400) if it is not a number.
std::optional<std::int64_t> QueryInt(const Request& request,
                                     const std::string& name);
// Returns true unless the query parameter is absent, "0" or "false" (in any
// case), as apimachinery's conversion does.
bool QueryBool(const Request& request, const std::string& name);

// Parses a resourceVersion from a client. Throws StatusError with `code` if it
// is not a number. Upstream's code is 400 for a list and 500 for a watch.
std::uint64_t ParseVersion(const std::string& text, int code = 500);

}  // namespace minisched::apiserver
