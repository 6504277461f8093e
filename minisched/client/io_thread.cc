#include "minisched/client/io_thread.h"

#include <openssl/ssl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <exception>
#include <thread>

#include "minisched/base/log.h"

namespace minisched {
namespace {

class IoThread {
 public:
  IoThread() {
    // Initialize what the thread uses before the thread, so that at exit it is
    // destroyed after the thread has ended.
    OPENSSL_init_ssl(0, nullptr);
    spdlog::default_logger_raw();
    thread_ = std::thread([this] { Run(); });
  }
  ~IoThread() {
    io_.stop();
    thread_.join();
  }
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  boost::asio::io_context& io() { return io_; }

 private:
  void Run() {
    const auto work = boost::asio::make_work_guard(io_);
    while (!io_.stopped()) {
      try {
        io_.run();
      } catch (const std::exception& error) {
        spdlog::error("internal error of the HTTP client, continuing: {}",
                      error.what());
      }
    }
  }

  // Never destroyed: the callbacks of requests that are under way at exit may
  // refer to objects that are already destroyed.
  boost::asio::io_context& io_ = *new boost::asio::io_context(1);
  std::thread thread_;
};

}  // namespace

boost::asio::io_context& IoContext() {
  static IoThread thread;
  return thread.io();
}

}  // namespace minisched
