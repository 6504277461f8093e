#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "minisched/api/json.h"

// Helpers for tests of hints.

namespace minisched {

// Returns the plugins' events, in their order: "A: Node/Add Node/Delete", or
// "A: Node/Add with a hint".
inline std::vector<std::string> DescribeHints(const Framework& framework) {
  std::vector<std::string> texts;
  for (const auto& [plugin, registered] : framework.queueing_hints()) {
    texts.push_back(fmt::format("{}: {}{}", plugin,
                                fmt::join(registered.event.Names(), " "),
                                registered.hint ? " with a hint" : ""));
  }
  return texts;
}

// Returns the events of one plugin: "Node/Add Node/Delete", or "Node/Add with a
// hint".
inline std::vector<std::string> EventsOf(const Framework& framework,
                                         const std::string& plugin) {
  std::vector<std::string> events;
  for (const std::string& text : DescribeHints(framework)) {
    if (text.starts_with(plugin + ": ")) {
      events.push_back(text.substr(plugin.size() + 2));
    }
  }
  return events;
}

// Calls the plugin's hints for these events of one change. Returns kQueue if
// one of them does, or if an event has no hint. Fails the test if the plugin
// has not registered the events.
inline QueueingHint HintAfter(const Plugin& plugin, const Pod& pod,
                              const std::vector<ClusterEvent>& events,
                              const EventObject& old_object,
                              const EventObject& new_object) {
  std::optional<QueueingHint> result;
  for (const ClusterEventWithHint& registered : plugin.EventsToRegister()) {
    const QueueingHintFn& hint = registered.hint;
    for (const ClusterEvent& incoming : events) {
      if (!registered.event.Matches(incoming)) continue;
      const QueueingHint one =
          hint ? hint(pod, {incoming, old_object, new_object})
               : QueueingHint::kQueue;
      if (result != QueueingHint::kQueue) result = one;
    }
  }
  EXPECT_TRUE(result) << "the plugin has not registered the change";
  return result.value_or(QueueingHint::kSkip);
}

// The same for a plugin that needs no arguments.
template <class Plugin>
QueueingHint HintAfter(const Pod& pod, const std::vector<ClusterEvent>& events,
                       const EventObject& old_object,
                       const EventObject& new_object) {
  return HintAfter(Plugin(), pod, events, old_object, new_object);
}

// The objects of these functions are JSON.

// Returns the plugin's hint for a node that is added or, with `old`, updated.
template <class Plugin>
QueueingHint AfterNode(const char* pod, const char* old, const char* node) {
  const auto now = std::make_shared<const Node>(FromJson<Node>(node));
  if (!old) {
    return HintAfter<Plugin>(FromJson<Pod>(pod),
                             {{EventResource::kNode, action::kAdd}}, {}, now);
  }
  const auto before = std::make_shared<const Node>(FromJson<Node>(old));
  return HintAfter<Plugin>(FromJson<Pod>(pod),
                           NodeSchedulingPropertiesChange(*before, *now),
                           before, now);
}

// Returns the plugin's hint for a pod that is updated or, without `now`,
// deleted.
template <class Plugin>
QueueingHint AfterPod(const char* pod, const char* old, const char* now) {
  const auto before = std::make_shared<const Pod>(FromJson<Pod>(old));
  if (!now) {
    return HintAfter<Plugin>(FromJson<Pod>(pod),
                             {{EventResource::kAssignedPod, action::kDelete}},
                             before, {});
  }
  const auto after = std::make_shared<const Pod>(FromJson<Pod>(now));
  return HintAfter<Plugin>(FromJson<Pod>(pod),
                           PodSchedulingPropertiesChange(*before, *after),
                           before, after);
}

// A change, and the plugin's hint for the pod after this change.
struct HintCase {
  const char* name;
  QueueingHint (*after)(const char* pod, const char* old, const char* now);
  const char* pod;
  const char* old_object;
  const char* new_object;
  QueueingHint hint;
};

inline std::ostream& operator<<(std::ostream& out, const HintCase& test) {
  return out << test.name;
}

inline std::string NameOfHintCase(
    const ::testing::TestParamInfo<HintCase>& info) {
  return info.param.name;
}

inline QueueingHint RunHintCase(const HintCase& test) {
  return test.after(test.pod, test.old_object, test.new_object);
}

}  // namespace minisched
