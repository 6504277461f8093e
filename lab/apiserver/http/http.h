#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// A request as the server has read it.
struct Request {
  std::string method;                          // "GET"
  std::string path;                            // decoded: "/api/v1/pods"
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  // The header or query parameter of that name, "" where there is none.
  std::string Header(const std::string& name) const;
  std::string Query(const std::string& name) const;
  // The media type of the body, "application/json"; "" where none is said.
  std::string ContentType() const;
};

// Text that comes bit by bit, for as long as both sides like: a watch. On the
// loop's thread only.
class Stream {
 public:
  virtual ~Stream() = default;
  // Appends what there is to be sent by now, up to a good bit. Returns false
  // when nothing will follow; then the response is over.
  virtual bool Read(std::string& out) = 0;
  // Once Read() has returned false: the connection is to be closed without the
  // proper end of a response, as if it were lost.
  virtual bool broken_off() const { return false; }
  // Called when there is more to read, perhaps in the midst of what makes it
  // so: the reader comes later, not from within.
  std::function<void()> on_ready;
};

struct Reply {
  // Whether the client gets it.
  enum class Delivery {
    kSent,
    kDropped,   // no: the connection is closed
    kWithheld,  // no: the client waits until it leaves, or the server does
  };
  Delivery delivery = Delivery::kSent;
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Where it is set, it is what is sent instead of the body.
  std::unique_ptr<Stream> stream;
  // Called when it has been sent, or could not be. Not of a stream.
  std::function<void()> on_sent;
};

Reply JsonReply(const Json& document, int status = 200);
Reply TextReply(std::string text, int status = 200);

// The parts of a text; an empty one has one, which is empty.
std::vector<std::string> Split(std::string_view text, char separator);

// Splits and decodes a request's target, "/api/v1/pods?limit=5". False if it is
// malformed.
bool ParseTarget(std::string_view target, Request& request);

}  // namespace minisched::apiserver
