#include "minisched/apiserver/faults/fault_parser.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <chrono>
#include <map>

#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

using End = FaultEffect::End;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;

// Longer than anybody means, and short enough for every clock.
constexpr std::chrono::hours kLongest{24 * 365};

bool Contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A value in the document and the path to it. What is absent is null.
class Field {
 public:
  Field(const Json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  explicit operator bool() const { return !value_->is_null(); }
  const Json& json() const { return *value_; }

  [[noreturn]] void Fail(const std::string& what) const {
    throw ParseError((path_.empty() ? "the document" : path_) + ": " + what);
  }
  // Fails unless what it must be is so.
  void Check(bool is_so, const std::string& what) const {
    if (is_so) return;
    Fail("must be " + what + ", is " +
         (value_->is_object()  ? "an object"
          : value_->is_array() ? "a list"
                               : value_->dump()));
  }

  Field operator[](const std::string& key) const {
    return {Get(*value_, key), path_.empty() ? key : path_ + "." + key};
  }
  // Has to be an object, with none but these keys.
  void AllowOnly(const Words& keys) const {
    Check(value_->is_object(), "an object");
    for (const auto& [key, value] : value_->items()) {
      if (Contains(keys, key)) continue;
      (*this)[key].Fail("unknown field; there are " + boost::join(keys, ", "));
    }
  }
  std::vector<Field> Items() const {
    Check(value_->is_array(), "a list");
    std::vector<Field> items;
    for (const Json& item : *value_) {
      items.emplace_back(item,
                         path_ + "[" + std::to_string(items.size()) + "]");
    }
    return items;
  }

  // Absent: "".
  std::string Text() const {
    if (!*this) return "";
    const auto* text = value_->get_ptr<const std::string*>();
    Check(text != nullptr && !text->empty(), "a string that is not empty");
    return *text;
  }
  std::string OneOf(const Words& words) const {
    Check(value_->is_string() && Contains(words, *value_),
          "one of " + boost::join(words, ", "));
    return *value_;
  }
  std::uint64_t Count(std::uint64_t least) const {
    Check(value_->is_number_unsigned() && *value_ >= least,
          "a whole number from " + std::to_string(least) + " on");
    return *value_;
  }
  double Between(int least, int most) const {
    Check(value_->is_number() && *value_ >= least && *value_ <= most,
          "from " + std::to_string(least) + " to " + std::to_string(most));
    return *value_;
  }
  milliseconds Duration() const;

 private:
  const Json* value_;
  std::string path_;
};

milliseconds Field::Duration() const {
  Check(value_->is_string(), "a duration such as 200ms or 1.5s");
  std::chrono::nanoseconds exact{};
  try {
    exact = ParseDuration(value_->get<std::string>());
  } catch (const ParseError& error) {
    Fail(error.what());
  }
  Check(exact >= milliseconds(1) && exact <= kLongest, "from 1ms to a year");
  return std::chrono::duration_cast<milliseconds>(exact);
}

bool IsServed(const std::string& name) {
  const auto slash = name.find('/');
  const auto& all = AllResources();
  return std::any_of(all.begin(), all.end(), [&](const ResourceRow& row) {
    return row.plural == name.substr(0, slash) &&
           (slash == name.npos || row.HasSubresource(name.substr(slash + 1)));
  });
}

FaultMatch ParseMatch(const Field& field) {
  field.AllowOnly({"verbs", "resource", "namespace", "name", "userAgent"});
  FaultMatch match{.resource = field["resource"].Text(),
                   .ns = field["namespace"].Text(),
                   .name = field["name"].Text(),
                   .user_agent = field["userAgent"].Text()};
  if (!match.resource.empty() && !IsServed(match.resource)) {
    field["resource"].Fail("no resource " + Quoted(match.resource) +
                           " here; it is named as in pods or pods/binding");
  }
  if (const Field verbs = field["verbs"]) {
    for (const Field& verb : verbs.Items()) {
      match.verbs.insert(verb.OneOf({"get", "list", "watch", "create", "update",
                                     "patch", "delete", "deletecollection"}));
    }
    verbs.Check(!match.verbs.empty(), "a list of verbs");
  }
  return match;
}

// What upstream calls a status code, in apimachinery pkg/api/errors/errors.go.
std::string DefaultReason(int code) {
  static const std::map<int, std::string> kReasons = {
      {400, "BadRequest"},    {401, "Unauthorized"},
      {403, "Forbidden"},     {404, "NotFound"},
      {409, "Conflict"},      {410, "Expired"},
      {422, "Invalid"},       {429, "TooManyRequests"},
      {500, "InternalError"}, {503, "ServiceUnavailable"},
      {504, "Timeout"}};
  const auto found = kReasons.find(code);
  return found == kReasons.end() ? "" : found->second;
}

StatusError ParseStatus(const Field& field) {
  field.AllowOnly({"code", "reason", "message", "retryAfterSeconds", "after"});
  const Field code_field = field["code"];
  if (!code_field) code_field.Fail("is required");
  const int code = static_cast<int>(code_field.Between(400, 599));
  const Field reason = field["reason"];
  const Field message = field["message"];
  Json details;
  if (const Field seconds = field["retryAfterSeconds"]) {
    details["retryAfterSeconds"] = seconds.Count(1);
  }
  return {code, reason ? reason.Text() : DefaultReason(code),
          message ? message.Text() : "a fault was injected", details};
}

// How the request ends, by the one member that says it.
void SetEnd(const Field& field, FaultEffect& effect) {
  std::string ended_by;
  for (const char* key : {"error", "drop", "hang", "watch"}) {
    const Field end = field[key];
    if (!end) continue;
    if (!ended_by.empty()) end.Fail("cannot go together with " + ended_by);
    ended_by = key;
  }
  if (ended_by == "error") {
    const Field error = field["error"];
    effect.end = End::kError;
    effect.error = ParseStatus(error);
    if (const Field after = error["after"]) {
      after.Check(after.json().is_boolean(), "true or false");
      effect.after = after.json();
    }
  } else if (ended_by == "drop" || ended_by == "hang") {
    effect.end = ended_by == "drop" ? End::kDrop : End::kHang;
    effect.after = field[ended_by].OneOf({"before", "after"}) == "after";
  }
}

void SetWatch(const Field& field, Fault& fault) {
  field.AllowOnly({"delay", "cut"});
  const auto& verbs = fault.match.verbs;
  if (!verbs.empty() && !verbs.contains("watch")) {
    field.Fail("match.verbs leaves out watch, so that it never strikes");
  }
  fault.of_watches = true;
  if (const Field delay = field["delay"]) {
    fault.effect.watch_delay = delay.Duration();
  }
  if (const Field cut = field["cut"]) fault.effect.watch_cut = cut.Duration();
}

Fault ParseFault(const Field& field) {
  // `struck` is what Faults::ToJson() adds: what it gives can be given back.
  field.AllowOnly({"match", "probability", "times", "latency", "error", "drop",
                   "hang", "watch", "struck"});
  Fault fault;
  if (const Field match = field["match"]) fault.match = ParseMatch(match);
  if (const Field chance = field["probability"]) {
    fault.probability = chance.Between(0, 1);
  }
  if (const Field times = field["times"]) fault.times = times.Count(1);
  if (const Field latency = field["latency"]) {
    fault.effect.latency = latency.Duration();
  }
  SetEnd(field, fault.effect);
  if (const Field watch = field["watch"]) SetWatch(watch, fault);
  if (fault.effect.DoesNothing()) {
    field.Fail("does nothing: it takes latency, error, drop, hang or watch");
  }
  return fault;
}

}  // namespace

std::vector<Fault> ParseFaults(const Json& document) {
  const Field root(document, "");
  root.AllowOnly({"seed", "faults"});
  const Field seed_field = root["seed"];
  const std::uint64_t seed = seed_field ? seed_field.Count(0) : 0;
  std::vector<Fault> faults;
  if (const Field all = root["faults"]) {
    for (const Field& field : all.Items()) {
      std::seed_seq seeds{seed, seed >> 32,
                          static_cast<std::uint64_t>(faults.size())};
      faults.push_back(ParseFault(field));
      faults.back().random.seed(seeds);
    }
  }
  return faults;
}

}  // namespace minisched::apiserver
