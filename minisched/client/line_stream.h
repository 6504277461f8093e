#pragma once

// For the client's own .cc files, because it includes Asio.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/base/clock.h"
#include "minisched/client/exchange.h"
#include "minisched/client/server.h"
#include "minisched/client/transport.h"

namespace minisched {

// The HttpStream that a Transport returns.
class LineStream final : public HttpStream {
 public:
  struct Options {
    // RestConfig::max_line_bytes.
    std::size_t max_line;
    std::chrono::milliseconds idle_timeout;
    std::stop_token stop;
  };
  LineStream(std::shared_ptr<const Server> server, IncomingResponse response,
             Options options);
  ~LineStream() override;

  const HttpResponse& head() const override { return response_.head; }
  std::optional<std::string> ReadLine() override;
  void SetReadDelay(std::chrono::milliseconds delay, Clock& clock) override;

 private:
  // Throws if a line of this size is too long.
  void CheckLine(std::size_t size) const;
  // Blocks until there is more of the body. Returns false at its end.
  bool ReadMore();

  const std::shared_ptr<const Server> server_;
  IncomingResponse response_;  // without a body: there are no lines
  const Options options_;
  std::chrono::milliseconds read_delay_{0};
  Clock* clock_ = nullptr;  // for read_delay_
  bool has_more_ = false;   // the last read has left some data
  std::string read_;        // what was read
  std::size_t line_ = 0;    // where in read_ the next line begins
};

}  // namespace minisched
