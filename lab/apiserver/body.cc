#include "lab/apiserver/body.h"

#include <fmt/format.h>

#include <boost/algorithm/string/join.hpp>
#include <set>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/list_options.h"
#include "lab/apiserver/schema/schema.h"
#include "lab/apiserver/warnings.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"

namespace minisched::apiserver {
namespace {

Json ParseJson(const std::string& text) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::exception& error) {
    // Drop the library's prefix "[json.exception.parse_error.101] ".
    const std::string what = error.what();
    throw BadRequest(what.substr(what.find(' ') + 1));
  }
  CheckLimits(document);
  return document;
}

Json ParseYaml(const std::string& text) {
  try {
    // YamlToJson() counts the keys of maps too.
    const auto documents = YamlToJson(text, 2 * kMaxValues);
    if (documents.size() != 1) {
      throw BadRequest("the body must be one YAML document");
    }
    return ParseJson(documents.front());
  } catch (const ParseError& error) {
    throw BadRequest("yaml: " + std::string(error.what()));
  }
}

// Returns "v1" for "apps/v1".
std::string VersionOf(const std::string& api_version) {
  return api_version.substr(api_version.find('/') + 1);
}

std::string OptionsKind(const Request& request) {
  if (request.method == "POST") return "CreateOptions";
  return request.method == "PUT" ? "UpdateOptions" : "PatchOptions";
}

// Checks that the object is of the row's kind, and normalizes it. Returns the
// error, or "". The query's `fieldValidation` decides whether an unknown field
// is an error, causes a warning or is ignored.
std::string Decode(const Request& request, Json& object, const ResourceRow& row,
                   Reply& reply) {
  const std::string mode = request.Query("fieldValidation");
  CheckOption(OptionsKind(request), "fieldValidation", mode,
              {"", "Ignore", "Strict", "Warn"});
  const std::string version = GetString(object, "apiVersion");
  const std::string kind = GetString(object, "kind");
  if (version != row.ApiVersion() || kind != row.kind) {
    return fmt::format("no kind \"{}\" is registered for version \"{}\" here",
                       kind, version);
  }
  std::vector<std::string> unknown;
  try {
    unknown = Normalize(object, *Schema::Get().Find(version, kind));
  } catch (const ParseError& error) {
    return error.what();
  }
  if (mode == "Strict" && !unknown.empty()) {
    return "strict decoding error: " + boost::join(unknown, ", ");
  }
  if (mode != "Ignore") AddWarnings(unknown, reply);
  return "";
}

Json OptionsFromQuery(const Request& request) {
  Json options = Json::object();
  if (request.query.contains("propagationPolicy")) {
    options["propagationPolicy"] = request.Query("propagationPolicy");
  }
  if (request.query.contains("dryRun")) {
    options["dryRun"] = Json::array({request.Query("dryRun")});
  }
  if (const auto seconds = QueryInt(request, "gracePeriodSeconds")) {
    options["gracePeriodSeconds"] = *seconds;
  }
  return options;
}

// Parses a body that must be a JSON object. The error message names `kind`.
Json ParseObject(const Request& request, const std::string& kind) {
  std::string error = "not a JSON object";
  try {
    Json object = ParseBody(request);
    if (object.is_object()) return object;
  } catch (const StatusError& malformed) {
    if (malformed.code() != 400) throw;
    error = malformed.what();
  }
  throw BadRequest(fmt::format(
      "the object provided is unrecognized (must be of type {}): couldn't get "
      "version/kind; json parse error: {}",
      kind, error));
}

}  // namespace

Json ParseBody(const Request& request) {
  const std::string type = request.ContentType();
  // A web page can send a body without a Content-Type, but the browser then
  // adds an Origin.
  const bool untyped = type.empty() && request.Header("origin").empty();
  if (untyped || type == "application/json" || type.ends_with("-patch+json")) {
    return ParseJson(request.body);
  }
  if (type == "application/yaml") return ParseYaml(request.body);
  if (type == "application/vnd.kubernetes.protobuf") {
    return DecodeProtobuf(request.body);
  }
  throw StatusError(415, "UnsupportedMediaType",
                    "the body of the request was in an unknown format - "
                    "accepted media types include: application/json, "
                    "application/yaml, application/vnd.kubernetes.protobuf");
}

Json DecodeObject(const Request& request, const ResourceRow& row,
                  Reply& reply) {
  Json object = ParseObject(request, row.kind);
  object.emplace("apiVersion", row.ApiVersion());
  object.emplace("kind", row.kind);
  const std::string given_version = GetString(object, "apiVersion");
  const std::string given_kind = GetString(object, "kind");
  const std::string error = Decode(request, object, row, reply);
  if (error.empty()) return object;
  throw BadRequest(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                  given_kind, VersionOf(given_version), row.kind, error));
}

void NormalizePatched(const Request& request, Json& object,
                      const ResourceRow& row, Reply& reply) {
  const std::string error = Decode(request, object, row, reply);
  FieldErrors errors;
  if (!error.empty()) errors.Invalid("patch", object, error);
  errors.ThrowIfAny({}, "");
}

DeleteOptions DecodeDeleteOptions(const Request& request) {
  Json body =
      request.body.empty() ? OptionsFromQuery(request) : ParseBody(request);
  const std::string kind = GetString(body, "kind");
  if (!body.is_object() || !(kind.empty() || kind == "DeleteOptions")) {
    throw BadRequest("the body must be of kind DeleteOptions");
  }
  Normalize(body, *Schema::Get().Find("v1", "DeleteOptions"));
  CheckOption("DeleteOptions", "dryRun", body.value("dryRun", Json::array()),
              {"All"});
  auto options = DeleteOptions::Parse(body);
  static const std::set<std::string> kPolicies = {"", "Background",
                                                  "Foreground", "Orphan"};
  FieldErrors errors;
  if (!kPolicies.contains(options.propagation)) {
    errors.NotSupported("propagationPolicy", options.propagation,
                        {"Foreground", "Background", "Orphan", "nil"});
  }
  errors.ThrowIfAny(OptionsRow("DeleteOptions"), "");
  return options;
}

bool IsDryRun(const Request& request) {
  const std::string value = request.Query("dryRun");
  if (value.empty()) return false;
  CheckOption(OptionsKind(request), "dryRun", Json::array({value}), {"All"});
  return true;
}

}  // namespace minisched::apiserver
