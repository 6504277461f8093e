#include "minisched/apiserver/fault_parser.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <chrono>
#include <map>
#include <vector>

#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

using End = FaultEffect::End;
using std::chrono::milliseconds;

// Longer than anybody means, and short enough for every clock.
constexpr std::chrono::hours kLongest{24 * 365};

[[noreturn]] void Fail(const std::string& path, const std::string& what) {
  throw ParseError((path.empty() ? "the document" : path) + ": " + what);
}

std::string Shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return Quoted(value.get<std::string>());
  return value.dump();
}

std::string Below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string Text(const Json& value, const std::string& path) {
  if (!value.is_string()) Fail(path, "must be a string, is " + Shown(value));
  auto text = value.get<std::string>();
  if (text.empty()) Fail(path, "must not be empty");
  return text;
}

// "" where it is absent.
std::string TextOf(const Json& object, const std::string& path,
                   const std::string& key) {
  return object.contains(key) ? Text(object[key], Below(path, key)) : "";
}

std::optional<milliseconds> DurationOf(const Json& object,
                                       const std::string& path,
                                       const std::string& key) {
  if (!object.contains(key)) return std::nullopt;
  const std::string where = Below(path, key);
  const Json& value = object[key];
  if (!value.is_string()) {
    Fail(where, "must be a duration such as 200ms or 1.5s, is " + Shown(value));
  }
  try {
    const auto exact = ParseDuration(value.get<std::string>());
    const auto duration = std::chrono::duration_cast<milliseconds>(exact);
    if (duration < milliseconds(1) || duration > kLongest) {
      Fail(where, "must be from 1ms to a year, is " + Shown(value));
    }
    return duration;
  } catch (const ParseError& error) {
    const std::string what = error.what();
    if (what.starts_with(where)) throw;
    Fail(where, what);
  }
}

std::set<std::string> Verbs(const Json& value, const std::string& path) {
  static const std::vector<std::string> kVerbs = {
      "get",    "list",  "watch",  "create",
      "update", "patch", "delete", "deletecollection"};
  if (!value.is_array() || value.empty()) {
    Fail(path, "must be a list of verbs, as in [create, patch]");
  }
  std::set<std::string> verbs;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string where = path + "[" + std::to_string(i) + "]";
    const std::string verb = Text(value[i], where);
    if (std::find(kVerbs.begin(), kVerbs.end(), verb) == kVerbs.end()) {
      Fail(where, "unknown verb " + Quoted(verb) + "; there are " +
                      boost::join(kVerbs, ", "));
    }
    verbs.insert(verb);
  }
  return verbs;
}

std::string Resource(const std::string& name, const std::string& path) {
  const auto slash = name.find('/');
  for (const ResourceRow& row : AllResources()) {
    if (row.plural != name.substr(0, slash)) continue;
    if (slash == name.npos || row.HasSubresource(name.substr(slash + 1))) {
      return name;
    }
  }
  Fail(path, "no resource " + Quoted(name) +
                 " here; it is named as in pods or pods/binding");
}

FaultMatch Match(const Json& value, const std::string& path) {
  CheckFaultFields(value, path,
                   {"verbs", "resource", "namespace", "name", "userAgent"});
  FaultMatch match;
  if (value.contains("verbs")) {
    match.verbs = Verbs(value["verbs"], Below(path, "verbs"));
  }
  match.resource = TextOf(value, path, "resource");
  if (!match.resource.empty()) {
    Resource(match.resource, Below(path, "resource"));
  }
  match.ns = TextOf(value, path, "namespace");
  match.name = TextOf(value, path, "name");
  match.user_agent = TextOf(value, path, "userAgent");
  return match;
}

// What a status code means where nothing more is said: those of
// NewGenericServerResponse in apimachinery pkg/api/errors/errors.go, and of
// what the server itself says of a 410 and a 500.
std::pair<std::string, std::string> DefaultStatus(int code) {
  static const std::map<int, std::pair<std::string, std::string>> kStatuses = {
      {400,
       {"BadRequest", "the server rejected our request for an unknown reason"}},
      {401,
       {"Unauthorized",
        "the server has asked for the client to provide credentials"}},
      {403, {"Forbidden", "forbidden"}},
      {404, {"NotFound", "the server could not find the requested resource"}},
      {405,
       {"MethodNotAllowed",
        "the server does not allow this method on the requested resource"}},
      {406,
       {"NotAcceptable",
        "the server was unable to respond with a content type that the client "
        "supports"}},
      {409, {"Conflict", "the server reported a conflict"}},
      {410,
       {"Expired", "The resourceVersion for the provided list is too old."}},
      {413, {"RequestEntityTooLarge", "Request entity too large"}},
      {415, {"UnsupportedMediaType", "415: Unsupported Media Type"}},
      {422,
       {"Invalid",
        "the server rejected our request due to an error in our request"}},
      {429,
       {"TooManyRequests",
        "the server has received too many requests and has asked us to try "
        "again later"}},
      {503,
       {"ServiceUnavailable",
        "the server is currently unable to handle the request"}},
      {504,
       {"Timeout",
        "the server was unable to return a response in the time allotted, but "
        "may still be processing the request"}}};
  const auto found = kStatuses.find(code);
  if (found != kStatuses.end()) return found->second;
  if (code >= 500) {
    return {"InternalError", "Internal error occurred: a fault was injected"};
  }
  return {"", "the server responded with the status code " +
                  std::to_string(code) +
                  " but did not return more information"};
}

