#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "minisched/client/rest_config.h"

namespace minisched {

// HTTP to one server: bytes there and bytes back, in time and cancellable.
// What they mean is the Client's business. cpprestsdk stays behind this file.

struct HttpRequest {
  std::string method;
  std::string path;
  // Encoded by the transport.
  std::vector<std::pair<std::string, std::string>> query;
  std::map<std::string, std::string> headers;
  std::string body;
};

struct HttpResponse {
  int status = 0;
  // Names in lower case.
  std::map<std::string, std::string> headers;
  std::string body;
};

// A response whose body goes on for as long as the server likes. Not
// thread-safe. Its connection is closed when it is destroyed.
class HttpStream {
 public:
  virtual ~HttpStream() = default;

  // Status and headers; the body is empty.
  virtual const HttpResponse& head() const = 0;

  // The next line of the body, without its end; nullopt at the end of it.
  // Blocks. Throws TransportError, and Cancelled when the stop token that the
  // stream was opened with asks to stop.
  virtual std::optional<std::string> ReadLine() = 0;
};

// Thread-safe. Connections are kept and used again.
class Transport {
 public:
  // Throws ConfigError where the URL or the certificates can't be used.
  explicit Transport(const RestConfig& config);
  ~Transport();

  // Sends a request and returns the whole answer, whatever its status. Throws
  // TransportError, and Cancelled when `stop` asks to stop.
  HttpResponse Send(const HttpRequest& request, std::stop_token stop);

  // The same for an answer without end. The stream is given up with
  // TransportError when nothing comes for `idle_timeout`.
  std::unique_ptr<HttpStream> Open(const HttpRequest& request,
                                   std::chrono::milliseconds idle_timeout,
                                   std::stop_token stop);

 private:
  class Impl;
  class Stream;
  // Shared with the requests that are under way.
  std::shared_ptr<Impl> impl_;
};

}  // namespace minisched
