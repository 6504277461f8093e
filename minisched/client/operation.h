#pragma once

// How transport.cc waits for what cpprestsdk does. For that file only: it
// brings in cpprestsdk.

#include <openssl/ssl.h>
#include <pplx/pplxtasks.h>
#include <pplx/threadpool.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "minisched/base/mutex.h"

namespace minisched {

using Cancel = pplx::cancellation_token_source;

// cpprestsdk runs its connections on a thread pool. Ours has one thread, and
// nothing else touches a connection: not even to cancel it, because closing a
// socket that another thread reads from is a race.
inline boost::asio::io_service& IoService() {
  static boost::asio::io_service& service = []() -> boost::asio::io_service& {
    // Before the thread that uses it, so that at exit it goes after it.
    OPENSSL_init_ssl(0, nullptr);
    crossplat::threadpool::initialize_with_threads(1);
    return crossplat::threadpool::shared_instance().service();
  }();
  return service;
}

// An operation under way on the I/O thread, and a caller that waits for it; not
// always to the end, so that what it needs must be its own.
template <class T>
class Operation {
 public:
  // Starts the operation; `start` runs on the I/O thread.
  static std::shared_ptr<Operation> Start(
      std::function<pplx::task<T>(const std::shared_ptr<Operation>&)> start) {
    auto operation = std::make_shared<Operation>();
    boost::asio::post(IoService(), [operation, start = std::move(start)] {
      try {
        start(operation).then(
            [operation](pplx::task<T> task) { operation->Finish(task); });
      } catch (...) {
        operation->Finish(
            pplx::task_from_exception<T>(std::current_exception()));
      }
    });
    return operation;
  }

  // The connection is made and the request is on its way.
  void MarkSent() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (sent_) return;
    sent_ = true;
    changed_.NotifyAll();
  }

  enum class Outcome { kDone, kStopped, kNotSent, kLate };

  // Waits until the operation is done, or `stop` asks to stop, or it has not
  // been sent within `send_timeout`, or is not done within `timeout`.
  Outcome Await(std::stop_token stop, std::chrono::milliseconds send_timeout,
                std::chrono::milliseconds timeout) EXCLUDES(mu_) {
    const auto start = std::chrono::steady_clock::now();
    MutexLock lock(mu_);
    while (!done_) {
      if (stop.stop_requested()) return Outcome::kStopped;
      const auto limit = sent_ ? timeout : send_timeout;
      if (std::chrono::steady_clock::now() >= start + limit) {
        return sent_ ? Outcome::kLate : Outcome::kNotSent;
      }
      changed_.WaitUntil(mu_, stop, start + limit);
    }
    return Outcome::kDone;
  }

  // The result, or throws what the operation failed with. REQUIRES: kDone.
  T Take() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (error_) std::rethrow_exception(error_);
    return *std::move(value_);
  }

 private:
  void Finish(const pplx::task<T>& task) EXCLUDES(mu_) {
    std::optional<T> value;
    std::exception_ptr error;
    try {
      value = task.get();
    } catch (...) {
      error = std::current_exception();
    }
    MutexLock lock(mu_);
    value_ = std::move(value);
    error_ = error;
    done_ = true;
    changed_.NotifyAll();
  }

  Mutex mu_;
  CondVar changed_;
  bool sent_ GUARDED_BY(mu_) = false;
  bool done_ GUARDED_BY(mu_) = false;
  std::optional<T> value_ GUARDED_BY(mu_);
  std::exception_ptr error_ GUARDED_BY(mu_);
};

// The callbacks run on the I/O thread, where a connection may be closed.
inline void CancelLater(const Cancel& cancel) {
  boost::asio::post(IoService(), [cancel] { cancel.cancel(); });
}

}  // namespace minisched
