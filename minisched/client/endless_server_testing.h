#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

namespace minisched {

// A server for one connection: reads the beginning of a request, and answers
// with `begin` and then `rest` again and again, until the client closes the
// connection, or kMost bytes were sent.
class EndlessServer {
 public:
  // Far more than the kernel's buffers take.
  static constexpr std::size_t kMost = std::size_t{64} << 20;

  EndlessServer(std::string begin, std::string rest)
      : begin_(std::move(begin)), rest_(std::move(rest)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, any, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~EndlessServer() {
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  EndlessServer(const EndlessServer&) = delete;
  EndlessServer& operator=(const EndlessServer&) = delete;

  const std::string& url() const { return url_; }

  // Blocks until the connection has ended. Returns how many bytes were sent,
  // including those that the client has not read.
  std::size_t AwaitSent() {
    if (thread_.joinable()) thread_.join();
    return sent_;
  }

 private:
  void Serve() {
    const int connection = accept(listener_, nullptr, nullptr);
    std::array<char, 4096> request;
    EXPECT_GT(read(connection, request.data(), request.size()), 0);
    for (std::string text = begin_; sent_ < kMost; text = rest_) {
      const ssize_t size =
          send(connection, text.data(), text.size(), MSG_NOSIGNAL);
      if (size < 0) break;
      sent_ += static_cast<std::size_t>(size);
    }
    close(connection);
  }

  const std::string begin_;
  const std::string rest_;
  const int listener_ = socket(AF_INET, SOCK_STREAM, 0);
  std::string url_;
  std::size_t sent_ = 0;
  std::thread thread_;
};

}  // namespace minisched
