#include "minisched/trace/annotator.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// How long records collect before they are read. Waking up for each one would
// cost the scheduler more.
constexpr milliseconds kReadPeriod{20};
constexpr std::size_t kMaxJobs = 10;
constexpr std::size_t kMaxWaitingBytes = 64 << 20;
constexpr minutes kBetweenWarnings{1};
constexpr seconds kFlush{5};

using PodResult = ClientResult<std::shared_ptr<const Pod>>;

std::string FailureText(const std::string& pod, std::string_view why) {
  return fmt::format("failed to annotate pod {} with its results: {}", pod,
                     why);
}

std::size_t HashOf(const Labels& annotations) {
  std::string all;
  for (const auto& [name, value] : annotations) all += value + '\n';
  return std::hash<std::string>{}(all);
}

}  // namespace

Annotator::Annotator(Trace& trace, const RestConfig& config, Clock& clock)
    : clock_(clock),
      reader_(trace, AttemptDetail::kFirstRejections),
      client_(config, clock),
      thread_([this](const std::stop_token& stop) { ReadTrace(stop); }) {}

Annotator::~Annotator() {
  thread_.request_stop();
  thread_.join();
  if (!under_way_.WaitUntil(clock_, clock_.Now() + kFlush)) {
    MutexLock lock(mu_);
    spdlog::warn("no time left to annotate {} pods with their results",
                 waiting_.size() + jobs_);
    waiting_.clear();
  }
  give_up_.request_stop();
}

void Annotator::ReadTrace(const std::stop_token& stop) {
  bool more = true;
  while (more) {
    more = clock_.SleepFor(kReadPeriod, stop);
    for (const RecordPtr& record : reader_.Poll()) ReadRecord(record);
    WarnOfLosses();
    StartJobs();
  }
}

void Annotator::ReadRecord(const RecordPtr& record) {
  MutexLock lock(mu_);
  if (const auto* attempt = std::get_if<Attempt>(&record->state)) {
    const auto pod = pods_.try_emplace(attempt->uid).first;
    pod->second.pod = attempt->pod;
    pod->second.attempt = record;
    pod->second.ended = false;
    if (!attempt->failure.empty()) AddResults(pod, *attempt);
  } else if (const auto* move = std::get_if<PodRecord>(&record->state)) {
    const auto pod = pods_.find(move->uid);
    if (pod == pods_.end()) return;
    const auto last = pod->second.attempt.lock();
    if (move->place == Place::kBound && last) {
      AddResults(pod, std::get<Attempt>(last->state));
    }
    pod->second.ended =
        move->place == Place::kBound || move->place == Place::kGone;
    ForgetIfEnded(pod);
  }
  while (waiting_bytes_ > kMaxWaitingBytes && waiting_.size() > 1) DropOldest();
}

void Annotator::AddResults(Pods::iterator pod, const Attempt& attempt) {
  PodState& state = pod->second;
  state.attempt.reset();
  Labels annotations = ResultAnnotations(attempt);
  const std::size_t hash = HashOf(annotations);
  if (std::exchange(state.hash, hash) == hash) return;
  if (state.next) {
    waiting_bytes_ -= state.next->bytes;
  } else if (!state.under_way) {
    waiting_.push_back(pod->first);
  }
  const std::size_t bytes = AnnotationBytes(annotations);
  waiting_bytes_ += bytes;
  state.next = {.annotations = std::move(annotations), .bytes = bytes};
}

