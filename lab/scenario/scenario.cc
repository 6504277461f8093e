#include "lab/scenario/scenario.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "lab/scenario/errors.h"
#include "lab/scenario/evaluation.h"
#include "lab/scenario/expectation_reader.h"
#include "lab/scenario/fields.h"
#include "lab/scenario/manifests.h"
#include "lab/scenario/scheduler_config.h"
#include "minisched/api/duration.h"
#include "minisched/client/config_files.h"

namespace minisched::scenario {
namespace {

constexpr std::chrono::seconds kDefaultWithin{30};

std::string ReadFile(const std::string& name) {
  std::error_code error;
  std::string text = ReadFileOrPipe(name, {}, error);
  if (error) throw CannotPlay(name + ": " + error.message());
  return text;
}

// Reads one scenario file, or steps without a scenario.
class Reader {
 public:
  Reader(const std::string& file, const std::string& text)
      : document_(file, text),
        directory_(std::filesystem::path(file).parent_path()) {
    scenario_.file = file;
  }

  std::vector<Step> ReadSteps() {
    has_scenario_ = false;
    for (const Field& step : Field(document_).Items()) {
      step.OneKeyOf(
          {"create", "apply", "patch", "delete", "cordon", "uncordon"});
      scenario_.steps.push_back(ReadStep(step));
    }
    return std::move(scenario_.steps);
  }

  Scenario Read() {
    const Field root(document_);
    root.AllowOnly({"title", "why", "since", "notUpstream", "flags", "config",
                    "programs", "nodes", "faults", "throughout", "steps"});
    scenario_.title = root["title"].String();
    scenario_.why = root["why"].String();
    scenario_.since = root["since"].Count(1);
    if (const auto why = root.Find("notUpstream")) {
      scenario_.not_upstream = why->String();
    }
    if (const auto flags = root.Find("flags")) {
      scenario_.flags = flags->String();
    }
    if (const auto config = root.Find("config")) ReadConfig(*config);
    if (root.Has("programs")) ReadPrograms(root["programs"]);
    if (root.Has("nodes")) ReadNodes(root["nodes"]);
    if (const auto faults = root.Find("faults")) {
      scenario_.faults = ReadFaults(*faults);
    }
    for (const Field& step : root["steps"].Items()) {
      scenario_.steps.push_back(ReadStep(step));
    }
    // Read the rules last, because they may be about pods that a step creates.
    if (const auto throughout = root.Find("throughout")) {
      ReadThroughout(*throughout);
    }
    return std::move(scenario_);
  }

 private:
  void ReadConfig(const Field& config) {
    if (config.json().is_string()) return ReadConfigFile(config);
    RejectKeys(config, {"apiVersion", "kind", "leaderElection"});
    if (const auto connection = config.Find("clientConnection")) {
      RejectKeys(*connection,
                 {"kubeconfig", "contentType", "acceptContentTypes"});
    }
    scenario_.config = config.json().dump();
  }

  // Reads a file as a user writes it for `--config`. It may have what the
  // player sets.
  void ReadConfigFile(const Field& field) {
    const std::string name = directory_ / field.String();
    std::error_code error;
    const std::string text = ReadFileOrPipe(name, {}, error);
    if (error) field.Fail(name + ": " + error.message());
    try {
      scenario_.config = ReadSchedulerConfig(text, name).dump();
    } catch (const CannotPlay& invalid) {
      field.Fail(invalid.what());
    }
  }

  static void RejectKeys(const Field& map,
                         const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      if (!map.Has(key)) continue;
      map[key].FailKey("the player sets " + key + ": leave it out");
    }
  }

  void ReadPrograms(const Field& field) {
    for (const Field& item : field.Items()) {
      item.AllowOnly({"name", "command", "port"});
      const Program program{.name = item["name"].String(),
                            .command = item["command"].String(),
                            .port = item["port"].Count(1)};
      for (const Program& other : scenario_.programs) {
        if (other.name == program.name) {
          item["name"].Fail("duplicate program " + program.name);
        }
        if (other.port == program.port) {
          item["port"].Fail("the program " + other.name + " has this port");
        }
      }
      scenario_.programs.push_back(program);
    }
  }

  void ReadNodes(const Field& field) {
    for (const Field& item : field.Items()) {
      for (Manifest& node : ReadNodeManifests(item)) {
        for (const std::string& name : known_.nodes) {
          if (name == node.name) item.Fail("duplicate node " + name);
        }
        known_.nodes.push_back(node.name);
        scenario_.nodes.push_back(std::move(node));
      }
    }
  }

