#include "lab/live/recording.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "lab/live/json.h"
#include "lab/live/rows.h"
#include "lab/live/simulator_results.h"
#include "minisched/api/document.h"
#include "minisched/api/node.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"

namespace minisched::live {
namespace {

// Makes rows of the lines of objects.
class ObjectLines {
 public:
  // Ignores objects other than nodes and pods. Throws ParseError.
  void Read(const Json& line, Time time) {
    const Json& event = line["event"];
    const bool is_deletion = event == "Delete";
    if (!is_deletion && event != "Add" && event != "Update") {
      throw ParseError("its \"event\" is not Add, Update or Delete");
    }
    const Json& resource = line["resource"];
    if (!resource.is_object()) throw ParseError("its resource is no object");
    const Json kind = resource.value("kind", Json());
    if (kind == "Node") {
      Apply(FromDocument<Node>(resource), is_deletion, time);
    } else if (kind == "Pod") {
      const Pod pod = FromDocument<Pod>(resource);
      Apply(pod, is_deletion, time);
      for (Json& record : results_.Read(pod, time)) {
        attempts.push_back(std::move(record));
      }
      if (scheduler.empty()) scheduler = pod.spec.scheduler_name;
    }
  }

  std::vector<Item> items;
  std::vector<Json> attempts;  // from annotations
  std::string scheduler;       // of the first pod

 private:
  struct Known {
    ObjectMeta metadata;
    std::string row;
  };

  template <class T>
  void Apply(const T& object, bool is_deletion, Time time) {
    const std::string name = std::string(T::kResource.kind) + " " +
                             object.metadata.namespace_name + "/" +
                             object.metadata.name;
    const auto known = known_.find(name);
    // The line of a deletion has no uid. If the deletion itself is missing, the
    // uid has changed.
    if (known != known_.end() &&
        (is_deletion || known->second.metadata.uid != object.metadata.uid)) {
      items.push_back(
          DeletionItem(T{.metadata = known->second.metadata}, time));
      known_.erase(known);
    }
    if (is_deletion) return;
    if (object.metadata.uid.empty()) {
      throw ParseError("the object has no metadata.uid");
    }
    std::string row = RowOf(object);
    if (known_[name].row == row) return;
    known_[name] = {
        .metadata = {.name = object.metadata.name,
                     .namespace_name = object.metadata.namespace_name,
                     .uid = object.metadata.uid},
        .row = std::move(row)};
    items.push_back(RowItem(object, time));
  }

  std::map<std::string, Known> known_;
  SimulatorResults results_;
};

// Returns the items of both lists in the order of their times. Keeps the order
// of each list, even if its clock was set back.
std::vector<Item> MergeByTime(std::vector<Item> rows,
                              std::vector<Item> records) {
  for (auto* list : {&rows, &records}) {
    Time last{};
    for (Item& item : *list) last = item.time = std::max(last, item.time);
  }
  std::vector<Item> all;
  std::ranges::merge(rows, records, std::back_inserter(all), {}, &Item::time,
                     &Item::time);
  return all;
}

}  // namespace

Recording::Recording(std::string path) : path_(std::move(path)) {
  ObjectLines objects;
  std::vector<Item> records;
  ReadLines(path_, [&](const Json& line, const LinePlace& place) {
    const LineHead head = ReadHead(line);
    if (head.sequence == 0) return objects.Read(line, head.time);
    auto item = RecordItem(line);
    if (!item) return;
    if (line.contains("attempt")) attempts_[AttemptKey(line)] = place;
    if (line.contains("scheduler") && line["scheduler"].is_object()) {
      program_ = line["scheduler"].value("program", "");
      scheduler_ = line["scheduler"].value("name", "");
    }
    records.push_back(*std::move(item));
  });
  if (records.empty()) {
    for (const Json& record : objects.attempts) {
      records.push_back(RecordItem(record).value());
      annotated_[AttemptKey(record)] = Dump(record);
    }
  }
  items_ = MergeByTime(std::move(objects.items), std::move(records));
  if (items_.empty()) {
    throw RecordingError(path_ + ": the recording is empty");
  }
  if (program_.empty()) program_ = std::filesystem::path(path_).filename();
  if (scheduler_.empty()) scheduler_ = objects.scheduler;
}

std::vector<std::string> Recording::AttemptKeys() const {
  std::vector<std::string> keys;
  for (const auto& [key, place] : attempts_) keys.push_back(key);
  for (const auto& [key, record] : annotated_) keys.push_back(key);
  return keys;
}

std::optional<std::string> Recording::FindAttempt(
    const std::string& key) const {
  if (const auto found = annotated_.find(key); found != annotated_.end()) {
    return found->second;
  }
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) return std::nullopt;
  std::string text(found->second.size, '\0');
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(found->second.offset));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file || !Json::accept(text)) return std::nullopt;  // changed meanwhile
  return text;
}

}  // namespace minisched::live
