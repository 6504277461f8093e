// minisched-explain: why a pod waits, and what would help.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "lab/explain/cluster_reader.h"
#include "lab/explain/dump_reader.h"
#include "lab/explain/errors.h"
#include "lab/explain/explainer.h"
#include "lab/explain/new_pod.h"
#include "lab/explain/pods.h"
#include "lab/explain/profiles.h"
#include "lab/explain/progress.h"
#include "lab/explain/running_scheduler.h"
#include "lab/scenario/errors.h"
#include "minisched/base/log.h"
#include "minisched/base/printable.h"
#include "minisched/cli/flags.h"
#include "minisched/cli/logging.h"
#include "minisched/cli/signals.h"
#include "minisched/client/client.h"
#include "minisched/client/config_files.h"
#include "minisched/client/kubeconfig.h"

namespace {

namespace explain = minisched::explain;

constexpr int kCannotTell = 2;
constexpr int kInterrupted = 130;

struct Options {
  std::string pod;
  std::string namespace_name;
  minisched::ConfigFlags config;
  std::vector<std::string> files;
  std::string new_file;
  std::vector<std::string> what_ifs;
  std::string scheduler;
  std::string scheduler_config;
  std::string trace;
  std::string output = "table";
  bool no_suggestions = false;
};

// Throws CannotTell if flags are wrong together.
void CheckFlags(const Options& options) {
  if (options.pod.empty() && options.new_file.empty()) {
    throw explain::CannotTell(
        "no pod: pass the name of a POD, or a new pod with --new FILE");
  }
  if (!options.files.empty() &&
      (!options.config.kubeconfig.empty() || !options.config.context.empty())) {
    throw explain::CannotTell(
        "-f needs no cluster: leave out --kubeconfig and --context");
  }
  if (options.output != "table" && options.output != "json") {
    throw explain::CannotTell("-o is \"" + options.output +
                              "\": pass table or json");
  }
}

// Reads the dump or the cluster. Returns warnings.
std::vector<std::string> ReadObjects(const Options& options,
                                     explain::Objects& objects,
                                     const std::stop_token& stop) {
  std::vector<std::string> warnings;
  std::string source;
  if (!options.files.empty()) {
    for (const auto& file : options.files) ReadDump(file, objects, stop);
    source = options.files[0];
  } else {
    minisched::RestConfig config = minisched::LoadRestConfig(
        options.config, minisched::ProcessEnvironment(), stop);
    config.user_agent = "minisched-explain/" MINISCHED_VERSION;
    source = config.source;
    minisched::Client client(std::move(config));
    warnings = ReadCluster(client, objects, stop);
    const std::string& ns = options.namespace_name;
    if (options.new_file.empty() &&
        NamespacesOf(objects, options.pod, ns).empty()) {  // it may have ended
      ReadPods(client, {ns, options.pod}, objects, stop);
    }
  }
  if (objects.Count("Node") == 0) {
    throw explain::CannotTell(
        source +
        " has no nodes: a pod needs one, so a dump needs them too (kubectl "
        "get nodes,pods -A -o yaml)");
  }
  return warnings;
}

// Returns the steps of --what-if.
std::vector<minisched::scenario::Step> StepsOf(const Options& options) {
  std::vector<minisched::scenario::Step> steps;
  for (const std::string& text : options.what_ifs) {
    for (auto& step : minisched::scenario::ParseSteps(text, "--what-if")) {
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

// Throws CannotTell if there is a pod with the name of the new one.
void CheckIsNew(const explain::Objects& objects,
                const explain::NamespacedName& pod, const std::string& file) {
  if (!objects.pods().contains(pod)) return;
  throw explain::CannotTell(fmt::format(
      "--new {}: the pod {} is already in {}: give the new pod another name, "
      "or leave out --new and pass {}",
      file, pod.ToString(), objects.SourceOf(pod), pod.name));
}

// Returns how to start the scheduler for the pod. Adds warnings.
explain::SchedulerCommand SchedulerFor(const Options& options,
                                       const explain::PodFacts& pod,
                                       std::vector<std::string>& warnings,
                                       const std::stop_token& stop) {
  std::string config;
  if (!options.scheduler_config.empty()) {
    const std::string source = "--config " + options.scheduler_config;
    config = explain::SelectProfile(
        minisched::ReadFileOrPipe(options.scheduler_config, source, stop),
        source, pod.scheduler, warnings);
  }
  if (!options.scheduler.empty()) return {options.scheduler, config};
  return explain::DefaultScheduler(!pod.group.empty(), config);
}

// Prints an error or a warning. The lines of a log may follow the
// first line.
void PrintMessage(const std::string& message) {
  std::istringstream lines(message);
  const char* indent = "";
  for (std::string line; std::getline(lines, line); indent = "  ") {
    std::cerr << indent << minisched::Printable(line) << "\n";
  }
}

// Prints progress for somebody who watches a terminal.
void PrintProgress(const std::string& message) {
  if (isatty(STDERR_FILENO) != 0) PrintMessage(message);
}

explain::Answer Run(const Options& options, const std::stop_token& stop) {
  explain::Progress progress(minisched::RealClock(), PrintProgress);
  explain::Experiment experiment{
      .steps = StepsOf(options),
      .begin = [&](const std::string& what) { progress.Begin(what); }};
  explain::PodFacts facts;
  std::vector<nlohmann::json> others;
  if (!options.new_file.empty()) {
    auto created = explain::ReadNewPod(options.new_file, options.pod,
                                       options.namespace_name, stop);
    experiment.pod = created.name;
    facts = created.facts;
    others = std::move(created.others);
    experiment.is_daemon_set = created.is_of_daemon_set;
    experiment.steps.insert(experiment.steps.begin(), std::move(created.step));
  }
  std::vector<std::string> warnings;
  {
    explain::Objects objects;
    progress.Begin(options.files.empty() ? "reading the cluster"
                                         : "reading the dump");
    warnings = ReadObjects(options, objects, stop);
    if (options.new_file.empty()) {
      experiment.pod = FindPod(objects, options.pod, options.namespace_name);
      facts = objects.pods().at(experiment.pod);
    } else {
      CheckIsNew(objects, experiment.pod, options.new_file);
      for (auto& object : others) {
        objects.AddNew(std::move(object), "--new " + options.new_file);
      }
    }
    const bool has_scheduler =
        !options.scheduler.empty() || !options.scheduler_config.empty();
    if (auto answer = AnswerWithoutScheduler(objects, experiment.pod, facts,
                                             has_scheduler)) {
      if (!options.what_ifs.empty()) {
        warnings.push_back(
            "the steps of --what-if were not played, because no scheduler was "
            "run");
      }
      answer->warnings = std::move(warnings);
      return *answer;
    }
    experiment.objects = objects.SelectFor(experiment.pod, facts.group);
    AddWarnings(objects, experiment.objects, warnings);
  }
  experiment.scheduler_name = facts.scheduler;
  experiment.is_new = facts.is_new;
  experiment.scheduler = SchedulerFor(options, facts, warnings, stop);
  malloc_trim(0);  // the dump is gone
  explain::Answer answer = Explain(experiment, !options.no_suggestions, stop);
  answer.warnings.insert(answer.warnings.begin(), warnings.begin(),
                         warnings.end());
  return answer;
}

void Print(const explain::Answer& answer, const std::string& output) {
  if (output == "json") {
    std::cout << ToJson(answer);
    return;
  }
  for (const std::string& warning : answer.warnings) {
    PrintMessage("warning: " + warning);
  }
  std::cout << ToTable(answer);
}

void AddFlags(minisched::Flags& flags, Options& options) {
  flags.Add("POD", &options.pod,
            "The pod: its name, or NAMESPACE/NAME. With --new, the workload: "
            "its name, or KIND/NAME");
  flags.AddNonEmpty("-n,--namespace", &options.namespace_name,
                    "Namespace of the pod; the default is all namespaces");
  flags.AddNonEmpty("--kubeconfig", &options.config.kubeconfig,
                    "Kubeconfig of the cluster; the default is kubectl's");
  flags.AddNonEmpty("--context", &options.config.context,
                    "Context of the kubeconfig");
  flags.AddRepeated(
      "-f,--filename", &options.files,
      "Read a dump instead of a cluster: a file of YAML or JSON, a "
      "folder of them, standard input (-), or a recording of --record");
  flags.AddNonEmpty("--new", &options.new_file,
                    "Explain a pod that doesn't exist yet: the pod, or one pod "
                    "of the workload, in this file; with a DaemonSet, its pods "
                    "on all nodes");
  flags.AddRepeated("--what-if", &options.what_ifs,
                    "Change the copy first: a step of a scenario, such as "
                    "'uncordon: node-2'. May be repeated");
  flags.AddNonEmpty("--scheduler", &options.scheduler,
                    "Run this shell command as the scheduler. It finds "
                    "$KUBECONFIG, $SCHEDULER_NAME and $RECORD. The default is "
                    "the last step beside this program");
  flags.AddNonEmpty("--config", &options.scheduler_config,
                    "Configure the scheduler with the profile of the pod's "
                    "schedulerName in this file, a KubeSchedulerConfiguration. "
                    "The command of --scheduler gets a file as --config");
  flags.AddNonEmpty("--trace", &options.trace,
                    "Add what the running scheduler knows of the pod: the URL "
                    "of its --metrics-port");
  flags.AddNonEmpty("-o,--output", &options.output, "table or json");
  flags.Add("--no-suggestions", &options.no_suggestions,
            "Don't look for changes that help");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  minisched::Flags flags(
      "Explains why a pod waits, and what would help. Copies the cluster into "
      "an API server of its own, runs a scheduler there, and reads its trace. "
      "The cluster is only read.\n"
      "The exit code is 0 if the pod fits or is bound, or if pods are evicted "
      "for it, 1 if it fits nowhere, is rejected later or is gated, or if the "
      "node of its spec.nodeName does not exist, 2 if the program can't tell, "
      "and 130 after an interruption. For a new DaemonSet, the code is 0 if "
      "the DaemonSet selects and tolerates at least one node, and runs on all "
      "these nodes.");
  AddFlags(flags, options);
  if (const auto code = flags.Parse(argc, argv, MINISCHED_VERSION)) {
    return *code;
  }
  // Each copy has a thread of its own. With an arena for each of them, memory
  // that one copy has freed would not serve the next one.
  mallopt(M_ARENA_MAX, 1);
  try {
    minisched::SetUpLogging(0);
    spdlog::set_level(spdlog::level::err);
    const minisched::StopOnSignal signals;
    CheckFlags(options);
    if (options.new_file.empty()) {
      auto [ns, pod] =
          explain::ParsePodName(options.pod, options.namespace_name);
      options.namespace_name = std::move(ns);
      options.pod = std::move(pod);
    }
    explain::Answer answer = Run(options, signals.token());
    if (!options.trace.empty()) {
      answer.running = explain::AskRunningScheduler(options.trace, answer.pod,
                                                    signals.token());
    }
    Print(answer, options.output);
    return ExitCode(answer);
  } catch (const minisched::Cancelled&) {
    return kInterrupted;
  } catch (const std::exception& error) {
    PrintMessage(std::string("minisched-explain: ") + error.what());
    return kCannotTell;
  }
}
