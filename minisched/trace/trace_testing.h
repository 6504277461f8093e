#pragma once

#include <fmt/format.h>

#include <stop_token>
#include <string>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/trace/records.h"

// Helpers for the tests of the trace.

namespace minisched {

// The prefix of the annotations with an attempt's results.
inline const std::string kAnnotationPrefix =
    "kube-scheduler-simulator.sigs.k8s.io/";

// Returns a pod whose uid is its name.
inline Pod TracedPod(const std::string& name) {
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  return pod;
}

// Returns the subject of a record: "web active", "web #1", "queue web db, 2
// pods" or "scheduler".
inline std::string Describe(const Record& record) {
  if (const auto* pod = std::get_if<PodRecord>(&record.state)) {
    return fmt::format("{} {}", pod->uid, PlaceName(pod->place));
  }
  if (const auto* attempt = std::get_if<Attempt>(&record.state)) {
    return fmt::format("{} #{}", attempt->uid, attempt->number);
  }
  if (const auto* queue = std::get_if<QueueRecord>(&record.state)) {
    std::string text = "queue";
    for (const std::string& uid : queue->active) text += " " + uid;
    return fmt::format("{}, {} pods", text, queue->length);
  }
  return "scheduler";
}
inline std::vector<std::string> Describe(
    const std::vector<RecordPtr>& records) {
  std::vector<std::string> texts;
  for (const RecordPtr& record : records) texts.push_back(Describe(*record));
  return texts;
}

// Returns a token that already asks to stop.
inline std::stop_token Stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

}  // namespace minisched
