#include "minisched/client/io_thread.h"

#include <openssl/ssl.h>

#include <utility>
// After <utility>, which it needs.
#include <pplx/threadpool.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <set>

#include "minisched/base/clock.h"
#include "minisched/base/log.h"
#include "minisched/base/mutex.h"

namespace minisched {
namespace {

// Longer than any task needs to end.
constexpr std::chrono::seconds kExitTimeout{2};

struct State {
  // Of the I/O thread.
  std::set<IoTask*> tasks;
  bool is_exiting = false;
  std::promise<void> all_ended;

  Mutex mu;
  bool has_ended GUARDED_BY(mu) = false;
};

// Never destroyed, because other threads may post while the program exits.
State& TheState() {
  static State& state = *new State();
  return state;
}

void AbandonTasks() {
  TheState().is_exiting = true;
  const auto tasks = TheState().tasks;
  for (IoTask* const task : tasks) task->Abandon();
  if (tasks.empty()) TheState().all_ended.set_value();
}

// cpprestsdk's thread. It destroys its thread and the loop at exit, after this
// object.
class IoThread {
 public:
  IoThread() {
    // Initialize what the thread uses before the thread, so that at exit it is
    // destroyed after the thread has ended.
    OPENSSL_init_ssl(0, nullptr);
    spdlog::default_logger_raw();
    RealClock();
    crossplat::threadpool::initialize_with_threads(1);
  }
  ~IoThread() {
    PostToIoThread(AbandonTasks);
    TheState().all_ended.get_future().wait_for(kExitTimeout);
    MutexLock lock(TheState().mu);
    TheState().has_ended = true;
  }
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;
};

}  // namespace

boost::asio::io_context& IoContext() {
  static const IoThread thread;
  return crossplat::threadpool::shared_instance().service();
}

void PostToIoThread(std::function<void()> function) {
  boost::asio::io_context& io = IoContext();
  MutexLock lock(TheState().mu);
  if (TheState().has_ended) return;
  boost::asio::post(io, [function = std::move(function)] {
    try {
      function();
    } catch (const std::exception& error) {
      spdlog::error("internal error of the HTTP client, continuing: {}",
                    error.what());
    }
  });
}

bool IoTask::Begin() {
  if (!TheState().is_exiting) TheState().tasks.insert(this);
  return !TheState().is_exiting;
}

void IoTask::End() {
  TheState().tasks.erase(this);
  if (TheState().is_exiting && TheState().tasks.empty()) {
    TheState().all_ended.set_value();
  }
}

}  // namespace minisched
