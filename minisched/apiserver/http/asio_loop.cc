#include "minisched/apiserver/http/asio_loop.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace minisched::apiserver {

Time AsioLoop::Now() const {
  return std::chrono::floor<Time::duration>(std::chrono::system_clock::now());
}

void AsioLoop::Post(std::function<void()> task) {
  boost::asio::post(io_, std::move(task));
}

void AsioLoop::After(std::chrono::milliseconds delay,
                     std::function<void()> task) {
  auto timer = std::make_shared<boost::asio::steady_timer>(io_, delay);
  timer->async_wait(
      [timer, task = std::move(task)](boost::system::error_code error) {
        if (!error) task();
      });
}

}  // namespace minisched::apiserver
