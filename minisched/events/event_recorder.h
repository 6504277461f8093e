#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

#include "minisched/api/event.h"
#include "minisched/api/reference.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/events/event_writer.h"

namespace minisched {

// Tells people what happens to objects: writes events (events.k8s.io/v1), on a
// thread of its own, so that it is in nobody's way. Thread-safe. Follows
// client-go tools/events/event_broadcaster.go.
//
// What is said again within six minutes of the last time becomes a series: one
// event with a count and the time of the last. Its first repeat is written at
// once, those that follow at most every 30 s, the last one always.
//
// Where the server can't be reached, or is out of order (429, 5xx), an event is
// tried 12 times, 10 s apart. One that is refused otherwise is tried again when
// it is repeated, 30 s later at the earliest. At most 1,000 events wait to be
// written: while there are as many, new ones are dropped, though repeats still
// count. Each of these is logged. Of more than 1,000 series, those that were
// never repeated are forgotten before their time.
//
// Different from client-go:
// - Another note makes another series. There a repeat changes nothing but the
//   count, but a reference names the version of its object too, so that a pod
//   whose condition changes gets a new event.
// - There a count grows on the server every half an hour, or when the series is
//   over.
// - There a 429 or 5xx is final.
class EventRecorder {
 public:
  // `reporting_controller` is who speaks, such as "default-scheduler"; the
  // instance is that and the name of this machine. Give it a client of its own:
  // events are many, and count against the client's rate limit. `client` and
  // `clock` must outlive the recorder.
  EventRecorder(Client& client, const std::string& reporting_controller,
                Clock& clock = RealClock());
  // Tries to write what has not been written yet, for at most 5 s.
  ~EventRecorder();

  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Says of the object `regarding` what came of what (`reason` of `action`:
  // "Scheduled", "Binding"). `type` is "Normal" or "Warning". A note that is
  // too long, 1,024 bytes, is cut off. Does not block. The event is in the
  // namespace of the object, or in "default" if it has none.
  void Eventf(const ObjectReference& regarding,
              const std::optional<ObjectReference>& related,
              std::string_view type, std::string_view reason,
              std::string_view action, std::string_view note) EXCLUDES(mu_);

  // How many events were lost since there were too many.
  std::uint64_t dropped() const EXCLUDES(mu_);

 private:
  // Who says what of whom: type, reason, action, note, regarding, related.
  using Key = std::tuple<std::string, std::string, std::string, std::string,
                         ObjectReference, std::optional<ObjectReference>>;

  // All that is said alike.
  struct Series {
    Event event;
    bool exists = false;  // on the server, as far as we know
    bool waits = false;   // is in waiting_, or being written
    int tries = 0;        // that failed
    Clock::TimePoint seen{};
    Clock::TimePoint next_write{};  // not before
  };
  using AllSeries = std::map<Key, Series>;

  // One that waits to be written. It stays in its place: a map moves nothing,
  // and a series that waits is not erased.
  struct Waiting {
    Clock::TimePoint when;
    std::uint64_t order;  // of those with the same time
    AllSeries::iterator series;

    bool operator<(const Waiting& other) const {
      return std::tie(when, order) < std::tie(other.when, other.order);
    }
  };

  Event MakeEvent(const Key& key) REQUIRES(mu_);
  std::string MakeName(const std::string& regarding) REQUIRES(mu_);
  void Await(AllSeries::iterator series, Clock::TimePoint when) REQUIRES(mu_);

  // The thread.
  void Run(const std::stop_token& stop) EXCLUDES(mu_);
  // Takes out the series to write next, if its time has come; else nothing.
  std::optional<AllSeries::iterator> Take(bool stopping) EXCLUDES(mu_);
  void Write(AllSeries::iterator series, const std::stop_token& stop)
      EXCLUDES(mu_);
  // What comes of having tried to write the series as it was then.
  void Settle(AllSeries::iterator series, const Event& written,
              EventWriter::Outcome outcome, bool stopping) REQUIRES(mu_);
  // Later, or never if that was once too often. Returns when.
  Clock::TimePoint TryAgain(AllSeries::iterator series) REQUIRES(mu_);
  void ForgetOldSeries(Clock::TimePoint now) REQUIRES(mu_);
  // Until there may be something to do.
  void Sleep(const std::stop_token& stop) EXCLUDES(mu_);

  const std::string reporting_controller_;
  const std::string reporting_instance_;
  Clock& clock_;
  EventWriter writer_;
  std::stop_source give_up_;  // what is being written
  std::stop_source done_;     // the thread has ended

  mutable Mutex mu_;
  AllSeries series_ GUARDED_BY(mu_);
  std::set<Waiting> waiting_ GUARDED_BY(mu_);
  std::uint64_t awaited_ GUARDED_BY(mu_) = 0;
  std::uint64_t dropped_ GUARDED_BY(mu_) = 0;
  std::int64_t last_stamp_ GUARDED_BY(mu_) = 0;  // in a name
  // While the server is not there nothing is written.
  Clock::TimePoint not_before_ GUARDED_BY(mu_){};
  // When to forget old series: at that time, or when there are more than that.
  Clock::TimePoint next_cleanup_ GUARDED_BY(mu_){};
  std::size_t cleanup_size_ GUARDED_BY(mu_);
  std::stop_source wake_ GUARDED_BY(mu_);  // ends Sleep()
  std::mt19937_64 random_ GUARDED_BY(mu_){std::random_device{}()};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace minisched
