#include "lab/explain/pods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "lab/explain/errors.h"
#include "lab/explain/typing_errors.h"

namespace minisched::explain {
namespace {

// Returns how many characters two names have in common, at their beginnings and
// at their ends.
std::ptrdiff_t Likeness(const std::string& a, const std::string& b) {
  return (std::ranges::mismatch(a, b).in1 - a.begin()) +
         (std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first -
          a.rbegin());
}

// Returns the pod whose name is most like `name`: "web" and "eb-7d4b9" find
// "web-7d4b9". Returns "" if no name has half of the characters.
std::string NearestName(const Objects& objects, const std::string& name) {
  const auto likeness = [&name](const auto& pod) {
    return Likeness(name, pod.first.name);
  };
  const auto nearest = std::ranges::max_element(objects.pods(), {}, likeness);
  const bool is_alike = nearest != objects.pods().end() &&
                        2 * likeness(*nearest) >= std::ssize(name);
  return is_alike ? nearest->first.ToString() : "";
}

// Returns "n9, but there is no node n9", or "" if the node exists.
std::string MissingNode(const Objects& objects, const std::string& node) {
  const auto names = objects.NodeNames();
  if (node.empty() || std::ranges::find(names, node) != names.end()) return "";
  std::string text = fmt::format("{0}, but there is no node {0}", node);
  const auto meant = std::ranges::find_if(
      names, [&](const auto& name) { return LooksMistyped(name, node); });
  if (meant != names.end()) text += fmt::format(" (did you mean {}?)", *meant);
  return text;
}

}  // namespace

NamespacedName ParsePodName(const std::string& pod,
                            const std::string& namespace_name) {
  const auto slash = pod.find('/');
  if (slash == pod.npos) return {namespace_name, pod};
  const NamespacedName name{pod.substr(0, slash), pod.substr(slash + 1)};
  if (!namespace_name.empty() && namespace_name != name.namespace_name) {
    throw CannotTell(fmt::format("{} is not in the namespace {}: leave out -n",
                                 pod, namespace_name));
  }
  return name;
}

std::vector<std::string> NamespacesOf(const Objects& objects,
                                      const std::string& name,
                                      const std::string& namespace_name) {
  std::vector<std::string> namespaces;
  for (const auto& [pod, facts] : objects.pods()) {
    const auto& ns = pod.namespace_name;
    const bool is_searched = namespace_name.empty() || ns == namespace_name;
    if (pod.name == name && is_searched) namespaces.push_back(ns);
  }
  return namespaces;
}

NamespacedName FindPod(const Objects& objects, const std::string& name,
                       const std::string& namespace_name) {
  const auto namespaces = NamespacesOf(objects, name, namespace_name);
  if (namespaces.size() == 1) return {namespaces[0], name};
  if (namespaces.size() > 1) {
    throw CannotTell(fmt::format(
        "several namespaces have a pod {}: pass one of them with -n: {}", name,
        fmt::join(namespaces, ", ")));
  }
  const std::string nearest = NearestName(objects, name);
  throw CannotTell(fmt::format(
      "there is no pod {}{}{}", name,
      namespace_name.empty() ? "" : " in the namespace " + namespace_name,
      nearest.empty() ? "" : "; the nearest name is " + nearest));
}

std::optional<Answer> AnswerWithoutScheduler(const Objects& objects,
                                             const NamespacedName& name,
                                             const PodFacts& pod,
                                             bool has_command) {
  Answer answer{.pod = name.ToString(), .node = pod.node};
  if (pod.HasEnded()) {
    answer.state = State::kEnded;
    answer.sentence = fmt::format("{} has ended ({}): no scheduler takes it",
                                  answer.pod, pod.phase);
  } else if (pod.is_terminating) {
    answer.state = State::kDeleted;
    answer.sentence = answer.pod + " is being deleted: no scheduler takes it";
  } else if (std::string missing = MissingNode(objects, pod.node);
             !missing.empty()) {
    answer.state = State::kNoNode;
    answer.sentence = fmt::format(
        "{} has spec.nodeName {}. No scheduler takes it, and no kubelet runs "
        "it: create it again without spec.nodeName",
        answer.pod, missing);
    answer.node.clear();
  } else if (!pod.node.empty()) {
    answer.state = State::kBound;
    answer.sentence = fmt::format("{} is bound to {}", answer.pod, pod.node);
  } else if (!has_command && pod.scheduler != "default-scheduler" &&
             pod.scheduler != "minisched") {
    answer.state = State::kOtherScheduler;
    answer.sentence = fmt::format(
        "{} is for the scheduler \"{}\": pass its command with --scheduler",
        answer.pod, pod.scheduler);
  } else {
    return std::nullopt;
  }
  return answer;
}

void AddWarnings(const Objects& objects, const Objects::Selection& selection,
                 std::vector<std::string>& warnings) {
  if (selection.nominated > 0) {
    warnings.push_back(fmt::format(
        "pending pods with a nominated node are left out: {}. They may take "
        "their resources first",
        selection.nominated));
  }
  if (!selection.missing.empty()) {
    warnings.push_back(fmt::format(
        "classes of pods that were never on a server are missing: {}. On the "
        "copy, these pods have priority 0 and no overhead",
        fmt::join(selection.missing, ", ")));
  }
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : objects.unknown_kinds()) {
    kinds.push_back(fmt::format("{} {}", count, kind));
  }
  if (!kinds.empty()) {
    warnings.push_back(
        fmt::format("unknown kinds were left out: {}", fmt::join(kinds, ", ")));
  }
}

}  // namespace minisched::explain
