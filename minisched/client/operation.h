#pragma once

// How transport.cc runs what cpprestsdk does. For that file only, because it
// includes cpprestsdk.

#include <openssl/ssl.h>
#include <pplx/pplxtasks.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "minisched/client/result.h"
#include "minisched/client/transport_errors.h"

namespace minisched {

// cpprestsdk runs its connections on a thread pool. Ours has one thread, and
// nothing else touches a connection, not even to cancel it: closing a socket
// that another thread reads from is a race.
inline boost::asio::io_service& IoService() {
  static boost::asio::io_service& service = []() -> boost::asio::io_service& {
    // Initialized before the thread that uses it, so that it is destroyed
    // after that thread at exit.
    OPENSSL_init_ssl(0, nullptr);
    crossplat::threadpool::initialize_with_threads(1);
    return crossplat::threadpool::shared_instance().service();
  }();
  return service;
}

using Cancel = pplx::cancellation_token_source;

// Cancels on the I/O thread, where a connection may be closed.
inline void CancelLater(const Cancel& cancel) {
  boost::asio::post(IoService(), [cancel] { cancel.cancel(); });
}

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
      boost::asio::post(IoService(), std::move(waiting_.front()));
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
  // Ends what cpprestsdk does. Cancelled when the operation fails before that.
  Cancel cancel;
  std::shared_ptr<TransportErrors> errors;
};

// Something that cpprestsdk does, until it is done, fails, is too late, or is
// stopped. Lives on the I/O thread: all its functions but Start() run there.
template <class T>
class Operation : public std::enable_shared_from_this<Operation<T>> {
 public:
  using Begin = std::function<pplx::task<T>(const std::shared_ptr<Operation>&)>;

  // Begins the operation on the I/O thread; calls `done` there at its end.
  static void Start(OperationOptions options, Begin begin,
                    ClientCallback<T> done) {
    auto operation =
        std::make_shared<Operation>(std::move(options), std::move(done));
    boost::asio::post(IoService(),
                      [operation = std::move(operation),
                       begin = std::move(begin)] { operation->Run(begin); });
  }

  Operation(OperationOptions options, ClientCallback<T> done)
      : options_(std::move(options)), done_(std::move(done)) {}

  // Records that the connection is made, and that the request is on its way.
  // Returns true the first time.
  bool MarkSent() {
    if (!done_ || std::exchange(sent_, true)) return false;
    SetTimer();
    return true;
  }

 private:
  using Milliseconds = std::chrono::milliseconds;

  void Run(const Begin& begin) {
    if (options_.stop.stop_requested()) return GiveUp(ClientError(Cancelled()));
    const auto self = this->shared_from_this();
    on_stop_.emplace(options_.stop, [weak = std::weak_ptr<Operation>(self)] {
      boost::asio::post(IoService(), [weak] {
        if (const auto operation = weak.lock()) {
          operation->GiveUp(ClientError(Cancelled()));
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
    if (!done_) return LeaveGate();  // given up in the meantime
    start_ = std::chrono::steady_clock::now();
    SetTimer();
    try {
      begin(this->shared_from_this())
          .then([self = this->shared_from_this()](pplx::task<T> task) {
            self->Take(task);
          });
    } catch (...) {
      Finish(tl::make_unexpected(
          options_.errors->Explain(std::current_exception())));
    }
  }

  // Takes the result of a task that has ended.
  void Take(const pplx::task<T>& task) {
    try {
      Finish(task.get());
    } catch (...) {
      Finish(tl::make_unexpected(
          options_.errors->Explain(std::current_exception())));
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
    GiveUp(ClientError(
        options_.errors->Late(sent_ ? "no answer" : "no connection", Limit())));
  }

  // Ends the operation before cpprestsdk does, and closes the connection.
  void GiveUp(ClientError error) {
    if (!done_) return;
    Finish(tl::make_unexpected(std::move(error)));
    options_.cancel.cancel();
  }

  void LeaveGate() {
    if (std::exchange(in_gate_, false)) options_.gate->Leave();
  }

  void Finish(ClientResult<T> result) {
    if (!done_) return;
    LeaveGate();
    timer_.cancel();
    on_stop_.reset();
    const ClientCallback<T> done = std::exchange(done_, nullptr);
    done(std::move(result));
  }

  const OperationOptions options_;
  ClientCallback<T> done_;  // empty once called
  std::chrono::steady_clock::time_point start_;
  bool in_gate_ = false;
  bool sent_ = false;
  boost::asio::steady_timer timer_{IoService()};
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace minisched
