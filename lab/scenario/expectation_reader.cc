#include "lab/scenario/expectation_reader.h"

#include <fnmatch.h>

#include <algorithm>

#include "lab/scenario/prometheus.h"
#include "minisched/api/parse_error.h"

namespace minisched::scenario {
namespace {

using Bound = PodExpectation::Bound;

std::string FindString(const Field& map, const std::string& key) {
  const auto field = map.Find(key);
  return field ? field->Scalar() : "";
}

std::optional<int> FindCount(const Field& map, const std::string& key,
                             int least = 0) {
  const auto field = map.Find(key);
  if (!field) return std::nullopt;
  return field->Count(least);
}

std::optional<double> FindNumber(const Field& map, const std::string& key) {
  const auto field = map.Find(key);
  if (!field) return std::nullopt;
  return field->Number();
}

// Reads `node` or `notNode`. If the scenario has nodes, each glob must match
// one.
std::vector<std::string> FindNodes(const Field& map, const std::string& key,
                                   const Known& known) {
  const auto field = map.Find(key);
  if (!field) return {};
  std::vector<std::string> globs = field->Strings();
  for (const std::string& glob : globs) {
    if (!known.nodes.empty() &&
        std::none_of(known.nodes.begin(), known.nodes.end(),
                     [&](const auto& n) { return MatchesGlob(glob, n); })) {
      field->Fail("this scenario has no node " + glob);
    }
  }
  return globs;
}

void ReadBound(const Field& field, PodExpectation& pods) {
  if (field.json().is_boolean()) {
    pods.bound = field.Bool() ? Bound::kAll : Bound::kNone;
  } else if (field.json().is_number()) {
    pods.bound_count = field.Count();
  } else {
    field.OneOf({"true", "false", "all or none", "how many"});
    pods.bound = Bound::kAllOrNone;
  }
}

void ReadSpread(const Field& field, const Known& known, PodExpectation& pods) {
  field.AllowOnly({"nodes", "perNode", "skew", "by"});
  pods.nodes_at_least = FindCount(field, "nodes", 1);
  pods.per_node_at_most = FindCount(field, "perNode", 1);
  pods.skew = FindCount(field, "skew");
  pods.skew_by = FindString(field, "by");
  if (!pods.skew_by.empty() && !pods.skew) {
    field["by"].FailKey("\"by\" needs \"skew\"");
  }
  const auto nodes = known.nodes.size();
  if (!known.nodes.empty() &&
      pods.nodes_at_least.value_or(0) > static_cast<int>(nodes)) {
    field["nodes"].Fail("the scenario has only " + std::to_string(nodes) +
                        " nodes");
  }
}

// Reads the globs of pods. Each glob must match a pod that an earlier step
// creates, unless a created object may create more pods.
std::vector<std::string> ReadPods(const Field& field, const Known& known) {
  std::vector<std::string> globs = field.Strings();
  for (const std::string& glob : globs) {
    if (!known.other_pods &&
        std::none_of(known.pods.begin(), known.pods.end(),
                     [&](const auto& p) { return MatchesGlob(glob, p); })) {
      field.Fail("no step before this one creates a pod " + glob);
    }
  }
  return globs;
}

// Throws CannotPlay if `both` is true, because no pod can satisfy the keys `a`
// and `b` together.
void RefuseTogether(const Field& map, bool both, const std::string& a,
                    const std::string& b) {
  if (both) map[a].FailKey(Quoted(a) + " contradicts " + Quoted(b));
}

void RefuseImpossible(const Field& map, const PodExpectation& pods) {
  const bool none = pods.bound == Bound::kNone || pods.bound_count == 0;
  for (const std::string key : {"node", "notNode", "spread"}) {
    RefuseTogether(map, none && map.Has(key), key, "bound");
    RefuseTogether(map, pods.pending && map.Has(key), key, "pending");
  }
  RefuseTogether(map, pods.pending && !none && (pods.bound || pods.bound_count),
                 "bound", "pending");
  if (pods.gone) {
    for (const std::string key :
         {"bound", "node", "notNode", "pending", "condition", "event", "phase",
          "spread", "count"}) {
      RefuseTogether(map, map.Has(key), key, "gone");
    }
  }
  if (pods.count && pods.bound_count.value_or(0) > *pods.count) {
    map["bound"].Fail("more than \"count\"");
  }
}

PodExpectation ReadPodExpectation(const Field& map, const Known& known) {
  map.AllowOnly({"pods", "count", "bound", "node", "notNode", "pending",
                 "condition", "event", "phase", "spread", "gone"});
  if (map.json().size() == 1) map.Fail("no expectation for these pods");
  PodExpectation pods;
  pods.pods = ReadPods(map["pods"], known);
  pods.count = FindCount(map, "count");
  if (const auto bound = map.Find("bound")) ReadBound(*bound, pods);
  pods.on = FindNodes(map, "node", known);
  pods.not_on = FindNodes(map, "notNode", known);
  if (const auto pending = map.Find("pending")) {
    pods.pending = pending->String();
  }
  if (const auto condition = map.Find("condition")) {
    condition->AllowOnly({"type", "status", "reason", "message"});
    pods.condition = {
        (*condition)["type"].String(), FindString(*condition, "status"),
        FindString(*condition, "reason"), FindString(*condition, "message")};
    if (condition->Has("status")) {
      (*condition)["status"].OneOf({"True", "False", "Unknown"});
    }
  }
  if (const auto event = map.Find("event")) {
    event->AllowOnly({"type", "reason", "message", "atMost"});
    pods.event = {FindString(*event, "type"), (*event)["reason"].String(),
                  FindString(*event, "message"),
                  FindCount(*event, "atMost", 1)};
  }
  if (const auto phase = map.Find("phase")) {
    pods.phase =
        phase->OneOf({"Pending", "Running", "Succeeded", "Failed", "Unknown"});
  }
  if (const auto spread = map.Find("spread")) {
    ReadSpread(*spread, known, pods);
  }
  if (const auto gone = map.Find("gone")) {
    pods.gone = gone->Bool();
    if (!pods.gone) {
      gone->Fail("gone: must be true; leave it out, or use \"count\"");
    }
  }
  RefuseImpossible(map, pods);
  return pods;
}

RequestExpectation ReadRequestExpectation(const Field& field) {
  field.AllowOnly({"verb", "resource", "atMost", "atLeast"});
  RequestExpectation requests;
  if (const auto verb = field.Find("verb")) {
    requests.verb = verb->OneOf({"get", "list", "watch", "create", "update",
                                 "patch", "delete", "deletecollection"});
  }
  requests.resource = FindString(field, "resource");
  requests.at_most = FindCount(field, "atMost");
  requests.at_least = FindCount(field, "atLeast", 1);
  if (!requests.at_most && !requests.at_least) {
    field.Fail("\"atMost\" or \"atLeast\" is missing");
  }
  if (requests.at_most && requests.at_least > requests.at_most) {
    field["atLeast"].Fail("more than \"atMost\"");
  }
  return requests;
}

MetricExpectation ReadMetricExpectation(const Field& map) {
  map.AllowOnly({"metric", "labels", "atMost", "atLeast", "equals"});
  MetricExpectation metric{.name = map["metric"].String()};
  if (!IsMetricName(metric.name)) {
    map["metric"].Fail(Quoted(metric.name) + " is not the name of a metric");
  }
  if (const auto labels = map.Find("labels")) {
    for (const auto& [name, value] : labels->json().items()) {
      metric.labels[name] = (*labels)[name].Scalar();
    }
  }
  metric.at_most = FindNumber(map, "atMost");
  metric.at_least = FindNumber(map, "atLeast");
  metric.equals = FindNumber(map, "equals");
  if (!metric.at_most && !metric.at_least && !metric.equals) {
    map.Fail("\"atMost\", \"atLeast\" or \"equals\" is missing");
  }
  for (const std::string key : {"atMost", "atLeast"}) {
    RefuseTogether(map, metric.equals && map.Has(key), key, "equals");
  }
  if (metric.at_most && metric.at_least > metric.at_most) {
    map["atLeast"].Fail("more than \"atMost\"");
  }
  return metric;
}

}  // namespace

std::string DescribeValue(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!text.empty()) text += ", ";
    text += (value.is_object() ? key + ": " : "") + DescribeValue(element);
  }
  return value.is_object() ? "{" + text + "}" : text;
}

