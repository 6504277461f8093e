#pragma once

// For the client's own .cc files, because it includes Asio.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "minisched/client/connection.h"
#include "minisched/client/resolver.h"
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
class Exchange : public Connection::Handler,
                 public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<const Server> server, HttpRequestPtr request,
           bool is_stream);

  // Calls `on_send` when the request is on its way, and `done` once, at the
  // end. Throws std::invalid_argument if the request can't be sent.
  void Start(std::function<void()> on_send,
             ClientCallback<IncomingResponse> done);

  // Closes the connection. After this, `done` is not called.
  void Abort();

 private:
  void OnSent() override;
  void OnHead(HttpResponse head) override;
  void OnBytes(std::string_view body) override;
  void OnEnd() override;
  void OnError(const Connection::Error& error) override;

  // Runs one step, unless the request has ended. If the step throws, the
  // request fails.
  template <class Step>
  void Try(const Step& step);

  // Takes an idle connection, or looks up the server and connects.
  void Begin();
  void ConnectToNext();
  void Send();
  void CheckHead() const;
  void Finish(IncomingResponse response);
  void Fail(const TransportError& error);

  const std::shared_ptr<const Server> server_;
  const HttpRequestPtr request_;
  const bool is_stream_;
  std::string target_;  // of the request
  std::function<void()> on_send_;
  ClientCallback<IncomingResponse> done_;  // empty once called
  Addresses addresses_;    // of the server, to which no connection was made
  bool was_kept_ = false;  // connection_ comes from the pool
  std::shared_ptr<Connection> connection_;
  IncomingResponse response_;
};

}  // namespace minisched
