#include "lab/apiserver/list_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <boost/range/algorithm/count.hpp>
#include <charconv>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Returns the path of an event's field in core/v1, the version in which events
// are stored.
std::string StoredPath(std::string field) {
  if (field.starts_with("regarding.")) {
    return "involvedObject." + field.substr(field.find('.') + 1);
  }
  if (field == "reportingController") return "reportingComponent";
  if (field == "source") return "source.component";
  return field;
}

// Returns the text that a field selector has for this value of a field.
std::string TextOf(const Json& value, const std::string& field) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_null()) return value.dump();
  const bool flag =
      field == "spec.unschedulable" || field == "spec.hostNetwork";
  return flag ? "false" : "";
}

bool Holds(const FieldTerm& term, const Json& object) {
  const Json* value = &object;
  for (const std::string& key : term.path) value = &Get(*value, key);
  return (TextOf(*value, term.field) == term.value) == term.equal;
}

// Throws StatusError if a selector with so many terms would take too long.
void CheckTerms(std::size_t terms) {
  if (terms > kMaxTerms) {
    throw StatusError(
        413, "RequestEntityTooLarge",
        fmt::format("Request entity too large: a selector has at most {} terms",
                    kMaxTerms));
  }
}

// Returns the number of terms of a label selector: "a in (b,c),d" has two.
std::size_t CountTerms(const std::string& selector) {
  std::size_t terms = 1;
  bool in_list = false;
  for (const char c : selector) {
    if (c == '(' || c == ')') in_list = c == '(';
    if (c == ',' && !in_list) ++terms;
  }
  return terms;
}

std::vector<FieldTerm> ParseFields(const std::string& text,
                                   const ResourceRow& row) {
  std::vector<FieldTerm> terms;
  for (const std::string& term : Split(text, ',')) {
    if (term.empty()) continue;
    const auto equals = term.find('=');
    if (equals == term.npos) {
      throw BadRequest(fmt::format(
          "invalid selector: '{}'; can't understand '{}'", text, term));
    }
    const bool negated = equals > 0 && term[equals - 1] == '!';
    const bool doubled = term.compare(equals, 2, "==") == 0;
    const std::string field = term.substr(0, equals - negated);
    const bool known = field == "metadata.name" ||
                       (row.namespaced && field == "metadata.namespace") ||
                       boost::range::count(row.fields, field) > 0;
    if (!known) throw BadRequest("field label not supported: " + field);
    CheckTerms(terms.size() + 1);
    const std::string stored =
        row.plural == "events" ? StoredPath(field) : field;
    terms.push_back({field, Split(stored, '.'), !negated,
                     term.substr(equals + 1 + doubled)});
  }
  return terms;
}

void Validate(const ListOptions& options) {
  const std::string field = "resourceVersionMatch";
  const std::string& match = options.resource_version_match;
  FieldErrors errors;
  if (options.watch) {
    if (options.send_initial_events && match != "NotOlderThan") {
      errors.Forbidden(field,
                       "sendInitialEvents requires setting "
                       "resourceVersionMatch to NotOlderThan");
    }
  } else if (!match.empty()) {
    if (options.resource_version.empty()) {
      errors.Forbidden(field,
                       "resourceVersionMatch is forbidden unless "
                       "resourceVersion is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      errors.NotSupported(field, match, {"Exact", "NotOlderThan", ""});
    }
    if (match == "Exact" && options.resource_version == "0") {
      errors.Forbidden(field,
                       "resourceVersionMatch \"exact\" is forbidden for "
                       "resourceVersion \"0\"");
    }
  }
  errors.ThrowIfAny(OptionsRow("ListOptions"), "");
}

}  // namespace

ListOptions ListOptions::Parse(const Request& request, const ResourceRow& row,
                               const std::string& ns, const std::string& name) {
  ListOptions options;
  options.ns = ns;
  const std::string labels = request.Query("labelSelector");
  CheckTerms(CountTerms(labels));
  try {
    options.labels = Selector::Parse(labels);
  } catch (const ParseError& error) {
    // Drop the selector from the message, because clients print it themselves.
    const std::string what = error.what();
    const auto colon = what.find("\": ");
    throw BadRequest(colon == what.npos ? what : what.substr(colon + 3));
  }
  options.resource_version = request.Query("resourceVersion");
  options.resource_version_match = request.Query("resourceVersionMatch");
  options.limit = QueryInt(request, "limit").value_or(0);
  options.continue_token = request.Query("continue");
  options.watch = QueryBool(request, "watch");
  options.bookmarks = QueryBool(request, "allowWatchBookmarks");
  if (request.query.contains("sendInitialEvents")) {
    options.send_initial_events = QueryBool(request, "sendInitialEvents");
  }
  options.timeout_seconds = QueryInt(request, "timeoutSeconds");
  Validate(options);

  options.fields =
      ParseFields(request.Query("fieldSelector") +
                      (name.empty() ? "" : ",metadata.name=" + name),
                  row);
  return options;
}

bool ListOptions::Matches(const Json& object) const {
  if (!ns.empty() && NamespaceOf(object) != ns) return false;
  for (const FieldTerm& term : fields) {
    if (!Holds(term, object)) return false;
  }
  const Json& there = Get(object, "metadata", "labels");
  return labels.Matches(there.is_null() ? Labels() : there.get<Labels>());
}

std::optional<std::int64_t> QueryInt(const Request& request,
                                     const std::string& name) {
  const std::string text = request.Query(name);
  if (text.empty()) return std::nullopt;
  const auto number = ParseNumber<std::int64_t>(text);
  if (!number) throw BadRequest(name + ": not a number: " + Dump(text));
  return number;
}

bool QueryBool(const Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return false;
  const std::string value = boost::to_lower_copy(found->second);
  return value != "false" && value != "0";
}

std::uint64_t ParseVersion(const std::string& text, int code) {
  if (const auto version = ParseNumber<std::uint64_t>(text)) return *version;
  throw StatusError(code, code == 400 ? "BadRequest" : "",
                    "resourceVersion: Invalid value: " + Dump(text));
}

}  // namespace minisched::apiserver
