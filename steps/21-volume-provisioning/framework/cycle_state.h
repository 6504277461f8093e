#pragma once

#include <algorithm>
#include <any>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include "minisched/trace/attempt_report.h"

namespace minisched {

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

  // Excludes the plugin from the Filter extension point in this cycle. The text
  // of `plugin` must outlive the state and its copies.
  void SkipFilter(std::string_view plugin) { skip_filter_.push_back(plugin); }
  bool SkipsFilter(std::string_view plugin) const {
    return std::ranges::find(skip_filter_, plugin) != skip_filter_.end();
  }
  // Excludes the plugin from Score, like SkipFilter().
  void SkipScore(std::string_view plugin) { skip_score_.push_back(plugin); }
  bool SkipsScore(std::string_view plugin) const {
    return std::ranges::find(skip_score_, plugin) != skip_score_.end();
  }
  // Excludes the plugin from PreBind, like SkipFilter().
  void SkipPreBind(std::string_view plugin) {
    skip_pre_bind_.push_back(plugin);
  }
  bool SkipsPreBind(std::string_view plugin) const {
    return std::ranges::find(skip_pre_bind_, plugin) != skip_pre_bind_.end();
  }

 private:
  AttemptReport report_;
  std::unordered_map<std::type_index, std::any> data_;
  // A vector: it is searched for each plugin and node, and has few elements.
  std::vector<std::string_view> skip_filter_;
  std::vector<std::string_view> skip_score_;
  std::vector<std::string_view> skip_pre_bind_;
};

}  // namespace minisched
