#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

#include "minisched/apiserver/loop.h"

namespace minisched::apiserver {

// The loop of the running server.
class AsioLoop : public Loop {
 public:
  explicit AsioLoop(boost::asio::io_context& io) : io_(io) {}

  Time Now() const override {
    return std::chrono::floor<Time::duration>(std::chrono::system_clock::now());
  }

  void Post(std::function<void()> task) override {
    boost::asio::post(io_, std::move(task));
  }

  void After(std::chrono::milliseconds delay,
             std::function<void()> task) override {
    const auto timer = std::make_shared<boost::asio::steady_timer>(io_, delay);
    timer->async_wait(
        [timer, task = std::move(task)](boost::system::error_code error) {
          if (!error) task();
        });
  }

 private:
  boost::asio::io_context& io_;
};

}  // namespace minisched::apiserver
