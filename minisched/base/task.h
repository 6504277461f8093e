#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

// Coroutines that wait for callbacks: sequences of asynchronous calls that read
// like functions that block. A waiting coroutine costs memory, but no thread.

namespace minisched {

// A callback that receives a result of type T, or nothing if T is void.
template <class T>
struct CallbackType {
  using Type = std::function<void(const T&)>;
};
template <>
struct CallbackType<void> {
  using Type = std::function<void()>;
};
template <class T>
using Callback = typename CallbackType<T>::Type;

// Owns a coroutine while the coroutine waits. Part of CallbackResult.
class SuspendedCoroutine {
 public:
  explicit SuspendedCoroutine(std::coroutine_handle<> frame) : frame_(frame) {}
  // Frees the frame if the wait has not ended.
  ~SuspendedCoroutine() {
    if (state_ == State::kSuspended) frame_.destroy();
  }
  SuspendedCoroutine(const SuspendedCoroutine&) = delete;
  SuspendedCoroutine& operator=(const SuspendedCoroutine&) = delete;

  // Begins the wait. Returns false if it has already ended: then the coroutine
  // goes on.
  bool Suspend() {
    auto state = State::kStarting;
    return state_.compare_exchange_strong(state, State::kSuspended);
  }
  // Ends the wait. Resumes the coroutine on this thread if it is suspended.
  void End() {
    if (state_.exchange(State::kEnded) == State::kSuspended) frame_.resume();
  }

 private:
  enum class State { kStarting, kSuspended, kEnded };

  const std::coroutine_handle<> frame_;
  std::atomic<State> state_ = State::kStarting;
};

// An object to `co_await`: waits until a callback is called, and returns what
// the callback received.
//
// `start` begins an operation, and passes the callback on to it. The callback
// may be called before `start` returns, also on another thread. The coroutine
// goes on once `start` has returned and the callback has been called, on the
// thread on which the later of the two happened.
//
// While the coroutine waits, the callback owns it: if all copies of the
// callback are destroyed without a call, so are the coroutine and its
// variables.
//
// REQUIRES: the callback is called at most once.
template <class T>
class [[nodiscard]] CallbackResult {
 public:
  explicit CallbackResult(std::function<void(Callback<T>)> start)
      : start_(std::move(start)) {}

  bool await_ready() const noexcept { return false; }

  // After Suspend(), the coroutine and this object, which is part of it, may no
  // longer exist. If this function were inlined, clang could put its variables
  // into the coroutine too.
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> frame) {
    const auto waiting = std::make_shared<SuspendedCoroutine>(frame);
    const auto start = std::move(start_);
    start([this, waiting](const auto&... result) {
      result_.emplace(result...);
      waiting->End();
    });
    return waiting->Suspend();
  }

  T await_resume() {
    if constexpr (!std::is_void_v<T>) return *std::move(result_);
  }

 private:
  struct Nothing {};

  std::function<void(Callback<T>)> start_;
  std::optional<std::conditional_t<std::is_void_v<T>, Nothing, T>> result_;
};

// A coroutine that returns a T: a function with a `co_await` or a `co_return`.
// It may wait for callbacks, and for other tasks. It begins when another
// coroutine awaits it, or with Start().
//
// Objects that its parameters refer to must live until it ends. An exception
// that leaves the coroutine is a bug: it is logged as an error, and the
// coroutine and those that await it are destroyed.
//
// Write each `co_await` as a statement of its own, or as the whole right side
// of an assignment: older compilers have bugs with other uses.
template <class T = void>
class [[nodiscard]] Task {
 public:
  class Promise;
  using promise_type = Promise;  // the name that the language requires

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (frame_) frame_.destroy();
  }

  // Runs the coroutine on this thread until it waits for the first time, and
  // later on the threads that call its callbacks. When the coroutine has
  // returned and its variables have been destroyed, passes the result to
  // `done`. REQUIRES: called at most once.
  void Start(Callback<T> done = [](const auto&...) {}) {
    const auto frame = std::exchange(frame_, {});
    frame.promise().set_done(std::move(done));
    frame.resume();
  }

  CallbackResult<T> operator co_await() && {
    return CallbackResult<T>(
        [this](Callback<T> done) { Start(std::move(done)); });
  }

 private:
  using Frame = std::coroutine_handle<Promise>;
  explicit Task(Frame frame) : frame_(frame) {}

  Frame frame_;  // null once started: callbacks own the coroutine then
};

// Logs the exception that is being handled.
void LogFailedTask();

// The part of a promise that holds the result of the coroutine.
template <class T>
class ReturnedResult {
 public:
  void return_value(T result) { result_ = std::move(result); }

 protected:
  void PassTo(const Callback<T>& done) const { done(*result_); }

 private:
  std::optional<T> result_;
};
template <>
class ReturnedResult<void> {
 public:
  void return_void() {}

 protected:
  static void PassTo(const Callback<void>& done) { done(); }
};

template <class T>
class Task<T>::Promise : public ReturnedResult<T> {
 public:
  void set_done(Callback<T> done) { done_ = std::move(done); }

  Task get_return_object() { return Task(Frame::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept {  // frees the frame
    if (done_) this->PassTo(done_);
    return {};
  }
  void unhandled_exception() noexcept {
    LogFailedTask();
    done_ = nullptr;
  }

 private:
  Callback<T> done_;
};

// Starts the tasks one after the other, waits for all of them, and returns
// their results in the same order. REQUIRES: T is not bool.
template <class T>
CallbackResult<std::vector<T>> AllOf(std::vector<Task<T>> tasks) {
  struct Group {
    std::vector<Task<T>> tasks;
    std::vector<T> results;
    std::atomic<std::size_t> left;
  };
  const auto group = std::make_shared<Group>();
  group->tasks = std::move(tasks);
  group->results.resize(group->tasks.size());
  group->left = group->tasks.size();
  return CallbackResult<std::vector<T>>([group](const auto& done) {
    if (group->tasks.empty()) return done({});
    for (std::size_t i = 0; i < group->tasks.size(); ++i) {
      group->tasks[i].Start([group, i, done](const T& result) {
        group->results[i] = result;
        if (--group->left == 0) done(group->results);
      });
    }
  });
}

}  // namespace minisched
