#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "minisched/base/clock.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/result.h"

namespace minisched {

// HTTP to one server, with deadlines and cancellation. The Client interprets
// the bytes. Hides cpprestsdk and Asio from its users.

// Receives what a request waits for: "a connection", "the response", … Called
// on any thread, whenever this changes. Must not block. May be empty.
using WaitObserver = std::function<void(const std::string& what)>;

struct HttpRequest {
  std::string method;
  std::string path;
  // Encoded by the transport.
  std::vector<std::pair<std::string, std::string>> query;
  std::map<std::string, std::string> headers;
  std::string body;
  WaitObserver on_wait = {};

  void WaitsFor(const std::string& what) const {
    if (on_wait) on_wait(what);
  }
};

// Shared, so that a request is not copied while it waits for its turn.
using HttpRequestPtr = std::shared_ptr<const HttpRequest>;

struct HttpResponse {
  int status = 0;
  // Names in lower case.
  std::map<std::string, std::string> headers;
  std::string body;
};

inline bool IsSuccess(int status) { return status >= 200 && status < 300; }

// A response whose body is read line by line. Not thread-safe. The destructor
// closes the connection.
class HttpStream {
 public:
  virtual ~HttpStream() = default;

  // Status and headers. If the status is not a success, also the whole body:
  // then there are no lines.
  virtual const HttpResponse& head() const = 0;

  // Returns the next line of the body, without its end; nullopt at the end of
  // the body. Blocks. Throws TransportError, and Cancelled when the stop token
  // of the stream asks to stop.
  virtual std::optional<std::string> ReadLine() = 0;

  // Makes ReadLine() wait for `delay` before it reads from the connection, so
  // that many lines come with one read. It does not wait if the last read may
  // have left some of the lines. `clock` must outlive the stream.
  virtual void SetReadDelay(std::chrono::milliseconds delay, Clock& clock) = 0;
};

// Sends requests over connections that are kept and used again. Each request in
// flight and each stream has its own connection, so a Transport raises the
// process's soft limit on open files to the hard limit. While
// RestConfig::max_in_flight requests are in flight, not counting streams,
// further requests wait. Their deadlines begin after this wait. A response that
// is larger than RestConfig::max_response_bytes, or a line of a stream that is
// longer than max_line_bytes, is a TransportError (kProtocol). The headers of a
// response have no limit, nor has a chunk of its body. Thread-safe.
//
// If its connection breaks, a request is not sent again, because the server may
// have carried it out: it fails with TransportError (kLost). Only a GET or HEAD
// is sent again, once, if the connection had been kept and ended before the
// headers of the response.
//
// Callbacks run on the I/O thread, which all transports share: they must return
// soon. If a Transport is destroyed, its requests go on until their callbacks.
class Transport {
 public:
  // Throws ConfigError if the URL or the certificates can't be used.
  explicit Transport(const RestConfig& config);
  ~Transport();

  // Sends a request and calls back with the whole response, of any status;
  // with TransportError; or, when `stop` asks to stop, with Cancelled.
  void SendAsync(HttpRequestPtr request, std::stop_token stop,
                 ClientCallback<HttpResponse> done);

  // Opens a stream in the same way. The stream lives until `stop` asks to stop,
  // and fails with TransportError after `idle_timeout` of silence.
  void OpenAsync(HttpRequestPtr request, std::chrono::milliseconds idle_timeout,
                 std::stop_token stop,
                 ClientCallback<std::unique_ptr<HttpStream>> done);

  // Block until the callback. Throw TransportError and Cancelled.
  HttpResponse Send(const HttpRequest& request, std::stop_token stop);
  std::unique_ptr<HttpStream> Open(const HttpRequest& request,
                                   std::chrono::milliseconds idle_timeout,
                                   std::stop_token stop);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
