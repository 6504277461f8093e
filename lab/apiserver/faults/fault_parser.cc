// Implements ParseFaults() of faults.h.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/range/algorithm/count.hpp>
#include <chrono>

#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/resources.h"
#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

using Words = std::vector<std::string>;
using std::chrono::milliseconds;

// The longest duration of a fault. Every clock can add it to the present time.
constexpr std::chrono::hours kLongest{24 * 365};

// A value in the document and its path. An absent value is null. Functions that
// read the value accept an absent one unless their comment says otherwise.
struct FaultField {
  const Json& json;
  std::string path;

  explicit operator bool() const { return !json.is_null(); }

  [[noreturn]] void Fail(const std::string& what) const {
    throw ParseError((path.empty() ? "the document" : path) + ": " + what);
  }
  // Fails with "must be WHAT, is VALUE" unless `holds`.
  void Check(bool holds, const std::string& what) const {
    if (holds) return;
    Fail(fmt::format("must be {}, is {}", what,
                     json.is_object()  ? "an object"
                     : json.is_array() ? "a list"
                                       : json.dump()));
  }

  FaultField operator[](const std::string& key) const {
    return {Get(json, key), path.empty() ? key : path + "." + key};
  }
  // Fails unless the value is an object with only these keys.
  void AllowOnly(const Words& keys) const {
    Check(!*this || json.is_object(), "an object");
    for (const auto& [key, value] : json.items()) {
      if (boost::count(keys, key) > 0) continue;
      (*this)[key].Fail("unknown field; the known fields are " +
                        boost::join(keys, ", "));
    }
  }
  std::vector<FaultField> Items() const {
    Check(!*this || json.is_array(), "a list");
    std::vector<FaultField> items;
    for (const Json& item : json) {
      items.push_back({item, fmt::format("{}[{}]", path, items.size())});
    }
    return items;
  }

  // Fails if the value is absent.
  std::string OneOf(const Words& words) const {
    Check(json.is_string() && boost::count(words, json.get<std::string>()) > 0,
          "one of " + boost::join(words, ", "));
    return json;
  }
  std::string Text(const std::string& if_absent = "") const {
    if (!*this) return if_absent;
    const auto* text = json.get_ptr<const std::string*>();
    Check(text != nullptr && !text->empty(), "a string that is not empty");
    return *text;
  }
  std::optional<std::uint64_t> Count(std::uint64_t least) const {
    if (!*this) return std::nullopt;
    Check(json.is_number_unsigned() && json >= least,
          fmt::format("a whole number of at least {}", least));
    return json;
  }
  std::optional<double> Between(int least, int most) const {
    if (!*this) return std::nullopt;
    Check(json.is_number() && json >= least && json <= most,
          fmt::format("from {} to {}", least, most));
    return json;
  }
  std::optional<milliseconds> Duration() const {
    if (!*this) return std::nullopt;
    Check(json.is_string(), "a duration such as 200ms or 1.5s");
    std::chrono::nanoseconds exact{};
    try {
      exact = ParseDuration(json.get<std::string>());
    } catch (const ParseError& error) {
      Fail(error.what());
    }
    Check(exact >= milliseconds(1) && exact <= kLongest, "from 1ms to a year");
    return std::chrono::duration_cast<milliseconds>(exact);
  }
};

bool IsServed(const std::string& name) {
  const auto slash = name.find('/');
  const auto& all = AllResources();
  return std::any_of(all.begin(), all.end(), [&](const ResourceRow& row) {
    return row.plural == name.substr(0, slash) &&
           (slash == name.npos || row.HasSubresource(name.substr(slash + 1)));
  });
}

FaultMatch ParseMatch(const FaultField& field) {
  field.AllowOnly({"verbs", "resource", "namespace", "name", "userAgent"});
  FaultMatch match{.resource = field["resource"].Text(),
                   .ns = field["namespace"].Text(),
                   .name = field["name"].Text(),
                   .user_agent = field["userAgent"].Text()};
  if (!match.resource.empty() && !IsServed(match.resource)) {
    field["resource"].Fail("unknown resource " + Quoted(match.resource) +
                           "; write it like pods or pods/binding");
  }
  for (const FaultField& verb : field["verbs"].Items()) {
    match.verbs.insert(
        verb.OneOf({"get", "list", "watch", "create", "update", "patch",
                    "delete", "deletecollection", kProvision, kBind}));
  }
  return match;
}

