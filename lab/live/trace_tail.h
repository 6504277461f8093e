#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/mutex.h"
#include "minisched/client/transport.h"
#include "minisched/http/http.h"

namespace minisched::live {

// A scheduler's description of itself at /debug.
struct SchedulerInfo {
  std::string program;    // "minisched-07"
  std::string scheduler;  // the spec.schedulerName of its pods
  bool reports = false;   // whether it reports its work; step 01 does not
  bool control = false;   // whether its pace can be set
  std::string pace;       // "run", "pause", or the time between two pods
};

// Follows the trace of a running scheduler, which serves it beside its metrics.
// Connects again if the connection is lost. Thread-safe.
class TraceTail {
 public:
  // `url` is that of the scheduler's metrics, such as http://127.0.0.1:10251.
  // Throws ConfigError if it is not a URL.
  explicit TraceTail(const std::string& url);
  ~TraceTail() { Stop(); }

  TraceTail(const TraceTail&) = delete;
  TraceTail& operator=(const TraceTail&) = delete;

  // Asks the scheduler what it is. While it refuses connections, tries again
  // for up to `patience`, because it may be starting, and calls `on_wait`.
  // Throws std::runtime_error if it serves no trace, what `on_wait` throws, and
  // Cancelled.
  SchedulerInfo AwaitInfo(
      std::chrono::seconds patience, const std::stop_token& stop,
      const std::function<void()>& on_wait = [] {});

  // Reads the records from now on, the earlier ones first, until Stop(). With
  // `all_rejections`, asks for all rejections of each node. A call with the
  // same value has no effect.
  void Start(bool all_rejections);
  // Disconnects, so that the scheduler no longer describes attempts for it.
  void Stop();

  struct News {
    // The scheduler has restarted: `lines` are of the new one.
    bool restarted = false;
    std::vector<std::string> lines;
    // All earlier records have been read.
    bool caught_up = false;
    // Whether the scheduler is connected; else `error` says why not.
    bool connected = false;
    std::string error;
    SchedulerInfo info;
  };
  // Returns what is new since the last call.
  News Take();

  using Respond = std::function<void(http::Reply)>;
  // Gets the whole record of an attempt from the scheduler: that of a page's
  // request, whose path is "UID/NUMBER". Responds on another thread.
  void GetAttempt(const http::Request& request, Respond respond);
  // Pass the body of a request on to the scheduler, and its response to
  // `respond`, on another thread.
  void SetPace(const http::Request& request, Respond respond);
  void EndWait(const http::Request& request, Respond respond);

 private:
  // Shared with requests under way.
  struct State {
    Mutex mu;
    CondVar taken;
    News news GUARDED_BY(mu);
    std::size_t bytes GUARDED_BY(mu) = 0;  // of news.lines
    std::string run GUARDED_BY(mu);        // identifies the scheduler's process
  };

  void Read(bool all_rejections, const std::stop_token& stop);
  // Reads one connection up to its end.
  void ReadStream(bool all_rejections, const std::stop_token& stop);
  // Reads /debug. Throws TransportError, and std::runtime_error.
  SchedulerInfo Ask(const std::stop_token& stop);
  void SetError(const std::string& error);
  // Passes the scheduler's response on. Calls `on_success` if the scheduler has
  // carried the request out.
  void Send(
      HttpRequest request, Respond respond,
      std::function<void()> on_success = [] {});

  const std::string url_;
  Transport transport_;
  bool all_rejections_ = false;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::jthread reader_;  // last: it uses the others
};

}  // namespace minisched::live