void Annotator::DropOldest() {
  const auto pod = pods_.find(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= pod->second.next->bytes;
  pod->second.next.reset();
  pod->second.hash = 0;
  ForgetIfEnded(pod);
  ++dropped_;
}

void Annotator::ForgetIfEnded(Pods::iterator pod) {
  const PodState& state = pod->second;
  if (state.ended && !state.next && !state.under_way) pods_.erase(pod);
}

void Annotator::WarnOfLosses() {
  if (reader_.missing() > 0) {
    Warn("missing",
         fmt::format("annotating pods is too slow: {} records are missing",
                     reader_.missing()));
  }
  std::size_t dropped = 0;
  {
    MutexLock lock(mu_);
    dropped = std::exchange(dropped_, 0);
  }
  if (dropped > 0) {
    Warn("dropped",
         fmt::format("annotating pods is too slow: dropped {} results",
                     dropped));
  }
}

void Annotator::StartJobs() {
  while (std::optional<Job> job = TakeJob()) Annotate(*std::move(job)).Start();
}

std::optional<Annotator::Job> Annotator::TakeJob() {
  MutexLock lock(mu_);
  if (waiting_.empty() || jobs_ == kMaxJobs) return std::nullopt;
  ++jobs_;
  Job job{.uid = std::move(waiting_.front())};
  waiting_.pop_front();
  PodState& state = pods_.at(job.uid);
  state.under_way = true;
  job.pod = state.pod;
  job.annotations = std::move(state.next->annotations);
  waiting_bytes_ -= state.next->bytes;
  state.next.reset();
  return job;
}

Task<> Annotator::Annotate(Job job) {
  const auto under_way = under_way_.Begin();
  const std::size_t slash = job.pod.find('/');
  const std::string namespace_name = job.pod.substr(0, slash);
  const std::string name = job.pod.substr(slash + 1);
  const std::stop_token stop = give_up_.get_token();
  const auto get = [&](Callback<PodResult> done) {
    client_.GetAsync<Pod>(namespace_name, name, stop, std::move(done));
  };
  const PodResult pod = co_await CallbackResult<PodResult>(get);
  ClientResult<void> result = pod.map([](const auto&) {});
  AnnotationPatch patch;
  if (pod && (*pod)->metadata.uid == job.uid) {
    patch = PatchResults((*pod)->metadata, job.annotations);
    if (!patch.left_out.empty()) WarnOfLimit(job, patch.left_out);
  }
  if (!patch.json.empty()) {
    const auto send = [&](Callback<ClientResult<void>> done) {
      client_.PatchAsync<Pod>(namespace_name, name, PatchType::kMerge,
                              patch.json, "", stop, std::move(done));
    };
    result = co_await CallbackResult<ClientResult<void>>(send);
  }
  if (!result) WarnOfFailure(job, result.error());
  Finish(job, result.has_value());
}

void Annotator::Finish(const Job& job, bool written) {
  {
    MutexLock lock(mu_);
    --jobs_;
    const auto pod = pods_.find(job.uid);
    PodState& state = pod->second;
    state.under_way = false;
    if (state.next) {
      waiting_.push_back(job.uid);
    } else if (!written) {
      state.hash = 0;  // Write these results again if they repeat.
    }
    ForgetIfEnded(pod);
  }
  StartJobs();
}

void Annotator::WarnOfLimit(const Job& job,
                            const std::vector<std::string>& left_out) {
  Warn(
      "limit",
      FailureText(job.pod,
                  fmt::format("left out {}: all annotations of a pod together "
                              "may have {} bytes",
                              fmt::join(left_out, ", "), kMaxAnnotationBytes)));
}

void Annotator::WarnOfFailure(const Job& job, const ClientError& error) {
  if (error.As<Cancelled>()) return;
  const std::string message = FailureText(job.pod, error.what());
  if (error.code() == 404 || error.code() == 409) {
    spdlog::debug("{}", message);  // The pod is gone.
  } else {
    Warn(std::to_string(error.code()), message);
  }
}

void Annotator::Warn(const std::string& kind, const std::string& message) {
  {
    MutexLock lock(mu_);
    const Clock::TimePoint now = clock_.Now();
    const auto [last, is_first] = last_warnings_.try_emplace(kind, now);
    if (!is_first && now - last->second < kBetweenWarnings) return;
    last->second = now;
  }
  spdlog::warn("{}", message);
}

}  // namespace minisched
