#include "lab/live/other_scheduler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lab/live/json.h"
#include "minisched/api/parse_error.h"

namespace minisched::live {

OtherScheduler::OtherScheduler(Client& client, std::string name, Source source,
                               std::size_t attempt_bytes)
    : name_(std::move(name)),
      max_attempt_bytes_(attempt_bytes),
      informers_(client, client.clock()) {
  if (source == Source::kRecords) return;
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
  MutexLock lock(mu_);
  return std::exchange(items_, {});
}

void OtherScheduler::ReadRecord(const std::string& text, bool only_new) {
  const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto [time, sequence, replaced] = ReadHead(line);
  MutexLock lock(mu_);
  if (sequence == 0 || (only_new && sequence <= sequence_)) return;
  if (only_new && sequence_ > 0) {
    const std::uint64_t gap = sequence - sequence_ - 1;
    missing_ += gap - std::min(gap, replaced);
  }
  sequence_ = sequence;
  AddRecord(line, text);
}

std::uint64_t OtherScheduler::TakeMissing() {
  MutexLock lock(mu_);
  return std::exchange(missing_, 0);
}

void OtherScheduler::Clear() {
  MutexLock lock(mu_);
  items_.clear();
  attempts_.clear();
  newest_.clear();
  attempt_bytes_ = 0;
  sequence_ = 0;
  missing_ = 0;
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
  AddRecord(record, Dump(record));
}

void OtherScheduler::AddRecord(const Json& record, std::string text) {
  auto item = RecordItem(record);
  if (!item) return;
  items_.push_back(*std::move(item));
  const std::string key = AttemptKey(record);
  if (key.empty()) return;
  if (!attempts_.contains(key)) newest_.push_back(key);
  attempt_bytes_ += text.size();
  attempt_bytes_ -= std::exchange(attempts_[key], std::move(text)).size();
  while (attempt_bytes_ > max_attempt_bytes_) {
    const auto oldest = attempts_.find(newest_.front());
    attempt_bytes_ -= oldest->second.size();
    attempts_.erase(oldest);
    newest_.pop_front();
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
