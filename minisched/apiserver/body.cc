#include "minisched/apiserver/body.h"

#include <algorithm>
#include <boost/algorithm/hex.hpp>
#include <boost/algorithm/string/join.hpp>

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/list_options.h"
#include "minisched/apiserver/schema.h"

namespace minisched::apiserver {
namespace {

constexpr int kMaxDepth = 200;

// What the parser has found, in the words of Go's.
std::string Explain(const Json::parse_error& error, const std::string& text) {
  if (error.byte == 0 || error.byte > text.size()) {
    return "unexpected end of JSON input";
  }
  const std::string_view what = error.what();
  const auto has = [&](std::string_view part) {
    return what.find(part) != what.npos;
  };
  const auto* where = has("object key")
                          ? "looking for beginning of object key string"
                      : has("separator") ? "after object key"
                      : has("object")    ? "after object key:value pair"
                      : has("array")     ? "after array element"
                                         : "looking for beginning of value";
  return std::string("invalid character '") + text[error.byte - 1] + "' " +
         where;
}

// What a message shows of a body.
std::string Summary(const std::string& body) {
  constexpr std::size_t kMax = 30;
  if (body.empty()) return "<empty>";
  std::string shown = body.substr(0, kMax);
  if (body[0] != '{') shown = boost::algorithm::hex_lower(shown);
  return shown + (body.size() > kMax ? " ..." : "");
}

Json ParseLimited(const std::string& text) {
  try {
    return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > kMaxDepth) {
        throw BadRequest("the object is nested more than " +
                         std::to_string(kMaxDepth) + " levels deep");
      }
      return true;
    });
  } catch (const Json::parse_error& error) {
    throw BadRequest(Explain(error, text));
  } catch (const Json::exception& error) {
    throw BadRequest(error.what());  // A number out of range.
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

ResourceRow OptionsRow(const std::string& kind) {
  return {.group = "meta.k8s.io",
          .kind = kind,
          .strategy = nullptr,
          .columns = nullptr};
}

void CheckDryRun(const Json& values, const std::string& kind) {
  FieldErrors errors;
  for (const Json& value : values) {
    if (value != "All") errors.NotSupported("dryRun", values, {"All"});
  }
  errors.ThrowIfAny(OptionsRow(kind), "");
}

std::string OptionsKind(const Request& request) {
  if (request.method == "POST") return "CreateOptions";
  if (request.method == "PUT") return "UpdateOptions";
  return request.method == "PATCH" ? "PatchOptions" : "DeleteOptions";
}

void CheckOptions(const Request& request) {
  FieldErrors errors;
  if (request.Query("fieldManager").size() > 128) {
    errors.TooLong("fieldManager", 128);
  }
  if (request.query.contains("force")) {
    errors.Forbidden("force", "may not be specified for non-apply patch");
  }
  const std::string mode = request.Query("fieldValidation");
  if (!mode.empty() && mode != "Ignore" && mode != "Warn" && mode != "Strict") {
    errors.NotSupported("fieldValidation", mode,
                        {"", "Ignore", "Strict", "Warn"});
  }
  errors.ThrowIfAny(OptionsRow(OptionsKind(request)), "");
}

// What strict validation found, by the `fieldValidation` of the request: "" if
// it may pass, with Warning headers or without, else an error.
std::string StrictError(const Request& request,
                        const std::vector<std::string>& errors, Reply& reply) {
  const std::string mode = request.Query("fieldValidation");
  if (errors.empty() || mode == "Ignore") return "";
  if (mode != "Strict") {
    for (const std::string& error : errors) {
      reply.headers.emplace_back("Warning", "299 - " + Json(error).dump());
    }
    return "";
  }
  return "strict decoding error: " + boost::join(errors, ", ");
}

Json OptionsFromQuery(const Request& request) {
  Json options = Json::object();
  const auto text = [&](const std::string& name) {
    if (const std::string value = request.Query(name); !value.empty()) {
      options[name] = value;
    }
  };
  text("propagationPolicy");
  for (const char* name : {"gracePeriodSeconds", "orphanDependents"}) {
    const std::string value = request.Query(name);
    if (value.empty()) continue;
    if (name == std::string_view("orphanDependents")) {
      options[name] = value == "true";
    } else if (const auto seconds = QueryInt(request, name)) {
      options[name] = *seconds;
    }
  }
  if (!request.Query("dryRun").empty()) {
    options["dryRun"] = {request.Query("dryRun")};
  }
  return options;
}

// The body of something that has to be an object of that kind.
Json ParseObject(const Request& request, const std::string& kind) {
  std::string error;
  try {
    Json object = ParseBody(request);
    if (object.is_object()) return object;
    error = "json: cannot unmarshal " +
            std::string(object.is_array() ? "array" : object.type_name()) +
            " into Go value of type struct";
  } catch (const StatusError& malformed) {
    if (malformed.code() != 400) throw;
    error = malformed.what();
  }
  throw BadRequest("the object provided is unrecognized (must be of type " +
                   kind + "): couldn't get version/kind; json parse error: " +
                   error + " (" + Summary(request.body) + ")");
}

}  // namespace

