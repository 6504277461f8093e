#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>

namespace minisched::http {

namespace asio = boost::asio;

// Connects to a server's URL: "http://127.0.0.1:8080".
inline asio::ip::tcp::socket Connect(asio::io_context& io,
                                     const std::string& url) {
  const auto port =
      static_cast<unsigned short>(std::stoi(url.substr(url.rfind(':') + 1)));
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  return socket;
}

// Sends the text. Ignores errors, because the server may close the connection
// before it has read all of the text.
inline void Send(asio::ip::tcp::socket& socket, const std::string& text) {
  boost::system::error_code ignored;
  asio::write(socket, asio::buffer(text), ignored);
}

// Returns everything the server sends until it closes the connection.
inline std::string ReadAll(asio::ip::tcp::socket& socket) {
  std::string text;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(text), end);
  return text;
}

// Sends the request on a new connection. Returns everything the server sends.
inline std::string Exchange(const std::string& url,
                            const std::string& request) {
  asio::io_context io;
  auto socket = Connect(io, url);
  Send(socket, request);
  return ReadAll(socket);
}

// Sends a request without a body. Returns the whole response, with its headers.
inline std::string Ask(const std::string& url, const std::string& method,
                       const std::string& target) {
  return Exchange(url, method + " " + target +
                           " HTTP/1.1\r\nHost: localhost\r\n"
                           "Connection: close\r\n\r\n");
}

}  // namespace minisched::http
