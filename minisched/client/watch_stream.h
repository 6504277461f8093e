#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "minisched/api/json.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/watch_event.h"
#include "minisched/client/errors.h"
#include "minisched/client/transport.h"

namespace minisched {

// The events of one watch, as they come. Not thread-safe. The destructor closes
// the connection.
template <class T>
class WatchStream {
 public:
  // `keep_json` is that of WatchOptions.
  explicit WatchStream(std::unique_ptr<HttpStream> stream,
                       bool keep_json = false)
      : stream_(std::move(stream)), keep_json_(keep_json) {}

  // Returns the next event. Returns nullopt when the server has ended the watch
  // in good order, as it does at the watch's timeout or after a kError event:
  // the next watch then goes on from the last resource version. Blocks. Throws
  // TransportError, with kTimeout if the watch was silent for too long
  // (WatchOptions::bookmarks), and Cancelled when the watch's stop token asks
  // to stop.
  std::optional<WatchEvent<T>> Next() {
    while (std::optional<std::string> line = stream_->ReadLine()) {
      if (line->empty()) continue;
      try {
        return FromJson<WatchEvent<T>>(*line, keep_json_);
      } catch (const ParseError& error) {
        throw TransportError(TransportError::Kind::kProtocol,
                             std::string("not a watch event: ") + error.what());
      }
    }
    return std::nullopt;
  }

 private:
  std::unique_ptr<HttpStream> stream_;
  bool keep_json_;
};

}  // namespace minisched
