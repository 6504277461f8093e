#include "minisched/client/exchange.h"

#include <exception>
#include <utility>

#include "minisched/client/request_text.h"

namespace minisched {

Exchange::Exchange(std::shared_ptr<const Server> server, HttpRequest request,
                   bool is_stream)
    : server_(std::move(server)),
      request_(std::move(request)),
      is_stream_(is_stream) {}

void Exchange::Start(std::function<void()> on_send,
                     ClientCallback<IncomingResponse> done) {
  request_.WaitsFor("a connection");
  text_ = ToRequestText(request_, server_->address);
  on_send_ = std::move(on_send);
  done_ = std::move(done);
  connection_ = server_->pool->Take();
  was_kept_ = connection_ != nullptr;
  was_kept_ ? Send() : Connect();
}

void Exchange::Abort() {
  done_ = nullptr;
  on_send_ = nullptr;
  if (connection_) connection_->Close();
}

template <class Step>
void Exchange::Try(const Step& step) {
  if (!done_) return;  // aborted
  try {
    step();
  } catch (const std::exception& error) {
    Fail(server_->errors->Other(error));
  }
}

Connection::Handler Exchange::Then(void (Exchange::*step)(error_code)) {
  return [self = shared_from_this(), step](error_code error) {
    self->Try([&] { ((*self).*step)(error); });
  };
}

void Exchange::Connect() {
  connection_ = server_->pool->Make();
  connection_->Connect(
      [self = shared_from_this()](Connection::Step step, error_code error) {
        self->Try([&] {
          if (!error) return self->Send();
          self->Fail(self->server_->errors->NotConnected(
              step, error, self->connection_->refusal()));
        });
      });
}

void Exchange::Send() {
  on_send_();
  request_.WaitsFor("the response");
  MakeParser();
  connection_->Write(text_, Then(&Exchange::OnSent));
}

void Exchange::OnSent(error_code /*error*/) {
  // Read even after an error: the server may have sent a response with the
  // reason before it closed the connection.
  Read();
}

void Exchange::Read() { connection_->Read(Then(&Exchange::OnRead)); }

void Exchange::OnRead(error_code error) {
  error = parser_->Receive(error, connection_->input());
  while (!error && IsInformational()) {
    MakeParser();
    error = parser_->Receive({}, connection_->input());
  }
  if (error) return Retry(error);
  const bool is_open =
      is_stream_ && parser_->is_header_done() && IsSuccess(parser_->status());
  is_open || parser_->is_done() ? Finish() : Read();
}

// The server may close a kept connection when a request is already on its way.
// Then a request without effects is sent again, on a new connection. Other
// requests fail, because the server may have carried them out.
void Exchange::Retry(error_code error) {
  const bool is_read = request_.method == "GET" || request_.method == "HEAD";
  const bool was_closed = was_kept_ && !parser_->got_some();
  if (!is_read || !was_closed) {
    return Fail(server_->errors->NotReceived(error, parser_->status()));
  }
  connection_->Close();
  was_kept_ = false;
  Connect();
}

void Exchange::MakeParser() {
  parser_ = std::make_unique<ResponseParser>(
      ResponseParser::Options{.max_body = server_->max_response,
                              .is_stream = is_stream_,
                              .is_head = request_.method == "HEAD"});
}

// True if the response only announces another one, as 103 (Early Hints) does.
bool Exchange::IsInformational() const {
  constexpr int kSwitchingProtocols = 101;
  return parser_->is_done() && parser_->status() / 100 == 1 &&
         parser_->status() != kSwitchingProtocols;
}

void Exchange::Finish() {
  IncomingResponse response{.head = parser_->TakeHead()};
  if (is_stream_ && IsSuccess(response.head.status)) {
    response.body = std::make_shared<StreamBody>(
        server_, std::exchange(connection_, nullptr), std::move(parser_));
    response.body->Start();
  } else {
    response.head.body = parser_->TakeBody();
    server_->pool->Return(std::exchange(connection_, nullptr),
                          parser_->keep_alive());
  }
  on_send_ = nullptr;
  std::exchange(done_, nullptr)(std::move(response));
}

void Exchange::Fail(const TransportError& error) {
  const auto done = std::exchange(done_, nullptr);
  Abort();
  if (done) done(tl::make_unexpected(ClientError(error)));
}

}  // namespace minisched
