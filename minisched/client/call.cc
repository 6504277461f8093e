#include "minisched/client/call.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include "minisched/api/json.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/log.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMaxRetries = 10;  // as client-go
constexpr seconds kLongestRetryAfter{60};
constexpr seconds kLongWait{5};  // worth a warning

// Returns how long the server asks us to wait before the next attempt; nullopt
// if the server doesn't ask. As in client-go, a response with Retry-After means
// that the request had no effect, so this holds for every verb.
std::optional<seconds> RetryAfter(const HttpResponse& response) {
  if (response.status != 429 && response.status < 500) return std::nullopt;
  const auto header = response.headers.find("retry-after");
  if (header == response.headers.end()) return std::nullopt;
  const std::string& text = header->second;
  seconds::rep count = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) {
    return std::nullopt;
  }
  return seconds(count);
}

std::string ReasonOf(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    default:
      return "Unknown";
  }
}

// Returns the Status that was answered. If the response is not a Status,
// because it is not from an API server, the error has the first line of its
// text.
ApiError ToApiError(const HttpResponse& response) {
  ApiStatus status;
  try {
    status = FromJson<ApiStatus>(response.body);
  } catch (const ParseError&) {
    status = {};
  }
  status.code = response.status;
  if (status.reason.empty()) status.reason = ReasonOf(response.status);
  if (status.message.empty()) {
    const std::string line = response.body.substr(
        0, std::min<std::size_t>(response.body.find_first_of("\r\n"), 200));
    status.message = "the server answered " + std::to_string(response.status) +
                     (line.empty() ? "" : ": " + line);
  }
  return ApiError(std::move(status));
}

bool IsLost(const ClientError& error) {
  const auto* transport = error.As<TransportError>();
  return transport != nullptr &&
         transport->kind() == TransportError::Kind::kLost;
}

// Returns true if the server, or the way to it, may work again soon.
bool IsTemporary(const ClientResult<HttpResponse>& result) {
  if (result) return result->status == 500 || result->status == 503;
  const auto* transport = result.error().As<TransportError>();
  return transport != nullptr &&
         transport->kind() == TransportError::Kind::kConnect;
}

}  // namespace

Call::Call(Options options)
    : options_(std::move(options)),
      lost_backoff_({.initial = milliseconds(100), .max = milliseconds(3000)}),
      // client-go's retry.DefaultBackoff
      failed_backoff_({.initial = milliseconds(10),
                       .max = milliseconds(3000),
                       .factor = 5,
                       .jitter = 0.1}) {}

void Call::Start(Options options) {
  const auto call = std::make_shared<Call>(std::move(options));
  const auto cancel = [call = call.get()] { call->Cancel(); };
  call->on_stop_.emplace(call->options_.stop, cancel);
  call->on_client_stop_.emplace(call->options_.client_stop, cancel);
  call->AwaitTurn();
}

void Call::AwaitTurn() {
  // A cancelled call takes no token of the rate limit.
  const auto turn = cancelled_.stop_requested() ? Clock::TimePoint::min()
                                                : options_.limiter.Reserve();
  if (turn <= options_.clock.Now()) {
    Send();
  } else {
    SleepUntil(turn, &Call::Send);
  }
}

void Call::Send() {
  // Posted, because Start() may be the caller, and must not call back itself.
  options_.attempt(
      cancelled_.get_token(),
      [self = shared_from_this()](ClientResult<HttpResponse> result) {
        self->options_.executor.Post(
            [self, result = std::move(result)]() mutable {
              self->Receive(std::move(result));
            });
      });
}

void Call::Receive(ClientResult<HttpResponse> result) {
  if (const auto wait = RetryIn(result)) {
    ReportWait(result, *wait);
    SleepUntil(options_.clock.Now() + *wait, &Call::AwaitTurn);
  } else if (result && !IsSuccess(result->status)) {
    Finish(tl::make_unexpected(ClientError(ToApiError(*result))));
  } else {
    Finish(std::move(result));
  }
}

void Call::Finish(ClientResult<HttpResponse> result) {
  // Blocks until a Cancel() that runs now has returned.
  on_stop_.reset();
  on_client_stop_.reset();
  // Destroyed last: the client may be destroyed then.
  const auto under_way = std::exchange(options_.under_way, nullptr);
  const auto done = std::exchange(options_.done, nullptr);
  done(std::move(result));
}

void Call::SleepUntil(Clock::TimePoint time, void (Call::*next)()) {
  const auto self = shared_from_this();
  {
    MutexLock lock(mu_);
    timer_ =
        options_.executor.PostAt(time, [self, next] { ((*self).*next)(); });
    awaits_turn_ = next == &Call::Send;
  }
  // Without a timer, an earlier Cancel() could not wake the call.
  if (cancelled_.stop_requested()) Cancel();
}

void Call::Cancel() {
  // The timer may hold the last reference. Null: the call has ended.
  const auto self = weak_from_this().lock();
  if (!self) return;
  cancelled_.request_stop();  // stops the attempt
  Executor::Timer timer;
  bool awaits_turn = false;
  {
    MutexLock lock(mu_);
    timer = timer_;
    awaits_turn = awaits_turn_;
  }
  // The call sleeps if its timer can be cancelled, and must be woken.
  if (!options_.executor.Cancel(timer)) return;
  if (awaits_turn) options_.limiter.Cancel(timer.time);
  options_.executor.Post(
      [self] { self->Finish(tl::make_unexpected(ClientError(Cancelled()))); });
}

std::optional<Clock::Duration> Call::RetryIn(
    const ClientResult<HttpResponse>& result) {
  if (retries_++ == kMaxRetries) return std::nullopt;
  if (result) {
    const auto asked = RetryAfter(*result);
    if (asked) return std::min(*asked, kLongestRetryAfter);
  } else if (options_.request->method == "GET" && IsLost(result.error())) {
    return lost_backoff_.Next();
  }
  if (retries_ > options_.retries || !IsTemporary(result)) return std::nullopt;
  return failed_backoff_.Next();
}

void Call::ReportWait(const ClientResult<HttpResponse>& result,
                      Clock::Duration wait) const {
  const HttpRequest& request = *options_.request;
  std::string cause;
  if (!result) {
    cause = result.error().what();
  } else {
    cause = fmt::format("the server answered {}", result->status);
    if (const auto asked = RetryAfter(*result)) {
      cause += fmt::format(" with Retry-After {} s", asked->count());
    }
  }
  const std::string until = fmt::format(
      "sending it again in {:.3g} s ({} of {})",
      std::chrono::duration<double>(wait).count(), retries_, kMaxRetries);
  const bool is_long = result && wait >= kLongWait;
  spdlog::log(is_long ? spdlog::level::warn : spdlog::level::debug,
              "{} {}: {}; {}", request.method, request.path, cause, until);
  request.WaitsFor(cause + "; " + until);
}

}  // namespace minisched
