#pragma once

// For the client's own .cc files, because it includes Asio and Beast.

#include <functional>
#include <memory>
#include <string>

#include "minisched/client/connection.h"
#include "minisched/client/response_parser.h"
#include "minisched/client/result.h"
#include "minisched/client/server.h"
#include "minisched/client/stream_body.h"
#include "minisched/client/transport.h"

namespace minisched {

// A response. For a stream that succeeds, `head` has no body: `body` receives
// it.
struct IncomingResponse {
  HttpResponse head;
  std::shared_ptr<StreamBody> body;
};

// Sends one request and receives its response, over an idle connection of
// the pool or a new one. Used on the I/O thread, except for the constructor.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<const Server> server, HttpRequest request,
           bool is_stream);

  // Calls `on_send` whenever it begins to send the request, and `done` once, at
  // the end. Throws std::invalid_argument if the request can't be sent.
  void Start(std::function<void()> on_send,
             ClientCallback<IncomingResponse> done);

  // Closes the connection. After this, `done` is not called.
  void Abort();

 private:
  using error_code = boost::system::error_code;

  // Runs one step, unless the request has ended. If the step throws, the
  // request fails.
  template <class Step>
  void Try(const Step& step);
  // Returns a handler that runs a step through Try().
  Connection::Handler Then(void (Exchange::*step)(error_code));

  void Connect();
  void Send();
  void OnSent(error_code error);
  void Read();
  void OnRead(error_code error);
  // Sends the request again if that is safe, else fails.
  void Retry(error_code error);
  void MakeParser();
  bool IsInformational() const;
  void Finish();
  void Fail(const TransportError& error);

  const std::shared_ptr<const Server> server_;
  const HttpRequest request_;
  const bool is_stream_;
  std::string text_;  // of the request
  std::function<void()> on_send_;
  ClientCallback<IncomingResponse> done_;  // empty once called
  std::shared_ptr<Connection> connection_;
  bool was_kept_ = false;  // connection_ comes from the pool
  std::unique_ptr<ResponseParser> parser_;
};

}  // namespace minisched
