#include "lab/live/collector.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lab/live/json.h"
#include "lab/live/rows.h"

namespace minisched::live {
namespace {

// How long changes of objects collect before they are read.
constexpr std::chrono::milliseconds kReadDelay{20};

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

Collector::Collector(Client& client, History& history)
    : client_(client), clock_(client.clock()), history_(history) {}

Collector::~Collector() { Stop(); }

bool Collector::Collect(std::size_t pages, bool all) {
  if (!informers_ && pages == 0) return false;
  if (pages > 0) last_page_ = clock_.Now();
  if (clock_.Now() - last_page_ >= kLinger) {
    Stop();
    return false;
  }
  if (!informers_) Start();
  Probe();
  std::vector<Item> items = TakeItems();
  AddMissedDeletions(items);
  if (!all && items.size() > kMaxItems) PushDropped(KeepLast(items));
  history_.Add(std::move(items));
  return true;
}

void Collector::Restart() {
  if (!informers_) return;
  Stop();
  Start();
}

void Collector::Start() {
  start_ = clock_.WallNow();
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
  earlier_.clear();
  history_.Clear();
  MutexLock lock(mu_);
  states_.clear();
  pending_.clear();
}

template <class T>
void Collector::AddHandlers() {
  using Object = std::shared_ptr<const T>;
  informers_->Add<T>({.read_delay = kReadDelay})
      .AddEventHandler(
          {.on_add = [this](const Object& object,
                            bool) { Push(RowItem(*object, clock_.WallNow())); },
           .on_update =
               [this](const Object& old, const Object& object) {
                 if (RowOf(*old) == RowOf(*object)) return;
                 Push(RowItem(*object, clock_.WallNow()));
               },
           .on_delete =
               [this](const Object& last) {
                 Push(DeletionItem(*last, clock_.WallNow()));
               }});
}

template <class T>
void Collector::PushLive(const std::string& name, const T& value,
                         Remains remains) {
  const Time now = clock_.WallNow();
  const Json item = {{"time", FormatMicroTime(now)}, {"live", {{name, value}}}};
  Push({.key = "/live/" + name,
        .json = Dump(item),
        .remains = remains,
        .time = now});
}

void Collector::SetState(const std::string& name, const std::string& value) {
  {
    MutexLock lock(mu_);
    if (std::exchange(states_[name], value) == value) return;
  }
  PushLive(name, value, Remains::kItem);
}

void Collector::Push(Item item) {
  MutexLock lock(mu_);
  pending_.push_back(std::move(item));
}

void Collector::PushDropped(std::uint64_t records) {
  PushLive("dropped", records, Remains::kNothing);
}

std::vector<Item> Collector::TakeItems() {
  std::vector<Item> items;
  {
    MutexLock lock(mu_);
    items.swap(pending_);
  }
  std::ranges::stable_sort(items, {}, &Item::time);
  return items;
}

void Collector::AddMissedDeletions(std::vector<Item>& items) {
  constexpr std::string_view kSuffix = "/pod";
  for (const Item& item : items) {
    if (item.time >= start_ || !item.key.ends_with(kSuffix)) continue;
    const std::string uid =
        item.key.substr(0, item.key.size() - kSuffix.size());
    earlier_.erase(uid);
    if (item.remains == Remains::kItem) earlier_.emplace(uid, item.json);
  }
  if (earlier_.empty()) return;
  const SharedInformer<Pod>& pods = informers_->Of<Pod>();
  std::stop_source no_wait;
  no_wait.request_stop();
  if (!pods.WaitForCacheSync(no_wait.get_token())) return;
  for (const auto& pod : pods.store().List()) earlier_.erase(pod->metadata.uid);
  for (const auto& [uid, json] : earlier_) {
    const std::string name = TextAt(Json::parse(json), "/pod/name");
    const auto slash = name.find('/');
    const Pod pod{.metadata = {.name = name.substr(slash + 1),
                               .namespace_name = name.substr(0, slash),
                               .uid = uid}};
    items.push_back(DeletionItem(pod, clock_.WallNow()));
  }
  earlier_.clear();
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
          SetState("server", "connected");
        } else if (!result.error().As<Cancelled>()) {
          SetState("server", std::string("lost: ") + result.error().what());
        }
        probing_ = false;
      });
}

}  // namespace minisched::live
