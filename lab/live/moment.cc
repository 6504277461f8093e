#include "lab/live/moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lab/live/api_proxy.h"
#include "lab/live/exported.h"
#include "lab/live/json.h"
#include "lab/live/record_lines.h"
#include "minisched/api/document.h"

namespace minisched::live {
namespace {

// Sorted by kind, in the order in which objects can be created.
using ObjectId = std::tuple<std::ptrdiff_t, std::string, std::string>;
using Objects = std::map<ObjectId, Json>;

ObjectId IdOf(const Json& object) {
  const auto kinds = ShownResources();
  const auto kind =
      std::ranges::find(kinds, TextAt(object, "/kind"), &ApiResource::kind);
  return {kind - kinds.begin(), TextAt(object, "/metadata/namespace"),
          TextAt(object, "/metadata/name")};
}

// Returns the time of the last record up to this sequence, or of the line with
// this number if there are no records.
Time TimeOf(const std::string& path, std::uint64_t sequence) {
  std::uint64_t records = 0;
  std::uint64_t lines = 0;
  Time of_record{};
  Time of_line{};
  ReadLines(path, [&](const Json& line, const LinePlace& place) {
    const LineHead head = ReadHead(line);
    lines = place.number;
    if (place.number <= sequence) of_line = head.time;
    if (head.sequence == 0) return;
    records = head.sequence;
    if (head.sequence <= sequence) of_record = head.time;
  });
  const std::uint64_t last = records > 0 ? records : lines;
  if (sequence > last || sequence == 0) {
    throw RecordingError(fmt::format(
        "--at {}: {} has the {} 1 to {}", sequence, path,
        records > 0 ? "records with the sequences" : "lines", last));
  }
  return records > 0 ? of_record : of_line;
}

// True for objects that every server has by itself, and those that end. Pods of
// the system take up resources, so they stay.
bool IsLeftOut(const Json& object) {
  const bool in_namespace = !TextAt(object, "/metadata/namespace").empty();
  return IsEnding(object) || (!in_namespace && IsOfSystem(object));
}

// Adds an object unless there is one with its name.
void Add(Objects& objects, const Json& object) {
  if (!IsLeftOut(object)) objects.emplace(IdOf(object), NewObject(object));
}

// Adds what a server requires before it creates the pod.
void AddNeedsOf(const Json& pod, Objects& objects) {
  Add(objects, {{"apiVersion", "v1"},
                {"kind", "Namespace"},
                {"metadata", {{"name", TextAt(pod, "/metadata/namespace")}}}});
  const std::string name = TextAt(pod, "/spec/priorityClassName");
  if (name.empty()) return;
  const Json& spec = pod["spec"];
  Json priority_class = {{"apiVersion", "scheduling.k8s.io/v1"},
                         {"kind", "PriorityClass"},
                         {"metadata", {{"name", name}}},
                         {"value", spec.value("priority", Json(0))}};
  if (spec.contains("preemptionPolicy")) {
    priority_class["preemptionPolicy"] = spec["preemptionPolicy"];
  }
  Add(objects, priority_class);
}

// Returns true if the item is a change of the node or pod `what`, or of any if
// `what` is empty. If `place` is not empty, the item must also be the arrival
// of a pod at this place. A pod that is deleted comes to the place "gone".
bool IsAbout(const Json& item, const std::string& what,
             const std::string& place) {
  std::string name;
  std::string now_at;
  if (item.contains("pod")) {
    name = item["pod"]["name"];
    now_at = item["pod"]["place"];
  } else if (item.contains("cluster")) {
    const Json& row = item["cluster"].front();
    name = row.value("namespace", "") + "/" + row.value("name", "");
    if (item["cluster"].contains("pod") && row.value("deleted", false)) {
      now_at = "gone";
    }
  }
  return (what.empty() || name == what || name.ends_with("/" + what)) &&
         (place.empty() || place == now_at);
}

}  // namespace

std::string ObjectsAt(const std::string& path, std::uint64_t sequence) {
  const Time moment = TimeOf(path, sequence);
  Objects present;
  ReadLines(path, [&](const Json& line, const LinePlace&) {
    const LineHead head = ReadHead(line);
    if (head.sequence != 0 || head.time > moment) return;
    const Json& object = line["resource"];
    present.erase(IdOf(object));
    if (line["event"] != "Delete") present[IdOf(object)] = object;
  });
  Objects objects;
  for (const auto& [id, object] : present) Add(objects, object);
  for (const auto& [id, object] : present) {
    if (TextAt(object, "/kind") == "Pod" && objects.contains(id)) {
      AddNeedsOf(object, objects);
    }
  }
  Json list = {
      {"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
  for (const auto& [id, object] : objects) list["items"].push_back(object);
  return ToYaml(list);
}

std::size_t CountBefore(const Recording& recording, const std::string& what) {
  const auto colon = what.find(':');
  const std::string name = what.substr(0, colon);
  const std::string place = colon == what.npos ? "" : what.substr(colon + 1);
  const auto& items = recording.items();
  const auto found = std::ranges::find_if(items, [&](const Item& item) {
    return IsAbout(Json::parse(item.json), name, place);
  });
  if (found == items.end()) {
    throw RecordingError(fmt::format(
        "--before {}: {}", what,
        place.empty() ? "the recording has no node or pod of this name"
                      : "no such pod comes to this place in the recording"));
  }
  return found - items.begin();
}

}  // namespace minisched::live