  Faults ReadFaults(const Field& field) {
    scenario_.needs_embedded = true;
    return {ReadFaultDocument(field)};
  }

  Step ReadStep(const Field& map) {
    const std::string key = map.OneKeyOf(
        {"create", "apply", "patch", "delete", "cordon", "uncordon", "wait",
         "scheduler", "start", "stop", "faults", "server", "mark", "expect"});
    if (key == "expect") {
      map.AllowOnly({"expect", "within", "for"});
    } else {
      map.AllowOnly({key});
    }
    const Field value = map[key];
    if (key == "create" || key == "apply") return ReadCreate(key, value);
    if (key == "patch") return ReadPatch(value);
    if (key == "delete") return ReadDelete(value);
    if (key == "cordon" || key == "uncordon") return ReadCordon(key, value);
    if (key == "wait") {
      return {Wait{value.Duration()}, "wait " + value.Scalar()};
    }
    if (key == "scheduler") return ReadScheduler(value);
    if (key == "start" || key == "stop") return ReadProgramAction(key, value);
    if (key == "faults") {
      return {ReadFaults(value),
              "set the server's faults: " + DescribeValue(value.json())};
    }
    if (key == "server") return ReadServer(value);
    if (key == "mark") return ReadMark(value);
    return ReadExpect(map);
  }

  Step ReadCreate(const std::string& key, const Field& value) {
    Create create{.apply = key == "apply"};
    for (const Field& item : value.Items()) {
      for (Manifest& object : ReadManifests(item, directory_)) {
        Remember(item, object);
        create.objects.push_back(std::move(object));
      }
    }
    return {create, key + " " + DescribeObjects(create.objects)};
  }

  void Remember(const Field& item, const Manifest& object) {
    if (object.kind == "Pod") {
      known_.pods.insert(object.name);
    } else if (object.kind == "Node") {
      RequireNodes(item);
      known_.nodes.push_back(object.name);
    } else {
      known_.other_pods = true;
    }
  }

  // Throws CannotPlay unless the scenario declares nodes, because a scenario
  // must not change the cluster's nodes.
  void RequireNodes(const Field& field) const {
    if (!has_scenario_ || !known_.nodes.empty()) return;
    field.Fail(
        "a scenario that creates or changes nodes must declare its own under "
        "\"nodes\"");
  }

  Step ReadPatch(const Field& value) {
    value.AllowOnly(
        WithNamespace({"pod", "node", "apiVersion", "kind", "name", "merge",
                       "strategic", "json", "subresource"}));
    Patch patch{.object = ReadObjectName(value, {"pod", "node"}),
                .type = value.OneKeyOf({"merge", "strategic", "json"})};
    patch.patch = value[patch.type].json().dump();
    if (const auto subresource = value.Find("subresource")) {
      patch.subresource = subresource->OneOf({"status"});
    }
    return {patch, "patch " + DescribeObject(patch.object) + " with " +
                       DescribeValue(value[patch.type].json())};
  }

  Step ReadDelete(const Field& value) {
    value.AllowOnly(WithNamespace(
        {"pods", "pod", "node", "apiVersion", "kind", "name", "grace"}));
    Delete deletion{.objects = ReadObjectName(value, {"pods", "pod", "node"})};
    if (const auto grace = value.Find("grace")) {
      deletion.grace_seconds = grace->Count();
    }
    return {deletion, "delete " + DescribeObject(deletion.objects)};
  }

  std::set<std::string, std::less<>> WithNamespace(
      std::set<std::string, std::less<>> keys) const {
    if (!has_scenario_) keys.insert("namespace");
    return keys;
  }

  ObjectName ReadObjectName(const Field& value,
                            const std::vector<std::string_view>& keys) {
    ObjectName object = ReadKindAndName(value, keys);
    if (const auto name = value.Find("namespace")) {
      object.namespace_name = name->String();
    }
    return object;
  }

  ObjectName ReadKindAndName(const Field& value,
                             std::vector<std::string_view> keys) {
    keys.emplace_back("kind");
    const std::string key = value.OneKeyOf(keys);
    if (key == "kind") {
      const std::string kind = value["kind"].String();
      return {
          value["apiVersion"].String(), kind,
          kind == "Node" ? KnownNode(value["name"]) : value["name"].String()};
    }
    if (key == "node") {
      return {.kind = "Node", .name = KnownNode(value["node"])};
    }
    return {.kind = "Pod", .name = value[key].String()};
  }

