#include "minisched/client/stream_body.h"

#include <utility>

namespace minisched {
namespace {

constexpr std::size_t kMaxPart = std::size_t{64} << 10;

}  // namespace

StreamBody::StreamBody(std::shared_ptr<const Server> server,
                       std::shared_ptr<Connection> connection)
    : server_(std::move(server)), connection_(std::move(connection)) {}

void StreamBody::Append(std::string_view bytes) {
  unread_ += bytes.size();
  if (unread_ > server_->max_response) {
    parts_.clear();
    return Fail(server_->errors->ResponseTooLarge());
  }
  if (!parts_.empty() && parts_.back().size() + bytes.size() <= kMaxPart) {
    parts_.back() += bytes;
  } else {
    parts_.emplace_back(bytes);
  }
  Deliver();
}

void StreamBody::End() {
  server_->pool->Return(std::exchange(connection_, nullptr));
  Deliver();
}

void StreamBody::Fail(const TransportError& error) {
  error_ = error;
  if (connection_) std::exchange(connection_, nullptr)->Close();
  Deliver();
}

void StreamBody::Read(ClientCallback<Part> done) {
  done_ = std::move(done);
  Deliver();
}

void StreamBody::Close() {
  done_ = nullptr;
  if (connection_) std::exchange(connection_, nullptr)->Close();
}

void StreamBody::Deliver() {
  if (!done_) return;
  Part part;
  if (!parts_.empty()) {
    part.bytes = std::move(parts_.front());
    parts_.pop_front();
    unread_ -= part.bytes.size();
    part.has_more = !parts_.empty();
  } else if (error_) {
    return std::exchange(done_,
                         nullptr)(tl::make_unexpected(ClientError(*error_)));
  } else if (connection_) {
    return;
  }
  std::exchange(done_, nullptr)(std::move(part));
}

}  // namespace minisched
