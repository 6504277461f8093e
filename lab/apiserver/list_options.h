#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/resources.h"
#include "minisched/api/labels.h"

namespace minisched::apiserver {

// A term of a field selector: "spec.nodeName=node-1" or "status.phase!=Failed".
struct FieldTerm {
  std::string field;  // the client's name for it
  std::vector<std::string> path;
  bool equal;
  std::string value;
};

// The selectors and versions of a list or watch (metav1.ListOptions).
struct ListOptions {
  std::string ns;  // "" for all
  Selector labels = Selector::Everything();
  // The terms of the field selector; all must hold. Follows apimachinery
  // pkg/fields/selector.go, without escapes: no supported field can have a
  // value that needs them.
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

  // Parses the query. A name in the path selects like metadata.name in the
  // field selector. Throws StatusError, also if the row does not support a
  // field.
  static ListOptions Parse(const Request& request, const ResourceRow& row,
                           const std::string& ns, const std::string& name);

  bool Matches(const Json& object) const;
};

// Returns a query parameter as a number, or nullopt if it is absent. Throws
// StatusError (400) if it is no number.
std::optional<std::int64_t> QueryInt(const Request& request,
                                     const std::string& name);
// Returns true unless the query parameter is absent, "false" or "0", as
// apimachinery's conversion does.
bool QueryBool(const Request& request, const std::string& name);

// Parses a resourceVersion from a client. Throws StatusError. As upstream, its
// code depends on the request.
std::uint64_t ParseVersion(const std::string& text, int code = 500);

}  // namespace minisched::apiserver