// Upstream's reason for each status code, from apimachinery
// pkg/api/errors/errors.go.
const Json kReasons = {{"400", "BadRequest"},    {"401", "Unauthorized"},
                       {"403", "Forbidden"},     {"404", "NotFound"},
                       {"409", "Conflict"},      {"410", "Expired"},
                       {"422", "Invalid"},       {"429", "TooManyRequests"},
                       {"500", "InternalError"}, {"503", "ServiceUnavailable"},
                       {"504", "Timeout"}};

StatusError ParseStatus(const FaultField& field) {
  field.AllowOnly({"code", "reason", "message", "retryAfterSeconds", "after"});
  const auto code = field["code"].Between(400, 599);
  if (!code) field["code"].Fail("is required");
  Json details;
  if (const auto seconds = field["retryAfterSeconds"].Count(1)) {
    details["retryAfterSeconds"] = *seconds;
  }
  const int whole = static_cast<int>(*code);
  const std::string reason = GetString(kReasons, std::to_string(whole));
  return {whole, field["reason"].Text(reason),
          field["message"].Text("a fault was injected"), details};
}

// Sets how the request ends. Fails if more than one of error, drop, hang and
// watch is set.
void SetEnd(const FaultField& field, FaultEffect& effect) {
  std::string ended_by;
  for (const char* key : {"error", "drop", "hang", "watch"}) {
    const FaultField end = field[key];
    if (!end) continue;
    if (!ended_by.empty()) end.Fail("cannot be combined with " + ended_by);
    ended_by = key;
  }
  if (ended_by == "error") {
    effect.error = ParseStatus(field["error"]);
    const FaultField after = field["error"]["after"];
    after.Check(!after || after.json.is_boolean(), "true or false");
    effect.after = after.json == true;
  } else if (ended_by == "drop" || ended_by == "hang") {
    effect.delivery = ended_by == "drop" ? Reply::Delivery::kDropped
                                         : Reply::Delivery::kWithheld;
    effect.after = field[ended_by].OneOf({"before", "after"}) == "after";
  }
}

void SetWatch(const FaultField& field, Fault& fault) {
  field.AllowOnly({"delay", "cut"});
  const auto& verbs = fault.match.verbs;
  if (!verbs.empty() && !verbs.contains("watch")) {
    field.Fail("match.verbs lacks watch, so the fault never applies");
  }
  fault.match.verbs = {"watch"};
  fault.effect.watch_delay =
      field["delay"].Duration().value_or(milliseconds(0));
  fault.effect.watch_cut = field["cut"].Duration();
}

// Fails if a fault of a controller has fields that only make sense for
// requests.
void CheckController(const FaultField& field, const FaultMatch& match) {
  for (const std::string verb : {kProvision, kBind}) {
    if (!match.verbs.contains(verb)) continue;
    if (match.verbs.size() > 1) {
      field["match"]["verbs"].Fail(verb + " cannot be combined with others");
    }
    for (const FaultField& other : {field["match"]["resource"], field["drop"],
                                    field["watch"], field["error"]["after"]}) {
      if (other) other.Fail("cannot be combined with the verb " + verb);
    }
  }
}

Fault ParseFault(const FaultField& field) {
  // Faults::ToJson() adds `applied`. The field is accepted and ignored here, so
  // that clients can send back a document that they have read.
  field.AllowOnly({"match", "probability", "times", "latency", "error", "drop",
                   "hang", "watch", "applied"});
  Fault fault{.match = ParseMatch(field["match"]),
              .probability = field["probability"].Between(0, 1).value_or(1),
              .times = field["times"].Count(1)};
  FaultEffect& effect = fault.effect;
  effect.latency = field["latency"].Duration().value_or(milliseconds(0));
  SetEnd(field, effect);
  CheckController(field, fault.match);
  if (const FaultField watch = field["watch"]) SetWatch(watch, fault);
  if (effect.latency.count() == 0 && !effect.EndsRequest() &&
      effect.watch_delay.count() == 0 && !effect.watch_cut) {
    field.Fail("does nothing: add latency, error, drop, hang or watch");
  }
  return fault;
}

}  // namespace

std::vector<Fault> ParseFaults(const Json& document) {
  const FaultField root{document, ""};
  root.AllowOnly({"seed", "faults"});
  const std::uint64_t seed = root["seed"].Count(0).value_or(0);
  std::vector<Fault> faults;
  for (const FaultField& field : root["faults"].Items()) {
    std::seed_seq seeds{seed, seed >> 32,
                        static_cast<std::uint64_t>(faults.size())};
    faults.push_back(ParseFault(field));
    faults.back().random.seed(seeds);
  }
  return faults;
}

}  // namespace minisched::apiserver
