#pragma once

#include <any>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include "minisched/trace/attempt_report.h"

namespace minisched {

class FilterPlugin;
class PreBindPlugin;
class PreFilterPlugin;
class ScorePlugin;

// The state of one attempt to schedule a pod: data that plugins store for use
// at later extension points. Each plugin uses types of its own. A copy has
// copies of the data, and reports nothing. Const access to the data is
// thread-safe. Follows CycleState of k8s.io/kube-scheduler/framework, where a
// string is the key.
class CycleState {
 public:
  CycleState() = default;  // reports nothing
  explicit CycleState(AttemptReport report) : report_(std::move(report)) {}

  // Reports what the plugins return, for the trace.
  const AttemptReport& report() const { return report_; }

  // Stores the data, instead of earlier data of the same type.
  template <class T>
  void Write(T data) {
    data_.insert_or_assign(typeid(T), std::move(data));
  }

  // Returns the data of this type. Throws std::out_of_range if there is none.
  template <class T>
  const T& Read() const {
    return *std::any_cast<T>(&data_.at(typeid(T)));
  }

  // The same, to change the data.
  template <class T>
  T& Read() {
    return *std::any_cast<T>(&data_.at(typeid(T)));
  }

  // Returns the data of this type, or null if there is none.
  template <class T>
  const T* Find() const {
    return data_.contains(typeid(T)) ? &Read<T>() : nullptr;
  }

  // The plugins whose Filter runs in this cycle, in order. Only the framework
  // sets them. kube-scheduler keeps the names of the other plugins instead, and
  // looks them up for each node.
  std::vector<const FilterPlugin*> filter_plugins;
  // The same for AddPod and RemovePod.
  std::vector<const PreFilterPlugin*> pre_filter_plugins;
  // The same for Score.
  std::vector<const ScorePlugin*> score_plugins;
  // The plugins whose PreBind does not run in this cycle.
  std::vector<const PreBindPlugin*> skipped_pre_bind;

 private:
  AttemptReport report_;
  std::unordered_map<std::type_index, std::any> data_;
};

}  // namespace minisched
