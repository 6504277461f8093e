#include "minisched/apiserver/body.h"

#include <boost/algorithm/string/join.hpp>
#include <set>

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/list_options.h"
#include "minisched/apiserver/schema/schema.h"

namespace minisched::apiserver {
namespace {

constexpr int kMaxDepth = 200;

Json ParseLimited(const std::string& text) {
  try {
    return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > kMaxDepth) {
        throw BadRequest("the object is nested more than " +
                         std::to_string(kMaxDepth) + " levels deep");
      }
      return true;
    });
  } catch (const Json::exception& error) {
    // Without the library's "[json.exception.parse_error.101] ".
    const std::string what = error.what();
    throw BadRequest(what.substr(what.find(' ') + 1));
  }
}

Json ParseYaml(const std::string& text) {
  try {
    const auto documents = YamlToJson(text);
    if (documents.size() != 1) {
      throw BadRequest("the body has to be one YAML document");
    }
    return ParseLimited(documents.front());
  } catch (const ParseError& error) {
    throw BadRequest("yaml: " + std::string(error.what()));
  }
}

// "apps/v1" to "v1".
std::string VersionOf(const std::string& api_version) {
  return api_version.substr(api_version.find('/') + 1);
}

void CheckDryRun(const Json& values, const std::string& kind) {
  FieldErrors errors;
  for (const Json& value : values) {
    if (value != "All") errors.NotSupported("dryRun", values, {"All"});
  }
  errors.ThrowIfAny(kind);
}

std::string OptionsKind(const Request& request) {
  if (request.method == "POST") return "CreateOptions";
  return request.method == "PUT" ? "UpdateOptions" : "PatchOptions";
}

// What strict validation found, by the `fieldValidation` of the request: "" if
// it may pass, with Warning headers or without, else an error.
std::string StrictError(const Request& request,
                        const std::vector<std::string>& found, Reply& reply) {
  const std::string mode = request.Query("fieldValidation");
  FieldErrors errors;
  if (!mode.empty() && mode != "Ignore" && mode != "Warn" && mode != "Strict") {
    errors.NotSupported("fieldValidation", mode,
                        {"", "Ignore", "Strict", "Warn"});
  }
  errors.ThrowIfAny(OptionsKind(request));
  if (found.empty() || mode == "Ignore") return "";
  if (mode == "Strict") {
    return "strict decoding error: " + boost::join(found, ", ");
  }
  for (const std::string& text : found) {
    reply.headers.emplace_back("Warning", "299 - " + Json(text).dump());
  }
  return "";
}

Json OptionsFromQuery(const Request& request) {
  Json options = Json::object();
  for (const char* name : {"propagationPolicy", "dryRun"}) {
    if (request.query.contains(name)) options[name] = request.Query(name);
  }
  if (options.contains("dryRun")) {
    options["dryRun"] = Json::array({options["dryRun"]});
  }
  if (const auto seconds = QueryInt(request, "gracePeriodSeconds")) {
    options["gracePeriodSeconds"] = *seconds;
  }
  if (request.query.contains("orphanDependents")) {
    options["orphanDependents"] = QueryBool(request, "orphanDependents");
  }
  return options;
}

// The body of something that has to be an object of that kind.
Json ParseObject(const Request& request, const std::string& kind) {
  std::string error = "it is not an object";
  try {
    Json object = ParseBody(request);
    if (object.is_object()) return object;
  } catch (const StatusError& malformed) {
    if (malformed.code() != 400) throw;
    error = malformed.what();
  }
  throw BadRequest("the object provided is unrecognized (must be of type " +
                   kind +
                   "): couldn't get version/kind; json parse error: " + error);
}

}  // namespace

Json ParseBody(const Request& request) {
  const std::string type = request.ContentType();
  // Of those that say nothing, browsers say at least where they come from.
  const bool unsaid = type.empty() && request.Header("origin").empty();
  if (unsaid || type == "application/json" || type.ends_with("-patch+json")) {
    return ParseLimited(request.body);
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
  const std::string& kind = row.kind;
  const std::string api_version = row.ApiVersion();
  Json object = ParseObject(request, kind);
  if (!object.contains("apiVersion")) object["apiVersion"] = api_version;
  if (!object.contains("kind")) object["kind"] = kind;
  const std::string given_version = GetString(object, "apiVersion");
  const std::string given_kind = GetString(object, "kind");
  const std::string title =
      given_kind + " in version \"" + VersionOf(given_version) + "\"";
  if (given_version != api_version || given_kind != kind) {
    throw BadRequest(title + " cannot be handled as a " + kind +
                     ": no kind \"" + given_kind +
                     "\" is registered for version \"" + given_version +
                     "\" here");
  }
  if (object.contains("metadata") && object["metadata"].is_object()) {
    object["metadata"].erase("managedFields");
  }
  const std::string error = StrictError(
      request, Normalize(object, *Schema::Get().Find(api_version, kind)),
      reply);
  if (!error.empty()) {
    throw BadRequest(title + " cannot be handled as a " + kind + ": " + error);
  }
  return object;
}

void NormalizePatched(const Request& request, Json& object,
                      const SchemaType& type, Reply& reply) {
  std::vector<std::string> found;
  std::string error;
  try {
    found = Normalize(object, type);
  } catch (const StatusError& wrong_type) {
    error = wrong_type.what();
    error.erase(0, error.find("json: "));
  }
  if (error.empty()) error = StrictError(request, found, reply);
  FieldErrors errors;
  if (!error.empty()) errors.Invalid("patch", object.dump(), error);
  errors.ThrowIfAny({}, "");
}

DeleteOptions DecodeDeleteOptions(const Request& request) {
  Json body =
      request.body.empty() ? OptionsFromQuery(request) : ParseBody(request);
  if (!body.is_object()) throw BadRequest("DeleteOptions has to be an object");
  const std::string kind = GetString(body, "kind");
  if (!kind.empty() && kind != "DeleteOptions") {
    throw BadRequest("no kind \"" + kind +
                     "\" is registered for DeleteOptions");
  }
  Normalize(body, *Schema::Get().Find("v1", "DeleteOptions"));
  CheckDryRun(Get(body, "dryRun"), "DeleteOptions");
  auto options = DeleteOptions::Parse(body);
  const std::set<std::string> policies = {"", "Background", "Foreground",
                                          "Orphan"};
  FieldErrors errors;
  if (!policies.contains(options.propagation)) {
    errors.NotSupported("propagationPolicy", options.propagation,
                        {"Foreground", "Background", "Orphan", "nil"});
  }
  errors.ThrowIfAny("DeleteOptions");
  return options;
}

bool IsDryRun(const Request& request) {
  const std::string value = request.Query("dryRun");
  if (value.empty()) return false;
  CheckDryRun({value}, OptionsKind(request));
  return true;
}

}  // namespace minisched::apiserver
