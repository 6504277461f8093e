#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "minisched/base/backoff.h"
#include "minisched/base/clock.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "minisched/base/wait_group.h"
#include "minisched/client/rate_limiter.h"
#include "minisched/client/result.h"
#include "minisched/client/transport.h"

namespace minisched {

// One request of a Client, from SendAsync() to its callback. Blocks no thread:
// it waits for its turn at the rate limit, is under way, perhaps waits to be
// sent again, until its response is final or it is cancelled.
//
// A request is sent again where nothing can happen twice: after 429 or 5xx with
// a Retry-After, as the server asks but after a minute at the latest, if the
// connection of a GET broke, and as often as the caller allows after 500, after
// 503 and if the connection is refused. Logs this: as a warning if the wait is
// 5 s or more, else as a debug message.
//
// Follows client-go rest/with_retry.go, which waits for any time that the
// server asks for, and logs this only with high verbosity, and Retriable() of
// kubernetes' pkg/scheduler/util/utils.go.
//
// The first attempt begins on the caller's thread if its turn is now; all else
// runs on the executor. Send() may still be returning when the response is
// processed. Cancel() runs on the thread that asks to stop, at any time.
class Call : public std::enable_shared_from_this<Call> {
 public:
  // Sends the request. Calls back on any thread, which must not block.
  using Attempt = std::function<void(const std::stop_token& stop,
                                     ClientCallback<HttpResponse> done)>;

  struct Options {
    // These must outlive the call.
    Executor& executor;
    Clock& clock;
    RateLimiter& limiter;
    Attempt attempt;
    HttpRequestPtr request;
    int retries = 0;  // after 500, 503 and refused connections
    // The caller's, and that of the client, which its destructor stops.
    std::stop_token stop;
    std::stop_token client_stop;
    // Calls back on the executor, with a response that is a success or an
    // error.
    ClientCallback<HttpResponse> done;
    // Destroyed when `done` has returned and been destroyed.
    WaitGroup::Token under_way;
  };

  static void Start(Options options);

  explicit Call(Options options);

 private:
  using StopCallback = std::stop_callback<std::function<void()>>;

  void AwaitTurn();
  void Send();
  void Receive(ClientResult<HttpResponse> result);
  void Finish(ClientResult<HttpResponse> result);

  // Calls `next` on the executor at `time`; Finish(Cancelled) if the call is
  // cancelled before. Send() is called at the time of the call's turn.
  void SleepUntil(Clock::TimePoint time, void (Call::*next)()) EXCLUDES(mu_);
  void Cancel() EXCLUDES(mu_);
  // How long to wait before sending the request again; nullopt: never.
  std::optional<Clock::Duration> RetryIn(
      const ClientResult<HttpResponse>& result);
  // Logs such a wait.
  void ReportWait(const ClientResult<HttpResponse>& result,
                  Clock::Duration wait) const;

  Options options_;
  Backoff lost_backoff_;
  Backoff failed_backoff_;
  int retries_ = 0;
  std::stop_source cancelled_;
  std::optional<StopCallback> on_stop_;
  std::optional<StopCallback> on_client_stop_;
  Mutex mu_;
  Executor::Timer timer_ GUARDED_BY(mu_);     // the last one
  bool awaits_turn_ GUARDED_BY(mu_) = false;  // which timer_ ends
};

}  // namespace minisched
