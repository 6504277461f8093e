#include "minisched/http/http_server.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <boost/lexical_cast.hpp>
#include <stdexcept>
#include <utility>

#include "minisched/http/session.h"

namespace minisched::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptRetry{100};

tcp::acceptor Listen(asio::io_context& io, const HttpServerOptions& options) {
  error_code invalid;
  const auto parsed = asio::ip::make_address(options.address, invalid);
  if (invalid) {
    throw std::runtime_error("cannot listen on \"" + options.address +
                             "\": not an IP address");
  }
  try {
    return {io, {parsed, options.port}};
  } catch (const boost::system::system_error& error) {
    const std::string& address = options.address;
    const bool is_ipv6 = address.find(':') != address.npos;
    throw std::runtime_error(fmt::format(
        "cannot listen on {}:{}: {}", is_ipv6 ? "[" + address + "]" : address,
        options.port, error.code().message()));
  }
}

}  // namespace

HttpServer::HttpServer(asio::io_context& io, HttpServerOptions options,
                       Handler handler)
    : options_(std::move(options)),
      acceptor_(Listen(io, options_)),
      endpoint_(acceptor_.local_endpoint()),
      retry_(io),
      handler_(std::move(handler)) {
  Accept();
}

HttpServer::~HttpServer() { BreakOff(); }

std::string HttpServer::url() const {
  return "http://" + boost::lexical_cast<std::string>(endpoint_);
}

void HttpServer::Close() {
  away_ = true;  // also refuses a connection that is just being accepted
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
  for (const auto& session : std::set(sessions_)) session->Close();
}

void HttpServer::GoAway(std::chrono::milliseconds duration) {
  away_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  BreakOff();
  // Bind without listening, so that no other process gets the port meanwhile.
  Bind();
  AcceptAfter(duration);
}

void HttpServer::BreakOff() {
  for (const auto& session : std::set(sessions_)) session->BreakOff();
}

void HttpServer::Bind() {
  error_code error;
  acceptor_.open(endpoint_.protocol(), error);
  // Earlier connections may still occupy the port.
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  acceptor_.bind(endpoint_, error);
  if (error) acceptor_.close(error);
}

void HttpServer::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket peer) {
    if (error == asio::error::operation_aborted || away_) return;
    // For example, the process is out of file descriptors. Try again later.
    if (error) return AcceptAfter(kAcceptRetry);
    if (sessions_.size() >= options_.max_connections) {
      peer.close(error);
      return Accept();
    }
    peer.set_option(tcp::no_delay(true), error);
    const auto session = std::make_shared<Session>(*this, std::move(peer));
    sessions_.insert(session);
    Accept();
    session->Start();
  });
}

void HttpServer::AcceptAfter(std::chrono::milliseconds wait) {
  retry_.expires_after(wait);
  retry_.async_wait([this](error_code aborted) {
    if (aborted) return;
    away_ = false;
    // If one of these fails, Accept() fails too, and tries again later.
    if (!acceptor_.is_open()) Bind();
    error_code ignored;
    acceptor_.listen(asio::socket_base::max_listen_connections, ignored);
    Accept();
  });
}

}  // namespace minisched::http
