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
  std::string field;  // as the client calls it
  std::vector<std::string> path;
  bool equal;
  std::string value;
};

// Which objects a client wants, and from when (metav1.ListOptions).
struct ListOptions {
  std::string ns;  // "" for all
  Selector labels = Selector::Everything();
  // All of them have to hold. As in apimachinery pkg/fields/selector.go, but
  // for backslashes: no field that is offered can have a value that needs them.
  std::vector<FieldTerm> fields;
  std::string resource_version;
  std::string resource_version_match;
  // Of lists.
  std::int64_t limit = 0;  // 0 for none
  std::string continue_token;
  // Of watches.
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;

  // From the query; a name in the path is like one in the field selector.
  // Throws StatusError, where the row doesn't offer a field too.
  static ListOptions Parse(const Request& request, const ResourceRow& row,
                           const std::string& ns, const std::string& name);

  bool Matches(const Json& object) const;
};

// The query parameter as a number. nullopt where it is absent. Throws
// StatusError (400).
std::optional<std::int64_t> QueryInt(const Request& request,
                                     const std::string& name);
// True for "true" and "1", as Go's strconv.ParseBool and conversion have it.
bool QueryBool(const Request& request, const std::string& name);

// A resourceVersion that a client gives. Throws StatusError; its code, as
// upstream has it, depends on what is asked for.
std::uint64_t ParseVersion(const std::string& text, int code = 500);

}  // namespace minisched::apiserver
