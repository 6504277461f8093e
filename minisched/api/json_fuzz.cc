// Fuzzes the objects of minisched/api as JSON. The first line of the input is a
// type: "Pod", "PodList" or "PodEvent" (a line of a watch); "Node", "NodeList"
// or "NodeEvent"; "Binding", "Event", "Status", "Budget", "Lease", "Volume",
// "Claim" or "StorageClass". The rest is the JSON.

#include <map>
#include <string_view>

#include "minisched/api/event.h"
#include "minisched/api/host_ports.h"
#include "minisched/api/json.h"
#include "minisched/api/json_mutator.h"
#include "minisched/api/lease.h"
#include "minisched/api/node.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod.h"
#include "minisched/api/pod_disruption_budget.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/resource.h"
#include "minisched/api/storage.h"
#include "minisched/api/watch_event.h"
#include "minisched/base/fuzzing.h"

namespace minisched {
namespace {

// Uses the object as a scheduler does.
template <class T>
void Use(const T& /*object*/) {}

void Use(const Pod& pod) {
  for (const bool use_status : {false, true}) {
    const auto requests =
        PodRequests(pod, {.use_status_resources = use_status});
    Require(Resource(requests).milli_cpu >= 0, "requests are not negative");
  }
  HostPortInfo used;
  for (const HostPort& port : GetHostPorts(pod)) {
    used.Add(port);
    Require(used.CheckConflict(port), "a port conflicts with itself", port.ip);
  }
  RequiredNodeAffinity(pod).Matches(Node());
  try {
    PreferredSchedulingTerms(pod).Score(Node());
  } catch (const ParseError&) {
    // A term is malformed.
  }
}

void Use(const Node& node) { Resource(node.status.allocatable); }

template <class T>
void CheckObject(const T& object) {
  const std::string text = ToJson(object);
  try {
    const T again = FromJson<T>(text);
    Require(ToJson(again) == text, "the JSON of an object is stable", text);
  } catch (const ParseError& error) {
    Require(false, "the JSON of an object can be read",
            text + ": " + error.what());
  }
  Use(object);
}

template <class T>
void ReadObject(std::string_view json) {
  CheckObject(FromJson<T>(json));
}

template <class T>
void ReadList(std::string_view json) {
  const auto list = FromJson<ObjectList<T>>(json);
  for (const auto& item : list.items) CheckObject(*item);
  for (const MalformedObject& malformed : list.malformed) {
    Require(!malformed.error.empty(), "a malformed object has an error");
  }
}

template <class T>
void ReadEvent(std::string_view json) {
  const auto event = FromJson<WatchEvent<T>>(json);
  if (event.object) CheckObject(*event.object);
  const bool has_object = event.type == WatchEvent<T>::Type::kAdded ||
                          event.type == WatchEvent<T>::Type::kModified ||
                          event.type == WatchEvent<T>::Type::kDeleted;
  Require(has_object == (event.object || event.malformed),
          "an event has an object or its error", std::string(json));
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  static const std::map<std::string_view, void (*)(std::string_view)> kReaders =
      {{"Binding", ReadObject<Binding>},
       {"Event", ReadObject<Event>},
       {"Node", ReadObject<Node>},
       {"NodeEvent", ReadEvent<Node>},
       {"NodeList", ReadList<Node>},
       {"Pod", ReadObject<Pod>},
       {"PodEvent", ReadEvent<Pod>},
       {"PodList", ReadList<Pod>},
       {"Status", ReadObject<ApiStatus>},
       {"Budget", ReadObject<PodDisruptionBudget>},
       {"Lease", ReadObject<Lease>},
       {"Volume", ReadObject<PersistentVolume>},
       {"Claim", ReadObject<PersistentVolumeClaim>},
       {"StorageClass", ReadObject<StorageClass>}};
  std::string_view text = InputText(data, size);
  const auto reader = kReaders.find(TakeLine(text));
  if (reader == kReaders.end()) return -1;  // not for the corpus
  try {
    reader->second(text);
  } catch (const ParseError&) {
    // Most inputs are malformed.
  }
  return 0;
}
