#include "lab/live/rows.h"

#include <fmt/format.h>

#include <charconv>

#include "lab/live/json.h"
#include "minisched/api/conditions.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/resource.h"

namespace minisched::live {
namespace {

// The labels of the pods of a group.
constexpr const char* kGroupLabel = "pod-group.scheduling.sigs.k8s.io/name";
constexpr const char* kMinAvailableLabel =
    "pod-group.scheduling.sigs.k8s.io/min-available";

template <class T>
void SetIfAny(Json& json, const std::string& key, const T& value) {
  if (value != T()) json[key] = value;
}

// Sets the amount, as a double if the number doesn't fit in 64 bits.
void SetAmount(Json& json, const std::string& resource, Amount amount) {
  const auto number = static_cast<std::int64_t>(amount);
  json[resource] =
      number == amount ? Json(number) : Json(static_cast<double>(amount));
}

Json AmountsOf(const Resource& resource) {
  Json json;
  const auto set_if_any = [&json](const std::string& name, Amount amount) {
    if (amount != 0) SetAmount(json, name, amount);
  };
  SetAmount(json, "cpu", resource.milli_cpu);
  SetAmount(json, "memory", resource.memory);
  set_if_any("ephemeral-storage", resource.ephemeral_storage);
  set_if_any("pods", resource.allowed_pod_number);
  for (const auto& [name, amount] : resource.scalar_resources) {
    set_if_any(name, amount);
  }
  return json;
}

Json Identity(const ObjectMeta& metadata) {
  Json json{{"uid", metadata.uid}};
  SetIfAny(json, "namespace", metadata.namespace_name);
  json["name"] = metadata.name;
  return json;
}

// Returns how many pods of its group the pod needs, or 0.
std::int64_t MinAvailable(const Pod& pod) {
  const auto label = pod.metadata.labels.find(kMinAvailableLabel);
  if (label == pod.metadata.labels.end()) return 0;
  const std::string& text = label->second;
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

template <class T>
Item MakeItem(const T& object, Time time, std::string_view row,
              Remains remains) {
  const char* const kind = std::is_same_v<T, Node> ? "node" : "pod";
  return {.key = object.metadata.uid + "/row",
          .json = fmt::format(R"({{"time":"{}","cluster":{{"{}":{}}}}})",
                              FormatMicroTime(time), kind, row),
          .remains = remains,
          .time = time};
}

}  // namespace

std::string RowOf(const Node& node) {
  Json row = Identity(node.metadata);
  if (node.spec.unschedulable) row["cordoned"] = true;
  for (const Taint& taint : node.spec.taints) {
    Json& json = row["taints"].emplace_back(Json{{"key", taint.key}});
    SetIfAny(json, "value", taint.value);
    json["effect"] = taint.effect;
  }
  row["allocatable"] = AmountsOf(Resource(node.status.allocatable));
  return Dump(row);
}

std::string RowOf(const Pod& pod) {
  Json row = Identity(pod.metadata);
  if (const auto created = pod.metadata.creation_timestamp) {
    row["created"] = FormatTime(*created);
  }
  SetIfAny(row, "node", pod.spec.node_name);
  SetIfAny(row, "phase", pod.status.phase);
  SetIfAny(row, "scheduler", pod.spec.scheduler_name);
  if (pod.spec.priority) row["priority"] = *pod.spec.priority;
  row["requests"] =
      AmountsOf(Resource(PodRequests(pod, {.use_status_resources = true})));
  for (const PodSchedulingGate& gate : pod.spec.scheduling_gates) {
    row["gates"].push_back(gate.name);
  }
  for (const Volume& volume : pod.spec.volumes) {
    const auto claim = ClaimName(pod, volume);
    if (claim) row["claims"].push_back(*claim);
  }
  const auto group = pod.metadata.labels.find(kGroupLabel);
  if (group != pod.metadata.labels.end()) row["group"] = group->second;
  SetIfAny(row, "minAvailable", MinAvailable(pod));
  const Condition* scheduled =
      FindCondition(pod.status.conditions, "PodScheduled");
  if (scheduled != nullptr && scheduled->status == "False") {
    row["condition"] = {{"reason", scheduled->reason},
                        {"message", scheduled->message}};
  }
  if (pod.metadata.deletion_timestamp) row["terminating"] = true;
  return Dump(row);
}

template <class T>
Item RowItem(const T& object, Time time) {
  return MakeItem(object, time, RowOf(object), Remains::kItem);
}

template <class T>
Item DeletionItem(const T& object, Time time) {
  Json row = Identity(object.metadata);
  row["deleted"] = true;
  return MakeItem(object, time, Dump(row), Remains::kNoOwner);
}

template Item RowItem(const Node& node, Time time);
template Item RowItem(const Pod& pod, Time time);
template Item DeletionItem(const Node& node, Time time);
template Item DeletionItem(const Pod& pod, Time time);

}  // namespace minisched::live
