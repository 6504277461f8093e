#include "minisched/client/stream_body.h"

#include <exception>
#include <utility>

namespace minisched {
namespace {

constexpr std::size_t kMaxPart = std::size_t{64} << 10;

}  // namespace

StreamBody::StreamBody(std::shared_ptr<const Server> server,
                       std::shared_ptr<Connection> connection,
                       std::unique_ptr<ResponseParser> parser)
    : server_(std::move(server)),
      connection_(std::move(connection)),
      parser_(std::move(parser)) {}

void StreamBody::Start() {
  Store();
  parser_->is_done() ? End() : Receive();
}

void StreamBody::Read(ClientCallback<Part> done) {
  done_ = std::move(done);
  Deliver();
}

void StreamBody::Close() {
  done_ = nullptr;
  if (connection_) std::exchange(connection_, nullptr)->Close();
}

void StreamBody::Receive() {
  connection_->Read([self = shared_from_this()](error_code error) {
    if (!self->connection_) return;  // closed
    try {
      self->OnRead(error);
    } catch (const std::exception& failure) {
      self->Fail(self->server_->errors->Other(failure));
    }
  });
}

void StreamBody::OnRead(error_code error) {
  error = parser_->Receive(error, connection_->input());
  Store();
  if (error) {
    return Fail(server_->errors->NotReceived(error, parser_->status()));
  }
  if (unread_ > server_->max_response) {
    parts_.clear();
    return Fail(server_->errors->ResponseTooLarge());
  }
  parser_->is_done() ? End() : Receive();
  Deliver();
}

void StreamBody::Store() {
  std::string bytes = parser_->TakeBody();
  if (bytes.empty()) return;
  unread_ += bytes.size();
  if (!parts_.empty() && parts_.back().size() + bytes.size() <= kMaxPart) {
    parts_.back() += bytes;
  } else {
    parts_.push_back(std::move(bytes));
  }
}

void StreamBody::End() {
  server_->pool->Return(std::exchange(connection_, nullptr),
                        parser_->keep_alive());
}

void StreamBody::Fail(const TransportError& error) {
  error_ = error;
  if (connection_) std::exchange(connection_, nullptr)->Close();
  Deliver();
}

void StreamBody::Deliver() {
  if (!done_) return;
  Part part;
  if (!parts_.empty()) {
    part.bytes = std::move(parts_.front());
    parts_.pop_front();
    unread_ -= part.bytes.size();
    part.has_more = !parts_.empty() || parser_->is_within_chunk();
  } else if (error_) {
    return std::exchange(done_,
                         nullptr)(tl::make_unexpected(ClientError(*error_)));
  } else if (connection_) {
    return;
  }
  std::exchange(done_, nullptr)(std::move(part));
}

}  // namespace minisched