  std::string KnownNode(const Field& value) {
    RequireNodes(value);
    std::string name = value.String();
    if (!has_scenario_) return name;
    for (const std::string& node : known_.nodes) {
      if (node == name) return name;
    }
    value.Fail("this scenario has no node " + name);
  }

  Step ReadCordon(const std::string& key, const Field& value) {
    const std::string name = KnownNode(value);
    return {
        Patch{.object = {.kind = "Node", .name = name},
              .type = "merge",
              .patch = key == "cordon" ? R"({"spec":{"unschedulable":true}})"
                                       : R"({"spec":{"unschedulable":null}})"},
        key + " " + name};
  }

  Step ReadScheduler(const Field& value) {
    static const std::map<std::string, SchedulerAction> kActions = {
        {"start", SchedulerAction::kStart},
        {"stop", SchedulerAction::kStop},
        {"kill", SchedulerAction::kKill},
        {"restart", SchedulerAction::kRestart},
        {"pause", SchedulerAction::kPause},
        {"resume", SchedulerAction::kResume}};
    static const std::vector<std::string_view> kNames = {
        "start", "stop", "kill", "restart", "pause", "resume"};
    scenario_.needs_scheduler = true;
    if (!value.json().is_object()) {
      const std::string action = value.OneOf(kNames);
      return {SchedulerStep{kActions.at(action)}, action + " the scheduler"};
    }
    value.AllowOnly({kNames.begin(), kNames.end()});
    const std::string action = value.OneKeyOf(kNames);
    const int replica = value[action].Count(1);
    return {
        SchedulerStep{kActions.at(action), replica},
        action + " replica " + std::to_string(replica) + " of the scheduler"};
  }

  Step ReadProgramAction(const std::string& key, const Field& value) const {
    const std::string name = value.String();
    for (const Program& program : scenario_.programs) {
      if (program.name != name) continue;
      return {ProgramAction{.name = name, .start = key == "start"},
              key + " " + name};
    }
    value.Fail("this scenario has no program " + name);
  }

  Step ReadServer(const Field& value) {
    scenario_.needs_embedded = true;
    if (!value.json().is_object()) {
      value.OneOf({"compact"});
      return {Compact{}, "compact the server's history"};
    }
    value.AllowOnly({"away"});
    const auto duration = value["away"].Duration();
    return {Away{duration},
            "make the server unreachable for " + FormatDuration(duration)};
  }

  Step ReadMark(const Field& value) {
    if (value.OneOf({"requests", "metrics"}) == "metrics") {
      scenario_.needs_metrics = true;
      return {MarkMetrics{}, "count metrics from here"};
    }
    scenario_.needs_embedded = true;
    return {MarkRequests{}, "count requests from here"};
  }

  Step ReadExpect(const Field& map) {
    Expect expect{.all = ReadExpectations(map["expect"]),
                  .within = kDefaultWithin,
                  .hold_for = std::chrono::nanoseconds(0)};
    if (const auto within = map.Find("within")) {
      expect.within = within->Duration();
    }
    if (const auto hold = map.Find("for")) expect.hold_for = hold->Duration();
    std::string text = "expect";
    if (map.Has("for")) text += " for " + map["for"].Scalar();
    return {expect, text};
  }

  void ReadThroughout(const Field& field) {
    scenario_.throughout = ReadExpectations(field);
    for (std::size_t i = 0; i < scenario_.throughout.size(); ++i) {
      if (CanBeWatched(scenario_.throughout[i])) continue;
      field.Items()[i].Fail(
          "throughout: no state of pods and nodes breaks this rule "
          "permanently; expect it in a step");
    }
  }

  std::vector<Expectation> ReadExpectations(const Field& field) {
    std::vector<Expectation> all;
    for (const Field& item : field.Items()) {
      all.push_back(ReadExpectation(item, known_));
      scenario_.needs_embedded |=
          std::holds_alternative<RequestExpectation>(all.back().what);
      scenario_.needs_metrics |=
          std::holds_alternative<MetricExpectation>(all.back().what);
    }
    return all;
  }

  Document document_;
  std::filesystem::path directory_;
  Scenario scenario_;
  Known known_;
  bool has_scenario_ = true;
};

}  // namespace

Scenario ReadScenario(const std::string& file) {
  return ParseScenario(file, ReadFile(file));
}

std::vector<Step> ParseSteps(const std::string& text,
                             const std::string& source) {
  return Reader(source, text).ReadSteps();
}

Scenario ParseScenario(const std::string& file, const std::string& text) {
  return Reader(file, text).Read();
}

}  // namespace minisched::scenario
