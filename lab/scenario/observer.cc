#include "lab/scenario/observer.h"

#include <chrono>
#include <type_traits>
#include <utility>

namespace minisched::scenario {
namespace {

constexpr std::chrono::milliseconds kRelistEvery{50};
constexpr std::chrono::seconds kWatchTimeout{30};

}  // namespace

Observer::Observer(Client& client, std::string namespace_name,
                   std::vector<Expectation> throughout,
                   const std::stop_token& stop)
    : client_(client),
      namespace_(std::move(namespace_name)),
      throughout_(std::move(throughout)) {
  auto nodes = List<Node>(stop);
  auto pods = List<Pod>(stop);
  nodes_ = std::jthread(
      [this, version = std::move(nodes)](const std::stop_token& done) {
        Follow<Node>(version, done);
      });
  pods_ = std::jthread(
      [this, version = std::move(pods)](const std::stop_token& done) {
        Follow<Pod>(version, done);
      });
}

Observer::~Observer() {
  nodes_.request_stop();
  pods_.request_stop();
}

template <class T>
auto& Observer::Objects() {
  if constexpr (std::is_same_v<T, Pod>) {
    return state_.pods;
  } else {
    return state_.nodes;
  }
}

template <class T>
std::string Observer::List(const std::stop_token& stop) {
  const auto list = client_.List<T>(
      {.namespace_name = T::kResource.namespaced ? namespace_ : ""}, stop);
  MutexLock lock(mu_);
  Objects<T>().clear();
  ++moment_;
  for (const auto& object : list.items) Put(object, moment_);
  Changed();
  return list.metadata.resource_version;
}

// Watches from a resource version on. When the watch ends, lists and watches
// again.
template <class T>
void Observer::Follow(std::string version, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (version.empty()) version = List<T>(stop);
      auto events = client_.Watch<T>(
          {.namespace_name = T::kResource.namespaced ? namespace_ : "",
           .resource_version = std::exchange(version, "")},
          stop);
      while (const auto event = events.Next()) {
        if (!event->object) continue;  // not a change of an object
        MutexLock lock(mu_);
        if (event->type == WatchEvent<T>::Type::kDeleted) {
          Objects<T>().erase(event->object->metadata.name);
        } else {
          Put(event->object, ++moment_);
        }
        Changed();
      }
    } catch (const Cancelled&) {
      return;
    } catch (const std::exception&) {
      // A scenario can make the server unreachable or cut its watches: retry.
      RealClock().SleepFor(kRelistEvery, stop);
    }
  }
}

template <class T>
void Observer::Put(const std::shared_ptr<const T>& object, int moment) {
  Objects<T>()[object->metadata.name] = object;
  if constexpr (std::is_same_v<T, Pod>) {
    seen_.insert(object->metadata.uid);
    if (!object->spec.node_name.empty()) {
      state_.bound_at.emplace(object->metadata.uid, moment);
    }
  }
}

void Observer::Changed() {
  has_changed_ = true;
  changed_.NotifyAll();
  if (violation_) return;
  for (const Expectation& rule : throughout_) {
    const Verdict verdict = Evaluate(rule, state_);
    if (verdict.kind == Verdict::Kind::kBroken) {
      violation_ = {rule.text, verdict};
      return;
    }
  }
}

ClusterState Observer::State() const {
  MutexLock lock(mu_);
  return state_;
}

void Observer::NoteCreated(const std::string& pod) {
  MutexLock lock(mu_);
  state_.created.insert(pod);
}

void Observer::NoteDeleted(const std::string& pod) {
  MutexLock lock(mu_);
  state_.created.erase(pod);
}

template <class Done>
void Observer::AwaitPods(Done done, const std::stop_token& stop) const {
  const auto deadline = RealClock().Now() + kWatchTimeout;
  MutexLock lock(mu_);
  while (!done(state_.pods) && RealClock().Now() < deadline) {
    changed_.WaitUntil(mu_, stop, deadline);
    if (stop.stop_requested()) throw Cancelled();
  }
}

void Observer::AwaitCreated(const std::string& pod, const std::string& uid,
                            const std::stop_token& stop) const {
  // Search all uids observed so far, because a pod that was bound to the wrong
  // node may be gone already.
  AwaitPods(
      [&](const auto& pods) REQUIRES(mu_) {
        return uid.empty() ? pods.contains(pod) : seen_.contains(uid);
      },
      stop);
}

void Observer::AwaitDeleted(const std::string& pod,
                            const std::stop_token& stop) const {
  AwaitPods(
      [&](const auto& pods) {
        const auto found = pods.find(pod);
        return found == pods.end() ||
               found->second->metadata.deletion_timestamp;
      },
      stop);
}

std::optional<Observer::Violation> Observer::violation() const {
  MutexLock lock(mu_);
  return violation_;
}

void Observer::AwaitChange(Clock::TimePoint deadline,
                           const std::stop_token& stop) {
  MutexLock lock(mu_);
  while (!has_changed_ && !stop.stop_requested() &&
         RealClock().Now() < deadline) {
    changed_.WaitUntil(mu_, stop, deadline);
  }
  has_changed_ = false;
}

}  // namespace minisched::scenario
