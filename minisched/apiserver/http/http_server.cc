#include "minisched/apiserver/http/http_server.h"

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <utility>

#include "minisched/apiserver/http/http_session.h"

namespace minisched::apiserver {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptRetry{100};

}  // namespace

HttpServer::HttpServer(asio::io_context& io, const std::string& address,
                       unsigned short port, Handler handler)
    : acceptor_(io, {asio::ip::make_address(address), port}),
      endpoint_(acceptor_.local_endpoint()),
      retry_(io),
      handler_(std::move(handler)) {
  Accept();
}

HttpServer::~HttpServer() {
  for (Session* session : std::set<Session*>(sessions_)) session->Close(true);
}

std::string HttpServer::url() const {
  const std::string address = endpoint_.address().to_string();
  return "http://" +
         (endpoint_.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint_.port());
}

void HttpServer::Close() {
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
  for (Session* session : std::set<Session*>(sessions_)) {
    session->Close(false);
  }
}

void HttpServer::GoAway(std::chrono::milliseconds duration) {
  away_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  for (Session* session : std::set<Session*>(sessions_)) session->BreakOff();
  // Without listening: so nobody else gets the port meanwhile.
  Bind(ignored);
  retry_.expires_after(duration);
  retry_.async_wait([this](error_code aborted) {
    if (!aborted) Return();
  });
}

void HttpServer::Bind(error_code& error) {
  acceptor_.open(endpoint_.protocol(), error);
  if (error) return;
  // Connections of before may linger.
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  acceptor_.bind(endpoint_, error);
  if (error) acceptor_.close();
}

void HttpServer::Return() {
  error_code error;
  if (!acceptor_.is_open()) Bind(error);
  if (!error) {
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error) {
    retry_.expires_after(kAcceptRetry);
    return retry_.async_wait([this](error_code aborted) {
      if (!aborted) Return();
    });
  }
  away_ = false;
  Accept();
}

void HttpServer::Accept() {
  acceptor_.async_accept([this](error_code error, asio::ip::tcp::socket peer) {
    if (error == asio::error::operation_aborted || away_) return;
    if (error) {  // Out of file descriptors, say: some will be closed.
      retry_.expires_after(kAcceptRetry);
      retry_.async_wait([this](error_code aborted) {
        if (!aborted) Accept();
      });
      return;
    }
    error_code ignored;
    peer.set_option(asio::ip::tcp::no_delay(true), ignored);
    std::make_shared<Session>(*this, std::move(peer))->Read();
    Accept();
  });
}

}  // namespace minisched::apiserver