void SetError(const Json& value, const std::string& path, FaultEffect& effect) {
  CheckFaultFields(value, path,
                   {"code", "reason", "message", "retryAfterSeconds", "after"});
  if (!value.contains("code")) Fail(Below(path, "code"), "is required");
  const Json& code = value["code"];
  if (!code.is_number_integer() || code < 400 || code > 599) {
    Fail(Below(path, "code"), "must be from 400 to 599, is " + Shown(code));
  }
  auto [reason, message] = DefaultStatus(code.get<int>());
  if (value.contains("reason")) reason = TextOf(value, path, "reason");
  if (value.contains("message")) message = TextOf(value, path, "message");
  Json details;
  if (value.contains("retryAfterSeconds")) {
    details["retryAfterSeconds"] =
        ParseFaultCount(value, path, "retryAfterSeconds", 1);
  }
  if (value.contains("after")) {
    const Json& after = value["after"];
    if (!after.is_boolean()) {
      Fail(Below(path, "after"), "must be true or false, is " + Shown(after));
    }
    effect.after = after;
  }
  effect.error.emplace(code.get<int>(), reason, message, details);
}

void SetEnd(const Json& fault, const std::string& path, FaultEffect& effect) {
  static const std::vector<std::pair<std::string, End>> kEnds = {
      {"error", End::kError}, {"drop", End::kDrop}, {"hang", End::kHang}};
  std::string ended_by;
  for (const auto& [key, end] : kEnds) {
    if (!fault.contains(key)) continue;
    const std::string where = Below(path, key);
    if (!ended_by.empty()) Fail(where, "cannot go together with " + ended_by);
    ended_by = key;
    effect.end = end;
    if (end == End::kError) {
      SetError(fault[key], where, effect);
    } else if (fault[key] == "before" || fault[key] == "after") {
      effect.after = fault[key] == "after";
    } else {
      Fail(where, "must be before or after, is " + Shown(fault[key]));
    }
  }
  if (!ended_by.empty() && fault.contains("watch")) {
    Fail(Below(path, "watch"), "cannot go together with " + ended_by);
  }
}

void SetWatch(const Json& value, const std::string& path, Fault& fault) {
  CheckFaultFields(value, path, {"delay", "cut"});
  if (value.empty()) Fail(path, "does nothing: it takes delay and cut");
  if (!fault.match.verbs.empty() && !fault.match.verbs.contains("watch")) {
    Fail(path, "match.verbs leaves out watch, so that it never strikes");
  }
  fault.of_watches = true;
  fault.effect.watch_delay =
      DurationOf(value, path, "delay").value_or(milliseconds(0));
  fault.effect.watch_cut = DurationOf(value, path, "cut");
}

}  // namespace

void CheckFaultFields(const Json& value, const std::string& path,
                      std::initializer_list<const char*> fields) {
  if (!value.is_object()) Fail(path, "must be an object, is " + Shown(value));
  for (const auto& [key, member] : value.items()) {
    if (std::find(fields.begin(), fields.end(), key) != fields.end()) continue;
    const std::vector<std::string> known(fields.begin(), fields.end());
    Fail(Below(path, key),
         "unknown field; there are " + boost::join(known, ", "));
  }
}

std::uint64_t ParseFaultCount(const Json& object, const std::string& path,
                              const std::string& key, std::uint64_t min) {
  const Json& value = object[key];
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < min) {
    Fail(Below(path, key), "must be a whole number from " +
                               std::to_string(min) + " on, is " + Shown(value));
  }
  return value;
}

Fault ParseFault(const Json& value, const std::string& path) {
  // `struck` is what ToJson() adds: what it gives can be given back.
  CheckFaultFields(value, path,
                   {"match", "probability", "times", "latency", "error", "drop",
                    "hang", "watch", "struck"});
  Fault fault;
  if (value.contains("match")) {
    fault.match = Match(value["match"], Below(path, "match"));
  }
  if (value.contains("probability")) {
    const Json& chance = value["probability"];
    if (!chance.is_number() || !(chance >= 0 && chance <= 1)) {
      Fail(Below(path, "probability"),
           "must be from 0 to 1, is " + Shown(chance));
    }
    fault.probability = chance;
  }
  if (value.contains("times")) {
    fault.times = ParseFaultCount(value, path, "times", 1);
  }
  fault.effect.latency =
      DurationOf(value, path, "latency").value_or(milliseconds(0));
  SetEnd(value, path, fault.effect);
  if (value.contains("watch")) {
    SetWatch(value["watch"], Below(path, "watch"), fault);
  }
  if (fault.effect.latency == milliseconds(0) &&
      fault.effect.end == End::kAnswer && !fault.of_watches) {
    Fail(path, "does nothing: it takes latency, error, drop, hang or watch");
  }
  return fault;
}

}  // namespace minisched::apiserver
