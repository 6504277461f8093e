#include "minisched/apiserver/list_options.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <charconv>

#include "minisched/api/parse_error.h"
#include "minisched/apiserver/errors.h"

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

// At commas that no backslash comes before.
std::vector<std::string> SplitTerms(std::string_view text) {
  std::vector<std::string> terms(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      terms.back() += text[i++];
    } else if (text[i] == ',') {
      terms.emplace_back();
      continue;
    }
    terms.back() += text[i];
  }
  return terms;
}

// Of "\\", "\," and "\=". Nothing else may be escaped.
std::optional<std::string> Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size()) return std::nullopt;
      if (text[i] != '\\' && text[i] != ',' && text[i] != '=') {
        return std::nullopt;
      }
    } else if (text[i] == '=') {
      return std::nullopt;
    }
    plain += text[i];
  }
  return plain;
}

[[noreturn]] void FailUnknownField(const ResourceRow& row,
                                   const std::string& field) {
  // Kinds with fields of their own say it in another way than the others.
  throw BadRequest(row.fields.empty()
                       ? "\"" + field +
                             "\" is not a known field selector: only "
                             "\"metadata.name\", \"metadata.namespace\""
                       : "field label not supported: " + field);
}

// Events are stored in their core/v1 form, whatever the client calls a field.
std::string StoredName(std::string field) {
  if (field.starts_with("regarding.")) {
    return "involvedObject." + field.substr(field.find('.') + 1);
  }
  if (field == "reportingController") return "reportingComponent";
  if (field == "source") return "source.component";
  return field;
}

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump();
}

bool IsFlag(const std::string& field) {
  return field == "spec.unschedulable" || field == "spec.hostNetwork";
}

void Validate(const ListOptions& options) {
  static const ResourceRow kListOptions{.group = "meta.k8s.io",
                                        .kind = "ListOptions",
                                        .strategy = nullptr,
                                        .columns = nullptr};
  const std::string field = "resourceVersionMatch";
  const std::string& match = options.resource_version_match;
  FieldErrors errors;
  if (options.watch) {
    if (options.send_initial_events && match != "NotOlderThan") {
      errors.Forbidden(field,
                       "sendInitialEvents requires setting "
                       "resourceVersionMatch to NotOlderThan");
    }
    if (!match.empty() && !options.send_initial_events) {
      errors.Forbidden(field,
                       "resourceVersionMatch is forbidden for watch unless "
                       "sendInitialEvents is provided");
    }
    if (!match.empty() && match != "NotOlderThan") {
      errors.NotSupported(field, match, {"NotOlderThan"});
    }
  } else {
    if (!match.empty() && options.resource_version.empty()) {
      errors.Forbidden(field,
                       "resourceVersionMatch is forbidden unless "
                       "resourceVersion is provided");
    }
    if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
      errors.NotSupported(field, match, {"Exact", "NotOlderThan", ""});
    }
    if (match == "Exact" && options.resource_version == "0") {
      errors.Forbidden(field,
                       "resourceVersionMatch \"exact\" is forbidden for "
                       "resourceVersion \"0\"");
    }
    if (options.send_initial_events) {
      errors.Forbidden("sendInitialEvents",
                       "sendInitialEvents is forbidden for list");
    }
  }
  if (!match.empty() && !options.continue_token.empty()) {
    errors.Forbidden(
        field, "resourceVersionMatch is forbidden when continue is provided");
  }
  errors.ThrowIfAny(kListOptions, "");
}

}  // namespace

FieldSelector FieldSelector::Parse(std::string_view text,
                                   const ResourceRow& row) {
  FieldSelector selector;
  const std::vector<std::string> terms = SplitTerms(text);
  for (const std::string_view term : terms) {
    if (term.empty()) continue;
    const auto equals = term.find('=');
    const bool negated =
        equals != term.npos && equals > 0 && term[equals - 1] == '!';
    const bool doubled =
        equals != term.npos && term.compare(equals, 2, "==") == 0;
    const auto value = equals == term.npos
                           ? std::nullopt
                           : Unescape(term.substr(equals + 1 + doubled));
    if (!value) {
      throw BadRequest("invalid selector: '" + std::string(text) +
                       "'; can't understand '" + std::string(term) + "'");
    }
    const std::string field(term.substr(0, equals - negated));
    const bool known = field == "metadata.name" ||
                       (row.namespaced && field == "metadata.namespace") ||
                       std::find(row.fields.begin(), row.fields.end(), field) !=
                           row.fields.end();
    if (!known) FailUnknownField(row, field);
    std::vector<std::string> path;
    const std::string stored =
        row.plural == "events" ? StoredName(field) : field;
    boost::split(path, stored, [](char c) { return c == '.'; });
    selector.terms_.push_back({field, std::move(path), !negated, *value});
  }
  return selector;
}

bool FieldSelector::Matches(const Json& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    const Json* value = &object;
    for (const std::string& key : term.path) value = &Get(*value, key);
    std::string text = TextOf(*value);
    if (text.empty() && IsFlag(term.field)) text = "false";
    return (text == term.value) == term.equal;
  });
}

std::optional<std::string> FieldSelector::Exact(std::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) return term.value;
  }
  return std::nullopt;
}

ListOptions ListOptions::Parse(const Request& request, const ResourceRow& row,
                               const std::string& ns, const std::string& name) {
  ListOptions options;
  options.ns = ns;
  try {
    options.labels = Selector::Parse(request.Query("labelSelector"));
  } catch (const ParseError& error) {
    // Without what the selector was, which clients repeat.
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

  options.fields = FieldSelector::Parse(request.Query("fieldSelector"), row);
  if (!name.empty()) {
    if (options.fields.empty()) {
      options.fields = FieldSelector::Parse("metadata.name=" + name, row);
    } else if (options.fields.Exact("metadata.name") != name) {
      throw BadRequest(
          "fieldSelector metadata.name doesn't match requested name");
    }
  }
  return options;
}

bool ListOptions::Matches(const Json& object) const {
  if (!ns.empty() && NamespaceOf(object) != ns) return false;
  if (!fields.Matches(object)) return false;
  Labels found;
  for (const auto& [key, value] : Get(object, "metadata", "labels").items()) {
    found.emplace(key, value.get<std::string>());
  }
  return labels.Matches(found);
}

std::optional<std::int64_t> QueryInt(const Request& request,
                                     const std::string& name) {
  const std::string text = request.Query(name);
  if (text.empty()) return std::nullopt;
  const auto number = ParseNumber<std::int64_t>(text);
  if (!number) {
    throw BadRequest("strconv.ParseInt: parsing " + Json(text).dump() +
                     ": invalid syntax");
  }
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
                    "resourceVersion: Invalid value: " + Json(text).dump() +
                        ": strconv.ParseUint: parsing " + Json(text).dump() +
                        ": invalid syntax");
}

}  // namespace minisched::apiserver
