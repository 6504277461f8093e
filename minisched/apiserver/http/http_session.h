#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <string>

#include "minisched/apiserver/http/http_server.h"

namespace minisched::apiserver {

// One connection. Lives as long as an operation on it is under way, or a
// request on it has yet to be answered.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(HttpServer& server, boost::asio::ip::tcp::socket socket);
  ~Session();

  // Takes the next request.
  void Read();
  // The server is going: what is under way ends as it should.
  void Close(bool server_is_gone);
  // As a connection that is lost.
  void BreakOff();

 private:
  using EmptyBody = boost::beast::http::empty_body;
  using StringBody = boost::beast::http::string_body;

  void Handle();
  // Meanwhile the client may leave. One that says more has to wait.
  void AwaitAnswer();
  void Deliver(Reply reply);
  void Answer(Reply reply);
  template <class Message>
  void FillHeader(Message& message);

  void StartStream();
  // Sends what there is; with nothing there, waits to be called by on_ready.
  void WriteStream();
  // A client has nothing to say during a stream; it reads to its end, or goes.
  void AwaitLeave();
  // Hears the client out: it may still be sending what was refused, and would
  // miss the answer if the connection broke.
  void Finish();
  void Drain();
  void Shut();

  HttpServer* server_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<StringBody>> parser_;
  Reply reply_;
  bool busy_ = false;  // with a request that has begun
  // This, while the handler has yet to answer: nothing else may hold it then.
  std::shared_ptr<Session> waiting_;
  bool keep_alive_ = true;
  bool closing_ = false;
  // An answer with a body.
  boost::beast::http::response<StringBody> response_;
  // An answer with a stream.
  boost::beast::http::response<EmptyBody> stream_header_;
  std::optional<boost::beast::http::response_serializer<EmptyBody>>
      stream_serializer_;
  std::string chunk_;
  bool writing_ = false;
  bool ended_ = false;
  char unexpected_[4096];
};

}  // namespace minisched::apiserver
