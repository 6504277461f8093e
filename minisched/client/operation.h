#pragma once

// For the client's own .cc files, because it includes Asio.

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "minisched/base/log.h"
#include "minisched/client/io_thread.h"
#include "minisched/client/result.h"
#include "minisched/client/transport_errors.h"

namespace minisched {

// Limits how many requests are in flight. On the I/O thread.
class RequestGate {
 public:
  // `most` <= 0 means no limit.
  explicit RequestGate(int most) : most_(most) {}

  // Posts `send` to the I/O thread when the caller may send its request. When
  // the request has ended, the caller must call Leave() once.
  void Enter(std::function<void()> send) {
    waiting_.push_back(std::move(send));
    Admit();
  }

  void Leave() {
    --in_flight_;
    Admit();
  }

 private:
  void Admit() {
    const auto admits = [this] { return most_ <= 0 || in_flight_ < most_; };
    for (; admits() && !waiting_.empty(); ++in_flight_) {
      PostToIoThread(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }

  const int most_;
  int in_flight_ = 0;
  std::deque<std::function<void()>> waiting_;
};

struct OperationOptions {
  std::stop_token stop;
  // How long the operation may take until the request is on its way, and until
  // the operation is done. Both times begin when the gate admits the operation.
  std::chrono::milliseconds send_timeout;
  std::chrono::milliseconds timeout;
  // Limits the requests in flight. The operation enters the gate first, and
  // leaves it when it is done. Null: there is no limit.
  std::shared_ptr<RequestGate> gate;
  std::shared_ptr<const TransportErrors> errors;
};

// Something that is done on a connection, until it is done, fails, is too late,
// or is stopped. Lives on the I/O thread: all its functions but Start() run
// there.
template <class T>
class Operation : public std::enable_shared_from_this<Operation<T>> {
 public:
  // Begins what is to be done, which ends with a Finish().
  using Begin = std::function<void(const std::shared_ptr<Operation>&)>;

  // Begins the operation on the I/O thread; calls `done` there at its end. If
  // the operation ends with an error, `done` must end what was begun, if it
  // was.
  static void Start(OperationOptions options, Begin begin,
                    ClientCallback<T> done) {
    auto operation =
        std::make_shared<Operation>(std::move(options), std::move(done));
    PostToIoThread([operation = std::move(operation),
                    begin = std::move(begin)] { operation->Run(begin); });
  }

  Operation(OperationOptions options, ClientCallback<T> done)
      : options_(std::move(options)), done_(std::move(done)) {}

  // Records that the connection is made, and that the request is on its way.
  void MarkSent() {
    if (!done_ || std::exchange(sent_, true)) return;
    SetTimer();
  }

  // Ends the operation, unless it has ended.
  void Finish(ClientResult<T> result) {
    if (!done_) return;
    LeaveGate();
    timer_.cancel();
    on_stop_.reset();
    const ClientCallback<T> done = std::exchange(done_, nullptr);
    try {
      done(std::move(result));
    } catch (const std::exception& error) {
      spdlog::error("internal error of a request's callback, continuing: {}",
                    error.what());
    }
  }

 private:
  using Milliseconds = std::chrono::milliseconds;

  void Run(const Begin& begin) {
    if (options_.stop.stop_requested()) return Fail(ClientError(Cancelled()));
    const auto self = this->shared_from_this();
    on_stop_.emplace(options_.stop, [weak = std::weak_ptr<Operation>(self)] {
      PostToIoThread([weak] {
        if (const auto operation = weak.lock()) {
          operation->Fail(ClientError(Cancelled()));
        }
      });
    });
    if (!options_.gate) return Proceed(begin);
    options_.gate->Enter([self, begin] {
      self->in_gate_ = true;
      self->Proceed(begin);
    });
  }

  void Proceed(const Begin& begin) {
    if (!done_) return LeaveGate();  // stopped in the meantime
    start_ = std::chrono::steady_clock::now();
    SetTimer();
    try {
      begin(this->shared_from_this());
    } catch (const std::exception& error) {
      Fail(ClientError(options_.errors->Other(error.what())));
    }
  }

  Milliseconds Limit() const {
    return sent_ ? options_.timeout
                 : std::min(options_.send_timeout, options_.timeout);
  }

  void SetTimer() {
    timer_.expires_at(start_ + Limit());
    timer_.async_wait([weak = this->weak_from_this()](const auto& error) {
      const auto operation = weak.lock();
      // An error means that the timer was set again or cancelled.
      if (!error && operation) operation->Expire();
    });
  }

  void Expire() {
    // The timer may have been set again when this was already on its way.
    if (std::chrono::steady_clock::now() < start_ + Limit()) return;
    Fail(ClientError(options_.errors->Late(
        sent_ ? "no response" : "no connection", Limit())));
  }

  void Fail(ClientError error) {
    Finish(tl::make_unexpected(std::move(error)));
  }

  void LeaveGate() {
    if (std::exchange(in_gate_, false)) options_.gate->Leave();
  }

  const OperationOptions options_;
  ClientCallback<T> done_;  // empty once called
  std::chrono::steady_clock::time_point start_;
  bool in_gate_ = false;
  bool sent_ = false;
  boost::asio::steady_timer timer_{IoContext()};
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace minisched