bool MatchesGlob(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

bool MatchesAnyGlob(const std::vector<std::string>& globs,
                    const std::string& text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const auto& glob) { return MatchesGlob(glob, text); });
}

Expectation ReadExpectation(const Field& field, const Known& known) {
  Expectation expectation;
  const std::string subject =
      field.OneKeyOf({"pods", "order", "requests", "metric", "overcommitted"});
  const Field value = field[subject];
  if (subject == "pods") {
    expectation.what = ReadPodExpectation(field, known);
  } else if (subject == "metric") {
    expectation.what = ReadMetricExpectation(field);
  } else {
    field.AllowOnly({subject});
  }
  if (subject == "order") {
    OrderExpectation order{ReadPods(value, known)};
    if (order.globs.size() < 2) value.Fail("expected two globs or more");
    expectation.what = order;
  } else if (subject == "requests") {
    expectation.what = ReadRequestExpectation(value);
  } else if (subject == "overcommitted") {
    value.OneOf({"false"});
    expectation.what = OvercommitExpectation();
  }
  expectation.text = subject + " " + DescribeValue(value.json());
  std::string separator = ": ";
  for (const auto& [key, what] : field.json().items()) {
    if (key == subject) continue;
    expectation.text += separator + key + " " + DescribeValue(what);
    separator = ", ";
  }
  return expectation;
}

}  // namespace minisched::scenario
