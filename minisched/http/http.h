#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace minisched::http {

// A parsed request.
struct Request {
  std::string method;  // "GET"
  std::string path;    // decoded: "/api/v1/pods"
  // Decoded. Has the first value of a parameter that is repeated.
  std::map<std::string, std::string> query;
  std::multimap<std::string, std::string> repeated_query;  // the other values
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  // True if the client is on this machine: its address is a loopback address.
  bool is_local = false;

  // Return the header or query parameter, or "" if there is none. The name of
  // the header must be in lower case.
  std::string Header(const std::string& name) const;
  std::string Query(const std::string& name) const;
  // Returns all values of a query parameter that may be repeated.
  std::vector<std::string> QueryAll(const std::string& name) const;
  // Returns the media type of the body in lower case, such as
  // "application/json", or "" if the request has no Content-Type.
  std::string ContentType() const;
};

// A response body whose length is not known at the start, such as a watch. Use
// it on the loop's thread only.
class Stream {
 public:
  virtual ~Stream() = default;
  // Appends the text that is ready, or a part of it. Returns false at the end
  // of the stream, which ends the response.
  virtual bool Read(std::string& out) = 0;
  // True if the connection must be closed without the proper end of a response,
  // as if the connection were lost. Valid after Read() has returned false.
  virtual bool broken_off() const { return false; }
  // Not zero: the server reads again after this time, without a call of
  // on_ready.
  std::chrono::milliseconds period{0};
  // Called when there is more to read. The caller may be in the middle of a
  // change, so the function must not call Read(), but schedule a later call.
  std::function<void()> on_ready;
};

// The response to a request.
struct Reply {
  // What the client gets. The embedded API server withholds and drops replies
  // to imitate a faulty server.
  enum class Delivery {
    kSent,      // the reply
    kDropped,   // nothing: the connection is closed
    kWithheld,  // nothing: the connection stays open
  };
  Delivery delivery = Delivery::kSent;
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // If set, the stream is sent instead of `body`.
  std::unique_ptr<Stream> stream;
  // Called when the body has been sent or sending has failed. Set it only for
  // replies without a stream.
  std::function<void()> on_sent;
};

// Returns a reply with plain text.
Reply TextReply(std::string text, int status = 200);

// Splits a text at each separator. Returns one empty part for an empty text.
std::vector<std::string> Split(std::string_view text, char separator);

// Parses and decodes the target of a request ("/api/v1/pods?limit=5") into
// request.path and request.query. Returns false if the target is malformed.
bool ParseTarget(std::string_view target, Request& request);

}  // namespace minisched::http
