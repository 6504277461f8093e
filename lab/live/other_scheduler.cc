#include "lab/live/other_scheduler.h"

#include <memory>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/base/log.h"
#include "minisched/live/json.h"

namespace minisched::live {

OtherScheduler::OtherScheduler(Client& client, std::string name,
                               const std::string& records)
    : name_(std::move(name)), informers_(client, client.clock()) {
  if (!records.empty()) {
    records_.emplace(records);
    return;
  }
  using PodPtr = std::shared_ptr<const Pod>;
  using EventPtr = std::shared_ptr<const Event>;
  informers_.Of<Pod>().AddEventHandler(
      {.on_add = [this](const PodPtr& pod, bool) { ReadNewPod(*pod); },
       .on_update = [this](const PodPtr&,
                           const PodPtr& pod) { ReadAnnotations(*pod); },
       .on_delete = [this](const PodPtr& pod) { Forget(pod->metadata.uid); }});
  informers_.Add<Event>({.field_selector = "reason=FailedScheduling"})
      .AddEventHandler(
          {.on_add = [this](const EventPtr& event, bool) { ReadEvent(*event); },
           .on_update = [this](const EventPtr&,
                               const EventPtr& event) { ReadEvent(*event); },
           .on_delete = [this](const EventPtr& event) { Forget(*event); }});
  informers_.Start({});
}

std::vector<Item> OtherScheduler::Take() {
  if (records_) PollRecords();
  MutexLock lock(mu_);
  return std::exchange(items_, {});
}

void OtherScheduler::PollRecords() {
  std::string place;
  try {
    records_->Poll([&](const std::string& text, const std::string& its_place) {
      place = its_place + ": ";
      const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
      MutexLock lock(mu_);
      if (ReadHead(line).sequence > 0) AddRecord(line);
    });
  } catch (const std::runtime_error& error) {
    spdlog::error("--records: {}{}: the page shows no further records", place,
                  error.what());
    records_.reset();
  }
}

void OtherScheduler::ReadAnnotations(const Pod& pod) {
  if (pod.spec.scheduler_name != name_) return;
  MutexLock lock(mu_);
  const Time now = RealClock().WallNow();
  for (Json& record : results_.Read(pod, now)) AddAttempt(std::move(record));
}

void OtherScheduler::ReadNewPod(const Pod& pod) {
  ReadAnnotations(pod);
  MutexLock lock(mu_);
  const auto early = early_events_.extract(pod.metadata.uid);
  if (early.empty()) return;
  for (const auto& [name, event] : early.mapped()) AddEvent(event, pod);
}

void OtherScheduler::ReadEvent(const Event& event) {
  const ObjectReference& about = event.regarding;
  MutexLock lock(mu_);
  const auto pod =
      informers_.Of<Pod>().store().Get(about.namespace_name, about.name);
  if (pod && pod->metadata.uid == about.uid) {
    AddEvent(event, *pod);
  } else {
    early_events_[about.uid][event.metadata.name] = event;
  }
}

void OtherScheduler::AddEvent(const Event& event, const Pod& pod) {
  if (pod.spec.scheduler_name != name_) return;
  const std::string& uid = pod.metadata.uid;
  auto& counts = events_[uid];
  int& count = counts[event.metadata.name];
  const int new_count = event.series ? event.series->count : 1;
  if (new_count <= count) return;
  count = new_count;
  int number = 0;
  for (const auto& [name, times] : counts) number += times;
  // An annotation has more of the attempt.
  if (attempts_.contains(uid + "/" + std::to_string(number))) return;
  AddAttempt(AttemptRecord(FailedAttempt(event.note), pod.metadata, number,
                           RealClock().WallNow()));
}

void OtherScheduler::Forget(const std::string& uid) {
  MutexLock lock(mu_);
  results_.Forget(uid);
  events_.erase(uid);
}

void OtherScheduler::Forget(const Event& event) {
  MutexLock lock(mu_);
  const auto early = early_events_.find(event.regarding.uid);
  if (early == early_events_.end()) return;
  early->second.erase(event.metadata.name);
  if (early->second.empty()) early_events_.erase(early);
}

void OtherScheduler::AddAttempt(Json record) {
  record["sequence"] = ++sequence_;
  AddRecord(record);
}

void OtherScheduler::AddRecord(const Json& record) {
  auto item = RecordItem(record);
  if (!item) return;
  items_.push_back(*std::move(item));
  if (const std::string key = AttemptKey(record); !key.empty()) {
    if (!attempts_.contains(key)) newest_.push_back(key);
    attempts_[key] = Dump(record);
    if (newest_.size() > kAttempts) {
      attempts_.erase(newest_.front());
      newest_.pop_front();
    }
  }
}

std::optional<std::string> OtherScheduler::FindAttempt(
    const std::string& key) const {
  MutexLock lock(mu_);
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) return std::nullopt;
  return found->second;
}

}  // namespace minisched::live
