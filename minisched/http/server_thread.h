#pragma once

#include <functional>
#include <memory>
#include <string>

#include "minisched/http/http.h"
#include "minisched/http/http_server_options.h"

namespace minisched::http {

// An HttpServer on a thread of its own.
class ServerThread {
 public:
  // Returns the reply to a request. The server's thread calls the handler for
  // one request after the other.
  using Handler = std::function<Reply(const Request&)>;

  // Starts to listen. Throws std::runtime_error as HttpServer does.
  ServerThread(HttpServerOptions options, Handler handler);
  // Ends the thread and closes all connections, without sending the rest of an
  // answer. Blocks only while the handler runs.
  ~ServerThread();

  // Returns "http://127.0.0.1:8080", with the port that was picked.
  const std::string& url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched::http
