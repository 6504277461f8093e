#include "minisched/live/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <variant>

#include "minisched/live/json.h"
#include "minisched/live/rows.h"

namespace minisched::live {
namespace {

// How long changes of objects collect before they are read.
constexpr std::chrono::milliseconds kReadDelay{20};

std::string KeyOf(const Record& record) {
  if (const auto* pod = std::get_if<PodRecord>(&record.state)) {
    return pod->uid + "/pod";
  }
  if (const auto* attempt = std::get_if<Attempt>(&record.state)) {
    return fmt::format("{}/attempt/{}", attempt->uid, attempt->number);
  }
  return std::holds_alternative<QueueRecord>(record.state) ? "/queue"
                                                           : "/scheduler";
}

Item ItemOf(const Record& record) {
  const auto* pod = std::get_if<PodRecord>(&record.state);
  const bool is_gone = pod != nullptr && pod->place == Place::kGone;
  return {.key = KeyOf(record),
          .json = ToJsonLine(record, JsonDetail::kSummary),
          .remains = is_gone ? Remains::kNothing : Remains::kItem};
}

// Keeps the last item for each key. Returns the number of the others.
std::size_t KeepLast(std::vector<Item>& items) {
  std::unordered_set<std::string> keys;
  std::vector<Item> kept;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (keys.insert(item->key).second) kept.push_back(std::move(*item));
  }
  std::ranges::reverse(kept);
  const std::size_t dropped = items.size() - kept.size();
  items = std::move(kept);
  return dropped;
}

}  // namespace

Collector::Collector(Trace& trace, Client& client, History& history,
                     std::function<std::string()> every)
    : trace_(trace),
      client_(client),
      clock_(client.clock()),
      history_(history),
      every_(std::move(every)) {}

Collector::~Collector() { Stop(); }

bool Collector::Collect(std::size_t pages) {
  const bool starts = !reader_;
  if (starts && pages == 0) return false;
  if (pages > 0) last_page_ = clock_.Now();
  if (clock_.Now() - last_page_ >= kLinger) {
    Stop();
    return false;
  }
  if (starts) Start();
  Probe();
  if (const std::string every = every_(); every != last_every_) {
    last_every_ = every;
    AddLive("every", Dump(every));
  }
  trace_.ReportQueue();
  std::vector<Item> items = TakeItems();
  std::uint64_t dropped = reader_->missing();
  // The first call returns the earlier records, however many there are.
  if (!starts && items.size() > kMaxItems) dropped += KeepLast(items);
  history_.Add(std::move(items));
  if (dropped > 0) {
    AddLive("dropped", std::to_string(dropped), Remains::kNothing);
  }
  return true;
}

void Collector::SetAllRejections(bool on) {
  all_rejections_.reset();
  if (!on) return;
  all_rejections_.emplace(trace_, AttemptDetail::kAllRejections);
  all_rejections_->Poll();  // Let go of the earlier records.
}

void Collector::Start() {
  reader_.emplace(trace_, AttemptDetail::kFirstRejections, TraceStart::kOldest);
  informers_ = std::make_unique<SharedInformerFactory>(client_, clock_);
  AddHandlers<Node>();
  AddHandlers<Pod>();
  informers_->Start({});
  stop_probe_ = {};
  next_probe_ = clock_.Now();
}

void Collector::Stop() {
  stop_probe_.request_stop();
  probes_.WaitUntil(RealClock(), Clock::TimePoint::max());
  informers_.reset();
  reader_.reset();
  all_rejections_.reset();
  last_every_.clear();
  history_.Clear();
  MutexLock lock(mu_);
  server_.clear();
  pending_.clear();
}

template <class T>
void Collector::AddHandlers() {
  using Object = std::shared_ptr<const T>;
  informers_->Add<T>({.read_delay = kReadDelay})
      .AddEventHandler({.on_add =
                            [this](const Object& object, bool) {
                              const Time now = clock_.WallNow();
                              Add(RowItem(*object, now), now);
                            },
                        .on_update =
                            [this](const Object& old, const Object& object) {
                              if (RowOf(*old) == RowOf(*object)) return;
                              const Time now = clock_.WallNow();
                              Add(RowItem(*object, now), now);
                            },
                        .on_delete =
                            [this](const Object& last) {
                              const Time now = clock_.WallNow();
                              Add(DeletionItem(*last, now), now);
                            }});
}

void Collector::AddLive(const std::string& name, const std::string& json_value,
                        Remains remains) {
  const Time now = clock_.WallNow();
  Add({.key = "/live/" + name,
       .json = fmt::format(R"({{"time":"{}","live":{{"{}":{}}}}})",
                           FormatMicroTime(now), name, json_value),
       .remains = remains},
      now);
}

void Collector::Add(Item item, Time time) {
  MutexLock lock(mu_);
  pending_.push_back({.time = time, .item = std::move(item)});
}

std::vector<Item> Collector::TakeItems() {
  std::vector<TimedItem> pending;
  {
    MutexLock lock(mu_);
    pending.swap(pending_);
  }
  std::vector<Item> items;
  auto next = pending.begin();
  for (const RecordPtr& record : reader_->Poll()) {
    for (; next != pending.end() && next->time < record->time; ++next) {
      items.push_back(std::move(next->item));
    }
    items.push_back(ItemOf(*record));
  }
  for (; next != pending.end(); ++next) items.push_back(std::move(next->item));
  return items;
}

void Collector::Probe() {
  if (probing_ || clock_.Now() < next_probe_) return;
  probing_ = true;
  next_probe_ = clock_.Now() + kProbePeriod;
  const auto under_way = std::make_shared<WaitGroup::Token>(probes_.Begin());
  client_.SendAsync(
      {.method = "GET", .path = "/version"}, stop_probe_.get_token(),
      [this, under_way](const ClientResult<std::string>& result) {
        if (result || result.error().As<ApiError>()) {
          SetServer("connected");
        } else if (!result.error().As<Cancelled>()) {
          SetServer(fmt::format("lost: {}", result.error().what()));
        }
        probing_ = false;
      });
}

void Collector::SetServer(const std::string& state) {
  {
    MutexLock lock(mu_);
    if (state == server_) return;
    server_ = state;
  }
  AddLive("server", Dump(state));
}

}  // namespace minisched::live
