#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

#include "lab/apiserver/server.h"

namespace minisched::apiserver {

namespace asio = boost::asio;

// Runs a server on a thread of its own, until this object is destroyed.
class RunningServer {
 public:
  explicit RunningServer(const std::string& manifest = "",
                         const ServerOptions& options = {})
      : server_(options) {
    if (!manifest.empty()) server_.Load(manifest, "manifest");
    thread_ = std::jthread([this] { server_.Run(); });
  }
  ~RunningServer() { server_.Stop(); }

  Server* operator->() { return &server_; }

  asio::ip::tcp::socket Connect() {
    const std::string& url = server_.url();
    const auto port =
        static_cast<unsigned short>(std::stoi(url.substr(url.rfind(':') + 1)));
    asio::ip::tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    return socket;
  }

 private:
  asio::io_context io_;
  Server server_;
  std::jthread thread_;
};

// Sends a request. Ignores errors, because the server may refuse a request
// before it has read all of it.
inline void Send(asio::ip::tcp::socket& socket, const std::string& method,
                 const std::string& target, const std::string& body,
                 const std::string& content_type = "application/json") {
  boost::system::error_code ignored;
  asio::write(socket,
              asio::buffer(method + " " + target +
                           " HTTP/1.1\r\nHost: localhost\r\n"
                           "Connection: close\r\nContent-Type: " +
                           content_type + "\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n" + body),
              ignored);
}

// Reads until the server closes the connection. Returns the text.
inline std::string ReadAll(asio::ip::tcp::socket& socket) {
  std::string text;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(text), end);
  return text;
}

// Sends a request and returns the whole response, including its headers.
inline std::string Exchange(
    RunningServer& server, const std::string& method, const std::string& target,
    const std::string& body = "",
    const std::string& content_type = "application/json") {
  auto socket = server.Connect();
  Send(socket, method, target, body, content_type);
  return ReadAll(socket);
}

}  // namespace minisched::apiserver