Json ParseBody(const Request& request) {
  const auto types = ParseMediaTypes(request.Header("content-type"));
  const std::string type = types.empty() ? "" : types.front().type;
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

Json DecodeObject(const Request& request, const std::string& api_version,
                  const std::string& kind, Reply& reply) {
  CheckOptions(request);
  Json object = ParseObject(request, kind);
  if (!object.contains("apiVersion")) object["apiVersion"] = api_version;
  if (!object.contains("kind")) object["kind"] = kind;
  const std::string given_version = GetString(object, "apiVersion");
  const std::string given_kind = GetString(object, "kind");
  const std::string title =
      given_kind + " in version \"" + VersionOf(given_version) + "\"";
  const SchemaType* type = Schema::Get().Find(given_version, given_kind);
  if (type == nullptr) {
    throw BadRequest(title + " cannot be handled as a " + kind +
                     ": no kind \"" + given_kind +
                     "\" is registered for version \"" + given_version +
                     "\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
  }
  if (given_version != api_version) {
    throw BadRequest("the API version in the data (" + given_version +
                     ") does not match the expected API version (" +
                     api_version + ")");
  }
  if (given_kind != kind) {
    throw BadRequest(title + " cannot be handled as a " + kind +
                     ": converting (v1." + given_kind + ") to (core." + kind +
                     "): unknown conversion");
  }
  if (object.contains("metadata") && object["metadata"].is_object()) {
    object["metadata"].erase("managedFields");
  }
  const std::string error =
      StrictError(request, Normalize(object, *type), reply);
  if (!error.empty()) {
    throw BadRequest(title + " cannot be handled as a " + kind + ": " + error);
  }
  return object;
}

void NormalizePatched(const Request& request, Json& object,
                      const SchemaType& type, Reply& reply) {
  CheckOptions(request);
  std::string error;
  try {
    error = StrictError(request, Normalize(object, type), reply);
  } catch (const StatusError& wrong_type) {
    error = wrong_type.what();
    error.erase(0, error.find("json: "));
  }
  FieldErrors errors;
  if (!error.empty()) errors.Invalid("patch", object.dump(), error);
  errors.ThrowIfAny({}, "");
}

DeleteOptions DecodeDeleteOptions(const Request& request) {
  Json body =
      request.body.empty() ? OptionsFromQuery(request) : ParseBody(request);
  if (!body.is_object()) throw BadRequest("DeleteOptions has to be an object");
  if (const std::string kind = GetString(body, "kind");
      !kind.empty() && kind != "DeleteOptions") {
    throw BadRequest("no kind \"" + kind + "\" is registered for version \"" +
                     GetString(body, "apiVersion") +
                     "\" in scheme \"meta.k8s.io\": it has to be "
                     "DeleteOptions");
  }
  Normalize(body, *Schema::Get().Find("v1", "DeleteOptions"));
  CheckDryRun(Get(body, "dryRun"), "DeleteOptions");
  DeleteOptions options;
  options.dry_run = !Get(body, "dryRun").empty();
  if (body.contains("gracePeriodSeconds")) {
    // Negative ones mean as soon as possible.
    const std::int64_t seconds = GetInt(body, "gracePeriodSeconds");
    options.grace_period = seconds < 0 ? 1 : seconds;
  }
  options.uid = GetString(body, "preconditions", "uid");
  options.resource_version =
      GetString(body, "preconditions", "resourceVersion");
  options.propagation = GetString(body, "propagationPolicy");
  FieldErrors errors;
  if (body.contains("orphanDependents")) {
    if (!options.propagation.empty()) {
      errors.Invalid("propagationPolicy", options.propagation,
                     "orphanDependents and deletionPropagation cannot be both "
                     "set");
    }
    options.propagation =
        GetBool(body, "orphanDependents") ? "Orphan" : "Background";
  }
  const std::vector<std::string> policies = {"Background", "Foreground",
                                             "Orphan"};
  if (!options.propagation.empty() &&
      std::find(policies.begin(), policies.end(), options.propagation) ==
          policies.end()) {
    errors.NotSupported("propagationPolicy", options.propagation,
                        {"Foreground", "Background", "Orphan", "nil"});
  }
  errors.ThrowIfAny(OptionsRow("DeleteOptions"), "");
  return options;
}

bool IsDryRun(const Request& request) {
  const std::string value = request.Query("dryRun");
  if (value.empty()) return false;
  CheckDryRun({value}, OptionsKind(request));
  return true;
}

}  // namespace minisched::apiserver
