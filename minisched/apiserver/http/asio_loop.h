#pragma once

#include <boost/asio/io_context.hpp>

#include "minisched/apiserver/loop.h"

namespace minisched::apiserver {

// The loop of the running server.
class AsioLoop : public Loop {
 public:
  explicit AsioLoop(boost::asio::io_context& io) : io_(io) {}
  Time Now() const override;
  void Post(std::function<void()> task) override;
  void After(std::chrono::milliseconds delay,
             std::function<void()> task) override;

 private:
  boost::asio::io_context& io_;
};

}  // namespace minisched::apiserver
