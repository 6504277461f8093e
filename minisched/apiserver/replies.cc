#include "minisched/apiserver/replies.h"

#include <utility>

namespace minisched::apiserver {

Reply JsonReply(const Json& document, int status) {
  Reply reply;
  reply.status = status;
  reply.body = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  return reply;
}

Reply TextReply(std::string text, int status) {
  Reply reply;
  reply.status = status;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = std::move(text);
  return reply;
}

Reply ErrorReply(const StatusError& error) {
  const Json status = error.ToJson();
  Reply reply = JsonReply(status, error.code());
  reply.body += "\n";  // As Go's encoder ends what it writes.
  const auto retry = GetInt(status, "details", "retryAfterSeconds");
  if (retry > 0) {
    reply.headers.emplace_back("Retry-After", std::to_string(retry));
  }
  return reply;
}

}  // namespace minisched::apiserver
